/* Pictures of sheets: curves, box plots, bars, skeletons, maps. Every number in them is one of a cell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "cli/paper/paper.h"
#include "src/base/algorithms.h"

enum { MOST_COLUMNS = 8, MOST_KINDS = 64, GAP = 16, TITLE = 22, TEXT = 64 };

/* ==== what a part draws =========================================================================================== */

/* The columns that a drawing needs, by number; the second is -1 unless two are joined. */
typedef struct view {
    const paper_part *part;
    const sheet *table;
    int columns[MOST_COLUMNS][2];
    const char *panels[MOST_KINDS];
    int panel_count;
} view;

static int column_of(const sheet *table, const char *name, size_t length)
{
    char text[TEXT];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    return sheet_column(table, text);
}

static void find_columns(view *v)
{
    const char *at = v->part->columns;
    for (int i = 0; i < MOST_COLUMNS; i++)
        v->columns[i][0] = v->columns[i][1] = -1;
    for (int i = 0; i < MOST_COLUMNS && at && *at; i++) {
        size_t length = strcspn(at, ","), first = strcspn(at, "+,");
        v->columns[i][0] = column_of(v->table, at, first);
        if (first < length)
            v->columns[i][1] = column_of(v->table, at + first + 1, length - first - 1);
        at += length + (at[length] == ',');
    }
}

/* The text of a column of the drawing, joined where two are. */
static const char *cell(const view *v, int row, int column, char text[TEXT])
{
    const char *first = sheet_cell(v->table, row, v->columns[column][0]);
    if (v->columns[column][1] < 0)
        return first;
    snprintf(text, TEXT, "%s %s", first, sheet_cell(v->table, row, v->columns[column][1]));
    return text;
}

static double value(const view *v, int row, int column)
{
    return sheet_number(v->table, row, v->columns[column][0]);
}

static int is_cell(const view *v, int row, int column, const char *text)
{
    char joined[TEXT];
    return strcmp(cell(v, row, column, joined), text) == 0;
}

/* ---- colours ------------------------------------------------------------------------------------------------------- */

/* The same method has the same colour in all pictures; others are numbered as they occur. */
static int style_of(const char *name, int number)
{
    static const char *const names[] = {"quasi-Newton", "exact Hessian", "LM", "newton (Ulna)", "hybrid (Ulna)"};
    for (int i = 0; i < 5; i++)
        if (strncmp(name, names[i], strlen(names[i])) == 0)
            return i;
    return number;
}

static int number_of(const char *const *kinds, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(kinds[i], name) == 0)
            return i;
    return count;
}

/* ==== panels: a picture for each, side by side ==================================================================== */

/* Draws one panel; `place` as in `plot`. */
typedef void (*panel_drawer)(const view *v, const char *panel, const char *place, markup *page);

static void put_panels(const view *v, panel_drawer draw, double width, double height, int is_file, markup *page)
{
    int across = v->panel_count < 3        ? v->panel_count
                 : v->panel_count % 4 == 0 ? 4 /* four pictures of each skeleton */
                                           : 3;
    int down = (v->panel_count + across - 1) / (across ? across : 1);
    if (is_file) {
        double total_width = across * (width + GAP), total_height = down * (height + TITLE + GAP);
        svg_begin(page, total_width, total_height, "");
        markup_put(page, "<style><![CDATA[\n");
        markup_put(page, page_css);
        markup_put(page, plot_css);
        markup_put(page, "]]></style>\n");
        svg_box(page, "fill=\"var(--paper)\"", 0, 0, total_width, total_height);
    }
    for (int i = 0; i < v->panel_count; i++) {
        char place[160];
        int row = i / across, column = i % across;
        double x = column * (width + GAP) + GAP / 2.0, y = row * (height + TITLE + GAP);
        snprintf(place, sizeof place, "x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\"", x, y + TITLE, width, height);
        if (is_file) {
            svg_text(page, 0, "", x + 8, y + TITLE - 6, "%s", v->panels[i]);
            draw(v, v->panels[i], place, page);
            continue;
        }
        markup_put(page, "<figure>");
        if (*v->panels[i]) {
            markup_put(page, "<h4>");
            markup_escape(page, v->panels[i]);
            markup_put(page, "</h4>");
        }
        draw(v, v->panels[i], NULL, page);
        markup_put(page, "</figure>\n");
    }
    if (is_file)
        markup_put(page, "</svg>\n");
}

