/*
 * glTF: the file that a skeleton was read from, written again with another motion.
 *
 * The file's JSON and numbers stay as they are. The motion becomes the first animation, on the nodes of the bodies; what it needs
 * is added behind: accessors, views, and their numbers at the end of the binary chunk, or in a buffer of their own. A motion that is the
 * one that was read is in the file already.
 */
#define _XOPEN_SOURCE 700 /* newlocale, uselocale */
#include <jansson.h>
#include <locale.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/gltf/gltf_read.h"
#include "formats/gltf/gltf_source.h"
#include "model/builder.h"

/* ---- reading ---------------------------------------------------------------------------------------------------- */

static void release_source(ulna_extras *extras)
{
    ulna_gltf_source *x = (ulna_gltf_source *)extras;
    const ulna_allocator allocator = x->allocator;
    ulna_text_release(&x->json);
    ulna_text_release(&x->bin);
    ulna_names_release(&x->names);
    ulna_release(&allocator, x->node, x->node_count, sizeof *x->node);
    ulna_release(&allocator, x, 1, sizeof *x);
}

/* FNV-1a of its frames. */
static uint64_t hash_clip(const ulna_clip *clip)
{
    const size_t bytes = (size_t)clip->frame_count * (size_t)clip->coordinate_count * sizeof *clip->q;
    const unsigned char *q = (const unsigned char *)clip->q;
    uint64_t hash = 14695981039346656037u, step;
    memcpy(&step, &clip->frame_seconds, sizeof step);
    hash ^= step ^ (uint64_t)clip->first_frame << 32 ^ (uint64_t)clip->frame_count;
    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ q[i]) * 1099511628211u;
    return hash;
}

static void keep_node(const ulna_gltf *g, int index, ulna_gltf_source_node *to)
{
    const ulna_gltf_node *node = &g->node[index], *above = node->parent >= 0 ? &g->node[node->parent] : NULL;
    *to = (ulna_gltf_source_node){.node = index,
                                  .is_root = !above || !(above->flags & ULNA_GLTF_CHOSEN),
                                  .has_matrix =
                                      json_object_get(json_array_get(g->nodes.value, (size_t)index), "matrix") != NULL,
                                  .half_turn = {0, 0, 0, 1},
                                  .above_rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    for (int i = 0; i < 3; i++)
        to->reach[i] = above ? above->reach[i] : g->content->source.unit_m;
    memcpy(to->translation, node->translation, sizeof to->translation);
    memcpy(to->rotation, node->rotation, sizeof to->rotation);
    memcpy(to->stretch, node->stretch, sizeof to->stretch);
    if (!to->has_matrix)
        memcpy(to->half_turn, node->half_turn, sizeof to->half_turn);
    if (above) {
        memcpy(to->above_rotation, above->world_rotation, sizeof to->above_rotation);
        memcpy(to->above_place, above->world_place, sizeof to->above_place);
    }
}

/* The binary chunk, or what is the only buffer of a text file, if that is in the file. */
static ulna_status keep_numbers(const ulna_gltf *g, ulna_gltf_source *x)
{
    const unsigned char *data = g->bin;
    size_t length = g->bin_length;
    if (!data && g->buffer_count == 1) {
        const ulna_json_node first = ulna_json_element(&g->buffers, 0);
        const char *uri = json_string_value(json_object_get(first.value, "uri"));
        const int is_inside = uri && strncmp(uri, "data:", 5) == 0;
        const ulna_status status = is_inside ? ulna_gltf_open_buffer(g, &first, 0) : ULNA_OK;
        if (status != ULNA_OK)
            return status;
        data = g->buffer[0].data;
        length = g->buffer[0].length;
    }
    x->has_bin = data != NULL;
    return data ? ulna_text_append(&x->bin, (const char *)data, length) : ULNA_OK;
}

static ulna_status fill_source(const ulna_gltf *g, ulna_gltf_source *x)
{
    ulna_status status = ulna_text_append(&x->json, g->json.text, g->json.length);
    if (status == ULNA_OK)
        status = keep_numbers(g, x);
    for (int n = 0; n < g->node_count && status == ULNA_OK; n++)
        if (g->node[n].body >= 0) {
            status = ulna_names_add(&x->names, ulna_builder_body_name(g->builder, g->node[n].body));
            if (status == ULNA_OK)
                keep_node(g, n, &x->node[x->names.count - 1]);
        }
    return status;
}

ulna_status ulna_gltf_keep_source(const ulna_gltf *g)
{
    if (strcmp(g->content->source.text, ULNA_GLTF_GENERATOR) == 0 || g->recorded_count || !g->content->model)
        return ULNA_OK;
    ulna_gltf_source *x = ulna_allocate(g->allocator, 1, sizeof *x);
    if (!x)
        return ulna_fail(g->error, ULNA_ERR_MEMORY, "no memory to keep the scene");
    *x = (ulna_gltf_source){.base = {ULNA_FORMAT_GLTF, release_source},
                            .allocator = *g->allocator,
                            .json = ulna_text_empty(g->allocator),
                            .bin = ulna_text_empty(g->allocator),
                            .names = ulna_names_empty(g->allocator),
                            .node_count = (size_t)g->skeleton_count + 1,
                            .is_moving = g->content->clip.frame_count > 0,
                            .motion = hash_clip(&g->content->clip)};
    g->content->extras = &x->base;
    x->node = ulna_allocate(g->allocator, x->node_count, sizeof *x->node);
    ulna_status status = x->node ? fill_source(g, x) : ULNA_ERR_MEMORY;
    return status == ULNA_ERR_MEMORY ? ulna_fail(g->error, status, "no memory to keep the scene") : status;
}

/* ---- which nodes are the bodies ----------------------------------------------------------------------------------- */

/* Every node is a body, and every body but a fixed one above several skeletons is a node. */
static int find_nodes(ulna_gltf_scene *s, const ulna_gltf_source *x)
{
    size_t found = 0;
    for (int b = 0; b < s->body_count; b++) {
        const int index = ulna_names_find(&x->names, ulna_model_body_name(s->model, b));
        s->source_node[b] = index >= 0 ? &x->node[index] : NULL;
        found += index >= 0;
        if (index < 0 && (b > 0 || s->model->joint[b].type != ULNA_JOINT_FIXED))
            return 0;
    }
    return found == x->names.count;
}

static json_t *load(const char *text, size_t length)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain == (locale_t)0)
        return NULL;
    locale_t before = uselocale(plain);
    json_t *root = json_loadb(text, length, 0, NULL);
    if (!root) /* a whole number that is too large for one */
        root = json_loadb(text, length, JSON_DECODE_INT_AS_REAL, NULL);
    uselocale(before);
    freelocale(plain);
    return root;
}

