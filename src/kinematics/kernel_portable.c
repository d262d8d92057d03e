/* The kernel for any machine: plain vectors, which the compiler lowers to what there is (SSE2, NEON, WebAssembly). */
#define ULNA_KERNEL portable
#include "kinematics/kernel.inc"
