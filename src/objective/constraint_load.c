/*
 * What rows of constraints do to the DOFs: products with their Jacobian, and their share of the Hessian, in the sums that the
 * sweeps read (ulna_work_load_rows) or dense.
 *
 * In f - sum z C a row is like a term with the residual z (evaluate.c: add_extra): its force is z times the wrench, and z d2C
 * is what exactness takes off. What moment and force hold of d2C is S_i . (tau_j, 0), i an ancestor of j or j itself, with
 * tau = (M - tr M) w - g x v for the motion (w, v) of DOF j; inside a segment of several DOFs the derivative of the
 * motion S_i with respect to q_j, times the wrench, joins it (kernel_rows.inc).
 */
#include "kinematics/jacobian.h"
#include "math/math3.h"
#include "objective/constraint.h"

static const double *motion_of(const ulna_work *work, int dof)
{
    return (const double *)(work->pose->motion + 2 * (size_t)dof);
}

/* wrench . motion */
static double along(const double wrench[6], const double *S)
{
    return wrench[0] * S[0] + wrench[1] * S[1] + wrench[2] * S[2] + wrench[3] * S[4] + wrench[4] * S[5] +
           wrench[5] * S[6];
}

static int path_of(const ulna_work *work, int link, const int **path)
{
    return ulna_dof_path(work->problem->model, work->problem->model->link[link].body, path);
}

/* What the centre of mass along n does with one DOF. */
static double centre_along(const ulna_work *work, const double n[3], int dof)
{
    const double *sum = (const double *)&work->mass_moment[work->problem->model->dof_link[dof]];
    double wrench[6];
    ulna_cross(sum, n, wrench);
    for (int i = 0; i < 3; i++)
        wrench[3 + i] = sum[3] * n[i];
    return along(wrench, motion_of(work, dof));
}

/* What a link carries of the first moment of mass, over the whole mass, relative to the pose's origin; lane 3: of the mass. */
static ulna_vec4 link_moment(const ulna_work *work, int link)
{
    const ulna_vec4 *frame = work->pose->frame + 4 * (size_t)link;
    const double *share = work->problem->model->link_mass[link];
    ulna_vec4 sum = frame[0] * share[0] + frame[1] * share[1] + frame[2] * share[2] + frame[3] * share[3];
    sum[3] = share[3];
    return sum;
}

/* For centre_along. */
static void sum_masses(const ulna_work *work)
{
    work->pose->kernel->centre_sums(work->pose, work->mass_moment);
}

