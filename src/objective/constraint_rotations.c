/*
 * Rows of constraints on rotations: orientation, frame, relative pose, direction, aim, angle.
 *
 * All but the angle have frozen axes: constraint.h says which, and why nothing vanishes at 180 degrees.
 */
#include "math/math3.h"
#include "objective/constraint_rows.h"

/* ---- rotations: orientation, frame, relative --------------------------------------------------------------------- */

/* How far frozen axes are turned from the goal to where the body is, `angle` away: half-way, or up to 30 degrees from there. */
static double frozen_angle(double angle)
{
    return angle - fmin(0.5 * angle, ULNA_PI / 6);
}

/* The axes of the goal: in the world, or as `other` sees them. */
static void goal_axes(const ulna_constraint_site *site, const double rotation[9], double g[9])
{
    if (site->link[1] < 0)
        ulna_copy9(rotation, g);
    else
        ulna_multiply9(site->place[1].rotation, rotation, g);
}

/* Up to 60 degrees half-way, for which a quaternion needs no sine. */
static void freeze_axes(const double d[9], const double g[9], double E[9])
{
    double back[9], between[9], q[4], w[3], turn[9];
    ulna_transpose9(g, back);
    ulna_multiply9(d, back, between);
    ulna_rotation_to_quaternion(between, q);
    if (q[3] >= 0.5 * sqrt(3)) {
        q[3] += 1;
        ulna_quaternion_to_rotation(q, turn);
    } else {
        ulna_log(between, w);
        double angle = ulna_norm(w);
        for (int i = 0; i < 3; i++)
            w[i] *= frozen_angle(angle) / angle;
        ulna_exp(w, turn);
    }
    ulna_multiply9(turn, g, E);
}

/* Adds the function sum_j (e_i x E_j).x_j of the axes x of one body: with A = sum x_j E_jT its moment is A [e_i]xT. */
static void add_axes(const ulna_constraint_site *site, ulna_row *row, int which, int i, const double A[9], double scale)
{
    if (site->link[which] < 0)
        return;
    ulna_row_part *part = &row->part[which];
    int next = (i + 1) % 3, last = (i + 2) % 3;
    part->link = site->link[which];
    row->part_count = which + 1;
    for (int k = 0; k < 3; k++) {
        part->force[k] = part->moment[3 * k + i] = 0;
        part->moment[3 * k + next] = -scale * A[3 * k + last];
        part->moment[3 * k + last] = scale * A[3 * k + next];
    }
}

/* Axes this near to the body and to the goal, as the trace of the rotation between says, are as good as new ones. */
#define NEAR_TRACE 2.9975 /* 1 + 2 cos(0.05 rad) */

/* Row i: 1/2 sum_j (e_i x E_j).(d_j - g_j), times the length. */
static void rotation_rows(const ulna_constraint_site *site, const double goal[9], ulna_row *rows)
{
    const double *d = site->place[0].rotation;
    double g[9], across[9], A[9], B[9], scale = 0.5 * site->length;
    goal_axes(site, goal, g);
    if (site->freeze)
        freeze_axes(d, g, site->frozen);
    ulna_transpose9(site->frozen, across);
    ulna_multiply9(d, across, A);
    ulna_multiply9(g, across, B);
    *site->has_old_axes = !(A[0] + A[4] + A[8] > NEAR_TRACE && B[0] + B[4] + B[8] > NEAR_TRACE);
    for (int i = 0; i < 3; i++) {
        int next = (i + 1) % 3, last = (i + 2) % 3;
        double off_d = A[3 * last + next] - A[3 * next + last], off_g = B[3 * last + next] - B[3 * next + last];
        rows[i].value = scale * (off_d - off_g);
        rows[i].noise = 1e-15 * site->length;
        add_axes(site, &rows[i], 0, i, A, scale);
        add_axes(site, &rows[i], 1, i, B, -scale);
    }
}

