/*
 * From a builder to a model: checks, order, one block of memory, bodies and degrees of freedom. The links that the
 * kinematics sees are made in links.c.
 *
 * Nothing here recurses, and every step is linear in the bodies, but for sorting names and for the ancestor lists of
 * the sparsity pattern, which cost their own length.
 */
#include "model/builder.h"

#include <limits.h>

#include "base/algorithms.h"
#include "math/math3.h"

#define NAME "\"%.80s\""

/* ---- order: parents first, otherwise as added --------------------------------------------------------------- */

typedef struct scratch {
    int *order; /* builder's body of model body i */
    int *rank;  /* model body of builder's body i */
    int *stack;
    double *reach;
    void *memory;
    size_t bytes; /* per body */
} scratch;

static ulna_status scratch_create(const ulna_allocator *allocator, size_t count, scratch *s)
{
    s->bytes = sizeof *s->reach + 3 * sizeof *s->order;
    s->memory = ulna_allocate(allocator, count, s->bytes);
    if (!s->memory)
        return ULNA_ERR_MEMORY;
    s->reach = s->memory;
    s->order = (int *)(s->reach + count);
    s->rank = s->order + count;
    s->stack = s->rank + count;
    return ULNA_OK;
}

static ulna_status check_roots(const ulna_builder *builder, ulna_error *error)
{
    int root = ULNA_NONE;
    for (size_t i = 0; i < builder->body_count; i++) {
        if (builder->body[i].parent != ULNA_NONE)
            continue;
        if (root != ULNA_NONE)
            return ulna_fail(error, ULNA_ERR_MODEL, "two bodies have no parent: " NAME " and " NAME,
                             ulna_builder_body_name(builder, root), ulna_builder_body_name(builder, (int)i));
        root = (int)i;
    }
    return ULNA_OK;
}

/* Each body in turn, after those of its ancestors that are still missing. */
static ulna_status sort_bodies(const ulna_builder *builder, scratch *s, ulna_error *error)
{
    enum { UNSEEN = -1, ON_THE_WAY = -2 };
    int count = (int)builder->body_count, placed = 0;
    for (int i = 0; i < count; i++)
        s->rank[i] = UNSEEN;
    for (int i = 0; i < count; i++) {
        int height = 0;
        for (int b = i; b != ULNA_NONE && s->rank[b] < 0; b = builder->body[b].parent) {
            if (s->rank[b] == ON_THE_WAY)
                return ulna_fail(error, ULNA_ERR_MODEL, "body " NAME " is its own ancestor: its parents form a cycle",
                                 ulna_builder_body_name(builder, b));
            s->rank[b] = ON_THE_WAY;
            s->stack[height++] = b;
        }
        while (height > 0) {
            int b = s->stack[--height];
            s->order[placed] = b;
            s->rank[b] = placed++;
        }
    }
    return ULNA_OK;
}

static ulna_status check_rest(const ulna_builder *builder, ulna_error *error)
{
    double rest[7];
    for (size_t i = 0; i < builder->body_count; i++) {
        const ulna_builder_body *b = &builder->body[i];
        int outside = ulna_builder_rest(b, rest);
        if (outside >= 0)
            return ulna_fail(error, ULNA_ERR_MODEL,
                             "body " NAME ": the rest value of degree of freedom %d lies outside its limits %g .. %g",
                             ulna_builder_body_name(builder, (int)i), outside, b->lower[outside], b->upper[outside]);
    }
    return ULNA_OK;
}

/* ---- sizes and the block ------------------------------------------------------------------------------------ */

typedef struct sizes {
    size_t bodies, dofs, coordinates, links, markers, couplings, paths, names;
} sizes;

