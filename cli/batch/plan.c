/* The plan: takes, whether they can be solved, and which of them share a calibration. What folder.c and manifest.c find becomes one here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/batch.h"

/* ---- takes ------------------------------------------------------------------------------------------------------------ */

int plan_set(char **text, const char *value)
{
    char *copy = strdup(value);
    if (copy) {
        free(*text);
        *text = copy;
    }
    return copy != NULL;
}

batch_take *plan_add(batch_plan *plan, const char *name, const char *path)
{
    if (plan->count == plan->room) {
        int room = plan->room ? 2 * plan->room : 64;
        batch_take *grown = realloc(plan->takes, (size_t)room * sizeof *grown);
        if (!grown)
            return NULL;
        plan->takes = grown;
        plan->room = room;
    }
    batch_take *take = &plan->takes[plan->count++];
    *take = (batch_take){.calibration = ULNA_NONE};
    return plan_set(&take->name, name) && plan_set(&take->path, path) && plan_set(&take->skeleton, "") &&
                   plan_set(&take->attach, "") && plan_set(&take->subject, "") && plan_set(&take->words, "") &&
                   plan_set(&take->shared, "") && plan_set(&take->place, "")
               ? take
               : NULL;
}

/* The first complaint counts. */
void plan_complain(batch_take *take, const char *error, const char *format, ...)
{
    va_list arguments;
    if (take->problem)
        return;
    va_start(arguments, format);
    char *text = cli_format(format, arguments);
    va_end(arguments);
    size_t size = strlen(take->place) + (text ? strlen(text) : 0) + 3;
    take->error = error;
    take->problem = text ? malloc(size) : NULL;
    if (take->problem)
        snprintf(take->problem, size, "%s%s%s", take->place, *take->place ? ": " : "", text);
    free(text);
}

void plan_release(batch_plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        batch_take *t = &plan->takes[i];
        char *const texts[] = {t->name,  t->path,   t->skeleton, t->attach, t->subject,
                               t->words, t->shared, t->place,    t->problem};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            free(texts[k]);
    }
    for (int i = 0; i < plan->calibration_count; i++) {
        free(plan->calibrations[i].name);
        free(plan->calibrations[i].takes);
        json_decref(plan->calibrations[i].result);
    }
    free(plan->takes);
    free(plan->calibrations);
    json_decref(plan->notes);
    json_decref(plan->left_out_names);
}

/* ---- the plan as a whole --------------------------------------------------------------------------------------------------- */

/* Names of takes and subjects are those of outputs, and keys in tables and the journal, which are UTF-8. A byte that is not is taken for
 * Latin-1, where it is the number of its character. 0 without memory. */
static int make_utf8(char **text)
{
    const char *from = *text;
    char *result = malloc(2 * strlen(from) + 1), *to = result;
    while (result && *from) {
        const unsigned char byte = (unsigned char)*from;
        int size;
        (void)cli_is_printable(from, &size);
        if (size == 1 && byte >= 0x80) {
            *to++ = (char)(0xc0 | byte >> 6);
            *to++ = (char)(0x80 | (byte & 0x3f));
        } else {
            memcpy(to, from, (size_t)size);
            to += size;
        }
        from += size;
    }
    if (!result)
        return 0;
    *to = 0;
    free(*text);
    *text = result;
    return 1;
}

static int by_name(const void *a, const void *b)
{
    const batch_take *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    if (names)
        return names;
    return x->line != y->line ? x->line - y->line : strcmp(x->path, y->path);
}

/* Absolute, so that the plan can be used from any folder, also for a file that is not there now; words such as "human" stay. */
static int make_absolute(char **path, const char *here)
{
    struct stat about;
    if (!**path || **path == '/' || (stat(*path, &about) != 0 && !strpbrk(*path, "./")))
        return 1;
    char *whole = folder_join(here, strncmp(*path, "./", 2) == 0 ? *path + 2 : *path);
    int is_made = whole && plan_set(path, whole);
    free(whole);
    return is_made;
}

