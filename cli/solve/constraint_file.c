/* Files of --constraints: hard constraints, priorities, feet, locked joints and strengths, by name and with lines in errors. */
#include "cli/solve/constraint_file.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/solve/solve.h"
#include "src/base/algorithms.h"

#define DEGREE (3.14159265358979323846 / 180)
#define HUGE_LENGTHS 1e12 /* of the skeleton's length */
enum { MOST_RANGES = 10000, MOST_CONSTRAINTS = 200, MOST_LEVEL = 8 };

/* What the entries of a type have besides name, type, frames, level and weight. */
typedef struct entry_keys {
    ulna_constraint_type type;
    const char *keys;
} entry_keys;

#define TARGET "body, marker, point"
#define OTHER "other_body, other_marker, other_point"
static const entry_keys keys_of[] = {
    {ULNA_KEEP_POINT, TARGET ", position"},
    {ULNA_KEEP_ORIENTATION, "body, orientation"},
    {ULNA_KEEP_FRAME, TARGET ", position, orientation"},
    {ULNA_KEEP_DIRECTION, "body, axis, direction"},
    {ULNA_KEEP_AIM, TARGET ", axis, position"},
    {ULNA_KEEP_LINE, TARGET ", through, direction"},
    {ULNA_KEEP_PLANE, TARGET ", relation, through, normal"},
    {ULNA_KEEP_SPHERE, TARGET ", relation, centre, radius"},
    {ULNA_KEEP_BOX, TARGET ", lower, upper"},
    {ULNA_KEEP_DISTANCE, TARGET ", relation, " OTHER ", distance"},
    {ULNA_KEEP_TOGETHER, TARGET ", " OTHER},
    {ULNA_KEEP_RELATIVE, TARGET ", other_body, position, orientation"},
    {ULNA_KEEP_ANGLE, "body, axis, relation, other_body, other_axis, degrees"},
    {ULNA_KEEP_LINEAR, "dofs, relation, sum"},
    {ULNA_KEEP_CENTRE, "relation, through, normal"},
    {ULNA_KEEP_SUPPORT, "corners, up"},
};

/* An entry on its way into the list. */
typedef struct entry {
    const constraint_file *file;
    const ulna_json_node *node;
    ulna_constraint c;
    file_constraint own;
    ulna_frame_range *ranges;
    int range_count;
} entry;

static const char *find_keys(ulna_constraint_type type)
{
    for (size_t i = 0; i < sizeof keys_of / sizeof *keys_of; i++)
        if (keys_of[i].type == type)
            return keys_of[i].keys;
    return NULL;
}

static int has_key(const entry *e, const char *key)
{
    return strstr(find_keys(e->c.type), key) != NULL;
}

/* ---- small things --------------------------------------------------------------------------------------------- */

static const ulna_model *model_of(const constraint_file *file)
{
    return file->wanted->model;
}

/* Numbers that must be there, times a unit. */
static ulna_status need_numbers(const ulna_json_node *object, const char *key, double unit, int count, double *numbers)
{
    ulna_json_node child;
    ulna_status status = ulna_json_need(object, key, &child);
    if (status == ULNA_OK)
        status = count == 1 ? ulna_json_number(&child, numbers) : ulna_json_numbers(&child, numbers, count);
    for (int i = 0; i < count && status == ULNA_OK; i++)
        numbers[i] *= unit;
    return status;
}

static ulna_status need_rotation(const ulna_json_node *object, const char *key, double rotation[9])
{
    ulna_json_node child;
    ulna_status status = ulna_json_need(object, key, &child);
    if (status != ULNA_OK)
        return status;
    return json_array_size(child.value) == 9 ? ulna_json_numbers(&child, rotation, 9)
                                             : ulna_json_find_rotation(object, key, rotation);
}

/* A whole number. */
static ulna_status read_count(const ulna_json_node *node, int *count)
{
    double number;
    ulna_status status = ulna_json_number(node, &number);
    if (status != ULNA_OK)
        return status;
    if (number != floor(number) || fabs(number) > 1e9)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "should be a whole number, not %g", number);
    *count = (int)number;
    return ULNA_OK;
}

static ulna_status unknown(const ulna_json_node *node, const char *what, const char *name, const char **names,
                           const char *list)
{
    const char *nearest = ulna_nearest_name(name, names, sizeof *names);
    return nearest ? ulna_json_fail(node, ULNA_ERR_PARSE, "there is no %s '%.80s'; did you mean '%.80s'?", what, name,
                                    nearest)
                   : ulna_json_fail(node, ULNA_ERR_PARSE, "there is no %s '%.80s'%s", what, name, list);
}

