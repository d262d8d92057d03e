/* report.h: the page of `ulna solve --report`: one HTML file that needs nothing else, with the take to be played. */
#ifndef ULNA_CLI_REPORT_H
#define ULNA_CLI_REPORT_H

#include "cli/markup.h"
#include "cli/solve/solve.h"

ulna_status report_write(const solve_job *job, const char *path, ulna_error *error);

/* The numbers that the script shows, as "const D = {...};"; `about` is the job. Long takes are thinned out: every
 * `stride`th frame. */
void report_data(markup *page, const void *about);
int report_stride(const solve_job *job);

/* Two standard deviations of each degree of freedom in `count` frames, `step` apart: nv x count, radians or metres. Fails
 * where they cannot be known. */
ulna_status report_bands(const solve_job *job, int step, int count, double *bands);
/* Whether the attachment says how sure its offsets are, so that bands have that in them. */
int report_knows_offsets(const solve_job *job);

#endif
