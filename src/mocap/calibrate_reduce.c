/*
 * The reduced problem: what the key frames say about offsets and scales once every pose has followed.
 *
 * Source: variable projection (Golub & Pereyra 1973) by elimination, as in bundle adjustment. Per frame, with the
 * Gauss-Newton matrix of pose and unknowns
 *     [ H   W ] [dq]     [g]          H = LT D L on the tree, posture included
 *     [ WT  V ] [dz] = - [h]
 *     S = V - WT H^-1 W = V - sum_d x_d x_dT / D_d,   reduced gradient = h - sum_d x_d y_d / D_d,   (x, y) = L^-T (W, g)
 *
 *   W_d,i     force of DOF d on the offset of marker i: w S_d . (p x R, R), R the axes of its body, p its place
 *   W_d,b     on scale b: S_d . sum over markers of w (p x u, u), u the motion of the marker's body per unit of the scale
 *   x_d       row d; zero but for markers that d moves, which are neighbours in the order of the markers
 *
 * Rows of a body's DOFs are stacked over frames in a panel with the gradient in front; a full panel is multiplied with its
 * transpose into a square of its own, and the squares are gathered at the end. A scale s of a bone means (1 + s) times its
 * length in the skeleton that was given.
 */
#include <math.h>

#include "math/math3.h"
#include "mocap/calibrator.h"

#define SMALL_SHIFT 1e-13 /* m^2/rad^2: keeps pivots of DOFs that nothing holds above zero */

/* ---- one frame: V, h and W --------------------------------------------------------------------------------------------- */

static void add(double *matrix, int n, int i, int j, double x)
{
    if (i >= j)
        matrix[(size_t)i + (size_t)n * (size_t)j] += x;
    else
        matrix[(size_t)j + (size_t)n * (size_t)i] += x;
}

static double *drift_of(const ulna_calibrator *c, int group, int body)
{
    return c->drift + 3 * ((size_t)group * (size_t)c->nb + (size_t)body);
}

/* Most scales move one limb only. */
static int is_zero(const double x[3])
{
    return x[0] == 0 && x[1] == 0 && x[2] == 0;
}

/* Forces on the offsets of one marker along the path of its body. */
static void offset_columns(ulna_calibrator *c, const ulna_pose *pose, int i, double w, const double p[3])
{
    const double *R = c->rotation + 9 * (size_t)c->body[i];
    const ulna_model *model = c->problem->model;
    const ulna_link *link = &model->link[model->body[c->body[i]].link];
    double wrench[3][6];
    for (int k = 0; k < 3; k++) {
        double axis[3] = {w * R[k], w * R[3 + k], w * R[6 + k]};
        ulna_cross(p, axis, wrench[k]);
        ulna_copy3(axis, wrench[k] + 3);
    }
    /* The last DOF of the nearest link that has some: its path holds all DOFs that move the marker. */
    while (!link->dof_count && link->parent >= 0)
        link = &model->link[link->parent];
    if (!link->dof_count)
        return;
    int last = link->dof + link->dof_count - 1, depth = model->tree.depth[last];
    const int *path = model->tree.path[last];
    for (int u = 0; u < depth; u++) {
        const double *S = (const double *)(pose->motion + 2 * (size_t)path[u]);
        double *to = c->W + (size_t)path[u] * c->stride + 1 + c->groups + 3 * i;
        for (int k = 0; k < 3; k++)
            to[k] = ulna_dot(S, wrench[k]) + ulna_dot(S + 4, wrench[k] + 3);
    }
}

/* Bones as the given skeleton has them, in the world. */
static void world_bone(const ulna_calibrator *c, int body, double bone[3])
{
    const ulna_body *b = &c->base->body[body];
    const double *local = ulna_body_bone(c->base, body);
    double turned[3];
    if (c->base->joint[body].reversed) {
        ulna_unrotate(b->offset_rotation, local, turned);
        ulna_rotate(c->rotation + 9 * (size_t)body, turned, bone);
    } else {
        ulna_rotate(c->rotation + 9 * (size_t)b->parent, local, bone);
    }
}

