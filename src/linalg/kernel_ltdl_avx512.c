/* The LTDL kernels for x86-64 with AVX-512: four lanes still, but 32 registers. */
#define KERNEL_NAME "avx512"
#define KERNEL ulna_ltdl_kernel_avx512
#define TARGETS 4
#include "linalg/ltdl_kernel.inc"
