/* One degree of freedom moves: its axis, the pulls beyond it and their sums; where f is lowest along it; and what methods that
 * sweep over single DOFs share. The formulas are in one_dof.h. */
#include "solve/one_dof.h"

#include <float.h>

#include "math/math3.h"

/* ---- vectors of four lanes -------------------------------------------------------------------------------------- */

static double dot(ulna_vec4 a, ulna_vec4 b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static ulna_vec4 cross(ulna_vec4 a, ulna_vec4 b)
{
    return (ulna_vec4){a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0], 0};
}

/* ---- rigid motions ---------------------------------------------------------------------------------------------- */

/* A rotation less the identity is W = sin t [a]x + (1 - cos t) [a]x^2, and through the point o: x -> x + W (x - o). */
static void move_rotation(ulna_vec4 a, ulna_vec4 o, double t, ulna_move *move)
{
    double s = sin(t), half = sin(0.5 * t), c = 2 * half * half;
    for (int k = 0; k < 3; k++) {
        ulna_vec4 e = {k == 0, k == 1, k == 2, 0};
        move->column[k] = s * cross(a, e) + c * (a * a[k] - e);
    }
    move->column[3] = -(move->column[0] * o[0] + move->column[1] * o[1] + move->column[2] * o[2]);
}

/* By `rotation` (row by row) in the axes of the frame, about its origin. */
static void move_in_frame(const ulna_vec4 frame[4], const double rotation[9], ulna_move *move)
{
    ulna_vec4 turned[3], o = frame[3];
    const double *r = rotation;
    for (int k = 0; k < 3; k++) /* frame (rotation - 1) */
        turned[k] = frame[0] * (r[k] - (k == 0)) + frame[1] * (r[3 + k] - (k == 1)) + frame[2] * (r[6 + k] - (k == 2));
    for (int k = 0; k < 3; k++)
        move->column[k] = turned[0] * frame[0][k] + turned[1] * frame[1][k] + turned[2] * frame[2][k];
    move->column[3] = -(move->column[0] * o[0] + move->column[1] * o[1] + move->column[2] * o[2]);
}

void ulna_move_append(ulna_move *move, const ulna_move *next)
{
    for (int k = 0; k < 4; k++) {
        ulna_vec4 x = move->column[k];
        move->column[k] =
            x + next->column[k] + (next->column[0] * x[0] + next->column[1] * x[1] + next->column[2] * x[2]);
    }
}

/* ---- the degrees of freedom of one link ------------------------------------------------------------------------- */

/* Goes back from the end of the joint to where its rotation vector or swing begins. */
static void read_base(const ulna_pose *pose, const ulna_link *link, int place, ulna_vec4 base[4])
{
    const double *end = pose->q + link->coordinate;
    for (int k = 0; k < link->segment_count; k++)
        end += ulna_segment_coordinates((ulna_segment)link->segment[k]);
    memcpy(base, pose->frame + 4 * (link - pose->model->link), 4 * sizeof *base);
    for (int k = link->segment_count - 1; k >= place; k--) {
        double r[9], t[3], back[9], slide[3];
        end -= ulna_segment_coordinates((ulna_segment)link->segment[k]);
        ulna_segment_motion((ulna_segment)link->segment[k], link->sign, end, r, t);
        ulna_invert(r, t, back, slide);
        ulna_vec4 x = base[0], y = base[1], z = base[2];
        base[3] += x * slide[0] + y * slide[1] + z * slide[2];
        for (int c = 0; c < 3; c++)
            base[c] = x * back[c] + y * back[3 + c] + z * back[6 + c];
    }
}

static ulna_pair twist_of(ulna_vec4 axis, ulna_vec4 through)
{
    return (ulna_pair){axis, cross(through, axis)};
}

/* The rotation vector w that DOF i belongs to, that DOF moved by t. */
static void vector_of(const ulna_axes *axes, int i, const double *q, double t, double w[3])
{
    double sign = axes->link->sign;
    q += axes->coordinate[i];
    w[2] = 0;
    for (int k = 0; k < ulna_segment_dofs((ulna_segment)axes->segment[i]); k++)
        w[k] = sign * (q[k] + (k == axes->part[i] ? t : 0));
}