static void find_drifts(ulna_calibrator *c)
{
    for (int b = 1; b < c->nb; b++) {
        double bone[3] = {0};
        if (c->group[b] >= 0)
            world_bone(c, b, bone);
        for (int g = 0; g < c->groups; g++)
            for (int k = 0; k < 3; k++)
                drift_of(c, g, b)[k] = drift_of(c, g, c->base->body[b].parent)[k] + (c->group[b] == g ? bone[k] : 0);
    }
}

/* Forces of one scale on the DOFs, and its part of V and h. */
static void scale_column(ulna_calibrator *c, const ulna_pose *pose, int g)
{
    const ulna_model *model = c->problem->model;
    memset(c->wrench, 0, 6 * (size_t)c->nb * sizeof *c->wrench);
    for (int b = c->nb - 1; b >= 0; b--) {
        const double *u = drift_of(c, g, b), *mass = c->mass + 7 * (size_t)b;
        double *wrench = c->wrench + 6 * (size_t)b, turn[3];
        if (mass[0] > 0 && !is_zero(u)) {
            ulna_cross(mass + 1, u, turn);
            for (int k = 0; k < 3; k++) {
                wrench[k] += turn[k];
                wrench[3 + k] += mass[0] * u[k];
            }
            c->gradient[g] -= ulna_dot(u, mass + 4);
            for (int other = 0; other <= g; other++)
                add(c->matrix, c->nz, g, other, mass[0] * ulna_dot(u, drift_of(c, other, b)));
        }
        for (int k = 0; k < 6 && b; k++)
            c->wrench[6 * (size_t)model->body[b].parent + (size_t)k] += wrench[k];
    }
    for (int d = 0; d < c->nv; d++) {
        const double *S = (const double *)(pose->motion + 2 * (size_t)d);
        const double *wrench = c->wrench + 6 * (size_t)model->dof_body[d];
        c->W[(size_t)d * c->stride + 1 + (size_t)g] = ulna_dot(S, wrench) + ulna_dot(S + 4, wrench + 3);
    }
}

static void add_marker(ulna_calibrator *c, const ulna_pose *pose, int i, double w)
{
    const double *R = c->rotation + 9 * (size_t)c->body[i];
    double *mass = c->mass + 7 * (size_t)c->body[i], p[3], r[3], local[3];
    int at = c->groups + 3 * i;
    ulna_key_residual(c, i, p, r);
    ulna_unrotate(R, r, local);
    offset_columns(c, pose, i, w, p);
    mass[0] += w;
    for (int k = 0; k < 3; k++) {
        mass[1 + k] += w * p[k];
        mass[4 + k] += w * r[k];
        c->gradient[at + k] -= w * local[k];
        add(c->matrix, c->nz, at + k, at + k, w);
    }
    for (int g = 0; g < c->groups; g++) {
        if (is_zero(drift_of(c, g, c->body[i])))
            continue;
        ulna_unrotate(R, drift_of(c, g, c->body[i]), local);
        for (int k = 0; k < 3; k++)
            add(c->matrix, c->nz, at + k, g, w * local[k]);
    }
}

/* ---- panels -------------------------------------------------------------------------------------------------------------- */

static void flush(ulna_calibrator *c, int body)
{
    c->kernel->square(c->panel_rows[body], c->panel_width[body], c->panel[body], c->square[body]);
    c->panel_rows[body] = 0;
}

static void stack(ulna_calibrator *c)
{
    int common = 1 + c->groups;
    for (int b = 0; b < c->nb; b++) {
        const ulna_body *body = &c->base->body[b];
        if (!body->dof_count)
            continue;
        if (c->panel_rows[b] + body->dof_count > ULNA_PANEL_ROWS)
            flush(c, b);
        for (int d = body->dof; d < body->dof + body->dof_count; d++) {
            double root = sqrt(fmax(c->pivot[d], 0));
            double *to = c->panel[b] + (size_t)c->panel_rows[b]++ * (size_t)c->panel_width[b];
            const double *from = c->W + (size_t)d * c->stride;
            for (int k = 0; k < common; k++)
                to[k] = root * from[k];
            for (int k = c->first[d]; k < c->last[d]; k++)
                to[common + k - c->first[d]] = root * from[k];
        }
    }
}

