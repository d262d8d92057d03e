/*
 * bench_calibrate: marker offsets, and symmetric bone lengths, of HDM_dg_03-05_02 (or of the first take that is there, such as the
 * built-in one) from names, skeleton and C3D alone; clean
 * and dirty (10 % gaps, knees swapped for a fifth of the take, 2 % strays). With the yardstick present, the prototype runs in
 * the same minute: times drift with the machine, ratios less so.
 *
 * How far calibrations can be trusted: the two halves of each take of HDM05 and CMU against each other, and known truth, with other
 * seeds than those that the constants were chosen with; and of a person whose shoulders are not the skeleton's, with and without
 * options.shoulders.
 *
 * Times are those of ulna_calibrate, reports and held-out blocks included: wall clock, and processor time, which other
 * processes disturb less. The prototype's is the processor time of its search alone. RMS is over the whole clean take,
 * tracked by ulna_track.
 */
#include "calibrate_take.h"
#include "calibrate_truth.h"
#include "support.h"
#include "ulna/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { REPEATS = 7, FIRST_SEED = 401, SEEDS = 6, FEW_SEEDS = 3 };

#define SKIN 0.006 /* m */

typedef struct outcome {
    double ms, cpu_ms; /* medians */
    double take_mm, held_out_mm;
} outcome;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static outcome run(const calibrate_take *take, const ulna_recording *recording, int lengths)
{
    ulna_calibrate_options options = ulna_calibrate_options_default();
    double ms[REPEATS], cpu_ms[REPEATS];
    outcome result = {0};
    ulna_take *made = calibrate_take_with(take, recording, NULL, NULL);
    options.scale = options.symmetric = lengths;
    options.try_lengths = 0;
    for (int r = 0; r < REPEATS; r++) {
        ulna_calibration found;
        ulna_error error;
        double started = bench_now();
        if (ulna_calibrate(made, &options, &found, &error)) {
            fprintf(stderr, "bench_calibrate: %s\n", error.message);
            exit(1);
        }
        cpu_ms[r] = 1e3 * (bench_now() - started);
        ms[r] = 1e3 * found.seconds;
        if (r == 0) {
            result.take_mm = 1e3 * calibrate_take_rms(take, &found);
            result.held_out_mm = 1e3 * found.rms_held_out;
        }
        ulna_calibration_release(&found);
    }
    ulna_take_destroy(made);
    qsort(ms, REPEATS, sizeof *ms, by_value);
    qsort(cpu_ms, REPEATS, sizeof *cpu_ms, by_value);
    result.ms = ms[REPEATS / 2];
    result.cpu_ms = cpu_ms[REPEATS / 2];
    return result;
}

static void add(bench_report *report, const char *name, const outcome *result)
{
    char label[64];
    snprintf(label, sizeof label, "%s_ms", name);
    bench_add(report, label, result->ms, "median of 7, wall clock");
    snprintf(label, sizeof label, "%s_cpu_ms", name);
    bench_add(report, label, result->cpu_ms, "median of 7, time of the one thread");
    snprintf(label, sizeof label, "%s_take_rms_cm", name);
    bench_add(report, label, 0.1 * result->take_mm, "whole take, clean, tracked");
    snprintf(label, sizeof label, "%s_held_out_rms_cm", name);
    bench_add(report, label, 0.1 * result->held_out_mm, "blocks that were not used");
}

static void add_halves(bench_report *report)
{
    double all[BENCH_TAKES * CALIBRATE_MARKERS];
    int count = 0, takes;
    const bench_take *from = bench_takes(&takes);
    for (int t = 0; t < takes; t++) {
        calibrate_halves halves;
        char label[64], note[96];
        if (!calibrate_measure_halves(&from[t], &halves))
            continue;
        snprintf(label, sizeof label, "halves_%s_median_mm", from[t].name);
        bench_add(report, label, halves.median, "offsets of the two halves of the take against each other");
        snprintf(label, sizeof label, "halves_%s_max_mm", from[t].name);
        snprintf(note, sizeof note, "%.60s; aim 30 at most", halves.worst);
        bench_add(report, label, halves.most, note);
        memcpy(all + count, halves.all, (size_t)halves.marker_count * sizeof *all);
        count += halves.marker_count;
    }
    qsort(all, (size_t)count, sizeof *all, by_value);
    if (count)
        bench_add(report, "halves_median_mm", all[count / 2], "all markers of all takes; aim 6 at most");
}

static void add_sizes(bench_report *report)
{
    static const double sizes[] = {85, 90, 100, 110, 115};
    int takes;
    const bench_take *from = bench_takes(&takes);
    for (int t = 0; t < takes; t++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            char label[64];
            snprintf(label, sizeof label, "size_%s_of_%.0f_percent", from[t].name, sizes[i]);
            bench_add(report, label, calibrate_measure_size(&from[t], sizes[i]),
                      "recording of that size; told beyond 96 to 104");
        }
}

