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

static ulna_status run_frame(const trial *how, int frame, means *sum, ulna_error *error)
{
    const ulna_model *model = how->take->skeleton.model;
    size_t nq = (size_t)ulna_model_coordinate_count(model);
    ulna_problem *problem = NULL;
    trial_result *found = malloc(sizeof *found);
    double *q = calloc(nq + 1, sizeof *q);
    ulna_status status = found && q ? paper_take_problem(how->take, frame, NULL, &problem, error)
                                    : cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    if (status == ULNA_OK) {
        memcpy(q, paper_take_pose(how->take, frame > 0 ? frame - 1 : 0), nq * sizeof *q);
        status = hessian_solve(how, problem, REPEATS, q, found, error);
    }
    if (status == ULNA_OK) {
        sum->ms += 1e3 * found->result.seconds;
        sum->calls += found->result.evaluations;
        sum->added += (double)found->added_calls;
        sum->iterations += found->result.iterations;
        sum->solved += found->result.f <= HESSIAN_STOP_CM2;
        sum->frames++;
    }
    ulna_problem_destroy(problem);
    free(found);
    free(q);
    return status;
}

static ulna_status run_frames(const paper_take *take, const rival *by, const frame_choice *kind, int iterations,
                              double objective, means *sum, ulna_error *error)
{
    const trial how = {take, by, iterations, objective, 0};
    ulna_status status = ULNA_OK;
    *sum = (means){0};
    for (int i = 0; i < kind->count && status == ULNA_OK; i++)
        status = run_frame(&how, kind->frames[i], sum, error);
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
    found->kind[3] = (frame_choice){.kind = "workout"};
    for (int k = 0; k < 4; k++)
        for (int i = 0; i < parts[k].count; i++)
            found->kind[3].frames[found->kind[3].count++] = parts[k].frames[i];
    return ULNA_OK;
}

ulna_status paper_run_table3(paper_job *job, ulna_error *error)
{
    sheet table;
    kinds_of_table3 kinds;
    sheet_begin(&table, "motion,method,ms,calls,calls_added_up,iterations,solved,frames");
    ulna_status status = find_kinds(job, &kinds, error);
    for (int k = 0; k < 4 && status == ULNA_OK; k++)
        for (int i = 0; i < RIVALS && status == ULNA_OK; i++) {
            means sum;
            paper_show(job, (k * RIVALS + i) / (4.0 * RIVALS));
            status = run_frames(kinds.take[k], &rivals[i], &kinds.kind[k], HESSIAN_MOST_ITERATIONS, HESSIAN_STOP_CM2,
                                &sum, error);
            sheet_row(&table, "%s,%s,%.3g,%.3g,%.4g,%.3g,%d,%d", kinds.kind[k].kind, rivals[i].name, sum.ms, sum.calls,
                      sum.added, sum.iterations, sum.solved, sum.frames);
            json_t *fact = json_object_get(job->facts, rivals[i].method);
            fact = fact ? fact : put_object(job->facts, rivals[i].method);
            put_number(fact, kinds.kind[k].kind, sum.ms);
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
    sheet_begin(&table, "what,method,iterations,ms,us_per_iteration");
    ulna_status status = find_kinds(job, &kinds, error);
    for (int i = 0; i < RIVALS && status == ULNA_OK; i++) {
        means all = {0};
        for (int k = 0; k < 3 && status == ULNA_OK; k++) {
            means sum;
            paper_show(job, (3 * i + k) / (3.0 * RIVALS));
            status = run_frames(kinds.take[k], &rivals[i], &kinds.kind[k], 100, 0, &sum, error);
            all.ms += sum.ms / 3;
            all.iterations += sum.iterations / 3;
        }
        sheet_row(&table, "100 iterations,%s,%.3g,%.3g,%.3g", rivals[i].name, all.iterations, all.ms,
                  1e3 * all.ms / all.iterations);
        put_number(job->facts, rivals[i].method, all.ms);
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
static ulna_status one_frame(const trial *how, int frame, const ulna_marker_set *fixed, double *q, reconstruction *sum,
                             ulna_error *error)
{
    ulna_options options = hessian_options(how);
    ulna_problem *problem = NULL;
    ulna_solver *solver = NULL;
    ulna_result result = {0};
    ulna_status status = paper_take_problem(how->take, frame, fixed, &problem, error);
    if (status == ULNA_OK && ulna_problem_term_count(problem) > 0)
        status = ulna_solver_create(problem, &options, NULL, &solver, error);
    if (status == ULNA_OK && solver)
        status = ulna_solve(solver, q, &result);
    for (int i = 0; status == ULNA_OK && solver && i < ulna_problem_term_count(problem); i++) {
        double metres = 0;
        status = ulna_work_term_error(ulna_solver_work(solver), i, &metres);
        sum->cm += 100 * metres;
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
static ulna_status reconstruct(paper_job *job, const trial *how, int frames, const ulna_marker_set *fixed, double from,
                               double until, reconstruction *sum, ulna_error *error)
{
    size_t nq = (size_t)ulna_model_coordinate_count(how->take->skeleton.model);
    double *q = calloc(nq + 1, sizeof *q);
    ulna_status status = q ? ULNA_OK : cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    *sum = (reconstruction){0};
    if (status == ULNA_OK)
        memcpy(q, paper_take_pose(how->take, 0), nq * sizeof *q);
    for (int f = 0; f < frames && status == ULNA_OK; f++) {
        if (f % 32 == 0)
            paper_show(job, from + (until - from) * f / frames);
        status = one_frame(how, f, fixed, q, sum, error);
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

static ulna_status run_take(paper_job *job, const paper_take *take, const ulna_marker_set *fixed, double from,
                            double until, sheet *table, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    int frames = fixed && job->is_quick && take->frames > 200 ? 200 : take->frames;
    for (int i = 0; i < COLUMNS && status == ULNA_OK; i++) {
        const trial how = {take, &rivals[columns[i].by], columns[i].iterations, HESSIAN_STOP_CM2, 0};
        if (job->is_quick && columns[i].by == RIVAL_TEXTBOOK && columns[i].iterations > 10)
            continue;
        reconstruction sum;
        double part = (until - from) / COLUMNS;
        status = reconstruct(job, &how, frames, fixed, from + i * part, from + (i + 1) * part, &sum, error);
        sheet_row(table, "%s,%s,%s %d,%d,%.3g,%.4g,%.3g,%.3g,%.1f", take->name, fixed ? "fixed" : "oracle",
                  rivals[columns[i].by].name, columns[i].iterations, sum.frames, sum.ms, sum.cm, sum.iterations,
                  sum.calls, sum.frames ? 100.0 * sum.solved / sum.frames : 0);
        if (!fixed && !json_object_get(job->facts, "take"))
            put_text(job->facts, "take", take->name);
        if (!fixed && strcmp(json_string_value(json_object_get(job->facts, "take")), take->name) == 0) {
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
    ulna_calibration found = {0};
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
    for (int i = 0; i < count && status == ULNA_OK; i++)
        status = run_take(job, takes[i], NULL, (double)i / (count + 1), (i + 1.0) / (count + 1), &table, error);
    if (status == ULNA_OK)
        status = paper_take_calibrate(takes[0], &found, error);
    if (status == ULNA_OK)
        status = run_take(job, takes[0], &found.set, count / (count + 1.0), 1, &table, error);
    if (status == ULNA_OK)
        status = paper_save(job, "table4", &table, error);
    ulna_calibration_release(&found);
    sheet_release(&table);
    return status;
}
