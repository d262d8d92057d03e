/*
 * Starts of restarts: the root moved to the points, and other postures.
 *
 * The rotation that brings points x nearest to goals y (both about their weighted means) maximises tr(R Sum w x yT). As a unit
 * quaternion it is the eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix (Horn 1987); the same answer as
 * Kabsch's by SVD, and never a reflection.
 */
#include "math/math3.h"
#include "solve/solver.h"

#define SPREAD 0.3    /* radians: of restarts near the start */
#define NOTHING 1e-17 /* of the largest element of a matrix: below rounding */

/* ---- the root ---------------------------------------------------------------------------------------------------- */

/* Eigenvector of the largest eigenvalue of a symmetric 4 x 4 matrix: Jacobi's rotations, until there is nothing to rotate. */
static void largest_eigenvector(double a[4][4], double vector[4])
{
    double v[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}, size = 0;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            size = fmax(size, fabs(a[i][j]));
    int rotations = 1;
    for (int sweep = 0; sweep < 30 && rotations; sweep++) {
        rotations = 0;
        for (int i = 0; i < 3; i++)
            for (int j = i + 1; j < 4; j++) {
                if (!(fabs(a[i][j]) > NOTHING * size))
                    continue;
                rotations++;
                double theta = 0.5 * atan2(2 * a[i][j], a[j][j] - a[i][i]), c = cos(theta), d = sin(theta);
                for (int k = 0; k < 4; k++) {
                    double x = a[k][i], y = a[k][j];
                    a[k][i] = c * x - d * y;
                    a[k][j] = d * x + c * y;
                    x = v[k][i];
                    y = v[k][j];
                    v[k][i] = c * x - d * y;
                    v[k][j] = d * x + c * y;
                }
                for (int k = 0; k < 4; k++) {
                    double x = a[i][k], y = a[j][k];
                    a[i][k] = c * x - d * y;
                    a[j][k] = d * x + c * y;
                }
            }
    }
    int most = 0;
    for (int i = 1; i < 4; i++)
        if (a[i][i] > a[most][most])
            most = i;
    for (int k = 0; k < 4; k++)
        vector[k] = v[k][most];
}

/* The rotation that brings x to y, given C = sum w x yT (row by row). Among equals the smallest: a trace of the identity. */
static void best_rotation(const double C[9], double rotation[9])
{
    double size = 0;
    for (int i = 0; i < 9; i++)
        size = fmax(size, fabs(C[i]));
    double c[9];
    for (int i = 0; i < 9; i++)
        c[i] = C[i] + (i % 4 == 0 ? 1e-13 * size : 0);
    double n[4][4] = {
        {c[0] - c[4] - c[8], c[1] + c[3], c[2] + c[6], c[5] - c[7]},
        {c[1] + c[3], c[4] - c[0] - c[8], c[5] + c[7], c[6] - c[2]},
        {c[2] + c[6], c[5] + c[7], c[8] - c[0] - c[4], c[1] - c[3]},
        {c[5] - c[7], c[6] - c[2], c[1] - c[3], c[0] + c[4] + c[8]},
    };
    double q[4];
    largest_eigenvector(n, q); /* (x, y, z, w) */
    ulna_quaternion_to_rotation(q, rotation);
}

/* The rigid motion y = R x + t of the points to their goals, relative to the pose's origin; 0 if no point is awake. */
static int rigid_motion(ulna_work *work, double rotation[9], double translation[3])
{
    const ulna_problem *problem = work->problem;
    double total = 0, from[3] = {0}, to[3] = {0}, C[9] = {0};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < problem->term_count; i++) {
            const ulna_term *term = &problem->term[i];
            double weight = ulna_term_weight(problem, term), x[3], y[3];
            if (term->type != ULNA_TERM_POINT || !(weight > 0))
                continue;
            ulna_pose_point_relative(work->pose, term->body, term->local, x);
            ulna_subtract3(term->goal, work->pose->origin, y);
            if (pass == 0) {
                total += weight;
                for (int k = 0; k < 3; k++) {
                    from[k] += weight * x[k];
                    to[k] += weight * y[k];
                }
                continue;
            }
            for (int k = 0; k < 9; k++)
                C[k] += weight * (x[k / 3] - from[k / 3] / total) * (y[k % 3] - to[k % 3] / total);
        }
    if (!(total > 0))
        return 0;
    best_rotation(C, rotation);
    double mean[3] = {from[0] / total, from[1] / total, from[2] / total}, turned[3];
    ulna_rotate(rotation, mean, turned);
    for (int k = 0; k < 3; k++)
        translation[k] = to[k] / total - turned[k];
    return 1;
}

