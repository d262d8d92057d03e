/*
 * Reads URDF, the robot description of ROS (wiki.ros.org/urdf/XML).
 *
 *     link    becomes a body of the same name, the root included; its frame is the frame of the joint that moves it
 *     joint   becomes the joint of its child link, under its own name: placement = origin, then the motion
 *     rpy     fixed axes: R = Rz(yaw) Ry(pitch) Rx(roll)
 *     axis    (1, 0, 0) by default, of any length but zero
 *     mimic   becomes a coupling of the model; inertial: mass, centre and inertia, in the axes of the link
 *
 * The root link stands still in the world. `planar` has three degrees of freedom, as in most programs: two translations and the
 * rotation about the normal. `spherical`, which Bullet has added, is a ball joint. What does not move the robot (shapes, materials,
 * transmissions, sensors, what simulators add) is passed over.
 *
 * Errors that show only when all is read, such as loops, name the line of the joint or link.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/scan.h"
#include "formats/xml/urdf.h"
#include "formats/xml/xml.h"
#include "math/math3.h"

#define NAME "\"%.80s\""

/* The link or the joint at hand, as messages call it: `joint "elbow"`. */
static void describe(const ulna_urdf *r, char text[128])
{
    if (r->place == ULNA_URDF_IN_JOINT)
        snprintf(text, 128, "joint " NAME, ulna_urdf_joint_name(r, (int)r->joint_count - 1));
    else
        snprintf(text, 128, "link " NAME, ulna_urdf_link_name(r, (int)r->link_count - 1));
}

/* ---- attributes --------------------------------------------------------------------------------------------------- */

/* `count` numbers, separated by blanks, or by commas as some programs write them; 0 if there are more, fewer, or something else. */
static int read_numbers(const char *text, int count, double *values)
{
    int found = 0;
    for (;;) {
        text += strspn(text, " \t\r\n,");
        size_t length = strcspn(text, " \t\r\n,");
        if (length == 0)
            return found == count;
        if (found == count || !ulna_word_number((ulna_word){text, length}, &values[found++]))
            return 0;
        text += length;
    }
}

/* Numbers of an attribute; what is not there keeps its value. */
static ulna_status read_attribute(ulna_urdf *r, const ulna_xml_element *e, const char *name, int count, double *values)
{
    char what[128];
    const char *text = ulna_xml_attribute(e, name);
    int is_read = !text || read_numbers(text, count, values);
    if (is_read && text && strchr(text, ',') && !r->has_commas++)
        ulna_remarks_add(&r->content->remarks, e->line, -1,
                         "<%s %s=\"%.40s\">: commas between numbers are read as blanks, here and below", e->name, name,
                         text);
    if (is_read)
        return ULNA_OK;
    describe(r, what);
    return ulna_xml_fail(r->error, e->line, ULNA_ERR_PARSE, "%s: <%s %s=\"%.40s\"> should have %s", what, e->name, name,
                         text, count == 3 ? "three numbers" : "one number");
}

/* A text that must be there; NULL and an error if not. */
static const char *need_text(ulna_urdf *r, const ulna_xml_element *e, const char *name, ulna_status *status)
{
    const char *text = ulna_xml_attribute(e, name);
    if (text && *text)
        return text;
    char what[128] = "";
    if (r->place == ULNA_URDF_IN_JOINT || r->place == ULNA_URDF_IN_INERTIAL)
        describe(r, what);
    *status =
        ulna_xml_fail(r->error, e->line, ULNA_ERR_PARSE, "%s%s<%s> needs a %s", what, *what ? ": " : "", e->name, name);
    return NULL;
}

/* A name that is looked up when all is read. */
static ulna_status read_reference(ulna_urdf *r, const ulna_xml_element *e, const char *name, int *reference)
{
    ulna_status status = ULNA_OK;
    const char *text = need_text(r, e, name, &status);
    if (!text)
        return status;
    *reference = (int)r->references.count;
    status = ulna_names_add(&r->references, text);
    return status == ULNA_OK ? status : ulna_fail(r->error, status, "no memory left for the names of the file");
}

static ulna_status read_origin(ulna_urdf *r, const ulna_xml_element *e, double position[3], double rotation[9])
{
    double rpy[3] = {0}, x[9], y[9], z[9], zy[9];
    ulna_status status = read_attribute(r, e, "xyz", 3, position);
    if (status == ULNA_OK)
        status = read_attribute(r, e, "rpy", 3, rpy);
    ulna_rotation_about(0, rpy[0], x);
    ulna_rotation_about(1, rpy[1], y);
    ulna_rotation_about(2, rpy[2], z);
    ulna_multiply9(z, y, zy);
    ulna_multiply9(zy, x, rotation);
    return status;
}

/* ---- links -------------------------------------------------------------------------------------------------------- */

