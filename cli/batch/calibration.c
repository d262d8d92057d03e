/*
 * The calibration that takes of a session share: `ulna calibrate` with its largest takes. Its table and its record are kept in
 * OUT/calibration; shards wait for each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/command.h"
#include "cli/calibrate/calibrate.h"
#include "src/base/algorithms.h"

/* Takes that a calibration uses; more, where these are short. If it fails, others are tried alone. */
enum { TOGETHER = 3, SHORT = 2000 /* frames, of all of them */ };

char *calibration_path(const char *output, const batch_calibration *group, const char *ending)
{
    size_t size = strlen(output) + strlen(group->name) + strlen(ending) + 20;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/calibration/%s%s", output, group->name, ending);
    return path;
}

/* Shards on other machines wait for each other here. The lock ends with the file's closing, or the process. */
static int lock_group(const batch_setup *setup, const batch_calibration *group)
{
    char *path = folder_join(setup->output, "journal/calibration.lock");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666) : -1;
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
    lock.l_start = (off_t)(ulna_hash(group->name, 0, 0) & 0x3fffffff);
    while (file >= 0 && fcntl(file, F_SETLKW, &lock) != 0 && errno == EINTR)
        ;
    free(path);
    return file;
}

/* A skeleton with markers of its own, and key points, need none. */
static int is_calibration_needed(const batch_take *take)
{
    ulna_content skeleton = ulna_content_empty(NULL), markers = ulna_content_empty(NULL);
    ulna_take *found = NULL;
    int is_needed = 1;
    if (files_skeleton(take->skeleton, 0, &skeleton, NULL) == ULNA_OK)
        is_needed = !ulna_model_marker_count(skeleton.model);
    if (is_needed && skeleton.model && files_markers(take->path, 0, &markers, NULL) == ULNA_OK) {
        ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
        if (ulna_take_create(&options, &found, NULL) == ULNA_OK)
            is_needed = !found->keypoints;
    }
    ulna_take_destroy(found);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return is_needed;
}

/* With these takes of the plan, to `path`. */
static json_t *calibrate_with(const batch_plan *plan, const int *takes, int count, const char *path, char key[20])
{
    const batch_take *take = &plan->takes[takes[0]];
    json_t *object = json_object(), *row = NULL;
    command_line line = command_begin("calibrate");
    command_add_pair(&line, "-s", take->skeleton);
    command_add_pair(&line, "-o", path);
    command_add_pair(&line, "--threads", "1");
    (void)command_add_options(&line, take->shared);
    command_add_pair(&line, "-m", take->path);
    for (int i = 1; i < count; i++)
        command_add(&line, plan->takes[takes[i]].path);
    int code = command_parse(&line);
    if (!code && key)
        command_key(&line, NULL, key);
    else if (!code)
        code = calibrate_run(&line.tool, object);
    if (json_object_get(object, "output")) { /* also where the takes do not quite agree */
        row = json_pack("{s:s, s:O}", "status", "done", "calibration", object);
        json_object_del(object, "output"); /* which is where it was, not where it will be */
    } else if (code == CLI_USAGE)
        row = take_failed("%s", line.refusal.message);
    else
        row = take_failure_of(object);
    json_decref(object);
    command_end(&line);
    return row;
}

static int is_done(const json_t *row)
{
    return strcmp(json_string_value(json_object_get(row, "status")), "done") == 0;
}

/* Those of the group's takes whose markers are where they are in the largest; `distances`: of these. */
static int choose_alike(const batch_plan *plan, const batch_calibration *group, int *chosen, json_t *distances)
{
    int count = 0, frames = 0;
    for (int i = 0; i < group->take_count && (count < TOGETHER || frames < SHORT); i++) {
        int more = 0;
        files_kept kept = files_keep(plan->takes[group->takes[i]].path);
        int differs = placement_differs(distances, &kept, &more);
        files_kept_release(&kept);
        if (differs)
            continue;
        frames += more;
        chosen[count++] = group->takes[i];
    }
    return count;
}

