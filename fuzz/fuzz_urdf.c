/* URDF: whatever is read can be written as a model file, which is read back and written again as the same bytes. */
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    ulna_text once = ulna_text_empty(NULL), twice = ulna_text_empty(NULL);
    ulna_sink first = ulna_text_sink(&once), second = ulna_text_sink(&twice);
    ulna_model *again = NULL;
    ulna_status status = ulna_content_read((const char *)data, size, ULNA_FORMAT_URDF, NULL, &content, &error);
    if (status) {
        require(error.status == status && *error.message && !content.model);
    } else {
        require(ulna_model_write_json(content.model, &first, &error) == ULNA_OK);
        require(ulna_model_read(once.data, once.length, NULL, &again, &error) == ULNA_OK);
        require(ulna_model_write_json(again, &second, &error) == ULNA_OK);
        require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    }
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_model_destroy(again);
    ulna_content_release(&content);
    return 0;
}