int ulna_orientation_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    rotation_rows(site, site->kept->given.goal, rows);
    return 3;
}

double ulna_orientation_error(const ulna_constraint_site *site)
{
    double g[9], w[3];
    goal_axes(site, site->kept->given.goal, g);
    ulna_rotation_between(site->place[0].rotation, g, w);
    return ulna_norm(w);
}

/* Also of a relative pose: the goal is seen from place 1, which is the world for a frame. */
int ulna_frame_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], o[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_point(&site->place[1], site->kept->given.goal, o);
    ulna_rows_between(site, p, o, rows);
    rotation_rows(site, site->kept->given.goal + 3, rows + 3);
    return 6;
}

double ulna_frame_error(const ulna_constraint_site *site)
{
    double p[3], o[3], e[3], g[9], w[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_point(&site->place[1], site->kept->given.goal, o);
    ulna_subtract3(p, o, e);
    goal_axes(site, site->kept->given.goal + 3, g);
    ulna_rotation_between(site->place[0].rotation, g, w);
    return fmax(ulna_norm(e), site->length * ulna_norm(w));
}

/* ---- direction, aim ---------------------------------------------------------------------------------------------- */

/* Two axes across the goal g, turned towards the direction d. */
static void freeze_directions(const double d[3], const double g[3], double axes[6])
{
    double frame[9], w[3], turn[9], n[3];
    ulna_frame_around(g, frame);
    ulna_cross(g, d, w);
    double sine = ulna_norm(w), angle = frozen_angle(atan2(sine, ulna_dot(g, d)));
    for (int i = 0; i < 3; i++) /* opposite to the goal any axis will do */
        w[i] = sine > 1e-9 ? w[i] / sine * angle : frame[3 * i] * angle;
    ulna_exp(w, turn);
    for (int k = 0; k < 2; k++) {
        ulna_column3(frame, k, n);
        ulna_rotate(turn, n, axes + 3 * (size_t)k);
    }
}

/* n.(d - g) along two frozen axes n, times the length. */
static void direction_row(const ulna_constraint_site *site, const double d[3], const double g[3], double n[3],
                          ulna_row *row)
{
    double e[3];
    ulna_subtract3(d, g, e);
    for (int i = 0; i < 3; i++)
        n[i] *= site->length;
    row->value = ulna_dot(n, e);
    row->noise = 1e-15 * site->length;
    ulna_row_add_function(site, row, 0, d, n, 0);
}

int ulna_direction_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double d[3];
    ulna_rotate(site->place[0].rotation, site->kept->given.axis, d);
    *site->has_old_axes = 1;
    if (site->freeze)
        freeze_directions(d, site->kept->given.goal, site->frozen);
    for (int k = 0; k < 2; k++) {
        double n[3];
        ulna_copy3(site->frozen + 3 * (size_t)k, n);
        direction_row(site, d, site->kept->given.goal, n, &rows[k]);
    }
    return 2;
}

double ulna_direction_error(const ulna_constraint_site *site)
{
    double d[3];
    ulna_rotate(site->place[0].rotation, site->kept->given.axis, d);
    return ulna_angle_between(d, site->kept->given.goal);
}

