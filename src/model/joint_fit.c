/*
 * The coordinates that bring a joint nearest to a wanted motion.
 *
 * A reversed joint is fitted as its forward self to the inverse motion. Then the rotation comes first: it does not depend
 * on translations. Quaternions, rotation vectors, swing and twist, and up to three rotations about coordinate axes (all
 * 12 Euler orders) have closed forms. Given the rotations, translations are a linear least-squares problem. Where that
 * leaves something over (a motion out of reach, a gimbal-locked joint with translations between its rotations, four
 * rotations or more), damped Gauss-Newton steps on all coordinates finish the work, from several starts.
 *
 * "Nearest" is in the sum of squares of the translation, in units of the length that the caller gives, and of the nine
 * entries of the rotation. The gradient method can end in a local minimum for motions out of reach of long sequences.
 */
#include "math/math3.h"
#include "model/model.h"

enum { MAX = ULNA_JOINT_MAX_SEGMENTS };

/* The wanted motion between pre and post, and the segments in forward order. */
typedef struct fit {
    int count;
    ulna_segment segment[MAX];
    int coordinate[MAX]; /* where the segment's coordinates are in q */
    double rotation[9], translation[3];
} fit;

static fit make_fit(const ulna_joint_plan *plan, const double rotation[9], const double translation[3])
{
    fit f = {.count = plan->segment_count};
    double turned[9], back[9];
    ulna_transpose9(plan->pre, back);
    ulna_multiply9(back, rotation, turned);
    ulna_transpose9(plan->post, back);
    ulna_multiply9(turned, back, f.rotation);
    ulna_unrotate(plan->pre, translation, f.translation);
    for (int i = 0, at = 0; i < f.count; i++) {
        int to = plan->sign < 0 ? f.count - 1 - i : i;
        f.segment[to] = (ulna_segment)plan->segment[i];
        f.coordinate[to] = at;
        at += ulna_segment_coordinates(f.segment[to]);
    }
    if (plan->sign < 0) {
        double r[9], t[3];
        ulna_invert(f.rotation, f.translation, r, t);
        ulna_copy9(r, f.rotation);
        ulna_copy3(t, f.translation);
    }
    return f;
}

/* ---- rotation vectors ----------------------------------------------------------------------------------------- */

/* Of all vectors that rotate as w does (|w| <= pi), the one nearest to `near`. */
static void nearest_branch(double w[3], const double near[3])
{
    double angle = ulna_norm(w), distance = ulna_norm(near);
    if (angle > 1e-12) {
        double along = ulna_dot(w, near) / angle, shift = ulna_nearest_turn(angle, along) / angle;
        for (int i = 0; i < 3; i++)
            w[i] *= shift;
    } else if (distance > ULNA_PI) { /* no rotation at all: any direction will do */
        double length = 2 * ULNA_PI * round(distance / (2 * ULNA_PI));
        for (int i = 0; i < 3; i++)
            w[i] = near[i] * (length / distance);
    }
}

static void fit_expmap(const double rotation[9], const double near[3], double w[3])
{
    ulna_log(rotation, w);
    nearest_branch(w, near);
}

/* R = exp(w) Rz(twist): the swing takes z where R takes it. */
static void fit_swing(const double rotation[9], const double near[2], double swing[2])
{
    double across = hypot(rotation[2], rotation[5]), angle = atan2(across, rotation[8]);
    double near3[3] = {near[0], near[1], 0}, w[3] = {0, 0, 0}, distance = ulna_norm(near3);
    if (across > 1e-13) {
        w[0] = -rotation[5] / across * angle;
        w[1] = rotation[2] / across * angle;
    } else if (rotation[8] < 0) { /* straight back: every direction is right */
        w[0] = distance > 0 ? near3[0] / distance * ULNA_PI : ULNA_PI;
        w[1] = distance > 0 ? near3[1] / distance * ULNA_PI : 0;
    }
    nearest_branch(w, near3);
    swing[0] = w[0];
    swing[1] = w[1];
}

