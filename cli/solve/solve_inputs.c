/* Everything that `ulna solve` reads, made ready for solving. */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/solve.h"

/* ---- names ------------------------------------------------------------------------------------------------- */

/* "A, B, C and 4 more" */
typedef struct roster {
    int count;
    char names[300];
} roster;

static void enlist(roster *list, const char *name)
{
    enum { SHOWN = 8 };
    size_t length = strlen(list->names);
    if (list->count++ < SHOWN)
        snprintf(list->names + length, sizeof list->names - length, "%s%.30s", length ? ", " : "", name);
    else if (list->count == SHOWN + 1)
        snprintf(list->names + length, sizeof list->names - length, " and more");
}

/* Keeps what the take has of the set, and tells of the rest. */
static ulna_status match(solve_job *job, ulna_error *error)
{
    roster absent = {0}, unused = {0};
    size_t kept = 0, markers = (size_t)job->take.marker_count;
    job->source = calloc(job->set.count + 1, sizeof *job->source);
    unsigned char *is_used = calloc(markers + 1, 1);
    if (!job->source || !is_used) {
        free(is_used);
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    }
    for (size_t i = 0; i < job->set.count; i++) {
        int found = ulna_recording_find(&job->take, job->set.items[i].marker);
        if (found == ULNA_NONE) {
            enlist(&absent, job->set.items[i].marker);
            continue;
        }
        is_used[found] = 1;
        job->source[kept] = found;
        job->set.items[kept++] = job->set.items[i];
    }
    for (size_t m = 0; m < markers; m++)
        if (!is_used[m])
            enlist(&unused, job->take.names[m]);
    free(is_used);
    if (kept == 0)
        return cli_fail(error, ULNA_ERR_PARSE,
                        "none of the %zu markers on the skeleton is in the recording; there are %.120s there",
                        job->set.count, unused.names);
    job->set.count = kept;
    if (absent.count)
        files_note_text(job->notes, "%d marker%s of the skeleton %s not in the recording: %s", absent.count,
                        absent.count == 1 ? "" : "s", absent.count == 1 ? "is" : "are", absent.names);
    if (unused.count)
        files_note_text(job->notes, "%d marker%s of the recording %s not on the skeleton, and not used: %s",
                        unused.count, unused.count == 1 ? "" : "s", unused.count == 1 ? "is" : "are", unused.names);
    return ULNA_OK;
}

/* ---- frames ------------------------------------------------------------------------------------------------- */

/* A part of the recording, which keeps its memory. */
static ulna_status cut(solve_job *job, ulna_error *error)
{
    const ulna_recording *all = &job->markers.recording;
    long long low = all->first_frame, high = low + all->frame_count - 1;
    long long first = job->first > low ? job->first : low, last = job->last < high ? job->last : high;
    if (first > last)
        return cli_fail(error, ULNA_ERR_ARGUMENT, "there is none of the frames asked for: it has %lld to %lld", low,
                        high);
    job->take = *all;
    job->take.first_frame = (int)first;
    job->take.frame_count = (int)(last - first + 1);
    job->take.positions = ulna_recording_frame(all, (int)(first - low));
    return ULNA_OK;
}

/* What no marker can be is missing, for the solving and for whatever tells of the take. */
static void clean(solve_job *job)
{
    ulna_recording *all = &job->markers.recording;
    size_t count = (size_t)all->frame_count * (size_t)all->marker_count;
    long long wild = 0;
    for (size_t i = 0; i < count; i++) {
        double *x = all->positions + 3 * i, far = fmax(fabs(x[0]), fmax(fabs(x[1]), fabs(x[2])));
        if (isnan(x[0]) || isnan(x[1]) || isnan(x[2]) || !(far > ULNA_FARTHEST_MARKER))
            continue;
        x[0] = x[1] = x[2] = NAN;
        wild++;
    }
    if (wild)
        files_note_text(job->notes, "%lld position%s more than %g km from the origin, and count%s as missing", wild,
                        wild == 1 ? " is" : "s are", ULNA_FARTHEST_MARKER / 1e3, wild == 1 ? "s" : "");
}

/* Frame by frame if the whole recording has as many; else by number. */
static ulna_status line_up(solve_job *job, ulna_error *error)
{
    const ulna_recording *all = &job->markers.recording;
    int skipped = job->take.first_frame - all->first_frame;
    if (job->reference.frame_count == all->frame_count) {
        job->reference_shift = skipped;
        return ULNA_OK;
    }
    job->reference_shift = job->take.first_frame - job->reference.first_frame;
    if (job->reference_shift >= job->reference.frame_count || job->reference_shift + job->take.frame_count <= 0)
        return cli_fail(error, ULNA_ERR_PARSE, "the reference has no frame in common with the recording: %d to %d",
                        job->reference.first_frame, job->reference.first_frame + job->reference.frame_count - 1);
    files_note_text(job->notes, "the reference has %d frames, the recording %d: they are taken to go by their numbers",
                    job->reference.frame_count, all->frame_count);
    return ULNA_OK;
}

