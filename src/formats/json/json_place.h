/*
 * json_place.h (private): where in a JSON text is this value?
 *
 * jansson's values carry no positions. So an error names its value by a path, and the text is walked again to find it:
 * no memory, and no cost while all is well.
 */
#ifndef ULNA_SRC_JSON_PLACE_H
#define ULNA_SRC_JSON_PLACE_H

#include <stddef.h>

typedef struct ulna_place {
    int line, column; /* from 1; columns count characters */
    size_t byte;      /* from 0 */
} ulna_place;

/* Line and column of a byte. */
ulna_place ulna_place_of_byte(const char *text, size_t length, size_t byte);

/*
 * The place of the value that is reached by taking, from the outermost value, member or element number path[0] (in the
 * order of the text), inside it number path[1], and so on, `depth` steps. For the member of an object the place is that of
 * its key. The text must be valid JSON, except that it may end early; a path that leads nowhere gives the last
 * place that was reached.
 */
ulna_place ulna_json_place(const char *text, size_t length, const size_t *path, int depth);

#endif
