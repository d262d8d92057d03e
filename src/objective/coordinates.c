/*
 * Terms on coordinates: posture, limits, coupling.
 *
 * f = 1/2 w (q - reference)^2 per degree of freedom. A quaternion has no coordinates to subtract: its posture is
 * 1/2 w |phi|^2 with phi = log(R R_ref^T), gradient w phi, Gauss-Newton part w J^-T J^-1 with J the left Jacobian at phi,
 * exact Hessian w sym(J^-1); w is the mean of its three factors.
 */
#include "math/math3.h"
#include "objective/problem.h"

/* Weight of a coordinate term on one DOF. */
static double dof_weight(const ulna_problem *problem, double weight, int dof)
{
    return weight * problem->unit[dof];
}

/* phi of the quaternion segment that starts at DOF `dof` and coordinate `c`, and the inverse left Jacobian there. */
static void ball_difference(const double *q, const double *reference, double phi[3], double inverse[9])
{
    double back[4] = {-reference[0], -reference[1], -reference[2], reference[3]}, turn[4];
    ulna_quaternion_multiply(q, back, turn);
    ulna_quaternion_log(turn, phi);
    ulna_left_jacobian_inverse(phi, inverse);
}

static double mean_factor(const double *factor, int dof)
{
    return (factor[dof] + factor[dof + 1] + factor[dof + 2]) / 3;
}

static double posture(ulna_work *work, const ulna_term *term)
{
    const ulna_problem *problem = work->problem;
    const ulna_model *model = problem->model;
    const double *q = work->pose->q, *reference = term->values, *factor = term->values + model->nq;
    double weight = ulna_term_weight(problem, term), f = 0;
    for (int d = 0; d < model->nv; d++) {
        int c = model->dof_coordinate[d];
        if (c >= 0) {
            double w = dof_weight(problem, weight * factor[d], d), off = q[c] - reference[c];
            f += 0.5 * w * off * off;
            work->slope[d] += w * off;
            work->curve[d] += w;
            continue;
        }
        if (model->dof_part[d] || !work->couple) /* once per quaternion; `couple` is there if there is one */
            continue;
        double phi[3], inverse[9], w = dof_weight(problem, weight * mean_factor(factor, d), d);
        c = ulna_ball_coordinate(model, d);
        ball_difference(q + c, reference + c, phi, inverse);
        f += 0.5 * w * ulna_dot(phi, phi);
        for (int j = 0; j < 3; j++) {
            work->slope[d + j] += w * phi[j];
            for (int i = 0; i <= j; i++) {
                double square = 0, exact = 0.5 * (inverse[3 * i + j] + inverse[3 * j + i]);
                for (int k = 0; k < 3; k++)
                    square += inverse[3 * k + i] * inverse[3 * k + j];
                work->couple[3 * (d + j) + i] += w * square;
                work->couple_second[3 * (d + j) + i] += w * (square - exact);
            }
        }
    }
    return f;
}

/* How far a coordinate is beyond its limits: positive above, negative below, else 0. */
static double beyond(const ulna_model *model, const double *q, const ulna_term *term, int dof)
{
    int c = model->dof_coordinate[dof];
    if (c < 0)
        return 0;
    double lower = term->values[dof], upper = term->values[model->nv + dof];
    return q[c] > upper ? q[c] - upper : q[c] < lower ? q[c] - lower : 0;
}

static double limits(ulna_work *work, const ulna_term *term)
{
    const ulna_problem *problem = work->problem;
    double weight = ulna_term_weight(problem, term), f = 0;
    for (int d = 0; d < problem->model->nv; d++) {
        double off = beyond(problem->model, work->pose->q, term, d);
        if (off != 0) {
            double w = dof_weight(problem, weight, d);
            f += 0.5 * w * off * off;
            work->slope[d] += w * off;
            work->curve[d] += w;
        }
    }
    return f;
}

double ulna_coupling_residual(const ulna_work *work, const ulna_term *term)
{
    const ulna_model *model = work->problem->model;
    const double *q = work->pose->q;
    double a = q[model->dof_coordinate[term->dof_a]], b = q[model->dof_coordinate[term->dof_b]];
    return term->goal[1] - (b - term->goal[0] * a);
}

double ulna_coupling_weight(const ulna_problem *problem, const ulna_term *term)
{
    return dof_weight(problem, ulna_term_weight(problem, term), term->dof_b);
}

/* A posture or limits. Without quaternions coordinates are degrees of freedom, and the kernel knows what to do. */
static double coordinate_term(ulna_work *work, const ulna_term *term)
{
    const ulna_problem *problem = work->problem;
    const int nv = problem->model->nv, is_posture = term->type == ULNA_TERM_POSTURE;
    const ulna_kernel *kernel = work->pose->kernel;
    if (problem->model->nq != nv)
        return is_posture ? posture(work, term) : limits(work, term);
    return (is_posture ? kernel->posture : kernel->limits)(nv, work->pose->q, term->values, term->values + nv,
                                                           problem->unit, ulna_term_weight(problem, term), work->slope,
                                                           work->curve);
}

