/* Random problems: see the header. */
#include "support_problem.h"

#include <math.h>
#include <stdlib.h>

static void random_vector(ulna_test_rng *rng, double size, double x[3])
{
    ulna_test_rng_fill(rng, x, 3, -size, size);
}

/* A place at some distance, for terms that are singular on the spot. */
static void far_away(ulna_test_rng *rng, double x[3])
{
    random_vector(rng, 1, x);
    for (int i = 0; i < 3; i++)
        x[i] += x[i] < 0 ? -6 : 6;
}

static int random_coordinate_dof(ulna_test_rng *rng, const ulna_model *model)
{
    int nv = ulna_model_dof_count(model);
    for (int attempt = 0; nv && attempt < 50; attempt++) {
        int dof = ulna_test_rng_index(rng, nv);
        if (ulna_model_dof_coordinate(model, dof) >= 0)
            return dof;
    }
    return ULNA_NONE;
}

static ulna_status add_limits(ulna_test_rng *rng, ulna_problem *problem, double weight)
{
    int nv = ulna_model_dof_count(ulna_problem_model(problem));
    double *bounds = ulna_test_numbers(2 * nv); /* so tight that many are passed */
    for (int d = 0; d < nv; d++) {
        bounds[d] = ulna_test_rng_uniform(rng, -0.8, 0.2);
        bounds[nv + d] = bounds[d] + ulna_test_rng_uniform(rng, 0, 0.8);
    }
    ulna_status status = ulna_problem_add_limits(problem, bounds, bounds + nv, weight, NULL, NULL);
    free(bounds);
    return status;
}

static ulna_status add_posture(ulna_test_rng *rng, ulna_problem *problem, double weight)
{
    const ulna_model *model = ulna_problem_model(problem);
    int nv = ulna_model_dof_count(model);
    double *reference = ulna_test_random_q(rng, model), *factors = ulna_test_numbers(nv);
    ulna_test_rng_fill(rng, factors, nv, 0, 2);
    ulna_status status = ulna_problem_add_posture(problem, reference, factors, weight, NULL, NULL);
    free(reference);
    free(factors);
    return status;
}

/* A term of our own: how far a point is from a centre, how an axis leans, and how high the point is; the first one,
 * two or all three of these. Goal: centre, radius, cosine, height. */
typedef struct probe {
    double point[3], axis[3];
    int residuals;
} probe;

static const probe probes[3] = {
    {{0, 0, 0}, {1, 0, 0}, 1},
    {{0.3, -0.2, 0.1}, {0, 0.6, 0.8}, 2},
    {{-0.1, 0.4, 0.2}, {0.48, -0.6, 0.64}, 3},
};

static void turn(const double rotation[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++)
        y[i] = rotation[3 * i] * x[0] + rotation[3 * i + 1] * x[1] + rotation[3 * i + 2] * x[2];
}

static void evaluate_probe(const void *context, const double *goal, const double rotation[9], const double position[3],
                           ulna_custom_value *value)
{
    static const double lean[3] = {0.6, 0, -0.8}, up[3] = {0, 0, 1};
    const probe *p = context;
    double arm[3], axis[3], e[3], curvature[9], distance = 0;
    turn(rotation, p->point, arm);
    turn(rotation, p->axis, axis);
    for (int i = 0; i < 3; i++) {
        e[i] = position[i] + arm[i] - goal[i];
        distance += e[i] * e[i];
    }
    distance = sqrt(distance);
    for (int i = 0; i < 3; i++)
        e[i] /= distance;
    for (int i = 0; i < 9; i++)
        curvature[i] = ((i % 4 == 0) - e[i / 3] * e[i % 3]) / distance;
    value->residual[0] = goal[3] - distance;
    value->residual[1] = goal[4] - (lean[0] * axis[0] + lean[2] * axis[2]);
    value->residual[2] = goal[5] - (position[2] + arm[2]);
    ulna_custom_point(value, 0, arm, e, curvature);
    if (p->residuals > 1)
        ulna_custom_direction(value, 1, axis, lean, NULL);
    if (p->residuals > 2)
        ulna_custom_point(value, 2, arm, up, NULL);
}

