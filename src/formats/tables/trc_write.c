/* Writes TRC as OpenSim reads it: tabs, names three columns apart, NaN for what is missing; millimetres unless asked
 * otherwise. */
#include <math.h>

#include "base/base.h"
#include "formats/markers.h"
#include "formats/tables/table.h"
#include "formats/tables/trc.h"

static void put_header(ulna_writer *out, const ulna_recording *r, double rate, double unit)
{
    ulna_put(out,
             "PathFileType\t4\t(X/Y/Z)\tmarkers.trc\n"
             "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n");
    for (int i = 0; i < 2; i++) {
        ulna_put_number(out, rate);
        ulna_put(out, "\t");
    }
    ulna_put_integer(out, r->frame_count);
    ulna_put(out, "\t");
    ulna_put_integer(out, r->marker_count);
    ulna_put(out, "\t");
    ulna_put(out, ulna_length_unit_name(unit));
    ulna_put(out, "\t");
    ulna_put_number(out, rate);
    ulna_put(out, "\t");
    ulna_put_integer(out, r->first_frame);
    ulna_put(out, "\t");
    ulna_put_integer(out, r->frame_count);
    ulna_put(out, "\n");
}

static void put_names(ulna_writer *out, const ulna_recording *r)
{
    static const char *const axes[] = {"\tX", "\tY", "\tZ"};
    char name[ULNA_MARKER_NAME];
    ulna_put(out, "Frame#\tTime");
    for (int m = 0; m < r->marker_count; m++) {
        ulna_marker_name_of(r, m, name);
        ulna_put(out, m ? "\t\t\t" : "\t");
        if (name[0] == '"') /* which a reader could take for the start of a cell in quotes */
            name[0] = '\'';
        ulna_put(out, name);
    }
    ulna_put(out, r->marker_count ? "\t\t\n\t" : "\n\t");
    for (int m = 0; m < r->marker_count; m++)
        for (int k = 0; k < 3; k++) {
            ulna_put(out, axes[k]);
            ulna_put_integer(out, m + 1);
        }
    ulna_put(out, "\n\n");
}

/* Returns how many positions cannot be written in this unit. */
static long long put_frames(ulna_writer *out, const ulna_recording *r, double step, double unit, int digits)
{
    long long far = 0;
    for (int f = 0; f < r->frame_count && out->status == ULNA_OK; f++) {
        const double *x = r->marker_count ? ulna_recording_frame(r, f) : NULL;
        ulna_put_integer(out, (long long)r->first_frame + f);
        ulna_put(out, "\t");
        ulna_put_value(out, ulna_frame_time(step, (double)r->first_frame + f), 1, 0);
        for (int m = 0; m < r->marker_count; m++, x += 3) {
            int is_missing = isnan(x[0]) || isnan(x[1]) || isnan(x[2]);
            int is_far = !isfinite(x[0] / unit) || !isfinite(x[1] / unit) || !isfinite(x[2] / unit);
            far += is_far && !is_missing;
            for (int k = 0; k < 3; k++) {
                ulna_put(out, "\t");
                if (is_far)
                    ulna_put(out, "NaN");
                else
                    ulna_put_value(out, x[k], unit, digits);
            }
        }
        ulna_put(out, "\n");
    }
    return far;
}

ulna_status ulna_trc_write(const ulna_writing *writing, ulna_error *error)
{
    const ulna_recording *r = writing->recording;
    double unit = writing->options->unit_m > 0 ? writing->options->unit_m : 1e-3;
    if (!r)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "TRC holds markers, and there are none to write");
    if (!ulna_length_unit_name(unit))
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "TRC names its unit of length, and %g m have no name", unit);
    double step = ulna_sane_step(r->frame_seconds);
    if (step == 0) {
        step = ULNA_UNKNOWN_FRAME_S;
        ulna_remarks_add(writing->remarks, 0, -1, "the frame rate is unknown; 120 a second is written");
    }
    double rate = ulna_frame_rate(step);
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    put_header(&out, r, rate, unit);
    put_names(&out, r);
    long long far = put_frames(&out, r, 1 / rate, unit, writing->options->digits); /* the step that the rate tells */
    ulna_status status = ulna_writer_finish(&out);
    if (far)
        ulna_remarks_add(writing->remarks, 0, -1, "%lld positions are too far away and are written as missing", far);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the TRC file could not be written: %s", ulna_status_text(status));
    return ULNA_OK;
}
