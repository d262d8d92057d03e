/* The kernel of chains for x86-64 with AVX2 and FMA. */
#define KERNEL_NAME "avx2"
#define KERNEL ulna_serial_kernel_avx2
#define LANES 4
#include "reach/serial_kernel.inc"
