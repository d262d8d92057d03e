/*
 * Reads ASF, Acclaim's skeleton file; acclaim.h says what it means.
 *
 * The body of a bone has its origin where the bone begins and, at rest, the axes of the world (of the root's orientation).
 * The free end of a bone without children becomes a fixed body NAME_end.
 *
 *   units        `length L` means that one unit is 1/L inch; `angle deg` or `rad`
 *   dof          any of rx ry rz tx ty tz; `l`, a bone that changes its length, is not supported
 *   keywords     in any case; those that mean nothing here are passed over, as the definition asks
 *   gaps         brackets and commas too; # begins a comment where it begins a word
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/acclaim.h"
#include "formats/format.h"
#include "formats/text/scan.h"
#include "math/math3.h"
#include "model/builder.h"

enum { NAME = 256, DOFS = 6 };

typedef struct asf_bone {
    double direction[3], length;
    double axis[3];
    char axis_order[4];
    char dof[DOFS][2]; /* as the file lists them: 'r' or 't', 'x' 'y' 'z' */
    int dof_count;
    double limit[2 * DOFS];
    int limit_count;
    int line; /* of its begin */
    int has_children;
    int mark; /* for finding cycles */
} asf_bone;

typedef struct asf_reader {
    ulna_scan scan;
    const ulna_read_options *options;
    ulna_content *content;
    ulna_error *error;
    ulna_builder *builder;
    ulna_names names; /* of the bones */
    asf_bone *bone;   /* by body of the builder; 0 is the root */
    size_t bone_count, bone_capacity;
    double position[3]; /* of the root */
    double unit, angle;
    int has_unit, has_order;
    int swapped, swapped_line, reordered, reordered_line, ignored;
    int has_line; /* the line at hand is not used up */
} asf_reader;

/* The next word of the line; 0 at its end or where a comment begins. */
static int next_word(asf_reader *r, ulna_word *word)
{
    if (ulna_scan_word(&r->scan, "(),", word) && word->text[0] != '#')
        return 1;
    r->scan.here = r->scan.end;
    word->length = 0;
    return 0;
}

/* The first word of the next line that has one; 0 at the end of the file. */
static int next_line(asf_reader *r, ulna_word *first)
{
    *first = (ulna_word){0};
    for (;;) {
        if (!r->has_line && !ulna_scan_line(&r->scan))
            return 0;
        r->has_line = 0;
        if (next_word(r, first))
            return 1;
    }
}

/* The line is for someone else: begin it again. */
static void keep_line(asf_reader *r, const ulna_word *first)
{
    r->scan.here = first->text;
    r->has_line = 1;
}

/* The next line of a section; 0 where another section begins. */
static int section_line(asf_reader *r, ulna_word *first)
{
    if (!next_line(r, first))
        return 0;
    if (first->text[0] != ':')
        return 1;
    keep_line(r, first);
    return 0;
}

static ulna_status fail(asf_reader *r, const ulna_word *word, const char *what)
{
    return ulna_scan_fail(&r->scan, word, r->error, ULNA_ERR_PARSE, "%s", what);
}

static ulna_status fail_earlier(asf_reader *r, int line, ulna_status status)
{
    if (r->error) {
        r->error->line = line;
        r->error->column = 0;
        r->error->byte = -1;
    }
    return status;
}

static ulna_status read_numbers(asf_reader *r, const char *what, int count, double *values)
{
    for (int i = 0; i < count; i++) {
        ulna_word word;
        if (!next_word(r, &word) || !ulna_word_number(word, &values[i]))
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "%s needs %d number%s", what, count,
                                  count > 1 ? "s" : "");
    }
    return ULNA_OK;
}

/* Three different letters of X, Y, Z. */
static int read_order(ulna_word word, char order[4])
{
    unsigned seen = 0;
    for (size_t i = 0; i < 3 && word.length == 3; i++) {
        char c = (char)(word.text[i] & ~32);
        if (c < 'X' || c > 'Z')
            return 0;
        order[i] = c;
        seen |= 1u << (c - 'X');
    }
    return seen == 7;
}

