/* format.h (private): what a format is. A new one adds a row to the table of format.c. */
#ifndef ULNA_SRC_FORMAT_H
#define ULNA_SRC_FORMAT_H

#include "ulna/formats.h"

#define ULNA_INCH_M 0.0254

/* Lengths of a nanometre to a million kilometres; anything else is taken for a mistake. */
static inline int ulna_is_unit(double metres)
{
    return metres >= 1e-9 && metres <= 1e9;
}

/* What is smaller is finite in every unit of length, and in degrees: no need to divide. */
#define ULNA_FINITE_IN_UNITS 1e290

/* The time between frames that is written where a format needs one and none is known. */
#define ULNA_UNKNOWN_FRAME_S (1.0 / 120)

/* What is to be written: parts may be NULL or empty; `options` is complete. */
typedef struct ulna_writing {
    const ulna_model *model;
    const ulna_clip *clip;
    const ulna_recording *recording;
    const ulna_write_options *options;
    const ulna_sink *sink;
    ulna_remarks *remarks; /* may be NULL: ulna_remarks_add takes that */
} ulna_writing;

/* What a format is made of; `options` of a reader are never NULL. */
typedef int ulna_format_sniffer(const char *data, size_t length);
typedef ulna_status ulna_format_reader(const char *data, size_t length, const ulna_read_options *options,
                                       ulna_content *content, ulna_error *error);
typedef ulna_status ulna_format_writer(const ulna_writing *writing, ulna_error *error);

ulna_format_sniffer ulna_asf_sniff, ulna_amc_sniff, ulna_bvh_sniff, ulna_c3d_sniff, ulna_trc_sniff, ulna_mot_sniff,
    ulna_csv_sniff, ulna_urdf_sniff;
ulna_format_reader ulna_asf_read, ulna_amc_read, ulna_bvh_read, ulna_c3d_read, ulna_trc_read, ulna_mot_read,
    ulna_csv_read, ulna_gltf_read, ulna_glb_read, ulna_urdf_read;
ulna_format_writer ulna_asf_write, ulna_amc_write, ulna_bvh_write, ulna_c3d_write, ulna_trc_write, ulna_mot_write,
    ulna_csv_write, ulna_gltf_write, ulna_glb_write;

typedef struct ulna_format_row {
    const char *name;
    const char *text;
    const char *endings;        /* of file names, lower case, separated by spaces */
    unsigned reads, writes;     /* ULNA_HOLDS_... */
    ulna_format_sniffer *sniff; /* NULL: never */
    ulna_format_reader *read;   /* NULL: the format is not known */
    ulna_format_writer *write;
} ulna_format_row;

const ulna_format_row *ulna_format_row_of(ulna_format format);
/* ULNA_ERR_FORMAT, with a list of the formats that hold one of these parts. */
ulna_status ulna_format_fail(const char *data, size_t length, unsigned parts, ulna_error *error);

/* What the extras of every format begin with. */
struct ulna_extras {
    ulna_format format;
    void (*release)(ulna_extras *extras); /* never NULL */
};

/* As ulna_stream_read_known, for a file by name. */
ulna_status ulna_file_read_known(const char *path, ulna_text *text, ulna_format *format, ulna_error *error);
/* Adds a remark: line and byte as in ulna_remark; `remarks` may be NULL. */
ulna_remark *ulna_remarks_add(ulna_remarks *remarks, int line, long long byte, const char *format, ...)
    ULNA_PRINTF(4, 5);

/*
 * Reads a model from JSON text (docs/model-file.md); `text` needs no zero byte at its end. Every error, of syntax or of
 * meaning, has the line, column and byte of the key or value. The JSON parser, jansson, uses the C library's malloc; everything
 * else uses the allocator.
 */
ulna_status ulna_model_read_json(const char *text, size_t length, const ulna_allocator *allocator, ulna_model **model,
                                 ulna_error *error);

#endif
