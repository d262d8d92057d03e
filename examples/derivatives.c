/*
 * derivatives: the human sample follows its 41 markers, by Gauss-Newton and by the exact Hessian.
 *
 * The goals are a pose that differs in every joint, with each marker three centimetres off, as skin does it: f cannot
 * reach zero. Both start alike; then Gauss-Newton (t = 0) gains a fixed factor per step, and the exact Hessian (t = 1)
 * squares the error. Each step is one elimination on the tree. At the end the whole Hessian, for a solver of your own.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { STEPS = 16, COMMON = 6 };

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "derivatives: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

static double *numbers(int count)
{
    double *made = calloc((size_t)count, sizeof *made);
    if (!made)
        exit(1);
    return made;
}

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static double norm(const double *x, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

/* Goals: the markers at a pose away from rest, each moved by 3 cm in a direction of its own. */
static void set_goals(ulna_problem *problem, ulna_work *work, int first, ulna_error *error)
{
    const ulna_model *model = ulna_problem_model(problem);
    int nq = ulna_model_coordinate_count(model), markers = ulna_model_marker_count(model);
    double *q = numbers(nq), *goals = numbers(3 * markers), f;
    for (int k = 0; k < nq; k++)
        q[k] = ulna_model_rest(model)[k] + 0.25 * sin(3.0 * k);
    check(ulna_work_evaluate(work, q, &f), error);
    check(ulna_pose_markers(ulna_work_pose(work), goals), error);
    for (int m = 0; m < markers; m++) {
        goals[3 * m] += 0.03 * sin(2.0 * m) * cos(5.0 * m);
        goals[3 * m + 1] += 0.03 * sin(2.0 * m) * sin(5.0 * m);
        goals[3 * m + 2] += 0.03 * cos(2.0 * m);
    }
    check(ulna_problem_set_points(problem, first, markers, goals), error);
    free(q);
    free(goals);
}

/* Steps from rest; writes |gradient| before each. Returns the mean time of a step in microseconds. */
static double descend(ulna_work *work, const ulna_model *model, double t, double *gradients)
{
    int nv = ulna_model_dof_count(model), nq = ulna_model_coordinate_count(model);
    double *q = numbers(nq), *g = numbers(nv), *step = numbers(nv), *shift = numbers(nv), us = 0, f;
    memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);
    for (int i = 0; i < STEPS; i++) {
        ulna_step_options options = ulna_step_options_default();
        options.t = i < COMMON ? 0 : t;
        options.shift = shift;
        ulna_error error;
        ulna_error_clear(&error);
        check(ulna_work_evaluate(work, q, &f), &error);
        check(ulna_work_gradient(work, g), &error);
        gradients[i] = norm(g, nv);
        for (int d = 0; d < nv; d++)
            shift[d] = i < COMMON ? 0.1 * f : 0; /* damped while far away */
        double start = now_us();
        check(ulna_work_evaluate(work, q, &f), &error);
        check(ulna_work_step(work, &options, step, NULL, NULL), &error);
        ulna_model_integrate(model, q, step, q);
        us += now_us() - start;
    }
    free(q);
    free(g);
    free(step);
    free(shift);
    return us / STEPS;
}

/* The exact Hessian as a matrix, filled by all processors: does its product with x agree with the one that needs no matrix? */
static double difference_of_products(ulna_work *work, int nv)
{
    ulna_error error;
    ulna_error_clear(&error);
    double *hessian = numbers(nv * nv), *x = numbers(nv), *product = numbers(nv), *difference = numbers(nv);
    if (ulna_work_set_threads(work, 0) == ULNA_ERR_UNSUPPORTED)
        printf("built without OpenMP: one thread\n");
    for (int d = 0; d < nv; d++)
        x[d] = cos(d);
    check(ulna_work_hessian_dense(work, 1, hessian), &error);
    check(ulna_work_hessian_multiply(work, 1, x, product), &error);
    for (int i = 0; i < nv; i++) {
        difference[i] = -product[i];
        for (int j = 0; j < nv; j++)
            difference[i] += hessian[i * nv + j] * x[j];
    }
    double relative = norm(difference, nv) / norm(product, nv);
    free(hessian);
    free(x);
    free(product);
    free(difference);
    return relative;
}

int main(void)
{
    ulna_error error;
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    int first;
    ulna_error_clear(&error);
    check(ulna_sample_create("human", NULL, &model, &error), &error);
    check(ulna_problem_create(model, NULL, &problem, &error), &error);
    check(ulna_problem_add_markers(problem, &first, &error), &error);
    check(ulna_problem_add_posture(problem, NULL, NULL, 1e-3, NULL, &error),
          &error); /* for the thumbs, which no marker sees */
    check(ulna_problem_ready(problem, &error), &error);
    check(ulna_work_create(problem, NULL, &work, &error), &error);
    set_goals(problem, work, first, &error);

    double g[2][STEPS], us[2];
    for (int t = 0; t < 2; t++)
        us[t] = descend(work, model, t, g[t]);
    printf("%d degrees of freedom, %d markers, kernel %s; |gradient| in m2\n\n", ulna_model_dof_count(model),
           ulna_model_marker_count(model), ulna_pose_kernel(ulna_work_pose(work)));
    printf("  step   Gauss-Newton   exact Hessian\n");
    for (int i = 0; i < STEPS; i++)
        printf("  %4d   %12.2e   %13.2e\n", i, g[0][i], g[1][i]);
    double sum = 0, off;
    for (int m = 0; m < ulna_model_marker_count(model); m++) {
        check(ulna_work_term_error(work, first + m, &off), &error);
        sum += off * off;
    }
    printf("\nmarkers off by %.1f cm (rms) at the end; %.1f and %.1f us a step\n",
           100 * sqrt(sum / ulna_model_marker_count(model)), us[0], us[1]);
    double off_by = difference_of_products(work, ulna_model_dof_count(model));
    printf("Hessian as a matrix: products agree to %.0e\n", off_by);

    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return g[1][STEPS - 1] > 1e-10 || off_by > 1e-10; /* the exact Hessian has converged, or something is wrong */
}
