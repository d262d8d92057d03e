/* What cannot be right in a take, as the library found it: a refusal that says what to do, or notes with --no-checks. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output.h"

static void say_subjects(const ulna_take *take, const doubt_advice *advice, char *text, size_t size)
{
    char names[90] = "";
    for (int s = 0; s < take->subject_count && strlen(names) < 60; s++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.25s", s ? ", " : "",
                 take->subjects[s][0] ? take->subjects[s] : "one without a name");
    snprintf(text, size, "the recording has markers of %d people (%s%s): %s", take->subject_count, names,
             strlen(names) >= 60 ? ", ..." : "", advice->subjects);
}

/* The unit that the file must have had. */
static void say_size(const ulna_take *take, const doubt_advice *advice, char *text, size_t size)
{
    static const char *const units[] = {"m", "cm", "mm", "km", "dm", "um", NULL};
    double unit_m = advice->unit_m / take->size_factor;
    char name[24];
    snprintf(name, sizeof name, "%g", unit_m); /* metres */
    if (take->size_factor == 1) {
        snprintf(text, size, "all markers are in one place, so no pose can be found: check the recording");
        return;
    }
    for (int i = 0; units[i]; i++)
        if (fabs(ulna_unit_metres(units[i]) / unit_m - 1) < 0.01)
            snprintf(name, sizeof name, "%s", units[i]);
    snprintf(
        text, size,
        "the markers are %.3g times as far apart as on the skeleton: a unit of length is wrong by a factor of %g; if the "
        "recording's, give --input-unit %s",
        take->size_ratio, take->size_factor, name);
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
        snprintf(
            text, size,
            "at most %d marker%s of the skeleton %s seen at once: three or more are needed to know where it is and how it "
            "is turned",
            take->most_seen, take->most_seen == 1 ? "" : "s", take->most_seen == 1 ? "is" : "are");
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
    put_count(checks, "at_zero", take->at_zero);
    put_count(checks, "people", take->subject_count ? take->subject_count : 1);
}

ulna_status doubts_check(const ulna_take *take, const doubt_advice *advice, json_t *object, json_t *notes,
                         ulna_error *error)
{
    char text[220];
    put_checks(take, object);
    unsigned doubts = take->doubts & ~(advice->is_unit_given ? (unsigned)ULNA_DOUBT_SIZE : 0U);
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
