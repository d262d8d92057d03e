/* The recordings that the papers use, found in a folder of files by their names; and the built-in take. */
#include "cli/paper/paper.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/sample/sample_take.h"
#include "src/base/algorithms.h"
#include "ulna/sample.h"

/* ==== files of a folder =========================================================================================== */

enum { MOST_FILES = 200000, DEEPEST = 8 };

static int add_file(paper_data *data, char *path)
{
    if ((data->file_count & (data->file_count - 1)) == 0) { /* room doubles */
        size_t room = data->file_count ? 2 * (size_t)data->file_count : 1;
        char **files = realloc(data->files, room * sizeof *files);
        if (!files)
            return 0;
        data->files = files;
    }
    data->files[data->file_count++] = path;
    return 1;
}

/* Folders that cannot be read inside the one that was asked for are left out. */
static ulna_status list_files(paper_data *data, const char *folder, int depth, ulna_error *error)
{
    DIR *open = opendir(folder);
    ulna_status status = ULNA_OK;
    if (!open)
        return depth ? ULNA_OK : cli_fail(error, ULNA_ERR_IO, "cannot open the folder of --data");
    for (struct dirent *entry; status == ULNA_OK && data->file_count < MOST_FILES && (entry = readdir(open));) {
        struct stat about;
        if (entry->d_name[0] == '.')
            continue;
        char *path = folder_join(folder, entry->d_name);
        if (!path) {
            status = cli_no_memory(error);
            break;
        }
        int is_there = stat(path, &about) == 0, is_kept = 0;
        if (is_there && S_ISDIR(about.st_mode) && depth < DEEPEST)
            status = list_files(data, path, depth + 1, error);
        else if (is_there && S_ISREG(about.st_mode)) {
            is_kept = add_file(data, path);
            if (!is_kept)
                status = cli_no_memory(error);
        }
        if (!is_kept)
            free(path);
    }
    closedir(open);
    return status;
}

