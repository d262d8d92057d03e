/* The version of the library, as opposed to that of the headers it is used with. */
#include "ulna/ulna.h"

const char *ulna_version(void)
{
    return ULNA_VERSION_STRING;
}
