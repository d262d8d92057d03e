/*
 * bench_derivatives: what f, gradient, Hessian and step cost on the human sample, how that grows, and how
 * it compares with the dense Algorithm 4 of the paper and with the yardstick.
 *
 * Absolute times drift with the machine; the ratios are what to look at.
 */
#include "derivatives_yardstick.h"
#include "objective/problem.h"
#include "papers/papers.h"
#include "support.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define BATCHES 31

typedef struct scene {
    const ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    ulna_pose *pose;
    int nv, nq, effectors;
    double *q, *g, *step, *shift, *rows, *dense, *goals;
    ulna_effector *effector;
    ulna_step_options options;
    double f;
} scene;

static void stop_if(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "bench_derivatives: %s failed\n", what);
        exit(1);
    }
}

static double *numbers(size_t count)
{
    double *made = aligned_alloc(64, (count * sizeof(double) + 127) & ~(size_t)63);
    stop_if(!made, "memory");
    memset(made, 0, count * sizeof *made);
    return made;
}

static double noise(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / (1 << 24) - 0.5;
}

static void scene_arrays(scene *s)
{
    size_t nv = (size_t)s->nv, rows = s->model->tree.row[nv];
    s->g = numbers(nv);
    s->step = numbers(nv);
    s->shift = numbers(nv);
    s->rows = numbers(rows);
    s->options = ulna_step_options_default();
    s->options.shift = s->shift;
    for (int d = 0; d < s->nv; d++)
        s->shift[d] = 3e-3;
    stop_if(ulna_problem_ready(s->problem, NULL) != ULNA_OK, "ready");
    stop_if(ulna_work_create(s->problem, NULL, &s->work, NULL) != ULNA_OK, "work");
    stop_if(ulna_work_evaluate(s->work, s->q, &s->f) != ULNA_OK, "evaluate");
}

/* The markers of the model, `copies` times each, with goals a centimetre from where they are; then q is disturbed. */
static scene scene_open(const ulna_model *model, int copies)
{
    scene s = {.model = model, .nv = ulna_model_dof_count(model), .nq = ulna_model_coordinate_count(model)};
    int markers = ulna_model_marker_count(model);
    unsigned state = 7;
    s.effectors = markers * copies;
    s.effector = calloc((size_t)s.effectors, sizeof *s.effector);
    s.goals = numbers(3 * (size_t)s.effectors);
    s.q = numbers((size_t)s.nq);
    memcpy(s.q, ulna_model_rest(model), (size_t)s.nq * sizeof *s.q);
    for (int k = 0; k < s.nq; k++)
        s.q[k] += 0.3 * noise(&state);
    stop_if(ulna_pose_create(model, NULL, &s.pose, NULL) != ULNA_OK, "pose");
    stop_if(ulna_pose_forward(s.pose, s.q) != ULNA_OK, "forward");
    stop_if(ulna_problem_create(model, NULL, &s.problem, NULL) != ULNA_OK, "problem");
    for (int i = 0; i < s.effectors; i++) {
        ulna_effector *e = &s.effector[i];
        double *goal = s.goals + 3 * (size_t)i;
        e->body = ulna_model_marker_body(model, i % markers);
        ulna_model_marker_position(model, i % markers, e->point);
        ulna_pose_point(s.pose, e->body, e->point, goal);
        for (int k = 0; k < 3; k++)
            goal[k] += 0.01 * noise(&state);
        stop_if(ulna_problem_add_point(s.problem, e->body, e->point, goal, 1, NULL, NULL) != ULNA_OK, "add point");
    }
    for (int k = 0; k < s.nq; k++)
        s.q[k] += 0.04 * noise(&state);
    scene_arrays(&s);
    return s;
}

static void scene_close(scene *s)
{
    double *arrays[] = {s->q, s->g, s->step, s->shift, s->rows, s->dense, s->goals};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        free(arrays[i]);
    free(s->effector);
    ulna_work_destroy(s->work);
    ulna_problem_destroy(s->problem);
    ulna_pose_destroy(s->pose);
}

/* ---- what is timed ---- */

static void run_forward(void *context)
{
    scene *s = context;
    s->q[5] += 1e-9;
    ulna_pose_forward(s->pose, s->q);
}

static void run_hessian(scene *s, double t)
{
    s->q[5] += 1e-9;
    ulna_work_evaluate(s->work, s->q, &s->f);
    ulna_work_hessian(s->work, t, s->g, s->rows, NULL);
}

static void run_gauss_newton(void *context)
{
    run_hessian(context, 0);
}

