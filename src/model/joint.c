/* Joints: constructors, names, and what a joint is made of (pre * segments(q) * post). */
#include "base/base.h"
#include "math/math3.h"
#include "model/model.h"

static const char *const type_names[ULNA_JOINT_TYPE_COUNT] = {
    [ULNA_JOINT_FIXED] = "fixed",
    [ULNA_JOINT_REVOLUTE] = "revolute",
    [ULNA_JOINT_PRISMATIC] = "prismatic",
    [ULNA_JOINT_EULER] = "euler",
    [ULNA_JOINT_BALL] = "ball",
    [ULNA_JOINT_EXPMAP] = "expmap",
    [ULNA_JOINT_SWING_TWIST] = "swing-twist",
    [ULNA_JOINT_PLANAR] = "planar",
    [ULNA_JOINT_FREE_EULER] = "free-euler",
    [ULNA_JOINT_FREE] = "free",
    [ULNA_JOINT_SEQUENCE] = "sequence",
};

const char *ulna_joint_type_name(ulna_joint_type type)
{
    unsigned index = (unsigned)type;
    return index < ULNA_JOINT_TYPE_COUNT ? type_names[index] : "unknown";
}

int ulna_joint_type_find(const char *name)
{
    for (int i = 0; name && i < ULNA_JOINT_TYPE_COUNT; i++)
        if (strcmp(name, type_names[i]) == 0)
            return i;
    return -1;
}

/* ---- constructors ---------------------------------------------------------------------------------------- */

static ulna_joint joint_of(ulna_joint_type type)
{
    ulna_joint joint = {.type = type, .axis = {0, 0, 1}, .center = {0, 0, 1}};
    ulna_identity9(joint.frame);
    return joint;
}

static ulna_joint joint_along(ulna_joint_type type, double x, double y, double z)
{
    ulna_joint joint = joint_of(type);
    joint.axis[0] = x;
    joint.axis[1] = y;
    joint.axis[2] = z;
    return joint;
}

/* An order that is too long is cut to a length that no valid order has. */
static ulna_joint joint_ordered(ulna_joint_type type, const char *order)
{
    ulna_joint joint = joint_of(type);
    for (size_t i = 0; order && order[i] && i + 1 < sizeof joint.order; i++)
        joint.order[i] = order[i];
    return joint;
}

ulna_joint ulna_joint_fixed(void)
{
    return joint_of(ULNA_JOINT_FIXED);
}

ulna_joint ulna_joint_revolute(double x, double y, double z)
{
    return joint_along(ULNA_JOINT_REVOLUTE, x, y, z);
}

ulna_joint ulna_joint_prismatic(double x, double y, double z)
{
    return joint_along(ULNA_JOINT_PRISMATIC, x, y, z);
}

ulna_joint ulna_joint_euler(const char *order)
{
    return joint_ordered(ULNA_JOINT_EULER, order);
}

ulna_joint ulna_joint_ball(void)
{
    return joint_of(ULNA_JOINT_BALL);
}

ulna_joint ulna_joint_expmap(void)
{
    return joint_of(ULNA_JOINT_EXPMAP);
}

ulna_joint ulna_joint_swing_twist(const double axis[3], const double center[3])
{
    ulna_joint joint = joint_of(ULNA_JOINT_SWING_TWIST);
    if (axis) /* without one the builder will say that it has zero length */
        ulna_copy3(axis, joint.axis);
    ulna_copy3(center ? center : joint.axis, joint.center);
    return joint;
}

ulna_joint ulna_joint_planar(double x, double y, double z)
{
    return joint_along(ULNA_JOINT_PLANAR, x, y, z);
}

ulna_joint ulna_joint_free_euler(const char *order)
{
    return joint_ordered(ULNA_JOINT_FREE_EULER, order);
}

ulna_joint ulna_joint_free(void)
{
    return joint_of(ULNA_JOINT_FREE);
}

ulna_joint ulna_joint_sequence(const char *order)
{
    return joint_ordered(ULNA_JOINT_SEQUENCE, order);
}

/* ---- the normal form: unit axes, a clean frame, defaults where a field means nothing ---- */

static ulna_status normalise_direction(double v[3], const char *what, ulna_error *error)
{
    if (!ulna_all_finite(v, 3))
        return ulna_fail(error, ULNA_ERR_NUMBER, "the joint's %s is not finite", what);
    double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
    if (largest == 0)
        return ulna_fail(error, ULNA_ERR_MODEL, "the joint's %s has zero length", what);
    if (fabs(ulna_norm(v) - 1) > 1e-15) { /* a unit vector stays as it is */
        for (int i = 0; i < 3; i++)
            v[i] /= largest;
        double length = ulna_norm(v);
        for (int i = 0; i < 3; i++)
            v[i] /= length;
    }

    /* a coordinate axis to rounding is a coordinate axis */
    for (int i = 0; i < 3; i++)
        if (fabs(v[i]) < 1e-15)
            v[i] = 0;
    for (int i = 0; i < 3; i++)
        if (v[(i + 1) % 3] == 0 && v[(i + 2) % 3] == 0)
            v[i] = copysign(1, v[i]);
    return ULNA_OK;
}

