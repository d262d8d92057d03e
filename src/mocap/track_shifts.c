/*
 * Markers that shift on the skin and stay where they are then: knocked, or loose and pressed on again. Their distance
 * from the skeleton need not stand out, as the pose goes along, and the take after it is as smooth as before.
 *
 * What tells is where a marker is in the frame of its bone, and how far it is from the three markers next to it. Skin
 * moves it with the pose, by centimetres, but by and by, and again and again; a shift happens at once, once, and lasts.
 * So a step of these three numbers counts if
 *   - it is the largest of the take: far larger than any other change along its way in the same time (`ISOLATED`),
 *   - before and after it, in the whole take, the marker is apart by about as much (`LASTS`), and
 *   - by more than it moves about on either side (`CLEAR`), and by more than `LEAST`.
 * In a short take there is little to compare with: factors are larger there (`BRIEF`), and half a second on either side is
 * needed. Changes that come with a pose fail the first or the second; of distances, also those that the skeleton makes too, as
 * joints bend. Where the recording was cut, before and after it are two takes. Where the marker was missing between,
 * changes over as long a time count as the others. If the take is too short for these, nothing shows that it was no drift:
 * then only a clear difference counts (`LEAST_UNSEEN`), as that and not as a shift. All constants were chosen on HDM05's
 * dg 01-03_01 and CMU's 02_01.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/anatomy.h"
#include "mocap/track.h"
#include "ulna/kinematics.h"

#define LEAST 0.008       /* m on an adult: a smaller step is none */
#define LEAST_UNSEEN 0.03 /* the same, over a gap that nothing compares with */
#define ISOLATED 1.4      /* times the largest change elsewhere */
#define BRIEF 8           /** windows: in a take as long as these, ISOLATED and CLEAR are twice as large */
#define NEARLY 0.8        /* of that, along its own way */
#define LASTS 0.6         /* of the difference between before and after: the step itself */
#define CLEAR 2.2         /* spreads: the lesser of step and difference */
#define FLOOR 0.002       /* m on an adult, added to the spread: skin hardly moves less */
#define NOT_BY_POSE 0.4   /* of a change of distances: what the skeleton does not make too */
#define SEVERAL 0.4       /* of the largest change of a distance: the next one */
#define WORSE 1.01        /* times as far from its place on the skeleton: in the part that is wrong */
#define WINDOW 0.083      /* s: a step, and what is looked at before it and after it, take so long each */
#define LEAST_SIDE 0.05   /* of the samples, before and after it */
#define ENOUGH_SEEN 0.75  /* of the most markers that a frame has */
#define NORMAL 1.4826     /* spreads a median absolute deviation, for a normal distribution */

enum {
    UNKNOWN_WINDOW = 10, /* frames, where the rate is not known */
    SHORTEST = 2,        /* frames of a window */
    LONGEST = 100,
    SAMPLES = 300,    /* of a take: fewer or more where the window asks for it */
    IN_WINDOW = 4,    /* samples, at most */
    SIDE_WINDOWS = 6, /* on either side of a step, at least: what lasts for less may be the pose */
    CANDIDATES = 3,   /* steps of a marker that are looked at */
    ROUGHLY = 100,    /* samples that medians are of */
    NEXT = 1,         /* joints: between a marker and those that its distance is measured from */
    NEIGHBOURS = 2,   /* joints: a marker that shifts moves the places of others near it */
    MOST_SHIFTS = 16  /* of a take */
};

typedef struct samples {
    const ulna_track_job *j;
    ulna_pose *pose;
    int every;          /* frames */
    int count, markers; /* samples; of j->used */
    int width, guard;   /* samples of a window; between two of them */
    double unit;        /* 1 for an adult */
    int *frame;         /* count */
    int (*next)[3];     /* markers: those next to it; the first is ULNA_NONE if there are fewer */
    float *place;       /* markers x room x 3: in the frame of the bone, then distances to these; NaN: missing */
    size_t room;        /* samples */
    int is_apart;       /* 1: distances */
    /* of the marker at hand */
    int seen;
    int *at;       /* count: its frames */
    double *where; /* count x 3 */
    double *sums;  /* (count + 1) x 3: of those before */
    double *sorted;
    int since[MOST_SHIFTS]; /* of the result's shifts: the last frame before it */
} samples;

typedef struct dated_shift {
    ulna_shift shift;
    int since;
} dated_shift;

