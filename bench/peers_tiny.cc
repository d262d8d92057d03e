/*
 * ceres::TinySolver as a peer: the header-only Levenberg-Marquardt of Ceres for small dense problems. It allocates
 * nothing while solving and has no limits. Its function_tolerance is absolute, in units of 2 f.
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
};

void *open(const bench_peer *, const peer_skeleton *skeleton, const peer_stop *stop)
{
    auto peer = std::make_unique<Peer>();
    peer->markers = {skeleton, nullptr, 0};
    peer->q.resize(skeleton->nv);
    auto &options = peer->solver.options;
    options.max_num_iterations = stop->iterations;
    options.cost_threshold = stop->objective;
    options.function_tolerance = 2 * stop->typical * stop->tolerance;
    options.gradient_tolerance = 1e-13;
    options.parameter_tolerance = 1e-12;
    return peer.release();
}

int solve(void *self, const double *goals, double *q, peer_result *result)
{
    auto *peer = static_cast<Peer *>(self);
    peer->markers.goals = goals;
    peer->markers.evaluations = 0;
    std::copy(q, q + peer->q.size(), peer->q.data());
    const auto &summary = peer->solver.Solve(peer->markers, &peer->q);
    std::copy(peer->q.data(), peer->q.data() + peer->q.size(), q);
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
        {"ceres_tiny_unbounded", "ceres::TinySolver (header-only LM), no limits", 0, 0, open, solve, close},
        {nullptr, nullptr, 0, 0, nullptr, nullptr, nullptr},
    };
    return peers;
}
