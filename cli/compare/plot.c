/* The convergence plots, as in Figs. 3-5 of the exact-Hessian paper: axes, lines and their labels. */
#include "cli/compare/compare.h"

#include <math.h>
#include <stdlib.h>

enum { WIDTH = PLOT_WIDTH, HEIGHT = PLOT_HEIGHT, LEFT = 56, RIGHT = 72, TOP = 14, BOTTOM = 48, MOST_LABELS = 64 };
static const double right_edge = WIDTH - RIGHT, bottom_edge = HEIGHT - BOTTOM;

typedef struct box {
    double x, y, width, height;
} box;

typedef struct view {
    const plot *chart;
    markup *page;
    int is_linear;           /* in x: few iterations */
    double x_low, x_high;    /* after scale_x */
    double y_low, y_high;    /* log10 f, whole numbers */
    box labels[MOST_LABELS]; /* places taken */
    int label_count;
} view;

/* ---- scales --------------------------------------------------------------------------------------------- */

/* Iterations begin at 0, which a logarithm would lose: log10(1 + k). */
static double scale_x(const view *v, double x)
{
    return v->chart->is_time ? log10(x) : v->is_linear ? x : log10(1 + x);
}

static double place_x(const view *v, double x)
{
    return LEFT + (right_edge - LEFT) * (scale_x(v, x) - v->x_low) / (v->x_high - v->x_low);
}

static double place_y(const view *v, double y)
{
    return bottom_edge - (bottom_edge - TOP) * (y - v->y_low) / (v->y_high - v->y_low);
}

static void find_ranges(view *v)
{
    double x_low = (double)INFINITY, x_high = 0;
    for (int i = 0; i < v->chart->line_count; i++) {
        const plot_line *line = &v->chart->lines[i];
        for (int k = 0; k < line->count; k++) {
            x_low = fmin(x_low, line->x[k]);
            x_high = fmax(x_high, line->x[k]);
        }
    }
    enum { FEW = 40 };
    v->is_linear = v->chart->is_linear || (!v->chart->is_time && x_high <= FEW);
    v->x_low = v->chart->is_time ? log10(x_low) : 0;
    v->x_high = scale_x(v, x_high);
    double room = v->x_high - v->x_low; /* for the labels at the ends of lines */
    v->x_high += fmax(0.1 * room, v->chart->is_time ? 0.1 : v->is_linear ? 1 : 0.1);
    v->x_low -= v->chart->is_time ? 0.03 * room : 0;
    v->y_low = floor(v->chart->low);
    v->y_high = fmax(ceil(v->chart->high), v->y_low + 1);
}

/* ---- axes ----------------------------------------------------------------------------------------------- */

static const char grid[] = "class=\"grid\"", tick[] = "class=\"tick\"";

static void tick_x(const view *v, double x, const char *label)
{
    double at = place_x(v, x);
    if (at < LEFT - 0.1 || at > right_edge + 0.1)
        return;
    svg_segment(v->page, grid, at, TOP, at, bottom_edge);
    if (label)
        svg_text(v->page, SVG_MIDDLE, "", at, bottom_edge + 17, "%s", label);
}

static void draw_counts(const view *v)
{
    char label[32];
    if (v->is_linear) {
        int step = v->x_high > 24 ? 5 : v->x_high > 10 ? 2 : 1;
        while (v->x_high / step > 12)
            step *= step % 4 == 0 || step % 10 == 0 ? 5 : 2;
        for (int k = 0; k <= (int)v->x_high; k += step) {
            snprintf(label, sizeof label, "%d", k);
            tick_x(v, k, label);
        }
        return;
    }
    static const int parts[] = {1, 2, 5};
    tick_x(v, 0, "0");
    for (int decade = 1; decade < 100000000 && log10(decade) <= v->x_high; decade *= 10)
        for (int i = 0; i < 3; i++) {
            int k = parts[i] * decade;
            snprintf(label, sizeof label, "%d", k);
            tick_x(v, k, i == 0 || v->x_high < 3.2 ? label : NULL);
        }
}

/* A power of ten in words: "100 µs", "10 mm". `exponent` is of the unit number `base`. */
static void unit_text(int exponent, const char *const *units, int base, int count, char *text, size_t size)
{
    int unit = base + (int)floor(exponent / 3.0);
    unit = unit < 0 ? 0 : unit >= count ? count - 1 : unit;
    int rest = exponent - 3 * (unit - base);
    if (rest >= 0 && rest < 6)
        snprintf(text, size, "%.0f %s", pow(10, rest), units[unit]);
    else
        snprintf(text, size, "1e%d %s", rest, units[unit]);
}

