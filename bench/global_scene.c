/* Skeletons, poses and goals: see the header. */
#include "global.h"
#include "papers/papers.h"
#include "support.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 10 mm of a hand in decimetres, 100 mm of a body in metres: section 5.3 of the convex-IK paper. */
#define NOISE 0.1

/* ---- chance ------------------------------------------------------------------------------------------------------ */

/* splitmix64 (Steele, Lea, Flood 2014). */
double global_uniform(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* The first start of a sequence that the seed has shifted evenly: even, too. */
void global_random_pose(const ulna_model *model, uint64_t seed, const double place[3], double *q)
{
    double step[8 * GLOBAL_JOINTS];
    ulna_papers_random_pose(model, ulna_model_lower(model), ulna_model_upper(model), place, seed, step, q);
}

/* r d: an even direction, and an even length up to NOISE. */
static void add_noise(uint64_t *state, double point[3])
{
    double z = 2 * global_uniform(state) - 1, turn = 6.283185307179586 * global_uniform(state);
    double r = NOISE * global_uniform(state), flat = sqrt(1 - z * z);
    point[0] += r * flat * cos(turn);
    point[1] += r * flat * sin(turn);
    point[2] += r * z;
}

/* ---- oracle files ------------------------------------------------------------------------------------------------ */

static int read_numbers(FILE *file, int count, double *numbers)
{
    for (int i = 0; i < count; i++)
        if (fscanf(file, "%lf", &numbers[i]) != 1)
            return 0;
    return 1;
}

static int read_instance(FILE *file, global_oracle *o)
{
    double truth[12 + GLOBAL_JOINTS];
    if (fscanf(file, "%d %d", &o->joints, &o->points) != 2 || o->joints < 1 || o->joints > GLOBAL_JOINTS ||
        o->points < 1 || o->points > GLOBAL_POINTS)
        return 0;
    for (int j = 0; j < o->joints; j++)
        if (fscanf(file, "%d %d", &o->parent[j], &o->type[j]) != 2 || !read_numbers(file, 3, o->axis[j]) ||
            !read_numbers(file, 1, &o->lower[j]) || !read_numbers(file, 1, &o->upper[j]) ||
            !read_numbers(file, 3, o->v[j]))
            return 0;
    for (int k = 0; k < o->points; k++)
        if (fscanf(file, "%d", &o->point_joint[k]) != 1 || o->point_joint[k] < 0 || o->point_joint[k] >= o->joints ||
            !read_numbers(file, 3, o->point[k]))
            return 0;
    return read_numbers(file, 12 + o->joints, truth);
}

int global_oracle_read(const char *name, int most, global_oracle *oracles)
{
    char path[2048], file_name[128];
    int count = 0, read = 0;
    snprintf(file_name, sizeof file_name, "../oracles/global-ik/%s.txt", name);
    bench_data_path(path, sizeof path, file_name);
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    if (fscanf(file, "%d", &count) == 1)
        while (read < count && read < most && read_instance(file, &oracles[read]))
            read++;
    fclose(file);
    return read;
}

static void name_of(int joint, char name[32])
{
    snprintf(name, 32, "joint%d", joint);
}

static ulna_status build_model(const global_oracle *o, ulna_model **model)
{
    ulna_builder *builder = NULL;
    ulna_status status = ulna_builder_create(NULL, &builder);
    for (int j = 0; j < o->joints && status == ULNA_OK; j++) {
        const double none[3] = {0, 0, 0}, *a = o->axis[j];
        const ulna_joint joint = o->type[j] == 0 ? ulna_joint_free() : ulna_joint_revolute(a[0], a[1], a[2]);
        char name[32];
        int body;
        name_of(j, name);
        status = ulna_builder_add_body(builder, name, o->parent[j], &body, NULL);
        if (status == ULNA_OK)
            status = ulna_builder_set_placement(builder, body, o->parent[j] < 0 ? none : o->v[j], NULL, NULL);
        if (status == ULNA_OK && o->type[j] < 2)
            status = ulna_builder_set_joint(builder, body, &joint, NULL);
        if (status == ULNA_OK && o->type[j] == 1)
            status = ulna_builder_set_limits(builder, body, 0, o->lower[j], o->upper[j], NULL);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, model, NULL);
    ulna_builder_destroy(builder);
    return status;
}

/* A base that stands still, hinges about random axes 0.3 m apart, within 1.5 rad of the rest, and an end site. */
void global_oracle_chain(int hinges, uint64_t seed, global_oracle *o)
{
    enum { STILL = 3, HINGE = 1, END = 2 };
    const double none[3] = {0, 0, 0};
    double step[8 * GLOBAL_JOINTS], q[8 * GLOBAL_JOINTS];
    ulna_model *model = NULL;
    ulna_pose *pose = NULL;
    uint64_t state = 2019 + seed;
    *o = (global_oracle){.joints = hinges + 2, .points = hinges + 2};
    for (int j = 0; j < o->joints; j++) {
        double z = 2 * global_uniform(&state) - 1, turn = 6.283185307179586 * global_uniform(&state);
        const double axis[3] = {sqrt(1 - z * z) * cos(turn), sqrt(1 - z * z) * sin(turn), z};
        o->parent[j] = j - 1;
        o->point_joint[j] = j;
        o->type[j] = j == 0 ? STILL : j > hinges ? END : HINGE;
        memcpy(o->axis[j], axis, sizeof axis);
        o->lower[j] = -1.5;
        o->upper[j] = 1.5;
        o->v[j][0] = j == 0 ? 0 : 0.3;
    }
    global_stop_if(build_model(o, &model) != ULNA_OK || ulna_pose_create(model, NULL, &pose, NULL) != ULNA_OK,
                   "making a chain");
    ulna_papers_random_pose(model, ulna_model_lower(model), ulna_model_upper(model), none, seed, step, q);
    global_stop_if(ulna_pose_forward(pose, q) != ULNA_OK, "a pose of the chain");
    for (int j = 0; j < o->joints; j++) {
        char name[32];
        name_of(j, name);
        ulna_pose_body(pose, ulna_model_find_body(model, name), o->point[j], NULL);
        add_noise(&state, o->point[j]);
    }
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
}

static int make_problem(const ulna_model *model, const int *body, int points, const double *goals,
                        ulna_problem **problem)
{
    int good = ulna_problem_create(model, NULL, problem, NULL) == ULNA_OK;
    for (int k = 0; k < points && good; k++)
        good = ulna_problem_add_point(*problem, body[k], NULL, goals + 3 * k, 2, NULL, NULL) == ULNA_OK;
    return good && ulna_problem_ready(*problem, NULL) == ULNA_OK;
}

static void bodies_of(const global_oracle *o, const ulna_model *model, int *body)
{
    char name[32];
    for (int k = 0; k < o->points; k++) {
        name_of(o->point_joint[k], name);
        body[k] = ulna_model_find_body(model, name);
    }
}

int global_oracle_problem(const global_oracle *o, ulna_model **model, ulna_problem **problem)
{
    int body[GLOBAL_POINTS];
    if (build_model(o, model) != ULNA_OK)
        return 0;
    bodies_of(o, *model, body);
    return make_problem(*model, body, o->points, o->point[0], problem);
}

/* ---- a recorded skeleton ----------------------------------------------------------------------------------------- */

/* Joints that stand on one spot of the same bone are one point. */
static int is_new_place(const ulna_model *model, int body, const int *others, int count)
{
    double at[3], there[3];
    if (ulna_model_bone_length(model, body) < 1e-9)
        return 0;
    ulna_model_body_placement(model, body, at, NULL);
    for (int i = 0; i < count; i++) {
        ulna_model_body_placement(model, others[i], there, NULL);
        if (ulna_model_body_parent(model, others[i]) == ulna_model_body_parent(model, body) && at[0] == there[0] &&
            at[1] == there[1] && at[2] == there[2])
            return 0;
    }
    return 1;
}

static void find_points(global_skeleton *s)
{
    const ulna_model *model = s->model;
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        int is_root = ulna_model_body_parent(model, b) < 0, is_end = ulna_model_subtree(model, b, NULL) == 1;
        int *all = &s->points[GLOBAL_ALL], *ends = &s->points[GLOBAL_ENDS];
        if (*all < GLOBAL_POINTS && (is_root || is_new_place(model, b, s->body[GLOBAL_ALL], *all)))
            s->body[GLOBAL_ALL][(*all)++] = b;
        if (*ends < GLOBAL_POINTS && (is_root || is_end))
            s->body[GLOBAL_ENDS][(*ends)++] = b;
    }
}

