#include "support_serial.h"

#include "math/math3.h"

#include <math.h>
#include <string.h>

const char *const ulna_test_serial_kernels[ULNA_TEST_SERIAL_KERNELS] = {"portable", "avx2", "avx512", "wide avx512"};

ulna_test_serial ulna_test_serial_make(ulna_model *model, int base, int tip, const char *kernel)
{
    ulna_test_serial s = {.model = model, .base = base, .tip = tip};
    ulna_error error;
    const ulna_serial_kernel *found = ulna_serial_kernel_find(kernel);
    if (!found) /* not on this CPU */
        found = ulna_serial_kernel_find(NULL);
    if (ulna_serial_create_with(model, base, tip, NULL, NULL, found, NULL, &s.chain, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(ulna_pose_create(model, NULL, &s.pose, &error), ULNA_OK);
    s.n = ulna_serial_count(s.chain);
    assert_true(ulna_model_coordinate_count(model) <= 32);
    memcpy(s.q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *s.q);
    return s;
}

ulna_test_serial ulna_test_serial_robot(const ulna_test_robot *robot, const char *kernel)
{
    ulna_model *model = ulna_test_robot_model(robot);
    return ulna_test_serial_make(model, ULNA_NONE, robot->joints, kernel);
}

void ulna_test_serial_release(ulna_test_serial *s)
{
    ulna_serial_destroy(s->chain);
    ulna_pose_destroy(s->pose);
    ulna_model_destroy(s->model);
}

void ulna_test_serial_place(ulna_test_serial *s, const double *q, const double point[3], double position[3],
                            double rotation[9])
{
    for (int i = 0; i < s->n; i++)
        s->q[ulna_serial_coordinates(s->chain)[i]] = q[i];
    assert_int_equal(ulna_pose_forward(s->pose, s->q), ULNA_OK);
    double at[3], R[9], moved[3], B[9], b[3];
    assert_int_equal(ulna_pose_body(s->pose, s->tip, at, R), ULNA_OK);
    ulna_rotate(R, point, moved);
    ulna_accumulate3(at, moved);
    if (s->base == ULNA_NONE) {
        ulna_copy3(moved, position);
        ulna_copy9(R, rotation);
        return;
    }
    assert_int_equal(ulna_pose_body(s->pose, s->base, b, B), ULNA_OK);
    double way[3], inverse[9];
    ulna_subtract3(moved, b, way);
    ulna_unrotate(B, way, position);
    ulna_transpose9(B, inverse);
    ulna_multiply9(inverse, R, rotation);
}

ulna_serial_goal ulna_test_serial_goal_at(ulna_test_serial *s, const double *q)
{
    static const double origin[3];
    double position[3], rotation[9];
    ulna_test_serial_place(s, q, origin, position, rotation);
    return ulna_serial_goal_pose(position, rotation);
}

void ulna_test_serial_errors(ulna_test_serial *s, const ulna_serial_goal *goal, const double *q, double *position,
                             double *rotation)
{
    double at[3], R[9], T[9], difference[9];
    ulna_test_serial_place(s, q, goal->point, at, R);
    *position = goal->aim == ULNA_SERIAL_ORIENTATION ? 0 : sqrt(ulna_squared_distance(at, goal->position, 3));
    if (goal->aim == ULNA_SERIAL_SPIN) {
        double a[3], b[3], c[3];
        ulna_rotate(R, goal->axis, a);
        ulna_rotate(goal->rotation, goal->axis, b);
        ulna_cross(a, b, c);
        *rotation = atan2(ulna_norm(c), ulna_dot(a, b));
        return;
    }
    ulna_transpose9(goal->rotation, T);
    ulna_multiply9(T, R, difference);
    const double w[3] = {difference[7] - difference[5], difference[2] - difference[6], difference[3] - difference[1]};
    *rotation =
        goal->aim == ULNA_SERIAL_POSITION ? 0 : atan2(ulna_norm(w), difference[0] + difference[4] + difference[8] - 1);
}

/* Joints that follow others go where these are. */
static void follow(const ulna_test_serial *s, double *q)
{
    double all[32] = {0};
    for (int i = 0; i < s->n; i++)
        all[ulna_serial_coordinates(s->chain)[i]] = q[i];
    ulna_model_couple(s->model, all);
    for (int i = 0; i < s->n; i++)
        q[i] = all[ulna_serial_coordinates(s->chain)[i]];
}

void ulna_test_serial_q(const ulna_test_serial *s, ulna_test_rng *rng, double *q)
{
    for (int i = 0; i < s->n; i++)
        q[i] = ulna_test_rng_uniform(rng, ulna_serial_lower(s->chain)[i], ulna_serial_upper(s->chain)[i]);
    follow(s, q);
}

void ulna_test_serial_near(const ulna_test_serial *s, ulna_test_rng *rng, const double *q, double *seed)
{
    for (int i = 0; i < s->n; i++)
        seed[i] = fmin(fmax(q[i] + 0.1 * ulna_test_rng_normal(rng), ulna_serial_lower(s->chain)[i]),
                       ulna_serial_upper(s->chain)[i]);
    follow(s, seed);
}

void ulna_test_serial_assert_solution(ulna_test_serial *s, const ulna_serial_goal *goal, const double *q)
{
    double position, rotation;
    ulna_test_serial_errors(s, goal, q, &position, &rotation);
    if (!(position <= goal->position_tolerance && rotation <= goal->rotation_tolerance))
        fail_msg("reached, but %g m and %g rad away", position, rotation);
    for (int i = 0; i < s->n; i++)
        assert_true(q[i] >= ulna_serial_lower(s->chain)[i] && q[i] <= ulna_serial_upper(s->chain)[i]);
}

ulna_serial_goal ulna_test_serial_goal(ulna_test_serial *s, ulna_test_rng *rng, ulna_serial_aim aim, const double *q)
{
    ulna_serial_goal goal = ulna_test_serial_goal_at(s, q);
    goal.aim = aim;
    if (aim != ULNA_SERIAL_POSE) {
        double position[3];
        ulna_test_rng_fill(rng, goal.point, 3, -0.2, 0.2);
        ulna_test_rng_fill(rng, goal.axis, 3, -1, 1);
        const double length = ulna_norm(goal.axis);
        for (int r = 0; r < 3; r++)
            goal.axis[r] /= length;
        ulna_test_serial_place(s, q, goal.point, position, goal.rotation);
        ulna_copy3(position, goal.position);
    }
    return goal;
}
