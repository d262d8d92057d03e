/*
 * Writes ASF, Acclaim's skeleton file, for any skeleton; acclaim.h says what it means.
 *
 * Bodies here may be rotated against their parents and sit anywhere; bones there begin where their parent ends and have,
 * at rest, the axes of the world. With every joint in its zero pose,
 *
 *   r      takes the axes in which a body's joint moves to those of the file: parent's r * parent's offset * placement
 *   start  where the joint is, from the joint of the parent, in the axes of the file
 *
 * and the axis C of a bone is r times the frame of its joint (plan->pre). The root's own r is the inverse of that frame, so
 * that its orientation is all that rotates the file's axes against the world. The tip of a bone is where its first child
 * starts; a child that starts elsewhere gets a bone without degrees of freedom in between, CHILD_start. The tip of a bone
 * without children is the body's own origin; a fixed body NAME_end as the only child is the tip, and no bone.
 *
 * Writing what was read from a written file gives the same bytes: directions, lengths and axes are rounded to fewer digits
 * than the way there and back takes from them, and rounded again until that changes nothing.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/acclaim.h"
#include "formats/format.h"
#include "formats/text/numbers.h"
#include "math/math3.h"

enum { NAME = 256, ROUNDS = 20 };

/* Decimals of directions and of axes, in degrees and radians; digits of lengths. The errors of pose that come of them are
 * below 1e-12. */
enum { DIRECTION_DECIMALS = 14, DEGREE_DECIMALS = 11, RADIAN_DECIMALS = 13, LENGTH_DIGITS = 14 };

typedef struct asf_bone {
    double r[9], start[3], tip[3];
    int first_child, last_child, next_sibling;
    int is_end; /* the tip of its parent */
    int extra;  /* name of the bone that leads to it, ULNA_NONE if there is none */
} asf_bone;

typedef struct asf_writer {
    ulna_writer out;
    const ulna_model *model; /* with joints that Acclaim can say */
    const ulna_write_options *options;
    ulna_remarks *remarks;
    ulna_names names;                /* of the bodies, then of extra bones */
    asf_bone *bone;                  /* by body */
    ulna_acclaim_channels *channels; /* of each body */
    double length, unit, angle;
    int ids;
} asf_writer;

/* ---- where bones are ------------------------------------------------------------------------------------------------ */

static void place_body(asf_writer *w, int b)
{
    const ulna_body *body = &w->model->body[b];
    asf_bone *bone = &w->bone[b];
    bone->first_child = bone->last_child = bone->next_sibling = bone->extra = ULNA_NONE;
    if (b == 0) {
        ulna_joint_plan plan;
        ulna_joint_resolve(&w->model->joint[0], &plan, NULL);
        ulna_transpose9(plan.pre, bone->r);
        return;
    }
    const ulna_body *parent = &w->model->body[body->parent];
    asf_bone *above = &w->bone[body->parent];
    double rotated[9], at[3];
    ulna_compose(parent->offset_rotation, parent->offset_position, body->placement_rotation, body->placement_position,
                 rotated, at);
    ulna_multiply9(above->r, rotated, bone->r);
    ulna_rotate(above->r, at, bone->start);
    if (above->last_child == ULNA_NONE)
        above->first_child = b;
    else
        w->bone[above->last_child].next_sibling = b;
    above->last_child = b;
}

/* Where the body itself is, from its joint. */
static void own_origin(const asf_writer *w, int b, double origin[3])
{
    ulna_rotate(w->bone[b].r, w->model->body[b].offset_position, origin);
}

