#include "support_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_model.h"
#include "support_problem.h"
#include "ulna/sample.h"

static const char *const names[ULNA_TASK_COUNT] = {
    [ULNA_TASK_ARM_REACH] = "arm-reach",     [ULNA_TASK_HUMAN_WARM] = "human-warm",
    [ULNA_TASK_HUMAN_COLD] = "human-cold",   [ULNA_TASK_HAND] = "hand",
    [ULNA_TASK_CONFLICT] = "conflict",       [ULNA_TASK_UNREACHABLE] = "unreachable",
    [ULNA_TASK_AT_LIMIT] = "at-limit",       [ULNA_TASK_STRAIGHT] = "straight",
    [ULNA_TASK_REDUNDANT] = "redundant-30",  [ULNA_TASK_ROPE] = "rope-1000",
    [ULNA_TASK_ORIENTATION] = "orientation", [ULNA_TASK_PRISMATIC] = "prismatic",
    [ULNA_TASK_MOVING_ROOT] = "moving-root",
};

const char *ulna_test_task_name(ulna_test_task_id id)
{
    return names[id];
}

static void ok(ulna_status status)
{
    assert_int_equal(status, ULNA_OK);
}

/* ---- skeletons ------------------------------------------------------------------------------------------------ */

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    ok(ulna_sample_create(name, NULL, &model, NULL));
    return model;
}

