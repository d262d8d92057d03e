/* track.h: the parts of bench_track: the take, who runs over which frames, and how it is measured. */
#ifndef ULNA_BENCH_TRACK_H
#define ULNA_BENCH_TRACK_H

#include "peers.h"
#include "support.h"

/* ---- the take: a skeleton, where its markers sit, and where they were seen (track_take.c) ------------------------- */

typedef struct track_take {
    ulna_model *model;   /* thumbs welded: no marker sees them */
    ulna_marker_set set; /* calibrated offsets */
    int frames, markers;
    double *goals; /* frames x markers x 3: metres, axes of the model; NaN where it is missing */
} track_take;

/* Offsets from a file of `ulna calibrate`, or (NULL) calibrated. 0 if
 * it is not there. */
int track_take_load(track_take *take, const bench_take *from, const char *offsets);
void track_take_free(track_take *take);
const double *track_take_goals(const track_take *take, int frame);
/* Puts missing markers where the tracker has them: peers need all of them in each frame. The share of positions that were missing, percent;
 * negative without memory. */
double track_take_fill(track_take *take);

/* ---- runners (track_contest.c) ------------------------------------------------------------------------------------ */

enum { TRACK_ROUNDS = 9 };
#define TRACK_MARGIN 5e-4 /* m: sums of distances over all markers this near are equally good */

typedef struct track_stretch {
    int first, last; /* frames first .. last - 1 */
} track_stretch;

/* A tracker, or a peer with its settings, on some frames of the take. */
typedef struct track_runner {
    const char *name, *text;
    const bench_peer *peer; /* NULL: ulna */
    void *self;
    double tolerance; /* of a peer */
    const track_stretch *stretches;
    int stretch_count, frames; /* frames: of the take */
    int rounds;
    double *us[TRACK_ROUNDS]; /* CPU time of a frame of the take; NaN where it did not run */
    double *sum;              /* m: of the markers' distances */
    double *q;                /* frames x nv */
    long iterations, evaluations, solved;
    int failed; /* frames in which it broke down; q then stays */
} track_runner;

/* One objective for all: the peers' skeleton gets ulna's loss, and before each frame ulna's priors, by a tracker of its own. */
typedef struct track_contest {
    ulna_tracker *guide;
    double *prior_weight, *prior_goal; /* nv */
} track_contest;

int track_contest_open(track_contest *c, const track_take *take, peer_skeleton *skeleton);
void track_contest_close(track_contest *c);

/* 0 if it cannot take part, or there is no memory. The stretches are not copied. */
int track_runner_open(track_runner *r, const bench_peer *peer, const peer_skeleton *skeleton, const track_take *take,
                      const track_stretch *stretches, int count, double tolerance);
void track_runner_close(track_runner *r);

/*
 * One round. A peer starts each stretch from `starts` (frames x nv) of the frame before, then as ulna does: from the
 * prediction 2 q1 - q2, unless f there is above 1.2 times the last frame's and above that of q1; or, if it takes no
 * starts, from its own last answer.
 */
void track_run(track_runner *r, const track_contest *c, const peer_skeleton *skeleton, const track_take *take,
               const double *starts);

/* Opens the peer with the loosest tolerance of 3e-2, 1e-2, 3e-3, ... that ends within the margin of ulna's sum over
 * its frames, or with its own, and leaves that first round in it. 0 if none does. */
int track_runner_fit(track_runner *r, const track_contest *c, const bench_peer *peer, const peer_skeleton *skeleton,
                     const track_take *take, const track_stretch *stretches, int count, const track_runner *ulna);

/* Means over the frames of `stretches`, of the quickest round. */
double track_mean_us(const track_runner *r, const track_stretch *stretches, int count);
double track_mean_sum(const track_runner *r, const track_stretch *stretches, int count); /* m */

/* The default but for one thing: soft limits of joints, which no peer has. So all minimise the same. */
ulna_track_options track_options_of_contest(void);

/* ulna_tracker on the whole take, `times` times over, with no clock between frames: the quickest. With reports or
 * without; the counts need them. */
typedef struct track_whole {
    double us;                    /* a frame, the first not counted */
    double start_us;              /* of the first: a search from rest, which the others are spared */
    long iterations, evaluations; /* of all but the first */
    int lost, recovered;          /* frames */
    double sum;                   /* m: of the markers' distances, mean of all but the first */
} track_whole;

int track_ulna(const track_take *take, const ulna_track_options *options, int times, int with_reports,
               track_whole *whole);

/* Over all frames but the first, default options, with a report, of each the quickest of `times` runs. */
typedef struct track_spread {
    double mean, median, p99, most; /* microseconds a frame */
} track_spread;

int track_ulna_spread(const track_take *take, int times, track_spread *spread);

#endif
