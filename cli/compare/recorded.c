/*
 * The problems of `ulna compare --markers`: frames of a recording, with the offsets of an attachment, or with those of each frame's own
 * reference pose, which is the experiment of the exact-Hessian paper. Every method starts a frame from the same pose.
 */
#include "cli/compare/compare.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is read: as `ulna solve` reads it ------------------------------------------------------------------ */

/* The options about files and frames; those about methods are compare's own. */
static const char inputs[] =
    "markers attach reference bounds axes up frames ball input-unit skeleton-unit subject no-checks";

int recorded_load(const cli *tool, json_t *object, const char *skeleton, recorded *from)
{
    ulna_error error;
    ulna_error_clear(&error);
    int code = solve_read_recording(tool, skeleton, inputs, &from->job);
    if (!code)
        code = solve_load_skeleton(object, &from->job, &from->skeleton, &error);
    if (!code)
        code = solve_begin(&from->job, &from->skeleton);
    if (!code && (code = solve_load(&from->job)) != CLI_DONE && from->job.failure_count)
        files_fail(object, from->job.failures[0].path, &from->job.failures[0].error);
    return code;
}

void recorded_release(recorded *from)
{
    free(from->picked);
    free(from->starts);
    free(from->locked);
    if (from->job.notes) /* begun */
        solve_release(&from->job);
    solve_release_skeleton(&from->skeleton);
}

/* ---- which frames, and where they start ------------------------------------------------------------------------ */

/* As far apart from each other as the recording allows; not the first frame, which has none before it. */
static ulna_status pick_frames(recorded *from, int wanted, ulna_error *error)
{
    int first = from->job.take->frame_count > 1, left = from->job.take->frame_count - first;
    from->count = wanted < left ? wanted : left;
    from->picked = calloc((size_t)from->count + 1, sizeof *from->picked);
    for (int i = 0; from->picked && i < from->count; i++)
        from->picked[i] = first + (int)((2LL * i + 1) * left / (2LL * from->count));
    return from->picked ? ULNA_OK : cli_no_memory(error);
}

/* The poses that `ulna solve` finds, for starts of the frames after them. */
static ulna_status track(recorded *from, ulna_track_result *tracked, ulna_error *error)
{
    ulna_track_options options = ulna_track_options_default();
    options.solve.bounded = options.fresh.bounded = from->job.bounded;
    options.solve.lower = options.fresh.lower = from->job.options.solve.lower;
    options.solve.upper = options.fresh.upper = from->job.options.solve.upper;
    options.continuous = 0;
    return ulna_track(from->job.take, &options, tracked, error);
}

static ulna_status find_start(recorded *from, start_kind kind, int frame, const ulna_track_result *tracked,
                              ulna_pose *pose, double *q)
{
    const ulna_take *take = from->job.take;
    const ulna_clip *clip = kind == START_REFERENCE ? take->reference : &tracked->clip;
    int before = frame - 1 + (kind == START_REFERENCE ? take->reference_shift : 0);
    if (kind == START_ZERO)
        return ulna_take_zero_start(take, frame, pose, q);
    const double *at =
        kind == START_REST ? ulna_model_rest(take->model) : ulna_clip_frame(clip, before < 0 ? 0 : before);
    memcpy(q, at, (size_t)ulna_model_coordinate_count(take->model) * sizeof *q);
    return ULNA_OK;
}

ulna_status recorded_prepare(recorded *from, start_kind kind, int wanted, ulna_error *error)
{
    const ulna_take *take = from->job.take;
    size_t nq = (size_t)ulna_model_coordinate_count(take->model);
    ulna_track_result tracked = {0};
    ulna_pose *pose = NULL;
    if (kind == START_REFERENCE && !take->reference)
        return cli_fail(error, ULNA_ERR_ARGUMENT, "--start reference needs --reference MOTION");
    ulna_status status = pick_frames(from, wanted, error);
    from->starts = calloc(nq * (size_t)from->count + 1, sizeof *from->starts);
    from->locked = calloc((size_t)ulna_model_dof_count(take->model) + 1, 1);
    if (status == ULNA_OK && (!from->starts || !from->locked))
        status = cli_no_memory(error);
    if (status == ULNA_OK && kind == START_TRACKED)
        status = track(from, &tracked, error);
    if (status == ULNA_OK)
        status = ulna_pose_create(take->model, NULL, &pose, error);
    for (int i = 0; i < from->count && status == ULNA_OK; i++)
        status = find_start(from, kind, from->picked[i], &tracked, pose, from->starts + nq * (size_t)i);
    if (status == ULNA_OK)
        ulna_take_idle_dofs(take, from->locked);
    ulna_pose_destroy(pose);
    ulna_track_result_release(&tracked);
    return status;
}

/* ---- a frame's problem ------------------------------------------------------------------------------------------- */

ulna_status recorded_problem(const recorded *from, int index, ulna_problem **problem, ulna_error *error)
{
    const ulna_take *take = from->job.take;
    ulna_status status;
    if (from->job.attach == ATTACH_ORACLE) {
        ulna_pose *pose = NULL;
        status = ulna_pose_create(take->model, NULL, &pose, error);
        if (status == ULNA_OK)
            status = ulna_take_oracle_problem(take, from->picked[index], pose, problem, error);
        ulna_pose_destroy(pose);
        return status;
    }
    const double nowhere[3] = {0, 0, 0};
    status = ulna_problem_create(take->model, NULL, problem, error);
    for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++)
        status = ulna_problem_add_point(*problem, take->set.items[i].body, take->set.items[i].offset, nowhere,
                                        take->set.items[i].weight, NULL, error);
    return status != ULNA_OK ? status : ulna_problem_ready(*problem, error);
}

ulna_status recorded_goals(const recorded *from, int index, ulna_problem *problem, double *positions)
{
    int count = (int)from->job.take->set.count;
    for (int i = 0; i < count; i++)
        ulna_take_position(from->job.take, from->picked[index], i, positions + 3 * (size_t)i);
    return ulna_problem_set_points(problem, 0, count, positions);
}
