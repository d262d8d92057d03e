/* The kernel for x86-64 with AVX2 and FMA. */
#define ULNA_KERNEL avx2
#define ULNA_KERNEL_SUPPORTED (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
#include "kinematics/kernel.inc"
