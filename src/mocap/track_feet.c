/*
 * Feet that stand, found from a motion that has been tracked.
 *
 * A foot stands where the ball of the foot (the joint of its toes; its own joint if it has none) is slow and near the height at
 * which it usually is when it is slow. What is slow is known from the take: at most a tenth of what the foot reaches in a step
 * (its 90th percentile), and within three spreads of the median of such frames; so noise, frame rate and pace do not matter. Two
 * thresholds keep a foot that is between them as it was. Within a stance the foot is flat where it hardly rotates either; before
 * and after that it rolls over heel and ball, and the ball alone stands.
 *
 * Bounds on the thresholds are physical: for an adult, in proportion for other sizes. They were chosen on the walks of HDM05 and
 * confirmed on CMU's (docs/constraints-file.md). Not found: a foot on stairs, or on anything that moves.
 */
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/anatomy.h"
#include "mocap/marker_names.h"
#include "mocap/track_constraints.h"
#include "model/model.h"

#define DEGREE (ULNA_PI / 180)
#define SHARE_OF_STEP 0.1     /* of the speed that a foot reaches */
#define FASTEST_STANCE 0.4    /* m/s for an adult: at most */
#define SLOWEST_STEP 0.1      /* m/s for an adult: below that a foot stands, however still it usually is */
#define FLOOR_SPREAD 0.02     /* m for an adult: heights that are alike */
#define SLOWEST_ROLL 15       /* degrees/s: below that a foot is flat, and above the next it rolls */
#define FASTEST_FLAT 25       /* degrees/s */
#define SPREADS 3             /* above the median */
#define RELEASE 1.5           /* times the threshold: a foot that stood stands no more */
#define STAYS 0.012           /* m for an adult: from its place, within which a foot that stands stays */
#define LEVEL 1.5             /* degrees: from its mean rotation, within which a flat foot stays */
#define SPEED_TIME (1 / 60.0) /* s: speeds are taken over so much to each side */
#define LEAST_TIME 0.1        /* s: shorter stances are none */

typedef struct gait {
    const ulna_track_job *j;
    int total, reach, least; /* frames: of the take, from a frame to each side, of a stance */
    double seconds;          /* of a frame */
    double size;             /* against an adult */
    double up[3];
    ulna_pose *pose;
    double *place, *rotation;                 /* total x 3, total x 9: of the ball and of the foot */
    double *speed, *turn, *height, *selected; /* total */
} gait;

/* ---- the skeleton ---------------------------------------------------------------------------------------------------- */

static int is_foot(const ulna_model *model, int body)
{
    return body == ulna_bone_find(model, ULNA_BONES_FOOT, 'l') || body == ulna_bone_find(model, ULNA_BONES_FOOT, 'r');
}

void ulna_track_find_ball(const ulna_model *model, ulna_pose *pose, int body, double ball[3])
{
    int toes = ulna_first_child(model, body);
    double place[3], own[3], rotation[9];
    memset(ball, 0, 3 * sizeof *ball);
    if (toes == ULNA_NONE || !is_foot(model, body) || ulna_pose_forward(pose, model->rest) != ULNA_OK)
        return;
    ulna_pose_body(pose, toes, place, NULL);
    ulna_pose_body(pose, body, own, rotation);
    ulna_subtract3(place, own, place);
    ulna_unrotate(rotation, place, ball);
}

void ulna_track_find_up(const ulna_take *take, ulna_pose *pose, double up[3])
{
    double axes[9] = {0, 0, 0, 0, 1, 0};
    if (ulna_pose_forward(pose, take->model->rest) != ULNA_OK || !ulna_model_directions(take->model, pose, axes))
        axes[4] = 1;
    int axis = take->model_up ? take->model_up - 'x' : ulna_largest(axes + 3);
    memset(up, 0, 3 * sizeof *up);
    up[axis] = axes[3 + axis] < 0 ? -1 : 1;
}

/* ---- what a foot does ---------------------------------------------------------------------------------------------------- */

static int has_pose(const gait *g, int frame)
{
    return !(g->j->result->frames[frame].flags & (ULNA_TRACK_EMPTY | ULNA_TRACK_LOST));
}

