/* Takes and calibrations of one run: what is done for each, what is shown of it, and what is kept. */
#include "cli/batch/run.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ulna/ulna.h"

/* ---- what is shown while it runs ------------------------------------------------------------------------------------------------ */

void run_print_line(const json_t *row)
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
    double part = run->bytes > 0 ? fmin(1, run->bytes_done / run->bytes) : 0, seconds = progress_seconds(&run->bar);
    double rest = part > 0 ? seconds * (1 - part) / part : 0;
    if (part > 0.01 && rest >= 90)
        snprintf(left, sizeof left, ", %.0f min left", rest / 60);
    else if (part > 0.01)
        snprintf(left, sizeof left, ", %.0f s left", rest);
    snprintf(text, sizeof text, "%d of %d takes, %d failed, %.0f frames/s%s", run->done + run->failed, run->count,
             run->failed, (double)run->frames / seconds, left);
    progress_show(&run->bar, part, text);
}

static void draw_calibrations(void *context)
{
    batch_run *run = context;
    char text[60];
    int next = run->calibrated < run->group_count ? run->calibrated + 1 : run->group_count;
    snprintf(text, sizeof text, "calibrating %d of %d", next, run->group_count);
    progress_show(&run->bar, (double)run->calibrated / run->group_count, text);
}

void run_say_take(batch_run *run, json_t *row, int is_done)
{
    put_text(row, "words", results_words(row));
    if (run->tool->quiet && !is_done)
        cli_complain("%s: %s", json_string_value(json_object_get(row, "take")),
                     json_string_value(json_object_get(row, "message")));
    progress_end(&run->bar);
    fact_line(
        run->tool, row, NULL,
        is_done
            ? "{status} {take}: {frames} frames, {rms_mm%.2f} mm, {words}, {seconds%.2f} s[{placed_anew?}, calibrated by "
              "itself: its markers were placed anew]"
            : "{status} {take}: {message}[{older_files?} (files of an earlier result are kept)]");
    fflush(stdout);
}

/* A line for each take; on a terminal, where there is a bar, only for those that failed. With --quiet, which has no summary, also for
 * those that failed in an earlier run. Problems of the plan have been told together. */
static void tell_take(batch_run *run, json_t *row, int is_kept, int is_problem)
{
    int is_done = row_is(row, "done");
    run->done += is_done;
    run->failed += !is_done;
    run->kept += is_kept;
    json_t *shown = json_object();
    json_object_set(shown, "take", json_object_get(row, "take"));
    json_object_update(shown, (json_t *)(size_t)row);
    results_name_older(run->output, shown);
    put_flag(shown, "kept", is_kept);
    if (run->tool->json)
        run_print_line(shown);
    else if (run->tool->quiet || !(is_kept || is_problem || (run->bar.is_shown && is_done)))
        run_say_take(run, shown, is_done);
    json_decref(shown);
}

/* ---- files in their place --------------------------------------------------------------------------------------------------------- */

/* What cannot be written now cannot be written for the next take either, unless it is the name that cannot be. */
static int stop(batch_run *run, const char *path, int number)
{
    run->is_stopped |= !files_is_name_wrong(number);
    cli_fail(&run->failure, cli_io_status(number), "%.150s: cannot write the file: %s", path, strerror(number));
    return 0;
}

static void work(batch_run *run, const batch_pool *pool, int count)
{
    int reason = count ? pool_run(pool, count) : 0;
    if (!reason)
        return;
    run->is_stopped = 1;
    cli_fail(&run->failure, reason == ENOMEM ? ULNA_ERR_MEMORY : ULNA_ERR_IO, "cannot start a process: %s",
             strerror(reason));
}

/* The same where a process says so. */
static int is_unwritten(batch_run *run, const json_t *row)
{
    if (!json_is_true(json_object_get(row, "is_output")) || !row_has(row, "error", "io"))
        return 0;
    run->is_stopped = 1;
    cli_fail(&run->failure, ULNA_ERR_IO, "%s", json_string_value(json_object_get(row, "message")));
    return 1;
}

int run_move_file(batch_run *run, const char *folder, const char *from_name, const char *name)
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
        is_moved = is_moved && from && run_move_file(run, folder, from + 1, name);
        free(from);
    }
    free(folder);
    return is_moved;
}

/* ---- takes ------------------------------------------------------------------------------------------------------------------------- */

int run_find_known(batch_run *run)
{
    run->known = calloc((size_t)run->count + 1, sizeof *run->known);
    for (int i = 0; i < run->count && run->known; i++)
        run->known[i] = json_incref(journal_line(run->journal.lines, &run->plan.takes[run->order[i]]));
    return run->known != NULL;
}

/* Is a calibration missing for a reason that is not about the recordings, so that the next run may have it? */
static int is_undecided(const json_t *result)
{
    return !result || (row_is(result, "failed") && !json_object_get(result, "key"));
}

/*
 * Calibrated by itself, where the markers of this take are not where they were in those that its group was calibrated with. NULL: they
 * are, or its recording cannot be calibrated alone. free() the name of the group.
 */