static ulna_status add_probe(ulna_test_rng *rng, ulna_problem *problem, int body, const double centre[3], double weight)
{
    const probe *p = &probes[ulna_test_rng_index(rng, 3)];
    const ulna_custom custom = {evaluate_probe, p, 6, p->residuals};
    double goal[6] = {centre[0], centre[1], centre[2]};
    ulna_test_rng_fill(rng, goal + 3, 3, 0, 1);
    return ulna_problem_add_custom(problem, body, &custom, goal, weight, NULL, NULL);
}

int ulna_test_add_term(ulna_test_rng *rng, ulna_problem *problem, ulna_term_type type)
{
    const ulna_model *model = ulna_problem_model(problem);
    ulna_effector effector = ulna_test_random_effector(rng, model);
    int body = effector.body;
    double goal[3], axis[3], rotation[9], weight = ulna_test_rng_uniform(rng, 0.1, 2);
    ulna_status status = ULNA_ERR_ARGUMENT;
    random_vector(rng, 1.5, goal);
    random_vector(rng, 1, axis);
    ulna_test_random_rotation(rng, rotation);
    switch (type) {
    case ULNA_TERM_POINT:
        status = ulna_problem_add_point(problem, body, effector.point, goal, weight, NULL, NULL);
        break;
    case ULNA_TERM_ORIENTATION:
        status = ulna_problem_add_orientation(problem, body, rotation, weight, NULL, NULL);
        break;
    case ULNA_TERM_GEODESIC:
        status = ulna_problem_add_geodesic(problem, body, rotation, weight, NULL, NULL);
        break;
    case ULNA_TERM_DIRECTION:
        status = ulna_problem_add_direction(problem, body, axis, goal, weight, NULL, NULL);
        break;
    case ULNA_TERM_AIM:
        far_away(rng, goal);
        status = ulna_problem_add_aim(problem, body, effector.point, axis, goal, weight, NULL, NULL);
        break;
    case ULNA_TERM_PLANE:
        status = ulna_problem_add_plane(problem, body, effector.point, goal, axis, weight, NULL, NULL);
        break;
    case ULNA_TERM_LINE:
        status = ulna_problem_add_line(problem, body, effector.point, goal, axis, weight, NULL, NULL);
        break;
    case ULNA_TERM_POSTURE:
        status = add_posture(rng, problem, weight);
        break;
    case ULNA_TERM_LIMITS:
        status = add_limits(rng, problem, weight);
        break;
    case ULNA_TERM_COUPLING: {
        int a = random_coordinate_dof(rng, model), b = random_coordinate_dof(rng, model);
        if (a == ULNA_NONE || a == b)
            return 0;
        status = ulna_problem_add_coupling(problem, a, b, ulna_test_rng_uniform(rng, -2, 2), 0.3, weight, NULL, NULL);
        break;
    }
    case ULNA_TERM_CUSTOM:
        far_away(rng, goal);
        status = add_probe(rng, problem, body, goal, weight);
        break;
    case ULNA_TERM_TYPE_COUNT:
    default:
        fail_msg("a term of type %d has no random example: add one here", (int)type);
    }
    assert_int_equal(status, ULNA_OK);
    return 1;
}

ulna_test_bench ulna_test_bench_open(ulna_test_rng *rng, const ulna_test_tree_options *options, unsigned types,
                                     int count)
{
    ulna_test_bench bench = {.model = ulna_test_random_tree(rng, options)};
    double f;
    bench.nv = ulna_model_dof_count(bench.model);
    bench.nq = ulna_model_coordinate_count(bench.model);
    bench.q = ulna_test_random_q(rng, bench.model);
    assert_int_equal(ulna_problem_create(bench.model, NULL, &bench.problem, NULL), ULNA_OK);
    for (int i = 0; i < count;) {
        ulna_term_type type = (ulna_term_type)ulna_test_rng_index(rng, ULNA_TERM_TYPE_COUNT);
        if (types & 1u << type) {
            ulna_test_add_term(rng, bench.problem, type);
            i++;
        }
    }
    assert_int_equal(ulna_problem_ready(bench.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(bench.problem, NULL, &bench.work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(bench.work, bench.q, &f), ULNA_OK);
    return bench;
}

void ulna_test_bench_close(ulna_test_bench *bench)
{
    ulna_work_destroy(bench->work);
    ulna_problem_destroy(bench->problem);
    ulna_model_destroy(bench->model);
    free(bench->q);
}
