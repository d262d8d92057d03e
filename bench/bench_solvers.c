/*
 * bench_solvers: every method on the human sample, and other people's solvers on the same problems from the same
 * starts.
 *
 * Three scenarios: `warm` (as between frames, goals exact), `noisy` (the same with marker noise, so that f does not
 * vanish) and `cold` (from rest to any pose, the root turned anyhow). All stop at f <= 1e-12 m^2; a problem counts as
 * solved at f within 0.1 % of the lowest that anybody found. Times are CPU times of the solve alone, best of up to
 * nine rounds in turns; a slow contender leaves out rounds, and then problems.
 *
 * Absolute times drift with the machine; ratios, iterations and evaluations are what to look at.
 */
#include "solvers_contest.h"
#include "support.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCENARIOS = 3, MOST = 80 };

#define METHOD_SECONDS 0.5
#define PEER_SECONDS 1.2
#define SLOW_PEER_SECONDS 2

static const scenario_recipe recipes[SCENARIOS] = {
    {"warm", "start: the target with errors of 0.04 rad and 1 cm; goals exact", 200, 0.6, 0.04, 0, 1},
    {"noisy", "the same, goals with noise of 5 mm", 200, 0.6, 0.04, 0.005, 2},
    {"cold", "start: rest; targets anywhere within the limits, root turned anyhow", 100, 1, 0, 0, 3},
};

/*
 * Settings of hybrid besides the default. `hybrid_tracking` is what is held against peers where the start is near:
 * less damping to begin with, no look at the curvature in the end, and an end that suits the peers'. Ceres stops once
 * f falls by less than 1e-6 of itself, which with noise leaves it further above the minimum than hybrid is when 1e-4
 * of f is all that the next step would gain.
 */
typedef struct setting {
    const char *name;
    double kappa, decrease;
    int verify, bounded, restarts;
} setting;

static const setting settings[] = {
    {"hybrid_unbounded", 1, 1e-9, 1, 0, 0},
    {"hybrid_restarts", 1, 1e-9, 1, 1, 20},
    {"hybrid_tracking", 0.1, 1e-4, 0, 1, 0},
    {"hybrid_tracking_unbounded", 0.1, 1e-4, 0, 0, 0},
};

#define PEER_TOLERANCE 1e-6 /* the default of Ceres */
#define NOISY_F 1e-3        /* m^2: what f comes down to with noise, for rules that are not relative */

typedef struct bench_stage {
    scenario scenario;
    contender contender[MOST];
    int count;
} bench_stage;

static void stop_if(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "bench_solvers: %s failed\n", what);
        exit(1);
    }
}

/* ---- who takes part --------------------------------------------------------------------------------------------- */

static void add_method(bench_stage *stage, const ulna_model *model, const char *name, const ulna_options *options)
{
    if (stage->count < MOST &&
        contender_open_method(&stage->contender[stage->count], name, model, options, stage->scenario.count))
        stage->contender[stage->count++].seconds = METHOD_SECONDS;
    else
        printf("(%s does not take part)\n", name);
}

static void add_methods(bench_stage *stage, const ulna_model *model)
{
    for (int i = 0; i < ulna_method_count(); i++) {
        ulna_options options = ulna_options_default();
        options.method = ulna_method_at(i)->name;
        options.objective = MET;
        add_method(stage, model, options.method, &options);
    }
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        ulna_options options = ulna_options_default();
        options.objective = MET;
        options.decrease = settings[i].decrease;
        options.hybrid.kappa = settings[i].kappa;
        options.hybrid.verify = settings[i].verify;
        options.bounded = settings[i].bounded;
        options.restarts = settings[i].restarts;
        add_method(stage, model, settings[i].name, &options);
    }
}

