/*
 * Which axes of the recording are the skeleton's.
 *
 * If up is known in both, the axes are exchanged in a circle until they agree; a skeleton whose axis points down gets half a turn
 * besides. If not, the three such exchanges are tried: with a
 * reference motion the one in which markers keep still on their bones; else the one that fits best, or, as a root that turns
 * freely fits all three alike, the one in which the root stands upright.
 */
#include <string.h>

#include "base/base.h"
#include "mocap/take.h"
#include "model/model.h"

enum { WAYS = 3, TRIED_FRAMES = 7, RESTARTS = 8 };
#define CLEARLY 0.5 /* of the next best f */

int ulna_largest(const double x[3])
{
    int best = fabs(x[1]) > fabs(x[0]) ? 1 : 0;
    return fabs(x[2]) > fabs(x[best]) ? 2 : best;
}

void ulna_axes_exchange(int from, int to, int is_opposite, double axes[9])
{
    for (int i = 0; i < 9; i++)
        axes[i] = 0;
    for (int i = 0; i < 3; i++)
        axes[3 * ((to + i) % 3) + (from + i) % 3] = is_opposite && i < 2 ? -1 : 1;
}

/* What is up for the skeleton. */
typedef struct upward {
    int axis;    /* 0, 1 or 2; ULNA_NONE: not known */
    int is_down; /* the axis points down, not up */
} upward;

/* The axis k + way of the recording is axis k of the skeleton, but for half a turn if its own points down. */
static void circle(int way, const upward *up, double axes[9])
{
    ulna_axes_exchange((up->axis + way) % WAYS, up->axis, up->is_down, axes);
}

/* At rest, by its bones; not known if their names do not say. */
static ulna_status up_of_bones(const ulna_take *take, upward *up, ulna_error *error)
{
    ulna_pose *rest = NULL;
    double directions[9];
    ulna_status status = ulna_pose_create(take->model, &take->allocator, &rest, error);
    if (status == ULNA_OK)
        status = ulna_pose_forward(rest, take->model->rest);
    if (status == ULNA_OK && ulna_model_directions(take->model, rest, directions)) {
        up->axis = ulna_largest(directions + 3);
        up->is_down = directions[3 + up->axis] < 0;
    }
    ulna_pose_destroy(rest);
    return status;
}

static ulna_status by_reference(ulna_take *take, const upward *up, ulna_error *error)
{
    double axes[WAYS][9], motion[WAYS];
    int best = 0;
    for (int way = 0; way < WAYS; way++)
        circle(way, up, axes[way]);
    ulna_status status = ulna_take_marker_motion(take, axes, motion, error);
    for (int way = 1; way < WAYS; way++)
        best = motion[way] < motion[best] ? way : best;
    circle(best, up, take->axes);
    take->axes_source = ULNA_AXES_REFERENCE;
    return status;
}

typedef struct attempt {
    double f, lean; /* 0 upright, 1 lying, 2 upside down: how far the root's up is from where it points at rest */
} attempt;

static ulna_status try_way(const ulna_take *take, ulna_tracker *tracker, ulna_pose *pose, double *memory, int up,
                           attempt *result)
{
    double *positions = memory, *q = memory + 3 * take->set.count, rest[9], now[9];
    int solved = 0;
    ulna_status status = ulna_pose_forward(pose, take->model->rest);
    ulna_pose_body(pose, 0, NULL, rest);
    for (int k = 0; k < TRIED_FRAMES && status == ULNA_OK; k++) {
        ulna_frame_report report;
        ulna_take_positions(take, (int)((double)take->frame_count * (k + 0.5) / TRIED_FRAMES), positions);
        ulna_tracker_reset(tracker, NULL);
        status = ulna_tracker_frame(tracker, positions, q, &report);
        if (status != ULNA_OK || !report.seen)
            continue;
        status = ulna_pose_forward(pose, q);
        ulna_pose_body(pose, 0, NULL, now);
        result->f += report.f;
        result->lean += 1 - ulna_dot(now + 3 * up, rest + 3 * up); /* of up = R_now R_rest^T up */
        solved++;
    }
    result->f = solved ? result->f / solved : (double)INFINITY;
    result->lean = solved ? result->lean / solved : (double)INFINITY;
    return status;
}

static void decide(ulna_take *take, const upward *up, const attempt attempts[WAYS])
{
    int fits = 0, upright = 0, is_clear = 1;
    for (int way = 1; way < WAYS; way++) {
        fits = attempts[way].f < attempts[fits].f ? way : fits;
        upright = attempts[way].lean < attempts[upright].lean ? way : upright;
    }
    for (int way = 0; way < WAYS; way++)
        is_clear &= way == fits || attempts[fits].f < CLEARLY * attempts[way].f;
    circle(is_clear ? fits : upright, up, take->axes);
    take->axes_source = is_clear ? ULNA_AXES_FIT : ULNA_AXES_UPRIGHT;
}

static ulna_status by_trying(ulna_take *take, const upward *up, ulna_error *error)
{
    attempt attempts[WAYS] = {{0}};
    ulna_track_options options = ulna_track_options_default();
    ulna_tracker *tracker = NULL;
    ulna_pose *pose = NULL;
    size_t room = 3 * take->set.count + (size_t)take->model->nq;
    double *memory = ulna_allocate(&take->allocator, room, sizeof *memory);
    options.fresh.restarts = RESTARTS;
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a frame");
    ulna_status status = ulna_tracker_create(take->model, &take->set, &options, &take->allocator, &tracker, error);
    if (status == ULNA_OK)
        status = ulna_pose_create(take->model, &take->allocator, &pose, error);
    for (int way = 0; way < WAYS && status == ULNA_OK; way++) {
        circle(way, up, take->axes);
        status = try_way(take, tracker, pose, memory, up->axis, &attempts[way]);
        if (status != ULNA_OK)
            ulna_fail(error, status, "the axes of the recording cannot be found: %s", ulna_status_text(status));
    }
    decide(take, up, attempts);
    ulna_pose_destroy(pose);
    ulna_tracker_destroy(tracker);
    ulna_release(&take->allocator, memory, room, sizeof *memory);
    return status;
}

ulna_status ulna_take_find_axes(ulna_take *take, const ulna_take_options *o, ulna_error *error)
{
    if (o->axes) {
        memcpy(take->axes, o->axes, sizeof take->axes);
        take->axes_source = ULNA_AXES_GIVEN;
        return ULNA_OK;
    }
    upward up = {.axis = o->model_up ? o->model_up - 'x' : ULNA_NONE};
    ulna_status status = o->model_up ? ULNA_OK : up_of_bones(take, &up, error);
    if (status != ULNA_OK)
        return status;
    int is_known = up.axis != ULNA_NONE || (o->up && o->trust_up);
    if (up.axis == ULNA_NONE)
        up.axis = 1;
    take->up = o->up;
    if (is_known || !take->reference)
        take->model_up = (char)('x' + up.axis);
    if (take->up && is_known) {
        ulna_axes_exchange(take->up - 'x', up.axis, up.is_down, take->axes);
        take->axes_source = ULNA_AXES_UP;
        return ULNA_OK;
    }
    return take->reference ? by_reference(take, &up, error) : by_trying(take, &up, error);
}
