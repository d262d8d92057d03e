/*
 * The closest configuration to a goal that cannot be reached.
 *
 * Gauss-Newton steps from 16 starts (serial_step.inc) come into the neighbourhood, but converge slowly where an error is left.
 * Newton's method with the exact Hessian finishes from the best three. With e the position error, u_k the axes of the frame, t_k those of
 * the goal, z_i the axes of the joints and a_i = z_i x (p - o_i) or z_i the columns of the position, the cost
 *
 *     f = |e|^2 / 2 + rho^2 sum (1 - u_k.t_k) / 2
 *
 * has for i <= j the second derivatives
 *
 *     a_i.a_j - (z_i x a_j).e + rho^2 sum ((z_i.z_j)(u_k.t_k) - (z_i.u_k)(z_j.t_k)) / 2
 *
 * where terms with z_i x or with rho are 0 for prismatic joints. The sum is 1 - cos of the angle left; a free spin has one axis and no
 * 1/2. Joints at limits that the gradient pushes outwards are held.
 */
#include "math/math3.h"
#include "reach/serial_kernel.h"

#include <math.h>
#include <string.h>

enum { GAUSS_NEWTON = 20, NEWTON = 40, FINISHED = 3, STARTS = 16 };

#define CLOSER 1e-6 /* of the cost: what another start must gain to be preferred to the seed */

typedef struct place {
    double axis[ULNA_SERIAL_MAX][3], origin[ULNA_SERIAL_MAX][3];
    double column[3][3], end[3];
} place;

/* The goal, scaled, in frame 0. */
typedef struct wish {
    const ulna_serial *chain;
    ulna_serial_aim aim;
    int axes;            /* how many columns must be aligned */
    double goal[3][3];   /* these columns */
    double position[3];  /* where the point must be */
    double point[3];     /* in the last frame */
    double free_axis[3]; /* SPIN: in the last frame */
    double rho2, position_weight;
} wish;

static void set_wish(const ulna_serial *chain, const ulna_serial_goal *goal, double rotation_length, wish *w)
{
    ulna_serial_target target;
    double way[3];
    ulna_serial_target_set(chain, goal, &target);
    *w = (wish){.chain = chain, .aim = goal->aim};
    w->axes = goal->aim == ULNA_SERIAL_POSITION ? 0 : goal->aim == ULNA_SERIAL_SPIN ? 1 : 3;
    memcpy(w->goal, target.column, sizeof w->goal);
    if (goal->aim == ULNA_SERIAL_SPIN)
        memcpy(w->goal[0], target.column[2], sizeof w->goal[0]);
    memcpy(w->free_axis, target.axis, sizeof w->free_axis);
    ulna_subtract3(goal->position, chain->base + 9, way);
    ulna_unrotate(chain->base, way, w->position);
    ulna_rotate(chain->tool, goal->point, w->point);
    ulna_accumulate3(chain->tool + 9, w->point);
    for (int r = 0; r < 3; r++) {
        w->position[r] /= chain->length;
        w->point[r] /= chain->length;
    }
    const double rho = rotation_length / chain->length;
    w->rho2 = (w->axes == 3 ? 0.5 : 1) * rho * rho;
    w->position_weight = goal->aim == ULNA_SERIAL_ORIENTATION ? 0 : 1;
    if (goal->aim == ULNA_SERIAL_ORIENTATION)
        w->rho2 = 0.5;
}

