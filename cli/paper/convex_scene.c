/* Skeletons, natural poses and observations of the convex paper's experiments. */
#include "cli/paper/convex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/algorithms.h"
#include "ulna/sample.h"

#define PI 3.14159265358979323846

static ulna_status no_memory(ulna_error *error)
{
    return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
}

/* ---- poses ----------------------------------------------------------------------------------------------------------- */

/* Poses evenly spread over several clips, one after the other. */
static ulna_status spread_poses(scene *of, const ulna_clip *clips, int clip_count, ulna_error *error)
{
    size_t nq = (size_t)ulna_model_coordinate_count(of->model);
    int total = 0;
    for (int i = 0; i < clip_count; i++)
        total += clips[i].frame_count;
    of->poses = total < of->poses ? total : of->poses;
    of->q = calloc((size_t)of->poses + 1, nq * sizeof *of->q);
    if (!of->q || of->poses < 1)
        return of->q ? cli_fail(error, ULNA_ERR_ARGUMENT, "there are no poses") : no_memory(error);
    for (int i = 0; i < of->poses; i++) {
        int k = 0, frame = (int)((i + 0.5) * total / of->poses);
        for (; frame >= clips[k].frame_count; k++)
            frame -= clips[k].frame_count;
        memcpy(of->q + (size_t)i * nq, ulna_clip_frame(&clips[k], frame), nq * sizeof *of->q);
    }
    return ULNA_OK;
}

/* The skeleton's limits, widened where a pose is outside: recorded poses do not keep them. */
static ulna_status widen_limits(scene *of, ulna_error *error)
{
    int nv = ulna_model_dof_count(of->model);
    size_t nq = (size_t)ulna_model_coordinate_count(of->model);
    of->lower = calloc((size_t)nv + 1, sizeof *of->lower);
    of->upper = calloc((size_t)nv + 1, sizeof *of->upper);
    if (!of->lower || !of->upper)
        return no_memory(error);
    for (int i = 0; i < nv; i++) {
        int c = ulna_model_dof_coordinate(of->model, i);
        of->lower[i] = ulna_model_lower(of->model)[i];
        of->upper[i] = ulna_model_upper(of->model)[i];
        for (int k = 0; k < of->poses && c != ULNA_NONE; k++) {
            double at = of->q[(size_t)k * nq + (size_t)c];
            of->lower[i] = fmin(of->lower[i], at - 0.01);
            of->upper[i] = fmax(of->upper[i], at + 0.01);
        }
    }
    return ULNA_OK;
}

static ulna_status load_body(paper_job *job, scene *of, ulna_error *error)
{
    static const char *const names[] = {"dg_01-03_01", "dg_03-05_02", "dg_06-03_03", "dg_kickLFront1Reps"};
    enum { TAKES = sizeof names / sizeof *names };
    const char *asf = paper_data_file(&job->data, "HDM_dg", ".asf");
    ulna_content skeleton = ulna_content_empty(NULL);
    ulna_clip clips[TAKES];
    json_t *notes = json_array();
    int count = 0;
    ulna_status status = ULNA_OK;
    if (asf)
        status = files_skeleton(asf, 0, &skeleton, error);
    for (int i = 0; i < TAKES && asf && status == ULNA_OK; i++) {
        const char *amc = paper_data_file(&job->data, names[i], ".amc");
        clips[count] = ulna_clip_empty(NULL);
        if (amc)
            status = files_motion(amc, &skeleton, &clips[count++], notes, error);
    }
    if (status == ULNA_OK && count) {
        of->model = of->own = skeleton.model;
        skeleton.model = NULL;
        snprintf(of->about, sizeof of->about, "HDM05, actor dg: poses of %d motions", count);
        status = spread_poses(of, clips, count, error);
    } else if (status == ULNA_OK) {
        static const char *const none[] = {NULL};
        paper_take *take;
        status = paper_take_first(&job->data, none, &take, error);
        if (status == ULNA_OK) {
            of->model = take->skeleton.model;
            snprintf(of->about, sizeof of->about, "the built-in walk");
            status = spread_poses(of, take->poses, 1, error);
        }
    }
    for (int i = 0; i < count; i++)
        ulna_clip_release(&clips[i]);
    ulna_content_release(&skeleton);
    json_decref(notes);
    return status;
}