/* A file that can be read: not a pipe, say, which nobody may ever write to. Names without a dot are those of built-in skeletons. */
static void check_file(batch_take *take, const char *what, const char *path)
{
    struct stat about;
    if (!strpbrk(path, "./"))
        return;
    if (access(path, R_OK) != 0 || stat(path, &about) != 0)
        plan_complain(take, "io", "%s %s cannot be read: %s", what, path, strerror(errno));
    else if (!S_ISREG(about.st_mode))
        plan_complain(take, "io", "%s %s is not a file", what, path);
}

/* Its outputs are below OUT, and not where the batch itself writes. */
static void check_name(batch_take *take)
{
    static const char *const files[] = {"plan", "results", "index"}, *const folders[] = {"journal", "calibration",
                                                                                         "slurm"};
    const char *name = take->name;
    size_t first = strcspn(name, "/");
    int is_own = 0;
    for (const char *at = name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        if (strcspn(at, "/") == strspn(at, ".") && strspn(at, ".") <= 2) { /* nothing, this folder, or the one above */
            plan_complain(take, "argument",
                          "the name '%.200s' is not one of a file below the output folder: give another one in the "
                          "column name",
                          name);
            return;
        }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        is_own |= strcmp(name, files[i]) == 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        is_own |= strlen(folders[i]) == first && strncmp(name, folders[i], first) == 0;
    if (is_own)
        plan_complain(take, "argument",
                      "the batch itself uses the name '%.200s' in the output folder: name the take in a manifest, and "
                      "give another name in its column name",
                      name);
}

/* Looks at name, files and options before anything is solved. */
static void check_take(batch_take *take)
{
    char path[4096];
    struct stat about;
    ulna_error error;
    ulna_error_clear(&error);
    check_name(take);
    if (stat(take->path, &about) != 0 && errno != ENOENT)
        plan_complain(take, "io", "%s cannot be read: %s", take->path, strerror(errno));
    else if (stat(take->path, &about) != 0 && lstat(take->path, &about) == 0)
        plan_complain(take, "io", "%s is a link to a file that is not there: mend or remove the link", take->path);
    else if (stat(take->path, &about) != 0)
        plan_complain(take, "io", "there is no file %s", take->path);
    else if (!S_ISREG(about.st_mode))
        plan_complain(take, "io", "%s is not a file", take->path);
    else
        take->bytes = (double)about.st_size;
    check_file(take, "the skeleton", take->skeleton);
    check_file(take, "the table of markers", take->attach);
    if (take_check_words(take, &error))
        plan_complain(take, "argument", "its options: %s", error.message);
    else if (options_check_files(take->words, path, sizeof path, &error))
        plan_complain(take, "io", "its options: %s: %s", path, error.message);
}

/* "session/subject": the folder of the take, and who it is. */
static char *group_name(const batch_take *take)
{
    const char *slash = strrchr(take->name, '/');
    char *session = slash ? strndup(take->name, (size_t)(slash - take->name)) : strdup("");
    char *subject = strdup(*take->subject ? take->subject : "subject"), *name = NULL;
    for (char *at = subject; at && *at; at++)
        *at = *at == '/' ? '_' : *at;
    if (session && subject)
        name = *session ? folder_join(session, subject) : strdup(subject);
    free(session);
    free(subject);
    return name;
}

static int is_same_group(const batch_take *a, const batch_take *b)
{
    return strcmp(a->skeleton, b->skeleton) == 0 && strcmp(a->shared, b->shared) == 0;
}

/* The largest takes of the group, in order; of two that are equally large, the first. */
static void add_to_group(const batch_plan *plan, batch_calibration *group, int take)
{
    int at = group->take_count;
    while (at > 0 && plan->takes[group->takes[at - 1]].bytes < plan->takes[take].bytes)
        at--;
    if (at == BATCH_CALIBRATION_TAKES)
        return;
    if (group->take_count < BATCH_CALIBRATION_TAKES)
        group->take_count++;
    memmove(group->takes + at + 1, group->takes + at, (size_t)(group->take_count - at - 1) * sizeof *group->takes);
    group->takes[at] = take;
}

/* An empty group; it owns the name, which may be NULL where there was no memory for it. */
static int add_group(batch_plan *plan, char *name)
{
    batch_calibration *grown =
        realloc(plan->calibrations, ((size_t)plan->calibration_count + 1) * sizeof *plan->calibrations);
    if (grown)
        plan->calibrations = grown;
    int *takes = calloc(BATCH_CALIBRATION_TAKES, sizeof *takes);
    if (!grown || !takes || !name) {
        free(name);
        free(takes);
        return ULNA_NONE;
    }
    grown[plan->calibration_count] = (batch_calibration){.name = name, .takes = takes};
    return plan->calibration_count++;
}

/* A number makes the name unique where takes of one subject have several skeletons or options. */
static int find_group(batch_plan *plan, int index)
{
    const batch_take *take = &plan->takes[index];
    char *name = group_name(take);
    int same_name = 0;
    for (int g = plan->calibration_count - 1; g >= 0 && name; g--) { /* takes of a group are neighbours, mostly */
        const batch_calibration *group = &plan->calibrations[g];
        size_t length = strlen(name);
        if (strncmp(group->name, name, length) != 0 || (group->name[length] && group->name[length] != '~'))
            continue;
        if (is_same_group(&plan->takes[group->takes[0]], take)) {
            free(name);
            return g;
        }
        same_name++;
    }
    size_t size = name ? strlen(name) + 16 : 1;
    char *unique = name ? malloc(size) : NULL;
    if (unique)
        snprintf(unique, size, same_name ? "%s~%d" : "%s", name, same_name + 1);
    free(name);
    return add_group(plan, unique);
}

char *plan_name_alone(const batch_take *take)
{
    size_t size = strlen(take->name) + 16;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s~take", take->name);
    return name;
}

int plan_calibrate_alone(batch_plan *plan, int index)
{
    batch_take *take = &plan->takes[index];
    int group = add_group(plan, plan_name_alone(take));
    if (group == ULNA_NONE)
        return 0;
    take->calibration = group;
    take->is_apart = 1;
    add_to_group(plan, &plan->calibrations[group], index);
    return 1;
}

int plan_finish(batch_plan *plan)
{
    char *here = getcwd(NULL, 0);
    int is_done = here != NULL;
    for (int i = 0; i < plan->count && is_done; i++)
        is_done = make_utf8(&plan->takes[i].name) && make_utf8(&plan->takes[i].subject);
    if (plan->count)
        qsort(plan->takes, (size_t)plan->count, sizeof *plan->takes, by_name);
    for (int i = 0; i < plan->count && is_done; i++) {
        batch_take *take = &plan->takes[i];
        is_done = make_absolute(&take->path, here) && make_absolute(&take->skeleton, here) &&
                  make_absolute(&take->attach, here);
        take->is_namesake = i && strcmp(take->name, take[-1].name) == 0;
        if (take->is_namesake && *take->place)
            plan_complain(take, "argument",
                          "line %d has the name %.200s already: give one of them another in the column name",
                          take[-1].line, take->name);
        else if (take->is_namesake)
            plan_complain(take, "argument",
                          "%s has the same name: give one of them another in the column name of a manifest",
                          take[-1].path);
        check_take(take);
    }
    for (int i = 0; i < plan->count && is_done; i++) {
        batch_take *take = &plan->takes[i];
        if (take->problem || *take->attach)
            continue;
        take->calibration = find_group(plan, i);
        is_done = take->calibration != ULNA_NONE;
        if (is_done)
            add_to_group(plan, &plan->calibrations[take->calibration], i);
    }
    free(here);
    return is_done;
}

/* ---- what is skipped ------------------------------------------------------------------------------------------------------- */

void plan_put_skipped(const batch_plan *plan, json_t *object)
{
    put_count(object, "unread", plan->unread);
    put_count(object, "links", plan->links);
    put_count(object, "outputs", plan->outputs);
    if (plan->notes)
        json_object_set(object, "notes", plan->notes);
    else
        (void)put_list(object, "notes");
}

/* A note for each of the first folders, and a line if there are more. */
void plan_tell_skipped(const cli *tool, const batch_plan *plan)
{
    long long more = (long long)plan->unread + plan->links + plan->outputs - (long long)json_array_size(plan->notes);
    files_print_notes(tool, plan->notes);
    if (more > 0) {
        const struct {
            int count;
            const char *one, *many;
        } kinds[] = {{plan->unread, "folder that cannot be read", "folders that cannot be read"},
                     {plan->links, "link to a folder", "links to folders"},
                     {plan->outputs, "output of a batch", "outputs of batches"}};
        char text[200] = "";
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i].count)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d %s", *text ? ", " : "", kinds[i].count,
                         kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
        cli_say(tool, "not searched in all: %s\n", text);
    }
    if (plan->unread && tool->quiet) /* it is not success */
        cli_complain("%d folder%s cannot be read; takes below %s are missing", plan->unread,
                     plan->unread == 1 ? "" : "s", plan->unread == 1 ? "it" : "them");
}

