/* What cannot be right in a take, as the library found it: a refusal that says what to do, or notes with --no-checks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output.h"

enum { FACTOR_TEXT = 40 };

static void say_subjects(const ulna_take *take, const doubt_advice *advice, char *text, size_t size)
{
    char names[90] = "";
    for (int s = 0; s < take->subject_count && strlen(names) < 60; s++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.25s", s ? ", " : "",
                 take->subjects[s][0] ? take->subjects[s] : "one without a name");
    snprintf(text, size, "the recording has markers of %d people (%s%s): %s", take->subject_count, names,
             strlen(names) >= 60 ? ", ..." : "", advice->subjects);
}

/* The name that options take for a unit of length within a factor of 1.4 of this one; 0 if there is none. */
static int name_unit(double metres, char *text, size_t size)
{
    static const char *const names[] = {"m", "cm", "mm", "in", "ft", "dm", "um", "km", NULL};
    const double acclaim = 0.0254 / 0.45, near = log(1.4);
    double nearest = fabs(log(metres / acclaim));
    int is_named = nearest < near;
    if (is_named)
        snprintf(text, size, "%.3g (1/0.45 inch, as in ASF files)", acclaim);
    for (int i = 0; names[i]; i++) {
        double off = fabs(log(metres / ulna_unit_metres(names[i])));
        if (off < near && off < nearest) {
            is_named = 1;
            nearest = off;
            snprintf(text, size, "%s", names[i]);
        }
    }
    return is_named;
}

/* A unit that fits: a name if one is near either value, else the second one in metres. */
static void fitting_unit(double by_ratio, double by_factor, char *text, size_t size)
{
    if (!name_unit(by_ratio, text, size) && !name_unit(by_factor, text, size))
        snprintf(text, size, "%.3g", by_factor);
}

/* Without an exponent. */
static void factor_text(double factor, char text[FACTOR_TEXT])
{
    snprintf(text, FACTOR_TEXT, factor >= 100 ? "%.0f" : factor >= 1e-4 ? "%.3g" : "%.9f", factor);
}

/* Which unit is wrong: the one that the user gave, or that was assumed; else either. */
static void say_size(const ulna_take *take, const doubt_advice *advice, char *text, size_t size)
{
    char given[48], recording[48], skeleton[48], ratio[FACTOR_TEXT], factor[FACTOR_TEXT];
    double markers_m = advice->markers->source.unit_m, skeleton_m = advice->skeleton->source.unit_m;
    if (take->size_factor == 1) {
        snprintf(text, size, "all markers are in one place, so no pose can be found: check the recording");
        return;
    }
    factor_text(take->size_ratio, ratio);
    factor_text(take->size_factor, factor);
    fitting_unit(markers_m / take->size_ratio, markers_m / take->size_factor, recording, sizeof recording);
    fitting_unit(skeleton_m * take->size_ratio, skeleton_m * take->size_factor, skeleton, sizeof skeleton);
    double given_m = advice->is_markers_unit_given ? markers_m : skeleton_m;
    fitting_unit(given_m, given_m, given, sizeof given);
    int length = snprintf(text, size, "the markers are %s times as far apart as on the skeleton", ratio);
    if (length < 0 || (size_t)length >= size)
        return;
    text += length;
    size -= (size_t)length;
    if (advice->is_markers_unit_given)
        snprintf(text, size, ", and you gave --input-unit %s: is it %s?", given, recording);
    else if (advice->is_skeleton_unit_given)
        snprintf(text, size, ", and you gave --skeleton-unit %s: is it %s?", given, skeleton);
    else if (advice->skeleton->format == ULNA_FORMAT_BVH)
        snprintf(text, size, ": a BVH file does not state its unit, centimetres are assumed; give --skeleton-unit %s",
                 skeleton);
    else
        snprintf(text, size, ": a unit of length is wrong by a factor of %s; if the recording's, give --input-unit %s",
                 factor, recording);
}

