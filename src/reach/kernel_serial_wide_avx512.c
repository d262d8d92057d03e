/* The kernel of chains for x86-64 with AVX-512 where there is work for eight lanes. */
#define KERNEL_NAME "wide avx512"
#define KERNEL ulna_serial_kernel_wide_avx512
#define LANES 8
#include "reach/serial_kernel.inc"
