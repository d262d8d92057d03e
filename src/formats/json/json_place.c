/* Finds a value in JSON text by the numbers of the members that lead to it. */
#include "formats/json/json_place.h"

#include <limits.h>

typedef struct scanner {
    const char *text;
    size_t length;
    size_t at;
} scanner;

static int peek(const scanner *scan)
{
    return scan->at < scan->length ? (unsigned char)scan->text[scan->at] : -1;
}

/* Blanks, and the commas and colons between things: in valid JSON they tell nothing that the order does not. */
static void skip_separators(scanner *scan)
{
    for (;; scan->at++) {
        switch (peek(scan)) {
        case ' ':
        case '\t':
        case '\n':
        case '\r':
        case ',':
        case ':':
            continue;
        default:
            return;
        }
    }
}

static void skip_string(scanner *scan)
{
    for (scan->at++; peek(scan) >= 0 && peek(scan) != '"'; scan->at++)
        if (peek(scan) == '\\')
            scan->at++;
    scan->at++;
}

/* A value of any depth: brackets are counted, and those inside strings are not seen. */
static void skip_value(scanner *scan)
{
    size_t depth = 0;
    do {
        skip_separators(scan);
        switch (peek(scan)) {
        case -1:
            return;
        case '"':
            skip_string(scan);
            break;
        case '{':
        case '[':
            depth++;
            scan->at++;
            break;
        case '}':
        case ']':
            if (depth)
                depth--;
            scan->at++;
            break;
        default: /* a number or a word */
            for (scan->at++;; scan->at++) {
                int c = peek(scan);
                if (c < 0 || c == ',' || c == ':' || c == ']' || c == '}' || c == ' ' || (c >= '\t' && c <= '\r'))
                    break;
            }
        }
    } while (depth);
}

/* From the start of a container to the start of its member number `index`. Returns 0 if there are fewer. */
static int enter(scanner *scan, size_t index)
{
    int open = peek(scan);
    if (open != '{' && open != '[')
        return 0;
    scan->at++;
    skip_separators(scan);
    for (size_t i = 0; peek(scan) >= 0 && peek(scan) != '}' && peek(scan) != ']'; i++) {
        if (i == index)
            return 1;
        if (open == '{')
            skip_string(scan);
        skip_value(scan);
        skip_separators(scan);
    }
    return 0;
}

ulna_place ulna_place_of_byte(const char *text, size_t length, size_t byte)
{
    ulna_place place = {1, 1, byte < length ? byte : length};
    for (size_t i = 0; i < place.byte; i++) {
        if (text[i] == '\n') {
            place.line += place.line < INT_MAX;
            place.column = 1;
        } else if (((unsigned char)text[i] & 0xC0) != 0x80) { /* not inside a UTF-8 sequence */
            place.column += place.column < INT_MAX;
        }
    }
    return place;
}

ulna_place ulna_json_place(const char *text, size_t length, const size_t *path, int depth)
{
    scanner scan = {text, length, 0};
    skip_separators(&scan);
    size_t found = scan.at;
    for (int i = 0; i < depth; i++) {
        int in_object = peek(&scan) == '{';
        if (!enter(&scan, path[i]))
            break;
        found = scan.at;
        if (in_object) {
            skip_string(&scan);
            skip_separators(&scan);
        }
    }
    return ulna_place_of_byte(text, length, found);
}
