/* The LTDL kernels for AVX2 with FMA; compile with -mavx2 -mfma. */
#include "linalg/ltdl.h"

#if defined(__AVX2__) && defined(__FMA__)
#define KERNEL_NAME "avx2"
#define KERNEL_FUNCTION ulna_ltdl_kernel_avx2
#define TARGETS 2
#include "linalg/ltdl_kernel.inc"
#else
const ulna_ltdl_kernel *ulna_ltdl_kernel_avx2(void)
{
    return NULL;
}
#endif
