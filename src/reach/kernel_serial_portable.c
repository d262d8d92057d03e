/* The kernel of chains for any machine: one candidate at a time. */
#define KERNEL_NAME "portable"
#define KERNEL ulna_serial_kernel_portable
#define LANES 1
#include "reach/serial_kernel.inc"
