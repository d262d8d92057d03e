/* Numbers in a file's own unit: see scaled.h. */
#include "formats/text/scaled.h"

#include <math.h>

#include "formats/text/decimal.h"

static int digits_text(double value, int digits, char text[ULNA_NUMBER_SIZE])
{
    if (value == 0)
        return ulna_decimal_text((ulna_decimal){0, 0}, 0, 1, text);
    ulna_expansion expansion = ulna_decimal_expand(fabs(value));
    digits = digits < 1 ? 1 : digits < 17 ? digits : 17;
    return ulna_decimal_text(ulna_decimal_round(&expansion, digits), value < 0, digits, text);
}

/* The number near x whose product with `scale` is `value`; NaN if there is none. Its distance is at most the roundings of
 * the division and of the product: two of the last place. */
static double find_factor(double x, double value, double scale)
{
    double above = x, below = x;
    for (int step = 0; step <= 2; step++) {
        if (above * scale == value)
            return above;
        if (below * scale == value)
            return below;
        above = nextafter(above, (double)INFINITY);
        below = nextafter(below, -(double)INFINITY);
    }
    return (double)NAN;
}

/* With 15 or 16 digits, if these give the value; else 0. */
static int short_text(double x, double value, double scale, char text[ULNA_NUMBER_SIZE])
{
    ulna_expansion expansion = ulna_decimal_expand(fabs(x));
    for (int digits = 15; digits < 17; digits++) {
        ulna_decimal number = ulna_decimal_round(&expansion, digits);
        if (ulna_decimal_value(number.digits, number.exponent) * scale == fabs(value))
            return ulna_decimal_text(number, x < 0, digits, text);
    }
    return 0;
}

int ulna_format_scaled(double value, double scale, int digits, char text[ULNA_NUMBER_SIZE])
{
    double x = value / scale;
    if (x == 0 || digits > 0)
        return digits_text(x, digits, text);
    int length = short_text(x, value, scale, text);
    if (length)
        return length;
    double factor = find_factor(x, value, scale);
    if (isnan(factor)) {
        value = x * scale;
        x = value / scale;
        factor = find_factor(x, value, scale);
        length = short_text(x, value, scale, text);
    }
    return length ? length : digits_text(isnan(factor) ? x : factor, 17, text);
}

void ulna_put_scaled(ulna_writer *writer, double value, double scale, int digits)
{
    char text[ULNA_NUMBER_SIZE];
    int length = ulna_format_scaled(value, scale, digits, text);
    ulna_put_bytes(writer, text, (size_t)length);
}

double ulna_round_digits(double value, int digits)
{
    if (value == 0)
        return 0;
    ulna_expansion expansion = ulna_decimal_expand(fabs(value));
    ulna_decimal number = ulna_decimal_round(&expansion, digits < 1 ? 1 : digits < 17 ? digits : 17);
    return copysign(ulna_decimal_value(number.digits, number.exponent), value);
}

double ulna_round_decimals(double value, int decimals)
{
    double grid = 1;
    for (int i = 0; i < decimals; i++)
        grid *= 10;
    return round(value * grid) / grid + 0.0; /* never -0 */
}
