/*
 * ulna/sample.h: skeletons that are always at hand, for trying out, for tests and for benchmarks.
 *
 *   human       a body of 1.75 m and 70 kg: 59 DOF, limits, masses, the 41 markers of a usual full-body set.
 *               Y up, facing +Z, T-pose at rest, feet on the floor (y = 0); left and right are mirror images
 *   hand        a left hand on a free forearm (quaternion): 28 DOF, limits, a marker at the end of every phalanx
 *   arm         a robot arm with seven revolute joints: limits, a tool marker 0.9 m from the shoulder; Z up
 *   two-link    two unit links that rotate about Z, a marker at the tip, no limits
 *   all-joints  one body per joint type, and every option of the model file at least once
 *
 * They are made from a few proportions in code; no measured data is in them.
 *
 *     ulna_sample_create("human", NULL, &model, &error);
 *     printf("%d degrees of freedom\n", ulna_model_dof_count(model));
 *     ulna_model_destroy(model);
 */
#ifndef ULNA_SAMPLE_H
#define ULNA_SAMPLE_H

#include "ulna/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Name of sample number `index`, and what it is in a few words; NULL past the end. */
ULNA_API const char *ulna_sample_name(int index);
ULNA_API const char *ulna_sample_text(int index);

/* Builds the sample of that name; ULNA_ERR_ARGUMENT if there is none. */
ULNA_API ulna_status ulna_sample_create(const char *name, const ulna_allocator *allocator, ulna_model **model,
                                        ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
