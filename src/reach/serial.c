/*
 * Chains: from a model to the canonical form of serial_kernel.h, goals in that form, and back from scaled coordinates.
 *
 * When is a step certified? Let s be the sum of |d[i]| over a step d, in scaled units. The second derivative of the last
 * frame's origin with respect to joints i <= j is axis(i) x (column j), not longer than `reach`, so that after the step
 * the position error is at most |e - J d| + reach s^2 / 2. The rotation after the step differs from exp(J d) by an angle of
 * at most s^2 / 2: products of rotations by small vectors a[i] differ from the rotation by their sum by at most
 * the sum of |a[i] x a[j]| / 2 over i < j. The error e differs from the rotation vector by |e|^3 / 24, and |e| <= s + |e - J d|;
 * where the bound is small enough to certify, this is below s^2 / 100. A free spin adds as much again, as the axis to align
 * is rotated by what is not seen. Errors that the tool's lever adds to the position are in `certified_below`. Tolerances are
 * halved before any of this, which leaves room for rounding and for moving a value onto its limit.
 */
#include "math/math3.h"
#include "model/model.h"
#include "reach/serial_kernel.h"

#include <math.h>
#include <string.h>

/* Farther outside a limit than this, scaled, and a state is refused; nearer, it is moved onto the limit. */
#define LIMIT_SLACK 1e-12
/* Beyond this many radians the sine loses digits. */
#define LARGEST_ANGLE 1e4

/* Best last. */
static const ulna_serial_kernel *const kernels[] = {
    &ulna_serial_kernel_portable,
#ifndef ULNA_NO_X86
    &ulna_serial_kernel_avx2,
    &ulna_serial_kernel_avx512,
#endif
};
enum { KERNEL_COUNT = sizeof kernels / sizeof kernels[0] };

const ulna_serial_kernel *ulna_serial_kernel_find(const char *name)
{
    for (int k = KERNEL_COUNT - 1; k >= 0; k--)
        if ((!name || strcmp(name, kernels[k]->name) == 0) && ulna_cpu_runs(kernels[k]->name))
            return kernels[k];
    return NULL;
}

/* ---- the joints on the way ----------------------------------------------------------------------------------------- */

typedef struct frame {
    double rotation[9], position[3];
} frame;

/* Joints along z, with what is fixed before each of them and behind the last. */
typedef struct path {
    const ulna_model *model;
    const double *lower, *upper;
    int n, too_many;
    frame before[ULNA_SERIAL_MAX + 1];
    int slides[ULNA_SERIAL_MAX], dof[ULNA_SERIAL_MAX];
} path;

static frame frame_of(const double *rotation, const double *position)
{
    frame f;
    if (rotation)
        ulna_copy9(rotation, f.rotation);
    else
        ulna_identity9(f.rotation);
    if (position)
        ulna_copy3(position, f.position);
    else
        memset(f.position, 0, sizeof f.position);
    return f;
}

static frame times(const frame *a, const frame *b)
{
    frame c;
    ulna_compose(a->rotation, a->position, b->rotation, b->position, c.rotation, c.position);
    return c;
}

static frame inverse_of(const frame *a)
{
    frame b;
    ulna_invert(a->rotation, a->position, b.rotation, b.position);
    return b;
}

static void add_fixed(path *p, const double *rotation, const double *position, int inverted)
{
    frame f = frame_of(rotation, position);
    if (inverted)
        f = inverse_of(&f);
    p->before[p->n] = times(&p->before[p->n], &f);
}