static void put_at(const wish *w, const double *q, place *at)
{
    const ulna_serial *chain = w->chain;
    double R[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, p[3] = {0};
    for (int i = 0; i < chain->n; i++) {
        const double x = chain->owner[i] == i ? q[i] : chain->ratio[i] * q[chain->owner[i]] + chain->shift[i];
        double turn[9], tilted[9], turned[9], way[3];
        for (int r = 0; r < 3; r++) {
            at->axis[i][r] = R[3 * r + 2];
            at->origin[i][r] = p[r];
        }
        for (int r = 0; r < 3 && chain->slides[i]; r++)
            p[r] += x * at->axis[i][r];
        ulna_rotation_about(2, chain->angle[i] + (chain->slides[i] ? 0 : x), turn);
        ulna_multiply9(R, turn, turned);
        ulna_rotate(turned, chain->translation[i], way);
        ulna_accumulate3(way, p);
        const double s = chain->tilt_sine[i], c = chain->tilt_cosine[i], tilt[9] = {1, 0, 0, 0, c, -s, 0, s, c};
        ulna_multiply9(turned, tilt, tilted);
        ulna_copy9(tilted, R);
    }
    ulna_rotate(R, w->point, at->end);
    ulna_accumulate3(p, at->end);
    for (int k = 0; k < w->axes; k++) {
        const double column[3] = {R[k], R[3 + k], R[6 + k]};
        if (w->aim == ULNA_SERIAL_SPIN)
            ulna_rotate(R, w->free_axis, at->column[k]);
        else
            ulna_copy3(column, at->column[k]);
    }
}

static double cost_at(const wish *w, const double *q, place *at)
{
    put_at(w, q, at);
    double f = 0.5 * w->position_weight * ulna_squared_distance(at->end, w->position, 3);
    for (int k = 0; k < w->axes; k++)
        f += w->rho2 * (1 - ulna_dot(at->column[k], w->goal[k]));
    return f;
}

/* Gradient and Hessian over the joints, then over those that own others. */
static void derivatives(const wish *w, const place *at, double *g, double (*H)[ULNA_SERIAL_MAX])
{
    const ulna_serial *chain = w->chain;
    double a[ULNA_SERIAL_MAX][3], e[3], gi[ULNA_SERIAL_MAX], h[ULNA_SERIAL_MAX][ULNA_SERIAL_MAX];
    ulna_subtract3(w->position, at->end, e);
    for (int i = 0; i < chain->n; i++) {
        double arm[3], c[3];
        ulna_subtract3(at->end, at->origin[i], arm);
        if (chain->slides[i])
            ulna_copy3(at->axis[i], a[i]);
        else
            ulna_cross(at->axis[i], arm, a[i]);
        gi[i] = -w->position_weight * ulna_dot(a[i], e);
        for (int k = 0; k < w->axes && !chain->slides[i]; k++) {
            ulna_cross(at->column[k], w->goal[k], c);
            gi[i] -= w->rho2 * ulna_dot(at->axis[i], c);
        }
    }
    for (int i = 0; i < chain->n; i++)
        for (int j = i; j < chain->n; j++) {
            double bend[3], sum = ulna_dot(a[i], a[j]);
            ulna_cross(at->axis[i], a[j], bend);
            if (!chain->slides[i])
                sum -= ulna_dot(bend, e);
            sum *= w->position_weight;
            for (int k = 0; k < w->axes && !chain->slides[i] && !chain->slides[j]; k++)
                sum += w->rho2 * (ulna_dot(at->axis[i], at->axis[j]) * ulna_dot(at->column[k], w->goal[k]) -
                                  ulna_dot(at->axis[i], at->column[k]) * ulna_dot(at->axis[j], w->goal[k]));
            h[i][j] = h[j][i] = sum;
        }
    memset(g, 0, ULNA_SERIAL_MAX * sizeof *g);
    memset(H, 0, ULNA_SERIAL_MAX * sizeof *H);
    for (int i = 0; i < chain->n; i++) {
        g[chain->owner[i]] += chain->ratio[i] * gi[i];
        for (int j = 0; j < chain->n; j++)
            H[chain->owner[i]][chain->owner[j]] += chain->ratio[i] * chain->ratio[j] * h[i][j];
    }
}

/* (H + mu) d = -g over the joints in `list`, by Cholesky; 0 if the matrix is not positive definite. */
static int solve_newton(double (*H)[ULNA_SERIAL_MAX], const double *g, const int *list, int count, double mu, double *d)
{
    double L[ULNA_SERIAL_MAX][ULNA_SERIAL_MAX], y[ULNA_SERIAL_MAX];
    for (int i = 0; i < count; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = H[list[i]][list[j]] + (i == j ? mu : 0);
            for (int k = 0; k < j; k++)
                sum -= L[i][k] * L[j][k];
            if (i == j && !(sum > 1e-12))
                return 0;
            L[i][j] = i == j ? sqrt(sum) : sum / L[j][j];
        }
        y[i] = -g[list[i]];
        for (int k = 0; k < i; k++)
            y[i] -= L[i][k] * y[k];
        y[i] /= L[i][i];
    }
    for (int i = count - 1; i >= 0; i--) {
        for (int k = i + 1; k < count; k++)
            y[i] -= L[k][i] * y[k];
        d[list[i]] = y[i] /= L[i][i];
    }
    return 1;
}

/* Newton's method inside the limits; q is scaled. Returns the cost. */
static double finish(const wish *w, double *q, int *iterations)
{
    const ulna_serial *chain = w->chain;
    place at;
    double f = cost_at(w, q, &at), mu = 1e-6;
    for (int k = 0; k < NEWTON; k++, ++*iterations) {
        double g[ULNA_SERIAL_MAX], H[ULNA_SERIAL_MAX][ULNA_SERIAL_MAX], slope = 0;
        int list[ULNA_SERIAL_MAX], count = 0, better = 0;
        derivatives(w, &at, g, H);
        for (int i = 0; i < chain->n; i++) {
            const int held = (q[i] <= chain->clamp_lower[i] && g[i] > 0) || (q[i] >= chain->clamp_upper[i] && g[i] < 0);
            if (chain->owner[i] != i || held)
                continue;
            list[count++] = i;
            slope = fmax(slope, fabs(g[i]));
        }
        if (slope < 1e-9)
            break;
        for (int attempt = 0; attempt < 30 && !better; attempt++, mu *= 10) {
            double d[ULNA_SERIAL_MAX] = {0}, trial[ULNA_SERIAL_MAX];
            if (!solve_newton(H, g, list, count, mu, d))
                continue;
            for (int i = 0; i < chain->n; i++)
                trial[i] = ulna_serial_clamp(q[i] + d[i], chain->clamp_lower[i], chain->clamp_upper[i]);
            place there;
            const double cost = cost_at(w, trial, &there);
            if (cost < f) {
                better = 1;
                f = cost;
                at = there;
                memcpy(q, trial, (size_t)chain->n * sizeof *q);
                mu *= 0.01;
            }
        }
        if (!better)
            break;
        mu = fmax(mu, 1e-12);
    }
    return f;
}

