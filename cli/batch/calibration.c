/*
 * The calibration that takes of a session share: `ulna calibrate` with its largest takes. Its table and its record are kept in
 * OUT/calibration; shards wait for each other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/command.h"
#include "cli/calibrate/calibrate.h"
#include "cli/solve/solve.h"
#include "src/base/algorithms.h"

/* Takes that a calibration uses; more, where these are short. */
enum { TOGETHER = 3, SHORT = 2000 /* frames, of all of them */ };

char *calibration_path(const char *output, const batch_calibration *group, const char *ending)
{
    size_t size = strlen(output) + strlen(group->name) + strlen(ending) + 20;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/calibration/%s%s", output, group->name, ending);
    return path;
}

ulna_status batch_load_skeleton(const char *path, double unit_m, ulna_content *skeleton)
{
    return cli_with_memory(*path ? files_skeleton(path, unit_m, skeleton, NULL)
                                 : files_built_in(SOLVE_UNNAMED, skeleton, NULL));
}

/* As `ulna solve` chooses: not for key points, nor for a skeleton with this person's markers. An error says nothing about the session. */
static ulna_status choose_places(const batch_take *take, const solve_job *job, const ulna_content *skeleton,
                                 int *is_needed)
{
    ulna_content markers = ulna_content_empty(NULL);
    ulna_places_choice choice = {.is_calibration_needed = 1};
    ulna_status status = files_markers(take->path, job->markers_unit, &markers, NULL);
    if (status == ULNA_OK) {
        ulna_take_options options = ulna_take_options_for(skeleton, &markers);
        options.subject = job->subject;
        axes_apply(&job->axes, &options);
        if (!*take->skeleton)
            choice.is_calibration_needed = !solve_has_keypoints(&options);
        else if (ulna_places_choose(&options, &choice, NULL) == ULNA_ERR_MEMORY)
            status = ULNA_ERR_MEMORY;
        *is_needed = choice.is_calibration_needed;
    }
    ulna_content_release(&markers);
    return status;
}

/* The largest take that can be read decides; where none can, they say so themselves. */
static int is_calibration_needed(const batch_plan *plan, const batch_calibration *group)
{
    const batch_take *first = &plan->takes[group->takes[0]];
    ulna_content skeleton = ulna_content_empty(NULL);
    command_line line = command_begin("solve");
    solve_job job = {0};
    ulna_status status = ULNA_ERR_ARGUMENT;
    int is_needed = 1, no_memory = 0;
    command_add_pair(&line, "-s", *first->skeleton ? first->skeleton : SOLVE_UNNAMED);
    command_add_pair(&line, "-m", first->path);
    if (command_add_options(&line, first->shared) && !command_parse(&line) && !solve_read_options(&line.tool, &job) &&
        batch_load_skeleton(first->skeleton, job.skeleton_unit, &skeleton) == ULNA_OK) {
        for (int i = 0; i < group->take_count && status != ULNA_OK; i++) {
            status = choose_places(&plan->takes[group->takes[i]], &job, &skeleton, &is_needed);
            no_memory |= status == ULNA_ERR_MEMORY;
        }
        if (status != ULNA_OK) {
            (void)cli_with_memory(no_memory ? ULNA_ERR_MEMORY : ULNA_OK);
            is_needed = !*first->skeleton || !ulna_model_marker_count(skeleton.model);
        }
    }
    ulna_content_release(&skeleton);
    command_end(&line);
    return is_needed;
}

/* What a calibration leaves, in the order in which it is written: the record comes last, and where it is, so are the others. */
enum { TABLE, SKELETON, RECORD, FILES };

/* `ulna calibrate` with these takes of the plan. The exit code of its parsing; command_end it. */
static int make_command(const batch_plan *plan, const int *takes, int count, const char *const paths[FILES],
                        command_line *line)
{
    const batch_take *take = &plan->takes[takes[0]];
    *line = command_begin("calibrate");
    command_add_pair(line, "-s", take->skeleton);
    command_add_pair(line, "-o", paths[TABLE]);
    command_add_pair(line, "--model-out", *take->skeleton ? "" : paths[SKELETON]);
    command_add_pair(line, "--threads", "1");
    (void)command_add_options(line, take->shared);
    command_add_pair(line, "-m", take->path);
    for (int i = 1; i < count; i++)
        command_add(line, plan->takes[takes[i]].path);
    return command_parse(line);
}

