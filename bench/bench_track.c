/*
 * bench_track: a recording of a whole body followed frame by frame: HDM_dg_03-05_02, 3,866 frames, 41 markers at
 * calibrated offsets, 58 degrees of freedom; or the first take that is there, such as the built-in one. ulna_tracker, Ceres and Simbody's Assembler on the same skeleton, with
 * the same offsets, from the same starts, one thread, CPU time, alternating; and a prototype outside of this repository, if
 * it is present (tools/build-yardstick).
 *
 * ulna and Ceres minimise the same: Geman-McClure's loss and ulna's priors, which come from each contender's own last frames;
 * soft limits of joints are switched off in ulna (`ulna_default_...` are with them). Simbody knows squares of distances alone. The
 * first frame is ulna's alone: it searches from rest; the others are given a pose there. Equal accuracy: each peer stops by the
 * loosest tolerance that brings its sum of marker distances, mean over the frames, to within 0.05 cm of ulna's, or lower;
 * `..._default` and Simbody have a fixed one. Simbody takes some 10 ms a frame: it runs on four stretches of 100 frames,
 * evenly cut, and the ratio is to ulna's time and sum on those frames.
 */
#include "support.h"
#include "track.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The take of the prototype, and of docs/performance.md. */
#define USUAL "dg0305"

enum { ROUNDS = 5, TIMES = 5, STRETCHES = 4, STRETCH_FRAMES = 100, MOST_PEERS = 8, POSES = 20 };

/* A prototype of the tracker on the same take, with its offsets; and ulna with these. */
typedef struct track_yardstick {
    char folder[1024];  /* its programs; "" if it is not there */
    double us, bare_us; /* microseconds a frame, the best: with a report, without */
    track_take take;
    track_whole ulna;
} track_yardstick;

typedef struct scene {
    const bench_take *from;
    track_take take;
    peer_skeleton skeleton;
    track_contest contest;
    track_stretch whole, cut[STRETCHES];
    track_runner ulna, peer[MOST_PEERS];
    int peers;
    track_whole with_reports, bare, as_default;
    track_yardstick yardstick;
    double filled;     /* percent of the positions: see track_take_fill */
    double kinematics; /* m: largest difference of a peer's own kinematics from ulna's */
} scene;

static void stop_if(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "bench_track: %s failed\n", what);
        exit(1);
    }
}

/* ---- one skeleton for all ---------------------------------------------------------------------------------------- */

static void random_pose(int nv, unsigned *state, double *q)
{
    for (int i = 0; i < nv; i++) {
        *state = *state * 1664525u + 1013904223u;
        q[i] = 4.0 * (*state >> 8) / (1 << 24) - 2;
    }
}

/* Largest distance of a marker's coordinate from where ulna has it, at random poses. */
static double compare_kinematics(const scene *s, const bench_peer *peer, void *self)
{
    const peer_skeleton *k = &s->skeleton;
    double *q = calloc((size_t)k->nv, sizeof *q), *places = calloc((size_t)k->markers, 3 * sizeof *places), worst = 0;
    unsigned state = 1;
    ulna_pose *pose = NULL;
    stop_if(!q || !places || ulna_pose_create(s->take.model, NULL, &pose, NULL) != ULNA_OK, "memory");
    for (int n = 0; n < POSES; n++) {
        random_pose(k->nv, &state, q);
        stop_if(ulna_pose_forward(pose, q) != ULNA_OK, "forward kinematics");
        if (peer)
            peer->places(self, q, places);
        else
            peer_forward(k, q);
        for (int m = 0; m < k->markers; m++) {
            double truth[3];
            if (!peer)
                peer_marker(k, m, places + 3 * m);
            ulna_pose_point(pose, s->take.set.items[m].body, s->take.set.items[m].offset, truth);
            for (int c = 0; c < 3; c++)
                worst = fmax(worst, fabs(places[3 * m + c] - truth[c]));
        }
    }
    ulna_pose_destroy(pose);
    free(q);
    free(places);
    return worst;
}

/* ---- the prototype ------------------------------------------------------------------------------------------------ */

