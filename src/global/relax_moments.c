/*
 * Analysis of a tree when a relaxation is created: frames, units, the first point and the ranges of moments.
 *
 * The first point is the distribution in which every edge moves independently and uniformly within its limits. Its moments
 * satisfy all constraints, and strictly within the ranges. They are computed exactly, edge by edge, from M = E[h hT] with
 * h = (1, p, R).
 *
 * If few joints lie between a node and the world, Z and N do not have full rank, and an interior-point method must work in
 * their ranges (facial reduction). The ranges are those of a second distribution, in which every edge moves widely,
 * whatever its limits. It is stored as factors, F FT the covariance of (p, R) and G GT = E[q qT]: a direction in which
 * something moves by 1e-12 can then be distinguished from rounding. In a covariance it would be 1e-24.
 */
#include <float.h>

#include "global/relax_tree.h"
#include "math/math3.h"

enum { M = ULNA_RELAX_MOMENTS, W = ULNA_RELAX_MOMENTS - 1 };

/* Directions with a smaller part of the second moments are left out of ranges; if they are above `rounding` (of the factor),
 * `dropped` has their size. */
static const double rank_tolerance = 1e-11, rounding = 1e-13;

/* Directions in which positions move less than this times their largest motion are left out. */
static const double moment_tolerance = 1e-7;

/* The least half-width of a hinge whose parent's range is not full: its fourth power must be above rounding. */
static const double least_alpha = 0.01;

/* Translations that are nearer (sine) to the plane of those above them add no direction of their own. */
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

/* (x, y) <- (c x - s y, s x + c y) for `count` numbers, `stride` apart. */
static void rotate_pair(int count, int stride, double c, double s, double *x, double *y)
{
    for (int i = 0; i < count * stride; i += stride) {
        const double old = x[i];
        x[i] = c * old - s * y[i];
        y[i] = s * old + c * y[i];
    }
}

/* Sorts values in descending order, and the columns of V with them. */
static void sort_columns(int n, double *values, double *V)
{
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
                if (A[i * n + k] != 0) {
                    const double angle = 0.5 * atan2(2 * A[i * n + k], A[k * n + k] - A[i * n + i]);
                    const double c = cos(angle), s = sin(angle);
                    rotate_pair(n, n, c, s, A + i, A + k);
                    rotate_pair(n, 1, c, s, A + i * n, A + k * n);
                    rotate_pair(n, n, c, s, V + i, V + k);
                }
    }
    for (int i = 0; i < n; i++)
        values[i] = A[i * (n + 1)];
    sort_columns(n, values, V);
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

/* Singular values (descending) and left singular vectors (columns of U) of B, n x columns, which is overwritten. One-sided
 * Jacobi method on pairs of rows: small values have a small relative error. */
static void singular_values(int n, int columns, double *B, double *values, double *U)
{
    for (int i = 0; i < n * n; i++)
        U[i] = i % (n + 1) == 0;
    for (int sweep = 0, changed = 1; sweep < 30 && changed; sweep++) {
        changed = 0;
        for (int i = 0; i < n; i++)
            for (int k = i + 1; k < n; k++) {
                double *x = B + i * columns, *y = B + k * columns;
                const double xx = ulna_inner(columns, x, x), yy = ulna_inner(columns, y, y),
                             xy = ulna_inner(columns, x, y);
                if (!(fabs(xy) > 1e-16 * sqrt(xx) * sqrt(yy)))
                    continue;
                const double angle = 0.5 * atan2(2 * xy, yy - xx), c = cos(angle), s = sin(angle);
                rotate_pair(columns, 1, c, s, x, y);
                rotate_pair(n, n, c, s, U + i, U + k);
                changed = 1;
            }
    }
    for (int i = 0; i < n; i++)
        values[i] = sqrt(ulna_inner(columns, B + i * columns, B + i * columns));
    sort_columns(n, values, U);
}