/* Uses s->stack: first for whether a body has DOFs below it, then for the depth of its last DOF. */
static sizes count_sizes(const ulna_builder *builder, scratch *s)
{
    sizes n = {.bodies = builder->body_count,
               .markers = builder->marker_count,
               .couplings = ulna_builder_coupling_count(builder)};
    int count = (int)builder->body_count;

    n.names = strlen(builder->text + builder->title) + 1;
    for (size_t i = 0; i < n.markers; i++)
        n.names += strlen(builder->text + builder->marker[i].name) + 1;
    for (int i = 0; i < count; i++) {
        const ulna_builder_body *b = &builder->body[i];
        n.names += strlen(builder->text + b->name) + 1;
        n.names += b->joint_name ? strlen(builder->text + b->joint_name) + 1 : 0;
        n.dofs += (size_t)b->plan.dof_count;
        n.coordinates += (size_t)b->plan.coordinate_count;
        n.links += b->plan.dof_count > 0 || b->parent == ULNA_NONE;
    }

    /* ancestor lists: one per body with DOFs and none below it */
    for (int i = 0; i < count; i++)
        s->stack[i] = 0;
    for (int i = count - 1; i > 0; i--) {
        const ulna_builder_body *b = &builder->body[s->order[i]];
        if (b->plan.dof_count > 0 || s->stack[i])
            s->stack[s->rank[b->parent]] = 1;
    }
    for (int i = 0; i < count; i++) {
        const ulna_builder_body *b = &builder->body[s->order[i]];
        int leaf = !s->stack[i] && b->plan.dof_count > 0;
        s->stack[i] = b->plan.dof_count + (i > 0 ? s->stack[s->rank[b->parent]] : 0);
        n.paths += leaf ? (size_t)s->stack[i] : 0;
    }
    return n;
}

/* Many leaves at the end of a long trunk have ancestor lists that grow with the square of the file that describes them. A
 * gigabyte holds 30,000 leaves 9,000 degrees of freedom deep; more is an accident or an attack. */
#define PATHS_MOST ((size_t)1 << 28)

static void lay_out(ulna_model *model, ulna_arena *arena, const sizes *n)
{
    ulna_arena_take(arena, 1, sizeof *model);
    model->body = ulna_arena_take(arena, n->bodies, sizeof *model->body);
    model->joint = ulna_arena_take(arena, n->bodies, sizeof *model->joint);
    model->mass = ulna_arena_take(arena, n->bodies, sizeof *model->mass);
    model->link = ulna_arena_take(arena, n->links, sizeof *model->link);
    model->link_mass = ulna_arena_take(arena, n->links, sizeof *model->link_mass);
    model->marker = ulna_arena_take(arena, n->markers, sizeof *model->marker);
    model->preorder = ulna_arena_take(arena, n->bodies, sizeof *model->preorder);
    model->body_by_name = ulna_arena_take(arena, n->bodies, sizeof *model->body_by_name);
    model->marker_by_name = ulna_arena_take(arena, n->markers, sizeof *model->marker_by_name);
    model->joint_by_name = ulna_arena_take(arena, n->bodies, sizeof *model->joint_by_name);
    model->coupling = ulna_arena_take(arena, n->couplings, sizeof *model->coupling);
    model->dof_body = ulna_arena_take(arena, n->dofs, sizeof *model->dof_body);
    model->dof_link = ulna_arena_take(arena, n->dofs, sizeof *model->dof_link);
    model->dof_coordinate = ulna_arena_take(arena, n->dofs, sizeof *model->dof_coordinate);
    model->dof_segment = ulna_arena_take(arena, n->dofs, sizeof *model->dof_segment);
    model->dof_part = ulna_arena_take(arena, n->dofs, sizeof *model->dof_part);
    model->lower = ulna_arena_take(arena, n->dofs, sizeof *model->lower);
    model->upper = ulna_arena_take(arena, n->dofs, sizeof *model->upper);
    model->strength = ulna_arena_take(arena, n->dofs, sizeof *model->strength);
    model->rest = ulna_arena_take(arena, n->coordinates, sizeof *model->rest);
    model->path_pool = ulna_arena_take(arena, n->paths, sizeof *model->path_pool);
    model->tree_parent = ulna_arena_take(arena, n->dofs, sizeof *model->tree_parent);
    model->tree_depth = ulna_arena_take(arena, n->dofs, sizeof *model->tree_depth);
    model->tree_row = ulna_arena_take(arena, n->dofs + 1, sizeof *model->tree_row);
    model->tree_path = ulna_arena_take(arena, n->dofs, sizeof *model->tree_path);
    model->names = ulna_arena_take(arena, n->names, 1);
}

