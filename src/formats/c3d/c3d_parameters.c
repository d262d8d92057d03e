/* The parameter section of C3D: a list of groups and of arrays that belong to them, each with a link to the next. */
#include "formats/c3d/c3d.h"
#include "formats/format.h"
#include "formats/markers.h"
#include "formats/text/scan.h"

enum { NO_GROUP, POINT, TRIAL, ANALOG, MANUFACTURER, MOST_GROUPS = 128 };

/* ---- names -------------------------------------------------------------------------------------------------------- */

static int is_named(const unsigned char *name, size_t length, const char *text)
{
    return ulna_word_is_like((ulna_word){(const char *)name, length}, text);
}

/* LABELS, LABELS2, LABELS3, ... */
static ulna_c3d_parameter *labels_slot(ulna_c3d_parameters *p, const unsigned char *name, size_t length)
{
    if (length < 6 || !is_named(name, 6, "LABELS"))
        return NULL;
    int number = length == 6;
    for (size_t i = 6; i < length; i++) {
        if (name[i] < '0' || name[i] > '9' || number > 1000)
            return NULL;
        number = 10 * number + name[i] - '0';
    }
    return number >= 1 && number <= ULNA_C3D_LABEL_LISTS ? &p->labels[number - 1] : NULL;
}

static ulna_c3d_parameter *slot_of(ulna_c3d_parameters *p, int group, const unsigned char *name, size_t length)
{
    const struct {
        int group;
        const char *name;
        ulna_c3d_parameter *slot;
    } slots[] = {
        {POINT, "USED", &p->used},
        {POINT, "SCALE", &p->scale},
        {POINT, "RATE", &p->rate},
        {POINT, "DATA_START", &p->data_start},
        {POINT, "FRAMES", &p->frames},
        {POINT, "LONG_FRAMES", &p->long_frames},
        {POINT, "UNITS", &p->units},
        {POINT, "X_SCREEN", &p->x_screen},
        {POINT, "Y_SCREEN", &p->y_screen},
        {POINT, "ANGLES", &p->angles},
        {POINT, "FORCES", &p->forces},
        {POINT, "MOMENTS", &p->moments},
        {POINT, "POWERS", &p->powers},
        {POINT, "SCALARS", &p->scalars},
        {TRIAL, "ACTUAL_START_FIELD", &p->first_field},
        {TRIAL, "ACTUAL_END_FIELD", &p->last_field},
        {ANALOG, "USED", &p->analog_used},
        {ANALOG, "RATE", &p->analog_rate},
        {ANALOG, "FORMAT", &p->analog_format},
        {MANUFACTURER, "COMPANY", &p->company},
        {MANUFACTURER, "SOFTWARE", &p->software},
    };
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (slots[i].group == group && is_named(name, length, slots[i].name))
            return slots[i].slot;
    return group == POINT ? labels_slot(p, name, length) : NULL;
}

static int group_named(const unsigned char *name, size_t length)
{
    return is_named(name, length, "POINT")          ? POINT
           : is_named(name, length, "TRIAL")        ? TRIAL
           : is_named(name, length, "ANALOG")       ? ANALOG
           : is_named(name, length, "MANUFACTURER") ? MANUFACTURER
                                                    : NO_GROUP;
}

/* ---- the list ----------------------------------------------------------------------------------------------------- */

static int signed_byte(unsigned char byte)
{
    return byte < 128 ? byte : byte - 256;
}

int ulna_c3d_parse_array(const ulna_c3d_file *file, size_t at, size_t end, ulna_c3d_parameter *found)
{
    if (at + 2 > end)
        return 0;
    int type = signed_byte(file->data[at]), dimensions = file->data[at + 1];
    size_t size = (size_t)(type < 0 ? -type : type), data = at + 2 + (size_t)dimensions;
    uint64_t count = 1; /* at most 255 to the power of 7; 0 if any size is */
    if ((type != -1 && type != 1 && type != 2 && type != 4) || dimensions > 7 || data > end)
        return 0;
    for (int d = 0; d < dimensions; d++)
        count *= file->data[at + 2 + (size_t)d];
    if (count * size > end - data)
        return 0;
    int width = dimensions ? file->data[at + 2] : 1;
    *found = (ulna_c3d_parameter){type, data, (size_t)count * size, width, width ? (int)(count / (unsigned)width) : 0};
    return 1;
}