/* The range of B: the left singular vectors whose values are above rank_tolerance, as columns of `basis` (n x rank);
 * returns their number. Raises `dropped` to the largest value left out that is above rounding, relative to the first. */
static int range_of(int n, int columns, double *B, double *basis, double *dropped)
{
    double values[8], vectors[64];
    int rank = 0;
    singular_values(n, columns, B, values, vectors);
    while (rank < n && values[rank] * values[rank] > rank_tolerance * fmax(values[0] * values[0], 0.01))
        rank++;
    if (rank < n && values[rank] > rounding * values[0])
        *dropped = fmax(*dropped, values[rank] / values[0]);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < rank; k++)
            basis[i * rank + k] = vectors[i * n + k];
    return rank;
}

/* L, rows x rows and lower triangular, with L LT = B BT. The rows of B become orthonormal, or 0 if they depend on the rows
 * above. */
static void compress(int rows, int columns, double *B, double *L)
{
    memset(L, 0, (size_t)rows * (size_t)rows * sizeof *L);
    for (int i = 0; i < rows; i++) {
        double *row = B + i * columns;
        const double before = sqrt(ulna_inner(columns, row, row));
        for (int k = 0; k < 2 * i; k++) { /* twice, for rounding */
            const double *other = B + k % i * columns, along = ulna_inner(columns, row, other);
            L[i * rows + k % i] += along;
            for (int c = 0; c < columns; c++)
                row[c] -= along * other[c];
        }
        const double rest = sqrt(ulna_inner(columns, row, row));
        const int counts = rest > 1e-14 * before;
        L[i * (rows + 1)] = counts ? rest : 0;
        for (int c = 0; c < columns; c++)
            row[c] = counts ? row[c] / rest : 0;
    }
}

/* ---- moments ------------------------------------------------------------------------------------------------- */

/* R <- R F: the new column k is the sum of F[j][k] times the old column j. */
static void mix_columns(const double F[9], int stride, double *R)
{
    double old[9];
    for (int k = 0; k < 9; k++)
        old[k] = R[k * stride];
    for (int k = 0; k < 9; k++)
        R[k * stride] = F[k / 3] * old[k % 3] + F[3 + k / 3] * old[3 + k % 3] + F[6 + k / 3] * old[6 + k % 3];
}

static void change_frame(const double F[9], double *m)
{
    for (int i = 0; i < M; i++)
        mix_columns(F, 1, m + i * M + 4);
    for (int i = 0; i < M; i++)
        mix_columns(F, M, m + i + 4 * M);
}

/* A rotation about x by an angle with E sin = 0, E cos = cosine, E cos^2 = square. */
static void rotate_moments(double cosine, double square, double *m)
{
    double old[M * M];
    memcpy(old, m, sizeof old);
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++) {
            const int rotated = (i >= 7) + (k >= 7);
            if (rotated == 1)
                m[i * M + k] = cosine * old[i * M + k];
            else if (rotated == 2) { /* sin moves y to z and z to -y */
                const int other_i = i < 10 ? i + 3 : i - 3, other_k = k < 10 ? k + 3 : k - 3;
                const double sign = (i < 10) == (k < 10) ? 1 - square : square - 1;
                m[i * M + k] = square * old[i * M + k] + sign * old[other_i * M + other_k];
            }
        }
}

/* Rows of R d in m, and E of their products with travel^2. */
static void along_moments(const double *m, const double d[3], double square, double r[3][M], double rr[9])
{
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < M; k++)
            r[i][k] = d[0] * m[(4 + i) * M + k] + d[1] * m[(7 + i) * M + k] + d[2] * m[(10 + i) * M + k];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            rr[3 * i + k] = square * (d[0] * r[i][4 + k] + d[1] * r[i][7 + k] + d[2] * r[i][10 + k]);
}

