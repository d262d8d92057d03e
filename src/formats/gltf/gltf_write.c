/*
 * Writes glTF 2.0: the JSON, and both kinds of files. gltf_scene.c says what becomes of bodies and markers.
 *
 * One buffer holds all numbers. The bones are one mesh with a skin, so that programs take the bodies for joints of a
 * skeleton; markers are nodes with one sphere. Units are metres. glTF has y up; a model with another axis up is written as it
 * is, under one node that can be rotated.
 */
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/gltf/gltf_source.h"
#include "formats/markers.h"
#include "formats/text/text_writer.h"

/* ---- nodes ------------------------------------------------------------------------------------------------------ */

static void put_floats(ulna_writer *out, const char *key, const float *values, int count)
{
    ulna_print(out, ",\"%s\":", key);
    for (int i = 0; i < count; i++)
        ulna_print(out, i ? ",%g" : "[%g", (double)values[i]);
    ulna_put(out, "]");
}

static void put_name(ulna_writer *out, const char *name)
{
    ulna_put(out, "{\"name\":");
    ulna_put_json_string(out, name);
}

/* Opens a list of children with the first of them. */
static void put_child(ulna_writer *out, int node, int *count)
{
    ulna_print(out, (*count)++ ? ",%d" : ",\"children\":[%d", node);
}

static void put_node_end(ulna_writer *out, int children)
{
    ulna_put(out, children ? "]}" : "}");
}

static void put_place(ulna_writer *out, const float place[3])
{
    if (place[0] != 0 || place[1] != 0 || place[2] != 0)
        put_floats(out, "translation", place, 3);
}

static void put_holder(const ulna_gltf_scene *s, ulna_writer *out)
{
    int count = 0;
    const char *name = s->model ? ulna_model_name(s->model) : "";
    ulna_put(out, "\n");
    put_name(out, *name ? name : "ulna");
    if (s->model)
        put_child(out, ulna_gltf_body_node(0), &count);
    if (s->recording)
        put_child(out, ulna_gltf_recorded_node(s, -1), &count);
    put_node_end(out, count);
}

static void put_body(const ulna_gltf_scene *s, ulna_writer *out, int index)
{
    const ulna_model *model = s->model;
    const ulna_body *body = &model->body[index];
    const float *quaternion = s->rest[index].rotation;
    int count = 0;
    ulna_put(out, ",\n");
    put_name(out, ulna_model_body_name(model, index));
    put_place(out, s->rest[index].translation);
    if (quaternion[0] != 0 || quaternion[1] != 0 || quaternion[2] != 0)
        put_floats(out, "rotation", quaternion, 4);
    for (int at = body->preorder + 1; at < body->preorder + body->subtree;) {
        put_child(out, ulna_gltf_body_node(model->preorder[at]), &count);
        at += model->body[model->preorder[at]].subtree;
    }
    for (int m = s->first_marker[index]; m; m = s->next_marker[m - 1])
        put_child(out, ulna_gltf_marker_node(s, m - 1), &count);
    put_node_end(out, count);
}

/* Numbers of meshes: the bones first, if there are any. */
static size_t sphere_mesh(const ulna_gltf_scene *s)
{
    return s->bones[0] >= 0;
}

static void put_marker(const ulna_gltf_scene *s, ulna_writer *out, const char *name, const float place[3],
                       const char *kind, double weight)
{
    ulna_put(out, ",\n");
    put_name(out, name);
    ulna_print(out, ",\"mesh\":%zu", sphere_mesh(s));
    put_place(out, place);
    ulna_print(out, ",\"extras\":{\"" ULNA_GLTF_MARKER_KEY "\":\"%s\"", kind);
    if (weight != 1)
        ulna_print(out, ",\"" ULNA_GLTF_WEIGHT_KEY "\":%g", weight);
    ulna_put(out, "}}");
}

static void put_model_marker(ulna_gltf_scene *s, ulna_writer *out, int index)
{
    const ulna_marker *marker = &s->model->marker[index];
    float place[3];
    ulna_gltf_round_place(s, marker->position, place);
    put_marker(s, out, ulna_model_marker_name(s->model, index), place, ULNA_GLTF_MARKER_BODY, marker->weight);
}

static void put_recorded(const ulna_gltf_scene *s, ulna_writer *out)
{
    char name[ULNA_MARKER_NAME];
    int count = 0;
    ulna_put(out, ",\n");
    put_name(out, "markers");
    for (int m = 0; m < s->recorded_count; m++)
        put_child(out, ulna_gltf_recorded_node(s, m), &count);
    put_node_end(out, count);
    for (int m = 0; m < s->recorded_count; m++) {
        ulna_marker_name_of(s->recording, m, name);
        put_marker(s, out, name, s->recorded_place[m], ULNA_GLTF_MARKER_RECORDING, 1);
    }
}

