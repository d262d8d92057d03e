/* ulna reach: joint values that bring links of a robot to given poses, inside the limits. */
#include "cli/reach/reach.h"

#include <stdlib.h>
#include <string.h>

static ulna_status load(reach_job *job, ulna_error *error)
{
    ulna_status status = files_skeleton(job->robot, 0, &job->file, error);
    if (status != ULNA_OK)
        return status;
    job->model = job->file.model;
    job->nq = ulna_model_coordinate_count(job->model);
    job->nv = ulna_model_dof_count(job->model);
    return job->nv > 0 ? ULNA_OK : cli_fail(error, ULNA_ERR_MODEL, "the robot has no joint that moves");
}

/* Whether the joint of a body, or one that follows it, is on the way to a tip. */
static int is_used(const reach_job *job, int body)
{
    int count, is_moving = job->options.constraint_count > 0; /* these may be about any joint */
    const ulna_coupling *coupling = ulna_model_couplings(job->model, &count);
    for (int i = 0; i < 2 * job->tip_count && !is_moving; i++) {
        const ulna_reach_tip *tip = &job->tip[i / 2].tip;
        int at = i % 2 ? tip->relative_to : tip->body;
        while (at != ULNA_NONE && at != body)
            at = ulna_model_body_parent(job->model, at);
        is_moving = at != ULNA_NONE;
    }
    for (int i = 0; i < count && !is_moving; i++) /* no master follows another */
        if (ulna_model_dof_body(job->model, coupling[i].master) == body)
            is_moving = is_used(job, ulna_model_dof_body(job->model, coupling[i].dof));
    return is_moving;
}

/* What the file's reader noticed, but for joints that this solve does not use: `ulna info` shows all of it. */
static void note_robot(reach_job *job)
{
    ulna_remarks *remarks = &job->file.remarks;
    size_t kept = 0;
    for (size_t i = 0; i < remarks->count; i++)
        if (remarks->items[i].body == ULNA_NONE || is_used(job, remarks->items[i].body))
            remarks->items[kept++] = remarks->items[i];
    remarks->count = kept;
    files_note(job->notes, job->robot, remarks);
}

ulna_status reach_make(const reach_job *job, const ulna_reach_options *options, ulna_reach **reach,
                       ulna_reach_work **work, ulna_error *error)
{
    ulna_reach_tip tips[REACH_MOST_TIPS];
    for (int i = 0; i < job->tip_count; i++)
        tips[i] = job->tip[i].tip;
    ulna_status status = ulna_reach_create(job->model, job->tip_count, tips, options, NULL, reach, error);
    return status == ULNA_OK ? ulna_reach_work_create(*reach, NULL, work, error) : status;
}

static ulna_status prepare(reach_job *job, ulna_error *error)
{
    ulna_status status = reach_make(job, &job->options, &job->reach, &job->work, error);
    return status == ULNA_OK ? reach_keep_prepare(job, error) : status;
}

static void release(reach_job *job)
{
    ulna_reach_work_destroy(job->work);
    ulna_reach_destroy(job->reach);
    reach_rows_close(&job->rows);
    reach_release_poses(&job->poses);
    ulna_work_destroy(job->keeper);
    ulna_problem_destroy(job->keeping);
    constraint_file_release(&job->constraints);
    goals_release(&job->wanted);
    free(job->kept);
    free(job->seed);
    free(job->posture);
    free(job->strength);
    free(job->distance_weight);
    free(job->locked);
    json_decref(job->notes);
    ulna_content_release(&job->file);
    (void)fflush(stdout);
    for (int i = 0; i < job->table_count; i++)
        reach_answers_end(&job->tables[i]);
    free(job->tables);
}

/* ---- one set of goals ------------------------------------------------------------------------------------------------------- */

static int solve_failed(json_t *object, const reach_job *job, ulna_status status)
{
    ulna_error error;
    cli_fail(&error, cli_with_memory(status),
             "a goal is too far away for this robot of about %.3g m, or is no finite number",
             ulna_model_length_scale(job->model));
    return files_fail(object, job->robot, &error);
}

