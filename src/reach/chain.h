/*
 * chain.h (private): the fast solve of one tip on a serial chain.
 *
 * It serves calls where it can and says so; what it does not serve takes the general solve (tree.c), which has the same contract.
 */
#ifndef ULNA_SRC_CHAIN_H
#define ULNA_SRC_CHAIN_H

#include "reach/reach.h"

typedef struct ulna_chain ulna_chain;

/* `result` receives NULL, with ULNA_OK, if the tips, joints or options are not for it. The reach is complete but for `chain`. */
ulna_status ulna_chain_create(const ulna_reach *reach, ulna_chain **result, ulna_error *error);
void ulna_chain_destroy(ulna_chain *chain); /* NULL is allowed */
/* Bytes of scratch that one work needs, aligned to ULNA_ALIGNMENT. */
size_t ulna_chain_scratch(const ulna_chain *chain);

/* Each of the next three returns 1 if it served the call: q and `result` are then complete, `reached` is certain. 0: the caller
 * takes the general solve. */
int ulna_chain_solve(const ulna_chain *chain, void *memory, const ulna_reach_query *query, double *q,
                     ulna_reach_result *result);
/* `count` problems: query->target and query->seed have `count` entries (seed count x nq), limits are those of the reach. served[i]
 * says which problems were served. */
void ulna_chain_solve_many(const ulna_chain *chain, void *memory, const ulna_reach_query *query, int count, double *q,
                           ulna_reach_result *results, unsigned char *served);
int ulna_chain_all(const ulna_chain *chain, void *memory, const ulna_reach_query *query, int capacity, double *q,
                   ulna_reach_result *results, int *count);

#endif
