/*
 * ccd: cyclic coordinate descent. One iteration is one sweep over the degrees of freedom, from the last to the first
 * and so from the leaves to the root; each goes to the point where f is lowest, given where all others are at that
 * moment.
 *
 * Source: L.-C. T. Wang, C. C. Chen, "A combined optimization method for solving the inverse kinematics problem of
 * mechanical manipulators", IEEE Trans. Robotics and Automation 7(4), 1991: the optimal motion of a single joint,
 * position and orientation weighed together.
 *
 *   t          how far a degree of freedom moves: radians, metres
 *   g, h       slope and exact second derivative of f along it at t = 0
 *
 * Points, directions and orientations give f(t) = f + g sin t + h (1 - cos t) along a rotation, lowest at atan2(-g, h), and
 * f + g t + 1/2 h t^2 along a translation, lowest at -g / h. Planes and lines add sines and cosines of 2t; posture and
 * coupling add slope t + 1/2 curve t^2, limits (as a term) a piece of a parabola. Aim, geodesic and custom terms, rotation
 * vectors and the posture of a quaternion have no such form: they are sampled, and slopes lead down to the lowest point
 * between samples (one_dof.c). The first sweeps and every eighth sample a whole turn; the others stay in the valley that
 * they are in.
 *
 * Changed from the paper:
 * - Trees and any number of effectors, weights, tool vectors, a moving root: g and h come from sums over all the
 *   pulls beyond a degree of freedom. When it moves, they all move alike, and so do their sums. Going from the leaves
 *   to the root, the joints above stand where the last evaluation had them. So a sweep takes O(DOF + markers), not
 *   the O(DOF x markers) or O(DOF^2) of placing the skeleton again and again.
 * - Limits: the lowest point of f between them. It may be at the far limit, so the free one is not just clipped.
 * - A quaternion is three rotations, one after the other.
 * - Strength under-relaxes: a degree of freedom moves min(1, strength) of the way.
 * - The step of a sweep is stretched while that lowers f (ulna_pattern_move): two evaluations that save most of the sweeps
 *   in narrow valleys.
 * - Where f cannot be lowered along any single degree of freedom and yet the goal is not met, as on a straight chain
 *   with the goal on its line, all are bent a little (ulna_bend_and_sweep).
 *
 * Fails, or rather is slow, where several joints have to move together: convergence is linear, and long chains with
 * many markers take hundreds of sweeps.
 */
#include "solve/one_dof.h"

#include "math/math3.h"

#define LEAST 1e-16 /* of f: a smaller gain is no reason to move a joint */
enum { BENDS = 3 };

typedef struct coupled {
    int term, next; /* numbers in the problem, and in this list; -1 at the end */
} coupled;

typedef struct ccd {
    ulna_pull_sums *sums;   /* nl: pulls beyond the link's joint */
    int *extra;             /* terms of `extra_count` bodies, subtree after subtree */
    int *extra_first;       /* nb + 1: where those begin whose body comes at this place of the depth-first walk */
    ulna_body_place *place; /* extra_count: where their bodies are now */
    int *coupling;          /* nv: first entry of `couplings`, or -1 */
    coupled *couplings;     /* two a term */
    double *last;           /* nv: how far each moved the last time */
    int sweeps, thorough;   /* 1: sample a whole turn in this sweep */
    int bends;
    double stride; /* of the pattern move */
} ccd;

_Static_assert(sizeof(ccd) <= ULNA_METHOD_STATE, "state too large");

/* ---- set-up ------------------------------------------------------------------------------------------------------ */

static void sort_extras(const ulna_problem *problem, ccd *c)
{
    const ulna_model *model = problem->model;
    memset(c->extra_first, 0, ((size_t)model->nb + 1) * sizeof *c->extra_first);
    for (int e = 0; e < problem->extra_count; e++)
        c->extra_first[model->body[problem->term[problem->extra_term[e]].body].preorder + 1]++;
    for (int b = 0; b < model->nb; b++)
        c->extra_first[b + 1] += c->extra_first[b];
    for (int e = 0; e < problem->extra_count; e++) /* fills from each start on, which moves the starts ... */
        c->extra[c->extra_first[model->body[problem->term[problem->extra_term[e]].body].preorder]++] =
            problem->extra_term[e];
    for (int b = model->nb; b > 0; b--) /* ... to where the next ones were */
        c->extra_first[b] = c->extra_first[b - 1];
    c->extra_first[0] = 0;
}