/* ---- bodies, markers, degrees of freedom ------------------------------------------------------------------------ */

static ulna_status read_body(const constraint_file *file, const ulna_json_node *node, int *body)
{
    const ulna_model *model = model_of(file);
    const char *name;
    ulna_status status = ulna_json_string(node, &name);
    if (status != ULNA_OK)
        return status;
    *body = ulna_model_find_body(model, name);
    if (*body != ULNA_NONE)
        return ULNA_OK;
    const char **names = cli_allocate((size_t)ulna_model_body_count(model) + 1, sizeof *names);
    for (int i = 0; i < ulna_model_body_count(model); i++)
        names[i] = ulna_model_body_name(model, i);
    status = unknown(node, "body", name, names, "; `ulna info --tree` lists them");
    free(names);
    return status;
}

/* A marker of the take's attachment, with or without the subject before the colon; or else of the skeleton. */
static ulna_status read_marker(const constraint_file *file, const ulna_json_node *node, int *body, double point[3])
{
    const ulna_marker_set none = ulna_marker_set_empty(NULL), *set = file->take ? &file->take->set : &none;
    const char *name;
    ulna_status status = ulna_json_string(node, &name);
    if (status != ULNA_OK)
        return status;
    const char **names = cli_allocate(set->count + 1, sizeof *names);
    for (size_t i = 0; i < set->count; i++) {
        const char *colon = strrchr(set->items[i].marker, ':');
        const char *plain = colon && colon[1] ? colon + 1 : set->items[i].marker;
        names[i] = plain;
        if (strcmp(name, plain) == 0 || strcmp(name, set->items[i].marker) == 0) {
            *body = set->items[i].body;
            memcpy(point, set->items[i].offset, 3 * sizeof *point);
            free(names);
            return ULNA_OK;
        }
    }
    int marker = ulna_model_find_marker(model_of(file), name);
    *body = marker == ULNA_NONE ? ULNA_NONE : ulna_model_marker_body(model_of(file), marker);
    status = marker == ULNA_NONE ? unknown(node, "marker", name, names, " on the skeleton")
                                 : ulna_model_marker_position(model_of(file), marker, point);
    free(names);
    return status;
}

/* A body and a point of it, or a marker: by the keys `body`, `marker` and `point`. */
static ulna_status read_target(const entry *e, const char *body_key, const char *marker_key, const char *point_key,
                               int is_needed, int *body, double point[3])
{
    ulna_json_node own, marker, at;
    int has_body = ulna_json_find(e->node, body_key, &own), has_marker = ulna_json_find(e->node, marker_key, &marker);
    if (has_body && has_marker)
        return ulna_json_fail(e->node, ULNA_ERR_PARSE, "needs \"%s\" or \"%s\", not both", body_key, marker_key);
    if (!has_body && !has_marker && is_needed)
        return has_key(e, marker_key)
                   ? ulna_json_fail(e->node, ULNA_ERR_PARSE, "needs \"%s\" or \"%s\"", body_key, marker_key)
                   : ulna_json_fail(e->node, ULNA_ERR_PARSE, "needs \"%s\"", body_key);
    ulna_status status = has_body     ? read_body(e->file, &own, body)
                         : has_marker ? read_marker(e->file, &marker, body, point)
                                      : ULNA_OK;
    if (status != ULNA_OK || !ulna_json_find(e->node, point_key, &at))
        return status;
    if (has_marker)
        return ulna_json_fail(&at, ULNA_ERR_PARSE, "needs a \"%s\": a marker has its own point", body_key);
    return need_numbers(e->node, point_key, e->file->wanted->unit_m, 3, point);
}

/* A degree of freedom, or all those of a body: numbers from `first` on. */
static ulna_status find_dofs(const constraint_file *file, const ulna_json_node *node, const char *name, int *first,
                             int *count)
{
    const ulna_model *model = model_of(file);
    int body = ulna_model_find_body(model, name);
    *first = solve_find_dof(model, name);
    *count = *first == ULNA_NONE && body != ULNA_NONE ? ulna_model_body_dofs(model, body, first) : 1;
    if (*first == ULNA_NONE || *count == 0)
        return ulna_json_fail(
            node, ULNA_ERR_PARSE,
            "there is no degree of freedom, nor a body that has some, '%.80s'; `ulna info --values` lists them", name);
    return ULNA_OK;
}