static json_t *find_offsets(const batch_plan *plan, const batch_calibration *group, const char *path)
{
    const batch_take *first = &plan->takes[group->takes[0]];
    int chosen[BATCH_CALIBRATION_TAKES];
    if (!is_calibration_needed(first))
        return json_pack("{s:s}", "status", "not needed");
    json_t *distances = placement_pairs(first->skeleton, first->path);
    int count = choose_alike(plan, group, chosen, distances);
    json_t *row = calibrate_with(plan, chosen, count, path, NULL);
    for (int i = 0; i < group->take_count && group->take_count > 1 && !is_done(row); i++) {
        const batch_take *take = &plan->takes[group->takes[i]];
        json_decref(row);
        json_decref(distances);
        row = calibrate_with(plan, &group->takes[i], 1, path, NULL);
        distances = placement_pairs(take->skeleton, take->path);
        int frames = 0;
        files_kept kept = files_keep(take->path);
        (void)placement_differs(distances, &kept, &frames);
        files_kept_release(&kept);
    }
    if (is_done(row))
        json_object_set(row, "distances", distances);
    json_decref(distances);
    return row;
}

static int write_record(const json_t *row, const char *path, ulna_error *error)
{
    char *text = json_dumps(row, JSON_INDENT(2));
    ulna_status status = text ? cli_write_text(path, text, strlen(text), error) : cli_no_memory(error);
    free(text);
    return status == ULNA_OK;
}

/* From the slot to their places. The table first: where there is a record, there is its table. */
static json_t *keep_calibration(json_t *row, const char *const made[2], const char *const places[2])
{
    ulna_error error;
    json_t *unused = json_object();
    ulna_error_clear(&error);
    errno = 0;
    int is_found = is_done(row);
    int is_kept = write_record(row, made[1], &error) && !folder_make_for(unused, places[0]);
    for (int i = is_found ? 0 : 1; i < 2 && is_kept; i++)
        is_kept = rename(made[i], places[i]) == 0;
    if (!is_kept) {
        const char *reason = *error.message ? error.message : strerror(errno);
        json_decref(row);
        row = take_failed("its table of markers cannot be written: %s", reason);
    }
    json_decref(unused);
    return row;
}

static json_t *load_record(const batch_setup *setup, const char *path, const char *table, const char *key)
{
    json_t *known = json_load_file(path, 0, NULL);
    const char *before = json_string_value(json_object_get(known, "key"));
    const char *status = json_string_value(json_object_get(known, "status"));
    int is_same = before && status && strcmp(before, key) == 0;
    if (is_same && strcmp(status, "failed") == 0)
        is_same = !setup->is_retried;
    else if (is_same && strcmp(status, "done") == 0)
        is_same = access(table, R_OK) == 0;
    if (is_same)
        return known;
    json_decref(known);
    return NULL;
}

/* As far as an earlier run has it. */
static json_t *find_calibration(const batch_setup *setup, const batch_plan *plan, const batch_calibration *group)
{
    char key[20] = "";
    char *table = calibration_path(setup->output, group, ".csv");
    char *record = calibration_path(setup->output, group, ".json");
    json_t *row = NULL;
    if (table && record) {
        json_decref(calibrate_with(plan, group->takes, group->take_count, table, key));
        row = load_record(setup, record, table, key);
    }
    free(table);
    free(record);
    return row ? row : take_failed("not calibrated yet");
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
    char *folder = take_make_slot(setup, slot), key[20] = "";
    char *table = folder ? folder_join(folder, "markers.csv") : NULL;
    char *record = folder ? folder_join(folder, "record.json") : NULL;
    char *final_table = calibration_path(setup->output, group, ".csv");
    char *final_record = calibration_path(setup->output, group, ".json");
    json_t *row = NULL;
    int lock = lock_group(setup, group);
    if (table && record && final_table && final_record) {
        const char *const made[] = {table, record}, *const places[] = {final_table, final_record};
        json_decref(calibrate_with(plan, group->takes, group->take_count, table, key));
        row = load_record(setup, final_record, final_table, key);
        if (!row) {
            row = find_offsets(plan, group, table);
            put_text(row, "key", key);
            row = keep_calibration(row, made, places);
        }
        keep_needed(row);
    }
    if (lock >= 0)
        (void)close(lock);
    free(folder);
    free(table);
    free(record);
    free(final_table);
    free(final_record);
    return row ? row : take_failed("out of memory");
}