/* A motion along or about coordinate axis k: a frame whose z axis is that axis, or its opposite for an inverse motion. */
static void add_segment(path *p, unsigned segment, int sign, int dof)
{
    const int slides = ulna_segment_is_translation(segment),
              k = (int)segment - (slides ? ULNA_SEGMENT_TX : ULNA_SEGMENT_RX);
    double align[9] = {0};
    align[3 * ((k + 1) % 3)] = 1;
    align[3 * ((k + 2) % 3) + 1] = sign;
    align[3 * k + 2] = sign;
    add_fixed(p, align, NULL, 0);
    const double lower = p->lower[dof];
    if (lower == p->upper[dof]) { /* it cannot move */
        double turn[9], way[3] = {0, 0, slides ? lower : 0};
        ulna_rotation_about(2, slides ? 0 : lower, turn);
        add_fixed(p, turn, way, 0);
    } else if (p->n == ULNA_SERIAL_MAX) {
        p->too_many = 1;
    } else {
        p->slides[p->n] = slides;
        p->dof[p->n] = dof;
        p->n++;
        p->before[p->n] = frame_of(NULL, NULL);
    }
    add_fixed(p, align, NULL, 1);
}

/* A body from its parent's frame to its own, or back. */
static ulna_status add_body(path *p, int body, int back, ulna_error *error)
{
    const ulna_body *b = &p->model->body[body];
    ulna_joint_plan plan;
    const ulna_status status = ulna_joint_resolve(&p->model->joint[body], &plan, error);
    if (status != ULNA_OK)
        return status;
    for (int k = 0; k < plan.segment_count; k++)
        if (plan.segment[k] > ULNA_SEGMENT_TZ)
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "the joint of '%s' is not made of rotations and translations along fixed axes",
                             ulna_model_body_name(p->model, body));
    if (!back) {
        add_fixed(p, b->placement_rotation, b->placement_position, 0);
        add_fixed(p, plan.pre, NULL, 0);
        for (int k = 0; k < plan.segment_count; k++)
            add_segment(p, plan.segment[k], plan.sign, b->dof + k);
        add_fixed(p, plan.post, NULL, 0);
        add_fixed(p, b->offset_rotation, b->offset_position, 0);
    } else {
        add_fixed(p, b->offset_rotation, b->offset_position, 1);
        add_fixed(p, plan.post, NULL, 1);
        for (int k = plan.segment_count - 1; k >= 0; k--)
            add_segment(p, plan.segment[k], -plan.sign, b->dof + k);
        add_fixed(p, plan.pre, NULL, 1);
        add_fixed(p, b->placement_rotation, b->placement_position, 1);
    }
    return ULNA_OK;
}

/* Up from the base to the last common ancestor, then down to the tip. */
static ulna_status find_path(path *p, int base, int tip, ulna_error *error)
{
    const ulna_model *model = p->model;
    p->before[0] = frame_of(NULL, NULL);
    int top = base;
    for (; top >= 0 && !ulna_model_is_ancestor(model, top, tip); top = model->body[top].parent) {
        const ulna_status status = add_body(p, top, 1, error);
        if (status != ULNA_OK)
            return status;
    }
    for (int above = top; above != tip;) {
        int next = tip;
        while (model->body[next].parent != above)
            next = model->body[next].parent;
        const ulna_status status = add_body(p, next, 0, error);
        if (status != ULNA_OK)
            return status;
        above = next;
    }
    if (p->n == 0)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "no joint moves '%s'", ulna_model_body_name(model, tip));
    if (p->too_many)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "more than %d joints move '%s'", ULNA_SERIAL_MAX,
                         ulna_model_body_name(model, tip));
    return ULNA_OK;
}

/* ---- canonical form --------------------------------------------------------------------------------------------------- */

static double snapped(double x)
{
    return fabs(x) < 1e-15 ? 0 : fabs(x - 1) < 1e-15 ? 1 : fabs(x + 1) < 1e-15 ? -1 : x;
}

