/* Editing: back to a builder, other lengths, another parent, another root. */
#include "math/math3.h"
#include "model/builder.h"

#define NAME "\"%.80s\""

/* ---- back to a builder -------------------------------------------------------------------------------------- */

static ulna_status copy_body(const ulna_model *model, int index, ulna_builder *builder, ulna_error *error)
{
    const ulna_body *body = &model->body[index];
    ulna_status status = ulna_builder_add_body(builder, model->names + body->name, body->parent, NULL, error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint(builder, index, &model->joint[index], error);
    if (status == ULNA_OK)
        status = ulna_builder_set_rest(builder, index, model->rest + body->coordinate, body->coordinate_count, error);
    if (status != ULNA_OK)
        return status;

    ulna_builder_body *to = &builder->body[index];
    ulna_copy9(body->placement_rotation, to->placement_rotation);
    ulna_copy3(body->placement_position, to->placement_position);
    ulna_copy9(body->offset_rotation, to->offset_rotation);
    ulna_copy3(body->offset_position, to->offset_position);
    for (int k = 0; k < body->dof_count; k++) {
        to->lower[k] = model->lower[body->dof + k];
        to->upper[k] = model->upper[body->dof + k];
        to->strength[k] = model->strength[body->dof + k];
    }
    to->mass = model->mass[index];
    to->user_data = body->user_data;
    return body->joint_name == body->name
               ? ULNA_OK
               : ulna_builder_set_joint_name(builder, index, model->names + body->joint_name, error);
}

static ulna_status copy_coupling(const ulna_model *model, const ulna_coupling *c, ulna_builder *builder,
                                 ulna_error *error)
{
    int body = model->dof_body[c->dof], master = model->dof_body[c->master];
    return ulna_builder_couple(builder, body, c->dof - model->body[body].dof, master,
                               c->master - model->body[master].dof, c->multiplier, c->offset, error);
}

ulna_status ulna_builder_from_model(const ulna_model *model, const ulna_allocator *allocator, ulna_builder **builder,
                                    ulna_error *error)
{
    if (!builder)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the builder given");
    *builder = NULL;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no model given");
    ulna_status status = ulna_builder_create(allocator, builder);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "out of memory for a builder");
    status = ulna_builder_set_name(*builder, model->names, error);
    for (int i = 0; i < model->nb && status == ULNA_OK; i++)
        status = copy_body(model, i, *builder, error);
    for (int i = 0; i < model->nc && status == ULNA_OK; i++)
        status = copy_coupling(model, &model->coupling[i], *builder, error);
    for (int i = 0; i < model->nm && status == ULNA_OK; i++) {
        const ulna_marker *m = &model->marker[i];
        status =
            ulna_builder_add_marker(*builder, model->names + m->name, m->body, m->position, m->weight, NULL, error);
    }
    if (status != ULNA_OK) {
        ulna_builder_destroy(*builder);
        *builder = NULL;
    }
    return status;
}

/* ---- other lengths ------------------------------------------------------------------------------------------ */

static ulna_status set_lengths(ulna_builder *builder, const double *lengths, ulna_error *error)
{
    for (int i = 0; i < (int)builder->body_count; i++) {
        ulna_builder_body *body = &builder->body[i];
        double *bone = body->joint.reversed ? body->offset_position : body->placement_position, old = ulna_norm(bone);
        const char *name = ulna_builder_body_name(builder, i);
        if (!isfinite(lengths[i]))
            return ulna_fail(error, ULNA_ERR_NUMBER, "body " NAME ": its length is not finite", name);
        if (lengths[i] < 0)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "body " NAME ": its length is negative", name);
        if (lengths[i] == old)
            continue;
        if (old == 0)
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "body " NAME ": its bone has length 0, so its length cannot be changed", name);
        for (int k = 0; k < 3; k++)
            bone[k] = bone[k] / old * lengths[i];
    }
    return ULNA_OK;
}

ulna_status ulna_model_with_lengths(const ulna_model *model, const double *lengths, const ulna_allocator *allocator,
                                    ulna_model **result, ulna_error *error)
{
    ulna_builder *builder;
    if (!result || !lengths)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no lengths or no pointer for the model given");
    *result = NULL;
    ulna_status status = ulna_builder_from_model(model, allocator, &builder, error);
    if (status != ULNA_OK)
        return status;
    status = set_lengths(builder, lengths, error);
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, allocator, result, error);
    ulna_builder_destroy(builder);
    return status;
}

/* ---- frames at rest ----------------------------------------------------------------------------------------- */

