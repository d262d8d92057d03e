/* Which format is it, and what to do with a file of it. A new format adds a row to the table. */
#include "ulna/formats.h"

#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/json/model_json.h"
#include "formats/text/scan.h"

static size_t skip_blanks(const char *data, size_t length, size_t at)
{
    at += at == 0 && length >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0; /* a byte order mark */
    while (at < length && (data[at] == ' ' || data[at] == '\t' || data[at] == '\n' || data[at] == '\r'))
        at++;
    return at;
}

/* The length of the text in quotes that starts at `at`, quotes included. */
static size_t text_length(const char *data, size_t length, size_t at)
{
    size_t end = at + 1;
    while (end < length && data[end] != '"')
        end += data[end] == '\\' ? 2 : 1;
    return (end < length ? end + 1 : length) - at;
}

/* The same kind of JSON object as a model file: by its first key that either knows. */
static int sniff_gltf(const char *data, size_t length)
{
    static const char ours[] = "asset scene scenes nodes meshes buffers skins images accessors bufferViews "
                               "extensionsUsed animations";
    size_t at = skip_blanks(data, length, 0);
    int depth = 0;
    if (at >= length || data[at] != '{' || memchr(data, 0, length))
        return 0;
    for (; at < length; at++) {
        depth += (data[at] == '{' || data[at] == '[') - (data[at] == '}' || data[at] == ']');
        if (data[at] != '"')
            continue;
        size_t size = text_length(data, length, at), after = skip_blanks(data, length, at + size);
        if (depth == 1 && after < length && data[after] == ':') {
            ulna_word key = {data + at + 1, size - 2};
            if (ulna_word_is_listed(key, ours))
                return 1;
            if (ulna_word_is_listed(key, "format bodies"))
                return 0;
        }
        at += size - 1;
    }
    return 0;
}

static int sniff_glb(const char *data, size_t length)
{
    return length >= 4 && memcmp(data, "glTF", 4) == 0;
}

/* JSON that is an object, but not glTF's; the reader says if it is another kind. A zero byte is in no text. */
static int sniff_json(const char *data, size_t length)
{
    size_t at = skip_blanks(data, length, 0);
    return at < length && data[at] == '{' && !memchr(data, 0, length) && !sniff_gltf(data, length);
}

static ulna_status read_model_json(const char *data, size_t length, const ulna_read_options *options,
                                   ulna_content *content, ulna_error *error)
{
    (void)options;
    content->source = (ulna_source){.unit_m = 1};
    return ulna_model_read_json(data, length, &content->remarks.allocator, &content->model, error);
}

static ulna_status write_model_json(const ulna_writing *w, ulna_error *error)
{
    return ulna_model_write_json(w->model, w->sink, error);
}

enum { SKELETON = ULNA_HOLDS_SKELETON, MOTION = ULNA_HOLDS_MOTION, MARKERS = ULNA_HOLDS_MARKERS };

/* clang-format off */
static const ulna_format_row formats[ULNA_FORMAT_COUNT] = {
    [ULNA_FORMAT_UNKNOWN] = {"unknown", "unknown", "", 0, 0, NULL, NULL, NULL},
    [ULNA_FORMAT_MODEL_JSON] = {ULNA_MODEL_JSON_FORMAT, "Ulna model (JSON)", "json", SKELETON, SKELETON,
                                sniff_json, read_model_json, write_model_json},
    [ULNA_FORMAT_ASF] = {"asf", "Acclaim skeleton (ASF)", "asf", SKELETON, SKELETON,
                         ulna_asf_sniff, ulna_asf_read, ulna_asf_write},
    [ULNA_FORMAT_AMC] = {"amc", "Acclaim motion (AMC)", "amc", MOTION, MOTION,
                         ulna_amc_sniff, ulna_amc_read, ulna_amc_write},
    [ULNA_FORMAT_BVH] = {"bvh", "Biovision (BVH)", "bvh", SKELETON | MOTION, SKELETON | MOTION,
                         ulna_bvh_sniff, ulna_bvh_read, ulna_bvh_write},
    [ULNA_FORMAT_C3D] = {"c3d", "C3D", "c3d", MARKERS, MARKERS, ulna_c3d_sniff, ulna_c3d_read, ulna_c3d_write},
    [ULNA_FORMAT_TRC] = {"trc", "TRC", "trc", MARKERS, MARKERS, ulna_trc_sniff, ulna_trc_read, ulna_trc_write},
    [ULNA_FORMAT_MOT] = {"mot", "OpenSim motion (MOT, STO)", "mot sto", MOTION | MARKERS, MOTION,
                         ulna_mot_sniff, ulna_mot_read, ulna_mot_write},
    [ULNA_FORMAT_CSV] = {"csv", "CSV", "csv", MOTION | MARKERS, MOTION | MARKERS,
                         ulna_csv_sniff, ulna_csv_read, ulna_csv_write},
    [ULNA_FORMAT_GLTF] = {"gltf", "glTF (JSON)", "gltf", SKELETON | MOTION | MARKERS, SKELETON | MOTION | MARKERS,
                          sniff_gltf, ulna_gltf_read, ulna_gltf_write},
    [ULNA_FORMAT_GLB] = {"glb", "glTF (binary)", "glb", SKELETON | MOTION | MARKERS, SKELETON | MOTION | MARKERS,
                         sniff_glb, ulna_glb_read, ulna_glb_write},
    [ULNA_FORMAT_URDF] = {"urdf", "URDF", "urdf", SKELETON, 0, ulna_urdf_sniff, ulna_urdf_read, NULL},
};
/* clang-format on */

