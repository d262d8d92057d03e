/* The kernel for x86-64 with AVX-512 (F, VL, DQ). Four lanes as in the others: 8-wide rows measured slower; the gain is
 * in twice the registers. */
#define ULNA_KERNEL avx512
#define ULNA_KERNEL_SUPPORTED                                                                                          \
    (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
#include "kinematics/kernel.inc"