static int has_centre(const ulna_row *rows, int count)
{
    for (int i = 0; i < count; i++)
        if (rows[i].has_centre)
            return 1;
    return 0;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

/* out[d x stride] += wrench . S_d on the path of a link */
static void spread(const ulna_work *work, int link, const double wrench[6], size_t stride, double *out)
{
    const int *path;
    int depth = path_of(work, link, &path);
    for (int k = 0; k < depth; k++)
        out[(size_t)path[k] * stride] += along(wrench, motion_of(work, path[k]));
}

void ulna_rows_jacobian(const ulna_work *work, const ulna_row *rows, int count, size_t rows_of, double *jacobian)
{
    int nv = work->problem->model->nv;
    if (has_centre(rows, count))
        sum_masses(work);
    for (int d = 0; d < nv && count > 0; d++)
        memset(jacobian + (size_t)d * rows_of, 0, (size_t)count * sizeof *jacobian);
    for (int i = 0; i < count; i++) {
        const ulna_row *row = &rows[i];
        for (int p = 0; p < row->part_count; p++)
            spread(work, row->part[p].link, row->part[p].wrench, rows_of, jacobian + i);
        for (int d = 0; row->has_centre && d < nv; d++)
            jacobian[(size_t)d * rows_of + (size_t)i] += centre_along(work, row->centre, d);
        for (int k = 0; k < row->dof_count; k++)
            jacobian[(size_t)row->dof[k] * rows_of + (size_t)i] += row->coefficient[k];
    }
}

/* Wrenches on one link, added up before they go up its path: neighbouring rows are mostly on the same one. */
typedef struct pending {
    int link;
    double wrench[6];
} pending;

static void add_pending(const ulna_work *work, pending *sum, const ulna_row_part *part, double y, double *gradient)
{
    if (sum->link != part->link) {
        if (sum->link >= 0)
            spread(work, sum->link, sum->wrench, 1, gradient);
        *sum = (pending){.link = part->link};
    }
    for (int i = 0; i < 6; i++)
        sum->wrench[i] += y * part->wrench[i];
}

void ulna_rows_add_transposed(const ulna_work *work, const ulna_row *rows, int count, const double *y, double *gradient)
{
    pending sum[2] = {{.link = ULNA_NONE}, {.link = ULNA_NONE}};
    double centre[3] = {0};
    int is_on_centre = 0;
    for (int i = 0; i < count; i++) {
        const ulna_row *row = &rows[i];
        if (y[i] == 0)
            continue;
        for (int p = 0; p < row->part_count; p++)
            add_pending(work, &sum[p], &row->part[p], y[i], gradient);
        for (int k = 0; row->has_centre && k < 3; k++)
            centre[k] += y[i] * row->centre[k];
        is_on_centre |= row->has_centre;
        for (int k = 0; k < row->dof_count; k++)
            gradient[row->dof[k]] += y[i] * row->coefficient[k];
    }
    for (int p = 0; p < 2; p++)
        if (sum[p].link >= 0)
            spread(work, sum[p].link, sum[p].wrench, 1, gradient);
    if (is_on_centre)
        sum_masses(work);
    for (int d = 0; is_on_centre && d < work->problem->model->nv; d++)
        gradient[d] += centre_along(work, centre, d);
}

/* ---- loading ----------------------------------------------------------------------------------------------------- */

void ulna_work_unload_rows(ulna_work *work)
{
    const ulna_problem *problem = work->problem;
    work->extras = (ulna_extras){problem->extra_count ? problem->extra_of : NULL, work->extra_curvature,
                                 work->extra_second, work->extra_moment, NULL};
}

/* Where the sums of a link are, as plain numbers: columns of eight (angular, linear, each with a lane 3), and of four. */
typedef struct slot {
    double *curvature, *second, *moment;
} slot;

/* Compilers make a slow instruction of memset, and of a loop, for so few numbers. */
static void clear_four(ulna_vec4 *x)
{
    x[0] = x[1] = x[2] = x[3] = (ulna_vec4){0};
}

static void clear_columns(ulna_pair *columns)
{
    clear_four(&columns[0].angular);
    clear_four(&columns[2].angular);
    clear_four(&columns[4].angular);
}

/* What the terms put on a link; most problems with constraints have no such terms. */
static void start_columns(ulna_work *work, size_t at)
{
    size_t bytes = 6 * sizeof *work->loaded_curvature;
    if (work->problem->extra_count) {
        memcpy(work->loaded_curvature + 6 * at, work->extra_curvature + 6 * at, bytes);
        memcpy(work->loaded_second + 6 * at, work->extra_second + 6 * at, bytes);
        return;
    }
    clear_columns(work->loaded_curvature + 6 * at);
    if (work->has_bends)
        clear_columns(work->loaded_second + 6 * at);
}

/* The sums of a link, `is_flat` if only the moments are wanted. */
static slot slot_of(ulna_work *work, int link, int is_flat)
{
    size_t at = (size_t)work->problem->extra_of[link], bytes = 4 * sizeof *work->loaded_moment;
    if (work->loaded_of[link] < 0) {
        work->loaded_of[link] = (int)at;
        work->is_flat[link] = 1;
        if (work->problem->extra_count)
            memcpy(work->loaded_moment + 4 * at, work->extra_moment + 4 * at, bytes);
        else
            clear_four(work->loaded_moment + 4 * at);
    }
    if (work->is_flat[link] && !is_flat) {
        work->is_flat[link] = 0;
        start_columns(work, at);
    }
    return (slot){(double *)(work->loaded_curvature + 6 * at), (double *)(work->loaded_second + 6 * at),
                  (double *)(work->loaded_moment + 4 * at)};
}

/* Two lanes, which every machine has: the compiler does not find them by itself. */
typedef double two __attribute__((vector_size(16)));

/* Adds scale u uT to six columns. */
static void add_square(double *columns, const double u[6], double scale)
{
    const two u01 = {u[0], u[1]}, u2 = {u[2], 0}, u34 = {u[3], u[4]}, u5 = {u[5], 0};
    for (int j = 0; j < 6; j++) {
        two factor = {scale * u[j], scale * u[j]}, *column = (two *)(columns + 8 * j);
        column[0] += factor * u01;
        column[1] += factor * u2;
        column[2] += factor * u34;
        column[3] += factor * u5;
    }
}

static void add_linear(const slot *at, const ulna_row_part *part, double y, double z)
{
    const double *m = part->moment, *n = part->force;
    two factor = {z, z}, *moment = (two *)at->moment;
    for (int j = 0; j < 6 && y != 0; j++)
        at->curvature[8 * j + 3] -= y * part->wrench[j];
    if (z == 0)
        return;
    moment[0] += factor * (two){n[0], n[1]};
    moment[1] += factor * (two){n[2], 0};
    for (int j = 0; j < 3; j++) {
        moment[2 + 2 * j] += factor * (two){m[j], m[3 + j]};
        moment[3 + 2 * j] += factor * (two){m[6 + j], 0};
    }
}

static void load_part(ulna_work *work, const ulna_row *row, int p, double y, double w, double z)
{
    const ulna_row_part *part = &row->part[p];
    slot at = slot_of(work, part->link, y == 0 && w == 0 && !row->bend_count && !row->is_own);
    add_linear(&at, part, y, z);
    if (w != 0)
        add_square(at.curvature, part->wrench, w);
    if (z == 0)
        return;
    for (int b = 0; b < row->bend_count; b++)
        if (row->bend[b].part == p)
            add_square(at.second, row->bend[b].wrench[p], z * row->bend[b].scale);
    for (int j = 0; row->is_own && j < 6; j++)
        for (int i = 0; i < 6; i++)
            at.second[8 * j + (i < 3 ? i : i + 1)] += z * row->own.bend[p][i][j];
}

/* The function n.p of a link's share of the centre of mass, with another n in the wrench; 0 if it has none. */
static int centre_function(const ulna_work *work, const double n[3], const double of_wrench[3], int link,
                           ulna_row_part *part)
{
    double share = work->problem->model->link_mass[link][3];
    if (share == 0)
        return 0;
    const ulna_vec4 sum = link_moment(work, link);
    const double moment[3] = {sum[0], sum[1], sum[2]};
    part->link = link;
    for (int i = 0; i < 3; i++) {
        part->force[i] = share * n[i];
        part->wrench[3 + i] = share * of_wrench[i];
        for (int j = 0; j < 3; j++)
            part->moment[3 * i + j] = moment[i] * n[j];
    }
    ulna_cross(moment, of_wrench, part->wrench);
    return 1;
}

/* All rows of the centre at once: y and z are sums of normals. */
static void load_centre(ulna_work *work, const double y[3], const double z[3])
{
    int is_flat = y[0] == 0 && y[1] == 0 && y[2] == 0;
    for (int l = 0; l < work->problem->model->nl; l++) {
        ulna_row_part part;
        if (centre_function(work, z, y, l, &part)) {
            slot at = slot_of(work, l, is_flat);
            add_linear(&at, &part, !is_flat, 1);
        }
    }
}

static void load_rows(ulna_work *work, const ulna_row *rows, int count, const double *y, const double *w,
                      const double *z)
{
    double centre_y[3] = {0}, centre_z[3] = {0};
    int is_on_centre = 0;
    for (int i = 0; i < count; i++) {
        double yi = y ? y[i] : 0, wi = w ? w[i] : 0, zi = z ? z[i] : 0;
        if (yi == 0 && wi == 0 && zi == 0)
            continue;
        for (int p = 0; p < rows[i].part_count; p++)
            load_part(work, &rows[i], p, yi, wi, zi);
        for (int k = 0; rows[i].has_centre && k < 3; k++) {
            centre_y[k] += yi * rows[i].centre[k];
            centre_z[k] += zi * rows[i].centre[k];
        }
        is_on_centre |= rows[i].has_centre;
    }
    if (is_on_centre)
        load_centre(work, centre_y, centre_z);
}

static int fits_the_tree(const ulna_row *row, double y, double w)
{
    int is_on_one_body = row->part_count <= 1 && !row->has_centre && !row->dof_count;
    return (w == 0 || is_on_one_body) && (y == 0 || !row->dof_count);
}

/* Whether a row adds to the symmetric second-order part. */
static int has_bends(const ulna_row *rows, int count, const double *z)
{
    for (int i = 0; z && i < count; i++)
        if (z[i] != 0 && (rows[i].bend_count || rows[i].is_own))
            return 1;
    return 0;
}

ulna_status ulna_work_load_rows(ulna_work *work, const ulna_row *rows, int count, const double *y, const double *w,
                                const double *z)
{
    if (!work || (!rows && count > 0) || count < 0)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < count; i++)
        if (!fits_the_tree(&rows[i], y ? y[i] : 0, w ? w[i] : 0))
            return ULNA_ERR_ARGUMENT;
    work->composed = work->factored = 0;
    ulna_work_unload_rows(work);
    if (!count || !work->problem->extra_links)
        return ULNA_OK;
    work->has_bends = work->problem->extra_count || has_bends(rows, count, z);
    for (int l = 0; l < work->problem->model->nl; l++)
        work->loaded_of[l] = ULNA_NONE;
    for (int l = 0; work->problem->extra_count && l < work->problem->model->nl; l++)
        if (work->problem->extra_of[l] >= 0)
            slot_of(work, l, 0);
    load_rows(work, rows, count, y, w, z);
    work->extras = (ulna_extras){work->loaded_of, work->loaded_curvature, work->has_bends ? work->loaded_second : NULL,
                                 work->loaded_moment, work->is_flat};
    return ULNA_OK;
}

