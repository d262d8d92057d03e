/*
 * gltf_source.h (private): the glTF file that a skeleton was read from, to be written again with another motion. So a character
 * keeps its meshes, skins, materials and pictures.
 */
#ifndef ULNA_SRC_GLTF_SOURCE_H
#define ULNA_SRC_GLTF_SOURCE_H

#include <stdint.h>

#include "formats/gltf/gltf_write.h"
#include "formats/text/names.h"

/* The node of a body. Its own transform in the file is T R S with R = rotation N^-1, where N is a half turn (gltf_read.h). */
struct ulna_gltf_source_node {
    int node;
    int is_root;    /* the node above is no body: it stands still, `above_...`, in metres */
    int has_matrix; /* T R S are one matrix in the file; where the node moves they are written apart, and N is none */
    double translation[3], rotation[4], half_turn[4], stretch[3];
    double reach[3]; /* metres that units of the translation are */
    double above_rotation[9], above_place[3];
};

struct ulna_gltf_source {
    ulna_extras base;
    ulna_allocator allocator;
    ulna_text json, bin; /* the JSON; the numbers of its first buffer, if they are in the file */
    int has_bin;
    ulna_names names; /* of the bodies */
    ulna_gltf_source_node *node;
    size_t node_count;
    int is_moving;   /* a motion was read */
    uint64_t motion; /* the hash of it */
};

#endif
