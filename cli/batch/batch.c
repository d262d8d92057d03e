/* ulna batch: whole databases of takes, in processes of their own, with a journal, so that a second run does only the rest. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/run.h"

/* ---- the plan of this shard ------------------------------------------------------------------------------------------------------------ */

static int by_problem_and_size(const void *a, const void *b)
{
    const batch_take *x = *(const batch_take *const *)a, *y = *(const batch_take *const *)b;
    if (!x->problem != !y->problem)
        return x->problem ? -1 : 1;
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes ? 1 : (x > y) - (x < y);
}

/* Those with a problem first, so that they count from the beginning; then the largest: whoever is busy last is busy with little. */
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
        qsort(sorted, (size_t)run->count, sizeof *sorted, by_problem_and_size);
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
        if (!run_move_file(run, work_folder, names[i], names[i]))
            return files_fail(run->object, run->output, &run->failure);
    return CLI_DONE;
}

static int write_plan(batch_run *run, const char *source, const char *work_folder)
{
    ulna_error error;
    char *path = folder_join(work_folder, "plan.csv"), *skipped = folder_join(work_folder, "skipped.json");
    int is_own =
        plan_is_own(run->output, source); /* which does not say what was skipped on the way to it: that stays */
    ulna_error_clear(&error);
    ulna_status status = path && skipped ? plan_write(&run->plan, path, &error) : cli_no_memory(&error);
    if (status == ULNA_OK && !is_own)
        status = plan_save_skipped(&run->plan, skipped, &error);
    free(path);
    free(skipped);
    if (status != ULNA_OK)
        return files_fail(run->object, run->output, &error);
    if ((!is_own && !run_move_file(run, work_folder, "skipped.json", "journal/skipped.json")) ||
        !run_move_file(run, work_folder, "plan.csv", "plan.csv"))
        return files_fail(run->object, run->output, &run->failure);
    return CLI_DONE;
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
    fact_line(run->tool, counts, "wrote", "{output}/index.html, {output}/results.csv, {output}/results.jsonl");
}

/* Takes of all shards that failed. */
static void say_failures(batch_run *run, const json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        if (!run->tool->json && row_is(row, "failed"))
            run_say_take(run, row, 0);
    }
}

/* The rows of the takes that this process had, or of all. */
static json_t *rows_of(const batch_run *run, const json_t *lines)
{
    const batch_setup *setup = run->is_chosen ? &run->setup : NULL;
    json_t *all = results_rows(run->output, &run->plan, setup, lines), *own = json_array(), *row;
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
    json_object_set(counts, "calibration_notes", run->notes);
    say_summary(run, counts);
    files_print_notes(run->tool, run->notes);
    plan_tell_skipped(run->tool, &run->plan);
    if (!code && run->shard.count == 1 && !run->is_stopped)
        say_tables(run, counts);
    if (run->shard.count > 1)
        cli_say(run->tool, "shard %d of %d; `ulna batch --merge %s` makes the tables\n", run->shard.number,
                run->shard.count, run->output);
    if (run->is_stopped)
        cli_complain("stopped: %s; once that is mended, the same command goes on", run->failure.message);
    else if (pool_signal)
        cli_complain("%s: %d of %d takes have ended; the same command goes on",
                     pool_signal == SIGINT    ? "interrupted"
                     : pool_signal == SIGTERM ? "asked to end (SIGTERM)"
                                              : "the terminal was closed (SIGHUP)",
                     run->done + run->failed, run->count);
    if (run->tool->json) {
        json_t *line = json_object();
        json_object_set(line, "summary", counts);
        if (run->is_stopped)
            json_object_set_new(line, "error", cli_json_error(&run->failure));
        run_print_line(line);
        json_decref(line);
    }
    if (!code)
        code = code_of(run, counts);
    json_decref(rows);
    json_decref(counts);
    return !run->is_stopped ? code : run->failure.status == ULNA_ERR_MEMORY ? CLI_PARTLY : CLI_IO;
}

/* ---- the commands ---------------------------------------------------------------------------------------------------------------------------- */

/* A folder of somebody else is not filled: outputs might replace its files. */
static int check_output(const cli *tool, const char *output)
{
    char *lock = folder_join(output, "journal/lock");
    DIR *open = opendir(output);
    struct dirent *entry;
    int is_empty = 1;
    while (open && (entry = readdir(open)) != NULL) /* a batch that has just begun has only its journal */
        is_empty &= entry->d_name[0] == '.' || strcmp(entry->d_name, "journal") == 0;
    if (open)
        (void)closedir(open);
    int has_lock = lock && access(lock, F_OK) == 0; /* after the list, as the lock comes before the rest */
    free(lock);
    return is_empty || has_lock
               ? CLI_DONE
               : cli_usage(tool, "'%s' has files that are not of a batch: give a new folder to --output", output);
}

