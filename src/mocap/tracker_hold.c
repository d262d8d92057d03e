/*
 * What no marker shows.
 *
 * Joints that no marker of the set can move stay as the start has them, to the bit. Joints whose markers are all missing
 * for a while, or are weighed down to nothing, stay where they were last seen: the posture term, which otherwise pulls to
 * rest with next to no weight, would have them snap to rest in a single frame and back when the markers return. The prior
 * is set where a limb disappears and does not move until it is seen again, so that nothing drifts.
 */
#include "mocap/tracker.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "objective/problem.h"

/* `carries` has the bodies with a marker; then also those on the way to them. */
static void carry_down(ulna_tracker *t)
{
    for (int b = t->model->nb - 1; b >= 0; b--)
        if (t->carries[b] && t->model->body[b].parent >= 0)
            t->carries[t->model->body[b].parent] = 1;
}

void ulna_tracker_rest_idle(ulna_tracker *t, const ulna_marker_set *set)
{
    memset(t->anchored, 0, (size_t)t->model->nb);
    for (size_t i = set->count; i < t->problem->term_count; i++)
        if (t->problem->term[i].body != ULNA_NONE)
            t->anchored[t->problem->term[i].body] = 1;
    memcpy(t->carries, t->anchored, (size_t)t->model->nb);
    for (size_t i = 0; i < set->count; i++)
        t->carries[set->items[i].body] |= set->items[i].weight > 0;
    carry_down(t);
    for (int b = 0; b < t->model->nb; b++)
        memset(t->idle + t->model->body[b].dof, !t->carries[b], (size_t)t->model->body[b].dof_count);
    for (int d = 0; d < t->nv && t->options.solve.locked; d++)
        t->idle[d] |= t->options.solve.locked[d] != 0;
    t->options.solve.locked = t->options.fresh.locked = t->idle;
}

void ulna_tracker_hold_nothing(ulna_tracker *t)
{
    memset(t->is_held, 0, (size_t)t->model->nb);
    memcpy(t->prior, t->model->rest, (size_t)t->nq * sizeof *t->prior);
    if (t->held && t->posture_term != ULNA_NONE)
        ulna_problem_set_goal(t->problem, t->posture_term, t->prior);
    t->held = 0;
}

/* Returns how many markers do not count. */
static int find_carriers(ulna_tracker *t)
{
    int absent = 0;
    memcpy(t->carries, t->anchored, (size_t)t->model->nb);
    for (int i = 0; i < t->count; i++) {
        int counts = !isnan(t->seen[3 * i]) && t->weight[i] > 0 && ulna_problem_confidence(t->problem, i) > 0;
        t->carries[t->body[i]] |= counts != 0;
        absent += !counts;
    }
    return absent;
}

void ulna_tracker_hold_unseen(ulna_tracker *t)
{
    if (t->posture_term == ULNA_NONE || (!find_carriers(t) && !t->held))
        return;
    carry_down(t);
    int changes = 0;
    for (int b = 0; b < t->model->nb; b++) {
        const ulna_body *body = &t->model->body[b];
        if (t->is_held[b] == !t->carries[b])
            continue;
        const double *from = t->carries[b] ? t->model->rest : t->q1;
        memcpy(t->prior + body->coordinate, from + body->coordinate, (size_t)body->coordinate_count * sizeof *from);
        t->is_held[b] = !t->carries[b];
        t->held += t->is_held[b] ? 1 : -1;
        changes++;
    }
    if (changes)
        ulna_problem_set_goal(t->problem, t->posture_term, t->prior);
}
