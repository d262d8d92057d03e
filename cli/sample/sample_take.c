/*
 * The sample take: the true motion, its markers as a camera system might have seen them, and the files.
 *
 * A gait is a function of phase: hip, knee, ankle and toes follow sums of bumps exp(k (cos(phase - at) - 1)), which are
 * smooth and periodic; the sides are half a stride apart. An envelope takes it from standing to walking and back. The root
 * follows from the feet: its height puts the lowest point of the soles on the floor, its steps keep them where they are.
 * Both use a soft minimum over the points of the soles, so that the motion stays smooth as weight goes from one foot to the
 * other.
 *
 * Angles are in degrees and those of the left side; the right side is its mirror image (src/model/sample.c).
 */
#include "cli/sample/sample_take.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cli/input.h"
#include "src/base/algorithms.h"
#include "ulna/kinematics.h"
#include "ulna/sample.h"

/* ==== the true motion ============================================================================================= */

enum { SAMPLE_TAKE_FRAMES = 720, SAMPLE_TAKE_RATE = 120 };

#define PI 3.14159265358979323846
#define STRIDE_S 1.08 /* both steps */
#define SOFT_M 0.006  /* over which weight goes from one point of the soles to another */

enum { SOLES = 6 };

/* 0 before `from`, 1 after `to`, with two continuous derivatives. */
static double rise(double t, double from, double to)
{
    double x = fmin(1, fmax(0, (t - from) / (to - from)));
    return x * x * x * (10 + x * (6 * x - 15));
}

/* A bump of height 1 at a share of the stride. */
static double bump(double phase, double share, double sharpness)
{
    return exp(sharpness * (cos(phase - 2 * PI * share) - 1));
}

typedef struct moment {
    double walk;   /* 0 standing .. 1 walking */
    double phase;  /* of the left leg; 0 where the heel strikes */
    double wave;   /* 0 .. 1: the right arm is up */
    double crouch; /* 0 .. 1 */
    double time;
} moment;

static moment moment_at(double t)
{
    double bob = 0.5 - 0.5 * cos(2 * PI * (t - 4.2) / 0.8);
    return (moment){.walk = rise(t, 0.2, 1.1) * (1 - rise(t, 3.3, 4.1)),
                    .phase = 2 * PI * (t / STRIDE_S - 0.3),
                    .wave = rise(t, 3.9, 4.5) * (1 - rise(t, 5.5, 5.95)),
                    .crouch = bob * rise(t, 4.2, 4.4) * (1 - rise(t, 5.7, 5.9)),
                    .time = t};
}

/* ---- joints ---------------------------------------------------------------------------------------------------- */

typedef struct puppet {
    const ulna_model *model;
    double *q;
    int is_right;
} puppet;

/* Rotations of a joint in its own order. The letters name the axes: on the right side, rotations about Y and Z change sign. */
static void rotate(const puppet *p, const char *body, const char *axes, const double *degrees)
{
    char name[32];
    int first;
    snprintf(name, sizeof name, "%s_%s", p->is_right ? "right" : "left", body);
    int b = ulna_model_find_body(p->model, name), is_sided = b != ULNA_NONE;
    b = is_sided ? b : ulna_model_find_body(p->model, body);
    if (b == ULNA_NONE)
        return;
    int count = ulna_model_body_coordinates(p->model, b, &first);
    for (int k = 0; axes[k] && k < count; k++)
        p->q[first + k] = degrees[k] * PI / 180 * (is_sided && p->is_right && axes[k] != 'X' ? -1 : 1);
}

#define ROTATE(puppet, body, axes, ...) rotate(puppet, body, axes, (const double[]){__VA_ARGS__})

static void pose_leg(const puppet *p, const moment *m)
{
    double phase = m->phase + (p->is_right ? PI : 0);
    double hip = 9 + 22 * cos(phase + 0.25);
    double knee = 5 + 12 * bump(phase, 0.14, 7) + 54 * bump(phase, 0.73, 3.4);
    double ankle = 2 - 6 * bump(phase, 0.07, 14) + 10 * bump(phase, 0.42, 4) - 22 * bump(phase, 0.63, 12);
    double toes = 32 * bump(phase, 0.585, 12);
    double down = m->crouch;
    ROTATE(p, "thigh", "XZY", -(m->walk * hip + 4 * (1 - m->walk) + 31 * down), 2 + 4 * down, 5 + 3 * down);
    ROTATE(p, "shank", "X", m->walk * knee + 8 * (1 - m->walk) + 56 * down);
    ROTATE(p, "foot", "XZ", -(m->walk * ankle + 4 * (1 - m->walk) + 25 * down), -2 - 4 * down);
    ROTATE(p, "toes", "X", -m->walk * toes);
}

