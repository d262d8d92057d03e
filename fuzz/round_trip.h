/* round_trip.h: whatever is read can be written, and what was written is read back and written again as the same bytes. */
#ifndef ULNA_FUZZ_ROUND_TRIP_H
#define ULNA_FUZZ_ROUND_TRIP_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ulna/formats.h"
#include "ulna/sample.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline void require(int condition)
{
    if (!condition)
        abort();
}

static inline ulna_status write_again(ulna_format format, const ulna_model *model, const ulna_content *content,
                                      ulna_text *text, ulna_error *error)
{
    ulna_sink sink = ulna_text_sink(text);
    ulna_write_options options = ulna_write_options_default();
    options.extras = content->extras;
    return ulna_content_write(format, model, &content->clip, &content->recording, &options, &sink, NULL, error);
}

/* `sample` names the skeleton that the values belong to; NULL for formats that need none. */
static inline void round_trip(ulna_format format, const char *sample, const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_model *model = NULL;
    require(!sample || ulna_sample_create(sample, NULL, &model, NULL) == ULNA_OK);
    ulna_read_options options = ulna_read_options_default();
    options.model = model;
    options.extras = 1;
    ulna_content first = ulna_content_empty(NULL), second = ulna_content_empty(NULL);
    ulna_text once = ulna_text_empty(NULL), twice = ulna_text_empty(NULL);
    ulna_status status = ulna_content_read((const char *)data, size, format, &options, &first, &error);
    if (status) {
        require(error.status == status && *error.message && !first.clip.frame_count && !first.recording.frame_count);
    } else if ((status = write_again(format, model, &first, &once, &error)) != ULNA_OK) {
        /* numbers that are too large in another unit; names that are too long; nothing that the writer knows */
        require(status == ULNA_ERR_NUMBER || status == ULNA_ERR_LIMIT || status == ULNA_ERR_UNSUPPORTED);
    } else {
        require(ulna_content_read(once.data, once.length, ULNA_FORMAT_UNKNOWN, &options, &second, &error) == ULNA_OK);
        require(second.format == format && first.clip.frame_count == second.clip.frame_count &&
                first.recording.frame_count == second.recording.frame_count);
        require(write_again(format, model, &second, &twice, &error) == ULNA_OK);
        require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    }
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_content_release(&first);
    ulna_content_release(&second);
    ulna_model_destroy(model);
}

#endif
