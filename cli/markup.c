/* HTML, SVG, shell and CSV text, and its file. */
#include "cli/markup.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

void markup_init(markup *page)
{
    *page = (markup){.text = ulna_text_empty(NULL)};
}

void markup_release(markup *page)
{
    ulna_text_release(&page->text);
}

static void put_bytes(markup *page, const char *data, size_t bytes)
{
    if (!page->status)
        page->status = ulna_text_append(&page->text, data, bytes);
}

static void put(markup *page, const char *text)
{
    put_bytes(page, text, strlen(text));
}

void markup_put(markup *page, const char *text)
{
    if (*page->path)
        put(page, "\"/>\n");
    *page->path = 0;
    put(page, text);
}

void markup_format(markup *page, const char *format, ...)
{
    char text[1001];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    markup_put(page, text);
}

void markup_fill(markup *page, const char *template, const markup_part *parts, const void *about)
{
    markup_put(page, "");
    for (const char *open; (open = strstr(template, "{{")) != NULL;) {
        size_t length = strcspn(open + 2, "}");
        put_bytes(page, template, (size_t)(open - template));
        for (const markup_part *part = parts; part->name; part++)
            if (strlen(part->name) == length && strncmp(part->name, open + 2, length) == 0)
                part->put(page, about);
        template = open + 2 + length + 2;
    }
    markup_put(page, template);
}

/* ---- lines for a shell -------------------------------------------------------------------------------- */

void markup_put_quoted(markup *script, const char *text)
{
    markup_put(script, "'");
    for (; *text; text++) {
        const char one[2] = {*text, 0};
        markup_put(script, *text == '\'' ? "'\\''" : one);
    }
    markup_put(script, "'");
}

int markup_is_word(const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=.,:/+@%";
    return *text && !text[strspn(text, plain)];
}

void markup_put_word(markup *script, const char *text)
{
    if (markup_is_word(text))
        markup_put(script, text);
    else
        markup_put_quoted(script, text);
}

/* ---- cells of CSV ------------------------------------------------------------------------------------- */

void markup_put_cell(markup *table, const char *before, const char *text)
{
    const size_t length = strlen(text);
    const int is_quoted = strpbrk(text, ",;\"\n\r#") ||
                          (length && (isspace((unsigned char)*text) || isspace((unsigned char)text[length - 1])));
    markup_put(table, is_quoted ? "\"" : "");
    markup_put(table, before);
    for (; *text; text++) {
        const char one[2] = {*text, 0};
        markup_put(table, *text == '"' ? "\"\"" : one);
    }
    markup_put(table, is_quoted ? "\"" : "");
}

/* ---- text from files ---------------------------------------------------------------------------------- */

void markup_escape(markup *page, const char *text)
{
    markup_put(page, "");
    for (int size; *text; text += size) {
        if (!cli_is_printable(text, &size))
            put(page, "?");
        else if (*text == '&')
            put(page, "&amp;");
        else if (*text == '<')
            put(page, "&lt;");
        else if (*text == '>')
            put(page, "&gt;");
        else if (*text == '"')
            put(page, "&quot;");
        else
            put_bytes(page, text, (size_t)size);
    }
}

/* ---- SVG ---------------------------------------------------------------------------------------------- */

/* At most two decimals, and no superfluous zeros: "12.5", "-.25", "0". A minus sign separates numbers as a blank does. */
static void put_number(markup *page, const char *before, double value)
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
    put(page, text[0] == '-' && strcmp(before, " ") == 0 ? "" : before);
    put_bytes(page, text, (size_t)length);
}

/* The first point, and the way from each to the next, between rounded points so that errors do not add up. */
static void put_points(markup *page, const svg_point *points, int count, int is_reversed)
{
    svg_point from = {0, 0};
    for (int i = 0; i < count; i++) {
        svg_point at = points[is_reversed ? count - 1 - i : i];
        at = (svg_point){round(100 * at.x) / 100, round(100 * at.y) / 100};
        put_number(page, i == 0 ? "M" : i == 1 ? "l" : " ", at.x - from.x);
        put_number(page, " ", at.y - from.y);
        from = at;
    }
}

static void open_path(markup *page, const char *attributes)
{
    if (*page->path && strcmp(page->path, attributes) == 0)
        return;
    markup_format(page, "<path %s d=\"", attributes);
    snprintf(page->path, sizeof page->path, "%s", attributes);
}

void svg_begin(markup *page, double width, double height, const char *attributes)
{
    markup_format(page, "<svg xmlns=\"http://www.w3.org/2000/svg\" %s viewBox=\"0 0 %g %g\">\n", attributes, width,
                  height);
}

void svg_line(markup *page, const char *attributes, const svg_point *points, int count)
{
    open_path(page, attributes);
    put_points(page, points, count, 0);
}

void svg_area(markup *page, const char *attributes, const svg_point *points, int count)
{
    double area = 0;
    for (int i = 0; i < count; i++) {
        svg_point a = points[i], b = points[(i + 1) % count];
        area += a.x * b.y - a.y * b.x;
    }
    open_path(page, attributes);
    put_points(page, points, count, area < 0);
    put(page, "z");
}

void svg_segment(markup *page, const char *attributes, double x0, double y0, double x1, double y1)
{
    const svg_point ends[2] = {{x0, y0}, {x1, y1}};
    svg_line(page, attributes, ends, 2);
}

void svg_box(markup *page, const char *attributes, double left, double top, double right, double bottom)
{
    open_path(page, attributes);
    put_number(page, "M", left);
    put_number(page, " ", top);
    put_number(page, "H", right);
    put_number(page, "V", bottom);
    put_number(page, "H", left);
    put(page, "z");
}

void svg_text(markup *page, int style, const char *attributes, double x, double y, const char *format, ...)
{
    static const char *const anchors[] = {"", " text-anchor=\"middle\"", " text-anchor=\"end\""};
    char text[1001];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    markup_put(page, "<text");
    put_number(page, style & SVG_UPWARDS ? " transform=\"translate(" : " x=\"", x);
    put_number(page, style & SVG_UPWARDS ? " " : "\" y=\"", y);
    markup_format(page, "%s\"%s%s%s>", style & SVG_UPWARDS ? ")rotate(-90)" : "", anchors[style & 3],
                  *attributes ? " " : "", attributes);
    markup_escape(page, text);
    put(page, "</text>\n");
}

/* ---- the file ----------------------------------------------------------------------------------------- */

ulna_status markup_write(const markup *page, const char *path, ulna_error *error)
{
    if (page->status)
        return cli_fail(error, page->status, "cannot make the page: %s", ulna_status_text(page->status));
    return cli_write_text(path, page->text.data, page->text.length, error);
}
