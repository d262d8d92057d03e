/*
 * Tables of candidates: low-discrepancy samples of the inner joints with what serial_scan.inc needs of the last frame.
 *
 * Small and large tables have 16 lanes: the scan finds 16 samples. In the table of cells, lane = cell: the space of inner
 * joints is halved five times, each time across the joint with the widest range, so that the scan finds the best sample of
 * each of 32 cells, and candidates are far from each other.
 */
#include "math/math3.h"
#include "reach/serial_kernel.h"

#include <math.h>

static const struct {
    int lanes, samples;
} sizes[ULNA_SERIAL_TABLES] = {
    [ULNA_SERIAL_SMALL] = {16, 512},
    [ULNA_SERIAL_LARGE] = {16, 8192},
    [ULNA_SERIAL_CELLS] = {32, 2048},
};

void ulna_serial_tables_take(ulna_serial *chain, ulna_arena *arena)
{
    chain->has_tables = chain->n >= 3 && !chain->is_coupled;
    if (!chain->has_tables)
        return;
    for (int t = 0; t < ULNA_SERIAL_TABLES; t++) {
        ulna_serial_table *table = &chain->table[t];
        table->lanes = sizes[t].lanes;
        table->blocks = sizes[t].samples / sizes[t].lanes;
        table->features = chain->slides[chain->n - 1] ? 10 : 7;
        const size_t samples = (size_t)sizes[t].samples;
        table->feature = ulna_arena_take(arena, samples * (size_t)table->features, sizeof(float));
        table->q = ulna_arena_take(arena, samples * (size_t)chain->n, sizeof(float));
    }
}

/* Inner joints from 1 to `end`. A last revolute joint is not sampled. */
static int inner_end(const ulna_serial *chain)
{
    return chain->slides[chain->n - 1] ? chain->n : chain->n - 1;
}

/* The range of inner joints of a cell: bit s of `cell` chooses a half at halving s. */
static void set_cell(const ulna_serial *chain, int cell, double *lower, double *range)
{
    const int end = inner_end(chain);
    for (int i = 0; i < chain->n; i++)
        lower[i] = chain->sample_lower[i], range[i] = chain->sample_range[i];
    for (int s = 0; s < 5; s++) {
        int widest = 1;
        for (int i = 1; i < end; i++)
            if (range[i] > range[widest] + 1e-9)
                widest = i;
        range[widest] *= 0.5;
        if (cell >> s & 1)
            lower[widest] += range[widest];
    }
}

static void fill_sample(ulna_serial_table *table, int n, int block, int lane, double (*frame)[ULNA_SERIAL_LANES],
                        int column, double (*q)[ULNA_SERIAL_LANES])
{
    const int lanes = table->lanes, sample = block * lanes + lane;
    float *feature = table->feature + (size_t)block * (size_t)(table->features * lanes) + lane;
    double square = 1;
    for (int r = 0; r < 3; r++) {
        const double p = 2 * frame[9 + r][column];
        feature[r * lanes] = (float)p;
        feature[(3 + r) * lanes] = (float)frame[6 + r][column];
        if (table->features > 7)
            feature[(7 + r) * lanes] = (float)frame[r][column];
        square += p * p;
    }
    feature[6 * lanes] = (float)(-0.5 * square);
    for (int i = 0; i < n; i++)
        table->q[(size_t)sample * (size_t)n + (size_t)i] = (float)q[i][column];
}

void ulna_serial_tables_fill(ulna_serial *chain)
{
    if (!chain->has_tables)
        return;
    const int n = chain->n, end = inner_end(chain), kernel_lanes = chain->kernel->lanes;
    double stride[ULNA_SERIAL_MAX];
    ulna_serial_strides(end - 1, stride);
    for (int t = 0; t < ULNA_SERIAL_TABLES; t++) {
        ulna_serial_table *table = &chain->table[t];
        for (int lane = 0; lane < table->lanes; lane++) {
            double lower[ULNA_SERIAL_MAX] = {0}, range[ULNA_SERIAL_MAX] = {0};
            if (t == ULNA_SERIAL_CELLS)
                set_cell(chain, lane, lower, range);
            for (int block = 0; block < table->blocks; block += kernel_lanes) {
                double q[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES] = {{0}}, frame[12][ULNA_SERIAL_LANES];
                for (int l = 0; l < kernel_lanes; l++) {
                    const int b = block + l;
                    const int k = t == ULNA_SERIAL_CELLS ? b + 1 + lane * table->blocks : b * table->lanes + lane + 1;
                    for (int i = 1; i < end; i++) {
                        const double from = t == ULNA_SERIAL_CELLS ? lower[i] : chain->sample_lower[i];
                        const double width = t == ULNA_SERIAL_CELLS ? range[i] : chain->sample_range[i];
                        const double u = 0.5 + stride[i - 1] * k;
                        q[i][l] = from + (u - floor(u)) * width;
                    }
                }
                chain->kernel->forward(chain, q, frame);
                for (int l = 0; l < kernel_lanes; l++)
                    fill_sample(table, n, block + l, lane, frame, l, q);
            }
        }
    }
}
