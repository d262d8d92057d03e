/* Facts of a command: stored as JSON, shown through templates that quote it. */
#include "cli/facts.h"

#include <stdlib.h>
#include <string.h>

#include "cli/table.h"

enum { COLUMN = 12 }; /* where the text of a line begins */

/* ---- storing ------------------------------------------------------------------------------------------------------ */

void put_number(json_t *object, const char *key, double value)
{
    json_object_set_new(object, key, cli_json_number(value));
}

void put_numbers(json_t *object, const char *key, const double *values, int count)
{
    json_object_set_new(object, key, cli_json_numbers(values, count));
}

void put_count(json_t *object, const char *key, long long value)
{
    json_object_set_new(object, key, json_integer(value));
}

void put_flag(json_t *object, const char *key, int is_true)
{
    json_object_set_new(object, key, json_boolean(is_true));
}

void put_text(json_t *object, const char *key, const char *text)
{
    json_object_set_new(object, key, text ? cli_json_text(text) : json_null());
}

json_t *put_object(json_t *object, const char *key)
{
    json_t *inner = json_object();
    json_object_set_new(object, key, inner);
    return inner;
}

json_t *put_list(json_t *object, const char *key)
{
    json_t *list = json_array();
    json_object_set_new(object, key, list);
    return list;
}

json_t *put_row(json_t *list)
{
    json_t *row = json_object();
    json_array_append_new(list, row);
    return row;
}

/* ---- templates ---------------------------------------------------------------------------------------------------- */

typedef struct filling {
    const json_t *object;
    int is_ascii;
    char *text;
    size_t length, room;
    int failed; /* memory is out */
} filling;

static void append(filling *f, const char *text, size_t length)
{
    if (f->length + length >= f->room) {
        size_t room = 2 * (f->length + length) + 128;
        char *more = realloc(f->text, room);
        if (!more) {
            f->failed = 1;
            return;
        }
        f->text = more;
        f->room = room;
    }
    memcpy(f->text + f->length, text, length);
    f->length += length;
    f->text[f->length] = 0;
}

/* One character of the template; returns the bytes it takes there. */
static size_t append_letter(filling *f, const char *text)
{
    static const char *const spelt[][2] = {{"°", " deg"}, {"µ", "u"}, {"²", "2"}, {"±", "+-"}};
    for (size_t i = 0; i < sizeof spelt / sizeof *spelt && f->is_ascii; i++)
        if (strncmp(text, spelt[i][0], strlen(spelt[i][0])) == 0) {
            append(f, spelt[i][1], strlen(spelt[i][1]));
            return strlen(spelt[i][0]);
        }
    append(f, text, 1);
    return 1;
}

/* The value of "a.b"; NULL if it is not there. */
static const json_t *find(const json_t *object, const char *key, size_t length)
{
    for (;;) {
        const char *dot = memchr(key, '.', length);
        size_t part = dot ? (size_t)(dot - key) : length;
        char name[64];
        if (part >= sizeof name)
            return NULL;
        memcpy(name, key, part);
        name[part] = 0;
        object = json_object_get(object, name);
        if (!dot || !object)
            return json_is_null(object) ? NULL : object;
        key += part + 1;
        length -= part + 1;
    }
}

static int is_something(const json_t *value)
{
    return json_is_number(value)   ? json_number_value(value) != 0
           : json_is_string(value) ? json_string_length(value) > 0
           : json_is_array(value)  ? json_array_size(value) > 0
           : json_is_object(value) ? json_object_size(value) > 0
                                   : json_is_true(value);
}

static void print_length(double mm, char *text, size_t size)
{
    if (mm >= 1e3)
        snprintf(text, size, "%.4g m", 1e-3 * mm);
    else
        snprintf(text, size, mm > 0 && mm < 1e-3 ? "%.1e mm" : "%.4g mm", mm);
}

