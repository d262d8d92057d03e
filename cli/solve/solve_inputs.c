/* Everything that `ulna solve` reads, made ready for solving. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calibrate/calibrate.h"
#include "cli/input.h"
#include "cli/sample/sample_take.h"
#include "cli/solve/solve.h"

#define DEGREE (3.14159265358979323846 / 180)
#define SEPARATORS ",;\t"
enum { FIELDS = 3 };

/* ---- motions ------------------------------------------------------------------------------------------------- */

/* A motion of the skeleton as its file has it, in the joints that are solved. */
static ulna_status load_motion(solve_job *job, const char *path, ulna_clip *clip, ulna_error *error)
{
    ulna_status status = files_motion(path, job->skeleton, clip, job->notes, error);
    if (status == ULNA_OK && job->joints != job->skeleton->model)
        status = ulna_clip_convert(job->skeleton->model, clip, job->joints, clip, error);
    return status;
}

/* ---- limits -------------------------------------------------------------------------------------------------- */

/*
 * A table of limits for --bounds:
 *
 *     dof,lower,upper
 *     left_thigh.Rx,-30,120
 *     left_shank,0,
 *
 * The heading, in the first line, says that it is one and not a motion. Degrees and metres, by the names that `ulna info --values`
 * has; an empty number is no limit. Others keep the skeleton's.
 */
static int is_limit_table(const char *text)
{
    static const char heading[] = "dof,lower,upper";
    for (const char *at = heading; *at; at++, text++)
        if (*at == ',' ? !*text || !strchr(SEPARATORS, *text) : *text != *at)
            return 0;
    return !*text || isspace((unsigned char)*text);
}

int solve_find_dof(const ulna_model *model, const char *name)
{
    char label[300];
    for (int d = 0; d < ulna_model_dof_count(model); d++)
        if (ulna_model_dof_label(model, d, label, sizeof label) && strcmp(label, name) == 0)
            return d;
    return ULNA_NONE;
}

/* 0 if it is no number. */
static int read_limit(const char *text, double empty, double unit, double *value)
{
    char *end;
    *value = empty;
    if (!*text)
        return 1;
    *value = strtod(text, &end) * unit;
    return !*end && !isnan(*value);
}

static ulna_status read_row(const ulna_model *model, char *fields[FIELDS], double *lower, double *upper,
                            ulna_error *error)
{
    int d = solve_find_dof(model, fields[0]);
    if (d == ULNA_NONE)
        return cli_fail(error, ULNA_ERR_PARSE,
                        "the skeleton has no degree of freedom '%.80s'; `ulna info --values` lists them", fields[0]);
    double unit = ulna_model_dof_is_translation(model, d) ? 1 : DEGREE;
    if (!read_limit(fields[1], -INFINITY, unit, &lower[d]) || !read_limit(fields[2], INFINITY, unit, &upper[d]))
        return cli_fail(error, ULNA_ERR_PARSE, "the limits of '%.80s' are not numbers", fields[0]);
    if (lower[d] > upper[d])
        return cli_fail(error, ULNA_ERR_PARSE, "the limits of '%.80s' are the wrong way round", fields[0]);
    return ULNA_OK;
}

static ulna_status read_rows(const ulna_model *model, char *text, double *lower, double *upper, ulna_error *error)
{
    int number = 0;
    char *fields[FIELDS], *line;
    ulna_status status = ULNA_OK;
    fields_line(&text, &number); /* the heading */
    while (status == ULNA_OK && (line = fields_line(&text, &number)) != NULL) {
        status = fields_split(line, SEPARATORS, fields, FIELDS) == FIELDS
                     ? read_row(model, fields, lower, upper, error)
                     : cli_fail(error, ULNA_ERR_PARSE, "a line has a name and two limits: dof,lower,upper");
        if (status != ULNA_OK && error)
            error->line = number;
    }
    return status;
}

