/* Everything the tool says: text for people, complaints, JSON. What comes from files is cleaned on the way. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cleaning ----------------------------------------------------------------------------------------- */

/* Length of the UTF-8 sequence at the start of a text, or 0 if there is none: broken, or a control character. */
static int sequence(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] < 0x80)
        return byte[0] == '\n' || (byte[0] >= 0x20 && byte[0] != 0x7F);
    int size = byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : 2;
    if (byte[0] < 0xC2 || byte[0] > 0xF4)
        return 0;
    for (int i = 1; i < size; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    int overlong = (byte[0] == 0xE0 && byte[1] < 0xA0) || (byte[0] == 0xF0 && byte[1] < 0x90);
    int outside = (byte[0] == 0xED && byte[1] > 0x9F) || (byte[0] == 0xF4 && byte[1] > 0x8F);
    int control = byte[0] == 0xC2 && byte[1] < 0xA0;
    return overlong || outside || control ? 0 : size;
}

/* Replaces, in place, each byte that is no part of printable UTF-8 text by a question mark. */
static void clean(char *text)
{
    while (*text) {
        int size = sequence(text);
        if (!size)
            *text = '?';
        text += size ? size : 1;
    }
}

static char *format_clean(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = length < 0 ? NULL : malloc((size_t)length + 1);
    if (text) {
        vsnprintf(text, (size_t)length + 1, format, arguments);
        clean(text);
    }
    return text;
}

int cli_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* ---- for people --------------------------------------------------------------------------------------- */

static void say(const cli *tool, const char *before, const char *after, const char *format, va_list arguments)
{
    if (tool->json || tool->quiet)
        return;
    char *text = format_clean(format, arguments);
    if (text)
        printf("%s%s%s", tool->colour ? before : "", text, tool->colour ? after : "");
    free(text);
}

void cli_say(const cli *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(tool, "", "", format, arguments);
    va_end(arguments);
}

void cli_title(const cli *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(tool, "\033[1m", "\033[0m", format, arguments);
    va_end(arguments);
}

void cli_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = format_clean(format, arguments);
    va_end(arguments);
    fprintf(stderr, "ulna: %s\n", text ? text : "out of memory");
    free(text);
}

int cli_exit_code(ulna_status status)
{
    switch (status) {
    case ULNA_OK:
        return CLI_DONE;
    case ULNA_ERR_IO:
        return CLI_IO;
    case ULNA_ERR_MEMORY:
        return CLI_PARTLY;
    default:
        return CLI_INPUT;
    }
}

int cli_complain_file(const char *path, const ulna_error *error)
{
    if (error->line > 0)
        cli_complain("%s:%d: %s", path, error->line, error->message);
    else
        cli_complain("%s: %s", path, error->message);
    return cli_exit_code(error->status);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

json_t *cli_json_text(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = malloc(size);
    if (!copy)
        return json_null();
    memcpy(copy, text, size);
    json_t *value = json_string(copy);
    if (!value) { /* not UTF-8 */
        clean(copy);
        value = json_string(copy);
    }
    free(copy);
    return value ? value : json_null();
}

json_t *cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_numbers(const double *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, cli_json_number(values[i]));
    return list;
}

json_t *cli_json_error(const ulna_error *error)
{
    json_t *object = json_object();
    json_object_set_new(object, "status", cli_json_text(ulna_status_text(error->status)));
    json_object_set_new(object, "message", cli_json_text(error->message));
    if (error->line > 0)
        json_object_set_new(object, "line", json_integer(error->line));
    if (error->column > 0)
        json_object_set_new(object, "column", json_integer(error->column));
    return object;
}

void cli_json_print(const cli *tool, json_t *object)
{
    if (tool->json) {
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
        putchar('\n');
    }
    json_decref(object);
}

/* ---- files -------------------------------------------------------------------------------------------- */

static ulna_status read_standard_input(ulna_text *text, ulna_error *error)
{
    char block[1 << 16];
    size_t bytes;
    while ((bytes = fread(block, 1, sizeof block, stdin)) > 0) {
        ulna_status status =
            bytes > ULNA_MAX_INPUT_BYTES - text->length ? ULNA_ERR_LIMIT : ulna_text_append(text, block, bytes);
        if (status) {
            error->status = status;
            snprintf(error->message, sizeof error->message, "standard input: %s", ulna_status_text(status));
            return status;
        }
    }
    if (!ferror(stdin))
        return ULNA_OK;
    error->status = ULNA_ERR_IO;
    snprintf(error->message, sizeof error->message, "cannot read standard input: %s", strerror(errno));
    return ULNA_ERR_IO;
}

ulna_status cli_read_file(const char *path, ulna_text *text, ulna_error *error)
{
    ulna_error_clear(error);
    return strcmp(path, "-") == 0 ? read_standard_input(text, error)
                                  : ulna_file_read(path, ULNA_MAX_INPUT_BYTES, text, error);
}
