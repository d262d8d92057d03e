/*
 * gltf_write.h (private): a model, its motion and markers on their way to a glTF file.
 *
 *   gltf_scene.c   numbers: transforms at rest, tracks of the animation, bind matrices
 *   gltf_shapes.c  what is there to see: bones and the sphere of a marker
 *   gltf_write.c   the JSON, and both kinds of files
 *   gltf_source.c  instead of all this: the file of the skeleton, with the motion in it
 *
 * Nodes, in this order: one that holds all; the bodies; the markers of the model; one that holds the recorded markers, and
 * these; the mesh of the bones.
 */
#ifndef ULNA_SRC_GLTF_WRITE_H
#define ULNA_SRC_GLTF_WRITE_H

#include "formats/gltf/gltf.h"
#include "formats/text/text_writer.h"
#include "model/model.h"

/* Numbers of one kind, one after the other: an accessor with a view of its own. */
typedef struct ulna_gltf_slice {
    size_t offset, length; /* bytes of the buffer */
    size_t count;
    int type; /* ULNA_GLTF_BYTE, ... */
    int components;
    int is_normalized;
    int target; /* 0, or what the graphics card should take it for */
    int has_bounds;
    float low[3], high[3];
} ulna_gltf_slice;

enum { ULNA_GLTF_FOR_VERTICES = 34962, ULNA_GLTF_FOR_INDICES = 34963 };

typedef struct ulna_gltf_channel {
    int node;
    const char *path;
    int is_step;
    int times, values; /* slices */
} ulna_gltf_channel;

/* Where a body rests on its parent, rounded as it is written. */
typedef struct ulna_gltf_rest {
    float translation[3], rotation[4];
    double world_place[3], world_rotation[9];
} ulna_gltf_rest;

typedef struct ulna_gltf_source ulna_gltf_source;
typedef struct ulna_gltf_source_node ulna_gltf_source_node;

typedef struct ulna_gltf_scene {
    const ulna_writing *job;
    const ulna_model *model;         /* NULL if there is none */
    const ulna_recording *recording; /* NULL if there is none */
    ulna_allocator allocator;
    ulna_status status; /* the first failure sticks */
    ulna_error *error;
    int body_count, marker_count, recorded_count;
    double clip_s, recording_s; /* between frames */
    double size;                /* of the model, metres */

    /* The buffer. It is counted first, since the JSON before it tells its parts. If it is not large it is kept meanwhile; else it is made
     * once more and written as it is made: an hour of motion would not fit into memory beside the motion itself. */
    size_t length;            /* bytes so far */
    ulna_writer *out;         /* NULL: only counted */
    ulna_text kept;           /* the first bytes; all of them if it is as long as the buffer */
    int is_base64;            /* written as text */
    unsigned char pending[3]; /* bytes that wait for a third, as text */
    size_t pending_count;
    ulna_gltf_slice *slice;
    size_t slice_count, slice_capacity;
    ulna_gltf_channel *channel;
    size_t channel_count, channel_capacity;
    ulna_gltf_rest *rest;       /* body_count */
    int *first_marker;          /* of each body, + 1; 0 for none */
    int *next_marker;           /* of the same body, likewise */
    float (*recorded_place)[3]; /* where recorded markers are seen first */
    int bind;                   /* slice of the inverse bind matrices */
    int bones[4];               /* slices: POSITION, JOINTS_0, WEIGHTS_0, indices; the first -1 if there is no mesh */
    int sphere[3];              /* POSITION, NORMAL, indices; the first -1 likewise */

    const ulna_gltf_source *source; /* the skeleton's own file, which is written with the motion; NULL: none */
    const ulna_gltf_source_node **source_node; /* of each body; NULL if it has none */
    size_t first_view, first_accessor;         /* numbers of what is added, and where it is */
    int buffer;
    size_t buffer_start;
} ulna_gltf_scene;

static inline int ulna_gltf_body_node(int body)
{
    return 1 + body;
}

/* ---- gltf_write.c ----------------------------------------------------------------------------------------------- */

void ulna_gltf_put_animation(const ulna_gltf_scene *s, ulna_writer *out);
void ulna_gltf_put_accessors(const ulna_gltf_scene *s, ulna_writer *out);
/* The bytes of the buffer. */
void ulna_gltf_put_numbers(ulna_gltf_scene *s, ulna_writer *out, int is_base64);

/* ---- gltf_source.c ---------------------------------------------------------------------------------------------- */

/* Takes the file from the options if the model is that of the file; else a remark lists what is left out. */
void ulna_gltf_use_source(ulna_gltf_scene *s, ulna_writing *job);
/* From the frame of the parent body to the node's own transform: its translation in units of the file, its rotation. */
void ulna_gltf_into_node(const ulna_gltf_source_node *node, double place[3], double rotation[9]);
/* The JSON of the file, and whether a chunk of numbers belongs to it. */
void ulna_gltf_put_source(ulna_gltf_scene *s, ulna_writer *out, int is_binary, int *has_chunk);

static inline int ulna_gltf_marker_node(const ulna_gltf_scene *s, int marker)
{
    return 1 + s->body_count + marker;
}

/* The node that holds the recorded markers; they follow. */
static inline int ulna_gltf_recorded_node(const ulna_gltf_scene *s, int marker)
{
    return 1 + s->body_count + s->marker_count + 1 + marker;
}

/* ---- gltf_scene.c ----------------------------------------------------------------------------------------------- */

/* Counts the buffer, or with `out` writes it: then only that, all else being as it was counted. */
void ulna_gltf_scene_fill(ulna_gltf_scene *s);
void ulna_gltf_scene_release(ulna_gltf_scene *s);
/* In single precision, and no finer than a nanometre: so what was read back is written as the same number. */
void ulna_gltf_round_place(ulna_gltf_scene *s, const double place[3], float result[3]);
/* A new slice, into which the next numbers go; returns its number. */
/* Writes all bytes that are kept, to s->out. */
void ulna_gltf_put_kept(ulna_gltf_scene *s, ulna_writer *out, int is_base64);
int ulna_gltf_slice_start(ulna_gltf_scene *s, int type, int components, int target);
/* As many floats as the slice has components, which it counts in its bounds. */
void ulna_gltf_put_bounded(ulna_gltf_scene *s, const float *values);
void ulna_gltf_put_integer(ulna_gltf_scene *s, unsigned long value, int bytes);
void ulna_gltf_slice_end(ulna_gltf_scene *s, size_t count);

/* ---- gltf_shapes.c ---------------------------------------------------------------------------------------------- */

void ulna_gltf_add_bones(ulna_gltf_scene *s);
void ulna_gltf_add_sphere(ulna_gltf_scene *s);

#endif
