/*
 * Runs methods over the same problems, measures them, and judges them by one rule; and records how f falls with
 * iterations and with time, as in Figs. 3-5 of the exact-Hessian paper.
 */
#include "cli/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/algorithms.h"

/* A solve is repeated up to so many runs or seconds, for its best time: other programs may disturb one. */
enum { REPEATS = 5 };
static const double repeat_seconds = 0.02;

/* Success: f no larger than best_rest, m^2, or within a thousandth of the best that any method found. */
static const double best_part = 1e-3, best_rest = 1e-12;

static const double degrees = 1 / COMPARE_DEGREE;
static const double rounding = 1e-9; /* rad or m beyond a limit that count as inside */
static const double keeping = 1e-6;  /* of the length scale: constraints that are violated by no more are kept */

/* ---- one solve ------------------------------------------------------------------------------------------ */

static void measure_limits(const trials *set, const double *q, outcome *one)
{
    const ulna_model *model = set->model;
    const double *lower = set->lower, *upper = set->upper;
    for (int i = 0; i < ulna_model_dof_count(model); i++) {
        int k = ulna_model_dof_coordinate(model, i);
        double outside = k == ULNA_NONE ? 0 : fmax(lower[i] - q[k], q[k] - upper[i]);
        double *most = ulna_model_dof_is_translation(model, i) ? &one->translation_outside : &one->angle_outside;
        *most = fmax(*most, outside);
    }
}

/* f and errors at q, computed here rather than by the method. */
static ulna_status measure_goals(trials *set, const double *q, outcome *one)
{
    double squares[2] = {0, 0};
    ulna_status status = ulna_work_evaluate(set->work, q, &one->f);
    for (int i = 0; status == ULNA_OK && i < ulna_problem_term_count(set->problem); i++) {
        double error;
        if (!(ulna_problem_weight(set->problem, i) > 0))
            continue;
        status = ulna_work_term_error(set->work, i, &error);
        if (isnan(error)) /* a marker that is missing */
            continue;
        squares[ulna_problem_term_type(set->problem, i) != ULNA_TERM_POINT] += error * error;
    }
    one->rms_m = sqrt(squares[0] / set->points); /* NaN if there are none */
    one->rms_rad = sqrt(squares[1] / set->orientations);
    return status;
}

static int is_angle(ulna_constraint_type type)
{
    return type == ULNA_KEEP_ORIENTATION || type == ULNA_KEEP_DIRECTION || type == ULNA_KEEP_AIM ||
           type == ULNA_KEEP_ANGLE;
}

/* Metres that one unit of the error of a constraint counts as: of a sum, one unit of its largest share. */
static double unit_of(const ulna_model *model, const ulna_constraint *c)
{
    double most = 0, length = ulna_model_length_scale(model);
    for (int k = 0; k < c->dof_count; k++) {
        double unit = ulna_model_dof_is_translation(model, c->dofs[k]) ? 1 : length;
        most = fmax(most, fabs(c->coefficients[k]) / unit);
    }
    return c->type == ULNA_KEEP_LINEAR ? 1 / most : is_angle(c->type) ? length : 1;
}

static ulna_status measure_constraints(trials *set, outcome *one)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; status == ULNA_OK && i < set->kept->count; i++) {
        const ulna_constraint *c = &set->kept->list[i].constraint;
        double error;
        if (c->level > 0)
            continue;
        status = ulna_work_constraint_error(set->work, i, &error);
        one->violation_m = fmax(one->violation_m, error * unit_of(set->model, c));
    }
    return status;
}

/* One of them, or none if the method cannot take the problem. */
typedef struct entry {
    ulna_solver *solver;
    ulna_global *global;
} entry;

static ulna_status run_once(const entry *with, double *q, outcome *one, double *seconds)
{
    ulna_result result = {0};
    ulna_global_result found;
    ulna_status status =
        with->global ? ulna_global_solve(with->global, q, &found, NULL) : ulna_solve(with->solver, q, &result);
    if (status != ULNA_OK)
        return status;
    *seconds = with->global ? found.seconds : result.seconds;
    one->stop = result.stop;
    one->global_stop = with->global ? found.stop : ULNA_GLOBAL_PROVEN;
    one->iterations = with->global ? (double)NAN : result.iterations;
    one->evaluations = with->global ? (double)NAN : result.evaluations;
    return ULNA_OK;
}

