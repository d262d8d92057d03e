/* Constraints of a reach: how far an answer is from keeping each of them, and which are not kept. */
#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>

/* A problem of the constraints alone, since goals say nothing about them. */
ulna_status reach_keep_prepare(reach_job *job, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    int count = job->options.constraint_count;
    if (count == 0)
        return ULNA_OK;
    status = ulna_problem_create(job->model, NULL, &job->keeping, error);
    for (int i = 0; i < count && status == ULNA_OK; i++)
        status = ulna_problem_add_constraint(job->keeping, &job->options.constraints[i],
                                             i == 0 ? &job->first_kept : NULL, error);
    if (status == ULNA_OK)
        status = ulna_problem_ready(job->keeping, error);
    return status == ULNA_OK ? reach_keep_work(job, &job->keeper, error) : status;
}

ulna_status reach_keep_work(const reach_job *job, ulna_work **work, ulna_error *error)
{
    *work = NULL;
    return job->keeping ? ulna_work_create(job->keeping, NULL, work, error) : ULNA_OK;
}

int reach_is_kept(double error)
{
    return error <= ULNA_REACH_KEPT;
}

int reach_keep_measure(const reach_job *job, ulna_work *work, const double *q, double *errors, double *largest)
{
    int worst = ULNA_NONE;
    double f;
    *largest = 0;
    if (!work)
        return ULNA_NONE;
    ulna_status status = ulna_work_evaluate(work, q, &f);
    for (int i = 0; i < job->options.constraint_count; i++) {
        double error = (double)INFINITY;
        if (status == ULNA_OK)
            (void)ulna_work_constraint_error(work, job->first_kept + i, &error);
        if (errors)
            errors[i] = error;
        if (!reach_is_kept(error) && (worst == ULNA_NONE || !(error <= *largest)))
            worst = i;
        *largest = error <= *largest ? *largest : error;
    }
    return worst;
}

reach_answer reach_judge(const reach_job *job, ulna_work *keeper, const double *q, const ulna_reach_result *result,
                         int number, double *errors)
{
    reach_answer answer = {.number = number, .q = q, .result = *result};
    answer.worst_constraint = reach_keep_measure(job, keeper, q, errors, &answer.constraint_error);
    return answer;
}

static const char *unit_of(ulna_constraint_type type)
{
    return type == ULNA_KEEP_LINEAR ? ""
           : type == ULNA_KEEP_ORIENTATION || type == ULNA_KEEP_DIRECTION || type == ULNA_KEEP_AIM ||
                   type == ULNA_KEEP_ANGLE
               ? "rad"
               : "m";
}

/* `errors`: the largest of all answers; `missed`: in how many of them each was not kept, or NULL for a single answer. */
void reach_keep_put(json_t *object, const reach_job *job, const double *errors, const int *missed)
{
    json_t *list = job->keeping ? put_list(object, "constraints") : NULL;
    int lost = 0;
    for (int i = 0; list && i < job->options.constraint_count; i++) {
        json_t *row = put_row(list);
        put_text(row, "name", job->constraints.own[i].name);
        put_text(row, "type", ulna_constraint_type_name(job->options.constraints[i].type));
        put_number(row, "error", errors[i]);
        put_text(row, "unit", unit_of(job->options.constraints[i].type));
        put_flag(row, "kept", reach_is_kept(errors[i]));
        if (missed)
            put_count(row, "not_kept", missed[i]);
        lost += !reach_is_kept(errors[i]);
    }
    if (list)
        put_count(object, "constraints_not_kept", lost);
}

/* A line if all are kept, else a line for each that is not. */
void reach_keep_print(const cli *tool, const json_t *object)
{
    json_t *list = json_object_get(object, "constraints"), *row;
    size_t i;
    if (list && json_integer_value(json_object_get(object, "constraints_not_kept")) == 0)
        fact_text(tool, "kept", "%zu constraint%s", json_array_size(list), json_array_size(list) == 1 ? "" : "s");
    json_array_foreach(list, i, row)
    {
        if (!json_is_true(json_object_get(row, "kept")))
            fact_line(tool, row, "NOT kept",
                      "constraint {name} ({type}): {error%.3g}[ {unit?}{unit}] off[, not kept in {not_kept}]");
    }
}
