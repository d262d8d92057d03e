/* Constraints by plain code: see the header. */
#include "support_kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "objective/constraint.h"
#include "support_model.h"

#define PI 3.14159265358979323846

/* ---- places ------------------------------------------------------------------------------------------------------ */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void direction_of(const ulna_test_frame *frames, int body, const double axis[3], double d[3])
{
    double length = sqrt(dot(axis, axis));
    for (int i = 0; i < 3; i++)
        d[i] = (body == ULNA_NONE ? axis[i] : dot(frames[body].r + 3 * (size_t)i, axis)) / length;
}

static void place_of(const ulna_test_frame *frames, int body, const double point[3], double p[3])
{
    for (int i = 0; i < 3; i++)
        p[i] = body == ULNA_NONE ? point[i] : dot(frames[body].r + 3 * (size_t)i, point) + frames[body].t[i];
}

static void subtract(const double a[3], const double b[3], double c[3])
{
    for (int i = 0; i < 3; i++)
        c[i] = a[i] - b[i];
}

static double distance_of(const double a[3], const double b[3])
{
    double e[3];
    subtract(a, b, e);
    return sqrt(dot(e, e));
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* Between directions of any length, exact also near 0 and pi. */
static double angle_of(const double a[3], const double b[3])
{
    double c[3];
    cross(a, b, c);
    return atan2(sqrt(dot(c, c)), dot(a, b));
}

/* The angle of the rotation aT b, exact also near 0. */
static double rotation_angle(const double a[9], const double b[9])
{
    double m[9] = {0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                m[3 * i + j] += a[3 * k + i] * b[3 * k + j];
    const double v[3] = {m[7] - m[5], m[2] - m[6], m[3] - m[1]};
    return atan2(sqrt(dot(v, v)), m[0] + m[4] + m[8] - 1);
}

static void centre_of(const ulna_model *model, const ulna_test_frame *frames, double centre[3])
{
    double total = 0, p[3];
    memset(centre, 0, 3 * sizeof *centre);
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        const ulna_mass *mass = ulna_model_body_mass(model, b);
        place_of(frames, b, mass->center, p);
        for (int i = 0; i < 3; i++)
            centre[i] += mass->mass * p[i];
        total += mass->mass;
    }
    for (int i = 0; i < 3; i++)
        centre[i] /= total;
}

/* ---- errors ------------------------------------------------------------------------------------------------------ */

/* What is compared with the goal, for types with a relation: value - goal. */
static double excess_of(const ulna_model *model, const ulna_constraint *c, const ulna_test_frame *frames,
                        const double *q)
{
    double p[3], o[3], e[3], sum = 0;
    place_of(frames, c->body < 0 ? 0 : c->body, c->point, p);
    switch (c->type) {
    case ULNA_KEEP_CENTRE:
        centre_of(model, frames, p);
        /* fall through */
    case ULNA_KEEP_PLANE:
        subtract(p, c->goal, e);
        return dot(e, c->goal + 3) / sqrt(dot(c->goal + 3, c->goal + 3));
    case ULNA_KEEP_SPHERE:
        return distance_of(p, c->goal) - c->goal[3];
    case ULNA_KEEP_DISTANCE:
        place_of(frames, c->other, c->other_point, o);
        return distance_of(p, o) - c->goal[0];
    case ULNA_KEEP_ANGLE:
        direction_of(frames, c->body, c->axis, p);
        direction_of(frames, c->other, c->other_axis, o);
        return angle_of(p, o) - c->goal[0];
    case ULNA_KEEP_LINEAR:
        for (int k = 0; k < c->dof_count; k++)
            sum += c->coefficients[k] * q[ulna_model_dof_coordinate(model, c->dofs[k])];
        return sum - c->goal[0];
    default: /* ULNA_KEEP_CUSTOM: below */
        return frames[c->body].t[1] - (c->other == ULNA_NONE ? 0 : frames[c->other].t[1]) - c->goal[0];
    }
}

static double support_error(const ulna_model *model, const ulna_constraint *c, const ulna_test_frame *frames)
{
    double centre[3], most = 0;
    centre_of(model, frames, centre);
    for (int k = 0; k < c->corner_count; k++) {
        const double *from = c->corners + 3 * (size_t)k, *to = c->corners + 3 * (size_t)((k + 1) % c->corner_count);
        double edge[3], inward[3], e[3];
        subtract(to, from, edge);
        cross(c->axis, edge, inward);
        subtract(centre, from, e);
        most = fmax(most, -dot(e, inward) / sqrt(dot(inward, inward)));
    }
    return most;
}

static double relative_error(const ulna_constraint *c, const ulna_test_frame *frames, double length)
{
    const ulna_test_frame *b = &frames[c->other];
    double p[3], seen[3], e[3], goal_rotation[9] = {0};
    place_of(frames, c->body, c->point, p);
    subtract(p, b->t, e);
    for (int i = 0; i < 3; i++) {
        seen[i] = b->r[i] * e[0] + b->r[3 + i] * e[1] + b->r[6 + i] * e[2];
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                goal_rotation[3 * i + j] += b->r[3 * i + k] * c->goal[3 + 3 * k + j];
    }
    return fmax(distance_of(seen, c->goal), length * rotation_angle(goal_rotation, frames[c->body].r));
}

static double place_error(const ulna_constraint *c, const ulna_test_frame *frames, double length)
{
    double p[3], o[3], e[3], n[3], most = 0;
    place_of(frames, c->body, c->point, p);
    switch (c->type) {
    case ULNA_KEEP_POINT:
        return distance_of(p, c->goal);
    case ULNA_KEEP_ORIENTATION:
        return rotation_angle(c->goal, frames[c->body].r);
    case ULNA_KEEP_FRAME:
        return fmax(distance_of(p, c->goal), length * rotation_angle(c->goal + 3, frames[c->body].r));
    case ULNA_KEEP_DIRECTION:
        direction_of(frames, c->body, c->axis, n);
        return angle_of(n, c->goal);
    case ULNA_KEEP_AIM:
        direction_of(frames, c->body, c->axis, n);
        subtract(c->goal, p, e);
        return angle_of(n, e);
    case ULNA_KEEP_LINE:
        subtract(p, c->goal, e);
        cross(e, c->goal + 3, n);
        return sqrt(dot(n, n) / dot(c->goal + 3, c->goal + 3));
    case ULNA_KEEP_BOX:
        for (int i = 0; i < 3; i++)
            most = fmax(most, fmax(c->goal[i] - p[i], p[i] - c->goal[3 + i]));
        return most;
    default: /* ULNA_KEEP_TOGETHER */
        place_of(frames, c->other, c->other_point, o);
        return distance_of(p, o);
    }
}

static int has_relation(ulna_constraint_type type)
{
    return type == ULNA_KEEP_PLANE || type == ULNA_KEEP_SPHERE || type == ULNA_KEEP_DISTANCE ||
           type == ULNA_KEEP_ANGLE || type == ULNA_KEEP_LINEAR || type == ULNA_KEEP_CENTRE || type == ULNA_KEEP_CUSTOM;
}

double ulna_test_constraint_error(const ulna_model *model, const ulna_constraint *c, double length, const double *q)
{
    ulna_test_frame *frames = ulna_test_frames(model, q);
    double error;
    if (c->type == ULNA_KEEP_SUPPORT) {
        error = support_error(model, c, frames);
    } else if (c->type == ULNA_KEEP_RELATIVE) {
        error = relative_error(c, frames, length);
    } else if (has_relation(c->type)) {
        double excess = excess_of(model, c, frames, q);
        error = c->relation == ULNA_EQUAL      ? fabs(excess)
                : c->relation == ULNA_AT_LEAST ? fmax(0, -excess)
                                               : fmax(0, excess);
    } else {
        error = place_error(c, frames, length);
    }
    free(frames);
    return error;
}

/* ---- random constraints ------------------------------------------------------------------------------------------ */

/* Of our own: how much higher one origin is than another. With n = y, d2 of n . position is n . (w x v). */
static void evaluate_height(const void *context, const double *goal, const double rotation[2][9],
                            const double position[2][3], ulna_constraint_value *value)
{
    (void)rotation;
    const int has_other = *(const int *)context;
    value->value = position[0][1] - (has_other ? position[1][1] : 0) - goal[0];
    for (int p = 0; p < 1 + has_other; p++) {
        double sign = p ? -1 : 1;
        value->row[p][4] = sign;
        value->bend[p][2][3] = value->bend[p][3][2] = 0.5 * sign;
        value->bend[p][0][5] = value->bend[p][5][0] = -0.5 * sign;
    }
}

static int random_dofs(ulna_test_rng *rng, const ulna_model *model, ulna_test_constraint *c)
{
    int nv = ulna_model_dof_count(model), count = 0, wanted = 1 + ulna_test_rng_index(rng, 3);
    for (int attempt = 0; nv && attempt < 30 && count < wanted; attempt++) {
        int dof = ulna_test_rng_index(rng, nv), is_new = ulna_model_dof_coordinate(model, dof) >= 0;
        for (int k = 0; k < count; k++)
            is_new &= c->dofs[k] != dof;
        if (is_new) {
            c->dofs[count] = dof;
            c->coefficients[count++] = ulna_test_rng_uniform(rng, 0.2, 1) * (ulna_test_rng_index(rng, 2) ? -1 : 1);
        }
    }
    c->given.dof_count = count;
    c->given.dofs = c->dofs;
    c->given.coefficients = c->coefficients;
    return count;
}

static void random_support(ulna_test_rng *rng, const double centre[3], ulna_test_constraint *c)
{
    static const double around[4][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}};
    double size = ulna_test_rng_uniform(rng, 0.02, 0.2);
    for (int k = 0; k < 4; k++) {
        c->corners[k][0] = centre[0] + size * around[k][0];
        c->corners[k][1] = ulna_test_rng_uniform(rng, -1, 1);
        c->corners[k][2] = centre[2] + size * around[k][1] * ulna_test_rng_uniform(rng, 0.5, 1);
    }
    c->corners[3][2] = c->corners[0][2]; /* a trapezium: convex */
    c->corners[2][2] = c->corners[1][2];
    c->given.axis[0] = c->given.axis[2] = 0;
    c->given.axis[1] = 1;
    c->given.corner_count = 4;
    c->given.corners = &c->corners[0][0];
}

