/* Random problems: see the header. */
#include "support_problem.h"

#include <math.h>
#include <stdlib.h>

static void random_vector(ulna_test_rng *rng, double size, double x[3])
{
    ulna_test_rng_fill(rng, x, 3, -size, size);
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
        random_vector(rng, 1, goal);
        for (int i = 0; i < 3; i++)
            goal[i] += goal[i] < 0 ? -6 : 6; /* at some distance: the term is singular on the spot */
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
    assert_int_equal(ulna_evaluate(bench.work, bench.q, &f), ULNA_OK);
    return bench;
}

void ulna_test_bench_close(ulna_test_bench *bench)
{
    ulna_work_destroy(bench->work);
    ulna_problem_destroy(bench->problem);
    ulna_model_destroy(bench->model);
    free(bench->q);
}