static json_t *calibrate_apart(const batch_run *run, int index, files_kept *kept, int slot, batch_calibration *alone)
{
    const batch_take *take = &run->plan.takes[index];
    const batch_calibration *group = &run->plan.calibrations[take->calibration];
    if (group->take_count < 2 || !placement_differs(json_object_get(group->result, "distances"), kept, NULL))
        return NULL;
    *alone = (batch_calibration){.name = plan_name_alone(take), .takes = &index, .take_count = 1};
    if (!alone->name)
        return take_failed("memory", "out of memory");
    json_t *result = calibration_find(&run->setup, &run->plan, alone, slot);
    alone->takes = NULL;
    if (row_is(result, "done") || is_undecided(result))
        return result;
    json_decref(result);
    return NULL;
}

/* Of a calibration that is undecided. */
static json_t *fail_uncalibrated(const char *name, const json_t *result)
{
    const char *error = json_string_value(json_object_get(result, "error"));
    const char *message = json_string_value(json_object_get(result, "message"));
    json_t *row =
        take_failed(error ? error : "unknown", "no calibration of %s: %s", name, message ? message : "it did not end");
    json_object_set(row, "is_output", json_object_get(result, "is_output"));
    return row;
}

/*
 * With calibrated offsets, the table of the plan, or none. Where the recordings of its session cannot be calibrated, none: `ulna solve`
 * then calibrates on the take itself, or says what is wrong with this take.
 */
json_t *run_solve(void *context, int index, int slot, take_key *tell, void *tell_context)
{
    const batch_run *run = context;
    const batch_take *take = &run->plan.takes[run->order[index]];
    const batch_calibration *group = take->calibration == ULNA_NONE ? NULL : &run->plan.calibrations[take->calibration];
    if (take->problem)
        return take_failed(take->error, "%s", take->problem);
    if (group && is_undecided(group->result))
        return fail_uncalibrated(group->name, group->result);
    batch_calibration alone = {0};
    int is_calibrated = group && row_is(group->result, "done");
    files_kept kept = files_keep(take->path);
    json_t *own = is_calibrated ? calibrate_apart(run, run->order[index], &kept, slot, &alone) : NULL;
    if (own && is_undecided(own)) {
        json_t *row = fail_uncalibrated(take->name, own);
        files_kept_release(&kept);
        json_decref(own);
        free(alone.name);
        return row;
    }
    char *table = is_calibrated ? calibration_path(run->output, own ? &alone : group, ".csv") : NULL;
    char *skeleton =
        table && !*take->skeleton ? calibration_path(run->output, own ? &alone : group, BATCH_SKELETON) : NULL;
    take_markers markers = {.skeleton = skeleton ? skeleton : take->skeleton,
                            .table = table ? table : take->attach,
                            .calibration = own     ? own
                                           : table ? group->result
                                                   : NULL};
    json_t *row = take_solve(&run->setup, take, &markers, &kept, run->known[index], slot, tell, tell_context);
    files_kept_release(&kept);
    if (json_object_get(row, "verdict")) {
        int is_refused = group && row_is(group->result, "failed");
        put_text(row, "calibrated_on", own || take->is_apart || is_refused ? "take" : is_calibrated ? "session" : "");
        put_flag(row, "placed_anew", own || take->is_apart);
    }
    json_decref(own);
    free(alone.name);
    free(skeleton);
    free(table);
    return row;
}

/* `known`: what the journal has of the take so far, or NULL. Later than that, also where a clock was set back. */
static void complete_row(const batch_run *run, json_t *row, const batch_take *take, const char *key,
                         const json_t *known)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    double time = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
    put_text(row, "take", take->name);
    put_text(row, "subject", take->subject);
    put_text(row, "key", key);
    put_text(row, "plan", take_plan_key(take).text);
    take_put_setup(&run->setup, row);
    put_text(row, "version", ulna_version());
    put_number(row, "time", fmax(time, json_number_value(json_object_get(known, "time")) + 1e-3));
    json_object_del(row, "is_output");
}

static int write_line(batch_run *run, json_t *row)
{
    int is_written = journal_add(&run->journal, row, &run->failure) == ULNA_OK;
    run->is_stopped |= !is_written;
    return is_written;
}

/* The line in the journal holds. If that is one of a failure and the result before it holds, this one is the last again. */
static int keep_take(batch_run *run, const batch_take *take, const char *key, json_t *known, int is_earlier)
{
    const int is_new = is_earlier || !take_is_of_plan(take, known) || !take_is_of_setup(&run->setup, known);
    json_t *line = is_new ? json_copy(is_earlier ? journal_finished(known) : known) : json_incref(known);
    if (is_new)
        complete_row(run, line, take, key, known);
    int goes_on = !is_new || write_line(run, line);
    if (goes_on)
        tell_take(run, line, 1, 0);
    json_decref(line);
    return goes_on;
}

