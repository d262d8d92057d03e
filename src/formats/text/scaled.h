/* scaled.h (private): numbers in a file's own unit, with digits that read back to the same bits. */
#ifndef ULNA_SRC_SCALED_H
#define ULNA_SRC_SCALED_H

#include "formats/text/text_writer.h"

/*
 * The text of value / scale with the fewest of 15, 16 or 17 digits whose number, times `scale`, is `value` to the bit; so
 * 12.4901 degrees that were read are 12.4901 again. Not every value is such a product: then it is taken for the nearest that
 * is, and what is read back gives the same text again. `digits` > 0 asks for that many instead. Zero has no sign. `value`
 * and value / scale must be finite. Returns the length.
 */
int ulna_format_scaled(double value, double scale, int digits, char text[ULNA_NUMBER_SIZE]);
void ulna_put_scaled(ulna_writer *writer, double value, double scale, int digits);

/* The value rounded to so many significant digits, as it is read back; and to so many decimals. */
double ulna_round_digits(double value, int digits);
double ulna_round_decimals(double value, int decimals);

#endif