/* The peers that the build found. */
static const struct {
    const bench_peer *(*list)(void);
    int iterations;
    double seconds;
} peers[] = {
#ifdef ULNA_BENCH_CERES
    {bench_peers_ceres, 300, PEER_SECONDS},
    {bench_peers_tiny, 300, PEER_SECONDS},
#endif
#ifdef ULNA_BENCH_NLOPT
    {bench_peers_nlopt, 2000, SLOW_PEER_SECONDS},
#endif
    {NULL, 0, 0},
};

static void add_peers(bench_stage *stage, const peer_skeleton *skeleton)
{
    for (int i = 0; peers[i].list; i++) {
        const peer_stop stop = {.objective = MET,
                                .tolerance = PEER_TOLERANCE,
                                .typical = stage->scenario.noise > 0 ? NOISY_F : MET,
                                .iterations = peers[i].iterations};
        for (const bench_peer *peer = peers[i].list(); peer->name && stage->count < MOST; peer++)
            if (contender_open_peer(&stage->contender[stage->count], peer, skeleton, &stop, stage->scenario.count))
                stage->contender[stage->count++].seconds = peers[i].seconds;
    }
}

static void play(bench_stage *stage, const scenario_recipe *recipe, const ulna_model *model,
                 const peer_skeleton *skeleton)
{
    stop_if(!scenario_open(&stage->scenario, recipe, model), "scenario");
    add_methods(stage, model);
    add_peers(stage, skeleton);
    contest(&stage->scenario, skeleton, stage->contender, stage->count);
}

/* ---- ratios ---------------------------------------------------------------------------------------------------- */

static const contender *find(const bench_stage *stage, const char *name)
{
    for (int i = 0; i < stage->count; i++)
        if (strcmp(stage->contender[i].name, name) == 0)
            return &stage->contender[i];
    return NULL;
}

/* The fastest of the settings of a peer, those that solve less than half as much as the best one left out. */
static const contender *best_of(const bench_stage *stage, const char *prefix, int bounded, const contender *ours)
{
    const contender *best = NULL;
    double most = 0, least = (double)INFINITY;
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < stage->count; i++) {
            const contender *c = &stage->contender[i];
            if (!c->peer || c->bounded != bounded || strncmp(c->name, prefix, strlen(prefix)) != 0)
                continue;
            double solved = contender_summary(c, &stage->scenario).success_percent;
            comparison made = contenders_compare(ours, c, &stage->scenario, 0);
            if (pass == 0)
                most = fmax(most, solved);
            else if (solved >= 0.5 * most && made.us[1] / made.us[0] < least) {
                least = made.us[1] / made.us[0];
                best = c;
            }
        }
    return best;
}

static void add_named(bench_report *report, const char *first, const char *second, const char *third,
                      const char *fourth, double value, const char *note)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s%s", first, second, third, fourth);
    bench_add(report, name, value, note);
}

/* `ours` against the best of the settings whose names begin so, in one scenario: ratio of times, and the costs reached. */
static void add_ratio(bench_report *report, const bench_stage *stage, const char *our_name, const char *prefix,
                      const char *peer, const char *where)
{
    const contender *ours = find(stage, our_name);
    const contender *theirs = ours ? best_of(stage, prefix, ours->bounded, ours) : NULL;
    if (!theirs)
        return;
    comparison made = contenders_compare(ours, theirs, &stage->scenario, 0);
    comparison solved = contenders_compare(ours, theirs, &stage->scenario, 1);
    int is_first = strcmp(peer, "ceres") == 0;
    char note[160];
    snprintf(note, sizeof note,
             "%s: %.4g us over %.4g us, %d problems (of %d: those where ulna ends no higher), %d rounds", theirs->name,
             made.us[1], made.us[0], made.problems, theirs->used, made.rounds);
    add_named(report, peer, "_over_ulna_", where, "", made.us[1] / made.us[0], note);
    add_named(report, "cost_", peer, "_", where, made.f[1], "median f of these problems, m^2: the peer");
    add_named(report, "cost_ulna_", where, is_first ? "" : "_", is_first ? "" : peer, made.f[0], "ulna");
    if (solved.problems > 0 && solved.problems < made.problems) {
        snprintf(note, sizeof note, "the same over the %d problems that both solved", solved.problems);
        add_named(report, peer, "_over_ulna_", where, "_solved", solved.us[1] / solved.us[0], note);
    }
}

