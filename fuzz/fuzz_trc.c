/* TRC files. */
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    round_trip(ULNA_FORMAT_TRC, NULL, data, size);
    return 0;
}
