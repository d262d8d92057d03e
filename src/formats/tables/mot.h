/*
 * mot.h (private): joint values over time, as OpenSim's .mot and .sto files: a header that ends with "endheader", a line of
 * names, a line per frame.
 */
#ifndef ULNA_SRC_MOT_H
#define ULNA_SRC_MOT_H

#include "formats/format.h"

int ulna_mot_sniff(const char *data, size_t length);
ulna_status ulna_mot_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error);
ulna_status ulna_mot_write(const ulna_writing *writing, ulna_error *error);

#endif
