/* Which format is it, and what to do with a file of it. A new format adds a row to the table. */
#include "ulna/formats.h"

#include <string.h>

#include "base/base.h"
#include "formats/model_json.h"

typedef struct format_row {
    const char *name;
    const char *text;
    int (*sniff)(const char *data, size_t length); /* NULL: never */
    ulna_status (*read_model)(const char *data, size_t length, const ulna_allocator *allocator, ulna_model **model,
                              ulna_error *error); /* NULL: holds no model */
} format_row;

/* JSON that is an object; the reader says if it is another kind of object. A zero byte is in no text. */
static int sniff_json(const char *data, size_t length)
{
    size_t at = length >= 3 && (unsigned char)data[0] == 0xEF ? 3 : 0; /* a byte order mark */
    while (at < length && (data[at] == ' ' || data[at] == '\t' || data[at] == '\n' || data[at] == '\r'))
        at++;
    return at < length && data[at] == '{' && !memchr(data, 0, length);
}

static const format_row formats[ULNA_FORMAT_COUNT] = {
    [ULNA_FORMAT_UNKNOWN] = {"unknown", "unknown", NULL, NULL},
    [ULNA_FORMAT_MODEL_JSON] = {ULNA_MODEL_JSON_FORMAT, "Ulna model (JSON)", sniff_json, ulna_model_read_json},
};

static const format_row *row_of(ulna_format format)
{
    unsigned index = (unsigned)format;
    return &formats[index < ULNA_FORMAT_COUNT ? index : ULNA_FORMAT_UNKNOWN];
}

ulna_format ulna_format_sniff(const char *data, size_t length)
{
    length = length < ULNA_SNIFF_BYTES ? length : ULNA_SNIFF_BYTES;
    for (int i = 0; data && i < ULNA_FORMAT_COUNT; i++)
        if (formats[i].sniff && formats[i].sniff(data, length))
            return (ulna_format)i;
    return ULNA_FORMAT_UNKNOWN;
}

const char *ulna_format_name(ulna_format format)
{
    return row_of(format)->name;
}

const char *ulna_format_text(ulna_format format)
{
    return row_of(format)->text;
}

/* So that whoever brings another kind of file learns what to convert it to: "Ulna model (JSON), ...". */
static ulna_status fail_unknown(ulna_error *error)
{
    char kinds[160] = "";
    for (int i = 0; i < ULNA_FORMAT_COUNT; i++) {
        size_t length = strlen(kinds);
        if (formats[i].read_model)
            snprintf(kinds + length, sizeof kinds - length, "%s%s", length ? ", " : "", formats[i].text);
    }
    return ulna_fail(error, ULNA_ERR_PARSE, "this is not a model file of any kind that Ulna reads: %s", kinds);
}

ulna_status ulna_model_read(const char *data, size_t length, const ulna_allocator *allocator, ulna_model **model,
                            ulna_error *error)
{
    if (model)
        *model = NULL;
    if (!model || (!data && length))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a text and a place for the model are needed");
    if (length == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "the file is empty");
    const format_row *row = row_of(ulna_format_sniff(data, length));
    if (!row->read_model)
        return fail_unknown(error);
    return row->read_model(data, length, allocator, model, error);
}

ulna_status ulna_model_load(const char *path, const ulna_allocator *allocator, ulna_model **model, ulna_error *error)
{
    if (model)
        *model = NULL;
    if (!path || !model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path and a place for the model are needed");
    ulna_text text = ulna_text_empty(allocator);
    ulna_status status = ulna_file_read_known(path, &text, NULL, error);
    if (!status)
        status = ulna_model_read(text.data, text.length, allocator, model, error);
    if (status && error)
        snprintf(error->path, sizeof error->path, "%s", path);
    ulna_text_release(&text);
    return status;
}

ulna_status ulna_model_save(const ulna_model *model, const char *path, ulna_error *error)
{
    ulna_output *output;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model is needed");
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status)
        return status;
    ulna_sink sink = ulna_output_sink(output);
    ulna_model_write_json(model, &sink, NULL);
    return ulna_output_commit(output, error); /* which knows of every write that failed, and why */
}
