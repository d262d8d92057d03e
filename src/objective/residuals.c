/* The problem as rows, r and J, for dense methods; and how far each term is from its goal. */
#include "base/parallel.h"
#include "kinematics/jacobian.h"
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

void ulna_pull_value(const ulna_work *work, const ulna_term *term, const ulna_pull *pull, double p[3], double r[3])
{
    const ulna_vec4 *frame = work->pose->frame + 4 * (size_t)work->problem->model->body[term->body].link;
    for (int i = 0; i < 3; i++) {
        p[i] = frame[0][i] * pull->local[0] + frame[1][i] * pull->local[1] + frame[2][i] * pull->local[2];
        p[i] += frame[3][i] * pull->local[3];
        r[i] = pull->goal[i] - work->pose->origin[i] * pull->local[3] - p[i];
    }
}

/* Three rows of J at once: what each DOF on the path of a body does to a point or direction x of it, times `scale`. */
static void spread_velocity(const ulna_work *work, int body, const double x[3], int is_point, double scale, size_t at,
                            double *jacobian)
{
    const int *path;
    int depth = ulna_dof_path(work->problem->model, body, &path);
    size_t m = (size_t)work->problem->residual_count;
    for (int k = 0; k < depth; k++) {
        const double *S = (const double *)(work->pose->motion + 2 * (size_t)path[k]);
        double *out = jacobian + (size_t)path[k] * m + at, turned[3];
        ulna_cross(S, x, turned);
        for (int i = 0; i < 3; i++)
            out[i] = scale * (is_point ? turned[i] + S[4 + i] : turned[i]);
    }
}

/* Points and directions: rows of p or d. */
static void pull_rows(const ulna_work *work, const ulna_term *term, double *residuals, double *jacobian)
{
    int is_point = term->type == ULNA_TERM_POINT, count = ulna_pulls_of(term->type);
    for (int i = 0; i < count; i++) {
        const ulna_pull *pull = &work->problem->pull[term->slot + i];
        size_t at = (size_t)term->row + 3 * (size_t)i;
        double p[3], r[3], root = sqrt(pull->goal[3]);
        ulna_pull_value(work, term, pull, p, r);
        const ulna_robust *robust = &work->problem->robust;
        root *= sqrt(ulna_loss_factor(robust->loss, ulna_dot(r, r), robust->inverse[term->slot + i]));
        for (int k = 0; residuals && k < 3; k++)
            residuals[at + (size_t)k] = root * r[k];
        if (jacobian)
            spread_velocity(work, term->body, p, is_point, root, at, jacobian);
    }
}

static void evaluate_term(const ulna_work *work, const ulna_term *term, double weight, ulna_term_value *value)
{
    ulna_body_place place;
    ulna_work_place(work, term->body, &place);
    memset(value, 0, sizeof *value);
    ulna_term_kind_of(term->type)->evaluate(term, weight, &place, value);
}

int ulna_work_residual_count(const ulna_work *work)
{
    return work ? work->problem->residual_count : 0;
}

typedef struct rows_job {
    const ulna_work *work;
    double *residuals, *jacobian; /* either may be NULL */
    int custom;                   /* do terms with callbacks, or all others */
} rows_job;

static void term_rows(const rows_job *job, const ulna_term *term)
{
    const ulna_work *work = job->work;
    const ulna_problem *problem = work->problem;
    if (ulna_term_kind_of(term->type)->evaluate) {
        ulna_term_value value;
        evaluate_term(work, term, ulna_term_weight(problem, term), &value);
        for (int k = 0; k < value.count; k++) {
            size_t at = (size_t)term->row + (size_t)k;
            if (job->residuals)
                job->residuals[at] = value.residual[k];
            if (job->jacobian)
                ulna_spread_row(work, term->body, value.row[k], at, (size_t)problem->residual_count, job->jacobian);
        }
    } else if (term->body != ULNA_NONE) {
        pull_rows(work, term, job->residuals, job->jacobian);
    } else {
        ulna_coordinate_residuals(work, term, term->row, problem->residual_count, job->residuals, job->jacobian);
    }
}

static void rows_of_terms(const void *context, int first, int last)
{
    const rows_job *job = context;
    const ulna_problem *problem = job->work->problem;
    for (int i = first; i < last; i++)
        if ((problem->term[i].type == ULNA_TERM_CUSTOM) == job->custom)
            term_rows(job, &problem->term[i]);
}

ulna_status ulna_work_residuals(ulna_work *work, double *residuals, double *jacobian)
{
    if (!work)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    const ulna_problem *problem = work->problem;
    int m = problem->residual_count, count = (int)problem->term_count;
    if (jacobian)
        memset(jacobian, 0, (size_t)m * (size_t)problem->model->nv * sizeof *jacobian);

    /* Every term has rows of its own, so that threads share them out. Callbacks stay in the caller's thread. */
    rows_job job = {.work = work, .jacobian = jacobian};
    job.residuals = residuals;
    double entries = jacobian ? 0.5 * m * problem->model->max_dof_depth : 0;
    ulna_parallel_for(work->pose->threads, 1.5e-3 * entries, count, 16, rows_of_terms, &job);
    job.custom = 1;
    rows_of_terms(&job, 0, count);
    return ULNA_OK;
}

ulna_status ulna_point_errors(const ulna_work *work, int first, int count, int is_stepped, double *errors)
{
    const ulna_problem *problem = work->problem;
    if (!work->pose->placed || first < 0 || count < 0 || (size_t)first + (size_t)count > problem->term_count)
        return work->pose->placed ? ULNA_ERR_ARGUMENT : ULNA_ERR_STATE;
    double *distances = work->targets.squares;
    work->pose->kernel->distances(work->pose, &work->targets, is_stepped ? &work->sweep : NULL, distances);
    for (int i = 0; i < count; i++) {
        const ulna_term *term = &problem->term[first + i];
        errors[i] = term->sleeping ? (double)NAN : distances[term->slot];
    }
    return ULNA_OK;
}

ulna_status ulna_work_term_error(ulna_work *work, int term, double *error)
{
    if (!work || !error || term < 0 || (size_t)term >= work->problem->term_count)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    const ulna_term *t = &work->problem->term[term];
    *error = t->sleeping ? (double)NAN : ulna_term_kind_of(t->type)->error(work, t);
    return t->sleeping || isfinite(*error) ? ULNA_OK : ULNA_ERR_NUMBER; /* a callback of weight 0 may fail here first */
}
