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
#include "formats/format.h"
#include "formats/text/names.h"
#include "formats/text/scan.h"
#include "formats/xml/xml.h"
#include "math/math3.h"
#include "model/model.h"

#define NAME "\"%.80s\""

typedef enum urdf_type { REVOLUTE, CONTINUOUS, PRISMATIC, FIXED, PLANAR, FLOATING, SPHERICAL, TYPE_COUNT } urdf_type;
static const char *const type_names[TYPE_COUNT] = {"revolute", "continuous", "prismatic", "fixed",
                                                   "planar",   "floating",   "spherical"};

/* Children of a joint or of <inertial> that have been seen: each may occur once. */
enum {
    HAS_ORIGIN = 1,
    HAS_PARENT = 2,
    HAS_CHILD = 4,
    HAS_AXIS = 8,
    HAS_LIMIT = 16,
    HAS_MIMIC = 32,
    HAS_MASS = 64,
    HAS_INERTIA = 128
};

typedef struct urdf_joint {
    urdf_type type;
    int line;
    unsigned seen;
    double position[3], rotation[9], axis[3];
    int parent, child; /* text of `references` */
    double lower, upper;
    int has_range; /* lower or upper was given */
    int master;    /* text of `references` */
    double multiplier, offset;
} urdf_joint;

typedef struct urdf_link {
    int line;
    unsigned seen;
    double center[3], rotation[9], mass, inertia[6]; /* of <inertial>: ixx, iyy, izz, ixy, ixz, iyz in its own axes */
    int joint;                                       /* that moves it; ULNA_NONE for the root */
    int mark;                                        /* for finding loops */
} urdf_link;

typedef enum place { OUTSIDE, IN_ROBOT, IN_LINK, IN_INERTIAL, IN_JOINT } place;

typedef struct urdf_reader {
    ulna_content *content;
    ulna_error *error;
    ulna_allocator allocator;
    ulna_builder *builder;
    ulna_names link_names, joint_names, references;
    urdf_link *link;
    size_t link_count, link_capacity;
    urdf_joint *joint;
    size_t joint_count, joint_capacity;
    place place;
    int skipped; /* depth of the element that is passed over with all that is in it; -1: none */
    int unknown; /* elements that URDF does not have: how many, and the first */
    int unknown_line;
    char unknown_name[64];
    int spherical, first_spherical; /* joints of that type, likewise */
} urdf_reader;

static const char *link_name(const urdf_reader *r, int link)
{
    return ulna_names_at(&r->link_names, link);
}

static const char *joint_name(const urdf_reader *r, int joint)
{
    return ulna_names_at(&r->joint_names, joint);
}

/* The link or the joint at hand, as messages call it: `joint "elbow"`. */
static void describe(const urdf_reader *r, char text[128])
{
    if (r->place == IN_JOINT)
        snprintf(text, 128, "joint " NAME, joint_name(r, (int)r->joint_count - 1));
    else
        snprintf(text, 128, "link " NAME, link_name(r, (int)r->link_count - 1));
}

/* ---- attributes --------------------------------------------------------------------------------------------------- */

/* `count` numbers, separated by blanks; 0 if there are more, fewer, or something else. */
static int read_numbers(const char *text, int count, double *values)
{
    int found = 0;
    for (;;) {
        text += strspn(text, " \t\r\n");
        size_t length = strcspn(text, " \t\r\n");
        if (length == 0)
            return found == count;
        if (found == count || !ulna_word_number((ulna_word){text, length}, &values[found++]))
            return 0;
        text += length;
    }
}

/* Numbers of an attribute; what is not there keeps its value. */
static ulna_status read_attribute(urdf_reader *r, const ulna_xml_element *e, const char *name, int count,
                                  double *values)
{
    char what[128];
    const char *text = ulna_xml_attribute(e, name);
    if (!text || read_numbers(text, count, values))
        return ULNA_OK;
    describe(r, what);
    return ulna_xml_fail(r->error, e->line, ULNA_ERR_PARSE, "%s: <%s %s=\"%.40s\"> should have %s", what, e->name, name,
                         text, count == 3 ? "three numbers" : "one number");
}

