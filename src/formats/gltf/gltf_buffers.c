/*
 * glTF: buffers and accessors.
 *
 * Nothing is copied but what base64 hides: accessors point into the file. Their bytes are counted, each accessor once: a
 * file whose accessors overlap so much that they have several times its length is refused, so that time and memory
 * stay within a constant times the length of the input.
 */
#include <stdint.h>
#include <string.h>

#include "base/base.h"
#include "formats/gltf/gltf_read.h"

/* ---- small things of JSON --------------------------------------------------------------------------------------- */

ulna_status ulna_gltf_index(const ulna_json_node *node, size_t count, int *index)
{
    double value = -1;
    ulna_status status = ulna_json_number(node, &value);
    if (status == ULNA_OK && !(value >= 0 && value < (double)count && value == floor(value)))
        return ulna_json_fail(node, ULNA_ERR_PARSE, "index %g is out of range: there are %zu", value, count);
    *index = (int)value;
    return status;
}

ulna_status ulna_gltf_need_index(const ulna_json_node *object, const char *key, size_t count, int *index)
{
    ulna_json_node node;
    ulna_status status = ulna_json_need(object, key, &node);
    return status == ULNA_OK ? ulna_gltf_index(&node, count, index) : status;
}

/* A whole number that counts something. */
static ulna_status read_size(const ulna_json_node *object, const char *key, size_t otherwise, size_t *size)
{
    ulna_json_node node;
    double value = (double)otherwise;
    ulna_status status = ulna_json_find(object, key, &node) ? ulna_json_number(&node, &value) : ULNA_OK;
    if (status == ULNA_OK && !(value >= 0 && value <= 9007199254740992.0 && value == floor(value)))
        return ulna_json_fail(&node, ULNA_ERR_PARSE, "should be a whole number, not %g", value);
    *size = (size_t)value;
    return status;
}

ulna_status ulna_gltf_list(const ulna_json_node *object, const char *key, const char *of_what, ulna_json_node *list)
{
    *list = (ulna_json_node){.document = object->document, .parent = object, .key = key};
    return ulna_json_find(object, key, list) ? ulna_json_check_list(list, of_what) : ULNA_OK;
}

/* ---- buffers ---------------------------------------------------------------------------------------------------- */

static int base64_digit(char c)
{
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+' || c == '-' ? 62
           : c == '/' || c == '_' ? 63
                                  : -1;
}

/* Returns 0 if a character is none of base64's. */
static int decode(const char *text, size_t length, unsigned char *bytes)
{
    uint32_t bits = 0;
    int count = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = base64_digit(text[i]);
        if (digit < 0)
            return 0;
        bits = bits << 6 | (uint32_t)digit;
        count += 6;
        if (count >= 8) {
            count -= 8;
            *bytes++ = (unsigned char)(bits >> count & 255);
        }
    }
    return 1;
}

static ulna_status decode_buffer(const ulna_gltf *g, const ulna_json_node *uri_node, ulna_gltf_buffer *buffer)
{
    static const char mark[] = ";base64,";
    const char *uri = NULL;
    ulna_status status = ulna_json_string(uri_node, &uri);
    if (status != ULNA_OK)
        return status;
    const char *found = strncmp(uri, "data:", 5) == 0 ? strstr(uri, mark) : NULL;
    if (!found)
        return ulna_json_fail(uri_node, ULNA_ERR_UNSUPPORTED,
                              "the data are in another file, \"%.60s\": pack both into one .glb", uri);
    const char *text = found + sizeof mark - 1;
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == '=')
        length--;
    buffer->own_length = length / 4 * 3 + length % 4 * 3 / 4;
    buffer->own = ulna_allocate(g->allocator, buffer->own_length + 1, 1);
    if (!buffer->own)
        return ulna_fail(g->error, ULNA_ERR_MEMORY, "no memory for a buffer");
    if (!decode(text, length, buffer->own))
        return ulna_json_fail(uri_node, ULNA_ERR_PARSE, "this is not base64");
    buffer->data = buffer->own;
    buffer->length = buffer->own_length;
    return ULNA_OK;
}

