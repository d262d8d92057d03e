/*
 * The skeleton as peers see it: forward kinematics and Jacobian in a few plain loops, with no vector code of ours, no
 * checks, and rotations about coordinate axes only. With T_i the frame of degree of freedom i (zero pose: identity),
 *
 *     T_i = T_parent(i) [turn about axis i through origin i by q_i],     marker = T_last marker0,
 *     d marker / d q_i = (R a_i) x (marker - T o_i)   for a turn,         R a_i   for a slide.
 */
#include "peers.h"
#include "ulna/kinematics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int take_dof(peer_skeleton *s, const ulna_pose *pose, int dof)
{
    const ulna_model *model = ulna_pose_model(pose);
    double axis[3];
    s->parent[dof] = ulna_model_dof_parent(model, dof);
    s->slides[dof] = ulna_model_dof_is_translation(model, dof);
    s->lower[dof] = ulna_model_lower(model)[dof];
    s->upper[dof] = ulna_model_upper(model)[dof];
    if (ulna_pose_dof_axis(pose, dof, axis, s->origin[dof]) != ULNA_OK || ulna_model_dof_coordinate(model, dof) != dof)
        return 0;
    for (int k = 0; k < 3; k++)
        if (fabs(axis[k] - 1) < 1e-12) {
            s->axis[dof] = k;
            return 1;
        }
    return 0;
}

static int take_marker(peer_skeleton *s, const ulna_pose *pose, int marker)
{
    const ulna_model *model = ulna_pose_model(pose);
    double local[3];
    int body = ulna_model_marker_body(model, marker), first, count = 0;
    ulna_model_marker_position(model, marker, local);
    ulna_pose_point(pose, body, local, s->marker[marker]);
    while (body >= 0 && (count = ulna_model_body_dofs(model, body, &first)) == 0)
        body = ulna_model_body_parent(model, body);
    s->marker_dof[marker] = body >= 0 ? first + count - 1 : -1;
    return body >= 0 && ulna_model_marker_weight(model, marker) == 1;
}

int peer_skeleton_open(const ulna_model *model, peer_skeleton *s)
{
    int nv = ulna_model_dof_count(model), markers = ulna_model_marker_count(model);
    size_t n = (size_t)nv, m = (size_t)markers;
    ulna_pose *pose = NULL;
    double *zero = calloc(n, sizeof *zero);
    *s = (peer_skeleton){.nv = nv,
                         .markers = markers,
                         .residuals = 3 * markers,
                         .parent = calloc(n, sizeof *s->parent),
                         .axis = calloc(n, sizeof *s->axis),
                         .slides = calloc(n, sizeof *s->slides),
                         .origin = calloc(n, sizeof *s->origin),
                         .marker_dof = calloc(m, sizeof *s->marker_dof),
                         .marker = calloc(m, sizeof *s->marker),
                         .lower = calloc(n, sizeof *s->lower),
                         .upper = calloc(n, sizeof *s->upper),
                         .frame = calloc(n, sizeof *s->frame)};
    int good = zero && s->parent && s->axis && s->slides && s->origin && s->marker_dof && s->marker && s->lower &&
               s->upper && s->frame && ulna_model_coordinate_count(model) == nv &&
               ulna_pose_create(model, NULL, &pose, NULL) == ULNA_OK && ulna_pose_forward(pose, zero) == ULNA_OK;
    for (int i = 0; good && i < nv; i++)
        good = take_dof(s, pose, i);
    for (int i = 0; good && i < markers; i++)
        good = take_marker(s, pose, i);
    ulna_pose_destroy(pose);
    free(zero);
    if (!good)
        peer_skeleton_close(s);
    return good;
}

void peer_skeleton_close(peer_skeleton *s)
{
    free(s->parent);
    free(s->axis);
    free(s->slides);
    free(s->origin);
    free(s->marker_dof);
    free(s->marker);
    free(s->lower);
    free(s->upper);
    free(s->frame);
    *s = (peer_skeleton){0};
}

/* p = R x + t, columns of R one after the other. */
static inline void apply(const double r[9], const double t[3], const double x[3], double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = r[k] * x[0] + r[3 + k] * x[1] + r[6 + k] * x[2] + t[k];
}