static void pose_arm(const puppet *p, const moment *m)
{
    double phase = m->phase + (p->is_right ? PI : 0), swing = m->walk * cos(phase);
    double up = p->is_right ? m->wave : 0, low = 1 - up, greet = sin(2 * PI * 1.9 * m->time);
    ROTATE(p, "clavicle", "YZ", 1.5 * swing, 1 + 12 * up);
    ROTATE(p, "upper_arm", "ZYX", -76 * low + 22 * up, low * (-5 + 19 * swing) - 14 * up, -8 * low - 72 * up);
    ROTATE(p, "forearm", "YX", low * (-24 + 13 * swing) + up * (-78 + 24 * greet), 12 * low);
    ROTATE(p, "hand", "ZY", 4 + 6 * swing * low, up * 14 * greet);
    ROTATE(p, "fingers", "Z", -28 * low - 4);
    ROTATE(p, "thumb", "YZ", -6, -10);
}

static void pose_trunk(const puppet *p, const moment *m)
{
    double twist = m->walk * cos(m->phase), list = m->walk * sin(m->phase + 0.4), down = m->crouch;
    double *root = p->q; /* position, then heading, pitch and roll */
    double heading = 16 * sin(2 * PI * (m->time - 0.4) / 7.5);
    root[3] = (heading - 4 * twist) * PI / 180;
    root[4] = (2 + 8 * down + m->walk) * PI / 180;
    root[5] = -2.5 * list * PI / 180;
    ROTATE(p, "lower_spine", "XZY", 1 + 4 * down, 1.2 * list, 2 * twist);
    ROTATE(p, "middle_spine", "XZY", 1, 1.2 * list - 3 * m->wave, 3 * twist);
    ROTATE(p, "upper_spine", "XZY", -1 - 2 * down, 0.8 * list - 3 * m->wave, 4 * twist - 3 * m->wave);
    ROTATE(p, "neck", "XZY", 3 - 4 * down, -1 * list, -3 * twist - 4 * m->wave);
    ROTATE(p, "head", "XZY", -3 - 5 * down, 4 * m->wave * sin(2 * PI * 0.95 * m->time), -2 * twist - 6 * m->wave);
}

/* ---- feet ------------------------------------------------------------------------------------------------------- */

typedef struct sole {
    int body;
    double point[3];
} sole;

/* Heel, ball and tip of each foot. */
static void find_soles(const ulna_model *model, sole soles[SOLES])
{
    static const struct {
        const char *body;
        double y, z;
    } rows[SOLES / 2] = {{"foot", -0.079, -0.052}, {"toes", -0.026, 0}, {"toes", -0.026, 0.070}};
    for (int i = 0; i < SOLES; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s_%s", i % 2 ? "right" : "left", rows[i / 2].body);
        soles[i] = (sole){ulna_model_find_body(model, name), {0, rows[i / 2].y, rows[i / 2].z}};
    }
}

static ulna_status stand(ulna_pose *pose, const sole soles[SOLES], double *q, double places[SOLES][3],
                         const double before[SOLES][3], const double *root_before)
{
    double weight[SOLES], sum = 0, lowest = INFINITY, step[2] = {0, 0};
    ulna_status status = ulna_pose_forward(pose, q);
    for (int i = 0; i < SOLES && status == ULNA_OK; i++) {
        ulna_pose_point(pose, soles[i].body, soles[i].point, places[i]);
        lowest = fmin(lowest, places[i][1]);
    }
    for (int i = 0; i < SOLES; i++)
        sum += weight[i] = exp((lowest - places[i][1]) / SOFT_M);
    q[1] = -(lowest - SOFT_M * log(sum));
    for (int i = 0; i < SOLES && before; i++)
        for (int k = 0; k < 2; k++)
            step[k] -= weight[i] / sum * (places[i][2 * k] - before[i][2 * k]);
    q[0] = root_before ? root_before[0] + step[0] : 0;
    q[2] = root_before ? root_before[2] + step[1] : 0;
    return status;
}

