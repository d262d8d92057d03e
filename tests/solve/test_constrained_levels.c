/* Strict priorities: levels that can and cannot be met, frame after frame, and what each loses to those below it. */
#include "support_constraints.h"
#include "support_task.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ulna_options levels(double ratio)
{
    ulna_options options = ulna_options_default();
    options.levels.ratio = ratio;
    options.hybrid.keep_damping = 1;
    return options;
}

/* Limits and hard constraints hold in every frame, and what did not converge says so. */
static void check_frame(const ulna_scene *scene, const double *q, const ulna_result *result)
{
    const double *lower = ulna_model_lower(scene->model), *upper = ulna_model_upper(scene->model);
    assert_true(result->constraint_violation < 1e-6 || !result->converged);
    for (int d = 0; d < scene->nv; d++)
        assert_true(q[d] >= lower[d] && q[d] <= upper[d]);
}

/* Mean iterations of so many frames; counts those that did not converge. */
static double follow(ulna_scene *scene, ulna_scene_aims *aims, int which, ulna_solver *solver, double *q, int frames,
                     int *failed)
{
    int iterations = 0;
    for (int frame = 0; frame < frames; frame++) {
        ulna_result result;
        if (which >= 0)
            ulna_scene_move_levels(scene, aims, which, frame);
        else
            ulna_scene_move_random_levels(scene, aims, frame);
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        check_frame(scene, q, &result);
        iterations += result.iterations;
        *failed += !result.converged;
    }
    return iterations / (double)frames;
}

static void seven_cases(void **state)
{
    (void)state;
    for (int strict = 0; strict < 2; strict++)
        for (int which = 0; which < ULNA_SCENE_LEVELS; which++) {
            const ulna_options options = levels(strict ? 1e-3 : 1e-2);
            ulna_scene_aims aims;
            ulna_scene scene = ulna_scene_levels(which, &aims);
            ulna_solver *solver = ulna_scene_solver(&scene, &options);
            double *q = ulna_test_copy(scene.start, scene.nq);
            ulna_result result;
            int failed = 0;
            assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
            assert_true(result.converged);
            check_frame(&scene, q, &result);
            double mean = follow(&scene, &aims, which, solver, q, 200, &failed);
            print_message("%s, ratio %.0e: cold %d, then %.2f iterations a frame; errors %.5f %.5f %.5f\n",
                          ulna_scene_level_names[which], options.levels.ratio, result.iterations, mean,
                          ulna_scene_level_error(&scene, &aims, q, 1), ulna_scene_level_error(&scene, &aims, q, 2),
                          ulna_scene_level_error(&scene, &aims, q, 3));
            assert_true(failed <= strict);
            free(q);
            ulna_solver_destroy(solver);
            ulna_scene_release(&scene);
        }
}

/* A price ten times steeper changes little: what the first level loses to the others falls with the ratio. */
static void lower_levels_take_little_from_the_first(void **state)
{
    (void)state;
    for (int which = 0; which < ULNA_SCENE_LEVELS; which++) {
        const ulna_options strict = levels(1e-3), stricter = levels(1e-4);
        ulna_scene_aims aims;
        ulna_scene scene = ulna_scene_levels(which, &aims);
        ulna_solver *solver = ulna_scene_solver(&scene, &strict);
        double *q = ulna_test_copy(scene.start, scene.nq);
        assert_int_equal(ulna_solve(solver, q, NULL), ULNA_OK);
        double first = ulna_scene_level_error(&scene, &aims, q, 1);
        assert_int_equal(ulna_solver_set_options(solver, &stricter, NULL), ULNA_OK);
        assert_int_equal(ulna_solve(solver, q, NULL), ULNA_OK);
        double limit = ulna_scene_level_error(&scene, &aims, q, 1);
        print_message("%s: first level %.6f m, %.6f m if stricter\n", ulna_scene_level_names[which], first, limit);
        assert_true(first < limit + 3e-4);
        free(q);
        ulna_solver_destroy(solver);
        ulna_scene_release(&scene);
    }
}

static void random_goals(void **state)
{
    (void)state;
    int failed = 0, cold = 0;
    double mean = 0;
    for (int seed = 0; seed < 20; seed++) {
        const ulna_options options = levels(1e-2);
        ulna_scene_aims aims;
        ulna_scene scene = ulna_scene_random_levels(seed, &aims);
        ulna_solver *solver = ulna_scene_solver(&scene, &options);
        double *q = ulna_test_copy(scene.start, scene.nq);
        ulna_result result;
        assert_int_equal(ulna_solve(solver, q, &result), ULNA_OK);
        check_frame(&scene, q, &result);
        cold += result.converged;
        mean += follow(&scene, &aims, -1, solver, q, 100, &failed) / 20;
        free(q);
        ulna_solver_destroy(solver);
        ulna_scene_release(&scene);
    }
    print_message("random goals: %d of 20 cold, %.2f iterations a frame, %d of 2,000 not converged\n", cold, mean,
                  failed);
    assert_true(cold >= 19 && failed <= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seven_cases),
        cmocka_unit_test(lower_levels_take_little_from_the_first),
        cmocka_unit_test(random_goals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