static int solve_all(batch_run *run, int is_slurm, int tasks)
{
    int code = check_output(run->tool, run->output);
    if (!code)
        code = folder_make(run->object, run->output);
    if (!code)
        code = journal_open(run->object, run->output, run->shard, &run->journal);
    if (!code)
        code = write_plan(run, run->tool->operands[0], run->journal.work_folder);
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
        const int has_memory = run_find_known(run);
        if (has_memory)
            run_calibrations(run);
        if (has_memory && (run->is_stopped || run_split_groups(run))) {
            if (!run->is_stopped && !pool_signal)
                run_calibrations(run);
            if (!run->is_stopped && !pool_signal)
                run_takes(run);
            code = finish(run);
        } else
            code = cli_out_of_memory();
        json_object_clear(run->object);
    }
    if (pool_signal) {
        journal_close(&run->journal);
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
    int code = journal_read(run->object, run->output, &run->journal.lines);
    if (!code && !run_find_known(run))
        code = cli_out_of_memory();
    if (code)
        return code;
    if (json_object_size(run->journal.lines))
        for (int round = 0; round < 2; round++) { /* groups, and takes by themselves that were split off them */
            for (int i = 0; i < run->group_count; i++)
                run->plan.calibrations[run->groups[i]].result = run_calibrate(run, i, 0, forget_key, NULL);
            if (!round && !run_split_groups(run))
                return cli_out_of_memory();
        }
    for (int i = 0; i < run->plan.count; i++)
        settled[i] = run->is_chosen[i] ? BATCH_LEFT : BATCH_OTHERS;
    for (int i = 0; i < run->count; i++) {
        const json_t *known = run->known[i];
        if (!known)
            continue;
        json_t *row = run_solve(run, i, 0, forget_key, NULL);
        if (row_is(row, "kept")) {
            int is_done = row_is(known, "done") || json_is_true(json_object_get(row, "is_earlier"));
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
        plan_show(run->tool, &run->plan, settled, run->journal.lines);
    for (int i = 0; i < run->plan.count && !code; i++)
        if (run->is_chosen[i] && run->plan.takes[i].problem)
            code = CLI_PARTLY;
    if (!code && run->plan.unread)
        code = CLI_PARTLY;
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
    char *skipped = folder_join(run->output, "journal/skipped.json");
    const batch_common common = {.output = run->output};
    int code = plan && work_folder && skipped ? check_merged(run, plan) : cli_out_of_memory();
    if (!code)
        code = plan_manifest(run->object, plan, &common, &run->plan);
    if (!code)
        code = plan_finish(&run->plan) ? CLI_DONE : cli_out_of_memory();
    const int lock = code ? -1 : journal_wait_for(run->output, "merge.lock", 0);
    if (!code)
        code = folder_make(run->object, work_folder);
    if (!code)
        code = journal_read(run->object, run->output, &run->journal.lines);
    if (!code) {
        json_t *rows = rows_of(run, run->journal.lines), *counts = json_object();
        run->begun = cli_seconds();
        results_count(rows, counts);
        code = write_tables(run, work_folder, rows, counts);
        plan_load_skipped(&run->plan, skipped);
        plan_put_skipped(&run->plan, counts);
        run_load_notes(run);
        json_object_set(counts, "calibration_notes", run->notes);
        say_failures(run, rows);
        say_summary(run, counts);
        files_print_notes(run->tool, run->notes);
        plan_tell_skipped(run->tool, &run->plan);
        if (!code)
            say_tables(run, counts);
        if (run->tool->json && !code)
            run_print_line(counts);
        code = code ? code : code_of(run, counts);
        if (json_integer_value(json_object_get(counts, "missing")))
            cli_complain(
                "not all takes are solved: run the batch or its shards again, which solve the rest, then merge again");
        journal_remove_tree(work_folder);
        json_decref(rows);
        json_decref(counts);
    }
    if (lock >= 0)
        (void)close(lock);
    free(plan);
    free(skipped);
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
    if (run->limits.is_isolated) {
        run->setup.seconds = run->limits.seconds;
        run->setup.megabytes = run->limits.megabytes;
    }
    if (!code)
        code = options_check(tool, run->object, &common);
    if (!code)
        code = make_plan(run, tool->operands[0], &common);
    if (code)
        return code;
    return cli_value(tool, "dry-run") ? show_plan(run) : solve_all(run, tasks > 0, tasks);
}

int batch_main(cli *tool)
{
    batch_run run = {.tool = tool, .object = json_object(), .notes = json_array(), .journal = {.file = -1, .lock = -1}};
    ulna_error_clear(&run.failure);
    int code = run_batch(&run);
    if (tool->json && code != CLI_USAGE && json_object_size(run.object))
        run_print_line(run.object);
    json_decref(run.object);
    json_decref(run.notes);
    for (int i = 0; i < run.count && run.known; i++)
        json_decref(run.known[i]);
    journal_close(&run.journal);
    plan_release(&run.plan);
    free(run.known);
    free(run.is_chosen);
    free(run.order);
    free(run.groups);
    return code;
}