static ulna_status model_create(const ulna_allocator *allocator, const sizes *n, ulna_model **model, ulna_error *error)
{
    ulna_model counted;
    ulna_arena arena = {0};
    if (n->names > INT_MAX)
        return ulna_fail(error, ULNA_ERR_LIMIT, "the names of the skeleton take more than 2 GB");
    if (n->paths > PATHS_MOST)
        return ulna_fail(error, ULNA_ERR_LIMIT,
                         "the skeleton is too deep and has too many branches: its ancestor lists need %zu MB",
                         n->paths / (1 << 20) * sizeof(int));
    lay_out(&counted, &arena, n);
    ulna_model *m = arena.failed ? NULL : ulna_allocate(allocator, 1, arena.used);
    if (!m)
        return ulna_fail(error, ULNA_ERR_MEMORY, "out of memory for a model of %zu bodies", n->bodies);
    m->allocator = *allocator;
    m->bytes = arena.used;
    m->nb = (int)n->bodies;
    m->nv = (int)n->dofs;
    m->nq = (int)n->coordinates;
    m->nl = (int)n->links;
    m->nm = (int)n->markers;
    m->nc = (int)n->couplings;
    arena = (ulna_arena){.memory = (unsigned char *)m};
    lay_out(m, &arena, n);
    *model = m;
    return ULNA_OK;
}

/* ---- bodies, degrees of freedom, markers, names ------------------------------------------------------------- */

static int copy_name(ulna_model *model, size_t *used, const char *name)
{
    int start = (int)*used;
    size_t bytes = strlen(name) + 1;
    memcpy(model->names + start, name, bytes);
    *used += bytes;
    return start;
}

static void fill_dofs(ulna_model *model, int index, const ulna_builder_body *from)
{
    ulna_body *body = &model->body[index];
    double rest[7];
    ulna_builder_rest(from, rest);
    memcpy(model->rest + body->coordinate, rest, (size_t)body->coordinate_count * sizeof *rest);
    int dof = body->dof, coordinate = body->coordinate;
    for (int i = 0; i < from->plan.segment_count; i++) {
        ulna_segment segment = (ulna_segment)from->plan.segment[i];
        for (int k = 0; k < ulna_segment_dofs(segment); k++, dof++) {
            model->dof_body[dof] = index;
            model->dof_segment[dof] = (unsigned char)segment;
            model->dof_part[dof] = (unsigned char)k;
            model->dof_coordinate[dof] = segment == ULNA_SEGMENT_BALL ? ULNA_NONE : coordinate + k;
            model->lower[dof] = from->lower[dof - body->dof];
            model->upper[dof] = from->upper[dof - body->dof];
            model->strength[dof] = from->strength[dof - body->dof];
        }
        coordinate += ulna_segment_coordinates(segment);
    }
}

static void fill_bodies(ulna_model *model, const ulna_builder *builder, const scratch *s)
{
    int dof = 0, coordinate = 0;
    size_t used = 0;
    copy_name(model, &used, builder->text + builder->title); /* at offset 0 */
    for (int i = 0; i < model->nb; i++) {
        const ulna_builder_body *from = &builder->body[s->order[i]];
        ulna_body *body = &model->body[i];
        body->name = copy_name(model, &used, builder->text + from->name);
        body->joint_name = from->joint_name ? copy_name(model, &used, builder->text + from->joint_name) : body->name;
        body->parent = from->parent == ULNA_NONE ? ULNA_NONE : s->rank[from->parent];
        body->depth = i > 0 ? model->body[body->parent].depth + 1 : 0;
        body->dof = dof;
        body->dof_count = from->plan.dof_count;
        body->coordinate = coordinate;
        body->coordinate_count = from->plan.coordinate_count;
        body->user_data = from->user_data;
        ulna_copy9(from->placement_rotation, body->placement_rotation);
        ulna_copy3(from->placement_position, body->placement_position);
        ulna_copy9(from->offset_rotation, body->offset_rotation);
        ulna_copy3(from->offset_position, body->offset_position);
        model->joint[i] = from->joint;
        model->mass[i] = from->mass;
        fill_dofs(model, i, from);
        dof += body->dof_count;
        coordinate += body->coordinate_count;
    }
    for (int i = 0; i < model->nm; i++) {
        const ulna_builder_marker *from = &builder->marker[i];
        model->marker[i].name = copy_name(model, &used, builder->text + from->name);
        model->marker[i].body = s->rank[from->body];
        model->marker[i].weight = from->weight;
        ulna_copy3(from->position, model->marker[i].position);
    }
}

