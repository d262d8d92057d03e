/*
 * Markers that go astray: one drifts away by and by, is exchanged with another, or sticks to something else. The robust loss lets go
 * of it, but not before it has pulled its limb along; where it alone shows a joint, that joint follows it for as long as it can.
 *
 * A marker is astray where its distance stands out from its own in the whole take, while the markers near it are where they should
 * be. It is left out for the stretch, and the joints near it are solved again, from before and from behind. If markers near it are
 * off too, it is the pose or the skeleton that does not fit: then it stays, and the frames are doubtful.
 */
#include <string.h>

#include "mocap/anatomy.h"
#include "mocap/track_passes.h"

#define NEAR 0.25  /* of the scale of the loss: a marker so near to its place is where it should be, */
#define OFF 0.5    /* and one so far from it is not, however usual that is */
#define MOSTLY 0.9 /* of the frames */

enum {
    NEIGHBOURS = 2, /* joints between the bodies of markers that are near each other */
    FOLLOWED = 6,   /* a part of a stretch: before it and after it, a marker may have moved its joint, */
    HOLD = 3,       /* unless so many others hold it: three points show how a bone is rotated */
    REACH = 3,      /* joints from a marker's body: those beyond do not depend on it */
    LIMB = 4        /* of a limb, with the one that joins it to the trunk */
};

/* Why a marker is set aside: it has gone astray, or does so soon or did before. */
enum { ASTRAY = 1, AROUND };

/* The next stretch from frame *last on in which marker i leaves its usual distance until it is back, and is astray in between. A
 * spike of a few frames does no harm: the loss gives it no weight. Returns 0 if there is none. */
static int next_stretch(const ulna_passes *p, size_t i, int *first, int *last)
{
    for (int f = *last; f < p->total && p->farthest[i] > p->astray[i]; f = *last + 1) {
        int is_astray = 0;
        for (*first = *last = f; *last < p->total && !(ulna_pass_distance(p, *last, i) <= p->usual[i]); ++*last)
            is_astray |= ulna_pass_distance(p, *last, i) > p->astray[i];
        if (is_astray && *last - *first >= ULNA_PASS_MARGIN)
            return 1;
    }
    return 0;
}

void ulna_pass_suspect_astray(ulna_passes *p)
{
    for (size_t i = 0; i < p->j->used.count; i++)
        for (int first, last = 0; next_stretch(p, i, &first, &last);)
            memset(p->suspect + first, 1, (size_t)(last - first));
}

/* Are the markers near it where they should be? If they are off too, it is the pose or the skeleton that does not fit. */
static int is_alone(const ulna_passes *p, int frame, size_t i)
{
    const ulna_attachment *items = p->j->used.items;
    double scale = p->j->options->loss_scale;
    for (size_t k = 0; k < p->j->used.count; k++)
        if (k != i && items[k].weight > 0 &&
            ulna_pass_distance(p, frame, k) > fmax(NEAR * scale, fmin(OFF * scale, p->usual[k])) &&
            ulna_joints_between(p->j->take->model, items[i].body, items[k].body) <= NEIGHBOURS)
            return 0;
    return 1;
}

/* Widens the stretch: a marker goes astray by and by, and at first the pose goes along. */
static void widen(const ulna_passes *p, int *first, int *last)
{
    int margin = (*last - *first) / 2;
    *first = *first - margin > 0 ? *first - margin : 0;
    *last = *last + margin < p->total ? *last + margin : p->total;
}

static void set_aside(ulna_passes *p, size_t i, int first, int last, unsigned char how)
{
    for (int f = first; f < last; f++) {
        p->has_aside[f] = 1;
        if (ulna_pass_aside(p, f)[i] != ASTRAY)
            ulna_pass_aside(p, f)[i] = how;
        p->suspect[f] = 1;
    }
}

static void doubt(const ulna_passes *p, int first, int last)
{
    for (int f = first; f < last; f++)
        if (!(*ulna_pass_flags(p, f) & (ULNA_TRACK_EMPTY | ULNA_TRACK_LOST)))
            *ulna_pass_flags(p, f) |= ULNA_TRACK_DOUBTFUL;
}

/* How many other markers show its bone, or one beyond it? Without any, the joint follows it, at no distance. */
static int count_others(const ulna_passes *p, size_t i)
{
    const ulna_attachment *items = p->j->used.items;
    int others = 0;
    for (size_t k = 0; k < p->j->used.count; k++)
        others +=
            k != i && items[k].weight > 0 && ulna_model_is_ancestor(p->j->take->model, items[i].body, items[k].body);
    return others;
}

/* The joint has gone along before the marker stands out, and does so again before it is back. */
static void doubt_around(const ulna_passes *p, int from, int to)
{
    int margin = (to - from) / FOLLOWED;
    doubt(p, from > margin ? from - margin : 0, from);
    doubt(p, to, to + margin < p->total ? to + margin : p->total);
}

