/*
 * What is done for one take, and for the calibration that takes share: `ulna solve` and `ulna calibrate` with words of a command
 * line, into a folder of its own. The key of a take is a hash of everything its outputs depend on.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/calibrate/calibrate.h"
#include "cli/solve/solve.h"
#include "src/base/algorithms.h"
#include "ulna/ulna.h"

/* Takes that a calibration uses; more, where these are short. If it fails, others are tried alone. */
enum { TOGETHER = 3, SHORT = 2000 /* frames, of all of them */ };

/* ---- words of a command line ---------------------------------------------------------------------------------------------- */

typedef struct command_line {
    char **words;
    int count, room, is_whole; /* 0: memory was out */
    char *options;             /* cut into words */
    cli tool;
    ulna_error refusal;
} command_line;

static void add_word(command_line *line, const char *word)
{
    if (line->count + 1 >= line->room) {
        int room = line->room ? 2 * line->room : 32;
        char **grown = realloc(line->words, (size_t)room * sizeof *grown);
        line->is_whole &= grown != NULL;
        if (!grown)
            return;
        line->words = grown;
        line->room = room;
    }
    line->words[line->count++] = (char *)(size_t)word; /* nobody writes to it */
    line->words[line->count] = NULL;
}

static void add_pair(command_line *line, const char *option, const char *value)
{
    if (value && *value) {
        add_word(line, option);
        add_word(line, value);
    }
}

/* Options as a text, cut at blanks; "..." and '...' keep them. 0 if a quote is not closed. */
static int add_options(command_line *line, const char *text)
{
    char *from = strdup(text), *to = from;
    free(line->options);
    line->options = from;
    line->is_whole &= from != NULL;
    while (from && *(from += strspn(from, " \t"))) {
        char *word = to, quote = 0;
        for (; *from && (quote || !strchr(" \t", *from)); from++)
            if (quote ? *from == quote : *from == '"' || *from == '\'')
                quote = quote ? 0 : *from;
            else
                *to++ = *from;
        if (quote)
            return 0;
        from += *from != 0;
        *to++ = 0;
        add_word(line, word);
    }
    return 1;
}

static command_line begin_line(const char *command)
{
    command_line line = {.is_whole = 1};
    add_word(&line, "ulna");
    add_word(&line, command);
    return line;
}

/* CLI_DONE, or line->refusal says what is wrong. */
static int parse_line(command_line *line)
{
    line->tool = (cli){.refusal = &line->refusal, .columns = CLI_COLUMNS};
    ulna_error_clear(&line->refusal);
    if (!line->is_whole)
        return cli_exit_code(cli_no_memory(&line->refusal));
    int code = cli_parse(&line->tool, line->count, line->words);
    line->tool.quiet = 1;
    return code;
}

static void end_line(command_line *line)
{
    cli_release(&line->tool);
    free(line->words);
    free(line->options);
}

/* Options of recordings, which calibrations need as well; as a text that is the same for the same options. */
static int share_options(const cli *tool, batch_take *take)
{
    static const char *const names[] = {"axes", "up", "input-unit", "skeleton-unit", "subject", "no-checks", NULL};
    char text[1000] = "";
    for (int i = 0; names[i]; i++) {
        const char *value = cli_value(tool, names[i]);
        if (value && *value)
            snprintf(text + strlen(text), sizeof text - strlen(text), " \"--%s=%s\"", names[i], value);
        else if (value)
            snprintf(text + strlen(text), sizeof text - strlen(text), " --%s", names[i]);
    }
    return plan_set(&take->shared, text);
}

ulna_status take_check_words(batch_take *take, ulna_error *error)
{
    static const char *const own[] = {"skeleton", "markers", "output", "formats", "report", "all-subjects", NULL};
    command_line line = begin_line("solve");
    add_pair(&line, "-s", "skeleton");
    add_pair(&line, "-m", "markers");
    if (!add_options(&line, take->words)) {
        end_line(&line);
        return cli_fail(error, ULNA_ERR_PARSE, "a quote is not closed");
    }
    solve_job job = {0};
    int code = parse_line(&line);
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
    end_line(&line);
    return status;
}

/* ---- keys ------------------------------------------------------------------------------------------------------------------ */

static uint64_t hash_word(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9fb21c651e98df25; /* odd, and half of its bits are set */
    return hash ^ hash >> 29;
}

static uint64_t hash_eight(uint64_t hash, const unsigned char *bytes)
{
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return hash_word(hash, word);
}

/* Eight bytes at a time: multiply and fold, as FNV-1a does with one; four such sums side by side, since each waits for its last product.
 * They are no array, as compilers would keep that in vectors, which have no product of 64 bits. Not for secrets: it tells files apart
 * that changed. */
static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    unsigned char end[32] = {0};
    const unsigned char *bytes = data;
    size_t whole = size / sizeof end * sizeof end, at = 0;
    uint64_t a = hash_word(hash, size), b = 1, c = 2, d = 3;
    memcpy(end, bytes + whole, size - whole);
    for (; at < size; at += sizeof end) {
        const unsigned char *words = at < whole ? bytes + at : end;
        a = hash_eight(a, words);
        b = hash_eight(b, words + 8);
        c = hash_eight(c, words + 16);
        d = hash_eight(d, words + 24);
    }
    return hash_word(hash_word(hash_word(a, b), c), d);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text));
}

