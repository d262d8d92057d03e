/* Rows beside the tree: S, J d0 and the step with multipliers. The sweeps are those of kernel_lanes.inc. */
#include "objective/border.h"

#include "base/base.h"
#include "math/math3.h"

#include <string.h>

enum { LANES = 4 };

/* ---- memory and factors ---------------------------------------------------------------------------------------- */

static inline int has_bit(const uint64_t *words, int k)
{
    return (int)(words[(unsigned)k / 64] >> ((unsigned)k % 64) & 1);
}

static inline void set_bit(uint64_t *words, int k)
{
    words[(unsigned)k / 64] |= (uint64_t)1 << ((unsigned)k % 64);
}

/* The root, links with mass, and those above them. */
static void find_massive(const ulna_model *model, uint64_t *massive)
{
    memset(massive, 0, ulna_link_words(model) * sizeof *massive);
    set_bit(massive, 0);
    for (int l = model->nl - 1; l > 0; l--) {
        if (model->link_mass[l][3] != 0)
            set_bit(massive, l);
        if (has_bit(massive, l))
            set_bit(massive, model->link[l].parent);
    }
}

void ulna_border_take(ulna_border *border, const ulna_model *model, int capacity, ulna_arena *arena)
{
    size_t rows = ulna_padded((size_t)capacity), groups = rows / LANES + 1;
    size_t nv = (size_t)model->nv, words = ulna_link_words(model);
    *border = (ulna_border){.capacity = (int)rows};
    border->schur = ulna_arena_take(arena, rows * rows, sizeof *border->schur);
    border->drift = ulna_arena_take(arena, rows, sizeof *border->drift);
    border->beta = ulna_arena_take(arena, rows, sizeof *border->beta);
    border->lanes = ulna_arena_take(arena, groups, sizeof *border->lanes);
    ulna_pair *dofs = ulna_arena_take(arena, groups * nv, sizeof *dofs);
    uint64_t *sets = ulna_arena_take(arena, 2 * groups * words, sizeof *sets);
    for (size_t g = 0; border->lanes && g < groups; g++)
        border->lanes[g] =
            (ulna_lanes){.links = sets + 2 * g * words, .loaded = sets + (2 * g + 1) * words, .dof = dofs + g * nv};
    border->massive = ulna_arena_take(arena, words, sizeof *border->massive);
    if (border->massive)
        find_massive(model, border->massive);
}

ulna_status ulna_border_factor(ulna_work *work, const ulna_step_options *options, ulna_border *border)
{
    if (!work || !options || !border || !isfinite(options->t))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ulna_work_check(work);
    if (status != ULNA_OK)
        return status;
    const ulna_model *model = work->problem->model;
    work->composed = work->factored = 0;
    border->count = 0;

    const double *shift = options->shift ? options->shift : work->zeros;
    ulna_elimination how = {.t = options->t,
                            .shift = shift,
                            .locked = options->locked,
                            .displacement = options->displacement,
                            .any_sign = 1};
    status = work->pose->kernel->eliminate(work->pose, &work->targets, &work->extras, &work->diagonal, &how,
                                           &work->sweep, NULL, &border->decrease);
    if (status != ULNA_OK)
        return ulna_all_finite(shift, model->nv) ? status : ULNA_ERR_NUMBER;
    if (!isfinite(border->decrease)) /* a shift or displacement that is not a number ends up here */
        return ULNA_ERR_NUMBER;
    border->negative = work->sweep.negative;
    return ULNA_OK;
}

/* ---- adding rows ------------------------------------------------------------------------------------------------- */

/* What a group of rows is put into. */
typedef struct group {
    const ulna_work *work;
    const ulna_lanes *lanes;
    const uint64_t *massive;
    int has_coefficients;
    int link; /* the last that a row was put on */
} group;

/* Puts a link and those above it on the way of the rows. */
static void touch(const group *x, int link)
{
    const ulna_link *links = x->work->problem->model->link;
    for (int l = link; l >= 0 && !has_bit(x->lanes->links, l); l = links[l].parent) {
        set_bit(x->lanes->links, l);
        if (x->has_coefficients)
            for (int d = links[l].dof, end = d + links[l].dof_count; d < end; d++)
                x->lanes->dof[d].angular = (ulna_vec4){0};
    }
}

/* The wrenches of a link, 0 at first. */
static double *wrench_at(group *x, int link)
{
    double *wrench = ulna_lanes_wrench(&x->work->sweep, link);
    if (link == x->link)
        return wrench;
    x->link = link;
    touch(x, link);
    if (!has_bit(x->lanes->loaded, link)) {
        for (int k = 0; k < 6; k++)
            ((ulna_vec4 *)wrench)[k] = (ulna_vec4){0};
        set_bit(x->lanes->loaded, link);
    }
    return wrench;
}

static void put_row(group *x, const ulna_row *row, int lane)
{
    for (int p = 0; p < row->part_count; p++) {
        double *wrench = wrench_at(x, row->part[p].link) + lane;
        for (int k = 0; k < 6; k++)
            wrench[LANES * k] += row->part[p].wrench[k];
    }
    for (int i = 0; i < row->dof_count; i++) {
        wrench_at(x, x->work->problem->model->dof_link[row->dof[i]]);
        ((double *)&x->lanes->dof[row->dof[i]].angular)[lane] += row->coefficient[i];
    }
}

