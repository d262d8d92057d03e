/* CSV files, of markers and of a skeleton with every kind of joint. */
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    round_trip(ULNA_FORMAT_CSV, "all-joints", data, size);
    return 0;
}
