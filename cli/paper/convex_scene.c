/* Skeletons, natural poses and observations of the convex paper's experiments. */
#include "cli/paper/convex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/algorithms.h"
#include "src/formats/json/json_reader.h"
#include "src/papers/papers.h"
#include "ulna/sample.h"

/* ---- poses ----------------------------------------------------------------------------------------------------------- */

/* Poses evenly spread over several clips, one after the other; and at the end all of `whole`, if these are at most half of the poses. */
static ulna_status spread_poses(scene *of, const ulna_clip *clips, int clip_count, const ulna_clip *whole,
                                ulna_error *error)
{
    size_t nq = (size_t)ulna_model_coordinate_count(of->model);
    int total = 0, kept = whole && 2 * whole->frame_count <= of->poses ? whole->frame_count : 0;
    for (int i = 0; i < clip_count; i++)
        total += clips[i].frame_count;
    int count = total < of->poses - kept ? total : of->poses - kept;
    of->poses = count + kept;
    of->q = calloc((size_t)of->poses + 1, nq * sizeof *of->q);
    if (!of->q || of->poses < 1)
        return of->q ? cli_fail(error, ULNA_ERR_ARGUMENT, "there are no poses") : cli_no_memory(error);
    for (int i = 0; i < count; i++) {
        int k = 0, frame = (int)((i + 0.5) * total / count);
        for (; frame >= clips[k].frame_count; k++)
            frame -= clips[k].frame_count;
        memcpy(of->q + (size_t)i * nq, ulna_clip_frame(&clips[k], frame), nq * sizeof *of->q);
    }
    if (kept)
        memcpy(of->q + (size_t)count * nq, whole->q, (size_t)kept * nq * sizeof *of->q);
    return ULNA_OK;
}

/* The skeleton's limits, widened where a pose is outside: recorded poses do not keep them. */
static ulna_status widen_limits(scene *of, ulna_error *error)
{
    int nv = ulna_model_dof_count(of->model);
    size_t nq = (size_t)ulna_model_coordinate_count(of->model);
    of->lower = calloc((size_t)nv + 1, sizeof *of->lower);
    of->upper = calloc((size_t)nv + 1, sizeof *of->upper);
    of->step = calloc((size_t)nv + 1, sizeof *of->step);
    if (!of->lower || !of->upper || !of->step)
        return cli_no_memory(error);
    for (int i = 0; i < nv; i++) {
        int c = ulna_model_dof_coordinate(of->model, i);
        of->lower[i] = ulna_model_lower(of->model)[i];
        of->upper[i] = ulna_model_upper(of->model)[i];
        for (int k = 0; k < of->poses && of->q && c != ULNA_NONE; k++) {
            double at = of->q[(size_t)k * nq + (size_t)c];
            of->lower[i] = fmin(of->lower[i], at - 0.01);
            of->upper[i] = fmax(of->upper[i], at + 0.01);
        }
    }
    return ULNA_OK;
}

/* Motions of HDM05 and CMU. Their skeletons have the same bones with the same axes to within 3 degrees, so that the angles of all of them are poses
 * of one; as in the paper, whose motions are angles, too. */
static const char *const body_motions[] = {
    /* HDM05 */
    "dg_01-03_01",
    "dg_03-02_01",
    "dg_03-02_03",
    "dg_03-05_02",
    "dg_06-03_03",
    "dg_kickLFront1Reps",
    "bd_kickLFront1Reps",
    "bk_05-03_03",
    "bk_kickLFront1Reps",
    /* CMU */
    "/02_01.",
    "/02_03.",
    "/02_05.",
    "/03_02.",
    "/11_01.",
};
enum { MOTIONS = sizeof body_motions / sizeof *body_motions, HDM05_MOTIONS = 9 };

static ulna_status load_motions(paper_job *job, scene *of, const ulna_content *skeleton, ulna_error *error)
{
    ulna_clip clips[MOTIONS];
    json_t *notes = json_array();
    int count = 0, of_hdm05 = 0;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < MOTIONS && status == ULNA_OK; i++) {
        const char *amc = paper_data_file(&job->data, body_motions[i], ".amc");
        clips[count] = ulna_clip_empty(NULL);
        if (amc)
            status = files_motion(amc, skeleton, &clips[count++], notes, error);
        of_hdm05 += amc && i < HDM05_MOTIONS;
    }
    snprintf(of->about, sizeof of->about, "actor dg of HDM05 in poses of %d motions of HDM05 and %d of CMU", of_hdm05,
             count - of_hdm05);
    if (status == ULNA_OK)
        status = spread_poses(of, clips, count, NULL, error);
    for (int i = 0; i < count; i++)
        ulna_clip_release(&clips[i]);
    json_decref(notes);
    return status;
}

