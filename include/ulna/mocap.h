/*
 * ulna/mocap.h: from recorded markers to joint values, frame by frame.
 *
 * A marker set says which marker sits on which body, and where. A tracker follows a recording: each frame starts from the
 * ones before; markers that are missing drop out; where it loses the track it starts afresh and says so.
 *
 *     ulna_track_summary summary;
 *     ulna_marker_set_read_csv(text, length, model, &set, &error);
 *     ulna_track(model, &set, &recording, NULL, NULL, &clip, NULL, &summary, &error);
 */
#ifndef ULNA_MOCAP_H
#define ULNA_MOCAP_H

#include "ulna/formats.h"
#include "ulna/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- marker sets ------------------------------------------------------------------------------------------------- */

typedef struct ulna_attachment {
    char marker[ULNA_MARKER_NAME];
    int body;
    double offset[3]; /* metres, in the body's frame */
    double weight;
} ulna_attachment;

typedef struct ulna_marker_set {
    ulna_allocator allocator;
    ulna_attachment *items;
    size_t count, capacity;
} ulna_marker_set;

ULNA_API ulna_marker_set ulna_marker_set_empty(const ulna_allocator *allocator);
ULNA_API void ulna_marker_set_release(ulna_marker_set *set);
ULNA_API ulna_status ulna_marker_set_add(ulna_marker_set *set, const char *marker, int body, const double offset[3],
                                         double weight);
/* The markers that the model itself has. */
ULNA_API ulna_status ulna_marker_set_from_model(ulna_marker_set *set, const ulna_model *model);
/*
 * A table: marker, bone, x, y, z and optionally weight; metres, or what a line "# unit: mm" (cm, m, in) above says. Commas,
 * semicolons or tabs; a first line of headings may be there; lines that begin with # are comments. Errors name the line; bones
 * that the model does not have are errors.
 */
ULNA_API ulna_status ulna_marker_set_read_csv(const char *text, size_t length, const ulna_model *model,
                                              ulna_marker_set *set, ulna_error *error);
/* The same from a file, and into one; complete, or not at all. `error` has the path. */
ULNA_API ulna_status ulna_marker_set_load(const char *path, const ulna_model *model, ulna_marker_set *set,
                                          ulna_error *error);
ULNA_API ulna_status ulna_marker_set_save(const ulna_marker_set *set, const ulna_model *model, const char *path,
                                          ulna_error *error);
ULNA_API ulna_status ulna_marker_set_write_csv(const ulna_marker_set *set, const ulna_model *model,
                                               const ulna_sink *sink, ulna_error *error);

/* ---- tracking ------------------------------------------------------------------------------------------------------ */

typedef enum ulna_loss {
    ULNA_LOSS_SQUARE = 0,    /* every marker counts as it is */
    ULNA_LOSS_GEMAN_MCCLURE, /* r^2 / (1 + r^2/c^2): beyond c a marker hardly counts */
    ULNA_LOSS_CAUCHY,
    ULNA_LOSS_HUBER
} ulna_loss;

/* What happened to a frame; several may be true, but not recovered and lost. */
enum {
    ULNA_TRACK_EMPTY = 1,     /* no marker was seen: held, or interpolated between its neighbours */
    ULNA_TRACK_RECOVERED = 2, /* the track was lost, here or up to here, and found again */
    ULNA_TRACK_LOST = 4,      /* the error stays far above that of other frames, or a first one is no pose at all */
    ULNA_TRACK_OUTLIERS = 8,  /* markers were weighed down by the robust loss */
    ULNA_TRACK_STARTED = 16   /* a fresh start: the first frame in which a marker was seen */
};

/* Metres from the origin, along an axis: a position beyond is none, and counts as missing, as NaN and infinity do. */
#define ULNA_FARTHEST_MARKER 1e6

typedef struct ulna_frame_report {
    double f;         /* m^2: half of the sum of squared distances, weighted; without posture and smoothing */
    double rms;       /* m, over the markers seen */
    double sum;       /* m, sum of distances */
    double worst;     /* m */
    int worst_marker; /* number in the set, ULNA_NONE if none was seen */
    int seen;         /* markers */
    int outliers;
    int iterations, evaluations;
    ulna_stop stop; /* of the solve that gave the pose; ULNA_STOP_NONE if there was none */
    unsigned flags;
    double seconds;
} ulna_frame_report;