/* The tip of a bone whose children are known. */
static void choose_tip(asf_writer *w, int b)
{
    asf_bone *bone = &w->bone[b];
    int child = bone->first_child;
    if (b == 0)
        return;
    if (child == ULNA_NONE) {
        char stem[NAME + 8]; /* the reader gives a free end a name: without room for one it has none */
        if (snprintf(stem, sizeof stem, "%s_end", ulna_names_at(&w->names, b)) < NAME)
            own_origin(w, b, bone->tip);
        return;
    }
    ulna_copy3(w->bone[child].start, bone->tip);
    const ulna_body *end = &w->model->body[child];
    if (w->bone[child].next_sibling != ULNA_NONE || w->bone[child].first_child != ULNA_NONE || end->dof_count > 0 ||
        !ulna_acclaim_is_end(ulna_names_at(&w->names, child), ulna_names_at(&w->names, b)))
        return;
    double origin[3], tip[3];
    own_origin(w, child, origin);
    for (int k = 0; k < 3; k++)
        tip[k] = bone->tip[k] + origin[k];
    w->bone[child].is_end = ulna_norm(tip) > 0;
    if (w->bone[child].is_end)
        ulna_copy3(tip, bone->tip);
}

/* A child that does not start where its parent ends. */
static ulna_status add_extra(asf_writer *w, int b)
{
    const asf_bone *parent = &w->bone[w->model->body[b].parent];
    double gap[3];
    for (int k = 0; k < 3; k++)
        gap[k] = w->bone[b].start[k] - parent->tip[k];
    if (w->bone[b].is_end || ulna_norm(gap) <= 1e-12)
        return ULNA_OK;
    char stem[NAME + 8], name[NAME];
    snprintf(stem, sizeof stem, "%s_start", ulna_names_at(&w->names, b));
    if (!ulna_acclaim_free_name(&w->names, stem, name))
        ulna_acclaim_free_name(&w->names, "start", name);
    w->bone[b].extra = (int)w->names.count;
    return ulna_names_add(&w->names, name);
}

static ulna_status place_bones(asf_writer *w)
{
    ulna_status status = ULNA_OK;
    for (int b = 0; b < w->model->nb; b++) {
        place_body(w, b);
        const double *at = b ? w->bone[b].start : w->model->body[0].placement_position;
        if (!(ulna_norm(at) < 1e150 * fmin(w->unit, 1))) /* so that no length or its square overflows */
            return ULNA_ERR_NUMBER;
    }
    for (int b = 0; b < w->model->nb; b++)
        choose_tip(w, b);
    for (int b = 1; b < w->model->nb && status == ULNA_OK; b++)
        status = add_extra(w, b);
    return status;
}

/* ---- numbers -------------------------------------------------------------------------------------------------------- */

static double tidy(const asf_writer *w, double value, int decimals)
{
    return w->options->digits > 0 ? ulna_round_digits(value, w->options->digits) : ulna_round_decimals(value, decimals);
}

static int is_same3(const double a[3], const double b[3])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2];
}

static void put_three(asf_writer *w, const char *word, const double values[3])
{
    ulna_print(&w->out, "%s %g %g %g", word, values[0], values[1], values[2]);
}

static void put_way(asf_writer *w, const double way[3])
{
    double direction[3] = {1, 0, 0}, length = 0, tip[3];
    ulna_copy3(way, tip);
    for (int round = 0; round < ROUNDS; round++) {
        double largest = fmax(fabs(tip[0]), fmax(fabs(tip[1]), fabs(tip[2]))), unit[3];
        if (!(largest > 1e-300))
            break;
        for (int k = 0; k < 3; k++)
            unit[k] = tip[k] / largest;
        double size = ulna_norm(unit), next[3];
        double fresh =
            ulna_round_digits(size * largest / w->unit, w->options->digits > 0 ? w->options->digits : LENGTH_DIGITS);
        for (int k = 0; k < 3; k++)
            next[k] = tidy(w, unit[k] / size, DIRECTION_DECIMALS);
        int is_settled = fresh == length && is_same3(next, direction);
        length = fresh;
        ulna_copy3(next, direction);
        if (is_settled)
            break;
        ulna_acclaim_tip(direction, length, w->unit, tip);
    }
    put_three(w, "    direction", direction);
    ulna_print(&w->out, "\n    length %g\n", length);
}

