/* run.h: one run of a batch, or of a shard of it: what it works on, and the parts of it that batch.c calls. */
#ifndef ULNA_CLI_BATCH_RUN_H
#define ULNA_CLI_BATCH_RUN_H

#include "cli/batch/batch.h"

typedef struct batch_run {
    const cli *tool;
    json_t *object;
    const char *output;
    batch_plan plan;
    batch_shard shard;
    batch_setup setup;
    batch_pool limits; /* of processes: workers, time, memory */
    batch_journal journal;
    unsigned char *is_chosen; /* for each take of the plan */
    int *order, count;        /* takes to solve: those with a problem, which take no time, then the largest first */
    json_t **known;           /* their lines in the journal before this run; NULL: none */
    int *groups, group_count; /* calibrations that they need */

    progress bar;
    double begun, bytes, bytes_done;
    int calibrated; /* groups, of group_count */
    int done, failed, kept;
    long long frames; /* of takes that this run solved */
    json_t *notes;    /* sentences on calibrations */
    int is_stopped;   /* because of `failure` */
    ulna_error failure;
} batch_run;

/* An object of --json. */
void run_print_line(const json_t *row);
/* A line for people. Adds what it needs to the row. */
void run_say_take(batch_run *run, json_t *row, int is_done);
/* From the work folder to its name below OUT; 0 after filling run->failure. */
int run_move_file(batch_run *run, const char *folder, const char *from_name, const char *name);
/* Fills run->known: while takes are solved, threads may not look into a journal that grows. 0 without memory. */
int run_find_known(batch_run *run);

/* Work for batch_pool.run: take number `index` of the order, and calibration number `index` of the groups. */
json_t *run_solve(void *context, int index, int slot, take_key *tell, void *tell_context);
json_t *run_calibrate(void *context, int index, int slot, take_key *tell, void *tell_context);

/* Calibrates the groups. */
void run_calibrations(batch_run *run);
/*
 * Where the markers were placed anew between takes of a group, no table of offsets holds for all of them. If no two of them are on the
 * same bone, only the calibration itself tells (placement.c): each of its takes is then calibrated by itself. Their groups are those
 * that are left to calibrate. 0 without memory.
 */
int run_split_groups(batch_run *run);
/* Notes on the calibrations of all shards, as far as these have been made. */
void run_load_notes(batch_run *run);
/* Solves the takes. */
void run_takes(batch_run *run);

#endif
