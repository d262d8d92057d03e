/*
 * arguments.h: what the program of tools/argument-tests needs: valid arguments for every public function, and a process of its own for each
 * call. The objects are made once; a process inherits them, and what it breaks ends with it.
 */
#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ulna/ulna.h"

enum { MANY = 1 << 14, FRAMES = 12, SECONDS = 60 /* of a call, under sanitizers */ };

static struct {
    ulna_allocator allocator;
    ulna_error error;
    ulna_model *model, *arm, *small; /* human, arm, two-link */
    ulna_builder *builder;
    ulna_pose *pose, *other_pose;
    ulna_problem *problem, *small_problem;
    ulna_work *work;
    ulna_solver *solver;
    ulna_global *global;
    ulna_reach *reach;
    ulna_reach_work *reach_work;
    ulna_clip clip, empty_clip;
    ulna_recording recording, empty_recording;
    ulna_marker_set set, empty_set;
    ulna_take *take;
    ulna_tracker *tracker;
    ulna_track_result tracked;
    ulna_calibration calibration;
    ulna_marker_template template;
    ulna_content content, empty_content;
    ulna_text text, json;
    ulna_sink sink;
    ulna_remarks remarks;
    ulna_output *output;
    FILE *file;
    char path[64], table_path[64], template_path[64], letters[256];
    void *made;

    ulna_options options;
    ulna_global_options global_options;
    ulna_reach_options reach_options;
    ulna_sdp_options sdp_options;
    ulna_take_options take_options;
    ulna_track_options track_options;
    ulna_calibrate_options calibrate_options;
    ulna_step_options step_options;
    ulna_jacobian_options jacobian_options;
    ulna_read_options read_options;
    ulna_write_options write_options;
    ulna_joint joint;
    ulna_mass mass;
    ulna_constraint constraint;
    ulna_custom custom;
    ulna_custom_value custom_value;
    ulna_unsure_points unsure;
    ulna_effector effectors[1];
    ulna_reach_tip tip;
    ulna_reach_goal reach_goals[1];
    ulna_marker_distance distance;

    ulna_result result;
    ulna_global_result global_result;
    ulna_sdp_result sdp_result;
    ulna_reach_result reach_results[4];
    ulna_reach_error reach_errors[4];
    ulna_frame_report frame_report;
    ulna_places_choice choice;
    ulna_derivative_report derivatives;
    ulna_stop stop;
    ulna_constraint_state constraint_state;
    ulna_format format;
    size_t size;
    int integers[MANY];
    unsigned char flags[MANY];
    int a_dof; /* it and the next one have a coordinate of their own */
    double q[MANY], arm_q[MANY], small_q[MANY], numbers[MANY], more_numbers[MANY], ones[MANY], below[MANY],
        positions[MANY], lengths[MANY], not_numbers[MANY];
    double point[3], rotation[9];
} fixture;

/* ---- the objects --------------------------------------------------------------------------------------------------- */

static void must(ulna_status status, const char *what)
{
    if (status == ULNA_OK)
        return;
    fprintf(stderr, "arguments: %s: %s: %s\n", what, ulna_status_text(status), fixture.error.message);
    exit(1);
}
#define MUST(call) must(call, #call)

static void *take_memory(void *context, size_t bytes)
{
    (void)context;
    return aligned_alloc(ULNA_ALIGNMENT, (bytes + ULNA_ALIGNMENT - 1) / ULNA_ALIGNMENT * ULNA_ALIGNMENT);
}

static void give_memory(void *context, void *memory, size_t bytes)
{
    (void)context;
    (void)bytes;
    free(memory);
}

static void evaluate_custom(const void *context, const double *goal, const double rotation[9], const double position[3],
                            ulna_custom_value *value)
{
    (void)context;
    (void)goal;
    (void)rotation;
    value->residual[0] = -position[0];
    value->row[0][3] = 1;
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    if (!file || fputs(text, file) < 0 || fclose(file)) {
        perror(name);
        exit(1);
    }
}

