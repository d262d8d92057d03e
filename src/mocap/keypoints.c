/*
 * A skeleton scaled to the person whose key points were recorded, and the key points at its joints.
 *
 * Key points are estimates of joint centres, with noise and with lengths that change from frame to frame. The length of a bone is
 * the median over frames of the distance between the key points at its ends, the mean of left and right. Where several bones lie
 * between two key points they are scaled alike: the spine by the distance from hips to shoulders, clavicles and pelvis by the
 * widths of shoulders and hips. What no key point shows is scaled by the median of all ratios.
 */
#include "mocap/keypoints.h"

#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "kinematics/pose.h"
#include "mocap/marker_names.h"
#include "mocap/take.h"
#include "model/model.h"

/* Sizes beyond this, beside the skeleton's, are a mistake of the unit rather than a person. */
#define MOST_RATIO 3.0

enum { MOST_FRAMES = 2000, LIST = 4 };

typedef struct key {
    int marker; /* of the recording */
    const ulna_keypoint *row;
    char side;
    int body;            /* that carries it; ULNA_NONE: the skeleton has no such bone */
    int base;            /* the body in whose joint it begins; ULNA_NONE: the free end of `body` */
    int is_zero_missing; /* 0, 0, 0 is not where it is */
} key;

typedef struct fitting {
    const ulna_model *model;
    const ulna_recording *recording;
    const ulna_allocator *allocator;
    ulna_pose *rest;
    key *keys;       /* marker_count */
    int *joint;      /* bodies: the marker at their joint, ULNA_NONE if there is none */
    double *ratio;   /* bodies: length in the recording over that of the skeleton; 0: unknown */
    double *numbers; /* MOST_FRAMES, or a number per body */
} fitting;

/* ---- which bone ---------------------------------------------------------------------------------------------------------- */

static void find_place(fitting *f, key *k)
{
    char side = k->row->sides == 1 ? k->side : 0;
    int begins = ulna_bone_find(f->model, k->row->begins, side), ends = ULNA_NONE;
    if (begins == ULNA_NONE)
        ends = ulna_bone_find(f->model, k->row->ends, side);
    k->body = begins != ULNA_NONE ? begins : ends;
    k->base = begins != ULNA_NONE ? begins : ulna_first_child(f->model, ends);
    if (k->row->kind == ULNA_KEYPOINT_JOINT && k->base != ULNA_NONE) {
        k->body = k->base;
        if (f->joint[k->base] == ULNA_NONE)
            f->joint[k->base] = k->marker;
    }
}

/* Systems write 0, 0, 0 for what they did not find. One key point may be the origin itself, throughout: the pelvis, or
 * the wrist of a hand alone, but none of a left and a right one. */
static void find_zeros(fitting *f)
{
    int origins = 0;
    for (int m = 0; m < f->recording->marker_count; m++) {
        int zeros = 0;
        for (int frame = 0; frame < f->recording->frame_count; frame++)
            zeros += ulna_is_zero(ulna_recording_frame(f->recording, frame) + 3 * (size_t)m);
        f->keys[m].is_zero_missing = zeros < f->recording->frame_count || f->keys[m].side;
        origins += !f->keys[m].is_zero_missing;
    }
    for (int m = 0; m < f->recording->marker_count && origins > 1; m++)
        f->keys[m].is_zero_missing = 1;
}

static int find_places(fitting *f, const ulna_keypoint_system *system)
{
    int found = 0;
    for (int b = 0; b < f->model->nb; b++)
        f->joint[b] = ULNA_NONE;
    for (int m = 0; m < f->recording->marker_count; m++) {
        key *k = &f->keys[m];
        *k = (key){.marker = m, .body = ULNA_NONE, .base = ULNA_NONE};
        k->row = ulna_keypoint_of(system, f->recording, m, &k->side);
        if (k->row)
            find_place(f, k);
        found += k->body != ULNA_NONE;
    }
    find_zeros(f);
    return found;
}

/* ---- lengths ------------------------------------------------------------------------------------------------------------- */

/* The mean of the listed markers in a frame; 0 if one of them is missing. The list ends with ULNA_NONE. */
static int middle_of(const fitting *f, int frame, const int *markers, double x[3])
{
    int count = 0;
    x[0] = x[1] = x[2] = 0;
    for (; markers[count] != ULNA_NONE; count++) {
        const double *p = ulna_recording_frame(f->recording, frame) + 3 * (size_t)markers[count];
        if (!ulna_is_position(p) || (ulna_is_zero(p) && f->keys[markers[count]].is_zero_missing))
            return 0;
        ulna_accumulate3(p, x);
    }
    for (int i = 0; i < 3 && count; i++)
        x[i] /= count;
    return count > 0;
}