static void run_exact(void *context)
{
    run_hessian(context, 1);
}

/* The next call depends on this one's result: no overlap between iterations. */
static void advance(scene *s, const double *step)
{
    for (int d = 0; d < s->nv; d++)
        s->q[d] += 1e-9 * step[d];
}

static void run_step(void *context)
{
    scene *s = context;
    ulna_work_evaluate(s->work, s->q, &s->f);
    ulna_work_step(s->work, &s->options, s->step, NULL, NULL);
    advance(s, s->step);
}

static void run_dense(void *context)
{
    scene *s = context;
    s->q[5] += 1e-9;
    ulna_pose_forward(s->pose, s->q);
    ulna_papers_dense_hessian(s->pose, s->effectors, s->effector, s->goals, NULL, 1, s->dense);
}

/* With the damping doubled until the step exists: the exact Hessian may be indefinite. */
static double step_us(scene *s, double t, int calls)
{
    s->options.t = t;
    for (int d = 0; d < s->nv; d++)
        s->shift[d] = 3e-3;
    while (ulna_work_evaluate(s->work, s->q, &s->f) == ULNA_OK &&
           ulna_work_step(s->work, &s->options, s->step, NULL, NULL) == ULNA_ERR_INDEFINITE)
        for (int d = 0; d < s->nv; d++)
            s->shift[d] *= 2;
    return bench_us(run_step, s, BATCHES, calls);
}

/* ---- a crowd: copies of a skeleton under one root ---- */

static void copy_bodies(ulna_builder *builder, const ulna_model *one, int copy, int root)
{
    char name[300];
    double position[3], rotation[9];
    int first = 0, body;
    for (int b = 0; b < ulna_model_body_count(one); b++) {
        int parent = ulna_model_body_parent(one, b);
        snprintf(name, sizeof name, "%d:%s", copy, ulna_model_body_name(one, b));
        stop_if(ulna_builder_add_body(builder, name, parent < 0 ? root : first + parent, &body, NULL) != ULNA_OK,
                "adding a body");
        first = b == 0 ? body : first;
        ulna_model_body_placement(one, b, position, rotation);
        ulna_builder_set_placement(builder, body, position, rotation, NULL);
        ulna_builder_set_joint(builder, body, ulna_model_body_joint(one, b), NULL);
    }
    for (int m = 0; m < ulna_model_marker_count(one); m++) {
        snprintf(name, sizeof name, "%d:%s", copy, ulna_model_marker_name(one, m));
        ulna_model_marker_position(one, m, position);
        stop_if(ulna_builder_add_marker(builder, name, first + ulna_model_marker_body(one, m), position, 1, NULL,
                                        NULL) != ULNA_OK,
                "adding a marker");
    }
}

static ulna_model *crowd(const ulna_model *one, int copies)
{
    ulna_builder *builder;
    ulna_model *model = NULL;
    int root;
    stop_if(ulna_builder_create(NULL, &builder) != ULNA_OK, "builder");
    stop_if(ulna_builder_add_body(builder, "ground", ULNA_NONE, &root, NULL) != ULNA_OK, "adding the ground");
    for (int c = 0; c < copies; c++)
        copy_bodies(builder, one, c, root);
    stop_if(ulna_builder_build(builder, NULL, &model, NULL) != ULNA_OK, "building the crowd");
    ulna_builder_destroy(builder);
    return model;
}

/* ---- against the yardstick, on its own skeleton ---- */

static void against_yardstick(bench_report *report)
{
    const char *folder = "build/bench/yardstick";
    yardstick_take take;
    mkdir("build", 0777);
    mkdir("build/bench", 0777);
    mkdir(folder, 0777);
    if (!yardstick_build(folder) || !yardstick_load(folder, &take)) {
        printf("(no yardstick here: the prototype, its data or its packages are absent)\n");
        return;
    }
    scene s = {.model = take.model, .problem = take.problem, .q = numbers(128)};
    unsigned state = 3;
    s.nv = s.nq = ulna_model_dof_count(take.model);
    memcpy(s.q, take.q, (size_t)s.nq * sizeof *s.q);
    for (int k = 0; k < s.nq; k++)
        s.q[k] += (k < 3 ? 0.0002 : 0.02) * noise(&state);
    scene_arrays(&s);
    double ours = 1e300, theirs = 1e300;
    for (int round = 0; round < 5; round++) { /* in turns, so that both see the same machine */
        double us = yardstick_kernel_us(folder), own = step_us(&s, 0, 4000);
        theirs = us > 0 && us < theirs ? us : theirs;
        ours = own < ours ? own : ours;
    }
    ulna_pose_set_kernel(ulna_work_pose(s.work), "portable");
    bench_add(report, "hdm05_step_gn_us", ours, "the skeleton of the yardstick, 58 DOF");
    bench_add(report, "hdm05_step_gn_portable_us", step_us(&s, 0, 2000), "the same, portable kernel");
    if (theirs < 1e299) {
        bench_add(report, "yardstick_us", theirs, "the prototype on it");
        bench_add(report, "step_over_yardstick", ours / theirs, "aim: <= 1.1");
    }
    s.problem = NULL; /* the take's */
    scene_close(&s);
    yardstick_free(&take);
}

