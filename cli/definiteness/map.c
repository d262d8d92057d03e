/* The picture of `ulna definiteness`: its layout, the maps and their legends. The surfaces are in surface.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/definiteness/definiteness.h"

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

static const unsigned limits_colour = 0x1F5FBF;

static const char *const region_names[SWEEP_REGION_COUNT] = {
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

void map_line(markup *paper, unsigned colour, double width, const svg_point *points, int count)
{
    char attributes[80];
    snprintf(attributes, sizeof attributes, "fill=\"none\" stroke=\"#%06x\" stroke-width=\"%g\"", colour, width);
    svg_line(paper, attributes, points, count);
}

void map_segment(markup *paper, double width, double x0, double y0, double x1, double y1)
{
    const svg_point ends[2] = {{x0, y0}, {x1, y1}};
    map_line(paper, MAP_INK, width, ends, 2);
}

void map_area(markup *paper, unsigned colour, const svg_point *points, int count)
{
    char attributes[32];
    snprintf(attributes, sizeof attributes, "fill=\"#%06x\"", colour);
    svg_area(paper, attributes, points, count);
}

static void draw_frame(markup *paper, unsigned colour, double line, double x, double y, double width, double height)
{
    const svg_point corners[5] = {{x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}, {x, y}};
    map_line(paper, colour, line, corners, 5);
}

/* ---- memory and mesh ---------------------------------------------------------------------------------- */

ulna_status map_panel_create(map_panel *panel, int size)
{
    *panel = (map_panel){.regions = malloc((size_t)size * (size_t)size),
                         .f = malloc(3 * MAP_NODES * sizeof *panel->f),
                         .node_regions = malloc(MAP_NODES)};
    if (!panel->regions || !panel->f || !panel->node_regions)
        return ULNA_ERR_MEMORY;
    panel->low = panel->f + MAP_NODES;
    panel->high = panel->low + MAP_NODES;
    return ULNA_OK;
}

void map_panel_release(map_panel *panel)
{
    free(panel->regions);
    free(panel->f);
    free(panel->node_regions);
}

ulna_status map_sample_mesh(sweep *over, const request_axis axes[2], map_panel *panel)
{
    for (int node = 0; node < MAP_NODES; node++) {
        double place[2];
        for (int k = 0; k < 2; k++) {
            double along = (double)(k == 0 ? node % (MAP_STEPS + 1) : node / (MAP_STEPS + 1)) / MAP_STEPS;
            place[k] = (1 - along) * axes[k].whole.low + along * axes[k].whole.high;
        }
        sweep_sample sample;
        ulna_status status = sweep_at(over, place, &sample);
        if (status != ULNA_OK)
            return status;
        panel->f[node] = sample.f;
        panel->node_regions[node] = (unsigned char)sweep_classify(over, &sample);
        int is_zero = panel->node_regions[node] == SWEEP_SEMIDEFINITE; /* then the sign of what is left means nothing */
        panel->low[node] = is_zero && sample.low + sample.high >= 0 ? 0 : sample.low;
        panel->high[node] = is_zero && sample.low + sample.high <= 0 ? 0 : sample.high;
    }
    return ULNA_OK;
}

/* ---- axes --------------------------------------------------------------------------------------------- */

/* 1, 2 or 5 times a power of ten; for angles first the parts of a circle. */
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
    double unit = is_angle ? 1 / DEFINITENESS_DEGREE : 1;
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

/* A name cut to `most` characters, the last of which is then an ellipsis; returns `text`. */
static const char *shorten(const char *name, int most, char *text, size_t size)
{
    const char *end = name, *rest;
    for (int i = 1; i < most && *end; i++)
        while ((*++end & 0xC0) == 0x80)
            ;
    for (rest = end + (*end != 0); (*rest & 0xC0) == 0x80;)
        rest++;
    if (*rest)
        snprintf(text, size, "%.*s…", (int)(end - name), name);
    else
        snprintf(text, size, "%s", name);
    return text;
}

const char *map_axis_title(const request_axis *axis, int most, char *text, size_t size)
{
    char name[300];
    snprintf(text, size, "%s (%s)", shorten(axis->name, most, name, sizeof name), axis->is_angle ? "°" : "m");
    return text;
}

/* ---- curves between regions --------------------------------------------------------------------------- */

/* Between regions an eigenvalue is zero: in each square of the mesh by a line or two, but not where all of it is
 * semi-definite. */
