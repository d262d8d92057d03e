/*
 * Drawings of a skeleton for the terminal: a stick figure at rest, and the tree of its bodies.
 *
 * Bones run from each body's origin to those of its children; how far the last body of a limb reaches is not part of a
 * model, so it is guessed: to twice its centre of mass, which is half-way along it, or else to the middle of its markers.
 * Lines are made of characters of the Unicode braille block, each with 2 x 4 dots, so that they look like lines in any
 * terminal and in any text file; in ASCII each becomes the sign most like it.
 */
#include "cli/info/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output.h"
#include "ulna/kinematics.h"

/* ==== the canvas ================================================================================================== */

typedef struct canvas {
    int columns, rows;   /* characters */
    unsigned char *dots; /* columns x rows; a bit per dot */
} canvas;

/* In dots: 2 x columns wide, 4 x rows high, (0, 0) is the top left one. What lies outside is not drawn. */
static void canvas_dot(canvas *paper, int x, int y)
{
    /* The order of the dots in a braille character: down the left column, down the right one, then the last row. */
    static const unsigned char bits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    if (x < 0 || y < 0 || x >= 2 * paper->columns || y >= 4 * paper->rows)
        return;
    paper->dots[(y / 4) * paper->columns + x / 2] |= bits[y % 4][x % 2];
}

static void canvas_line(canvas *paper, double x0, double y0, double x1, double y1)
{
    double length = fmax(fabs(x1 - x0), fabs(y1 - y0));
    int steps = (int)fmin(ceil(length), 4096);
    for (int i = 0; i <= steps; i++) {
        double t = steps ? (double)i / steps : 0;
        canvas_dot(paper, (int)lround(x0 + t * (x1 - x0)), (int)lround(y0 + t * (y1 - y0)));
    }
}

/* Where the dots of a character are: in one column, or in its upper or lower half. */
static char ascii_of(unsigned dots)
{
    int left = (dots & 0x47) != 0, right = (dots & 0xB8) != 0;
    int upper = (dots & 0x1B) != 0, lower = (dots & 0xE4) != 0;
    if (upper && lower)
        return left && right ? ':' : '|';
    return upper ? '\'' : lower ? '.' : ' ';
}

/* One row as UTF-8, blanks at its end included: up to 3 bytes a character, and a zero byte. */
static void canvas_row(const canvas *paper, int row, int is_ascii, char *text)
{
    for (int i = 0; i < paper->columns; i++) {
        unsigned dots = paper->dots[row * paper->columns + i];
        if (!dots || is_ascii) {
            *text++ = ascii_of(dots);
            continue;
        }
        unsigned code = 0x2800 + dots;
        *text++ = (char)(0xE0 | (code >> 12));
        *text++ = (char)(0x80 | ((code >> 6) & 0x3F));
        *text++ = (char)(0x80 | (code & 0x3F));
    }
    *text = 0;
}

/* ==== the figure ================================================================================================== */

/* Characters of a drawing: how high it is, how wide the views are together, the space between them, and what the name
 * of a view may stick out below a thin one. */
enum { ROWS = 22, LEAST_COLUMNS = 20, MOST_COLUMNS = 120, GAP = 4, NAME_EXCESS = 4 };

/* ---- at rest ------------------------------------------------------------------------------------------ */

static void grow_box(figure *shape, const double point[3])
{
    for (int k = 0; k < 3; k++) {
        shape->low[k] = fmin(shape->low[k], point[k]);
        shape->high[k] = fmax(shape->high[k], point[k]);
    }
}

static void add_bone(figure *shape, const double from[3], const double to[3])
{
    memcpy(shape->bones[shape->bone_count][0], from, 3 * sizeof(double));
    memcpy(shape->bones[shape->bone_count][1], to, 3 * sizeof(double));
    shape->bone_count++;
    grow_box(shape, to);
}

/* The middle of each body's markers, in the body's frame; counts[body] says of how many. */
static void find_middles(const ulna_model *model, int *counts, double (*middles)[3])
{
    for (int i = 0; i < ulna_model_marker_count(model); i++) {
        int body = ulna_model_marker_body(model, i);
        double position[3];
        ulna_model_marker_position(model, i, position);
        counts[body]++;
        for (int k = 0; k < 3; k++)
            middles[body][k] += (position[k] - middles[body][k]) / counts[body];
    }
}