/* `format` is up to five characters such as "%.2f"; anything else shows as it is, for the programmer to see. */
static void print_number(const json_t *value, const char *format, char *text, size_t size)
{
    size_t length = strlen(format);
    char last = length ? format[length - 1] : 'g', known[8] = "";
    double number = json_number_value(value);
    if (length && length < sizeof known && strspn(format + 1, "+.0123456789") == length - 2 && strchr("dfeg", last))
        memcpy(known, format, length);
    if (strcmp(format, "%mm") == 0)
        print_length(number, text, size);
    else if (!length && json_is_integer(value))
        snprintf(text, size, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (!length)
        snprintf(text, size, "%.6g", number);
    else if (!*known)
        snprintf(text, size, "%s?", format);
    else if (last == 'd')
        snprintf(text, size, "%.0f", number);
    else {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(text, size, known, number); /* checked above */
#pragma GCC diagnostic pop
    }
}

/* What stands in braces, without these; 0 if the value is not there. */
static int fill_value(filling *f, const char *text, size_t length)
{
    size_t key = 0;
    while (key < length && !strchr("%:?", text[key]))
        key++;
    const json_t *value = find(f->object, text, key);
    char rest[64] = "", number[64];
    if (length - key < sizeof rest)
        memcpy(rest, text + key, length - key);
    if (!value)
        return 0;
    if (*rest == '?')
        return is_something(value);
    if (*rest == ':') {
        const char *bar = strchr(rest, '/');
        if (bar && json_number_value(value) == 1)
            append(f, rest + 1, (size_t)(bar - rest - 1));
        else if (bar)
            append(f, bar + 1, strlen(bar + 1));
        return 1;
    }
    if (json_is_string(value)) {
        append(f, json_string_value(value), json_string_length(value));
        return 1;
    }
    print_number(value, rest, number, sizeof number);
    append(f, number, strlen(number));
    return 1;
}

/* Up to `end`; 0, and nothing added, if a value outside brackets is not there. */
static int fill(filling *f, const char *text, const char *end)
{
    size_t start = f->length;
    while (text < end) {
        if (*text == '{') {
            const char *close = memchr(text, '}', (size_t)(end - text));
            if (!close || !fill_value(f, text + 1, (size_t)(close - text - 1))) {
                f->length = start;
                if (f->text)
                    f->text[start] = 0;
                return 0;
            }
            text = close + 1;
        } else if (*text == '[') { /* brackets do not nest */
            const char *close = memchr(text, ']', (size_t)(end - text));
            close = close ? close : end;
            const char *bar = memchr(text, '|', (size_t)(close - text));
            if (!fill(f, text + 1, bar ? bar : close) && bar)
                fill(f, bar + 1, close);
            text = close < end ? close + 1 : end;
        } else
            text += append_letter(f, text);
    }
    return 1;
}

char *fact_fill(const cli *tool, const json_t *object, const char *text)
{
    filling f = {.object = object, .is_ascii = tool->ascii};
    append(&f, "", 0);
    if (fill(&f, text, text + strlen(text)) && !f.failed)
        return f.text;
    free(f.text);
    return NULL;
}

/* ---- showing ------------------------------------------------------------------------------------------------------ */

static void print_line(const cli *tool, const char *label, const char *text)
{
    if (label)
        cli_say(tool, "  %-*s", COLUMN - 2, label);
    table_wrap(tool, 0, label ? COLUMN : 0, label ? COLUMN : 0, text);
}

void fact_line(const cli *tool, const json_t *object, const char *label, const char *text)
{
    char *filled = tool->json || tool->quiet ? NULL : fact_fill(tool, object, text);
    if (filled && *filled)
        print_line(tool, label, filled);
    free(filled);
}

void fact_text(const cli *tool, const char *label, const char *format, ...)
{
    char text[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    print_line(tool, label, text);
}

void fact_table(const cli *tool, const json_t *list, const fact_column *columns)
{
    enum { MOST = 16 };
    char align[MOST + 1] = "";
    int count = 0;
    while (columns[count].title && count < MOST) {
        align[count] = columns[count].align;
        count++;
    }
    if (tool->json || tool->quiet)
        return;
    table t;
    table_init(&t, align, 2);
    for (int k = 0; k < count; k++)
        table_cell(&t, "%s", columns[k].title);
    for (size_t i = 0; i < json_array_size(list); i++)
        for (int k = 0; k < count; k++) {
            char *text = fact_fill(tool, json_array_get(list, i), columns[k].text);
            table_cell(&t, "%s", text ? text : "-");
            free(text);
        }
    table_print(tool, &t, -1);
    table_release(&t);
}
