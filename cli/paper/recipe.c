/* The recipe: agreement and cost of its Jacobians, its table of solvers (Fig. 8) measured, and limits inside a solver or outside. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/paper/counter.h"
#include "cli/paper/paper.h"
#include "src/base/algorithms.h"
#include "src/papers/papers.h"
#include "ulna/sample.h"

/* Degrees of freedom of a model of Euler joints evenly within `part` of their limits about 0; those without limits within 1 rad or metre. */
static void random_pose(const ulna_model *model, double part, uint64_t *state, double *q)
{
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int i = 0; i < ulna_model_dof_count(model); i++) {
        int at = ulna_model_dof_coordinate(model, i);
        double from = isfinite(lower[i]) ? lower[i] : -1, to = isfinite(upper[i]) ? upper[i] : 1;
        if (at >= 0)
            q[at] = part * (from + (to - from) * ulna_random_uniform(state));
    }
}

/* ---- Jacobians: agreement and cost ----------------------------------------------------------------------------------------- */

enum { SHARED = ULNA_JACOBIAN_ROUTE_COUNT, LIBRARY, ROUTES };

static const struct {
    const char *name, *key;
} routes[ROUTES] = {
    [ULNA_JACOBIAN_SIMPLE] = {"cross products (procedure 1)", "simple"},
    [ULNA_JACOBIAN_GENERIC] = {"adjoints (procedure 2)", "generic"},
    [ULNA_JACOBIAN_ADJUSTED] = {"adjoints with Euler adjustment (procedure 3)", "adjusted"},
    [ULNA_JACOBIAN_TWISTS] = {"product of exponentials (eq. 7-10)", "twists"},
    [ULNA_JACOBIAN_DIFFERENCES] = {"central differences", "differences"},
    [SHARED] = {"spatial frame with columns shared by effectors (eq. 13)", "shared"},
    [LIBRARY] = {"ulna_pose_jacobian", "library"},
};

/* Markers of a body, and room for their Jacobians. */
typedef struct effectors {
    ulna_model *model;
    ulna_pose *pose;
    ulna_effector *list;
    int count;
    size_t size; /* of a Jacobian of all */
    double *q, *spatial, *reference, *found;
} effectors;

static ulna_status effectors_open(effectors *e, ulna_error *error)
{
    *e = (effectors){0};
    ulna_status status = ulna_sample_create("human", NULL, &e->model, error);
    if (status == ULNA_OK)
        status = ulna_pose_create(e->model, NULL, &e->pose, error);
    if (status != ULNA_OK)
        return status;
    size_t nv = (size_t)ulna_model_dof_count(e->model);
    e->count = ulna_model_marker_count(e->model);
    e->size = 6 * (size_t)e->count * nv;
    e->list = calloc((size_t)e->count, sizeof *e->list);
    e->q = calloc((size_t)ulna_model_coordinate_count(e->model), sizeof *e->q);
    e->spatial = calloc(6 * nv, sizeof *e->spatial);
    e->reference = calloc(e->size, sizeof *e->reference);
    e->found = calloc(e->size, sizeof *e->found);
    if (!e->list || !e->q || !e->spatial || !e->reference || !e->found)
        return cli_no_memory(error);
    for (int i = 0; i < e->count; i++) {
        e->list[i].body = ulna_model_marker_body(e->model, i);
        ulna_model_marker_position(e->model, i, e->list[i].point);
    }
    return ULNA_OK;
}

static void effectors_close(effectors *e)
{
    ulna_pose_destroy(e->pose);
    ulna_model_destroy(e->model);
    free(e->list);
    free(e->q);
    free(e->spatial);
    free(e->reference);
    free(e->found);
}

static ulna_status find_jacobian(effectors *e, int route, ulna_frame frame, int count, double *jacobian)
{
    ulna_jacobian_options options = ulna_jacobian_options_default();
    options.frame = frame;
    if (route == SHARED) /* in the world's axes alone */
        return ulna_papers_jacobian_shared(e->pose, count, e->list, e->spatial, jacobian);
    if (route == LIBRARY)
        return ulna_pose_jacobian(e->pose, &options, count, e->list, jacobian);
    return ulna_papers_jacobian(e->pose, (ulna_jacobian_route)route, &options, count, e->list, jacobian);
}

