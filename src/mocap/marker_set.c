/* Marker sets: which marker sits where, and the table that says so. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "formats/tables/table.h"
#include "formats/text/names.h"
#include "math/math3.h"
#include "mocap/marker_names.h"
#include "mocap/take.h"
#include "model/builder.h"
#include "model/model.h"
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

ulna_status ulna_marker_set_append(ulna_marker_set *set, const ulna_attachment *item)
{
    ulna_status status = ulna_marker_set_add(set, item->marker, item->body, item->offset, item->weight);
    if (status == ULNA_OK) {
        memcpy(set->items[set->count - 1].deviation, item->deviation, sizeof item->deviation);
        set->items[set->count - 1].is_joint = item->is_joint;
    }
    return status;
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

ulna_status ulna_model_with_markers(const ulna_model *model, const ulna_marker_set *set,
                                    const ulna_allocator *allocator, ulna_model **result, ulna_error *error)
{
    ulna_builder *builder = NULL;
    if (!set || !result)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no marker set or no pointer for the model given");
    *result = NULL;
    ulna_status status = ulna_builder_from_model(model, allocator, &builder, error);
    if (status == ULNA_OK)
        ulna_builder_remove_markers(builder);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &set->items[i];
        status = ulna_builder_add_marker(builder, item->marker, item->body, item->offset, item->weight, NULL, error);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, allocator, result, error);
    ulna_builder_destroy(builder);
    return status;
}

double ulna_marker_set_length_scale(const ulna_model *model, const ulna_marker_set *set)
{
    double longest = 0, reach = 0;
    for (size_t i = 0; i < set->count && !model->has_length; i++) {
        double length = ulna_norm(set->items[i].offset);
        longest = fmax(longest, reach + length);
        reach = fmax(reach, length);
    }
    return longest / 2 > 0 ? longest / 2 : model->length_scale;
}

/* ---- the table ------------------------------------------------------------------------------------------------------ */

/* Besides numbers, two columns may hold notes. */
enum {
    FEWEST_CELLS = 5,
    WEIGHT = 5,
    TEMPLATE_CELLS = 8,
    MOST_CELLS = 9,
    NOTES = 2,
    ROOM = MOST_CELLS + NOTES,
    SPREADS = 3,
    MOST_BYTES = 16 << 20
};

#define FARTHEST 10.0 /* m, of a template: nothing on a person is so far from a bone */
/* Times the skeleton's length: the longest way from the root, there and back. No marker is so far from its bone. */
#define TOO_FAR 2.0
/* Times the skeleton's length: how far markers are from the origins of their bones, give or take. */
#define USUALLY 0.08

typedef struct set_reader {
    ulna_scan scan;
    const ulna_model *model;
    ulna_marker_set *set;
    ulna_marker_template *places; /* NULL: a line may end with weight and deviations; else, with spreads */
    size_t most_cells;
    size_t note_column[NOTES]; /* that the heading names; 0: none */
    ulna_names names;          /* of the markers so far */
    ulna_error *error;
    double unit;
    int has_unit;   /* a line or the heading stated it */
    char delimiter; /* of the current row */
    int far_line;   /* the first row whose marker is TOO_FAR; 0: none */
    size_t far;     /* that marker */
    size_t far_count;
} set_reader;

/* What a table may say of all its offsets: "# offsets: undetermined", or a column "offsets" with "undetermined" in its rows. */
static const struct note {
    const char *key, *word;
} notes[NOTES] = {{"offsets", "undetermined"}, {"lengths", "others"}};

static void take_note(set_reader *r, size_t note)
{
    *(note == 0 ? &r->set->is_undetermined : &r->set->has_other_lengths) = 1;
}

