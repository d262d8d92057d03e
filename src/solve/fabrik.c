/*
 * fabrik: forward and backward reaching. Positions first: from the tips to the root each joint is pulled to where the
 * points beyond it want it; then from the root to the tips each joint moves so that those points come near.
 *
 * Source: A. Aristidou, J. Lasenby, "FABRIK: a fast, iterative solver for the inverse kinematics problem", Graphical
 * Models 73(5), 2011 (Algorithm 1; several effectors and sub-bases); A. Aristidou, Y. Chrysanthou, J. Lasenby,
 * "Extending FABRIK with model constraints", Computer Animation and Virtual Worlds 27, 2016 (joints, limits,
 * orientations).
 *
 *   link       a rigid body with a joint of its own; its pivot p is where it ends up when the joint has moved
 *   point x    on a link: its effectors, and the joints of its children
 *   y          where a point is wanted: the goal of an effector, or what the reach from the tips says
 *   weight     of an effector; of a child joint, the sum of the weights beyond it
 *
 * One iteration:
 *   1. From the tips to the root (the paper's "forward reaching") each point offers its link a pivot: on the line from
 *      y to where the pivot is, at the distance |p - x| that no motion changes. Where the link is wanted in an
 *      orientation, it offers the pivot that goes with that. The wanted pivot is the mean by weight (the sub-base of
 *      the papers). Translations of the joint cover what they can of the distance to it; the rest moves the joint
 *      itself: y of that point of the parent.
 *   2. From the root to the tips ("backward reaching") each joint takes the coordinates that bring its link's points
 *      nearest to y: least squares by weight, one degree of freedom after the other in closed form and inside its
 *      limits (one_dof.h).
 *   3. Forward kinematics places the skeleton and gives f.
 *
 * Changed from the papers:
 * - Step 2 works on joint coordinates. So bones keep their lengths, limits hold and every type of joint takes part,
 *   whatever positions step 1 asks for: the result is a pose.
 * - A point on the axis of a hinge does not determine its angle, and one point does not determine the twist of a ball. So
 *   the points of the next links count as well (AHEAD), moved with the link; beyond bones of no length, those of
 *   the links after.
 * - Hinges and limits keep joints from the directions that the reach asks for, and so it may settle where the goals
 *   are not met. Where f no longer falls well, the goals of all effectors beyond a joint join its least squares, with
 *   a weight (`blend`) that grows as long as it has to; in the end they alone count, which is coordinate descent from
 *   the root to the tips. So f never rises, conflicting effectors end in a compromise by their weights, and goals out
 *   of reach need no case of their own.
 * - The step of an iteration is stretched while that lowers f (ulna_pattern_move).
 * - Locked degrees of freedom stay; a joint that has no other makes one body of two links. Strength under-relaxes: a
 *   degree of freedom goes min(1, strength) of the way. A root that moves is fitted like any other joint.
 * - Where nothing moves and yet the goal is not met, as on a straight chain with the goal on its line, all are bent a
 *   little (ulna_bend_and_sweep).
 *
 * Fails, or rather is slow, where many joints have to move together, as in a body full of markers: convergence is
 * linear.
 */
#include "solve/one_dof.h"

#define AHEAD 0.3         /* weight of the points beyond the next joint */
#define GOOD 0.9          /* f falls well if it falls to less than this part of itself */
#define LEAST_BLEND 0.1   /* weight of the goals beyond a joint, if they count */
#define MOST_BLEND 1000.0 /* they alone count */
#define LEAST 1e-18       /* of f: a smaller gain is no reason to move a joint */
enum { BENDS = 3, ROTATION_ROUNDS = 6 };

typedef struct point {
    int link; /* of the effector, or whose joint is here */
    int pull; /* number of the effector, or -1 for a joint */
    double weight;
    ulna_vec4 now, wanted; /* relative to the pose's origin, lane 3 is 1; or a direction, lane 3 is 0 */
} point;

