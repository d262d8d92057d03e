/*
 * What is expected of a pose besides its markers: one weight and one goal per DOF, all on the diagonal of the Hessian.
 *
 * Markers leave directions of a skeleton all but undetermined: JtJ of a human with 41 markers has some ten eigenvalues below
 * 1e-3 m^2/rad^2, and at 6 mm of model error each of them lets a joint wander by tens of degrees. With q1, q2 the last two
 * frames the priors are
 *   course   toward q1 + (q1 - q2) / 2, more where the markers hardly show a DOF (H_jj small). The lag is weight / H_jj
 *            frames: nothing where markers see, a brake where they do not. Half the velocity: in full, weak directions run on.
 *   rest     toward rest, but for the root; with the offsets of a calibration, as much as it did for each joint.
 *   curve    joints of a spine or neck toward the mean of their chain in q1: which of them bends is not to be seen.
 *   hold     joints that no marker moves in this frame, toward where they were seen last.
 * Their sum w_j (q_j - g_j)^2 / 2 has one goal, so a single term holds them. Options give weights in m^2/rad^2; docs/tracking.md.
 */
#include "mocap/tracker.h"

#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "math/math3.h"
#include "mocap/anatomy.h"
#include "model/model.h"
#include "objective/problem.h"
#include "solve/solver.h"

#define COURSE 0.5 /* of the velocity */
#define WEAK 0.018 /* of mean weight and length scale squared: a smaller H_jj makes a DOF that markers hardly show */
#define WEAK_BRAKE 2.25 /* times the weight of the course, in addition, for these */
#define SPREAD 0.5      /* radians around rest, at which H_jj is taken */

enum { SHOWN_POSES = 8 };

/* ---- weights ----------------------------------------------------------------------------------------------------- */

/* The diagonal of JtJ, a mean over poses around rest: how well the markers show each DOF. */
static ulna_status find_shown(ulna_tracker *t, ulna_work *work, double *shown)
{
    uint64_t random = 1;
    ulna_band band = {.n = t->nv, .width = 0, .entries = t->toward};
    ulna_status status = ULNA_OK;
    memset(shown, 0, (size_t)t->nv * sizeof *shown);
    memset(t->seen, 0, 3 * (size_t)t->count * sizeof *t->seen);
    status = ulna_problem_set_points(t->problem, 0, t->count, t->seen);
    for (int n = 0; n < SHOWN_POSES && status == ULNA_OK; n++) {
        double f;
        for (int d = 0; d < t->nv; d++) {
            double by = SPREAD * (2 * ulna_random_uniform(&random) - 1);
            t->velocity[d] = ulna_segment_is_translation(t->model->dof_segment[d]) ? 0 : by;
        }
        ulna_model_integrate(t->model, t->model->rest, t->velocity, t->trial);
        status = ulna_work_evaluate(work, t->trial, &f);
        if (status == ULNA_OK)
            status = ulna_work_hessian_band(work, 0, &band);
        for (int d = 0; d < t->nv && status == ULNA_OK; d++)
            shown[d] += t->toward[d] / SHOWN_POSES;
    }
    return status;
}

/* DOFs about the same axis of the joints of a chain are a group. */
static void find_groups(ulna_tracker *t, const ulna_anatomy *anatomy)
{
    const ulna_model *model = t->model;
    for (int b = 0; b < model->nb; b++) {
        const ulna_body *body = &model->body[b];
        int parent = body->parent, chain = anatomy->chain[b];
        for (int k = 0; k < body->dof_count && chain != ULNA_NONE; k++) {
            int goes_on = parent >= 0 && anatomy->chain[parent] == chain;
            int group = goes_on ? t->prior.group[model->body[parent].dof + k] : t->groups++;
            t->prior.group[body->dof + k] = group;
            t->prior.grouped[t->grouped++] = body->dof + k;
            t->group_share[group]++;
        }
    }
    for (int group = 0; group < t->groups; group++)
        t->group_share[group] = 1 / t->group_share[group];
}

/* Offsets of a calibration go with the posture that it expected: poses drawn to rest less than there would make up for it. Offsets
 * of other origin may need joints far from rest. */
static double rest_factor(const ulna_tracker *t, const ulna_anatomy *anatomy, int body)
{
    if (t->is_calibrated && t->options.loss != ULNA_LOSS_SQUARE)
        return ulna_anatomy_posture(anatomy, body);
    return anatomy->is_root[body] ? 0 : 1;
}

