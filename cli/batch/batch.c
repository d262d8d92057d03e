/* ulna batch: whole databases of takes, in processes of their own, with a journal, so that a second run does only the rest. */
#include "cli/batch/batch.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ulna/ulna.h"

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
    int *order, count;        /* takes to solve, the largest first */
    int *groups, group_count; /* calibrations that they need */

    progress bar;
    double begun, bytes, bytes_done;
    int done, failed, kept;
    long long frames;
    int is_stopped; /* because of `failure` */
    ulna_error failure;
} batch_run;

/* ---- what is shown while it runs ------------------------------------------------------------------------------------------------ */

static void print_line(const json_t *row)
{
    char *text = json_dumps(row, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(12));
    printf("%s\n", text ? text : "{}");
    free(text);
    fflush(stdout); /* as they come */
}

static void draw(void *context)
{
    batch_run *run = context;
    char text[120], left[40] = "";
    double part = run->bytes > 0 ? fmin(1, run->bytes_done / run->bytes) : 0, seconds = cli_seconds() - run->begun;
    double rest = part > 0 ? seconds * (1 - part) / part : 0;
    if (part > 0.01 && rest >= 90)
        snprintf(left, sizeof left, ", %.0f min left", rest / 60);
    else if (part > 0.01)
        snprintf(left, sizeof left, ", %.0f s left", rest);
    snprintf(text, sizeof text, "%d of %d takes, %d failed, %.0f frames/s%s", run->done + run->failed, run->count,
             run->failed, (double)run->frames / fmax(1e-9, seconds), left);
    progress_show(&run->bar, part, text);
}

static void say_take(batch_run *run, const json_t *row, int is_done)
{
    if (run->tool->quiet && !is_done)
        cli_complain("%s: %s", json_string_value(json_object_get(row, "take")),
                     json_string_value(json_object_get(row, "message")));
    progress_end(&run->bar);
    fact_line(
        run->tool, row, NULL,
        is_done
            ? "{status} {take}: {frames} frames, {rms_mm%.2f} mm, {verdict}, {seconds%.2f} s[{placed_anew?}, calibrated by "
              "itself: its markers were placed anew]"
            : "{status} {take}: {message}[{older_files?} (files of an earlier result are kept)]");
    fflush(stdout);
}

/* A line for each take; on a terminal, where there is a bar, only for those that failed. With --quiet, which has no summary, also for
 * those that failed in an earlier run. */
static void tell_take(batch_run *run, json_t *row, int is_kept)
{
    int is_done = strcmp(json_string_value(json_object_get(row, "status")), "done") == 0;
    run->done += is_done;
    run->failed += !is_done;
    run->kept += is_kept;
    json_t *shown = json_copy(row);
    results_name_older(run->output, shown);
    put_flag(shown, "kept", is_kept);
    if (run->tool->json)
        print_line(shown);
    else if ((!is_kept || run->tool->quiet) && !(run->bar.is_shown && is_done))
        say_take(run, shown, is_done);
    json_decref(shown);
}

/* ---- files in their place --------------------------------------------------------------------------------------------------------- */

/* What cannot be written now cannot be written for the next take either. */
static int stop(batch_run *run, const char *path, int number)
{
    run->is_stopped = 1;
    cli_fail(&run->failure, ULNA_ERR_IO, "%.150s: cannot write the file: %s", path, strerror(number));
    return 0;
}

/* From the work folder to its name below OUT. */
static int move_file(batch_run *run, const char *folder, const char *from_name, const char *name)
{
    char *from = folder_join(folder, from_name), *to = folder_join(run->output, name);
    json_t *unused = json_object();
    errno = 0;
    int is_moved = from && to && !folder_make_for(unused, to) && rename(from, to) == 0;
    if (!is_moved)
        (void)stop(run, to ? to : name, errno ? errno : ENOMEM);
    json_decref(unused);
    free(from);
    free(to);
    return is_moved;
}

