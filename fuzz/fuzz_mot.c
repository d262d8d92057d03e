/* MOT and STO files, of a skeleton with every kind of joint. */
#include "round_trip.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    round_trip(ULNA_FORMAT_MOT, "all-joints", data, size);
    return 0;
}
