/* The tree of bodies, one line each: where it hangs, its joint, how far each degree of freedom goes, its markers. */
#include "cli/info/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double degrees = 57.29577951308232;

typedef struct glyphs {
    const char *pass, *branch,
        *last; /* three columns each: past a body, to one with others below it, to the last one */
    const char *plus_minus, *degree;
} glyphs;

static const glyphs fine = {"│  ", "├─ ", "└─ ", "±", "°"}, plain = {"|  ", "|- ", "`- ", "+-", " deg"};

/* What distinguishes a degree of freedom within its body: "Rz"; empty if it is the only one. */
static void short_label(const ulna_model *model, int dof, char *text, size_t size)
{
    char label[512];
    size_t prefix = strlen(ulna_model_body_name(model, ulna_model_dof_body(model, dof)));
    int length = ulna_model_dof_label(model, dof, label, sizeof label);
    snprintf(text, size, "%s", length > (int)prefix + 1 ? label + prefix + 1 : "");
}

/* "±20°", "-20..35°", "0.05..0.3 m", "free" */
static void range_text(const ulna_model *model, int dof, const glyphs *with, char *text, size_t size)
{
    int slides = ulna_model_dof_is_translation(model, dof);
    double unit = slides ? 1 : degrees;
    double lower = ulna_model_lower(model)[dof] * unit, upper = ulna_model_upper(model)[dof] * unit;
    const char *name = slides ? " m" : with->degree;
    if (!isfinite(lower) && !isfinite(upper))
        snprintf(text, size, "free");
    else if (lower == -upper)
        snprintf(text, size, "%s%.3g%s", with->plus_minus, upper, name);
    else if (!isfinite(lower))
        snprintf(text, size, "up to %.3g%s", upper, name);
    else if (!isfinite(upper))
        snprintf(text, size, "from %.3g%s", lower, name);
    else
        snprintf(text, size, "%.3g..%.3g%s", lower, upper, name);
}

static void joint_text(const ulna_joint *joint, char *text, size_t size)
{
    snprintf(text, size, "%s%s%s%s", ulna_joint_type_name(joint->type), *joint->order ? " " : "", joint->order,
             joint->reversed ? " reversed" : "");
}

/* "Rz ±20°, Ry free", or "free" for all of several that have no limits. */
static void ranges_text(const ulna_model *model, int body, const glyphs *with, char *text, size_t size)
{
    int first, count = ulna_model_body_dofs(model, body, &first), limited = 0;
    for (int k = first; k < first + count; k++)
        limited |= isfinite(ulna_model_lower(model)[k]) || isfinite(ulna_model_upper(model)[k]);
    *text = 0;
    for (int k = first; k < first + count; k++) {
        char label[32], range[64];
        size_t length = strlen(text);
        short_label(model, k, label, sizeof label);
        range_text(model, k, with, range, sizeof range);
        snprintf(text + length, size - length, "%s%s%s%s", k > first ? ", " : "", label, *label ? " " : "",
                 limited || count == 1 ? range : "");
    }
    if (count > 1 && !limited) { /* "Tx, Ty, Tz free": labels alone, then one word */
        char *end = text;
        for (const char *from = text; *from; from++)
            if (!(from[0] == ' ' && (from[1] == ',' || !from[1])))
                *end++ = *from;
        snprintf(end, size - (size_t)(end - text), " free");
    }
}

/* ---- for people --------------------------------------------------------------------------------------- */

typedef struct tree_view {
    const ulna_model *model;
    const glyphs *with;
    int *order;      /* bodies, depth first, so that lines join */
    int *last_child; /* of each body, or 0: the root is nobody's child */
    int *markers;    /* of each body: how many */
    int name_width;  /* with what leads to it */
    int joint_width;
} tree_view;

static int is_last(const tree_view *view, int body)
{
    return view->last_child[ulna_model_body_parent(view->model, body)] == body;
}

/* The lines that lead to a body, from the root: "│  ├─ ". */
static void stem_text(const tree_view *view, int body, char *text, size_t size)
{
    int depth = ulna_model_body_depth(view->model, body);
    enum { SHOWN = 24 };
    int path[SHOWN];
    if (depth >= SHOWN) { /* a chain this long is told by numbers */
        snprintf(text, size, "%d deep: ", depth);
        return;
    }
    for (int at = body, i = depth; i > 0; i--, at = ulna_model_body_parent(view->model, at))
        path[i] = at;
    *text = 0;
    for (int i = 1; i <= depth; i++) {
        size_t length = strlen(text);
        int last = is_last(view, path[i]);
        const char *piece =
            i < depth ? (last ? "   " : view->with->pass) : (last ? view->with->last : view->with->branch);
        snprintf(text + length, size - length, "%s", piece);
    }
}