/* A text that must be there; NULL and an error if not. */
static const char *need_text(urdf_reader *r, const ulna_xml_element *e, const char *name, ulna_status *status)
{
    const char *text = ulna_xml_attribute(e, name);
    if (text && *text)
        return text;
    char what[128] = "";
    if (r->place == IN_JOINT || r->place == IN_INERTIAL)
        describe(r, what);
    *status =
        ulna_xml_fail(r->error, e->line, ULNA_ERR_PARSE, "%s%s<%s> needs a %s", what, *what ? ": " : "", e->name, name);
    return NULL;
}

/* A name that is looked up when all is read. */
static ulna_status read_reference(urdf_reader *r, const ulna_xml_element *e, const char *name, int *reference)
{
    ulna_status status = ULNA_OK;
    const char *text = need_text(r, e, name, &status);
    if (!text)
        return status;
    *reference = (int)r->references.count;
    status = ulna_names_add(&r->references, text);
    return status == ULNA_OK ? status : ulna_fail(r->error, status, "no memory left for the names of the file");
}

static ulna_status read_origin(urdf_reader *r, const ulna_xml_element *e, double position[3], double rotation[9])
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

/* Adds a name to those of links or joints, which must differ. `line`: of the item of that index. */
static ulna_status add_name(urdf_reader *r, const ulna_xml_element *e, ulna_names *names, const char *kind, int *other)
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

static ulna_status start_link(urdf_reader *r, const ulna_xml_element *e)
{
    int other = ULNA_NONE;
    ulna_status status = add_name(r, e, &r->link_names, "link", &other);
    if (status != ULNA_OK)
        return status;
    if (other != ULNA_NONE)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_MODEL,
                             "two links are called " NAME ": the first is in line %d", link_name(r, other),
                             r->link[other].line);
    status = ulna_grow(&r->allocator, (void **)&r->link, &r->link_capacity, r->link_count + 1, sizeof *r->link);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory left for one more link");
    urdf_link *link = &r->link[r->link_count++];
    *link = (urdf_link){.line = e->line, .joint = ULNA_NONE};
    ulna_identity9(link->rotation);
    r->place = IN_LINK;
    return ULNA_OK;
}

static ulna_status read_inertial(urdf_reader *r, const ulna_xml_element *e, unsigned seen)
{
    static const char *const moments[6] = {"ixx", "iyy", "izz", "ixy", "ixz", "iyz"};
    urdf_link *link = &r->link[r->link_count - 1];
    if (seen == HAS_ORIGIN)
        return read_origin(r, e, link->center, link->rotation);
    if (seen == HAS_MASS)
        return read_attribute(r, e, "value", 1, &link->mass);
    ulna_status status = ULNA_OK;
    for (int i = 0; i < 6 && status == ULNA_OK; i++)
        status = read_attribute(r, e, moments[i], 1, &link->inertia[i]);
    return status;
}

/* Inertia in the axes of the link: R I Rt. */
static ulna_mass mass_of(const urdf_link *link)
{
    const double *i = link->inertia, own[9] = {i[0], i[3], i[4], i[3], i[1], i[5], i[4], i[5], i[2]};
    double back[9], half[9], turned[9];
    ulna_transpose9(link->rotation, back);
    ulna_multiply9(link->rotation, own, half);
    ulna_multiply9(half, back, turned);
    ulna_mass mass = {.mass = link->mass,
                      .inertia = {turned[0], turned[4], turned[8], turned[1], turned[2], turned[5]}};
    ulna_copy3(link->center, mass.center);
    return mass;
}

/* ---- joints ------------------------------------------------------------------------------------------------------- */

