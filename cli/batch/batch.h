/*
 * batch.h: the parts of `ulna batch`. A plan lists takes and what they need; a pool runs them in processes of their own, or in
 * threads; the journal remembers what is done; tables and a page are made from the journal.
 *
 * OUT/plan.csv               the plan, which is a manifest too
 * OUT/NAME.amc, NAME.html    what the take NAME gave
 * OUT/calibration/           offsets of markers, one table for each subject and session, and what `ulna calibrate` says of it
 * OUT/results.csv, .jsonl    the table of results
 * OUT/index.html             the overview
 * OUT/journal/K-of-N.jsonl   a line for each take that ended, written by shard K of N
 * OUT/journal/skipped.json   what was not searched for takes when the plan was made, and why takes have no skeleton
 * OUT/journal/K-of-N.work/   files on their way: complete ones are moved to their place
 */
#ifndef ULNA_CLI_BATCH_H
#define ULNA_CLI_BATCH_H

#include <signal.h>

#include "cli/cli.h"
#include "cli/input.h"
#include "cli/markup.h"
#include "cli/output.h"

/* ---- the plan: plan.c, folder.c, manifest.c, show.c ---------------------------------------------------------------------------------- */

typedef struct batch_take {
    char *name;                                /* of its outputs, below OUT and without an ending */
    char *path;                                /* the recording */
    char *skeleton, *attach, *subject, *words; /* "": none. words: options of `ulna solve` */
    char *shared;                              /* those of them that `ulna calibrate` takes too */
    char *place;                               /* "m.csv:3", where a manifest names it; "": no manifest does */
    int line;                                  /* there; 0: no manifest does */
    char *problem;                             /* why it cannot be solved, after that place; NULL: it can */
    const char *error;                         /* the same as a word for programs: see take_failed */
    double bytes;                              /* of the recording */
    int is_apart;                              /* calibrated by itself: see plan_calibrate_alone */
    int is_namesake;                           /* of another take, which has the outputs and the line in the journal */
    int calibration;                           /* its index; ULNA_NONE: no marker is looked for */
} batch_take;

/* What takes of one subject and session share: where the markers are. */
typedef struct batch_calibration {
    char *name;     /* below OUT/calibration, without an ending */
    int *takes;     /* to calibrate with, the largest first */
    int take_count; /* at most BATCH_CALIBRATION_TAKES */
    int is_wanted;  /* by a take of this shard */
    /* {"status": "done", "not needed" or "failed", "message", "left_out": [{"take", "message"}], "calibration": what `ulna calibrate` says};
     * a failure without "key" is not about the takes, as of a limit, and is tried again in the next run. */
    json_t *result;
} batch_calibration;

enum { BATCH_CALIBRATION_TAKES = 8 };

typedef struct batch_plan {
    batch_take *takes; /* by name */
    int count, room;
    batch_calibration *calibrations;
    int calibration_count;
    int is_own;             /* OUT/plan.csv, where everything was looked at when it was written */
    int left_out;           /* recordings of a take that another recording gives */
    json_t *left_out_names; /* the first of these; NULL: there are none */
    /* Folders that cannot be read, links to folders, and outputs of other batches: none is searched for takes. */
    int unread, links, outputs;
    json_t *notes; /* sentences on the first of these; NULL: there are none */
} batch_plan;

/* What all takes share, by the command line. "" or NULL: nothing. */
typedef struct batch_common {
    const char *skeleton, *attach, *words;
    const char *output; /* not searched for takes */
} batch_common;