/* Limits of the file's angles become those of swing and twist. */
static ulna_status convert_limits(const ulna_model *from, double *lower, double *upper, ulna_error *error)
{
    ulna_builder *builder = NULL;
    ulna_model *limited = NULL, *balls = NULL;
    size_t bytes = (size_t)ulna_model_dof_count(from) * sizeof *lower;
    ulna_status status = ulna_builder_from_model(from, NULL, &builder, error);
    for (int b = 0; b < ulna_model_body_count(from) && status == ULNA_OK; b++) {
        int first, count = ulna_model_body_dofs(from, b, &first);
        for (int k = 0, d = first; k < count && status == ULNA_OK; k++, d++)
            if (lower[d] != ulna_model_lower(from)[d] || upper[d] != ulna_model_upper(from)[d])
                status = ulna_builder_set_limits(builder, b, k, lower[d], upper[d], error);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, &limited, error);
    if (status == ULNA_OK)
        status = ulna_model_with_balls(limited, ULNA_BALL_SWING_TWIST, NULL, &balls, NULL, error);
    if (status == ULNA_OK) {
        memcpy(lower, ulna_model_lower(balls), bytes);
        memcpy(upper, ulna_model_upper(balls), bytes);
    }
    ulna_model_destroy(balls);
    ulna_model_destroy(limited);
    ulna_builder_destroy(builder);
    return status;
}

/* The table is about the angles of the file, whatever joints are solved. */
static ulna_status read_limits(solve_job *job, char *text, ulna_error *error)
{
    const ulna_model *file = job->skeleton->model;
    int nv = ulna_model_dof_count(file);
    job->limits = calloc(2 * (size_t)nv + 1, sizeof *job->limits);
    if (!job->limits)
        return cli_no_memory(error);
    memcpy(job->limits, ulna_model_lower(file), (size_t)nv * sizeof *job->limits);
    memcpy(job->limits + nv, ulna_model_upper(file), (size_t)nv * sizeof *job->limits);
    ulna_status status = read_rows(file, text, job->limits, job->limits + nv, error);
    if (status == ULNA_OK && job->joints != file)
        status = convert_limits(file, job->limits, job->limits + nv, error);
    return status;
}

/* 1 if the file is a table of limits, and is read; 0 if it is something else, or cannot be read: others say so. */
static int load_limit_table(solve_job *job, ulna_status *status, ulna_error *error)
{
    enum { MOST = 1 << 20 };
    ulna_text text = ulna_text_empty(NULL);
    int is_table = !ulna_file_read(job->bounds_path, MOST, &text, NULL) && text.data && is_limit_table(text.data);
    if (is_table)
        *status = read_limits(job, text.data, error);
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
    job->limits = status != ULNA_OK ? NULL : calloc(2 * (size_t)nv + 1, sizeof *job->limits);
    if (status == ULNA_OK && !job->limits)
        status = cli_no_memory(error);
    if (job->limits)
        files_limits_of(job->model, &clip, job->limits, job->limits + nv);
    ulna_clip_release(&clip);
    return status;
}

static ulna_status start_from(solve_job *job, const ulna_clip *clip, int frame, ulna_error *error)
{
    size_t nq = (size_t)clip->coordinate_count;
    frame = frame < 0 ? 0 : frame < clip->frame_count ? frame : clip->frame_count - 1;
    job->start = calloc(nq + 1, sizeof *job->start);
    if (!job->start)
        return cli_no_memory(error);
    memcpy(job->start, ulna_clip_frame(clip, frame), nq * sizeof *job->start);
    return ULNA_OK;
}

static ulna_status load_start(solve_job *job, ulna_error *error)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_status status = load_motion(job, job->init_path, &clip, error);
    if (status == ULNA_OK)
        status = start_from(job, &clip, 0, error);
    ulna_clip_release(&clip);
    return status;
}

/* ---- the skeleton ---------------------------------------------------------------------------------------------- */

/* The model with the joints that are solved; NULL if these are the file's. */
static ulna_status use_balls(const solve_job *job, const ulna_model *model, ulna_model **with_balls, int *dropped,
                             ulna_error *error)
{
    int is_limited = job->bounded && (job->ball == ULNA_BALL_QUATERNION || job->ball == ULNA_BALL_EXPMAP);
    ulna_ball ball = is_limited ? ULNA_BALL_SWING_TWIST : job->ball;
    return ball == ULNA_BALL_EULER ? ULNA_OK : ulna_model_with_balls(model, ball, NULL, with_balls, dropped, error);
}

