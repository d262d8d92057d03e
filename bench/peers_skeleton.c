/*
 * The skeleton as peers see it: forward kinematics and Jacobian in a few plain loops, with no vector code of ours and no
 * checks. With T_i the frame of degree of freedom i (zero pose: identity),
 *
 *     T_i = T_parent(i) [rotation about axis i through origin i by q_i],     marker = T_last marker0,
 *     d marker / d q_i = (R a_i) x (marker - T o_i)   for a rotation,        R a_i   for a translation.
 *
 * Rotations about coordinate axes, the usual ones, need two columns only.
 */
#include "kinematics/pose.h"
#include "peers.h"
#include "ulna/kinematics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int take_dof(peer_dof *made, const ulna_pose *pose, int dof)
{
    const ulna_model *model = pose->model;
    made->parent = model->tree_parent[dof];
    made->body = ulna_model_dof_body(model, dof);
    made->slides = ulna_model_dof_is_translation(model, dof);
    made->coordinate_axis = -1;
    if (ulna_pose_dof_axis(pose, dof, made->axis, made->origin) != ULNA_OK ||
        ulna_model_dof_coordinate(model, dof) != dof)
        return 0;
    const double *a = made->axis;
    const double k1[9] = {0, a[2], -a[1], -a[2], 0, a[0], a[1], -a[0], 0};
    memcpy(made->k1, k1, sizeof k1);
    for (int c = 0; c < 3; c++) {
        for (int r = 0; r < 3; r++)
            made->k2[3 * c + r] = a[r] * a[c] - (r == c);
        if (fabs(a[c] - 1) < 1e-12)
            made->coordinate_axis = c;
    }
    return fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1) < 1e-12;
}

static int take_marker(peer_skeleton *s, const ulna_pose *pose, int marker, int body, const double local[3])
{
    const ulna_model *model = pose->model;
    int first, count = 0;
    ulna_pose_point(pose, body, local, s->marker[marker]);
    while (body >= 0 && (count = ulna_model_body_dofs(model, body, &first)) == 0)
        body = ulna_model_body_parent(model, body);
    s->marker_dof[marker] = body >= 0 ? first + count - 1 : -1;
    return body >= 0;
}

static int take_markers(peer_skeleton *s, const ulna_pose *pose, const ulna_marker_set *set)
{
    const ulna_model *model = pose->model;
    double local[3];
    int good = 1;
    for (int i = 0; good && i < s->markers; i++)
        if (set)
            good = take_marker(s, pose, i, set->items[i].body, set->items[i].offset) && set->items[i].weight == 1;
        else
            good = ulna_model_marker_position(model, i, local) == ULNA_OK &&
                   take_marker(s, pose, i, ulna_model_marker_body(model, i), local) &&
                   ulna_model_marker_weight(model, i) == 1;
    return good;
}

int peer_skeleton_open(const ulna_model *model, const ulna_marker_set *set, peer_skeleton *s)
{
    int nv = ulna_model_dof_count(model), markers = set ? (int)set->count : ulna_model_marker_count(model);
    size_t n = (size_t)nv, m = (size_t)markers;
    ulna_pose *pose = NULL;
    double *zero = calloc(n, sizeof *zero);
    *s = (peer_skeleton){.nv = nv,
                         .markers = markers,
                         .residuals = 3 * markers,
                         .dof = calloc(n, sizeof *s->dof),
                         .parent = calloc(n, sizeof *s->parent),
                         .slides = calloc(n, sizeof *s->slides),
                         .coordinate_axis = calloc(n, sizeof *s->coordinate_axis),
                         .origin = calloc(n, sizeof *s->origin),
                         .lower = calloc(n, sizeof *s->lower),
                         .upper = calloc(n, sizeof *s->upper),
                         .marker_dof = calloc(m, sizeof *s->marker_dof),
                         .marker = calloc(m, sizeof *s->marker),
                         .frame = calloc(n, sizeof *s->frame),
                         .q = calloc(n, sizeof *s->q)};
    int good = zero && s->dof && s->parent && s->slides && s->coordinate_axis && s->origin && s->lower && s->upper &&
               s->marker_dof && s->marker && s->frame && s->q && ulna_model_coordinate_count(model) == nv &&
               ulna_pose_create(model, NULL, &pose, NULL) == ULNA_OK && ulna_pose_forward(pose, zero) == ULNA_OK;
    for (int i = 0; good && i < nv; i++) {
        good = take_dof(&s->dof[i], pose, i);
        s->parent[i] = s->dof[i].parent;
        s->slides[i] = s->dof[i].slides;
        s->coordinate_axis[i] = s->dof[i].coordinate_axis;
        memcpy(s->origin[i], s->dof[i].origin, sizeof s->origin[i]);
        s->lower[i] = ulna_model_lower(model)[i];
        s->upper[i] = ulna_model_upper(model)[i];
    }
    good = good && take_markers(s, pose, set);
    ulna_pose_destroy(pose);
    free(zero);
    if (!good)
        peer_skeleton_close(s);
    return good;
}