/* ---- growth ---- */

/* ---- many poses at once ------------------------------------------------------------------------------------------------- */

typedef struct abreast_scene {
    scene *s;
    ulna_abreast *abreast;
} abreast_scene;

static void run_abreast(void *context)
{
    abreast_scene *a = context;
    for (int lane = 0; lane < ULNA_ABREAST; lane++)
        ulna_abreast_load(a->abreast, lane, a->s->q, a->s->q, NULL, a->s->goals);
    ulna_abreast_solve(a->abreast, a->s->work, 0, 0, 3e-3);
}

/* For each kernel of this machine: a step for one pose out of ULNA_ABREAST, loading and all, over a single step by the same kernel. */
static void measure_abreast(bench_report *report, scene *s)
{
    static const char *const kernels[] = {"portable", "avx2", "avx512"};
    double *ones = numbers((size_t)s->nv), *zeros = numbers((size_t)s->nv);
    for (int d = 0; d < s->nv; d++)
        ones[d] = 1;
    ulna_abreast_hold hold = {.side = 1e-3,
                              .leap = ones,
                              .rest_weight = zeros,
                              .rest = s->model->rest,
                              .lower = s->model->lower,
                              .upper = s->model->upper,
                              .unit = ones,
                              .scale = 1};
    abreast_scene a = {.s = s};
    stop_if(ulna_abreast_create(s->problem, ones, NULL, &hold, NULL, &a.abreast) != ULNA_OK || !a.abreast, "abreast");
    for (int k = 0; k < 3; k++) {
        char name[40];
        if (ulna_pose_set_kernel(ulna_work_pose(s->work), kernels[k]) != ULNA_OK)
            continue;
        double one = 1e300, many = 1e300;
        for (int round = 0; round < 3; round++) { /* in turns */
            many = fmin(many, bench_us(run_abreast, &a, BATCHES, 400) / ULNA_ABREAST);
            one = fmin(one, step_us(s, 0, 2000));
        }
        snprintf(name, sizeof name, "abreast_us_%s", kernels[k]);
        bench_add(report, name, many, "a step for one of eight poses that are solved side by side");
        snprintf(name, sizeof name, "abreast_over_step_%s", kernels[k]);
        bench_add(report, name, many / one, "the same over a single step");
    }
    ulna_pose_set_kernel(ulna_work_pose(s->work), NULL);
    ulna_abreast_destroy(a.abreast);
    free(ones);
    free(zeros);
}

static void measure_growth(bench_report *report, const ulna_model *human, double step_gn)
{
    enum { KINDS = 3, ROUNDS = 3 };
    const int copies[KINDS] = {20, 60, 100};
    int markers = ulna_model_marker_count(human);
    double us[KINDS] = {1e300, 1e300, 1e300};
    for (int round = 0; round < ROUNDS; round++) /* in turns: a small difference of large numbers is taken */
        for (int k = 0; k < KINDS; k++) {
            scene many = scene_open(human, copies[k]);
            us[k] = fmin(us[k], step_us(&many, 0, 40000 / copies[k]));
            scene_close(&many);
        }
    double marker = (us[1] - us[0]) / (markers * (copies[1] - copies[0]));
    ulna_model *people = crowd(human, 100);
    scene hundred = scene_open(people, 1);
    double crowd_us = step_us(&hundred, 0, 40);
    scene_close(&hundred);
    ulna_model_destroy(people);
    bench_add(report, "marker_ns", marker * 1e3, "one more marker, between 820 and 2,460 of them");
    bench_add(report, "growth_markers", (us[2] - marker * (copies[2] - 1) * markers) / step_gn,
              "100 times the markers, their own cost off; aim: <= 1.3");
    bench_add(report, "growth_bones", crowd_us / 100 / step_gn, "100 humans over one, per human; aim: <= 1.3");
}

/* ---- dense matrices in threads ---- */