typedef struct fabrik {
    int *owner;              /* nl: the link itself, or the one that it is stiff with */
    int *first;              /* nl + 1: points of each owner */
    int *joint;              /* nl: number of the point where its joint sits, or -1 */
    point *points;           /* sorted by owner */
    double *weight;          /* nl: of all effectors beyond the joint */
    unsigned char *is_short; /* nl: all its points are at the pivot */
    int *queue;              /* nl */
    ulna_move *motion;       /* nl: from the pose of the last evaluation to now */
    ulna_pull_sums *beyond;  /* nl: effectors beyond the joint and their goals, in that pose */
    double blend, stride;
    int sweeps, bends;
} fabrik;

_Static_assert(sizeof(fabrik) <= ULNA_METHOD_STATE, "state too large");

/* ---- set-up ------------------------------------------------------------------------------------------------------ */

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    fabrik *b = state;
    const ulna_problem *problem = s->problem;
    size_t nl = (size_t)s->model->nl;
    for (size_t i = 0; i < problem->term_count; i++)
        if (!ulna_pulls_of(problem->term[i].type))
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "method 'fabrik' takes points, directions and orientations, but term %zu is of type '%s'",
                             i, ulna_term_type_name(problem->term[i].type));
    b->owner = ulna_arena_take(arena, nl, sizeof *b->owner);
    b->first = ulna_arena_take(arena, nl + 1, sizeof *b->first);
    b->joint = ulna_arena_take(arena, nl, sizeof *b->joint);
    b->points = ulna_arena_take(arena, nl + (size_t)problem->pull_count, sizeof *b->points);
    b->weight = ulna_arena_take(arena, nl, sizeof *b->weight);
    b->is_short = ulna_arena_take(arena, nl, sizeof *b->is_short);
    b->queue = ulna_arena_take(arena, nl, sizeof *b->queue);
    b->motion = ulna_arena_take(arena, nl, sizeof *b->motion);
    b->beyond = ulna_arena_take(arena, nl, sizeof *b->beyond);
    return ULNA_OK;
}

/* Which links are bodies of their own, and what weighs beyond their joints: directions as points at the problem's
 * length. */
static void set_owners(ulna_solver *s, fabrik *b)
{
    const ulna_model *model = s->model;
    const ulna_problem *problem = s->problem;
    for (int l = 0; l < model->nl; l++) {
        const ulna_link *link = &model->link[l];
        int is_stiff = 1;
        for (int j = link->dof; j < link->dof + link->dof_count; j++)
            is_stiff &= s->locked[j];
        b->owner[l] = is_stiff && link->parent >= 0 ? b->owner[link->parent] : l;
        b->weight[l] = 0;
        for (int i = problem->pull_first[l]; i < problem->pull_first[l + 1]; i++) {
            const ulna_pull *pull = &problem->pull[i];
            b->weight[l] += pull->goal[3] / (pull->local[3] > 0 ? 1 : problem->length * problem->length);
        }
    }
    for (int l = model->nl - 1; l > 0; l--)
        b->weight[model->link[l].parent] += b->weight[l];
}

/* The link on which this one's joint is, or -1 if the joint does not matter. */
static int carrier(const ulna_solver *s, const fabrik *b, int l)
{
    int parent = s->model->link[l].parent;
    return parent >= 0 && b->owner[l] == l && b->weight[l] > 0 ? b->owner[parent] : -1;
}

static void list_points(ulna_solver *s, fabrik *b)
{
    const ulna_problem *problem = s->problem;
    int nl = s->model->nl;
    memset(b->first, 0, ((size_t)nl + 1) * sizeof *b->first);
    for (int l = 0; l < nl; l++) {
        for (int i = problem->pull_first[l]; i < problem->pull_first[l + 1]; i++)
            b->first[b->owner[l] + 1] += problem->pull[i].goal[3] > 0;
        if (carrier(s, b, l) >= 0)
            b->first[carrier(s, b, l) + 1]++;
    }
    for (int l = 0; l < nl; l++)
        b->first[l + 1] += b->first[l];
    for (int l = 0; l < nl; l++) { /* fills from each start on, which moves the starts ... */
        for (int i = problem->pull_first[l]; i < problem->pull_first[l + 1]; i++)
            if (problem->pull[i].goal[3] > 0)
                b->points[b->first[b->owner[l]]++] = (point){.link = l, .pull = i, .weight = problem->pull[i].goal[3]};
        int to = carrier(s, b, l);
        b->joint[l] = to >= 0 ? b->first[to]++ : -1;
        if (to >= 0)
            b->points[b->joint[l]] = (point){.link = l, .pull = -1, .weight = b->weight[l]};
    }
    for (int l = nl; l > 0; l--) /* ... to where the next ones were */
        b->first[l] = b->first[l - 1];
    b->first[0] = 0;
}

