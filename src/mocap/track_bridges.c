/*
 * A limb that no marker shows goes on a cubic from where it was seen last to where it is seen next, with the velocities that it has
 * there; so does the whole skeleton where no marker is seen at all.
 */
#include <string.h>

#include "mocap/anatomy.h"
#include "mocap/track_passes.h"

#define FASTEST 3.0 /* times the way of a bridge: a velocity at its ends beyond that would overshoot */

enum { VELOCITY = 3 }; /* frames by which a velocity is measured */

/* Which markers are: count. Returns 1 if they are others than before. */
static int find_shown(const ulna_passes *p, int frame, unsigned char *is_shown)
{
    const unsigned char *aside = ulna_pass_aside(p, frame);
    const double *distances = p->j->result->distances + (size_t)frame * p->j->take->set.count;
    const int *item = p->j->item, count = (int)p->j->used.count;
    int changes = 0;
    for (int i = 0; i < count; i++) {
        unsigned char now = (unsigned char)(!aside[i] & !isnan(distances[item[i]]));
        changes |= now ^ is_shown[i];
        is_shown[i] = now;
    }
    return changes;
}

/* Clavicles and the like, by the shape of the skeleton. */
static ulna_status find_girdles(ulna_passes *p)
{
    const ulna_tracker *t = p->tracker;
    ulna_anatomy *anatomy;
    ulna_status status = ulna_anatomy_create(t->model, t->body, t->weight, t->count, &t->allocator, &anatomy);
    if (status == ULNA_OK)
        memcpy(p->is_girdle, anatomy->is_girdle, (size_t)t->model->nb);
    ulna_anatomy_destroy(anatomy);
    return status;
}

/* A clavicle that one marker shows swings when the arm beyond it is gone, and takes the arm along: it goes with its limb. */
static void hide_girdles(const ulna_passes *p, unsigned char *hidden)
{
    const ulna_model *model = p->j->take->model;
    for (int b = 0; b < model->nb; b++)
        if (p->is_girdle[b] && !hidden[b]) {
            int c = b + 1;
            while (c < model->nb && !(model->body[c].dof_count && !hidden[c] && ulna_moving_parent(model, c) == b))
                c++;
            hidden[b] = c == model->nb;
        }
}

ulna_status ulna_pass_find_hidden(ulna_passes *p)
{
    const ulna_model *model = p->j->take->model;
    const ulna_marker_set *used = &p->j->used;
    unsigned char *is_shown = p->is_shown;
    ulna_status status = find_girdles(p);
    for (int f = 0; f < p->total && status == ULNA_OK; f++) {
        unsigned char *hidden = ulna_pass_hidden(p, f);
        if (!find_shown(p, f, is_shown) && f) {
            memcpy(hidden, ulna_pass_hidden(p, f - 1), (size_t)model->nb);
            continue;
        }
        memset(hidden, 1, (size_t)model->nb);
        for (size_t i = 0; i < used->count; i++)
            for (int b = is_shown[i] && used->items[i].weight > 0 ? used->items[i].body : ULNA_NONE;
                 b != ULNA_NONE && hidden[b]; b = model->body[b].parent)
                hidden[b] = 0;
        hide_girdles(p, hidden);
        for (int b = 0; b < model->nb; b++)
            p->is_hidden_at_times[b] |= hidden[b] ^ ulna_pass_hidden(p, 0)[b];
    }
    return status;
}

/* The velocity of the frames up to `frame` (direction -1), or from it on (1), in d: of a few of them, and only of those in which `body`
 * is seen; ULNA_NONE: of all. */
static void velocity_at(const ulna_passes *p, int body, int frame, int direction, double *d)
{
    int n = 0;
    for (int f = frame + direction; n < VELOCITY && f >= 0 && f < p->total; f += direction, n++)
        if (body != ULNA_NONE && ulna_pass_hidden(p, f)[body])
            break;
    memset(d, 0, (size_t)p->nv * sizeof *d);
    if (n)
        ulna_model_difference(p->j->take->model, ulna_pass_pose(p, frame), ulna_pass_pose(p, frame + direction * n), d);
    for (int k = 0; k < p->nv && n; k++)
        d[k] *= (double)direction / n;
}