/* ---- rotations about coordinate axes -------------------------------------------------------------------------------- */

/* The angle of the rotation about one axis that is nearest to a matrix. */
static double fit_turn(const double r[9], int axis)
{
    int i = (axis + 1) % 3, j = (axis + 2) % 3;
    return atan2(r[3 * j + i] - r[3 * i + j], r[3 * i + i] + r[3 * j + j]);
}

/* Rt(axis, angle) * r */
static void peel(int axis, double angle, const double r[9], double rest[9])
{
    double turn[9];
    ulna_rotation_about(axis, -angle, turn);
    ulna_multiply9(turn, r, rest);
}

/* +1 if i, j, k is an even permutation of the axes, -1 if odd */
static double parity(int i, int j)
{
    return (i + 1) % 3 == j ? 1 : -1;
}

/* Ra(x) Rb(y): x takes b where R takes it. */
static void fit_two_turns(const double r[9], const int axis[2], const double near[2], double angle[2])
{
    int a = axis[0], b = axis[1], c = 3 - a - b;
    double rest[9], s = parity(a, b);
    double height = r[3 * b + b], width = s * r[3 * c + b];
    angle[0] = hypot(height, width) > 1e-13 ? ulna_nearest_turn(atan2(width, height), near[0]) : near[0];
    peel(a, angle[0], r, rest);
    angle[1] = ulna_nearest_turn(fit_turn(rest, b), near[1]);
}

/* Ri(a) Rj(b) Rk(c), by the image of axis k; `branch` picks the other solution. Where the first angle means nothing,
 * it stays at `near` and the third takes what is left. */
static void fit_three_turns(const double r[9], const int axis[3], const double near[3], int branch, double angle[3])
{
    int i = axis[0], j = axis[1], k = axis[2];
    double s = parity(i, j), first, second, across;
    double x, y;
    if (i == k) { /* R e_i = cos b e_i + sin b sin a e_j - s sin b cos a e_l */
        int l = 3 - i - j;
        y = r[3 * j + i];
        x = -s * r[3 * l + i];
        across = hypot(x, y);
        second = atan2(across, r[3 * i + i]);
        second = branch ? -second : second;
    } else { /* R e_k = s sin b e_i - s sin a cos b e_j + cos a cos b e_k */
        y = -s * r[3 * j + k];
        x = r[3 * k + k];
        across = hypot(x, y);
        second = atan2(s * r[3 * i + k], across);
        second = branch ? ULNA_PI - second : second;
    }
    first = across > 1e-13 ? ulna_nearest_turn(atan2(y, x) + (branch ? ULNA_PI : 0), near[0]) : near[0];

    double without_first[9], rest[9];
    peel(i, first, r, without_first);
    peel(j, second, without_first, rest);
    angle[0] = first;
    angle[1] = ulna_nearest_turn(second, near[1]);
    angle[2] = ulna_nearest_turn(fit_turn(rest, k), near[2]);
}

/* ---- elementary segments: state, residual, Gauss-Newton --------------------------------------------------------- */

static int is_turn(ulna_segment segment)
{
    return segment <= ULNA_SEGMENT_RZ;
}

/* Frames of the segments: axis and origin of each before it moves; then the end. */
typedef struct state {
    double axis[MAX][3], origin[MAX][3];
    double rotation[9], position[3];
} state;

static void place(const fit *f, const double value[MAX], state *x)
{
    double r[9], turn[9], next[9], p[3] = {0, 0, 0};
    ulna_identity9(r);
    for (int i = 0; i < f->count; i++) {
        int axis = (int)f->segment[i] % 3;
        for (int row = 0; row < 3; row++)
            x->axis[i][row] = r[3 * row + axis];
        ulna_copy3(p, x->origin[i]);
        if (is_turn(f->segment[i])) {
            ulna_rotation_about(axis, value[i], turn);
            ulna_multiply9(r, turn, next);
            ulna_copy9(next, r);
        } else {
            for (int row = 0; row < 3; row++)
                p[row] += x->axis[i][row] * value[i];
        }
    }
    ulna_copy9(r, x->rotation);
    ulna_copy3(p, x->position);
}