static ulna_status start_joint(urdf_reader *r, const ulna_xml_element *e)
{
    int other = ULNA_NONE, type = 0;
    ulna_status status = add_name(r, e, &r->joint_names, "joint", &other);
    if (status != ULNA_OK)
        return status;
    if (other != ULNA_NONE)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_MODEL,
                             "two joints are called " NAME ": the first is in line %d", joint_name(r, other),
                             r->joint[other].line);
    status = ulna_grow(&r->allocator, (void **)&r->joint, &r->joint_capacity, r->joint_count + 1, sizeof *r->joint);
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory left for one more joint");
    urdf_joint *joint = &r->joint[r->joint_count++];
    *joint = (urdf_joint){.line = e->line, .axis = {1, 0, 0}, .multiplier = 1};
    ulna_identity9(joint->rotation);
    r->place = IN_JOINT;
    const char *text = need_text(r, e, "type", &status);
    if (!text)
        return status;
    while (type < TYPE_COUNT && strcmp(text, type_names[type]) != 0)
        type++;
    joint->type = (urdf_type)type;
    if (type == TYPE_COUNT)
        return ulna_xml_fail(
            r->error, e->line, ULNA_ERR_PARSE,
            "joint " NAME
            ": unknown type \"%.40s\"; URDF has revolute, continuous, prismatic, fixed, planar and floating",
            joint_name(r, (int)r->joint_count - 1), text);
    if (type == SPHERICAL && r->spherical++ == 0)
        r->first_spherical = (int)r->joint_count - 1;
    return ULNA_OK;
}

static ulna_status read_limit(urdf_reader *r, const ulna_xml_element *e, urdf_joint *joint)
{
    joint->has_range = ulna_xml_attribute(e, "lower") || ulna_xml_attribute(e, "upper");
    ulna_status status = read_attribute(r, e, "lower", 1, &joint->lower);
    if (status == ULNA_OK)
        status = read_attribute(r, e, "upper", 1, &joint->upper);
    int is_limited = joint->type == REVOLUTE || joint->type == PRISMATIC;
    if (status == ULNA_OK && is_limited && joint->lower > joint->upper)
        status = ulna_xml_fail(r->error, e->line, ULNA_ERR_MODEL,
                               "joint " NAME ": its lower limit %g exceeds the upper one, %g",
                               joint_name(r, (int)r->joint_count - 1), joint->lower, joint->upper);
    if (status == ULNA_OK && is_limited && !joint->has_range)
        ulna_remarks_add(&r->content->remarks, e->line, -1,
                         "joint " NAME ": its limit has neither lower nor upper; both are 0 then, so it cannot move",
                         joint_name(r, (int)r->joint_count - 1));
    return status;
}

static ulna_status read_joint_part(urdf_reader *r, const ulna_xml_element *e, unsigned seen)
{
    urdf_joint *joint = &r->joint[r->joint_count - 1];
    ulna_status status;
    switch (seen) {
    case HAS_ORIGIN:
        return read_origin(r, e, joint->position, joint->rotation);
    case HAS_PARENT:
        return read_reference(r, e, "link", &joint->parent);
    case HAS_CHILD:
        return read_reference(r, e, "link", &joint->child);
    case HAS_AXIS:
        status = read_attribute(r, e, "xyz", 3, joint->axis);
        if (status == ULNA_OK && joint->type != FIXED && joint->axis[0] == 0 && joint->axis[1] == 0 &&
            joint->axis[2] == 0)
            status = ulna_xml_fail(r->error, e->line, ULNA_ERR_MODEL, "joint " NAME ": its axis has zero length",
                                   joint_name(r, (int)r->joint_count - 1));
        return status;
    case HAS_LIMIT:
        return read_limit(r, e, joint);
    default: /* HAS_MIMIC */
        status = read_reference(r, e, "joint", &joint->master);
        if (status == ULNA_OK)
            status = read_attribute(r, e, "multiplier", 1, &joint->multiplier);
        return status == ULNA_OK ? read_attribute(r, e, "offset", 1, &joint->offset) : status;
    }
}

/* ---- elements ----------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    place place;
    unsigned seen;
} parts[] = {
    {"origin", IN_INERTIAL, HAS_ORIGIN}, {"mass", IN_INERTIAL, HAS_MASS},  {"inertia", IN_INERTIAL, HAS_INERTIA},
    {"origin", IN_JOINT, HAS_ORIGIN},    {"parent", IN_JOINT, HAS_PARENT}, {"child", IN_JOINT, HAS_CHILD},
    {"axis", IN_JOINT, HAS_AXIS},        {"limit", IN_JOINT, HAS_LIMIT},   {"mimic", IN_JOINT, HAS_MIMIC},
};

/* What URDF has besides, by place: it does not move the robot. */
static const char *const passed_over[] = {
    [OUTSIDE] = "",
    [IN_ROBOT] = "material transmission gazebo sensor model_state ros2_control",
    [IN_LINK] = "visual collision contact self_collision_checking",
    [IN_INERTIAL] = "",
    [IN_JOINT] = "calibration dynamics safety_controller",
};

