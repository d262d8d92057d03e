/* Writes CSV: joint values if there are any, else markers. Degrees and metres unless asked otherwise; commas, decimal points,
 * quotes where a name needs them (RFC 4180), an empty cell for a marker that is missing. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/markers.h"
#include "formats/tables/csv.h"
#include "formats/tables/joint_table.h"
#include "math/math3.h"

static void put_units(ulna_writer *out, const char *angles, double unit, double rate)
{
    if (angles) {
        ulna_put(out, "# angles: ");
        ulna_put(out, angles);
        ulna_put(out, "\n");
    }
    ulna_put(out, "# lengths: ");
    ulna_put(out, ulna_length_unit_name(unit));
    ulna_put(out, "\n");
    if (rate > 0) {
        ulna_put(out, "# rate: ");
        ulna_put_number(out, rate);
        ulna_put(out, "\n");
    }
}

/* ---- markers ------------------------------------------------------------------------------------------------------ */

static void put_marker_names(ulna_writer *out, const ulna_recording *r, int has_time)
{
    static const char axes[] = "xyz";
    char name[ULNA_MARKER_NAME], column[ULNA_MARKER_NAME + 4];
    ulna_put(out, has_time ? "frame,time" : "frame");
    for (int m = 0; m < r->marker_count; m++) {
        ulna_marker_name_of(r, m, name);
        for (int k = 0; k < 3; k++) {
            snprintf(column, sizeof column, "%s.%c", name, axes[k]);
            ulna_put(out, ",");
            ulna_put_cell(out, column);
        }
    }
    ulna_put(out, "\n");
}

static long long put_marker_rows(ulna_writer *out, const ulna_recording *r, double step, double unit, int digits)
{
    long long far = 0;
    for (int f = 0; f < r->frame_count && out->status == ULNA_OK; f++) {
        const double *x = ulna_recording_frame(r, f);
        ulna_put_integer(out, (long long)r->first_frame + f);
        if (step > 0) {
            ulna_put(out, ",");
            ulna_put_value(out, ulna_frame_time(step, (double)r->first_frame + f), 1, 0);
        }
        for (int m = 0; m < r->marker_count; m++, x += 3) {
            int is_missing = isnan(x[0]) || isnan(x[1]) || isnan(x[2]);
            int is_far = !isfinite(x[0] / unit) || !isfinite(x[1] / unit) || !isfinite(x[2] / unit);
            far += is_far && !is_missing;
            for (int k = 0; k < 3; k++) {
                ulna_put(out, ",");
                if (!is_far)
                    ulna_put_value(out, x[k], unit, digits);
            }
        }
        ulna_put(out, "\n");
    }
    return far;
}

static ulna_status write_markers(const ulna_writing *w, ulna_writer *out, double unit, ulna_error *error)
{
    const ulna_recording *r = w->recording;
    if (r->marker_count == 0)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "there are frames, but no markers to write");
    double rate = ulna_sane_step(r->frame_seconds) > 0 ? ulna_frame_rate(r->frame_seconds) : 0;
    put_units(out, NULL, unit, rate);
    put_marker_names(out, r, rate > 0);
    long long far = put_marker_rows(out, r, rate > 0 ? 1 / rate : 0, unit, w->options->digits);
    if (far)
        ulna_remarks_add(w->remarks, 0, -1, "%lld positions are too far away and are written as missing", far);
    return ULNA_OK;
}

/* ---- joint values ------------------------------------------------------------------------------------------------- */

/* Control characters cannot be in a line. */
static void put_label(ulna_writer *out, const ulna_coordinates *coordinates, int c)
{
    char text[ULNA_COORDINATE_LABEL];
    ulna_coordinate_label(coordinates, c, text);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = '_';
    ulna_put(out, ",");
    ulna_put_cell(out, text);
}

static void put_joint_rows(ulna_writer *out, const ulna_writing *w, const ulna_coordinates *coordinates, double step,
                           double angle, double unit)
{
    const ulna_clip *clip = w->clip;
    for (int f = 0; f < clip->frame_count && out->status == ULNA_OK; f++) {
        const double *q = ulna_clip_frame(clip, f);
        if (step > 0)
            ulna_put_value(out, ulna_frame_time(step, (double)clip->first_frame + f), 1, 0);
        else
            ulna_put_integer(out, (long long)clip->first_frame + f);
        for (int c = 0; c < clip->coordinate_count; c++) {
            ulna_coordinate_kind kind = ulna_coordinate_is(coordinates, c);
            ulna_put(out, ",");
            ulna_put_value(out, q[c],
                           kind == ULNA_IS_ANGLE    ? angle
                           : kind == ULNA_IS_LENGTH ? unit
                                                    : 1,
                           w->options->digits);
        }
        ulna_put(out, "\n");
    }
}

static ulna_status write_joints(const ulna_writing *w, ulna_writer *out, double unit, ulna_error *error)
{
    const ulna_clip *clip = w->clip;
    ulna_coordinates coordinates;
    ulna_status status = ulna_joint_table_check(w, "CSV", error);
    if (status != ULNA_OK)
        return status;
    status = ulna_coordinates_fill(&coordinates, w->model, &clip->allocator);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for the names of the columns");
    int degrees = w->options->degrees != 0;
    double rate = ulna_sane_step(clip->frame_seconds) > 0 ? ulna_frame_rate(clip->frame_seconds) : 0;
    put_units(out, degrees ? "degrees" : "radians", unit, rate);
    ulna_put(out, rate > 0 ? "time" : "frame");
    for (int c = 0; c < clip->coordinate_count; c++)
        put_label(out, &coordinates, c);
    ulna_put(out, "\n");
    put_joint_rows(out, w, &coordinates, rate > 0 ? 1 / rate : 0, degrees ? ULNA_PI / 180 : 1, unit);
    ulna_coordinates_release(&coordinates, &clip->allocator);
    if (w->recording)
        ulna_remarks_add(w->remarks, 0, -1, "a CSV file holds one table: the markers are left out");
    return ULNA_OK;
}

ulna_status ulna_csv_write(const ulna_writing *writing, ulna_error *error)
{
    double unit = writing->options->unit_m > 0 ? writing->options->unit_m : 1;
    if (!writing->clip && !writing->recording)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "CSV holds a motion or markers, and there is neither");
    if (!ulna_length_unit_name(unit))
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "the unit of length, %g m, has no name that could be written",
                         unit);
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    ulna_status status =
        writing->clip ? write_joints(writing, &out, unit, error) : write_markers(writing, &out, unit, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_writer_finish(&out);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the CSV file could not be written: %s", ulna_status_text(status));
    return ULNA_OK;
}
