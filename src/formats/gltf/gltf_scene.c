/*
 * glTF: the numbers of a scene, in single precision.
 *
 * A body is a node with T R = placement * motion(q) * offset, at rest and in every frame, so any joint can be written.
 * Only what changes gets a track.
 */
#include <float.h>
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/gltf/gltf_source.h"

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

static void fail(ulna_gltf_scene *s, ulna_status status, const char *text)
{
    if (s->status == ULNA_OK)
        s->status = ulna_fail(s->error, status, "%s", text);
}

#define MOST_KEPT ((size_t)64 << 20) /* bytes of the buffer */

/* The nearest whole number, halves up; of numbers below 2^62, without a call or a branch. */
static double nearest(double value)
{
    int64_t whole = (int64_t)(value + 0.5);
    return (double)(whole - ((double)whole > value + 0.5));
}

static float single(ulna_gltf_scene *s, double value)
{
    const double fine = 1 << 30;
    if (!(fabs(value) <= (double)FLT_MAX)) {
        fail(s, ULNA_ERR_NUMBER, "a number is too large for glTF's single precision");
        return 0;
    }
    if (fabs(value) < 1 << 20)
        value = nearest(value * fine) / fine;
    return (float)value + 0.0F; /* no negative zero */
}

void ulna_gltf_round_place(ulna_gltf_scene *s, const double place[3], float result[3])
{
    for (int i = 0; i < 3; i++)
        result[i] = single(s, place[i]);
}

/* Four letters for up to three bytes. */
static void put_pending(ulna_gltf_scene *s)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t count = s->pending_count;
    unsigned bits = (unsigned)s->pending[0] << 16 | (count > 1 ? (unsigned)s->pending[1] << 8 : 0) |
                    (count > 2 ? (unsigned)s->pending[2] : 0);
    const char text[4] = {letters[bits >> 18], letters[bits >> 12 & 63], count > 1 ? letters[bits >> 6 & 63] : '=',
                          count > 2 ? letters[bits & 63] : '='};
    if (count)
        ulna_put_bytes(s->out, text, sizeof text);
    s->pending_count = 0;
}

static void put_bytes(ulna_gltf_scene *s, const unsigned char *bytes, size_t count)
{
    if (s->status != ULNA_OK)
        return;
    s->length += count;
    if (!s->out && s->length <= MOST_KEPT && s->kept.length == s->length - count)
        (void)ulna_text_append(&s->kept, (const char *)bytes, count); /* or it is made once more */
    if (s->out && !s->is_base64)
        ulna_put_bytes(s->out, (const char *)bytes, count);
    for (size_t i = 0; s->out && s->is_base64 && i < count; i++) {
        s->pending[s->pending_count++] = bytes[i];
        if (s->pending_count == 3)
            put_pending(s);
    }
}

void ulna_gltf_put_kept(ulna_gltf_scene *s, ulna_writer *out, int is_base64)
{
    const size_t length = s->length;
    s->out = out;
    s->is_base64 = is_base64;
    put_bytes(s, (const unsigned char *)s->kept.data, s->kept.length);
    put_pending(s);
    s->out = NULL;
    s->length = length;
}

void ulna_gltf_put_integer(ulna_gltf_scene *s, unsigned long value, int bytes)
{
    unsigned char b[4];
    for (int i = 0; i < bytes; i++)
        b[i] = (unsigned char)(value >> (8 * i) & 255);
    put_bytes(s, b, (size_t)bytes);
}

static void put_float(ulna_gltf_scene *s, float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    ulna_gltf_put_integer(s, bits, 4);
}

int ulna_gltf_slice_start(ulna_gltf_scene *s, int type, int components, int target)
{
    void *items = s->slice;
    if (s->status == ULNA_OK &&
        ulna_grow(&s->allocator, &items, &s->slice_capacity, s->slice_count + 1, sizeof *s->slice) != ULNA_OK)
        fail(s, ULNA_ERR_MEMORY, "no memory for the parts of the file");
    s->slice = items;
    if (s->status != ULNA_OK)
        return 0;
    while (s->status == ULNA_OK && s->length % 4)
        ulna_gltf_put_integer(s, 0, 1);
    s->slice[s->slice_count] =
        (ulna_gltf_slice){.offset = s->length, .type = type, .components = components, .target = target};
    return (int)s->slice_count++;
}

