/* The relaxation's kernels for any machine. */
#define KERNEL_NAME "portable"
#define KERNEL ulna_relax_kernel_portable
#include "global/relax_kernel.inc"