/* ---- frames ------------------------------------------------------------------------------------------------------ */

static int compare_ranges(const void *a, const void *b)
{
    const ulna_frame_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

static ulna_status read_range(const ulna_json_node *node, ulna_frame_range *range)
{
    if (json_array_size(node->value) != 2)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "a range of frames is [first, last]");
    ulna_json_node first = ulna_json_element(node, 0), last = ulna_json_element(node, 1);
    ulna_status status = read_count(&first, &range->first);
    if (status == ULNA_OK)
        status = read_count(&last, &range->last);
    if (status == ULNA_OK && range->first > range->last)
        status = ulna_json_fail(node, ULNA_ERR_PARSE, "frame %d is after frame %d", range->first, range->last);
    return status;
}

/* From the numbers of the recording to indices in the take, in order; they must not overlap. */
static ulna_status settle_ranges(const constraint_file *file, const ulna_json_node *node, const char *name,
                                 ulna_frame_range *ranges, int count)
{
    int first = file->take->first_frame, frames = file->take->frame_count, outside = 0;
    qsort(ranges, (size_t)count, sizeof *ranges, compare_ranges);
    for (int i = 0; i < count; i++) {
        if (i && ranges[i].first <= ranges[i - 1].last + first)
            return ulna_json_fail(node, ULNA_ERR_PARSE, "frames %d to %d are in two ranges", ranges[i].first,
                                  ranges[i - 1].last + first < ranges[i].last ? ranges[i - 1].last + first
                                                                              : ranges[i].last);
        ranges[i].first -= first;
        ranges[i].last -= first;
        outside += ranges[i].last < 0 || ranges[i].first >= frames;
    }
    if (outside)
        files_note_text(file->notes,
                        "%s: %d of %d ranges of frames have nothing in common with the take (frames %d to %d)", name,
                        outside, count, first, first + frames - 1);
    return ULNA_OK;
}

/* "frames": [first, last], or a list of such. Absent: *count is 0. */
static ulna_status read_frames(const constraint_file *file, const ulna_json_node *object, const char *name,
                               ulna_frame_range **ranges, int *count)
{
    ulna_json_node list;
    *count = 0;
    if (!ulna_json_find(object, "frames", &list))
        return ULNA_OK;
    if (!file->take)
        return ulna_json_fail(&list, ULNA_ERR_UNSUPPORTED,
                              "here constraints hold in every problem: leave out \"frames\"");
    ulna_status status = ulna_json_check_list(&list, "ranges of frames");
    if (status != ULNA_OK)
        return status;
    int is_single = json_is_number(json_array_get(list.value, 0));
    size_t size = is_single ? 1 : json_array_size(list.value);
    if (size == 0)
        return ulna_json_fail(&list, ULNA_ERR_PARSE, "has no range of frames");
    if (size > MOST_RANGES)
        return ulna_json_fail(&list, ULNA_ERR_LIMIT, "has more than %d ranges of frames", MOST_RANGES);
    *ranges = cli_allocate(size, sizeof **ranges);
    for (size_t i = 0; i < size && status == ULNA_OK; i++) {
        ulna_json_node element = is_single ? list : ulna_json_element(&list, i);
        status = read_range(&element, &(*ranges)[i]);
    }
    *count = (int)size;
    return status == ULNA_OK ? settle_ranges(file, &list, name, *ranges, *count) : status;
}

/* ---- goals of each type -------------------------------------------------------------------------------------------- */

static ulna_status read_relation(entry *e)
{
    static const struct {
        const char *word;
        ulna_relation relation;
    } words[] = {{"equal", ULNA_EQUAL}, {"at least", ULNA_AT_LEAST}, {"at most", ULNA_AT_MOST}, {NULL, 0}};
    ulna_json_node node;
    const char *word;
    if (!ulna_json_find(e->node, "relation", &node))
        return ULNA_OK;
    ulna_status status = ulna_json_string(&node, &word);
    for (int i = 0; status == ULNA_OK && words[i].word; i++)
        if (strcmp(word, words[i].word) == 0) {
            e->c.relation = words[i].relation;
            return ULNA_OK;
        }
    return status == ULNA_OK ? ulna_json_fail(&node, ULNA_ERR_PARSE,
                                              "should be \"equal\", \"at least\" or \"at most\", not '%.40s'", word)
                             : status;
}

