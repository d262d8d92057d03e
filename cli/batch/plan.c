/*
 * Which takes there are, and with which skeleton and markers each is solved.
 *
 * In a folder, every C3D and TRC file is a take. Its skeleton is looked for beside it, then in the folders above, up to the one
 * that was given: in each first a file whose name begins that of the take (CMU: 02.asf for 02_01.c3d; HDM05: HDM_bd.asf for
 * HDM_bd_01-01_01_120.c3d), ASF before model files, BVH and glTF, and the longest name; then the only skeleton there. A BVH or glTF with
 * the whole name of a take is a motion of it, such as `ulna solve -o walk.glb` leaves beside walk.c3d: it is a skeleton only where there
 * is no other. A table of markers is one whose name, before "-markers.csv", begins that of the take.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "src/base/algorithms.h"

#define ATTACH_ENDING "-markers.csv"

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
                   plan_set(&take->shared, "")
               ? take
               : NULL;
}

/* The first complaint counts. */
void plan_complain(batch_take *take, const char *format, ...)
{
    va_list arguments;
    if (take->problem)
        return;
    va_start(arguments, format);
    take->problem = cli_format(format, arguments);
    va_end(arguments);
}

void plan_release(batch_plan *plan)
{
    for (int i = 0; i < plan->count; i++) {
        batch_take *t = &plan->takes[i];
        char *const texts[] = {t->name, t->path, t->skeleton, t->attach, t->subject, t->words, t->shared, t->problem};
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
}

/* ---- the files of a folder ---------------------------------------------------------------------------------------------- */

typedef enum file_kind { KIND_TAKE, KIND_SKELETON, KIND_ATTACH } file_kind;
enum { MOTIONS = 2 }; /* rank of skeletons from which on files have motions too */

typedef struct found_file {
    char *path; /* below the folder that was given */
    file_kind kind;
    int rank;      /* of takes and skeletons: the lower one is preferred */
    size_t folder; /* length of its part of the path, without the slash */
    size_t stem;   /* end of the name without its ending */
    int is_motion; /* a BVH or glTF with the name of a take beside it */
} found_file;

typedef struct found_files {
    found_file *list; /* by path */
    int count, room;
    const char *root;
    dev_t device; /* of a folder that is left out */
    ino_t number;
    batch_plan *plan; /* receives what is skipped */
    int has_memory;
} found_files;

static int ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), size = strlen(ending);
    return length > size && strcasecmp(text + length - size, ending) == 0;
}

/* JSON may be anything; a model file says at its beginning what it is. */
static int is_model(const char *path)
{
    char bytes[4096] = "";
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(bytes, 1, sizeof bytes - 1, file) : 0;
    if (file)
        (void)fclose(file);
    bytes[length] = 0;
    return strstr(bytes, "\"ulna-model\"") != NULL;
}

/* 0 if the batch has no use for the file. */
static int classify(const char *path, const char *whole, found_file *file)
{
    static const struct {
        const char *ending;
        file_kind kind;
        int rank;
    } kinds[] = {{".c3d", KIND_TAKE, 0},
                 {".trc", KIND_TAKE, 1},
                 {".asf", KIND_SKELETON, 0},
                 {".json", KIND_SKELETON, 1},
                 {".bvh", KIND_SKELETON, MOTIONS},
                 {".glb", KIND_SKELETON, MOTIONS + 1},
                 {".gltf", KIND_SKELETON, MOTIONS + 1},
                 {ATTACH_ENDING, KIND_ATTACH, 0}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ends_with(path, kinds[i].ending)) {
            const char *slash = strrchr(path, '/');
            file->kind = kinds[i].kind;
            file->rank = kinds[i].rank;
            file->folder = slash ? (size_t)(slash - path) : 0;
            file->stem = strlen(path) - strlen(kinds[i].ending);
            return strcasecmp(kinds[i].ending, ".json") != 0 || is_model(whole);
        }
    return 0;
}

