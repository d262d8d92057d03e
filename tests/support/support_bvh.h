/*
 * support_bvh.h: a BVH file as Blender's importer takes it, line by line, and nothing of this project's own reader:
 *
 * - lines are words between blanks, the first one is HIERARCHY;
 * - ROOT or JOINT with a name, a line {, then OFFSET, then CHANNELS, in this order; End Site, {, OFFSET; } alone;
 * - a joint has no rotations or three different ones: with one or two the importer stops;
 * - MOTION, "Frames: N", "Frame Time: S", then one line a frame, with a number for each channel.
 */
#ifndef ULNA_SUPPORT_BVH_H
#define ULNA_SUPPORT_BVH_H

enum { ULNA_TEST_BVH_JOINTS = 200 };

typedef struct ulna_test_bvh_joint {
    char name[64];
    int parent; /* -1: root */
    double offset[3], end[3];
    int has_end;
    int channels[6], channel_count, first; /* 0 .. 2: position, 3 .. 5: rotation about x, y, z; in the file's order */
} ulna_test_bvh_joint;

typedef struct ulna_test_bvh {
    ulna_test_bvh_joint joints[ULNA_TEST_BVH_JOINTS];
    int joint_count, channel_count, frame_count;
    double frame_seconds;
    double *values; /* frame_count x channel_count */
} ulna_test_bvh;

/* Fails the test where the importer would stop, or take something else than what is meant. free() it. */
ulna_test_bvh *ulna_test_bvh_read(const char *text);
void ulna_test_bvh_free(ulna_test_bvh *bvh);
int ulna_test_bvh_find(const ulna_test_bvh *bvh, const char *name);
/* Where the joints are in a frame, joint_count x 3, in the file's unit. */
void ulna_test_bvh_places(const ulna_test_bvh *bvh, int frame, double *places);

#endif
