/*
 * What a C3D file holds besides its points, so that it can be written again: analog samples, all groups and parameters that do
 * not describe the points, and the events of the header.
 *
 * Everything is kept as a PC with floats would write it. Parameters are kept as bytes of a parameter section: group numbers are
 * those of the writer (POINT, TRIAL and ANALOG first, then as they come), words and floats are converted. Samples of an
 * integer file become floats of the same value, so that ANALOG:SCALE, OFFSET and GEN_SCALE hold as they are.
 */
#include <math.h>

#include "base/base.h"
#include "formats/c3d/c3d.h"
#include "formats/text/scan.h"

enum { MOST_GROUPS = 127, MOST_ENTRY = 65000 };

/* ---- which parameters are kept ------------------------------------------------------------------------------------ */

/* The writer states these itself. X_SCREEN and Y_SCREEN are kept unless another axis is up. */
static int is_written_anew(int group, ulna_word name)
{
    static const struct {
        int group;
        const char *name;
    } own[] = {
        {ULNA_C3D_POINT, "USED"},
        {ULNA_C3D_POINT, "SCALE"},
        {ULNA_C3D_POINT, "RATE"},
        {ULNA_C3D_POINT, "DATA_START"},
        {ULNA_C3D_POINT, "FRAMES"},
        {ULNA_C3D_POINT, "LONG_FRAMES"},
        {ULNA_C3D_POINT, "UNITS"},
        {ULNA_C3D_TRIAL, "ACTUAL_START_FIELD"},
        {ULNA_C3D_TRIAL, "ACTUAL_END_FIELD"},
        {ULNA_C3D_ANALOG, "USED"},
        {ULNA_C3D_ANALOG, "RATE"},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i].group == group && ulna_word_is_like(name, own[i].name))
            return 1;
    size_t digits = 6;
    while (digits < name.length && name.text[digits] >= '0' && name.text[digits] <= '9')
        digits++;
    return group == ULNA_C3D_POINT && digits == name.length && ulna_word_is_like((ulna_word){name.text, 6}, "LABELS");
}

static ulna_word name_of(const ulna_c3d_file *file, const ulna_c3d_entry *e)
{
    return (ulna_word){(const char *)file->data + e->name, e->length};
}

static void note_parameter(ulna_c3d_extras *x, int group, ulna_word name)
{
    x->has_screen |=
        group == ULNA_C3D_POINT && (ulna_word_is_like(name, "X_SCREEN") || ulna_word_is_like(name, "Y_SCREEN"));
    x->has_gen_scale |= group == ULNA_C3D_ANALOG && ulna_word_is_like(name, "GEN_SCALE");
}

/* ---- groups ------------------------------------------------------------------------------------------------------- */

/* Of each group number of the file: the number that it gets, 0 if there is no such group or no number left. */
typedef struct group_map {
    int number[MOST_GROUPS + 2];
    int last;
    int lost; /* entries without a group, or too long */
} group_map;

static int fixed_number(ulna_word name)
{
    return ulna_word_is_like(name, "POINT")    ? ULNA_C3D_POINT
           : ulna_word_is_like(name, "TRIAL")  ? ULNA_C3D_TRIAL
           : ulna_word_is_like(name, "ANALOG") ? ULNA_C3D_ANALOG
                                               : 0;
}

static void number_groups(const ulna_c3d_file *file, group_map *map)
{
    ulna_c3d_entry e;
    map->last = ULNA_C3D_ANALOG;
    for (size_t at = file->section; at && ulna_c3d_parse_entry(file, at, NULL, &e) > 0; at = e.next)
        if (e.id < 0 && !map->number[-e.id]) {
            int number = fixed_number(name_of(file, &e));
            if (!number && map->last < MOST_GROUPS)
                number = ++map->last;
            map->number[-e.id] = number;
        }
}

/* ---- entries ------------------------------------------------------------------------------------------------------ */

/* The description behind an entry's data, cut where the entry ends. */
static size_t description_at(const ulna_c3d_file *file, size_t at, size_t end)
{
    size_t length = at < end ? file->data[at] : 0;
    return at < end && length > end - at - 1 ? end - at - 1 : length;
}

static ulna_status append_byte(ulna_text *to, int value)
{
    const char byte = (char)(unsigned char)value;
    return ulna_text_append(to, &byte, 1);
}

/* Bytes of an array, as a PC has them. */
static ulna_status append_data(const ulna_c3d_file *file, const ulna_c3d_parameter *p, ulna_text *to)
{
    const unsigned char *from = file->data + p->at;
    ulna_status status = ULNA_OK;
    if (p->type < 2 || file->processor == ULNA_C3D_PC)
        return ulna_text_append(to, (const char *)from, p->bytes);
    for (size_t i = 0; i + (size_t)p->type <= p->bytes && status == ULNA_OK; i += (size_t)p->type) {
        unsigned char out[4];
        if (p->type == 2)
            ulna_c3d_store_word((uint32_t)ulna_c3d_word(from + i, file->processor), out);
        else
            ulna_c3d_store_float((float)ulna_c3d_float(from + i, file->processor), out);
        status = ulna_text_append(to, (const char *)out, (size_t)p->type);
    }
    return status;
}

