/* Steps for many poses at once against the single step, on random trees of all joint types and on every kernel. */
#include "support_problem.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KAPPA 0.1
#define MOST_F 1e3
#define LEAST_LAMBDA 1e-9

static const char *const kernels[] = {"portable", "avx2", "avx512"};

/* What a lane is loaded with, and the step that it should have. */
typedef struct lane {
    double *q, *step;
} lane;

/* Other goals for the points, some of them missing. */
static void move_goals(ulna_test_rng *rng, ulna_problem *problem, double far_m)
{
    for (int t = 0; t < ulna_problem_term_count(problem); t++) {
        if (ulna_problem_term_type(problem, t) != ULNA_TERM_POINT)
            continue;
        double goal[3];
        ulna_test_rng_fill(rng, goal, 3, far_m - 1, far_m + 1);
        goal[0] = ulna_test_rng_index(rng, 6) == 0 ? (double)NAN : goal[0];
        assert_int_equal(ulna_problem_set_points(problem, t, 1, goal), ULNA_OK);
    }
}

static void single_step(ulna_test_bench *b, const double *metric, const unsigned char *locked, lane *to)
{
    double f, *shift = ulna_test_numbers(b->nv);
    assert_int_equal(ulna_work_evaluate(b->work, to->q, &f), ULNA_OK);
    double lambda = fmax(KAPPA * fmin(f, MOST_F), LEAST_LAMBDA);
    for (int d = 0; d < b->nv; d++)
        shift[d] = lambda * metric[d];
    ulna_step_options options = {.shift = shift, .locked = locked};
    assert_int_equal(ulna_work_step(b->work, &options, to->step, NULL, NULL), ULNA_OK);
    free(shift);
}

static void compare(const ulna_abreast *abreast, const lane *lanes, int nv, const char *kernel, int round)
{
    double *step = ulna_test_numbers(nv);
    for (int k = 0; k < ULNA_ABREAST; k++) {
        assert_true(ulna_abreast_step(abreast, k, step));
        double scale = ulna_test_largest(lanes[k].step, nv);
        for (int d = 0; d < nv; d++)
            if (!(fabs(step[d] - lanes[k].step[d]) <= 1e-8 * scale + DBL_MIN))
                fail_msg("%s, round %d, lane %d, DOF %d: %.17g, alone %.17g", kernel, round, k, d, step[d],
                         lanes[k].step[d]);
    }
    free(step);
}

/* After the single step: the work has the terms on coordinates. */
static void load(ulna_test_bench *b, ulna_abreast *abreast, int k, const double *q)
{
    int count = ulna_problem_term_count(b->problem);
    double *points = ulna_test_numbers(3 * count);
    for (int t = 0; t < count; t++) {
        const ulna_term *term = &b->problem->term[t];
        for (int i = 0; i < 3; i++)
            points[3 * t + i] = term->sleeping ? (double)NAN : term->goal[i];
    }
    memcpy(b->work->pose->q, q, (size_t)b->nq * sizeof *q);
    ulna_abreast_load(abreast, k, b->work, q, ulna_coordinate_terms(b->work), points);
    free(points);
}

/* All lanes with the kernel at hand. */
static void run_round(ulna_test_rng *rng, ulna_test_bench *b, double far_m, const char *kernel, int round)
{
    double *metric = ulna_test_numbers(b->nv);
    unsigned char *locked = calloc((size_t)b->nv + 1, 1);
    lane lanes[ULNA_ABREAST];
    ulna_abreast *abreast;
    for (int d = 0; d < b->nv; d++) {
        metric[d] = ulna_test_rng_uniform(rng, 0.5, 2);
        locked[d] = (unsigned char)(round % 3 == 0 && ulna_test_rng_index(rng, 5) == 0);
    }
    const unsigned char *held = round % 3 == 0 ? locked : NULL;
    assert_int_equal(ulna_abreast_create(b->problem, metric, held, NULL, &abreast), ULNA_OK);
    assert_non_null(abreast);
    for (int k = 0; k < ULNA_ABREAST; k++) {
        lanes[k] = (lane){ulna_test_random_q(rng, b->model), ulna_test_numbers(b->nv)};
        for (int d = 0; d < b->nv && b->model->joint[0].type == ULNA_JOINT_FREE_EULER; d++)
            lanes[k].q[d] += d < 3 ? far_m : 0;
        move_goals(rng, b->problem, far_m);
        single_step(b, metric, held, &lanes[k]);
        load(b, abreast, k, lanes[k].q);
    }
    ulna_abreast_solve(abreast, b->work, KAPPA, MOST_F, LEAST_LAMBDA);
    compare(abreast, lanes, b->nv, kernel, round);
    for (int k = 0; k < ULNA_ABREAST; k++) {
        free(lanes[k].q);
        free(lanes[k].step);
    }
    ulna_abreast_destroy(abreast);
    free(locked);
    free(metric);
}

