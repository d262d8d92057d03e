/* Goals: the list of them, and those written as lines of text. */
#include "cli/global/goals.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fields.h"

enum { MAX_BYTES = 1 << 26, FIELDS = 9, LONGEST_NAME = 255 };

/* ---- the list ----------------------------------------------------------------------------------------- */

void goals_init(goals *wanted, const ulna_model *model)
{
    *wanted = (goals){.model = model, .unit_m = 1};
}

void goals_release(goals *wanted)
{
    free(wanted->list);
    free(wanted->start);
    *wanted = (goals){0};
}

ulna_status goals_append(goals *wanted, const goal *next, ulna_error *error)
{
    if (wanted->count == wanted->room) {
        int room = wanted->room ? wanted->room : 32;
        goal *list = room > INT_MAX / 2 ? NULL : realloc(wanted->list, 2 * (size_t)room * sizeof *list);
        if (!list)
            return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
        wanted->list = list;
        wanted->room = 2 * room;
    }
    wanted->list[wanted->count++] = *next;
    return ULNA_OK;
}

static const char *nearest_name(const ulna_model *model, int among, const char *name)
{
    int markers = among & GOALS_MARKERS ? ulna_model_marker_count(model) : 0;
    int bodies = among & GOALS_BODIES ? ulna_model_body_count(model) : 0;
    const char **names = calloc((size_t)markers + (size_t)bodies + 1, sizeof *names), *nearest = NULL;
    if (names) {
        for (int i = 0; i < markers; i++)
            names[i] = ulna_model_marker_name(model, i);
        for (int i = 0; i < bodies; i++)
            names[markers + i] = ulna_model_body_name(model, i);
        nearest = cli_nearest(name, names, sizeof *names);
    }
    free(names);
    return nearest;
}

ulna_status goals_find(const goals *wanted, int among, const char *name, goal *found, ulna_error *error)
{
    const ulna_model *model = wanted->model;
    int marker = among & GOALS_MARKERS ? ulna_model_find_marker(model, name) : ULNA_NONE;
    found->marker = marker;
    if (marker != ULNA_NONE) {
        found->body = ulna_model_marker_body(model, marker);
        return ulna_model_marker_position(model, marker, found->point);
    }
    found->body = among & GOALS_BODIES ? ulna_model_find_body(model, name) : ULNA_NONE;
    memset(found->point, 0, sizeof found->point);
    if (found->body != ULNA_NONE)
        return ULNA_OK;
    const char *kind = among == GOALS_MARKERS ? "marker" : among == GOALS_BODIES ? "body" : "marker or body";
    const char *nearest = nearest_name(model, among, name);
    if (nearest)
        return cli_fail(error, ULNA_ERR_PARSE, "there is no %s '%.80s'; did you mean '%.80s'?", kind, name, nearest);
    return cli_fail(error, ULNA_ERR_PARSE, "the skeleton has no %s '%.80s'", kind, name);
}

ulna_status goals_set_rotation(goal *next, const double q[4], ulna_error *error)
{
    double length = hypot(hypot(q[0], q[1]), hypot(q[2], q[3]));
    if (!(length > 0) || !isfinite(length))
        return cli_fail(error, ULNA_ERR_PARSE, "orientation: the quaternion is zero or too large");
    double x = q[0] / length, y = q[1] / length, z = q[2] / length, w = q[3] / length;
    const double rows[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                            2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                            2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(next->rotation, rows, sizeof rows);
    return ULNA_OK;
}

ulna_status goals_to_problem(const goals *wanted, ulna_problem *problem, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; !status && i < wanted->count; i++) {
        const goal *g = &wanted->list[i];
        if (g->what & GOAL_POSITION)
            status = ulna_problem_add_point(problem, g->body, g->point, g->position, g->weight, NULL, error);
        if (!status && (g->what & GOAL_ORIENTATION))
            status = ulna_problem_add_orientation(problem, g->body, g->rotation, g->weight, NULL, error);
        if (status && error)
            error->line = g->line;
    }
    return status;
}

/* ---- a line of text ----------------------------------------------------------------------------------- */

static int is_number(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end;
}

static ulna_status read_number(const char *text, const char *name, double *value, ulna_error *error)
{
    if (!is_number(text, value))
        return cli_fail(error, ULNA_ERR_PARSE, "%s is not a number: '%.60s'", name, text);
    return isfinite(*value) ? ULNA_OK
                            : cli_fail(error, ULNA_ERR_NUMBER, "%s is not a finite number: '%.60s'", name, text);
}

/* x, y, z; then perhaps a quaternion; then perhaps a weight. */
static ulna_status read_numbers(const goals *wanted, char *const *fields, int count, goal *next, ulna_error *error)
{
    static const char *const names[] = {"x", "y", "z", "qx", "qy", "qz", "qw"};
    double numbers[7] = {0};
    int is_turned = count > 4, is_placed = !is_turned || *fields[0] || *fields[1] || *fields[2];
    ulna_status status = ULNA_OK;
    for (int i = is_placed ? 0 : 3; i < (is_turned ? 7 : 3) && !status; i++)
        status = read_number(fields[i], names[i], &numbers[i], error);
    if (!status && (count == 4 || count == 8))
        status = read_number(fields[count - 1], "weight", &next->weight, error);
    if (!status && next->weight < 0)
        status = cli_fail(error, ULNA_ERR_PARSE, "the weight is negative: %g", next->weight);
    if (!status && is_turned)
        status = goals_set_rotation(next, numbers + 3, error);
    next->what = (is_placed ? GOAL_POSITION : 0) | (is_turned ? GOAL_ORIENTATION : 0);
    for (int i = 0; i < 3; i++)
        next->position[i] = wanted->unit_m * numbers[i];
    return status;
}