static void list_couplings(const ulna_problem *problem, ccd *c)
{
    for (int j = 0; j < problem->model->nv; j++)
        c->coupling[j] = -1;
    for (int k = 0; k < 2 * problem->coupling_count; k++) {
        int number = problem->coupling_term[k / 2];
        int dof = k % 2 ? problem->term[number].dof_b : problem->term[number].dof_a;
        c->couplings[k] = (coupled){number, c->coupling[dof]};
        c->coupling[dof] = k;
    }
}

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    (void)error;
    ccd *c = state;
    const ulna_problem *problem = s->problem;
    size_t extras = (size_t)problem->extra_count;
    c->sums = ulna_arena_take(arena, (size_t)s->model->nl, sizeof *c->sums);
    c->extra = ulna_arena_take(arena, extras, sizeof *c->extra);
    c->extra_first = ulna_arena_take(arena, (size_t)s->model->nb + 1, sizeof *c->extra_first);
    c->place = ulna_arena_take(arena, extras, sizeof *c->place);
    c->coupling = ulna_arena_take(arena, (size_t)s->nv, sizeof *c->coupling);
    c->last = ulna_arena_take(arena, (size_t)s->nv, sizeof *c->last);
    c->couplings = ulna_arena_take(arena, 2 * (size_t)problem->coupling_count, sizeof *c->couplings);
    if (arena->memory && !arena->failed) {
        sort_extras(problem, c);
        list_couplings(problem, c);
    }
    return ULNA_OK;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    ccd *c = state;
    c->sweeps = c->bends = 0;
    c->stride = 1;
    for (int j = 0; j < s->nv; j++)
        c->last[j] = 0.1 * s->unit[j];
    return ULNA_OK;
}

/* ---- terms on bodies that the sums cannot hold ------------------------------------------------------------------ */

/* One degree of freedom and all that f consists of along it. */
typedef struct joint {
    ulna_solver *s;
    ccd *c;
    ulna_axes *axes;
    int i, dof;
    double *q; /* the joint's coordinates, as they are now */
    const ulna_pull_sums *sums;
    int first, end; /* extras beyond it */
    double base;    /* of the sampled terms at t = 0 */
} joint;

static int is_flat(const ulna_term *term)
{
    return term->type == ULNA_TERM_PLANE || term->type == ULNA_TERM_LINE;
}

static void move_place(const ulna_move *move, const ulna_body_place *from, ulna_body_place *to)
{
    const double *r = from->rotation, *p = from->position;
    ulna_vec4 o = ulna_moved(move, (ulna_vec4){p[0], p[1], p[2], 1});
    for (int k = 0; k < 3; k++) {
        ulna_vec4 x = ulna_moved(move, (ulna_vec4){r[k], r[3 + k], r[6 + k], 0});
        to->position[k] = o[k];
        for (int i = 0; i < 3; i++)
            to->rotation[3 * i + k] = x[i];
    }
    to->origin = from->origin;
}

/* f and slope of one term with its body moved. */
static double extra_value(const ulna_problem *problem, const ulna_term *term, const ulna_body_place *from,
                          const ulna_move *move, const ulna_pair *twist, double *slope)
{
    ulna_body_place place;
    ulna_term_value value = {0};
    double f = 0;
    move_place(move, from, &place);
    ulna_term_kind_of(term->type)->evaluate(term, ulna_term_weight(problem, term), &place, &value);
    for (int k = 0; k < value.count; k++) {
        double rate = 0;
        for (int i = 0; i < 3; i++)
            rate += value.row[k][i] * twist->angular[i] + value.row[k][3 + i] * twist->linear[i];
        f += 0.5 * value.residual[k] * value.residual[k];
        *slope -= value.residual[k] * rate;
    }
    return f;
}

/* A plane or line is a quadratic in the point: e = C (goal - p), C a projector, and f = 1/2 w |e|^2. */
static void project(const ulna_term *term, const double x[3], double e[3])
{
    const double *u = term->goal + 3;
    double along = ulna_dot(u, x);
    for (int k = 0; k < 3; k++)
        e[k] = term->type == ULNA_TERM_PLANE ? along * u[k] : x[k] - along * u[k];
}

