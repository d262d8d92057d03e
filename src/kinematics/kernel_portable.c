/* The kernel for any machine: plain vectors, which the compiler lowers to what there is (SSE2, NEON, WebAssembly). */
#define ULNA_KERNEL portable
#define ULNA_KERNEL_SUPPORTED 1
#include "kinematics/kernel.inc"
