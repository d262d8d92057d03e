/* take.h (private): how a take is made, and its markers one by one. */
#ifndef ULNA_SRC_MOCAP_TAKE_H
#define ULNA_SRC_MOCAP_TAKE_H

#include <math.h>

#include "math/math3.h"
#include "ulna/kinematics.h"
#include "ulna/mocap.h"

/* Numbers, and nowhere beyond ULNA_FARTHEST_MARKER. */
static inline int ulna_is_position(const double x[3])
{
    return fabs(x[0]) <= ULNA_FARTHEST_MARKER && fabs(x[1]) <= ULNA_FARTHEST_MARKER &&
           fabs(x[2]) <= ULNA_FARTHEST_MARKER;
}

static inline int ulna_is_zero(const double x[3])
{
    return x[0] == 0 && x[1] == 0 && x[2] == 0;
}

/* The length scale of a skeleton with markers: the model's, or if its joints are all in one place, half of the longest way between two
 * markers. */
double ulna_marker_set_length_scale(const ulna_model *model, const ulna_marker_set *set);

/* take_exchanges.c: finds names that markers exchange in the middle of the take, and which of them are right. */
ulna_status ulna_take_find_exchanges(ulna_take *take, ulna_error *error);
/* The marker of the recording that has, in a frame, the name of `marker`. */
int ulna_take_named(const ulna_take *take, int frame, int marker);
/* Have two markers of the recording, or any two, each other's names in a frame? */
int ulna_take_is_pair_exchanged(const ulna_take *take, int a, int b, int frame);
int ulna_take_is_exchanged(const ulna_take *take, int frame);
/* Is one of the frames first .. last a cut? */
int ulna_take_has_cut(const ulna_take *take, int first, int last);

/* A marker of the recording, by its number there, in a frame of the take and in the model's axes; 0 and NaN if it is missing. */
static inline int ulna_take_marker_recorded(const ulna_take *take, int frame, int marker, double x[3])
{
    const double *from = ulna_recording_frame(take->recording, take->skipped + frame) + 3 * (size_t)marker;
    if (!ulna_is_position(from) || (ulna_is_zero(from) && take->is_zero_missing && take->is_zero_missing[marker])) {
        x[0] = x[1] = x[2] = (double)NAN;
        return 0;
    }
    ulna_rotate(take->axes, from, x);
    return 1;
}

/* The same with names exchanged back. */
static inline int ulna_take_marker(const ulna_take *take, int frame, int marker, double x[3])
{
    return ulna_take_marker_recorded(take, frame, take->exchange_count ? ulna_take_named(take, frame, marker) : marker,
                                     x);
}

/* Some of them at once, `markers` by their numbers in the recording: as recorded, and with names exchanged back. */
void ulna_take_gather_recorded(const ulna_take *take, int frame, size_t count, const int *markers, double *positions);
void ulna_take_gather(const ulna_take *take, int frame, size_t count, const int *markers, double *positions);

/* Asks the memory for a frame that will be gathered soon, if there is one: a take does not fit into the caches. Always inline, as gcc leaves out
 * calls of functions that only do that. */
__attribute__((always_inline)) static inline void ulna_take_prefetch(const ulna_take *take, int frame)
{
    enum { LINE = 8, MOST = 60 * LINE }; /* numbers: of a recording with hundreds of markers, a take uses few */
    if (frame < 0 || frame >= take->frame_count)
        return;
    const double *row = ulna_recording_frame(take->recording, take->skipped + frame);
    int count = 3 * take->recording->marker_count;
    for (int k = 0; k < count && k < MOST; k += LINE)
        __builtin_prefetch(row + k);
}

/* The name of the recording's marker without the subject's prefix, unless that is another one's; NULL for a point that the recording
 * system could not name: *0, *1, ... */
const char *ulna_marker_own_name(const ulna_recording *recording, int marker);
/* All of the set's, count x 3, with names exchanged back. */
void ulna_take_positions(const ulna_take *take, int frame, double *positions);

/* take_joints.c: adds the markers of the recording that are joints of the skeleton, if its lengths confirm their names. `named`: how many
 * markers have a name at all. */
ulna_status ulna_take_find_joints(const ulna_take *take, ulna_marker_set *set, int *named);

/* take_subjects.c: fills subjects and subject; with several subjects take->recording becomes one_subject. */
ulna_status ulna_take_choose_subject(ulna_take *take, const ulna_take_options *options, ulna_error *error);

