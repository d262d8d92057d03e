/* Coordinates and steps: where quaternions and rotation vectors are not plain numbers. */
#include "math/math3.h"
#include "model/model.h"

void ulna_model_integrate(const ulna_model *model, const double *q, const double *step, double *result)
{
    if (!model->has_general) {
        for (int j = 0; j < model->nv; j++)
            result[j] = q[j] + step[j];
        return;
    }
    for (int l = 0; l < model->nl; l++) {
        const ulna_link *link = &model->link[l];
        int dof = link->dof, coordinate = link->coordinate;
        for (int i = 0; i < link->segment_count; i++) {
            ulna_segment segment = (ulna_segment)link->segment[i];
            int dofs = ulna_segment_dofs(segment);
            if (segment == ULNA_SEGMENT_BALL) {
                double turn[4];
                ulna_quaternion_exp(step + dof, turn);
                ulna_quaternion_multiply(turn, q + coordinate, result + coordinate);
            } else {
                for (int k = 0; k < dofs; k++)
                    result[coordinate + k] = q[coordinate + k] + step[dof + k];
            }
            dof += dofs;
            coordinate += ulna_segment_coordinates(segment);
        }
    }
}

void ulna_model_difference(const ulna_model *model, const double *q0, const double *q1, double *step)
{
    for (int j = 0; j < model->nv; j++) {
        int c = model->dof_coordinate[j];
        if (c != ULNA_NONE)
            step[j] = q1[c] - q0[c];
    }
    for (int l = 0; l < model->nl && model->nq != model->nv; l++) {
        const ulna_link *link = &model->link[l];
        int dof = link->dof, coordinate = link->coordinate;
        for (int i = 0; i < link->segment_count; i++) {
            ulna_segment segment = (ulna_segment)link->segment[i];
            if (segment == ULNA_SEGMENT_BALL) {
                const double *q = q0 + coordinate;
                double inverse[4] = {-q[0], -q[1], -q[2], q[3]}, turn[4];
                ulna_quaternion_multiply(q1 + coordinate, inverse, turn);
                ulna_quaternion_log(turn, step + dof);
            }
            dof += ulna_segment_dofs(segment);
            coordinate += ulna_segment_coordinates(segment);
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
    double square = 0;
    for (int i = 0; i < count; i++)
        square += w[i] * w[i];
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
    for (int l = 0; l < model->nl && model->has_general; l++) {
        const ulna_link *link = &model->link[l];
        int dof = link->dof, coordinate = link->coordinate;
        for (int i = 0; i < link->segment_count; i++) {
            ulna_segment segment = (ulna_segment)link->segment[i];
            int dofs = ulna_segment_dofs(segment);
            if (segment > ULNA_SEGMENT_BALL && !is_limited(model, dof, dofs))
                changed += shorten(q + coordinate, dofs);
            dof += dofs;
            coordinate += ulna_segment_coordinates(segment);
        }
    }
    return changed;
}

/* ---- checks and limits ---- */

ulna_status ulna_model_check_q(const ulna_model *model, const double *q, int *coordinate)
{
    int wrong = ULNA_NONE;
    if (!model || !q)
        return ULNA_ERR_ARGUMENT;
    for (int c = model->nq - 1; c >= 0; c--)
        if (!isfinite(q[c]))
            wrong = c;
    for (int j = 0; j < model->nv && model->nq != model->nv && wrong == ULNA_NONE; j++) {
        if (model->dof_segment[j] != ULNA_SEGMENT_BALL || model->dof_part[j] != 0)
            continue;
        const ulna_body *body = &model->body[model->dof_body[j]];
        int at = body->coordinate + (j - body->dof); /* a joint has one quaternion at most */
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
    for (int j = 0; j < model->nv; j++) {
        int c = model->dof_coordinate[j];
        if (c < 0 || (q[c] >= model->lower[j] && q[c] <= model->upper[j]))
            continue;
        q[c] = q[c] < model->lower[j] ? model->lower[j] : model->upper[j];
        moved++;
    }
    return moved;
}
