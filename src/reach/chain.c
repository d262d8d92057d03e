/* Which problems the fast solve of chains serves: none yet, so every call takes the general solve. */
#include "reach/chain.h"

ulna_status ulna_chain_create(const ulna_reach *reach, ulna_chain **chain, ulna_error *error)
{
    (void)reach;
    (void)error;
    *chain = NULL;
    return ULNA_OK;
}

void ulna_chain_destroy(ulna_chain *chain)
{
    (void)chain;
}

size_t ulna_chain_scratch(const ulna_chain *chain)
{
    (void)chain;
    return 0;
}

int ulna_chain_solve(const ulna_chain *chain, void *scratch, const ulna_reach_query *query, double *q,
                     ulna_reach_result *result)
{
    (void)chain, (void)scratch, (void)query, (void)q, (void)result;
    return 0;
}

void ulna_chain_solve_many(const ulna_chain *chain, void *scratch, const ulna_reach_query *query, int count, double *q,
                           ulna_reach_result *results, unsigned char *served)
{
    (void)chain, (void)scratch, (void)query, (void)q, (void)results;
    for (int i = 0; i < count; i++)
        served[i] = 0;
}

int ulna_chain_all(const ulna_chain *chain, void *scratch, const ulna_reach_query *query, int capacity, double *q,
                   ulna_reach_result *results, int *count)
{
    (void)chain, (void)scratch, (void)query, (void)capacity, (void)q, (void)results, (void)count;
    return 0;
}
