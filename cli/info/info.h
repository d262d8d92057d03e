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

/* ---- what may be a mistake: notes.c ------------------------------------------------------------------- */

/* A JSON list of sentences. */
json_t *model_notes(const ulna_model *model, const figure *shape);

/* ---- the tree of bodies: tree.c ----------------------------------------------------------------------- */

void tree_print(const cli *tool, const ulna_model *model, int is_ascii);
json_t *tree_json(const ulna_model *model);

/* ---- motions and recordings: info_motion.c, info_markers.c --------------------------------------------- */

/* Printed, and added to the row of --json; what is odd is added to the notes. */
void motion_tell(const cli *tool, const ulna_model *model, const ulna_clip *clip, json_t *row, json_t *notes);
/* What is odd, in sentences. */
void motion_note(const ulna_model *model, const ulna_clip_findings *found, json_t *notes);
void markers_tell(const cli *tool, const ulna_recording *recording, json_t *row, json_t *notes);
/* Frames, their rate and their numbers. */
void frames_tell(const cli *tool, int count, int first, double seconds, json_t *row);

#endif
