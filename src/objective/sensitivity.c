/*
 * How the solution answers a change of a goal, and how sure it is.
 *
 * At a solution gradient(q, goal) = 0 on the free DOFs, so that dq/dgoal = -H^-1 d(gradient)/d(goal) with the exact
 * Hessian. A term on a body pulls with the spatial force F = sum r_k row_k, and gradient_j = -S_j . F: what is needed
 * is dF/dgoal at a body that stays where it is, one force for each number of the goal. P(u) = I - u uT below is the
 * derivative of bringing a vector to unit length, taken at unit length.
 *
 * Where H is singular there is no answer, where it is indefinite q was no minimum: both are told by the elimination.
 * Noise beyond the first order, and goals that switch terms on and off (limits), are not seen.
 */
#include "math/math3.h"
#include "objective/problem.h"

/* dF/dgoal: one spatial force (torque, force) about the pose's origin for each number. */
typedef double forces[9][6];

/* Adds the force of a pull c at the point or direction x. */
static void add_force(const double c[3], const double x[3], int is_point, double force[6])
{
    ulna_row_of(c, x, 1, is_point, force);
}

/* scale P(u) e_k */
static void project(const double u[3], int k, double scale, double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = scale * ((i == k) - u[k] * u[i]);
}

/* ---- terms on bodies ---------------------------------------------------------------------------------------- */

static void point_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    double p[3];
    ulna_term_point(term, place, p);
    for (int k = 0; k < 3; k++) {
        double c[3] = {w * (k == 0), w * (k == 1), w * (k == 2)};
        add_force(c, p, 1, slope[k]);
    }
}

/* r = g - d, torque w d x g. */
static void direction_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    double d[3], c[3];
    ulna_rotate(place->rotation, term->local + 3, d);
    for (int k = 0; k < 3; k++) {
        project(term->goal, k, w, c);
        add_force(c, d, 0, slope[k]);
    }
}

/* Three directions of half the weight, whose goals turn by e_k x g. */
static void orientation_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    for (int column = 0; column < 3; column++) {
        double d[3], g[3];
        for (int i = 0; i < 3; i++) {
            d[i] = place->rotation[3 * i + column];
            g[i] = 0.5 * w * term->goal[3 * i + column];
        }
        for (int k = 0; k < 3; k++) {
            double unit[3] = {k == 0, k == 1, k == 2}, c[3];
            ulna_cross(unit, g, c);
            add_force(c, d, 0, slope[k]);
        }
    }
}

/* The torque is w r, r = log(R_goal RT), since J_left^-1(r) r = r; and log(exp(x) exp(r)) = r + J_left^-1(r) x. */
static void geodesic_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    double back[9], between[9], r[3], left[9];
    ulna_transpose9(place->rotation, back);
    ulna_multiply9(term->goal, back, between);
    ulna_log(between, r);
    ulna_left_jacobian_inverse(r, left);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            slope[k][i] = w * left[3 * i + k];
}

/* Pull (n.e) n with e = point on the plane - p. */
static void plane_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    const double *n = term->goal + 3;
    double p[3], e[3], change[3], c[3];
    ulna_term_point(term, place, p);
    ulna_term_to_goal(term, place, p, e);
    double distance = ulna_dot(n, e);
    for (int k = 0; k < 3; k++) {
        project(n, k, w, change);
        double along = ulna_dot(change, e);
        for (int i = 0; i < 3; i++)
            c[i] = w * n[k] * n[i];
        add_force(c, p, 1, slope[k]);
        for (int i = 0; i < 3; i++)
            c[i] = along * n[i] + distance * change[i];
        add_force(c, p, 1, slope[3 + k]);
    }
}