/* Goals of types without a relation, from the frames of the pose. */
static void take_place(ulna_test_rng *rng, const ulna_test_frame *frames, ulna_constraint *c)
{
    double p[3], o[3], d[3];
    place_of(frames, c->body, c->point, p);
    direction_of(frames, c->body, c->axis, d);
    switch (c->type) {
    case ULNA_KEEP_ORIENTATION:
        memcpy(c->goal, frames[c->body].r, sizeof frames->r);
        break;
    case ULNA_KEEP_DIRECTION:
        memcpy(c->goal, d, sizeof d);
        break;
    case ULNA_KEEP_AIM:
        for (int i = 0; i < 3; i++)
            c->goal[i] = p[i] + d[i] * 3;
        break;
    case ULNA_KEEP_LINE:
        ulna_test_rng_fill(rng, c->goal + 3, 3, -1, 1);
        for (int i = 0; i < 3; i++)
            c->goal[i] = p[i] + 0.7 * c->goal[3 + i];
        break;
    case ULNA_KEEP_BOX:
        for (int i = 0; i < 3; i++) {
            c->goal[i] = ulna_test_rng_index(rng, 4) ? p[i] - ulna_test_rng_uniform(rng, 0, 0.3) : -(double)INFINITY;
            c->goal[3 + i] = p[i] + ulna_test_rng_uniform(rng, 0.01, 0.3);
        }
        break;
    case ULNA_KEEP_TOGETHER: /* the point of `other` that is there */
        subtract(p, frames[c->other].t, o);
        for (int i = 0; i < 3; i++)
            c->other_point[i] =
                frames[c->other].r[i] * o[0] + frames[c->other].r[3 + i] * o[1] + frames[c->other].r[6 + i] * o[2];
        break;
    default: /* point, frame */
        memcpy(c->goal, p, sizeof p);
        memcpy(c->goal + 3, frames[c->body].r, sizeof frames->r);
    }
}