/* Along a rotation p = p0 + c cos t + d sin t, and along a translation p + a t. */
static void add_flat(const ulna_problem *problem, const ulna_term *term, const ulna_body_place *place,
                     const ulna_axes *axes, int i, ulna_profile *profile)
{
    const double *a = (const double *)&axes->axis[i], *o = (const double *)&axes->through[i];
    double weight = ulna_term_weight(problem, term), p[3], r[3], e[3], arm[3];
    ulna_term_point(term, place, p, r);
    if (ulna_segment_is_translation(axes->segment[i])) {
        project(term, a, e);
        profile->g -= weight * ulna_dot(e, r);
        profile->h += weight * ulna_dot(e, e);
        return;
    }
    double c[3], d[3], Ce[3], Cc[3], Cd[3];
    ulna_subtract3(p, o, arm);
    ulna_cross(a, arm, d);
    ulna_cross(d, a, c);
    for (int k = 0; k < 3; k++)
        e[k] = r[k] + c[k]; /* goal - p0 */
    project(term, e, Ce);
    project(term, c, Cc);
    project(term, d, Cd);
    profile->g -= weight * ulna_dot(Ce, Cd);
    profile->h += weight * ulna_dot(Ce, Cc);
    profile->g2 += 0.5 * weight * ulna_dot(Cc, Cd);
    profile->h2 -= 0.25 * weight * (ulna_dot(Cc, Cc) - ulna_dot(Cd, Cd));
}

/* ---- terms on coordinates --------------------------------------------------------------------------------------- */

/* Weight of a coordinate term on the joint's degree of freedom. */
static double own_weight(const joint *j, double weight)
{
    double length = j->s->problem->length;
    return ulna_segment_is_translation(j->axes->segment[j->i]) ? weight : weight * length * length;
}

/* Does a term on limits have a say in it? */
static int has_limits(const joint *j)
{
    const ulna_problem *problem = j->s->problem;
    if (j->s->model->dof_coordinate[j->dof] < 0)
        return 0;
    for (int k = 0; k < problem->coordinate_count; k++) {
        const ulna_term *term = &problem->term[problem->coordinate_term[k]];
        if (term->type == ULNA_TERM_LIMITS && ulna_term_weight(problem, term) > 0 &&
            (isfinite(term->values[j->dof]) || isfinite(term->values[j->s->nv + j->dof])))
            return 1;
    }
    return 0;
}

/* Penalties beyond limits, convex; `curve` may be NULL. */
static double penalties(const joint *j, double t, double *slope, double *curve)
{
    const ulna_problem *problem = j->s->problem;
    double x = j->q[j->axes->coordinate[j->i] + j->axes->part[j->i]] + t, f = 0;
    for (int k = 0; k < problem->coordinate_count; k++) {
        const ulna_term *term = &problem->term[problem->coordinate_term[k]];
        if (term->type != ULNA_TERM_LIMITS)
            continue;
        double low = term->values[j->dof], high = term->values[j->s->nv + j->dof];
        double off = x > high ? x - high : x < low ? x - low : 0;
        double w = own_weight(j, ulna_term_weight(problem, term));
        f += 0.5 * w * off * off;
        *slope += w * off;
        if (curve && off != 0)
            *curve += w;
    }
    return f;
}

/* 1/2 w |angle|^2 between a quaternion and its reference. */
static double ball_posture(const joint *j, double t, double *slope)
{
    const ulna_problem *problem = j->s->problem;
    int first = j->dof - j->axes->part[j->i], c = j->axes->link->coordinate + j->axes->coordinate[j->i];
    double f = 0;
    for (int k = 0; k < problem->coordinate_count; k++) {
        const ulna_term *term = &problem->term[problem->coordinate_term[k]];
        if (term->type != ULNA_TERM_POSTURE)
            continue;
        const double *factor = term->values + j->s->nq + first, *reference = term->values + c;
        double back[4] = {-reference[0], -reference[1], -reference[2], reference[3]}, along[3] = {0}, turn[4], phi[3];
        along[j->axes->part[j->i]] = t;
        ulna_quaternion_exp(along, turn);
        ulna_quaternion_multiply(turn, j->q + j->axes->coordinate[j->i], turn);
        ulna_quaternion_multiply(turn, back, turn);
        ulna_quaternion_log(turn, phi);
        double w = own_weight(j, ulna_term_weight(problem, term) * (factor[0] + factor[1] + factor[2]) / 3);
        f += 0.5 * w * ulna_dot(phi, phi);
        *slope += w * phi[j->axes->part[j->i]]; /* J^-T phi = phi */
    }
    return f;
}