/* A side that is null is open. */
static ulna_status read_corner(const entry *e, const char *key, double open, double *corner)
{
    ulna_json_node list;
    ulna_status status = ulna_json_need(e->node, key, &list);
    if (status == ULNA_OK && json_array_size(list.value) != 3)
        status = ulna_json_fail(&list, ULNA_ERR_PARSE, "should be three numbers; null for a side that is open");
    for (size_t i = 0; i < 3 && status == ULNA_OK; i++) {
        ulna_json_node element = ulna_json_element(&list, i);
        corner[i] = open;
        if (json_is_null(element.value))
            continue;
        status = ulna_json_number(&element, &corner[i]);
        corner[i] *= e->file->wanted->unit_m;
    }
    return status;
}

/* Coefficients of angles in degrees and of lengths in the file's unit, as the sum is. */
static ulna_status read_linear(entry *e)
{
    const ulna_model *model = model_of(e->file);
    ulna_json_node list;
    const char *key;
    json_t *value;
    ulna_status status = ulna_json_need(e->node, "dofs", &list);
    if (status == ULNA_OK)
        status = ulna_json_need_object(&list);
    if (status != ULNA_OK)
        return status;
    size_t count = json_object_size(list.value);
    if (count == 0)
        return ulna_json_fail(&list, ULNA_ERR_PARSE, "has no degree of freedom");
    e->own.dofs = cli_allocate(count, sizeof *e->own.dofs);
    e->own.coefficients = cli_allocate(count, sizeof *e->own.coefficients);
    json_object_foreach(list.value, key, value)
    {
        ulna_json_node member = {.document = list.document, .parent = &list, .value = value, .key = key};
        int dof = solve_find_dof(model, key), n = e->c.dof_count++;
        if (status == ULNA_OK && dof == ULNA_NONE)
            status = ulna_json_fail(&member, ULNA_ERR_PARSE,
                                    "the skeleton has no such degree of freedom; `ulna info --values` lists them");
        if (status == ULNA_OK)
            status = ulna_json_number(&member, &e->own.coefficients[n]);
        if (status != ULNA_OK)
            return status;
        e->own.dofs[n] = dof;
        e->own.coefficients[n] /= ulna_model_dof_is_translation(model, dof) ? e->file->wanted->unit_m : DEGREE;
    }
    e->c.dofs = e->own.dofs;
    e->c.coefficients = e->own.coefficients;
    return need_numbers(e->node, "sum", 1, 1, e->c.goal);
}

static ulna_status read_support(entry *e)
{
    ulna_json_node list;
    ulna_status status = ulna_json_need(e->node, "corners", &list);
    if (status == ULNA_OK)
        status = ulna_json_check_list(&list, "corners");
    size_t count = status == ULNA_OK ? json_array_size(list.value) : 0;
    if (status == ULNA_OK && (count < 3 || count > ULNA_CONSTRAINT_CORNERS))
        status = ulna_json_fail(&list, ULNA_ERR_PARSE, "has %zu corners: 3 to %d are possible", count,
                                ULNA_CONSTRAINT_CORNERS);
    if (status != ULNA_OK)
        return status;
    e->own.corners = cli_allocate(3 * count, sizeof *e->own.corners);
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        ulna_json_node corner = ulna_json_element(&list, i);
        status = ulna_json_numbers(&corner, e->own.corners + 3 * i, 3);
    }
    for (size_t i = 0; i < 3 * count; i++)
        e->own.corners[i] *= e->file->wanted->unit_m;
    e->c.corner_count = (int)count;
    e->c.corners = e->own.corners;
    return status == ULNA_OK ? need_numbers(e->node, "up", 1, 3, e->c.axis) : status;
}

/* A number for each of two keys, the second after the first in the goal. */
static ulna_status read_pair(entry *e, const char *first, double first_unit, const char *second, double unit, int count)
{
    ulna_status status = need_numbers(e->node, first, first_unit, 3, e->c.goal);
    return status == ULNA_OK ? need_numbers(e->node, second, unit, count, e->c.goal + 3) : status;
}

static ulna_status read_pose(entry *e)
{
    ulna_status status = need_numbers(e->node, "position", e->file->wanted->unit_m, 3, e->c.goal);
    return status == ULNA_OK ? need_rotation(e->node, "orientation", e->c.goal + 3) : status;
}