/* ---- motions ------------------------------------------------------------------------------------------------- */

/* A motion of the skeleton as its file has it, in the joints that are solved. */
static ulna_status load_motion(solve_job *job, const char *path, ulna_clip *clip, ulna_error *error)
{
    ulna_status status = files_motion(path, job->skeleton, clip, job->notes, error);
    if (!status && job->model != job->skeleton->model)
        status = ulna_clip_convert(job->skeleton->model, clip, job->model, clip, error);
    return status;
}

/* The least and greatest value of each degree of freedom, and a twentieth of the range to each side, as in the paper.
 * The root may go anywhere: its values are those of the place and heading of one take. */
static void limits_of(solve_job *job, const ulna_clip *clip)
{
    const double margin = 0.05;
    int nv = ulna_model_dof_count(job->model);
    for (int d = 0; d < nv; d++) {
        int c = ulna_model_dof_coordinate(job->model, d);
        double low = INFINITY, high = -INFINITY;
        for (int f = 0; f < clip->frame_count && c != ULNA_NONE; f++) {
            low = fmin(low, ulna_clip_frame(clip, f)[c]);
            high = fmax(high, ulna_clip_frame(clip, f)[c]);
        }
        int is_free = c == ULNA_NONE || ulna_model_dof_body(job->model, d) == 0;
        job->limits[d] = is_free ? -INFINITY : low - margin * (high - low);
        job->limits[nv + d] = is_free ? INFINITY : high + margin * (high - low);
    }
}

/* 1 if the file is a table of limits, and is read; 0 if it is something else, or cannot be read: others say so. */
static int load_limit_table(solve_job *job, ulna_status *status, ulna_error *error)
{
    enum { MOST = 1 << 20 };
    ulna_text text = ulna_text_empty(NULL);
    int is_table = !ulna_file_read(job->bounds_path, MOST, &text, NULL) && text.data && solve_is_limit_table(text.data);
    if (is_table)
        *status = solve_read_limits(job, text.data, error);
    ulna_text_release(&text);
    return is_table;
}

static ulna_status load_bounds(solve_job *job, ulna_error *error)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    int nv = ulna_model_dof_count(job->model);
    ulna_status status;
    if (load_limit_table(job, &status, error))
        return status;
    status = load_motion(job, job->bounds_path, &clip, error);
    job->limits = status ? NULL : calloc(2 * (size_t)nv + 1, sizeof *job->limits);
    if (!status && !job->limits)
        status = cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    if (job->limits)
        limits_of(job, &clip);
    ulna_clip_release(&clip);
    return status;
}

static ulna_status start_from(solve_job *job, const ulna_clip *clip, int frame, ulna_error *error)
{
    size_t nq = (size_t)clip->coordinate_count;
    frame = frame < 0 ? 0 : frame < clip->frame_count ? frame : clip->frame_count - 1;
    job->start = calloc(nq + 1, sizeof *job->start);
    if (!job->start)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    memcpy(job->start, ulna_clip_frame(clip, frame), nq * sizeof *job->start);
    return ULNA_OK;
}

static ulna_status load_start(solve_job *job, ulna_error *error)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_status status = load_motion(job, job->init_path, &clip, error);
    if (!status)
        status = start_from(job, &clip, 0, error);
    ulna_clip_release(&clip);
    return status;
}

/* ---- the skeleton ---------------------------------------------------------------------------------------------- */

int solve_load_skeleton(json_t *object, const solve_job *job, solve_skeleton *skeleton, ulna_error *error)
{
    *skeleton = (solve_skeleton){.file = ulna_content_empty(NULL)};
    if (files_skeleton(job->skeleton_path, &skeleton->file, error))
        return files_fail(object, job->skeleton_path, error);
    if (job->ball != ULNA_BALL_EULER &&
        ulna_model_with_balls(skeleton->file.model, job->ball, NULL, &skeleton->with_balls, &skeleton->dropped, error))
        return files_fail(object, job->skeleton_path, error);
    return CLI_DONE;
}

void solve_release_skeleton(solve_skeleton *skeleton)
{
    ulna_model_destroy(skeleton->with_balls);
    ulna_content_release(&skeleton->file);
}

int solve_begin(solve_job *job, const solve_skeleton *skeleton)
{
    job->skeleton = &skeleton->file;
    job->model = skeleton->with_balls ? skeleton->with_balls : skeleton->file.model;
    job->markers = ulna_content_empty(NULL);
    job->reference = ulna_clip_empty(NULL);
    job->clip = ulna_clip_empty(NULL);
    job->set = ulna_marker_set_empty(NULL);
    job->notes = json_array();
    job->object = json_object();
    json_object_set_new(job->object, "take", cli_json_text(job->markers_path));
    files_note(job->notes, job->skeleton_path, &skeleton->file.remarks);
    if (skeleton->dropped)
        files_note_text(job->notes, "limits of %d angles do not fit the other kind of joint, and do not count",
                        skeleton->dropped);
    job->failures = calloc((size_t)job->output_count + 3, sizeof *job->failures);
    return job->failures ? CLI_DONE : cli_exit_code(ULNA_ERR_MEMORY);
}