void ulna_gltf_slice_end(ulna_gltf_scene *s, size_t count)
{
    if (s->status != ULNA_OK)
        return;
    ulna_gltf_slice *slice = &s->slice[s->slice_count - 1];
    slice->length = s->length - slice->offset;
    slice->count = count;
}

void ulna_gltf_put_bounded(ulna_gltf_scene *s, const float *values)
{
    if (s->status != ULNA_OK)
        return;
    ulna_gltf_slice *slice = &s->slice[s->slice_count - 1];
    for (int i = 0; i < slice->components; i++) {
        slice->low[i] = !slice->has_bounds || values[i] < slice->low[i] ? values[i] : slice->low[i];
        slice->high[i] = !slice->has_bounds || values[i] > slice->high[i] ? values[i] : slice->high[i];
        put_float(s, values[i]);
    }
    slice->has_bounds = 1;
}

static int put_floats(ulna_gltf_scene *s, const float *values, size_t count, int components)
{
    int slice = ulna_gltf_slice_start(s, ULNA_GLTF_FLOAT, components, 0);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    put_bytes(s, (const unsigned char *)values, count * (size_t)components * sizeof *values);
#else
    for (size_t i = 0; i < count * (size_t)components; i++)
        put_float(s, values[i]);
#endif
    ulna_gltf_slice_end(s, count);
    return slice;
}

static void add_channel(ulna_gltf_scene *s, ulna_gltf_channel channel)
{
    void *items = s->channel;
    if (s->status == ULNA_OK &&
        ulna_grow(&s->allocator, &items, &s->channel_capacity, s->channel_count + 1, sizeof *s->channel) != ULNA_OK)
        fail(s, ULNA_ERR_MEMORY, "no memory for the animation");
    s->channel = items;
    if (s->status == ULNA_OK)
        s->channel[s->channel_count++] = channel;
}

/* ---- bodies ----------------------------------------------------------------------------------------------------- */

/* Multiples of 2^-24, the step of single precision below 1. */
#define STEPS 16777216.0

/* What is rounded is made one long and rounded again until that is the same: so what was read back is written as it was. (Finer
 * steps for small numbers would drift, since these do not change the length; measured on 3e6 quaternions, at most three passes are
 * needed.) */
static void settle_rotation(double q[4])
{
    enum { MOST_PASSES = 7 };
    for (int pass = 0, same = 0; pass < MOST_PASSES && !same; pass++) {
        double square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]; /* exact: products have 48 bits */
        double off = fabs(square - 1) * STEPS;
        if (off * fabs(q[0]) < 0.98 && off * fabs(q[1]) < 0.98 && off * fabs(q[2]) < 0.98 && off * fabs(q[3]) < 0.98)
            return; /* each would change by less than half a step */
        double norm = sqrt(square);
        same = 1;
        for (int i = 0; i < 4; i++) {
            double rounded = nearest(q[i] / norm * STEPS) / STEPS;
            same &= rounded == q[i];
            q[i] = rounded;
        }
    }
}

/* As floats. The sign is that of `near`, or the one whose last number but zeros is positive. */
static void store_rotation(const double q[4], const float *near, float result[4])
{
    double way = 0;
    for (int i = 3; i >= 0 && !near && way == 0; i--)
        way = q[i];
    for (int i = 0; i < 4 && near; i++)
        way += q[i] * (double)near[i];
    for (int i = 0; i < 4; i++)
        result[i] = (float)(way < 0 ? 0.0 - q[i] : q[i]);
}

static void round_rotation(const double quaternion[4], const float *near, float result[4])
{
    const double *u = quaternion;
    double norm = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3]), q[4];
    for (int i = 0; i < 4; i++)
        q[i] = nearest(u[i] / norm * STEPS) / STEPS;
    settle_rotation(q);
    store_rotation(q, near, result);
}

