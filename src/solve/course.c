/* Where f is lowest along one degree of freedom; and what methods that go by sweeps of such steps have in common. */
#include "solve/one_dof.h"

#include <float.h>

#include "math/math3.h"

ulna_course ulna_course_of(const ulna_solver *s, const ulna_axes *axes, int i)
{
    int dof = axes->link->dof + i, c = s->model->dof_coordinate[dof], curved = ulna_axes_is_curved(axes, i);
    ulna_course course = {.kind = ULNA_COURSE_TURN,
                          .low = -(double)INFINITY,
                          .high = (double)INFINITY,
                          .window = curved ? ULNA_PI : 0,
                          .stride = 0.1 * s->unit[dof],
                          .reach = 1e3 * s->unit[dof],
                          .fraction = fmin(s->scale[dof] / s->unit[dof], 1)};
    if (curved || ulna_segment_is_slide(axes->segment[i]))
        course.kind = curved ? ULNA_COURSE_CURVE : ULNA_COURSE_SLIDE;
    if (s->bounded && c >= 0) {
        course.low = fmin(s->lower[dof] - s->trial[c], 0);
        course.high = fmax(s->upper[dof] - s->trial[c], 0);
    }
    return course;
}

void ulna_course_stay_inside(const ulna_course *course, ulna_solver *s, int dof, double t)
{
    int c = s->model->dof_coordinate[dof];
    if (s->bounded && c >= 0)
        s->trial[c] = t == course->low    ? s->lower[dof]
                      : t == course->high ? s->upper[dof]
                                          : fmin(fmax(s->trial[c], s->lower[dof]), s->upper[dof]);
}

enum { MOST_SAMPLES = 64, MOST_NODES = MOST_SAMPLES + 2, VALLEYS = 3 };

typedef struct node {
    double t, value, slope;
    double noise; /* rounding of the value */
} node;

static node look(const ulna_course *c, double t)
{
    double linear = c->slope * t, square = 0.5 * c->curve * t * t, size = fabs(linear) + square;
    node x = {.t = t, .value = linear + square, .slope = c->slope + c->curve * t};
    if (c->kind == ULNA_COURSE_TURN) {
        double s = sin(t), half = sin(0.5 * t), lag = 2 * half * half, cosine = 1 - lag;
        double first = c->g * s, second = c->h * lag, third = 2 * s * c->g2 * cosine, fourth = 2 * s * s * c->h2;
        x.value += (first + second) + (third + fourth);
        x.slope += c->g * cosine + c->h * s + 2 * c->g2 * (1 - 2 * s * s) + 4 * c->h2 * s * cosine;
        size += fabs(first) + fabs(second) + fabs(third) + fabs(fourth);
    } else if (c->kind == ULNA_COURSE_SLIDE) {
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
static node descend(const ulna_course *c, node a, node b)
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

/* From 0 downhill, in strides that double, until it rises again. An aim may draw a slide to infinity: only so far. */
static node valley(const ulna_course *c)
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
static int sample(const ulna_course *c, node nodes[MOST_NODES])
{
    double low = fmax(c->low, c->center - c->window), high = fmin(c->high, c->center + c->window);
    if (low > high) /* all of it is on one side of the window */
        low = high = c->high < c->center ? c->high : c->low;
    high = fmin(c->high, fmax(high, low + 2 * c->window)); /* a turn that is cut on one side goes on at the other */
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
static node lowest(const ulna_course *c)
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
static double lowest_of_turn(const ulna_course *c)
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

/* A weak joint goes a part of the way; if there is a hill on it, a part of the way to the nearest valley. */
static node part_of_way(const ulna_course *course, double t)
{
    node x = look(course, course->fraction * t);
    if (course->fraction < 1 && !(x.value < 0))
        x = look(course, course->fraction * valley(course).t);
    return x;
}

double ulna_course_minimise(const ulna_course *course, double *decrease)
{
    int has_more =
        course->rest != NULL || course->slope != 0 || course->curve != 0 || course->g2 != 0 || course->h2 != 0;
    node x;
    if (course->kind == ULNA_COURSE_TURN && !has_more) {
        x = part_of_way(course, lowest_of_turn(course));
    } else if (course->kind == ULNA_COURSE_SLIDE && !course->rest) {
        double curve = course->h + course->curve, t = curve > 0 ? -(course->g + course->slope) / curve : 0;
        x = look(course, course->fraction * fmin(fmax(t, course->low), course->high));
    } else {
        x = part_of_way(course, (course->window > 0 ? lowest(course) : valley(course)).t);
    }
    int pays = x.value < -course->least - x.noise;
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
    if (ulna_projected_gradient(s) <= s->options.gradient * s->length2)
        s->now.stop = ULNA_STOP_GRADIENT;
    else
        s->now.stop =
            predicted <= fmax(s->options.decrease, ULNA_LEAST_DECREASE) * s->f ? ULNA_STOP_DECREASE : ULNA_STOP_STALLED;
    return ULNA_OK;
}
