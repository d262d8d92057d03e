/*
 * gltf_read.h (private): a glTF file on its way to a model and its motion.
 *
 *   gltf_read.c       the two kinds of files
 *   gltf_buffers.c    buffers, accessors
 *   gltf_nodes.c      nodes, their tree, and which of them are the skeleton
 *   gltf_animation.c  tracks, their values at a time, the frames
 *   gltf_model.c      bodies, joints, markers; the clip and the recording
 */
#ifndef ULNA_SRC_GLTF_READ_H
#define ULNA_SRC_GLTF_READ_H

#include "formats/gltf/gltf.h"
#include "formats/json/json_reader.h"

typedef struct ulna_gltf_buffer {
    const unsigned char *data; /* NULL until it is asked for */
    size_t length;
    unsigned char *own; /* what base64 held */
    size_t own_length;
} ulna_gltf_buffer;

/* The elements of an accessor, where they lie in the file. All of them are inside their buffer. */
typedef struct ulna_gltf_array {
    const unsigned char *data;
    size_t count, stride;
    int components;
    int type; /* ULNA_GLTF_BYTE, ... */
    int is_normalized;
    int accessor; /* its number */
} ulna_gltf_array;

enum { ULNA_GLTF_TRANSLATION = 0, ULNA_GLTF_ROTATION, ULNA_GLTF_SCALE, ULNA_GLTF_PATHS };
enum { ULNA_GLTF_LINEAR = 0, ULNA_GLTF_STEP, ULNA_GLTF_CUBIC };

/* What one channel does to a node. */
typedef struct ulna_gltf_track {
    int path, interpolation;
    ulna_gltf_array times, values;
} ulna_gltf_track;

enum {
    ULNA_GLTF_JOINT = 1,       /* a skin lists it */
    ULNA_GLTF_CARRIES = 2,     /* a mesh, camera or other thing hangs on it */
    ULNA_GLTF_MARKER = 4,      /* a point of a body */
    ULNA_GLTF_RECORDED = 8,    /* a marker of a recording */
    ULNA_GLTF_CHOSEN = 16,     /* part of the skeleton */
    ULNA_GLTF_TRANSLATES = 32, /* part of it, and its translation changes */
    ULNA_GLTF_PARENTAL = 64,   /* has children */
    ULNA_GLTF_HIDDEN = 128,    /* hangs on a marker */
};

/*
 * A node's own transform is T R S. The scale is taken apart, S = N diag(stretch), where N is a half turn about an axis or
 * nothing, and the numbers of `stretch` have one sign: so mirrored nodes keep proper frames, and every position is right,
 * if their lengths are the same. If not, children are placed right, but what they rotate is not sheared as it should be.
 */
typedef struct ulna_gltf_node {
    int parent;
    int body; /* index in the builder, ULNA_NONE if it is none */
    unsigned flags;
    int below; /* joints of skins in its subtree */
    int track[ULNA_GLTF_PATHS];
    double translation[3];
    double half_turn[4]; /* N */
    double rotation[4];  /* R N */
    double stretch[3];
    double scale;                             /* signed geometric mean of `stretch` times that of all nodes above */
    double reach[3];                          /* metres that units of the children's translation are */
    double world_rotation[9], world_place[3]; /* at rest, without scale */
} ulna_gltf_node;

typedef struct ulna_gltf_grid {
    int frames;
    double first_s, step_s;
    int by_key; /* all tracks have their keys at these times and no others */
} ulna_gltf_grid;

typedef struct ulna_gltf {
    const ulna_allocator *allocator;
    const ulna_read_options *options;
    ulna_content *content;
    ulna_error *error;
    size_t file_length;
    const unsigned char *bin; /* of a GLB; NULL if it has none */
    size_t bin_length;
    size_t json_start; /* bytes in front of the JSON */

    ulna_json json;
    ulna_json_node root;
    ulna_json_node buffers, views, accessors, nodes, skins, animations; /* lists; value NULL if there is none */

    ulna_gltf_buffer *buffer;
    size_t buffer_count;
    unsigned char *seen; /* per accessor: ULNA_GLTF_SEEN_... */
    size_t accessor_count;
    size_t used_bytes; /* of all accessors seen */

    ulna_gltf_node *node;
    int *order; /* nodes, parents first */
    int node_count;
    ulna_gltf_track *track;
    size_t track_count, track_capacity;
    int skeleton_count, recorded_count, root_count;
    int has_joints; /* of a skin */
    ulna_builder *builder;
} ulna_gltf;

enum { ULNA_GLTF_SEEN = 1, ULNA_GLTF_SEEN_CLIP = 2, ULNA_GLTF_SEEN_RECORDING = 4 };

/* ---- gltf_buffers.c --------------------------------------------------------------------------------------------- */

/* The index of one of `count` things; the second is for a member of an object that must be there. */
ulna_status ulna_gltf_index(const ulna_json_node *node, size_t count, int *index);
ulna_status ulna_gltf_need_index(const ulna_json_node *object, const char *key, size_t count, int *index);
/* The accessor whose index is member `key` of the object; it must have so many components. */
ulna_status ulna_gltf_accessor(ulna_gltf *g, const ulna_json_node *object, const char *key, int components,
                               ulna_gltf_array *array);
/* Buffers are looked at when something needs them: a skeleton is there without the file of its mesh. */
ulna_status ulna_gltf_open_buffer(const ulna_gltf *g, const ulna_json_node *node, int index);
/* One component of an element; integers that are normalized become -1 .. 1 or 0 .. 1. */
double ulna_gltf_value(const ulna_gltf_array *array, size_t element, int component);
/* Member of an object that must be a list if it is there. */
ulna_status ulna_gltf_list(const ulna_json_node *object, const char *key, const char *of_what, ulna_json_node *list);

/* ---- gltf_nodes.c ----------------------------------------------------------------------------------------------- */

ulna_status ulna_gltf_read_nodes(ulna_gltf *g);
/* When tracks are known: which nodes are the skeleton? */
ulna_status ulna_gltf_choose_nodes(ulna_gltf *g);

/* ---- gltf_animation.c ------------------------------------------------------------------------------------------- */

ulna_status ulna_gltf_read_animation(ulna_gltf *g);
/* The frames that tell all that the tracks of these nodes say; `flag` is ULNA_GLTF_CHOSEN or ULNA_GLTF_RECORDED. At most
 * as many as the file may ask for, with `width` numbers each. */
ulna_status ulna_gltf_choose_grid(ulna_gltf *g, unsigned flag, size_t width, ulna_gltf_grid *grid);
/* Three or four numbers in frame `frame`; a rotation is a unit quaternion. ULNA_ERR_NUMBER if they are none. */
ulna_status ulna_gltf_sample(const ulna_gltf *g, const ulna_gltf_track *track, const ulna_gltf_grid *grid, int frame,
                             double *value);

/* ---- gltf_source.c ---------------------------------------------------------------------------------------------- */

/* Keeps the file in content->extras, unless Ulna wrote all that is in it. */
ulna_status ulna_gltf_keep_source(const ulna_gltf *g);

/* ---- gltf_model.c ----------------------------------------------------------------------------------------------- */

ulna_status ulna_gltf_build(ulna_gltf *g);

#endif