/* One of `s->poses` frames, evenly spread over all takes one after the other. */
static int take_frames(global_skeleton *s, const ulna_content *takes, int count)
{
    int total = 0, nq = ulna_model_coordinate_count(s->model);
    for (int t = 0; t < count; t++)
        total += takes[t].clip.frame_count;
    for (int i = 0; i < s->poses; i++) {
        int t = 0, frame = (int)((i + 0.5) * total / s->poses);
        for (; frame >= takes[t].clip.frame_count; t++)
            frame -= takes[t].clip.frame_count;
        memcpy(s->q + (ptrdiff_t)i * nq, ulna_clip_frame(&takes[t].clip, frame), (size_t)nq * sizeof *s->q);
    }
    return total > 0;
}

static int load_takes(global_skeleton *s, const char *skeleton_name, const char *const *names, int count)
{
    enum { MOST = 4 };
    ulna_content skeleton = bench_load(skeleton_name, NULL), takes[MOST];
    int good = skeleton.model != NULL;
    const ulna_read_options options = ulna_read_options_for(&skeleton);
    for (int t = 0; t < count; t++) {
        takes[t] = bench_load(names[t], &options);
        good = good && takes[t].clip.frame_count;
    }
    if (good) {
        s->model = skeleton.model;
        skeleton.model = NULL;
        find_points(s);
        s->q = calloc((size_t)s->poses, (size_t)ulna_model_coordinate_count(s->model) * sizeof *s->q);
        good = s->q && take_frames(s, takes, count);
    }
    for (int t = 0; t < count; t++)
        ulna_content_release(&takes[t]);
    ulna_content_release(&skeleton);
    return good;
}

