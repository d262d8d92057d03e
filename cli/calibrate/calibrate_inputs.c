/* What `ulna calibrate` is given: files, the bones of the markers, and the axes. */
#include "cli/calibrate/calibrate.h"

#include <math.h>
#include <string.h>

#include "cli/solve/solve.h"

/* ---- which bone --------------------------------------------------------------------------------------------------- */

/* The skeleton's own markers that the recording has. */
static ulna_status add_own(const ulna_model *model, const ulna_recording *recording, ulna_marker_set *set)
{
    ulna_status status = ULNA_OK;
    for (int m = 0; m < ulna_model_marker_count(model) && !status; m++) {
        const char *name = ulna_model_marker_name(model, m);
        double local[3];
        if (ulna_recording_find(recording, name) == ULNA_NONE)
            continue;
        ulna_model_marker_position(model, m, local);
        status = ulna_marker_set_add(set, name, ulna_model_marker_body(model, m), local, 1);
    }
    return status;
}

/* A failure that says what to do about it. */
static int fail_bones(json_t *object, const calibrate_job *job, ulna_error *error)
{
    ulna_error why = *error;
    if (error->status == ULNA_ERR_MODEL)
        cli_fail(error, why.status, "%.200s; --attach takes a table that says which", why.message);
    return files_fail(object, job->markers_path, error);
}

/* As the table says; else as the skeleton's own markers, the rest by names; and last by the reference alone. */
static int find_bones(json_t *object, calibrate_job *job, ulna_error *error)
{
    const ulna_model *model = job->skeleton.model;
    const ulna_recording *recording = &job->markers.recording;
    if (job->attach_path) {
        job->from = "the table";
        return files_attachment(job->attach_path, model, &job->set, error) ? files_fail(object, job->attach_path, error)
                                                                           : CLI_DONE;
    }
    if (add_own(model, recording, &job->set))
        return files_fail(object, job->skeleton_path, error);
    size_t own = job->set.count;
    ulna_status status = ulna_marker_set_from_names(model, recording, &job->set, NULL, error);
    job->from = !own                   ? "the markers' names"
                : job->set.count > own ? "the skeleton's own markers, the rest by their names"
                                       : "the skeleton's own markers";
    if (!status && job->static_path) /* which may have more of them */
        status = ulna_marker_set_from_names(model, &job->still.recording, &job->set, NULL, error);
    if (status && !job->reference_path)
        return fail_bones(object, job, error);
    if (status)
        job->from = "the reference motion";
    ulna_error_clear(error);
    return CLI_DONE;
}

static void note_unused(calibrate_job *job)
{
    char names[300] = "";
    int count = 0;
    for (int m = 0; m < job->markers.recording.marker_count; m++) {
        const char *name = job->markers.recording.names[m];
        size_t length = strlen(names), i = 0;
        while (i < job->set.count && ulna_recording_find(&job->markers.recording, job->set.items[i].marker) != m)
            i++;
        if (i < job->set.count)
            continue;
        count++;
        if (length < 240)
            snprintf(names + length, sizeof names - length, "%s%.40s", length ? ", " : "", name);
    }
    if (count)
        files_note_text(job->notes, "%d marker%s without a known bone, not used: %s%s; --attach can name one", count,
                        count == 1 ? "" : "s", names, strlen(names) >= 240 ? ", ..." : "");
}

/* ---- axes and size -------------------------------------------------------------------------------------------------- */

static ulna_status find_axes(calibrate_job *job, const ulna_content *markers, double axes[9], ulna_error *error)
{
    char up = job->up ? job->up : markers->source.up;
    if (job->has_axes) {
        memmove(axes, job->axes, sizeof job->axes);
        return ULNA_OK;
    }
    /* Without bones there is nothing to align: what the files say, or as it is. */
    if (!job->set.count && !(up && job->skeleton.source.up)) {
        files_note_text(job->notes,
                        "which way is up is not known: axes are taken as they are; --up or --axes says otherwise");
        return solve_read_axes("xyz", axes) ? ULNA_OK : ULNA_ERR_ARGUMENT;
    }
    return ulna_recording_axes(job->skeleton.model, &job->set, &markers->recording, up, job->skeleton.source.up, axes,
                               error);
}

