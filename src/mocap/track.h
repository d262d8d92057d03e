/* track.h (private): what the tracking of a whole take is made of. */
#ifndef ULNA_SRC_MOCAP_TRACK_H
#define ULNA_SRC_MOCAP_TRACK_H

#include <stdatomic.h>

#include "mocap/take.h"

typedef struct ulna_track_outcome {
    ulna_status status;
    ulna_error error;
    double usual; /* the tracker's, in the end */
} ulna_track_outcome;

typedef struct ulna_track_job {
    const ulna_take *take;
    const ulna_track_options *options;
    ulna_track_result *result;
    ulna_marker_set used;         /* the take's markers that are seen somewhere */
    int *item;                    /* used.count: their numbers in the take's set */
    int *source;                  /* used.count: and in the recording */
    int counting;                 /* of them: with a weight */
    double *leap;                 /* nv: a step to a neighbour by so much holds nothing */
    int chunk, chunks, total;     /* frames of a chunk; chunks; frames */
    int passes;                   /* over all frames */
    int is_as_recorded;           /* names that the take exchanges back are taken as they are */
    ulna_track_outcome *outcomes; /* one per chunk */
    atomic_int cancelled;
    atomic_llong done;       /* frames of all passes */
    atomic_flag in_progress; /* a thread is in the progress function */
} ulna_track_job;

/* The positions of a frame, in the order of `used` and in the model's axes, with names exchanged back unless is_as_recorded. */
void ulna_track_gather(const ulna_track_job *j, int frame, double *positions);
/* How far a marker of the take's set is from its place on the skeleton; NaN: missing. */
static inline double ulna_track_distance(const ulna_track_job *j, int frame, size_t marker)
{
    return j->result->distances[(size_t)frame * j->take->set.count + marker];
}
/* Has a marker of the take's set, in the recording, the name of another one there? Then its distance is that of the wrong marker. */
static inline int ulna_track_is_renamed(const ulna_track_job *j, int frame, size_t marker)
{
    const ulna_take *take = j->take;
    return take->exchange_count && !j->is_as_recorded &&
           ulna_take_named(take, frame, take->source[marker]) != take->source[marker];
}
/* Report and distances of the frame that the tracker has solved last. */
void ulna_track_keep(const ulna_track_job *j, const ulna_tracker *tracker, int frame, const ulna_frame_report *report);
/* Counts a frame of a pass and, now and then, calls the progress function. One thread does; others do not wait for it. */
void ulna_track_progress(ulna_track_job *j);

/* track_seams.c: joins the chunks, and fills gaps. */
ulna_status ulna_track_stitch(ulna_track_job *j, ulna_error *error);

/* track_passes.c: from behind, without markers that are astray, bridges, sweeps, and all distances measured again. */
enum { ULNA_TRACK_SWEEPS = 2 };
ulna_status ulna_track_look_back(ulna_track_job *j, ulna_error *error);

/* Times options.smooth, for each neighbour: what holds a frame to it in a sweep. */
#define ULNA_TRACK_SWEEP 7.5
/* The sum of the steps from q to the poses that `clip` has in the frames beside this one (nv), and how many there are. `hidden`: total x nb,
 * joints that no marker shows and that hold nothing; or NULL. `step`: nv of scratch. */
double ulna_track_to_neighbours(const ulna_track_job *j, const ulna_clip *clip, const unsigned char *hidden, int frame,
                                const double *q, double *step, double *to_sides);
/* The median of the numbers, which are in another order afterwards, and their spread: the median absolute deviation in standard deviations of a
 * normal distribution, or a quarter of the median if that is more. */
double ulna_median_and_spread(double *numbers, size_t count, double *spread);

/* track_constraints.c: keeps constraints and plants feet, frame by frame, and measures the frames again. `aside`: total x used.count,
 * markers that count as missing; `hidden`: as above. Both may be NULL. */
int ulna_track_has_constraints(const ulna_track_job *j, const ulna_tracker *tracker);
ulna_status ulna_track_check_constraints(const ulna_take *take, const ulna_track_options *options, ulna_error *error);
ulna_status ulna_track_keep_constraints(ulna_track_job *j, const unsigned char *aside, const unsigned char *hidden,
                                        ulna_error *error);

/* track_oracle.c: all frames with offsets of the reference. */
ulna_status ulna_track_oracle(ulna_track_job *j, ulna_error *error);

/* track_swaps.c: result->swaps, names that the take exchanges back and outliers at each other's places; frames that these explain are
 * not doubtful. */
ulna_status ulna_track_find_swaps(const ulna_track_job *j);

/* track_shifts.c: markers that shifted on their bones, result->shifts. */
ulna_status ulna_track_find_shifts(const ulna_track_job *j, double length_scale);

/* track_result.c: memory of the result, which is empty; and what follows from its clip, frames and distances. */
ulna_status ulna_track_result_begin(const ulna_take *take, ulna_track_result *result, ulna_error *error);
ulna_status ulna_track_result_finish(ulna_track_job *j, double started, ulna_error *error);

/* track_measured.c: what the markers say of each degree of freedom. `is_visible`: nb, 1 on the way to a marker that is seen. */
ulna_status ulna_track_find_measured(const ulna_track_job *j, const unsigned char *is_visible);

/* findings.c: the reasons of the verdict in words. */
void ulna_track_add_findings(const ulna_take *take, ulna_track_result *result);

/* track_verdict.c: the rotation of each body relative to its parent, nb x 9; and the largest of a joint between two poses, in
 * SO(3). `which`: nb, only of these bodies; NULL: of all. */
void ulna_joint_rotations(const ulna_model *model, const ulna_pose *pose, const unsigned char *which,
                          double *rotations);
double ulna_largest_rotation(int bodies, const unsigned char *which, const double *before, const double *now);
/* Marks frames in which a joint jumps or leaves its limits; then, with all sums and findings there, the verdict. */
ulna_status ulna_track_mark_motion(const ulna_track_job *j);
/* Radians, of the rotation from one to the other. */
double ulna_track_rotation(const double a[9], const double b[9]);
void ulna_track_judge(const ulna_model *model, double length_scale, ulna_track_result *result);

/* Adds whole turns to the angles of q, so that they are nearest to those of `near`; not where limits of `options` bind.
 * The same pose. */
void ulna_nearest_turns(const ulna_model *model, const ulna_options *options, const double *near, double *q);

#endif