/* Half the sum of squares; residual: wanted minus reached, translation first, then the columns of the rotation. */
static double residual(const fit *f, const state *x, double d[12])
{
    for (int row = 0; row < 3; row++) {
        d[row] = f->translation[row] - x->position[row];
        for (int column = 0; column < 3; column++)
            d[3 + 3 * column + row] = f->rotation[3 * row + column] - x->rotation[3 * row + column];
    }
    return 0.5 * ulna_inner(12, d, d);
}

/* Column i of the Jacobian of the twelve numbers. */
static void jacobian_column(const fit *f, const state *x, int i, double column[12])
{
    memset(column, 0, 12 * sizeof *column);
    if (!is_turn(f->segment[i])) {
        ulna_copy3(x->axis[i], column);
        return;
    }
    double arm[3];
    for (int row = 0; row < 3; row++)
        arm[row] = x->position[row] - x->origin[i][row];
    ulna_cross(x->axis[i], arm, column);
    for (int k = 0; k < 3; k++) {
        double direction[3] = {x->rotation[k], x->rotation[3 + k], x->rotation[6 + k]};
        ulna_cross(x->axis[i], direction, column + 3 + 3 * k);
    }
}

/* Solves (A + damping I) x = b for a small symmetric positive semidefinite A by Cholesky. */
static void solve_damped(double a[MAX][MAX], double b[MAX], int n, double damping)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = a[i][j] + (i == j ? damping : 0);
            for (int k = 0; k < j; k++)
                sum -= a[i][k] * a[j][k];
            a[i][j] = i == j ? sqrt(fmax(sum, 1e-300)) : sum / a[j][j];
        }
        for (int k = 0; k < i; k++)
            b[i] -= a[i][k] * b[k];
        b[i] /= a[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            b[i] -= a[k][i] * b[k];
        b[i] /= a[i][i];
    }
}

/* One damped step over all segments, or over translations only. */
static void damped_step(const fit *f, const state *x, const double d[12], int slides_only, double damping,
                        double step[MAX])
{
    double column[MAX][12], a[MAX][MAX], b[MAX];
    int at[MAX], n = 0;
    for (int i = 0; i < f->count; i++) {
        step[i] = 0;
        if (slides_only && is_turn(f->segment[i]))
            continue;
        jacobian_column(f, x, i, column[n]);
        at[n++] = i;
    }
    for (int i = 0; i < n; i++) {
        b[i] = 0;
        for (int k = 0; k < 12; k++)
            b[i] += column[i][k] * d[k];
        for (int j = 0; j <= i; j++) {
            a[i][j] = 0;
            for (int k = 0; k < 12; k++)
                a[i][j] += column[i][k] * column[j][k];
        }
    }
    solve_damped(a, b, n, damping);
    for (int i = 0; i < n; i++)
        step[at[i]] = b[i];
}

/* Given the rotations, the best translations; of equally good ones those near the start. Repetition removes the damping. */
static void fit_slides(const fit *f, double value[MAX])
{
    state x;
    double d[12], step[MAX];
    for (int repeat = 0; repeat < 4; repeat++) {
        place(f, value, &x);
        residual(f, &x, d);
        damped_step(f, &x, d, 1, 1e-9, step);
        for (int i = 0; i < f->count; i++)
            value[i] += step[i];
    }
}