/* Where a body is on its parent. */
static void place_body(const ulna_body *body, const ulna_joint_plan *plan, const double *q, double place[3],
                       double rotation[9])
{
    double moved[9], by[3], half[9], to[3];
    ulna_joint_motion(plan, q, moved, by);
    ulna_compose(body->placement_rotation, body->placement_position, moved, by, half, to);
    ulna_compose(half, to, body->offset_rotation, body->offset_position, rotation, place);
}

/* A body that rotates about its joint's centre, by turns between two rotations that do not change. */
typedef struct quick_turns {
    double before[4], after[4]; /* quaternions */
} quick_turns;

/* 0 if the matrix is no rotation, as far as it matters. */
static int exact_quaternion(const double rotation[9], double q[4])
{
    double again[9];
    ulna_rotation_to_quaternion(rotation, q);
    ulna_quaternion_to_rotation(q, again);
    int is_same = 1;
    for (int i = 0; i < 9; i++)
        is_same &= fabs(rotation[i] - again[i]) < 1e-13;
    return is_same;
}

/* 0 for joints that are of other segments, or bodies that do not stay in one place. */
static int find_turns(const ulna_body *body, const ulna_joint_plan *plan, quick_turns *turns)
{
    double before[9], after[9];
    for (int i = 0; i < plan->segment_count; i++)
        if (plan->segment[i] > ULNA_SEGMENT_RZ)
            return 0;
    ulna_multiply9(body->placement_rotation, plan->pre, before);
    ulna_multiply9(plan->post, body->offset_rotation, after);
    return ulna_norm(body->offset_position) == 0 && exact_quaternion(before, turns->before) &&
           exact_quaternion(after, turns->after);
}

/* q times a rotation about a coordinate axis. */
static void turn_quaternion(double q[4], int axis, double angle)
{
    const int a = axis, b = a == 2 ? 0 : a + 1, c = a == 0 ? 2 : a - 1;
    const double cosine = cos(0.5 * angle), sine = sin(0.5 * angle), x = q[a], y = q[b], z = q[c], w = q[3];
    q[a] = x * cosine + w * sine;
    q[b] = y * cosine + z * sine;
    q[c] = z * cosine - y * sine;
    q[3] = w * cosine - x * sine;
}

/* What follow_frame finds, with a tenth of its work; 0 where a rounding could go either way, or the sign. */
static int turn_quickly(const quick_turns *turns, const ulna_joint_plan *plan, const double *q, const float near[4],
                        float result[4])
{
    const double unsure = 1e-4, *b = turns->after; /* of a step; roundings are 1e-7 */
    double a[4];
    memcpy(a, turns->before, sizeof a);
    for (int i = 0; i < plan->segment_count; i++)
        turn_quaternion(a, plan->segment[i], plan->sign * q[i]);
    double product[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
        a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0],
        a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2],
    };
    double rounded[4], off[4];
    for (int i = 0; i < 4; i++) { /* as `nearest`, of positive numbers: two at once */
        rounded[i] = ((double)(int32_t)(product[i] * STEPS + (2 * STEPS + 0.5)) - 2 * STEPS) / STEPS;
        off[i] = fabs(product[i] - rounded[i]);
    }
    double farthest = off[0];
    for (int i = 1; i < 4; i++)
        farthest = off[i] > farthest ? off[i] : farthest;
    double way = rounded[0] * (double)near[0] + rounded[1] * (double)near[1] + rounded[2] * (double)near[2] +
                 rounded[3] * (double)near[3];
    if (!(farthest * STEPS < 0.5 - unsure) || !(fabs(way) > 0.5))
        return 0;
    memcpy(product, rounded, sizeof product);
    settle_rotation(product);
    store_rotation(product, near, result);
    return 1;
}

