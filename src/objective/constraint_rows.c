/*
 * The table of constraint types, at the end of this file, and the functions of its rows, type by type: what a constraint is as
 * rows C = 0 or C >= 0 (constraint.h), with first and second derivatives. Rotations: constraint_rotations.c.
 *
 * A row is made of linear functions n.x of points and directions x of its bodies, which ulna_row_part holds exactly, and of
 * bends for what is not linear. All positions are relative to the pose's origin. The world is a body that does not move: a
 * constraint between two bodies with the world as the second is one on the first.
 */
#include "objective/constraint_rows.h"
#include "math/math3.h"

/* ---- pieces of rows --------------------------------------------------------------------------------------------- */

static void wrench_of(const double x[3], const double n[3], int is_point, double wrench[6])
{
    ulna_cross(x, n, wrench);
    for (int i = 0; i < 3; i++)
        wrench[3 + i] = is_point ? n[i] : 0;
}

/* Adds n.x, x a point or direction of body 0 or 1; body 0 comes first. */
void ulna_row_add_function(const ulna_constraint_site *site, ulna_row *row, int which, const double x[3],
                           const double n[3], int is_point)
{
    if (site->link[which] < 0)
        return;
    ulna_row_part *part = &row->part[which];
    if (row->part_count <= which) {
        memset(part, 0, sizeof *part);
        part->link = site->link[which];
        row->part_count = which + 1;
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            part->moment[3 * i + j] += x[i] * n[j];
        part->force[i] += is_point ? n[i] : 0;
    }
}

/* Adds scale u uT, u = n.dx on one body. */
void ulna_row_add_bend(ulna_row *row, int which, const double x[3], const double n[3], int is_point, double scale)
{
    ulna_row_bend *bend = &row->bend[row->bend_count++];
    bend->part = which;
    bend->scale = scale;
    wrench_of(x, n, is_point, bend->wrench[which]);
}

/* Adds scale u uT, u = n.(dx - dy), x on body 0 and y on body 1 or in the world. */
void ulna_row_add_bend_between(const ulna_constraint_site *site, ulna_row *row, const double x[3], const double y[3],
                               const double n[3], int is_point, double scale)
{
    const double back[3] = {-n[0], -n[1], -n[2]};
    ulna_row_add_bend(row, 0, x, n, is_point, scale);
    if (site->link[1] >= 0) {
        ulna_row_bend *bend = &row->bend[row->bend_count - 1];
        bend->part = ULNA_NONE;
        wrench_of(y, back, is_point, bend->wrench[1]);
    }
}

void ulna_site_point(const ulna_body_place *place, const double local[3], double p[3])
{
    ulna_rotate(place->rotation, local, p);
    ulna_accumulate3(place->position, p);
}

/* A place of the world, relative to the origin. */
void ulna_site_from_world(const ulna_constraint_site *site, const double place[3], double p[3])
{
    ulna_subtract3(place, site->origin, p);
}

static double size3(const double x[3])
{
    return fabs(x[0]) + fabs(x[1]) + fabs(x[2]);
}

/* Rounding of a position near p, which was found by a difference of world positions. */
double ulna_site_noise(const ulna_constraint_site *site, const double p[3])
{
    return 2.3e-16 * (size3(p) + size3(site->origin));
}

void ulna_column3(const double matrix[9], int j, double x[3])
{
    for (int i = 0; i < 3; i++)
        x[i] = matrix[3 * i + j];
}

/* n.(x - y), x on body 0 and y on body 1 or in the world. */
static void row_between(const ulna_constraint_site *site, ulna_row *row, const double x[3], const double y[3],
                        const double n[3])
{
    const double back[3] = {-n[0], -n[1], -n[2]};
    double e[3];
    ulna_subtract3(x, y, e);
    row->value = ulna_dot(n, e);
    row->noise = ulna_site_noise(site, x) + ulna_site_noise(site, y);
    ulna_row_add_function(site, row, 0, x, n, 1);
    ulna_row_add_function(site, row, 1, y, back, 1);
}

