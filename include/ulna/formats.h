/*
 * ulna/formats.h: skeletons, motions and markers, from files and to files.
 *
 *     ulna_content skeleton = ulna_content_empty(NULL), motion = ulna_content_empty(NULL);
 *     status = ulna_content_load("walker.asf", NULL, &skeleton, &error);
 *     if (status == ULNA_OK) {
 *         ulna_read_options options = ulna_read_options_for(&skeleton); // an AMC needs its skeleton
 *         status = ulna_content_load("walk.amc", &options, &motion, &error);
 *     }
 *     if (status == ULNA_OK)
 *         status = ulna_content_save("walk.bvh", skeleton.model, &motion.clip, NULL, NULL, NULL, &error);
 *     if (status != ULNA_OK)
 *         fprintf(stderr, "%s:%d: %s\n", error.path, error.line, error.message);
 *     ulna_content_release(&motion);
 *     ulna_content_release(&skeleton);
 *
 * Readers and writers work in memory; the functions that open files call them. Every input may be hostile: the result
 * is then an error with line, column and byte, never a crash. Reading takes memory within a constant times the size of the
 * input, and so does the model, except for a list of ancestors per limb: skeletons that are both deep and bushy need the
 * product of both, and if these lists pass 1 GiB the file is refused with ULNA_ERR_LIMIT. Numbers are read and written with a
 * decimal point in every locale. What each format holds is described in docs/formats.md.
 *
 * A build with ULNA_MINIMAL has all writers, and the readers of text and C3D; reading JSON, glTF or URDF and everything that
 * opens a file returns ULNA_ERR_UNSUPPORTED.
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

/* Where writers put their bytes. `write` takes all bytes it is given and returns ULNA_OK; any other status ends the writing,
 * and the writer returns it. */
typedef struct ulna_sink {
    ulna_status (*write)(void *context, const char *data, size_t bytes);
    void *context;
} ulna_sink;

/* A text that grows. `data` ends with a zero byte that `length` does not count. An empty text has no memory: `data` is NULL
 * until something is appended. */
typedef struct ulna_text {
    char *data;
    size_t length;
    size_t capacity;
    ulna_allocator allocator;
} ulna_text;

ULNA_API ulna_text ulna_text_empty(const ulna_allocator *allocator);
ULNA_API ulna_status ulna_text_append(ulna_text *text, const char *data, size_t bytes);
ULNA_API void ulna_text_release(ulna_text *text); /* leaves an empty text */
/* A sink that appends to `text`, which must not move while the sink is used. */
ULNA_API ulna_sink ulna_text_sink(ulna_text *text);

/* ---- formats ------------------------------------------------------------------------------------------- */

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
    ULNA_FORMAT_URDF,       /* robots, XML; not written */
    ULNA_FORMAT_COUNT
} ulna_format;

/* The format that the first bytes look like; at most ULNA_SNIFF_BYTES are examined. The reader may still find an error. */
#define ULNA_SNIFF_BYTES ((size_t)1 << 16)
ULNA_API ulna_format ulna_format_sniff(const char *data, size_t length);
/* The format that a file name asks for, by its ending; ULNA_FORMAT_UNKNOWN if none. */
ULNA_API ulna_format ulna_format_of_name(const char *path);
/* A short name, such as "ulna-model", and a text, such as "Ulna model (JSON)"; "unknown" for any other number. */
ULNA_API const char *ulna_format_name(ulna_format format);
ULNA_API const char *ulna_format_text(ulna_format format);

/* What can be read from files of a format, and written to them: a sum of these flags, 0 for an unknown format. Motions of a
 * format that holds no skeleton are read with ulna_read_options_for. */
enum { ULNA_HOLDS_SKELETON = 1, ULNA_HOLDS_MOTION = 2, ULNA_HOLDS_MARKERS = 4 };
ULNA_API unsigned ulna_format_reads(ulna_format format);
ULNA_API unsigned ulna_format_writes(ulna_format format);

/* Metres that a unit of length is, by its name: "mm", "cm", "m", "in", "feet", ...; letter case is ignored. 0 if unknown. */
ULNA_API double ulna_unit_metres(const char *name);

/* ---- the model file ------------------------------------------------------------------------------------ */

/*
 * Writes a model. The same model gives the same bytes on every machine, numbers have the fewest digits that read back to the
 * same bits, and values at their defaults are left out. Fails only if the sink does. Does not allocate.
 */
ULNA_API ulna_status ulna_model_write_json(const ulna_model *model, const ulna_sink *sink, ulna_error *error);

/* Reads the skeleton of any format that holds one, from memory or from a file (then `error` has the path). After a
 * failure there is no model. */
