/* What `ulna calibrate` has found: for people and for other programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calibrate/calibrate.h"
#include "cli/solve/solve.h"

enum { TEXT = 900, MOST_NAMES = 10 };
#define UNSURE_MARKER 0.02 /* m, of a marker's offset: shown from here on */
#define UNSURE_JOINT 0.015 /* m, of a joint's place: shown from here on */
#define DEGREES 57.29577951308232
#define UNSURE_ROTATION 20 /* degrees, of a joint's rotation: shown from here on */
#define OUTLIERS_MATTER 2  /* times the error without them */
#define MOST_OUTLIERS 0.3  /* of the positions: more means that nothing fits */
#define BEYOND_OFTEN 0.05  /* of a bone's angles: shown from here on */

/* ---- for other programs --------------------------------------------------------------------------------------------- */

static void put_marker(const calibrate_job *job, size_t i, json_t *row)
{
    const ulna_model *model = job->skeleton.model;
    const ulna_attachment *item = &job->result.set.items[i];
    double mm[3] = {1e3 * item->offset[0], 1e3 * item->offset[1], 1e3 * item->offset[2]};
    put_text(row, "name", item->marker);
    put_text(row, "bone", ulna_model_body_name(model, item->body));
    put_numbers(row, "offset_mm", mm, 3);
    if (!job->result.markers)
        return;
    const ulna_calibrated_marker *m = &job->result.markers[i];
    put_number(row, "rms_mm", 1e3 * m->rms);
    put_number(row, "rms_all_mm", 1e3 * m->rms_all);
    put_count(row, "seen", m->seen);
    put_count(row, "outliers", m->outliers);
    double deviation[3] = {1e3 * m->deviation[0], 1e3 * m->deviation[1], 1e3 * m->deviation[2]};
    put_numbers(row, "deviation_mm", deviation, 3);
    put_number(row, "undetermined", m->undetermined < 0 ? (double)NAN : m->undetermined);
    put_flag(row, "suspect", m->is_suspect);
    if (m->moved_from != ULNA_NONE)
        put_text(row, "moved_from", ulna_model_body_name(model, m->moved_from));
}

/* Were the axes found by trying, the same ones for all takes? Then they are those of the session. */
static int are_axes_tried(const calibrate_job *job)
{
    for (int i = -1; i < job->more_count; i++) {
        const ulna_take *take = i < 0 ? job->take : job->more_takes[i];
        if (take->axes_source != ULNA_AXES_FIT && take->axes_source != ULNA_AXES_UPRIGHT)
            return 0;
        if (memcmp(take->axes, job->take->axes, sizeof take->axes) != 0)
            return 0;
    }
    return 1;
}

void calibrate_add_results(json_t *object, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    put_number(object, "rms_mm", 1e3 * r->rms);
    put_number(object, "rms_holdout_mm", 1e3 * r->rms_held_out);
    put_count(object, "frames_used", r->frames_used);
    put_count(object, "frames_holdout", r->frames_held_out);
    put_count(object, "rounds", r->rounds);
    put_count(object, "rescued", r->rescued);
    put_number(object, "seconds", r->seconds);
    put_number(object, "outlier_percent", 100 * r->outliers);
    put_number(object, "limit_violation_percent", 100 * r->violations);
    put_number(object, "undetermined_directions", r->undetermined < 0 ? (double)NAN : r->undetermined);
    put_count(object, "suspects", r->suspect_count);
    put_count(object, "repaired", r->repaired);
    put_count(object, "unmatched", r->unmatched);
    put_number(object, "rms_all_mm", 1e3 * r->rms_all);
    put_number(object, "rms_all_with_lengths_mm", 1e3 * r->lengths.rms_symmetric);
    put_number(object, "rms_all_with_shoulders_mm", 1e3 * r->lengths.rms_shoulders);
    put_number(object, "person_to_skeleton", r->lengths.size);
    put_text(object, "skeleton", job->skeleton_path);
    put_text(object, "bones_from", job->from);
    put_numbers(object, "axes", job->take->axes, 9);
    put_flag(object, "axes_tried", are_axes_tried(job));
    json_t *markers = put_list(object, "markers");
    for (size_t i = 0; i < r->set.count; i++)
        put_marker(job, i, put_row(markers));
    if (r->take_rms) {
        json_t *session = put_object(object, "session");
        json_t *apart = put_list(session, "rms_mm"), *elsewhere = put_list(session, "elsewhere");
        put_flag(session, "placed_anew", r->is_placed_anew);
        for (int t = 0; t < r->take_count; t++)
            json_array_append_new(apart, cli_json_number(1e3 * r->take_rms[t]));
        for (size_t i = 0; i < r->set.count; i++)
            if (r->markers[i].differs_between_takes)
                json_array_append_new(elsewhere, cli_json_text(r->set.items[i].marker));
    }
    json_t *joints = put_object(object, "joint_deviation_mm"),
           *beyond = put_object(object, "limit_violation_percent_of");
    json_t *rotations = put_object(object, "joint_rotation_deviation_deg");
    json_t *scales = r->scale ? put_object(object, "scales") : NULL;
    for (int b = 0; b < ulna_model_body_count(job->skeleton.model); b++) {
        const char *name = ulna_model_body_name(job->skeleton.model, b);
        if (r->deviation && r->deviation[b] > 0)
            put_number(joints, name, 1e3 * r->deviation[b]);
        if (r->rotation_deviation && r->rotation_deviation[b] > 0)
            put_number(rotations, name, DEGREES * r->rotation_deviation[b]);
        if (r->limit_violation && r->limit_violation[b] > 0)
            put_number(beyond, name, 100 * r->limit_violation[b]);
        if (r->scale && r->scale[b] != 1)
            put_number(scales, name, r->scale[b]);
    }
}