static void begin_panel(markup *page, double width, double height, const char *panel, const char *place)
{
    char attributes[240];
    snprintf(attributes, sizeof attributes, "%s role=\"img\" aria-label=\"%.60s\"", place ? place : "", panel);
    svg_begin(page, width, height, attributes);
}

/* ==== curves ====================================================================================================== */

enum { CURVE_PANEL, CURVE_LINE, CURVE_SERIES, CURVE_X, CURVE_Y };

static const double least_y = 1e-28; /* below is rounding */

/* Rows of one line follow each other. */
static int line_end(const view *v, int row, const char *panel)
{
    char line[TEXT], series[TEXT], text[TEXT];
    snprintf(line, sizeof line, "%s", cell(v, row, CURVE_LINE, text));
    snprintf(series, sizeof series, "%s", cell(v, row, CURVE_SERIES, text));
    while (row < sheet_count(v->table) && is_cell(v, row, CURVE_PANEL, panel) && is_cell(v, row, CURVE_LINE, line) &&
           is_cell(v, row, CURVE_SERIES, series))
        row++;
    return row;
}

static int gather_lines(const view *v, const char *panel, double *x, double *y, plot_line *lines, int most)
{
    const char *series[MOST_KINDS], *named[MOST_KINDS];
    int series_count = sheet_kinds(v->table, v->columns[CURVE_SERIES][0], series, MOST_KINDS), named_count = 0,
        count = 0;
    for (int row = 0; row < sheet_count(v->table) && count < most;) {
        if (!is_cell(v, row, CURVE_PANEL, panel)) {
            row++;
            continue;
        }
        const char *name = sheet_cell(v->table, row, v->columns[CURVE_SERIES][0]);
        int end = line_end(v, row, panel);
        for (int i = row; i < end; i++) {
            x[i] = value(v, i, CURVE_X);
            y[i] = log10(fmax(value(v, i, CURVE_Y), least_y));
        }
        int is_named = number_of(named, named_count, name) < named_count;
        if (!is_named && named_count < MOST_KINDS)
            named[named_count++] = name;
        lines[count++] = (plot_line){is_named ? NULL : name, style_of(name, number_of(series, series_count, name)),
                                     end - row, x + row, y + row};
        row = end;
    }
    return count;
}

static void draw_curves(const view *v, const char *panel, const char *place, markup *page)
{
    enum { MOST_LINES = 400 };
    size_t room = (size_t)sheet_count(v->table) + 1;
    double *x = calloc(room, sizeof *x), *y = calloc(room, sizeof *y);
    plot_line *lines = calloc(MOST_LINES, sizeof *lines);
    if (x && y && lines) {
        int count = gather_lines(v, panel, x, y, lines, MOST_LINES);
        double low = (double)INFINITY, high = -(double)INFINITY;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < lines[i].count; k++) {
                low = fmin(low, lines[i].y[k]);
                high = fmax(high, lines[i].y[k]);
            }
        plot chart = {.title = panel,
                      .x_title = v->part->x_title,
                      .y_title = v->part->y_title,
                      .place = place,
                      .is_linear = strcmp(v->part->x_title, "iterations") != 0,
                      .low = low,
                      .high = high,
                      .lines = lines,
                      .line_count = count};
        if (count)
            plot_write(&chart, page);
    } else
        page->status = ULNA_ERR_MEMORY;
    free(x);
    free(y);
    free(lines);
}

/* ==== a logarithmic axis, for bars and boxes ====================================================================== */

typedef struct log_axis {
    int low, high;   /* powers of ten */
    double from, to; /* in the picture */
} log_axis;

static log_axis axis_over(double low, double high, double from, double to)
{
    log_axis axis = {(int)floor(log10(low)), (int)ceil(log10(high)), from, to};
    if (axis.high <= axis.low)
        axis.high = axis.low + 1;
    return axis;
}

