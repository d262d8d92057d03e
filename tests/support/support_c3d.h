/* support_c3d.h: C3D files made byte by byte, of three kinds of machine and two kinds of numbers, also with what is not markers. */
#ifndef ULNA_TESTS_SUPPORT_C3D_H
#define ULNA_TESTS_SUPPORT_C3D_H

#include "support_content.h"

#include <stdint.h>

enum { PC = 84, DEC = 85, SGI = 86, BLOCK = 512 };

typedef struct maker {
    int processor, is_real, points, frames, first;
    int analog, per_frame;            /* samples a frame, of all channels and of each */
    int parameter_block, blocks, gap; /* of parameters; gap: blocks between parameters and data */
    double scale, rate;
    const char *unit, *labels; /* labels: four characters each; NULL: none */
    void (*more)(struct maker *m);
    unsigned char *data;
    size_t length, capacity, link; /* link: of the last parameter */
} maker;

static inline void put(maker *m, const void *bytes, size_t length)
{
    if (m->length + length > m->capacity) {
        m->capacity = 2 * (m->length + length);
        m->data = realloc(m->data, m->capacity);
        assert_non_null(m->data);
    }
    memcpy(m->data + m->length, bytes, length);
    m->length += length;
}

static inline void put_byte(maker *m, int value)
{
    unsigned char byte = (unsigned char)value;
    put(m, &byte, 1);
}

static inline void put_word(maker *m, int value)
{
    put_byte(m, m->processor == SGI ? value >> 8 : value);
    put_byte(m, m->processor == SGI ? value : value >> 8);
}

/* VAX F is four times the number in IEEE, words swapped. */
static inline void put_float(maker *m, double value)
{
    float number = (float)(m->processor == DEC ? 4 * value : value);
    uint32_t bits;
    memcpy(&bits, &number, 4);
    const int order[3][4] = {{0, 8, 16, 24}, {16, 24, 0, 8}, {24, 16, 8, 0}};
    for (int k = 0; k < 4; k++)
        put_byte(m, (int)(bits >> order[m->processor - PC][k] & 255));
}

static inline void pad(maker *m)
{
    while (m->length % BLOCK)
        put_byte(m, 0);
}

static inline void group(maker *m, int id, const char *name)
{
    put_byte(m, (int)strlen(name));
    put_byte(m, -id);
    put(m, name, strlen(name));
    put_word(m, 3);
    put_byte(m, 0);
}

static inline void parameter(maker *m, int id, const char *name, int type, int dimensions, const int *size,
                             size_t bytes)
{
    put_byte(m, (int)strlen(name));
    put_byte(m, id);
    put(m, name, strlen(name));
    m->link = m->length;
    put_word(m, (int)(5 + (size_t)dimensions + bytes));
    put_byte(m, type);
    put_byte(m, dimensions);
    for (int d = 0; d < dimensions; d++)
        put_byte(m, size[d]);
}

static inline void word_parameter(maker *m, int id, const char *name, int value)
{
    parameter(m, id, name, 2, 0, NULL, 2);
    put_word(m, value);
    put_byte(m, 0);
}

static inline void float_parameter(maker *m, int id, const char *name, double value)
{
    parameter(m, id, name, 4, 0, NULL, 4);
    put_float(m, value);
    put_byte(m, 0);
}

/* Of one dimension, or of two if there are several columns; they hold numbers of 4 bytes, or words of 2. */
static inline void list_parameter(maker *m, int id, const char *name, int type, const double *values, int rows,
                                  int columns)
{
    const int size[2] = {rows, columns}, count = rows * columns;
    parameter(m, id, name, type, columns > 1 ? 2 : 1, size, (size_t)(type * count));
    for (int i = 0; i < count; i++)
        if (type == 4)
            put_float(m, values[i]);
        else
            put_word(m, (int)values[i]);
    put_byte(m, 0);
}

static inline void text_parameter(maker *m, int id, const char *name, const char *text, int width)
{
    const int size[2] = {width, (int)strlen(text) / width};
    parameter(m, id, name, -1, 2, size, strlen(text));
    put(m, text, strlen(text));
    put_byte(m, 0);
}

static inline void field_parameter(maker *m, const char *name, long value)
{
    const int two = 2;
    parameter(m, 3, name, 2, 1, &two, 4);
    put_word(m, (int)(value & 65535));
    put_word(m, (int)(value >> 16));
    put_byte(m, 0);
}

/* Where marker p is in frame f, in the file's unit. */
static inline double coordinate(int f, int p, int k)
{
    return k == 0 ? 100 * p + 0.5 * f : k == 1 ? 20 * f - p : -1000 + p;
}

static inline int is_missing(int f, int p)
{
    return (f + p) % 5 == 4;
}

static inline int sample(int f, int a)
{
    return -7 * (f + 1) + a;
}