ulna_status ulna_tracker_set_priors(ulna_tracker *t, ulna_work *work)
{
    const ulna_track_options *o = &t->options;
    const double sum = t->prior.sum;
    ulna_anatomy *anatomy;
    ulna_status status = ulna_anatomy_create(t->model, t->body, t->weight, t->count, &t->allocator, &anatomy);
    if (status != ULNA_OK)
        return status;
    for (int d = 0; d < t->nv; d++)
        t->prior.group[d] = ULNA_NONE;
    if (o->curve > 0)
        find_groups(t, anatomy);
    memset(t->prior_weight, 0, (size_t)t->nv * sizeof *t->prior_weight);
    memcpy(t->prior_goal, t->model->rest, (size_t)t->nq * sizeof *t->prior_goal);
    if (o->smooth > 0) {
        ulna_problem_set_posture(t->problem, t->prior_term, t->prior_goal, t->prior_weight);
        status = find_shown(t, work, t->to_rest);
    }
    for (int d = 0; d < t->nv; d++) {
        int is_weak = o->smooth > 0 && t->to_rest[d] < WEAK * t->mean_weight * t->problem->unit[d];
        t->prior.course[d] = o->smooth * (1 + (is_weak ? WEAK_BRAKE : 0)) / sum;
        t->prior.rest[d] = t->idle[d] ? 0 : rest_factor(t, anatomy, t->model->dof_body[d]) * o->posture / sum;
        if (t->idle[d]) /* toward where it is */
            t->prior.course[d] = fmax(t->prior.course[d], fmax(o->hold, o->posture) / sum);
    }
    t->prior.curve = o->curve / sum;
    for (int d = 0; d < t->nv; d++) {
        double curve = t->prior.group[d] != ULNA_NONE ? t->prior.curve : 0;
        double whole = t->prior.course[d] + t->prior.rest[d] + curve, inverse = whole > 0 ? 1 / whole : 0;
        t->prior.whole[d] = whole;
        t->prior.course_share[d] = inverse * t->prior.course[d];
        t->prior.rest_share[d] = inverse * t->prior.rest[d];
        t->prior.curve_share[d] = inverse * curve;
    }
    ulna_anatomy_destroy(anatomy);
    return status;
}

/* ---- the prior of a frame ---------------------------------------------------------------------------------------- */

/* The way to rest from q; and means over groups, of how far their DOFs are from it. */
static void find_rest(ulna_tracker *t, const double *q)
{
    ulna_model_difference(t->model, q, t->model->rest, t->to_rest);
    memset(t->group_mean, 0, (size_t)t->groups * sizeof *t->group_mean);
    for (int i = 0; i < t->grouped; i++) {
        int d = t->prior.grouped[i], group = t->prior.group[d];
        t->group_mean[group] -= t->to_rest[d] * t->group_share[group];
    }
}

void ulna_tracker_expect_neighbours(ulna_tracker *t, const double *q, const double *to_sides, double sides,
                                    double weight)
{
    const double *restrict rest = t->prior.rest, *restrict to_rest = t->to_rest, curve = t->prior.curve;
    double *restrict sum = t->prior_weight, *restrict toward = t->toward;
    if (t->prior_term == ULNA_NONE)
        return;
    weight /= t->prior.sum;
    find_rest(t, q);
    for (int d = 0; d < t->nv; d++) {
        sum[d] = sides * weight + rest[d];
        toward[d] = weight * to_sides[d] + rest[d] * to_rest[d];
    }
    for (int i = 0; i < t->grouped; i++) {
        int d = t->prior.grouped[i];
        sum[d] += curve;
        toward[d] += curve * (t->group_mean[t->prior.group[d]] + to_rest[d]);
    }
    for (int d = 0; d < t->nv; d++) /* without a weight there is no way either */
        toward[d] /= sum[d] > 0 ? sum[d] : 1;
    ulna_model_integrate(t->model, q, toward, t->prior_goal);
    ulna_problem_set_posture(t->problem, t->prior_term, t->prior_goal, t->prior_weight);
}