/* Pull P(u) e with e = point on the line - p. */
static void line_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    const double *u = term->goal + 3;
    double p[3], e[3], change[3], c[3];
    ulna_term_point(term, place, p);
    ulna_term_to_goal(term, place, p, e);
    double off = ulna_dot(u, e);
    for (int k = 0; k < 3; k++) {
        project(u, k, w, c);
        add_force(c, p, 1, slope[k]);
        project(u, k, w, change);
        double along = ulna_dot(change, e);
        for (int i = 0; i < 3; i++)
            c[i] = -off * change[i] - along * u[i];
        add_force(c, p, 1, slope[3 + k]);
    }
}

/* Pull n at the direction d and -P(n) d / |e| at the point p, with n = e / |e|, e = goal - p; dn = P(n) e_k / |e|. */
static void aim_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    double p[3], e[3], d[3], n[3], change[3], turn[3], c[3];
    ulna_term_point(term, place, p);
    ulna_term_to_goal(term, place, p, e);
    ulna_rotate(place->rotation, term->local + 3, d);
    double distance = ulna_norm(e);
    if (!(distance > term->nearest))
        return;
    for (int i = 0; i < 3; i++)
        n[i] = e[i] / distance;
    double along = ulna_dot(n, d);
    for (int k = 0; k < 3; k++) {
        project(n, k, 1 / distance, change);
        double across = ulna_dot(change, d);
        for (int i = 0; i < 3; i++) {
            turn[i] = w * change[i];
            c[i] = w * (along * change[i] + across * n[i] + (d[i] - along * n[i]) * n[k] / distance) / distance;
        }
        add_force(turn, d, 0, slope[k]);
        add_force(c, p, 1, slope[k]);
    }
}

/* Differences of F over the goal. Nothing is known of the callback's units: plain numbers of order 1 or larger. */
static void custom_slope(const ulna_term *term, double w, const ulna_body_place *place, forces slope)
{
    for (int k = 0; k < term->custom.goal_size; k++) {
        double reach = 6e-6 * fmax(1, fabs(term->goal[k])), ends[2];
        for (int side = 0; side < 2; side++) {
            ulna_term moved = *term;
            ulna_term_value value = {0};
            ends[side] = moved.goal[k] += side ? reach : -reach;
            ulna_evaluate_custom(&moved, w, place, &value);
            for (int j = 0; j < value.count; j++)
                for (int i = 0; i < 6; i++)
                    slope[k][i] += (side ? 1 : -1) * value.residual[j] * value.row[j][i];
        }
        for (int i = 0; i < 6; i++)
            slope[k][i] /= ends[1] - ends[0];
    }
}

/* ---- any term ------------------------------------------------------------------------------------------------ */

/* Columns and dF/dgoal of terms on bodies. */
static const struct {
    int columns; /* 0: depends on the model or the term */
    void (*slope)(const ulna_term *term, double w, const ulna_body_place *place, forces slope);
} goals[ULNA_TERM_TYPE_COUNT] = {
    [ULNA_TERM_POINT] = {3, point_slope},       [ULNA_TERM_ORIENTATION] = {3, orientation_slope},
    [ULNA_TERM_GEODESIC] = {3, geodesic_slope}, [ULNA_TERM_DIRECTION] = {3, direction_slope},
    [ULNA_TERM_AIM] = {3, aim_slope},           [ULNA_TERM_PLANE] = {6, plane_slope},
    [ULNA_TERM_LINE] = {6, line_slope},         [ULNA_TERM_COUPLING] = {2, NULL},
    [ULNA_TERM_CUSTOM] = {0, custom_slope},
};

int ulna_sensitivity_columns(const ulna_problem *problem, int term)
{
    const ulna_term *t = ulna_term_at(problem, term);
    if (!t)
        return -1;
    if (t->type == ULNA_TERM_POSTURE)
        return problem->model->nv;
    int columns = goals[t->type].columns;
    return columns ? columns : ulna_term_goal_size(problem->model, t);
}