/* Posture and couplings: quadratic. */
static void add_coordinate(const joint *j, ulna_profile *profile)
{
    const ulna_problem *problem = j->s->problem;
    int c = j->s->model->dof_coordinate[j->dof];
    for (int k = 0; k < problem->coordinate_count; k++) {
        const ulna_term *term = &problem->term[problem->coordinate_term[k]];
        if (term->type != ULNA_TERM_POSTURE)
            continue;
        double w = own_weight(j, ulna_term_weight(problem, term) * term->values[j->s->nq + j->dof]);
        profile->slope += w * (j->s->trial[c] - term->values[c]);
        profile->curve += w;
    }
    for (int k = j->c->coupling[j->dof]; k >= 0; k = j->c->couplings[k].next) {
        const ulna_term *term = &problem->term[j->c->couplings[k].term];
        const int *coordinate = j->s->model->dof_coordinate;
        double a = j->s->trial[coordinate[term->dof_a]], b = j->s->trial[coordinate[term->dof_b]];
        double w = ulna_coupling_weight(problem, term), off = b - term->goal[0] * a - term->goal[1];
        double rate = j->dof == term->dof_b ? 1 : -term->goal[0];
        profile->slope += w * off * rate;
        profile->curve += w * rate * rate;
    }
}

/* ---- f along one degree of freedom ------------------------------------------------------------------------------ */

static double sampled(const joint *j, double t, double *slope)
{
    const ulna_problem *problem = j->s->problem;
    int curved = ulna_axes_is_curved(j->axes, j->i), is_ball = j->axes->segment[j->i] == ULNA_SEGMENT_BALL;
    double f = 0;
    ulna_move move;
    ulna_pair twist;
    if (j->end > j->first)
        ulna_axes_move(j->axes, j->i, j->q, t, &move, &twist);
    if (curved)
        f += ulna_sums_curve(j->sums, j->axes, j->i, j->q, t, slope);
    if (problem->coordinate_count)
        f += is_ball ? ball_posture(j, t, slope) : penalties(j, t, slope, NULL);
    for (int e = j->first; e < j->end; e++) {
        const ulna_term *term = &problem->term[j->c->extra[e]];
        if (ulna_term_weight(problem, term) > 0 && (curved || !is_flat(term)))
            f += extra_value(problem, term, &j->c->place[e], &move, &twist, slope);
    }
    return f;
}

static double rest(void *context, double t, double *slope)
{
    const joint *j = context;
    return sampled(j, t, slope) - j->base;
}

/* Is there a term without a closed form? */
static int needs_samples(const joint *j)
{
    const ulna_problem *problem = j->s->problem;
    if (ulna_axes_is_curved(j->axes, j->i) || has_limits(j))
        return 1;
    for (int k = 0; k < problem->coordinate_count && j->axes->segment[j->i] == ULNA_SEGMENT_BALL; k++) {
        const ulna_term *term = &problem->term[problem->coordinate_term[k]];
        if (term->type == ULNA_TERM_POSTURE && ulna_term_weight(problem, term) > 0)
            return 1;
    }
    for (int e = j->first; e < j->end; e++) {
        const ulna_term *term = &problem->term[j->c->extra[e]];
        if (!is_flat(term) && ulna_term_weight(problem, term) > 0)
            return 1;
    }
    return 0;
}

/*
 * Where to look. Without terms on the coordinate a whole turn shows everything. With them, convex as they are, take
 * their lowest point x that is nearest: whatever t is, t plus or minus whole turns has the same sines and cosines, and
 * of these the best is within a whole turn of x.
 */
static void set_window(const joint *j, ulna_profile *profile)
{
    int is_limited = has_limits(j);
    double t = 0;
    profile->window = profile->kind == ULNA_PROFILE_TRANSLATION || (profile->rest && !j->c->thorough) ? 0 : ULNA_PI;
    if (profile->window == 0 || profile->kind != ULNA_PROFILE_ROTATION || (profile->curve == 0 && !is_limited))
        return;
    for (int round = 0; round < 8; round++) {
        double slope = profile->slope + profile->curve * t, curve = profile->curve;
        if (is_limited)
            penalties(j, t, &slope, &curve);
        if (!(curve > 0) || slope == 0)
            break;
        t = fmin(fmax(t - slope / curve, profile->low), profile->high);
    }
    profile->center = t;
    profile->window = 2 * ULNA_PI;
}

static void describe(joint *j, ulna_profile *profile)
{
    const ulna_solver *s = j->s;
    int curved = ulna_axes_is_curved(j->axes, j->i), coordinate = s->model->dof_coordinate[j->dof];
    *profile = ulna_profile_of(s, j->axes, j->i);
    profile->stride = fmax(2 * j->c->last[j->dof], 1e-8 * s->unit[j->dof]);
    profile->least = LEAST * s->f;
    if (!curved) {
        ulna_sums_along(j->sums, j->axes, j->i, s->f, &profile->g, &profile->h);
        for (int e = j->first; e < j->end; e++) {
            const ulna_term *term = &s->problem->term[j->c->extra[e]];
            if (is_flat(term))
                add_flat(s->problem, term, &j->c->place[e], j->axes, j->i, profile);
        }
    }
    if (coordinate >= 0)
        add_coordinate(j, profile);
    if (needs_samples(j)) {
        double unused = 0;
        j->base = sampled(j, 0, &unused);
        profile->rest = rest;
        profile->context = j;
    }
    set_window(j, profile);
}

