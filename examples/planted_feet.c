/* planted_feet: the human's feet stand where they are, exactly, while somebody drags its right hand about; see docs/constraints.md. */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void)
{
    static const char *const names[] = {"left_foot", "right_foot", "right_hand"};
    ulna_model *model;
    ulna_pose *pose;
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_result result;
    ulna_constraint_state foot = {0}, hand = {0};
    double start[3], worst_foot = 0, worst_hand = 0;
    int number;
    if (ulna_sample_create("human", NULL, &model, NULL) || ulna_pose_create(model, NULL, &pose, NULL) ||
        ulna_pose_forward(pose, ulna_model_rest(model)) || ulna_problem_create(model, NULL, &problem, NULL))
        return 1;
    for (int i = 0; i < 3; i++) { /* the feet are hard; the hand has a priority: as near as the feet allow */
        ulna_constraint c = {.type = i < 2 ? ULNA_KEEP_FRAME : ULNA_KEEP_POINT, .level = i == 2};
        c.body = ulna_model_find_body(model, names[i]);
        ulna_pose_body(pose, c.body, c.goal, c.goal + 3); /* where it is: place, rotation */
        memcpy(start, c.goal, sizeof start);
        if (ulna_problem_add_constraint(problem, &c, &number, NULL))
            return 1;
    }
    ulna_options options = ulna_options_default();
    options.hybrid.keep_damping = 1; /* each frame starts with the forces of the last one */
    if (ulna_problem_add_posture(problem, NULL, NULL, 1e-3, NULL, NULL) || ulna_problem_ready(problem, NULL) ||
        ulna_solver_create(problem, &options, NULL, &solver, NULL))
        return 1;
    double *q = calloc((size_t)ulna_model_coordinate_count(model), sizeof *q);
    if (!q)
        return 1;
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    int failed = 0;
    for (int frame = 0; frame < 300 && !failed; frame++) {
        double t = 6.283185307179586 * frame / 100;
        const double goal[3] = {start[0] + 0.2 * (1 - cos(t)), start[1] + 0.2 * sin(2 * t), start[2] + 0.2 * sin(t)};
        failed = ulna_problem_set_constraint_goal(problem, number, goal) || ulna_solve(solver, q, &result) ||
                 ulna_solver_constraint(solver, 0, &foot) || ulna_solver_constraint(solver, number, &hand);
        worst_foot = fmax(worst_foot, foot.error);
        worst_hand = fmax(worst_hand, hand.error);
    }
    printf("300 frames: the left foot moved by %.1e mm at most, the hand was within %.2f mm of its goal\n",
           1e3 * worst_foot, 1e3 * worst_hand);
    free(q);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
    return failed || worst_foot >= 1e-6;
}