/* Of all takes that may be calibrated with, also of those that will be left out: once one of them is mended, the key is another. */
static void find_key(const batch_plan *plan, const batch_calibration *group, char key[20])
{
    static const char *const nowhere[FILES] = {"", "", ""};
    command_line line;
    key[0] = 0;
    if (!make_command(plan, group->takes, group->take_count, nowhere, &line))
        command_key(&line, key);
    command_end(&line);
}

static json_t *calibrate_with(const batch_plan *plan, const int *takes, int count, const char *const paths[FILES])
{
    json_t *object = json_object(), *row = NULL;
    command_line line;
    int code = make_command(plan, takes, count, paths, &line), is_unnamed = !*plan->takes[takes[0]].skeleton;
    if (!code)
        code = calibrate_run(&line.tool, object);
    if (json_object_get(object, "output") && (!is_unnamed || json_object_get(object, "model"))) {
        row =
            json_pack("{s:s, s:O}", "status", "done", "calibration", object); /* also if the takes do not quite agree */
        json_object_del(object, "output"); /* which is where it was, not where it will be */
        json_object_del(object, "model");
    } else if (code == CLI_USAGE)
        row = take_failed("usage", "%s", line.refusal.message);
    else {
        const char *file = json_string_value(json_object_get(object, "file"));
        row = take_failure_of(object);
        if (file && (strcmp(file, paths[TABLE]) == 0 || strcmp(file, paths[SKELETON]) == 0))
            put_flag(row, "is_output", 1);
    }
    json_decref(object);
    command_end(&line);
    return row;
}

/* A failure that says nothing of the recordings, which have been read before, and may be gone in the next run: no memory, no room for the
 * table, a disk that did not answer. It is not kept. */
static int is_passing(const json_t *row)
{
    return json_is_true(json_object_get(row, "is_output")) || row_has(row, "error", "memory") ||
           row_has(row, "error", "io");
}

/* What a calibration is made with, and without. */
typedef struct session {
    const batch_plan *plan;
    int takes[BATCH_CALIBRATION_TAKES], count; /* whose markers are in the same places, the largest first */
    json_t *distances;                         /* of these: placement.c */
    json_t *left_out;                          /* {"take", "message"} for each take that cannot be used */
    json_t *passing;                           /* a failure that ends the attempt; NULL: none */
} session;

static void leave_out(session *s, const batch_take *take, json_t *failure, int is_passed)
{
    json_t *row = put_row(s->left_out);
    if (is_passed && !s->passing)
        s->passing = json_incref(failure);
    put_text(row, "take", take->name);
    put_text(row, "message", json_string_value(json_object_get(failure, "message")));
}

static int is_left_out(const session *s, const batch_take *take)
{
    size_t i;
    json_t *row, *name = cli_json_text(take->name);
    int is_found = 0;
    json_array_foreach(s->left_out, i, row)
    {
        is_found |= json_equal(json_object_get(row, "take"), name);
    }
    json_decref(name);
    return is_found;
}

/* 0 if it can be read. */
static int leave_out_unread(session *s, const batch_take *take, files_kept *kept)
{
    ulna_error error;
    ulna_content markers = ulna_content_empty(NULL);
    if (files_kept_markers(kept))
        return 0;
    ulna_error_clear(&error);
    int is_unread = files_markers(take->path, 0, &markers, &error) != ULNA_OK;
    if (is_unread) {
        json_t *object = json_object();
        (void)files_put_error(object, take->path, &error);
        json_t *failure = take_failure_of(object);
        leave_out(s, take, failure, row_has(failure, "error", "memory"));
        json_decref(failure);
        json_decref(object);
    }
    ulna_content_release(&markers);
    return is_unread;
}

