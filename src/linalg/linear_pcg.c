/*
 * Newton systems by conjugate gradients, preconditioned by the band of the matrix, low-rank terms included.
 *
 * The matrix is in tree rows, or it is a product P H P + diag(shift) + (1 - P), P being 0 for fixed DOFs and 1 for the
 * others, and a band of H that has the same done to it.
 */
#include "linalg/linear.h"
#include "linalg/small.h"

static ulna_status place_pcg(ulna_linear *linear, ulna_arena *arena)
{
    const int n = linear->tree->n, width = linear->options.band_width;
    const int room = width < n ? width : n > 0 ? n - 1 : 0;
    linear->pcg_way.shift = ulna_linear_take(arena, n, 1);
    linear->pcg_way.masked = ulna_linear_take(arena, n, 1);
    linear->pcg_way.fixed = ulna_arena_take(arena, (size_t)n, 1);
    linear->pcg_way.room = room;
    linear->pcg_way.band.n = n;
    linear->pcg_way.band.entries = ulna_linear_take(arena, n, room + 1);
    linear->pcg_way.band.factor = ulna_linear_take(arena, n, room + 1);
    linear->pcg_way.work = ulna_linear_take(arena, n, 4);
    return ULNA_OK;
}

/* ---- a matrix given by its product --------------------------------------------------------------------------- */

/* The part of the band that there is room for, with shift and fixed DOFs as in T. */
static void copy_band(ulna_linear *linear, const ulna_band *from)
{
    const double *shift = linear->pcg_way.shift;
    const unsigned char *fixed = linear->pcg_way.fixed;
    ulna_band *band = &linear->pcg_way.band;
    band->width = from->width < linear->pcg_way.room ? from->width : linear->pcg_way.room;
    for (int j = 0; j < band->n; j++) {
        const double *source = from->entries + (size_t)j * ((size_t)from->width + 1);
        double *column = band->entries + (size_t)j * ((size_t)band->width + 1);
        column[0] = fixed[j] ? 1 : source[0] + shift[j];
        for (int k = 1; k <= band->width; k++)
            column[k] = k >= band->n - j || fixed[j] || fixed[j + k] ? 0 : source[k];
    }
}

ulna_status ulna_linear_set_product(ulna_linear *linear, const ulna_linear_matrix *matrix)
{
    const int n = linear->tree->n;
    const ulna_band *band = matrix->band;
    if (band && (band->n != n || band->width < 0 || !band->entries))
        return ULNA_ERR_ARGUMENT;
    for (int j = 0; j < n; j++) {
        linear->pcg_way.fixed[j] = matrix->fixed && matrix->fixed[j];
        linear->pcg_way.shift[j] = matrix->shift && !linear->pcg_way.fixed[j] ? matrix->shift[j] : 0;
    }
    if (!ulna_array_finite(linear->pcg_way.shift, (size_t)n))
        return ULNA_ERR_NUMBER;
    linear->pcg_way.product = matrix->product;
    linear->pcg_way.product_context = matrix->product_context;
    linear->pcg_way.banded = band != NULL;
    if (band)
        copy_band(linear, band);
    return ULNA_OK;
}

/* y = (T + V S VT) x; context: a ulna_linear. */
static ulna_status apply_product(void *context, const double *x, double *y)
{
    const ulna_linear *linear = context;
    const unsigned char *fixed = linear->pcg_way.fixed;
    double *masked = linear->pcg_way.masked;
    const int n = linear->tree->n;
    for (int j = 0; j < n; j++)
        masked[j] = fixed[j] ? 0 : x[j];
    const ulna_status status = linear->pcg_way.product(linear->pcg_way.product_context, masked, y);
    if (status)
        return status;
    for (int j = 0; j < n; j++)
        y[j] = fixed[j] ? x[j] : y[j] + linear->pcg_way.shift[j] * x[j];
    ulna_linear_add_low_rank(linear, x, y);
    return ULNA_OK;
}

/* ---- factor and solve ---------------------------------------------------------------------------------------- */

static ulna_status band_from_rows(ulna_linear *linear)
{
    const ulna_tree *tree = linear->tree;
    for (int j = 0; j < tree->n; j++) {
        if (!ulna_array_finite(linear->values + tree->row[j], (size_t)tree->depth[j]))
            return ULNA_ERR_NUMBER;
    }
    linear->pcg_way.banded = 1;
    linear->pcg_way.band.width = linear->pcg_way.room;
    return ulna_band_from_tree(&linear->pcg_way.band, tree, linear->values, NULL, NULL);
}

static ulna_status factor_pcg(ulna_linear *linear)
{
    ulna_band *band = &linear->pcg_way.band;
    const ulna_status status = linear->pcg_way.product ? ULNA_OK : band_from_rows(linear);
    if (status || !linear->pcg_way.banded)
        return status;
    for (int k = 0; k < linear->rank; k++) {
        const double *v = linear->V + (size_t)band->n * (size_t)k;
        for (int j = 0; j < band->n; j++) {
            double *column = band->entries + (size_t)j * ((size_t)band->width + 1);
            for (int i = j; i < band->n && i - j <= band->width; i++)
                column[i - j] += linear->sign[k] * v[i] * v[j];
        }
    }
    return ulna_band_factor(band);
}

static ulna_status solve_pcg(ulna_linear *linear, double *x)
{
    ulna_pcg_info *info = &linear->pcg_way.info;
    const ulna_linear_map apply = linear->pcg_way.product ? apply_product : ulna_linear_apply;
    const ulna_linear_map precondition = linear->pcg_way.banded ? ulna_band_precondition : NULL;
    const ulna_status status = ulna_pcg(linear->tree->n, apply, linear, precondition, &linear->pcg_way.band,
                                        linear->rhs, x, &linear->options.pcg, linear->pcg_way.work, info);
    if (status)
        return status;
    return info->stop == ULNA_PCG_NEGATIVE     ? ULNA_ERR_INDEFINITE
           : info->stop == ULNA_PCG_ITERATIONS ? ULNA_ERR_CONVERGENCE
                                               : ULNA_OK;
}

const ulna_linear_way ulna_linear_way_pcg = {"pcg", place_pcg, factor_pcg, solve_pcg};
