/* Dense J and H in several threads: the same bits for any number of them, and no race (run under TSan by `make check`). */
#include "base/parallel.h"
#include "papers/papers.h"
#include "support_problem.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static const int counts[] = {2, 3, 7, 0};
enum { COUNTS = sizeof counts / sizeof *counts };

static void skip_without_threads(void)
{
    if (!ulna_parallel_supported()) {
        print_message("this build has no OpenMP\n");
        skip();
    }
}

static ulna_test_tree_options big(ulna_test_shape shape, int bodies)
{
    ulna_test_tree_options options = ulna_test_tree_options_default();
    options.min_bodies = options.max_bodies = bodies;
    options.shape = shape;
    return options;
}

/* Joints of three and six degrees of freedom, some 1,000 in all. */
static ulna_test_tree_options huge(ulna_test_shape shape)
{
    ulna_test_tree_options options = big(shape, 256);
    options.joints = 1u << ULNA_JOINT_BALL | 1u << ULNA_JOINT_EXPMAP | 1u << ULNA_JOINT_SWING_TWIST |
                     1u << ULNA_JOINT_FREE_EULER | 1u << ULNA_JOINT_FREE;
    return options;
}

static void assert_same(const double *a, const double *b, size_t count, const char *what, int threads)
{
    if (memcmp(a, b, count * sizeof *a) != 0)
        fail_msg("%s: other bits with %d threads", what, threads);
}

/* ---- the loop ---- */

static void visit(const void *context, int first, int last)
{
    int *const *visits = context;
    for (int i = first; i < last; i++)
        (*visits)[i]++;
}

static void every_piece_is_done_once(void **state)
{
    (void)state;
    enum { MOST = 500 };
    const int sizes[] = {0, 1, 2, 15, 16, 17, 33, 499, MOST};
    static const int asked[] = {0, 1, 2, 3, 4, 5, 40000, 1000000}; /* the last two once ended the process */
    for (size_t t = 0; t < sizeof asked / sizeof *asked; t++)
        for (int chunk = 1; chunk < 40; chunk += 6)
            for (int cheap = 0; cheap < 2; cheap++)
                for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                    int visits[MOST + 1] = {0}, *context = visits;
                    ulna_parallel_for(asked[t], cheap ? 0 : 1e9, sizes[s], chunk, visit, &context);
                    for (int i = 0; i <= MOST; i++)
                        assert_int_equal(visits[i], i < sizes[s]);
                }
}

/* ---- a pose ---- */

typedef struct pose_matrices {
    double *J, *J_body, *J_part, *H;
    size_t J_count, part_count, H_count;
} pose_matrices;

enum { EFFECTORS = 90 };

static pose_matrices matrices_of(int nv)
{
    pose_matrices m = {.J_count = 6 * EFFECTORS * (size_t)nv, .part_count = 3 * EFFECTORS * (size_t)(nv / 2)};
    m.H_count = (size_t)nv * (size_t)nv;
    m.J = ulna_test_numbers((int)m.J_count);
    m.J_body = ulna_test_numbers((int)m.J_count);
    m.J_part = ulna_test_numbers((int)m.part_count);
    m.H = ulna_test_numbers((int)m.H_count);
    return m;
}

static void release(pose_matrices *m)
{
    free(m->J);
    free(m->J_body);
    free(m->J_part);
    free(m->H);
}

static void fill(ulna_pose *pose, const ulna_effector *effectors, const double *goals, const int *columns,
                 const double *scale, const pose_matrices *m)
{
    int nv = ulna_model_dof_count(pose->model);
    ulna_jacobian_options options = ulna_jacobian_options_default();
    assert_int_equal(ulna_pose_jacobian(pose, &options, EFFECTORS, effectors, m->J), ULNA_OK);
    options.frame = ULNA_FRAME_BODY;
    assert_int_equal(ulna_pose_jacobian(pose, &options, EFFECTORS, effectors, m->J_body), ULNA_OK);
    options.rows = ULNA_ROWS_ANGULAR;
    options.columns = columns;
    options.column_count = nv / 2;
    options.scale = scale;
    assert_int_equal(ulna_pose_jacobian(pose, &options, EFFECTORS, effectors, m->J_part), ULNA_OK);
    assert_int_equal(ulna_papers_dense_hessian(pose, EFFECTORS, effectors, goals, NULL, 1, m->H), ULNA_OK);
}

