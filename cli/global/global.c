/* ulna global: the best pose of all, and how far that is proven. */
#include "cli/global/global.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR_AWAY 20 /* times the skeleton's length scale */

/* ==== what is read, made into a problem =========================================================================== */

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
        return cli_no_memory(error);
    double weight = 0, farthest = 0;
    for (int i = 0; i < job->wanted.count; i++) {
        const goal *from = &job->wanted.list[i];
        if (from->what & GOAL_POSITION) {
            add_goal(job, from, 0);
            farthest = fmax(farthest, hypot(hypot(from->position[0], from->position[1]), from->position[2]));
        }
        if (from->what & GOAL_ORIENTATION)
            add_goal(job, from, 1);
        weight += from->weight;
    }
    if (farthest > FAR_AWAY * ulna_model_length_scale(job->model))
        files_note_text(job->notes,
                        "a goal is %.0f m from the origin, the skeleton is about %.2g m large: is --unit right?",
                        farthest, ulna_model_length_scale(job->model));
    if (!(weight > 0))
        return cli_fail(error, ULNA_ERR_PARSE, "all goals have weight 0: there is nothing to reach");
    job->frame_count = 1;
    return goals_to_problem(&job->wanted, job->problem, error);
}

/* ---- markers of a recording --------------------------------------------------------------------------------------- */

static int read_take(json_t *object, global_job *job)
{
    solve_job *take = &job->take;
    int code = solve_begin(take, &job->skeleton);
    if (code)
        return code;
    code = solve_load(take);
    for (int i = 0; i < take->failure_count; i++)
        code = files_fail(object, take->failures[i].path, &take->failures[i].error);
    job->model = take->model; /* scaled to key points, perhaps */
    return code;
}

static ulna_status choose_frames(global_job *job, ulna_error *error)
{
    const ulna_take *all = job->take.take;
    long long low = all->first_frame, high = low + all->frame_count - 1;
    job->frame_count = 1;
    if (job->first > job->last) {
        if (all->frame_count > 1)
            files_note_text(job->notes, "only the first of %d frames is solved; --frames selects others",
                            all->frame_count);
        return ULNA_OK;
    }
    long long first = job->first > low ? job->first : low, last = job->last < high ? job->last : high;
    if (first > last)
        return cli_fail(error, ULNA_ERR_ARGUMENT,
                        "none of the frames is in the recording, which has frames %lld to %lld", low, high);
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
        return cli_no_memory(error);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++) {
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
    return status != ULNA_OK ? status : choose_frames(job, error);
}

int global_place(const global_job *job, int frame, int number, double place[3])
{
    if (job->goal[number].is_turn)
        return 0;
    if (job->has_take)
        return ulna_take_position(job->take.take, job->skipped + frame, number, place);
    return ulna_problem_goal(job->problem, number, place) == ULNA_OK;
}

