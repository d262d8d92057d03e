/* Goals: the list of them, from lines of text and from JSON. */
#include "cli/global/goals.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "src/base/algorithms.h"

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
            return cli_no_memory(error);
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
    const char **names = calloc((size_t)markers + (size_t)bodies + 1, sizeof *names), *nearest;
    if (!names)
        cli_out_of_memory();
    for (int i = 0; i < markers; i++)
        names[i] = ulna_model_marker_name(model, i);
    for (int i = 0; i < bodies; i++)
        names[markers + i] = ulna_model_body_name(model, i);
    nearest = ulna_nearest_name(name, names, sizeof *names);
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
    }
    return status;
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* In the goals' unit of length, to metres. */
static ulna_status read_place(const goals *wanted, const ulna_json_node *node, double place[3])
{
    ulna_status status = ulna_json_numbers(node, place, 3);
    for (int i = 0; i < 3; i++)
        place[i] *= wanted->unit_m;
    return status;
}

/* The target by its name, or by "marker" or "body" if the node is an element of a list and has no name. */
static ulna_status read_target(const goals *wanted, const ulna_json_node *node, goal *next)
{
    ulna_json_node marker, body, point;
    int has_marker = ulna_json_find(node, "marker", &marker), has_body = ulna_json_find(node, "body", &body);
    const char *name = node->key;
    if (name && (has_marker || has_body))
        return ulna_json_fail(node, ULNA_ERR_PARSE, "the goal already has a name");
    if (!name && has_marker == has_body)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "a goal needs a \"marker\" or a \"body\", %s",
                              has_marker ? "not both" : "and has neither");
    int among = name ? GOALS_MARKERS | GOALS_BODIES : has_marker ? GOALS_MARKERS : GOALS_BODIES;
    ulna_status status = name ? ULNA_OK : ulna_json_string(has_marker ? &marker : &body, &name);
    if (status == ULNA_OK)
        status = ulna_json_locate(node, goals_find(wanted, among, name, next, node->document->error));
    if (status != ULNA_OK || !ulna_json_find(node, "point", &point))
        return status;
    if (next->marker != ULNA_NONE)
        return ulna_json_fail(&point, ULNA_ERR_PARSE, "needs a \"body\": a marker has its own point");
    return read_place(wanted, &point, next->point);
}

/* Three rows of three numbers, nine numbers, or a quaternion. */
static ulna_status read_orientation(const goals *wanted, const ulna_json_node *node, goal *next)
{
    ulna_json_node orientation;
    ulna_problem *trial = NULL;
    ulna_json_find(node, "orientation", &orientation);
    ulna_status status = json_array_size(orientation.value) == 9
                             ? ulna_json_numbers(&orientation, next->rotation, 9)
                             : ulna_json_find_rotation(node, "orientation", next->rotation);
    if (status != ULNA_OK)
        return status;
    status = ulna_problem_create(wanted->model, NULL, &trial, node->document->error);
    if (status == ULNA_OK) /* is it a rotation? */
        status = ulna_problem_add_orientation(trial, next->body, next->rotation, 1, NULL, node->document->error);
    ulna_problem_destroy(trial);
    return ulna_json_locate(&orientation, status);
}

static ulna_status read_goal(const goals *wanted, const ulna_json_node *node, goal *next)
{
    ulna_json_node position, orientation;
    ulna_status status = ulna_json_check_object(node, "marker, body, point, position, orientation, weight");
    if (status == ULNA_OK)
        status = read_target(wanted, node, next);
    if (status != ULNA_OK)
        return status;
    next->what = (ulna_json_find(node, "position", &position) ? GOAL_POSITION : 0) |
                 (ulna_json_find(node, "orientation", &orientation) ? GOAL_ORIENTATION : 0);
    if (!next->what)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "a goal needs a \"position\" or an \"orientation\"");
    if (next->what & GOAL_POSITION)
        status = read_place(wanted, &position, next->position);
    if (status == ULNA_OK && (next->what & GOAL_ORIENTATION))
        status = read_orientation(wanted, node, next);
    if (status == ULNA_OK)
        status = ulna_json_find_number(node, "weight", &next->weight);
    if (status == ULNA_OK && next->weight < 0)
        return ulna_json_fail(node, ULNA_ERR_PARSE, "the weight is negative: %g", next->weight);
    return status;
}

static ulna_status add_json_goal(goals *wanted, const ulna_json_node *node)
{
    goal next = {.what = GOAL_POSITION, .weight = 1};
    ulna_error *error = node->document->error;
    ulna_status status;
    if (node->key && json_is_array(node->value)) {
        status = ulna_json_locate(node, goals_find(wanted, GOALS_MARKERS | GOALS_BODIES, node->key, &next, error));
        if (status == ULNA_OK)
            status = read_place(wanted, node, next.position);
    } else
        status = read_goal(wanted, node, &next);
    return status == ULNA_OK ? goals_append(wanted, &next, error) : status;
}