static ulna_status read_angle(entry *e)
{
    ulna_status status = need_numbers(e->node, "axis", 1, 3, e->c.axis);
    if (status == ULNA_OK)
        status = need_numbers(e->node, "other_axis", 1, 3, e->c.other_axis);
    return status == ULNA_OK ? need_numbers(e->node, "degrees", DEGREE, 1, e->c.goal) : status;
}

static ulna_status read_goal(entry *e)
{
    double unit = e->file->wanted->unit_m;
    ulna_status status = ULNA_OK;
    if (e->c.type == ULNA_KEEP_DIRECTION || e->c.type == ULNA_KEEP_AIM)
        status = need_numbers(e->node, "axis", 1, 3, e->c.axis);
    if (status != ULNA_OK)
        return status;
    switch (e->c.type) {
    case ULNA_KEEP_POINT:
    case ULNA_KEEP_AIM:
        return need_numbers(e->node, "position", unit, 3, e->c.goal);
    case ULNA_KEEP_ORIENTATION:
        return need_rotation(e->node, "orientation", e->c.goal);
    case ULNA_KEEP_FRAME:
    case ULNA_KEEP_RELATIVE:
        return read_pose(e);
    case ULNA_KEEP_DIRECTION:
        return need_numbers(e->node, "direction", 1, 3, e->c.goal);
    case ULNA_KEEP_LINE:
        return read_pair(e, "through", unit, "direction", 1, 3);
    case ULNA_KEEP_PLANE:
    case ULNA_KEEP_CENTRE:
        return read_pair(e, "through", unit, "normal", 1, 3);
    case ULNA_KEEP_SPHERE:
        return read_pair(e, "centre", unit, "radius", unit, 1);
    case ULNA_KEEP_BOX:
        status = read_corner(e, "lower", -INFINITY, e->c.goal);
        return status == ULNA_OK ? read_corner(e, "upper", INFINITY, e->c.goal + 3) : status;
    case ULNA_KEEP_DISTANCE:
        return need_numbers(e->node, "distance", unit, 1, e->c.goal);
    case ULNA_KEEP_ANGLE:
        return read_angle(e);
    case ULNA_KEEP_LINEAR:
        return read_linear(e);
    case ULNA_KEEP_SUPPORT:
        return read_support(e);
    default:
        return ULNA_OK; /* TOGETHER has none */
    }
}

/* ---- an entry -------------------------------------------------------------------------------------------------------- */

static ulna_status read_type(entry *e)
{
    const char *names[ULNA_CONSTRAINT_TYPE_COUNT + 1] = {0}, *text;
    char all[400] = "; types are";
    ulna_json_node node;
    ulna_status status = ulna_json_need_string(e->node, "type", &node, &text);
    if (status != ULNA_OK)
        return status;
    int count = 0;
    for (int i = 0; i < ULNA_CONSTRAINT_TYPE_COUNT; i++) {
        const char *name = ulna_constraint_type_name((ulna_constraint_type)i);
        if (strcmp(text, name) == 0 && i == ULNA_KEEP_CUSTOM)
            return ulna_json_fail(&node, ULNA_ERR_PARSE, "a constraint of your own is written in C, not in a file");
        if (!find_keys((ulna_constraint_type)i))
            continue;
        e->c.type = (ulna_constraint_type)i;
        if (strcmp(text, name) == 0)
            return ULNA_OK;
        names[count++] = name;
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, " %s", name);
    }
    return unknown(&node, "type", text, names, all);
}

static ulna_status check_keys(const entry *e)
{
    char keys[300];
    ulna_json_node soft;
    if (ulna_json_find(e->node, "soft", &soft))
        return ulna_json_fail(&soft, ULNA_ERR_PARSE,
                              "an entry of \"constraints\" is kept; what is soft belongs into \"goals\"");
    snprintf(keys, sizeof keys, "name, type, frames, level, weight, %s", find_keys(e->c.type));
    return ulna_json_check_object(e->node, keys);
}

