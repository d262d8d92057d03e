/*
 * The table of term types: everything that the library knows about a type is in its row at the end of this file, and the
 * functions of the row come before it, type by type. Terms on coordinates: coordinates.c; terms of users: custom.c.
 *
 * Source: docs/mathematics.md, "Terms on one body". A body moved by exp(w, v) takes a point p to
 *   p + (w x p + v) + 1/2 w x (w x p + v),
 * and a direction d to d + w x d + 1/2 w x (w x d). So for a fixed covector c,
 *   c.p has the row (p x c, c) and the symmetric second derivative
 *   B_ww = 1/2 (c pT + p cT) - (c.p) I,  B_wv = -1/2 [c]x,  B_vv = 0.
 *
 * Slopes say how the term's force F = sum r_k row_k changes with each number of the goal while the body stays where it
 * is: for sensitivity.c. P(u) = I - u uT is the derivative of bringing a vector to unit length, taken at unit length.
 */
#include "math/math3.h"
#include "objective/problem.h"

/* ---- pieces --------------------------------------------------------------------------------------------- */

static void cross_matrix(const double c[3], double m[9])
{
    const double matrix[9] = {0, -c[2], c[1], c[2], 0, -c[0], -c[1], c[0], 0};
    ulna_copy9(matrix, m);
}

void ulna_row_of(const double c[3], const double x[3], double scale, int is_point, double row[6])
{
    double turn[3];
    ulna_cross(x, c, turn);
    for (int i = 0; i < 3; i++) {
        row[i] += scale * turn[i];
        if (is_point)
            row[3 + i] += scale * c[i];
    }
}

void ulna_bend_of(const double c[3], const double x[3], int is_point, double bend[6][6])
{
    double dot = ulna_dot(c, x), hat[9];
    cross_matrix(c, hat);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            bend[i][j] += 0.5 * (c[i] * x[j] + x[i] * c[j]) - (i == j ? dot : 0);
            if (is_point) {
                bend[i][3 + j] += -0.5 * hat[3 * i + j];
                bend[3 + j][i] += -0.5 * hat[3 * i + j];
            }
        }
}

void ulna_bend_of_curvature(const double C[9], const double x[3], int is_point, double bend[6][6])
{
    double move[3][6] = {{0}}; /* dx = move (w, v) = -[x]x w + v */
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2};
        ulna_row_of(unit, x, 1, is_point, move[k]);
    }
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    bend[i][j] += move[a][i] * C[3 * a + b] * move[b][j];
}

void ulna_term_point(const ulna_term *term, const ulna_body_place *place, double p[3], double r[3])
{
    ulna_rotate(place->rotation, term->local, p);
    for (int i = 0; i < 3; i++) {
        p[i] += place->position[i];
        r[i] = (term->goal[i] - place->origin[i]) - p[i]; /* in this order: the world's origin may be far away */
    }
}

void ulna_rotation_between(const double d[9], const double g[9], double w[3])
{
    double back[9], between[9];
    ulna_transpose9(g, back);
    ulna_multiply9(d, back, between);
    ulna_log(between, w);
}

/* log(R_goal RT): the rotation vector from a body's rotation to the goal. */
static void rotation_residual(const ulna_term *term, const double rotation[9], double r[3])
{
    ulna_rotation_between(term->goal, rotation, r);
}

/* scale P(u) e_k */
static void project(const double u[3], int k, double scale, double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = scale * ((i == k) - u[k] * u[i]);
}

/* ---- errors: how far a term is from its goal, in metres or radians, unweighted ----------------------------------- */

double ulna_angle_between(const double a[3], const double b[3])
{
    double c[3];
    ulna_cross(a, b, c);
    return atan2(ulna_norm(c), ulna_dot(a, b));
}

