/*
 * What the relaxation has to know about a tree before it can be solved: frames, units, a first point and its ranges.
 *
 * The first point is the distribution in which every edge moves independently and uniformly within its limits: its
 * moments satisfy all constraints, strictly so within the range that the tree can reach at all. They follow exactly,
 * edge by edge, from M = E[h hT] with h = (1, p, R). A second M, with every edge moving widely, whatever its limits,
 * tells the ranges: where parts are joined to the world by few joints, Z and N have no full rank, and an
 * interior-point method must work in the range (facial reduction).
 */
#include <float.h>

#include "global/relax_tree.h"
#include "math/math3.h"

enum { M = ULNA_RELAX_MOMENTS };

/* Directions that carry less than this of the second moments are not there. */
static const double rank_tolerance = 1e-11, rounding = 1e-14;

/* Directions in which places move less than the root of this, beside how far they are from node 0, are not there. */
static const double moment_tolerance = 1e-14;

/* Hinges below joints that leave no full range are given at least this, since fourth powers of it must be numbers. */
static const double least_alpha = 0.01;

/* Slides nearer than this (sine) to the plane of those above them add no direction of their own. */
static const double least_skew = 1e-3;

void ulna_relax_matrix(const double t[10], double Z[16])
{
    const double *R = t + 1; /* R[3 * column + row] */
    Z[0] = (t[0] + R[0] - R[4] - R[8]) / 4;
    Z[5] = (t[0] - R[0] + R[4] - R[8]) / 4;
    Z[10] = (t[0] - R[0] - R[4] + R[8]) / 4;
    Z[15] = (t[0] + R[0] + R[4] + R[8]) / 4;
    Z[1] = Z[4] = (R[3] + R[1]) / 4;
    Z[2] = Z[8] = (R[6] + R[2]) / 4;
    Z[6] = Z[9] = (R[7] + R[5]) / 4;
    Z[3] = Z[12] = (R[5] - R[7]) / 4;
    Z[7] = Z[13] = (R[6] - R[2]) / 4;
    Z[11] = Z[14] = (R[1] - R[3]) / 4;
}

void ulna_relax_vector(const double Z[16], double t[10])
{
    double *R = t + 1;
    t[0] = Z[0] + Z[5] + Z[10] + Z[15];
    R[0] = Z[0] - Z[5] - Z[10] + Z[15];
    R[4] = -Z[0] + Z[5] - Z[10] + Z[15];
    R[8] = -Z[0] - Z[5] + Z[10] + Z[15];
    R[3] = 2 * (Z[1] - Z[11]);
    R[1] = 2 * (Z[1] + Z[11]);
    R[6] = 2 * (Z[2] + Z[7]);
    R[2] = 2 * (Z[2] - Z[7]);
    R[7] = 2 * (Z[6] - Z[3]);
    R[5] = 2 * (Z[6] + Z[3]);
}

/* ---- small matrices ------------------------------------------------------------------------------------------ */

static void turn_pair(int n, double *A, double *V, int i, int k)
{
    const double angle = 0.5 * atan2(2 * A[i * n + k], A[k * n + k] - A[i * n + i]), c = cos(angle), s = sin(angle);
    for (int l = 0; l < n; l++) {
        const double x = A[l * n + i], y = A[l * n + k];
        A[l * n + i] = c * x - s * y;
        A[l * n + k] = s * x + c * y;
    }
    for (int l = 0; l < n; l++) {
        const double x = A[i * n + l], y = A[k * n + l];
        A[i * n + l] = c * x - s * y;
        A[k * n + l] = s * x + c * y;
    }
    for (int l = 0; l < n; l++) {
        const double x = V[l * n + i], y = V[l * n + k];
        V[l * n + i] = c * x - s * y;
        V[l * n + k] = s * x + c * y;
    }
}

