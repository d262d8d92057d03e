/*
 * Levenberg-Marquardt on the reduced problem. Damping is lambda times the number of frames for offsets, which all have the
 * same unit, and lambda times their own curvature for scales. After each step all poses follow from where they were.
 */
#include <math.h>

#include "math/math3.h"
#include "mocap/calibrator.h"

#define FIRST_DAMPING 1e-3
#define LATER_DAMPING 1e-4 /* from the end of a search before */
#define MOST_DAMPING 1e6
#define LONGEST_SCALE 0.5 /* a bone may become half as long, or half as long again */

static void save(ulna_calibrator *c)
{
    memcpy(c->saved, c->z, (size_t)c->nz * sizeof *c->z);
    memcpy(c->saved_q, c->q, (size_t)c->keys * (size_t)c->nq * sizeof *c->q);
}

static void restore(ulna_calibrator *c)
{
    memcpy(c->z, c->saved, (size_t)c->nz * sizeof *c->z);
    memcpy(c->q, c->saved_q, (size_t)c->keys * (size_t)c->nq * sizeof *c->q);
}

static ulna_status prepare(ulna_calibrator *c)
{
    ulna_status status = ulna_calibrator_reduce(c);
    ulna_calibrator_add_expectation(c, c->prior, c->matrix, c->gradient);
    for (int i = 0; i < c->nz; i++) {
        double *entry = &c->matrix[(size_t)i * (size_t)(c->nz + 1)];
        if (i < c->groups) {
            *entry += c->scale_prior;
            c->gradient[i] += c->scale_prior * c->z[i];
        }
        c->diagonal[i] = i < c->groups ? *entry : c->keys;
    }
    return status;
}

void ulna_calibrator_substitute(size_t n, const double *L, double *x)
{
    for (size_t j = 0; j < n; j++) {
        x[j] /= L[j * (n + 1)];
        for (size_t i = j + 1; i < n; i++)
            x[i] -= L[i + n * j] * x[j];
    }
    for (size_t j = n; j-- > 0;) {
        for (size_t i = j + 1; i < n; i++)
            x[j] -= L[i + n * j] * x[i];
        x[j] /= L[j * (n + 1)];
    }
}

/* The damped step, with more damping where the matrix asks for it; what the model predicts to gain. */
static ulna_status find_step(ulna_calibrator *c, double *damping, double *predicted)
{
    size_t n = (size_t)c->nz;
    ulna_status status = ULNA_ERR_INDEFINITE;
    while (status == ULNA_ERR_INDEFINITE && *damping < MOST_DAMPING) {
        memcpy(c->factor, c->matrix, n * n * sizeof *c->factor);
        for (size_t i = 0; i < n; i++)
            c->factor[i * (n + 1)] += *damping * c->diagonal[i];
        status = c->kernel->cholesky(c->nz, c->factor) ? ULNA_OK : ULNA_ERR_INDEFINITE;
        if (status == ULNA_ERR_INDEFINITE)
            *damping = 4 * *damping + 1e-6;
    }
    if (status != ULNA_OK)
        return status;
    for (size_t i = 0; i < n; i++)
        c->step[i] = -c->gradient[i];
    ulna_calibrator_substitute(n, c->factor, c->step);
    *predicted = 0;
    for (size_t i = 0; i < n; i++)
        *predicted += 0.5 * c->step[i] * (*damping * c->diagonal[i] * c->step[i] - c->gradient[i]);
    return status;
}

static void take_step(ulna_calibrator *c)
{
    for (int i = 0; i < c->nz; i++)
        c->z[i] += c->step[i];
    for (int g = 0; g < c->groups; g++)
        c->z[g] = fmin(fmax(c->z[g], -LONGEST_SCALE), LONGEST_SCALE);
}

static ulna_status report_progress(ulna_calibrator *c)
{
    enum { USUAL_ROUNDS = 20 };
    c->rounds++;
    c->done += (100 - c->done) / USUAL_ROUNDS;
    int cancel = c->options.progress && c->options.progress(c->options.progress_context, c->done, 100);
    return cancel ? ULNA_ERR_STATE : ULNA_OK;
}

ulna_status ulna_calibrator_search(ulna_calibrator *c, double decrease, int most, int is_solved)
{
    double objective = ulna_calibrator_objective(c), next, predicted = 0;
    double damping = is_solved ? LATER_DAMPING : FIRST_DAMPING;
    int stale = 1, rejected = 0;
    ulna_status status = is_solved ? ulna_calibrator_apply(c) : ulna_calibrator_solve_all(c, 0, &objective);
    for (int round = 0; round < most && status == ULNA_OK; round++) {
        status = report_progress(c);
        if (status == ULNA_OK && stale)
            status = prepare(c);
        if (status == ULNA_OK)
            status = find_step(c, &damping, &predicted);
        if (status == ULNA_ERR_INDEFINITE) { /* no damping helps: as far as this goes */
            status = ULNA_OK;
            break;
        }
        if (status != ULNA_OK)
            break;
        save(c);
        take_step(c);
        status = ulna_calibrator_solve_all(c, 1, &next);
        if (status != ULNA_OK)
            break;
        double fall = objective - next;
        stale = fall > 0;
        if (fall > 0) {
            damping = fall > 0.75 * predicted ? 0.2 * damping : fall < 0.25 * predicted ? 4 * damping + 1e-6 : damping;
            objective = next;
            rejected = 0;
            if (fmin(fall, predicted) <= decrease * objective) /* else it is the poses that still move, not z */
                break;
            continue;
        }
        restore(c);
        rejected = 1;
        if (predicted <= decrease * objective || damping > MOST_DAMPING)
            break;
        damping = 8 * damping + 1e-5;
    }
    /* Weights and f are those of the step that was not taken: bring them to the poses that were kept. */
    return status == ULNA_OK && rejected ? ulna_calibrator_solve_all(c, 0, &objective) : status;
}
