/*
 * Reads the points of C3D; c3d_extras.c reads the rest where that is asked for.
 *
 *   missing      the fourth number of a point is negative, or the position is not a number. If that is so of all points, but
 *                positions are there, the program that wrote it did not care: they are read
 *   first frame  TRIAL:ACTUAL_START_FIELD, else the header's
 *   up           the axis of POINT:Y_SCREEN, if there is one
 *
 * Layout. Header and parameters state the same things twice: how many points, frames and analog samples there are, whether points
 * are floats or integers times a scale, where the data begin. Where they disagree, what fits the length of the file is believed;
 * else the parameters for the number of points, and the header for scale and place, as most programs read them (in an old
 * file of Motion Analysis, whose scales disagree, only the header's gives people their height). It is remarked upon.
 *
 * Long takes: header and POINT:FRAMES hold 16 bits: 65535 (or -1) for more, or the count without its higher bits.
 * TRIAL:ACTUAL_START_FIELD and _END_FIELD hold 32 bits, POINT:LONG_FRAMES a float.
 */
#include <limits.h>
#include <stdio.h>

#include "base/base.h"
#include "formats/c3d/c3d.h"
#include "formats/format.h"
#include "formats/markers.h"
#include "formats/text/scan.h"
#include "motion/convert.h"

enum { MOST_CHOICES = 5, WORD_LIMIT = 65535 };

static int header_word(const ulna_c3d_file *file, int at)
{
    return ulna_c3d_word(file->data + at, file->processor);
}

/* One way to understand the file. */
typedef struct c3d_layout {
    int points, analog, is_real;
    double scale; /* of integers; 1 for floats */
    double residual_scale;
    double frames; /* that fill the file, or 0 */
    int cut;       /* frames that are told beyond the end of the file */
    size_t start, frame_bytes;
} c3d_layout;

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
    tell(&told.points, header_word(file, ULNA_C3D_AT_POINTS), 0);
    tell_scale(&told.scale, ulna_c3d_float(file->data + ULNA_C3D_AT_SCALE, file->processor));
    tell_scale(&told.scale, ulna_c3d_number(file, &p->scale));
    tell(&told.start, header_word(file, ULNA_C3D_AT_DATA), 2);
    tell(&told.start, ulna_c3d_number(file, &p->data_start), 2);
    tell(&told.analog, header_word(file, ULNA_C3D_AT_ANALOG), 0);
    tell(&told.analog, channels * header_word(file, ULNA_C3D_AT_SAMPLES), 0);
    tell(&told.analog, channels * round(ratio), 0);
    tell(&told.analog, 0, 0);
    tell(&told.frames, ulna_c3d_field(file, &p->last_field) - first + 1, 1);
    tell(&told.frames, ulna_c3d_number(file, &p->long_frames), 1);
    tell(&told.frames, ulna_c3d_number(file, &p->frames), 1);
    tell(&told.frames, header_word(file, ULNA_C3D_AT_LAST) - header_word(file, ULNA_C3D_AT_FIRST) + 1.0, 1);
    return told;
}

/* ---- what fits ---------------------------------------------------------------------------------------------------- */

static void make_layout(double points, double scale, double start, double analog, c3d_layout *layout)
{
    size_t word = scale < 0 ? 4 : 2;
    *layout = (c3d_layout){.points = (int)points, .analog = (int)analog, .is_real = scale < 0};
    layout->scale = scale < 0 ? 1 : scale;
    layout->residual_scale = fabs(scale);
    layout->start = ((size_t)start - 1) * ULNA_C3D_BLOCK;
    layout->frame_bytes = (4 * (size_t)layout->points + (size_t)layout->analog) * word;
}

/* How many frames the file has room for. Points or samples that could not be in it at all leave none, which also keeps the
 * product of frame_bytes from overflowing where size_t is short. */
static double room_of(const ulna_c3d_file *file, const c3d_layout *layout)
{
    if (!layout->frame_bytes || layout->start >= file->length || (size_t)layout->points > file->length / 8 ||
        (size_t)layout->analog > file->length / 2)
        return 0;
    size_t frames = (file->length - layout->start) / layout->frame_bytes;
    return (double)frames;
}

/* Do so many frames fill the file, but for what pads the last block? */
static int fills(const ulna_c3d_file *file, const c3d_layout *layout, double frames)
{
    double left = (double)file->length - (double)layout->start - frames * (double)layout->frame_bytes;
    return frames > 0 && left >= 0 && left < ULNA_C3D_BLOCK;
}