static int move_outputs(batch_run *run, const batch_take *take, int slot, const json_t *row)
{
    char number[24];
    size_t i;
    json_t *file;
    snprintf(number, sizeof number, "%d", slot);
    char *folder = folder_join(run->journal.work_folder, number);
    int is_moved = folder != NULL;
    json_array_foreach(json_object_get(row, "files"), i, file)
    {
        const char *name = json_string_value(json_object_get(file, "file")), *dot = name ? strrchr(name, '.') : NULL;
        char *from = dot ? folder_file("", take->path, NULL, dot + 1) : NULL;
        is_moved = is_moved && from && move_file(run, folder, from + 1, name);
        free(from);
    }
    free(folder);
    return is_moved;
}

/* ---- takes ------------------------------------------------------------------------------------------------------------------------- */

static json_t *known_line(const batch_run *run, const batch_take *take)
{
    json_t *name = cli_json_text(take->name), *line = json_object_get(run->journal.lines, json_string_value(name));
    json_decref(name);
    return take->is_namesake ? NULL : line;
}

/*
 * Calibrated by itself, where the markers of this take are not where they were in those that its group was calibrated with. NULL: they
 * are, or it cannot be calibrated alone. free() the name of the group.
 */
static json_t *calibrate_apart(const batch_run *run, int index, files_kept *kept, int slot, batch_calibration *alone)
{
    const batch_take *take = &run->plan.takes[index];
    const batch_calibration *group = &run->plan.calibrations[take->calibration];
    size_t size = strlen(take->name) + 16;
    if (group->take_count < 2 || !placement_differs(json_object_get(group->result, "distances"), kept, NULL))
        return NULL;
    *alone = (batch_calibration){.name = malloc(size), .takes = &index, .take_count = 1};
    if (!alone->name)
        return NULL;
    snprintf(alone->name, size, "%s~take", take->name);
    json_t *result = take_calibrate(&run->setup, &run->plan, alone, slot);
    alone->takes = NULL;
    if (strcmp(json_string_value(json_object_get(result, "status")), "done") == 0)
        return result;
    json_decref(result);
    return NULL;
}

/* Nothing is solved. A calibration that ended has a key, and gives the take one: it is not tried again for the same input. */
static json_t *fail_uncalibrated(const batch_run *run, const batch_take *take, int slot, take_key *tell,
                                 void *tell_context)
{
    const batch_calibration *group = &run->plan.calibrations[take->calibration];
    const char *message = json_string_value(json_object_get(group->result, "message"));
    json_t *failed = take_failed("no calibration of %s: %s", group->name, message ? message : "it did not end");
    if (!json_object_get(group->result, "key"))
        return failed;
    take_markers markers = {
        .table = "", .calibration = group->result, .failure = json_string_value(json_object_get(failed, "message"))};
    files_kept kept = files_keep(take->path);
    json_t *row = take_solve(&run->setup, take, &markers, &kept, known_line(run, take), slot, tell, tell_context);
    files_kept_release(&kept);
    json_decref(failed);
    return row;
}

/* Calibrated offsets, the table of the plan, or none. */
static json_t *solve_number(void *context, int index, int slot, take_key *tell, void *tell_context)
{
    const batch_run *run = context;
    const batch_take *take = &run->plan.takes[run->order[index]];
    const batch_calibration *group = take->calibration == ULNA_NONE ? NULL : &run->plan.calibrations[take->calibration];
    const char *status = group ? json_string_value(json_object_get(group->result, "status")) : NULL;
    if (take->problem)
        return take_failed("%s", take->problem);
    if (group && (!status || strcmp(status, "failed") == 0))
        return fail_uncalibrated(run, take, slot, tell, tell_context);
    batch_calibration alone = {0};
    int is_calibrated = group && strcmp(status, "done") == 0;
    files_kept kept = files_keep(take->path);
    json_t *own = is_calibrated ? calibrate_apart(run, run->order[index], &kept, slot, &alone) : NULL;
    char *table = is_calibrated ? take_calibration_path(run->output, own ? &alone : group, ".csv") : NULL;
    take_markers markers = {.table = table ? table : take->attach,
                            .calibration = own     ? own
                                           : table ? group->result
                                                   : NULL};
    json_t *row = take_solve(&run->setup, take, &markers, &kept, known_line(run, take), slot, tell, tell_context);
    files_kept_release(&kept);
    if (json_object_get(row, "verdict"))
        put_flag(row, "placed_anew", own || take->is_apart);
    json_decref(own);
    free(alone.name);
    free(table);
    return row;
}

