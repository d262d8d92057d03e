/*
 * bench_constraints: what constraints cost, and other people's solvers on the same problems.
 *
 *   rows        a warm frame of 41 markers at 120 Hz with 0, 1, 4 and 16 rows: instructions (callgrind), microseconds, iterations,
 *               in the settings of tracking; and iterations to the KKT conditions
 *   cold        random starts with planted feet: how many of 200 find the right pose; the problems of the peers from starts near rest
 *   peers       IPOPT and SLSQP on three problems, from the same starts, on the same functions; Simbody's Assembler with welded feet
 *   priorities  seven cases of levels that can and cannot be met, and random ones: iterations, microseconds, errors
 *
 * Times are CPU times, best of several rounds in turns; absolute ones drift with the machine, ratios within a run do less.
 */
#include "constraints.h"
#include "peers.h"
#include "support.h"

#include "base/algorithms.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 1200, ROUNDS = 7, SETS = 4, COUNTED_FEW = 20, COUNTED_MANY = 120 };

static const int sets[SETS] = {0, 1, 4, 16};

static void add(bench_report *report, const char *note, double value, const char *format, const char *name)
{
    char full[64];
    snprintf(full, sizeof full, format, name);
    bench_add(report, full, value, note);
}

static void add_number(bench_report *report, const char *note, double value, const char *format, int number)
{
    char text[16];
    snprintf(text, sizeof text, "%d", number);
    add(report, note, value, format, text);
}

/* ---- warm frames ------------------------------------------------------------------------------------------------- */

static ulna_options tracking(const ulna_scene *scene)
{
    ulna_options options = ulna_options_default();
    options.decrease = 1e-4;
    options.violation = 1e-6 / ulna_model_length_scale(scene->model);
    options.hybrid.keep_damping = 1;
    options.hybrid.exact = 0;
    options.hybrid.verify = 0;
    options.hybrid.trust_last = 1;
    return options;
}

static ulna_options exact(void)
{
    ulna_options options = ulna_options_default();
    options.hybrid.keep_damping = 1;
    return options;
}

typedef struct track {
    ulna_scene scene;
    ulna_solver *solver;
    double *q, *before;
    double iterations, seconds, worst; /* of all frames but the first; largest violation, m */
    int failed;
} track;

