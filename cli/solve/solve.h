/* solve.h: the parts of `ulna solve`: what it is given, the solving, and what it hands on to its report. */
#ifndef ULNA_CLI_SOLVE_H
#define ULNA_CLI_SOLVE_H

#include "cli/cli.h"
#include "cli/global/goals.h"
#include "cli/input.h"
#include "cli/output.h"
#include "cli/solve/constraint_file.h"
#include "ulna/calibrate.h"

/* Where the markers are on the skeleton. */
typedef enum attach_kind {
    ATTACH_DEFAULT =
        0, /* not said: key points; the reference, for a skeleton without markers; else as ulna_places_choose says */
    ATTACH_MODEL, /* as the skeleton's own markers */
    ATTACH_FILE,
    ATTACH_REFERENCE, /* the offsets of the reference motion, averaged over its frames */
    ATTACH_ORACLE,    /* those of each frame: then f = 0 can be reached, as in the exact-Hessian paper */
    ATTACH_NAMES      /* on the bones that the markers' names say, where a calibration on the take itself finds them */
} attach_kind;

/* The skeleton, which all takes share. */
typedef struct solve_skeleton {
    ulna_content file;      /* as the file has it */
    ulna_model *with_balls; /* NULL: as the file has them */
    int is_swing_twist;     /* instead of balls without limits */
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
    int is_unnamed; /* no skeleton was given: the built-in human, scaled to the person */
    const char *skeleton_path, *markers_path, *reference_path;
    const char *attach_path, *bounds_path, *init_path; /* NULL if they are not files */
    const char *compare_path;                          /* NULL: none */
    const char *constraints_path;                      /* NULL: none */
    attach_kind attach;
    int bounded;    /* limits of the skeleton, or of bounds_path */
    int unbounded;  /* none, even for key points */
    int init_first; /* start from the first frame of the reference */
    ulna_ball ball;
    int first, last; /* frames as the file counts them; first > last: all */
    axes_choice axes;
    const char *subject;                /* NULL: not chosen */
    char *own_subject;                  /* with --all-subjects: what `subject` points to */
    int is_forced;                      /* --no-checks */
    double markers_unit, skeleton_unit; /* metres; 0: as the files say */
    ulna_write_options write;           /* digits and channels */
    char **outputs;                     /* files to write, in order */
    int output_count;
    char *report_path; /* NULL: none */

    /* What was read. */
    const ulna_content *skeleton; /* as the file has it: not the job's own, nor the model */
    const ulna_model *joints;     /* with the joints that are solved */
    const ulna_model *model;      /* the same, or the take's own: scaled to key points */
    ulna_content markers;
    int is_sample;             /* the markers are those of the built-in take */
    ulna_clip reference;       /* of `model`, as the next one */
    ulna_clip compared;        /* of compare_path */
    ulna_marker_set set;       /* of attach_path, or calibrated */
    double calibrated_rms;     /* m, of ATTACH_NAMES */
    ulna_places_choice choice; /* of ATTACH_DEFAULT */
    ulna_content scaled;       /* the skeleton scaled to the person: then `skeleton` points to it */
    ulna_model *scaled_joints; /* that, with the joints that are solved; NULL: as the file has them */
    double size;               /* of the person beside the built-in human; NaN: not scaled */
    ulna_take *take;
    double *limits;              /* nv lower ones, nv upper ones; NULL: the skeleton's */
    double *start;               /* nq; NULL: rest */
    goals soft;                  /* of constraints_path: goals in every frame */
    constraint_file constraints; /* and what is kept */
    json_t *notes;               /* sentences: everything odd */

    /* What came out. */
    ulna_track_options options;
    ulna_track_result result;
    int is_solved;
    json_t *object;          /* for --json */
    json_t *shown;           /* for people: what they read besides, and `object` as "r" */
    solve_failure *failures; /* room for output_count + 3 */
    int failure_count;
    int code;
    const cli *tool; /* for the progress of reading and writing, as is the bar; NULL: none is shown */
    progress *bar;
} solve_job;

/* ---- all of it: solve.c ------------------------------------------------------------------------------------ */

/* Called for each take in order, as soon as it and those before are done. */
typedef void solve_teller(const cli *tool, solve_job *job, int count);

/* `ulna solve` of a parsed command line, from its files to its files. `object` receives what --json shows, but for a wrong
 * command line; `tell` says the rest. Returns the exit code. */
int solve_run(const cli *tool, json_t *object, solve_teller *tell);

/* ---- the command line: solve_options.c ------------------------------------------------------------------- */