/* Jacobi's method. */
void ulna_relax_eigen(int n, const double *matrix, double *values, double *V)
{
    double A[64];
    memcpy(A, matrix, (size_t)n * (size_t)n * sizeof *A);
    for (int i = 0; i < n * n; i++)
        V[i] = i % (n + 1) == 0;
    for (int sweep = 0; sweep < 30; sweep++) {
        double off = 0, all = 0;
        for (int i = 0; i < n; i++)
            for (int k = 0; k < n; k++)
                *(i == k ? &all : &off) += A[i * n + k] * A[i * n + k];
        if (!(off > 1e-34 * all))
            break;
        for (int i = 0; i < n; i++)
            for (int k = i + 1; k < n; k++)
                if (A[i * n + k] != 0)
                    turn_pair(n, A, V, i, k);
    }
    for (int i = 0; i < n; i++)
        values[i] = A[i * (n + 1)];
    for (int i = 0; i < n; i++) {
        int largest = i;
        for (int k = i + 1; k < n; k++)
            if (values[k] > values[largest])
                largest = k;
        const double value = values[i];
        values[i] = values[largest];
        values[largest] = value;
        for (int l = 0; l < n && largest != i; l++) {
            const double v = V[l * n + i];
            V[l * n + i] = V[l * n + largest];
            V[l * n + largest] = v;
        }
    }
}

int ulna_relax_cholesky(int n, const double *A, double *L)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = A[i * n + k];
            for (int l = 0; l < k; l++)
                sum -= L[i * n + l] * L[k * n + l];
            if (i == k && !(sum > 0 && sum < DBL_MAX))
                return 0;
            L[i * n + k] = i == k ? sqrt(sum) : sum / L[k * (n + 1)];
        }
    return 1;
}

/* The eigenvectors of A that count, side by side in `basis` (n x rank); returns their number. `dropped` grows to how far
 * from the range something can be that is not rounding. */
static int range_of(int n, const double *A, double *basis, double *dropped)
{
    double values[8], vectors[64];
    int rank = 0;
    ulna_relax_eigen(n, A, values, vectors);
    while (rank < n && values[rank] > rank_tolerance * fmax(values[0], 0.01))
        rank++;
    if (rank < n && values[rank] > rounding * values[0])
        *dropped = fmax(*dropped, sqrt(values[rank] / values[0]));
    for (int i = 0; i < n; i++)
        for (int k = 0; k < rank; k++)
            basis[i * rank + k] = vectors[i * n + k];
    return rank;
}

/* ---- moments ------------------------------------------------------------------------------------------------- */

/* Columns of R mix: the new column k is the sum of F[j][k] times the old column j. */
static void change_frame(const double F[9], double *m)
{
    for (int side = 0; side < 2; side++)
        for (int i = 0; i < M; i++) {
            double old[9], *line = side ? m + i : m + i * M;
            const int stride = side ? M : 1;
            for (int k = 0; k < 9; k++)
                old[k] = line[(4 + k) * stride];
            for (int k = 0; k < 9; k++)
                line[(4 + k) * stride] =
                    F[k / 3] * old[k % 3] + F[3 + k / 3] * old[3 + k % 3] + F[6 + k / 3] * old[6 + k % 3];
        }
}

/*
 * Two kinds of moments: M = E[h hT], and for ranges `spread`: the means in row and column 0, as in M, and covariances
 * elsewhere, so that what does not move is 0 and not a difference of large numbers.
 */

/* A turn about x by an angle with E sin = 0, E cos = cosine, E cos^2 = square. */
static void turn_moments(double cosine, double square, int spread, double *m)
{
    double old[M * M];
    memcpy(old, m, sizeof old);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++) {
            const int turns = (i >= 7) + (k >= 7);
            if (turns == 1)
                m[i * M + k] = cosine * old[i * M + k];
            else if (turns == 2) { /* sin takes y to z and z to -y */
                const int other_i = i < 10 ? i + 3 : i - 3, other_k = k < 10 ? k + 3 : k - 3;
                const double sign = (i < 10) == (k < 10) ? 1 - square : square - 1;
                m[i * M + k] = square * old[i * M + k] + sign * old[other_i * M + other_k];
                if (spread)
                    m[i * M + k] += (square - cosine * cosine) * old[i] * old[k] + sign * old[other_i] * old[other_k];
            }
        }
}