static ulna_status pass_over(urdf_reader *r, const ulna_xml_element *e)
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

static ulna_status start_robot(urdf_reader *r, const ulna_xml_element *e)
{
    if (strcmp(e->name, "robot") != 0)
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_FORMAT,
                             "the outermost element is <%.60s>; that of a URDF is <robot>", e->name);
    r->place = IN_ROBOT;
    const char *name = ulna_xml_attribute(e, "name");
    ulna_status status = name ? ulna_builder_set_name(r->builder, name, r->error) : ULNA_OK;
    if (status != ULNA_OK && r->error)
        r->error->line = e->line;
    return status;
}

static ulna_status start_part(urdf_reader *r, const ulna_xml_element *e)
{
    size_t i = 0, count = sizeof parts / sizeof *parts;
    while (i < count && (parts[i].place != r->place || strcmp(parts[i].name, e->name) != 0))
        i++;
    if (i == count)
        return pass_over(r, e);
    unsigned *seen = r->place == IN_JOINT ? &r->joint[r->joint_count - 1].seen : &r->link[r->link_count - 1].seen;
    if (*seen & parts[i].seen) {
        char what[128];
        describe(r, what);
        return ulna_xml_fail(r->error, e->line, ULNA_ERR_PARSE, "%s has a second <%s>", what, e->name);
    }
    *seen |= parts[i].seen;
    r->skipped = e->depth; /* what may be inside a part is not ours */
    return r->place == IN_JOINT ? read_joint_part(r, e, parts[i].seen) : read_inertial(r, e, parts[i].seen);
}

static ulna_status start_element(void *context, const ulna_xml_element *e)
{
    urdf_reader *r = context;
    if (r->skipped >= 0)
        return ULNA_OK;
    if (e->depth == 0)
        return start_robot(r, e);
    if (r->place == IN_ROBOT && strcmp(e->name, "link") == 0)
        return start_link(r, e);
    if (r->place == IN_ROBOT && strcmp(e->name, "joint") == 0)
        return start_joint(r, e);
    if (r->place == IN_LINK && strcmp(e->name, "inertial") == 0) {
        r->place = IN_INERTIAL;
        return ULNA_OK;
    }
    return start_part(r, e);
}

static ulna_status end_element(void *context, const char *name, int depth, int line)
{
    urdf_reader *r = context;
    (void)name, (void)line;
    if (r->skipped == depth)
        r->skipped = -1;
    else if (r->skipped < 0)
        r->place = r->place == IN_INERTIAL ? IN_LINK : depth == 1 ? IN_ROBOT : r->place;
    return ULNA_OK;
}

/* ---- the tree ------------------------------------------------------------------------------------------------------ */

/* The link that a joint names as its parent or child. */
static ulna_status find_link(urdf_reader *r, int joint, unsigned seen, int reference, int *link)
{
    const char *which = seen == HAS_PARENT ? "parent" : "child";
    if (!(r->joint[joint].seen & seen))
        return ulna_xml_fail(r->error, r->joint[joint].line, ULNA_ERR_PARSE, "joint " NAME " has no <%s>",
                             joint_name(r, joint), which);
    *link = ulna_names_find(&r->link_names, ulna_names_at(&r->references, reference));
    return *link != ULNA_NONE ? ULNA_OK
                              : ulna_xml_fail(r->error, r->joint[joint].line, ULNA_ERR_MODEL,
                                              "joint " NAME ": there is no link " NAME ", its %s", joint_name(r, joint),
                                              ulna_names_at(&r->references, reference), which);
}

/* Which joint moves which link: one at most. From here on parent and child are links. */
static ulna_status connect(urdf_reader *r)
{
    for (int j = 0; j < (int)r->joint_count; j++) {
        urdf_joint *joint = &r->joint[j];
        int parent = 0, child = 0;
        ulna_status status = find_link(r, j, HAS_PARENT, joint->parent, &parent);
        if (status == ULNA_OK)
            status = find_link(r, j, HAS_CHILD, joint->child, &child);
        if (status != ULNA_OK)
            return status;
        joint->parent = parent;
        joint->child = child;
        int other = r->link[child].joint;
        if (other != ULNA_NONE)
            return ulna_xml_fail(r->error, joint->line, ULNA_ERR_MODEL,
                                 "link " NAME " has two parents, by joint " NAME " (line %d) and joint " NAME
                                 ": URDF describes trees, not loops",
                                 link_name(r, child), joint_name(r, other), r->joint[other].line, joint_name(r, j));
        r->link[child].joint = j;
    }
    return ULNA_OK;
}