/* ---- the motion -------------------------------------------------------------------------------------------------- */

static ulna_status sample_take_motion(const ulna_model *human, ulna_clip *clip, ulna_error *error)
{
    ulna_pose *pose = NULL;
    sole soles[SOLES];
    double places[2][SOLES][3] = {{{0}}};
    int nq = ulna_model_coordinate_count(human);
    ulna_status status = ulna_pose_create(human, NULL, &pose, error);
    if (status == ULNA_OK && ulna_clip_resize(clip, nq, SAMPLE_TAKE_FRAMES))
        status = cli_no_memory(error);
    find_soles(human, soles);
    for (int f = 0; f < SAMPLE_TAKE_FRAMES && status == ULNA_OK; f++) {
        moment m = moment_at((double)f / SAMPLE_TAKE_RATE);
        puppet left = {human, ulna_clip_frame(clip, f), 0}, right = {human, left.q, 1};
        memcpy(left.q, ulna_model_rest(human), (size_t)nq * sizeof *left.q);
        left.q[1] = 0;
        pose_trunk(&left, &m);
        pose_leg(&left, &m);
        pose_leg(&right, &m);
        pose_arm(&left, &m);
        pose_arm(&right, &m);
        status = stand(pose, soles, left.q, places[f % 2], f ? (const double(*)[3])places[(f + 1) % 2] : NULL,
                       f ? ulna_clip_frame(clip, f - 1) : NULL);
    }
    clip->first_frame = 1;
    clip->frame_seconds = 1.0 / SAMPLE_TAKE_RATE;
    ulna_pose_destroy(pose);
    return status;
}

/* ==== its markers, with noise, gaps and a swap ==================================================================== */

#define NOISE_M 0.001

/* Frame numbers, from 1 on, the last one too: as in sample_take.h. */
static const struct {
    int first, last;
} limb = {260, 295}, nothing = {420, 427}, swap = {180, 215};

static void hide(ulna_recording *r, int marker, int first, int last)
{
    for (int f = first; f <= last && f <= r->frame_count; f++) {
        double *at = ulna_recording_frame(r, f - 1) + 3 * (size_t)marker;
        at[0] = at[1] = at[2] = NAN;
    }
}

static void add_noise(ulna_recording *r, uint64_t *state)
{
    size_t count = (size_t)r->frame_count * (size_t)r->marker_count * 3;
    for (size_t i = 0; i < count; i++)
        r->positions[i] += NOISE_M * ulna_random_normal(state);
}

/* About two for each marker. */
static void add_gaps(ulna_recording *r, uint64_t *state)
{
    const double chance = 2.0 / SAMPLE_TAKE_FRAMES;
    for (int m = 0; m < r->marker_count; m++)
        for (int f = 1; f <= r->frame_count; f++)
            if (ulna_random_uniform(state) < chance) {
                int last = f + 2 + (int)(28 * ulna_random_uniform(state));
                hide(r, m, f, last);
                f = last + 1;
            }
}

static void swap_markers(ulna_recording *r, const char *a, const char *b)
{
    int i = ulna_recording_find(r, a), j = ulna_recording_find(r, b);
    if (i == ULNA_NONE || j == ULNA_NONE)
        return;
    for (int f = swap.first; f <= swap.last; f++) {
        double *at = ulna_recording_frame(r, f - 1), aside[3];
        memcpy(aside, at + 3 * i, sizeof aside);
        memcpy(at + 3 * i, at + 3 * j, sizeof aside);
        memcpy(at + 3 * j, aside, sizeof aside);
    }
}

static void spoil(ulna_recording *r)
{
    static const char *const arm[] = {"LUPA", "LELB", "LFRM", "LWRA", "LWRB", "LFIN"};
    uint64_t state = 20240229;
    add_noise(r, &state);
    add_gaps(r, &state);
    swap_markers(r, "LKNE", "RKNE");
    for (size_t i = 0; i < sizeof arm / sizeof *arm; i++) {
        int marker = ulna_recording_find(r, arm[i]);
        if (marker != ULNA_NONE)
            hide(r, marker, limb.first, limb.last);
    }
    for (int m = 0; m < r->marker_count; m++)
        hide(r, m, nothing.first, nothing.last);
}

