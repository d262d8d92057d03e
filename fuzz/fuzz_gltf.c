/* glTF, of both kinds: whatever is read can be written, and what was written is read back as the same skeleton and frames. */
#include "round_trip.h"

static int is_too_much(ulna_status status)
{
    return status == ULNA_ERR_NUMBER ||
           status == ULNA_ERR_LIMIT; /* for single precision, or for the length of the file */
}

static int body_count(const ulna_content *content)
{
    return content->model ? ulna_model_body_count(content->model) : 0;
}

static void compare(const ulna_content *first, const ulna_text *text)
{
    ulna_error error;
    ulna_content second = ulna_content_empty(NULL);
    ulna_status status = ulna_content_read(text->data, text->length, ULNA_FORMAT_UNKNOWN, NULL, &second, &error);
    require(status == ULNA_OK || is_too_much(status));
    if (status == ULNA_OK)
        require(body_count(&second) == body_count(first) && second.clip.frame_count == first->clip.frame_count &&
                second.recording.frame_count == first->recording.frame_count &&
                second.recording.marker_count == first->recording.marker_count);
    ulna_content_release(&second);
}

/* The file with another motion in it: bodies, and these frames, come back. */
static void write_source_again(const char *data, size_t size, ulna_format format)
{
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_read_options options = ulna_read_options_default();
    options.extras = 1;
    ulna_status status = ulna_content_read(data, size, format, &options, &content, &error);
    if (status == ULNA_OK && content.extras) {
        content.clip.first_frame++; /* another motion */
        for (int kind = 0; kind < 2; kind++) {
            const ulna_format to = kind ? ULNA_FORMAT_GLTF : ULNA_FORMAT_GLB;
            ulna_write_options writing = ulna_write_options_for(&content, to);
            status = ulna_content_write(to, content.model, content.clip.frame_count ? &content.clip : NULL, NULL,
                                        &writing, &sink, NULL, &error);
            require(status == ULNA_OK || is_too_much(status));
            if (status == ULNA_OK)
                compare(&content, &text);
            ulna_text_release(&text);
        }
    } else
        require(status == ULNA_OK || *error.message);
    ulna_content_release(&content);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    ulna_text text = ulna_text_empty(NULL);
    ulna_format format = size >= 4 && memcmp(data, "glTF", 4) == 0 ? ULNA_FORMAT_GLB : ULNA_FORMAT_GLTF;
    ulna_status status = ulna_content_read((const char *)data, size, format, NULL, &content, &error);
    if (status != ULNA_OK) {
        require(error.status == status && *error.message && !content.model && !content.clip.frame_count);
    } else if ((status = write_again(format, content.model, &content, &text, &error)) != ULNA_OK) {
        require(is_too_much(status) && error.status == status);
    } else
        compare(&content, &text);
    ulna_text_release(&text);
    ulna_content_release(&content);
    write_source_again((const char *)data, size, format);
    return 0;
}
