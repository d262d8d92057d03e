/* The ways to a global optimum: see the header. Times are CPU time of the one thread, memory included where a user
 * would pay for it with every new problem: the tree and the relaxation, not the local solver. */
#include "global.h"
#include "global/relaxation.h"
#include "papers/papers.h"
#include "support.h"
#include "ulna/global.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct bout {
    const global_skeleton *skeleton;
    ulna_problem *problem;
    const double *goals, *truth;
    int nq, number; /* of the pose */
    ulna_solver *solver;
    double *q;
    global_trial *trial;
} bout;

static void copy_q(const bout *b, const double *from)
{
    memcpy(b->q, from, (size_t)b->nq * sizeof *b->q);
}

static double refine(const bout *b)
{
    ulna_result result;
    global_stop_if(ulna_solve(b->solver, b->q, &result) != ULNA_OK, "a local solve");
    b->trial->best = fmin(b->trial->best, result.f);
    return result.f;
}

/* ---- relaxations ------------------------------------------------------------------------------------------------- */

static ulna_relaxation *relax(const ulna_reduced *tree, ulna_relax_kind kind, const ulna_relax_options *options,
                              ulna_relax_result *result, double *ms)
{
    ulna_relaxation *relaxation = NULL;
    global_stop_if(ulna_relaxation_create(tree, kind, NULL, &relaxation, NULL) != ULNA_OK, "making a relaxation");
    double started = bench_now();
    global_stop_if(ulna_relaxation_solve(relaxation, tree, options, result) != ULNA_OK, "a relaxation");
    *ms = 1e3 * (bench_now() - started);
    return relaxation;
}

/* As the race does. */
static void reduce(const ulna_problem *problem, ulna_reduced *tree)
{
    const ulna_reduce_options options = {.bounded = 1, .gather = ULNA_GATHER_LOOSE};
    global_stop_if(ulna_reduced_create(problem, &options, NULL, tree, NULL) != ULNA_OK, "reducing");
}

static void round_and_sample(const bout *b)
{
    global_trial *t = b->trial;
    double started = bench_now();
    ulna_reduced tree;
    ulna_reduced_pose pose;
    ulna_relax_options options = ulna_relax_options_default();
    ulna_relax_result result;
    uint64_t state = (uint64_t)b->number;
    options.posture = 1e-4;
    reduce(b->problem, &tree);
    global_stop_if(ulna_reduced_pose_create(&tree, NULL, &pose) != ULNA_OK, "memory");
    ulna_relaxation *hull = relax(&tree, ULNA_RELAX_HULL, &options, &result, &t->f2_ms);
    t->f2_iterations = result.iterations;
    for (int i = 0; i <= GLOBAL_SAMPLES; i++) {
        if (i == 0)
            ulna_relaxation_round(hull, NULL, &pose);
        else
            ulna_relaxation_round(hull, &state, &pose);
        global_stop_if(ulna_reduced_to_q(&tree, b->problem, &pose, ulna_model_rest(b->skeleton->model), b->q) !=
                           ULNA_OK,
                       "rounding");
        double f = refine(b), ms = 1e3 * (bench_now() - started);
        if (i == 0)
            t->f[GLOBAL_ROUNDING] = t->f[GLOBAL_SAMPLED] = f, t->ms[GLOBAL_ROUNDING] = ms;
        t->f[GLOBAL_SAMPLED] = fmin(t->f[GLOBAL_SAMPLED], f);
        t->ms[GLOBAL_SAMPLED] = ms;
    }
    ulna_relaxation_destroy(hull);
    ulna_reduced_pose_release(NULL, &pose);
    ulna_reduced_release(&tree);
}

/* To 1e-4 of the best cost known. */
static void bound_by_bones(const bout *b)
{
    ulna_reduced tree;
    ulna_relax_options options = ulna_relax_options_default();
    ulna_relax_result result;
    reduce(b->problem, &tree);
    options.relative = 0;
    options.absolute = fmax(1e-4 * b->trial->best, 1e-7) / tree.unit;
    ulna_relaxation_destroy(relax(&tree, ULNA_RELAX_BONES, &options, &result, &b->trial->f3_ms));
    b->trial->f3_iterations = result.iterations;
    b->trial->f3_bound = tree.unit * (result.bound + tree.constant);
    ulna_reduced_release(&tree);
}

