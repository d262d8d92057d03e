/*
 * joint_table.h (private): joint values in columns, as MOT and CSV have them.
 *
 * A column is a coordinate, called as its degree of freedom is (ulna_model_dof_label). A quaternion takes four: hip.qx, hip.qy,
 * hip.qz, hip.qw.
 */
#ifndef ULNA_SRC_JOINT_TABLE_H
#define ULNA_SRC_JOINT_TABLE_H

#include "formats/format.h"
#include "formats/tables/table.h"

typedef enum ulna_coordinate_kind { ULNA_IS_ANGLE, ULNA_IS_LENGTH, ULNA_IS_QUATERNION } ulna_coordinate_kind;

#define ULNA_COORDINATE_LABEL 288 /* a body's name, a suffix, a zero byte */

/* The label of each coordinate and what it is, for models in which both are asked for often. */
typedef struct ulna_coordinates {
    const ulna_model *model;
    int *dof;  /* nq; for a quaternion -1 - body */
    int *part; /* nq; 0 to 3 in a quaternion */
} ulna_coordinates;

ulna_status ulna_coordinates_fill(ulna_coordinates *coordinates, const ulna_model *model,
                                  const ulna_allocator *allocator);
void ulna_coordinates_release(ulna_coordinates *coordinates, const ulna_allocator *allocator);
ulna_coordinate_kind ulna_coordinate_is(const ulna_coordinates *coordinates, int coordinate);
void ulna_coordinate_label(const ulna_coordinates *coordinates, int coordinate, char text[ULNA_COORDINATE_LABEL]);

/* ---- reading ------------------------------------------------------------------------------------------------------ */

typedef struct ulna_joint_table {
    ulna_scan *scan;
    char delimiter;
    const ulna_cells *columns; /* their names, in the current line */
    int frame_column, time_column;
    double unit_m, angle, rate; /* angle: radians that one unit of the file is; rate: 0 if it is not told */
} ulna_joint_table;

/* Reads the rows that follow. Columns that are no coordinate of the model are remarked upon, and so are coordinates that
 * have no column and keep their rest value. ULNA_ERR_PARSE if no column is one. */
ulna_status ulna_joint_table_read(const ulna_joint_table *table, const ulna_model *model, ulna_content *content,
                                  ulna_error *error);

/* Is one of the columns a coordinate of the model, by name? -1 if memory is out. For files that could as well be of markers. */
int ulna_joint_columns(const ulna_model *model, const ulna_cells *columns, const ulna_allocator *allocator);

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* Checks that model and clip are there, fit each other and have finite numbers; remarks upon quaternions. */
ulna_status ulna_joint_table_check(const ulna_writing *writing, const char *format, ulna_error *error);

#endif