/* Levenberg-Marquardt. Returns half the sum of squares. */
static double polish(const fit *f, double value[MAX])
{
    state x;
    double d[12], step[MAX], trial[MAX], trial_d[12];
    place(f, value, &x);
    double best = residual(f, &x, d), damping = 1e-6;
    for (int iteration = 0; iteration < 200 && damping < 1e12; iteration++) {
        double largest = 0;
        state trial_x;
        damped_step(f, &x, d, 0, damping, step);
        for (int i = 0; i < f->count; i++) {
            trial[i] = value[i] + step[i];
            largest = fmax(largest, fabs(step[i]));
        }
        place(f, trial, &trial_x);
        double objective = residual(f, &trial_x, trial_d);
        if (objective < best) {
            best = objective;
            x = trial_x;
            memcpy(value, trial, sizeof trial);
            memcpy(d, trial_d, sizeof d);
            damping = fmax(damping * 0.1, 1e-15);
        } else {
            damping *= 10;
        }
        if (largest < 1e-15 || best < 1e-30)
            break;
    }
    return best;
}

/* ---- elementary segments: all of it ----------------------------------------------------------------------------- */

/* Rotations in closed form (at most three), then translations. */
static void first_guess(const fit *f, const int turn[MAX], int turns, int branch, const double near[MAX],
                        double value[MAX])
{
    int axis[3] = {0, 0, 0};
    double near_angle[3] = {0, 0, 0}, angle[3];
    memcpy(value, near, MAX * sizeof *value);
    for (int i = 0; i < turns; i++) {
        axis[i] = (int)f->segment[turn[i]];
        near_angle[i] = near[turn[i]];
    }
    if (turns == 1)
        angle[0] = ulna_nearest_turn(fit_turn(f->rotation, axis[0]), near_angle[0]);
    else if (turns == 2)
        fit_two_turns(f->rotation, axis, near_angle, angle);
    else if (turns == 3)
        fit_three_turns(f->rotation, axis, near_angle, branch, angle);
    for (int i = 0; i < turns; i++)
        value[turn[i]] = angle[i];
    if (turns < f->count)
        fit_slides(f, value);
}

typedef struct candidate {
    double objective, distance;
    double value[MAX];
} candidate;

/* Keeps the better of two: what leaves less over, or among equals what is nearer to `near`. */
static void offer(const fit *f, const double near[MAX], double exact, const double value[MAX], double objective,
                  candidate *best)
{
    candidate fresh = {.objective = objective};
    for (int i = 0; i < f->count; i++) {
        fresh.value[i] = is_turn(f->segment[i]) ? ulna_nearest_turn(value[i], near[i]) : value[i];
        fresh.distance += (fresh.value[i] - near[i]) * (fresh.value[i] - near[i]);
    }
    double slack = exact + 1e-12 * objective;
    if (objective < best->objective - slack ||
        (objective <= best->objective + slack && fresh.distance < best->distance))
        *best = fresh;
}

/* Up to three rotations, none about the axis of the one before. */
static int has_closed_form(const fit *f, const int turn[MAX], int turns)
{
    for (int i = 1; i < turns; i++)
        if (f->segment[turn[i]] == f->segment[turn[i - 1]])
            return 0;
    return turns <= 3;
}

/* How many starts to try beyond the closed forms. No translation after a rotation: they do not mix, and
 * the closed forms are the answer, except that two rotations out of reach are only near it. */
static int start_count(const fit *f, int turns, int closed)
{
    int mixed = 0;
    for (int i = 1; i < f->count; i++)
        mixed |= !is_turn(f->segment[i]) && is_turn(f->segment[i - 1]);
    if (!closed)
        return 40;
    return mixed ? 8 : turns == 2 ? 3 : 0;
}

