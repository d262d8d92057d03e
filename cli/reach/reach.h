/* reach.h: what the files of `ulna reach` share. */
#ifndef ULNA_CLI_REACH_H
#define ULNA_CLI_REACH_H

#include "cli/input.h"
#include "cli/output.h"
#include "cli/solve/constraint_file.h"
#include "ulna/reach.h"

enum {
    REACH_MOST_TIPS = 64,
    REACH_MOST_ALL = 64,
    REACH_MOST_CONSTRAINTS = 200, /* of a file */
    REACH_MOST_ROWS = 1000000000,
    REACH_GOAL_NUMBERS = 7, /* x, y, z, qx, qy, qz, qw */
    REACH_MOST_COLUMNS = 1000
};

typedef struct reach_tip {
    const char *name, *relative_to; /* as given; NULL: the world */
    ulna_reach_tip tip;
    ulna_reach_goal goal;
    int has_goal;
} reach_tip;

typedef struct reach_job reach_job;

/* Goals as rows of a CSV file, read one after the other. */
typedef struct reach_rows {
    const reach_job *job;
    int is_path; /* a time may stand before the goals */
    FILE *file;
    char *line;
    int number; /* of the line */
    char delimiter;
    int columns, has_heading;
    int time_column;                                  /* ULNA_NONE: no time */
    int column[REACH_MOST_TIPS * REACH_GOAL_NUMBERS]; /* of each number of each tip; ULNA_NONE: it is free */
} reach_rows;

/* Poses to follow: count x tips. */
typedef struct reach_poses {
    ulna_reach_goal *goals;
    double *times; /* count, s; NULL: the file has none */
    int count;
} reach_poses;

typedef enum reach_table { REACH_TABLE_NONE = 0, REACH_TABLE_CSV, REACH_TABLE_JSONL } reach_table;
typedef enum reach_answer_kind { REACH_GOALS = 0, REACH_SAMPLES, REACH_SOLUTIONS } reach_answer_kind;

/* A row of a table. */
typedef struct reach_answer {
    int number; /* from 1 */
    double time;
    const double *q;
    ulna_reach_result result;
    int worst_constraint; /* of those that are not kept; ULNA_NONE: all are */
    double constraint_error;
} reach_answer;

/* A table that is being written. */
typedef struct reach_answers {
    const reach_job *job;
    const char *path;
    reach_table table;
    reach_answer_kind kind;
    int has_time;
    char **names, **tips, **constraints; /* as the table writes them */
    size_t row_bytes;                    /* no row is longer */
    ulna_output *output;
    ulna_status status; /* of what was written so far */
    int is_counted;     /* for cli_writing_end */
} reach_answers;

struct reach_job {
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
    const char *rows_path; /* of --each or --path; NULL: neither */
    int is_list;           /* --each */
    reach_rows rows;
    reach_poses poses; /* of --path */
    double max_speed;  /* 0: none */
    double rate;       /* Hz; 0: not given */
    int bench, near;   /* goals of --bench, 0: none; 1: starts near */
    json_t *notes;
    ulna_reach *reach;
    ulna_reach_work *work;
    ulna_problem *keeping; /* the constraints alone; NULL: there are none */
    ulna_work *keeper;
    int first_kept;        /* number of the first constraint in it */
    reach_answers *tables; /* outputs, a table each */
    int table_count;
};

/* reach_options.c: all of the command line, after the robot was loaded. CLI_USAGE or CLI_INPUT after a message. */
int reach_read_options(const cli *tool, json_t *object, reach_job *job);
/* Numbers separated by blanks or commas: how many there are; -1 if something else is there or there are more than `most`. */
int reach_numbers(const char *text, double *numbers, int most);

/* reach_rows.c */
/* Reads the heading; `job` has its tips. Release in any case. */
ulna_status reach_rows_open(reach_rows *rows, const reach_job *job, const char *path, int is_path, ulna_error *error);
/* The next row: a goal for each tip, which the robot's reach accepts; `is_there` is 0 at the end. Needs job->work. */
ulna_status reach_rows_next(reach_rows *rows, ulna_reach_goal *targets, double *seconds, int *is_there,
                            ulna_error *error);
/* The first row comes again. */
ulna_status reach_rows_restart(reach_rows *rows, ulna_error *error);
/* Whether goals of a tip have this number, 0 to 6. */
int reach_rows_has(const reach_rows *rows, int tip, int number);
void reach_rows_close(reach_rows *rows);

/* reach.c */
/* The job's tips with these options, and memory for a solve. */
ulna_status reach_make(const reach_job *job, const ulna_reach_options *options, ulna_reach **reach,
                       ulna_reach_work **work, ulna_error *error);

/* reach_list.c, reach_path.c */
int reach_solve_list(const cli *tool, json_t *object, reach_job *job);
int reach_follow(const cli *tool, json_t *object, reach_job *job);
void reach_release_poses(reach_poses *poses);

/* reach_bench.c */
int reach_run_bench(const cli *tool, json_t *object, reach_job *job);

/* reach_keep.c */
ulna_status reach_keep_prepare(reach_job *job, ulna_error *error);
/* One for each thread; NULL if there are no constraints. */
ulna_status reach_keep_work(const reach_job *job, ulna_work **work, ulna_error *error);
/* The errors of all constraints (may be NULL), and the largest; returns the worst of those that are not kept, or ULNA_NONE. */
int reach_keep_measure(const reach_job *job, ulna_work *work, const double *q, double *errors, double *largest);
int reach_is_kept(double error);
/* An answer and its worst constraint. `errors` as above. */
reach_answer reach_judge(const reach_job *job, ulna_work *keeper, const double *q, const ulna_reach_result *result,
                         int number, double *errors);
void reach_keep_put(json_t *object, const reach_job *job, const double *errors, const int *missed);
void reach_keep_print(const cli *tool, const json_t *object);

/* reach_answers.c */
reach_table reach_table_of(const char *path);
/* "reached", "closest", "out of time", "constraint not kept". */
const char *reach_status_word(const ulna_reach_result *result, int worst_constraint);
/* Opens the file and writes the heading. Close in any case, and end when nothing more is to be said: a signal may end the program then. */
ulna_status reach_answers_open(reach_answers *answers, const reach_job *job, const char *path, reach_answer_kind kind,
                               int has_time, ulna_error *error);
/* A row as text, of at most row_bytes; returns its length. Several threads may do this at once. */
size_t reach_answer_text(const reach_answers *answers, const reach_answer *answer, char *text);
ulna_status reach_answers_write(reach_answers *answers, const char *text, size_t bytes);
ulna_status reach_answers_close(reach_answers *answers, int is_kept, ulna_error *error);
void reach_answers_end(reach_answers *answers);

/* reach_result.c */
/* Facts about an answer for given goals (one per tip). */
void reach_put_result(json_t *object, reach_job *job, const ulna_reach_goal *targets, const double *q,
                      const ulna_reach_result *result);
void reach_print_result(const cli *tool, const json_t *object);
void reach_print_all(const cli *tool, const json_t *object);

/* The files of --output: tables, motions of `count` frames, and the object as JSON. */
int reach_check_outputs(const cli *tool, json_t *object, const reach_job *job);
/* The tables alone, for who writes the rows. Exit codes. */
int reach_open_tables(const cli *tool, json_t *object, reach_job *job, reach_answer_kind kind, int has_time);
int reach_close_tables(json_t *object, reach_job *job, int is_kept);
/* All that is not a table; and the tables too, if there are answers. */
int reach_write_outputs(const cli *tool, json_t *object, reach_job *job, reach_answer_kind kind, int count,
                        const reach_answer *answers);

#endif
