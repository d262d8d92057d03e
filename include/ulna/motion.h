/*
 * ulna/motion.h: joint values over time and marker positions over time: plain data, and the same poses in other joints.
 *
 * Both are structs that the caller owns: start with ..._empty, fill with ..._resize, end with ..._release. Members may be read
 * and written freely; arrays belong to the struct. Units: metres, radians, seconds.
 *
 *     clip = ulna_clip_empty(NULL);
 *     ulna_clip_resize(&clip, ulna_model_coordinate_count(model), 100);
 *     clip.frame_seconds = 1.0 / 120;
 *     for (int frame = 0; frame < clip.frame_count; frame++)
 *         memcpy(ulna_clip_frame(&clip, frame), q, sizeof *q * (size_t)clip.coordinate_count);
 *     ulna_clip_release(&clip);
 */
#ifndef ULNA_MOTION_H
#define ULNA_MOTION_H

#include "ulna/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Longest marker name, its zero byte included. */
#define ULNA_MARKER_NAME 64

/* Frames of a skeleton: q of every frame, one after the other. */
typedef struct ulna_clip {
    ulna_allocator allocator;
    int coordinate_count; /* nq of the model that it belongs to */
    int frame_count;
    int first_frame;      /* number of the first frame, as files count; 1 if they do not say */
    double frame_seconds; /* 0 if unknown */
    double *q;            /* frame_count x coordinate_count */
    size_t capacity;      /* doubles that q has room for */
} ulna_clip;

ULNA_API ulna_clip ulna_clip_empty(const ulna_allocator *allocator);
/* Room for so many frames; those that were there stay, new ones are zero. Growing by one frame at a time is cheap.
 * ULNA_ERR_MEMORY, ULNA_ERR_LIMIT; the clip is then as it was. */
ULNA_API ulna_status ulna_clip_resize(ulna_clip *clip, int coordinate_count, int frame_count);
ULNA_API void ulna_clip_release(ulna_clip *clip); /* leaves an empty one */
static inline double *ulna_clip_frame(const ulna_clip *clip, int frame)
{
    return clip->q + (size_t)frame * (size_t)clip->coordinate_count;
}

/* Markers over time. A marker that was not seen in a frame is NaN, NaN, NaN there. */
typedef struct ulna_recording {
    ulna_allocator allocator;
    int marker_count;
    int frame_count;
    int first_frame;                 /* as in a clip */
    double frame_seconds;            /* 0 if unknown */
    char (*names)[ULNA_MARKER_NAME]; /* marker_count; ends with a zero byte */
    double *positions;               /* frame_count x marker_count x 3, metres */
    size_t capacity;                 /* doubles that positions has room for */
} ulna_recording;

ULNA_API ulna_recording ulna_recording_empty(const ulna_allocator *allocator);
/* The number of markers can be set once, while there are no frames; new frames are NaN. */
ULNA_API ulna_status ulna_recording_resize(ulna_recording *recording, int marker_count, int frame_count);
ULNA_API void ulna_recording_release(ulna_recording *recording);
static inline double *ulna_recording_frame(const ulna_recording *recording, int frame)
{
    return recording->positions + (size_t)frame * (size_t)recording->marker_count * 3;
}
/* By name; failing that, by the name without the subject's prefix ("Daniel:LFHD" is LFHD), letter case ignored if that leaves
 * one only. ULNA_NONE if there is none. */
ULNA_API int ulna_recording_find(const ulna_recording *recording, const char *name);
/* How many positions are missing, in all frames. */
ULNA_API long long ulna_recording_missing(const ulna_recording *recording);

/* ---- other joints for the same skeleton ------------------------------------------------------------------ */

/* How a joint of three turns counts them. */
typedef enum ulna_ball {
    ULNA_BALL_EULER = 0, /* three angles */
    ULNA_BALL_QUATERNION,
    ULNA_BALL_EXPMAP,
    ULNA_BALL_SWING_TWIST
} ulna_ball;

/*
 * The same skeleton, each joint of three turns of the given kind: Euler joints of three letters (a sequence of three
 * turns too), balls, exponential maps and swing-twists. Joints that slide along X, Y, Z and turn become free-Euler or, for
 * every other kind, free. For ULNA_BALL_EULER what has angles keeps its own order, the others get ZYX; a swing-twist
 * twists about the bone, towards the body's first child. Every pose of the one is a pose of the other, and the rest pose is
 * the same. Limits stay where they mean the same: those of slides and of joints that do not change; `limits_dropped` (may
 * be NULL) says how many were not kept. New turns are as willing (strength) as the old ones were on average.
 */
ULNA_API ulna_status ulna_model_with_balls(const ulna_model *model, ulna_ball ball, const ulna_allocator *allocator,
                                           ulna_model **result, int *limits_dropped, ulna_error *error);

/*
 * The poses of a clip in the coordinates of a skeleton with the same bodies, placements and offsets, but other joints: to
 * 1e-8 in every joint, or ULNA_ERR_MODEL, which names the first body that cannot follow. Coordinates are continuous over
 * frames where they can be: of the answers that give the same pose each frame takes the one nearest to the frame before,
 * the first one nearest to the rest pose. Joints that are the same keep their values to the bit. `result` may be `clip`;
 * after a failure it is as it was.
 */
ULNA_API ulna_status ulna_clip_convert(const ulna_model *from, const ulna_clip *clip, const ulna_model *to,
                                       ulna_clip *result, ulna_error *error);

/*
 * Makes coordinates continuous over frames without changing a pose: takes whole turns off, returns from the other family of
 * three Euler angles, lets angles in gimbal lock rest, flips signs of quaternions, lengthens rotation vectors past half
 * a turn. The first frame stays. Values inside their limits are not moved out of them.
 */
ULNA_API ulna_status ulna_clip_unwind(const ulna_model *model, ulna_clip *clip);
/*
 * Angles where one expects them, poses unchanged: each joint takes the whole turns, and the family of three Euler angles, that
 * bring it nearest to the middle of its limits, or to rest if it has none; each stretch between jumps (60 degrees from one
 * frame to the next) as a whole, so that nothing that is continuous is broken.
 */
ULNA_API ulna_status ulna_clip_home(const ulna_model *model, ulna_clip *clip);

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
