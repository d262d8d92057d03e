/* builder.h (private): what the builder collects before a model is made of it. */
#ifndef ULNA_SRC_BUILDER_H
#define ULNA_SRC_BUILDER_H

#include "base/base.h"
#include "model/model.h"

#define ULNA_MAX_BODIES (1 << 28) /* so that seven coordinates a body still count in an int */

/* One DOF follows another: see ulna_builder_couple. */
typedef struct ulna_builder_coupling {
    int is_coupled;
    int master, master_dof; /* body of the builder, and which of its DOFs */
    double multiplier, offset;
} ulna_builder_coupling;

typedef struct ulna_builder_body {
    size_t name;       /* offset into text */
    size_t joint_name; /* likewise; 0: none */
    int parent;
    int rest_given;
    ulna_joint joint; /* in normal form */
    ulna_joint_plan plan;
    double placement_rotation[9], placement_position[3];
    double offset_rotation[9], offset_position[3];
    double rest[7];
    double lower[6], upper[6], strength[6];
    ulna_builder_coupling coupling[6];
    ulna_mass mass;
    void *user_data;
} ulna_builder_body;

typedef struct ulna_builder_marker {
    size_t name;
    int body;
    double position[3];
    double weight;
} ulna_builder_marker;

/* Names to indices: open addressing; a slot holds index + 1, 0 means free. */
typedef struct ulna_name_table {
    int *slot;
    size_t capacity; /* a power of two, or 0 */
} ulna_name_table;

struct ulna_builder {
    ulna_allocator allocator;
    size_t title; /* offset of the skeleton's name */
    ulna_builder_body *body;
    size_t body_count, body_capacity;
    ulna_builder_marker *marker;
    size_t marker_count, marker_capacity;
    char *text;
    size_t text_count, text_capacity;
    ulna_name_table body_names, marker_names;
    int limits_yield; /* limits of a coupled DOF that leave its master no room do not count; 0: they are an error */
};

const char *ulna_builder_body_name(const ulna_builder *builder, int body);

/* Rest coordinates: those given, or the zero pose; within 1e-9 of the limits they are moved into them, and so is a zero
 * pose from any distance. Returns the first DOF whose given rest value is outside, or -1. */
int ulna_builder_rest(const ulna_builder_body *body, double rest[7]);

/* All of them. */
void ulna_builder_remove_markers(ulna_builder *builder);
/* How many DOFs are coupled. */
size_t ulna_builder_coupling_count(const ulna_builder *builder);
/* Couplings of the model, from finished bodies and degrees of freedom: chains resolved, limits and rest values of masters and
 * of what follows them. `order`: the builder's body of each of the model's; `rank`: the other way. */
ulna_status ulna_model_make_couplings(ulna_model *model, const ulna_builder *builder, const int *order, const int *rank,
                                      ulna_error *error);

/* Links, from finished bodies and degrees of freedom. `bucket` and `count` are scratch, one int per body each. */
void ulna_model_make_links(ulna_model *model, int *bucket, int *count);

#endif