static void add_file(found_files *files, const char *path, const char *whole)
{
    found_file file = {0};
    if (!classify(path, whole, &file))
        return;
    if (files->count == files->room) {
        int room = files->room ? 2 * files->room : 256;
        found_file *grown = realloc(files->list, (size_t)room * sizeof *grown);
        files->has_memory &= grown != NULL;
        if (!grown)
            return;
        files->list = grown;
        files->room = room;
    }
    file.path = strdup(path);
    files->has_memory &= file.path != NULL;
    if (file.path)
        files->list[files->count++] = file;
}

static int is_recording(const char *path)
{
    return ends_with(path, ".c3d") || ends_with(path, ".trc");
}

/* All are counted, the first ones are listed. `number`: why it cannot be read; 0: it is a link to a folder. */
static void skip(found_files *files, const char *whole, int number)
{
    enum { MOST_NOTES = 20 };
    batch_plan *plan = files->plan;
    plan->unread += number != 0;
    plan->links += number == 0;
    if (!plan->notes)
        plan->notes = json_array();
    if (json_array_size(plan->notes) >= MOST_NOTES)
        return;
    if (number)
        files_note_text(plan->notes,
                        "%.300s cannot be read (%s): takes below it are missing; make it readable and run this again",
                        whole, strerror(number));
    else
        files_note_text(plan->notes,
                        "%.300s is a link to a folder and is not followed; name its takes in a manifest, or give that "
                        "folder to a batch of its own",
                        whole);
}

static int walk(found_files *files, const char *below);

/* Links to files are followed, links to folders are not: they may lead back. A recording that is not there or is no file is a take that
 * fails: see check_take. */
static void visit(found_files *files, const char *path, const char *whole)
{
    struct stat about;
    if (lstat(whole, &about) != 0) {
        if (is_recording(path))
            add_file(files, path, whole);
        else if (errno != ENOENT) /* else somebody has just removed it */
            skip(files, whole, errno);
    } else if (S_ISDIR(about.st_mode)) {
        if ((about.st_dev != files->device || about.st_ino != files->number) && !walk(files, path))
            skip(files, whole, errno);
    } else if (stat(whole, &about) == 0 && S_ISDIR(about.st_mode))
        skip(files, whole, 0);
    else if (is_recording(path) || (stat(whole, &about) == 0 && S_ISREG(about.st_mode)))
        add_file(files, path, whole);
}