/* Files of an earlier result are about to be replaced, which takes more than one step: from now on its line does not hold. */
static int announce(batch_run *run, const batch_take *take, json_t *known)
{
    if (!journal_finished(known))
        return 1;
    json_t *row =
        json_pack("{s:s, s:s}", "status", "missing", "message", "the batch was stopped while it replaced the files");
    complete_row(run, row, take, "", known);
    int is_written = write_line(run, row);
    json_decref(row);
    if (is_written && journal_sync(&run->journal, &run->failure) != ULNA_OK) {
        run->is_stopped = 1;
        return 0;
    }
    return is_written;
}

/* Of a take that fails, the files that it has stay, and what is known of them. What the plan says is wrong with it is not for the
 * journal: it is looked at again in each run. */
static int settle_take(void *context, int index, int slot, const char *key, json_t *row)
{
    batch_run *run = context;
    const batch_take *take = &run->plan.takes[run->order[index]];
    json_t *known = run->known[index];
    int goes_on = 1;
    if (row_is(row, "kept")) {
        run->bytes -= take->bytes; /* the time left is that of the others */
        goes_on = keep_take(run, take, key, known, json_is_true(json_object_get(row, "is_earlier")));
        json_decref(row);
        return goes_on;
    }
    run->bytes_done += take->bytes;
    if (is_unwritten(run, row)) {
        json_decref(row);
        return 0;
    }
    if (row_is(row, "done")) {
        goes_on = announce(run, take, known) && move_outputs(run, take, slot, row);
        batch_stage("moved", take->name);
        if (!goes_on && !run->is_stopped) {
            json_decref(row);
            row = take_failed("io", "%s", run->failure.message);
            goes_on = 1;
            key = ""; /* the next run tries it again */
        }
    } else
        json_object_set(row, "earlier", journal_finished(known));
    complete_row(run, row, take, key, journal_line(run->journal.lines, take));
    goes_on = goes_on && (take->problem || write_line(run, row));
    if (goes_on) {
        run->frames += json_integer_value(json_object_get(row, "frames"));
        tell_take(run, row, 0, take->problem != NULL);
    }
    json_decref(row);
    return goes_on;
}

/* ---- calibrations -------------------------------------------------------------------------------------------------------------------- */

json_t *run_calibrate(void *context, int index, int slot, take_key *tell, void *tell_context)
{
    const batch_run *run = context;
    (void)tell;
    (void)tell_context;
    return calibration_find(&run->setup, &run->plan, &run->plan.calibrations[run->groups[index]], slot);
}

/* Which takes a session is calibrated without, and why. */
static void note_calibration(batch_run *run, const batch_calibration *group)
{
    const char *message = json_string_value(json_object_get(group->result, "message"));
    size_t i;
    json_t *row;
    if (json_is_true(json_object_get(group->result, "table_changed")))
        files_note_text(
            run->notes,
            "%s: its table of markers in the output folder was changed and is made again; give a table of your own with --attach",
            group->name);
    if (group->take_count < 2 || is_undecided(group->result))
        return; /* what is wrong with a single take, or with all of them, they say themselves */
    if (row_is(group->result, "failed"))
        files_note_text(run->notes, "%s: its takes cannot be calibrated together (%s); each is calibrated by itself",
                        group->name, message ? message : "");
    else if (row_is(group->result, "done"))
        json_array_foreach(json_object_get(group->result, "left_out"), i, row)
        {
            files_note_text(run->notes, "%s: calibrated without %s: %s", group->name,
                            json_string_value(json_object_get(row, "take")),
                            json_string_value(json_object_get(row, "message")));
        }
}

void run_load_notes(batch_run *run)
{
    for (int i = 0; i < run->plan.calibration_count; i++) {
        batch_calibration *group = &run->plan.calibrations[i];
        group->result = calibration_record(run->output, group);
        note_calibration(run, group);
    }
}

static int settle_calibration(void *context, int index, int slot, const char *key, json_t *row)
{
    batch_run *run = context;
    batch_calibration *group = &run->plan.calibrations[run->groups[index]];
    (void)slot;
    (void)key;
    group->result = row;
    run->calibrated++;
    return !is_unwritten(run, row);
}

void run_calibrations(batch_run *run)
{
    batch_pool pool = run->limits;
    pool.workers = pool_workers(run->tool, run->group_count);
    pool.run = run_calibrate; /* not reused: each keeps its own record, of a failure too, which must be its own fault */
    pool.settle = settle_calibration;
    pool.tick = draw_calibrations;
    pool.context = run;
    run->calibrated = 0;
    work(run, &pool, run->group_count);
    for (int i = 0; i < run->group_count; i++)
        note_calibration(run, &run->plan.calibrations[run->groups[i]]);
}

int run_split_groups(batch_run *run)
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

void run_takes(batch_run *run)
{
    batch_pool pool = run->limits;
    int threads = pool_workers(run->tool, 65536);
    pool.workers = pool_workers(run->tool, run->count);
    run->setup.threads = threads / pool.workers;
    pool.is_reused = 1;
    pool.run = run_solve;
    pool.settle = settle_take;
    pool.tick = draw;
    pool.context = run;
    progress_end(&run->bar);
    plan_tell_problems(run->tool, &run->plan, run->is_chosen, "failed");
    progress_restart(&run->bar); /* its time left is that of the takes */
    work(run, &pool, run->count);
}
