/* The problem as rows, r and J, for dense methods; and how far each term is from its goal. */
#include "math/math3.h"
#include "objective/problem.h"

void ulna_spread_row(const ulna_work *work, int body, const double row[6], size_t at, size_t m, double *jacobian)
{
    const ulna_model *model = work->problem->model;
    for (int b = body; b >= 0; b = model->body[b].parent)
        for (int d = model->body[b].dof; d < model->body[b].dof + model->body[b].dof_count; d++) {
            const double *S = (const double *)(work->pose->motion + 2 * (size_t)d);
            jacobian[(size_t)d * m + at] =
                row[0] * S[0] + row[1] * S[1] + row[2] * S[2] + row[3] * S[4] + row[4] * S[5] + row[5] * S[6];
        }
}

/* Value and residual of a point, relative to the pose's origin, or of a direction. The sweeps keep their sums alone. */
static void pull_value(const ulna_work *work, const ulna_term *term, const ulna_pull *pull, double p[3], double r[3])
{
    const ulna_vec4 *frame = work->pose->frame + 4 * (size_t)work->problem->model->body[term->body].link;
    for (int i = 0; i < 3; i++) {
        p[i] = frame[0][i] * pull->local[0] + frame[1][i] * pull->local[1] + frame[2][i] * pull->local[2];
        p[i] += frame[3][i] * pull->local[3];
        r[i] = pull->goal[i] - work->pose->origin[i] * pull->local[3] - p[i];
    }
}

/* Points and directions: rows e_k.p or e_k.d. */
static int pull_rows(const ulna_work *work, const ulna_term *term, size_t at, double *residuals, double *jacobian)
{
    const ulna_problem *problem = work->problem;
    size_t m = (size_t)problem->residual_count;
    int is_point = term->type == ULNA_TERM_POINT, count = term->type == ULNA_TERM_ORIENTATION ? 3 : 1;
    for (int i = 0; i < count; i++) {
        const ulna_pull *pull = &problem->pull[term->slot + i];
        double p[3], r[3], root = sqrt(pull->goal[3]);
        pull_value(work, term, pull, p, r);
        for (int k = 0; k < 3; k++, at++) {
            double unit[3] = {k == 0, k == 1, k == 2}, row[6] = {0};
            ulna_cross(p, unit, row);
            if (is_point)
                row[3 + k] = 1;
            for (int x = 0; x < 6; x++)
                row[x] *= root;
            if (residuals)
                residuals[at] = root * r[k];
            if (jacobian)
                ulna_spread_row(work, term->body, row, at, m, jacobian);
        }
    }
    return 3 * count;
}

static void evaluate_term(const ulna_work *work, const ulna_term *term, double weight, ulna_term_value *value)
{
    ulna_body_place place;
    ulna_work_place(work, term->body, &place);
    memset(value, 0, sizeof *value);
    ulna_term_kind_of(term->type)->evaluate(term, weight, &place, value);
}

int ulna_residual_count(const ulna_work *work)
{
    return work ? work->problem->residual_count : 0;
}

ulna_status ulna_residuals(ulna_work *work, double *residuals, double *jacobian)
{
    if (!work)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    const ulna_problem *problem = work->problem;
    int m = problem->residual_count, at = 0;
    if (jacobian)
        memset(jacobian, 0, (size_t)m * (size_t)problem->model->nv * sizeof *jacobian);
    for (size_t i = 0; i < problem->term_count; i++) {
        const ulna_term *term = &problem->term[i];
        const ulna_term_kind *kind = ulna_term_kind_of(term->type);
        if (kind->evaluate) {
            ulna_term_value value;
            evaluate_term(work, term, ulna_term_weight(problem, term), &value);
            for (int k = 0; k < value.count; k++, at++) {
                if (residuals)
                    residuals[at] = value.residual[k];
                if (jacobian)
                    ulna_spread_row(work, term->body, value.row[k], (size_t)at, (size_t)m, jacobian);
            }
        } else if (term->body != ULNA_NONE) {
            at += pull_rows(work, term, (size_t)at, residuals, jacobian);
        } else {
            at += ulna_coordinate_residuals(work, term, at, m, residuals, jacobian);
        }
    }
    return ULNA_OK;
}

static double angle_between(const double a[3], const double b[3])
{
    double c[3];
    ulna_cross(a, b, c);
    return atan2(ulna_norm(c), ulna_dot(a, b));
}

ulna_status ulna_term_error(ulna_work *work, int term, double *error)
{
    if (!work || !error || term < 0 || (size_t)term >= work->problem->term_count)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    const ulna_problem *problem = work->problem;
    const ulna_model *model = problem->model;
    const ulna_term *t = &problem->term[term];
    double sum = 0, rotation[9], back[9], between[9], w[3], axis[3];
    if (t->sleeping) {
        *error = (double)NAN;
        return ULNA_OK;
    }
    switch (t->type) {
    case ULNA_TERM_POINT:
        pull_value(work, t, &problem->pull[t->slot], axis, w);
        *error = ulna_norm(w);
        return ULNA_OK;
    case ULNA_TERM_ORIENTATION:
    case ULNA_TERM_GEODESIC:
        ulna_pose_body_relative(work->pose, t->body, NULL, rotation);
        ulna_transpose9(rotation, back);
        ulna_multiply9(t->goal, back, between);
        ulna_log(between, w);
        *error = ulna_norm(w);
        return ULNA_OK;
    case ULNA_TERM_DIRECTION:
        ulna_pose_body_relative(work->pose, t->body, NULL, rotation);
        ulna_rotate(rotation, t->local + 3, axis);
        *error = angle_between(axis, t->goal);
        return ULNA_OK;
    case ULNA_TERM_AIM:
        ulna_pose_body_relative(work->pose, t->body, NULL, rotation);
        ulna_rotate(rotation, t->local + 3, axis);
        ulna_pose_point_relative(work->pose, t->body, t->local, w);
        for (int i = 0; i < 3; i++)
            w[i] = (t->goal[i] - work->pose->origin[i]) - w[i];
        *error = ulna_norm(w) > ULNA_AIM_NEAREST ? angle_between(axis, w) : 0;
        return ULNA_OK;
    case ULNA_TERM_PLANE:
    case ULNA_TERM_LINE:
    case ULNA_TERM_CUSTOM: {
        ulna_term_value value;
        evaluate_term(work, t, 1, &value);
        for (int k = 0; k < value.count; k++)
            sum += value.residual[k] * value.residual[k];
        *error = sqrt(sum);
        return isfinite(sum) ? ULNA_OK
                             : ULNA_ERR_NUMBER; /* a callback of weight 0 that fails has not been asked before */
    }
    case ULNA_TERM_COUPLING:
        *error = fabs(ulna_coupling_residual(work, t));
        return ULNA_OK;
    case ULNA_TERM_POSTURE:
    case ULNA_TERM_LIMITS:
    default:
        for (int d = 0; d < model->nv; d++) {
            double off = ulna_coordinate_error(work, t, d);
            sum += off * off;
        }
        *error = sqrt(sum);
        return ULNA_OK;
    }
}
