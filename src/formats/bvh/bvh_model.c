/*
 * From the joints and rows of a BVH file to a model and its coordinates.
 *
 * Whether positions replace the OFFSET or add to it is found from the values (bvh.h): for each root by its own, for
 * all other joints by the majority of them. Either way the rest pose is that of the offsets.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/acclaim.h"
#include "formats/bvh/bvh.h"
#include "formats/markers.h"
#include "formats/text/names.h"
#include "math/math3.h"
#include "model/builder.h"

enum { NAME = 256, MOST = ULNA_JOINT_MAX_SEGMENTS };

/* ---- positions -------------------------------------------------------------------------------------------------- */

/* Odds that the positions of a joint replace its offset: see bvh.h. 0 if it makes no difference. */
static double odds(const ulna_bvh *b, const ulna_bvh_joint *joint)
{
    const ulna_clip *clip = &b->content->clip;
    double sum = 0, size = ulna_norm(joint->offset);
    for (int k = 0; k < joint->count; k++) {
        int axis = joint->channel[k] - ULNA_SEGMENT_TX;
        if (axis < 0 || joint->offset[axis] == 0)
            continue;
        for (int f = 0; f < clip->frame_count; f++)
            sum += ulna_bvh_replaces(joint->offset[axis], size, ulna_clip_frame(clip, f)[joint->first + k]);
    }
    return sum;
}

static void decide_positions(ulna_bvh *b)
{
    ulna_remarks *remarks = &b->content->remarks;
    long long votes = 0, voters = 0;
    for (size_t j = 0; j < b->joint_count; j++) {
        ulna_bvh_joint *joint = &b->joint[j];
        double sum = odds(b, joint);
        joint->replaces = sum > 0;
        if (joint->parent >= 0) {
            votes += (sum > 0) - (sum < 0);
            voters += sum != 0;
        } else if (sum != 0)
            ulna_remarks_add(remarks, joint->line, -1, "the positions of '%.80s' are taken to %s its OFFSET",
                             ulna_builder_body_name(b->builder, (int)j), sum > 0 ? "replace" : "add to");
    }
    for (size_t j = 0; j < b->joint_count; j++)
        if (b->joint[j].parent >= 0)
            b->joint[j].replaces = votes >= 0 && voters > 0;
    if (voters)
        ulna_remarks_add(remarks, 0, -1, "the positions of %lld joints below the root are taken to %s their OFFSETs",
                         voters, votes >= 0 ? "replace" : "add to");
}

/* ---- joints ----------------------------------------------------------------------------------------------------- */

/* Translations along x, y, z first, then rotations as listed. `order` gets the joint's coordinate of each channel. */
static ulna_joint joint_of(const ulna_bvh_joint *joint, int order[MOST], int *translations)
{
    char steps[2 * MOST + 1] = "", rotations[MOST + 1] = "";
    int made = 0;
    for (int axis = 0; axis < 3; axis++)
        for (int k = 0; k < joint->count; k++)
            if (joint->channel[k] == ULNA_SEGMENT_TX + axis) {
                steps[2 * made] = 'T';
                steps[2 * made + 1] = (char)('x' + axis);
                order[k] = made++;
            }
    *translations = made;
    for (int k = 0; k < joint->count; k++)
        if (joint->channel[k] <= ULNA_SEGMENT_RZ) {
            steps[2 * made] = 'R';
            steps[2 * made + 1] = (char)('x' + joint->channel[k]);
            rotations[made - *translations] = (char)('X' + joint->channel[k]);
            order[k] = made++;
        }
    int rotating = made - *translations;
    return made == 0                             ? ulna_joint_fixed()
           : *translations == 0 && rotating <= 3 ? ulna_joint_euler(rotations)
           : *translations == 3 && rotating == 3 ? ulna_joint_free_euler(rotations)
                                                 : ulna_joint_sequence(steps);
}

/* A root whose positions replace its offset moves from the origin and rests at the offset: its coordinates are then
 * those of the file. All others stand at their offset and rest at zero. */
static ulna_status set_joint(ulna_bvh *b, int body, ulna_error *error)
{
    const ulna_bvh_joint *joint = &b->joint[body];
    double position[3], rest[MOST] = {0};
    int order[MOST], translations;
    ulna_joint made = joint_of(joint, order, &translations);
    for (int i = 0; i < 3; i++)
        position[i] = joint->offset[i] * b->unit;
    for (int k = 0; k < joint->count && joint->parent < 0 && joint->replaces; k++) {
        int axis = joint->channel[k] - ULNA_SEGMENT_TX;
        if (axis >= 0) {
            rest[order[k]] = position[axis];
            position[axis] = 0;
        }
    }
    ulna_status status = ulna_builder_set_placement(b->builder, body, position, NULL, error);
    if (status == ULNA_OK && joint->count)
        status = ulna_builder_set_joint(b->builder, body, &made, error);
    if (status == ULNA_OK && joint->count)
        status = ulna_builder_set_rest(b->builder, body, rest, joint->count, error);
    if (status != ULNA_OK && error)
        error->line = joint->line;
    return status;
}

/* Several roots hang on a fixed body in the origin. */
static ulna_status join_roots(ulna_bvh *b, ulna_error *error)
{
    char name[NAME];
    int world;
    ulna_free_body_name(b->builder, "world", "_", name);
    ulna_status status = ulna_builder_add_body(b->builder, name, ULNA_NONE, &world, error);
    for (size_t j = 0; j < b->joint_count && status == ULNA_OK; j++)
        if (b->joint[j].parent < 0)
            status = ulna_builder_set_parent(b->builder, (int)j, world, error);
    ulna_remarks_add(&b->content->remarks, 0, -1, "the file has %d roots: they become children of the fixed body '%s'",
                     b->roots, name);
    return status;
}

