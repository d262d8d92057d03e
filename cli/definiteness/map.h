/*
 * map.h: the picture of `ulna definiteness`, after Fig. A.10 of the exact-Hessian paper: for each goal a map of the
 * regions over the two degrees of freedom, and below it the same regions on the surface that f makes over them.
 */
#ifndef ULNA_CLI_MAP_H
#define ULNA_CLI_MAP_H

#include "cli/definiteness/sweep.h"
#include "cli/picture.h"

enum { MAP_STEPS = 144 }; /* of the mesh along an axis: for the curves between regions, and the surface */

/* The sweep at the (MAP_STEPS + 1)^2 nodes of a mesh that includes the borders, x fastest. */
typedef struct map_mesh {
    double *f, *low, *high; /* objective and eigenvalues */
    unsigned char *regions;
} map_mesh;

typedef struct map_axis {
    const char *name;
    int is_angle;      /* shown in degrees, otherwise in metres */
    sweep_range range; /* radians or metres */
    int has_limits;    /* then a frame shows them */
    sweep_range limits;
} map_axis;

typedef struct map_panel {
    char title[96];
    int size;               /* cells along an axis */
    unsigned char *regions; /* size x size */
    double percent[SWEEP_REGION_COUNT];
    map_mesh mesh;
} map_panel;

typedef struct map_view {
    char title[64], subtitle[512];
    map_axis axes[2];
    map_panel *panels;
    int count;
} map_view;

extern const char *const map_region_names[SWEEP_REGION_COUNT];
/* "12.34 %", and "< 0.01 %" for what is little but not nothing. */
const char *map_percent_text(double percent, char *text, size_t size);

ulna_status map_mesh_create(sweep *over, const map_axis axes[2], map_mesh *mesh);
void map_mesh_release(map_mesh *mesh);

/* Draws everything on a new picture; release it in any case. */
void map_draw(const map_view *view, picture *paper);

/* ---- between the files of the map --------------------------------------------------------------------- */

enum { MAP_INK = 0x222222, MAP_PALE_INK = 0x666666, MAP_RULE = 0x9A9A9A, MAP_LIMITS = 0x1F5FBF };

typedef struct map_ticks {
    double values[16]; /* in the unit of the range */
    char texts[16][24];
    int count;
} map_ticks;

/* Round numbers inside a range, about `wanted` of them. */
map_ticks map_choose_ticks(const sweep_range *range, int is_angle, int wanted);

/* "elbow (°)", the name shortened to `most` characters. */
const char *map_axis_title(const map_axis *axis, int most, char *text, size_t size);
unsigned map_region_colour(sweep_region region, double brightness); /* 1: as it is in the map */

/* The surface, in a box of the picture. */
void map_draw_surface(picture *paper, const map_view *view, const map_mesh *mesh, double x, double y, double width,
                      double height);

#endif