static ulna_status read_level(entry *e)
{
    ulna_json_node level, weight;
    ulna_status status = ULNA_OK;
    if (ulna_json_find(e->node, "level", &level))
        status = read_count(&level, &e->c.level);
    if (status == ULNA_OK && (e->c.level < 0 || e->c.level > MOST_LEVEL))
        return ulna_json_fail(&level, ULNA_ERR_PARSE, "should be 0, which is hard, or 1 to %d, not %d", MOST_LEVEL,
                              e->c.level);
    if (status != ULNA_OK || !ulna_json_find(e->node, "weight", &weight))
        return status;
    if (e->c.level == 0)
        return ulna_json_fail(
            &weight, ULNA_ERR_PARSE,
            "a hard constraint has no weight: give it a \"level\" of 1 or above, or write it as one of the "
            "\"goals\", which are soft");
    status = ulna_json_number(&weight, &e->c.weight);
    return status == ULNA_OK && !(e->c.weight > 0)
               ? ulna_json_fail(&weight, ULNA_ERR_PARSE, "should be above 0, not %g", e->c.weight)
               : status;
}

static ulna_status read_bodies(entry *e)
{
    ulna_status status = ULNA_OK;
    int is_relative = e->c.type == ULNA_KEEP_RELATIVE;
    e->c.body = e->c.other = ULNA_NONE;
    if (strncmp(find_keys(e->c.type), "body", 4) == 0)
        status = read_target(e, "body", "marker", "point", 1, &e->c.body, e->c.point);
    if (status == ULNA_OK && has_key(e, "other_body"))
        status =
            read_target(e, "other_body", "other_marker", "other_point", is_relative, &e->c.other, e->c.other_point);
    return status;
}

static ulna_status read_name(entry *e)
{
    const char *name = NULL;
    ulna_status status = ulna_json_find_string(e->node, "name", &name);
    const char *type = ulna_constraint_type_name(e->c.type);
    const char *body = e->c.body == ULNA_NONE ? NULL : ulna_model_body_name(model_of(e->file), e->c.body);
    if (name)
        snprintf(e->own.name, sizeof e->own.name, "%s", name);
    else
        snprintf(e->own.name, sizeof e->own.name, "%s%s%.60s", type, body ? " of " : "", body ? body : "");
    return status;
}

static int has_huge(const double *numbers, int count, double most)
{
    for (int i = 0; i < count; i++)
        if (isfinite(numbers[i]) && fabs(numbers[i]) > most)
            return 1;
    return 0;
}

/* Squares of numbers that are too large are not finite. */
static ulna_status check_size(entry *e)
{
    double most = HUGE_LENGTHS * ulna_model_length_scale(model_of(e->file));
    int is_huge = has_huge(e->c.goal, ULNA_CONSTRAINT_GOAL, most) || has_huge(e->c.point, 3, most) ||
                  has_huge(e->c.other_point, 3, most) || has_huge(e->c.axis, 3, most) ||
                  has_huge(e->c.other_axis, 3, most) || has_huge(e->own.corners, 3 * e->c.corner_count, most);
    return is_huge
               ? ulna_json_fail(e->node, ULNA_ERR_PARSE,
                                "has a number that is too large: lengths are in the file's \"unit\", and a skeleton "
                                "of %.3g m can be solved up to %.0e m from its origin",
                                ulna_model_length_scale(model_of(e->file)), most)
               : ULNA_OK;
}

/* The library says what else is wrong with it. */
static ulna_status try_constraint(const entry *e)
{
    ulna_problem *trial = NULL;
    ulna_error error;
    ulna_error_clear(&error);
    ulna_status status = ulna_problem_create(model_of(e->file), NULL, &trial, &error);
    if (status == ULNA_OK)
        status = ulna_problem_add_constraint(trial, &e->c, NULL, &error);
    ulna_problem_destroy(trial);
    return status == ULNA_OK ? ULNA_OK : ulna_json_fail(e->node, status, "%s", error.message);
}

static ulna_status read_entry(entry *e)
{
    static ulna_status (*const steps[])(entry *) = {read_bodies, read_relation, read_goal,
                                                    read_level,  check_size,    read_name};
    ulna_status status = ulna_json_need_object(e->node);
    if (status == ULNA_OK)
        status = read_type(e);
    if (status == ULNA_OK)
        status = check_keys(e);
    for (size_t i = 0; i < sizeof steps / sizeof *steps && status == ULNA_OK; i++)
        status = steps[i](e);
    if (status == ULNA_OK)
        status = read_frames(e->file, e->node, e->own.name, &e->own.ranges, &e->range_count);
    return status == ULNA_OK ? try_constraint(e) : status;
}