ULNA_API ulna_status ulna_model_read(const char *data, size_t length, const ulna_allocator *allocator,
                                     ulna_model **model, ulna_error *error);
ULNA_API ulna_status ulna_model_load(const char *path, const ulna_allocator *allocator, ulna_model **model,
                                     ulna_error *error);
/* Writes a model file: complete, or not at all. */
ULNA_API ulna_status ulna_model_save(const ulna_model *model, const char *path, ulna_error *error);

/* ---- contents of files ---------------------------------------------------------------------------------- */

/* A defect of a file that did not stop the reader (a wrong count, a truncated end), or something that a writer left out or
 * changed. */
typedef struct ulna_remark {
    int line;       /* 0: none */
    long long byte; /* -1: none */
    int body;       /* whose joint it is about; ULNA_NONE: of no joint in particular */
    char message[200];
} ulna_remark;

typedef struct ulna_remarks {
    ulna_allocator allocator;
    ulna_remark *items;
    size_t count, capacity;
    size_t dropped; /* not stored: beyond the first 1,000, or for lack of memory */
} ulna_remarks;

ULNA_API ulna_remarks ulna_remarks_empty(const ulna_allocator *allocator);
ULNA_API void ulna_remarks_release(ulna_remarks *remarks);

/* Units and axes of the file. */
typedef struct ulna_source {
    double unit_m; /* metres per unit of length in the file */
    char up;       /* 'x', 'y', 'z', or 0 if unknown */
    int degrees;   /* angles in the file are degrees */
    char text[64]; /* what the file says of its program, version or unit */
    int analog;    /* C3D: analog samples per frame; ulna_read_options.extras reads them */
} ulna_source;

/* What a C3D file holds besides its markers: analog samples, force plates, events, other groups of parameters. What a glTF file holds besides
 * its skeleton and the motion that is read: meshes, skins, materials, pictures, other nodes and animations. */
typedef struct ulna_extras ulna_extras;

/* What a file holds: a skeleton, a motion, markers. Parts that the file does not have have no frames; `model` may be NULL. */
typedef struct ulna_content {
    ulna_format format;
    ulna_model *model;
    ulna_clip clip; /* of `model`, or of the model in the read options */
    ulna_recording recording;
    ulna_remarks remarks;
    ulna_source source;
    int *channels; /* ASF: the coordinates of `model` in the order in which the file lists them, for its AMC files */
    int channel_count;
    ulna_extras *extras; /* NULL unless it was asked for, or the file has none */
} ulna_content;

typedef struct ulna_read_options {
    const ulna_model *model; /* the skeleton of a motion in a format without skeletons (AMC, MOT, CSV); may be NULL */
    const int *channels;     /* AMC: the channels of its ASF; NULL: translations, then rotations as they are applied */
    int channel_count;
    double skeleton_unit_m; /* AMC: metres per unit of length in its ASF; 0: unknown, 0.0254 / 0.45 with a remark */
    ulna_ball ball; /* joints of three rotations in the skeleton and its clip; ULNA_BALL_EULER: as in the file */
    /* Metres per unit of length, whatever the file says, 1e-9 to 1e9; 0: what it says, or the usual unit. */
    double unit_m;
    int extras; /* C3D, glTF: 1: also read what it holds besides markers, or skeleton and motion, to write it again */
} ulna_read_options;

ULNA_API ulna_read_options ulna_read_options_default(void);
/* For a motion of a skeleton that was read before: its model and, for AMC, the channels and unit of its ASF. The options
 * refer to `skeleton`, which must outlive them. */
ULNA_API ulna_read_options ulna_read_options_for(const ulna_content *skeleton);
ULNA_API ulna_content ulna_content_empty(const ulna_allocator *allocator);
ULNA_API void ulna_content_release(ulna_content *content);

/* Reads bytes of any format into an empty content. `format` may be ULNA_FORMAT_UNKNOWN, then it is found from the bytes;
 * `options` may be NULL. ULNA_ERR_FORMAT if the format is unknown. After a failure only the remarks are filled. */
ULNA_API ulna_status ulna_content_read(const char *data, size_t length, ulna_format format,
                                       const ulna_read_options *options, ulna_content *content, ulna_error *error);
ULNA_API ulna_status ulna_content_load(const char *path, const ulna_read_options *options, ulna_content *content,
                                       ulna_error *error);

