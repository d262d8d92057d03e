/*
 * Answers as a table, a row for each: a CSV file, or a file of JSON objects, one a line. Joint values are in radians and metres, numbers
 * have the digits that read back to the same bits.
 */
#define _POSIX_C_SOURCE 200809L /* strdup */

#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/markup.h"
#include "src/formats/text/text_writer.h"

/* ---- texts --------------------------------------------------------------------------------------------------------------------- */

reach_table reach_table_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ".csv") == 0     ? REACH_TABLE_CSV
           : dot && strcasecmp(dot, ".jsonl") == 0 ? REACH_TABLE_JSONL
                                                   : REACH_TABLE_NONE;
}

static char *csv_text(const char *text)
{
    markup cell;
    markup_init(&cell);
    markup_put_cell(&cell, "", text);
    char *copy = cell.status == ULNA_OK ? strdup(cell.text.data ? cell.text.data : "") : NULL;
    markup_release(&cell);
    return copy;
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

/* Columns between the number of a row and its joint values. */
enum { TIME, STATUS, POSITION, ROTATION, DISTANCE, JUMPED, WORST_TIP, ERROR, NOT_KEPT, COLUMNS };
static const char *const columns[COLUMNS] = {
    "time_s", "status",    "position_error_m", "rotation_error_rad", "distance",
    "jumped", "worst_tip", "constraint_error", "constraint_not_kept"};

static int is_in(const reach_answers *a, int column)
{
    return column == TIME                          ? a->has_time
           : column == WORST_TIP                   ? a->job->tip_count > 1
           : column == ERROR || column == NOT_KEPT ? a->job->options.constraint_count > 0
                                                   : 1;
}

/* ---- one row ------------------------------------------------------------------------------------------------------------------- */

const char *reach_status_word(const ulna_reach_result *result, int worst_constraint)
{
    return worst_constraint != ULNA_NONE ? "constraint not kept"
           : result->reached             ? "reached"
           : result->out_of_time         ? "out of time"
                                         : "closest";
}

static char *put_string(char *to, const char *text)
{
    size_t length = strlen(text);
    memcpy(to, text, length);
    return to + length;
}

/* The error of a constraint may have no value. Zero has no sign. */
static char *put_real(char *to, const reach_answers *a, double value)
{
    return isfinite(value) ? to + ulna_format_number(value + 0.0, to)
                           : put_string(to, a->table == REACH_TABLE_CSV ? "" : "null");
}

/* The value of a column as it is in the table. */
static char *put_cell(char *to, const reach_answers *a, int column, const reach_answer *answer)
{
    const ulna_reach_result *r = &answer->result;
    const int is_csv = a->table == REACH_TABLE_CSV;
    switch (column) {
    case TIME:
        return put_real(to, a, answer->time);
    case STATUS:
        to = put_string(to, is_csv ? "" : "\"");
        to = put_string(to, reach_status_word(r, answer->worst_constraint));
        return put_string(to, is_csv ? "" : "\"");
    case POSITION:
        return put_real(to, a, r->position_error);
    case ROTATION:
        return put_real(to, a, r->rotation_error);
    case DISTANCE:
        return put_real(to, a, r->distance);
    case JUMPED:
        return put_string(to, is_csv ? (r->jumped ? "1" : "0") : (r->jumped ? "true" : "false"));
    case WORST_TIP:
        return put_string(to, a->tips[r->worst]);
    case ERROR:
        return put_real(to, a, answer->constraint_error);
    default:
        return put_string(to, answer->worst_constraint != ULNA_NONE ? a->constraints[answer->worst_constraint]
                              : is_csv                              ? ""
                                                                    : "null");
    }
}

size_t reach_answer_text(const reach_answers *a, const reach_answer *answer, char *text)
{
    char *to = text;
    const int is_csv = a->table == REACH_TABLE_CSV, nq = a->job->nq;
    if (!is_csv)
        to += snprintf(to, 32, "{\"%s\": ", kind_names[a->kind]);
    to += snprintf(to, 32, "%d", answer->number);
    for (int i = 0; i < COLUMNS; i++) {
        if (!is_in(a, i))
            continue;
        to = is_csv ? put_string(to, ",") : to + snprintf(to, 64, ", \"%s\": ", columns[i]);
        to = put_cell(to, a, i, answer);
    }
    if (!is_csv)
        to = put_string(to, ", \"q\": [");
    for (int c = 0; c < nq; c++) {
        to = put_string(to, is_csv ? "," : c ? ", " : "");
        to = put_real(to, a, answer->q[c]);
    }
    if (!is_csv) {
        to = put_string(to, "], \"joints\": {");
        for (int c = 0; c < nq; c++) {
            to = put_string(to, c ? ", " : "");
            to = put_string(to, a->names[c]);
            to = put_real(put_string(to, ": "), a, answer->q[c]);
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
    for (int i = 0; i < COLUMNS && status == ULNA_OK; i++)
        if (is_in(a, i)) {
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
        a->status = cli_with_memory(write_heading(a));
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