int solve_read_options(const cli *tool, solve_job *job);
/* The same for the recording of another command: its options whose names are in the list (NULL: all of them), --frame as --frames, and the skeleton. */
int solve_read_recording(const cli *tool, const char *skeleton, const char *names, solve_job *job);
/* One job for each recording, or with --all-subjects for each person in each. NULL without memory. */
solve_job *solve_make_jobs(const cli *tool, const solve_job *pattern, int *count);
/* The recordings that are named, as options or operands: number `index`, NULL past the end. */
const char *solve_take(const cli *tool, int index);

/* ---- names of files: solve_names.c ------------------------------------------------------------------------- */

/* What each take writes, where -o and --report say a file or a folder. The exit code, after telling what is wrong: names
 * that two takes share, or that are inputs. Folders are made. */
int solve_name_outputs(const cli *tool, json_t *object, solve_job *jobs, int count);

/* ---- what is solved: solve_inputs.c ---------------------------------------------------------------------------- */

#define SOLVE_UNNAMED "human" /* the built-in skeleton of those who have none */
/* The skeleton, for all takes; failures are reported and kept in `object`. */
int solve_load_skeleton(json_t *object, const solve_job *job, solve_skeleton *skeleton, ulna_error *error);
void solve_release_skeleton(solve_skeleton *skeleton);
/* A job of that skeleton, ready to be loaded. */
int solve_begin(solve_job *job, const solve_skeleton *skeleton);
/* Reads everything and makes the take. The exit code; failures are kept. */
int solve_load(solve_job *job);
/* What takes much memory; what is shown stays. */
void solve_release_frames(solve_job *job);
void solve_release(solve_job *job);
/* A degree of freedom by its label; ULNA_NONE if there is none. */
int solve_find_dof(const ulna_model *model, const char *name);
/* Key points, even if they do not suit the skeleton: then who uses them says why. */
int solve_has_keypoints(const ulna_take_options *options);
/* Keeps a failure; returns its exit code. */
int solve_fail(solve_job *job, json_t *where, const char *path, const ulna_error *error);

/* ---- solving: solve_takes.c ---------------------------------------------------------------------------------- */

/* All takes side by side. */
void solve_all(const cli *tool, solve_job *jobs, int count, solve_teller *tell);

/* ---- what is written: solve_outputs.c, solve_summary.c -------------------------------------------------------- */

/* Whether all names can be written to, before anything is solved. */
int solve_check_outputs(const cli *tool, const solve_job *job);
int solve_is_marker_file(const char *path); /* which receives the solved markers */
/* Files and report. */
int solve_write_outputs(solve_job *job);
/* solve_feet.c: a picture of the feet that stand, as an SVG file. */
int solve_is_picture(const char *path);
ulna_status solve_draw_feet(const solve_job *job, const char *path, ulna_error *error);

/* Which skeleton it is, where the markers' places come from, and how the axes were found, in words. */
void solve_skeleton_text(const solve_job *job, char *text, size_t size);
void solve_attach_text(const solve_job *job, char *text, size_t size);
void solve_axes_sentence(const ulna_take *take, char *text, size_t size);
/* Notes about the take, before it is solved; and the results, notes on what the numbers alone would hide with them. */
void solve_note_take(solve_job *job);
void solve_add_results(solve_job *job);

/* ---- a second motion: solve_ghost.c --------------------------------------------------------------------------------- */

/* --compare-with, or the reference; NULL: neither. */
const char *solve_ghost_path(const solve_job *job);
/* Its pose in a frame of the take; NULL where it has none. */
const double *solve_ghost_frame(const solve_job *job, int frame);
/* How far apart the joints are. */
void solve_add_ghost(solve_job *job);

/* ---- whether to trust it: solve_verdict.c ------------------------------------------------------------------------ */

/* A mark of frames (ULNA_TRACK_...), and how it is shown. */
typedef struct solve_mark {
    unsigned flag;
    const char *label;     /* also its key in "ranges" of --json */
    const char *count_key; /* the key of its number of frames; NULL: the label */
    const char *meaning;
    const char *colour; /* on the page: a variable of its style */
} solve_mark;
extern const solve_mark solve_marks[];                /* end with a row without a flag */
const char *solve_mark_count(const solve_mark *mark); /* the key of its number of frames */
const char *solve_verdict_text(ulna_verdict verdict);
/* Puts the verdict, its reasons, and the ranges of marked frames into the object of --json. */
void solve_add_verdict(solve_job *job);
void solve_say_verdict(const cli *tool, const solve_job *job);
void solve_say_ranges(const cli *tool, const solve_job *job);

/* Everything there is to say about a take. */
void solve_tell(const cli *tool, solve_job *job, int count);

#endif
