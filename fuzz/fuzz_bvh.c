/* BVH: whatever is read can be written, and what was written is read back and written again as the same bytes. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ulna/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static ulna_status write_bvh(const ulna_content *content, ulna_text *text, ulna_error *error)
{
    ulna_sink sink = ulna_text_sink(text);
    return ulna_content_write(ULNA_FORMAT_BVH, content->model, &content->clip, NULL, NULL, &sink, NULL, error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_content first = ulna_content_empty(NULL), second = ulna_content_empty(NULL);
    ulna_text once = ulna_text_empty(NULL), twice = ulna_text_empty(NULL);
    ulna_status status = ulna_content_read((const char *)data, size, ULNA_FORMAT_BVH, NULL, &first, &error);
    if (status) {
        require(error.status == status && *error.message && !first.model && !first.clip.frame_count);
    } else if ((status = write_bvh(&first, &once, &error)) != ULNA_OK) {
        require(status == ULNA_ERR_NUMBER); /* angles whose sums are too large for a number */
    } else {
        require(ulna_content_read(once.data, once.length, ULNA_FORMAT_UNKNOWN, NULL, &second, &error) == ULNA_OK);
        require(first.clip.frame_count == 0 || first.clip.frame_count == second.clip.frame_count);
        require(write_bvh(&second, &twice, &error) == ULNA_OK);
        require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    }
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_content_release(&first);
    ulna_content_release(&second);
    return 0;
}
