/* What `ulna reach` found: facts, tables, files. */
#include "cli/reach/reach.h"

#include "cli/info/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEGREE (3.14159265358979323846 / 180)

/* ---- facts ---------------------------------------------------------------------------------------------------------------- */

/* Where the first joint that moves is, at rest: nothing above it moves. */
static int place_joint(const ulna_model *model, int body, double at[3])
{
    ulna_pose *pose = NULL;
    double place[3], rotation[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    int parent = ulna_model_body_parent(model, body), done = 1;
    at[0] = at[1] = at[2] = 0;
    if (parent != ULNA_NONE) {
        if (ulna_pose_create(model, NULL, &pose, NULL) != ULNA_OK) /* no other reason */
            cli_out_of_memory();
        done = ulna_pose_forward(pose, ulna_model_rest(model)) == ULNA_OK &&
               ulna_pose_body(pose, parent, at, rotation) == ULNA_OK;
        ulna_pose_destroy(pose);
    }
    ulna_model_body_placement(model, body, place, NULL);
    for (int r = 0; r < 3; r++)
        at[r] += rotation[3 * r] * place[0] + rotation[3 * r + 1] * place[1] + rotation[3 * r + 2] * place[2];
    return done;
}

/* A goal that is too far away from the first joint: how far the tip gets. */
static void put_reach(json_t *row, const reach_job *job, const reach_tip *tip, const ulna_reach_goal *target)
{
    const double *point = tip->tip.point, *weight = tip->tip.weight;
    double at[3];
    int dofs, first;
    double reach = robot_reach(job->model, tip->tip.body, &dofs, &first) + hypot(hypot(point[0], point[1]), point[2]);
    if (first == ULNA_NONE || !isfinite(reach) || tip->relative_to ||
        !(weight[0] > 0 && weight[1] > 0 && weight[2] > 0) || !place_joint(job->model, first, at))
        return;
    double away = hypot(hypot(target->position[0] - at[0], target->position[1] - at[1]), target->position[2] - at[2]);
    if (away <= reach)
        return;
    put_number(row, "reach_m", reach);
    put_number(row, "goal_distance_m", away);
    put_text(row, "reach_from", ulna_model_joint_name(job->model, first));
}

static void put_tips(json_t *object, const reach_job *job, const ulna_reach_goal *targets,
                     const ulna_reach_error *errors)
{
    json_t *list = put_list(object, "tips");
    for (int i = 0; i < job->tip_count; i++) {
        json_t *row = put_row(list);
        const double *w = job->tip[i].tip.weight;
        put_text(row, "name", job->tip[i].name);
        put_text(row, "relative_to", job->tip[i].relative_to);
        put_flag(row, "within", errors[i].within);
        if (w[0] + w[1] + w[2] > 0)
            put_number(row, "position_error_m", errors[i].position);
        if (w[3] + w[4] + w[5] > 0)
            put_number(row, "rotation_error_rad", errors[i].rotation);
        put_numbers(row, "axis_errors", errors[i].axis, 6);
        if (!errors[i].within)
            put_reach(row, job, &job->tip[i], &targets[i]);
    }
}

/* A joint with a quaternion, the last four of its coordinates: how far it rotates from the seed. */
static void put_ball(json_t *list, const reach_job *job, int body, const double *q)
{
    int first, count = ulna_model_body_coordinates(job->model, body, &first);
    const double *now = q + first + count - 4, *seed = job->seed + first + count - 4;
    double cosine = fabs(now[0] * seed[0] + now[1] * seed[1] + now[2] * seed[2] + now[3] * seed[3]);
    json_t *row = put_row(list);
    put_text(row, "name", ulna_model_joint_name(job->model, body));
    put_numbers(row, "quaternion", now, 4);
    put_number(row, "change", 2 * acos(fmin(1, cosine)));
    int dof;
    ulna_model_body_dofs(job->model, body, &dof);
    put_flag(row, "locked", job->locked[dof]);
}

static void put_joints(json_t *object, const reach_job *job, const double *q)
{
    const double *lower = ulna_model_lower(job->model), *upper = ulna_model_upper(job->model);
    json_t *list = put_list(object, "joints");
    for (int j = 0; j < job->nv; j++) {
        char label[300];
        int c = ulna_model_dof_coordinate(job->model, j), is_slide = ulna_model_dof_is_translation(job->model, j);
        if (c < 0) {
            int body = ulna_model_dof_body(job->model, j),
                is_last = j + 1 == job->nv || ulna_model_dof_body(job->model, j + 1) != body;
            if (is_last)
                put_ball(list, job, body, q);
            continue;
        }
        json_t *row = put_row(list);
        ulna_model_dof_label(job->model, j, label, sizeof label);
        put_text(row, "name", label);
        double shown = fabs(q[c]) < 5e-12 ? 0 : q[c]; /* no "-0.00" */
        put_number(row, "value", shown);
        put_number(row, is_slide ? "mm" : "degrees", is_slide ? 1e3 * shown : shown / DEGREE);
        put_number(row, "change", q[c] - job->seed[c]);
        put_number(row, "lower", lower[j]);
        put_number(row, "upper", upper[j]);
        put_flag(row, "at_limit", q[c] <= lower[j] || q[c] >= upper[j]);
        put_flag(row, "locked", job->locked[j]);
    }
}

void reach_put_result(json_t *object, reach_job *job, const ulna_reach_goal *targets, const double *q,
                      const ulna_reach_result *result)
{
    ulna_reach_error errors[REACH_MOST_TIPS];
    put_flag(object, "reached", result->reached);
    put_number(object, "position_error_m", result->position_error);
    put_number(object, "rotation_error_rad", result->rotation_error);
    put_number(object, "distance", result->distance);
    put_flag(object, "jumped", result->jumped);
    put_count(object, "at_limits", result->at_limits);
    put_count(object, "iterations", result->iterations);
    put_count(object, "restarts", result->restarts);
    put_flag(object, "out_of_time", result->out_of_time);
    put_numbers(object, "q", q, job->nq);
    if (ulna_reach_measure(job->work, targets, q, errors) == ULNA_OK)
        put_tips(object, job, targets, errors);
    if (job->keeping) {
        double kept[REACH_MOST_CONSTRAINTS], largest;
        reach_keep_measure(job, job->keeper, q, kept, &largest);
        reach_keep_put(object, job, kept, NULL);
    }
    put_joints(object, job, q);
}

/* ---- for people ------------------------------------------------------------------------------------------------------------- */

/* Joints that moved; all of them if the robot has few. */
static json_t *joints_to_show(const json_t *object)
{
    enum { FEW = 12 };
    json_t *all = json_object_get(object, "joints"), *shown = json_array(), *row;
    size_t i;
    json_array_foreach(all, i, row)
    {
        if (json_array_size(all) <= FEW || fabs(json_number_value(json_object_get(row, "change"))) > 5e-5)
            json_array_append(shown, row);
    }
    return shown;
}

static void print_reach(const cli *tool, const json_t *tips)
{
    enum { SURELY = 100 }; /* goals so many times farther away are in another unit */
    size_t i;
    json_t *row;
    int some = 0;
    json_array_foreach(tips, i, row)
    {
        double reach = json_number_value(json_object_get(row, "reach_m"));
        double away = json_number_value(json_object_get(row, "goal_distance_m"));
        if (!(away > reach))
            continue;
        fact_line(
            tool, row, "reach",
            "{name} gets no farther than {reach_m%.3g} m from joint {reach_from}; its goal is {goal_distance_m%.3g} m away "
            "from there");
        if (away > SURELY * reach)
            fact_text(tool, "", "goals are in metres");
        some = 1;
    }
    if (some)
        cli_say(tool, "\n");
}

void reach_print_result(const cli *tool, const json_t *object)
{
    json_t *shown = joints_to_show(object);
    static const fact_column tips[] = {
        {"tip", 'l', "{name}[ from {relative_to}]"},
        {"", 'l', "[{within?}reached|closest]"},
        {"position error", 'r', "{position_error_m%.3g} m"},
        {"rotation error", 'r', "{rotation_error_rad%.3g} rad"},
        {0},
    };
    static const fact_column joints[] = {
        {"joint", 'l', "{name}"},
        {"value", 'r', "{value%.6f}"},
        {"", 'r', "[{degrees%.2f}°|{mm%.2f} mm]"},
        {"change", 'r', "{change%.4f}"},
        {"", 'l', "[{at_limit?}at its limit|{locked?}locked|]"},
        {0},
    };
    fact_line(
        tool, object, "result",
        "[{reached?}reached, inside the limits|{constraints_not_kept?}NOT reached: a constraint is not kept; this is the "
        "closest configuration found|NOT reached: this is the closest configuration found]");
    reach_keep_print(tool, object);
    fact_line(tool, object, "time", "{out_of_time?}the budget ended the search");
    cli_say(tool, "\n");
    fact_table(tool, 2, json_object_get(object, "tips"), tips);
    cli_say(tool, "\n");
    print_reach(tool, json_object_get(object, "tips"));
    fact_table(tool, 2, shown, joints);
    cli_say(tool, "\n");
    size_t others = json_array_size(json_object_get(object, "joints")) - json_array_size(shown);
    if (others)
        fact_text(tool, "others", "%zu joints stay where they are", others);
    json_decref(shown);
    fact_line(tool, object, "effort",
              "{us%us}, {iterations} iteration{iterations:/s}, {restarts} restart{restarts:/s}; solver: {solver}");
}

void reach_print_all(const cli *tool, const json_t *object)
{
    static const fact_column solutions[] = {
        {"solution", 'r', "{number}"},
        {"distance", 'r', "{distance%.4f}"},
        {"joints (radians, metres)", 'l', "{text}"},
        {0},
    };
    fact_line(
        tool, object, "result",
        "[{solutions_found?}{solutions_found} solution{solutions_found:/s}, nearest to the seed first|NOT reached: see "
        "below for the closest configuration]");
    cli_say(tool, "\n");
    if (json_array_size(json_object_get(object, "solutions")))
        fact_table(tool, 2, json_object_get(object, "solutions"), solutions);
    cli_say(tool, "\n");
    fact_line(tool, object, "effort", "{us%us}; solver: {solver}");
}

/* ---- files --------------------------------------------------------------------------------------------------------------------- */

static int is_output(const cli *tool, int i)
{
    return strcmp(tool->given[i]->name, "output") == 0;
}

int reach_check_outputs(const cli *tool, json_t *object, const reach_job *job)
{
    int code = CLI_DONE;
    for (int i = 0; i < tool->given_count && !code; i++) {
        const char *path = tool->values[i];
        if (!is_output(tool, i))
            continue;
        ulna_format format = ulna_format_of_name(path);
        int is_plain = reach_table_of(path) != REACH_TABLE_NONE || format == ULNA_FORMAT_MODEL_JSON;
        if (!is_plain && !(ulna_format_writes(format) & ULNA_HOLDS_MOTION))
            code = cli_usage(
                tool,
                "'%s': the extension says the format: .csv or .jsonl for a table of answers, .mot, .amc, .bvh or .glb "
                "for a motion, .json for the output of --json",
                path);
        else if (!is_plain && job->is_list)
            code = cli_usage(
                tool, "'%s': the answers of --each are no motion: give a name that ends with .csv or .jsonl", path);
        if (!code)
            code = folder_make_for(object, path);
    }
    return code;
}

/* A row of `outputs`, which are in the order in which they were written. */
static int put_output(json_t *object, const char *path, const ulna_error *error)
{
    json_t *list = json_object_get(object, "outputs"), *row = put_row(list ? list : put_list(object, "outputs"));
    int code = CLI_DONE;
    if (error->status != ULNA_OK)
        code = files_fail(row, path, error);
    else
        put_text(row, "file", path);
    put_text(row, "result", code ? "failed" : "written");
    return code;
}

static void discard_tables(void *context)
{
    reach_job *job = context;
    for (int i = 0; i < job->table_count; i++)
        (void)reach_answers_close(&job->tables[i], 0, NULL);
}

int reach_open_tables(const cli *tool, json_t *object, reach_job *job, reach_answer_kind kind, int has_time)
{
    int code = CLI_DONE;
    job->tables = cli_allocate((size_t)tool->given_count + 1, sizeof *job->tables);
    cli_undo_without_memory(discard_tables, job);
    for (int i = 0; i < tool->given_count && !code; i++) {
        ulna_error error;
        ulna_error_clear(&error);
        if (is_output(tool, i) && reach_table_of(tool->values[i]) != REACH_TABLE_NONE &&
            reach_answers_open(&job->tables[job->table_count++], job, tool->values[i], kind, has_time, &error))
            code = files_fail(object, tool->values[i], &error);
    }
    return code;
}

int reach_close_tables(json_t *object, reach_job *job, int is_kept)
{
    int code = CLI_DONE;
    for (int i = 0; i < job->table_count; i++) {
        ulna_error error;
        ulna_error_clear(&error);
        if (reach_answers_close(&job->tables[i], is_kept, &error) != ULNA_OK && error.status == ULNA_OK)
            cli_no_memory(&error);
        int failed = is_kept ? put_output(object, job->tables[i].path, &error) : CLI_DONE;
        code = failed > code ? failed : code;
    }
    cli_undo_without_memory(NULL, NULL);
    return code;
}

static ulna_status write_rows(reach_answers *table, int count, const reach_answer *answers)
{
    char *text = malloc(table->row_bytes);
    ulna_status status = text ? ULNA_OK : ULNA_ERR_MEMORY;
    for (int i = 0; i < count && status == ULNA_OK; i++)
        status = reach_answers_write(table, text, reach_answer_text(table, &answers[i], text));
    table->status = status;
    free(text);
    return status;
}

static ulna_status write_motion(const reach_job *job, const char *path, int count, const reach_answer *answers,
                                ulna_error *error)
{
    ulna_write_options options = ulna_write_options_for(&job->file, ulna_format_of_name(path));
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_recording none = ulna_recording_empty(NULL);
    if (ulna_clip_resize(&clip, job->nq, count))
        return cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d samples", count);
    clip.first_frame = 1;
    if (job->rate > 0)
        clip.frame_seconds = 1 / job->rate;
    else if (job->poses.times && count > 1)
        clip.frame_seconds = (job->poses.times[count - 1] - job->poses.times[0]) / (count - 1);
    for (int i = 0; i < count; i++)
        memcpy(ulna_clip_frame(&clip, i), answers[i].q, (size_t)job->nq * sizeof *answers[i].q);
    ulna_status status = files_write(path, job->model, &clip, &none, &options, job->notes, error);
    ulna_clip_release(&clip);
    return status;
}

static int write_tables(const cli *tool, json_t *object, reach_job *job, reach_answer_kind kind, int count,
                        const reach_answer *answers)
{
    int code = reach_open_tables(tool, object, job, kind, job->poses.times != NULL);
    for (int i = 0; i < job->table_count && !code; i++)
        (void)write_rows(&job->tables[i], count, answers);
    int closed = reach_close_tables(object, job, !code);
    return code ? code : closed;
}

int reach_write_outputs(const cli *tool, json_t *object, reach_job *job, reach_answer_kind kind, int count,
                        const reach_answer *answers)
{
    int code = answers ? write_tables(tool, object, job, kind, count, answers) : CLI_DONE;
    if (!json_object_get(object, "outputs"))
        put_list(object, "outputs");
    for (int i = 0; i < tool->given_count; i++) {
        const char *path = tool->values[i];
        ulna_error error;
        ulna_error_clear(&error);
        if (!is_output(tool, i) || reach_table_of(path) != REACH_TABLE_NONE)
            continue;
        if (ulna_format_of_name(path) == ULNA_FORMAT_MODEL_JSON)
            error.status = cli_write_json(path, object, &error);
        else
            error.status = write_motion(job, path, count, answers, &error);
        int failed = put_output(object, path, &error);
        code = failed > code ? failed : code;
    }
    for (size_t i = 0; i < json_array_size(json_object_get(object, "outputs")); i++)
        fact_line(tool, json_array_get(json_object_get(object, "outputs"), i), "wrote", "{file}");
    return code;
}