/* A told count that fills the file, or one of which only the lower 16 bits were told; else 0. */
static double filling_frames(const ulna_c3d_file *file, const c3d_layout *layout, const c3d_choices *told)
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
static c3d_layout choose_layout(const ulna_c3d_file *file, const c3d_told *told)
{
    c3d_layout first = {0}, layout;
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

static void remark_on_layout(const ulna_c3d_file *file, const c3d_told *told, const c3d_layout *layout)
{
    const size_t block = layout->start / ULNA_C3D_BLOCK + 1;
    const double start = (double)block;
    if (told->points.count > 1)
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_POINTS,
                         "POINT:USED states %.0f points, the header %.0f; %d are read", told->points.value[0],
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
    if (layout->analog != header_word(file, ULNA_C3D_AT_ANALOG))
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_ANALOG,
                         "the header states %d analog samples per frame; the length of the file fits %d, which is used",
                         header_word(file, ULNA_C3D_AT_ANALOG), layout->analog);
}

/* ---- how many frames ---------------------------------------------------------------------------------------------- */

/* Less the frames of nothing but zeros that fill the last block. */
static double without_padding(const ulna_c3d_file *file, const c3d_layout *layout, double frames)
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

static int choose_frames(const ulna_c3d_file *file, const c3d_choices *told, c3d_layout *layout)
{
    double room = room_of(file, layout), best = layout->frames, most = 0, least = INFINITY;
    int is_full = 0; /* 65535 says "more than fits here" */
    for (int i = 0; i < told->count; i++) {
        double value = told->value[i];
        most = value > most ? value : most;
        least = value < least ? value : least;
        is_full |= value == WORD_LIMIT;
    }
    is_full |= header_word(file, ULNA_C3D_AT_LAST) == WORD_LIMIT;
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
        layout->cut = most - room < INT_MAX ? (int)fmax(most - room, 0) : INT_MAX;
        if (most > 0)
            ulna_remarks_add(file->remarks, 0, (long long)file->length,
                             "the file ends early: %.0f frames are stated, %.0f are present", most, best);
        else
            ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_FIRST,
                             "the number of frames is not stated; %.0f are present", best);
    } else if ((most != best || least != best) && !(is_full && best > WORD_LIMIT))
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_FIRST,
                         "header and parameters state %.0f to %.0f frames; %.0f are read", least, most, best);
    return best < INT_MAX ? (int)best : INT_MAX;
}

/* From header, parameters and the length of the file. `frames` are as many as are there. */
static ulna_status find_layout(const ulna_c3d_file *file, const ulna_c3d_parameters *parameters, c3d_layout *layout,
                               int *frames, ulna_error *error)
{
    c3d_told told = what_is_told(file, parameters);
    if (told.scale.count == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "neither header nor POINT:SCALE gives the scale of the points");
    if (told.start.count == 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "neither header nor POINT:DATA_START says where the data begin");
    *layout = choose_layout(file, &told);
    remark_on_layout(file, &told, layout);
    *frames = choose_frames(file, &told.frames, layout);
    if (*frames == 0 && layout->points > 0)
        return ulna_fail(error, ULNA_ERR_PARSE, "%d points are stated, but the file ends before its first frame",
                         layout->points);
    return ULNA_OK;
}

/* ---- numbers of frames --------------------------------------------------------------------------------------------- */

static int first_frame(const ulna_c3d_file *file, const ulna_c3d_parameters *p)
{
    double trial = ulna_c3d_field(file, &p->first_field);
    return trial >= 1 && trial <= INT_MAX && trial == floor(trial) ? (int)trial : header_word(file, ULNA_C3D_AT_FIRST);
}

#define HIGHEST_RATE 1e5 /* frames per second; motion capture has up to a few thousand */

static double frame_rate(const ulna_c3d_file *file, const ulna_c3d_parameters *p)
{
    double rate = ulna_c3d_number(file, &p->rate);
    if (!(rate > 0) || !isfinite(rate))
        rate = ulna_c3d_float(file->data + ULNA_C3D_AT_RATE, file->processor);
    if (rate > HIGHEST_RATE)
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_RATE, "the frame rate is %g per second: no camera is so fast",
                         rate);
    if (rate > 0 && isfinite(rate) && isfinite(1 / rate))
        return rate;
    ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_RATE,
                     "the frame rate is %g, which is not valid; it is treated as unknown", rate);
    return 0;
}