double global_relax_ms(const global_skeleton *s, int i, global_relax which)
{
    ulna_reduced tree;
    ulna_relax_options options = ulna_relax_options_default();
    ulna_relax_result result;
    ulna_problem *problem = s->problem[GLOBAL_ALL];
    const double *goals = s->goals[GLOBAL_ALL][1] + 3 * (ptrdiff_t)i * s->points[GLOBAL_ALL];
    int bones = which == GLOBAL_F3_AS_THERE;
    double ms;
    global_stop_if(ulna_problem_set_points(problem, 0, s->points[GLOBAL_ALL], goals) != ULNA_OK, "setting goals");
    reduce(problem, &tree);
    options.posture = bones ? 0 : 1e-4;
    if (which != GLOBAL_F2) {
        options.relative = 0;
        options.absolute = (bones ? 1e-5 : 1e-4) / tree.unit;
        options.posture /= tree.unit;
    }
    ulna_relaxation_destroy(relax(&tree, bones ? ULNA_RELAX_BONES : ULNA_RELAX_HULL, &options, &result, &ms));
    ulna_reduced_release(&tree);
    return ms;
}

/* ---- starts ------------------------------------------------------------------------------------------------------ */

/* The root begins where it was seen. Twenty are timed; the rest is for reference. */
static void start_at_random(const bout *b, int count)
{
    global_trial *t = b->trial;
    t->f[GLOBAL_TWENTY] = INFINITY;
    t->ms[GLOBAL_TWENTY] = 0;
    for (int i = 0; i < count; i++) {
        global_random_pose(b->skeleton->model, 1000003u * (uint64_t)b->number + (uint64_t)i, b->goals, b->q);
        double started = bench_now(), f = refine(b), ms = 1e3 * (bench_now() - started);
        if (i < GLOBAL_RANDOM) {
            t->one_f[i] = f;
            t->one_ms[i] = ms;
            t->f[GLOBAL_TWENTY] = fmin(t->f[GLOBAL_TWENTY], f);
            t->ms[GLOBAL_TWENTY] += ms;
        }
    }
    t->f[GLOBAL_ONE] = t->one_f[0];
    t->ms[GLOBAL_ONE] = t->one_ms[0];
}

/* ---- the race, and the paper's method ---------------------------------------------------------------------------- */

static void race(const bout *b)
{
    global_trial *t = b->trial;
    ulna_global *global = NULL;
    ulna_global_result result;
    global_stop_if(ulna_global_create(b->problem, NULL, NULL, &global, NULL) != ULNA_OK, "making the race");
    copy_q(b, ulna_model_rest(b->skeleton->model));
    double started = bench_now();
    global_stop_if(ulna_global_solve(global, b->q, &result, NULL) != ULNA_OK, "the race");
    t->ms[GLOBAL_RACE] = 1e3 * (bench_now() - started);
    t->f[GLOBAL_RACE] = result.f;
    t->best = fmin(t->best, result.f);
    t->bound = result.bound;
    t->proven = result.proven;
    t->unreachable = result.unreachable;
    t->starts = result.starts;
    ulna_global_destroy(global);
}

static void solve_sdp(const bout *b)
{
    ulna_sdp_result result;
    copy_q(b, ulna_model_rest(b->skeleton->model));
    double started = bench_now();
    ulna_status status = ulna_sdp_solve(b->problem, NULL, b->q, &result, NULL);
    if (status != ULNA_OK) /* no DSDP in this build, or it failed, which counts as no success */
        b->trial->f[GLOBAL_SDP] = status == ULNA_ERR_UNSUPPORTED ? NAN : INFINITY;
    else
        b->trial->f[GLOBAL_SDP] = result.f;
    b->trial->ms[GLOBAL_SDP] = 1e3 * (bench_now() - started);
    b->trial->best = fmin(b->trial->best, b->trial->f[GLOBAL_SDP]);
}

void global_try(const global_skeleton *s, global_view view, int noisy, int i, int with_sdp, global_trial *trial)
{
    *trial = (global_trial){.best = INFINITY, .f3_ms = NAN, .f3_iterations = NAN, .f3_bound = NAN};
    trial->f[GLOBAL_SDP] = trial->ms[GLOBAL_SDP] = NAN;
    bout b = {.skeleton = s, .problem = s->problem[view], .trial = trial, .number = i};
    b.nq = ulna_model_coordinate_count(s->model);
    b.goals = s->goals[view][noisy] + 3 * (ptrdiff_t)i * s->points[view];
    b.truth = s->q + (ptrdiff_t)i * b.nq;
    b.q = calloc((size_t)b.nq, sizeof *b.q);
    global_stop_if(!b.q || ulna_problem_set_points(b.problem, 0, s->points[view], b.goals) != ULNA_OK ||
                       ulna_solver_create(b.problem, NULL, NULL, &b.solver, NULL) != ULNA_OK,
                   "making a problem");
    copy_q(&b, b.truth);
    refine(&b);
    int is_zero = !noisy && !s->is_take; /* nothing is better than the true pose */
    round_and_sample(&b);
    start_at_random(&b, is_zero ? GLOBAL_RANDOM : GLOBAL_REFERENCE);
    if (!is_zero)
        bound_by_bones(&b);
    race(&b);
    if (with_sdp)
        solve_sdp(&b);
    ulna_solver_destroy(b.solver);
    free(b.q);
}
