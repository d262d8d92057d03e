/* The kernel of chains for x86-64 with AVX-512. */
#define KERNEL_NAME "avx512"
#define KERNEL ulna_serial_kernel_avx512
#define LANES 4
#include "reach/serial_kernel.inc"