static void set_back(ulna_axes *axes, int i, const double *q)
{
    double w[3], r[9];
    vector_of(axes, i, q, 0, w);
    ulna_exp(w, r);
    ulna_transpose9(r, axes->back);
}

/* R(w) -> R(w + t e_i): the rotation exp(w + t e) exp(-w) in the frame where the rotation vector begins. */
static void move_curved(const ulna_axes *axes, int i, const double *q, double t, ulna_move *move, ulna_pair *twist)
{
    double w[3], r[9], turn[9], left[9], sign = axes->link->sign;
    int part = axes->part[i];
    vector_of(axes, i, q, t, w);
    ulna_exp(w, r);
    ulna_multiply9(r, axes->back, turn);
    move_in_frame(axes->base, turn, move);
    if (twist) {
        ulna_left_jacobian(w, left);
        ulna_vec4 axis =
            sign * (axes->base[0] * left[part] + axes->base[1] * left[3 + part] + axes->base[2] * left[6 + part]);
        *twist = twist_of(axis, axes->base[3]);
    }
}

void ulna_axes_read(const ulna_pose *pose, const ulna_link *link, ulna_axes *axes)
{
    int coordinate = 0, i = 0;
    axes->link = link;
    axes->count = link->dof_count;
    for (int k = 0; k < link->segment_count; k++) {
        ulna_segment segment = (ulna_segment)link->segment[k];
        for (int part = 0; part < ulna_segment_dofs(segment); part++, i++) {
            const ulna_vec4 *motion = pose->motion + 2 * (size_t)(link->dof + i);
            axes->segment[i] = (unsigned char)segment;
            axes->place[i] = (unsigned char)k;
            axes->part[i] = (unsigned char)part;
            axes->coordinate[i] = (unsigned char)coordinate;
            axes->axis[i] = ulna_segment_is_translation(segment) ? motion[1] : motion[0];
            axes->through[i] = cross(motion[0], motion[1]); /* of a unit axis, the point nearest to the origin */
            axes->through[i][3] = 1;
        }
        if (segment > ULNA_SEGMENT_BALL) {
            read_base(pose, link, k, axes->base);
            set_back(axes, i - 1, pose->q + link->coordinate);
        }
        coordinate += ulna_segment_coordinates(segment);
    }
}

void ulna_axes_move(const ulna_axes *axes, int i, const double *q, double t, ulna_move *move, ulna_pair *twist)
{
    if (ulna_axes_is_curved(axes, i)) {
        move_curved(axes, i, q, t, move, twist);
    } else if (ulna_segment_is_translation(axes->segment[i])) {
        *move = (ulna_move){.column[3] = axes->axis[i] * t};
        if (twist)
            *twist = (ulna_pair){{0}, axes->axis[i]};
    } else {
        move_rotation(axes->axis[i], axes->through[i], t, move);
        if (twist)
            *twist = twist_of(axes->axis[i], axes->through[i]);
    }
}

static void follow(ulna_axes *axes, int j, const ulna_move *move)
{
    axes->axis[j] = ulna_moved(move, axes->axis[j]);
    axes->through[j] = ulna_moved(move, axes->through[j]);
    if (!ulna_axes_is_curved(axes, j) || axes->part[j])
        return;
    axes->base[3][3] = 1;
    for (int k = 0; k < 4; k++)
        axes->base[k] = ulna_moved(move, axes->base[k]);
    axes->base[3][3] = 0;
}

void ulna_axes_carry(ulna_axes *axes, const ulna_move *move)
{
    for (int j = 0; j < axes->count; j++)
        follow(axes, j, move);
}

void ulna_axes_step(ulna_axes *axes, int i, double t, const ulna_move *move, double *q)
{
    double *at = q + axes->coordinate[i];
    int is_ball = axes->segment[i] == ULNA_SEGMENT_BALL;
    if (is_ball) {
        double w[3] = {0, 0, 0}, turn[4];
        w[axes->part[i]] = t;
        ulna_quaternion_exp(w, turn);
        ulna_quaternion_multiply(turn, at, at);
    } else {
        at[axes->part[i]] += t;
    }
    if (ulna_axes_is_curved(axes, i))
        set_back(axes, i, q);

    /* The axes of a reversed ball are those of its moved frame: they follow the ball's own rotations. */
    int first = is_ball && axes->link->sign < 0 ? axes->place[i] : axes->place[i] + 1;
    for (int j = 0; j < axes->count; j++)
        if (axes->place[j] >= first)
            follow(axes, j, move);
}

