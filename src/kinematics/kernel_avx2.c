/* The kernel for x86-64 with AVX2 and FMA. */
#define ULNA_KERNEL avx2
#include "kinematics/kernel.inc"