/* Rows of R d in m, and E of their products with travel^2 (or its covariance). */
static void along_moments(const double *m, const double d[3], double mean, double square, int spread, double r[3][M],
                          double rr[9])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < M; k++)
            r[i][k] = d[0] * m[(4 + i) * M + k] + d[1] * m[(7 + i) * M + k] + d[2] * m[(10 + i) * M + k];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            rr[3 * i + k] = square * (d[0] * r[i][4 + k] + d[1] * r[i][7 + k] + d[2] * r[i][10 + k]);
            if (spread)
                rr[3 * i + k] += (square - mean * mean) * r[i][0] * r[k][0];
        }
}

/* p moves by R d times a travel with the given mean and mean square. */
static void move_moments(const double d[3], double mean, double square, int spread, double *m)
{
    double r[3][M], rr[9];
    along_moments(m, d, mean, square, spread, r, rr);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < M; k++) {
            m[(1 + i) * M + k] += mean * r[i][k];
            m[k * M + 1 + i] += mean * r[i][k];
        }
    /* Where both are p, the mixed terms are there twice, as they should; only the square is left. */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[(1 + i) * M + 1 + k] += rr[3 * i + k];
}

/* R becomes any rotation, whatever it was. */
static void any_rotation(double *m)
{
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++)
            if (i >= 4 || k >= 4)
                m[i * M + k] = i == k ? 1.0 / 3 : 0;
}

/* Of (1, p, r), r = R d times a travel. */
static void bone_moments(const double *m, const double d[3], double mean, double square, int spread, double N[49])
{
    double r[3][M], rr[9];
    along_moments(m, d, mean, square, spread, r, rr);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++)
            N[7 * i + k] = m[i * M + k];
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 4; k++)
            N[7 * (4 + i) + k] = N[7 * k + 4 + i] = mean * r[i][k];
        for (int k = 0; k < 3; k++)
            N[7 * (4 + i) + 4 + k] = rr[3 * i + k];
    }
}

static void mean_rotation(const double *m, double t[10])
{
    t[0] = 1;
    memcpy(t + 1, m + 4, 9 * sizeof *t);
}

/* ---- edges --------------------------------------------------------------------------------------------------- */

static void analyse_hinge(const ulna_node *node, const double *parent_model, ulna_relax_edge *edge, double *start,
                          double *wide)
{
    double around[9], t[10], Z[16], back[9];
    ulna_frame_around(node->axis, around);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            edge->base[3 * i + k] = around[3 * i + (k + 2) % 3];
    ulna_transpose9(parent_model, back);
    ulna_multiply9(back, edge->base, edge->frame);
    change_frame(edge->frame, start);
    change_frame(edge->frame, wide);
    mean_rotation(wide, t);
    ulna_relax_matrix(t, Z);
    edge->rank = range_of(4, Z, edge->face, &edge->dropped);

    const double width = node->upper - node->lower;
    edge->limited = width < 2 * ULNA_PI * (1 - 1e-9);
    edge->half = edge->limited ? width / 2 + 4 * DBL_EPSILON * (fabs(node->lower) + fabs(node->upper)) : INFINITY;
    edge->middle = width < INFINITY          ? node->lower + width / 2
                   : node->lower > -INFINITY ? node->lower + ULNA_PI
                   : node->upper < INFINITY  ? node->upper - ULNA_PI
                                             : 0;
    edge->alpha = edge->limited ? fmax(edge->half, edge->rank < 4 ? least_alpha : 1e-12) : ULNA_PI;
    const double a = edge->alpha, sine = sin(a / 2);
    edge->lambda = edge->limited ? fmin(tan(a / 2), 1) : 1;
    edge->nu = edge->lambda / sine * (edge->lambda / sine);
    /* 1 - sin a / a and 1/2 - sin 2a / 4a, without cancellation where a is small */
    const double uncosine = a < 0.01 ? a * a / 6 * (1 - a * a / 20) : 1 - sin(a) / a;
    const double sine_square = a < 0.01 ? a * a / 3 * (1 - a * a / 5) : 0.5 - sin(2 * a) / (4 * a);
    edge->gamma = uncosine / (2 * edge->lambda * edge->lambda);
    turn_moments(1 - uncosine, 1 - sine_square, 0, start);
    turn_moments(0.6, 0.5, 1, wide);

    double turn[9];
    ulna_rotation_about(0, -edge->middle, turn);
    ulna_multiply9(edge->base, turn, edge->model);
}