static void release_own(file_constraint *own)
{
    free(own->dofs);
    free(own->coefficients);
    free(own->corners);
    free(own->ranges);
}

static ulna_status read_constraints(constraint_file *file, const ulna_json_node *list)
{
    ulna_status status = ulna_json_check_list(list, "constraints");
    size_t count = status == ULNA_OK ? json_array_size(list->value) : 0;
    if (count > MOST_CONSTRAINTS)
        return ulna_json_fail(
            list, ULNA_ERR_LIMIT,
            "has %zu constraints: at most %d are possible. An entry holds in many ranges of frames; for a place "
            "that moves, use a goal for each frame with `ulna_tracker` in C",
            count, MOST_CONSTRAINTS);
    file->list = cli_allocate(count + 1, sizeof *file->list);
    file->own = cli_allocate(count + 1, sizeof *file->own);
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        ulna_json_node node = ulna_json_element(list, i);
        entry e = {.file = file, .node = &node};
        status = read_entry(&e);
        file->own[file->count] = e.own;
        file->list[file->count++] =
            (ulna_track_constraint){.constraint = e.c, .ranges = e.own.ranges, .range_count = e.range_count};
    }
    return status;
}

/* ---- feet ------------------------------------------------------------------------------------------------------------- */

static ulna_status add_stances(constraint_file *file, const ulna_json_node *node, const ulna_stance *pattern,
                               const ulna_frame_range *ranges, int count, int is_flat)
{
    size_t room = (size_t)file->stance_count + (size_t)count;
    if (room > MOST_RANGES)
        return ulna_json_fail(node, ULNA_ERR_LIMIT, "feet have more than %d ranges of frames", MOST_RANGES);
    ulna_stance *list = realloc(file->stances, room * sizeof *list);
    if (!list)
        cli_out_of_memory();
    file->stances = list;
    for (int i = 0; i < count; i++) {
        ulna_stance s = *pattern;
        s.first = ranges[i].first;
        s.last = ranges[i].last;
        s.flat_first = is_flat ? s.first : 0;
        s.flat_last = is_flat ? s.last : -1;
        for (int k = 0; k < file->stance_count; k++)
            if (list[k].body == s.body && list[k].first <= s.last && s.first <= list[k].last)
                return ulna_json_fail(node, ULNA_ERR_PARSE, "'%.60s' has frames that another entry gives too",
                                      ulna_model_body_name(model_of(file), s.body));
        list[file->stance_count++] = s;
    }
    return ULNA_OK;
}

static ulna_status read_part(const ulna_json_node *node, int *is_flat)
{
    const char *part = "flat";
    ulna_json_node child;
    ulna_status status = ulna_json_find_string(node, "part", &part);
    *is_flat = strcmp(part, "flat") == 0;
    if (status == ULNA_OK && !*is_flat && strcmp(part, "ball") != 0 && ulna_json_find(node, "part", &child))
        return ulna_json_fail(&child, ULNA_ERR_PARSE, "should be \"flat\" or \"ball\", not '%.40s'", part);
    return status;
}

static ulna_status read_foot(constraint_file *file, const ulna_json_node *node)
{
    entry e = {.file = file, .node = node};
    ulna_stance stance = {0};
    ulna_json_node point;
    ulna_frame_range *ranges = NULL;
    int count = 0, is_flat = 1;
    ulna_status status = ulna_json_check_object(node, "body, marker, point, part, frames");
    if (status == ULNA_OK)
        status = read_target(&e, "body", "marker", "point", 1, &stance.body, stance.point);
    if (!ulna_json_find(node, "point", &point) && !json_object_get(node->value, "marker"))
        stance.point[0] = NAN; /* the ball */
    if (status == ULNA_OK)
        status = read_part(node, &is_flat);
    if (status == ULNA_OK)
        status = read_frames(file, node, "feet", &ranges, &count);
    if (status == ULNA_OK && !count)
        status = ulna_json_fail(node, ULNA_ERR_PARSE, "needs \"frames\": those in which the foot stands");
    if (status == ULNA_OK)
        status = add_stances(file, node, &stance, ranges, count, is_flat);
    free(ranges);
    return status;
}