/* Goals of that frame into the problem; how many are seen, or -1 if they are no numbers. */
static int set_frame(global_job *job, int frame)
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
    if (status == ULNA_OK)
        status = job->has_take ? use_take(job, error) : use_goals(job, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(job->problem, error);
    return status != ULNA_OK ? status : ulna_work_create(job->problem, NULL, &job->work, error);
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

static int load(const cli *tool, json_t *object, global_job *job)
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
    code = job->has_take ? read_take(object, job) : read_goals(tool, object, job, &error);
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

static void release(global_job *job)
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

/* ==== solving: frame by frame, each also from where the last one ended ============================================ */

/* How far each goal is, by our own count. */
static ulna_status measure(global_job *job, global_frame *frame, const double *q)
{
    double f, squares[2] = {0, 0}, least = INFINITY, most = 0;
    ulna_status status = ulna_work_evaluate(job->work, q, &f);
    for (int i = 0; i < job->goal_count && status == ULNA_OK; i++) {
        status = ulna_work_term_error(job->work, i, &frame->errors[i]);
        double weight = job->goal[i].weight;
        if (status != ULNA_OK || isnan(frame->errors[i]) || !(weight > 0))
            continue;
        squares[job->goal[i].is_turn] += frame->errors[i] * frame->errors[i];
        if (job->goal[i].is_turn) {
            frame->turns++;
            continue;
        }
        frame->places++;
        frame->weight += weight;
        least = fmin(least, weight);
        most = fmax(most, weight);
    }
    frame->is_even = least == most;
    frame->rms_m = sqrt(squares[0] / frame->places); /* NaN if there are none */
    frame->rms_rad = sqrt(squares[1] / frame->turns);
    return status;
}

static ulna_status solve_frame(global_job *job, ulna_global *global, int number, ulna_error *error)
{
    global_frame *frame = &job->frames[number];
    double *q = ulna_clip_frame(&job->poses, number);
    const double *first = job->wanted.start ? job->wanted.start : ulna_model_rest(job->model);
    memcpy(q, number ? ulna_clip_frame(&job->poses, number - 1) : first,
           (size_t)job->poses.coordinate_count * sizeof *q);
    int seen = set_frame(job, number);
    if (seen < 0)
        return cli_fail(error, ULNA_ERR_NUMBER, "frame %d has a marker at infinity", frame->number);
    if (seen == 0) { /* any pose will do: it stays */
        frame->found = (ulna_global_result){.stop = ULNA_GLOBAL_PROVEN, .proven = 1};
        return measure(job, frame, q);
    }
    ulna_error why;
    ulna_error_clear(&why);
    ulna_status status = ulna_global_solve(global, q, &frame->found, &why);
    if (status == ULNA_OK)
        status = measure(job, frame, q);
    if (status == ULNA_ERR_NUMBER)
        return cli_fail(error, status, "the cost is not a finite number: the goals are too far away");
    if (status != ULNA_OK)
        return cli_fail(error, status, "%s", *why.message ? why.message : ulna_status_text(status));
    return ULNA_OK;
}

static void add_notes(global_job *job)
{
    const ulna_global_result *first = &job->frames[0].found;
    int empty = 0;
    for (int f = 0; f < job->frame_count; f++)
        empty += job->frames[f].places + job->frames[f].turns == 0;
    if (empty)
        files_note_text(job->notes, "%d frame%s no marker: the pose of the frame before is kept", empty,
                        empty == 1 ? " has" : "s have");
    if (first->terms_left_out)
        files_note_text(job->notes, "the bound does not take %d goals into account: it holds, but may be low",
                        first->terms_left_out);
    int followers;
    ulna_model_couplings(job->model, &followers);
    if (followers)
        files_note_text(job->notes, "%d joint%s another: the bound lets %s move freely; it holds, but may be low",
                        followers, followers == 1 ? " follows" : "s follow", followers == 1 ? "it" : "them");
    if (first->limits_left_out)
        files_note_text(job->notes, "the bound does not take %d limits into account: it holds, but may be low",
                        first->limits_left_out);
}

static ulna_status solve_frames(const cli *tool, global_job *job, ulna_error *error)
{
    ulna_global *global = NULL;
    progress bar;
    ulna_status status = ulna_global_create(job->problem, &job->options, NULL, &global, error);
    progress_begin(&bar, tool);
    for (int f = 0; f < job->frame_count && status == ULNA_OK; f++) {
        status = solve_frame(job, global, f, error);
        progress_show(&bar, (f + 1.0) / job->frame_count, "frames");
    }
    progress_end(&bar);
    ulna_global_destroy(global);
    if (status == ULNA_OK)
        add_notes(job);
    return status;
}

/* ==== the command line ============================================================================================ */

enum { MOST_STARTS = 1000000 };

static const char *const relaxations[] = {"none", "hull", "bones", NULL};

const char *global_relax_name(int relax)
{
    return relaxations[relax];
}

static int read_skeleton(const cli *tool, global_job *job)
{
    const char *named = cli_value(tool, "skeleton"), *operand = tool->operand_count ? tool->operands[0] : NULL;
    if (named && operand)
        return cli_usage(tool, "two skeletons, '%s' and '%s': give one", operand, named);
    job->skeleton_path = named ? named : operand;
    if (!job->skeleton_path || !*job->skeleton_path)
        return cli_usage(tool, "no skeleton given: ulna global SKELETON");
    return CLI_DONE;
}

static int read_recording(const cli *tool, global_job *job)
{
    int takes = 0;
    for (int i = 0; i < tool->given_count; i++)
        takes += strcmp(tool->given[i]->name, "markers") == 0;
    if (takes > 1)
        return cli_usage(tool, "--markers is given %d times: give one recording", takes);
    if (cli_value(tool, "frame") && cli_value(tool, "frames"))
        return cli_usage(tool, "give either --frame or --frames");
    int code = solve_read_recording(tool, job->skeleton_path, NULL, &job->take);
    int is_said = cli_value(tool, "frame") || cli_value(tool, "frames");
    job->first = is_said ? job->take.first : 1;
    job->last = is_said ? job->take.last : 0;
    job->take.first = INT_MIN;
    job->take.last = INT_MAX;
    if (!code && job->take.attach == ATTACH_ORACLE)
        return cli_usage(tool,
                         "--attach takes a file name, model, names or reference; oracle works only in 'ulna solve'");
    return code;
}

static int read_source(const cli *tool, global_job *job)
{
    static const char *const of_takes[] = {"attach", "reference", "frame",      "frames",
                                           "axes",   "up",        "input-unit", "no-checks"};
    int has_goals = cli_value(tool, "goals") || cli_value(tool, "goal");
    job->goals_path = cli_value(tool, "goals");
    job->has_take = cli_value(tool, "markers") != NULL;
    if (job->has_take && has_goals)
        return cli_usage(tool, "give either --markers, or --goal and --goals");
    if (!job->has_take && !has_goals)
        return cli_usage(tool, "no goals given: --goal \"NAME X Y Z\", --goals FILE or --markers FILE");
    for (size_t i = 0; i < sizeof of_takes / sizeof *of_takes; i++)
        if (!job->has_take && cli_value(tool, of_takes[i]))
            return cli_usage(tool, "--%s needs --markers", of_takes[i]);
    if (job->has_take && cli_value(tool, "unit"))
        return cli_usage(tool, "--unit applies to goals, not to --markers: --input-unit is that of a recording");
    if (job->goals_path && strcmp(job->goals_path, "-") == 0 && strcmp(job->skeleton_path, "-") == 0)
        return cli_usage(tool, "standard input cannot be both the skeleton and the goals");
    return job->has_take ? read_recording(tool, job) : CLI_DONE;
}

/* With a recording, also a motion file, as in `ulna solve`, which has read that. */
static int read_bounds(const cli *tool, global_job *job)
{
    const char *text = cli_value(tool, "bounds");
    job->options.local.bounded = !text || strcmp(text, "none") != 0;
    if (text && !job->has_take && job->options.local.bounded && strcmp(text, "skeleton") != 0)
        return cli_usage(tool, "--bounds takes none or skeleton, not '%s'", text);
    return CLI_DONE;
}

static int read_relax(const cli *tool, global_job *job)
{
    const char *text = cli_value(tool, "relax");
    int found = 0;
    if (!text)
        return CLI_DONE;
    while (relaxations[found] && strcmp(relaxations[found], text) != 0)
        found++;
    if (!relaxations[found])
        return cli_usage(tool, "--relax takes none, hull or bones, not '%s'", text);
    job->options.relax = found;
    return CLI_DONE;
}

static int read_sdpa(const cli *tool, global_job *job)
{
    static const char *const forms[] = {"F0", "F1", "F2", NULL};
    const char *text = cli_value(tool, "sdpa-form");
    int found = ULNA_SDPA_REDUCED;
    job->sdpa_path = cli_value(tool, "sdpa");
    if (job->sdpa_path && !*job->sdpa_path)
        return cli_usage(tool, "--sdpa needs the name of a file");
    if (text && !job->sdpa_path)
        return cli_usage(tool, "--sdpa-form needs --sdpa FILE");
    for (found = text ? 0 : found; text && forms[found] && strcmp(forms[found], text) != 0;)
        found++;
    if (!forms[found])
        return cli_usage(tool, "--sdpa-form takes F0, F1 or F2, not '%s'", text);
    job->sdpa_form = (ulna_sdpa_form)found;
    return CLI_DONE;
}

static int read_numbers(const cli *tool, global_job *job)
{
    enum { MOST_THREADS = 256 }; /* that the library takes */
    job->options.threads = tool->threads < MOST_THREADS ? tool->threads : MOST_THREADS;
    job->unit_m = 1;
    int code = numbers_unit(tool, "unit", &job->unit_m);
    if (!code)
        code = numbers_unit(tool, "skeleton-unit", &job->take.skeleton_unit);
    if (!code)
        code = numbers_seed(tool, "seed", &job->options.seed);
    if (!code)
        code = numbers_real(tool, "gap", 0, 1, "", &job->options.gap);
    if (!code)
        code = numbers_count(tool, "starts", 1, MOST_STARTS, &job->options.starts);
    if (!code)
        code = numbers_real(tool, "seconds", 0, 1e6, "", &job->options.seconds);
    return code;
}

static int read_options(const cli *tool, global_job *job)
{
    static int (*const readers[])(const cli *, global_job *) = {read_skeleton, read_source, read_bounds,
                                                                read_relax,    read_sdpa,   read_numbers};
    int code = CLI_DONE;
    job->options = ulna_global_options_default();
    for (size_t i = 0; i < sizeof readers / sizeof *readers && !code; i++)
        code = readers[i](tool, job);
    return code;
}

/* ==== the command ================================================================================================= */

/* --sdpa: the semidefinite program of the first frame. */
static int write_program(json_t *object, global_job *job)
{
    char *text = NULL;
    size_t length = 0;
    ulna_error error;
    ulna_error_clear(&error);
    int seen = set_frame(job, 0);
    ulna_status status =
        seen < 0 ? cli_fail(&error, ULNA_ERR_NUMBER, "the first frame has a marker at infinity")
                 : ulna_problem_sdpa(job->problem, job->sdpa_form, &job->options.local, &text, &length, &error);
    if (status != ULNA_OK)
        return files_fail(object, job->skeleton_path, &error);
    status = cli_write_text(job->sdpa_path, text, length, &error);
    free(text);
    if (status != ULNA_OK)
        return files_fail(object, job->sdpa_path, &error);
    put_text(object, "sdpa", job->sdpa_path);
    return CLI_DONE;
}

static int run(const cli *tool, json_t *object, global_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    int code = load(tool, object, job);
    if (!code)
        code = global_check_outputs(tool, object);
    if (code)
        return code;
    if (job->sdpa_path && (code = write_program(object, job)))
        return code;
    if (solve_frames(tool, job, &error))
        return files_fail(object, job->has_take ? job->take.markers_path : job->skeleton_path, &error);
    global_add_results(object, job);
    global_print(tool, object, job);
    code = global_write_outputs(tool, object, job);
    json_object_set(object, "notes", job->notes);
    files_print_notes(tool, job->notes);
    return code;
}

static int global_main(cli *tool)
{
    global_job job = {.skeleton = {.file = ulna_content_empty(NULL)}};
    int code = read_options(tool, &job);
    if (code)
        return code;
    json_t *object = json_object();
    code = run(tool, object, &job);
    if (code == CLI_USAGE) /* already reported as JSON */
        json_decref(object);
    else
        cli_json_print(tool, object);
    release(&job);
    return code;
}

static const cli_option options[] = {
    {"skeleton", 's', "FILE", "The skeleton, if it is not given as SKELETON."},
    {"goal", 0, "\"NAME X Y Z\"",
     "Target position of a marker, or of the origin of a body. May be repeated. It may be followed by a weight, by a "
     "quaternion QX QY QZ QW for the orientation of the body, or by both."},
    {"goals", 0, "FILE",
     "Goals from a file. CSV: one goal per line, name,x,y,z and the same optional values. JSON: see "
     "docs/command-line.md."},
    {"unit", 0, "UNIT", "Unit of length of the goals: m (default), cm, mm, in, ft or a number of metres."},
    {"skeleton-unit", 0, "UNIT", "Unit of length of the skeleton, if it differs from what its file states."},
    {"markers", 'm', "FILE", "Use the markers of a recording as goals: C3D, TRC or CSV."},
    {"input-unit", 0, "UNIT", "Unit of length of the recording, if it differs from what it states."},
    {"attach", 'a', "WHERE",
     "Where the markers are attached: a CSV file as `ulna calibrate` writes it; model, reference or names, with the default "
     "of `ulna solve`."},
    {"reference", 0, "FILE", "A motion of the same take, for --attach reference."},
    {"frame", 0, "N", "Frame of the recording, by the numbers of the file. Default: the first frame."},
    {"frames", 0, "A:B", "Frames A to B, inclusive. Each also starts from the solution of the frame before."},
    {"no-checks", 0, NULL, "Go on with a recording that cannot be right, as in `ulna solve`."},
    {"axes", 0, "ABC",
     "Axes of the recording that are x, y and z of the skeleton, such as yzx. Default: found automatically."},
    {"up", 0, "AXIS", "Axis of the recording that points up: x, y or z. The other axes follow from it."},
    {"bounds", 0, "WHICH",
     "Joint limits: skeleton (default), the limits of the skeleton; none; or, with --markers, a motion file, as in `ulna solve`."},
    {"gap", 0, "X", "Stop when the cost is proven to be within this fraction of the optimum. Default: 0.001."},
    {"starts", 0, "N", "Maximum number of local solves. Default: 64."},
    {"seconds", 0, "S",
     "Time limit per frame, checked between the stages. The result may then depend on the machine. Default: 0, no "
     "limit."},
    {"relax", 0, "KIND",
     "Relaxations that bound the cost: bones (default), the fast one and then the tight one; hull, only the fast one; "
     "none, only local solves, with a bound of 0."},
    {"sdpa", 0, "FILE",
     "Also write the semidefinite program of the convex-IK paper for the first frame, in the sparse format of SDPA, for other solvers. Its first "
     "line says how the cost follows from the objective."},
    {"sdpa-form", 0, "FORM",
     "Which one. F0: the paper's relaxation (14) as written, which has no interior. F1 (default): the same minimum, with an interior. F2: "
     "tighter. See docs/global.md."},
    {"seed", 0, "N", "Seed of the random starts. Default: 1."},
    {"output", 'o', "FILE",
     "Write the pose as a motion, in the format of the extension: .amc, .bvh, .csv, .mot or .glb (which also shows the "
     "goals); .json gets the output of --json with all digits. May be repeated."},
    {0},
};

const cli_command global_command = {
    .name = "global",
    .operands = "SKELETON",
    .operand = "a file name",
    .least = 0,
    .most = 1,
    .summary = "find the globally best pose, with a proof",
    .text =
        "Finds the pose of least cost among all poses that the joints allow, and reports how far this is proven. The cost "
        "is half the weighted sum of squared distances to the goals. A local method ends in the minimum nearest to its "
        "start. This command solves a convex relaxation of the whole problem, which gives a lower bound: no pose has a "
        "lower cost. Local solves, from the solution of the relaxation and from many other starts, give a pose and its "
        "cost. If cost and bound meet, no better pose exists. If the bound is above zero, the goals cannot be met, and "
        "the bound says by how much at least.\n\n"
        "SKELETON is an ASF, BVH, glTF, URDF or model file, or the name of a built-in skeleton. The bound takes into account "
        "positions, orientations, all joints, and the limits of rotations and translations.\n\n"
        "The exit code is 0 even if nothing is proven or the goals are out of reach: see `proven` and `unreachable` in "
        "the output of --json.",
    .options = options,
    .reads = "skeleton goals markers attach reference bounds OPERANDS",
    .writes = "output sdpa",
    .examples = "ulna global arm --goal \"tool 0.3 0.2 0.5\"\ta position to reach\n"
                "ulna global arm --goal \"tool 3 0 0\"\tout of reach: by how much at least?\n"
                "ulna global human --goals g.csv -o pose.bvh\twrite the pose\n"
                "ulna global s.asf -m t.c3d -a a.csv --frame 100\ta frame of a recording",
    .run = global_main,
};