static ulna_status begin(ulna_solver *s, void *state)
{
    fabrik *b = state;
    b->sweeps = b->bends = 0;
    b->blend = 0;
    b->stride = 1;
    if (s->problem->pull_count) {
        set_owners(s, b);
        list_points(s, b);
    }
    return ULNA_OK;
}

/* ---- 1. from the tips to the root ------------------------------------------------------------------------------- */

static double size_of(ulna_vec4 x)
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

static ulna_vec4 pivot_of(const ulna_solver *s, int link)
{
    ulna_vec4 p = s->work->pose->frame[4 * (size_t)link + 3];
    p[3] = 1;
    return p;
}

/* Where the points are, and where the effectors are wanted. */
static void place_points(const ulna_solver *s, fabrik *b)
{
    const ulna_model *model = s->model;
    const ulna_pose *pose = s->work->pose;
    const double length = s->length;
    const ulna_vec4 origin = {pose->origin[0], pose->origin[1], pose->origin[2], 0};
    for (int l = 0; l < model->nl; l++) {
        double reach = 0;
        for (int i = b->first[l]; i < b->first[l + 1]; i++) {
            point *x = &b->points[i];
            const ulna_link *link = &model->link[x->link];
            const ulna_pull *pull = x->pull >= 0 ? &s->problem->pull[x->pull] : NULL;
            const ulna_vec4 *frame = pose->frame + 4 * (size_t)(pull ? x->link : link->parent);
            const double *at = pull ? (const double *)&pull->local : link->offset, is_point = pull ? at[3] : 1;
            x->now = frame[0] * at[0] + frame[1] * at[1] + frame[2] * at[2] + frame[3] * is_point;
            x->now[3] = is_point;
            if (pull)
                x->wanted = pull->goal - origin * is_point;
            x->wanted[3] = is_point;
            reach = fmax(reach, is_point > 0 ? size_of(x->now - pivot_of(s, l)) : length);
        }
        b->is_short[l] = reach <= 1e-9 * length;
    }
}

/* The rotation that brings a link's directions to their goals, one axis after the other; 0 if it has none. */
static int wanted_rotation(const fabrik *b, int l, ulna_move *rotation)
{
    ulna_axes axes = {.count = 3,
                      .segment = {ULNA_SEGMENT_RX, ULNA_SEGMENT_RY, ULNA_SEGMENT_RZ},
                      .axis = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}}};
    ulna_pull_sums sums = {0};
    int found = 0;
    *rotation = (ulna_move){0};
    for (int i = b->first[l]; i < b->first[l + 1]; i++)
        if (b->points[i].now[3] == 0) {
            const point *x = &b->points[i];
            ulna_sums_add_pull(&sums, x->weight, x->now, x->wanted - x->now);
            found = 1;
        }
    for (int k = 0; k < 3 * ROTATION_ROUNDS && found; k++) {
        double g, h;
        ulna_move move;
        ulna_sums_along(&sums, &axes, k % 3, 0, &g, &h);
        ulna_axes_move(&axes, k % 3, NULL, g == 0 && h == 0 ? 0 : atan2(-g, h), &move, NULL);
        ulna_sums_move(&sums, &move);
        ulna_move_append(rotation, &move);
    }
    return found;
}

