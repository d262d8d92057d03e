/* Figs. 3, 4, 5, 7 and 8 of the exact-Hessian paper: f over iterations, for single frames. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/paper/hessian.h"
#include "src/base/algorithms.h"

/* ---- one group of frames, all methods -------------------------------------------------------------------------------- */

typedef enum start { START_BEFORE, START_ZERO } start; /* the pose of the frame before, or all angles zero */

/* What is run on each frame. */
typedef struct setting {
    const char *panel; /* NULL: one for each kind of motion */
    start from;
    int is_bounded;
    int iterations;
} setting;

enum { MOST_SOLVES = 64 };

/* Over the frames of a setting, of one method. */
typedef struct tally {
    double reached_at[MOST_SOLVES]; /* iterations until it counts as solved */
    double at_ten[MOST_SOLVES], last[MOST_SOLVES], iterations[MOST_SOLVES], ms[MOST_SOLVES];
    int reached, count;
} tally;

typedef struct sheets {
    sheet lines;   /* one row for each iteration */
    sheet summary; /* one row for each method */
} sheets;

static void sheets_begin(sheets *to)
{
    sheet_begin(&to->lines, "panel,frame,method,iteration,f_cm2,seconds");
    sheet_begin(&to->summary, "panel,method,frames,solved,iterations_to_solved,f_at_10_cm2,f_last_cm2,ms");
}

static void sheets_release(sheets *to)
{
    sheet_release(&to->lines);
    sheet_release(&to->summary);
}

static ulna_status sheets_save(paper_job *job, const char *name, sheets *of, ulna_error *error)
{
    char summary[64];
    snprintf(summary, sizeof summary, "%s-summary", name);
    ulna_status status = paper_save(job, name, &of->lines, error);
    return status != ULNA_OK ? status : paper_save(job, summary, &of->summary, error);
}

static void count(tally *sum, const trial_result *found, double solved_cm2)
{
    int last = found->row_count - 1, k = 0;
    if (sum->count == MOST_SOLVES || last < 0)
        return;
    while (k <= last && found->rows[k].f >= solved_cm2)
        k++;
    if (k <= last)
        sum->reached_at[sum->reached++] = k;
    sum->at_ten[sum->count] = found->rows[last < 10 ? last : 10].f;
    sum->last[sum->count] = found->result.f;
    sum->iterations[sum->count] = found->result.iterations;
    sum->ms[sum->count++] = 1e3 * found->result.seconds;
}

static void add_lines(sheet *lines, const char *panel, int frame, const char *method, const trial_result *found)
{
    for (int k = 0; k < found->row_count; k++)
        sheet_row(lines, "%s,%d,%s,%d,%.6g,%.4g", panel, frame, method, k, found->rows[k].f, found->rows[k].seconds);
}

static void add_summary(sheet *summary, const char *panel, const char *method, tally *sum)
{
    sheet_row(summary, "%s,%s,%d,%d,%g,%.3g,%.3g,%.3g", panel, method, sum->count, sum->reached,
              ulna_median(sum->reached_at, (size_t)sum->reached), ulna_median(sum->at_ten, (size_t)sum->count),
              ulna_median(sum->last, (size_t)sum->count), ulna_median(sum->ms, (size_t)sum->count));
}

static ulna_status find_start(const paper_take *take, start from, int frame, double *q, ulna_error *error)
{
    size_t bytes = (size_t)ulna_model_coordinate_count(take->skeleton.model) * sizeof *q;
    if (from == START_ZERO)
        return hessian_zero_start(take, frame, q, error);
    memcpy(q, paper_take_pose(take, frame > 0 ? frame - 1 : 0), bytes);
    return ULNA_OK;
}

static ulna_status run_frame(const paper_take *take, const setting *how, int is_fixed, const char *panel, int frame,
                             tally *sums, sheets *to, ulna_error *error)
{
    ulna_problem *problem = NULL;
    trial_result *found = malloc(sizeof *found);
    double *q = calloc((size_t)ulna_model_coordinate_count(take->skeleton.model) + 1, sizeof *q), solved_cm2;
    ulna_status status = q && found
                             ? hessian_open_frame(take, frame, is_fixed, how->is_bounded, &problem, &solved_cm2, error)
                             : cli_no_memory(error);
    for (int i = 0; i < RIVALS && problem && status == ULNA_OK; i++) {
        const trial one = {take, &rivals[i], how->iterations, 0, how->is_bounded};
        if (how->is_bounded && !rivals[i].is_bounded)
            continue;
        status = find_start(take, how->from, frame, q, error);
        if (status == ULNA_OK)
            status = hessian_solve(&one, problem, 1, q, found, error);
        if (status == ULNA_OK) {
            add_lines(&to->lines, panel, frame + 1, rivals[i].name, found);
            count(&sums[i], found, solved_cm2);
        }
    }
    ulna_problem_destroy(problem);
    free(found);
    free(q);
    return status;
}