int solve_load_skeleton(json_t *object, const solve_job *job, solve_skeleton *skeleton, ulna_error *error)
{
    *skeleton = (solve_skeleton){.file = ulna_content_empty(NULL)};
    if (job->is_unnamed ? files_built_in(SOLVE_UNNAMED, &skeleton->file, error)
                        : files_skeleton(job->skeleton_path, job->skeleton_unit, &skeleton->file, error))
        return files_fail(object, job->skeleton_path, error);
    skeleton->is_swing_twist = job->bounded && (job->ball == ULNA_BALL_QUATERNION || job->ball == ULNA_BALL_EXPMAP);
    if (use_balls(job, skeleton->file.model, &skeleton->with_balls, &skeleton->dropped, error))
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
    job->joints = job->model = skeleton->with_balls ? skeleton->with_balls : skeleton->file.model;
    job->markers = ulna_content_empty(NULL);
    job->scaled = ulna_content_empty(NULL);
    job->size = (double)NAN;
    job->choice.rms_own = (double)NAN;
    job->reference = ulna_clip_empty(NULL);
    job->compared = ulna_clip_empty(NULL);
    job->set = ulna_marker_set_empty(NULL);
    job->notes = json_array();
    job->object = json_object();
    job->shown = json_object();
    json_object_set(job->shown, "r", job->object);
    json_object_set_new(job->object, "take", cli_json_text(job->markers_path));
    if (job->subject)
        json_object_set_new(job->object, "subject", cli_json_text(job->subject));
    files_note(job->notes, job->skeleton_path, &skeleton->file.remarks);
    if (skeleton->is_swing_twist)
        files_note_text(job->notes, "quaternions and rotation vectors have no limits: with --bounds, joints of three "
                                    "rotations are solved as swing and twist, which have");
    if (skeleton->dropped)
        files_note_text(job->notes, "limits of %d angles do not fit the other kind of joint and are ignored",
                        skeleton->dropped);
    job->failures = calloc((size_t)job->output_count + 3, sizeof *job->failures);
    return job->failures ? CLI_DONE : cli_out_of_memory();
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
    ulna_status status = ULNA_OK;
    if (!job->tool || !files_kept_take(job->tool->kept, job->markers_path, job->markers_unit, &job->markers))
        status = files_markers(job->markers_path, job->markers_unit, &job->markers, error);
    progress_wait_end(wait);
    job->is_sample = status == ULNA_OK && sample_take_is(&job->markers.recording);
    files_note(job->notes, job->markers_path, &job->markers.remarks);
    return status != ULNA_OK ? solve_fail(job, job->object, job->markers_path, error) : CLI_DONE;
}

static int load_reference(solve_job *job, ulna_error *error)
{
    if (job->reference_path && load_motion(job, job->reference_path, &job->reference, error))
        return solve_fail(job, job->object, job->reference_path, error);
    return CLI_DONE;
}

static int load_compared(solve_job *job, ulna_error *error)
{
    if (job->compare_path && load_motion(job, job->compare_path, &job->compared, error))
        return solve_fail(job, job->object, job->compare_path, error);
    return CLI_DONE;
}

static ulna_status check_take(const solve_job *job, const ulna_take *take, json_t *notes, ulna_error *error)
{
    const doubt_advice advice = {.subjects = "--subject NAME solves one of them, --all-subjects each by itself",
                                 .skeleton = job->skeleton,
                                 .markers = &job->markers,
                                 .is_markers_unit_given = job->markers_unit > 0,
                                 .is_skeleton_unit_given = job->skeleton_unit > 0,
                                 .finds_lengths = job->is_unnamed,
                                 .is_forced = job->is_forced};
    return doubts_check(take, &advice, job->object, notes, error);
}

/* From here on the skeleton is the one with these bones. */
static ulna_status use_lengths(solve_job *job, ulna_calibration *found, ulna_error *error)
{
    int dropped = 0;
    job->scaled.format = job->skeleton->format;
    job->scaled.source = job->skeleton->source;
    job->scaled.model = found->model;
    found->model = NULL;
    job->size = found->size;
    ulna_status status = use_balls(job, job->scaled.model, &job->scaled_joints, &dropped, error);
    job->skeleton = &job->scaled;
    job->joints = job->model = job->scaled_joints ? job->scaled_joints : job->scaled.model;
    return status;
}

/* As `ulna calibrate` with its defaults, on all frames, whichever are solved. */
static ulna_status calibrate_on_take(solve_job *job, ulna_take_options o, ulna_error *error)
{
    ulna_take *take = NULL;
    ulna_calibration found = {0};
    ulna_calibrate_options options = ulna_calibrate_options_default();
    json_t *notes = json_array(); /* said again of the take that is solved */
    options.scale = options.symmetric = job->is_unnamed;
    o.attach = ULNA_ATTACH_NAMES;
    o.set = &job->set; /* none: the skeleton's own markers are not asked */
    ulna_status status = ulna_take_create(&o, &take, error);
    if (status == ULNA_OK)
        status = check_take(job, take, notes, error);
    if (status == ULNA_OK)
        status = ulna_calibrate(take, &options, &found, error);
    if (status == ULNA_OK)
        status = calibrate_check(&found, job->is_forced, error);
    if (status == ULNA_OK && found.model)
        status = use_lengths(job, &found, error);
    if (status == ULNA_OK) {
        job->set = found.set;
        job->calibrated_rms = found.rms;
        found.set = ulna_marker_set_empty(NULL);
    }
    ulna_calibration_release(&found);
    ulna_take_destroy(take);
    json_decref(notes);
    return status;
}

