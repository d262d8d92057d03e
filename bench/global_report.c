/* Figures and their file: see the header. */
#include "global.h"
#include "support.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const way_name[GLOBAL_WAYS] = {"rounding", "samples", "random", "random20", "global", "sdp"};
static const char *const way_text[GLOBAL_WAYS] = {
    "F2, its rounding, refined", "and 10 samples, refined", "one random local start; success: mean of 20",
    "best of 20 random starts",  "ulna_global_solve",       "ulna_sdp_solve, on a few poses"};

void global_add(global_figures *figures, const char *who, const char *what, double value, const char *note)
{
    int n = figures->count;
    if (isnan(value) || n == (int)(sizeof figures->row / sizeof *figures->row))
        return;
    snprintf(figures->row[n].name, sizeof figures->row[n].name, "%s%s%s", who, *who ? "_" : "", what);
    snprintf(figures->row[n].note, sizeof figures->row[n].note, "%s", note);
    figures->row[n].value = value;
    figures->count++;
}

int global_write(const global_figures *figures, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) {
        perror(path);
        return 1;
    }
    fprintf(file, "{\n  \"data\": \"%s\",\n", bench_data_text());
    for (int i = 0; i < figures->count; i++)
        bench_put_number(file, figures->row[i].name, figures->row[i].value, ",\n");
    fprintf(file, "  \"notes\": {");
    for (int i = 0; i < figures->count; i++)
        fprintf(file, "%s\n    \"%s\": \"%s\"", i ? "," : "", figures->row[i].name, figures->row[i].note);
    fprintf(file, "\n  }\n}\n");
    return fclose(file) != 0;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

double global_quantile(double *numbers, int count, double share)
{
    int there = 0;
    qsort(numbers, (size_t)count, sizeof *numbers, by_value);
    while (there < count && !isnan(numbers[there]))
        there++;
    int at = (int)(share * there);
    return there == 0 ? NAN : numbers[at < there ? at : there - 1];
}

/* ---- a family ---------------------------------------------------------------------------------------------------- */

static int is_best(double f, double best)
{
    return f <= 1.001 * best + 1e-6;
}

static double success(const global_trial *trials, int count, global_way way)
{
    int tried = 0, good = 0;
    for (int i = 0; i < count; i++) {
        const global_trial *t = &trials[i];
        int starts = way == GLOBAL_ONE ? GLOBAL_RANDOM : 1;
        for (int k = 0; k < starts; k++) {
            double f = way == GLOBAL_ONE ? t->one_f[k] : t->f[way];
            tried += !isnan(f);
            good += is_best(f, t->best);
        }
    }
    return tried ? 100.0 * good / tried : NAN;
}

static void report_way(global_figures *figures, const char *family, const global_trial *trials, int count,
                       global_way way, double *scratch)
{
    char what[64];
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (way != GLOBAL_ONE)
            scratch[n++] = trials[i].ms[way];
        for (int k = 0; way == GLOBAL_ONE && k < GLOBAL_RANDOM; k++)
            scratch[n++] = trials[i].one_ms[k];
    }
    double share = success(trials, count, way), median = global_quantile(scratch, n, 0.5);
    double slow = global_quantile(scratch, n, 0.95);
    snprintf(what, sizeof what, "%s_success", way_name[way]);
    global_add(figures, family, what, share, way_text[way]);
    snprintf(what, sizeof what, "%s_ms", way_name[way]);
    global_add(figures, family, what, median, "median");
    snprintf(what, sizeof what, "%s_p95_ms", way_name[way]);
    global_add(figures, family, what, slow, "slowest 5 % take longer");
    if (!isnan(share))
        printf("  %-18s %-9s %7.1f %% %10.3f %10.3f ms\n", family, way_name[way], share, median, slow);
}

