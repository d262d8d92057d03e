/* solve.h: the parts of `ulna solve`: what it is given, the solving, and what it hands on to its report. */
#ifndef ULNA_CLI_SOLVE_H
#define ULNA_CLI_SOLVE_H

#include "cli/cli.h"
#include "cli/files.h"
#include "cli/global/goals.h"
#include "cli/progress.h"

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
    int outliers;    /* frames in which it was weighed down */
} solve_marker;

/* Two markers that stand in each other's place, from one frame to another. */
typedef struct solve_swap {
    int a, b;        /* in the set */
    int first, last; /* indices in the take */
    int frames;      /* in which both were seen so */
} solve_swap;

enum { SOLVE_MOST_SWAPS = 64 };

/* Goals that hold in every frame, and how well they are met over the take. */
typedef struct solve_constraints {
    goals wanted;
    int places, turns;
    double rms, worst; /* m, of the places */
    int worst_frame;   /* index in the take */
    double worst_turn; /* radians */
    int worst_turn_frame;
} solve_constraints;

/* The skeleton, which all takes share. */
typedef struct solve_skeleton {
    ulna_content file;      /* as the file has it */
    ulna_model *with_balls; /* NULL: as the file has them */
    int dropped;            /* limits that the other joints do not have */
} solve_skeleton;

/* What went wrong, told when it is the take's turn to speak. */
typedef struct solve_failure {
    json_t *where; /* receives `file` and `error` */
    const char *path;
    ulna_error error;
} solve_failure;

typedef struct solve_job {
    /* The command line. */
    const char *skeleton_path, *markers_path, *reference_path;
    const char *attach_path, *bounds_path, *init_path; /* NULL if they are not files */
    const char *constraints_path;                      /* NULL: none */
    attach_kind attach;
    int bounded;    /* limits of the skeleton, or of bounds_path */
    int init_first; /* start from the first frame of the reference */
    ulna_ball ball;
    int first, last; /* frames as the file counts them; first > last: all */
    char axes_given[8], up_given;
    char **outputs; /* files to write, in order */
    int output_count;
    char *report_path; /* NULL: none */

    /* What was read. */
    const ulna_content *skeleton; /* as the file has it: not the job's own, nor the model */
    const ulna_model *model;      /* with the joints that are solved */
    ulna_content markers;
    ulna_recording take; /* the frames that are asked for: points into `markers` */
    ulna_clip reference; /* of `model`; frame f of the take is frame f + reference_shift of it */
    int reference_shift;
    ulna_marker_set set; /* what the take has of the attachment */
    int *source;         /* set.count: marker of the take */
    double axes[9];      /* model = axes x recording */
    int is_turned;       /* the take was made to hold the set's markers, in the model's axes */
    char axes_text[160];
    double *limits; /* nv lower ones, nv upper ones; NULL: the skeleton's */
    double *start;  /* nq; NULL: rest */
    solve_constraints constraints;
    json_t *notes; /* sentences: everything odd */

    /* What came out. */
    ulna_track_options options;
    ulna_clip clip;
    ulna_frame_report *frames;
    ulna_track_summary summary;
    double us_median;
    double unmarked_rms;        /* mean over the frames that nothing is wrong with; NaN if there are none */
    int unmarked;               /* how many these are */
    int stops[ULNA_STOP_COUNT]; /* frames by why their last iteration ended, where that is known */
    int worst_frame;            /* as the file counts */
    solve_marker *marker;       /* set.count */
    solve_swap swaps[SOLVE_MOST_SWAPS];
    int swap_count;
    json_t *object;          /* for --json */
    solve_failure *failures; /* room for output_count + 3 */
    int failure_count;
    int code;
    const cli *tool; /* for the progress of reading and writing, as is the bar; NULL: none is shown */
    progress *bar;
} solve_job;

/* ---- the command line: solve_options.c ------------------------------------------------------------------- */

int solve_read_options(const cli *tool, solve_job *job);
/* The recordings that are named, as options or operands: number `index`, NULL past the end. */
const char *solve_take(const cli *tool, int index);

/* ---- names of files: solve_names.c ------------------------------------------------------------------------- */

