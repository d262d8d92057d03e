/* The whole picture: its layout, the maps and their legends. The surfaces are in surface.c. */
#include "cli/definiteness/map.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/definiteness/contour.h"

#define DEGREES (180 / 3.14159265358979323846)

/* Lengths of the layout, in pixels. */
enum {
    LEFT = 78,
    RIGHT = 34,
    PITCH = 360,
    MAP_SIDE = 276,
    TOP = 104, /* of the maps */
    LEGEND = 52,
    LEGEND_ROW = 17,
    SURFACE = 134, /* both below the maps */
    SURFACE_HEIGHT = 300,
    LEAST_WIDTH = 520
};

const char *const map_region_names[SWEEP_REGION_COUNT] = {
    [SWEEP_POSITIVE] = "positive definite",
    [SWEEP_INDEFINITE] = "indefinite",
    [SWEEP_NEGATIVE] = "negative definite",
    [SWEEP_SEMIDEFINITE] = "semi-definite",
};

unsigned map_region_colour(sweep_region region, double brightness)
{
    static const double base[SWEEP_REGION_COUNT][3] = {
        [SWEEP_POSITIVE] = {255, 255, 255},
        [SWEEP_INDEFINITE] = {200, 200, 200},
        [SWEEP_NEGATIVE] = {112, 112, 112},
        [SWEEP_SEMIDEFINITE] = {208, 32, 32},
    };
    unsigned colour = 0;
    for (int k = 0; k < 3; k++)
        colour = colour << 8 | (unsigned)fmin(255, base[region][k] * brightness + 0.5);
    return colour;
}

/* ---- the mesh ----------------------------------------------------------------------------------------- */

ulna_status map_mesh_create(sweep *over, const map_axis axes[2], map_mesh *mesh)
{
    enum { NODES = MAP_STEPS + 1 };
    mesh->f = malloc(3 * NODES * NODES * sizeof(double));
    mesh->regions = malloc(NODES * NODES);
    if (!mesh->f || !mesh->regions)
        return ULNA_ERR_MEMORY;
    mesh->low = mesh->f + NODES * NODES;
    mesh->high = mesh->low + NODES * NODES;
    for (int node = 0; node < NODES * NODES; node++) {
        double place[2];
        for (int k = 0; k < 2; k++) {
            double along = (double)(k == 0 ? node % NODES : node / NODES) / MAP_STEPS;
            place[k] = (1 - along) * axes[k].range.low + along * axes[k].range.high;
        }
        sweep_sample sample;
        ulna_status status = sweep_at(over, place, &sample);
        if (status)
            return status;
        mesh->f[node] = sample.f;
        mesh->regions[node] = (unsigned char)sweep_classify(over, &sample);
        int is_zero = mesh->regions[node] == SWEEP_SEMIDEFINITE; /* then the sign of what is left means nothing */
        mesh->low[node] = is_zero && sample.low + sample.high >= 0 ? 0 : sample.low;
        mesh->high[node] = is_zero && sample.low + sample.high <= 0 ? 0 : sample.high;
    }
    return ULNA_OK;
}

void map_mesh_release(map_mesh *mesh)
{
    free(mesh->f);
    free(mesh->regions);
    *mesh = (map_mesh){0};
}

/* ---- axes --------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten; for angles first the parts of a turn. */
static double choose_step(double width, int is_angle, int wanted)
{
    static const double parts[] = {1, 2, 5, 10, 15, 30, 45, 90, 180, 360};
    if (is_angle && width >= wanted)
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
            if (width / parts[i] <= wanted)
                return parts[i];
    double power = pow(10, floor(log10(width / wanted)));
    double step = width / wanted / power;
    return power * (step <= 1 ? 1 : step <= 2 ? 2 : step <= 5 ? 5 : 10);
}

map_ticks map_choose_ticks(const sweep_range *range, int is_angle, int wanted)
{
    map_ticks ticks = {0};
    double unit = is_angle ? DEGREES : 1;
    double low = range->low * unit, high = range->high * unit, width = high - low;
    if (!(width > 1e-9 * fmax(fabs(low), fabs(high))))
        return ticks;
    double step = choose_step(width, is_angle, wanted);
    for (double k = ceil(low / step - 1e-6); k * step <= high + 1e-6 * step && ticks.count < 16; k++) {
        char *text = ticks.texts[ticks.count];
        snprintf(text, sizeof ticks.texts[0], "%s%.6g", k < 0 ? "−" : "", fabs(k * step));
        ticks.values[ticks.count++] = k * step / unit;
    }
    return ticks;
}

