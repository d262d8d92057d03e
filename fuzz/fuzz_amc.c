/* Acclaim motions of a small skeleton: whatever is read can be written, and reads back as the same file. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ulna/formats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char skeleton[] = ":units\nlength 0.45\n:root\norder TX TY TZ RX RY RZ\n:bonedata\n"
                               "begin\nname arm\ndirection 1 0 0\nlength 2\naxis 0 0 20 XYZ\ndof rz ty rx\nend\n"
                               "begin\nname hand\ndirection 0 1 0\nlength 1\ndof ry\nend\n"
                               ":hierarchy\nroot arm\narm hand\n";

static void require(int condition)
{
    if (!condition)
        abort();
}

static ulna_text written(const ulna_content *asf, const ulna_clip *clip)
{
    const ulna_write_options options = ulna_write_options_for(asf, ULNA_FORMAT_AMC);
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_error error;
    ulna_status status = ulna_content_write(ULNA_FORMAT_AMC, asf->model, clip, NULL, &options, &sink, NULL, &error);
    require(status == ULNA_OK || status == ULNA_ERR_NUMBER); /* radians may be too many to be degrees */
    if (status != ULNA_OK)
        ulna_text_release(&text);
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ulna_error error;
    ulna_content asf = ulna_content_empty(NULL), first = asf, second = asf;
    require(ulna_content_read(skeleton, sizeof skeleton - 1, ULNA_FORMAT_ASF, NULL, &asf, NULL) == ULNA_OK);
    ulna_read_options options = ulna_read_options_for(&asf);
    ulna_status status = ulna_content_read((const char *)data, size, ULNA_FORMAT_AMC, &options, &first, &error);
    if (status == ULNA_OK) {
        ulna_text once = written(&asf, &first.clip);
        if (once.length) {
            require(ulna_content_read(once.data, once.length, ULNA_FORMAT_UNKNOWN, &options, &second, &error) ==
                    ULNA_OK);
            require(second.clip.frame_count == first.clip.frame_count && second.remarks.count == 0);
            ulna_text twice = written(&asf, &second.clip);
            require(once.length == twice.length && memcmp(once.data, twice.data, once.length) == 0);
            ulna_text_release(&twice);
        }
        ulna_text_release(&once);
    } else
        require(error.status == status && *error.message && first.clip.frame_count == 0);
    ulna_content_release(&asf);
    ulna_content_release(&first);
    ulna_content_release(&second);
    return 0;
}