/* ---- for people ------------------------------------------------------------------------------------------------------- */

static int append(char text[TEXT], const char *format, ...) ULNA_PRINTF(2, 3);

/* To a list, as long as there is room; 0 if there is none. */
static int append(char text[TEXT], const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    if (length > TEXT - 180)
        return 0;
    if (length)
        length += (size_t)snprintf(text + length, TEXT - length, ", ");
    va_start(arguments, format);
    vsnprintf(text + length, TEXT - length, format, arguments);
    va_end(arguments);
    return 1;
}

/* What has the values of a list: a marker of the set, or a bone. */
typedef const char *(*name_of)(const calibrate_job *job, int index);

static const char *bone_name(const calibrate_job *job, int index)
{
    return ulna_model_body_name(job->skeleton.model, index);
}

static const char *marker_name(const calibrate_job *job, int index)
{
    return files_marker_name(&job->result.set, (size_t)index);
}

/* Names from the one with the highest value down, while it is above `least`, and `factor` times the value. */
static void list_largest(const calibrate_job *job, name_of name, const double *values, int count, double least,
                         double factor, const char *unit, char text[TEXT])
{
    double last = INFINITY;
    int before = -1, more = 0;
    for (int shown = 0;; shown++) {
        int best = -1;
        for (int i = 0; i < count; i++) /* the next below `last`, or as high and farther on */
            if ((values[i] < last || (values[i] == last && i > before)) && values[i] > least &&
                (best < 0 || values[i] > values[best]))
                best = i;
        if (best < 0)
            break;
        last = values[best];
        before = best;
        if (shown >= MOST_NAMES)
            more++;
        else
            append(text, "%.40s %.0f%s", name(job, best), factor * values[best], unit);
    }
    if (more)
        append(text, "and %d more", more);
}

static void list_bones(const calibrate_job *job, const double *values, double least, double factor, const char *unit,
                       char text[TEXT])
{
    list_largest(job, bone_name, values, ulna_model_body_count(job->skeleton.model), least, factor, unit, text);
}

