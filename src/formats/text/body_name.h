/* body_name.h (private): names for bodies of files whose own names may be there twice. */
#ifndef ULNA_SRC_BODY_NAME_H
#define ULNA_SRC_BODY_NAME_H

#include "model/builder.h"

#define ULNA_BODY_NAME 256

/* `base` if no body has it yet and it is not too long; else base, mark and the first number from 2 on that is free. Returns 0
 * in the second case. */
int ulna_free_body_name(const ulna_builder *builder, const char *base, const char *mark, char name[ULNA_BODY_NAME]);

#endif