/* As the skeleton's own file has it: what differs from that moves. */
static void rest_source(ulna_gltf_rest *rest, const ulna_gltf_source_node *node)
{
    const double back[4] = {-node->half_turn[0], -node->half_turn[1], -node->half_turn[2], node->half_turn[3]};
    double rotation[4];
    ulna_quaternion_multiply(node->rotation, back, rotation);
    for (int i = 0; i < 3; i++)
        rest->translation[i] = (float)node->translation[i];
    for (int i = 0; i < 4; i++)
        rest->rotation[i] = (float)rotation[i];
}

static void rest_body(ulna_gltf_scene *s, int index, const ulna_joint_plan *plan)
{
    const ulna_body *body = &s->model->body[index];
    ulna_gltf_rest *rest = &s->rest[index];
    double place[3], rotation[9], quaternion[4], rounded[3];
    if (s->source) {
        rest_source(rest, s->source_node[index]);
        return;
    }
    place_body(body, plan, s->model->rest + body->coordinate, place, rotation);
    ulna_rotation_to_quaternion(rotation, quaternion);
    ulna_gltf_round_place(s, place, rest->translation);
    round_rotation(quaternion, NULL, rest->rotation);
    for (int i = 0; i < 4; i++)
        quaternion[i] = (double)rest->rotation[i];
    for (int i = 0; i < 3; i++)
        rounded[i] = (double)rest->translation[i];
    ulna_quaternion_to_rotation(quaternion, rotation);
    if (body->parent < 0) {
        ulna_copy9(rotation, rest->world_rotation);
        ulna_copy3(rounded, rest->world_place);
    } else {
        const ulna_gltf_rest *parent = &s->rest[body->parent];
        ulna_compose(parent->world_rotation, parent->world_place, rotation, rounded, rest->world_rotation,
                     rest->world_place);
    }
}

typedef struct body_frames {
    float *places, *rotations; /* 3 and 4 per frame */
    int translations, does_rotate;
} body_frames;

static void follow_frame(ulna_gltf_scene *s, int index, const ulna_joint_plan *plan, const double *q, const float *near,
                         float to_place[3], float to_rotation[4], int *translates)
{
    double place[3], rotation[9], quaternion[4], rest[3];
    place_body(&s->model->body[index], plan, q, place, rotation);
    if (s->source)
        ulna_gltf_into_node(s->source_node[index], place, rotation);
    ulna_rotation_to_quaternion(rotation, quaternion);
    ulna_gltf_round_place(s, place, to_place);
    round_rotation(quaternion, near, to_rotation);
    for (int i = 0; i < 3; i++)
        rest[i] = (double)s->rest[index].translation[i];
    *translates |= ulna_gltf_translates(place, rest);
}

static int is_same_pose(int count, const double *q, const double *before)
{
    while (count > 0 && q[count - 1] == before[count - 1])
        count--;
    return count == 0;
}

static void follow_body(ulna_gltf_scene *s, int index, const ulna_joint_plan *plan, body_frames *frames)
{
    const ulna_clip *clip = s->job->clip;
    const float *at_rest = s->rest[index].rotation;
    quick_turns quick;
    int is_quick = !s->source && find_turns(&s->model->body[index], plan, &quick);
    frames->translations = frames->does_rotate = 0;
    for (int f = 0; f < clip->frame_count && s->status == ULNA_OK; f++) {
        const double *q = ulna_clip_frame(clip, f) + s->model->body[index].coordinate;
        float *place = frames->places + 3 * (size_t)f, *to = frames->rotations + 4 * (size_t)f;
        int is_still = f > 0 && is_same_pose(plan->coordinate_count, q, q - clip->coordinate_count);
        if (f > 0 && (is_still || is_quick))
            memcpy(place, place - 3, 3 * sizeof *place);
        if (is_still)
            memcpy(to, to - 4, 4 * sizeof *to);
        else if (!(f > 0 && is_quick && turn_quickly(&quick, plan, q, to - 4, to)))
            follow_frame(s, index, plan, q, f ? to - 4 : at_rest, place, to, &frames->translations);
        for (int i = 0; i < 4 && !frames->does_rotate; i++)
            frames->does_rotate = fabs((double)to[i] - (double)at_rest[i]) > 2e-7;
    }
}