static outcome solve_frame(trials *set, const entry *with, const double *start, double *q)
{
    size_t size = (size_t)ulna_model_coordinate_count(set->model) * sizeof *q;
    outcome one = {.seconds = (double)INFINITY, .f = (double)INFINITY};
    double spent = 0, seconds = 0;
    for (int i = 0; !one.status && i < REPEATS && spent < repeat_seconds; i++) {
        memcpy(q, start, size);
        one.status = run_once(with, q, &one, &seconds);
        if (one.status)
            break;
        spent += seconds;
        one.seconds = fmin(one.seconds, seconds);
    }
    if (!one.status)
        one.status = measure_goals(set, q, &one);
    if (!one.status)
        one.status = measure_constraints(set, &one);
    if (!one.status)
        measure_limits(set, q, &one);
    return one;
}

static int is_global(const contender *one)
{
    return one->method == &methods_global;
}

/* A solver for each contender that can take the problem. */
static ulna_status enter(contest *game, entry *entries, ulna_error *error)
{
    for (int i = 0; i < game->count; i++) {
        contender *one = &game->contenders[i];
        if (!one->outcomes)
            one->outcomes = calloc((size_t)game->set.options.frames, sizeof *one->outcomes);
        if (!one->outcomes)
            return cli_no_memory(error);
        ulna_options options = game->options;
        ulna_global_options global = ulna_global_options_default();
        options.method = one->method->name;
        global.local = game->options;
        global.seed = game->set.options.seed;
        if (is_global(one))
            ulna_global_create(game->set.problem, &global, NULL, &entries[i].global, &one->refusal);
        else
            ulna_solver_create(game->set.problem, &options, NULL, &entries[i].solver, &one->refusal);
    }
    return ULNA_OK;
}

static void leave(const contest *game, entry *entries)
{
    for (int i = 0; entries && i < game->count; i++) {
        ulna_solver_destroy(entries[i].solver);
        ulna_global_destroy(entries[i].global);
        entries[i] = (entry){0};
    }
}

/* All methods solve a frame before the next one, so that a machine that becomes slow or fast is so for all of them. */
static ulna_status solve_frames(contest *game, entry *entries, double *q, double part, progress *bar, ulna_error *error)
{
    int frames = game->set.options.frames;
    double *start = q + ulna_model_coordinate_count(game->set.model);
    ulna_status status = ULNA_OK;
    for (int k = 0; k < frames && status == ULNA_OK; k++) {
        if (game->set.is_oracle)
            leave(game, entries);
        ulna_status set = trials_set_frame(&game->set, k, start);
        if (set == ULNA_OK && game->set.is_oracle)
            status = enter(game, entries, error);
        for (int i = 0; i < game->count && status == ULNA_OK; i++) {
            contender *one = &game->contenders[i];
            progress_show(bar, part * (k + (double)i / game->count) / frames, one->method->name);
            if (!one->refusal.status)
                one->outcomes[k] =
                    set != ULNA_OK ? (outcome){.status = set} : solve_frame(&game->set, &entries[i], start, q);
        }
    }
    return status;
}

/* ---- judging -------------------------------------------------------------------------------------------- */

static int is_inside(const outcome *one)
{
    return one->angle_outside <= rounding && one->translation_outside <= rounding;
}

int contender_is_inside(const contender *one)
{
    return one->outside_deg <= rounding * degrees && one->outside_mm <= rounding * 1e3;
}

static int is_kept(const contest *game, const outcome *one)
{
    return one->violation_m <= keeping * ulna_model_length_scale(game->set.model);
}

/* The least f of a frame: that of goals that were made from a pose is 0, unless constraints are in the way. A method that left
 * limits or broke constraints that others kept has not solved the same problem. */