static void put_centres(group *x, const ulna_row *const *rows, int count, int first)
{
    const ulna_model *model = x->work->problem->model;
    double normal[3 * LANES] = {0};
    for (int i = 0; i < count; i++)
        for (int k = 0; rows[i]->has_centre && k < 3; k++)
            normal[LANES * k + first + i] = rows[i]->centre[k];
    wrench_at(x, 0);
    for (int l = 1; x->has_coefficients && l < model->nl; l++)
        if (has_bit(x->massive, l))
            touch(x, l);
    for (size_t w = 0; w < ulna_link_words(model); w++)
        x->lanes->links[w] |= x->massive[w];
    x->work->pose->kernel->lanes_centre(x->work->pose, &x->work->sweep, x->lanes, normal);
}

/* Rows in the lanes first ... first + count - 1. */
static void sweep_up(const ulna_work *work, const ulna_border *border, const ulna_row *const *rows, int count,
                     int first, const ulna_lanes *lanes, double drift[LANES])
{
    group x = {work, lanes, border->massive, 0, ULNA_NONE};
    int has_centre = 0;
    for (int i = 0; i < count; i++) {
        x.has_coefficients |= rows[i]->dof_count;
        has_centre |= rows[i]->has_centre;
    }
    for (size_t w = 0, words = ulna_link_words(work->problem->model); w < words; w++)
        lanes->links[w] = lanes->loaded[w] = 0;
    for (int i = 0; i < count; i++)
        put_row(&x, rows[i], first + i);
    if (has_centre)
        put_centres(&x, rows, count, first);
    work->pose->kernel->lanes_up(work->pose, &work->sweep, lanes, x.has_coefficients, drift);
}

/* Adds lanes that are zero where the others are not. */
static void merge(const ulna_model *model, const ulna_lanes *from, const ulna_lanes *to)
{
    for (int l = 0; l < model->nl; l++) {
        if (!has_bit(from->links, l))
            continue;
        int is_new = !has_bit(to->links, l), dof = model->link[l].dof, count = model->link[l].dof_count;
        for (int d = dof; d < dof + count; d++) {
            to->dof[d].angular = is_new ? from->dof[d].angular : to->dof[d].angular + from->dof[d].angular;
            to->dof[d].linear = is_new ? from->dof[d].linear : to->dof[d].linear + from->dof[d].linear;
        }
        set_bit(to->links, l);
    }
}

/* The blocks of S in the lines and columns of one group. */
static void fill_schur(const ulna_work *work, ulna_border *border, int last)
{
    size_t n = (size_t)border->capacity, line = LANES * (size_t)last;
    for (int h = 0; h <= last; h++) {
        size_t column = LANES * (size_t)h;
        work->pose->kernel->lanes_product(work->problem->model, &border->lanes[last], &border->lanes[h], n,
                                          border->schur + line * n + column, border->schur + column * n + line);
    }
}

ulna_status ulna_border_add(ulna_work *work, ulna_border *border, const ulna_row *const *rows, int count)
{
    if (count > border->capacity - border->count)
        return ULNA_ERR_LIMIT;
    while (count > 0) {
        int last = border->count / LANES, first = border->count % LANES;
        int n = count < LANES - first ? count : LANES - first;
        double drift[LANES];
        const ulna_lanes *lanes = &border->lanes[first ? border->capacity / LANES : last];
        sweep_up(work, border, rows, n, first, lanes, drift);
        if (first)
            merge(work->problem->model, lanes, &border->lanes[last]);
        memcpy(border->drift + border->count, drift + first, (size_t)n * sizeof *drift);
        fill_schur(work, border, last);
        border->count += n;
        rows += n;
        count -= n;
    }
    return ULNA_OK;
}

/* ---- the step ---------------------------------------------------------------------------------------------------- */

void ulna_border_step(ulna_work *work, const ulna_border *border, const double *beta, double *step)
{
    int groups = (border->count + LANES - 1) / LANES;
    for (int i = 0; i < LANES * groups; i++)
        border->beta[i] = i < border->count ? beta[i] : 0;
    work->pose->kernel->lanes_down(work->pose, &work->sweep, groups, border->lanes, border->beta, step);
    work->has_centre_velocity = 0;
}

/* Of the twists that the last step left. */
static const double *centre_velocity(ulna_work *work)
{
    if (!work->has_centre_velocity)
        work->pose->kernel->centre_velocity(work->pose, &work->sweep, work->centre_velocity);
    work->has_centre_velocity = 1;
    return work->centre_velocity;
}

double ulna_border_velocity(ulna_work *work, const ulna_row *row, const double *step)
{
    double sum = 0;
    for (int p = 0; p < row->part_count; p++) {
        const ulna_pair *twist = &work->sweep.twist[row->part[p].link];
        const double *wrench = row->part[p].wrench;
        for (int k = 0; k < 3; k++)
            sum += wrench[k] * twist->angular[k] + wrench[3 + k] * twist->linear[k];
    }
    for (int i = 0; i < row->dof_count; i++)
        sum += row->coefficient[i] * step[row->dof[i]];
    return row->has_centre ? sum + ulna_dot(row->centre, centre_velocity(work)) : sum;
}

/* ---- couplings --------------------------------------------------------------------------------------------------- */

void ulna_coupling_row(const ulna_work *work, int k, ulna_row *row, double *weight)
{
    const ulna_term *term = &work->problem->term[work->problem->coupling_term[k]];
    int *dof = work->coupling_dof + 2 * (size_t)k;
    double *coefficient = work->coupling_coefficient + 2 * (size_t)k;
    dof[0] = term->dof_a, dof[1] = term->dof_b;
    coefficient[0] = -term->goal[0], coefficient[1] = 1;
    *row =
        (ulna_row){.constraint = ULNA_NONE, .is_equation = 1, .dof_count = 2, .dof = dof, .coefficient = coefficient};
    *weight = ulna_coupling_weight(work->problem, term);
}