/* Name, number, link to the next entry; `bytes` follow the link. */
static ulna_status append_head(const ulna_c3d_file *file, const ulna_c3d_entry *e, int number, size_t bytes,
                               ulna_text *to)
{
    size_t link = 2 + bytes;
    ulna_status status = append_byte(to, file->data[e->at]); /* with its sign: locked */
    if (status == ULNA_OK)
        status = append_byte(to, number);
    if (status == ULNA_OK)
        status = ulna_text_append(to, (const char *)file->data + e->name, e->length);
    if (status == ULNA_OK)
        status = append_byte(to, (int)(link & 255));
    return status == ULNA_OK ? append_byte(to, (int)(link >> 8)) : status;
}

static ulna_status append_description(const ulna_c3d_file *file, size_t at, size_t length, ulna_text *to)
{
    ulna_status status = append_byte(to, (int)length);
    return status == ULNA_OK && length ? ulna_text_append(to, (const char *)file->data + at + 1, length) : status;
}

static ulna_status keep_group(const ulna_c3d_file *file, const ulna_c3d_entry *e, int number, ulna_c3d_extras *x)
{
    size_t end = e->next ? e->next : file->section_end, text = description_at(file, e->link + 2, end);
    if (number < ULNA_C3D_OWN_GROUPS)
        x->has_group[number] = 1;
    ulna_status status = append_head(file, e, -number, 1 + text, &x->groups);
    return status == ULNA_OK ? append_description(file, e->link + 2, text, &x->groups) : status;
}

static ulna_status keep_parameter(const ulna_c3d_file *file, const ulna_c3d_entry *e, int number, ulna_c3d_extras *x,
                                  group_map *map)
{
    ulna_c3d_parameter p;
    size_t start = e->link + 2, end = e->next ? e->next : file->section_end;
    if (is_written_anew(number, name_of(file, e)))
        return ULNA_OK;
    if (!ulna_c3d_parse_array(file, start, end, &p) || p.bytes > MOST_ENTRY) {
        map->lost++;
        return ULNA_OK;
    }
    size_t shape = p.at - start, text = description_at(file, p.at + p.bytes, end);
    note_parameter(x, number, name_of(file, e));
    ulna_status status = append_head(file, e, number, shape + p.bytes + 1 + text, &x->parameters);
    if (status == ULNA_OK)
        status = ulna_text_append(&x->parameters, (const char *)file->data + start, shape);
    if (status == ULNA_OK && p.bytes)
        status = append_data(file, &p, &x->parameters);
    return status == ULNA_OK ? append_description(file, p.at + p.bytes, text, &x->parameters) : status;
}

/* Groups first, each once, then parameters in their order. */
static ulna_status keep_entries(const ulna_c3d_file *file, ulna_c3d_extras *x)
{
    group_map map = {{0}, 0, 0};
    char is_kept[MOST_GROUPS + 1] = {0};
    ulna_c3d_entry e;
    ulna_status status = ULNA_OK;
    number_groups(file, &map);
    for (int pass = 0; pass < 2; pass++)
        for (size_t at = file->section; status == ULNA_OK && at && ulna_c3d_parse_entry(file, at, NULL, &e) > 0;
             at = e.next) {
            int number = map.number[e.id < 0 ? -e.id : e.id];
            if (pass == 0 && e.id < 0 && number && !is_kept[number]) {
                is_kept[number] = 1;
                status = keep_group(file, &e, number, x);
            } else if (pass == 1 && e.id > 0 && number)
                status = keep_parameter(file, &e, number, x, &map);
            else if (pass == 1 && !number)
                map.lost++;
        }
    if (map.lost)
        ulna_remarks_add(file->remarks, 0, -1, "%d groups or parameters are broken or have no group, and are not kept",
                         map.lost);
    return status;
}

/* ---- analog samples ----------------------------------------------------------------------------------------------- */

static int is_unsigned(const ulna_c3d_file *file, const ulna_c3d_parameters *p)
{
    char text[ULNA_MARKER_NAME];
    ulna_c3d_text(file, &p->analog_format, 0, text);
    return ulna_word_is_like((ulna_word){text, strlen(text)}, "UNSIGNED");
}

static float sample_of(const unsigned char *from, int processor, int is_real, int no_sign)
{
    return is_real   ? (float)ulna_c3d_float(from, processor)
           : no_sign ? (float)ulna_c3d_word(from, processor)
                     : (float)ulna_c3d_signed(from, processor);
}

