/* How the solution answers a goal, against solving again; covariances against sensitivities and dense inverses. */
#include "math/math3.h"
#include "objective/problem.h"
#include "support_problem.h"
#include "ulna/sample.h"

#include <lapacke.h>
#include <stdlib.h>

/* ---- problems with a minimum, and the way to it
 * -------------------------------------------------------------------- */

typedef struct scene {
    ulna_test_bench b;
    unsigned char *locked;
    double *g, *step, *shift, *trial;
    int term; /* the one under test */
} scene;

static void scene_close(scene *s)
{
    ulna_test_bench_close(&s->b);
    free(s->locked);
    free(s->g);
    free(s->step);
    free(s->shift);
    free(s->trial);
}

/* A term of the type under test, three points, and a posture that leaves no freedom. 0 if the tree cannot carry it. */
static int scene_open(ulna_test_rng *rng, ulna_term_type type, int hold, scene *s)
{
    ulna_test_tree_options tree = ulna_test_tree_options_default();
    tree.min_bodies = 2;
    tree.max_bodies = 7;
    *s = (scene){.b = {.model = ulna_test_random_tree(rng, &tree)}};
    ulna_test_bench *b = &s->b;
    b->nv = ulna_model_dof_count(b->model);
    b->nq = ulna_model_coordinate_count(b->model);
    b->q = ulna_test_random_q(rng, b->model);
    s->g = ulna_test_numbers(b->nv);
    s->step = ulna_test_numbers(b->nv);
    s->shift = ulna_test_numbers(b->nv);
    s->trial = ulna_test_numbers(b->nq);
    s->locked = calloc((size_t)b->nv + 1, 1);
    for (int d = 0; d < b->nv; d++) { /* all DOFs of a body alike, so that quaternions are whole */
        int first = b->model->body[b->model->dof_body[d]].dof;
        s->locked[d] = d == first ? (unsigned char)(hold && ulna_test_rng_index(rng, 3) == 0) : s->locked[first];
    }
    assert_int_equal(ulna_problem_create(b->model, NULL, &b->problem, NULL), ULNA_OK);
    int added = ulna_test_add_term(rng, b->problem, type);
    for (int k = 0; k < 3; k++)
        ulna_test_add_term(rng, b->problem, ULNA_TERM_POINT);
    assert_int_equal(ulna_problem_add_posture(b->problem, b->q, NULL, 0.5, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(b->problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b->problem, NULL, &b->work, NULL), ULNA_OK);
    return added && b->nv > 0;
}

static double free_gradient(scene *s)
{
    double size = 0;
    assert_int_equal(ulna_work_gradient(s->b.work, s->g), ULNA_OK);
    for (int d = 0; d < s->b.nv; d++)
        size = fmax(size, s->locked[d] ? 0 : fabs(s->g[d]));
    return size;
}

/* Newton steps from where q is, to rounding. 0 if they do not get there. */
static int polish(scene *s, double *q)
{
    ulna_step_options options = {.t = 1, .locked = s->locked};
    double f;
    for (int i = 0; i < 12; i++) {
        if (ulna_work_evaluate(s->b.work, q, &f) != ULNA_OK ||
            ulna_work_step(s->b.work, &options, s->step, NULL, NULL) != ULNA_OK)
            return 0;
        ulna_model_integrate(s->b.model, q, s->step, q);
        if (ulna_test_largest(s->step, s->b.nv) < 1e-14)
            break;
    }
    return ulna_work_evaluate(s->b.work, q, &f) == ULNA_OK && free_gradient(s) < 1e-11;
}

/* Downhill with damping, then Newton. */
static int settle(scene *s)
{
    ulna_test_bench *b = &s->b;
    double f, next, damping = 1;
    assert_int_equal(ulna_work_evaluate(b->work, b->q, &f), ULNA_OK);
    for (int i = 0; i < 200 && free_gradient(s) > 1e-6; i++) {
        for (int d = 0; d < b->nv; d++)
            s->shift[d] = damping;
        ulna_step_options options = {.t = 1, .locked = s->locked, .shift = s->shift};
        int good = ulna_work_step(b->work, &options, s->step, NULL, NULL) == ULNA_OK;
        if (good) {
            ulna_model_integrate(b->model, b->q, s->step, s->trial);
            good = ulna_work_evaluate(b->work, s->trial, &next) == ULNA_OK && next <= f;
        }
        if (good)
            memcpy(b->q, s->trial, (size_t)b->nq * sizeof *b->q);
        damping *= good ? 0.3 : 5;
        assert_int_equal(ulna_work_evaluate(b->work, b->q, &f), ULNA_OK);
    }
    return polish(s, b->q);
}

/* Smallest eigenvalue of H over the free DOFs, relative to the largest: a soft minimum has no good differences. */
static double stiffness(scene *s)
{
    int n = s->b.nv;
    double *H = ulna_test_numbers(n * n), *values = ulna_test_numbers(n), most = 0;
    ulna_dense_need need;
    assert_int_equal(ulna_work_hessian_dense(s->b.work, 1, H), ULNA_OK);
    for (int i = 0; i < n; i++)
        most = fmax(most, s->locked[i] ? 0 : H[i * n + i]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            if (s->locked[i] || s->locked[j])
                H[i * n + j] = i == j ? most : 0;
    assert_int_equal(ulna_dense_eigen_need(n, &need), ULNA_OK);
    ulna_dense_work work = {ulna_test_numbers((int)need.reals), calloc(need.integers + 1, sizeof(int)), need};
    assert_int_equal(ulna_dense_eigen(n, H, 0, values, &work), ULNA_OK);
    double ratio = most > 0 ? values[0] / values[n - 1] : 0;
    free(work.reals);
    free(work.integers);
    free(H);
    free(values);
    return ratio;
}

/* ---- dq/dgoal against solving again
 * --------------------------------------------------------------------------------- */

/* The goal moved by h along column k, as the header describes the columns. */
static void move_goal(const scene *s, const double *goal, int k, double h)
{
    const ulna_model *model = s->b.model;
    double *moved = ulna_test_numbers(2 * s->b.nq + 9), turn[9], w[3] = {0};
    int type = ulna_problem_term_type(s->b.problem, s->term);
    if (type == ULNA_TERM_ORIENTATION || type == ULNA_TERM_GEODESIC) {
        w[k] = h;
        ulna_exp(w, turn);
        ulna_multiply9(turn, goal, moved);
    } else if (type == ULNA_TERM_POSTURE) {
        double *step = ulna_test_numbers(s->b.nv);
        step[k] = h;
        ulna_model_integrate(model, goal, step, moved);
        free(step);
    } else {
        memcpy(moved, goal, (size_t)(2 * s->b.nq + 9) * sizeof *goal);
        moved[k] += h;
    }
    assert_int_equal(ulna_problem_set_goal(s->b.problem, s->term, moved), ULNA_OK);
    free(moved);
}

/* Solutions at -2h, -h, h, 2h make a difference of fourth order. 0 if one of them is not found. */
static int difference(scene *s, const double *goal, int k, double *dq)
{
    const double h = 2e-4, at[4] = {-2, -1, 1, 2}, factor[4] = {1.0 / 12, -8.0 / 12, 8.0 / 12, -1.0 / 12};
    double *q = ulna_test_numbers(s->b.nq), *step = ulna_test_numbers(s->b.nv);
    int found = 1;
    memset(dq, 0, (size_t)s->b.nv * sizeof *dq);
    for (int i = 0; i < 4 && found; i++) {
        move_goal(s, goal, k, at[i] * h);
        memcpy(q, s->b.q, (size_t)s->b.nq * sizeof *q);
        found = polish(s, q);
        ulna_model_difference(s->b.model, s->b.q, q, step);
        for (int d = 0; d < s->b.nv; d++)
            dq[d] += factor[i] * step[d] / h;
    }
    assert_int_equal(ulna_problem_set_goal(s->b.problem, s->term, goal), ULNA_OK);
    free(q);
    free(step);
    return found;
}

/* Where the term is smooth all the way: off its limits, not near half a turn. */
static int is_smooth(const scene *s, const double *goal)
{
    const ulna_model *model = s->b.model;
    int type = ulna_problem_term_type(s->b.problem, s->term);
    double error;
    assert_int_equal(ulna_work_term_error(s->b.work, s->term, &error), ULNA_OK);
    for (int d = 0; d < s->b.nv && type == ULNA_TERM_LIMITS; d++) {
        int c = model->dof_coordinate[d];
        if (goal[s->b.nv + d] - goal[d] < 0.01) /* no room to move one past the other */
            return 0;
        if (c >= 0 && (fabs(s->b.q[c] - goal[d]) < 0.02 || fabs(s->b.q[c] - goal[s->b.nv + d]) < 0.02))
            return 0;
    }
    return type != ULNA_TERM_GEODESIC || error < 2;
}

/* Worst difference relative to the largest entry, or -1 if this one cannot be judged. */
static double compare(scene *s)
{
    double *goal = ulna_test_numbers(2 * s->b.nq + 9), worst = -1;
    assert_int_equal(ulna_problem_goal(s->b.problem, s->term, goal), ULNA_OK);
    if (settle(s) && is_smooth(s, goal) && stiffness(s) > 0.01) {
        const ulna_term *term = ulna_term_at(s->b.problem, s->term);
        int nv = s->b.nv, columns = ulna_term_size(s->b.model, term, ulna_term_kind_of(term->type)->columns);
        double *dq = ulna_test_numbers(nv * columns), *other = ulna_test_numbers(nv * columns), size;
        for (int k = 0; k < nv * columns; k++)
            dq[k] = NAN;
        assert_int_equal(ulna_work_sensitivity(s->b.work, s->locked, NULL, s->term, dq), ULNA_OK);
        int found = 1;
        for (int k = 0; k < columns && found; k++)
            found = difference(s, goal, k, other + (size_t)k * (size_t)nv);
        size = ulna_test_largest(other, nv * columns);
        if (found && size > 1e-3) {
            worst = 0;
            for (int k = 0; k < nv * columns; k++) {
                worst = isnan(dq[k]) ? INFINITY : fmax(worst, fabs(dq[k] - other[k]) / size);
                if (s->locked[k % nv])
                    assert_true(dq[k] == 0);
            }
        }
        free(dq);
        free(other);
    }
    free(goal);
    return worst;
}

static void against_solving_again(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(61);
    for (int type = 0; type < ULNA_TERM_TYPE_COUNT; type++) {
        int judged = 0, balls = 0, locked = 0;
        double worst = 0;
        for (int round = 0; round < 600 && judged < 100; round++) {
            scene s;
            if (scene_open(&rng, (ulna_term_type)type, round % 2, &s)) {
                double off = compare(&s);
                if (off >= 0) {
                    worst = fmax(worst, off);
                    judged++;
                    balls += s.b.nq > s.b.nv;
                    for (int d = 0; d < s.b.nv; d++)
                        locked += s.locked[d];
                }
                if (off > 1e-7)
                    fail_msg("%s, round %d: dq/dgoal differs by %.2g of its largest entry",
                             ulna_term_type_name((ulna_term_type)type), round, off);
            }
            scene_close(&s);
        }
        print_message("[ %-11s ] %d compared, off by %.1e at most\n", ulna_term_type_name((ulna_term_type)type), judged,
                      worst);
        assert_int_equal(judged, 100);
        assert_true(balls > 20 && locked > 50);
    }
}

/* ---- covariance
 * ------------------------------------------------------------------------------------------------------- */

static void assert_relative(const double *a, const double *b, int n, double tolerance, const char *what, int round)
{
    double scale = ulna_test_largest(b, n), worst = 0;
    for (int i = 0; i < n; i++)
        worst = isnan(a[i]) ? INFINITY : fmax(worst, fabs(a[i] - b[i]));
    if (!(worst <= tolerance * scale))
        fail_msg("%s, round %d: differs by %.3g of %.3g", what, round, worst, scale);
}

/* Noise of a term is noise of its goal, for points and the offset of couplings: sum sigma^2 / w dq dqT. */
static void from_sensitivities(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(62);
    int compared = 0;
    for (int round = 0; round < 200; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 5;
        tree.fixed = 0;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, 1u << ULNA_TERM_POINT | 1u << ULNA_TERM_COUPLING, 30);
        int nv = b.nv, terms = ulna_problem_term_count(b.problem);
        double *C = ulna_test_numbers(nv * nv), *sum = ulna_test_numbers(nv * nv), *dq = ulna_test_numbers(3 * nv);
        double *shift = ulna_test_numbers(nv), sigma = 0.02;
        unsigned char *locked = calloc((size_t)nv + 1, 1);
        for (int d = 0; d < nv; d++) {
            shift[d] = round % 4 < 2 ? 30 : 0; /* far from a minimum: H alone may not be definite */
            locked[d] = (unsigned char)(round % 2 && ulna_test_rng_index(&rng, 3) == 0);
        }
        ulna_status status = ulna_work_covariance(b.work, locked, shift, sigma, NULL, C);
        for (int t = 0; t < terms && status == ULNA_OK; t++) {
            int coupling = ulna_problem_term_type(b.problem, t) == ULNA_TERM_COUPLING;
            double w = ulna_problem_weight(b.problem, t);
            if (coupling && !ulna_model_dof_is_translation(b.model, b.problem->term[t].dof_b))
                w *= b.problem->length * b.problem->length;
            assert_int_equal(ulna_work_sensitivity(b.work, locked, shift, t, dq), ULNA_OK);
            for (int k = coupling ? 1 : 0; k < (coupling ? 2 : 3); k++)
                for (int j = 0; j < nv; j++)
                    for (int i = 0; i < nv; i++)
                        sum[j * nv + i] += sigma * sigma / w * dq[k * nv + i] * dq[k * nv + j];
        }
        if (status == ULNA_OK) {
            assert_relative(C, sum, nv * nv, 1e-9, "covariance from sensitivities", round);
            for (int j = 0; j < nv; j++)
                for (int i = 0; i < nv; i++)
                    assert_true(C[j * nv + i] == C[i * nv + j] && (!locked[i] || C[j * nv + i] == 0));
            compared++;
        } else {
            assert_true(status == ULNA_ERR_INDEFINITE || status == ULNA_ERR_SINGULAR);
        }
        free(C);
        free(sum);
        free(dq);
        free(shift);
        free(locked);
        ulna_test_bench_close(&b);
    }
    print_message("[ covariance  ] %d of 200 compared with sensitivities\n", compared);
    assert_true(compared > 100);
}

/* M^-1 G M^-1 with M = H + shift over the free DOFs, all dense; M need not be positive. */
static void dense_covariance(const ulna_test_bench *b, const unsigned char *locked, const double *shift, double *C)
{
    int n = b->nv;
    double *M = ulna_test_numbers(n * n), f;
    int *pivot = calloc((size_t)n + 1, sizeof *pivot);
    assert_int_equal(ulna_work_evaluate(b->work, b->q, &f), ULNA_OK);
    assert_int_equal(ulna_work_hessian_dense(b->work, 1, M), ULNA_OK);
    assert_int_equal(ulna_work_hessian_dense(b->work, 0, C), ULNA_OK);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < n; i++) {
            M[j * n + i] += i == j ? shift[i] : 0;
            if (locked[i] || locked[j]) {
                M[j * n + i] = i == j;
                C[j * n + i] = 0;
            }
        }
    if (n > 0) {
        assert_int_equal(LAPACKE_dsytrf(LAPACK_COL_MAJOR, 'L', n, M, n, pivot), 0);
        assert_int_equal(LAPACKE_dsytrs(LAPACK_COL_MAJOR, 'L', n, n, M, n, pivot, C, n), 0);
    }
    for (int j = 0; j < n; j++)
        for (int i = 0; i < j; i++) {
            double keep = C[j * n + i];
            C[j * n + i] = C[i * n + j];
            C[i * n + j] = keep;
        }
    if (n > 0)
        assert_int_equal(LAPACKE_dsytrs(LAPACK_COL_MAJOR, 'L', n, n, M, n, pivot, C, n), 0);
    free(M);
    free(pivot);
}

