/* The LTDL kernels for any machine. */
#define KERNEL_NAME "portable"
#define KERNEL ulna_ltdl_kernel_portable
#define TARGETS 2
#include "linalg/ltdl_kernel.inc"