/* link = Rz(angle) * (translation, Rx(tilt)) * rest, where `rest` commutes with motions along z. Returns `rest`. */
static frame split_link(ulna_serial *chain, int i, const frame *link)
{
    const double z[3] = {link->rotation[2], link->rotation[5], link->rotation[8]}, *t = link->position;
    double sine = hypot(z[0], z[1]), cosine = z[2], angle;
    if (sine > 1e-15)
        angle = atan2(z[0], -z[1]);
    else
        angle = hypot(t[0], t[1]) > 0 ? atan2(t[1], t[0]) : 0, sine = 0, cosine = z[2] > 0 ? 1 : -1;
    sine = snapped(sine), cosine = snapped(cosine);

    double turn[9], moved[3];
    ulna_rotation_about(2, angle, turn);
    ulna_unrotate(turn, t, moved);
    /* The origin may move along the next axis, (0, -sine, cosine): to the common normal, or next to where it came from. */
    const double way = sine > 0.02 ? moved[1] / sine : -moved[2] / cosine;
    moved[1] -= way * sine;
    moved[2] += way * cosine;
    for (int r = 0; r < 3; r++)
        chain->translation[i][r] = fabs(moved[r]) < 1e-15 ? 0 : moved[r];
    chain->angle[i] += angle;
    chain->tilt_sine[i] = sine;
    chain->tilt_cosine[i] = cosine;

    const double tilted[9] = {1, 0, 0, 0, cosine, -sine, 0, sine, cosine};
    frame front = {.rotation = {0}};
    ulna_multiply9(turn, tilted, front.rotation);
    ulna_rotate(turn, chain->translation[i], front.position);
    const frame inverse = inverse_of(&front);
    return times(&inverse, link);
}

static void set_limits(ulna_serial *chain, int i, double lower, double upper)
{
    chain->lower[i] = lower;
    chain->upper[i] = upper;
    chain->free[i] = chain->wraps[i] && upper - lower >= 2 * ULNA_PI - 1e-9;
    chain->no_lower[i] = -INFINITY, chain->no_upper[i] = INFINITY;
    chain->clamp_lower[i] = chain->free[i] ? -INFINITY : lower / chain->unit[i];
    chain->clamp_upper[i] = chain->free[i] ? INFINITY : upper / chain->unit[i];
    double from = chain->clamp_lower[i], to = chain->clamp_upper[i];
    if (chain->free[i])
        from = -ULNA_PI, to = ULNA_PI;
    else if (isinf(from) || isinf(to)) /* a translation without limits: as far as the chain is long */
        from = isinf(from) ? (isinf(to) ? -1 : to - 2) : from, to = isinf(to) ? from + 2 : to;
    chain->sample_lower[i] = from;
    chain->sample_range[i] = to - from;
}

/* The coupling of a degree of freedom, or NULL. */
static const ulna_coupling *find_coupling(const ulna_model *model, int dof)
{
    for (int k = 0; k < model->nc; k++)
        if (model->coupling[k].dof == dof)
            return &model->coupling[k];
    return NULL;
}

/* Which joints move together. q = m r + o for each of a group, with r the value of the group's master, on the chain or not: so
 * q[i] = (m[i] / m[k]) q[k] + o[i] - (m[i] / m[k]) o[k] for its first joint k. */
static void find_owners(ulna_serial *chain, const ulna_model *model)
{
    int master[ULNA_SERIAL_MAX];
    double multiplier[ULNA_SERIAL_MAX], offset[ULNA_SERIAL_MAX];
    for (int i = 0; i < ULNA_SERIAL_MAX; i++) {
        chain->owner[i] = i;
        chain->ratio[i] = chain->moves[i] = 1;
        chain->wraps[i] = i < chain->n && !chain->slides[i];
    }
    for (int i = 0; i < chain->n; i++) {
        const ulna_coupling *coupling = find_coupling(model, chain->dof[i]);
        master[i] = coupling ? coupling->master : chain->dof[i];
        multiplier[i] = coupling ? coupling->multiplier : 1;
        offset[i] = coupling ? coupling->offset : 0;
        int k = 0;
        while (master[k] != master[i])
            k++;
        if (k == i) {
            chain->freedoms++;
            continue;
        }
        const double ratio = multiplier[i] / multiplier[k];
        chain->is_coupled = 1;
        chain->owner[i] = k;
        chain->ratio[i] = ratio * chain->unit[k] / chain->unit[i];
        chain->shift[i] = (offset[i] - ratio * offset[k]) / chain->unit[i];
        chain->moves[k] += fabs(chain->ratio[i]);
        chain->wraps[i] = chain->wraps[k] = 0;
    }
    if (chain->is_coupled)
        chain->padded = ULNA_SERIAL_MAX;
}

