/*
 * MOT and STO: joint values over time, of OpenSim and of SIMM before it: a header that ends with "endheader", a line of names,
 * a line per frame.
 *
 *   angles   degrees if the header says inDegrees=yes, or nothing at all, as SIMM's; radians if it says no
 *   lengths  metres
 *   values   of a skeleton that is at hand: columns are matched to its degrees of freedom by name. A file whose columns are
 *            all positions, NAME_tx NAME_ty NAME_tz, is one of markers
 *
 * Written as OpenSim does: tabs, a time and a column per coordinate; degrees unless asked otherwise, metres.
 */
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/tables/table.h"

enum { LONGEST_KEY = 1000 }; /* a line of the header with "nRows = 73": those of tables are longer */

typedef struct mot_reader {
    ulna_table table;
    int rows, columns;           /* as stated */
    int rows_line, columns_line; /* 0: not stated */
} mot_reader;

/* ---- the header --------------------------------------------------------------------------------------------------- */

/* "nRows=73", "nRows = 73" or "datarows 73": the word and the number. */
static int read_key(ulna_scan scan, const char *key, ulna_word *value)
{
    ulna_word word;
    return ulna_scan_word(&scan, "=", &word) && ulna_word_is_like(word, key) && ulna_scan_word(&scan, "=", value);
}

static int begins_with(ulna_word line, const char *text)
{
    size_t length = strlen(text);
    return line.length >= length && ulna_word_is_like((ulna_word){line.text, length}, text);
}

static void read_header_line(mot_reader *r)
{
    const struct {
        const char *key;
        int *value, *line;
    } counts[] = {{"nRows", &r->rows, &r->rows_line},
                  {"datarows", &r->rows, &r->rows_line},
                  {"nColumns", &r->columns, &r->columns_line},
                  {"datacolumns", &r->columns, &r->columns_line}};
    ulna_table *t = &r->table;
    ulna_scan scan = t->scan;
    ulna_word value, line = ulna_scan_rest(&scan);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (read_key(t->scan, counts[i].key, &value)) {
            if (ulna_word_integer(value, counts[i].value))
                *counts[i].line = t->scan.line;
            else
                ulna_remarks_add(&t->content->remarks, t->scan.line, -1, "%s is not a whole number", counts[i].key);
        }
    if (read_key(t->scan, "inDegrees", &value))
        t->degrees = ulna_word_is_listed(value, "yes y true 1");
    else if (t->degrees < 0 && begins_with(line, "Angles are in degrees"))
        t->degrees = 1;
    else if (t->degrees < 0 && begins_with(line, "Angles are in radians"))
        t->degrees = 0;
}

static int is_end(ulna_scan scan)
{
    ulna_word word;
    return ulna_scan_word(&scan, NULL, &word) && ulna_word_is_like(word, "endheader");
}

int ulna_mot_sniff(const char *data, size_t length)
{
    static const char keys[] = "nRows nColumns datarows datacolumns version inDegrees";
    ulna_scan scan = ulna_scan_start(data, length);
    ulna_word key, value;
    int is_told = 0;
    while (ulna_scan_line(&scan)) {
        if (is_end(scan))
            return is_told;
        if (scan.end - scan.here > LONGEST_KEY || !ulna_scan_word(&scan, "=", &key))
            continue;
        is_told |= ulna_word_is_listed(key, keys) && ulna_scan_word(&scan, "=", &value);
    }
    return 0;
}

static ulna_status read_header(mot_reader *r)
{
    ulna_table *t = &r->table;
    while (ulna_scan_line(&t->scan)) {
        if (is_end(t->scan))
            return ulna_table_line(t) ? ULNA_OK
                                      : ulna_scan_fail(&t->scan, NULL, t->error, ULNA_ERR_PARSE,
                                                       "the file ends before the names of its columns");
        read_header_line(r);
    }
    return ulna_scan_fail(&t->scan, NULL, t->error, ULNA_ERR_PARSE,
                          "the header does not end: the line 'endheader' is missing");
}

/* ---- the table ---------------------------------------------------------------------------------------------------- */

static ulna_status read_markers(ulna_table *t)
{
    ulna_status status = ulna_marker_columns_name(t);
    t->content->source = (ulna_source){.unit_m = t->unit_m, .text = "positions"};
    return status == ULNA_OK ? ulna_marker_table_read(t) : status;
}

