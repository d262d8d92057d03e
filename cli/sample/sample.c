/* ulna sample DIR: writes the built-in skeletons and the built-in take. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/input.h"
#include "cli/output.h"
#include "cli/sample/sample_take.h"
#include "ulna/sample.h"

static const char take_name[] = "walk"; /* as --only has it: several files */

/* Refuses names that do not exist before anything is written. */
static int check_names(const cli *tool)
{
    enum { MOST = 32 };
    const char *names[MOST + 2] = {take_name};
    for (int i = 0; i < MOST && ulna_sample_name(i); i++)
        names[i + 1] = ulna_sample_name(i);
    for (int i = 0; i < tool->given_count; i++) {
        int k = 0, is_name = strcmp(tool->given[i]->name, "only") == 0;
        while (is_name && names[k] && strcmp(names[k], tool->values[i]) != 0)
            k++;
        if (!names[k])
            return cli_unknown(tool, "sample", tool->values[i], names, "");
    }
    return CLI_DONE;
}

static int is_wanted(const cli *tool, const char *name)
{
    if (!cli_value(tool, "only"))
        return 1;
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "only") == 0 && strcmp(tool->values[i], name) == 0)
            return 1;
    return 0;
}

typedef enum outcome { WRITTEN, UNCHANGED, KEPT, FAILED } outcome;

/* Is the file there, and does it hold this text? */
static outcome compare(const char *path, const ulna_text *text)
{
    ulna_text old = ulna_text_empty(NULL);
    outcome found = KEPT;
    if (ulna_file_read(path, text->length, &old, NULL) == ULNA_OK && old.length == text->length &&
        memcmp(old.data, text->data, text->length) == 0)
        found = UNCHANGED;
    ulna_text_release(&old);
    return found;
}

static outcome write_text(const cli *tool, const ulna_text *text, const char *path, ulna_error *error)
{
    struct stat state;
    outcome result = stat(path, &state) == 0 && S_ISREG(state.st_mode) ? compare(path, text) : WRITTEN;
    if (result != WRITTEN && !(result == KEPT && cli_value(tool, "force")))
        return result;
    return cli_write_text(path, text->data, text->length, error) == ULNA_OK ? WRITTEN : FAILED;
}

static ulna_status write_model(const char *name, ulna_text *text, ulna_error *error)
{
    ulna_model *model;
    ulna_sink sink = ulna_text_sink(text);
    ulna_status status = ulna_sample_create(name, NULL, &model, error);
    if (status == ULNA_OK)
        status = ulna_model_write_json(model, &sink, error);
    ulna_model_destroy(model);
    return status;
}

/* One file: of a skeleton, or of the take. */
typedef struct item {
    const char *sample, *text;
    char file[64];
    int part; /* of the take; ULNA_NONE: a skeleton */
} item;

/* Says what became of one file, and returns its exit code. */
static int report(const cli *tool, json_t *list, const char *path, const item *it, outcome result,
                  const ulna_error *error)
{
    static const char *const words[] = {"written", "unchanged", "kept", "failed"};
    json_t *row = put_row(list);
    put_text(row, "file", path);
    put_text(row, "sample", it->sample);
    put_text(row, "result", words[result]);
    if (result == FAILED)
        return files_fail(row, path, error);
    if (result == KEPT) {
        cli_complain("%s: exists with different contents and is kept; --force replaces it", path);
        return CLI_PARTLY;
    }
    cli_say(tool, "%s: %s\n", path, result == WRITTEN ? it->text : "unchanged");
    return CLI_DONE;
}

static int write_item(const cli *tool, json_t *list, const char *folder, const item *it)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_error error;
    ulna_error_clear(&error);
    char *path = folder_join(folder, it->file);
    if (!path)
        return cli_out_of_memory();
    outcome result = FAILED;
    ulna_status status =
        it->part == ULNA_NONE ? write_model(it->sample, &text, &error) : sample_take_write(it->part, &text, &error);
    if (status == ULNA_OK)
        result = write_text(tool, &text, path, &error);
    int code = report(tool, list, path, it, result, &error);
    ulna_text_release(&text);
    free(path);
    return code;
}

/* Number `index` of all files; 0 past the end. */
static int find_item(int index, item *it)
{
    int models = 0;
    while (ulna_sample_name(models))
        models++;
    if (index < models) {
        *it = (item){.sample = ulna_sample_name(index), .text = ulna_sample_text(index), .part = ULNA_NONE};
        snprintf(it->file, sizeof it->file, "%s.json", it->sample);
        return 1;
    }
    const sample_file *file = &sample_take_files[index - models];
    *it = (item){.sample = take_name, .text = file->text, .part = index - models};
    snprintf(it->file, sizeof it->file, "%s", file->name ? file->name : "");
    return file->name != NULL;
}

static int sample_main(cli *tool)
{
    const char *folder = tool->operands[0];
    item it;
    int code = check_names(tool);
    if (code)
        return code;
    json_t *object = json_object(), *list = put_list(object, "files");
    code = folder_make(object, folder);
    int is_made = !code;
    for (int i = 0; is_made && find_item(i, &it); i++) {
        if (!is_wanted(tool, it.sample))
            continue;
        int asked = write_item(tool, list, folder, &it);
        code = asked > code ? asked : code;
    }
    cli_json_print(tool, object);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"only", 0, "NAME", "Write only this sample. May be repeated."},
    {"force", 'f', NULL, "Replace files with different contents. Without it they are kept, and the exit code is 1."},
    {0},
};

const cli_command sample_command = {
    .name = "sample",
    .operands = "DIR",
    .operand = "a folder name",
    .least = 1,
    .most = 1,
    .summary = "write the built-in skeletons and a sample take to a folder",
    .text =
        "Writes human.json, hand.json, right-hand.json, arm.json, two-link.json and all-joints.json to the folder, which is created if "
        "needed. The last file has one body per joint type and every option of the model file: a good place to learn the "
        "format.\n\n"
        "It also writes a take for trying `ulna solve` (sample name: walk): human.asf, walk.c3d, walk-markers.csv (marker "
        "attachment) and walk-true.amc (the true motion). A human walks, stops, bends the knees and waves: six seconds at "
        "120 Hz, 41 markers. The recording has 1 mm of noise and gaps; the left arm's markers are missing in frames 260 "
        "to 295, all markers in 420 to 427, and LKNE and RKNE are swapped in 180 to 215. The files are the same every "
        "time.",
    .options = options,
    .examples = "ulna sample models\tall samples\n"
                "ulna sample --only walk models\tthe take and its skeleton",
    .run = sample_main,
};