static inline void put_frames(maker *m)
{
    for (int f = 0; f < m->frames; f++) {
        for (int p = 0; p < m->points; p++) {
            for (int k = 0; k < 3; k++) {
                double x = is_missing(f, p) ? 0 : coordinate(f, p, k);
                if (m->is_real)
                    put_float(m, x);
                else
                    put_word(m, (int)lround(x / m->scale));
            }
            if (m->is_real)
                put_float(m, is_missing(f, p) ? -1 : 258 + p);
            else
                put_word(m, is_missing(f, p) ? -1 : 258 + p);
        }
        for (int a = 0; a < m->analog; a++)
            if (m->is_real)
                put_float(m, sample(f, a));
            else
                put_word(m, sample(f, a));
    }
}

/* Header, parameters, frames. What is 0 or NULL gets a usual value. */
static inline void make(maker *m)
{
    m->processor = m->processor ? m->processor : PC;
    m->scale = m->scale ? m->scale : 0.1;
    m->rate = m->rate ? m->rate : 50;
    m->parameter_block = m->parameter_block ? m->parameter_block : 2;
    m->first = m->first ? m->first : 1;
    m->per_frame = m->per_frame ? m->per_frame : 1;
    size_t section = (size_t)(m->parameter_block - 1) * BLOCK;
    m->blocks = m->blocks ? m->blocks : 2;
    int data_block = m->parameter_block + m->blocks + m->gap;
    put_byte(m, m->parameter_block);
    put_byte(m, 0x50);
    put_word(m, m->points);
    put_word(m, m->analog);
    put_word(m, m->first);
    put_word(m, m->first + m->frames - 1);
    put_word(m, 0);
    put_float(m, m->is_real ? -m->scale : m->scale);
    put_word(m, data_block);
    put_word(m, m->per_frame);
    put_float(m, m->rate);
    while (m->length < section)
        put_byte(m, 0);
    put(m, "\1\120", 2);
    put_byte(m, m->blocks);
    put_byte(m, m->processor);
    word_parameter(m, 1, "USED", m->points); /* before its group */
    group(m, 1, "POINT");
    group(m, 2, "ANALOG");
    group(m, 3, "TRIAL");
    float_parameter(m, 1, "SCALE", m->is_real ? -m->scale : m->scale);
    float_parameter(m, 1, "RATE", m->rate);
    word_parameter(m, 1, "DATA_START", data_block);
    word_parameter(m, 1, "FRAMES", m->frames);
    word_parameter(m, 2, "USED", m->analog / m->per_frame);
    float_parameter(m, 2, "RATE", m->per_frame * m->rate);
    if (m->labels)
        text_parameter(m, 1, "LABELS", m->labels, 4);
    text_parameter(m, 1, "UNITS", m->unit ? m->unit : "mm", m->unit ? (int)strlen(m->unit) : 2);
    if (m->more)
        m->more(m);
    while (m->length < (size_t)(data_block - 1) * BLOCK)
        put_byte(m, 0);
    put_frames(m);
    pad(m);
}

/* ---- with analog samples, a force plate and events -------------------------------------------------------------------- */

enum { CHANNELS = 3, PER_FRAME = 4, POINTS = 2 };

static inline void plate_and_events(maker *m)
{
    static const double corners[12] = {0, 0, 0, 500, 0, 0, 500, 400, 0, 0, 400, 0}, origin[3] = {0, 0, -40};
    static const double scales[3] = {.5, .25, 2}, offsets[3] = {0, 7, -3}, channels[3] = {1, 2, 3};
    static const double times[4] = {0, .02, 0, .05}, type[1] = {4};
    text_parameter(m, 1, "DESCRIPTIONS", "firstother", 5);
    text_parameter(m, 1, "ANGLES", "BBBB", 4);
    list_parameter(m, 2, "SCALE", 4, scales, 3, 1);
    list_parameter(m, 2, "OFFSET", 2, offsets, 3, 1);
    text_parameter(m, 2, "LABELS", "Fx  Fy  EMG1", 4);
    text_parameter(m, 2, "UNITS", "N N V ", 2);
    group(m, 4, "FORCE_PLATFORM");
    word_parameter(m, 4, "USED", 1);
    list_parameter(m, 4, "TYPE", 2, type, 1, 1);
    list_parameter(m, 4, "CHANNEL", 2, channels, 3, 1);
    list_parameter(m, 4, "CORNERS", 4, corners, 3, 4);
    list_parameter(m, 4, "ORIGIN", 4, origin, 3, 1);
    group(m, 5, "EVENT");
    word_parameter(m, 5, "USED", 2);
    list_parameter(m, 5, "TIMES", 4, times, 2, 2);
    text_parameter(m, 5, "LABELS", "Foot StrikeFoot Off   ", 11);
}

/* Two points, three channels at four times the rate, 100 frames a second, millimetres. Release `data`. */
static inline maker made_with_analog(int first, int frames)
{
    maker m = {.is_real = 1, .points = POINTS, .frames = frames, .first = first, .rate = 100, .scale = 0.02};
    m.analog = CHANNELS * PER_FRAME;
    m.per_frame = PER_FRAME;
    m.labels = "AAAABBBB";
    m.blocks = 3;
    m.more = plate_and_events;
    make(&m);
    return m;
}

#endif
