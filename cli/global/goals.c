/* Goals: the list of them, from lines of text and from JSON. */
#include "cli/global/goals.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"

enum { MAX_BYTES = 1 << 26, FIELDS = 9, LONGEST_NAME = 255 };
enum { GOALS_MARKERS = 1, GOALS_BODIES = 2 };

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

static ulna_status goals_append(goals *wanted, const goal *next, ulna_error *error)
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

/* Fills marker, body and point of the goal, or fails with the nearest name. `among`: where to look, markers first. */
static ulna_status goals_find(const goals *wanted, int among, const char *name, goal *found, ulna_error *error)
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

/* q: a quaternion (x, y, z, w) of any length but zero. */
static ulna_status goals_set_rotation(goal *next, const double q[4], ulna_error *error)
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
    for (int i = 0; status == ULNA_OK && i < wanted->count; i++) {
        const goal *g = &wanted->list[i];
        if (g->what & GOAL_POSITION)
            status = ulna_problem_add_point(problem, g->body, g->point, g->position, g->weight, NULL, error);
        if (status == ULNA_OK && (g->what & GOAL_ORIENTATION))
            status = ulna_problem_add_orientation(problem, g->body, g->rotation, g->weight, NULL, error);
        if (status != ULNA_OK && error)
            error->line = g->line;
    }
    return status;
}

/* ==== JSON: what jansson has parsed does not know its line any more, so a cursor finds it in the text  ======================================================================================================== */

/* ---- where a value stands ----------------------------------------------------------------------------- */

/* The text is valid JSON here, so that brackets balance and commas tell nothing. Returns the end of the value at or
 * after `at`, and its beginning. */
static const char *skip_value(const char *at, const char *end, const char **begin)
{
    int depth = 0;
    while (at < end && strchr(" \t\r\n,:", *at))
        at++;
    *begin = at;
    for (; at < end; at++) {
        if (*at == '"') {
            for (at++; at < end && *at != '"'; at++)
                at += *at == '\\';
        } else if (*at == '{' || *at == '[')
            depth++;
        else if (*at == '}' || *at == ']') {
            if (--depth <= 0)
                return at + (depth == 0);
        } else if (depth == 0 && strchr(" \t\r\n,:", *at))
            return at;
        if (depth == 0 && *at == '"')
            return at + 1;
    }
    return end;
}

/* Where the value of an outermost member begins; NULL if its key is not spelled so. */
static const char *find_member(const char *text, size_t length, const char *key)
{
    const char *end = text + length, *at = memchr(text, '{', length), *name, *begin;
    size_t size = strlen(key);
    for (at = at ? at + 1 : end; at < end;) {
        const char *colon = skip_value(at, end, &name), *after = skip_value(colon, end, &begin);
        if ((size_t)(colon - name) == size + 2 && memcmp(name + 1, key, size) == 0)
            return begin;
        if (after <= colon) /* the end of the object */
            return NULL;
        at = after;
    }
    return NULL;
}

/* A place in the text that moves on from value to value, and knows its line; 0 if the place is not known. */
typedef struct cursor {
    const char *at, *counted, *end;
    int line;
} cursor;

static cursor cursor_at(const char *text, size_t length, const char *key)
{
    return (cursor){find_member(text, length, key), text, text + length, 1};
}

static int next_line(cursor *place)
{
    const char *begin;
    if (!place->at)
        return 0;
    place->at = skip_value(place->at, place->end, &begin);
    for (; place->counted < begin; place->counted++)
        place->line += *place->counted == '\n';
    return place->line;
}

/* ---- values ------------------------------------------------------------------------------------------- */

static ulna_status json_number_of(json_t *value, const char *what, double *number, ulna_error *error)
{
    if (!json_is_number(value))
        return cli_fail(error, ULNA_ERR_PARSE, "%s is not a number", what);
    *number = json_number_value(value);
    if (!isfinite(*number))
        return cli_fail(error, ULNA_ERR_NUMBER, "%s is not a finite number", what);
    return ULNA_OK;
}

static ulna_status json_numbers_of(json_t *value, const char *what, double *numbers, int count, ulna_error *error)
{
    if (!json_is_array(value) || json_array_size(value) != (size_t)count)
        return cli_fail(error, ULNA_ERR_PARSE, "%s should be a list of %d numbers", what, count);
    ulna_status status = ULNA_OK;
    for (int i = 0; status == ULNA_OK && i < count; i++)
        status = json_number_of(json_array_get(value, (size_t)i), what, &numbers[i], error);
    return status;
}