static void take_relative(const ulna_test_frame *frames, ulna_constraint *c)
{
    const ulna_test_frame *a = &frames[c->body], *b = &frames[c->other];
    double p[3], e[3];
    place_of(frames, c->body, c->point, p);
    subtract(p, b->t, e);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            c->goal[i] += b->r[3 * k + i] * e[k];
            for (int j = 0; j < 3; j++)
                c->goal[3 + 3 * i + j] += b->r[3 * k + i] * a->r[3 * k + j];
        }
}

/* The goal of a type with a relation, such that it holds with `room`. */
static int take_relation(const ulna_model *model, const ulna_test_frame *frames, const double *q, double room,
                         ulna_constraint *c)
{
    int last = c->type == ULNA_KEEP_SPHERE ? 3 : 0;
    if (c->type == ULNA_KEEP_PLANE || c->type == ULNA_KEEP_CENTRE) {
        double height = excess_of(model, c, frames, q) - room, n2 = dot(c->goal + 3, c->goal + 3);
        for (int i = 0; i < 3; i++)
            c->goal[i] += height * c->goal[3 + i] / sqrt(n2);
        return 1;
    }
    c->goal[last] = 0;
    c->goal[last] = excess_of(model, c, frames, q) - room;
    if (c->type == ULNA_KEEP_ANGLE)
        return c->goal[0] > 0.05 && c->goal[0] < PI - 0.05;
    return (c->type != ULNA_KEEP_DISTANCE && c->type != ULNA_KEEP_SPHERE) || c->goal[last] > 0.02;
}

