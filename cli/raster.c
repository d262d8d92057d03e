#include "cli/raster.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FINE = 4 /* samples along a pixel */, ROUND = 12 /* corners of a line's end */ };

#define LETTER_SCALE 0.0725 /* of a text's size: a unit of the letters, which are 10 high */
#define STROKE 1.1          /* width of a letter's strokes, in its units */
#define BOLD_STROKE 1.75
#define DOT 1.4 /* how much wider a dot is */

/* ---- polygons ----------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int clamp(double value, int low, int high)
{
    return value <= low ? low : value >= high ? high : (int)value;
}

static void paint(raster *grid, int row, double from, double to, unsigned colour)
{
    int first = clamp(ceil(from - 0.5), 0, grid->samples), end = clamp(ceil(to - 0.5), 0, grid->samples);
    unsigned char *at = grid->canvas + 3 * ((size_t)row * (size_t)grid->samples + (size_t)first);
    for (int i = first; i < end; i++) {
        *at++ = (unsigned char)(colour >> 16);
        *at++ = (unsigned char)(colour >> 8);
        *at++ = (unsigned char)colour;
    }
}

/* Samples whose centre lies inside; points in samples from the top left of the picture. Half-open edges give every
 * sample of a common border to one neighbour alone. */
static void fill(raster *grid, unsigned colour, const picture_point *points, int count)
{
    double top = HUGE_VAL, bottom = -HUGE_VAL;
    for (int i = 0; i < count; i++) {
        top = fmin(top, points[i].y);
        bottom = fmax(bottom, points[i].y);
    }
    int first = clamp(ceil(top - 0.5 - grid->first), 0, grid->rows);
    int end = clamp(ceil(bottom - 0.5 - grid->first), 0, grid->rows);
    for (int row = first; row < end; row++) {
        double y = grid->first + row + 0.5;
        size_t found = 0;
        for (int i = 0; i < count; i++) {
            picture_point a = points[i], b = points[i + 1 == count ? 0 : i + 1];
            if ((a.y <= y) != (b.y <= y))
                grid->crossings[found++] = a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x);
        }
        qsort(grid->crossings, found, sizeof *grid->crossings, compare);
        for (size_t i = 0; i + 1 < found; i += 2)
            paint(grid, row, grid->crossings[i], grid->crossings[i + 1], colour);
    }
}

/* ---- lines and letters -------------------------------------------------------------------------------- */

static void fill_disc(raster *grid, unsigned colour, picture_point center, double radius)
{
    picture_point corners[ROUND];
    for (int i = 0; i < ROUND; i++) {
        double angle = (i + 0.5) * 2 * 3.14159265358979323846 / ROUND;
        corners[i] = (picture_point){center.x + radius * cos(angle), center.y + radius * sin(angle)};
    }
    fill(grid, colour, corners, ROUND);
}

/* A line of this width in samples: a box along each piece, a disc at each point. */
static void stroke(raster *grid, unsigned colour, double width, const picture_point *points, int count)
{
    for (int i = 0; i < count; i++) {
        fill_disc(grid, colour, points[i], width / 2);
        if (i == 0)
            continue;
        picture_point a = points[i - 1], b = points[i];
        double length = hypot(b.x - a.x, b.y - a.y);
        if (!(length > 0))
            continue;
        double x = -(b.y - a.y) / length * width / 2, y = (b.x - a.x) / length * width / 2;
        const picture_point box[4] = {{a.x + x, a.y + y}, {b.x + x, b.y + y}, {b.x - x, b.y - y}, {a.x - x, a.y - y}};
        fill(grid, colour, box, 4);
    }
}

static double text_width(const char *text)
{
    double width = 0;
    while (*text)
        width += letter_advance(picture_character(&text));
    return width;
}

static void draw_text(raster *grid, const picture_item *item, picture_point place, const char *text)
{
    double unit = item->size * LETTER_SCALE * grid->factor;
    double at = item->style & PICTURE_MIDDLE ? -text_width(text) / 2
                : item->style & PICTURE_END  ? -text_width(text)
                                             : 0;
    while (*text) {
        picture_point points[LETTER_POINTS];
        unsigned code = picture_character(&text);
        for (int k = 0, count; (count = letter_stroke(code, k, points)) > 0; k++) {
            for (int i = 0; i < count; i++) {
                double along = unit * (at + points[i].x), up = unit * points[i].y;
                points[i].x = place.x + (item->style & PICTURE_UPWARDS ? -up : along);
                points[i].y = place.y - (item->style & PICTURE_UPWARDS ? along : up);
            }
            double pen = unit * (item->style & PICTURE_BOLD ? BOLD_STROKE : STROKE) * (count == 1 ? DOT : 1);
            stroke(grid, item->colour, pen, points, count);
        }
        at += letter_advance(code);
    }
}