double ulna_coordinate_terms(ulna_work *work)
{
    const ulna_problem *problem = work->problem;
    size_t nv = (size_t)problem->model->nv;
    if (!problem->coordinate_count && !problem->coupling_count)
        return 0; /* the arrays are zero since the beginning */
    memset(work->slope, 0, nv * sizeof *work->slope);
    memset(work->curve, 0, nv * sizeof *work->curve);
    if (work->couple) {
        memset(work->couple, 0, 3 * nv * sizeof *work->couple);
        memset(work->couple_second, 0, 3 * nv * sizeof *work->couple_second);
    }
    double f = 0;
    for (int i = 0; i < problem->coordinate_count; i++)
        f += coordinate_term(work, &problem->term[problem->coordinate_term[i]]);
    for (int i = 0; i < problem->coupling_count; i++) {
        const ulna_term *term = &problem->term[problem->coupling_term[i]];
        double r = ulna_coupling_residual(work, term), w = ulna_coupling_weight(problem, term);
        f += 0.5 * w * r * r;
        work->slope[term->dof_b] -= w * r;
        work->slope[term->dof_a] += w * r * term->goal[0];
    }
    return f;
}

/* ---- the same as residuals, for dense methods ---------------------------------------------------------------- */

int ulna_coordinate_residuals(const ulna_work *work, const ulna_term *term, int at, int m, double *residuals,
                              double *jacobian)
{
    const ulna_problem *problem = work->problem;
    const ulna_model *model = problem->model;
    const double *q = work->pose->q;
    size_t rows = (size_t)m;
    if (term->type == ULNA_TERM_COUPLING) {
        double root = sqrt(ulna_coupling_weight(problem, term));
        if (residuals)
            residuals[at] = root * ulna_coupling_residual(work, term);
        if (jacobian) {
            jacobian[(size_t)term->dof_b * rows + (size_t)at] = root;
            jacobian[(size_t)term->dof_a * rows + (size_t)at] = -root * term->goal[0];
        }
        return 1;
    }
    double weight = ulna_term_weight(problem, term);
    const double *reference = term->values, *factor = term->values + model->nq;
    for (int d = 0; d < model->nv; d++) {
        int c = model->dof_coordinate[d];
        double *entry = jacobian ? jacobian + (size_t)d * rows + (size_t)(at + d) : NULL;
        if (term->type == ULNA_TERM_LIMITS || c >= 0) {
            double off = term->type == ULNA_TERM_LIMITS ? beyond(model, q, term, d) : q[c] - reference[c];
            double own = term->type == ULNA_TERM_LIMITS ? weight : weight * factor[d];
            double root = sqrt(dof_weight(problem, own, d));
            if (residuals)
                residuals[at + d] = -root * off;
            if (entry)
                *entry = term->type == ULNA_TERM_LIMITS && off == 0 ? 0 : root;
        } else if (model->dof_part[d] == 0) {
            double phi[3], inverse[9], root = sqrt(dof_weight(problem, weight * mean_factor(factor, d), d));
            c = ulna_ball_coordinate(model, d);
            ball_difference(q + c, reference + c, phi, inverse);
            for (int k = 0; k < 3; k++) {
                if (residuals)
                    residuals[at + d + k] = -root * phi[k];
                for (int j = 0; entry && j < 3; j++)
                    jacobian[(size_t)(d + j) * rows + (size_t)(at + d + k)] = root * inverse[3 * k + j];
            }
        }
    }
    return model->nv;
}

double ulna_coordinate_error(const ulna_work *work, const ulna_term *term, int dof)
{
    const ulna_model *model = work->problem->model;
    const double *q = work->pose->q;
    if (term->type == ULNA_TERM_LIMITS)
        return beyond(model, q, term, dof);
    int c = model->dof_coordinate[dof];
    if (c >= 0)
        return q[c] - term->values[c];
    double phi[3], inverse[9];
    c = ulna_ball_coordinate(model, dof);
    ball_difference(q + c, term->values + c, phi, inverse);
    return phi[model->dof_part[dof]];
}

/* ---- how the gradient answers the goal: ulna_work_sensitivity ------------------------------------------------------- */

/* Posture: gradient w (q - reference), or w phi for a quaternion, and log(exp(phi) exp(-x)) = phi - J_right^-1 x, where
 * J_right^-1 is the transpose of the left one. */
static void posture_slope(const ulna_work *work, const ulna_term *term, int dof, double *right)
{
    const ulna_model *model = work->problem->model;
    const double *factor = term->values + model->nq;
    double weight = ulna_term_weight(work->problem, term);
    if (model->dof_coordinate[dof] >= 0) {
        right[dof] += dof_weight(work->problem, weight * factor[dof], dof);
        return;
    }
    int part = model->dof_part[dof], first = dof - part, c = ulna_ball_coordinate(model, dof);
    double phi[3], inverse[9], w = dof_weight(work->problem, weight * mean_factor(factor, first), first);
    ball_difference(work->pose->q + c, term->values + c, phi, inverse);
    for (int i = 0; i < 3; i++)
        right[first + i] += w * inverse[3 * part + i];
}

void ulna_coordinate_goal_slope(const ulna_work *work, const ulna_term *term, int column, double *right)
{
    const ulna_problem *problem = work->problem;
    const ulna_model *model = problem->model;
    if (term->type == ULNA_TERM_POSTURE) {
        posture_slope(work, term, column, right);
    } else if (term->type == ULNA_TERM_LIMITS) {
        int dof = column % model->nv, is_upper = column >= model->nv;
        double off = beyond(model, work->pose->q, term, dof);
        if (is_upper ? off > 0 : off < 0)
            right[dof] += dof_weight(problem, ulna_term_weight(problem, term), dof);
    } else { /* coupling: gradient -w r at b and w r ratio at a, r = offset - q_b + ratio q_a */
        double w = ulna_coupling_weight(problem, term), r = ulna_coupling_residual(work, term), ratio = term->goal[0];
        double change = column == 0 ? work->pose->q[model->dof_coordinate[term->dof_a]] : 1; /* of r */
        right[term->dof_b] += w * change;
        right[term->dof_a] -= w * (ratio * change + (column == 0 ? r : 0));
    }
}
