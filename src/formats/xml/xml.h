/*
 * xml.h (private): XML of strangers, element by element, with line numbers. By expat, behind these walls:
 *
 *   document types   refused, so that no entity can be defined: none can be expanded, none can be read from elsewhere
 *   depth            100 elements inside each other
 *   attributes       100 of one element, each at most 64 kB
 *   size             ULNA_MAX_INPUT_BYTES, as for every format
 *
 * Expat uses the C library's malloc, for memory within a constant times the input.
 */
#ifndef ULNA_SRC_XML_H
#define ULNA_SRC_XML_H

#include "ulna/base.h"

enum { ULNA_XML_DEPTH = 100, ULNA_XML_ATTRIBUTES = 100, ULNA_XML_VALUE = 1 << 16 };

typedef struct ulna_xml_element {
    const char *name;
    const char *const *attributes; /* name, value, name, value, ..., NULL; UTF-8 */
    int depth;                     /* 0 for the outermost */
    int line;
} ulna_xml_element;

/* What is done with elements. A status other than ULNA_OK ends the reading; the error has then been filled, by
 * ulna_xml_fail if it has a line. `name` at the end is only right while the call lasts, as the element is. */
typedef struct ulna_xml_handler {
    ulna_status (*start)(void *context, const ulna_xml_element *element);
    ulna_status (*end)(void *context, const char *name, int depth, int line);
    void *context;
} ulna_xml_handler;

ulna_status ulna_xml_read(const char *data, size_t length, const ulna_xml_handler *handler, ulna_error *error);

/* The value of an attribute, or NULL. */
const char *ulna_xml_attribute(const ulna_xml_element *element, const char *name);

/* Fills `error` with the line; returns `status`. */
ulna_status ulna_xml_fail(ulna_error *error, int line, ulna_status status, const char *format, ...) ULNA_PRINTF(4, 5);

#endif