static void a_pose_gives_the_same_bits(void **state)
{
    (void)state;
    skip_without_threads();
    ulna_test_rng rng = ulna_test_rng_seed(71);
    for (int shape = ULNA_TEST_SHAPE_CHAIN; shape < ULNA_TEST_SHAPE_COUNT; shape++) {
        ulna_test_tree_options options = big((ulna_test_shape)shape, 130);
        ulna_test_scene s = ulna_test_scene_open(&rng, &options);
        ulna_effector effectors[EFFECTORS];
        double goals[3 * EFFECTORS], *scale = ulna_test_numbers(s.nv);
        int *columns = calloc((size_t)s.nv + 1, sizeof *columns);
        for (int e = 0; e < EFFECTORS; e++)
            effectors[e] = ulna_test_random_effector(&rng, s.model);
        ulna_test_rng_fill(&rng, goals, 3 * EFFECTORS, -1, 1);
        ulna_test_rng_fill(&rng, scale, s.nv, -1, 1);
        for (int c = 0; c < s.nv; c++)
            columns[c] = ulna_test_rng_index(&rng, s.nv);
        pose_matrices alone = matrices_of(s.nv), team = matrices_of(s.nv);
        fill(s.pose, effectors, goals, columns, scale, &alone);
        for (int i = 0; i < COUNTS; i++) {
            assert_int_equal(ulna_pose_set_threads(s.pose, counts[i]), ULNA_OK);
            fill(s.pose, effectors, goals, columns, scale, &team);
            assert_same(team.J, alone.J, alone.J_count, "J", counts[i]);
            assert_same(team.J_body, alone.J_body, alone.J_count, "J in body frames", counts[i]);
            assert_same(team.J_part, alone.J_part, alone.part_count, "some columns of J", counts[i]);
            assert_same(team.H, alone.H, alone.H_count, "Algorithm 4", counts[i]);
        }
        release(&alone);
        release(&team);
        free(scale);
        free(columns);
        ulna_test_scene_close(&s);
    }
}

/* ---- a problem ---- */

/* Custom terms change a number in their thread: a race if another thread called them. */
static void count_calls(const void *context, const double *goal, const double rotation[9], const double position[3],
                        ulna_custom_value *value)
{
    (void)goal, (void)rotation, (void)position;
    int *const *calls = context;
    (**calls)++;
    value->residual[0] = 1;
}

static void a_problem_gives_the_same_bits(void **state)
{
    (void)state;
    skip_without_threads();
    ulna_test_rng rng = ulna_test_rng_seed(72);
    for (int shape = ULNA_TEST_SHAPE_CHAIN; shape < ULNA_TEST_SHAPE_COUNT; shape++) {
        ulna_test_tree_options options = huge((ulna_test_shape)shape);
        ulna_test_bench b = ulna_test_bench_open(&rng, &options, ULNA_TEST_ALL_TERMS, 48);
        int m = ulna_work_residual_count(b.work);
        size_t square = (size_t)b.nv * (size_t)b.nv, rows = (size_t)m * (size_t)b.nv;
        double *H = ulna_test_numbers((int)square), *H_team = ulna_test_numbers((int)square);
        double *J = ulna_test_numbers((int)rows), *J_team = ulna_test_numbers((int)rows);
        double *r = ulna_test_numbers(m), *r_team = ulna_test_numbers(m);
        assert_true(b.nv > 850);
        assert_int_equal(ulna_work_hessian_dense(b.work, 1, H), ULNA_OK);
        assert_int_equal(ulna_work_residuals(b.work, r, J), ULNA_OK);
        for (int i = 0; i < COUNTS; i++) {
            memset(H_team, 0xff, square * sizeof *H_team);
            memset(J_team, 0xff, rows * sizeof *J_team);
            assert_int_equal(ulna_work_set_threads(b.work, counts[i]), ULNA_OK);
            assert_int_equal(ulna_work_hessian_dense(b.work, 1, H_team), ULNA_OK);
            assert_int_equal(ulna_work_residuals(b.work, r_team, J_team), ULNA_OK);
            assert_same(H_team, H, square, "H", counts[i]);
            assert_same(J_team, J, rows, "the residual Jacobian", counts[i]);
            assert_same(r_team, r, (size_t)m, "residuals", counts[i]);
        }
        double *arrays[] = {H, H_team, J, J_team, r, r_team};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            free(arrays[i]);
        ulna_test_bench_close(&b);
    }
}