static void complete_row(json_t *row, const batch_take *take, const char *key)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    put_text(row, "take", take->name);
    put_text(row, "subject", take->subject);
    put_text(row, "key", key);
    put_text(row, "version", ulna_version());
    put_number(row, "time", (double)now.tv_sec + 1e-9 * (double)now.tv_nsec);
    json_object_del(row, "is_output");
}

static int write_line(batch_run *run, json_t *row)
{
    int is_written = journal_add(&run->journal, row, &run->failure) == ULNA_OK;
    run->is_stopped |= !is_written;
    return is_written;
}

/* The line in the journal holds. If that is one of a failure and the result before it holds, this one is the last again. */
static int keep_take(batch_run *run, const batch_take *take, const char *key, int is_earlier)
{
    json_t *line = known_line(run, take);
    int goes_on = 1;
    line = is_earlier ? json_copy(journal_finished(line)) : json_incref(line);
    if (is_earlier) {
        complete_row(line, take, key);
        goes_on = write_line(run, line);
    }
    if (goes_on) {
        run->frames += json_integer_value(json_object_get(line, "frames"));
        tell_take(run, line, 1);
    }
    json_decref(line);
    return goes_on;
}

/* Of a take that fails, the files that it has stay, and what is known of them. What the plan says is wrong with it is not for the
 * journal: it is looked at again in each run. */
static int settle_take(void *context, int index, int slot, const char *key, json_t *row)
{
    batch_run *run = context;
    const batch_take *take = &run->plan.takes[run->order[index]];
    const char *status = json_string_value(json_object_get(row, "status")), *error = NULL;
    int goes_on = 1;
    run->bytes_done += take->bytes;
    if (status && strcmp(status, "kept") == 0) {
        goes_on = keep_take(run, take, key, json_is_true(json_object_get(row, "is_earlier")));
        json_decref(row);
        return goes_on;
    }
    error = json_string_value(json_object_get(row, "error"));
    if (json_is_true(json_object_get(row, "is_output")) && error && strcmp(error, "io") == 0) {
        run->is_stopped = 1;
        cli_fail(&run->failure, ULNA_ERR_IO, "%s", json_string_value(json_object_get(row, "message")));
        json_decref(row);
        return 0;
    }
    if (status && strcmp(status, "done") == 0)
        goes_on = move_outputs(run, take, slot, row);
    else
        json_object_set(row, "earlier", journal_finished(known_line(run, take)));
    complete_row(row, take, key);
    goes_on = goes_on && (take->problem || write_line(run, row));
    if (goes_on) {
        run->frames += json_integer_value(json_object_get(row, "frames"));
        tell_take(run, row, 0);
    }
    json_decref(row);
    return goes_on;
}

/* ---- calibrations -------------------------------------------------------------------------------------------------------------------- */

static json_t *calibrate_number(void *context, int index, int slot, take_key *tell, void *tell_context)
{
    const batch_run *run = context;
    (void)tell;
    (void)tell_context;
    return take_calibrate(&run->setup, &run->plan, &run->plan.calibrations[run->groups[index]], slot);
}

static int settle_calibration(void *context, int index, int slot, const char *key, json_t *row)
{
    batch_run *run = context;
    (void)slot;
    (void)key;
    run->plan.calibrations[run->groups[index]].result = row;
    return 1;
}

static void run_calibrations(batch_run *run)
{
    batch_pool pool = run->limits;
    pool.workers = pool_workers(run->tool, run->group_count);
    pool.run =
        calibrate_number; /* not reused: each keeps its own record, of a failure too, which must be its own fault */
    pool.settle = settle_calibration;
    pool.context = run;
    if (run->group_count)
        (void)pool_run(&pool, run->group_count);
}

/*
 * Where the markers were placed anew between takes of a group, no table of offsets holds for all of them. If no two of them are on the
 * same bone, only the calibration itself tells (placement.c): each of its takes is then calibrated by itself.
 */
