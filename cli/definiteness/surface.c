/*
 * f as a surface over the two degrees of freedom, in the colours of the regions: a mesh of quads, drawn from the back
 * to the front so that what is hidden gets covered. A quad on the border of a region is cut where the eigenvalue is
 * zero, so that borders are as smooth as in the map.
 */
#include "cli/definiteness/definiteness.h"

#include <math.h>

enum {
    STRIDE = 4, /* steps of the mesh to a quad */
    QUADS = MAP_STEPS / STRIDE,
    RULES = 3,  /* quads between the lines on the surface */
    SHADES = 16 /* so that neighbours share a colour, and files stay small */
};

/* ---- projection --------------------------------------------------------------------------------------- */

/* The floor is the square [-1/2, 1/2]^2 turned about the vertical; x recedes to the right, y to the left. Heights are 0
 * to 1. Parallel lines stay parallel. */
#define TURN (37.5 / 180 * 3.14159265358979323846)
#define TILT (44.0 / 180 * 3.14159265358979323846)
#define RELIEF 0.66 /* height of the box, by the side of its floor */

typedef struct camera {
    double x, y; /* where the middle of the floor is in the picture */
    double scale;
    double top; /* f at height 1 */
} camera;

static svg_point project(const camera *view, double u, double v, double height)
{
    double right = u * cos(TURN) - v * sin(TURN), away = u * sin(TURN) + v * cos(TURN);
    return (svg_point){view->x + view->scale * right,
                       view->y - view->scale * (away * sin(TILT) + height * RELIEF * cos(TILT))};
}

/* Fits the box of floor and height into a box of the picture, with room for numbers at the left and below. */
static camera aim(double top, double x, double y, double width, double height)
{
    camera view = {.scale = 1, .top = top};
    double left = project(&view, -0.5, 0.5, 0).x, right = project(&view, 0.5, -0.5, 0).x;
    double above = project(&view, 0.5, 0.5, 1).y, below = project(&view, -0.5, -0.5, 0).y;
    double room[2] = {width - 44, height - 62};
    double scale = fmin(room[0] / (right - left), room[1] / (below - above));
    view.scale = scale;
    view.x = x + 34 + room[0] / 2 - scale * (left + right) / 2;
    view.y = y + 10 - scale * above;
    return view;
}

/* ---- the box around ----------------------------------------------------------------------------------- */

static void draw_edge(markup *paper, const camera *view, unsigned colour, const double a[3], const double b[3])
{
    const svg_point ends[2] = {project(view, a[0], a[1], a[2]), project(view, b[0], b[1], b[2])};
    map_line(paper, colour, 0.7, ends, 2);
}

/* What is behind the surface: the walls, with a line for each number of f. */
static void draw_walls(markup *paper, const camera *view, const map_ticks *heights)
{
    const double corners[4][2] = {{-0.5, 0.5}, {0.5, 0.5}, {0.5, -0.5}, {-0.5, -0.5}};
    svg_point floor[4];
    for (int k = 0; k < 4; k++)
        floor[k] = project(view, corners[k][0], corners[k][1], 0);
    map_area(paper, 0xF4F4F4, floor, 4);
    for (int k = 0; k < 3; k++) {
        const double foot[3] = {corners[k][0], corners[k][1], 0}, head[3] = {corners[k][0], corners[k][1], 1};
        draw_edge(paper, view, 0xC4C4C4, foot, head);
    }
    for (int i = 0; i < heights->count; i++)
        for (int k = 0; k < 2; k++) {
            double h = heights->values[i] / view->top;
            const double a[3] = {corners[k][0], corners[k][1], h}, b[3] = {corners[k + 1][0], corners[k + 1][1], h};
            draw_edge(paper, view, 0xDCDCDC, a, b);
        }
    svg_point at;
    for (int i = 0; i < heights->count; i++) {
        at = project(view, -0.5, 0.5, heights->values[i] / view->top);
        map_segment(paper, 0.8, at.x - 4, at.y, at.x, at.y);
        svg_text(paper, SVG_END, "font-size=\"10\"", at.x - 7, at.y + 3.5, "%s", heights->texts[i]);
    }
    at = project(view, -0.5, 0.5, 1);
    svg_text(paper, SVG_MIDDLE, "font-size=\"11\"", at.x - 2, at.y - 9, "f (m²)");
}