/* Where a body without children ends, in its own frame. Returns 0 if unknown. */
static int guess_end(const ulna_model *model, int body, int marker_count, const double middle[3], double end[3])
{
    const ulna_mass *mass = ulna_model_body_mass(model, body);
    int has_center = mass->mass > 0 && (mass->center[0] != 0 || mass->center[1] != 0 || mass->center[2] != 0);
    for (int k = 0; k < 3; k++)
        end[k] = has_center ? 2 * mass->center[k] : middle[k];
    return has_center || marker_count > 0;
}

static void trace_bones(const ulna_model *model, const ulna_pose *pose, const int *counts, double (*middles)[3],
                        figure *shape)
{
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        double from[3], to[3], end[3];
        int parent = ulna_model_body_parent(model, i);
        ulna_pose_body(pose, i, to, NULL);
        if (parent != ULNA_NONE) {
            ulna_pose_body(pose, parent, from, NULL);
            add_bone(shape, from, to);
        }
        if (ulna_model_subtree(model, i, NULL) == 1 && guess_end(model, i, counts[i], middles[i], end)) {
            memcpy(from, to, sizeof from);
            ulna_pose_point(pose, i, end, to);
            add_bone(shape, from, to);
        }
    }
}

static ulna_status trace(const ulna_model *model, const ulna_pose *pose, figure *shape)
{
    size_t bodies = (size_t)ulna_model_body_count(model);
    int *counts = calloc(bodies, sizeof *counts);
    double(*middles)[3] = calloc(bodies, sizeof *middles);
    ulna_status status = counts && middles ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        ulna_pose_body(pose, 0, shape->low, NULL);
        memcpy(shape->high, shape->low, sizeof shape->high);
        find_middles(model, counts, middles);
        trace_bones(model, pose, counts, middles, shape);
        shape->marker_count = ulna_model_marker_count(model);
        ulna_pose_markers(pose, shape->markers[0]);
        for (int i = 0; i < shape->marker_count; i++)
            grow_box(shape, shape->markers[i]);
    }
    free(counts);
    free(middles);
    return status;
}

ulna_status figure_create(const ulna_model *model, figure *shape, ulna_error *error)
{
    ulna_pose *pose = NULL;
    memset(shape, 0, sizeof *shape);
    ulna_status status = ulna_pose_create(model, NULL, &pose, error);
    if (status != ULNA_OK)
        return status;
    shape->bones = calloc(2 * (size_t)ulna_model_body_count(model), sizeof *shape->bones);
    shape->markers = calloc((size_t)ulna_model_marker_count(model) + 1, sizeof *shape->markers);
    status = shape->bones && shape->markers ? ulna_pose_forward(pose, ulna_model_rest(model)) : ULNA_ERR_MEMORY;
    if (status == ULNA_OK)
        status = trace(model, pose, shape);
    ulna_pose_destroy(pose);
    if (status != ULNA_OK) {
        figure_release(shape);
        cli_fail(error, status, "the rest pose: %s", ulna_status_text(status));
    }
    return status;
}

void figure_release(figure *shape)
{
    free(shape->bones);
    free(shape->markers);
    shape->bones = NULL;
    shape->markers = NULL;
}

/* ---- drawing ------------------------------------------------------------------------------------------ */

typedef struct view {
    const char *name;
    int right, up;       /* axes */
    double scale;        /* dots a metre */
    double left, bottom; /* m */
    canvas paper;
} view;

static double extent(const figure *shape, int axis)
{
    return shape->high[axis] - shape->low[axis];
}

static void draw_view(const figure *shape, view *from)
{
    double bottom = 4 * from->paper.rows - 1;
    for (int i = 0; i < shape->bone_count + shape->marker_count; i++) {
        const double *marker = i < shape->bone_count ? NULL : shape->markers[i - shape->bone_count];
        const double *a = marker ? marker : shape->bones[i][0], *b = marker ? marker : shape->bones[i][1];
        canvas_line(&from->paper, from->scale * (a[from->right] - from->left),
                    bottom - from->scale * (a[from->up] - from->bottom), from->scale * (b[from->right] - from->left),
                    bottom - from->scale * (b[from->up] - from->bottom));
    }
}

static int width_below(const view *from, const char *name)
{
    int width = cli_width(name);
    return from->paper.columns > width ? from->paper.columns : width;
}

