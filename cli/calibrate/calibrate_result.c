/* What `ulna calibrate` has found: for people and for other programs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/calibrate/calibrate.h"
#include "cli/table.h"

enum { COLUMN = 12, TEXT = 900, MOST_NAMES = 10 };
#define FREE_DIRECTION 0.5 /* of all offsets on a bone: told from here on */
#define LITTLE_TOLD                                                                                                    \
    0.5 /* of the directions that poses could make up for, undetermined: the take hardly moves, or does not fit */
#define OUTLIERS_MATTER 2 /* times the error without them */
#define BEYOND_OFTEN 0.05 /* of a bone's angles: told from here on */

/* Directions of the offsets on a bone that the take does not determine. */
static double freedom_on(const ulna_calibration *r, int body)
{
    double sum = 0;
    for (size_t i = 0; i < r->set.count && r->markers; i++)
        sum += r->set.items[i].body == body && r->markers[i].freedom > 0 ? r->markers[i].freedom : 0;
    return sum;
}

/* Degrees of freedom that move a marker: so many directions of the offsets a single pose leaves open. */
static int dofs_used(const ulna_calibration *r, const ulna_model *model)
{
    int count = 0;
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        int moves = 0;
        for (size_t i = 0; i < r->set.count && !moves; i++)
            for (int b = r->set.items[i].body; b != ULNA_NONE && !moves; b = ulna_model_body_parent(model, b))
                moves = b == ulna_model_dof_body(model, d);
        count += moves;
    }
    return count;
}

static int bones_used(const ulna_calibration *r, const ulna_model *model)
{
    int count = 0;
    for (int b = 0; b < ulna_model_body_count(model); b++) {
        size_t i = 0;
        while (i < r->set.count && r->set.items[i].body != b)
            i++;
        count += i < r->set.count;
    }
    return count;
}

/* ---- for other programs --------------------------------------------------------------------------------------------- */

static json_t *marker_json(const calibrate_job *job, size_t i)
{
    const ulna_attachment *item = &job->result.set.items[i];
    double mm[3] = {1e3 * item->offset[0], 1e3 * item->offset[1], 1e3 * item->offset[2]};
    json_t *row = json_object();
    json_object_set_new(row, "name", cli_json_text(item->marker));
    json_object_set_new(row, "bone", cli_json_text(ulna_model_body_name(job->skeleton.model, item->body)));
    json_object_set_new(row, "offset_mm", cli_json_numbers(mm, 3));
    if (!job->result.markers)
        return row;
    const ulna_calibrated_marker *m = &job->result.markers[i];
    json_object_set_new(row, "rms_mm", cli_json_number(1e3 * m->rms));
    json_object_set_new(row, "rms_all_mm", cli_json_number(1e3 * m->rms_all));
    json_object_set_new(row, "seen", json_integer(m->seen));
    json_object_set_new(row, "outliers", json_integer(m->outliers));
    json_object_set_new(row, "undetermined", cli_json_number(m->freedom < 0 ? NAN : m->freedom));
    json_object_set_new(row, "suspect", json_boolean(m->suspect));
    if (m->moved_from != ULNA_NONE)
        json_object_set_new(row, "moved_from", cli_json_text(ulna_model_body_name(job->skeleton.model, m->moved_from)));
    return row;
}

