/*
 * keep_limits: the arm sample reaches for a place, inside its joint limits, with nothing but ulna_work_step.
 *
 * A step that would pass a limit is not clamped afterwards: the joint is locked, moving exactly onto its limit, and the others
 * are solved again around it. A joint at its limit stays there while the gradient pushes outwards.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 7 };

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "keep_limits: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* One step from q, inside the limits; returns how many joints were locked. */
static int bounded_step(ulna_work *work, const ulna_model *model, const double *q, double damping, double *step)
{
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model);
    double gradient[JOINTS], shift[JOINTS], displacement[JOINTS] = {0};
    unsigned char locked[JOINTS] = {0};
    ulna_step_options options = ulna_step_options_default();
    ulna_error error;
    int count = 0;
    ulna_error_clear(&error);
    check(ulna_work_gradient(work, gradient), &error);
    for (int j = 0; j < JOINTS; j++) {
        shift[j] = damping;
        locked[j] = (q[j] <= lower[j] && gradient[j] > 0) || (q[j] >= upper[j] && gradient[j] < 0);
    }
    options.shift = shift;
    options.locked = locked;
    options.displacement = displacement;
    for (int again = 1; again;) {
        check(ulna_work_step(work, &options, step, NULL, NULL), &error);
        again = 0;
        for (int j = 0; j < JOINTS; j++)
            if (!locked[j] && (q[j] + step[j] < lower[j] || q[j] + step[j] > upper[j])) {
                locked[j] = 1;
                displacement[j] = (step[j] < 0 ? lower[j] : upper[j]) - q[j];
                again = 1;
            }
    }
    for (int j = 0; j < JOINTS; j++)
        count += locked[j];
    return count;
}

int main(void)
{
    ulna_error error;
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    double q[JOINTS], moved[JOINTS], step[JOINTS], f, f_moved, damping = 1e-3, off;
    const double goal[3] = {-0.45, 0.1, -0.15}; /* behind and below the shoulder: the limits will matter */
    int term, locked = 0;
    ulna_error_clear(&error);
    check(ulna_sample_create("arm", NULL, &model, &error), &error);
    int tool = ulna_model_find_marker(model, ulna_model_marker_name(model, 0));
    double point[3];
    check(ulna_model_marker_position(model, tool, point), &error);
    check(ulna_problem_create(model, NULL, &problem, &error), &error);
    check(ulna_problem_add_point(problem, ulna_model_marker_body(model, tool), point, goal, 1, &term, &error), &error);
    check(ulna_problem_ready(problem, &error), &error);
    check(ulna_work_create(problem, NULL, &work, &error), &error);
    memcpy(q, ulna_model_rest(model), sizeof q);
    for (int j = 0; j < JOINTS; j++)
        q[j] += 0.1; /* off the straight pose, where no joint moves the tool along the arm */

    check(ulna_work_evaluate(work, q, &f), &error);
    printf("step   to the goal   at limits\n");
    for (int i = 1; i <= 60 && f > 1e-20 && damping < 1e6; i++) {
        locked = bounded_step(work, model, q, damping, step);
        ulna_model_integrate(model, q, step, moved);
        ulna_model_clamp(model, moved); /* rounding only */
        check(ulna_work_evaluate(work, moved, &f_moved), &error);
        if (f_moved >= f) { /* too far: closer to the gradient, and shorter */
            damping *= 8;
            check(ulna_work_evaluate(work, q, &f), &error);
            continue;
        }
        damping = fmax(0.2 * damping, 1e-9);
        f = f_moved;
        memcpy(q, moved, sizeof q);
        if (i % 4 == 1 || f < 1e-20)
            printf("%4d   %9.2e m   %9d\n", i, sqrt(2 * f), locked);
    }
    check(ulna_work_evaluate(work, q, &f), &error);
    check(ulna_work_term_error(work, term, &off), &error);
    printf("%s: %.1e m from the goal\n", off < 1e-6 ? "reached" : "as near as the limits allow", off);
    int outside = ulna_model_clamp(model, q);

    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return outside; /* never outside */
}