static void make_canonical(ulna_serial *chain, const path *p)
{
    static const unsigned char padded[ULNA_SERIAL_MAX + 1] = {0, 4, 4, 4, 4, 5, 6, 7, 8, 12, 12, 12, 12};
    chain->n = p->n;
    chain->padded = padded[p->n];
    frame base = p->before[0], rest = frame_of(NULL, NULL);
    double length = 0, extent = 0;
    for (int i = 0; i < p->n; i++) {
        chain->slides[i] = (unsigned char)p->slides[i];
        chain->dof[i] = p->dof[i];
        chain->coordinate[i] = p->model->dof_coordinate[p->dof[i]];
        const frame link = times(&rest, &p->before[i + 1]);
        if (i == p->n - 1)
            rest = link;
        else
            rest = split_link(chain, i, &link);
        if (i == 0) { /* the first frame moves along its axis to where the second one is */
            const frame up = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .position = {0, 0, chain->translation[0][2]}};
            base = times(&base, &up);
            chain->translation[0][2] = 0;
        }
        length += ulna_norm(chain->translation[i]);
        if (p->slides[i])
            extent += fmax(fabs(p->lower[p->dof[i]]), fabs(p->upper[p->dof[i]]));
    }
    chain->length = length + (isinf(extent) ? 0 : 0.5 * extent);
    if (!(chain->length > 0))
        chain->length = p->model->length_scale;
    chain->reach = (length + extent) / chain->length;
    memcpy(chain->base, &base, sizeof base);
    memcpy(chain->tool, &rest, sizeof rest);
    for (int i = 0; i < ULNA_SERIAL_MAX; i++)
        chain->unit[i] = i < p->n && chain->slides[i] ? chain->length : 1;
    find_owners(chain, p->model);
    for (int i = 0; i < p->n; i++) {
        set_limits(chain, i, p->lower[p->dof[i]], p->upper[p->dof[i]]);
        chain->sine[i] = sin(chain->angle[i]);
        chain->cosine[i] = cos(chain->angle[i]);
        for (int r = 0; r < 3; r++)
            chain->translation[i][r] /= chain->length;
    }
    for (int i = p->n; i < ULNA_SERIAL_MAX; i++) { /* padding: translations between limits of 0 */
        chain->slides[i] = 1;
        chain->cosine[i] = chain->tilt_cosine[i] = 1;
    }
    chain->tilt_cosine[p->n - 1] = 1;
}

/* Strides are powers of the inverse root of x^(count + 1) = x + 1. */
void ulna_serial_strides(int count, double *stride)
{
    double x = 1.5, power = 1;
    for (int k = 0; k < 80; k++)
        x = pow(1 + x, 1.0 / (count + 1));
    for (int i = 0; i < count; i++)
        stride[i] = power /= x;
}