/* Of terms that are evaluated one by one: the length of their residuals. */
static double residual_error(const ulna_work *work, const ulna_term *term)
{
    ulna_body_place place;
    ulna_term_value value = {0};
    double sum = 0;
    ulna_work_place(work, term->body, &place);
    ulna_term_kind_of(term->type)->evaluate(term, 1, &place, &value);
    for (int k = 0; k < value.count; k++)
        sum += value.residual[k] * value.residual[k];
    return sqrt(sum);
}

/* The angle between two rotations. */
static double rotation_error(const ulna_work *work, const ulna_term *term)
{
    double rotation[9], r[3];
    ulna_pose_body_relative(work->pose, term->body, NULL, rotation);
    rotation_residual(term, rotation, r);
    return ulna_norm(r);
}

/* ---- point, direction, orientation: the sweeps evaluate them ----------------------------------------------------- */

static void point_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    double p[3], r[3];
    ulna_term_point(term, place, p, r);
    for (int k = 0; k < 3; k++) {
        double c[3] = {w * (k == 0), w * (k == 1), w * (k == 2)};
        ulna_row_of(c, p, 1, 1, slope[k]);
    }
}

static double point_error(const ulna_work *work, const ulna_term *term)
{
    double p[3], r[3];
    ulna_pull_value(work, term, &work->problem->pull[term->slot], p, r);
    return ulna_norm(r);
}

/* r = g - d, torque w d x g. */
static void direction_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    double d[3], c[3];
    ulna_rotate(place->rotation, term->local + 3, d);
    for (int k = 0; k < 3; k++) {
        project(term->goal, k, w, c);
        ulna_row_of(c, d, 1, 0, slope[k]);
    }
}

static double direction_error(const ulna_work *work, const ulna_term *term)
{
    double rotation[9], axis[3];
    ulna_pose_body_relative(work->pose, term->body, NULL, rotation);
    ulna_rotate(rotation, term->local + 3, axis);
    return ulna_angle_between(axis, term->goal);
}

/* Three directions of half the weight, whose goals turn by e_k x g. */
static void orientation_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    for (int column = 0; column < 3; column++) {
        double d[3], g[3];
        for (int i = 0; i < 3; i++) {
            d[i] = place->rotation[3 * i + column];
            g[i] = 0.5 * w * term->goal[3 * i + column];
        }
        for (int k = 0; k < 3; k++) {
            double unit[3] = {k == 0, k == 1, k == 2}, c[3];
            ulna_cross(unit, g, c);
            ulna_row_of(c, d, 1, 0, slope[k]);
        }
    }
}

/* ---- geodesic orientation: r = log(R_goal RT) -------------------------------------------------------------------- */

static void evaluate_geodesic(const ulna_term *term, double weight, const ulna_body_place *place,
                              ulna_term_value *value)
{
    double root = sqrt(weight), r[3], left[9];
    rotation_residual(term, place->rotation, r);
    ulna_left_jacobian_inverse(r, left); /* its transpose is the right one: log(exp(r) exp(-w)) = r - J_right^-1 w */
    value->count = 3;
    for (int k = 0; k < 3; k++) {
        value->residual[k] = root * r[k];
        for (int i = 0; i < 3; i++)
            value->row[k][i] = root * left[3 * i + k];
    }
    /* f = 1/2 |r|^2 has the symmetric Hessian C = sym(J^-1), so sum r_k B_k = J^-T J^-1 - C. */
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double square = 0;
            for (int k = 0; k < 3; k++)
                square += left[3 * i + k] * left[3 * j + k];
            value->bend[i][j] = weight * (square - 0.5 * (left[3 * i + j] + left[3 * j + i]));
        }
}

/* The torque is w r, r = log(R_goal RT), since J_left^-1(r) r = r; and log(exp(x) exp(r)) = r + J_left^-1(r) x. */
static void geodesic_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    double r[3], left[9];
    rotation_residual(term, place->rotation, r);
    ulna_left_jacobian_inverse(r, left);
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            slope[k][i] = w * left[3 * i + k];
}

