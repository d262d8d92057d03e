/* Numbers of up to nine digits for x86-64 with AVX2 and FMA. */
#define KERNEL ulna_scaled_find_nine_avx2
#include "formats/text/digits_kernel.inc"
