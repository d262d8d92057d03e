/* What cannot be right in a take, as the library found it: a refusal that says what to do, or notes with --no-checks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output.h"
#include "src/base/algorithms.h"

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

#define FOUND_LENGTHS                                                                                                  \
    2.2 /* a size_ratio, or its inverse, up to which lengths are found: a child on an adult's skeleton */

/* Which unit is wrong: the one that the user gave, or that was assumed; else perhaps the recording's. */
static void advise_unit(const ulna_take *take, const doubt_advice *advice, char *text, size_t size)
{
    char given[48], recording[48], skeleton[48];
    double markers_m = advice->markers->source.unit_m, skeleton_m = advice->skeleton->source.unit_m;
    fitting_unit(markers_m / take->size_ratio, markers_m / take->size_factor, recording, sizeof recording);
    fitting_unit(skeleton_m * take->size_ratio, skeleton_m * take->size_factor, skeleton, sizeof skeleton);
    double given_m = advice->is_markers_unit_given ? markers_m : skeleton_m;
    fitting_unit(given_m, given_m, given, sizeof given);
    if (advice->is_markers_unit_given)
        snprintf(text, size, ", and you gave --input-unit %s: is it %s?", given, recording);
    else if (advice->is_skeleton_unit_given)
        snprintf(text, size, ", and you gave --skeleton-unit %s: is it %s?", given, skeleton);
    else if (!advice->finds_lengths && take->size_ratio < ULNA_OTHER_PERSON && take->size_ratio > 1 / ULNA_OTHER_PERSON)
        snprintf(text, size, " (--input-unit, --skeleton-unit; calibrate --symmetric finds bone lengths)");
    else if (advice->skeleton->format == ULNA_FORMAT_BVH)
        snprintf(text, size,
                 ", but a BVH file does not state its unit, centimetres are assumed: give --skeleton-unit %s",
                 skeleton);
    else
        snprintf(text, size, "; if the recording's, give --input-unit %s", recording);
}

/* What the library found, and the options that help. */
static void say(const ulna_take *take, const ulna_finding *finding, const doubt_advice *advice, char *text, size_t size)
{
    char help[160] = "";
    if (finding->code == ULNA_DOUBT_SUBJECTS)
        snprintf(help, sizeof help, "; %s", advice->subjects);
    int is_unit = finding->code == ULNA_DOUBT_SIZE && take->size_factor != 1;
    if (is_unit)
        advise_unit(take, advice, help, sizeof help);
    int is_known = is_unit && help[0] == ','; /* which unit it is: no need to say how wrong it is */
    size_t length = is_known ? strcspn(finding->text, ":") : strlen(finding->text);
    snprintf(text, size, "%.*s%s", (int)length, finding->text, help);
}

static int is_size_found(const ulna_take *take, const doubt_advice *advice)
{
    return advice->finds_lengths && take->size_ratio < FOUND_LENGTHS && take->size_ratio > 1 / FOUND_LENGTHS;
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
    enum { MOST = 220 }; /* so that what follows has room in an error */
    char text[sizeof(ulna_finding) + 160];
    put_checks(take, object);
    if (take->at_zero)
        files_note_text(notes, "%lld position%s exactly 0, 0, 0, and count%s as missing", take->at_zero,
                        take->at_zero == 1 ? " is" : "s are", take->at_zero == 1 ? "s" : "");
    for (int i = 0; i < take->findings.count; i++) {
        if (take->findings.list[i].code == ULNA_DOUBT_SIZE && is_size_found(take, advice))
            continue;
        say(take, &take->findings.list[i], advice, text, sizeof text);
        if (!advice->is_forced && strlen(text) >= MOST) {
            text[MOST - 1] = 0;
            ulna_end_at_word(text, MOST);
        }
        if (!advice->is_forced)
            return cli_fail(error, ULNA_ERR_ARGUMENT, "%s (--no-checks goes on nevertheless)", text);
        files_note_text(notes, "%s", text);
    }
    return ULNA_OK;
}
