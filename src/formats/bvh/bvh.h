/* bvh.h (private): BVH, Biovision's skeleton and motion in one text. */
#ifndef ULNA_SRC_BVH_H
#define ULNA_SRC_BVH_H

#include <math.h>

#include "formats/format.h"
#include "math/angles.h"
#include "model/model.h"

/* One unit of length where nobody says: a centimetre, as most programs have it. */
#define ULNA_BVH_UNIT 0.01

/* ---- a file as it stands, on its way to a model ----------------------------------------------------------------- */

typedef struct ulna_bvh_joint {
    int parent; /* -1 for a root */
    int line;
    int is_end, has_offset, has_channels;
    int replaces; /* its positions are instead of the offset */
    double offset[3];
    int first, count;                               /* its channels within a frame */
    unsigned char channel[ULNA_JOINT_MAX_SEGMENTS]; /* ulna_segment, as listed */
} ulna_bvh_joint;

typedef struct ulna_bvh {
    const ulna_allocator *allocator;
    ulna_content *content; /* its clip has the rows of the file as they stand */
    ulna_builder *builder; /* has the bodies, by the numbers of the joints, with names and parents */
    ulna_bvh_joint *joint;
    size_t joint_count, joint_capacity;
    int roots, channels;
    double unit;
} ulna_bvh;

/* Makes the model of `content`, and converts the rows of its clip to the model's coordinates. */
ulna_status ulna_bvh_build(ulna_bvh *b, ulna_error *error);

/* ---- a model on its way to a file ------------------------------------------------------------------------------- */

/* What a channel shows: a coordinate with its sign, or, if that is -1, a part of the joint's motion. */
typedef struct ulna_bvh_channel {
    unsigned char segment; /* ulna_segment */
    signed char sign;
    int coordinate;
} ulna_bvh_channel;

typedef struct ulna_bvh_node {
    int body, parent; /* parent: node, -1 for the root */
    int level;
    int is_end;
    int is_joint;     /* the joint of a body whose origin, the next node, is elsewhere */
    int ends;         /* End Sites so far */
    int first, count; /* channels within a frame */
    int is_fitted;    /* some of them show the motion */
    ulna_bvh_channel channel[ULNA_JOINT_MAX_SEGMENTS];
    ulna_joint_plan plan, rotations; /* the joint, and the three rotations that it is written as */
    int is_rotating;          /* the joint is up to three rotations about coordinate axes, and written as three */
    ulna_angle_change change; /* from those to these */
    double base[9];           /* B */
    double start[3];          /* from the parent's origin at zero coordinates, in its axes; m */
    double offset[3];         /* OFFSET, as it is read back; m */
} ulna_bvh_node;

typedef struct ulna_bvh_nodes {
    const ulna_model *model;
    const ulna_clip *clip; /* NULL: the rest pose */
    ulna_bvh_node *node;
    int count, channels;
    int *node_of;     /* bodies: the node that has their frame */
    double (*ref)[9]; /* bodies: G */
    int frames;
    int rows; /* of `value`: all frames if joints below the root have positions, else two blocks, one after the other */
    int is_filled;    /* with all frames */
    double *value;    /* rows x channels: rotations, and how far positions are from `start`; rad, m */
    double *rest;     /* the same of the rest pose */
    int dof_channels; /* as in the write options */
    ulna_angle_function *change_angles;
    int fixed, fitted, split;
} ulna_bvh_nodes;

/* The nodes of the model, and the values of all frames of the clip, or of the rest pose if it is NULL, where offsets depend on them.
 * Release in any case. */
ulna_status ulna_bvh_nodes_fill(ulna_bvh_nodes *w, const ulna_model *model, const ulna_clip *clip, int dof_channels,
                                ulna_error *error);
/* The values of a frame, which must be the first or the one after that of the last call. */
ulna_status ulna_bvh_nodes_row(ulna_bvh_nodes *w, int frame, const double **row, ulna_error *error);
void ulna_bvh_nodes_release(ulna_bvh_nodes *w);

/* ---- what both must agree on ------------------------------------------------------------------------------------ */

/*
 * Do position channels replace the OFFSET of their joint, or add to it? Programs disagree and files do not say: so
 * the values decide. Those that replace lie about the offset, those that add about zero, both with a heavy tail since
 * figures walk away. This is the logarithm of the odds of one value, positive if it replaces; odds multiply over the
 * axes of a joint and are averaged over its frames. `size` is the length of the offset.
 */
static inline double ulna_bvh_replaces(double offset, double size, double value)
{
    double blur = 1e-4 * size * size, away = value - offset;
    return log((value * value + blur) / (away * away + blur));
}

#endif
