/* global.h: the parts of `ulna global`: what it is given, the solving, and how it tells. */
#ifndef ULNA_CLI_GLOBAL_H
#define ULNA_CLI_GLOBAL_H

#include "cli/global/goals.h"
#include "cli/solve/solve.h"
#include "ulna/global.h"

/* What a term of the problem is called, and where its goal is. */
typedef struct global_goal {
    char name[80];
    int is_turn; /* an orientation; else a place */
    int body;
    double point[3];
    double weight;
} global_goal;

/* A frame of the recording; goals from elsewhere are one frame. */
typedef struct global_frame {
    int number;               /* as the file counts */
    int places, turns;        /* goals that have weight and are seen */
    double weight;            /* sum over the places */
    int is_even;              /* all of these weigh the same */
    double rms_m, rms_rad;    /* over the goals of a kind, each counting once; NaN if there are none */
    double *errors;           /* one per goal: metres or radians; NaN: a marker that is missing */
    ulna_global_result found; /* f = 0, proven, and no starts if no goal is seen */
} global_frame;

typedef struct global_job {
    /* The command line. */
    const char *skeleton_path;
    const char *goals_path; /* NULL: none */
    int has_take;           /* goals are markers of a recording */
    double unit_m;          /* of goals */
    ulna_global_options options;
    int first, last; /* the frames asked for, as the file counts; first > last: the first one of all */
    /* What is said of the recording, and what was read of it: all frames, which tell more of axes and offsets. */
    solve_job take;

    /* What was read. */
    solve_skeleton skeleton;
    const ulna_model *model;
    goals wanted;
    ulna_problem *problem;
    ulna_work *work; /* to judge answers with */
    global_goal *goal;
    int goal_count; /* as many as the problem has terms */
    json_t *notes;

    /* What came out. */
    int frame_count;
    int skipped; /* frames of the recording before them */
    global_frame *frames;
    double *errors;  /* frame_count x goal_count */
    ulna_clip poses; /* one a frame */
} global_job;

/* ---- the command line: global_options.c ------------------------------------------------------------------------ */

int global_read_options(const cli *tool, global_job *job);
const char *global_relax_name(int relax); /* none, hull, bones */

/* ---- what is solved: global_inputs.c --------------------------------------------------------------------------- */

/* Reads everything and makes the problem. The exit code; failures are told, and kept in `object`. */
int global_load(const cli *tool, json_t *object, global_job *job);
/* Goals of that frame into the problem; how many are seen, or -1 if they are no numbers. */
int global_set_frame(global_job *job, int frame);
/* Where the goal is in that frame; 0 if it is not seen, or no place. */
int global_place(const global_job *job, int frame, int number, double place[3]);
void global_release(global_job *job);

/* ---- solving: global_run.c -------------------------------------------------------------------------------------- */

ulna_status global_run(const cli *tool, global_job *job, ulna_error *error);

/* ---- what is written: global_outputs.c, global_words.c ------------------------------------------------------------ */

/* Whether all names can be written to, before anything is solved. */
int global_check_outputs(const cli *tool, const global_job *job);
/* The files; `object`: the results, for JSON files, which receives `outputs`. */
int global_write_outputs(const cli *tool, json_t *object, global_job *job);

/* The results, for --json and for people. */
void global_add_results(json_t *object, const global_job *job);
void global_print(const cli *tool, const global_job *job);

/* The weighted root mean square distance of which f is made: sqrt(2 f / sum of weights). NaN if there are goals other
 * than places. */
double global_rms_of(const global_frame *frame, double f);

#endif
