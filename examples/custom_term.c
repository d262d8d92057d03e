/*
 * custom_term: a term that the library does not have, written by its user: keep the elbow out of a ball.
 *
 * The arm sample has seven joints for the three numbers of a place, so its elbow may go around an obstacle while the
 * tool reaches. The term pushes as soon as the elbow is inside: residual = radius - distance, and nothing outside.
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
        fprintf(stderr, "custom_term: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* ---- the term ---- */

/* Goal: centre and radius of the ball. Context: the point of the body that keeps out of it, in the body's frame. */
static void keep_out(const void *context, const double *goal, const double rotation[9], const double position[3],
                     ulna_custom_value *value)
{
    const double *point = context;
    double arm[3], n[3], curvature[9], distance = 0;
    for (int i = 0; i < 3; i++) { /* from the body's origin to the point, and from the centre to the point */
        arm[i] = rotation[3 * i] * point[0] + rotation[3 * i + 1] * point[1] + rotation[3 * i + 2] * point[2];
        n[i] = position[i] + arm[i] - goal[i];
        distance += n[i] * n[i];
    }
    distance = sqrt(distance);
    if (distance >= goal[3] || distance == 0)
        return; /* outside; and at the very centre no way out is the shortest */

    /* value = distance: its gradient in the point is n, its second derivatives are (1 - n nT) / distance. */
    for (int i = 0; i < 3; i++)
        n[i] /= distance;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            curvature[3 * i + j] = ((i == j) - n[i] * n[j]) / distance;
    value->residual[0] = goal[3] - distance;
    ulna_custom_point(value, 0, arm, n, curvature);
}

/* ---- using it ---- */

typedef struct robot {
    ulna_model *model;
    ulna_problem *problem;
    int tool_term, ball_term;
} robot;

/* Solves from rest and tells where tool and elbow are; returns the larger of the two errors in metres. */
static double reach(const robot *r, const char *title)
{
    ulna_error error;
    ulna_solver *solver;
    ulna_result result;
    double q[JOINTS], off, inside, elbow[3];
    ulna_error_clear(&error);
    memcpy(q, ulna_model_rest(r->model), sizeof q);
    check(ulna_solver_create(r->problem, NULL, NULL, &solver, &error), &error);
    check(ulna_solve(solver, q, &result), &error);
    ulna_work *work = ulna_solver_work(solver);
    check(ulna_work_term_error(work, r->tool_term, &off), &error);
    check(ulna_work_term_error(work, r->ball_term, &inside), &error);
    check(ulna_pose_body(ulna_work_pose(work), ulna_problem_term_body(r->problem, r->ball_term), elbow, NULL), &error);
    printf("%-16s %2d iterations, tool %.0e m from its goal, elbow at (%.3f, %.3f, %.3f), %.4f m inside the ball\n",
           title, result.iterations, off, elbow[0], elbow[1], elbow[2], inside);
    ulna_solver_destroy(solver);
    return fmax(off, inside);
}

/* Rows and second derivatives of a term are easily wrong: let the library compare them with differences, once. */
static double verify(const robot *r)
{
    ulna_error error;
    ulna_work *work;
    ulna_derivative_report report;
    double q[JOINTS];
    ulna_error_clear(&error);
    memcpy(q, ulna_model_rest(r->model), sizeof q);
    q[0] += 0.4;
    q[1] += 0.2; /* the elbow is inside here: elsewhere the term is silent */
    check(ulna_work_create(r->problem, NULL, &work, &error), &error);
    check(ulna_work_check_derivatives(work, q, &report, &error), &error);
    ulna_work_destroy(work);
    printf("derivatives:     residual rows off by %.0e, gradient by %.0e, Hessian by %.0e\n\n", report.jacobian,
           report.gradient, report.hessian);
    return fmax(report.jacobian, fmax(report.gradient, report.hessian));
}

int main(void)
{
    static const double joint[3] = {0, 0, 0}; /* the elbow's own joint is the origin of its body */
    const ulna_custom ball_term = {keep_out, joint, 4, 1};
    const double goal[3] = {0.45, 0.25, 0.35}, ball[4] = {0.2, 0.1, 0.7, 0.15};
    double tool[3];
    robot r;
    ulna_error error;
    ulna_error_clear(&error);
    check(ulna_sample_create("arm", NULL, &r.model, &error), &error);
    int marker = ulna_model_find_marker(r.model, "tool"), elbow = ulna_model_find_body(r.model, "elbow");
    check(ulna_model_marker_position(r.model, marker, tool), &error);
    check(ulna_problem_create(r.model, NULL, &r.problem, &error), &error);
    check(
        ulna_problem_add_point(r.problem, ulna_model_marker_body(r.model, marker), tool, goal, 1, &r.tool_term, &error),
        &error);
    check(ulna_problem_add_custom(r.problem, elbow, &ball_term, ball, 1, &r.ball_term, &error), &error);
    check(ulna_problem_ready(r.problem, &error), &error);

    double wrong = verify(&r);
    check(ulna_problem_set_weight(r.problem, r.ball_term, 0), &error);
    double without = reach(&r, "without the term");
    check(ulna_problem_set_weight(r.problem, r.ball_term, 1), &error);
    double with = reach(&r, "with it");

    ulna_problem_destroy(r.problem);
    ulna_model_destroy(r.model);
    return wrong > 1e-7 || without < 0.01 || with > 1e-6;
}