static void add_ratios(bench_report *report, const bench_stage *stages)
{
    for (int i = 0; i < SCENARIOS; i++) {
        const char *name = stages[i].scenario.name;
        char key[64];
        add_ratio(report, &stages[i], "hybrid", "ceres_cholesky", "ceres", name); /* dense normal equations */
        add_ratio(report, &stages[i], "hybrid", "ceres", "ceres_best", name);     /* whatever setting is fastest */
        add_ratio(report, &stages[i], "hybrid", "nlopt", "nlopt", name);
        snprintf(key, sizeof key, "%s_unbounded", name);
        add_ratio(report, &stages[i], recipes[i].error > 0 ? "hybrid_tracking_unbounded" : "hybrid_unbounded", "ceres",
                  "ceres_best", key);
        if (recipes[i].error > 0) { /* tuned for tracking */
            snprintf(key, sizeof key, "%s_tracking", name);
            add_ratio(report, &stages[i], "hybrid_tracking", "ceres_cholesky", "ceres", key);
            add_ratio(report, &stages[i], "hybrid_tracking", "ceres", "ceres_best", key);
        }
    }
    const contender *restarts = find(&stages[SCENARIOS - 1], "hybrid_restarts");
    if (restarts)
        bench_add(report, "hybrid_cold_restarts_success",
                  contender_summary(restarts, &stages[SCENARIOS - 1].scenario).success_percent,
                  "%, up to 20 restarts; aim: 100");
}

/* ---- writing --------------------------------------------------------------------------------------------------- */

static void print_stage(const bench_stage *stage)
{
    const scenario *s = &stage->scenario;
    printf("%s: %s\n", s->name, s->text);
    printf("  %-32s %8s %7s %7s %11s %11s %10s %5s\n", "", "solved %", "iter.", "eval.", "us median", "us mean",
           "f median", "of");
    for (int i = 0; i < stage->count; i++) {
        const contender *c = &stage->contender[i];
        summary sum = contender_summary(c, s);
        printf("  %-32s %8.1f %7.1f %7.1f %11.2f %11.2f %10.3g %5d\n", c->name, sum.success_percent, sum.iterations,
               sum.evaluations, sum.us_median, sum.us_mean, sum.f_median, sum.problems);
        if (sum.failed || sum.untrue)
            printf("  %32s %d gave up with an error, %d with an f that is not that of q\n", "", sum.failed, sum.untrue);
    }
}

static void write_stops(FILE *file, const contender *c)
{
    int counts[ULNA_STOP_COUNT] = {0}, written = 0;
    for (int i = 0; i < c->used; i++)
        counts[c->outcomes[i].stop]++;
    fprintf(file, ", \"stops\": {");
    for (int k = 0; k < ULNA_STOP_COUNT; k++)
        if (counts[k])
            fprintf(file, "%s\"%s\": %d", written++ ? ", " : "", ulna_stop_name((ulna_stop)k), counts[k]);
    fprintf(file, "}");
}

static void write_contender(FILE *file, const contender *c, const scenario *s)
{
    summary sum = contender_summary(c, s);
    fprintf(file,
            "{\"success_percent\": %.4g, \"in_limits_percent\": %.4g, \"iterations\": %.6g, \"evaluations\": %.6g, "
            "\"us_median\": %.5g, \"us_mean\": %.5g, \"f_median\": %.5g, \"f_mean\": %.5g, \"problems\": %d, "
            "\"rounds\": %d, \"failed\": %d, \"untrue\": %d",
            sum.success_percent, sum.in_limits_percent, sum.iterations, sum.evaluations, sum.us_median, sum.us_mean,
            sum.f_median, sum.f_mean, sum.problems, c->rounds, sum.failed, sum.untrue);
    if (!c->peer)
        write_stops(file, c);
    fprintf(file, "}");
}