void peer_skeleton_close(peer_skeleton *s)
{
    free(s->dof);
    free(s->parent);
    free(s->slides);
    free(s->coordinate_axis);
    free(s->origin);
    free(s->lower);
    free(s->upper);
    free(s->marker_dof);
    free(s->marker);
    free(s->frame);
    free(s->q);
    *s = (peer_skeleton){0};
}

/* p = R x + t, columns of R one after the other. */
static inline void apply(const double r[9], const double t[3], const double x[3], double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = r[k] * x[0] + r[3 + k] * x[1] + r[6 + k] * x[2] + t[k];
}

static const peer_frame world = {.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}};

/* at->r = up->r [rotation about the axis]. */
static void rotate(const peer_dof *dof, const peer_frame *up, double angle, peer_frame *at)
{
    double own[9], sine = sin(angle), versine = 1 - cos(angle);
    for (int k = 0; k < 9; k++)
        own[k] = sine * dof->k1[k] + versine * dof->k2[k] + (k % 4 == 0);
    for (int c = 0; c < 3; c++)
        apply(up->r, world.t, own + 3 * c, at->r + 3 * c);
}

void peer_forward(const peer_skeleton *s, const double *q)
{
    memcpy(s->q, q, (size_t)s->nv * sizeof *q);
    for (int i = 0; i < s->nv; i++) {
        const peer_frame *up = s->parent[i] < 0 ? &world : &s->frame[s->parent[i]];
        peer_frame *at = &s->frame[i];
        const int a = s->coordinate_axis[i], b = a == 2 ? 0 : a + 1, c = b == 2 ? 0 : b + 1;
        memcpy(at->r, up->r, sizeof at->r);
        if (a >= 0)
            memcpy(at->axis, up->r + 3 * a, sizeof at->axis);
        else
            apply(up->r, world.t, s->dof[i].axis, at->axis);
        if (s->slides[i]) {
            for (int k = 0; k < 3; k++)
                at->t[k] = up->t[k] + q[i] * at->axis[k];
            continue;
        }
        if (a >= 0) {
            double cosine = cos(q[i]), sine = sin(q[i]);
            for (int k = 0; k < 3; k++) {
                at->r[3 * b + k] = cosine * up->r[3 * b + k] + sine * up->r[3 * c + k];
                at->r[3 * c + k] = cosine * up->r[3 * c + k] - sine * up->r[3 * b + k];
            }
        } else
            rotate(&s->dof[i], up, q[i], at);
        double moved[3];
        apply(up->r, up->t, s->origin[i], at->origin);
        apply(at->r, world.t, s->origin[i], moved);
        for (int k = 0; k < 3; k++)
            at->t[k] = at->origin[k] - moved[k];
    }
}

void peer_marker(const peer_skeleton *s, int marker, double place[3])
{
    const peer_frame *at = &s->frame[s->marker_dof[marker]];
    apply(at->r, at->t, s->marker[marker], place);
}

/* d place / d q of a degree of freedom, into rows `stride` apart. */
static inline void put_column(const peer_skeleton *s, int dof, const double p[3], double *entry, int stride)
{
    const peer_frame *at = &s->frame[dof];
    const double *a = at->axis, x = p[0] - at->origin[0], y = p[1] - at->origin[1], z = p[2] - at->origin[2];
    const int slides = s->slides[dof];
    entry[0] = slides ? a[0] : a[1] * z - a[2] * y;
    entry[stride] = slides ? a[1] : a[2] * x - a[0] * z;
    entry[2 * stride] = slides ? a[2] : a[0] * y - a[1] * x;
}