static void list_unsure_markers(const calibrate_job *job, char text[TEXT])
{
    const ulna_calibration *r = &job->result;
    double *lengths = cli_allocate(r->set.count + 1, sizeof *lengths);
    for (size_t i = 0; i < r->set.count; i++) {
        const double *d = r->markers[i].deviation;
        lengths[i] = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
    list_largest(job, marker_name, lengths, (int)r->set.count, UNSURE_MARKER, 1e3, "", text);
    free(lengths);
}

static void say_unsure(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char markers[TEXT] = "", joints[TEXT] = "", rotations[TEXT] = "";
    if (r->undetermined < 0)
        return;
    list_unsure_markers(job, markers);
    list_bones(job, r->deviation, UNSURE_JOINT, 1e3, "", joints);
    list_bones(job, r->rotation_deviation, UNSURE_ROTATION / DEGREES, DEGREES, "", rotations);
    if (r->is_undetermined)
        fact_text(
            tool, "unsure",
            "nearly everything: most offsets stay about where they were expected. Either the take hardly moves "
            "(one in which every joint bends helps), or the skeleton is another's (--scale finds its lengths), or "
            "the error is too large to tell");
    else if (*markers)
        fact_text(tool, "unsure", "markers, mm (standard deviation of their place on the bone): %s", markers);
    if (*joints && !r->is_undetermined)
        fact_text(tool, *markers ? "" : "unsure", "joints, mm: %s", joints);
    if (*rotations && !r->is_undetermined)
        fact_text(tool, *markers || *joints ? "" : "unsure", "rotations of joints in a frame, degrees: %s", rotations);
}

static void say_limits(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char text[TEXT] = "";
    int limited = 0;
    const double *lower = ulna_model_lower(job->skeleton.model), *upper = ulna_model_upper(job->skeleton.model);
    for (int d = 0; d < ulna_model_dof_count(job->skeleton.model); d++)
        limited |= isfinite(lower[d]) || isfinite(upper[d]);
    if (!limited)
        return;
    if (r->limit_violation)
        list_bones(job, r->limit_violation, BEYOND_OFTEN, 100, " %", text);
    fact_text(tool, "limits", "%.1f %% of the angles with limits are more than 5 degrees beyond them%s%s",
              100 * r->violations, *text ? "; most often " : "", text);
}

static void say_markers(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char suspects[TEXT] = "", moved[TEXT] = "";
    int shown = 0;
    for (size_t i = 0; i < r->set.count && r->markers; i++) {
        const char *name = files_marker_name(&r->set, i);
        const char *bone = ulna_model_body_name(job->skeleton.model, r->set.items[i].body);
        if (r->markers[i].is_suspect)
            shown += append(suspects, "%.40s on %.40s %.0f mm (far off in %d of %d frames)", name, bone,
                            1e3 * r->markers[i].rms_all, r->markers[i].outliers, r->markers[i].seen);
        if (r->markers[i].moved_from != ULNA_NONE)
            append(moved, "%.40s from %.40s to %.40s", name,
                   ulna_model_body_name(job->skeleton.model, r->markers[i].moved_from), bone);
    }
    if (*moved)
        fact_text(tool, "repaired", "%s", moved);
    else if (job->options.repair)
        fact_text(tool, "repaired",
                  "none: no marker's error is above three times the median, or no bone suits it better");
    if (shown < r->suspect_count)
        snprintf(suspects + strlen(suspects), TEXT - strlen(suspects), ", and %d more", r->suspect_count - shown);
    if (*suspects)
        fact_text(tool, "suspect", "%s: far more than the others. Are they on the right bone, and not swapped?%s",
                  suspects, job->options.repair ? "" : " --repair looks for a better one");
}

/* Whether several takes are of one session. */
static void say_session(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char text[TEXT] = "", apart[TEXT] = "";
    if (!r->take_rms)
        return;
    for (int t = 0; t < r->take_count; t++)
        append(apart, "%.2f", 1e3 * r->take_rms[t]);
    for (size_t i = 0; i < r->set.count; i++)
        if (r->markers[i].differs_between_takes)
            append(text, "%.40s", files_marker_name(&r->set, i));
    fact_text(tool, "session", "%d takes; each by itself %s mm RMS", r->take_count, apart);
    if (r->is_placed_anew)
        fact_text(tool, "",
                  "the markers were placed anew between the takes: one calibration does not fit them. Calibrate each "
                  "take by itself");
    if (*text)
        fact_text(tool, "", "elsewhere in one take than in another: %s", text);
}

static void say_scales(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char text[TEXT] = "";
    for (int b = 0; b < r->body_count && r->scale; b++)
        if (fabs(r->scale[b] - 1) > 0.02)
            append(text, "%.40s %.0f %%", ulna_model_body_name(job->skeleton.model, b), 100 * r->scale[b]);
    if (r->scale) /* a bone leads to the body of that name */
        fact_text(tool, "lengths", "%s%s%s", *text ? "of the bones that end at " : "", *text ? text : "as they were",
                  *text ? "; the others to 2 % as they were" : ", to 2 %");
}

/* Offsets make up for it where limbs bend little, so that no error tells. */
static void say_other_size(const cli *tool, const ulna_length_trial *lengths)
{
    double percent = 100 * (1 / lengths->size - 1);
    if (lengths->is_other_size)
        fact_text(
            tool, lengths->are_others_better ? "" : "lengths",
            "the skeleton seems to be about %.0f %% too %s for this person: is it the right skeleton, in the right unit? --symmetric "
            "finds the lengths",
            fabs(percent), percent > 0 ? "large" : "small");
}

/* A skeleton of someone else, or whose bones were guessed: no offset makes up for that where limbs are lifted. */
static void say_other_lengths(const cli *tool, const calibrate_job *job)
{
    const ulna_length_trial *lengths = &job->result.lengths;
    char text[TEXT] = "";
    if (!lengths->are_others_better)
        return;
    for (int b = 0; b < job->result.body_count; b++)
        if (fabs(lengths->scale[b] - 1) > 0.05)
            append(text, "%.40s %.0f %%", ulna_model_body_name(job->skeleton.model, b), 100 * lengths->scale[b]);
    fact_text(tool, "lengths",
              "not this person's, it seems: with --symmetric the error, outliers too, falls from %.1f to %.1f mm%s%s",
              1e3 * lengths->rms_given, 1e3 * lengths->rms_symmetric, *text ? ". Bones that end at " : "", text);
    if (lengths->are_shoulders_better)
        fact_text(tool, "", "to %.1f mm with --shoulders, which changes clavicles and upper arms only",
                  1e3 * lengths->rms_shoulders);
}

static void say_error(const cli *tool, const json_t *object, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    int is_split = r->rms_all > OUTLIERS_MATTER * r->rms;
    if (is_split)
        fact_line(tool, object, "error", "{rms_all_mm%.1f} mm RMS with all positions: look at the suspects");
    fact_line(tool, object, is_split ? "" : "error",
              job->options.evaluate_only
                  ? "{rms_mm%.2f} mm RMS from the reference motion, {frames_used} frames"
                  : "{rms_mm%.2f} mm RMS in the {frames_used} frame{frames_used:/s} used[, {rms_holdout_mm%.2f} mm in "
                    "{frames_holdout} left out]");
    if (is_split)
        fact_text(tool, "", "without positions that are too far off to count");
}

ulna_status calibrate_check(const ulna_calibration *r, int is_forced, ulna_error *error)
{
    if (is_forced || !(r->outliers > MOST_OUTLIERS))
        return ULNA_OK;
    return cli_fail(
        error, ULNA_ERR_ARGUMENT,
        "%.0f %% of the positions are too far off to count, so nothing is written: is it this skeleton, are "
        "the units right, is each marker on the right bone? (--no-checks goes on nevertheless)",
        100 * r->outliers);
}

void calibrate_print(const cli *tool, const json_t *object, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char axes[200];
    solve_axes_sentence(job->take, axes, sizeof axes);
    cli_title(tool, "%s%s%s", job->markers_path, job->subject ? ", " : "", job->subject ? job->subject : "");
    cli_say(tool, ": %zu marker%s on %d bones\n", r->set.count, r->set.count == 1 ? "" : "s", r->bodies);
    if (job->is_unnamed)
        fact_text(tool, "skeleton", "the built-in %s, since no --skeleton was given", SOLVE_UNNAMED);
    fact_line(tool, object, "bones", "by {bones_from}");
    fact_text(tool, "axes", "%s", axes);
    say_error(tool, object, job);
    if (job->options.evaluate_only)
        return;
    say_session(tool, job);
    fact_line(tool, object, "outliers",
              "{outlier_percent?}{outlier_percent%.1f} % of the positions are too far off to count");
    say_scales(tool, job);
    say_other_lengths(tool, job);
    say_other_size(tool, &job->result.lengths);
    say_markers(tool, job);
    say_unsure(tool, job);
    say_limits(tool, job);
    fact_text(tool, "time", "%.3f s, %d rounds", r->seconds + job->lengths.seconds, r->rounds + job->lengths.rounds);
}
