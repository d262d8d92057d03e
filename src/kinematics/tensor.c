/*
 * Second derivatives, dense: the K tensor (exact-Hessian eq. 22, Table 2) and the Hessian of Algorithm 4.
 *
 * For two degrees of freedom on the effector's path, i the proximal one or the same, J_j the linear column of j:
 *
 *     K_ij = a_i x J_j if i turns, 0 if i slides                                    (Table 2, eq. 23, 43)
 *          + (da_i/dq_j) x (p - pivot) within a ball, exponential map or swing
 *
 * The last line is the "no geometric interpretation" of section 4.2: with effective axes there is one. For a ball,
 * da_i/dq_j along q (+) step is half of a_j x a_i, which symmetrises the first line.
 *
 * Slips: inside a joint with several DOFs eq. 43 holds for w the *proximal* axis and J the *distal* column only, not
 * for either order of h and k, which the text leaves open: for h = k, Algorithm 4 gets the entries above the diagonal
 * wrong. Its caption says upper triangle; its indices fill the lower one, which this file then mirrors. Eq. 34 (K = 0
 * with the root's translation) is right where nothing turns before it, but eq. 35b (25b of the notes) drops the blocks
 * of J^T J between translation and the rest, and writes I for sum w I.
 */
#include "kinematics/jacobian.h"
#include "math/math3.h"

/* K_ij for i at or before j on one path. `twists` are those of the simple route. */
static void tensor_entry(const ulna_pose *pose, const double p[3], const double *twists, int i, int j, double k[3])
{
    const double *axis = twists + 6 * (size_t)i + 3; /* zero for a slide */
    ulna_cross(axis, twists + 6 * (size_t)j, k);
    if (!ulna_same_segment(pose->model, i, j))
        return;
    double derivative[3], pivot[3], bent[3];
    ulna_pose_axis_derivative(pose, i, j, derivative);
    ulna_pose_pivot_relative(pose, i, pivot);
    double arm[3] = {p[0] - pivot[0], p[1] - pivot[1], p[2] - pivot[2]};
    ulna_cross(derivative, arm, bent);
    for (int r = 0; r < 3; r++)
        k[r] += bent[r];
}

ulna_status ulna_pose_tensor(ulna_pose *pose, const ulna_effector *effector, double *tensor)
{
    if (!pose || (!tensor && pose->model->nv > 0))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_effector_check(pose->model, effector);
    if (status)
        return status;
    if (!pose->placed)
        return ULNA_ERR_STATE;
    if (!tensor)
        return ULNA_OK;

    size_t nv = (size_t)pose->model->nv;
    double p[3];
    const int *path;
    int depth = ulna_dof_path(pose->model, effector->body, &path);
    ulna_jacobian_simple(pose, effector, pose->scratch);
    ulna_pose_point_relative(pose, effector->body, effector->point, p);
    memset(tensor, 0, 3 * nv * nv * sizeof *tensor);
    for (int b = 0; b < depth; b++)
        for (int a = 0; a <= b; a++) {
            size_t i = (size_t)path[a], j = (size_t)path[b];
            double *entry = tensor + 3 * (nv * j + i);
            tensor_entry(pose, p, pose->scratch, path[a], path[b], entry);
            ulna_copy3(entry, tensor + 3 * (nv * i + j));
        }
    return ULNA_OK;
}

/* ---- Algorithm 4 ---- */

static ulna_status check_goals(const ulna_pose *pose, int count, const ulna_effector *effectors, const double *goals,
                               const double *weights, double t, const double *hessian)
{
    if (!pose || count < 0 || (count > 0 && (!effectors || !goals)) || (!hessian && pose->model->nv > 0))
        return ULNA_ERR_ARGUMENT;
    for (int e = 0; e < count; e++) {
        ulna_status status = ulna_effector_check(pose->model, &effectors[e]);
        if (status)
            return status;
        if (!ulna_all_finite(goals + 3 * (size_t)e, 3) || (weights && !ulna_all_finite(weights + e, 1)))
            return ULNA_ERR_NUMBER;
    }
    if (!ulna_all_finite(&t, 1))
        return ULNA_ERR_NUMBER;
    return pose->placed ? ULNA_OK : ULNA_ERR_STATE;
}

/* Adds w (J^T J - t K : r) of one effector to the lower triangle. */
static void add_effector(const ulna_pose *pose, const ulna_effector *effector, const double goal[3], double weight,
                         double t, double *hessian)
{
    size_t nv = (size_t)pose->model->nv;
    const double *twists = pose->scratch;
    double p[3], r[3];
    const int *path;
    int depth = ulna_dof_path(pose->model, effector->body, &path);
    ulna_jacobian_simple(pose, effector, pose->scratch);
    ulna_pose_point_relative(pose, effector->body, effector->point, p);
    for (int i = 0; i < 3; i++)
        r[i] = goal[i] - pose->origin[i] - p[i];

    for (int b = 0; b < depth; b++)
        for (int a = 0; a <= b; a++) {
            size_t i = (size_t)path[a], j = (size_t)path[b];
            double k[3];
            tensor_entry(pose, p, twists, path[a], path[b], k);
            hessian[nv * i + j] += weight * (ulna_dot(twists + 6 * i, twists + 6 * j) - t * ulna_dot(k, r));
        }
}

ulna_status ulna_pose_dense_hessian(ulna_pose *pose, int count, const ulna_effector *effectors, const double *goals,
                                    const double *weights, double t, double *hessian)
{
    ulna_status status = check_goals(pose, count, effectors, goals, weights, t, hessian);
    if (status)
        return status;

    /* One effector after the other, so that the stacked J need not be kept. */
    size_t nv = (size_t)pose->model->nv;
    if (nv == 0)
        return ULNA_OK;
    memset(hessian, 0, nv * nv * sizeof *hessian);
    for (int e = 0; e < count; e++)
        add_effector(pose, &effectors[e], goals + 3 * (size_t)e, weights ? weights[e] : 1, t, hessian);
    for (size_t j = 0; j < nv; j++)
        for (size_t i = 0; i < j; i++)
            hessian[nv * j + i] = hessian[nv * i + j];
    return ULNA_OK;
}
