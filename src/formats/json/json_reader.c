/*
 * Typed access to a JSON document, with errors that say where. The parser is jansson, whose values have no positions: so an
 * error names its value by a path, and the text is walked again to find it, at no cost while all is well.
 */
#define _XOPEN_SOURCE 700 /* uselocale, beside ISO C */

#include "formats/json/json_reader.h"

#include <limits.h>
#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "math/math3.h"
#include "ulna/formats.h"

/* ---- where in the text is this value? ---------------------------------------------------------------------------- */

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
    while (peek(scan) > 0 && strchr(" \t\n\r,:", peek(scan)))
        scan->at++;
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
        int c = peek(scan);
        if (c < 0)
            return;
        if (c == '"') {
            skip_string(scan);
            continue;
        }
        depth += c == '{' || c == '[';
        depth -= depth > 0 && (c == '}' || c == ']');
        scan->at++;
        if (!strchr("{}[]", c)) /* a number or a word */
            while ((c = peek(scan)) > ' ' && !strchr(",:]}", c))
                scan->at++;
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

/* Line and column of a byte. */
static ulna_place place_of_byte(const char *text, size_t length, size_t byte)
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
    return place_of_byte(text, length, found);
}

enum { MAX_STEPS = 12 }; /* nodes from the outermost value to any that is looked at */

/* ---- opening ------------------------------------------------------------------------------------------ */

/* Into an error that is filled already: filling it takes away what was there. */
static void set_place(const ulna_json *document, ulna_place place)
{
    document->error->line = place.line;
    document->error->column = place.column + (place.line == 1 && document->skipped);
    document->error->byte = (long long)place.byte + (long long)document->skipped;
}

static ulna_status tell_problem(const ulna_json *document, const json_error_t *problem)
{
    switch (json_error_code(problem)) {
    case json_error_premature_end_of_input:
        return ulna_fail(document->error, ULNA_ERR_PARSE, "the file ends too early: %s", problem->text);
    case json_error_numeric_overflow:
        return ulna_fail(document->error, ULNA_ERR_NUMBER, "a number is too large: %s", problem->text);
    case json_error_null_character:
    case json_error_null_byte_in_key:
        return ulna_fail(document->error, ULNA_ERR_PARSE, "a text must not contain the character \\u0000");
    default:
        return ulna_fail(document->error, ULNA_ERR_PARSE, "not valid JSON: %s", problem->text);
    }
}

static ulna_status fail_syntax(const ulna_json *document, const json_error_t *problem)
{
    /* Where memory ends deep inside, jansson says nothing, or of a whole string that it is none. */
    size_t end = problem->position > 0 ? (size_t)problem->position : 0;
    int is_string = end && end <= document->length && document->text[end - 1] == '"' &&
                    (strncmp(problem->text, "invalid token", 13) == 0 || strncmp(problem->text, "string or", 9) == 0);
    if (json_error_code(problem) == json_error_out_of_memory || !*problem->text || is_string)
        return ulna_fail(document->error, ULNA_ERR_MEMORY, "no memory left to read the file");
    ulna_status status = tell_problem(document, problem);
    if (document->error)
        set_place(document, place_of_byte(document->text, document->length, end));
    return status;
}

/* One failure cannot be reported: jansson ignores that it has no memory for a word of more than 15 bytes. It then loses a character of it,
 * or its assertion aborts. So the tool ends at the first failure (cli/memory.c); the library may not change the hooks of its program.
 *
 * jansson copes with a decimal comma, but aborts in locales whose decimal point has several bytes. So this thread is in
 * the C locale while it parses. */
static json_t *parse(const ulna_json *document, json_error_t *problem)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return NULL;
    locale_t before = uselocale(plain);
    json_t *root =
        json_loadb(document->text, document->length, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, problem);
    uselocale(before);
    freelocale(plain);
    return root;
}

ulna_status ulna_json_open(ulna_json *document, const char *text, size_t length, ulna_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF";
    size_t skipped = length >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
    *document = (ulna_json){text + skipped, length - skipped, skipped, NULL, error};
    if (length > ULNA_MAX_INPUT_BYTES)
        return ulna_fail(error, ULNA_ERR_LIMIT, "the file has %zu bytes; at most %zu are read", length,
                         (size_t)ULNA_MAX_INPUT_BYTES);
    if (document->length == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "the file is empty");

    json_error_t problem;
    memset(&problem, 0, sizeof problem);
    document->root = parse(document, &problem);
    return document->root ? ULNA_OK : fail_syntax(document, &problem);
}

void ulna_json_close(ulna_json *document)
{
    json_decref(document->root);
    document->root = NULL;
}

ulna_json_node ulna_json_root(const ulna_json *document)
{
    return (ulna_json_node){.document = document, .value = document->root};
}

/* ---- errors ------------------------------------------------------------------------------------------- */

