/* definiteness.h: what a command line of `ulna definiteness` asks for. */
#ifndef ULNA_CLI_DEFINITENESS_H
#define ULNA_CLI_DEFINITENESS_H

#include "cli/cli.h"
#include "cli/definiteness/sweep.h"

enum {
    DEFINITENESS_GOALS = 12, /* most goals, and panels of a picture */
    DEFINITENESS_LEAST = 8,
    DEFINITENESS_MOST = 2000,
    DEFINITENESS_SIZE = 360 /* cells along an axis: least, most, and unless told */
};

typedef struct request_axis {
    int dof;
    char name[300];
    int is_angle;
    sweep_range whole, limits; /* radians or metres */
    int has_limits;
} request_axis;

typedef struct request {
    const char *path; /* of the model, or the name of a built-in one */
    ulna_model *model;
    request_axis axes[2];
    int body;
    double point[3];    /* of the body */
    const char *marker; /* NULL if it is none */
    double goals[DEFINITENESS_GOALS][3];
    int goal_count;
    int size;
    int bounds;    /* also inside the limits */
    double weight; /* of the posture, m2/rad2; 0: without */
} request;

/* Reads options and model; tells what is wrong and returns the exit code. Release in any case. */
int request_read(const cli *tool, request *wish);
void request_release(request *wish);

#endif
