/*
 * Answers as a table, a row for each: a CSV file, or a file of JSON objects, one a line. Joint values are in radians and metres, numbers
 * have the digits that read back to the same bits.
 */
#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- texts --------------------------------------------------------------------------------------------------------------------- */

reach_table reach_table_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".csv") == 0     ? REACH_TABLE_CSV
           : dot && strcasecmp(dot, ".jsonl") == 0 ? REACH_TABLE_JSONL
                                                   : REACH_TABLE_NONE;
}

/* In quotes where a cell needs them (RFC 4180). */
static char *csv_text(const char *text)
{
    char *cell = malloc(2 * strlen(text) + 3), *to = cell;
    int is_quoted = strpbrk(text, ",;\"\r\n") != NULL || *text == ' ' || *text == '#';
    if (!cell)
        return NULL;
    if (is_quoted)
        *to++ = '"';
    for (; *text; text++) {
        if (*text == '"')
            *to++ = '"';
        *to++ = *text;
    }
    if (is_quoted)
        *to++ = '"';
    *to = 0;
    return cell;
}

static char *json_text(const char *text)
{
    json_t *value = cli_json_text(text);
    char *line = json_dumps(value, JSON_ENCODE_ANY);
    json_decref(value);
    return line;
}

static char *table_text(reach_table table, const char *text)
{
    return table == REACH_TABLE_CSV ? csv_text(text) : json_text(text);
}

/* ---- names -------------------------------------------------------------------------------------------------------------------- */

/* As motions call it: "elbow", "hip.Rz", "ball.qx"; in CSV with its unit, "elbow_rad". */
static void name_coordinate(const reach_answers *a, int coordinate, char *text, size_t size)
{
    static const char *const parts[] = {"qx", "qy", "qz", "qw"};
    const ulna_model *model = a->job->model;
    for (int j = 0; j < ulna_model_dof_count(model); j++)
        if (ulna_model_dof_coordinate(model, j) == coordinate) {
            ulna_model_dof_label(model, j, text, size);
            size_t length = strlen(text);
            if (a->table == REACH_TABLE_CSV)
                snprintf(text + length, size - length, ulna_model_dof_is_translation(model, j) ? "_m" : "_rad");
            return;
        }
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        int first, count = ulna_model_body_coordinates(model, b, &first);
        if (coordinate >= first && coordinate < first + count)
            snprintf(text, size, "%s.%s", ulna_model_body_name(model, b), parts[(coordinate - first - count + 4) & 3]);
    }
}

static const char *const kind_names[] = {"goal", "sample", "solution"};

static int is_in(const reach_answers *a, const char *column)
{
    return strcmp(column, "time_s") == 0            ? a->has_time
           : strcmp(column, "worst_tip") == 0       ? a->job->tip_count > 1
           : strncmp(column, "constraint", 10) == 0 ? a->job->options.constraint_count > 0
                                                    : 1;
}

static const char *const columns[] = {"time_s", "status",    "position_error_m", "rotation_error_rad",  "distance",
                                      "jumped", "worst_tip", "constraint_error", "constraint_not_kept", NULL};

/* ---- one row ------------------------------------------------------------------------------------------------------------------- */

const char *reach_status_word(const ulna_reach_result *result, int worst_constraint)
{
    return worst_constraint != ULNA_NONE ? "constraint not kept"
           : result->reached             ? "reached"
           : result->out_of_time         ? "out of time"
                                         : "closest";
}

/* The fewest digits that read back to the same number. */
static char *put_real(char *to, double value)
{
    int length = 0;
    for (int digits = 15; digits <= 17; digits++) {
        length = snprintf(to, 32, "%.*g", digits, value + 0.0); /* no "-0" */
        if (digits == 17 || strtod(to, NULL) == value)
            break;
    }
    return to + length;
}