void peer_column(const peer_skeleton *s, int dof, const double place[3], double *column, int stride)
{
    put_column(s, dof, place, column, stride);
}

static inline void spread(const peer_skeleton *s, int dof, const double p[3], double *rows, int row_stride,
                          int column_stride)
{
    for (; dof >= 0; dof = s->parent[dof])
        put_column(s, dof, p, rows + (ptrdiff_t)dof * column_stride, row_stride);
}

/* With v = 1 / (1 + r r / c^2) the cost is v r r / 2: the residual sqrt(v) r, its derivative sqrt(v) (1 - v / c^2 r rT) dr. */
void peer_apply_loss(const peer_skeleton *s, double r[3], double *factor, double *along)
{
    double inverse = 1 / (s->loss_scale * s->loss_scale),
           v = 1 / (1 + (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]) * inverse);
    *factor = sqrt(v);
    *along = inverse; /* v / c^2 of the r before, which is 1 / c^2 of the r after */
    for (int k = 0; k < 3; k++)
        r[k] *= *factor;
}

static void apply_loss(const peer_skeleton *s, int marker, double r[3], double *rows, int row_stride, int column_stride)
{
    double factor, along;
    peer_apply_loss(s, r, &factor, &along);
    for (int dof = rows ? s->marker_dof[marker] : -1; dof >= 0; dof = s->parent[dof]) {
        double *e = rows + (ptrdiff_t)dof * column_stride;
        double lost = along * (r[0] * e[0] + r[1] * e[row_stride] + r[2] * e[2 * row_stride]);
        for (int k = 0; k < 3; k++)
            e[k * row_stride] = factor * (e[k * row_stride] - lost * r[k]);
    }
}

void peer_residuals(const peer_skeleton *s, const double *goals, double *residuals, double *jacobian, int row_stride,
                    int column_stride)
{
    if (jacobian)
        memset(jacobian, 0, (size_t)s->nv * (size_t)s->residuals * sizeof *jacobian);
    for (int m = 0; m < s->markers; m++) {
        double p[3], *rows = jacobian ? jacobian + (ptrdiff_t)3 * m * row_stride : NULL;
        peer_marker(s, m, p);
        for (int k = 0; k < 3; k++)
            residuals[3 * m + k] = p[k] - goals[3 * m + k];
        if (rows)
            spread(s, s->marker_dof[m], p, rows, row_stride, column_stride);
        if (s->loss_scale > 0)
            apply_loss(s, m, residuals + 3 * m, rows, row_stride, column_stride);
    }
    for (int i = 0; i < s->nv && s->prior_weight; i++) {
        int row = 3 * s->markers + i;
        double root = sqrt(s->prior_weight[i]);
        residuals[row] = root * (s->q[i] - s->prior_goal[i]);
        if (jacobian)
            jacobian[(ptrdiff_t)row * row_stride + (ptrdiff_t)i * column_stride] = root;
    }
}

double peer_errors(const peer_skeleton *s, const double *goals, double *sum)
{
    double f = 0, distances = 0, inverse = s->loss_scale > 0 ? 1 / (s->loss_scale * s->loss_scale) : 0;
    for (int m = 0; m < s->markers; m++) {
        double p[3], square = 0;
        peer_marker(s, m, p);
        for (int k = 0; k < 3; k++)
            square += (p[k] - goals[3 * m + k]) * (p[k] - goals[3 * m + k]);
        f += 0.5 * square / (1 + square * inverse);
        distances += sqrt(square);
    }
    for (int i = 0; i < s->nv && s->prior_weight; i++)
        f += 0.5 * s->prior_weight[i] * (s->q[i] - s->prior_goal[i]) * (s->q[i] - s->prior_goal[i]);
    if (sum)
        *sum = distances;
    return f;
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
    for (int i = s->nv - 1; i >= 0; i--) {
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