static void callbacks_stay_in_the_callers_thread(void **state)
{
    (void)state;
    skip_without_threads();
    enum { TERMS = 200 };
    ulna_test_rng rng = ulna_test_rng_seed(73);
    ulna_test_tree_options options = big(ULNA_TEST_SHAPE_CHAIN, 200);
    ulna_test_scene s = ulna_test_scene_open(&rng, &options);
    ulna_problem *problem;
    ulna_work *work;
    int calls = 0, *context = &calls;
    double f;
    const ulna_custom custom = {count_calls, &context, 0, 1};
    assert_int_equal(ulna_problem_create(s.model, NULL, &problem, NULL), ULNA_OK);
    for (int i = 0; i < TERMS; i++) {
        ulna_effector e = ulna_test_random_effector(&rng, s.model);
        assert_int_equal(ulna_problem_add_custom(problem, e.body, &custom, NULL, 1, NULL, NULL), ULNA_OK);
        assert_true(ulna_test_add_term(&rng, problem, ULNA_TERM_POINT));
    }
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(problem, NULL, &work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_set_threads(work, 4), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(work, s.q, &f), ULNA_OK);
    double *J = ulna_test_numbers(ulna_work_residual_count(work) * s.nv);
    calls = 0;
    assert_int_equal(ulna_work_residuals(work, NULL, J), ULNA_OK);
    assert_int_equal(calls, TERMS);
    free(J);
    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    ulna_test_scene_close(&s);
}

/* ---- callers in several threads, each with its own work and its own team ---- */

typedef struct job {
    const ulna_problem *problem;
    const double *q;
    double *H, f;
    ulna_status status;
} job;

static void *run(void *context)
{
    job *j = context;
    ulna_work *work = NULL;
    j->status = ulna_work_create(j->problem, NULL, &work, NULL);
    if (j->status == ULNA_OK)
        j->status = ulna_work_set_threads(work, 2);
    if (j->status == ULNA_OK)
        j->status = ulna_work_evaluate(work, j->q, &j->f);
    for (int i = 0; i < 5 && j->status == ULNA_OK; i++)
        j->status = ulna_work_hessian_dense(work, 1, j->H);
    ulna_work_destroy(work);
    return NULL;
}

static void teams_do_not_meet(void **state)
{
    (void)state;
    skip_without_threads();
    ulna_test_rng rng = ulna_test_rng_seed(74);
    ulna_test_tree_options options = huge(ULNA_TEST_SHAPE_LIMBS);
    ulna_test_bench b = ulna_test_bench_open(&rng, &options, ULNA_TEST_ALL_TERMS, 40);
    size_t square = (size_t)b.nv * (size_t)b.nv;
    double *H = ulna_test_numbers((int)square);
    job jobs[2];
    pthread_t thread[2];
    assert_int_equal(ulna_work_hessian_dense(b.work, 1, H), ULNA_OK);
    for (int t = 0; t < 2; t++) {
        jobs[t] = (job){b.problem, b.q, ulna_test_numbers((int)square), 0, ULNA_OK};
        assert_int_equal(pthread_create(&thread[t], NULL, run, &jobs[t]), 0);
    }
    for (int t = 0; t < 2; t++) {
        assert_int_equal(pthread_join(thread[t], NULL), 0);
        assert_int_equal(jobs[t].status, ULNA_OK);
        assert_same(jobs[t].H, H, square, "H beside another caller", 2);
        free(jobs[t].H);
    }
    free(H);
    ulna_test_bench_close(&b);
}

/* ---- sizes at which rows and scratch just fit, or do not ---- */

/* The tree rows start inside the matrix that they become: every small size, against products. The factors of a step are
 * left alone. */
