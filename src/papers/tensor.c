/*
 * Second derivatives, dense: the K tensor (exact-Hessian eq. 22, Table 2) and the Hessian of Algorithm 4.
 *
 * For two degrees of freedom on the effector's path, i the proximal one or the same, J_j the linear column of j:
 *
 *     K_ij = a_i x J_j if i is a rotation, 0 if i is a translation                  (Table 2, eq. 23, 43)
 *          + (da_i/dq_j) x (p - pivot) within a ball, exponential map or swing
 *
 * The last line is the "no geometric interpretation" of section 4.2: with effective axes there is one. For a ball,
 * da_i/dq_j along q (+) step is half of a_j x a_i, which symmetrises the first line.
 *
 * Algorithm 4 loops over effectors; here the outer loop is over columns, the inner one over the effectors that a column
 * moves: H is written in the order of memory, and columns can be distributed to threads (the paper's section 7).
 *
 * Slips: inside a joint with several DOFs eq. 43 holds for w the *proximal* axis and J the *distal* column only, not
 * for both orders of h and k; the text does not say which: for h = k, Algorithm 4 gets the entries above the diagonal
 * wrong. Its caption says upper triangle; its indices fill the lower one (here: the upper one, then mirrored). Eq. 34
 * (K = 0 with the root's translation) is right if there is no rotation before it, but eq. 35b (25b of the supplementary notes) drops the
 * blocks of J^T J between translation and the rest, and writes I for sum w I.
 */
#include "base/parallel.h"
#include "linalg/linalg.h"
#include "math/math3.h"
#include "papers/jacobians.h"

/* (da_i/dq_j) x (p - pivot), for i at or before j in one segment. */
static void bend_entry(const ulna_pose *pose, const double p[3], int i, int j, double bent[3])
{
    double derivative[3], pivot[3];
    ulna_pose_axis_derivative(pose, i, j, derivative);
    ulna_pose_pivot_relative(pose, i, pivot);
    double arm[3] = {p[0] - pivot[0], p[1] - pivot[1], p[2] - pivot[2]};
    ulna_cross(derivative, arm, bent);
}

/* K_ij for i at or before j on one path. `twists` are those of the simple route. */
static void tensor_entry(const ulna_pose *pose, const double p[3], const double *twists, int i, int j, double k[3])
{
    const double *axis = twists + 6 * (size_t)i + 3; /* 0 for a translation */
    ulna_cross(axis, twists + 6 * (size_t)j, k);
    if (!ulna_same_segment(pose->model, i, j))
        return;
    double bent[3];
    bend_entry(pose, p, i, j, bent);
    ulna_accumulate3(bent, k);
}

ulna_status ulna_papers_tensor(ulna_pose *pose, const ulna_effector *effector, double *tensor)
{
    if (!pose || (!tensor && pose->model->nv > 0))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_effector_check(pose->model, effector);
    if (status != ULNA_OK)
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
        if (status != ULNA_OK)
            return status;
        if (!ulna_all_finite(goals + 3 * (size_t)e, 3) || (weights && !ulna_all_finite(weights + e, 1)))
            return ULNA_ERR_NUMBER;
    }
    if (!ulna_all_finite(&t, 1))
        return ULNA_ERR_NUMBER;
    return pose->placed ? ULNA_OK : ULNA_ERR_STATE;
}

/* An effector with its goal: 8 doubles. */
typedef struct goal_term {
    double p[3], r[3], weight;
    int preorder; /* of its body */
} goal_term;

/* As many effectors at a time as fit into the scratch memory, and all columns of H: a column stays in the cache while its
 * effectors are added, and columns are independent of each other. */
typedef struct hessian_job {
    const ulna_pose *pose;
    const goal_term *goal;
    int goal_count;
    double t;
    double *hessian;
} hessian_job;

/* The linear column of a DOF at p: a x p + o x a for a rotation, a for a translation (pose.h: motion). */
static inline void linear_column(const double *motion, const double p[3], double J[3])
{
    ulna_cross(motion, p, J);
    for (int x = 0; x < 3; x++)
        J[x] += motion[4 + x];
}

