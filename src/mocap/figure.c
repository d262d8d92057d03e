/*
 * Where markers sit on a person of the skeleton's size, at rest.
 *
 * Spots are measured from joints, not from the bones that carry the markers: spines of skeletons are cut in as many ways as there
 * are skeletons, but shoulders, hips, elbows and knees are where a person has them. All lengths grow with the skeleton, so that
 * children, and skeletons in other units, are served as well.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "kinematics/pose.h"
#include "math/math3.h"
#include "mocap/anatomy.h"
#include "mocap/marker_names.h"
#include "mocap/take.h"
#include "model/model.h"

/* An adult of 1.75 m. */
#define ADULT_TRUNK 0.52 /* m, from the middle between the hips to that between the shoulders */
#define ADULT_THIGH 0.43
#define ADULT_SHANK 0.42
#define NOWHERE 1e-6    /* of the length scale: nearer to each other, joints are in one place */
#define NO_ANCHOR 3.0   /* factor of the spread: the skeleton lacks what the spot is measured from */
#define NO_JOINT 1.5    /* it lacks the joint, but has the bone before it */
#define SAME_WAY (-0.9) /* cosine: a bone that points against its axis leaves open about what to turn */

/* ---- joints --------------------------------------------------------------------------------------------------------- */

static int between(const ulna_pose *pose, int from, int to, double difference[3])
{
    double a[3], b[3];
    if (from == ULNA_NONE || to == ULNA_NONE || from == to)
        return 0;
    ulna_pose_body(pose, from, a, NULL);
    ulna_pose_body(pose, to, b, NULL);
    ulna_subtract3(b, a, difference);
    return ulna_norm(difference) > NOWHERE * pose->model->length_scale;
}

int ulna_model_directions(const ulna_model *model, const ulna_pose *rest, double axes[9])
{
    double *left = axes, *up = axes + 3, *forward = axes + 6;
    int high = ulna_bone_find(model, "head neck " ULNA_BONES_TOP, 0);
    if (!between(rest, ulna_bone_find(model, ULNA_BONES_THIGH, 'r'), ulna_bone_find(model, ULNA_BONES_THIGH, 'l'),
                 left) &&
        !between(rest, ulna_bone_find(model, ULNA_BONES_ARM, 'r'), ulna_bone_find(model, ULNA_BONES_ARM, 'l'), left))
        return 0;
    if (!between(rest, 0, high, up))
        return 0;
    double length = ulna_norm(left), along = ulna_dot(left, up) / (length * length);
    for (int k = 0; k < 3; k++) {
        up[k] -= along * left[k];
        left[k] /= length;
    }
    length = ulna_norm(up);
    if (!(length > NOWHERE * model->length_scale))
        return 0;
    for (int k = 0; k < 3; k++)
        up[k] /= length;
    ulna_cross(left, up, forward);
    return 1;
}

int ulna_first_child(const ulna_model *model, int body)
{
    for (int b = body + 1; b < model->nb && body != ULNA_NONE; b++)
        if (model->body[b].parent == body)
            return b;
    return ULNA_NONE;
}

/* The point in the middle between left and right. */
static int middle_of(const ulna_figure *f, const char *bones, double middle[3])
{
    int left = ulna_bone_find(f->model, bones, 'l'), right = ulna_bone_find(f->model, bones, 'r');
    double a[3], b[3];
    if (left == ULNA_NONE || right == ULNA_NONE)
        return 0;
    ulna_pose_body(f->rest, left, a, NULL);
    ulna_pose_body(f->rest, right, b, NULL);
    for (int k = 0; k < 3; k++)
        middle[k] = 0.5 * (a[k] + b[k]);
    return 1;
}

