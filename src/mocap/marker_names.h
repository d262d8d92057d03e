/*
 * marker_names.h (private): what names say. Which bone a marker of a common set sits on (marker_names.c), and where on a person of
 * the skeleton's size it sits at rest, give or take how much (figure.c).
 */
#ifndef ULNA_SRC_MOCAP_MARKER_NAMES_H
#define ULNA_SRC_MOCAP_MARKER_NAMES_H

#include "ulna/calibrate.h"
#include "ulna/kinematics.h"

/* Names of bones in common skeletons, without what says the side; the likeliest first. "elbow&wrist" is the wrist of a skeleton that has an
 * elbow too. */
#define ULNA_BONES_TOP "thorax upperspine spine3 spine2 chest2 chest1 chest uppertorso upperback spine1 spine torso"
#define ULNA_BONES_ARM "humerus upperarm uparm arm shoulder shldr"
#define ULNA_BONES_HAND "elbow&wrist hand wrist"
#define ULNA_BONES_THIGH "femur thigh upleg upperleg hip"
#define ULNA_BONES_SHANK "tibia shank calf shin lowerleg loleg leg knee"
#define ULNA_BONES_FOOT "foot ankle"

/* What a spot is measured from, at rest. */
typedef enum ulna_anchor {
    ULNA_MID_SHOULDERS,
    ULNA_MID_HIPS,
    ULNA_JOINT, /* the joint of bone `from` on the marker's side, the skeleton's axes */
    ULNA_LEG,   /* that joint; up is turned to lie along the bone */
    ULNA_FOOT,  /* that joint; up is turned to lie along the shank */
    ULNA_ARM    /* that joint; left, or right, is turned to lie along the bone */
} ulna_anchor;

typedef enum ulna_sides {
    ULNA_MIDDLE,
    ULNA_SIDED,        /* left and right, on bones that are left and right */
    ULNA_MIDDLE_SIDED, /* left and right of a bone in the middle */
} ulna_sides;

/* Where a marker sits on an adult. Rows with a side are written for the left. */
typedef struct ulna_spot {
    const char *markers; /* names, without the L or R of a side */
    ulna_sides sides;
    const char *bones; /* that it may sit on, without what says the side: the first that the skeleton has */
    ulna_anchor anchor;
    const char *from;  /* bones whose joint is the anchor; NULL: `bones` */
    double along;      /* fraction of the way to the next joint */
    double at[3];      /* m: left, up, forward of there */
    double spread[3];  /* m: standard deviation of these between people */
    double mirror[3];  /* m: of left minus mirrored right on one person; 0: placed by eye, each side anew */
    double without[3]; /* m: what is added if the skeleton lacks the bones of `from` */
} ulna_spot;

/* ---- marker_names.c ---- */

/* The spot of a marker by its name, and its side: 'l', 'r' or 0. NULL if it is not known. */
const ulna_spot *ulna_spot_find(const char *marker, char *side);
/* The first of the bones that the model has on that side, or ULNA_NONE. */
int ulna_bone_find(const ulna_model *model, const char *bones, char side);
/* Small letters and digits of the name, without its prefix. */
void ulna_plain_name(const char *name, char plain[ULNA_MARKER_NAME]);
/* Whether the names differ in nothing but left and right, as "LKNE" and "RKNE" or "Knee.Left" and "Knee.Right" do, and the first
 * is the left one; the second function: whichever is. */
int ulna_names_are_mirrored(const char *left, const char *right);
int ulna_names_are_partners(const char *a, const char *b);
/* The last marker of the set whose name is so beside that of this one, or ULNA_NONE. */
int ulna_marker_partner(const ulna_marker_set *set, size_t marker);

/* ---- figure.c ---- */

/* A skeleton at rest, as anatomy sees it. */
typedef struct ulna_figure {
    const ulna_model *model;
    ulna_pose *rest;
    int has_axes;                 /* the names of its bones say where left and up are */
    double axes[9];               /* rows: left, up, forward in the world; x, y, z if they do not */
    int has_trunk;                /* shoulders or hips are known */
    double shoulders[3], hips[3]; /* the points in the middle between left and right */
    double size;                  /* against an adult of 1.75 m */
} ulna_figure;

/* The first body that this one carries; ULNA_NONE if there is none. */
int ulna_first_child(const ulna_model *model, int body);
ulna_status ulna_figure_create(const ulna_model *model, const ulna_allocator *allocator, ulna_figure *figure);
void ulna_figure_release(ulna_figure *figure);
/* Where the spot is at rest, in the world, and the directions of its spread (rows); `body` is where the marker sits. Returns the
 * factor of its spread: above 1 if the skeleton lacks what the spot is measured from. */
double ulna_figure_place(const ulna_figure *figure, const ulna_spot *spot, char side, int body, double place[3],
                         double axes[9]);
/* A point of the world at rest, in the frame of a body. */
void ulna_figure_to_body(const ulna_figure *figure, int body, const double place[3], double offset[3]);
/* 1 / spread^2 along the rows of `axes`, in the frame of a body. */
void ulna_figure_precision(const ulna_figure *figure, int body, const double axes[9], const double spread[3],
                           double factor, double precision[9]);
/* offset of a left marker = M offset of the right one + shift, if they mirror each other across the plane with that normal.
 * `left`, `right`: their bodies. */
void ulna_figure_mirror(const ulna_figure *figure, const double normal[3], int left, int right, double M[9],
                        double shift[3]);

#endif