typedef struct ulna_write_options {
    double unit_m;       /* metres per unit of length in the file; 0: the format's usual unit, but AMC has none */
    int degrees;         /* 1: degrees, 0: radians, -1: as is usual in the format */
    int digits;          /* of numbers in text, at most 17; 0: as many as read back to the same bits */
    char up;             /* C3D: the axis to be named as up, 'x', 'y' or 'z'; 0: none */
    const int *channels; /* ASF and AMC: as in ulna_content; NULL: translations, then rotations as they are applied */
    int channel_count;
    int dof_channels; /* BVH: 0: three rotations in every joint, as Blender needs them; 1: only those that the joint has */
    const ulna_extras
        *extras;      /* C3D: of the recording's own file, to be written along; NULL: none. Analog samples go with the
                                * numbers of the frames: those of frames that are not written are left out. The unit is that of
                                * this file unless unit_m says otherwise. glTF: of the skeleton's own file, which is written again, with the
                                * motion as its first animation. */
    int other_points; /* C3D: 1: the markers are others than those of that file: what it says of its points is left out */
} ulna_write_options;

ULNA_API ulna_write_options ulna_write_options_default(void); /* usual units, all digits */
/*
 * For a file of the given format that goes with a skeleton that was read before. A file of the skeleton's own format gets its
 * unit; ASF and AMC files get unit, angles and channels of the skeleton's ASF, or the unit 0.0254 / 0.45 m if the skeleton is
 * not from an ASF; glTF gets the extras of the skeleton's glTF. An AMC does not state its unit, only its ASF does: so writing one without a unit is refused
 * (ULNA_ERR_ARGUMENT). The options refer to `skeleton`.
 */
ULNA_API ulna_write_options ulna_write_options_for(const ulna_content *skeleton, ulna_format format);

/* Writes what the format can hold of a skeleton `model`, its motion `clip` and the markers of a `recording`. `clip`, `recording`
 * and `options` may be NULL, and so may the model if there is no clip. What is left out or changed is added to `remarks` (may be
 * NULL). ULNA_ERR_UNSUPPORTED if the format holds nothing of it. */
ULNA_API ulna_status ulna_content_write(ulna_format format, const ulna_model *model, const ulna_clip *clip,
                                        const ulna_recording *recording, const ulna_write_options *options,
                                        const ulna_sink *sink, ulna_remarks *remarks, ulna_error *error);
/* The same into a file, in the format of its name's ending: complete, or not at all. ULNA_ERR_FORMAT if the ending is
 * unknown. */
ULNA_API ulna_status ulna_content_save(const char *path, const ulna_model *model, const ulna_clip *clip,
                                       const ulna_recording *recording, const ulna_write_options *options,
                                       ulna_remarks *remarks, ulna_error *error);

/* ---- files --------------------------------------------------------------------------------------------- */

/* Appends a whole file, pipe or device to `text`. ULNA_ERR_LIMIT if it has more than `max_bytes`; a plain file is then not
 * read at all. On failure `text` is unchanged. */
ULNA_API ulna_status ulna_file_read(const char *path, size_t max_bytes, ulna_text *text, ulna_error *error);

/*
 * The same for an open stream, such as stdin, of a known format, which `format` (may be NULL) receives, with at most
 * ULNA_MAX_INPUT_BYTES. If the format is unknown (ULNA_FORMAT_UNKNOWN), only the first ULNA_SNIFF_BYTES are read, so that a
 * huge or endless stream costs nothing.
 */
ULNA_API ulna_status ulna_stream_read_known(FILE *stream, ulna_text *text, ulna_format *format, ulna_error *error);

/*
 * A file being written. The bytes go to a temporary file in the same folder; ulna_output_commit flushes it to the disk
 * and renames it. So other programs see the old file or the new one, never a part of it. If the program is killed in between,
 * the temporary file, PATH.0.tmp or another number, is left behind. A program with a limit on file sizes should ignore
 * SIGXFSZ, so that reaching the limit is an error of writing like any other.
 * If PATH is a symbolic link to a file, that file is replaced; a dangling link is itself replaced. A device or pipe, such as
 * /dev/stdout, is written to directly.
 */
typedef struct ulna_output ulna_output;

ULNA_API ulna_status ulna_output_open(const char *path, const ulna_allocator *allocator, ulna_output **output,
                                      ulna_error *error);
ULNA_API ulna_sink ulna_output_sink(ulna_output *output);
/* Ends the output, whatever it returns. `status` is that of the writing: unless it is ULNA_OK, or ULNA_ERR_IO, of which the output
 * itself knows what failed, the temporary file is removed and `status` is returned. */
ULNA_API ulna_status ulna_output_commit(ulna_output *output, ulna_status status, ulna_error *error);

#ifdef __cplusplus
}
#endif
#endif
