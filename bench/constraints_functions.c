/* A problem with constraints as plain functions: see constraints.h. */
#include "constraints.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void *take(size_t count, size_t size)
{
    void *memory = calloc(count + 1, size);
    ulna_scene_expect(memory ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    return memory;
}

void peer_functions_open(peer_functions *p, const ulna_scene *scene, const double *start)
{
    size_t n = (size_t)scene->nv, m = (size_t)ulna_problem_row_count(scene->problem);
    *p = (peer_functions){.nv = scene->nv,
                          .lower = ulna_model_lower(scene->model),
                          .upper = ulna_model_upper(scene->model),
                          .rows = take(m, sizeof *p->rows),
                          .q = take(n, sizeof *p->q),
                          .columns = take(n * m, sizeof *p->columns),
                          .z = take(m, sizeof *p->z),
                          .hessian = take(n * n, sizeof *p->hessian)};
    ulna_scene_expect(ulna_work_create(scene->problem, NULL, &p->work, NULL), "work");
    ulna_scene_expect(ulna_work_evaluate(p->work, start, &p->f), "evaluate");
    ulna_scene_expect(ulna_work_rows(p->work, 1, p->rows, &p->row_count), "rows");
    for (int i = 0; i < p->row_count; i++)
        p->equation_count += p->rows[i].is_equation;
    p->q[0] = NAN;
}

void peer_functions_close(peer_functions *p)
{
    ulna_work_destroy(p->work);
    free(p->rows);
    free(p->q);
    free(p->columns);
    free(p->z);
    free(p->hessian);
    *p = (peer_functions){0};
}

/* Evaluates once at each q. */
static void go_to(peer_functions *p, const double *q)
{
    int count;
    if (memcmp(p->q, q, (size_t)p->nv * sizeof *q) == 0)
        return;
    memcpy(p->q, q, (size_t)p->nv * sizeof *q);
    ulna_scene_expect(ulna_work_evaluate(p->work, q, &p->f), "evaluate");
    ulna_scene_expect(ulna_work_rows(p->work, 0, p->rows, &count), "rows");
}

double peer_value(peer_functions *p, const double *q)
{
    go_to(p, q);
    return p->f;
}

void peer_slope(peer_functions *p, const double *q, double *gradient)
{
    go_to(p, q);
    ulna_scene_expect(ulna_work_gradient(p->work, gradient), "gradient");
}

void peer_rows(peer_functions *p, const double *q, double *values)
{
    go_to(p, q);
    for (int i = 0; i < p->row_count; i++)
        values[i] = p->rows[i].value;
}

void peer_rows_jacobian(peer_functions *p, const double *q, double *jacobian)
{
    go_to(p, q);
    ulna_rows_jacobian(p->work, p->rows, p->row_count, (size_t)p->row_count, p->columns);
    for (int i = 0; i < p->row_count; i++)
        for (int d = 0; d < p->nv; d++)
            jacobian[(size_t)i * (size_t)p->nv + (size_t)d] = p->columns[(size_t)d * (size_t)p->row_count + (size_t)i];
}

const double *peer_lagrangian(peer_functions *p, const double *q, double factor, const double *multipliers)
{
    go_to(p, q);
    double scale = factor > 0 ? factor : 1;
    for (int i = 0; i < p->row_count; i++)
        p->z[i] = -multipliers[i] / scale;
    ulna_scene_expect(ulna_work_lagrangian_dense(p->work, 1, p->rows, p->row_count, p->z, p->hessian), "Hessian");
    size_t n2 = (size_t)p->nv * (size_t)p->nv;
    if (factor <= 0) { /* the constraints' part alone */
        double *f = take(n2, sizeof *f);
        ulna_scene_expect(ulna_work_hessian_dense(p->work, 1, f), "Hessian");
        for (size_t k = 0; k < n2; k++)
            p->hessian[k] -= f[k];
        free(f);
    }
    for (size_t k = 0; k < n2; k++)
        p->hessian[k] *= scale;
    return p->hessian;
}

double peer_violation(peer_functions *p, const double *q)
{
    double most = 0;
    go_to(p, q);
    for (int i = 0; i < p->row_count; i++) {
        double value = p->rows[i].value;
        most = fmax(most, p->rows[i].is_equation ? fabs(value) : -value);
    }
    return most;
}
