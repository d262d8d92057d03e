/*
 * CSV: a table of markers or of joint values, a line of names and a line per frame.
 *
 *     frame,time_s,LASI.x_m,LASI.y_m,LASI.z_m      time_s,pelvis.Tx_m,hip.Rz_deg,knee_deg
 *     1,0,0.1,0.2,0.3                              0,0.5,12.5,40
 *
 * Read as markers if the columns are NAME.x, NAME.y, NAME.z (or _x, X, ...), with NAME.visibility or without, else as joint values
 * of a skeleton that is at hand. Cells are separated by commas, semicolons (then decimal commas are read too, as spreadsheets in many countries write
 * them) or tabs. Units end the names of all columns, or stand in lines above them, "# lengths: mm", "# angles: radians",
 * "# rate: 120". What the file does not state is assumed: metres and degrees. Tables of answers, as
 * `ulna reach` writes them, have more columns before the joints.
 *
 * Written with joint values if there are any, else with markers; degrees and metres unless asked otherwise; commas, decimal
 * points, quotes where a name needs them (RFC 4180), an empty cell for a marker that is missing. The first line is the one of names,
 * and every line has as many cells, so that programs for tables read the file as it is.
 */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/markers.h"
#include "formats/tables/table.h"

/* ---- comments ----------------------------------------------------------------------------------------------------- */

/* "# lengths: mm", "# angles: radians", "# rate: 120 Hz". Other comments are none of ours. */
static void read_comment(ulna_table *t)
{
    ulna_scan scan = t->scan;
    ulna_word key, value;
    if (!ulna_scan_word(&scan, "#:\",;", &key) || !ulna_scan_word(&scan, "#:\",;", &value))
        return;
    char text[ULNA_MARKER_NAME];
    ulna_marker_name(value.text, value.length, text);
    if (ulna_word_is_listed(key, "lengths length")) {
        t->unit_m = ulna_unit_metres(text);
        if (t->unit_m <= 0)
            ulna_remarks_add(&t->content->remarks, t->scan.line, -1, "unit of length '%s' is unknown", text);
    } else if (ulna_word_is_listed(key, "angles angle")) {
        int is_degrees = ulna_word_is_listed(value, "degrees deg");
        if (is_degrees || ulna_word_is_listed(value, "radians rad"))
            t->degrees = is_degrees;
        else
            ulna_remarks_add(&t->content->remarks, t->scan.line, -1, "unit of angles '%s' is unknown", text);
    } else if (ulna_word_is_like(key, "rate") && (!ulna_word_number(value, &t->rate) || !(t->rate > 0))) {
        ulna_remarks_add(&t->content->remarks, t->scan.line, -1, "the rate '%s' is not a positive number", text);
        t->rate = 0;
    }
}

/* A spreadsheet may have put quotes around a comment, or delimiters behind it. */
static int is_comment(const ulna_scan *scan)
{
    return *scan->here == '#' || (scan->end - scan->here > 1 && scan->here[0] == '"' && scan->here[1] == '#');
}

int ulna_csv_sniff(const char *data, size_t length)
{
    ulna_scan scan = ulna_scan_start(data, length);
    ulna_word first, second;
    while (ulna_scan_line(&scan)) {
        if (ulna_row_is_blank(&scan) || is_comment(&scan))
            continue;
        char delimiter = ulna_table_delimiter(&scan);
        ulna_row row = ulna_row_start(&scan, delimiter);
        return delimiter != ' ' && ulna_row_next(&row, &first) && ulna_row_next(&row, &second) && second.length > 0 &&
               (ulna_is_frame_column(first) || ulna_is_time_column(first)) && !memchr(data, 0, length);
    }
    return 0;
}

/* ---- tables ------------------------------------------------------------------------------------------------------- */

/* The unit of the options or of the file; metres, with a remark if `matters`. */
static void choose_unit(ulna_table *t, int matters)
{
    if (t->options->unit_m > 0)
        t->unit_m = t->options->unit_m;
    if (t->unit_m > 0)
        return;
    t->unit_m = 1;
    if (matters)
        ulna_remarks_add(
            &t->content->remarks, 0, -1,
            "no unit of length is given (all names such as 'LASI.x_mm', or a line '# lengths: mm'); metres are "
            "assumed");
}

static ulna_status read_markers(ulna_table *t)
{
    ulna_status status = ulna_marker_columns_name(t);
    choose_unit(t, 1);
    t->content->source = (ulna_source){.unit_m = t->unit_m, .text = "markers"};
    return status == ULNA_OK ? ulna_marker_table_read(t) : status;
}

