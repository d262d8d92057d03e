/* The motion of a joint at given coordinates. The way back is in joint_fit.c. */
#include "math/math3.h"
#include "model/model.h"

void ulna_segment_motion(ulna_segment segment, int sign, const double *q, double rotation[9], double translation[3])
{
    ulna_identity9(rotation);
    memset(translation, 0, 3 * sizeof *translation);
    if (segment <= ULNA_SEGMENT_RZ) {
        ulna_rotation_about((int)segment, sign * q[0], rotation);
    } else if (segment <= ULNA_SEGMENT_TZ) {
        translation[segment - ULNA_SEGMENT_TX] = sign * q[0];
    } else if (segment == ULNA_SEGMENT_BALL) {
        double conjugate[4] = {sign * q[0], sign * q[1], sign * q[2], q[3]};
        ulna_quaternion_to_rotation(conjugate, rotation);
    } else {
        double w[3] = {sign * q[0], sign * q[1], segment == ULNA_SEGMENT_SWING ? 0 : sign * q[2]};
        ulna_exp(w, rotation);
    }
}

void ulna_joint_motion(const ulna_joint_plan *plan, const double *q, double rotation[9], double translation[3])
{
    double r[9], t[3] = {0, 0, 0};
    ulna_copy9(plan->pre, r);
    for (int i = 0; i < plan->segment_count; i++) {
        ulna_segment segment = (ulna_segment)plan->segment[i];
        double step[9], slide[3], product[9], sum[3];
        ulna_segment_motion(segment, plan->sign, q, step, slide);
        ulna_compose(r, t, step, slide, product, sum);
        ulna_copy9(product, r);
        ulna_copy3(sum, t);
        q += ulna_segment_coordinates(segment);
    }
    ulna_multiply9(r, plan->post, rotation);
    ulna_copy3(t, translation);
}
