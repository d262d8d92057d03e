/* Everything that `ulna global` reads, made into a problem. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/global/global.h"

/* ---- goals of one's own ------------------------------------------------------------------------------------------ */

static int read_goals(const cli *tool, json_t *object, global_job *job, ulna_error *error)
{
    goals_init(&job->wanted, job->model);
    job->wanted.unit_m = job->unit_m;
    if (job->goals_path && goals_read(&job->wanted, job->goals_path, error))
        return files_fail(object, job->goals_path, error);
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "goal") == 0 && goals_add_text(&job->wanted, tool->values[i], error))
            return cli_usage(tool, "--goal '%s': %s", tool->values[i], error->message);
    return CLI_DONE;
}

static void add_goal(global_job *job, const goal *from, int is_turn)
{
    global_goal *to = &job->goal[job->goal_count++];
    int is_marker = from->marker != ULNA_NONE && !is_turn;
    snprintf(to->name, sizeof to->name, "%s",
             is_marker ? ulna_model_marker_name(job->model, from->marker)
                       : ulna_model_body_name(job->model, from->body));
    to->is_turn = is_turn;
    to->body = from->body;
    memcpy(to->point, from->point, sizeof to->point);
    to->weight = from->weight;
}

/* In the order in which goals_to_problem makes terms of them. */
static ulna_status use_goals(global_job *job, ulna_error *error)
{
    job->goal = calloc(2 * (size_t)job->wanted.count + 1, sizeof *job->goal);
    if (!job->goal)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    double weight = 0;
    for (int i = 0; i < job->wanted.count; i++) {
        const goal *from = &job->wanted.list[i];
        if (from->what & GOAL_POSITION)
            add_goal(job, from, 0);
        if (from->what & GOAL_ORIENTATION)
            add_goal(job, from, 1);
        weight += from->weight;
    }
    if (!(weight > 0))
        return cli_fail(error, ULNA_ERR_PARSE, "no goal has a weight: there is nothing to reach");
    job->frame_count = 1;
    return goals_to_problem(&job->wanted, job->problem, error);
}

/* ---- markers of a recording --------------------------------------------------------------------------------------- */

/* Where markers sit, if neither the command line nor the skeleton says so. */
static int check_attachment(const cli *tool, global_job *job)
{
    if (job->take.attach != ATTACH_MODEL || ulna_model_marker_count(job->model) > 0)
        return CLI_DONE;
    if (!job->take.reference_path || cli_value(tool, "attach"))
        return cli_usage(tool, "the skeleton has no markers of its own: where do they sit? --attach FILE tells, and "
                               "'ulna calibrate' makes such a file; --reference MOTION can tell too");
    job->take.attach = ATTACH_REFERENCE;
    return CLI_DONE;
}

static int read_take(const cli *tool, json_t *object, global_job *job)
{
    solve_job *take = &job->take;
    int code = check_attachment(tool, job);
    if (!code)
        code = solve_begin(take, &job->skeleton);
    if (code)
        return code;
    code = solve_load(take);
    for (int i = 0; i < take->failure_count; i++)
        code = files_fail(object, take->failures[i].path, &take->failures[i].error);
    return code;
}

static ulna_status choose_frames(global_job *job, ulna_error *error)
{
    const ulna_take *all = job->take.take;
    long long low = all->first_frame, high = low + all->frame_count - 1;
    job->frame_count = 1;
    if (job->first > job->last) {
        if (all->frame_count > 1)
            files_note_text(job->notes, "this is the first frame of %d; --frames says which", all->frame_count);
        return ULNA_OK;
    }
    long long first = job->first > low ? job->first : low, last = job->last < high ? job->last : high;
    if (first > last)
        return cli_fail(error, ULNA_ERR_ARGUMENT, "there is none of the frames asked for: it has %lld to %lld", low,
                        high);
    job->skipped = (int)(first - low);
    job->frame_count = (int)(last - first + 1);
    return ULNA_OK;
}