static ulna_status add_fields(goals *wanted, char *const *fields, int count, int line, ulna_error *error)
{
    goal next = {.weight = 1, .line = line};
    if (count == 6 || count == 7)
        return cli_fail(error, ULNA_ERR_PARSE,
                        "this is too much, or too little: behind x, y, z come a weight, or qx, qy, qz, qw, or these "
                        "and a weight");
    if (count < 4 || count > FIELDS)
        return cli_fail(error, ULNA_ERR_PARSE, "%s: a goal has a name, x, y, z and perhaps a weight",
                        count < 4 ? "something is missing" : "this is too much");
    if (!*fields[0])
        return cli_fail(error, ULNA_ERR_PARSE, "the name is missing");
    if (strlen(fields[0]) > LONGEST_NAME)
        return cli_fail(error, ULNA_ERR_PARSE, "the name is too long: '%.40s...'", fields[0]);
    ulna_status status = read_numbers(wanted, fields + 1, count - 1, &next, error);
    if (!status)
        status = goals_find(wanted, GOALS_MARKERS | GOALS_BODIES, fields[0], &next, error);
    return status ? status : goals_append(wanted, &next, error);
}

/* Cuts the last `count` words off a text; 0 if there are not so many besides a name. */
static int split_words(char *text, int count, char *fields[FIELDS])
{
    for (int i = count; i > 0; i--) {
        char *word = text + strlen(text);
        while (word > text && !isspace((unsigned char)word[-1]))
            word--;
        if (word == text)
            return 0;
        fields[i] = word;
        word[-1] = 0;
        fields_trim(text);
    }
    fields[0] = fields_trim(text);
    return 1;
}

/* Whether what stands before the last `count` words is the name of something, and a number follows. */
static int is_split(const goals *wanted, char *text, int count, char *fields[FIELDS])
{
    double number;
    if (!split_words(fields_trim(text), count, fields) || !is_number(fields[1], &number))
        return 0;
    return ulna_model_find_marker(wanted->model, fields[0]) != ULNA_NONE ||
           ulna_model_find_body(wanted->model, fields[0]) != ULNA_NONE;
}

ulna_status goals_add_text(goals *wanted, const char *text, ulna_error *error)
{
    static const int counts[] = {8, 7, 4};
    char *fields[FIELDS], *copy = strdup(text);
    if (!copy)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    int count = 0;
    if (strchr(text, ','))
        count = fields_split(copy, ",", fields, FIELDS);
    else {
        /* A name may hold blanks, and even end in a number: more than a place only if the name is then known. */
        for (size_t i = 0; i < sizeof counts / sizeof *counts && !count; i++) {
            count = is_split(wanted, copy, counts[i], fields) ? counts[i] + 1 : 0;
            if (!count)
                snprintf(copy, strlen(text) + 1, "%s", text);
        }
        if (!count)
            count = split_words(fields_trim(copy), 3, fields) ? 4 : 0;
    }
    ulna_status status = add_fields(wanted, fields, count, 0, error);
    free(copy);
    return status;
}

/* ---- CSV ---------------------------------------------------------------------------------------------- */

/* "name,x,y,z", perhaps with units: "marker, X [m], Y [m], Z [m]". */
static int is_heading(char *const *fields, int count)
{
    for (int i = 0; i < 3 && count > 3; i++)
        if (tolower((unsigned char)fields[i + 1][0]) != "xyz"[i])
            return 0;
    return count > 3;
}

static ulna_status read_csv(goals *wanted, char *text, ulna_error *error)
{
    int line = 0, is_first = 1;
    for (char *next = text, *at; (at = fields_line(&next, &line)) != NULL;) {
        char *fields[FIELDS];
        int count = fields_split(at, ",", fields, FIELDS);
        int skip = is_first && is_heading(fields, count);
        is_first = 0;
        ulna_status status = skip ? ULNA_OK : add_fields(wanted, fields, count, line, error);
        if (status) {
            error->line = line;
            return status;
        }
    }
    return ULNA_OK;
}

/* ---- files -------------------------------------------------------------------------------------------- */

static ulna_status read_text(goals *wanted, ulna_text *file, ulna_error *error)
{
    static const char mark[] = "\xEF\xBB\xBF"; /* of byte order */
    char *text = file->length ? file->data : NULL;
    size_t length = file->length;
    if (length >= 3 && memcmp(text, mark, 3) == 0) {
        text += 3;
        length -= 3;
    }
    size_t blanks = 0;
    while (blanks < length && isspace((unsigned char)text[blanks]))
        blanks++;
    if (blanks == length)
        return cli_fail(error, ULNA_ERR_PARSE, "the file is empty");
    if (memchr(text, 0, length))
        return cli_fail(error, ULNA_ERR_PARSE, "this is no text: goals come as CSV or JSON");
    return text[blanks] == '{' ? goals_read_json(wanted, text, length, error) : read_csv(wanted, text, error);
}

ulna_status goals_read(goals *wanted, const char *path, ulna_error *error)
{
    ulna_text file = ulna_text_empty(NULL);
    int before = wanted->count;
    ulna_status status = ulna_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, MAX_BYTES, &file, error);
    if (!status)
        status = read_text(wanted, &file, error);
    if (!status && wanted->count == before)
        status = cli_fail(error, ULNA_ERR_PARSE, "there is no goal in it");
    ulna_text_release(&file);
    return status;
}