static void draw_curves(markup *paper, const map_panel *panel, double x, double y)
{
    enum { COLUMNS = MAP_STEPS + 1 };
    static const int around[4] = {0, 1, COLUMNS + 1, COLUMNS};
    const double *eigenvalues[2] = {panel->low, panel->high}, side = (double)MAP_SIDE / MAP_STEPS;
    for (int square = 0; square < 2 * MAP_STEPS * MAP_STEPS; square++) {
        int which = square / (MAP_STEPS * MAP_STEPS), row = square / MAP_STEPS % MAP_STEPS, semidefinite = 0;
        double values[4];
        svg_point corners[4];
        for (int k = 0; k < 4; k++) {
            int at = row * COLUMNS + square % MAP_STEPS + around[k];
            values[k] = eigenvalues[which][at];
            corners[k] = (svg_point){x + at % COLUMNS * side, y + MAP_SIDE - (int)(at / COLUMNS) * side};
            semidefinite += panel->node_regions[at] == SWEEP_SEMIDEFINITE;
        }
        if (semidefinite < 4)
            map_draw_zeros(paper, 1.2, corners, values);
    }
}

/* ---- the map ------------------------------------------------------------------------------------------ */

/* From the range of an axis to the side of the map, 0 to 1. */
static double fraction(const sweep_range *range, double value)
{
    return range->high > range->low ? (value - range->low) / (range->high - range->low) : 0.5;
}

static void draw_cell(markup *paper, sweep_region region, double left, double top, double right, double bottom)
{
    char attributes[64];
    snprintf(attributes, sizeof attributes, "fill=\"#%06x\" shape-rendering=\"crispEdges\"",
             map_region_colour(region, 1));
    svg_box(paper, attributes, left, top, right, bottom);
}

/* Runs of equal cells, region by region: one shape each. The indefinite region is the ground. */
static void draw_cells(markup *paper, const unsigned char *regions, int size, double x, double y)
{
    double side = (double)MAP_SIDE / size;
    draw_cell(paper, SWEEP_INDEFINITE, x, y, x + MAP_SIDE, y + MAP_SIDE);
    for (int region = 0; region < SWEEP_REGION_COUNT; region++)
        for (int row = 0; row < size && region != SWEEP_INDEFINITE; row++) {
            const unsigned char *cells = regions + (size_t)(size - 1 - row) * (size_t)size;
            for (int first = 0, end; first < size; first = end) {
                for (end = first + 1; end < size && cells[end] == cells[first];)
                    end++;
                if (cells[first] == region)
                    draw_cell(paper, (sweep_region)region, x + first * side, y + row * side, x + end * side,
                              y + (row + 1) * side);
            }
        }
}

static void draw_limits(markup *paper, const request *wish, double x, double y)
{
    double from[2] = {0, 0}, to[2] = {1, 1};
    if (!wish->bounds)
        return;
    for (int k = 0; k < 2; k++) {
        const request_axis *axis = &wish->axes[k];
        if (axis->has_limits) {
            from[k] = fmin(fmax(fraction(&axis->whole, axis->limits.low), 0), 1);
            to[k] = fmin(fmax(fraction(&axis->whole, axis->limits.high), 0), 1);
        }
    }
    draw_frame(paper, limits_colour, 2, x + from[0] * MAP_SIDE, y + (1 - to[1]) * MAP_SIDE,
               (to[0] - from[0]) * MAP_SIDE, (to[1] - from[1]) * MAP_SIDE);
}

static void draw_axes(markup *paper, const request_axis axes[2], double x, double y, int is_first)
{
    char text[320];
    double bottom = y + MAP_SIDE;
    for (int k = 0; k < 2; k++) {
        map_ticks ticks = map_choose_ticks(&axes[k].whole, axes[k].is_angle, 4);
        for (int i = 0; i < ticks.count; i++) {
            double along = MAP_SIDE * fraction(&axes[k].whole, ticks.values[i]);
            svg_point at = {k == 0 ? x + along : x, k == 0 ? bottom : bottom - along};
            map_segment(paper, 1, at.x, at.y, at.x - (k == 0 ? 0 : 5), at.y + (k == 0 ? 5 : 0));
            svg_text(paper, k == 0 ? SVG_MIDDLE : SVG_END, "font-size=\"11\"", at.x - (k == 0 ? 0 : 8),
                     at.y + (k == 0 ? 18 : 4), "%s", ticks.texts[i]);
        }
    }
    svg_text(paper, SVG_MIDDLE, "", x + MAP_SIDE / 2.0, bottom + 36, "%s",
             map_axis_title(&axes[0], 36, text, sizeof text));
    if (is_first)
        svg_text(paper, SVG_MIDDLE | SVG_UPWARDS, "", x - 58, y + MAP_SIDE / 2.0, "%s",
                 map_axis_title(&axes[1], 36, text, sizeof text));
    draw_frame(paper, MAP_INK, 1, x, y, MAP_SIDE, MAP_SIDE);
}

