/* The builder: takes bodies, joints and markers one by one and refuses at once what can be refused at once. */
#include "model/builder.h"

#include <stdint.h>

#include "base/algorithms.h"
#include "math/math3.h"

/* Names in messages are cut so that two of them fit. */
#define NAME "\"%.80s\""

static ulna_status need_builder(const ulna_builder *builder, ulna_error *error)
{
    return builder ? ULNA_OK : ulna_fail(error, ULNA_ERR_ARGUMENT, "no builder given");
}

static ulna_status need_body(const ulna_builder *builder, int body, ulna_error *error)
{
    if (!builder)
        return need_builder(builder, error);
    if (body < 0 || (size_t)body >= builder->body_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no body %d", body);
    return ULNA_OK;
}

static ulna_status need_dof(const ulna_builder *builder, int body, int k, ulna_error *error)
{
    ulna_status status = need_body(builder, body, error);
    if (status != ULNA_OK)
        return status;
    int count = builder->body[body].plan.dof_count;
    if (k < 0 || k >= count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "body " NAME " has %d degrees of freedom: there is none with index %d",
                         ulna_builder_body_name(builder, body), count, k);
    return ULNA_OK;
}

const char *ulna_builder_body_name(const ulna_builder *builder, int body)
{
    return builder->text + builder->body[body].name;
}

/* ---- names ----------------------------------------------------------------------------------------------- */

static const char *table_name(const ulna_builder *builder, const ulna_name_table *table, int index)
{
    return builder->text + (table == &builder->body_names ? builder->body[index].name : builder->marker[index].name);
}

/* The slot that holds `name`, or the free one where it would go. */
static size_t find_slot(const ulna_builder *builder, const ulna_name_table *table, const char *name)
{
    /* Seeded by where the builder lies. That is no defence against someone who knows the address: then adding names is
     * quadratic. The order of slots shows nowhere. */
    size_t i = ulna_hash(name, (uintptr_t)builder, 0) & (table->capacity - 1);
    while (table->slot[i] && strcmp(table_name(builder, table, table->slot[i] - 1), name) != 0)
        i = (i + 1) & (table->capacity - 1);
    return i;
}

static int find_name(const ulna_builder *builder, const ulna_name_table *table, const char *name)
{
    return table->capacity && name ? table->slot[find_slot(builder, table, name)] - 1 : -1;
}

/* Room for one more than `count` names, at most half full. */
static ulna_status reserve_name(ulna_builder *builder, ulna_name_table *table, size_t count)
{
    if (2 * (count + 1) <= table->capacity)
        return ULNA_OK;
    ulna_name_table larger = {.capacity = table->capacity ? 2 * table->capacity : 16};
    larger.slot = ulna_allocate(&builder->allocator, larger.capacity, sizeof *larger.slot);
    if (!larger.slot)
        return ULNA_ERR_MEMORY;
    ulna_name_table old = *table;
    *table = larger; /* find_slot tells tables apart by address */
    for (size_t i = 0; i < count; i++)
        table->slot[find_slot(builder, table, table_name(builder, table, (int)i))] = (int)i + 1;
    ulna_release(&builder->allocator, old.slot, old.capacity, sizeof *old.slot);
    return ULNA_OK;
}

/* Length of a UTF-8 sequence that is neither too long nor a surrogate nor beyond U+10FFFF; 0 if it is wrong. */
static int utf8_length(const unsigned char *s)
{
    int length = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    int too_long = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    int beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return too_long || beyond ? 0 : length;
}

static ulna_status check_name(const char *name, const char *what, int may_be_empty, ulna_error *error)
{
    if (!name || (!name[0] && !may_be_empty))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a %s needs a name", what);
    if (strlen(name) > 255)
        return ulna_fail(error, ULNA_ERR_LIMIT, "the name of %s " NAME "... is longer than 255 bytes", what, name);
    for (const unsigned char *s = (const unsigned char *)name; *s;) {
        int length = utf8_length(s);
        if (!length)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "the name of a %s is not UTF-8", what);
        s += length;
    }
    return ULNA_OK;
}

