/* constraint_rows.h (private): where a constraint is evaluated, and what its rows are made of. */
#ifndef ULNA_SRC_CONSTRAINT_ROWS_H
#define ULNA_SRC_CONSTRAINT_ROWS_H

#include "objective/constraint.h"

/* Where a constraint is evaluated. */
struct ulna_constraint_site {
    const ulna_kept *kept;
    ulna_body_place place[2]; /* of `body` and `other`; the world is a place too */
    double origin[3];         /* of the pose, in the world */
    double centre[4];         /* of mass, relative to the origin; the last number says nothing */
    double length;
    int link[2]; /* ULNA_NONE: the world */
    int freeze;
    double *frozen;              /* 9: axes of its rotation rows */
    unsigned char *has_old_axes; /* types with frozen axes set it: would other axes be better here? */
    const double *q;
    const int *coordinate; /* nv: model->dof_coordinate */
};

/* A point of a place, and a place of the world, relative to the pose's origin. */
void ulna_site_point(const ulna_body_place *place, const double local[3], double p[3]);
void ulna_site_from_world(const ulna_constraint_site *site, const double place[3], double p[3]);
/* Rounding of a position near p, which was found by a difference of world positions. */
double ulna_site_noise(const ulna_constraint_site *site, const double p[3]);
void ulna_column3(const double matrix[9], int j, double x[3]);

/* Adds n.x, x a point or direction of body 0 or 1; body 0 comes first. */
void ulna_row_add_function(const ulna_constraint_site *site, ulna_row *row, int which, const double x[3],
                           const double n[3], int is_point);
/* Adds scale u uT to the second derivatives, u = n.dx on one body; or u = n.(dx - dy), x on body 0 and y on body 1 or in the
 * world. */
void ulna_row_add_bend(ulna_row *row, int which, const double x[3], const double n[3], int is_point, double scale);
void ulna_row_add_bend_between(const ulna_constraint_site *site, ulna_row *row, const double x[3], const double y[3],
                               const double n[3], int is_point, double scale);
/* x - y along the world's axes, x on body 0 and y on body 1 or in the world. */
void ulna_rows_between(const ulna_constraint_site *site, const double x[3], const double y[3], ulna_row *rows);

/* Of the table: constraint_rotations.c. */
int ulna_orientation_rows(const ulna_constraint_site *site, ulna_row *rows);
double ulna_orientation_error(const ulna_constraint_site *site);
int ulna_frame_rows(const ulna_constraint_site *site, ulna_row *rows);
double ulna_frame_error(const ulna_constraint_site *site);
int ulna_direction_rows(const ulna_constraint_site *site, ulna_row *rows);
double ulna_direction_error(const ulna_constraint_site *site);
int ulna_aim_rows(const ulna_constraint_site *site, ulna_row *rows);
double ulna_aim_error(const ulna_constraint_site *site);
int ulna_angle_rows(const ulna_constraint_site *site, ulna_row *rows);
double ulna_angle_error(const ulna_constraint_site *site);

#endif