/* ---- aim: r = n - d with n = e / |e|, e = goal - p --------------------------------------------------------------- */

static void evaluate_aim(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value)
{
    double root = sqrt(weight), p[3], e[3], d[3], pull[3];
    ulna_term_point(term, place, p, e);
    ulna_rotate(place->rotation, term->local + 3, d);
    double distance = ulna_norm(e);
    value->count = 3;
    if (!(distance > term->nearest)) { /* on the spot: any direction is right */
        for (int k = 0; k < 3; k++)
            value->residual[k] = 0;
        return;
    }
    double n[3] = {e[0] / distance, e[1] / distance, e[2] / distance};
    for (int k = 0; k < 3; k++) {
        value->residual[k] = root * (n[k] - d[k]);
        pull[k] = weight * (n[k] - d[k]);
    }

    /* value = d - n; dn/dp = -P / |e| with P = I - n nT. */
    for (int k = 0; k < 3; k++) {
        double unit[3] = {k == 0, k == 1, k == 2}, c[3];
        for (int i = 0; i < 3; i++)
            c[i] = ((i == k) - n[k] * n[i]) / distance;
        ulna_row_of(unit, d, root, 0, value->row[k]);
        ulna_row_of(c, p, root, 1, value->row[k]);
    }

    /* Second derivative of pull.(d - n): along d, along p by the gradient -d(pull.n)/dp = P pull / |e|, and by the curvature
     * of -pull.n in p: ((P pull) nT + n (P pull)T + (n.pull) P) / |e|^2. */
    double along = ulna_dot(n, pull), across[3], gradient[3], curvature[9];
    for (int i = 0; i < 3; i++) {
        across[i] = pull[i] - along * n[i];
        gradient[i] = across[i] / distance;
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            curvature[3 * i + j] =
                (across[i] * n[j] + n[i] * across[j] + along * ((i == j) - n[i] * n[j])) / (distance * distance);
    ulna_bend_of(pull, d, 0, value->bend);
    ulna_bend_of(gradient, p, 1, value->bend);
    ulna_bend_of_curvature(curvature, p, 1, value->bend);
}

/* Pull n at the direction d and -P(n) d / |e| at the point p, with n = e / |e|, e = goal - p; dn = P(n) e_k / |e|. */
static void aim_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    double p[3], e[3], d[3], n[3], change[3], turn[3], c[3];
    ulna_term_point(term, place, p, e);
    ulna_rotate(place->rotation, term->local + 3, d);
    double distance = ulna_norm(e);
    if (!(distance > term->nearest))
        return;
    for (int i = 0; i < 3; i++)
        n[i] = e[i] / distance;
    double along = ulna_dot(n, d);
    for (int k = 0; k < 3; k++) {
        project(n, k, 1 / distance, change);
        double across = ulna_dot(change, d);
        for (int i = 0; i < 3; i++) {
            turn[i] = w * change[i];
            c[i] = w * (along * change[i] + across * n[i] + (d[i] - along * n[i]) * n[k] / distance) / distance;
        }
        ulna_row_of(turn, d, 1, 0, slope[k]);
        ulna_row_of(c, p, 1, 1, slope[k]);
    }
}

static double aim_error(const ulna_work *work, const ulna_term *term)
{
    double rotation[9], axis[3], w[3];
    ulna_pose_body_relative(work->pose, term->body, NULL, rotation);
    ulna_rotate(rotation, term->local + 3, axis);
    ulna_pose_point_relative(work->pose, term->body, term->local, w);
    for (int i = 0; i < 3; i++)
        w[i] = (term->goal[i] - work->pose->origin[i]) - w[i];
    return ulna_norm(w) > term->nearest ? ulna_angle_between(axis, w) : 0;
}

/* ---- point on a plane, point on a line --------------------------------------------------------------------------- */

