/* How true the poses of a tracked take are: see the header. */
#include "poses_measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "math/math3.h"
#include "model/model.h"
#include "ulna/kinematics.h"

#define DEGREES (180 / ULNA_PI)
#define TOLERATED (5 / DEGREES)
#define NEAR 0.06 /* m */

enum { EVERY = 4 /* frames, against the reference */ };

/* Bodies and frames of a motion. */
typedef struct places {
    int nb, frames;
    double *rotation, *position; /* frames x nb x 9, x 3 */
} places;

static int places_open(const ulna_model *model, const ulna_clip *clip, places *p)
{
    size_t count = (size_t)clip->frame_count * (size_t)model->nb;
    ulna_pose *pose = NULL;
    *p = (places){model->nb, clip->frame_count, calloc(count, 9 * sizeof(double)), calloc(count, 3 * sizeof(double))};
    if (!p->rotation || !p->position || ulna_pose_create(model, NULL, &pose, NULL) != ULNA_OK)
        return 0;
    for (int f = 0; f < clip->frame_count; f++) {
        ulna_pose_forward(pose, ulna_clip_frame(clip, f));
        for (int b = 0; b < model->nb; b++) {
            size_t at = (size_t)f * (size_t)model->nb + (size_t)b;
            ulna_pose_body(pose, b, p->position + 3 * at, p->rotation + 9 * at);
        }
    }
    ulna_pose_destroy(pose);
    return 1;
}

static void places_close(places *p)
{
    free(p->rotation);
    free(p->position);
}

static const double *rotation_at(const places *p, int frame, int body)
{
    return p->rotation + 9 * ((size_t)frame * (size_t)p->nb + (size_t)body);
}

static const double *position_at(const places *p, int frame, int body)
{
    return p->position + 3 * ((size_t)frame * (size_t)p->nb + (size_t)body);
}

/* aT b */
static void between(const double a[9], const double b[9], double c[9])
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] = a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j];
}

/* The rotation vector of R; its length is the angle. */
static double rotation_vector(const double R[9], double w[3])
{
    const double v[3] = {R[7] - R[5], R[2] - R[6], R[3] - R[1]};
    double size = ulna_norm(v), angle = atan2(size, R[0] + R[4] + R[8] - 1);
    for (int k = 0; k < 3; k++)
        w[k] = size > 1e-12 ? angle * v[k] / size : v[k] / 2;
    return angle;
}

/* A joint counts if it has DOFs and a marker beyond it. */
static void find_shown(const ulna_take *take, unsigned char *is_shown)
{
    const ulna_body *body = take->model->body;
    for (size_t i = 0; i < take->set.count; i++)
        for (int b = take->set.items[i].body; b >= 0; b = body[b].parent)
            is_shown[b] = body[b].dof_count > 0;
}

static void measure_markers(const ulna_take *take, const ulna_track_result *result, poses_figures *to)
{
    double squares = 0, near_squares = 0;
    long long n = 0, near = 0;
    for (int f = 0; f < take->frame_count; f++) {
        double frame_squares = 0;
        int seen = 0;
        for (size_t i = 0; i < take->set.count; i++) {
            double distance = result->distances[(size_t)f * take->set.count + i];
            if (isnan(distance))
                continue;
            frame_squares += distance * distance;
            near_squares += distance < NEAR ? distance * distance : 0;
            near += distance < NEAR;
            to->sum_cm += 100 * distance / take->frame_count;
            seen++;
        }
        squares += frame_squares;
        n += seen;
        to->rms_frames_cm += seen ? 100 * sqrt(frame_squares / seen) / take->frame_count : 0;
    }
    to->rms_cm = 100 * sqrt(squares / (double)n);
    to->rms_near_cm = 100 * sqrt(near_squares / (double)near);
}

static void measure_motion(const ulna_model *model, const places *p, const unsigned char *is_shown, poses_figures *to)
{
    double squares = 0;
    long long n = 0;
    for (int b = 0; b < model->nb; b++) {
        int parent = model->body[b].parent;
        double last[9], w[3][3] = {{0}};
        for (int f = 0; f < p->frames && is_shown[b]; f++) {
            double now[9], by[9];
            if (parent >= 0)
                between(rotation_at(p, f, parent), rotation_at(p, f, b), now);
            else
                memcpy(now, rotation_at(p, f, b), sizeof now);
            if (f) {
                between(last, now, by);
                memmove(w[0], w[1], 2 * sizeof w[0]);
                double angle = DEGREES * rotation_vector(by, w[2]);
                to->jumps15 += angle > 15;
                to->jumps30 += angle > 30;
            }
            for (int k = 0; k < 3 && f >= 3; k++) {
                double jerk = w[2][k] - 2 * w[1][k] + w[0][k];
                squares += jerk * jerk;
            }
            n += f >= 3;
            memcpy(last, now, sizeof last);
        }
    }
    to->jerk = n ? DEGREES * sqrt(squares / (double)n) : 0;
}