static double best_of(const contest *game, int frame)
{
    if ((game->set.is_made && !game->set.kept->count) || (game->set.is_oracle && !game->set.options.bounded))
        return 0;
    double inside = (double)INFINITY, any = (double)INFINITY;
    for (int i = 0; i < game->count; i++) {
        const contender *one = &game->contenders[i];
        if (one->refusal.status || one->outcomes[frame].status || !is_kept(game, &one->outcomes[frame]))
            continue;
        any = fmin(any, one->outcomes[frame].f);
        if (!game->set.options.bounded || is_inside(&one->outcomes[frame]))
            inside = fmin(inside, one->outcomes[frame].f);
    }
    return isfinite(inside) ? inside : any;
}

static void judge_frame(contest *game, int frame)
{
    double best = best_of(game, frame);
    double enough = fmax(best * (1 + best_part) + best_rest, game->options.objective);
    for (int i = 0; i < game->count; i++) {
        contender *one = &game->contenders[i];
        if (!one->refusal.status)
            one->outcomes[frame].success = !one->outcomes[frame].status && one->outcomes[frame].f <= enough &&
                                           is_kept(game, &one->outcomes[frame]);
    }
}

const char *const measure_names[MEASURES] = {"f_m2",       "rms_mm",      "rms_deg", "violation_mm",
                                             "iterations", "evaluations", "us"};

static const struct {
    size_t offset; /* in an outcome */
    double unit;
} measures[MEASURES] = {
    [MEASURE_F] = {offsetof(outcome, f), 1},
    [MEASURE_RMS_MM] = {offsetof(outcome, rms_m), 1e3},
    [MEASURE_RMS_DEG] = {offsetof(outcome, rms_rad), 1 / COMPARE_DEGREE},
    [MEASURE_VIOLATION_MM] = {offsetof(outcome, violation_m), 1e3},
    [MEASURE_ITERATIONS] = {offsetof(outcome, iterations), 1},
    [MEASURE_EVALUATIONS] = {offsetof(outcome, evaluations), 1},
    [MEASURE_US] = {offsetof(outcome, seconds), 1e6},
};

/* Of the member at `offset`, times `unit`. */
static spread_of spread(const contender *one, int frames, size_t offset, double unit, double *scratch)
{
    int count = 0;
    for (int i = 0; i < frames; i++)
        if (!one->outcomes[i].status) {
            memcpy(&scratch[count], (const char *)&one->outcomes[i] + offset, sizeof *scratch);
            scratch[count++] *= unit;
        }
    double median = ulna_median(scratch, (size_t)count);
    return (spread_of){median, count ? scratch[count - 1] : (double)NAN};
}

static void sum_up(contender *one, int frames, double *scratch)
{
    for (int i = 0; i < frames; i++) {
        const outcome *at = &one->outcomes[i];
        one->successes += at->success;
        if (at->status) {
            one->failure = one->failures++ ? one->failure : at->status;
            continue;
        }
        if (is_global(one))
            one->global_stops[at->global_stop]++;
        else
            one->stops[at->stop]++;
        one->outside_deg = fmax(one->outside_deg, at->angle_outside * degrees);
        one->outside_mm = fmax(one->outside_mm, at->translation_outside * 1e3);
    }
    for (int i = 0; i < MEASURES; i++)
        one->spreads[i] = spread(one, frames, measures[i].offset, measures[i].unit, scratch);
}

static ulna_status judge(contest *game, ulna_error *error)
{
    int frames = game->set.options.frames;
    double *scratch = calloc((size_t)frames, sizeof *scratch);
    if (!scratch)
        return cli_no_memory(error);
    for (int i = 0; i < frames; i++)
        judge_frame(game, i);
    game->best = -1;
    for (int i = 0; i < game->count; i++) {
        contender *one = &game->contenders[i];
        if (one->refusal.status)
            continue;
        sum_up(one, frames, scratch);
        int keeps =
            !game->set.options.bounded || ((one->method->flags & ULNA_METHOD_BOUNDED) && contender_is_inside(one));
        int is_good = one->successes == frames && keeps;
        if (is_good && (game->best < 0 ||
                        one->spreads[MEASURE_US].median < game->contenders[game->best].spreads[MEASURE_US].median))
            game->best = i;
    }
    free(scratch);
    return ULNA_OK;
}