static ulna_status read_orientation(json_t *value, goal *next, ulna_error *error)
{
    double q[4] = {0}, *rotation = next->rotation;
    ulna_status status = ULNA_OK;
    switch (json_array_size(value)) { /* 0 for what is no list */
    case 3:
        for (size_t i = 0; status == ULNA_OK && i < 3; i++)
            status = json_numbers_of(json_array_get(value, i), "a row of the orientation", rotation + 3 * i, 3, error);
        return status;
    case 4:
        status = json_numbers_of(value, "orientation", q, 4, error);
        return status != ULNA_OK ? status : goals_set_rotation(next, q, error);
    case 9:
        return json_numbers_of(value, "orientation", rotation, 9, error);
    default:
        return cli_fail(error, ULNA_ERR_PARSE,
                        "orientation should be 3 rows of 3 numbers, 9 numbers, or a quaternion [x, y, z, w]");
    }
}

/* ---- objects ------------------------------------------------------------------------------------------ */

/* No other keys than these, which end with NULL, "_comment" and "x-...". */
static ulna_status check_keys(json_t *object, const char *const *keys, ulna_error *error)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        int known = strcmp(key, "_comment") == 0 || strncmp(key, "x-", 2) == 0;
        for (int i = 0; keys[i]; i++)
            known |= strcmp(key, keys[i]) == 0;
        if (known)
            continue;
        const char *nearest = cli_nearest(key, keys, sizeof *keys);
        return cli_fail(error, ULNA_ERR_PARSE, "unknown key '%.60s'%s%s%s", key, nearest ? "; did you mean '" : "",
                        nearest ? nearest : "", nearest ? "'?" : "");
    }
    return ULNA_OK;
}

/* In the goals' unit of length, to metres. */
static ulna_status read_place(const goals *wanted, json_t *value, const char *what, double place[3], ulna_error *error)
{
    ulna_status status = json_numbers_of(value, what, place, 3, error);
    for (int i = 0; i < 3; i++)
        place[i] *= wanted->unit_m;
    return status;
}

/* `key`: its name where "goals" is an object; else NULL. */
static ulna_status read_target(const goals *wanted, const char *key, json_t *object, goal *next, ulna_error *error)
{
    json_t *marker = json_object_get(object, "marker"), *body = json_object_get(object, "body");
    json_t *point = json_object_get(object, "point"), *name = marker ? marker : body;
    if (key && name)
        return cli_fail(error, ULNA_ERR_PARSE, "the goal already has the name '%.60s'", key);
    if (!key && !marker == !body)
        return cli_fail(error, ULNA_ERR_PARSE, "a goal needs a \"marker\" or a \"body\", %s",
                        marker ? "not both" : "and has neither");
    if (!key && !json_is_string(name))
        return cli_fail(error, ULNA_ERR_PARSE, "%s should be a name", marker ? "marker" : "body");
    int among = key ? GOALS_MARKERS | GOALS_BODIES : marker ? GOALS_MARKERS : GOALS_BODIES;
    ulna_status status = goals_find(wanted, among, key ? key : json_string_value(name), next, error);
    if (status == ULNA_OK && point && next->marker != ULNA_NONE)
        return cli_fail(error, ULNA_ERR_PARSE, "\"point\" needs a \"body\": a marker has its own point");
    return status == ULNA_OK && point ? read_place(wanted, point, "point", next->point, error) : status;
}

static ulna_status read_goal(const goals *wanted, const char *key, json_t *object, goal *next, ulna_error *error)
{
    static const char *const keys[] = {"marker", "body", "point", "position", "orientation", "weight", NULL};
    if (!json_is_object(object))
        return cli_fail(error, ULNA_ERR_PARSE,
                        "a goal should be an object: {\"marker\": ..., \"position\": [x, y, z]}");
    json_t *position = json_object_get(object, "position"), *orientation = json_object_get(object, "orientation");
    json_t *weight = json_object_get(object, "weight");
    *next = (goal){.weight = 1};
    ulna_status status = check_keys(object, keys, error);
    if (status == ULNA_OK)
        status = read_target(wanted, key, object, next, error);
    if (status == ULNA_OK && !position && !orientation)
        return cli_fail(error, ULNA_ERR_PARSE, "a goal needs a \"position\" or an \"orientation\"");
    if (status == ULNA_OK && position) {
        next->what |= GOAL_POSITION;
        status = read_place(wanted, position, "position", next->position, error);
    }
    if (status == ULNA_OK && orientation) {
        next->what |= GOAL_ORIENTATION;
        status = read_orientation(orientation, next, error);
    }
    if (status == ULNA_OK && weight)
        status = json_number_of(weight, "weight", &next->weight, error);
    if (status == ULNA_OK && next->weight < 0)
        return cli_fail(error, ULNA_ERR_PARSE, "the weight is negative: %g", next->weight);
    return status;
}

static ulna_status read_start(goals *wanted, json_t *list, ulna_error *error)
{
    int nq = ulna_model_coordinate_count(wanted->model), coordinate;
    free(wanted->start);
    wanted->start = calloc((size_t)nq + 1, sizeof *wanted->start);
    if (!wanted->start)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    ulna_status status =
        json_numbers_of(list, "start, a number for each coordinate of the skeleton,", wanted->start, nq, error);
    if (status == ULNA_OK && ulna_model_check_q(wanted->model, wanted->start, &coordinate))
        status = cli_fail(error, ULNA_ERR_PARSE, "start: the quaternion of coordinate %d is zero", coordinate);
    return status;
}