static ulna_status read_dofs(asf_reader *r, asf_bone *bone)
{
    ulna_word word;
    bone->dof_count = 0;
    while (next_word(r, &word)) {
        char kind = (char)(word.text[0] | 32), axis = word.length == 2 ? (char)(word.text[1] | 32) : 0;
        if (word.length == 1 && kind == 'l')
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_UNSUPPORTED,
                                  "degree of freedom 'l': bones that change their length are not supported");
        if ((kind != 'r' && kind != 't') || axis < 'x' || axis > 'z')
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE,
                                  "unknown degree of freedom '%.*s': expected rx, ry, rz, tx, ty or tz",
                                  (int)(word.length < 16 ? word.length : 16), word.text);
        for (int i = 0; i < bone->dof_count; i++)
            if (bone->dof[i][0] == kind && bone->dof[i][1] == axis)
                return fail(r, &word, "a degree of freedom is listed twice");
        bone->dof[bone->dof_count][0] = kind;
        bone->dof[bone->dof_count++][1] = axis; /* six different ones at most */
    }
    return ULNA_OK;
}

/* ---- sections ------------------------------------------------------------------------------------------------------- */

static ulna_status read_units(asf_reader *r)
{
    ulna_word word, value;
    while (section_line(r, &word)) {
        double number;
        if (!next_word(r, &value))
            return fail(r, &word, "a unit has no value");
        if (ulna_word_is_like(word, "length")) {
            if (!ulna_word_number(value, &number) || !(number > 0) || !ulna_is_unit(ULNA_INCH_M / number))
                return fail(r, &value, "the unit of length must be a number above 0, and mean 1e-9 to 1e9 metres");
            r->unit = ULNA_INCH_M / number;
            r->has_unit = 1;
        } else if (ulna_word_is_like(word, "angle")) {
            int is_degrees = ulna_word_is_listed(value, "deg degrees");
            if (!is_degrees && !ulna_word_is_listed(value, "rad radians"))
                return fail(r, &value, "the unit of angles must be deg or rad");
            r->angle = is_degrees ? ULNA_PI / 180 : 1;
        } else if (!ulna_word_is_like(word, "mass"))
            r->ignored++;
    }
    return ULNA_OK;
}

static ulna_status read_root(asf_reader *r)
{
    ulna_word word, next;
    asf_bone *root = &r->bone[0];
    root->line = r->scan.line;
    while (section_line(r, &word)) {
        ulna_status status = ULNA_OK;
        if (ulna_word_is_like(word, "order")) {
            status = read_dofs(r, root);
            r->has_order = 1;
        } else if (ulna_word_is_like(word, "axis")) {
            if (!next_word(r, &next) || !read_order(next, root->axis_order))
                status = fail(r, &next, "the axis of the root must be an order such as XYZ");
        } else if (ulna_word_is_like(word, "position")) {
            status = read_numbers(r, "the position of the root", 3, r->position);
        } else if (ulna_word_is_like(word, "orientation")) {
            status = read_numbers(r, "the orientation of the root", 3, root->axis);
        } else
            r->ignored++;
        if (status != ULNA_OK)
            return status;
    }
    return ULNA_OK;
}

/* They go on over lines that begin with a bracket or a number. */
static ulna_status read_limits(asf_reader *r, asf_bone *bone)
{
    ulna_word word;
    double value = 0;
    bone->limit_count = 0;
    for (;;) {
        while (next_word(r, &word)) {
            int is_low = ulna_word_is_like(word, "-inf");
            int is_high = ulna_word_is_listed(word, "inf +inf");
            if (!is_low && !is_high && !ulna_word_number(word, &value))
                return fail(r, &word, "limits must be pairs of numbers such as (-10 170)");
            if (bone->limit_count == 2 * DOFS)
                return fail(r, &word, "more limits than degrees of freedom");
            bone->limit[bone->limit_count++] = is_low ? -(double)INFINITY : is_high ? (double)INFINITY : value;
        }
        if (!next_line(r, &word))
            return ULNA_OK;
        keep_line(r, &word);
        if (word.text[-1] != '(' && !ulna_word_number(word, &value) && !ulna_word_is_listed(word, "-inf inf"))
            return ULNA_OK;
        r->has_line = 0;
    }
}

static ulna_status read_name(asf_reader *r, char name[NAME])
{
    ulna_word word, more;
    if (!next_word(r, &word) || !ulna_word_copy(word, name, NAME))
        return fail(r, &word, "the name of a bone is missing or longer than 255 bytes");
    if (next_word(r, &more))
        ulna_remarks_add(&r->content->remarks, r->scan.line, ulna_scan_byte(&r->scan, more.text),
                         "a bone name must be one word: '%.60s' is used, the rest of the line is ignored", name);
    return ULNA_OK;
}

