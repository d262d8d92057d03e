/* Numbers in a file's own unit: see scaled.h. */
#include "formats/scaled.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/scan.h"

/* The locale's decimal point is whatever is not a digit, sign or exponent, in one byte or several. */
static int digits_text(double value, int digits, char text[ULNA_NUMBER_SIZE])
{
    int length = snprintf(text, ULNA_NUMBER_SIZE, "%.*g", digits < 1 ? 1 : digits < 17 ? digits : 17, value), kept = 0;
    for (int i = 0; i < length; i++) {
        if (strchr("0123456789+-e", text[i]))
            text[kept++] = text[i];
        else if (kept && text[kept - 1] != '.')
            text[kept++] = '.';
    }
    text[kept] = 0;
    return kept;
}

static double text_number(const char *text, int length)
{
    double value = 0;
    ulna_word_number((ulna_word){text, (size_t)length}, &value);
    return value;
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

int ulna_format_scaled(double value, double scale, int digits, char text[ULNA_NUMBER_SIZE])
{
    double x = value / scale;
    if (x == 0)
        return digits_text(0, 1, text);
    if (digits > 0)
        return digits_text(x, digits, text);
    double factor = find_factor(x, value, scale);
    if (isnan(factor)) {
        value = x * scale;
        x = value / scale;
        factor = find_factor(x, value, scale);
    }
    for (int tried = 15; tried < 17; tried++) {
        int length = digits_text(x, tried, text);
        if (text_number(text, length) * scale == value)
            return length;
    }
    return digits_text(isnan(factor) ? x : factor, 17, text);
}

void ulna_put_scaled(ulna_writer *writer, double value, double scale, int digits)
{
    char text[ULNA_NUMBER_SIZE];
    int length = ulna_format_scaled(value, scale, digits, text);
    ulna_put_bytes(writer, text, (size_t)length);
}

double ulna_round_digits(double value, int digits)
{
    char text[ULNA_NUMBER_SIZE];
    int length = digits_text(value, digits, text);
    return text_number(text, length);
}

double ulna_round_decimals(double value, int decimals)
{
    double grid = 1;
    for (int i = 0; i < decimals; i++)
        grid *= 10;
    return round(value * grid) / grid + 0.0; /* never -0 */
}