ulna_status ulna_serial_create_with(const ulna_model *model, int base, int tip, const double *lower,
                                    const double *upper, const ulna_serial_kernel *kernel,
                                    const ulna_allocator *allocator, ulna_serial **chain, ulna_error *error)
{
    if (!chain)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no place to put the chain");
    *chain = NULL;
    if (!model || !kernel || tip < 0 || tip >= model->nb || base < ULNA_NONE || base >= model->nb)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a chain needs a model, a tip and a base that are bodies of it");
    path p = {.model = model, .lower = lower ? lower : model->lower, .upper = upper ? upper : model->upper};
    const ulna_status status = find_path(&p, base, tip, error);
    if (status != ULNA_OK)
        return status;

    ulna_serial found = {.kernel = kernel, .allocator = ulna_allocator_or_default(allocator)};
    make_canonical(&found, &p);
    ulna_serial_strides(found.n, found.stride);
    ulna_arena arena = {0};
    ulna_arena_take(&arena, 1, sizeof found);
    ulna_serial_tables_take(&found, &arena);
    found.bytes = arena.used;
    arena = (ulna_arena){.memory = ulna_allocate(&found.allocator, 1, found.bytes)};
    if (!arena.memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "out of memory for a chain of %d joints", found.n);
    *chain = ulna_arena_take(&arena, 1, sizeof found);
    ulna_serial_tables_take(&found, &arena);
    **chain = found;
    ulna_serial_tables_fill(*chain);
    return ULNA_OK;
}

ulna_status ulna_serial_create(const ulna_model *model, int base, int tip, const double *lower, const double *upper,
                               const ulna_allocator *allocator, ulna_serial **chain, ulna_error *error)
{
    return ulna_serial_create_with(model, base, tip, lower, upper, ulna_serial_kernel_find(NULL), allocator, chain,
                                   error);
}

void ulna_serial_destroy(ulna_serial *chain)
{
    if (!chain)
        return;
    const ulna_allocator allocator = chain->allocator;
    ulna_release(&allocator, chain, 1, chain->bytes);
}

int ulna_serial_count(const ulna_serial *chain)
{
    return chain->n;
}

const int *ulna_serial_coordinates(const ulna_serial *chain)
{
    return chain->coordinate;
}

const int *ulna_serial_dofs(const ulna_serial *chain)
{
    return chain->dof;
}

const double *ulna_serial_lower(const ulna_serial *chain)
{
    return chain->lower;
}

const double *ulna_serial_upper(const ulna_serial *chain)
{
    return chain->upper;
}

/* ---- goals -------------------------------------------------------------------------------------------------------------- */

ulna_serial_goal ulna_serial_goal_pose(const double position[3], const double rotation[9])
{
    ulna_serial_goal goal = {.aim = ULNA_SERIAL_POSE, .position_tolerance = 1e-6, .rotation_tolerance = 1e-6};
    ulna_copy3(position, goal.position);
    ulna_copy9(rotation, goal.rotation);
    return goal;
}

/* column[k][r] = entry (r, k) of R, and column[3] = x / length. */
static void set_columns(double column[4][3], const double *R, const double *x, double length)
{
    for (int r = 0; r < 3; r++) {
        for (int k = 0; k < 3; k++)
            column[k][r] = R[3 * r + k];
        column[3][r] = x[r] / length;
    }
}

/* The free axis is the last joint's own: it does not matter then, and the goal may be for the last frame's origin. */
static int is_last_axis(const ulna_serial_target *target)
{
    return hypot(target->point[0], target->point[1]) < 1e-12 && hypot(target->axis[0], target->axis[1]) < 1e-12;
}

static void fold_spin(ulna_serial_target *target)
{
    const double sign = target->axis[2];
    for (int r = 0; r < 3; r++) {
        target->column[2][r] *= sign;
        target->column[3][r] -= target->point[2] * target->column[2][r];
    }
    target->lever = fabs(target->point[2]);
    target->arm[2] = target->point[2];
    target->point[2] = 0;
    target->axis[0] = target->axis[1] = 0, target->axis[2] = 1;
    target->folded_spin = 1;
}