static ulna_status read_bone_line(asf_reader *r, asf_bone *bone, const ulna_word *word, char name[NAME])
{
    ulna_word next;
    if (ulna_word_is_like(*word, "name"))
        return read_name(r, name);
    if (ulna_word_is_like(*word, "direction"))
        return read_numbers(r, "a direction", 3, bone->direction);
    if (ulna_word_is_like(*word, "length"))
        return read_numbers(r, "a length", 1, &bone->length);
    if (ulna_word_is_like(*word, "axis")) {
        ulna_status status = read_numbers(r, "an axis", 3, bone->axis);
        if (status == ULNA_OK && next_word(r, &next) && !read_order(next, bone->axis_order))
            status = fail(r, &next, "the order of an axis must be one such as XYZ");
        return status;
    }
    if (ulna_word_is_like(*word, "dof"))
        return read_dofs(r, bone);
    if (ulna_word_is_like(*word, "limits"))
        return read_limits(r, bone);
    r->ignored += !ulna_word_is_listed(*word, "id bodymass cofmass");
    return ULNA_OK;
}

static void check_bone(asf_reader *r, asf_bone *bone, const char *name)
{
    ulna_remarks *remarks = &r->content->remarks;
    if (bone->limit_count && bone->limit_count != 2 * bone->dof_count) {
        ulna_remarks_add(remarks, bone->line, -1, "bone '%.60s' has %d limit numbers for %d degrees of freedom", name,
                         bone->limit_count, bone->dof_count);
        bone->limit_count = bone->limit_count < 2 * bone->dof_count ? bone->limit_count / 2 * 2 : 2 * bone->dof_count;
    }
    if (bone->length != 0 && bone->direction[0] == 0 && bone->direction[1] == 0 && bone->direction[2] == 0)
        ulna_remarks_add(remarks, bone->line, -1, "bone '%.60s' has a length but no direction", name);
}

static ulna_status add_bone(asf_reader *r, const asf_bone *bone, const char *name)
{
    void *bones = r->bone;
    ulna_status status =
        ulna_grow(&r->content->remarks.allocator, &bones, &r->bone_capacity, r->bone_count + 1, sizeof *bone);
    r->bone = bones;
    if (status == ULNA_OK)
        status = ulna_names_add(&r->names, name);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory for %zu bones", r->bone_count + 1);
    status = ulna_builder_add_body(r->builder, name, ULNA_NONE, NULL, r->error);
    if (status != ULNA_OK)
        return fail_earlier(r, bone->line, status);
    r->bone[r->bone_count++] = *bone;
    return ULNA_OK;
}

static ulna_status read_bone(asf_reader *r)
{
    asf_bone bone = {.axis_order = "XYZ", .line = r->scan.line};
    char name[NAME] = "";
    ulna_word word;
    for (;;) {
        if (!next_line(r, &word))
            return fail(r, NULL, "the file ends inside a bone");
        if (ulna_word_is_like(word, "end"))
            break;
        if (word.text[0] == ':' || ulna_word_is_like(word, "begin"))
            return fail(r, &word, "the end of a bone is missing");
        ulna_status status = read_bone_line(r, &bone, &word, name);
        if (status != ULNA_OK)
            return status;
    }
    if (!name[0])
        return fail(r, &word, "a bone has no name");
    check_bone(r, &bone, name);
    return add_bone(r, &bone, name);
}

static ulna_status read_bones(asf_reader *r)
{
    ulna_word word;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && section_line(r, &word))
        status = ulna_word_is_like(word, "begin") ? read_bone(r) : fail(r, &word, "a bone must start with 'begin'");
    return status;
}

/* The bone of that name, or ULNA_NONE and an error. */
static int find_bone(asf_reader *r, const ulna_word *word)
{
    char name[NAME];
    int found = ulna_word_copy(*word, name, sizeof name) ? ulna_names_find_like(&r->names, name) : ULNA_NONE;
    if (found == ULNA_NONE)
        ulna_scan_fail(&r->scan, word, r->error, ULNA_ERR_PARSE, "there is no bone '%.60s'", name);
    return found;
}