int solve_fail(solve_job *job, json_t *where, const char *path, const ulna_error *error)
{
    job->failures[job->failure_count++] = (solve_failure){where, path, *error};
    return cli_exit_code(error->status);
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

static int load_markers(solve_job *job, ulna_error *error)
{
    progress_wait *wait = job->tool ? progress_wait_begin(job->tool, "reading", job->markers_path) : NULL;
    ulna_status status = files_markers(job->markers_path, &job->markers, error);
    progress_wait_end(wait);
    files_note(job->notes, job->markers_path, &job->markers.remarks);
    if (!status) {
        clean(job);
        status = cut(job, error);
    }
    return status ? solve_fail(job, job->object, job->markers_path, error) : CLI_DONE;
}

static int load_reference(solve_job *job, ulna_error *error)
{
    if (!job->reference_path)
        return CLI_DONE;
    ulna_status status = load_motion(job, job->reference_path, &job->reference, error);
    if (!status)
        status = line_up(job, error);
    return status ? solve_fail(job, job->object, job->reference_path, error) : CLI_DONE;
}

/* Attachments that do not depend on the axes. */
static int load_attachment(solve_job *job, ulna_error *error)
{
    if (job->attach == ATTACH_FILE && files_attachment(job->attach_path, job->model, &job->set, error))
        return solve_fail(job, job->object, job->attach_path, error);
    if (job->attach == ATTACH_MODEL && ulna_marker_set_from_model(&job->set, job->model)) {
        cli_fail(error, ULNA_ERR_MEMORY, "no room for the markers");
        return solve_fail(job, job->object, job->skeleton_path, error);
    }
    return CLI_DONE;
}

/* What the reference tells depends on the axes, and trying axes needs markers. */
static int place_markers(solve_job *job, ulna_error *error)
{
    int is_known = job->attach == ATTACH_FILE || job->attach == ATTACH_MODEL;
    ulna_status status = is_known ? match(job, error) : ULNA_OK;
    if (!status)
        status = solve_find_axes(job, error);
    if (!status && !is_known) {
        status = solve_attach_by_reference(job, &job->set, NULL, error);
        if (!status)
            status = match(job, error);
    }
    return status ? solve_fail(job, job->object, job->markers_path, error) : CLI_DONE;
}

static int load_limits_and_start(solve_job *job, ulna_error *error)
{
    if (job->bounds_path && load_bounds(job, error))
        return solve_fail(job, job->object, job->bounds_path, error);
    if (job->init_path && load_start(job, error))
        return solve_fail(job, job->object, job->init_path, error);
    if (job->init_first && start_from(job, &job->reference, job->reference_shift, error))
        return solve_fail(job, job->object, job->reference_path, error);
    ulna_options *both[] = {&job->options.solve, &job->options.fresh};
    for (int i = 0; i < 2; i++) {
        both[i]->bounded = job->bounded;
        both[i]->lower = job->limits;
        both[i]->upper = job->limits ? job->limits + ulna_model_dof_count(job->model) : NULL;
    }
    job->options.start = job->start;
    return CLI_DONE;
}

static int load_constraints(solve_job *job, ulna_error *error)
{
    if (job->constraints_path && solve_load_constraints(job, error))
        return solve_fail(job, job->object, job->constraints_path, error);
    return CLI_DONE;
}

int solve_load(solve_job *job)
{
    static int (*const steps[])(solve_job *, ulna_error *) = {load_markers,  load_reference,        load_attachment,
                                                              place_markers, load_limits_and_start, load_constraints};
    ulna_error error;
    int code = CLI_DONE;
    ulna_error_clear(&error);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !code; i++)
        code = steps[i](job, &error);
    return code;
}

void solve_release_frames(solve_job *job)
{
    ulna_clip_release(&job->clip);
    ulna_clip_release(&job->reference);
    ulna_content_release(&job->markers);
    free(job->frames);
    job->frames = NULL;
}

void solve_release(solve_job *job)
{
    solve_release_frames(job);
    ulna_marker_set_release(&job->set);
    goals_release(&job->constraints.wanted);
    json_decref(job->notes);
    json_decref(job->object);
    for (int i = 0; i < job->output_count; i++)
        free(job->outputs[i]);
    free(job->outputs);
    free(job->report_path);
    free(job->failures);
    free(job->source);
    free(job->limits);
    free(job->start);
    free(job->marker);
}