static void say_mirrored(const ulna_take *take, char *text, size_t size)
{
    int is_exchanged = !(take->doubts & ULNA_DOUBT_MIRRORED), is_mirrored = !(take->doubts & ULNA_DOUBT_SIDES);
    double better = is_exchanged ? take->fit[2] : is_mirrored ? take->fit[1] : fmin(take->fit[1], take->fit[2]);
    const char *what = is_exchanged ? "the names of left and right are exchanged: rename the markers"
                       : is_mirrored
                           ? "its axes are mirrored (left-handed): export it again with one axis negated"
                           : "its axes are mirrored, or the names of left and right are exchanged: export it again";
    snprintf(text, size, "the skeleton fits the recording to %.0f mm, its mirror image to %.0f mm: %s",
             1e3 * take->fit[0], 1e3 * better, what);
}

static void say_few(const ulna_take *take, char *text, size_t size)
{
    int seen = take->most_seen;
    int length = snprintf(text, size, "at most %d marker%s of the skeleton %s seen at once: ", seen,
                          seen == 1 ? "" : "s", seen == 1 ? "is" : "are");
    if (seen < 3)
        snprintf(text + length, size - (size_t)length,
                 "three or more are needed to know where it is and how it is turned");
    else
        snprintf(text + length, size - (size_t)length,
                 "%d numbers, which cannot determine %d degrees of freedom; use more markers or a simpler skeleton",
                 3 * seen, take->shown_dofs);
}

static unsigned say_first(const ulna_take *take, unsigned doubts, const doubt_advice *advice, char *text, size_t size)
{
    if (doubts & ULNA_DOUBT_SUBJECTS) {
        say_subjects(take, advice, text, size);
        return ULNA_DOUBT_SUBJECTS;
    }
    if (doubts & ULNA_DOUBT_DOUBLED) {
        snprintf(
            text, size,
            "%d marker names occur twice, as if two people were recorded: give the markers of each a prefix, such as "
            "Anna:LKNE",
            take->doubled);
        return ULNA_DOUBT_DOUBLED;
    }
    if (doubts & ULNA_DOUBT_FEW) {
        say_few(take, text, size);
        return ULNA_DOUBT_FEW;
    }
    if (doubts & ULNA_DOUBT_SIZE) {
        say_size(take, advice, text, size);
        return ULNA_DOUBT_SIZE;
    }
    say_mirrored(take, text, size);
    return ULNA_DOUBT_MIRRORED | ULNA_DOUBT_SIDES;
}

static void put_checks(const ulna_take *take, json_t *object)
{
    json_t *checks = put_object(object, "checks");
    put_number(checks, "size_ratio", take->size_ratio);
    put_number(checks, "fit_mm", 1e3 * take->fit[0]);
    put_number(checks, "fit_mirrored_mm", 1e3 * take->fit[1]);
    put_number(checks, "fit_exchanged_mm", 1e3 * take->fit[2]);
    put_count(checks, "markers_at_once", take->most_seen);
    put_count(checks, "dofs_with_markers", take->shown_dofs);
    put_count(checks, "at_zero", take->at_zero);
    put_count(checks, "people", take->subject_count ? take->subject_count : 1);
}

ulna_status doubts_check(const ulna_take *take, const doubt_advice *advice, json_t *object, json_t *notes,
                         ulna_error *error)
{
    char text[300];
    put_checks(take, object);
    unsigned doubts = take->doubts;
    if (take->at_zero)
        files_note_text(notes, "%lld position%s exactly 0, 0, 0, and count%s as missing", take->at_zero,
                        take->at_zero == 1 ? " is" : "s are", take->at_zero == 1 ? "s" : "");
    if (doubts && !advice->is_forced) {
        (void)say_first(take, doubts, advice, text, sizeof text);
        return cli_fail(error, ULNA_ERR_ARGUMENT, "%s (--no-checks goes on)", text);
    }
    while (doubts) {
        doubts &= ~say_first(take, doubts, advice, text, sizeof text);
        files_note_text(notes, "%s", text);
    }
    return ULNA_OK;
}
