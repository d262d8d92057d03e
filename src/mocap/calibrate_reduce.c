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

#define SMALL_SHIFT                                                                                                    \
    1e-13 /* m^2/rad^2 on an adult, 1 for translations: keeps pivots of DOFs that nothing holds above zero */

/* ---- one frame: V, h and W --------------------------------------------------------------------------------------------- */

static void add(double *matrix, int n, int i, int j, double x)
{
    if (i >= j)
        matrix[(size_t)i + (size_t)n * (size_t)j] += x;
    else
        matrix[(size_t)j + (size_t)n * (size_t)i] += x;
}

/* Motion of a body per unit of a scale; zero for scales that are not on its path. */
static double *drift_of(const ulna_calibrator *c, int group, int body)
{
    return c->drift + 3 * ((size_t)body * (size_t)c->groups + (size_t)group);
}

/* Forces on the offsets of one marker along the path of its body. Markers go in order: the zero behind its columns is the
 * next one's, or is not read. */
static void offset_columns(ulna_calibrator *c, const ulna_pose *pose, int i, double w, const double p[3])
{
    const double *R = c->rotation + 9 * (size_t)c->body[i];
    const ulna_model *model = c->problem->model;
    const ulna_link *link = &model->link[model->body[c->body[i]].link];
    double wrench[24] = {0};
    for (int k = 0; k < 3; k++) {
        double axis[3] = {w * R[k], w * R[3 + k], w * R[6 + k]}, turn[3];
        ulna_cross(p, axis, turn);
        for (int j = 0; j < 3; j++) {
            wrench[4 * j + k] = turn[j];
            wrench[4 * (3 + j) + k] = axis[j];
        }
    }
    /* The last DOF of the nearest link that has some: its path holds all DOFs that move the marker. */
    while (!link->dof_count && link->parent >= 0)
        link = &model->link[link->parent];
    if (!link->dof_count)
        return;
    int last = link->dof + link->dof_count - 1;
    c->kernel->columns(model->tree.depth[last], model->tree.path[last], (const double *)pose->motion, wrench, c->stride,
                       c->W + 1 + c->groups + 3 * i);
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
        const int *path = c->path + (size_t)b * (size_t)c->groups;
        double bone[3] = {0};
        for (int i = 0; i < c->path_count[b]; i++)
            ulna_copy3(drift_of(c, path[i], c->base->body[b].parent), drift_of(c, path[i], b));
        if (c->group[b] < 0)
            continue;
        world_bone(c, b, bone);
        for (int k = 0; k < 3; k++)
            drift_of(c, c->group[b], b)[k] += bone[k];
    }
}

/* The scales' part of V and h from the markers of one body, and their wrenches on it (6 x groups). */
static void add_scales(ulna_calibrator *c, int b, double *wrench)
{
    const int *path = c->path + (size_t)b * (size_t)c->groups;
    const double *mass = c->mass + 7 * (size_t)b;
    double turn[3];
    for (int i = 0; i < c->path_count[b] && mass[0] > 0; i++) {
        int g = path[i];
        const double *u = drift_of(c, g, b);
        ulna_cross(mass + 1, u, turn);
        for (int k = 0; k < 3; k++) {
            wrench[k * c->groups + g] += turn[k];
            wrench[(3 + k) * c->groups + g] += mass[0] * u[k];
        }
        c->gradient[g] -= ulna_dot(u, mass + 4);
        for (int j = 0; j <= i; j++)
            add(c->matrix, c->nz, g, path[j], mass[0] * ulna_dot(u, drift_of(c, path[j], b)));
    }
}