/* The views beside each other, their names below; what the names mean follows if there is no room for it there. */
static json_t *compose(const view views[2], const drawing *how)
{
    json_t *lines = json_array();
    char labels[2][32], line[3 * (MOST_COLUMNS + GAP) + 96], text[3 * MOST_COLUMNS + 64];
    for (int i = 0; i < 2; i++)
        snprintf(labels[i], sizeof labels[i], "%s: %c right, %c up", views[i].name, "xyz"[views[i].right],
                 "xyz"[views[i].up]);
    int is_tight = width_below(&views[0], labels[0]) + GAP + width_below(&views[1], labels[1]) > how->width;
    for (int row = 0; row <= views[0].paper.rows; row++) {
        *line = 0;
        for (int i = 0; i < 2; i++) {
            const char *name = is_tight ? views[i].name : labels[i];
            if (row < views[i].paper.rows)
                canvas_row(&views[i].paper, row, how->is_ascii, text);
            else
                snprintf(text, sizeof text, "%s", name);
            size_t length = strlen(line);
            int blanks = i == 0 ? width_below(&views[i], name) + GAP - cli_width(text) : 0;
            snprintf(line + length, sizeof line - length, "%s%*s", text, blanks, "");
        }
        fields_trim_end(line);
        json_array_append_new(lines, json_string(line));
    }
    for (int i = 0; is_tight && i < 2; i++)
        json_array_append_new(lines, json_string(labels[i]));
    snprintf(line, sizeof line, "a character is %.2g m high", 4 / views[0].scale);
    json_array_append_new(lines, json_string(line));
    return lines;
}

json_t *figure_draw(const figure *shape, const drawing *how)
{
    int up = how->up >= 0 ? how->up : extent(shape, 2) > extent(shape, 1) ? 2 : 1;
    view views[2] = {{.name = "front", .right = up == 0 ? 1 : 0, .up = up},
                     {.name = "side", .right = up == 2 ? 1 : 2, .up = up}};
    double columns = fmin(fmax(how->width - GAP - NAME_EXCESS, LEAST_COLUMNS), MOST_COLUMNS);
    double width = extent(shape, views[0].right) + extent(shape, views[1].right);
    double scale = fmin(2 * (columns - 2) / width, (4 * ROWS - 1) / extent(shape, up));
    if (!isfinite(scale) || !isfinite(1 / scale))
        return NULL; /* all in one point, or out of this world */

    for (int i = 0; i < 2; i++) {
        views[i].scale = scale;
        views[i].left = shape->low[views[i].right];
        views[i].bottom = shape->low[up];
        canvas *paper = &views[i].paper;
        paper->columns = (int)lround(scale * extent(shape, views[i].right)) / 2 + 1;
        paper->rows = (int)lround(scale * extent(shape, up)) / 4 + 1;
        paper->dots = cli_allocate((size_t)paper->columns * (size_t)paper->rows, 1);
    }
    draw_view(shape, &views[0]);
    draw_view(shape, &views[1]);
    json_t *lines = compose(views, how);
    free(views[0].paper.dots);
    free(views[1].paper.dots);
    return lines;
}

/* ==== the tree ==================================================================================================== */

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
    size_t prefix = strlen(ulna_model_joint_name(model, ulna_model_dof_body(model, dof)));
    int length = ulna_model_dof_label(model, dof, label, sizeof label);
    snprintf(text, size, "%s", length > (int)prefix + 1 ? label + prefix + 1 : "");
}