static int is_about_two(ulna_constraint_type type)
{
    return type == ULNA_KEEP_DISTANCE || type == ULNA_KEEP_TOGETHER || type == ULNA_KEEP_RELATIVE ||
           type == ULNA_KEEP_ANGLE || type == ULNA_KEEP_CUSTOM;
}

/* Another body, or the world where that makes sense. */
static int choose_other(ulna_test_rng *rng, const ulna_model *model, ulna_constraint *c)
{
    int bodies = ulna_model_body_count(model);
    int needs_body = c->type == ULNA_KEEP_TOGETHER || c->type == ULNA_KEEP_RELATIVE;
    if (!is_about_two(c->type) || (!needs_body && ulna_test_rng_index(rng, 3) == 0)) {
        c->other = ULNA_NONE;
        return 1;
    }
    c->other = ulna_test_rng_index(rng, bodies);
    return bodies > 1 && c->other != c->body;
}

int ulna_test_random_constraint(ulna_test_rng *rng, const ulna_model *model, const double *q, ulna_constraint_type type,
                                ulna_test_constraint *c)
{
    static const int has_other[2] = {0, 1};
    ulna_constraint *g = &c->given;
    if (type >= ULNA_CONSTRAINT_TYPE_COUNT)
        fail_msg("a constraint of type %d has no random example: add one here", (int)type);
    *c = (ulna_test_constraint){0};
    g->type = type;
    g->body = ulna_test_rng_index(rng, ulna_model_body_count(model));
    ulna_test_rng_fill(rng, g->point, 3, -0.3, 0.3);
    ulna_test_rng_fill(rng, g->axis, 3, -1, 1);
    ulna_test_rng_fill(rng, g->other_point, 3, -0.3, 0.3);
    ulna_test_rng_fill(rng, g->other_axis, 3, -1, 1);
    if (!choose_other(rng, model, g))
        return 0;
    if (type == ULNA_KEEP_LINEAR && !random_dofs(rng, model, c))
        return 0;
    if (type == ULNA_KEEP_CUSTOM)
        g->custom = (ulna_custom_constraint){evaluate_height, &has_other[g->other != ULNA_NONE], 1};
    ulna_test_frame *frames = ulna_test_frames(model, q);
    int good = 1;
    if (type == ULNA_KEEP_SUPPORT) {
        double centre[3];
        centre_of(model, frames, centre);
        random_support(rng, centre, c);
    } else if (type == ULNA_KEEP_RELATIVE) {
        take_relative(frames, g);
    } else if (has_relation(type)) {
        g->relation = (ulna_relation)ulna_test_rng_index(rng, 3);
        double room = g->relation == ULNA_EQUAL ? 0 : ulna_test_rng_uniform(rng, 0, 0.2);
        ulna_test_rng_fill(rng, g->goal, 6, -1, 1);
        good = take_relation(model, frames, q, g->relation == ULNA_AT_MOST ? -room : room, g);
    } else {
        take_place(rng, frames, g);
    }
    free(frames);
    return good;
}