static void add_truth(bench_report *report)
{
    static const struct {
        const char *name;
        calibrate_truth_case wanted;
    } cases[] = {
        {"reference", {.skin = SKIN, .first_seed = FIRST_SEED, .seeds = SEEDS}},
        {"placed", {.rule = 1, .skin = SKIN, .first_seed = FIRST_SEED, .seeds = SEEDS}},
        {"others", {.rule = 1, .skin = SKIN, .first_seed = FIRST_SEED, .seeds = FEW_SEEDS, .is_others = 1}},
        {"rough_others", {.rule = 1, .skin = 2 * SKIN, .first_seed = FIRST_SEED, .seeds = FEW_SEEDS, .is_others = 1}},
        {"rough_reference", {.skin = 2 * SKIN, .first_seed = FIRST_SEED, .seeds = FEW_SEEDS}},
        {"rough_placed", {.rule = 1, .skin = 2 * SKIN, .first_seed = FIRST_SEED, .seeds = FEW_SEEDS}},
        {"other_shoulders", {.skin = SKIN, .first_seed = FIRST_SEED, .seeds = FEW_SEEDS, .has_other_shoulders = 1}},
        {"found_shoulders",
         {.skin = SKIN, .first_seed = FIRST_SEED, .seeds = FEW_SEEDS, .has_other_shoulders = 1, .finds_shoulders = 1}},
        {"same_shoulders", {.skin = SKIN, .first_seed = FIRST_SEED, .seeds = FEW_SEEDS, .finds_shoulders = 1}},
        {"size90", {.rule = 1, .skin = SKIN, .first_seed = FIRST_SEED, .seeds = 2, .is_others = 1, .size = 0.9}},
        {"size100", {.rule = 1, .skin = SKIN, .first_seed = FIRST_SEED, .seeds = 2, .is_others = 1, .size = 1}},
        {"size110", {.rule = 1, .skin = SKIN, .first_seed = FIRST_SEED, .seeds = 2, .is_others = 1, .size = 1.1}},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        calibrate_truth t;
        if (!calibrate_measure_truth(&cases[c].wanted, &t))
            continue;
        const struct {
            const char *name, *note;
            double value;
        } rows[] = {
            {"orientation_deg", "bones, constant part", t.orientation_deg},
            {"position_mm", "joint centres of both motions on the skeleton tracked", t.position_mm},
            {"joints_mm", "the person's, all of them", t.joints_mm},
            {"offset_mm", "mean", t.offset_mm},
            {"offset_max_mm", "of all takes and seeds", t.offset_most_mm},
            {"covered_percent", "offsets within two deviations; aim 90 to 99", t.covered},
            {"joints_covered_percent", "joint centres within two deviations; aim 90 to 99", t.joints_covered},
            {"rotations_covered_percent", "rotations of joints likewise", t.rotations_covered},
            {"least_percent", "the person beside the skeleton, as it was found", t.size_least},
            {"most_percent", "likewise", t.size_most},
            {"told_percent", "runs in which another size was found", t.size_told},
        };
        enum { ABOUT_SIZE = 3 };
        for (size_t i = 0; i < sizeof rows / sizeof *rows - (cases[c].wanted.size > 0 ? 0 : ABOUT_SIZE); i++) {
            char label[64];
            snprintf(label, sizeof label, "truth_%s_%s", cases[c].name, rows[i].name);
            bench_add(report, label, rows[i].value, rows[i].note);
        }
    }
}

int main(int count, char **arguments)
{
    const char *path = bench_json_path(count, arguments);
    calibrate_take take;
    bench_report report = {0};
    char title[100];
    int takes;
    const bench_take *from = bench_takes(&takes);
    printf("bench_calibrate: %s\n", bench_data_text());
    if (!calibrate_take_load(from, &take)) {
        fprintf(stderr, "bench_calibrate: %s: its markers are not known by their names\n", from->markers);
        return 1;
    }
    outcome offsets = run(&take, &take.markers.recording, 0), lengths = run(&take, &take.markers.recording, 1);
    ulna_recording dirty = calibrate_take_dirty(&take);
    outcome worse = run(&take, &dirty, 0);
    add(&report, "offsets", &offsets);
    add(&report, "lengths", &lengths);
    add(&report, "dirty", &worse);
    bench_add(&report, "dirty_over_clean", worse.take_mm / offsets.take_mm, "take RMS; aim 1.05 at most");

    add_halves(&report);
    add_sizes(&report);
    add_truth(&report);

    calibrate_yardstick yardstick;
    if (strcmp(from->name, "dg0305") == 0 && calibrate_yardstick_run(&yardstick)) {
        bench_add(&report, "yardstick_offsets_ms", yardstick.offsets_ms,
                  "prototype, robust; processor time of its search");
        bench_add(&report, "yardstick_offsets_rms_cm", yardstick.offsets_cm, "its own tracker");
        bench_add(&report, "yardstick_lengths_ms", yardstick.lengths_ms, "the same with symmetric scales");
        bench_add(&report, "yardstick_lengths_rms_cm", yardstick.lengths_cm, "its own tracker");
        bench_add(&report, "ulna_over_yardstick", offsets.cpu_ms / yardstick.offsets_ms, "processor time, offsets");
        bench_add(&report, "ulna_over_yardstick_lengths", lengths.cpu_ms / yardstick.lengths_ms,
                  "processor time, lengths too");
    }
    ulna_recording_release(&dirty);
    calibrate_take_free(&take);
    snprintf(title, sizeof title, "Marker calibration of %.40s", from->name);
    return bench_finish(&report, title, path);
}
