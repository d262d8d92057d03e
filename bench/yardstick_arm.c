/*
 * The prototype of the reach solver behind plain calls. bench_reach compiles this file at run time, for the machine, as the prototype's own
 * Makefile does, with the folder of the prototype on the include path: it is not part of this repository.
 */
#include "v9.c"

/* As the prototype's driver sets them: `is_near` tracks a seed, else any solution will do. */
static par settings(int is_near)
{
    par p;
    memset(&p, 0, sizeof p);
    p.err = 1;
    p.k = is_near ? 1 : 0.1;
    p.k0 = 1e-10;
    p.kmax = p.smax = p.accE = p.seedE = p.nearE = 1e9;
    p.lim = p.seedfirst = p.early = p.alt = p.cert = 1;
    p.stallr = 0.5;
    p.wL = p.nearw = p.nearmax = 1;
    p.mode = is_near;
    p.rounds = 2;
    p.prounds = 8;
    p.pert = 0.3;
    p.tolstep = 1e-5;
    p.restarts = 400;
    p.maxit = 12;
    return p;
}

typedef struct yardstick {
    arm small, large;
    par any, near;
    stat_t counts;
} yardstick;

yardstick *yardstick_open(int n, const double (*dh)[4], const double *lower, const double *upper)
{
    yardstick *y = aligned_alloc(64, (sizeof *y + 63) / 64 * 64);
    if (!y)
        return 0;
    memset(y, 0, sizeof *y);
    arm_init(&y->small, n, dh, lower, upper);
    y->large = y->small;
    arm_table(&y->small, 512);
    arm_table(&y->large, 8192);
    y->small.big = &y->large;
    y->any = settings(0);
    y->near = settings(1);
    return y;
}

/* T: 3 x 4, row by row. */
int yardstick_solve(yardstick *y, int is_near, const double *T, const double *start, double *q)
{
    return arm_solve(&y->small, T, start, q, is_near ? &y->near : &y->any, &y->counts);
}
