/* Marker sets: which marker sits where, and the table that says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/scan.h"
#include "formats/text/text_writer.h"
#include "ulna/mocap.h"

ulna_marker_set ulna_marker_set_empty(const ulna_allocator *allocator)
{
    return (ulna_marker_set){.allocator = ulna_allocator_or_default(allocator)};
}

void ulna_marker_set_release(ulna_marker_set *set)
{
    if (set) {
        ulna_release(&set->allocator, set->items, set->capacity, sizeof *set->items);
        *set = ulna_marker_set_empty(&set->allocator);
    }
}

ulna_status ulna_marker_set_add(ulna_marker_set *set, const char *marker, int body, const double offset[3],
                                double weight)
{
    if (!set || !marker || !*marker || strlen(marker) >= ULNA_MARKER_NAME || body < 0 || !offset || !(weight >= 0))
        return ULNA_ERR_ARGUMENT;
    if (!isfinite(offset[0]) || !isfinite(offset[1]) || !isfinite(offset[2]) || !isfinite(weight))
        return ULNA_ERR_NUMBER;
    void *items = set->items;
    ulna_status status = ulna_grow(&set->allocator, &items, &set->capacity, set->count + 1, sizeof *set->items);
    if (status != ULNA_OK)
        return status;
    set->items = items;
    ulna_attachment *item = &set->items[set->count++];
    *item = (ulna_attachment){.body = body, .offset = {offset[0], offset[1], offset[2]}, .weight = weight};
    memcpy(item->marker, marker, strlen(marker) + 1);
    return ULNA_OK;
}

ulna_status ulna_marker_set_from_model(ulna_marker_set *set, const ulna_model *model)
{
    if (!set || !model)
        return ULNA_ERR_ARGUMENT;
    ulna_status status = ULNA_OK;
    for (int m = 0; m < ulna_model_marker_count(model) && status == ULNA_OK; m++) {
        double position[3];
        char name[ULNA_MARKER_NAME];
        snprintf(name, sizeof name, "%s", ulna_model_marker_name(model, m));
        ulna_model_marker_position(model, m, position);
        status = ulna_marker_set_add(set, name, ulna_model_marker_body(model, m), position,
                                     ulna_model_marker_weight(model, m));
    }
    return status;
}

/* ---- the table ------------------------------------------------------------------------------------------------------ */

enum { COLUMNS = 6, BODY_NAME = 256 };

/* "# unit: mm" */
static int unit_of(ulna_word line, double *unit)
{
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"mm", 1e-3}, {"cm", 1e-2}, {"in", 0.0254}};
    ulna_scan scan = ulna_scan_start(line.text, line.length);
    ulna_word word;
    if (!ulna_scan_line(&scan) || !ulna_scan_word(&scan, "#:", &word) || !ulna_word_is_like(word, "unit") ||
        !ulna_scan_word(&scan, "#:", &word))
        return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ulna_word_is_like(word, units[i].name)) {
            *unit = units[i].metres;
            return 1;
        }
    return -1;
}

/* Cuts a line at commas, semicolons or tabs, whichever it has; blanks around cells are not part of them. */
static int cut(ulna_word line, ulna_word cells[COLUMNS + 1])
{
    const char *end = line.text + line.length;
    char separator = memchr(line.text, ',', line.length) ? ',' : memchr(line.text, ';', line.length) ? ';' : '\t';
    int count = 0;
    for (const char *at = line.text; at <= end && count <= COLUMNS;) {
        const char *stop = memchr(at, separator, (size_t)(end - at)), *to = stop ? stop : end, *from = at;
        at = to + 1;
        while (from < to && (*from == ' ' || *from == '\t' || *from == '"'))
            from++;
        while (to > from && (to[-1] == ' ' || to[-1] == '\t' || to[-1] == '"'))
            to--;
        cells[count++] = (ulna_word){from, (size_t)(to - from)};
        if (!stop)
            break;
    }
    return count;
}

/* A first line without a bone and without a number; else a slip of the pen would drop a marker. */
static int is_heading(const ulna_model *model, const ulna_word *cells, int count)
{
    char bone[BODY_NAME];
    double number;
    int numbers = 0;
    for (int k = 2; k < count && k < 5; k++)
        numbers += !cells[k].length || ulna_word_number(cells[k], &number);
    return count >= 5 && !numbers &&
           (!ulna_word_copy(cells[1], bone, sizeof bone) || ulna_model_find_body(model, bone) == ULNA_NONE);
}

