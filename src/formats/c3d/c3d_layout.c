/*
 * How the frames of a C3D file are laid out.
 *
 * Header and parameters tell the same things twice: how many points, frames and analog samples there are, whether points are
 * floats or integers times a scale, where the data begin. Where they disagree, what fits the length of the file is believed;
 * else the parameters for the number of points, and the header for scale and place, as most programs read them (in an old
 * file of Motion Analysis, whose scales disagree, only the header's gives people their height). It is remarked upon.
 *
 * Long takes: header and POINT:FRAMES hold 16 bits: 65535 (or -1) for more, or the count without its higher bits.
 * TRIAL:ACTUAL_START_FIELD and _END_FIELD hold 32 bits, POINT:LONG_FRAMES a float.
 */
#include <limits.h>

#include "base/base.h"
#include "formats/c3d/c3d.h"

enum { MOST_CHOICES = 5, WORD_LIMIT = 65535 };

typedef struct c3d_choices { /* what is told, the most trustworthy first */
    double value[MOST_CHOICES];
    int count;
} c3d_choices;

typedef struct c3d_told {
    c3d_choices points, scale, start, analog, frames;
} c3d_told;

/* ---- what is told ------------------------------------------------------------------------------------------------- */

/* Whole numbers from `least` on count, and each once. */
static void tell(c3d_choices *choices, double value, double least)
{
    if (!(value >= least) || value > INT_MAX / 4 || value != floor(value))
        return;
    for (int i = 0; i < choices->count; i++)
        if (choices->value[i] == value)
            return;
    choices->value[choices->count++] = value;
}

static void tell_scale(c3d_choices *choices, double value)
{
    if (isfinite(value) && value != 0)
        choices->value[choices->count++] = value;
}

static c3d_told what_is_told(const ulna_c3d_file *file, const ulna_c3d_parameters *p)
{
    c3d_told told = {0};
    double channels = ulna_c3d_number(file, &p->analog_used), first = ulna_c3d_field(file, &p->first_field);
    double ratio = ulna_c3d_number(file, &p->analog_rate) / ulna_c3d_number(file, &p->rate);
    tell(&told.points, ulna_c3d_number(file, &p->used), 0);
    tell(&told.points, ulna_c3d_header_word(file, ULNA_C3D_AT_POINTS), 0);
    tell_scale(&told.scale, ulna_c3d_float(file->data + ULNA_C3D_AT_SCALE, file->processor));
    tell_scale(&told.scale, ulna_c3d_number(file, &p->scale));
    tell(&told.start, ulna_c3d_header_word(file, ULNA_C3D_AT_DATA), 2);
    tell(&told.start, ulna_c3d_number(file, &p->data_start), 2);
    tell(&told.analog, ulna_c3d_header_word(file, ULNA_C3D_AT_ANALOG), 0);
    tell(&told.analog, channels * ulna_c3d_header_word(file, ULNA_C3D_AT_SAMPLES), 0);
    tell(&told.analog, channels * round(ratio), 0);
    tell(&told.analog, 0, 0);
    tell(&told.frames, ulna_c3d_field(file, &p->last_field) - first + 1, 1);
    tell(&told.frames, ulna_c3d_number(file, &p->long_frames), 1);
    tell(&told.frames, ulna_c3d_number(file, &p->frames), 1);
    tell(&told.frames,
         ulna_c3d_header_word(file, ULNA_C3D_AT_LAST) - ulna_c3d_header_word(file, ULNA_C3D_AT_FIRST) + 1.0, 1);
    return told;
}

/* ---- what fits ---------------------------------------------------------------------------------------------------- */

static void make_layout(double points, double scale, double start, double analog, ulna_c3d_layout *layout)
{
    size_t word = scale < 0 ? 4 : 2;
    *layout = (ulna_c3d_layout){.points = (int)points, .analog = (int)analog, .is_real = scale < 0};
    layout->scale = scale < 0 ? 1 : scale;
    layout->start = ((size_t)start - 1) * ULNA_C3D_BLOCK;
    layout->frame_bytes = (4 * (size_t)layout->points + (size_t)layout->analog) * word;
}

/* How many frames the file has room for. Points or samples that could not be in it at all leave none, which also keeps the
 * product of frame_bytes from overflowing where size_t is short. */
static double room_of(const ulna_c3d_file *file, const ulna_c3d_layout *layout)
{
    if (!layout->frame_bytes || layout->start >= file->length || (size_t)layout->points > file->length / 8 ||
        (size_t)layout->analog > file->length / 2)
        return 0;
    size_t frames = (file->length - layout->start) / layout->frame_bytes;
    return (double)frames;
}

/* Do so many frames fill the file, but for what pads the last block? */
static int fills(const ulna_c3d_file *file, const ulna_c3d_layout *layout, double frames)
{
    double left = (double)file->length - (double)layout->start - frames * (double)layout->frame_bytes;
    return frames > 0 && left >= 0 && left < ULNA_C3D_BLOCK;
}

/* A told count that fills the file, or one of which only the lower 16 bits were told; else 0. */
static double filling_frames(const ulna_c3d_file *file, const ulna_c3d_layout *layout, const c3d_choices *told)
{
    double room = room_of(file, layout);
    for (int i = 0; i < told->count && room > 0; i++)
        if (fills(file, layout, told->value[i]))
            return told->value[i];
    for (int i = 0; i < told->count && room > WORD_LIMIT; i++) {
        double whole = told->value[i] + (WORD_LIMIT + 1.0) * floor((room - told->value[i]) / (WORD_LIMIT + 1.0));
        if (fills(file, layout, whole))
            return whole;
    }
    return 0;
}