static ulna_status follow_foot(gait *g, int body, const double ball[3])
{
    ulna_status status = ULNA_OK;
    for (int f = 0; f < g->total && status == ULNA_OK; f++) {
        status = ulna_pose_forward(g->pose, ulna_clip_frame(&g->j->result->clip, f));
        ulna_pose_point(g->pose, body, ball, g->place + 3 * (size_t)f);
        ulna_pose_body(g->pose, body, NULL, g->rotation + 9 * (size_t)f);
        g->height[f] = ulna_dot(g->up, g->place + 3 * (size_t)f);
    }
    for (int f = 0; f < g->total && status == ULNA_OK; f++) {
        int a = f > g->reach ? f - g->reach : 0, b = f + g->reach < g->total ? f + g->reach : g->total - 1;
        double time = (b > a ? b - a : 1) * g->seconds;
        g->speed[f] = sqrt(ulna_squared_distance(g->place + 3 * (size_t)a, g->place + 3 * (size_t)b, 3)) / time;
        g->turn[f] = ulna_track_rotation(g->rotation + 9 * (size_t)a, g->rotation + 9 * (size_t)b) / time;
    }
    return status;
}

static double clamp(double low, double x, double high)
{
    return fmax(low, fmin(x, high));
}

/* ---- stances ---------------------------------------------------------------------------------------------------------- */

typedef struct thresholds {
    double speed, turn, height, height_spread;
} thresholds;

/* Median and spread of `numbers` in the frames with a pose and a speed below `speed`. */
static double usual(const gait *g, const double *numbers, double speed, double *spread)
{
    size_t count = 0;
    for (int f = 0; f < g->total; f++)
        if (has_pose(g, f) && g->speed[f] < speed)
            g->selected[count++] = numbers[f];
    return ulna_median_and_spread(g->selected, count, spread);
}

static thresholds find_thresholds(const gait *g)
{
    thresholds t;
    size_t count = 0;
    double spread;
    for (int f = 0; f < g->total; f++)
        if (has_pose(g, f))
            g->selected[count++] = g->speed[f];
    ulna_sort_numbers(g->selected, count);
    double reached = count ? g->selected[(size_t)(0.9 * (double)(count - 1))] : 0;
    double most = clamp(SLOWEST_STEP * g->size, SHARE_OF_STEP * reached, FASTEST_STANCE * g->size);
    double median = usual(g, g->speed, most, &spread);
    t.speed = clamp(SLOWEST_STEP * g->size, median + SPREADS * spread, most);
    median = usual(g, g->turn, t.speed, &spread);
    t.turn = clamp(SLOWEST_ROLL * DEGREE, median + SPREADS * spread, FASTEST_FLAT * DEGREE);
    t.height = usual(g, g->height, t.speed, &spread);
    count = 0;
    for (int f = 0; f < g->total; f++)
        if (has_pose(g, f) && g->speed[f] < t.speed)
            g->selected[count++] = fabs(g->height[f] - t.height);
    t.height_spread = SPREADS * fmax(count ? ulna_quick_median(g->selected, count) : 0, FLOOR_SPREAD * g->size);
    return t;
}

static int stands(const gait *g, const thresholds *t, int frame, int did)
{
    return has_pose(g, frame) && g->speed[frame] < (did ? RELEASE : 1) * t->speed &&
           fabs(g->height[frame] - t->height) < t->height_spread;
}

/* What a run of frames is tested by. */
typedef struct condition {
    const gait *g;
    const thresholds *limits;
    double place[3], rotation[9]; /* that the foot stays near to */
} condition;

/* The longest run from frame *first to *last that meets the condition; empty if none does. `goes_on`: the frame before did. */
static void longest_run(const condition *c, int (*meets)(const condition *c, int frame, int goes_on), int *first,
                        int *last)
{
    int since = *first, found = 0, length = 0;
    for (int f = *first; f <= *last + 1; f++) {
        if (f <= *last && meets(c, f, f > since))
            continue;
        if (f - since > length) {
            found = since;
            length = f - since;
        }
        since = f + 1;
    }
    *first = found;
    *last = found + length - 1;
}

static int stays(const condition *c, int frame, int goes_on)
{
    const double most = STAYS * c->g->size;
    (void)goes_on;
    return ulna_squared_distance(c->place, c->g->place + 3 * (size_t)frame, 3) < most * most;
}

static int is_slow_to_turn(const condition *c, int frame, int goes_on)
{
    return c->g->turn[frame] < (goes_on ? RELEASE : 1) * c->limits->turn;
}

static int is_level(const condition *c, int frame, int goes_on)
{
    (void)goes_on;
    return ulna_track_rotation(c->rotation, c->g->rotation + 9 * (size_t)frame) < LEVEL * DEGREE;
}

/* A foot that is slow may slide, or be about to lift: only the longest run of frames near its median place is a stance. */
static void leave_out_slides(const gait *g, ulna_stance *s)
{
    condition c = {.g = g};
    for (int axis = 0; axis < 3; axis++) {
        for (int f = s->first; f <= s->last; f++)
            g->selected[f - s->first] = g->place[3 * (size_t)f + (size_t)axis];
        c.place[axis] = ulna_quick_median(g->selected, (size_t)s->last - (size_t)s->first + 1);
    }
    longest_run(&c, stays, &s->first, &s->last);
}