static void add_body_tracks(ulna_gltf_scene *s, int index, const body_frames *frames, int times)
{
    size_t count = (size_t)s->job->clip->frame_count;
    int node = s->source ? s->source_node[index]->node : ulna_gltf_body_node(index);
    if (frames->does_rotate)
        add_channel(s, (ulna_gltf_channel){.node = node,
                                           .path = "rotation",
                                           .times = times,
                                           .values = put_floats(s, frames->rotations, count, 4)});
    if (frames->translations)
        add_channel(s, (ulna_gltf_channel){.node = node,
                                           .path = "translation",
                                           .times = times,
                                           .values = put_floats(s, frames->places, count, 3)});
}

/* ---- times ------------------------------------------------------------------------------------------------------ */

static int add_times(ulna_gltf_scene *s, int frames, double seconds, float *room)
{
    for (int f = 0; f < frames && s->status == ULNA_OK; f++) {
        if (!(f * seconds <= (double)FLT_MAX))
            fail(s, ULNA_ERR_NUMBER, "the time of a frame is too large for single precision");
        else
            room[f] = (float)(f * seconds);
        if (f > 0 && room[f] <= room[f - 1])
            fail(s, ULNA_ERR_LIMIT, "single precision cannot distinguish the times of so many frames");
    }
    int index = put_floats(s, room, (size_t)frames, 1);
    if (s->status == ULNA_OK) {
        ulna_gltf_slice *slice = &s->slice[index];
        slice->has_bounds = 1;
        slice->low[0] = room[0];
        slice->high[0] = room[frames - 1];
    }
    return index;
}

static double step_of(const ulna_gltf_scene *s, int frames, double seconds, const char *what)
{
    if (seconds > 0 && isfinite(seconds))
        return seconds;
    if (frames > 1)
        ulna_remarks_add(s->job->remarks, 0, -1, "the time between frames of the %s is unknown: 1/120 s is written",
                         what);
    return frames > 1 ? ULNA_UNKNOWN_FRAME_S : 0;
}

/* ---- the model -------------------------------------------------------------------------------------------------- */

static int list_markers(ulna_gltf_scene *s)
{
    const ulna_model *model = s->model;
    s->rest = ulna_allocate(&s->allocator, (size_t)model->nb + 1, sizeof *s->rest);
    s->first_marker = ulna_allocate(&s->allocator, (size_t)model->nb + 1, sizeof *s->first_marker);
    s->next_marker = ulna_allocate(&s->allocator, (size_t)model->nm + 1, sizeof *s->next_marker);
    if (!s->rest || !s->first_marker || !s->next_marker)
        return 0;
    for (int m = model->nm - 1; m >= 0; m--) {
        s->next_marker[m] = s->first_marker[model->marker[m].body];
        s->first_marker[model->marker[m].body] = m + 1;
    }
    return 1;
}

static void add_bind_matrices(ulna_gltf_scene *s)
{
    s->bind = ulna_gltf_slice_start(s, ULNA_GLTF_FLOAT, 16, 0);
    for (int b = 0; b < s->body_count; b++) {
        double rotation[9], place[3];
        ulna_invert(s->rest[b].world_rotation, s->rest[b].world_place, rotation, place);
        for (int column = 0; column < 4; column++)
            for (int row = 0; row < 4; row++) {
                double value = row == 3 ? column == 3 : column == 3 ? place[row] : rotation[3 * row + column];
                put_float(s, single(s, value));
            }
    }
    ulna_gltf_slice_end(s, (size_t)s->body_count);
}