/* The joint of `body` on a cubic (Hermite) between the frames `from` and `to`. */
static void bridge(ulna_passes *p, int body, int from, int to)
{
    const ulna_model *model = p->j->take->model;
    const ulna_body *b = &model->body[body];
    double span = to - from, *scratch = p->scratch; /* a pose of which the body's coordinates count */
    velocity_at(p, body, from, -1, p->d1);
    velocity_at(p, body, to, 1, p->d2);
    ulna_model_difference(model, ulna_pass_pose(p, from), ulna_pass_pose(p, to), p->d0);
    for (int f = from + 1; f < to; f++) {
        double s = (f - from) / span, s2 = s * s, s3 = s2 * s;
        memset(p->way, 0, (size_t)p->nv * sizeof *p->way);
        for (int d = b->dof; d < b->dof + b->dof_count; d++) {
            double way = p->d0[d],
                   most = FASTEST * fabs(way) +
                          (ulna_segment_is_translation(model->dof_segment[d]) ? 1e-9 * p->tracker->length_scale : 1e-9);
            double v0 = fmax(-most, fmin(most, span * p->d1[d])), v1 = fmax(-most, fmin(most, span * p->d2[d]));
            p->way[d] = way * (3 * s2 - 2 * s3) + v0 * (s3 - 2 * s2 + s) + v1 * (s3 - s2);
        }
        ulna_model_integrate(model, ulna_pass_pose(p, from), p->way, scratch);
        memcpy(ulna_pass_pose(p, f) + b->coordinate, scratch + b->coordinate,
               (size_t)b->coordinate_count * sizeof *scratch);
        ulna_tracker_clamp(p->tracker, ulna_pass_pose(p, f));
        if (!ulna_pass_is_empty(p, f))
            *ulna_pass_flags(p, f) |= ULNA_TRACK_BRIDGED;
    }
}

/* Before it is seen for the first time, or after the last: as it is then. */
static void hold(ulna_passes *p, int body, int seen, int first, int last)
{
    const ulna_body *b = &p->j->take->model->body[body];
    for (int f = first; f < last; f++) {
        memcpy(ulna_pass_pose(p, f) + b->coordinate, ulna_pass_pose(p, seen) + b->coordinate,
               (size_t)b->coordinate_count * sizeof(double));
        if (!ulna_pass_is_empty(p, f))
            *ulna_pass_flags(p, f) |= ULNA_TRACK_BRIDGED;
    }
}

void ulna_pass_bridge(ulna_passes *p)
{
    const ulna_model *model = p->j->take->model;
    for (int b = 0; b < model->nb; b++) {
        int from = ULNA_NONE;
        for (int f = 0; f < p->total && model->body[b].dof_count && p->is_hidden_at_times[b]; f++) {
            if (ulna_pass_hidden(p, f)[b])
                continue;
            if (from == ULNA_NONE)
                hold(p, b, f, 0, f);
            else if (from < f - 1)
                bridge(p, b, from, f);
            from = f;
        }
        if (from != ULNA_NONE)
            hold(p, b, from, from + 1, p->total);
    }
}

/* ---- what hidden markers held -------------------------------------------------------------------------------------- */

/* By how much the pose steps from `frame` - 1 to `frame`, other than by the mean of the velocities before and after. */
static void find_step(ulna_passes *p, int frame, double *d)
{
    ulna_model_difference(p->j->take->model, ulna_pass_pose(p, frame - 1), ulna_pass_pose(p, frame), d);
    velocity_at(p, ULNA_NONE, frame - 1, -1, p->d0);
    velocity_at(p, ULNA_NONE, frame, 1, p->d1);
    for (int k = 0; k < p->nv; k++)
        d[k] -= 0.5 * (p->d0[k] + p->d1[k]);
}

/* In frames first .. last - 1 the limb is hidden. The steps of the others, where its markers go and return, are spread over them. */
static void blend(ulna_passes *p, int limb, int first, int last)
{
    const ulna_model *model = p->j->take->model;
    int has_before = first > 0 && !ulna_pass_hidden(p, first - 1)[limb];
    int has_behind = last < p->total && !ulna_pass_hidden(p, last)[limb];
    if (has_before)
        find_step(p, first, p->d2);
    if (has_behind)
        find_step(p, last, p->way);
    for (int f = first; f < last && (has_before || has_behind); f++) {
        double part = !has_before ? 1 : !has_behind ? 0 : (f - first + 1.0) / (last - first + 1);
        double *q = ulna_pass_pose(p, f);
        for (int d = 0; d < p->nv; d++)
            p->d0[d] = (has_behind ? part * p->way[d] : 0) - (has_before ? (1 - part) * p->d2[d] : 0);
        ulna_model_integrate(model, q, p->d0, p->scratch);
        ulna_pass_copy(p, ulna_pass_hidden(p, f), 0, p->scratch, q);
        ulna_tracker_clamp(p->tracker, q);
    }
}

/* Is it hidden, and what carries it not? */
static int is_limb(const ulna_passes *p, int frame, int body)
{
    const unsigned char *hidden = ulna_pass_hidden(p, frame);
    int parent = p->j->take->model->body[body].parent;
    return hidden[body] && parent != ULNA_NONE && !hidden[parent];
}

void ulna_pass_blend(ulna_passes *p)
{
    for (int b = 0; b < p->j->take->model->nb; b++)
        for (int first = 0, last; first < p->total && p->is_hidden_at_times[b]; first = last + 1) {
            for (last = first; last < p->total && is_limb(p, last, b);)
                last++;
            if (last - first >= ULNA_PASS_MARGIN) /* in a shorter one nothing settles elsewhere */
                blend(p, b, first, last);
        }
}
