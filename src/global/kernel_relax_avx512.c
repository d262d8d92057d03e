/* The relaxation's kernels for x86-64 with AVX-512: four lanes still, but 32 registers. */
#define KERNEL_NAME "avx512"
#define KERNEL ulna_relax_kernel_avx512
#include "global/relax_kernel.inc"
