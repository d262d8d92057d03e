/* Goals from JSON. What jansson has parsed does not know its line any more: a cursor finds it in the text. */
#include "cli/global/goals.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static ulna_status read_number(json_t *value, const char *what, double *number, ulna_error *error)
{
    if (!json_is_number(value))
        return cli_fail(error, ULNA_ERR_PARSE, "%s is not a number", what);
    *number = json_number_value(value);
    if (!isfinite(*number))
        return cli_fail(error, ULNA_ERR_NUMBER, "%s is not a finite number", what);
    return ULNA_OK;
}

static ulna_status read_numbers(json_t *value, const char *what, double *numbers, int count, ulna_error *error)
{
    if (!json_is_array(value) || json_array_size(value) != (size_t)count)
        return cli_fail(error, ULNA_ERR_PARSE, "%s should be a list of %d numbers", what, count);
    ulna_status status = ULNA_OK;
    for (int i = 0; !status && i < count; i++)
        status = read_number(json_array_get(value, (size_t)i), what, &numbers[i], error);
    return status;
}

static ulna_status read_orientation(json_t *value, goal *next, ulna_error *error)
{
    double q[4] = {0}, *rotation = next->rotation;
    ulna_status status = ULNA_OK;
    switch (json_array_size(value)) { /* 0 for what is no list */
    case 3:
        for (size_t i = 0; !status && i < 3; i++)
            status = read_numbers(json_array_get(value, i), "a row of the orientation", rotation + 3 * i, 3, error);
        return status;
    case 4:
        status = read_numbers(value, "orientation", q, 4, error);
        return status ? status : goals_set_rotation(next, q, error);
    case 9:
        return read_numbers(value, "orientation", rotation, 9, error);
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
    ulna_status status = read_numbers(value, what, place, 3, error);
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
        return cli_fail(error, ULNA_ERR_PARSE, "'%.60s' is its name already", key);
    if (!key && !marker == !body)
        return cli_fail(error, ULNA_ERR_PARSE, "a goal is about a \"marker\" or a \"body\", %s",
                        marker ? "not both" : "and neither is named");
    if (!key && !json_is_string(name))
        return cli_fail(error, ULNA_ERR_PARSE, "%s should be a name", marker ? "marker" : "body");
    int among = key ? GOALS_MARKERS | GOALS_BODIES : marker ? GOALS_MARKERS : GOALS_BODIES;
    ulna_status status = goals_find(wanted, among, key ? key : json_string_value(name), next, error);
    if (!status && point && next->marker != ULNA_NONE)
        return cli_fail(error, ULNA_ERR_PARSE, "a marker has its own point; \"point\" goes with \"body\"");
    return !status && point ? read_place(wanted, point, "point", next->point, error) : status;
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
    if (!status)
        status = read_target(wanted, key, object, next, error);
    if (!status && !position && !orientation)
        return cli_fail(error, ULNA_ERR_PARSE, "a goal needs a \"position\" or an \"orientation\"");
    if (!status && position) {
        next->what |= GOAL_POSITION;
        status = read_place(wanted, position, "position", next->position, error);
    }
    if (!status && orientation) {
        next->what |= GOAL_ORIENTATION;
        status = read_orientation(orientation, next, error);
    }
    if (!status && weight)
        status = read_number(weight, "weight", &next->weight, error);
    if (!status && next->weight < 0)
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
        read_numbers(list, "start, a number for each coordinate of the skeleton,", wanted->start, nq, error);
    if (!status && ulna_model_check_q(wanted->model, wanted->start, &coordinate))
        status = cli_fail(error, ULNA_ERR_PARSE, "start: the quaternion of coordinate %d is zero", coordinate);
    return status;
}

static ulna_status add_goal(goals *wanted, const char *key, json_t *value, int line, ulna_error *error)
{
    goal next = {.what = GOAL_POSITION, .weight = 1};
    ulna_status status;
    if (key && json_is_array(value)) {
        status = goals_find(wanted, GOALS_MARKERS | GOALS_BODIES, key, &next, error);
        if (!status)
            status = read_place(wanted, value, "a position", next.position, error);
    } else
        status = read_goal(wanted, key, value, &next, error);
    next.line = line;
    if (!status)
        status = goals_append(wanted, &next, error);
    if (status)
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
    for (size_t i = 0; !status && i < json_array_size(list); i++)
        status = add_goal(wanted, NULL, json_array_get(list, i), next_line(&place), error);
    json_object_foreach(list, key, value) /* does nothing with a list */
    {
        next_line(&place); /* the key's */
        int line = next_line(&place);
        status = status ? status : add_goal(wanted, key, value, line, error);
    }
    return status;
}

ulna_status goals_read_json(goals *wanted, const char *text, size_t length, ulna_error *error)
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
    if (!status && !json_is_array(list) && !json_is_object(list))
        status = cli_fail(error, ULNA_ERR_PARSE, "\"goals\", a list of them, is missing");
    if (!status)
        status = read_goals(wanted, list, cursor_at(text, length, "goals"), error);
    if (!status && start) {
        cursor place = cursor_at(text, length, "start");
        status = read_start(wanted, start, error);
        if (status)
            error->line = next_line(&place);
    }
    json_decref(root);
    return status;
}