/* take_check.c: which markers of the set are at the origin in truth; then size, fits and doubts. */
ulna_status ulna_take_check_origin(ulna_take *take);
/* findings.c: the take's doubts in words. */
void ulna_take_add_findings(ulna_take *take);
ulna_status ulna_take_find_doubts(ulna_take *take, int is_thorough, ulna_error *error);
/* The set's markers on the skeleton at rest, count x 3; a frame of a sample of the take's. */
ulna_status ulna_take_rest_positions(const ulna_take *take, double *points);
int ulna_take_sample(const ulna_take *take, int sample, int samples);
/* ULNA_ERR_NUMBER, and where, if a value of the clip is NaN or infinite. */
ulna_status ulna_take_check_numbers(const ulna_take *take, const ulna_clip *clip, ulna_error *error);

/* take_sides.c: parts of the body whose sides contradict each other; mirror images and exchanged sides of all. */
ulna_status ulna_take_check_parts(ulna_take *take);
ulna_status ulna_take_check_sides(ulna_take *take, ulna_error *error);

/* partner[i]: the marker on the other side; itself on a body of the midline; else ULNA_NONE. Returns how many have one. */
size_t ulna_take_find_partners(const ulna_take *take, int *partner);

/* take_names.c: markers that have each other's names, by their distances from others. */
ulna_status ulna_take_check_names(ulna_take *take);

/* take_axes.c */
/* The axis along which x is longest. */
int ulna_largest(const double x[3]);
/* An exchange of x, y and z in a circle that takes axis `from` of the recording to axis `to` of the model; if they point against
 * each other, half a turn besides. */
void ulna_axes_exchange(int from, int to, int is_opposite, double axes[9]);
/* Fills axes, axes_source, up and model_up. */
ulna_status ulna_take_find_axes(ulna_take *take, const ulna_take_options *options, ulna_error *error);

/*
 * take_reference.c: offsets of the take's reference motion, in its axes: a robust mean in the frame of the body, over samples of
 * the frames. The set's markers stay on their bodies. With `all`, it receives the recording's other markers that have a name too,
 * each on the body in whose frame it moves least.
 */
ulna_status ulna_marker_set_from_motion(const ulna_take *take, int all, ulna_marker_set *set, ulna_error *error);
/* How much the recording's markers move on the bodies that carry them best (m^2, sum of variances): for three axes. */
ulna_status ulna_take_marker_motion(ulna_take *take, double axes[3][9], double motion[3], ulna_error *error);

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
/* The body in whose frame it moves least, the nearest of those that see it move alike; ULNA_NONE if it was never seen.
 * `spread`: that variance; may be NULL. */
int ulna_places_nearest(const ulna_places *places, double scale, double mean[3], double *spread);

/*
 * marker_names.c: adds the markers of the recording whose names are known, see ulna_take_options, on the bodies that the skeleton
 * has for them. Markers that the set has already stay as they are; `unknown` (may be NULL) receives how many names are not known
 * or have no bone. ULNA_ERR_MODEL if the set is empty then.
 */
ulna_status ulna_marker_set_from_names(const ulna_model *model, const ulna_recording *recording, ulna_marker_set *set,
                                       int *unknown, ulna_error *error);
/* The body for a marker of that name, or ULNA_NONE. */
int ulna_marker_body(const ulna_model *model, const char *marker);
/* The body on the other side, by name; ULNA_NONE if there is none. */
int ulna_mirror_body(const ulna_model *model, int body);
/* Unit vectors left, up, forward of the skeleton at rest, by the names of its bodies; 0 if they do not say. */
int ulna_model_directions(const ulna_model *model, const ulna_pose *rest, double axes[9]);

/* Adds the markers of one set to another. */
ulna_status ulna_marker_set_add_all(const ulna_marker_set *from, ulna_marker_set *to);
/* The same skeleton with the markers of the set, and no others. */
ulna_status ulna_model_with_markers(const ulna_model *model, const ulna_marker_set *set,
                                    const ulna_allocator *allocator, ulna_model **result, ulna_error *error);
/* All that is known of one marker. */
ulna_status ulna_marker_set_append(ulna_marker_set *set, const ulna_attachment *item);
/* As ulna_marker_set_load, from memory. */
ulna_status ulna_marker_set_read_csv(const char *text, size_t length, const ulna_model *model, ulna_marker_set *set,
                                     ulna_error *error);

#endif
