/* support_c3d_analog.h: a C3D file with what is not markers: analog samples, a force plate, events, residuals. */
#ifndef ULNA_TESTS_SUPPORT_C3D_ANALOG_H
#define ULNA_TESTS_SUPPORT_C3D_ANALOG_H

#include <stdint.h>
#include <string.h>

#include "support.h"
#include "ulna/formats.h"

enum { ULNA_TEST_CHANNELS = 3, ULNA_TEST_PER_FRAME = 4, ULNA_TEST_POINTS = 2 };

static inline void c3d_bytes_put(ulna_text *to, const void *bytes, size_t length)
{
    assert_int_equal(ulna_text_append(to, bytes, length), ULNA_OK);
}

static inline void c3d_word_put(ulna_text *to, int value)
{
    const unsigned char bytes[2] = {(unsigned char)(value & 255), (unsigned char)(value >> 8 & 255)};
    c3d_bytes_put(to, bytes, 2);
}

/* As a PC has it. */
static inline void c3d_float_put(ulna_text *to, double value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, 4);
    c3d_word_put(to, (int)(bits & 65535));
    c3d_word_put(to, (int)(bits >> 16));
}

static inline void c3d_head_put(ulna_text *to, int id, const char *name, int link)
{
    const unsigned char head[2] = {(unsigned char)strlen(name), (unsigned char)(id & 255)};
    c3d_bytes_put(to, head, 2);
    c3d_bytes_put(to, name, strlen(name));
    c3d_word_put(to, link);
}

static inline void c3d_group_put(ulna_text *to, int id, const char *name)
{
    c3d_head_put(to, -id, name, 3);
    c3d_bytes_put(to, "", 1);
}

/* A parameter of one or two dimensions; `data` has its bytes, texts as they are and numbers as a PC has them. */
static inline void c3d_parameter_put(ulna_text *to, int id, const char *name, int type, int rows, int columns,
                                     const ulna_text *data)
{
    const unsigned char shape[4] = {(unsigned char)type, 2, (unsigned char)rows, (unsigned char)columns};
    c3d_head_put(to, id, name, (int)(2 + 4 + data->length + 1));
    c3d_bytes_put(to, shape, 4);
    c3d_bytes_put(to, data->data, data->length);
    c3d_bytes_put(to, "", 1);
}

static inline void c3d_words(ulna_text *to, int id, const char *name, const int *values, int count)
{
    ulna_text data = ulna_text_empty(NULL);
    for (int i = 0; i < count; i++)
        c3d_word_put(&data, values[i]);
    c3d_parameter_put(to, id, name, 2, count, 1, &data);
    ulna_text_release(&data);
}

static inline void c3d_floats(ulna_text *to, int id, const char *name, const double *values, int rows, int columns)
{
    ulna_text data = ulna_text_empty(NULL);
    for (int i = 0; i < rows * columns; i++)
        c3d_float_put(&data, values[i]);
    c3d_parameter_put(to, id, name, 4, rows, columns, &data);
    ulna_text_release(&data);
}

static inline void c3d_texts(ulna_text *to, int id, const char *name, const char *text, int width)
{
    ulna_text data = ulna_text_empty(NULL);
    c3d_bytes_put(&data, text, strlen(text));
    c3d_parameter_put(to, id, name, 255, width, (int)strlen(text) / width, &data);
    ulna_text_release(&data);
}

static inline double c3d_sample(int frame, int sample, int channel)
{
    return 1000 * channel + 0.25 * (ULNA_TEST_PER_FRAME * frame + sample);
}

