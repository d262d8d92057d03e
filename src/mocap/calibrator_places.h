/* calibrator_places.h (private): markers in the frames of bodies, over samples of a motion. */
#ifndef ULNA_SRC_CALIBRATOR_PLACES_H
#define ULNA_SRC_CALIBRATOR_PLACES_H

#include "ulna/kinematics.h"

/* Frames of all bodies, in the world, for some poses. */
typedef struct ulna_places {
    ulna_allocator allocator;
    const ulna_model *model;
    int samples, bodies;
    double *frames; /* samples x bodies x 12: rotation row by row, position */
    double *x;      /* samples x 3: where the marker at hand is; NaN: not seen */
} ulna_places;

ulna_status ulna_places_create(const ulna_model *model, int samples, const ulna_allocator *allocator,
                               ulna_places *places);
void ulna_places_release(ulna_places *places);
ulna_status ulna_places_set(ulna_places *places, ulna_pose *pose, int sample, const double *q);

/* Mean of the marker at hand in the frame of a body, by Geman-McClure's weights, so that outliers do not move it; and its
 * variance about that (m^2), weighted likewise. INFINITY if it was never seen. */
double ulna_places_mean(const ulna_places *places, int body, double scale, double mean[3]);
/* The body in whose frame it moves least, the nearest of those that see it move alike; ULNA_NONE if it was never seen. */
int ulna_places_nearest(const ulna_places *places, double scale, double mean[3]);

#endif