/* ---- units, axes, names ------------------------------------------------------------------------------------------- */

/* "+Z" is z, "-Z" is z and negative; 0 for anything else. */
static char axis_of(const ulna_c3d_file *file, const ulna_c3d_parameter *screen, int *is_negative)
{
    char text[ULNA_MARKER_NAME];
    ulna_c3d_text(file, screen, 0, text);
    const char *at = text + (text[0] == '+' || text[0] == '-');
    *is_negative = text[0] == '-';
    return (char)(*at >= 'X' && *at <= 'Z' ? *at - 'X' + 'x' : *at >= 'x' && *at <= 'z' ? *at : 0);
}

static char up_of(const ulna_c3d_file *file, const ulna_c3d_parameters *p)
{
    int is_down, is_left;
    char up = axis_of(file, &p->y_screen, &is_down), right = axis_of(file, &p->x_screen, &is_left);
    if (up && (is_down || up == right)) {
        ulna_remarks_add(file->remarks, 0, (long long)p->y_screen.at,
                         is_down ? "POINT:Y_SCREEN states that %c points down; the up axis is treated as unknown"
                                 : "POINT:X_SCREEN and Y_SCREEN are both %c; the up axis is treated as unknown",
                         up);
        return 0;
    }
    return up;
}

static void describe(const ulna_c3d_file *file, const ulna_c3d_parameters *p, const c3d_layout *layout,
                     const ulna_read_options *options, ulna_source *source)
{
    char unit[ULNA_MARKER_NAME], maker[ULNA_MARKER_NAME], short_unit[12], short_maker[32];
    ulna_c3d_text(file, &p->units, 0, unit);
    ulna_c3d_text(file, p->software.type ? &p->software : &p->company, 0, maker);
    ulna_word_copy((ulna_word){unit, strlen(unit)}, short_unit, sizeof short_unit);
    ulna_word_copy((ulna_word){maker, strlen(maker)}, short_maker, sizeof short_maker);
    *source = (ulna_source){.unit_m = ulna_markers_unit(unit, options, 0, file->remarks), .up = up_of(file, p)};
    snprintf(source->text, sizeof source->text, "%s %s, %s%s%s",
             file->processor == ULNA_C3D_PC    ? "PC"
             : file->processor == ULNA_C3D_DEC ? "DEC"
                                               : "SGI",
             layout->is_real ? "floats" : "integers", unit[0] ? short_unit : "no unit", maker[0] ? ", " : "",
             short_maker);
}

/* Vicon lists results of its models among the points: they are no positions. */
static void remark_on_results(const ulna_c3d_file *file, const ulna_c3d_parameters *p)
{
    const struct {
        const char *name;
        const ulna_c3d_parameter *list;
    } lists[] = {{"ANGLES", &p->angles},
                 {"FORCES", &p->forces},
                 {"MOMENTS", &p->moments},
                 {"POWERS", &p->powers},
                 {"SCALARS", &p->scalars}};
    char found[120] = "";
    size_t length = 0;
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        int count = 0;
        char text[ULNA_MARKER_NAME];
        for (int i = 0; i < lists[k].list->count; i++) {
            ulna_c3d_text(file, lists[k].list, i, text);
            count += text[0] != 0;
        }
        if (count)
            length += (size_t)snprintf(found + length, sizeof found - length, "%s%s (%d)", length ? ", " : "",
                                       lists[k].name, count);
    }
    if (length)
        ulna_remarks_add(file->remarks, 0, -1, "points that are not positions are listed in POINT:%s", found);
}

static void read_labels(const ulna_c3d_file *file, const ulna_c3d_parameters *p, ulna_recording *recording)
{
    int made = 0, points = recording->marker_count, nameless = 0, cut = 0;
    for (int k = 0; k < ULNA_C3D_LABEL_LISTS && p->labels[k].type == -1; k++)
        for (int i = 0; i < p->labels[k].count && made < points; i++, made++)
            cut += !ulna_c3d_text(file, &p->labels[k], i, recording->names[made]);
    for (int i = 0; i < points; i++)
        nameless += !recording->names[i][0];
    if (nameless)
        ulna_remarks_add(file->remarks, 0, -1, "%d of %d points %s no label: called point1, point2, ... by number",
                         nameless, points, nameless == 1 ? "has" : "have");
    if (cut)
        ulna_remarks_add(file->remarks, 0, -1, "%d labels are longer than %d characters and were cut", cut,
                         ULNA_MARKER_NAME - 1);
}