/* Where the points of a link want its pivot to be. */
static ulna_vec4 wanted_pivot(const fabrik *b, int l, ulna_vec4 pivot)
{
    ulna_vec4 sum = {0};
    ulna_move rotation;
    double total = 0;
    int is_rotated = wanted_rotation(b, l, &rotation);
    for (int i = b->first[l]; i < b->first[l + 1]; i++) {
        const point *x = &b->points[i];
        ulna_vec4 arm = pivot - x->wanted, bone = pivot - x->now;
        double far = size_of(arm);
        if (x->now[3] == 0)
            continue;
        if (is_rotated)
            bone = ulna_moved(&rotation, bone);
        else if (far > 0)
            bone = arm * (size_of(bone) / far);
        sum += x->weight * (x->wanted + bone);
        total += x->weight;
    }
    return total > 0 ? sum / total : pivot;
}

/* What is left of a displacement of the link after its own translations have covered what they can. */
static ulna_vec4 beyond_translations(const ulna_solver *s, const ulna_link *link, ulna_vec4 way)
{
    if (!(link->flags & (ULNA_LINK_SLIDES | ULNA_LINK_GENERAL)))
        return way;
    ulna_axes axes;
    ulna_axes_read(s->work->pose, link, &axes);
    for (int i = axes.count - 1; i >= 0; i--) {
        if (!ulna_segment_is_translation(axes.segment[i]) || s->locked[link->dof + i])
            continue;
        ulna_profile profile = ulna_profile_of(s, &axes, i);
        ulna_vec4 a = axes.axis[i];
        double along = a[0] * way[0] + a[1] * way[1] + a[2] * way[2];
        way -= a * (profile.fraction * fmin(fmax(along, profile.low), profile.high));
    }
    return way;
}

static void reach_from_tips(const ulna_solver *s, fabrik *b)
{
    for (int l = s->model->nl - 1; l >= 0; l--) {
        if (b->joint[l] < 0)
            continue;
        ulna_vec4 pivot = pivot_of(s, l), way = wanted_pivot(b, l, pivot) - pivot;
        point *joint = &b->points[b->joint[l]];
        joint->wanted = joint->now + beyond_translations(s, &s->model->link[l], way);
    }
}

/* ---- 2. from the root to the tips ------------------------------------------------------------------------------- */

static void add_points(const fabrik *b, int link, double factor, const ulna_move *motion, ulna_pull_sums *sums)
{
    for (int i = b->first[link]; i < b->first[link + 1]; i++) {
        const point *x = &b->points[i];
        ulna_vec4 at = ulna_moved(motion, x->now);
        ulna_sums_add_pull(sums, factor * x->weight, at, x->wanted - at);
    }
}

/* What a link's joint is to bring near: its points, those of the links on them, and the goals beyond. */
static void gather(const fabrik *b, int l, const ulna_move *motion, ulna_pull_sums *sums)
{
    int count = 1;
    *sums = b->beyond[l];
    ulna_sums_move(sums, motion);
    if (b->blend >= MOST_BLEND)
        return;
    ulna_sums_scale(sums, b->blend);
    add_points(b, l, 1, motion, sums);
    b->queue[0] = l;
    for (int at = 0; at < count; at++) {
        int link = b->queue[at], goes_on = at == 0 || b->is_short[link];
        if (at > 0)
            add_points(b, link, AHEAD, motion, sums);
        for (int i = b->first[link]; i < b->first[link + 1] && goes_on; i++)
            if (b->points[i].pull < 0)
                b->queue[count++] = b->points[i].link;
    }
}

static void gather_beyond(const ulna_solver *s, fabrik *b)
{
    const ulna_problem *problem = s->problem;
    for (int l = 0; l < s->model->nl; l++)
        if (problem->pull_first[l] != problem->pull_first[l + 1])
            b->beyond[l] = s->work->targets.sums[l];
        else
            memset(&b->beyond[l], 0, sizeof b->beyond[l]);
    for (int l = s->model->nl - 1; l > 0; l--)
        ulna_sums_add(&b->beyond[s->model->link[l].parent], &b->beyond[l]);
}

typedef struct bow {
    const ulna_pull_sums *sums;
    const ulna_axes *axes;
    const double *q;
    int i;
} bow;

static double along_curve(void *context, double t, double *slope)
{
    const bow *c = context;
    return ulna_sums_curve(c->sums, c->axes, c->i, c->q, t, slope);
}