void calibrate_add_results(json_t *object, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    json_t *markers = json_array();
    json_object_set_new(object, "rms_mm", cli_json_number(1e3 * r->rms));
    json_object_set_new(object, "rms_holdout_mm", cli_json_number(1e3 * r->rms_held_out));
    json_object_set_new(object, "frames_used", json_integer(r->frames_used));
    json_object_set_new(object, "frames_holdout", json_integer(r->frames_held_out));
    json_object_set_new(object, "rounds", json_integer(r->rounds));
    json_object_set_new(object, "rescued", json_integer(r->rescued));
    json_object_set_new(object, "seconds", cli_json_number(r->seconds));
    json_object_set_new(object, "outlier_percent", cli_json_number(100 * r->outliers));
    json_object_set_new(object, "limit_violation_percent", cli_json_number(100 * r->violations));
    json_object_set_new(object, "undetermined_directions", r->weak < 0 ? json_null() : cli_json_number(r->weak));
    json_object_set_new(object, "suspects", json_integer(r->suspects));
    json_object_set_new(object, "repaired", json_integer(r->repaired));
    json_object_set_new(object, "unmatched", json_integer(r->unmatched));
    json_object_set_new(object, "bones_from", cli_json_text(job->from));
    json_object_set_new(object, "axes", cli_json_numbers(job->axes, 9));
    for (size_t i = 0; i < r->set.count; i++)
        json_array_append_new(markers, marker_json(job, i));
    json_object_set_new(object, "markers", markers);
    json_t *free_bones = json_object(), *beyond = json_object();
    for (int b = 0; b < r->body_count && r->beyond; b++) {
        const char *name = ulna_model_body_name(job->skeleton.model, b);
        if (freedom_on(r, b) > FREE_DIRECTION)
            json_object_set_new(free_bones, name, cli_json_number(freedom_on(r, b)));
        if (r->beyond[b] > 0)
            json_object_set_new(beyond, name, cli_json_number(100 * r->beyond[b]));
    }
    json_object_set_new(object, "undetermined_on", free_bones);
    json_object_set_new(object, "limit_violation_percent_of", beyond);
    if (!r->scale)
        return;
    json_t *scales = json_object();
    for (int b = 0; b < r->body_count; b++)
        if (r->scale[b] != 1)
            json_object_set_new(scales, ulna_model_body_name(job->skeleton.model, b), cli_json_number(r->scale[b]));
    json_object_set_new(object, "scales", scales);
}

/* ---- for people ------------------------------------------------------------------------------------------------------- */

static void axes_text(const double axes[9], char text[8])
{
    size_t length = 0;
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            if (fabs(axes[3 * row + k]) > 0.5) {
                if (axes[3 * row + k] < 0)
                    text[length++] = '-';
                text[length++] = "xyz"[k];
            }
    text[length] = 0;
}

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

/* Bones from the one with the highest value down, while it is above `least`: names, and percent if asked. */
static void list_bones(const calibrate_job *job, const double *values, double least, int percent, char text[TEXT])
{
    double last = INFINITY;
    int before = -1, count = ulna_model_body_count(job->skeleton.model), more = 0;
    for (int shown = 0;; shown++) {
        int best = -1;
        for (int b = 0; b < count; b++) /* the next below `last`, or as high and farther on */
            if ((values[b] < last || (values[b] == last && b > before)) && values[b] > least &&
                (best < 0 || values[b] > values[best]))
                best = b;
        if (best < 0)
            break;
        last = values[best];
        before = best;
        if (shown >= MOST_NAMES)
            more++;
        else if (percent)
            append(text, "%.40s %.0f %%", ulna_model_body_name(job->skeleton.model, best), 100 * values[best]);
        else
            append(text, "%.40s", ulna_model_body_name(job->skeleton.model, best));
    }
    if (more)
        append(text, "and %d more", more);
}

static void say_loose(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char text[TEXT] = "";
    double *freedom = calloc((size_t)r->body_count + 1, sizeof *freedom);
    if (!freedom || r->weak < 0) {
        free(freedom);
        return;
    }
    for (int b = 0; b < r->body_count; b++)
        freedom[b] = freedom_on(r, b);
    list_bones(job, freedom, FREE_DIRECTION, 0, text);
    if (r->weak > LITTLE_TOLD * fmin(dofs_used(r, job->skeleton.model), 3 * (double)r->set.count))
        table_fact(
            tool, COLUMN, "loose",
            "nearly everything: most offsets stay about where they began. Either the take hardly moves (one in which "
            "every joint bends tells more), or the skeleton is another's (--scale finds its lengths)");
    else if (*text)
        table_fact(tool, COLUMN, "loose",
                   "%s: markers there could be shifted or turned together, and the joint with them, at the same error. "
                   "Angles of these joints may be off by a constant",
                   text);
    free(freedom);
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
    if (r->beyond)
        list_bones(job, r->beyond, BEYOND_OFTEN, 1, text);
    table_fact(tool, COLUMN, "limits", "%.1f %% of the angles with limits are more than 5 degrees beyond them%s%s",
               100 * r->violations, *text ? "; most often " : "", text);
}