/* Key points of a hand over time, tracked: poses of a hand as long as these show. */
static ulna_status track_hand(scene *of, ulna_model *hand, const char *path, ulna_error *error)
{
    ulna_content points = ulna_content_empty(NULL);
    ulna_take *take = NULL;
    ulna_track_result result = {0};
    ulna_take_options options = ulna_take_options_default();
    ulna_status status = files_markers(path, 0, &points, error);
    options.model = hand;
    options.recording = &points.recording;
    options.attach = ULNA_ATTACH_KEYPOINTS;
    if (status == ULNA_OK)
        status = ulna_take_create(&options, &take, error);
    if (status == ULNA_OK)
        status = ulna_track(take, NULL, &result, error);
    if (status == ULNA_OK) {
        of->model = take->model;
        if (take->scaled) {
            of->own = take->scaled;
            take->scaled = NULL;
            ulna_model_destroy(hand);
        } else
            of->own = hand;
        status = spread_poses(of, &result.clip, 1, error);
    } else
        ulna_model_destroy(hand);
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    ulna_content_release(&points);
    return status;
}

/* Without recorded hands: anywhere within the limits. */
static ulna_status random_hands(scene *of, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    size_t nq = (size_t)ulna_model_coordinate_count(of->model);
    uint64_t state = 2019;
    of->q = calloc((size_t)of->poses + 1, nq * sizeof *of->q);
    ulna_status status = of->q ? ULNA_OK : no_memory(error);
    for (int i = 0; i < of->poses && status == ULNA_OK; i++)
        status = scene_random_pose(of, nowhere, &state, of->q + (size_t)i * nq, error);
    return status;
}

static ulna_status load_hand(paper_job *job, scene *of, ulna_error *error)
{
    const char *path = paper_data_file(&job->data, "human_joint_right", ".csv");
    ulna_model *hand = NULL;
    ulna_status status = ulna_sample_create("right-hand", NULL, &hand, error);
    if (status != ULNA_OK)
        return status;
    if (path) {
        snprintf(of->about, sizeof of->about, "the built-in hand, scaled to recorded key points: poses of 621 frames");
        return track_hand(of, hand, path, error);
    }
    of->model = of->own = hand;
    snprintf(of->about, sizeof of->about, "the built-in hand in random poses, since there are no recorded ones");
    return random_hands(of, error);
}

/* ---- random poses ------------------------------------------------------------------------------------------------------ */

/* A rotation vector, uniform over all rotations (Shoemake 1992). */
static void any_rotation(uint64_t *state, double step[3])
{
    double u = ulna_random_uniform(state), a = 2 * PI * ulna_random_uniform(state),
           b = 2 * PI * ulna_random_uniform(state);
    double v[3] = {sqrt(1 - u) * sin(a), sqrt(1 - u) * cos(a), sqrt(u) * sin(b)};
    double sine = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), angle = 2 * atan2(sine, sqrt(u) * cos(b));
    for (int i = 0; i < 3; i++)
        step[i] = sine > 0 ? v[i] / sine * angle : 0;
}

ulna_status scene_random_pose(const scene *of, const double root[3], uint64_t *state, double *q, ulna_error *error)
{
    const ulna_model *model = of->model;
    int nv = ulna_model_dof_count(model), translations = 0;
    double *step = calloc((size_t)nv + 3, sizeof *step);
    const double *lower = of->lower ? of->lower : ulna_model_lower(model);
    const double *upper = of->upper ? of->upper : ulna_model_upper(model);
    if (!step)
        return no_memory(error);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int i = 0; i < nv; i++) {
        int c = ulna_model_dof_coordinate(model, i);
        double u = ulna_random_uniform(state);
        if (c == ULNA_NONE) {
            any_rotation(state, step + i);
            i += 2;
        } else if (ulna_model_dof_is_translation(model, i))
            step[i] = translations < 3 ? root[translations++] - q[c] : 0;
        else if (isfinite(lower[i]) && isfinite(upper[i]))
            step[i] = lower[i] + u * (upper[i] - lower[i]) - q[c];
        else
            step[i] = PI * (2 * u - 1) - q[c];
    }
    ulna_model_integrate(model, q, step, q);
    free(step);
    return ULNA_OK;
}

/* ---- observations ------------------------------------------------------------------------------------------------------ */

/* Joints that are at one place of the same bone are one point. */
static int is_new_place(const ulna_model *model, int body, const view_of *view)
{
    double at[3], there[3];
    if (ulna_model_bone_length(model, body) < 1e-9)
        return 0;
    ulna_model_body_placement(model, body, at, NULL);
    for (int i = 0; i < view->count; i++) {
        ulna_model_body_placement(model, view->points[i].body, there, NULL);
        if (ulna_model_body_parent(model, view->points[i].body) == ulna_model_body_parent(model, body) &&
            memcmp(at, there, sizeof at) == 0)
            return 0;
    }
    return 1;
}

