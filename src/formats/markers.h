/* markers.h (private): what the formats of markers share: names and units of length. */
#ifndef ULNA_SRC_MARKERS_H
#define ULNA_SRC_MARKERS_H

#include "formats/format.h"

/*
 * A marker's name as Ulna keeps it: UTF-8 (bytes that are not are taken as Latin-1), no blanks around it, '_' for control
 * characters, cut to fit. Returns 1 if nothing was cut. Writers pass names through it too, so that what they write is
 * read back as it is.
 */
int ulna_marker_name(const char *text, size_t length, char name[ULNA_MARKER_NAME]);
/* The name to write for marker `i`: its own, or "point5" for the fifth if it has none. */
void ulna_marker_name_of(const ulna_recording *recording, int i, char name[ULNA_MARKER_NAME]);
/* Adds a remark if `name_of` makes names that differ from the recording's own. */
void ulna_markers_renamed(const ulna_recording *recording,
                          void (*name_of)(const ulna_recording *, int, char name[ULNA_MARKER_NAME]),
                          ulna_remarks *remarks);

/* Calls markers without a name "point1", "point2", ... by their number, and remarks upon names that occur twice. */
ulna_status ulna_markers_finish(ulna_recording *recording, ulna_remarks *remarks);
/* Remarks upon positions that are exactly zero, as programs write what they have not seen. ULNA_ERR_MEMORY. */
ulna_status ulna_markers_zeros(const ulna_recording *recording, ulna_remarks *remarks);

/* Metres per unit of length: by the options, else as the file names it in line `line`, else millimetres, with a remark. */
double ulna_markers_unit(const char *name, const ulna_read_options *options, int line, ulna_remarks *remarks);
/* The short name of a unit of so many metres; NULL if it has none. */
const char *ulna_length_unit_name(double metres);
/* The unit that the options ask for, or `usual`. ULNA_ERR_UNSUPPORTED if it has no name. */
ulna_status ulna_named_unit(const ulna_writing *writing, const char *format, double usual, double *unit,
                            ulna_error *error);

#endif