/* p moves by R d times a travel with the given mean and mean square. */
static void move_moments(const double d[3], double mean, double square, double *m)
{
    double r[3][M], rr[9];
    along_moments(m, d, square, r, rr);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < M; k++) {
            m[(1 + i) * M + k] += mean * r[i][k];
            m[k * M + 1 + i] += mean * r[i][k];
        }
    /* For p with p, the mixed terms have been added twice, as is right; the square remains. */
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            m[(1 + i) * M + 1 + k] += rr[3 * i + k];
}

/* R becomes uniform over all rotations. */
static void any_rotation(double *m)
{
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++)
            if (i >= 4 || k >= 4)
                m[i * M + k] = i == k ? 1.0 / 3 : 0;
}

/* ---- the wide distribution --------------------------------------------------------------------------------------- */

static void begin_wide(ulna_relax_motion *wide)
{
    *wide = (ulna_relax_motion){.mean = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1}};
    wide->G[4 * 3] = 1;
}

static void any_wide_rotation(ulna_relax_motion *wide)
{
    memset(wide->mean + 3, 0, 9 * sizeof *wide->mean);
    memset(wide->F + 3 * W, 0, 9 * W * sizeof *wide->F); /* places have columns 0 to 2 */
    for (int i = 3; i < W; i++)
        wide->F[i * (W + 1)] = sqrt(1.0 / 3);
    for (int i = 0; i < 16; i++)
        wide->G[i] = i % 5 == 0 ? 0.5 : 0;
}

static void change_wide_frame(const double F[9], ulna_relax_motion *wide)
{
    double f[4], *q = wide->G; /* of column k: q[k], q[4 + k], q[8 + k], q[12 + k] */
    mix_columns(F, 1, wide->mean + 3);
    for (int k = 0; k < W; k++)
        mix_columns(F, W, wide->F + 3 * W + k);
    ulna_rotation_to_quaternion(F, f);
    for (int k = 0; k < 4; k++) {
        const double x = q[k], y = q[4 + k], z = q[8 + k], w = q[12 + k];
        q[k] = w * f[0] + x * f[3] + y * f[2] - z * f[1];
        q[4 + k] = w * f[1] + y * f[3] + z * f[0] - x * f[2];
        q[8 + k] = w * f[2] + z * f[3] + x * f[1] - y * f[0];
        q[12 + k] = w * f[3] - x * f[0] - y * f[1] - z * f[2];
    }
}

/* A rotation about x with E sin = 0, E cos = 0.6, E cos^2 = 0.5. */
static void rotate_wide(ulna_relax_motion *wide)
{
    enum { COLUMNS = 3 * W + 2 };
    static const double cosine = 0.6, square = 0.5;
    const double along = sqrt(square - cosine * cosine), across = sqrt(1 - square);
    double B[W * COLUMNS] = {0}, quaternions[4 * 8];
    for (int i = 0; i < W; i++) {
        const int rotated = i >= 6, other = i < 9 ? i + 3 : i - 3; /* sin moves y to z and z to -y */
        for (int k = 0; k < W; k++)
            B[i * COLUMNS + k] = (rotated ? cosine : 1) * wide->F[i * W + k];
        for (int k = 0; k <= W && rotated; k++) {
            B[i * COLUMNS + W + k] = along * (k < W ? wide->F[i * W + k] : wide->mean[i]);
            B[i * COLUMNS + 2 * W + 1 + k] =
                (i < 9 ? across : -across) * (k < W ? wide->F[other * W + k] : wide->mean[other]);
        }
    }
    for (int i = 6; i < W; i++)
        wide->mean[i] *= cosine;
    compress(W, COLUMNS, B, wide->F);
    for (int i = 0; i < 16; i++) { /* q i for q = (x, y, z, w) is (w, z, -y, -x) */
        quaternions[i / 4 * 8 + i % 4] = sqrt(0.5 + 0.5 * cosine) * wide->G[i];
        quaternions[i / 4 * 8 + 4 + i % 4] =
            (i < 8 ? 1 : -1) * sqrt(0.5 - 0.5 * cosine) * wide->G[12 - i / 4 * 4 + i % 4];
    }
    compress(4, 8, quaternions, wide->G);
}