/* "# unit: mm", and notes */
static ulna_status read_comment(set_reader *r)
{
    ulna_scan line = r->scan;
    ulna_word key, word;
    char name[ULNA_MARKER_NAME];
    if (!ulna_scan_word(&line, "#:", &key) || !ulna_scan_word(&line, "#:,;", &word))
        return ULNA_OK;
    for (size_t i = 0; i < NOTES; i++)
        if (ulna_word_is_like(key, notes[i].key) && ulna_word_is_like(word, notes[i].word))
            take_note(r, i);
    if (!ulna_word_is_like(key, "unit"))
        return ULNA_OK;
    ulna_word_copy(word, name, sizeof name);
    r->unit = ulna_unit_metres(name);
    r->has_unit = 1;
    return r->unit > 0 ? ULNA_OK
                       : ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "unknown unit of length '%s'", name);
}

/* The cell of a column of notes is taken, and not counted. */
static int is_note(set_reader *r, size_t column, ulna_word cell)
{
    for (size_t i = 0; i < NOTES; i++)
        if (column > 0 && column == r->note_column[i]) {
            if (ulna_word_is_like(cell, notes[i].word))
                take_note(r, i);
            return 1;
        }
    return 0;
}

static size_t cut(set_reader *r, char delimiter, ulna_word cells[ROOM])
{
    ulna_row row = ulna_row_start(&r->scan, delimiter);
    ulna_word cell;
    size_t count = 0;
    for (size_t column = 0; count <= ROOM && ulna_row_next(&row, &cell); column++)
        if (!is_note(r, column, cell)) {
            if (count < ROOM)
                cells[count] = cell;
            count++;
        }
    return count;
}

/* The cells of the current line, between commas, semicolons or tabs: the first of these that gives numbers where they belong,
 * since numbers may have decimal commas, and tables tabs for their looks. */
static size_t cut_row(set_reader *r, ulna_word cells[ROOM])
{
    static const char delimiters[] = {',', ';', '\t'};
    for (size_t i = 0; i < sizeof delimiters; i++) {
        double number;
        r->delimiter = delimiters[i];
        size_t count = cut(r, r->delimiter, cells), k = 2;
        while (k < count && k < ROOM && (!cells[k].length || ulna_cell_number(cells[k], r->delimiter, &number)))
            k++;
        if (k == count && count >= FEWEST_CELLS)
            return count;
    }
    r->delimiter = ulna_table_delimiter(&r->scan);
    return cut(r, r->delimiter, cells);
}

static int find_body(const set_reader *r, ulna_word cell, char name[ULNA_BODY_NAME])
{
    return ulna_cell_copy(cell, name, ULNA_BODY_NAME) ? ulna_model_find_body(r->model, name) : ULNA_NONE;
}

/* A first line without a bone and without a number; else a typing error would drop a marker. */
static int is_heading(const set_reader *r, const ulna_word *cells, size_t count)
{
    char bone[ULNA_BODY_NAME];
    double number;
    for (size_t k = 2; k < count && k < FEWEST_CELLS; k++)
        if (!cells[k].length || ulna_cell_number(cells[k], r->delimiter, &number))
            return 0;
    return count >= FEWEST_CELLS && find_body(r, cells[1], bone) == ULNA_NONE;
}

/* "x_mm" states the unit, and "offsets" and "lengths" are columns of notes. */
static ulna_status read_heading(set_reader *r, const ulna_word *cells, size_t count)
{
    for (size_t k = 2; k < count && k < ROOM; k++) {
        ulna_word name = cells[k];
        int is_angle;
        for (size_t i = 0; i < NOTES && k >= FEWEST_CELLS; i++)
            if (ulna_word_is_like(name, notes[i].key))
                r->note_column[i] = k;
        const double unit = ulna_cell_cut_unit(&name, &is_angle);
        if (unit <= 0)
            continue;
        if (is_angle || (r->has_unit && unit != r->unit))
            return ulna_scan_fail(&r->scan, &cells[k], r->error, ULNA_ERR_PARSE,
                                  is_angle ? "'%.*s' is an angle, but offsets are lengths"
                                           : "the unit of '%.*s' is not the one stated before it; give all columns one",
                                  (int)(cells[k].length < 40 ? cells[k].length : 40), cells[k].text);
        r->unit = unit;
        r->has_unit = 1;
    }
    return ULNA_OK;
}