/* `count` hinges in a row along x, `length` metres in all; the axes are z, or z and y in turns. */
static ulna_model *chain(int count, double length, int spatial, double limit)
{
    ulna_builder *builder = ulna_test_builder();
    const double bone[3] = {length / count, 0, 0};
    for (int i = 0; i < count; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        int body = ulna_test_add(builder, name, i - 1);
        int about_y = spatial && i % 2;
        ulna_test_set_joint(builder, body, ulna_joint_revolute(0, about_y, !about_y));
        if (i > 0)
            ok(ulna_builder_set_placement(builder, body, bone, NULL, NULL));
        if (limit > 0)
            ok(ulna_builder_set_limits(builder, body, 0, -limit, limit, NULL));
    }
    ok(ulna_builder_add_marker(builder, "tip", count - 1, bone, 1, NULL, NULL));
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

static ulna_model *gantry(void)
{
    ulna_builder *builder = ulna_test_builder();
    const double reach[3] = {0.1, 0, -0.2};
    const ulna_joint joints[] = {ulna_joint_prismatic(1, 0, 0), ulna_joint_prismatic(0, 1, 0),
                                 ulna_joint_prismatic(0, 0, 1), ulna_joint_revolute(0, 0, 1),
                                 ulna_joint_revolute(0, 1, 0)};
    for (int i = 0; i < 5; i++) {
        char name[16];
        snprintf(name, sizeof name, "g%d", i);
        int body = ulna_test_add(builder, name, i - 1);
        ulna_test_set_joint(builder, body, joints[i]);
        if (i < 3)
            ok(ulna_builder_set_limits(builder, body, 0, -1, 1, NULL));
    }
    ok(ulna_builder_add_marker(builder, "tool", 4, reach, 1, NULL, NULL));
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

static ulna_model *kite(void)
{
    ulna_builder *builder = ulna_test_builder();
    const double tail[3] = {0, -0.4, 0}, corners[3][3] = {{0.3, 0, 0}, {-0.3, 0, 0}, {0, 0.2, 0.1}};
    int root = ulna_test_add(builder, "kite", ULNA_NONE);
    ulna_test_set_joint(builder, root, ulna_joint_free());
    for (int k = 0; k < 3; k++) {
        char name[16];
        snprintf(name, sizeof name, "c%d", k);
        ok(ulna_builder_add_marker(builder, name, root, corners[k], 1, NULL, NULL));
    }
    for (int i = 0, parent = root; i < 3; i++) {
        char name[16];
        snprintf(name, sizeof name, "t%d", i);
        parent = ulna_test_add(builder, name, parent);
        ulna_test_set_joint(builder, parent, i ? ulna_joint_euler("ZX") : ulna_joint_ball());
        ok(ulna_builder_set_placement(builder, parent, tail, NULL, NULL));
        ok(ulna_builder_add_marker(builder, name, parent, tail, 1, NULL, NULL));
    }
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

/* ---- goals ------------------------------------------------------------------------------------------------------ */

/* A pose near rest, inside the limits: turns of `spread` radians, slides of `shift` metres. */
static double *pose_near_rest(const ulna_model *model, uint64_t seed, double spread, double shift)
{
    int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    double *step = calloc((size_t)nv, sizeof *step), *q = calloc((size_t)nq, sizeof *q);
    for (int j = 0; j < nv; j++)
        step[j] = (ulna_model_dof_is_translation(model, j) ? shift : spread) * ulna_test_rng_normal(&rng);
    ulna_model_integrate(model, ulna_model_rest(model), step, q);
    for (int j = 0; j < nv; j++) { /* well inside: answers on a limit are a task of their own */
        int c = ulna_model_dof_coordinate(model, j);
        double low = ulna_model_lower(model)[j], high = ulna_model_upper(model)[j], margin = 0.05 * (high - low);
        if (c >= 0 && isfinite(margin))
            q[c] = fmin(fmax(q[c], low + margin), high - margin);
    }
    free(step);
    return q;
}

/* Every marker where the pose puts it. */
static void aim_at(ulna_test_task *task, const double *q)
{
    ulna_pose *pose;
    int first, count = ulna_model_marker_count(task->model);
    ok(ulna_problem_add_markers(task->problem, &first, NULL));
    ok(ulna_pose_create(task->model, NULL, &pose, NULL));
    ok(ulna_pose_forward(pose, q));
    for (int m = 0; m < count; m++) {
        double local[3], goal[3];
        ok(ulna_model_marker_position(task->model, m, local));
        ok(ulna_pose_point(pose, ulna_model_marker_body(task->model, m), local, goal));
        ok(ulna_problem_set_goal(task->problem, first + m, goal));
    }
    ulna_pose_destroy(pose);
}

static double *copy_rest(const ulna_model *model)
{
    size_t bytes = (size_t)ulna_model_coordinate_count(model) * sizeof(double);
    return memcpy(malloc(bytes), ulna_model_rest(model), bytes);
}

static void tip_to(ulna_test_task *task, double x, double y, double z)
{
    const double goal[3] = {x, y, z};
    double point[3];
    ok(ulna_model_marker_position(task->model, 0, point));
    ok(ulna_problem_add_point(task->problem, ulna_model_marker_body(task->model, 0), point, goal, 1, NULL, NULL));
}

/* ---- tasks ------------------------------------------------------------------------------------------------------ */

static void begin(ulna_test_task *task, ulna_model *model)
{
    task->model = model;
    task->start = copy_rest(model);
    ok(ulna_problem_create(model, NULL, &task->problem, NULL));
}

static void make_human(ulna_test_task *task, int warm)
{
    begin(task, sample("human"));
    double *target = pose_near_rest(task->model, 11, 0.3, 0.3);
    aim_at(task, target);
    if (warm) {
        ulna_test_rng rng = ulna_test_rng_seed(12);
        int nv = ulna_model_dof_count(task->model);
        double *step = calloc((size_t)nv, sizeof *step);
        for (int j = 0; j < nv; j++)
            step[j] = (ulna_model_dof_is_translation(task->model, j) ? 0.02 : 0.05) * ulna_test_rng_normal(&rng);
        ulna_model_integrate(task->model, target, step, task->start);
        ulna_model_clamp(task->model, task->start);
        free(step);
    }
    free(target);
}

static void make_orientation(ulna_test_task *task)
{
    begin(task, sample("arm"));
    double *target = pose_near_rest(task->model, 5, 0.4, 0), rotation[9];
    int body = ulna_model_marker_body(task->model, 0);
    ulna_pose *pose;
    aim_at(task, target);
    ok(ulna_pose_create(task->model, NULL, &pose, NULL));
    ok(ulna_pose_forward(pose, target));
    ok(ulna_pose_body(pose, body, NULL, rotation));
    ok(ulna_problem_add_orientation(task->problem, body, rotation, 0.1, NULL, NULL));
    ulna_pose_destroy(pose);
    free(target);
}

/* A rudder: a hinge that carries two arms, rigidly; each has a hinged flap at its end, which nothing sees. The goals are the
 * ends turned by 0.3 rad, one to either side: straight is best, and f = 2 x 1/2 (2 r sin 0.15)^2, r^2 = 1.25. */
static ulna_model *rudder(void)
{
    ulna_builder *builder = ulna_test_builder();
    const double left[3] = {1, 0.5, 0}, right[3] = {1, -0.5, 0}, flap[3] = {0.1, 0, 0}, here[3] = {0, 0, 0};
    int root = ulna_test_add(builder, "rudder", ULNA_NONE), arm[2];
    ulna_test_set_joint(builder, root, ulna_joint_revolute(0, 0, 1));
    for (int side = 0; side < 2; side++) {
        arm[side] = ulna_test_add(builder, side ? "right" : "left", root);
        ok(ulna_builder_set_placement(builder, arm[side], side ? right : left, NULL, NULL));
        ok(ulna_builder_add_marker(builder, side ? "r" : "l", arm[side], here, 1, NULL, NULL));
        int end = ulna_test_add(builder, side ? "right_flap" : "left_flap", arm[side]);
        ok(ulna_builder_set_placement(builder, end, flap, NULL, NULL));
        ulna_test_set_joint(builder, end, ulna_joint_revolute(0, 0, 1));
    }
    ulna_model *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

static void make_conflict(ulna_test_task *task)
{
    begin(task, rudder());
    for (int side = 0; side < 2; side++) {
        double angle = side ? -0.3 : 0.3, y = side ? -0.5 : 0.5;
        const double goal[3] = {cos(angle) - y * sin(angle), sin(angle) + y * cos(angle), 0}, here[3] = {0, 0, 0};
        int body = ulna_model_find_body(task->model, side ? "right" : "left");
        ok(ulna_problem_add_point(task->problem, body, here, goal, 1, NULL, NULL));
    }
    task->start[0] = 0.4;
    task->best = 4 * 1.25 * sin(0.15) * sin(0.15);
}

/* Two unit bones, the elbow kept within 0.5 rad. The tip is nearest to a place inside the annulus that this leaves free
 * with the elbow on its limit: distance 2 cos(0.25) from the shoulder. */
static void make_at_limit(ulna_test_task *task)
{
    begin(task, chain(2, 2, 0, 0.5));
    double reach = 2 * cos(0.25), near = 1.5;
    double angle = 0.1;
    tip_to(task, near * cos(angle), near * sin(angle), 0);
    task->start[0] = 0.05;
    task->start[1] = 0.1;
    task->best = 0.5 * (reach - near) * (reach - near);
}

ulna_test_task ulna_test_task_make(ulna_test_task_id id)
{
    ulna_test_task task = {.name = names[id]};
    double *target = NULL;
    switch (id) {
    case ULNA_TASK_ARM_REACH:
        begin(&task, sample("arm"));
        aim_at(&task, target = pose_near_rest(task.model, 3, 0.5, 0));
        break;
    case ULNA_TASK_HUMAN_WARM:
    case ULNA_TASK_HUMAN_COLD:
        make_human(&task, id == ULNA_TASK_HUMAN_WARM);
        break;
    case ULNA_TASK_HAND:
        begin(&task, sample("hand"));
        aim_at(&task, target = pose_near_rest(task.model, 4, 0.3, 0.05));
        break;
    case ULNA_TASK_CONFLICT:
        make_conflict(&task);
        break;
    case ULNA_TASK_UNREACHABLE:
        begin(&task, chain(5, 1, 0, 0));
        tip_to(&task, 0.9, 1.2, 0); /* 1.5 m away */
        for (int j = 0; j < 5; j++)
            task.start[j] = 0.2;
        task.best = 0.5 * 0.5 * 0.5;
        break;
    case ULNA_TASK_AT_LIMIT:
        make_at_limit(&task);
        break;
    case ULNA_TASK_STRAIGHT:
        begin(&task, chain(3, 1.5, 0, 0));
        tip_to(&task, 1, 0, 0);
        break;
    case ULNA_TASK_REDUNDANT:
        begin(&task, chain(30, 3, 1, 1));
        tip_to(&task, 1.2, 0.9, 0.8);
        for (int j = 0; j < 30; j++)
            task.start[j] = j % 3 ? 0.02 : -0.03;
        break;
    case ULNA_TASK_ROPE:
        begin(&task, chain(1000, 5, 1, 0));
        tip_to(&task, 2, 1.5, 1);
        for (int j = 0; j < 1000; j++)
            task.start[j] = j % 4 < 2 ? 0.002 : 0.001;
        break;
    case ULNA_TASK_ORIENTATION:
        make_orientation(&task);
        break;
    case ULNA_TASK_PRISMATIC:
        begin(&task, gantry());
        tip_to(&task, 0.6, -0.5, 0.3);
        break;
    default:
        begin(&task, kite());
        aim_at(&task, target = pose_near_rest(task.model, 8, 0.8, 2));
        break;
    }
    ok(ulna_problem_ready(task.problem, NULL));
    free(target);
    return task;
}

void ulna_test_task_release(ulna_test_task *task)
{
    ulna_problem_destroy(task->problem);
    ulna_model_destroy(task->model);
    free(task->start);
}

/* ---- truth ------------------------------------------------------------------------------------------------------- */

static void check_limits(const ulna_test_task *task, const ulna_options *options, const double *q,
                         const ulna_result *result, int keeps)
{
    double violation = 0;
    for (int j = 0; j < ulna_model_dof_count(task->model); j++) {
        int c = ulna_model_dof_coordinate(task->model, j);
        if (c < 0)
            continue;
        double low = (options->lower ? options->lower : ulna_model_lower(task->model))[j];
        double high = (options->upper ? options->upper : ulna_model_upper(task->model))[j];
        violation = fmax(violation, fmax(low - q[c], q[c] - high));
    }
    if (keeps && violation > 0)
        fail_msg("%s, %s: outside the limits by %g", options->method, task->name, violation);
    if (fabs(result->violation - violation) > 0)
        fail_msg("%s, %s: violation %g, but says %g", options->method, task->name, violation, result->violation);
}

void ulna_test_check_result(const ulna_test_task *task, const ulna_options *options, const double *q,
                            const ulna_result *result)
{
    const ulna_method_info *method = ulna_method_find(options->method);
    int nv = ulna_model_dof_count(task->model);
    int keeps = options->bounded && (method->flags & ULNA_METHOD_BOUNDED);
    double f, *gradient = calloc((size_t)nv, sizeof *gradient), projected = 0;
    double length = ulna_model_length_scale(task->model);
    ulna_work *work;
    ok(ulna_work_create(task->problem, NULL, &work, NULL));
    ok(ulna_work_evaluate(work, q, &f));
    ok(ulna_work_gradient(work, gradient));
    if (!result->predicted && fabs(f - result->f) > 1e-12 * f + 1e-28)
        fail_msg("%s, %s: f is %.17g, but says %.17g", options->method, task->name, f, result->f);
    if (strcmp(options->method, "penalty") != 0 && result->f > result->first_f)
        fail_msg("%s, %s: worse than the start", options->method, task->name);
    check_limits(task, options, q, result, keeps);

    for (int j = 0; j < nv; j++) {
        int c = ulna_model_dof_coordinate(task->model, j);
        double low = ulna_model_lower(task->model)[j], high = ulna_model_upper(task->model)[j];
        int barred = keeps && c >= 0 && ((q[c] <= low && gradient[j] > 0) || (q[c] >= high && gradient[j] < 0));
        double unit = ulna_model_dof_is_translation(task->model, j) ? length : 1;
        if (!barred)
            projected = fmax(projected, fabs(gradient[j]) * unit);
    }
    if (!result->predicted && fabs(projected - result->gradient) > 1e-9 * projected + 1e-16)
        fail_msg("%s, %s: gradient %g, but says %g", options->method, task->name, projected, result->gradient);
    double objective = options->objective < 0 ? -options->objective * length * length : options->objective;
    if (result->stop == ULNA_STOP_OBJECTIVE)
        assert_true(strcmp(options->method, "penalty") == 0 || result->f <= objective);
    if (result->stop == ULNA_STOP_GRADIENT && strcmp(options->method, "penalty") != 0)
        assert_true(projected <= options->gradient * length * length * 1.0001);
    int is_end = result->stop >= ULNA_STOP_OBJECTIVE && result->stop <= ULNA_STOP_STEP;
    assert_int_equal(result->converged, is_end);
    assert_true(result->stop > ULNA_STOP_NONE && result->stop < ULNA_STOP_COUNT);
    ulna_work_destroy(work);
    free(gradient);
}

double *ulna_test_copy(const double *values, int count)
{
    return memcpy(ulna_test_numbers(count), values, (size_t)count * sizeof *values);
}

ulna_solver *ulna_test_solver(const ulna_problem *problem, const ulna_options *options)
{
    ulna_solver *solver;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_solver_create(problem, options, NULL, &solver, &error) != ULNA_OK)
        fail_msg("no solver: %s", error.message);
    return solver;
}

ulna_result ulna_test_solve(const ulna_test_task *task, const ulna_options *options)
{
    double *q = ulna_test_copy(task->start, ulna_model_coordinate_count(task->model));
    ulna_result result;
    ulna_solver *solver = ulna_test_solver(task->problem, options);
    assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
    ulna_options named = *options;
    if (!named.method)
        named.method = "hybrid";
    ulna_test_check_result(task, &named, q, &result);
    ulna_solver_destroy(solver);
    free(q);
    return result;
}