ulna_status plan_save_skipped(const batch_plan *plan, const char *path, ulna_error *error)
{
    json_t *object = json_object();
    plan_put_skipped(plan, object);
    json_t *reasons = put_object(object, "no_skeleton");
    for (int i = 0; i < plan->count; i++)
        if (plan->takes[i].problem && !*plan->takes[i].skeleton && !plan->takes[i].is_namesake)
            put_text(reasons, plan->takes[i].name, plan->takes[i].problem);
    ulna_status status = cli_write_json(path, object, error);
    json_decref(object);
    return status;
}

void plan_load_skipped(batch_plan *plan, const char *path)
{
    json_t *object = json_load_file(path, 0, NULL), *notes = json_object_get(object, "notes");
    if (!object)
        return;
    plan->unread = (int)json_integer_value(json_object_get(object, "unread"));
    plan->links = (int)json_integer_value(json_object_get(object, "links"));
    plan->outputs = (int)json_integer_value(json_object_get(object, "outputs"));
    json_decref(plan->notes);
    plan->notes = json_is_array(notes) ? json_incref(notes) : NULL;
    json_decref(object);
}

json_t *plan_load_reasons(const char *output)
{
    char *path = folder_join(output, "journal/skipped.json");
    json_t *object = path ? json_load_file(path, 0, NULL) : NULL;
    json_t *reasons = json_incref(json_object_get(object, "no_skeleton"));
    json_decref(object);
    free(path);
    return reasons;
}

