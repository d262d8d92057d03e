/* Links: bodies that move, with the fixed ones folded in, numbered so that neighbours are independent and near. */
#include "math/math3.h"
#include "model/builder.h"

/* ---- numbering ---------------------------------------------------------------------------------------------- */

static int is_link(const ulna_model *model, int body)
{
    return body == 0 || model->body[body].dof_count > 0;
}

/*
 * Level by level where a subtree fits in the cache, one such subtree after the other where the whole does not: a
 * counting sort into buckets, bodies in order within one. A subtree of n bodies has at most n levels, so that its place
 * in the depth-first walk plus the level is a bucket of its own.
 */
static void number_links(ulna_model *model, int *bucket, int *count)
{
    enum { BODIES_AT_ONCE = 128 };
    ulna_body *body = model->body;
    for (int i = 0; i < model->nb; i++) {
        int apart = i == 0 || body[body[i].parent].subtree > BODIES_AT_ONCE;
        bucket[i] = apart ? body[i].preorder : bucket[body[i].parent] + is_link(model, i);
        count[i] = 0;
    }
    for (int i = 0; i < model->nb; i++)
        count[bucket[i]] += is_link(model, i);
    for (int i = 0, next = 0; i < model->nb; i++) {
        int here = count[i];
        count[i] = next;
        next += here;
    }
    for (int i = 0; i < model->nb; i++)
        body[i].link = is_link(model, i) ? count[bucket[i]]++ : body[body[i].parent].link;
}

/* ---- what a link is made of --------------------------------------------------------------------------------- */

/* DOFs in blocks, from the distal end: up to three at a time, never rotations and translations together, and no quaternion or
 * rotation vector (with its twist) is cut. */
static void cut_blocks(ulna_link *link)
{
    unsigned char size[ULNA_JOINT_MAX_SEGMENTS];
    int count = 0, growing = 0, slides = 0; /* growing: the last block has room for another DOF of its kind */
    for (int i = link->segment_count - 1; i >= 0; i--) {
        ulna_segment segment = (ulna_segment)link->segment[i];
        int twisted = i > 0 && (segment == ULNA_SEGMENT_SWING || link->segment[i - 1] == ULNA_SEGMENT_SWING);
        if (twisted || segment >= ULNA_SEGMENT_BALL) {
            size[count++] = 3;
            growing = 0;
            i -= twisted;
            continue;
        }
        if (growing && slides == ulna_segment_is_translation(segment))
            size[count - 1]++;
        else
            size[count++] = 1;
        slides = ulna_segment_is_translation(segment);
        growing = size[count - 1] < 3;
    }
    link->block_count = (unsigned char)count;
    for (int i = 0; i < count; i++)
        link->block[i] = size[count - 1 - i];
}

static void set_frame(ulna_link *link, const double rotation[9], const double position[3])
{
    double difference = 0;
    for (int i = 0; i < 9; i++)
        difference = fmax(difference, fabs(rotation[i] - (i % 4 == 0)));
    int unturned = difference <= 1e-15;
    if (unturned)
        link->flags |= ULNA_LINK_UNTURNED;
    for (int column = 0; column < 3; column++)
        for (int row = 0; row < 3; row++)
            link->rotation[column][row] = unturned ? row == column : rotation[3 * row + column];
    for (int row = 0; row < 3; row++)
        link->offset[row] = position[row];
}

static void fill_link(ulna_link *link, const ulna_model *model, int index, const ulna_joint_plan *plan)
{
    const ulna_body *body = &model->body[index];
    link->parent = index > 0 ? model->body[body->parent].link : ULNA_NONE;
    link->body = index;
    link->dof = body->dof;
    link->dof_count = body->dof_count;
    link->coordinate = body->coordinate;
    link->sign = plan->sign;
    link->segment_count = (unsigned char)plan->segment_count;
    link->flags = 0;
    for (int i = 0; i < plan->segment_count; i++) {
        link->segment[i] = plan->segment[i];
        if (plan->segment[i] >= ULNA_SEGMENT_BALL || plan->sign < 0)
            link->flags |= ULNA_LINK_GENERAL;
        if (ulna_segment_is_translation(plan->segment[i]))
            link->flags |= ULNA_LINK_SLIDES;
    }
    cut_blocks(link);
}

/* link = parent body in its link * placement * pre;   body in its link = post * offset, or, for a body that is
 * folded into its parent's link, parent body in that link * placement * offset. */
static void place_body(ulna_model *model, int index)
{
    static const double nowhere[3] = {0, 0, 0};
    ulna_body *body = &model->body[index];
    double above[9], start[3] = {0, 0, 0}, rotation[9], position[3];
    ulna_identity9(above);
    if (index > 0) {
        const ulna_body *parent = &model->body[body->parent];
        ulna_copy9(parent->link_rotation, above);
        ulna_copy3(parent->link_position, start);
    }
    ulna_compose(above, start, body->placement_rotation, body->placement_position, rotation, position);

    ulna_joint_plan plan;
    ulna_joint_resolve(&model->joint[index], &plan, NULL); /* the builder has accepted it */
    if (is_link(model, index)) {
        ulna_link *link = &model->link[body->link];
        double turned[9];
        fill_link(link, model, index, &plan);
        ulna_multiply9(rotation, plan.pre, turned);
        set_frame(link, turned, position);
        ulna_compose(plan.post, nowhere, body->offset_rotation, body->offset_position, body->link_rotation,
                     body->link_position);
    } else {
        ulna_compose(rotation, position, body->offset_rotation, body->offset_position, body->link_rotation,
                     body->link_position);
    }
}

/* ---- the model's view of its links --------------------------------------------------------------------------- */

/* The last link with a slide on the unbranched way down from the root, or the first that moves if none slides: that way is
 * 0, 1, 2, ... until two links share a parent. */
static int find_reference(const ulna_model *model, int *children)
{
    int reference = 0;
    for (int l = 0; l < model->nl; l++)
        children[l] = 0;
    for (int l = 1; l < model->nl; l++)
        children[model->link[l].parent]++;
    for (int l = 0; l == 0 || (l < model->nl && children[l - 1] == 1); l++)
        if (model->link[l].flags & ULNA_LINK_SLIDES || model->link[reference].dof_count == 0)
            reference = l;
    return reference;
}

/* What each link carries of the whole mass; zero if nothing has mass. */
static void share_mass(ulna_model *model)
{
    double whole = 0;
    for (int i = 0; i < model->nb; i++)
        whole += model->mass[i].mass;
    for (int i = 0; whole > 0 && i < model->nb; i++) {
        const ulna_body *body = &model->body[i];
        double *share = model->link_mass[body->link], part = model->mass[i].mass / whole, centre[3];
        ulna_rotate(body->link_rotation, model->mass[i].center, centre);
        for (int k = 0; k < 3; k++)
            share[k] += part * (centre[k] + body->link_position[k]);
        share[3] += part;
    }
}

void ulna_model_make_links(ulna_model *model, int *bucket, int *count)
{
    number_links(model, bucket, count);
    for (int i = 0; i < model->nb; i++)
        place_body(model, i);
    share_mass(model);

    for (int j = 0; j < model->nv; j++)
        model->dof_link[j] = model->body[model->dof_body[j]].link;
    for (int l = 0; l < model->nl; l++)
        model->has_general |= (model->link[l].flags & ULNA_LINK_GENERAL) != 0;
    model->reference = find_reference(model, count);
}