/* placement * motion at rest * offset: the body's frame in its parent's. */
static void rest_frame(const ulna_builder_body *body, double rotation[9], double position[3])
{
    double rest[7], motion[9], slide[3], moved[9], at[3];
    ulna_builder_rest(body, rest);
    ulna_joint_motion(&body->plan, rest, motion, slide);
    ulna_compose(body->placement_rotation, body->placement_position, motion, slide, moved, at);
    ulna_compose(moved, at, body->offset_rotation, body->offset_position, rotation, position);
}

/* The body's frame in the world (ULNA_NONE: the world itself). Refuses a way up that does not end. */
static ulna_status world_frame(const ulna_builder *builder, int body, double rotation[9], double position[3],
                               ulna_error *error)
{
    size_t steps = 0;
    ulna_identity9(rotation);
    memset(position, 0, 3 * sizeof *position);
    for (int b = body; b != ULNA_NONE; b = builder->body[b].parent) {
        double local[9], at[3], product[9], sum[3];
        if (++steps > builder->body_count)
            return ulna_fail(error, ULNA_ERR_MODEL, "body " NAME " is its own ancestor: its parents form a cycle",
                             ulna_builder_body_name(builder, b));
        rest_frame(&builder->body[b], local, at);
        ulna_compose(local, at, rotation, position, product, sum);
        ulna_copy9(product, rotation);
        ulna_copy3(sum, position);
    }
    return ULNA_OK;
}

/* ---- another parent ----------------------------------------------------------------------------------------- */