/* Point, axis and the unit vector from the point to the place; returns how far that is. */
static double aim_of(const ulna_constraint_site *site, double p[3], double d[3], double u[3])
{
    double goal[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_rotate(site->place[0].rotation, site->kept->given.axis, d);
    ulna_site_from_world(site, site->kept->given.goal, goal);
    ulna_subtract3(goal, p, u);
    double distance = ulna_norm(u);
    for (int i = 0; i < 3 && distance > site->kept->nearest; i++)
        u[i] /= distance;
    return distance;
}

/* -n.u(p) with u = e / r, e = goal - p, r = |e|, P = I - u uT: gradient P n / r, second derivatives
 * ((P n) uT + u (P n)T + (n.u) P) / r^2. */
static void add_aim(const ulna_constraint_site *site, const double p[3], const double u[3], const double n[3], double r,
                    ulna_row *row)
{
    double along = ulna_dot(n, u), across[3], gradient[3], frame[9], a[3], b[3], plus[3], minus[3];
    for (int i = 0; i < 3; i++) {
        across[i] = n[i] - along * u[i];
        gradient[i] = across[i] / r;
    }
    ulna_row_add_function(site, row, 0, p, gradient, 1);
    double size = ulna_norm(across);
    ulna_frame_around(u, frame);
    for (int i = 0; i < 3; i++)
        a[i] = size > 0 ? across[i] / size : frame[3 * i];
    ulna_cross(u, a, b);
    for (int i = 0; i < 3; i++) {
        plus[i] = a[i] + u[i];
        minus[i] = a[i] - u[i];
    }
    ulna_row_add_bend(row, 0, p, plus, 1, 0.5 * size / (r * r)); /* size (a uT + u aT) */
    ulna_row_add_bend(row, 0, p, minus, 1, -0.5 * size / (r * r));
    ulna_row_add_bend(row, 0, p, a, 1, along / (r * r));
    ulna_row_add_bend(row, 0, p, b, 1, along / (r * r));
}

int ulna_aim_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], d[3], u[3], nothing[3] = {0};
    double distance = aim_of(site, p, d, u);
    int is_away = distance > site->kept->nearest; /* on the spot any direction is right */
    *site->has_old_axes = 1;
    if (site->freeze) /* on the spot about d: poses after this one need axes too */
        freeze_directions(d, is_away ? u : d, site->frozen);
    for (int k = 0; k < 2; k++) {
        double n[3];
        if (!is_away) {
            ulna_row_add_function(site, &rows[k], 0, p, nothing, 1);
            continue;
        }
        ulna_copy3(site->frozen + 3 * (size_t)k, n);
        direction_row(site, d, u, n, &rows[k]);
        add_aim(site, p, u, n, distance, &rows[k]);
        rows[k].noise += ulna_site_noise(site, p) * site->length / distance;
    }
    return 2;
}

double ulna_aim_error(const ulna_constraint_site *site)
{
    double p[3], d[3], u[3];
    return aim_of(site, p, d, u) > site->kept->nearest ? ulna_angle_between(d, u) : 0;
}

/* ---- angle ------------------------------------------------------------------------------------------------------- */

#define PARALLEL 1e-9 /* radians: second derivatives of an angle grow as its cotangent, which ends here */

static void angle_axes(const ulna_constraint_site *site, double d[3], double e[3])
{
    ulna_rotate(site->place[0].rotation, site->kept->given.axis, d);
    ulna_rotate(site->place[1].rotation, site->kept->given.other_axis, e);
}

/* The unit vector w about which d opens the angle from e; returns the sine. Where d and e are parallel or opposite every w
 * across d does so: one that lies along no axis of the world, since a hinge along such an axis may be all that can move. */
static double opening_axis(const double d[3], const double e[3], double w[3])
{
    double frame[9];
    ulna_cross(e, d, w);
    double sine = ulna_norm(w);
    ulna_frame_around(d, frame);
    for (int i = 0; i < 3; i++)
        w[i] = sine > PARALLEL ? w[i] / sine : 0.8 * frame[3 * i] + 0.6 * frame[3 * i + 1];
    return sine;
}

/* Second derivatives of the angle, length / sine: what the functions of the parts have about w is taken out again, for along w
 * the angle grows evenly; and -dd.de along w, 2 dd.de = dd^2 + de^2 - (dd - de)^2. */
