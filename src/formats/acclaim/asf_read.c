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
#include "formats/acclaim/asf_read.h"
#include "math/math3.h"

/* The next word of the line; 0 at its end or where a comment begins. */
static int next_word(ulna_asf_reader *r, ulna_word *word)
{
    if (ulna_scan_word(&r->scan, "(),", word) && word->text[0] != '#')
        return 1;
    r->scan.here = r->scan.end;
    word->length = 0;
    return 0;
}

/* The first word of the next line that has one; 0 at the end of the file. */
static int next_line(ulna_asf_reader *r, ulna_word *first)
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
static void keep_line(ulna_asf_reader *r, const ulna_word *first)
{
    r->scan.here = first->text;
    r->has_line = 1;
}

/* The next line of a section; 0 where another section begins. */
static int section_line(ulna_asf_reader *r, ulna_word *first)
{
    if (!next_line(r, first))
        return 0;
    if (first->text[0] != ':')
        return 1;
    keep_line(r, first);
    return 0;
}

static ulna_status fail(ulna_asf_reader *r, const ulna_word *word, const char *what)
{
    return ulna_scan_fail(&r->scan, word, r->error, ULNA_ERR_PARSE, "%s", what);
}

ulna_status ulna_asf_fail_earlier(ulna_asf_reader *r, int line, ulna_status status)
{
    if (r->error) {
        r->error->line = line;
        r->error->column = 0;
        r->error->byte = -1;
    }
    return status;
}

static ulna_status read_numbers(ulna_asf_reader *r, const char *what, int count, double *values)
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

static ulna_status read_dofs(ulna_asf_reader *r, ulna_asf_bone *bone)
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
                                  "degree of freedom '%.*s': rx, ry, rz, tx, ty and tz are known",
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

static ulna_status read_units(ulna_asf_reader *r)
{
    ulna_word word, value;
    while (section_line(r, &word)) {
        double number;
        if (!next_word(r, &value))
            return fail(r, &word, "a unit has no value");
        if (ulna_word_is_like(word, "length")) {
            if (!ulna_word_number(value, &number) || !(number > 0) || !isfinite(0.0254 / number))
                return fail(r, &value, "the unit of length must be a number above 0");
            r->unit = 0.0254 / number;
            r->has_unit = 1;
        } else if (ulna_word_is_like(word, "angle")) {
            int is_degrees = ulna_word_is_like(value, "deg") || ulna_word_is_like(value, "degrees");
            if (!is_degrees && !ulna_word_is_like(value, "rad") && !ulna_word_is_like(value, "radians"))
                return fail(r, &value, "the unit of angles is deg or rad");
            r->angle = is_degrees ? ULNA_PI / 180 : 1;
        } else if (!ulna_word_is_like(word, "mass"))
            r->ignored++;
    }
    return ULNA_OK;
}

static ulna_status read_root(ulna_asf_reader *r)
{
    ulna_word word, next;
    ulna_asf_bone *root = &r->bone[0];
    root->line = r->scan.line;
    while (section_line(r, &word)) {
        ulna_status status = ULNA_OK;
        if (ulna_word_is_like(word, "order")) {
            status = read_dofs(r, root);
            r->has_order = 1;
        } else if (ulna_word_is_like(word, "axis")) {
            if (!next_word(r, &next) || !read_order(next, root->axis_order))
                status = fail(r, &next, "the axis of the root is an order such as XYZ");
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
static ulna_status read_limits(ulna_asf_reader *r, ulna_asf_bone *bone)
{
    ulna_word word;
    double value = 0;
    bone->limit_count = 0;
    for (;;) {
        while (next_word(r, &word)) {
            int is_low = ulna_word_is_like(word, "-inf");
            int is_high = ulna_word_is_like(word, "inf") || ulna_word_is_like(word, "+inf");
            if (!is_low && !is_high && !ulna_word_number(word, &value))
                return fail(r, &word, "limits are pairs of numbers such as (-10 170)");
            if (bone->limit_count == 2 * ULNA_ASF_DOFS)
                return fail(r, &word, "more limits than degrees of freedom");
            bone->limit[bone->limit_count++] = is_low ? -(double)INFINITY : is_high ? (double)INFINITY : value;
        }
        if (!next_line(r, &word))
            return ULNA_OK;
        keep_line(r, &word);
        if (word.text[-1] != '(' && !ulna_word_number(word, &value) && !ulna_word_is_like(word, "-inf") &&
            !ulna_word_is_like(word, "inf"))
            return ULNA_OK;
        r->has_line = 0;
    }
}

static ulna_status read_name(ulna_asf_reader *r, char name[ULNA_ASF_NAME])
{
    ulna_word word, more;
    if (!next_word(r, &word) || !ulna_word_copy(word, name, ULNA_ASF_NAME))
        return fail(r, &word, "the name of a bone is missing or longer than 255 bytes");
    if (next_word(r, &more))
        ulna_remarks_add(&r->content->remarks, r->scan.line, ulna_scan_byte(&r->scan, more.text),
                         "the name of a bone is one word, '%.60s'; the rest is passed over", name);
    return ULNA_OK;
}

static ulna_status read_bone_line(ulna_asf_reader *r, ulna_asf_bone *bone, const ulna_word *word,
                                  char name[ULNA_ASF_NAME])
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
            status = fail(r, &next, "the order of an axis is one such as XYZ");
        return status;
    }
    if (ulna_word_is_like(*word, "dof"))
        return read_dofs(r, bone);
    if (ulna_word_is_like(*word, "limits"))
        return read_limits(r, bone);
    r->ignored += !ulna_word_is_like(*word, "id") && !ulna_word_is_like(*word, "bodymass") &&
                  !ulna_word_is_like(*word, "cofmass");
    return ULNA_OK;
}

static void check_bone(ulna_asf_reader *r, ulna_asf_bone *bone, const char *name)
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

static ulna_status add_bone(ulna_asf_reader *r, const ulna_asf_bone *bone, const char *name)
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
        return ulna_asf_fail_earlier(r, bone->line, status);
    r->bone[r->bone_count++] = *bone;
    return ULNA_OK;
}