static int compare_paths(const void *a, const void *b, const void *context)
{
    (void)context;
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

ulna_status paper_data_open(paper_data *data, const char *folder, ulna_error *error)
{
    *data = (paper_data){.folder = folder, .missing = json_array()};
    ulna_status status = folder ? list_files(data, folder, 0, error) : ULNA_OK;
    ulna_sort(data->files, (size_t)data->file_count, sizeof *data->files, compare_paths, NULL);
    return status;
}

static int contains(const char *text, const char *part)
{
    size_t length = strlen(part);
    for (; *text; text++) {
        size_t k = 0;
        while (k < length && ulna_lower(text[k]) == ulna_lower(part[k]))
            k++;
        if (k == length)
            return 1;
    }
    return length == 0;
}

const char *paper_data_file(const paper_data *data, const char *name, const char *ending)
{
    for (int i = 0; i < data->file_count; i++) {
        const char *slash = strrchr(data->files[i], '/'), *base = slash ? slash : data->files[i];
        size_t length = strlen(base), end = strlen(ending);
        if (length >= end && ulna_compare_names(base + length - end, ending) == 0 && contains(base, name))
            return data->files[i];
    }
    return NULL;
}

/* ==== takes ======================================================================================================= */

static const double inch_m = 0.025189, asf_length = 0.45; /* of the authors' code; an inch has 2.54 cm */
static const double hdm05_axes[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};

/* What the recording is matched by: names on the bones that the authors of the exact-Hessian paper chose, or the set of the built-in take. */
static ulna_take_options options_of(const paper_take *take)
{
    ulna_take_options options = ulna_take_options_for(&take->skeleton, &take->markers);
    if (!take->is_recorded) {
        options.set = &take->set;
        return options;
    }
    options.attach = ULNA_ATTACH_NAMES;
    options.paper_bones = 1;
    options.axes = hdm05_axes;
    return options;
}

ulna_status paper_take_calibrate(paper_take *take, ulna_error *error)
{
    ulna_take_options options = options_of(take);
    ulna_calibrate_options calibrate = ulna_calibrate_options_default();
    ulna_take *plain = NULL;
    if (take->is_calibrated)
        return ULNA_OK;
    calibrate.try_lengths = 0; /* the papers take the skeleton as it is */
    ulna_status status = ulna_take_create(&options, &plain, error);
    if (status == ULNA_OK)
        status = ulna_calibrate(plain, &calibrate, &take->fixed, error);
    take->is_calibrated = status == ULNA_OK;
    ulna_take_destroy(plain);
    return status;
}

/* Poses of a recording that has none: its markers tracked with calibrated offsets. */
static ulna_status track_poses(paper_take *take, ulna_error *error)
{
    ulna_take *matched = NULL;
    ulna_track_result result = {0};
    ulna_status status = paper_take_calibrate(take, error);
    ulna_take_options options = options_of(take);
    options.attach = ULNA_ATTACH_SET;
    options.set = &take->fixed.set;
    if (status == ULNA_OK)
        status = ulna_take_create(&options, &matched, error);
    if (status == ULNA_OK)
        status = ulna_track(matched, NULL, &result, error);
    if (status == ULNA_OK) {
        take->own = result.clip;
        result.clip = ulna_clip_empty(NULL);
        take->poses = &take->own;
    }
    ulna_track_result_release(&result);
    ulna_take_destroy(matched);
    return status;
}

static ulna_status describe_joints(paper_take *take, ulna_error *error)
{
    const ulna_model *model = take->skeleton.model;
    int nv = ulna_model_dof_count(model);
    size_t room = (size_t)nv + 1;
    take->locked = calloc(room, sizeof *take->locked);
    take->lower = calloc(room, sizeof *take->lower);
    take->upper = calloc(room, sizeof *take->upper);
    take->strength = calloc(room, sizeof *take->strength);
    take->centimetres = calloc(room, sizeof *take->centimetres);
    if (!take->locked || !take->lower || !take->upper || !take->strength || !take->centimetres)
        return cli_no_memory(error);
    for (int i = 0; i < nv; i++) {
        int moves = ulna_model_dof_is_translation(model, i);
        double length = ulna_model_length_scale(model);
        take->locked[i] = (unsigned char)contains(ulna_model_body_name(model, ulna_model_dof_body(model, i)), "thumb");
        take->dof += !take->locked[i];
        take->strength[i] = moves ? 0.5 / length : 1;
        take->centimetres[i] = moves ? 0.01 / length : 1;
    }
    files_limits_of(model, take->poses, take->lower, take->upper);
    return ULNA_OK;
}

static ulna_status finish(paper_take *take, ulna_error *error)
{
    ulna_take_options options = options_of(take);
    options.reference = take->poses;
    ulna_status status = ulna_take_create(&options, &take->take, error);
    if (status != ULNA_OK)
        return status;
    int first = take->take->reference_shift < 0 ? -take->take->reference_shift : 0;
    take->shift = take->take->reference_shift;
    take->frames = take->take->frame_count;
    if (take->frames + take->shift > take->poses->frame_count)
        take->frames = take->poses->frame_count - take->shift;
    if (first > 0 || take->frames < 2)
        return cli_fail(error, ULNA_ERR_ARGUMENT, "the recording and its motion have no two frames in common");
    return describe_joints(take, error);
}

/* ---- of HDM05 ------------------------------------------------------------------------------------------------------ */

static ulna_status load_recorded(paper_take *take, const char *c3d, const char *amc, const char *asf, ulna_error *error)
{
    take->is_recorded = 1;
    ulna_status status = files_skeleton(asf, inch_m / asf_length, &take->skeleton, error);
    if (status == ULNA_OK)
        status = files_markers(c3d, 0, &take->markers, error);
    if (status == ULNA_OK && amc) {
        json_t *notes = json_array();
        status = files_motion(amc, &take->skeleton, &take->motion.clip, notes, error);
        take->poses = &take->motion.clip;
        json_decref(notes);
    } else if (status == ULNA_OK)
        status = track_poses(take, error);
    snprintf(take->about, sizeof take->about, "HDM05 %s, poses %s", take->name,
             amc ? "of its AMC" : "tracked by Ulna, since there is no AMC");
    return status != ULNA_OK ? status : finish(take, error);
}

/* ---- the built-in take ---------------------------------------------------------------------------------------------- */

static ulna_status read_part(int index, const ulna_read_options *options, ulna_content *content, ulna_error *error)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_status status = sample_take_write(index, &text, error);
    if (status == ULNA_OK)
        status = ulna_content_read(text.data, text.length, ulna_format_of_name(sample_take_files[index].name), options,
                                   content, error);
    ulna_text_release(&text);
    return status;
}

