/* solve.h: the parts of `ulna solve`: what it is given, the solving, and what it hands on to its report. */
#ifndef ULNA_CLI_SOLVE_H
#define ULNA_CLI_SOLVE_H

#include "cli.h"
#include "files.h"

/* Where the markers sit on the skeleton. */
typedef enum attach_kind {
    ATTACH_MODEL = 0, /* as the skeleton's own markers */
    ATTACH_FILE,
    ATTACH_REFERENCE, /* the offsets of the reference motion, averaged over its frames */
    ATTACH_ORACLE     /* those of each frame: then f = 0 can be reached, as in the exact-Hessian paper */
} attach_kind;

/* How far markers are off over the take, one by one. Metres. */
typedef struct solve_marker {
    double rms, mean, worst;
    int worst_frame; /* index in the take */
    int seen;        /* frames */
} solve_marker;

typedef struct solve_job {
    /* The command line. */
    const char *skeleton_path, *markers_path, *reference_path;
    const char *attach_path, *bounds_path, *init_path; /* NULL if they are not files */
    attach_kind attach;
    int bounded;    /* limits of the skeleton, or of bounds_path */
    int init_first; /* start from the first frame of the reference */
    ulna_ball ball;
    int first, last; /* frames as the file counts them; first > last: all */
    char axes_given[8], up_given;

    /* What was read. */
    ulna_content skeleton;  /* as the file has it */
    ulna_model *with_balls; /* NULL: as the file has them */
    const ulna_model *model;
    ulna_content markers;
    ulna_recording take; /* the frames that are asked for: points into `markers` */
    ulna_clip reference; /* of `model`; frame f of the take is frame f + reference_shift of it */
    int reference_shift;
    ulna_marker_set set; /* what the take has of the attachment */
    int *source;         /* set.count: marker of the take */
    double axes[9];      /* model = axes x recording */
    char axes_text[160];
    double *limits; /* nv lower ones, nv upper ones; NULL: the skeleton's */
    double *start;  /* nq; NULL: rest */
    json_t *notes;  /* sentences: everything odd */

    /* What came out. */
    ulna_track_options options;
    ulna_clip clip;
    ulna_frame_report *frames;
    ulna_track_summary summary;
    double us_median;
    int stops[ULNA_STOP_COUNT]; /* frames by why their last iteration ended, where that is known */
    solve_marker *marker;       /* set.count */
} solve_job;

/* ---- the command line: solve_options.c ------------------------------------------------------------------- */

int solve_read_options(const cli *tool, solve_job *job);

/* ---- what is solved: solve_inputs.c, solve_axes.c, solve_attach.c -------------------------------------------- */

/* Reads everything. The exit code; failures are told and kept in `object`. */
int solve_load(const cli *tool, json_t *object, solve_job *job);
void solve_release(solve_job *job);

/* Which axes of the recording are the model's. Tries where nobody says. */
ulna_status solve_find_axes(solve_job *job, ulna_error *error);
/* Rotation of "yzx", with signs perhaps: model x is the recording's y, and so on. 0 if it is none. */
int solve_read_axes(const char *text, double axes[9]);

/* The marker of the take in a frame, in the model's axes; 0 if it is missing. */
int solve_marker_at(const solve_job *job, int frame, int marker, double position[3]);
/* For each marker of the recording the bone on which the reference motion moves it least, and where: appended to `set`.
 * `spread` (may be NULL): root mean square distance from there, over all markers. */
ulna_status solve_attach_by_reference(const solve_job *job, ulna_marker_set *set, double *spread, ulna_error *error);

/* ---- solving: solve_run.c, solve_oracle.c -------------------------------------------------------------------- */

ulna_status solve_run(const cli *tool, solve_job *job, ulna_error *error);
/* Each frame with offsets of its own; fills clip, frames, summary, marker and stops, as ulna_track and solve_run do. */
ulna_status solve_oracle(solve_job *job, ulna_error *error);
void solve_add_residual(solve_job *job, int frame, size_t marker, double distance);

/* ---- what is written: solve_outputs.c ------------------------------------------------------------------------ */

/* Whether all names can be written to, before anything is solved. */
int solve_check_outputs(const cli *tool, const solve_job *job);
int solve_write_outputs(const cli *tool, json_t *object, solve_job *job);

#endif
