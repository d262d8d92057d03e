/* The front of the Newton systems: memory, the matrix in one common form, and the choice of the way to solve it. */
#include "linalg/linear.h"

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "linalg/small.h"

static const ulna_linear_way *const ways[ULNA_LINEAR_KIND_COUNT] = {
    [ULNA_LINEAR_TREE] = &ulna_linear_way_tree,
    [ULNA_LINEAR_DENSE] = &ulna_linear_way_dense,
    [ULNA_LINEAR_PCG] = &ulna_linear_way_pcg,
};

const char *ulna_linear_kind_name(ulna_linear_kind kind)
{
    unsigned index = (unsigned)kind;
    return index < ULNA_LINEAR_KIND_COUNT ? ways[index]->name : "unknown";
}

int ulna_linear_kind_find(const char *name)
{
    for (int kind = 0; name && kind < ULNA_LINEAR_KIND_COUNT; kind++) {
        if (!strcmp(name, ways[kind]->name))
            return kind;
    }
    return -1;
}

ulna_linear_options ulna_linear_options_default(void)
{
    return (ulna_linear_options){
        .kind = ULNA_LINEAR_TREE, .max_rank = 0, .band_width = 24, .pcg = ulna_pcg_options_default()};
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

double *ulna_linear_take(ulna_arena *arena, int rows, int columns)
{
    if ((size_t)columns > SIZE_MAX / sizeof(double)) {
        arena->failed = 1;
        return NULL;
    }
    return ulna_arena_take(arena, (size_t)rows, (size_t)columns * sizeof(double));
}

static ulna_status place(ulna_linear *linear, ulna_arena *arena)
{
    const ulna_tree *tree = linear->tree;
    const ulna_linear_options *options = &linear->options;
    const int n = tree->n;
    ulna_arena_take(arena, 1, sizeof *linear);
    if (!options->matrix_free)
        linear->values = ulna_arena_take(arena, n ? tree->row[n] : 0, sizeof(double));
    linear->V = ulna_linear_take(arena, n, options->max_rank);
    linear->sign = ulna_linear_take(arena, options->max_rank, 1);
    linear->rhs = ulna_linear_take(arena, n, 1);
    const ulna_status status = ways[options->kind]->place(linear, arena);
    return status ? status : arena->failed ? ULNA_ERR_LIMIT : ULNA_OK;
}

ulna_status ulna_linear_create(const ulna_tree *tree, const ulna_linear_options *options,
                               const ulna_allocator *allocator, ulna_linear **linear)
{
    if (!linear)
        return ULNA_ERR_ARGUMENT;
    *linear = NULL;
    ulna_linear_options chosen = options ? *options : ulna_linear_options_default();
    if (!tree || (unsigned)chosen.kind >= ULNA_LINEAR_KIND_COUNT || chosen.max_rank < 0 || chosen.band_width < 0)
        return ULNA_ERR_ARGUMENT;
    if (!(chosen.pcg.tolerance >= 0) || chosen.pcg.max_iterations < 0 || !(chosen.pcg.radius >= 0))
        return ULNA_ERR_ARGUMENT;
    if (chosen.max_rank > INT_MAX / 2)
        return ULNA_ERR_LIMIT;
    chosen.matrix_free = chosen.matrix_free && chosen.kind == ULNA_LINEAR_PCG;
    ulna_status status = ulna_tree_check(tree);
    if (status)
        return status;

    ulna_linear plan = {.options = chosen, .tree = tree};
    ulna_arena arena = {0};
    status = place(&plan, &arena);
    if (status)
        return status;
    plan.allocator = ulna_allocator_or_default(allocator);
    plan.bytes = arena.used;
    void *memory = ulna_allocate(&plan.allocator, plan.bytes, 1);
    if (!memory)
        return ULNA_ERR_MEMORY;
    arena = (ulna_arena){memory, 0, 0};
    place(&plan, &arena);
    *linear = memory;
    **linear = plan;
    return ULNA_OK;
}

void ulna_linear_destroy(ulna_linear *linear)
{
    if (!linear)
        return;
    const ulna_allocator memory = linear->allocator;
    ulna_release(&memory, linear, linear->bytes, 1);
}

size_t ulna_linear_bytes(const ulna_linear *linear)
{
    return linear ? linear->bytes : 0;
}

/* ---- the matrix ---------------------------------------------------------------------------------------------- */

/* V and its signs from V, weights and fixed rows. */
static ulna_status copy_low_rank(ulna_linear *linear, const ulna_linear_matrix *matrix)
{
    const size_t n = (size_t)linear->tree->n;
    linear->rank = 0;
    if (matrix->rank < 0 || matrix->rank > linear->options.max_rank)
        return ULNA_ERR_ARGUMENT;
    if (matrix->rank > 0 && (!matrix->weights || (n > 0 && !matrix->V)))
        return ULNA_ERR_ARGUMENT;
    for (int k = 0; k < matrix->rank; k++) {
        const double *from = matrix->V + n * (size_t)k, weight = matrix->weights[k], scale = sqrt(fabs(weight));
        double *to = linear->V + n * (size_t)linear->rank;
        if (!isfinite(weight))
            return ULNA_ERR_NUMBER;
        if (weight == 0)
            continue;
        for (size_t i = 0; i < n; i++)
            to[i] = matrix->fixed && matrix->fixed[i] ? 0 : from[i] * scale;
        if (!ulna_array_finite(to, n))
            return ULNA_ERR_NUMBER;
        linear->sign[linear->rank++] = weight > 0 ? 1 : -1;
    }
    return ULNA_OK;
}

void ulna_linear_add_low_rank(const ulna_linear *linear, const double *x, double *y)
{
    const int n = linear->tree->n;
    for (int k = 0; k < linear->rank; k++) {
        const double *v = linear->V + (size_t)n * (size_t)k;
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += v[i] * x[i];
        sum *= linear->sign[k];
        for (int i = 0; i < n; i++)
            y[i] += v[i] * sum;
    }
}

ulna_status ulna_linear_apply(void *context, const double *x, double *y)
{
    const ulna_linear *linear = context;
    const ulna_status status = ulna_tree_multiply(linear->tree, linear->values, x, y);
    ulna_linear_add_low_rank(linear, x, y);
    return status;
}

/* T from H or, for PCG, from a product. */
static ulna_status take_matrix(ulna_linear *linear, const ulna_linear_matrix *matrix)
{
    const int by_product = linear->options.kind == ULNA_LINEAR_PCG && matrix->product;
    linear->pcg_way.product = NULL;
    if (linear->tree->n == 0)
        return ULNA_OK;
    if (by_product)
        return ulna_linear_set_product(linear, matrix);
    if (!matrix->H)
        return matrix->product ? ULNA_ERR_UNSUPPORTED : ULNA_ERR_ARGUMENT;
    if (linear->options.matrix_free)
        return ULNA_ERR_ARGUMENT; /* there is no room for rows */
    ulna_ltdl_prepare(linear->tree, matrix->H, matrix->shift, matrix->fixed, linear->values, linear->rhs);
    return ULNA_OK;
}

ulna_status ulna_linear_factor(ulna_linear *linear, const ulna_linear_matrix *matrix)
{
    if (!linear || !matrix)
        return ULNA_ERR_ARGUMENT;
    linear->state = LINEAR_EMPTY;
    linear->inertia = (ulna_inertia){0, 0, 0};
    ulna_status status = take_matrix(linear, matrix);
    if (status)
        return status;
    status = copy_low_rank(linear, matrix);
    if (status)
        return status;
    if (linear->tree->n > 0) {
        status = ways[linear->options.kind]->factor(linear);
        if (status && status != ULNA_ERR_SINGULAR)
            return status;
    }
    linear->state = status ? LINEAR_SINGULAR : LINEAR_READY;
    return status;
}

ulna_status ulna_linear_solve(ulna_linear *linear, const double *rhs, double *x)
{
    if (!linear)
        return ULNA_ERR_ARGUMENT;
    if (linear->state != LINEAR_READY)
        return ULNA_ERR_STATE;
    const size_t n = (size_t)linear->tree->n;
    if (n == 0)
        return ULNA_OK;
    if (!rhs || !x)
        return ULNA_ERR_ARGUMENT;
    if (!ulna_array_finite(rhs, n))
        return ULNA_ERR_NUMBER;
    memcpy(linear->rhs, rhs, n * sizeof *rhs);
    return ways[linear->options.kind]->solve(linear, x);
}

ulna_status ulna_linear_inertia(const ulna_linear *linear, ulna_inertia *inertia)
{
    if (!linear || !inertia)
        return ULNA_ERR_ARGUMENT;
    *inertia = (ulna_inertia){0, 0, 0};
    if (linear->options.kind == ULNA_LINEAR_PCG)
        return ULNA_ERR_UNSUPPORTED;
    if (linear->state == LINEAR_EMPTY)
        return ULNA_ERR_STATE;
    *inertia = linear->inertia;
    return inertia->positive + inertia->negative + inertia->zero == linear->tree->n ? ULNA_OK : ULNA_ERR_SINGULAR;
}

ulna_status ulna_linear_pcg_info(const ulna_linear *linear, ulna_pcg_info *info)
{
    if (!linear || !info)
        return ULNA_ERR_ARGUMENT;
    if (linear->options.kind != ULNA_LINEAR_PCG)
        return ULNA_ERR_UNSUPPORTED;
    *info = linear->pcg_way.info;
    return ULNA_OK;
}