static void say_markers(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char suspects[TEXT] = "", moved[TEXT] = "";
    int told = 0;
    for (size_t i = 0; i < r->set.count && r->markers; i++) {
        const char *name = r->set.items[i].marker;
        const char *bone = ulna_model_body_name(job->skeleton.model, r->set.items[i].body);
        if (r->markers[i].suspect)
            told += append(suspects, "%.40s on %.40s %.0f mm (far off in %d of %d frames)", name, bone,
                           1e3 * r->markers[i].rms_all, r->markers[i].outliers, r->markers[i].seen);
        if (r->markers[i].moved_from != ULNA_NONE)
            append(moved, "%.40s from %.40s to %.40s", name,
                   ulna_model_body_name(job->skeleton.model, r->markers[i].moved_from), bone);
    }
    if (*moved)
        table_fact(tool, COLUMN, "repaired", "%s", moved);
    if (told < r->suspects)
        snprintf(suspects + strlen(suspects), TEXT - strlen(suspects), ", and %d more", r->suspects - told);
    if (*suspects)
        table_fact(tool, COLUMN, "suspect",
                   "%s: far more than the others. Are they on the right bone, and not swapped?%s", suspects,
                   job->options.repair ? "" : " --repair looks for a better one");
}

static void say_scales(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char text[TEXT] = "";
    for (int b = 0; b < r->body_count && r->scale; b++)
        if (fabs(r->scale[b] - 1) > 0.02)
            append(text, "%.40s %.0f %%", ulna_model_body_name(job->skeleton.model, b), 100 * r->scale[b]);
    if (r->scale) /* a bone leads to the body of that name */
        table_fact(tool, COLUMN, "lengths", "%s%s%s", *text ? "of the bones that end at " : "",
                   *text ? text : "as they were", *text ? "; the others to 2 % as they were" : ", to 2 %");
}

/* Of all positions in the frames used. */
static double rms_with_outliers(const ulna_calibration *r)
{
    double squares = 0, seen = 0;
    for (size_t i = 0; i < r->set.count && r->markers; i++) {
        if (r->markers[i].seen)
            squares += r->markers[i].rms_all * r->markers[i].rms_all * r->markers[i].seen;
        seen += r->markers[i].seen;
    }
    return seen > 0 ? sqrt(squares / seen) : 0;
}

static void say_error(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    if (job->average)
        table_fact(tool, COLUMN, "error", "%.2f mm RMS from the reference motion, %d frames", 1e3 * r->rms,
                   r->frames_used);
    else if (r->frames_held_out)
        table_fact(tool, COLUMN, "error", "%.2f mm RMS in the %d frames used, %.2f mm in %d left out", 1e3 * r->rms,
                   r->frames_used, 1e3 * r->rms_held_out, r->frames_held_out);
    else
        table_fact(tool, COLUMN, "error", "%.2f mm RMS in the %d frames used", 1e3 * r->rms, r->frames_used);
    double all = rms_with_outliers(r);
    if (all > OUTLIERS_MATTER * r->rms)
        table_fact(tool, COLUMN, "",
                   "without what is too far off to count; with all of it %.1f mm: look at the suspects", 1e3 * all);
}

void calibrate_print(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char axes[8];
    axes_text(job->axes, axes);
    cli_title(tool, "%s", job->markers_path);
    cli_say(tool, ": %zu marker%s on %d bones\n", r->set.count, r->set.count == 1 ? "" : "s",
            bones_used(r, job->skeleton.model));
    table_fact(tool, COLUMN, "bones", "by %s", job->from);
    table_fact(tool, COLUMN, "axes", "%s of the recording are the skeleton's xyz", axes);
    say_error(tool, job);
    if (job->average)
        return;
    if (r->outliers > 0)
        table_fact(tool, COLUMN, "outliers", "%.2g %% of the positions are too far off to count", 100 * r->outliers);
    say_scales(tool, job);
    say_markers(tool, job);
    say_loose(tool, job);
    say_limits(tool, job);
    table_fact(tool, COLUMN, "time", "%.3f s, %d rounds", r->seconds + job->lengths.seconds,
               r->rounds + job->lengths.rounds);
}

void calibrate_print_files(const cli *tool, const json_t *object)
{
    static const char *const keys[] = {"output", "model"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(object, keys[i]))
            table_fact(tool, COLUMN, "wrote", "%s", json_string_value(json_object_get(object, keys[i])));
}
