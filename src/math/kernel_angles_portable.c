/* The angles of three rotations for any machine. */
#define KERNEL ulna_change_angles_portable
#include "math/angles_kernel.inc"