/* ---- what cannot be solved ---------------------------------------------------------------------------------------------------- */

/* A problem without its place, which no other take has. */
static const char *reason_of(const batch_take *take)
{
    return take->problem + (*take->place ? strlen(take->place) + 2 : 0);
}

static int by_reason(const void *a, const void *b)
{
    const batch_take *x = *(const batch_take *const *)a, *y = *(const batch_take *const *)b;
    int reasons = strcmp(reason_of(x), reason_of(y));
    return reasons ? reasons : (x > y) - (x < y);
}

/* Takes with one reason: a few by a line each, more by a common one. */
static void tell_group(const cli *tool, const batch_take *const *takes, int count, const char *verb)
{
    enum { FEW = 3 };
    for (int i = 0; i < count && count <= FEW; i++)
        cli_say(tool, "%s %s: %s\n", verb, takes[i]->name, takes[i]->problem);
    if (count > FEW)
        cli_say(tool, "%s %d takes: %s (%s, %s, %s, ...)\n", verb, count, reason_of(*takes), takes[0]->name,
                takes[1]->name, takes[2]->name);
}

static int by_first_take(const void *a, const void *b)
{
    const batch_take *const *x = *(const batch_take *const *const *)a, *const *y = *(const batch_take *const *const *)b;
    return (*x > *y) - (*x < *y);
}

