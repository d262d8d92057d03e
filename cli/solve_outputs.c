/* The files that `ulna solve` writes, each in the format that its name asks for. */
#include <math.h>
#include <string.h>

#include "solve.h"
#include "ulna/kinematics.h"

static int is_output(const cli *tool, int i)
{
    return strcmp(tool->given[i]->name, "output") == 0;
}

static ulna_status swallow(void *context, const char *data, size_t bytes)
{
    (void)context;
    (void)data;
    (void)bytes;
    return ULNA_OK;
}

/* A frame at rest, written to nowhere: whether the format can hold what will come. */
int solve_check_outputs(const cli *tool, const solve_job *job)
{
    int code = CLI_DONE;
    ulna_sink sink = {swallow, NULL};
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_recording markers = ulna_recording_empty(NULL);
    int nq = ulna_model_coordinate_count(job->skeleton.model);
    if (ulna_clip_resize(&clip, nq, 1) || ulna_recording_resize(&markers, 1, 1))
        return cli_exit_code(ULNA_ERR_MEMORY);
    memcpy(clip.q, ulna_model_rest(job->skeleton.model), (size_t)nq * sizeof *clip.q);
    strcpy(markers.names[0], "M");
    memset(markers.positions, 0, 3 * sizeof *markers.positions);
    for (int i = 0; i < tool->given_count && !code; i++) {
        ulna_error error;
        if (!is_output(tool, i))
            continue;
        ulna_format format = ulna_format_of_name(tool->values[i]);
        if (format == ULNA_FORMAT_UNKNOWN)
            code = cli_usage(tool, "'%s': the ending of a name tells what to write: .amc, .bvh, .csv, .mot, .glb, ...",
                             tool->values[i]);
        else if (ulna_content_write(format, job->skeleton.model, &clip, &markers, NULL, &sink, NULL, &error))
            code = cli_usage(tool, "'%s': %s", tool->values[i], error.message);
    }
    ulna_clip_release(&clip);
    ulna_recording_release(&markers);
    return code;
}

/* ---- markers ------------------------------------------------------------------------------------------------- */

static ulna_status begin_recording(const solve_job *job, ulna_recording *result, int markers, ulna_error *error)
{
    *result = ulna_recording_empty(NULL);
    if (ulna_recording_resize(result, markers, job->take.frame_count))
        return cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames of markers", job->take.frame_count);
    result->first_frame = job->take.first_frame;
    result->frame_seconds = job->take.frame_seconds;
    return ULNA_OK;
}

/* Where the solved skeleton has its markers, in the recording's axes. */
static ulna_status solved_markers(const solve_job *job, ulna_recording *result, ulna_error *error)
{
    ulna_pose *pose = NULL;
    ulna_status status = begin_recording(job, result, (int)job->set.count, error);
    if (!status)
        status = ulna_pose_create(job->model, NULL, &pose, error);
    for (size_t i = 0; i < job->set.count && !status; i++)
        memcpy(result->names[i], job->set.items[i].marker, ULNA_MARKER_NAME);
    for (int f = 0; f < job->take.frame_count && !status; f++) {
        double *to = ulna_recording_frame(result, f), here[3];
        status = ulna_pose_forward(pose, ulna_clip_frame(&job->clip, f));
        for (size_t i = 0; i < job->set.count; i++) {
            ulna_pose_point(pose, job->set.items[i].body, job->set.items[i].offset, here);
            for (int k = 0; k < 3; k++)
                to[3 * i + (size_t)k] =
                    job->axes[k] * here[0] + job->axes[3 + k] * here[1] + job->axes[6 + k] * here[2];
        }
    }
    ulna_pose_destroy(pose);
    return status;
}

/* The recording's own, in the skeleton's axes. */
static ulna_status recorded_markers(const solve_job *job, ulna_recording *result, ulna_error *error)
{
    ulna_status status = begin_recording(job, result, (int)job->set.count, error);
    for (size_t i = 0; i < job->set.count && !status; i++) {
        memcpy(result->names[i], job->set.items[i].marker, ULNA_MARKER_NAME);
        for (int f = 0; f < job->take.frame_count; f++) {
            double *to = ulna_recording_frame(result, f) + 3 * i;
            if (!solve_marker_at(job, f, job->source[i], to))
                to[0] = to[1] = to[2] = NAN;
        }
    }
    return status;
}

/* ---- one file ------------------------------------------------------------------------------------------------ */

/* Acclaim files go with the skeleton's own file: its joints and its units. Marker files get the solved markers, scenes
 * the recorded ones beside the skeleton. */
static ulna_status write_file(solve_job *job, const char *path, ulna_error *error)
{
    ulna_format format = ulna_format_of_name(path);
    ulna_write_options options = ulna_write_options_default();
    const ulna_model *model = job->model;
    ulna_clip own = ulna_clip_empty(NULL);
    const ulna_clip *clip = &job->clip;
    ulna_recording markers = ulna_recording_empty(NULL);
    int is_acclaim = format == ULNA_FORMAT_AMC || format == ULNA_FORMAT_ASF;
    ulna_status status = ULNA_OK;
    if (is_acclaim || format == job->skeleton.format) {
        model = job->skeleton.model;
        options.unit_m = job->skeleton.format == ULNA_FORMAT_MODEL_JSON ? 0 : job->skeleton.source.unit_m;
        if (job->with_balls) {
            status = ulna_clip_convert(job->model, &job->clip, model, &own, error);
            clip = &own;
        }
        if (is_acclaim && job->skeleton.format == ULNA_FORMAT_ASF)
            options.degrees = job->skeleton.source.degrees;
    }
    if (!status && (format == ULNA_FORMAT_C3D || format == ULNA_FORMAT_TRC))
        status = solved_markers(job, &markers, error);
    else if (!status && (format == ULNA_FORMAT_GLB || format == ULNA_FORMAT_GLTF))
        status = recorded_markers(job, &markers, error);
    if (!status)
        status = files_write(path, model, clip, &markers, &options, job->notes, error);
    ulna_recording_release(&markers);
    ulna_clip_release(&own);
    return status;
}

int solve_write_outputs(const cli *tool, json_t *object, solve_job *job)
{
    int code = CLI_DONE;
    json_t *list = json_array();
    for (int i = 0; i < tool->given_count; i++) {
        ulna_error error;
        ulna_error_clear(&error);
        if (!is_output(tool, i))
            continue;
        json_t *row = json_object();
        json_array_append_new(list, row);
        if (write_file(job, tool->values[i], &error)) {
            int failed = files_fail(row, tool->values[i], &error);
            code = failed > code ? failed : code;
            json_object_set_new(row, "result", json_string("failed"));
            continue;
        }
        json_object_set_new(row, "file", cli_json_text(tool->values[i]));
        json_object_set_new(row, "result", json_string("written"));
    }
    json_object_set_new(object, "outputs", list);
    return code;
}
