/* The files of the sample take: skeleton, recording, where the markers sit, and the motion it was made from. */
#include "cli/sample/sample_take.h"

#include <string.h>

#include "cli/cli.h"
#include "ulna/mocap.h"
#include "ulna/sample.h"

enum { SKELETON, RECORDING, ATTACHMENT, TRUTH, FILES };

static const struct {
    const char *name, *text;
} files[FILES] = {
    {"human.asf", "the human as an Acclaim skeleton, for the take"},
    {"walk.c3d", "six seconds of 41 markers: walking, bending, waving; with noise, gaps and two markers swapped"},
    {"walk-markers.csv", "where the markers of the take sit on human.asf"},
    {"walk-true.amc", "the motion that the take was made from"},
};

const char *sample_take_name(int index)
{
    return index >= 0 && index < FILES ? files[index].name : NULL;
}

const char *sample_take_text(int index)
{
    return index >= 0 && index < FILES ? files[index].text : NULL;
}

/* Bones have the same frames in the ASF, and the same names but for the root. */
static ulna_status write_attachment(const ulna_model *human, ulna_text *text, ulna_error *error)
{
    ulna_text asf = ulna_text_empty(NULL);
    ulna_sink asf_sink = ulna_text_sink(&asf), sink = ulna_text_sink(text);
    ulna_content content = ulna_content_empty(NULL);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_status status = ulna_content_write(ULNA_FORMAT_ASF, human, NULL, NULL, NULL, &asf_sink, NULL, error);
    if (!status)
        status = ulna_content_read(asf.data, asf.length, ULNA_FORMAT_ASF, NULL, &content, error);
    if (!status && ulna_marker_set_from_model(&set, human))
        status = cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < set.count && !status; i++) {
        int bone = ulna_model_find_body(content.model, ulna_model_body_name(human, set.items[i].body));
        set.items[i].body = bone == ULNA_NONE ? 0 : bone;
    }
    if (!status)
        status = ulna_marker_set_write_csv(&set, content.model, &sink, error);
    ulna_marker_set_release(&set);
    ulna_content_release(&content);
    ulna_text_release(&asf);
    return status;
}

static ulna_status write_part(int index, const ulna_model *human, ulna_text *text, ulna_error *error)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_sink sink = ulna_text_sink(text);
    ulna_format format = ulna_format_of_name(files[index].name);
    const ulna_content no_file = ulna_content_empty(NULL);
    ulna_write_options options = ulna_write_options_for(&no_file, format);
    ulna_status status = index == RECORDING || index == TRUTH ? sample_take_motion(human, &clip, error) : ULNA_OK;
    if (!status && index == RECORDING)
        status = sample_take_markers(human, &clip, &recording, error);
    if (index == TRUTH)
        options.digits = 8;
    options.up = 'y';
    if (!status)
        status = index == ATTACHMENT
                     ? write_attachment(human, text, error)
                     : ulna_content_write(format, human, &clip, &recording, &options, &sink, NULL, error);
    ulna_recording_release(&recording);
    ulna_clip_release(&clip);
    return status;
}

ulna_status sample_take_write(int index, ulna_text *text, ulna_error *error)
{
    ulna_model *human = NULL;
    ulna_status status = ulna_sample_create("human", NULL, &human, error);
    if (!status)
        status = write_part(index, human, text, error);
    ulna_model_destroy(human);
    return status;
}
