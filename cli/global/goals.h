/*
 * goals.h: what people want a skeleton to reach, from files and from the command line.
 *
 * CSV: a goal a line, "name,x,y,z" or "name,x,y,z,weight", where the name is a marker's or else a body's (then its origin
 * is meant). Metres in the world. "name,x,y,z,qx,qy,qz,qw", perhaps with a weight behind, also gives the orientation of the body,
 * as a quaternion; with x, y and z empty only that. A first line "name,x,y,z" is a heading, # begins a comment line.
 *
 * JSON: {"goals": [...], "start": [...]}. A goal is {"marker": NAME, "position": [x, y, z]} or {"body": NAME, "point": [x, y,
 * z] in the body's frame, the origin by default, "position": [x, y, z]}; instead of the position, or besides it, a body may
 * have an "orientation", as rows of a matrix (three lists, or nine numbers) or a quaternion [x, y, z, w]. "weight" is 1 by
 * default. Or "goals" is {NAME: [x, y, z], ...}, of markers or else bodies. "unit" is that of lengths: "m", "mm", .... "start" is where to begin: all coordinates of the
 * skeleton, in metres and radians.
 */
#ifndef ULNA_CLI_GOALS_H
#define ULNA_CLI_GOALS_H

#include "cli/cli.h"
#include "src/formats/json/json_reader.h"
#include "ulna/problem.h"

/* Keys of a file of constraints, which `ulna solve` keeps. */
#define GOALS_MORE "constraints, feet, locked, strengths"

enum { GOAL_POSITION = 1, GOAL_ORIENTATION = 2 };

typedef struct goal {
    int what;   /* GOAL_POSITION, GOAL_ORIENTATION or both */
    int marker; /* ULNA_NONE if it is about a point of the body */
    int body;
    double point[3];    /* body frame, m */
    double position[3]; /* world, m */
    double rotation[9]; /* row by row */
    double weight;
} goal;

typedef struct goals {
    const ulna_model *model;
    goal *list;
    int count, room;
    double *start; /* nq, or NULL */
    double unit_m; /* metres that a unit of length in files and texts is: 1, unless set before reading */
    /* Reads what else GOALS_MORE names in a JSON file; NULL: that is an error. Then the file may be without goals. */
    ulna_status (*read_more)(void *context, const ulna_json_node *root);
    void *more_context;
} goals;

void goals_init(goals *wanted, const ulna_model *model);
void goals_release(goals *wanted);

/* Reads a file of either kind, "-" for standard input, and adds what it holds. Errors have the line. */
ulna_status goals_read(goals *wanted, const char *path, ulna_error *error);
/* Adds a goal of the command line: "NAME x y z" or "NAME x y z weight"; commas do as well. */
ulna_status goals_add_text(goals *wanted, const char *text, ulna_error *error);

/* Adds the terms to a problem. */
ulna_status goals_to_problem(const goals *wanted, ulna_problem *problem, ulna_error *error);

#endif