static int solve_one(const cli *tool, json_t *object, reach_job *job, const ulna_reach_goal *targets)
{
    double *q = calloc((size_t)job->nq + 1, sizeof *q);
    ulna_reach_result result;
    double began = cli_seconds();
    ulna_status status = q ? ulna_reach_solve(job->work, targets, job->seed, q, &result) : ULNA_ERR_MEMORY;
    double seconds = cli_seconds() - began;
    int code;
    if (status != ULNA_OK)
        code = solve_failed(object, job, status);
    else {
        reach_answer answer = reach_judge(job, job->keeper, q, &result, 1, NULL);
        put_number(object, "us", 1e6 * seconds);
        reach_put_result(object, job, targets, q, &answer.result);
        reach_print_result(tool, object);
        code = reach_write_outputs(tool, object, job, REACH_GOALS, 1, &answer);
        if (!code && !answer.result.reached)
            code = CLI_PARTLY;
    }
    free(q);
    return code;
}

static void put_solutions(json_t *object, reach_job *job, const double *q, const ulna_reach_result *results, int count)
{
    json_t *list = put_list(object, "solutions");
    for (int i = 0; i < count; i++) {
        json_t *row = put_row(list);
        char text[400] = "";
        const double *at = q + (size_t)i * (size_t)job->nq;
        put_count(row, "number", i + 1);
        put_number(row, "distance", results[i].distance);
        put_flag(row, "reached", results[i].reached);
        put_number(row, "position_error_m", results[i].position_error);
        put_number(row, "rotation_error_rad", results[i].rotation_error);
        put_numbers(row, "q", at, job->nq);
        for (int c = 0; c < job->nq && strlen(text) < sizeof text - 16; c++)
            snprintf(text + strlen(text), sizeof text - strlen(text), "%s%.4f", c ? " " : "", at[c]);
        put_text(row, "text", text);
    }
}

static int solve_all(const cli *tool, json_t *object, reach_job *job, const ulna_reach_goal *targets)
{
    double *q = calloc((size_t)REACH_MOST_ALL * (size_t)job->nq + 1, sizeof *q);
    ulna_reach_result results[REACH_MOST_ALL];
    reach_answer answers[REACH_MOST_ALL];
    int count = 0, code;
    double began = cli_seconds();
    ulna_status status =
        q ? ulna_reach_all(job->work, targets, job->seed, REACH_MOST_ALL, q, results, &count) : ULNA_ERR_MEMORY;
    double seconds = cli_seconds() - began;
    if (status != ULNA_OK)
        code = solve_failed(object, job, status);
    else {
        put_number(object, "us", 1e6 * seconds);
        put_count(object, "solutions_found", count);
        put_solutions(object, job, q, results, count);
        reach_print_all(tool, object);
        for (int i = 0; i < count || i == 0; i++)
            answers[i] = reach_judge(job, job->keeper, q + (size_t)i * (size_t)job->nq, &results[i], i + 1, NULL);
        reach_put_result(object, job, targets, q, &answers[0].result);
        if (count == 0)
            reach_print_result(tool, object);
        code = reach_write_outputs(tool, object, job, REACH_SOLUTIONS, count > 0 ? count : 1, answers);
        if (!code && count == 0)
            code = CLI_PARTLY;
    }
    free(q);
    return code;
}

/* ---- the command --------------------------------------------------------------------------------------------------------------- */

