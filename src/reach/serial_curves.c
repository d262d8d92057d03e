/*
 * The curves that the solutions of a chain form if it has one joint more than the goal has rows.
 *
 * Limits cut a curve into parts, and a slide ends where its part does (serial_slide.inc). So curves are followed without limits, all the
 * way round, one in each lane, and the points that are the nearest of their neighbourhood inside the limits are where slides begin.
 *
 * The starts lead to several solutions of each curve. One that a walk passes is on its curve and needs no walk of its own. Of two walks
 * on one curve that go the same way each ends where the other has begun; of two that go opposite ways the later one ends when they are
 * found out. What is lost if two curves come so near to each other that one is taken for the other is a candidate, not a solution: slides check
 * the goal and the limits.
 *
 * Constants were found on a Panda and an iiwa, and confirmed on others: see docs/reach.md.
 */
#include "math/math3.h"
#include "reach/serial_search.h"

#include <math.h>
#include <string.h>

enum {
    SOLUTIONS = ULNA_SERIAL_CELLS_FOUND,
    LENGTH = 40, /* radians; longer curves are not followed to their end */
    KEPT = 8,    /* points from which to slide */
};

#define ON_CURVE 0.02 /* cost of points that are near enough to the curve */
#define SLACK 0.2     /* points so far outside the limits may still lead inside, rad */
#define APART 0.3     /* between points that are kept, rad */
#define PASSED 0.5    /* steps: solutions nearer to a walk are on its curve */

const double ulna_serial_direction[2] = {0.7, 1};

/* Solutions, of which each curve has some. */
typedef struct curves {
    int count;
    double q[SOLUTIONS][ULNA_SERIAL_MAX];
    double direction[SOLUTIONS][ULNA_SERIAL_MAX]; /* of walks that have begun there */
    int open_count, open[SOLUTIONS];              /* those that no walk has passed, in order */
    unsigned char begun[SOLUTIONS];
} curves;

/* How far a point of a curve is outside the limits, and the square of its distance from the seed. */
typedef struct place {
    double outside, square;
} place;

/* What a lane walks on. */
typedef struct walker {
    int solution; /* where it began; ULNA_NONE: nothing */
    int steps;
    place last, before;
    double point[ULNA_SERIAL_MAX]; /* the last one, if it is inside the limits or nearly so */
} walker;

static void take_anywhere(ulna_serial_search *s, int lane, void *context)
{
    curves *c = context;
    for (int i = 0; i < s->chain->n; i++)
        c->q[c->count][i] = s->state.q[i][lane];
    c->begun[c->count] = 0;
    c->open[c->count] = c->count;
    c->open_count = ++c->count;
}

/* ---- points ----------------------------------------------------------------------------------------------------------------- */

/* Keeps the nearest points that are apart from each other. */
static void keep_point(const ulna_serial_search *s, ulna_serial_found *kept, const double *q, double distance)
{
    int count = 0;
    for (int k = 0; k < kept->count; k++) {
        const int is_other = ulna_squared_distance(kept->q[k], q, s->chain->n) >= APART * APART;
        if (!is_other && kept->distance[k] <= distance)
            return;
        if (is_other && count < k) {
            kept->distance[count] = kept->distance[k];
            memcpy(kept->q[count], kept->q[k], sizeof kept->q[k]);
        }
        count += is_other;
    }
    kept->count = count; /* without those that q replaces */
    ulna_serial_found_add(kept, q, distance);
}

/* Keeps the last point if it may be near the nearest of a part of the curve that is inside the limits: it is inside and the points
 * before and behind are farther away or outside; or it is outside by less than these are, since a part may be shorter than a step. */
static void look_back(const ulna_serial_search *s, const walker *w, const place *now, ulna_serial_found *kept)
{
    const place *last = &w->last, *before = &w->before;
    int is_nearest;
    if (last->outside > 0)
        is_nearest = last->outside < SLACK && last->outside <= before->outside && last->outside <= now->outside;
    else
        is_nearest = (before->outside > 0 || last->square <= before->square) &&
                     (now->outside > 0 || last->square <= now->square);
    if (is_nearest)
        keep_point(s, kept, w->point, last->square);
}

static void look_around(const ulna_serial_search *s, int lane, walker *w, ulna_serial_found *kept)
{
    const int on_curve = s->state.cost[lane] < ON_CURVE;
    const place now = {on_curve ? s->slide.outside[lane] : INFINITY, s->slide.square[lane]};
    if (w->steps > 0)
        look_back(s, w, &now, kept);
    w->before = w->steps > 0 ? w->last : now;
    w->last = now;
    w->steps++;
    for (int i = 0; i < s->chain->n && now.outside < SLACK; i++)
        w->point[i] = s->slide.point[i][lane] * s->chain->unit[i];
}