/* sign times coordinate i of x: a row_add_function along an axis of the world, on a part that has none yet. */
static void add_coordinate(const ulna_constraint_site *site, ulna_row *row, int which, const double x[3], int i,
                           double sign)
{
    ulna_row_part *part = &row->part[which];
    part->link = site->link[which];
    row->part_count = which + 1;
    for (int j = 0; j < 3; j++) {
        double n = j == i ? sign : 0;
        part->force[j] = n;
        for (int k = 0; k < 3; k++)
            part->moment[3 * k + j] = n * x[k];
    }
}

void ulna_rows_between(const ulna_constraint_site *site, const double x[3], const double y[3], ulna_row *rows)
{
    double noise = ulna_site_noise(site, x) + ulna_site_noise(site, y);
    for (int i = 0; i < 3; i++) {
        rows[i].value = x[i] - y[i];
        rows[i].noise = noise;
        if (site->link[0] >= 0)
            add_coordinate(site, &rows[i], 0, x, i, 1);
        if (site->link[1] >= 0)
            add_coordinate(site, &rows[i], 1, y, i, -1);
    }
}

/* ---- point, line, plane, box, together ------------------------------------------------------------------------- */

static int point_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], g[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_from_world(site, site->kept->given.goal, g);
    ulna_rows_between(site, p, g, rows);
    return 3;
}

static int line_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], g[3], frame[9], n[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_from_world(site, site->kept->given.goal, g);
    ulna_frame_around(site->kept->given.goal + 3, frame);
    for (int k = 0; k < 2; k++) {
        ulna_column3(frame, k, n);
        row_between(site, &rows[k], p, g, n);
    }
    return 2;
}

static int plane_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], g[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_from_world(site, site->kept->given.goal, g);
    row_between(site, rows, p, g, site->kept->given.goal + 3);
    return 1;
}

/* Sides 0, 1, 2 are the lower ones. */
static int box_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], g[3];
    int count = 0;
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    for (int side = 0; side < 6; side++) {
        int i = side % 3;
        double sign = side < 3 ? 1 : -1, n[3] = {sign * (i == 0), sign * (i == 1), sign * (i == 2)};
        if (isinf(site->kept->given.goal[side]))
            continue;
        ulna_copy3(p, g);
        g[i] = site->kept->given.goal[side] - site->origin[i];
        row_between(site, &rows[count], p, g, n);
        rows[count++].place = side;
    }
    return count;
}

static int together_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], o[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_point(&site->place[1], site->kept->given.other_point, o);
    ulna_rows_between(site, p, o, rows);
    return 3;
}

/* ---- distance, sphere: |p - o| - radius -------------------------------------------------------------------------- */

/* With n = (p - o) / |p - o|: derivative n.(dp - do), and |P(n) (dp - do)|^2 / |p - o| as two bends. */
static int length_row(const ulna_constraint_site *site, const double p[3], const double o[3], double radius,
                      ulna_row *row)
{
    double n[3], frame[9];
    ulna_subtract3(p, o, n);
    double distance = ulna_norm(n);
    int is_apart = distance > site->kept->nearest;
    for (int i = 0; i < 3; i++) /* at the centre every way leads out */
        n[i] = is_apart ? n[i] / distance : (i == 2);
    row_between(site, row, p, o, n);
    row->value = distance - radius;
    if (is_apart) {
        ulna_frame_around(n, frame);
        for (int k = 0; k < 2; k++) {
            double axis[3];
            ulna_column3(frame, k, axis);
            ulna_row_add_bend_between(site, row, p, o, axis, 1, 1 / distance);
        }
    }
    return 1;
}

static int sphere_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], centre[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_from_world(site, site->kept->given.goal, centre);
    return length_row(site, p, centre, site->kept->given.goal[3], rows);
}

static int distance_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    double p[3], o[3];
    ulna_site_point(&site->place[0], site->kept->given.point, p);
    ulna_site_point(&site->place[1], site->kept->given.other_point, o);
    return length_row(site, p, o, site->kept->given.goal[0], rows);
}

/* ---- coordinates, centre of mass --------------------------------------------------------------------------------- */

static double linear_sum(const ulna_constraint_site *site, double *size)
{
    const ulna_constraint *given = &site->kept->given;
    double sum = 0;
    *size = fabs(given->goal[0]);
    for (int k = 0; k < given->dof_count; k++) {
        double term = given->coefficients[k] * site->q[site->coordinate[given->dofs[k]]];
        sum += term;
        *size += fabs(term);
    }
    return sum - given->goal[0];
}