/* The number of a key in the order of the text, which jansson keeps. */
static size_t member_number(json_t *object, const char *key)
{
    size_t number = 0;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at), number++)
        if (strcmp(json_object_iter_key(at), key) == 0)
            break;
    return number;
}

static ulna_place place_of(const ulna_json_node *node)
{
    size_t path[MAX_STEPS];
    int depth = 0, at = MAX_STEPS;
    for (; node->parent && at > 0; node = node->parent, depth++)
        path[--at] = node->key ? member_number(node->parent->value, node->key) : node->index;
    return ulna_json_place(node->document->text, node->document->length, path + at, depth);
}

int ulna_json_line(const ulna_json_node *node)
{
    return place_of(node).line;
}

/* Appends to a text of `size` bytes; what does not fit is left off. */
static void ULNA_PRINTF(3, 4) append(char *text, size_t size, const char *format, ...)
{
    size_t length = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text + length, size - length, format, arguments);
    va_end(arguments);
}

/* `body "hand": limits[2]: `. A node with a name of its own hides the ones above it. */
static void describe(const ulna_json_node *node, char *text, size_t size)
{
    const ulna_json_node *chain[MAX_STEPS];
    int count = 0;
    for (; node->parent && count < MAX_STEPS; node = node->parent) {
        chain[count++] = node;
        if (node->kind)
            break;
    }
    *text = 0;
    for (int i = count - 1; i >= 0; i--) {
        if (chain[i]->kind)
            append(text, size, "%s \"%.80s\"", chain[i]->kind, chain[i]->name);
        else if (chain[i]->key)
            append(text, size, "%s%s", *text ? ": " : "", chain[i]->key);
        else
            append(text, size, "[%zu]", chain[i]->index);
    }
    if (*text)
        append(text, size, ": ");
}

ulna_status ulna_json_fail(const ulna_json_node *node, ulna_status status, const char *format, ...)
{
    char message[sizeof((ulna_error *)0)->message];
    describe(node, message, sizeof message);

    size_t length = strlen(message);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message + length, sizeof message - length, format, arguments);
    va_end(arguments);
    return ulna_json_locate(node, ulna_fail(node->document->error, status, "%s", message));
}

ulna_status ulna_json_locate(const ulna_json_node *node, ulna_status status)
{
    if (status != ULNA_OK && node->document->error)
        set_place(node->document, place_of(node));
    return status;
}

/* ---- looking inside ----------------------------------------------------------------------------------- */

static const char *kind_of(const json_t *value)
{
    static const char *const kinds[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "a list", [JSON_STRING] = "a text", [JSON_INTEGER] = "a number",
        [JSON_REAL] = "a number",    [JSON_TRUE] = "true",    [JSON_FALSE] = "false",   [JSON_NULL] = "null"};
    return kinds[json_typeof(value)];
}

int ulna_json_find(const ulna_json_node *object, const char *key, ulna_json_node *child)
{
    json_t *value = json_object_get(object->value, key);
    if (!value)
        return 0;
    *child = (ulna_json_node){.document = object->document, .parent = object, .value = value, .key = key};
    return 1;
}

ulna_status ulna_json_need(const ulna_json_node *object, const char *key, ulna_json_node *child)
{
    return ulna_json_find(object, key, child) ? ULNA_OK
                                              : ulna_json_fail(object, ULNA_ERR_PARSE, "\"%s\" is missing", key);
}

ulna_json_node ulna_json_element(const ulna_json_node *list, size_t index)
{
    return (ulna_json_node){
        .document = list->document, .parent = list, .value = json_array_get(list->value, index), .index = index};
}

/* Is `key` one of the words of "name, parent, ..."? */
static int is_listed(const char *key, const char *keys)
{
    size_t length = strlen(key);
    for (const char *word = keys; *word;) {
        size_t size = strcspn(word, ",");
        if (size == length && memcmp(word, key, size) == 0)
            return 1;
        word += size;
        word += strspn(word, ", ");
    }
    return 0;
}

ulna_status ulna_json_need_object(const ulna_json_node *node)
{
    return json_is_object(node->value)
               ? ULNA_OK
               : ulna_json_fail(node, ULNA_ERR_PARSE, "should be an object, not %s", kind_of(node->value));
}

ulna_status ulna_json_check_object(const ulna_json_node *node, const char *keys)
{
    ulna_status status = ulna_json_need_object(node);
    if (status != ULNA_OK)
        return status;
    for (void *at = json_object_iter(node->value); at; at = json_object_iter_next(node->value, at)) {
        const char *key = json_object_iter_key(at);
        if (is_listed(key, keys) || strncmp(key, "x-", 2) == 0 || strcmp(key, "_comment") == 0)
            continue;
        ulna_json_node stranger = {.document = node->document, .parent = node, .key = key};
        ulna_json_fail(node, ULNA_ERR_PARSE, "unknown key \"%.40s\"; known here: %s", key, keys);
        return ulna_json_locate(&stranger, ULNA_ERR_PARSE);
    }
    return ULNA_OK;
}

