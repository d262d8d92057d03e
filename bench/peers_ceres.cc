/*
 * Ceres Solver as a peer: Levenberg-Marquardt or dogleg, with its dense and sparse linear solvers.
 *
 * Dense: one cost function for all markers, one block of all parameters. Sparse: one cost function per marker and one
 * block per joint, so that Ceres sees the structure. Forward kinematics runs once per point, in the evaluation
 * callback. Ceres has no rule "f is small enough": an iteration callback supplies it where every contender has it. Dense
 * algebra is LAPACK's, which was faster than Eigen here; for trust radius, scaling, ordering and sparse library the
 * defaults were the best.
 */
#include "peers.h"

#include <ceres/ceres.h>
#include <glog/logging.h>

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

namespace
{

enum { QR = 1, DOGLEG = 2, BLOCKS = 4 };

struct State {
    const peer_skeleton *skeleton;
    const double *goals = nullptr;
    double objective;
    int evaluations = 0;
    std::vector<double> q;
};

class Whole : public ceres::CostFunction
{
  public:
    explicit Whole(State *state) : state_(state)
    {
        set_num_residuals(state->skeleton->residuals);
        mutable_parameter_block_sizes()->push_back(state->skeleton->nv);
    }
    bool Evaluate(double const *const *, double *residuals, double **jacobians) const override
    {
        peer_residuals(state_->skeleton, state_->goals, residuals, jacobians ? jacobians[0] : nullptr,
                       state_->skeleton->nv, 1);
        return true;
    }

  private:
    State *state_;
};

class ForwardOnce : public ceres::EvaluationCallback
{
  public:
    explicit ForwardOnce(State *state) : state_(state)
    {
    }
    void PrepareForEvaluation(bool, bool is_new_point) override
    {
        state_->evaluations += is_new_point;
        if (is_new_point)
            peer_forward(state_->skeleton, state_->q.data());
    }

  private:
    State *state_;
};

struct Block {
    int first, count;
};

/* One marker over the joints that move it. */
class Marker : public ceres::CostFunction
{
  public:
    Marker(State *state, int marker, std::vector<Block> blocks)
        : state_(state), marker_(marker), blocks_(std::move(blocks))
    {
        set_num_residuals(3);
        for (const Block &block : blocks_)
            mutable_parameter_block_sizes()->push_back(block.count);
    }
    bool Evaluate(double const *const *, double *residuals, double **jacobians) const override
    {
        const peer_skeleton *s = state_->skeleton;
        double p[3];
        peer_marker(s, marker_, p);
        double factor = 1, along = 0;
        for (int k = 0; k < 3; k++)
            residuals[k] = p[k] - state_->goals[3 * marker_ + k];
        if (s->loss_scale > 0)
            peer_apply_loss(s, residuals, &factor, &along);
        for (size_t b = 0; jacobians && b < blocks_.size(); b++) {
            if (!jacobians[b])
                continue;
            const int first = blocks_[b].first, count = blocks_[b].count;
            for (int j = 0; j < count; j++) {
                double *e = jacobians[b] + j;
                peer_column(s, first + j, p, e, count);
                const double lost =
                    along * (residuals[0] * e[0] + residuals[1] * e[count] + residuals[2] * e[2 * count]);
                for (int k = 0; k < 3 && s->loss_scale > 0; k++)
                    e[k * count] = factor * (e[k * count] - lost * residuals[k]);
            }
        }
        return true;
    }

  private:
    State *state_;
    int marker_;
    std::vector<Block> blocks_;
};

/* The priors of one joint. */
class Prior : public ceres::CostFunction
{
  public:
    Prior(State *state, Block block) : state_(state), block_(block)
    {
        set_num_residuals(block.count);
        mutable_parameter_block_sizes()->push_back(block.count);
    }
    bool Evaluate(double const *const *parameters, double *residuals, double **jacobians) const override
    {
        const peer_skeleton *s = state_->skeleton;
        for (int j = 0; j < block_.count; j++) {
            const double root = std::sqrt(s->prior_weight[block_.first + j]);
            residuals[j] = root * (parameters[0][j] - s->prior_goal[block_.first + j]);
            for (int k = 0; jacobians && jacobians[0] && k < block_.count; k++)
                jacobians[0][j * block_.count + k] = j == k ? root : 0;
        }
        return true;
    }

