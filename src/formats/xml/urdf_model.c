/* From the links and joints of a URDF to a model: one tree, bodies, joints, mimics, masses. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/xml/urdf.h"
#include "formats/xml/xml.h"
#include "math/math3.h"
#include "model/builder.h"
#include "model/model.h"

#define NAME "\"%.80s\""

const char *const ulna_urdf_type_names[ULNA_URDF_TYPE_COUNT] = {"revolute", "continuous", "prismatic", "fixed",
                                                                "planar",   "floating",   "spherical"};

/* ---- the tree ------------------------------------------------------------------------------------------------------ */

/* The link that a joint names as its parent or child. */
static ulna_status find_link(ulna_urdf *r, int joint, unsigned seen, int reference, int *link)
{
    const char *which = seen == ULNA_URDF_HAS_PARENT ? "parent" : "child";
    if (!(r->joint[joint].seen & seen))
        return ulna_xml_fail(r->error, r->joint[joint].line, ULNA_ERR_PARSE, "joint " NAME " has no <%s>",
                             ulna_urdf_joint_name(r, joint), which);
    *link = ulna_names_find(&r->link_names, ulna_names_at(&r->references, reference));
    return *link != ULNA_NONE
               ? ULNA_OK
               : ulna_xml_fail(r->error, r->joint[joint].line, ULNA_ERR_MODEL,
                               "joint " NAME ": there is no link " NAME ", its %s", ulna_urdf_joint_name(r, joint),
                               ulna_names_at(&r->references, reference), which);
}

/* Which joint moves which link: one at most. From here on parent and child are links. */
static ulna_status connect(ulna_urdf *r)
{
    for (int j = 0; j < (int)r->joint_count; j++) {
        ulna_urdf_joint *joint = &r->joint[j];
        int parent = 0, child = 0;
        ulna_status status = find_link(r, j, ULNA_URDF_HAS_PARENT, joint->parent, &parent);
        if (status == ULNA_OK)
            status = find_link(r, j, ULNA_URDF_HAS_CHILD, joint->child, &child);
        if (status != ULNA_OK)
            return status;
        joint->parent = parent;
        joint->child = child;
        int other = r->link[child].joint;
        if (other != ULNA_NONE)
            return ulna_xml_fail(r->error, joint->line, ULNA_ERR_MODEL,
                                 "link " NAME " has two parents, by joint " NAME " (line %d) and joint " NAME
                                 ": URDF describes trees, not loops",
                                 ulna_urdf_link_name(r, child), ulna_urdf_joint_name(r, other), r->joint[other].line,
                                 ulna_urdf_joint_name(r, j));
        r->link[child].joint = j;
    }
    return ULNA_OK;
}

/* One root, and every way up ends there. Each link is walked past once. */
static ulna_status check_tree(ulna_urdf *r)
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
                                 ulna_urdf_link_name(r, root), r->link[root].line, ulna_urdf_link_name(r, i));
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
                                 ulna_urdf_link_name(r, at));
    }
    return ULNA_OK;
}

/* ---- the model ----------------------------------------------------------------------------------------------------- */

/* Inertia in the axes of the link: R I Rt. */
static ulna_mass mass_of(const ulna_urdf_link *link)
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

static ulna_joint joint_of(const ulna_urdf_joint *joint)
{
    const double *a = joint->axis;
    switch (joint->type) {
    case ULNA_URDF_REVOLUTE:
    case ULNA_URDF_CONTINUOUS:
        return ulna_joint_revolute(a[0], a[1], a[2]);
    case ULNA_URDF_PRISMATIC:
        return ulna_joint_prismatic(a[0], a[1], a[2]);
    case ULNA_URDF_PLANAR:
        return ulna_joint_planar(a[0], a[1], a[2]);
    case ULNA_URDF_FLOATING:
        return ulna_joint_free();
    case ULNA_URDF_SPHERICAL:
        return ulna_joint_ball();
    default:
        return ulna_joint_fixed();
    }
}

static int has_one_dof(const ulna_urdf_joint *joint)
{
    return joint->type == ULNA_URDF_REVOLUTE || joint->type == ULNA_URDF_CONTINUOUS ||
           joint->type == ULNA_URDF_PRISMATIC;
}

