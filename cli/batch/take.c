/* What is done for one take: `ulna solve` with words of a command line, into a folder of its own. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/command.h"
#include "cli/solve/solve.h"
#include "src/base/algorithms.h"

/* ---- options ---------------------------------------------------------------------------------------------------------------- */

/* Options of recordings, which calibrations need as well; as a text that is the same for the same options. */
static int share_options(const cli *tool, batch_take *take)
{
    static const char *const names[] = {"axes", "up", "input-unit", "skeleton-unit", "subject", "no-checks", NULL};
    markup text;
    markup_init(&text);
    for (int i = 0; names[i]; i++) {
        const char *value = cli_value(tool, names[i]);
        const char *quote = value && strchr(value, '"') ? "'" : "\"";
        const char *const parts[] = {" ", quote, "--", names[i], *(value ? value : "") ? "=" : "", value, quote};
        for (size_t k = 0; value && k < sizeof parts / sizeof *parts; k++)
            markup_put(&text, parts[k]);
    }
    int is_set = text.status == ULNA_OK && plan_set(&take->shared, text.text.data ? text.text.data : "");
    markup_release(&text);
    return is_set;
}

ulna_status take_check_words(batch_take *take, ulna_error *error)
{
    static const char *const own[] = {"skeleton", "markers", "output", "formats", "report", "all-subjects", NULL};
    command_line line = command_begin("solve");
    command_add_pair(&line, "-s", "skeleton");
    command_add_pair(&line, "-m", "markers");
    if (!command_add_options(&line, take->words)) {
        command_end(&line);
        return cli_fail(error, ULNA_ERR_PARSE, "a quote is not closed");
    }
    solve_job job = {0};
    int code = command_parse(&line);
    if (!code)
        code = solve_read_options(&line.tool, &job);
    ulna_status status = code ? cli_fail(error, ULNA_ERR_ARGUMENT, "%s", line.refusal.message) : ULNA_OK;
    for (int i = 2; i < line.tool.given_count && status == ULNA_OK; i++)
        for (int k = 0; own[k]; k++)
            if (strcmp(line.tool.given[i]->name, own[k]) == 0)
                status = cli_fail(error, ULNA_ERR_ARGUMENT, "--%s is set by the batch", own[k]);
    if (status == ULNA_OK && (line.tool.operand_count || line.tool.help || line.tool.version))
        status = cli_fail(error, ULNA_ERR_ARGUMENT, "they are options of `ulna solve`, and no files");
    if (status == ULNA_OK && !share_options(&line.tool, take))
        status = cli_no_memory(error);
    command_end(&line);
    return status;
}

/* ---- results of a take ------------------------------------------------------------------------------------------------------ */

json_t *take_failed(const char *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cli_format(format, arguments);
    va_end(arguments);
    json_t *row = json_object();
    put_text(row, "status", "failed");
    put_text(row, "error", error);
    put_text(row, "message", text);
    free(text);
    return row;
}

int row_has(const json_t *row, const char *key, const char *word)
{
    const char *own = json_string_value(json_object_get(row, key));
    return own && strcmp(own, word) == 0;
}

int row_is(const json_t *row, const char *status)
{
    return row_has(row, "status", status);
}

json_t *take_failure_of(const json_t *object)
{
    const json_t *error = json_object_get(object, "error"), *line = json_object_get(error, "line"),
                 *byte = json_object_get(error, "byte");
    const char *file = json_string_value(json_object_get(object, "file")), *slash = file ? strrchr(file, '/') : NULL;
    const char *message = json_string_value(json_object_get(error, "message"));
    char place[48] = "";
    if (line)
        snprintf(place, sizeof place, ":%lld", (long long)json_integer_value(line));
    else if (byte)
        snprintf(place, sizeof place, ", byte %lld", (long long)json_integer_value(byte));
    const char *status = json_string_value(json_object_get(error, "status")), *base = slash ? slash + 1 : file;
    return take_failed(status ? status : "unknown", "%s%s%s%s", base ? base : "", place, base ? ": " : "",
                       message ? message : "it failed without a message");
}

/* "one; two" */
static json_t *join_texts(const json_t *list)
{
    json_t *all = json_string(""), *text;
    size_t i;
    json_array_foreach(list, i, text)
    {
        json_t *longer = json_sprintf("%s%s%s", json_string_value(all), i ? "; " : "", json_string_value(text));
        json_decref(all);
        all = longer;
    }
    return all;
}

