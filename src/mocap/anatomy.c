/*
 * The shape of a skeleton.
 *
 * Left and right: of the three axes, the one across which each joint at rest has another joint, or itself, as its mirror image
 * best of all; the plane goes through the root. That is a property of every animal and of most puppets; where no axis will
 * do, as for an arm or a hand, there is no midline.
 *
 * A chain is a run of bodies, each the only one that moves on its parent, whose joints have the same two or three rotations
 * about the same axes: the joints of a spine. On a skeleton with two halves it lies on the midline, since limbs of files that
 * give every joint three rotations look the same; without halves it has three joints or more.
 */
#include "mocap/anatomy.h"

#include <math.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "model/model.h"
#include "ulna/kinematics.h"

#define ON_PLANE 0.02 /* of the length scale: a joint that near to the plane is on it */
#define SAME_PLACE                                                                                                     \
    0.08 /* of the length scale: mirror images are so near to each other; a person's arms may differ by 3 cm */
#define MIRRORED 0.8        /* of the bodies off the plane have a mirror image */
#define SAME_DIRECTION 0.85 /* cosine between axes of neighbouring joints */
#define SPINE 30            /* times the posture of a limb: trunk, neck */
#define GIRDLE 100          /* clavicles: one marker, which skin moves, on two joints */
#define TIP 10              /* toes, fingers */
#define LONE 3              /* a hand with one marker: on average over a take within some 20 degrees of rest */

enum { SHORTEST_FREE_CHAIN = 3, MOST_BODIES = 2000 /* of what has two halves: pairs are looked for among all */ };

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static void take_arrays(ulna_anatomy *a, ulna_arena *arena)
{
    size_t nb = (size_t)a->nb;
    int **numbers[] = {&a->mirror, &a->own, &a->chain};
    unsigned char **marks[] = {&a->is_root, &a->is_on_axis, &a->is_girdle, &a->is_tip, &a->is_lone};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ulna_arena_take(arena, nb, sizeof **numbers[i]);
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        *marks[i] = ulna_arena_take(arena, nb, 1);
}

void ulna_anatomy_destroy(ulna_anatomy *a)
{
    if (a) {
        ulna_allocator allocator = a->allocator;
        ulna_release(&allocator, a, a->bytes, 1);
    }
}

/* ---- left and right ---------------------------------------------------------------------------------------------- */

/* The body at the mirror image of body b; itself on the plane. */
static int mirror_of(const ulna_model *model, const double *place, int axis, int b)
{
    const double *p = place + 3 * b;
    double off = p[axis] - place[axis], best = SAME_PLACE * model->length_scale;
    int found = ULNA_NONE;
    if (fabs(off) < ON_PLANE * model->length_scale)
        return b;
    for (int c = 0; c < model->nb; c++) {
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = place[3 * c + k] - p[k] + (k == axis ? 2 * off : 0);
        if (model->body[c].depth == model->body[b].depth && ulna_norm(d) < best) {
            best = ulna_norm(d);
            found = c;
        }
    }
    return found;
}

static void find_midline(ulna_anatomy *a, const ulna_model *model, const double *place)
{
    double best = MIRRORED;
    int found = ULNA_NONE;
    for (int axis = 0; axis < 3 && model->nb <= MOST_BODIES; axis++) {
        int off = 0, mirrored = 0;
        for (int b = 0; b < model->nb; b++) {
            int other = mirror_of(model, place, axis, b);
            off += other != b;
            mirrored += other != b && other != ULNA_NONE;
        }
        if (mirrored >= 2 && mirrored > best * off) {
            best = (double)mirrored / off;
            found = axis;
        }
    }
    a->has_midline = found != ULNA_NONE;
    for (int b = 0; b < model->nb; b++)
        a->mirror[b] = a->has_midline ? mirror_of(model, place, found, b) : ULNA_NONE;
    if (a->has_midline)
        a->left[found] = 1;
}

/* ---- joints ------------------------------------------------------------------------------------------------------ */

static int rotations_of(const ulna_model *model, int b)
{
    int count = 0;
    for (int d = model->body[b].dof; d < model->body[b].dof + model->body[b].dof_count; d++)
        count += !ulna_segment_is_translation(model->dof_segment[d]);
    return count;
}

