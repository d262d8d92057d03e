/* The kernel for x86-64 with AVX-512 (F, VL, DQ). Four lanes as in the others: 8-wide rows measured slower; the gain is
 * in twice the registers. */
#define ULNA_KERNEL avx512
#include "kinematics/kernel.inc"