typedef struct ulna_track_options {
    ulna_options solve; /* method, limits, strengths; the stops are those of tracking */
    ulna_options fresh; /* for fresh starts: restarts, and stops to be sure */
    int global;         /* 1: fresh starts by ulna_global_solve, not by restarts: surer, and some ten times slower */
    double posture;     /* m^2/rad^2 toward rest: holds what no marker determines; limbs that are not seen for a while
                         * stay where they were last seen */
    double limits;      /* m^2/rad^2 beyond the joints' limits, where these do not bind: discourages contortions */
    double smooth;      /* m^2/rad^2 toward the frames before; 0: none */
    int smooth_order; /* 1: toward the last frame, against velocity; 2: toward its course 2 q1 - q2, against acceleration */
    int predict;      /* start from 2 q1 - q2, if that is no worse than q1 */
    double lost_factor; /* lost if f > factor x the usual f + lost_excess */
    double lost_excess; /* m^2 */
    ulna_loss loss;
    double loss_scale; /* c, metres */
    /* Adds terms of the caller's own, which hold in every frame, to a tracker's problem, after the markers. Several
     * threads may call it at once. A track is lost by its markers alone, and reports are about them. May be NULL */
    ulna_status (*extend)(void *context, ulna_problem *problem, ulna_error *error);
    void *extend_context;
    const double *start; /* nq: for the first frame; NULL: the model's rest, its root moved to the markers */
    int chunk_frames;    /* the take is cut into chunks of so many frames, each begun afresh; 0: not cut */
    int overlap_frames;  /* frames before a chunk that are solved only to find the way in */
    int threads;         /* chunks side by side; the result does not depend on it. 0: one per processor */
    int (*progress)(void *context, int done, int total); /* from one thread at a time; not 0 cancels. May be NULL */
    void *progress_context;
} ulna_track_options;

/* hybrid as the notes on tracking have it: decrease 3e-4, 50 iterations, posture 1e-7, limits that cost 3e-6 but do not
 * bind, prediction, recovery, smooth_order 2, no chunks. */
ULNA_API ulna_track_options ulna_track_options_default(void);

typedef struct ulna_tracker ulna_tracker;

/* The model, and arrays that the options point to, must outlive the tracker; the set is copied. All memory is taken
 * here. */
ULNA_API ulna_status ulna_tracker_create(const ulna_model *model, const ulna_marker_set *set,
                                         const ulna_track_options *options, const ulna_allocator *allocator,
                                         ulna_tracker **tracker, ulna_error *error);
ULNA_API void ulna_tracker_destroy(ulna_tracker *tracker);
/* The next frame: positions of the set's markers (count x 3, NaN: missing) to q. `report` may be NULL. No allocation, but for
 * fresh starts with options.global. */
ULNA_API ulna_status ulna_tracker_frame(ulna_tracker *tracker, const double *positions, double *q,
                                        ulna_frame_report *report);
/* Forgets the frames before: the next one starts afresh, from q (nq) or, if NULL, from the start of the options. */
ULNA_API void ulna_tracker_reset(ulna_tracker *tracker, const double *q);
/* The distance of each marker of the set in the last frame; NaN where missing. */
ULNA_API ulna_status ulna_tracker_residuals(ulna_tracker *tracker, double *distances);

typedef struct ulna_track_summary {
    int frames, markers_used, markers_unmatched; /* of the set: seen in the recording, and not */
    int empty, recovered, lost, with_outliers;
    double rms_mean, rms_max; /* m */
    double sum_mean, sum_max; /* m */
    double f_mean, f_max;     /* m^2 */
    double iterations_mean, evaluations_mean;
    int iterations_max;
    long long missing;      /* positions, of markers with a weight */
    double seconds;         /* wall clock */
    double us_mean, us_max; /* microseconds per frame on one core */
} ulna_track_summary;

/*
 * The whole recording: `clip` (empty) receives the frames, `frames` (frame_count reports, may be NULL) what happened.
 * Markers of the recording that the set does not have are left out, and the other way round; at least one with a weight
 * must match. The recording's axes are turned into the model's by `axes` (9 numbers row by row, NULL: the identity).
 */
ULNA_API ulna_status ulna_track(const ulna_model *model, const ulna_marker_set *set, const ulna_recording *recording,
                                const double *axes, const ulna_track_options *options, ulna_clip *clip,
                                ulna_frame_report *frames, ulna_track_summary *summary, ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
