/* support.h: timing and reporting, shared by the benchmarks. */
#ifndef ULNA_BENCH_H
#define ULNA_BENCH_H

#include <stdio.h>

/* CPU seconds of this thread: other processes on the machine disturb it least. */
double bench_now(void);

/* Microseconds of one call, the best of `batches` batches of `calls` calls: noise only ever adds. */
typedef void (*bench_body)(void *context);
double bench_us(bench_body body, void *context, int batches, int calls);

/* A report: named numbers with a note each, printed as a table and written as JSON if a path is given. */
typedef struct bench_report {
    struct {
        char name[64];
        char note[96];
        double value;
    } row[96];
    int count;
} bench_report;

void bench_add(bench_report *report, const char *name, double value, const char *note);
/* Returns 0, or 1 if the file could not be written. */
int bench_finish(const bench_report *report, const char *title, const char *json_path);

/* The value of `--json PATH`, or NULL. Other arguments end the program with a usage line. */
const char *bench_json_path(int count, char **arguments);

#endif