/* ---- sums of pulls ---------------------------------------------------------------------------------------------- */

void ulna_sums_add(ulna_pull_sums *sums, const ulna_pull_sums *other)
{
    for (int k = 0; k < 4; k++)
        sums->square[k] += other->square[k];
    for (int k = 0; k < 3; k++)
        sums->moment[k] += other->moment[k];
}

void ulna_sums_scale(ulna_pull_sums *sums, double factor)
{
    for (int k = 0; k < 4; k++)
        sums->square[k] *= factor;
    for (int k = 0; k < 3; k++)
        sums->moment[k] *= factor;
}

void ulna_sums_add_pull(ulna_pull_sums *sums, double weight, ulna_vec4 h, ulna_vec4 residual)
{
    for (int k = 0; k < 4; k++)
        sums->square[k] += weight * h[k] * h;
    for (int k = 0; k < 3; k++)
        sums->moment[k] += weight * residual[k] * h;
}

/* Columns of Q DT. */
static void swept(const ulna_pull_sums *sums, const ulna_move *move, ulna_vec4 column[3])
{
    for (int k = 0; k < 3; k++)
        column[k] = (sums->square[0] * move->column[0][k] + sums->square[1] * move->column[1][k]) +
                    (sums->square[2] * move->column[2][k] + sums->square[3] * move->column[3][k]);
}

void ulna_sums_move(ulna_pull_sums *sums, const ulna_move *move)
{
    ulna_vec4 column[3];
    swept(sums, move, column);
    for (int k = 0; k < 3; k++) {
        sums->moment[k] = ulna_moved(move, sums->moment[k] - column[k]);
        sums->square[k] = ulna_moved(move, sums->square[k] + column[k]);
    }
    sums->square[3] = ulna_moved(move, sums->square[3]);
}

/* How f changes if the pulls move so. */
static double change_of(const ulna_pull_sums *sums, const ulna_move *move)
{
    ulna_vec4 column[3];
    double change = 0;
    swept(sums, move, column);
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 4; m++)
            change += move->column[m][k] * (0.5 * column[k][m] - sums->moment[k][m]);
    return change;
}

/* sum w r over points, and sum w h x r. */
static ulna_vec4 force(const ulna_pull_sums *sums)
{
    return (ulna_vec4){sums->moment[0][3], sums->moment[1][3], sums->moment[2][3], 0};
}

static ulna_vec4 torque(const ulna_pull_sums *sums)
{
    const ulna_vec4 *m = sums->moment;
    return (ulna_vec4){m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1], 0};
}

void ulna_sums_along(const ulna_pull_sums *sums, const ulna_axes *axes, int i, double f, double *g, double *h)
{
    const ulna_vec4 *Q = sums->square, *M = sums->moment;
    ulna_vec4 a = axes->axis[i], o = axes->through[i], s = Q[3];
    double n = s[3];
    if (ulna_segment_is_translation(axes->segment[i])) {
        *g = -dot(a, force(sums));
        *h = n;
        return;
    }

    /* h = sum w |a x p + v|^2 - r . a x (a x p + v), v = o x a */
    ulna_vec4 v = cross(o, a), Qa = Q[0] * a[0] + Q[1] * a[1] + Q[2] * a[2];
    ulna_vec4 Ma = M[0] * a[0] + M[1] * a[1] + M[2] * a[2];
    double spread = Q[0][0] + Q[1][1] + Q[2][2], work = M[0][0] + M[1][1] + M[2][2];
    *g = -dot(a, torque(sums)) - dot(v, force(sums));
    *h = spread - dot(a, Qa) + 2 * dot(v, cross(a, s)) + n * dot(v, v) - dot(a, Ma) + work +
         dot(a, cross(force(sums), v));

    double size = spread + n * dot(o, o), noise = 32 * DBL_EPSILON * (size + sqrt(2 * f * size));
    if (hypot(*g, *h) <= noise)
        *g = *h = 0;
}