void ulna_serial_target_set(const ulna_serial *chain, const ulna_serial_goal *goal, ulna_serial_target *target)
{
    const frame *base = (const frame *)chain->base, *tool = (const frame *)chain->tool;
    double from_base[3], rotation[9], position[3], point[3], axis[3];
    ulna_subtract3(goal->position, base->position, from_base);
    ulna_unrotate(base->rotation, from_base, position);
    /* rotation = base^-1 goal */
    for (int r = 0; r < 3; r++)
        for (int k = 0; k < 3; k++)
            rotation[3 * r + k] = base->rotation[r] * goal->rotation[k] +
                                  base->rotation[3 + r] * goal->rotation[3 + k] +
                                  base->rotation[6 + r] * goal->rotation[6 + k];
    ulna_rotate(tool->rotation, goal->point, point);
    ulna_accumulate3(tool->position, point);
    double reach = chain->reach;
    target->aim = goal->aim;
    target->lever = 0;
    target->folded_spin = 0;
    memset(target->point, 0, sizeof target->point);
    memset(target->arm, 0, sizeof target->arm);
    target->axis[0] = target->axis[1] = 0, target->axis[2] = 1;
    target->bend = goal->aim == ULNA_SERIAL_SPIN ? 1.1 : 0.55;
    if (goal->aim == ULNA_SERIAL_POSE || goal->aim == ULNA_SERIAL_ORIENTATION) {
        double last[9], way[3];
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                last[3 * r + k] = rotation[3 * r] * tool->rotation[3 * k] +
                                  rotation[3 * r + 1] * tool->rotation[3 * k + 1] +
                                  rotation[3 * r + 2] * tool->rotation[3 * k + 2];
        ulna_rotate(last, point, way);
        for (int r = 0; r < 3; r++)
            position[r] -= way[r];
        set_columns(target->column, last, position, chain->length);
        for (int r = 0; r < 3; r++)
            target->arm[r] = point[r] / chain->length;
        target->lever = goal->aim == ULNA_SERIAL_POSE ? ulna_norm(target->arm) : 0;
    } else {
        ulna_rotate(rotation, goal->axis, axis);
        set_columns(target->column, rotation, position, chain->length);
        ulna_copy3(axis, target->column[2]);
        if (goal->aim == ULNA_SERIAL_SPIN)
            ulna_rotate(tool->rotation, goal->axis, target->axis);
        for (int r = 0; r < 3; r++)
            target->point[r] = point[r] / chain->length;
        reach += ulna_norm(point) / chain->length;
        if (goal->aim == ULNA_SERIAL_SPIN && is_last_axis(target))
            fold_spin(target);
    }
    const double position_tolerance = 0.5 * goal->position_tolerance / chain->length,
                 rotation_tolerance = 0.5 * goal->rotation_tolerance;
    target->met_position =
        goal->aim == ULNA_SERIAL_ORIENTATION ? INFINITY : 0.5 * position_tolerance * position_tolerance;
    target->met_rotation = goal->aim == ULNA_SERIAL_POSITION ? INFINITY : rotation_tolerance * rotation_tolerance;
    target->certified_below =
        fmin(goal->aim == ULNA_SERIAL_POSITION ? INFINITY : rotation_tolerance,
             goal->aim == ULNA_SERIAL_ORIENTATION ? INFINITY : position_tolerance / (fmax(reach, 1) + target->lever));
    target->uses_table = chain->has_tables && (goal->aim == ULNA_SERIAL_POSE || target->folded_spin);
}

/* Errors of solutions are small: below 1e-3 the series is as good as atan2, to 13 digits. */
static double angle_of(double sine, double cosine)
{
    return cosine > 0 && sine < 1e-3 ? sine + sine * sine * sine / 6 : atan2(sine, cosine);
}

/* Metres: of the point of the last frame f that the goal is for, with `arm` from there to where the goal was given. */
static double position_error(const ulna_serial *chain, const ulna_serial_target *goal, const double *f, const double *t)
{
    double way[3];
    for (int r = 0; r < 3; r++) {
        way[r] = f[9 + r] - t[9 + r];
        for (int k = 0; k < 3; k++)
            way[r] += f[3 * k + r] * (goal->point[k] + goal->arm[k]) - t[3 * k + r] * goal->arm[k];
    }
    return chain->length * ulna_norm(way);
}