static void make_models(void)
{
    MUST(ulna_sample_create("human", NULL, &fixture.model, &fixture.error));
    MUST(ulna_sample_create("arm", NULL, &fixture.arm, &fixture.error));
    MUST(ulna_sample_create("two-link", NULL, &fixture.small, &fixture.error));
    memcpy(fixture.q, ulna_model_rest(fixture.model),
           (size_t)ulna_model_coordinate_count(fixture.model) * sizeof *fixture.q);
    memcpy(fixture.arm_q, ulna_model_rest(fixture.arm),
           (size_t)ulna_model_coordinate_count(fixture.arm) * sizeof *fixture.q);
    for (int i = 0; i < MANY; i++) {
        fixture.ones[i] = 1;
        fixture.below[i] = -1;
        fixture.not_numbers[i] = (double)NAN;
    }
    for (int i = 0; i < ulna_model_body_count(fixture.model); i++)
        fixture.lengths[i] = ulna_model_bone_length(fixture.model, i);
    fixture.a_dof = ulna_model_dof_count(fixture.model) - 2;
    fixture.point[0] = fixture.rotation[0] = fixture.rotation[4] = fixture.rotation[8] = 1;
    fixture.joint = ulna_joint_revolute(0, 0, 1);
    fixture.mass = (ulna_mass){.mass = 1};
    MUST(ulna_builder_create(NULL, &fixture.builder));
    MUST(ulna_builder_add_body(fixture.builder, "one", ULNA_NONE, NULL, &fixture.error));
    MUST(ulna_builder_add_body(fixture.builder, "two", 0, NULL, &fixture.error));
    MUST(ulna_builder_add_body(fixture.builder, "three", 0, NULL, &fixture.error));
    for (int body = 0; body < 3; body++)
        MUST(ulna_builder_set_joint(fixture.builder, body, &fixture.joint, &fixture.error));
    MUST(ulna_builder_add_marker(fixture.builder, "marker", 1, fixture.point, 1, NULL, &fixture.error));
}

static void make_problems(void)
{
    ulna_work *work;
    fixture.custom = (ulna_custom){evaluate_custom, NULL, 0, 1};
    fixture.constraint =
        (ulna_constraint){.type = ULNA_KEEP_POINT, .body = 1, .other = ULNA_NONE, .goal = {0.1, 0.9, 0.1}};
    MUST(ulna_problem_create(fixture.model, NULL, &fixture.problem, &fixture.error));
    MUST(ulna_problem_add_markers(fixture.problem, NULL, &fixture.error));
    MUST(ulna_problem_add_constraint(fixture.problem, &fixture.constraint, NULL, &fixture.error));
    MUST(ulna_problem_add_posture(fixture.problem, NULL, NULL, 1e-3, NULL, &fixture.error));
    MUST(ulna_problem_ready(fixture.problem, &fixture.error));
    MUST(ulna_work_create(fixture.problem, NULL, &fixture.work, &fixture.error));
    MUST(ulna_work_evaluate(fixture.work, fixture.q, fixture.numbers));
    fixture.options = ulna_options_default();
    MUST(ulna_solver_create(fixture.problem, NULL, NULL, &fixture.solver, &fixture.error));
    MUST(ulna_solve(fixture.solver, fixture.q, NULL));
    MUST(ulna_problem_create(fixture.small, NULL, &fixture.small_problem, &fixture.error));
    MUST(ulna_problem_add_markers(fixture.small_problem, NULL, &fixture.error));
    MUST(ulna_problem_ready(fixture.small_problem, &fixture.error));
    MUST(ulna_work_create(fixture.small_problem, NULL, &work, &fixture.error));
    ulna_work_destroy(work);
    fixture.global_options = ulna_global_options_default();
    MUST(ulna_global_create(fixture.small_problem, NULL, NULL, &fixture.global, &fixture.error));
    fixture.sdp_options = ulna_sdp_options_default();
    fixture.step_options = ulna_step_options_default();
    fixture.jacobian_options = ulna_jacobian_options_default();
    fixture.unsure = (ulna_unsure_points){0, 1, fixture.ones};
    MUST(ulna_pose_create(fixture.model, NULL, &fixture.pose, &fixture.error));
    MUST(ulna_pose_forward(fixture.pose, fixture.q));
    MUST(ulna_pose_create(fixture.model, NULL, &fixture.other_pose, &fixture.error));
    MUST(ulna_pose_forward(fixture.other_pose, fixture.q));
    fixture.tip = ulna_reach_tip_default(ulna_model_body_count(fixture.arm) - 1);
    fixture.reach_options = ulna_reach_options_default();
    fixture.reach_goals[0] = (ulna_reach_goal){{0.4, 0.1, 0.5}, {0, 0, 0, 1}};
    MUST(ulna_reach_create(fixture.arm, 1, &fixture.tip, NULL, NULL, &fixture.reach, &fixture.error));
    MUST(ulna_reach_work_create(fixture.reach, NULL, &fixture.reach_work, &fixture.error));
}