const char *map_axis_title(const map_axis *axis, int most, char *text, size_t size)
{
    char name[300];
    snprintf(text, size, "%s (%s)", picture_shorten(axis->name, most, name, sizeof name), axis->is_angle ? "°" : "m");
    return text;
}

/* ---- the map ------------------------------------------------------------------------------------------ */

/* From the range of an axis to the side of the map, 0 to 1. */
static double fraction(const sweep_range *range, double value)
{
    return range->high > range->low ? (value - range->low) / (range->high - range->low) : 0.5;
}

/* Runs of equal cells, region by region: one shape each in SVG. The indefinite region is the ground. */
static void draw_cells(picture *paper, const map_panel *panel, double x, double y)
{
    int size = panel->size;
    double side = (double)MAP_SIDE / size;
    picture_cell(paper, map_region_colour(SWEEP_INDEFINITE, 1), x, y, x + MAP_SIDE, y + MAP_SIDE);
    for (int region = 0; region < SWEEP_REGION_COUNT; region++)
        for (int row = 0; row < size && region != SWEEP_INDEFINITE; row++) {
            const unsigned char *cells = panel->regions + (size_t)(size - 1 - row) * (size_t)size;
            for (int first = 0, end; first < size; first = end) {
                for (end = first + 1; end < size && cells[end] == cells[first];)
                    end++;
                if (cells[first] == region)
                    picture_cell(paper, map_region_colour((sweep_region)region, 1), x + first * side, y + row * side,
                                 x + end * side, y + (row + 1) * side);
            }
        }
}

typedef struct line_target {
    picture *paper;
    double x, y; /* bottom left of the map */
} line_target;

static void draw_line(void *context, const picture_point *points, int count)
{
    const line_target *target = context;
    picture_point *moved = malloc((size_t)count * sizeof *moved);
    if (!moved) {
        target->paper->failed = 1;
        return;
    }
    for (int i = 0; i < count; i++) {
        moved[i].x = target->x + points[i].x * MAP_SIDE / MAP_STEPS;
        moved[i].y = target->y - points[i].y * MAP_SIDE / MAP_STEPS;
    }
    picture_line(target->paper, map_region_colour(SWEEP_SEMIDEFINITE, 1), 1.2, moved, count);
    free(moved);
}

/* Between regions an eigenvalue is zero. */
static void draw_curves(picture *paper, const map_mesh *mesh, double x, double y)
{
    line_target target = {paper, x, y + MAP_SIDE};
    const double *values[2] = {mesh->low, mesh->high};
    unsigned char silent[(MAP_STEPS + 1) * (MAP_STEPS + 1)];
    for (int i = 0; i < (MAP_STEPS + 1) * (MAP_STEPS + 1); i++)
        silent[i] = mesh->regions[i] == SWEEP_SEMIDEFINITE;
    for (int k = 0; k < 2; k++)
        paper->failed |= !contour_trace(values[k], silent, MAP_STEPS + 1, MAP_STEPS + 1, draw_line, &target);
}

static void draw_limits(picture *paper, const map_axis axes[2], double x, double y)
{
    double from[2], to[2];
    if (!axes[0].has_limits && !axes[1].has_limits)
        return;
    for (int k = 0; k < 2; k++) {
        from[k] = axes[k].has_limits ? fmin(fmax(fraction(&axes[k].range, axes[k].limits.low), 0), 1) : 0;
        to[k] = axes[k].has_limits ? fmin(fmax(fraction(&axes[k].range, axes[k].limits.high), 0), 1) : 1;
    }
    picture_frame(paper, MAP_LIMITS, 2, x + from[0] * MAP_SIDE, y + (1 - to[1]) * MAP_SIDE,
                  (to[0] - from[0]) * MAP_SIDE, (to[1] - from[1]) * MAP_SIDE);
}

