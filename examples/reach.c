/*
 * reach: brings the tool of the arm sample to a pose, lists other ways to do so, and follows a straight line.
 *
 * For the terms and the solver behind it, see arm_goals.c.
 */
#include <ulna/ulna.h>

#include <stdio.h>
#include <stdlib.h>

enum { JOINTS = 7, SAMPLES = 50, WAYS = 8 };

static void check(ulna_status status, const char *message)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "reach: %s: %s\n", ulna_status_text(status), message);
        exit(1);
    }
}

int main(void)
{
    ulna_error error = {0};
    ulna_model *model;
    ulna_reach *reach;
    ulna_reach_work *work;
    ulna_reach_goal goal = {{0.5, 0.2, 0.3}, {1, 0, 0, 0}}, line[SAMPLES]; /* m; half a turn about x: pointing down */
    ulna_reach_result result, ways[WAYS], followed[SAMPLES];
    double q[JOINTS], all[WAYS * JOINTS], path[SAMPLES * JOINTS];
    int count, jumps, missed;

    check(ulna_sample_create("arm", NULL, &model, &error), error.message);
    ulna_reach_tip tip = ulna_reach_tip_default(ulna_model_find_body(model, "flange"));
    ulna_reach_options options = ulna_reach_options_default();
    options.mode = ULNA_REACH_NEAR; /* from the seed, here the rest pose */
    check(ulna_reach_create(model, 1, &tip, &options, NULL, &reach, &error), error.message);
    check(ulna_reach_work_create(reach, NULL, &work, &error), error.message);

    check(ulna_reach_solve(work, &goal, NULL, q, &result), "the pose");
    printf("%s, %.1e m and %.1e rad off; solver: %s\n", result.reached ? "reached" : "closest", result.position_error,
           result.rotation_error, ulna_reach_solver_name(reach));
    for (int j = 0; j < JOINTS; j++)
        printf("  %7.4f", q[j]);

    check(ulna_reach_all(work, &goal, q, WAYS, all, ways, &count), "all ways");
    printf("\n%d ways, nearest first:", count);
    for (int i = 0; i < count; i++)
        printf(" %.2f", ways[i].distance);

    for (int i = 0; i < SAMPLES; i++) { /* 20 cm to the right */
        line[i] = goal;
        line[i].position[1] -= 0.2 * i / (SAMPLES - 1);
    }
    check(ulna_reach_path(work, SAMPLES, line, q, NULL, path, followed, &jumps, &missed), "the line");
    printf("\na line of %d samples: %d jumps, %d not reached\n", SAMPLES, jumps, missed);

    ulna_reach_work_destroy(work);
    ulna_reach_destroy(reach);
    ulna_model_destroy(model);
    return result.reached && count > 0 && jumps == 0 && missed == 0 ? 0 : 1;
}