ulna_status ulna_gltf_open_buffer(const ulna_gltf *g, const ulna_json_node *node, int index)
{
    ulna_gltf_buffer *buffer = &g->buffer[index];
    ulna_json_node uri;
    size_t length = 0;
    if (buffer->data)
        return ULNA_OK;
    ulna_status status = ulna_json_need_object(node);
    if (status == ULNA_OK)
        status = read_size(node, "byteLength", 0, &length);
    if (status != ULNA_OK)
        return status;
    if (ulna_json_find(node, "uri", &uri))
        status = decode_buffer(g, &uri, buffer);
    else if (index == 0 && g->bin) {
        buffer->data = g->bin;
        buffer->length = g->bin_length;
    } else
        status = ulna_json_fail(node, ULNA_ERR_PARSE, "has no data: neither a uri nor a binary chunk");
    if (status != ULNA_OK)
        return status;
    if (length > buffer->length) {
        status = ulna_json_fail(node, ULNA_ERR_PARSE, "should have %zu bytes, but has %zu", length, buffer->length);
        buffer->data = NULL;
        return status;
    }
    buffer->length = length;
    return ULNA_OK;
}

/* The view that an accessor refers to. */
static ulna_status open_view(const ulna_gltf *g, const ulna_json_node *accessor, const unsigned char **data,
                             size_t *length, size_t *stride)
{
    int index = 0, buffer = 0;
    size_t offset = 0;
    ulna_status status = ulna_gltf_need_index(accessor, "bufferView", json_array_size(g->views.value), &index);
    if (status != ULNA_OK)
        return status;
    ulna_json_node node = ulna_json_element(&g->views, (size_t)index), part;
    status = ulna_json_need_object(&node);
    if (status == ULNA_OK && ulna_json_find(&node, "extensions", &part) &&
        (json_object_get(part.value, "EXT_meshopt_compression") ||
         json_object_get(part.value, "KHR_meshopt_compression")))
        return ulna_json_fail(&part, ULNA_ERR_UNSUPPORTED, "the data are compressed, which Ulna does not read");
    if (status == ULNA_OK)
        status = ulna_gltf_need_index(&node, "buffer", g->buffer_count, &buffer);
    if (status == ULNA_OK)
        status = read_size(&node, "byteOffset", 0, &offset);
    if (status == ULNA_OK)
        status = read_size(&node, "byteLength", 0, length);
    if (status == ULNA_OK)
        status = read_size(&node, "byteStride", 0, stride);
    if (status != ULNA_OK)
        return status;
    ulna_json_node buffer_node = ulna_json_element(&g->buffers, (size_t)buffer);
    status = ulna_gltf_open_buffer(g, &buffer_node, buffer);
    if (status != ULNA_OK)
        return status;
    size_t have = g->buffer[buffer].length;
    if (offset > have || *length > have - offset)
        return ulna_json_fail(&node, ULNA_ERR_PARSE, "bytes %zu to %zu are not all inside a buffer of %zu bytes",
                              offset, offset + *length, have);
    *data = g->buffer[buffer].data + offset;
    return ULNA_OK;
}

/* ---- accessors -------------------------------------------------------------------------------------------------- */

static size_t component_size(double type)
{
    return type == ULNA_GLTF_BYTE || type == ULNA_GLTF_UNSIGNED_BYTE     ? 1
           : type == ULNA_GLTF_SHORT || type == ULNA_GLTF_UNSIGNED_SHORT ? 2
           : type == ULNA_GLTF_UNSIGNED_INT || type == ULNA_GLTF_FLOAT   ? 4
                                                                         : 0;
}

