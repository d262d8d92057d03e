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
/* Nothing but blanks, commas and semicolons is left of the line. */
int ulna_row_is_blank(const ulna_scan *scan);

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
/* Cuts the unit off the name of a column: "mm" off "knee_mm", "knee [mm]" and "knee (mm)". Returns metres per unit of a length,
 * radians per unit of an angle (`is_angle` is 1 then), or 0 if the name ends with no unit; it stays as it is then. */
double ulna_cell_cut_unit(ulna_word *name, int *is_angle);
/* Writes a text as a cell between commas: in quotes if it needs them. */
void ulna_put_cell(ulna_writer *writer, const char *text);
/* Writes value / scale so that ulna_cell_value reads the same bits, or if `scale` is no power of ten as ulna_put_scaled does
 * (numbers.h). `digits` > 0 asks for that many instead. */
void ulna_put_value(ulna_writer *writer, double value, double scale, int digits);

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
/* A column of frame numbers, which should increase by one. */
#define ULNA_NO_FRAME (-2147483647)

typedef struct ulna_frame_numbers {
    int first; /* ULNA_NO_FRAME until known */
    int jumps, jump_line;
} ulna_frame_numbers;

/*
 * Seconds between frames and the number of the first one. `rate` is what the file states (0: nothing), `frame` the number
 * that it gives to the first frame (ULNA_NO_FRAME: none). Where they contradict the times by more than these were rounded,
 * the times are used, but a number that is not 1 stays. Contradictions and uneven steps are remarked upon.
 */
void ulna_times_judge(const ulna_times *times, double rate, int frame, ulna_remarks *remarks, double *frame_seconds,
                      int *first_frame);

/* ---- tables of frames: TRC, CSV, MOT ------------------------------------------------------------------------------ */

/* A line of names, then a row per frame. Columns are numbers from 0, or ULNA_NONE. */
typedef struct ulna_table {
    ulna_scan scan;
    const ulna_read_options *options;
    ulna_content *content;
    ulna_error *error;
    char delimiter;
    ulna_cells columns; /* their names */
    int frame_column, time_column;
    int is_answers; /* as `ulna reach` writes them: columns before `first` are about each answer */
    size_t first;   /* column of the first marker */
    size_t each;    /* columns of a marker: x, y, z, and maybe how visible it is */
    double unit_m;  /* metres per unit of length */
    int degrees;    /* angles are degrees; -1: not stated, which means degrees */
    double rate;    /* as stated; 0: not stated */
    ulna_times times;
    ulna_frame_numbers numbers;
} ulna_table;

ulna_table ulna_table_start(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                            ulna_error *error);
/* Releases what the table has allocated and returns `status`. */
ulna_status ulna_table_end(ulna_table *table, ulna_status status);
/* Goes to the next line that is not blank; 0 at the end of the file. */
int ulna_table_line(ulna_table *table);
/* The same, and comments (#) are skipped too. */
int ulna_table_row(ulna_table *table);
/* Finds the delimiter of the current line and reads the names of the columns, without empty ones at its end. */
ulna_status ulna_table_names(ulna_table *table);
/* The name of a column of frame numbers ("frame", "Frame#") or of times ("time", "Time (s)"). */
int ulna_is_frame_column(ulna_word cell);
int ulna_is_time_column(ulna_word cell);
/* Whether the columns from `first` on are coordinates of markers, three by three: NAME.x NAME.y NAME.z, NAME_tx ..., NAMEX
 * ...; or four by four, with NAME_visibility, as key points have them. None of them names a coordinate of the skeleton in the options, if
 * there is one. */
ulna_status ulna_table_has_markers(ulna_table *table, int *has_markers);

/* Reads a frame number or a time; `is_value` is 1 if the column is of neither. A time may be missing. */
ulna_status ulna_table_read_time(ulna_table *table, size_t column, ulna_word cell, int frame, int *is_value);
/* ULNA_ERR_PARSE: "'x' is not a number". */
ulna_status ulna_table_fail_cell(const ulna_table *table, ulna_word cell, const char *what);
/* Whether another frame may be added: columns without cells must not take more memory than 64 times the length of the file,
 * and some bytes that are free. */
int ulna_table_has_room(const ulna_table *table, size_t numbers_per_frame, int frames, int free_bytes);
/* After the last row: at least one frame must be there; finds its time step and first number. */
ulna_status ulna_table_finish(ulna_table *table, int frames, double *frame_seconds, int *first_frame);

/* ---- rows of marker positions ------------------------------------------------------------------------------------- */

/* Gives the recording a marker for each of the first `count` names of the table; doubled quotes in them become one if
 * `has_quotes`. */
ulna_status ulna_table_name_markers(ulna_table *table, size_t count, int has_quotes);
/* The same for columns of which ulna_table_has_markers is true. */
ulna_status ulna_marker_columns_name(ulna_table *table);
/*
 * Reads the rows that follow into a recording that has its markers but no frames. Cells that are missing make the marker
 * missing. Rows that are too short, frame numbers that jump and values without a name are remarked upon; anything that is not
 * a number is an error.
 */
ulna_status ulna_marker_table_read(ulna_table *table);

/* Writes a row per frame: frame number, time if `step` > 0, positions; `missing` stands for a marker that is not there or too
 * far away for the unit, which is remarked upon. */
void ulna_put_marker_rows(ulna_writer *out, const ulna_writing *writing, const char *delimiter, const char *missing,
                          double step, double unit);

/* ---- joint values in columns, as MOT and CSV have them ------------------------------------------------------------ */

/*
 * A column is a coordinate, called as its degree of freedom is (ulna_model_dof_label). A quaternion takes four: hip.qx, hip.qy,
 * hip.qz, hip.qw.
 *
 * Reads the rows that follow. Columns that are no coordinate of the model are remarked upon, and so are coordinates that
 * have no column and keep their rest value. ULNA_ERR_PARSE if no column is one.
 */
ulna_status ulna_joint_table_read(ulna_table *table);
/* Whether one of the columns is a coordinate of the model, by name. */
ulna_status ulna_joint_columns(const ulna_table *table, int *is_found);

/* Checks that the clip has finite numbers; remarks upon quaternions. */
ulna_status ulna_joint_table_check(const ulna_writing *writing, ulna_error *error);
/* Writes the names of the columns, of which the first is `time_name`, and a row per frame. `step` is 0 for frame numbers
 * instead of times. Cells are quoted where need be between commas; between tabs, names have no blanks. */
ulna_status ulna_put_joint_table(ulna_writer *out, const ulna_writing *writing, char delimiter, double step,
                                 double unit, ulna_error *error);

#endif
