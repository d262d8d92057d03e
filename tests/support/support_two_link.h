/*
 * support_two_link.h: the chain of two links of length 1, whose Hessian fits on a line.
 *
 * Tip p = (c1 + c12, s1 + s12), goal g in the plane, posture weight W:
 *     f = |g - p|^2 / 2 + W (t1^2 + t2^2) / 2 = 1 + cos t2 - g.p + |g|^2 / 2 + ...
 *     H = [g.p + W, g.b; g.b, g.b - cos t2 + W],  b = (c12, s12)
 */
#ifndef ULNA_TESTS_SUPPORT_TWO_LINK_H
#define ULNA_TESTS_SUPPORT_TWO_LINK_H

typedef enum ulna_test_region {
    ULNA_TEST_POSITIVE,
    ULNA_TEST_INDEFINITE,
    ULNA_TEST_NEGATIVE,
    ULNA_TEST_SEMIDEFINITE, /* an eigenvalue is at most 1e-9 of the other one */
    ULNA_TEST_REGIONS
} ulna_test_region;

typedef struct ulna_test_two_link {
    double f, low, high; /* objective and eigenvalues */
    ulna_test_region region;
} ulna_test_two_link;

/* Angles in radians. */
ulna_test_two_link ulna_test_two_link_at(const double goal[2], double weight, double t1, double t2);

/* A range of both angles, in degrees, cut into cells. */
typedef struct ulna_test_box {
    double low[2], high[2];
} ulna_test_box;

/* The middle of a cell, in radians. */
double ulna_test_box_angle(const ulna_test_box *range, int axis, int cell, int size);

#endif
