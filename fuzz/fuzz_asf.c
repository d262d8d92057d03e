/* Acclaim skeletons: whatever is read can be written, and what was written is read back as the same file. */
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

static ulna_text written(const ulna_model *model)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_status status = ulna_content_write(ULNA_FORMAT_ASF, model, NULL, NULL, NULL, &sink, NULL, NULL);
    require(status == ULNA_OK || (status == ULNA_ERR_NUMBER && !text.length)); /* larger than 1e150 m */
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_content first = ulna_content_empty(NULL), second = ulna_content_empty(NULL);
    ulna_status status = ulna_content_read((const char *)data, size, ULNA_FORMAT_ASF, NULL, &first, &error);
    if (status == ULNA_OK) {
        ulna_text once = written(first.model);
        if (once.length) {
            require(ulna_content_read(once.data, once.length, ULNA_FORMAT_UNKNOWN, NULL, &second, &error) == ULNA_OK);
            ulna_text twice = written(second.model);
            require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
            ulna_text_release(&twice);
        }
        ulna_text_release(&once);
    } else
        require(error.status == status && *error.message && !first.model && !first.channels);
    ulna_content_release(&first);
    ulna_content_release(&second);
    return 0;
}