/* A factor of the covariance of (p, r), 6 x TRAVEL, and E r: r = R d times a travel of the given mean and variance. */
enum { TRAVEL = 2 * W + 1 };

static void travel_wide(const ulna_relax_motion *wide, const double d[3], double mean, double variance,
                        double B[6 * TRAVEL], double mean_r[3])
{
    memset(B, 0, 6 * TRAVEL * sizeof *B);
    for (int i = 0; i < 3; i++) {
        memcpy(B + i * TRAVEL, wide->F + i * W, W * sizeof *B);
        for (int k = 0; k <= W; k++) {
            const double *from = k < W ? wide->F + k : wide->mean;
            const int stride = k < W ? W : 1;
            const double r =
                d[0] * from[(3 + i) * stride] + d[1] * from[(6 + i) * stride] + d[2] * from[(9 + i) * stride];
            B[(3 + i) * TRAVEL + W + k] = sqrt(variance) * r;
            *(k < W ? &B[(3 + i) * TRAVEL + k] : &mean_r[i]) = mean * r;
        }
    }
}

static void move_wide(double length, const double B[6 * TRAVEL], const double mean_r[3], ulna_relax_motion *wide)
{
    double moved[W * TRAVEL] = {0};
    for (int i = 0; i < W; i++)
        memcpy(moved + i * TRAVEL, wide->F + i * W, W * sizeof *moved);
    for (int i = 0; i < 3 * TRAVEL; i++)
        moved[i] = B[i] + length * B[3 * TRAVEL + i];
    for (int i = 0; i < 3; i++)
        wide->mean[i] += length * mean_r[i];
    compress(W, TRAVEL, moved, wide->F);
}

/* The range of the parent's quaternion. Below a free root, all ranges are full. */
static void find_face(const ulna_relax_motion *wide, ulna_relax_edge *edge)
{
    double G[16];
    edge->rank = 4;
    for (int i = 0; i < 16; i++)
        edge->face[i] = i % 5 == 0;
    if (edge->root)
        return;
    memcpy(G, wide->G, sizeof G);
    edge->rank = range_of(4, 4, G, edge->face, &edge->dropped);
}

/* ---- edges --------------------------------------------------------------------------------------------------- */

static void analyse_hinge(const ulna_node *node, const double *parent_model, ulna_relax_edge *edge, double *start,
                          ulna_relax_motion *wide)
{
    double around[9], back[9];
    ulna_frame_around(node->axis, around);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            edge->base[3 * i + k] = around[3 * i + (k + 2) % 3];
    ulna_transpose9(parent_model, back);
    ulna_multiply9(back, edge->base, edge->frame);
    change_frame(edge->frame, start);
    if (!edge->root)
        change_wide_frame(edge->frame, wide);
    find_face(wide, edge);

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
    rotate_moments(1 - uncosine, 1 - sine_square, start);
    if (!edge->root)
        rotate_wide(wide);

    double to_middle[9];
    ulna_rotation_about(0, -edge->middle, to_middle);
    ulna_multiply9(edge->base, to_middle, edge->model);
}

/*
 * The range of (1, p, r), given a factor of the covariance of (p, r), and the means. p may move a million times farther in
 * some directions than in others, and may be far from the origin, so the rank is that of (x, r - E r) with
 * p = E p + V diag(sigma) x, where V sigma^2 VT is the covariance of p.
 */