static ulna_status reserve_text(ulna_builder *builder, size_t length)
{
    return ulna_grow(&builder->allocator, (void **)&builder->text, &builder->text_capacity,
                     builder->text_count + length + 1, 1);
}

/* Copies into room that reserve_text made. */
static size_t add_text(ulna_builder *builder, const char *text)
{
    size_t start = builder->text_count, bytes = strlen(text) + 1;
    memcpy(builder->text + start, text, bytes);
    builder->text_count += bytes;
    return start;
}

/* Checks a new body or marker, the count-th of `items`, and makes room for it and its name. `one`, `many`: what it is. */
static ulna_status reserve(ulna_builder *builder, const char *name, const char *one, const char *many,
                           ulna_name_table *names, size_t count, void **items, size_t *capacity, size_t size,
                           ulna_error *error)
{
    if (find_name(builder, names, name) >= 0)
        return ulna_fail(error, ULNA_ERR_MODEL, "two %s are called " NAME, many, name);
    if (count >= ULNA_MAX_BODIES)
        return ulna_fail(error, ULNA_ERR_LIMIT, "more than %d %s", ULNA_MAX_BODIES, many);
    ulna_status status = reserve_text(builder, strlen(name));
    if (status == ULNA_OK)
        status = reserve_name(builder, names, count);
    if (status == ULNA_OK)
        status = ulna_grow(&builder->allocator, items, capacity, count + 1, size);
    return status == ULNA_OK ? ULNA_OK : ulna_fail(error, status, "out of memory at %s " NAME, one, name);
}

/* ---- life ------------------------------------------------------------------------------------------------ */

ulna_status ulna_builder_create(const ulna_allocator *allocator, ulna_builder **builder)
{
    ulna_allocator chosen = ulna_allocator_or_default(allocator);
    if (!builder)
        return ULNA_ERR_ARGUMENT;
    *builder = ulna_allocate(&chosen, 1, sizeof **builder);
    if (!*builder)
        return ULNA_ERR_MEMORY;
    (*builder)->allocator = chosen;
    ulna_status status = reserve_text(*builder, 0);
    if (status != ULNA_OK) {
        ulna_builder_destroy(*builder);
        *builder = NULL;
        return status;
    }
    (*builder)->title = add_text(*builder, "");
    return ULNA_OK;
}

void ulna_builder_destroy(ulna_builder *builder)
{
    if (!builder)
        return;
    ulna_allocator allocator = builder->allocator;
    ulna_release(&allocator, builder->body, builder->body_capacity, sizeof *builder->body);
    ulna_release(&allocator, builder->marker, builder->marker_capacity, sizeof *builder->marker);
    ulna_release(&allocator, builder->text, builder->text_capacity, 1);
    ulna_release(&allocator, builder->body_names.slot, builder->body_names.capacity, sizeof(int));
    ulna_release(&allocator, builder->marker_names.slot, builder->marker_names.capacity, sizeof(int));
    ulna_release(&allocator, builder, 1, sizeof *builder);
}

ulna_status ulna_builder_set_name(ulna_builder *builder, const char *name, ulna_error *error)
{
    ulna_status status = need_builder(builder, error);
    if (status == ULNA_OK)
        status = check_name(name, "skeleton", 1, error);
    if (status != ULNA_OK)
        return status;
    status = reserve_text(builder, strlen(name));
    if (status != ULNA_OK)
        return ulna_fail(error, status, "out of memory");
    builder->title = add_text(builder, name);
    return ULNA_OK;
}

/* ---- bodies ---------------------------------------------------------------------------------------------- */

/* What a fresh joint has: no limits, full strength, no coupling, the zero pose as rest. */
static void reset_dofs(ulna_builder_body *body)
{
    body->rest_given = 0;
    memcpy(body->rest, body->plan.zero, sizeof body->rest);
    for (int k = 0; k < 6; k++) {
        body->lower[k] = -INFINITY;
        body->upper[k] = INFINITY;
        body->strength[k] = 1;
        body->coupling[k] = (ulna_builder_coupling){0};
    }
}

