/*
 * json_reader.h (private): a JSON document whose values know where they stand.
 *
 * A node is a value and the way to it. Nodes live on the stack of the function that looks inside, each pointing to
 * the one it came from; only an error walks back along them, to tell line, column and what the value is part of.
 * All functions return ULNA_OK or report through the document's error.
 */
#ifndef ULNA_SRC_JSON_READER_H
#define ULNA_SRC_JSON_READER_H

#include <jansson.h>

#include "ulna/base.h"

typedef struct ulna_json {
    const char *text; /* after a byte order mark, if there is one */
    size_t length;
    size_t skipped; /* bytes of that mark */
    json_t *root;
    ulna_error *error; /* may be NULL */
} ulna_json;

typedef struct ulna_json_node {
    const ulna_json *document;
    const struct ulna_json_node *parent; /* NULL for the outermost value */
    json_t *value;
    const char *key;  /* NULL for an element of a list */
    size_t index;     /* of an element */
    const char *kind; /* messages call it `body "hand"` by kind and name; NULL: by its key or number */
    const char *name;
} ulna_json_node;

/* Parses; limits, syntax, encoding, repeated keys and numbers out of range are checked here. Close in any case. */
ulna_status ulna_json_open(ulna_json *document, const char *text, size_t length, ulna_error *error);
void ulna_json_close(ulna_json *document);
ulna_json_node ulna_json_root(const ulna_json *document);

/* Fails with the place of the node and a message such as `body "hand": limits: <message>`. */
ulna_status ulna_json_fail(const ulna_json_node *node, ulna_status status, const char *format, ...) ULNA_PRINTF(3, 4);
/* Adds the place of the node to an error that somebody else has filled, if `status` is one; returns `status`. */
ulna_status ulna_json_locate(const ulna_json_node *node, ulna_status status);
int ulna_json_line(const ulna_json_node *node);

/* Makes `child` the member of that key and returns 1, or returns 0. Then the same for one that must be there. */
int ulna_json_find(const ulna_json_node *object, const char *key, ulna_json_node *child);
ulna_status ulna_json_need(const ulna_json_node *object, const char *key, ulna_json_node *child);
ulna_json_node ulna_json_element(const ulna_json_node *list, size_t index);

/* The node must be an object with no other keys than these (a list in words: "name, parent"), "x-..." and "_comment". */
ulna_status ulna_json_check_object(const ulna_json_node *node, const char *keys);
ulna_status ulna_json_need_object(const ulna_json_node *node); /* with any keys */
ulna_status ulna_json_check_list(const ulna_json_node *node, const char *of_what);

ulna_status ulna_json_string(const ulna_json_node *node, const char **text); /* lives as long as the document */
ulna_status ulna_json_number(const ulna_json_node *node, double *value);
ulna_status ulna_json_numbers(const ulna_json_node *node, double *values, int count);

/* A member that must be there, as a node and as its value. */
ulna_status ulna_json_need_string(const ulna_json_node *object, const char *key, ulna_json_node *child,
                                  const char **text);
ulna_status ulna_json_need_number(const ulna_json_node *object, const char *key, ulna_json_node *child, double *value);
/* A member that may be there: what is not keeps its value. */
ulna_status ulna_json_find_string(const ulna_json_node *object, const char *key, const char **text);
ulna_status ulna_json_find_number(const ulna_json_node *object, const char *key, double *value);
ulna_status ulna_json_find_numbers(const ulna_json_node *object, const char *key, double *values, int count);
ulna_status ulna_json_find_bool(const ulna_json_node *object, const char *key, int *value);
/* Three rows of three numbers, or a quaternion [x, y, z, w] of any length but zero. Not checked to be a rotation. */
ulna_status ulna_json_find_rotation(const ulna_json_node *object, const char *key, double rotation[9]);

/* ---- places ----------------------------------------------------------------------------------------------------------- */

typedef struct ulna_place {
    int line, column; /* from 1; columns count characters */
    size_t byte;      /* from 0 */
} ulna_place;

/*
 * The place of the value that is reached by taking, from the outermost value, member or element number path[0] (in the
 * order of the text), inside it number path[1], and so on, `depth` steps. For the member of an object the place is that of
 * its key. The text must be valid JSON, except that it may end early; a path that leads nowhere gives the last
 * place that was reached.
 */
ulna_place ulna_json_place(const char *text, size_t length, const size_t *path, int depth);

#endif