/* Adds w (J_i . J_j - t K_ij . r) for all i on the path of j. */
static void add_goal(const hessian_job *job, int j, const goal_term *goal, double *column)
{
    const ulna_pose *pose = job->pose;
    const ulna_model *model = pose->model;
    const int *path = model->tree.path[j];
    double J[3], weight = goal->weight, t = job->t;
    linear_column((const double *)(pose->motion + 2 * (size_t)j), goal->p, J);
    for (int k = 0; k < model->tree.depth[j]; k++) {
        const double *motion = (const double *)(pose->motion + 2 * (size_t)path[k]);
        double other[3], entry[3];
        linear_column(motion, goal->p, other);
        ulna_cross(motion, J, entry);
        column[path[k]] += weight * (ulna_dot(other, J) - t * ulna_dot(entry, goal->r));
    }
    if (model->dof_segment[j] >= ULNA_SEGMENT_BALL)
        for (int i = j - model->dof_part[j]; i <= j; i++) {
            double bent[3];
            bend_entry(pose, goal->p, i, j, bent);
            column[i] -= weight * t * ulna_dot(bent, goal->r);
        }
}

static void hessian_columns(const void *context, int first, int last)
{
    const hessian_job *job = context;
    const ulna_model *model = job->pose->model;
    size_t nv = (size_t)model->nv;
    for (int j = first; j < last; j++) {
        const ulna_body *body = &model->body[model->dof_body[j]];
        int from = body->preorder, to = from + body->subtree;
        double *column = job->hessian + nv * (size_t)j;
        for (int e = 0; e < job->goal_count; e++)
            if (job->goal[e].preorder >= from && job->goal[e].preorder < to)
                add_goal(job, j, &job->goal[e], column);
    }
}

/* Computes positions and residuals of effectors; returns the number of pairs of DOFs that move them. */
static double place_goals(const ulna_pose *pose, int count, const ulna_effector *effectors, const double *goals,
                          const double *weights, goal_term *goal)
{
    double pairs = 0;
    for (int e = 0; e < count; e++) {
        const int *path;
        double depth = ulna_dof_path(pose->model, effectors[e].body, &path);
        pairs += 0.5 * depth * depth;
        ulna_pose_point_relative(pose, effectors[e].body, effectors[e].point, goal[e].p);
        for (int i = 0; i < 3; i++)
            goal[e].r[i] = goals[3 * (size_t)e + (size_t)i] - pose->origin[i] - goal[e].p[i];
        goal[e].weight = weights ? weights[e] : 1;
        goal[e].preorder = pose->model->body[effectors[e].body].preorder;
    }
    return pairs;
}

ulna_status ulna_papers_dense_hessian(ulna_pose *pose, int count, const ulna_effector *effectors, const double *goals,
                                      const double *weights, double t, double *hessian)
{
    ulna_status status = check_goals(pose, count, effectors, goals, weights, t, hessian);
    if (status != ULNA_OK)
        return status;
    int nv = pose->model->nv, done = 0;
    if (nv == 0)
        return ULNA_OK;
    memset(hessian, 0, (size_t)nv * (size_t)nv * sizeof *hessian);

    hessian_job job = {.pose = pose, .goal = (goal_term *)pose->scratch, .t = t, .hessian = hessian};
    size_t room = pose->scratch_count * sizeof *pose->scratch / sizeof *job.goal;
    for (; done < count; done += job.goal_count) {
        job.goal_count = (size_t)(count - done) < room ? count - done : (int)room;
        double pairs = place_goals(pose, job.goal_count, effectors + done, goals + 3 * (size_t)done,
                                   weights ? weights + done : NULL, (goal_term *)pose->scratch);
        ulna_parallel_for(pose->threads, 7e-3 * pairs, nv, 8, hessian_columns, &job);
    }
    ulna_mirror_upper(nv, hessian, pose->threads);
    return ULNA_OK;
}