/* The bytes of a file; of what is no file, only its name. */
static uint64_t hash_file(uint64_t hash, const char *path, files_kept *kept)
{
    files_kept own = {0};
    if (!files_kept_bytes(kept, path)) {
        own = files_keep(path);
        kept = &own;
    }
    const ulna_text *text = files_kept_bytes(kept, path);
    hash = text ? hash_bytes(hash, text->data ? text->data : "", text->length) : hash_text(hash, path);
    files_kept_release(&own);
    return hash;
}

/* The words without those that change no byte of the outputs, and all files that they name. `other`: a key that it depends on. */
static void make_key(const command_line *line, const char *other, char key[20])
{
    const cli *tool = &line->tool;
    uint64_t hash = hash_text(0, ulna_version());
    if (other)
        hash = hash_text(hash, other);
    for (int i = 0; i < tool->given_count; i++) {
        const char *name = tool->given[i]->name;
        if (strcmp(name, "output") == 0)
            continue;
        hash = hash_text(hash, name);
        if (strcmp(name, "report") != 0)
            hash = hash_file(hash, tool->values[i], tool->kept);
    }
    for (int i = 0; i < tool->operand_count; i++)
        hash = hash_file(hash, tool->operands[i], tool->kept);
    snprintf(key, 20, "%016llx", (unsigned long long)hash);
}

/* ---- results of a take ------------------------------------------------------------------------------------------------------ */

json_t *take_failed(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cli_format(format, arguments);
    va_end(arguments);
    json_t *row = json_object();
    put_text(row, "status", "failed");
    put_text(row, "message", text ? text : "out of memory");
    free(text);
    return row;
}

/* "walk.c3d:12: message", from an object that a failed command filled. */
static json_t *failure_of(const json_t *object)
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
    json_t *row = take_failed("%s%s%s%s",
                              slash  ? slash + 1
                              : file ? file
                                     : "",
                              place, file ? ": " : "", message ? message : "it failed without a message");
    const char *status = json_string_value(json_object_get(error, "status"));
    put_text(row, "error", status ? status : "unknown");
    return row;
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