/* The first combination that fills the file, else the most trustworthy one. */
static ulna_c3d_layout choose_layout(const ulna_c3d_file *file, const c3d_told *told)
{
    ulna_c3d_layout first = {0}, layout;
    int tried = 0;
    for (int a = 0; a < told->analog.count; a++)
        for (int s = 0; s < told->start.count; s++)
            for (int k = 0; k < told->scale.count; k++)
                for (int p = 0; p < told->points.count; p++) {
                    make_layout(told->points.value[p], told->scale.value[k], told->start.value[s],
                                told->analog.value[a], &layout);
                    layout.frames = filling_frames(file, &layout, &told->frames);
                    if (layout.frames > 0)
                        return layout;
                    first = tried++ ? first : layout;
                }
    return first;
}

static void remark_on_layout(const ulna_c3d_file *file, const c3d_told *told, const ulna_c3d_layout *layout)
{
    const size_t block = layout->start / ULNA_C3D_BLOCK + 1;
    const double start = (double)block;
    if (told->points.count > 1)
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_POINTS,
                         "POINT:USED tells of %.0f points, the header of %.0f; %d are read", told->points.value[0],
                         told->points.value[1], layout->points);
    double scale = told->scale.value[0], other = told->scale.value[told->scale.count - 1];
    if ((scale < 0) != (other < 0) || (!layout->is_real && fabs(scale - other) > 1e-6 * scale))
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_SCALE,
                         "the header's scale is %g, POINT:SCALE %g; points are read as %s of %g", scale, other,
                         layout->is_real ? "floats" : "integers", layout->scale);
    if (told->start.count > 1)
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_DATA,
                         "the header puts the data at block %.0f, POINT:DATA_START at %.0f; they are read from %.0f",
                         told->start.value[0], told->start.value[1], start);
    if (layout->analog != ulna_c3d_header_word(file, ULNA_C3D_AT_ANALOG))
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_ANALOG,
                         "the header tells of %d analog samples a frame; the length of the file speaks for %d",
                         ulna_c3d_header_word(file, ULNA_C3D_AT_ANALOG), layout->analog);
}

/* ---- how many frames ---------------------------------------------------------------------------------------------- */

/* Less the frames of nothing but zeros that fill the last block. */
static double without_padding(const ulna_c3d_file *file, const ulna_c3d_layout *layout, double frames)
{
    size_t end = layout->start + (size_t)frames * layout->frame_bytes, used = file->length;
    while (used > end - layout->frame_bytes && file->length - used < ULNA_C3D_BLOCK && file->data[used - 1] == 0) {
        used--;
        if (used == end - layout->frame_bytes) {
            end = used;
            frames--;
        }
    }
    return frames;
}

static int choose_frames(const ulna_c3d_file *file, const c3d_choices *told, const ulna_c3d_layout *layout)
{
    double room = room_of(file, layout), best = layout->frames, most = 0, least = INFINITY;
    int is_full = 0; /* 65535 says "more than fits here" */
    for (int i = 0; i < told->count; i++) {
        double value = told->value[i];
        most = value > most ? value : most;
        least = value < least ? value : least;
        is_full |= value == WORD_LIMIT;
    }
    is_full |= ulna_c3d_header_word(file, ULNA_C3D_AT_LAST) == WORD_LIMIT;
    if (room == 0)
        return 0;
    if (best == 0) /* nothing fills the file: the most that it has room for */
        for (int i = 0; i < told->count; i++)
            if (told->value[i] <= room && told->value[i] > best)
                best = told->value[i];
    if (layout->frames == 0 && is_full && best <= WORD_LIMIT &&
        (room - WORD_LIMIT) * (double)layout->frame_bytes >= ULNA_C3D_BLOCK)
        best = without_padding(file, layout, room);
    if (best == 0) {
        best = room;
        if (most > 0)
            ulna_remarks_add(file->remarks, 0, (long long)file->length,
                             "the file ends early: %.0f frames are announced, %.0f are there", most, best);
        else
            ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_FIRST, "no count of frames is told; %.0f are there", best);
    } else if ((most != best || least != best) && !(is_full && best > WORD_LIMIT))
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_FIRST,
                         "header and parameters tell of %.0f to %.0f frames; %.0f are read", least, most, best);
    return best < INT_MAX ? (int)best : INT_MAX;
}

ulna_status ulna_c3d_find_layout(const ulna_c3d_file *file, const ulna_c3d_parameters *parameters,
                                 ulna_c3d_layout *layout, int *frames, ulna_error *error)
{
    c3d_told told = what_is_told(file, parameters);
    if (told.scale.count == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "neither header nor POINT:SCALE tells the scale of the points");
    if (told.start.count == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "neither header nor POINT:DATA_START tells where the data begin");
    *layout = choose_layout(file, &told);
    remark_on_layout(file, &told, layout);
    *frames = choose_frames(file, &told.frames, layout);
    if (*frames == 0 && layout->points > 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "%d points are announced, but the file ends before its first frame",
                         layout->points);
    return ULNA_OK;
}
