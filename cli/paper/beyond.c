/* The survey's methods on one problem, and what the papers do not show: cold starts, exactness, growth, proven gaps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/paper/convex.h"
#include "cli/paper/hessian.h"
#include "src/base/algorithms.h"
#include "ulna/global.h"
#include "ulna/sample.h"

/* ---- the survey: all methods on one reaching problem --------------------------------------------------------------------- */

enum { SURVEY_ITERATIONS = 200 };

/* The arm from rest to a place for its tool; with `is_constrained`, the middle of the arm stays at a height of its own. */
static ulna_status make_reach(const ulna_model *arm, int is_constrained, ulna_problem **problem, ulna_error *error)
{
    const double goal[3] = {0.35, 0.3, 0.45};
    int tool = ulna_model_marker_body(arm, 0), middle = ulna_model_body_count(arm) / 2;
    double point[3];
    ulna_pose *pose = NULL;
    ulna_model_marker_position(arm, 0, point);
    ulna_status status = ulna_problem_create(arm, NULL, problem, error);
    if (status == ULNA_OK)
        status = ulna_problem_add_point(*problem, tool, point, goal, 1, NULL, error);
    if (status == ULNA_OK && is_constrained) {
        ulna_constraint plane = {.type = ULNA_KEEP_PLANE, .body = middle, .other = ULNA_NONE};
        double at[3] = {0};
        status = ulna_pose_create(arm, NULL, &pose, error);
        if (status == ULNA_OK)
            status = ulna_pose_forward(pose, ulna_model_rest(arm));
        if (status == ULNA_OK)
            status = ulna_pose_body(pose, middle, at, NULL);
        const double height[6] = {0, 0, at[2] - 0.03, 0, 0, 1};
        memcpy(plane.goal, height, sizeof height);
        if (status == ULNA_OK)
            status = ulna_problem_add_constraint(*problem, &plane, NULL, error);
        ulna_pose_destroy(pose);
    }
    return status == ULNA_OK ? ulna_problem_ready(*problem, error) : status;
}

/* A method that does not take the problem is left out. */
static ulna_status run_method(const ulna_model *arm, const ulna_problem *problem, const char *panel,
                              const ulna_method_info *method, sheet *lines, sheet *table, int *count, ulna_error *error)
{
    ulna_trace_row rows[SURVEY_ITERATIONS + 2];
    ulna_options options = ulna_options_default();
    ulna_solver *solver = NULL;
    ulna_result result;
    double *q = calloc((size_t)ulna_model_coordinate_count(arm) + 1, sizeof *q);
    if (!q)
        return cli_no_memory(error);
    memcpy(q, ulna_model_rest(arm), (size_t)ulna_model_coordinate_count(arm) * sizeof *q);
    options.method = method->name;
    options.iterations = SURVEY_ITERATIONS;
    options.objective = 1e-16;
    options.trace = rows;
    options.trace_capacity = (int)(sizeof rows / sizeof *rows);
    ulna_status status = ulna_solver_create(problem, &options, NULL, &solver, NULL);
    if (status == ULNA_OK)
        status = ulna_solve(solver, q, &result);
    if (status == ULNA_OK) {
        int shown = result.trace_count < options.trace_capacity ? result.trace_count : options.trace_capacity;
        for (int k = 0; k < shown; k++)
            sheet_row(lines, "%s,1,%s,%d,%.5g", panel, method->name, k, rows[k].f);
        sheet_row(table, "%s,%s,%d,%d,%.3g,%.3g,%s", panel, method->name, result.iterations, result.evaluations,
                  result.f, result.constraint_violation, ulna_stop_name(result.stop));
        *count += result.f < 1e-12 && result.constraint_violation < 1e-6;
    }
    ulna_solver_destroy(solver);
    free(q);
    return status == ULNA_ERR_MEMORY ? cli_fail(error, status, "out of memory") : ULNA_OK;
}