static ulna_status read_letters(const ulna_joint *joint, int least, char order[16], ulna_error *error)
{
    int count = 0;
    for (; count < 16 && joint->order[count]; count++) {
        char letter = joint->order[count];
        if (letter >= 'x' && letter <= 'z') /* elsewhere small letters mean fixed axes: do not guess */
            return ulna_fail(
                error, ULNA_ERR_MODEL,
                "the order \"%.15s\" must be in capital letters, which mean rotations about the moving axes",
                joint->order);
        if (count == 3 || letter < 'X' || letter > 'Z')
            return ulna_fail(error, ULNA_ERR_MODEL,
                             "the order \"%.15s\" must be one to three of the letters X, Y and Z", joint->order);
        if (count > 0 && order[count - 1] == letter)
            return ulna_fail(error, ULNA_ERR_MODEL, "the order \"%.15s\" rotates about the same axis twice in a row",
                             joint->order);
        order[count] = letter;
    }
    if (count < least)
        return ulna_fail(error, ULNA_ERR_MODEL, "the order \"%.15s\" has fewer than %d letters", joint->order, least);
    return ULNA_OK;
}

static ulna_status read_tokens(const ulna_joint *joint, char order[16], ulna_error *error)
{
    int length = 0;
    while (length < 16 && joint->order[length])
        length++;
    if (length < 2 || length > 12 || length % 2 != 0)
        return ulna_fail(error, ULNA_ERR_MODEL, "the order \"%.15s\" must be one to six steps such as TxRz",
                         joint->order);
    for (int i = 0; i < length; i += 2) {
        char kind = joint->order[i], axis = joint->order[i + 1];
        if ((kind != 'T' && kind != 'R') || axis < 'x' || axis > 'z')
            return ulna_fail(error, ULNA_ERR_MODEL, "the order \"%.15s\" must be one to six steps such as TxRz",
                             joint->order);
        if (i > 0 && order[i - 2] == kind && order[i - 1] == axis)
            return ulna_fail(error, ULNA_ERR_MODEL, "the order \"%.15s\" has the same step twice in a row",
                             joint->order);
        order[i] = kind;
        order[i + 1] = axis;
    }
    return ULNA_OK;
}

ulna_status ulna_joint_normalise(const ulna_joint *joint, ulna_joint *normal, ulna_error *error)
{
    if (!joint)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no joint given");
    ulna_joint result = joint_of(joint->type);
    ulna_status status = ULNA_OK;
    result.reversed = joint->reversed != 0;

    switch (joint->type) {
    case ULNA_JOINT_REVOLUTE:
    case ULNA_JOINT_PRISMATIC:
    case ULNA_JOINT_PLANAR:
    case ULNA_JOINT_SWING_TWIST:
        ulna_copy3(joint->axis, result.axis);
        status = normalise_direction(result.axis, "axis", error);
        if (status == ULNA_OK && joint->type == ULNA_JOINT_SWING_TWIST) {
            ulna_copy3(joint->center, result.center);
            status = normalise_direction(result.center, "center", error);
        }
        break;
    case ULNA_JOINT_EULER:
    case ULNA_JOINT_FREE_EULER:
        status = read_letters(joint, joint->type == ULNA_JOINT_EULER ? 1 : 3, result.order, error);
        break;
    case ULNA_JOINT_SEQUENCE:
        status = read_tokens(joint, result.order, error);
        break;
    case ULNA_JOINT_FIXED:
    case ULNA_JOINT_BALL:
    case ULNA_JOINT_EXPMAP:
    case ULNA_JOINT_FREE:
        break;
    case ULNA_JOINT_TYPE_COUNT:
    default:
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no joint type %d", (int)joint->type);
    }
    if (status != ULNA_OK)
        return status;

    if (!ulna_all_finite(joint->frame, 9))
        return ulna_fail(error, ULNA_ERR_NUMBER, "the joint's frame is not finite");
    ulna_copy9(joint->frame, result.frame);
    if (!(ulna_orthonormalise(result.frame) <= 1e-6))
        return ulna_fail(error, ULNA_ERR_MODEL, "the joint's frame is not a rotation");
    *normal = result;
    return ULNA_OK;
}

/* ---- resolving ------------------------------------------------------------------------------------------- */

int ulna_segment_dofs(ulna_segment segment)
{
    return segment < ULNA_SEGMENT_BALL ? 1 : segment == ULNA_SEGMENT_SWING ? 2 : 3;
}