/* One root, and every way up ends there. Each link is walked past once. */
static ulna_status check_tree(urdf_reader *r)
{
    int root = ULNA_NONE;
    if (r->link_count == 0)
        return ulna_fail(r->error, ULNA_ERR_MODEL, "the robot has no links");
    for (int i = 0; i < (int)r->link_count; i++) {
        if (r->link[i].joint != ULNA_NONE)
            continue;
        if (root != ULNA_NONE)
            return ulna_xml_fail(r->error, r->link[i].line, ULNA_ERR_MODEL,
                                 "two links have no parent: " NAME " (line %d) and " NAME
                                 "; a robot has one root: connect them by a joint",
                                 link_name(r, root), r->link[root].line, link_name(r, i));
        root = i;
    }
    for (int i = 0; i < (int)r->link_count; i++) {
        int at = i;
        while (at != ULNA_NONE && !r->link[at].mark) {
            r->link[at].mark = i + 1;
            at = r->link[at].joint == ULNA_NONE ? ULNA_NONE : r->joint[r->link[at].joint].parent;
        }
        if (at != ULNA_NONE && r->link[at].mark == i + 1)
            return ulna_xml_fail(r->error, r->joint[r->link[at].joint].line, ULNA_ERR_MODEL,
                                 "link " NAME " is its own ancestor: URDF describes trees, not loops",
                                 link_name(r, at));
    }
    return ULNA_OK;
}

/* ---- the model ----------------------------------------------------------------------------------------------------- */

static ulna_joint joint_of(const urdf_joint *joint)
{
    const double *a = joint->axis;
    switch (joint->type) {
    case REVOLUTE:
    case CONTINUOUS:
        return ulna_joint_revolute(a[0], a[1], a[2]);
    case PRISMATIC:
        return ulna_joint_prismatic(a[0], a[1], a[2]);
    case PLANAR:
        return ulna_joint_planar(a[0], a[1], a[2]);
    case FLOATING:
        return ulna_joint_free();
    case SPHERICAL:
        return ulna_joint_ball();
    default:
        return ulna_joint_fixed();
    }
}

static int has_one_dof(const urdf_joint *joint)
{
    return joint->type == REVOLUTE || joint->type == CONTINUOUS || joint->type == PRISMATIC;
}

