/*
 * Orocos KDL as a peer of bench_reach. The robot is read by urdfdom; its chain is made as kdl_parser does it: one segment for each joint,
 * whose joint has origin and axis in the frame of the parent link, and whose frame is the URDF's origin.
 *
 * LMA: weights 1 (with the default of 0.01 for rotations it stops before 1e-6 rad). NR_JL: Newton-Raphson that clamps to the
 * limits. Both as their documentation shows them, with restarts around them: without, they fail often. LMA knows no
 * limits, so whole turns are taken off its answers where that brings them inside.
 */
#include "reach_peers.h"

#include <kdl/chain.hpp>
#include <kdl/chainfksolverpos_recursive.hpp>
#include <kdl/chainiksolverpos_lma.hpp>
#include <kdl/chainiksolverpos_nr_jl.hpp>
#include <kdl/chainiksolvervel_pinv.hpp>
#include <urdf_parser/urdf_parser.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace
{

enum { RESTARTS = 100, LMA_ITERATIONS = 500, NR_ITERATIONS = 100 };
const double TOLERANCE = 1e-6, PI = 3.14159265358979323846;

KDL::Frame frame_of(const urdf::Pose &pose)
{
    const urdf::Rotation &r = pose.rotation;
    return KDL::Frame(KDL::Rotation::Quaternion(r.x, r.y, r.z, r.w),
                      KDL::Vector(pose.position.x, pose.position.y, pose.position.z));
}

KDL::Joint joint_of(const urdf::Joint &joint, const KDL::Frame &at)
{
    const KDL::Vector axis = at.M * KDL::Vector(joint.axis.x, joint.axis.y, joint.axis.z);
    switch (joint.type) {
    case urdf::Joint::REVOLUTE:
    case urdf::Joint::CONTINUOUS:
        return KDL::Joint(joint.name, at.p, axis, KDL::Joint::RotAxis);
    case urdf::Joint::PRISMATIC:
        return KDL::Joint(joint.name, at.p, axis, KDL::Joint::TransAxis);
    default:
        return KDL::Joint(joint.name, KDL::Joint::None);
    }
}

double uniform(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

} // namespace

struct peer_kdl {
    KDL::Chain chain;
    std::vector<std::string> names;
    std::vector<bool> turns;
    KDL::JntArray lower, upper, start, found;
    std::unique_ptr<KDL::ChainFkSolverPos_recursive> forward;
    std::unique_ptr<KDL::ChainIkSolverPos_LMA> lma;
    std::unique_ptr<KDL::ChainIkSolverVel_pinv> velocity;
    std::unique_ptr<KDL::ChainIkSolverPos_NR_JL> nr_jl;
};

peer_kdl *peer_kdl_open(const char *path, const char *tip)
{
    const auto robot = urdf::parseURDFFile(path);
    if (!robot || !robot->getLink(tip))
        return nullptr;
    std::vector<urdf::JointConstSharedPtr> joints;
    for (auto link = robot->getLink(tip); link->parent_joint;
         link = robot->getLink(link->parent_joint->parent_link_name))
        joints.push_back(link->parent_joint);
    std::reverse(joints.begin(), joints.end());

    auto kdl = std::make_unique<peer_kdl>();
    for (const auto &joint : joints) {
        const KDL::Frame at = frame_of(joint->parent_to_joint_origin_transform);
        const KDL::Joint made = joint_of(*joint, at);
        kdl->chain.addSegment(KDL::Segment(joint->child_link_name, made, at));
        if (made.getType() == KDL::Joint::None)
            continue;
        kdl->names.push_back(joint->name);
        kdl->turns.push_back(joint->type != urdf::Joint::PRISMATIC);
    }
    const unsigned n = kdl->chain.getNrOfJoints();
    for (KDL::JntArray *array : {&kdl->lower, &kdl->upper, &kdl->start, &kdl->found})
        array->resize(n);
    kdl->forward = std::make_unique<KDL::ChainFkSolverPos_recursive>(kdl->chain);
    kdl->velocity = std::make_unique<KDL::ChainIkSolverVel_pinv>(kdl->chain);
    return kdl.release();
}

void peer_kdl_close(peer_kdl *kdl)
{
    delete kdl;
}

int peer_kdl_joint_count(const peer_kdl *kdl)
{
    return (int)kdl->names.size();
}

const char *peer_kdl_joint_name(const peer_kdl *kdl, int joint)
{
    return kdl->names[(size_t)joint].c_str();
}

void peer_kdl_set_limits(peer_kdl *kdl, const double *lower, const double *upper)
{
    for (unsigned i = 0; i < kdl->names.size(); i++) {
        kdl->lower(i) = lower[i];
        kdl->upper(i) = upper[i];
    }
    kdl->lma = std::make_unique<KDL::ChainIkSolverPos_LMA>(kdl->chain, Eigen::Matrix<double, 6, 1>::Ones(),
                                                           0.1 * TOLERANCE, LMA_ITERATIONS);
    kdl->nr_jl = std::make_unique<KDL::ChainIkSolverPos_NR_JL>(kdl->chain, kdl->lower, kdl->upper, *kdl->forward,
                                                               *kdl->velocity, NR_ITERATIONS, 0.5 * TOLERANCE);
}

void peer_kdl_forward(peer_kdl *kdl, const double *q, double position[3], double rotation[9])
{
    KDL::Frame at;
    for (unsigned i = 0; i < kdl->names.size(); i++)
        kdl->found(i) = q[i];
    kdl->forward->JntToCart(kdl->found, at);
    for (int i = 0; i < 3; i++) {
        position[i] = at.p(i);
        for (int j = 0; j < 3; j++)
            rotation[3 * i + j] = at.M(i, j);
    }
}

/* Takes whole turns off where that brings a joint inside its limits. */
static bool bring_inside(peer_kdl *kdl)
{
    for (unsigned i = 0; i < kdl->names.size(); i++) {
        double &q = kdl->found(i);
        const double low = kdl->lower(i), high = kdl->upper(i);
        if (kdl->turns[i] && q > high)
            q -= 2 * PI * std::ceil((q - high) / (2 * PI));
        if (kdl->turns[i] && q < low)
            q += 2 * PI * std::ceil((low - q) / (2 * PI));
        if (!(q >= low - 1e-9 && q <= high + 1e-9))
            return false;
    }
    return true;
}

int peer_kdl_solve(peer_kdl *kdl, peer_kdl_method method, const double position[3], const double rotation[9],
                   const double *start, uint64_t *random, double *q)
{
    const KDL::Frame goal(KDL::Rotation(rotation[0], rotation[1], rotation[2], rotation[3], rotation[4], rotation[5],
                                        rotation[6], rotation[7], rotation[8]),
                          KDL::Vector(position[0], position[1], position[2]));
    for (unsigned i = 0; i < kdl->names.size(); i++)
        kdl->start(i) = start[i];
    for (int attempt = 1; attempt <= RESTARTS + 1; attempt++) {
        if (method == PEER_KDL_LMA)
            kdl->lma->CartToJnt(kdl->start, goal, kdl->found);
        else
            kdl->nr_jl->CartToJnt(kdl->start, goal, kdl->found);
        if (bring_inside(kdl)) {
            KDL::Frame at;
            kdl->forward->JntToCart(kdl->found, at);
            const KDL::Twist off = KDL::diff(at, goal);
            if (off.vel.Norm() <= TOLERANCE && off.rot.Norm() <= TOLERANCE) {
                for (unsigned i = 0; i < kdl->names.size(); i++)
                    q[i] = kdl->found(i);
                return attempt;
            }
        }
        for (unsigned i = 0; i < kdl->names.size(); i++)
            kdl->start(i) = kdl->lower(i) + (kdl->upper(i) - kdl->lower(i)) * uniform(random);
    }
    return 0;
}