static ulna_status read_family(asf_reader *r, const ulna_word *first)
{
    ulna_word word;
    int parent = find_bone(r, first);
    if (parent == ULNA_NONE)
        return ULNA_ERR_PARSE;
    while (next_word(r, &word)) {
        int child = find_bone(r, &word);
        if (child == ULNA_NONE)
            return ULNA_ERR_PARSE;
        if (child == 0)
            return fail(r, &word, "the root cannot be the child of a bone");
        if (r->builder->body[child].parent != ULNA_NONE)
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "bone '%.60s' has two parents",
                                  ulna_names_at(&r->names, child));
        if (child == parent)
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "bone '%.60s' is its own parent",
                                  ulna_names_at(&r->names, child));
        r->builder->body[child].parent = parent;
        r->bone[parent].has_children = 1;
    }
    return ULNA_OK;
}

static ulna_status read_hierarchy(asf_reader *r)
{
    ulna_word word;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && section_line(r, &word)) {
        if (ulna_word_is_like(word, "end"))
            break;
        if (!ulna_word_is_like(word, "begin"))
            status = read_family(r, &word);
    }
    return status;
}

/* ---- the skeleton: tree, places, joints, limits, free ends -------------------------------------------------------- */

/* Every bone must lead to the root. */
static ulna_status check_tree(asf_reader *r)
{
    for (int b = 1; b < (int)r->bone_count; b++) {
        int at = b;
        while (at > 0 && !r->bone[at].mark) {
            r->bone[at].mark = b;
            at = r->builder->body[at].parent;
        }
        if (at == ULNA_NONE || (at > 0 && r->bone[at].mark == b)) {
            ulna_fail(r->error, ULNA_ERR_MODEL, "bone '%.60s' is not connected to the root",
                      ulna_names_at(&r->names, b));
            return fail_earlier(r, r->bone[b].line, ULNA_ERR_MODEL);
        }
    }
    return ULNA_OK;
}

/* Which of the bone's listed degrees of freedom is the joint's k-th: translations along x, y, z, then rotations, last applied
 * first. */
static int joint_order(const asf_bone *bone, int order[DOFS])
{
    int count = 0;
    for (int axis = 'x'; axis <= 'z'; axis++)
        for (int i = 0; i < bone->dof_count; i++)
            if (bone->dof[i][0] == 't' && bone->dof[i][1] == axis)
                order[count++] = i;
    for (int i = bone->dof_count - 1; i >= 0; i--)
        if (bone->dof[i][0] == 'r')
            order[count++] = i;
    return count;
}

/* The rotations come in another order than the letters of `axis`. That is as it should be, but programs differ there. */
static int is_reordered(const asf_bone *bone)
{
    const char *last = bone->axis_order;
    for (int i = 0; i < bone->dof_count; i++)
        if (bone->dof[i][0] == 'r') {
            const char *at = strchr(bone->axis_order, bone->dof[i][1] - 'x' + 'X');
            if (at < last)
                return 1;
            last = at;
        }
    return 0;
}

static ulna_status set_limits(asf_reader *r, int body, const int order[DOFS], int count)
{
    const asf_bone *bone = &r->bone[body];
    ulna_status status = ULNA_OK;
    for (int k = 0; k < count && status == ULNA_OK; k++) {
        if (bone->limit_count <= 2 * order[k])
            continue;
        double scale = bone->dof[order[k]][0] == 't' ? r->unit : r->angle;
        double low = bone->limit[2 * order[k]] * scale, high = bone->limit[2 * order[k] + 1] * scale;
        if (low > high && !r->swapped++)
            r->swapped_line = bone->line;
        status = ulna_builder_set_limits(r->builder, body, k, fmin(low, high), fmax(low, high), r->error);
    }
    return status;
}

static ulna_status set_joint(asf_reader *r, int body)
{
    const asf_bone *bone = &r->bone[body];
    int order[DOFS], count = joint_order(bone, order), translations = 0;
    if (count == 0)
        return ULNA_OK;
    char text[2 * DOFS + 1] = "", rotations[4] = "";
    for (int k = 0; k < count; k++) {
        char kind = bone->dof[order[k]][0], axis = bone->dof[order[k]][1];
        text[2 * k] = kind == 't' ? 'T' : 'R';
        text[2 * k + 1] = axis;
        translations += kind == 't';
        if (kind == 'r')
            rotations[k - translations] = (char)(axis - 'x' + 'X');
    }
    ulna_joint joint = count == 6     ? ulna_joint_free_euler(rotations)
                       : translations ? ulna_joint_sequence(text)
                                      : ulna_joint_euler(rotations);
    if (body > 0) {
        double angles[3] = {bone->axis[0] * r->angle, bone->axis[1] * r->angle, bone->axis[2] * r->angle};
        ulna_acclaim_axis(angles, bone->axis_order, joint.frame);
    }
    if (is_reordered(bone) && !r->reordered++)
        r->reordered_line = bone->line;
    ulna_status status = ulna_builder_set_joint(r->builder, body, &joint, r->error);
    return status == ULNA_OK ? set_limits(r, body, order, count) : status;
}

