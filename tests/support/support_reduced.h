/* support_reduced.h: what tests need to know of reduced trees: the pose that belongs to a q, and what always holds. */
#ifndef ULNA_TEST_SUPPORT_REDUCED_H
#define ULNA_TEST_SUPPORT_REDUCED_H

#include "global/reduced.h"
#include "support.h"

/* The pose of the tree at q, by frames of the whole model: joints that were left out as not felt may be anywhere. */
void ulna_test_reduced_pose(const ulna_reduced *reduced, const double *q, ulna_reduced_pose *pose);
/* Fails unless the tree is as reduced.h says. */
void ulna_test_check_reduced(const ulna_reduced *r);
/* Places the nodes; the cost in units of `unit`, `constant` included. */
double ulna_test_reduced_cost(const ulna_reduced *reduced, const ulna_reduced_pose *pose);
/* unit * cost at q. */
double ulna_test_reduced_f(const ulna_reduced *reduced, const double *q);

#endif
