/*
 * scan.h (private): lines and words of text files, with their places. Nothing is copied: words point into the file.
 *
 * Lines end with LF, CR LF or CR; a byte order mark at the start is skipped. Blanks, tabs and all other control characters are gaps.
 * Names may be UTF-8 or Latin-1.
 */
#ifndef ULNA_SRC_SCAN_H
#define ULNA_SRC_SCAN_H

#include "ulna/formats.h"

typedef struct ulna_word {
    const char *text; /* not followed by a zero byte */
    size_t length;
} ulna_word;

typedef struct ulna_scan {
    const char *data;
    size_t length, at;      /* `at`: where the next line begins */
    int line;               /* number of the current line, from 1 */
    const char *here, *end; /* what is left of the current line */
} ulna_scan;

ulna_scan ulna_scan_start(const char *data, size_t length);
/* Goes to the next line; 0 at the end of the file. */
int ulna_scan_line(ulna_scan *scan);
/* The next word of the line, between gaps or characters of `also` (may be NULL). 0 at the line's end: then the word is
 * empty but has that place. */
int ulna_scan_word(ulna_scan *scan, const char *also, ulna_word *word);
/* The rest of the line without gaps around it. */
ulna_word ulna_scan_rest(ulna_scan *scan);
/* Offset of a word in the file. */
long long ulna_scan_byte(const ulna_scan *scan, const char *at);

/* Fills `error` with the current line and the place of the word in it; without a word, of the line's start. Returns
 * `status`. */
ulna_status ulna_scan_fail(const ulna_scan *scan, const ulna_word *word, ulna_error *error, ulna_status status,
                           const char *format, ...) ULNA_PRINTF(5, 6);

int ulna_word_is(ulna_word word, const char *text);         /* exactly */
int ulna_word_is_like(ulna_word word, const char *text);    /* ASCII letters of either case */
int ulna_word_is_listed(ulna_word word, const char *texts); /* the same, one of several that blanks separate */
/* A number with a decimal point, in every locale: correctly rounded. 0 if the word is anything else, or not finite. */
int ulna_word_number(ulna_word word, double *value);
int ulna_word_integer(ulna_word word, int *value);
/* As a zero-terminated text in UTF-8 (bytes that are not are taken as Latin-1), cut to fit. 1 if nothing was cut. */
int ulna_word_copy(ulna_word word, char *text, size_t size);

#endif