static int split_groups(batch_run *run)
{
    int groups = run->plan.calibration_count;
    run->group_count = 0;
    for (int i = 0; i < run->plan.count; i++) {
        int number = run->plan.takes[i].calibration;
        if (!run->is_chosen[i] || number == ULNA_NONE || number >= groups)
            continue;
        batch_calibration *group = &run->plan.calibrations[number];
        json_t *session = json_object_get(json_object_get(group->result, "calibration"), "session");
        if (!json_is_true(json_object_get(session, "placed_anew")) ||
            placement_is_known(json_object_get(group->result, "distances")))
            continue;
        if (group->is_wanted && !run->tool->json) {
            json_t *named = json_pack("{s:s}", "name", group->name);
            progress_end(&run->bar);
            fact_line(run->tool, named, NULL,
                      "{name}: the markers were placed anew between takes; each take is calibrated by itself");
            json_decref(named);
        }
        group->is_wanted = 0; /* said once */
        if (!plan_calibrate_alone(&run->plan, i))
            return 0;
        run->groups[run->group_count++] = run->plan.takes[i].calibration;
    }
    return 1;
}

static void run_takes(batch_run *run)
{
    batch_pool pool = run->limits;
    int threads = pool_workers(run->tool, 65536);
    pool.workers = pool_workers(run->tool, run->count);
    run->setup.threads = threads / pool.workers;
    pool.is_reused = 1;
    pool.run = solve_number;
    pool.settle = settle_take;
    pool.tick = draw;
    pool.context = run;
    (void)pool_run(&pool, run->count);
}

/* ---- the plan of this shard ------------------------------------------------------------------------------------------------------------ */

static int by_size(const void *a, const void *b)
{
    const batch_take *x = *(const batch_take *const *)a, *y = *(const batch_take *const *)b;
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes ? 1 : (x > y) - (x < y);
}

/* The largest first: whoever is busy last is busy with little. */
static int choose_takes(batch_run *run)
{
    size_t count = (size_t)run->plan.count;
    const batch_take **sorted = calloc(count + 1, sizeof *sorted);
    run->is_chosen = calloc(count + 1, 1);
    run->order = calloc(count + 1, sizeof *run->order);
    run->groups = calloc(count + 1, sizeof *run->groups);
    int has_memory =
        sorted && run->is_chosen && run->order && run->groups && shards_choose(&run->plan, run->shard, run->is_chosen);
    for (int i = 0; i < run->plan.count && has_memory; i++) {
        const batch_take *take = &run->plan.takes[i];
        if (!run->is_chosen[i])
            continue;
        sorted[run->count++] = take;
        run->bytes += take->bytes;
        if (take->calibration != ULNA_NONE && !run->plan.calibrations[take->calibration].is_wanted) {
            run->plan.calibrations[take->calibration].is_wanted = 1;
            run->groups[run->group_count++] = take->calibration;
        }
    }
    if (has_memory)
        qsort(sorted, (size_t)run->count, sizeof *sorted, by_size);
    for (int i = 0; i < run->count && has_memory; i++)
        run->order[i] = (int)(sorted[i] - run->plan.takes);
    free(sorted);
    return has_memory;
}

static int make_plan(batch_run *run, const char *source, const batch_common *common)
{
    int code = folder_is(source) ? plan_folder(run->object, source, common, &run->plan)
                                 : plan_manifest(run->object, source, common, &run->plan);
    if (code)
        return code;
    if (!plan_finish(&run->plan) || !choose_takes(run))
        return cli_out_of_memory();
    return CLI_DONE;
}

/* ---- tables ------------------------------------------------------------------------------------------------------------------------------ */

/* Written in the work folder, then moved, so that nothing else is ever in OUT. */
static int write_tables(batch_run *run, const char *work_folder, const json_t *rows, const json_t *counts)
{
    static const char *const names[] = {"results.csv", "results.jsonl", "index.html"};
    ulna_error error;
    ulna_error_clear(&error);
    if (results_write(work_folder, rows, &error) || overview_write(work_folder, rows, counts, &error))
        return files_fail(run->object, run->output, &error);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!move_file(run, work_folder, names[i], names[i]))
            return files_fail(run->object, run->output, &run->failure);
    return CLI_DONE;
}

