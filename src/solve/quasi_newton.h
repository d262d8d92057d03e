/* quasi_newton.h (private): the updates of quasi_newton.c, on plain arrays; n numbers a vector, n x n the matrix. */
#ifndef ULNA_SRC_QUASI_NEWTON_H
#define ULNA_SRC_QUASI_NEWTON_H

/* Is there curvature enough in a pair: step s, change of gradient y? Updates want that. */
int ulna_pair_is_sound(int n, const double *s, const double *y);

/* The inverse Hessian after the pair (BFGS): then inverse y = s, and it is positive definite if it was before.
 * `product` is scratch. O(n^2). */
void ulna_bfgs_update(int n, const double *s, const double *y, double *inverse, double *product);

/* Takes variable k out: from the inverse of B to that of B without row and column k, which become zero. O(n^2). */
void ulna_bfgs_hold(int n, int k, double *inverse);

/* The last `count` pairs of a ring of `memory`, of which `next` is the place of the next one. */
typedef struct ulna_pairs {
    int memory, count, next;
    double *s, *y;       /* memory x n */
    double *rho, *alpha; /* memory: scratch */
} ulna_pairs;

/*
 * x = inverse Hessian times x, built from the pairs on a first guess `gamma` times identity: two loops, O(n count).
 * `free` (n) is 1 for the variables that there are and 0 for those that are held, where x must be 0; pairs that are not
 * sound on the free ones are passed over. gamma < 0: s y / y y of the newest pair that is sound, or -gamma if none is.
 */
void ulna_two_loop(int n, ulna_pairs *p, const double *free, double gamma, double *x);

#endif