static ulna_status check_parent(const ulna_builder *builder, const char *name, int body, int parent, ulna_error *error)
{
    if (parent == body && parent != ULNA_NONE)
        return ulna_fail(error, ULNA_ERR_MODEL, "body " NAME " cannot be its own parent", name);
    if (parent < ULNA_NONE || (parent >= 0 && (size_t)parent >= builder->body_count))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "body " NAME ": its parent, body %d, does not exist", name, parent);
    return ULNA_OK;
}

ulna_status ulna_builder_add_body(ulna_builder *builder, const char *name, int parent, int *body, ulna_error *error)
{
    if (body)
        *body = ULNA_NONE;
    ulna_status status = need_builder(builder, error);
    if (status == ULNA_OK)
        status = check_name(name, "body", 0, error);
    if (status == ULNA_OK)
        status = check_parent(builder, name, ULNA_NONE, parent, error);
    if (status == ULNA_OK)
        status = reserve(builder, name, "body", "bodies", &builder->body_names, builder->body_count,
                         (void **)&builder->body, &builder->body_capacity, sizeof *builder->body, error);
    if (status != ULNA_OK)
        return status;

    size_t count = builder->body_count;
    ulna_builder_body *fresh = &builder->body[count];
    memset(fresh, 0, sizeof *fresh);
    fresh->parent = parent;
    ulna_identity9(fresh->placement_rotation);
    ulna_identity9(fresh->offset_rotation);
    fresh->joint = ulna_joint_fixed();
    ulna_joint_resolve(&fresh->joint, &fresh->plan, NULL);
    reset_dofs(fresh);
    builder->body_names.slot[find_slot(builder, &builder->body_names, name)] = (int)count + 1;
    fresh->name = add_text(builder, name);
    builder->body_count = count + 1;
    if (body)
        *body = (int)count;
    return ULNA_OK;
}

ulna_status ulna_builder_set_parent(ulna_builder *builder, int body, int parent, ulna_error *error)
{
    ulna_status status = need_body(builder, body, error);
    if (status == ULNA_OK)
        status = check_parent(builder, ulna_builder_body_name(builder, body), body, parent, error);
    if (status == ULNA_OK)
        builder->body[body].parent = parent;
    return status;
}

int ulna_builder_find_body(const ulna_builder *builder, const char *name)
{
    return builder ? find_name(builder, &builder->body_names, name) : ULNA_NONE;
}

static ulna_status set_transform(ulna_builder *builder, int body, const char *what, const double *position,
                                 const double *rotation, ulna_error *error)
{
    double clean[9];
    ulna_status status = need_body(builder, body, error);
    if (status != ULNA_OK)
        return status;
    ulna_builder_body *b = &builder->body[body];
    const char *name = ulna_builder_body_name(builder, body);
    int is_offset = strcmp(what, "offset") == 0;
    if (!position)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "body " NAME ": its %s has no position", name, what);
    if (!ulna_all_finite(position, 3) || (rotation && !ulna_all_finite(rotation, 9)))
        return ulna_fail(error, ULNA_ERR_NUMBER, "body " NAME ": its %s is not finite", name, what);
    ulna_identity9(clean);
    if (rotation)
        ulna_copy9(rotation, clean);
    if (!(ulna_orthonormalise(clean) <= 1e-6))
        return ulna_fail(error, ULNA_ERR_MODEL, "body " NAME ": the rotation of its %s is not a rotation", name, what);
    ulna_copy3(position, is_offset ? b->offset_position : b->placement_position);
    ulna_copy9(clean, is_offset ? b->offset_rotation : b->placement_rotation);
    return ULNA_OK;
}

ulna_status ulna_builder_set_placement(ulna_builder *builder, int body, const double position[3],
                                       const double *rotation, ulna_error *error)
{
    return set_transform(builder, body, "placement", position, rotation, error);
}

