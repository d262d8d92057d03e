/* info.h: the parts of `ulna info`. */
#ifndef ULNA_CLI_INFO_H
#define ULNA_CLI_INFO_H

#include "cli/cli.h"

/* ---- the skeleton at rest, as lines and points: figure.c ---------------------------------------------- */

typedef struct figure {
    int bone_count;
    double (*bones)[2][3]; /* from, to; m */
    int marker_count;
    double (*markers)[3];
    double low[3], high[3]; /* the box around all of it */
} figure;

ulna_status figure_create(const ulna_model *model, figure *shape, ulna_error *error);
void figure_release(figure *shape);

typedef struct drawing {
    int up;    /* 0, 1 or 2 for x, y or z; -1 picks the taller one of y and z */
    int width; /* characters a line, if that is possible */
    int is_ascii;
} drawing;

/* The figure from the front and from the side, beside each other: a JSON list of lines, NULL if it cannot be drawn. */
json_t *figure_draw(const figure *shape, const drawing *how);

/* ---- the tree of bodies: figure.c ----------------------------------------------------------------------- */

void tree_print(const cli *tool, const ulna_model *model, int is_ascii);
json_t *tree_json(const ulna_model *model);

/* ---- robots: robot.c ------------------------------------------------------------------------------------- */

/* Whether joints have names of their own, as those of robots do. */
int robot_is(const ulna_model *model);
/* Moving joints, which follow which, tips: into the object of --json, and from there onto the screen. */
void robot_add(json_t *row, const ulna_model *model);
/* The longest way from the first joint that moves to the origin of a link: it cannot get farther from there; INFINITY without limits. How many
 * degrees of freedom move it, and the body of that joint. */
double robot_reach(const ulna_model *model, int tip, int *dofs, int *first);
void robot_print(const cli *tool, const json_t *row);

/* ---- what may be a mistake in a motion: info.c ---------------------------------------------------------- */

/* Adds sentences to a list: values that leave their limits, or jump. */
void motion_note(const ulna_model *model, const ulna_clip_findings *found, json_t *notes);

#endif