/* "auto", or a list of feet with frames, in which "auto" stands for all others. */
static ulna_status read_feet(constraint_file *file, const ulna_json_node *feet)
{
    int is_text = json_is_string(feet->value);
    ulna_status status = ULNA_OK;
    if (!file->take)
        return ulna_json_fail(feet, ULNA_ERR_UNSUPPORTED,
                              "feet stand in frames of a recording, for `ulna solve`; here keep a foot by an entry of "
                              "\"constraints\" of the type \"frame\"");
    if (!is_text && !json_is_array(feet->value))
        return ulna_json_fail(feet, ULNA_ERR_PARSE, "should be \"auto\", or a list of feet with their frames");
    for (size_t i = 0; i < (is_text ? 1 : json_array_size(feet->value)) && status == ULNA_OK; i++) {
        ulna_json_node node = is_text ? *feet : ulna_json_element(feet, i);
        const char *text = json_string_value(node.value);
        if (!text)
            status = read_foot(file, &node);
        else if (strcmp(text, "auto") == 0)
            file->plant_feet = 1;
        else
            status = ulna_json_fail(&node, ULNA_ERR_PARSE, "should be \"auto\", or a foot with its frames, not '%.40s'",
                                    text);
    }
    return status;
}

/* ---- joints ------------------------------------------------------------------------------------------------------------ */

static ulna_status read_locked(constraint_file *file, const ulna_json_node *list)
{
    ulna_status status = ulna_json_check_list(list, "names");
    file->locked = cli_allocate((size_t)ulna_model_dof_count(model_of(file)) + 1, 1);
    for (size_t i = 0; status == ULNA_OK && i < json_array_size(list->value); i++) {
        ulna_json_node node = ulna_json_element(list, i);
        const char *name;
        int first, count;
        status = ulna_json_string(&node, &name);
        if (status == ULNA_OK)
            status = find_dofs(file, &node, name, &first, &count);
        if (status == ULNA_OK)
            memset(file->locked + first, 1, (size_t)count);
    }
    return status;
}

static ulna_status read_strengths(constraint_file *file, const ulna_json_node *object)
{
    const ulna_model *model = model_of(file);
    size_t nv = (size_t)ulna_model_dof_count(model);
    const char *key;
    json_t *value;
    ulna_status status = ulna_json_need_object(object);
    file->strength = cli_allocate(nv + 1, sizeof *file->strength);
    memcpy(file->strength, ulna_model_strength(model), nv * sizeof *file->strength);
    json_object_foreach(object->value, key, value)
    {
        ulna_json_node member = {.document = object->document, .parent = object, .value = value, .key = key};
        double strength;
        int first, count;
        if (status == ULNA_OK)
            status = find_dofs(file, &member, key, &first, &count);
        if (status == ULNA_OK)
            status = ulna_json_number(&member, &strength);
        if (status == ULNA_OK && !(strength >= 0))
            status = ulna_json_fail(&member, ULNA_ERR_PARSE, "a strength is 0 or above, not %g", strength);
        if (status != ULNA_OK)
            return status;
        for (int d = first; d < first + count; d++)
            file->strength[d] = strength;
    }
    return status;
}

/* ---- the file ----------------------------------------------------------------------------------------------------------- */

/* Of the whole document, before its goals. */
static ulna_status read_more(void *context, const ulna_json_node *root)
{
    static const struct {
        const char *key;
        ulna_status (*read)(constraint_file *, const ulna_json_node *);
    } parts[] = {
        {"constraints", read_constraints},
        {"feet", read_feet},
        {"locked", read_locked},
        {"strengths", read_strengths},
    };
    constraint_file *file = context;
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && status == ULNA_OK; i++) {
        ulna_json_node node;
        if (ulna_json_find(root, parts[i].key, &node))
            status = parts[i].read(file, &node);
    }
    return status;
}

ulna_status constraint_file_read(constraint_file *file, const char *path, ulna_error *error)
{
    file->wanted->read_more = read_more;
    file->wanted->more_context = file;
    ulna_status status = goals_read(file->wanted, path, error);
    int is_empty = !file->wanted->count && !file->count && !file->stance_count && !file->plant_feet && !file->locked &&
                   !file->strength;
    return status == ULNA_OK && is_empty
               ? cli_fail(error, ULNA_ERR_PARSE, "the file has no goals, constraints, feet, locked joints or strengths")
               : status;
}

void constraint_file_release(constraint_file *file)
{
    for (int i = 0; i < file->count; i++)
        release_own(&file->own[i]);
    free(file->own);
    free(file->list);
    free(file->stances);
    free(file->locked);
    free(file->strength);
    *file = (constraint_file){0};
}