/* What each take writes, where -o and --report say a file or a folder. The exit code, after telling what is wrong: names
 * that two takes share, or that are inputs. Folders are made. */
int solve_name_outputs(const cli *tool, json_t *object, solve_job *jobs, int count);

/* ---- what is solved: solve_inputs.c, solve_axes.c, solve_attach.c -------------------------------------------- */

/* The skeleton, for all takes; failures are told and kept in `object`. */
int solve_load_skeleton(json_t *object, const solve_job *job, solve_skeleton *skeleton, ulna_error *error);
void solve_release_skeleton(solve_skeleton *skeleton);
/* A job of that skeleton, ready to be loaded. */
int solve_begin(solve_job *job, const solve_skeleton *skeleton);
/* Reads everything. The exit code; failures are kept. */
int solve_load(solve_job *job);
/* What takes much memory; the summary stays. */
void solve_release_frames(solve_job *job);
void solve_release(solve_job *job);
/* Keeps a failure; returns its exit code. */
int solve_fail(solve_job *job, json_t *where, const char *path, const ulna_error *error);

/* solve_limits.c: a table of limits for --bounds, told by its heading. Texts end with a zero byte; the second cuts its own. */
int solve_is_limit_table(const char *text);
ulna_status solve_read_limits(solve_job *job, char *text, ulna_error *error);

/* Which axes of the recording are the model's. Tries where nobody says. */
ulna_status solve_find_axes(solve_job *job, ulna_error *error);
/* Rotation of "yzx", with signs perhaps: model x is the recording's y, and so on. 0 if it is none. */
int solve_read_axes(const char *text, double axes[9]);

/* ---- how far to trust it: solve_trust.c ------------------------------------------------------------------------ */

/* The error in frames without remark, and notes on what the numbers alone would hide. */
void solve_note_trust(solve_job *job);

/* The marker of the take in a frame, in the model's axes; 0 if it is missing. */
int solve_marker_at(const solve_job *job, int frame, int marker, double position[3]);
/* For each marker of the recording the bone on which the reference motion moves it least, and where: appended to `set`.
 * `spread` (may be NULL): root mean square distance from there, over all markers. */
ulna_status solve_attach_by_reference(const solve_job *job, ulna_marker_set *set, double *spread, ulna_error *error);

/* ---- what holds in every frame: solve_constraints.c --------------------------------------------------------- */

/* Reads them, and has the tracking hold them. */
ulna_status solve_load_constraints(solve_job *job, ulna_error *error);
/* How well a frame meets them; and the means, after the last one. */
void solve_measure_constraints(solve_job *job, const ulna_pose *pose, int frame);
void solve_finish_constraints(solve_job *job);

/* ---- solving: solve_run.c, solve_oracle.c, solve_takes.c ------------------------------------------------------- */

ulna_status solve_run(solve_job *job, ulna_error *error);
/* Each frame with offsets of its own; fills clip, frames, summary, marker and stops, as ulna_track and solve_run do. */
ulna_status solve_oracle(solve_job *job, ulna_error *error);
void solve_add_residual(solve_job *job, int frame, size_t marker, double distance);
/* Of a frame with outliers: which they are, and whether two of them change places. `seen` and `here`: as recorded (NaN:
 * missing) and as solved, set.count x 3. */
void solve_look_at_outliers(solve_job *job, int frame, const double *seen, const double *here);

/* A take from its files to its files; nothing is said. */
void solve_one(solve_job *job);
/* All of them, side by side; `tell` is called for each in order, as soon as it and those before are done. */
void solve_all(const cli *tool, solve_job *jobs, int count, void (*tell)(const cli *tool, solve_job *job, int count));

/* ---- what is written: solve_outputs.c, solve_words.c ------------------------------------------------------------ */

/* Whether all names can be written to, before anything is solved. */
int solve_check_outputs(const cli *tool, const solve_job *job);
/* Files and report. */
int solve_write_outputs(solve_job *job);

/* The results, for --json. */
void solve_add_results(solve_job *job);
/* Everything there is to say about a take. */
void solve_tell(const cli *tool, solve_job *job, int count);

#endif