static void evaluate_plane(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value)
{
    const double *normal = term->goal + 3;
    double root = sqrt(weight), p[3], r[3];
    ulna_term_point(term, place, p, r);
    double distance = ulna_dot(normal, r), pull[3];
    value->count = 1;
    value->residual[0] = root * distance;
    ulna_row_of(normal, p, root, 1, value->row[0]);
    for (int i = 0; i < 3; i++)
        pull[i] = weight * distance * normal[i];
    ulna_bend_of(pull, p, 1, value->bend);
}

/* Pull (n.e) n with e = point on the plane - p. */
static void plane_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    const double *n = term->goal + 3;
    double p[3], e[3], change[3], c[3];
    ulna_term_point(term, place, p, e);
    double distance = ulna_dot(n, e);
    for (int k = 0; k < 3; k++) {
        project(n, k, w, change);
        double along = ulna_dot(change, e);
        for (int i = 0; i < 3; i++)
            c[i] = w * n[k] * n[i];
        ulna_row_of(c, p, 1, 1, slope[k]);
        for (int i = 0; i < 3; i++)
            c[i] = along * n[i] + distance * change[i];
        ulna_row_of(c, p, 1, 1, slope[3 + k]);
    }
}

static void evaluate_line(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value)
{
    const double *along = term->goal + 3;
    double root = sqrt(weight), p[3], r[3], pull[3];
    ulna_term_point(term, place, p, r);
    double off = ulna_dot(along, r);
    value->count = 3;
    for (int k = 0; k < 3; k++) {
        double c[3] = {-along[k] * along[0], -along[k] * along[1], -along[k] * along[2]};
        c[k] += 1; /* row k of I - u uT */
        value->residual[k] = root * (r[k] - off * along[k]);
        ulna_row_of(c, p, root, 1, value->row[k]);
        pull[k] = weight * (r[k] - off * along[k]);
    }
    ulna_bend_of(pull, p, 1, value->bend);
}

/* Pull P(u) e with e = point on the line - p. */
static void line_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    const double *u = term->goal + 3;
    double p[3], e[3], change[3], c[3];
    ulna_term_point(term, place, p, e);
    double off = ulna_dot(u, e);
    for (int k = 0; k < 3; k++) {
        project(u, k, w, c);
        ulna_row_of(c, p, 1, 1, slope[k]);
        project(u, k, w, change);
        double along = ulna_dot(change, e);
        for (int i = 0; i < 3; i++)
            c[i] = -off * change[i] - along * u[i];
        ulna_row_of(c, p, 1, 1, slope[3 + k]);
    }
}

/* ---- terms on coordinates: posture, limits, coupling ---------------------------------------------------------- */

static double coordinates_error(const ulna_work *work, const ulna_term *term)
{
    double sum = 0;
    for (int d = 0; d < work->problem->model->nv; d++) {
        double off = ulna_coordinate_error(work, term, d);
        sum += off * off;
    }
    return sqrt(sum);
}

static double coupling_error(const ulna_work *work, const ulna_term *term)
{
    return fabs(ulna_coupling_residual(work, term));
}

/* ---- custom ------------------------------------------------------------------------------------------------------ */

