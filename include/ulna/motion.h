/*
 * ulna/motion.h: clips (joint values over time) and recordings (marker positions over time).
 *
 *     ulna_clip walk = ulna_clip_empty(NULL);
 *     status = ulna_clip_resize(&walk, ulna_model_coordinate_count(model), 120);
 *     for (int f = 0; f < walk.frame_count; f++)
 *         memcpy(ulna_clip_frame(&walk, f), ulna_model_rest(model), (size_t)walk.coordinate_count * sizeof(double));
 *     walk.frame_seconds = 1.0 / 60;
 *     status = ulna_clip_unwind(model, &walk); // angles without jumps
 *     ulna_clip_release(&walk);
 *
 * Both are structs that the caller owns: start with ..._empty, allocate with ..._resize, end with ..._release. Members may be
 * read and written; the arrays belong to the struct. Units: metres, radians, seconds.
 */
#ifndef ULNA_MOTION_H
#define ULNA_MOTION_H

#include "ulna/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Size of a marker's name, including its zero byte. */
#define ULNA_MARKER_NAME 64

/* The coordinates q of a skeleton, frame after frame. */
typedef struct ulna_clip {
    ulna_allocator allocator;
    int coordinate_count; /* nq of its model */
    int frame_count;
    int first_frame;      /* number of the first frame in the file; 1 if it has none */
    double frame_seconds; /* 0 if unknown */
    double *q;            /* frame_count x coordinate_count */
    size_t capacity;      /* of q, in doubles */
} ulna_clip;

ULNA_API ulna_clip ulna_clip_empty(const ulna_allocator *allocator);
/* Sets the number of frames; existing frames are kept, new ones are zero. Growing by one frame at a time is cheap. After
 * ULNA_ERR_MEMORY or ULNA_ERR_LIMIT the clip is unchanged. */
ULNA_API ulna_status ulna_clip_resize(ulna_clip *clip, int coordinate_count, int frame_count);
ULNA_API void ulna_clip_release(ulna_clip *clip); /* leaves an empty one */
static inline double *ulna_clip_frame(const ulna_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->coordinate_count;
}

/* Marker positions, frame after frame. A marker that was not seen in a frame is NaN, NaN, NaN there. */
typedef struct ulna_recording {
    ulna_allocator allocator;
    int marker_count;
    int frame_count;
    int first_frame;                 /* as in a clip */
    double frame_seconds;            /* 0 if unknown */
    char (*names)[ULNA_MARKER_NAME]; /* marker_count; each ends with a zero byte */
    double *positions;               /* frame_count x marker_count x 3, metres */
    int cut_frames;                  /* that the file states beyond these: it ends early */
    size_t capacity;                 /* of positions, in doubles */
} ulna_recording;

ULNA_API ulna_recording ulna_recording_empty(const ulna_allocator *allocator);
/* As for a clip; new frames are NaN. The number of markers can be changed only while there are no frames. */
ULNA_API ulna_status ulna_recording_resize(ulna_recording *recording, int marker_count, int frame_count);
ULNA_API void ulna_recording_release(ulna_recording *recording);
static inline double *ulna_recording_frame(const ulna_recording *recording, int frame)
{
    return recording->positions + (size_t)frame * (size_t)recording->marker_count * 3;
}
/* The marker of that name; if there is none, the first of that name without the subject's prefix ("Daniel:LFHD" is LFHD); if there
 * is none, the only one of that name in other letter case. ULNA_NONE if there is none, or several of the last kind. */
ULNA_API int ulna_recording_find(const ulna_recording *recording, const char *name);
/* The number of missing positions, over all frames. */
ULNA_API long long ulna_recording_missing(const ulna_recording *recording);

/* ---- other joints for the same skeleton ------------------------------------------------------------------ */

/* Coordinates of a joint of three rotations. */
typedef enum ulna_ball {
    ULNA_BALL_EULER = 0, /* three angles */
    ULNA_BALL_QUATERNION,
    ULNA_BALL_EXPMAP,
    ULNA_BALL_SWING_TWIST
} ulna_ball;

/*
 * The same skeleton with all joints of three rotations of the given kind. These are Euler joints of three letters, sequences of
 * three rotations, balls, exponential maps and swing-twists. Joints with translations along X, Y, Z and three rotations become
 * free-Euler or, for every other kind, free. For ULNA_BALL_EULER joints with angles keep their order, the others get ZYX. A
 * swing-twist twists about the bone, towards the body's first child. Both skeletons have the same poses and the same rest pose.
 * Limits are kept for translations and for joints that do not change. Those of three angles become limits of a swing-twist: of the
 * twist those of the angle about the bone, or nearest to it; of the two swings those of the other angles, if the bone lies along
 * one of their axes, else both +- the largest of them. That is a pyramid of directions for the bone: rotations about one axis have the same
 * limits as before, others not quite. `limits_dropped` (may be NULL) receives the number of those that are not kept. The strength of new rotations is the mean of the old ones.
 */
ULNA_API ulna_status ulna_model_with_balls(const ulna_model *model, ulna_ball ball, const ulna_allocator *allocator,
                                           ulna_model **result, int *limits_dropped, ulna_error *error);

/*
 * Converts a clip to a skeleton with the same bodies, placements and offsets, but other joints. Poses agree to 1e-8 in every
 * joint; otherwise ULNA_ERR_MODEL, and the error names the first body whose joint cannot follow. Of all coordinates that give
 * the same pose, each frame gets those nearest to the frame before, and the first frame those nearest to rest, so that they
 * are continuous wherever they can be. Joints that do not change keep their values to the bit. `result` may be `clip`; after a
 * failure it is unchanged.
 */
ULNA_API ulna_status ulna_clip_convert(const ulna_model *from, const ulna_clip *clip, const ulna_model *to,
                                       ulna_clip *result, ulna_error *error);

/*
 * Makes coordinates continuous over frames without changing a pose: removes full turns, chooses between the two sets of three
 * Euler angles, keeps angles in gimbal lock still, flips signs of quaternions, and lets rotation vectors grow past half a turn.
 * The first frame is unchanged. Values inside their limits stay inside.
 */
ULNA_API ulna_status ulna_clip_unwind(const ulna_model *model, ulna_clip *clip);

/* What may be a mistake in a motion. */
typedef struct ulna_clip_findings {
    int limited;             /* degrees of freedom with limits */
    int outside;             /* of these: leave them somewhere */
    int farthest_dof;        /* the angle that leaves its limits most; ULNA_NONE if none does */
    double farthest_outside; /* radians */
    int jumps;               /* of angles, by more than 90 degrees from one frame to the next */
} ulna_clip_findings;

ULNA_API ulna_clip_findings ulna_clip_check(const ulna_model *model, const ulna_clip *clip);

#ifdef __cplusplus
}
#endif
#endif