static void fit_elementary(const fit *f, const double near[MAX], double value[MAX])
{
    int turn[MAX] = {0}, turns = 0;
    for (int i = 0; i < f->count; i++)
        if (is_turn(f->segment[i]))
            turn[turns++] = i;
    double size = 1 + ulna_norm(f->translation), exact = 1e-25 * size * size;
    candidate best = {.objective = INFINITY};
    state x;
    double d[12], start[MAX];

    int closed = has_closed_form(f, turn, turns);
    for (int branch = 0; closed && branch < (turns == 3 ? 2 : 1); branch++) {
        first_guess(f, turn, turns, branch, near, start);
        place(f, start, &x);
        offer(f, near, exact, start, residual(f, &x, d), &best);
    }

    /* what is left over: from the best of these, from `near`, and from angles spread by the golden ratio */
    int starts = start_count(f, turns, closed);
    for (int trial = 0; trial < starts && best.objective > exact; trial++) {
        memcpy(start, trial == 0 && closed ? best.value : near, sizeof start);
        for (int i = 0; i < turns && trial > 1; i++)
            start[turn[i]] += 2 * ULNA_PI * fmod((trial - 1) * (0.6180339887498949 + 0.1327 * i), 1);
        if (trial > 0 && turns < f->count)
            fit_slides(f, start);
        double objective = polish(f, start);
        offer(f, near, exact, start, objective, &best);
    }
    memcpy(value, best.value, sizeof best.value);
}

/* ---- all joints -------------------------------------------------------------------------------------------------- */

/* Translations first, then one segment of three parameters, or a swing and its twist. */
static void fit_general(const fit *f, const double *near_q, double *q)
{
    int i = 0;
    for (; f->segment[i] < ULNA_SEGMENT_BALL; i++)
        q[f->coordinate[i]] = f->translation[f->segment[i] - ULNA_SEGMENT_TX];
    const double *near = near_q + f->coordinate[i];
    double *to = q + f->coordinate[i];

    if (f->segment[i] == ULNA_SEGMENT_BALL) {
        double c[4];
        ulna_rotation_to_quaternion(f->rotation, c);
        double product = ulna_inner(4, c, near);
        for (int k = 0; k < 4; k++)
            to[k] = product < 0 ? -c[k] : c[k];
    } else if (f->segment[i] == ULNA_SEGMENT_EXPMAP) {
        fit_expmap(f->rotation, near, to);
    } else {
        double swing[2], exp_swing[9], back[9], rest[9];
        fit_swing(f->rotation, near, swing);
        double w[3] = {swing[0], swing[1], 0};
        ulna_exp(w, exp_swing);
        ulna_transpose9(exp_swing, back);
        ulna_multiply9(back, f->rotation, rest);
        to[0] = swing[0];
        to[1] = swing[1];
        q[f->coordinate[i + 1]] = ulna_nearest_turn(fit_turn(rest, 2), near_q[f->coordinate[i + 1]]);
    }
}

/* Multiplies the coordinates that are translations. */
static void scale_slides(const fit *f, double factor, double *q)
{
    for (int i = 0; i < f->count; i++)
        if (ulna_segment_is_translation(f->segment[i]))
            q[f->coordinate[i]] *= factor;
}

void ulna_joint_fit(const ulna_joint_plan *plan, double length, const double rotation[9], const double translation[3],
                    const double *near_q, double *q)
{
    double unit = ldexp(1, ilogb(length)); /* a power of two: nothing is rounded */
    double scaled[3] = {translation[0] / unit, translation[1] / unit, translation[2] / unit};
    fit f = make_fit(plan, rotation, scaled);
    double near[7] = {0}, result[7] = {0}; /* near_q may be q */
    int general = 0;
    if (f.count == 0)
        return;
    memcpy(near, near_q, (size_t)plan->coordinate_count * sizeof *near);
    scale_slides(&f, 1 / unit, near);
    for (int i = 0; i < f.count; i++)
        general |= f.segment[i] >= ULNA_SEGMENT_BALL;
    if (general) {
        fit_general(&f, near, result);
    } else {
        double start[MAX] = {0}, value[MAX];
        for (int i = 0; i < f.count; i++)
            start[i] = near[f.coordinate[i]];
        fit_elementary(&f, start, value);
        for (int i = 0; i < f.count; i++)
            result[f.coordinate[i]] = value[i];
    }
    scale_slides(&f, unit, result);
    memcpy(q, result, (size_t)plan->coordinate_count * sizeof *q);
}