/* Moves one degree of freedom as far as is best. Returns what that gains. */
static double fit_dof(ulna_solver *s, const fabrik *b, ulna_axes *axes, int i, ulna_pull_sums *sums, ulna_move *motion)
{
    int dof = axes->link->dof + i;
    double *q = s->trial + axes->link->coordinate, decrease;
    ulna_profile profile = ulna_profile_of(s, axes, i);
    bow context = {sums, axes, q, i};
    ulna_move move;
    profile.least = LEAST * s->f;
    if (profile.kind == ULNA_PROFILE_CURVE) {
        profile.rest = along_curve;
        profile.context = &context;
        if (b->sweeps > 3 && b->sweeps % 8) /* as ccd: a whole turn now and then */
            profile.window = 0;
    } else {
        ulna_sums_along(sums, axes, i, s->f, &profile.g, &profile.h);
    }
    double t = ulna_profile_minimise(&profile, &decrease);
    if (t == 0)
        return 0;
    ulna_axes_move(axes, i, q, t, &move, NULL);
    ulna_sums_move(sums, &move);
    ulna_move_append(motion, &move);
    ulna_axes_step(axes, i, t, &move, q);
    ulna_profile_stay_inside(&profile, s, dof, t);
    s->step[dof] += t;
    return decrease;
}

/* A joint of n degrees of freedom is swept n times. */
static double reach_from_root(ulna_solver *s, fabrik *b)
{
    double gain = 0;
    for (int l = 0; l < s->model->nl; l++) {
        const ulna_link *link = &s->model->link[l];
        if (b->owner[l] != l || !(b->weight[l] > 0))
            continue;
        ulna_axes axes;
        ulna_pull_sums sums;
        ulna_move motion = link->parent >= 0 ? b->motion[b->owner[link->parent]] : (ulna_move){0};
        ulna_axes_read(s->work->pose, link, &axes);
        ulna_axes_carry(&axes, &motion);
        gather(b, l, &motion, &sums);
        for (int round = 0; round < axes.count; round++)
            for (int i = 0; i < axes.count; i++)
                if (!s->locked[link->dof + i])
                    gain += fit_dof(s, b, &axes, i, &sums, &motion);
        b->motion[l] = motion;
    }
    return gain;
}

/* ---- iterations ------------------------------------------------------------------------------------------------- */

/* An ulna_sweep_once: there and back. */
static double reach(ulna_solver *s, void *state)
{
    fabrik *b = state;
    if (!s->problem->pull_count)
        return 0;
    b->sweeps++;
    place_points(s, b);
    reach_from_tips(s, b);
    gather_beyond(s, b);
    return reach_from_root(s, b);
}

/* How much the goals themselves are to count in the next one. */
static void set_blend(fabrik *b, double before, double after)
{
    if (after < GOOD * before)
        b->blend = b->blend > LEAST_BLEND ? 0.5 * b->blend : 0;
    else
        b->blend = fmin(fmax(4 * b->blend, LEAST_BLEND), MOST_BLEND);
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    fabrik *b = state;
    double predicted, before = s->f, blend = b->blend;
    ulna_status status = ulna_sweep_from_q(s, reach, b, &predicted);
    s->now.damping = blend;
    if (status != ULNA_OK)
        return status;
    set_blend(b, before, s->f);
    if (s->now.accepted)
        return ulna_pattern_move(s, &b->stride);
    if (blend < MOST_BLEND)
        return ULNA_OK;

    /* Nowhere to go, not even towards the goals alone. */
    if (b->bends++ < BENDS)
        status = ulna_bend_and_sweep(s, reach, b);
    return status == ULNA_OK && !s->now.accepted ? ulna_end_of_sweeps(s, predicted) : status;
}

const ulna_method ulna_method_fabrik = {
    .info =
        {.name = "fabrik",
         .summary =
             "forward and backward reaching: moves joint positions along the bones, from the goals to the root and back",
         .source = "Aristidou and Lasenby 2011; Aristidou, Chrysanthou and Lasenby 2016",
         .supports = "points, directions and orientations; all joints",
         .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE | ULNA_METHOD_POSITIONS,
         .iterations = 1000},
    .patience = 20,
    .begin = begin,
    .layout = layout,
    .iterate = iterate,
};