/* Names of bodies or markers: where each starts in `text`. */
typedef struct name_list {
    const char *text;
    const int *offset; /* of the first, `stride` bytes from one to the next */
    size_t stride;
} name_list;

static const char *name_at(const name_list *list, int i)
{
    return list->text + *(const int *)((const char *)list->offset + (size_t)i * list->stride);
}

static int by_name(const void *a, const void *b, const void *context)
{
    return strcmp(name_at(context, *(const int *)a), name_at(context, *(const int *)b));
}

static void sort_by_name(int *index, int count, const char *names, const int *offset, size_t stride)
{
    const name_list list = {names, offset, stride};
    for (int i = 0; i < count; i++)
        index[i] = i;
    ulna_sort(index, (size_t)count, sizeof *index, by_name, &list);
}

/* Joints that have a name or a degree of freedom, by name: labels of degrees of freedom must differ. */
static ulna_status sort_joints(ulna_model *model, ulna_error *error)
{
    const ulna_body *body = model->body;
    const name_list list = {model->names, &body->joint_name, sizeof *body};
    for (int i = 0; i < model->nb; i++)
        if (body[i].joint_name != body[i].name || body[i].dof_count > 0)
            model->joint_by_name[model->nj++] = i;
    ulna_sort(model->joint_by_name, (size_t)model->nj, sizeof *model->joint_by_name, by_name, &list);
    for (int i = 1; i < model->nj; i++) {
        int a = model->joint_by_name[i - 1], b = model->joint_by_name[i];
        if (strcmp(name_at(&list, a), name_at(&list, b)) == 0)
            return ulna_fail(error, ULNA_ERR_MODEL,
                             "two joints are called " NAME ": those of the bodies " NAME " and " NAME,
                             name_at(&list, a), model->names + body[a].name, model->names + body[b].name);
    }
    return ULNA_OK;
}

/* Subtrees and depth-first positions. Uses `next` (one int a body): where a body's next child goes. */
static void fill_ancestry(ulna_model *model, int *next)
{
    ulna_body *body = model->body;
    for (int i = model->nb - 1; i >= 0; i--) {
        body[i].subtree++;
        if (i > 0)
            body[body[i].parent].subtree += body[i].subtree;
    }
    for (int i = 0; i < model->nb; i++) {
        int *position = i > 0 ? &next[body[i].parent] : NULL;
        body[i].preorder = position ? *position : 0;
        if (position)
            *position += body[i].subtree;
        next[i] = body[i].preorder + 1;
        model->preorder[body[i].preorder] = i;
    }
}

/* ---- the sparsity pattern ----------------------------------------------------------------------------------- */

/* Uses `last` (one int a body): the last DOF at or above a body. */
static void fill_tree(ulna_model *model, int *last)
{
    int *parent = model->tree_parent, *depth = model->tree_depth;
    for (int i = 0; i < model->nb; i++) {
        const ulna_body *body = &model->body[i];
        last[i] = i > 0 ? last[body->parent] : ULNA_NONE;
        for (int j = body->dof; j < body->dof + body->dof_count; j++) {
            parent[j] = last[i];
            depth[j] = parent[j] == ULNA_NONE ? 1 : depth[parent[j]] + 1;
            model->tree_row[j + 1] = model->tree_row[j] + (((size_t)depth[j] + 3) & ~(size_t)3);
            model->max_dof_depth = depth[j] > model->max_dof_depth ? depth[j] : model->max_dof_depth;
            last[i] = j;
        }
    }

    /* One list per DOF that no list covers yet, deepest first within a branch: children come after parents. */
    int *list = model->path_pool;
    for (int j = model->nv - 1; j >= 0; j--) {
        if (model->tree_path[j])
            continue;
        for (int i = j; i != ULNA_NONE; i = parent[i]) {
            list[depth[i] - 1] = i;
            if (!model->tree_path[i])
                model->tree_path[i] = list;
        }
        list += depth[j];
    }
    model->tree = (ulna_tree){.n = model->nv,
                              .parent = parent,
                              .depth = depth,
                              .row = model->tree_row,
                              .path = (const int *const *)model->tree_path};
}