/* Gram-Schmidt, twice, on the columns of a 7 x rank matrix. */
static void orthonormalise(int rank, double *basis)
{
    for (int k = 0; k < rank; k++)
        for (int pass = 0; pass < 2; pass++) {
            double square = 0;
            for (int l = 0; l < k; l++) {
                double dot = 0;
                for (int i = 0; i < 7; i++)
                    dot += basis[i * rank + l] * basis[i * rank + k];
                for (int i = 0; i < 7; i++)
                    basis[i * rank + k] -= dot * basis[i * rank + l];
            }
            for (int i = 0; i < 7; i++)
                square += basis[i * rank + k] * basis[i * rank + k];
            for (int i = 0; i < 7; i++)
                basis[i * rank + k] /= sqrt(square);
        }
}

/*
 * The range of (1, p, r), p counted from home, given means and covariances. Some directions of p move a million times as
 * far as others, and all of them may be far from the origin: so the rank is found for (x, r - E r) with
 * p = home + E p + V diag(sigma) x, and V sigma^2 VT the covariance of p.
 */
static void find_moment_range(const double N[49], const double home[3], ulna_relax_edge *edge)
{
    double covariance[9], values[3], V[9], to_x[9] = {0}, scaled[36], found[36];
    for (int i = 0; i < 9; i++)
        covariance[i] = N[7 * (1 + i / 3) + 1 + i % 3];
    ulna_relax_eigen(3, covariance, values, V);
    const double least = fmax(moment_tolerance * values[0], 1e-26);
    int moving = 0;
    for (int k = 0; k < 3; k++) {
        moving += values[k] > least;
        for (int i = 0; i < 3 && values[k] > least; i++)
            to_x[3 * k + i] = V[3 * i + k] / sqrt(values[k]);
    }
    /* what is next to nothing, and what rounding makes of the directions that are kept */
    if (moving > 0 && moving < 3)
        edge->dropped = fmax(edge->dropped, 1e-15 * values[0] / sqrt(values[moving - 1]) +
                                                (values[moving] > 2e-15 * values[0] ? sqrt(values[moving]) : 0));
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            double cross = 0;
            for (int l = 0; l < 3; l++)
                cross += to_x[3 * i + l] * N[7 * (1 + l) + 4 + k];
            scaled[6 * i + k] = i == k && values[i] > least;
            scaled[6 * i + 3 + k] = scaled[6 * (3 + k) + i] = cross;
            scaled[6 * (3 + i) + 3 + k] = N[7 * (4 + i) + 4 + k];
        }
    const int moves = range_of(6, scaled, found, &edge->dropped), rank = edge->moment_rank = 1 + moves;
    double *face = edge->moment_face;
    for (int c = 0; c < rank; c++) {
        face[c] = c == 0;
        for (int i = 0; i < 3; i++) {
            double place = c == 0 ? home[i] + N[1 + i] : 0;
            for (int k = 0; k < 3 && c > 0; k++)
                place += values[k] > least ? V[3 * i + k] * sqrt(values[k]) * found[k * moves + c - 1] : 0;
            face[(1 + i) * rank + c] = place;
            face[(4 + i) * rank + c] = c == 0 ? N[4 + i] : found[(3 + i) * moves + c - 1];
        }
    }
    orthonormalise(rank, face);
}

