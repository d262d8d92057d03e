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
    size_t size = strlen(take->place) + strlen(text) + 3;
    take->error = error;
    take->problem = malloc(size);
    if (!take->problem)
        cli_out_of_memory();
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
    if (strcmp(path, "-") == 0)
        plan_complain(take, "argument", "%s cannot be standard input in a batch: name a file", what);
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

/* File systems allow 255 bytes; a temporary file has some more than the outputs. */
static void check_lengths(batch_take *take)
{
    enum { MOST = 240, MOST_OF_SUBJECT = 200 };
    const char *slash = strrchr(take->path, '/');
    size_t longest = strlen(slash ? slash + 1 : take->path);
    for (const char *at = take->name; at; at = strchr(at, '/') ? strchr(at, '/') + 1 : NULL)
        longest = strcspn(at, "/") > longest ? strcspn(at, "/") : longest;
    if (longest > MOST)
        plan_complain(
            take, "argument",
            "its name has %zu bytes, and may have %d, so that files can be named after it: rename it, or its folder",
            longest, MOST);
    size_t subject = strlen(take->subject);
    for (const char *at = take->subject; *at; at++)
        subject += *at == '~'; /* see double_tildes */
    if (subject > MOST_OF_SUBJECT)
        plan_complain(take, "argument", "its subject has %zu bytes, and may have %d: give a shorter one", subject,
                      MOST_OF_SUBJECT);
}

/* Looks at name, files and options before anything is solved. */
static void check_take(const batch_plan *plan, batch_take *take)
{
    char path[4096];
    struct stat about;
    ulna_error error;
    ulna_error_clear(&error);
    check_name(take);
    check_lengths(take);
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
    else if (!plan->is_own && options_check_files(take->words, path, sizeof path, &error))
        plan_complain(take, "io", "its options: %s: %s", path, error.message);
}

/* With each '~' doubled, so that no name is that of another with "~2" or "~take" behind it. */
static char *double_tildes(const char *name)
{
    char *doubled = name ? malloc(2 * strlen(name) + 1) : NULL, *to = doubled;
    for (const char *from = name; doubled && *from; from++) {
        *to++ = *from;
        if (*from == '~')
            *to++ = *from;
    }
    if (doubled)
        *to = 0;
    return doubled;
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
    char *group = double_tildes(name);
    free(session);
    free(subject);
    free(name);
    return group;
}

static int is_same_group(const batch_take *a, const batch_take *b)
{
    return strcmp(a->skeleton, b->skeleton) == 0 && strcmp(a->shared, b->shared) == 0 &&
           strcmp(a->subject, b->subject) == 0;
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
        const char *rest = group->name + length;
        if (strncmp(group->name, name, length) != 0 || (*rest && (*rest != '~' || rest[1] == '~')))
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
    char *doubled = double_tildes(take->name);
    size_t size = doubled ? strlen(doubled) + 8 : 1;
    char *name = doubled ? malloc(size) : NULL;
    if (name)
        snprintf(name, size, "%s~take", doubled);
    free(doubled);
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
        check_take(plan, take);
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