static void yardstick_find(track_yardstick *y, const bench_take *from)
{
    char offsets[1100];
    int is_there = strcmp(from->name, USUAL) == 0 && bench_yardstick_find("timing", y->folder, sizeof y->folder);
    snprintf(offsets, sizeof offsets, "%s/cal/" USUAL ".csv", y->folder);
    if (!is_there || !track_take_load(&y->take, from, offsets))
        y->folder[0] = 0;
}

/* Runs it; keeps the lowest times. Lines such as "dg0305   lean, recipe, 3e-2, report   min 3.63 median 3.70 us". */
static void yardstick_run(track_yardstick *y)
{
    char command[1200], line[1024];
    snprintf(command, sizeof command, "cd '%s' && ./timing " USUAL " 2>/dev/null", y->folder);
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        const char *at = strstr(line, " min ");
        double *to = strstr(line, "lean, recipe, 3e-2, report ") ? &y->us
                     : strstr(line, "lean, recipe, 3e-2  ")      ? &y->bare_us
                                                                 : NULL;
        double us;
        if (to && at && sscanf(at, " min %lf", &us) == 1)
            *to = *to > 0 ? fmin(*to, us) : us;
    }
    if (pipe)
        pclose(pipe);
}

/* ---- rounds ------------------------------------------------------------------------------------------------------ */

#ifdef ULNA_BENCH_CERES
#define CERES_PEERS track_peers_ceres()
#define TINY_PEERS track_peers_tiny()
#else
#define CERES_PEERS NULL
#define TINY_PEERS NULL
#endif
#ifdef ULNA_BENCH_SIMBODY
#define SIMBODY_PEERS track_peers_simbody()
#else
#define SIMBODY_PEERS NULL
#endif

/* peers: NULL if the build did not find them. */
static void add_peers(scene *s, const char *library, const bench_peer *peers, const track_stretch *stretches, int count)
{
    if (!peers)
        printf("(%s is not here: tools/bootstrap bench installs it)\n", library);
    for (const bench_peer *p = peers; p && p->name && s->peers < MOST_PEERS; p++) {
        track_runner *r = &s->peer[s->peers];
        if (!track_runner_fit(r, &s->contest, p, &s->skeleton, &s->take, stretches, count, &s->ulna)) {
            printf("(%s: no tolerance comes to the same sum)\n", p->name);
            continue;
        }
        if (p->places) {
            s->kinematics = fmax(s->kinematics, compare_kinematics(s, p, r->self));
            stop_if(!(s->kinematics < 1e-9), "agreement of a peer's kinematics with ulna's");
        }
        s->peers++;
    }
}

static void run_ulna(const track_take *take, const ulna_track_options *options, int with_reports, track_whole *best)
{
    track_whole now;
    stop_if(!track_ulna(take, options, TIMES, with_reports, &now), "tracking");
    if (best->us == 0 || now.us < best->us)
        *best = now;
}

/* The peers take part in every other round: they need a thousand times as long. */
static void play(scene *s)
{
    const ulna_track_options options = track_options_of_contest();
    track_yardstick *y = &s->yardstick;
    yardstick_find(y, s->from);
    for (int round = 0; round < ROUNDS; round++) {
        run_ulna(&s->take, &options, 1, &s->with_reports);
        run_ulna(&s->take, &options, 0, &s->bare);
        run_ulna(&s->take, NULL, 1, &s->as_default);
        if (*y->folder) {
            run_ulna(&y->take, NULL, 1, &y->ulna);
            yardstick_run(y);
        }
        track_run(&s->ulna, &s->contest, &s->skeleton, &s->take, NULL);
        for (int i = 0; round % 2 == 0 && i < s->peers; i++)
            track_run(&s->peer[i], &s->contest, &s->skeleton, &s->take, s->ulna.q);
    }
}

/* ---- the report -------------------------------------------------------------------------------------------------- */

static void add(bench_report *report, const char *who, const char *what, double value, const char *note)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", who, what);
    bench_add(report, name, value, note);
}