/* -d(gradient)/d(goal), nv x columns. */
static void right_sides(const ulna_work *work, const ulna_term *term, int columns, double *right)
{
    size_t nv = (size_t)work->problem->model->nv;
    double w = ulna_term_weight(work->problem, term);
    memset(right, 0, nv * (size_t)columns * sizeof *right);
    if (!(w > 0))
        return;
    ulna_body_place place;
    forces slope = {{0}};
    if (goals[term->type].slope) {
        ulna_work_place(work, term->body, &place);
        goals[term->type].slope(term, w, &place, slope);
    }
    for (int k = 0; k < columns; k++) {
        double *column = right + (size_t)k * nv;
        if (goals[term->type].slope)
            ulna_spread_row(work, term->body, slope[k], 0, 1, column);
        else
            ulna_coordinate_goal_slope(work, term, k, column);
    }
}

/* Factors H + shift; the step itself goes where nothing is kept. */
static ulna_status factor(ulna_work *work, const unsigned char *locked, const double *shift)
{
    ulna_step_options options = {.t = 1, .shift = shift, .locked = locked};
    return ulna_work_step(work, &options, work->sweep.right, NULL, NULL);
}

static ulna_status solve_columns(ulna_work *work, int columns, double *x)
{
    ulna_status status = ULNA_OK;
    for (int k = 0; k < columns && status == ULNA_OK; k++) {
        double *column = x + (size_t)k * (size_t)work->problem->model->nv;
        status = ulna_work_step_solve(work, column, column);
    }
    return status;
}

ulna_status ulna_work_sensitivity(ulna_work *work, const unsigned char *locked, const double *shift, int term,
                                  double *dq)
{
    if (!work || !dq)
        return ULNA_ERR_ARGUMENT;
    int columns = ulna_sensitivity_columns(work->problem, term);
    if (columns < 0)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = factor(work, locked, shift);
    if (status != ULNA_OK)
        return status;
    right_sides(work, &work->problem->term[term], columns, dq);
    return solve_columns(work, columns, dq);
}

/* ---- covariance ---------------------------------------------------------------------------------------------- */

static void transpose(double *A, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++) {
            double keep = A[j * n + i];
            A[j * n + i] = A[i * n + j];
            A[i * n + j] = keep;
        }
}

/* A covariance is symmetric and positive semidefinite. Where H is all but singular, H^-1 JtJ H^-1 cancels, and what is left
 * is neither: then no number in it can be trusted. */
static int is_spoilt(const double *covariance, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            double a = covariance[i * n + i], b = covariance[j * n + j], upper = covariance[j * n + i];
            double bound = a * b, off = upper - covariance[i * n + j];
            if (!(a >= 0) || !(b >= 0) || off * off > 1e-8 * bound || upper * upper > (1 + 1e-6) * bound + 1e-300)
                return 1;
        }
    return 0;
}

/*
 * Noise e of unit variance in the weighted residuals moves the solution by dq = H^-1 Jt e, so its covariance is
 * H^-1 JtJ H^-1. In place: A = JtJ; A <- H^-1 A by columns, transpose, and once more, since both are symmetric.
 */
ulna_status ulna_work_covariance(ulna_work *work, const unsigned char *locked, const double *shift, double sigma,
                                 double *covariance)
{
    if (!work || !covariance || !(sigma >= 0) || isinf(sigma))
        return ULNA_ERR_ARGUMENT;
    size_t n = (size_t)work->problem->model->nv;
    ulna_status status = ulna_work_hessian_dense(work, 0, covariance);
    if (status == ULNA_OK)
        status = factor(work, locked, shift);
    if (status == ULNA_OK)
        status = solve_columns(work, (int)n, covariance);
    if (status != ULNA_OK)
        return status;
    transpose(covariance, n);
    status = solve_columns(work, (int)n, covariance);
    if (status == ULNA_OK && is_spoilt(covariance, n))
        return ULNA_ERR_SINGULAR;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i <= j; i++) {
            double mean = 0.5 * (covariance[j * n + i] + covariance[i * n + j]);
            covariance[j * n + i] = covariance[i * n + j] = sigma * sigma * mean;
        }
    return status;
}