/* Every frame of all kinds. `part`, `share`: of the item's progress. */
static ulna_status run_kinds(paper_job *job, const paper_take *take, const setting *how, int is_fixed,
                             const frame_choice *kinds, int kind_count, double part, double share, sheets *to,
                             json_t *facts, ulna_error *error)
{
    tally *sums = calloc(RIVALS, sizeof *sums);
    ulna_status status = sums ? ULNA_OK : cli_no_memory(error);
    for (int k = 0; k < kind_count && status == ULNA_OK; k++)
        for (int i = 0; i < kinds[k].count && status == ULNA_OK; i++) {
            paper_show(job, part + share * (k + (double)i / kinds[k].count) / kind_count);
            status = run_frame(take, how, is_fixed, how->panel ? how->panel : kinds[k].kind, kinds[k].frames[i], sums,
                               to, error);
        }
    for (int i = 0; i < RIVALS && status == ULNA_OK; i++)
        if (sums[i].count) {
            add_summary(&to->summary, how->panel ? how->panel : "all", rivals[i].name, &sums[i]);
            json_t *fact = put_object(facts, rivals[i].method);
            put_count(fact, "frames", sums[i].count);
            put_count(fact, "solved", sums[i].reached);
            put_number(fact, "iterations", ulna_median(sums[i].reached_at, (size_t)sums[i].reached));
            put_number(fact, "f_at_10", ulna_median(sums[i].at_ten, (size_t)sums[i].count));
            put_number(fact, "f_last", ulna_median(sums[i].last, (size_t)sums[i].count));
        }
    free(sums);
    return status;
}

/* With offsets of each frame's own pose, as "NAME.csv"; and with fixed ones, as "NAME-fixed.csv". Facts are those of the last setting. */
static ulna_status run_settings(paper_job *job, const char *name, paper_take *take, const setting *settings,
                                int setting_count, const frame_choice *kinds, int kind_count, ulna_error *error)
{
    ulna_status status = paper_take_calibrate(take, error);
    for (int is_fixed = 0; is_fixed < 2 && status == ULNA_OK; is_fixed++) {
        json_t *facts = is_fixed ? put_object(job->facts, "fixed") : job->facts;
        char file[32];
        sheets to;
        snprintf(file, sizeof file, "%s%s", name, is_fixed ? "-fixed" : "");
        sheets_begin(&to);
        for (int i = 0; i < setting_count && status == ULNA_OK; i++)
            status = run_kinds(job, take, &settings[i], is_fixed, kinds, kind_count,
                               0.5 * (is_fixed + (double)i / setting_count), 0.5 / setting_count, &to, facts, error);
        if (status == ULNA_OK)
            status = sheets_save(job, file, &to, error);
        sheets_release(&to);
    }
    return status;
}

/* ---- Figs. 3, 4, 5 and 7 --------------------------------------------------------------------------------------------- */

static ulna_status run_fight(paper_job *job, const char *name, const setting *how, ulna_error *error)
{
    paper_take *take;
    frame_choice kinds[3];
    ulna_status status = hessian_fight_take(job, &take, error);
    if (status == ULNA_OK)
        status = hessian_fight_frames(take, job->is_quick ? 2 : 4, kinds, error);
    return status == ULNA_OK ? run_settings(job, name, take, how, 1, kinds, 3, error) : status;
}

ulna_status paper_run_fig3(paper_job *job, ulna_error *error)
{
    return run_fight(job, "fig3", &(setting){NULL, START_BEFORE, 0, 100}, error);
}

ulna_status paper_run_fig4(paper_job *job, ulna_error *error)
{
    return run_fight(job, "fig4", &(setting){NULL, START_BEFORE, 1, 100}, error);
}