static void find_moment_range(const double B[6 * TRAVEL], const double mean_p[3], const double mean_r[3],
                              ulna_relax_edge *edge)
{
    double places[3 * TRAVEL], sigma[3], V[9], scaled[6 * TRAVEL] = {0}, found[36];
    memcpy(places, B, sizeof places);
    singular_values(3, TRAVEL, places, sigma, V);
    const double least = fmax(moment_tolerance * sigma[0], 1e-13);
    int moving = 0;
    for (; moving < 3 && sigma[moving] > least; moving++)
        for (int i = 0; i < 3 * TRAVEL; i++)
            scaled[moving * TRAVEL + i % TRAVEL] += V[3 * (i / TRAVEL) + moving] / sigma[moving] * B[i];
    memcpy(scaled + 3 * TRAVEL, B + 3 * TRAVEL, 3 * TRAVEL * sizeof *scaled);
    /* directions left out, and the rounding of those that are kept */
    if (moving > 0 && moving < 3)
        edge->dropped =
            fmax(edge->dropped, 1e-15 * sigma[0] + (sigma[moving] > rounding * sigma[0] ? sigma[moving] : 0));
    const int moves = range_of(6, TRAVEL, scaled, found, &edge->dropped), rank = edge->moment_rank = 1 + moves;
    double columns[49] = {0}, L[49];
    for (int c = 0; c < rank; c++) {
        columns[7 * c] = c == 0;
        for (int i = 0; i < 3; i++) {
            double place = c == 0 ? mean_p[i] : 0;
            for (int k = 0; k < moving && c > 0; k++)
                place += V[3 * i + k] * sigma[k] * found[k * moves + c - 1];
            columns[7 * c + 1 + i] = place;
            columns[7 * c + 4 + i] = c == 0 ? mean_r[i] : found[(3 + i) * moves + c - 1];
        }
    }
    compress(rank, 7, columns, L);
    for (int i = 0; i < 7 * rank; i++)
        edge->moment_face[i] = columns[7 * (i % rank) + i / rank];
}

/* The ranges of bones and translations, and the wide motion of the node. home: position of node 0. */
static void find_ranges(const double home[3], ulna_relax_edge *edge, ulna_relax_motion *wide)
{
    double B[6 * TRAVEL], line[3 * (TRAVEL + 1)], mean_p[3], mean_r[3];
    const int bone = edge->edge == ULNA_EDGE_BONE;
    find_face(wide, edge);
    travel_wide(wide, edge->direction, bone ? 1 : edge->mean, bone ? 0 : 1, B, mean_r);
    for (int i = 0; i < 3; i++) {
        mean_p[i] = home[i] + wide->mean[i];
        memcpy(line + i * (TRAVEL + 1), B + (3 + i) * TRAVEL, TRAVEL * sizeof *line);
        line[i * (TRAVEL + 1) + TRAVEL] = mean_r[i];
    }
    edge->line_rank = range_of(3, TRAVEL + 1, line, edge->line, &edge->dropped);
    find_moment_range(B, mean_p, mean_r, edge);
    move_wide(edge->length, B, mean_r, wide);
}

/* Below a free root all of them are full. */
static void set_full_ranges(ulna_relax_edge *edge)
{
    find_face(NULL, edge);
    edge->line_rank = 3;
    edge->moment_rank = 7;
    for (int i = 0; i < 9; i++)
        edge->line[i] = i % 4 == 0;
    for (int i = 0; i < 49; i++)
        edge->moment_face[i] = i % 8 == 0;
}

/* Bones, and translations: their r is R direction times travel / length. */
static void analyse_move(const double direction[3], const double *parent_model, const double home[3],
                         ulna_relax_edge *edge, double *start, ulna_relax_motion *wide)
{
    double r[3][M], rr[9];
    const double l = edge->length;
    ulna_unrotate(parent_model, direction, edge->direction);
    if (edge->root)
        set_full_ranges(edge);
    else
        find_ranges(home, edge, wide);
    along_moments(start, edge->direction, edge->square, r, rr);
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            edge->D[3 * i + k] = edge->mean * r[k][1 + i];
            if (k >= i)
                edge->Q[i == 0 ? k : i + k + 1] = rr[3 * i + k];
        }
    move_moments(edge->direction, l * edge->mean, l * l * edge->square, start);
    memcpy(edge->model, parent_model, sizeof edge->model);
}

