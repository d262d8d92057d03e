/* A picture as SVG: one file that needs nothing else. Neighbours of one kind and colour share an element. */
#include "cli/picture.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

typedef struct svg {
    const ulna_sink *sink;
    ulna_status status;
} svg;

/* ---- bytes -------------------------------------------------------------------------------------------- */

static void put_bytes(svg *file, const char *data, size_t bytes)
{
    if (!file->status && bytes)
        file->status = file->sink->write(file->sink->context, data, bytes);
}

static void put(svg *file, const char *text)
{
    put_bytes(file, text, strlen(text));
}

static void put_format(svg *file, const char *format, ...) ULNA_PRINTF(2, 3);

static void put_format(svg *file, const char *format, ...)
{
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(file, text);
}

/* At most two decimals, and no zeros that say nothing: "12.5", "-.25", "0". A minus parts numbers as a blank does. */
static void put_number(svg *file, const char *before, double value)
{
    char text[64];
    int length = snprintf(text, sizeof text, "%s%.2f", value <= -0.005 ? "-" : "", fabs(value));
    while (text[length - 1] == '0')
        length--;
    length -= text[length - 1] == '.';
    text[length] = 0;
    char *digits = text + (text[0] == '-');
    if (digits[0] == '0' && digits[1] == '.') {
        memmove(digits, digits + 1, (size_t)length);
        length--;
    }
    put(file, text[0] == '-' && strcmp(before, " ") == 0 ? "" : before);
    put_bytes(file, text, (size_t)length);
}

/* What XML cannot hold, even escaped, becomes a question mark. */
static int is_xml(unsigned code)
{
    return code >= 0x20 && (code < 0x7F || code > 0x9F) && code != 0xFFFE && code != 0xFFFF;
}

static void put_escaped(svg *file, const char *text)
{
    while (*text) {
        const char *start = text;
        unsigned code = picture_character(&text);
        if (code == '&')
            put(file, "&amp;");
        else if (code == '<')
            put(file, "&lt;");
        else if (code == '>')
            put(file, "&gt;");
        else if (code == 0xFFFD || !is_xml(code))
            put(file, "?");
        else
            put_bytes(file, start, (size_t)(text - start));
    }
}

/* ---- elements ----------------------------------------------------------------------------------------- */

/* Patches of one path may overlap where a surface folds over itself: turning all the same way, they add up. */
static int turns_left(const picture_point *points, int count)
{
    double area = 0;
    for (int i = 0; i < count; i++) {
        picture_point a = points[i], b = points[(i + 1) % count];
        area += a.x * b.y - a.y * b.x;
    }
    return area < 0;
}

/* The first point, and the way from each to the next, reckoned between rounded points so that errors do not add up. */
static void put_points(svg *file, const picture_point *points, int count, int is_reversed)
{
    picture_point from = {0, 0};
    for (int i = 0; i < count; i++) {
        picture_point at = points[is_reversed ? count - 1 - i : i];
        at = (picture_point){round(100 * at.x) / 100, round(100 * at.y) / 100};
        put_number(file, i == 0 ? "M" : i == 1 ? "l" : " ", at.x - from.x);
        put_number(file, " ", at.y - from.y);
        from = at;
    }
}

static void put_cell(svg *file, const picture_point *corners)
{
    put_number(file, "M", corners[0].x);
    put_number(file, " ", corners[0].y);
    put_number(file, "H", corners[1].x);
    put_number(file, "V", corners[1].y);
    put_number(file, "H", corners[0].x);
    put(file, "z");
}

static void put_shape(svg *file, const picture_item *item, const picture_point *points)
{
    if (item->kind == PICTURE_CELL)
        put_cell(file, points);
    else
        put_points(file, points, item->count, item->kind == PICTURE_PATCH && turns_left(points, item->count));
    if (item->kind == PICTURE_AREA || item->kind == PICTURE_PATCH)
        put(file, "z");
}

static void open_path(svg *file, const picture_item *item)
{
    if (item->kind == PICTURE_LINE) {
        put_format(file, "<path fill=\"none\" stroke=\"#%06x\"", item->colour);
        put_number(file, " stroke-width=\"", item->size);
        put(file, "\" d=\"");
    } else
        put_format(file, "<path fill=\"#%06x\"%s d=\"", item->colour,
                   item->kind == PICTURE_CELL ? " shape-rendering=\"crispEdges\"" : "");
}

static void put_text(svg *file, const picture_item *item, picture_point place, const char *text)
{
    put_number(file, "<text x=\"", place.x);
    put_number(file, "\" y=\"", place.y);
    put_number(file, "\" font-size=\"", item->size);
    put_format(file, "\" fill=\"#%06x\"", item->colour);
    if (item->style & (PICTURE_MIDDLE | PICTURE_END))
        put_format(file, " text-anchor=\"%s\"", item->style & PICTURE_MIDDLE ? "middle" : "end");
    if (item->style & PICTURE_BOLD)
        put(file, " font-weight=\"bold\"");
    if (item->style & PICTURE_UPWARDS) {
        put_number(file, " transform=\"rotate(-90 ", place.x);
        put_number(file, " ", place.y);
        put(file, ")\"");
    }
    put(file, ">");
    put_escaped(file, text);
    put(file, "</text>\n");
}

/* Areas stand alone: they may overlap. */
static int may_share(const picture_item *a, const picture_item *b)
{
    return a->kind == b->kind && a->kind != PICTURE_AREA && a->kind != PICTURE_TEXT && a->colour == b->colour &&
           a->size == b->size;
}

static void put_items(svg *file, const picture *paper)
{
    for (size_t i = 0; i < paper->item_count; i++) {
        const picture_item *item = &paper->items[i];
        const picture_point *points = paper->points + item->first;
        if (item->kind == PICTURE_TEXT) {
            put_text(file, item, points[0], paper->letters + item->text);
            continue;
        }
        if (i == 0 || !may_share(item, item - 1))
            open_path(file, item);
        put_shape(file, item, points);
        if (i + 1 == paper->item_count || !may_share(item, item + 1))
            put(file, "\"/>\n");
    }
}

ulna_status picture_write_svg(const picture *paper, const ulna_sink *sink)
{
    svg file = {.sink = sink};
    put(&file, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"");
    put_number(&file, " width=\"", paper->width);
    put_number(&file, "\" height=\"", paper->height);
    put_number(&file, "\" viewBox=\"0 0 ", paper->width);
    put_number(&file, " ", paper->height);
    put(&file, "\" font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\" stroke-linecap=\"round\" "
               "stroke-linejoin=\"round\">\n<title>");
    put_escaped(&file, paper->title);
    put(&file, "</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    put_items(&file, paper);
    put(&file, "</svg>\n");
    return file.status;
}
