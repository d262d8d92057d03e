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
 *
 *     ulna_content content = ulna_content_empty(NULL);
 *     status = ulna_content_load(path, NULL, &content, &error); // any format: skeleton, motion, markers, or several of them
 *     if (status == ULNA_OK && content.model)
 *         printf("%s: %d bodies\n", path, ulna_model_body_count(content.model));
 *     ulna_content_release(&content);
 */
#ifndef ULNA_FORMATS_H
#define ULNA_FORMATS_H

#include <stdio.h>

#include "ulna/base.h"
#include "ulna/model.h"
#include "ulna/motion.h"

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
    ULNA_FORMAT_ASF,        /* Acclaim skeleton */
    ULNA_FORMAT_AMC,        /* Acclaim motion: needs the skeleton */
    ULNA_FORMAT_BVH,        /* Biovision: skeleton and motion */
    ULNA_FORMAT_C3D,        /* markers, binary */
    ULNA_FORMAT_TRC,        /* markers, text with tabs */
    ULNA_FORMAT_MOT,        /* joint values over time, as OpenSim's .mot and .sto */
    ULNA_FORMAT_CSV,        /* joint values or markers over time, a table with commas */
    ULNA_FORMAT_GLTF,       /* glTF 2.0: skeleton and motion, as JSON with its buffers inside */
    ULNA_FORMAT_GLB,        /* the same, binary */
    ULNA_FORMAT_COUNT
} ulna_format;

/* Judges by the first bytes, at most ULNA_SNIFF_BYTES of them, never by the name. A positive answer is a guess that the
 * reader has yet to confirm. */
#define ULNA_SNIFF_BYTES ((size_t)1 << 16)
ULNA_API ulna_format ulna_format_sniff(const char *data, size_t length);
/* The format that a file name asks for, by its ending; ULNA_FORMAT_UNKNOWN if none. */
ULNA_API ulna_format ulna_format_of_name(const char *path);
/* "ulna-model" and "Ulna model (JSON)"; "unknown" for any other number. */
ULNA_API const char *ulna_format_name(ulna_format format);
ULNA_API const char *ulna_format_text(ulna_format format);

/* What files of a format can hold: a sum of these. A format with motions and without skeletons needs the skeleton from
 * elsewhere to be read (ulna_read_options_for). */
enum { ULNA_HOLDS_SKELETON = 1, ULNA_HOLDS_MOTION = 2, ULNA_HOLDS_MARKERS = 4 };
ULNA_API unsigned ulna_format_reads(ulna_format format);  /* what this build can read of it; 0: nothing */
ULNA_API unsigned ulna_format_writes(ulna_format format); /* what this build can write of it */

/* Metres that a unit of length is, by its name: "mm", "cm", "m", "in", "feet", ...; letter case is ignored. 0 if unknown. */
ULNA_API double ulna_unit_metres(const char *name);

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

/* ---- whatever a file holds ------------------------------------------------------------------------------ */

/* What a reader noticed and lived with: a wrong count, a truncated end, a value outside its limits. */
typedef struct ulna_remark {
    int line;       /* 0: none */
    long long byte; /* -1: none */
    char message[200];
} ulna_remark;

typedef struct ulna_remarks {
    ulna_allocator allocator;
    ulna_remark *items;
    size_t count, capacity;
    size_t dropped; /* beyond the first 1,000, or for lack of memory */
} ulna_remarks;

ULNA_API ulna_remarks ulna_remarks_empty(const ulna_allocator *allocator);
ULNA_API void ulna_remarks_add(ulna_remarks *remarks, int line, long long byte, const char *format, ...)
    ULNA_PRINTF(4, 5);
ULNA_API void ulna_remarks_release(ulna_remarks *remarks);

/* How the file counts, for writing it back and for telling people. */
typedef struct ulna_source {
    double unit_m; /* metres that one unit of length in the file is */
    char up;       /* 'x', 'y', 'z', or 0 if unknown */
    int degrees;   /* angles in the file are degrees */
    char text[64]; /* its own name for the unit, program or version, in a few words */
} ulna_source;

