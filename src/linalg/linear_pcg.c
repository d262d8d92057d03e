/* Newton systems by conjugate gradients, preconditioned by the band of the matrix, low-rank terms included. */
#include "linalg/linear.h"
#include "linalg/small.h"

static ulna_status place_pcg(ulna_linear *linear, ulna_arena *arena)
{
    const int n = linear->tree->n, width = linear->options.band_width;
    const int kept = width < n ? width : n > 0 ? n - 1 : 0;
    linear->pcg_way.band.n = n;
    linear->pcg_way.band.width = kept;
    linear->pcg_way.band.entries = ulna_linear_take(arena, n, kept + 1);
    linear->pcg_way.band.factor = ulna_linear_take(arena, n, kept + 1);
    linear->pcg_way.work = ulna_linear_take(arena, n, 4);
    return ULNA_OK;
}

static ulna_status factor_pcg(ulna_linear *linear)
{
    ulna_band *band = &linear->pcg_way.band;
    const ulna_tree *tree = linear->tree;
    for (int j = 0; j < tree->n; j++) {
        if (!ulna_all_finite(linear->values + tree->row[j], (size_t)tree->depth[j]))
            return ULNA_ERR_NUMBER;
    }
    ulna_status status = ulna_band_from_tree(band, tree, linear->values, NULL, NULL);
    if (status)
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
    const ulna_status status =
        ulna_pcg(linear->tree->n, ulna_linear_apply, linear, ulna_band_precondition, &linear->pcg_way.band, linear->rhs,
                 x, &linear->options.pcg, linear->pcg_way.work, info);
    if (status)
        return status;
    return info->stop == ULNA_PCG_NEGATIVE     ? ULNA_ERR_INDEFINITE
           : info->stop == ULNA_PCG_ITERATIONS ? ULNA_ERR_CONVERGENCE
                                               : ULNA_OK;
}

const ulna_linear_way ulna_linear_way_pcg = {"pcg", place_pcg, factor_pcg, solve_pcg};
