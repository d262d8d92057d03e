/*
 * anatomy.h (private): what the shape of a skeleton says about its joints, without their names. Trackers and calibrations
 * expect a spine to bend evenly, and joints that few markers show to stay near rest.
 */
#ifndef ULNA_SRC_MOCAP_ANATOMY_H
#define ULNA_SRC_MOCAP_ANATOMY_H

#include "ulna/mocap.h"

/* m: ulna_model_length_scale of an adult: the skeletons of HDM05 and CMU have 1.2 to 1.35, the built-in human 1.2. Weights, lengths
 * and thresholds that were found for adults grow with it. */
#define ULNA_ADULT_LENGTH_SCALE 1.3
#define ULNA_ROUGH_RMS 0.015 /* m on an adult: more than markers on skin are usually off */

typedef struct ulna_anatomy {
    ulna_allocator allocator;
    size_t bytes;
    int nb;
    int has_midline;        /* the skeleton at rest has a left and a right half */
    double left[3];         /* unit normal of the plane between them; which side is left is not known */
    int *mirror;            /* nb: the body on the other side, itself on the midline; ULNA_NONE if there is none */
    int *own;               /* nb: markers that sit on it */
    int *chain;             /* nb: number of the chain that it belongs to, or ULNA_NONE */
    int chains;             /* runs of joints with the same two or three rotations, without branches: a spine, a neck */
    unsigned char *is_root; /* nb: its joint, or one beyond it, moves the whole skeleton */
    unsigned char *is_on_axis; /* nb: part of a chain on the midline, where there is one */
    unsigned char *is_girdle;  /* nb: between such a chain and a limb, with a marker at most: a clavicle */
    unsigned char *is_tip;     /* nb: a toe or finger, or a ball that one marker alone shows: nothing beyond it */
    unsigned char *is_lone;    /* nb: two rotations or more, which one marker alone shows */
} ulna_anatomy;

/* `count` markers on the bodies `body`, with weights. */
ulna_status ulna_anatomy_create(const ulna_model *model, const int *body, const double *weight, int count,
                                const ulna_allocator *allocator, ulna_anatomy **anatomy);
void ulna_anatomy_destroy(ulna_anatomy *anatomy);

/* The body with a joint that moves, nearest to `body` toward the root; bodies fixed to their parents are passed over. Or ULNA_NONE. */
int ulna_moving_parent(const ulna_model *model, int body);

/* Joints between two bodies of one skeleton. */
int ulna_joints_between(const ulna_model *model, int a, int b);

/* How strongly a body's rotations are drawn to rest, in units of `posture`: much where few markers show them. */
double ulna_anatomy_posture(const ulna_anatomy *anatomy, int body);

#endif