ulna_model *ulna_test_with_masses(ulna_test_rng *rng, ulna_model *model)
{
    ulna_builder *builder;
    assert_int_equal(ulna_builder_from_model(model, NULL, &builder, NULL), ULNA_OK);
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        ulna_mass mass = {.mass = b == 0 || ulna_test_rng_index(rng, 3) ? ulna_test_rng_uniform(rng, 0.1, 2) : 0,
                          .inertia = {1, 1, 1, 0, 0, 0}};
        ulna_test_rng_fill(rng, mass.center, 3, -0.2, 0.2);
        assert_int_equal(ulna_builder_set_mass(builder, b, &mass, NULL), ULNA_OK);
    }
    ulna_model_destroy(model);
    model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    return model;
}

/* ---- claims recomputed ------------------------------------------------------------------------------------------- */

typedef struct sample {
    double f;
    double *value; /* of each row */
} sample;

typedef struct probe {
    const ulna_model *model;
    ulna_work *work;
    ulna_row *rows;
    int count, capacity, nv;
    double *q, *step;
} probe;

static void look(probe *p, int freeze, sample *s)
{
    assert_int_equal(ulna_work_evaluate(p->work, p->q, &s->f), ULNA_OK);
    assert_int_equal(ulna_work_rows(p->work, freeze, p->rows, &p->count), ULNA_OK);
    for (int i = 0; i < p->count; i++)
        s->value[i] = p->rows[i].value;
}

/* Derivatives of f and of all rows with respect to a DOF, by differences of fourth order. */
static void differentiate(probe *p, const double *q, int dof, double h, sample *s, sample *slope)
{
    static const double at[4] = {-2, -1, 1, 2}, factor[4] = {1, -8, 8, -1};
    memset(slope->value, 0, (size_t)p->capacity * sizeof *slope->value);
    slope->f = 0;
    for (int k = 0; k < 4; k++) {
        memset(p->step, 0, (size_t)p->nv * sizeof *p->step);
        p->step[dof] = at[k] * h;
        ulna_model_integrate(p->model, q, p->step, p->q);
        look(p, 0, s);
        slope->f += factor[k] * s->f / (12 * h);
        for (int i = 0; i < p->count; i++)
            slope->value[i] += factor[k] * s->value[i] / (12 * h);
    }
}

/* The part of a gradient that a limit does not hold. */
static double projected(const ulna_model *model, int bounded, int dof, double q, double g)
{
    if (!bounded)
        return g;
    double lower = ulna_model_lower(model)[dof], upper = ulna_model_upper(model)[dof];
    if (lower == upper)
        return 0;
    if (q <= lower)
        return fmin(g, 0);
    return q >= upper ? fmax(g, 0) : g;
}

static void read_multipliers(ulna_solver *solver, const ulna_problem *problem, const probe *p, double *beta)
{
    int next = 0;
    for (int c = 0; c < ulna_problem_constraint_count(problem); c++) {
        ulna_constraint_state state;
        int count = 0;
        assert_int_equal(ulna_solver_constraint(solver, c, &state), ULNA_OK);
        for (; next < p->count && p->rows[next].constraint == c; next++)
            beta[next] = state.multiplier[count++];
        assert_int_equal(count, state.row_count);
    }
    assert_int_equal(next, p->count);
}

static double lack_of(const ulna_row *row, double value)
{
    return row->is_equation || value < 0 ? value : 0;
}