/* ==== the files =================================================================================================== */

enum { SKELETON, RECORDING, ATTACHMENT, TRUTH };

const sample_file sample_take_files[] = {
    [SKELETON] = {"human.asf", "the human as an Acclaim skeleton, for the take"},
    [RECORDING] = {"walk.c3d", "six seconds of 41 markers, damaged on purpose: gaps, exchanges"},
    [ATTACHMENT] = {"walk-markers.csv", "where the markers of the take are attached to human.asf"},
    [TRUTH] = {"walk-true.amc", "the true motion of the take"},
    {0},
};

/* Bones have the same frames in the ASF, and the same names but for the root. */
static ulna_status write_attachment(const ulna_model *human, ulna_text *text, ulna_error *error)
{
    ulna_text asf = ulna_text_empty(NULL);
    ulna_sink asf_sink = ulna_text_sink(&asf), sink = ulna_text_sink(text);
    ulna_content content = ulna_content_empty(NULL);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_status status = ulna_content_write(ULNA_FORMAT_ASF, human, NULL, NULL, NULL, &asf_sink, NULL, error);
    if (status == ULNA_OK)
        status = ulna_content_read(asf.data, asf.length, ULNA_FORMAT_ASF, NULL, &content, error);
    if (status == ULNA_OK && ulna_marker_set_from_model(&set, human))
        status = cli_no_memory(error);
    for (size_t i = 0; i < set.count && status == ULNA_OK; i++) {
        int bone = ulna_model_find_body(content.model, ulna_model_body_name(human, set.items[i].body));
        set.items[i].body = bone == ULNA_NONE ? 0 : bone;
    }
    if (status == ULNA_OK)
        status = ulna_marker_set_write_csv(&set, content.model, &sink, error);
    ulna_marker_set_release(&set);
    ulna_content_release(&content);
    ulna_text_release(&asf);
    return status;
}

static ulna_status write_part(int index, const ulna_model *human, ulna_text *text, ulna_error *error)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_sink sink = ulna_text_sink(text);
    ulna_format format = ulna_format_of_name(sample_take_files[index].name);
    const ulna_content no_file = ulna_content_empty(NULL);
    ulna_write_options options = ulna_write_options_for(&no_file, format);
    ulna_status status = index == RECORDING || index == TRUTH ? sample_take_motion(human, &clip, error) : ULNA_OK;
    if (status == ULNA_OK && index == RECORDING)
        status = files_markers_of(human, &clip, &recording, error);
    if (status == ULNA_OK && index == RECORDING)
        spoil(&recording);
    if (index == TRUTH)
        options.digits = 8;
    options.up = 'y';
    if (status == ULNA_OK)
        status = index == ATTACHMENT
                     ? write_attachment(human, text, error)
                     : ulna_content_write(format, human, &clip, &recording, &options, &sink, NULL, error);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    return status;
}

ulna_status sample_take_write(int index, ulna_text *text, ulna_error *error)
{
    ulna_model *human = NULL;
    ulna_status status = ulna_sample_create("human", NULL, &human, error);
    if (status == ULNA_OK)
        status = write_part(index, human, text, error);
    ulna_model_destroy(human);
    return status;
}

/* No other recording has the same 2006 gaps. FNV-1a of which positions are missing, frame by frame; a test says when the take changes. */
int sample_take_is(const ulna_recording *recording)
{
    const uint64_t gaps = 0xa13d6a76e249709fu, prime = 0x100000001b3u;
    uint64_t hash = 0xcbf29ce484222325u;
    if (recording->frame_count != SAMPLE_TAKE_FRAMES || ulna_recording_find(recording, "LKNE") == ULNA_NONE)
        return 0;
    for (size_t i = 0; i < (size_t)recording->frame_count * (size_t)recording->marker_count; i++)
        hash = (hash ^ (isnan(recording->positions[3 * i]) != 0)) * prime;
    return hash == gaps;
}