/* Of the group's takes that can be used: the largest, and those whose markers are where they are in it. */
static void choose_alike(session *s, const batch_calibration *group)
{
    int frames = 0;
    char keys[BATCH_CALIBRATION_TAKES]
             [20]; /* of their bytes: copies say nothing new, and `ulna calibrate` refuses them */
    s->count = 0;
    for (int i = 0; i < group->take_count && (s->count < TOGETHER || frames < SHORT); i++) {
        const batch_take *take = &s->plan->takes[group->takes[i]];
        if (is_left_out(s, take))
            continue;
        int more = 0, same = 0;
        command_file_key(take->path, keys[s->count]);
        while (strcmp(keys[same], keys[s->count]) != 0)
            same++;
        if (same < s->count)
            continue;
        files_kept kept = files_keep(take->path);
        if (!leave_out_unread(s, take, &kept)) {
            if (!s->count) {
                json_decref(s->distances);
                s->distances = placement_pairs(take->skeleton, take->path);
            }
            if (!placement_differs(s->distances, &kept, &more)) {
                frames += more;
                s->takes[s->count++] = group->takes[i];
            }
        }
        files_kept_release(&kept);
    }
}

/* After a failure of all together, which does not say whose fault it is: those that fail by themselves are left out of the next. 0: none
 * does, such as where they do not go together. */
static int leave_out_refused(session *s, const char *const paths[FILES], json_t *together)
{
    int refused = 0;
    for (int i = 0; i < s->count && !s->passing; i++) {
        json_t *alone = s->count > 1 ? calibrate_with(s->plan, &s->takes[i], 1, paths) : json_incref(together);
        if (!row_is(alone, "done")) {
            leave_out(s, &s->plan->takes[s->takes[i]], alone, is_passing(alone));
            refused++;
        }
        json_decref(alone);
    }
    return refused;
}

static json_t *find_offsets(const batch_plan *plan, const batch_calibration *group, const char *const paths[FILES])
{
    session s = {.plan = plan, .left_out = json_array()};
    json_t *row = NULL;
    int is_needed = is_calibration_needed(plan, group), goes_on = is_needed;
    while (goes_on) {
        choose_alike(&s, group);
        goes_on = s.count && !s.passing;
        if (goes_on) {
            json_decref(row);
            row = calibrate_with(plan, s.takes, s.count, paths);
            goes_on = !row_is(row, "done") && !is_passing(row) && leave_out_refused(&s, paths, row);
        }
    }
    if (s.passing || !is_needed || !s.count) {
        json_decref(row);
        row = s.passing ? json_incref(s.passing)
              : !is_needed
                  ? json_pack("{s:s}", "status", "not needed")
                  : take_failed("argument", "none of its %d largest recordings can be used", group->take_count);
    }
    if (row_is(row, "done"))
        json_object_set(row, "distances", s.distances);
    json_object_set_new(row, "left_out", s.left_out);
    json_decref(s.distances);
    json_decref(s.passing);
    return row;
}

/* From the slot to their places. Where there is a record, there is what it tells of: an older one goes first, the new one comes last. */
static json_t *keep_calibration(json_t *row, const char *const made[FILES], const char *const places[FILES],
                                int is_unnamed)
{
    ulna_error error;
    json_t *unused = json_object();
    ulna_error_clear(&error);
    errno = 0;
    int is_found = row_is(row, "done");
    int is_kept = cli_write_json(made[RECORD], row, &error) == ULNA_OK && !folder_make_for(unused, places[TABLE]);
    is_kept = is_kept && (remove(places[RECORD]) == 0 || errno == ENOENT);
    for (int i = 0; i < FILES && is_kept; i++)
        if (i == RECORD || (is_found && (i == TABLE || is_unnamed)))
            is_kept = rename(made[i], places[i]) == 0;
    const int number = errno;
    if (!is_kept) {
        const char *reason = *error.message ? error.message : strerror(errno);
        json_decref(row);
        row = take_failed("io", "%s: cannot write the table of markers: %s", places[TABLE], reason);
        if (!files_is_name_wrong(number))
            put_flag(row, "is_output", 1);
    }
    json_decref(unused);
    return row;
}

json_t *calibration_record(const char *output, const batch_calibration *group)
{
    char *path = calibration_path(output, group, ".json");
    json_t *record = path ? cli_load_json(path) : NULL;
    free(path);
    return record;
}

static const char *const file_keys[] = {[TABLE] = "table", [SKELETON] = "skeleton"};