static ulna_status place_bone(asf_reader *r, int body)
{
    const asf_bone *bone = &r->bone[body];
    double at[3] = {0, 0, 0}, rotation[9];
    if (body > 0) {
        int parent = r->builder->body[body].parent;
        ulna_acclaim_tip(r->bone[parent].direction, r->bone[parent].length, r->unit, at);
        return ulna_builder_set_placement(r->builder, body, at, NULL, r->error);
    }
    double angles[3] = {bone->axis[0] * r->angle, bone->axis[1] * r->angle, bone->axis[2] * r->angle};
    for (int k = 0; k < 3; k++)
        at[k] = r->position[k] * r->unit;
    ulna_acclaim_axis(angles, bone->axis_order, rotation);
    return ulna_builder_set_placement(r->builder, body, at, rotation, r->error);
}

/* The free end of a bone, so that a leaf has a length. */
static ulna_status add_end(asf_reader *r, int body)
{
    char stem[NAME + 8], name[NAME];
    double tip[3];
    int end;
    ulna_acclaim_tip(r->bone[body].direction, r->bone[body].length, r->unit, tip);
    snprintf(stem, sizeof stem, "%s_end", ulna_names_at(&r->names, body));
    if ((tip[0] == 0 && tip[1] == 0 && tip[2] == 0) || !ulna_acclaim_free_name(&r->names, stem, name))
        return ULNA_OK;
    ulna_status status = ulna_names_add(&r->names, name);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory for the end of a bone");
    status = ulna_builder_add_body(r->builder, name, body, &end, r->error);
    return status == ULNA_OK ? ulna_builder_set_placement(r->builder, end, tip, NULL, r->error) : status;
}

/* Which coordinate each listed degree of freedom became. */
static ulna_status list_channels(asf_reader *r)
{
    ulna_content *c = r->content;
    int total = 0;
    for (size_t b = 0; b < r->bone_count; b++)
        total += r->bone[b].dof_count;
    c->channels = ulna_allocate(&c->remarks.allocator, (size_t)total, sizeof *c->channels);
    if (total && !c->channels)
        return ulna_fail(r->error, ULNA_ERR_MEMORY, "no memory for %d channels", total);
    c->channel_count = total;
    for (size_t b = 0, at = 0; b < r->bone_count; b++) {
        int order[DOFS], count = joint_order(&r->bone[b], order), first;
        int body = ulna_model_find_body(c->model, ulna_names_at(&r->names, (int)b));
        ulna_model_body_coordinates(c->model, body, &first);
        for (int k = 0; k < count; k++)
            c->channels[at + (size_t)order[k]] = first + k;
        at += (size_t)count;
    }
    return ULNA_OK;
}

static void remark_oddities(asf_reader *r)
{
    ulna_remarks *remarks = &r->content->remarks;
    if (!r->has_unit && !(r->options->unit_m > 0))
        ulna_remarks_add(remarks, 0, -1, "the unit of length is missing; the usual 1/0.45 inch is assumed");
    if (!r->has_order)
        ulna_remarks_add(remarks, r->bone[0].line, -1, "the root has no order; TX TY TZ RX RY RZ is assumed");
    if (r->swapped)
        ulna_remarks_add(remarks, r->swapped_line, -1, "limits are in the wrong order and are swapped (%d times)",
                         r->swapped);
    if (r->reordered)
        ulna_remarks_add(remarks, r->reordered_line, -1,
                         "rotations are listed in another order than in `axis` (%d times); they are applied as listed",
                         r->reordered);
    if (r->ignored)
        ulna_remarks_add(remarks, 0, -1, "%d lines with other keywords were ignored", r->ignored);
}