/* Names below OUT, and how long they are. */
static int list_files(const json_t *object, const batch_take *take, json_t *row)
{
    json_t *files = put_list(row, "files");
    const json_t *outputs = json_object_get(object, "outputs");
    const json_t *report = json_object_get(object, "report");
    for (size_t i = 0; i <= json_array_size(outputs); i++) {
        const json_t *name =
            i < json_array_size(outputs) ? json_object_get(json_array_get(outputs, i), "file") : report;
        const char *path = json_string_value(name), *dot = path ? strrchr(path, '.') : NULL;
        struct stat about;
        if (!dot && i == json_array_size(outputs))
            break; /* no report */
        char *final = dot ? malloc(strlen(take->name) + strlen(dot) + 1) : NULL;
        if (!final || stat(path, &about) != 0) {
            free(final);
            return 0;
        }
        sprintf(final, "%s%s", take->name, dot);
        json_t *file = put_row(files);
        put_text(file, "file", final);
        put_count(file, "bytes", (long long)about.st_size);
        free(final);
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

static json_t *result_of(int code, const json_t *object, const batch_take *take)
{
    const json_t *unwritten = failed_output(object);
    if (code && (!json_object_get(object, "frames") || unwritten)) {
        json_t *row = failure_of(unwritten ? unwritten : object);
        put_flag(row, "is_output", unwritten != NULL);
        return row;
    }
    json_t *row = json_object();
    put_text(row, "status", "done");
    copy_facts(object, row);
    if (list_files(object, take, row))
        return row;
    json_decref(row);
    return take_failed("an output is missing after the solve");
}

/* ---- what is there already -------------------------------------------------------------------------------------------------- */

int take_files_are_there(const char *output, const json_t *line)
{
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(line, "files"), i, file)
    {
        struct stat about;
        const char *name = json_string_value(json_object_get(file, "file"));
        char *path = name ? folder_join(output, name) : NULL;
        int is_there = path && stat(path, &about) == 0 && S_ISREG(about.st_mode) &&
                       about.st_size == json_integer_value(json_object_get(file, "bytes"));
        free(path);
        if (!is_there)
            return 0;
    }
    return 1;
}

static int is_settled(const batch_setup *setup, const json_t *known, const char *key)
{
    const char *before = json_string_value(json_object_get(known, "key"));
    const char *status = json_string_value(json_object_get(known, "status"));
    if (!before || !status || strcmp(before, key) != 0)
        return 0;
    return strcmp(status, "done") == 0 ? take_files_are_there(setup->output, known) : !setup->is_retried;
}

/* ---- a take ------------------------------------------------------------------------------------------------------------------ */

/* An empty folder "WORK/SLOT/"; free() it. */
static char *make_slot(const batch_setup *setup, int slot)
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

static json_t *run_solve(command_line *line, const batch_take *take)
{
    json_t *object = json_object();
    int code = solve_run(&line->tool, object, tell_nothing);
    json_t *row = code == CLI_USAGE ? take_failed("%s", line->refusal.message) : result_of(code, object, take);
    json_decref(object);
    return row;
}

/*
 * For tests, as no recording should be able to do this: ULNA_BATCH_FAULT="hang NAME", "crash NAME" or "memory NAME" makes the take of
 * that name hang, crash, or use more and more memory; "again NAME" makes it crash if its process has done another one before.
 */
static void apply_fault(const batch_take *take)
{
    const char *fault = getenv("ULNA_BATCH_FAULT"), *name = fault ? strchr(fault, ' ') : NULL;
    static int takes; /* of this process: only looked at where a test asks for it */
    takes += fault && strncmp(fault, "again", 5) == 0;
    if (!name || strcmp(name + 1, take->name) != 0)
        return;
    if (strncmp(fault, "hang", 4) == 0)
        for (;;)
            pause();
    if (strncmp(fault, "again", 5) == 0 && takes == 1)
        return;
    if (strncmp(fault, "crash", 5) == 0 || strncmp(fault, "again", 5) == 0)
        abort();
    for (size_t size = (size_t)1 << 24;; size += size / 2) {
        volatile char *block = malloc(size);
        if (!block)
            abort();
        for (size_t i = 0; i < size; i += 4096)
            block[i] = 1;
    }
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
    const json_t *failed = markers->failure ? markers->calibration : NULL;
    double begun = cli_seconds();
    char *folder = setup->work_folder ? make_slot(setup, slot) : strdup("nowhere/");
    command_line line = begin_line("solve");
    snprintf(threads, sizeof threads, "%d", setup->threads);
    name_axes(take, markers->calibration, axes);
    add_pair(&line, "-s", take->skeleton);
    add_pair(&line, "-m", take->path);
    add_pair(&line, "-a", markers->table);
    add_pair(&line, "--axes", axes);
    add_pair(&line, "--formats", setup->formats);
    add_pair(&line, "-o", folder);
    if (setup->has_reports)
        add_pair(&line, "-r", folder);
    add_pair(&line, "--threads", threads);
    (void)add_options(&line, take->words); /* plan.c checked them */
    json_t *row;
    if (!folder || parse_line(&line))
        row = take_failed("%s", folder ? line.refusal.message : "out of memory");
    else {
        line.tool.kept = kept;
        make_key(&line, json_string_value(json_object_get(failed, "key")), key);
        if (setup->work_folder) {
            tell(context, key);
            apply_fault(take);
        }
        if (is_settled(setup, known, key))
            row = json_pack("{s:s}", "status", "kept");
        else if (is_settled(setup, journal_finished(known), key))
            row = json_pack("{s:s, s:b}", "status", "kept", "is_earlier", 1);
        else if (failed)
            row = take_failed("%s", markers->failure);
        else
            row = setup->work_folder ? run_solve(&line, take) : take_failed("not solved yet");
    }
    put_number(row, "seconds", cli_seconds() - begun);
    end_line(&line);
    free(folder);
    return row;
}

/* ---- a calibration ------------------------------------------------------------------------------------------------------------ */

char *take_calibration_path(const char *output, const batch_calibration *group, const char *ending)
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
    command_line line = begin_line("calibrate");
    add_pair(&line, "-s", take->skeleton);
    add_pair(&line, "-o", path);
    add_pair(&line, "--threads", "1");
    (void)add_options(&line, take->shared);
    add_pair(&line, "-m", take->path);
    for (int i = 1; i < count; i++)
        add_word(&line, plan->takes[takes[i]].path);
    int code = parse_line(&line);
    if (!code && key)
        make_key(&line, NULL, key);
    else if (!code)
        code = calibrate_run(&line.tool, object);
    if (json_object_get(object, "output")) { /* also where the takes do not quite agree */
        row = json_pack("{s:s, s:O}", "status", "done", "calibration", object);
        json_object_del(object, "output"); /* which is where it was, not where it will be */
    } else if (code == CLI_USAGE)
        row = take_failed("%s", line.refusal.message);
    else
        row = failure_of(object);
    json_decref(object);
    end_line(&line);
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
    char *table = take_calibration_path(setup->output, group, ".csv");
    char *record = take_calibration_path(setup->output, group, ".json");
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

json_t *take_calibrate(const batch_setup *setup, const batch_plan *plan, const batch_calibration *group, int slot)
{
    if (!setup->work_folder)
        return find_calibration(setup, plan, group);
    char *folder = make_slot(setup, slot), key[20] = "";
    char *table = folder ? folder_join(folder, "markers.csv") : NULL;
    char *record = folder ? folder_join(folder, "record.json") : NULL;
    char *final_table = take_calibration_path(setup->output, group, ".csv");
    char *final_record = take_calibration_path(setup->output, group, ".json");
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