static ulna_status build(ulna_bvh *b, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (size_t j = 0; j < b->joint_count && status == ULNA_OK; j++)
        status = set_joint(b, (int)j, error);
    if (status == ULNA_OK && b->roots > 1)
        status = join_roots(b, error);
    if (status == ULNA_OK)
        status = ulna_builder_build(b->builder, b->allocator, &b->content->model, error);
    return status;
}

/* ---- from rows of the file to coordinates ----------------------------------------------------------------------- */

typedef struct bvh_channel {
    int coordinate;
    double scale, less; /* coordinate = scale * value - less */
} bvh_channel;

static void map_channels(const ulna_bvh *b, bvh_channel *channel)
{
    for (size_t j = 0; j < b->joint_count; j++) {
        const ulna_bvh_joint *joint = &b->joint[j];
        int order[MOST], translations, at;
        if (!joint->count)
            continue;
        joint_of(joint, order, &translations);
        int body = ulna_model_find_body(b->content->model, ulna_builder_body_name(b->builder, (int)j));
        ulna_model_body_coordinates(b->content->model, body, &at);
        for (int k = 0; k < joint->count; k++) {
            int axis = joint->channel[k] - ULNA_SEGMENT_TX,
                is_shifted = axis >= 0 && joint->parent >= 0 && joint->replaces;
            channel[joint->first + k] = (bvh_channel){.coordinate = at + order[k],
                                                      .scale = axis >= 0 ? b->unit : ULNA_PI / 180,
                                                      .less = is_shifted ? joint->offset[axis] * b->unit : 0};
        }
    }
}

static ulna_status convert_rows(const ulna_bvh *b, const bvh_channel *channel, double *row, ulna_error *error)
{
    ulna_clip *clip = &b->content->clip;
    for (int f = 0; f < clip->frame_count; f++) {
        double *q = ulna_clip_frame(clip, f);
        memcpy(row, q, (size_t)b->channels * sizeof *row);
        for (int k = 0; k < b->channels; k++) {
            double value = channel[k].scale * row[k];
            q[channel[k].coordinate] = value - channel[k].less;
        }
        if (!ulna_all_finite(q, b->channels))
            return ulna_fail(error, ULNA_ERR_NUMBER, "frame %d has a position that is too far away", f + 1);
    }
    return ULNA_OK;
}

static ulna_status convert_frames(const ulna_bvh *b, ulna_error *error)
{
    size_t count = (size_t)b->channels;
    if (!b->content->clip.frame_count)
        return ULNA_OK;
    ulna_status status = ULNA_ERR_MEMORY;
    bvh_channel *channel = ulna_allocate(b->allocator, count, sizeof *channel);
    double *row = ulna_allocate(b->allocator, count, sizeof *row);
    if (channel && row) {
        map_channels(b, channel);
        status = convert_rows(b, channel, row, error);
    } else
        ulna_fail(error, status, "no memory to convert frames");
    ulna_release(b->allocator, channel, count, sizeof *channel);
    ulna_release(b->allocator, row, count, sizeof *row);
    return status;
}

/* ---- is the unit plausible? ------------------------------------------------------------------------------------- */

/* The longest side of the box about the zero pose, in the file's unit. Destroys the offsets. */
static double extent(ulna_bvh *b)
{
    double low[3] = {0, 0, 0}, high[3] = {0, 0, 0}, most = 0;
    for (size_t j = 0; j < b->joint_count; j++) {
        ulna_bvh_joint *joint = &b->joint[j];
        for (int i = 0; i < 3; i++) {
            joint->offset[i] = joint->parent < 0 ? 0 : joint->offset[i] + b->joint[joint->parent].offset[i];
            low[i] = fmin(low[i], joint->offset[i]);
            high[i] = fmax(high[i], joint->offset[i]);
            most = fmax(most, high[i] - low[i]);
        }
    }
    return most;
}

static void check_size(ulna_bvh *b)
{
    static const double units[] = {1, 0.1, ULNA_ACCLAIM_UNIT, ULNA_INCH_M, 0.01, 0.001};
    double size = extent(b), wanted = 1.7; /* as tall as people, or as wide with their arms stretched */
    if (!(size > 0) || !isfinite(size) || (size * b->unit >= 0.3 && size * b->unit <= 10))
        return;
    size_t best = 0;
    for (size_t u = 1; u < sizeof units / sizeof *units; u++)
        if (fabs(log(size * units[u] / wanted)) < fabs(log(size * units[best] / wanted)))
            best = u;
    const char *name = ulna_length_unit_name(units[best]);
    ulna_remarks_add(&b->content->remarks, 0, -1,
                     "with a unit of %g m the skeleton is %.3g m in size; with a unit of %s%s it would be %.3g m",
                     b->unit, size * b->unit, name ? "1 " : "1/0.45 inch (0.0564444 m)", name ? name : "",
                     size * units[best]);
}

ulna_status ulna_bvh_build(ulna_bvh *b, ulna_error *error)
{
    decide_positions(b);
    ulna_status status = build(b, error);
    if (status == ULNA_OK)
        status = convert_frames(b, error);
    if (status == ULNA_OK)
        check_size(b);
    return status;
}