static int write_plan(batch_run *run, const char *work_folder)
{
    ulna_error error;
    char *path = folder_join(work_folder, "plan.csv");
    ulna_error_clear(&error);
    ulna_status status = path ? plan_write(&run->plan, path, &error) : cli_no_memory(&error);
    free(path);
    if (status != ULNA_OK)
        return files_fail(run->object, run->output, &error);
    return move_file(run, work_folder, "plan.csv", "plan.csv") ? CLI_DONE
                                                               : files_fail(run->object, run->output, &run->failure);
}

/* ---- the summary --------------------------------------------------------------------------------------------------------------------------- */

static void say_summary(const batch_run *run, json_t *counts)
{
    const cli *tool = run->tool;
    put_count(counts, "kept", run->kept);
    put_number(counts, "elapsed_seconds", cli_seconds() - run->begun);
    put_text(counts, "output", run->output);
    fact_line(
        tool, counts, NULL,
        "{takes} take{takes:/s}: {done} solved[{failed?}, {failed} failed][{missing?}, {missing} not yet solved][{kept?}; {kept} of "
        "them in an earlier run]");
    fact_line(tool, counts, "verdicts", "{trust} can be trusted, {look} to look at, {reject} not to be used");
    fact_line(tool, counts, "time", "{elapsed_seconds%.1f} s, {frames} frames");
}

static void say_tables(const batch_run *run, const json_t *counts)
{
    fact_line(run->tool, counts, "wrote", "{output}/index.html, results.csv, results.jsonl");
}

/* Takes of all shards that failed. */
static void say_failures(batch_run *run, const json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (!run->tool->json && strcmp(json_string_value(json_object_get(row, "status")), "failed") == 0)
            say_take(run, row, 0);
    }
}

/* The rows of the takes that this process had, or of all. */
static json_t *rows_of(const batch_run *run, const json_t *lines)
{
    json_t *all = results_rows(run->output, &run->plan, lines), *own = json_array(), *row;
    size_t i;
    json_array_foreach(all, i, row)
    {
        if (!run->is_chosen || run->is_chosen[i])
            json_array_append(own, row);
    }
    json_decref(all);
    return own;
}

/* The exit code. A verdict counts as for `ulna solve`; lost frames alone do not: a few are in most databases. */
static int code_of(const batch_run *run, const json_t *counts)
{
    return run->plan.unread || json_integer_value(json_object_get(counts, "failed")) ||
                   json_integer_value(json_object_get(counts, "missing")) ||
                   json_integer_value(json_object_get(counts, "reject"))
               ? CLI_PARTLY
               : CLI_DONE;
}

static int finish(batch_run *run)
{
    json_t *rows = rows_of(run, run->journal.lines), *counts = json_object();
    int code = CLI_DONE;
    results_count(rows, counts);
    progress_end(&run->bar);
    if (run->shard.count == 1 && !run->is_stopped)
        code = write_tables(run, run->journal.work_folder, rows, counts);
    plan_put_skipped(&run->plan, counts);
    say_summary(run, counts);
    plan_tell_skipped(run->tool, &run->plan);
    if (!code && run->shard.count == 1 && !run->is_stopped)
        say_tables(run, counts);
    if (run->shard.count > 1)
        cli_say(run->tool, "shard %d of %d; `ulna batch --merge %s` makes the tables\n", run->shard.number,
                run->shard.count, run->output);
    if (run->is_stopped)
        cli_complain("stopped: %s; with room to write, the same command goes on", run->failure.message);
    else if (pool_signal)
        cli_complain("stopped by signal %d: %d of %d takes are done; the same command goes on", (int)pool_signal,
                     run->done + run->failed, run->count);
    if (run->tool->json) {
        json_t *line = json_object();
        json_object_set(line, "summary", counts);
        if (run->is_stopped)
            json_object_set_new(line, "error", cli_json_error(&run->failure));
        print_line(line);
        json_decref(line);
    }
    if (!code)
        code = code_of(run, counts);
    json_decref(rows);
    json_decref(counts);
    return run->is_stopped ? CLI_IO : code;
}

/* ---- the commands ---------------------------------------------------------------------------------------------------------------------------- */