/* ---- where markers are on their bones ---------------------------------------------------------------------------------------- */

static void put(const samples *s, int marker, const double x[3])
{
    float *to = s->place + 3 * ((size_t)marker * s->room + (size_t)s->count);
    for (int k = 0; k < 3; k++)
        to[k] = (float)x[k];
}

/* A pose that has too few markers is where it may be. */
static int most_seen(const ulna_track_job *j)
{
    int most = 0;
    for (int f = 0; f < j->total; f++)
        most = j->result->frames[f].seen > most ? j->result->frames[f].seen : most;
    return most;
}

/* The frames; and where markers are in the frames of their bones. */
static ulna_status take_places(samples *s, double *positions)
{
    const ulna_track_job *j = s->j;
    ulna_status status = ULNA_OK;
    double fewest = ENOUGH_SEEN * most_seen(j);
    s->count = 0;
    for (int f = s->every / 2; f < j->total && status == ULNA_OK; f += s->every) {
        const ulna_frame_report *report = &j->result->frames[f];
        if (report->flags & (ULNA_TRACK_EMPTY | ULNA_TRACK_LOST) || report->seen < fewest)
            continue;
        status = ulna_pose_forward(s->pose, ulna_clip_frame(&j->result->clip, f));
        ulna_track_gather(j, f, positions);
        for (int i = 0; i < s->markers && status == ULNA_OK; i++) {
            double origin[3], rotation[9], d[3], own[3];
            ulna_pose_body(s->pose, j->used.items[i].body, origin, rotation);
            ulna_subtract3(positions + 3 * i, origin, d);
            ulna_unrotate(rotation, d, own);
            put(s, i, own);
        }
        s->frame[s->count++] = f;
    }
    return status;
}

/* Distances in the same frames. */
static void take_distances(samples *s, double *positions)
{
    int count = s->count;
    for (s->count = 0; s->count < count; s->count++) {
        ulna_track_gather(s->j, s->frame[s->count], positions);
        for (int i = 0; i < s->markers; i++) {
            double d[3] = {(double)NAN, (double)NAN, (double)NAN}, way[3];
            for (int k = 0; k < 3 && s->next[i][0] != ULNA_NONE; k++) {
                ulna_subtract3(positions + 3 * i, positions + 3 * s->next[i][k], way);
                d[k] = ulna_norm(way);
            }
            put(s, i, d);
        }
    }
}

/* The three nearest at rest, of those on its body and its neighbours. `rest`: set.count x 3. */
static void find_next(const samples *s, const double *rest)
{
    const ulna_marker_set *used = &s->j->used;
    for (int i = 0; i < s->markers; i++) {
        int *next = s->next[i], count = 0;
        double nearest[3];
        for (int m = 0; m < s->markers; m++) {
            double d[3];
            if (m == i || ulna_joints_between(s->j->take->model, used->items[i].body, used->items[m].body) > NEXT)
                continue;
            ulna_subtract3(rest + 3 * s->j->item[i], rest + 3 * s->j->item[m], d);
            double distance = ulna_norm(d);
            int at = count < 3 ? count++ : 3;
            for (; at > 0 && distance < nearest[at - 1]; at--)
                if (at < 3) {
                    nearest[at] = nearest[at - 1];
                    next[at] = next[at - 1];
                }
            if (at < 3) {
                nearest[at] = distance;
                next[at] = m;
            }
        }
        if (count < 3)
            next[0] = ULNA_NONE;
    }
}