void peer_forward(const peer_skeleton *s, const double *q)
{
    static const peer_frame world = {.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0; i < s->nv; i++) {
        const peer_frame *up = s->parent[i] < 0 ? &world : &s->frame[s->parent[i]];
        peer_frame *at = &s->frame[i];
        const int a = s->axis[i], b = a == 2 ? 0 : a + 1, c = b == 2 ? 0 : b + 1;
        memcpy(at->r, up->r, sizeof at->r);
        memcpy(at->axis, up->r + 3 * a, sizeof at->axis);
        if (s->slides[i]) {
            for (int k = 0; k < 3; k++)
                at->t[k] = up->t[k] + q[i] * at->axis[k];
            continue;
        }
        double turned[3], cosine = cos(q[i]), sine = sin(q[i]);
        for (int k = 0; k < 3; k++) {
            at->r[3 * b + k] = cosine * up->r[3 * b + k] + sine * up->r[3 * c + k];
            at->r[3 * c + k] = cosine * up->r[3 * c + k] - sine * up->r[3 * b + k];
        }
        apply(up->r, up->t, s->origin[i], at->origin);
        apply(at->r, world.t, s->origin[i], turned);
        for (int k = 0; k < 3; k++)
            at->t[k] = at->origin[k] - turned[k];
    }
}

void peer_marker(const peer_skeleton *s, int marker, double place[3])
{
    const peer_frame *at = &s->frame[s->marker_dof[marker]];
    apply(at->r, at->t, s->marker[marker], place);
}

static inline void spread(const peer_skeleton *s, int dof, const double p[3], double *rows, int row_stride,
                          int column_stride)
{
    for (; dof >= 0; dof = s->parent[dof]) {
        const peer_frame *at = &s->frame[dof];
        double *entry = rows + (ptrdiff_t)dof * column_stride;
        const double *a = at->axis, x = p[0] - at->origin[0], y = p[1] - at->origin[1], z = p[2] - at->origin[2];
        const int slides = s->slides[dof];
        entry[0] = slides ? a[0] : a[1] * z - a[2] * y;
        entry[row_stride] = slides ? a[1] : a[2] * x - a[0] * z;
        entry[2 * row_stride] = slides ? a[2] : a[0] * y - a[1] * x;
    }
}

void peer_residuals(const peer_skeleton *s, const double *goals, double *residuals, double *jacobian, int row_stride,
                    int column_stride)
{
    if (jacobian)
        memset(jacobian, 0, (size_t)s->nv * (size_t)s->residuals * sizeof *jacobian);
    for (int m = 0; m < s->markers; m++) {
        double p[3];
        peer_marker(s, m, p);
        for (int k = 0; k < 3; k++)
            residuals[3 * m + k] = p[k] - goals[3 * m + k];
        if (jacobian)
            spread(s, s->marker_dof[m], p, jacobian + (ptrdiff_t)3 * m * row_stride, row_stride, column_stride);
    }
}

static inline void add_cross(const double a[3], const double b[3], double sum[3])
{
    sum[0] += a[1] * b[2] - a[2] * b[1];
    sum[1] += a[2] * b[0] - a[0] * b[2];
    sum[2] += a[0] * b[1] - a[1] * b[0];
}

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

double peer_gradient(const peer_skeleton *s, const double *goals, double *gradient)
{
    double f = 0;
    for (int i = 0; i < s->nv; i++)
        for (int k = 0; k < 3; k++)
            s->frame[i].force[k] = s->frame[i].torque[k] = 0;
    for (int m = 0; m < s->markers; m++) {
        peer_frame *at = &s->frame[s->marker_dof[m]];
        double p[3], r[3];
        peer_marker(s, m, p);
        for (int k = 0; k < 3; k++) {
            r[k] = p[k] - goals[3 * m + k];
            at->force[k] += r[k];
        }
        add_cross(p, r, at->torque);
        f += 0.5 * dot(r, r);
    }
    for (int i = s->nv - 1; gradient && i >= 0; i--) {
        peer_frame *at = &s->frame[i];
        double moment[3] = {0};
        add_cross(at->force, at->origin, moment);
        gradient[i] = s->slides[i] ? dot(at->axis, at->force) : dot(at->axis, at->torque) + dot(at->axis, moment);
        for (int k = 0; k < 3 && s->parent[i] >= 0; k++) {
            s->frame[s->parent[i]].force[k] += at->force[k];
            s->frame[s->parent[i]].torque[k] += at->torque[k];
        }
    }
    return f;
}