void plan_tell_problems(const cli *tool, const batch_plan *plan, const unsigned char *is_chosen, const char *verb)
{
    size_t room = (size_t)plan->count + 1;
    const batch_take **takes = calloc(room, sizeof *takes), ***groups = calloc(room, sizeof *groups);
    int count = 0, group_count = 0;
    for (int i = 0; i < plan->count && takes && groups; i++)
        if (plan->takes[i].problem && (!is_chosen || is_chosen[i]))
            takes[count++] = &plan->takes[i];
    if (count)
        qsort(takes, (size_t)count, sizeof *takes, by_reason);
    for (int i = 0; i < count; i++)
        if (!i || strcmp(reason_of(takes[i]), reason_of(takes[i - 1])) != 0)
            groups[group_count++] = takes + i;
    if (group_count) /* in the order of their first takes */
        qsort(groups, (size_t)group_count, sizeof *groups, by_first_take);
    for (int g = 0; g < group_count; g++) {
        const batch_take **end = groups[g] + 1;
        while (end < takes + count && strcmp(reason_of(*end), reason_of(*groups[g])) == 0)
            end++;
        tell_group(tool, groups[g], (int)(end - groups[g]), verb);
    }
    free(takes);
    free(groups);
}

/* ---- --dry-run ----------------------------------------------------------------------------------------------------------- */

static json_t *take_object(const batch_plan *plan, int index, batch_settled settled, const json_t *lines)
{
    static const char *const words[] = {[BATCH_LEFT] = "missing", [BATCH_DONE] = "done", [BATCH_FAILED] = "failed"};
    const batch_take *take = &plan->takes[index];
    json_t *row = json_object();
    put_text(row, "take", take->name);
    put_text(row, "status", words[take->problem ? BATCH_FAILED : settled]); /* as the run would say */
    put_text(row, "recording", take->path);
    put_text(row, "skeleton", *take->skeleton ? take->skeleton : NULL);
    put_text(row, "attach", *take->attach ? take->attach : NULL);
    put_text(row, "calibration", take->calibration == ULNA_NONE ? NULL : plan->calibrations[take->calibration].name);
    put_text(row, "subject", take->subject);
    put_text(row, "options", take->words);
    put_count(row, "bytes", (long long)take->bytes);
    put_text(row, "problem", take->problem);
    if (take->problem)
        put_text(row, "error", take->error);
    else if (settled == BATCH_FAILED) {
        const json_t *line = json_object_get(lines, json_string_value(json_object_get(row, "take")));
        json_object_set(row, "error", json_object_get(line, "error"));
        json_object_set(row, "message", json_object_get(line, "message"));
    }
    return row;
}

/* That the takes which are left need, and that no earlier run has. */
static int count_calibrations(const batch_plan *plan, const batch_settled *settled)
{
    int count = 0;
    for (int c = 0; c < plan->calibration_count; c++) {
        const char *status = json_string_value(json_object_get(plan->calibrations[c].result, "status"));
        int is_needed = 0;
        for (int i = 0; i < plan->count; i++)
            is_needed |= settled[i] == BATCH_LEFT && plan->takes[i].calibration == c;
        count += is_needed && (!status || strcmp(status, "failed") == 0);
    }
    return count;
}

