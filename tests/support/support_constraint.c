/* Random constraints: see the header. */
#include "support_constraint.h"

#include "math/math3.h"

#include <stdlib.h>

/* A function of two bodies: half the squared distance of two points, minus the goal. */
static const double probe_points[2][3] = {{0.3, -0.2, 0.1}, {-0.1, 0.4, 0.2}};

static void evaluate_probe(const void *context, const double *goal, const double rotation[2][9],
                           const double position[2][3], ulna_constraint_value *value)
{
    static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double arm[2][3], e[3], move[2][3][6] = {{{0}}};
    (void)context;
    for (int b = 0; b < 2; b++)
        ulna_rotate(rotation[b], probe_points[b], arm[b]);
    for (int i = 0; i < 3; i++)
        e[i] = position[0][i] + arm[0][i] - position[1][i] - arm[1][i];
    value->value = 0.5 * ulna_dot(e, e) - goal[0];
    for (int b = 0; b < 2; b++) {
        double sign = b ? -1 : 1, n[3] = {sign * e[0], sign * e[1], sign * e[2]};
        ulna_row_of(n, arm[b], 1, 1, value->row[b]);
        ulna_bend_of(n, arm[b], 1, value->bend[b]);
        ulna_bend_of_curvature(identity, arm[b], 1, value->bend[b]);
        for (int i = 0; i < 3; i++) {
            const double unit[3] = {i == 0, i == 1, i == 2};
            ulna_row_of(unit, arm[b], 1, 1, move[b][i]);
        }
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int k = 0; k < 3; k++)
                value->cross[i][j] -= move[0][k][i] * move[1][k][j];
}

static ulna_relation random_relation(ulna_test_rng *rng)
{
    return (ulna_relation)ulna_test_rng_index(rng, 3);
}

/* Another body, or the world; ULNA_NONE too if there is no other. */
static int random_other(ulna_test_rng *rng, const ulna_model *model, int body)
{
    int count = ulna_model_body_count(model), other = ulna_test_rng_index(rng, count);
    return other == body || ulna_test_rng_index(rng, 6) == 0 ? ULNA_NONE : other;
}

static int has_mass(const ulna_model *model)
{
    double mass = 0;
    for (int b = 0; b < ulna_model_body_count(model); b++)
        mass += ulna_model_body_mass(model, b)->mass;
    return mass > 0;
}

/* Goals by type; 0 if the model cannot have it. */
static int fill_goal(ulna_test_rng *rng, const ulna_model *model, ulna_constraint *c, int dofs[3], double factors[3])
{
    static const double square[12] = {1, 0, 1, -1, 0, 1, -1, 0, -1, 1, 0, -1};
    switch (c->type) {
    case ULNA_KEEP_ORIENTATION:
        ulna_test_random_rotation(rng, c->goal);
        return 1;
    case ULNA_KEEP_FRAME:
    case ULNA_KEEP_RELATIVE:
        ulna_test_random_rotation(rng, c->goal + 3);
        return 1;
    case ULNA_KEEP_AIM: /* far away: near the point it is singular */
        for (int i = 0; i < 3; i++)
            c->goal[i] += c->goal[i] < 0 ? -6 : 6;
        return 1;
    case ULNA_KEEP_SPHERE:
        for (int i = 0; i < 3; i++)
            c->goal[i] += 4;
        c->goal[3] = ulna_test_rng_uniform(rng, 0.1, 3);
        c->relation = random_relation(rng);
        return 1;
    case ULNA_KEEP_BOX:
        for (int i = 0; i < 3; i++) {
            c->goal[3 + i] = ulna_test_rng_index(rng, 4) ? c->goal[i] + 1 : (double)INFINITY;
            c->goal[i] = ulna_test_rng_index(rng, 4) ? c->goal[i] : -(double)INFINITY;
        }
        return 1;
    case ULNA_KEEP_DISTANCE:
    case ULNA_KEEP_ANGLE:
        c->goal[0] = ulna_test_rng_uniform(rng, 0.1, 3);
        c->relation = random_relation(rng);
        return 1;
    case ULNA_KEEP_PLANE:
        c->relation = random_relation(rng);
        return 1;
    case ULNA_KEEP_LINEAR:
        c->relation = random_relation(rng);
        for (int d = 0; d < ulna_model_dof_count(model) && c->dof_count < 3; d++)
            if (ulna_model_dof_coordinate(model, d) >= 0)
                dofs[c->dof_count++] = d;
        ulna_test_rng_fill(rng, factors, 3, -2, 2);
        return c->dof_count > 0;
    case ULNA_KEEP_CENTRE:
        c->relation = random_relation(rng);
        return has_mass(model);
    case ULNA_KEEP_SUPPORT:
        c->corner_count = 4;
        c->corners = square;
        c->axis[0] = 0.1, c->axis[1] = -2, c->axis[2] = 0.2;
        return has_mass(model);
    case ULNA_KEEP_CUSTOM:
        c->relation = random_relation(rng);
        c->custom = (ulna_custom_constraint){evaluate_probe, NULL, 1};
        return 1;
    case ULNA_KEEP_POINT:
    case ULNA_KEEP_DIRECTION:
    case ULNA_KEEP_LINE:
    case ULNA_KEEP_TOGETHER:
        return 1;
    case ULNA_CONSTRAINT_TYPE_COUNT:
    default:
        fail_msg("a constraint of type %d has no random example: add one here", (int)c->type);
        return 0;
    }
}

