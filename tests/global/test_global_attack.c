/*
 * An attack on the certificate of ulna_global_solve: small random scenes, each against a search by plain code that
 * shares nothing with the library: forward kinematics of its own, and coordinate descent. Along one rotation f is
 * a + b cos + c sin, along one translation a parabola, so three values give the exact minimum of a line.
 *
 * A bound above the cost of any pose that this search finds, or above that of the pose which came back, is a failure.
 * ULNA_ATTACK_SCENES is the number of scenes, ULNA_ATTACK_FIRST the first seed. Seeds from DEGENERATE on give scenes
 * whose axes are nearly parallel or nearly perpendicular, and whose ranges are narrow.
 */
#include "support.h"
#include "ulna/global.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 4, TERMS = 5, COORDINATES = 7 * JOINTS, DEFAULT_SCENES = 1500, SWEEPS = 25 };

#define DEGENERATE 1000000000000U

typedef enum kind { REVOLUTE, PRISMATIC, BALL, FREE } kind;

typedef struct joint {
    kind kind;
    int parent, coordinate;
    double axis[3], place[3], turn[9], lower, upper;
} joint;

typedef struct goal {
    int type; /* 0 point, 1 orientation, 2 direction */
    int body;
    double local[3], goal[9], weight;
} goal;

typedef struct scene {
    joint joints[JOINTS];
    goal goals[TERMS];
    int joint_count, goal_count, nq;
    int is_degenerate;
    double length;
    uint64_t random;
} scene;

/* ---- random numbers ---------------------------------------------------------------------------------------------- */

static double uniform(scene *s, double low, double high)
{
    uint64_t z = (s->random += 0x9e3779b97f4a7c15U);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return low + (high - low) * ((double)((z ^ (z >> 31)) >> 11) + 0.5) / 9007199254740992.0;
}

static int pick(scene *s, int count)
{
    return (int)uniform(s, 0, count);
}

static double power(scene *s, double low, double high)
{
    return pow(10, uniform(s, low, high));
}

static void unit_vector(scene *s, double v[3])
{
    double square;
    do {
        square = 0;
        for (int i = 0; i < 3; i++) {
            v[i] = uniform(s, -1, 1);
            square += v[i] * v[i];
        }
    } while (square < 0.01 || square > 1);
    for (int i = 0; i < 3; i++)
        v[i] /= sqrt(square);
}

/* ---- plain kinematics -------------------------------------------------------------------------------------------- */

static void rotate(const double R[9], const double v[3], double out[3])
{
    for (int i = 0; i < 3; i++)
        out[i] = R[3 * i] * v[0] + R[3 * i + 1] * v[1] + R[3 * i + 2] * v[2];
}

static void multiply(const double A[9], const double B[9], double out[9])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            out[3 * i + k] = A[3 * i] * B[k] + A[3 * i + 1] * B[3 + k] + A[3 * i + 2] * B[6 + k];
}

static void rotation(const double a[3], double angle, double R[9])
{
    const double c = cos(angle), s = sin(angle), v = 1 - c;
    const double out[9] = {c + v * a[0] * a[0],        v * a[0] * a[1] - s * a[2], v * a[0] * a[2] + s * a[1],
                           v * a[1] * a[0] + s * a[2], c + v * a[1] * a[1],        v * a[1] * a[2] - s * a[0],
                           v * a[2] * a[0] - s * a[1], v * a[2] * a[1] + s * a[0], c + v * a[2] * a[2]};
    memcpy(R, out, sizeof out);
}

static void of_quaternion(const double q[4], double R[9])
{
    const double n = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double x = q[0], y = q[1], z = q[2], w = q[3];
    const double out[9] = {1 - n * (y * y + z * z), n * (x * y - w * z),     n * (x * z + w * y),
                           n * (x * y + w * z),     1 - n * (x * x + z * z), n * (y * z - w * x),
                           n * (x * z - w * y),     n * (y * z + w * x),     1 - n * (x * x + y * y)};
    memcpy(R, out, sizeof out);
}

