/* The loops of the reduction for x86-64 with AVX2 and FMA. */
#define KERNEL ulna_reduce_avx2
#include "mocap/reduce_kernel.inc"
