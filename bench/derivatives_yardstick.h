/* derivatives_yardstick.h: a prototype outside of this repository, run by the same benchmark, with its skeleton and take. */
#ifndef ULNA_BENCH_YARDSTICK_H
#define ULNA_BENCH_YARDSTICK_H

#include "ulna/problem.h"

/* Builds the yardstick where ../shared/prototypes (or $ULNA_PROTOTYPES) and the data are present. 0 if it is not there. */
int yardstick_build(const char *folder);
/* Microseconds of its whole dependent Gauss-Newton iteration (`full ... min`), or a negative number. */
double yardstick_kernel_us(const char *folder);

/* Its skeleton (HDM05, 58 DOF) with the 41 markers as a problem, goals of frame 1000, and the recorded pose there. */
typedef struct yardstick_take {
    ulna_model *model;
    ulna_problem *problem;
    double *q;
} yardstick_take;

int yardstick_load(const char *folder, yardstick_take *take); /* 0 if it cannot be read */
void yardstick_free(yardstick_take *take);

#endif
