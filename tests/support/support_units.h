/* support_units.h: the same skeleton and the same problem in another unit of length. */
#ifndef ULNA_TESTS_SUPPORT_UNITS_H
#define ULNA_TESTS_SUPPORT_UNITS_H

#include "support_problem.h"

/* Every length times `factor`; for a power of two, exactly. ulna_model_destroy it. */
ulna_model *ulna_test_scaled_model(const ulna_model *model, double factor);
/* The same terms on a scaled model, ready. f becomes factor^2 times as large. Fails the test for custom terms, whose units
 * are not known. */
ulna_problem *ulna_test_scaled_problem(const ulna_problem *problem, const ulna_model *scaled, double factor);
/* Coordinates: translations times `factor`. In place is allowed. */
void ulna_test_scale_q(const ulna_model *model, const double *q, double factor, double *scaled);

#endif