static ulna_status keep_samples(const ulna_c3d_file *file, const ulna_c3d_parameters *p, const ulna_c3d_data *data,
                                ulna_c3d_extras *x)
{
    size_t word = data->is_real ? 4 : 2, points = 4 * word * (size_t)data->points, width = (size_t)data->analog;
    int no_sign = is_unsigned(file, p);
    x->per_frame = data->analog;
    x->samples = ulna_allocate(&x->allocator, (size_t)x->frames, width * sizeof *x->samples);
    if (!x->samples)
        return ULNA_ERR_MEMORY;
    for (int f = 0; f < x->frames; f++) {
        const unsigned char *from = file->data + data->start + (size_t)f * data->frame_bytes + points;
        for (size_t i = 0; i < width; i++)
            x->samples[(size_t)f * width + i] = sample_of(from + i * word, file->processor, data->is_real, no_sign);
    }
    return ULNA_OK;
}

/* The fourth word of each point. */
static ulna_status keep_words(const ulna_c3d_file *file, const ulna_c3d_data *data, ulna_c3d_extras *x)
{
    size_t word = data->is_real ? 4 : 2, points = (size_t)data->points;
    x->scale = data->scale;
    if (!points || !(x->scale > 0 && x->scale < INFINITY))
        return ULNA_OK;
    x->words = ulna_allocate(&x->allocator, (size_t)x->frames, points * sizeof *x->words);
    for (size_t f = 0; f < (size_t)x->frames && x->words; f++)
        for (size_t i = 0; i < points; i++) {
            const unsigned char *from = file->data + data->start + f * data->frame_bytes + (4 * i + 3) * word;
            x->words[f * points + i] = sample_of(from, file->processor, data->is_real, 0);
        }
    return x->words ? ULNA_OK : ULNA_ERR_MEMORY;
}

/* How many channels the samples of a frame are of: what is stated, if it divides them. */
static void count_channels(const ulna_c3d_file *file, const ulna_c3d_parameters *p, ulna_c3d_extras *x)
{
    double stated = ulna_c3d_number(file, &p->analog_used);
    x->channels = stated >= 1 && stated <= x->per_frame ? (int)stated : x->per_frame;
    if (x->per_frame % (x->channels ? x->channels : 1)) {
        ulna_remarks_add(file->remarks, 0, -1, "%d analog samples per frame are not a multiple of %d channels",
                         x->per_frame, x->channels);
        x->channels = x->per_frame;
    }
}

/* ---- events of the header ------------------------------------------------------------------------------------------ */

static void keep_header(const ulna_c3d_file *file, ulna_c3d_extras *x)
{
    const unsigned char *from = file->data + ULNA_C3D_AT_EVENTS;
    x->longest_gap = ulna_c3d_word(file->data + ULNA_C3D_AT_GAP, file->processor);
    if (ulna_c3d_word(from, file->processor) != ULNA_C3D_EVENT_KEY)
        return;
    memcpy(x->events, from, sizeof x->events); /* flags and labels are bytes */
    for (size_t at = 0; at < 6; at += 2)       /* key, number, and a word without meaning */
        ulna_c3d_store_word(at < 4 ? (uint32_t)ulna_c3d_word(from + at, file->processor) : 0, x->events + at);
    for (size_t i = 0; i < ULNA_C3D_MOST_EVENTS; i++)
        ulna_c3d_store_float((float)ulna_c3d_float(from + 6 + 4 * i, file->processor), x->events + 6 + 4 * i);
}

/* ---- all of it ---------------------------------------------------------------------------------------------------- */

static void release_extras(ulna_extras *extras)
{
    ulna_c3d_extras *x = (ulna_c3d_extras *)extras;
    const ulna_allocator allocator = x->allocator;
    ulna_release(&allocator, x->samples, (size_t)x->frames, (size_t)x->per_frame * sizeof *x->samples);
    ulna_release(&allocator, x->words, (size_t)x->frames, (size_t)x->points * sizeof *x->words);
    ulna_text_release(&x->groups);
    ulna_text_release(&x->parameters);
    ulna_release(&allocator, x, 1, sizeof *x);
}

ulna_status ulna_c3d_read_extras(const ulna_c3d_file *file, const ulna_c3d_parameters *p, const ulna_c3d_data *data,
                                 ulna_content *content)
{
    const ulna_allocator *allocator = &content->remarks.allocator;
    ulna_c3d_extras *x = ulna_allocate(allocator, 1, sizeof *x);
    if (!x)
        return ULNA_ERR_MEMORY;
    content->extras = &x->base;
    *x = (ulna_c3d_extras){.base = {ULNA_FORMAT_C3D, release_extras},
                           .allocator = *allocator,
                           .groups = ulna_text_empty(allocator),
                           .parameters = ulna_text_empty(allocator)};
    x->first_frame = content->recording.first_frame;
    x->points = data->points;
    x->frames = data->frames;
    x->unit_m = content->source.unit_m;
    x->up = content->source.up;
    x->frame_seconds = content->recording.frame_seconds;
    x->analog_rate = ulna_c3d_number(file, &p->analog_rate);
    keep_header(file, x);
    ulna_status status = data->analog > 0 ? keep_samples(file, p, data, x) : ULNA_OK;
    if (status == ULNA_OK && x->per_frame)
        count_channels(file, p, x);
    if (status == ULNA_OK)
        status = keep_words(file, data, x);
    return status == ULNA_OK ? keep_entries(file, x) : status;
}
