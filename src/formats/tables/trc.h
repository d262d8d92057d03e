/*
 * trc.h (private): markers over time in text, as Motion Analysis made it and OpenSim uses it.
 *
 *     PathFileType  4  (X/Y/Z)  name.trc
 *     DataRate  CameraRate  NumFrames  NumMarkers  Units  OrigDataRate  OrigDataStartFrame  OrigNumFrames
 *     120       120         3          2           mm     120           1                   3
 *     Frame#  Time  LASI              RASI
 *                   X1    Y1    Z1    X2    Y2    Z2
 *
 *     1       0     ...
 */
#ifndef ULNA_SRC_TRC_H
#define ULNA_SRC_TRC_H

#include "formats/format.h"

int ulna_trc_sniff(const char *data, size_t length);
ulna_status ulna_trc_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error);
ulna_status ulna_trc_write(const ulna_writing *writing, ulna_error *error);

#endif
