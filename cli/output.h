/*
 * output.h: how commands show what they found: facts, tables, progress.
 *
 * A fact is stored once and shown twice: as JSON for programs, as lines of text for people.
 *
 * A command puts its numbers into the object of --json, with the units that JSON shows. The lines for people are
 * templates that quote that object, so no number is computed, scaled or named twice:
 *
 *   json_t *o = json_object();
 *   put_count(o, "starts", result.starts);
 *   put_number(o, "cost", result.f);
 *   put_number(put_object(o, "rms_mm"), "mean", 1e3 * result.rms);
 *   put_flag(o, "proven", result.proven);
 *
 *   fact_line(tool, o, "cost", "{cost%.6g} m²[, rms {rms_mm.mean%.2f} mm]");
 *   fact_line(tool, o, "effort", "{starts} start{starts:/s}, [{proven?}proven|not proven]");
 *   cli_json_print(tool, o);
 *
 * prints "  cost      1.25e-05 m², rms 1.20 mm" and "  effort    3 starts, proven", or with --json only the object.
 *
 * In a template
 *   {key}        is the value: a text, a whole number, or another number as %.6g. "a.b" is key b of object a, "a.0" the
 *                first of list a. A list is shown with commas; {list.key} shows this key of its objects
 *   {key%.2f}    is the number in that format (d, f, e or g); {key%mm} is a length in mm, in readable units: "1.2 m";
 *                {key%us} is a time in microseconds, likewise: "6.6 ms"
 *   {key:y/ies}  is the first word if the number is 1, else the second
 *   {key?}       prints nothing, and requires that the value is true, not zero, not empty
 *   [text|else]  is the text if every value that it quotes is there, else what follows the bar (or nothing); there may
 *                be several bars, and no brackets in brackets
 * A value is there if its key is in the object and is not null. A line that quotes a value that is not there is left
 * out, and so is an empty one. Where the terminal shows only ASCII, "°", "µ", "²" and "±" are spelt out.
 */
#ifndef ULNA_CLI_OUTPUT_H
#define ULNA_CLI_OUTPUT_H

#include "cli/cli.h"

/* ---- facts: storing ----------------------------------------------------------------------------------------------- */

void put_number(json_t *object, const char *key, double value); /* null if it is not finite */
void put_numbers(json_t *object, const char *key, const double *values, int count);
void put_count(json_t *object, const char *key, long long value);
void put_flag(json_t *object, const char *key, int is_true);
void put_text(json_t *object, const char *key, const char *text); /* null for NULL */
json_t *put_object(json_t *object, const char *key);              /* a new one inside, which belongs to it */
json_t *put_list(json_t *object, const char *key);
json_t *put_row(json_t *list); /* a new object at the end of a list */

enum { FACT_COLUMN = 12 }; /* where the text of a line begins */

/* ---- facts: showing ----------------------------------------------------------------------------------------------- */

/* A line of a summary, "  label     text", wrapped under itself; without a label (NULL) the text alone, and
 * the end of the line. */
void fact_line(const cli *tool, const json_t *object, const char *label, const char *text);
/* The same for a text that quotes nothing; printf's format. */
void fact_text(const cli *tool, const char *label, const char *format, ...) ULNA_PRINTF(3, 4);
/* A table with a line for each object of a list. Columns end with a row without a title. */
typedef struct fact_column {
    const char *title; /* a template of the first object; a column whose title is left out is left out */
    char align;        /* l or r */
    const char *text;  /* a template; a cell that quotes what is not there is "-" */
} fact_column;
/* In an object with the text "spanning", that takes the place of all cells but the first. One with "is_strong" true is
 * shown in bold. */
void fact_table(const cli *tool, int indent, const json_t *list, const fact_column *columns);

/* What a template says of an object: a text to free, NULL if it is left out. */
char *fact_fill(const cli *tool, const json_t *object, const char *text);

/* A text with words wrapped at the terminal's width. The first line begins at `column`, further ones at
 * `indent`. Ends the line. */
void table_wrap(const cli *tool, int strong, int indent, int column, const char *text);

/* ---- progress ---------------------------------------------------------------------------------------------------- */

/* A bar on standard error while something takes long. Nothing unless that is a terminal. */
typedef struct progress {
    int is_shown; /* wanted, and there is a terminal */
    int ascii;
    int columns; /* of the terminal */
    int is_drawn;
    double begun, drawn; /* seconds */
} progress;

double cli_seconds(void); /* on a clock that only goes forward */
void progress_begin(progress *bar, const cli *tool);
/* `part`: 0 .. 1; `what` is being done: a few words. Draws at most ten times a second, and not in the first third. */
void progress_show(progress *bar, double part, const char *what);
/* Another part begins: its time counts from here. */
void progress_restart(progress *bar);
/* Since the beginning of the bar, or of this part; never 0. */
double progress_seconds(const progress *bar);
/* Takes the bar away: before anything else is said. */
void progress_end(progress *bar);

/* ---- progress of unknown length -------------------------------------------------------------------------- */

/* "reading take.trc, 4 s", drawn by a thread of its own, from the first second on. */
typedef struct progress_wait progress_wait;

/* NULL if there is no terminal, or no thread; then nothing is shown. `what` is copied. */
progress_wait *progress_wait_begin(const cli *tool, const char *what, const char *path);
void progress_wait_end(progress_wait *wait);

#endif
