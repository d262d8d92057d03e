/* Steps for many poses at once against the single step, on random trees of all joint types and on every kernel. */
#include "support_problem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KAPPA 0.1
#define MOST_F 1e3
#define LEAST_LAMBDA 1e-9
#define SCALE 0.3 /* of the weights */
#define LIMIT 0.7

enum { POINTS = 12, GROUPS = 2 };

static const char *const kernels[] = {"portable", "avx2", "avx512"};

/* Points, a posture that holds every pose in its own way, and limits. */
typedef struct scene {
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    int nv, posture;
    double *metric, *leap, *rest_weight; /* nv */
    int *group, *grouped;                /* nv */
    double *share;                       /* GROUPS */
    unsigned char *locked;               /* nv */
    ulna_abreast_hold hold;
} scene;

/* A pose with its neighbours, the goals of its points, and the step that it should have. */
typedef struct lane {
    double *q, *before, *after, *step;
    double points[3 * POINTS], distance[POINTS];
    int sides; /* 1: before, 2: after, 3: both */
} lane;

static void set_hold(ulna_test_rng *rng, scene *s)
{
    int counts[GROUPS] = {0}, grouped = 0;
    for (int d = 0; d < s->nv; d++) {
        s->metric[d] = ulna_test_rng_uniform(rng, 0.5, 2);
        s->leap[d] = ulna_test_rng_index(rng, 3) ? 0.2 : (double)INFINITY;
        s->rest_weight[d] = ulna_test_rng_index(rng, 4) ? ulna_test_rng_uniform(rng, 0, 0.1) : 0;
        s->locked[d] = (unsigned char)(ulna_test_rng_index(rng, 5) == 0);
        s->group[d] = ulna_test_rng_index(rng, 3) - 1;
        if (s->group[d] != ULNA_NONE) {
            counts[s->group[d]]++;
            s->grouped[grouped++] = d;
        }
    }
    for (int g = 0; g < GROUPS; g++)
        s->share[g] = 1.0 / (counts[g] ? counts[g] : 1);
    s->hold = (ulna_abreast_hold){.side = 0.05,
                                  .leap = s->leap,
                                  .rest_weight = s->rest_weight,
                                  .rest = s->model->rest,
                                  .group_weight = 0.02,
                                  .grouped = grouped,
                                  .groups = GROUPS,
                                  .grouped_dof = s->grouped,
                                  .group = s->group,
                                  .group_share = s->share,
                                  .lower = s->model->lower,
                                  .upper = s->model->upper,
                                  .limit = LIMIT,
                                  .unit = s->problem->unit,
                                  .scale = SCALE};
}

