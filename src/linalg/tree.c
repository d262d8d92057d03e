/* Tree patterns: making one from parents, checking it, products and dense copies. */
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "ulna/linalg.h"

/* A tree that owns itself: what ulna_tree_create hands out is the first member. */
typedef struct owned_tree {
    ulna_tree tree;
    ulna_allocator allocator;
    size_t bytes;
} owned_tree;

typedef struct tree_arrays {
    int *parent, *depth, *list;
    size_t *row;
    const int **path;
} tree_arrays;

static tree_arrays take_arrays(ulna_arena *arena, int n, size_t list_length)
{
    tree_arrays arrays;
    ulna_arena_take(arena, 1, sizeof(owned_tree));
    arrays.parent = ulna_arena_take(arena, (size_t)n, sizeof *arrays.parent);
    arrays.depth = ulna_arena_take(arena, (size_t)n, sizeof *arrays.depth);
    arrays.row = ulna_arena_take(arena, (size_t)n + 1, sizeof *arrays.row);
    arrays.path = ulna_arena_take(arena, (size_t)n, sizeof *arrays.path);
    arrays.list = ulna_arena_take(arena, list_length, sizeof *arrays.list);
    return arrays;
}

/*
 * A DOF's list goes on in its first child's; any other child starts a list of its own. Hence one list per leaf.
 * Writes `depth` and `first_child` (n each) and returns the total length of the lists. `failed`: a matrix of this
 * pattern would not fit into memory, whatever the machine has.
 */
static size_t measure_lists(int n, const int *parent, int *depth, int *first_child, int *failed)
{
    const size_t most = SIZE_MAX / sizeof(double) / 2;
    size_t total = 0, values = 0;
    for (int j = 0; j < n; j++) {
        const int p = parent[j];
        depth[j] = p < 0 ? 1 : depth[p] + 1;
        first_child[j] = -1;
        if (p >= 0 && first_child[p] < 0)
            first_child[p] = j;
    }
    for (int j = 0; j < n; j++) {
        total += first_child[j] < 0 ? (size_t)depth[j] : 0;
        values += (size_t)depth[j] + 3; /* the lists are never longer than that */
        if (values > most) {
            *failed = 1;
            break;
        }
    }
    return total;
}

/* Fills rows and paths; parents and depths are there. */
static void fill_paths(int n, tree_arrays *arrays, const int *first_child)
{
    int *end = arrays->list;
    size_t values = 0;
    for (int j = 0; j < n; j++) {
        const int p = arrays->parent[j], depth = arrays->depth[j];
        arrays->row[j] = values;
        values += ((size_t)depth + 3) & ~(size_t)3;
        if (p >= 0 && first_child[p] == j) {
            arrays->path[j] = arrays->path[p];
            continue;
        }
        int length = depth; /* down to the leaf that ends this list */
        for (int leaf = j; first_child[leaf] >= 0; leaf = first_child[leaf])
            ++length;
        int *list = end;
        end += length;
        if (p >= 0)
            memcpy(list, arrays->path[p], (size_t)(depth - 1) * sizeof *list);
        for (int down = j, at = depth - 1; down >= 0; down = first_child[down])
            list[at++] = down;
        arrays->path[j] = list;
    }
    arrays->row[n] = values;
}

ulna_status ulna_tree_create(int n, const int *parent, const ulna_allocator *allocator, ulna_tree **tree)
{
    if (!tree)
        return ULNA_ERR_ARGUMENT;
    *tree = NULL;
    if (n < 0 || (n > 0 && !parent))
        return ULNA_ERR_ARGUMENT;
    for (int j = 0; j < n; j++) {
        if (parent[j] < -1 || parent[j] >= j)
            return ULNA_ERR_ARGUMENT;
    }

    /* Depths and first children need memory before the block's size is known. */
    const ulna_allocator memory = ulna_allocator_or_default(allocator);
    const size_t count = (size_t)n;
    int *scratch = ulna_allocate(&memory, 2 * count, sizeof *scratch);
    if (!scratch)
        return ULNA_ERR_MEMORY;
    ulna_arena arena = {0};
    const size_t length = measure_lists(n, parent, scratch, scratch + count, &arena.failed);
    take_arrays(&arena, n, length);
    void *block = arena.failed ? NULL : ulna_allocate(&memory, arena.used, 1);
    if (block) {
        owned_tree *owned = block;
        owned->allocator = memory;
        owned->bytes = arena.used;
        ulna_arena pieces = {block, 0, 0};
        tree_arrays arrays = take_arrays(&pieces, n, length);
        if (n > 0) {
            memcpy(arrays.parent, parent, count * sizeof *parent);
            memcpy(arrays.depth, scratch, count * sizeof *scratch);
        }
        fill_paths(n, &arrays, scratch + count);
        owned->tree = (ulna_tree){n, arrays.parent, arrays.depth, arrays.row, arrays.path};
        *tree = &owned->tree;
    }
    ulna_release(&memory, scratch, 2 * count, sizeof *scratch);
    return block ? ULNA_OK : arena.failed ? ULNA_ERR_LIMIT : ULNA_ERR_MEMORY;
}