static int find_part(const char *ending)
{
    for (int i = 0; sample_take_files[i].name; i++)
        if (contains(sample_take_files[i].name, ending))
            return i;
    return 0;
}

/* The bodies of its ASF have the names of the built-in human's, but for the root. */
static ulna_status set_of_human(paper_take *take, ulna_error *error)
{
    ulna_model *human = NULL;
    ulna_status status = ulna_sample_create("human", NULL, &human, error);
    if (status == ULNA_OK && ulna_marker_set_from_model(&take->set, human))
        status = cli_no_memory(error);
    for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++) {
        int body = ulna_model_find_body(take->skeleton.model, ulna_model_body_name(human, take->set.items[i].body));
        take->set.items[i].body = body == ULNA_NONE ? 0 : body;
    }
    ulna_model_destroy(human);
    return status;
}

static ulna_status load_built_in(paper_take *take, ulna_error *error)
{
    ulna_status status = read_part(find_part(".asf"), NULL, &take->skeleton, error);
    if (status == ULNA_OK) {
        ulna_read_options options = ulna_read_options_for(&take->skeleton);
        status = read_part(find_part(".amc"), &options, &take->motion, error);
    }
    if (status == ULNA_OK)
        status = read_part(find_part(".c3d"), NULL, &take->markers, error);
    if (status == ULNA_OK)
        status = set_of_human(take, error);
    take->poses = &take->motion.clip;
    snprintf(take->about, sizeof take->about, "the built-in walk, poses known");
    return status != ULNA_OK ? status : finish(take, error);
}

/* ---- opening and closing --------------------------------------------------------------------------------------------- */

static void close_take(paper_take *take)
{
    if (!take)
        return;
    ulna_take_destroy(take->take);
    ulna_calibration_release(&take->fixed);
    ulna_clip_release(&take->own);
    ulna_marker_set_release(&take->set);
    ulna_content_release(&take->skeleton);
    ulna_content_release(&take->motion);
    ulna_content_release(&take->markers);
    free(take->locked);
    free(take->lower);
    free(take->upper);
    free(take->strength);
    free(take->centimetres);
    free(take);
}

void paper_data_close(paper_data *data)
{
    for (int i = 0; i < data->take_count; i++)
        close_take(data->takes[i]);
    for (int i = 0; i < data->file_count; i++)
        free(data->files[i]);
    free(data->files);
    json_decref(data->missing);
}

static paper_take *find_open(const paper_data *data, const char *name)
{
    for (int i = 0; i < data->take_count; i++)
        if (strcmp(data->takes[i]->name, name) == 0)
            return data->takes[i];
    return NULL;
}

static paper_take *new_take(const char *name)
{
    paper_take *take = calloc(1, sizeof *take);
    if (!take)
        return NULL;
    snprintf(take->name, sizeof take->name, "%s", name);
    take->skeleton = ulna_content_empty(NULL);
    take->motion = ulna_content_empty(NULL);
    take->markers = ulna_content_empty(NULL);
    take->set = ulna_marker_set_empty(NULL);
    take->own = ulna_clip_empty(NULL);
    return take;
}

/* Takes that only stand in for others are not missed. */
static void note_missing(paper_data *data, const char *name)
{
    static const char *const of_papers[] = {"dg_03-02_01", "dg_03-05_02", "dg_03-02_03", "bk_05-03_03", "mm_03-05_02"};
    size_t i;
    json_t *text;
    int is_used = 0;
    for (i = 0; i < sizeof of_papers / sizeof *of_papers; i++)
        is_used |= strcmp(of_papers[i], name) == 0;
    if (!is_used)
        return;
    json_array_foreach(data->missing, i, text)
    {
        if (strcmp(json_string_value(text), name) == 0)
            return;
    }
    json_array_append_new(data->missing, json_string(name));
}