static void report_ulna(const scene *s, bench_report *report)
{
    const track_whole *w = &s->with_reports;
    double frames = s->take.frames - 1;
    bench_add(report, "ulna_us", w->us, "a frame with its report: mean of all but the first, quickest of all runs");
    bench_add(report, "ulna_bare_us", s->bare.us, "the same without a report");
    bench_add(report, "ulna_start_us", w->start_us, "the first frame: a search from rest, spared the others");
    bench_add(report, "ulna_sum_cm", 100 * track_mean_sum(&s->ulna, &s->whole, 1), "distances of all markers, mean");
    bench_add(report, "ulna_iterations", (double)w->iterations / frames, "mean");
    bench_add(report, "ulna_evaluations", (double)w->evaluations / frames, "mean");
    bench_add(report, "ulna_lost", w->lost, "frames");
    bench_add(report, "ulna_recovered", w->recovered, "frames");
    bench_add(report, "ulna_default_us", s->as_default.us, "with soft limits of joints, as the default has them");
    bench_add(report, "ulna_default_sum_cm", 100 * s->as_default.sum, "they cost some accuracy");
    bench_add(report, "ulna_default_lost", s->as_default.lost, "frames");
}

/* Over the runner's own frames; ulna's time as measured in the same way as `ulna_us` where these are all. */
static void report_peer(const scene *s, const track_runner *r, bench_report *report)
{
    char note[96];
    double us = track_mean_us(r, r->stretches, r->stretch_count), solved = (double)r->solved;
    double ours =
        r->stretches == &s->whole ? s->with_reports.us : track_mean_us(&s->ulna, r->stretches, r->stretch_count);
    snprintf(note, sizeof note, "%s; tolerance %g", r->text, r->tolerance);
    add(report, r->name, "us", us, note);
    add(report, r->name, "sum_cm", 100 * track_mean_sum(r, r->stretches, r->stretch_count), "mean");
    if (r->iterations)
        add(report, r->name, "iterations", (double)r->iterations / solved, "mean");
    else
        add(report, r->name, "evaluations", (double)r->evaluations / solved, "mean; it does not tell iterations");
    add(report, r->name, "over_ulna", us / ours,
        r->peer->predicts ? "both from the prediction" : "it starts from its last answer");
}

static const track_runner *best_ceres(const scene *s)
{
    const track_runner *best = NULL;
    for (int i = 0; i < s->peers; i++) {
        const track_runner *r = &s->peer[i];
        if (r->stretches == &s->whole && (!best || track_mean_us(r, &s->whole, 1) < track_mean_us(best, &s->whole, 1)))
            best = r;
    }
    return best;
}

/* Of each take that is there: the mean, and how far single frames are from it. */
static void report_spreads(bench_report *report)
{
    int count;
    const bench_take *from = bench_takes(&count);
    for (int i = 0; i < count; i++) {
        track_take take;
        track_spread spread;
        if (!track_take_load(&take, &from[i], NULL))
            continue;
        stop_if(!track_ulna_spread(&take, TIMES, &spread), "tracking");
        add(report, from[i].name, "us", spread.mean,
            "default options, with report, clock between frames; all but the first");
        add(report, from[i].name, "median_us", spread.median, "of each frame the quickest run");
        add(report, from[i].name, "p99_us", spread.p99, "one frame in a hundred takes longer");
        add(report, from[i].name, "max_us", spread.most, "the slowest frame");
        track_take_free(&take);
    }
}

static void report_yardstick(const track_yardstick *y, bench_report *report)
{
    if (!(y->us > 0))
        return;
    bench_add(report, "yardstick_us", y->us, "prototype with report; quickest of all runs");
    bench_add(report, "yardstick_bare_us", y->bare_us, "without");
    bench_add(report, "ulna_us_beside_yardstick", y->ulna.us,
              "default options, with report, with the prototype's offsets");
    bench_add(report, "ulna_over_yardstick", y->ulna.us / y->us, "aim: 1.15 at most");
}

