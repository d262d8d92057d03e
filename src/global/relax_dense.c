/*
 * One iteration for dense edges, which are not computed in lanes: plain loops over their matrices. The formulas are those
 * of relax_solve.c. Tests compare the kernels for lanes with these functions.
 */
#include <math.h>
#include <string.h>

#include "global/relax_tree.h"
#include "math/math3.h"

enum { LARGEST = ULNA_RELAX_SIZE * ULNA_RELAX_SIZE };

static void multiply(int n, const double *A, const double *B, double *C)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int l = 0; l < n; l++)
                sum += A[i * n + l] * B[l * n + k];
            C[i * n + k] = sum;
        }
}

/* out = the symmetric part of A B C */
static void product(int n, const double *A, const double *B, const double *C, double *out)
{
    double AB[LARGEST], ABC[LARGEST];
    multiply(n, A, B, AB);
    multiply(n, AB, C, ABC);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++)
            out[i * n + k] = 0.5 * (ABC[i * n + k] + ABC[k * n + i]);
}

static int invert(int n, const double *S, double *U)
{
    double L[LARGEST], inverse[LARGEST] = {0};
    if (!ulna_relax_cholesky(n, S, L))
        return 0;
    for (int c = 0; c < n; c++)
        for (int i = c; i < n; i++) {
            double sum = i == c;
            for (int l = c; l < i; l++)
                sum -= L[i * n + l] * inverse[l * n + c];
            inverse[i * n + c] = sum / L[i * (n + 1)];
        }
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = 0;
            for (int l = i; l < n; l++)
                sum += inverse[l * n + i] * inverse[l * n + k];
            U[i * n + k] = U[k * n + i] = sum;
        }
    return 1;
}

/* U = S^-1; adds <S, X>. 0 if S is not positive definite. */
int ulna_relax_dense_factor(ulna_relax_edge *edge, double *gap)
{
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        if (!invert(block->size, block->S, block->U))
            return 0;
        *gap += ulna_inner(block->size * block->size, block->S, block->X);
    }
    return 1;
}

/* Adds tr(E_i X E_k U) to H, square over controls and parent's state. */
void ulna_relax_dense_hessian(const ulna_relaxation *r, const ulna_relax_edge *edge, double *H)
{
    const int variables = edge->controls + r->states;
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        const int n = block->size, nn = n * n;
        for (int at = 0; at < block->used_count; at++) {
            const int k = block->used[at];
            double XE[LARGEST], XEU[LARGEST];
            multiply(n, block->X, block->E + (size_t)k * (size_t)nn, XE);
            multiply(n, XE, block->U, XEU);
            for (int other = 0; other <= at; other++) {
                const int i = block->used[other];
                const double h = ulna_inner(nn, block->E + (size_t)i * (size_t)nn, XEU);
                H[i * variables + k] += h;
                if (i != k)
                    H[k * variables + i] += h;
            }
        }
    }
}

void ulna_relax_dense_gradient(const ulna_relaxation *r, ulna_relax_edge *edge, int corrector, double sigma_mu)
{
    const int variables = edge->controls + r->states;
    memset(edge->local, 0, (size_t)variables * sizeof *edge->local);
    if (edge->edge == ULNA_EDGE_HINGE && r->posture != 0) {
        /* -posture E cos = posture (2 lambda^2 tr C' - 1); the diagonal pairs come first in each row of pairs */
        for (int i = 0, at = 0; i < edge->rank; at += edge->rank - i++)
            edge->local[at] += 2 * r->posture * edge->lambda * edge->lambda;
    }
    if (corrector == 0)
        return;
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        const int nn = block->size * block->size;
        double Y[LARGEST];
        for (int i = 0; i < nn; i++)
            Y[i] = corrector < 0 ? block->X[i] + sigma_mu * block->dX[i] : sigma_mu * block->U[i] - block->T[i];
        for (int at = 0; at < block->used_count; at++)
            edge->local[block->used[at]] -= ulna_inner(nn, block->E + (size_t)block->used[at] * (size_t)nn, Y);
    }
}

