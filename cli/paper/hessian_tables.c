/* Tables 3 and 4 of the exact-Hessian paper, and the times of section 6.2. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/paper/hessian.h"

enum { REPEATS = 3 };

/* ---- single frames: Table 3, and 100 iterations ------------------------------------------------------------------------ */

typedef struct means {
    double ms, calls, added, iterations;
    int solved, frames;
} means;

/* With `is_stopped` until the frame counts as solved, else all iterations. */
static ulna_status run_frame(const trial *base, int frame, int is_fixed, int is_stopped, means *sum, ulna_error *error)
{
    trial how = *base;
    double solved_cm2;
    size_t nq = (size_t)ulna_model_coordinate_count(how.take->skeleton.model);
    ulna_problem *problem = NULL;
    trial_result *found = malloc(sizeof *found);
    double *q = calloc(nq + 1, sizeof *q);
    ulna_status status = found && q ? hessian_open_frame(how.take, frame, is_fixed, 0, &problem, &solved_cm2, error)
                                    : cli_no_memory(error);
    if (status == ULNA_OK && problem) {
        how.objective = is_stopped ? solved_cm2 : 0;
        memcpy(q, paper_take_pose(how.take, frame > 0 ? frame - 1 : 0), nq * sizeof *q);
        status = hessian_solve(&how, problem, REPEATS, q, found, error);
    }
    if (status == ULNA_OK && problem) {
        sum->ms += 1e3 * found->result.seconds;
        sum->calls += found->result.evaluations;
        sum->added += (double)found->added_calls;
        sum->iterations += found->result.iterations;
        sum->solved += found->result.f <= solved_cm2;
        sum->frames++;
    }
    ulna_problem_destroy(problem);
    free(found);
    free(q);
    return status;
}

static ulna_status run_frames(const trial *how, const frame_choice *kind, int is_fixed, int is_stopped, means *sum,
                              ulna_error *error)
{
    ulna_status status = ULNA_OK;
    *sum = (means){0};
    for (int i = 0; i < kind->count && status == ULNA_OK; i++)
        status = run_frame(how, kind->frames[i], is_fixed, is_stopped, sum, error);
    if (sum->frames) {
        sum->ms /= sum->frames;
        sum->calls /= sum->frames;
        sum->added /= sum->frames;
        sum->iterations /= sum->frames;
    }
    return status;
}

/* The kinds of Fig. 3, each with its take, and the workout of Fig. 7 as one kind. */
typedef struct kinds_of_table3 {
    const paper_take *take[4];
    frame_choice kind[4];
} kinds_of_table3;

static ulna_status find_kinds(paper_job *job, kinds_of_table3 *found, ulna_error *error)
{
    paper_take *fight, *workout;
    frame_choice parts[4];
    int most = job->is_quick ? 2 : 4;
    ulna_status status = hessian_fight_take(job, &fight, error);
    if (status == ULNA_OK)
        status = hessian_workout_take(job, &workout, error);
    if (status == ULNA_OK)
        status = hessian_fight_frames(fight, most, found->kind, error);
    if (status == ULNA_OK)
        status = hessian_workout_frames(workout, parts, error);
    if (status != ULNA_OK)
        return status;
    found->take[0] = found->take[1] = found->take[2] = fight;
    found->take[3] = workout;
    status = paper_take_calibrate(fight, error);
    if (status == ULNA_OK)
        status = paper_take_calibrate(workout, error);
    found->kind[3] = (frame_choice){.kind = "workout"};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < parts[k].count; i++)
            found->kind[3].frames[found->kind[3].count++] = parts[k].frames[i];
    return status;
}

static const char *const offset_names[2] = {"oracle", "fixed"};

/* The member of that name; made if there is none. */
static json_t *fact_of(json_t *facts, const char *name)
{
    json_t *fact = json_object_get(facts, name);
    return fact ? fact : put_object(facts, name);
}