static ulna_status make_skeleton(asf_reader *r)
{
    static const char custom[DOFS][2] = {"tx", "ty", "tz", "rx", "ry", "rz"};
    if (!r->has_order) {
        memcpy(r->bone[0].dof, custom, sizeof custom);
        r->bone[0].dof_count = DOFS;
    }
    if (r->options->unit_m > 0)
        r->unit = r->options->unit_m;
    ulna_status status = check_tree(r);
    if (status != ULNA_OK)
        return status;
    for (int b = 0, count = (int)r->bone_count; b < count; b++) {
        status = place_bone(r, b);
        if (status == ULNA_OK)
            status = set_joint(r, b);
        if (status == ULNA_OK && b > 0 && !r->bone[b].has_children)
            status = add_end(r, b);
        if (status != ULNA_OK)
            return fail_earlier(r, r->bone[b].line, status);
    }
    status = ulna_builder_build(r->builder, &r->content->remarks.allocator, &r->content->model, r->error);
    if (status != ULNA_OK)
        return status;
    remark_oddities(r);
    return list_channels(r);
}

/* ---- the file ------------------------------------------------------------------------------------------------------- */

static ulna_status read_sections(asf_reader *r)
{
    ulna_word word;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && next_line(r, &word)) {
        if (ulna_word_is_like(word, ":units"))
            status = read_units(r);
        else if (ulna_word_is_like(word, ":root"))
            status = read_root(r);
        else if (ulna_word_is_like(word, ":bonedata"))
            status = read_bones(r);
        else if (ulna_word_is_like(word, ":hierarchy"))
            status = read_hierarchy(r);
        else if (ulna_word_is_like(word, ":name")) {
            char text[NAME];
            if (ulna_word_copy(ulna_scan_rest(&r->scan), text, sizeof text))
                status = ulna_builder_set_name(r->builder, text, r->error);
        } else if (ulna_word_is_like(word, ":version") && next_word(r, &word)) {
            char version[20];
            ulna_word_copy(word, version, sizeof version);
            snprintf(r->content->source.text, sizeof r->content->source.text, "version %s", version);
        } /* :documentation, :skin and their lines say nothing to us */
    }
    if (status == ULNA_OK && r->bone_count == 1 && r->bone[0].line == 0)
        status = ulna_fail(r->error, ULNA_ERR_PARSE, "the file has no root and no bones");
    return status;
}

int ulna_asf_sniff(const char *data, size_t length)
{
    ulna_scan scan = ulna_scan_start(data, length);
    ulna_word word;
    for (int lines = 0; ulna_scan_line(&scan);) {
        if (!ulna_scan_word(&scan, NULL, &word) || word.text[0] == '#')
            continue;
        if (lines++ == 0 && word.text[0] != ':')
            return 0;
        if (ulna_word_is_listed(word, ":root :bonedata :units :hierarchy"))
            return 1;
    }
    return 0;
}

static ulna_status start(asf_reader *r)
{
    const ulna_allocator *allocator = &r->content->remarks.allocator;
    void *bones = NULL;
    ulna_status status = ulna_builder_create(allocator, &r->builder);
    if (status == ULNA_OK)
        status = ulna_grow(allocator, &bones, &r->bone_capacity, 1, sizeof *r->bone);
    r->bone = bones;
    if (status == ULNA_OK)
        status = ulna_names_add(&r->names, ULNA_ACCLAIM_ROOT);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory for a skeleton");
    r->bone[r->bone_count++] = (asf_bone){.axis_order = "XYZ"};
    return ulna_builder_add_body(r->builder, ULNA_ACCLAIM_ROOT, ULNA_NONE, NULL, r->error);
}

ulna_status ulna_asf_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    const ulna_allocator *allocator = &content->remarks.allocator;
    asf_reader r = {.scan = ulna_scan_start(data, length),
                    .options = options,
                    .content = content,
                    .error = error,
                    .names = ulna_names_empty(allocator),
                    .unit = ULNA_ACCLAIM_UNIT,
                    .angle = ULNA_PI / 180};
    ulna_status status = start(&r);
    if (status == ULNA_OK)
        status = read_sections(&r);
    if (status == ULNA_OK)
        status = make_skeleton(&r);
    content->source.unit_m = r.unit;
    content->source.degrees = r.angle != 1;
    content->source.up = 'y';
    ulna_names_release(&r.names);
    ulna_release(allocator, r.bone, r.bone_capacity, sizeof *r.bone);
    ulna_builder_destroy(r.builder);
    return status;
}
