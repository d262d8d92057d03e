/* The same scene in another unit: see the header. */
#include "support_units.h"

#include "objective/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void scale3(const double *x, double factor, double *y)
{
    for (int i = 0; i < 3; i++)
        y[i] = factor * x[i];
}

void ulna_test_scale_q(const ulna_model *model, const double *q, double factor, double *scaled)
{
    memmove(scaled, q, (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int j = 0; j < ulna_model_dof_count(model); j++)
        if (ulna_model_dof_is_translation(model, j))
            scaled[ulna_model_dof_coordinate(model, j)] *= factor;
}

ulna_model *ulna_test_scaled_model(const ulna_model *model, double factor)
{
    ulna_builder *builder;
    ulna_model *scaled;
    double p[3], r[9], *rest = ulna_test_numbers(ulna_model_coordinate_count(model));
    assert_int_equal(ulna_builder_from_model(model, NULL, &builder, NULL), ULNA_OK);
    ulna_test_scale_q(model, ulna_model_rest(model), factor, rest);
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        int dof, at, dofs = ulna_model_body_dofs(model, b, &dof), count = ulna_model_body_coordinates(model, b, &at);
        ulna_model_body_placement(model, b, p, r);
        scale3(p, factor, p);
        assert_int_equal(ulna_builder_set_placement(builder, b, p, r, NULL), ULNA_OK);
        ulna_model_body_offset(model, b, p, r);
        scale3(p, factor, p);
        assert_int_equal(ulna_builder_set_offset(builder, b, p, r, NULL), ULNA_OK);
        for (int k = 0; k < dofs; k++)
            if (ulna_model_dof_is_translation(model, dof + k))
                assert_int_equal(ulna_builder_set_limits(builder, b, k, factor * ulna_model_lower(model)[dof + k],
                                                         factor * ulna_model_upper(model)[dof + k], NULL),
                                 ULNA_OK);
        ulna_mass mass = *ulna_model_body_mass(model, b);
        scale3(mass.center, factor, mass.center);
        assert_int_equal(ulna_builder_set_mass(builder, b, &mass, NULL), ULNA_OK);
        if (count)
            assert_int_equal(ulna_builder_set_rest(builder, b, rest + at, count, NULL), ULNA_OK);
    }
    for (int m = 0; m < ulna_model_marker_count(model); m++) {
        ulna_model_marker_position(model, m, p);
        scale3(p, factor, p);
        assert_int_equal(ulna_builder_set_marker(builder, m, ulna_model_marker_body(model, m), p,
                                                 ulna_model_marker_weight(model, m), NULL),
                         ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &scaled, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    free(rest);
    return scaled;
}

static double unit(const ulna_model *model, int dof, double factor)
{
    return ulna_model_dof_is_translation(model, dof) ? factor : 1;
}

static ulna_status add_scaled(ulna_problem *to, const ulna_model *model, const ulna_term *term, double factor)
{
    int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
    double point[3], goal[3], *values = ulna_test_numbers(2 * nv + nq);
    ulna_status status = ULNA_ERR_UNSUPPORTED;
    scale3(term->local, factor, point);
    scale3(term->goal, factor, goal);
    switch (term->type) {
    case ULNA_TERM_POINT:
        status = ulna_problem_add_point(to, term->body, point, goal, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_ORIENTATION:
        status = ulna_problem_add_orientation(to, term->body, term->goal, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_GEODESIC:
        status = ulna_problem_add_geodesic(to, term->body, term->goal, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_DIRECTION:
        status = ulna_problem_add_direction(to, term->body, term->local + 3, term->goal, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_AIM:
        status = ulna_problem_add_aim(to, term->body, point, term->local + 3, goal, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_PLANE:
        status = ulna_problem_add_plane(to, term->body, point, goal, term->goal + 3, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_LINE:
        status = ulna_problem_add_line(to, term->body, point, goal, term->goal + 3, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_POSTURE:
        ulna_test_scale_q(model, term->values, factor, values);
        status = ulna_problem_add_posture(to, values, term->values + nq, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_LIMITS:
        for (int j = 0; j < nv; j++) {
            values[j] = term->values[j] * unit(model, j, factor);
            values[nv + j] = term->values[nv + j] * unit(model, j, factor);
        }
        status = ulna_problem_add_limits(to, values, values + nv, term->weight, NULL, NULL);
        break;
    case ULNA_TERM_COUPLING: {
        double a = unit(model, term->dof_a, factor), b = unit(model, term->dof_b, factor);
        status = ulna_problem_add_coupling(to, term->dof_a, term->dof_b, term->goal[0] * b / a, term->goal[1] * b,
                                           term->weight, NULL, NULL);
        break;
    }
    case ULNA_TERM_CUSTOM: /* its numbers are the caller's: no unit is known */
    case ULNA_TERM_TYPE_COUNT:
    default:
        break;
    }
    free(values);
    return status;
}

ulna_problem *ulna_test_scaled_problem(const ulna_problem *problem, const ulna_model *scaled, double factor)
{
    ulna_problem *made;
    assert_int_equal(ulna_problem_create(scaled, NULL, &made, NULL), ULNA_OK);
    if (problem->length_given)
        assert_int_equal(ulna_problem_set_length(made, problem->length * factor), ULNA_OK);
    for (size_t i = 0; i < problem->term_count; i++)
        assert_int_equal(add_scaled(made, ulna_problem_model(problem), &problem->term[i], factor), ULNA_OK);
    assert_int_equal(ulna_problem_ready(made, NULL), ULNA_OK);
    return made;
}