static void put_nodes(ulna_gltf_scene *s, ulna_writer *out)
{
    int count = 1 + s->body_count + s->marker_count + (s->recording ? 1 : 0) + s->recorded_count;
    ulna_put(out, ",\"scene\":0,\n\"scenes\":[{\"nodes\":[0");
    if (s->bones[0] >= 0)
        ulna_print(out, ",%d", count);
    ulna_put(out, "]}],\n\"nodes\":[");
    put_holder(s, out);
    for (int b = 0; b < s->body_count; b++)
        put_body(s, out, b);
    for (int m = 0; m < s->marker_count; m++)
        put_model_marker(s, out, m);
    if (s->recording)
        put_recorded(s, out);
    if (s->bones[0] >= 0)
        ulna_put(out, ",\n{\"name\":\"bones\",\"mesh\":0,\"skin\":0}");
    ulna_put(out, "]");
}

/* ---- what is seen ----------------------------------------------------------------------------------------------- */

static void put_meshes(const ulna_gltf_scene *s, ulna_writer *out)
{
    int has_bones = s->bones[0] >= 0, has_sphere = s->sphere[0] >= 0;
    if (!has_bones && !has_sphere)
        return;
    const char *between = has_bones && has_sphere ? "," : "";
    ulna_put(out, ",\n\"meshes\":[");
    if (has_bones)
        ulna_print(out,
                   "\n{\"name\":\"bones\",\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"JOINTS_0\":%d,"
                   "\"WEIGHTS_0\":%d},\"indices\":%d,\"material\":0}]}%s",
                   s->bones[0], s->bones[1], s->bones[2], s->bones[3], between);
    if (has_sphere)
        ulna_print(out,
                   "\n{\"name\":\"marker\",\"primitives\":[{\"attributes\":{\"POSITION\":%d,\"NORMAL\":%d},"
                   "\"indices\":%d,\"material\":%d}]}",
                   s->sphere[0], s->sphere[1], s->sphere[2], has_bones);
    ulna_put(out, "],\n\"materials\":[");
    if (has_bones)
        ulna_print(out,
                   "\n{\"name\":\"bone\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.8,0.78,0.7,1],"
                   "\"metallicFactor\":0,\"roughnessFactor\":0.8}}%s",
                   between);
    if (has_sphere)
        ulna_put(out, "\n{\"name\":\"marker\",\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.8,0.1,0.05,1],"
                      "\"metallicFactor\":0,\"roughnessFactor\":0.5}}");
    ulna_put(out, "]");
}

static void put_skin(const ulna_gltf_scene *s, ulna_writer *out)
{
    if (!s->model)
        return;
    ulna_print(out, ",\n\"skins\":[{\"inverseBindMatrices\":%d,\"skeleton\":%d,\"joints\":", s->bind,
               ulna_gltf_body_node(0));
    for (int b = 0; b < s->body_count; b++)
        ulna_print(out, b ? ",%d" : "[%d", ulna_gltf_body_node(b));
    ulna_put(out, "]");
    if (*ulna_model_name(s->model)) {
        ulna_put(out, ",\"name\":");
        ulna_put_json_string(out, ulna_model_name(s->model));
    }
    ulna_put(out, "}]");
}

/* ---- the animation ---------------------------------------------------------------------------------------------- */

void ulna_gltf_put_animation(const ulna_gltf_scene *s, ulna_writer *out)
{
    const ulna_clip *clip = s->model ? s->job->clip : NULL;
    if (!s->channel_count)
        return;
    ulna_put(out, ",\n\"animations\":[{\"name\":\"motion\",\"channels\":[");
    for (size_t i = 0; i < s->channel_count; i++)
        ulna_print(out, "%s\n{\"sampler\":%zu,\"target\":{\"node\":%d,\"path\":\"%s\"}}", i ? "," : "", i,
                   s->channel[i].node, s->channel[i].path);
    ulna_put(out, "],\"samplers\":[");
    for (size_t i = 0; i < s->channel_count; i++)
        ulna_print(out, "%s\n{\"input\":%zu,\"interpolation\":\"%s\",\"output\":%zu}", i ? "," : "",
                   s->first_accessor + (size_t)s->channel[i].times, s->channel[i].is_step ? "STEP" : "LINEAR",
                   s->first_accessor + (size_t)s->channel[i].values);
    ulna_put(out, "],\"extras\":{");
    if (clip)
        ulna_print(out, "\"" ULNA_GLTF_CLIP_KEY "\":[%g,%d]", s->clip_s, clip->first_frame);
    if (s->recording)
        ulna_print(out, "%s\"" ULNA_GLTF_RECORDING_KEY "\":[%g,%d]", clip ? "," : "", s->recording_s,
                   s->recording->first_frame);
    ulna_put(out, "}}]");
}

