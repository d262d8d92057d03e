/*
 * drag_hand: somebody drags the right hand of the human about, as in an editor; the feet stay, everything else follows.
 *
 * Each frame sets one goal and solves from the frame before. The posture term is what an animator would call stiffness:
 * joints that need not move do not.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 600 }; /* ten seconds at 60 a second */

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "drag_hand: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* A term that keeps a body where it is at rest. */
static int hold(ulna_problem *problem, ulna_pose *pose, const char *name, double weight, double position[3],
                ulna_error *error)
{
    int term, body = ulna_model_find_body(ulna_problem_model(problem), name);
    double rotation[9];
    check(ulna_pose_body(pose, body, position, rotation), error);
    check(ulna_problem_add_point(problem, body, NULL, position, weight, &term, error), error);
    return term;
}

int main(void)
{
    ulna_error error;
    ulna_model *model;
    ulna_pose *pose;
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_result result;
    double start[3], ignored[3], total = 0, slowest = 0, farthest = 0, jump = 0;
    ulna_error_clear(&error);
    check(ulna_sample_create("human", NULL, &model, &error), &error);
    check(ulna_pose_create(model, NULL, &pose, &error), &error);
    check(ulna_pose_forward(pose, ulna_model_rest(model)), &error);
    check(ulna_problem_create(model, NULL, &problem, &error), &error);
    int hand = hold(problem, pose, "right_hand", 1, start, &error);
    hold(problem, pose, "left_foot", 10, ignored, &error);
    hold(problem, pose, "right_foot", 10, ignored, &error);
    check(ulna_problem_add_posture(problem, NULL, NULL, 1e-3, NULL, &error), &error);
    check(ulna_problem_ready(problem, &error), &error);

    ulna_options options = ulna_options_default();
    options.decrease = 1e-4; /* a tenth of a millimetre is enough for the eye */
    options.hybrid.keep_damping = 1;
    check(ulna_solver_create(problem, &options, NULL, &solver, &error), &error);
    int nq = ulna_model_coordinate_count(model);
    double *q = malloc((size_t)nq * sizeof *q), *before = malloc((size_t)nq * sizeof *q);
    if (!q || !before) {
        free(q);
        free(before);
        return 1;
    }
    memcpy(q, ulna_model_rest(model), (size_t)nq * sizeof *q);

    for (int frame = 0; frame < FRAMES; frame++) {
        double t = 6.283185307179586 * frame / 120, off;
        double goal[3] = {start[0] + 0.15 * (1 - cos(t)), start[1] + 0.2 * sin(2 * t), start[2] + 0.2 * sin(t)};
        memcpy(before, q, (size_t)nq * sizeof *q);
        check(ulna_problem_set_goal(problem, hand, goal), &error);
        check(ulna_solve(solver, q, &result), &error);
        check(ulna_work_term_error(ulna_solver_work(solver), hand, &off), &error);
        total += result.seconds;
        slowest = fmax(slowest, result.seconds);
        farthest = fmax(farthest, off);
        for (int i = 0; i < nq; i++)
            jump = fmax(jump, fabs(q[i] - before[i]));
    }
    printf("%d frames, %.4f ms per frame on average, %.4f ms at most\n", FRAMES, 1e3 * total / FRAMES, 1e3 * slowest);
    printf(
        "the hand was never farther than %.1f mm from the cursor; no joint moved by more than %.1f degrees a frame\n",
        1e3 * farthest, jump * 57.29577951308232);
    free(q);
    free(before);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
    return farthest < 0.02 && jump < 0.5 ? 0 : 1;
}
