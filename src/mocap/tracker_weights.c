/*
 * Which markers to believe, and where to keep what no marker shows.
 *
 * Weighing by distance and solving again lowers sum w rho(r), with rho' = r times the factor of the weight. Markers are
 * weighed before the first step already, by how far they are from where the motion of the last two poses would have brought
 * them: a limb with a single marker would follow it anywhere. That is done with places, not with joint values, which jump
 * where a joint is near its singularity.
 *
 * Joints that no marker of the set can move stay as the start has them, to the bit. Joints whose markers are all missing
 * for a while, or are weighed down to nothing, stay where they were last seen: the posture term, which otherwise pulls to
 * rest with next to no weight, would move them to rest in a single frame and back when the markers return. The prior
 * is set where a limb disappears and does not move until it is seen again, so that nothing drifts.
 */
#include "mocap/tracker.h"

#include <math.h>
#include <string.h>

#include "model/model.h"
#include "objective/problem.h"

enum { MANY_FAR = 3 }; /* one in so many: not the markers are wrong, but the course */
#define LEAST_WEIGHT 0.02
#define OUT_OF_REACH 3     /* length scales: the longest way along the skeleton is two */
#define WEIGHT_CHANGE 0.05 /* of a marker: less is none */

/* Below LEAST_WEIGHT a marker is out: were it the only one of a limb, even a trace of weight would draw the limb along. */
double ulna_robust_factor(const ulna_track_options *o, double r)
{
    double u = r / o->loss_scale, v = 1 + u * u, factor = 1;
    if (o->loss == ULNA_LOSS_GEMAN_MCCLURE)
        factor = 1 / (v * v);
    else if (o->loss == ULNA_LOSS_CAUCHY)
        factor = 1 / v;
    else if (o->loss == ULNA_LOSS_HUBER && u > 1)
        factor = 1 / u;
    return factor < LEAST_WEIGHT ? 0 : factor;
}

double ulna_robust_cost(const ulna_track_options *o, double r)
{
    double c2 = o->loss_scale * o->loss_scale, u = r / o->loss_scale;
    if (o->loss == ULNA_LOSS_GEMAN_MCCLURE)
        return 0.5 * r * r / (1 + u * u);
    if (o->loss == ULNA_LOSS_CAUCHY)
        return 0.5 * c2 * log1p(u * u);
    return o->loss == ULNA_LOSS_HUBER && u > 1 ? c2 * (u - 0.5) : 0.5 * r * r;
}

static double factor_of(const ulna_tracker *t, int i)
{
    return isnan(t->distance[i]) ? 1 : ulna_robust_factor(&t->options, t->distance[i]);
}

double ulna_tracker_weigh(ulna_tracker *t)
{
    double change = 0;
    for (int i = 0; i < t->count; i++)
        change = fmax(change, fabs(factor_of(t, i) - ulna_problem_confidence(t->problem, i)));
    if (change < WEIGHT_CHANGE)
        return 0;
    for (int i = 0; i < t->count; i++)
        ulna_problem_set_confidence(t->problem, i, factor_of(t, i));
    ulna_tracker_hold_unseen(t);
    return change;
}

void ulna_tracker_weigh_evenly(ulna_tracker *t)
{
    for (int i = 0; t->options.loss && i < t->count; i++)
        ulna_problem_set_confidence(t->problem, i, 1);
    ulna_tracker_hold_unseen(t);
}

/* The lower median of what is no NaN, by quickselect (Hoare); NaN if there is none. The numbers change places. */
static double median(double *x, int count)
{
    int n = 0, low = 0;
    for (int i = 0; i < count; i++)
        if (!isnan(x[i]))
            x[n++] = x[i];
    int high = n - 1, middle = (n - 1) / 2;
    while (low < high) {
        double pivot = x[middle];
        int i = low, j = high;
        while (i <= j) {
            while (x[i] < pivot)
                i++;
            while (x[j] > pivot)
                j--;
            if (i <= j) {
                double kept = x[i];
                x[i++] = x[j];
                x[j--] = kept;
            }
        }
        low = i <= middle ? i : low;
        high = j >= middle ? j : high;
        if (j < middle && i > middle)
            break;
    }
    return n ? x[middle] : (double)NAN;
}

void ulna_tracker_weigh_possible(ulna_tracker *t)
{
    double reach = OUT_OF_REACH * t->model->length_scale, centre[3];
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < t->count; i++)
            t->distance[i] = t->weight[i] > 0 ? t->seen[3 * i + k] : (double)NAN;
        centre[k] = median(t->distance, t->count);
    }
    for (int i = 0; i < t->count; i++) {
        int is_possible = 1;
        for (int k = 0; k < 3; k++)
            is_possible &= !(fabs(t->seen[3 * i + k] - centre[k]) > reach);
        ulna_problem_set_confidence(t->problem, i, is_possible);
    }
    ulna_tracker_hold_unseen(t);
}

/* If many are far, the pose is not to be trusted. */
void ulna_tracker_weigh_by_course(ulna_tracker *t)
{
    int far = 0, seen = 0;
    for (int i = 0; i < t->count; i++) {
        double square = 0;
        for (int k = 3 * i; k < 3 * i + 3; k++) {
            double away = t->seen[k] - (2 * t->m1[k] - t->m2[k]);
            square += away * away;
        }
        t->distance[i] = sqrt(square);
        seen += !isnan(square);
        far += t->distance[i] > t->options.loss_scale;
    }
    if (far * MANY_FAR < seen)
        ulna_tracker_weigh(t);
}

/* ---- what no marker shows ---------------------------------------------------------------------------------------- */

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
