/*
 * bench_global: who finds the best pose, how soon, and who can prove it: figures 4 and 5 of the convex-IK paper
 * (Yenamandra et al. 2019) with our relaxations beside its own.
 *
 * Skeletons: `hand` (26 degrees of freedom, lengths in decimetres) and `body` (40, metres) of the oracle files with
 * 100 poses drawn evenly within the limits, and `real`: HDM_dg (62) in 100 frames spread over its takes, many of which
 * leave its limits. Goals: the places of `all` joints, or of the root and the `ends`; `clean`, or `noisy` by up to
 * 10 mm (hand) and 100 mm, as in the paper. Where these files are not there, the built-in hand, human and take stand in for them.
 *
 * The best cost known of a pose is the lowest that any way found, 200 random starts and one at the true pose included.
 * Success is a cost within 0.1 % + 1e-6 of it. Costs are sum |y - p|^2. Times are CPU time of one thread, so that other
 * programs disturb little; medians over the poses. To look closer: ULNA_BENCH_POSES=10 takes so many poses,
 * ULNA_BENCH_FAMILY=body_ends only families with this in their name and nothing else, ULNA_BENCH_MISSES=1 lists where
 * global is not best.
 */
#include "global.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { POSES = 100, SDP_POSES = 3, DSDP_POSES = 3, YARDSTICK_POSES = 30 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* ---- families ---------------------------------------------------------------------------------------------------- */

static void list_misses(const global_trial *trials, int count)
{
    for (int i = 0; i < count; i++) {
        const global_trial *t = &trials[i];
        if (t->f[GLOBAL_RACE] > 1.001 * t->best + 1e-6)
            printf("    pose %d: global %.9g after %d starts, best %.9g, bound %.9g\n", i, t->f[GLOBAL_RACE], t->starts,
                   t->best, t->bound);
    }
}

static void run_family(const global_skeleton *s, global_view view, int noisy, global_figures *figures)
{
    char family[64];
    const char *only = getenv("ULNA_BENCH_FAMILY");
    snprintf(family, sizeof family, "%s_%s_%s", s->name, view == GLOBAL_ALL ? "all" : "ends",
             noisy ? "noisy" : "clean");
    if (only && !strstr(family, only))
        return;
    global_trial *trials = calloc((size_t)s->poses, sizeof *trials);
    global_stop_if(!trials, "memory");
    for (int i = 0; i < s->poses; i++)
        global_try(s, view, noisy, i, !s->is_take && i < SDP_POSES, &trials[i]);
    global_report_family(figures, family, trials, s->poses);
    if (getenv("ULNA_BENCH_MISSES"))
        list_misses(trials, s->poses);
    free(trials);
}

/* ---- what the relaxations cost ----------------------------------------------------------------------------------- */

static double value_of(const global_figures *figures, const char *who, const char *what)
{
    char name[128];
    snprintf(name, sizeof name, "%s_%s", who, what);
    for (int i = 0; i < figures->count; i++)
        if (strcmp(figures->row[i].name, name) == 0)
            return figures->row[i].value;
    return NAN;
}

/* DSDP's over ours, in the same minute and to the same gap. */
static double compare_dsdp(const global_skeleton *s, global_figures *figures)
{
    double ms[DSDP_POSES], ours[DSDP_POSES];
    int count = least(DSDP_POSES, s->poses);
    for (int i = 0; i < count; i++) {
        ms[i] = global_dsdp_ms(s, i);
        ours[i] = global_relax_ms(s, i, GLOBAL_F2);
    }
    double median = global_quantile(ms, count, 0.5), ratio = median / global_quantile(ours, count, 0.5);
    global_add(figures, s->name, "dsdp_f1_ms", median, "the paper's relaxation by DSDP, to 1e-6; median of 3 poses");
    global_add(figures, s->name, "dsdp_over_tree", ratio, "over our F2, which is tighter, on the same poses");
    if (!isnan(median))
        printf("  %-18s F1 by DSDP %.0f ms: %.0f times F2\n", s->name, median, ratio);
    return ratio;
}

/* The larger of F2's and F3's ratio to the prototype's, each. */
static void compare_yardstick(const global_skeleton *s, const char *folder, global_figures *figures, double ratio[2])
{
    global_yardstick y;
    if (!global_yardstick_run(folder, s, least(YARDSTICK_POSES, s->poses), &y)) {
        printf("  (the yardstick broke down)\n");
        return;
    }
    const double ours[2] = {y.our_f2_ms / y.f2_ms, y.our_f3_ms / y.f3_ms};
    global_add(figures, s->name, "f2_as_yardstick_ms", y.our_f2_ms, "to its accuracy, 1e-4 of f; lowest of 3 medians");
    global_add(figures, s->name, "f3_as_yardstick_ms", y.our_f3_ms, "to its accuracy, 1e-5 of f; lowest of 3 medians");
    global_add(figures, s->name, "yardstick_f2_ms", y.f2_ms, "prototype on the same poses; lowest of 3 medians");
    global_add(figures, s->name, "yardstick_f3_ms", y.f3_ms, "prototype on the same poses; lowest of 3 medians");
    global_add(figures, s->name, "f2_over_yardstick", ours[0], "aim: 1.0 at most");
    global_add(figures, s->name, "f3_over_yardstick", ours[1], "aim: 1.0 at most");
    for (int i = 0; i < 2; i++)
        ratio[i] = fmax(ratio[i], ours[i]);
    printf("  %-18s F2 %.2f ms, prototype %.2f: %.2f; F3 %.2f ms, prototype %.2f: %.2f\n", s->name, y.our_f2_ms,
           y.f2_ms, ours[0], y.our_f3_ms, y.f3_ms, ours[1]);
}

