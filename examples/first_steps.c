/*
 * first_steps: what every program on Ulna does. Take a skeleton, say where a point of it should be, solve, read the joints.
 *
 *     cc first_steps.c $(pkg-config --cflags --libs ulna) -o first_steps && ./first_steps
 */
#include <ulna/ulna.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 7 };

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "first_steps: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

int main(void)
{
    ulna_error error;
    ulna_model *model;
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_result result;
    double q[JOINTS], tip[3], goal[3] = {0.5, 0.2, 0.3}; /* m */
    ulna_error_clear(&error);

    /* The skeleton: a built-in robot arm with a marker at the tip of its tool. ulna_model_load reads one from a file. */
    check(ulna_sample_create("arm", NULL, &model, &error), &error);
    int tool = ulna_model_marker_body(model, 0);
    check(ulna_model_marker_position(model, 0, tip), &error);

    /* The goal: the tip of the tool at that place. */
    check(ulna_problem_create(model, NULL, &problem, &error), &error);
    check(ulna_problem_add_point(problem, tool, tip, goal, 1, NULL, &error), &error);
    check(ulna_problem_ready(problem, &error), &error);

    /* Solve, from the rest pose. Afterwards q is the answer: radians for joints that rotate, metres for those that slide. */
    check(ulna_solver_create(problem, NULL, NULL, &solver, &error), &error);
    memcpy(q, ulna_model_rest(model), sizeof q);
    check(ulna_solve(solver, q, &result), &error);

    for (int dof = 0; dof < JOINTS; dof++)
        printf("%-12s %8.2f deg\n", ulna_model_body_name(model, ulna_model_dof_body(model, dof)),
               q[ulna_model_dof_coordinate(model, dof)] * 57.29577951308232);
    int reached = ulna_solver_reached(solver, 1e-6, 1e-6, NULL);
    printf("the goal is %s: %s, %d iterations\n", reached ? "reached" : "not reached", ulna_stop_text(result.stop),
           result.iterations);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return reached ? 0 : 1;
}
