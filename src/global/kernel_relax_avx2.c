/* The relaxation's kernels for x86-64 with AVX2 and FMA. */
#define KERNEL_NAME "avx2"
#define KERNEL ulna_relax_kernel_avx2
#include "global/relax_kernel.inc"
