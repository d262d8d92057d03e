/* solvers_contest.h: the problems of bench_solvers, who solves them, and how it is measured. */
#ifndef ULNA_BENCH_SOLVERS_CONTEST_H
#define ULNA_BENCH_SOLVERS_CONTEST_H

#include "peers.h"
#include "ulna/solve.h"

#define MET 1e-12 /* m^2: f at which goals count as met; 0.2 um per marker, root mean square */

enum { ROUNDS = 9 };

/* ---- problems --------------------------------------------------------------------------------------------------- */

/* Goals for all markers and a start, `count` times. */
typedef struct scenario {
    const char *name, *text;
    int count, nq, numbers; /* numbers: of a set of goals */
    double noise;           /* m, standard deviation of each number of a goal */
    double *goals, *starts;
    double *best[2]; /* lowest f that anybody found: [0] within the limits, [1] anywhere; without noise it is 0 */
} scenario;

/*
 * Targets are poses of the model: each limited coordinate between rest and a uniform place in its range, `spread` of
 * the way; the root anywhere. Starts: with `error` > 0 the target plus normal errors of so many radians, and a quarter
 * of it in metres, moved into the limits; with 0 the rest pose.
 */
typedef struct scenario_recipe {
    const char *name, *text;
    int count;
    double spread, error, noise;
    uint64_t seed;
} scenario_recipe;

int scenario_open(scenario *s, const scenario_recipe *recipe, const ulna_model *model); /* 0: no memory */
void scenario_close(scenario *s);

/* ---- contenders ------------------------------------------------------------------------------------------------- */

/* How one solve went. */
typedef struct outcome {
    double us[ROUNDS]; /* the first `rounds` of the contender */
    double f;
    int iterations, evaluations;
    int stop;         /* of ulna's methods */
    double violation; /* of a limit, rad or m */
} outcome;

/* A method or a peer with its settings, on one scenario. */
typedef struct contender {
    char name[64];
    const char *text;
    const bench_peer *peer; /* NULL: a method of ulna */
    int bounded;
    double seconds; /* that it may take: a contender that needs more leaves out rounds, and in the end problems */
    double spent;   /* s */
    int used;       /* problems solved */
    int rounds;
    int failed; /* solves that gave up with an error */
    int untrue; /* solves whose f is not that of the q that came back */
    outcome *outcomes;
    void *self;
    ulna_problem *problem;
    ulna_solver *solver;
    int first_term;
} contender;

/* Each returns 0 if it cannot take part. */
int contender_open_method(contender *made, const char *name, const ulna_model *model, const ulna_options *options,
                          int problems);
int contender_open_peer(contender *made, const bench_peer *peer, const peer_skeleton *skeleton, const peer_stop *stop,
                        int problems);
void contender_close(contender *c);

/* All contenders on all problems, in rounds and in turns; of each solve the shortest time counts. Updates s->best. */
void contest(scenario *s, const peer_skeleton *skeleton, contender *contenders, int count);

/* ---- sums ------------------------------------------------------------------------------------------------------- */

typedef struct summary {
    double success_percent, in_limits_percent;
    double iterations, evaluations; /* means */
    double us_median, us_mean, f_median, f_mean;
    int problems, failed, untrue;
} summary;

int contender_solved(const contender *c, const scenario *s, int i);
summary contender_summary(const contender *c, const scenario *s);

/* Both on the problems where ours reached the same f, to 0.1 %, or a lower one (`solved`: those that both solved). */
typedef struct comparison {
    int problems, rounds; /* rounds: of each, so that neither has more shots at a low time */
    double us[2], f[2];   /* medians */
} comparison;

comparison contenders_compare(const contender *ours, const contender *theirs, const scenario *s, int solved);

#endif
