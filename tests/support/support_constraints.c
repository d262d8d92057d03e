/* Problems with constraints: see the header. */
#include "support_constraints.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/algorithms.h"
#include "ulna/sample.h"

#define PI 3.14159265358979323846

void ulna_scene_end(ulna_status status, const char *what)
{
    fprintf(stderr, "scene: %s: %s\n", what, ulna_status_text(status));
    exit(1);
}

static void *expect_memory(void *memory)
{
    ulna_scene_expect(memory ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    return memory;
}

/* ---- making and releasing ---------------------------------------------------------------------------------------- */

static double *numbers(int count)
{
    return expect_memory(calloc((size_t)count + 1, sizeof(double)));
}

static ulna_scene scene_of(ulna_model *model)
{
    ulna_scene scene = {.model = model,
                        .nv = ulna_model_dof_count(model),
                        .nq = ulna_model_coordinate_count(model),
                        .posture = ULNA_NONE};
    scene.start = numbers(scene.nq);
    memcpy(scene.start, ulna_model_rest(model), (size_t)scene.nq * sizeof *scene.start);
    ulna_scene_expect(ulna_problem_create(model, NULL, &scene.problem, NULL), "problem");
    ulna_scene_expect(ulna_problem_set_length(scene.problem, 1), "length");
    return scene;
}

static ulna_scene human(void)
{
    ulna_model *model;
    ulna_scene_expect(ulna_sample_create("human", NULL, &model, NULL), "sample");
    return scene_of(model);
}

static void ready(ulna_scene *scene)
{
    ulna_scene_expect(ulna_problem_ready(scene->problem, NULL), "ready");
}

void ulna_scene_release(ulna_scene *scene)
{
    ulna_problem_destroy(scene->problem);
    ulna_model_destroy(scene->model);
    free(scene->start);
    free(scene->goals);
    *scene = (ulna_scene){0};
}

ulna_solver *ulna_scene_solver(const ulna_scene *scene, const ulna_options *options)
{
    ulna_solver *solver;
    ulna_error error;
    ulna_error_clear(&error);
    ulna_status status = ulna_solver_create(scene->problem, options, NULL, &solver, &error);
    ulna_scene_expect(status, error.message);
    return solver;
}

static int body_of(const ulna_scene *scene, const char *name)
{
    int body = ulna_model_find_body(scene->model, name);
    ulna_scene_expect(body == ULNA_NONE ? ULNA_ERR_ARGUMENT : ULNA_OK, name);
    return body;
}

/* Coordinate k of the joint of a body. */
static double *coordinate(const ulna_scene *scene, double *q, const char *name, int k)
{
    int first;
    ulna_model_body_coordinates(scene->model, body_of(scene, name), &first);
    return q + first + k;
}

static int keep(ulna_scene *scene, const ulna_constraint *constraint)
{
    int number;
    ulna_error error;
    ulna_error_clear(&error);
    ulna_scene_expect(ulna_problem_add_constraint(scene->problem, constraint, &number, &error), error.message);
    return number;
}

/* The root's translation is free. */
static void add_posture(ulna_scene *scene, double weight)
{
    double *factors = numbers(scene->nv);
    for (int d = 0; d < scene->nv; d++)
        factors[d] = !ulna_model_dof_is_translation(scene->model, d);
    ulna_scene_expect(ulna_problem_add_posture(scene->problem, NULL, factors, weight, &scene->posture, NULL),
                      "posture");
    free(factors);
}

static void add_point(ulna_scene *scene, const char *marker, double x, double y, double z)
{
    double at[3];
    const double goal[3] = {x, y, z};
    int term, m = ulna_model_find_marker(scene->model, marker);
    ulna_scene_expect(ulna_model_marker_position(scene->model, m, at), marker);
    ulna_scene_expect(
        ulna_problem_add_point(scene->problem, ulna_model_marker_body(scene->model, m), at, goal, 1, &term, NULL),
        marker);
    if (scene->point_count++ == 0)
        scene->first_point = term;
}

static void add_markers(ulna_scene *scene)
{
    ulna_scene_expect(ulna_problem_add_markers(scene->problem, &scene->first_point, NULL), "markers");
    scene->point_count = ulna_model_marker_count(scene->model);
}

/* ---- poses and places -------------------------------------------------------------------------------------------- */

static ulna_pose *posed(const ulna_scene *scene, const double *q)
{
    ulna_pose *pose;
    ulna_scene_expect(ulna_pose_create(scene->model, NULL, &pose, NULL), "pose");
    ulna_scene_expect(ulna_pose_forward(pose, q), "forward");
    return pose;
}

/* Squat and arms at a time; hips stay above the ankles, so that the feet stand still. */
static void motion(const ulna_scene *scene, double t, double *q)
{
    static const char *const sides[2] = {"left", "right"};
    const double thigh = 0.42, shank = 0.4113, s = 0.5 - 0.5 * cos(2 * PI * 0.4 * t), a = 0.5 * s;
    const double b = asin(thigh * sin(a) / shank);
    char name[32];
    memcpy(q, ulna_model_rest(scene->model), (size_t)scene->nq * sizeof *q);
    for (int i = 0; i < 2; i++) {
        const double sign = i ? 1 : -1;
        const double arm[2] = {i ? 0.5 * sin(2 * PI * 0.45 * t + 1) : -0.6 * sin(2 * PI * 0.5 * t),
                               0.5 * sin(2 * PI * (i ? 0.55 : 0.6) * t)};
        snprintf(name, sizeof name, "%s_thigh", sides[i]);
        *coordinate(scene, q, name, 0) = -a;
        snprintf(name, sizeof name, "%s_shank", sides[i]);
        *coordinate(scene, q, name, 0) = a + b;
        snprintf(name, sizeof name, "%s_foot", sides[i]);
        *coordinate(scene, q, name, 0) = -b;
        snprintf(name, sizeof name, "%s_upper_arm", sides[i]);
        *coordinate(scene, q, name, 0) = sign * (0.9 + arm[0]);
        *coordinate(scene, q, name, 1) = sign * (0.6 + 0.5 * sin(2 * PI * 0.35 * t));
        snprintf(name, sizeof name, "%s_forearm", sides[i]);
        *coordinate(scene, q, name, 0) = sign * (0.8 + arm[1]);
        snprintf(name, sizeof name, "%s_hand", sides[i]);
        *coordinate(scene, q, name, 0) = 0.2 * sin(2 * PI * (i ? 0.8 : 0.9) * t);
    }
    q[1] += thigh * (cos(a) - 1) + shank * (cos(b) - 1);
    *coordinate(scene, q, "lower_spine", 0) = 0.25 * s;
    *coordinate(scene, q, "middle_spine", 0) = 0.2 * s;
    *coordinate(scene, q, "upper_spine", 2) = 0.2 * sin(2 * PI * 0.3 * t);
    *coordinate(scene, q, "head", 0) = -0.2 * s;
    *coordinate(scene, q, "neck", 2) = 0.3 * sin(2 * PI * 0.25 * t);
}

/* Places of the markers at q, each moved in its body's frame by its skin's part (3 each, may be NULL), with noise. */
static void marker_places(const ulna_scene *scene, const double *q, const double *skin, double noise, uint64_t *random,
                          double *places)
{
    ulna_pose *pose = posed(scene, q);
    for (int m = 0; m < ulna_model_marker_count(scene->model); m++) {
        double at[3];
        ulna_scene_expect(ulna_model_marker_position(scene->model, m, at), "marker");
        for (int i = 0; skin && i < 3; i++)
            at[i] += skin[3 * m + i];
        ulna_scene_expect(ulna_pose_point(pose, ulna_model_marker_body(scene->model, m), at, places + 3 * (size_t)m),
                          "point");
        for (int i = 0; noise > 0 && i < 3; i++)
            places[3 * m + i] += noise * ulna_random_normal(random);
    }
    ulna_pose_destroy(pose);
}

static void pull_markers_to(ulna_scene *scene, const double *q, double noise, uint64_t *random)
{
    double *places = numbers(3 * scene->point_count);
    marker_places(scene, q, NULL, noise, random, places);
    ulna_scene_expect(ulna_problem_set_points(scene->problem, scene->first_point, scene->point_count, places), "goals");
    free(places);
}

/* Moves the joints after the root, within their limits. */
static void shake(const ulna_scene *scene, double size, uint64_t *random, double *q)
{
    for (int k = 6; k < scene->nq; k++)
        q[k] += size * ulna_random_normal(random);
    ulna_model_clamp(scene->model, q);
}

/* ---- feet -------------------------------------------------------------------------------------------------------- */

static const double sole[3] = {0, -0.0525, 0.03};

static ulna_constraint frame_pin(const ulna_scene *scene, const double *q, const char *name, const double point[3])
{
    ulna_constraint pin = {.type = ULNA_KEEP_FRAME, .body = body_of(scene, name)};
    ulna_pose *pose = posed(scene, q);
    memcpy(pin.point, point, sizeof pin.point);
    ulna_scene_expect(ulna_pose_body(pose, pin.body, pin.goal, pin.goal + 3), "body");
    ulna_scene_expect(ulna_pose_point(pose, pin.body, point, pin.goal), "point");
    ulna_pose_destroy(pose);
    return pin;
}

static ulna_constraint foot(const ulna_scene *scene, int side)
{
    return frame_pin(scene, ulna_model_rest(scene->model), side ? "right_foot" : "left_foot", sole);
}

static void plant(ulna_scene *scene)
{
    for (int side = 0; side < 2; side++) {
        const ulna_constraint pin = foot(scene, side);
        keep(scene, &pin);
    }
}

static void support(ulna_scene *scene)
{
    static const double corners[4][3] = {{0.12, 0, 0.18}, {0.12, 0, -0.04}, {-0.12, 0, -0.04}, {-0.12, 0, 0.18}};
    const ulna_constraint over = {
        .type = ULNA_KEEP_SUPPORT, .axis = {0, 1, 0}, .corner_count = 4, .corners = &corners[0][0]};
    keep(scene, &over);
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

ulna_scene ulna_scene_four_bar(void)
{
    static const struct {
        const char *name;
        int parent;
        double x;
    } bars[] = {{"ground", ULNA_NONE, 0}, {"crank", 0, 0}, {"coupler", 1, 1}, {"rocker", 0, 3.5}};
    ulna_builder *builder;
    ulna_model *model;
    ulna_scene_expect(ulna_builder_create(NULL, &builder), "builder");
    for (int b = 0; b < 4; b++) {
        const double at[3] = {bars[b].x, 0, 0};
        const ulna_joint joint = b ? ulna_joint_revolute(0, 0, 1) : ulna_joint_fixed();
        ulna_scene_expect(ulna_builder_add_body(builder, bars[b].name, bars[b].parent, NULL, NULL), bars[b].name);
        ulna_scene_expect(ulna_builder_set_placement(builder, b, at, NULL, NULL), bars[b].name);
        ulna_scene_expect(ulna_builder_set_joint(builder, b, &joint, NULL), bars[b].name);
    }
    ulna_scene_expect(ulna_builder_build(builder, NULL, &model, NULL), "four bars");
    ulna_builder_destroy(builder);
    ulna_scene scene = scene_of(model);
    const ulna_constraint loop = {.type = ULNA_KEEP_TOGETHER,
                                  .body = body_of(&scene, "coupler"),
                                  .other = body_of(&scene, "rocker"),
                                  .point = {3, 0, 0},
                                  .other_point = {3, 0, 0}};
    add_posture(&scene, 1e-3);
    keep(&scene, &loop);
    ready(&scene);
    scene.start[1] = 1;
    scene.start[2] = 1.5;
    return scene;
}

ulna_scene ulna_scene_reach(void)
{
    ulna_scene scene = human();
    add_point(&scene, "LFIN", 0.15, 0.02, 0.35);
    add_point(&scene, "RFIN", -0.15, 0.02, 0.35);
    add_posture(&scene, 1e-4);
    plant(&scene);
    support(&scene);
    ready(&scene);
    return scene;
}

void ulna_scene_move_reach(ulna_scene *scene, int frame)
{
    for (int i = 0; i < scene->point_count; i++) {
        double goal[3];
        ulna_scene_expect(ulna_problem_goal(scene->problem, scene->first_point + i, goal), "goal");
        goal[0] += 0.003 * cos(0.1 * frame);
        goal[1] += 0.002 * sin(0.13 * frame);
        goal[2] += 0.003 * sin(0.1 * frame);
        ulna_scene_expect(ulna_problem_set_goal(scene->problem, scene->first_point + i, goal), "goal");
    }
}

ulna_scene ulna_scene_wall(void)
{
    static const struct {
        const char *name;
        double at[3];
    } kept[] = {{"left_hand", {0.08, 0, 0}},
                {"left_fingers", {0.08, 0, 0}},
                {"left_forearm", {0.08, 0, 0}},
                {"head", {0, 0.1, 0.1}},
                {"right_hand", {-0.08, 0, 0}}};
    ulna_scene scene = human();
    add_point(&scene, "LFIN", 0.1, 1.2, 0.6);
    add_posture(&scene, 1e-4);
    plant(&scene);
    support(&scene);
    for (int i = 0; i < 5; i++) {
        ulna_constraint wall = {.type = ULNA_KEEP_PLANE,
                                .relation = ULNA_AT_LEAST,
                                .body = body_of(&scene, kept[i].name),
                                .goal = {0, 0, 0.35, 0, 0, -1}};
        memcpy(wall.point, kept[i].at, sizeof wall.point);
        keep(&scene, &wall);
    }
    ready(&scene);
    return scene;
}

ulna_scene ulna_scene_bar(void)
{
    uint64_t random = 3;
    ulna_scene scene = human();
    double *q = numbers(scene.nq);
    const ulna_constraint bar = {.type = ULNA_KEEP_DISTANCE,
                                 .body = body_of(&scene, "left_hand"),
                                 .other = body_of(&scene, "right_hand"),
                                 .point = {0.08, 0, 0},
                                 .other_point = {-0.08, 0, 0},
                                 .goal = {0.45}};
    add_markers(&scene);
    add_posture(&scene, 1e-6);
    keep(&scene, &bar);
    ready(&scene);
    motion(&scene, 0.3, q);
    pull_markers_to(&scene, q, 0.005, &random);
    free(q);
    return scene;
}

static uint64_t seed_of(int family, int seed)
{
    return (uint64_t)family * 1000003u + (uint64_t)seed;
}

/* The pose of `body` relative to `other` at q, as the goal of a relative constraint. */
static void take_relative(const ulna_scene *scene, const double *q, ulna_constraint *relative)
{
    double place[3], there[3], ra[9], rb[9];
    ulna_pose *pose = posed(scene, q);
    ulna_scene_expect(ulna_pose_body(pose, relative->body, place, ra), "body");
    ulna_scene_expect(ulna_pose_point(pose, relative->body, relative->point, place), "point");
    ulna_scene_expect(ulna_pose_body(pose, relative->other, there, rb), "body");
    ulna_pose_destroy(pose);
    memset(relative->goal, 0, sizeof relative->goal);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            relative->goal[i] += rb[3 * k + i] * (place[k] - there[k]);
            for (int j = 0; j < 3; j++)
                relative->goal[3 + 3 * i + j] += rb[3 * k + i] * ra[3 * k + j];
        }
}

ulna_scene ulna_scene_hands(int seed)
{
    uint64_t random = seed_of(11, seed);
    ulna_scene scene = human();
    double *q = numbers(scene.nq);
    ulna_constraint relative = {.type = ULNA_KEEP_RELATIVE,
                                .body = body_of(&scene, "left_hand"),
                                .other = body_of(&scene, "right_hand"),
                                .point = {0.08, 0, 0}};
    motion(&scene, 0.07 * seed, q);
    shake(&scene, 0.25, &random, q);
    take_relative(&scene, q, &relative);
    add_markers(&scene);
    add_posture(&scene, 1e-6);
    keep(&scene, &relative);
    ready(&scene);
    motion(&scene, 0.07 * seed + 0.5, q);
    pull_markers_to(&scene, q, 0.005, &random);
    shake(&scene, 0.2, &random, scene.start);
    free(q);
    return scene;
}

ulna_scene ulna_scene_turned(int seed)
{
    static const double palm[3] = {0.08, 0, 0};
    uint64_t random = seed_of(21, seed);
    ulna_scene scene = human();
    double *q = numbers(scene.nq);
    const double *lower = ulna_model_lower(scene.model), *upper = ulna_model_upper(scene.model);
    memcpy(q, scene.start, (size_t)scene.nq * sizeof *q);
    for (int d = 6; d < scene.nv; d++)
        q[d] = lower[d] + (upper[d] - lower[d]) * ulna_random_uniform(&random);
    const ulna_constraint pin = frame_pin(&scene, q, "left_hand", palm);
    add_posture(&scene, 1e-3);
    keep(&scene, &pin);
    ready(&scene);
    free(q);
    return scene;
}

static const double pin_places[3][3] = {{0.4, 1.2, 0.3}, {0.4, 1.2, 0.3}, {0.6, 1.2, 2.5}};

ulna_scene ulna_scene_pinned(ulna_scene_pins pins)
{
    ulna_scene scene = human();
    ulna_constraint pin = {.type = ULNA_KEEP_POINT, .body = body_of(&scene, "left_hand"), .point = {0.08, 0, 0}};
    memcpy(pin.goal, pin_places[pins], sizeof pin_places[pins]);
    add_posture(&scene, 1e-3);
    plant(&scene);
    keep(&scene, &pin);
    if (pins == ULNA_SCENE_PINS_APART)
        pin.goal[1] += 0.2;
    if (pins != ULNA_SCENE_PIN_OUT_OF_REACH)
        keep(&scene, &pin);
    ready(&scene);
    return scene;
}

ulna_scene ulna_scene_soft_pin(void)
{
    static const double palm[3] = {0.08, 0, 0};
    ulna_scene scene = human();
    for (int side = 0; side < 2; side++) {
        const ulna_constraint pin = foot(&scene, side);
        ulna_scene_expect(ulna_problem_add_point(scene.problem, pin.body, pin.point, pin.goal, 1, NULL, NULL), "foot");
        ulna_scene_expect(ulna_problem_add_orientation(scene.problem, pin.body, pin.goal + 3, 1, NULL, NULL), "foot");
    }
    ulna_scene_expect(ulna_problem_add_point(scene.problem, body_of(&scene, "left_hand"), palm,
                                             pin_places[ULNA_SCENE_PIN_OUT_OF_REACH], 1, NULL, NULL),
                      "hand");
    ready(&scene);
    return scene;
}

/* ---- tracking ---------------------------------------------------------------------------------------------------- */

static void keep_height(ulna_scene *scene, int side)
{
    const ulna_constraint pin = foot(scene, side);
    ulna_constraint height = {.type = ULNA_KEEP_PLANE, .body = pin.body, .goal = {0, pin.goal[1], 0, 0, 1, 0}};
    memcpy(height.point, sole, sizeof height.point);
    keep(scene, &height);
}

static void keep_rows(ulna_scene *scene, int rows)
{
    ulna_constraint left = foot(scene, 0), right = foot(scene, 1);
    if (rows == 1)
        keep_height(scene, 0);
    if (rows == 4) {
        left.type = ULNA_KEEP_POINT;
        keep(scene, &left);
        keep_height(scene, 1);
    }
    if (rows >= 6)
        keep(scene, &left);
    if (rows >= 12)
        keep(scene, &right);
    if (rows == 16)
        support(scene);
}

ulna_scene ulna_scene_track(int rows, int frames)
{
    uint64_t random = 11;
    ulna_scene scene = human();
    add_markers(&scene);
    add_posture(&scene, 1e-6);
    keep_rows(&scene, rows);
    ready(&scene);
    int n = 3 * scene.point_count;
    double *q = numbers(scene.nq), *skin = numbers(n);
    scene.goals = expect_memory(calloc((size_t)n * (size_t)frames, sizeof *scene.goals));
    scene.frame_count = frames;
    for (int i = 0; i < n; i++)
        skin[i] = 0.006 * ulna_random_normal(&random);
    for (int f = 0; f < frames; f++) {
        motion(&scene, f / 120.0, q);
        marker_places(&scene, q, skin, 0.0005, &random, scene.goals + (size_t)n * (size_t)f);
    }
    motion(&scene, 0, scene.start);
    ulna_scene_set_frame(&scene, 0);
    free(q);
    free(skin);
    return scene;
}

void ulna_scene_set_frame(ulna_scene *scene, int frame)
{
    const double *goals = scene->goals + (size_t)(3 * scene->point_count) * (size_t)frame;
    ulna_scene_expect(ulna_problem_set_points(scene->problem, scene->first_point, scene->point_count, goals), "goals");
}

void ulna_scene_set_cold(ulna_scene *scene, int seed)
{
    uint64_t random = seed_of(7, seed);
    motion(scene, 0.025 * seed, scene->start);
    pull_markers_to(scene, scene->start, 0.005, &random);
    memcpy(scene->start, ulna_model_rest(scene->model), (size_t)scene->nq * sizeof *scene->start);
    shake(scene, 0.4, &random, scene->start);
    for (int k = 0; k < 3; k++) {
        scene->start[k] += 0.3 * ulna_random_normal(&random);
        scene->start[3 + k] = 0.5 * ulna_random_normal(&random);
    }
}

ulna_scene ulna_scene_limits(int as_rows)
{
    uint64_t random = 5;
    ulna_scene scene = human();
    const double *lower = ulna_model_lower(scene.model), *upper = ulna_model_upper(scene.model), one = 1;
    double *q = numbers(scene.nq);
    add_markers(&scene);
    add_posture(&scene, 1e-3);
    for (int d = 0; as_rows && d < scene.nv; d++) {
        ulna_constraint limit = {.type = ULNA_KEEP_LINEAR, .dof_count = 1, .dofs = &d, .coefficients = &one};
        if (!isfinite(lower[d]) || !isfinite(upper[d]))
            continue;
        limit.relation = ULNA_AT_LEAST;
        limit.goal[0] = lower[d];
        keep(&scene, &limit);
        limit.relation = ULNA_AT_MOST;
        limit.goal[0] = upper[d];
        keep(&scene, &limit);
    }
    ready(&scene);
    motion(&scene, 0.4, q);
    for (int k = 6; k < scene.nq; k++)
        q[k] += 0.6 * ulna_random_normal(&random);
    *coordinate(&scene, q, "left_shank", 0) = -0.4;
    *coordinate(&scene, q, "right_forearm", 0) = -0.5;
    pull_markers_to(&scene, q, 0.005, &random);
    free(q);
    return scene;
}

/* ---- priorities -------------------------------------------------------------------------------------------------- */

const char *const ulna_scene_level_names[ULNA_SCENE_LEVELS] = {
    "all within reach",       "levels 2, 3 unmet",           "level 1 unmet", "levels 1, 2 unmet",
    "level 1 unmet, look-at", "level 1 in and out of reach", "all unmet",
};

static void aim_at(ulna_scene *scene, ulna_scene_aims *aims, int level, const char *marker, double x, double y,
                   double z)
{
    int i = aims->count++, m = ulna_model_find_marker(scene->model, marker);
    ulna_constraint goal = {
        .type = ULNA_KEEP_POINT, .body = ulna_model_marker_body(scene->model, m), .goal = {x, y, z}, .level = level};
    ulna_scene_expect(ulna_model_marker_position(scene->model, m, goal.point), marker);
    aims->level[i] = level;
    memcpy(aims->goal[i], goal.goal, sizeof aims->goal[i]);
    aims->number[i] = keep(scene, &goal);
}

static void look_along(ulna_scene *scene, ulna_scene_aims *aims, int level, double x, double y, double z)
{
    int i = aims->count++;
    const ulna_constraint goal = {.type = ULNA_KEEP_DIRECTION,
                                  .body = body_of(scene, "head"),
                                  .axis = {0, 0, 1},
                                  .goal = {x, y, z},
                                  .level = level};
    aims->level[i] = level;
    aims->is_direction[i] = 1;
    memcpy(aims->goal[i], goal.goal, sizeof aims->goal[i]);
    aims->number[i] = keep(scene, &goal);
}

ulna_scene ulna_scene_levels(int which, ulna_scene_aims *aims)
{
    static const double left[ULNA_SCENE_LEVELS][3] = {{0.5, 1.3, 0.35}, {0.7, 1.5, 0.9}, {1.3, 1.5, 0.9},
                                                      {1.5, 1.2, 0.6},  {1.7, 1.5, 0.9}, {1.2, 1.5, 0.85},
                                                      {1.5, 1.2, 0.6}};
    static const double right[ULNA_SCENE_LEVELS][3] = {{-0.35, 0.75, 0.45}, {-0.9, 0.9, 0.4}, {-0.35, 0.9, 0.45},
                                                       {-1.5, 1.1, 0.5},    {0, 0, 0},        {-0.35, 0.75, 0.45},
                                                       {-1.5, 1.1, 0.5}};
    const double *l = left[which], *r = right[which];
    ulna_scene scene = human();
    *aims = (ulna_scene_aims){0};
    add_posture(&scene, 1e-2);
    plant(&scene);
    aim_at(&scene, aims, 1, "LFIN", l[0], l[1], l[2]);
    if (which != 4)
        aim_at(&scene, aims, 2, "RFIN", r[0], r[1], r[2]);
    if (which == 4 || which == 5) {
        look_along(&scene, aims, which == 4 ? 2 : 3, -0.6, -0.48, 0.64);
    } else {
        aim_at(&scene, aims, 3, "LFHD", 0.07, 1.62, which == 6 ? -0.6 : 0.05);
        aim_at(&scene, aims, 3, "LBHD", -0.07, 1.62, which == 6 ? -0.5 : 0.15);
    }
    ready(&scene);
    return scene;
}

static void set_aim(ulna_scene *scene, const ulna_scene_aims *aims, int i)
{
    ulna_scene_expect(ulna_problem_set_constraint_goal(scene->problem, aims->number[i], aims->goal[i]), "aim");
}

void ulna_scene_move_levels(ulna_scene *scene, ulna_scene_aims *aims, int which, int frame)
{
    for (int i = 0; i < aims->count; i++) {
        double *goal = aims->goal[i];
        if (aims->is_direction[i] || (which == 5 && i > 0))
            continue;
        if (which == 5) {
            goal[0] += 0.004 * cos(0.05 * frame);
            goal[2] += 0.004 * cos(0.05 * frame);
        } else {
            goal[0] += 0.002 * sin(0.1 * frame + aims->level[i] - 1);
            goal[1] += 0.002 * cos(0.13 * frame);
            goal[2] += 0.002 * sin(0.07 * frame);
        }
        set_aim(scene, aims, i);
    }
}

static double between(uint64_t *random, double low, double high)
{
    return low + (high - low) * ulna_random_uniform(random);
}

ulna_scene ulna_scene_random_levels(int seed, ulna_scene_aims *aims)
{
    uint64_t random = seed_of(1000, seed);
    ulna_scene scene = human();
    *aims = (ulna_scene_aims){0};
    add_posture(&scene, 1e-2);
    plant(&scene);
    for (int side = 0; side < 2; side++) {
        double reach = between(&random, 0.4, 1.5), angle = between(&random, -1, 1), sign = side ? -1 : 1;
        aim_at(&scene, aims, 1 + side, side ? "RFIN" : "LFIN", sign * (0.2 + reach * cos(angle)),
               between(&random, 0.6, 1.8), reach * sin(angle) + 0.2);
    }
    if (seed & 1) {
        double angle = between(&random, 0, 2 * PI);
        look_along(&scene, aims, 3, sin(angle), 0, -cos(angle));
    } else {
        aim_at(&scene, aims, 3, "LFHD", 0.07 + 0.3 * ulna_random_normal(&random),
               1.5 + 0.2 * ulna_random_normal(&random), 0.05 + 0.2 * ulna_random_normal(&random));
    }
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            aims->drift[i][k] = ulna_random_normal(&random);
    ready(&scene);
    return scene;
}

void ulna_scene_move_random_levels(ulna_scene *scene, ulna_scene_aims *aims, int frame)
{
    for (int i = 0; i < 2; i++) {
        for (int k = 0; k < 3; k++)
            aims->goal[i][k] += 0.003 * cos(0.04 * frame + i) * aims->drift[i][k];
        set_aim(scene, aims, i);
    }
}

double ulna_scene_level_error(const ulna_scene *scene, const ulna_scene_aims *aims, const double *q, int level)
{
    double sum = 0;
    ulna_pose *pose = posed(scene, q);
    for (int i = 0; i < aims->count; i++) {
        const ulna_constraint *c = ulna_problem_constraint(scene->problem, aims->number[i]);
        double place[3], rotation[9], along = 0;
        if (aims->level[i] != level)
            continue;
        ulna_scene_expect(ulna_pose_body(pose, c->body, place, rotation), "body");
        if (aims->is_direction[i]) {
            for (int k = 0; k < 3; k++)
                along += rotation[3 * k + 2] * aims->goal[i][k];
            along = acos(fmax(-1, fmin(1, along)));
            sum += along * along;
            continue;
        }
        ulna_scene_expect(ulna_pose_point(pose, c->body, c->point, place), "point");
        for (int k = 0; k < 3; k++)
            sum += (place[k] - aims->goal[i][k]) * (place[k] - aims->goal[i][k]);
    }
    ulna_pose_destroy(pose);
    return sqrt(sum);
}