/* ---- walks ------------------------------------------------------------------------------------------------------------------ */

/* From the next open solution; 0 if there is none. */
static int begin_walk(ulna_serial_search *s, curves *c, int lane, walker *w)
{
    int at = 0;
    while (at < c->open_count && c->begun[c->open[at]])
        at++;
    const int is_any = at < c->open_count, from = is_any ? c->open[at] : 0;
    w->solution = is_any ? from : ULNA_NONE;
    w->steps = 0;
    c->begun[from] = 1;
    for (int i = 0; i < s->chain->n; i++) {
        s->state.q[i][lane] = c->q[from][i];
        s->slide.direction[i][lane] = ulna_serial_direction[i % 2];
    }
    return is_any;
}

/* Lane l is where solution k is. Returns the bits of lanes that need not go on: its own if it is back, or if another one has begun
 * there and goes the same way; the other's if that goes the opposite way and has begun later. */
static unsigned meet(const ulna_serial_search *s, const curves *c, const walker *walkers, int l, int k, int *is_open)
{
    const int own = walkers[l].solution;
    double along = 0;
    if (own == k)
        return (unsigned)(walkers[l].steps > 4) << l;
    if (!c->begun[k]) {
        *is_open = 0;
        return 0;
    }
    for (int i = 0; i < s->chain->n; i++)
        along += c->direction[k][i] * s->slide.direction[i][l];
    if (along > 0)
        return (unsigned)(walkers[l].steps > 1) << l;
    if (own > k)
        return 0;
    *is_open = 0;
    for (int other = 0; other < s->chain->wide->lanes; other++)
        if (walkers[other].solution == k)
            return 1u << other;
    return 0;
}

/* Closes the solutions that walks pass; returns the bits of lanes that need not go on. */
static unsigned find_passed(const ulna_serial_search *s, curves *c, const walker *walkers, unsigned busy)
{
    const double near = PASSED * s->slide.cap;
    unsigned char passing[SOLUTIONS];
    unsigned done = 0;
    int count = 0;
    s->chain->wide->passing(s->chain, &s->slide, (const double(*)[ULNA_SERIAL_MAX])c->q, c->open, c->open_count,
                            near * near, passing);
    for (int at = 0; at < c->open_count; at++) {
        const int k = c->open[at];
        const unsigned here = busy & passing[at];
        int is_open = 1;
        for (int l = 0; here >> l && is_open; l++)
            if (here >> l & 1)
                done |= meet(s, c, walkers, l, k, &is_open);
        if (is_open)
            c->open[count++] = k;
    }
    c->open_count = count;
    return done;
}

/* One step of all lanes; a lane that is done takes the next open solution. Returns the bits of lanes that go on. */
static unsigned walk_on(ulna_serial_search *s, curves *c, walker *walkers, unsigned busy, ulna_serial_found *kept)
{
    const ulna_serial *chain = s->chain;
    const int most = (int)(LENGTH / s->slide.cap);
    chain->wide->trace(chain, &s->state, &s->slide);
    s->result.iterations++;
    for (int l = 0; busy >> l; l++) {
        if (!(busy >> l & 1))
            continue;
        look_around(s, l, &walkers[l], kept);
        for (int i = 0; i < chain->n && walkers[l].steps == 1; i++)
            c->direction[walkers[l].solution][i] = s->slide.direction[i][l];
    }
    const unsigned done = find_passed(s, c, walkers, busy);
    for (int l = 0; busy >> l; l++)
        if (busy >> l & 1 && (done >> l & 1 || walkers[l].steps >= most)) {
            look_back(s, &walkers[l], &walkers[l].last, kept);
            if (!begin_walk(s, c, l, &walkers[l]))
                busy &= ~(1u << l);
        }
    return busy;
}

void ulna_serial_trace(ulna_serial_search *s, double (*start)[ULNA_SERIAL_MAX], int count, double step)
{
    double points[KEPT][ULNA_SERIAL_MAX], distances[KEPT];
    ulna_serial_found kept = {.capacity = KEPT, .q = points, .distance = distances};
    walker walkers[ULNA_SERIAL_LANES];
    curves c = {.count = 0};
    unsigned busy = 0;
    ulna_serial_converge(s, start, count, 0, take_anywhere, &c);
    if (c.count == 0)
        return;
    s->slide.cap = step;
    for (int l = 0; l < s->chain->wide->lanes; l++)
        busy |= (unsigned)begin_walk(s, &c, l, &walkers[l]) << l;
    while (busy)
        busy = walk_on(s, &c, walkers, busy, &kept);
    ulna_serial_slide_from(s, points, kept.count);
}
