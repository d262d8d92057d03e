/* build.h (private): the steps of building a model that have their own file. */
#ifndef ULNA_SRC_BUILD_H
#define ULNA_SRC_BUILD_H

#include "model/builder.h"

/* Links, from finished bodies and degrees of freedom. `bucket` and `count` are scratch, one int per body each. */
void ulna_model_make_links(ulna_model *model, int *bucket, int *count);

#endif
