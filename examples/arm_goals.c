/*
 * arm_goals: the arm sample takes its tool to a place, turned as asked, and says whether it got there.
 *
 * One solver serves any number of goals: change the goal, solve again from where the arm is. Nothing allocates in between.
 */
#include <ulna/ulna.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 7 };

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "arm_goals: %s: %s\n", ulna_status_text(status), error->message);
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
    double q[JOINTS], tool[3];
    int place, turn, reached = 0;
    const double down[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1}; /* the tool points to the floor */
    const double goals[][3] = {
        {0.5, 0.2, 0.3}, {0.3, -0.4, 0.2}, {0.4, 0.3, 0.1}, {2, 0, 0.5}}; /* m; the last: too far */
    const int count = sizeof goals / sizeof *goals;
    ulna_error_clear(&error);

    check(ulna_sample_create("arm", NULL, &model, &error), &error);
    int hand = ulna_model_marker_body(model, 0);
    check(ulna_model_marker_position(model, 0, tool), &error);

    /* Two terms: the tool's tip at a place, its body turned so. A weight of 0.1 puts the place first. */
    check(ulna_problem_create(model, NULL, &problem, &error), &error);
    check(ulna_problem_add_point(problem, hand, tool, goals[0], 1, &place, &error), &error);
    check(ulna_problem_add_orientation(problem, hand, down, 0.1, &turn, &error), &error);
    check(ulna_problem_ready(problem, &error), &error);

    ulna_options options = ulna_options_default();
    options.restarts = 20; /* if the first answer is not good enough, try from elsewhere */
    check(ulna_solver_create(problem, &options, NULL, &solver, &error), &error);
    memcpy(q, ulna_model_rest(model), sizeof q);

    printf("goal (m)               error (mm)  turned by (deg)  attempts  us    why it ended\n");
    for (int i = 0; i < count; i++) {
        double distance, angle;
        check(ulna_problem_set_goal(problem, place, goals[i]), &error);
        check(ulna_solve(solver, q, &result), &error);
        check(ulna_work_term_error(ulna_solver_work(solver), place, &distance), &error);
        check(ulna_work_term_error(ulna_solver_work(solver), turn, &angle), &error);
        reached += ulna_solver_reached(solver, 1e-6, 1e-6, NULL);
        printf("%5.2f %5.2f %5.2f   %12.6f  %15.6f  %8d  %-5.0f %s\n", goals[i][0], goals[i][1], goals[i][2],
               1e3 * distance, angle * 57.29577951308232, result.attempts, 1e6 * result.seconds,
               ulna_stop_text(result.stop));
    }
    printf("%d of %d reached; the last one is out of reach, and the arm points at it\n", reached, count);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return reached == count - 1 ? 0 : 1;
}