ulna_status paper_run_fig5(paper_job *job, ulna_error *error)
{
    return run_fight(job, "fig5", &(setting){NULL, START_ZERO, 0, HESSIAN_MOST_ITERATIONS}, error);
}

ulna_status paper_run_fig7(paper_job *job, ulna_error *error)
{
    static const setting settings[] = {
        {"unconstrained", START_BEFORE, 0, 100},
        {"bounded", START_BEFORE, 1, 100},
        {"from zero", START_ZERO, 0, HESSIAN_MOST_ITERATIONS},
    };
    paper_take *take;
    frame_choice kinds[4];
    ulna_status status = hessian_workout_take(job, &take, error);
    if (status == ULNA_OK)
        status = hessian_workout_frames(take, kinds, error);
    return status == ULNA_OK ? run_settings(job, "fig7", take, settings, 3, kinds, 4, error) : status;
}

/* ---- Fig. 8: PCG's tolerance and bandwidth ----------------------------------------------------------------------------- */

static const double tolerances[] = {0.01, 0.1, 0.2};
static const int widths[] = {0, 2, 4, 8, 16, 24};

static ulna_status run_sweep(const paper_take *take, int frame, sheets *to, json_t *facts, ulna_error *error)
{
    const trial base = {take, &rivals[RIVAL_EXACT], 100, 0, 0};
    ulna_problem *problem = NULL;
    double *q = calloc((size_t)ulna_model_coordinate_count(take->skeleton.model) + 1, sizeof *q);
    ulna_trace_row rows[HESSIAN_MOST_ITERATIONS + 2];
    ulna_status status = q ? paper_take_problem(take, frame, 0, &problem, error) : cli_no_memory(error);
    for (int e = 0; e < 3; e++)
        for (int b = 0; b < 6 && problem && status == ULNA_OK; b++) {
            ulna_options options = hessian_options(&base);
            ulna_solver *solver = NULL;
            ulna_result result;
            char panel[32], name[32];
            options.pcg.tolerance = tolerances[e];
            options.pcg.band_width = widths[b];
            options.trace = rows;
            options.trace_capacity = (int)(sizeof rows / sizeof *rows);
            snprintf(panel, sizeof panel, "eps = %g", tolerances[e]);
            snprintf(name, sizeof name, "b = %d", widths[b]);
            status = find_start(take, START_BEFORE, frame, q, error);
            if (status == ULNA_OK)
                status = ulna_solver_create(problem, &options, NULL, &solver, error);
            if (status == ULNA_OK)
                status = ulna_solve(solver, q, &result);
            int reached = -1;
            for (int k = 0; status == ULNA_OK && k < result.trace_count; k++) {
                sheet_row(&to->lines, "%s,%d,%s,%d,%.6g,%.4g", panel, frame + 1, name, k, rows[k].f, rows[k].seconds);
                reached = reached < 0 && rows[k].f < HESSIAN_STOP_CM2 ? k : reached;
            }
            if (status == ULNA_OK) {
                sheet_row(&to->summary, "%s,%s,1,%d,%d,%.3g,%.3g,%.3g", panel, name, reached >= 0, reached,
                          rows[result.trace_count > 10 ? 10 : result.trace_count - 1].f, result.f,
                          1e3 * result.seconds);
                put_count(facts, "runs", 1 + json_integer_value(json_object_get(facts, "runs")));
                put_count(facts, "reached", (reached >= 0) + json_integer_value(json_object_get(facts, "reached")));
            }
            ulna_solver_destroy(solver);
        }
    ulna_problem_destroy(problem);
    free(q);
    return status;
}

ulna_status paper_run_fig8(paper_job *job, ulna_error *error)
{
    paper_take *take;
    frame_choice kinds[3] = {{0}};
    sheets to;
    sheets_begin(&to);
    ulna_status status = hessian_fight_take(job, &take, error);
    if (status == ULNA_OK)
        status = hessian_fight_frames(take, 2, kinds, error);
    int frame = kinds[1].count > 1 ? kinds[1].frames[1] : kinds[1].frames[0]; /* 3624 is the second of the paper's */
    if (status == ULNA_OK)
        status = run_sweep(take, frame, &to, job->facts, error);
    if (status == ULNA_OK)
        status = sheets_save(job, "fig8", &to, error);
    sheets_release(&to);
    return status;
}