static double place_on(const log_axis *axis, double at)
{
    double power = fmin(fmax(log10(fmax(at, 1e-300)), axis->low), axis->high);
    return axis->from + (axis->to - axis->from) * (power - axis->low) / (axis->high - axis->low);
}

/* "0.01", "1", "1000", or "1e-9" where that is shorter. */
static void put_power(markup *page, int style, double x, double y, int power)
{
    if (power >= -3 && power <= 4)
        svg_text(page, style, "", x, y, "%g", pow(10, power));
    else
        svg_text(page, style, "", x, y, "1e%d", power);
}

static int axis_step(const log_axis *axis)
{
    int step = 1;
    while ((axis->high - axis->low) / step > 8)
        step++;
    return step;
}

/* ==== bars ======================================================================================================== */

enum { BAR_GROUP, BAR_SERIES, BAR_VALUE };
enum { BARS_WIDTH = 560, BARS_LEFT = 170, BARS_RIGHT = 70, BAR_HEIGHT = 17, BARS_BOTTOM = 34 };

static void bar_range(const view *v, double *low, double *high)
{
    *low = (double)INFINITY;
    *high = 0;
    for (int i = 0; i < sheet_count(v->table); i++)
        if (value(v, i, BAR_VALUE) > 0) {
            *low = fmin(*low, value(v, i, BAR_VALUE));
            *high = fmax(*high, value(v, i, BAR_VALUE));
        }
    *low = isfinite(*low) ? 0.5 * *low : 0.1;
    *high = fmax(*high, 10 * *low);
}

static double bars_height(const view *v)
{
    int groups = 0;
    for (int i = 0; i < sheet_count(v->table); i++) {
        char a[TEXT], b[TEXT];
        groups += i == 0 || strcmp(cell(v, i, BAR_GROUP, a), cell(v, i - 1, BAR_GROUP, b)) != 0;
    }
    return sheet_count(v->table) * BAR_HEIGHT + groups * 22 + BARS_BOTTOM;
}

static void draw_bars(const view *v, const char *panel, const char *place, markup *page)
{
    const char *series[MOST_KINDS];
    int series_count = sheet_kinds(v->table, v->columns[BAR_SERIES][0], series, MOST_KINDS);
    double low, high, y = 0, height = bars_height(v);
    char group[TEXT] = "", text[TEXT];
    bar_range(v, &low, &high);
    log_axis axis = axis_over(low, high, BARS_LEFT, BARS_WIDTH - BARS_RIGHT);
    begin_panel(page, BARS_WIDTH, height, *panel ? panel : "bars", place);
    for (int p = axis.low; p <= axis.high; p += axis_step(&axis)) {
        double x = place_on(&axis, pow(10, p));
        svg_segment(page, "class=\"grid\"", x, 4, x, height - BARS_BOTTOM + 4);
        put_power(page, SVG_MIDDLE, x, height - BARS_BOTTOM + 18, p);
    }
    svg_text(page, SVG_END, "", BARS_WIDTH - 4, height - 4, "%s, logarithmic", v->part->y_title);
    for (int i = 0; i < sheet_count(v->table); i++) {
        if (strcmp(cell(v, i, BAR_GROUP, text), group) != 0) {
            snprintf(group, sizeof group, "%s", cell(v, i, BAR_GROUP, text));
            svg_text(page, 0, "class=\"group\"", 4, y + 16, "%s", group);
            y += 22;
        }
        const char *name = sheet_cell(v->table, i, v->columns[BAR_SERIES][0]);
        char style[48];
        double end = place_on(&axis, value(v, i, BAR_VALUE));
        snprintf(style, sizeof style, "fill=\"var(--c%d)\"",
                 style_of(name, number_of(series, series_count, name)) % PLOT_COLOURS);
        svg_text(page, SVG_END, "", BARS_LEFT - 8, y + 12, "%s", name);
        svg_box(page, style, BARS_LEFT, y + 3, fmax(end, BARS_LEFT + 1), y + BAR_HEIGHT - 3);
        svg_text(page, 0, "", end + 5, y + 12, "%s", sheet_cell(v->table, i, v->columns[BAR_VALUE][0]));
        y += BAR_HEIGHT;
    }
    markup_put(page, "</svg>\n");
}

