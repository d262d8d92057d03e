/* The list of samples, and what they are sketched with. */
#include "model/sample.h"

#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "ulna/sample.h"

static const struct {
    const char *name;
    const char *text;
    void (*draw)(ulna_sketch *sketch);
} samples[] = {
    {"human", "a human body with 41 markers", ulna_sample_human},
    {"hand", "a left hand on a free forearm", ulna_sample_hand},
    {"arm", "a robot arm with seven joints", ulna_sample_arm},
    {"two-link", "two links in a plane", ulna_sample_two_link},
    {"all-joints", "one body per joint type, to learn the file format from", ulna_sample_all_joints},
};

enum { SAMPLE_COUNT = sizeof samples / sizeof *samples };

const char *ulna_sample_name(int index)
{
    return index >= 0 && index < SAMPLE_COUNT ? samples[index].name : NULL;
}

const char *ulna_sample_text(int index)
{
    return index >= 0 && index < SAMPLE_COUNT ? samples[index].text : NULL;
}

ulna_status ulna_sample_create(const char *name, const ulna_allocator *allocator, ulna_model **model, ulna_error *error)
{
    if (model)
        *model = NULL;
    if (!name || !model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a name and a place for the model are needed");
    int index = 0;
    while (index < SAMPLE_COUNT && strcmp(samples[index].name, name) != 0)
        index++;
    if (index == SAMPLE_COUNT)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no sample \"%.80s\"", name);

    ulna_sketch sketch = {.error = error};
    sketch.status = ulna_builder_create(allocator, &sketch.builder);
    if (sketch.status)
        return ulna_fail(error, sketch.status, "no memory left for the sample");
    sketch.status = ulna_builder_set_name(sketch.builder, name, error);
    samples[index].draw(&sketch);
    if (!sketch.status)
        sketch.status = ulna_builder_build(sketch.builder, allocator, model, error);
    ulna_builder_destroy(sketch.builder);
    return sketch.status;
}

/* ---- sketching ---------------------------------------------------------------------------------------- */

static double rounded(double value, double steps)
{
    return round(value * steps) / steps;
}

double ulna_sketch_metres(double value)
{
    return rounded(value, 1e4);
}

double ulna_sketch_radians(double degrees)
{
    return rounded(degrees * ULNA_PI / 180, 1e4);
}

int ulna_sketch_body(ulna_sketch *sketch, const char *name, int parent, const double position[3], ulna_joint joint)
{
    int body = ULNA_NONE;
    if (!sketch->status)
        sketch->status = ulna_builder_add_body(sketch->builder, name, parent, &body, sketch->error);
    if (!sketch->status)
        sketch->status = ulna_builder_set_placement(sketch->builder, body, position, NULL, sketch->error);
    if (!sketch->status)
        sketch->status = ulna_builder_set_joint(sketch->builder, body, &joint, sketch->error);
    return body;
}

void ulna_sketch_limits(ulna_sketch *sketch, int body, int k, double lower, double upper)
{
    if (!sketch->status)
        sketch->status = ulna_builder_set_limits(sketch->builder, body, k, lower, upper, sketch->error);
}

void ulna_sketch_rest(ulna_sketch *sketch, int body, const double *rest, int count)
{
    if (!sketch->status)
        sketch->status = ulna_builder_set_rest(sketch->builder, body, rest, count, sketch->error);
}

void ulna_sketch_marker(ulna_sketch *sketch, const char *name, int body, const double position[3])
{
    if (!sketch->status)
        sketch->status = ulna_builder_add_marker(sketch->builder, name, body, position, 1, NULL, sketch->error);
}

void ulna_sketch_cylinder(ulna_sketch *sketch, int body, double mass, const double end[3], double radius)
{
    double length = ulna_norm(end);
    double along = mass * radius * radius / 2;
    double across = mass * (3 * radius * radius + length * length) / 12;
    double d[3] = {end[0] / length, end[1] / length, end[2] / length};

    ulna_mass cylinder = {.mass = rounded(mass, 1e4), .center = {end[0] / 2, end[1] / 2, end[2] / 2}};
    static const int pairs[6][2] = {{0, 0}, {1, 1}, {2, 2}, {0, 1}, {0, 2}, {1, 2}};
    for (int i = 0; i < 6; i++) {
        int row = pairs[i][0], column = pairs[i][1];
        cylinder.inertia[i] = rounded((along - across) * d[row] * d[column] + (row == column ? across : 0), 1e7);
    }
    if (!sketch->status)
        sketch->status = ulna_builder_set_mass(sketch->builder, body, &cylinder, sketch->error);
}