/* One counts for all directions; none is what is usual. */
static ulna_status add_spread(ulna_marker_template *places, const double *given)
{
    static const double usual = 0.02; /* m */
    void *spread = places->spread;
    ulna_status status =
        ulna_grow(&places->set.allocator, &spread, &places->room, SPREADS * places->set.count, sizeof *places->spread);
    if (status != ULNA_OK)
        return status;
    places->spread = spread;
    for (int k = 0; k < SPREADS; k++)
        places->spread[SPREADS * (places->set.count - 1) + (size_t)k] = !isnan(given[k])   ? given[k]
                                                                        : !isnan(given[0]) ? given[0]
                                                                                           : usual;
    return ULNA_OK;
}

/* A skeleton that is one point has no length to compare with. */
static int is_too_far(const ulna_model *model, const double offset[3])
{
    return model->has_length && ulna_norm(offset) > TOO_FAR * model->length_scale;
}

/* The unit in which the markers would be about as far from their bones as is usual: millimetres or centimetres; none if both are too far. */
static ulna_status suggest_unit(const set_reader *r, char unit[3])
{
    size_t count = r->set->count;
    double *far = ulna_allocate(&r->set->allocator, count, sizeof *far);
    if (!far)
        return ULNA_ERR_MEMORY;
    for (size_t i = 0; i < count; i++)
        far[i] = ulna_norm(r->set->items[i].offset) / r->unit;
    double usual = USUALLY * r->model->length_scale, middle = ulna_median(far, count);
    if (1e-3 * middle <= TOO_FAR * r->model->length_scale)
        snprintf(unit, 3, fabs(log(1e-3 * middle / usual)) < fabs(log(1e-2 * middle / usual)) ? "mm" : "cm");
    ulna_release(&r->set->allocator, far, count, sizeof *far);
    return ULNA_OK;
}

/* Most markers are too far off where the unit is wrong, one or two where a number is. */
static ulna_status refuse_far(const set_reader *r)
{
    const ulna_attachment *item = &r->set->items[r->far];
    char unit[3] = "", advice[140] = "correct its numbers";
    if (2 * r->far_count >= r->set->count && suggest_unit(r, unit) != ULNA_OK)
        return ulna_fail(r->error, ULNA_ERR_MEMORY, "no memory for %zu markers", r->set->count);
    if (*unit)
        snprintf(advice, sizeof advice,
                 r->has_unit
                     ? "the unit in its columns' names, or in its line '# unit', seems wrong; '%s' would fit"
                     : "the table does not state its unit, so that metres are assumed: add the line '# unit: %s'",
                 unit);
    ulna_fail(r->error, ULNA_ERR_PARSE,
              "marker '%.40s' would be %.3g m from its bone, and the skeleton's characteristic length is %.2g m: %s",
              item->marker, ulna_norm(item->offset), r->model->length_scale, advice);
    if (r->error)
        r->error->line = r->far_line;
    return ULNA_ERR_PARSE;
}