/* A skeleton, a motion of it, markers: whatever is there. Empty parts have no frames; `model` may be NULL. */
typedef struct ulna_content {
    ulna_format format;
    ulna_model *model;
    ulna_clip clip; /* of `model`, or of the model that was given for reading */
    ulna_recording recording;
    ulna_remarks remarks;
    ulna_source source;
    int *channels; /* ASF: the coordinates of `model` in the order in which the file lists its degrees of freedom */
    int channel_count;
} ulna_content;

typedef struct ulna_read_options {
    const ulna_model *model; /* for formats that do not hold their skeleton (AMC, MOT, CSV); may be NULL */
    const int *channels;     /* AMC: those of its ASF; NULL: translations, then rotations as they are applied */
    int channel_count;
    double skeleton_unit_m; /* AMC: metres per unit of length in its ASF; 0: 0.0254 / 0.45, as is usual */
    ulna_ball ball; /* of a skeleton in the file, and its clip; ULNA_BALL_EULER: as the file has them (see motion.h) */
    double unit_m;  /* metres per unit of length, whatever the file says; 0: as it says or as its format is used */
} ulna_read_options;

ULNA_API ulna_read_options ulna_read_options_default(void);
/* For a motion of a skeleton that was read before: its model and, for AMC, the channels and unit of its ASF. They belong to
 * `skeleton`. */
ULNA_API ulna_read_options ulna_read_options_for(const ulna_content *skeleton);
ULNA_API ulna_content ulna_content_empty(const ulna_allocator *allocator);
ULNA_API void ulna_content_release(ulna_content *content);

/* Fills an empty content from bytes of any format; `format` ULNA_FORMAT_UNKNOWN to sniff it. `options` may be NULL.
 * ULNA_ERR_FORMAT if the format is not known. After a failure the content is empty again but for its remarks. */
ULNA_API ulna_status ulna_content_read(const char *data, size_t length, ulna_format format,
                                       const ulna_read_options *options, ulna_content *content, ulna_error *error);
ULNA_API ulna_status ulna_content_load(const char *path, const ulna_read_options *options, ulna_content *content,
                                       ulna_error *error);

typedef struct ulna_write_options {
    double unit_m;       /* metres per unit of length in the file; 0: as its format is used, but AMC must be told */
    int degrees;         /* -1: as the format is used; 0 radians; 1 degrees */
    int digits;          /* of numbers in texts, at most 17; 0: as many as read back to the same bits */
    char up;             /* C3D: the axis to be named as up, 'x', 'y' or 'z'; 0: none */
    const int *channels; /* ASF and AMC: as in ulna_content; NULL: translations, then rotations as they are applied */
    int channel_count;
} ulna_write_options;

ULNA_API ulna_write_options ulna_write_options_default(void); /* as formats are used, all digits */
/*
 * For a file of the given format about a skeleton that was read before. Files of the skeleton's own format get its unit, and
 * ASF and AMC the unit, angles and order of values of the skeleton's ASF; for other skeletons their unit is 0.0254 / 0.45 m.
 * An AMC does not state its unit, only its ASF does: so writing one without a unit is refused (ULNA_ERR_ARGUMENT).
 */
ULNA_API ulna_write_options ulna_write_options_for(const ulna_content *skeleton, ulna_format format);

/* Writes what the format can hold of a content; what it cannot, or what must be changed for it, is remarked upon
 * (`remarks` may be NULL). ULNA_ERR_UNSUPPORTED if it holds nothing of it. `model` is that of the clip. */
ULNA_API ulna_status ulna_content_write(ulna_format format, const ulna_model *model, const ulna_clip *clip,
                                        const ulna_recording *recording, const ulna_write_options *options,
                                        const ulna_sink *sink, ulna_remarks *remarks, ulna_error *error);
/* The same into a file of the format that its name asks for; complete, or not at all. ULNA_ERR_FORMAT if it asks for none. */
ULNA_API ulna_status ulna_content_save(const char *path, const ulna_model *model, const ulna_clip *clip,
                                       const ulna_recording *recording, const ulna_write_options *options,
                                       ulna_remarks *remarks, ulna_error *error);

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
