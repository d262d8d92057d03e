/*
 * definiteness.h: the parts of `ulna definiteness`: what is asked for, the sweep over two degrees of freedom, and the
 * picture of it.
 *
 * The objective is f = 1/2 |goal - point|^2 + 1/2 W |q - rest|^2, in square metres; W, the posture weight, is 0 unless
 * asked for. Where is its exact Hessian over two degrees of freedom, or more, positive definite, while two are swept and the others
 * are at rest? This is Appendix A of the exact-Hessian paper. Radians and metres throughout.
 */
#ifndef ULNA_CLI_DEFINITENESS_H
#define ULNA_CLI_DEFINITENESS_H

#include "cli/markup.h"
#include "ulna/problem.h"

#define DEFINITENESS_DEGREE (3.14159265358979323846 / 180) /* in radians */

typedef struct sweep_range {
    double low, high;
} sweep_range;

/* ---- the command line: options.c ---------------------------------------------------------------------- */

enum {
    DEFINITENESS_GOALS = 12, /* most goals, and panels of a picture */
    DEFINITENESS_LEAST = 8,  /* cells along an axis: least, most and default */
    DEFINITENESS_MOST = 2000,
    DEFINITENESS_SIZE = 360
};

typedef struct request_axis {
    int dof;
    char name[300];
    int is_angle;              /* shown in degrees, otherwise in metres */
    sweep_range whole, limits; /* radians or metres */
    int has_limits;
} request_axis;

typedef struct request {
    const char *path; /* of the model, or the name of a built-in one */
    ulna_model *model;
    request_axis axes[2];
    int body;
    double point[3];    /* in the body's frame */
    const char *marker; /* NULL if it is none */
    double goals[DEFINITENESS_GOALS][3];
    int goal_count;
    int size;      /* cells along an axis */
    int bounds;    /* also inside the limits */
    double weight; /* of the posture, m2/rad2; 0: without */
    double *over;  /* nv: 1 for degrees of freedom of the Hessian; NULL: the two that are swept */
    int over_count;
} request;

/* Reads options and model. Reports what is wrong and returns the exit code. Release in any case. */
int request_read(const cli *tool, request *wish);
void request_release(request *wish);

/* ---- the sweep: sweep.c ------------------------------------------------------------------------------- */

#define SWEEP_TOLERANCE 1e-9 /* an eigenvalue counts as zero if it is at most this fraction of the other one */

typedef enum sweep_region {
    SWEEP_POSITIVE, /* both eigenvalues above zero */
    SWEEP_INDEFINITE,
    SWEEP_NEGATIVE,
    SWEEP_SEMIDEFINITE, /* at least one is zero */
    SWEEP_REGION_COUNT
} sweep_region;

typedef struct sweep {
    int dof[2], coordinate[2];
    ulna_problem *problem;
    ulna_work *work;
    int point, posture; /* terms */
    double zero;        /* eigenvalues no larger than this are rounding noise */
    double *q;          /* nq */
    double *unit;       /* nv, zeros */
    double *column;     /* nv */
    const double *over; /* nv, or NULL: as in the request */
    double *values;     /* nv: eigenvalues, if `over` is given */
} sweep;

/* At one place. */
typedef struct sweep_sample {
    double f;
    double low, high;   /* eigenvalues: the lowest and the highest */
    double least, most; /* their absolute values */
    double hessian[3] /* xx, xy, yy */, gradient[2];
} sweep_sample;

/* Over a whole range. */
typedef struct sweep_tally {
    double percent[SWEEP_REGION_COUNT];      /* of the cells */
    double condition_median, condition_most; /* over positive definite cells; NaN if there are none */
    double lowest;                           /* eigenvalue */
    double f_high;                           /* of the cells */

    /* The lowest f inside the range, found from the lowest cell on. */
    double minimum[2], minimum_f;
    double minimum_distance;  /* from point to goal, m */
    double minimum_condition; /* infinite where the Hessian is singular */
} sweep_tally;

/* Both degrees of freedom of the request must have a coordinate of their own. */
ulna_status sweep_create(const request *wish, sweep *over, ulna_error *error);
void sweep_release(sweep *over);

ulna_status sweep_aim(sweep *over, const double goal[3], double posture_weight);
ulna_status sweep_at(sweep *over, const double place[2], sweep_sample *sample);
sweep_region sweep_classify(const sweep *over, const sweep_sample *sample);

/* Samples the middles of size x size cells. `regions` (may be NULL): one byte a cell, x fastest, y upwards. */
ulna_status sweep_over(sweep *over, const sweep_range ranges[2], int size, unsigned char *regions, sweep_tally *tally);

/* ---- the picture: map.c, surface.c -------------------------------------------------------------------- */

/* After Fig. A.10 of the paper: for each goal a map of the regions over the two degrees of freedom, and below it the
 * same regions on the surface that f makes over them. */

enum {
    MAP_STEPS = 144, /* of the mesh along an axis: for the curves between regions, and the surface */
    MAP_NODES = (MAP_STEPS + 1) * (MAP_STEPS + 1)
};

typedef struct map_panel {
    unsigned char *regions; /* size x size cells */
    const sweep_tally *tally;

    /* The sweep at the nodes of a mesh that includes the borders, x fastest. */
    double *f, *low, *high; /* MAP_NODES each: objective and eigenvalues */
    unsigned char *node_regions;
} map_panel;

/* "12.34 %", and "< 0.01 %" for what is little but not nothing. */
const char *map_percent_text(double percent, char *text, size_t size);

/* Memory for the cells and the mesh; release in any case. */
ulna_status map_panel_create(map_panel *panel, int size);
void map_panel_release(map_panel *panel);
ulna_status map_sample_mesh(sweep *over, const request_axis axes[2], map_panel *panel);

/* The whole picture, a panel for each goal. */
void map_draw(const request *wish, const map_panel *panels, markup *paper);

/* Between map.c and surface.c. */

enum { MAP_INK = 0x222222, MAP_RULE = 0x9A9A9A };

typedef struct map_ticks {
    double values[16]; /* in the unit of the range */
    char texts[16][24];
    int count;
} map_ticks;

/* Round numbers inside a range, about `wanted` of them. */
map_ticks map_choose_ticks(const sweep_range *range, int is_angle, int wanted);
/* "elbow (°)", the name shortened to `most` characters. */
const char *map_axis_title(const request_axis *axis, int most, char *text, size_t size);
unsigned map_region_colour(sweep_region region, double brightness); /* 1: as it is in the map */

void map_line(markup *paper, unsigned colour, double width, const svg_point *points, int count);
void map_segment(markup *paper, double width, double x0, double y0, double x1, double y1); /* in ink */
void map_area(markup *paper, unsigned colour, const svg_point *points, int count);

/* The line, or two lines, along which a value is zero between the corners of a quad. */
void map_draw_zeros(markup *paper, double width, const svg_point corners[4], const double values[4]);
/* The surface, in a box of the picture. */
void map_draw_surface(markup *paper, const request *wish, const map_panel *mesh, double x, double y, double width,
                      double height);

#endif