static int is_known(ulna_test_bench *b)
{
    double *metric = ulna_test_numbers(b->nv);
    ulna_abreast *abreast;
    assert_int_equal(ulna_abreast_create(b->problem, metric, NULL, NULL, &abreast), ULNA_OK);
    int found = abreast != NULL;
    ulna_abreast_destroy(abreast);
    free(metric);
    return found;
}

static void set_loss(ulna_problem *problem, ulna_loss loss)
{
    for (int t = 0; t < ulna_problem_term_count(problem); t++)
        if (ulna_problem_term_type(problem, t) == ULNA_TERM_POINT)
            assert_int_equal(ulna_problem_set_loss(problem, t, 1, loss, 0.5), ULNA_OK);
}

/* A problem of points with a posture, which keeps the matrix regular, and limits. */
static ulna_test_bench open_bench(ulna_test_rng *rng, unsigned joints, double reversed, int round)
{
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.max_bodies = 25;
    tree.joints = joints;
    tree.reversed = reversed;
    tree.root = round % 2 ? ULNA_JOINT_FREE_EULER : -1;
    ulna_test_bench b =
        ulna_test_bench_open(rng, &tree, 1u << ULNA_TERM_POINT | 1u << ULNA_TERM_POSTURE | 1u << ULNA_TERM_LIMITS, 12);
    set_loss(b.problem, round % 4 ? ULNA_LOSS_GEMAN_MCCLURE : ULNA_LOSS_SQUARE);
    return b;
}

static void steps_abreast_are_single_steps(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(71);
    int compared[3] = {0};
    for (int round = 0; round < 300; round++) {
        ulna_test_bench b = open_bench(&rng,
                                       1u << ULNA_JOINT_REVOLUTE | 1u << ULNA_JOINT_PRISMATIC | 1u << ULNA_JOINT_EULER |
                                           1u << ULNA_JOINT_FREE_EULER,
                                       0, round);
        for (int k = 0; k < 3 && is_known(&b); k++)
            if (ulna_pose_set_kernel(ulna_work_pose(b.work), kernels[k]) == ULNA_OK) {
                run_round(&rng, &b, round % 5 == 0 ? 1e4 : 0, kernels[k], round);
                compared[k]++;
            }
        ulna_test_bench_close(&b);
    }
    assert_true(compared[0] > 150);
    for (int k = 1; k < 3; k++)
        if (!compared[k])
            print_message("kernel %s was not compared: this machine does not run it\n", kernels[k]);
}

/* Whatever the kernel does not know is refused, never computed wrongly. */
static void others_are_refused(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(72);
    int refused = 0, known = 0;
    for (int round = 0; round < 600; round++) {
        ulna_test_bench b = open_bench(&rng, ulna_test_tree_options_default().joints, 0.1, round);
        if (is_known(&b)) {
            run_round(&rng, &b, 0, "best", round);
            known++;
        } else {
            refused++;
        }
        if (round % 10 == 0) {
            set_loss(b.problem, ULNA_LOSS_HUBER);
            assert_false(b.problem->pull_count && is_known(&b));
        }
        ulna_test_bench_close(&b);
    }
    assert_true(refused > 50);
    assert_true(known > 5); /* small trees with none of the other joints */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_abreast_are_single_steps),
        cmocka_unit_test(others_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
