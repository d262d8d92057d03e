/*
 * The last step of the reduction: parts become nodes, offsets become bones, goals are assigned to nodes.
 *
 * Offsets commute with translations, so they are moved past them; they become bones only at rotations and goals. So the
 * parent of a bone is never a bone: the points of one rigid part are siblings, and points at the same position are one.
 *
 * Node 0 is at the first moving part below the world, so that no digits are lost if the base is far from the origin.
 */
#include "global/reduce.h"
#include "math/math3.h"

#define FAR 1e-3 /* of the distance of the goals: the least unit of length, so that squares of positions keep digits */
#define NARROW 0.01 /* of the distance to the middle of the limits: half the width of limits that count as narrow */

/* ---- nodes ------------------------------------------------------------------------------------------------------- */

static int add_node(ulna_reducer *work, ulna_reduced *r, ulna_edge edge, int parent, int body)
{
    int number = r->count++;
    r->nodes[number] = (ulna_node){.edge = edge, .parent = parent, .dof = ULNA_NONE, .body = body};
    work->first_bone[number] = work->next_bone[number] = ULNA_NONE;
    return number;
}

/* Makes positions below the world relative to node 0; the first of them becomes the position of node 0. */
static void anchor(ulna_reducer *work, int node, double offset[3])
{
    if (node != 0)
        return;
    if (!work->anchored)
        ulna_copy3(offset, work->to->node0);
    work->anchored = 1;
    for (int i = 0; i < 3; i++)
        offset[i] -= work->to->node0[i];
}

/* The node at an offset (metres, anchored) from node `from`: itself, or one of its bones, or ULNA_NONE. */
static int find_node(const ulna_reducer *work, const ulna_reduced *r, int from, const double offset[3])
{
    if (ulna_norm(offset) <= work->tiny)
        return from;
    for (int b = work->first_bone[from]; b != ULNA_NONE; b = work->next_bone[b]) {
        double apart[3];
        for (int i = 0; i < 3; i++)
            apart[i] = r->nodes[b].v[i] - offset[i];
        if (ulna_norm(apart) <= work->tiny)
            return b;
    }
    return ULNA_NONE;
}

/* The same, but adds a bone if there is none. */
static int node_at(ulna_reducer *work, ulna_reduced *r, int from, const double offset[3], int body)
{
    int found = find_node(work, r, from, offset);
    if (found != ULNA_NONE)
        return found;
    int bone = add_node(work, r, ULNA_EDGE_BONE, from, body);
    ulna_copy3(offset, r->nodes[bone].v);
    work->next_bone[bone] = work->first_bone[from];
    work->first_bone[from] = bone;
    return bone;
}

/* Where the travel of a translation is measured from. If the limits are narrow relative to their distance from 0: from
 * their middle, and the offset to the middle becomes part of the bone; otherwise its moments would be a large constant
 * with a small variance, and lose digits. Else from 0: a single edge gives the tighter relaxation. */
static double narrow_middle(const ulna_part *part)
{
    const double middle = 0.5 * part->lower + 0.5 * part->upper, half = 0.5 * (part->upper - part->lower);
    return isfinite(middle) && half < NARROW * fabs(middle) ? middle : 0;
}

static void emit_parts(ulna_reducer *work, ulna_reduced *r)
{
    add_node(work, r, ULNA_EDGE_WORLD, ULNA_NONE, ULNA_NONE);
    for (int i = 1; i < work->part_count; i++) {
        ulna_part *part = &work->parts[i];
        if (ulna_part_is_gone(part))
            continue;
        const ulna_part *parent = &work->parts[part->parent];
        double offset[3], middle = part->edge == ULNA_EDGE_TRANSLATION ? narrow_middle(part) : 0;
        for (int k = 0; k < 3; k++)
            offset[k] = parent->carried[k] + part->offset[k] + middle * part->axis[k];
        int from = parent->node;
        if (part->edge != ULNA_EDGE_FREE)
            anchor(work, from, offset);
        if (part->edge == ULNA_EDGE_TRANSLATION)
            ulna_copy3(offset, part->carried);
        else
            from = node_at(work, r, from, offset, part->body);
        part->node = add_node(work, r, part->edge, from, part->body);
        ulna_node *node = &r->nodes[part->node];
        if (part->ball != ULNA_NONE) {
            work->to->balls[part->ball].node = part->node;
            continue;
        }
        node->dof = part->dof;
        node->middle = middle;
        node->lower = part->lower - middle;
        node->upper = part->upper - middle;
        ulna_copy3(part->axis, node->axis);
    }
}

/* ---- goals ------------------------------------------------------------------------------------------------------- */

static int is_point(const ulna_reducer *work, size_t term)
{
    return work->problem->term[term].type == ULNA_TERM_POINT && work->to->terms[term].node != ULNA_NONE;
}

/* The rigid part that a point is on: the node whose frame it is in. */
static int base_of(const ulna_reducer *work, const ulna_reduced_term *term)
{
    return work->parts[term->node].node;
}

/* Whether this point of a rigid part shares a goal with others. `offset` is relative to the node. */
static int may_gather(const ulna_reducer *work, const ulna_reduced *r, const ulna_reduced_term *term,
                      const double offset[3], ulna_gather gather)
{
    if (gather == ULNA_GATHER_LOOSE)
        return find_node(work, r, base_of(work, term), offset) == ULNA_NONE;
    return gather == ULNA_GATHER_ALL;
}