ulna_status ulna_tracker_abreast(const ulna_tracker *t, const double *leap, double weight, ulna_abreast **abreast)
{
    const ulna_problem *problem = t->problem;
    const int has_limits = t->options.limits > 0;
    *abreast = NULL;
    /* Terms that a caller has added: those on coordinates are not in `hold`, points not among the markers. */
    if (!t->may_loop || t->prior_term == ULNA_NONE || problem->coordinate_count != 1 + has_limits ||
        problem->pull_count != t->count)
        return ULNA_OK;
    const ulna_abreast_hold hold = {.side = weight / t->prior.sum,
                                    .leap = leap,
                                    .rest_weight = t->prior.rest,
                                    .rest = t->model->rest,
                                    .group_weight = t->prior.curve,
                                    .grouped = t->grouped,
                                    .groups = t->groups,
                                    .grouped_dof = t->prior.grouped,
                                    .group = t->prior.group,
                                    .group_share = t->group_share,
                                    .lower = t->model->lower,
                                    .upper = t->model->upper,
                                    .limit = has_limits ? t->options.limits / t->prior.sum : 0,
                                    .unit = problem->unit,
                                    .scale = ulna_term_weight(problem, &problem->term[t->prior_term])};
    return ulna_abreast_create(problem, t->solver->metric, t->has_locked ? t->solver->locked : NULL, &hold,
                               &t->allocator, abreast);
}

/* Joints that are not seen go to where they were seen last. */
static void expect_held(ulna_tracker *t)
{
    double hold = t->options.hold / t->prior.sum;
    memcpy(t->prior_weight, t->prior.whole, (size_t)t->nv * sizeof *t->prior_weight);
    for (int b = 0; b < t->model->nb; b++) {
        const ulna_body *body = &t->model->body[b];
        if (!t->is_held[b])
            continue;
        memcpy(t->prior_goal + body->coordinate, t->hold_at + body->coordinate,
               (size_t)body->coordinate_count * sizeof *t->hold_at);
        for (int d = body->dof; d < body->dof + body->dof_count; d++)
            t->prior_weight[d] = fmax(t->prior_weight[d], hold);
    }
}

void ulna_tracker_expect_course(ulna_tracker *t)
{
    const double *restrict course = t->prior.course_share, *restrict rest = t->prior.rest_share;
    const double *restrict velocity = t->velocity, *restrict to_rest = t->to_rest;
    const double part = t->history == 2 ? COURSE : 0;
    double *restrict toward = t->toward;
    if (t->prior_term == ULNA_NONE)
        return;
    find_rest(t, t->q1);
    for (int d = 0; d < t->nv; d++)
        toward[d] = part * course[d] * velocity[d] + rest[d] * to_rest[d];
    for (int i = 0; i < t->grouped; i++) {
        int d = t->prior.grouped[i];
        toward[d] += t->prior.curve_share[d] * (t->group_mean[t->prior.group[d]] + to_rest[d]);
    }
    ulna_model_integrate(t->model, t->q1, toward, t->prior_goal);
    if (t->held)
        expect_held(t);
    ulna_problem_set_posture(t->problem, t->prior_term, t->prior_goal, t->held ? t->prior_weight : t->prior.whole);
}

void ulna_tracker_expect_rest(ulna_tracker *t)
{
    if (t->prior_term == ULNA_NONE)
        return;
    for (int d = 0; d < t->nv; d++)
        t->prior_weight[d] = t->prior.rest[d] + (t->prior.group[d] != ULNA_NONE ? t->prior.curve : 0);
    ulna_problem_set_posture(t->problem, t->prior_term, t->model->rest, t->prior_weight);
}

/* ---- joints that no marker shows --------------------------------------------------------------------------------- */

/* `is_moved` has the bodies with a marker; then also those on the way to them. */
static void mark_paths(ulna_tracker *t)
{
    for (int b = t->model->nb - 1; b >= 0; b--)
        if (t->is_moved[b] && t->model->body[b].parent >= 0)
            t->is_moved[t->model->body[b].parent] = 1;
}

/* Bodies that a constraint moves. */
static void anchor_constraint(ulna_tracker *t, const ulna_constraint *c)
{
    int two = c->type == ULNA_KEEP_DISTANCE || c->type == ULNA_KEEP_TOGETHER || c->type == ULNA_KEEP_RELATIVE ||
              c->type == ULNA_KEEP_ANGLE || c->type == ULNA_KEEP_CUSTOM;
    if (c->type == ULNA_KEEP_CENTRE || c->type == ULNA_KEEP_SUPPORT) { /* whatever has a mass */
        memset(t->anchored, 1, (size_t)t->model->nb);
        return;
    }
    for (int i = 0; i < c->dof_count && c->type == ULNA_KEEP_LINEAR; i++)
        t->anchored[t->model->dof_body[c->dofs[i]]] = 1;
    if (c->type != ULNA_KEEP_LINEAR && c->body != ULNA_NONE)
        t->anchored[c->body] = 1;
    if (two && c->other != ULNA_NONE)
        t->anchored[c->other] = 1;
}