/* Keeps it, or closes it after a failure. */
static ulna_status keep(paper_data *data, paper_take *loaded, ulna_status status, paper_take **take, ulna_error *error)
{
    enum { MOST = sizeof data->takes / sizeof *data->takes };
    if (status == ULNA_OK && data->take_count == MOST)
        status = cli_fail(error, ULNA_ERR_LIMIT, "too many takes");
    if (status != ULNA_OK) {
        close_take(loaded);
        return status;
    }
    data->takes[data->take_count++] = *take = loaded;
    return ULNA_OK;
}

ulna_status paper_take_find(paper_data *data, const char *name, paper_take **take, ulna_error *error)
{
    *take = find_open(data, name);
    if (*take)
        return ULNA_OK;
    char actor[16];
    snprintf(actor, sizeof actor, "_%.*s", (int)strcspn(name, "_"), name);
    const char *c3d = paper_data_file(data, name, ".c3d"), *amc = paper_data_file(data, name, ".amc");
    const char *asf = paper_data_file(data, actor, ".asf");
    if (!c3d || !amc || !asf)
        note_missing(data, name);
    if (!c3d || !asf)
        return ULNA_OK;
    paper_take *loaded = new_take(name);
    if (!loaded)
        return cli_no_memory(error);
    return keep(data, loaded, load_recorded(loaded, c3d, amc, asf, error), take, error);
}

ulna_status paper_take_first(paper_data *data, const char *const *names, paper_take **take, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    *take = NULL;
    for (; *names && !*take && status == ULNA_OK; names++)
        status = paper_take_find(data, *names, take, error);
    if (status != ULNA_OK || *take || (*take = find_open(data, "walk")))
        return status;
    paper_take *loaded = new_take("walk");
    if (!loaded)
        return cli_no_memory(error);
    return keep(data, loaded, load_built_in(loaded, error), take, error);
}

/* ==== frames ====================================================================================================== */

const double *paper_take_pose(const paper_take *take, int frame)
{
    return ulna_clip_frame(take->poses, frame + take->shift);
}

static const double cm2 = 1e4; /* of a square metre */

/* The set of the calibration is the take's own, so that item i is the same marker in both. */
static ulna_status add_fixed(const paper_take *take, int frame, ulna_problem **problem, ulna_error *error)
{
    const ulna_marker_set *set = &take->fixed.set;
    ulna_status status = ulna_problem_create(take->skeleton.model, NULL, problem, error);
    for (int i = 0; i < (int)set->count && status == ULNA_OK; i++) {
        double place[3];
        if (ulna_take_position(take->take, frame, i, place))
            status =
                ulna_problem_add_point(*problem, set->items[i].body, set->items[i].offset, place, cm2, NULL, error);
    }
    return status == ULNA_OK ? ulna_problem_ready(*problem, error) : status;
}

static ulna_status add_oracle(const paper_take *take, int frame, ulna_problem **problem, ulna_error *error)
{
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(take->skeleton.model, NULL, &pose, error);
    if (status == ULNA_OK)
        status = ulna_take_oracle_problem(take->take, frame, pose, problem, error);
    for (int i = 0; status == ULNA_OK && i < ulna_problem_term_count(*problem); i++)
        status = ulna_problem_set_weight(*problem, i, cm2);
    ulna_pose_destroy(pose);
    return status;
}

ulna_status paper_take_problem(const paper_take *take, int frame, int is_fixed, ulna_problem **problem,
                               ulna_error *error)
{
    double place[3];
    int is_seen = 0;
    *problem = NULL;
    for (int i = 0; i < (int)take->take->set.count && !is_seen; i++)
        is_seen = ulna_take_position(take->take, frame, i, place);
    if (!is_seen)
        return ULNA_OK;
    return is_fixed ? add_fixed(take, frame, problem, error) : add_oracle(take, frame, problem, error);
}