static void compare_others(const global_skeleton *skeletons, global_figures *figures)
{
    static const char *const aims[2][2] = {{"aim: 3 at most", "aim: 8 at most"}, {"aim: 6 at most", "aim: 15 at most"}};
    char folder[64];
    double slowest = INFINITY, ratio[2] = {0, 0};
    int has_yardstick = skeletons[0].oracle[0].joints && global_yardstick_build(folder);
    for (int i = 0; i < 2; i++) {
        const global_skeleton *s = &skeletons[i];
        global_add(figures, s->name, "f2_ms", value_of(figures, s->name, "all_noisy_f2_ms"), aims[i][0]);
        global_add(figures, s->name, "f3_ms", value_of(figures, s->name, "all_noisy_f3_ms"), aims[i][1]);
        slowest = fmin(slowest, compare_dsdp(s, figures));
        if (has_yardstick)
            compare_yardstick(s, folder, figures, ratio);
    }
    if (isfinite(slowest))
        global_add(figures, "", "dsdp_over_tree", slowest, "the smaller of hand and body; aim: 100 at least");
    if (ratio[0] > 0) {
        global_add(figures, "", "f2_over_yardstick", ratio[0], "the larger of hand and body; aim: 1.0 at most");
        global_add(figures, "", "f3_over_yardstick", ratio[1], "the larger of hand and body; aim: 1.0 at most");
    }
    if (has_yardstick)
        global_yardstick_remove(folder);
}

static void compare_literal(global_figures *figures)
{
    global_literal literal = global_compare_literal();
    if (literal.compared == 0) {
        printf("  (F0 against F1 is left out: it needs DSDP and the program sdpa)\n");
        return;
    }
    global_add(figures, "", "literal_instances", literal.compared, "noisy chains of 3 and 5 joints");
    global_add(figures, "", "literal_difference", literal.worst,
               "largest |F0 - F1| / F1; F0 is (14) to the letter, by SDPA, good to some 1e-4");
    printf("  F0 by SDPA differs from F1 by %.2g at most, relative, on %d chains\n", literal.worst, literal.compared);
}

/* Those of the files; or, where they are not there, those that are built in. */
static void load_skeletons(int poses, global_skeleton skeletons[3])
{
    static const char *const names[2][3] = {{"hand", "body", "real"}, {"sample_hand", "sample_human", "sample_walk"}};
    for (int built_in = 0; built_in < 2; built_in++) {
        int loaded = 0;
        while (loaded < 3 && global_skeleton_load(names[built_in][loaded], poses, &skeletons[loaded]))
            loaded++;
        if (loaded == 3) {
            bench_data_say(built_in ? "the built-in hand, human and take: no recording was found (docs/test-data.md)"
                                    : "hand and body of the oracle files, and recorded takes");
            return;
        }
        while (loaded)
            global_skeleton_free(&skeletons[--loaded]);
    }
    global_stop_if(1, "making the built-in skeletons");
}

int main(int argc, char **argv)
{
    static global_skeleton skeletons[3];
    static global_figures figures;
    const char *json = bench_json_path(argc, argv), *wanted = getenv("ULNA_BENCH_POSES");
    int poses = wanted && atoi(wanted) > 0 ? atoi(wanted) : POSES;
    if (!getenv("OPENBLAS_NUM_THREADS")) { /* read when the library is loaded: so start again */
        setenv("OPENBLAS_NUM_THREADS", "1", 1);
        execv(argv[0], argv);
    }
    load_skeletons(poses, skeletons);
    printf("bench_global: %s\n", bench_data_text());
    printf("The best pose of all: success, median and 95 %% of the CPU time, one thread, %d poses\n", poses);
    global_add(&figures, "", "poses", poses, "of each family");
    for (int i = 0; i < 3; i++)
        for (int view = 0; view < GLOBAL_VIEWS; view++)
            for (int noisy = 0; noisy < 2; noisy++)
                run_family(&skeletons[i], (global_view)view, noisy, &figures);
    if (!getenv("ULNA_BENCH_FAMILY")) {
        compare_others(skeletons, &figures);
        compare_literal(&figures);
    }
    for (int i = 0; i < 3; i++)
        global_skeleton_free(&skeletons[i]);
    return json ? global_write(&figures, json) : 0;
}