/* The angles of a rotation in the order XYZ, or in XZY where the former is near its gimbal lock. */
static const char *find_axis(const asf_writer *w, const double rotation[9], double angles[3])
{
    const char *order = "XYZ";
    double c[9], nowhere[3] = {0, 0, 0};
    ulna_copy9(rotation, c);
    memset(angles, 0, 3 * sizeof *angles);
    for (int round = 0; round < ROUNDS; round++) {
        const char *chosen = fabs(c[6]) > 0.9 ? "XZY" : "XYZ";
        ulna_joint joint = ulna_joint_euler(chosen[1] == 'Z' ? "YZX" : "ZYX");
        ulna_joint_plan plan;
        double q[3], fresh[3], radians[3];
        ulna_joint_resolve(&joint, &plan, NULL);
        ulna_joint_fit(&plan, 1, c, nowhere, nowhere, q);
        for (int k = 0; k < 3; k++) {
            int axis = plan.segment[k];
            fresh[axis] = tidy(w, q[k] / w->angle, w->angle == 1 ? RADIAN_DECIMALS : DEGREE_DECIMALS);
            radians[axis] = fresh[axis] * w->angle;
        }
        int is_settled = round > 0 && chosen[1] == order[1] && is_same3(fresh, angles);
        order = chosen;
        ulna_copy3(fresh, angles);
        if (is_settled)
            break;
        ulna_acclaim_axis(radians, order, c);
        ulna_orthonormalise(c);
    }
    return order;
}

/* Angles of zero may be told in any order: then in that of the joint's rotations, since some programs go by `axis` there. */
static void name_order(const ulna_acclaim_channels *channels, const double angles[3], const char *found, char order[4])
{
    int count = 0, is_odd = 0;
    char last = 'x';
    snprintf(order, 4, "%s", found);
    for (int k = 0; k < channels->count; k++)
        if (channels->channel[k].kind == 'r') {
            is_odd |= channels->channel[k].axis < last;
            last = channels->channel[k].axis;
        }
    if (!is_odd || angles[0] != 0 || angles[1] != 0 || angles[2] != 0)
        return;
    for (int k = 0; k < channels->count; k++)
        if (channels->channel[k].kind == 'r')
            order[count++] = (char)(channels->channel[k].axis - 'x' + 'X');
    for (char axis = 'X'; axis <= 'Z' && count < 3; axis++)
        if (!memchr(order, axis, (size_t)count))
            order[count++] = axis;
}

/* ---- sections ------------------------------------------------------------------------------------------------------- */

static void put_head(asf_writer *w)
{
    char title[NAME];
    int length = snprintf(title, sizeof title, "%s", ulna_model_name(w->model)), from = 0;
    for (int i = 0; i < length; i++)
        title[i] = (unsigned char)title[i] < ' ' ? ' ' : title[i];
    while (length > 0 && title[length - 1] == ' ')
        title[--length] = 0;
    while (title[from] == ' ')
        from++;
    ulna_put(&w->out, ":version 1.10\n");
    if (title[from])
        ulna_print(&w->out, ":name %s\n", title + from);
    ulna_print(&w->out, ":units\n  mass 1.0\n  length %g\n  angle %s\n", w->length, w->angle == 1 ? "rad" : "deg");
}

static void put_channels(asf_writer *w, const ulna_acclaim_channels *channels, int capital)
{
    for (int k = 0; k < channels->count; k++) {
        char text[4] = {' ', channels->channel[k].kind, channels->channel[k].axis, 0};
        for (int i = 1; i < 3 && capital; i++)
            text[i] = (char)(text[i] - 'a' + 'A');
        ulna_put(&w->out, text);
    }
    ulna_put(&w->out, "\n");
}

