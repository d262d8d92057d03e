/* markup.h: text of HTML and SVG as it grows, and its file. */
#ifndef ULNA_CLI_MARKUP_H
#define ULNA_CLI_MARKUP_H

#include "cli/cli.h"

typedef struct markup {
    ulna_text text;
    ulna_status status; /* once memory is out, the rest is not kept, and markup_write says so */
} markup;

void markup_init(markup *page);
void markup_release(markup *page);

/* As it stands. */
void markup_put(markup *page, const char *text);
void markup_format(markup *page, const char *format, ...) ULNA_PRINTF(2, 3); /* up to 1000 bytes */
/* Any text, also one from a file: what HTML would take for its own is written so that it is shown. */
void markup_escape(markup *page, const char *text);

/* Writes the file as ulna_output does: complete, or not at all. */
ulna_status markup_write(const markup *page, const char *path, ulna_error *error);

#endif