/* ---- curves --------------------------------------------------------------------------------------------- */

/* A frame gives a row of points (iteration, seconds, f). The curve of several frames is the median of log10 f, where
 * frames that have ended keep their last value; it ends when more than half of them have. Tracing asks for a gradient
 * in every iteration, which some methods do not need, so the clock of the traced run is scaled to end at the time of
 * the untraced one. */

enum { MOST_ROWS = 20000, GRID = 200 };
static const double least_f = 1e-32; /* below is zero, which has no logarithm */

static ulna_status curve_create(curve *line, int count, ulna_error *error)
{
    line->x = calloc((size_t)count, sizeof *line->x);
    line->y = calloc((size_t)count, sizeof *line->y);
    line->count = line->x && line->y ? count : 0;
    return line->count ? ULNA_OK : cli_no_memory(error);
}

static void curve_release(curve *line)
{
    free(line->x);
    free(line->y);
}

/* A trail is the curve of one frame: x is log10 of microseconds. */
static ulna_status copy_rows(curve *to, const ulna_trace_row *rows, int count, double clock, ulna_error *error)
{
    ulna_status status = curve_create(to, count, error);
    for (int i = 0; i < to->count; i++) {
        to->y[i] = log10(fmax(rows[i].f, least_f));
        to->x[i] = log10(fmax(rows[i].seconds * clock, 1e-9) * 1e6);
        if (i > 0)
            to->x[i] = fmax(to->x[i], to->x[i - 1]);
    }
    return status;
}

/* The same solves as before, traced. A solve that fails leaves an empty trail. */
static ulna_status record(contest *game, const contender *one, const ulna_options *options, double *q, curve *trails,
                          ulna_error *error)
{
    const ulna_trace_row *rows = options->trace;
    int room = options->trace_capacity;
    ulna_solver *solver = NULL;
    ulna_status status = ULNA_OK;
    for (int i = 0; status == ULNA_OK && i < game->traced; i++) {
        ulna_result result;
        if (game->set.is_oracle) {
            ulna_solver_destroy(solver);
            solver = NULL;
        }
        if (trials_set_frame(&game->set, i, q))
            continue;
        if (!solver)
            status = ulna_solver_create(game->set.problem, options, NULL, &solver, error);
        if (status != ULNA_OK || ulna_solve(solver, q, &result) || one->outcomes[i].status)
            continue;
        double clock = result.seconds > 0 ? one->outcomes[i].seconds / result.seconds : 1;
        int count = result.trace_count < room ? result.trace_count : room;
        if (count > 0)
            status = copy_rows(&trails[i], rows, count, clock, error);
    }
    ulna_solver_destroy(solver);
    return status;
}

/* More than half of the values are no larger. */
static double upper_median(double *values, int count)
{
    ulna_sort_numbers(values, (size_t)count);
    return values[count / 2];
}

static ulna_status median_by_iteration(curve *line, const curve *trails, int count, double *scratch, ulna_error *error)
{
    for (int i = 0; i < count; i++)
        scratch[i] = trails[i].count;
    ulna_status status = curve_create(line, (int)upper_median(scratch, count), error);
    for (int k = 0; status == ULNA_OK && k < line->count; k++) {
        for (int i = 0; i < count; i++)
            scratch[i] = trails[i].y[k < trails[i].count ? k : trails[i].count - 1];
        line->x[k] = k;
        line->y[k] = ulna_median(scratch, (size_t)count);
    }
    return status;
}

/* log10 f of a trail at a time (log10 us), on a straight line between its points. */
static double at_time(const curve *one, double us)
{
    int low = 0, high = one->count - 1;
    if (us <= one->x[0])
        return one->y[0];
    if (us >= one->x[high])
        return one->y[high];
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        *(one->x[middle] <= us ? &low : &high) = middle;
    }
    double width = one->x[high] - one->x[low], part = width > 0 ? (us - one->x[low]) / width : 1;
    return one->y[low] + part * (one->y[high] - one->y[low]);
}