/* Columns NAME.x and NAME.y, and none for z: key points of a picture. */
static int is_flat(const ulna_table *t)
{
    int x = 0, y = 0, z = 0;
    for (size_t i = 0; i < t->columns.count; i++) {
        ulna_word name = t->columns.items[i];
        if (name.length < 2 || (name.text[name.length - 2] != '.' && name.text[name.length - 2] != '_'))
            continue;
        x += name.text[name.length - 1] == 'x';
        y += name.text[name.length - 1] == 'y';
        z += name.text[name.length - 1] == 'z';
    }
    return x && x == y && !z;
}

static ulna_status read_joints(ulna_table *t)
{
    const ulna_model *model = t->options->model;
    int lengths = 0, angles = 0;
    if (!model)
        return ulna_scan_fail(
            &t->scan, NULL, t->error, ULNA_ERR_STATE,
            is_flat(t) ? "the points have x and y only: points of a picture have no depth, and cannot be solved"
                       : "these columns are not markers (NAME.x, NAME.y, NAME.z); if they are joint values, give their "
                         "skeleton");
    for (int dof = 0; dof < ulna_model_dof_count(model); dof++)
        if (ulna_model_dof_coordinate(model, dof) != ULNA_NONE)
            *(ulna_model_dof_is_translation(model, dof) ? &lengths : &angles) = 1;
    if (angles && t->degrees < 0)
        ulna_remarks_add(
            &t->content->remarks, 0, -1,
            "no unit of angles is given (all names such as 'knee_rad', or a line '# angles: radians'); degrees are "
            "assumed");
    choose_unit(t, lengths);
    t->content->source = (ulna_source){.unit_m = t->unit_m, .degrees = t->degrees != 0, .text = "joint values"};
    return ulna_joint_table_read(t);
}

/* Frame and time may be the first two columns, in any order. */
static void find_columns(ulna_table *t)
{
    for (; t->first < 2 && t->first < t->columns.count; t->first++) {
        ulna_word name = t->columns.items[t->first];
        if (t->frame_column == ULNA_NONE && ulna_is_frame_column(name))
            t->frame_column = (int)t->first;
        else if (t->time_column == ULNA_NONE && ulna_is_time_column(name))
            t->time_column = (int)t->first;
        else
            break;
    }
}

/* The parts of a quaternion, and how visible a key point is. */
static int is_without_unit(ulna_word name)
{
    size_t from = name.length;
    while (from > 0 && !strchr("._-: ", name.text[from - 1]))
        from--;
    return from > 0 && ulna_word_is_listed((ulna_word){name.text + from, name.length - from},
                                           "qx qy qz qw visibility confidence conf score likelihood presence v c");
}

/* Do the names of all columns end with units? A single one is a part of its name. */
static int have_units(const ulna_table *t)
{
    int units = 0, is_angle;
    for (size_t i = t->first; i < t->columns.count; i++) {
        ulna_word name = t->columns.items[i];
        if (ulna_cell_cut_unit(&name, &is_angle) > 0)
            units++;
        else if (!is_without_unit(name))
            return 0;
    }
    return units > 0;
}

/* Cuts units off the names and takes them. Returns the first name whose unit contradicts those before it; of length 0 if none does. */
static ulna_word take_units(ulna_table *t)
{
    ulna_word odd = {0};
    for (size_t i = t->first; i < t->columns.count; i++) {
        const ulna_word whole = t->columns.items[i];
        int is_angle = 0;
        const double unit = ulna_cell_cut_unit(&t->columns.items[i], &is_angle);
        if (unit > 0 && (is_angle ? t->degrees >= 0 && t->degrees != (unit < 1) : t->unit_m > 0 && t->unit_m != unit))
            odd = odd.length ? odd : whole;
        else if (unit > 0 && is_angle)
            t->degrees = unit < 1;
        else if (unit > 0)
            t->unit_m = unit;
    }
    return odd;
}

/* Names of a skeleton may end like units themselves: then it knows none of them without these ends. */
static ulna_status read_units(ulna_table *t, int *has_markers)
{
    const double unit_m = t->unit_m;
    const int degrees = t->degrees, has_units = have_units(t);
    const ulna_word odd = has_units ? take_units(t) : (ulna_word){0};
    int is_known = 1;
    ulna_status status = ulna_table_has_markers(t, has_markers);
    if (status == ULNA_OK && has_units && !*has_markers && t->options->model)
        status = ulna_joint_columns(t, &is_known);
    if (status == ULNA_OK && !is_known) {
        t->unit_m = unit_m;
        t->degrees = degrees;
        ulna_cells_release(&t->columns);
        return ulna_table_names(t);
    }
    if (status == ULNA_OK && odd.length)
        return ulna_scan_fail(
            &t->scan, &odd, t->error, ULNA_ERR_PARSE,
            "the unit of '%.*s' is not that of the columns or lines before it; give lengths one unit, and "
            "angles one",
            (int)(odd.length < 40 ? odd.length : 40), odd.text);
    return status;
}