/* ---- what leaves the pattern ------------------------------------------------------------------------------------- */

static void fill_piece(const ulna_row *row, const double first[6], const double second[6], double sign, ulna_row *piece)
{
    *piece = (ulna_row){.constraint = row->constraint, .place = ULNA_NONE, .is_equation = 1, .part_count = 2};
    for (int p = 0; p < 2; p++)
        piece->part[p].link = row->part[p].link;
    memcpy(piece->part[0].wrench, first, sizeof piece->part[0].wrench);
    for (int i = 0; i < 6; i++)
        piece->part[1].wrench[i] = sign * second[i];
}

int ulna_row_couplings(const ulna_row *row, ulna_row *piece, double *scale)
{
    int count = 0;
    for (int b = 0; b < row->bend_count; b++)
        if (row->bend[b].part == ULNA_NONE) {
            fill_piece(row, row->bend[b].wrench[0], row->bend[b].wrench[1], 1, &piece[count]);
            scale[count++] = row->bend[b].scale;
        }
    /* a bT + b aT = 1/2 (a + b)(a + b)T - 1/2 (a - b)(a - b)T, row by row of the cross term; a and b of one size */
    for (int i = 0; row->is_own && row->part_count > 1 && i < 6; i++) {
        double size = sqrt(ulna_inner(6, row->own.cross[i], row->own.cross[i])), a[6] = {0};
        if (!(size > 0))
            continue;
        a[i] = size;
        for (int side = 0; side < 2; side++) {
            fill_piece(row, a, row->own.cross[i], side ? -1 : 1, &piece[count]);
            scale[count++] = (side ? -0.5 : 0.5) / size;
        }
    }
    return count;
}