static ulna_status median_by_time(curve *line, const curve *trails, int count, double *scratch, ulna_error *error)
{
    for (int i = 0; i < count; i++)
        scratch[i] = trails[i].x[0];
    double first = ulna_median(scratch, (size_t)count);
    for (int i = 0; i < count; i++)
        scratch[i] = trails[i].x[trails[i].count - 1];
    double last = upper_median(scratch, count);
    int is_single = count == 1;
    ulna_status status = curve_create(line, is_single ? trails[0].count : GRID, error);
    for (int k = 0; status == ULNA_OK && k < line->count; k++) {
        double us = is_single ? trails[0].x[k] : first + (last - first) * k / (GRID - 1);
        for (int i = 0; i < count; i++)
            scratch[i] = is_single ? trails[0].y[k] : at_time(&trails[i], us);
        line->x[k] = pow(10, us);
        line->y[k] = ulna_median(scratch, (size_t)count);
    }
    return status;
}

static ulna_status make_curves(contender *one, curve *trails, int count, ulna_error *error)
{
    double scratch[CURVES_FRAMES];
    int used = 0;
    for (int i = 0; i < count; i++)
        if (trails[i].count) {
            curve full = trails[i];
            trails[i] = trails[used];
            trails[used++] = full;
        }
    if (used == 0)
        return ULNA_OK;
    ulna_status status = median_by_iteration(&one->by_iteration, trails, used, scratch, error);
    return status != ULNA_OK ? status : median_by_time(&one->by_time, trails, used, scratch, error);
}

static ulna_status trace_curves(contest *game, contender *one, ulna_error *error)
{
    ulna_options options = game->options;
    int limit = options.iterations ? options.iterations : one->method->iterations;
    int room = limit >= MOST_ROWS ? MOST_ROWS : limit + 1, frames = game->set.options.frames;
    game->traced = frames < CURVES_FRAMES ? frames : CURVES_FRAMES;
    ulna_trace_row *rows = calloc((size_t)room, sizeof *rows);
    curve trails[CURVES_FRAMES] = {0};
    double *q = calloc((size_t)ulna_model_coordinate_count(game->set.model), sizeof *q);
    options.method = one->method->name;
    options.trace = rows;
    options.trace_capacity = room;

    ulna_status status = ULNA_ERR_MEMORY;
    if (!rows || !q)
        cli_no_memory(error);
    else
        status = record(game, one, &options, q, trails, error);
    if (status == ULNA_OK)
        status = make_curves(one, trails, game->traced, error);
    for (int i = 0; i < CURVES_FRAMES; i++)
        curve_release(&trails[i]);
    free(rows);
    free(q);
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

ulna_status contest_run(contest *game, int is_traced, progress *bar, ulna_error *error)
{
    double part = is_traced ? 0.6 : 1;
    entry *entries = calloc((size_t)game->count + 1, sizeof *entries);
    double *q = calloc(2 * (size_t)ulna_model_coordinate_count(game->set.model), sizeof *q);
    ulna_status status = ULNA_ERR_MEMORY;
    if (!entries || !q)
        cli_no_memory(error);
    else
        status = enter(game, entries, error);
    if (status == ULNA_OK)
        status = solve_frames(game, entries, q, part, bar, error);
    if (status == ULNA_OK)
        status = judge(game, error);
    leave(game, entries);
    free(entries);
    free(q);
    for (int i = 0; status == ULNA_OK && is_traced && i < game->count; i++) {
        progress_show(bar, part + (1 - part) * i / game->count, game->contenders[i].method->name);
        if (!game->contenders[i].refusal.status && !is_global(&game->contenders[i])) /* it has no iterations */
            status = trace_curves(game, &game->contenders[i], error);
    }
    return status;
}

void contest_release(contest *game)
{
    for (int i = 0; game->contenders && i < game->count; i++) {
        contender *one = &game->contenders[i];
        free(one->outcomes);
        curve_release(&one->by_iteration);
        curve_release(&one->by_time);
    }
    free(game->contenders);
    trials_release(&game->set);
    game->contenders = NULL;
}
