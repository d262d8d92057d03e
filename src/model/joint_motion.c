/* The motion of a joint at given coordinates. The way back is in joint_fit.c. */
#include "math/math3.h"
#include "model/model.h"

static void segment_motion(ulna_segment segment, const double *q, double rotation[9], double translation[3])
{
    ulna_identity9(rotation);
    memset(translation, 0, 3 * sizeof *translation);
    switch (segment) {
    case ULNA_SEGMENT_RX:
    case ULNA_SEGMENT_RY:
    case ULNA_SEGMENT_RZ:
        ulna_rotation_about((int)segment, q[0], rotation);
        break;
    case ULNA_SEGMENT_TX:
    case ULNA_SEGMENT_TY:
    case ULNA_SEGMENT_TZ:
        translation[segment - ULNA_SEGMENT_TX] = q[0];
        break;
    case ULNA_SEGMENT_BALL:
        ulna_quaternion_to_rotation(q, rotation);
        break;
    case ULNA_SEGMENT_EXPMAP:
        ulna_exp(q, rotation);
        break;
    case ULNA_SEGMENT_SWING: {
        double w[3] = {q[0], q[1], 0};
        ulna_exp(w, rotation);
        break;
    }
    }
}

void ulna_joint_motion(const ulna_joint_plan *plan, const double *q, double rotation[9], double translation[3])
{
    double r[9], t[3] = {0, 0, 0};
    ulna_copy9(plan->pre, r);
    for (int i = 0; i < plan->segment_count; i++) {
        ulna_segment segment = (ulna_segment)plan->segment[i];
        double a[9], x[3], b[9], y[3], product[9], sum[3];
        segment_motion(segment, q, a, x);
        if (plan->sign < 0) {
            ulna_invert(a, x, b, y);
            ulna_compose(r, t, b, y, product, sum);
        } else {
            ulna_compose(r, t, a, x, product, sum);
        }
        ulna_copy9(product, r);
        ulna_copy3(sum, t);
        q += ulna_segment_coordinates(segment);
    }
    ulna_multiply9(r, plan->post, rotation);
    ulna_copy3(t, translation);
}
