/* Coordinates and steps: where quaternions and rotation vectors are not plain numbers. */
#include "math/math3.h"
#include "model/model.h"

void ulna_model_integrate(const ulna_model *model, const double *q, const double *step, double *result)
{
    if (!model || !q || !step || !result)
        return;
    if (model->nq == model->nv) {
        for (int j = 0; j < model->nv; j++)
            result[j] = q[j] + step[j];
        return;
    }
    for (int j = 0; j < model->nv; j++) {
        int c = model->dof_coordinate[j];
        if (c != ULNA_NONE) {
            result[c] = q[c] + step[j];
        } else if (model->dof_part[j] == 0) {
            double turn[4];
            c = ulna_ball_coordinate(model, j);
            ulna_quaternion_exp(step + j, turn);
            ulna_quaternion_multiply(turn, q + c, result + c);
        }
    }
}

void ulna_model_difference(const ulna_model *model, const double *q0, const double *q1, double *step)
{
    if (!model->has_general) {
        for (int j = 0; j < model->nv; j++)
            step[j] = q1[j] - q0[j];
        return;
    }
    for (int j = 0; j < model->nv; j++) {
        int c = model->dof_coordinate[j];
        if (c != ULNA_NONE) {
            step[j] = q1[c] - q0[c];
        } else if (model->dof_part[j] == 0) {
            const double *q = q0 + ulna_ball_coordinate(model, j);
            double inverse[4] = {-q[0], -q[1], -q[2], q[3]}, turn[4];
            ulna_quaternion_multiply(q1 + ulna_ball_coordinate(model, j), inverse, turn);
            ulna_quaternion_log(turn, step + j);
        }
    }
}

/* ---- whole turns of rotation vectors ---- */

static int is_limited(const ulna_model *model, int dof, int count)
{
    for (int j = dof; j < dof + count; j++)
        if (model->lower[j] > -INFINITY || model->upper[j] < INFINITY)
            return 1;
    return 0;
}

/* The same rotation by a vector of pi at most, once it has passed 1.5 pi: so a joint that swings to and fro about a
 * half-turn is not re-expressed each time. Sine and cosine remove whole turns without rounding them. */
static int shorten(double *w, int count)
{
    double square = ulna_inner(count, w, w);
    if (!(square > 2.25 * ULNA_PI * ULNA_PI) || isinf(square))
        return 0;
    double length = sqrt(square), angle = atan2(sin(length), cos(length));
    for (int i = 0; i < count; i++)
        w[i] *= angle / length;
    return 1;
}

int ulna_model_wrap(const ulna_model *model, double *q)
{
    int changed = 0;
    for (int j = 0; model && q && j < model->nv; j++) {
        int dofs = ulna_segment_dofs((ulna_segment)model->dof_segment[j]);
        if (model->dof_segment[j] > ULNA_SEGMENT_BALL && model->dof_part[j] == 0 && !is_limited(model, j, dofs))
            changed += shorten(q + model->dof_coordinate[j], dofs);
    }
    return changed;
}

/* ---- checks and limits ---- */

ulna_status ulna_model_check_q(const ulna_model *model, const double *q, int *coordinate)
{
    int wrong = ULNA_NONE;
    if (!model || !q)
        return ULNA_ERR_ARGUMENT;
    for (int c = ulna_all_finite(q, model->nq) ? -1 : model->nq - 1; c >= 0; c--)
        if (!isfinite(q[c]))
            wrong = c;
    for (int j = 0; j < model->nv && model->nq != model->nv && wrong == ULNA_NONE; j++) {
        if (model->dof_segment[j] != ULNA_SEGMENT_BALL || model->dof_part[j] != 0)
            continue;
        int at = ulna_ball_coordinate(model, j);
        double square = 0;
        for (int k = 0; k < 4; k++)
            square += q[at + k] * q[at + k];
        if (!(square > 1e-200) || isinf(square))
            wrong = at;
    }
    if (coordinate)
        *coordinate = wrong;
    return wrong == ULNA_NONE ? ULNA_OK : ULNA_ERR_NUMBER;
}

int ulna_model_clamp(const ulna_model *model, double *q)
{
    int moved = 0;
    for (int j = 0; model && q && j < model->nv; j++) {
        int c = model->dof_coordinate[j];
        if (c < 0 || (q[c] >= model->lower[j] && q[c] <= model->upper[j]))
            continue;
        q[c] = q[c] < model->lower[j] ? model->lower[j] : model->upper[j];
        moved++;
    }
    ulna_model_couple(model, q);
    return moved;
}

int ulna_joint_is_inside(const ulna_model *model, int body, double slack, const double *q)
{
    const ulna_body *b = &model->body[body];
    for (int j = b->dof; j < b->dof + b->dof_count; j++) {
        int c = model->dof_coordinate[j];
        double value = c == ULNA_NONE ? 0 : q[c - b->coordinate];
        if (c != ULNA_NONE && (value < model->lower[j] - slack || value > model->upper[j] + slack))
            return 0;
    }
    return 1;
}

void ulna_model_zero(const ulna_model *model, double *q)
{
    if (!model || !q)
        return;
    int run = 0;
    for (int i = 0; i < model->nq; i++)
        q[i] = 1;
    for (int d = 0; d < model->nv; d++)
        if (model->dof_coordinate[d] >= 0)
            q[model->dof_coordinate[d]] = 0;
    for (int i = 0; i < model->nq; i++) { /* what no DOF owns are quaternions (x, y, z, w), one after the other */
        run = q[i] != 0 ? run + 1 : 0;
        q[i] = run && run % 4 == 0;
    }
}