/* ==== box plots =================================================================================================== */

enum { BOX_PANEL, BOX_SERIES, BOX_VALUE };
enum { BOXES_WIDTH = 380, BOXES_HEIGHT = 320, BOXES_LEFT = 62, BOXES_BOTTOM = 40 };

static const double least_box = 1e-9;

/* Linear between the sorted values, as MATLAB's quantile has it. */
static double quantile(const double *sorted, int count, double share)
{
    double at = fmin(fmax(share * count - 0.5, 0), count - 1);
    int below = (int)at;
    double above = sorted[below + 1 < count ? below + 1 : below];
    return sorted[below] + (at - below) * (above - sorted[below]);
}

static void draw_box(const log_axis *axis, markup *page, const char *style, double x, double half, const double *sorted,
                     int count)
{
    double first = quantile(sorted, count, 0.25), third = quantile(sorted, count, 0.75);
    double middle = place_on(axis, quantile(sorted, count, 0.5)), reach = 1.5 * (third - first);
    int low = 0, high = count - 1;
    while (sorted[low] < first - reach)
        low++;
    while (sorted[high] > third + reach)
        high--;
    char line[96];
    snprintf(line, sizeof line, "class=\"box\" style=\"--c:%s\"", style);
    svg_segment(page, line, x, place_on(axis, sorted[low]), x, place_on(axis, first));
    svg_segment(page, line, x, place_on(axis, third), x, place_on(axis, sorted[high]));
    svg_segment(page, line, x - half / 2, place_on(axis, sorted[low]), x + half / 2, place_on(axis, sorted[low]));
    svg_segment(page, line, x - half / 2, place_on(axis, sorted[high]), x + half / 2, place_on(axis, sorted[high]));
    svg_box(page, line, x - half, place_on(axis, third), x + half, place_on(axis, first));
    snprintf(line, sizeof line, "class=\"median\" style=\"--c:%s\"", style);
    svg_segment(page, line, x - half, middle, x + half, middle);
    double last = -1; /* outliers closer than a pixel are one */
    for (int i = 0; i < count; i++) {
        double y = place_on(axis, sorted[i]);
        if ((i < low || i > high) && fabs(y - last) >= 1) {
            markup_format(page, "<circle class=\"outlier\" style=\"--c:%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"1.6\"/>", style,
                          x, y);
            last = y;
        }
    }
}

static int gather(const view *v, const char *panel, const char *series, double *values)
{
    int count = 0;
    for (int i = 0; i < sheet_count(v->table); i++)
        if (is_cell(v, i, BOX_PANEL, panel) && is_cell(v, i, BOX_SERIES, series) && !isnan(value(v, i, BOX_VALUE)))
            values[count++] = fmax(value(v, i, BOX_VALUE), least_box);
    ulna_sort_numbers(values, (size_t)count);
    return count;
}

static void draw_boxes(const view *v, const char *panel, const char *place, markup *page)
{
    const char *series[MOST_KINDS];
    int count = sheet_kinds(v->table, v->columns[BOX_SERIES][0], series, MOST_KINDS);
    double *values = calloc((size_t)sheet_count(v->table) + 1, sizeof *values), low = (double)INFINITY,
           high = least_box;
    if (!values) {
        page->status = ULNA_ERR_MEMORY;
        return;
    }
    for (int i = 0; i < sheet_count(v->table); i++)
        if (is_cell(v, i, BOX_PANEL, panel)) {
            low = fmin(low, fmax(value(v, i, BOX_VALUE), least_box));
            high = fmax(high, value(v, i, BOX_VALUE));
        }
    log_axis axis = axis_over(isfinite(low) ? low : least_box, high, BOXES_HEIGHT - BOXES_BOTTOM, 12);
    begin_panel(page, BOXES_WIDTH, BOXES_HEIGHT, panel, place);
    for (int p = axis.low; p <= axis.high; p += axis_step(&axis)) {
        double y = place_on(&axis, pow(10, p));
        svg_segment(page, "class=\"grid\"", BOXES_LEFT, y, BOXES_WIDTH - 8, y);
        put_power(page, SVG_END, BOXES_LEFT - 6, y + 4, p);
    }
    svg_text(page, SVG_MIDDLE | SVG_UPWARDS, "", 14, 0.5 * (BOXES_HEIGHT - BOXES_BOTTOM), "%s", v->part->y_title);
    double room = (double)(BOXES_WIDTH - BOXES_LEFT - 8) / (count ? count : 1);
    for (int i = 0; i < count; i++) {
        char style[32];
        double x = BOXES_LEFT + (i + 0.5) * room;
        int found = gather(v, panel, series[i], values);
        snprintf(style, sizeof style, "var(--c%d)", style_of(series[i], i) % PLOT_COLOURS);
        if (found)
            draw_box(&axis, page, style, x, fmin(22, 0.3 * room), values, found);
        svg_text(page, SVG_MIDDLE, "", x, BOXES_HEIGHT - (i % 2 && count > 3 ? 8 : 22), "%s", series[i]);
    }
    markup_put(page, "</svg>\n");
    free(values);
}