double ulna_sums_curve(const ulna_pull_sums *sums, const ulna_axes *axes, int i, const double *q, double t,
                       double *slope)
{
    ulna_move move;
    ulna_pair twist;
    ulna_pull_sums moved = *sums;
    ulna_axes_move(axes, i, q, t, &move, &twist);
    double change = change_of(sums, &move);
    ulna_sums_move(&moved, &move);
    *slope -= dot(twist.angular, torque(&moved)) + dot(twist.linear, force(&moved));
    return change;
}

/* ---- the lowest point ------------------------------------------------------------------------------------------- */

ulna_profile ulna_profile_of(const ulna_solver *s, const ulna_axes *axes, int i)
{
    int dof = axes->link->dof + i, c = s->model->dof_coordinate[dof], curved = ulna_axes_is_curved(axes, i);
    ulna_profile profile = {.kind = ULNA_PROFILE_ROTATION,
                            .low = -(double)INFINITY,
                            .high = (double)INFINITY,
                            .window = curved ? ULNA_PI : 0,
                            .stride = 0.1 * s->unit[dof],
                            .reach = 1e3 * s->unit[dof],
                            .fraction = fmin(s->scale[dof] / s->unit[dof], 1)};
    if (curved || ulna_segment_is_translation(axes->segment[i]))
        profile.kind = curved ? ULNA_PROFILE_CURVE : ULNA_PROFILE_TRANSLATION;
    if (s->bounded && c >= 0) {
        profile.low = fmin(s->lower[dof] - s->trial[c], 0);
        profile.high = fmax(s->upper[dof] - s->trial[c], 0);
    }
    return profile;
}

void ulna_profile_stay_inside(const ulna_profile *profile, ulna_solver *s, int dof, double t)
{
    int c = s->model->dof_coordinate[dof];
    if (s->bounded && c >= 0)
        s->trial[c] = t == profile->low    ? s->lower[dof]
                      : t == profile->high ? s->upper[dof]
                                           : fmin(fmax(s->trial[c], s->lower[dof]), s->upper[dof]);
}

enum { MOST_SAMPLES = 64, MOST_NODES = MOST_SAMPLES + 2, VALLEYS = 3 };

typedef struct node {
    double t, value, slope;
    double noise; /* rounding of the value */
} node;

static node look(const ulna_profile *c, double t)
{
    double linear = c->slope * t, square = 0.5 * c->curve * t * t, size = fabs(linear) + square;
    node x = {.t = t, .value = linear + square, .slope = c->slope + c->curve * t};
    if (c->kind == ULNA_PROFILE_ROTATION) {
        double s = sin(t), half = sin(0.5 * t), lag = 2 * half * half, cosine = 1 - lag;
        double first = c->g * s, second = c->h * lag, third = 2 * s * c->g2 * cosine, fourth = 2 * s * s * c->h2;
        x.value += (first + second) + (third + fourth);
        x.slope += c->g * cosine + c->h * s + 2 * c->g2 * (1 - 2 * s * s) + 4 * c->h2 * s * cosine;
        size += fabs(first) + fabs(second) + fabs(third) + fabs(fourth);
    } else if (c->kind == ULNA_PROFILE_TRANSLATION) {
        x.value += c->g * t + 0.5 * c->h * t * t;
        x.slope += c->g + c->h * t;
    }
    if (c->rest) {
        double slope = 0;
        x.value += c->rest(c->context, t, &slope);
        x.slope += slope;
    }
    x.noise = 8 * DBL_EPSILON * size;
    if (!isfinite(x.value) || !isfinite(x.slope))
        x = (node){t, INFINITY, 0, 0};
    return x;
}

/*
 * The valley between a, where f falls towards b, and b, where it falls towards a or is no lower. Slopes are brought to
 * zero by regula falsi, the weight of an end that stays halved (Illinois); every third time the interval is halved.
 */
static node descend(const ulna_profile *c, node a, node b)
{
    node best = a.value <= b.value ? a : b;
    double left = a.slope, right = b.slope;
    for (int round = 0; round < 80 && fabs(b.t - a.t) > 1e-9 * fabs(best.t) + DBL_MIN; round++) {
        if (fabs(a.slope * (b.t - a.t)) <= c->least)
            break;
        double share = left * right < 0 && round % 3 < 2 ? left / (left - right) : 0.5;
        double t = a.t + share * (b.t - a.t);
        if (t == a.t || t == b.t)
            break;
        node x = look(c, t);
        if (x.value < best.value || (x.value == best.value && fabs(x.slope) < fabs(best.slope)))
            best = x;
        if (x.slope == 0 && isfinite(x.value))
            break;
        int falls = (b.t > a.t ? x.slope < 0 : x.slope > 0) && x.value <= a.value;
        if (falls) {
            a = x;
            left = x.slope;
            right *= 0.5;
        } else {
            b = x;
            right = isfinite(x.value) ? x.slope : 0;
            left *= 0.5;
        }
    }
    return best;
}