ulna_status ulna_work_align_root(ulna_work *work, double *q)
{
    if (!work || !q)
        return ULNA_ERR_ARGUMENT;
    double f, moved, R[9], t[3], rotation[9], position[3], old_r[9], old_p[3], r[9], p[3];
    const ulna_model *model = work->problem->model;
    const ulna_body *root = &model->body[0];
    ulna_joint_plan plan;
    ulna_status status = ulna_work_evaluate(work, q, &f);
    if (status != ULNA_OK || !root->dof_count || !rigid_motion(work, R, t))
        return status;
    status = ulna_joint_resolve(&model->joint[0], &plan, NULL);
    if (status != ULNA_OK)
        return status;

    /* Where the root body should be, in the world; and the joint motion that puts it there. */
    ulna_pose_body_relative(work->pose, 0, old_p, old_r);
    ulna_compose(R, t, old_r, old_p, rotation, position);
    ulna_accumulate3(work->pose->origin, position);
    ulna_invert(root->placement_rotation, root->placement_position, old_r, old_p);
    ulna_compose(old_r, old_p, rotation, position, r, p);
    ulna_invert(root->offset_rotation, root->offset_position, old_r, old_p);
    ulna_compose(r, p, old_r, old_p, rotation, position);

    double before[7];
    size_t bytes = (size_t)root->coordinate_count * sizeof *q;
    memcpy(before, q + root->coordinate, bytes);
    ulna_joint_fit(&plan, ulna_problem_length_scale(work->problem), rotation, position, before, q + root->coordinate);
    for (int j = root->dof; j < root->dof + root->dof_count; j++) {
        int c = model->dof_coordinate[j];
        if (c >= 0)
            q[c] = fmin(fmax(q[c], model->lower[j]), model->upper[j]);
    }
    status = ulna_work_evaluate(work, q, &moved);
    if (status == ULNA_OK && moved <= f)
        return ULNA_OK;
    memcpy(q + root->coordinate, before, bytes); /* a root that cannot follow, or terms other than points */
    return ulna_work_evaluate(work, q, &f);
}

/* ---- restarts ---------------------------------------------------------------------------------------------------- */

/* Odd attempts from the second on scatter around the start, even ones over the whole range: a quarter turn to either
 * side of the rest value where there is no limit. The first one only moves the root. */
static void scatter(ulna_solver *s)
{
    const ulna_model *model = s->model;
    for (int j = 0; j < s->nv; j++) {
        int c = model->dof_coordinate[j];
        double near = SPREAD * ulna_random_normal(&s->random), wide = ulna_random_uniform(&s->random);
        s->step[j] = 0;
        if (s->locked[j] || s->attempt == 1)
            continue;
        if (s->attempt % 2 || c < 0) {
            s->step[j] = (s->attempt % 2 ? 1 : 3) * near * s->unit[j];
            continue;
        }
        double reach = 0.5 * ULNA_PI * s->unit[j];
        double low = isfinite(s->lower[j]) ? s->lower[j] : fmin(model->rest[c], s->upper[j]) - reach;
        double high = isfinite(s->upper[j]) ? s->upper[j] : fmax(model->rest[c], s->lower[j]) + reach;
        s->step[j] = low + wide * (high - low) - s->start_q[c];
    }
    ulna_model_integrate(model, s->start_q, s->step, s->q);
}

ulna_status ulna_start_again(ulna_solver *s)
{
    scatter(s);
    ulna_solver_clamp(s, s->q);
    int root_is_free = 1;
    for (int j = s->model->body[0].dof; j < s->model->body[0].dof + s->model->body[0].dof_count; j++)
        root_is_free &= !s->locked[j];
    if (!root_is_free)
        return ULNA_OK;
    ulna_status status = ulna_work_align_root(s->work, s->q);
    s->result.evaluations += 2;
    ulna_solver_clamp(s, s->q); /* the solver's own limits may be narrower */
    return status == ULNA_ERR_NUMBER ? ULNA_OK : status;
}
