/* Writes MOT as OpenSim does: tabs, a time and a column per coordinate; degrees unless asked otherwise, metres. */
#include <string.h>

#include "base/base.h"
#include "formats/tables/joint_table.h"
#include "formats/tables/mot.h"
#include "math/math3.h"

static void put_header(ulna_writer *out, int rows, int columns, int degrees)
{
    ulna_put(out, "Coordinates\nversion=1\nnRows=");
    ulna_put_integer(out, rows);
    ulna_put(out, "\nnColumns=");
    ulna_put_integer(out, columns);
    ulna_put(out, degrees ? "\ninDegrees=yes\n\n" : "\ninDegrees=no\n\n");
    ulna_put(out, "Units are S.I. units (second, meters, Newtons, ...)\n");
    ulna_put(out, degrees ? "Angles are in degrees.\n\nendheader\n" : "Angles are in radians.\n\nendheader\n");
}

/* A blank would begin another column where files are read by words. Returns 1 if there was one. */
static int put_label(ulna_writer *out, const ulna_coordinates *coordinates, int c)
{
    char text[ULNA_COORDINATE_LABEL];
    int has_blank = 0;
    ulna_coordinate_label(coordinates, c, text);
    for (char *at = text; *at; at++)
        if ((unsigned char)*at <= ' ' || *at == 127 || *at == '"') {
            *at = '_';
            has_blank = 1;
        }
    ulna_put(out, "\t");
    ulna_put(out, text);
    return has_blank;
}

static void put_table(ulna_writer *out, const ulna_writing *w, const ulna_coordinates *coordinates, double step,
                      double angle)
{
    const ulna_clip *clip = w->clip;
    int changed = 0;
    ulna_put(out, "time");
    for (int c = 0; c < clip->coordinate_count; c++)
        changed += put_label(out, coordinates, c);
    ulna_put(out, "\n");
    for (int f = 0; f < clip->frame_count && out->status == ULNA_OK; f++) {
        const double *q = ulna_clip_frame(clip, f);
        ulna_put_value(out, ulna_frame_time(step, (double)clip->first_frame + f), 1, 0);
        for (int c = 0; c < clip->coordinate_count; c++) {
            ulna_put(out, "\t");
            ulna_put_value(out, q[c], ulna_coordinate_is(coordinates, c) == ULNA_IS_ANGLE ? angle : 1,
                           w->options->digits);
        }
        ulna_put(out, "\n");
    }
    if (changed)
        ulna_remarks_add(w->remarks, 0, -1, "%d names have blanks, which are written as underlines", changed);
}

ulna_status ulna_mot_write(const ulna_writing *writing, ulna_error *error)
{
    if (!writing->clip)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "MOT holds the motion of a skeleton, and there is none to write");
    ulna_status status = ulna_joint_table_check(writing, "MOT", error);
    if (status != ULNA_OK)
        return status;
    int degrees = writing->options->degrees != 0;
    double step = ulna_sane_step(writing->clip->frame_seconds), used = step > 0 ? step : ULNA_UNKNOWN_FRAME_S;
    ulna_coordinates coordinates;
    status = ulna_coordinates_fill(&coordinates, writing->model, &writing->clip->allocator);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for the names of the columns");
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    put_header(&out, writing->clip->frame_count, 1 + writing->clip->coordinate_count, degrees);
    put_table(&out, writing, &coordinates, used, degrees ? ULNA_PI / 180 : 1);
    ulna_coordinates_release(&coordinates, &writing->clip->allocator);
    status = ulna_writer_finish(&out);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the MOT file could not be written: %s", ulna_status_text(status));
    if (step == 0)
        ulna_remarks_add(writing->remarks, 0, -1, "the frame rate is unknown; 120 a second is written");
    if (writing->options->unit_m > 0 && writing->options->unit_m != 1)
        ulna_remarks_add(writing->remarks, 0, -1, "lengths in MOT are metres, and so they are written");
    if (writing->recording)
        ulna_remarks_add(writing->remarks, 0, -1, "MOT holds no markers beside a motion: they are left out");
    return ULNA_OK;
}
