/* Rounds of bench_track: see the header. */
#include "support.h"
#include "track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "mocap/tracker.h"
#include "objective/problem.h"

enum { ITERATIONS = 50 }; /* of a peer, a frame */

/* ---- runners ----------------------------------------------------------------------------------------------------- */

int track_runner_open(track_runner *r, const bench_peer *peer, const peer_skeleton *skeleton, const track_take *take,
                      const track_stretch *stretches, int count, double tolerance)
{
    size_t frames = (size_t)take->frames;
    *r = (track_runner){.name = peer ? peer->name : "ulna",
                        .text = peer ? peer->text : "ulna_tracker_frame",
                        .peer = peer,
                        .tolerance = tolerance,
                        .stretches = stretches,
                        .stretch_count = count,
                        .frames = take->frames,
                        .sum = calloc(frames, sizeof *r->sum),
                        .q = calloc(frames * (size_t)skeleton->nv, sizeof *r->q)};
    int good = r->sum && r->q;
    for (int i = 0; i < TRACK_ROUNDS; i++) {
        r->us[i] = calloc(frames, sizeof **r->us);
        good = good && r->us[i];
        for (size_t f = 0; good && f < frames; f++)
            r->us[i][f] = (double)NAN;
    }
    if (good && peer)
        good = (r->self = peer->open(peer, skeleton, &(peer_stop){.tolerance = tolerance, .iterations = ITERATIONS})) !=
               NULL;
    if (!good)
        track_runner_close(r);
    return good;
}

void track_runner_close(track_runner *r)
{
    if (r->peer && r->self)
        r->peer->close(r->self);
    for (int i = 0; i < TRACK_ROUNDS; i++)
        free(r->us[i]);
    free(r->sum);
    free(r->q);
    *r = (track_runner){0};
}

/* What reading the clock twice costs: a microsecond or more where it is a call into the system. */
static double clock_cost(void)
{
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        double start = bench_now();
        least = fmin(least, bench_now() - start);
    }
    return least;
}

static double errors_at(const peer_skeleton *s, const double *goals, const double *q, double *sum)
{
    peer_forward(s, q);
    return peer_errors(s, goals, sum);
}

int track_contest_open(track_contest *c, const track_take *take, peer_skeleton *skeleton)
{
    ulna_track_options options = track_options_of_contest();
    size_t nv = (size_t)skeleton->nv;
    *c = (track_contest){.prior_weight = calloc(nv, sizeof(double)), .prior_goal = calloc(nv, sizeof(double))};
    int good = c->prior_weight && c->prior_goal &&
               ulna_tracker_create(take->model, &take->set, &options, NULL, &c->guide, NULL) == ULNA_OK;
    if (good) {
        skeleton->loss_scale = c->guide->options.loss_scale;
        skeleton->prior_weight = c->prior_weight;
        skeleton->prior_goal = c->prior_goal;
        skeleton->residuals = 3 * skeleton->markers + skeleton->nv;
    } else
        track_contest_close(c);
    return good;
}

void track_contest_close(track_contest *c)
{
    ulna_tracker_destroy(c->guide);
    free(c->prior_weight);
    free(c->prior_goal);
    *c = (track_contest){0};
}

/* What ulna expects of a frame after q1 and q2, which may be NULL. */
static void expect(const track_contest *c, int nv, const double *q1, const double *q2)
{
    ulna_tracker *t = c->guide;
    t->history = q2 ? 2 : 1;
    for (int i = 0; i < nv; i++) {
        t->q1[i] = q1[i];
        t->velocity[i] = q2 ? q1[i] - q2[i] : 0;
    }
    ulna_tracker_expect_course(t);
    for (int i = 0; i < nv; i++) {
        c->prior_weight[i] = t->prior_weight[i] * t->problem->term[t->prior_term].weight * t->problem->unit[i];
        c->prior_goal[i] = t->prior_goal[i];
    }
}

