/*
 * The kinds of terms, and those on bodies that are evaluated one by one.
 *
 * Source: docs/mathematics.md, "Terms on one body". A body moved by exp(w, v) takes a point p to
 *   p + (w x p + v) + 1/2 w x (w x p + v),
 * and a direction d to d + w x d + 1/2 w x (w x d). So for a fixed covector c,
 *   c.p has the row (p x c, c) and the symmetric second derivative
 *   B_ww = 1/2 (c pT + p cT) - (c.p) I,  B_wv = -1/2 [c]x,  B_vv = 0.
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

void ulna_term_point(const ulna_term *term, const ulna_body_place *place, double p[3])
{
    ulna_rotate(place->rotation, term->local, p);
    for (int i = 0; i < 3; i++)
        p[i] += place->position[i];
}

void ulna_term_to_goal(const ulna_term *term, const ulna_body_place *place, const double p[3], double r[3])
{
    for (int i = 0; i < 3; i++)
        r[i] = (term->goal[i] - place->origin[i]) - p[i]; /* in this order: the world's origin may be far away */
}

/* ---- point on a plane, point on a line ----------------------------------------------------------------- */

static void evaluate_plane(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value)
{
    const double *normal = term->goal + 3;
    double root = sqrt(weight), p[3], r[3];
    ulna_term_point(term, place, p);
    ulna_term_to_goal(term, place, p, r);
    double distance = ulna_dot(normal, r), pull[3];
    value->count = 1;
    value->residual[0] = root * distance;
    ulna_row_of(normal, p, root, 1, value->row[0]);
    for (int i = 0; i < 3; i++)
        pull[i] = weight * distance * normal[i];
    ulna_bend_of(pull, p, 1, value->bend);
}

static void evaluate_line(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value)
{
    const double *along = term->goal + 3;
    double root = sqrt(weight), p[3], r[3], pull[3];
    ulna_term_point(term, place, p);
    ulna_term_to_goal(term, place, p, r);
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

/* ---- aim: r = n - d with n = e / |e|, e = goal - p ------------------------------------------------------- */

static void evaluate_aim(const ulna_term *term, double weight, const ulna_body_place *place, ulna_term_value *value)
{
    double root = sqrt(weight), p[3], e[3], d[3], pull[3];
    ulna_term_point(term, place, p);
    ulna_term_to_goal(term, place, p, e);
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

/* ---- geodesic orientation: r = log(R_goal RT) ------------------------------------------------------------- */

static void evaluate_geodesic(const ulna_term *term, double weight, const ulna_body_place *place,
                              ulna_term_value *value)
{
    double root = sqrt(weight), back[9], between[9], r[3], left[9];
    ulna_transpose9(place->rotation, back);
    ulna_multiply9(term->goal, back, between);
    ulna_log(between, r);
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

/* ---- the table -------------------------------------------------------------------------------------------- */

static const ulna_term_kind kinds[ULNA_TERM_TYPE_COUNT] = {
    [ULNA_TERM_POINT] = {"point", 3, 0, 3, NULL},
    [ULNA_TERM_ORIENTATION] = {"orientation", 9, 1, 9, NULL},
    [ULNA_TERM_GEODESIC] = {"geodesic", 9, 1, 3, evaluate_geodesic},
    [ULNA_TERM_DIRECTION] = {"direction", 3, 1, 3, NULL},
    [ULNA_TERM_AIM] = {"aim", 3, 1, 3, evaluate_aim},
    [ULNA_TERM_PLANE] = {"plane", 6, 0, 1, evaluate_plane},
    [ULNA_TERM_LINE] = {"line", 6, 0, 3, evaluate_line},
    [ULNA_TERM_POSTURE] = {"posture", 0, 0, 0, NULL},
    [ULNA_TERM_LIMITS] = {"limits", 0, 0, 0, NULL},
    [ULNA_TERM_COUPLING] = {"coupling", 2, 0, 1, NULL},
    [ULNA_TERM_CUSTOM] = {"custom", 0, 0, 0, ulna_evaluate_custom},
};

const ulna_term_kind *ulna_term_kind_of(ulna_term_type type)
{
    return (unsigned)type < ULNA_TERM_TYPE_COUNT ? &kinds[type] : NULL;
}

const char *ulna_term_type_name(ulna_term_type type)
{
    const ulna_term_kind *kind = ulna_term_kind_of(type);
    return kind ? kind->name : NULL;
}
