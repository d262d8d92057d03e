/* support.h: timing, reporting and recorded data, shared by the benchmarks. */
#ifndef ULNA_BENCH_H
#define ULNA_BENCH_H

#include <stdio.h>

#include "ulna/formats.h"

/* CPU seconds of this thread: other processes on the machine disturb it least. */
double bench_now(void);

/* Microseconds of one call, the best of `batches` batches of `calls` calls: noise only ever adds. */
typedef void (*bench_body)(void *context);
double bench_us(bench_body body, void *context, int batches, int calls);

/* Instructions of the program `self` with these arguments, counted by valgrind (callgrind), or a negative number. */
double bench_count_instructions(const char *self, const char *arguments);

/* A report: named numbers with a note each, printed as a table and written as JSON if a path is given. */
typedef struct bench_report {
    struct {
        char name[64];
        char note[96];
        double value;
    } row[192];
    int count;
} bench_report;

void bench_add(bench_report *report, const char *name, double value, const char *note);
/* Returns 0, or 1 if the file could not be written. */
int bench_finish(const bench_report *report, const char *title, const char *json_path);

/* A line of the JSON file; null in place of what is no number. */
void bench_put_number(FILE *file, const char *name, double value, const char *end);

/* The value of `--json PATH`, or NULL. Other arguments end the program with a usage line. */
const char *bench_json_path(int count, char **arguments);

/* What the figures were measured on, where that is not always the same: a line above the table, "data" in the JSON file. */
void bench_data_say(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *bench_data_text(void); /* "" if nothing was said */

/* The file `name` in $ULNA_DATA or ../shared/data, or a path from / on; what is in it, empty if it cannot be read. */
void bench_data_path(char *path, size_t size, const char *name);
ulna_content bench_load(const char *name, const ulna_read_options *options);

/* A take; `reference` may be NULL. */
typedef struct bench_take {
    const char *name, *skeleton, *markers, *reference;
} bench_take;
enum { BENCH_TAKES = 5 };
/* The recorded takes that are there (docs/test-data.md); without any, the built-in take. Says which. At least one. */
const bench_take *bench_takes(int *count);
/* The built-in take, "walk", which `ulna sample` writes to a folder that is removed at the end. To be called once. A tool that does not run
 * ends the program. */
bench_take bench_sample_take(void);

/* The folder with the programs of the prototype 'poses' ($ULNA_YARDSTICK, or where it builds them by itself), if `program` is there; else
 * a line is printed, and 0 returned. They are built beforehand, since they stand on an older tree of this project:
 * `make -C prototypes/poses ULNA=<that tree>`. */
int bench_yardstick_find(const char *program, char *folder, size_t size);

#endif