/* ---- the buffer ------------------------------------------------------------------------------------------------- */

static const char *kind_of(int components)
{
    return components == 1 ? "SCALAR" : components == 3 ? "VEC3" : components == 4 ? "VEC4" : "MAT4";
}

void ulna_gltf_put_accessors(const ulna_gltf_scene *s, ulna_writer *out)
{
    ulna_put(out, ",\n\"accessors\":[");
    for (size_t i = 0; i < s->slice_count; i++) {
        const ulna_gltf_slice *slice = &s->slice[i];
        ulna_print(out, "%s\n{\"bufferView\":%zu,\"componentType\":%d%s,\"count\":%zu,\"type\":\"%s\"", i ? "," : "",
                   s->first_view + i, slice->type, slice->is_normalized ? ",\"normalized\":true" : "", slice->count,
                   kind_of(slice->components));
        if (slice->has_bounds) {
            put_floats(out, "min", slice->low, slice->components);
            put_floats(out, "max", slice->high, slice->components);
        }
        ulna_put(out, "}");
    }
    ulna_put(out, "],\n\"bufferViews\":[");
    for (size_t i = 0; i < s->slice_count; i++) {
        const ulna_gltf_slice *slice = &s->slice[i];
        ulna_print(out, "%s\n{\"buffer\":%d,\"byteOffset\":%zu,\"byteLength\":%zu", i ? "," : "", s->buffer,
                   s->buffer_start + slice->offset, slice->length);
        if (slice->target)
            ulna_print(out, ",\"target\":%d", slice->target);
        ulna_put(out, "}");
    }
    ulna_put(out, "]");
}

/* The buffer: what was kept of it, or made once more and written on the way. */
void ulna_gltf_put_numbers(ulna_gltf_scene *s, ulna_writer *out, int is_base64)
{
    if (s->kept.length == s->length) {
        ulna_gltf_put_kept(s, out, is_base64);
        return;
    }
    ulna_writing job = *s->job;
    job.remarks = NULL; /* all is said */
    ulna_gltf_scene again = {.job = &job,
                             .model = s->model,
                             .recording = s->recording,
                             .allocator = s->allocator,
                             .error = s->error,
                             .source = s->source,
                             .source_node = s->source_node,
                             .out = out,
                             .is_base64 = is_base64};
    ulna_gltf_scene_fill(&again);
    again.source_node = NULL; /* it is not its own */
    ulna_gltf_scene_release(&again);
    if (s->status == ULNA_OK)
        s->status = again.status;
}

/* ---- both kinds of files ---------------------------------------------------------------------------------------- */

static void put_json(ulna_gltf_scene *s, ulna_writer *out, int is_binary, int *has_chunk)
{
    *has_chunk = s->length > 0;
    if (s->source) {
        ulna_gltf_put_source(s, out, is_binary, has_chunk);
        return;
    }
    ulna_put(out, "{\"asset\":{\"version\":\"2.0\",\"generator\":\"" ULNA_GLTF_GENERATOR "\"}");
    put_nodes(s, out);
    put_meshes(s, out);
    put_skin(s, out);
    ulna_gltf_put_animation(s, out);
    if (s->slice_count) {
        ulna_gltf_put_accessors(s, out);
        ulna_print(out, ",\n\"buffers\":[{\"byteLength\":%zu", s->length);
        if (!is_binary) {
            ulna_put(out, ",\"uri\":\"data:application/octet-stream;base64,");
            ulna_gltf_put_numbers(s, out, 1);
            ulna_put(out, "\"");
        }
        ulna_put(out, "}]");
    }
    ulna_put(out, "}\n");
}

static void put_word(ulna_writer *out, size_t value)
{
    const char bytes[4] = {(char)(value & 255), (char)(value >> 8 & 255), (char)(value >> 16 & 255),
                           (char)(value >> 24 & 255)};
    ulna_put_bytes(out, bytes, sizeof bytes);
}

/* What a binary file has before the numbers that are added. */
static void put_source_numbers(const ulna_gltf_scene *s, ulna_writer *out)
{
    const size_t length = s->source->bin.length;
    ulna_put_bytes(out, s->source->bin.data, length);
    ulna_put_bytes(out, "\0\0\0", s->buffer_start - length);
}

