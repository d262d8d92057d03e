/*
 * acclaim.h (private): ASF (skeleton) and AMC (motion), the formats of Acclaim.
 *
 * Sources: M. Schafer, Acclaim Skeleton File Definition V1.10 (1994, 1995), and Vicon's notes on it. With
 *
 *   C        what `axis a b c XYZ` says: Rz(c) Ry(b) Rx(a), the letters in the order of application about fixed axes
 *   T        what the translations tx, ty, tz of the degrees of freedom say
 *   R        what their rotations say, in the order of the `dof` line, which is that of application about fixed axes too:
 *            `dof rx ry rz` is Rz Ry Rx. The letters of `axis` do not matter for it.
 *
 * a bone moves by C T R C^-1 where it begins, and begins where its parent ends. At rest all bones have the axes of the
 * world. The root stands at (position, C of its orientation) and moves from there by T R.
 */
#ifndef ULNA_SRC_ACCLAIM_H
#define ULNA_SRC_ACCLAIM_H

#include "formats/format.h"
#include "formats/text/names.h"
#include "model/model.h"

/* `length` of an ASF is the number of units in an inch: metres per unit = inch / length, and length = inch / metres per unit.
 * Where it is not stated it is 0.45, as Vicon, CMU and HDM05 have it. */
#define ULNA_ACCLAIM_LENGTH 0.45
#define ULNA_ACCLAIM_UNIT (ULNA_INCH_M / ULNA_ACCLAIM_LENGTH)
#define ULNA_ACCLAIM_ROOT "root"

/* ---- numbers -------------------------------------------------------------------------------------------------------- */

/* From where a bone begins to where it ends, in metres. A direction of no length gives none. */
void ulna_acclaim_tip(const double direction[3], double length, double unit_m, double tip[3]);
/* C: the rotations of `order`, such as "XYZ", by the angles about x, y and z (radians), one after the other. */
void ulna_acclaim_axis(const double angles[3], const char order[3], double rotation[9]);

/* The comment of an AMC by Ulna that repeats `length` of its ASF, which the format has no word for. */
#define ULNA_AMC_LENGTH "#!ULNA:LENGTH"
/* `length` of :units, and the metres that one unit is for whoever reads it; by what the options ask for. */
double ulna_acclaim_length(const ulna_write_options *options, double *unit_m);

/* ---- joints --------------------------------------------------------------------------------------------------------- */

/* What Acclaim calls the degrees of freedom of a joint, in the order in which an AMC file lists their values: translations
 * along x, y, z, then rotations in the order of their application. */
typedef struct ulna_acclaim_channel {
    char kind, axis; /* 't' or 'r'; 'x', 'y', 'z' */
    int coordinate;  /* of the joint */
} ulna_acclaim_channel;

typedef struct ulna_acclaim_channels {
    int count;
    ulna_acclaim_channel channel[6];
} ulna_acclaim_channels;

/* The channels of every body, as many as the model has bodies, for the caller to release; in the order of `listed` (every
 * coordinate once, as in ulna_content) if that is not NULL. ULNA_ERR_UNSUPPORTED for joints that Acclaim cannot say,
 * ULNA_ERR_ARGUMENT for a list that is not that of the model. */
ulna_status ulna_acclaim_list(const ulna_model *model, const int *listed, int listed_count,
                              const ulna_allocator *allocator, ulna_acclaim_channels **channels, ulna_error *error);

/* The same skeleton with joints that Acclaim can say, and a remark on those that had to change; NULL if the model has no
 * other ones. */
ulna_status ulna_acclaim_model(const ulna_model *model, const ulna_allocator *allocator, ulna_model **result,
                               ulna_remarks *remarks, ulna_error *error);

/* ---- names ---------------------------------------------------------------------------------------------------------- */

/* The names that the bodies of a model have in a file, by body: "root" for the root, and what else a word cannot be is
 * changed, with a remark. */
ulna_status ulna_acclaim_names(const ulna_model *model, ulna_names *names, ulna_remarks *remarks);
/* Makes of `stem` a name that is not taken: stem, stem2, stem3, ... 0 if it gets too long. */
int ulna_acclaim_free_name(const ulna_names *names, const char *stem, char name[256]);
/* The name is that of the free end of a bone: NAME_end, or NAME_end2 and so on if that was taken. */
int ulna_acclaim_is_end(const char *end, const char *bone);

#endif