static void measure_limits(const ulna_model *model, const ulna_clip *clip, const unsigned char *is_shown,
                           poses_figures *to)
{
    long long out = 0, all = 0;
    for (int d = 0; d < model->nv; d++) {
        int c = model->dof_coordinate[d], body = model->dof_body[d];
        if (c < 0 || body == 0 || !is_shown[body] || ulna_segment_is_translation(model->dof_segment[d]) ||
            (isinf(model->lower[d]) && isinf(model->upper[d])))
            continue;
        for (int f = 0; f < clip->frame_count; f++) {
            double x = remainder(ulna_clip_frame(clip, f)[c], 2 * ULNA_PI);
            out += x < model->lower[d] - TOLERATED || x > model->upper[d] + TOLERATED;
            all++;
        }
    }
    to->limits_percent = all ? 100.0 * (double)out / (double)all : (double)NAN;
}

static void measure_against(const places *p, const places *truth, const unsigned char *is_shown, poses_figures *to)
{
    int bones = 0;
    double squares = 0, all = 0;
    to->orientation_deg = to->position_mm = 0;
    for (int b = 0; b < p->nb; b++) {
        double sum[9] = {0}, by[9], w[3], away = 0;
        int n = 0;
        for (int f = 0; f < p->frames && f < truth->frames && is_shown[b]; f += EVERY, n++) {
            double d[3];
            between(rotation_at(truth, f, b), rotation_at(p, f, b), by);
            for (int k = 0; k < 9; k++)
                sum[k] += by[k];
            for (int k = 0; k < 3; k++)
                d[k] = position_at(truth, f, b)[k] - position_at(p, f, b)[k];
            away += ulna_norm(d);
        }
        if (!n)
            continue;
        for (int k = 0; k < 9; k++)
            sum[k] /= n;
        ulna_orthonormalise(sum);
        to->orientation_deg += DEGREES * rotation_vector(sum, w);
        to->position_mm += 1e3 * away / n;
        bones++;
        for (int f = 0; f < p->frames && f < truth->frames; f += EVERY) {
            double left[9];
            between(rotation_at(truth, f, b), rotation_at(p, f, b), by);
            between(sum, by, left);
            double angle = rotation_vector(left, w);
            squares += angle * angle;
            all++;
        }
    }
    to->orientation_deg /= bones;
    to->position_mm /= bones;
    to->orientation_rest_deg = DEGREES * sqrt(squares / all);
}

/* Of markers that sit on the midline, by their names: how far from it they are attached. */
static void measure_midline(const ulna_take *take, poses_figures *to)
{
    static const char *const names[] = {"C7", "T10", "CLAV", "STRN"};
    double left[3] = {0};
    ulna_pose *rest = NULL;
    to->midline_mm = (double)NAN;
    if (ulna_pose_create(take->model, NULL, &rest, NULL) != ULNA_OK)
        return;
    ulna_pose_forward(rest, take->model->rest);
    const char *const pairs[][2] = {{"lfemur", "rfemur"}, {"LeftUpLeg", "RightUpLeg"}, {"left_thigh", "right_thigh"}};
    double a[3], b[3], origin[3] = {0};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        int l = ulna_model_find_body(take->model, pairs[i][0]), r = ulna_model_find_body(take->model, pairs[i][1]);
        if (l < 0 || r < 0)
            continue;
        ulna_pose_body(rest, l, a, NULL);
        ulna_pose_body(rest, r, b, NULL);
        for (int k = 0; k < 3; k++) {
            left[k] = a[k] - b[k];
            origin[k] = (a[k] + b[k]) / 2;
        }
    }
    double size = ulna_norm(left);
    for (size_t i = 0; i < take->set.count && size > 0; i++) {
        const ulna_attachment *item = &take->set.items[i];
        const char *colon = strrchr(item->marker, ':'), *name = colon ? colon + 1 : item->marker;
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            double p[3], off = 0;
            if (strcmp(name, names[k]) != 0)
                continue;
            ulna_pose_point(rest, item->body, item->offset, p);
            for (int c = 0; c < 3; c++)
                off += (p[c] - origin[c]) * left[c] / size;
            to->midline_mm = fmax(to->midline_mm, 1e3 * fabs(off)); /* fmax leaves out the NaN of the beginning */
        }
    }
    ulna_pose_destroy(rest);
}

int poses_measure(const ulna_take *take, const ulna_track_result *result, const ulna_clip *reference,
                  poses_figures *figures)
{
    unsigned char *is_shown = calloc((size_t)take->model->nb, 1);
    places p = {0}, truth = {0};
    *figures = (poses_figures){
        .orientation_deg = (double)NAN, .orientation_rest_deg = (double)NAN, .position_mm = (double)NAN};
    int ready = is_shown && places_open(take->model, &result->clip, &p) &&
                (!reference || places_open(take->model, reference, &truth));
    if (ready) {
        find_shown(take, is_shown);
        measure_markers(take, result, figures);
        measure_motion(take->model, &p, is_shown, figures);
        measure_limits(take->model, &result->clip, is_shown, figures);
        measure_midline(take, figures);
        if (reference)
            measure_against(&p, &truth, is_shown, figures);
    }
    places_close(&p);
    places_close(&truth);
    free(is_shown);
    return ready;
}