static void against_dense(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(63);
    int compared = 0;
    for (int round = 0; round < 300; round++) {
        ulna_test_tree_options tree = ulna_test_tree_options_default();
        tree.max_bodies = 12;
        ulna_test_bench b = ulna_test_bench_open(&rng, &tree, ULNA_TEST_ALL_TERMS, 12);
        int nv = b.nv;
        double *C = ulna_test_numbers(nv * nv), *dense = ulna_test_numbers(nv * nv), *shift = ulna_test_numbers(nv);
        unsigned char *locked = calloc((size_t)nv + 1, 1);
        for (int d = 0; d < nv; d++) {
            shift[d] = ulna_test_rng_uniform(&rng, 5, 20);
            locked[d] = (unsigned char)(round % 2 && ulna_test_rng_index(&rng, 4) == 0);
        }
        ulna_status status = ulna_work_covariance(b.work, round % 2 ? locked : NULL, shift, 1, NULL, C);
        if (status == ULNA_OK && nv) {
            dense_covariance(&b, locked, shift, dense);
            assert_relative(C, dense, nv * nv, 1e-9, "covariance against dense", round);
            compared++;
        }
        free(C);
        free(dense);
        free(shift);
        free(locked);
        ulna_test_bench_close(&b);
    }
    assert_true(compared > 150);
}