const ulna_format_row *ulna_format_row_of(ulna_format format)
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
    return ulna_format_row_of(format)->name;
}

const char *ulna_format_text(ulna_format format)
{
    return ulna_format_row_of(format)->text;
}

ulna_format ulna_format_of_name(const char *path)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    if (!dot || strchr(dot, '/'))
        return ULNA_FORMAT_UNKNOWN;
    for (int i = 0; i < ULNA_FORMAT_COUNT; i++)
        if (ulna_word_is_listed((ulna_word){dot + 1, strlen(dot + 1)}, formats[i].endings))
            return (ulna_format)i;
    return ULNA_FORMAT_UNKNOWN;
}

unsigned ulna_format_reads(ulna_format format)
{
    return ulna_format_row_of(format)->reads;
}

unsigned ulna_format_writes(ulna_format format)
{
    return ulna_format_row_of(format)->writes;
}

#define FBX_ADVICE                                                                                                     \
    "this is an FBX file, which Ulna does not read: open it in Blender, or in the program that wrote it, and export "  \
    "glTF (.glb) or BVH"

/* Files that people have and Ulna does not read: the text by which they are known, and what to do. */
static const struct {
    const char *mark;
    int is_first; /* the file begins with it; otherwise it is an element of XML, behind comments */
    const char *advice;
} foreign[] = {
    {"Kaydara FBX Binary", 1, FBX_ADVICE},
    {"; FBX ", 1, FBX_ADVICE}, /* as text, which begins with a comment such as "; FBX 7.4.0 project file" */
    {"<OpenSimDocument", 0,
     "this is an OpenSim model, which Ulna does not read: for a person the built-in human will do; or give an ASF, BVH, glTF or "
     "URDF file"},
    {"<COLLADA", 0, "this is a COLLADA file, which Ulna does not read: open it in Blender, and export glTF (.glb)"},
    {"<mujoco", 0, "this is a MuJoCo file (MJCF), which Ulna does not read: give the robot as URDF"},
    {"<sdf", 0, "this is an SDF file, which Ulna does not read: give the robot as URDF"},
};

static int is_foreign(const char *data, size_t length, const char *mark, int is_first)
{
    size_t size = strlen(mark);
    length = length < ULNA_SNIFF_BYTES ? length : ULNA_SNIFF_BYTES;
    for (size_t i = 0; i + size <= length && (i == 0 || !is_first); i++)
        if (memcmp(data + i, mark, size) == 0)
            return 1;
    return 0;
}

ulna_status ulna_format_fail(const char *data, size_t length, unsigned parts, ulna_error *error)
{
    char kinds[200] = "";
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (is_foreign(data, length, foreign[i].mark, foreign[i].is_first))
            return ulna_fail(error, ULNA_ERR_FORMAT, "%s", foreign[i].advice);
    for (int i = 0; i < ULNA_FORMAT_COUNT; i++) {
        size_t used = strlen(kinds);
        if (ulna_format_reads((ulna_format)i) & parts)
            snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? ", " : "", formats[i].text);
    }
    return ulna_fail(error, ULNA_ERR_FORMAT, "unknown file format%s; Ulna reads %s",
                     parts == ULNA_HOLDS_SKELETON ? " for a skeleton" : "", kinds);
}

ulna_status ulna_model_read(const char *data, size_t length, const ulna_allocator *allocator, ulna_model **model,
                            ulna_error *error)
{
    if (model)
        *model = NULL;
    if (!model || (!data && length))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a text and a pointer for the model are needed");
    if (length == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "the file is empty");
    if (!(ulna_format_reads(ulna_format_sniff(data, length)) & ULNA_HOLDS_SKELETON))
        return ulna_format_fail(data, length, ULNA_HOLDS_SKELETON, error);
    ulna_content content = ulna_content_empty(allocator);
    ulna_status status = ulna_content_read(data, length, ULNA_FORMAT_UNKNOWN, NULL, &content, error);
    if (status == ULNA_OK) {
        *model = content.model;
        content.model = NULL;
    }
    ulna_content_release(&content);
    return status;
}

ulna_status ulna_model_load(const char *path, const ulna_allocator *allocator, ulna_model **model, ulna_error *error)
{
    if (model)
        *model = NULL;
    if (!path || !model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path and a pointer for the model are needed");
    ulna_text text = ulna_text_empty(allocator);
    ulna_status status = ulna_file_read_known(path, &text, NULL, error);
    if (status == ULNA_OK)
        status = ulna_model_read(text.data, text.length, allocator, model, error);
    ulna_text_release(&text);
    return ulna_fail_file(error, path, status);
}

ulna_status ulna_model_save(const ulna_model *model, const char *path, ulna_error *error)
{
    ulna_output *output;
    if (!model)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model is needed");
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status != ULNA_OK)
        return status;
    ulna_sink sink = ulna_output_sink(output);
    return ulna_output_commit(output, ulna_model_write_json(model, &sink, error), error);
}
