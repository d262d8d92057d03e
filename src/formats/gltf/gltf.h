/*
 * gltf.h (private): glTF 2.0, the Khronos Group's format of scenes, as JSON (.gltf) and as binary (.glb). What its reader
 * and its writer must agree on.
 *
 * A GLB file is a header of 12 bytes ("glTF", version, length of the file) and chunks, each of length, kind and bytes:
 * the same JSON first, then one buffer of numbers. All numbers are little-endian.
 */
#ifndef ULNA_SRC_GLTF_H
#define ULNA_SRC_GLTF_H

#include "formats/format.h"
#include "math/math3.h"

#define ULNA_GLB_MAGIC 0x46546C67u /* "glTF" */
#define ULNA_GLB_JSON 0x4E4F534Au  /* "JSON" */
#define ULNA_GLB_BIN 0x004E4942u   /* "BIN" and a zero byte */

enum {
    ULNA_GLB_HEADER = 12,
    ULNA_GLB_CHUNK = 8, /* in front of the bytes of a chunk */

    ULNA_GLTF_BYTE = 5120,
    ULNA_GLTF_UNSIGNED_BYTE,
    ULNA_GLTF_SHORT,
    ULNA_GLTF_UNSIGNED_SHORT,
    ULNA_GLTF_UNSIGNED_INT = 5125,
    ULNA_GLTF_FLOAT
};

#define ULNA_GLTF_GENERATOR "Ulna" /* what our files say of their program */

/* Nodes that are markers say so in their "extras": a point of a body, or one of a recording. */
#define ULNA_GLTF_MARKER_KEY "ulna_marker"
#define ULNA_GLTF_MARKER_BODY "body"
#define ULNA_GLTF_MARKER_RECORDING "recording"
#define ULNA_GLTF_WEIGHT_KEY "ulna_weight"
/* And an animation: seconds between frames and the number of the first one, of the motion and of the recording. */
#define ULNA_GLTF_CLIP_KEY "ulna_clip"
#define ULNA_GLTF_RECORDING_KEY "ulna_recording"

/* Does a body translate, or is this the rounding of single precision? Both in metres, in the parent's frame. */
static inline int ulna_gltf_translates(const double place[3], const double rest[3])
{
    double way[3] = {place[0] - rest[0], place[1] - rest[1], place[2] - rest[2]};
    return ulna_norm(way) > 5e-7 * ulna_norm(rest) + 1e-7;
}

#endif
