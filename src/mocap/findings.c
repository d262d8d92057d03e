/* What speaks against a take, and against what was solved from it, in sentences for people. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "mocap/track.h"
#include "model/model.h"

enum { NAMES = 110, SHOWN = 6 }; /* characters of a list of names; how many are shown */

static void add(ulna_findings *to, unsigned code, const char *format, ...) ULNA_PRINTF(3, 4);

static void add(ulna_findings *to, unsigned code, const char *format, ...)
{
    if (to->count == ULNA_MOST_FINDINGS)
        return;
    ulna_finding *finding = &to->list[to->count++];
    va_list arguments;
    finding->code = code;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

/* "A, B, C and 4 more" */
typedef struct roster {
    int count, shown;
    char text[NAMES + 100];
} roster;

static void enlist(roster *list, const char *name, const char *behind)
{
    size_t length = strlen(list->text);
    list->count++;
    if (list->shown == SHOWN || length + strlen(name) > NAMES)
        return;
    list->shown++;
    snprintf(list->text + length, sizeof list->text - length, "%s%.60s%s", length ? ", " : "", name, behind);
}

static const char *roster_text(roster *list)
{
    size_t length = strlen(list->text);
    if (list->count > list->shown)
        snprintf(list->text + length, sizeof list->text - length, "%s%d more", list->shown ? " and " : "",
                 list->count - list->shown);
    list->count = list->shown;
    return list->text;
}

/* ---- takes ------------------------------------------------------------------------------------------------------------ */

static void add_subjects(ulna_take *take)
{
    roster names = {0};
    for (int s = 0; s < take->subject_count; s++)
        enlist(&names, take->subjects[s][0] ? take->subjects[s] : "one without a name", "");
    add(&take->findings, ULNA_DOUBT_SUBJECTS, "the recording has markers of %d people (%s): choose one",
        take->subject_count, roster_text(&names));
}

/* How a factor may have come about; "" if nothing is near it. */
static const char *known_factor(double factor)
{
    static const struct {
        double factor;
        const char *text;
    } known[] = {{25.4, " (inches and millimetres?)"},
                 {2.54, " (inches and centimetres?)"},
                 {3.28, " (feet and metres?)"},
                 {39.37, " (inches and metres?)"},
                 {30.48, " (feet and centimetres?)"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (fabs(fabs(log(factor)) - log(known[i].factor)) < log(1.2))
            return known[i].text;
    return "";
}

/* Without an exponent. */
static void add_size(ulna_take *take)
{
    const double *values[2] = {&take->size_ratio, &take->size_factor};
    char text[2][40];
    if (take->size_factor == 1) {
        add(&take->findings, ULNA_DOUBT_SIZE,
            "all markers are in one place, so no pose can be found: check the recording");
        return;
    }
    for (int i = 0; i < 2; i++)
        snprintf(text[i], sizeof text[i],
                 *values[i] >= 100    ? "%.0f"
                 : *values[i] >= 1e-4 ? "%.3g"
                                      : "%.9f",
                 *values[i]);
    if (take->size_ratio < ULNA_OTHER_PERSON && take->size_ratio > 1 / ULNA_OTHER_PERSON)
        add(&take->findings, ULNA_DOUBT_SIZE,
            "the markers are %s times as far apart as on the skeleton%s: a unit of length is wrong, or it is the "
            "skeleton of somebody else",
            text[0], known_factor(take->size_ratio));
    else
        add(&take->findings, ULNA_DOUBT_SIZE,
            "the markers are %s times as far apart as on the skeleton: a unit of length is wrong by a factor of %s%s",
            text[0], text[1], known_factor(take->size_ratio));
}

static void add_mirrored(ulna_take *take)
{
    unsigned which = take->doubts & (ULNA_DOUBT_MIRRORED | ULNA_DOUBT_SIDES);
    double better = which == ULNA_DOUBT_SIDES      ? take->fit[2]
                    : which == ULNA_DOUBT_MIRRORED ? take->fit[1]
                                                   : fmin(take->fit[1], take->fit[2]);
    const char *what = which == ULNA_DOUBT_SIDES ? "the names of left and right are exchanged: rename the markers"
                       : which == ULNA_DOUBT_MIRRORED
                           ? "its axes are mirrored (left-handed): export it again with one axis negated"
                           : "its axes are mirrored, or the names of left and right are exchanged: export it again";
    add(&take->findings, which, "the skeleton fits the recording to %.0f mm, its mirror image to %.0f mm: %s",
        1e3 * take->fit[0], 1e3 * better, what);
}

static void add_few(ulna_take *take)
{
    int seen = take->most_seen;
    const char *one = seen == 1 ? " of the skeleton is" : "s of the skeleton are";
    if (seen < 3)
        add(&take->findings, ULNA_DOUBT_FEW,
            "at most %d marker%s seen at once: three or more are needed to know where it is and how it is rotated",
            seen, one);
    else
        add(&take->findings, ULNA_DOUBT_FEW,
            "at most %d marker%s seen at once: %d numbers, which cannot determine %d degrees of freedom; use more "
            "markers or a simpler skeleton",
            seen, one, 3 * seen, take->shown_dofs);
}

static void add_part(ulna_take *take)
{
    add(&take->findings, ULNA_DOUBT_PART,
        "left and right are exchanged on one part of the body: the markers on %.40s (and beyond) contradict those on "
        "%.40s; rename the markers",
        ulna_model_body_name(take->model, take->exchanged[0]), ulna_model_body_name(take->model, take->exchanged[1]));
}

static void add_names(ulna_take *take)
{
    const char *a = take->set.items[take->misnamed[0]].marker, *b = take->set.items[take->misnamed[1]].marker;
    add(&take->findings, ULNA_DOUBT_NAMES,
        "%.50s and %.50s have each other's names, it seems%s: the distances to the markers near them are not those on the "
        "skeleton, and would be the other way round; rename them",
        a, b, take->misnamed_beyond ? ", and so have the markers farther out" : "");
}

void ulna_take_add_findings(ulna_take *take)
{
    unsigned doubts = take->doubts;
    if (doubts & ULNA_DOUBT_SUBJECTS)
        add_subjects(take);
    if (doubts & ULNA_DOUBT_DOUBLED)
        add(&take->findings, ULNA_DOUBT_DOUBLED,
            "%d marker names occur twice, as if two people were recorded: give the markers of each a prefix, such as "
            "Anna:LKNE",
            take->doubled);
    if (doubts & ULNA_DOUBT_FEW)
        add_few(take);
    if (doubts & ULNA_DOUBT_FLAT)
        add(&take->findings, ULNA_DOUBT_FLAT,
            "all markers are in one plane, as if one camera had seen them: positions in space are needed, with three "
            "coordinates");
    if (doubts & ULNA_DOUBT_SIZE)
        add_size(take);
    if (doubts & ULNA_DOUBT_PART)
        add_part(take);
    if (doubts & ULNA_DOUBT_NAMES)
        add_names(take);
    if (doubts & (ULNA_DOUBT_MIRRORED | ULNA_DOUBT_SIDES))
        add_mirrored(take);
}

/* ---- reasons to reject -------------------------------------------------------------------------------------------------- */

static void add_rejections(ulna_track_result *r)
{
    ulna_trust *trust = &r->trust;
    double mm = 1e3 * trust->typical_rms;
    int used = r->summary.markers_used;
    if (trust->reasons & ULNA_REASON_POOR)
        add(&r->findings, ULNA_REASON_POOR, "errors of %.0f mm are more than skin moves on bones", mm);
    else if (trust->reasons & ULNA_REASON_ROUGH)
        add(&r->findings, ULNA_REASON_ROUGH, "errors of %.0f mm are large (rough offsets)", mm);
    if (trust->reasons & ULNA_REASON_UNDETERMINED)
        add(&r->findings, ULNA_REASON_UNDETERMINED, "%d marker%s cannot determine %d degrees of freedom", used,
            used == 1 ? "" : "s", trust->dofs_moved);
    if (trust->reasons & ULNA_REASON_LOST)
        add(&r->findings, ULNA_REASON_LOST, "more than a tenth of the frames are lost");
    if (trust->reasons & ULNA_REASON_UNSURE)
        add(&r->findings, ULNA_REASON_UNSURE, "more than half of the frames are lost, doubtful, bridged or empty");
    if (trust->reasons & ULNA_REASON_MISPLACED)
        add(&r->findings, ULNA_REASON_MISPLACED, "more than a quarter of the markers are attached in the wrong place");
    if (trust->reasons & ULNA_REASON_IMPLAUSIBLE)
        add(&r->findings, ULNA_REASON_IMPLAUSIBLE, "more than a quarter of the angles are far outside their limits");
}

/* ---- reasons to look ------------------------------------------------------------------------------------------------------ */

static void add_frames(ulna_track_result *r)
{
    const ulna_track_summary *s = &r->summary;
    const struct {
        int count;
        const char *one, *several;
    } marks[] = {{s->lost, "is lost", "are lost"},
                 {s->doubtful, "is doubtful", "are doubtful"},
                 {s->jumps, "has a jump", "have a jump"},
                 {s->bridged, "is bridged", "are bridged"},
                 {s->recovered, "is recovered", "are recovered"},
                 {s->empty, "is empty", "are empty"},
                 {s->outside_limits, "has an angle far outside its limits", "have an angle far outside its limits"}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (marks[i].count)
            add(&r->findings, ULNA_REASON_FRAMES, "%d frame%s %s", marks[i].count, marks[i].count == 1 ? "" : "s",
                marks[i].count == 1 ? marks[i].one : marks[i].several);
}

static int is_name_unsure(const ulna_take *take)
{
    for (int i = 0; i < take->exchange_count; i++)
        if (take->exchanges[i].is_by_majority)
            return 1;
    return 0;
}

static void add_markers(const ulna_take *take, ulna_track_result *r)
{
    roster names = {0};
    for (size_t i = 0; i < take->set.count; i++)
        if (r->markers[i].misplaced)
            enlist(&names, take->set.items[i].marker, "");
    if (r->trust.reasons & ULNA_REASON_OUTLIERS)
        add(&r->findings, ULNA_REASON_OUTLIERS, "markers are too far off to count in more than half of the frames");
    if (names.count)
        add(&r->findings, ULNA_REASON_MARKERS, "%d marker%s too far off in most frames: %s", names.count,
            names.count == 1 ? " is" : "s are", roster_text(&names));
    if (r->swap_count)
        add(&r->findings, ULNA_REASON_MARKERS, "markers are swapped in %d range%s of frames%s", r->swap_count,
            r->swap_count == 1 ? "" : "s",
            is_name_unsure(take)
                ? "; the skeleton does not tell which of the names are right, so those of most frames are taken: "
                  "look at the frames before and after"
                : "");
}

/* What holds for one part of the take does not hold for the other. */
static void add_shifts(const ulna_take *take, ulna_track_result *r)
{
    for (int i = 0; i < r->shift_count; i++) {
        const ulna_shift *s = &r->shifts[i];
        const ulna_attachment *item = &take->set.items[s->marker];
        add(&r->findings, ULNA_REASON_SHIFTED,
            "%.40s %s on %.40s by %.0f mm or more at about frame %lld, and stays there: look at frames %lld to "
            "%lld, or calibrate and solve the two parts apart",
            item->marker, s->is_after_gap ? "was missing and is elsewhere" : "has shifted",
            ulna_model_body_name(take->model, item->body), 1e3 * s->distance, (long long)take->first_frame + s->frame,
            (long long)take->first_frame + s->first, (long long)take->first_frame + s->last);
    }
}

static void add_limits(const ulna_model *model, ulna_track_result *r)
{
    roster names = {0};
    char label[160];
    for (int d = 0; d < model->nv; d++)
        if (r->dofs[d].is_outside && ulna_model_dof_label(model, d, label, sizeof label))
            enlist(&names, label, "");
    if (names.count)
        add(&r->findings, ULNA_REASON_LIMITS, "%d angle%s far outside %s limits for more than a tenth of the take: %s",
            names.count, names.count == 1 ? " is" : "s are", names.count == 1 ? "its" : "their", roster_text(&names));
}

/* How many of a body's own degrees of freedom are measured. */
static int measured_of(const ulna_model *model, const ulna_track_result *r, int body)
{
    int count = 0;
    for (int d = model->body[body].dof; d < model->body[body].dof + model->body[body].dof_count; d++)
        count += r->dofs[d].is_measured;
    return count;
}

/* 1 if nothing is measured from this body on, and it can move. */
static int is_all_unmeasured(const ulna_model *model, const ulna_track_result *r, int body)
{
    const int *subtree = model->preorder + model->body[body].preorder;
    for (int i = 0; i < model->body[body].subtree; i++)
        if (measured_of(model, r, subtree[i]))
            return 0;
    return model->body[body].dof_count > 0;
}

static int has_joints_beyond(const ulna_model *model, int body)
{
    const int *subtree = model->preorder + model->body[body].preorder;
    for (int i = 1; i < model->body[body].subtree; i++)
        if (model->body[subtree[i]].dof_count)
            return 1;
    return 0;
}

/* A body nearer to the root is listed for it. */
static int is_listed_above(const ulna_model *model, const ulna_track_result *r, int body)
{
    for (int b = model->body[body].parent; b != ULNA_NONE; b = model->body[b].parent)
        if (is_all_unmeasured(model, r, b))
            return 1;
    return 0;
}

/* "spine and beyond, left_forearm.Rx" */
static void add_unmeasured(const ulna_model *model, ulna_track_result *r)
{
    roster names = {0};
    char label[160];
    if (!r->trust.unmeasured)
        return;
    for (int b = 0; b < model->nb; b++) {
        const ulna_body *body = &model->body[b];
        int is_all = is_all_unmeasured(model, r, b);
        if (is_all && !is_listed_above(model, r, b))
            enlist(&names, ulna_model_body_name(model, b), has_joints_beyond(model, b) ? " and beyond" : "");
        for (int d = body->dof; d < body->dof + body->dof_count && !is_all; d++)
            if (!r->dofs[d].is_measured && ulna_model_dof_label(model, d, label, sizeof label))
                enlist(&names, label, "");
    }
    add(&r->findings, ULNA_REASON_UNMEASURED, "%d of %d degrees of freedom are not measured by the markers: %s",
        r->trust.unmeasured, model->nv, roster_text(&names));
}

void ulna_track_add_findings(const ulna_take *take, ulna_track_result *r)
{
    add_rejections(r);
    add_frames(r);
    add_markers(take, r);
    add_shifts(take, r);
    if (r->trust.cut_frames)
        add(&r->findings, ULNA_REASON_CUT, "the file of the recording ends early: %d frame%s missing",
            r->trust.cut_frames, r->trust.cut_frames == 1 ? " is" : "s are");
    if (r->trust.has_other_lengths)
        add(&r->findings, ULNA_REASON_LENGTHS,
            "bones of the skeleton do not have this person's lengths, it seems: with others the calibration fits much better, or they are all too "
            "long or too short. Angles may be wrong, at worst by tens of degrees; calibrate with lengths");
    if (r->trust.is_set_undetermined)
        add(&r->findings, ULNA_REASON_OFFSETS,
            "the offsets of the markers are a guess: their calibration could hardly determine them, so that angles may be off alike in all "
            "frames; calibrate on a take in which every joint bends");
    add_limits(take->model, r);
    add_unmeasured(take->model, r);
}
