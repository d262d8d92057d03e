/* What `ulna calibrate` has found: for people and for other programs. */
#include <math.h>
#include <string.h>

#include "calibrate.h"
#include "table.h"

enum { COLUMN = 12, TEXT = 600 };
#define FREE_DIRECTION 0.5 /* of a marker's offset: told from here on */

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
    json_object_set_new(object, "seconds", cli_json_number(r->seconds));
    json_object_set_new(object, "outlier_percent", cli_json_number(100 * r->outliers));
    json_object_set_new(object, "limit_violation_percent", cli_json_number(100 * r->violations));
    json_object_set_new(object, "undetermined_directions", r->weak < 0 ? json_null() : json_integer(r->weak));
    json_object_set_new(object, "suspects", json_integer(r->suspects));
    json_object_set_new(object, "repaired", json_integer(r->repaired));
    json_object_set_new(object, "unmatched", json_integer(r->unmatched));
    json_object_set_new(object, "bones_from", cli_json_text(job->from));
    json_object_set_new(object, "axes", cli_json_numbers(job->axes, 9));
    for (size_t i = 0; i < r->set.count; i++)
        json_array_append_new(markers, marker_json(job, i));
    json_object_set_new(object, "markers", markers);
    if (!r->scale)
        return;
    json_t *scales = json_object();
    for (int b = 0; b < r->body_count; b++)
        if (r->scale[b] != 1)
            json_object_set_new(scales, ulna_model_body_name(job->skeleton.model, b), cli_json_number(r->scale[b]));
    json_object_set_new(object, "scales", scales);
}

/* ---- for people ------------------------------------------------------------------------------------------------------- */

static void say_fact(const cli *tool, const char *label, const char *format, ...) ULNA_PRINTF(3, 4);

static void say_fact(const cli *tool, const char *label, const char *format, ...)
{
    char text[TEXT];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    cli_say(tool, "  %-*s", COLUMN - 2, label);
    table_wrap(tool, 0, COLUMN, COLUMN, text);
}

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

/* Names with a number behind each, as long as there is room. */
static void append(char text[TEXT], const char *name, const char *format, double number)
{
    size_t length = strlen(text);
    if (length > TEXT - 120)
        return;
    snprintf(text + length, TEXT - length, "%s%.40s ", length ? ", " : "", name);
    length = strlen(text);
    if (strcmp(format, "mm") == 0)
        snprintf(text + length, TEXT - length, "%.1f mm", number);
    else
        snprintf(text + length, TEXT - length, "%.0f %%", number);
}

static void say_markers(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char suspects[TEXT] = "", loose[TEXT] = "", moved[TEXT] = "";
    for (size_t i = 0; i < r->set.count && r->markers; i++) {
        const char *name = r->set.items[i].marker;
        if (r->markers[i].suspect)
            append(suspects, name, "mm", 1e3 * r->markers[i].rms);
        if (r->markers[i].freedom > FREE_DIRECTION && strlen(loose) < TEXT - 120)
            snprintf(loose + strlen(loose), TEXT - strlen(loose), "%s%.40s", *loose ? ", " : "", name);
        if (r->markers[i].moved_from != ULNA_NONE && strlen(moved) < TEXT - 200)
            snprintf(moved + strlen(moved), TEXT - strlen(moved), "%s%.40s from %.40s to %.40s", *moved ? ", " : "",
                     name, ulna_model_body_name(job->skeleton.model, r->markers[i].moved_from),
                     ulna_model_body_name(job->skeleton.model, r->set.items[i].body));
    }
    if (*moved)
        say_fact(tool, "repaired", "%s", moved);
    if (*suspects)
        say_fact(tool, "suspect", "%s: far more than the others. Are they on the right bone, and not swapped?%s",
                 suspects, job->options.repair ? "" : " --repair looks for a better one");
    if (*loose)
        say_fact(tool, "loose", "%s: the take does not determine these offsets in every direction", loose);
}

static void say_scales(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char text[TEXT] = "";
    for (int b = 0; b < r->body_count && r->scale; b++)
        if (fabs(r->scale[b] - 1) > 0.02)
            append(text, ulna_model_body_name(job->skeleton.model, b), "%", 100 * r->scale[b]);
    if (r->scale)
        say_fact(tool, "lengths", "%s",
                 *text ? text : "all bones to 2 % as they were"); /* a bone leads to the body of that name */
}

void calibrate_print(const cli *tool, const calibrate_job *job)
{
    const ulna_calibration *r = &job->result;
    char axes[8];
    axes_text(job->axes, axes);
    cli_title(tool, "%s", job->markers_path);
    cli_say(tool, ": %zu markers placed on %d bones\n", r->set.count, ulna_model_body_count(job->skeleton.model));
    say_fact(tool, "bones", "from %s", job->from);
    say_fact(tool, "axes", "%s of the recording are the skeleton's xyz", axes);
    if (job->average) {
        say_fact(tool, "error", "rms %.2f mm from the reference motion, %d frames", 1e3 * r->rms, r->frames_used);
        return;
    }
    if (r->frames_held_out)
        say_fact(tool, "error", "rms %.2f mm on the %d frames used, %.2f mm on %d others", 1e3 * r->rms, r->frames_used,
                 1e3 * r->rms_held_out, r->frames_held_out);
    else
        say_fact(tool, "error", "rms %.2f mm on the %d frames used", 1e3 * r->rms, r->frames_used);
    if (r->outliers > 0)
        say_fact(tool, "outliers", "%.2g %% of the positions do not count", 100 * r->outliers);
    say_scales(tool, job);
    say_markers(tool, job);
    say_fact(tool, "limits", "%.1f %% of the limited angles are more than 5 degrees beyond their limits",
             100 * r->violations);
    say_fact(tool, "time", "%.3f s, %d rounds", r->seconds, r->rounds);
}

void calibrate_print_files(const cli *tool, const json_t *object)
{
    static const char *const keys[] = {"output", "model"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (json_object_get(object, keys[i]))
            say_fact(tool, "wrote", "%s", json_string_value(json_object_get(object, keys[i])));
}