/* From 0 downhill, in strides that double, until it rises again. An aim may pull a translation to infinity: at most `reach`. */
static node valley(const ulna_profile *c)
{
    node a = look(c, 0);
    double side = a.slope < 0 ? 1 : -1, stride = c->stride;
    double end = side > 0 ? fmin(c->high, c->reach) : fmax(c->low, -c->reach);
    if (a.slope == 0 || end == 0)
        return a;
    for (int i = 0; i < 100; i++) {
        int last = fabs(end - a.t) <= stride;
        node b = look(c, last ? end : a.t + side * stride);
        if (side * b.slope > 0 || !(b.value < a.value))
            return descend(c, a, b);
        a = b;
        if (last || b.slope == 0)
            break;
        stride *= 2;
    }
    return a;
}

/* Samples over the window, 0 among them; how many. */
static int sample(const ulna_profile *c, node nodes[MOST_NODES])
{
    double low = fmax(c->low, c->center - c->window), high = fmin(c->high, c->center + c->window);
    if (low > high) /* all of it is on one side of the window */
        low = high = c->high < c->center ? c->high : c->low;
    high = fmin(c->high, fmax(high, low + 2 * c->window)); /* a window that is cut on one side goes on at the other */
    low = fmax(c->low, fmin(low, high - 2 * c->window));
    int cells = (int)fmin(fmax(ceil((high - low) * 16 / ULNA_PI), 4), MOST_SAMPLES), count = 0, zero = 0;
    for (int i = 0; i <= cells; i++) {
        double t = i == cells ? high : low + (high - low) * i / cells;
        if (!zero && t >= 0) {
            zero = 1;
            if (t > 0)
                nodes[count++] = look(c, 0);
        }
        if (count == 0 || t > nodes[count - 1].t)
            nodes[count++] = look(c, t);
    }
    if (!zero)
        nodes[count++] = look(c, 0);
    return count;
}

/* The lowest of the valleys that samples show. */
static node lowest(const ulna_profile *c)
{
    node nodes[MOST_NODES], best = {0};
    int count = sample(c, nodes), tried[VALLEYS] = {-1, -1, -1};
    for (int i = 0; i < count; i++)
        if (nodes[i].value < best.value)
            best = nodes[i];
    for (int round = 0; round < VALLEYS; round++) {
        int cell = -1;
        double least = INFINITY;
        for (int i = 0; i + 1 < count; i++) {
            node a = nodes[i], b = nodes[i + 1];
            int is_valley = (a.slope < 0 && (b.slope > 0 || b.value >= a.value)) || (b.slope > 0 && a.value >= b.value);
            if (is_valley && i != tried[0] && i != tried[1] && fmin(a.value, b.value) < least) {
                least = fmin(a.value, b.value);
                cell = i;
            }
        }
        if (cell < 0)
            break;
        tried[round] = cell;
        node a = nodes[cell], b = nodes[cell + 1], x = a.slope < 0 ? descend(c, a, b) : descend(c, b, a);
        double slack = 1e-9 * fabs(best.value); /* of equals the nearest */
        if (x.value < best.value - slack || (x.value <= best.value + slack && fabs(x.t) < fabs(best.t)))
            best = x;
    }
    return best;
}

/* Sines and cosines alone: stationary at two opposite angles. */
static double lowest_of_rotation(const ulna_profile *c)
{
    if (c->g == 0 && c->h == 0)
        return 0;
    double t = atan2(-c->g, c->h), other = t > 0 ? t - 2 * ULNA_PI : t + 2 * ULNA_PI;
    if (t >= c->low && t <= c->high)
        return t;
    if (other >= c->low && other <= c->high)
        return other;
    return look(c, c->low).value < look(c, c->high).value ? c->low : c->high;
}

