/*
 * ceres::TinySolver as a peer: the header-only Levenberg-Marquardt of Ceres for small dense problems. It allocates
 * nothing while solving and has no limits. Its function_tolerance is absolute, in units of 2 f: it is set from the
 * typical f at the end, or for each frame of a take from the f of the last.
 */
#include "peers.h"

#include <ceres/tiny_solver.h>

#include <memory>

namespace
{

struct Markers {
    using Scalar = double;
    enum { NUM_RESIDUALS = Eigen::Dynamic, NUM_PARAMETERS = Eigen::Dynamic };

    const peer_skeleton *skeleton;
    const double *goals;
    mutable int evaluations;

    int NumResiduals() const
    {
        return skeleton->residuals;
    }
    int NumParameters() const
    {
        return skeleton->nv;
    }
    bool operator()(const double *q, double *residuals, double *jacobian) const
    {
        evaluations++;
        peer_forward(skeleton, q);
        peer_residuals(skeleton, goals, residuals, jacobian, 1, skeleton->residuals);
        return true;
    }
};

struct Peer {
    Markers markers;
    ceres::TinySolver<Markers> solver;
    ceres::TinySolver<Markers>::Parameters q;
    peer_stop stop;
    double last = 0; /* f */
};

void *open(const bench_peer *, const peer_skeleton *skeleton, const peer_stop *stop)
{
    auto peer = std::make_unique<Peer>();
    peer->markers = {skeleton, nullptr, 0};
    peer->q.resize(skeleton->nv);
    peer->stop = *stop;
    auto &options = peer->solver.options;
    options.max_num_iterations = stop->iterations;
    if (stop->objective > 0)
        options.cost_threshold = stop->objective;
    options.gradient_tolerance = 1e-13;
    options.parameter_tolerance = 1e-12;
    return peer.release();
}

void begin(void *self, const double *)
{
    static_cast<Peer *>(self)->last = 0;
}

int solve(void *self, const double *goals, double *q, peer_result *result)
{
    auto *peer = static_cast<Peer *>(self);
    peer->markers.goals = goals;
    peer->markers.evaluations = 0;
    const double typical = peer->stop.typical > 0 ? peer->stop.typical : peer->last;
    peer->solver.options.function_tolerance = 2 * typical * peer->stop.tolerance;
    std::copy(q, q + peer->q.size(), peer->q.data());
    const auto &summary = peer->solver.Solve(peer->markers, &peer->q);
    std::copy(peer->q.data(), peer->q.data() + peer->q.size(), q);
    peer->last = summary.final_cost;
    *result = {summary.final_cost, summary.iterations, peer->markers.evaluations};
    return 1;
}

void close(void *self)
{
    delete static_cast<Peer *>(self);
}

} // namespace

const bench_peer *bench_peers_tiny(void)
{
    static const bench_peer peers[] = {
        {"ceres_tiny_unbounded", "ceres::TinySolver (header-only LM), no limits", 0, 0, open, solve, close, 0, 0, begin,
         nullptr},
        {},
    };
    return peers;
}

const bench_peer *track_peers_tiny(void)
{
    static const bench_peer peers[] = {
        {"ceres_tiny", "TinySolver, header-only LM", 0, 0, open, solve, close, 1, 0, begin, nullptr},
        {},
    };
    return peers;
}