ulna_status ulna_json_check_list(const ulna_json_node *node, const char *of_what)
{
    return json_is_array(node->value)
               ? ULNA_OK
               : ulna_json_fail(node, ULNA_ERR_PARSE, "should be a list of %s, not %s", of_what, kind_of(node->value));
}

/* ---- values ------------------------------------------------------------------------------------------- */

ulna_status ulna_json_string(const ulna_json_node *node, const char **text)
{
    if (!json_is_string(node->value))
        return ulna_json_fail(node, ULNA_ERR_PARSE, "should be a text in quotes, not %s", kind_of(node->value));
    *text = json_string_value(node->value);
    return ULNA_OK;
}

ulna_status ulna_json_number(const ulna_json_node *node, double *value)
{
    if (!json_is_number(node->value))
        return ulna_json_fail(node, ULNA_ERR_PARSE, "should be a number, not %s", kind_of(node->value));
    *value = json_number_value(node->value);
    return ULNA_OK;
}

ulna_status ulna_json_numbers(const ulna_json_node *node, double *values, int count)
{
    if (!json_is_array(node->value))
        return ulna_json_fail(node, ULNA_ERR_PARSE, "should be a list of %d numbers, not %s", count,
                              kind_of(node->value));
    if (json_array_size(node->value) != (size_t)count)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "should have %d numbers, not %zu", count,
                              json_array_size(node->value));
    ulna_status status = ULNA_OK;
    for (int i = 0; i < count && status == ULNA_OK; i++) {
        ulna_json_node element = ulna_json_element(node, (size_t)i);
        status = ulna_json_number(&element, &values[i]);
    }
    return status;
}

static ulna_status read_quaternion(const ulna_json_node *node, double rotation[9])
{
    double q[4] = {0}, largest = 0;
    ulna_status status = ulna_json_numbers(node, q, 4);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < 4; i++)
        largest = fmax(largest, fabs(q[i]));
    if (largest == 0)
        return ulna_json_fail(node, ULNA_ERR_MODEL, "the quaternion is zero");
    for (int i = 0; i < 4; i++)
        q[i] /= largest; /* so that squares neither overflow nor vanish */
    ulna_quaternion_to_rotation(q, rotation);
    return ULNA_OK;
}

/* ---- members of an object ----------------------------------------------------------------------------- */

ulna_status ulna_json_need_string(const ulna_json_node *object, const char *key, ulna_json_node *child,
                                  const char **text)
{
    ulna_status status = ulna_json_need(object, key, child);
    return status == ULNA_OK ? ulna_json_string(child, text) : status;
}

ulna_status ulna_json_need_number(const ulna_json_node *object, const char *key, ulna_json_node *child, double *value)
{
    ulna_status status = ulna_json_need(object, key, child);
    return status == ULNA_OK ? ulna_json_number(child, value) : status;
}

ulna_status ulna_json_find_string(const ulna_json_node *object, const char *key, const char **text)
{
    ulna_json_node child;
    return ulna_json_find(object, key, &child) ? ulna_json_string(&child, text) : ULNA_OK;
}

ulna_status ulna_json_find_number(const ulna_json_node *object, const char *key, double *value)
{
    ulna_json_node child;
    return ulna_json_find(object, key, &child) ? ulna_json_number(&child, value) : ULNA_OK;
}

ulna_status ulna_json_find_numbers(const ulna_json_node *object, const char *key, double *values, int count)
{
    ulna_json_node child;
    return ulna_json_find(object, key, &child) ? ulna_json_numbers(&child, values, count) : ULNA_OK;
}

ulna_status ulna_json_find_bool(const ulna_json_node *object, const char *key, int *value)
{
    ulna_json_node child;
    if (!ulna_json_find(object, key, &child))
        return ULNA_OK;
    if (!json_is_boolean(child.value))
        return ulna_json_fail(&child, ULNA_ERR_PARSE, "should be true or false, not %s", kind_of(child.value));
    *value = json_is_true(child.value);
    return ULNA_OK;
}

ulna_status ulna_json_find_rotation(const ulna_json_node *object, const char *key, double rotation[9])
{
    ulna_json_node child;
    ulna_status status = ULNA_OK;
    if (!ulna_json_find(object, key, &child))
        return ULNA_OK;
    size_t count = json_array_size(child.value); /* 0 if it is no list */
    if (count == 4)
        return read_quaternion(&child, rotation);
    if (count != 3)
        return ulna_json_fail(&child, ULNA_ERR_PARSE, "should be 3 rows of 3 numbers or a quaternion [x, y, z, w]");
    for (int row = 0; row < 3 && status == ULNA_OK; row++) {
        ulna_json_node element = ulna_json_element(&child, (size_t)row);
        status = ulna_json_numbers(&element, rotation + 3 * row, 3);
    }
    return status;
}