/* ---- dense ------------------------------------------------------------------------------------------------------- */

/* hessian += factor d2 of the functions that moment and force hold. */
static void add_functions_dense(const ulna_work *work, const ulna_row_part *part, double factor, double *hessian)
{
    const ulna_model *model = work->problem->model;
    const double *M = part->moment, trace = M[0] + M[4] + M[8];
    size_t nv = (size_t)model->nv;
    const int *path;
    int depth = path_of(work, part->link, &path);
    for (int b = 0; b < depth; b++) {
        const double *S = motion_of(work, path[b]);
        double turned[3], tau[3];
        ulna_cross(part->force, S + 4, turned);
        ulna_rotate(M, S, tau);
        for (int i = 0; i < 3; i++)
            tau[i] += -trace * S[i] - turned[i];
        for (int a = 0; a <= b; a++) {
            size_t i = (size_t)path[a], j = (size_t)path[b];
            double h = ulna_dot(motion_of(work, path[a]), tau);
            if (ulna_same_segment(model, path[a], path[b]))
                h += along(part->wrench,
                           (const double *)(work->pose->bend + 6 * i + 2 * (size_t)model->dof_part[path[b]]));
            hessian[j * nv + i] += factor * h;
            hessian[i * nv + j] += i == j ? 0 : factor * h;
        }
    }
}

