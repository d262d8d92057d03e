/* sample.h (private): the samples, and a builder that remembers the first failure so that they read as lists. */
#ifndef ULNA_SRC_SAMPLE_H
#define ULNA_SRC_SAMPLE_H

#include "ulna/model.h"

typedef struct ulna_sketch {
    ulna_builder *builder;
    ulna_error *error;
    ulna_status status; /* after the first failure nothing more is done */
} ulna_sketch;

/* Rounded to 0.1 mm, and from degrees to radians to four places, so that the model files are easy to read. */
double ulna_sketch_metres(double value);
double ulna_sketch_radians(double degrees);

/* Adds a body whose joint sits at `position` in the parent's frame. Returns its index. */
int ulna_sketch_body(ulna_sketch *sketch, const char *name, int parent, const double position[3], ulna_joint joint);
void ulna_sketch_limits(ulna_sketch *sketch, int body, int k, double lower, double upper);
void ulna_sketch_rest(ulna_sketch *sketch, int body, const double *rest, int count);
void ulna_sketch_marker(ulna_sketch *sketch, const char *name, int body, const double position[3]);
/* A solid cylinder from the body's origin to `end`. */
void ulna_sketch_cylinder(ulna_sketch *sketch, int body, double mass, const double end[3], double radius);

void ulna_sample_human(ulna_sketch *sketch);
void ulna_sample_hand(ulna_sketch *sketch);
void ulna_sample_arm(ulna_sketch *sketch);
void ulna_sample_two_link(ulna_sketch *sketch);
void ulna_sample_all_joints(ulna_sketch *sketch);

#endif