/* A weak joint moves a part of the way; if f rises on it, a part of the way to the nearest valley. */
static node part_of_way(const ulna_profile *profile, double t)
{
    node x = look(profile, profile->fraction * t);
    if (profile->fraction < 1 && !(x.value < 0))
        x = look(profile, profile->fraction * valley(profile).t);
    return x;
}

double ulna_profile_minimise(const ulna_profile *profile, double *decrease)
{
    int has_more =
        profile->rest != NULL || profile->slope != 0 || profile->curve != 0 || profile->g2 != 0 || profile->h2 != 0;
    node x;
    if (profile->kind == ULNA_PROFILE_ROTATION && !has_more) {
        x = part_of_way(profile, lowest_of_rotation(profile));
    } else if (profile->kind == ULNA_PROFILE_TRANSLATION && !profile->rest) {
        double curve = profile->h + profile->curve, t = curve > 0 ? -(profile->g + profile->slope) / curve : 0;
        x = look(profile, profile->fraction * fmin(fmax(t, profile->low), profile->high));
    } else {
        x = part_of_way(profile, (profile->window > 0 ? lowest(profile) : valley(profile)).t);
    }
    int pays = x.value < -profile->least - x.noise;
    *decrease = pays ? -x.value : 0;
    return pays ? x.t : 0;
}

/* ---- from sweep to sweep ---------------------------------------------------------------------------------------- */

#define LONGEST_STRIDE 1e3
#define LONGEST_WAY 0.3 /* radians: of a pattern move */
#define BEND 0.01       /* radians */
enum { BENT_SWEEPS = 4 };

ulna_status ulna_sweep_from_q(ulna_solver *s, ulna_sweep_once sweep, void *state, double *predicted)
{
    double f;
    memcpy(s->trial, s->q, (size_t)s->nq * sizeof *s->q);
    memset(s->step, 0, (size_t)s->nv * sizeof *s->step);
    *predicted = sweep(s, state);
    if (!(*predicted > 0))
        return ULNA_OK;
    ulna_status status = ulna_try_q(s, &f);
    if (status == ULNA_OK && f < s->f)
        ulna_accept(s, s->step, 1, f);
    return status == ULNA_OK ? ulna_return(s) : status;
}

ulna_status ulna_pattern_move(ulna_solver *s, double *stride)
{
    double f, decrease = s->now.decrease, step = s->now.step, length = fmin(*stride, LONGEST_WAY / step);
    if (!(length >= 0.5))
        return ULNA_OK;
    ulna_status status = ulna_try(s, s->step, length, &f);
    if (status != ULNA_OK)
        return status;
    if (!(f < s->f)) {
        *stride = fmax(0.25 * *stride, 1);
        return ulna_return(s);
    }
    ulna_accept(s, s->step, length, f);
    s->now.decrease += decrease;
    s->now.step += step;
    *stride = fmin(2 * *stride, LONGEST_STRIDE);
    return ULNA_OK;
}

ulna_status ulna_bend_and_sweep(ulna_solver *s, ulna_sweep_once sweep, void *state)
{
    double f;
    for (int j = 0; j < s->nv; j++) {
        double x = BEND * (2 * ulna_random_uniform(&s->random) - 1);
        s->step[j] = s->locked[j] ? 0 : x * s->unit[j];
    }
    ulna_status status = ulna_try(s, s->step, 1, &f);
    for (int round = 0; round < BENT_SWEEPS && status == ULNA_OK && isfinite(f); round++) {
        sweep(s, state);
        status = ulna_try_q(s, &f);
        if (status == ULNA_OK && f < s->f - 1e-9 * s->f) {
            ulna_accept(s, s->step, 1, f);
            s->now.unsettled = 1;
            return ULNA_OK;
        }
    }
    return status == ULNA_OK ? ulna_return(s) : status;
}

ulna_status ulna_end_of_sweeps(ulna_solver *s, double predicted)
{
    ulna_status status = ulna_gradient_here(s);
    if (status != ULNA_OK)
        return status;
    s->now.stop = ulna_is_flat(s)               ? ULNA_STOP_GRADIENT
                  : predicted <= ulna_little(s) ? ULNA_STOP_DECREASE
                                                : ULNA_STOP_STALLED;
    return ULNA_OK;
}
