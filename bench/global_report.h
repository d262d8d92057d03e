/* global_report.h: the figures of bench_global: some hundred names with a note each. */
#ifndef ULNA_BENCH_GLOBAL_REPORT_H
#define ULNA_BENCH_GLOBAL_REPORT_H

#include "global_contest.h"

typedef struct global_figures {
    struct {
        char name[64], note[128];
        double value;
    } row[640];
    int count;
} global_figures;

/* Joins `who` and `what` by an underscore. NaN is left out. */
void global_add(global_figures *figures, const char *who, const char *what, double value, const char *note);
/* 0, or 1 if the file could not be written. */
int global_write(const global_figures *figures, const char *path);

/* All that is to be said of a family such as "hand_all_noisy"; prints most of it. */
void global_report_family(global_figures *figures, const char *family, const global_trial *trials, int count);

/* The value below which `share` of the numbers lie; sorts them, NaN last and not counted. NaN if there are none. */
double global_quantile(double *numbers, int count, double share);

#endif