/* A folder of somebody else is not filled: outputs might replace its files. */
static int check_output(const cli *tool, const char *output)
{
    DIR *open = opendir(output);
    struct dirent *entry;
    int has_journal = 0, is_empty = 1;
    while (open && (entry = readdir(open)) != NULL) {
        has_journal |= strcmp(entry->d_name, "journal") == 0;
        is_empty &= entry->d_name[0] == '.';
    }
    if (open)
        (void)closedir(open);
    return is_empty || has_journal
               ? CLI_DONE
               : cli_usage(tool, "'%s' has files that are not of a batch: give a new folder to --output", output);
}

static int solve_all(batch_run *run, int is_slurm, int tasks)
{
    int code = check_output(run->tool, run->output);
    if (!code)
        code = folder_make(run->object, run->output);
    if (!code)
        code = journal_open(run->tool, run->object, run->output, run->shard, &run->journal);
    if (!code)
        code = write_plan(run, run->journal.work_folder);
    if (!code && is_slurm) {
        code = slurm_write(run->tool, run->object, run->output, tasks);
        plan_put_skipped(&run->plan, run->object);
        plan_tell_skipped(run->tool, &run->plan);
        code = !code && run->plan.unread ? CLI_PARTLY : code;
    }
    if (!code && !is_slurm) {
        run->setup.work_folder = run->journal.work_folder;
        run->begun = cli_seconds();
        pool_catch_signals();
        progress_begin(&run->bar, run->tool);
        run_calibrations(run);
        if (split_groups(run)) {
            run_calibrations(run);
            run_takes(run);
            code = finish(run);
        } else
            code = cli_out_of_memory();
        json_object_clear(run->object);
    }
    journal_close(&run->journal);
    if (pool_signal) {
        fflush(stdout);
        signal(pool_signal, SIG_DFL);
        (void)raise(pool_signal);
    }
    return code;
}

static void forget_key(void *context, const char *key)
{
    (void)context;
    (void)key;
}

/* What an earlier run has done, for the same input: as the run finds out that goes on, but nothing is solved or written. */
static int find_settled(batch_run *run, batch_settled *settled)
{
    run->journal.lines = journal_read(run->output);
    if (json_object_size(run->journal.lines))
        for (int round = 0; round < 2; round++) { /* groups, and takes by themselves that were split off them */
            for (int i = 0; i < run->group_count; i++)
                run->plan.calibrations[run->groups[i]].result = calibrate_number(run, i, 0, forget_key, NULL);
            if (!round && !split_groups(run))
                return cli_out_of_memory();
        }
    for (int i = 0; i < run->plan.count; i++)
        settled[i] = run->is_chosen[i] ? BATCH_LEFT : BATCH_OTHERS;
    for (int i = 0; i < run->count; i++) {
        const json_t *known = known_line(run, &run->plan.takes[run->order[i]]);
        if (!known)
            continue;
        json_t *row = solve_number(run, i, 0, forget_key, NULL);
        const char *status = json_string_value(json_object_get(row, "status"));
        if (status && strcmp(status, "kept") == 0) {
            status = json_string_value(json_object_get(known, "status"));
            int is_done = strcmp(status, "done") == 0 || json_is_true(json_object_get(row, "is_earlier"));
            settled[run->order[i]] = is_done ? BATCH_DONE : BATCH_FAILED;
        }
        json_decref(row);
    }
    return CLI_DONE;
}

static int show_plan(batch_run *run)
{
    batch_settled *settled = calloc((size_t)run->plan.count + 1, sizeof *settled);
    int code = settled ? find_settled(run, settled) : cli_out_of_memory();
    if (!code)
        plan_show(run->tool, &run->plan, settled);
    for (int i = 0; i < run->plan.count && !code; i++)
        if (run->is_chosen[i] && run->plan.takes[i].problem)
            code = CLI_PARTLY;
    if (!code && run->plan.unread)
        code = CLI_PARTLY;
    json_decref(run->journal.lines);
    free(settled);
    return code;
}