/* The median distance between the middles of two lists of markers, over frames; 0 if they are never seen together. */
static double distance_between(const fitting *f, const int *from, const int *to)
{
    int frames = f->recording->frame_count, step = frames / MOST_FRAMES + 1, count = 0;
    for (int frame = 0; frame < frames && count < MOST_FRAMES; frame += step) {
        double a[3], b[3], d[3];
        if (!middle_of(f, frame, from, a) || !middle_of(f, frame, to, b))
            continue;
        ulna_subtract3(b, a, d);
        f->numbers[count++] = ulna_norm(d);
    }
    return count ? ulna_median(f->numbers, (size_t)count) : 0;
}

/* The same at rest, between the joints of two lists of bodies. */
static double rest_between(const fitting *f, const int *from, const int *to)
{
    double middle[2][3] = {{0}}, d[3];
    const int *lists[2] = {from, to};
    for (int l = 0; l < 2; l++) {
        int count = 0;
        while (lists[l][count] != ULNA_NONE)
            count++;
        for (int i = 0; i < count; i++) {
            double p[3];
            ulna_pose_body(f->rest, lists[l][i], p, NULL);
            for (int k = 0; k < 3; k++)
                middle[l][k] += p[k] / count;
        }
    }
    ulna_subtract3(middle[1], middle[0], d);
    return ulna_norm(d);
}

/* Length in the recording over that of the skeleton, between the key points of two lists of bodies; 0 if one is unknown. */
static double ratio_between(const fitting *f, const int *from, const int *to)
{
    int a[LIST], b[LIST], i = 0, j = 0;
    for (; from[i] != ULNA_NONE; i++)
        if ((a[i] = f->joint[from[i]]) == ULNA_NONE)
            return 0;
    for (; to[j] != ULNA_NONE; j++)
        if ((b[j] = f->joint[to[j]]) == ULNA_NONE)
            return 0;
    a[i] = b[j] = ULNA_NONE;
    double rest = rest_between(f, from, to);
    return rest > 1e-6 * f->model->length_scale ? distance_between(f, a, b) / rest : 0;
}

/* All bodies from `body` up to a child of `above` that have no ratio yet. */
static void set_path(fitting *f, int body, int above, double ratio)
{
    for (int b = body; b != ULNA_NONE && b != above && ratio > 0; b = f->model->body[b].parent)
        if (f->ratio[b] == 0)
            f->ratio[b] = ratio;
}

static int common_ancestor(const ulna_model *model, int a, int b)
{
    while (a != b)
        if (a > b)
            a = model->body[a].parent;
        else
            b = model->body[b].parent;
    return a;
}

/* Bodies between a key point and the next one above it. */
static void measure_bones(fitting *f)
{
    for (int b = f->model->nb - 1; b > 0; b--) {
        int above = f->model->body[b].parent;
        if (f->joint[b] == ULNA_NONE)
            continue;
        while (above != ULNA_NONE && f->joint[above] == ULNA_NONE)
            above = f->model->body[above].parent;
        if (above != ULNA_NONE)
            set_path(f, b, above, ratio_between(f, (int[]){above, ULNA_NONE}, (int[]){b, ULNA_NONE}));
    }
}

/* Widths of hips and shoulders, and the trunk between them. */
static void measure_trunk(fitting *f)
{
    int hip[2], arm[2];
    for (int s = 0; s < 2; s++) {
        hip[s] = ulna_bone_find(f->model, ULNA_BONES_THIGH, "lr"[s]);
        arm[s] = ulna_bone_find(f->model, ULNA_BONES_ARM, "lr"[s]);
    }
    if (hip[0] == ULNA_NONE || hip[1] == ULNA_NONE || arm[0] == ULNA_NONE || arm[1] == ULNA_NONE)
        return;
    const int hips[] = {hip[0], hip[1], ULNA_NONE}, arms[] = {arm[0], arm[1], ULNA_NONE};
    int low = common_ancestor(f->model, hip[0], hip[1]), high = common_ancestor(f->model, arm[0], arm[1]);
    for (int s = 0; s < 2; s++) {
        set_path(f, hip[s], low, ratio_between(f, (int[]){hip[0], ULNA_NONE}, (int[]){hip[1], ULNA_NONE}));
        set_path(f, arm[s], high, ratio_between(f, (int[]){arm[0], ULNA_NONE}, (int[]){arm[1], ULNA_NONE}));
    }
    set_path(f, high, common_ancestor(f->model, low, high), ratio_between(f, hips, arms));
}