/* What is known of the recording: of all its frames, and of the skeleton as its file has it. */
static ulna_take_options describe_take(const solve_job *job)
{
    ulna_take_options o = ulna_take_options_for(job->skeleton, &job->markers);
    o.subject = job->subject;
    o.check = 1;
    axes_apply(&job->axes, &o);
    return o;
}

/* The take, with the markers where job->attach says. */
static ulna_status create_take(solve_job *job, ulna_error *error)
{
    static const ulna_attach kinds[] = {[ATTACH_MODEL] = ULNA_ATTACH_KEYPOINTS,
                                        [ATTACH_FILE] = ULNA_ATTACH_SET,
                                        [ATTACH_REFERENCE] = ULNA_ATTACH_REFERENCE,
                                        [ATTACH_ORACLE] = ULNA_ATTACH_REFERENCE,
                                        [ATTACH_NAMES] = ULNA_ATTACH_SET};
    ulna_take_options o = describe_take(job);
    ulna_status status = job->attach == ATTACH_NAMES ? calibrate_on_take(job, o, error) : ULNA_OK;
    o.model = job->model;
    o.first_frame = job->first;
    o.last_frame = job->last;
    o.reference = job->reference_path ? &job->reference : NULL;
    o.attach = kinds[job->attach];
    o.paper_bones = job->attach == ATTACH_ORACLE;
    o.set = job->attach == ATTACH_FILE || job->attach == ATTACH_NAMES ? &job->set : NULL;
    return status == ULNA_OK ? ulna_take_create(&o, &job->take, error) : status;
}

int solve_has_keypoints(const ulna_take_options *options)
{
    ulna_take_options o = *options;
    ulna_take *take = NULL;
    o.check = 0;
    o.attach = ULNA_ATTACH_KEYPOINTS;
    ulna_status status = cli_with_memory(ulna_take_create(&o, &take, NULL));
    int is_found = status == ULNA_ERR_UNSUPPORTED || (take && (take->keypoints || take->joints));
    ulna_take_destroy(take);
    return is_found;
}

/* Where the markers are, if the command line does not say. The built-in human has another person's. */
static ulna_status choose_places(solve_job *job, ulna_error *error)
{
    ulna_take_options o = describe_take(job);
    ulna_status status = ULNA_OK;
    if (!ulna_model_marker_count(job->model) && job->reference_path)
        job->attach = ATTACH_REFERENCE;
    else if (job->is_unnamed)
        job->attach = solve_has_keypoints(&o) ? ATTACH_MODEL : ATTACH_NAMES;
    else {
        status = ulna_places_choose(&o, &job->choice, error);
        job->attach = job->choice.is_calibration_needed ? ATTACH_NAMES : ATTACH_MODEL;
    }
    return status;
}

static int make_take(solve_job *job, ulna_error *error)
{
    int is_chosen = job->attach != ATTACH_DEFAULT;
    if (job->attach == ATTACH_FILE && ulna_marker_set_load(job->attach_path, job->model, &job->set, error))
        return solve_fail(job, job->object, job->attach_path, error);
    axes_note(&job->axes, &job->markers, job->notes);
    ulna_status status = is_chosen ? ULNA_OK : choose_places(job, error);
    if (status == ULNA_OK)
        status = create_take(job, error);
    if (status == ULNA_ERR_MODEL && (job->attach == ATTACH_MODEL || job->attach == ATTACH_NAMES)) {
        ulna_error why = *error; /* the skeleton has no markers, or the names are not known */
        cli_fail(error, status, "%.180s; %s", why.message,
                 job->attach == ATTACH_MODEL ? "leave out --attach, or give a file of `ulna calibrate`"
                                             : "`ulna calibrate --attach FILE.csv` begins with one: marker,bone,0,0,0");
    }
    if (status == ULNA_OK) {
        job->model = job->take->model; /* scaled to key points, perhaps */
        solve_note_take(job);
        status = check_take(job, job->take, job->notes, error);
    }
    return status != ULNA_OK ? solve_fail(job, job->object, job->markers_path, error) : CLI_DONE;
}