/* Forces of the scales on the DOFs: wrenches summed from the leaves to the root. */
static void scale_columns(ulna_calibrator *c, const ulna_pose *pose)
{
    const ulna_model *model = c->problem->model;
    size_t size = 6 * (size_t)c->groups;
    memset(c->wrench, 0, size * (size_t)c->nb * sizeof *c->wrench);
    for (int b = c->nb - 1; b >= 0; b--) {
        double *wrench = c->wrench + size * (size_t)b;
        add_scales(c, b, wrench);
        if (b)
            c->kernel->add((int)size, wrench, c->wrench + size * (size_t)model->body[b].parent);
    }
    for (int d = 0; d < c->nv; d++) {
        const double *S = (const double *)(pose->motion + 2 * (size_t)d);
        const double motion[6] = {S[0], S[1], S[2], S[4], S[5], S[6]};
        c->kernel->combine(c->groups, motion, c->wrench + size * (size_t)model->dof_body[d],
                           c->W + (size_t)d * c->stride + 1);
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
    const int *path = c->path + (size_t)c->body[i] * (size_t)c->groups;
    for (int j = 0; j < c->path_count[c->body[i]]; j++) {
        ulna_unrotate(R, drift_of(c, path[j], c->body[i]), local);
        for (int k = 0; k < 3; k++)
            c->matrix[(size_t)(at + k) + (size_t)c->nz * (size_t)path[j]] += w * local[k];
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
            c->kernel->scale(common, root, from, to);
            c->kernel->scale(c->last[d] - c->first[d], root, from + c->first[d], to + common);
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

static void shift_pivots(ulna_calibrator *c, const ulna_model *model)
{
    const ulna_tree *tree = &model->tree;
    for (int d = 0; d < c->nv; d++)
        c->rows[tree->row[d] + (size_t)tree->depth[d] - 1] +=
            SMALL_SHIFT * (ulna_segment_is_translation(model->dof_segment[d]) ? 1 : c->unit * c->unit);
}

/* ---- all frames ------------------------------------------------------------------------------------------------------------ */

ulna_status ulna_calibrator_reduce_key(ulna_calibrator *c, int k)
{
    ulna_work *work = ulna_solver_work(c->solver);
    const ulna_tree *tree = &c->problem->model->tree;
    double f;
    ulna_key_place(c, k);
    ulna_status status = ulna_work_evaluate(work, ulna_key_q(c, k), &f);
    if (status == ULNA_OK)
        status = ulna_work_hessian(work, 0, c->slope, c->rows, NULL);
    if (status != ULNA_OK)
        return status;
    shift_pivots(c, c->problem->model);
    if (!c->kernel->factor(tree, 0, c->rows, c->pivot))
        return ULNA_ERR_NUMBER;
    for (int d = 0; d < c->nv; d++) {
        double *row = c->W + (size_t)d * c->stride;
        memset(row + c->first[d], 0, (size_t)(c->last[d] - c->first[d]) * sizeof *row);
        row[0] = c->slope[d];
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
    if (c->groups)
        scale_columns(c, work->pose);
    c->kernel->eliminate(tree, c->rows, 1 + c->groups, c->first, c->last, c->stride, c->W);
    stack(c);
    return ULNA_OK;
}

/* y <- L^-T y, three columns: then J H^-1 JT = yT y / D for y = JT. */
static void eliminate_columns(const ulna_calibrator *c, double *y)
{
    const ulna_tree *tree = &c->problem->model->tree;
    for (int d = c->nv - 1; d >= 0; d--) {
        const double *row = c->rows + tree->row[d];
        for (int u = 0; u < tree->depth[d] - 1; u++)
            for (int k = 0; k < 3; k++)
                y[3 * tree->path[d][u] + k] -= row[u] * y[3 * d + k];
    }
}

/* J dq = -J H^-1 W dz = -sum_d y_d x_d dz / D_d,  y = L^-T JT,  x = L^-T W: three rows of nz. */
static void follow_unknowns(const ulna_calibrator *c, const double *y, double *rows)
{
    size_t nz = (size_t)c->nz;
    memset(rows, 0, 3 * nz * sizeof *rows);
    for (int d = 0; d < c->nv; d++)
        for (int k = 0; k < 3; k++) {
            double factor = -y[3 * d + k] * c->pivot[d], *to = rows + nz * (size_t)k;
            const double *x = c->W + (size_t)d * c->stride + 1; /* behind the gradient */
            for (int i = 0; i < c->groups; i++)
                to[i] += factor * x[i];
            for (int i = c->first[d] - 1; i < c->last[d] - 1; i++)
                to[i] += factor * x[i];
        }
}

/* dp = J dq + u dz: J the rows of the joint's place, u its motion per unit of a scale if no joint moves. */
void ulna_calibrator_joint_rows(ulna_calibrator *c, int body, double *rows)
{
    const ulna_pose *pose = ulna_solver_work(c->solver)->pose;
    const ulna_model *model = c->problem->model;
    size_t nz = (size_t)c->nz;
    double place[3], *y = c->follow;
    ulna_pose_body_relative(pose, body, place, NULL);
    memset(y, 0, 3 * (size_t)c->nv * sizeof *y);
    for (int d = 0; d < c->nv; d++) {
        const double *S = (const double *)(pose->motion + 2 * (size_t)d);
        int b = model->dof_body[d];
        if (model->body[body].preorder < model->body[b].preorder ||
            model->body[body].preorder >= model->body[b].preorder + model->body[b].subtree)
            continue;
        ulna_cross(S, place, y + 3 * d);
        for (int k = 0; k < 3; k++)
            y[3 * d + k] += S[4 + k];
    }
    eliminate_columns(c, y);
    follow_unknowns(c, y, rows);
    const int *path = c->path + (size_t)body * (size_t)c->groups;
    for (int i = 0; i < (c->groups ? c->path_count[body] : 0); i++)
        for (int k = 0; k < 3; k++)
            rows[nz * (size_t)k + (size_t)path[i]] += drift_of(c, path[i], body)[k];
}

/* The rotation vector of a joint is J dq: J the axes of its own DOFs, so that no choice of angles matters. */
void ulna_calibrator_rotation_rows(ulna_calibrator *c, int body, double *rows, double inverse[9])
{
    const ulna_pose *pose = ulna_solver_work(c->solver)->pose;
    const ulna_body *own = &c->problem->model->body[body];
    double *y = c->follow;
    memset(y, 0, 3 * (size_t)c->nv * sizeof *y);
    for (int d = own->dof; d < own->dof + own->dof_count; d++)
        ulna_copy3((const double *)(pose->motion + 2 * (size_t)d), y + 3 * d);
    eliminate_columns(c, y);
    follow_unknowns(c, y, rows);
    memset(inverse, 0, 9 * sizeof *inverse);
    for (int d = 0; d < c->nv; d++)
        for (int k = 0; k < 9; k++)
            inverse[k] += c->pivot[d] * y[3 * d + k / 3] * y[3 * d + k % 3];
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
    ulna_status status = ulna_calibrator_apply(c);
    for (int k = 0; k < c->keys && status == ULNA_OK; k++)
        if (isfinite(c->f[k]))
            status = ulna_calibrator_reduce_key(c, k);
    gather_squares(c);
    return status;
}
