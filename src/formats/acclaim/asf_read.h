/* asf_read.h (private): what the reader of ASF collects before a skeleton is made of it. */
#ifndef ULNA_SRC_ASF_READ_H
#define ULNA_SRC_ASF_READ_H

#include "formats/acclaim/acclaim.h"
#include "formats/text/scan.h"
#include "model/builder.h"

#define ULNA_ASF_NAME 256
#define ULNA_ASF_DOFS 6

typedef struct ulna_asf_bone {
    double direction[3], length;
    double axis[3];
    char axis_order[4];
    char dof[ULNA_ASF_DOFS][2]; /* as the file lists them: 'r' or 't', 'x' 'y' 'z' */
    int dof_count;
    double limit[2 * ULNA_ASF_DOFS];
    int limit_count;
    int line; /* of its begin */
    int has_children;
    int mark; /* for finding cycles */
} ulna_asf_bone;

typedef struct ulna_asf_reader {
    ulna_scan scan;
    const ulna_read_options *options;
    ulna_content *content;
    ulna_error *error;
    ulna_builder *builder;
    ulna_names names;    /* of the bones */
    ulna_asf_bone *bone; /* by body of the builder; 0 is the root */
    size_t bone_count, bone_capacity;
    double position[3]; /* of the root */
    double unit, angle;
    int has_unit, has_order;
    int swapped, swapped_line, reordered, reordered_line, ignored;
    int has_line; /* the line at hand is not used up */
} ulna_asf_reader;

/* An error that is found later, about something that began in an earlier line. */
ulna_status ulna_asf_fail_earlier(ulna_asf_reader *r, int line, ulna_status status);

/* The skeleton, its channels and remarks on what was odd, into the content. */
ulna_status ulna_asf_make_skeleton(ulna_asf_reader *r);

#endif
