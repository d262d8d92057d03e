/*
 * The prototypes of the reach solver behind plain calls: v9.c finds any solution or follows a seed; near.c, which includes it, finds
 * the solution nearest to a seed. bench_reach compiles this file at run time, for the machine, as their own Makefile does, with
 * their folders on the include path: they are not part of this repository.
 */
#include "near.c"

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

/* The nearest solution by the prototype's policy: slide from the seed, else converge 24 candidates and slide the nearest 8; one that
 * is nearer than `enough` ends the search. */
static npar nearest_settings(int n, double enough)
{
    npar p;
    memset(&p, 0, sizeof p);
    p.slide = p.curv = p.ratio = p.seedonly = 1;
    p.rounds = 6;
    p.maxit = 25;
    p.k = 0.3;
    p.nearE = p.mu2 = 0.02;
    p.mu = n == 7 ? 0.02 : 0;
    p.smax = 0.4;
    p.stol = 2e-4;
    p.enough = enough;
    p.prunef = p.sep = 1;
    p.drop = 10;
    p.dropE = 1e-3;
    p.top = p.polish = 2;
    p.tmax = 80;
    p.h = 0.3;
    p.slack = 0.2;
    p.dup = 0.05;
    p.margin = 9;
    return p;
}

typedef struct yardstick {
    arm small, large, cells;
    par any, near;
    npar nearest[2]; /* from random seeds, from near ones */
    stat_t counts;
    nstat nearest_counts;
} yardstick;

yardstick *yardstick_open(int n, const double (*dh)[4], const double *lower, const double *upper)
{
    yardstick *y = aligned_alloc(64, (sizeof *y + 63) / 64 * 64);
    if (!y)
        return 0;
    memset(y, 0, sizeof *y);
    arm_init(&y->small, n, dh, lower, upper);
    y->large = y->cells = y->small;
    arm_table(&y->small, 512);
    arm_table(&y->large, 8192);
    near_table32(&y->cells, 2048);
    y->small.big = &y->large;
    y->any = settings(0);
    y->near = settings(1);
    y->nearest[0] = nearest_settings(n, 0);
    y->nearest[1] = nearest_settings(n, 0.6);
    return y;
}

/* T: 3 x 4, row by row. */
int yardstick_solve(yardstick *y, int is_near, const double *T, const double *start, double *q)
{
    return arm_solve(&y->small, T, start, q, is_near ? &y->near : &y->any, &y->counts);
}

/* Returns the distance from the seed; huge if nothing was found. */
double yardstick_nearest(yardstick *y, int is_near, const double *T, const double *start, double *q)
{
    return near_two(&y->cells, T, start, q, &y->nearest[is_near], &y->nearest_counts);
}