static void bend_angle(const ulna_constraint_site *site, const double d[3], const double e[3], const double w[3],
                       double scale, ulna_row *row)
{
    double across_d[3], across_e[3], cosine = ulna_dot(d, e);
    ulna_cross(w, d, across_d);
    ulna_cross(w, e, across_e);
    ulna_row_add_bend(row, 0, d, across_d, 0, -scale * cosine);
    if (site->link[1] < 0)
        return;
    ulna_row_add_bend(row, 1, e, across_e, 0, -scale * cosine);
    ulna_row_add_bend(row, 0, d, w, 0, -scale);
    ulna_row_add_bend(row, 1, e, w, 0, -scale);
    ulna_row_add_bend_between(site, row, d, e, w, 0, scale);
}

/* The angle minus the goal, times the length: the derivative is length w.(twist of d - twist of e) everywhere. The cosine in its
 * place has no derivative where the axes are parallel, and no solver leaves such a pose. */
int ulna_angle_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double d[3], e[3], w[3], from_d[3], from_e[3];
    angle_axes(site, d, e);
    double sine = opening_axis(d, e, w);
    rows->value = site->length * (ulna_angle_between(d, e) - site->kept->given.goal[0]);
    rows->noise = 1e-15 * site->length;
    if (sine > PARALLEL) {
        double scale = site->length / sine; /* of -d.e, whose derivative is that of the angle times the sine */
        for (int i = 0; i < 3; i++) {
            from_d[i] = -scale * d[i];
            from_e[i] = -scale * e[i];
        }
        bend_angle(site, d, e, w, scale, rows);
    } else {
        ulna_cross(w, d, from_e);
        ulna_cross(e, w, from_d);
        for (int i = 0; i < 3; i++) {
            from_e[i] *= site->length;
            from_d[i] *= site->length;
        }
    }
    ulna_row_add_function(site, rows, 0, d, from_e, 0);
    ulna_row_add_function(site, rows, 1, e, from_d, 0);
    return 1;
}

double ulna_angle_error(const ulna_constraint_site *site)
{
    double d[3], e[3];
    angle_axes(site, d, e);
    return ulna_angle_between(d, e) - site->kept->given.goal[0];
}

/* ---- multipliers in new axes ------------------------------------------------------------------------------------- */

/* Of two wrenches: torques in units of the length, so that they compare with forces. */
static double inner_of_wrenches(const double a[6], const double b[6], double length)
{
    return ulna_dot(a, b) / (length * length) + ulna_dot(a + 3, b + 3);
}

/* The y for which y . to is nearest to y . from, by Cholesky's factor of 2 x 2 or 3 x 3 products of the wrenches. */
static void convert_multipliers(const ulna_row *from, const ulna_row *to, int n, double length, double *y)
{
    double wrench[6] = {0}, G[3][3], x[3];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 6; k++)
            wrench[k] += y[i] * from[i].part[0].wrench[k];
    for (int i = 0; i < n; i++) {
        x[i] = inner_of_wrenches(to[i].part[0].wrench, wrench, length);
        for (int j = 0; j <= i; j++) {
            double g = inner_of_wrenches(to[i].part[0].wrench, to[j].part[0].wrench, length);
            for (int k = 0; k < j; k++)
                g -= G[i][k] * G[j][k];
            if (i == j && !(g > 0))
                return;
            G[i][j] = i == j ? sqrt(g) : g / G[j][j];
        }
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= G[i][k] * x[k];
        x[i] /= G[i][i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= G[k][i] * x[k];
        x[i] /= G[i][i];
    }
    memcpy(y, x, (size_t)n * sizeof *y);
}

void ulna_rows_turn_multipliers(const ulna_problem *problem, const ulna_row *from, const ulna_row *to, int count,
                                double *y)
{
    for (int end = 1; end <= count; end++) {
        int number = from[end - 1].constraint;
        if (number < 0 || (end < count && from[end].constraint == number))
            continue;
        int n = ulna_constraint_kind_of(problem->kept[number].given.type)->frozen_rows;
        if (n > 0 && n <= end)
            convert_multipliers(from + end - n, to + end - n, n, problem->length, y + end - n);
    }
}
