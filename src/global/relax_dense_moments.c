/* The moments of a bone within their range: which of their entries follow from the parent's state, and which are free.
 * */
#include "global/relax_dense.h"

#include <math.h>
#include <string.h>

enum { GIVEN = ULNA_MOMENT_GIVEN, PAIRS = ULNA_MOMENT_PAIRS };

static void condition(int which, double K[49])
{
    static const int place[6][2] = {{1, 1}, {1, 2}, {1, 3}, {2, 2}, {2, 3}, {3, 3}};
    memset(K, 0, 49 * sizeof *K);
    if (which < 7)
        K[which] = K[7 * which] = which == 0 ? 1 : 0.5;
    else if (which < 13) {
        const int i = place[which - 7][0], k = place[which - 7][1];
        K[7 * i + k] = K[7 * k + i] = i == k ? 1 : 0.5;
    } else
        K[7 * 4 + 4] = K[7 * 5 + 5] = K[7 * 6 + 6] = 1;
}

/* faceT K face as a vector */
static void to_pairs(const double *face, int m, const double K[49], double *pairs)
{
    double Kf[49];
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < m; k++) {
            Kf[i * m + k] = 0;
            for (int l = 0; l < 7; l++)
                Kf[i * m + k] += K[7 * i + l] * face[l * m + k];
        }
    for (int i = 0; i < m; i++)
        for (int k = i; k < m; k++) {
            double sum = 0;
            for (int l = 0; l < 7; l++)
                sum += face[l * m + i] * Kf[l * m + k];
            *pairs++ = i == k ? sum : sum * sqrt(2);
        }
}

void ulna_moments_from_pairs(const double *face, int m, const double *pairs, double N[49])
{
    memset(N, 0, 49 * sizeof *N);
    for (int i = 0; i < m; i++)
        for (int k = i; k < m; k++) {
            const double x = *pairs++ * (i == k ? 0.5 : sqrt(0.5));
            for (int a = 0; a < 7; a++)
                for (int b = 0; b < 7; b++)
                    N[7 * a + b] += x * (face[a * m + i] * face[b * m + k] + face[a * m + k] * face[b * m + i]);
        }
}

static double take_out(const ulna_moment_map *map, int rows, double *v, double *coefficients)
{
    double norm = 0;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < rows; i++) {
            double dot = 0;
            for (int k = 0; k < map->length; k++)
                dot += map->basis[i][k] * v[k];
            for (int k = 0; k < map->length; k++)
                v[k] -= dot * map->basis[i][k];
            if (coefficients)
                coefficients[i] += dot;
        }
    for (int k = 0; k < map->length; k++)
        norm += v[k] * v[k];
    return sqrt(norm);
}

static void append_row(ulna_moment_map *map, int row, const double *v, double norm)
{
    for (int k = 0; k < map->length; k++)
        map->basis[row][k] = v[k] / norm;
}

/* Gram-Schmidt, twice over, on the conditions and then on unit vectors. The order tells which conditions count: those
 * that follow from earlier ones are left out. */
void ulna_map_moments(const ulna_relax_edge *edge, ulna_moment_map *map)
{
    const int m = edge->moment_rank;
    *map = (ulna_moment_map){.size = m, .length = m * (m + 1) / 2};
    for (int which = 0; which < GIVEN && map->rank < map->length; which++) {
        double K[49], v[PAIRS], coefficients[GIVEN] = {0}, before = 0;
        condition(which, K);
        to_pairs(edge->moment_face, m, K, v);
        for (int k = 0; k < map->length; k++)
            before += v[k] * v[k];
        const double norm = take_out(map, map->rank, v, coefficients);
        if (!(norm > 1e-6 * sqrt(before) && norm > 1e-9))
            continue;
        coefficients[map->rank] = norm;
        memcpy(map->lower[map->rank], coefficients, sizeof coefficients);
        map->picked[map->rank] = which;
        append_row(map, map->rank++, v, norm);
    }
    for (int row = map->rank; row < map->length; row++) {
        double best[PAIRS], largest = 0;
        for (int unit = 0; unit < map->length; unit++) {
            double v[PAIRS] = {0};
            v[unit] = 1;
            const double norm = take_out(map, row, v, NULL);
            if (norm > largest * 1.000001) {
                largest = norm;
                memcpy(best, v, sizeof best);
            }
        }
        append_row(map, row, best, largest);
    }
    map->rest_count = map->length - map->rank;
}

void ulna_moments_for(const ulna_relax_edge *edge, const ulna_moment_map *map, const double given[GIVEN], double N[49])
{
    double y[GIVEN], pairs[PAIRS] = {0};
    for (int i = 0; i < map->rank; i++) {
        y[i] = given[map->picked[i]];
        for (int k = 0; k < i; k++)
            y[i] -= map->lower[i][k] * y[k];
        y[i] /= map->lower[i][i];
        for (int k = 0; k < map->length; k++)
            pairs[k] += y[i] * map->basis[i][k];
    }
    ulna_moments_from_pairs(edge->moment_face, map->size, pairs, N);
}