/* Chooses the node for the common goal of several points of a rigid part: a new bone to their centroid, which changes with
 * the weights; or the node itself if the centroid is there. */
static void gather_points(ulna_reducer *work, ulna_reduced *r, ulna_gather gather)
{
    double(*mean)[4] = work->to->mean;
    for (size_t i = 0; i < work->problem->term_count; i++) {
        ulna_reduced_term *term = &work->to->terms[i];
        if (!is_point(work, i) || term->node == 0)
            continue;
        const ulna_part *part = &work->parts[term->node];
        double offset[3], weight = ulna_term_weight(work->problem, &work->problem->term[i]);
        for (int k = 0; k < 3; k++)
            offset[k] = part->carried[k] + term->offset[k];
        term->gathered = may_gather(work, r, term, offset, gather);
        if (!term->gathered)
            continue;
        ulna_reduce_average(mean[part->node], weight, offset);
        work->gathers[part->node]++;
    }
    for (int n = 0, nodes = r->count; n < nodes; n++) {
        if (work->gathers[n] < 2) {
            work->gathers[n] = ULNA_NONE;
        } else if (ulna_norm(mean[n]) <= work->tiny) {
            work->gathers[n] = n;
        } else {
            work->gathers[n] = add_node(work, r, ULNA_EDGE_BONE, n, r->nodes[n].body);
            ulna_copy3(mean[n], r->nodes[work->gathers[n]].v);
        }
    }
}

/* Assigns terms to nodes instead of parts. */
static void emit_terms(ulna_reducer *work, ulna_reduced *r, ulna_gather gather)
{
    gather_points(work, r, gather);
    for (size_t i = 0; i < work->problem->term_count; i++) {
        ulna_reduced_term *term = &work->to->terms[i];
        if (term->node == ULNA_NONE)
            continue;
        int base = base_of(work, term);
        if (!is_point(work, i)) {
            term->node = term->rotation_node = base;
            continue;
        }
        if (term->node == 0) /* it cannot move: offset is its position */
            continue;
        const ulna_part *part = &work->parts[term->node];
        ulna_accumulate3(part->carried, term->offset);
        term->gathered &= work->gathers[base] != ULNA_NONE;
        term->rotation_node = term->gathered ? work->parts[part->owner].node : ULNA_NONE;
        term->node =
            term->gathered ? work->gathers[base] : node_at(work, r, base, term->offset, work->problem->term[i].body);
    }
}

/* ---- scales ------------------------------------------------------------------------------------------------------ */

/* Centre: centroid of the goals. Length: the longest path along bones and translations with limits, or the distance of the
 * goals from node 0. Unit: cost of one length with the largest weight. Converts the tree, except for the goals, from
 * metres to these units. */
static void choose_scales(ulna_reduced *r, double *reach)
{
    double weight = 0, heaviest = 0, centre[3] = {0, 0, 0}, longest = 0, farthest = 0, rotation = 0;
    for (int n = 0; n < r->count; n++) {
        const ulna_node *node = &r->nodes[n];
        double far = fmax(fabs(node->lower), fabs(node->upper)), size = 0;
        reach[n] = (n > 0 ? reach[node->parent] : 0) + ulna_norm(node->v);
        if (node->edge == ULNA_EDGE_TRANSLATION && isfinite(far))
            reach[n] += far;
        for (int i = 0; i < 9; i++)
            size += node->rotation_cost[i] * node->rotation_cost[i];
        rotation = fmax(rotation, sqrt(size));
        if (!(node->weight > 0))
            continue;
        weight += node->weight;
        for (int i = 0; i < 3; i++)
            centre[i] += (node->goal[i] - centre[i]) * (node->weight / weight);
        heaviest = fmax(heaviest, node->weight);
        longest = fmax(longest, reach[n]);
        farthest = fmax(farthest, ulna_norm(node->goal));
    }
    ulna_copy3(centre, r->centre);
    r->length = longest > 0 || farthest > 0 ? fmax(longest, longest > 0 ? FAR * farthest : farthest) : 1;
    r->unit = fmax(heaviest * r->length * r->length, rotation);
    if (!(r->unit > 0)) /* nothing moves: only the constant is left */
        r->unit = 1;
    for (int n = 1; n < r->count; n++) {
        ulna_node *node = &r->nodes[n];
        for (int i = 0; i < 3; i++)
            node->v[i] /= r->length;
        if (node->edge == ULNA_EDGE_TRANSLATION) {
            node->lower /= r->length;
            node->upper /= r->length;
            node->middle /= r->length;
        }
    }
}

void ulna_reduce_emit(ulna_reducer *work, ulna_reduced *reduced, ulna_gather gather)
{
    emit_parts(work, reduced);
    emit_terms(work, reduced, gather);
    for (int i = 0; i < 3; i++)
        reduced->origin[i] = work->to->home[i] + work->to->node0[i];
    reduced->length = reduced->unit = 1;
    ulna_reduce_fill(reduced, work->problem);
    choose_scales(reduced, work->reach);
    ulna_reduce_fill(reduced, work->problem);
}