/* The best lanes so far, by cost. */
typedef struct best {
    int count;
    double cost[FINISHED], q[FINISHED][ULNA_SERIAL_MAX];
} best;

static void keep(const ulna_serial *chain, best *b, const ulna_serial_lanes *state, int lane, double cost)
{
    if (!(cost < INFINITY) || (b->count == FINISHED && !(cost < b->cost[FINISHED - 1])))
        return;
    int at = b->count < FINISHED ? b->count++ : FINISHED - 1;
    for (; at > 0 && b->cost[at - 1] > cost; at--) {
        b->cost[at] = b->cost[at - 1];
        memcpy(b->q[at], b->q[at - 1], sizeof b->q[at]);
    }
    b->cost[at] = cost;
    for (int i = 0; i < chain->n; i++)
        b->q[at][i] = state->q[i][lane];
}

static void approach(const ulna_serial *chain, const wish *w, ulna_serial_lanes *state, best *b,
                     ulna_serial_result *result)
{
    for (int k = 0; k < GAUSS_NEWTON; k++)
        chain->kernel->step(chain, state);
    result->iterations += GAUSS_NEWTON;
    result->starts++;
    for (int l = 0; l < chain->kernel->lanes; l++) {
        double q[ULNA_SERIAL_MAX];
        place at;
        for (int i = 0; i < chain->n; i++)
            q[i] = state->q[i][l];
        keep(chain, b, state, l, cost_at(w, q, &at));
    }
}

ulna_serial_result ulna_serial_solve_closest(const ulna_serial *chain, const ulna_serial_goal *goal, const double *seed,
                                             double rotation_length, double *q)
{
    ulna_serial_result result = {0};
    ulna_serial_target target;
    ulna_serial_lanes state;
    wish w;
    best b = {.count = 0};
    double scaled[ULNA_SERIAL_MAX], own[ULNA_SERIAL_MAX];
    int sample[ULNA_SERIAL_BEST];
    const int lanes = chain->kernel->lanes;
    set_wish(chain, goal, rotation_length, &w);
    ulna_serial_target_set(chain, goal, &target);
    ulna_serial_lanes_set(chain, chain->kernel, &target, &state);
    state.stop_at_first = 0;
    for (int l = 0; l < ULNA_SERIAL_LANES; l++)
        state.damping[l] = ULNA_SERIAL_DAMPING_NEAR;
    ulna_serial_scale_seed(chain, seed, scaled);
    if (target.uses_table)
        ulna_serial_find_samples(chain, &chain->table[ULNA_SERIAL_SMALL], &target, sample);
    for (int first = 0; first <= STARTS; first += lanes) { /* the seed with the last ones */
        if (target.uses_table && first < STARTS)
            chain->kernel->begin(chain, &chain->table[ULNA_SERIAL_SMALL], &target, sample + first, &state);
        else
            ulna_serial_begin_anywhere(chain, first + 1, &state);
        for (int i = 0; i < chain->n && first == STARTS; i++)
            state.q[i][0] = scaled[i];
        approach(chain, &w, &state, &b, &result);
    }
    for (int i = 0; i < chain->n; i++)
        own[i] = state.q[i][0];
    double least = INFINITY, x[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES];
    /* The seed first: what is no closer does not replace it, so that paths do not jump. */
    for (int k = -1; k < b.count; k++) {
        double *from = k < 0 ? own : b.q[k], found[ULNA_SERIAL_MAX];
        const double cost = finish(&w, from, &result.iterations);
        if (!(cost < least * (1 - CLOSER)))
            continue;
        for (int i = 0; i < chain->n; i++)
            x[i][0] = from[i];
        if (ulna_serial_accept_at(chain, x, 0, seed, found)) {
            least = cost;
            memcpy(q, found, (size_t)chain->n * sizeof *q);
        }
    }
    if (least == INFINITY)
        for (int i = 0; i < chain->n; i++)
            q[i] = ulna_serial_clamp(seed[i], chain->lower[i], chain->upper[i]);
    double position, rotation;
    ulna_serial_error(chain, goal, q, &position, &rotation);
    result.reached = position <= goal->position_tolerance && rotation <= goal->rotation_tolerance;
    return result;
}