/* ==== skeletons =================================================================================================== */

enum { STILL_PANEL, STILL_KIND, STILL_FROM, STILL_TO = STILL_FROM + 3 };
enum { STILL_WIDTH = 300, STILL_HEIGHT = 330, STILL_MARGIN = 14 };

typedef struct camera {
    double across[3], up[3]; /* directions of the picture */
    double scale, x, y;
} camera;

static svg_point project(const camera *view_from, const double at[3])
{
    double across = 0, up = 0;
    for (int k = 0; k < 3; k++) {
        across += view_from->across[k] * at[k];
        up += view_from->up[k] * at[k];
    }
    return (svg_point){view_from->x + view_from->scale * across, view_from->y - view_from->scale * up};
}

static void place_of(const view *v, int row, int column, double at[3])
{
    for (int k = 0; k < 3; k++)
        at[k] = value(v, row, column + k);
}

/* From the front and a little to the side, Y up; all of the panel fills the picture. */
static camera aim(const view *v, const char *panel)
{
    camera from = {.across = {0.87, 0, 0.5}, .up = {-0.1, 0.98, 0.17}, .scale = 1};
    svg_point low = {(double)INFINITY, (double)INFINITY}, high = {-(double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < sheet_count(v->table); i++)
        for (int end = STILL_FROM; end <= STILL_TO; end += 3) {
            double at[3];
            if (!is_cell(v, i, STILL_PANEL, panel))
                continue;
            place_of(v, i, end, at);
            svg_point p = project(&from, at);
            low = (svg_point){fmin(low.x, p.x), fmin(low.y, p.y)};
            high = (svg_point){fmax(high.x, p.x), fmax(high.y, p.y)};
        }
    double across =
        fmax((high.x - low.x) / (STILL_WIDTH - 2 * STILL_MARGIN), (high.y - low.y) / (STILL_HEIGHT - 2 * STILL_MARGIN));
    from.scale = across > 0 ? 1 / across : 1;
    from.x = 0.5 * STILL_WIDTH - 0.5 * (low.x + high.x) * from.scale;
    from.y = 0.5 * STILL_HEIGHT - 0.5 * (low.y + high.y) * from.scale;
    return from;
}

static void draw_still(const view *v, const char *panel, const char *place, markup *page)
{
    camera from = aim(v, panel);
    begin_panel(page, STILL_WIDTH, STILL_HEIGHT, panel, place);
    for (int i = 0; i < sheet_count(v->table); i++) {
        double a[3], b[3];
        char kind[40];
        if (!is_cell(v, i, STILL_PANEL, panel))
            continue;
        place_of(v, i, STILL_FROM, a);
        place_of(v, i, STILL_TO, b);
        svg_point p = project(&from, a), q = project(&from, b);
        snprintf(kind, sizeof kind, "class=\"still-%.20s\"", sheet_cell(v->table, i, v->columns[STILL_KIND][0]));
        if (strcmp(kind, "class=\"still-point\"") == 0 || strcmp(kind, "class=\"still-goal\"") == 0)
            markup_format(page, "<circle %s cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>", kind, p.x, p.y);
        else
            svg_segment(page, kind, p.x, p.y, q.x, q.y);
    }
    markup_put(page, "</svg>\n");
}

/* ==== maps ======================================================================================================== */

enum { REGION_PANEL, REGION_X, REGION_Y, REGION_KIND };
enum { REGIONS_SIZE = 340, REGIONS_LEFT = 42, REGIONS_BOTTOM = 30 };

/* Cells of one kind beside each other in a row of the sheet's order become one box. */
static void draw_regions(const view *v, const char *panel, const char *place, markup *page)
{
    int rows = sheet_count(v->table), first = -1, last = -1, side;
    for (int i = 0; i < rows; i++)
        if (is_cell(v, i, REGION_PANEL, panel)) {
            first = first < 0 ? i : first;
            last = i;
        }
    if (first < 0)
        return;
    for (side = 1; first + side <= last && value(v, first + side, REGION_Y) == value(v, first, REGION_Y);)
        side++;
    double step = (double)(REGIONS_SIZE - REGIONS_LEFT) / side, bottom = REGIONS_SIZE - REGIONS_LEFT;
    begin_panel(page, REGIONS_SIZE, REGIONS_SIZE - REGIONS_LEFT + REGIONS_BOTTOM, panel, place);
    for (int i = first, end; i <= last; i = end) {
        const char *kind = sheet_cell(v->table, i, v->columns[REGION_KIND][0]);
        int x = (i - first) % side, y = (i - first) / side;
        char attributes[60];
        for (end = i + 1; end <= last && (end - first) % side && is_cell(v, end, REGION_KIND, kind);)
            end++;
        snprintf(attributes, sizeof attributes, "class=\"region-%.20s\"", kind);
        svg_box(page, attributes, REGIONS_LEFT + x * step, bottom - (y + 1) * step, REGIONS_LEFT + (x + end - i) * step,
                bottom - y * step);
    }
    for (int k = 0; k < 3; k++) {
        double share = 0.5 * k;
        static const char *const labels[] = {"-180°", "0°", "180°"};
        svg_text(page,
                 k == 0   ? 0
                 : k == 1 ? SVG_MIDDLE
                          : SVG_END,
                 "", REGIONS_LEFT + share * (REGIONS_SIZE - REGIONS_LEFT), bottom + 14, "%s", labels[k]);
        svg_text(page, SVG_END, "", REGIONS_LEFT - 4, bottom - share * (bottom - 10), "%s", labels[k]);
    }
    svg_text(page, SVG_MIDDLE, "", 0.5 * (REGIONS_LEFT + REGIONS_SIZE), bottom + 27, "%s", v->part->x_title);
    svg_text(page, SVG_MIDDLE | SVG_UPWARDS, "", 11, 0.5 * bottom, "%s", v->part->y_title);
    markup_put(page, "</svg>\n");
}

/* ==== all of them ================================================================================================= */

void paper_draw(const paper_part *part, const sheet *table, int is_file, markup *page)
{
    static const struct {
        panel_drawer draw;
        double width, height;
    } drawers[] = {
        [DRAW_CURVES] = {draw_curves, PLOT_WIDTH, PLOT_HEIGHT},
        [DRAW_BOXES] = {draw_boxes, BOXES_WIDTH, BOXES_HEIGHT},
        [DRAW_STILLS] = {draw_still, STILL_WIDTH, STILL_HEIGHT},
        [DRAW_REGIONS] = {draw_regions, REGIONS_SIZE, REGIONS_SIZE - REGIONS_LEFT + REGIONS_BOTTOM},
        [DRAW_PLAYER] = {NULL, 0, 0},
    };
    view v = {.part = part, .table = table};
    find_columns(&v);
    if (part->drawing == DRAW_BARS) {
        v.panels[v.panel_count++] = "";
        put_panels(&v, draw_bars, BARS_WIDTH, bars_height(&v), is_file, page);
    } else if (drawers[part->drawing].draw) {
        v.panel_count = sheet_kinds(table, v.columns[0][0], v.panels, MOST_KINDS);
        if (v.panel_count)
            put_panels(&v, drawers[part->drawing].draw, drawers[part->drawing].width, drawers[part->drawing].height,
                       is_file, page);
    }
}