/* Walks a folder, or reads a manifest. The exit code, after telling what is wrong. */
int plan_folder(json_t *object, const char *folder, const batch_common *common, batch_plan *plan);
int plan_manifest(json_t *object, const char *path, const batch_common *common, batch_plan *plan);
/* Is it OUT/plan.csv, from which shards of --slurm and --merge work? */
int plan_is_own(const char *output, const char *path);
/* Sorts the takes, finds names that are not unique, and groups takes that share a calibration. 0 without memory. */
int plan_finish(batch_plan *plan);
/* Takes it out of its group, into one of its own. 0 without memory. */
int plan_calibrate_alone(batch_plan *plan, int index);
/* The name of such a group; free() it. NULL without memory. */
char *plan_name_alone(const batch_take *take);
/* A new take, all of whose texts are empty; NULL without memory. */
batch_take *plan_add(batch_plan *plan, const char *name, const char *path);
/* Replaces a text; 0 without memory. */
int plan_set(char **text, const char *value);
void plan_complain(batch_take *take, const char *error, const char *format, ...) ULNA_PRINTF(3, 4);
void plan_release(batch_plan *plan);
/* What was skipped: for programs ("unread", "links", "outputs", "notes") and for people. */
void plan_put_skipped(const batch_plan *plan, json_t *object);
void plan_tell_skipped(const cli *tool, const batch_plan *plan);
/* The same as a file, for who has only the plan as a manifest; loading one that is not there, or no such file, changes nothing. */
ulna_status plan_save_skipped(const batch_plan *plan, const char *path, ulna_error *error);
void plan_load_skipped(batch_plan *plan, const char *path);
/* Why takes have no skeleton, by name, as whoever looked for it has said; NULL: it is not known. */
json_t *plan_load_reasons(const char *output);
/* Takes that cannot be solved, those of one reason together: "VERB NAME: reason". is_chosen: by take; NULL: all. */
void plan_tell_problems(const cli *tool, const batch_plan *plan, const unsigned char *is_chosen, const char *verb);
/* The plan as a manifest. */
ulna_status plan_write(const batch_plan *plan, const char *path, ulna_error *error);
/* What is left of the plan; `settled`, for each take: see batch_settled. */
typedef enum batch_settled {
    BATCH_LEFT = 0,
    BATCH_DONE,
    BATCH_FAILED,
    BATCH_OTHERS /* of another shard */
} batch_settled;
/* `lines`: those of the journal, by take. */
void plan_show(const cli *tool, const batch_plan *plan, const batch_settled *settled, const json_t *lines);

/* A field of CSV: one with separators, quotes or blanks at its ends is in quotes. Spreadsheets take a field for a formula that begins with one
 * of = + - @ or a tab: it gets an apostrophe before it, as does one that has apostrophes there already. Readers of manifests take one away. */
int table_is_formula(const char *field);
void table_put_field(markup *text, const char *field, int is_last);

/* ---- one take: take.c ------------------------------------------------------------------------------------------------ */

typedef struct batch_setup {
    const char *output;        /* OUT */
    const char *formats;       /* NULL: those of the skeleton */
    int has_reports;           /* HTML for each take */
    int threads;               /* inside a take */
    int is_retried;            /* failed ones again */
    double seconds, megabytes; /* limits of a take, as in batch_pool */
    /* With a folder for each slot; NULL: nothing is solved or written, what is not there fails. */
    const char *work_folder;
} batch_setup;

/* Whether the options of a take are options of `ulna solve` that a batch can use, or the reason why not. Fills take->shared. */
ulna_status take_check_words(batch_take *take, ulna_error *error);
/* A hash of what the plan says of a take, and whether a line of the journal was made with the same. */
typedef struct plan_key {
    char text[20];
} plan_key;
plan_key take_plan_key(const batch_take *take);
int take_is_of_plan(const batch_take *take, const json_t *line);
/* The same of the formats and reports that a run is to write. */
void take_put_setup(const batch_setup *setup, json_t *line);
int take_is_of_setup(const batch_setup *setup, const json_t *line);
/* A take is about to be solved ("solve"), or its files are in their place, and the journal does not have its line yet ("moved"). */
void batch_stage(const char *stage, const char *take);
/* Are the files that a line of the journal lists in OUT, as they were written? */
int take_files_are_there(const char *output, const json_t *line);