static void put_glb(ulna_gltf_scene *s, const ulna_text *json, int has_chunk, ulna_writer *out)
{
    size_t padding = (4 - json->length % 4) % 4, text = json->length + padding, numbers = s->buffer_start + s->length;
    size_t total = ULNA_GLB_HEADER + ULNA_GLB_CHUNK + text + (has_chunk ? ULNA_GLB_CHUNK + numbers : 0);
    if (total > UINT32_MAX) {
        s->status = ulna_fail(s->error, ULNA_ERR_LIMIT, "a GLB file has at most 4 GiB");
        return;
    }
    put_word(out, ULNA_GLB_MAGIC);
    put_word(out, 2);
    put_word(out, total);
    put_word(out, text);
    put_word(out, ULNA_GLB_JSON);
    ulna_put_bytes(out, json->data, json->length);
    ulna_put_bytes(out, "   ", padding);
    if (has_chunk) {
        put_word(out, numbers);
        put_word(out, ULNA_GLB_BIN);
        if (s->buffer_start)
            put_source_numbers(s, out);
        ulna_gltf_put_numbers(s, out, 0);
    }
}

static void put_file(ulna_gltf_scene *s, int is_binary)
{
    ulna_text json = ulna_text_empty(&s->allocator);
    ulna_sink sink = ulna_text_sink(&json);
    ulna_writer out;
    int has_chunk;
    ulna_writer_start(&out, is_binary ? &sink : s->job->sink);
    put_json(s, &out, is_binary, &has_chunk);
    ulna_status written = ulna_writer_finish(&out, "the glTF file", s->status == ULNA_OK ? s->error : NULL);
    if (is_binary && written == ULNA_OK && s->status == ULNA_OK) {
        ulna_writer_start(&out, s->job->sink);
        put_glb(s, &json, has_chunk, &out);
        written = ulna_writer_finish(&out, "the GLB file", s->status == ULNA_OK ? s->error : NULL);
    }
    if (s->status == ULNA_OK)
        s->status = written;
    ulna_text_release(&json);
}

static void remark(const ulna_gltf_scene *s)
{
    const ulna_writing *job = s->job;
    int limited = 0, others = 0;
    for (int j = 0; s->model && j < s->model->nv; j++)
        limited += s->model->lower[j] > -(double)INFINITY || s->model->upper[j] < (double)INFINITY;
    for (int b = 1; s->model && b < s->body_count; b++) {
        ulna_joint_type type = s->model->joint[b].type;
        others += type != ULNA_JOINT_BALL && type != ULNA_JOINT_FREE;
    }
    if (limited)
        ulna_remarks_add(job->remarks, 0, -1, "glTF has no limits: %d are left out", limited);
    if (others)
        ulna_remarks_add(job->remarks, 0, -1,
                         "%d joints will be read back as ball or free joints: glTF has no other kind", others);
    if (s->model && job->clip && s->recording && job->clip->first_frame != s->recording->first_frame)
        ulna_remarks_add(job->remarks, 0, -1, "motion and recording begin with frames %d and %d, but both at 0 s",
                         job->clip->first_frame, s->recording->first_frame);
}

static ulna_status write_scene(const ulna_writing *writing, int is_binary, ulna_error *error)
{
    const ulna_recording *recording =
        writing->recording && writing->recording->marker_count > 0 ? writing->recording : NULL;
    if (!writing->model && !recording)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a glTF file needs a skeleton or markers");
    ulna_writing job = *writing;
    ulna_gltf_scene s = {
        .job = &job,
        .model = writing->model,
        .recording = recording,
        .allocator = ulna_allocator_or_default(writing->model ? &writing->model->allocator : &recording->allocator),
        .error = error};
    s.kept = ulna_text_empty(&s.allocator);
    if (s.model && writing->options->extras)
        ulna_gltf_use_source(&s, &job);
    if (s.status == ULNA_OK)
        ulna_gltf_scene_fill(&s);
    if (s.status == ULNA_OK)
        put_file(&s, is_binary);
    if (s.status == ULNA_OK)
        remark(&s);
    ulna_gltf_scene_release(&s);
    return s.status;
}

ulna_status ulna_gltf_write(const ulna_writing *writing, ulna_error *error)
{
    return write_scene(writing, 0, error);
}

ulna_status ulna_glb_write(const ulna_writing *writing, ulna_error *error)
{
    return write_scene(writing, 1, error);
}