int ulna_test_add_constraint(ulna_test_rng *rng, ulna_problem *problem, ulna_constraint_type type)
{
    const ulna_model *model = ulna_problem_model(problem);
    ulna_effector effector = ulna_test_random_effector(rng, model);
    int dofs[3] = {0};
    double factors[3];
    ulna_constraint c = {.type = type, .body = effector.body, .dofs = dofs, .coefficients = factors};
    ulna_copy3(effector.point, c.point);
    c.other = random_other(rng, model, c.body);
    ulna_test_rng_fill(rng, c.axis, 3, -1, 1);
    ulna_test_rng_fill(rng, c.other_axis, 3, -1, 1);
    ulna_test_rng_fill(rng, c.other_point, 3, -0.5, 0.5);
    ulna_test_rng_fill(rng, c.goal, 6, -1.5, 1.5);
    if (!fill_goal(rng, model, &c, dofs, factors))
        return 0;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_problem_add_constraint(problem, &c, NULL, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    return 1;
}

/* Numbers of the goal that are lengths: the first ones. */
static int goal_lengths(ulna_constraint_type type)
{
    switch (type) {
    case ULNA_KEEP_POINT:
    case ULNA_KEEP_FRAME:
    case ULNA_KEEP_AIM:
    case ULNA_KEEP_LINE:
    case ULNA_KEEP_PLANE:
    case ULNA_KEEP_RELATIVE:
    case ULNA_KEEP_CENTRE:
        return 3;
    case ULNA_KEEP_SPHERE:
        return 4;
    case ULNA_KEEP_BOX:
        return 6;
    case ULNA_KEEP_DISTANCE:
        return 1;
    default:
        return 0;
    }
}

void ulna_test_add_scaled_constraint(ulna_problem *problem, const ulna_constraint *constraint, double factor)
{
    const ulna_model *model = ulna_problem_model(problem);
    ulna_constraint c = *constraint;
    double corners[3 * ULNA_CONSTRAINT_CORNERS], factors[3] = {0};
    for (int i = 0; i < 3; i++) {
        c.point[i] *= factor;
        c.other_point[i] *= factor;
    }
    for (int i = 0; i < goal_lengths(c.type); i++)
        c.goal[i] *= factor;
    for (int i = 0; i < 3 * c.corner_count; i++)
        corners[i] = factor * constraint->corners[i];
    for (int k = 0; k < c.dof_count; k++) /* the sum is a plain number */
        factors[k] = constraint->coefficients[k] / (ulna_model_dof_is_translation(model, c.dofs[k]) ? factor : 1);
    c.corners = corners;
    c.coefficients = factors;
    assert_int_equal(ulna_problem_add_constraint(problem, &c, NULL, NULL), ULNA_OK);
}

ulna_test_bench ulna_test_constraint_bench(ulna_test_rng *rng, ulna_test_tree_options options,
                                           ulna_constraint_type type, int count)
{
    double f;
    options.masses = 0.7;
    ulna_test_bench bench = ulna_test_bench_open(rng, &options, ULNA_TEST_ALL_TERMS & ~(1u << ULNA_TERM_LIMITS), 3);
    ulna_work_destroy(bench.work);
    for (int i = 0; i < count; i++) {
        int any = ulna_test_rng_index(rng, ULNA_CONSTRAINT_TYPE_COUNT);
        ulna_test_add_constraint(rng, bench.problem,
                                 type == ULNA_CONSTRAINT_TYPE_COUNT ? (ulna_constraint_type)any : type);
    }
    assert_int_equal(ulna_problem_ready(bench.problem, NULL), ULNA_OK);
    assert_int_equal(ulna_work_create(bench.problem, NULL, &bench.work, NULL), ULNA_OK);
    assert_int_equal(ulna_work_evaluate(bench.work, bench.q, &f), ULNA_OK);
    return bench;
}