/* A table of answers, as `ulna reach` writes them for other programs: columns about each answer come before the joints. */
static void find_answers(ulna_table *t)
{
    static const char *const known =
        "goal sample solution time_s status position_error_m rotation_error_rad distance jumped "
        "worst_tip constraint_error constraint_not_kept";
    size_t first = 0;
    for (; first < t->columns.count && ulna_word_is_listed(t->columns.items[first], known); first++)
        t->is_answers |= ulna_word_is_listed(t->columns.items[first], "rotation_error_rad");
    t->is_answers &= first > 1 && ulna_word_is_listed(t->columns.items[0], "goal sample solution");
    if (!t->is_answers)
        return;
    t->frame_column = 0;
    t->time_column = ulna_is_time_column(t->columns.items[1]) ? 1 : ULNA_NONE;
    t->first = first;
}

static ulna_status read_table(ulna_table *t)
{
    double number;
    int is_there, has_markers;
    while ((is_there = ulna_table_line(t)) && is_comment(&t->scan))
        read_comment(t);
    if (!is_there)
        return ulna_scan_fail(&t->scan, NULL, t->error, ULNA_ERR_PARSE, "the file has no line that names its columns");
    ulna_status status = ulna_table_names(t);
    if (status != ULNA_OK)
        return status;
    find_columns(t);
    find_answers(t);
    if (t->columns.count <= t->first || ulna_cell_number(t->columns.items[0], t->delimiter, &number))
        return ulna_scan_fail(&t->scan, NULL, t->error, ULNA_ERR_PARSE,
                              "this line should name the columns: time or frame, and markers or degrees of freedom");
    status = read_units(t, &has_markers);
    if (status != ULNA_OK)
        return status;
    return has_markers ? read_markers(t) : read_joints(t);
}

ulna_status ulna_csv_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    ulna_table t = ulna_table_start(data, length, options, content, error);
    return ulna_table_end(&t, read_table(&t));
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* Frames per second; 0 if they are unknown, or if a single frame leaves no time between two that could say so. */
static double rate_of(double frame_seconds, int frames)
{
    return frames > 1 && ulna_sane_step(frame_seconds) > 0 ? ulna_frame_rate(frame_seconds) : 0;
}

static ulna_status write_markers(const ulna_writing *w, ulna_writer *out, double unit, ulna_error *error)
{
    const ulna_recording *r = w->recording;
    char name[ULNA_MARKER_NAME], column[ULNA_MARKER_NAME + 8];
    if (r->marker_count == 0)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "there are frames, but no markers to write");
    double rate = rate_of(r->frame_seconds, r->frame_count);
    ulna_put(out, rate > 0 ? "frame,time_s" : "frame");
    for (int m = 0; m < r->marker_count; m++) {
        ulna_marker_name_of(r, m, name);
        for (int axis = 'x'; axis <= 'z'; axis++) {
            snprintf(column, sizeof column, "%s.%c_%s", name, axis, ulna_length_unit_name(unit));
            ulna_put(out, ",");
            ulna_put_cell(out, column);
        }
    }
    ulna_put(out, "\n");
    ulna_markers_renamed(r, ulna_marker_name_of, w->remarks);
    ulna_put_marker_rows(out, w, ",", "", rate > 0 ? 1 / rate : 0, unit);
    return ULNA_OK;
}

static ulna_status write_joints(const ulna_writing *w, ulna_writer *out, double unit, ulna_error *error)
{
    ulna_status status = ulna_joint_table_check(w, error);
    if (status != ULNA_OK)
        return status;
    double rate = rate_of(w->clip->frame_seconds, w->clip->frame_count);
    if (w->recording)
        ulna_remarks_add(w->remarks, 0, -1, "a CSV file holds one table: the markers are left out");
    return ulna_put_joint_table(out, w, ',', rate > 0 ? 1 / rate : 0, unit, error);
}

ulna_status ulna_csv_write(const ulna_writing *writing, ulna_error *error)
{
    double unit;
    ulna_status status = ulna_named_unit(writing, "CSV", 1, &unit, error);
    if (status != ULNA_OK)
        return status;
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    status = writing->clip ? write_joints(writing, &out, unit, error) : write_markers(writing, &out, unit, error);
    return status == ULNA_OK ? ulna_writer_finish(&out, "the CSV file", error) : status;
}