static int run(const cli *tool, json_t *object, reach_job *job)
{
    ulna_error error;
    ulna_reach_goal targets[REACH_MOST_TIPS];
    ulna_error_clear(&error);
    if (load(job, &error))
        return files_fail(object, job->robot, &error);
    int code = reach_read_options(tool, object, job);
    if (!code)
        code = reach_check_outputs(tool, object, job);
    if (code)
        return code;
    note_robot(job);
    if (prepare(job, &error))
        return error.status == ULNA_ERR_ARGUMENT ? cli_usage(tool, "%s", error.message)
                                                 : files_fail(object, job->robot, &error);
    put_text(object, "robot", job->robot);
    put_count(object, "dof", job->nv);
    put_text(object, "solver", ulna_reach_solver_name(job->reach));
    cli_title(tool, "%s", job->robot);
    cli_say(tool, ": %d degrees of freedom, %d tip%s\n", job->nv, job->tip_count, job->tip_count == 1 ? "" : "s");
    for (int i = 0; i < job->tip_count; i++)
        targets[i] = job->tip[i].goal;
    code = job->bench       ? reach_run_bench(tool, object, job)
           : job->is_list   ? reach_solve_list(tool, object, job)
           : job->rows_path ? reach_follow(tool, object, job)
           : job->all       ? solve_all(tool, object, job, targets)
                            : solve_one(tool, object, job, targets);
    json_object_set(object, "notes", job->notes);
    files_print_notes(tool, job->notes);
    return code;
}

static int reach_main(cli *tool)
{
    if (tool->operand_count == 0)
        return cli_usage(tool, "no robot given: ulna reach ROBOT, as in: ulna reach arm --goal \"0.4 0.2 0.5\"");
    reach_job *job = calloc(1, sizeof *job);
    json_t *object = json_object();
    if (!job) {
        json_decref(object);
        return cli_out_of_memory();
    }
    *job = (reach_job){.robot = tool->operands[0],
                       .file = ulna_content_empty(NULL),
                       .options = ulna_reach_options_default(),
                       .notes = json_array()};
    int code = run(tool, object, job);
    if (code == CLI_USAGE) /* already reported as JSON */
        json_decref(object);
    else
        cli_json_print(tool, object);
    release(job);
    free(job);
    return code;
}

static const cli_option options[] = {
    {"tip", 't', "LINK",
     "The link that is to reach a goal, or a marker, which is a point of its link. May be repeated; the options up to --tool are about "
     "the tip before them, in any order. Default: the end of the robot, if it has one end only."},
    {"goal", 'g', "\"X Y Z QX QY QZ QW\"",
     "Where the tip should be: position (m) and rotation (quaternion). Three numbers are a position with any rotation, four a "
     "rotation at any position."},
    {"direction", 0, "\"[AXIS] X Y Z\"",
     "Point an axis of the tip (x, y or z; default: z) this way; the tip may spin about it. Alone, or with a --goal of three "
     "numbers."},
    {"relative-to", 0, "LINK", "The goal is given in the frame of this link. Default: the world."},
    {"free", 0, "AXES",
     "Axes of the goal's frame along or about which the tip may be anywhere: x, y, z, rx, ry, rz, separated by commas."},
    {"tolerance", 0, "\"NUMBERS\"",
     "When a goal counts as reached: one number (m and rad), two (m, rad), or six. Default: 1e-6."},
    {"weight", 0, "\"NUMBERS\"",
     "What counts more where not all can be met: one number, two (position, rotation) or six. Default: 1."},
    {"tool", 0, "\"X Y Z QX QY QZ QW\"",
     "The frame on the link that is to reach the goal: position, and perhaps rotation, in the frame of the link."},
    {"seed", 0, "\"Q1 Q2 ...\"",
     "Where the robot is: all joint values (radians, metres) in quotes, rest (default), or a motion file, of which the first frame "
     "counts. With a seed the solution that it leads to is preferred."},
    {"any", 0, NULL, "Any solution will do, although a seed is given."},
    {"nearest", 0, NULL, "Find the solution nearest to the seed, or to --posture. Takes longer."},
    {"norm", 0, "NORM",
     "Distance for --nearest: squares (default), the root of the sum of squares; or largest, the largest change."},
    {"distance-weight", 0, "JOINT=W",
     "Weight of a joint in that distance, beside 1 / its strength. May be repeated. Default: 1."},
    {"posture", 0, "\"Q1 Q2 ...\"", "Stay near these joint values where the goals allow it. Same format as --seed."},
    {"lock", 0, "JOINT[=Q]",
     "Do not move this joint: it stays where the seed has it, or at this value. May be repeated."},
    {"strength", 0, "JOINT=S",
     "How much a joint may move compared with others. A joint of strength 0.1 moves little where another joint can move instead. "
     "May be repeated. Default: 1, or what the robot's file says; 0 locks it."},
    {"constraints", 0, "FILE",
     "Constraints to keep besides, hard ones: see docs/constraints-file.md. The goal counts as reached only if all are kept."},
    {"all", 0, NULL, "List several solutions, nearest to the seed first: at most 64."},
    {"each", 0, "FILE",
     "Solve a list of goals, one in each row of a CSV file: x,y,z or x,y,z,qx,qy,qz,qw for each tip. No row depends on another, and "
     "all processors work. A first line with these names allows any order; with several tips write tool:x, tool:y."},
    {"path", 0, "FILE",
     "Follow a path: the rows of such a file, where each starts from the answer of the row before. A time (s) may stand before the "
     "goals."},
    {"max-speed", 0, "V",
     "Along a path no joint moves faster (rad/s, m/s). The time between samples is that of the file, or by --rate; where there is "
     "neither, V is the largest step from sample to sample."},
    {"rate", 0, "HZ", "Samples per second of the path."},
    {"iterations", 0, "N", "Limit for each start. Default: 60."},
    {"restarts", 0, "N", "Further starts at most. Default: 100."},
    {"budget", 0, "TIME",
     "Limit of a solve, such as 500us, 2ms or 0.1s. The result may then depend on the machine. Default: none."},
    {"seed-rng", 0, "N", "Seed of the random numbers of restarts and --bench. Default: 1."},
    {"bench", 0, "N",
     "The standard test: N goals by forward kinematics of uniform joint values inside the limits. Each is solved three times, and the "
     "shortest time counts."},
    {"start", 0, "KIND",
     "Starts of --bench: random (default), or near: the joint values of the goal plus 0.1 rad (standard deviation)."},
    {"output", 'o', "FILE",
     "Write the answers. FILE.csv and FILE.jsonl are tables: a row for each goal, with status, errors and joint values (rad, m). "
     ".mot, .amc, .bvh or .glb is a motion; .json gets the output of --json. May be repeated."},
    {0},
};

