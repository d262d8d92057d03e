/* NLopt as a peer: SLSQP (Kraft 1988) with limits and gradient. */
#include "peers.h"

#include <nlopt.h>
#include <stdlib.h>

typedef struct nlopt_peer {
    const peer_skeleton *skeleton;
    const double *goals;
    nlopt_opt solver;
    int evaluations;
} nlopt_peer;

static double value(unsigned n, const double *q, double *gradient, void *context)
{
    nlopt_peer *peer = context;
    (void)n;
    peer->evaluations++;
    peer_forward(peer->skeleton, q);
    return gradient ? peer_gradient(peer->skeleton, peer->goals, gradient)
                    : peer_errors(peer->skeleton, peer->goals, NULL);
}

static void *open(const bench_peer *self, const peer_skeleton *skeleton, const peer_stop *stop)
{
    nlopt_peer *peer = calloc(1, sizeof *peer);
    nlopt_opt solver = nlopt_create(NLOPT_LD_SLSQP, (unsigned)skeleton->nv);
    if (!peer || !solver) {
        free(peer);
        nlopt_destroy(solver);
        return NULL;
    }
    *peer = (nlopt_peer){.skeleton = skeleton, .solver = solver};
    nlopt_set_min_objective(solver, value, peer);
    if (self->bounded) {
        nlopt_set_lower_bounds(solver, skeleton->lower);
        nlopt_set_upper_bounds(solver, skeleton->upper);
    }
    nlopt_set_stopval(solver, stop->objective);
    nlopt_set_ftol_rel(solver, stop->tolerance);
    nlopt_set_maxeval(solver, stop->iterations);
    return peer;
}

static int solve(void *self, const double *goals, double *q, peer_result *result)
{
    nlopt_peer *peer = self;
    peer->goals = goals;
    peer->evaluations = 0;
    nlopt_result code = nlopt_optimize(peer->solver, q, &result->f);
    result->iterations = result->evaluations = peer->evaluations;
    return code > 0 || code == NLOPT_ROUNDOFF_LIMITED;
}

static void close(void *self)
{
    nlopt_peer *peer = self;
    nlopt_destroy(peer->solver);
    free(peer);
}

const bench_peer *bench_peers_nlopt(void)
{
    static const bench_peer peers[] = {
        {.name = "nlopt_slsqp", .text = "NLopt LD_SLSQP", .bounded = 1, .open = open, .solve = solve, .close = close},
        {0},
    };
    return peers;
}