/* ---- the characteristic length ------------------------------------------------------------------------------ */

/*
 * Half of the longest way between any two body origins or markers: every body in turn, children first, joins the
 * longest way down from itself to the longest that its parent has found so far. `reach`: one number a body.
 */
static ulna_status measure(ulna_model *model, double *reach, ulna_error *error)
{
    double longest = 0;
    for (int i = 0; i < model->nb; i++)
        reach[i] = 0;
    for (int i = 0; i < model->nm; i++) {
        double *at = &reach[model->marker[i].body], length = ulna_norm(model->marker[i].position);
        longest = fmax(longest, *at + length);
        *at = fmax(*at, length);
    }
    for (int i = model->nb - 1; i > 0; i--) {
        const ulna_body *body = &model->body[i];
        double *above = &reach[body->parent];
        double length = reach[i] + ulna_norm(body->placement_position) + ulna_norm(body->offset_position);
        longest = fmax(longest, *above + length);
        *above = fmax(*above, length);
    }
    if (isinf(longest))
        return ulna_fail(error, ULNA_ERR_NUMBER, "the lengths of the skeleton overflow");
    for (int j = 0; j < model->nv && longest == 0; j++) /* all in one point: how far that can move */
        if (ulna_segment_is_translation(model->dof_segment[j]) && isfinite(model->upper[j] - model->lower[j]))
            longest = model->upper[j] - model->lower[j];
    model->has_length = longest / 2 > 0;
    model->length_scale = model->has_length ? longest / 2 : 1;
    return ULNA_OK;
}

/* ---- all of it ---------------------------------------------------------------------------------------------- */

static ulna_status check_builder(const ulna_builder *builder, ulna_error *error)
{
    if (builder->body_count == 0)
        return ulna_fail(error, ULNA_ERR_MODEL, "the skeleton has no bodies");
    ulna_status status = check_roots(builder, error);
    return status != ULNA_OK ? status : check_rest(builder, error);
}

ulna_status ulna_builder_build(const ulna_builder *builder, const ulna_allocator *allocator, ulna_model **model,
                               ulna_error *error)
{
    ulna_allocator chosen = ulna_allocator_or_default(allocator);
    scratch s;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the model given");
    *model = NULL;
    if (!builder)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no builder given");
    ulna_status status = check_builder(builder, error);
    if (status != ULNA_OK)
        return status;
    if (scratch_create(&chosen, builder->body_count, &s))
        return ulna_fail(error, ULNA_ERR_MEMORY, "out of memory for a model of %zu bodies", builder->body_count);

    ulna_model *m = NULL;
    status = sort_bodies(builder, &s, error);
    if (status == ULNA_OK) {
        sizes n = count_sizes(builder, &s);
        status = model_create(&chosen, &n, &m, error);
    }
    if (m) {
        fill_bodies(m, builder, &s);
        if (m->nm > 0)
            sort_by_name(m->marker_by_name, m->nm, m->names, &m->marker->name, sizeof *m->marker);
        sort_by_name(m->body_by_name, m->nb, m->names, &m->body->name, sizeof *m->body);
        fill_ancestry(m, s.stack);
        fill_tree(m, s.stack);
        status = sort_joints(m, error);
        if (status == ULNA_OK)
            status = ulna_model_make_couplings(m, builder, s.order, s.rank, error);
        ulna_model_make_links(m, s.order, s.stack); /* last: it overwrites order and stack */
        if (status == ULNA_OK)
            status = measure(m, s.reach, error);
    }
    if (status != ULNA_OK)
        ulna_model_destroy(m);
    else
        *model = m;
    ulna_release(&chosen, s.memory, builder->body_count, s.bytes);
    return status;
}