static void make_take(void)
{
    const int markers = ulna_model_marker_count(fixture.model);
    fixture.recording = ulna_recording_empty(NULL);
    fixture.clip = ulna_clip_empty(NULL);
    MUST(ulna_recording_resize(&fixture.recording, markers, FRAMES));
    MUST(ulna_clip_resize(&fixture.clip, ulna_model_coordinate_count(fixture.model), FRAMES));
    fixture.recording.frame_seconds = fixture.clip.frame_seconds = 0.01;
    fixture.recording.first_frame = fixture.clip.first_frame = 1;
    MUST(ulna_pose_markers(fixture.pose, fixture.positions));
    for (int f = 0; f < FRAMES; f++) {
        memcpy(ulna_recording_frame(&fixture.recording, f), fixture.positions, 3 * (size_t)markers * sizeof(double));
        memcpy(ulna_clip_frame(&fixture.clip, f), fixture.q, (size_t)fixture.clip.coordinate_count * sizeof(double));
    }
    for (int i = 0; i < markers; i++)
        snprintf(fixture.recording.names[i], ULNA_MARKER_NAME, "%s", ulna_model_marker_name(fixture.model, i));
    fixture.set = ulna_marker_set_empty(NULL);
    MUST(ulna_marker_set_from_model(&fixture.set, fixture.model));
    fixture.take_options = ulna_take_options_default();
    fixture.take_options.model = fixture.model;
    fixture.take_options.recording = &fixture.recording;
    fixture.take_options.reference = &fixture.clip;
    MUST(ulna_take_create(&fixture.take_options, &fixture.take, &fixture.error));
    fixture.track_options = ulna_track_options_default();
    fixture.track_options.threads = 1;
    fixture.calibrate_options = ulna_calibrate_options_default();
    fixture.calibrate_options.try_lengths = 0;
    fixture.calibrate_options.held_out_blocks = 0;
    MUST(ulna_tracker_create(fixture.model, &fixture.set, NULL, NULL, &fixture.tracker, &fixture.error));
    MUST(ulna_tracker_frame(fixture.tracker, fixture.positions, fixture.numbers, NULL));
    fixture.distance = (ulna_marker_distance){fixture.recording.names[0], fixture.recording.names[1], 0, 1};
}

static void make_files(void)
{
    char table[200];
    fixture.text = fixture.json = ulna_text_empty(NULL);
    fixture.sink = ulna_text_sink(&fixture.json);
    MUST(ulna_model_write_json(fixture.model, &fixture.sink, &fixture.error));
    fixture.sink = ulna_text_sink(&fixture.text);
    fixture.remarks = ulna_remarks_empty(NULL);
    fixture.content = ulna_content_empty(NULL);
    MUST(ulna_content_read(fixture.json.data, fixture.json.length, ULNA_FORMAT_UNKNOWN, NULL, &fixture.content,
                           &fixture.error));
    fixture.read_options = ulna_read_options_default();
    fixture.write_options = ulna_write_options_default();
    strcpy(fixture.path, "model.json");
    strcpy(fixture.table_path, "markers.csv");
    strcpy(fixture.template_path, "template.csv");
    MUST(ulna_model_save(fixture.model, fixture.path, &fixture.error));
    MUST(ulna_marker_set_save(&fixture.set, fixture.model, fixture.table_path, &fixture.error));
    snprintf(table, sizeof table, "marker,bone,left,up,forward\nLFHD,%s,1,2,3\n",
             ulna_model_body_name(fixture.model, 1));
    write_file(fixture.template_path, table);
    MUST(ulna_output_open("output.txt", NULL, &fixture.output, &fixture.error));
    fixture.file = fopen(fixture.path, "rb");
    fixture.empty_clip = ulna_clip_empty(NULL);
    fixture.empty_recording = ulna_recording_empty(NULL);
    fixture.empty_set = ulna_marker_set_empty(NULL);
    fixture.empty_content = ulna_content_empty(NULL);
}

