/*
 * convex.h: what the experiments of the convex paper share. T. Yenamandra, F. Bernard, J. Wang, F. Mueller, C. Theobalt, "Convex
 * optimisation for inverse kinematics", 3DV 2019, section 5.
 */
#ifndef ULNA_CLI_PAPER_CONVEX_H
#define ULNA_CLI_PAPER_CONVEX_H

#include <stdint.h>

#include "cli/paper/paper.h"
#include "ulna/global.h"

enum { SCENE_POINTS = 64 };
enum { VIEW_ALL, VIEW_ENDS, VIEWS }; /* all joints are observed; or the root and the ends of limbs */

typedef struct view_of {
    ulna_effector points[SCENE_POINTS];
    int count;
} view_of;

/* A skeleton with natural poses. Metres. */
typedef struct scene {
    const char *name; /* "body" or "hand" */
    char about[200];
    const ulna_model *model;
    ulna_model *own; /* the same, if it is the scene's; else NULL */
    int root;        /* the body whose joint is observed as the root */
    int has_tips;    /* ends of limbs are markers */
    int poses;
    double *q;             /* poses x nq */
    double *lower, *upper; /* nv */
    double *step;          /* nv, scratch */
    double noise_m;        /* largest */
    view_of views[VIEWS];
    ulna_problem *problems[VIEWS]; /* f = sum |y - p|^2 */
    ulna_work *works[VIEWS];       /* to judge answers with */
    ulna_pose *pose;
    double goals[3 * SCENE_POINTS], middle[3]; /* of the last scene_observe, and their mean */
} scene;

ulna_status scene_open(paper_job *job, scene *of, int is_hand, int poses, ulna_error *error);
void scene_close(scene *of);
/* Sets the goals of a view: where the points are in a pose, with noise or without; the same each time. */
ulna_status scene_observe(scene *of, int view, int pose, int is_noisy);
/* Cost (15) of the paper in millimetres: the root of f over the number of points. */
ulna_status scene_cost(scene *of, int view, const double *q, double *cost_mm);
/* Drawn evenly within the limits, and over all rotations of a free root, which is in the middle of the observed points. q: nq. */
void scene_random_pose(scene *of, uint64_t seed, double *q);
/* The best pose of a view, from rest, with limits kept; q: nq, or NULL if it is not wanted. In convex.c. */
ulna_status scene_solve_global(scene *of, int view, int threads, double *q, ulna_global_result *about,
                               ulna_error *error);

#endif
