/*
 * How f falls with iterations and with time, as in Figs. 3-5 of the exact-Hessian paper.
 *
 * A frame gives a row of points (iteration, seconds, f). The curve of several frames is the median of log10 f, frames that
 * have ended staying where they ended; it goes on until more than half of them have. Tracing asks for a gradient in every iteration,
 * which some methods do not need, so the clock of the traced run is scaled to end at the time of the untraced one.
 */
#include "cli/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 20000, GRID = 200 };
static const double least_f = 1e-32; /* below is zero, which has no logarithm */

typedef struct trail {
    int count;
    double *f, *us; /* log10 of m^2, and of microseconds */
} trail;

static ulna_status no_memory(ulna_error *error)
{
    return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
}

/* ---- recording ------------------------------------------------------------------------------------------ */

static ulna_status copy_rows(trail *to, const ulna_trace_row *rows, int count, double clock, ulna_error *error)
{
    to->f = calloc((size_t)count, sizeof *to->f);
    to->us = calloc((size_t)count, sizeof *to->us);
    if (!to->f || !to->us)
        return no_memory(error);
    for (int i = 0; i < count; i++) {
        to->f[i] = log10(fmax(rows[i].f, least_f));
        to->us[i] = log10(fmax(rows[i].seconds * clock, 1e-9) * 1e6);
        if (i > 0)
            to->us[i] = fmax(to->us[i], to->us[i - 1]);
    }
    to->count = count;
    return ULNA_OK;
}

/* The same solves as before, watched. A solve that fails leaves an empty trail. */
static ulna_status record(contest *game, const contender *one, ulna_solver *solver, const ulna_trace_row *rows,
                          int room, double *q, trail *trails, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; !status && i < game->traced; i++) {
        ulna_result result;
        if (trials_set_frame(&game->set, i, q) || ulna_solve(solver, q, &result) || one->outcomes[i].status)
            continue;
        double clock = result.seconds > 0 ? one->outcomes[i].seconds / result.seconds : 1;
        int count = result.trace_count < room ? result.trace_count : room;
        if (count > 0)
            status = copy_rows(&trails[i], rows, count, clock, error);
    }
    return status;
}

/* ---- medians -------------------------------------------------------------------------------------------- */

static ulna_status take(curve *line, int count, ulna_error *error)
{
    line->x = calloc((size_t)count, sizeof *line->x);
    line->y = calloc((size_t)count, sizeof *line->y);
    line->count = line->x && line->y ? count : 0;
    return line->count ? ULNA_OK : no_memory(error);
}

/* By then more than half have ended. */
static double upper_median(double *values, int count)
{
    median_of(values, count); /* sorts them */
    return values[count / 2];
}

static ulna_status median_by_iteration(curve *line, const trail *trails, int count, double *scratch, ulna_error *error)
{
    for (int i = 0; i < count; i++)
        scratch[i] = trails[i].count;
    ulna_status status = take(line, (int)upper_median(scratch, count), error);
    for (int k = 0; !status && k < line->count; k++) {
        for (int i = 0; i < count; i++)
            scratch[i] = trails[i].f[k < trails[i].count ? k : trails[i].count - 1];
        line->x[k] = k;
        line->y[k] = median_of(scratch, count);
    }
    return status;
}

/* log10 f of a trail at a time (log10 us), on a straight line between its points. */
static double at_time(const trail *one, double us)
{
    int low = 0, high = one->count - 1;
    if (us <= one->us[0])
        return one->f[0];
    if (us >= one->us[high])
        return one->f[high];
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (one->us[middle] <= us)
            low = middle;
        else
            high = middle;
    }
    double width = one->us[high] - one->us[low], part = width > 0 ? (us - one->us[low]) / width : 1;
    return one->f[low] + part * (one->f[high] - one->f[low]);
}

static ulna_status median_by_time(curve *line, const trail *trails, int count, double *scratch, ulna_error *error)
{
    for (int i = 0; i < count; i++)
        scratch[i] = trails[i].us[0];
    double first = median_of(scratch, count);
    for (int i = 0; i < count; i++)
        scratch[i] = trails[i].us[trails[i].count - 1];
    double last = upper_median(scratch, count);
    int is_single = count == 1;
    ulna_status status = take(line, is_single ? trails[0].count : GRID, error);
    for (int k = 0; !status && k < line->count; k++) {
        double us = is_single ? trails[0].us[k] : first + (last - first) * k / (GRID - 1);
        for (int i = 0; i < count; i++)
            scratch[i] = is_single ? trails[0].f[k] : at_time(&trails[i], us);
        line->x[k] = pow(10, us);
        line->y[k] = median_of(scratch, count);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

static ulna_status make_curves(contender *one, trail *trails, int count, ulna_error *error)
{
    double scratch[CURVES_FRAMES];
    int used = 0;
    for (int i = 0; i < count; i++)
        if (trails[i].count) {
            trail full = trails[i];
            trails[i] = trails[used];
            trails[used++] = full;
        }
    if (used == 0)
        return ULNA_OK;
    ulna_status status = median_by_iteration(&one->by_iteration, trails, used, scratch, error);
    return status ? status : median_by_time(&one->by_time, trails, used, scratch, error);
}

ulna_status curves_trace(contest *game, contender *one, ulna_error *error)
{
    ulna_options options = game->options;
    int limit = options.iterations ? options.iterations : one->method->iterations;
    int room = limit >= MOST_ROWS ? MOST_ROWS : limit + 1, frames = game->set.options.frames;
    game->traced = frames < CURVES_FRAMES ? frames : CURVES_FRAMES;
    ulna_solver *solver = NULL;
    ulna_trace_row *rows = calloc((size_t)room, sizeof *rows);
    trail trails[CURVES_FRAMES] = {0};
    double *q = calloc((size_t)ulna_model_coordinate_count(game->set.model), sizeof *q);
    options.method = one->method->name;
    options.trace = rows;
    options.trace_capacity = room;

    ulna_status status = ULNA_ERR_MEMORY;
    if (!rows || !q)
        no_memory(error);
    else
        status = ulna_solver_create(game->set.problem, &options, NULL, &solver, error);
    if (!status)
        status = record(game, one, solver, rows, room, q, trails, error);
    if (!status)
        status = make_curves(one, trails, game->traced, error);
    for (int i = 0; i < CURVES_FRAMES; i++) {
        free(trails[i].f);
        free(trails[i].us);
    }
    ulna_solver_destroy(solver);
    free(rows);
    free(q);
    return status;
}