/* Largest differences from ulna_pose_jacobian over some poses, in the world's axes and in those of the bodies. */
static ulna_status compare_routes(effectors *e, int poses, double differences[ROUTES][2], ulna_error *error)
{
    static const ulna_frame frames[2] = {ULNA_FRAME_WORLD, ULNA_FRAME_BODY};
    uint64_t state = 1;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < poses && status == ULNA_OK; i++) {
        random_pose(e->model, 1, &state, e->q);
        status = ulna_pose_forward(e->pose, e->q);
        for (int k = 0; k < 2 * ROUTES && status == ULNA_OK; k++) {
            int route = k / 2;
            if (route == SHARED && frames[k % 2] != ULNA_FRAME_WORLD)
                continue;
            status = find_jacobian(e, LIBRARY, frames[k % 2], e->count, e->reference);
            if (status == ULNA_OK)
                status = find_jacobian(e, route, frames[k % 2], e->count, e->found);
            for (size_t n = 0; n < e->size && status == ULNA_OK; n++)
                differences[route][k % 2] = fmax(differences[route][k % 2], fabs(e->found[n] - e->reference[n]));
        }
    }
    return status == ULNA_OK ? status : cli_fail(error, status, "a Jacobian failed: %s", ulna_status_text(status));
}

/* Microseconds of a Jacobian of `count` effectors: the shortest of some rounds. */
static double time_route(effectors *e, int route, int count, int rounds)
{
    enum { REPEATS = 20 };
    double shortest = (double)INFINITY;
    for (int round = 0; round < rounds; round++) {
        double begun = cli_seconds();
        for (int i = 0; i < REPEATS; i++)
            find_jacobian(e, route, ULNA_FRAME_WORLD, count, e->found);
        shortest = fmin(shortest, 1e6 * (cli_seconds() - begun) / REPEATS);
    }
    return shortest;
}

ulna_status paper_run_recipe(paper_job *job, ulna_error *error)
{
    effectors e;
    sheet table, times;
    double differences[ROUTES][2] = {{0}}, us[2][ROUTES];
    sheet_begin(&table, "route,difference_world,difference_body,us_1_effector,us_all_effectors");
    sheet_begin(&times, "effectors,route,us");
    ulna_status status = effectors_open(&e, error);
    if (status == ULNA_OK)
        status = compare_routes(&e, job->is_quick ? 5 : 100, differences, error);
    for (int i = 0; i < ROUTES && status == ULNA_OK; i++) {
        char body[24] = "-";
        paper_show(job, 0.5 + 0.5 * i / ROUTES);
        us[0][i] = time_route(&e, i, 1, job->is_quick ? 5 : 50);
        us[1][i] = time_route(&e, i, e.count, job->is_quick ? 5 : 50);
        if (i != SHARED)
            snprintf(body, sizeof body, "%.2g", differences[i][1]);
        sheet_row(&table, "%s,%.2g,%s,%.3g,%.3g", routes[i].name, differences[i][0], body, us[0][i], us[1][i]);
        json_t *fact = put_object(job->facts, routes[i].key);
        put_number(fact, "difference", fmax(differences[i][0], differences[i][1]));
        put_number(fact, "us", us[1][i]);
    }
    for (int i = 0; i < 2 * ROUTES && status == ULNA_OK; i++)
        sheet_row(&times, "%d effector%s,%s,%.4g", i < ROUTES ? 1 : e.count, i < ROUTES ? "" : "s",
                  routes[i % ROUTES].key, us[i / ROUTES][i % ROUTES]);
    put_count(job->facts, "effectors", e.count);
    if (status == ULNA_OK)
        status = paper_save(job, "recipe", &table, error);
    if (status == ULNA_OK)
        status = paper_save(job, "recipe-times", &times, error);
    effectors_close(&e);
    sheet_release(&table);
    sheet_release(&times);
    return status;
}

/* ---- the arm, its goals and solvers, for Fig. 8 and limits --------------------------------------------------------------------- */