static ulna_status add_json_goal(goals *wanted, const char *key, json_t *value, int line, ulna_error *error)
{
    goal next = {.what = GOAL_POSITION, .weight = 1};
    ulna_status status;
    if (key && json_is_array(value)) {
        status = goals_find(wanted, GOALS_MARKERS | GOALS_BODIES, key, &next, error);
        if (status == ULNA_OK)
            status = read_place(wanted, value, "a position", next.position, error);
    } else
        status = read_goal(wanted, key, value, &next, error);
    next.line = line;
    if (status == ULNA_OK)
        status = goals_append(wanted, &next, error);
    if (status != ULNA_OK)
        error->line = line;
    return status;
}

static ulna_status read_goals(goals *wanted, json_t *list, cursor place, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    const char *key;
    json_t *value;
    if (place.at)
        place.at++; /* into the list */
    for (size_t i = 0; status == ULNA_OK && i < json_array_size(list); i++)
        status = add_json_goal(wanted, NULL, json_array_get(list, i), next_line(&place), error);
    json_object_foreach(list, key, value) /* does nothing with a list */
    {
        next_line(&place); /* the key's */
        int line = next_line(&place);
        status = status != ULNA_OK ? status : add_json_goal(wanted, key, value, line, error);
    }
    return status;
}

static ulna_status goals_read_json(goals *wanted, const char *text, size_t length, ulna_error *error)
{
    static const char *const keys[] = {"goals", "start", NULL};
    json_error_t problem;
    json_t *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &problem);
    if (!root) {
        cli_fail(error, ULNA_ERR_PARSE, "%s", problem.text);
        error->line = problem.line;
        return error->status;
    }
    json_t *list = json_object_get(root, "goals"), *start = json_object_get(root, "start");
    ulna_status status = check_keys(root, keys, error);
    if (status == ULNA_OK && !json_is_array(list) && !json_is_object(list))
        status = cli_fail(error, ULNA_ERR_PARSE, "\"goals\", a list of them, is missing");
    if (status == ULNA_OK)
        status = read_goals(wanted, list, cursor_at(text, length, "goals"), error);
    if (status == ULNA_OK && start) {
        cursor place = cursor_at(text, length, "start");
        status = read_start(wanted, start, error);
        if (status != ULNA_OK)
            error->line = next_line(&place);
    }
    json_decref(root);
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
    for (int i = is_placed ? 0 : 3; i < (is_turned ? 7 : 3) && status == ULNA_OK; i++)
        status = read_number(fields[i], names[i], &numbers[i], error);
    if (status == ULNA_OK && (count == 4 || count == 8))
        status = read_number(fields[count - 1], "weight", &next->weight, error);
    if (status == ULNA_OK && next->weight < 0)
        status = cli_fail(error, ULNA_ERR_PARSE, "the weight is negative: %g", next->weight);
    if (status == ULNA_OK && is_turned)
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
        return cli_fail(
            error, ULNA_ERR_PARSE,
            "wrong number of fields: name, x, y, z may be followed by a weight, by qx, qy, qz, qw, or by these "
            "and a weight");
    if (count < 4 || count > FIELDS)
        return cli_fail(error, ULNA_ERR_PARSE, "%s fields: a goal has a name, x, y, z and optionally a weight",
                        count < 4 ? "missing" : "too many");
    if (!*fields[0])
        return cli_fail(error, ULNA_ERR_PARSE, "the name is missing");
    if (strlen(fields[0]) > LONGEST_NAME)
        return cli_fail(error, ULNA_ERR_PARSE, "the name is too long: '%.40s...'", fields[0]);
    ulna_status status = read_numbers(wanted, fields + 1, count - 1, &next, error);
    if (status == ULNA_OK)
        status = goals_find(wanted, GOALS_MARKERS | GOALS_BODIES, fields[0], &next, error);
    return status != ULNA_OK ? status : goals_append(wanted, &next, error);
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
        if (status != ULNA_OK) {
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
        return cli_fail(error, ULNA_ERR_PARSE, "this is not a text file: goals are CSV or JSON");
    return text[blanks] == '{' ? goals_read_json(wanted, text, length, error) : read_csv(wanted, text, error);
}

ulna_status goals_read(goals *wanted, const char *path, ulna_error *error)
{
    ulna_text file = ulna_text_empty(NULL);
    int before = wanted->count;
    ulna_status status = ulna_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, MAX_BYTES, &file, error);
    if (status == ULNA_OK)
        status = read_text(wanted, &file, error);
    if (status == ULNA_OK && wanted->count == before)
        status = cli_fail(error, ULNA_ERR_PARSE, "the file has no goals");
    ulna_text_release(&file);
    return status;
}