ulna_status ulna_builder_set_offset(ulna_builder *builder, int body, const double position[3], const double *rotation,
                                    ulna_error *error)
{
    return set_transform(builder, body, "offset", position, rotation, error);
}

ulna_status ulna_builder_set_user_data(ulna_builder *builder, int body, void *data)
{
    ulna_status status = need_body(builder, body, NULL);
    if (status == ULNA_OK)
        builder->body[body].user_data = data;
    return status;
}

ulna_status ulna_builder_set_mass(ulna_builder *builder, int body, const ulna_mass *mass, ulna_error *error)
{
    ulna_status status = need_body(builder, body, error);
    if (status != ULNA_OK)
        return status;
    const char *name = ulna_builder_body_name(builder, body);
    if (!mass)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "body " NAME ": no mass is given", name);
    if (!ulna_all_finite(&mass->mass, 1) || !ulna_all_finite(mass->center, 3) || !ulna_all_finite(mass->inertia, 6))
        return ulna_fail(error, ULNA_ERR_NUMBER, "body " NAME ": its mass properties are not finite", name);
    if (mass->mass < 0)
        return ulna_fail(error, ULNA_ERR_MODEL, "body " NAME ": its mass is negative", name);
    builder->body[body].mass = *mass;
    return ULNA_OK;
}

/* ---- joints ---------------------------------------------------------------------------------------------- */

ulna_status ulna_builder_set_joint(ulna_builder *builder, int body, const ulna_joint *joint, ulna_error *error)
{
    ulna_joint normal;
    ulna_joint_plan plan;
    ulna_error why;
    ulna_status status = need_body(builder, body, error);
    if (status != ULNA_OK)
        return status;
    ulna_error_clear(&why);
    status = ulna_joint_normalise(joint, &normal, &why);
    if (status == ULNA_OK)
        status = ulna_joint_resolve(&normal, &plan, &why);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "body " NAME ": %.150s", ulna_builder_body_name(builder, body), why.message);
    builder->body[body].joint = normal;
    builder->body[body].plan = plan;
    reset_dofs(&builder->body[body]);
    return ULNA_OK;
}

ulna_status ulna_builder_set_joint_name(ulna_builder *builder, int body, const char *name, ulna_error *error)
{
    ulna_status status = need_body(builder, body, error);
    if (status == ULNA_OK)
        status = check_name(name, "joint", 1, error);
    if (status != ULNA_OK)
        return status;
    status = reserve_text(builder, strlen(name));
    if (status != ULNA_OK)
        return ulna_fail(error, status, "out of memory at joint " NAME, name);
    builder->body[body].joint_name = *name ? add_text(builder, name) : 0;
    return ULNA_OK;
}

/* The segment of DOF k of a joint. */
static ulna_segment segment_of(const ulna_joint_plan *plan, int k)
{
    int i = 0;
    while (k >= ulna_segment_dofs((ulna_segment)plan->segment[i]))
        k -= ulna_segment_dofs((ulna_segment)plan->segment[i++]);
    return (ulna_segment)plan->segment[i];
}

ulna_status ulna_builder_set_limits(ulna_builder *builder, int body, int k, double lower, double upper,
                                    ulna_error *error)
{
    ulna_status status = need_dof(builder, body, k, error);
    if (status != ULNA_OK)
        return status;
    ulna_builder_body *b = &builder->body[body];
    const char *name = ulna_builder_body_name(builder, body);
    if (isnan(lower) || isnan(upper))
        return ulna_fail(error, ULNA_ERR_NUMBER, "body " NAME ": a limit of degree of freedom %d is not a number", name,
                         k);
    if (lower > upper || lower == INFINITY || upper == -INFINITY)
        return ulna_fail(error, ULNA_ERR_MODEL,
                         "body " NAME ": the limits of degree of freedom %d are inverted: %g > %g", name, k, lower,
                         upper);
    if (segment_of(&b->plan, k) == ULNA_SEGMENT_BALL && (lower > -INFINITY || upper < INFINITY))
        return ulna_fail(error, ULNA_ERR_MODEL,
                         "body " NAME ": degree of freedom %d is part of a quaternion, which cannot have limits", name,
                         k);
    b->lower[k] = lower;
    b->upper[k] = upper;
    return ULNA_OK;
}