int ulna_moving_parent(const ulna_model *model, int body)
{
    int up = model->body[body].parent;
    while (up != ULNA_NONE && !model->body[up].dof_count)
        up = model->body[up].parent;
    return up;
}

/* Joints before the first branch, down to the last translation, if they can take the skeleton anywhere. */
static void find_root(ulna_anatomy *a, const ulna_model *model)
{
    int translations = 0;
    for (int d = 0; d < model->nv; d++)
        translations += model->dof_link[d] <= model->reference && ulna_segment_is_translation(model->dof_segment[d]);
    for (int b = 0; b < model->nb; b++)
        a->is_root[b] = translations >= 3 && model->body[b].link <= model->reference;
}

/* Does the joint of b have the rotations of its parent's, about the same axes at rest? */
static int is_like_parent(const ulna_model *model, const ulna_pose *rest, int b)
{
    const ulna_body *body = &model->body[b], *up = &model->body[body->parent];
    int count = body->dof_count;
    if (count != up->dof_count || count < 2 || rotations_of(model, b) != count)
        return 0;
    for (int k = 0; k < count; k++) {
        double axis[2][3], aside[3];
        if (model->dof_segment[body->dof + k] != model->dof_segment[up->dof + k])
            return 0;
        ulna_pose_dof_axis(rest, body->dof + k, axis[0], aside);
        ulna_pose_dof_axis(rest, up->dof + k, axis[1], aside);
        if (ulna_dot(axis[0], axis[1]) < SAME_DIRECTION * ulna_norm(axis[0]) * ulna_norm(axis[1]))
            return 0;
    }
    return 1;
}

/* The child of each body that markers are on, or beyond; ULNA_NONE if there are none or several. */
static void find_only_children(const ulna_model *model, const unsigned char *is_moved, int *child)
{
    enum { SEVERAL = -2 };
    for (int b = 0; b < model->nb; b++)
        child[b] = ULNA_NONE;
    for (int b = 1; b < model->nb; b++)
        if (is_moved[b])
            child[model->body[b].parent] = child[model->body[b].parent] == ULNA_NONE ? b : SEVERAL;
    for (int b = 0; b < model->nb; b++)
        child[b] = child[b] == SEVERAL ? ULNA_NONE : child[b];
}

static int may_be_in_chain(const ulna_anatomy *a, int b)
{
    return a->chain[b] == ULNA_NONE && !a->is_root[b] && (!a->has_midline || a->mirror[b] == b);
}

static void find_chains(ulna_anatomy *a, const ulna_model *model, const ulna_pose *rest, const unsigned char *is_moved,
                        const int *child)
{
    for (int b = 0; b < model->nb; b++) {
        if (!is_moved[b] || !may_be_in_chain(a, b))
            continue;
        int length = 1;
        for (int c = child[b]; c != ULNA_NONE && may_be_in_chain(a, c) && is_like_parent(model, rest, c); c = child[c])
            length++;
        if (length < (a->has_midline ? 2 : SHORTEST_FREE_CHAIN))
            continue;
        for (int c = b; length-- > 0; c = child[c]) {
            a->chain[c] = a->chains;
            a->is_on_axis[c] = (unsigned char)a->has_midline;
        }
        a->chains++;
    }
}

/*
 * Joints that no marker shows, or one. One marker shows the two rotations across the way to it, never a third: a joint of three that has
 * no other marker, on it or beyond, is held near rest as toes and fingers are. One of two that has a single marker follows it, but takes
 * every error of that marker's offset for a rotation: it is held a little.
 * `beyond`: nb, scratch: joints hang on a body, near or far, and bit MARKED if they carry markers.
 */