/* ---- frames ------------------------------------------------------------------------------------------------------- */

typedef struct c3d_counts {
    long long seen, unmarked; /* positions; positions that are not zero but marked as missing */
    long long odd, zero;      /* that are not numbers; that are exactly zero */
} c3d_counts;

/* Written once and compiled for each kind of number: `processor` and `is_real` are constants where it is called. */
static inline void read_points(const unsigned char *from, int points, int processor, int is_real, double scale,
                               int trust, double *out, c3d_counts *counts)
{
    size_t word = is_real ? 4 : 2;
    c3d_counts n = *counts; /* in registers */
    for (int m = 0; m < points; m++, from += 4 * word, out += 3) {
        double x[3];
        for (size_t k = 0; k < 3; k++)
            x[k] = is_real ? ulna_c3d_float(from + 4 * k, processor) : ulna_c3d_signed(from + 2 * k, processor);
        int is_marked = is_real ? ulna_c3d_float(from + 12, processor) < 0 : ulna_c3d_signed(from + 6, processor) < 0;
        double size = fabs(x[0]) + fabs(x[1]) + fabs(x[2]);      /* far from overflow */
        if (!is_marked && size > 0 && size < (double)INFINITY) { /* as nearly all are */
            n.seen++;
            out[0] = x[0] * scale;
            out[1] = x[1] * scale;
            out[2] = x[2] * scale;
            continue;
        }
        int is_odd = !(size < (double)INFINITY), is_zero = size == 0;
        int is_missing = is_odd | (is_marked & (trust | is_zero));
        n.odd += is_odd & !is_marked;
        n.unmarked += is_marked & !is_odd & !is_zero;
        n.seen += !is_missing;
        n.zero += is_zero & !is_missing;
        for (int k = 0; k < 3; k++)
            out[k] = is_missing ? (double)NAN : x[k] * scale;
    }
    *counts = n;
}

static c3d_counts read_frames(const ulna_c3d_file *file, const c3d_layout *layout, double scale, int trust,
                              ulna_recording *recording)
{
    c3d_counts counts = {0};
    int kind = file->processor, n = layout->points;
    for (int f = 0; n > 0 && f < recording->frame_count; f++) {
        const unsigned char *from = file->data + layout->start + (size_t)f * layout->frame_bytes;
        double *out = ulna_recording_frame(recording, f);
        if (layout->is_real && kind == ULNA_C3D_PC)
            read_points(from, n, ULNA_C3D_PC, 1, scale, trust, out, &counts);
        else if (layout->is_real && kind == ULNA_C3D_SGI)
            read_points(from, n, ULNA_C3D_SGI, 1, scale, trust, out, &counts);
        else if (layout->is_real)
            read_points(from, n, ULNA_C3D_DEC, 1, scale, trust, out, &counts);
        else if (kind == ULNA_C3D_SGI)
            read_points(from, n, ULNA_C3D_SGI, 0, scale, trust, out, &counts);
        else
            read_points(from, n, ULNA_C3D_PC, 0, scale, trust, out, &counts);
    }
    return counts;
}

/* Returns 1 if a position may be exactly zero. */
static int read_positions(const ulna_c3d_file *file, const c3d_layout *layout, double unit, ulna_recording *recording)
{
    double scale = layout->scale * unit;
    c3d_counts counts = read_frames(file, layout, scale, 1, recording);
    if (counts.seen == 0 && counts.unmarked > 0) {
        counts.zero = read_frames(file, layout, scale, 0, recording).zero;
        ulna_remarks_add(file->remarks, 0, (long long)layout->start,
                         "every position is marked as missing, but %lld have values, which are read", counts.unmarked);
    }
    if (counts.odd)
        ulna_remarks_add(file->remarks, 0, -1, "%lld positions are not numbers; they count as missing", counts.odd);
    return counts.zero > 0 || !(fabs(scale) > 1e-200); /* whose products may be zero */
}

/* ---- the reader --------------------------------------------------------------------------------------------------- */

/* Other files have a P in the second place too: texts, which have no zero byte, pictures (PNG) and papers (PDF). So the
 * parameters must look like such, if they are in view. */