static void report_all(const scene *s, bench_report *report)
{
    const track_runner *best = best_ceres(s);
    int cut_is_used = 0;
    report_ulna(s, report);
    for (int i = 0; i < s->peers; i++) {
        report_peer(s, &s->peer[i], report);
        cut_is_used |= s->peer[i].stretches == s->cut;
    }
    if (best)
        bench_add(report, "ceres_best_over_ulna", track_mean_us(best, &s->whole, 1) / s->with_reports.us, best->name);
    if (cut_is_used) {
        bench_add(report, "simbody_frames", STRETCHES * STRETCH_FRAMES, "4 stretches of 100, evenly cut");
        bench_add(report, "ulna_us_there", track_mean_us(&s->ulna, s->cut, STRETCHES), "ulna on these frames");
        bench_add(report, "ulna_sum_cm_there", 100 * track_mean_sum(&s->ulna, s->cut, STRETCHES),
                  "ulna on these frames");
    }
    bench_add(report, "kinematics_m", s->kinematics, "largest difference of peers' kinematics from ulna's");
    if (s->filled > 0)
        bench_add(report, "filled_percent", s->filled, "positions that were missing; filled above, missing below");
    report_yardstick(&s->yardstick, report);
    report_spreads(report);
}

static int write_json(const char *path, const bench_report *report, const scene *s)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file,
            "{\n  \"data\": \"%s\",\n  \"take\": \"%s\",\n  \"dof\": %d,\n  \"markers\": %d,\n  \"frames\": %d,\n",
            bench_data_text(), s->from->name, s->skeleton.nv, s->skeleton.markers, s->take.frames);
    for (int i = 0; i < report->count; i++)
        bench_put_number(file, report->row[i].name, report->row[i].value, ",\n");
    fprintf(file, "  \"notes\": {\n    \"frames\": \"Ceres on all; Simbody on %d stretches of %d frames, from",
            STRETCHES, STRETCH_FRAMES);
    for (int i = 0; i < STRETCHES; i++)
        fprintf(file, "%s %d", i ? "," : "", s->cut[i].first);
    fprintf(file, " on, against ulna on the same frames\"");
    for (int i = 0; i < report->count; i++)
        fprintf(file, ",\n    \"%s\": \"%s\"", report->row[i].name, report->row[i].note);
    fprintf(file, "\n  }\n}\n");
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    const char *json = bench_json_path(argc, argv);
    static scene s;
    static bench_report report;
    if (!getenv("OPENBLAS_NUM_THREADS")) { /* read when the library is loaded: so start again */
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        execv(argv[0], argv);
    }
    int takes;
    s.from = bench_takes(&takes);
    printf("bench_track: %s\n", bench_data_text());
    stop_if(!track_take_load(&s.take, s.from, NULL), "reading the take");
    s.filled = track_take_fill(&s.take);
    stop_if(s.filled < 0, "filling gaps");
    stop_if(!peer_skeleton_open(s.take.model, &s.take.set, &s.skeleton), "the skeleton as peers see it");
    s.whole = (track_stretch){1, s.take.frames}; /* from ulna's first answer */
    for (int i = 0; i < STRETCHES; i++) {
        int middle = (2 * i + 1) * s.take.frames / (2 * STRETCHES);
        s.cut[i] = (track_stretch){middle - STRETCH_FRAMES / 2, middle + STRETCH_FRAMES / 2};
    }
    s.kinematics = compare_kinematics(&s, NULL, NULL);
    stop_if(!(s.kinematics < 1e-9), "agreement of the peers' skeleton with ulna's");
    stop_if(!track_contest_open(&s.contest, &s.take, &s.skeleton), "the peers' objective");
    stop_if(!track_runner_open(&s.ulna, NULL, &s.skeleton, &s.take, &s.whole, 1, 0), "memory");
    track_run(&s.ulna, &s.contest, &s.skeleton, &s.take, NULL);
    add_peers(&s, "Ceres", CERES_PEERS, &s.whole, 1);
    add_peers(&s, "TinySolver of Ceres", TINY_PEERS, &s.whole, 1);
    add_peers(&s, "Simbody", SIMBODY_PEERS, s.cut, STRETCHES);
    play(&s);
    report_all(&s, &report);
    char title[100];
    snprintf(title, sizeof title, "Tracking %.40s, one thread, microseconds a frame", s.from->name);
    int failed = bench_finish(&report, title, NULL);
    failed = (json && write_json(json, &report, &s)) || failed;
    for (int i = 0; i < s.peers; i++)
        track_runner_close(&s.peer[i]);
    track_runner_close(&s.ulna);
    peer_skeleton_close(&s.skeleton);
    track_contest_close(&s.contest);
    track_take_free(&s.yardstick.take);
    track_take_free(&s.take);
    return failed;
}