ulna_status ulna_builder_reparent(ulna_builder *builder, int body, int new_parent, ulna_error *error)
{
    int count = builder ? (int)builder->body_count : 0;
    if (body < 0 || body >= count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no body %d", body);
    const char *name = ulna_builder_body_name(builder, body);
    if (new_parent < ULNA_NONE || new_parent >= count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "body " NAME ": its parent, body %d, does not exist", name,
                         new_parent);

    ulna_builder_body *b = &builder->body[body];
    double old_r[9], old_t[3], new_r[9], new_t[3];
    ulna_status status = world_frame(builder, b->parent, old_r, old_t, error);
    if (status == ULNA_OK)
        status = world_frame(builder, new_parent, new_r, new_t, error);
    if (status != ULNA_OK)
        return status;
    for (int a = new_parent; a != ULNA_NONE; a = builder->body[a].parent)
        if (a == body)
            return ulna_fail(error, ULNA_ERR_MODEL, "body " NAME " cannot be a child of " NAME ", its own descendant",
                             name, ulna_builder_body_name(builder, new_parent));

    /* new placement = new parent^-1 * old parent * old placement */
    double back[9], back_t[3], across[9], across_t[3], placement[9], position[3];
    ulna_invert(new_r, new_t, back, back_t);
    ulna_compose(back, back_t, old_r, old_t, across, across_t);
    ulna_compose(across, across_t, b->placement_rotation, b->placement_position, placement, position);
    status = ulna_builder_set_placement(builder, body, position, placement, error);
    if (status == ULNA_OK)
        b->parent = new_parent;
    return status;
}

/* ---- another root ------------------------------------------------------------------------------------------- */

/* The joint of `from` reversed, on `to`: limits, strengths and rest values follow their segments. */
static void reverse_joint(const ulna_builder_body *from, ulna_builder_body *to)
{
    const ulna_joint_plan *plan = &from->plan;
    double rest[7];
    ulna_builder_rest(from, rest);
    to->rest_given = 1;
    to->joint_name = from->joint_name;
    to->joint = from->joint;
    to->joint.reversed = !from->joint.reversed;
    ulna_joint_resolve(&to->joint, &to->plan, NULL);

    int dof = plan->dof_count, coordinate = plan->coordinate_count, from_dof = 0, from_coordinate = 0;
    for (int i = 0; i < plan->segment_count; i++) {
        ulna_segment segment = (ulna_segment)plan->segment[i];
        int dofs = ulna_segment_dofs(segment), coordinates = ulna_segment_coordinates(segment);
        dof -= dofs;
        coordinate -= coordinates;
        for (int k = 0; k < dofs; k++) {
            to->lower[dof + k] = from->lower[from_dof + k];
            to->upper[dof + k] = from->upper[from_dof + k];
            to->strength[dof + k] = from->strength[from_dof + k];
        }
        for (int k = 0; k < coordinates; k++)
            to->rest[coordinate + k] = rest[from_coordinate + k];
        from_dof += dofs;
        from_coordinate += coordinates;
    }
}

/* `parent` hangs on `child` now: parent in child = offset^-1 * motion^-1 * placement^-1. */
static void turn_edge(ulna_builder_body *parent, const ulna_builder_body *child, int child_index)
{
    parent->parent = child_index;
    ulna_invert(child->offset_rotation, child->offset_position, parent->placement_rotation, parent->placement_position);
    ulna_invert(child->placement_rotation, child->placement_position, parent->offset_rotation, parent->offset_position);
    reverse_joint(child, parent);
}

/* A joint of six degrees of freedom of the old root's kind that reaches every frame. */
static ulna_joint root_joint(const ulna_joint *old)
{
    if (old->type == ULNA_JOINT_FREE_EULER)
        return ulna_joint_free_euler(old->order);
    if (old->type == ULNA_JOINT_SEQUENCE && strlen(old->order) == 12) {
        unsigned slides = 0, first = 0,
                 last = 0; /* axes of translations, as bits; translations among the first and last three */
        for (unsigned i = 0; i < 6; i++)
            if (old->order[2 * i] == 'T') {
                slides |= 1u << (old->order[2 * i + 1] - 'x');
                first += i < 3;
                last += i >= 3;
            }
        if (slides == 7 && first + last == 3 && (first == 0 || last == 0))
            return ulna_joint_sequence(old->order);
    }
    return ulna_joint_free();
}

static ulna_status set_root(ulna_builder *builder, double length, int root, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    ulna_joint_plan plan;
    double rotation[9], position[3], q[7];
    ulna_joint joint = root_joint(&builder->body[0].joint);
    ulna_status status = world_frame(builder, root, rotation, position, error);
    if (status == ULNA_OK)
        status = ulna_joint_resolve(&joint, &plan, error);
    if (status != ULNA_OK)
        return status;
    ulna_joint_fit(&plan, length, rotation, position, plan.zero, q);

    /* the edges from the root down to the new one, last first: each takes the joint of a body not yet changed */
    ulna_builder_body *body = builder->body;
    ulna_builder_body below = body[root];
    int child = root;
    for (int b = below.parent; b != ULNA_NONE;) {
        ulna_builder_body kept = body[b];
        turn_edge(&body[b], &below, child);
        child = b;
        b = kept.parent;
        below = kept;
    }

    body[root].parent = ULNA_NONE;
    body[root].joint_name = 0; /* its joint is its old parent's now */
    status = ulna_builder_set_placement(builder, root, nowhere, NULL, error);
    if (status == ULNA_OK)
        status = ulna_builder_set_offset(builder, root, nowhere, NULL, error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint(builder, root, &joint, error);
    return status != ULNA_OK ? status : ulna_builder_set_rest(builder, root, q, plan.coordinate_count, error);
}

/* Which DOF of which body a DOF of the model is after re-rooting: the joint of a body on the way from the old root to the new
 * one is that of its old parent, and lists its segments in reverse order. */
static void moved_dof(const ulna_model *model, int root, int dof, int *body, int *k)
{
    const ulna_body *b = &model->body[model->dof_body[dof]];
    *body = model->dof_body[dof];
    *k = dof - b->dof;
    if (*body > 0 && ulna_model_is_ancestor(model, *body, root)) {
        int part = model->dof_part[dof], size = ulna_segment_dofs((ulna_segment)model->dof_segment[dof]);
        *k = b->dof_count - (*k - part + size) + part;
        *body = b->parent;
    }
}

/* Couplings of the re-rooted builder, whose bodies have the numbers of the model's. */
static ulna_status move_couplings(const ulna_model *model, int root, ulna_builder *builder, ulna_error *error)
{
    for (size_t i = 0; i < builder->body_count; i++)
        memset(builder->body[i].coupling, 0, sizeof builder->body[i].coupling);
    for (int i = 0; i < model->nc; i++) {
        const ulna_coupling *c = &model->coupling[i];
        int body, k, master, master_k;
        if (model->dof_body[c->dof] == 0 || model->dof_body[c->master] == 0)
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "the joint of the root, body " NAME ", is coupled to another: re-rooting would remove it",
                             model->names + model->body[0].name);
        moved_dof(model, root, c->dof, &body, &k);
        moved_dof(model, root, c->master, &master, &master_k);
        ulna_status status = ulna_builder_couple(builder, body, k, master, master_k, c->multiplier, c->offset, error);
        if (status != ULNA_OK)
            return status;
    }
    return ULNA_OK;
}

ulna_status ulna_model_reroot(const ulna_model *model, int root, const ulna_allocator *allocator, ulna_model **result,
                              ulna_error *error)
{
    ulna_builder *builder;
    if (!result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the model given");
    *result = NULL;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no model given");
    if (root < 0 || root >= model->nb)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no body %d", root);
    ulna_status status = ulna_builder_from_model(model, allocator, &builder, error);
    if (status != ULNA_OK)
        return status;
    if (root != 0)
        status = set_root(builder, model->length_scale, root, error);
    if (root != 0 && model->nc && status == ULNA_OK)
        status = move_couplings(model, root, builder, error);
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, allocator, result, error);
    ulna_builder_destroy(builder);
    return status;
}