  private:
    State *state_;
    Block block_;
};

class LowEnough : public ceres::IterationCallback
{
  public:
    explicit LowEnough(const State *state) : state_(state)
    {
    }
    ceres::CallbackReturnType operator()(const ceres::IterationSummary &summary) override
    {
        return summary.cost <= state_->objective ? ceres::SOLVER_TERMINATE_SUCCESSFULLY : ceres::SOLVER_CONTINUE;
    }

  private:
    const State *state_;
};

struct Peer {
    State state;
    ForwardOnce forward{&state};
    LowEnough low_enough{&state};
    std::unique_ptr<ceres::Problem> problem;
    ceres::Solver::Options options;
};

/* A block is a run of degrees of freedom in which only the last may have more than one child. */
std::vector<Block> joints(const peer_skeleton *s)
{
    std::vector<int> children(static_cast<size_t>(s->nv), 0), is_last(static_cast<size_t>(s->nv), 0);
    for (int i = 0; i < s->nv; i++)
        if (s->dof[i].parent >= 0)
            children[static_cast<size_t>(s->dof[i].parent)]++;
    for (int m = 0; m < s->markers; m++)
        is_last[static_cast<size_t>(s->marker_dof[m])] = 1;
    std::vector<Block> blocks;
    for (int i = 0; i < s->nv; i++) {
        const auto up = static_cast<size_t>(i ? i - 1 : 0);
        const bool goes_on = i > 0 && s->dof[i].parent == i - 1 && children[up] == 1 && !is_last[up];
        if (goes_on)
            blocks.back().count++;
        else
            blocks.push_back({i, 1});
    }
    return blocks;
}

void add_markers(Peer *peer)
{
    const peer_skeleton *s = peer->state.skeleton;
    const std::vector<Block> all = joints(s);
    for (const Block &block : all) {
        double *q = &peer->state.q[static_cast<size_t>(block.first)];
        peer->problem->AddParameterBlock(q, block.count);
        if (s->prior_weight)
            peer->problem->AddResidualBlock(new Prior(&peer->state, block), nullptr, q);
    }
    for (int m = 0; m < s->markers; m++) {
        std::vector<bool> moves(static_cast<size_t>(s->nv), false);
        for (int i = s->marker_dof[m]; i >= 0; i = s->dof[i].parent)
            moves[static_cast<size_t>(i)] = true;
        std::vector<Block> blocks;
        std::vector<double *> parameters;
        for (const Block &block : all)
            if (moves[static_cast<size_t>(block.first)]) {
                blocks.push_back(block);
                parameters.push_back(&peer->state.q[static_cast<size_t>(block.first)]);
            }
        peer->problem->AddResidualBlock(new Marker(&peer->state, m, blocks), nullptr, parameters);
    }
}

void set_bounds(Peer *peer, double *block, int first, int count)
{
    const peer_skeleton *s = peer->state.skeleton;
    for (int j = 0; j < count; j++) {
        if (s->lower[first + j] > -std::numeric_limits<double>::infinity())
            peer->problem->SetParameterLowerBound(block, j, s->lower[first + j]);
        if (s->upper[first + j] < std::numeric_limits<double>::infinity())
            peer->problem->SetParameterUpperBound(block, j, s->upper[first + j]);
    }
}

void set_options(Peer *peer, int variant, const peer_stop *stop)
{
    ceres::Solver::Options &o = peer->options;
    o.linear_solver_type = variant & BLOCKS ? ceres::SPARSE_NORMAL_CHOLESKY
                           : variant & QR   ? ceres::DENSE_QR
                                            : ceres::DENSE_NORMAL_CHOLESKY;
    o.dense_linear_algebra_library_type = ceres::LAPACK;
    o.trust_region_strategy_type = variant & DOGLEG ? ceres::DOGLEG : ceres::LEVENBERG_MARQUARDT;
    o.max_num_iterations = stop->iterations;
    o.function_tolerance = stop->tolerance;
    o.gradient_tolerance = 1e-13;
    o.parameter_tolerance = 1e-12;
    o.num_threads = 1;
    o.logging_type = ceres::SILENT;
    if (stop->objective > 0)
        o.callbacks.push_back(&peer->low_enough);
}

void *open(const bench_peer *self, const peer_skeleton *skeleton, const peer_stop *stop)
{
    auto peer = std::make_unique<Peer>();
    FLAGS_minloglevel = google::GLOG_FATAL;
    peer->state.skeleton = skeleton;
    peer->state.objective = stop->objective;
    peer->state.q.assign(static_cast<size_t>(skeleton->nv), 0);
    ceres::Problem::Options options;
    options.evaluation_callback = &peer->forward;
    peer->problem = std::make_unique<ceres::Problem>(options);
    if (self->variant & BLOCKS)
        add_markers(peer.get());
    else
        peer->problem->AddResidualBlock(new Whole(&peer->state), nullptr, peer->state.q.data());
    if (self->bounded) {
        if (self->variant & BLOCKS)
            for (const Block &block : joints(skeleton))
                set_bounds(peer.get(), &peer->state.q[static_cast<size_t>(block.first)], block.first, block.count);
        else
            set_bounds(peer.get(), peer->state.q.data(), 0, skeleton->nv);
    }
    set_options(peer.get(), self->variant, stop);
    return peer.release();
}

int solve(void *self, const double *goals, double *q, peer_result *result)
{
    auto *peer = static_cast<Peer *>(self);
    peer->state.goals = goals;
    peer->state.evaluations = 0;
    peer->state.q.assign(q, q + peer->state.q.size());
    ceres::Solver::Summary summary;
    ceres::Solve(peer->options, peer->problem.get(), &summary);
    std::copy(peer->state.q.begin(), peer->state.q.end(), q);
    *result = {summary.final_cost, static_cast<int>(summary.iterations.size()) - 1, peer->state.evaluations};
    return summary.IsSolutionUsable();
}

void close(void *self)
{
    delete static_cast<Peer *>(self);
}

#define BOTH(name, text, variant)                                                                                      \
    {name, text, variant, 1, open, solve, close, 0, 0, nullptr, nullptr},                                              \
    {                                                                                                                  \
        name "_unbounded", text ", no limits", variant, 0, open, solve, close, 0, 0, nullptr, nullptr                  \
    }
#define TRACK(name, text, variant, predicts, tolerance)                                                                \
    {                                                                                                                  \
        name, text, variant, 0, open, solve, close, predicts, tolerance, nullptr, nullptr                              \
    }

} // namespace

const bench_peer *bench_peers_ceres(void)
{
    static const bench_peer peers[] = {
        BOTH("ceres_cholesky", "LM, DENSE_NORMAL_CHOLESKY, LAPACK", 0),
        BOTH("ceres_qr", "LM, DENSE_QR, LAPACK", QR),
        BOTH("ceres_dogleg", "dogleg, DENSE_NORMAL_CHOLESKY, LAPACK", DOGLEG),
        BOTH("ceres_sparse", "LM, SPARSE_NORMAL_CHOLESKY, a block per joint", BLOCKS),
        {},
    };
    return peers;
}

/* Without dogleg, which was slower there. */
const bench_peer *track_peers_ceres(void)
{
    static const bench_peer peers[] = {
        TRACK("ceres", "LM, DENSE_NORMAL_CHOLESKY, LAPACK", 0, 1, 0),
        TRACK("ceres_sparse", "LM, SPARSE_NORMAL_CHOLESKY, a block per joint", BLOCKS, 1, 0),
        TRACK("ceres_previous", "as ceres, from the last answer", 0, 0, 0),
        TRACK("ceres_default", "as ceres, from the last answer, default tolerance", 0, 0, 1e-6),
        {},
    };
    return peers;
}