ulna_status paper_run_table3(paper_job *job, ulna_error *error)
{
    sheet table;
    kinds_of_table3 kinds;
    sheet_begin(&table, "motion,offsets,method,ms,calls,calls_added_up,iterations,solved,frames");
    ulna_status status = find_kinds(job, &kinds, error);
    for (int row = 0; row < 8 * RIVALS && status == ULNA_OK; row++) {
        int is_fixed = row / (4 * RIVALS), k = row / RIVALS % 4;
        const rival *by = &rivals[row % RIVALS];
        const trial how = {kinds.take[k], by, HESSIAN_MOST_ITERATIONS, 0, 0};
        means sum;
        paper_show(job, row / (8.0 * RIVALS));
        status = run_frames(&how, &kinds.kind[k], is_fixed, 1, &sum, error);
        sheet_row(&table, "%s,%s,%s,%.3g,%.3g,%.4g,%.3g,%d,%d", kinds.kind[k].kind, offset_names[is_fixed], by->name,
                  sum.ms, sum.calls, sum.added, sum.iterations, sum.solved, sum.frames);
        put_number(fact_of(is_fixed ? fact_of(job->facts, "fixed") : job->facts, by->method), kinds.kind[k].kind,
                   sum.ms);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "table3", &table, error);
    sheet_release(&table);
    return status;
}

ulna_status paper_run_timing(paper_job *job, ulna_error *error)
{
    sheet table;
    kinds_of_table3 kinds;
    sheet_begin(&table, "offsets,method,iterations,ms,us_per_iteration");
    ulna_status status = find_kinds(job, &kinds, error);
    for (int row = 0; row < 2 * RIVALS && status == ULNA_OK; row++) {
        const rival *by = &rivals[row % RIVALS];
        int is_fixed = row / RIVALS;
        means all = {0};
        for (int k = 0; k < 3 && status == ULNA_OK; k++) {
            const trial how = {kinds.take[k], by, 100, 0, 0};
            means sum;
            paper_show(job, (3 * row + k) / (6.0 * RIVALS));
            status = run_frames(&how, &kinds.kind[k], is_fixed, 0, &sum, error);
            all.ms += sum.ms / 3;
            all.iterations += sum.iterations / 3;
        }
        sheet_row(&table, "%s,%s,%.3g,%.3g,%.3g", offset_names[is_fixed], by->name, all.iterations, all.ms,
                  1e3 * all.ms / all.iterations);
        put_number(is_fixed ? fact_of(job->facts, "fixed") : job->facts, by->method, all.ms);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "timing", &table, error);
    sheet_release(&table);
    return status;
}

/* ---- whole takes: Table 4 ------------------------------------------------------------------------------------------------ */

/* A column of the table. */
typedef struct column {
    int by; /* of rivals */
    int iterations;
} column;