static ulna_status load_body(paper_job *job, scene *of, ulna_error *error)
{
    static const char *const none[] = {NULL};
    const char *asf = paper_data_file(&job->data, "HDM_dg", ".asf");
    int has_motion = 0;
    for (int i = 0; i < MOTIONS; i++)
        has_motion |= paper_data_file(&job->data, body_motions[i], ".amc") != NULL;
    if (!asf || !has_motion) {
        paper_take *take;
        ulna_status status = paper_take_first(&job->data, none, &take, error);
        if (status != ULNA_OK)
            return status;
        of->model = take->skeleton.model;
        snprintf(of->about, sizeof of->about, "the built-in walk");
        return spread_poses(of, take->poses, 1, NULL, error);
    }
    ulna_content skeleton = ulna_content_empty(NULL);
    ulna_status status = files_skeleton(asf, 0, &skeleton, error);
    of->model = skeleton.model;
    if (status == ULNA_OK)
        status = load_motions(job, of, &skeleton, error);
    of->own = skeleton.model;
    skeleton.model = NULL;
    ulna_content_release(&skeleton);
    return status;
}

/* Key points of a hand, tracked: poses of a hand as long as these show, which is `scaled`. */
static ulna_status track_hand(const ulna_model *hand, const ulna_recording *points, ulna_model **scaled,
                              ulna_clip *poses, ulna_error *error)
{
    ulna_take *take = NULL;
    ulna_track_result result = {0};
    ulna_take_options options = ulna_take_options_default();
    options.model = hand;
    options.recording = points;
    options.attach = ULNA_ATTACH_KEYPOINTS;
    ulna_status status = ulna_take_create(&options, &take, error);
    if (status == ULNA_OK)
        status = ulna_track(take, NULL, &result, error);
    if (status == ULNA_OK) {
        *scaled = take->scaled;
        take->scaled = NULL;
        *poses = result.clip;
        result.clip = ulna_clip_empty(NULL);
    }
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    return status;
}

/* Key points of MediaPipe and the joints of WebXR at these places. */
static const char *const hand_points[][2] = {
    {"wrist", "wrist"},
    {"thumb_cmc", "thumb-metacarpal"},
    {"thumb_mcp", "thumb-phalanx-proximal"},
    {"thumb_ip", "thumb-phalanx-distal"},
    {"thumb_tip", "thumb-tip"},
    {"index_mcp", "index-finger-phalanx-proximal"},
    {"index_pip", "index-finger-phalanx-intermediate"},
    {"index_dip", "index-finger-phalanx-distal"},
    {"index_tip", "index-finger-tip"},
    {"middle_mcp", "middle-finger-phalanx-proximal"},
    {"middle_pip", "middle-finger-phalanx-intermediate"},
    {"middle_dip", "middle-finger-phalanx-distal"},
    {"middle_tip", "middle-finger-tip"},
    {"ring_mcp", "ring-finger-phalanx-proximal"},
    {"ring_pip", "ring-finger-phalanx-intermediate"},
    {"ring_dip", "ring-finger-phalanx-distal"},
    {"ring_tip", "ring-finger-tip"},
    {"pinky_mcp", "pinky-finger-phalanx-proximal"},
    {"pinky_pip", "pinky-finger-phalanx-intermediate"},
    {"pinky_dip", "pinky-finger-phalanx-distal"},
    {"pinky_tip", "pinky-finger-tip"},
};
enum { HAND_POINTS = sizeof hand_points / sizeof *hand_points };

/* A pose of WebXR: a matrix for each joint, column by column, of a left hand: x is mirrored. */
static ulna_status read_hand_pose(const char *path, double *points, ulna_error *error)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_json document = {0};
    ulna_json_node transforms;
    ulna_status status = ulna_file_read(path, 1 << 20, &text, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_json_open(&document, text.data, text.length, error);
    ulna_json_node root = ulna_json_root(&document);
    if (status == ULNA_OK)
        status = ulna_json_need(&root, "jointTransforms", &transforms);
    for (int i = 0; i < HAND_POINTS && status == ULNA_OK; i++) {
        double matrix[16] = {0};
        ulna_json_node joint, value;
        status = ulna_json_need(&transforms, hand_points[i][1], &joint);
        if (status == ULNA_OK)
            status = ulna_json_need(&joint, "offsetMatrix", &value);
        if (status == ULNA_OK)
            status = ulna_json_numbers(&value, matrix, 16);
        points[3 * i] = -matrix[12];
        points[3 * i + 1] = matrix[13];
        points[3 * i + 2] = matrix[14];
    }
    if (status != ULNA_OK && error && !*error->path)
        snprintf(error->path, sizeof error->path, "%s", path);
    ulna_json_close(&document);
    ulna_text_release(&text);
    return status;
}