static void add_point(view_of *view, int body, const double point[3])
{
    if (view->count == SCENE_POINTS)
        return;
    view->points[view->count] = (ulna_effector){.body = body};
    if (point)
        memcpy(view->points[view->count].point, point, 3 * sizeof *point);
    view->count++;
}

/* All joints, and the root with the ends of limbs: the tips of fingers are markers of the hand. */
static void find_points(scene *of)
{
    const ulna_model *model = of->model;
    view_of *all = &of->views[VIEW_ALL], *ends = &of->views[VIEW_ENDS];
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        int is_root = ulna_model_body_parent(model, b) < 0, is_end = ulna_model_subtree(model, b, NULL) == 1,
            has_tip = 0;
        if (is_root || is_new_place(model, b, all))
            add_point(all, b, NULL);
        for (int m = 0; m < ulna_model_marker_count(model) && is_end && of->has_tips; m++)
            if (ulna_model_marker_body(model, m) == b && !has_tip) {
                double tip[3];
                ulna_model_marker_position(model, m, tip);
                add_point(all, b, tip);
                add_point(ends, b, tip);
                has_tip = 1;
            }
        if (is_root || (is_end && !has_tip))
            add_point(ends, b, NULL);
    }
}

static ulna_status make_problems(scene *of, ulna_error *error)
{
    static const double anywhere[3] = {0, 0, 0};
    ulna_status status = ulna_pose_create(of->model, NULL, &of->pose, error);
    for (int v = 0; v < VIEWS && status == ULNA_OK; v++) {
        status = ulna_problem_create(of->model, NULL, &of->problems[v], error);
        for (int i = 0; i < of->views[v].count && status == ULNA_OK; i++) /* weight 2: f = sum |y - p|^2 */
            status = ulna_problem_add_point(of->problems[v], of->views[v].points[i].body, of->views[v].points[i].point,
                                            anywhere, 2, NULL, error);
        if (status == ULNA_OK)
            status = ulna_problem_ready(of->problems[v], error);
        if (status == ULNA_OK)
            status = ulna_work_create(of->problems[v], NULL, &of->works[v], error);
    }
    return status;
}

ulna_status scene_open(paper_job *job, scene *of, int is_hand, int poses, ulna_error *error)
{
    *of = (scene){
        .name = is_hand ? "hand" : "body", .poses = poses, .has_tips = is_hand, .noise_m = is_hand ? 0.01 : 0.1};
    ulna_status status = is_hand ? load_hand(job, of, error) : load_body(job, of, error);
    if (status == ULNA_OK)
        status = widen_limits(of, error);
    if (status == ULNA_OK) {
        find_points(of);
        status = make_problems(of, error);
        paper_note(job, "The %s: %s.", of->name, of->about);
    }
    return status;
}

void scene_close(scene *of)
{
    for (int v = 0; v < VIEWS; v++) {
        ulna_work_destroy(of->works[v]);
        ulna_problem_destroy(of->problems[v]);
    }
    ulna_pose_destroy(of->pose);
    ulna_model_destroy(of->own);
    free(of->q);
    free(of->lower);
    free(of->upper);
    *of = (scene){0};
}

ulna_status scene_observe(scene *of, int view, int pose, int is_noisy)
{
    const view_of *points = &of->views[view];
    size_t nq = (size_t)ulna_model_coordinate_count(of->model);
    uint64_t state = 7000 + (uint64_t)(2 * pose + view);
    ulna_status status = ulna_pose_forward(of->pose, of->q + (size_t)pose * nq);
    memset(of->middle, 0, sizeof of->middle);
    for (int i = 0; i < points->count && status == ULNA_OK; i++) {
        double *goal = of->goals + 3 * i, direction[3], length = 0, r = of->noise_m * ulna_random_uniform(&state);
        status = ulna_pose_point(of->pose, points->points[i].body, points->points[i].point, goal);
        for (int k = 0; k < 3; k++) {
            direction[k] = ulna_random_normal(&state);
            length += direction[k] * direction[k];
        }
        for (int k = 0; k < 3; k++) {
            goal[k] += is_noisy ? r * direction[k] / sqrt(length) : 0;
            of->middle[k] += goal[k] / points->count;
        }
    }
    return status != ULNA_OK ? status : ulna_problem_set_points(of->problems[view], 0, points->count, of->goals);
}

ulna_status scene_cost(scene *of, int view, const double *q, double *cost_mm)
{
    double f = 0;
    ulna_status status = ulna_work_evaluate(of->works[view], q, &f);
    *cost_mm = 1e3 * sqrt(f / of->views[view].count);
    return status;
}
