/* The table of results, as CSV and as lines of JSON: a row for each take of the plan, in the order of names. */
#include <stdlib.h>
#include <string.h>

#include "cli/batch/batch.h"

static const char *const columns[] = {
    "take",          "subject",       "status",          "verdict",        "frames",
    "markers",       "rms_mm",        "rms_max_mm",      "lost",           "doubtful",
    "empty",         "jumps",         "missing_markers", "seconds",        "read_seconds",
    "solve_seconds", "write_seconds", "us_per_frame",    "rms_typical_mm", "placed_anew",
    "calibrated_on", "reason_codes",  "error",           "message",        "older_files",
    "files"};
enum { COLUMNS = sizeof columns / sizeof *columns };

void results_name_older(const char *output, json_t *row)
{
    const json_t *earlier = json_object_get(row, "earlier");
    if (earlier && take_files_are_there(output, earlier))
        json_object_set(row, "older_files", json_object_get(earlier, "files"));
    json_object_del(row, "earlier");
}

/* NULL: what the journal has of the take holds. */
static const char *why_missing(const char *output, const batch_take *take, const batch_setup *setup, const json_t *line)
{
    if (!line)
        return "";
    const int is_known = json_object_get(line, "plan") != NULL; /* not by earlier versions */
    if (is_known && (!take_is_of_plan(take, line) || (setup && !take_is_of_setup(setup, line))))
        return "solved with other files or options";
    if (row_is(line, "done") && !take_files_are_there(output, line))
        return "its files are not there any more, or were changed";
    return NULL;
}

static json_t *row_of(const char *output, const batch_take *take, const batch_setup *setup, json_t *line)
{
    const char *missing = why_missing(output, take, setup, line);
    const int is_line = !take->problem && !missing;
    json_t *row = json_object();
    put_text(row, "take", take->name);
    put_text(row, "subject", take->subject);
    if (is_line)
        json_object_update(row, line);
    else {
        json_object_set(row, "earlier", journal_finished(line));
        put_text(row, "status", take->problem ? "failed" : "missing");
        if (take->problem)
            put_text(row, "error", take->error);
        if (take->problem || *missing)
            put_text(row, "message", take->problem ? take->problem : missing);
    }
    put_text(row, "subject", take->subject); /* now, not when it was solved */
    results_name_older(output, row);
    return row;
}

json_t *results_rows(const char *output, const batch_plan *plan, const batch_setup *setup, const json_t *lines)
{
    json_t *rows = json_array();
    for (int i = 0; i < plan->count; i++)
        json_array_append_new(rows, row_of(output, &plan->takes[i], setup, journal_line(lines, &plan->takes[i])));
    return rows;
}

/* Status and verdict, the worst first. */
static const char *const states[][2] = {{"failed", "failed"},
                                        {"missing", "not yet solved"},
                                        {"reject", "not to be used"},
                                        {"look", "to look at"},
                                        {"trust", "can be trusted"}};
enum { MISSING = 1, STATES = sizeof states / sizeof *states };

int results_rank(const json_t *row)
{
    const char *key = row_is(row, "done") ? "verdict" : "status";
    int rank = 0;
    while (rank < STATES && !row_has(row, key, states[rank][0]))
        rank++;
    return rank < STATES ? rank : MISSING; /* no word that we write */
}

const char *results_state(const json_t *row)
{
    return states[results_rank(row)][0];
}

const char *results_words(const json_t *row)
{
    return states[results_rank(row)][1];
}

void results_count(const json_t *rows, json_t *object)
{
    static const char *const counted[][2] = {{"status", "done"},   {"status", "failed"}, {"status", "missing"},
                                             {"verdict", "trust"}, {"verdict", "look"},  {"verdict", "reject"}};
    size_t i;
    json_t *row;
    double seconds = 0;
    long long frames = 0;
    put_count(object, "takes", (long long)json_array_size(rows));
    for (size_t k = 0; k < sizeof counted / sizeof *counted; k++) {
        long long count = 0;
        json_array_foreach(rows, i, row)
        {
            count += row_has(row, counted[k][0], counted[k][1]);
        }
        put_count(object, counted[k][1], count);
    }
    json_array_foreach(rows, i, row)
    {
        seconds += json_number_value(json_object_get(row, "seconds"));
        frames += json_integer_value(json_object_get(row, "frames"));
    }
    put_count(object, "frames", frames);
    put_number(object, "seconds", seconds);
}

/* Has a list named it before item `end`? Two reasons of a verdict may have the same code. */
static int is_named_before(const json_t *list, size_t end, const json_t *word)
{
    size_t i = 0;
    while (i < end && !json_equal(json_array_get(list, i), word))
        i++;
    return i < end;
}

/* A number, a text, yes or no, a list of words, or the names of files. */
static void put_cell(markup *text, const json_t *value, int is_last)
{
    if (json_is_string(value)) {
        table_put_field(text, json_string_value(value), is_last);
        return;
    }
    char *dumped = json_is_number(value) || json_is_boolean(value)
                       ? json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6))
                       : NULL;
    size_t i;
    json_t *file;
    json_array_foreach(value, i, file)
    {
        if (is_named_before(value, i, file))
            continue;
        const json_t *word = json_is_object(file) ? json_object_get(file, "file") : file;
        const char *name = json_string_value(word);
        markup_put(text, i ? " " : name && table_is_formula(name) ? "\"'" : "\"");
        for (const char *at = name; at && *at; at++) {
            const char one[2] = {*at, 0};
            markup_put(text, *at == '"' ? "\"\"" : one);
        }
    }
    markup_put(text, dumped ? dumped : json_array_size(value) ? "\"" : "");
    markup_put(text, is_last ? "\n" : ",");
    free(dumped);
}

static ulna_status write_csv(const char *path, const json_t *rows, ulna_error *error)
{
    markup text;
    size_t i;
    json_t *row;
    markup_init(&text);
    for (int k = 0; k < COLUMNS; k++)
        table_put_field(&text, columns[k], k + 1 == COLUMNS);
    json_array_foreach(rows, i, row)
    {
        for (int k = 0; k < COLUMNS; k++)
            put_cell(&text, json_object_get(row, columns[k]), k + 1 == COLUMNS);
    }
    ulna_status status = markup_write(&text, path, error);
    markup_release(&text);
    return status;
}

static ulna_status write_lines(const char *path, const json_t *rows, ulna_error *error)
{
    markup text;
    size_t i;
    json_t *row;
    markup_init(&text);
    json_array_foreach(rows, i, row)
    {
        char *line = json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(12));
        if (!line)
            text.status = ULNA_ERR_MEMORY;
        markup_put(&text, line ? line : "");
        markup_put(&text, "\n");
        free(line);
    }
    ulna_status status = markup_write(&text, path, error);
    markup_release(&text);
    return status;
}

ulna_status results_write(const char *output, const json_t *rows, ulna_error *error)
{
    char *table = folder_join(output, "results.csv"), *lines = folder_join(output, "results.jsonl");
    ulna_status status = table && lines ? write_csv(table, rows, error) : cli_no_memory(error);
    if (status == ULNA_OK)
        status = write_lines(lines, rows, error);
    free(table);
    free(lines);
    return status;
}
