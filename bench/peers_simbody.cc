/*
 * Simbody's Assembler as a peer of bench_track: the core of OpenSim's inverse kinematics. Markers are the only
 * assembly condition, weighted alike; there are no constraints and no limits, so that it minimises without them
 * (L-BFGS).
 *
 * A joint is one mobilizer: Pin, Universal, Gimbal (body-fixed x, y, z), or for the root Bushing (the same after three
 * slides). All body frames lie in the world's at the zero pose, so both mobilizer frames are the joint's place there:
 *
 *     F = M = [x' y' z'] with x', y' the first two axes of the joint and z' = x' x y'; the third axis is z' or -z'.
 *
 * So coordinates are those of the model, some with the other sign. Bodies that carry nothing are left out. The
 * Assembler goes on from its last answer; another start needs a new initialisation, whose time then counts.
 */
#include "peers.h"

#include <Simbody.h>

#include <cmath>
#include <memory>
#include <vector>

namespace
{

using namespace SimTK;

enum { PREDICTED = 1 };

/* Which coordinate of a joint a degree of freedom is, and its sign. */
struct Place {
    MobilizedBodyIndex body;
    int k;
    double sign;
};

struct Peer {
    const peer_skeleton *skeleton;
    int variant;
    MultibodySystem system;
    SimbodyMatterSubsystem matter{system};
    std::vector<Place> place;
    std::unique_ptr<Assembler> assembler;
    Markers *markers = nullptr; /* the assembler's */
    Array_<Vec3> observations;
    State state;
    int evaluations = 0;
};

Vec3 vec(const double x[3])
{
    return Vec3(x[0], x[1], x[2]);
}

/* Which column of the frame the axis is, and with which sign; false if it is none. */
bool match(const Mat33 &frame, const Vec3 &axis, int *column, double *sign)
{
    for (int k = 0; k < 3; k++) {
        const double c = dot(frame.col(k), axis);
        if (std::abs(std::abs(c) - 1) < 1e-12) {
            *column = k;
            *sign = c < 0 ? -1 : 1;
            return true;
        }
    }
    return false;
}

MobilizedBody mobilize(MobilizedBody &parent, const Transform &at, int slides, int turns)
{
    const Body::Rigid body(MassProperties(1, Vec3(0), UnitInertia(1)));
    if (slides)
        return MobilizedBody::Bushing(parent, at, body, at);
    if (turns == 3)
        return MobilizedBody::Gimbal(parent, at, body, at);
    if (turns == 2)
        return MobilizedBody::Universal(parent, at, body, at);
    return MobilizedBody::Pin(parent, at, body, at);
}

/* Where the axes meet, if they are two or more: the origin of each is any point of it. */
Vec3 center(const peer_dof *turn, int turns)
{
    const Vec3 o = vec(turn[0].origin), a = vec(turn[0].axis);
    return turns == 1 ? o : Vec3(o + dot(vec(turn[1].origin) - o, a) * a);
}

/* The joint whose degrees of freedom are first .. first + count - 1. */
bool add_joint(Peer *peer, int first, int count)
{
    const peer_dof *dof = peer->skeleton->dof + first;
    int slides = 0;
    while (slides < count && dof[slides].slides)
        slides++;
    const int turns = count - slides;
    if ((slides != 0 && slides != 3) || turns < 1 || turns > 3 || (slides && turns != 3))
        return false;
    const UnitVec3 x(vec(dof[slides].axis));
    const Rotation frame = turns == 1 ? Rotation(x, ZAxis) /* a Pin turns about z */
                                      : Rotation(x, XAxis, vec(dof[slides + 1].axis), YAxis);
    const int up = dof[0].parent;
    MobilizedBody parent = up < 0 ? static_cast<MobilizedBody>(peer->matter.Ground())
                                  : peer->matter.getMobilizedBody(peer->place[static_cast<size_t>(up)].body);
    MobilizedBody made = mobilize(parent, Transform(frame, center(dof + slides, turns)), slides, turns);
    for (int i = 0; i < count; i++) {
        int column;
        double sign;
        if (dof[i].slides == (i >= slides) || !match(frame.asMat33(), vec(dof[i].axis), &column, &sign) ||
            (i >= slides && turns > 1 && column != i - slides))
            return false;
        peer->place.push_back({made.getMobilizedBodyIndex(),
                               dof[i].slides ? 3 + column
                               : turns == 1  ? 0
                                             : column,
                               sign});
    }
    return true;
}

void set_q(const Peer *peer, const double *q, State *state)
{
    for (size_t i = 0; i < peer->place.size(); i++) {
        const Place &p = peer->place[i];
        peer->matter.getMobilizedBody(p.body).setOneQ(*state, p.k, p.sign * q[i]);
    }
}

void get_q(const Peer *peer, const State &state, double *q)
{
    for (size_t i = 0; i < peer->place.size(); i++) {
        const Place &p = peer->place[i];
        q[i] = p.sign * peer->matter.getMobilizedBody(p.body).getOneQ(state, p.k);
    }
}

/* Welds bodies to the ground where they are at rest. */
void weld(Peer *peer)
{
    const peer_skeleton *skeleton = peer->skeleton;
    State rest = peer->system.realizeTopology();
    peer->matter.setUseEulerAngles(rest, true);
    peer->system.realizeModel(rest);
    set_q(peer, skeleton->rest, &rest);
    peer->system.realize(rest, Stage::Position);
    for (int i = 0; i < skeleton->welded_count; i++) {
        const auto index = peer->place[static_cast<size_t>(skeleton->welded[i])].body;
        MobilizedBody body = peer->matter.getMobilizedBody(index);
        Constraint::Weld(peer->matter.updGround(), body.getBodyTransform(rest), body, Transform());
    }
}

void *open(const bench_peer *self, const peer_skeleton *skeleton, const peer_stop *stop)
{
    auto peer = std::make_unique<Peer>();
    peer->skeleton = skeleton;
    peer->variant = self->variant;
    for (int first = 0, last; first < skeleton->nv; first = last) {
        for (last = first + 1; last < skeleton->nv && skeleton->dof[last].body == skeleton->dof[first].body;)
            last++;
        if (!add_joint(peer.get(), first, last - first))
            return nullptr;
    }
    if (skeleton->welded_count)
        weld(peer.get());
    peer->state = peer->system.realizeTopology();
    peer->matter.setUseEulerAngles(peer->state, true);
    peer->system.realizeModel(peer->state);
    peer->assembler = std::make_unique<Assembler>(peer->system);
    peer->assembler->setAccuracy(stop->tolerance);
    peer->markers = new Markers();
    for (int m = 0; m < skeleton->markers; m++)
        peer->markers->addMarker(peer->place[static_cast<size_t>(skeleton->marker_dof[m])].body,
                                 vec(skeleton->marker[m]));
    peer->assembler->adoptAssemblyGoal(peer->markers);
    peer->observations.resize(static_cast<unsigned>(skeleton->markers));
    return peer.release();
}

void begin(void *self, const double *q)
{
    auto *peer = static_cast<Peer *>(self);
    set_q(peer, q, &peer->state);
    peer->assembler->initialize(peer->state);
    peer->evaluations = 0;
}

int solve(void *self, const double *goals, double *q, peer_result *result)
{
    auto *peer = static_cast<Peer *>(self);
    for (int m = 0; m < peer->skeleton->markers; m++)
        peer->observations[static_cast<unsigned>(m)] = vec(goals + 3 * m);
    try {
        if (peer->variant & PREDICTED)
            begin(self, q);
        peer->markers->moveAllObservations(peer->observations);
        peer->assembler->track();
        get_q(peer, peer->assembler->getInternalState(), q);
    } catch (const std::exception &) {
        return 0;
    }
    const int evaluations = peer->assembler->getNumGoalEvals();
    *result = {NAN, 0, evaluations - peer->evaluations};
    peer->evaluations = evaluations;
    return 1;
}

void places(void *self, const double *q, double *places)
{
    auto *peer = static_cast<Peer *>(self);
    State state = peer->state;
    set_q(peer, q, &state);
    peer->system.realize(state, Stage::Position);
    for (int m = 0; m < peer->skeleton->markers; m++) {
        const Place &p = peer->place[static_cast<size_t>(peer->skeleton->marker_dof[m])];
        const Vec3 x =
            peer->matter.getMobilizedBody(p.body).findStationLocationInGround(state, vec(peer->skeleton->marker[m]));
        for (int k = 0; k < 3; k++)
            places[3 * m + k] = x[k];
    }
}

void close(void *self)
{
    delete static_cast<Peer *>(self);
}

} // namespace

const bench_peer *track_peers_simbody(void)
{
    static const bench_peer peers[] = {
        {"simbody", "Assembler::track", 0, 0, open, solve, close, 0, 3e-5, begin, places},
        {"simbody_fine", "Assembler::track", 0, 0, open, solve, close, 0, 1e-5, begin, places},
        {"simbody_predicted", "initialize and track, from the prediction", PREDICTED, 0, open, solve, close, 1, 3e-5,
         begin, places},
        {},
    };
    return peers;
}

const bench_peer *constraint_peers_simbody(void)
{
    static const bench_peer peers[] = {
        {"simbody", "Assembler::track, feet welded", 0, 0, open, solve, close, 0, 1e-4, begin, places},
        {},
    };
    return peers;
}