static track open_track(ulna_scene scene)
{
    const ulna_options options = exact();
    track t = {.scene = scene, .solver = ulna_scene_solver(&scene, &options)};
    t.q = calloc((size_t)scene.nq, sizeof *t.q);
    t.before = calloc((size_t)scene.nq, sizeof *t.before);
    ulna_scene_expect(t.q && t.before ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    return t;
}

static void close_track(track *t)
{
    ulna_solver_destroy(t->solver);
    free(t->q);
    free(t->before);
    ulna_scene_release(&t->scene);
}

/* Each frame from where the last two point to. */
static void run_track(track *t, const ulna_options *options, int frames)
{
    size_t size = (size_t)t->scene.nq * sizeof *t->q;
    ulna_result result;
    ulna_scene_expect(ulna_solver_set_options(t->solver, options, NULL), "options");
    memcpy(t->q, t->scene.start, size);
    ulna_scene_set_frame(&t->scene, 0);
    ulna_scene_expect(ulna_solve(t->solver, t->q, &result), "solve");
    memcpy(t->before, t->q, size);
    t->iterations = t->seconds = t->worst = 0;
    t->failed = 0;
    for (int frame = 1; frame < frames; frame++) {
        ulna_scene_set_frame(&t->scene, frame);
        for (int k = 0; k < t->scene.nq; k++) {
            double now = t->q[k];
            t->q[k] = 2 * now - t->before[k];
            t->before[k] = now;
        }
        double start = bench_now();
        ulna_scene_expect(ulna_solve(t->solver, t->q, &result), "solve");
        t->seconds += bench_now() - start;
        t->iterations += result.iterations;
        t->worst = fmax(t->worst, result.constraint_violation);
        t->failed += !result.converged;
    }
}

/* Instructions of this program with so many frames, or a negative number. */
static double count(const char *self, int rows, int frames)
{
    char arguments[128];
    snprintf(arguments, sizeof arguments, "--run %d %d", rows, frames);
    return bench_count_instructions(self, arguments);
}

static void run_frames(int rows, int frames)
{
    track t = open_track(ulna_scene_track(rows, COUNTED_MANY)); /* the same whatever the number */
    const ulna_options options = tracking(&t.scene);
    run_track(&t, &options, frames);
    close_track(&t);
}

static void count_rows(bench_report *report, const char *self)
{
    double none = 0;
    for (int k = 0; k < SETS; k++) {
        double few = count(self, sets[k], COUNTED_FEW), many = count(self, sets[k], COUNTED_MANY);
        double each = (many - few) / (COUNTED_MANY - COUNTED_FEW);
        if (few <= 0 || many <= few)
            return;
        add_number(report, "instructions of a warm frame", each, "instructions_%s_rows", sets[k]);
        none = k ? none : each;
        if (k)
            add_number(report, "over none", each / none, "instructions_%s_over_0", sets[k]);
    }
}

static void time_rows(bench_report *report)
{
    track t[SETS];
    double best[SETS], iterations[SETS];
    for (int k = 0; k < SETS; k++) {
        t[k] = open_track(ulna_scene_track(sets[k], FRAMES));
        best[k] = INFINITY;
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int k = 0; k < SETS; k++) {
            const ulna_options options = tracking(&t[k].scene);
            run_track(&t[k], &options, FRAMES);
            best[k] = fmin(best[k], t[k].seconds * 1e6 / (FRAMES - 1));
            iterations[k] = t[k].iterations / (FRAMES - 1);
        }
    for (int k = 0; k < SETS; k++) {
        add_number(report, "us, a warm frame", best[k], "us_%s_rows", sets[k]);
        add_number(report, "iterations a frame", iterations[k], "iterations_%s_rows", sets[k]);
        if (k)
            add_number(report, "us over none", best[k] / best[0], "us_%s_over_0", sets[k]);
        add_number(report, "m, largest", t[k].worst, "violation_%s_rows", sets[k]);
        add_number(report, "of 1,199 frames", t[k].failed, "failed_%s_rows", sets[k]);
    }
    const ulna_options options = exact();
    for (int k = 0; k < SETS; k += SETS - 1) {
        run_track(&t[k], &options, FRAMES);
        add_number(report, "iterations a frame, to the KKT conditions", t[k].iterations / (FRAMES - 1),
                   "iterations_exact_%s_rows", sets[k]);
        add_number(report, "of 1,199 frames", t[k].failed, "failed_exact_%s_rows", sets[k]);
    }
    for (int k = 0; k < SETS; k++)
        close_track(&t[k]);
}

/* ---- cold starts ------------------------------------------------------------------------------------------------- */

static void cold_starts(bench_report *report)
{
    for (int k = 0; k < 2; k++) {
        track t = open_track(ulna_scene_track(k ? 12 : 0, 1));
        const ulna_options options = ulna_options_default();
        int found = 0, iterations = 0;
        ulna_scene_expect(ulna_solver_set_options(t.solver, &options, NULL), "options");
        for (int seed = 0; seed < 200; seed++) {
            ulna_result result;
            ulna_scene_set_cold(&t.scene, seed);
            memcpy(t.q, t.scene.start, (size_t)t.scene.nq * sizeof *t.q);
            ulna_scene_expect(ulna_solve(t.solver, t.q, &result), "solve");
            found += result.converged && result.f < ULNA_SCENE_COLD_F;
            iterations += result.iterations;
        }
        add(report, "of 200 random starts", found, "cold_solved_%s", k ? "feet" : "free");
        add(report, "", iterations / 200.0, "cold_iterations_%s", k ? "feet" : "free");
        close_track(&t);
    }
}

/* A start decides how many iterations a problem takes: here the mean over 100, moved from rest by 0.15 rad (standard deviation). */
static void moved_starts(bench_report *report, const char *name, ulna_scene scene)
{
    const ulna_options options = ulna_options_default();
    ulna_solver *solver = ulna_scene_solver(&scene, &options);
    double *q = calloc((size_t)scene.nq, sizeof *q);
    uint64_t random = 1;
    int found = 0, iterations = 0;
    ulna_scene_expect(q ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    for (int i = 0; i < 100; i++) {
        ulna_result result;
        for (int k = 0; k < scene.nq; k++)
            q[k] = scene.start[k] + (k < 6 ? 0 : 0.15 * ulna_random_normal(&random));
        ulna_scene_expect(ulna_solve(solver, q, &result), "solve");
        found += result.converged;
        iterations += result.iterations;
    }
    add(report, "mean over 100 starts near rest", iterations / 100.0, "moved_iterations_%s", name);
    add(report, "of 100 starts near rest", found, "moved_solved_%s", name);
    free(q);
    ulna_solver_destroy(solver);
    ulna_scene_release(&scene);
}

/* ---- peers on the same functions --------------------------------------------------------------------------------- */

typedef struct contest {
    const char *name, *note;
    ulna_scene scene;
    double *start;
    int is_warm;
} contest;

/* Ours, from the start, best of several. A warm start has the multipliers of the frame before. */
static peer_answer solve_ours(contest *c, double *q)
{
    track t = {0};
    ulna_options options = exact();
    peer_answer answer = {.seconds = INFINITY};
    ulna_result result = {0};
    size_t size = (size_t)c->scene.nq * sizeof *q;
    options.hybrid.keep_damping = c->is_warm;
    t.solver = ulna_scene_solver(&c->scene, &options);
    for (int round = 0; round < 20; round++) {
        if (c->is_warm) {
            ulna_scene_set_frame(&c->scene, 60);
            memcpy(q, c->start, size);
            ulna_scene_expect(ulna_solve(t.solver, q, NULL), "solve");
            ulna_scene_set_frame(&c->scene, 61);
        }
        memcpy(q, c->start, size);
        double start = bench_now();
        ulna_scene_expect(ulna_solve(t.solver, q, &result), "solve");
        answer.seconds = fmin(answer.seconds, bench_now() - start);
    }
    answer.f = result.f;
    answer.violation = result.constraint_violation;
    answer.iterations = result.iterations;
    answer.is_solved = result.converged;
    ulna_solver_destroy(t.solver);
    return answer;
}

static void report_peer(bench_report *report, const contest *c, const char *peer, const peer_answer *ours,
                        const peer_answer *theirs)
{
    char name[64];
    snprintf(name, sizeof name, "%s_us_%s", peer, c->name);
    bench_add(report, name, theirs->seconds * 1e6, theirs->is_solved ? c->note : "did not end well");
    snprintf(name, sizeof name, "%s_over_ulna_%s", peer, c->name);
    bench_add(report, name, theirs->seconds / ours->seconds, "time over time");
    snprintf(name, sizeof name, "%s_f_%s", peer, c->name);
    bench_add(report, name, (theirs->f - ours->f) / ours->f, "f relative to ours, minus 1");
    if (c->note[0] == '*') { /* the one that counts */
        snprintf(name, sizeof name, "%s_over_ulna", peer);
        bench_add(report, name, theirs->seconds / ours->seconds, c->name);
    }
}

typedef peer_answer (*peer_call)(peer_functions *p, double *q, int is_warm);

#ifdef ULNA_BENCH_NLOPT
static peer_answer call_slsqp(peer_functions *p, double *q, int is_warm)
{
    (void)is_warm;
    return peer_slsqp(p, q);
}
#endif

static const struct {
    const char *name;
    peer_call call;
} contestants[] = {
#ifdef ULNA_BENCH_IPOPT
    {"ipopt", peer_ipopt},
#endif
#ifdef ULNA_BENCH_NLOPT
    {"slsqp", call_slsqp},
#endif
    {NULL, NULL},
};

static void hold(bench_report *report, contest *c)
{
    double *q = calloc((size_t)c->scene.nq, sizeof *q);
    ulna_scene_expect(q ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    peer_functions functions;
    peer_answer ours = solve_ours(c, q);
    add(report, c->note, ours.seconds * 1e6, "ulna_us_%s", c->name);
    add(report, "", ours.iterations, "ulna_iterations_%s", c->name);
    add(report, "", ours.is_solved, "ulna_solved_%s", c->name);
    peer_functions_open(&functions, &c->scene, c->start);
    for (int k = 0; contestants[k].name; k++) {
        peer_answer best = {.seconds = INFINITY};
        for (int round = 0; round < 3; round++) {
            memcpy(q, c->start, (size_t)c->scene.nq * sizeof *q);
            peer_answer answer = contestants[k].call(&functions, q, c->is_warm);
            if (answer.seconds < best.seconds)
                best = answer;
        }
        report_peer(report, c, contestants[k].name, &ours, &best);
    }
    peer_functions_close(&functions);
    free(q);
    free(c->start);
    ulna_scene_release(&c->scene);
}

static double *copy(const double *values, int n)
{
    double *made = calloc((size_t)n, sizeof *made);
    ulna_scene_expect(made ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    memcpy(made, values, (size_t)n * sizeof *made);
    return made;
}

static void contests(bench_report *report)
{
    contest reach = {"reach", "* feet, centre of mass, fingers to the floor, cold; us", ulna_scene_reach(), NULL, 0};
    contest wall = {"wall", "the same, goal behind a wall; us", ulna_scene_wall(), NULL, 0};
    contest frame = {"frame", "41 markers, feet, centre of mass, warm; us", ulna_scene_track(16, 62), NULL, 1};
    reach.start = copy(reach.scene.start, reach.scene.nq);
    wall.start = copy(wall.scene.start, wall.scene.nq);
    frame.start = copy(frame.scene.start, frame.scene.nq);
    ulna_scene_set_frame(&frame.scene, 60);
    ulna_scene_expect(ulna_solve_once(frame.scene.problem, NULL, frame.start, NULL, NULL), "solve");
    ulna_scene_set_frame(&frame.scene, 61);
    hold(report, &reach);
    hold(report, &wall);
    hold(report, &frame);
}

/* ---- Simbody: welded feet ---------------------------------------------------------------------------------------- */

#ifdef ULNA_BENCH_SIMBODY
static int last_dof(const ulna_model *model, const char *name)
{
    int first, count = ulna_model_body_dofs(model, ulna_model_find_body(model, name), &first);
    return first + count - 1;
}

/* Half the sum of squared distances. */
static double markers_f(const ulna_scene *scene, const double *q, int frame)
{
    double f = 0, *places = calloc((size_t)(3 * scene->point_count), sizeof *places);
    const double *goals = scene->goals + (size_t)(3 * scene->point_count) * (size_t)frame;
    ulna_pose *pose;
    ulna_scene_expect(places ? ULNA_OK : ULNA_ERR_MEMORY, "memory");
    ulna_scene_expect(ulna_pose_create(scene->model, NULL, &pose, NULL), "pose");
    ulna_scene_expect(ulna_pose_forward(pose, q), "forward");
    ulna_scene_expect(ulna_pose_markers(pose, places), "markers");
    for (int i = 0; i < 3 * scene->point_count; i++)
        f += 0.5 * (places[i] - goals[i]) * (places[i] - goals[i]);
    ulna_pose_destroy(pose);
    free(places);
    return f;
}

static void weld_contest(bench_report *report)
{
    enum { SOME = 25 };
    const peer_stop stop = {.tolerance = 1e-4};
    const bench_peer *peer = constraint_peers_simbody();
    track t = open_track(ulna_scene_track(12, SOME));
    ulna_options options = tracking(&t.scene);
    peer_skeleton skeleton;
    double ours = INFINITY, our_f = 0, theirs = 0, their_f = 0, *q = copy(t.scene.start, t.scene.nq);
    options.bounded = 0; /* the Assembler has no limits here */
    for (int round = 0; round < 20; round++) {
        run_track(&t, &options, SOME);
        ours = fmin(ours, t.seconds / (SOME - 1));
    }
    our_f = markers_f(&t.scene, t.q, SOME - 1);
    if (!peer_skeleton_open(t.scene.model, NULL, &skeleton))
        return;
    skeleton.welded[0] = last_dof(t.scene.model, "left_foot");
    skeleton.welded[1] = last_dof(t.scene.model, "right_foot");
    skeleton.welded_count = 2;
    skeleton.rest = ulna_model_rest(t.scene.model);
    void *self = peer->open(peer, &skeleton, &stop);
    ulna_scene_expect(self ? ULNA_OK : ULNA_ERR_UNSUPPORTED, "Simbody");
    peer->begin(self, q);
    for (int frame = 0; frame < SOME; frame++) {
        peer_result result;
        double start = bench_now();
        peer->solve(self, t.scene.goals + (size_t)(3 * t.scene.point_count) * (size_t)frame, q, &result);
        theirs += frame ? bench_now() - start : 0;
    }
    their_f = markers_f(&t.scene, q, SOME - 1);
    bench_add(report, "ulna_us_welded", ours * 1e6, "41 markers, feet planted, no limits, tracking; us a frame");
    bench_add(report, "simbody_us_welded", theirs * 1e6 / (SOME - 1), "Assembler::track, feet welded; us a frame");
    bench_add(report, "simbody_over_ulna", theirs / (SOME - 1) / ours, "time over time");
    bench_add(report, "simbody_f_welded", their_f / our_f - 1, "f of the last frame relative to ours, minus 1");
    peer->close(self);
    peer_skeleton_close(&skeleton);
    free(q);
    close_track(&t);
}
#endif

/* ---- priorities -------------------------------------------------------------------------------------------------- */

/* One case: cold, then 400 frames, best time of three rounds. */
static void follow_levels(bench_report *report, int which, double ratio, const char *suffix)
{
    ulna_options options = exact();
    double best = INFINITY, errors[3] = {0};
    int iterations = 0, failed = 0;
    options.levels.ratio = ratio;
    for (int round = 0; round < 3; round++) {
        ulna_scene_aims aims;
        ulna_scene scene = ulna_scene_levels(which, &aims);
        ulna_solver *solver = ulna_scene_solver(&scene, &options);
        double seconds = 0, *q = copy(scene.start, scene.nq);
        ulna_scene_expect(ulna_solve(solver, q, NULL), "solve");
        iterations = failed = 0;
        for (int frame = 0; frame < 400; frame++) {
            ulna_result result;
            ulna_scene_move_levels(&scene, &aims, which, frame);
            double start = bench_now();
            ulna_scene_expect(ulna_solve(solver, q, &result), "solve");
            seconds += bench_now() - start;
            iterations += result.iterations;
            failed += !result.converged;
        }
        best = fmin(best, seconds);
        for (int level = 0; level < 3; level++)
            errors[level] = ulna_scene_level_error(&scene, &aims, q, level + 1);
        free(q);
        ulna_solver_destroy(solver);
        ulna_scene_release(&scene);
    }
    char name[32], note[96];
    snprintf(name, sizeof name, "s%d%s", which, suffix);
    snprintf(note, sizeof note, "a frame; at the end %.2f, %.2f, %.2f mm off", 1e3 * errors[0], 1e3 * errors[1],
             1e3 * errors[2]);
    add(report, note, iterations / 400.0, "levels_iterations_%s", name);
    add(report, ulna_scene_level_names[which], best * 1e6 / 400, "levels_us_%s", name);
    if (failed)
        add(report, "of 400 frames, and said so", failed, "levels_failed_%s", name);
}

static void random_levels(bench_report *report, double ratio, const char *name)
{
    ulna_options options = exact();
    int iterations = 0, failed = 0, cold = 0;
    options.levels.ratio = ratio;
    for (int seed = 0; seed < 40; seed++) {
        ulna_scene_aims aims;
        ulna_result result;
        ulna_scene scene = ulna_scene_random_levels(seed, &aims);
        ulna_solver *solver = ulna_scene_solver(&scene, &options);
        double *q = copy(scene.start, scene.nq);
        ulna_scene_expect(ulna_solve(solver, q, &result), "solve");
        cold += result.converged;
        for (int frame = 0; frame < 200; frame++) {
            ulna_scene_move_random_levels(&scene, &aims, frame);
            ulna_scene_expect(ulna_solve(solver, q, &result), "solve");
            iterations += result.iterations;
            failed += !result.converged;
        }
        free(q);
        ulna_solver_destroy(solver);
        ulna_scene_release(&scene);
    }
    add(report, "of 40 random cases converged from rest", cold, "levels_cold_%s", name);
    add(report, "a frame", iterations / 8000.0, "levels_iterations_%s", name);
    add(report, "of 8,000 frames did not converge, and said so", failed, "levels_failed_%s", name);
}

static void priorities(bench_report *report)
{
    for (int which = 0; which < ULNA_SCENE_LEVELS; which++)
        follow_levels(report, which, 1e-2, "");
    for (int which = 0; which < ULNA_SCENE_LEVELS; which++)
        follow_levels(report, which, 1e-3, "_strict");
    random_levels(report, 1e-2, "random");
    random_levels(report, 1e-3, "random_strict");
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "--run") == 0) {
        long frames = strtol(argv[3], NULL, 10);
        run_frames((int)strtol(argv[2], NULL, 10), frames > COUNTED_MANY ? COUNTED_MANY : (int)frames);
        return 0;
    }
    const char *json = bench_json_path(argc, argv);
    static bench_report report;
    count_rows(&report, argv[0]);
    time_rows(&report);
    cold_starts(&report);
    moved_starts(&report, "reach", ulna_scene_reach());
    moved_starts(&report, "wall", ulna_scene_wall());
    contests(&report);
#ifdef ULNA_BENCH_SIMBODY
    weld_contest(&report);
#endif
    priorities(&report);
    return bench_finish(&report, "constraints, human sample (59 DOF)", json);
}
