/* global.h: `ulna global`: what it is given, and what it finds. */
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
    const char *sdpa_path; /* NULL: none */
    ulna_sdpa_form sdpa_form;
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

/* ---- what is solved: global.c ------------------------------------------------------------------------------------ */

const char *global_relax_name(int relax); /* none, hull, bones */
/* Where the goal is in that frame; 0 if it is not seen, or no place. */
int global_place(const global_job *job, int frame, int number, double place[3]);

/* ---- what was found: global_result.c ------------------------------------------------------------------------------ */

/* Whether the formats of all outputs can hold a pose, before anything is solved. */
int global_check_outputs(const cli *tool, json_t *object);
/* The results into the object of --json, and for people. */
void global_add_results(json_t *object, const global_job *job);
void global_print(const cli *tool, const json_t *object, const global_job *job);
/* The files; `object`: the results, for JSON files, which receives `outputs`. */
int global_write_outputs(const cli *tool, json_t *object, global_job *job);

#endif