/* The poses of two files, where they are there, as angles of the built-in hand. */
static ulna_status load_hand_poses(paper_job *job, const ulna_model *hand, ulna_clip *poses, ulna_error *error)
{
    static const char *const names[] = {"pinch_hand_pose", "relaxed_hand_pose"};
    ulna_recording points = ulna_recording_empty(NULL);
    ulna_model *scaled = NULL;
    ulna_status status = ULNA_OK;
    for (int i = 0; i < 2 && status == ULNA_OK; i++) {
        const char *path = paper_data_file(&job->data, names[i], ".json");
        if (!path)
            continue;
        if (ulna_recording_resize(&points, HAND_POINTS, points.frame_count + 1))
            status = cli_no_memory(error);
        if (status == ULNA_OK)
            status = read_hand_pose(path, ulna_recording_frame(&points, points.frame_count - 1), error);
    }
    for (int i = 0; i < points.marker_count; i++)
        snprintf(points.names[i], ULNA_MARKER_NAME, "%s", hand_points[i][0]);
    if (status == ULNA_OK && points.frame_count)
        status = track_hand(hand, &points, &scaled, poses, error);
    ulna_model_destroy(scaled);
    ulna_recording_release(&points);
    return status;
}

/* Recorded poses, on a hand as long as the one of the recording. */
static ulna_status load_recorded_hand(paper_job *job, scene *of, const ulna_model *hand, const char *path,
                                      ulna_error *error)
{
    ulna_content points = ulna_content_empty(NULL);
    ulna_clip frames = ulna_clip_empty(NULL), poses = ulna_clip_empty(NULL);
    ulna_status status = files_markers(path, 0, &points, error);
    if (status == ULNA_OK)
        status = track_hand(hand, &points.recording, &of->own, &frames, error);
    if (status == ULNA_OK)
        status = load_hand_poses(job, hand, &poses, error);
    of->model = of->own;
    if (status == ULNA_OK)
        status = spread_poses(of, &frames, 1, &poses, error);
    snprintf(of->about, sizeof of->about,
             "the built-in hand, scaled to recorded key points, in poses of their %d frames and of %d files",
             frames.frame_count, poses.frame_count);
    ulna_clip_release(&frames);
    ulna_clip_release(&poses);
    ulna_content_release(&points);
    return status;
}

/* The built-in hand without its forearm, as the paper's: it begins at the wrist. */
static ulna_status make_hand(ulna_model **hand, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    const ulna_joint rigid = ulna_joint_fixed();
    int palm = ULNA_NONE;
    ulna_model *whole = NULL;
    ulna_builder *builder = NULL;
    ulna_status status = ulna_sample_create("right-hand", NULL, &whole, error);
    if (status == ULNA_OK)
        status = ulna_builder_from_model(whole, NULL, &builder, error);
    if (status == ULNA_OK) {
        palm = ulna_builder_find_body(builder, "palm");
        status = ulna_builder_set_joint(builder, palm, &rigid, error);
    }
    if (status == ULNA_OK)
        status = ulna_builder_set_placement(builder, palm, nowhere, NULL, error);
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, hand, error);
    ulna_builder_destroy(builder);
    ulna_model_destroy(whole);
    return status;
}

static ulna_status load_hand(paper_job *job, scene *of, ulna_error *error)
{
    const char *path = paper_data_file(&job->data, "human_joint_right", ".csv");
    ulna_model *hand = NULL;
    ulna_status status = make_hand(&hand, error);
    if (status != ULNA_OK)
        return status;
    of->root = ulna_model_find_body(hand, "palm");
    if (path) {
        status = load_recorded_hand(job, of, hand, path, error);
        ulna_model_destroy(hand);
        return status;
    }
    of->model = of->own = hand;
    snprintf(of->about, sizeof of->about, "the built-in hand in random poses, since there are no recorded ones");
    return status;
}

/* ---- random poses ------------------------------------------------------------------------------------------------------ */

void scene_random_pose(scene *of, uint64_t seed, double *q)
{
    ulna_papers_random_pose(of->model, of->lower, of->upper, of->middle, seed, of->step, q);
}

/* Without recorded poses: anywhere within the limits. */
static ulna_status draw_poses(scene *of, ulna_error *error)
{
    size_t nq = (size_t)ulna_model_coordinate_count(of->model);
    of->q = calloc((size_t)of->poses + 1, nq * sizeof *of->q);
    for (int i = 0; i < of->poses && of->q; i++)
        scene_random_pose(of, 2019 + (uint64_t)i, of->q + (size_t)i * nq);
    return of->q ? ULNA_OK : cli_no_memory(error);
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
    for (int b = of->root; b < ulna_model_body_count(model); b++) {
        int is_root = b == of->root, is_end = ulna_model_subtree(model, b, NULL) == 1, has_tip = 0;
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
    if (status == ULNA_OK && !of->q)
        status = draw_poses(of, error);
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
    free(of->step);
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