/* Where the markers of a take are on the skeleton. */
typedef struct take_markers {
    const char *skeleton;      /* "": the built-in human, scaled to the person */
    const char *table;         /* "": none */
    const json_t *calibration; /* whose table it is; NULL: it was there */
} take_markers;

/* Solves a take into a slot of the work folder. The first line that `tell` gets, before the work begins, is the key of its
 * input: bytes, options, version. `kept`: its recording, which is used up. `known`: its line in the journal, or NULL. Returns {"status": "kept"} where that still holds,
 * with "is_earlier" where the last finished result does, else the line for the journal. */
typedef void take_key(void *context, const char *key);
json_t *take_solve(const batch_setup *setup, const batch_take *take, const take_markers *markers, files_kept *kept,
                   json_t *known, int slot, take_key *tell, void *context);
/* Has a row, or a line of the journal, this word, or this status? Not one that is NULL. */
int row_has(const json_t *row, const char *key, const char *word);
int row_is(const json_t *row, const char *status);
/* A row of a take that failed. `error` is a word for programs: one of `ulna solve --json`, or "time" (--time-limit), "crash" (its process
 * ended without a result). */
json_t *take_failed(const char *error, const char *format, ...) ULNA_PRINTF(2, 3);
/* "walk.c3d:12: message", from an object that a failed command filled. */
json_t *take_failure_of(const json_t *object);
/* An empty folder "WORK/SLOT/"; free() it. */
char *take_make_slot(const batch_setup *setup, int slot);

/* ---- calibrations that takes share: calibration.c -------------------------------------------------------------------------- */

/* The skeleton of a take; the built-in human for those that have none. */
ulna_status batch_load_skeleton(const char *path, double unit_m, ulna_content *skeleton);
/* Finds offsets for a group, and for takes without a skeleton how long the built-in human's bones are, unless somebody has. */
json_t *calibration_find(const batch_setup *setup, const batch_plan *plan, const batch_calibration *group, int slot);
/* What is kept of it, of whatever inputs it was made; NULL: nothing. */
json_t *calibration_record(const char *output, const batch_calibration *group);
/* Of its table (".csv"), its record (".json"), or the skeleton of a session that has none (BATCH_SKELETON); free() it. */
#define BATCH_SKELETON "~skeleton.json" /* a single ~ is in no name of a group */
char *calibration_path(const char *output, const batch_calibration *group, const char *ending);

/* ---- where the markers are: placement.c -------------------------------------------------------------------------------- */

/* Pairs of markers that their names put on the same bone. */
json_t *placement_pairs(const char *skeleton, const char *path);
/* Is a distance known? */
int placement_is_known(const json_t *pairs);
/* Were the markers of a recording placed anew? If not, and with `frames`, its distances count too, and it receives how many frames it has. */
int placement_differs(json_t *pairs, files_kept *kept, int *frames);

/* ---- running: pool.c -------------------------------------------------------------------------------------------------- */

typedef struct batch_pool {
    int workers, is_isolated;
    int is_reused;    /* isolated: a process may work on one number after the other */
    double seconds;   /* longest time of one; 0: no limit */
    double megabytes; /* most memory of one; 0: no limit */
    /* Works on number `index`. In a process apart if isolated: what it changes in memory is not seen here, but for what it returns. */
    json_t *(*run)(void *context, int index, int slot, take_key *tell, void *tell_context);
    /* Receives the result, in the order in which they end, one at a time. `key`: "" if none was told. Takes the reference.
     * Returns 0 to stop. */
    int (*settle)(void *context, int index, int slot, const char *key, json_t *result);
    void (*tick)(void *context); /* a few times a second; may be NULL */
    void *context;
} batch_pool;

extern volatile sig_atomic_t pool_signal; /* that asked to stop; 0: none */
void pool_catch_signals(void);
/* Runs number 0 .. count - 1. Returns 0, or the number of the reason (errno) why no process can be started. */
int pool_run(const batch_pool *pool, int count);
int pool_workers(const cli *tool, int count);