static void copy_facts(const json_t *object, json_t *row)
{
    static const char *const keys[] = {"verdict",        "frames",  "markers",         "lost",         "doubtful",
                                       "empty",          "jumps",   "missing_markers", "read_seconds", "write_seconds",
                                       "rms_typical_mm", "reasons", "reason_codes"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        json_object_set(row, keys[i], json_object_get(object, keys[i]));
    json_object_set(row, "solve_seconds", json_object_get(object, "seconds"));
    json_object_set(row, "rms_mm", json_object_get(json_object_get(object, "rms_mm"), "mean"));
    json_object_set(row, "rms_max_mm", json_object_get(json_object_get(object, "rms_mm"), "max"));
    json_object_set(row, "us_per_frame", json_object_get(json_object_get(object, "us_per_frame"), "mean"));
    json_t *message = join_texts(json_object_get(object, "reasons"));
    if (json_string_length(message))
        json_object_set(row, "message", message);
    json_decref(message);
}

/* Nanoseconds: a whole number, so that no digit is lost in JSON. */
static long long modified_of(const struct stat *about)
{
    return (long long)about->st_mtim.tv_sec * 1000000000 + about->st_mtim.tv_nsec;
}

/* Names below OUT, how long they are, when they were written, and a hash of their bytes. */
static int list_files(const json_t *object, const batch_take *take, const char *folder, json_t *row)
{
    json_t *files = put_list(row, "files");
    const json_t *outputs = json_object_get(object, "outputs");
    const json_t *report = json_object_get(object, "report");
    for (size_t i = 0; i <= json_array_size(outputs); i++) {
        const json_t *name =
            i < json_array_size(outputs) ? json_object_get(json_array_get(outputs, i), "file") : report;
        const char *shown = json_string_value(name), *dot = shown ? strrchr(shown, '.') : NULL;
        struct stat about;
        char key[20];
        if (!dot && i == json_array_size(outputs))
            break; /* no report */
        char *final = dot ? malloc(strlen(take->name) + strlen(dot) + 1) : NULL;
        char *path =
            dot ? folder_file(folder, take->path, NULL, dot + 1) : NULL; /* `shown` is UTF-8, which it may not be */
        int is_there = final && path && stat(path, &about) == 0;
        if (is_there) {
            sprintf(final, "%s%s", take->name, dot);
            json_t *file = put_row(files);
            put_text(file, "file", final);
            put_count(file, "bytes", (long long)about.st_size);
            put_count(file, "modified", modified_of(&about));
            command_file_key(path, key);
            put_text(file, "hash", key);
        }
        free(final);
        free(path);
        if (!is_there)
            return 0;
    }
    return 1;
}

/* The first output that could not be written; NULL: all were. */
static const json_t *failed_output(const json_t *object)
{
    const json_t *outputs = json_object_get(object, "outputs");
    for (size_t i = 0; i < json_array_size(outputs); i++)
        if (json_object_get(json_array_get(outputs, i), "error"))
            return json_array_get(outputs, i);
    return json_object_get(object, "error") && json_object_get(object, "frames") ? object : NULL;
}

static json_t *result_of(int code, const json_t *object, const batch_take *take, const char *folder)
{
    const json_t *unwritten = failed_output(object);
    if (code && (!json_object_get(object, "frames") || unwritten)) {
        json_t *row = take_failure_of(unwritten ? unwritten : object);
        put_flag(row, "is_output", unwritten != NULL);
        return row;
    }
    json_t *row = json_object();
    put_text(row, "status", "done");
    copy_facts(object, row);
    if (list_files(object, take, folder, row))
        return row;
    json_decref(row);
    return take_failed("io", "an output is missing after the solve");
}

/* ---- what is there already -------------------------------------------------------------------------------------------------- */

/* As it was written: its bytes are looked at only if its time is another, such as that of a copy. Earlier versions kept only its length. */
static int is_unchanged(const char *path, const json_t *file)
{
    struct stat about;
    char key[20];
    const json_t *modified = json_object_get(file, "modified");
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode) ||
        about.st_size != json_integer_value(json_object_get(file, "bytes")))
        return 0;
    if (!modified || json_integer_value(modified) == modified_of(&about))
        return 1;
    command_file_key(path, key);
    return row_has(file, "hash", key);
}

int take_files_are_there(const char *output, const json_t *line)
{
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(line, "files"), i, file)
    {
        const char *name = json_string_value(json_object_get(file, "file"));
        char *path = name ? folder_join(output, name) : NULL;
        int is_there = path && is_unchanged(path, file);
        free(path);
        if (!is_there)
            return 0;
    }
    return 1;
}

plan_key take_plan_key(const batch_take *take)
{
    const char *const texts[] = {take->path, take->skeleton, take->attach, take->words};
    plan_key key;
    uint64_t hash = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        hash = ulna_hash(texts[i], hash, 0);
    snprintf(key.text, sizeof key.text, "%.0f", take->bytes);
    hash = ulna_hash(key.text, hash, 0);
    snprintf(key.text, sizeof key.text, "%016llx", (unsigned long long)hash);
    return key;
}

int take_is_of_plan(const batch_take *take, const json_t *line)
{
    return row_has(line, "plan", take_plan_key(take).text);
}

void take_put_setup(const batch_setup *setup, json_t *line)
{
    put_text(line, "formats", setup->formats ? setup->formats : "");
    put_flag(line, "reports", setup->has_reports);
}