static void draw_times(const view *v)
{
    static const char *const units[] = {"ns", "µs", "ms", "s"};
    char label[32];
    int is_short = v->x_high - v->x_low < 1.5;
    for (int decade = (int)floor(v->x_low); decade <= (int)ceil(v->x_high); decade++) {
        double x = pow(10, decade);
        unit_text(decade, units, 1, 4, label, sizeof label);
        tick_x(v, x, label);
        for (int part = 2; part <= 5; part += 3) {
            double us = part * x;
            if (is_short && us < 1000)
                snprintf(label, sizeof label, "%g µs", us);
            else
                snprintf(label, sizeof label, "%g ms", us / 1000);
            tick_x(v, us, is_short ? label : NULL);
        }
    }
}

static void draw_f(const view *v)
{
    int low = (int)v->y_low, high = (int)v->y_high, step = 1;
    while ((high - low) / step > 9)
        step *= 2;
    for (int k = (int)floor((double)low / step) * step; k <= high; k += step) {
        if (k < low)
            continue;
        double at = place_y(v, k);
        svg_segment(v->page, grid, LEFT, at, right_edge, at);
        markup_format(
            v->page,
            "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">10<tspan dy=\"-5\" class=\"power\">%d</tspan></text>",
            LEFT - 7, at + 4, k);
    }
}

/* f = 1/2 weight rms^2 where all goals are points. */
static void draw_rms(const view *v)
{
    static const char *const units[] = {"am", "fm", "pm", "nm", "µm", "mm", "m", "km"};
    char label[32];
    double offset = log10(0.5 * v->chart->weight);
    int low = (int)ceil((v->y_low - offset) / 2), high = (int)floor((v->y_high - offset) / 2), step = 1;
    while ((high - low) / step > 9)
        step++;
    for (int k = high; k >= low; k--) {
        if (((k % step) + step) % step)
            continue;
        double at = place_y(v, 2 * k + offset);
        svg_segment(v->page, tick, right_edge, at, right_edge + 4, at);
        unit_text(k, units, 6, 8, label, sizeof label);
        svg_text(v->page, 0, "", right_edge + 8, at + 4, "%s", label);
    }
}

static void draw_axes(const view *v)
{
    markup_put(v->page, "<g class=\"axes\">");
    if (v->chart->is_time)
        draw_times(v);
    else
        draw_counts(v);
    draw_f(v);
    if (v->chart->weight > 0)
        draw_rms(v);
    svg_segment(v->page, tick, LEFT, bottom_edge, right_edge, bottom_edge);
    svg_segment(v->page, tick, LEFT, TOP, LEFT, bottom_edge);
    if (v->chart->weight > 0)
        svg_segment(v->page, tick, right_edge, TOP, right_edge, bottom_edge);
    double middle = 0.5 * (TOP + bottom_edge);
    svg_text(v->page, SVG_MIDDLE, "", 0.5 * (LEFT + right_edge), HEIGHT - 10, "%s", v->chart->x_title);
    svg_text(v->page, SVG_MIDDLE | SVG_UPWARDS, "", 13, middle, "%s",
             v->chart->y_title ? v->chart->y_title : "f in m²");
    if (v->chart->weight > 0)
        svg_text(v->page, SVG_MIDDLE | SVG_UPWARDS, "", WIDTH - 3, middle, "rms distance to the goals");
    markup_put(v->page, "</g>\n");
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

static const char *stroke(int style)
{
    static const char *const kinds[] = {
        "class=\"stroke\"",
        "class=\"stroke\" stroke-dasharray=\"7 4\"",
        "class=\"stroke\" stroke-dasharray=\"1.5 4\"",
        "class=\"stroke\" stroke-dasharray=\"9 3 2 3\"",
    };
    return kinds[style / PLOT_COLOURS % 4];
}

/* A circle, or one of four polygons. */
static void put_mark(markup *page, int style, double x, double y, double size)
{
    static const svg_point shapes[4][4] = {
        {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}},
        {{0, -1.2}, {1.15, 0.8}, {-1.15, 0.8}, {0, -1.2}},
        {{0, -1.3}, {1.3, 0}, {0, 1.3}, {-1.3, 0}},
        {{0, 1.2}, {1.15, -0.8}, {-1.15, -0.8}, {0, 1.2}},
    };
    svg_point corners[4];
    if (style % 5 == 0) {
        markup_format(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"/>", x, y, size);
        return;
    }
    for (int k = 0; k < 4; k++) {
        const svg_point *corner = &shapes[style % 5 - 1][k];
        corners[k] = (svg_point){x + size * corner->x, y + size * corner->y};
    }
    svg_area(page, "class=\"mark\"", corners, 4);
}

static svg_point place_end(const view *v, const plot_line *line)
{
    int last = line->count - 1;
    return (svg_point){place_x(v, line->x[last]), place_y(v, line->y[last])};
}