/* Adds a name to those of links or joints, which must differ. `other`: one that is there already. */
static ulna_status add_name(ulna_urdf *r, const ulna_xml_element *e, ulna_names *names, const char *kind, int *other)
{
    ulna_status status = ULNA_OK;
    const char *name = need_text(r, e, "name", &status);
    if (!name)
        return status;
    if (strlen(name) > 255)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_LIMIT, "the name of %s " NAME "... is longer than 255 bytes",
                             kind, name);
    *other = ulna_names_find(names, name);
    if (*other != ULNA_NONE)
        return ULNA_OK;
    status = ulna_names_add(names, name);
    return status == ULNA_OK ? status : ulna_fail(r->error, status, "no memory left for the names of the file");
}

static ulna_status start_link(ulna_urdf *r, const ulna_xml_element *e)
{
    int other = ULNA_NONE;
    ulna_status status = add_name(r, e, &r->link_names, "link", &other);
    if (status != ULNA_OK)
        return status;
    if (other != ULNA_NONE)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_MODEL,
                             "two links are called " NAME ": the first is in line %d", ulna_urdf_link_name(r, other),
                             r->link[other].line);
    status = ulna_grow(&r->allocator, (void **)&r->link, &r->link_capacity, r->link_count + 1, sizeof *r->link);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory left for one more link");
    ulna_urdf_link *link = &r->link[r->link_count++];
    *link = (ulna_urdf_link){.line = e->line, .joint = ULNA_NONE};
    ulna_identity9(link->rotation);
    r->place = ULNA_URDF_IN_LINK;
    return ULNA_OK;
}

static ulna_status read_inertial(ulna_urdf *r, const ulna_xml_element *e, unsigned seen)
{
    static const char *const moments[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    ulna_urdf_link *link = &r->link[r->link_count - 1];
    if (seen == ULNA_URDF_HAS_ORIGIN)
        return read_origin(r, e, link->center, link->rotation);
    if (seen == ULNA_URDF_HAS_MASS)
        return read_attribute(r, e, "value", 1, &link->mass);
    ulna_status status = ULNA_OK;
    for (int i = 0; i < 6 && status == ULNA_OK; i++)
        status = read_attribute(r, e, moments[i], 1, &link->inertia[i]);
    return status;
}

/* ---- joints ------------------------------------------------------------------------------------------------------- */

static ulna_status start_joint(ulna_urdf *r, const ulna_xml_element *e)
{
    int other = ULNA_NONE, type = 0;
    ulna_status status = add_name(r, e, &r->joint_names, "joint", &other);
    if (status != ULNA_OK)
        return status;
    if (other != ULNA_NONE)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_MODEL,
                             "two joints are called " NAME ": the first is in line %d", ulna_urdf_joint_name(r, other),
                             r->joint[other].line);
    status = ulna_grow(&r->allocator, (void **)&r->joint, &r->joint_capacity, r->joint_count + 1, sizeof *r->joint);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory left for one more joint");
    ulna_urdf_joint *joint = &r->joint[r->joint_count++];
    *joint = (ulna_urdf_joint){.line = e->line, .axis = {1, 0, 0}, .multiplier = 1};
    ulna_identity9(joint->rotation);
    r->place = ULNA_URDF_IN_JOINT;
    const char *text = need_text(r, e, "type", &status);
    if (!text)
        return status;
    while (type < ULNA_URDF_TYPE_COUNT && strcmp(text, ulna_urdf_type_names[type]) != 0)
        type++;
    joint->type = (ulna_urdf_type)type;
    if (type == ULNA_URDF_TYPE_COUNT)
        return ulna_xml_fail(
            r->error, e->line, ULNA_ERR_PARSE,
            "joint " NAME
            ": unknown type \"%.40s\"; URDF has revolute, continuous, prismatic, fixed, planar and floating",
            ulna_urdf_joint_name(r, (int)r->joint_count - 1), text);
    if (type == ULNA_URDF_SPHERICAL && r->spherical++ == 0)
        r->first_spherical = (int)r->joint_count - 1;
    return ULNA_OK;
}

static ulna_status read_limit(ulna_urdf *r, const ulna_xml_element *e, ulna_urdf_joint *joint)
{
    joint->has_range = ulna_xml_attribute(e, "lower") || ulna_xml_attribute(e, "upper");
    ulna_status status = read_attribute(r, e, "lower", 1, &joint->lower);
    if (status == ULNA_OK)
        status = read_attribute(r, e, "upper", 1, &joint->upper);
    int is_limited = joint->type == ULNA_URDF_REVOLUTE || joint->type == ULNA_URDF_PRISMATIC;
    joint->reversed = is_limited && joint->lower > joint->upper ? e->line : 0;
    if (status == ULNA_OK && is_limited && !joint->has_range)
        ulna_urdf_about_joint(ulna_remarks_add(&r->content->remarks, e->line, -1,
                                               "joint " NAME
                                               ": its limit has neither lower nor upper; both are 0 then, so it cannot "
                                               "move",
                                               ulna_urdf_joint_name(r, (int)r->joint_count - 1)),
                              (int)r->joint_count - 1);
    return status;
}

