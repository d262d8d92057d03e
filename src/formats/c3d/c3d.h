/*
 * c3d.h (private): the binary layout of C3D (the C3D user guide of Motion Lab Systems), and its parameters.
 *
 * Blocks of 512 bytes. The first is the header: words (16 bits, counted from 1 in the guide, from byte 0 here) that repeat
 * what matters of the parameters. Parameters are named arrays in named groups. Frames follow: X, Y, Z and a fourth number per
 * point, then analog samples. Numbers are of one of three kinds of machine, which the parameter section names.
 */
#ifndef ULNA_SRC_C3D_H
#define ULNA_SRC_C3D_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "formats/format.h"

enum {
    ULNA_C3D_BLOCK = 512,
    ULNA_C3D_MAGIC = 0x50,
    ULNA_C3D_PC = 84,  /* little-endian, IEEE */
    ULNA_C3D_DEC = 85, /* little-endian words, VAX F floats */
    ULNA_C3D_SGI = 86, /* big-endian, IEEE */

    /* bytes of the header */
    ULNA_C3D_AT_POINTS = 2,
    ULNA_C3D_AT_ANALOG = 4, /* samples per frame of points, of all channels */
    ULNA_C3D_AT_FIRST = 6,
    ULNA_C3D_AT_LAST = 8,
    ULNA_C3D_AT_GAP = 10, /* longest gap that was filled, in frames */
    ULNA_C3D_AT_SCALE = 12,
    ULNA_C3D_AT_DATA = 16,    /* first block of the data, from 1 */
    ULNA_C3D_AT_SAMPLES = 18, /* per frame of points, of one channel */
    ULNA_C3D_AT_RATE = 20,
    ULNA_C3D_AT_EVENTS = 298, /* key, number, times, flags, labels of four letters */
    ULNA_C3D_EVENT_BYTES = 170,
    ULNA_C3D_EVENT_KEY = 12345,
    ULNA_C3D_MOST_EVENTS = 18,

    /* groups as the writer numbers them; others follow */
    ULNA_C3D_POINT = 1,
    ULNA_C3D_TRIAL = 2,
    ULNA_C3D_ANALOG = 3,
    ULNA_C3D_OWN_GROUPS = 4,

    ULNA_C3D_MOST_LABELS = 255, /* in one parameter */
    ULNA_C3D_LABEL_LISTS = 257  /* LABELS, LABELS2, ...: enough for 65,535 points */
};

typedef struct ulna_c3d_file {
    const unsigned char *data;
    size_t length;
    int processor;
    ulna_remarks *remarks;
    size_t section, section_end; /* the list of parameters: its first entry, and where it must end */
} ulna_c3d_file;

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

static inline int ulna_c3d_word(const unsigned char *b, int processor) /* 0 .. 65535 */
{
    return processor == ULNA_C3D_SGI ? b[0] << 8 | b[1] : b[0] | b[1] << 8;
}

static inline int ulna_c3d_signed(const unsigned char *b, int processor)
{
    int word = ulna_c3d_word(b, processor);
    return word >= 32768 ? word - 65536 : word;
}

/* VAX F has 8 bits of exponent in excess of 128 and 23 of a fraction from 1/2, its words swapped: a quarter of what the bits
 * mean to IEEE. Exponent 0 is zero, or no number if the sign is set; there are no infinities. */
static inline double ulna_c3d_float(const unsigned char *b, int processor)
{
    uint32_t bits;
    float value;
    if (processor == ULNA_C3D_SGI)
        bits = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    else if (processor == ULNA_C3D_DEC)
        bits = (uint32_t)b[1] << 24 | (uint32_t)b[0] << 16 | (uint32_t)b[3] << 8 | b[2];
    else
        bits = (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
    if (processor == ULNA_C3D_DEC) {
        uint32_t exponent = bits >> 23 & 255;
        if (exponent == 0)
            return bits >> 31 ? (double)NAN : 0;
        if (exponent == 255) {
            double large = ldexp((double)(bits & 0x7fffff) + 0x800000, 255 - 128 - 24);
            return bits >> 31 ? -large : large;
        }
    }
    memcpy(&value, &bits, sizeof value);
    return processor == ULNA_C3D_DEC ? 0.25 * (double)value : (double)value;
}

static inline void ulna_c3d_store_word(uint32_t value, unsigned char out[2])
{
    out[0] = (unsigned char)(value & 255);
    out[1] = (unsigned char)(value >> 8 & 255);
}

/* As a PC has it. */
static inline void ulna_c3d_store_float(float value, unsigned char out[4])
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    for (int k = 0; k < 4; k++)
        out[k] = (unsigned char)(bits >> 8 * k);
}

