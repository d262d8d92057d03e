/* ulna sample DIR: writes the built-in skeletons. */
#include "cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ulna/sample.h"

static int is_sample(const char *name)
{
    for (int i = 0; ulna_sample_name(i); i++)
        if (strcmp(ulna_sample_name(i), name) == 0)
            return 1;
    return 0;
}

/* Refuses names that do not exist before anything is written. */
static int check_names(const cli *tool)
{
    enum { MOST = 32 };
    const char *names[MOST + 1] = {0};
    for (int i = 0; i < MOST && ulna_sample_name(i); i++)
        names[i] = ulna_sample_name(i);
    for (int i = 0; i < tool->given_count; i++) {
        if (strcmp(tool->given[i]->name, "only") != 0 || is_sample(tool->values[i]))
            continue;
        const char *nearest = cli_nearest(tool->values[i], names, sizeof *names);
        return cli_usage(tool, "there is no sample '%s'%s%s%s", tool->values[i], nearest ? "; did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
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

static char *join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 8;
    char *path = malloc(size);
    int has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s.json", folder, has_slash ? "" : "/", name);
    return path;
}

/* mkdir -p */
static int make_folder(const char *folder)
{
    char *path = strdup(folder);
    if (!path)
        return ENOMEM;
    int failure = 0;
    for (char *at = path; *at && !failure; at++) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char slash = *at;
        *at = 0;
        struct stat state;
        if (mkdir(path, 0777) && (errno != EEXIST || stat(path, &state) || !S_ISDIR(state.st_mode)))
            failure = errno == EEXIST ? ENOTDIR : errno;
        *at = slash;
        if (!slash)
            break;
    }
    free(path);
    return failure;
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

static outcome write_sample(const cli *tool, const char *name, const char *path, ulna_error *error)
{
    ulna_model *model;
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    if (ulna_sample_create(name, NULL, &model, error))
        return FAILED;
    outcome result = FAILED;
    if (ulna_model_write_json(model, &sink, error) == ULNA_OK) {
        struct stat state;
        result = stat(path, &state) == 0 && S_ISREG(state.st_mode) ? compare(path, &text) : WRITTEN;
        if (result == KEPT && cli_value(tool, "force"))
            result = WRITTEN;
        if (result == WRITTEN && ulna_model_save(model, path, error))
            result = FAILED;
    }
    ulna_text_release(&text);
    ulna_model_destroy(model);
    return result;
}

/* Tells of one file, and returns the exit code it asks for. */
static int report(const cli *tool, json_t *list, const char *path, int index, outcome result, const ulna_error *error)
{
    static const char *const words[] = {"written", "unchanged", "kept", "failed"};
    json_t *row = json_object();
    json_object_set_new(row, "file", cli_json_text(path));
    json_object_set_new(row, "sample", cli_json_text(ulna_sample_name(index)));
    json_object_set_new(row, "result", cli_json_text(words[result]));
    if (result == FAILED)
        json_object_set_new(row, "error", cli_json_error(error));
    json_array_append_new(list, row);

    switch (result) {
    case WRITTEN:
        cli_say(tool, "%s: %s\n", path, ulna_sample_text(index));
        return CLI_DONE;
    case UNCHANGED:
        cli_say(tool, "%s: is there already\n", path);
        return CLI_DONE;
    case KEPT:
        cli_complain("%s: has other contents and is kept; --force replaces it", path);
        return CLI_PARTLY;
    default:
        return cli_complain_file(path, error);
    }
}

int cli_sample(cli *tool)
{
    const char *folder = tool->operands[0];
    int code = check_names(tool);
    if (code)
        return code;
    ulna_error error;
    json_t *object = json_object(), *list = json_array();
    json_object_set_new(object, "files", list);
    int failure = make_folder(folder);
    if (failure) {
        cli_fail(&error, ULNA_ERR_IO, "cannot make the folder: %s", strerror(failure));
        json_object_set_new(object, "error", cli_json_error(&error));
        code = cli_complain_file(folder, &error);
    }
    for (int i = 0; !failure && ulna_sample_name(i); i++) {
        if (!is_wanted(tool, ulna_sample_name(i)))
            continue;
        ulna_error_clear(&error);
        char *path = join(folder, ulna_sample_name(i));
        if (!path) {
            cli_complain("out of memory");
            code = CLI_PARTLY;
            break;
        }
        outcome result = write_sample(tool, ulna_sample_name(i), path, &error);
        int asked = report(tool, list, path, i, result, &error);
        code = asked > code ? asked : code;
        free(path);
    }
    cli_json_print(tool, object);
    return code;
}