/* "±20°", "-20..35°", "0.05..0.3 m", "free" */
static void range_text(const ulna_model *model, int dof, const glyphs *with, char *text, size_t size)
{
    int is_length = ulna_model_dof_is_translation(model, dof);
    double unit = is_length ? 1 : degrees;
    double lower = ulna_model_lower(model)[dof] * unit, upper = ulna_model_upper(model)[dof] * unit;
    const char *name = is_length ? " m" : with->degree;
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

/* "Rz ±20°, Ry free", or "Rz, Ry free" where none has limits. */
static void ranges_text(const ulna_model *model, int body, const glyphs *with, char *text, size_t size)
{
    int first, count = ulna_model_body_dofs(model, body, &first), limited = 0;
    for (int k = first; k < first + count; k++)
        limited |= isfinite(ulna_model_lower(model)[k]) || isfinite(ulna_model_upper(model)[k]);
    *text = 0;
    for (int k = first; k < first + count; k++) {
        char label[32], range[64] = "";
        size_t length = strlen(text);
        short_label(model, k, label, sizeof label);
        if (limited || k + 1 == first + count) /* otherwise "Tx, Ty, Tz free": one word for all */
            range_text(model, k, with, range, sizeof range);
        snprintf(text + length, size - length, "%s%s%s%s", k > first ? ", " : "", label, *label && *range ? " " : "",
                 range);
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

static int is_last(const tree_view *tree, int body)
{
    return tree->last_child[ulna_model_body_parent(tree->model, body)] == body;
}

/* The lines that lead to a body, from the root: "│  ├─ ". */
static void stem_text(const tree_view *tree, int body, char *text, size_t size)
{
    int depth = ulna_model_body_depth(tree->model, body);
    enum { SHOWN = 24 };
    int path[SHOWN];
    if (depth >= SHOWN) { /* too deep to draw */
        snprintf(text, size, "%d deep: ", depth);
        return;
    }
    for (int at = body, i = depth; i > 0; i--, at = ulna_model_body_parent(tree->model, at))
        path[i] = at;
    *text = 0;
    for (int i = 1; i <= depth; i++) {
        size_t length = strlen(text);
        int last = is_last(tree, path[i]);
        const char *piece =
            i < depth ? (last ? "   " : tree->with->pass) : (last ? tree->with->last : tree->with->branch);
        snprintf(text + length, size - length, "%s", piece);
    }
}

static void print_body(const cli *tool, const tree_view *tree, int body)
{
    char stem[128], joint[64], ranges[512];
    stem_text(tree, body, stem, sizeof stem);
    joint_text(ulna_model_body_joint(tree->model, body), joint, sizeof joint);
    ranges_text(tree->model, body, tree->with, ranges, sizeof ranges);
    const char *name = ulna_model_body_name(tree->model, body);
    int pad = tree->name_width - cli_width(stem) - cli_width(name);
    cli_say(tool, "  %s%s%*s  ", stem, name, pad > 0 ? pad : 0, "");
    cli_say(tool, "%-*s%s%s", *ranges ? tree->joint_width : 0, joint, *ranges ? "  " : "", ranges);
    if (tree->markers[body])
        cli_say(tool, "  (%d marker%s)", tree->markers[body], tree->markers[body] == 1 ? "" : "s");
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
    tree_view tree = {.model = model,
                      .with = is_ascii ? &plain : &fine,
                      .order = cli_allocate((size_t)count, sizeof *tree.order),
                      .last_child = cli_allocate((size_t)count, sizeof *tree.last_child),
                      .markers = cli_allocate((size_t)count, sizeof *tree.markers)};
    ulna_model_subtree(model, 0, tree.order);
    for (int i = 1; i < count; i++)
        tree.last_child[ulna_model_body_parent(model, i)] = i;
    for (int i = 0; i < ulna_model_marker_count(model); i++)
        tree.markers[ulna_model_marker_body(model, i)]++;
    for (int i = 0; i < count; i++) {
        char joint[64];
        joint_text(ulna_model_body_joint(model, i), joint, sizeof joint);
        tree.joint_width = at_least(tree.joint_width, cli_width(joint), 24);
        tree.name_width = at_least(tree.name_width,
                                   3 * ulna_model_body_depth(model, i) + cli_width(ulna_model_body_name(model, i)), 40);
    }
    for (int i = 0; i < count; i++)
        print_body(tool, &tree, tree.order[i]);
    free(tree.order);
    free(tree.last_child);
    free(tree.markers);
}

/* ---- for other programs ------------------------------------------------------------------------------- */

json_t *tree_json(const ulna_model *model)
{
    json_t *list = json_array();
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        int parent = ulna_model_body_parent(model, i), first, count = ulna_model_body_dofs(model, i, &first);
        json_t *row = put_row(list);
        put_text(row, "name", ulna_model_body_name(model, i));
        put_text(row, "parent", parent == ULNA_NONE ? NULL : ulna_model_body_name(model, parent));
        put_text(row, "joint", ulna_joint_type_name(ulna_model_body_joint(model, i)->type));
        put_number(row, "bone_length_m", ulna_model_bone_length(model, i));
        json_t *dofs = put_list(row, "dofs");
        for (int k = first; k < first + count; k++) {
            char label[512];
            json_t *dof = put_row(dofs);
            ulna_model_dof_label(model, k, label, sizeof label);
            put_text(dof, "name", label);
            put_text(dof, "unit", ulna_model_dof_is_translation(model, k) ? "m" : "rad");
            put_number(dof, "lower", ulna_model_lower(model)[k]);
            put_number(dof, "upper", ulna_model_upper(model)[k]);
        }
    }
    return list;
}
