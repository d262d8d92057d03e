/*
 * Limits from a table, for `ulna solve --bounds`:
 *
 *     dof,lower,upper
 *     left_thigh.Rx,-30,120
 *     left_shank,0,
 *
 * The heading, in the first line, tells such a file from a motion. Degrees and metres, by the names that `ulna info --values`
 * has; an empty number is no limit. Others keep the skeleton's.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fields.h"
#include "cli/solve/solve.h"

#define DEGREE (3.14159265358979323846 / 180)
#define SEPARATORS ",;\t"
enum { FIELDS = 3 };

int solve_is_limit_table(const char *text)
{
    static const char heading[] = "dof,lower,upper";
    for (const char *at = heading; *at; at++, text++)
        if (*at == ',' ? !*text || !strchr(SEPARATORS, *text) : *text != *at)
            return 0;
    return !*text || isspace((unsigned char)*text);
}

static int find_dof(const ulna_model *model, const char *name)
{
    char label[300];
    for (int d = 0; d < ulna_model_dof_count(model); d++)
        if (ulna_model_dof_label(model, d, label, sizeof label) && strcmp(label, name) == 0)
            return d;
    return ULNA_NONE;
}

/* 0 if it is no number. */
static int read_limit(const char *text, double empty, double unit, double *value)
{
    char *end;
    *value = empty;
    if (!*text)
        return 1;
    *value = strtod(text, &end) * unit;
    return !*end && !isnan(*value);
}

static ulna_status read_row(const ulna_model *model, char *fields[FIELDS], double *lower, double *upper,
                            ulna_error *error)
{
    int d = find_dof(model, fields[0]);
    if (d == ULNA_NONE)
        return cli_fail(error, ULNA_ERR_PARSE,
                        "the skeleton has no degree of freedom '%.80s'; `ulna info --values` lists them", fields[0]);
    double unit = ulna_model_dof_is_translation(model, d) ? 1 : DEGREE;
    if (!read_limit(fields[1], -INFINITY, unit, &lower[d]) || !read_limit(fields[2], INFINITY, unit, &upper[d]))
        return cli_fail(error, ULNA_ERR_PARSE, "the limits of '%.80s' are no numbers", fields[0]);
    if (lower[d] > upper[d])
        return cli_fail(error, ULNA_ERR_PARSE, "the limits of '%.80s' are the wrong way round", fields[0]);
    return ULNA_OK;
}

ulna_status solve_read_limits(solve_job *job, char *text, ulna_error *error)
{
    int nv = ulna_model_dof_count(job->model), number = 0;
    char *fields[FIELDS], *line;
    ulna_status status = ULNA_OK;
    job->limits = calloc(2 * (size_t)nv + 1, sizeof *job->limits);
    if (!job->limits)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    memcpy(job->limits, ulna_model_lower(job->model), (size_t)nv * sizeof *job->limits);
    memcpy(job->limits + nv, ulna_model_upper(job->model), (size_t)nv * sizeof *job->limits);
    fields_line(&text, &number); /* the heading */
    while (status == ULNA_OK && (line = fields_line(&text, &number)) != NULL) {
        status = fields_split(line, SEPARATORS, fields, FIELDS) == FIELDS
                     ? read_row(job->model, fields, job->limits, job->limits + nv, error)
                     : cli_fail(error, ULNA_ERR_PARSE, "a line has a name and two limits: dof,lower,upper");
        if (status && error)
            error->line = number;
    }
    return status;
}
