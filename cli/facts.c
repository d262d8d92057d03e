/* Facts of a command, stored as JSON and shown through templates that quote it; tables and wrapped texts on the screen. */
#include "cli/output.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
} filling;

static void append(filling *f, const char *text, size_t length)
{
    if (f->length + length >= f->room) {
        size_t room = 2 * (f->length + length) + 128;
        char *more = realloc(f->text, room);
        if (!more)
            cli_out_of_memory();
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

/* The value of "a.b"; NULL if it is not there. In a list, b is a position from 0 on, or else stays in `rest`: a key of
 * each of its objects. */
static const json_t *find(const json_t *object, const char *key, size_t length, char rest[64])
{
    *rest = 0;
    while (length) {
        const char *dot = memchr(key, '.', length);
        size_t part = dot ? (size_t)(dot - key) : length;
        char name[64] = "", *end;
        if (part >= sizeof name)
            return NULL;
        memcpy(name, key, part);
        size_t index = strtoul(name, &end, 10);
        if (json_is_array(object) && *end) {
            snprintf(rest, sizeof name, "%s", name);
            return object;
        }
        object = json_is_array(object) ? json_array_get(object, index) : json_object_get(object, name);
        if (!object)
            return NULL;
        key += part + (dot != NULL);
        length -= part + (dot != NULL);
    }
    return json_is_null(object) ? NULL : object;
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

static void print_time(double us, char *text, size_t size)
{
    if (us >= 1e6)
        snprintf(text, size, "%.4g s", 1e-6 * us);
    else
        snprintf(text, size, us >= 1e3 ? "%.3g ms" : "%.3g µs", us >= 1e3 ? 1e-3 * us : us);
}

/* `format` is up to five characters such as "%.2f"; anything else shows as it is, for the programmer to see. */
static void print_number(const json_t *value, const char *format, char *text, size_t size)
{
    size_t length = strlen(format);
    char last = length ? format[length - 1] : 'g', known[8] = "";
    double number = json_number_value(value);
    if (length && length < sizeof known && strspn(format + 1, "+.0123456789") == length - 2 && strchr("dfeg", last))
        snprintf(known, sizeof known, "%s", format);
    if (strcmp(format, "%mm") == 0)
        print_length(number, text, size);
    else if (strcmp(format, "%us") == 0)
        print_time(number, text, size);
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

static void append_value(filling *f, const json_t *value, const char *format)
{
    char number[64];
    if (json_is_string(value)) {
        append(f, json_string_value(value), json_string_length(value));
        return;
    }
    print_number(value, format, number, sizeof number);
    append(f, number, strlen(number));
}

/* The text between braces; 0 if the value is not there. */
static int fill_value(filling *f, const char *text, size_t length)
{
    size_t key = 0;
    while (key < length && !strchr("%:?", text[key]))
        key++;
    char rest[64] = "", each[64];
    const json_t *value = find(f->object, text, key, each);
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
    } else if (json_is_array(value))
        for (size_t i = 0; i < json_array_size(value); i++) {
            const json_t *item = json_array_get(value, i);
            append(f, ", ", i ? 2 : 0);
            append_value(f, *each ? json_object_get(item, each) : item, rest);
        }
    else
        append_value(f, value, rest);
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
            for (int done = 0; !done && text < close;) {
                const char *bar = memchr(text + 1, '|', (size_t)(close - text - 1));
                done = fill(f, text + 1, bar ? bar : close);
                text = bar ? bar : close;
            }
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
    if (fill(&f, text, text + strlen(text)))
        return f.text;
    free(f.text);
    return NULL;
}

/* ---- wrapped texts and tables -------------------------------------------------------------------------------------- */

enum { NARROWEST = 16, MOST_COLUMNS = 16 }; /* narrowest: of what is wrapped */

static void say(const cli *tool, int strong, int width, const char *text, int bytes)
{
    if (strong)
        cli_title(tool, "%*s%.*s", width, "", bytes, text);
    else
        cli_say(tool, "%*s%.*s", width, "", bytes, text);
}

/* Columns that the first bytes of a text take. */
static int width_of(const char *text, int bytes)
{
    int width = 0;
    for (int i = 0; i < bytes; i++)
        width += ((unsigned char)text[i] & 0xC0) != 0x80;
    return width;
}

void table_wrap(const cli *tool, int strong, int indent, int column, const char *text)
{
    int last = tool->columns - 1;
    if (last - indent < NARROWEST) /* better too long than a word a line */
        last = indent + NARROWEST;
    int is_first = 1;
    while (*text) {
        int bytes = (int)strcspn(text, " "), width = width_of(text, bytes);
        if (!is_first && column + 1 + width > last) {
            cli_say(tool, "\n");
            column = 0;
            is_first = 1;
        }
        int blanks = is_first ? (column < indent ? indent - column : 0) : 1;
        say(tool, strong, blanks, text, bytes);
        column += blanks + width;
        is_first = 0;
        text += bytes;
        text += strspn(text, " ");
    }
    cli_say(tool, "\n");
}

typedef struct table {
    const json_t *list; /* of the objects that the rows show, after the titles */
    int columns, rows, indent, gap;
    char align[MOST_COLUMNS];
    int widths[MOST_COLUMNS];
    char **cells; /* rows x MOST_COLUMNS; NULL where an object has no such value */
} table;

/* The text in place of all cells but the first; NULL for none. */
static const char *spanning_text(const table *t, int row)
{
    return row ? json_string_value(json_object_get(json_array_get(t->list, (size_t)row - 1), "spanning")) : NULL;
}

static const char *cell_text(const table *t, int row, int column)
{
    const char *text = t->cells[row * MOST_COLUMNS + column];
    return text ? text : "-";
}

static void measure(const cli *tool, table *t)
{
    int used = t->indent, last = t->columns - 1;
    for (int k = 0; k < t->columns; k++)
        for (int i = 0; i < t->rows; i++) {
            int width = k && spanning_text(t, i) ? 0 : cli_width(cell_text(t, i, k));
            t->widths[k] = width > t->widths[k] ? width : t->widths[k];
        }
    for (int k = 0; k < last; k++)
        used += t->widths[k] + 2;
    t->gap = used + (t->widths[last] < NARROWEST ? t->widths[last] : NARROWEST) < tool->columns ? 2 : 1;
}

/* The last column takes the rest of the line and is wrapped there. */
static void print_row(const cli *tool, const table *t, int row)
{
    const char *spanning = spanning_text(t, row);
    int strong = !row || json_is_true(json_object_get(json_array_get(t->list, (size_t)row - 1), "is_strong"));
    int column = t->indent, last = spanning ? 1 : t->columns - 1, shown = last;
    while (!spanning && shown > 0 && !*cell_text(t, row, shown)) /* no blanks at the end of a line */
        shown--;
    cli_say(tool, "%*s", t->indent, "");
    for (int k = 0; k < last && k <= shown; k++) {
        const char *text = cell_text(t, row, k);
        int pad = t->widths[k] - cli_width(text), is_right = t->align[k] == 'r';
        say(tool, strong, is_right ? pad : 0, text, (int)strlen(text));
        if (k < shown)
            cli_say(tool, "%*s", t->gap + (is_right ? 0 : pad), "");
        column += t->widths[k] + t->gap;
    }
    if (shown < last)
        cli_say(tool, "\n");
    else
        table_wrap(tool, strong, column, column, spanning ? spanning : cell_text(t, row, last));
}

void fact_table(const cli *tool, int indent, const json_t *list, const fact_column *columns)
{
    const char *templates[MOST_COLUMNS];
    table t = {.list = list, .rows = (int)json_array_size(list) + 1, .indent = indent};
    if (tool->json || tool->quiet)
        return;
    t.cells = cli_allocate((size_t)t.rows * MOST_COLUMNS, sizeof *t.cells);
    for (; columns->title && t.columns < MOST_COLUMNS; columns++) {
        t.cells[t.columns] = fact_fill(tool, json_array_get(list, 0), columns->title);
        t.align[t.columns] = columns->align;
        templates[t.columns] = columns->text;
        t.columns += t.cells[t.columns] != NULL;
    }
    for (int i = 1; i < t.rows; i++)
        for (int k = 0; k < t.columns; k++)
            t.cells[i * MOST_COLUMNS + k] = fact_fill(tool, json_array_get(list, (size_t)i - 1), templates[k]);
    if (t.columns)
        measure(tool, &t);
    for (int i = 0; i < t.rows && t.columns; i++)
        print_row(tool, &t, i);
    for (int i = 0; i < t.rows * MOST_COLUMNS; i++)
        free(t.cells[i]);
    free(t.cells);
}

/* ---- lines --------------------------------------------------------------------------------------------------------- */

static void print_line(const cli *tool, const char *label, const char *text)
{
    cli_say(tool, "  %-*s", FACT_COLUMN - 2, label);
    table_wrap(tool, 0, FACT_COLUMN, FACT_COLUMN, text);
}

void fact_line(const cli *tool, const json_t *object, const char *label, const char *text)
{
    char *filled = tool->json || tool->quiet ? NULL : fact_fill(tool, object, text);
    if (filled && label && *filled)
        print_line(tool, label, filled);
    else if (filled && !label)
        cli_say(tool, "%s\n", filled);
    free(filled);
}

void fact_text(const cli *tool, const char *label, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cli_format(format, arguments);
    va_end(arguments);
    print_line(tool, label, text);
    free(text);
}
