/* Lines and words of text files, and numbers as they stand in them. */
#include "formats/text/scan.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "formats/text/numbers.h"

/* ---- lines and words ---------------------------------------------------------------------------------------------- */

ulna_scan ulna_scan_start(const char *data, size_t length)
{
    size_t mark = length >= 3 && memcmp(data, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    return (ulna_scan){.data = data, .length = length, .at = mark, .here = data, .end = data};
}

int ulna_scan_line(ulna_scan *scan)
{
    if (scan->at >= scan->length)
        return 0;
    size_t from = scan->at, to = from;
    while (to < scan->length && scan->data[to] != '\n' && scan->data[to] != '\r')
        to++;
    scan->here = scan->data + from;
    scan->end = scan->data + to;
    if (to < scan->length)
        to += scan->data[to] == '\r' && to + 1 < scan->length && scan->data[to + 1] == '\n' ? 2 : 1;
    scan->at = to;
    scan->line += scan->line < INT_MAX;
    return 1;
}

static int is_gap(char c, const char *also)
{
    return (unsigned char)c <= ' ' || (also && strchr(also, c));
}

int ulna_scan_word(ulna_scan *scan, const char *also, ulna_word *word)
{
    const char *at = scan->here, *end = scan->end, *from;
    if (also) {
        while (at < end && is_gap(*at, also))
            at++;
        for (from = at; at < end && !is_gap(*at, also);)
            at++;
    } else { /* the same in one comparison a character: most of the time goes here */
        while (at < end && (unsigned char)*at <= ' ')
            at++;
        for (from = at; at < end && (unsigned char)*at > ' ';)
            at++;
    }
    scan->here = at;
    *word = (ulna_word){from, (size_t)(at - from)};
    return at > from;
}

ulna_word ulna_scan_rest(ulna_scan *scan)
{
    const char *from = scan->here, *to = scan->end;
    while (from < to && is_gap(*from, NULL))
        from++;
    while (to > from && is_gap(to[-1], NULL))
        to--;
    scan->here = scan->end;
    return (ulna_word){from, (size_t)(to - from)};
}

long long ulna_scan_byte(const ulna_scan *scan, const char *at)
{
    return (long long)(at - scan->data);
}

ulna_status ulna_scan_fail(const ulna_scan *scan, const ulna_word *word, ulna_error *error, ulna_status status,
                           const char *format, ...)
{
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        ulna_error_clear(error);
        error->status = status;
        error->line = scan->line;
        const char *place = word && word->text ? word->text : scan->end, *start = place;
        while (start > scan->data && start[-1] != '\n' && start[-1] != '\r')
            start--;
        place = word && word->text ? place : start;
        error->column = place - start < INT_MAX ? (int)(place - start) + 1 : INT_MAX;
        error->byte = ulna_scan_byte(scan, place);
        vsnprintf(error->message, sizeof error->message, format, arguments);
        va_end(arguments);
    }
    return status;
}

/* ---- what a word says ------------------------------------------------------------------------------------------------ */

int ulna_word_is(ulna_word word, const char *text)
{
    return strlen(text) == word.length && memcmp(word.text, text, word.length) == 0;
}

static int is_alike(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (ulna_lower(a[i]) != ulna_lower(b[i]))
            return 0;
    return 1;
}

int ulna_word_is_like(ulna_word word, const char *text)
{
    return strlen(text) == word.length && is_alike(word.text, text, word.length);
}