void ulna_tracker_rest_idle(ulna_tracker *t, const ulna_marker_set *set)
{
    memset(t->anchored, 0, (size_t)t->model->nb);
    for (size_t i = set->count; i < t->problem->term_count; i++)
        if (t->problem->term[i].body != ULNA_NONE)
            t->anchored[t->problem->term[i].body] = 1;
    for (int i = 0; i < ulna_problem_constraint_count(t->problem); i++)
        anchor_constraint(t, ulna_problem_constraint(t->problem, i));
    memcpy(t->is_moved, t->anchored, (size_t)t->model->nb);
    for (size_t i = 0; i < set->count; i++)
        t->is_moved[set->items[i].body] |= set->items[i].weight > 0;
    mark_paths(t);
    for (int b = 0; b < t->model->nb; b++) {
        t->is_idle[b] = !t->is_moved[b];
        memset(t->idle + t->model->body[b].dof, t->is_idle[b], (size_t)t->model->body[b].dof_count);
        for (int k = 0; t->is_idle[b] && k < t->model->body[b].coordinate_count; k++)
            t->idle_at[t->idle_count++] = t->model->body[b].coordinate + k;
    }
    for (int d = 0; d < t->nv; d++) {
        int is_locked = t->options.solve.locked && t->options.solve.locked[d];
        t->has_locked |= is_locked;
        t->idle[d] |= (unsigned char)is_locked;
    }
    t->options.solve.locked = t->options.fresh.locked = t->idle;
}

void ulna_tracker_find_unseen(ulna_tracker *t)
{
    memcpy(t->is_moved, t->anchored, (size_t)t->model->nb);
    for (int i = 0; i < t->count; i++)
        t->is_moved[t->body[i]] |= t->missing[i] != 1 && t->weight[i] > 0;
    mark_paths(t);
    for (int b = 0; b < t->model->nb; b++) {
        const ulna_body *body = &t->model->body[b];
        if (t->is_held[b] == !t->is_moved[b])
            continue;
        memcpy(t->hold_at + body->coordinate, t->q1 + body->coordinate, (size_t)body->coordinate_count * sizeof *t->q1);
        t->is_held[b] = !t->is_moved[b];
        t->held += t->is_held[b] ? 1 : -1;
    }
}

/* ---- joints far beyond their limits ------------------------------------------------------------------------------- */

#define FAR_BEYOND 1.5 /* radians: of two ways to fit one marker, the other is about half a turn away */

void ulna_tracker_set_far(ulna_tracker *t)
{
    for (int i = 0; i < t->nq; i++) {
        t->far_below[i] = -(double)INFINITY;
        t->far_above[i] = (double)INFINITY;
    }
    for (int b = 0; b < t->model->nb; b++) {
        const ulna_body *body = &t->model->body[b];
        for (int k = 0; k < body->dof_count && body->dof_count == body->coordinate_count; k++) {
            int d = body->dof + k;
            if (t->idle[d] || ulna_segment_is_translation(t->model->dof_segment[d]))
                continue;
            t->far_below[body->coordinate + k] = t->model->lower[d] - FAR_BEYOND;
            t->far_above[body->coordinate + k] = t->model->upper[d] + FAR_BEYOND;
        }
    }
}

int ulna_tracker_is_far_beyond(const ulna_tracker *t, const double *q)
{
    const double *below = t->far_below, *above = t->far_above;
    long long bits = 0;
    for (int i = 0; i < t->nq; i++) /* it is often asked */
        bits |= ulna_sign_bits(q[i] - below[i]) | ulna_sign_bits(above[i] - q[i]);
    return bits < 0;
}

void ulna_tracker_put_back(const ulna_tracker *t, const double *q, double *to)
{
    for (int b = 0; b < t->model->nb; b++) {
        const ulna_body *body = &t->model->body[b];
        int is_far = 0;
        for (int i = body->coordinate; i < body->coordinate + body->coordinate_count; i++)
            is_far |= q[i] < t->far_below[i] || q[i] > t->far_above[i];
        if (is_far)
            memcpy(to + body->coordinate, t->model->rest + body->coordinate,
                   (size_t)body->coordinate_count * sizeof *to);
    }
}
