/*
 * table.h (private): tables in text: cells between tabs, commas, semicolons or blanks; numbers that may be missing; times.
 *
 * Cells point into the file. A cell in double quotes may hold the delimiter, and quotes that are doubled (RFC 4180).
 */
#ifndef ULNA_SRC_TABLE_H
#define ULNA_SRC_TABLE_H

#include "formats/format.h"
#include "formats/text/scan.h"
#include "formats/text/text_writer.h"

/* ---- cells -------------------------------------------------------------------------------------------------------- */

typedef struct ulna_row {
    const char *here, *end;
    char delimiter;
    int is_done;
} ulna_row;

/* The delimiter of a line: tab if there is one, else ';' or ',' if that is more frequent, else ' ' for blanks. */
char ulna_table_delimiter(const ulna_scan *scan);
/* The cells of the current line. */
ulna_row ulna_row_start(const ulna_scan *scan, char delimiter);
/* The next cell, without blanks and quotes around it; it may be empty. 0 at the end of the row. Between blanks there are no
 * empty cells. */
int ulna_row_next(ulna_row *row, ulna_word *cell);
/* Nothing but blanks and delimiters is left of the line. */
int ulna_row_is_blank(const ulna_scan *scan, char delimiter);

/* How many cells of a row to trust: all of them, but for the last one where the file ends without the end of a line, and this
 * row has fewer than `columns` cells or ends with what is no number. */
size_t ulna_row_whole(const ulna_scan *scan, char delimiter, size_t columns);

/* All cells of the current line. On failure `cells` is NULL; ulna_cells_release is for what was filled. */
typedef struct ulna_cells {
    const ulna_allocator *allocator;
    ulna_word *items;
    size_t count, capacity;
} ulna_cells;

ulna_status ulna_cells_read(const ulna_scan *scan, char delimiter, const ulna_allocator *allocator, ulna_cells *cells);
void ulna_cells_release(ulna_cells *cells);

/* ---- what a cell says --------------------------------------------------------------------------------------------- */

/* Empty, or NaN and its like in any spelling: "nan", "-NaN(ind)", "1.#QNAN", "NA", "null". */
int ulna_cell_is_missing(ulna_word cell);
/* A finite number. Where the delimiter is no comma, the decimal point may be one. */
int ulna_cell_number(ulna_word cell, char delimiter, double *value);
/* Such a number times `scale`, the file's unit. If that is a power of ten the number is read with another exponent, so that 12.3 mm
 * are 0.0123 m to the last bit. It may overflow to infinity. */
int ulna_cell_value(ulna_word cell, char delimiter, double scale, double *value);
/* A copy with a zero byte at its end in UTF-8; doubled quotes become one. Returns 1 if nothing was cut. */
int ulna_cell_copy(ulna_word cell, char *text, size_t size);
/* Writes a text as a cell between commas: in quotes if it needs them. */
void ulna_put_cell(ulna_writer *writer, const char *text);
/* Writes value / scale so that ulna_cell_value reads the same bits, or if `scale` is no power of ten as ulna_put_scaled does
 * (numbers.h). `digits` > 0 asks for that many instead. */
void ulna_put_value(ulna_writer *writer, double value, double scale, int digits);
void ulna_put_integer(ulna_writer *writer, long long value);

/* ---- times -------------------------------------------------------------------------------------------------------- */

/* The step if frames so far apart make sense, between a nanosecond and thirty years; else 0. */
double ulna_sane_step(double frame_seconds);
/* Seconds from frame 1 to frame `frame`, so that 25 frames of 1/60 s take 0.4 s to all digits. */
double ulna_frame_time(double frame_seconds, double frame);
/* 1 / frame_seconds, without the last digit's noise where the rate has three decimals. */
double ulna_frame_rate(double frame_seconds);

typedef struct ulna_times {
    const ulna_allocator *allocator;
    double *items;
    size_t count, capacity;
    int first_line; /* of the file, for remarks */
} ulna_times;

ulna_status ulna_times_add(ulna_times *times, double seconds, int line);
void ulna_times_release(ulna_times *times);
/*
 * Seconds between frames and the number of the first one. `rate` is what the file says in words (0: nothing), `frame` the
 * number that it gives to the first frame (ULNA_NO_FRAME: none). Where they contradict the times by more than these were
 * rounded, the times are believed, but a number that is not 1 stays. Remarks upon contradictions and uneven steps.
 */
#define ULNA_NO_FRAME (-2147483647)

/* A column of frame numbers, which should go up by one. */
typedef struct ulna_frame_numbers {
    int first; /* ULNA_NO_FRAME until known */
    int jumps, jump_line;
} ulna_frame_numbers;

/* The number in row `row`, from 0; returns 0 if it is none. */
int ulna_frame_numbers_add(ulna_frame_numbers *numbers, int row, double number, int line);
void ulna_frame_numbers_remark(const ulna_frame_numbers *numbers, ulna_remarks *remarks);

void ulna_times_judge(const ulna_times *times, double rate, int frame, ulna_remarks *remarks, double *frame_seconds,
                      int *first_frame);

/* ---- rows of marker positions, as TRC and CSV have them --------------------------------------------------------- */

/* Columns: numbers from 0, or ULNA_NONE. Markers take three columns each, one after the other from `markers` on. */
typedef struct ulna_marker_table {
    ulna_scan *scan;
    char delimiter;
    int frame_column, time_column, markers;
    double unit_m, rate; /* rate: as the file says in words; 0 if it does not */
} ulna_marker_table;

/*
 * Reads the rows that follow into a recording that has its markers but no frames, and judges its times. Cells that are
 * missing make the marker missing. Rows that are too short, numbers of frames that jump and values without a name are
 * remarked upon; anything that is no number is an error. Lines that begin with # are passed over.
 */
ulna_status ulna_marker_table_read(const ulna_marker_table *table, ulna_content *content, ulna_error *error);

/* Are the columns from `first` on the coordinates of markers, three by three: NAME.x NAME.y NAME.z, NAME_tx ..., NAMEX ...? */
int ulna_marker_columns(const ulna_cells *cells, size_t first);
/* If so, makes their markers. */
ulna_status ulna_marker_columns_name(const ulna_scan *scan, const ulna_cells *cells, size_t first,
                                     ulna_content *content, ulna_error *error);
/* The name of a column of frame numbers ("frame", "Frame#") or of times ("time", "Time (s)"). */
int ulna_is_frame_column(ulna_word cell);
int ulna_is_time_column(ulna_word cell);

/* ---- joint values in columns, as MOT and CSV have them ---------------------------------------------------------- */

/*
 * A column is a coordinate, called as its degree of freedom is (ulna_model_dof_label). A quaternion takes four: hip.qx, hip.qy,
 * hip.qz, hip.qw.
 */
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

/* Checks that model and clip are there, fit each other and have finite numbers; remarks upon quaternions. */
ulna_status ulna_joint_table_check(const ulna_writing *writing, const char *format, ulna_error *error);

#endif
