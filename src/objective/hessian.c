/*
 * H(t) in other forms than tree rows: as a dense matrix, and the band around its diagonal.
 *
 * Dense: the tree rows, unfolded where they lie.
 *
 * Row j of the tree (linalg.h) holds column j down to the diagonal, without its zeros. All rows together take little more
 * than half of the matrix, so it holds them at first. Then each moves to its column: the last ones to where no row lies,
 * all at the same time if there are threads; then those that this makes room for; and so on. The lower triangle is a copy.
 * O(DOF x depth) arithmetic, and n^2 numbers to write, which takes most of the time.
 */
#include "base/base.h"
#include "base/parallel.h"
#include "linalg/linalg.h"
#include "objective/problem.h"

#include <math.h>
#include <string.h>

typedef struct unfolding {
    const ulna_tree *tree;
    const double *rows;
    double *matrix; /* which may begin with the rows */
    int first;      /* column of piece 0 */
} unfolding;

/*
 * Column j from row j, from the last entry to the first: where a row overlaps its own column, no entry lies behind its
 * place (k <= path[k], and row j starts at or before column j: with padding, from four DOFs on).
 */
static void unfold_column(const unfolding *u, int j)
{
    const int *path = u->tree->path[j];
    const double *row = u->rows + u->tree->row[j];
    double *column = u->matrix + (size_t)u->tree->n * (size_t)j;
    int end = j + 1, depth = u->tree->depth[j]; /* done from `end` on */
    if (path[0] == end - depth) {               /* a run of neighbours, as in a chain */
        memmove(column + path[0], row, (size_t)depth * sizeof *column);
        depth = 0;
        end = path[0];
    }
    for (int k = depth - 1; k >= 0; k--) {
        double value = row[k];
        while (--end > path[k])
            column[end] = 0;
        column[end] = value;
    }
    memset(column, 0, (size_t)end * sizeof *column);
}

static void unfold_columns(const void *context, int first, int last)
{
    const unfolding *u = context;
    for (int j = last - 1; j >= first; j--)
        unfold_column(u, u->first + j);
}

/* The upper triangle from rows at the head of the same matrix. */
static void unfold(const ulna_tree *tree, double *matrix, int threads)
{
    unfolding u = {.tree = tree, .rows = matrix};
    size_t n = (size_t)tree->n;
    int end = tree->n;
    u.matrix = matrix;
    for (;;) {
        u.first = (int)((tree->row[end] + n - 1) / n); /* columns from here on overlap no row that is left */
        if (u.first >= end)
            break;
        double entries = (double)n * (end - u.first);
        ulna_parallel_for(threads, 3e-4 * entries, end - u.first, 16, unfold_columns, &u);
        end = u.first;
    }
    u.first = 0;
    unfold_columns(&u, 0, end); /* one or a few, one by one */
}

/* The couplings, above the diagonal and on it. */
static void add_couplings(const ulna_work *work, double *hessian)
{
    const ulna_problem *problem = work->problem;
    size_t n = (size_t)problem->model->nv;
    for (int k = 0; k < problem->coupling_count; k++) {
        const ulna_term *term = &problem->term[problem->coupling_term[k]];
        double weight = ulna_coupling_weight(problem, term), ratio = term->goal[0];
        size_t a = (size_t)term->dof_a, b = (size_t)term->dof_b;
        hessian[n * b + b] += weight;
        hessian[n * a + a] += weight * ratio * ratio;
        hessian[a < b ? n * b + a : n * a + b] -= weight * ratio;
    }
}

ulna_status ulna_work_hessian_dense(ulna_work *work, double t, double *hessian)
{
    if (!work || !hessian)
        return ULNA_ERR_ARGUMENT;
    const ulna_tree *tree = &work->problem->model->tree;
    double few[3 * 4]; /* the rows of three DOFs, which do not fit into their matrix */
    int is_small = tree->n < 4;
    ulna_status status = ulna_work_hessian(work, t, NULL, is_small ? few : hessian, NULL);
    if (status != ULNA_OK)
        return status;
    if (is_small) {
        const unfolding u = {.tree = tree, .rows = few, .matrix = hessian};
        unfold_columns(&u, 0, tree->n);
    } else {
        unfold(tree, hessian, work->pose->threads);
    }
    add_couplings(work, hessian);
    ulna_mirror_upper(tree->n, hessian, work->pose->threads);
    return ULNA_OK;
}

/* D H D without the rows and columns of zeros, close together at the beginning of the matrix. Returns how many are left. */
static int scale_and_pack(int nv, const double *scale, double *hessian)
{
    int kept = 0;
    size_t n = (size_t)nv;
    double *next = hessian;
    for (size_t j = 0; j < n; j++) {
        double by = scale ? scale[j] : 1;
        kept += by != 0;
        for (size_t i = 0; i < n && by != 0; i++)
            if (!scale || scale[i] != 0)
                *next++ = hessian[j * n + i] * by * (scale ? scale[i] : 1);
    }
    return kept;
}