ulna_status paper_run_survey(paper_job *job, ulna_error *error)
{
    static const char *const panels[2] = {"reaching", "reaching with a constraint"};
    sheet lines, table;
    ulna_model *arm = NULL;
    sheet_begin(&lines, "panel,line,method,iteration,f_m2");
    sheet_begin(&table, "panel,method,iterations,evaluations,f_m2,violation_m,stop");
    ulna_status status = ulna_sample_create("arm", NULL, &arm, error);
    for (int k = 0; k < 2 && status == ULNA_OK; k++) {
        ulna_problem *problem = NULL;
        int solved = 0;
        status = make_reach(arm, k, &problem, error);
        for (int i = 0; i < ulna_method_count() && status == ULNA_OK; i++)
            if (!(ulna_method_at(i)->flags & ULNA_METHOD_RELAXATION))
                status = run_method(arm, problem, panels[k], ulna_method_at(i), &lines, &table, &solved, error);
        put_count(job->facts, k ? "kept" : "solved", solved);
        ulna_problem_destroy(problem);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "survey", &lines, error);
    if (status == ULNA_OK)
        status = paper_save(job, "survey-results", &table, error);
    ulna_model_destroy(arm);
    sheet_release(&lines);
    sheet_release(&table);
    return status;
}

/* ---- cold starts, and how exact hybrid's Hessian is ---------------------------------------------------------------------------- */

static const int cold_iterations[] = {5, 10, 20, 50, 100, 200};
enum { COLD_COLUMNS = sizeof cold_iterations / sizeof *cold_iterations };

typedef struct cold_tally {
    int reached[COLD_COLUMNS], frames;
    long long newton, blended, gauss_newton; /* iterations */
} cold_tally;

static void count_cold(const trial_result *found, double solved_cm2, cold_tally *sum)
{
    int at = 0;
    while (at < found->row_count && found->rows[at].f >= solved_cm2)
        at++;
    for (int c = 0; c < COLD_COLUMNS; c++)
        sum->reached[c] += at < found->row_count && at <= cold_iterations[c];
    for (int k = 1; k < found->row_count; k++) {
        double exactness = found->rows[k].exactness;
        sum->newton += exactness >= 1;
        sum->blended += exactness > 0 && exactness < 1;
        sum->gauss_newton += exactness <= 0;
    }
    sum->frames++;
}

static ulna_status run_cold(const paper_take *take, const rival *by, int is_fixed, int frames, cold_tally *sum,
                            ulna_error *error)
{
    trial how = {take, by, HESSIAN_MOST_ITERATIONS, 0, 0};
    trial_result *found = malloc(sizeof *found);
    double *q = calloc((size_t)ulna_model_coordinate_count(take->skeleton.model) + 1, sizeof *q);
    ulna_status status = found && q ? ULNA_OK : cli_no_memory(error);
    *sum = (cold_tally){0};
    for (int i = 0; i < frames && status == ULNA_OK; i++) {
        int frame = (int)((i + 0.5) * take->frames / frames);
        ulna_problem *problem = NULL;
        status = hessian_open_frame(take, frame, is_fixed, 0, &problem, &how.objective, error);
        if (status == ULNA_OK)
            status = hessian_zero_start(take, frame, q, error);
        if (status == ULNA_OK && problem)
            status = hessian_solve(&how, problem, 0, q, found, error);
        if (status == ULNA_OK && problem)
            count_cold(found, how.objective, sum);
        ulna_problem_destroy(problem);
    }
    free(found);
    free(q);
    return status;
}

static void add_cold(const ulna_method_info *method, int is_fixed, const cold_tally *sum, sheet *table, json_t *facts)
{
    int has_hessian = (method->flags & ULNA_METHOD_HESSIAN) != 0; /* others have no share of it */
    double all = has_hessian ? (double)(sum->newton + sum->blended + sum->gauss_newton) : (double)NAN;
    double newton = 100 * (double)sum->newton / all, blended = 100 * (double)sum->blended / all;
    sheet_row(table, "%s,%s,%d,%d,%d,%d,%d,%d,%d,%.0f,%.0f,%.0f", is_fixed ? "fixed" : "oracle", method->name,
              sum->frames, sum->reached[0], sum->reached[1], sum->reached[2], sum->reached[3], sum->reached[4],
              sum->reached[5], newton, blended, 100 * (double)sum->gauss_newton / all);
    json_t *fact = put_object(facts, method->name);
    put_count(fact, "frames", sum->frames);
    put_count(fact, "by_20", sum->reached[2]);
    put_count(fact, "by_200", sum->reached[5]);
    put_number(fact, "newton_percent", newton);
    put_number(fact, "blended_percent", blended);
}