static void put_root(asf_writer *w)
{
    const ulna_body *root = &w->model->body[0];
    const ulna_acclaim_channels *channels = &w->channels[0];
    ulna_joint_plan plan;
    double rotated[9], angles[3];
    char order[4];
    ulna_joint_resolve(&w->model->joint[0], &plan, NULL);
    ulna_multiply9(root->placement_rotation, plan.pre, rotated);
    const char *found = find_axis(w, rotated, angles);
    name_order(channels, angles, found, order);
    ulna_put(&w->out, ":root\n  order");
    put_channels(w, channels, 1);
    ulna_print(&w->out, "  axis %s\n  position", order);
    for (int k = 0; k < 3; k++) {
        ulna_put(&w->out, " ");
        ulna_put_scaled(&w->out, root->placement_position[k], w->unit, w->options->digits);
    }
    put_three(w, "\n  orientation", angles);
    ulna_put(&w->out, "\n");
}

static void put_limit(asf_writer *w, double value, double scale)
{
    if (isfinite(value / scale))
        ulna_put_scaled(&w->out, value, scale, w->options->digits);
    else
        ulna_put(&w->out, value < 0 ? "-inf" : "inf");
}

static void put_limits(asf_writer *w, int b, const ulna_acclaim_channels *channels)
{
    const double *lower = w->model->lower + w->model->body[b].dof, *upper = w->model->upper + w->model->body[b].dof;
    int is_limited = 0;
    for (int k = 0; k < channels->count; k++)
        is_limited |= isfinite(lower[k]) || isfinite(upper[k]);
    for (int k = 0; k < channels->count && is_limited; k++) {
        double scale = channels->channel[k].kind == 't' ? w->unit : w->angle;
        int dof = channels->channel[k].coordinate;
        ulna_put(&w->out, k ? "           (" : "    limits (");
        put_limit(w, lower[dof], scale);
        ulna_put(&w->out, " ");
        put_limit(w, upper[dof], scale);
        ulna_put(&w->out, ")\n");
    }
}

static void put_begin(asf_writer *w, int name)
{
    ulna_print(&w->out, "  begin\n    id %d\n    name %s\n", ++w->ids, ulna_names_at(&w->names, name));
}

static void put_extra(asf_writer *w, int b)
{
    double way[3];
    for (int k = 0; k < 3; k++)
        way[k] = w->bone[b].start[k] - w->bone[w->model->body[b].parent].tip[k];
    put_begin(w, w->bone[b].extra);
    put_way(w, way);
    ulna_put(&w->out, "    axis 0 0 0 XYZ\n  end\n");
}

static void put_bone(asf_writer *w, int b)
{
    const ulna_acclaim_channels *channels = &w->channels[b];
    ulna_joint_plan plan;
    double c[9], angles[3] = {0, 0, 0};
    const char *found = "XYZ";
    char order[4];
    ulna_joint_resolve(&w->model->joint[b], &plan, NULL);
    if (channels->count > 0) {
        ulna_multiply9(w->bone[b].r, plan.pre, c);
        found = find_axis(w, c, angles);
    }
    name_order(channels, angles, found, order);
    put_begin(w, b);
    put_way(w, w->bone[b].tip);
    put_three(w, "    axis", angles);
    ulna_print(&w->out, " %s\n", order);
    if (channels->count > 0) {
        ulna_put(&w->out, "    dof");
        put_channels(w, channels, 0);
        put_limits(w, b, channels);
    }
    ulna_put(&w->out, "  end\n");
}

static void put_bones(asf_writer *w)
{
    ulna_put(&w->out, ":bonedata\n");
    for (int b = 1; b < w->model->nb; b++) {
        if (w->bone[b].extra != ULNA_NONE)
            put_extra(w, b);
        if (!w->bone[b].is_end)
            put_bone(w, b);
    }
}