/* Two points, three channels at four times the rate, from frame `first` on, 100 frames a second, millimetres. */
static inline ulna_text ulna_test_c3d_with_analog(int first, int frames)
{
    static const double corners[12] = {0, 0, 0, 500, 0, 0, 500, 400, 0, 0, 400, 0}, origin[3] = {0, 0, -40};
    static const double scales[3] = {.5, .25, 2}, times[4] = {0, .02, 0, .05}, rates[2] = {100, 400};
    static const int channels[3] = {1, 2, 3}, offsets[3] = {0, 7, -3}, used[1] = {ULNA_TEST_POINTS}, data_at[1] = {5};
    const int count[1] = {frames}, analog[1] = {ULNA_TEST_CHANNELS}, one[1] = {1}, two[1] = {2}, four[1] = {4};
    const double minus = -0.02;
    ulna_text file = ulna_text_empty(NULL);
    unsigned char header[512] = {2, 0x50, ULNA_TEST_POINTS, 0, ULNA_TEST_CHANNELS * ULNA_TEST_PER_FRAME};
    ulna_text words = ulna_text_empty(NULL);
    c3d_word_put(&words, first);
    c3d_word_put(&words, first + frames - 1);
    c3d_word_put(&words, 9); /* longest gap */
    c3d_float_put(&words, minus);
    c3d_word_put(&words, *data_at);
    c3d_word_put(&words, ULNA_TEST_PER_FRAME);
    c3d_float_put(&words, *rates);
    memcpy(header + 6, words.data, words.length);
    ulna_text_release(&words);
    c3d_bytes_put(&file, header, 512);
    c3d_bytes_put(&file, "\001\120\003\124", 4);
    static const char *const groups[] = {"POINT", "ANALOG", "FORCE_PLATFORM", "EVENT"};
    for (int g = 0; g < 4; g++)
        c3d_group_put(&file, g + 1, groups[g]);
    c3d_words(&file, 1, "USED", used, 1);
    c3d_words(&file, 1, "FRAMES", count, 1);
    c3d_words(&file, 1, "DATA_START", data_at, 1);
    c3d_floats(&file, 1, "SCALE", &minus, 1, 1);
    c3d_floats(&file, 1, "RATE", rates, 1, 1);
    c3d_texts(&file, 1, "UNITS", "mm", 2);
    c3d_texts(&file, 1, "LABELS", "AAAABBBB", 4);
    c3d_texts(&file, 1, "DESCRIPTIONS", "firstother", 5);
    c3d_texts(&file, 1, "ANGLES", "BBBB", 4);
    c3d_words(&file, 2, "USED", analog, 1);
    c3d_floats(&file, 2, "RATE", rates + 1, 1, 1);
    c3d_floats(&file, 2, "SCALE", scales, 3, 1);
    c3d_words(&file, 2, "OFFSET", offsets, 3);
    c3d_texts(&file, 2, "LABELS", "Fx  Fy  EMG1", 4);
    c3d_texts(&file, 2, "UNITS", "N N V ", 2);
    c3d_words(&file, 3, "USED", one, 1);
    c3d_words(&file, 3, "TYPE", four, 1);
    c3d_words(&file, 3, "CHANNEL", channels, 3);
    c3d_floats(&file, 3, "CORNERS", corners, 3, 4);
    c3d_floats(&file, 3, "ORIGIN", origin, 3, 1);
    c3d_words(&file, 4, "USED", two, 1);
    c3d_floats(&file, 4, "TIMES", times, 2, 2);
    c3d_texts(&file, 4, "LABELS", "Foot StrikeFoot Off   ", 11);
    while (file.length < 4 * 512)
        c3d_bytes_put(&file, "", 1);
    assert_int_equal(file.length, 4 * 512);
    for (int f = 0; f < frames; f++) {
        for (int m = 0; m < ULNA_TEST_POINTS; m++) {
            for (int k = 0; k < 3; k++)
                c3d_float_put(&file, 100 * m + 10 * k + f);
            c3d_float_put(&file, 256 + 5 + m); /* camera 1, and a residual */
        }
        for (int s = 0; s < ULNA_TEST_PER_FRAME; s++)
            for (int c = 0; c < ULNA_TEST_CHANNELS; c++)
                c3d_float_put(&file, c3d_sample(f, s, c));
    }
    while (file.length % 512)
        c3d_bytes_put(&file, "", 1);
    return file;
}

#endif