static void print_body(const cli *tool, const tree_view *view, int body)
{
    char stem[128], joint[64], ranges[512];
    stem_text(view, body, stem, sizeof stem);
    joint_text(ulna_model_body_joint(view->model, body), joint, sizeof joint);
    ranges_text(view->model, body, view->with, ranges, sizeof ranges);
    const char *name = ulna_model_body_name(view->model, body);
    int pad = view->name_width - cli_width(stem) - cli_width(name);
    cli_say(tool, "  %s%s%*s  ", stem, name, pad > 0 ? pad : 0, "");
    cli_say(tool, "%-*s%s%s", *ranges ? view->joint_width : 0, joint, *ranges ? "  " : "", ranges);
    if (view->markers[body])
        cli_say(tool, "  (%d marker%s)", view->markers[body], view->markers[body] == 1 ? "" : "s");
    cli_say(tool, "\n");
}

/* The larger width, but what is wider than `most` may stick out. */
static int at_least(int width, int wanted, int most)
{
    return wanted > width && wanted <= most ? wanted : width;
}

void tree_print(const cli *tool, const ulna_model *model, int is_ascii)
{
    int count = ulna_model_body_count(model);
    tree_view view = {.model = model,
                      .with = is_ascii ? &plain : &fine,
                      .order = calloc((size_t)count, sizeof *view.order),
                      .last_child = calloc((size_t)count, sizeof *view.last_child),
                      .markers = calloc((size_t)count, sizeof *view.markers)};
    if (view.order && view.last_child && view.markers) {
        ulna_model_subtree(model, 0, view.order);
        for (int i = 1; i < count; i++)
            view.last_child[ulna_model_body_parent(model, i)] = i;
        for (int i = 0; i < ulna_model_marker_count(model); i++)
            view.markers[ulna_model_marker_body(model, i)]++;
        for (int i = 0; i < count; i++) {
            char joint[64];
            joint_text(ulna_model_body_joint(model, i), joint, sizeof joint);
            view.joint_width = at_least(view.joint_width, cli_width(joint), 24);
            view.name_width = at_least(
                view.name_width, 3 * ulna_model_body_depth(model, i) + cli_width(ulna_model_body_name(model, i)), 40);
        }
        for (int i = 0; i < count; i++)
            print_body(tool, &view, view.order[i]);
    }
    free(view.order);
    free(view.last_child);
    free(view.markers);
}

/* ---- for other programs ------------------------------------------------------------------------------- */

json_t *tree_json(const ulna_model *model)
{
    json_t *list = json_array();
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        const ulna_joint *joint = ulna_model_body_joint(model, i);
        int parent = ulna_model_body_parent(model, i), first, count = ulna_model_body_dofs(model, i, &first);
        json_t *row = json_object(), *dofs = json_array();
        json_object_set_new(row, "name", cli_json_text(ulna_model_body_name(model, i)));
        json_object_set_new(row, "parent",
                            parent == ULNA_NONE ? json_null() : cli_json_text(ulna_model_body_name(model, parent)));
        json_object_set_new(row, "joint", cli_json_text(ulna_joint_type_name(joint->type)));
        json_object_set_new(row, "bone_length_m", cli_json_number(ulna_model_bone_length(model, i)));
        json_object_set_new(row, "dofs", dofs);
        for (int k = first; k < first + count; k++) {
            char label[512];
            json_t *dof = json_object();
            ulna_model_dof_label(model, k, label, sizeof label);
            json_object_set_new(dof, "name", cli_json_text(label));
            json_object_set_new(dof, "unit", cli_json_text(ulna_model_dof_is_translation(model, k) ? "m" : "rad"));
            json_object_set_new(dof, "lower", cli_json_number(ulna_model_lower(model)[k]));
            json_object_set_new(dof, "upper", cli_json_number(ulna_model_upper(model)[k]));
            json_array_append_new(dofs, dof);
        }
        json_array_append_new(list, row);
    }
    return list;
}