/* Differences of F over the goal. Nothing is known of the callback's units: plain numbers of order 1 or larger. */
static void custom_slope(const ulna_term *term, double w, const ulna_body_place *place, ulna_goal_forces slope)
{
    for (int k = 0; k < term->custom.goal_size; k++) {
        double reach = 6e-6 * fmax(1, fabs(term->goal[k])), ends[2];
        for (int side = 0; side < 2; side++) {
            ulna_term moved = *term;
            ulna_term_value value = {0};
            ends[side] = moved.goal[k] += side ? reach : -reach;
            ulna_evaluate_custom(&moved, w, place, &value);
            for (int j = 0; j < value.count; j++)
                for (int i = 0; i < 6; i++)
                    slope[k][i] += (side ? 1 : -1) * value.residual[j] * value.row[j][i];
        }
        for (int i = 0; i < 6; i++)
            slope[k][i] /= ends[1] - ends[0];
    }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const ulna_term_kind kinds[ULNA_TERM_TYPE_COUNT] = {
#define ROW(type, ...) [ULNA_TERM_##type] = {__VA_ARGS__}
    /*   type         name           goal size              residuals          pulls rotation  unit vectors, rotation         evaluate              error              columns                slope */
    ROW(POINT,       "point",       3,                     3,                    1, 0, 0,                                     NULL,                 point_error,       3,                     point_slope),
    ROW(ORIENTATION, "orientation", 9,                     9,                    3, 1, ULNA_GOAL_IS_ROTATION,                 NULL,                 rotation_error,    3,                     orientation_slope),
    ROW(GEODESIC,    "geodesic",    9,                     3,                    0, 1, ULNA_GOAL_IS_ROTATION,                 evaluate_geodesic,    rotation_error,    3,                     geodesic_slope),
    ROW(DIRECTION,   "direction",   3,                     3,                    1, 1, ULNA_UNIT_GOAL | ULNA_UNIT_LOCAL_AXIS, NULL,                 direction_error,   3,                     direction_slope),
    ROW(AIM,         "aim",         3,                     3,                    0, 1, ULNA_UNIT_LOCAL_AXIS,                  evaluate_aim,         aim_error,         3,                     aim_slope),
    ROW(PLANE,       "plane",       6,                     1,                    0, 0, ULNA_UNIT_GOAL_AXIS,                   evaluate_plane,       residual_error,    6,                     plane_slope),
    ROW(LINE,        "line",        6,                     3,                    0, 0, ULNA_UNIT_GOAL_AXIS,                   evaluate_line,        residual_error,    6,                     line_slope),
    ROW(POSTURE,     "posture",     ULNA_SIZE_NQ,          ULNA_SIZE_NV,         0, 0, 0,                                     NULL,                 coordinates_error, ULNA_SIZE_NV,          NULL),
    ROW(LIMITS,      "limits",      ULNA_SIZE_TWICE_NV,    ULNA_SIZE_NV,         0, 0, 0,                                     NULL,                 coordinates_error, ULNA_SIZE_TWICE_NV,    NULL),
    ROW(COUPLING,    "coupling",    2,                     1,                    0, 0, 0,                                     NULL,                 coupling_error,    2,                     NULL),
    ROW(CUSTOM,      "custom",      ULNA_SIZE_CUSTOM_GOAL, ULNA_SIZE_CUSTOM_ROWS, 0, 0, 0,                                    ulna_evaluate_custom, residual_error,    ULNA_SIZE_CUSTOM_GOAL, custom_slope),
#undef ROW
};
/* clang-format on */

const ulna_term_kind *ulna_term_kind_of(ulna_term_type type)
{
    return (unsigned)type < ULNA_TERM_TYPE_COUNT ? &kinds[type] : NULL;
}

int ulna_term_size(const ulna_model *model, const ulna_term *term, int size)
{
    switch (size) {
    case ULNA_SIZE_NQ:
        return model->nq;
    case ULNA_SIZE_NV:
        return model->nv;
    case ULNA_SIZE_TWICE_NV:
        return 2 * model->nv;
    case ULNA_SIZE_CUSTOM_GOAL:
        return term->custom.goal_size;
    case ULNA_SIZE_CUSTOM_ROWS:
        return term->custom.residual_count;
    default:
        return size;
    }
}

int ulna_term_goal_size(const ulna_model *model, const ulna_term *term)
{
    return ulna_term_size(model, term, ulna_term_kind_of(term->type)->goal_size);
}

const char *ulna_term_type_name(ulna_term_type type)
{
    const ulna_term_kind *kind = ulna_term_kind_of(type);
    return kind ? kind->name : NULL;
}
