/*
 * Lines of zeros by marching squares. A line passes through edges of the grid; each square joins two of its edges, or
 * twice two. Edge 2 n runs to the right of node n, edge 2 n + 1 upwards.
 */
#include "cli/definiteness/contour.h"

#include <stdlib.h>

typedef struct grid {
    const double *values;
    int columns, rows;
    int (*links)[2];       /* the edges that an edge is joined to, or -1 */
    unsigned char *seen;   /* edges that a line went through */
    picture_point *points; /* of the line at hand */
} grid;

static void link(grid *over, int a, int b)
{
    over->links[a][over->links[a][0] >= 0] = b;
    over->links[b][over->links[b][0] >= 0] = a;
}

/* Corners and edges go round the square from the lower left and the bottom. */
static void join_square(grid *over, const unsigned char *silent, int node)
{
    const int corners[4] = {node, node + 1, node + 1 + over->columns, node + over->columns};
    const int edges[4] = {2 * node, 2 * corners[1] + 1, 2 * corners[3], 2 * node + 1};
    int above[4], crossed[4], count = 0, silent_count = 0;
    double sum = 0;
    for (int k = 0; k < 4; k++) {
        above[k] = over->values[corners[k]] > 0;
        sum += over->values[corners[k]];
        silent_count += silent[corners[k]] != 0;
    }
    for (int k = 0; k < 4; k++)
        if (above[k] != above[(k + 1) % 4])
            crossed[count++] = edges[k];
    if (silent_count == 4 || count == 0)
        return;
    if (count == 2)
        link(over, crossed[0], crossed[1]);
    else { /* a saddle: the middle tells which two corners belong together */
        int with_first = (sum > 0) == above[0];
        link(over, edges[with_first ? 1 : 0], edges[with_first ? 0 : 3]);
        link(over, edges[with_first ? 3 : 2], edges[with_first ? 2 : 1]);
    }
}

static picture_point place_on_edge(const grid *over, int edge)
{
    int node = edge / 2, is_upwards = edge % 2;
    double a = over->values[node], b = over->values[node + (is_upwards ? over->columns : 1)];
    double along = a / (a - b);
    int column = node % over->columns, row = node / over->columns;
    return (picture_point){column + (is_upwards ? 0 : along), row + (is_upwards ? along : 0)};
}

static void follow(grid *over, int start, contour_line line, void *context)
{
    int count = 0, edge = start, is_loop = over->links[start][1] >= 0;
    while (edge >= 0 && !over->seen[edge]) {
        over->seen[edge] = 1;
        over->points[count++] = place_on_edge(over, edge);
        int next = over->links[edge][0];
        edge = next >= 0 && !over->seen[next] ? next : over->links[edge][1];
    }
    if (is_loop)
        over->points[count++] = place_on_edge(over, start);
    line(context, over->points, count);
}

int contour_trace(const double *values, const unsigned char *silent, int columns, int rows, contour_line line,
                  void *context)
{
    int edges = 2 * columns * rows;
    grid over = {.values = values, .columns = columns, .rows = rows};
    over.links = malloc((size_t)edges * sizeof *over.links);
    over.seen = calloc((size_t)edges, 1);
    over.points = malloc(((size_t)edges + 1) * sizeof *over.points);
    int has_room = over.links && over.seen && over.points;
    for (int i = 0; has_room && i < edges; i++)
        over.links[i][0] = over.links[i][1] = -1;
    for (int j = 0; has_room && j + 1 < rows; j++)
        for (int i = 0; i + 1 < columns; i++)
            join_square(&over, silent, j * columns + i);

    /* Lines that end at the border first: they must be entered at an end. */
    for (int open = 1; has_room && open >= 0; open--)
        for (int i = 0; i < edges; i++)
            if (!over.seen[i] && over.links[i][0] >= 0 && (over.links[i][1] < 0) == open)
                follow(&over, i, line, context);
    free(over.links);
    free(over.seen);
    free(over.points);
    return has_room;
}

int contour_clip(const picture_point *corners, const double *values, int count, picture_point *part,
                 picture_point *zeros, int *zero_count)
{
    int kept = 0;
    *zero_count = 0;
    for (int i = 0; i < count; i++) {
        int next = (i + 1) % count;
        double a = values[i], b = values[next];
        if (a > 0)
            part[kept++] = corners[i];
        if ((a > 0) == (b > 0))
            continue;
        double along = a / (a - b);
        picture_point zero = {corners[i].x + along * (corners[next].x - corners[i].x),
                              corners[i].y + along * (corners[next].y - corners[i].y)};
        part[kept++] = zeros[(*zero_count)++] = zero;
    }
    return kept;
}