/* ---- around it ---------------------------------------------------------------------------------------- */

const char *map_percent_text(double percent, char *text, size_t size)
{
    if (percent > 0 && percent < 0.01)
        snprintf(text, size, "< 0.01 %%");
    else
        snprintf(text, size, "%.2f %%", percent);
    return text;
}

/* The key to the colours, with each region's share. */
static void draw_legend(markup *paper, const sweep_tally *tally, double x, double y)
{
    for (int region = 0; region < SWEEP_REGION_COUNT; region++) {
        double row = y + region * LEGEND_ROW;
        const svg_point corners[4] = {{x, row}, {x + 12, row}, {x + 12, row + 12}, {x, row + 12}};
        char share[32];
        map_area(paper, map_region_colour((sweep_region)region, 1), corners, 4);
        draw_frame(paper, MAP_RULE, 0.8, x, row, 12, 12);
        svg_text(paper, SVG_END, "", x + 78, row + 10.5, "%s",
                 map_percent_text(tally->percent[region], share, sizeof share));
        svg_text(paper, 0, "", x + 88, row + 10.5, "%s%s", region_names[region],
                 region == SWEEP_SEMIDEFINITE ? ", and the curves" : "");
    }
}

static void draw_panel(markup *paper, const request *wish, const map_panel *panel, int i, double x)
{
    double bottom = TOP + MAP_SIDE;
    const double *goal = wish->goals[i];
    svg_text(paper, SVG_MIDDLE, "font-size=\"14\" font-weight=\"bold\"", x + MAP_SIDE / 2.0, TOP - 14,
             "goal (%.4g, %.4g, %.4g) m", goal[0], goal[1], goal[2]);
    draw_cells(paper, panel->regions, wish->size, x, TOP);
    draw_curves(paper, panel, x, TOP);
    draw_limits(paper, wish, x, TOP);
    draw_axes(paper, wish->axes, x, TOP, i == 0);
    draw_legend(paper, panel->tally, x + 20, bottom + LEGEND);
    map_draw_surface(paper, wish, panel, x - 30, bottom + SURFACE, MAP_SIDE + 50, SURFACE_HEIGHT);
}

static void draw_subtitle(markup *paper, const request *wish)
{
    enum { MOST = 24 }; /* characters of a name */
    char model[300], point[300], weight[80] = "";
    const char *of = wish->marker ? wish->marker : ulna_model_body_name(wish->model, wish->body);
    if (wish->weight > 0)
        snprintf(weight, sizeof weight, " + %g m²/rad² · |q − rest|² / 2", wish->weight);
    svg_text(paper, 0, "fill=\"#666666\"", 22, 56, "%s, %s %s: f = |goal − point|² / 2%s",
             shorten(ulna_model_name(wish->model), MOST, model, sizeof model), wish->marker ? "marker" : "a point of",
             shorten(of, MOST, point, sizeof point), weight);
}

void map_draw(const request *wish, const map_panel *panels, markup *paper)
{
    static const char title[] = "Definiteness of the exact Hessian";
    double wanted = LEFT + wish->goal_count * PITCH - (PITCH - MAP_SIDE) + RIGHT, width = fmax(wanted, LEAST_WIDTH);
    double height = TOP + MAP_SIDE + SURFACE + SURFACE_HEIGHT;
    char attributes[256];
    snprintf(attributes, sizeof attributes,
             "width=\"%g\" height=\"%g\" font-family=\"DejaVu Sans, Verdana, Helvetica, Arial, sans-serif\" "
             "font-size=\"12\" fill=\"#%06x\" stroke-linecap=\"round\" stroke-linejoin=\"round\"",
             width, height, MAP_INK);
    markup_put(paper, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    svg_begin(paper, width, height, attributes);
    markup_format(paper, "<title>%s</title>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n", title);
    svg_text(paper, 0, "font-size=\"18\" font-weight=\"bold\"", 22, 34, "%s", title);
    draw_subtitle(paper, wish);
    for (int i = 0; i < wish->goal_count; i++)
        draw_panel(paper, wish, &panels[i], i, LEFT + (width - wanted) / 2 + i * PITCH);
    markup_put(paper, "</svg>\n");
}
