/* Reads glTF: the file as a whole, of either kind. */
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "formats/gltf/gltf_read.h"
#include "formats/text/scan.h"

static ulna_status read_asset(ulna_gltf *g)
{
    ulna_json_node asset, part;
    const char *version = "", *generator = "";
    ulna_status status = ulna_json_need(&g->root, "asset", &asset);
    if (status == ULNA_OK)
        status = ulna_json_need_object(&asset);
    if (status == ULNA_OK)
        status = ulna_json_need_string(&asset, "version", &part, &version);
    if (status == ULNA_OK && strncmp(version, "2.", 2) != 0)
        return ulna_json_fail(&part, ULNA_ERR_UNSUPPORTED, "glTF version %.20s is not supported, only version 2",
                              version);
    if (status == ULNA_OK)
        status = ulna_json_find_string(&asset, "generator", &generator);
    ulna_source *source = &g->content->source;
    *source = (ulna_source){.unit_m = g->options->unit_m > 0 ? g->options->unit_m : 1, .up = 'y'};
    ulna_word_copy((ulna_word){generator, strlen(generator)}, source->text, sizeof source->text);
    return status;
}

static ulna_status open_lists(ulna_gltf *g)
{
    const struct {
        const char *key;
        ulna_json_node *list;
    } lists[] = {{"buffers", &g->buffers}, {"bufferViews", &g->views}, {"accessors", &g->accessors},
                 {"nodes", &g->nodes},     {"skins", &g->skins},       {"animations", &g->animations}};
    ulna_status status = ulna_json_need_object(&g->root);
    for (size_t i = 0; i < sizeof lists / sizeof *lists && status == ULNA_OK; i++)
        status = ulna_gltf_list(&g->root, lists[i].key, "objects", lists[i].list);
    if (status != ULNA_OK)
        return status;
    g->buffer_count = json_array_size(g->buffers.value);
    g->accessor_count = json_array_size(g->accessors.value);
    g->buffer = ulna_allocate(g->allocator, g->buffer_count + 1, sizeof *g->buffer);
    g->seen = ulna_allocate(g->allocator, g->accessor_count + 1, sizeof *g->seen);
    return g->buffer && g->seen ? ULNA_OK : ulna_fail(g->error, ULNA_ERR_MEMORY, "no memory to read the file");
}

static void close_file(ulna_gltf *g)
{
    for (size_t i = 0; i < g->buffer_count && g->buffer; i++)
        if (g->buffer[i].own)
            ulna_release(g->allocator, g->buffer[i].own, g->buffer[i].own_length + 1, 1);
    ulna_release(g->allocator, g->buffer, g->buffer_count + 1, sizeof *g->buffer);
    ulna_release(g->allocator, g->seen, g->accessor_count + 1, sizeof *g->seen);
    ulna_release(g->allocator, g->node, (size_t)g->node_count + 1, sizeof *g->node);
    ulna_release(g->allocator, g->order, (size_t)g->node_count + 1, sizeof *g->order);
    ulna_release(g->allocator, g->track, g->track_capacity, sizeof *g->track);
    ulna_builder_destroy(g->builder);
    ulna_json_close(&g->json);
}

static ulna_status read_json(ulna_gltf *g, const char *text, size_t length)
{
    ulna_status status = ulna_json_open(&g->json, text, length, g->error);
    g->root = ulna_json_root(&g->json);
    if (status == ULNA_OK)
        status = open_lists(g);
    if (status == ULNA_OK)
        status = read_asset(g);
    if (status == ULNA_OK)
        status = ulna_gltf_read_nodes(g);
    if (status == ULNA_OK)
        status = ulna_gltf_read_animation(g);
    if (status == ULNA_OK)
        status = ulna_gltf_choose_nodes(g);
    if (status == ULNA_OK)
        status = ulna_gltf_build(g);
    if (status == ULNA_OK && g->options->extras)
        status = ulna_gltf_keep_source(g);
    if (status != ULNA_OK && g->error && g->json_start) { /* of a binary file only bytes can be told */
        g->error->line = g->error->column = 0;
        if (g->error->byte >= 0)
            g->error->byte += (long long)g->json_start;
    }
    close_file(g);
    return status;
}

static ulna_gltf start(size_t length, const ulna_read_options *options, ulna_content *content, ulna_error *error)
{
    return (ulna_gltf){.allocator = &content->remarks.allocator,
                       .options = options,
                       .content = content,
                       .error = error,
                       .file_length = length};
}

ulna_status ulna_gltf_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                           ulna_error *error)
{
    ulna_gltf g = start(length, options, content, error);
    return read_json(&g, data, length);
}

static uint32_t word_at(const char *data, size_t at)
{
    const unsigned char *b = (const unsigned char *)data + at;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static ulna_status fail_at(ulna_error *error, size_t byte, ulna_status status)
{
    if (error)
        error->byte = (long long)byte;
    return status;
}

static ulna_status check_header(const char *data, size_t length, ulna_error *error)
{
    if (length < ULNA_GLB_HEADER + ULNA_GLB_CHUNK || word_at(data, 0) != ULNA_GLB_MAGIC)
        return fail_at(error, 0, ulna_fail(error, ULNA_ERR_PARSE, "this is not a GLB file: it has no complete header"));
    if (word_at(data, 4) != 2)
        return fail_at(error, 4,
                       ulna_fail(error, ULNA_ERR_UNSUPPORTED, "glTF version %u is not supported, only version 2",
                                 word_at(data, 4)));
    if (word_at(data, 8) != length)
        return fail_at(error, 8,
                       ulna_fail(error, ULNA_ERR_PARSE, "the file has %zu bytes, but its header says %u", length,
                                 word_at(data, 8)));
    if (word_at(data, ULNA_GLB_HEADER + 4) != ULNA_GLB_JSON)
        return fail_at(error, ULNA_GLB_HEADER + 4, ulna_fail(error, ULNA_ERR_PARSE, "the first chunk is not JSON"));
    return ULNA_OK;
}

ulna_status ulna_glb_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    ulna_gltf g = start(length, options, content, error);
    size_t json_length = 0;
    g.json_start = ULNA_GLB_HEADER + ULNA_GLB_CHUNK;
    ulna_status status = check_header(data, length, error);
    if (status != ULNA_OK)
        return status;
    for (size_t at = ULNA_GLB_HEADER; at < length;) {
        size_t rest = length - at, size = rest >= ULNA_GLB_CHUNK ? word_at(data, at) : 0;
        if (rest < ULNA_GLB_CHUNK || size > rest - ULNA_GLB_CHUNK)
            return fail_at(
                error, at,
                ulna_fail(error, ULNA_ERR_PARSE, "a chunk of %zu bytes goes beyond the end of the file", size));
        uint32_t kind = word_at(data, at + 4);
        at += ULNA_GLB_CHUNK;
        if (at == g.json_start)
            json_length = size;
        else if (kind == ULNA_GLB_BIN && !g.bin) {
            g.bin = (const unsigned char *)data + at;
            g.bin_length = size;
        }
        at += size;
    }
    while (json_length > 0 && data[g.json_start + json_length - 1] == 0) /* old writers filled up with zero bytes */
        json_length--;
    return read_json(&g, data + g.json_start, json_length);
}