ulna_status ulna_builder_set_strength(ulna_builder *builder, int body, int k, double strength, ulna_error *error)
{
    ulna_status status = need_dof(builder, body, k, error);
    if (status != ULNA_OK)
        return status;
    const char *name = ulna_builder_body_name(builder, body);
    if (!isfinite(strength))
        return ulna_fail(error, ULNA_ERR_NUMBER, "body " NAME ": the strength of degree of freedom %d is not finite",
                         name, k);
    if (strength < 0)
        return ulna_fail(error, ULNA_ERR_MODEL, "body " NAME ": the strength of degree of freedom %d is negative", name,
                         k);
    builder->body[body].strength[k] = strength;
    return ULNA_OK;
}

ulna_status ulna_builder_couple(ulna_builder *builder, int body, int k, int master, int master_k, double multiplier,
                                double offset, ulna_error *error)
{
    ulna_status status = need_dof(builder, body, k, error);
    if (status != ULNA_OK)
        return status;
    const char *name = ulna_builder_body_name(builder, body);
    if (master == ULNA_NONE) {
        builder->body[body].coupling[k] = (ulna_builder_coupling){0};
        return ULNA_OK;
    }
    status = need_dof(builder, master, master_k, error);
    if (status != ULNA_OK)
        return status;
    if (!isfinite(multiplier) || !isfinite(offset))
        return ulna_fail(error, ULNA_ERR_NUMBER,
                         "body " NAME ": multiplier and offset of the coupling of degree of freedom %d must be finite",
                         name, k);
    if (segment_of(&builder->body[body].plan, k) == ULNA_SEGMENT_BALL ||
        segment_of(&builder->body[master].plan, master_k) == ULNA_SEGMENT_BALL)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                         "body " NAME ": a degree of freedom of a quaternion has no coordinate and cannot be coupled",
                         name);
    builder->body[body].coupling[k] = (ulna_builder_coupling){
        .is_coupled = 1, .master = master, .master_dof = master_k, .multiplier = multiplier, .offset = offset};
    return ULNA_OK;
}

ulna_status ulna_builder_set_rest(ulna_builder *builder, int body, const double *rest, int count, ulna_error *error)
{
    ulna_status status = need_body(builder, body, error);
    if (status != ULNA_OK)
        return status;
    ulna_builder_body *b = &builder->body[body];
    const char *name = ulna_builder_body_name(builder, body);
    if (count != b->plan.coordinate_count || (count && !rest))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "body " NAME " has %d coordinates, not %d rest values", name,
                         b->plan.coordinate_count, count);
    if (!ulna_all_finite(rest, count))
        return ulna_fail(error, ULNA_ERR_NUMBER, "body " NAME ": a rest value is not finite", name);

    double clean[7] = {0};
    for (int i = 0; i < count; i++)
        clean[i] = rest[i];
    for (int i = 0, at = 0; i < b->plan.segment_count; i++) {
        ulna_segment segment = (ulna_segment)b->plan.segment[i];
        if (segment == ULNA_SEGMENT_BALL) {
            double *q = clean + at, square = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
            if (!(square > 1e-200) || isinf(square))
                return ulna_fail(error, ULNA_ERR_NUMBER, "body " NAME ": the rest quaternion has no direction", name);
            for (int k = 0; k < 4 && fabs(square - 1) > 1e-15; k++)
                q[k] /= sqrt(square);
        }
        at += ulna_segment_coordinates(segment);
    }
    memcpy(b->rest, clean, sizeof clean);
    b->rest_given = 1;
    return ULNA_OK;
}