static void the_dense_hessian_is_its_products(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(75);
    for (int round = 0; round < 600; round++) {
        ulna_test_tree_options options = big(round % 2 ? ULNA_TEST_SHAPE_CHAIN : ULNA_TEST_SHAPE_ANY, 1 + round % 24);
        ulna_test_bench b = ulna_test_bench_open(&rng, &options, ULNA_TEST_ALL_TERMS, 6);
        double *H = ulna_test_numbers(b.nv * b.nv), *product = ulna_test_numbers(b.nv * b.nv);
        double *unit = ulna_test_numbers(b.nv), t = ulna_test_rng_uniform(&rng, 0, 1);
        double *shift = ulna_test_numbers(b.nv), *x = ulna_test_numbers(b.nv), *again = ulna_test_numbers(b.nv);
        for (int j = 0; j < b.nv; j++)
            shift[j] = 1;
        ulna_step_options how = {.shift = shift};
        assert_int_equal(ulna_work_step(b.work, &how, x, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_work_step_solve(b.work, shift, x), ULNA_OK);
        assert_int_equal(ulna_work_hessian_dense(b.work, t, H), ULNA_OK);
        assert_int_equal(ulna_work_step_solve(b.work, shift, again), ULNA_OK);
        assert_memory_equal(again, x, (size_t)b.nv * sizeof *x);
        for (int j = 0; j < b.nv; j++) {
            unit[j] = 1;
            assert_int_equal(ulna_work_hessian_multiply(b.work, t, unit, product + j * b.nv), ULNA_OK);
            unit[j] = 0;
            for (int i = 0; i < j; i++)
                assert_true(H[j * b.nv + i] == H[i * b.nv + j]);
        }
        ulna_test_assert_close(H, product, b.nv * b.nv, 1e-12, "dense H against products");
        double *arrays[] = {H, product, unit, shift, x, again};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            free(arrays[i]);
        ulna_test_bench_close(&b);
    }
}

/* Many effectors on few degrees of freedom are done in pieces: each must be as if it were alone. */
static void effectors_come_in_pieces(void **state)
{
    (void)state;
    enum { MANY = 150 };
    ulna_test_rng rng = ulna_test_rng_seed(76);
    for (int round = 0; round < 60; round++) {
        ulna_test_tree_options options = big(ULNA_TEST_SHAPE_ANY, 1 + round % 6);
        ulna_test_scene s = ulna_test_scene_open(&rng, &options);
        ulna_effector e[MANY];
        double goals[3 * MANY], *J = ulna_test_numbers(6 * MANY * s.nv), *one = ulna_test_numbers(6 * s.nv);
        double *H = ulna_test_numbers(s.nv * s.nv), *sum = ulna_test_numbers(s.nv * s.nv);
        double *part = ulna_test_numbers(s.nv * s.nv);
        ulna_jacobian_options how = ulna_jacobian_options_default();
        how.frame = round % 2 ? ULNA_FRAME_BODY : ULNA_FRAME_WORLD;
        ulna_test_rng_fill(&rng, goals, 3 * MANY, -1, 1);
        for (int k = 0; k < MANY; k++)
            e[k] = ulna_test_random_effector(&rng, s.model);
        assert_int_equal(ulna_pose_jacobian(s.pose, &how, MANY, e, J), ULNA_OK);
        assert_int_equal(ulna_papers_dense_hessian(s.pose, MANY, e, goals, NULL, 1, H), ULNA_OK);
        for (int k = 0; k < MANY; k++) {
            assert_int_equal(ulna_pose_jacobian(s.pose, &how, 1, &e[k], one), ULNA_OK);
            for (int c = 0; c < s.nv; c++)
                assert_memory_equal(J + 6 * (MANY * c + k), one + 6 * c, 6 * sizeof *J);
            assert_int_equal(ulna_papers_dense_hessian(s.pose, 1, &e[k], goals + 3 * k, NULL, 1, part), ULNA_OK);
            for (int i = 0; i < s.nv * s.nv; i++)
                sum[i] += part[i];
        }
        ulna_test_assert_close(H, sum, s.nv * s.nv, 1e-13, "Algorithm 4 of many effectors");
        double *arrays[] = {J, one, H, sum, part};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            free(arrays[i]);
        ulna_test_scene_close(&s);
    }
}

/* ---- the setting ---- */

static void counts_are_checked(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(77);
    ulna_test_bench b = ulna_test_bench_open(&rng, NULL, ULNA_TEST_ALL_TERMS, 3);
    ulna_pose *pose = ulna_work_pose(b.work);
    ulna_status several = ulna_parallel_supported() ? ULNA_OK : ULNA_ERR_UNSUPPORTED;
    assert_int_equal(pose->threads, 1);
    assert_int_equal(ulna_pose_set_threads(NULL, 1), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_set_threads(NULL, 1), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_set_threads(b.work, -1), ULNA_ERR_ARGUMENT);
    assert_int_equal(pose->threads, 1);
    assert_int_equal(ulna_work_set_threads(b.work, 1000000), several); /* as many as there is work for */
    assert_int_equal(pose->threads, several == ULNA_OK ? 1000000 : 1);
    assert_int_equal(ulna_work_set_threads(b.work, 0), several);
    assert_int_equal(ulna_work_set_threads(b.work, 1), ULNA_OK);
    assert_int_equal(pose->threads, 1);
    ulna_test_bench_close(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_piece_is_done_once),
        cmocka_unit_test(a_pose_gives_the_same_bits),
        cmocka_unit_test(a_problem_gives_the_same_bits),
        cmocka_unit_test(callbacks_stay_in_the_callers_thread),
        cmocka_unit_test(teams_do_not_meet),
        cmocka_unit_test(the_dense_hessian_is_its_products),
        cmocka_unit_test(effectors_come_in_pieces),
        cmocka_unit_test(counts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
