/*
 * constraint_file.h: what a file of --constraints holds besides goals: constraints, feet that stand, locked joints, strengths.
 *
 *     {"unit": "mm", "constraints": [{"type": "point", "body": "left_hand", "position": [...], "frames": [[1, 90]]}, ...],
 *      "feet": "auto", "locked": ["neck"], "strengths": {"left_knee": 0.5}, "goals": [...]}
 *
 * docs/constraints-file.md describes all of it.
 */
#ifndef ULNA_CLI_CONSTRAINT_FILE_H
#define ULNA_CLI_CONSTRAINT_FILE_H

#include "cli/global/goals.h"
#include "ulna/mocap.h"

/* A constraint of the file, and the arrays that it points to. */
typedef struct file_constraint {
    char name[80]; /* as the file calls it, or its type and body */
    int *dofs;
    double *coefficients, *corners;
    ulna_frame_range *ranges; /* indices in the take */
} file_constraint;

typedef struct constraint_file {
    const ulna_take *take; /* NULL: a skeleton alone; frames and feet are refused */
    goals *wanted;         /* has the model, and receives the goals */
    json_t *notes;         /* about frames outside the take */
    ulna_track_constraint *list;
    file_constraint *own; /* for each of the list */
    int count;
    ulna_stance *stances;
    int stance_count;
    int plant_feet;
    unsigned char *locked; /* nv, or NULL */
    double *strength;      /* nv, or NULL */
} constraint_file;

/* Reads goals and all else; errors have the line. Release in any case. */
ulna_status constraint_file_read(constraint_file *file, const char *path, ulna_error *error);
void constraint_file_release(constraint_file *file);

#endif