/* The squares of all panels off the matrix and the gradient. */
static void gather_squares(ulna_calibrator *c)
{
    int common = 1 + c->groups;
    for (int b = 0; b < c->nb; b++) {
        const ulna_body *body = &c->base->body[b];
        if (!body->dof_count)
            continue;
        flush(c, b);
        int first = c->first[body->dof], used = common + c->last[body->dof] - first, width = c->panel_width[b];
        for (int i = 1; i < used; i++) {
            const double *row = c->square[b] + (size_t)i * (size_t)width;
            int zi = i < common ? i - 1 : first + i - common - 1;
            c->gradient[zi] -= row[0];
            for (int j = 1; j <= i; j++)
                c->matrix[(size_t)zi + (size_t)c->nz * (size_t)(j < common ? j - 1 : first + j - common - 1)] -= row[j];
        }
    }
}

/* ---- all frames ------------------------------------------------------------------------------------------------------------ */

static ulna_status reduce_key(ulna_calibrator *c, int k)
{
    ulna_work *work = ulna_solver_work(c->solver);
    const ulna_tree *tree = &c->problem->model->tree;
    double f;
    ulna_key_place(c, k);
    ulna_status status = ulna_evaluate(work, ulna_key_q(c, k), &f);
    if (status == ULNA_OK)
        status = ulna_hessian(work, 0, c->slope, c->rows, NULL);
    if (status == ULNA_OK)
        status = ulna_ltdl_factor(tree, c->rows, c->shift, NULL, ULNA_LTDL_ANY, c->lower, c->pivot, NULL);
    if (status != ULNA_OK && status != ULNA_ERR_SINGULAR)
        return status;
    for (int d = 0; d < c->nv; d++) {
        memset(c->W + (size_t)d * c->stride, 0, c->stride * sizeof *c->W);
        c->W[(size_t)d * c->stride] = c->slope[d];
    }
    memset(c->mass, 0, 7 * (size_t)c->nb * sizeof *c->mass);
    for (int b = 0; b < c->nb; b++)
        ulna_pose_body_relative(work->pose, b, NULL, c->rotation + 9 * (size_t)b);
    if (c->groups)
        find_drifts(c);
    const double *pull = ulna_key_pull(c, k);
    for (int i = 0; i < c->count; i++)
        if (pull[i] > 0)
            add_marker(c, work->pose, i, pull[i]);
    for (int g = 0; g < c->groups; g++)
        scale_column(c, work->pose, g);
    c->kernel->eliminate(tree, c->lower, 1 + c->groups, c->first, c->last, c->stride, c->W);
    stack(c);
    return ULNA_OK;
}

ulna_status ulna_calibrator_reduce(ulna_calibrator *c)
{
    size_t nz = (size_t)c->nz;
    memset(c->matrix, 0, nz * nz * sizeof *c->matrix);
    memset(c->gradient, 0, nz * sizeof *c->gradient);
    for (int b = 0; b < c->nb; b++) {
        size_t width = (size_t)c->panel_width[b];
        c->panel_rows[b] = 0;
        if (width) {
            memset(c->panel[b], 0, ULNA_PANEL_ROWS * width * sizeof(double));
            memset(c->square[b], 0, width * width * sizeof(double));
        }
    }
    for (int d = 0; d < c->nv; d++)
        c->shift[d] = SMALL_SHIFT;
    ulna_status status = ulna_calibrator_apply(c);
    for (int k = 0; k < c->keys && status == ULNA_OK; k++)
        if (isfinite(c->f[k]))
            status = reduce_key(c, k);
    gather_squares(c);
    return status;
}