static double rotation_error(const ulna_serial_target *goal, const double *f, const double *t)
{
    double c[3];
    if (goal->aim == ULNA_SERIAL_SPIN) {
        double axis[3];
        for (int r = 0; r < 3; r++)
            axis[r] = f[r] * goal->axis[0] + f[3 + r] * goal->axis[1] + f[6 + r] * goal->axis[2];
        ulna_cross(t + 6, axis, c);
        return angle_of(ulna_norm(c), ulna_dot(t + 6, axis));
    }
    /* F T' = rotation by the error: its trace is 1 + 2 cos, the sum of cross products of columns 2 sin times its axis. */
    double sum[3] = {0}, trace = 0;
    for (int k = 0; k < 9; k += 3) {
        ulna_cross(t + k, f + k, c);
        ulna_accumulate3(c, sum);
        trace += ulna_dot(t + k, f + k);
    }
    return angle_of(0.5 * ulna_norm(sum), 0.5 * (trace - 1));
}

void ulna_serial_set_lane(const ulna_serial *chain, const double *q, int lane, ulna_serial_lanes *state)
{
    for (int i = 0; i < chain->n; i++)
        state->q[i][lane] = chain->slides[i] ? q[i] / chain->length : q[i];
}

void ulna_serial_measure(const ulna_serial *chain, ulna_serial_lanes *state, int count, double *position,
                         double *rotation)
{
    const ulna_serial_target *goal = state->goal;
    double last[12][ULNA_SERIAL_LANES];
    chain->kernel->forward(chain, state->q, last);
    for (int l = 0; l < count; l++) {
        double f[12], t[12];
        for (int k = 0; k < 12; k++) {
            f[k] = last[k][l];
            t[k] = state->target[k][l];
        }
        position[l] = goal->aim == ULNA_SERIAL_ORIENTATION ? 0 : position_error(chain, goal, f, t);
        rotation[l] = goal->aim == ULNA_SERIAL_POSITION ? 0 : rotation_error(goal, f, t);
    }
}

void ulna_serial_error(const ulna_serial *chain, const ulna_serial_goal *goal, const double *q, double *position,
                       double *rotation)
{
    ulna_serial_target target;
    ulna_serial_lanes state = {0};
    ulna_serial_target_set(chain, goal, &target);
    ulna_serial_lanes_set(chain, &target, &state);
    ulna_serial_set_lane(chain, q, 0, &state);
    ulna_serial_measure(chain, &state, 1, position, rotation);
}

/* ---- back to coordinates --------------------------------------------------------------------------------------------------- */

int ulna_serial_accept_at(const ulna_serial *chain, double (*scaled)[ULNA_SERIAL_LANES], int lane, const double *seed,
                          double *q)
{
    for (int i = 0; i < chain->n; i++) {
        double x = scaled[i][lane];
        if (!(fabs(x) < LARGEST_ANGLE))
            return 0;
        if (chain->owner[i] != i)
            x = chain->ratio[i] * scaled[chain->owner[i]][lane] + chain->shift[i];
        if (!chain->wraps[i]) {
            x *= chain->unit[i];
        } else {
            const double turn = 2 * ULNA_PI;
            x = ulna_serial_unturn(x, seed[i]);
            if (x > chain->upper[i])
                x -= turn * ceil((x - chain->upper[i] - LIMIT_SLACK) / turn);
            if (x < chain->lower[i])
                x += turn * ceil((chain->lower[i] - x - LIMIT_SLACK) / turn);
        }
        const double slack = LIMIT_SLACK * chain->unit[i];
        if (x > chain->upper[i] + slack || x < chain->lower[i] - slack)
            return 0;
        q[i] = ulna_serial_clamp(x, chain->lower[i], chain->upper[i]);
    }
    return 1;
}
