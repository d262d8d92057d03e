/* The LTDL kernels for AVX-512: four lanes still, but 32 registers; compile with
 * -mavx512f -mavx512vl -mavx512dq -mavx2 -mfma -mprefer-vector-width=256. */
#include "linalg/ltdl.h"

#if defined(__AVX512F__) && defined(__AVX512VL__) && defined(__AVX512DQ__)
#define KERNEL_NAME "avx512"
#define KERNEL_FUNCTION ulna_ltdl_kernel_avx512
#define TARGETS 4
#include "linalg/ltdl_kernel.inc"
#else
const ulna_ltdl_kernel *ulna_ltdl_kernel_avx512(void)
{
    return NULL;
}
#endif