static int load_recorded(global_skeleton *s)
{
    static const char *const names[] = {"hdm05/HDM_dg_01-03_01_120.amc", "hdm05/HDM_dg_03-05_02_120.amc",
                                        "hdm05/HDM_dg_06-03_03_120.amc", "hdm05/HDM_dg_kickLFront1Reps_013_120.amc"};
    s->is_take = 1;
    return load_takes(s, "hdm05/HDM_dg.asf", names, 4);
}

static int load_walk(global_skeleton *s)
{
    const bench_take walk = bench_sample_take();
    s->is_take = 1;
    return load_takes(s, walk.skeleton, &walk.reference, 1);
}

/* ---- skeletons of the oracles ------------------------------------------------------------------------------------ */

static int draw_poses(global_skeleton *s, uint64_t state)
{
    int nq = ulna_model_coordinate_count(s->model);
    s->q = calloc((size_t)s->poses, (size_t)nq * sizeof *s->q);
    for (int i = 0; s->q && i < s->poses; i++) {
        const double place[3] = {2 * global_uniform(&state) - 1, 2 * global_uniform(&state) - 1,
                                 2 * global_uniform(&state) - 1};
        global_uniform(&state);
        global_random_pose(s->model, state, place, s->q + (ptrdiff_t)i * nq);
    }
    return s->q != NULL;
}