/* dS of the steps of controls and parent's state. */
static void step_of(const ulna_relaxation *r, const ulna_relax_edge *edge, const ulna_relax_block *block, double *dS)
{
    const double *parent = r->step + (size_t)edge->parent * (size_t)r->states;
    const int nn = block->size * block->size;
    memset(dS, 0, (size_t)nn * sizeof *dS);
    for (int at = 0; at < block->used_count; at++) {
        const int v = block->used[at];
        const double x = v < edge->controls ? edge->u[v] : parent[v - edge->controls];
        const double *E = block->E + (size_t)v * (size_t)nn;
        for (int i = 0; i < nn; i++)
            dS[i] += x * E[i];
    }
}

/* dX = sigma mu U - X - (X dS U, symmetric) - T; the first and the last term only for the corrector */
void ulna_relax_dense_direction(const ulna_relaxation *r, ulna_relax_edge *edge, int corrector, double sigma_mu)
{
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        const int nn = block->size * block->size;
        step_of(r, edge, block, block->dS);
        product(block->size, block->X, block->dS, block->U, block->dX);
        for (int i = 0; i < nn; i++) {
            block->dX[i] = -block->X[i] - block->dX[i];
            if (corrector)
                block->dX[i] += sigma_mu * block->U[i] - block->T[i];
        }
    }
}

void ulna_relax_dense_refine(const ulna_relaxation *r, ulna_relax_edge *edge)
{
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        double more[LARGEST];
        step_of(r, edge, block, block->T);
        product(block->size, block->X, block->T, block->U, more);
        for (int i = 0; i < block->size * block->size; i++) {
            block->dS[i] += block->T[i];
            block->dX[i] -= more[i];
        }
    }
}

static int positive(int n, const double *A, const double *dA, double step)
{
    double sum[LARGEST], L[LARGEST];
    for (int i = 0; i < n * n; i++)
        sum[i] = A[i] + step * dA[i];
    return ulna_relax_cholesky(n, sum, L);
}

/* The longest step up to `step` for which A + step dA is positive definite, accurate to 1 in 1000. */
static double longest(int n, const double *A, const double *dA, double step)
{
    if (positive(n, A, dA, step))
        return step;
    double low = 0, high = step;
    for (int i = 0; i < 10; i++) {
        const double middle = 0.5 * (low + high);
        *(positive(n, A, dA, middle) ? &low : &high) = middle;
    }
    return low;
}

void ulna_relax_dense_steps(const ulna_relax_edge *edge, double *primal, double *dual)
{
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        *primal = longest(block->size, block->S, block->dS, *primal);
        *dual = longest(block->size, block->X, block->dX, *dual);
    }
}

/* Adds <dS, X>, <S, dX>, <dS, dX>. */
void ulna_relax_dense_products(const ulna_relax_edge *edge, double products[3])
{
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        const int nn = block->size * block->size;
        products[0] += ulna_inner(nn, block->dS, block->X);
        products[1] += ulna_inner(nn, block->S, block->dX);
        products[2] += ulna_inner(nn, block->dS, block->dX);
    }
}

/* T = dX dS U, symmetric: the second-order term that the predictor neglects. */
void ulna_relax_dense_correct(ulna_relax_edge *edge)
{
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        product(block->size, block->dX, block->dS, block->U, block->T);
    }
}

void ulna_relax_dense_advance(ulna_relax_edge *edge, double primal, double dual)
{
    for (int b = 0; b < edge->block_count; b++) {
        const ulna_relax_block *block = &edge->block[b];
        for (int i = 0; i < block->size * block->size; i++) {
            block->S[i] += primal * block->dS[i];
            block->X[i] += dual * block->dX[i];
        }
    }
}