static ulna_status read_kind(const ulna_json_node *node, int components, ulna_gltf_array *array)
{
    static const char *const names[] = {"", "SCALAR", "VEC2", "VEC3", "VEC4"};
    ulna_json_node part;
    double type = 0;
    const char *name = "";
    ulna_status status = ulna_json_need_number(node, "componentType", &part, &type);
    if (status != ULNA_OK)
        return status;
    if (!component_size(type))
        return ulna_json_fail(&part, ULNA_ERR_PARSE, "%g is not a component type", type);
    array->type = (int)type;
    array->components = components;
    status = ulna_json_find_bool(node, "normalized", &array->is_normalized);
    if (status == ULNA_OK)
        status = ulna_json_need_string(node, "type", &part, &name);
    if (status == ULNA_OK && strcmp(name, names[components]) != 0)
        return ulna_json_fail(&part, ULNA_ERR_PARSE, "should be %s here, not \"%.20s\"", names[components], name);
    return status;
}

/* Counts the bytes of an accessor the first time. */
static ulna_status count_use(ulna_gltf *g, const ulna_json_node *node, const ulna_gltf_array *array, size_t size)
{
    if (g->seen[array->accessor] & ULNA_GLTF_SEEN)
        return ULNA_OK;
    g->seen[array->accessor] |= ULNA_GLTF_SEEN;
    size_t most = 4 * g->file_length, own = array->count * size; /* at most the length of a buffer */
    if (own > most - g->used_bytes)
        return ulna_json_fail(node, ULNA_ERR_LIMIT,
                              "accessors overlap: together they have more than four times the bytes of the file");
    g->used_bytes += own;
    return ULNA_OK;
}

static ulna_status read_place(ulna_gltf *g, const ulna_json_node *node, ulna_gltf_array *array)
{
    ulna_json_node part;
    size_t offset = 0, length = 0, size = component_size(array->type) * (size_t)array->components;
    if (ulna_json_find(node, "sparse", &part))
        return ulna_json_fail(&part, ULNA_ERR_UNSUPPORTED, "sparse accessors are not read");
    ulna_status status = read_size(node, "count", 0, &array->count);
    if (status == ULNA_OK)
        status = read_size(node, "byteOffset", 0, &offset);
    if (status == ULNA_OK)
        status = open_view(g, node, &array->data, &length, &array->stride);
    if (status != ULNA_OK)
        return status;
    if (!array->stride)
        array->stride = size;
    if (array->count == 0)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "holds nothing");
    if (!array->stride || array->stride < size || offset > length || size > length - offset ||
        array->count - 1 > (length - offset - size) / array->stride)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "%zu elements do not fit into its view of %zu bytes", array->count,
                              length);
    array->data += offset;
    return count_use(g, node, array, size);
}

ulna_status ulna_gltf_accessor(ulna_gltf *g, const ulna_json_node *object, const char *key, int components,
                               ulna_gltf_array *array)
{
    *array = (ulna_gltf_array){0};
    ulna_status status = ulna_gltf_need_index(object, key, g->accessor_count, &array->accessor);
    if (status != ULNA_OK)
        return status;
    ulna_json_node node = ulna_json_element(&g->accessors, (size_t)array->accessor);
    status = ulna_json_need_object(&node);
    if (status == ULNA_OK)
        status = read_kind(&node, components, array);
    return status == ULNA_OK ? read_place(g, &node, array) : status;
}

double ulna_gltf_value(const ulna_gltf_array *array, size_t element, int component)
{
    const unsigned char *b = array->data + element * array->stride + (size_t)component * component_size(array->type);
    int is_normal = array->is_normalized, word;
    uint32_t bits;
    float number;
    switch (array->type) {
    case ULNA_GLTF_BYTE:
        return is_normal ? fmax((int8_t)b[0] / 127.0, -1) : (int8_t)b[0];
    case ULNA_GLTF_UNSIGNED_BYTE:
        return is_normal ? b[0] / 255.0 : b[0];
    case ULNA_GLTF_SHORT:
        word = (int16_t)(b[0] | b[1] << 8);
        return is_normal ? fmax(word / 32767.0, -1) : word;
    case ULNA_GLTF_UNSIGNED_SHORT:
        word = b[0] | b[1] << 8;
        return is_normal ? word / 65535.0 : word;
    default:
        bits = (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        if (array->type == ULNA_GLTF_UNSIGNED_INT)
            return is_normal ? bits / 4294967295.0 : bits;
        memcpy(&number, &bits, sizeof number);
        return (double)number;
    }
}
