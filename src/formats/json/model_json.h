/* model_json.h (private): what the reader and the writer of the model file must agree on. See docs/model-file.md. */
#ifndef ULNA_SRC_MODEL_JSON_H
#define ULNA_SRC_MODEL_JSON_H

#include "ulna/model.h"

#define ULNA_MODEL_JSON_FORMAT "ulna-model"
#define ULNA_MODEL_JSON_VERSION 1

/* Which keys the joint object has beside "type". */
enum {
    ULNA_JOINT_HAS_AXIS = 1,   /* "axis", required */
    ULNA_JOINT_HAS_CENTER = 2, /* "center", the axis by default */
    ULNA_JOINT_HAS_ORDER = 4,  /* "order", required */
    ULNA_JOINT_HAS_FRAME = 8   /* "frame" and "reversed", the identity and false by default */
};

static inline unsigned ulna_joint_keys(ulna_joint_type type)
{
    static const unsigned char keys[ULNA_JOINT_TYPE_COUNT] = {
        [ULNA_JOINT_FIXED] = 0,
        [ULNA_JOINT_REVOLUTE] = ULNA_JOINT_HAS_AXIS | ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_PRISMATIC] = ULNA_JOINT_HAS_AXIS | ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_EULER] = ULNA_JOINT_HAS_ORDER | ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_BALL] = ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_EXPMAP] = ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_SWING_TWIST] = ULNA_JOINT_HAS_AXIS | ULNA_JOINT_HAS_CENTER | ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_PLANAR] = ULNA_JOINT_HAS_AXIS | ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_FREE_EULER] = ULNA_JOINT_HAS_ORDER | ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_FREE] = ULNA_JOINT_HAS_FRAME,
        [ULNA_JOINT_SEQUENCE] = ULNA_JOINT_HAS_ORDER | ULNA_JOINT_HAS_FRAME,
    };
    return keys[type];
}

#endif