static double leg_length(const ulna_figure *f, char side, double *adult)
{
    double bone[3], length = 0;
    int thigh = ulna_bone_find(f->model, ULNA_BONES_THIGH, side);
    int shank = ulna_bone_find(f->model, ULNA_BONES_SHANK, side);
    int foot = ulna_bone_find(f->model, ULNA_BONES_FOOT, side);
    if (between(f->rest, thigh, shank, bone)) {
        length += ulna_norm(bone);
        *adult += ADULT_THIGH;
    }
    if (between(f->rest, shank, foot, bone)) {
        length += ulna_norm(bone);
        *adult += ADULT_SHANK;
    }
    return length;
}

/* Size, shoulders and hips: of these the one that is missing is put at an adult's distance from the other. */
static void measure(ulna_figure *f)
{
    int shoulders = middle_of(f, ULNA_BONES_ARM, f->shoulders), hips = middle_of(f, ULNA_BONES_THIGH, f->hips);
    double trunk[3], adult = 0, length = leg_length(f, 'l', &adult);
    if (!(adult > 0))
        length = leg_length(f, 'r', &adult);
    ulna_subtract3(f->shoulders, f->hips, trunk);
    if (shoulders && hips) {
        length += ulna_norm(trunk);
        adult += ADULT_TRUNK;
    }
    f->size = length > 0 ? length / adult : f->model->length_scale / ULNA_ADULT_LENGTH_SCALE;
    f->has_trunk = shoulders || hips;
    for (int k = 0; k < 3; k++) {
        if (!shoulders)
            f->shoulders[k] = f->hips[k] + ADULT_TRUNK * f->size * f->axes[3 + k];
        if (!hips)
            f->hips[k] = f->shoulders[k] - ADULT_TRUNK * f->size * f->axes[3 + k];
    }
}

