/*
 * live: markers that arrive one frame at a time, as from a motion capture system: a tracker holds the pose from frame to
 * frame. And a solve one iteration at a time, as a program that draws every iteration needs it, then with a joint locked.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "live: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* Ten frames of an arm that rises; returns the largest distance of any marker in the last one. */
static double track(const ulna_model *model)
{
    ulna_error error;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_tracker *tracker;
    ulna_pose *actor;
    const size_t nq = (size_t)ulna_model_coordinate_count(model), markers = (size_t)ulna_model_marker_count(model);
    double *truth = calloc(nq, sizeof *truth), *q = calloc(nq, sizeof *q), worst = 0;
    double *positions = calloc(3 * markers, sizeof *positions), *distances = calloc(markers, sizeof *distances);
    int arm;
    ulna_error_clear(&error);
    check(ulna_marker_set_from_model(&set, model), &error);
    check(ulna_tracker_create(model, &set, NULL, NULL, &tracker, &error), &error);
    check(ulna_pose_create(model, NULL, &actor, &error), &error);
    memcpy(truth, ulna_model_rest(model), nq * sizeof *truth);
    ulna_model_body_coordinates(model, ulna_model_find_body(model, "left_upper_arm"), &arm);
    ulna_tracker_reset(tracker, ulna_model_rest(model)); /* where the first frame starts from */
    for (int frame = 0; frame < 10; frame++) {
        ulna_frame_report report;
        truth[arm] = 0.05 * frame;
        check(ulna_pose_forward(actor, truth), &error);
        check(ulna_pose_markers(actor, positions), &error);
        check(ulna_tracker_frame(tracker, positions, q, &report), &error);
    }
    check(ulna_tracker_residuals(tracker, distances), &error);
    for (size_t i = 0; i < markers; i++)
        worst = fmax(worst, distances[i]);
    printf("tracked: the arm is at %.3f rad, markers within %.0e m\n", q[arm], worst);
    ulna_pose_destroy(actor);
    ulna_tracker_destroy(tracker);
    ulna_marker_set_release(&set);
    free(truth);
    free(q);
    free(positions);
    free(distances);
    return worst;
}

int main(void)
{
    ulna_error error;
    ulna_model *human, *arm;
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_result result, whole, with_lock;
    ulna_stop stop = ULNA_STOP_NONE;
    double q[7], once[7];
    const double goal[3] = {0.3, 0.2, 0.5};
    ulna_error_clear(&error);
    check(ulna_sample_create("human", NULL, &human, &error), &error);
    check(ulna_sample_create("arm", NULL, &arm, &error), &error);
    int failed = !(track(human) < 1e-3);

    /* One iteration at a time. */
    check(ulna_problem_create(arm, NULL, &problem, &error), &error);
    check(ulna_problem_add_point(problem, ulna_model_find_body(arm, "flange"), NULL, goal, 1, NULL, &error), &error);
    check(ulna_problem_ready(problem, &error), &error);
    check(ulna_solver_create(problem, NULL, NULL, &solver, &error), &error);
    check(ulna_solver_begin(solver, ulna_model_rest(arm)), &error);
    while (stop == ULNA_STOP_NONE) {
        check(ulna_solver_step(solver, &stop), &error);
        printf("elbow at %.3f rad\n", ulna_solver_q(solver)[3]); /* a program would draw the pose */
    }
    check(ulna_solver_end(solver, q, &result), &error);

    /* The elbow stays where it is, and the goal moves: options change without allocating. */
    const unsigned char locked[7] = {[3] = 1};
    const double next[3] = {0.3, 0.25, 0.5};
    const double elbow = q[3];
    double moved[7];
    ulna_options options = ulna_options_default();
    options.locked = locked;
    memcpy(moved, q, sizeof moved);
    check(ulna_problem_set_goal(problem, 0, next), &error);
    check(ulna_solver_set_options(solver, &options, &error), &error);
    check(ulna_solve(solver, moved, &with_lock), &error);
    printf("elbow locked: %s\n", ulna_stop_text(with_lock.stop));
    failed |= moved[3] != elbow || !with_lock.converged;
    check(ulna_problem_set_goal(problem, 0, goal), &error);
    ulna_solver_destroy(solver);

    /* The same in one call. */
    memcpy(once, ulna_model_rest(arm), sizeof once);
    check(ulna_solve_once(problem, NULL, once, &whole, &error), &error);
    printf("%d iterations, %s; in one call %d\n", result.iterations, ulna_stop_text(result.stop), whole.iterations);
    failed |= memcmp(q, once, sizeof q) != 0;

    ulna_problem_destroy(problem);
    ulna_model_destroy(arm);
    ulna_model_destroy(human);
    return failed;
}
