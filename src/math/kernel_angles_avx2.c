/* The angles of three rotations for x86-64 with AVX2 and FMA. */
#define KERNEL ulna_change_angles_avx2
#include "math/angles_kernel.inc"
