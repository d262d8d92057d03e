/*
 * csv.h (private): tables of markers or of joint values, a line of names and a line per frame.
 *
 *     # lengths: m                          # angles: degrees
 *     # rate: 120                           # lengths: m
 *     frame,time,LASI.x,LASI.y,LASI.z       # rate: 120
 *     1,0,0.1,0.2,0.3                       time,pelvis.Tx,hip.Rz,knee
 *                                           0,0.5,12.5,40
 */
#ifndef ULNA_SRC_CSV_H
#define ULNA_SRC_CSV_H

#include "formats/format.h"

int ulna_csv_sniff(const char *data, size_t length);
ulna_status ulna_csv_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error);
ulna_status ulna_csv_write(const ulna_writing *writing, ulna_error *error);

#endif