static ulna_status read_start(goals *wanted, const ulna_json_node *node)
{
    int nq = ulna_model_coordinate_count(wanted->model), coordinate;
    free(wanted->start);
    wanted->start = calloc((size_t)nq + 1, sizeof *wanted->start);
    if (!wanted->start)
        return cli_no_memory(node->document->error);
    ulna_status status = ulna_json_numbers(node, wanted->start, nq);
    if (status == ULNA_OK && ulna_model_check_q(wanted->model, wanted->start, &coordinate))
        status = ulna_json_fail(node, ULNA_ERR_PARSE, "the quaternion of coordinate %d is zero", coordinate);
    return status;
}

static ulna_status read_unit(goals *wanted, const ulna_json_node *root)
{
    ulna_json_node node;
    const char *name;
    if (!ulna_json_find(root, "unit", &node))
        return ULNA_OK;
    ulna_status status = ulna_json_string(&node, &name);
    double metres = status == ULNA_OK ? ulna_unit_metres(name) : 1;
    if (!(metres > 0))
        return ulna_json_fail(&node, ULNA_ERR_PARSE, "should be m, cm, mm, in or ft, not '%.40s'", name);
    wanted->unit_m = metres;
    return status;
}

/* What is kept is not for commands that make goals small. */
static ulna_status refuse_more(const ulna_json_node *root)
{
    static const char *const keys[] = {"constraints", "feet", "locked", "strengths"};
    ulna_json_node node;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (ulna_json_find(root, keys[i], &node))
            return ulna_json_fail(
                &node, ULNA_ERR_UNSUPPORTED,
                "this command takes goals, which are soft: it keeps no constraints and plants no feet; "
                "`ulna solve --constraints` and `ulna compare --constraints` do");
    return ULNA_OK;
}

static ulna_status read_document(goals *wanted, const ulna_json_node *root)
{
    ulna_json_node list = {0}, start;
    ulna_status status = wanted->read_more ? ULNA_OK : refuse_more(root);
    if (status == ULNA_OK)
        status =
            ulna_json_check_object(root, wanted->read_more ? "unit, goals, start, " GOALS_MORE : "unit, goals, start");
    if (status == ULNA_OK)
        status = read_unit(wanted, root);
    if (status == ULNA_OK && wanted->read_more)
        status = wanted->read_more(wanted->more_context, root);
    if (status == ULNA_OK && wanted->read_more && !ulna_json_find(root, "goals", &list))
        return ULNA_OK;
    if (status == ULNA_OK)
        status = ulna_json_need(root, "goals", &list);
    if (status == ULNA_OK && !json_is_object(list.value))
        status = ulna_json_check_list(&list, "goals");
    if (status != ULNA_OK)
        return status;
    for (size_t i = 0; status == ULNA_OK && i < json_array_size(list.value); i++) {
        ulna_json_node element = ulna_json_element(&list, i);
        status = add_json_goal(wanted, &element);
    }
    const char *key;
    json_t *value;
    json_object_foreach(list.value, key, value) /* does nothing with a list */
    {
        ulna_json_node member = {.document = list.document, .parent = &list, .value = value, .key = key};
        status = status == ULNA_OK ? add_json_goal(wanted, &member) : status;
    }
    return status == ULNA_OK && ulna_json_find(root, "start", &start) ? read_start(wanted, &start) : status;
}

static ulna_status goals_read_json(goals *wanted, const char *text, size_t length, ulna_error *error)
{
    ulna_json document;
    ulna_status status = ulna_json_open(&document, text, length, error);
    ulna_json_node root = ulna_json_root(&document);
    if (status == ULNA_OK)
        status = read_document(wanted, &root);
    ulna_json_close(&document);
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

static ulna_status add_fields(goals *wanted, char *const *fields, int count, ulna_error *error)
{
    goal next = {.weight = 1};
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
        return cli_no_memory(error);
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
    ulna_status status = add_fields(wanted, fields, count, error);
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
        ulna_status status = skip ? ULNA_OK : add_fields(wanted, fields, count, error);
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
    if (text[blanks] == '[') {
        cli_fail(error, ULNA_ERR_PARSE, "the file is a list: it should be an object, {\"%s\": [...]}",
                 wanted->read_more ? "constraints" : "goals");
        error->line = 1;
        return ULNA_ERR_PARSE;
    }
    return text[blanks] == '{' ? goals_read_json(wanted, text, length, error) : read_csv(wanted, text, error);
}

ulna_status goals_read(goals *wanted, const char *path, ulna_error *error)
{
    ulna_text file = ulna_text_empty(NULL);
    int before = wanted->count;
    ulna_status status = ulna_file_read(strcmp(path, "-") == 0 ? "/dev/stdin" : path, MAX_BYTES, &file, error);
    if (status == ULNA_OK)
        status = read_text(wanted, &file, error);
    if (status == ULNA_OK && wanted->count == before && !wanted->read_more)
        status = cli_fail(error, ULNA_ERR_PARSE, "the file has no goals");
    ulna_text_release(&file);
    return status;
}