int ulna_c3d_sniff(const char *data, size_t length)
{
    size_t header = length < ULNA_C3D_BLOCK ? length : ULNA_C3D_BLOCK;
    if (length < 2 || (unsigned char)data[1] != ULNA_C3D_MAGIC || data[0] == 0 || !memchr(data, 0, header))
        return 0;
    size_t section = ((size_t)(unsigned char)data[0] - 1) * ULNA_C3D_BLOCK;
    if (section + 4 > length)
        return memcmp(data, "\x89PNG", length < 4 ? length : 4) != 0 &&
               memcmp(data, "%PDF", length < 4 ? length : 4) != 0;
    int processor = (unsigned char)data[section + 3];
    return (unsigned char)data[section + 1] == ULNA_C3D_MAGIC ||
           (processor >= ULNA_C3D_PC && processor <= ULNA_C3D_SGI);
}

/* Header and parameters. The section ends where the data begin, whatever it announces. */
static ulna_status open_file(ulna_c3d_file *file, ulna_c3d_parameters *parameters, ulna_error *error)
{
    if (file->length < 2 || file->data[1] != ULNA_C3D_MAGIC || file->data[0] == 0)
        return ulna_fail(error, ULNA_ERR_PARSE,
                         "this is not a C3D file: its second byte should be 80 (hexadecimal 50)");
    size_t section = ((size_t)file->data[0] - 1) * ULNA_C3D_BLOCK;
    if (file->length < ULNA_C3D_BLOCK || section + 4 > file->length)
        return ulna_fail(error, ULNA_ERR_PARSE, "the C3D file ends after %zu bytes, before its parameters",
                         file->length);
    file->processor = file->data[section + 3];
    if (file->processor < ULNA_C3D_PC || file->processor > ULNA_C3D_SGI) {
        ulna_remarks_add(file->remarks, 0, (long long)section + 3,
                         "processor type %d is unknown (84 PC, 85 DEC, 86 SGI); PC is assumed", file->processor);
        file->processor = ULNA_C3D_PC;
    }
    size_t announced = section + (size_t)file->data[section + 2] * ULNA_C3D_BLOCK, end = announced;
    int data_block = header_word(file, ULNA_C3D_AT_DATA);
    size_t data = data_block > 0 ? (size_t)(data_block - 1) * ULNA_C3D_BLOCK : 0;
    end = data > end ? data : end;
    if (end <= section + 4 || end > file->length)
        end = file->length;
    file->section = section + 4;
    file->section_end = end;
    ulna_c3d_read_parameters(file, announced > section ? announced : end, parameters);
    return ULNA_OK;
}

static ulna_status read_recording(const ulna_c3d_file *file, const ulna_c3d_parameters *p,
                                  const ulna_read_options *options, ulna_content *content, ulna_error *error)
{
    ulna_recording *recording = &content->recording;
    c3d_layout layout;
    int frames;
    ulna_status status = find_layout(file, p, &layout, &frames, error);
    if (status != ULNA_OK)
        return status;
    if (layout.points == 0)
        ulna_remarks_add(file->remarks, 0, ULNA_C3D_AT_POINTS, "the file has no points");
    status = ulna_recording_resize_raw(recording, layout.points, frames);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for %d points in %d frames", layout.points, frames);
    double rate = frame_rate(file, p);
    recording->first_frame = first_frame(file, p);
    recording->cut_frames = layout.cut;
    recording->frame_seconds = rate > 0 ? 1 / rate : 0;
    describe(file, p, &layout, options, &content->source);
    content->source.analog = layout.analog;
    read_labels(file, p, recording);
    remark_on_results(file, p);
    int has_zeros = read_positions(file, &layout, content->source.unit_m, recording);
    status = ulna_markers_finish(recording, file->remarks);
    if (status == ULNA_OK && has_zeros)
        status = ulna_markers_zeros(recording, file->remarks);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for the names of the points");
    const ulna_c3d_data data = {layout.points,         layout.analog, layout.is_real,    frames,
                                layout.residual_scale, layout.start,  layout.frame_bytes};
    if (options->extras)
        status = ulna_c3d_read_extras(file, p, &data, content);
    return status == ULNA_OK ? ULNA_OK : ulna_fail(error, status, "no memory for what the file holds besides points");
}

ulna_status ulna_c3d_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    ulna_c3d_file file = {
        .data = (const unsigned char *)data, .length = length, .processor = ULNA_C3D_PC, .remarks = &content->remarks};
    ulna_c3d_parameters parameters = {0};
    ulna_status status = open_file(&file, &parameters, error);
    return status == ULNA_OK ? read_recording(&file, &parameters, options, content, error) : status;
}
