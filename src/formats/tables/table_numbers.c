/*
 * Numbers in a unit that is a power of ten of ours: the same digits with another exponent, so nothing is rounded twice, and
 * what a person wrote is what is written again. Other units are those of scaled.h.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tables/table.h"
#include "formats/text/decimal.h"
#include "formats/text/scaled.h"

enum { NO_POWER = 1000, MOST_DIGITS = 240 };

static int power_of(double scale)
{
    return scale == 1      ? 0
           : scale == 1e-3 ? -3
           : scale == 1e-2 ? -2
           : scale == 0.1  ? -1
           : scale == 1e-6 ? -6
           : scale == 1e3  ? 3
                           : NO_POWER;
}

/* ---- reading ------------------------------------------------------------------------------------------------------ */

/* The text with `power` added to its exponent. */
static int shifted_number(ulna_word word, int power, double *value)
{
    char text[MOST_DIGITS + 40];
    size_t used = 0;
    while (used < word.length && word.text[used] != 'e' && word.text[used] != 'E')
        used++;
    int exponent = 0;
    if (used > MOST_DIGITS)
        return 0;
    if (used < word.length) {
        ulna_word behind = {word.text + used + 1, word.length - used - 1};
        if (memchr(behind.text, '.', behind.length) || !ulna_word_integer(behind, &exponent) || abs(exponent) > 100000)
            return 0;
    }
    memcpy(text, word.text, used);
    exponent += power;
    text[used++] = 'e';
    if (exponent < 0)
        text[used++] = '-';
    unsigned left = (unsigned)abs(exponent), ten = 1;
    while (left / ten >= 10)
        ten *= 10;
    for (; ten; ten /= 10)
        text[used++] = (char)('0' + left / ten % 10);
    double shifted;
    if (!ulna_word_number((ulna_word){text, used}, &shifted))
        return 0;
    *value = shifted;
    return 1;
}

/* Up to 15 digits and a point, as most cells have it: one division or product of exact numbers is rounded once. */
static int short_number(ulna_word word, int power, double *value)
{
    static const double tens[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    const char *at = word.text, *end = at + word.length, *point = NULL;
    long long digits = 0;
    int count = 0, is_negative = at < end && *at == '-';
    for (at += at < end && (*at == '-' || *at == '+'); at < end; at++)
        if (*at >= '0' && *at <= '9') {
            digits = 10 * digits + (*at - '0');
            if (++count > 15)
                return 0;
        } else if (*at == '.' && !point)
            point = at;
        else
            return 0;
    power -= point ? (int)(end - point) - 1 : 0;
    if (count == 0 || power < -15 || power > 15)
        return 0;
    double x = power < 0 ? (double)digits / tens[-power] : (double)digits * tens[power];
    *value = is_negative ? -x : x;
    return 1;
}

int ulna_cell_value(ulna_word cell, char delimiter, double scale, double *value)
{
    int power = power_of(scale);
    if (power != NO_POWER && (short_number(cell, power, value) || (power && shifted_number(cell, power, value))))
        return 1;
    double plain;
    if (!ulna_cell_number(cell, delimiter, &plain))
        return 0;
    *value = plain * scale;
    if (power != NO_POWER && power) { /* a decimal comma, or a number that is no longer finite */
        char text[ULNA_NUMBER_SIZE];
        int length = ulna_format_number(plain, text);
        shifted_number((ulna_word){text, (size_t)length}, power, value);
    }
    return 1;
}

/* ---- writing ------------------------------------------------------------------------------------------------------ */

/* The digits of a whole number with a point before the last `decimals` of them, without zeros at the end. */
static void put_decimal(ulna_writer *writer, int is_negative, uint64_t digits, int decimals)
{
    char text[48], *at = text + sizeof text;
    for (; decimals > 0 && digits % 10 == 0; decimals--)
        digits /= 10;
    for (int placed = 0; digits || placed <= decimals; placed++) {
        if (placed == decimals && placed > 0)
            *--at = '.';
        *--at = (char)('0' + digits % 10);
        digits /= 10;
    }
    if (is_negative)
        *--at = '-';
    ulna_put_bytes(writer, at, (size_t)(text + sizeof text - at));
}

/* Up to 15 digits that are the value: no search is needed, and no rounding can spoil them. */
static int put_short(ulna_writer *writer, double value, int power)
{
    double steps = round(value * 1e12);
    if (!(fabs(steps) < 1e15) || steps == 0 || steps / 1e12 != value)
        return 0;
    put_decimal(writer, steps < 0, (uint64_t)fabs(steps), 12 + power);
    return 1;
}

/* digits * 10^exponent is the positive value, with the fewest of 15, 16 or 17 digits, and no zeros at the end. */
static ulna_decimal shortest(double value)
{
    ulna_expansion expansion = ulna_decimal_expand(value);
    for (int digits = 15;; digits++) {
        ulna_decimal number = ulna_decimal_round(&expansion, digits);
        if (digits == 17 || ulna_decimal_value(number.digits, number.exponent) == value)
            return number;
    }
}

static void put_shifted(ulna_writer *writer, double value, int power)
{
    char text[16];
    ulna_decimal number = shortest(fabs(value));
    uint64_t digits = number.digits;
    int exponent = number.exponent - power, count = 0;
    for (uint64_t left = digits; left; left /= 10)
        count++;
    if (exponent <= 0 && exponent >= -20)
        put_decimal(writer, value < 0, digits, -exponent);
    else if (exponent > 0 && count + exponent <= 17) {
        for (; exponent > 0; exponent--)
            digits *= 10;
        put_decimal(writer, value < 0, digits, 0);
    } else {
        put_decimal(writer, value < 0, digits, count - 1);
        snprintf(text, sizeof text, "e%d", exponent + count - 1);
        ulna_put(writer, text);
    }
}

void ulna_put_value(ulna_writer *writer, double value, double scale, int digits)
{
    int power = power_of(scale);
    if (digits > 0 || power == NO_POWER)
        ulna_put_scaled(writer, value, scale, digits);
    else if (value == 0)
        ulna_put(writer, "0");
    else if (!put_short(writer, value, power))
        put_shifted(writer, value, power);
}