static const column columns[] = {
    {RIVAL_QUASI_NEWTON, 10}, {RIVAL_QUASI_NEWTON, 100}, {RIVAL_EXACT, 10},     {RIVAL_NEWTON, 10},
    {RIVAL_HYBRID, 10},       {RIVAL_TEXTBOOK, 10},      {RIVAL_TEXTBOOK, 100},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

typedef struct reconstruction {
    double ms, cm, iterations, calls;
    int solved, frames;
} reconstruction;

/* One frame, from q to the answer in q. Frames without a marker are left out. */
static ulna_status one_frame(const trial *how, int frame, int is_fixed, double *q, reconstruction *sum,
                             ulna_error *error)
{
    ulna_options options = hessian_options(how);
    ulna_problem *problem = NULL;
    ulna_solver *solver = NULL;
    ulna_result result = {0};
    ulna_status status = paper_take_problem(how->take, frame, is_fixed, &problem, error);
    if (status != ULNA_OK || !problem)
        return status;
    status = ulna_solver_create(problem, &options, NULL, &solver, error);
    if (status == ULNA_OK)
        status = ulna_solve(solver, q, &result);
    for (int i = 0; status == ULNA_OK && i < ulna_problem_term_count(problem); i++) {
        double metres;
        status = ulna_work_term_error(ulna_solver_work(solver), i, &metres);
        sum->cm += isfinite(metres) ? 100 * metres : 0; /* NaN: not seen */
    }
    sum->ms += 1e3 * result.seconds;
    sum->iterations += result.iterations;
    sum->calls += result.evaluations;
    sum->solved += result.f < HESSIAN_STOP_CM2;
    sum->frames++;
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    return status;
}

/* The whole take, each frame from the solution of the last; the first one from its own pose, as in the authors' code. */
static ulna_status reconstruct(paper_job *job, const trial *how, int frames, int is_fixed, double from, double until,
                               reconstruction *sum, ulna_error *error)
{
    size_t nq = (size_t)ulna_model_coordinate_count(how->take->skeleton.model);
    double *q = calloc(nq + 1, sizeof *q);
    ulna_status status = q ? ULNA_OK : cli_no_memory(error);
    *sum = (reconstruction){0};
    if (status == ULNA_OK)
        memcpy(q, paper_take_pose(how->take, 0), nq * sizeof *q);
    for (int f = 0; f < frames && status == ULNA_OK; f++) {
        if (f % 32 == 0)
            paper_show(job, from + (until - from) * f / frames);
        status = one_frame(how, f, is_fixed, q, sum, error);
    }
    if (sum->frames) {
        sum->ms /= sum->frames;
        sum->cm /= sum->frames;
        sum->iterations /= sum->frames;
        sum->calls /= sum->frames;
    }
    free(q);
    return status;
}

static ulna_status run_take(paper_job *job, const paper_take *take, int is_fixed, double from, double until,
                            sheet *table, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    int frames = is_fixed && job->is_quick && take->frames > 200 ? 200 : take->frames;
    for (int i = 0; i < COLUMNS && status == ULNA_OK; i++) {
        const trial how = {take, &rivals[columns[i].by], columns[i].iterations, HESSIAN_STOP_CM2, 0};
        if (job->is_quick && columns[i].by == RIVAL_TEXTBOOK && columns[i].iterations > 10)
            continue;
        reconstruction sum;
        double part = (until - from) / COLUMNS;
        status = reconstruct(job, &how, frames, is_fixed, from + i * part, from + (i + 1) * part, &sum, error);
        sheet_row(table, "%s,%s,%s %d,%d,%.3g,%.4g,%.3g,%.3g,%.1f", take->name, offset_names[is_fixed],
                  rivals[columns[i].by].name, columns[i].iterations, sum.frames, sum.ms, sum.cm, sum.iterations,
                  sum.calls, sum.frames ? 100.0 * sum.solved / sum.frames : 0);
        if (!is_fixed && !json_object_get(job->facts, "take"))
            put_text(job->facts, "take", take->name);
        if (!is_fixed && strcmp(json_string_value(json_object_get(job->facts, "take")), take->name) == 0) {
            char key[48];
            snprintf(key, sizeof key, "%s_%d",
                     columns[i].by == RIVAL_TEXTBOOK ? "identity" : rivals[columns[i].by].method,
                     columns[i].iterations);
            json_t *fact = put_object(job->facts, key);
            put_number(fact, "cm", sum.cm);
            put_number(fact, "ms", sum.ms);
        }
    }
    return status;
}

ulna_status paper_run_table4(paper_job *job, ulna_error *error)
{
    static const char *const of_paper[] = {"dg_03-05_02", "dg_03-02_03", "bk_05-03_03", "mm_03-05_02"};
    static const char *const others[] = {"dg_01-03_01", "dg_06-03_03"};
    enum { MOST = 6 };
    const char *none[] = {NULL};
    paper_take *takes[MOST];
    int count = 0;
    sheet table;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < MOST && status == ULNA_OK && (i < 4 || !job->is_quick); i++) {
        paper_take *take;
        status = paper_take_find(&job->data, i < 4 ? of_paper[i] : others[i - 4], &take, error);
        if (status == ULNA_OK && take)
            takes[count++] = take;
    }
    if (status == ULNA_OK && count == 0)
        status = paper_take_first(&job->data, none, &takes[count++], error);
    sheet_begin(&table, "take,offsets,method,frames,ms,error_cm,iterations,calls,reached_percent");
    for (int i = 0; i < 2 * count && status == ULNA_OK; i++) {
        int is_fixed = i >= count;
        if (is_fixed)
            status = paper_take_calibrate(takes[i % count], error);
        if (status == ULNA_OK)
            status =
                run_take(job, takes[i % count], is_fixed, i / (2.0 * count), (i + 1) / (2.0 * count), &table, error);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "table4", &table, error);
    sheet_release(&table);
    return status;
}