const cli_command reach_command = {
    .name = "reach",
    .operands = "ROBOT",
    .operand = "a robot",
    .least = 0,
    .most = 1,
    .summary = "bring links of a robot to poses, inside the limits",
    .text =
        "Finds joint values that bring one or more links to given poses: position, rotation, both, or some of their axes; in the world or "
        "relative to another link. The joint limits are always kept. If a goal is out of reach, the closest configuration is shown, and the "
        "exit code is 1.\n\n"
        "ROBOT is a file with a robot or skeleton, or the name of a built-in one, such as arm. Lengths are in metres, angles in radians, "
        "quaternions are x y z w.\n\n"
        "With --each every row of a file is a goal of its own. Ctrl-C ends the list early: -o then has the rows that are done.\n\n"
        "With --path a sequence of poses is followed in one pass, as a controller does it: each sample starts from the one before, and jumps of "
        "a joint by more than 1 rad are reported.",
    .options = options,
    .reads = "seed posture constraints each path OPERANDS",
    .writes = "output",
    .examples =
        "ulna reach arm --tip tool --goal \"0.4 0.2 0.5\"\ta position, any rotation\n"
        "ulna reach arm --goal \"0.4 0.2 0.5 1 0 0 0\" --all\ta pose: several solutions\n"
        "ulna reach arm --goal \"0.4 0.2 0.5\" --direction \"0 0 -1\"\tpointing down\n"
        "ulna reach human -t left_hand -g \"0.5 1.3 0.3\" -t right_hand -g \"-0.5 1.3 0.3\"\ttwo hands at once\n"
        "ulna reach arm --each goals.csv -o answers.csv\ta list of goals\n"
        "ulna reach arm --path poses.csv --max-speed 2 --rate 100 -o joints.csv\tfollow a path\n"
        "ulna reach arm --bench 10000 --start near\tspeed and success",
    .run = reach_main,
};
