/* The model file: whatever is read can be written, and what was written is read back as the same model. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "ulna/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static ulna_text written(const ulna_model *model)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    require(ulna_model_write_json(model, &sink, NULL) == ULNA_OK);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_model *first, *second;
    ulna_status status = ulna_model_read_json((const char *)data, size, NULL, &first, &error);
    if (status) {
        require(error.status == status && *error.message && !first);
        return 0;
    }
    ulna_text once = written(first);
    require(ulna_model_read_json(once.data, once.length, NULL, &second, &error) == ULNA_OK);
    ulna_text twice = written(second);
    require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);

    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_model_destroy(first);
    ulna_model_destroy(second);
    return 0;
}