/* Largest projected derivatives of the Lagrangian (kkt) and of half the sum of squared lacks (slope). */
static void recompute_slopes(probe *p, const double *q, const double *beta, const sample *here, int bounded, double h,
                             ulna_test_claims *claims)
{
    const ulna_model *model = p->model;
    sample s = {.value = ulna_test_numbers(p->capacity)}, slope = {.value = ulna_test_numbers(p->capacity)};
    double scale = ulna_model_length_scale(model);
    for (int d = 0; d < p->nv; d++) {
        double unit = ulna_model_dof_is_translation(model, d) ? scale : 1;
        int k = ulna_model_dof_coordinate(model, d);
        differentiate(p, q, d, h, &s, &slope);
        double g = slope.f, v = 0;
        for (int i = 0; i < p->count; i++) {
            g -= beta[i] * slope.value[i];
            v += lack_of(&p->rows[i], here->value[i]) * slope.value[i];
        }
        int held = bounded && k >= 0;
        claims->kkt = fmax(claims->kkt, unit * fabs(projected(model, held, d, k >= 0 ? q[k] : 0, g)));
        claims->slope = fmax(claims->slope, unit * fabs(projected(model, held, d, k >= 0 ? q[k] : 0, v)));
    }
    free(s.value);
    free(slope.value);
}

/* By long steps, which round least, and by short ones, for functions that bend sharply within a milliradian; the better one. */
static void recompute_derivatives(probe *p, const double *q, const double *beta, const sample *here, int bounded,
                                  ulna_test_claims *claims)
{
    ulna_test_claims coarse = {0}, fine = {0};
    recompute_slopes(p, q, beta, here, bounded, 1e-3, &coarse);
    recompute_slopes(p, q, beta, here, bounded, 1e-5, &fine);
    claims->kkt = fmax(claims->kkt, fmin(coarse.kkt, fine.kkt));
    claims->slope = fmin(coarse.slope, fine.slope);
    if (claims->violation > 0)
        claims->slope /= claims->violation * ulna_model_length_scale(p->model);
}

static void recompute_rows(const probe *p, const double *beta, const sample *here, ulna_test_claims *claims)
{
    double scale = ulna_model_length_scale(p->model);
    for (int i = 0; i < p->count; i++) {
        claims->force += fabs(beta[i]);
        claims->violation = fmax(claims->violation, fabs(lack_of(&p->rows[i], here->value[i])));
        if (!p->rows[i].is_equation)
            claims->kkt = fmax(claims->kkt, fmax(-beta[i] * scale, fabs(beta[i]) * fmax(here->value[i], 0)));
    }
}

ulna_test_claims ulna_test_recompute(ulna_solver *solver, const ulna_problem *problem, double length, int bounded,
                                     const double *q)
{
    const ulna_model *model = ulna_problem_model(problem);
    int nq = ulna_model_coordinate_count(model), rows = ulna_problem_row_count(problem);
    probe p = {.model = model, .nv = ulna_model_dof_count(model), .capacity = rows};
    sample here = {.value = ulna_test_numbers(rows)};
    double *beta = ulna_test_numbers(rows);
    ulna_test_claims claims = {0};
    p.rows = calloc((size_t)rows + 1, sizeof *p.rows);
    p.q = ulna_test_numbers(nq);
    p.step = ulna_test_numbers(p.nv);
    assert_non_null(p.rows);
    assert_int_equal(ulna_work_create(problem, NULL, &p.work, NULL), ULNA_OK);
    memcpy(p.q, q, (size_t)nq * sizeof *q);
    look(&p, 1, &here);
    claims.f = here.f;
    read_multipliers(solver, problem, &p, beta);
    recompute_rows(&p, beta, &here, &claims);
    recompute_derivatives(&p, q, beta, &here, bounded, &claims);
    for (int c = 0; c < ulna_problem_constraint_count(problem); c++) {
        const ulna_constraint *given = ulna_problem_constraint(problem, c);
        int is_angle = given->type == ULNA_KEEP_ORIENTATION || given->type == ULNA_KEEP_DIRECTION ||
                       given->type == ULNA_KEEP_AIM || given->type == ULNA_KEEP_ANGLE ||
                       given->type == ULNA_KEEP_LINEAR;
        claims.error =
            fmax(claims.error, ulna_test_constraint_error(model, given, length, q) * (is_angle ? length : 1));
    }
    for (int d = 0; bounded && d < p.nv; d++) {
        int k = ulna_model_dof_coordinate(model, d);
        if (k >= 0)
            claims.limits =
                fmax(claims.limits, fmax(ulna_model_lower(model)[d] - q[k], q[k] - ulna_model_upper(model)[d]));
    }
    ulna_work_destroy(p.work);
    free(p.rows);
    free(p.q);
    free(p.step);
    free(here.value);
    free(beta);
    return claims;
}