static scene open_scene(ulna_test_rng *rng, unsigned joints, double reversed, int round)
{
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.max_bodies = 25;
    tree.joints = joints;
    tree.reversed = reversed;
    tree.root = round % 2 ? ULNA_JOINT_FREE_EULER : -1;
    scene s = {.model = ulna_test_random_tree(rng, &tree)};
    s.nv = s.model->nv;
    assert_int_equal(ulna_problem_create(s.model, NULL, &s.problem, NULL), ULNA_OK);
    for (int i = 0; i < POINTS; i++)
        assert_true(ulna_test_add_term(rng, s.problem, ULNA_TERM_POINT));
    assert_int_equal(ulna_problem_add_posture(s.problem, NULL, NULL, SCALE, &s.posture, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_limits(s.problem, NULL, NULL, LIMIT * SCALE, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(s.problem, NULL), ULNA_OK);
    if (round % 4)
        assert_int_equal(ulna_problem_set_loss(s.problem, 0, POINTS, ULNA_LOSS_GEMAN_MCCLURE, 0.5), ULNA_OK);
    assert_int_equal(ulna_work_create(s.problem, NULL, &s.work, NULL), ULNA_OK);
    s.metric = ulna_test_numbers(s.nv);
    s.share = ulna_test_numbers(GROUPS);
    s.leap = ulna_test_numbers(s.nv);
    s.rest_weight = ulna_test_numbers(s.nv);
    s.group = calloc((size_t)s.nv + 1, sizeof *s.group);
    s.grouped = calloc((size_t)s.nv + 1, sizeof *s.grouped);
    s.locked = calloc((size_t)s.nv + 1, 1);
    set_hold(rng, &s);
    return s;
}

static void close_scene(scene *s)
{
    free(s->metric);
    free(s->share);
    free(s->leap);
    free(s->rest_weight);
    free(s->group);
    free(s->grouped);
    free(s->locked);
    ulna_work_destroy(s->work);
    ulna_problem_destroy(s->problem);
    ulna_model_destroy(s->model);
}

/* ---- the single step --------------------------------------------------------------------------------------------------- */

/* The posture with one goal and one weight for each DOF that all that holds the pose amounts to. */
static void set_posture(const scene *s, const lane *l)
{
    const ulna_abreast_hold *h = &s->hold;
    double *goal = ulna_test_numbers(s->nv), *sum = ulna_test_numbers(s->nv), mean[GROUPS] = {0};
    for (int d = 0; d < s->nv; d++)
        if (s->group[d] != ULNA_NONE)
            mean[s->group[d]] += (l->q[d] - h->rest[d]) * s->share[s->group[d]];
    for (int d = 0; d < s->nv; d++) {
        const double *sides[] = {l->before, l->after};
        double toward = s->rest_weight[d] * (h->rest[d] - l->q[d]);
        sum[d] = s->rest_weight[d];
        for (int k = 0; k < 2; k++) {
            double way = sides[k][d] - l->q[d];
            if (l->sides & 1 << k) {
                toward += fabs(way) < s->leap[d] ? h->side * way : 0;
                sum[d] += h->side;
            }
        }
        if (s->group[d] != ULNA_NONE) {
            toward += h->group_weight * (mean[s->group[d]] + h->rest[d] - l->q[d]);
            sum[d] += h->group_weight;
        }
        goal[d] = l->q[d] + toward / sum[d];
    }
    ulna_problem_set_posture(s->problem, s->posture, goal, sum);
    free(goal);
    free(sum);
}

static void single_step(const scene *s, const unsigned char *locked, lane *l)
{
    double f, *shift = ulna_test_numbers(s->nv);
    assert_int_equal(ulna_problem_set_points(s->problem, 0, POINTS, l->points), ULNA_OK);
    set_posture(s, l);
    assert_int_equal(ulna_work_evaluate(s->work, l->q, &f), ULNA_OK);
    double lambda = fmax(KAPPA * fmin(f, MOST_F), LEAST_LAMBDA);
    for (int d = 0; d < s->nv; d++)
        shift[d] = lambda * s->metric[d];
    ulna_step_options options = {.shift = shift, .locked = locked};
    assert_int_equal(ulna_point_errors(s->work, 0, POINTS, 0, l->distance), ULNA_OK);
    assert_int_equal(ulna_work_step(s->work, &options, l->step, NULL, NULL), ULNA_OK);
    free(shift);
}

/* ---- many --------------------------------------------------------------------------------------------------------------- */

static lane open_lane(ulna_test_rng *rng, const scene *s, double far_m)
{
    lane l = {.q = ulna_test_random_q(rng, s->model),
              .before = ulna_test_numbers(s->nv),
              .after = ulna_test_numbers(s->nv),
              .step = ulna_test_numbers(s->nv),
              .sides = 1 + ulna_test_rng_index(rng, 3)};
    int is_free = s->model->joint[0].type == ULNA_JOINT_FREE_EULER;
    for (int d = 0; d < s->nv; d++) {
        l.q[d] += is_free && d < 3 ? far_m : 0;
        l.before[d] = l.q[d] + ulna_test_rng_uniform(rng, -0.3, 0.3);
        l.after[d] = l.q[d] + ulna_test_rng_uniform(rng, -0.3, 0.3);
    }
    ulna_test_rng_fill(rng, l.points, 3 * POINTS, far_m - 1, far_m + 1);
    for (int i = 0; i < POINTS; i++)
        if (ulna_test_rng_index(rng, 6) == 0)
            l.points[3 * i + ulna_test_rng_index(rng, 3)] = (double)NAN;
    return l;
}

static void compare(const ulna_abreast *abreast, const lane *lanes, int nv, const char *kernel, int round)
{
    double *step = ulna_test_numbers(nv);
    for (int k = 0; k < ULNA_ABREAST; k++) {
        if (!lanes[k].q)
            continue;
        assert_true(ulna_abreast_step(abreast, k, step));
        double scale = ulna_test_largest(lanes[k].step, nv);
        for (int d = 0; d < nv; d++)
            if (!(fabs(step[d] - lanes[k].step[d]) <= 1e-8 * scale + DBL_MIN))
                fail_msg("%s, round %d, lane %d, DOF %d: %.17g, alone %.17g", kernel, round, k, d, step[d],
                         lanes[k].step[d]);
    }
    free(step);
}

static void compare_distances(const ulna_abreast *abreast, const lane *lanes, double far_m, const char *kernel,
                              int round)
{
    double distance[POINTS];
    for (int k = 0; k < ULNA_ABREAST; k++) {
        if (!lanes[k].q)
            continue;
        ulna_abreast_distances(abreast, k, distance);
        for (int i = 0; i < POINTS; i++) {
            double alone = lanes[k].distance[i];
            if (!(fabs(distance[i] - alone) <= 1e-14 * (20 + far_m)) && !(isnan(distance[i]) && isnan(alone)))
                fail_msg("%s, round %d, lane %d, point %d: %.17g m, alone %.17g", kernel, round, k, i, distance[i],
                         alone);
        }
    }
}

/* Most lanes with the kernel at hand; some are left empty. */
static void run_round(ulna_test_rng *rng, scene *s, double far_m, const char *kernel, int round)
{
    const unsigned char *locked = round % 3 == 0 ? s->locked : NULL;
    lane lanes[ULNA_ABREAST] = {{0}};
    ulna_abreast *abreast;
    assert_int_equal(ulna_abreast_create(s->problem, s->metric, locked, &s->hold, NULL, &abreast), ULNA_OK);
    assert_non_null(abreast);
    for (int k = 0; k < ULNA_ABREAST; k++) {
        if (ulna_test_rng_index(rng, 8) == 0)
            continue;
        lane *l = &lanes[k];
        *l = open_lane(rng, s, far_m);
        single_step(s, locked, l);
        ulna_abreast_load(abreast, k, l->q, l->sides & 1 ? l->before : NULL, l->sides & 2 ? l->after : NULL, l->points);
    }
    ulna_abreast_solve(abreast, s->work, KAPPA, MOST_F, LEAST_LAMBDA);
    compare(abreast, lanes, s->nv, kernel, round);
    for (int k = 0; k < ULNA_ABREAST; k++)
        if (lanes[k].q)
            ulna_abreast_load_measured(abreast, k, lanes[k].q, lanes[k].points);
    assert_int_equal(ulna_abreast_measure(abreast, s->work), ULNA_OK);
    compare_distances(abreast, lanes, far_m, kernel, round);
    for (int k = 0; k < ULNA_ABREAST; k++) {
        free(lanes[k].q);
        free(lanes[k].before);
        free(lanes[k].after);
        free(lanes[k].step);
    }
    ulna_abreast_destroy(abreast);
}

static int is_known(const scene *s)
{
    ulna_abreast *abreast;
    assert_int_equal(ulna_abreast_create(s->problem, s->metric, NULL, &s->hold, NULL, &abreast), ULNA_OK);
    int found = abreast != NULL;
    ulna_abreast_destroy(abreast);
    return found;
}

static void steps_and_distances_abreast_are_single_ones(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(71);
    int compared[3] = {0};
    for (int round = 0; round < 300; round++) {
        scene s = open_scene(&rng,
                             1u << ULNA_JOINT_REVOLUTE | 1u << ULNA_JOINT_PRISMATIC | 1u << ULNA_JOINT_EULER |
                                 1u << ULNA_JOINT_FREE_EULER,
                             0, round);
        for (int k = 0; k < 3 && is_known(&s); k++)
            if (ulna_pose_set_kernel(ulna_work_pose(s.work), kernels[k]) == ULNA_OK) {
                run_round(&rng, &s, round % 5 == 0 ? 1e4 : 0, kernels[k], round);
                compared[k]++;
            }
        close_scene(&s);
    }
    for (int k = 0; k < 3; k++) {
        print_message("[ kernels  ] %s: %s\n", kernels[k], compared[k] ? "compared" : "not run: no such CPU");
        assert_true(compared[k] > 150 || !ulna_cpu_runs(kernels[k]));
    }
}

/* Whatever the kernel does not know is refused, never computed wrongly. */
static void others_are_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(72);
    int refused = 0, known = 0;
    for (int round = 0; round < 600; round++) {
        scene s = open_scene(&rng, ulna_test_tree_options_default().joints, 0.1, round);
        if (is_known(&s)) {
            run_round(&rng, &s, 0, "best", round);
            known++;
        } else {
            refused++;
        }
        if (round % 10 == 0) {
            assert_int_equal(ulna_problem_set_loss(s.problem, 0, POINTS, ULNA_LOSS_HUBER, 0.5), ULNA_OK);
            assert_false(is_known(&s));
        }
        close_scene(&s);
    }
    assert_true(refused > 50);
    assert_true(known > 5); /* small trees with none of the other joints */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_and_distances_abreast_are_single_ones),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
