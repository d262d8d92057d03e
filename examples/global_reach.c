/*
 * global_reach: the arm sample is asked for poses, and says which of its answers nobody can better.
 *
 * A local solve ends in the valley that it starts in. A global one also has a bound, below which no pose is: where the two
 * meet, the answer is proven; where the bound is above zero, the goals are proven to be out of reach.
 */
#include <ulna/global.h>
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 7 };

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "global_reach: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

static const char *verdict(const ulna_global_result *result)
{
    if (!result->proven)
        return "not proven";
    return result->unreachable ? "out of reach; nothing is nearer" : "reached";
}

int main(void)
{
    ulna_error error;
    ulna_model *model;
    ulna_problem *problem;
    ulna_solver *solver;
    ulna_global *global;
    double q[JOINTS], tool[3];
    int place;
    const double down[9] = {1, 0, 0, 0, -1, 0, 0, 0, -1}; /* the tool points to the floor */
    const double goals[][3] = {{0.5, 0.2, 0.3}, {0.8, 0, 0.2}, {0.9, 0.3, 0.2}, {3, 0, 0}}; /* m; the last: far off */
    const int count = sizeof goals / sizeof *goals;
    ulna_error_clear(&error);

    check(ulna_sample_create("arm", NULL, &model, &error), &error);
    int hand = ulna_model_marker_body(model, 0);
    check(ulna_model_marker_position(model, 0, tool), &error);
    check(ulna_problem_create(model, NULL, &problem, &error), &error);
    check(ulna_problem_add_point(problem, hand, tool, goals[0], 1, &place, &error), &error);
    check(ulna_problem_add_orientation(problem, hand, down, 1, NULL, &error), &error);
    check(ulna_problem_ready(problem, &error), &error);

    check(ulna_solver_create(problem, NULL, NULL, &solver, &error), &error);
    check(ulna_global_create(problem, NULL, NULL, &global, &error), &error);

    int proven = 0;
    printf("goal (m)              local f (m2)  global f     no pose is below  starts  ms     verdict\n");
    for (int i = 0; i < count; i++) {
        ulna_result local;
        ulna_global_result result;
        check(ulna_problem_set_goal(problem, place, goals[i]), &error);
        memcpy(q, ulna_model_rest(model), sizeof q);
        check(ulna_solve(solver, q, &local), &error);
        memcpy(q, ulna_model_rest(model), sizeof q);
        check(ulna_global_solve(global, q, &result, &error), &error);
        printf("%5.2f %5.2f %5.2f  %14.6e  %.6e  %16.6e  %6d  %-5.2f  %s\n", goals[i][0], goals[i][1], goals[i][2],
               local.f, result.f, result.bound, result.starts, 1e3 * result.seconds, verdict(&result));
        if (result.f > local.f * (1 + 1e-9) + 1e-20)
            return 1; /* never worse than a local solve from the same start */
        proven += result.proven;
    }

    ulna_global_destroy(global);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    return proven > 0 ? 0 : 1;
}