static ulna_status read_row(set_reader *r, const ulna_word *cells, size_t count)
{
    char marker[ULNA_MARKER_NAME], bone[ULNA_BODY_NAME];
    double usual = r->places ? (double)NAN : 0; /* offset; then weight and deviations, or spreads */
    double numbers[MOST_CELLS - 2] = {0, 0, 0, r->places ? usual : 1, usual, usual, usual};
    if (count < FEWEST_CELLS || count > r->most_cells)
        return ulna_scan_fail(
            &r->scan, &cells[0], r->error, ULNA_ERR_PARSE,
            r->places ? "%s%zu cells; a line has marker, bone, left, up, forward and up to three spreads"
                      : "%s%zu cells; a line has marker, bone, x, y, z and optionally a weight and three deviations",
            count > r->most_cells ? "more than " : "", count > r->most_cells ? r->most_cells : count);
    if (!ulna_cell_copy(cells[0], marker, sizeof marker) || !marker[0])
        return ulna_scan_fail(&r->scan, &cells[0], r->error, ULNA_ERR_PARSE,
                              "the marker's name is missing or longer than %d bytes", ULNA_MARKER_NAME - 1);
    int body = find_body(r, cells[1], bone);
    if (body == ULNA_NONE)
        return ulna_scan_fail(&r->scan, &cells[1], r->error, ULNA_ERR_PARSE, "the skeleton has no bone '%.60s'", bone);
    for (size_t k = 2; k < count; k++)
        if (cells[k].length &&
            (!ulna_cell_value(cells[k], r->delimiter, k == WEIGHT && !r->places ? 1 : r->unit, &numbers[k - 2]) ||
             !isfinite(numbers[k - 2])))
            return ulna_scan_fail(&r->scan, &cells[k], r->error, ULNA_ERR_PARSE, "'%.*s' is not a number",
                                  (int)(cells[k].length < 40 ? cells[k].length : 40), cells[k].text);
    if (!r->places && !(numbers[3] >= 0))
        return ulna_scan_fail(&r->scan, &cells[5], r->error, ULNA_ERR_PARSE, "the weight must be 0 or more");
    for (size_t k = 2; k < count && r->places; k++)
        if (fabs(numbers[k - 2]) > FARTHEST)
            return ulna_scan_fail(&r->scan, &cells[k], r->error, ULNA_ERR_PARSE,
                                  "%.3g m is no place on a person: is the unit right? Names such as left_cm state it",
                                  numbers[k - 2]);
    for (size_t k = WEIGHT; k < count; k++)
        if (r->places ? numbers[k - 2] <= 0 : numbers[k - 2] < 0)
            return ulna_scan_fail(&r->scan, &cells[k], r->error, ULNA_ERR_PARSE,
                                  r->places ? "a spread must be above 0" : "a deviation must be 0 or more");
    if (ulna_names_find(&r->names, marker) != ULNA_NONE)
        return ulna_scan_fail(&r->scan, &cells[0], r->error, ULNA_ERR_PARSE, "marker '%s' is listed twice", marker);
    ulna_status status = ulna_names_add(&r->names, marker);
    if (status == ULNA_OK)
        status = ulna_marker_set_add(r->set, marker, body, numbers, r->places ? 1 : numbers[3]);
    if (status == ULNA_OK && !r->places && is_too_far(r->model, numbers)) {
        r->far_line = r->far_count++ ? r->far_line : r->scan.line;
        r->far = r->far_count > 1 ? r->far : r->set->count - 1;
    }
    if (status == ULNA_OK && !r->places)
        memcpy(r->set->items[r->set->count - 1].deviation, numbers + 4, SPREADS * sizeof *numbers);
    if (status == ULNA_OK && r->places)
        status = add_spread(r->places, numbers + 3);
    return status == ULNA_OK ? status : ulna_fail(r->error, status, "no memory for marker '%s'", marker);
}

/* All lines; the reader's scan begins at the first. */
static ulna_status read_table(set_reader *r)
{
    int rows = 0;
    ulna_status status = ULNA_OK;
    while (status == ULNA_OK && ulna_scan_line(&r->scan)) {
        ulna_word cells[ROOM] = {0};
        while (r->scan.here < r->scan.end && *r->scan.here == ' ')
            r->scan.here++;
        if (ulna_row_is_blank(&r->scan))
            continue;
        if (*r->scan.here == '#') {
            status = read_comment(r);
            continue;
        }
        size_t count = cut_row(r, cells);
        status = rows++ > 0 || !is_heading(r, cells, count) ? read_row(r, cells, count) : read_heading(r, cells, count);
    }
    ulna_names_release(&r->names);
    if (status == ULNA_OK && r->set->count == 0)
        status = ulna_fail(r->error, ULNA_ERR_PARSE, "the table has no markers");
    return status == ULNA_OK && r->far_count ? refuse_far(r) : status;
}