static double middle_of(double a, double b, double c)
{
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* The marker's course, where it is seen, without spikes of a single sample. */
static void read_course(samples *s, int marker)
{
    const float *from = s->place + 3 * (size_t)marker * s->room;
    double before[3] = {0}, now[3];
    s->seen = 0;
    for (int n = 0; n < s->count; n++)
        if (!isnan(from[3 * n] + from[3 * n + 1] + from[3 * n + 2])) {
            for (int k = 0; k < 3; k++)
                s->where[3 * s->seen + k] = from[3 * n + k];
            s->at[s->seen++] = s->frame[n];
        }
    for (int n = 0; n < s->seen; n++) {
        double *x = s->where + 3 * (size_t)n;
        memcpy(now, x, sizeof now);
        for (int k = 0; k < 3 && n && n + 1 < s->seen; k++)
            x[k] = middle_of(before[k], x[k], x[3 + k]);
        memcpy(before, now, sizeof before);
    }
    memset(s->sums, 0, 3 * sizeof *s->sums);
    for (int n = 0; n < 3 * s->seen; n++)
        s->sums[n + 3] = s->sums[n] + s->where[n];
}

/* ---- steps ------------------------------------------------------------------------------------------------------------------- */

/* From the samples before number n to those from n + guard on. */
static void step_at(const samples *s, int n, int guard, double step[3])
{
    const double *sums = s->sums, share = 1.0 / s->width;
    const double *to = sums + 3 * (size_t)(n + guard + s->width), *from = sums + 3 * (size_t)(n + guard);
    const double *now = sums + 3 * (size_t)n, *before = sums + 3 * (size_t)(n - s->width);
    for (int k = 0; k < 3; k++)
        step[k] = (to[k] - from[k] - now[k] + before[k]) * share;
}

/* How many samples the step takes: more than s->guard where the marker is missing there. */
static int guard_at(const samples *s, int n)
{
    int frames = s->at[n + s->guard] - s->at[n - 1], guard = (frames + s->every - 1) / s->every - 1;
    return guard > 2 * s->guard + 1 ? guard : s->guard;
}

/* Is the step over a cut of the recording? Then the whole body is elsewhere, and its skin with it. */
static int is_over_cut(const samples *s, int n, int guard)
{
    return s->j->take->cut_count &&
           ulna_take_has_cut(s->j->take, s->at[n - s->width] + 1, s->at[n + guard + s->width - 1]);
}

/* The samples *first .. *last - 1 around number n that no cut parts from it: of another recording, perhaps. */
static void find_part(const samples *s, int n, int *first, int *last)
{
    const ulna_take *take = s->j->take;
    *first = 0;
    *last = s->seen;
    for (int i = 0; i < take->cut_count; i++) {
        while (take->cuts[i] <= s->at[n] && *first < n && s->at[*first] < take->cuts[i])
            ++*first;
        while (take->cuts[i] > s->at[n] && *last > n + 1 && s->at[*last - 1] >= take->cuts[i])
            --*last;
    }
}

/* The sample from which on the marker is elsewhere: the first after it was missing, or else in the middle. */
static int first_behind(const samples *s, int n)
{
    int first = n + s->guard / 2;
    for (int i = n; i <= n + s->guard; i++)
        if (s->at[i] - s->at[i - 1] > s->at[first] - s->at[first - 1])
            first = i;
    return first;
}

/* The largest change along a direction, over as long a time, that has nothing to do with the step. INFINITY if there
 * are too few of them: they overlap, and show about the same change unless they begin far enough apart (half of that time:
 * enough for made drifts of several forms). */
static double largest_elsewhere(const samples *s, int n, int guard, const double along[3])
{
    double largest = 0, step[3];
    int last = s->seen - guard - s->width, compared = 0;
    for (int i = s->width; i <= last; i++) {
        if (i + guard + s->width > n - s->width && i - s->width < n + s->guard + s->width) {
            i = n + s->guard + 2 * s->width - 1; /* on to the first one after it */
            continue;
        }
        if (is_over_cut(s, i, guard))
            continue;
        step_at(s, i, guard, step);
        double size = fabs(ulna_dot(step, along));
        largest = size > largest ? size : largest; /* fmax would be a call */
        compared++;
    }
    return compared < guard / 2 ? (double)INFINITY : largest;
}

/* The median place of samples first .. last - 1. */
static void median_place(const samples *s, int first, int last, double median[3])
{
    int every = (last - first) / ROUGHLY + 1;
    for (int k = 0; k < 3; k++) {
        size_t count = 0;
        for (int n = first; n < last; n += every)
            s->sorted[count++] = s->where[3 * n + k];
        median[k] = ulna_quick_median(s->sorted, count);
    }
}

/* How far they are from there along a direction. */
static double spread_of(const samples *s, int first, int last, const double median[3], const double along[3])
{
    int every = (last - first) / ROUGHLY + 1;
    size_t count = 0;
    for (int n = first; n < last; n += every) {
        double d[3];
        ulna_subtract3(s->where + 3 * (size_t)n, median, d);
        s->sorted[count++] = fabs(ulna_dot(d, along));
    }
    return NORMAL * ulna_quick_median(s->sorted, count);
}

/* If one distance alone changes, it is the other marker that shifts, or a joint that bends. */
static int is_of_several(const double d[3])
{
    double a = fabs(d[0]), b = fabs(d[1]), c = fabs(d[2]);
    return middle_of(a, b, c) > SEVERAL * fmax(a, fmax(b, c));
}

/* How far the skeleton's markers are apart in a sample, for marker `marker` and those next to it. */
static int model_distances(const samples *s, int marker, int n, double d[3])
{
    const ulna_attachment *items = s->j->used.items;
    double own[3], other[3];
    if (ulna_pose_forward(s->pose, ulna_clip_frame(&s->j->result->clip, s->at[n])) != ULNA_OK ||
        ulna_pose_point(s->pose, items[marker].body, items[marker].offset, own) != ULNA_OK)
        return 0;
    for (int k = 0; k < 3; k++) {
        const ulna_attachment *item = &items[s->next[marker][k]];
        if (ulna_pose_point(s->pose, item->body, item->offset, other) != ULNA_OK)
            return 0;
        ulna_subtract3(own, other, other);
        d[k] = ulna_norm(other);
    }
    return 1;
}

/* Do distances change so because joints bend? */
static int is_by_pose(const samples *s, int marker, int n, const double step[3])
{
    double d[3], left[3] = {step[0], step[1], step[2]};
    for (int i = 0; i < s->width; i++)
        for (int side = -1; side <= 1; side += 2) {
            if (!model_distances(s, marker, side < 0 ? n - 1 - i : n + s->guard + i, d))
                return 1;
            for (int k = 0; k < 3; k++)
                left[k] -= side * d[k] / s->width;
        }
    return ulna_norm(left) < NOT_BY_POSE * ulna_norm(step);
}

/* Does a marker near it appear or disappear at that time? Then the pose settles elsewhere. */
static int is_by_others(const samples *s, int marker, int n)
{
    const ulna_marker_set *used = &s->j->used;
    double x[3], y[3];
    for (int i = 0; i < s->markers; i++) {
        int source = s->j->take->source[s->j->item[i]];
        if (ulna_take_marker(s->j->take, s->at[n - 1], source, x) !=
                ulna_take_marker(s->j->take, s->at[n + s->guard], source, y) &&
            ulna_joints_between(s->j->take->model, used->items[i].body, used->items[marker].body) <= NEIGHBOURS)
            return 1;
    }
    return 0;
}

/* Times ISOLATED and CLEAR: what the skin does with the pose, a short take may show only once. */
static double brevity(const samples *s)
{
    return 1 + BRIEF * (double)s->width / s->seen;
}

/* Is it a shift, beside samples first .. last - 1? Then how far; else 0. No distance changes by more than a marker moves.
 * *is_unseen: it is one over a gap that nothing compares with. */
static double shift_beside(const samples *s, int marker, int n, int first, int last, int *is_unseen)
{
    double step[3], before[3], after[3], d[3], isolated = ISOLATED * brevity(s), clear = CLEAR * brevity(s);
    int guard = guard_at(s, n), behind = n + s->guard;
    step_at(s, n, s->guard, step);
    double whole = ulna_norm(step);
    for (int k = 0; k < 3; k++)
        d[k] = step[k] / whole;
    double elsewhere = largest_elsewhere(s, n, guard, d);
    *is_unseen = isinf(elsewhere);
    if (!*is_unseen && whole < NEARLY * isolated * elsewhere) /* medians take longer */
        return 0;
    median_place(s, first, n, before);
    median_place(s, behind, last, after);
    ulna_subtract3(after, before, d);
    double size = ulna_norm(d), own = size > 0 ? ulna_dot(step, d) / size : 0;
    if (size < LEAST * s->unit || own < LASTS * size || (s->is_apart && !is_of_several(d)))
        return 0;
    for (int k = 0; k < 3; k++)
        d[k] /= size;
    double spread = fmax(spread_of(s, first, n, before, d), spread_of(s, behind, last, after, d)) + FLOOR * s->unit;
    double told = s->is_apart ? size * fmax(fabs(d[0]), fmax(fabs(d[1]), fabs(d[2]))) : size;
    if (fmin(own, size) < clear * spread || (!*is_unseen && own < isolated * largest_elsewhere(s, n, guard, d)))
        return 0;
    if (*is_unseen && told < LEAST_UNSEEN * s->unit)
        return 0;
    return (s->is_apart ? is_by_pose(s, marker, n, step) : is_by_others(s, marker, n)) ? 0 : told;
}

/* In the whole take, and in its part between cuts. */
static double shift_at(const samples *s, int marker, int n, int *is_unseen)
{
    int first, last;
    double shift = shift_beside(s, marker, n, 0, s->seen, is_unseen);
    find_part(s, n, &first, &last);
    return shift > 0 && last - first < s->seen ? fmin(shift, shift_beside(s, marker, n, first, last, is_unseen))
                                               : shift;
}

/* Is there enough on either side, up to a cut? */
static int has_sides(const samples *s, int n, int margin)
{
    int first, last;
    if (!s->j->take->cut_count)
        return 1;
    find_part(s, n, &first, &last);
    return n - margin >= first && n + s->guard + margin <= last;
}

/* The largest step but for those near the ones that were looked at; ULNA_NONE if there is none. */
static int largest_step(const samples *s, const int *tried, int count, int margin)
{
    int best = ULNA_NONE;
    double largest = LEAST * s->unit * LEAST * s->unit, step[3];
    for (int n = margin; n <= s->seen - s->guard - margin; n++) {
        int is_near = 0;
        for (int i = 0; i < count; i++)
            is_near |= n > tried[i] - s->width - s->guard && n < tried[i] + s->width + s->guard;
        if (is_near || !has_sides(s, n, margin))
            continue;
        step_at(s, n, s->guard, step);
        double size = ulna_dot(step, step);
        if (size > largest) {
            largest = size;
            best = n;
        }
    }
    return best;
}

static dated_shift find_shift(const samples *s, int marker)
{
    dated_shift found = {.shift.marker = s->j->item[marker]};
    int tried[CANDIDATES], margin = (int)(LEAST_SIDE * s->seen);
    margin = margin > SIDE_WINDOWS * s->width ? margin : SIDE_WINDOWS * s->width;
    for (int i = 0; i < CANDIDATES && found.shift.distance == 0; i++) {
        tried[i] = largest_step(s, tried, i, margin);
        if (tried[i] == ULNA_NONE)
            break;
        int behind = first_behind(s, tried[i]);
        found.shift.frame = s->at[behind];
        found.since = s->at[behind - 1];
        found.shift.distance = shift_at(s, marker, tried[i], &found.shift.is_after_gap);
        if (guard_at(s, tried[i]) == s->guard) /* a smaller step is no better; but any is large after a while unseen */
            break;
    }
    return found;
}

/* ---- which part is wrong ----------------------------------------------------------------------------------------------------- */

/* Of a marker of the take's set from its place on the skeleton, in samples of frames first .. last; NaN if there is none. */
static double median_distance(const samples *s, int marker, int first, int last)
{
    size_t count = 0;
    for (int n = 0; n < s->count; n++) {
        double distance = ulna_track_distance(s->j, s->frame[n], (size_t)marker);
        if (s->frame[n] >= first && s->frame[n] <= last && !isnan(distance))
            s->sorted[count++] = distance;
    }
    return count ? ulna_quick_median(s->sorted, count) : (double)NAN;
}

/* The part in which the marker fits its offset worse, though the pose goes along. An offset from another take holds for
 * any part of this one; one that was calibrated on this take mostly for the longer. */
static void find_wrong_part(const samples *s, ulna_shift *shift)
{
    int end = s->j->total - 1;
    double before = median_distance(s, shift->marker, 0, shift->frame - 1);
    double after = median_distance(s, shift->marker, shift->frame, end);
    int is_after = after > WORSE * before || (!(before > WORSE * after) && 2 * shift->frame > s->j->total);
    shift->first = is_after ? shift->frame : 0;
    shift->last = is_after ? end : shift->frame - 1;
}

/* ---- all of it --------------------------------------------------------------------------------------------------------------- */

/* Two markers near each other that may step at the same time, as far as they are seen, or one marker by its place and by
 * its distances: the one that steps farther takes the other's place along. */
static int explains(const samples *s, int i, const dated_shift *b)
{
    const ulna_attachment *items = s->j->take->set.items;
    const ulna_shift *a = &s->j->result->shifts[i];
    int frames = (2 * (s->width + s->guard) - 1) * s->every; /* and one sample from `since` to the frame */
    return s->since[i] - frames <= b->shift.frame && b->since - frames <= a->frame &&
           ulna_joints_between(s->j->take->model, items[a->marker].body, items[b->shift.marker].body) <= NEIGHBOURS;
}

static void add_shift(samples *s, const dated_shift *found)
{
    ulna_track_result *r = s->j->result;
    int i = 0;
    while (i < r->shift_count && !explains(s, i, found))
        i++;
    if (i < r->shift_count ? r->shifts[i].distance < found->shift.distance : i < MOST_SHIFTS) {
        r->shifts[i] = found->shift;
        s->since[i] = found->since;
    }
    r->shift_count += i == r->shift_count && i < MOST_SHIFTS;
}

static int window_of(const ulna_track_job *j)
{
    double seconds = j->result->clip.frame_seconds;
    double frames = seconds > 0 ? fmin(WINDOW / seconds, LONGEST) : UNKNOWN_WINDOW;
    return frames > SHORTEST ? (int)lround(frames) : SHORTEST;
}

static void look(samples *s)
{
    enum { FEWEST_WINDOWS = 5, FEWEST = 60 }; /* samples: fewer do not show what is usual */
    for (int i = 0; i < s->markers; i++) {
        read_course(s, i);
        if (s->j->used.items[i].weight <= 0 || s->seen < FEWEST || s->seen < FEWEST_WINDOWS * (s->width + s->guard))
            continue;
        dated_shift found = find_shift(s, i);
        if (found.shift.distance > 0)
            add_shift(s, &found);
    }
}

static void take_arrays(samples *s, ulna_arena *arena, double **positions, double **rest)
{
    *positions = ulna_arena_take(arena, 3 * (size_t)s->markers, sizeof(double));
    *rest = ulna_arena_take(arena, 3 * s->j->take->set.count, sizeof(double));
    s->where = ulna_arena_take(arena, 3 * s->room, sizeof *s->where);
    s->sums = ulna_arena_take(arena, 3 * (s->room + 1), sizeof *s->sums);
    s->sorted = ulna_arena_take(arena, s->room, sizeof *s->sorted);
    s->frame = ulna_arena_take(arena, s->room, sizeof *s->frame);
    s->at = ulna_arena_take(arena, s->room, sizeof *s->at);
    s->next = ulna_arena_take(arena, (size_t)s->markers, sizeof *s->next);
    s->place = ulna_arena_take(arena, 3 * s->room * (size_t)s->markers, sizeof *s->place);
}

static ulna_status find_all(samples *s, double *positions, double *rest)
{
    ulna_status status = ulna_take_rest_positions(s->j->take, rest);
    if (status == ULNA_OK)
        status = take_places(s, positions);
    if (status != ULNA_OK)
        return status;
    look(s);
    find_next(s, rest);
    s->is_apart = 1;
    take_distances(s, positions);
    look(s);
    for (int i = 0; i < s->j->result->shift_count; i++)
        find_wrong_part(s, &s->j->result->shifts[i]);
    return status;
}

ulna_status ulna_track_find_shifts(const ulna_track_job *j, double length_scale)
{
    const ulna_allocator *allocator = &j->take->allocator;
    ulna_track_result *r = j->result;
    int window = window_of(j), every = j->total / SAMPLES, least = window / IN_WINDOW;
    samples s = {.j = j, .markers = (int)j->used.count, .unit = length_scale / ULNA_ADULT_LENGTH_SCALE};
    ulna_arena arena = {0};
    double *positions, *rest;
    every = every < window ? every : window;
    s.every = every > least ? every : least > 1 ? least : 1;
    s.room = (size_t)(j->total / s.every) + 1;
    s.width = window / s.every > 1 ? window / s.every : 2;
    s.guard = window / s.every;
    take_arrays(&s, &arena, &positions, &rest);
    size_t bytes = arena.used;
    void *memory = arena.failed ? NULL : ulna_allocate(allocator, bytes, 1);
    r->shifts = ulna_allocate(allocator, MOST_SHIFTS, sizeof *r->shifts);
    r->shift_room = r->shifts ? MOST_SHIFTS : 0;
    ulna_status status =
        memory && r->shifts ? ulna_pose_create(j->take->model, allocator, &s.pose, NULL) : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        arena = (ulna_arena){memory, 0, 0};
        take_arrays(&s, &arena, &positions, &rest);
        status = find_all(&s, positions, rest);
    }
    ulna_pose_destroy(s.pose);
    ulna_release(allocator, memory, bytes, 1);
    return status;
}