static ulna_status use_take(global_job *job, ulna_error *error)
{
    const ulna_marker_set *set = &job->take.take->set;
    const double anywhere[3] = {0, 0, 0};
    ulna_status status = ULNA_OK;
    job->goal = calloc(set->count + 1, sizeof *job->goal);
    if (!job->goal)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < set->count && !status; i++) {
        const ulna_attachment *item = &set->items[i];
        global_goal *to = &job->goal[job->goal_count++];
        snprintf(to->name, sizeof to->name, "%s", item->marker);
        to->body = item->body;
        memcpy(to->point, item->offset, sizeof to->point);
        to->weight = item->weight;
        status = ulna_problem_add_point(job->problem, item->body, item->offset, anywhere, item->weight, NULL, error);
    }
    job->options.local.lower = job->take.options.solve.lower;
    job->options.local.upper = job->take.options.solve.upper;
    return status ? status : choose_frames(job, error);
}

int global_place(const global_job *job, int frame, int number, double place[3])
{
    if (job->goal[number].is_turn)
        return 0;
    if (job->has_take)
        return ulna_take_position(job->take.take, job->skipped + frame, number, place);
    return ulna_problem_goal(job->problem, number, place) == ULNA_OK;
}

int global_set_frame(global_job *job, int frame)
{
    int seen = 0;
    if (!job->has_take)
        return job->goal_count;
    for (int i = 0; i < job->goal_count; i++) {
        double place[3];
        if (!global_place(job, frame, i, place))
            place[0] = place[1] = place[2] = NAN;
        if (ulna_problem_set_points(job->problem, i, 1, place))
            return -1;
        seen += !isnan(place[0]) && job->goal[i].weight > 0;
    }
    return seen;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static ulna_status make_problem(global_job *job, ulna_error *error)
{
    if (ulna_model_dof_count(job->model) == 0)
        return cli_fail(error, ULNA_ERR_MODEL, "the skeleton has no degree of freedom: there is nothing to solve");
    ulna_status status = ulna_problem_create(job->model, NULL, &job->problem, error);
    if (!status)
        status = job->has_take ? use_take(job, error) : use_goals(job, error);
    if (!status)
        status = ulna_problem_ready(job->problem, error);
    return status ? status : ulna_work_create(job->problem, NULL, &job->work, error);
}

static ulna_status make_room(global_job *job, ulna_error *error)
{
    size_t frames = (size_t)job->frame_count, count = (size_t)job->goal_count;
    job->frames = calloc(frames, sizeof *job->frames);
    job->errors = calloc(frames, count * sizeof *job->errors);
    if (!job->frames || !job->errors ||
        ulna_clip_resize(&job->poses, ulna_model_coordinate_count(job->model), job->frame_count))
        return cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames", job->frame_count);
    job->poses.first_frame = job->has_take ? job->take.take->first_frame + job->skipped : 1;
    job->poses.frame_seconds = job->has_take ? job->take.take->recording->frame_seconds : 0;
    for (size_t f = 0; f < frames; f++) {
        job->frames[f].errors = job->errors + f * count;
        job->frames[f].number = job->poses.first_frame + (int)f;
    }
    return ULNA_OK;
}

int global_load(const cli *tool, json_t *object, global_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    job->poses = ulna_clip_empty(NULL);
    job->notes = json_array();
    job->take.skeleton_path = job->skeleton_path;
    int code = solve_load_skeleton(object, &job->take, &job->skeleton, &error);
    if (code)
        return code;
    job->model = job->skeleton.file.model;
    code = job->has_take ? read_take(tool, object, job) : read_goals(tool, object, job, &error);
    if (code)
        return code;
    if (job->has_take)
        json_array_extend(job->notes, job->take.notes);
    else
        files_note(job->notes, job->skeleton_path, &job->skeleton.file.remarks);
    const char *about = job->has_take ? job->take.markers_path : job->goals_path;
    if (make_problem(job, &error) || make_room(job, &error))
        return files_fail(object, about && error.status != ULNA_ERR_MODEL ? about : job->skeleton_path, &error);
    return CLI_DONE;
}

void global_release(global_job *job)
{
    ulna_work_destroy(job->work);
    ulna_problem_destroy(job->problem);
    goals_release(&job->wanted);
    free(job->goal);
    free(job->frames);
    free(job->errors);
    ulna_clip_release(&job->poses);
    json_decref(job->notes);
    if (job->take.notes) /* begun */
        solve_release(&job->take);
    solve_release_skeleton(&job->skeleton);
}