static void put_hierarchy(asf_writer *w)
{
    ulna_put(&w->out, ":hierarchy\n  begin\n");
    for (int b = 0; b < w->model->nb; b++) {
        if (w->bone[b].extra != ULNA_NONE)
            ulna_print(&w->out, "    %s %s\n", ulna_names_at(&w->names, w->bone[b].extra), ulna_names_at(&w->names, b));
        int child = w->bone[b].first_child;
        if (child == ULNA_NONE || w->bone[child].is_end)
            continue;
        ulna_print(&w->out, "    %s", ulna_names_at(&w->names, b));
        for (; child != ULNA_NONE; child = w->bone[child].next_sibling) {
            int extra = w->bone[child].extra;
            ulna_print(&w->out, " %s", ulna_names_at(&w->names, extra == ULNA_NONE ? child : extra));
        }
        ulna_put(&w->out, "\n");
    }
    ulna_put(&w->out, "  end\n");
}

/* ---- the file ------------------------------------------------------------------------------------------------------- */

static void remark_losses(const asf_writer *w)
{
    const ulna_model *m = w->model;
    int masses = 0, rests = 0, limits = 0;
    for (int b = 0; b < m->nb; b++) {
        ulna_joint_plan plan;
        ulna_joint_resolve(&m->joint[b], &plan, NULL);
        masses += m->mass[b].mass > 0;
        for (int k = 0; k < plan.coordinate_count; k++)
            rests += fabs(m->rest[m->body[b].coordinate + k] - plan.zero[k]) > 1e-12;
        for (int k = 0; k < plan.dof_count && b == 0; k++)
            limits += isfinite(m->lower[k]) || isfinite(m->upper[k]);
    }
    if (m->nm)
        ulna_remarks_add(w->remarks, 0, -1, "%d markers are left out: the format has none", m->nm);
    if (masses)
        ulna_remarks_add(w->remarks, 0, -1, "the masses of %d bodies are left out: the format has none", masses);
    if (limits)
        ulna_remarks_add(w->remarks, 0, -1, "%d limits of the root are left out: the format has none", limits);
    if (rests)
        ulna_remarks_add(w->remarks, 0, -1, "%d rest value%s not 0 and not kept: an ASF has all joints at 0 at rest",
                         rests, rests == 1 ? " is" : "s are");
}

static ulna_status write_model(asf_writer *w, ulna_error *error)
{
    ulna_status status = ulna_acclaim_names(w->model, &w->names, w->remarks);
    if (status == ULNA_OK)
        status = place_bones(w);
    if (status == ULNA_ERR_NUMBER)
        return ulna_fail(error, status, "the skeleton is too large to be written");
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for the names of bones");
    put_head(w);
    put_root(w);
    put_bones(w);
    put_hierarchy(w);
    status = ulna_writer_finish(&w->out, "the ASF file", error);
    if (status == ULNA_OK)
        remark_losses(w);
    return status;
}

ulna_status ulna_asf_write(const ulna_writing *writing, ulna_error *error)
{
    ulna_model *changed;
    const ulna_allocator *allocator = &writing->model->allocator;
    ulna_status status = ulna_acclaim_model(writing->model, allocator, &changed, writing->remarks, error);
    if (status != ULNA_OK)
        return status;
    asf_writer w = {.model = changed ? changed : writing->model,
                    .options = writing->options,
                    .remarks = writing->remarks,
                    .names = ulna_names_empty(allocator),
                    .angle = writing->options->degrees == 0 ? 1 : ULNA_PI / 180};
    size_t nb = (size_t)w.model->nb;
    w.length = ulna_acclaim_length(writing->options, &w.unit);
    ulna_writer_start(&w.out, writing->sink);
    w.bone = ulna_allocate(allocator, nb, sizeof *w.bone);
    status = w.bone ? ulna_acclaim_list(w.model, w.options->channels, w.options->channel_count, allocator, &w.channels,
                                        error)
                    : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu bones", nb);
    if (status == ULNA_OK)
        status = write_model(&w, error);
    ulna_release(allocator, w.channels, nb, sizeof *w.channels);
    ulna_release(allocator, w.bone, nb, sizeof *w.bone);
    ulna_names_release(&w.names);
    ulna_model_destroy(changed);
    return status;
}
