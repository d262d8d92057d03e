/* global_scene.h: skeletons, poses and goals of bench_global. */
#ifndef ULNA_BENCH_GLOBAL_SCENE_H
#define ULNA_BENCH_GLOBAL_SCENE_H

#include "ulna/problem.h"

#include <stdint.h>

enum { GLOBAL_JOINTS = 64, GLOBAL_POINTS = 64 };

/* An instance of oracles/global-ik: type 0 is a free root, 1 a hinge, 2 an end site, 3 a base that stands still. */
typedef struct global_oracle {
    int joints, points;
    int parent[GLOBAL_JOINTS], type[GLOBAL_JOINTS], point_joint[GLOBAL_POINTS];
    double axis[GLOBAL_JOINTS][3], lower[GLOBAL_JOINTS], upper[GLOBAL_JOINTS], v[GLOBAL_JOINTS][3];
    double point[GLOBAL_POINTS][3];
} global_oracle;

/* What is looked at: all joints, or the root and the ends. */
typedef enum global_view { GLOBAL_ALL = 0, GLOBAL_ENDS, GLOBAL_VIEWS } global_view;

typedef struct global_skeleton {
    const char *name;
    ulna_model *model;
    ulna_problem
        *problem[GLOBAL_VIEWS]; /* the points of a view, weight 2: f = sum |y - p|^2. The first is the root's */
    int points[GLOBAL_VIEWS], body[GLOBAL_VIEWS][GLOBAL_POINTS];
    global_oracle oracle[GLOBAL_VIEWS]; /* for other programs; not of a recorded one */
    int recorded;                       /* its poses are: they may be out of its limits */
    int poses;
    double *q;                      /* poses x nq: what the goals are made from */
    double *goals[GLOBAL_VIEWS][2]; /* poses x points x 3: clean, noisy */
} global_skeleton;

/* "hand" or "body" of the oracle files with poses drawn evenly within the limits, or "real": HDM_dg in frames spread
 * over its takes. 0 if the files are not there. */
int global_skeleton_load(const char *name, int poses, global_skeleton *skeleton);
void global_skeleton_free(global_skeleton *skeleton);

/* The instances of a file such as "chain3_all_noisy", at most `most`; how many there were. */
int global_oracle_read(const char *name, int most, global_oracle *oracles);
/* Its model and problem, to be destroyed; f as above. 0 if there is no memory. */
int global_oracle_problem(const global_oracle *oracle, ulna_model **model, ulna_problem **problem);

/* Even in [0, 1); the state moves on. */
double global_uniform(uint64_t *state);
/* A pose drawn evenly within the limits and over all turns of the root, which stands at `place`; q: nq. */
void global_random_pose(const ulna_model *model, uint64_t seed, const double place[3], double *q);

#endif