/* Bones, and slides, whose r is their travel over the longest of them. home: node 0. */
static void analyse_move(const double direction[3], const double *parent_model, const double home[3],
                         ulna_relax_edge *edge, double *start, double *wide)
{
    static const double nowhere[3] = {0};
    double N[49], t[10], Z[16], line[9];
    const int bone = edge->edge == ULNA_EDGE_BONE;
    const double wide_mean = bone ? 1 : edge->mean, wide_square = bone ? 1 : edge->mean * edge->mean + 1;
    ulna_unrotate(parent_model, direction, edge->direction);
    mean_rotation(wide, t);
    ulna_relax_matrix(t, Z);
    edge->rank = range_of(4, Z, edge->face, &edge->dropped);
    bone_moments(wide, edge->direction, wide_mean, wide_square, 1, N);
    find_moment_range(N, edge->root ? nowhere : home, edge); /* below a free root, p counts from the origin */
    for (int i = 0; i < 9; i++)
        line[i] = N[7 * (4 + i / 3) + 4 + i % 3] + N[4 + i / 3] * N[4 + i % 3];
    edge->line_rank = range_of(3, line, edge->line, &edge->dropped);
    bone_moments(start, edge->direction, edge->mean, edge->square, 0, N);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            edge->D[3 * i + k] = N[7 * (1 + i) + 4 + k];
            if (k >= i)
                edge->Q[i == 0 ? k : i + k + 1] = N[7 * (4 + i) + 4 + k];
        }
    const double l = edge->length;
    move_moments(edge->direction, l * edge->mean, l * l * edge->square, 0, start);
    move_moments(edge->direction, l * wide_mean, l * l * wide_square, 1, wide);
    memcpy(edge->model, parent_model, sizeof edge->model);
}

/* Takes the part along a unit vector out of x, and returns it. */
static double take_along(const double unit[3], double x[3])
{
    const double part = ulna_dot(x, unit);
    for (int i = 0; i < 3; i++)
        x[i] -= part * unit[i];
    return part;
}

/*
 * With v = p_parent - p_0 in the span of the axes above, r = p - p_parent along this one, and c the cosine of the angle
 * between them, |v + r|^2 >= (1 - c)(|v|^2 + |r|^2); in the mean square, too, since the ranges of N hold v and r there.
 * Infinite where the slide adds no direction, or something turns above it.
 */
static double skew_of(const ulna_reduced *tree, int n)
{
    double basis[2][3], along = 0, rest[3];
    int count = 0;
    for (int m = tree->nodes[n].parent; m > 0; m = tree->nodes[m].parent) {
        if (tree->nodes[m].edge != ULNA_EDGE_SLIDE || count == 2)
            return INFINITY;
        ulna_copy3(tree->nodes[m].axis, rest);
        for (int b = 0; b < count; b++)
            take_along(basis[b], rest);
        const double length = ulna_norm(rest);
        if (length < least_skew)
            return INFINITY;
        for (int i = 0; i < 3; i++)
            basis[count][i] = rest[i] / length;
        count++;
    }
    ulna_copy3(tree->nodes[n].axis, rest);
    for (int b = 0; b < count; b++)
        along = hypot(along, take_along(basis[b], rest));
    const double across = ulna_norm(rest);
    return across < least_skew ? INFINITY : sqrt(1 + along) / across; /* 1 - c = across^2 / (1 + c) */
}

static void analyse_slide(const ulna_node *node, double unit, const double *parent_model, const double home[3],
                          ulna_relax_edge *edge, double *start, double *wide)
{
    const double lower = node->lower / unit, upper = node->upper / unit;
    edge->limited = lower > -INFINITY && upper < INFINITY;
    edge->middle = edge->limited ? (lower + upper) / 2 : lower > -INFINITY ? lower : upper < INFINITY ? upper : 0;
    edge->half = edge->limited
                     ? fmax((upper - lower) / 2 * (1 + 1e-15) + 4 * DBL_EPSILON * (fabs(lower) + fabs(upper)), 1e-9)
                     : INFINITY;
    edge->length = edge->limited ? fabs(edge->middle) + edge->half : 1;
    if (!(edge->length > 1e-9))
        edge->length = 1e-9;
    const double spread = edge->limited ? edge->half * edge->half / 3 : 1, l = edge->length;
    edge->mean = edge->middle / l;
    edge->square = edge->mean * edge->mean + spread / (l * l);
    analyse_move(node->axis, parent_model, home, edge, start, wide);
}

static void begin_root(const ulna_reduced *tree, const ulna_relaxation *r, double *m, double *wide)
{
    double h[M] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++)
            wide[i * M + k] = i == 0 || k == 0 ? h[i] * h[k] : 0;
    for (int i = 0; i < 3; i++)
        h[1 + i] = (-tree->centre[i] / tree->length - r->origin[i]) / r->unit;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++)
            m[i * M + k] = h[i] * h[k];
}