/* hessian += factor S_i B S_j, i moving one link and j another or the same. */
static void add_form_dense(const ulna_work *work, int first, int second, double B[6][6], double factor, double *hessian)
{
    size_t nv = (size_t)work->problem->model->nv;
    const int *left, *right;
    int rows = path_of(work, first, &left), columns = path_of(work, second, &right);
    for (int b = 0; b < columns; b++) {
        double force[6];
        for (int i = 0; i < 6; i++)
            force[i] = along(B[i], motion_of(work, right[b]));
        for (int a = 0; a < rows; a++)
            hessian[(size_t)right[b] * nv + (size_t)left[a]] += factor * along(force, motion_of(work, left[a]));
    }
}

static void add_bend_dense(const ulna_work *work, const ulna_row *row, const ulna_row_bend *bend, double factor,
                           double *hessian)
{
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 2; q++) {
            if (bend->part != ULNA_NONE && (bend->part != p || bend->part != q))
                continue;
            double form[6][6];
            for (int i = 0; i < 6; i++)
                for (int j = 0; j < 6; j++)
                    form[i][j] = bend->wrench[p][i] * bend->wrench[q][j];
            add_form_dense(work, row->part[p].link, row->part[q].link, form, factor * bend->scale, hessian);
        }
}

static void add_own_dense(const ulna_work *work, const ulna_row *row, double factor, double *hessian)
{
    double bend[6][6], back[6][6];
    for (int p = 0; p < row->part_count; p++) {
        memcpy(bend, row->own.bend[p], sizeof bend);
        add_form_dense(work, row->part[p].link, row->part[p].link, bend, factor, hessian);
    }
    if (row->part_count < 2)
        return;
    memcpy(bend, row->own.cross, sizeof bend);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            back[i][j] = bend[j][i];
    add_form_dense(work, row->part[0].link, row->part[1].link, bend, factor, hessian);
    add_form_dense(work, row->part[1].link, row->part[0].link, back, factor, hessian);
}

ulna_status ulna_work_lagrangian_dense(ulna_work *work, double t, const ulna_row *rows, int count, const double *z,
                                       double *hessian)
{
    ulna_status status = ulna_work_load_rows(work, NULL, 0, NULL, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_work_hessian_dense(work, t, hessian);
    for (int i = 0; i < count && status == ULNA_OK; i++) {
        const ulna_row *row = &rows[i];
        if (z[i] == 0)
            continue;
        for (int p = 0; p < row->part_count; p++)
            add_functions_dense(work, &row->part[p], -z[i], hessian);
        for (int b = 0; b < row->bend_count; b++)
            add_bend_dense(work, row, &row->bend[b], -z[i], hessian);
        if (row->is_own)
            add_own_dense(work, row, -z[i], hessian);
        for (int l = 0; row->has_centre && l < work->problem->model->nl; l++) {
            ulna_row_part part;
            if (centre_function(work, row->centre, row->centre, l, &part))
                add_functions_dense(work, &part, -z[i], hessian);
        }
    }
    return status;
}