int ulna_segment_coordinates(ulna_segment segment)
{
    return segment == ULNA_SEGMENT_BALL ? 4 : ulna_segment_dofs(segment);
}

static void add_segment(ulna_joint_plan *plan, ulna_segment segment)
{
    plan->segment[plan->segment_count++] = (unsigned char)segment;
    plan->dof_count += ulna_segment_dofs(segment);
    plan->coordinate_count += ulna_segment_coordinates(segment);
}

static void add_slides(ulna_joint_plan *plan, int count)
{
    for (int i = 0; i < count; i++)
        add_segment(plan, (ulna_segment)(ULNA_SEGMENT_TX + i));
}

static void add_turns(ulna_joint_plan *plan, const char *letters)
{
    for (int i = 0; letters[i]; i++)
        add_segment(plan, (ulna_segment)(ULNA_SEGMENT_RX + letters[i] - 'X'));
}

static void add_steps(ulna_joint_plan *plan, const char *order)
{
    for (int i = 0; order[i]; i += 2)
        add_segment(plan, (ulna_segment)((order[i] == 'T' ? ULNA_SEGMENT_TX : ULNA_SEGMENT_RX) + order[i + 1] - 'x'));
}

/* pre = frame * turned, post = turnedT * frameT */
static void turn_plan(ulna_joint_plan *plan, const double frame[9], const double turned[9])
{
    ulna_multiply9(frame, turned, plan->pre);
    ulna_transpose9(plan->pre, plan->post);
}

/* One DOF about or along an axis: the frame is not rotated if it is +x, +y or +z. (Of a unit vector at 1e-8 from x,
 * x itself is 1, too.) */
static void resolve_axis(const ulna_joint *joint, ulna_segment first, ulna_joint_plan *plan)
{
    double around[9];
    for (int i = 0; i < 3; i++)
        if (joint->axis[i] == 1 && joint->axis[(i + 1) % 3] == 0 && joint->axis[(i + 2) % 3] == 0) {
            add_segment(plan, (ulna_segment)((int)first + i));
            return;
        }
    ulna_frame_around(joint->axis, around);
    turn_plan(plan, joint->frame, around);
    add_segment(plan, (ulna_segment)((int)first + 2));
}

/* exp(w) Z R(axis, g) = exp(w) R(center, g) Z. The zero pose has exp(w) = Z^-1. */
static void resolve_swing_twist(const ulna_joint *joint, ulna_joint_plan *plan)
{
    double around[9], shortest[9], w[3], local[3], turned[9];
    ulna_frame_around(joint->center, around);
    ulna_shortest_rotation(joint->axis, joint->center, shortest);
    turn_plan(plan, joint->frame, around);
    add_segment(plan, ULNA_SEGMENT_SWING);
    add_segment(plan, ULNA_SEGMENT_RZ);
    const double *a = joint->axis, *c = joint->center;
    if (a[0] == c[0] && a[1] == c[1] && a[2] == c[2])
        return;

    double back[9];
    ulna_transpose9(joint->frame, back);
    ulna_multiply9(shortest, back, turned);
    ulna_transpose9(around, back);
    ulna_multiply9(back, turned, plan->post);
    ulna_log(shortest, w);
    ulna_unrotate(around, w, local);
    plan->zero[0] = -local[0];
    plan->zero[1] = -local[1];
}

/* The inverse motion: post^-1 * segments^-1, last first * pre^-1. Coordinates follow their segments. */
static void reverse_plan(ulna_joint_plan *plan)
{
    ulna_joint_plan forward = *plan;
    int at = forward.coordinate_count;
    for (int i = 0, from = 0; i < forward.segment_count; i++) {
        int count = ulna_segment_coordinates((ulna_segment)forward.segment[i]);
        at -= count;
        plan->segment[forward.segment_count - 1 - i] = forward.segment[i];
        memcpy(plan->zero + at, forward.zero + from, (size_t)count * sizeof *plan->zero);
        from += count;
    }
    ulna_transpose9(forward.post, plan->pre);
    ulna_transpose9(forward.pre, plan->post);
    plan->sign = -1;
}