/* A chain of 1,000 turns, with a marker on every tenth body: the deepest paths, hence the fullest matrices. */
static ulna_model *long_chain(void)
{
    enum { DOFS = 1000, EVERY = 10 };
    const double bone[3] = {0.1, 0, 0}, upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, point[3] = {0.1, 0, 0.02};
    ulna_builder *builder;
    ulna_model *model = NULL;
    int failed = ulna_builder_create(NULL, &builder) != ULNA_OK;
    for (int i = 0; i < DOFS && !failed; i++) {
        char name[32];
        int body;
        ulna_joint joint = ulna_joint_revolute(i % 3 == 0, i % 3 == 1, i % 3 == 2);
        snprintf(name, sizeof name, "bone%d", i);
        failed |= ulna_builder_add_body(builder, name, i - 1, &body, NULL) != ULNA_OK;
        failed |= ulna_builder_set_placement(builder, body, bone, upright, NULL) != ULNA_OK;
        failed |= ulna_builder_set_joint(builder, body, &joint, NULL) != ULNA_OK;
        if (i % EVERY == EVERY - 1)
            failed |= ulna_builder_add_marker(builder, name, body, point, 1, NULL, NULL) != ULNA_OK;
    }
    stop_if(failed || ulna_builder_build(builder, NULL, &model, NULL) != ULNA_OK, "building the chain");
    ulna_builder_destroy(builder);
    return model;
}

typedef struct dense_scene {
    scene *s;
    double *J;
} dense_scene;

static void run_jacobian(void *context)
{
    const dense_scene *d = context;
    ulna_jacobian_options options = ulna_jacobian_options_default();
    ulna_pose_jacobian(d->s->pose, &options, d->s->effectors, d->s->effector, d->J);
}

static void run_residual_jacobian(void *context)
{
    const dense_scene *d = context;
    ulna_work_residuals(d->s->work, NULL, d->J);
}

static void run_algorithm_4(void *context)
{
    scene *s = ((const dense_scene *)context)->s;
    ulna_papers_dense_hessian(s->pose, s->effectors, s->effector, s->goals, NULL, 1, s->dense);
}

static void run_hessian_dense(void *context)
{
    scene *s = ((const dense_scene *)context)->s;
    ulna_work_hessian_dense(s->work, 1, s->dense);
}

/* By the clock on the wall, which is what threads shorten. */
static double best_wall_us(bench_body body, void *context, int calls)
{
    double best = 1e300;
    for (int i = 0; i < calls; i++) {
        struct timespec from, to;
        clock_gettime(CLOCK_MONOTONIC, &from);
        body(context);
        clock_gettime(CLOCK_MONOTONIC, &to);
        best = fmin(best, 1e6 * (double)(to.tv_sec - from.tv_sec) + 1e-3 * (double)(to.tv_nsec - from.tv_nsec));
    }
    return best;
}

static void measure_threads(bench_report *report)
{
    const struct {
        const char *name, *note;
        bench_body body;
        int calls;
    } matrix[] = {
        {"chain_jacobian", "J of 100 effectors, 600 x 1,000", run_jacobian, 200},
        {"chain_residual_jacobian", "J of the problem, 300 x 1,000", run_residual_jacobian, 200},
        {"chain_hessian", "H from tree rows, 1,000 x 1,000", run_hessian_dense, 200},
        {"chain_alg4", "the same by Algorithm 4", run_algorithm_4, 3},
    };
    ulna_model *chain = long_chain();
    scene s = scene_open(chain, 1);
    dense_scene d = {&s, numbers(6 * (size_t)s.effectors * (size_t)s.nv)};
    s.dense = numbers((size_t)s.nv * (size_t)s.nv);
    int has_threads = ulna_pose_set_threads(s.pose, 2) == ULNA_OK;
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++) {
        double us[2] = {1e300, 1e300};
        char name[64];
        for (int round = 0; round < 5; round++) /* in turns */
            for (int two = 0; two <= has_threads; two++) {
                ulna_pose_set_threads(s.pose, 1 + two);
                ulna_work_set_threads(s.work, 1 + two);
                us[two] = fmin(us[two], best_wall_us(matrix[i].body, &d, matrix[i].calls));
            }
        snprintf(name, sizeof name, "%s_us", matrix[i].name);
        bench_add(report, name, us[0], matrix[i].note);
        snprintf(name, sizeof name, "%s_gain", matrix[i].name);
        if (has_threads)
            bench_add(report, name, us[0] / us[1], "one thread over two, on two free processors");
    }
    free(d.J);
    scene_close(&s);
    ulna_model_destroy(chain);
}