static ulna_status read_row(const ulna_scan *scan, const ulna_model *model, const ulna_word *cells, int count,
                            double unit, ulna_marker_set *set, ulna_error *error)
{
    char marker[ULNA_MARKER_NAME], bone[BODY_NAME];
    double numbers[4] = {0, 0, 0, 1};
    if (count < 5 || count > COLUMNS)
        return ulna_scan_fail(scan, &cells[0], error, ULNA_ERR_PARSE,
                              "%d cells; a line is: marker, bone, x, y, z and perhaps a weight", count);
    if (!cells[0].length || !ulna_word_copy(cells[0], marker, sizeof marker))
        return ulna_scan_fail(scan, &cells[0], error, ULNA_ERR_PARSE, "the marker's name is missing or too long");
    int body = ulna_word_copy(cells[1], bone, sizeof bone) ? ulna_model_find_body(model, bone) : ULNA_NONE;
    if (body == ULNA_NONE)
        return ulna_scan_fail(scan, &cells[1], error, ULNA_ERR_PARSE, "the skeleton has no bone '%.60s'", bone);
    for (int k = 2; k < count; k++)
        if (cells[k].length && !ulna_word_number(cells[k], &numbers[k - 2]))
            return ulna_scan_fail(scan, &cells[k], error, ULNA_ERR_PARSE, "'%.*s' is no number",
                                  (int)(cells[k].length < 40 ? cells[k].length : 40), cells[k].text);
    if (!(numbers[3] >= 0))
        return ulna_scan_fail(scan, &cells[5], error, ULNA_ERR_PARSE, "a weight is not below 0");
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i].marker, marker) == 0)
            return ulna_scan_fail(scan, &cells[0], error, ULNA_ERR_PARSE, "marker '%s' is there twice", marker);
    const double offset[3] = {numbers[0] * unit, numbers[1] * unit, numbers[2] * unit};
    ulna_status status = ulna_marker_set_add(set, marker, body, offset, numbers[3]);
    return status == ULNA_OK ? status : ulna_fail(error, status, "no room for marker '%s'", marker);
}

ulna_status ulna_marker_set_read_csv(const char *text, size_t length, const ulna_model *model, ulna_marker_set *set,
                                     ulna_error *error)
{
    enum { MOST_MARKERS = 10000 };
    if ((!text && length) || !model || !set)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a text, a model and a place for the marker set are needed");
    ulna_scan scan = ulna_scan_start(text, length);
    double unit = 1;
    int rows = 0;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && ulna_scan_line(&scan)) {
        ulna_word line = ulna_scan_rest(&scan), cells[COLUMNS + 1];
        if (!line.length)
            continue;
        if (line.text[0] == '#') {
            if (unit_of(line, &unit) < 0)
                status = ulna_scan_fail(&scan, &line, error, ULNA_ERR_PARSE, "the unit is m, cm, mm or in");
            continue;
        }
        int count = cut(line, cells);
        if (rows++ == 0 && is_heading(model, cells, count))
            continue;
        if (set->count >= MOST_MARKERS)
            status = ulna_scan_fail(&scan, &line, error, ULNA_ERR_LIMIT, "more than %d markers", MOST_MARKERS);
        else
            status = read_row(&scan, model, cells, count, unit, set, error);
    }
    if (status == ULNA_OK && set->count == 0)
        status = ulna_fail(error, ULNA_ERR_PARSE, "the table has no markers");
    if (status != ULNA_OK)
        ulna_marker_set_release(set);
    return status;
}

ulna_status ulna_marker_set_write_csv(const ulna_marker_set *set, const ulna_model *model, const ulna_sink *sink,
                                      ulna_error *error)
{
    if (!set || !model || !sink)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a marker set, its model and a sink are needed");
    ulna_writer w;
    ulna_writer_start(&w, sink);
    ulna_put(&w, "# unit: m\nmarker,bone,x,y,z,weight\n");
    for (size_t i = 0; i < set->count; i++) {
        const ulna_attachment *item = &set->items[i];
        const char *bone = ulna_model_body_name(model, item->body);
        ulna_put(&w, item->marker);
        ulna_put(&w, ",");
        ulna_put(&w, bone ? bone : "");
        for (int k = 0; k < 4; k++) {
            ulna_put(&w, ",");
            ulna_put_number(&w, k < 3 ? item->offset[k] : item->weight);
        }
        ulna_put(&w, "\n");
    }
    ulna_status status = ulna_writer_finish(&w);
    return status == ULNA_OK ? status : ulna_fail(error, status, "the marker set could not be written");
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

static ulna_status name_file(const char *path, ulna_status status, ulna_error *error)
{
    if (status != ULNA_OK && error && path)
        snprintf(error->path, sizeof error->path, "%s", path);
    return status;
}

ulna_status ulna_marker_set_load(const char *path, const ulna_model *model, ulna_marker_set *set, ulna_error *error)
{
    enum { MOST_BYTES = 16 << 20 };
    if (!path || !model || !set)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path, a model and a place for the marker set are needed");
    ulna_text text = ulna_text_empty(&set->allocator);
    ulna_status status = ulna_file_read(path, MOST_BYTES, &text, error);
    if (status == ULNA_OK)
        status = ulna_marker_set_read_csv(text.data, text.length, model, set, error);
    ulna_text_release(&text);
    return name_file(path, status, error);
}

ulna_status ulna_marker_set_save(const ulna_marker_set *set, const ulna_model *model, const char *path,
                                 ulna_error *error)
{
    ulna_output *output;
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status != ULNA_OK)
        return status;
    ulna_sink sink = ulna_output_sink(output);
    status = ulna_marker_set_write_csv(set, model, &sink, error);
    if (status == ULNA_OK || status == ULNA_ERR_IO)
        return ulna_output_commit(output, error); /* which knows of every write that failed, and why */
    ulna_output_discard(output);
    return name_file(path, status, error);
}