/* As short as it can be said here: relative to the current folder, if it is below it. */
static void put_short(json_t *row, const char *key, const char *path, const char *here)
{
    size_t length = here ? strlen(here) : 0;
    if (length && strncmp(path, here, length) == 0 && path[length] == '/')
        put_text(row, key, path + length + 1);
}

/* The takes that are left. */
static void show_takes(const cli *tool, const batch_plan *plan, const batch_settled *settled)
{
    static const fact_column columns[] = {
        {"take", 'l', "{take}"},
        {"subject", 'l', "{subject}"},
        {"skeleton", 'l', "{skeleton}"},
        {"markers", 'l', "[{attach}|to be calibrated: {calibration}]"},
        {0},
    };
    json_t *rows = json_array();
    char *here = getcwd(NULL, 0);
    for (int i = 0; i < plan->count; i++) {
        const batch_take *take = &plan->takes[i];
        if (settled[i] != BATCH_LEFT || take->problem)
            continue;
        json_t *row = take_object(plan, i, BATCH_LEFT, NULL);
        put_short(row, "skeleton", take->skeleton, here);
        put_short(row, "attach", take->attach, here);
        json_array_append_new(rows, row);
    }
    if (json_array_size(rows))
        fact_table(tool, 0, rows, columns);
    free(here);
    json_decref(rows);
}

static void show_line(const cli *tool, const json_t *object, const char *template)
{
    char *text = tool->json || tool->quiet ? NULL : fact_fill(tool, object, template);
    if (text && *text)
        table_wrap(tool, 0, 0, 0, text);
    free(text);
}

void plan_show(const cli *tool, const batch_plan *plan, const batch_settled *settled, const json_t *lines)
{
    static const char *const summary[] = {
        "{left} take{left:/s} to solve",
        "{problems?}{problems} take{problems:/s} that cannot be solved",
        "{calibrations?}{calibrations} calibration{calibrations:/s}, and one more for each take whose markers were taken "
        "off and put on again",
        "{done?}{done} take{done:/s} done already",
        "{again?}{again} take{again:/s} failed before; --retry-failed solves {again:it/them} again",
        "{left_out?}{left_out} recording{left_out:/s} left out, as a C3D has the same name: {left_out_names}{more}",
    };
    json_t *object = json_object(), *list = put_list(object, "takes");
    int problems = 0, left = 0, counts[BATCH_OTHERS + 1] = {0};
    for (int i = 0; i < plan->count; i++) {
        counts[settled[i]]++;
        if (settled[i] == BATCH_OTHERS)
            continue;
        problems += plan->takes[i].problem != NULL;
        left += settled[i] == BATCH_LEFT && !plan->takes[i].problem;
        json_array_append_new(list, take_object(plan, i, settled[i], lines));
    }
    put_count(object, "problems", problems);
    put_count(object, "left_out", plan->left_out);
    plan_put_skipped(plan, object);
    put_count(object, "calibrations", count_calibrations(plan, settled));
    put_count(object, "left", left);
    put_count(object, "done", counts[BATCH_DONE]);
    put_count(object, "failed", counts[BATCH_FAILED] + problems);
    unsigned char *is_shown = calloc((size_t)plan->count + 1, 1);
    for (int i = 0; i < plan->count && is_shown; i++)
        is_shown[i] = settled[i] == BATCH_LEFT;
    show_takes(tool, plan, settled);
    if (is_shown)
        plan_tell_problems(tool, plan, is_shown, "cannot solve");
    json_t *shown = json_copy(object);
    put_count(shown, "again", counts[BATCH_FAILED]);
    json_object_set(shown, "left_out_names", plan->left_out_names);
    put_text(shown, "more", plan->left_out > (int)json_array_size(plan->left_out_names) ? ", ..." : "");
    for (size_t i = 0; i < sizeof summary / sizeof *summary; i++)
        show_line(tool, shown, summary[i]);
    plan_tell_skipped(tool, plan);
    free(is_shown);
    json_decref(shown);
    cli_json_print(tool, object);
}