/* The start of a frame, into q. Part of the peer's time, as it is part of ulna's. */
static void predict(const peer_skeleton *s, const double *goals, const double *q1, const double *q2, double last_f,
                    double *q)
{
    for (int i = 0; i < s->nv; i++)
        q[i] = q2 ? 2 * q1[i] - q2[i] : q1[i];
    if (!q2)
        return;
    double f = errors_at(s, goals, q, NULL);
    if (f > 1.2 * last_f && errors_at(s, goals, q1, NULL) < f)
        memcpy(q, q1, (size_t)s->nv * sizeof *q);
}

static void run_stretch(track_runner *r, const track_contest *c, const peer_skeleton *s, const track_take *take,
                        const double *starts, const track_stretch *at, double clock)
{
    const double *q1 = starts + (ptrdiff_t)(at->first ? at->first - 1 : 0) * s->nv, *q2 = NULL;
    double last_f = 0;
    if (r->peer->begin)
        r->peer->begin(r->self, q1);
    for (int f = at->first; f < at->last; f++) {
        const double *goals = track_take_goals(take, f);
        double *q = r->q + (ptrdiff_t)f * s->nv, start = bench_now();
        peer_result result = {0};
        expect(c, s->nv, q1, q2);
        if (r->peer->predicts)
            predict(s, goals, q1, q2, last_f, q);
        else
            memcpy(q, q1, (size_t)s->nv * sizeof *q);
        r->failed += !r->peer->solve(r->self, goals, q, &result);
        r->us[r->rounds][f] = (bench_now() - start - clock) * 1e6;
        last_f = errors_at(s, goals, q, &r->sum[f]);
        r->iterations += result.iterations;
        r->evaluations += result.evaluations;
        r->solved++;
        q2 = f > at->first ? q1 : NULL;
        q1 = q;
    }
}

ulna_track_options track_options_of_contest(void)
{
    ulna_track_options options = ulna_track_options_default();
    options.limits = 0;
    return options;
}

static void run_ulna(track_runner *r, const peer_skeleton *s, const track_take *take, double clock)
{
    ulna_track_options options = track_options_of_contest();
    ulna_tracker *tracker = NULL;
    if (ulna_tracker_create(take->model, &take->set, &options, NULL, &tracker, NULL) != ULNA_OK)
        exit(1);
    for (int f = 0; f < take->frames; f++) {
        const double *goals = track_take_goals(take, f);
        double *q = r->q + (ptrdiff_t)f * s->nv, start = bench_now();
        ulna_frame_report report;
        r->failed += ulna_tracker_frame(tracker, goals, q, &report) != ULNA_OK;
        r->us[r->rounds][f] = (bench_now() - start - clock) * 1e6;
        errors_at(s, goals, q, &r->sum[f]);
        r->iterations += report.iterations;
        r->evaluations += report.evaluations;
        r->solved++;
    }
    ulna_tracker_destroy(tracker);
}

void track_run(track_runner *r, const track_contest *c, const peer_skeleton *skeleton, const track_take *take,
               const double *starts)
{
    double clock = clock_cost();
    if (r->rounds == TRACK_ROUNDS)
        return;
    if (!r->peer)
        run_ulna(r, skeleton, take, clock);
    for (int i = 0; r->peer && i < r->stretch_count; i++)
        run_stretch(r, c, skeleton, take, starts, &r->stretches[i], clock);
    r->rounds++;
}

int track_runner_fit(track_runner *r, const track_contest *c, const bench_peer *peer, const peer_skeleton *skeleton,
                     const track_take *take, const track_stretch *stretches, int count, const track_runner *ulna)
{
    double enough = track_mean_sum(ulna, stretches, count) + TRACK_MARGIN;
    for (int half = 3; half < 20; half++) { /* 3e-2, 1e-2, 3e-3, ... */
        int tenths = (half + 1) / 2;
        double tolerance = peer->tolerance > 0 ? peer->tolerance : (half % 2 ? 3 : 1) * pow(10, -tenths);
        if (!track_runner_open(r, peer, skeleton, take, stretches, count, tolerance))
            return 0;
        track_run(r, c, skeleton, take, ulna->q);
        if (peer->tolerance > 0 || (!r->failed && track_mean_sum(r, stretches, count) <= enough))
            return 1;
        track_runner_close(r);
    }
    return 0;
}

/* ---- sums -------------------------------------------------------------------------------------------------------- */

