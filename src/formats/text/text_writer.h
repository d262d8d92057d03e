/*
 * text_writer.h (private): text to a sink, a block at a time. The first failure sticks: write on, and ask at the end.
 */
#ifndef ULNA_SRC_TEXT_WRITER_H
#define ULNA_SRC_TEXT_WRITER_H

#include "ulna/formats.h"

/* Room for a text of that length and no more: one that doubles as it grows takes up to twice that, and its copy. */
ulna_status ulna_text_reserve(ulna_text *text, size_t length);

typedef struct ulna_writer {
    const ulna_sink *sink;
    ulna_status status;
    size_t used;
    char buffer[32768];
} ulna_writer;

void ulna_writer_start(ulna_writer *writer, const ulna_sink *sink);
/* Writes what is left in the buffer. If anything failed, `error` says that `what` cannot be written. */
ulna_status ulna_writer_finish(ulna_writer *writer, const char *what, ulna_error *error);

void ulna_put(ulna_writer *writer, const char *text);
void ulna_put_bytes(ulna_writer *writer, const char *data, size_t bytes);
static inline void ulna_put_char(ulna_writer *writer, char c)
{
    if (writer->used < sizeof writer->buffer)
        writer->buffer[writer->used++] = c;
    else
        ulna_put_bytes(writer, &c, 1);
}
/* A place to write up to so many bytes to, which must be far fewer than the buffer has; ulna_put_to says where they end. */
char *ulna_put_room(ulna_writer *writer, size_t bytes);
static inline void ulna_put_to(ulna_writer *writer, const char *end)
{
    writer->used = (size_t)(end - writer->buffer);
}
/* As printf, for %s, %c, %d, %lld and %zu; %g writes as ulna_put_number does. */
void ulna_print(ulna_writer *writer, const char *format, ...) ULNA_PRINTF(2, 3);
/* The fewest of 15, 16 or 17 digits that read back to the same bits; a decimal point in every locale. */
void ulna_put_number(ulna_writer *writer, double value);
/* In quotes, with JSON's escapes. The text must be UTF-8, as all names are. */
void ulna_put_json_string(ulna_writer *writer, const char *text);

/* Enough for any number, zero byte included, and for copies of whole words that go beyond its end. */
#define ULNA_NUMBER_SIZE 48
/* What ulna_put_number writes. Returns the length. `value` must be finite. */
int ulna_format_number(double value, char text[ULNA_NUMBER_SIZE]);

#endif