/* Mean square of the distance from the middle, of points that are there; 0 if there are fewer than two. */
static double spread(const double *points, size_t count)
{
    double sum[3] = {0}, squares = 0;
    double seen = 0;
    for (size_t i = 0; i < count; i++)
        if (isfinite(points[3 * i] + points[3 * i + 1] + points[3 * i + 2])) {
            seen++;
            for (int k = 0; k < 3; k++) {
                sum[k] += points[3 * i + (size_t)k];
                squares += points[3 * i + (size_t)k] * points[3 * i + (size_t)k];
            }
        }
    double middle = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2];
    return seen > 1 ? squares / seen - middle / (seen * seen) : 0;
}

/* Spreads of the set's markers in the recording, over some frames, and on the skeleton at rest. */
static void compare_spreads(const calibrate_job *job, ulna_pose *pose, double *there, double *here)
{
    enum { FRAMES = 20, MOST = 400 };
    const ulna_recording *recording = &job->markers.recording;
    size_t count = job->set.count < MOST ? job->set.count : MOST;
    double points[3 * MOST];
    *there = 0;
    for (int f = 0; f < FRAMES; f++) {
        const double *frame = ulna_recording_frame(recording, (int)((f + 0.5) * recording->frame_count / FRAMES));
        for (size_t i = 0; i < count; i++) {
            int m = ulna_recording_find(recording, job->set.items[i].marker);
            for (int k = 0; k < 3; k++)
                points[3 * i + (size_t)k] = m == ULNA_NONE ? (double)NAN : frame[3 * m + k];
        }
        *there = fmax(*there, spread(points, count));
    }
    for (size_t i = 0; i < count; i++)
        if (ulna_recording_find(recording, job->set.items[i].marker) == ULNA_NONE ||
            ulna_pose_point(pose, job->set.items[i].body, job->set.items[i].offset, points + 3 * i))
            points[3 * i] = (double)NAN;
    *here = spread(points, count);
}

/* A unit that is wrong shows: people are about as large as their skeletons. */
static void note_size(calibrate_job *job)
{
    ulna_pose *pose = NULL;
    double there = 0, here = 0;
    if (!ulna_pose_create(job->skeleton.model, NULL, &pose, NULL) &&
        !ulna_pose_forward(pose, ulna_model_rest(job->skeleton.model)))
        compare_spreads(job, pose, &there, &here);
    ulna_pose_destroy(pose);
    double ratio = here > 0 ? sqrt(there / here) : 1;
    if (ratio < 1e-6)
        files_note_text(job->notes, "the markers are all in one place, or none is seen: the offsets mean nothing");
    else if (ratio < 0.4 || ratio > 2.5)
        files_note_text(job->notes,
                        "the markers are %.2g times as far apart as on the skeleton: is the unit of the recording, or "
                        "of the skeleton, right? `ulna convert --input-unit` changes it",
                        ratio);
}

/* ---- all of it -------------------------------------------------------------------------------------------------------- */

static int read_files(json_t *object, calibrate_job *job, ulna_error *error)
{
    if (files_skeleton(job->skeleton_path, &job->skeleton, error))
        return files_fail(object, job->skeleton_path, error);
    files_note(job->notes, job->skeleton_path, &job->skeleton.remarks);
    ulna_status status = files_markers(job->markers_path, &job->markers, error);
    files_note(job->notes, job->markers_path, &job->markers.remarks);
    if (status)
        return files_fail(object, job->markers_path, error);
    if (job->static_path && files_markers(job->static_path, &job->still, error))
        return files_fail(object, job->static_path, error);
    files_note(job->notes, job->static_path ? job->static_path : "", &job->still.remarks);
    if (job->reference_path && files_motion(job->reference_path, &job->skeleton, &job->reference, job->notes, error))
        return files_fail(object, job->reference_path, error);
    return CLI_DONE;
}

int calibrate_load(json_t *object, calibrate_job *job, ulna_error *error)
{
    int code = read_files(object, job, error);
    if (!code)
        code = find_bones(object, job, error);
    if (code)
        return code;
    if (find_axes(job, &job->markers, job->axes, error))
        return files_fail(object, job->markers_path, error);
    if (job->static_path && find_axes(job, &job->still, job->axes_static, error))
        return files_fail(object, job->static_path, error);
    if (job->reference_path && ulna_marker_set_from_motion(job->skeleton.model, &job->reference,
                                                           &job->markers.recording, job->axes, &job->set, error))
        return files_fail(object, job->reference_path, error);
    note_unused(job);
    note_size(job);
    return CLI_DONE;
}