static int check_merged(batch_run *run, const char *plan)
{
    ulna_error error;
    if (access(plan, F_OK) == 0)
        return CLI_DONE;
    if (folder_is(run->output))
        cli_fail(&error, ULNA_ERR_IO,
                 "is not the output folder of a batch, as it has no plan.csv: give what -o OUT named");
    else
        cli_fail(&error, ULNA_ERR_IO, "cannot open the folder: %s", strerror(errno == ENOTDIR ? ENOTDIR : ENOENT));
    return files_fail(run->object, run->output, &error);
}

/* Tables of what the journals have. */
static int merge(batch_run *run)
{
    char *plan = folder_join(run->output, "plan.csv"), *work_folder = folder_join(run->output, "journal/merge.work");
    const batch_common common = {.output = run->output};
    int code = plan && work_folder ? check_merged(run, plan) : cli_out_of_memory();
    if (!code)
        code = plan_manifest(run->object, plan, &common, &run->plan);
    if (!code)
        code = plan_finish(&run->plan) ? folder_make(run->object, work_folder) : cli_out_of_memory();
    if (!code) {
        json_t *lines = journal_read(run->output), *rows = rows_of(run, lines), *counts = json_object();
        run->begun = cli_seconds();
        results_count(rows, counts);
        code = write_tables(run, work_folder, rows, counts);
        say_failures(run, rows);
        say_summary(run, counts);
        if (!code)
            say_tables(run, counts);
        if (run->tool->json && !code)
            print_line(counts);
        code = code ? code : code_of(run, counts);
        journal_remove_tree(work_folder);
        json_decref(lines);
        json_decref(rows);
        json_decref(counts);
    }
    free(plan);
    free(work_folder);
    return code;
}

static int run_batch(batch_run *run)
{
    const cli *tool = run->tool;
    batch_common common;
    int tasks = 0;
    if (cli_value(tool, "merge")) {
        if (tool->given_count > 1)
            return cli_usage(tool, "--merge makes the tables of a folder, and goes with no other option: ulna batch "
                                   "--merge OUT");
        if (!tool->operand_count)
            return cli_usage(tool, "missing argument: ulna batch --merge OUT");
        run->output = tool->operands[0];
        return merge(run);
    }
    if (!tool->operand_count)
        return cli_usage(tool, "missing argument: ulna %s %s", tool->command->name, tool->command->operands);
    run->output = cli_value(tool, "output");
    common.output = run->setup.output = run->output;
    int code = options_read(tool, &common, &run->setup, &run->shard, &run->limits, &tasks);
    if (!code)
        code = options_check(tool, run->object, &common, &run->setup);
    if (!code)
        code = make_plan(run, tool->operands[0], &common);
    if (code)
        return code;
    return cli_value(tool, "dry-run") ? show_plan(run) : solve_all(run, tasks > 0, tasks);
}

