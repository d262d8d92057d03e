/* Numbers of up to nine digits for any machine. */
#define KERNEL ulna_scaled_find_nine_portable
#include "formats/text/digits_kernel.inc"