/* Half of the diagonal of the box around all bodies at rest. Of rounded numbers, so that it is the same when read back. */
static double size_of(const ulna_gltf_scene *s)
{
    double low[3] = {0}, high[3] = {0}, sum = 0;
    for (int b = 0; b < s->body_count; b++)
        for (int i = 0; i < 3; i++) {
            double at = s->rest[b].world_place[i];
            low[i] = b ? fmin(low[i], at) : at;
            high[i] = b ? fmax(high[i], at) : at;
        }
    for (int i = 0; i < 3; i++)
        sum += (high[i] - low[i]) * (high[i] - low[i]);
    return sum > 0 ? sqrt(sum) / 2 : 1;
}

static void check_clip(ulna_gltf_scene *s)
{
    const ulna_clip *clip = s->job->clip;
    int coordinate;
    for (int f = 0; f < clip->frame_count && s->model->nq > 0 && s->status == ULNA_OK; f++)
        if (ulna_model_check_q(s->model, ulna_clip_frame(clip, f), &coordinate) != ULNA_OK)
            s->status =
                ulna_fail(s->error, ULNA_ERR_NUMBER, "coordinate %d of frame %d is not a number", coordinate, f);
}

static void add_bodies(ulna_gltf_scene *s)
{
    const ulna_clip *clip = s->job->clip;
    size_t count = clip ? (size_t)clip->frame_count : 0;
    body_frames frames = {.places = ulna_allocate(&s->allocator, count + 1, 3 * sizeof(float)),
                          .rotations = ulna_allocate(&s->allocator, count + 1, 4 * sizeof(float))};
    int times = 0, is_first = 1;
    if (!list_markers(s) || !frames.places || !frames.rotations)
        fail(s, ULNA_ERR_MEMORY, "no memory for the bodies");
    else if (clip) {
        check_clip(s);
        s->clip_s = step_of(s, clip->frame_count, clip->frame_seconds, "motion");
        times = add_times(s, clip->frame_count, s->clip_s, frames.places);
    }
    for (int b = 0; b < s->body_count && s->status == ULNA_OK; b++) {
        ulna_joint_plan plan;
        if (s->source && !s->source_node[b])
            continue;
        s->status = ulna_joint_resolve(&s->model->joint[b], &plan, s->error);
        if (s->status != ULNA_OK)
            break;
        rest_body(s, b, &plan);
        if (!clip)
            continue;
        follow_body(s, b, &plan, &frames);
        if (is_first)
            frames.does_rotate = 1; /* one track at least, so that the frames are not lost */
        is_first = 0;
        add_body_tracks(s, b, &frames, times);
    }
    if (s->status == ULNA_OK && !s->source) {
        add_bind_matrices(s);
        s->size = size_of(s);
    }
    ulna_release(&s->allocator, frames.places, count + 1, 3 * sizeof(float));
    ulna_release(&s->allocator, frames.rotations, count + 1, 4 * sizeof(float));
}

/* ---- the recording ---------------------------------------------------------------------------------------------- */

static int is_seen(const double place[3])
{
    return isfinite(place[0]) && isfinite(place[1]) && isfinite(place[2]);
}

/* A marker that is not seen waits where it was last, or will be first, with a scale of zero. */
static void add_recorded(ulna_gltf_scene *s, int marker, int times, float *places, float *scales)
{
    const ulna_recording *r = s->recording;
    int first = 0, missing = 0;
    while (first < r->frame_count && !is_seen(ulna_recording_frame(r, first) + 3 * marker))
        first++;
    for (int i = 0; i < 3 && first < r->frame_count; i++)
        s->recorded_place[marker][i] = single(s, ulna_recording_frame(r, first)[3 * marker + i]);
    const float *held = s->recorded_place[marker];
    for (int f = 0; f < r->frame_count; f++) {
        const double *place = ulna_recording_frame(r, f) + 3 * marker;
        float *to = places + 3 * (size_t)f;
        int seen = is_seen(place);
        for (int i = 0; i < 3; i++) {
            to[i] = seen ? single(s, place[i]) : held[i];
            scales[3 * (size_t)f + (size_t)i] = seen ? 1.0F : 0.0F;
        }
        held = to;
        missing += !seen;
    }
    int node = ulna_gltf_recorded_node(s, marker);
    size_t count = (size_t)r->frame_count;
    add_channel(s, (ulna_gltf_channel){
                       .node = node, .path = "translation", .times = times, .values = put_floats(s, places, count, 3)});
    if (missing)
        add_channel(s, (ulna_gltf_channel){.node = node,
                                           .path = "scale",
                                           .is_step = 1,
                                           .times = times,
                                           .values = put_floats(s, scales, count, 3)});
}