ulna_status ulna_joint_resolve(const ulna_joint *joint, ulna_joint_plan *plan, ulna_error *error)
{
    ulna_joint normal = {0};
    double identity[9];
    ulna_status status = ulna_joint_normalise(joint, &normal, error);
    if (status != ULNA_OK)
        return status;
    memset(plan, 0, sizeof *plan);
    plan->sign = 1;
    ulna_identity9(identity);
    turn_plan(plan, normal.frame, identity);

    switch (normal.type) {
    case ULNA_JOINT_REVOLUTE:
        resolve_axis(&normal, ULNA_SEGMENT_RX, plan);
        break;
    case ULNA_JOINT_PRISMATIC:
        resolve_axis(&normal, ULNA_SEGMENT_TX, plan);
        break;
    case ULNA_JOINT_PLANAR: {
        double around[9];
        ulna_frame_around(normal.axis, around);
        turn_plan(plan, normal.frame, around);
        add_slides(plan, 2);
        add_segment(plan, ULNA_SEGMENT_RZ);
        break;
    }
    case ULNA_JOINT_SWING_TWIST:
        resolve_swing_twist(&normal, plan);
        break;
    case ULNA_JOINT_EULER:
        add_turns(plan, normal.order);
        break;
    case ULNA_JOINT_FREE_EULER:
        add_slides(plan, 3);
        add_turns(plan, normal.order);
        break;
    case ULNA_JOINT_FREE:
        add_slides(plan, 3);
        add_segment(plan, ULNA_SEGMENT_BALL);
        plan->zero[6] = 1;
        break;
    case ULNA_JOINT_BALL:
        add_segment(plan, ULNA_SEGMENT_BALL);
        plan->zero[3] = 1;
        break;
    case ULNA_JOINT_EXPMAP:
        add_segment(plan, ULNA_SEGMENT_EXPMAP);
        break;
    case ULNA_JOINT_SEQUENCE:
        add_steps(plan, normal.order);
        break;
    case ULNA_JOINT_FIXED: /* frame * frameT: exactly nothing */
    case ULNA_JOINT_TYPE_COUNT:
        turn_plan(plan, identity, identity);
        break;
    }
    if (normal.reversed)
        reverse_plan(plan);
    return ULNA_OK;
}

int ulna_joint_dof_count(const ulna_joint *joint, ulna_error *error)
{
    ulna_joint_plan plan;
    return ulna_joint_resolve(joint, &plan, error) ? -1 : plan.dof_count;
}

int ulna_joint_coordinate_count(const ulna_joint *joint, ulna_error *error)
{
    ulna_joint_plan plan;
    return ulna_joint_resolve(joint, &plan, error) ? -1 : plan.coordinate_count;
}

/* ---- motion at given coordinates; the inverse is in joint_fit.c --------------------------------------------------- */

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

/* r R, R about an axis: two columns of r change. */
static void turn_columns(double r[9], int axis, double angle)
{
    const int first = axis == 2 ? 0 : axis + 1, second = axis == 0 ? 2 : axis - 1;
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 9; i += 3) {
        double x = r[i + first], y = r[i + second];
        r[i + first] = x * c + y * s;
        r[i + second] = y * c - x * s;
    }
}

void ulna_joint_motion(const ulna_joint_plan *plan, const double *q, double rotation[9], double translation[3])
{
    double r[9], t[3] = {0, 0, 0};
    ulna_copy9(plan->pre, r);
    for (int i = 0; i < plan->segment_count; i++) {
        ulna_segment segment = (ulna_segment)plan->segment[i];
        double step[9], slide[3], product[9], sum[3];
        if (segment <= ULNA_SEGMENT_RZ) {
            turn_columns(r, (int)segment, plan->sign * q[0]);
            q++;
            continue;
        }
        ulna_segment_motion(segment, plan->sign, q, step, slide);
        ulna_compose(r, t, step, slide, product, sum);
        ulna_copy9(product, r);
        ulna_copy3(sum, t);
        q += ulna_segment_coordinates(segment);
    }
    ulna_multiply9(r, plan->post, rotation);
    ulna_copy3(t, translation);
}

/* ---- three rotations: the two families of angles that make the same motion ---------------------------------------- */

int ulna_joint_three_turns(const ulna_joint_plan *plan, int turn[3])
{
    int turns = 0;
    for (int s = 0; s < plan->segment_count; s++) {
        if (plan->segment[s] >= ULNA_SEGMENT_BALL)
            return 0;
        if (ulna_segment_is_translation(plan->segment[s]))
            continue;
        if (turns == 3 || (turns > 0 && plan->segment[turn[turns - 1]] == plan->segment[s]))
            return 0;
        turn[turns++] = s;
    }
    return turns == 3;
}

int ulna_joint_other_family(const ulna_joint_plan *plan, const double *q, double *other)
{
    int turn[3];
    if (!ulna_joint_three_turns(plan, turn))
        return 0;
    unsigned i = plan->segment[turn[0]], k = plan->segment[turn[2]];
    memcpy(other, q, (size_t)plan->coordinate_count * sizeof *q);
    other[turn[0]] += ULNA_PI;
    other[turn[1]] = (i == k ? 0 : ULNA_PI) - q[turn[1]];
    other[turn[2]] += ULNA_PI;
    for (int s = turn[0] + 1; s < turn[2]; s++)
        if (s != turn[1] && plan->segment[s] != ULNA_SEGMENT_TX + (s < turn[1] ? i : k))
            other[s] = -q[s];
    return 1;
}