static ulna_status read_bone(ulna_asf_reader *r)
{
    ulna_asf_bone bone = {.axis_order = "XYZ", .line = r->scan.line};
    char name[ULNA_ASF_NAME] = "";
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

static ulna_status read_bones(ulna_asf_reader *r)
{
    ulna_word word;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && section_line(r, &word))
        status = ulna_word_is_like(word, "begin") ? read_bone(r) : fail(r, &word, "a bone starts with begin");
    return status;
}

/* The bone of that name, or ULNA_NONE and an error. */
static int find_bone(ulna_asf_reader *r, const ulna_word *word)
{
    char name[ULNA_ASF_NAME];
    int found = ulna_word_copy(*word, name, sizeof name) ? ulna_names_find_like(&r->names, name) : ULNA_NONE;
    if (found == ULNA_NONE)
        ulna_scan_fail(&r->scan, word, r->error, ULNA_ERR_PARSE, "there is no bone '%.60s'", name);
    return found;
}

static ulna_status read_family(ulna_asf_reader *r, const ulna_word *first)
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
            return fail(r, &word, "the root cannot hang on a bone");
        if (r->builder->body[child].parent != ULNA_NONE)
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "bone '%.60s' hangs on two bones",
                                  ulna_names_at(&r->names, child));
        if (child == parent)
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "bone '%.60s' hangs on itself",
                                  ulna_names_at(&r->names, child));
        r->builder->body[child].parent = parent;
        r->bone[parent].has_children = 1;
    }
    return ULNA_OK;
}

static ulna_status read_hierarchy(ulna_asf_reader *r)
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

/* ---- the file ------------------------------------------------------------------------------------------------------- */

static ulna_status read_sections(ulna_asf_reader *r)
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
            char text[ULNA_ASF_NAME];
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
        if (ulna_word_is_like(word, ":root") || ulna_word_is_like(word, ":bonedata") ||
            ulna_word_is_like(word, ":units") || ulna_word_is_like(word, ":hierarchy"))
            return 1;
    }
    return 0;
}

static ulna_status start(ulna_asf_reader *r)
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
    r->bone[r->bone_count++] = (ulna_asf_bone){.axis_order = "XYZ"};
    return ulna_builder_add_body(r->builder, ULNA_ACCLAIM_ROOT, ULNA_NONE, NULL, r->error);
}

ulna_status ulna_asf_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    const ulna_allocator *allocator = &content->remarks.allocator;
    ulna_asf_reader r = {.scan = ulna_scan_start(data, length),
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
        status = ulna_asf_make_skeleton(&r);
    content->source.unit_m = r.unit;
    content->source.degrees = r.angle != 1;
    content->source.up = 'y';
    ulna_names_release(&r.names);
    ulna_release(allocator, r.bone, r.bone_capacity, sizeof *r.bone);
    ulna_builder_destroy(r.builder);
    return status;
}