static int linear_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    const ulna_kept *kept = site->kept;
    double size;
    rows->value = kept->scale * linear_sum(site, &size);
    rows->noise = 2.3e-16 * kept->scale * size;
    rows->dof_count = kept->given.dof_count;
    rows->dof = kept->dofs;
    rows->coefficient = kept->numbers + kept->given.dof_count;
    return 1;
}

static double linear_error(const ulna_constraint_site *site)
{
    double size;
    return linear_sum(site, &size);
}

static void centre_row(const ulna_constraint_site *site, const double on_plane[3], const double normal[3],
                       ulna_row *row)
{
    double g[3], e[3];
    ulna_site_from_world(site, on_plane, g);
    ulna_subtract3(site->centre, g, e);
    row->value = ulna_dot(normal, e);
    row->noise = ulna_site_noise(site, site->centre) + ulna_site_noise(site, g);
    row->has_centre = 1;
    ulna_copy3(normal, row->centre);
}

static int centre_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    centre_row(site, site->kept->given.goal, site->kept->given.goal + 3, rows);
    return 1;
}

static int support_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    const ulna_constraint *given = &site->kept->given;
    int count = given->corner_count;
    for (int k = 0; k < count; k++) {
        const double *from = given->corners + 3 * (size_t)k, *to = given->corners + 3 * (size_t)((k + 1) % count);
        double edge[3], inward[3];
        ulna_subtract3(to, from, edge);
        ulna_cross(given->axis, edge, inward);
        double width = ulna_norm(inward);
        for (int i = 0; i < 3; i++)
            inward[i] /= width;
        centre_row(site, from, inward, &rows[k]);
    }
    return count;
}

/* ---- custom ------------------------------------------------------------------------------------------------------ */

/* Rows and bends come about the body's origin; how what is left of the bend is split from moment and force: evaluate.c. */
static void own_part(const ulna_constraint_site *site, int which, ulna_constraint_value *value, ulna_row *row)
{
    const double *p = site->place[which].position;
    ulna_row_part *part = &row->part[which];
    double wrench[6], (*bend)[6] = row->own.bend[which];
    ulna_shift_row(value->row[which], p, 1, wrench);
    ulna_shift_bend(value->bend[which], p, 1, bend);
    const double *t = wrench, *g = wrench + 3;
    const double moment[9] = {0, 0.5 * t[2], -0.5 * t[1], -0.5 * t[2], 0, 0.5 * t[0], 0.5 * t[1], -0.5 * t[0], 0};
    const double hat[3][3] = {{0, -g[2], g[1]}, {g[2], 0, -g[0]}, {-g[1], g[0], 0}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            bend[i][3 + j] += 0.5 * hat[i][j];
            bend[3 + j][i] += 0.5 * hat[i][j];
        }
    part->link = site->link[which];
    ulna_copy9(moment, part->moment);
    ulna_copy3(g, part->force);
    row->part_count = which + 1;
}

/* T0t cross T1: rows, then columns. */
static void own_cross(const ulna_constraint_site *site, double cross[6][6], ulna_row *row)
{
    double half[6][6], moved[6];
    for (int i = 0; i < 6; i++) {
        ulna_shift_row(cross[i], site->place[1].position, 1, moved);
        for (int j = 0; j < 6; j++)
            half[j][i] = moved[j];
    }
    for (int j = 0; j < 6; j++) {
        ulna_shift_row(half[j], site->place[0].position, 1, moved);
        for (int i = 0; i < 6; i++)
            row->own.cross[i][j] = moved[i];
    }
}