/* Where every residual vanishes H = JtJ, and the covariance is sigma^2 (JtJ)^-1. */
static void where_residuals_vanish(void **state)
{
    (void)state;
    ulna_model *model;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    ulna_test_bench b = {.model = model, .nv = ulna_model_dof_count(model), .nq = ulna_model_coordinate_count(model)};
    int nv = b.nv, first, markers = ulna_model_marker_count(model);
    double *goals = ulna_test_numbers(3 * markers), *C = ulna_test_numbers(nv * nv), *G = ulna_test_numbers(nv * nv);
    double *inverse = ulna_test_numbers(nv * nv), f, sigma = 0.005;
    b.q = ulna_test_numbers(b.nq);
    for (int k = 0; k < b.nq; k++)
        b.q[k] = ulna_model_rest(model)[k] + 0.2 * sin(3.0 * k);
    assert_int_equal(ulna_problem_create(model, NULL, &b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(b.problem, &first, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_posture(b.problem, b.q, NULL, 0.01, NULL, NULL), ULNA_OK); /* for the thumbs */
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b.problem, NULL, &b.work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_int_equal(ulna_pose_markers(ulna_work_pose(b.work), goals), ULNA_OK);
    assert_int_equal(ulna_problem_set_points(b.problem, first, markers, goals), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_true(f < 1e-28);
    assert_int_equal(ulna_work_covariance(b.work, NULL, NULL, sigma, NULL, C), ULNA_OK);
    assert_int_equal(ulna_work_hessian_dense(b.work, 0, G), ULNA_OK);
    for (int i = 0; i < nv; i++)
        inverse[i * nv + i] = sigma * sigma;
    assert_int_equal(LAPACKE_dposv(LAPACK_COL_MAJOR, 'L', nv, nv, G, nv, inverse, nv), 0);
    assert_relative(C, inverse, nv * nv, 1e-10, "covariance of a human", 0);
    free(goals);
    free(C);
    free(G);
    free(inverse);
    ulna_test_bench_close(&b);
}

/* A human with its markers at their goals, give or take: offsets that are off, goals that are. */
typedef struct crowd {
    ulna_model *model;
    int nv, nq, markers;
    double *q, *goals, *deviation; /* the true pose; of its markers; of the offsets */
    double sigma;
} crowd;

static crowd crowd_open(void)
{
    crowd c = {.sigma = 5e-4};
    assert_int_equal(ulna_sample_create("human", NULL, &c.model, NULL), ULNA_OK);
    c.nv = ulna_model_dof_count(c.model);
    c.nq = ulna_model_coordinate_count(c.model);
    c.markers = ulna_model_marker_count(c.model);
    c.q = ulna_test_numbers(c.nq);
    c.goals = ulna_test_numbers(3 * c.markers);
    c.deviation = ulna_test_numbers(3 * c.markers);
    for (int k = 0; k < c.nq; k++)
        c.q[k] = ulna_model_rest(c.model)[k] + 0.2 * sin(3.0 * k);
    for (int k = 0; k < 3 * c.markers; k++)
        c.deviation[k] = 5e-4 * (1 + k % 4);
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(c.model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, c.q), ULNA_OK);
    assert_int_equal(ulna_pose_markers(pose, c.goals), ULNA_OK);
    ulna_pose_destroy(pose);
    return c;
}

static void crowd_close(crowd *c)
{
    free(c->q);
    free(c->goals);
    free(c->deviation);
    ulna_model_destroy(c->model);
}

/* `rng` NULL: nothing is off. The posture is a measurement too, and keeps thumbs from being free. */
static ulna_test_bench crowd_problem(const crowd *c, ulna_test_rng *rng)
{
    ulna_test_bench b = {.nv = c->nv, .nq = c->nq, .q = ulna_test_numbers(c->nq)};
    double unit = sqrt(0.01), *reference = ulna_test_numbers(c->nq), *step = ulna_test_numbers(c->nv);
    assert_int_equal(ulna_problem_create(c->model, NULL, &b.problem, NULL), ULNA_OK);
    for (int m = 0; m < c->markers; m++) {
        double offset[3], goal[3];
        ulna_model_marker_position(c->model, m, offset);
        for (int k = 0; k < 3; k++) {
            offset[k] += rng ? c->deviation[3 * m + k] * ulna_test_rng_normal(rng) : 0;
            goal[k] = c->goals[3 * m + k] + (rng ? c->sigma * ulna_test_rng_normal(rng) : 0);
        }
        int body = ulna_model_marker_body(c->model, m);
        assert_int_equal(ulna_problem_add_point(b.problem, body, offset, goal, 1, NULL, NULL), ULNA_OK);
    }
    double length = ulna_model_length_scale(c->model);
    for (int d = 0; d < c->nv && rng; d++)
        step[d] =
            c->sigma / unit * ulna_test_rng_normal(rng) / (ulna_model_dof_is_translation(c->model, d) ? 1 : length);
    ulna_model_integrate(c->model, c->q, step, reference);
    assert_int_equal(ulna_problem_add_posture(b.problem, reference, NULL, 0.01, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b.problem, NULL, &b.work, NULL), ULNA_OK);
    memcpy(b.q, c->q, (size_t)c->nq * sizeof *b.q);
    free(reference);
    free(step);
    return b;
}

/* Squares of how far the solution is off are added to `sums`. */
static void crowd_solve(const crowd *c, ulna_test_rng *rng, double *sums)
{
    ulna_test_bench b = crowd_problem(c, rng);
    double *step = ulna_test_numbers(c->nv), *total = ulna_test_numbers(c->nv), f;
    for (int round = 0; round < 3; round++) {
        ulna_step_options options = {.t = 1};
        assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
        assert_int_equal(ulna_work_step(b.work, &options, step, NULL, NULL), ULNA_OK);
        ulna_model_integrate(c->model, b.q, step, b.q);
        for (int d = 0; d < c->nv; d++)
            total[d] += step[d];
    }
    for (int d = 0; d < c->nv; d++)
        sums[d] += total[d] * total[d];
    free(step);
    free(total);
    ulna_test_bench_close(&b);
}

/* Against solves with offsets and goals that are off at random. */
static void offsets_that_are_off(void **state)
{
    enum { ROUNDS = 1500 };
    (void)state;
    crowd c = crowd_open();
    ulna_test_rng rng = ulna_test_rng_seed(4711);
    ulna_test_bench b = crowd_problem(&c, NULL);
    size_t nv = (size_t)c.nv;
    double *C = ulna_test_numbers(c.nv * c.nv), *N = ulna_test_numbers(c.nv * c.nv), *sums = ulna_test_numbers(c.nv), f;
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_int_equal(
        ulna_work_covariance(b.work, NULL, NULL, c.sigma, &(ulna_unsure_points){0, c.markers, c.deviation}, C),
        ULNA_OK);
    assert_int_equal(ulna_work_covariance(b.work, NULL, NULL, c.sigma, NULL, N), ULNA_OK);
    for (int round = 0; round < ROUNDS; round++)
        crowd_solve(&c, &rng, sums);
    int wider = 0;
    for (size_t d = 0; d < nv; d++) {
        double found = sqrt(sums[d] / ROUNDS), expected = sqrt(C[d * nv + d]);
        if (!(found > 0.9 * expected && found < 1.1 * expected))
            fail_msg("degree of freedom %zu: %g, expected %g", d, found, expected);
        wider += expected > 1.5 * sqrt(N[d * nv + d]);
    }
    assert_true(wider > c.nv / 2);
    double bad[3] = {0, NAN, 0};
    assert_int_equal(ulna_work_covariance(b.work, NULL, NULL, 1, &(ulna_unsure_points){0, 1, bad}, C), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_work_covariance(b.work, NULL, NULL, 1, &(ulna_unsure_points){0, 1, NULL}, C),
                     ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_covariance(b.work, NULL, NULL, 1, &(ulna_unsure_points){c.markers, 1, c.deviation}, C),
                     ULNA_ERR_ARGUMENT); /* the posture */
    assert_int_equal(ulna_work_covariance(b.work, NULL, NULL, 1, &(ulna_unsure_points){-1, 1, c.deviation}, C),
                     ULNA_ERR_ARGUMENT);
    free(C);
    free(N);
    free(sums);
    ulna_test_bench_close(&b);
    crowd_close(&c);
}

/* ---- edges
 * --------------------------------------------------------------------------------------------------------------- */

/* Seven joints for a place: singular; with a little damping the tool follows its goal, by the least change of the
 * joints. */
static void redundant(void **state)
{
    (void)state;
    ulna_test_bench b = {.nv = 7, .nq = 7, .q = ulna_test_numbers(7)};
    ulna_effector tool;
    double goal[3], f, dq[21], shift[7], J[21];
    assert_int_equal(ulna_sample_create("arm", NULL, &b.model, NULL), ULNA_OK);
    for (int d = 0; d < 7; d++) {
        b.q[d] = ulna_model_rest(b.model)[d] + 0.3;
        shift[d] = 1e-9;
    }
    tool.body = ulna_model_marker_body(b.model, 0);
    assert_int_equal(ulna_model_marker_position(b.model, 0, tool.point), ULNA_OK);
    assert_int_equal(ulna_problem_create(b.model, NULL, &b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_markers(b.problem, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_ready(b.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(b.problem, NULL, &b.work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_int_equal(ulna_pose_point(ulna_work_pose(b.work), tool.body, tool.point, goal), ULNA_OK);
    assert_int_equal(ulna_problem_set_goal(b.problem, 0, goal), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(b.work, b.q, &f), ULNA_OK);
    assert_int_equal(ulna_work_sensitivity(b.work, NULL, NULL, 0, dq), ULNA_ERR_SINGULAR);
    assert_int_equal(ulna_work_covariance(b.work, NULL, NULL, 1, NULL, (double[49]){0}), ULNA_ERR_SINGULAR);
    assert_int_equal(ulna_work_sensitivity(b.work, NULL, shift, 0, dq), ULNA_OK);
    ulna_jacobian_options options = ulna_jacobian_options_default();
    options.rows = ULNA_ROWS_LINEAR;
    assert_int_equal(ulna_pose_jacobian(ulna_work_pose(b.work), &options, 1, &tool, J), ULNA_OK);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++) {
            double moved = 0;
            for (int d = 0; d < 7; d++)
                moved += J[3 * d + i] * dq[7 * k + d];
            assert_true(fabs(moved - (i == k)) < 1e-6);
        }
    ulna_test_bench_close(&b);
}

/* A pose that is no minimum, wrong arguments, calls out of order, terms that are switched off. */
static void edges(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_problem *p;
    ulna_work *w;
    const double tip[3] = {1, 0, 0}, near[3] = {0.5, 0, 0}, missing[3] = {NAN, 0, 0};
    double q[2] = {3.0, 0.1}, f, dq[8], C[4], shift[2] = {NAN, 0}, x[2] = {1, 2};
    int point, limits, off, bare;
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    assert_int_equal(ulna_sample_create("two-link", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_create(model, &allocator, &p, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(p, 1, tip, near, 1, &point, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_limits(p, NULL, NULL, 1, &limits, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(p, 1, tip, near, 0, &off, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_add_point(p, 0, tip, near, 1, &bare, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_set_points(p, bare, 1, missing), ULNA_OK);
    assert_int_equal(ulna_problem_ready(p, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(p, &allocator, &w, NULL), ULNA_OK);

    assert_int_equal(ulna_work_sensitivity(w, NULL, NULL, point, dq), ULNA_ERR_STATE);
    assert_int_equal(ulna_work_covariance(w, NULL, NULL, 1, NULL, C), ULNA_ERR_STATE);
    assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
    assert_int_equal(ulna_work_sensitivity(NULL, NULL, NULL, point, dq), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_sensitivity(w, NULL, NULL, 4, dq), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_sensitivity(w, NULL, NULL, point, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_sensitivity(w, NULL, shift, point, dq), ULNA_ERR_NUMBER);
    assert_int_equal(ulna_work_covariance(NULL, NULL, NULL, 1, NULL, C), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_covariance(w, NULL, NULL, 1, NULL, NULL), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_covariance(w, NULL, NULL, -1, NULL, C), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_covariance(w, NULL, NULL, NAN, NULL, C), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_work_covariance(w, NULL, NULL, INFINITY, NULL, C), ULNA_ERR_ARGUMENT);

    /* Pointing away from its goal, stretched out: a maximum of f. */
    assert_int_equal(ulna_work_sensitivity(w, NULL, NULL, point, dq), ULNA_ERR_INDEFINITE);
    assert_int_equal(ulna_work_covariance(w, NULL, NULL, 1, NULL, C), ULNA_ERR_INDEFINITE);

    q[0] = acos(0.25), q[1] = -2 * q[0]; /* the tip is at the goal */
    assert_int_equal(ulna_work_evaluate(w, q, &f), ULNA_OK);
    assert_true(f < 1e-28);
    long calls = memory.calls;
    assert_int_equal(ulna_work_sensitivity(w, NULL, NULL, point, dq), ULNA_OK);
    /* The tip is at (0.5, 0), the second link is (x2, y2): the columns of the Jacobian are (0, 0.5) and (-y2, x2). */
    double x2 = cos(q[0] + q[1]), y2 = sin(q[0] + q[1]);
    for (int k = 0; k < 2; k++) { /* the tip goes where its goal goes */
        double tip_x = -y2 * dq[2 * k + 1], tip_y = 0.5 * dq[2 * k] + x2 * dq[2 * k + 1];
        assert_true(fabs(tip_x - (k == 0)) < 1e-12 && fabs(tip_y - (k == 1)) < 1e-12);
    }
    assert_true(fabs(dq[4]) < 1e-12 && fabs(dq[5]) < 1e-12);                     /* out of the plane it cannot follow */
    assert_int_equal(ulna_work_step_solve(w, x, x), ULNA_OK);                    /* the factors are there */
    assert_int_equal(ulna_work_sensitivity(w, NULL, NULL, limits, dq), ULNA_OK); /* inside: no answer */
    for (int i = 0; i < 8; i++)
        assert_true(dq[i] == 0);
    for (int t = 0; t < 2; t++) {
        assert_int_equal(ulna_work_sensitivity(w, NULL, NULL, t ? off : bare, dq), ULNA_OK);
        for (int i = 0; i < 6; i++)
            assert_true(dq[i] == 0);
    }
    assert_int_equal(ulna_work_covariance(w, NULL, NULL, 0, NULL, C), ULNA_OK);
    assert_true(C[0] == 0 && C[3] == 0);
    assert_int_equal(memory.calls, calls);
    ulna_work_destroy(w);
    ulna_problem_destroy(p);
    ulna_model_destroy(model);
    ulna_test_memory_check(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(against_solving_again),
        cmocka_unit_test(from_sensitivities),
        cmocka_unit_test(against_dense),
        cmocka_unit_test(where_residuals_vanish),
        cmocka_unit_test(offsets_that_are_off),
        cmocka_unit_test(redundant),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