/* NULL: none, or it does not hold any more; `is_changed` where that is because somebody changed one of its files. */
static json_t *load_record(const batch_setup *setup, const char *const places[FILES], const char *key, int *is_changed)
{
    json_t *known = cli_load_json(places[RECORD]);
    const char *before = json_string_value(json_object_get(known, "key"));
    int is_same = before && strcmp(before, key) == 0, is_there = 1;
    if (is_same && row_is(known, "failed"))
        is_same = !setup->is_retried;
    else if (is_same && row_is(known, "done")) {
        is_there = access(places[TABLE], R_OK) == 0;
        for (int i = TABLE; i <= SKELETON; i++) {
            char now[20];
            if (!json_object_get(known, file_keys[i])) /* it has none, or it is by an earlier version */
                continue;
            command_file_key(places[i], now);
            is_there &= access(places[i], R_OK) == 0;
            is_same &= row_has(known, file_keys[i], now);
        }
        is_same &= is_there;
        *is_changed = is_there && !is_same;
    }
    if (is_same)
        return known;
    json_decref(known);
    return NULL;
}

/* The paths of a group, below the output folder or in a slot's; free them. 0 without memory. */
static int name_places(const char *output, const batch_calibration *group, char *places[FILES])
{
    places[TABLE] = calibration_path(output, group, ".csv");
    places[SKELETON] = calibration_path(output, group, BATCH_SKELETON);
    places[RECORD] = calibration_path(output, group, ".json");
    return places[TABLE] && places[SKELETON] && places[RECORD];
}

static int name_slot(const char *folder, char *made[FILES])
{
    made[TABLE] = folder ? folder_join(folder, "markers.csv") : NULL;
    made[SKELETON] = folder ? folder_join(folder, "skeleton.json") : NULL;
    made[RECORD] = folder ? folder_join(folder, "record.json") : NULL;
    return made[TABLE] && made[SKELETON] && made[RECORD];
}

static void free_names(char *names[FILES])
{
    for (int i = 0; i < FILES; i++)
        free(names[i]);
}

/* As far as an earlier run has it. */
static json_t *find_calibration(const batch_setup *setup, const batch_plan *plan, const batch_calibration *group)
{
    char key[20] = "", *places[FILES];
    json_t *row = NULL;
    if (name_places(setup->output, group, places)) {
        find_key(plan, group, key);
        int is_changed = 0;
        row = load_record(setup, (const char *const *)places, key, &is_changed);
    }
    free_names(places);
    return row ? row : take_failed("missing", "not calibrated yet");
}

/* The record has the whole of it; takes need little, and each of the many numbers would be written and read again on its way to them. */
static void keep_needed(json_t *row)
{
    static const char *const keys[] = {"axes", "axes_tried", "session"};
    const json_t *whole = json_object_get(row, "calibration");
    json_t *needed = whole ? json_object() : NULL;
    if (!needed)
        return;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set(needed, keys[i], json_object_get(whole, keys[i]));
    json_object_set_new(row, "calibration", needed);
}

json_t *calibration_find(const batch_setup *setup, const batch_plan *plan, const batch_calibration *group, int slot)
{
    if (!setup->work_folder)
        return find_calibration(setup, plan, group);
    const int is_unnamed = !*plan->takes[group->takes[0]].skeleton;
    char *folder = take_make_slot(setup, slot), key[20] = "", *new_files[FILES], *old_files[FILES];
    int is_named = name_slot(folder, new_files);
    is_named &= name_places(setup->output, group, old_files);
    json_t *row = NULL;
    int lock =
        journal_wait_for(setup->output, "calibration.lock",
                         (off_t)(ulna_hash(group->name, 0, 0) & 0x3fffffff)); /* also for shards on other machines */
    if (is_named) {
        const char *const *made = (const char *const *)new_files, *const *places = (const char *const *)old_files;
        find_key(plan, group, key);
        int is_changed = 0;
        row = load_record(setup, places, key, &is_changed);
        if (!row) {
            row = find_offsets(plan, group, made);
            if (!is_passing(row)) {
                for (int i = TABLE; i <= (is_unnamed && row_is(row, "done") ? SKELETON : TABLE); i++) {
                    char written[20];
                    command_file_key(made[i], written);
                    put_text(row, file_keys[i], written);
                }
                put_text(row, "key", key);
                row = keep_calibration(row, made, places, is_unnamed);
            }
        }
        keep_needed(row);
        put_flag(row, "table_changed", is_changed);
    }
    if (lock >= 0)
        (void)close(lock);
    free(folder);
    free_names(new_files);
    free_names(old_files);
    return row ? row : take_failed("memory", "out of memory");
}