static ulna_status make_joint(urdf_reader *r, int link)
{
    const urdf_joint *joint = &r->joint[r->link[link].joint];
    const char *name = joint_name(r, r->link[link].joint);
    ulna_joint made = joint_of(joint);
    ulna_status status = ulna_builder_set_parent(r->builder, link, joint->parent, r->error);
    if (status == ULNA_OK)
        status = ulna_builder_set_placement(r->builder, link, joint->position, joint->rotation, r->error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint(r->builder, link, &made, r->error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint_name(r->builder, link, name, r->error);
    if (status != ULNA_OK || (joint->type != REVOLUTE && joint->type != PRISMATIC))
        return status;
    if (joint->seen & HAS_LIMIT)
        return ulna_builder_set_limits(r->builder, link, 0, joint->lower, joint->upper, r->error);
    ulna_remarks_add(&r->content->remarks, joint->line, -1,
                     "joint " NAME " is %s but has no <limit>: it is read without limits", name,
                     type_names[joint->type]);
    return ULNA_OK;
}

static ulna_status make_body(urdf_reader *r, int link)
{
    const urdf_link *from = &r->link[link];
    ulna_mass mass = mass_of(from);
    ulna_status status = ulna_builder_set_mass(r->builder, link, &mass, r->error);
    if (status != ULNA_OK && r->error)
        r->error->line = from->line;
    if (status != ULNA_OK || from->joint == ULNA_NONE)
        return status;
    status = make_joint(r, link);
    if (status != ULNA_OK && r->error)
        r->error->line = r->joint[from->joint].line;
    return status;
}

static ulna_status make_mimic(urdf_reader *r, int j)
{
    const urdf_joint *joint = &r->joint[j];
    const char *name = joint_name(r, j), *master_name = ulna_names_at(&r->references, joint->master);
    int master = ulna_names_find(&r->joint_names, master_name);
    if (master == ULNA_NONE)
        return ulna_xml_fail(r->error, joint->line, ULNA_ERR_MODEL,
                             "joint " NAME " mimics joint " NAME ", which does not exist", name, master_name);
    if (!has_one_dof(joint) || !has_one_dof(&r->joint[master]))
        return ulna_xml_fail(r->error, joint->line, ULNA_ERR_MODEL,
                             "joint " NAME " (%s) mimics joint " NAME
                             " (%s): both must be revolute, continuous or prismatic",
                             name, type_names[joint->type], master_name, type_names[r->joint[master].type]);
    ulna_status status = ulna_builder_couple(r->builder, joint->child, 0, r->joint[master].child, 0, joint->multiplier,
                                             joint->offset, r->error);
    if (status != ULNA_OK && r->error)
        r->error->line = joint->line;
    return status;
}

/* A mimic joint whose limits leave its master no room: likely, its limits have the wrong sign. */
static void note_stuck(urdf_reader *r)
{
    for (int j = 0; j < (int)r->joint_count; j++) {
        const urdf_joint *joint = &r->joint[j];
        if (!(joint->seen & HAS_MIMIC) || joint->multiplier == 0 || joint->lower == joint->upper)
            continue;
        int dof, body = ulna_model_find_joint(r->content->model, joint_name(r, j));
        ulna_model_body_dofs(r->content->model, body, &dof);
        if (ulna_model_lower(r->content->model)[dof] == ulna_model_upper(r->content->model)[dof])
            ulna_remarks_add(&r->content->remarks, joint->line, -1,
                             "joint " NAME ": its limits and those of joint " NAME
                             ", which it mimics, leave no room to move",
                             joint_name(r, j), ulna_names_at(&r->references, joint->master));
    }
}

static ulna_status make_model(urdf_reader *r)
{
    ulna_status status = connect(r);
    if (status == ULNA_OK)
        status = check_tree(r);
    for (int i = 0; i < (int)r->link_count && status == ULNA_OK; i++) {
        status = ulna_builder_add_body(r->builder, link_name(r, i), ULNA_NONE, NULL, r->error);
        if (status != ULNA_OK && r->error)
            r->error->line = r->link[i].line;
    }
    for (int i = 0; i < (int)r->link_count && status == ULNA_OK; i++)
        status = make_body(r, i);
    for (int j = 0; j < (int)r->joint_count && status == ULNA_OK; j++)
        status = r->joint[j].seen & HAS_MIMIC ? make_mimic(r, j) : ULNA_OK;
    if (status == ULNA_OK)
        status = ulna_builder_build(r->builder, &r->allocator, &r->content->model, r->error);
    if (status != ULNA_OK)
        return status;
    note_stuck(r);
    if (r->spherical)
        ulna_remarks_add(&r->content->remarks, r->joint[r->first_spherical].line, -1,
                         "%d joint%s of type spherical, which URDF does not have, such as " NAME
                         ": read as ball joints",
                         r->spherical, r->spherical == 1 ? " is" : "s are", joint_name(r, r->first_spherical));
    if (r->unknown)
        ulna_remarks_add(&r->content->remarks, r->unknown_line, -1,
                         "%d element%s not of URDF, such as <%s>: passed over", r->unknown,
                         r->unknown == 1 ? " is" : "s are", r->unknown_name);
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
    urdf_reader r = {.content = content, .error = error, .allocator = content->remarks.allocator, .skipped = -1};
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
        status = make_model(&r);
    ulna_builder_destroy(r.builder);
    ulna_names_release(&r.link_names);
    ulna_names_release(&r.joint_names);
    ulna_names_release(&r.references);
    ulna_release(&r.allocator, r.link, r.link_capacity, sizeof *r.link);
    ulna_release(&r.allocator, r.joint, r.joint_capacity, sizeof *r.joint);
    return status;
}