static void remark_on_loss(ulna_gltf_scene *s, const ulna_gltf_source *x)
{
    json_t *root = load(x->json.data, x->json.length);
    if (!root) {
        s->status = ulna_fail(s->error, ULNA_ERR_MEMORY, "no memory for the scene");
        return;
    }
    ulna_remarks_add(
        s->job->remarks, 0, -1,
        "this is not the skeleton of the glTF file: its %zu meshes, %zu skins, %zu materials, %zu pictures "
        "and %zu animations are left out",
        json_array_size(json_object_get(root, "meshes")), json_array_size(json_object_get(root, "skins")),
        json_array_size(json_object_get(root, "materials")), json_array_size(json_object_get(root, "images")),
        json_array_size(json_object_get(root, "animations")));
    json_decref(root);
}

void ulna_gltf_use_source(ulna_gltf_scene *s, ulna_writing *job)
{
    const ulna_gltf_source *x = (const ulna_gltf_source *)job->options->extras;
    if (x->base.format != ULNA_FORMAT_GLTF)
        return;
    s->body_count = s->model->nb;
    s->source_node = ulna_allocate(&s->allocator, (size_t)s->body_count + 1, sizeof *s->source_node);
    if (!s->source_node) {
        s->status = ulna_fail(s->error, ULNA_ERR_MEMORY, "no memory for the nodes");
        return;
    }
    if (!find_nodes(s, x)) {
        remark_on_loss(s, x);
        return;
    }
    s->source = x;
    const int markers = s->model->nm + (s->recording ? s->recording->marker_count : 0);
    if (markers)
        ulna_remarks_add(job->remarks, 0, -1, "%d markers are left out: the scene of the skeleton's file is written",
                         markers);
    s->recording = job->recording = NULL;
    if (job->clip && (job->clip->frame_count == 0 || (x->is_moving && hash_clip(job->clip) == x->motion)))
        job->clip = NULL;
}