static void begin_free(ulna_relax_edge *edge, double *m, double *wide)
{
    memset(m, 0, M * M * sizeof *m);
    m[0] = 1;
    any_rotation(m);
    memcpy(wide, m, M * M * sizeof *m);
    for (int i = 1; i < 4; i++)
        wide[i * (M + 1)] = 1;
    ulna_identity9(edge->model);
}

static void state_of_moments(const double *m, double state[ULNA_RELAX_STATE])
{
    memcpy(state, m + 4, 9 * sizeof *state);
    memcpy(state + 9, m + 1, 3 * sizeof *state);
    double *P = state + ULNA_RELAX_SQUARE;
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++)
            *P++ = m[(1 + i) * M + 1 + k];
}

/* The origin amid the goals, and a length that is neither small nor large beside theirs and the bones'. */
static void choose_units(const ulna_reduced *tree, ulna_relaxation *r)
{
    double sum[3] = {0}, count = 0, longest = 0;
    for (int i = 0; i < tree->count; i++) {
        const ulna_node *node = &tree->nodes[i];
        if (node->edge == ULNA_EDGE_BONE)
            longest = fmax(longest, ulna_norm(node->v));
        const double far = fmax(fabs(node->lower), fabs(node->upper));
        if (node->edge == ULNA_EDGE_SLIDE && far < INFINITY)
            longest = fmax(longest, far);
        if (!(node->weight > 0))
            continue;
        for (int k = 0; k < 3; k++)
            sum[k] += node->goal[k];
        count++;
    }
    for (int k = 0; k < 3; k++)
        r->origin[k] = count > 0 ? sum[k] / count : 0;
    for (int i = 0; i < tree->count; i++) {
        const ulna_node *node = &tree->nodes[i];
        const double away[3] = {node->goal[0] - r->origin[0], node->goal[1] - r->origin[1],
                                node->goal[2] - r->origin[2]};
        if (node->weight > 0)
            longest = fmax(longest, ulna_norm(away));
    }
    r->unit = longest > 0 ? longest : 1;
}

void ulna_relax_analyse(const ulna_reduced *tree, ulna_relaxation *r, double *scratch)
{
    choose_units(tree, r);
    begin_root(tree, r, scratch, scratch + M * M);
    state_of_moments(scratch, r->start);
    ulna_identity9(r->edges[0].model);
    r->edges[0] = (ulna_relax_edge){.edge = ULNA_EDGE_WORLD, .parent = ULNA_NONE, .model = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int n = 1; n < tree->count; n++) {
        const ulna_node *node = &tree->nodes[n];
        ulna_relax_edge *edge = &r->edges[n];
        double *start = scratch + (size_t)n * 2 * M * M, *wide = start + M * M;
        memcpy(start, scratch + (size_t)node->parent * 2 * M * M, 2 * M * M * sizeof *start);
        *edge = (ulna_relax_edge){.edge = node->edge,
                                  .parent = node->parent,
                                  .root = r->edges[node->parent].root,
                                  .lower = node->lower,
                                  .upper = node->upper};
        const double *model = r->edges[node->parent].model, *home = r->start + ULNA_RELAX_PLACE;
        switch (node->edge) {
        case ULNA_EDGE_HINGE:
            analyse_hinge(node, model, edge, start, wide);
            break;
        case ULNA_EDGE_SLIDE:
            analyse_slide(node, r->unit, model, home, edge, start, wide);
            edge->skew = edge->limited ? INFINITY : skew_of(tree, n);
            break;
        case ULNA_EDGE_BONE: {
            const double length = ulna_norm(node->v), l = length > 0 ? length : 1;
            const double unit[3] = {node->v[0] / l, node->v[1] / l, node->v[2] / l};
            edge->length = length / r->unit;
            edge->mean = edge->square = 1;
            analyse_move(unit, model, home, edge, start, wide);
            break;
        }
        case ULNA_EDGE_BALL:
            any_rotation(start);
            any_rotation(wide);
            ulna_identity9(edge->model);
            break;
        case ULNA_EDGE_FREE:
            begin_free(edge, start, wide);
            edge->root = n;
            break;
        case ULNA_EDGE_WORLD:
            break; /* refused before */
        }
        state_of_moments(start, r->start + (size_t)n * ULNA_RELAX_STATE);
    }
}
