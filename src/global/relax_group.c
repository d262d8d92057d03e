/* Edges in lanes: their first point; and blocks of any edge as they are now. */
#include <string.h>

#include "global/relax_tree.h"

enum { LANES = ULNA_RELAX_LANES };

static void put(double *group_matrix, int size, int lane, const double *matrix)
{
    for (int i = 0; i < size * size; i++)
        group_matrix[i * LANES + lane] = matrix[i];
}

static void begin_hinge(const ulna_relaxation *r, ulna_relax_group *group, int lane)
{
    const ulna_relax_edge *edge = &r->edges[group->edge[lane]];
    const double *R = r->state + (size_t)edge->parent * (size_t)r->states, *F = edge->frame;
    double t[10] = {1}, Z[16], W[64] = {0}, V[16];
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < 3; i++)
            t[1 + 3 * k + i] = R[i] * F[k] + R[3 + i] * F[3 + k] + R[6 + i] * F[6 + k];
    ulna_relax_matrix(t, Z);
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 4; k++) {
            const double z = Z[4 * i + k], c = edge->gamma * z;
            W[8 * i + k] = z - edge->lambda * edge->lambda * c;
            W[8 * (4 + i) + 4 + k] = c;
            V[4 * i + k] = edge->limited ? z - edge->nu * c : i == k;
        }
    put(group->S, 8, lane, W);
    put(group->SV, 4, lane, V);
}

static void begin_bone(const ulna_relaxation *r, ulna_relax_group *group, int lane)
{
    const ulna_relax_edge *edge = &r->edges[group->edge[lane]];
    const double *s = r->state + (size_t)edge->parent * (size_t)r->states, *d = edge->direction;
    const double *shift = r->shift + 3 * edge->root;
    double N[49], turned[3];
    N[0] = 1;
    for (int i = 0; i < 3; i++) {
        turned[i] = s[i] * d[0] + s[3 + i] * d[1] + s[6 + i] * d[2];
        N[1 + i] = N[7 * (1 + i)] = s[9 + i];
        N[4 + i] = N[7 * (4 + i)] = turned[i];
    }
    for (int i = 0, at = 0; i < 3; i++)
        for (int k = i; k < 3; k++, at++) {
            N[7 * (1 + i) + 1 + k] = N[7 * (1 + k) + 1 + i] = s[12 + at];
            N[7 * (4 + i) + 4 + k] = N[7 * (4 + k) + 4 + i] = edge->Q[at];
        }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            N[7 * (1 + i) + 4 + k] = N[7 * (4 + k) + 1 + i] = edge->D[3 * i + k] + shift[i] * turned[k];
    put(group->S, 7, lane, N);
}

void ulna_relax_group_begin(const ulna_relaxation *r, ulna_relax_group *group)
{
    const int size = group->size;
    for (int lane = 0; lane < LANES; lane++) {
        if (group->edge[lane] != ULNA_NONE) {
            if (size == 8)
                begin_hinge(r, group, lane);
            else
                begin_bone(r, group, lane);
            continue;
        }
        for (int i = 0; i < size * size; i++)
            group->S[i * LANES + lane] = i % (size + 1) == 0;
        for (int i = 0; i < 16 && size == 8; i++)
            group->SV[i * LANES + lane] = i % 5 == 0;
    }
}

void ulna_relax_group_multipliers(ulna_relax_group *group, double mu)
{
    for (int i = 0; i < group->size * group->size * LANES; i++)
        group->X[i] = mu * group->U[i];
    for (int i = 0; i < 16 * LANES && group->size == 8; i++)
        group->XV[i] = mu * group->UV[i];
}

/* ---- blocks as they are now ------------------------------------------------------------------------------------ */

int ulna_relax_block_now(const ulna_relaxation *r, int node, int which, double *S, double *X)
{
    const ulna_relax_edge *edge = &r->edges[node];
    if (edge->how == ULNA_RELAX_HINGE_LANES || edge->how == ULNA_RELAX_BONE_LANES) {
        const ulna_relax_group *group = &r->groups[edge->group];
        const int hinge = edge->how == ULNA_RELAX_HINGE_LANES, size = which ? 4 : group->size;
        if (which > (hinge && edge->limited))
            return 0;
        for (int i = 0; i < size * size; i++) {
            S[i] = (which ? group->SV : group->S)[i * LANES + edge->lane];
            X[i] = (which ? group->XV : group->X)[i * LANES + edge->lane];
        }
        return size;
    }
    if (which >= edge->block_count)
        return 0;
    const ulna_relax_block *block = &edge->block[which];
    const int n = block->full, m = block->size;
    ulna_relax_dense_full(edge, which, S);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            X[i * n + k] = 0;
            for (int a = 0; a < m; a++)
                for (int b = 0; b < m; b++)
                    X[i * n + k] += block->phi[i * m + a] * block->X[a * m + b] * block->phi[k * m + b];
        }
    return n;
}