static char *put_string(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

/* The value of a column as it is in the table. */
static char *put_cell(char *to, const reach_answers *a, const char *column, const reach_answer *answer)
{
    const ulna_reach_result *r = &answer->result;
    const int kept = answer->worst_constraint == ULNA_NONE, is_csv = a->table == REACH_TABLE_CSV;
    if (strcmp(column, "time_s") == 0)
        return put_real(to, answer->time);
    if (strcmp(column, "status") == 0) {
        to = put_string(to, is_csv ? "" : "\"");
        to = put_string(to, reach_status_word(r, answer->worst_constraint));
        return put_string(to, is_csv ? "" : "\"");
    }
    if (strcmp(column, "position_error_m") == 0)
        return put_real(to, r->position_error);
    if (strcmp(column, "rotation_error_rad") == 0)
        return put_real(to, r->rotation_error);
    if (strcmp(column, "distance") == 0)
        return put_real(to, r->distance);
    if (strcmp(column, "jumped") == 0)
        return put_string(to, is_csv ? (r->jumped ? "1" : "0") : (r->jumped ? "true" : "false"));
    if (strcmp(column, "worst_tip") == 0)
        return put_string(to, a->tips[r->worst]);
    if (strcmp(column, "constraint_error") == 0)
        return put_real(to, answer->constraint_error);
    return put_string(to, !kept ? a->constraints[answer->worst_constraint] : is_csv ? "" : "null");
}

size_t reach_answer_text(const reach_answers *a, const reach_answer *answer, char *text)
{
    char *to = text;
    const int is_csv = a->table == REACH_TABLE_CSV, nq = a->job->nq;
    if (!is_csv)
        to += snprintf(to, 32, "{\"%s\": ", kind_names[a->kind]);
    to += snprintf(to, 32, "%d", answer->number);
    for (int i = 0; columns[i]; i++) {
        if (!is_in(a, columns[i]))
            continue;
        to = is_csv ? put_string(to, ",") : to + snprintf(to, 64, ", \"%s\": ", columns[i]);
        to = put_cell(to, a, columns[i], answer);
    }
    if (!is_csv)
        to = put_string(to, ", \"q\": [");
    for (int c = 0; c < nq; c++) {
        to = put_string(to, is_csv ? "," : c ? ", " : "");
        to = put_real(to, answer->q[c]);
    }
    if (!is_csv) {
        to = put_string(to, "], \"joints\": {");
        for (int c = 0; c < nq; c++) {
            to = put_string(to, c ? ", " : "");
            to = put_string(to, a->names[c]);
            to = put_real(put_string(to, ": "), answer->q[c]);
        }
        to = put_string(to, "}}");
    }
    to = put_string(to, "\n");
    return (size_t)(to - text);
}

/* ---- the table ------------------------------------------------------------------------------------------------------------------ */

static char **make_texts(int count)
{
    return calloc((size_t)count + 1, sizeof(char *));
}

static void release_texts(char **texts)
{
    for (char **at = texts; at && *at; at++)
        free(*at);
    free(texts);
}

/* Names as the table writes them, and room for a row. */
static ulna_status name_columns(reach_answers *a)
{
    const reach_job *job = a->job;
    int constraints = job->options.constraint_count, is_made = 1;
    size_t tip = 4, constraint = 4;
    a->names = make_texts(job->nq);
    a->tips = make_texts(job->tip_count);
    a->constraints = make_texts(constraints);
    if (!a->names || !a->tips || !a->constraints)
        return ULNA_ERR_MEMORY;
    a->row_bytes = 512;
    for (int c = 0; c < job->nq && is_made; c++) {
        char label[300] = "";
        name_coordinate(a, c, label, sizeof label);
        a->names[c] = table_text(a->table, label);
        is_made = a->names[c] != NULL;
        a->row_bytes += is_made ? 64 + strlen(a->names[c]) : 0;
    }
    for (int t = 0; t < job->tip_count && is_made; t++) {
        a->tips[t] = table_text(a->table, job->tip[t].name);
        is_made = a->tips[t] != NULL;
        tip = is_made && strlen(a->tips[t]) > tip ? strlen(a->tips[t]) : tip;
    }
    for (int i = 0; i < constraints && is_made; i++) {
        a->constraints[i] = table_text(a->table, job->constraints.own[i].name);
        is_made = a->constraints[i] != NULL;
        constraint = is_made && strlen(a->constraints[i]) > constraint ? strlen(a->constraints[i]) : constraint;
    }
    a->row_bytes += tip + constraint;
    return is_made ? ULNA_OK : ULNA_ERR_MEMORY;
}

static ulna_status write_heading(reach_answers *a)
{
    ulna_text line = ulna_text_empty(NULL);
    ulna_status status = ulna_text_append(&line, kind_names[a->kind], strlen(kind_names[a->kind]));
    for (int i = 0; columns[i] && status == ULNA_OK; i++)
        if (is_in(a, columns[i])) {
            status = ulna_text_append(&line, ",", 1);
            if (status == ULNA_OK)
                status = ulna_text_append(&line, columns[i], strlen(columns[i]));
        }
    for (int c = 0; c < a->job->nq && status == ULNA_OK; c++) {
        status = ulna_text_append(&line, ",", 1);
        if (status == ULNA_OK)
            status = ulna_text_append(&line, a->names[c], strlen(a->names[c]));
    }
    if (status == ULNA_OK)
        status = ulna_text_append(&line, "\n", 1);
    if (status == ULNA_OK)
        status = reach_answers_write(a, line.data, line.length);
    ulna_text_release(&line);
    return status;
}

ulna_status reach_answers_open(reach_answers *a, const reach_job *job, const char *path, reach_answer_kind kind,
                               int has_time, ulna_error *error)
{
    *a = (reach_answers){.job = job, .path = path, .kind = kind, .has_time = has_time};
    a->table = reach_table_of(path);
    a->status = name_columns(a);
    if (a->status != ULNA_OK)
        return cli_no_memory(error);
    a->is_counted = cli_writing_begin(path);
    a->status = ulna_output_open(path, NULL, &a->output, error);
    if (a->status == ULNA_OK && a->table == REACH_TABLE_CSV)
        write_heading(a);
    return a->status;
}

ulna_status reach_answers_write(reach_answers *a, const char *text, size_t bytes)
{
    ulna_sink sink = ulna_output_sink(a->output);
    if (a->status == ULNA_OK)
        a->status = sink.write(sink.context, text, bytes);
    return a->status;
}

ulna_status reach_answers_close(reach_answers *a, int is_kept, ulna_error *error)
{
    ulna_status status = a->status != ULNA_OK ? a->status : is_kept ? ULNA_OK : ULNA_ERR_STATE;
    if (a->output)
        status = ulna_output_commit(a->output, status, error);
    a->output = NULL;
    release_texts(a->names);
    release_texts(a->tips);
    release_texts(a->constraints);
    a->names = a->tips = a->constraints = NULL;
    return status;
}

void reach_answers_end(reach_answers *a)
{
    if (a->is_counted)
        cli_writing_end(1);
    a->is_counted = 0;
}