/* Left and right alike; the median for what is unknown. Returns that median, 0 if nothing was measured. */
static double complete_ratios(fitting *f)
{
    int count = 0;
    for (int b = 0; b < f->model->nb; b++) {
        int other = ulna_mirror_body(f->model, b);
        if (other > b && f->ratio[b] > 0 && f->ratio[other] > 0)
            f->ratio[b] = f->ratio[other] = (f->ratio[b] + f->ratio[other]) / 2;
    }
    for (int b = 0; b < f->model->nb; b++)
        if (f->ratio[b] > 0)
            f->numbers[count++] = f->ratio[b];
    double median = count ? ulna_median(f->numbers, (size_t)count) : 0;
    for (int b = 0; b < f->model->nb; b++)
        f->ratio[b] = f->ratio[b] > 0 ? f->ratio[b] : median;
    return median;
}

static ulna_status scale_model(fitting *f, ulna_model **scaled, ulna_error *error)
{
    measure_bones(f);
    measure_trunk(f);
    double ratio = complete_ratios(f);
    if (!(ratio > 0))
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                         "no two key points that are ends of a bone are ever seen together");
    if (ratio > MOST_RATIO || ratio < 1 / MOST_RATIO)
        return ulna_fail(
            error, ULNA_ERR_UNSUPPORTED,
            ratio < 100 ? "the key points are %.3g times as large as the skeleton: is their unit of length right?%s"
                        : "the key points are %.0f times as large as the skeleton: is their unit of length right?%s",
            ratio,
            ratio > 300 && ratio < 3000  ? " Millimetres (--input-unit mm), it seems"
            : ratio > 30 && ratio <= 300 ? " Centimetres (--input-unit cm), it seems"
                                         : "");
    for (int b = 0; b < f->model->nb; b++)
        f->ratio[b] *= ulna_model_bone_length(f->model, b);
    return ulna_model_with_lengths(f->model, f->ratio, f->allocator, scaled, error);
}

/* ---- which hand ----------------------------------------------------------------------------------------------------------- */

/* Positive for a right hand: fingers bend to the side of (index - wrist) x (little - wrist). `p`: wrist, the two knuckles, their
 * tips. */
static double handedness(double p[5][3])
{
    double index[3], little[3], normal[3], bent[3], other[3];
    ulna_subtract3(p[1], p[0], index);
    ulna_subtract3(p[2], p[0], little);
    ulna_cross(index, little, normal);
    ulna_subtract3(p[3], p[1], bent);
    ulna_subtract3(p[4], p[2], other);
    ulna_accumulate3(other, bent);
    double size = ulna_norm(normal) * ulna_norm(bent);
    return size > 0 ? ulna_dot(normal, bent) / size : 0;
}

static const char *const hand_points[5] = {"wrist", "indexmcp", "pinkymcp", "indextip", "pinkytip"};

static double recorded_hand(const fitting *f, const ulna_keypoint_system *system)
{
    int markers[5];
    double sum = 0;
    for (int i = 0; i < 5; i++) {
        char side;
        const ulna_keypoint *wanted = ulna_keypoint_named(system, hand_points[i], &side);
        markers[i] = ULNA_NONE;
        for (int m = 0; m < f->recording->marker_count; m++)
            markers[i] = f->keys[m].row == wanted ? m : markers[i];
        if (markers[i] == ULNA_NONE)
            return 0;
    }
    for (int frame = 0; frame < f->recording->frame_count; frame++) {
        double p[5][3];
        int seen = 0;
        for (int i = 0; i < 5; i++)
            seen += middle_of(f, frame, (int[]){markers[i], ULNA_NONE}, p[i]);
        sum += seen == 5 ? handedness(p) : 0;
    }
    return sum / f->recording->frame_count;
}