/* Frames in which the foot hardly rotates, and does not slowly roll on either. */
static void find_flat(const gait *g, const thresholds *t, ulna_stance *s)
{
    condition c = {.g = g, .limits = t};
    s->flat_first = s->first;
    s->flat_last = s->last;
    longest_run(&c, is_slow_to_turn, &s->flat_first, &s->flat_last);
    for (int f = s->flat_first; f <= s->flat_last; f++)
        for (int i = 0; i < 9; i++)
            c.rotation[i] += g->rotation[9 * (size_t)f + (size_t)i] / (s->flat_last - s->flat_first + 1);
    if (s->flat_first <= s->flat_last && isfinite(ulna_orthonormalise(c.rotation)))
        longest_run(&c, is_level, &s->flat_first, &s->flat_last);
    if (s->flat_last - s->flat_first + 1 < g->least) {
        s->flat_first = 0;
        s->flat_last = -1;
    }
}

static ulna_status find_stances_of(gait *g, int body)
{
    ulna_stance s = {.body = body};
    int since = -1;
    ulna_track_find_ball(g->j->take->model, g->pose, body, s.point);
    ulna_status status = follow_foot(g, body, s.point);
    thresholds t = find_thresholds(g);
    for (int f = 0; f <= g->total && status == ULNA_OK; f++) {
        if (f < g->total && stands(g, &t, f, since >= 0)) {
            since = since < 0 ? f : since;
            continue;
        }
        s.first = since;
        s.last = f - 1;
        if (since >= 0)
            leave_out_slides(g, &s);
        if (since >= 0 && s.last - s.first + 1 >= g->least) {
            find_flat(g, &t, &s);
            status = ulna_track_add_stance(g->j, &s);
        }
        since = -1;
    }
    return status;
}

static int is_given(const ulna_track_options *o, int body)
{
    for (int i = 0; i < o->stance_count; i++)
        if (o->stances[i].body == body)
            return 1;
    return 0;
}

static void take_arrays(gait *g, ulna_arena *arena)
{
    size_t total = (size_t)g->total;
    double **numbers[] = {&g->speed, &g->turn, &g->height, &g->selected};
    g->place = ulna_arena_take(arena, 3 * total, sizeof(double));
    g->rotation = ulna_arena_take(arena, 9 * total, sizeof(double));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        *numbers[i] = ulna_arena_take(arena, total, sizeof(double));
}

ulna_status ulna_track_find_stances(ulna_track_job *j, ulna_error *error)
{
    const ulna_allocator *allocator = &j->take->allocator;
    const ulna_model *model = j->take->model;
    const int feet[] = {ulna_bone_find(model, ULNA_BONES_FOOT, 'l'), ulna_bone_find(model, ULNA_BONES_FOOT, 'r')};
    gait g = {.j = j,
              .total = j->total,
              .seconds = j->take->recording->frame_seconds,
              .size = model->length_scale / ULNA_ADULT_LENGTH_SCALE};
    if (feet[0] == ULNA_NONE && feet[1] == ULNA_NONE)
        return ulna_fail(
            error, ULNA_ERR_MODEL,
            "the skeleton has no bodies whose names say that they are feet (left_foot, rfoot, ...): give the "
            "frames in which they stand, by the names of their bodies");
    if (!(g.seconds > 0))
        return ulna_fail(
            error, ULNA_ERR_ARGUMENT,
            "the recording has no frame rate, so feet that stand cannot be found: give the frames in which they do");
    g.least = (int)fmin(j->total, ceil(LEAST_TIME / g.seconds));
    g.reach = (int)fmin(j->total, fmax(1, round(SPEED_TIME / g.seconds)));
    ulna_arena arena = {0};
    take_arrays(&g, &arena);
    size_t bytes = arena.used;
    void *memory = arena.failed ? NULL : ulna_allocate(allocator, bytes, 1);
    if (!memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory to find the feet of %d frames", j->total);
    arena = (ulna_arena){memory, 0, 0};
    take_arrays(&g, &arena);
    ulna_status status = ulna_pose_create(model, allocator, &g.pose, error);
    if (status == ULNA_OK)
        ulna_track_find_up(j->take, g.pose, g.up);
    for (int i = 0; i < 2 && status == ULNA_OK; i++)
        if (feet[i] != ULNA_NONE && !is_given(j->options, feet[i]))
            status = find_stances_of(&g, feet[i]);
    ulna_pose_destroy(g.pose);
    ulna_release(allocator, memory, bytes, 1);
    return status == ULNA_OK ? status : ulna_fail(error, status, "feet cannot be found: %s", ulna_status_text(status));
}