/* ---- the sweep -------------------------------------------------------------------------------------------------- */

/* All that the method knows of the pose, as it is before the sweep. */
static void gather(ulna_solver *s, ccd *c)
{
    const ulna_problem *problem = s->problem;
    for (int l = 0; l < s->model->nl; l++)
        if (problem->pull_count && problem->pull_first[l] != problem->pull_first[l + 1])
            c->sums[l] = s->work->targets.sums[l];
        else
            memset(&c->sums[l], 0, sizeof c->sums[l]);
    for (int e = 0; e < problem->extra_count; e++)
        ulna_work_place(s->work, problem->term[c->extra[e]].body, &c->place[e]);
}

/* One link, from its distal degree of freedom to the proximal one; s->trial and s->step receive the motion. */
static double sweep_link(ulna_solver *s, ccd *c, const ulna_body *body)
{
    const ulna_link *link = &s->model->link[body->link];
    ulna_pull_sums *sums = &c->sums[body->link];
    ulna_axes axes;
    double total = 0, decrease;
    joint j = {.s = s,
               .c = c,
               .axes = &axes,
               .q = s->trial + link->coordinate,
               .sums = sums,
               .first = c->extra_first[body->preorder],
               .end = c->extra_first[body->preorder + body->subtree]};
    ulna_axes_read(s->work->pose, link, &axes);
    for (j.i = axes.count - 1; j.i >= 0; j.i--) {
        ulna_profile profile;
        ulna_move move;
        j.dof = link->dof + j.i;
        if (s->locked[j.dof])
            continue;
        describe(&j, &profile);
        double t = ulna_profile_minimise(&profile, &decrease);
        c->last[j.dof] = fabs(t);
        if (t == 0)
            continue;
        ulna_axes_move(&axes, j.i, j.q, t, &move, NULL);
        ulna_sums_move(sums, &move);
        for (int e = j.first; e < j.end; e++) {
            ulna_body_place from = c->place[e];
            move_place(&move, &from, &c->place[e]);
        }
        ulna_axes_step(&axes, j.i, t, &move, j.q);
        ulna_profile_stay_inside(&profile, s, j.dof, t);
        s->step[j.dof] += t;
        total += decrease;
    }
    return total;
}

/* An ulna_sweep_once. */
static double sweep(ulna_solver *s, void *state)
{
    ccd *c = state;
    const ulna_model *model = s->model;
    double total = 0;
    gather(s, c);
    for (int b = model->nb - 1; b >= 0; b--) {
        const ulna_body *body = &model->body[b];
        if (!body->dof_count)
            continue;
        total += sweep_link(s, c, body);
        int parent = model->link[body->link].parent;
        if (parent >= 0)
            ulna_sums_add(&c->sums[parent], &c->sums[body->link]);
    }
    return total;
}

/* ---- iterations ------------------------------------------------------------------------------------------------- */

static ulna_status iterate(ulna_solver *s, void *state)
{
    ccd *c = state;
    double predicted;
    c->thorough = c->sweeps < 3 || c->sweeps % 8 == 0;
    c->sweeps++;
    ulna_status status = ulna_sweep_from_q(s, sweep, c, &predicted);
    if (status == ULNA_OK && !s->now.accepted && !c->thorough) {
        c->thorough = 1;
        status = ulna_sweep_from_q(s, sweep, c, &predicted);
    }
    s->now.damping = c->stride;
    if (status == ULNA_OK && s->now.accepted)
        return ulna_pattern_move(s, &c->stride);

    /* Nowhere to go, one at a time. */
    if (status == ULNA_OK && c->bends++ < BENDS)
        status = ulna_bend_and_sweep(s, sweep, c);
    return status == ULNA_OK && !s->now.accepted ? ulna_end_of_sweeps(s, predicted) : status;
}

const ulna_method ulna_method_ccd = {
    .info = {.name = "ccd",
             .summary = "one joint at a time, from the leaves to the root, each to where f is lowest",
             .source = "Wang and Chen 1991: cyclic coordinate descent",
             .supports = "all terms, all joints; planes, points and orientations in closed form, others by samples",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 2000},
    .patience = 10,
    .begin = begin,
    .layout = layout,
    .iterate = iterate,
};
