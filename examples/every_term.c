/*
 * every_term: one term of each type on the built-in human; f, residuals, how the solution follows a goal and how uncertain it
 * is. A clone of the problem has goals of its own, as a second thread needs.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "every_term: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* A term of our own: an axis of the body stays horizontal. The value is the axis's height, its goal 0. */
static void keep_level(const void *context, const double *goal, const double rotation[9], const double position[3],
                       ulna_custom_value *value)
{
    const double *axis = context, up[3] = {0, 1, 0};
    double arm[3];
    (void)goal, (void)position;
    for (int i = 0; i < 3; i++)
        arm[i] = rotation[3 * i] * axis[0] + rotation[3 * i + 1] * axis[1] + rotation[3 * i + 2] * axis[2];
    value->residual[0] = 0 - arm[1];
    ulna_custom_direction(value, 0, arm, up, NULL);
}

int main(void)
{
    ulna_error error;
    ulna_model *model;
    ulna_problem *problem, *copy;
    ulna_solver *solver;
    ulna_result result;
    int hand_term, term;
    ulna_error_clear(&error);
    check(ulna_sample_create("human", NULL, &model, &error), &error);
    check(ulna_problem_create(model, NULL, &problem, &error), &error);

    const int hand = ulna_model_find_body(model, "right_hand"), head = ulna_model_find_body(model, "head");
    const int foot = ulna_model_find_body(model, "left_foot"), chest = ulna_model_find_body(model, "upper_spine");
    const int other_hand = ulna_model_find_body(model, "left_hand");
    static const double forward[3] = {0, 0, 1}, up[3] = {0, 1, 0}, right[3] = {1, 0, 0};
    const double upright[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, place[3] = {-0.3, 1.2, 0.4}, floor[3] = {0, 0, 0};
    const ulna_custom level = {.evaluate = keep_level, .context = right, .residual_count = 1};
    check(ulna_problem_add_point(problem, hand, NULL, place, 1, &hand_term, &error), &error);
    check(ulna_problem_add_orientation(problem, chest, upright, 0.01, NULL, &error), &error);
    check(ulna_problem_add_geodesic(problem, foot, upright, 0.01, NULL, &error), &error);
    check(ulna_problem_add_direction(problem, head, up, up, 0.01, NULL, &error), &error);
    check(ulna_problem_add_aim(problem, head, NULL, forward, place, 0.01, NULL, &error), &error);
    check(ulna_problem_add_plane(problem, foot, NULL, floor, up, 1, NULL, &error), &error);
    check(ulna_problem_add_line(problem, other_hand, NULL, place, right, 0.1, NULL, &error), &error);
    check(ulna_problem_add_posture(problem, NULL, NULL, 1e-3, NULL, &error), &error);
    check(ulna_problem_add_limits(problem, NULL, NULL, 0.1, NULL, &error), &error);
    int knee_a, knee_b;
    ulna_model_body_dofs(model, ulna_model_find_body(model, "left_shank"), &knee_a);
    ulna_model_body_dofs(model, ulna_model_find_body(model, "right_shank"), &knee_b);
    check(ulna_problem_add_coupling(problem, knee_a, knee_b, 1, 0, 0.01, NULL, &error), &error);
    check(ulna_problem_add_custom(problem, chest, &level, NULL, 0.01, &term, &error), &error);
    check(ulna_problem_ready(problem, &error), &error);

    /* Solve, and list how far each term is from its goal. */
    double *q = calloc((size_t)ulna_model_coordinate_count(model), sizeof *q);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    check(ulna_solver_create(problem, NULL, NULL, &solver, &error), &error);
    check(ulna_solve(solver, q, &result), &error);
    ulna_work *work = ulna_solver_work(solver);
    for (int t = 0; t < ulna_problem_term_count(problem); t++) {
        double off;
        check(ulna_work_term_error(work, t, &off), &error);
        printf("%-12s error %.4f\n", ulna_term_type_name((ulna_term_type)ulna_problem_term_type(problem, t)), off);
    }

    /* f is half the sum of the squared residuals. */
    const int m = ulna_work_residual_count(work), nv = ulna_model_dof_count(model);
    double *residuals = calloc((size_t)m, sizeof *residuals), sum = 0, f;
    check(ulna_work_evaluate(work, q, &f), &error);
    check(ulna_work_residuals(work, residuals, NULL), &error);
    for (int i = 0; i < m; i++)
        sum += residuals[i] * residuals[i];
    printf("f = %.6f from %d residuals\n", f, m);
    int failed = fabs(sum / 2 - f) > 1e-12 || ulna_problem_term_count(problem) != ULNA_TERM_TYPE_COUNT;

    /* How the joints follow the hand's goal: one column per number of the goal. */
    const int columns = 3;
    double *dq = calloc((size_t)nv * (size_t)columns, sizeof *dq), fastest = 0;
    const unsigned char *locked = ulna_solver_locked(solver); /* joints at a limit do not follow */
    check(ulna_work_sensitivity(work, locked, NULL, hand_term, dq), &error);
    for (int i = 0; i < nv * columns; i++)
        fastest = fmax(fastest, fabs(dq[i]));
    printf("a goal that moves by 1 mm moves some joint by up to %.2f mm or mrad\n", fastest);

    /* How uncertain the joints are if a measured point has a noise of 1 mm: the diagonal has the variances. */
    double *covariance = calloc((size_t)nv * (size_t)nv, sizeof *covariance), largest = 0;
    check(ulna_work_covariance(work, locked, NULL, 0.001, NULL, covariance), &error);
    for (int d = 0; d < nv; d++)
        largest = fmax(largest, sqrt(covariance[d * nv + d]));
    printf("noise of 1 mm: the least certain joint has a standard deviation of %.1f mm or mrad\n", 1000 * largest);
    failed |= !(largest > 0);

    /* The clone's goals are its own. */
    const double elsewhere[3] = {0, 1, 0.5};
    double kept[3];
    check(ulna_problem_clone(problem, NULL, &copy, &error), &error);
    check(ulna_problem_set_goal(copy, hand_term, elsewhere), &error);
    check(ulna_problem_goal(problem, hand_term, kept), &error);
    failed |= memcmp(kept, place, sizeof kept) != 0;

    ulna_solver_destroy(solver);
    ulna_problem_destroy(copy);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
    free(q);
    free(residuals);
    free(dq);
    free(covariance);
    return failed;
}