int take_is_of_setup(const batch_setup *setup, const json_t *line)
{
    return row_has(line, "formats", setup->formats ? setup->formats : "") &&
           json_is_true(json_object_get(line, "reports")) == setup->has_reports;
}

/* A limit ended it, which is further away now. (Earlier versions did not say which.) */
static int is_limit_raised(const batch_setup *setup, const json_t *known)
{
    double before = json_number_value(json_object_get(known, "limit"));
    double now = row_has(known, "error", "time") ? setup->seconds : setup->megabytes;
    int is_known = before > 0 || row_has(known, "error", "time");
    return is_known && (now == 0 || now > before);
}

static int is_settled(const batch_setup *setup, const json_t *known, const char *key)
{
    if (!row_has(known, "key", key))
        return 0;
    if (row_is(known, "done"))
        return take_files_are_there(setup->output, known);
    return !setup->is_retried && !is_limit_raised(setup, known);
}

/* ---- a take ------------------------------------------------------------------------------------------------------------------ */

char *take_make_slot(const batch_setup *setup, int slot)
{
    char name[24];
    snprintf(name, sizeof name, "%d/", slot);
    char *folder = folder_join(setup->work_folder, name);
    if (folder) {
        journal_remove_tree(folder);
        (void)mkdir(folder, 0777); /* who writes there says if it failed */
    }
    return folder;
}

/* Keeps what went wrong, and prints nothing. */
static void tell_nothing(const cli *tool, solve_job *job, int count)
{
    (void)tool;
    (void)count;
    for (int i = 0; i < job->failure_count; i++)
        files_put_error(job->failures[i].where, job->failures[i].path, &job->failures[i].error);
}

static json_t *solve_line(command_line *line, const batch_take *take, const char *folder)
{
    json_t *object = json_object();
    int code = solve_run(&line->tool, object, tell_nothing);
    json_t *row =
        code == CLI_USAGE ? take_failed("usage", "%s", line->refusal.message) : result_of(code, object, take, folder);
    json_decref(object);
    return row;
}

/* Tests of the batch link another one, which crashes or hangs in the takes that they name. */
__attribute__((weak)) void batch_stage(const char *stage, const char *take)
{
    (void)stage;
    (void)take;
}

/*
 * The axes that the calibration found by trying, as a word: finding them again would take longer than to solve a short take, and
 * takes of a session have the same. Empty where a file or the user says them.
 */
static void name_axes(const batch_take *take, const json_t *calibration, char word[8])
{
    const json_t *object = json_object_get(calibration, "calibration"), *list = json_object_get(object, "axes");
    double axes[9] = {0};
    int entries = 0;
    *word = 0;
    if (!json_is_true(json_object_get(object, "axes_tried")) || strstr(take->shared, "--axes=") ||
        strstr(take->shared, "--up="))
        return;
    for (size_t i = 0; i < 9; i++) {
        axes[i] = json_number_value(json_array_get(list, i));
        entries += fabs(axes[i]) > 0.5;
    }
    if (entries == 3)
        axes_text(axes, word);
}

json_t *take_solve(const batch_setup *setup, const batch_take *take, const take_markers *markers, files_kept *kept,
                   json_t *known, int slot, take_key *tell, void *context)
{
    char key[20], threads[16], axes[8];
    double begun = cli_seconds();
    char *folder = setup->work_folder ? take_make_slot(setup, slot) : strdup("nowhere/");
    command_line line = command_begin("solve");
    snprintf(threads, sizeof threads, "%d", setup->threads);
    name_axes(take, markers->calibration, axes);
    command_add_pair(&line, "-s", markers->skeleton);
    command_add_pair(&line, "-m", take->path);
    command_add_pair(&line, "-a", markers->table);
    command_add_pair(&line, "--axes", axes);
    command_add_pair(&line, "--formats", setup->formats ? setup->formats : *take->skeleton ? NULL : "bvh");
    command_add_pair(&line, "-o", folder);
    if (setup->has_reports)
        command_add_pair(&line, "-r", folder);
    command_add_pair(&line, "--threads", threads);
    (void)command_add_options(&line, take->words); /* plan.c checked them */
    json_t *row;
    if (!folder || command_parse(&line))
        row = take_failed(folder ? "usage" : "memory", "%s", folder ? line.refusal.message : "out of memory");
    else {
        line.tool.kept = kept;
        command_key(&line, key);
        if (setup->work_folder) {
            tell(context, key);
            batch_stage("solve", take->name);
        }
        if (is_settled(setup, known, key))
            row = json_pack("{s:s}", "status", "kept");
        else if (is_settled(setup, journal_finished(known), key))
            row = json_pack("{s:s, s:b}", "status", "kept", "is_earlier", 1);
        else
            row = setup->work_folder ? solve_line(&line, take, folder) : take_failed("missing", "not solved yet");
    }
    put_number(row, "seconds", cli_seconds() - begun);
    command_end(&line);
    free(folder);
    return row;
}