/* The skeleton's, its joints in the middle of their limits. */
static ulna_status skeleton_hand(const fitting *f, double *found)
{
    static const char *const bones[5] = {"palm hand", "indexproximal", "littleproximal", "indexdistal", "littledistal"};
    double p[5][3], *q = f->numbers;
    *found = 0;
    memcpy(q, f->model->rest, (size_t)f->model->nq * sizeof *q);
    for (int d = 0; d < f->model->nv; d++) {
        int c = ulna_model_dof_coordinate(f->model, d);
        if (c != ULNA_NONE && isfinite(f->model->lower[d]) && isfinite(f->model->upper[d]))
            q[c] = (f->model->lower[d] + f->model->upper[d]) / 2;
    }
    ulna_status status = ulna_pose_forward(f->rest, q);
    for (int i = 0; i < 5 && status == ULNA_OK; i++) {
        int body = ulna_bone_find(f->model, bones[i], 0);
        if (body == ULNA_NONE)
            return ulna_pose_forward(f->rest, f->model->rest);
        ulna_pose_body(f->rest, body, p[i], NULL);
    }
    *found = status == ULNA_OK ? handedness(p) : 0;
    return status == ULNA_OK ? ulna_pose_forward(f->rest, f->model->rest) : status;
}

static ulna_status check_hand(const fitting *f, const ulna_keypoint_system *system, ulna_error *error)
{
    double own, recorded = recorded_hand(f, system);
    ulna_status status = skeleton_hand(f, &own);
    if (status != ULNA_OK || own * recorded >= -0.01)
        return status;
    return ulna_fail(
        error, ULNA_ERR_UNSUPPORTED,
        "these key points are those of a %s hand, but the skeleton is a %s one: use the built-in skeleton %s",
        recorded > 0 ? "right" : "left", recorded > 0 ? "left" : "right", recorded > 0 ? "right-hand" : "hand");
}

/* ---- where on the bone ------------------------------------------------------------------------------------------------------ */

/* The free end of a bone: on along it, as far as the recording says. */
static void add_tip(const fitting *f, const ulna_pose *rest, const key *k, double world[3])
{
    double from[3], to[3], along[3];
    int above = f->model->body[k->body].parent, joint = f->joint[k->body];
    if (above == ULNA_NONE)
        return;
    ulna_pose_body(rest, above, from, NULL);
    ulna_pose_body(rest, k->body, to, NULL);
    ulna_subtract3(to, from, along);
    double size = ulna_norm(along), length = size;
    if (joint != ULNA_NONE && k->row->kind == ULNA_KEYPOINT_TIP)
        length = distance_between(f, (int[]){joint, ULNA_NONE}, (int[]){k->marker, ULNA_NONE});
    for (int i = 0; i < 3 && size > 0; i++)
        world[i] += along[i] / size * length;
}

static void place_between(const fitting *f, const ulna_pose *rest, const char *bones, const double from[3],
                          double world[3])
{
    double p[3];
    for (int s = 0; s < 2; s++) {
        int body = ulna_bone_find(f->model, bones, "lr"[s]);
        if (body == ULNA_NONE)
            return;
        ulna_pose_body(rest, body, p, NULL);
        for (int i = 0; i < 3; i++)
            world[i] += (p[i] - from[i]) / 2;
    }
}

static void place_key(const fitting *f, const ulna_figure *figure, const key *k, double offset[3])
{
    const ulna_pose *rest = figure->rest;
    const double *axes = figure->axes;
    double R[9], origin[3], base[3], world[3] = {0, 0, 0};
    ulna_pose_body(rest, k->body, origin, R);
    if (k->base != ULNA_NONE) {
        ulna_pose_body(rest, k->base, base, NULL);
        ulna_subtract3(base, origin, world);
    } else
        add_tip(f, rest, k, world);
    if (k->row->kind == ULNA_KEYPOINT_BETWEEN_SHOULDERS)
        place_between(f, rest, ULNA_BONES_ARM, origin, world);
    if (k->row->kind == ULNA_KEYPOINT_BETWEEN_HIPS)
        place_between(f, rest, ULNA_BONES_THIGH, origin, world);
    for (int i = 0; i < 3 && figure->has_axes; i++)
        world[i] += figure->size * ((k->side == 'r' ? -1 : 1) * k->row->at[0] * axes[i] + k->row->at[1] * axes[3 + i] +
                                    k->row->at[2] * axes[6 + i]);
    ulna_unrotate(R, world, offset);
}

static ulna_status attach(const fitting *f, const ulna_model *scaled, ulna_marker_set *set, ulna_error *error)
{
    ulna_figure figure;
    double offset[3];
    ulna_status status = ulna_figure_create(scaled, f->allocator, &figure);
    if (status != ULNA_OK)
        ulna_fail(error, status, "no memory for a pose");
    for (int m = 0; m < f->recording->marker_count && status == ULNA_OK; m++) {
        const key *k = &f->keys[m];
        if (k->body == ULNA_NONE || ulna_recording_find(f->recording, f->recording->names[m]) != m)
            continue;
        place_key(f, &figure, k, offset);
        status = ulna_marker_set_add(set, f->recording->names[m], k->body, offset, k->row->weight);
    }
    ulna_figure_release(&figure);
    return status;
}