/* ---- parameters --------------------------------------------------------------------------------------------------- */

typedef struct ulna_c3d_parameter {
    int type; /* -1 characters, 1 bytes, 2 words, 4 floats; 0: not there */
    size_t at, bytes;
    int width, count; /* of texts: characters each, and how many */
} ulna_c3d_parameter;

typedef struct ulna_c3d_parameters {
    ulna_c3d_parameter used, scale, rate, data_start, frames, long_frames, units, x_screen, y_screen; /* POINT */
    ulna_c3d_parameter angles, forces, moments, powers, scalars; /* POINT, of Vicon */
    ulna_c3d_parameter labels[ULNA_C3D_LABEL_LISTS];
    ulna_c3d_parameter first_field, last_field;                 /* TRIAL */
    ulna_c3d_parameter analog_used, analog_rate, analog_format; /* ANALOG */
    ulna_c3d_parameter company, software;                       /* MANUFACTURER */
} ulna_c3d_parameters;

typedef struct ulna_c3d_entry {
    size_t at, name, length, link; /* `link`: where the distance to the next entry is stored, counted from there */
    int id;                        /* negative: a group */
    size_t next;                   /* 0: this is the last one */
} ulna_c3d_entry;

/* The entry of the list at `at`; 0 at the end of the list, -1 with a remark (`remarks` may be NULL) if it is broken. */
int ulna_c3d_parse_entry(const ulna_c3d_file *file, size_t at, ulna_remarks *remarks, ulna_c3d_entry *entry);
/* The array behind a parameter's name: type, dimensions, data, which must end before `end`. 0 if it does not fit. */
int ulna_c3d_parse_array(const ulna_c3d_file *file, size_t at, size_t end, ulna_c3d_parameter *found);
/* Walks the list of groups and parameters. A break in it is remarked upon, and what was read before counts. `announced` is
 * where the section should end. */
void ulna_c3d_read_parameters(const ulna_c3d_file *file, size_t announced, ulna_c3d_parameters *parameters);
/* The first number of a parameter, words from 0 to 65535; NaN if it has none. */
double ulna_c3d_number(const ulna_c3d_file *file, const ulna_c3d_parameter *parameter);
/* TRIAL's frame numbers: 32 bits in two words, the lower one first. */
double ulna_c3d_field(const ulna_c3d_file *file, const ulna_c3d_parameter *parameter);
/* Text `index` of a list, without what pads it; empty if it is not there. Returns 1 if nothing was cut. */
int ulna_c3d_text(const ulna_c3d_file *file, const ulna_c3d_parameter *parameter, int index,
                  char text[ULNA_MARKER_NAME]);

/* ---- what is not points -------------------------------------------------------------------------------------------- */

/* Where the frames are. */
typedef struct ulna_c3d_data {
    int points, analog, is_real, frames;
    double scale; /* of the residuals of points */
    size_t start, frame_bytes;
} ulna_c3d_data;

/* All as a PC with floats writes it. */
typedef struct ulna_c3d_extras {
    ulna_extras base;
    ulna_allocator allocator;
    int points, first_frame;
    double frame_seconds, unit_m; /* of the points */
    char up;
    int frames, per_frame, channels; /* analog samples: frames x per_frame, of so many channels */
    float *samples;
    float *words;         /* frames x points: residual and cameras of each, the residual in units of `scale` */
    double scale;         /* above 0 */
    double analog_rate;   /* NaN if it is not stated */
    ulna_text groups;     /* entries of a parameter section, with the writer's numbers of groups */
    ulna_text parameters; /* the same, without those that the writer states itself */
    char has_group[ULNA_C3D_OWN_GROUPS], has_screen, has_gen_scale;
    int longest_gap;
    unsigned char events[ULNA_C3D_EVENT_BYTES]; /* of the header; the key is 0 if it has none */
} ulna_c3d_extras;

/* NULL if they are those of another format. */
static inline const ulna_c3d_extras *ulna_c3d_extras_of(const ulna_extras *extras)
{
    return extras && extras->format == ULNA_FORMAT_C3D ? (const ulna_c3d_extras *)extras : NULL;
}

ulna_status ulna_c3d_read_extras(const ulna_c3d_file *file, const ulna_c3d_parameters *p, const ulna_c3d_data *data,
                                 ulna_content *content);

#endif