/* ---- the recipe's routes to one Jacobian of all markers ---- */

typedef struct recipe {
    const scene *s;
    int route; /* an ulna_jacobian_route; negative: by columns that the effectors share */
    double *spatial, *J;
} recipe;

static void run_recipe(void *context)
{
    const recipe *r = context;
    const ulna_jacobian_options options = ulna_jacobian_options_default();
    if (r->route < 0)
        ulna_papers_jacobian_shared(r->s->pose, r->s->effectors, r->s->effector, r->spatial, r->J);
    else
        ulna_papers_jacobian(r->s->pose, (ulna_jacobian_route)r->route, &options, r->s->effectors, r->s->effector,
                             r->J);
}

static void measure_recipe(bench_report *report, const scene *s)
{
    static const struct {
        const char *name, *note;
        int route;
    } routes[] = {
        {"jacobian_simple_us", "J of all markers by cross products", ULNA_JACOBIAN_SIMPLE},
        {"jacobian_generic_us", "the recipe's procedure 2, from each effector to the root", ULNA_JACOBIAN_GENERIC},
        {"jacobian_adjusted_us", "its procedure 3", ULNA_JACOBIAN_ADJUSTED},
        {"jacobian_shared_us", "its spatial frame: columns shared by the effectors", -1}};
    recipe r = {.s = s, .spatial = numbers(6 * (size_t)s->nv), .J = numbers(6 * (size_t)s->effectors * (size_t)s->nv)};
    for (size_t i = 0; i < sizeof routes / sizeof *routes; i++) {
        r.route = routes[i].route;
        bench_add(report, routes[i].name, bench_us(run_recipe, &r, BATCHES, 200), routes[i].note);
    }
    free(r.spatial);
    free(r.J);
}

int main(int argc, char **argv)
{
    const char *json = bench_json_path(argc, argv);
    static bench_report report;
    ulna_model *human;
    stop_if(ulna_sample_create("human", NULL, &human, NULL) != ULNA_OK, "sample");
    scene s = scene_open(human, 1);

    double fk = bench_us(run_forward, &s, BATCHES, 4000), gn = 1e300, exact = 1e300;
    for (int round = 0; round < 3; round++) { /* in turns: the ratio is the point */
        gn = fmin(gn, bench_us(run_gauss_newton, &s, BATCHES, 2000));
        exact = fmin(exact, bench_us(run_exact, &s, BATCHES, 2000));
    }
    char title[128];
    snprintf(title, sizeof title, "derivatives: human sample, %d DOF, %d markers, kernel %s", s.nv, s.effectors,
             ulna_pose_kernel(ulna_work_pose(s.work)));
    double step_gn = 1e300, step_exact = 1e300, portable = 1e300, dense = 1e300;
    s.dense = numbers((size_t)s.nv * (size_t)s.nv);
    for (int round = 0; round < 3; round++) { /* in turns, so that a bad second of the machine spoils none of them */
        ulna_pose_set_kernel(ulna_work_pose(s.work), NULL);
        step_gn = fmin(step_gn, step_us(&s, 0, 4000));
        step_exact = fmin(step_exact, step_us(&s, 1, 4000));
        dense = fmin(dense, bench_us(run_dense, &s, 7, 40));
        ulna_pose_set_kernel(ulna_work_pose(s.work), "portable");
        portable = fmin(portable, step_us(&s, 0, 2000));
    }

    bench_add(&report, "fk_us", fk, "forward kinematics alone");
    bench_add(&report, "gn_us", gn, "f, gradient, Gauss-Newton rows");
    bench_add(&report, "exact_us", exact, "f, gradient, exact Hessian rows");
    bench_add(&report, "exact_over_gn", exact / gn, "aim: <= 1.1");
    bench_add(&report, "step_gn_us", step_gn, "elimination, whole iteration; aim: <= 2");
    bench_add(&report, "step_exact_us", step_exact, "exact; aim: <= 2.4");
    bench_add(&report, "step_gn_portable_us", portable, "portable kernel; aim: <= 5");
    bench_add(&report, "dense_alg4_us", dense, "Algorithm 4 of the paper, dense");
    bench_add(&report, "dense_over_tree", dense / exact, "Algorithm 4 by columns; by the paper's own loops it was 23");
    measure_recipe(&report, &s);
    measure_abreast(&report, &s);
    measure_growth(&report, human, step_gn);
    measure_threads(&report);
    against_yardstick(&report);

    scene_close(&s);
    ulna_model_destroy(human);
    return bench_finish(&report, title, json);
}