static int custom_rows(const ulna_constraint_site *site, ulna_row *rows)
{
    const ulna_constraint *given = &site->kept->given;
    double rotation[2][9], position[2][3];
    ulna_constraint_value value = {0};
    for (int b = 0; b < 2; b++) {
        ulna_copy9(site->place[b].rotation, rotation[b]);
        for (int i = 0; i < 3; i++)
            position[b][i] = site->link[b] < 0 ? 0 : site->origin[i] + site->place[b].position[i];
    }
    given->custom.evaluate(given->custom.context, given->goal, (const double(*)[9])rotation,
                           (const double(*)[3])position, &value);
    rows->value = value.value;
    rows->noise = ulna_site_noise(site, site->place[0].position) + 2.3e-16 * fabs(value.value);
    rows->is_own = 1;
    memset(&rows->own, 0, sizeof rows->own);
    own_part(site, 0, &value, rows);
    if (site->link[1] >= 0) {
        own_part(site, 1, &value, rows);
        own_cross(site, value.cross, rows);
    }
    return 1;
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const ulna_constraint_kind kinds[ULNA_CONSTRAINT_TYPE_COUNT] = {
#define ROW(type, ...) [ULNA_KEEP_##type] = {__VA_ARGS__}
#define K(flag) ULNA_KEEPS_##flag
    /*   type         name          goal rows frozen flags                                                          evaluate          error */
    ROW(POINT,       "point",         3,  3, 0, K(BODY),                                                            point_rows,       NULL),
    ROW(ORIENTATION, "orientation",   9,  3, 3, K(BODY) | K(ROTATION),                                              ulna_orientation_rows, ulna_orientation_error),
    ROW(FRAME,       "frame",        12,  6, 3, K(BODY) | K(ROTATION_3),                                            ulna_frame_rows,       ulna_frame_error),
    ROW(DIRECTION,   "direction",     3,  2, 2, K(BODY) | K(AXIS) | K(GOAL_AXIS),                                   ulna_direction_rows,   ulna_direction_error),
    ROW(AIM,         "aim",           3,  2, 2, K(BODY) | K(AXIS),                                                  ulna_aim_rows,         ulna_aim_error),
    ROW(LINE,        "line",          6,  2, 0, K(BODY) | K(NORMAL),                                                line_rows,        NULL),
    ROW(PLANE,       "plane",         6,  1, 0, K(BODY) | K(NORMAL) | K(RELATION),                                  plane_rows,       NULL),
    ROW(SPHERE,      "sphere",        4,  1, 0, K(BODY) | K(DISTANCE) | K(RELATION),                                sphere_rows,      NULL),
    ROW(BOX,         "box",           6,  6, 0, K(BODY) | K(INSIDE) | K(OPEN_SIDES),                                box_rows,         NULL),
    ROW(DISTANCE,    "distance",      1,  1, 0, K(BODY) | K(OTHER) | K(DISTANCE) | K(RELATION),                     distance_rows,    NULL),
    ROW(TOGETHER,    "together",      0,  3, 0, K(BODY) | K(OTHER),                                                 together_rows,    NULL),
    ROW(RELATIVE,    "relative",     12,  6, 3, K(BODY) | K(OTHER) | K(ROTATION_3),                                 ulna_frame_rows,       ulna_frame_error),
    ROW(ANGLE,       "angle",         1,  1, 0, K(BODY) | K(OTHER) | K(AXIS) | K(OTHER_AXIS) | K(RELATION),         ulna_angle_rows,       ulna_angle_error),
    ROW(LINEAR,      "linear",        1,  1, 0, K(RELATION),                                                        linear_rows,      linear_error),
    ROW(CENTRE,      "centre",        6,  1, 0, K(MASS) | K(NORMAL) | K(RELATION),                                  centre_rows,      NULL),
    ROW(SUPPORT,     "support",       0, -1, 0, K(MASS) | K(AXIS) | K(INSIDE),                                      support_rows,     NULL),
    ROW(CUSTOM,      "custom",       -1,  1, 0, K(BODY) | K(OTHER) | K(RELATION),                                   custom_rows,      NULL),
#undef K
#undef ROW
};
/* clang-format on */

const ulna_constraint_kind *ulna_constraint_kind_of(ulna_constraint_type type)
{
    return (unsigned)type < ULNA_CONSTRAINT_TYPE_COUNT ? &kinds[type] : NULL;
}

const char *ulna_constraint_type_name(ulna_constraint_type type)
{
    const ulna_constraint_kind *kind = ulna_constraint_kind_of(type);
    return kind ? kind->name : NULL;
}

int ulna_kept_row_count(const ulna_kept *kept)
{
    int count = ulna_constraint_kind_of(kept->given.type)->row_count;
    return count < 0 ? kept->given.corner_count : count;
}
