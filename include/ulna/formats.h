/*
 * ulna/formats.h: files, and the texts they hold.
 *
 * Parsers work from memory; what touches the disk is at the end of this header. Every input may be hostile: the answer
 * is a clear error with line, column and byte, never a crash. Parsing takes memory within a constant times the size of
 * the input, and so does the model, but for a list of ancestors per limb: skeletons that are deep and bushy at once
 * need the product of both, and those whose lists pass 1 GiB are refused with ULNA_ERR_LIMIT.
 * Numbers are read and written with a decimal point in every locale.
 *
 * A build with ULNA_MINIMAL has the writers and the sinks; the readers of JSON and everything that opens files return
 * ULNA_ERR_UNSUPPORTED.
 */
#ifndef ULNA_FORMATS_H
#define ULNA_FORMATS_H

#include <stdio.h>

#include "ulna/base.h"
#include "ulna/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Readers refuse longer inputs with ULNA_ERR_LIMIT. Set it when building the library. */
#ifndef ULNA_MAX_INPUT_BYTES
#define ULNA_MAX_INPUT_BYTES ((size_t)1 << 30)
#endif

/* ---- sinks and texts ----------------------------------------------------------------------------------- */

/* Where writers put their bytes. `write` takes all of them and returns ULNA_OK, or ends the writing with a status,
 * which the writer passes on. */
typedef struct ulna_sink {
    ulna_status (*write)(void *context, const char *data, size_t bytes);
    void *context;
} ulna_sink;

/* A text that grows. `data` is always followed by a zero byte that `length` does not count; a text holds no memory, and
 * NULL, until something is appended. */
typedef struct ulna_text {
    char *data;
    size_t length;
    size_t capacity;
    ulna_allocator allocator;
} ulna_text;

ULNA_API ulna_text ulna_text_empty(const ulna_allocator *allocator);
ULNA_API ulna_status ulna_text_append(ulna_text *text, const char *data, size_t bytes);
ULNA_API void ulna_text_release(ulna_text *text); /* leaves an empty text */
/* A sink that appends; it refers to `text`, which must stay where it is. */
ULNA_API ulna_sink ulna_text_sink(ulna_text *text);

/* ---- which format is it? ------------------------------------------------------------------------------- */

typedef enum ulna_format {
    ULNA_FORMAT_UNKNOWN = 0,
    ULNA_FORMAT_MODEL_JSON, /* Ulna's own model file: docs/model-file.md */
    ULNA_FORMAT_COUNT
} ulna_format;

/* Judges by the first bytes, at most ULNA_SNIFF_BYTES of them, never by the name. A positive answer is a guess that the
 * reader has yet to confirm. */
#define ULNA_SNIFF_BYTES ((size_t)1 << 16)
ULNA_API ulna_format ulna_format_sniff(const char *data, size_t length);
/* "ulna-model" and "Ulna model (JSON)"; "unknown" for any other number. */
ULNA_API const char *ulna_format_name(ulna_format format);
ULNA_API const char *ulna_format_text(ulna_format format);

/* ---- the model file ------------------------------------------------------------------------------------ */

/*
 * Reads a model from JSON text (docs/model-file.md); `text` needs no zero byte at its end. Every error, of syntax or of
 * meaning, has the line, column and byte of the offending key or value. Reading uses the C library's malloc, through
 * jansson, besides the allocator.
 */
ULNA_API ulna_status ulna_model_read_json(const char *text, size_t length, const ulna_allocator *allocator,
                                          ulna_model **model, ulna_error *error);

/*
 * Writes a model: the same model gives the same bytes everywhere, numbers have the fewest digits that read back to the
 * same bits, and what is at its default is left out. Fails only if the sink does. Does not allocate.
 */
ULNA_API ulna_status ulna_model_write_json(const ulna_model *model, const ulna_sink *sink, ulna_error *error);

/* Reads a model from bytes, or from a file (then `error` has the path), in any format that holds one. As everywhere,
 * `model` is NULL after a failure. */
ULNA_API ulna_status ulna_model_read(const char *data, size_t length, const ulna_allocator *allocator,
                                     ulna_model **model, ulna_error *error);
ULNA_API ulna_status ulna_model_load(const char *path, const ulna_allocator *allocator, ulna_model **model,
                                     ulna_error *error);
/* Writes a model file as ulna_output does: complete, or not at all. */
ULNA_API ulna_status ulna_model_save(const ulna_model *model, const char *path, ulna_error *error);

/* ---- files --------------------------------------------------------------------------------------------- */

/* Appends the whole file to `text`, which may be a pipe or a device too; at most `max_bytes` of it, else
 * ULNA_ERR_LIMIT, which for a plain file is found from its size. On failure `text` is as it was. */
ULNA_API ulna_status ulna_file_read(const char *path, size_t max_bytes, ulna_text *text, ulna_error *error);

/*
 * The same for a file that should be of a known format, and at most ULNA_MAX_INPUT_BYTES of it. `format` (may be NULL)
 * tells which it is. Of a file of no known format, ULNA_FORMAT_UNKNOWN, only the first ULNA_SNIFF_BYTES are read: so an
 * endless or huge one costs nothing. The second reads from an open stream, such as stdin.
 */
ULNA_API ulna_status ulna_file_read_known(const char *path, ulna_text *text, ulna_format *format, ulna_error *error);
ULNA_API ulna_status ulna_stream_read_known(FILE *stream, ulna_text *text, ulna_format *format, ulna_error *error);

/*
 * A file being written. The bytes go to a temporary name in the same folder; ulna_output_commit flushes them to the disk
 * and renames. So other programs see the old file or the new one, never a part, whatever happens in between. If the
 * program itself is killed in between, the temporary file, PATH.0.tmp or another number, is left behind: a program that
 * may meet limits of file size should ignore SIGXFSZ, so that they become errors of writing like any other.
 * A symbolic link to a file stays, and the file is replaced; a link that leads nowhere is itself replaced by the file.
 * A device or pipe, such as /dev/stdout, is written to directly.
 */
typedef struct ulna_output ulna_output;

ULNA_API ulna_status ulna_output_open(const char *path, const ulna_allocator *allocator, ulna_output **output,
                                      ulna_error *error);
ULNA_API ulna_sink ulna_output_sink(ulna_output *output);
/* Both end the output, whatever they return. ulna_output_discard leaves no trace; NULL is allowed there. */
ULNA_API ulna_status ulna_output_commit(ulna_output *output, ulna_error *error);
ULNA_API void ulna_output_discard(ulna_output *output);

#ifdef __cplusplus
}
#endif
#endif