static void find_ends(ulna_anatomy *a, const ulna_model *model, unsigned char *beyond)
{
    enum { JOINTS = 1, MARKED = 2 };
    memset(beyond, 0, (size_t)model->nb);
    for (int b = model->nb - 1; b > 0; b--) {
        int here = (model->body[b].dof_count ? JOINTS : 0) | (a->own[b] ? MARKED : 0);
        beyond[model->body[b].parent] |= (unsigned char)(beyond[b] | here);
    }
    for (int b = 0; b < model->nb; b++) {
        int parent = ulna_moving_parent(model, b);
        if (!model->body[b].dof_count || a->own[b] > 1 || a->is_root[b] || a->is_on_axis[b])
            continue;
        int has_joints = beyond[b] & JOINTS, is_shown = beyond[b] & MARKED || rotations_of(model, b) < 3;
        a->is_girdle[b] = has_joints && parent != ULNA_NONE && a->is_on_axis[parent];
        a->is_tip[b] = !a->is_girdle[b] && (!has_joints || !is_shown);
        a->is_lone[b] = a->own[b] == 1 && !(beyond[b] & MARKED) && rotations_of(model, b) >= 2;
    }
}

/* `place` (3 nb), `child` and `is_moved` (nb) are scratch. */
static ulna_status examine(ulna_anatomy *a, const ulna_model *model, ulna_pose *rest, double *place, int *child,
                           unsigned char *is_moved)
{
    ulna_status status = ulna_pose_forward(rest, model->rest);
    for (int b = 0; b < model->nb && status == ULNA_OK; b++) {
        status = ulna_pose_body(rest, b, place + 3 * b, NULL);
        a->chain[b] = ULNA_NONE;
    }
    for (int b = model->nb - 1; b >= 0; b--) {
        is_moved[b] |= a->own[b] > 0;
        if (is_moved[b] && model->body[b].parent >= 0)
            is_moved[model->body[b].parent] = 1;
    }
    find_midline(a, model, place);
    find_root(a, model);
    find_only_children(model, is_moved, child);
    find_chains(a, model, rest, is_moved, child);
    find_ends(a, model, is_moved);
    return status;
}

ulna_status ulna_anatomy_create(const ulna_model *model, const int *body, const double *weight, int count,
                                const ulna_allocator *allocator, ulna_anatomy **anatomy)
{
    ulna_anatomy layout = {.allocator = ulna_allocator_or_default(allocator), .nb = model->nb};
    ulna_arena arena = {NULL, sizeof layout, 0};
    *anatomy = NULL;
    take_arrays(&layout, &arena);
    layout.bytes = arena.used;
    size_t nb = (size_t)model->nb;
    void *memory = arena.failed ? NULL : ulna_allocate(&layout.allocator, layout.bytes, 1);
    double *place = ulna_allocate(&layout.allocator, 5 * nb, sizeof *place);
    ulna_pose *rest = NULL;
    ulna_status status = memory && place ? ulna_pose_create(model, &layout.allocator, &rest, NULL) : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        arena = (ulna_arena){memory, sizeof layout, 0};
        take_arrays(&layout, &arena);
        *anatomy = memory;
        **anatomy = layout;
        for (int i = 0; i < count; i++)
            layout.own[body[i]] += weight[i] > 0;
        status = examine(*anatomy, model, rest, place, (int *)(place + 3 * nb), (unsigned char *)(place + 4 * nb));
    }
    ulna_pose_destroy(rest);
    ulna_release(&layout.allocator, place, 5 * nb, sizeof *place);
    if (status != ULNA_OK) {
        ulna_release(&layout.allocator, memory, layout.bytes, 1);
        *anatomy = NULL;
    }
    return status;
}

double ulna_anatomy_posture(const ulna_anatomy *a, int body)
{
    if (a->is_root[body])
        return 0;
    return a->is_on_axis[body]  ? SPINE
           : a->is_girdle[body] ? GIRDLE
           : a->is_tip[body]    ? TIP
           : a->is_lone[body]   ? LONE
                                : 1;
}

static int depth_of(const ulna_model *model, int body)
{
    int depth = 0;
    while ((body = model->body[body].parent) != ULNA_NONE)
        depth++;
    return depth;
}

int ulna_joints_between(const ulna_model *model, int a, int b)
{
    int joints = 0, depth[2] = {depth_of(model, a), depth_of(model, b)};
    for (; a != b; joints++) {
        int *deeper = depth[0] >= depth[1] ? &a : &b;
        depth[deeper == &b]--;
        *deeper = model->body[*deeper].parent;
    }
    return joints;
}