/* ---- which way is up -------------------------------------------------------------------------------------------------------- */

/* From hips to shoulders, on average. */
static int recorded_up(const fitting *f, double up[3])
{
    int from[LIST] = {ULNA_NONE, ULNA_NONE, ULNA_NONE}, to[LIST] = {ULNA_NONE, ULNA_NONE, ULNA_NONE};
    for (int s = 0; s < 2; s++) {
        int hip = ulna_bone_find(f->model, ULNA_BONES_THIGH, "lr"[s]);
        int arm = ulna_bone_find(f->model, ULNA_BONES_ARM, "lr"[s]);
        if (hip == ULNA_NONE || arm == ULNA_NONE || f->joint[hip] == ULNA_NONE || f->joint[arm] == ULNA_NONE)
            return 0;
        from[s] = f->joint[hip];
        to[s] = f->joint[arm];
    }
    up[0] = up[1] = up[2] = 0;
    for (int frame = 0; frame < f->recording->frame_count; frame++) {
        double a[3], b[3], d[3];
        if (!middle_of(f, frame, from, a) || !middle_of(f, frame, to, b))
            continue;
        ulna_subtract3(b, a, d);
        double size = ulna_norm(d);
        for (int i = 0; i < 3 && size > 0; i++)
            up[i] += d[i] / size;
    }
    return ulna_norm(up) > 0;
}

static void stand_up(const fitting *f, double axes[9])
{
    double directions[9], up[3];
    ulna_identity9(axes);
    if (!ulna_model_directions(f->model, f->rest, directions) || !recorded_up(f, up))
        return;
    int from = ulna_largest(up), to = ulna_largest(directions + 3);
    ulna_axes_exchange(from, to, (up[from] > 0) != (directions[3 + to] > 0), axes);
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------- */

static ulna_status fit(fitting *f, const ulna_keypoint_system *system, ulna_model **scaled, ulna_marker_set *set,
                       double axes[9], ulna_error *error)
{
    ulna_status status = ulna_pose_forward(f->rest, f->model->rest);
    if (status != ULNA_OK)
        return status;
    if (2 * find_places(f, system) < system->count)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                         "the recording has key points (%s), but the skeleton has no bones of the usual names for most "
                         "of them: use the built-in skeleton %s",
                         system->name, system->is_hand ? "hand or right-hand" : "human");
    if (system->is_hand)
        status = check_hand(f, system, error);
    if (status == ULNA_OK)
        status = scale_model(f, scaled, error);
    if (status == ULNA_OK)
        status = attach(f, *scaled, set, error);
    if (status == ULNA_OK)
        stand_up(f, axes);
    return status;
}

ulna_status ulna_keypoints_fit(const ulna_model *model, const ulna_recording *recording,
                               const ulna_keypoint_system *system, const ulna_allocator *allocator, ulna_model **scaled,
                               ulna_marker_set *set, double axes[9], ulna_error *error)
{
    size_t bodies = (size_t)model->nb, markers = (size_t)recording->marker_count;
    size_t room = MOST_FRAMES + bodies + (size_t)model->nq;
    fitting f = {.model = model, .recording = recording, .allocator = allocator};
    *scaled = NULL;
    f.keys = ulna_allocate(allocator, markers, sizeof *f.keys);
    f.joint = ulna_allocate(allocator, bodies, sizeof *f.joint);
    f.ratio = ulna_allocate(allocator, bodies, sizeof *f.ratio);
    f.numbers = ulna_allocate(allocator, room, sizeof *f.numbers);
    ulna_status status =
        f.keys && f.joint && f.ratio && f.numbers
            ? ulna_pose_create(model, allocator, &f.rest, error)
            : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d key points", recording->marker_count);
    if (status == ULNA_OK)
        status = fit(&f, system, scaled, set, axes, error);
    ulna_pose_destroy(f.rest);
    ulna_release(allocator, f.keys, markers, sizeof *f.keys);
    ulna_release(allocator, f.joint, bodies, sizeof *f.joint);
    ulna_release(allocator, f.ratio, bodies, sizeof *f.ratio);
    ulna_release(allocator, f.numbers, room, sizeof *f.numbers);
    if (status != ULNA_OK) {
        ulna_model_destroy(*scaled);
        *scaled = NULL;
    }
    return status;
}