static void add_recording(ulna_gltf_scene *s)
{
    const ulna_recording *r = s->recording;
    size_t count = (size_t)r->frame_count;
    float *places = ulna_allocate(&s->allocator, count, 3 * sizeof *places);
    float *scales = ulna_allocate(&s->allocator, count, 3 * sizeof *scales);
    s->recorded_place = ulna_allocate(&s->allocator, (size_t)r->marker_count + 1, sizeof *s->recorded_place);
    if (!places || !scales || !s->recorded_place)
        fail(s, ULNA_ERR_MEMORY, "no memory for the markers");
    else {
        s->recording_s = step_of(s, r->frame_count, r->frame_seconds, "recording");
        int times = add_times(s, r->frame_count, s->recording_s, places);
        for (int m = 0; m < r->marker_count && s->status == ULNA_OK; m++)
            add_recorded(s, m, times, places, scales);
    }
    ulna_release(&s->allocator, places, count, 3 * sizeof *places);
    ulna_release(&s->allocator, scales, count, 3 * sizeof *scales);
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

/* At most so many bytes: bodies with both tracks, markers that are missing somewhere. */
static size_t most_bytes(const ulna_gltf_scene *s)
{
    const ulna_clip *clip = s->model ? s->job->clip : NULL;
    double bytes = (clip ? clip->frame_count : 0) * (4 + 28.0 * s->body_count) +
                   (s->recording ? s->recording->frame_count : 0) * (4 + 24.0 * s->recorded_count) + 4096 +
                   1024.0 * s->body_count;
    return bytes < (double)MOST_KEPT ? (size_t)bytes : MOST_KEPT;
}

void ulna_gltf_scene_fill(ulna_gltf_scene *s)
{
    s->bones[0] = s->sphere[0] = -1;
    s->body_count = s->model ? s->model->nb : 0;
    s->marker_count = s->model ? s->model->nm : 0;
    s->recorded_count = s->recording ? s->recording->marker_count : 0;
    if (!s->out)
        (void)ulna_text_reserve(&s->kept, most_bytes(s)); /* or it grows */
    if (s->model)
        add_bodies(s);
    if (s->recording && s->status == ULNA_OK)
        add_recording(s);
    if (s->model && !s->source && s->status == ULNA_OK)
        ulna_gltf_add_bones(s);
    if (s->marker_count + s->recorded_count > 0 && !s->source && s->status == ULNA_OK)
        ulna_gltf_add_sphere(s);
    while (s->status == ULNA_OK && s->length % 4)
        ulna_gltf_put_integer(s, 0, 1);
    if (s->status == ULNA_OK && s->out)
        put_pending(s);
}

void ulna_gltf_scene_release(ulna_gltf_scene *s)
{
    ulna_text_release(&s->kept);
    ulna_release(&s->allocator, s->slice, s->slice_capacity, sizeof *s->slice);
    ulna_release(&s->allocator, s->channel, s->channel_capacity, sizeof *s->channel);
    ulna_release(&s->allocator, s->rest, (size_t)s->body_count + 1, sizeof *s->rest);
    ulna_release(&s->allocator, s->first_marker, (size_t)s->body_count + 1, sizeof *s->first_marker);
    ulna_release(&s->allocator, s->next_marker, (size_t)s->marker_count + 1, sizeof *s->next_marker);
    ulna_release(&s->allocator, s->source_node, (size_t)s->body_count + 1, sizeof(const ulna_gltf_source_node *));
    ulna_release(&s->allocator, s->recorded_place, (size_t)s->recorded_count + 1, sizeof *s->recorded_place);
}