static ulna_status make_joint(ulna_urdf *r, int link)
{
    const ulna_urdf_joint *joint = &r->joint[r->link[link].joint];
    const char *name = ulna_urdf_joint_name(r, r->link[link].joint);
    ulna_joint made = joint_of(joint);
    ulna_status status = ulna_builder_set_parent(r->builder, link, joint->parent, r->error);
    if (status == ULNA_OK)
        status = ulna_builder_set_placement(r->builder, link, joint->position, joint->rotation, r->error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint(r->builder, link, &made, r->error);
    if (status == ULNA_OK)
        status = ulna_builder_set_joint_name(r->builder, link, name, r->error);
    if (status != ULNA_OK || (joint->type != ULNA_URDF_REVOLUTE && joint->type != ULNA_URDF_PRISMATIC))
        return status;
    if (joint->reversed) { /* as in Bullet */
        ulna_urdf_about_joint(ulna_remarks_add(&r->content->remarks, joint->reversed, -1,
                                               "joint " NAME ": its lower limit %g exceeds the upper one, %g: it is "
                                               "read without limits",
                                               name, joint->lower, joint->upper),
                              r->link[link].joint);
        return ULNA_OK;
    }
    if (joint->seen & ULNA_URDF_HAS_LIMIT)
        return ulna_builder_set_limits(r->builder, link, 0, joint->lower, joint->upper, r->error);
    ulna_urdf_about_joint(ulna_remarks_add(&r->content->remarks, joint->line, -1,
                                           "joint " NAME " is %s but has no <limit>: it is read without limits", name,
                                           ulna_urdf_type_names[joint->type]),
                          r->link[link].joint);
    return ULNA_OK;
}

static ulna_status make_body(ulna_urdf *r, int link)
{
    const ulna_urdf_link *from = &r->link[link];
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

/* A mimic of, or on, a joint that has no single degree of freedom means nothing, and other programs pass over it. */
static ulna_status make_mimic(ulna_urdf *r, int j)
{
    ulna_urdf_joint *joint = &r->joint[j];
    const char *name = ulna_urdf_joint_name(r, j), *master_name = ulna_names_at(&r->references, joint->master);
    int master = ulna_names_find(&r->joint_names, master_name);
    joint->is_coupled = has_one_dof(joint) && master != ULNA_NONE && has_one_dof(&r->joint[master]);
    if (!joint->is_coupled) {
        ulna_urdf_about_joint(ulna_remarks_add(&r->content->remarks, joint->line, -1,
                                               "joint " NAME " (%s) mimics joint " NAME
                                               " (%s): that means nothing, and its <mimic> is passed over",
                                               name, ulna_urdf_type_names[joint->type], master_name,
                                               master == ULNA_NONE ? "there is none of that name"
                                                                   : ulna_urdf_type_names[r->joint[master].type]),
                              j);
        return ULNA_OK;
    }
    ulna_status status = ulna_builder_couple(r->builder, joint->child, 0, r->joint[master].child, 0, joint->multiplier,
                                             joint->offset, r->error);
    if (status != ULNA_OK && r->error)
        r->error->line = joint->line;
    return status;
}

/* Joints whose limits were not used, since with them the joint that they mimic could not move. Often the limits have the
 * wrong sign: programs that read only the limits of joints that lead do not see it. */
static void note_unused_limits(ulna_urdf *r)
{
    const double rounding = 1e-9;
    for (int j = 0; j < (int)r->joint_count; j++) {
        const ulna_urdf_joint *joint = &r->joint[j];
        int dof, body = ulna_model_find_joint(r->content->model, ulna_urdf_joint_name(r, j));
        if (!joint->is_coupled || joint->type == ULNA_URDF_CONTINUOUS || !(joint->seen & ULNA_URDF_HAS_LIMIT) ||
            joint->reversed)
            continue;
        ulna_model_body_dofs(r->content->model, body, &dof);
        if (ulna_model_lower(r->content->model)[dof] < joint->lower - rounding * (1 + fabs(joint->lower)) ||
            ulna_model_upper(r->content->model)[dof] > joint->upper + rounding * (1 + fabs(joint->upper)))
            ulna_urdf_about_joint(ulna_remarks_add(&r->content->remarks, joint->line, -1,
                                                   "joint " NAME ": its limits, %g to %g, leave joint " NAME
                                                   ", which it mimics, no room to move: they are not used",
                                                   ulna_urdf_joint_name(r, j), joint->lower, joint->upper,
                                                   ulna_names_at(&r->references, joint->master)),
                                  j);
    }
}

/* So far remarks have the joint's number in the file. */
static void find_bodies_of_remarks(ulna_urdf *r)
{
    for (size_t i = 0; i < r->content->remarks.count; i++) {
        int *body = &r->content->remarks.items[i].body;
        if (*body != ULNA_NONE)
            *body = ulna_model_find_joint(r->content->model, ulna_urdf_joint_name(r, *body));
    }
}

ulna_status ulna_urdf_make_model(ulna_urdf *r)
{
    ulna_status status = connect(r);
    if (status == ULNA_OK)
        status = check_tree(r);
    for (int i = 0; i < (int)r->link_count && status == ULNA_OK; i++) {
        status = ulna_builder_add_body(r->builder, ulna_urdf_link_name(r, i), ULNA_NONE, NULL, r->error);
        if (status != ULNA_OK && r->error)
            r->error->line = r->link[i].line;
    }
    for (int i = 0; i < (int)r->link_count && status == ULNA_OK; i++)
        status = make_body(r, i);
    for (int j = 0; j < (int)r->joint_count && status == ULNA_OK; j++)
        status = r->joint[j].seen & ULNA_URDF_HAS_MIMIC ? make_mimic(r, j) : ULNA_OK;
    r->builder->limits_yield = 1;
    if (status == ULNA_OK)
        status = ulna_builder_build(r->builder, &r->allocator, &r->content->model, r->error);
    if (status != ULNA_OK)
        return status;
    note_unused_limits(r);
    find_bodies_of_remarks(r);
    if (r->spherical)
        ulna_remarks_add(
            &r->content->remarks, r->joint[r->first_spherical].line, -1,
            "%d joint%s of type spherical, which URDF does not have, such as " NAME ": read as ball joints",
            r->spherical, r->spherical == 1 ? " is" : "s are", ulna_urdf_joint_name(r, r->first_spherical));
    if (r->unknown)
        ulna_remarks_add(&r->content->remarks, r->unknown_line, -1,
                         "%d element%s not of URDF, such as <%s>: passed over", r->unknown,
                         r->unknown == 1 ? " is" : "s are", r->unknown_name);
    return ULNA_OK;
}
