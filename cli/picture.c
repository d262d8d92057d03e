/* Recording a picture, and choosing its writer. */
#include "cli/picture.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"

/* ---- the list ----------------------------------------------------------------------------------------- */

void picture_init(picture *paper, double width, double height, const char *title)
{
    *paper = (picture){.width = width, .height = height, .title = title};
}

void picture_release(picture *paper)
{
    free(paper->items);
    free(paper->points);
    free(paper->letters);
    *paper = (picture){0};
}

/* Makes room for `more` elements behind `count`, at least doubling what is there. */
static int grow(void **array, size_t *room, size_t count, size_t more, size_t element)
{
    if (*room - count >= more)
        return 1;
    size_t wanted = 2 * *room > count + more ? 2 * *room : count + more + 64;
    void *larger = wanted < SIZE_MAX / element ? realloc(*array, wanted * element) : NULL;
    if (!larger)
        return 0;
    *array = larger;
    *room = wanted;
    return 1;
}

static void record(picture *paper, picture_item item, const picture_point *points, int count)
{
    void *items = paper->items, *places = paper->points;
    size_t more = (size_t)count;
    paper->failed |= !grow(&items, &paper->item_room, paper->item_count, 1, sizeof *paper->items);
    paper->items = items;
    paper->failed |= !grow(&places, &paper->point_room, paper->point_count, more, sizeof *paper->points);
    paper->points = places;
    if (paper->failed)
        return;
    item.first = paper->point_count;
    item.count = count;
    memcpy(paper->points + paper->point_count, points, more * sizeof *points);
    paper->point_count += more;
    paper->items[paper->item_count++] = item;
}

/* ---- what can be drawn -------------------------------------------------------------------------------- */

void picture_area(picture *paper, unsigned colour, const picture_point *points, int count)
{
    record(paper, (picture_item){.kind = PICTURE_AREA, .colour = colour}, points, count);
}

void picture_patch(picture *paper, unsigned colour, const picture_point *points, int count)
{
    record(paper, (picture_item){.kind = PICTURE_PATCH, .colour = colour}, points, count);
}

void picture_box(picture *paper, unsigned colour, double x, double y, double width, double height)
{
    const picture_point corners[4] = {{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
    picture_area(paper, colour, corners, 4);
}

void picture_cell(picture *paper, unsigned colour, double left, double top, double right, double bottom)
{
    const picture_point corners[2] = {{left, top}, {right, bottom}};
    record(paper, (picture_item){.kind = PICTURE_CELL, .colour = colour}, corners, 2);
}

void picture_line(picture *paper, unsigned colour, double width, const picture_point *points, int count)
{
    record(paper, (picture_item){.kind = PICTURE_LINE, .colour = colour, .size = width}, points, count);
}

void picture_segment(picture *paper, unsigned colour, double width, double x0, double y0, double x1, double y1)
{
    const picture_point ends[2] = {{x0, y0}, {x1, y1}};
    picture_line(paper, colour, width, ends, 2);
}

void picture_frame(picture *paper, unsigned colour, double line, double x, double y, double width, double height)
{
    const picture_point corners[5] = {{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}};
    picture_line(paper, colour, line, corners, 5);
}

void picture_text(picture *paper, unsigned colour, double size, int style, double x, double y, const char *format, ...)
{
    const picture_point place = {x, y};
    picture_item item = {.kind = PICTURE_TEXT, .colour = colour, .size = size, .style = style};
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    void *letters = paper->letters;
    size_t more = (size_t)(length < 0 ? 0 : length) + 1;
    paper->failed |= length < 0 || !grow(&letters, &paper->letter_room, paper->letter_count, more, 1);
    paper->letters = letters;
    if (!paper->failed) {
        item.text = paper->letter_count;
        vsnprintf(paper->letters + paper->letter_count, more, format, arguments);
        paper->letter_count += more;
        record(paper, item, &place, 1);
    }
    va_end(arguments);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

unsigned picture_character(const char **text)
{
    const unsigned char *byte = (const unsigned char *)*text;
    int more = byte[0] < 0x80 ? 0 : byte[0] >= 0xF0 ? 3 : byte[0] >= 0xE0 ? 2 : 1;
    int is_valid = byte[0] < 0x80 || (byte[0] >= 0xC2 && byte[0] <= 0xF4);
    unsigned code = more ? byte[0] & (0x3Fu >> more) : byte[0];
    for (int i = 1; i <= more && is_valid; i++) {
        is_valid = (byte[i] & 0xC0) == 0x80;
        code = code << 6 | (byte[i] & 0x3Fu);
    }
    static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
    if (!is_valid || code < least[more] || code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) {
        ++*text;
        return 0xFFFD;
    }
    *text += more + 1;
    return code;
}

const char *picture_shorten(const char *name, int most, char *text, size_t size)
{
    const char *end = name;
    for (int i = 1; i < most && *end; i++)
        picture_character(&end);
    const char *rest = end;
    if (*rest)
        picture_character(&rest);
    if (*rest)
        snprintf(text, size, "%.*s…", (int)(end - name), name);
    else
        snprintf(text, size, "%s", name);
    return text;
}

picture_format picture_format_of(const char *path)
{
    const char *dot = strrchr(path, '.');
    if (!dot || dot == path || dot[-1] == '/')
        return PICTURE_UNKNOWN;
    if (strcasecmp(dot, ".svg") == 0)
        return PICTURE_SVG;
    return strcasecmp(dot, ".png") == 0 ? PICTURE_PNG : PICTURE_UNKNOWN;
}

ulna_status picture_write(const picture *paper, const char *path, ulna_error *error)
{
    if (paper->failed)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    ulna_output *output = NULL;
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status)
        return status;
    ulna_sink sink = ulna_output_sink(output);
    status = picture_format_of(path) == PICTURE_SVG ? picture_write_svg(paper, &sink) : picture_write_png(paper, &sink);
    if (status == ULNA_OK || status == ULNA_ERR_IO)
        return ulna_output_commit(output, error); /* which knows of every write that failed, and why */
    ulna_output_discard(output);
    return cli_fail(error, status, "cannot make the picture: %s", ulna_status_text(status));
}