ulna_status paper_run_cold(paper_job *job, ulna_error *error)
{
    static const char *const names[] = {"dg_03-05_02", NULL};
    int methods = ulna_method_count();
    paper_take *take = NULL;
    sheet table;
    sheet_begin(&table, "offsets,method,frames,by_5,by_10,by_20,by_50,by_100,by_200,newton_percent,blended_percent,"
                        "gauss_newton_percent");
    ulna_status status = paper_take_first(&job->data, names, &take, error);
    if (status == ULNA_OK)
        status = paper_take_calibrate(take, error);
    json_t *fixed = put_object(job->facts, "fixed");
    for (int i = 0; i < 2 * methods && status == ULNA_OK; i++) {
        int is_fixed = i >= methods;
        const ulna_method_info *method = ulna_method_at(i % methods);
        const rival by = {method->name, method->name, NULL, 0};
        cold_tally sum;
        if (method->flags & (ULNA_METHOD_RELAXATION | ULNA_METHOD_SOFT | ULNA_METHOD_POSITIONS))
            continue;
        paper_show(job, 0.5 * i / methods);
        status = run_cold(take, &by, is_fixed, job->is_quick ? 4 : 40, &sum, error);
        if (status == ULNA_OK)
            add_cold(method, is_fixed, &sum, &table, is_fixed ? fixed : job->facts);
        else if (status == ULNA_ERR_UNSUPPORTED)
            status = ULNA_OK;
    }
    if (status == ULNA_OK)
        status = paper_save(job, "cold", &table, error);
    sheet_release(&table);
    return status;
}

/* ---- growth -------------------------------------------------------------------------------------------------------------------- */

/* A chain of hinges, or with `depth` a comb: chains of that depth on one root. A point at the end of each. */
static ulna_status make_chain(int bones, int depth, int points, ulna_model **model, ulna_problem **problem,
                              ulna_error *error)
{
    static const double forward[3] = {0.1, 0.01, 0}, goal[3] = {0.5, 0.4, 0.3};
    ulna_builder *builder = NULL;
    ulna_status status = ulna_builder_create(NULL, &builder);
    *model = NULL;
    *problem = NULL;
    for (int b = 0; b < bones && status == ULNA_OK; b++) {
        char name[24];
        ulna_joint hinge = ulna_joint_revolute(b % 3 == 0, b % 3 == 1, b % 3 == 2);
        snprintf(name, sizeof name, "bone%d", b);
        status = ulna_builder_add_body(builder, name,
                                       b == 0                 ? ULNA_NONE
                                       : (b - 1) % depth == 0 ? 0
                                                              : b - 1,
                                       NULL, error);
        if (status == ULNA_OK)
            status = ulna_builder_set_placement(builder, b, forward, NULL, error);
        if (status == ULNA_OK)
            status = ulna_builder_set_joint(builder, b, &hinge, error);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, model, error);
    ulna_builder_destroy(builder);
    if (status == ULNA_OK)
        status = ulna_problem_create(*model, NULL, problem, error);
    for (int i = 0; i < points && status == ULNA_OK; i++)
        status = ulna_problem_add_point(*problem, (bones - 1) - i % bones, NULL, goal, 1, NULL, error);
    return status == ULNA_OK ? ulna_problem_ready(*problem, error) : status;
}