ulna_status ulna_figure_create(const ulna_model *model, const ulna_allocator *allocator, ulna_figure *f)
{
    static const double world[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    *f = (ulna_figure){.model = model};
    ulna_status status = ulna_pose_create(model, allocator, &f->rest, NULL);
    if (status == ULNA_OK)
        status = ulna_pose_forward(f->rest, model->rest);
    if (status != ULNA_OK) {
        ulna_figure_release(f);
        return status;
    }
    f->has_axes = ulna_model_directions(model, f->rest, f->axes);
    if (!f->has_axes)
        memcpy(f->axes, world, sizeof world);
    measure(f);
    return ULNA_OK;
}

void ulna_figure_release(ulna_figure *f)
{
    ulna_pose_destroy(f->rest);
    f->rest = NULL;
}

/* ---- spots ------------------------------------------------------------------------------------------------------------ */

/* The bone that the axes of a spot follow, from its joint to the next. */
static int bone_to_follow(const ulna_figure *f, const ulna_spot *spot, char side, int joint, double bone[3])
{
    if (spot->anchor == ULNA_FOOT)
        joint = ulna_bone_find(f->model, ULNA_BONES_SHANK, side);
    int next = ulna_first_child(f->model, joint);
    if (next == ULNA_NONE && joint != ULNA_NONE && spot->anchor == ULNA_ARM) { /* a last bone: as the one before */
        next = joint;
        joint = f->model->body[joint].parent;
    }
    return between(f->rest, joint, next, bone);
}

/* Turns the skeleton's axes so that they follow an arm or a leg, which may rest at any angle. */
static void follow_bone(const ulna_figure *f, const ulna_spot *spot, char side, int joint, double axes[9])
{
    double bone[3], from[3], Q[9];
    if (!bone_to_follow(f, spot, side, joint, bone))
        return;
    double length = ulna_norm(bone), outward = side == 'r' ? -1 : 1;
    for (int k = 0; k < 3; k++) {
        bone[k] /= length;
        from[k] = spot->anchor == ULNA_ARM ? outward * f->axes[k] : -f->axes[3 + k];
    }
    if (ulna_dot(bone, from) < SAME_WAY)
        return;
    ulna_shortest_rotation(from, bone, Q);
    for (int row = 0; row < 3; row++)
        ulna_rotate(Q, f->axes + 3 * row, axes + 3 * row);
}

static void add_along(const double at[3], double size, double outward, const double axes[9], double place[3])
{
    for (int k = 0; k < 3; k++)
        place[k] += size * (outward * at[0] * axes[k] + at[1] * axes[3 + k] + at[2] * axes[6 + k]);
}

double ulna_figure_place(const ulna_figure *f, const ulna_spot *spot, char side, int body, double place[3],
                         double axes[9])
{
    double outward = side == 'r' ? -1 : 1, widen = 1, bone[3];
    memcpy(axes, f->axes, 9 * sizeof *axes);
    if (spot->anchor == ULNA_MID_SHOULDERS || spot->anchor == ULNA_MID_HIPS) {
        if (f->has_trunk)
            ulna_copy3(spot->anchor == ULNA_MID_HIPS ? f->hips : f->shoulders, place);
        else
            ulna_pose_body(f->rest, body, place, NULL);
        widen = f->has_trunk && f->has_axes ? 1 : NO_ANCHOR;
    } else {
        char on = spot->sides == ULNA_SIDED ? side : 0;
        int joint = ulna_bone_find(f->model, spot->from ? spot->from : spot->bones, on), is_there = joint != ULNA_NONE;
        joint = is_there ? joint : body;
        ulna_pose_body(f->rest, joint, place, NULL);
        if (between(f->rest, joint, ulna_first_child(f->model, joint), bone))
            for (int k = 0; k < 3; k++)
                place[k] += is_there ? spot->along * bone[k] : 0;
        if (f->has_axes && spot->anchor != ULNA_JOINT)
            follow_bone(f, spot, side, joint, axes);
        if (!is_there && f->has_axes)
            add_along(spot->without, f->size, outward, axes, place);
        widen = !f->has_axes ? NO_ANCHOR : !is_there && spot->from ? NO_JOINT : 1;
    }
    if (f->has_axes)
        add_along(spot->at, f->size, outward, axes, place);
    return widen;
}

void ulna_figure_to_body(const ulna_figure *f, int body, const double place[3], double offset[3])
{
    double p[3], R[9], d[3];
    ulna_pose_body(f->rest, body, p, R);
    ulna_subtract3(place, p, d);
    ulna_unrotate(R, d, offset);
}

void ulna_figure_precision(const ulna_figure *f, int body, const double axes[9], const double spread[3], double factor,
                           double precision[9])
{
    double R[9], axis[3];
    ulna_pose_body(f->rest, body, NULL, R);
    memset(precision, 0, 9 * sizeof *precision);
    for (int k = 0; k < 3; k++) {
        double deviation = factor * spread[k], weight = 1 / (deviation * deviation);
        ulna_unrotate(R, axes + 3 * k, axis);
        for (int a = 0; a < 3; a++)
            for (int b = 0; b < 3; b++)
                precision[3 * a + b] += weight * axis[a] * axis[b];
    }
}

void ulna_figure_mirror(const ulna_figure *f, const double n[3], int left, int right, double M[9], double shift[3])
{
    double P[9], L[9], R[9], FR[9], p[3], away[3], off = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            P[3 * i + j] = (i == j) - 2 * n[i] * n[j];
    ulna_pose_body(f->rest, left, p, L);
    ulna_pose_body(f->rest, right, NULL, R);
    ulna_multiply9(P, R, FR);
    ulna_transpose9(L, P);
    ulna_multiply9(P, FR, M);
    /* A bone in the middle may begin beside the plane; sided ones begin where they mirror each other. */
    for (int k = 0; k < 3; k++)
        off += n[k] * (p[k] - (f->has_trunk ? f->hips[k] : p[k]));
    for (int k = 0; k < 3; k++)
        away[k] = left == right ? -2 * off * n[k] : 0;
    ulna_unrotate(L, away, shift);
}