/* ---- the calls ------------------------------------------------------------------------------------------------------- */

typedef struct answer {
    int status;     /* of functions that have one */
    int is_nothing; /* others: 0, ULNA_NONE, NULL or NaN */
} answer;

typedef enum expectation {
    VALID,    /* ULNA_OK: what is tried is wrong in one way, and in no other */
    REFUSED,  /* ULNA_ERR_ARGUMENT */
    FAILED,   /* any error */
    ALLOWED,  /* anything else than ULNA_ERR_ARGUMENT */
    NOTHING,  /* the value for "none" */
    SURVIVED, /* it returns */
} expectation;

typedef struct attempt {
    const char *function, *what;
    expectation expected;
    int wrong;
    answer (*call)(int wrong);
} attempt;

static const char *complaint(const attempt *a, answer found)
{
    switch (a->expected) {
    case ALLOWED:
        return found.status == ULNA_ERR_ARGUMENT ? "refused" : NULL;
    case VALID:
        return found.status != ULNA_OK ? ulna_status_text((ulna_status)found.status) : NULL;
    case REFUSED:
        return found.status != ULNA_ERR_ARGUMENT ? ulna_status_text((ulna_status)found.status) : NULL;
    case FAILED:
        return found.status == ULNA_OK ? "accepted" : NULL;
    case NOTHING:
        return !found.is_nothing ? "returns something" : NULL;
    default:
        return NULL;
    }
}

/* 1 if the call does what it should. */
static int try_call(const attempt *a)
{
    int state = 0, answers[2];
    answer found = {0};
    if (pipe(answers))
        exit(1);
    fflush(stdout);
    const pid_t process = fork();
    if (process == 0) {
        alarm(SECONDS);
        found = a->call(a->wrong);
        _exit(write(answers[1], &found, sizeof found) != (ssize_t)sizeof found);
    }
    close(answers[1]);
    const int is_answered = process > 0 && read(answers[0], &found, sizeof found) == (ssize_t)sizeof found;
    close(answers[0]);
    if (process < 0 || waitpid(process, &state, 0) < 0)
        exit(1);
    const char *text = is_answered ? complaint(a, found) : "crashes";
    if (text)
        printf("%s: %s: %s%s\n", a->function, a->what, text,
               WIFSIGNALED(state) && WTERMSIG(state) == SIGALRM ? " (it hangs)" : "");
    return !text;
}

/* The folder, with what calls that were made left in it. */
static void clear(const char *folder)
{
    DIR *list = opendir(".");
    for (const struct dirent *entry; list && (entry = readdir(list));)
        (void)remove(entry->d_name);
    if (list)
        closedir(list);
    (void)rmdir(folder);
}

static int try_all(const attempt *attempts, int count)
{
    int failures = 0;
    char folder[] = "/tmp/ulna-arguments-XXXXXX";
    if (!mkdtemp(folder) || chdir(folder)) {
        perror(folder);
        return 1;
    }
    fixture.allocator = (ulna_allocator){take_memory, give_memory, NULL};
    make_models();
    make_problems();
    make_take();
    make_files();
    for (int i = 0; i < count; i++)
        failures += !try_call(&attempts[i]);
    printf("%d calls, %d failures\n", count, failures);
    clear(folder);
    return failures > 0;
}
