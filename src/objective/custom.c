/*
 * Terms that users write.
 *
 * The callback works at the body's origin; the sweeps work about the pose's. With p the body's origin relative to the
 * pose's, one and the same motion is (w, v) there and (w, v + w x p) here: (w, v)_body = T (w, v)_pose, T = [I 0;
 * -[p]x I]. Hence row_pose = row_body T and bend_pose = Tt bend_body T, exactly, since it is the same one-parameter
 * motion.
 */
#include "math/math3.h"
#include "objective/problem.h"

/* ---- adding ------------------------------------------------------------------------------------------------ */

ulna_status ulna_problem_add_custom(ulna_problem *problem, int body, const ulna_custom *custom, const double *goal,
                                    double weight, int *term, ulna_error *error)
{
    if (!problem || !custom || !custom->evaluate || (!goal && custom->goal_size > 0))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "custom term: an argument is missing");
    ulna_term made = {.type = ULNA_TERM_CUSTOM, .body = body, .custom = *custom};
    int most = (int)(sizeof made.goal / sizeof *made.goal);
    if (custom->goal_size < 0 || custom->goal_size > most)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "custom term: a goal has 0 to %d numbers, not %d", most,
                         custom->goal_size);
    if (custom->residual_count < 1 || custom->residual_count > ULNA_TERM_ROWS)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "custom term: there can be 1 to %d residuals, not %d",
                         ULNA_TERM_ROWS, custom->residual_count);
    if (goal)
        memcpy(made.goal, goal, (size_t)custom->goal_size * sizeof *goal);
    return ulna_term_add(problem, &made, weight, term, error);
}

/* ---- for callbacks ----------------------------------------------------------------------------------------- */

static void add_function(ulna_custom_value *value, int k, const double arm[3], const double gradient[3],
                         const double *curvature, int is_point)
{
    if (!value || k < 0 || k >= ULNA_TERM_ROWS || !arm || !gradient)
        return;
    double r = value->residual[k], pull[3], scaled[9];
    for (int i = 0; i < 3; i++)
        pull[i] = r * gradient[i];
    ulna_row_of(gradient, arm, 1, is_point, value->row[k]);
    ulna_bend_of(pull, arm, is_point, value->bend);
    if (curvature) {
        for (int i = 0; i < 9; i++)
            scaled[i] = r * curvature[i];
        ulna_bend_of_curvature(scaled, arm, is_point, value->bend);
    }
}

void ulna_custom_point(ulna_custom_value *value, int k, const double arm[3], const double gradient[3],
                       const double *curvature)
{
    add_function(value, k, arm, gradient, curvature, 1);
}

void ulna_custom_direction(ulna_custom_value *value, int k, const double arm[3], const double gradient[3],
                           const double *curvature)
{
    add_function(value, k, arm, gradient, curvature, 0);
}

/* ---- evaluating -------------------------------------------------------------------------------------------- */

/* row T, times `scale` */
void ulna_shift_row(const double row[6], const double p[3], double scale, double shifted[6])
{
    double turn[3];
    ulna_cross(p, row + 3, turn);
    for (int i = 0; i < 3; i++) {
        shifted[i] = scale * (row[i] + turn[i]);
        shifted[3 + i] = scale * row[3 + i];
    }
}

/* Tt sym(bend) T, times `scale`: first the rows, then the columns. */
void ulna_shift_bend(double bend[6][6], const double p[3], double scale, double shifted[6][6])
{
    double half[6][6];
    for (int i = 0; i < 6; i++) {
        double row[6], moved[6];
        for (int j = 0; j < 6; j++)
            row[j] = 0.5 * (bend[i][j] + bend[j][i]);
        ulna_shift_row(row, p, scale, moved);
        for (int j = 0; j < 6; j++)
            half[j][i] = moved[j];
    }
    for (int j = 0; j < 6; j++)
        ulna_shift_row(half[j], p, 1, shifted[j]);
}

void ulna_evaluate_custom(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value)
{
    const ulna_custom *custom = &term->custom;
    value->count = custom->residual_count;
    if (!(weight > 0))
        return;
    double root = sqrt(weight), position[3];
    for (int i = 0; i < 3; i++)
        position[i] = place->origin[i] + place->position[i];
    ulna_custom_value own = {0};
    custom->evaluate(custom->context, term->goal, place->rotation, position, &own);
    for (int k = 0; k < value->count; k++) {
        value->residual[k] = root * own.residual[k];
        ulna_shift_row(own.row[k], place->position, root, value->row[k]);
    }
    ulna_shift_bend(own.bend, place->position, weight, value->bend);
    if (!ulna_all_finite(value->row[0], 6 * value->count) || !ulna_all_finite(value->bend[0], 36))
        value->residual[0] = (double)NAN; /* f then is none either, and ulna_work_evaluate says so */
}
