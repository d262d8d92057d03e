/*
 * The band of H(t) around its diagonal, without forming H: what the preconditioner of PCG is made of.
 *
 * A product leaves the force F_j = A S_j - t (tau_j, 0) of every DOF in the sweep; then H_ij = S_i . F_j for i on the path
 * of j, and zero for i on another branch. O(DOF x width). Couplings are left out: a preconditioner need not be exact.
 */
#include "objective/problem.h"

#include <math.h>
#include <string.h>

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
