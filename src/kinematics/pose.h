/*
 * pose.h (private): the state that forward kinematics leaves behind.
 *
 * All positions are relative to `origin`, the world position of the model's reference link, so that a skeleton a
 * thousand kilometres from the world's origin loses no digits (notes: exact-hessian, "near the body").
 */
#ifndef ULNA_SRC_POSE_H
#define ULNA_SRC_POSE_H

#include "model/model.h"
#include "ulna/kinematics.h"

/* Four lanes; lane 3 is 0 in frames. A compiler vector type, so that kernels and plain code share one layout. */
typedef double ulna_vec4 __attribute__((vector_size(32)));

struct ulna_kernel; /* kernel.h */

struct ulna_pose {
    ulna_allocator allocator;
    size_t bytes;
    const ulna_model *model;
    const struct ulna_kernel *kernel;
    int placed;          /* forward has succeeded */
    unsigned placements; /* how often: a work sees that its pose was moved under it */
    int threads;         /* of dense matrices: parallel.h */

    double origin[4]; /* world position of the reference point */
    double *q;        /* nq: where it is placed */
    double *sine;     /* nq, padded to a multiple of 8 */
    double *cosine;
    ulna_vec4 *frame;  /* nl x 4: columns x, y, z of the link frame, then its origin, relative to `origin` */
    ulna_vec4 *motion; /* nv x 2: (a, o x a) for a rotation, (0, a) for a translation; o relative to `origin` */
    ulna_vec4 *bend;   /* nv x 3 x 2: for general links, dS_i/dq_j = (da, o x da), i the DOF and j the part 0..2 of its
                          segment, meaningful for i <= j; NULL if the model has no general link */
    double *scratch;   /* scratch_count doubles for Jacobian routes */
    size_t scratch_count;
};

/* Position relative to `origin`, and rotation row by row. Either may be NULL. */
void ulna_pose_body_relative(const ulna_pose *pose, int body, double position[3], double rotation[9]);
void ulna_pose_point_relative(const ulna_pose *pose, int body, const double point[3], double position[3]);
/* Axis of a DOF and the origin of its link, relative to `origin`. */
void ulna_pose_dof_relative(const ulna_pose *pose, int dof, double axis[3], double origin[3]);
/* da_i/dq_j in the world for i at or before j within one segment of one joint: the part of the second derivative that is
 * not "proximal axis x distal column". Zero for all other pairs and for elementary segments. */
void ulna_pose_axis_derivative(const ulna_pose *pose, int i, int j, double derivative[3]);

/* The kernel by name: "portable", "avx2" or "avx512"; NULL picks the best for this CPU (the default).
 * ULNA_ERR_UNSUPPORTED if the CPU or the build lacks it. */
ulna_status ulna_pose_set_kernel(ulna_pose *pose, const char *name);

/* As ulna_work_set_threads (problem.h), for ulna_pose_jacobian and the dense Hessian of papers.h. */
ulna_status ulna_pose_set_threads(ulna_pose *pose, int threads);

#endif
