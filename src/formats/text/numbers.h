/*
 * numbers.h (private): doubles from decimal digits and back, correctly rounded in every locale.
 *
 * Both directions multiply with a power of ten of 128 bits; where that cannot decide, or for exponents that no recording has,
 * they ask the C library, which is ten times slower.
 */
#ifndef ULNA_SRC_NUMBERS_H
#define ULNA_SRC_NUMBERS_H

#include <stdint.h>

#include "formats/text/text_writer.h"

/* The double nearest to digits * 10^exponent; infinity if it is too large. */
double ulna_decimal_value(uint64_t digits, int exponent);

/* A number that is not negative, as digits * 10^exponent. */
typedef struct ulna_decimal {
    uint64_t digits;
    int exponent;
} ulna_decimal;

/* A number with as many digits as any rounding needs: value = (floor + fraction / 2^64) * 10^exponent, but for an error of a
 * few units of the fraction. */
typedef struct ulna_expansion {
    double value;
    int is_known; /* 0: of an exponent that no recording has */
    uint64_t floor, fraction;
    int count; /* digits of `floor`, 17 or 18 */
    int exponent;
} ulna_expansion;

/* `value` must be positive and finite. */
ulna_expansion ulna_decimal_expand(double value);
/* Rounded to 1 .. 17 significant digits as printf does; without zeros at the end. */
ulna_decimal ulna_decimal_round(const ulna_expansion *expansion, int digits);

/* The fewest of 15, 16 or 17 digits that read back to the value, which must be positive and finite; without zeros at the
 * end. */
ulna_decimal ulna_decimal_shortest(double value, int *digits);

/* Writes a decimal number as "%.*g" does for so many digits, with a decimal point; returns the length. */
int ulna_decimal_text(ulna_decimal number, int is_negative, int digits, char text[ULNA_NUMBER_SIZE]);

/* ---- in a file's own unit ------------------------------------------------------------------------------------- */

/*
 * The text of value / scale with the fewest of 15, 16 or 17 digits whose number, times `scale`, is `value` to the bit; so
 * 12.4901 degrees that were read are 12.4901 again. Not every value is such a product: then it is taken for the nearest that
 * is, and what is read back gives the same text again. `digits` > 0, at most 17, asks for that many instead. Zero has no sign. `value`
 * and value / scale must be finite. Returns the length.
 */
int ulna_format_scaled(double value, double scale, int digits, char text[ULNA_NUMBER_SIZE]);
/*
 * The same in two steps, the first for all numbers of a frame. Each is a long chain in which one instruction waits for another: this way
 * the processor works at several numbers at a time.
 */
typedef struct ulna_scaled {
    double value, scale; /* to be set */
    /* 0: not found so quickly. 17 digits, some of them zeros at the end; if 9 or fewer are asked for, nine: the first in the uppermost four
     * bits, the others a byte each, the foremost of them at the bottom. */
    uint64_t number;
    int first; /* exponent of the first digit */
} ulna_scaled;
void ulna_scaled_find(ulna_scaled *n, int count, int digits);
/* Puts each with a blank behind it, and returns their end. They need 1 + ULNA_NUMBER_SIZE bytes each. */
char *ulna_scaled_texts(const ulna_scaled *n, int count, int digits, char *text);

/* Parts of ulna_scaled_find, by instruction sets: 1 .. 9 digits; one number, 1 .. 17 digits. */
void ulna_scaled_find_nine_portable(ulna_scaled *n, int count, int digits);
void ulna_scaled_find_nine_avx2(ulna_scaled *n, int count, int digits);
void ulna_scaled_find_digits(ulna_scaled *n, int digits);

void ulna_put_scaled(ulna_writer *writer, double value, double scale, int digits);

/* The value rounded to so many significant digits, as it is read back; and to so many decimals. */
double ulna_round_digits(double value, int digits);
double ulna_round_decimals(double value, int decimals);

#endif