static int load_limits_and_start(solve_job *job, ulna_error *error)
{
    if (job->bounds_path && load_bounds(job, error))
        return solve_fail(job, job->object, job->bounds_path, error);
    if (job->init_path && load_start(job, error))
        return solve_fail(job, job->object, job->init_path, error);
    if (job->init_first && start_from(job, &job->reference, job->take->reference_shift, error))
        return solve_fail(job, job->object, job->reference_path, error);
    job->bounded |= job->take->keypoints && !job->unbounded; /* they are too noisy to do without */
    ulna_options *both[] = {&job->options.solve, &job->options.fresh};
    for (int i = 0; i < 2; i++) {
        both[i]->bounded = job->bounded;
        both[i]->lower = job->limits;
        both[i]->upper = job->limits ? job->limits + ulna_model_dof_count(job->model) : NULL;
    }
    job->options.start = job->start;
    return CLI_DONE;
}

static ulna_status extend(void *context, ulna_problem *problem, ulna_error *error)
{
    return goals_to_problem(context, problem, error);
}

static void use_constraints(solve_job *job)
{
    const constraint_file *file = &job->constraints;
    ulna_track_options *o = &job->options;
    o->constraints = file->list;
    o->constraint_count = file->count;
    o->stances = file->stances;
    o->stance_count = file->stance_count;
    o->plant_feet = file->plant_feet;
    o->solve.locked = o->fresh.locked = file->locked;
    o->solve.strength = o->fresh.strength = file->strength;
    if (job->soft.count) {
        o->extend = extend;
        o->extend_context = &job->soft;
    }
}

/* Of a file without feet. */
static ulna_status refuse_pictures(const solve_job *job, ulna_error *error)
{
    for (int i = 0; i < job->output_count; i++)
        if (solve_is_picture(job->outputs[i]))
            return cli_fail(error, ULNA_ERR_UNSUPPORTED,
                            "'%.80s' would be a picture of feet that stand, and this file has no \"feet\": add "
                            "\"feet\": \"auto\"",
                            job->outputs[i]);
    return ULNA_OK;
}

/* Goals beside the markers, constraints that are kept, feet that stand. */
static int load_constraints(solve_job *job, ulna_error *error)
{
    if (!job->constraints_path)
        return CLI_DONE;
    goals_init(&job->soft, job->model);
    job->constraints = (constraint_file){.take = job->take, .wanted = &job->soft, .notes = job->notes};
    ulna_status status = constraint_file_read(&job->constraints, job->constraints_path, error);
    if (status == ULNA_OK && job->constraints.plant_feet && job->options.causal)
        status = cli_fail(
            error, ULNA_ERR_UNSUPPORTED,
            "\"feet\": \"auto\" needs the whole take: leave out --causal, or give the frames in which feet stand");
    if (status == ULNA_OK && !job->constraints.plant_feet && !job->constraints.stance_count)
        status = refuse_pictures(job, error);
    if (status != ULNA_OK)
        return solve_fail(job, job->object, job->constraints_path, error);
    if (job->soft.start)
        files_note_text(job->notes, "%s: its start is not used; --init says where to begin", job->constraints_path);
    use_constraints(job);
    return CLI_DONE;
}

int solve_load(solve_job *job)
{
    static int (*const steps[])(solve_job *, ulna_error *) = {
        load_markers,  load_reference,        make_take, /* from here on the skeleton may be scaled to the person */
        load_compared, load_limits_and_start, load_constraints};
    ulna_error error;
    int code = CLI_DONE;
    ulna_error_clear(&error);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && !code; i++)
        code = steps[i](job, &error);
    return code;
}

void solve_release_frames(solve_job *job)
{
    ulna_track_result_release(&job->result);
    ulna_take_destroy(job->take);
    job->take = NULL;
    job->model = job->joints;
    ulna_clip_release(&job->reference);
    ulna_clip_release(&job->compared);
    ulna_content_release(&job->markers);
}

void solve_release(solve_job *job)
{
    solve_release_frames(job);
    ulna_marker_set_release(&job->set);
    ulna_model_destroy(job->scaled_joints);
    ulna_content_release(&job->scaled);
    goals_release(&job->soft);
    constraint_file_release(&job->constraints);
    json_decref(job->notes);
    json_decref(job->shown);
    json_decref(job->object);
    for (int i = 0; i < job->output_count; i++)
        free(job->outputs[i]);
    free(job->outputs);
    free(job->report_path);
    free(job->own_subject);
    free(job->failures);
    free(job->limits);
    free(job->start);
}
