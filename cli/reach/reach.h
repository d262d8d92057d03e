/* reach.h: what the files of `ulna reach` share. */
#ifndef ULNA_CLI_REACH_H
#define ULNA_CLI_REACH_H

#include "cli/input.h"
#include "cli/output.h"
#include "cli/solve/constraint_file.h"
#include "ulna/reach.h"

enum { REACH_MOST_TIPS = 64, REACH_MOST_ALL = 64 };

typedef struct reach_tip {
    const char *name, *relative_to; /* as given; NULL: the world */
    ulna_reach_tip tip;
    ulna_reach_goal goal;
    int has_goal;
} reach_tip;

/* Poses to follow: count x tips. */
typedef struct reach_poses {
    const char *path;
    ulna_reach_goal *goals;
    double *times; /* count, s; NULL: the file has none */
    int count;
    int has_rotations;
} reach_poses;

typedef struct reach_job {
    const char *robot;
    ulna_content file;
    const ulna_model *model;
    int nq, nv;
    reach_tip tip[REACH_MOST_TIPS];
    int tip_count;
    ulna_reach_options options;
    double *seed, *posture;             /* nq; posture NULL: none */
    double *strength, *distance_weight; /* nv */
    unsigned char *locked;              /* nv */
    goals wanted;                       /* of --constraints */
    constraint_file constraints;
    ulna_constraint *kept; /* those of the file */
    int all;
    reach_poses poses;
    double max_speed; /* 0: none */
    double rate;      /* Hz; 0: not given */
    int bench, near;  /* goals of --bench, 0: none; 1: starts near */
    json_t *notes;
    ulna_reach *reach;
    ulna_reach_work *work;
} reach_job;

/* reach_options.c: all of the command line, after the robot was loaded. CLI_USAGE or CLI_INPUT after a message. */
int reach_read_options(const cli *tool, json_t *object, reach_job *job);
/* Numbers separated by blanks or commas: how many there are; -1 if something else is there or there are more than `most`. */
int reach_numbers(const char *text, double *numbers, int most);

/* reach_path.c */
ulna_status reach_read_poses(reach_poses *poses, const char *path, int tip_count, ulna_error *error);
void reach_release_poses(reach_poses *poses);
int reach_follow(const cli *tool, json_t *object, reach_job *job);

/* reach_bench.c */
int reach_run_bench(const cli *tool, json_t *object, reach_job *job);

/* reach_result.c */
/* Facts about an answer for given goals (one per tip). */
void reach_put_result(json_t *object, reach_job *job, const ulna_reach_goal *targets, const double *q,
                      const ulna_reach_result *result);
void reach_print_result(const cli *tool, const json_t *object);
void reach_print_all(const cli *tool, const json_t *object);
/* The files of --output: a motion of `count` frames, q count x nq; or the object as JSON. */
int reach_check_outputs(const cli *tool, json_t *object);
int reach_write_outputs(const cli *tool, json_t *object, reach_job *job, int count, const double *q);

#endif