static int batch_main(cli *tool)
{
    batch_run run = {.tool = tool, .object = json_object(), .journal = {.file = -1, .lock = -1}};
    ulna_error_clear(&run.failure);
    int code = run_batch(&run);
    if (tool->json && code != CLI_USAGE && json_object_size(run.object))
        print_line(run.object);
    json_decref(run.object);
    plan_release(&run.plan);
    free(run.is_chosen);
    free(run.order);
    free(run.groups);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"output", 'o', "FOLDER",
     "Where motions, reports and tables go: a new folder, or that of an earlier run, which is then continued."},
    {"skeleton", 's', "FILE",
     "Skeleton of all takes for which neither their folders nor the manifest give one. With a "
     "folder: of all takes."},
    {"attach", 'a', "FILE",
     "Where the markers are, as for `ulna solve`, for takes without a table of their own. Default: found by a calibration for each "
     "subject and session, unless the skeleton has markers or the recording has key points."},
    {"formats", 0, "A,B,...",
     "Formats of the motions: extensions such as amc,bvh,glb. Default: that of the skeleton (amc, bvh or glb), else csv."},
    {"options", 0, "TEXT",
     "Options of `ulna solve` for all takes, such as \"--bounds skeleton --loss square\". Names of files in it are relative to the "
     "current folder. The column options of a manifest adds to it."},
    {"no-reports", 0, NULL, "Write no report for each take; the table and the overview are written."},
    {"dry-run", 0, NULL,
     "Show the takes that are left to solve, their skeletons and markers, those that cannot be solved, and how many are done. Nothing is "
     "solved or written."},
    {"retry-failed", 0, NULL, "Also solve takes again that failed before. By default only what is new or changed."},
    {"isolate", 0, "on|off",
     "on (default): takes are solved in processes apart, one at a time in each, so that one that crashes, hangs or uses up memory fails "
     "alone. off: in threads of one process, without limits."},
    {"time-limit", 0, "S",
     "Longest time for a take or a calibration, in seconds; then it fails. Default: 600. 0: no limit."},
    {"memory", 0, "MB",
     "Most memory for a take or a calibration, in megabytes; then it fails. Default: 4096. 0: no limit."},
    {"shard", 0, "K/N",
     "Solve only part K of N, from 1; the parts have about the same size of recordings. Default: as an array scheduler says "
     "(SLURM_ARRAY_TASK_ID and the variables of SGE, LSF, AWS Batch and Google), else all. /N: K from the scheduler, where it does not "
     "say N (PBS_ARRAY_INDEX, JOB_COMPLETION_INDEX of Kubernetes)."},
    {"slurm", 0, "N",
     "Write job scripts for Slurm: an array of N shards, each with --threads processors (default: 1), and a job that makes the tables "
     "when all have ended. Nothing is solved."},
    {"slurm-options", 0, "TEXT",
     "With --slurm: options of sbatch for these scripts, such as \"--partition=long --time=2:00:00\"."},
    {"submit", 0, NULL, "With --slurm: submit the scripts with sbatch."},
    {"merge", 0, NULL,
     "Make table and overview of an output folder from the journals of all shards: ulna batch --merge OUT."},
    {0},
};

const cli_command batch_command = {
    .name = "batch",
    .operands = "FOLDER|MANIFEST -o OUT",
    .operand = "a folder of takes or a manifest",
    .least = 0, /* run_batch says which one is missing */
    .most = 1,
    .summary = "solve whole databases of takes, on one machine or a cluster",
    .text =
        "Solves all C3D and TRC files in a folder and below, or the takes of a manifest. The skeleton of a take is the file whose name "
        "begins the take's name (02.asf for 02_01.c3d), or the only skeleton, in the folder of the take or above. A BVH or glTF "
        "with exactly the name of a take is a motion of it, and its skeleton only if there is no other. A table of markers is "
        "found in the same way, as NAME-markers.csv; without one, the offsets of the markers are calibrated once for each subject and "
        "session (folder). A manifest is a CSV table whose heading names the columns take, skeleton, attach, subject, options (of `ulna "
        "solve`) and name (of the outputs), in any order; only take is needed.\n\n"
        "OUT receives the motions and reports, in the folders that the takes had, results.csv and results.jsonl with a row for each take, "
        "and index.html, which shows the worst takes first. A take that fails is listed with the reason, and the others are solved. The "
        "results do not depend on threads, shards or order.\n\n"
        "A run can be stopped or killed at any time. The same command then goes on: a take is done when its files and its line in "
        "OUT/journal are there for the same bytes of all inputs, the same options and the same version. Files of a take stay until new ones "
        "replace them, also if it fails. Two batches cannot write to one "
        "folder at once, except for different shards of one number.\n\n"
        "With --json, a line with an object is printed for each take as it ends, and a last one with a summary. The exit code is 1 if a "
        "take failed, is missing or has the verdict reject (its result should not be used), or if a folder cannot be read, and 4 if the output cannot be written. With --quiet, a line on standard error names each take that "
        "failed, also in an earlier run. docs/cluster.md explains the rest.",
    .options = options,
    .reads = "skeleton attach OPERANDS", /* it writes to a folder that has nothing of others */
    .examples = "ulna batch database -o solved\tall takes of a folder\n"
                "ulna batch database -o solved --dry-run\twhat would be solved, and what would fail\n"
                "ulna batch takes.csv -o solved --formats amc,glb\ta manifest; motions in two formats\n"
                "ulna batch database -o solved --retry-failed\tfailed ones again, as after an update\n"
                "ulna batch database -o solved --slurm 32 --submit\ton a cluster\n"
                "ulna batch --merge solved\ttables of what the shards have done",
    .run = batch_main,
};