static double mean(const double *values, const track_stretch *stretches, int count)
{
    double sum = 0;
    int frames = 0;
    for (int i = 0; i < count; i++)
        for (int f = stretches[i].first; f < stretches[i].last; f++, frames++)
            sum += values[f];
    return sum / frames;
}

double track_mean_us(const track_runner *r, const track_stretch *stretches, int count)
{
    double least = (double)INFINITY;
    for (int i = 0; i < r->rounds; i++)
        least = fmin(least, mean(r->us[i], stretches, count));
    return least;
}

double track_mean_sum(const track_runner *r, const track_stretch *stretches, int count)
{
    return mean(r->sum, stretches, count);
}

/* ---- the whole take at a stretch --------------------------------------------------------------------------------- */

static void count(track_whole *whole, const ulna_frame_report *report)
{
    whole->iterations += report->iterations;
    whole->evaluations += report->evaluations;
    whole->sum += report->sum;
    whole->lost += (report->flags & ULNA_TRACK_LOST) != 0;
    whole->recovered += (report->flags & ULNA_TRACK_RECOVERED) != 0;
}

static int run_whole(ulna_tracker *tracker, const track_take *take, int with_reports, double *q, track_whole *now)
{
    int good = 1;
    double start = bench_now();
    ulna_tracker_reset(tracker, NULL);
    *now = (track_whole){0};
    for (int f = 0; f < take->frames && good; f++) {
        ulna_frame_report report;
        good = ulna_tracker_frame(tracker, track_take_goals(take, f), q, with_reports ? &report : NULL) == ULNA_OK;
        if (f == 0) {
            now->start_us = (bench_now() - start) * 1e6;
            start = bench_now();
        } else if (with_reports)
            count(now, &report);
    }
    now->us = (bench_now() - start) * 1e6 / (take->frames - 1);
    now->sum /= take->frames - 1;
    return good;
}

int track_ulna(const track_take *take, const ulna_track_options *options, int times, int with_reports,
               track_whole *whole)
{
    ulna_tracker *tracker = NULL;
    int good = ulna_tracker_create(take->model, &take->set, options, NULL, &tracker, NULL) == ULNA_OK;
    double *q = calloc((size_t)ulna_model_coordinate_count(take->model), sizeof *q);
    for (int i = 0; i < times && good && q; i++) {
        track_whole now;
        good = run_whole(tracker, take, with_reports, q, &now);
        if (i == 0 || now.us < whole->us)
            *whole = now;
    }
    free(q);
    ulna_tracker_destroy(tracker);
    return good && q;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Each frame's time into `least`, if it is less than before. */
static int time_frames(ulna_tracker *tracker, const track_take *take, double *q, double *least)
{
    double clock = clock_cost();
    int good = 1;
    ulna_tracker_reset(tracker, NULL);
    for (int f = 0; f < take->frames && good; f++) {
        ulna_frame_report report;
        double start = bench_now();
        good = ulna_tracker_frame(tracker, track_take_goals(take, f), q, &report) == ULNA_OK;
        least[f] = fmin(least[f], (bench_now() - start - clock) * 1e6);
    }
    return good;
}

int track_ulna_spread(const track_take *take, int times, track_spread *spread)
{
    int count = take->frames - 1;
    ulna_tracker *tracker = NULL;
    double *q = calloc((size_t)ulna_model_coordinate_count(take->model), sizeof *q), sum = 0;
    double *least = calloc((size_t)take->frames, sizeof *least);
    int good =
        q && least && count > 0 && ulna_tracker_create(take->model, &take->set, NULL, NULL, &tracker, NULL) == ULNA_OK;
    for (int f = 0; f < take->frames && good; f++)
        least[f] = (double)INFINITY;
    for (int i = 0; i < times && good; i++)
        good = time_frames(tracker, take, q, least);
    if (good) {
        qsort(least + 1, (size_t)count, sizeof *least, by_value);
        for (int f = 1; f <= count; f++)
            sum += least[f];
        *spread = (track_spread){sum / count, least[1 + count / 2], least[1 + (int)(0.99 * count)], least[count]};
    }
    free(least);
    free(q);
    ulna_tracker_destroy(tracker);
    return good;
}