static int load_oracle(global_skeleton *s)
{
    static const char *const views[GLOBAL_VIEWS] = {"all_noisy", "end_noisy"};
    for (int v = 0; v < GLOBAL_VIEWS; v++) {
        char name[64];
        snprintf(name, sizeof name, "%s_%s", s->name, views[v]);
        if (!global_oracle_read(name, 1, &s->oracle[v]))
            return 0;
    }
    if (build_model(&s->oracle[GLOBAL_ALL], &s->model) != ULNA_OK)
        return 0;
    for (int v = 0; v < GLOBAL_VIEWS; v++) {
        s->points[v] = s->oracle[v].points;
        bodies_of(&s->oracle[v], s->model, s->body[v]);
    }
    return draw_poses(s, s->name[0] == 'h' ? 1001 : 1002);
}

/* ---- built-in skeletons ------------------------------------------------------------------------------------------ */

static int load_sample(global_skeleton *s)
{
    const int is_hand = strcmp(s->name, "sample_hand") == 0;
    ulna_model *sample = NULL;
    double *lengths = NULL;
    int good = ulna_sample_create(is_hand ? "hand" : "human", NULL, &sample, NULL) == ULNA_OK;
    if (good && is_hand) {
        const double decimetres = 10;
        lengths = calloc((size_t)ulna_model_body_count(sample), sizeof *lengths);
        for (int b = 0; lengths && b < ulna_model_body_count(sample); b++)
            lengths[b] = decimetres * ulna_model_bone_length(sample, b);
        good = lengths && ulna_model_with_lengths(sample, lengths, NULL, &s->model, NULL) == ULNA_OK;
        ulna_model_destroy(sample);
    } else {
        s->model = sample;
    }
    free(lengths);
    if (good)
        find_points(s);
    return good && draw_poses(s, is_hand ? 1001 : 1002);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static int make_goals(global_skeleton *s, global_view view)
{
    size_t numbers = 3 * (size_t)s->points[view];
    uint64_t state = 77 + (uint64_t)view;
    ulna_pose *pose = NULL;
    double *clean = calloc((size_t)s->poses, numbers * sizeof *clean);
    double *noisy = calloc((size_t)s->poses, numbers * sizeof *noisy);
    int good = clean && noisy && ulna_pose_create(s->model, NULL, &pose, NULL) == ULNA_OK;
    s->goals[view][0] = clean;
    s->goals[view][1] = noisy;
    for (int i = 0; i < s->poses && good; i++) {
        good = ulna_pose_forward(pose, s->q + (ptrdiff_t)i * ulna_model_coordinate_count(s->model)) == ULNA_OK;
        for (int k = 0; k < s->points[view] && good; k++, clean += 3, noisy += 3) {
            ulna_pose_body(pose, s->body[view][k], clean, NULL);
            memcpy(noisy, clean, 3 * sizeof *noisy);
            add_noise(&state, noisy);
        }
    }
    ulna_pose_destroy(pose);
    return good && make_problem(s->model, s->body[view], s->points[view], s->goals[view][0], &s->problem[view]);
}

int global_skeleton_load(const char *name, int poses, global_skeleton *s)
{
    *s = (global_skeleton){.name = name, .poses = poses};
    int good = strcmp(name, "real") == 0          ? load_recorded(s)
               : strcmp(name, "sample_walk") == 0 ? load_walk(s)
               : strncmp(name, "sample_", 7) == 0 ? load_sample(s)
                                                  : load_oracle(s);
    good = good && ulna_model_dof_count(s->model) <= 8 * GLOBAL_JOINTS;
    for (int v = 0; v < GLOBAL_VIEWS && good; v++)
        good = make_goals(s, (global_view)v);
    if (!good)
        global_skeleton_free(s);
    return good;
}

void global_skeleton_free(global_skeleton *s)
{
    for (int v = 0; v < GLOBAL_VIEWS; v++) {
        ulna_problem_destroy(s->problem[v]);
        free(s->goals[v][0]);
        free(s->goals[v][1]);
    }
    ulna_model_destroy(s->model);
    free(s->q);
    *s = (global_skeleton){0};
}
