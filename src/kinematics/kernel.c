/* Choosing a kernel, and the scratch that all of them share. */
#include "kinematics/kernel.h"

#include "base/base.h"

#include <string.h>

/* Best last. */
static const ulna_kernel *const kernels[] = {
    &ulna_kernel_portable,
#ifndef ULNA_NO_X86
    &ulna_kernel_avx2,
    &ulna_kernel_avx512,
#endif
};
enum { KERNEL_COUNT = sizeof kernels / sizeof kernels[0] };

const ulna_kernel *ulna_kernel_find(const char *name)
{
    for (int k = KERNEL_COUNT - 1; k >= 0; k--)
        if ((!name || strcmp(name, kernels[k]->name) == 0) && ulna_cpu_runs(kernels[k]->name))
            return kernels[k];
    return NULL;
}

void ulna_sweep_take(ulna_sweep *sweep, const ulna_model *model, ulna_arena *arena)
{
    size_t nl = (size_t)model->nl, nv = (size_t)model->nv;
    size_t depth = ulna_padded((size_t)model->max_dof_depth);
    sweep->curvature = ulna_arena_take(arena, 6 * nl, sizeof *sweep->curvature);
    sweep->moment = ulna_arena_take(arena, 4 * nl, sizeof *sweep->moment);
    sweep->force = ulna_arena_take(arena, nv, sizeof *sweep->force);
    sweep->second = ulna_arena_take(arena, 6 * nl, sizeof *sweep->second);
    sweep->pivot = ulna_arena_take(arena, nv, sizeof *sweep->pivot);
    sweep->lower = ulna_arena_take(arena, 3 * nv, sizeof *sweep->lower);
    sweep->twist = ulna_arena_take(arena, nl, sizeof *sweep->twist);
    sweep->size = ulna_arena_take(arena, 2 * nl, sizeof *sweep->size);
    sweep->path = ulna_arena_take(arena, 6 * depth, sizeof *sweep->path);
    sweep->right = ulna_arena_take(arena, nv, sizeof *sweep->right);
    sweep->failed_dof = -1;
}

void ulna_abreast_take(ulna_abreast_arrays *arrays, ulna_arena *arena)
{
    size_t nv = (size_t)arrays->model->nv, nl = (size_t)arrays->model->nl, count = (size_t)arrays->count;
    struct {
        double **array;
        size_t items;
    } const by_lanes[] = {
        {&arrays->sides, 1},      {&arrays->step, nv},       {&arrays->q, nv},
        {&arrays->q_before, nv},  {&arrays->q_after, nv},    {&arrays->point, 4 * count},
        {&arrays->slope, nv},     {&arrays->curve, nv},      {&arrays->mean, (size_t)arrays->hold.groups},
        {&arrays->sine, nv},      {&arrays->cosine, nv},     {&arrays->motion, 6 * nv},
        {&arrays->gain, 7 * nv},  {&arrays->frame, 12 * nl}, {&arrays->spot, ULNA_ABREAST_SPOT * count},
        {&arrays->sums, 27 * nl}, {&arrays->distance, count}};
    for (size_t i = 0; i < sizeof by_lanes / sizeof *by_lanes; i++)
        *by_lanes[i].array = ulna_arena_take(arena, by_lanes[i].items, ULNA_ABREAST * sizeof(double));
    arrays->is_good = ulna_arena_take(arena, ULNA_ABREAST, 1);
}
