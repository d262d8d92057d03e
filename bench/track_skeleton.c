/*
 * The skeleton as peers of bench_track see it. With T_i the frame of degree of freedom i (zero pose: identity),
 *
 *     T_i = T_parent(i) [turn about axis i through origin i by q_i],     marker = T_last marker0,
 *     d marker / d q_i = (R a_i) x (marker - T o_i)   for a turn,         R a_i   for a slide.
 */
#include "track_skeleton.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int take_dof(track_dof *made, const ulna_pose *pose, int dof)
{
    const ulna_model *model = ulna_pose_model(pose);
    made->parent = ulna_model_dof_parent(model, dof);
    made->body = ulna_model_dof_body(model, dof);
    made->slides = ulna_model_dof_is_translation(model, dof);
    if (ulna_pose_dof_axis(pose, dof, made->axis, made->origin) != ULNA_OK ||
        ulna_model_dof_coordinate(model, dof) != dof)
        return 0;
    const double *a = made->axis;
    const double k1[9] = {0, a[2], -a[1], -a[2], 0, a[0], a[1], -a[0], 0};
    memcpy(made->k1, k1, sizeof k1);
    for (int c = 0; c < 3; c++)
        for (int r = 0; r < 3; r++)
            made->k2[3 * c + r] = a[r] * a[c] - (r == c);
    return fabs(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] - 1) < 1e-12;
}

static int take_marker(track_skeleton *s, const ulna_pose *pose, const ulna_attachment *item, int marker)
{
    const ulna_model *model = ulna_pose_model(pose);
    int body = item->body, first, count = 0;
    ulna_pose_point(pose, body, item->offset, s->marker[marker]);
    while (body >= 0 && (count = ulna_model_body_dofs(model, body, &first)) == 0)
        body = ulna_model_body_parent(model, body);
    s->marker_dof[marker] = body >= 0 ? first + count - 1 : -1;
    return body >= 0 && item->weight == 1;
}

int track_skeleton_open(const ulna_model *model, const ulna_marker_set *set, track_skeleton *s)
{
    int nv = ulna_model_dof_count(model), markers = (int)set->count;
    ulna_pose *pose = NULL;
    double *zero = calloc((size_t)nv, sizeof *zero);
    *s = (track_skeleton){.nv = nv,
                          .markers = markers,
                          .dof = calloc((size_t)nv, sizeof *s->dof),
                          .marker_dof = calloc(set->count, sizeof *s->marker_dof),
                          .marker = calloc(set->count, sizeof *s->marker),
                          .frame = calloc((size_t)nv, sizeof *s->frame)};
    int good = zero && s->dof && s->marker_dof && s->marker && s->frame && ulna_model_coordinate_count(model) == nv &&
               ulna_pose_create(model, NULL, &pose, NULL) == ULNA_OK && ulna_pose_forward(pose, zero) == ULNA_OK;
    for (int i = 0; good && i < nv; i++)
        good = take_dof(&s->dof[i], pose, i);
    for (int i = 0; good && i < markers; i++)
        good = take_marker(s, pose, &set->items[i], i);
    ulna_pose_destroy(pose);
    free(zero);
    if (!good)
        track_skeleton_close(s);
    return good;
}

void track_skeleton_close(track_skeleton *s)
{
    free(s->dof);
    free(s->marker_dof);
    free(s->marker);
    free(s->frame);
    *s = (track_skeleton){0};
}

/* p = R x, columns of R one after the other. */
static inline void turn(const double r[9], const double x[3], double p[3])
{
    for (int k = 0; k < 3; k++)
        p[k] = r[k] * x[0] + r[3 + k] * x[1] + r[6 + k] * x[2];
}

void track_forward(const track_skeleton *s, const double *q)
{
    static const track_frame world = {.r = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0; i < s->nv; i++) {
        const track_dof *dof = &s->dof[i];
        const track_frame *up = dof->parent < 0 ? &world : &s->frame[dof->parent];
        track_frame *at = &s->frame[i];
        turn(up->r, dof->axis, at->axis);
        if (dof->slides) {
            memcpy(at->r, up->r, sizeof at->r);
            for (int k = 0; k < 3; k++)
                at->t[k] = up->t[k] + q[i] * at->axis[k];
            continue;
        }
        double own[9], from[3], to[3], sine = sin(q[i]), versine = 1 - cos(q[i]);
        for (int k = 0; k < 9; k++)
            own[k] = sine * dof->k1[k] + versine * dof->k2[k] + (k % 4 == 0);
        for (int c = 0; c < 3; c++)
            turn(up->r, own + 3 * c, at->r + 3 * c);
        turn(up->r, dof->origin, from);
        turn(at->r, dof->origin, to);
        for (int k = 0; k < 3; k++) {
            at->origin[k] = from[k] + up->t[k];
            at->t[k] = at->origin[k] - to[k];
        }
    }
}

void track_marker(const track_skeleton *s, int marker, double place[3])
{
    const track_frame *at = &s->frame[s->marker_dof[marker]];
    turn(at->r, s->marker[marker], place);
    for (int k = 0; k < 3; k++)
        place[k] += at->t[k];
}

void track_column(const track_frame *at, int slides, const double place[3], double column[3])
{
    const double *a = at->axis, x = place[0] - at->origin[0], y = place[1] - at->origin[1],
                 z = place[2] - at->origin[2];
    column[0] = slides ? a[0] : a[1] * z - a[2] * y;
    column[1] = slides ? a[1] : a[2] * x - a[0] * z;
    column[2] = slides ? a[2] : a[0] * y - a[1] * x;
}

void track_residuals(const track_skeleton *s, const double *goals, double *residuals, double *jacobian)
{
    const ptrdiff_t n = s->nv;
    if (jacobian)
        memset(jacobian, 0, (size_t)(3 * n * s->markers) * sizeof *jacobian);
    for (int m = 0; m < s->markers; m++) {
        double p[3], column[3];
        track_marker(s, m, p);
        for (int k = 0; k < 3; k++)
            residuals[3 * m + k] = p[k] - goals[3 * m + k];
        for (int i = s->marker_dof[m]; jacobian && i >= 0; i = s->dof[i].parent) {
            track_column(&s->frame[i], s->dof[i].slides, p, column);
            for (int k = 0; k < 3; k++)
                jacobian[(3 * m + k) * n + i] = column[k];
        }
    }
}

double track_errors(const track_skeleton *s, const double *goals, double *sum)
{
    double f = 0, distances = 0;
    for (int m = 0; m < s->markers; m++) {
        double p[3], square = 0;
        track_marker(s, m, p);
        for (int k = 0; k < 3; k++)
            square += (p[k] - goals[3 * m + k]) * (p[k] - goals[3 * m + k]);
        f += 0.5 * square;
        distances += sqrt(square);
    }
    if (sum)
        *sum = distances;
    return f;
}
