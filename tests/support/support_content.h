/* support_content.h: what tests of file formats share: reading, writing, remarks, round trips, memory that runs out. */
#ifndef ULNA_TESTS_SUPPORT_CONTENT_H
#define ULNA_TESTS_SUPPORT_CONTENT_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

static inline ulna_content content_of(const char *data, size_t length, ulna_format format, const ulna_model *model)
{
    ulna_error error = {.status = ULNA_ERR_STATE, .line = 77};
    ulna_read_options options = ulna_read_options_default();
    ulna_content content = ulna_content_empty(NULL);
    options.model = model;
    if (ulna_content_read(data, length, format, &options, &content, &error) != ULNA_OK)
        fail_msg("%d:%d @%lld: %s", error.line, error.column, error.byte, error.message);
    assert_true(error.status == ULNA_ERR_STATE && error.line == 77); /* as it was */
    return content;
}

static inline ulna_content content_of_text(const char *text, ulna_format format, const ulna_model *model)
{
    return content_of(text, strlen(text), format, model);
}

/* A file of the data folder, sniffed. */
static inline ulna_content content_of_data(const char *name)
{
    ulna_error error;
    char path[512];
    ulna_content content = ulna_content_empty(NULL);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), name);
    if (ulna_content_load(path, NULL, &content, &error) != ULNA_OK)
        fail_msg("%s:%d: %s", name, error.line, error.message);
    return content;
}

/* Refused, with these words in the message, and with line and column (0: any). Remarks are released. */
static inline void assert_refused(const char *data, size_t length, ulna_format format, const ulna_model *model,
                                  ulna_status status, int line, int column, const char *words)
{
    ulna_error error = {0};
    ulna_read_options options = ulna_read_options_default();
    ulna_content content = ulna_content_empty(NULL);
    options.model = model;
    ulna_status got = ulna_content_read(data, length, format, &options, &content, &error);
    if (got != status || !strstr(error.message, words) || (line && error.line != line) ||
        (column && error.column != column))
        fail_msg("status %d at %d:%d: %s; wanted %d at %d:%d: %s", got, error.line, error.column, error.message, status,
                 line, column, words);
    assert_int_equal(error.status, status);
    assert_true(content.recording.frame_count == 0 && content.clip.frame_count == 0 && !content.recording.names);
    ulna_content_release(&content);
}

static inline int has_remark(const ulna_remarks *remarks, const char *words)
{
    for (size_t i = 0; i < remarks->count; i++)
        if (strstr(remarks->items[i].message, words))
            return 1;
    return 0;
}

/* There is a remark with these words on that line (-1: any). */
static inline void assert_remark(const ulna_remarks *remarks, int line, const char *words)
{
    for (size_t i = 0; i < remarks->count; i++)
        if (strstr(remarks->items[i].message, words) && (line < 0 || remarks->items[i].line == line))
            return;
    for (size_t i = 0; i < remarks->count; i++)
        print_error("line %d: %s\n", remarks->items[i].line, remarks->items[i].message);
    fail_msg("no remark on line %d says \"%s\"", line, words);
}

