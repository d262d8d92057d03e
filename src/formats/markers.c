/* Names of markers and units of length: see markers.h. */
#include "formats/markers.h"
#include "formats/format.h"

#include <stdio.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "formats/text/scan.h"

/* ---- names -------------------------------------------------------------------------------------------------------- */

static int is_blank(char c)
{
    return (unsigned char)c <= ' ';
}

int ulna_marker_name(const char *text, size_t length, char name[ULNA_MARKER_NAME])
{
    while (length && is_blank(*text)) {
        text++;
        length--;
    }
    while (length && is_blank(text[length - 1]))
        length--;
    int is_whole = ulna_word_copy((ulna_word){text, length}, name, ULNA_MARKER_NAME);
    for (char *c = name; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = '_';
    size_t kept = strlen(name); /* a cut may end behind a blank, a text behind a zero byte */
    while (kept && name[kept - 1] == ' ')
        name[--kept] = 0;
    return is_whole;
}

void ulna_marker_name_of(const ulna_recording *recording, int i, char name[ULNA_MARKER_NAME])
{
    const char *own = recording->names[i];
    const char *end = memchr(own, 0, ULNA_MARKER_NAME);
    ulna_marker_name(own, end ? (size_t)(end - own) : ULNA_MARKER_NAME, name);
    if (!name[0])
        snprintf(name, ULNA_MARKER_NAME, "point%d", i + 1);
}

void ulna_markers_renamed(const ulna_recording *recording,
                          void (*name_of)(const ulna_recording *, int, char name[ULNA_MARKER_NAME]),
                          ulna_remarks *remarks)
{
    char name[ULNA_MARKER_NAME], example[ULNA_MARKER_NAME] = "";
    int changed = 0, first = 0;
    for (int i = 0; i < recording->marker_count; i++) {
        name_of(recording, i, name);
        if (strncmp(name, recording->names[i], ULNA_MARKER_NAME) != 0 && !changed++) {
            first = i + 1;
            memcpy(example, name, sizeof example);
        }
    }
    if (changed)
        ulna_remarks_add(remarks, 0, -1,
                         "%d marker name%s changed to what the format can hold: marker %d is written as '%s'", changed,
                         changed == 1 ? " is" : "s are", first, example);
}

static int by_name(const void *a, const void *b, const void *context)
{
    const ulna_recording *recording = context;
    return strcmp(recording->names[*(const int *)a], recording->names[*(const int *)b]);
}

ulna_status ulna_markers_finish(ulna_recording *recording, ulna_remarks *remarks)
{
    int count = recording->marker_count, twice = 0;
    for (int i = 0; i < count; i++)
        if (!recording->names[i][0])
            snprintf(recording->names[i], ULNA_MARKER_NAME, "point%d", i + 1);
    if (count < 2)
        return ULNA_OK;
    int *order = ulna_allocate(&recording->allocator, (size_t)count, sizeof *order);
    if (!order)
        return ULNA_ERR_MEMORY;
    for (int i = 0; i < count; i++)
        order[i] = i;
    ulna_sort(order, (size_t)count, sizeof *order, by_name, recording);
    const char *example = "";
    for (int i = 1; i < count; i++)
        if (strcmp(recording->names[order[i - 1]], recording->names[order[i]]) == 0) {
            example = recording->names[order[i]];
            twice++;
        }
    if (twice)
        ulna_remarks_add(remarks, 0, -1, "%d %s the same name as another, such as '%s'; the first one is used", twice,
                         twice == 1 ? "marker has" : "markers have", example);
    ulna_release(&recording->allocator, order, (size_t)count, sizeof *order);
    return ULNA_OK;
}

ulna_status ulna_markers_zeros(const ulna_recording *recording, ulna_remarks *remarks)
{
    int count = recording->marker_count, frames = recording->frame_count, always = 0;
    int *zeros = ulna_allocate(&recording->allocator, (size_t)count, sizeof *zeros);
    if (count == 0 || frames == 0 || !zeros) {
        ulna_release(&recording->allocator, zeros, (size_t)count, sizeof *zeros);
        return count == 0 || frames == 0 ? ULNA_OK : ULNA_ERR_MEMORY;
    }
    for (int f = 0; f < frames; f++) {
        const double *x = ulna_recording_frame(recording, f);
        for (int m = 0; m < count; m++, x += 3)
            zeros[m] += x[0] == 0 && x[1] == 0 && x[2] == 0;
    }
    long long sometimes = 0;
    const char *example = "";
    for (int m = 0; m < count; m++) {
        sometimes += zeros[m] < frames ? zeros[m] : 0;
        if (zeros[m] == frames && !always++)
            example = recording->names[m];
    }
    if (sometimes)
        ulna_remarks_add(remarks, 0, -1, "%lld positions are exactly zero: they may be missing", sometimes);
    if (always)
        ulna_remarks_add(remarks, 0, -1, "%d %s at zero in every frame, such as '%s'", always,
                         always == 1 ? "marker is" : "markers are", example);
    ulna_release(&recording->allocator, zeros, (size_t)count, sizeof *zeros);
    return ULNA_OK;
}

/* ---- units -------------------------------------------------------------------------------------------------------- */

/* Other names are separated by blanks. "mete" is "meters" in the four characters that C3D often has. */
static const struct {
    double metres;
    const char *name, *others;
} units[] = {
    {1, "m", "mete metr meter meters metre metres"},
    {1e-3, "mm", "mill millimeter millimeters millimetre millimetres"},
    {1e-2, "cm", "cent centimeter centimeters centimetre centimetres"},
    {0.1, "dm", "decimeter decimeters decimetre decimetres"},
    {1e-6, "um", "\xC2\xB5m \xCE\xBCm micrometers micrometres"}, /* with the micro sign, and with mu */
    {1e3, "km", ""},
    {ULNA_INCH_M, "in", "inch inches"},
    {0.3048, "ft", "foot feet"},
    {0.9144, "yd", ""},
};

double ulna_unit_metres(const char *name)
{
    ulna_word word = {name, name ? strlen(name) : 0};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ulna_word_is_like(word, units[i].name) || ulna_word_is_listed(word, units[i].others))
            return units[i].metres;
    return 0;
}

const char *ulna_length_unit_name(double metres)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (units[i].metres == metres)
            return units[i].name;
    return NULL;
}

double ulna_markers_unit(const char *name, const ulna_read_options *options, int line, ulna_remarks *remarks)
{
    double known = ulna_unit_metres(name);
    if (options->unit_m > 0 || known > 0)
        return options->unit_m > 0 ? options->unit_m : known;
    if (name[0])
        ulna_remarks_add(remarks, line, -1, "unit of length '%s' is unknown; millimetres are assumed", name);
    else
        ulna_remarks_add(remarks, line, -1, "no unit of length is given; millimetres are assumed");
    return 1e-3;
}

ulna_status ulna_named_unit(const ulna_writing *writing, const char *format, double usual, double *unit,
                            ulna_error *error)
{
    *unit = writing->options->unit_m > 0 ? writing->options->unit_m : usual;
    return ulna_length_unit_name(*unit)
               ? ULNA_OK
               : ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                           "a %s file states its unit of length by name, but a unit of %g m has no name", format,
                           *unit);
}
