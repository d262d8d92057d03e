/* Attachments of markers to a skeleton: what is read is written, and read back as the same markers and the same bytes. */
#include "mocap/take.h"
#include "round_trip.h"
#include "ulna/mocap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_model *model = NULL;
    require(ulna_sample_create("arm", NULL, &model, NULL) == ULNA_OK);
    ulna_marker_set first = ulna_marker_set_empty(NULL), second = first;
    ulna_text once = ulna_text_empty(NULL), twice = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&once), other = ulna_text_sink(&twice);
    ulna_status status = ulna_marker_set_read_csv((const char *)data, size, model, &first, &error);
    if (status == ULNA_OK) {
        require(first.count > 0 && ulna_marker_set_write_csv(&first, model, &sink, &error) == ULNA_OK);
        require(ulna_marker_set_read_csv(once.data, once.length, model, &second, &error) == ULNA_OK);
        require(second.count == first.count);
        for (size_t i = 0; i < first.count; i++)
            require(strcmp(first.items[i].marker, second.items[i].marker) == 0 &&
                    first.items[i].body == second.items[i].body && first.items[i].weight == second.items[i].weight &&
                    memcmp(first.items[i].offset, second.items[i].offset, sizeof first.items[i].offset) == 0);
        require(ulna_marker_set_write_csv(&second, model, &other, &error) == ULNA_OK);
        require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
    } else
        require(error.status == status && *error.message && first.count == 0);
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_marker_set_release(&first);
    ulna_marker_set_release(&second);
    ulna_model_destroy(model);
    return 0;
}