static void draw_axes(picture *paper, const map_axis axes[2], double x, double y, int is_first)
{
    char text[320];
    double bottom = y + MAP_SIDE;
    map_ticks ticks = map_choose_ticks(&axes[0].range, axes[0].is_angle, 4);
    for (int i = 0; i < ticks.count; i++) {
        double at = x + MAP_SIDE * fraction(&axes[0].range, ticks.values[i]);
        picture_segment(paper, MAP_INK, 1, at, bottom, at, bottom + 5);
        picture_text(paper, MAP_INK, 11, PICTURE_MIDDLE, at, bottom + 18, "%s", ticks.texts[i]);
    }
    ticks = map_choose_ticks(&axes[1].range, axes[1].is_angle, 4);
    for (int i = 0; i < ticks.count; i++) {
        double at = bottom - MAP_SIDE * fraction(&axes[1].range, ticks.values[i]);
        picture_segment(paper, MAP_INK, 1, x - 5, at, x, at);
        picture_text(paper, MAP_INK, 11, PICTURE_END, x - 8, at + 4, "%s", ticks.texts[i]);
    }
    picture_text(paper, MAP_INK, 12, PICTURE_MIDDLE, x + MAP_SIDE / 2.0, bottom + 36, "%s",
                 map_axis_title(&axes[0], 36, text, sizeof text));
    if (is_first)
        picture_text(paper, MAP_INK, 12, PICTURE_MIDDLE | PICTURE_UPWARDS, x - 58, y + MAP_SIDE / 2.0, "%s",
                     map_axis_title(&axes[1], 36, text, sizeof text));
    picture_frame(paper, MAP_INK, 1, x, y, MAP_SIDE, MAP_SIDE);
}

/* ---- around it ---------------------------------------------------------------------------------------- */

/* The key to the colours, with each region's share. */
static void draw_legend(picture *paper, const map_panel *panel, double x, double y)
{
    for (int region = 0; region < SWEEP_REGION_COUNT; region++) {
        double row = y + region * LEGEND_ROW;
        char share[32];
        map_percent_text(panel->percent[region], share, sizeof share);
        picture_box(paper, map_region_colour((sweep_region)region, 1), x, row, 12, 12);
        picture_frame(paper, MAP_RULE, 0.8, x, row, 12, 12);
        picture_text(paper, MAP_INK, 12, PICTURE_END, x + 78, row + 10.5, "%s", share);
        picture_text(paper, MAP_INK, 12, 0, x + 88, row + 10.5, "%s%s", map_region_names[region],
                     region == SWEEP_SEMIDEFINITE ? ", and the curves" : "");
    }
}

const char *map_percent_text(double percent, char *text, size_t size)
{
    if (percent > 0 && percent < 0.01)
        snprintf(text, size, "< 0.01 %%");
    else
        snprintf(text, size, "%.2f %%", percent);
    return text;
}

static void draw_panel(picture *paper, const map_view *view, const map_panel *panel, double x, int is_first)
{
    double bottom = TOP + MAP_SIDE;
    picture_text(paper, MAP_INK, 14, PICTURE_MIDDLE | PICTURE_BOLD, x + MAP_SIDE / 2.0, TOP - 14, "%s", panel->title);
    draw_cells(paper, panel, x, TOP);
    draw_curves(paper, &panel->mesh, x, TOP);
    draw_limits(paper, view->axes, x, TOP);
    draw_axes(paper, view->axes, x, TOP, is_first);
    draw_legend(paper, panel, x + 20, bottom + LEGEND);
    map_draw_surface(paper, view, &panel->mesh, x - 30, bottom + SURFACE, MAP_SIDE + 50, SURFACE_HEIGHT);
}

void map_draw(const map_view *view, picture *paper)
{
    double wanted = LEFT + view->count * PITCH - (PITCH - MAP_SIDE) + RIGHT;
    double width = fmax(wanted, LEAST_WIDTH);
    picture_init(paper, width, TOP + MAP_SIDE + SURFACE + SURFACE_HEIGHT, view->title);
    picture_text(paper, MAP_INK, 18, PICTURE_BOLD, 22, 34, "%s", view->title);
    picture_text(paper, MAP_PALE_INK, 12, 0, 22, 56, "%s", view->subtitle);
    for (int i = 0; i < view->count; i++)
        draw_panel(paper, view, &view->panels[i], LEFT + (width - wanted) / 2 + i * PITCH, i == 0);
}
