/* format.h (private): what a format is. A new one adds a row to the table of format.c. */
#ifndef ULNA_SRC_FORMAT_H
#define ULNA_SRC_FORMAT_H

#include "ulna/formats.h"

/* The time between frames that is written where a format needs one and none is known. */
#define ULNA_UNKNOWN_FRAME_S (1.0 / 120)

/* What is to be written: parts may be NULL or empty; `options` is complete. */
typedef struct ulna_writing {
    const ulna_model *model;
    const ulna_clip *clip;
    const ulna_recording *recording;
    const ulna_write_options *options;
    const ulna_sink *sink;
    ulna_remarks *remarks; /* may be NULL: ulna_remarks_add takes that */
} ulna_writing;

typedef struct ulna_format_row {
    const char *name;
    const char *text;
    const char *endings;                           /* of file names, lower case, separated by spaces */
    unsigned reads, writes;                        /* ULNA_HOLDS_... */
    int (*sniff)(const char *data, size_t length); /* NULL: never */
    /* Fill the content; `options` is never NULL. NULL if the format is not read or not written. */
    ulna_status (*read)(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                        ulna_error *error);
    ulna_status (*write)(const ulna_writing *writing, ulna_error *error);
} ulna_format_row;

const ulna_format_row *ulna_format_row_of(ulna_format format);
/* ULNA_ERR_FORMAT, with a list of the formats that hold one of these parts. */
ulna_status ulna_format_fail(ulna_error *error, unsigned parts);

#endif