/* Does it leave its usual distance, and return to it, by and by? A marker that leaps takes no joint along before. */
static int is_gradual(const ulna_passes *p, size_t i, int first, int last)
{
    return !(ulna_pass_distance(p, first, i) > p->astray[i]) && !(ulna_pass_distance(p, last - 1, i) > p->astray[i]);
}

static void find_astray(ulna_passes *p, size_t i)
{
    for (int first, last = 0; next_stretch(p, i, &first, &last);) {
        int astray = 0, alone = 0, from = first, to = last;
        for (int f = first; f < last; f++)
            if (ulna_pass_distance(p, f, i) > p->astray[i]) {
                astray++;
                alone += is_alone(p, f, i);
            }
        widen(p, &from, &to);
        if (alone < MOSTLY * astray) {
            doubt(p, first, last);
            if (count_others(p, i) < HOLD && is_gradual(p, i, first, last))
                doubt_around(p, first, last);
            continue;
        }
        set_aside(p, i, first, last, ASTRAY);
        set_aside(p, i, from, to, AROUND);
        if (!count_others(p, i))
            doubt_around(p, from, to);
    }
}

int ulna_pass_is_contradicted(const ulna_passes *p, int frame)
{
    const unsigned char *aside = ulna_pass_aside(p, frame);
    double least = OFF * p->j->options->loss_scale;
    for (size_t i = 0; i < p->j->used.count && p->has_aside[frame]; i++)
        if (aside[i] == AROUND && ulna_pass_distance(p, frame, i) > fmax(least, p->usual[i]))
            return 1;
    return 0;
}

static void choose_near(const ulna_passes *p, size_t i, int reach)
{
    const ulna_model *model = p->j->take->model;
    for (int b = 0; b < model->nb; b++)
        p->is_mended[b] |= ulna_joints_between(model, p->j->used.items[i].body, b) <= reach;
}

/* The joints near the markers that are set aside in frames first .. last - 1. */
static void choose_joints(ulna_passes *p, int first, int last)
{
    memset(p->is_mended, 0, (size_t)p->j->take->model->nb);
    for (size_t i = 0; i < p->j->used.count; i++) {
        int f = first;
        while (f < last && !ulna_pass_aside(p, f)[i])
            f++;
        if (f < last)
            choose_near(p, i, REACH);
    }
}

void ulna_pass_choose_suspects(ulna_passes *p, int first, int last)
{
    const unsigned marks = ULNA_TRACK_LOST | ULNA_TRACK_RECOVERED;
    int strays = 0, is_all = 0;
    memset(p->is_mended, 0, (size_t)p->j->take->model->nb);
    for (size_t i = 0; i < p->j->used.count; i++) {
        int frames = 0;
        for (int f = first; f < last; f++)
            frames += ulna_pass_distance(p, f, i) > p->astray[i];
        if (frames >= ULNA_PASS_MARGIN)
            choose_near(p, i, LIMB);
        strays += frames >= ULNA_PASS_MARGIN;
        is_all |= frames > 0 && frames < ULNA_PASS_MARGIN;
    }
    for (int f = first; f < last; f++)
        is_all |= (*ulna_pass_flags(p, f) & marks) != 0;
    if (is_all || !strays)
        memset(p->is_mended, 1, (size_t)p->j->take->model->nb);
}

/* Once more from before, without the markers that are set aside. */
static ulna_status track_forward(ulna_passes *p, int first, int last)
{
    ulna_status status = ULNA_OK;
    ulna_pass_resume(p, first - 1);
    for (int f = first; f < last && status == ULNA_OK; f++) {
        ulna_frame_report report;
        ulna_pass_gather(p, f, p->positions);
        status = ulna_tracker_frame(p->tracker, p->positions, p->scratch, &report);
        if (status != ULNA_OK)
            break;
        ulna_pass_copy(p, p->is_mended, 1, p->scratch, ulna_pass_pose(p, f));
        p->cost[f] = ulna_pass_cost(p, p->tracker->distance);
    }
    return status;
}

ulna_status ulna_pass_leave_out_astray(ulna_passes *p)
{
    ulna_status status = ULNA_OK;
    memset(p->suspect, 0, (size_t)p->total);
    for (size_t i = 0; i < p->j->used.count; i++)
        find_astray(p, i);
    for (int first = 0, last; first < p->total && status == ULNA_OK; first = last + 1) {
        for (last = first; last < p->total && p->suspect[last];)
            last++;
        if (last == first)
            continue;
        double cost;
        choose_joints(p, first, last);
        status = ulna_pass_keep_former(p, first, last, &cost);
        if (status == ULNA_OK)
            status = track_forward(p, first, last);
        if (status == ULNA_OK)
            status = ulna_pass_mend(p, first, last);
        if (status == ULNA_OK)
            status = ulna_pass_compare_former(p, first, last, cost);
    }
    return status;
}
