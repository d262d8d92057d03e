/*
 * Ceres Solver as a peer of bench_track: Levenberg-Marquardt with its dense and sparse linear solvers. (Dogleg was
 * slower.)
 *
 * Dense: one cost function for all markers, one block of all parameters. Sparse: one cost function per marker and one
 * block per joint, so that Ceres sees the structure. Forward kinematics runs once per point, in the evaluation
 * callback. Dense algebra is LAPACK's. TinySolver is the header-only one, which allocates nothing while solving; its
 * function_tolerance is absolute, so it is set for each frame from the f of the last.
 */
#include "track_skeleton.h"

#include <ceres/ceres.h>
#include <ceres/tiny_solver.h>
#include <glog/logging.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace
{

enum { ITERATIONS = 50 };

struct State {
    const track_skeleton *skeleton;
    const double *goals = nullptr;
    int evaluations = 0;
    std::vector<double> q;
};

class Whole : public ceres::CostFunction
{
  public:
    explicit Whole(State *state) : state_(state)
    {
        set_num_residuals(3 * state->skeleton->markers);
        mutable_parameter_block_sizes()->push_back(state->skeleton->nv);
    }
    bool Evaluate(double const *const *, double *residuals, double **jacobians) const override
    {
        track_residuals(state_->skeleton, state_->goals, residuals, jacobians ? jacobians[0] : nullptr);
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
            track_forward(state_->skeleton, state_->q.data());
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
        const track_skeleton *s = state_->skeleton;
        double p[3], column[3];
        track_marker(s, marker_, p);
        for (int k = 0; k < 3; k++)
            residuals[k] = p[k] - state_->goals[3 * marker_ + k];
        for (size_t b = 0; jacobians && b < blocks_.size(); b++)
            for (int j = 0; jacobians[b] && j < blocks_[b].count; j++) {
                const int i = blocks_[b].first + j;
                track_column(&s->frame[i], s->dof[i].slides, p, column);
                for (int k = 0; k < 3; k++)
                    jacobians[b][k * blocks_[b].count + j] = column[k];
            }
        return true;
    }

  private:
    State *state_;
    int marker_;
    std::vector<Block> blocks_;
};

struct Peer {
    State state;
    ForwardOnce forward{&state};
    std::unique_ptr<ceres::Problem> problem;
    ceres::Solver::Options options;
};

std::vector<Block> joints(const track_skeleton *s)
{
    std::vector<Block> blocks;
    for (int i = 0; i < s->nv; i++) {
        if (i > 0 && s->dof[i].body == s->dof[i - 1].body)
            blocks.back().count++;
        else
            blocks.push_back({i, 1});
    }
    return blocks;
}

void add_markers(Peer *peer)
{
    const track_skeleton *s = peer->state.skeleton;
    const std::vector<Block> all = joints(s);
    for (const Block &block : all)
        peer->problem->AddParameterBlock(&peer->state.q[static_cast<size_t>(block.first)], block.count);
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

void *open(const track_peer *self, const track_skeleton *skeleton, double tolerance)
{
    auto peer = std::make_unique<Peer>();
    FLAGS_minloglevel = google::GLOG_FATAL;
    peer->state.skeleton = skeleton;
    peer->state.q.assign(static_cast<size_t>(skeleton->nv), 0);
    ceres::Problem::Options options;
    options.evaluation_callback = &peer->forward;
    peer->problem = std::make_unique<ceres::Problem>(options);
    const bool in_blocks = self->variant != 0;
    if (in_blocks)
        add_markers(peer.get());
    else
        peer->problem->AddResidualBlock(new Whole(&peer->state), nullptr, peer->state.q.data());
    ceres::Solver::Options &o = peer->options;
    o.linear_solver_type = in_blocks ? ceres::SPARSE_NORMAL_CHOLESKY : ceres::DENSE_NORMAL_CHOLESKY;
    o.dense_linear_algebra_library_type = ceres::LAPACK;
    o.max_num_iterations = ITERATIONS;
    o.function_tolerance = tolerance;
    o.gradient_tolerance = 1e-13;
    o.parameter_tolerance = 1e-12;
    o.num_threads = 1;
    o.logging_type = ceres::SILENT;
    return peer.release();
}

void begin(void *, const double *)
{
}

int solve(void *self, const double *goals, double *q, track_result *result)
{
    auto *peer = static_cast<Peer *>(self);
    peer->state.goals = goals;
    peer->state.evaluations = 0;
    peer->state.q.assign(q, q + peer->state.q.size());
    ceres::Solver::Summary summary;
    ceres::Solve(peer->options, peer->problem.get(), &summary);
    std::copy(peer->state.q.begin(), peer->state.q.end(), q);
    *result = {static_cast<int>(summary.iterations.size()) - 1, peer->state.evaluations};
    return summary.IsSolutionUsable();
}

void close(void *self)
{
    delete static_cast<Peer *>(self);
}

/* ---- TinySolver -------------------------------------------------------------------------------------------------- */

struct TinyMarkers {
    using Scalar = double;
    enum { NUM_RESIDUALS = Eigen::Dynamic, NUM_PARAMETERS = Eigen::Dynamic };

    const track_skeleton *skeleton;
    const double *goals;
    mutable int evaluations;
    mutable Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor> rows;

    int NumResiduals() const
    {
        return 3 * skeleton->markers;
    }
    int NumParameters() const
    {
        return skeleton->nv;
    }
    bool operator()(const double *q, double *residuals, double *jacobian) const
    {
        evaluations++;
        track_forward(skeleton, q);
        track_residuals(skeleton, goals, residuals, jacobian ? rows.data() : nullptr);
        if (jacobian)
            Eigen::Map<Eigen::MatrixXd>(jacobian, rows.rows(), rows.cols()) = rows;
        return true;
    }
};

struct TinyPeer {
    TinyMarkers markers;
    ceres::TinySolver<TinyMarkers> solver;
    ceres::TinySolver<TinyMarkers>::Parameters q;
    double tolerance, last;
};

void *open_tiny(const track_peer *, const track_skeleton *skeleton, double tolerance)
{
    auto peer = std::make_unique<TinyPeer>();
    peer->markers.skeleton = skeleton;
    peer->markers.rows.resize(3 * skeleton->markers, skeleton->nv);
    peer->q.resize(skeleton->nv);
    peer->tolerance = tolerance;
    peer->solver.options.max_num_iterations = ITERATIONS;
    peer->solver.options.gradient_tolerance = 1e-13;
    peer->solver.options.parameter_tolerance = 1e-12;
    return peer.release();
}

void begin_tiny(void *self, const double *)
{
    static_cast<TinyPeer *>(self)->last = 0;
}

int solve_tiny(void *self, const double *goals, double *q, track_result *result)
{
    auto *peer = static_cast<TinyPeer *>(self);
    peer->markers.goals = goals;
    peer->markers.evaluations = 0;
    peer->solver.options.function_tolerance = 2 * peer->last * peer->tolerance;
    std::copy(q, q + peer->q.size(), peer->q.data());
    const auto &summary = peer->solver.Solve(peer->markers, &peer->q);
    std::copy(peer->q.data(), peer->q.data() + peer->q.size(), q);
    peer->last = summary.final_cost;
    *result = {summary.iterations, peer->markers.evaluations};
    return 1;
}

void close_tiny(void *self)
{
    delete static_cast<TinyPeer *>(self);
}

} // namespace

const track_peer *track_peers_ceres(void)
{
    static const track_peer peers[] = {
        {"ceres", "LM, DENSE_NORMAL_CHOLESKY, LAPACK", 0, 1, 0, open, begin, solve, nullptr, close},
        {"ceres_sparse", "LM, SPARSE_NORMAL_CHOLESKY, a block per joint", 1, 1, 0, open, begin, solve, nullptr, close},
        {"ceres_tiny", "TinySolver, header-only LM", 0, 1, 0, open_tiny, begin_tiny, solve_tiny, nullptr, close_tiny},
        {"ceres_previous", "as ceres, from the last answer", 0, 0, 0, open, begin, solve, nullptr, close},
        {"ceres_default", "as ceres, from the last answer, default tolerance", 0, 0, 1e-6, open, begin, solve, nullptr,
         close},
        {nullptr, nullptr, 0, 0, 0, nullptr, nullptr, nullptr, nullptr, nullptr},
    };
    return peers;
}