/* ---- bands -------------------------------------------------------------------------------------------- */

/* Does the item reach into the band? A turned text may go anywhere above its point. */
static int is_near(const raster *grid, const picture_item *item, const picture_point *points)
{
    double top = HUGE_VAL, bottom = -HUGE_VAL;
    for (int i = 0; i < item->count; i++) {
        top = fmin(top, points[i].y);
        bottom = fmax(bottom, points[i].y);
    }
    double excess = item->kind == PICTURE_TEXT && item->style & PICTURE_UPWARDS ? HUGE_VAL : item->size * grid->factor;
    return bottom + excess >= grid->first && top - excess <= grid->first + grid->rows;
}

static void draw(raster *grid, const picture_item *item)
{
    const picture_point *points = grid->points + item->first;
    if (!is_near(grid, item, points))
        return;
    switch (item->kind) {
    case PICTURE_AREA:
    case PICTURE_PATCH:
        fill(grid, item->colour, points, item->count);
        break;
    case PICTURE_CELL: {
        picture_point a = points[0], b = points[1];
        const picture_point box[4] = {{a.x, a.y}, {b.x, a.y}, {b.x, b.y}, {a.x, b.y}};
        fill(grid, item->colour, box, 4);
        break;
    }
    case PICTURE_LINE:
        stroke(grid, item->colour, item->size * grid->factor, points, item->count);
        break;
    case PICTURE_TEXT:
        draw_text(grid, item, points[0], grid->paper->letters + item->text);
        break;
    }
}

/* The mean of FINE x FINE samples for each pixel of the band. */
static void reduce(const raster *grid, unsigned char *pixels)
{
    for (int row = 0; row < grid->rows / FINE; row++)
        for (int column = 0; column < grid->width; column++) {
            unsigned sum[3] = {FINE * FINE / 2, FINE * FINE / 2, FINE * FINE / 2};
            for (int i = 0; i < FINE; i++) {
                const unsigned char *at =
                    grid->canvas + 3 * ((size_t)(row * FINE + i) * (size_t)grid->samples + (size_t)column * FINE);
                for (int j = 0; j < FINE; j++)
                    for (int k = 0; k < 3; k++)
                        sum[k] += at[3 * j + k];
            }
            for (int k = 0; k < 3; k++)
                *pixels++ = (unsigned char)(sum[k] / (FINE * FINE));
        }
}

void raster_band(raster *grid, int top, unsigned char *pixels)
{
    int rows = grid->height - top < RASTER_ROWS ? grid->height - top : RASTER_ROWS;
    grid->first = top * FINE;
    grid->rows = rows * FINE;
    memset(grid->canvas, 0xFF, 3 * (size_t)grid->samples * (size_t)grid->rows);
    for (size_t i = 0; i < grid->paper->item_count; i++)
        draw(grid, &grid->paper->items[i]);
    reduce(grid, pixels);
}

ulna_status raster_create(const picture *paper, double scale, raster *grid)
{
    int most = ROUND;
    for (size_t i = 0; i < paper->item_count; i++)
        most = paper->items[i].count > most ? paper->items[i].count : most;
    *grid = (raster){.paper = paper, .factor = scale * FINE};
    grid->width = (int)ceil(scale * paper->width);
    grid->height = (int)ceil(scale * paper->height);
    grid->samples = grid->width * FINE;
    grid->canvas = malloc(3 * (size_t)grid->samples * RASTER_ROWS * FINE);
    grid->crossings = malloc((size_t)most * sizeof *grid->crossings);
    grid->points = malloc((paper->point_count + 1) * sizeof *grid->points);
    if (!grid->canvas || !grid->crossings || !grid->points) {
        raster_release(grid);
        return ULNA_ERR_MEMORY;
    }
    for (size_t i = 0; i < paper->point_count; i++) {
        grid->points[i].x = grid->factor * paper->points[i].x;
        grid->points[i].y = grid->factor * paper->points[i].y;
    }
    return ULNA_OK;
}

void raster_release(raster *grid)
{
    free(grid->canvas);
    free(grid->crossings);
    free(grid->points);
    *grid = (raster){0};
}