static inline ulna_text written(ulna_format format, const ulna_model *model, const ulna_clip *clip,
                                const ulna_recording *recording, const ulna_write_options *options,
                                ulna_remarks *remarks)
{
    ulna_error error = {.status = ULNA_ERR_STATE};
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    if (ulna_content_write(format, model, clip, recording, options, &sink, remarks, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(error.status, ULNA_ERR_STATE);
    return text;
}

static inline void assert_same_bytes(const ulna_text *a, const ulna_text *b)
{
    assert_int_equal(a->length, b->length);
    assert_memory_equal(a->data, b->data, a->length);
}

/* Written, read and written again: the same bytes, and a format that is sniffed. Returns what was read. */
static inline ulna_content assert_round_trip(ulna_format format, const ulna_model *model, const ulna_clip *clip,
                                             const ulna_recording *recording, const ulna_write_options *options)
{
    ulna_text once = written(format, model, clip, recording, options, NULL);
    assert_int_equal(ulna_format_sniff(once.data, once.length), format);
    ulna_content again = content_of(once.data, once.length, format, model);
    ulna_text twice = written(format, model, &again.clip, &again.recording, options, NULL);
    assert_same_bytes(&once, &twice);
    ulna_text_release(&once);
    ulna_text_release(&twice);
    return again;
}

/* Every allocation fails in turn, in reading and in writing. */
static inline void assert_memory_may_fail(const char *data, size_t length, ulna_format format, const ulna_model *model)
{
    ulna_read_options options = ulna_read_options_default();
    ulna_write_options writing = ulna_write_options_default();
    options.model = model;
    options.extras = 1;
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_content content = ulna_content_empty(&allocator);
        ulna_text text = ulna_text_empty(NULL); /* the sink's own memory is another matter */
        ulna_sink sink = ulna_text_sink(&text);
        ulna_error error;
        ulna_status status = ulna_content_read(data, length, format, &options, &content, &error);
        writing.extras = content.extras;
        if (status == ULNA_OK)
            status =
                ulna_content_write(format, model, &content.clip, &content.recording, &writing, &sink, NULL, &error);
        if (status != ULNA_OK && error.status != status)
            fail_msg("status %d, but the error says %d", status, error.status);
        ulna_content_release(&content);
        ulna_text_release(&text);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            assert_true(fail > 2);
            break;
        }
        if (status != ULNA_OK) /* a remark may be lost without harm */
            assert_int_equal(status, ULNA_ERR_MEMORY);
    }
}

static inline ulna_status refuse(void *context, const char *data, size_t bytes)
{
    (void)data;
    size_t *left = context;
    if (bytes > *left)
        return ULNA_ERR_IO;
    *left -= bytes;
    return ULNA_OK;
}

/* A sink that fails after any number of bytes: its status comes back. */
static inline void assert_sink_may_fail(ulna_format format, const ulna_model *model, const ulna_clip *clip,
                                        const ulna_recording *recording)
{
    ulna_text whole = written(format, model, clip, recording, NULL, NULL);
    for (size_t bytes = 0; bytes < whole.length; bytes += bytes / 2 + 1) {
        size_t left = bytes;
        ulna_sink sink = {refuse, &left};
        ulna_error error = {0};
        assert_int_equal(ulna_content_write(format, model, clip, recording, NULL, &sink, NULL, &error), ULNA_ERR_IO);
        assert_int_equal(error.status, ULNA_ERR_IO);
    }
    ulna_text_release(&whole);
}

/* Random markers, some missing, in millimetre-sized numbers of many digits. */
static inline ulna_recording random_recording(ulna_test_rng *rng, int markers, int frames)
{
    ulna_recording r = ulna_recording_empty(NULL);
    assert_int_equal(ulna_recording_resize(&r, markers, frames), ULNA_OK);
    for (int m = 0; m < markers; m++)
        snprintf(r.names[m], ULNA_MARKER_NAME, "M%d", m);
    for (size_t i = 0; i < (size_t)markers * (size_t)frames; i++) {
        if (ulna_test_rng_index(rng, 7) == 0)
            continue;
        ulna_test_rng_fill(rng, r.positions + 3 * i, 3, -2, 2);
    }
    r.frame_seconds = 1 / 120.0;
    return r;
}

static inline void assert_same_recording(const ulna_recording *a, const ulna_recording *b, double tolerance)
{
    assert_int_equal(a->marker_count, b->marker_count);
    assert_int_equal(a->frame_count, b->frame_count);
    for (int m = 0; m < a->marker_count; m++)
        assert_string_equal(a->names[m], b->names[m]);
    for (size_t i = 0; i < 3 * (size_t)a->marker_count * (size_t)a->frame_count; i++) {
        double x = a->positions[i], y = b->positions[i];
        if (isnan(x) ? !isnan(y) : !(fabs(x - y) <= tolerance))
            fail_msg("number %zu is %.17g, not %.17g", i, y, x);
    }
}

#endif