void ulna_gltf_into_node(const ulna_gltf_source_node *node, double place[3], double rotation[9])
{
    const double back[4] = {-node->half_turn[0], -node->half_turn[1], -node->half_turn[2], node->half_turn[3]};
    double half_turn[9], above[9], own[9], way[3];
    if (node->is_root) {
        ulna_subtract3(place, node->above_place, way);
        ulna_unrotate(node->above_rotation, way, place);
        ulna_transpose9(node->above_rotation, above);
        ulna_multiply9(above, rotation, own);
    } else
        ulna_copy9(rotation, own);
    ulna_quaternion_to_rotation(back, half_turn);
    ulna_multiply9(own, half_turn, rotation);
    for (int i = 0; i < 3; i++)
        place[i] = node->reach[i] != 0 ? place[i] / node->reach[i] : node->translation[i];
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* Owns the value in any case; a failure of jansson's is one of memory. */
static void set(ulna_gltf_scene *s, json_t *object, const char *key, json_t *value)
{
    if (s->status == ULNA_OK && json_object_set_new(object, key, value) != 0)
        s->status = ulna_fail(s->error, ULNA_ERR_MEMORY, "no memory for the scene");
    else if (s->status != ULNA_OK)
        json_decref(value);
}

/* The list of that name, made if it is missing. */
static json_t *list_of(ulna_gltf_scene *s, json_t *root, const char *key)
{
    if (!json_object_get(root, key))
        set(s, root, key, json_array());
    return json_object_get(root, key);
}

static json_t *numbers_of(const double *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        if (json_array_append_new(list, json_real(values[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

/* Nodes that move have no matrix. */
static void split_matrices(ulna_gltf_scene *s, json_t *root)
{
    for (int b = 0; b < s->body_count && s->status == ULNA_OK; b++) {
        const ulna_gltf_source_node *own = s->source_node[b];
        if (!own || !own->has_matrix)
            continue;
        json_t *node = json_array_get(json_object_get(root, "nodes"), (size_t)own->node);
        json_object_del(node, "matrix");
        set(s, node, "translation", numbers_of(own->translation, 3));
        set(s, node, "rotation", numbers_of(own->rotation, 4));
        set(s, node, "scale", numbers_of(own->stretch, 3));
    }
}

/* Bytes as the text of a data URI; NULL bytes: those that are added. */
static json_t *put_uri(ulna_gltf_scene *s, const ulna_text *bytes)
{
    ulna_text text = ulna_text_empty(&s->allocator);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_writer out;
    ulna_writer_start(&out, &sink);
    ulna_put(&out, "data:application/octet-stream;base64,");
    if (bytes) {
        ulna_gltf_scene borrowed = {.kept = *bytes, .length = bytes->length};
        ulna_gltf_put_kept(&borrowed, &out, 1);
    } else
        ulna_gltf_put_numbers(s, &out, 1);
    json_t *uri =
        ulna_writer_finish(&out, "the buffer", s->error) == ULNA_OK ? json_stringn(text.data, text.length) : NULL;
    ulna_text_release(&text);
    return uri;
}

/* Where the numbers go that are added: behind those of the chunk, or into a buffer of their own. */
static int place_numbers(ulna_gltf_scene *s, json_t *root, int is_binary)
{
    json_t *buffers = list_of(s, root, "buffers"), *first = json_array_get(buffers, 0);
    const int is_chunk = s->source->has_bin && first, goes_behind = is_binary && (is_chunk || !first);
    if (is_chunk && is_binary)
        json_object_del(first, "uri");
    else if (is_chunk && !json_object_get(first, "uri"))
        set(s, first, "uri", put_uri(s, &s->source->bin));
    if (is_binary && is_chunk)
        s->buffer_start = (s->source->bin.length + 3) / 4 * 4;
    s->buffer = goes_behind ? 0 : (int)json_array_size(buffers);
    if (s->length == 0) {
        if (!first)
            json_object_del(root, "buffers");
        return is_binary && is_chunk;
    }
    json_t *buffer = goes_behind && first ? first : json_object();
    if (buffer != first && s->status == ULNA_OK && json_array_append_new(buffers, buffer) != 0)
        s->status = ulna_fail(s->error, ULNA_ERR_MEMORY, "no memory for the scene");
    set(s, buffer, "byteLength", json_integer((json_int_t)((goes_behind ? s->buffer_start : 0) + s->length)));
    if (!goes_behind)
        set(s, buffer, "uri", put_uri(s, NULL));
    return is_binary && (is_chunk || goes_behind);
}

/* Animation, accessors and views as the writer of other scenes puts them. */
static json_t *make_parts(ulna_gltf_scene *s)
{
    ulna_text text = ulna_text_empty(&s->allocator);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_writer out;
    ulna_writer_start(&out, &sink);
    ulna_put(&out, "{\"parts\":0");
    ulna_gltf_put_animation(s, &out);
    ulna_gltf_put_accessors(s, &out);
    ulna_put(&out, "}");
    json_t *parts = ulna_writer_finish(&out, "the scene", s->error) == ULNA_OK ? load(text.data, text.length) : NULL;
    ulna_text_release(&text);
    return parts;
}

/* In front of the others; in place of the first if Ulna added that one. */
static int add_animation(json_t *animations, json_t *parts)
{
    json_t *own = json_array_get(json_object_get(parts, "animations"), 0);
    const json_t *first = json_array_get(animations, 0);
    if (json_object_get(json_object_get(first, "extras"), ULNA_GLTF_CLIP_KEY))
        return json_array_set(animations, 0, own);
    return json_array_insert(animations, 0, own);
}

static void add_motion(ulna_gltf_scene *s, json_t *root)
{
    json_t *accessors = list_of(s, root, "accessors"), *views = list_of(s, root, "bufferViews"),
           *animations = list_of(s, root, "animations");
    s->first_accessor = json_array_size(accessors);
    s->first_view = json_array_size(views);
    json_t *parts = s->status == ULNA_OK ? make_parts(s) : NULL;
    if (s->status == ULNA_OK &&
        (!parts || json_array_extend(accessors, json_object_get(parts, "accessors")) != 0 ||
         json_array_extend(views, json_object_get(parts, "bufferViews")) != 0 || add_animation(animations, parts) != 0))
        s->status = ulna_fail(s->error, ULNA_ERR_MEMORY, "no memory for the scene");
    json_decref(parts);
    split_matrices(s, root);
}

/* Pictures and buffers in other files are found by the same names from where the new file is. */
static void remark_on_source(const ulna_gltf_scene *s, const json_t *root)
{
    static const char *const lists[] = {"buffers", "images"};
    const size_t animations = json_array_size(json_object_get(root, "animations"));
    const char *example = "";
    size_t count = 0, i;
    json_t *item;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        json_array_foreach(json_object_get(root, lists[k]), i, item)
        {
            const char *uri = json_string_value(json_object_get(item, "uri"));
            if (uri && strncmp(uri, "data:", 5) != 0) {
                example = uri;
                count++;
            }
        }
    if (count)
        ulna_remarks_add(s->job->remarks, 0, -1,
                         "the scene needs %zu other files, such as '%.80s', beside the new file", count, example);
    if (s->channel_count && animations > 1)
        ulna_remarks_add(s->job->remarks, 0, -1,
                         "the motion is the first animation, 'motion'; %zu others of the skeleton's file come after it",
                         animations - 1);
}

static int put_part(const char *text, size_t length, void *out)
{
    ulna_put_bytes(out, text, length);
    return 0;
}

static void dump(ulna_gltf_scene *s, const json_t *root, ulna_writer *out)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = plain ? uselocale(plain) : (locale_t)0;
    if (!plain || json_dump_callback(root, put_part, out, JSON_COMPACT) != 0)
        s->status = ulna_fail(s->error, ULNA_ERR_MEMORY, "no memory for the scene");
    if (plain) {
        uselocale(before);
        freelocale(plain);
    }
}

void ulna_gltf_put_source(ulna_gltf_scene *s, ulna_writer *out, int is_binary, int *has_chunk)
{
    json_t *root = load(s->source->json.data, s->source->json.length);
    if (!root)
        s->status = ulna_fail(s->error, ULNA_ERR_MEMORY, "no memory for the scene");
    *has_chunk = s->status == ULNA_OK ? place_numbers(s, root, is_binary) : 0;
    if (s->status == ULNA_OK && s->channel_count)
        add_motion(s, root);
    if (s->status == ULNA_OK)
        remark_on_source(s, root);
    if (s->status == ULNA_OK)
        dump(s, root, out);
    json_decref(root);
}