/* ---- the journal: journal.c ------------------------------------------------------------------------------------------- */

typedef struct batch_shard {
    int number, count; /* 1 .. count */
} batch_shard;

typedef struct batch_journal {
    char *path, *work_folder;
    int file, lock;
    json_t *lines; /* by name of take: the line that counts */
} batch_journal;

/* Takes the lock, reads all journals and empties the work folder. The exit code, after telling what is wrong. */
int journal_open(json_t *object, const char *output, batch_shard shard, batch_journal *journal);
/* Reads all journals of OUT. The exit code, after telling what is wrong; `lines` is the caller's in any case. */
int journal_read(json_t *object, const char *output, json_t **lines);
/* Waits until no other process has this lock, a file in OUT/journal; close() gives it back. -1: the file system has none. */
int journal_wait_for(const char *output, const char *name, off_t number);
/* To the disk, before what it announces is done. */
ulna_status journal_sync(batch_journal *journal, ulna_error *error);
/* That of a take; NULL: there is none. */
json_t *journal_line(const json_t *lines, const batch_take *take);
ulna_status journal_add(batch_journal *journal, json_t *line, ulna_error *error);
/* The last finished result of a take: its line, or the one that the line of a failure keeps as "earlier"; NULL: none. */
json_t *journal_finished(json_t *line);
void journal_close(batch_journal *journal);
/* Removes a folder with all that is in it. */
void journal_remove_tree(const char *folder);

/* ---- options.c ------------------------------------------------------------------------------------------------------------- */

/* common->output is set; the rest is filled in from the command line. tasks: of --slurm, or as it was. The exit code, after telling what is
 * wrong. */
int options_read(const cli *tool, batch_common *common, batch_setup *setup, batch_shard *shard, batch_pool *limits,
                 int *tasks);
/* Formats, options of `ulna solve`, and files for all takes: with a wrong one, every take would fail. */
int options_check(const cli *tool, json_t *object, const batch_common *common);
/* Can all files be read that options of `ulna solve` name? If not, `path` receives the name. */
ulna_status options_check_files(const char *words, char *path, size_t size, ulna_error *error);
int batch_main(cli *tool); /* batch.c: the command itself */

/* ---- on a cluster: shards.c, slurm.c ------------------------------------------------------------------------------------ */

/* --shard, or what an array scheduler says; 1 of 1 without either. */
int shards_read(const cli *tool, batch_shard *shard);
/* Which takes belong to the shard: the largest first, each to the shard with the least bytes so far. 0 without memory. */
int shards_choose(const batch_plan *plan, batch_shard shard, unsigned char *is_chosen);
/* Are the text of --slurm-options and the names of the folders such that scripts can have them? */
int slurm_check(const cli *tool);
/* Writes the scripts of --slurm, and submits them with --submit. */
int slurm_write(const cli *tool, json_t *object, const char *output, int tasks);

/* ---- results: results.c, overview.c --------------------------------------------------------------------------------------- */

/* A row for each take of the plan: its line in the journal, or {"status": "missing"}, also where the line is one of another plan or setup (NULL:
 * of any), or its files are not there any more. */
json_t *results_rows(const char *output, const batch_plan *plan, const batch_setup *setup, const json_t *lines);
/* Of a row: "older_files", if they are there, instead of "earlier". */
void results_name_older(const char *output, json_t *row);
/* How a row is to be judged: a number, 0 is the worst; a word for programs; words for people. */
int results_rank(const json_t *row);
const char *results_state(const json_t *row);
const char *results_words(const json_t *row);
/* Counts of rows: takes, done, failed, missing, frames, doubtful takes, seconds. */
void results_count(const json_t *rows, json_t *object);
ulna_status results_write(const char *output, const json_t *rows, ulna_error *error);
ulna_status overview_write(const char *output, const json_t *rows, const json_t *counts, ulna_error *error);

#endif
