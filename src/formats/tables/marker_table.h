/* marker_table.h (private): rows of marker positions, as TRC and CSV have them. */
#ifndef ULNA_SRC_MARKER_TABLE_H
#define ULNA_SRC_MARKER_TABLE_H

#include "formats/tables/table.h"

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

#endif