static ulna_status read_joint_part(ulna_urdf *r, const ulna_xml_element *e, unsigned seen)
{
    ulna_urdf_joint *joint = &r->joint[r->joint_count - 1];
    ulna_status status;
    switch (seen) {
    case ULNA_URDF_HAS_ORIGIN:
        return read_origin(r, e, joint->position, joint->rotation);
    case ULNA_URDF_HAS_PARENT:
        return read_reference(r, e, "link", &joint->parent);
    case ULNA_URDF_HAS_CHILD:
        return read_reference(r, e, "link", &joint->child);
    case ULNA_URDF_HAS_AXIS:
        status = read_attribute(r, e, "xyz", 3, joint->axis);
        if (status == ULNA_OK && joint->type != ULNA_URDF_FIXED && joint->axis[0] == 0 && joint->axis[1] == 0 &&
            joint->axis[2] == 0)
            status = ulna_xml_fail(r->error, e->line, ULNA_ERR_MODEL, "joint " NAME ": its axis has zero length",
                                   ulna_urdf_joint_name(r, (int)r->joint_count - 1));
        return status;
    case ULNA_URDF_HAS_LIMIT:
        return read_limit(r, e, joint);
    default: /* ULNA_URDF_HAS_MIMIC */
        status = read_reference(r, e, "joint", &joint->master);
        if (status == ULNA_OK)
            status = read_attribute(r, e, "multiplier", 1, &joint->multiplier);
        return status == ULNA_OK ? read_attribute(r, e, "offset", 1, &joint->offset) : status;
    }
}

/* ---- elements ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    ulna_urdf_place place;
    unsigned seen;
} parts[] = {
    {"origin", ULNA_URDF_IN_INERTIAL, ULNA_URDF_HAS_ORIGIN},   {"mass", ULNA_URDF_IN_INERTIAL, ULNA_URDF_HAS_MASS},
    {"inertia", ULNA_URDF_IN_INERTIAL, ULNA_URDF_HAS_INERTIA}, {"origin", ULNA_URDF_IN_JOINT, ULNA_URDF_HAS_ORIGIN},
    {"parent", ULNA_URDF_IN_JOINT, ULNA_URDF_HAS_PARENT},      {"child", ULNA_URDF_IN_JOINT, ULNA_URDF_HAS_CHILD},
    {"axis", ULNA_URDF_IN_JOINT, ULNA_URDF_HAS_AXIS},          {"limit", ULNA_URDF_IN_JOINT, ULNA_URDF_HAS_LIMIT},
    {"mimic", ULNA_URDF_IN_JOINT, ULNA_URDF_HAS_MIMIC},
};

/* What URDF has besides, by place: it does not move the robot. */
static const char *const passed_over[] = {
    [ULNA_URDF_OUTSIDE] = "",
    [ULNA_URDF_IN_ROBOT] = "material transmission gazebo sensor model_state ros2_control",
    [ULNA_URDF_IN_LINK] = "visual collision contact self_collision_checking",
    [ULNA_URDF_IN_INERTIAL] = "",
    [ULNA_URDF_IN_JOINT] = "calibration dynamics safety_controller",
};

static ulna_status pass_over(ulna_urdf *r, const ulna_xml_element *e)
{
    if (strncmp(e->name, "xacro:", 6) == 0)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_UNSUPPORTED,
                             "<%.60s>: this is a xacro file; make a URDF of it first: xacro FILE > robot.urdf",
                             e->name);
    if (!ulna_word_is_listed((ulna_word){e->name, strlen(e->name)}, passed_over[r->place]) && r->unknown++ == 0) {
        snprintf(r->unknown_name, sizeof r->unknown_name, "%.60s", e->name);
        r->unknown_line = e->line;
    }
    r->skipped = e->depth;
    return ULNA_OK;
}

static ulna_status start_robot(ulna_urdf *r, const ulna_xml_element *e)
{
    if (strcmp(e->name, "robot") != 0)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_FORMAT,
                             "the outermost element is <%.60s>; that of a URDF is <robot>", e->name);
    r->place = ULNA_URDF_IN_ROBOT;
    const char *name = ulna_xml_attribute(e, "name");
    ulna_status status = name ? ulna_builder_set_name(r->builder, name, r->error) : ULNA_OK;
    if (status != ULNA_OK && r->error)
        r->error->line = e->line;
    return status;
}