ulna_status ulna_marker_set_read_csv(const char *text, size_t length, const ulna_model *model, ulna_marker_set *set,
                                     ulna_error *error)
{
    if ((!text && length) || !model || !set)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a text, a model and a pointer for the marker set are needed");
    set_reader r = {.scan = ulna_scan_start(text, length),
                    .model = model,
                    .set = set,
                    .most_cells = MOST_CELLS,
                    .names = ulna_names_empty(&set->allocator),
                    .error = error,
                    .unit = 1};
    ulna_status status = read_table(&r);
    if (status != ULNA_OK)
        ulna_marker_set_release(set);
    return status;
}

/* ---- places give or take a spread --------------------------------------------------------------------------------- */

void ulna_marker_template_release(ulna_marker_template *markers)
{
    if (markers && markers->set.allocator.allocate) {
        ulna_release(&markers->set.allocator, markers->spread, markers->room, sizeof *markers->spread);
        ulna_marker_set_release(&markers->set);
        *markers = (ulna_marker_template){.set = markers->set};
    }
}

/* From left, up, forward of the joint at rest to the frame of the body. */
static ulna_status turn_to_bodies(const ulna_model *model, ulna_marker_set *set)
{
    ulna_figure figure;
    ulna_status status = ulna_figure_create(model, &set->allocator, &figure);
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++) {
        ulna_attachment *item = &set->items[i];
        double place[3];
        ulna_pose_body(figure.rest, item->body, place, NULL);
        for (int k = 0; k < 3; k++)
            for (int axis = 0; axis < 3; axis++)
                place[k] += item->offset[axis] * figure.axes[3 * axis + k];
        ulna_figure_to_body(&figure, item->body, place, item->offset);
    }
    ulna_figure_release(&figure);
    return status;
}

ulna_status ulna_marker_template_load(const char *path, const ulna_model *model, ulna_marker_template *markers,
                                      ulna_error *error)
{
    if (!path || !model || !markers)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path, a model and a pointer for the template are needed");
    *markers = (ulna_marker_template){.set = ulna_marker_set_empty(NULL)};
    ulna_text text = ulna_text_empty(NULL);
    ulna_status status = ulna_file_read(path, MOST_BYTES, &text, error);
    set_reader r = {.scan = ulna_scan_start(text.data, text.length),
                    .model = model,
                    .set = &markers->set,
                    .places = markers,
                    .most_cells = TEMPLATE_CELLS,
                    .names = ulna_names_empty(NULL),
                    .error = error,
                    .unit = 1e-3};
    if (status == ULNA_OK)
        status = read_table(&r);
    if (status == ULNA_OK)
        status = turn_to_bodies(model, &markers->set);
    ulna_text_release(&text);
    if (status != ULNA_OK)
        ulna_marker_template_release(markers);
    return ulna_fail_file(error, path, status);
}

/* Would the name be read back as it is? A cell holds anything but the end of a line, and the text is UTF-8. */
static int is_writable(const char *name)
{
    char copy[2 * ULNA_BODY_NAME];
    return !strpbrk(name, "\r\n") && ulna_word_copy((ulna_word){name, strlen(name)}, copy, sizeof copy) &&
           strcmp(name, copy) == 0;
}