static ulna_status read_joints(ulna_table *t)
{
    if (!t->options->model)
        return ulna_scan_fail(&t->scan, NULL, t->error, ULNA_ERR_STATE,
                              "this file holds joint values: reading it needs their skeleton");
    if (t->degrees < 0)
        ulna_remarks_add(&t->content->remarks, 0, -1, "the header has no inDegrees: degrees are assumed");
    if (t->time_column == ULNA_NONE)
        ulna_remarks_add(&t->content->remarks, t->scan.line, -1, "there is no column 'time'; times are unknown");
    t->content->source = (ulna_source){.unit_m = t->unit_m, .degrees = t->degrees != 0};
    return ulna_joint_table_read(t);
}

static void remark_on_counts(const mot_reader *r)
{
    ulna_content *content = r->table.content;
    int rows = content->clip.frame_count + content->recording.frame_count;
    if (r->rows_line && r->rows != rows)
        ulna_remarks_add(&content->remarks, r->rows_line, -1, "the header states %d rows, but there are %d%s", r->rows,
                         rows, r->rows > rows ? ": the file may have been cut off" : "");
    if (r->columns_line && (size_t)r->columns != r->table.columns.count)
        ulna_remarks_add(&content->remarks, r->columns_line, -1, "the header states %d columns, but %zu are named",
                         r->columns, r->table.columns.count);
}

static ulna_status read_table(mot_reader *r)
{
    ulna_table *t = &r->table;
    int has_markers = 0;
    ulna_status status = read_header(r);
    if (status == ULNA_OK)
        status = ulna_table_names(t);
    if (status != ULNA_OK)
        return status;
    if (t->columns.count == 0)
        return ulna_scan_fail(&t->scan, NULL, t->error, ULNA_ERR_PARSE, "this line should name the columns");
    /* Rows have no empty cells, so any blanks will do between numbers, however the names are separated. */
    if (t->delimiter == '\t')
        t->delimiter = ' ';
    for (size_t i = t->columns.count; i-- > 0;)
        if (ulna_is_time_column(t->columns.items[i]))
            t->time_column = (int)i;
    t->first = 1;
    if (t->time_column == 0)
        status = ulna_table_has_markers(t, &has_markers);
    if (status == ULNA_OK)
        status = has_markers ? read_markers(t) : read_joints(t);
    if (status == ULNA_OK)
        remark_on_counts(r);
    return status;
}

ulna_status ulna_mot_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    mot_reader r = {.table = ulna_table_start(data, length, options, content, error)};
    r.table.unit_m = options->unit_m > 0 ? options->unit_m : 1;
    return ulna_table_end(&r.table, read_table(&r));
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

ulna_status ulna_mot_write(const ulna_writing *writing, ulna_error *error)
{
    const ulna_clip *clip = writing->clip;
    ulna_status status = ulna_joint_table_check(writing, error);
    if (status != ULNA_OK)
        return status;
    int degrees = writing->options->degrees != 0;
    double step = ulna_sane_step(clip->frame_seconds);
    ulna_writer out;
    ulna_writer_start(&out, writing->sink);
    ulna_print(&out, "Coordinates\nversion=1\nnRows=%d\nnColumns=%d\ninDegrees=%s\n\n", clip->frame_count,
               1 + clip->coordinate_count, degrees ? "yes" : "no");
    ulna_print(&out, "Units are S.I. units (second, meters, Newtons, ...)\nAngles are in %s.\n\nendheader\n",
               degrees ? "degrees" : "radians");
    status = ulna_put_joint_table(&out, writing, '\t', step > 0 ? step : ULNA_UNKNOWN_FRAME_S, 1, error);
    if (status == ULNA_OK)
        status = ulna_writer_finish(&out, "the MOT file", error);
    if (status != ULNA_OK)
        return status;
    if (step == 0)
        ulna_remarks_add(writing->remarks, 0, -1, "the frame rate is unknown; 120 per second is written");
    if (writing->options->unit_m > 0 && writing->options->unit_m != 1)
        ulna_remarks_add(writing->remarks, 0, -1, "lengths are written in metres: MOT has no other unit");
    return ULNA_OK;
}
