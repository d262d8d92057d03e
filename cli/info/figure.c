/*
 * The skeleton at rest as a stick figure. Bones run from each body's origin to those of its children; how far the
 * last body of a limb reaches is not part of a model, so it is guessed: to twice its centre of mass, which is half-way
 * along it, or else to the middle of its markers.
 */
#include "cli/info/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/canvas.h"
#include "ulna/kinematics.h"

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

/* Where a body without children ends, in its own frame. Returns 0 if nothing tells. */
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
        if (ulna_model_subtree_size(model, i) == 1 && guess_end(model, i, counts[i], middles[i], end)) {
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
    if (!status) {
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
    if (status)
        return status;
    shape->bones = calloc(2 * (size_t)ulna_model_body_count(model), sizeof *shape->bones);
    shape->markers = calloc((size_t)ulna_model_marker_count(model) + 1, sizeof *shape->markers);
    status = shape->bones && shape->markers ? ulna_pose_forward(pose, ulna_model_rest(model)) : ULNA_ERR_MEMORY;
    if (!status)
        status = trace(model, pose, shape);
    ulna_pose_destroy(pose);
    if (status) {
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
    double height = 4 * from->paper.rows - 1;
    for (int i = 0; i < shape->bone_count; i++) {
        const double *a = shape->bones[i][0], *b = shape->bones[i][1];
        canvas_line(&from->paper, from->scale * (a[from->right] - from->left),
                    height - from->scale * (a[from->up] - from->bottom), from->scale * (b[from->right] - from->left),
                    height - from->scale * (b[from->up] - from->bottom));
    }
    for (int i = 0; i < shape->marker_count; i++) {
        const double *at = shape->markers[i];
        canvas_dot(&from->paper, (int)lround(from->scale * (at[from->right] - from->left)),
                   (int)lround(height - from->scale * (at[from->up] - from->bottom)));
    }
}

/* Text that is followed by blanks up to a width. */
static void append_padded(char *line, size_t size, const char *text, int width)
{
    size_t length = strlen(line);
    snprintf(line + length, size - length, "%s%*s", text, width - cli_width(text), "");
}

static void trim(char *line)
{
    size_t length = strlen(line);
    while (length && line[length - 1] == ' ')
        line[--length] = 0;
}

/* "front: x right, y up" */
static void label_text(const view *from, char *text, size_t size)
{
    snprintf(text, size, "%s: %c right, %c up", from->name, "xyz"[from->right], "xyz"[from->up]);
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
        label_text(&views[i], labels[i], sizeof labels[i]);
    int is_tight = width_below(&views[0], labels[0]) + GAP + width_below(&views[1], labels[1]) > how->width;
    for (int row = 0; row <= views[0].paper.rows; row++) {
        *line = 0;
        for (int i = 0; i < 2; i++) {
            const char *name = is_tight ? views[i].name : labels[i];
            if (row < views[i].paper.rows)
                canvas_row(&views[i].paper, row, how->is_ascii, text);
            else
                snprintf(text, sizeof text, "%s", name);
            append_padded(line, sizeof line, text, width_below(&views[i], name) + (i == 0 ? GAP : 0));
        }
        trim(line);
        json_array_append_new(lines, json_string(line));
    }
    for (int i = 0; is_tight && i < 2; i++)
        json_array_append_new(lines, json_string(labels[i]));
    snprintf(line, sizeof line, "a character is %.2g m high", 4 / views[0].scale);
    json_array_append_new(lines, json_string(line));
    return lines;
}

/* Dots from the first to the last one of an axis. */
static int dots_of(const figure *shape, int axis, double scale)
{
    return (int)lround(scale * extent(shape, axis));
}

static int clamp(int value, int least, int most)
{
    return value < least ? least : value > most ? most : value;
}

json_t *figure_draw(const figure *shape, const drawing *how)
{
    int up = how->up >= 0 ? how->up : extent(shape, 2) > extent(shape, 1) ? 2 : 1;
    view views[2] = {{.name = "front", .right = up == 0 ? 1 : 0, .up = up},
                     {.name = "side", .right = up == 2 ? 1 : 2, .up = up}};
    int columns = clamp(how->width - GAP - NAME_EXCESS, LEAST_COLUMNS, MOST_COLUMNS);
    double width = extent(shape, views[0].right) + extent(shape, views[1].right);
    double scale = fmin(2 * (columns - 2) / width, (4 * ROWS - 1) / extent(shape, up));
    if (!isfinite(scale) || !isfinite(1 / scale))
        return NULL; /* all in one point, or out of this world */

    json_t *lines = NULL;
    int made = 1;
    for (int i = 0; i < 2; i++) {
        views[i].scale = scale;
        views[i].left = shape->low[views[i].right];
        views[i].bottom = shape->low[up];
        made &= canvas_create(&views[i].paper, dots_of(shape, views[i].right, scale) / 2 + 1,
                              dots_of(shape, up, scale) / 4 + 1);
    }
    if (made) {
        draw_view(shape, &views[0]);
        draw_view(shape, &views[1]);
        lines = compose(views, how);
    }
    canvas_release(&views[0].paper);
    canvas_release(&views[1].paper);
    return lines;
}