/* Subtracts from x its component along a unit vector, and returns the component. */
static double take_along(const double unit[3], double x[3])
{
    const double part = ulna_dot(x, unit);
    for (int i = 0; i < 3; i++)
        x[i] -= part * unit[i];
    return part;
}

/*
 * With v = p_parent - p_0 in the span of the axes above, r = p - p_parent along this one, and c the cosine of the angle
 * between them, |v + r|^2 >= (1 - c)(|v|^2 + |r|^2); this holds in the mean square, too, since the ranges of N contain v
 * and r. Infinite if the translation adds no direction, or there is a rotation above it.
 */
static double skew_of(const ulna_reduced *tree, int n)
{
    double basis[2][3], along = 0, rest[3];
    int count = 0;
    for (int m = tree->nodes[n].parent; m > 0; m = tree->nodes[m].parent) {
        if (tree->nodes[m].edge != ULNA_EDGE_TRANSLATION || count == 2)
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

static void analyse_translation(const ulna_node *node, double unit, const double *parent_model, const double home[3],
                                ulna_relax_edge *edge, double *start, ulna_relax_motion *wide)
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

static void begin_root(const ulna_reduced *tree, const ulna_relaxation *r, double *m)
{
    double h[M] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1};
    for (int i = 0; i < 3; i++)
        h[1 + i] = (-tree->centre[i] / tree->length - r->origin[i]) / r->unit;
    for (int i = 0; i < M; i++)
        for (int k = 0; k < M; k++)
            m[i * M + k] = h[i] * h[k];
}

static void begin_free(ulna_relax_edge *edge, double *m)
{
    memset(m, 0, M * M * sizeof *m);
    m[0] = 1;
    any_rotation(m);
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

/* Origin: mean of the goals. Unit of length: the largest of bones, limits and distances of goals from the origin. */
static void choose_units(const ulna_reduced *tree, ulna_relaxation *r)
{
    double sum[3] = {0}, count = 0, longest = 0;
    for (int i = 0; i < tree->count; i++) {
        const ulna_node *node = &tree->nodes[i];
        if (node->edge == ULNA_EDGE_BONE)
            longest = fmax(longest, ulna_norm(node->v));
        const double far = fmax(fabs(node->lower), fabs(node->upper));
        if (node->edge == ULNA_EDGE_TRANSLATION && far < INFINITY)
            longest = fmax(longest, far);
        if (!(node->weight > 0))
            continue;
        ulna_accumulate3(node->goal, sum);
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

void ulna_relax_analyse(const ulna_reduced *tree, ulna_relaxation *r, ulna_relax_motion *scratch)
{
    choose_units(tree, r);
    begin_wide(scratch);
    begin_root(tree, r, scratch->moments);
    state_of_moments(scratch->moments, r->start);
    ulna_identity9(r->edges[0].model);
    r->edges[0] = (ulna_relax_edge){.edge = ULNA_EDGE_WORLD, .parent = ULNA_NONE, .model = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int n = 1; n < tree->count; n++) {
        const ulna_node *node = &tree->nodes[n];
        ulna_relax_edge *edge = &r->edges[n];
        ulna_relax_motion *wide = &scratch[n];
        double *start = wide->moments;
        *wide = scratch[node->parent];
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
        case ULNA_EDGE_TRANSLATION:
            analyse_translation(node, r->unit, model, home, edge, start, wide);
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
            any_wide_rotation(wide);
            ulna_identity9(edge->model);
            break;
        case ULNA_EDGE_FREE:
            begin_free(edge, start);
            edge->root = n;
            break;
        case ULNA_EDGE_WORLD:
            break; /* refused before */
        }
        state_of_moments(start, r->start + (size_t)n * ULNA_RELAX_STATE);
    }
}