static ulna_status check_set(const ulna_marker_set *set, const ulna_model *model, ulna_error *error)
{
    ulna_names names = ulna_names_empty(&set->allocator);
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &set->items[i];
        if (item->body < 0 || item->body >= ulna_model_body_count(model))
            status = ulna_fail(error, ULNA_ERR_ARGUMENT, "marker '%s' is on body %d, which the model does not have",
                               item->marker, item->body);
        else if (!is_writable(item->marker) || !is_writable(ulna_model_body_name(model, item->body)))
            status = ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                               "marker %zu: the name of the marker or of its bone has a line end or is not UTF-8, and "
                               "cannot be written",
                               i + 1);
        else if (!isfinite(item->offset[0] + item->offset[1] + item->offset[2] + item->weight + item->deviation[0] +
                           item->deviation[1] + item->deviation[2]))
            status = ulna_fail(
                error, ULNA_ERR_NUMBER,
                "the offset, its deviation or the weight of marker '%s' is NaN or infinite, and is not written",
                item->marker);
        else if (is_too_far(model, item->offset))
            status =
                ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                          "marker '%s' is %.3g m from its bone, farther than any on this skeleton, and is not written",
                          item->marker, ulna_norm(item->offset));
        else if (ulna_names_find(&names, item->marker) != ULNA_NONE)
            status = ulna_fail(error, ULNA_ERR_UNSUPPORTED, "marker '%s' is listed twice", item->marker);
        else if (ulna_names_add(&names, item->marker) != ULNA_OK)
            status = ulna_fail(error, ULNA_ERR_MEMORY, "no memory for the names of markers");
    }
    ulna_names_release(&names);
    return status;
}

ulna_status ulna_marker_set_write_csv(const ulna_marker_set *set, const ulna_model *model, const ulna_sink *sink,
                                      ulna_error *error)
{
    if (!set || !model || !sink)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a marker set, its model and a sink are needed");
    ulna_status status = check_set(set, model, error);
    if (status != ULNA_OK)
        return status;
    ulna_writer w;
    ulna_writer_start(&w, sink);
    int has_deviations = 0;
    for (size_t i = 0; i < set->count; i++)
        for (int k = 0; k < 3; k++)
            has_deviations |= set->items[i].deviation[k] > 0;
    const int has_note[NOTES] = {set->is_undetermined, set->has_other_lengths};
    ulna_put(&w, "marker,bone,x_m,y_m,z_m,weight");
    ulna_put(&w, has_deviations ? ",deviation_x_m,deviation_y_m,deviation_z_m" : "");
    for (size_t n = 0; n < NOTES; n++)
        ulna_print(&w, "%s%s", has_note[n] ? "," : "", has_note[n] ? notes[n].key : "");
    ulna_put(&w, "\n");
    for (size_t i = 0; i < set->count; i++) {
        const ulna_attachment *item = &set->items[i];
        ulna_put_cell(&w, item->marker);
        ulna_put(&w, ",");
        ulna_put_cell(&w, ulna_model_body_name(model, item->body));
        for (int k = 0; k < (has_deviations ? 7 : 4); k++) {
            ulna_put(&w, ",");
            ulna_put_number(&w, k < 3 ? item->offset[k] : k == 3 ? item->weight : item->deviation[k - 4]);
        }
        for (size_t n = 0; n < NOTES; n++)
            ulna_print(&w, "%s%s", has_note[n] ? "," : "", has_note[n] ? notes[n].word : "");
        ulna_put(&w, "\n");
    }
    return ulna_writer_finish(&w, "the marker set", error);
}

/* ---- files -------------------------------------------------------------------------------------------------------- */

ulna_status ulna_marker_set_load(const char *path, const ulna_model *model, ulna_marker_set *set, ulna_error *error)
{
    if (!path || !model || !set)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path, a model and a pointer for the marker set are needed%s",
                         !model ? ": the model is NULL, so the file that was read for it has no skeleton" : "");
    ulna_text text = ulna_text_empty(&set->allocator);
    ulna_status status = ulna_file_read(path, MOST_BYTES, &text, error);
    if (status == ULNA_OK)
        status = ulna_marker_set_read_csv(text.data, text.length, model, set, error);
    ulna_text_release(&text);
    return ulna_fail_file(error, path, status);
}

ulna_status ulna_marker_set_save(const ulna_marker_set *set, const ulna_model *model, const char *path,
                                 ulna_error *error)
{
    ulna_output *output;
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status != ULNA_OK)
        return status;
    ulna_sink sink = ulna_output_sink(output);
    return ulna_output_commit(output, ulna_marker_set_write_csv(set, model, &sink, error), error);
}