int ulna_builder_rest(const ulna_builder_body *body, double rest[7])
{
    const ulna_joint_plan *plan = &body->plan;
    int outside = -1, dof = 0, at = 0;
    memcpy(rest, body->rest, sizeof body->rest);
    for (int i = 0; i < plan->segment_count; i++) {
        ulna_segment segment = (ulna_segment)plan->segment[i];
        int dofs = ulna_segment_dofs(segment);
        for (int k = 0; k < dofs && segment != ULNA_SEGMENT_BALL; k++) {
            double value = rest[at + k], inside = fmin(fmax(value, body->lower[dof + k]), body->upper[dof + k]);
            if (body->rest_given && outside < 0 && fabs(inside - value) > 1e-9)
                outside = dof + k;
            rest[at + k] = inside;
        }
        dof += dofs;
        at += ulna_segment_coordinates(segment);
    }
    return outside;
}

/* ---- markers --------------------------------------------------------------------------------------------- */

/* What a marker is given, whoever gives it. */
static ulna_status check_marker(const ulna_builder *builder, const char *name, int body, const double *position,
                                double weight, ulna_error *error)
{
    if (body < 0 || (size_t)body >= builder->body_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "marker " NAME ": there is no body %d", name, body);
    if (!position)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "marker " NAME " has no position", name);
    const char *owner = ulna_builder_body_name(builder, body);
    if (!ulna_all_finite(position, 3) || !isfinite(weight))
        return ulna_fail(error, ULNA_ERR_NUMBER, "marker " NAME " on body " NAME ": a number is not finite", name,
                         owner);
    if (weight < 0)
        return ulna_fail(error, ULNA_ERR_MODEL, "marker " NAME " on body " NAME ": its weight is negative", name,
                         owner);
    return ULNA_OK;
}

ulna_status ulna_builder_add_marker(ulna_builder *builder, const char *name, int body, const double position[3],
                                    double weight, int *marker, ulna_error *error)
{
    if (marker)
        *marker = ULNA_NONE;
    ulna_status status = need_builder(builder, error);
    if (status == ULNA_OK)
        status = check_name(name, "marker", 0, error);
    if (status == ULNA_OK)
        status = check_marker(builder, name, body, position, weight, error);
    if (status == ULNA_OK)
        status = reserve(builder, name, "marker", "markers", &builder->marker_names, builder->marker_count,
                         (void **)&builder->marker, &builder->marker_capacity, sizeof *builder->marker, error);
    if (status != ULNA_OK)
        return status;

    size_t count = builder->marker_count;
    builder->marker_names.slot[find_slot(builder, &builder->marker_names, name)] = (int)count + 1;
    builder->marker[count] = (ulna_builder_marker){.name = add_text(builder, name),
                                                   .body = body,
                                                   .position = {position[0], position[1], position[2]},
                                                   .weight = weight};
    builder->marker_count = count + 1;
    if (marker)
        *marker = (int)count;
    return ULNA_OK;
}

ulna_status ulna_builder_set_marker(ulna_builder *builder, int marker, int body, const double position[3],
                                    double weight, ulna_error *error)
{
    ulna_status status = need_builder(builder, error);
    if (status != ULNA_OK)
        return status;
    if (marker < 0 || (size_t)marker >= builder->marker_count)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no marker %d", marker);
    ulna_builder_marker *m = &builder->marker[marker];
    status = check_marker(builder, builder->text + m->name, body, position, weight, error);
    if (status != ULNA_OK)
        return status;
    m->body = body;
    ulna_copy3(position, m->position);
    m->weight = weight;
    return ULNA_OK;
}

void ulna_builder_remove_markers(ulna_builder *builder)
{
    builder->marker_count = 0; /* the text of their names stays, which nothing refers to */
    for (size_t i = 0; i < builder->marker_names.capacity; i++)
        builder->marker_names.slot[i] = 0;
}

int ulna_builder_find_marker(const ulna_builder *builder, const char *name)
{
    return find_name(builder, &builder->marker_names, name);
}