enum { ARM_JOINTS = 7, ARM_ITERATIONS = 1000 };
#define ARM_LENGTH 0.1   /* metres: what a radian of the tool counts as */
#define ARM_SOLVED 5e-11 /* f in m^2: 0.01 mm, or 1e-4 rad */
#define ARM_SINGULAR_PART                                                                                              \
    0.02 /* of the limits: the arm almost straight, so that axes are in line and it is at the end of its reach */

/* The arm, with a goal for the place of its tool and, unless weight 0 drops it, for its orientation. */
typedef struct reach {
    ulna_model *model;
    ulna_pose *pose;
    ulna_problem *problem;
    int tool;
    double point[3];
} reach;

static ulna_status reach_open(reach *r, ulna_error *error)
{
    static const double straight[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    *r = (reach){0};
    ulna_status status = ulna_sample_create("arm", NULL, &r->model, error);
    if (status == ULNA_OK)
        status = ulna_pose_create(r->model, NULL, &r->pose, error);
    if (status == ULNA_OK)
        status = ulna_problem_create(r->model, NULL, &r->problem, error);
    if (status != ULNA_OK)
        return status;
    r->tool = ulna_model_marker_body(r->model, 0);
    ulna_model_marker_position(r->model, 0, r->point);
    status = ulna_problem_set_length(r->problem, ARM_LENGTH);
    if (status == ULNA_OK)
        status = ulna_problem_add_point(r->problem, r->tool, r->point, r->point, 1, NULL, error);
    if (status == ULNA_OK)
        status = ulna_problem_add_geodesic(r->problem, r->tool, straight, 1, NULL, error);
    return status == ULNA_OK ? ulna_problem_ready(r->problem, error) : status;
}

static void reach_close(reach *r)
{
    ulna_problem_destroy(r->problem);
    ulna_pose_destroy(r->pose);
    ulna_model_destroy(r->model);
}

/* The goal: where the tool is in the pose q. */
static ulna_status reach_goal(reach *r, const double *q)
{
    double place[3] = {0}, rotation[9] = {0};
    ulna_status status = ulna_pose_forward(r->pose, q);
    if (status == ULNA_OK)
        status = ulna_pose_body(r->pose, r->tool, place, rotation);
    for (int k = 0; k < 3; k++)
        for (int n = 0; n < 3; n++)
            place[k] += rotation[3 * k + n] * r->point[n];
    if (status == ULNA_OK)
        status = ulna_problem_set_goal(r->problem, 0, place);
    return status == ULNA_OK ? ulna_problem_set_goal(r->problem, 1, rotation) : status;
}

/* ---- Fig. 8 ------------------------------------------------------------------------------------------------------------------ */

static void set_fixed(ulna_options *options)
{
    options->dls.rule = ULNA_DLS_ABSOLUTE;
}

static void set_rows(ulna_options *options)
{
    options->pinv.form = ULNA_PINV_ROWS;
}

static const struct {
    const char *name, *key, *method, *flops; /* as the paper has them: n joints */
    void (*set)(ulna_options *options);
} solvers[] = {
    {"robust: λ = 1e-3 (35)", "robust", "dls", "2n²", set_fixed},
    {"robust: λ by the error", "dls", "dls", "2n²", NULL},
    {"SVD", "svd", "pinv", "2n³", NULL},
    {"QR", "qr", "qr", "2n³", NULL},
    {"transpose", "transpose", "transpose", "n²", NULL},
    {"pseudoinverse (34)", "rows", "pinv", "not given", set_rows},
    {"gauss-newton (Ulna)", "gauss-newton", "gauss-newton", "-", NULL},
    {"hybrid (Ulna)", "hybrid", "hybrid", "-", NULL},
};
enum { SOLVERS = sizeof solvers / sizeof *solvers, SETS = 3, MOST_RUNS = 1000 };

static const struct {
    const char *name, *key;
    double start, goal; /* parts of the limits */
} sets[SETS] = {
    {"away from singular poses", "away", 1, 1},
    {"goals near singular poses", "near", 1, ARM_SINGULAR_PART},
    {"starts near singular poses", "from", ARM_SINGULAR_PART, 1},
};

/* A solver on all pairs of start and goal of a set. */
typedef struct solver_tally {
    int solved;
    long long iterations;
    double instructions;                                   /* NaN if they are not counted */
    double per_iteration[MOST_RUNS], per_solve[MOST_RUNS]; /* µs, of each run */
} solver_tally;

static ulna_status run_solver(reach *r, int by, int set, int runs, counter *counted, solver_tally *sum,
                              ulna_error *error)
{
    double q[ARM_JOINTS];
    uint64_t state = 8; /* the same starts and goals for all */
    ulna_options options = ulna_options_default();
    ulna_solver *solver = NULL;
    options.method = solvers[by].method;
    options.bounded = 0;
    options.iterations = ARM_ITERATIONS;
    options.objective = ARM_SOLVED;
    options.decrease = options.gradient = options.step = 0;
    if (solvers[by].set)
        solvers[by].set(&options);
    *sum = (solver_tally){0};
    ulna_status status = ulna_solver_create(r->problem, &options, NULL, &solver, error);
    for (int i = 0; i < runs && status == ULNA_OK; i++) {
        ulna_result result = {0};
        random_pose(r->model, sets[set].goal, &state, q);
        status = reach_goal(r, q);
        random_pose(r->model, sets[set].start, &state, q);
        if (status == ULNA_OK) {
            counter_begin(counted);
            status = ulna_solve(solver, q, &result);
            sum->instructions += counter_end(counted);
        }
        sum->solved += result.f <= ARM_SOLVED;
        sum->iterations += result.iterations;
        sum->per_solve[i] = 1e6 * result.seconds;
        sum->per_iteration[i] = 1e6 * result.seconds / (result.iterations > 0 ? result.iterations : 1);
    }
    ulna_solver_destroy(solver);
    return status;
}

ulna_status paper_run_recipe8(paper_job *job, ulna_error *error)
{
    reach r;
    sheet table;
    counter counted;
    int runs = job->is_quick ? 40 : MOST_RUNS;
    counter_open(&counted);
    sheet_begin(&table,
                "poses,solver,paper_flops,solved_percent,mean_iterations,median_us_per_iteration,median_us_per_solve,"
                "instructions_per_iteration");
    ulna_status status = reach_open(&r, error);
    for (int k = 0; k < SETS * SOLVERS && status == ULNA_OK; k++) {
        int set = k / SOLVERS, by = k % SOLVERS;
        solver_tally sum;
        char instructions[32] = "not counted here";
        paper_show(job, (double)k / (SETS * SOLVERS));
        status = run_solver(&r, by, set, runs, &counted, &sum, error);
        if (status == ULNA_ERR_UNSUPPORTED) { /* a build without LAPACK */
            status = ULNA_OK;
            continue;
        }
        double iterations = sum.iterations > 0 ? (double)sum.iterations : 1;
        if (isfinite(sum.instructions))
            snprintf(instructions, sizeof instructions, "%.0f", sum.instructions / iterations);
        sheet_row(&table, "%s,%s,%s,%.1f,%.1f,%.3g,%.3g,%s", sets[set].name, solvers[by].name, solvers[by].flops,
                  100.0 * sum.solved / runs, iterations / runs, ulna_median(sum.per_iteration, (size_t)runs),
                  ulna_median(sum.per_solve, (size_t)runs), instructions);
        json_t *fact = json_object_get(job->facts, solvers[by].key);
        put_number(fact ? fact : put_object(job->facts, solvers[by].key), sets[set].key, 100.0 * sum.solved / runs);
    }
    if (status == ULNA_OK && !counter_is_open(&counted))
        paper_note(
            job,
            "This machine does not let a program count its instructions (perf_event_open); docs/papers.md has counts by valgrind.");
    if (status == ULNA_OK)
        status = paper_save(job, "recipe8", &table, error);
    counter_close(&counted);
    reach_close(&r);
    sheet_release(&table);
    return status;
}

/* ---- limits: inside the solver, or by clamping -------------------------------------------------------------------------------- */

typedef enum keeping { KEEP_INSIDE, CLAMP_AFTER, CLAMP_STEPS, KEEPINGS } keeping;

static const char *const keepings[KEEPINGS][2] = {
    {"inside the solver", "inside"}, {"clamped after the solve", "after"}, {"clamped after each step", "steps"}};

/* From q to the answer in q, which is within the limits. */
static ulna_status solve_within(const reach *r, ulna_solver *solver, keeping how, double *q, ulna_result *result)
{
    ulna_status status = ulna_solve(solver, q, result);
    for (int i = 1; how == CLAMP_STEPS && i < ARM_ITERATIONS && status == ULNA_OK && result->f > ARM_SOLVED; i++) {
        ulna_model_clamp(r->model, q);
        status = ulna_solve(solver, q, result);
    }
    if (how != KEEP_INSIDE)
        ulna_model_clamp(r->model, q);
    return status;
}

static ulna_status run_keeping(reach *r, const char *method, keeping how, int runs, double *millimetres, int *solved,
                               ulna_error *error)
{
    double q[ARM_JOINTS];
    uint64_t state = 9;
    ulna_options options = ulna_options_default();
    ulna_solver *solver = NULL;
    ulna_work *work = NULL;
    options.method = method;
    options.bounded = how == KEEP_INSIDE;
    options.iterations = how == CLAMP_STEPS ? 1 : ARM_ITERATIONS;
    options.objective = ARM_SOLVED;
    options.hybrid.keep_damping = how == CLAMP_STEPS; /* its steps are solves of one iteration */
    *solved = 0;
    ulna_status status = ulna_solver_create(r->problem, &options, NULL, &solver, error);
    if (status == ULNA_OK)
        status = ulna_work_create(r->problem, NULL, &work, error);
    for (int i = 0; i < runs && status == ULNA_OK; i++) {
        ulna_result result;
        double f = 0;
        random_pose(r->model, 1, &state, q);
        status = reach_goal(r, q);
        random_pose(r->model, 1, &state, q);
        if (status == ULNA_OK)
            status = solve_within(r, solver, how, q, &result);
        if (status == ULNA_OK)
            status = ulna_work_evaluate(work, q, &f);
        millimetres[i] = 1e3 * sqrt(2 * f);
        *solved += f <= ARM_SOLVED;
    }
    ulna_work_destroy(work);
    ulna_solver_destroy(solver);
    return status;
}

ulna_status paper_run_clamp(paper_job *job, ulna_error *error)
{
    static const char *const methods[2] = {"hybrid", "dls"}, *const goals[2] = {"place", "place and orientation"};
    enum { RUNS = 500 };
    double millimetres[RUNS];
    int runs = job->is_quick ? 40 : RUNS;
    reach r;
    sheet table;
    sheet_begin(&table, "goal,method,limits,runs,solved_percent,median_mm,mean_mm");
    ulna_status status = reach_open(&r, error);
    for (int k = 0; k < 4 * KEEPINGS && status == ULNA_OK; k++) {
        int is_oriented = k / (2 * KEEPINGS), by = k / KEEPINGS % 2, how = k % KEEPINGS, solved = 0;
        double mean = 0;
        paper_show(job, k / (4.0 * KEEPINGS));
        status = ulna_problem_set_weight(r.problem, 1, is_oriented);
        if (status == ULNA_OK)
            status = run_keeping(&r, methods[by], (keeping)how, runs, millimetres, &solved, error);
        if (status != ULNA_OK)
            break;
        for (int i = 0; i < runs; i++)
            mean += millimetres[i] / runs;
        sheet_row(&table, "%s,%s,%s,%d,%.1f,%.3g,%.3g", goals[is_oriented], methods[by], keepings[how][0], runs,
                  100.0 * solved / runs, ulna_median(millimetres, (size_t)runs), mean);
        char key[48];
        snprintf(key, sizeof key, "%s%s", methods[by], is_oriented ? "_oriented" : "");
        json_t *fact = json_object_get(job->facts, key);
        put_number(fact ? fact : put_object(job->facts, key), keepings[how][1], 100.0 * solved / runs);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "clamp", &table, error);
    reach_close(&r);
    sheet_release(&table);
    return status;
}
