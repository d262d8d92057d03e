/* The LTDL kernels for x86-64 with AVX2 and FMA. */
#define KERNEL_NAME "avx2"
#define KERNEL ulna_ltdl_kernel_avx2
#define TARGETS 2
#include "linalg/ltdl_kernel.inc"