static void place(const scene *s, const double *q, double R[JOINTS][9], double p[JOINTS][3])
{
    static const double none[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, nowhere[3] = {0};
    for (int i = 0; i < s->joint_count; i++) {
        const joint *j = &s->joints[i];
        const double *above = j->parent < 0 ? none : R[j->parent], *from = j->parent < 0 ? nowhere : p[j->parent];
        const double *at = q + j->coordinate;
        double base[9], own[9], offset[3];
        rotate(above, j->place, offset);
        for (int k = 0; k < 3; k++)
            p[i][k] = from[k] + offset[k];
        multiply(above, j->turn, base);
        if (j->kind == PRISMATIC || j->kind == FREE) {
            const double along[3] = {j->axis[0] * at[0], j->axis[1] * at[0], j->axis[2] * at[0]};
            rotate(base, j->kind == FREE ? at : along, offset);
            for (int k = 0; k < 3; k++)
                p[i][k] += offset[k];
        }
        if (j->kind == REVOLUTE)
            rotation(j->axis, at[0], own);
        else if (j->kind == PRISMATIC)
            memcpy(own, none, sizeof own);
        else
            of_quaternion(j->kind == FREE ? at + 3 : at, own);
        multiply(base, own, R[i]);
    }
}

/* f; `size` (may be NULL): what it is the difference of. */
static double cost(const scene *s, const double *q, double *size)
{
    double R[JOINTS][9], p[JOINTS][3], sum = 0;
    place(s, q, R, p);
    if (size)
        *size = 0;
    for (int i = 0; i < s->goal_count; i++) {
        const goal *g = &s->goals[i];
        double at[3], square = 0, all = 0, factor = 0.5 * g->weight;
        rotate(R[g->body], g->local, at);
        for (int k = 0; k < 3 && g->type == 0; k++) {
            const double away = at[k] + p[g->body][k] - g->goal[k];
            square += away * away;
            all += fabs(p[g->body][k]) + fabs(g->goal[k]) + fabs(at[k]);
        }
        for (int k = 0; k < 3 && g->type == 2; k++)
            square += (at[k] - g->goal[k]) * (at[k] - g->goal[k]);
        for (int k = 0; k < 9 && g->type == 1; k++)
            square += 0.5 * (R[g->body][k] - g->goal[k]) * (R[g->body][k] - g->goal[k]);
        if (g->type != 0)
            factor *= s->length * s->length;
        sum += factor * square;
        if (size)
            *size += factor * (g->type ? 4 : all * all);
    }
    return sum;
}

/* f of points that are off by no more than the rounding of their places, which are sums of the scene's lengths: a goal at
 * the origin has no size of its own. */
static double least_cost(const scene *s)
{
    double reach = s->length, sum = 0;
    for (int i = 0; i < s->joint_count; i++)
        reach += fabs(s->joints[i].place[0]) + fabs(s->joints[i].place[1]) + fabs(s->joints[i].place[2]);
    for (int i = 0; i < s->goal_count; i++)
        sum += s->goals[i].type == 0 ? 0.5 * s->goals[i].weight : 0;
    return sum * 4 * DBL_EPSILON * reach * 4 * DBL_EPSILON * reach;
}

/* ---- plain search ------------------------------------------------------------------------------------------------ */

/* The angle between the limits where a + b cos + c sin is least. */
static double least_angle(double from, double at_0, double at_1, double at_2, double lower, double upper)
{
    const double a = (at_0 + at_1 + at_2) / 3, b = at_0 - a, c = (at_1 - at_2) / sqrt(3), pi = acos(-1);
    double best = from + atan2(-c, -b);
    if (best < lower)
        best += 2 * pi * ceil((lower - best) / (2 * pi));
    if (best > upper)
        best -= 2 * pi * ceil((best - upper) / (2 * pi));
    if (best >= lower && best <= upper)
        return best;
    const double low = b * cos(lower - from) + c * sin(lower - from),
                 high = b * cos(upper - from) + c * sin(upper - from);
    return low < high ? lower : upper;
}

static double try_value(const scene *s, double *q, double *at, double value, double f)
{
    const double old = *at;
    *at = value;
    const double now = cost(s, q, NULL);
    if (now < f)
        return now;
    *at = old;
    return f;
}

static double value_at(const scene *s, double *q, double *at, double value)
{
    const double old = *at;
    *at = value;
    const double f = cost(s, q, NULL);
    *at = old;
    return f;
}

static double slide(const scene *s, double *q, double *at, double lower, double upper, double f)
{
    const double h = s->length, up = value_at(s, q, at, *at + h), down = value_at(s, q, at, *at - h);
    const double curve = up + down - 2 * f;
    if (!(curve > 0))
        return f;
    return try_value(s, q, at, fmin(fmax(*at - 0.5 * h * (up - down) / curve, lower), upper), f);
}

static void turned(const double q[4], int axis, double angle, double out[4])
{
    const double c = cos(angle / 2), s = sin(angle / 2), x = axis == 0 ? s : 0, y = axis == 1 ? s : 0,
                 z = axis == 2 ? s : 0;
    out[0] = q[0] * c + q[3] * x + q[1] * z - q[2] * y;
    out[1] = q[1] * c + q[3] * y + q[2] * x - q[0] * z;
    out[2] = q[2] * c + q[3] * z + q[0] * y - q[1] * x;
    out[3] = q[3] * c - q[0] * x - q[1] * y - q[2] * z;
}

static double turn_ball(const scene *s, double *q, double *at, int axis, double f)
{
    const double third = 2 * acos(-1) / 3;
    double old[4], values[2];
    memcpy(old, at, sizeof old);
    for (int i = 0; i < 2; i++) {
        turned(old, axis, i ? -third : third, at);
        values[i] = cost(s, q, NULL);
    }
    turned(old, axis, least_angle(0, f, values[0], values[1], -INFINITY, INFINITY), at);
    const double now = cost(s, q, NULL);
    if (now < f)
        return now;
    memcpy(at, old, sizeof old);
    return f;
}

static double descend(const scene *s, double *q, int sweeps)
{
    const double third = 2 * acos(-1) / 3;
    double f = cost(s, q, NULL);
    for (int sweep = 0; sweep < sweeps; sweep++) {
        const double before = f;
        for (int i = 0; i < s->joint_count; i++) {
            const joint *j = &s->joints[i];
            double *at = q + j->coordinate;
            if (j->kind == REVOLUTE)
                f = try_value(s, q, at,
                              least_angle(*at, f, value_at(s, q, at, *at + third), value_at(s, q, at, *at - third),
                                          j->lower, j->upper),
                              f);
            else if (j->kind == PRISMATIC)
                f = slide(s, q, at, j->lower, j->upper, f);
            for (int k = 0; k < 3 && j->kind == FREE; k++)
                f = slide(s, q, at + k, k ? -INFINITY : j->lower, k ? INFINITY : j->upper, f);
            for (int k = 0; k < 3 && (j->kind == FREE || j->kind == BALL); k++)
                f = turn_ball(s, q, at + (j->kind == FREE ? 3 : 0), k, f);
        }
        if (!(f < before * (1 - 1e-10)))
            break;
    }
    return f;
}

/* ---- scenes ------------------------------------------------------------------------------------------------------ */

static void random_pose(scene *s, double *q)
{
    for (int i = 0; i < s->joint_count; i++) {
        const joint *j = &s->joints[i];
        double *at = q + j->coordinate;
        const double reach = j->kind == REVOLUTE ? 3 : 2 * s->length;
        const double low = j->lower > -INFINITY ? j->lower : j->upper < INFINITY ? j->upper - reach : -reach;
        const double high = j->upper < INFINITY ? j->upper : low + 2 * reach;
        if (j->kind != BALL)
            at[0] = fmin(fmax(uniform(s, low, high), j->lower), j->upper);
        for (int k = 1; k < 3 && j->kind == FREE; k++)
            at[k] = uniform(s, -reach, reach);
        double *quaternion = j->kind == FREE ? at + 3 : at, square = 0;
        for (int k = 0; k < 4 && (j->kind == FREE || j->kind == BALL); k++) {
            quaternion[k] = uniform(s, -1, 1);
            square += quaternion[k] * quaternion[k];
        }
        for (int k = 0; k < 4 && (j->kind == FREE || j->kind == BALL); k++)
            quaternion[k] /= sqrt(square);
    }
}

/* None, wide, narrow and away from 0, one-sided, or at any scale. */
static void choose_limits(scene *s, joint *j)
{
    const double unit = j->kind == REVOLUTE ? 1 : s->length;
    const double middle = unit * (pick(s, 2) ? uniform(s, -2, 2) : power(s, -3, pick(s, 4) ? 0.3 : 2));
    double width = unit * uniform(s, 0.1, 3);
    j->lower = -INFINITY;
    j->upper = INFINITY;
    switch (pick(s, 6)) {
    case 0:
        return;
    case 1:
        *(pick(s, 2) ? &j->lower : &j->upper) = middle;
        return;
    case 2:
    case 3:
        width = fabs(middle) * power(s, -10, 0);
        break;
    default:
        break;
    }
    j->lower = middle - width * uniform(s, 0, 1);
    j->upper = fmax(j->lower + width, j->lower);
}

static const double axes[3][3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};

/* An axis, a frame and a range that are next to something simpler: each of them in most joints. */
static void make_degenerate(scene *s, joint *j)
{
    const double unit = j->kind == REVOLUTE ? 1 : s->length, tilt = power(s, -8, -3);
    const double *near = j->parent >= 0 && pick(s, 2) ? s->joints[j->parent].axis : axes[pick(s, 3)];
    double v[3], square = 0;
    unit_vector(s, v);
    if (pick(s, 4)) {
        for (int k = 0; k < 3; k++) {
            j->axis[k] = near[k] + tilt * v[k];
            square += j->axis[k] * j->axis[k];
        }
        for (int k = 0; k < 3; k++)
            j->axis[k] /= sqrt(square);
    }
    if (pick(s, 2))
        rotation(v, pick(s, 2) ? 0 : power(s, -8, -3), j->turn);
    if (pick(s, 3)) {
        const double middle = unit * (pick(s, 3) ? uniform(s, -2, 2) : 0), width = unit * power(s, -12, -3);
        j->lower = middle - width * uniform(s, 0, 1);
        j->upper = fmax(j->lower + width, j->lower);
    }
}

static void choose_joint(scene *s, int i)
{
    joint *j = &s->joints[i];
    const int kinds[8] = {REVOLUTE,  REVOLUTE,  REVOLUTE, PRISMATIC,
                          PRISMATIC, PRISMATIC, BALL,     i == 0 ? FREE : REVOLUTE};
    *j = (joint){.kind = (kind)kinds[pick(s, 8)], .parent = i == 0 ? -1 : pick(s, 4) ? i - 1 : pick(s, i)};
    j->coordinate = s->nq;
    s->nq += j->kind == BALL ? 4 : j->kind == FREE ? 7 : 1;
    if (pick(s, 2))
        memcpy(j->axis, axes[pick(s, 3)], sizeof j->axis);
    else
        unit_vector(s, j->axis);
    choose_limits(s, j);
    double v[3];
    unit_vector(s, v);
    rotation(v, pick(s, 3) ? 0 : uniform(s, -3, 3), j->turn);
    if (s->is_degenerate)
        make_degenerate(s, j);
    if (pick(s, 3) == 0)
        return;
    const double size = s->length * (pick(s, 4) ? uniform(s, 0.1, 1) : power(s, -4, 1));
    if (pick(s, 2))
        unit_vector(s, v);
    else
        memcpy(v, axes[pick(s, 3)], sizeof v);
    for (int k = 0; k < 3; k++)
        j->place[k] = size * v[k];
}

static void choose_goal(scene *s, goal *g)
{
    double q[COORDINATES], R[JOINTS][9], p[JOINTS][3], v[3], at[3];
    const int types[6] = {0, 0, 0, 0, 1, 2};
    *g = (goal){.type = types[pick(s, 6)], .body = pick(s, 3) ? s->joint_count - 1 : pick(s, s->joint_count)};
    g->weight = pick(s, 2) ? 1 : power(s, -2, 2);
    unit_vector(s, v);
    for (int k = 0; k < 3; k++)
        g->local[k] = g->type == 2 ? v[k] : pick(s, 3) ? s->length * uniform(s, -1, 1) : 0;
    random_pose(s, q);
    place(s, q, R, p);
    if (g->type == 1) {
        memcpy(g->goal, R[g->body], sizeof g->goal);
        return;
    }
    const double away = g->type == 0 ? s->length * (pick(s, 3) == 0 ? 0 : power(s, -3, 1)) : 0;
    rotate(R[g->body], g->local, at);
    for (int k = 0; k < 3; k++)
        g->goal[k] = g->type == 2 ? at[k] : at[k] + p[g->body][k] + away * v[k];
}

static void make_scene(uint64_t seed, scene *s)
{
    *s = (scene){.random = seed * 0x9e3779b97f4a7c15U + 12345, .is_degenerate = seed >= DEGENERATE};
    if (s->is_degenerate) /* so that scenes of seeds side by side share nothing */
        s->random = (uint64_t)uniform(s, 0, 9007199254740992.0) * 0x9e3779b97f4a7c15U;
    s->length = power(s, -3, 3);
    s->joint_count = 1 + pick(s, JOINTS);
    for (int i = 0; i < s->joint_count; i++)
        choose_joint(s, i);
    s->goal_count = 1 + pick(s, pick(s, 2) ? 2 : TERMS);
    for (int i = 0; i < s->goal_count; i++)
        choose_goal(s, &s->goals[i]);
}

static ulna_model *build(const scene *s)
{
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < s->joint_count; i++) {
        const joint *j = &s->joints[i];
        const char name[2] = {(char)('a' + i), 0};
        const double *a = j->axis;
        const ulna_joint made = j->kind == REVOLUTE    ? ulna_joint_revolute(a[0], a[1], a[2])
                                : j->kind == PRISMATIC ? ulna_joint_prismatic(a[0], a[1], a[2])
                                : j->kind == BALL      ? ulna_joint_ball()
                                                       : ulna_joint_free();
        assert_int_equal(ulna_builder_add_body(builder, name, j->parent, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(builder, i, j->place, j->turn, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &made, NULL), ULNA_OK);
        if (j->kind != BALL)
            assert_int_equal(ulna_builder_set_limits(builder, i, 0, j->lower, j->upper, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

static ulna_problem *pose_problem(const scene *s, const ulna_model *model)
{
    ulna_problem *problem;
    assert_int_equal(ulna_problem_create(model, NULL, &problem, NULL), ULNA_OK);
    assert_int_equal(ulna_problem_set_length(problem, s->length), ULNA_OK);
    for (int i = 0; i < s->goal_count; i++) {
        const goal *g = &s->goals[i];
        const char name[2] = {(char)('a' + g->body), 0};
        const int body = ulna_model_find_body(model, name);
        ulna_status status =
            g->type == 0   ? ulna_problem_add_point(problem, body, g->local, g->goal, g->weight, NULL, NULL)
            : g->type == 1 ? ulna_problem_add_orientation(problem, body, g->goal, g->weight, NULL, NULL)
                           : ulna_problem_add_direction(problem, body, g->local, g->goal, g->weight, NULL, NULL);
        assert_int_equal(status, ULNA_OK);
    }
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    return problem;
}

/* The scene's coordinates in the order of the model, or back. */
static void exchange(const scene *s, const ulna_model *model, int back, double *ours, double *theirs)
{
    for (int i = 0; i < s->joint_count; i++) {
        const char name[2] = {(char)('a' + i), 0};
        int first, count = ulna_model_body_coordinates(model, ulna_model_find_body(model, name), &first);
        double *a = ours + s->joints[i].coordinate, *b = theirs + first;
        memcpy(back ? a : b, back ? b : a, (size_t)count * sizeof *a);
    }
}

/* ---- the attack -------------------------------------------------------------------------------------------------- */

/* For a scene that is run alone. */
static void print_scene(const scene *s)
{
    static const char *const kinds[] = {"revolute", "prismatic", "ball", "free"};
    printf("length %.3g\n", s->length);
    for (int i = 0; i < s->joint_count; i++) {
        const joint *j = &s->joints[i];
        printf("  joint %d on %d: %-9s axis %.4g %.4g %.4g, at %.4g %.4g %.4g, limits %.17g (width %.4g)\n", i,
               j->parent, kinds[j->kind], j->axis[0], j->axis[1], j->axis[2], j->place[0], j->place[1], j->place[2],
               j->lower, j->upper - j->lower);
    }
    for (int i = 0; i < s->goal_count; i++) {
        const goal *g = &s->goals[i];
        printf("  %s of %d: weight %.4g, local %.4g %.4g %.4g, goal %.4g %.4g %.4g\n",
               g->type == 0   ? "point"
               : g->type == 1 ? "orientation"
                              : "direction",
               g->body, g->weight, g->local[0], g->local[1], g->local[2], g->goal[0], g->goal[1], g->goal[2]);
    }
}

typedef struct tally {
    long scenes, bounds, proven, beaten, wrong;
    double worst;
} tally;

static void attack(uint64_t seed, int alone, tally *t)
{
    scene s;
    double q[COORDINATES], theirs[COORDINATES], size;
    make_scene(seed, &s);
    if (alone)
        print_scene(&s);
    ulna_model *model = build(&s);
    ulna_problem *problem = pose_problem(&s, model);
    ulna_global_options options = ulna_global_options_default();
    ulna_global *global;
    ulna_global_result result;
    options.starts = 12;
    options.gap = 1e-6;
    options.seed = seed;
    random_pose(&s, q);
    exchange(&s, model, 0, q, theirs);
    assert_int_equal(ulna_global_create(problem, &options, NULL, &global, NULL), ULNA_OK);
    assert_int_equal(ulna_global_solve(global, theirs, &result, NULL), ULNA_OK);
    ulna_global_destroy(global);
    exchange(&s, model, 1, q, theirs);

    const double returned = cost(&s, q, &size), least = least_cost(&s);
    double best = fmin(returned, descend(&s, q, SWEEPS));
    for (int i = 0; i < 2; i++) {
        random_pose(&s, q);
        best = fmin(best, descend(&s, q, SWEEPS));
    }
    if (fabs(returned - result.f) > 1e-9 * result.f + 1e-13 * size + least) {
        printf("seed %llu: f %.17g, but %.17g by plain code\n", (unsigned long long)seed, result.f, returned);
        t->wrong++;
    }
    const double excess = (result.bound - best) / (best + 1e-12 * size + least);
    if (result.bound > best * (1 + 1e-9) + 1e-12 * size + least) {
        printf("seed %llu: bound %.17g above cost %.17g (size %.3g, relative %.3g), proven %d\n",
               (unsigned long long)seed, result.bound, best, size, excess, result.proven);
        t->wrong++;
    }
    if (result.contradicted) {
        printf("seed %llu: contradicted\n", (unsigned long long)seed);
        t->wrong++;
    }
    t->scenes++;
    t->bounds += result.bound > 0;
    t->proven += result.proven;
    t->beaten += best < result.f * (1 - 1e-6) - 1e-12 * size;
    t->worst = fmax(t->worst, excess);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 10) : otherwise;
}

/* Scenes whose bounds were above the cost once: narrow translations and rotations, small bones, far goals, a relaxation
 * whose steps led to places 4,000 units away and back. 641002 has f = 6e-35 where plain code finds 0. */
static void scenes_that_were_wrong(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {46, 165, 168, 493, 1308, 1433, 1713, 2014, 2385, 2390, 2457, 5125, 5128, 5348,
                                     5491, 7617, 13171, 13201, 14440, 16275, 16730, 17101, 21528, 22655, 23958, 24179,
                                     24197, 25353, 31116, 106092, 610646, 641002, 1002305, 1006891, 1096132, 1102409,
                                     /* nearly parallel axes; one of them did not end */
                                     DEGENERATE + 426, DEGENERATE + 448, DEGENERATE + 544, DEGENERATE + 1171,
                                     DEGENERATE + 1333, DEGENERATE + 2161, DEGENERATE + 2972, DEGENERATE + 3201,
                                     DEGENERATE + 3548, DEGENERATE + 3829, DEGENERATE + 4597, DEGENERATE + 4659,
                                     DEGENERATE + 4938, DEGENERATE + 4967, DEGENERATE + 5528};
    tally t = {.worst = -INFINITY};
    for (size_t i = 0; i < sizeof seeds / sizeof *seeds; i++)
        attack(seeds[i], 0, &t);
    assert_int_equal(t.wrong, 0);
}

static void attack_from(uint64_t first, uint64_t count)
{
    tally t = {.worst = -INFINITY};
    for (uint64_t seed = first; seed < first + count; seed++) {
        attack(seed, count == 1, &t);
        if ((seed - first) % 100000 == 99999)
            fprintf(stderr, "%ld scenes, %ld wrong, worst %.3g\n", t.scenes, t.wrong, t.worst);
    }
    printf(
        "%ld scenes: %ld with a bound above 0, %ld proven, %ld where plain search was better, worst excess %.3g, %ld wrong\n",
        t.scenes, t.bounds, t.proven, t.beaten, t.worst, t.wrong);
    assert_int_equal(t.wrong, 0);
}

static void bounds_are_below_every_pose(void **state)
{
    (void)state;
    attack_from(number_of("ULNA_ATTACK_FIRST", 1), number_of("ULNA_ATTACK_SCENES", DEFAULT_SCENES));
}

static void so_they_are_next_to_degeneracy(void **state)
{
    (void)state;
    if (!getenv("ULNA_ATTACK_FIRST"))
        attack_from(DEGENERATE, DEFAULT_SCENES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(scenes_that_were_wrong),
                                       cmocka_unit_test(bounds_are_below_every_pose),
                                       cmocka_unit_test(so_they_are_next_to_degeneracy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