/* {"hybrid": {"warm": {...}, ...}, ...}: the methods or the peers. The first scenario has them all. */
static void write_contenders(FILE *file, const char *key, const bench_stage *stages, int are_peers)
{
    int written = 0;
    fprintf(file, "  \"%s\": {", key);
    for (int i = 0; i < stages[0].count; i++) {
        const contender *first = &stages[0].contender[i];
        if (!!first->peer != are_peers)
            continue;
        fprintf(file, "%s\n    \"%s\": {\"text\": \"%s\"", written++ ? "," : "", first->name, first->text);
        for (int k = 0; k < SCENARIOS; k++) {
            const contender *c = find(&stages[k], first->name);
            if (c) {
                fprintf(file, ",\n      \"%s\": ", stages[k].scenario.name);
                write_contender(file, c, &stages[k].scenario);
            }
        }
        fprintf(file, "\n    }");
    }
    fprintf(file, "\n  },\n");
}

static int write_json(const char *path, const bench_report *report, const bench_stage *stages,
                      const peer_skeleton *skeleton)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "{\n  \"dof\": %d,\n  \"markers\": %d,\n", skeleton->nv, skeleton->markers);
    for (int i = 0; i < report->count; i++)
        fprintf(file, "  \"%s\": %.6g,\n", report->row[i].name, report->row[i].value);
    fprintf(file, "  \"notes\": {");
    for (int i = 0; i < report->count; i++)
        fprintf(file, "%s\n    \"%s\": \"%s\"", i ? "," : "", report->row[i].name, report->row[i].note);
    fprintf(file, "\n  },\n");
    write_contenders(file, "methods", stages, 0);
    write_contenders(file, "peers", stages, 1);
    fprintf(file, "  \"scenarios\": {");
    for (int i = 0; i < SCENARIOS; i++)
        fprintf(file, "%s\n    \"%s\": \"%s\"", i ? "," : "", recipes[i].name, recipes[i].text);
    fprintf(file, "\n  }\n}\n");
    return fclose(file) != 0;
}

int main(int argc, char **argv)
{
    const char *json = bench_json_path(argc, argv);
    static bench_stage stages[SCENARIOS];
    static bench_report report;
    ulna_model *model;
    peer_skeleton skeleton;
    if (!getenv("OPENBLAS_NUM_THREADS")) { /* read when the library is loaded: so start again */
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        execv(argv[0], argv);
    }
    stop_if(ulna_sample_create("human", NULL, &model, NULL) != ULNA_OK, "sample");
    stop_if(!peer_skeleton_open(model, NULL, &skeleton), "the skeleton as peers see it");
    for (int i = 0; i < SCENARIOS; i++) {
        play(&stages[i], &recipes[i], model, &skeleton);
        print_stage(&stages[i]);
    }
#ifndef ULNA_BENCH_CERES
    printf("(Ceres is not here: tools/bootstrap bench installs it)\n");
#endif
#ifndef ULNA_BENCH_NLOPT
    printf("(NLopt is not here: tools/bootstrap bench installs it)\n");
#endif
    add_ratios(&report, stages);
    printf("times of peers over ulna's\n");
    for (int i = 0; i < report.count; i++)
        printf("  %-40s %10.5g  %s\n", report.row[i].name, report.row[i].value, report.row[i].note);
    int failed = json ? write_json(json, &report, stages, &skeleton) : 0;
    for (int i = 0; i < SCENARIOS; i++) {
        for (int k = 0; k < stages[i].count; k++)
            contender_close(&stages[i].contender[k]);
        scenario_close(&stages[i].scenario);
    }
    peer_skeleton_close(&skeleton);
    ulna_model_destroy(model);
    return failed;
}