/* Microseconds of f, gradient and an exact Newton step: the shortest of some rounds. */
static ulna_status time_step(const ulna_model *model, const ulna_problem *problem, double *us, ulna_error *error)
{
    enum { ROUNDS = 9 };
    int nv = ulna_model_dof_count(model);
    double *numbers = calloc(3 * (size_t)nv + 1, sizeof *numbers), *q = numbers, *shift = numbers + nv,
           *step = numbers + 2 * nv, f;
    ulna_work *work = NULL;
    ulna_status status = numbers ? ulna_work_create(problem, NULL, &work, error) : cli_no_memory(error);
    for (int i = 0; i < nv && numbers; i++) {
        shift[i] = 10.0 * nv * nv; /* positive definite in any case */
        q[i] = 0.02 * sin(i);
    }
    *us = (double)INFINITY;
    for (int round = 0; round < ROUNDS && status == ULNA_OK; round++) {
        const ulna_step_options options = {.t = 1, .shift = shift};
        int repeats = 1 + 20000 / (nv + 20);
        double begun = cli_seconds();
        for (int i = 0; i < repeats && status == ULNA_OK; i++) {
            status = ulna_work_evaluate(work, q, &f);
            if (status == ULNA_OK)
                status = ulna_work_step(work, &options, step, NULL, NULL);
        }
        *us = fmin(*us, 1e6 * (cli_seconds() - begun) / repeats);
    }
    ulna_work_destroy(work);
    free(numbers);
    return status;
}

ulna_status paper_run_growth(paper_job *job, ulna_error *error)
{
    static const char *const panels[3] = {"bones, all in one chain", "depth, 257 bones", "markers, 64 bones"};
    sheet table;
    ulna_status status = ULNA_OK;
    sheet_begin(&table, "panel,line,what,count,us");
    for (int k = 0; k < 3; k++) {
        double first = 0, last = 0, us = 0;
        for (int n = 8; n <= (job->is_quick ? 128 : 256) && status == ULNA_OK; n *= 2) {
            ulna_model *model = NULL;
            ulna_problem *problem = NULL;
            paper_show(job, k / 3.0);
            status = make_chain(k == 0   ? n
                                : k == 1 ? 257
                                         : 64,
                                k == 1 ? n : 1 << 20, k == 2 ? n : 1, &model, &problem, error);
            if (status == ULNA_OK)
                status = time_step(model, problem, &us, error);
            sheet_row(&table, "\"%s\",1,Newton step,%d,%.4g", panels[k], n, us);
            first = first > 0 ? first : us;
            last = us;
            put_count(job->facts, "factor", n / 8);
            ulna_problem_destroy(problem);
            ulna_model_destroy(model);
        }
        static const char *const keys[3] = {"bones", "depth", "markers"};
        put_number(job->facts, keys[k], last / first);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "growth", &table, error);
    sheet_release(&table);
    return status;
}

/* ---- proven gaps ------------------------------------------------------------------------------------------------------------------ */

ulna_status paper_run_gaps(paper_job *job, ulna_error *error)
{
    static const char *const views[VIEWS] = {"all joints", "ends"};
    sheet table;
    ulna_status status = ULNA_OK;
    sheet_begin(&table, "skeleton,observed,noise,poses,proven_percent,median_gap_percent,largest_gap_percent,ms");
    for (int is_hand = 0; is_hand < 2 && status == ULNA_OK; is_hand++) {
        scene of;
        status = scene_open(job, &of, is_hand, job->is_quick ? 2 : 20, error);
        for (int k = 0; k < 2 * VIEWS && status == ULNA_OK; k++) {
            double gaps[32], ms = 0;
            int proven = 0, count = 0;
            for (int i = 0; i < of.poses && status == ULNA_OK; i++) {
                ulna_global_result about;
                paper_show(job, 0.5 * (is_hand + (k + (double)i / of.poses) / (2 * VIEWS)));
                status = scene_observe(&of, k / 2, i, k % 2);
                if (status == ULNA_OK)
                    status = scene_solve_global(&of, k / 2, job->tool->threads, NULL, &about, error);
                if (status == ULNA_OK) {
                    gaps[count++] = about.f > 1e-12 ? 100 * about.gap / about.f : 0;
                    proven += about.proven;
                    ms += 1e3 * about.seconds;
                }
            }
            double median = ulna_median(gaps, (size_t)count);
            if (count)
                sheet_row(&table, "%s,%s,%s,%d,%.0f,%.3g,%.3g,%.3g", of.name, views[k / 2], k % 2 ? "yes" : "no", count,
                          100.0 * proven / count, median, gaps[count - 1], ms / count);
            char key[32];
            snprintf(key, sizeof key, "%s_%d", of.name, k);
            put_number(job->facts, key, count ? 100.0 * proven / count : 0);
        }
        scene_close(&of);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "gaps", &table, error);
    sheet_release(&table);
    return status;
}