int ulna_word_is_listed(ulna_word word, const char *texts)
{
    for (size_t length; *texts; texts += length + (texts[length] == ' ')) {
        length = strcspn(texts, " ");
        if (length == word.length && is_alike(word.text, texts, length))
            return 1;
    }
    return 0;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------ */

/* What a number says: digits * 10^exponent. `digits` holds the first few; `count` is how many there are from the first
 * that is not zero. */
typedef struct decimal {
    const char *first; /* the digits with their point, from the first that is not zero */
    const char *end;
    uint64_t digits;
    int count;
    long long exponent; /* of the last of all digits */
    int is_negative;
} decimal;

enum { FEW = 19 /* digits that fit 64 bits */, MOST_EXPONENT = 99999 };

static int read_decimal(ulna_word word, decimal *d)
{
    const char *at = word.text, *end = at + word.length;
    int has_digits = 0, has_point = 0;
    *d = (decimal){.is_negative = at < end && *at == '-'};
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end; at++) {
        if (*at == '.' && !has_point) {
            has_point = 1;
            continue;
        }
        unsigned digit = (unsigned)(*at - '0');
        if (digit > 9)
            break;
        has_digits = 1;
        d->exponent -= has_point;
        if (d->count == 0 && digit == 0)
            continue;
        if (d->count++ == 0)
            d->first = at;
        if (d->count <= FEW)
            d->digits = 10 * d->digits + digit;
    }
    d->end = at;
    if (!has_digits)
        return 0;
    if (at < end && (*at == 'e' || *at == 'E')) {
        long long power = 0;
        int is_small = ++at < end && *at == '-', has_power = 0;
        at += at < end && (*at == '-' || *at == '+');
        for (; at < end && *at >= '0' && *at <= '9'; at++, has_power = 1)
            power = power < 1000000000000 ? 10 * power + (*at - '0') : power;
        if (!has_power)
            return 0;
        d->exponent += is_small ? -power : power;
    }
    return at == end;
}

/* Numbers of many digits or of huge exponents: by the C library. As an integer with an exponent, so that there is no decimal
 * point, which depends on the locale. Beyond 800 digits only whether one is not zero matters. */
static double slow_number(const decimal *d)
{
    enum { MANY = 800 };
    char copy[MANY + 32];
    int used = 0, is_more = 0, left_out = 0;
    for (const char *at = d->first; at < d->end; at++) {
        if (*at == '.')
            continue;
        if (used < MANY)
            copy[used++] = *at;
        else {
            left_out++;
            is_more |= *at != '0';
        }
    }
    long long exponent = d->exponent + left_out;
    if (is_more) {
        copy[used++] = '1';
        exponent--;
    }
    exponent = exponent > MOST_EXPONENT ? MOST_EXPONENT : exponent < -MOST_EXPONENT ? -MOST_EXPONENT : exponent;
    snprintf(copy + used, sizeof copy - (size_t)used, "e%lld", exponent);
    return strtod(copy, NULL);
}

int ulna_word_number(ulna_word word, double *value)
{
    decimal d;
    if (!read_decimal(word, &d))
        return 0;
    int is_short = d.count <= FEW && d.exponent > -MOST_EXPONENT && d.exponent < MOST_EXPONENT;
    double x = is_short ? ulna_decimal_value(d.digits, (int)d.exponent) : d.count > 0 ? slow_number(&d) : 0;
    *value = d.is_negative ? -x : x;
    return isfinite(x);
}

int ulna_word_integer(ulna_word word, int *value)
{
    double number;
    if (!ulna_word_number(word, &number) || number != floor(number) || fabs(number) > INT_MAX)
        return 0;
    *value = (int)number;
    return 1;
}

/* ---- names -------------------------------------------------------------------------------------------------------- */

/* Bytes of the UTF-8 sequence that begins here; 0 if it is none. */
static size_t sequence(const unsigned char *text, size_t left)
{
    size_t length = text[0] < 0x80                      ? 1
                    : text[0] >= 0xC2 && text[0] < 0xE0 ? 2
                    : text[0] >= 0xE0 && text[0] < 0xF0 ? 3
                    : text[0] >= 0xF0 && text[0] < 0xF5 ? 4
                                                        : 0;
    if (!length || length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((text[i] & 0xC0) != 0x80)
            return 0;
    if ((text[0] == 0xE0 && text[1] < 0xA0) || (text[0] == 0xED && text[1] >= 0xA0) ||
        (text[0] == 0xF0 && text[1] < 0x90) || (text[0] == 0xF4 && text[1] >= 0x90))
        return 0;
    return length;
}

int ulna_word_copy(ulna_word word, char *text, size_t size)
{
    const unsigned char *from = (const unsigned char *)word.text;
    size_t used = 0, at = 0;
    while (at < word.length) {
        size_t length = sequence(from + at, word.length - at), need = length ? length : 2;
        if (used + need >= size)
            break;
        if (length) {
            memcpy(text + used, from + at, length);
        } else {
            text[used] = (char)(0xC0 | from[at] >> 6);
            text[used + 1] = (char)(0x80 | (from[at] & 63));
        }
        used += need;
        at += length ? length : 1;
    }
    text[used] = 0;
    return at == word.length;
}
