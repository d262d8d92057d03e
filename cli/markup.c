/* HTML and SVG text. */
#include "cli/markup.h"

#include <string.h>

#include "cli/picture.h"

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

void markup_put(markup *page, const char *text)
{
    put_bytes(page, text, strlen(text));
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

static int is_shown(unsigned code)
{
    return code >= 0x20 && (code < 0x7F || code > 0x9F) && code != 0xFFFD && code != 0xFFFE && code != 0xFFFF;
}

void markup_escape(markup *page, const char *text)
{
    while (*text) {
        const char *start = text;
        unsigned code = picture_character(&text);
        if (code == '&')
            markup_put(page, "&amp;");
        else if (code == '<')
            markup_put(page, "&lt;");
        else if (code == '>')
            markup_put(page, "&gt;");
        else if (code == '"')
            markup_put(page, "&quot;");
        else if (!is_shown(code))
            markup_put(page, "?");
        else
            put_bytes(page, start, (size_t)(text - start));
    }
}

ulna_status markup_write(const markup *page, const char *path, ulna_error *error)
{
    if (page->status)
        return cli_fail(error, page->status, "cannot make the page: %s", ulna_status_text(page->status));
    ulna_output *output = NULL;
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status)
        return status;
    ulna_sink sink = ulna_output_sink(output);
    (void)sink.write(sink.context, page->text.data, page->text.length);
    return ulna_output_commit(output, error); /* which knows whether the writing failed, and why */
}