/* The front edges of the floor, with numbers: x along the right one, y along the left one. */
static void draw_front(markup *paper, const camera *view, const request_axis axes[2])
{
    char text[320];
    for (int k = 0; k < 2; k++) {
        const request_axis *axis = &axes[k];
        double sign = k == 0 ? 1 : -1;
        svg_point at;
        map_ticks ticks = map_choose_ticks(&axis->whole, axis->is_angle, 4);
        const double near[3] = {-0.5, -0.5, 0}, far[3] = {k == 0 ? 0.5 : -0.5, k == 0 ? -0.5 : 0.5, 0};
        draw_edge(paper, view, MAP_INK, near, far);
        for (int i = 0; i < ticks.count; i++) {
            double along = (ticks.values[i] - axis->whole.low) / (axis->whole.high - axis->whole.low) - 0.5;
            at = project(view, k == 0 ? along : -0.5, k == 0 ? -0.5 : along, 0);
            map_segment(paper, 0.8, at.x, at.y, at.x + sign * 2.5, at.y + 4);
            svg_text(paper, k == 0 ? 0 : SVG_END, "font-size=\"10\"", at.x + sign * 4, at.y + 13, "%s", ticks.texts[i]);
        }
        at = project(view, k == 0 ? 0 : -0.5, k == 0 ? -0.5 : 0, 0);
        svg_text(paper, k == 0 ? 0 : SVG_END, "font-size=\"11\"", at.x + (k == 0 ? 4 : -20), at.y + (k == 0 ? 34 : 30),
                 "%s", map_axis_title(axis, 12, text, sizeof text));
    }
}

/* ---- quads -------------------------------------------------------------------------------------------- */

typedef struct quad {
    svg_point corners[4];       /* in the picture, round the quad */
    double low[4], negative[4]; /* the eigenvalues there; of the higher one the opposite */
    double brightness;
    int is_semidefinite;
} quad;

/* A corner of quads, counted in quads: where it is in the box, and in the picture. */
typedef struct node {
    int index; /* in the mesh */
    double place[3];
    svg_point at;
} node;

static node node_place(const camera *view, const map_panel *mesh, int i, int j)
{
    node found = {.index = STRIDE * (j * (MAP_STEPS + 1) + i)};
    double height = mesh->f[found.index] / view->top;
    found.place[0] = (double)i / QUADS - 0.5;
    found.place[1] = (double)j / QUADS - 0.5;
    found.place[2] = height * RELIEF;
    found.at = project(view, found.place[0], found.place[1], height);
    return found;
}

/* Light falls from the upper left of the viewer. */
static double shade(const node nodes[4])
{
    double a[3], b[3];
    for (int k = 0; k < 3; k++) {
        a[k] = nodes[2].place[k] - nodes[0].place[k];
        b[k] = nodes[3].place[k] - nodes[1].place[k];
    }
    const double normal[3] = {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    const double light[3] = {-0.62, 0.1, 0.78};
    double length = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]);
    double along = (normal[0] * light[0] + normal[1] * light[1] + normal[2] * light[2]) / length;
    return 0.8 + 0.2 * round(SHADES * fmax(along, 0)) / SHADES;
}

/*
 * Where two smoothed edges meet, the ground would shine through. So each quad reaches a little under those that are
 * drawn after it: its other corners move away from the farthest one, and the eigenvalues go on along the way.
 */
static quad tuck_under(const quad *piece)
{
    enum { FARTHEST = 2 };
    const double overlap = 0.4;
    quad wide = *piece;
    svg_point from = piece->corners[FARTHEST];
    for (int k = 0; k < 4; k++) {
        svg_point at = piece->corners[k];
        double length = hypot(at.x - from.x, at.y - from.y);
        double stretch = 1 + overlap / fmax(length, 4 * overlap);
        wide.corners[k] = (svg_point){from.x + stretch * (at.x - from.x), from.y + stretch * (at.y - from.y)};
        wide.low[k] = piece->low[FARTHEST] + stretch * (piece->low[k] - piece->low[FARTHEST]);
        wide.negative[k] = piece->negative[FARTHEST] + stretch * (piece->negative[k] - piece->negative[FARTHEST]);
    }
    return wide;
}