/* Returns 0 if the folder cannot be read; then errno says why. */
static int walk(found_files *files, const char *below)
{
    char *folder = *below ? folder_join(files->root, below) : strdup(files->root);
    DIR *open = folder ? opendir(folder) : NULL;
    struct dirent *entry;
    int number = open ? 0 : errno;
    files->has_memory &= folder != NULL;
    while (open && files->has_memory && (errno = 0, entry = readdir(open)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = *below ? folder_join(below, entry->d_name) : strdup(entry->d_name);
        char *whole = folder_join(folder, entry->d_name);
        files->has_memory &= path && whole;
        if (path && whole)
            visit(files, path, whole);
        free(path);
        free(whole);
    }
    if (open && files->has_memory)
        number = errno;
    if (open)
        (void)closedir(open);
    free(folder);
    errno = number;
    return number == 0;
}

static int by_path(const void *a, const void *b)
{
    return strcmp(((const found_file *)a)->path, ((const found_file *)b)->path);
}

/* ---- what belongs to a take ----------------------------------------------------------------------------------------------- */

/* Length of the name of `file` if it begins the take's name, and a word ends there; else 0. */
static size_t prefix_of(const found_file *file, const found_file *take)
{
    const char *name = file->path + file->folder + (file->folder > 0),
               *own = take->path + take->folder + (take->folder > 0);
    size_t length = file->stem - (size_t)(name - file->path), all = take->stem - (size_t)(own - take->path);
    if (length == 0 || length > all || strncasecmp(name, own, length) != 0)
        return 0;
    return length == all || !ulna_is_alphanumeric(own[length]) || !ulna_is_alphanumeric(own[length - 1]) ? length : 0;
}

static int is_in(const found_file *file, const char *path, size_t folder)
{
    return file->folder == folder && strncmp(file->path, path, folder) == 0;
}

typedef struct choice {
    const found_file *file; /* NULL: none */
    int is_by_name;
    const found_file *rivals[2]; /* several, none of which has the take's name */
} choice;

static int is_better(const found_file *a, size_t prefix, const found_file *b, size_t other)
{
    return !b || a->rank < b->rank || (a->rank == b->rank && prefix > other);
}

static int can_be_motion(const found_file *file)
{
    return file->kind == KIND_SKELETON && file->rank >= MOTIONS;
}

static int has_whole_name(const found_file *file, const found_file *take)
{
    return prefix_of(file, take) == take->stem - take->folder - (take->folder > 0);
}

static void find_motions(found_files *files)
{
    for (int i = 0; i < files->count; i++) {
        found_file *file = &files->list[i];
        for (int k = 0; k < files->count && can_be_motion(file) && !file->is_motion; k++) {
            const found_file *take = &files->list[k];
            file->is_motion =
                take->kind == KIND_TAKE && is_in(file, take->path, take->folder) && has_whole_name(file, take);
        }
    }
}

/* In the take's own folder, then in those above. */
static choice choose_among(const found_files *files, const found_file *take, file_kind kind, int with_motions)
{
    for (size_t folder = take->folder;; folder--) {
        choice best = {0};
        size_t longest = 0;
        const found_file *first = NULL;
        int count = 0;
        for (int i = 0; i < files->count; i++) {
            const found_file *file = &files->list[i];
            if (file->kind != kind || !is_in(file, take->path, folder))
                continue;
            if (!with_motions && (file->is_motion || (can_be_motion(file) && has_whole_name(file, take))))
                continue;
            size_t prefix = prefix_of(file, take);
            if (prefix && is_better(file, prefix, best.file, longest)) {
                best.file = file;
                best.is_by_name = 1;
                longest = prefix;
            }
            if (!first || file->rank < first->rank) { /* a BVH beside an ASF is a motion */
                first = file;
                count = 0;
            }
            if (file->rank == first->rank && count < 2)
                best.rivals[count++] = file;
        }
        if (!best.file && kind == KIND_SKELETON && count == 1)
            best.file = first;
        if (best.file || (kind == KIND_SKELETON && count > 1) || folder == 0)
            return best;
        while (folder > 1 && take->path[folder - 1] != '/')
            folder--;
    }
}

static choice choose(const found_files *files, const found_file *take, file_kind kind)
{
    choice best = choose_among(files, take, kind, 0);
    return best.file || best.rivals[1] ? best : choose_among(files, take, kind, 1);
}

/* A recording of the same name that is preferred, such as the C3D of a TRC. */
static const found_file *better_recording(const found_files *files, const found_file *take)
{
    for (int i = 0; i < files->count; i++) {
        const found_file *file = &files->list[i];
        if (file->kind == KIND_TAKE && file->rank < take->rank && file->stem == take->stem &&
            strncmp(file->path, take->path, take->stem) == 0)
            return file;
    }
    return NULL;
}

/* Who it is: the name that skeleton and take share, or the folder. */
static char *subject_of(const found_file *take, const choice *skeleton, const char *common)
{
    const found_file *file = skeleton->file;
    if (file && (skeleton->is_by_name || !take->folder)) {
        size_t begin = file->folder + (file->folder > 0);
        return strndup(file->path + begin, file->stem - begin);
    }
    if (take->folder)
        return strndup(take->path, take->folder);
    const char *slash = common ? strrchr(common, '/') : NULL, *base = slash ? slash + 1 : common;
    return base ? strndup(base, strcspn(base, ".")) : strdup("");
}

static int add_take(const found_files *files, const found_file *file, const batch_common *common, batch_plan *plan)
{
    choice skeleton = {0}, attach = {0};
    if (!common->skeleton)
        skeleton = choose(files, file, KIND_SKELETON);
    if (!common->attach)
        attach = choose(files, file, KIND_ATTACH);
    char *name = strndup(file->path, file->stem), *path = folder_join(files->root, file->path);
    char *own = common->skeleton ? strdup(common->skeleton)
                : skeleton.file  ? folder_join(files->root, skeleton.file->path)
                                 : strdup("");
    char *where = common->attach ? strdup(common->attach)
                  : attach.file  ? folder_join(files->root, attach.file->path)
                                 : strdup("");
    char *subject = subject_of(file, &skeleton, common->skeleton);
    batch_take *take = name && path ? plan_add(plan, name, path) : NULL;
    int is_added = take && own && where && subject && plan_set(&take->skeleton, own) &&
                   plan_set(&take->attach, where) && plan_set(&take->subject, subject) &&
                   plan_set(&take->words, common->words ? common->words : "");
    if (is_added && !*own && skeleton.rivals[1])
        plan_complain(
            take,
            "there are several skeletons (%.100s, %.100s), and its name begins with none of theirs: give --skeleton, or a "
            "manifest",
            skeleton.rivals[0]->path, skeleton.rivals[1]->path);
    else if (is_added && !*own)
        plan_complain(take, "there is no skeleton beside it or above: give --skeleton, or a manifest");
    free(name);
    free(path);
    free(own);
    free(where);
    free(subject);
    return is_added;
}

int plan_folder(json_t *object, const char *folder, const batch_common *common, batch_plan *plan)
{
    found_files files = {.root = folder, .plan = plan, .has_memory = 1};
    struct stat about;
    ulna_error error;
    if (stat(common->output, &about) == 0) {
        files.device = about.st_dev;
        files.number = about.st_ino;
    }
    int is_open = walk(&files, ""), number = errno, code = CLI_DONE;
    if (files.count) /* no list where nothing was found */
        qsort(files.list, (size_t)files.count, sizeof *files.list, by_path);
    find_motions(&files);
    for (int i = 0; i < files.count && is_open && files.has_memory; i++) {
        if (files.list[i].kind != KIND_TAKE)
            continue;
        if (better_recording(&files, &files.list[i]))
            plan->left_out++;
        else
            files.has_memory &= add_take(&files, &files.list[i], common, plan);
    }
    if (!is_open)
        cli_fail(&error, ULNA_ERR_IO, "cannot read the folder: %s", strerror(number));
    else if (!files.has_memory)
        cli_no_memory(&error);
    else if (!plan->count && plan->unread)
        cli_fail(&error, ULNA_ERR_IO, "there is no C3D or TRC file that can be read: %s",
                 json_string_value(json_array_get(plan->notes, 0)));
    else if (!plan->count && plan->links)
        cli_fail(&error, ULNA_ERR_ARGUMENT, "there is no C3D or TRC file: %s",
                 json_string_value(json_array_get(plan->notes, 0)));
    else if (!plan->count)
        cli_fail(&error, ULNA_ERR_ARGUMENT,
                 "there is no C3D or TRC file in this folder or below; recordings as CSV are named in a manifest");
    if (!is_open || !files.has_memory || !plan->count)
        code = files_fail(object, folder, &error);
    for (int i = 0; i < files.count; i++)
        free(files.list[i].path);
    free(files.list);
    return code;
}

/* ---- the plan as a whole --------------------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const batch_take *x = a, *y = b;
    int names = strcmp(x->name, y->name);
    return names ? names : strcmp(x->path, y->path);
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
        plan_complain(take, "%s %s cannot be read: %s", what, path, strerror(errno));
    else if (!S_ISREG(about.st_mode))
        plan_complain(take, "%s %s is not a file", what, path);
}

/* Looks at files and options before anything is solved. */
static void check_take(batch_take *take)
{
    struct stat about;
    ulna_error error;
    ulna_error_clear(&error);
    if (stat(take->path, &about) != 0 && errno != ENOENT)
        plan_complain(take, "%s cannot be read: %s", take->path, strerror(errno));
    else if (stat(take->path, &about) != 0 && lstat(take->path, &about) == 0)
        plan_complain(take, "%s is a link to a file that is not there: mend or remove the link", take->path);
    else if (stat(take->path, &about) != 0)
        plan_complain(take, "there is no file %s", take->path);
    else if (!S_ISREG(about.st_mode))
        plan_complain(take, "%s is not a file", take->path);
    else
        take->bytes = (double)about.st_size;
    check_file(take, "the skeleton", take->skeleton);
    check_file(take, "the table of markers", take->attach);
    if (take_check_words(take, &error))
        plan_complain(take, "its options: %s", error.message);
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

int plan_calibrate_alone(batch_plan *plan, int index)
{
    batch_take *take = &plan->takes[index];
    size_t size = strlen(take->name) + 16;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%s~take", take->name);
    int group = add_group(plan, name);
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
    if (plan->count)
        qsort(plan->takes, (size_t)plan->count, sizeof *plan->takes, by_name);
    for (int i = 0; i < plan->count && is_done; i++) {
        batch_take *take = &plan->takes[i];
        is_done = make_absolute(&take->path, here) && make_absolute(&take->skeleton, here) &&
                  make_absolute(&take->attach, here);
        take->is_namesake = i && strcmp(take->name, take[-1].name) == 0;
        if (take->is_namesake)
            plan_complain(take, "%s has the same name: give one of them another in the column name of a manifest",
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
    if (plan->notes)
        json_object_set(object, "notes", plan->notes);
    else
        (void)put_list(object, "notes");
}

void plan_tell_skipped(const cli *tool, const batch_plan *plan)
{
    json_t *object = json_object();
    plan_put_skipped(plan, object);
    put_count(object, "more", plan->unread + plan->links - (long long)json_array_size(plan->notes));
    files_print_notes(tool, plan->notes);
    if (plan->unread || plan->links)
        fact_line(tool, object, NULL,
                  "not searched: {unread} folder{unread:/s} that cannot be read, {links} link{links:/s} to folders"
                  "[{more?}; {more} of them are not listed]");
    if (plan->unread) { /* also with --quiet: it is not success */
        fflush(stdout);
        cli_complain("%d folder%s cannot be read; takes below %s are missing", plan->unread,
                     plan->unread == 1 ? "" : "s", plan->unread == 1 ? "it" : "them");
    }
    json_decref(object);
}

/* ---- --dry-run ----------------------------------------------------------------------------------------------------------- */

static json_t *take_object(const batch_plan *plan, int index, batch_settled settled)
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
    put_number(row, "bytes", take->bytes);
    put_text(row, "problem", take->problem);
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

void plan_show(const cli *tool, const batch_plan *plan, const batch_settled *settled)
{
    static const fact_column columns[] = {
        {"take", 'l', "{take}"},
        {"subject", 'l', "{subject}"},
        {"skeleton", 'l', "{skeleton}"},
        {"markers", 'l', "[{attach}|calibrated: {calibration}]"},
        {0},
    };
    json_t *object = json_object(), *list = put_list(object, "takes"), *left = json_array(), *shown = json_object();
    int problems = 0, counts[BATCH_OTHERS + 1] = {0};
    for (int i = 0; i < plan->count; i++) {
        counts[settled[i]]++;
        if (settled[i] == BATCH_OTHERS)
            continue;
        json_t *row = take_object(plan, i, settled[i]);
        problems += plan->takes[i].problem != NULL;
        if (settled[i] == BATCH_LEFT && !plan->takes[i].problem)
            json_array_append(left, row);
        json_array_append_new(list, row);
    }
    put_count(object, "problems", problems);
    put_count(object, "left_out", plan->left_out);
    plan_put_skipped(plan, object);
    put_count(object, "calibrations", count_calibrations(plan, settled));
    put_count(object, "left", (long long)json_array_size(left));
    put_count(object, "done", counts[BATCH_DONE]);
    put_count(object, "failed", counts[BATCH_FAILED] + problems);
    put_count(shown, "again", counts[BATCH_FAILED]);
    json_object_set(shown, "r", object);
    fact_table(tool, 0, left, columns);
    for (int i = 0; i < plan->count; i++)
        if (settled[i] == BATCH_LEFT && plan->takes[i].problem)
            cli_say(tool, "failed %s: %s\n", plan->takes[i].name, plan->takes[i].problem);
    fact_line(
        tool, shown, NULL,
        "{r.left} take{r.left:/s} to solve[{r.calibrations?}, {r.calibrations} calibration{r.calibrations:/s} at most][{r.problems?}, "
        "{r.problems} that cannot be solved][{r.done?}; {r.done} done already][{again?}; {again} failed before, which --retry-failed solves "
        "again][{r.left_out?}; {r.left_out} recording{r.left_out:/s} left out, as a C3D has the same name]");
    plan_tell_skipped(tool, plan);
    json_decref(shown);
    json_decref(left);
    cli_json_print(tool, object);
}
