/* report.h: the page of `ulna solve --report`: one HTML file that needs nothing else, with the take to be played. */
#ifndef ULNA_CLI_REPORT_H
#define ULNA_CLI_REPORT_H

#include "cli/markup.h"
#include "cli/solve/solve.h"

ulna_status report_write(const solve_job *job, const char *path, ulna_error *error);

/* The numbers that the script shows, as "const D = {...};". Long takes are thinned out: every `stride`th frame. */
ulna_status report_put_data(const solve_job *job, markup *page, ulna_error *error);
int report_stride(const solve_job *job);

extern const char *const report_script[]; /* up to NULL */

#endif