static quad make_quad(const camera *view, const map_panel *mesh, int i, int j)
{
    static const int around[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    node nodes[4];
    quad made = {.is_semidefinite = 1};
    for (int k = 0; k < 4; k++) {
        nodes[k] = node_place(view, mesh, i + around[k][0], j + around[k][1]);
        made.corners[k] = nodes[k].at;
        made.low[k] = mesh->low[nodes[k].index];
        made.negative[k] = -mesh->high[nodes[k].index];
        made.is_semidefinite &= mesh->node_regions[nodes[k].index] == SWEEP_SEMIDEFINITE;
    }
    made.brightness = shade(nodes);
    return made;
}

static int count_above(const double values[4])
{
    return (values[0] > 0) + (values[1] > 0) + (values[2] > 0) + (values[3] > 0);
}

/* The part of a quad where `values`, linear along each side, is positive: its corners, and how many. `zeros` receives
 * the points of the sides where it is zero, `zero_count` of them. */
static int clip(const svg_point corners[4], const double values[4], svg_point part[8], svg_point zeros[4],
                int *zero_count)
{
    int kept = 0;
    *zero_count = 0;
    for (int i = 0; i < 4; i++) {
        int next = (i + 1) % 4;
        double a = values[i], b = values[next];
        if (a > 0)
            part[kept++] = corners[i];
        if ((a > 0) == (b > 0))
            continue;
        double along = a / (a - b);
        svg_point zero = {corners[i].x + along * (corners[next].x - corners[i].x),
                          corners[i].y + along * (corners[next].y - corners[i].y)};
        part[kept++] = zeros[(*zero_count)++] = zero;
    }
    return kept;
}

static void draw_part(markup *paper, const quad *wide, const double values[4], sweep_region region)
{
    svg_point part[8], zeros[4];
    int zero_count, count = clip(wide->corners, values, part, zeros, &zero_count);
    if (count >= 3)
        map_area(paper, map_region_colour(region, wide->brightness), part, count);
}

void map_draw_zeros(markup *paper, double width, const svg_point corners[4], const double values[4])
{
    svg_point part[8], zeros[4];
    int count;
    clip(corners, values, part, zeros, &count);
    /* Of a saddle, the sign in the middle decides which two corners belong together. */
    int is_positive = values[0] + values[1] + values[2] + values[3] > 0, shift = is_positive != (values[0] > 0);
    for (int i = 0; i + 1 < count; i += 2) {
        const svg_point ends[2] = {zeros[(i + shift) % count], zeros[(i + shift + 1) % count]};
        map_line(paper, map_region_colour(SWEEP_SEMIDEFINITE, 1), width, ends, 2);
    }
}

static void draw_quad(markup *paper, const quad *piece)
{
    quad wide = tuck_under(piece);
    int positive = count_above(piece->low), negative = count_above(piece->negative);
    sweep_region ground = piece->is_semidefinite ? SWEEP_SEMIDEFINITE : SWEEP_INDEFINITE;
    if (piece->is_semidefinite || (positive < 4 && negative < 4))
        map_area(paper, map_region_colour(ground, piece->brightness), wide.corners, 4);
    if (piece->is_semidefinite)
        return;
    if (positive)
        draw_part(paper, &wide, wide.low, SWEEP_POSITIVE);
    if (negative)
        draw_part(paper, &wide, wide.negative, SWEEP_NEGATIVE);
    map_draw_zeros(paper, 1, piece->corners, piece->low);
    map_draw_zeros(paper, 1, piece->corners, piece->negative);
}

/* A line between the nodes (i, j) and (i + di, j + dj), `count` quads long. */
static void draw_rule(markup *paper, const camera *view, const map_panel *mesh, int i, int j, int di, int count)
{
    svg_point points[QUADS + 1];
    int is_border = di ? j % QUADS == 0 : i % QUADS == 0;
    for (int k = 0; k <= count; k++)
        points[k] = node_place(view, mesh, i + di * k, j + (1 - di) * k).at;
    map_line(paper, MAP_RULE, is_border ? 0.8 : 0.4, points, count + 1);
}

/*
 * From the back to the front. What can hide a point of the surface lies nearer both in x and in y, so a line along x
 * may wait for the end of its row, but a line along y is drawn piece by piece before its left neighbour.
 */
static void draw_quads(markup *paper, const camera *view, const map_panel *mesh)
{
    draw_rule(paper, view, mesh, 0, QUADS, 1, QUADS);
    for (int j = QUADS - 1; j >= 0; j--) {
        draw_rule(paper, view, mesh, QUADS, j, 0, 1);
        for (int i = QUADS - 1; i >= 0; i--) {
            quad piece = make_quad(view, mesh, i, j);
            draw_quad(paper, &piece);
            if (i % RULES == 0)
                draw_rule(paper, view, mesh, i, j, 0, 1);
        }
        if (j % RULES == 0)
            draw_rule(paper, view, mesh, 0, j, 1, QUADS);
    }
}

void map_draw_surface(markup *paper, const request *wish, const map_panel *mesh, double x, double y, double width,
                      double height)
{
    double most = 0;
    for (int i = 0; i < MAP_NODES; i++)
        most = fmax(most, mesh->f[i]);
    const sweep_range range = {0, most > 0 ? most : 1};
    camera from = aim(range.high, x, y, width, height);
    map_ticks heights = map_choose_ticks(&range, 0, 4);
    draw_walls(paper, &from, &heights);
    draw_quads(paper, &from, mesh);
    draw_front(paper, &from, wish->axes);
}
