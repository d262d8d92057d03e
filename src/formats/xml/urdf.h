/*
 * urdf.h (private): a robot as its URDF has it, on the way from the XML (urdf_read.c) to a model (urdf_model.c).
 */
#ifndef ULNA_SRC_URDF_H
#define ULNA_SRC_URDF_H

#include "formats/format.h"
#include "formats/text/names.h"

typedef enum ulna_urdf_type {
    ULNA_URDF_REVOLUTE,
    ULNA_URDF_CONTINUOUS,
    ULNA_URDF_PRISMATIC,
    ULNA_URDF_FIXED,
    ULNA_URDF_PLANAR,
    ULNA_URDF_FLOATING,
    ULNA_URDF_SPHERICAL,
    ULNA_URDF_TYPE_COUNT
} ulna_urdf_type;
extern const char *const ulna_urdf_type_names[ULNA_URDF_TYPE_COUNT];

enum {
    ULNA_URDF_HAS_ORIGIN = 1,
    ULNA_URDF_HAS_PARENT = 2,
    ULNA_URDF_HAS_CHILD = 4,
    ULNA_URDF_HAS_AXIS = 8,
    ULNA_URDF_HAS_LIMIT = 16,
    ULNA_URDF_HAS_MIMIC = 32,
    ULNA_URDF_HAS_MASS = 64,
    ULNA_URDF_HAS_INERTIA = 128,
    ULNA_URDF_HAS_INERTIAL = 256
};

typedef struct ulna_urdf_joint {
    ulna_urdf_type type;
    int line;
    unsigned seen;
    double position[3], rotation[9], axis[3];
    int parent, child; /* text of `references`; links, once they are connected */
    double lower, upper;
    int has_range; /* lower or upper was given */
    int reversed;  /* line of a limit whose lower value exceeds the upper one, which then do not count; 0: none */
    int master;    /* text of `references` */
    double multiplier, offset;
    int is_coupled; /* its mimic is one of the model */
} ulna_urdf_joint;

typedef struct ulna_urdf_link {
    int line;
    unsigned seen;
    double center[3], rotation[9], mass, inertia[6]; /* of <inertial>: ixx, iyy, izz, ixy, ixz, iyz in its own axes */
    int joint;                                       /* that moves it; ULNA_NONE for the root */
    int mark;                                        /* for finding loops */
} ulna_urdf_link;

/* What the element at hand is in. */
typedef enum ulna_urdf_place {
    ULNA_URDF_OUTSIDE,
    ULNA_URDF_IN_ROBOT,
    ULNA_URDF_IN_LINK,
    ULNA_URDF_IN_INERTIAL,
    ULNA_URDF_IN_JOINT
} ulna_urdf_place;

typedef struct ulna_urdf {
    ulna_content *content;
    ulna_error *error;
    ulna_allocator allocator;
    ulna_builder *builder;
    ulna_names link_names, joint_names, references;
    ulna_urdf_link *link;
    size_t link_count, link_capacity;
    ulna_urdf_joint *joint;
    size_t joint_count, joint_capacity;
    ulna_urdf_place place;
    int skipped; /* depth of the element that is passed over with all that is in it; -1: none */
    int unknown; /* elements that URDF does not have: how many, and the first */
    int unknown_line;
    char unknown_name[64];
    int has_commas;                 /* between numbers */
    int spherical, first_spherical; /* joints of that type, likewise */
} ulna_urdf;

static inline const char *ulna_urdf_link_name(const ulna_urdf *r, int link)
{
    return ulna_names_at(&r->link_names, link);
}

static inline const char *ulna_urdf_joint_name(const ulna_urdf *r, int joint)
{
    return ulna_names_at(&r->joint_names, joint);
}

/* `note` (NULL: there was no memory for it) is about a joint, by its number in the file. */
static inline void ulna_urdf_about_joint(ulna_remark *note, int joint)
{
    if (note)
        note->body = joint;
}

/* Connects links and joints, checks that they form a tree, and makes content->model of them. */
ulna_status ulna_urdf_make_model(ulna_urdf *robot);

#endif