/* How far a bound is below the best cost known, relative to it. */
static void report_gaps(global_figures *figures, const char *family, const char *whose, const double *gaps, int count,
                        double *scratch)
{
    char what[64];
    int close = 0, near = 0;
    for (int i = 0; i < count; i++) {
        close += gaps[i] <= 1e-3;
        near += gaps[i] <= 0.05;
    }
    memcpy(scratch, gaps, (size_t)count * sizeof *gaps);
    double median = global_quantile(scratch, count, 0.5), most = global_quantile(scratch, count, 0.9);
    snprintf(what, sizeof what, "%s_gap_median", whose);
    global_add(figures, family, what, median, "(best - bound) / best, of poses whose best is above 1e-6");
    snprintf(what, sizeof what, "%s_gap_p90", whose);
    global_add(figures, family, what, most, "the same, a tenth is above");
    snprintf(what, sizeof what, "%s_within_0_1_percent", whose);
    global_add(figures, family, what, 100.0 * close / count, "percent of these with a gap of 0.1 % at most");
    snprintf(what, sizeof what, "%s_within_5_percent", whose);
    global_add(figures, family, what, 100.0 * near / count, "percent of these with a gap of 5 % at most");
    printf("  %-18s %s gap: median %.2g, p90 %.2g; %d and %d of %d within 0.1 and 5 %%\n", family, whose, median, most,
           close, near, count);
}

/* With rounding of f and bound allowed for: 1e-9 of it, and 1e-12. */
static int is_false(double bound, double best)
{
    return bound > best + 1e-9 * best + 1e-12;
}

static void report_bounds(global_figures *figures, const char *family, const global_trial *trials, int count,
                          double *scratch)
{
    double *gaps = scratch, *bone_gaps = scratch + count;
    int out_of_reach = 0, certified = 0, proven = 0, wrong = 0;
    for (int i = 0; i < count; i++) {
        const global_trial *t = &trials[i];
        int is_out = t->best > 1e-6;
        proven += t->proven;
        wrong += is_false(t->bound, t->best) || is_false(t->f3_bound, t->best);
        if (!is_out)
            continue;
        certified += t->unreachable;
        gaps[out_of_reach] = (t->best - t->bound) / t->best;
        bone_gaps[out_of_reach] = (t->best - t->f3_bound) / t->best;
        out_of_reach++;
    }
    global_add(figures, family, "proven", 100.0 * proven / count, "percent: global proved its answer, to 0.1 %");
    global_add(figures, family, "unreachable", out_of_reach, "poses whose best known cost is above 1e-6");
    global_add(figures, family, "certified", certified, "of these: global proved that they are");
    global_add(figures, family, "false_certificates", wrong, "bounds above the best cost known; 0 is right");
    printf("  %-18s proven %d of %d; unreachable %d, certified %d; false certificates %d\n", family, proven, count,
           out_of_reach, certified, wrong);
    if (out_of_reach == 0)
        return;
    report_gaps(figures, family, "global", gaps, out_of_reach, scratch + 2 * count);
    report_gaps(figures, family, "f3", bone_gaps, out_of_reach, scratch + 2 * count);
}

static void report_parts(global_figures *figures, const char *family, const global_trial *trials, int count,
                         double *scratch)
{
    double ms[4];
    for (int part = 0; part < 4; part++) {
        for (int i = 0; i < count; i++) {
            const global_trial *t = &trials[i];
            const double values[4] = {t->f2_ms, t->f3_ms, t->f2_iterations, t->f3_iterations};
            scratch[i] = values[part];
        }
        ms[part] = global_quantile(scratch, count, 0.5);
        if (part < 2)
            global_add(figures, family, part ? "f3_p95_ms" : "f2_p95_ms", global_quantile(scratch, count, 0.95),
                       "slowest 5 % take longer");
    }
    global_add(figures, family, "f2_ms", ms[0], "median; posture 1e-4, to 1e-6, as the race solves it");
    global_add(figures, family, "f2_iterations", ms[2], "median");
    global_add(figures, family, "f3_ms", ms[1], "median; to 1e-4 of the best cost known");
    global_add(figures, family, "f3_iterations", ms[3], "median");
    printf("  %-18s F2 %.2f ms, %g iterations", family, ms[0], ms[2]);
    if (isnan(ms[1]))
        printf("\n");
    else
        printf("; F3 %.2f ms, %g iterations\n", ms[1], ms[3]);
}

void global_report_family(global_figures *figures, const char *family, const global_trial *trials, int count)
{
    double *scratch = calloc((size_t)count * GLOBAL_RANDOM, sizeof *scratch);
    global_stop_if(!scratch, "memory");
    for (int way = 0; way < GLOBAL_WAYS; way++)
        report_way(figures, family, trials, count, (global_way)way, scratch);
    report_parts(figures, family, trials, count, scratch);
    report_bounds(figures, family, trials, count, scratch);
    free(scratch);
}
