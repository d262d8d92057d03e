/*
 * The takes of a folder, and with which skeleton and markers each is solved.
 *
 * In a folder, every C3D and TRC file is a take. Its skeleton is looked for beside it, then in the folders above, up to the one
 * that was given: in each first a file whose name begins that of the take (CMU: 02.asf for 02_01.c3d; HDM05: HDM_bd.asf for
 * HDM_bd_01-01_01_120.c3d), ASF before model files, BVH and glTF, and the longest name; then the only skeleton there. A BVH or glTF with
 * the whole name of a take is a motion of it, such as `ulna solve -o walk.glb` leaves beside walk.c3d: it is a skeleton only where there
 * is no other. In a folder without any it is the built-in human, scaled to the person of each session. A table of markers is one whose name, before "-markers.csv", begins that of the take.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/batch/batch.h"
#include "src/base/algorithms.h"

#define ATTACH_ENDING "-markers.csv"

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
    FILE *file = cli_open(path);
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

enum { SKIP_LINK = 0, SKIP_OUTPUT = -1 }; /* or the number of an error */

/* All are counted, the first ones are listed. */
static void skip(found_files *files, const char *whole, int number)
{
    enum { MOST_NOTES = 20 };
    batch_plan *plan = files->plan;
    plan->unread += number > 0;
    plan->links += number == SKIP_LINK;
    plan->outputs += number == SKIP_OUTPUT;
    if (!plan->notes)
        plan->notes = json_array();
    if (json_array_size(plan->notes) >= MOST_NOTES)
        return;
    if (number == SKIP_OUTPUT)
        files_note_text(plan->notes, "%.300s is the output of a batch and is not searched", whole);
    else if (number)
        files_note_text(plan->notes,
                        "%.300s cannot be read (%s): takes below it are missing; make it readable and run this again",
                        whole, strerror(number));
    else
        files_note_text(plan->notes,
                        "%.300s is a link to a folder and is not followed; name its takes in a manifest, or give that "
                        "folder to a batch of its own",
                        whole);
}

/* Of another batch: its motions may be C3D files too. */
static int is_output(const char *folder)
{
    char *plan = folder_join(folder, "plan.csv"), *journal = folder_join(folder, "journal");
    struct stat about;
    int is = plan && journal && folder_is(journal) && stat(plan, &about) == 0 && S_ISREG(about.st_mode);
    free(plan);
    free(journal);
    return is;
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
        if (about.st_dev == files->device && about.st_ino == files->number)
            return;
        if (is_output(whole))
            skip(files, whole, SKIP_OUTPUT);
        else if (!walk(files, path))
            skip(files, whole, errno);
    } else if (stat(whole, &about) == 0 && S_ISDIR(about.st_mode))
        skip(files, whole, SKIP_LINK);
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

/* A folder without any is meant to be solved with the built-in human; one that has some lacks another. */
static int has_skeletons(const found_files *files)
{
    int count = 0;
    for (int i = 0; i < files->count; i++)
        count += files->list[i].kind == KIND_SKELETON;
    return count > 0;
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
            take, "argument",
            "there are several skeletons (%.100s, %.100s), and its name begins with none of theirs: give --skeleton, or a "
            "manifest",
            skeleton.rivals[0]->path, skeleton.rivals[1]->path);
    else if (is_added && !*own && (has_skeletons(files) || *where))
        plan_complain(
            take, "argument",
            "no skeleton was found: put one beside the take whose name begins that of the take, or give one with "
            "--skeleton or a manifest");
    free(name);
    free(path);
    free(own);
    free(where);
    free(subject);
    return is_added;
}

static void leave_out(batch_plan *plan, const char *path)
{
    enum { MOST_NAMES = 4 };
    if (!plan->left_out_names)
        plan->left_out_names = json_array();
    if (plan->left_out++ < MOST_NAMES)
        json_array_append_new(plan->left_out_names, cli_json_text(path));
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
            leave_out(plan, files.list[i].path);
        else
            files.has_memory &= add_take(&files, &files.list[i], common, plan);
    }
    if (!is_open)
        cli_fail(&error, cli_io_status(number), "cannot read the folder: %s", strerror(number));
    else if (!files.has_memory)
        cli_no_memory(&error);
    else if (!plan->count && plan->unread)
        cli_fail(&error, ULNA_ERR_IO, "there is no C3D or TRC file that can be read: %s",
                 json_string_value(json_array_get(plan->notes, 0)));
    else if (!plan->count && plan->notes)
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