void ulna_tree_destroy(ulna_tree *tree)
{
    if (!tree)
        return;
    owned_tree *owned = (owned_tree *)tree;
    const ulna_allocator memory = owned->allocator;
    ulna_release(&memory, owned, owned->bytes, 1);
}

ulna_status ulna_tree_check(const ulna_tree *tree)
{
    if (!tree || tree->n < 0)
        return ULNA_ERR_ARGUMENT;
    if (tree->n == 0)
        return tree->row && tree->row[0] != 0 ? ULNA_ERR_MODEL : ULNA_OK;
    if (!tree->parent || !tree->depth || !tree->row || !tree->path)
        return ULNA_ERR_ARGUMENT;
    if (tree->row[0] != 0)
        return ULNA_ERR_MODEL;
    for (int j = 0; j < tree->n; j++) {
        const int parent = tree->parent[j], depth = tree->depth[j];
        const int *path = tree->path[j];
        if (parent < -1 || parent >= j || depth != (parent < 0 ? 1 : tree->depth[parent] + 1))
            return ULNA_ERR_MODEL;
        if (tree->row[j + 1] % 4 || tree->row[j + 1] < tree->row[j] || tree->row[j + 1] - tree->row[j] < (size_t)depth)
            return ULNA_ERR_MODEL;
        if (!path || path[depth - 1] != j)
            return ULNA_ERR_MODEL;
        if (depth > 1 && memcmp(path, tree->path[parent], (size_t)(depth - 1) * sizeof *path) != 0)
            return ULNA_ERR_MODEL;
    }
    return ULNA_OK;
}

ulna_status ulna_tree_multiply(const ulna_tree *tree, const double *values, const double *x, double *y)
{
    if (!tree || tree->n < 0)
        return ULNA_ERR_ARGUMENT;
    if (tree->n == 0)
        return ULNA_OK;
    if (!values || !x || !y || x == y)
        return ULNA_ERR_ARGUMENT;

    /* Each stored element counts for its row and for its column. A path that is a run of numbers needs no gathering. */
    memset(y, 0, (size_t)tree->n * sizeof *y);
    for (int j = 0; j < tree->n; j++) {
        const double *row = values + tree->row[j], mine = x[j];
        const int *path = tree->path[j], above = tree->depth[j] - 1;
        double sum[4] = {0, 0, 0, 0};
        int p = 0;
        if (path[above] - path[0] == above) {
            const double *from = x + path[0];
            double *to = y + path[0];
            for (; p + 4 <= above; p += 4) {
                for (int lane = 0; lane < 4; lane++) {
                    sum[lane] += row[p + lane] * from[p + lane];
                    to[p + lane] += row[p + lane] * mine;
                }
            }
        }
        for (; p < above; p++) {
            sum[0] += row[p] * x[path[p]];
            y[path[p]] += row[p] * mine;
        }
        y[j] += row[above] * mine + ((sum[0] + sum[2]) + (sum[1] + sum[3]));
    }
    return ULNA_OK;
}

ulna_status ulna_tree_to_dense(const ulna_tree *tree, const double *values, double *A)
{
    if (!tree || tree->n < 0)
        return ULNA_ERR_ARGUMENT;
    const size_t n = (size_t)tree->n;
    if (n == 0)
        return ULNA_OK;
    if (!values || !A)
        return ULNA_ERR_ARGUMENT;
    memset(A, 0, n * n * sizeof *A);
    for (size_t j = 0; j < n; j++) {
        const double *row = values + tree->row[j];
        for (int p = 0; p < tree->depth[j]; p++) {
            const size_t i = (size_t)tree->path[j][p];
            A[i + n * j] = A[j + n * i] = row[p];
        }
    }
    return ULNA_OK;
}