int ulna_c3d_parse_entry(const ulna_c3d_file *file, size_t at, ulna_remarks *remarks, ulna_c3d_entry *entry)
{
    size_t end = file->section_end;
    if (at + 2 > end)
        return 0;
    int length = signed_byte(file->data[at]); /* negative: locked, which concerns editors */
    entry->at = at;
    entry->id = signed_byte(file->data[at + 1]);
    entry->length = (size_t)(length < 0 ? -length : length);
    entry->name = at + 2;
    entry->link = entry->name + entry->length;
    if (length == 0 || entry->id == 0)
        return 0;
    if (entry->link + 2 > end) {
        ulna_remarks_add(remarks, 0, (long long)at,
                         "the parameter section ends inside a name; the parameters after it are lost");
        return -1;
    }
    size_t distance = (size_t)ulna_c3d_word(file->data + entry->link, file->processor);
    entry->next = distance ? entry->link + distance : 0;
    if (distance == 1 || entry->next > end) {
        ulna_remarks_add(remarks, 0, (long long)at,
                         "a parameter points outside the parameter section; the parameters after it are lost");
        return -1;
    }
    return 1;
}

void ulna_c3d_read_parameters(const ulna_c3d_file *file, size_t announced, ulna_c3d_parameters *parameters)
{
    int groups[MOST_GROUPS + 1] = {NO_GROUP};
    ulna_c3d_entry e;
    /* Parameters may come before their group: look at groups first. */
    for (size_t here = file->section; here && ulna_c3d_parse_entry(file, here, NULL, &e) > 0; here = e.next)
        if (e.id < 0 && groups[-e.id] == NO_GROUP)
            groups[-e.id] = group_named(file->data + e.name, e.length);
    size_t here = file->section;
    for (; here && ulna_c3d_parse_entry(file, here, file->remarks, &e) > 0; here = e.next) {
        ulna_c3d_parameter *slot = e.id > 0 ? slot_of(parameters, groups[e.id], file->data + e.name, e.length) : NULL;
        if (slot && !slot->type && !ulna_c3d_parse_array(file, e.link + 2, e.next ? e.next : file->section_end, slot))
            ulna_remarks_add(file->remarks, 0, (long long)e.at, "parameter %.*s is broken and is ignored",
                             (int)e.length, (const char *)file->data + e.name);
    }
    if (here > announced)
        ulna_remarks_add(file->remarks, 0, (long long)announced,
                         "the parameter section continues beyond its stated end at byte %zu", announced);
}

/* ---- values ------------------------------------------------------------------------------------------------------- */

double ulna_c3d_number(const ulna_c3d_file *file, const ulna_c3d_parameter *parameter)
{
    const unsigned char *data = file->data + parameter->at;
    if (parameter->type == 2 && parameter->bytes >= 2)
        return ulna_c3d_word(data, file->processor);
    if (parameter->type == 4 && parameter->bytes >= 4)
        return ulna_c3d_float(data, file->processor);
    if (parameter->type == 1 && parameter->bytes >= 1)
        return data[0];
    return (double)NAN;
}

double ulna_c3d_field(const ulna_c3d_file *file, const ulna_c3d_parameter *parameter)
{
    const unsigned char *data = file->data + parameter->at;
    if (parameter->type == 2 && parameter->bytes >= 4)
        return ulna_c3d_word(data, file->processor) + 65536.0 * ulna_c3d_word(data + 2, file->processor);
    return ulna_c3d_number(file, parameter);
}

int ulna_c3d_text(const ulna_c3d_file *file, const ulna_c3d_parameter *parameter, int index,
                  char text[ULNA_MARKER_NAME])
{
    text[0] = 0;
    if (parameter->type != -1 || index >= parameter->count)
        return 1;
    size_t width = (size_t)parameter->width;
    const char *from = (const char *)file->data + parameter->at + (size_t)index * width, *zero = memchr(from, 0, width);
    return ulna_marker_name(from, zero ? (size_t)(zero - from) : width, text);
}
