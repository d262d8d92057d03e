/* What a minimal build (ULNA_MINIMAL) has in place of everything that opens files or needs jansson or expat: see CMakeLists.txt. */
#include "base/base.h"
#include "formats/format.h"
#include "formats/gltf/gltf_write.h"

static ulna_status unsupported(ulna_error *error)
{
    return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "this build of the library does not open files");
}

ulna_status ulna_file_read(const char *path, size_t max_bytes, ulna_text *text, ulna_error *error)
{
    (void)path, (void)max_bytes, (void)text;
    return unsupported(error);
}

ulna_status ulna_file_read_known(const char *path, ulna_text *text, ulna_format *format, ulna_error *error)
{
    (void)path, (void)text, (void)format;
    return unsupported(error);
}

ulna_status ulna_stream_read_known(FILE *stream, ulna_text *text, ulna_format *format, ulna_error *error)
{
    (void)stream, (void)text, (void)format;
    return unsupported(error);
}

ulna_status ulna_output_open(const char *path, const ulna_allocator *allocator, ulna_output **output, ulna_error *error)
{
    (void)path, (void)allocator;
    if (output)
        *output = NULL;
    return unsupported(error);
}

ulna_sink ulna_output_sink(ulna_output *output)
{
    (void)output;
    return (ulna_sink){0};
}

ulna_status ulna_output_commit(ulna_output *output, ulna_status status, ulna_error *error)
{
    (void)output, (void)status;
    return unsupported(error);
}

static ulna_status no_json(ulna_error *error)
{
    return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "this build of the library does not read JSON");
}

ulna_status ulna_model_read_json(const char *text, size_t length, const ulna_allocator *allocator, ulna_model **model,
                                 ulna_error *error)
{
    (void)text, (void)length, (void)allocator;
    if (model)
        *model = NULL;
    return no_json(error);
}

ulna_status ulna_gltf_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                           ulna_error *error)
{
    (void)data, (void)length, (void)options, (void)content;
    return no_json(error);
}

ulna_status ulna_glb_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    return ulna_gltf_read(data, length, options, content, error);
}

void ulna_gltf_use_source(ulna_gltf_scene *s, ulna_writing *job)
{
    (void)s, (void)job;
}

void ulna_gltf_into_node(const ulna_gltf_source_node *node, double place[3], double rotation[9])
{
    (void)node, (void)place, (void)rotation;
}

void ulna_gltf_put_source(ulna_gltf_scene *s, ulna_writer *out, int is_binary, int *has_chunk)
{
    (void)s, (void)out, (void)is_binary, (void)has_chunk;
}

int ulna_urdf_sniff(const char *data, size_t length)
{
    (void)data, (void)length;
    return 0;
}

ulna_status ulna_urdf_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                           ulna_error *error)
{
    (void)data, (void)length, (void)options, (void)content;
    return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "this build of the library does not read XML");
}