/* Points closer than half a pixel to the last one add nothing. */
static int place_points(const view *v, const plot_line *line, svg_point *points)
{
    int count = 0;
    for (int k = 0; k < line->count; k++) {
        svg_point at = {place_x(v, line->x[k]), place_y(v, line->y[k])};
        if (k == 0 || k + 1 == line->count || hypot(at.x - points[count - 1].x, at.y - points[count - 1].y) >= 0.5)
            points[count++] = at;
    }
    return count;
}

static void draw_line(const view *v, const plot_line *line)
{
    enum { MARKED = 41 }; /* more points than this would hide the line */
    markup *page = v->page;
    svg_point *points = calloc((size_t)line->count, sizeof *points);
    if (!points) {
        page->status = ULNA_ERR_MEMORY;
        return;
    }
    int count = place_points(v, line, points);
    markup_format(page, "<g class=\"line s%d\" style=\"--c:var(--c%d)\"><title>", line->style,
                  line->style % PLOT_COLOURS);
    markup_escape(page, line->name ? line->name : "");
    markup_put(page, "</title>");
    svg_line(page, "class=\"grab\"", points, count);
    svg_line(page, stroke(line->style), points, count);
    for (int k = 0; k + 1 < line->count && line->count <= MARKED; k++)
        put_mark(page, line->style, place_x(v, line->x[k]), place_y(v, line->y[k]), 2.2);
    svg_point end = place_end(v, line);
    put_mark(page, line->style, end.x, end.y, 4.2);
    markup_put(page, "</g>\n");
    free(points);
}

/* ---- labels at the ends of lines ------------------------------------------------------------------------- */

static int is_free(const view *v, box place)
{
    if (place.x < LEFT || place.x + place.width > right_edge || place.y < TOP - 4 ||
        place.y + place.height > bottom_edge)
        return 0;
    for (int i = 0; i < v->label_count; i++) {
        const box *other = &v->labels[i];
        if (place.x < other->x + other->width && other->x < place.x + place.width &&
            place.y < other->y + other->height && other->y < place.y + place.height)
            return 0;
    }
    return 1;
}

static void occupy(view *v, box place)
{
    if (v->label_count < MOST_LABELS)
        v->labels[v->label_count++] = place;
}

/* Beside the end, above or below it; no label where all places are taken. */
static void draw_label(view *v, const plot_line *line)
{
    static const double shifts[] = {0, -11, 11, -20, 20};
    svg_point end = place_end(v, line);
    double width = line->name ? 6.2 * cli_width(line->name) + 2 : 0;
    for (int i = 0; line->name && i < 10; i++) {
        int is_left = i >= 5;
        box place = {is_left ? end.x - width - 7 : end.x + 7, end.y + shifts[i % 5] - 6, width, 11};
        if (!is_free(v, place))
            continue;
        occupy(v, place);
        char attributes[80];
        snprintf(attributes, sizeof attributes, "class=\"label s%d\" style=\"--c:var(--c%d)\"", line->style,
                 line->style % PLOT_COLOURS);
        svg_text(v->page, is_left ? SVG_END : 0, attributes, is_left ? end.x - 7 : end.x + 7, place.y + 9.5, "%s",
                 line->name);
        return;
    }
}

/* ---- all of it ------------------------------------------------------------------------------------------- */

void plot_write(const plot *chart, markup *page)
{
    view v = {.chart = chart, .page = page};
    char attributes[240];
    find_ranges(&v);
    snprintf(attributes, sizeof attributes, "%s role=\"img\" aria-label=\"%s\"", chart->place ? chart->place : "",
             chart->title);
    svg_begin(page, WIDTH, HEIGHT, attributes);
    draw_axes(&v);
    markup_put(page, "<g class=\"lines\">\n");
    for (int i = chart->line_count - 1; i >= 0; i--) { /* the first one on top */
        svg_point end = place_end(&v, &chart->lines[i]);
        draw_line(&v, &chart->lines[i]);
        occupy(&v, (box){end.x - 4, end.y - 4, 8, 8});
    }
    markup_put(page, "</g>\n<g class=\"labels\">");
    for (int i = 0; i < chart->line_count; i++)
        draw_label(&v, &chart->lines[i]);
    markup_put(page, "</g>\n</svg>\n");
}

void plot_write_key(int style, markup *page)
{
    char attributes[80];
    snprintf(attributes, sizeof attributes, "class=\"key\" aria-hidden=\"true\" style=\"--c:var(--c%d)\"",
             style % PLOT_COLOURS);
    svg_begin(page, 30, 12, attributes);
    markup_put(page, "<g class=\"line\">");
    svg_segment(page, stroke(style), 1, 6, 29, 6);
    put_mark(page, style, 15, 6, 3.4);
    markup_put(page, "</g></svg>");
}
