/* The loops of the reduction for any machine. */
#define KERNEL ulna_reduce_portable
#include "mocap/reduce_kernel.inc"