/* The first one counts, as for most programs. */
static void note_second(ulna_urdf *r, const ulna_xml_element *e)
{
    char what[128];
    describe(r, what);
    ulna_remark *note = ulna_remarks_add(&r->content->remarks, e->line, -1,
                                         "%s has a second <%s>, which is passed over", what, e->name);
    if (r->place == ULNA_URDF_IN_JOINT)
        ulna_urdf_about_joint(note, (int)r->joint_count - 1);
}

static ulna_status start_part(ulna_urdf *r, const ulna_xml_element *e)
{
    size_t i = 0, count = sizeof parts / sizeof *parts;
    while (i < count && (parts[i].place != r->place || strcmp(parts[i].name, e->name) != 0))
        i++;
    if (i == count)
        return pass_over(r, e);
    unsigned *seen =
        r->place == ULNA_URDF_IN_JOINT ? &r->joint[r->joint_count - 1].seen : &r->link[r->link_count - 1].seen;
    r->skipped = e->depth; /* what may be inside a part is not ours */
    if (*seen & parts[i].seen) {
        note_second(r, e);
        return ULNA_OK;
    }
    *seen |= parts[i].seen;
    return r->place == ULNA_URDF_IN_JOINT ? read_joint_part(r, e, parts[i].seen) : read_inertial(r, e, parts[i].seen);
}

static ulna_status start_element(void *context, const ulna_xml_element *e)
{
    ulna_urdf *r = context;
    if (r->skipped >= 0)
        return ULNA_OK;
    if (e->depth == 0)
        return start_robot(r, e);
    if (r->place == ULNA_URDF_IN_ROBOT && strcmp(e->name, "link") == 0)
        return start_link(r, e);
    if (r->place == ULNA_URDF_IN_ROBOT && strcmp(e->name, "joint") == 0)
        return start_joint(r, e);
    if (r->place == ULNA_URDF_IN_LINK && strcmp(e->name, "inertial") == 0) {
        unsigned *seen = &r->link[r->link_count - 1].seen;
        if (*seen & ULNA_URDF_HAS_INERTIAL) {
            note_second(r, e);
            r->skipped = e->depth;
        } else
            r->place = ULNA_URDF_IN_INERTIAL;
        *seen |= ULNA_URDF_HAS_INERTIAL;
        return ULNA_OK;
    }
    return start_part(r, e);
}

static ulna_status end_element(void *context, const char *name, int depth, int line)
{
    ulna_urdf *r = context;
    (void)name, (void)line;
    if (r->skipped == depth)
        r->skipped = -1;
    else if (r->skipped < 0)
        r->place = r->place == ULNA_URDF_IN_INERTIAL ? ULNA_URDF_IN_LINK : depth == 1 ? ULNA_URDF_IN_ROBOT : r->place;
    return ULNA_OK;
}

/* ---- the format ---------------------------------------------------------------------------------------------------- */

/* XML in which <robot begins an element. Whether it is the outermost one is for the reader to say. */
int ulna_urdf_sniff(const char *data, size_t length)
{
    size_t at = length >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    while (at < length && strchr(" \t\r\n", data[at]) && data[at])
        at++;
    if (at >= length || data[at] != '<')
        return 0;
    for (; at + 7 <= length; at++)
        if (memcmp(data + at, "<robot", 6) == 0 && strchr(" \t\r\n>/", data[at + 6]) && data[at + 6])
            return 1;
    return 0;
}

ulna_status ulna_urdf_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                           ulna_error *error)
{
    (void)options;
    ulna_urdf r = {.content = content, .error = error, .allocator = content->remarks.allocator, .skipped = -1};
    r.link_names = ulna_names_empty(&r.allocator);
    r.joint_names = ulna_names_empty(&r.allocator);
    r.references = ulna_names_empty(&r.allocator);
    content->source = (ulna_source){.unit_m = 1, .up = 'z'};
    size_t end = length;
    while (end > 0 && data[end - 1] == 0)
        end--;
    if (end < length)
        ulna_remarks_add(&content->remarks, 0, (long long)end, "zero bytes at the end of the file are passed over");

    ulna_status status = ulna_builder_create(&r.allocator, &r.builder);
    if (status != ULNA_OK)
        status = ulna_fail(error, status, "no memory left to build the model");
    const ulna_xml_handler handler = {start_element, end_element, &r};
    if (status == ULNA_OK)
        status = ulna_xml_read(data, end, &handler, error);
    if (status == ULNA_OK)
        status = ulna_urdf_make_model(&r);
    ulna_builder_destroy(r.builder);
    ulna_names_release(&r.link_names);
    ulna_names_release(&r.joint_names);
    ulna_names_release(&r.references);
    ulna_release(&r.allocator, r.link, r.link_capacity, sizeof *r.link);
    ulna_release(&r.allocator, r.joint, r.joint_capacity, sizeof *r.joint);
    return status;
}