ulna_status ulna_work_hessian_eigenvalues(ulna_work *work, double t, const double *scale, double *values, int *count,
                                          ulna_error *error)
{
    if (!work || !values)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a work and room for the eigenvalues are needed");
    int nv = ulna_model_dof_count(work->problem->model), kept = 0;
    const ulna_allocator *memory = &work->allocator;
    ulna_dense_need need = {0};
    size_t entries = (size_t)nv * (size_t)nv;
    ulna_status status = ulna_dense_eigen_need(nv, &need);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "eigenvalues of %d degrees of freedom: %s", nv, ulna_status_text(status));
    double *hessian = ulna_allocate(memory, entries, sizeof *hessian);
    double *reals = ulna_allocate(memory, need.reals, sizeof *reals);
    int *integers = ulna_allocate(memory, need.integers, sizeof *integers);
    const ulna_dense_work room = {reals, integers, need};
    status = hessian && reals && integers ? ulna_work_hessian_dense(work, t, hessian) : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        kept = scale_and_pack(nv, scale, hessian);
        status = kept ? ulna_dense_eigen(kept, hessian, 0, values, &room) : ULNA_OK;
    }
    ulna_release(memory, hessian, entries, sizeof *hessian);
    ulna_release(memory, reals, need.reals, sizeof *reals);
    ulna_release(memory, integers, need.integers, sizeof *integers);
    if (count)
        *count = status == ULNA_OK ? kept : 0;
    return status == ULNA_OK ? ULNA_OK : ulna_fail(error, status, "no eigenvalues: %s", ulna_status_text(status));
}

/* ---- the band: what the preconditioner of PCG is made of, without forming H --------------------------------------- */

/*
 * A product leaves the force F_j = A S_j - t (tau_j, 0) of every DOF in the sweep; then H_ij = S_i . F_j for i on the path
 * of j, and zero for i on another branch. O(DOF x width). Couplings are left out: a preconditioner need not be exact.
 */
static double dot_motion(const double *s, const double *f)
{
    return s[0] * f[0] + s[1] * f[1] + s[2] * f[2] + s[4] * f[4] + s[5] * f[5] + s[6] * f[6];
}

/* Curvature between DOFs i <= j of one segment of several DOFs, which S_i . F_j does not hold. */
static double within_segment(const ulna_work *work, int i, int j, double t)
{
    const ulna_model *model = work->problem->model;
    int i_part = model->dof_part[i], j_part = model->dof_part[j];
    if (model->dof_segment[j] < ULNA_SEGMENT_BALL || model->dof_body[i] != model->dof_body[j] ||
        i - i_part != j - j_part)
        return 0;
    const ulna_vec4 *m = work->sweep.moment + 4 * (size_t)model->dof_link[j];
    const double force[8] = {m[3][1] - m[2][2], m[1][2] - m[3][0], m[2][0] - m[1][1], 0, m[0][0], m[0][1], m[0][2], 0};
    double h = -t * dot_motion((const double *)(work->pose->bend + 6 * (size_t)i + 2 * (size_t)j_part), force);
    if (work->couple)
        h += work->couple[3 * (size_t)j + (size_t)i_part] - t * work->couple_second[3 * (size_t)j + (size_t)i_part];
    return h;
}

ulna_status ulna_work_hessian_band(ulna_work *work, double t, ulna_band *band)
{
    if (!work || !band || !band->entries || !isfinite(t) || band->n != work->problem->model->nv || band->width < 0)
        return ULNA_ERR_ARGUMENT;
    const ulna_tree *tree = &work->problem->model->tree;
    size_t n = (size_t)tree->n, column = (size_t)band->width + 1;
    memset(band->entries, 0, n * column * sizeof *band->entries);
    if (n == 0)
        return ULNA_OK;
    ulna_status status = ulna_work_hessian_multiply(work, t, work->zeros, work->sweep.right); /* for the forces */
    if (status != ULNA_OK)
        return status;
    for (int j = 0; j < tree->n; j++) {
        const double *force = (const double *)&work->sweep.force[j];
        for (int k = tree->depth[j] - 1; k >= 0; k--) {
            int i = tree->path[j][k];
            if (j - i > band->width)
                break;
            const double *motion = (const double *)(work->pose->motion + 2 * (size_t)i);
            double h = dot_motion(motion, force) + within_segment(work, i, j, t) + (i == j ? work->curve[j] : 0);
            band->entries[(size_t)i * column + (size_t)(j - i)] = h;
        }
    }
    return ULNA_OK;
}
