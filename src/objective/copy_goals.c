/* Goals and weights from one problem into a copy of it, without allocating. */
#include "objective/problem.h"

#include <string.h>

ulna_status ulna_problem_copy_goals(const ulna_problem *from, ulna_problem *to)
{
    if (from->term_count > to->term_count || from->model != to->model)
        return ULNA_ERR_STATE;
    to->length = from->length;
    to->changes++;
    for (size_t i = 0; i < from->term_count; i++) {
        const ulna_term *source = &from->term[i];
        ulna_term *term = &to->term[i];
        if (source->type != term->type || source->value_count != term->value_count)
            return ULNA_ERR_STATE;
        double *values = term->values;
        int slot = term->slot;
        *term = *source;
        term->values = values;
        term->slot = slot;
        if (source->value_count)
            memcpy(values, source->values, source->value_count * sizeof *values);
        ulna_term_refresh(to, term);
    }
    return ULNA_OK;
}
