/* Growing texts, buffered writing, and numbers and strings as JSON spells them. */
#include "formats/text/text_writer.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/numbers.h"

/* ---- texts -------------------------------------------------------------------------------------------- */

ulna_text ulna_text_empty(const ulna_allocator *allocator)
{
    return (ulna_text){.allocator = ulna_allocator_or_default(allocator)};
}

ulna_status ulna_text_reserve(ulna_text *text, size_t length)
{
    text->allocator = ulna_allocator_or_default(&text->allocator); /* so that {0} is an empty text too */
    if (length < text->capacity)
        return ULNA_OK;
    if (length == SIZE_MAX)
        return ULNA_ERR_LIMIT;
    char *larger = ulna_allocate_raw(&text->allocator, length + 1, 1);
    if (!larger)
        return ULNA_ERR_MEMORY;
    if (text->data)
        memcpy(larger, text->data, text->length);
    larger[text->length] = 0;
    ulna_release(&text->allocator, text->data, text->capacity, 1);
    text->data = larger;
    text->capacity = length + 1;
    return ULNA_OK;
}

ulna_status ulna_text_append(ulna_text *text, const char *data, size_t bytes)
{
    if (!text || (!data && bytes))
        return ULNA_ERR_ARGUMENT;
    if (bytes >= SIZE_MAX - text->length)
        return ULNA_ERR_LIMIT;
    size_t needed = text->length + bytes, twice = text->capacity <= SIZE_MAX / 4 ? 2 * text->capacity : 0;
    if (needed >= text->capacity) {
        ulna_status status = ulna_text_reserve(text, twice > needed ? twice : needed);
        if (status != ULNA_OK)
            return status;
    }
    if (bytes)
        memcpy(text->data + text->length, data, bytes);
    text->length += bytes;
    text->data[text->length] = 0;
    return ULNA_OK;
}

void ulna_text_release(ulna_text *text)
{
    if (!text)
        return;
    ulna_release(&text->allocator, text->data, text->capacity, 1);
    *text = (ulna_text){.allocator = text->allocator};
}

static ulna_status append_to_text(void *context, const char *data, size_t bytes)
{
    return ulna_text_append(context, data, bytes);
}

ulna_sink ulna_text_sink(ulna_text *text)
{
    return (ulna_sink){append_to_text, text};
}

/* ---- the writer --------------------------------------------------------------------------------------- */

void ulna_writer_start(ulna_writer *writer, const ulna_sink *sink)
{
    writer->sink = sink;
    writer->status = ULNA_OK;
    writer->used = 0;
}

static void hand_over(ulna_writer *writer, const char *data, size_t bytes)
{
    if (!writer->status && bytes)
        writer->status = writer->sink->write(writer->sink->context, data, bytes);
}

static void empty_buffer(ulna_writer *writer)
{
    hand_over(writer, writer->buffer, writer->used);
    writer->used = 0;
}

ulna_status ulna_writer_finish(ulna_writer *writer, const char *what, ulna_error *error)
{
    empty_buffer(writer);
    return writer->status == ULNA_OK
               ? ULNA_OK
               : ulna_fail(error, writer->status, "%s cannot be written: %s", what, ulna_status_text(writer->status));
}

void ulna_put_bytes(ulna_writer *writer, const char *data, size_t bytes)
{
    if (bytes > sizeof writer->buffer - writer->used)
        empty_buffer(writer);
    if (bytes > sizeof writer->buffer) {
        hand_over(writer, data, bytes);
        return;
    }
    memcpy(writer->buffer + writer->used, data, bytes);
    writer->used += bytes;
}

char *ulna_put_room(ulna_writer *writer, size_t bytes)
{
    if (bytes > sizeof writer->buffer - writer->used)
        empty_buffer(writer);
    return writer->buffer + writer->used;
}

void ulna_put(ulna_writer *writer, const char *text)
{
    ulna_put_bytes(writer, text, strlen(text));
}

void ulna_print(ulna_writer *writer, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    for (const char *percent; (percent = strchr(format, '%'));) {
        char text[24];
        ulna_put_bytes(writer, format, (size_t)(percent - format));
        format = percent + 2 + strspn(percent + 1, "lz");
        switch (format[-1]) {
        case 's':
            ulna_put(writer, va_arg(arguments, const char *));
            continue;
        case 'g':
            ulna_put_number(writer, va_arg(arguments, double));
            continue;
        case 'c':
            snprintf(text, sizeof text, "%c", va_arg(arguments, int));
            break;
        case 'u':
            snprintf(text, sizeof text, "%zu", va_arg(arguments, size_t));
            break;
        default:
            snprintf(text, sizeof text, "%lld",
                     percent[1] == 'l' ? va_arg(arguments, long long) : (long long)va_arg(arguments, int));
        }
        ulna_put(writer, text);
    }
    va_end(arguments);
    ulna_put(writer, format);
}

/* ---- numbers and strings ------------------------------------------------------------------------------ */

int ulna_format_number(double value, char text[ULNA_NUMBER_SIZE])
{
    if (value == 0)
        return ulna_decimal_text((ulna_decimal){0, 0}, signbit(value) != 0, 1, text);
    return ulna_format_scaled(value, 1, 0, text);
}

void ulna_put_number(ulna_writer *writer, double value)
{
    char *room = ulna_put_room(writer, ULNA_NUMBER_SIZE);
    ulna_put_to(writer, room + ulna_format_number(value, room));
}

void ulna_put_json_string(ulna_writer *writer, const char *text)
{
    ulna_put(writer, "\"");
    while (*text) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\')
            plain++;
        ulna_put_bytes(writer, text, plain);
        text += plain;
        if (!*text)
            break;
        char escape[8];
        snprintf(escape, sizeof escape, *text == '"' || *text == '\\' ? "\\%c" : "\\u%04x", (unsigned char)*text);
        ulna_put(writer, escape);
        text++;
    }
    ulna_put(writer, "\"");
}
