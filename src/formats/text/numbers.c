/*
 * Doubles from decimal digits and back: see numbers.h.
 *
 * Digits to doubles: D. Lemire, Number parsing at a gigabyte per second, Software: Practice and Experience 51 (2021),
 * algorithm 1, which is M. Eisel's; numbers below the normal ones go to the C library. Doubles to digits: the product with the
 * power of ten has 60 bits in front of its point and 64 behind that are right but for the last two; so every rounding is
 * decided unless the number lies within 2^-61 of a tie.
 *
 * Most numbers of recordings need less: their powers of ten have no more than 64 bits, so that one product is exact. See
 * expand_quickly and round_quickly.
 */
#include "formats/text/numbers.h"

#include "base/base.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_POWER = -64, MOST_POWER = 64, SLACK = 8 /* units of a fraction */ };

/* The first 128 bits of 10^q for q = -64 .. 64, of negative powers rounded up, as the paper wants them. */
static const uint64_t powers[MOST_POWER - LEAST_POWER + 1][2] = {
    {0xa87fea27a539e9a5, 0x3f2398d747b36224}, {0xd29fe4b18e88640e, 0x8eec7f0d19a03aad},
    {0x83a3eeeef9153e89, 0x1953cf68300424ac}, {0xa48ceaaab75a8e2b, 0x5fa8c3423c052dd7},
    {0xcdb02555653131b6, 0x3792f412cb06794d}, {0x808e17555f3ebf11, 0xe2bbd88bbee40bd0},
    {0xa0b19d2ab70e6ed6, 0x5b6aceaeae9d0ec4}, {0xc8de047564d20a8b, 0xf245825a5a445275},
    {0xfb158592be068d2e, 0xeed6e2f0f0d56712}, {0x9ced737bb6c4183d, 0x55464dd69685606b},
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886}, {0xf53304714d9265df, 0xd53dd99f4b3066a8},
    {0x993fe2c6d07b7fab, 0xe546a8038efe4029}, {0xbf8fdb78849a5f96, 0xde98520472bdd033},
    {0xef73d256a5c0f77c, 0x963e66858f6d4440}, {0x95a8637627989aad, 0xdde7001379a44aa8},
    {0xbb127c53b17ec159, 0x5560c018580d5d52}, {0xe9d71b689dde71af, 0xaab8f01e6e10b4a6},
    {0x9226712162ab070d, 0xcab3961304ca70e8}, {0xb6b00d69bb55c8d1, 0x3d607b97c5fd0d22},
    {0xe45c10c42a2b3b05, 0x8cb89a7db77c506a}, {0x8eb98a7a9a5b04e3, 0x77f3608e92adb242},
    {0xb267ed1940f1c61c, 0x55f038b237591ed3}, {0xdf01e85f912e37a3, 0x6b6c46dec52f6688},
    {0x8b61313bbabce2c6, 0x2323ac4b3b3da015}, {0xae397d8aa96c1b77, 0xabec975e0a0d081a},
    {0xd9c7dced53c72255, 0x96e7bd358c904a21}, {0x881cea14545c7575, 0x7e50d64177da2e54},
    {0xaa242499697392d2, 0xdde50bd1d5d0b9e9}, {0xd4ad2dbfc3d07787, 0x955e4ec64b44e864},
    {0x84ec3c97da624ab4, 0xbd5af13bef0b113e}, {0xa6274bbdd0fadd61, 0xecb1ad8aeacdd58e},
    {0xcfb11ead453994ba, 0x67de18eda5814af2}, {0x81ceb32c4b43fcf4, 0x80eacf948770ced7},
    {0xa2425ff75e14fc31, 0xa1258379a94d028d}, {0xcad2f7f5359a3b3e, 0x096ee45813a04330},
    {0xfd87b5f28300ca0d, 0x8bca9d6e188853fc}, {0x9e74d1b791e07e48, 0x775ea264cf55347e},
    {0xc612062576589dda, 0x95364afe032a819e}, {0xf79687aed3eec551, 0x3a83ddbd83f52205},
    {0x9abe14cd44753b52, 0xc4926a9672793543}, {0xc16d9a0095928a27, 0x75b7053c0f178294},
    {0xf1c90080baf72cb1, 0x5324c68b12dd6339}, {0x971da05074da7bee, 0xd3f6fc16ebca5e04},
    {0xbce5086492111aea, 0x88f4bb1ca6bcf585}, {0xec1e4a7db69561a5, 0x2b31e9e3d06c32e6},
    {0x9392ee8e921d5d07, 0x3aff322e62439fd0}, {0xb877aa3236a4b449, 0x09befeb9fad487c3},
    {0xe69594bec44de15b, 0x4c2ebe687989a9b4}, {0x901d7cf73ab0acd9, 0x0f9d37014bf60a11},
    {0xb424dc35095cd80f, 0x538484c19ef38c95}, {0xe12e13424bb40e13, 0x2865a5f206b06fba},
    {0x8cbccc096f5088cb, 0xf93f87b7442e45d4}, {0xafebff0bcb24aafe, 0xf78f69a51539d749},
    {0xdbe6fecebdedd5be, 0xb573440e5a884d1c}, {0x89705f4136b4a597, 0x31680a88f8953031},
    {0xabcc77118461cefc, 0xfdc20d2b36ba7c3e}, {0xd6bf94d5e57a42bc, 0x3d32907604691b4d},
    {0x8637bd05af6c69b5, 0xa63f9a49c2c1b110}, {0xa7c5ac471b478423, 0x0fcf80dc33721d54},
    {0xd1b71758e219652b, 0xd3c36113404ea4a9}, {0x83126e978d4fdf3b, 0x645a1cac083126ea},
    {0xa3d70a3d70a3d70a, 0x3d70a3d70a3d70a4}, {0xcccccccccccccccc, 0xcccccccccccccccd},
    {0x8000000000000000, 0x0000000000000000}, {0xa000000000000000, 0x0000000000000000},
    {0xc800000000000000, 0x0000000000000000}, {0xfa00000000000000, 0x0000000000000000},
    {0x9c40000000000000, 0x0000000000000000}, {0xc350000000000000, 0x0000000000000000},
    {0xf424000000000000, 0x0000000000000000}, {0x9896800000000000, 0x0000000000000000},
    {0xbebc200000000000, 0x0000000000000000}, {0xee6b280000000000, 0x0000000000000000},
    {0x9502f90000000000, 0x0000000000000000}, {0xba43b74000000000, 0x0000000000000000},
    {0xe8d4a51000000000, 0x0000000000000000}, {0x9184e72a00000000, 0x0000000000000000},
    {0xb5e620f480000000, 0x0000000000000000}, {0xe35fa931a0000000, 0x0000000000000000},
    {0x8e1bc9bf04000000, 0x0000000000000000}, {0xb1a2bc2ec5000000, 0x0000000000000000},
    {0xde0b6b3a76400000, 0x0000000000000000}, {0x8ac7230489e80000, 0x0000000000000000},
    {0xad78ebc5ac620000, 0x0000000000000000}, {0xd8d726b7177a8000, 0x0000000000000000},
    {0x878678326eac9000, 0x0000000000000000}, {0xa968163f0a57b400, 0x0000000000000000},
    {0xd3c21bcecceda100, 0x0000000000000000}, {0x84595161401484a0, 0x0000000000000000},
    {0xa56fa5b99019a5c8, 0x0000000000000000}, {0xcecb8f27f4200f3a, 0x0000000000000000},
    {0x813f3978f8940984, 0x4000000000000000}, {0xa18f07d736b90be5, 0x5000000000000000},
    {0xc9f2c9cd04674ede, 0xa400000000000000}, {0xfc6f7c4045812296, 0x4d00000000000000},
    {0x9dc5ada82b70b59d, 0xf020000000000000}, {0xc5371912364ce305, 0x6c28000000000000},
    {0xf684df56c3e01bc6, 0xc732000000000000}, {0x9a130b963a6c115c, 0x3c7f400000000000},
    {0xc097ce7bc90715b3, 0x4b9f100000000000}, {0xf0bdc21abb48db20, 0x1e86d40000000000},
    {0x96769950b50d88f4, 0x1314448000000000}, {0xbc143fa4e250eb31, 0x17d955a000000000},
    {0xeb194f8e1ae525fd, 0x5dcfab0800000000}, {0x92efd1b8d0cf37be, 0x5aa1cae500000000},
    {0xb7abc627050305ad, 0xf14a3d9e40000000}, {0xe596b7b0c643c719, 0x6d9ccd05d0000000},
    {0x8f7e32ce7bea5c6f, 0xe4820023a2000000}, {0xb35dbf821ae4f38b, 0xdda2802c8a800000},
    {0xe0352f62a19e306e, 0xd50b2037ad200000}, {0x8c213d9da502de45, 0x4526f422cc340000},
    {0xaf298d050e4395d6, 0x9670b12b7f410000}, {0xdaf3f04651d47b4c, 0x3c0cdd765f114000},
    {0x88d8762bf324cd0f, 0xa5880a69fb6ac800}, {0xab0e93b6efee0053, 0x8eea0d047a457a00},
    {0xd5d238a4abe98068, 0x72a4904598d6d880}, {0x85a36366eb71f041, 0x47a6da2b7f864750},
    {0xa70c3c40a64e6c51, 0x999090b65f67d924}, {0xd0cf4b50cfe20765, 0xfff4b4e3f741cf6d},
    {0x82818f1281ed449f, 0xbff8f10e7a8921a4}, {0xa321f2d7226895c7, 0xaff72d52192b6a0d},
    {0xcbea6f8ceb02bb39, 0x9bf4f8a69f764490}, {0xfee50b7025c36a08, 0x02f236d04753d5b4},
    {0x9f4f2726179a2245, 0x01d762422c946590}, {0xc722f0ef9d80aad6, 0x424d3ad2b7b97ef5},
    {0xf8ebad2b84e0d58b, 0xd2e0898765a7deb2}, {0x9b934c3b330c8577, 0x63cc55f49f88eb2f},
    {0xc2781f49ffcfa6d5, 0x3cbf6b71c76b25fb},
};

/* floor(numerator / 2^18), also of negative ones. */
static int shifted(int numerator)
{
    return numerator >= 0 ? numerator >> 18 : ~(~numerator >> 18);
}

/* Exponent of the first bit of 10^q: floor(q log2(10)), exact for the powers above. */
static int binary_exponent(int q)
{
    return shifted(q * 870826);
}

/* floor(binary log10(2)), exact for every exponent of a double. */
static int decimal_exponent(int binary)
{
    return shifted(binary * 78913);
}

static void multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
#ifdef __SIZEOF_INT128__
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    *low = (uint64_t)product;
    *high = (uint64_t)(product >> 64);
#else
    uint64_t a1 = a >> 32, a0 = a & 0xffffffff, b1 = b >> 32, b0 = b & 0xffffffff;
    uint64_t cross = (a0 * b0 >> 32) + (a1 * b0 & 0xffffffff) + a0 * b1;
    *low = a * b;
    *high = a1 * b1 + (a1 * b0 >> 32) + (cross >> 32);
#endif
}

/* ---- digits to doubles -------------------------------------------------------------------------------------------- */

/* As an integer with an exponent there is no decimal point, which depends on the locale. */
static double slow_value(uint64_t digits, int exponent)
{
    char text[48];
    snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
    return strtod(text, NULL);
}

static double assemble(uint64_t mantissa, int exponent)
{
    uint64_t bits = (mantissa & 0xfffffffffffff) | (uint64_t)exponent << 52;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double ulna_decimal_value(uint64_t digits, int exponent)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (digits == 0)
        return 0;
    /* Both factors are exact, so one rounding is the right one (Clinger 1990). */
    if (digits <= (uint64_t)1 << 53 && exponent >= -22 && exponent <= 22)
        return exponent < 0 ? (double)digits / tens[-exponent] : (double)digits * tens[exponent];
    if (exponent < LEAST_POWER || exponent > MOST_POWER)
        return slow_value(digits, exponent);

    const uint64_t *power = powers[exponent - LEAST_POWER];
    int shift = __builtin_clzll(digits);
    uint64_t word = digits << shift, high, low, more, rest;
    multiply(word, power[0], &high, &low);
    if ((high & 0x1ff) == 0x1ff) { /* the bits behind could carry into the 55 that are needed */
        multiply(word, power[1], &more, &rest);
        low += more;
        high += low < more;
    }
    int upper = (int)(high >> 63);
    uint64_t mantissa = high >> (upper + 9);
    int binary = binary_exponent(exponent) + 63 + upper - shift + 1023;
    if (binary <= 0 || binary >= 2046 || (low == UINT64_MAX && (exponent < -27 || exponent > 55)))
        return slow_value(digits, exponent);
    if (low <= 1 && exponent >= -4 && exponent <= 23 && (mantissa & 3) == 1 && mantissa << (upper + 9) == high)
        mantissa &= ~(uint64_t)1; /* a tie, to the even one */
    mantissa = (mantissa + (mantissa & 1)) >> 1;
    if (mantissa >= (uint64_t)1 << 53) {
        mantissa = (uint64_t)1 << 52;
        binary++;
    }
    return assemble(mantissa, binary);
}

/* ---- doubles to digits -------------------------------------------------------------------------------------------- */

static const uint64_t whole_tens[] = {1u,
                                      10u,
                                      100u,
                                      1000u,
                                      10000u,
                                      100000u,
                                      1000000u,
                                      10000000u,
                                      100000000u,
                                      1000000000u,
                                      10000000000u,
                                      100000000000u,
                                      1000000000000u,
                                      10000000000000u,
                                      100000000000000u,
                                      1000000000000000u,
                                      10000000000000000u,
                                      100000000000000000u};

ulna_expansion ulna_decimal_expand(double value)
{
    ulna_expansion e = {.value = value};
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    int binary = (int)(bits >> 52 & 2047) - 1023; /* value = 1.xxx * 2^binary */
    int power = 16 - decimal_exponent(binary);
    if (binary == -1023 || power < LEAST_POWER || power > MOST_POWER)
        return e;

    /* word * 10^power = (first : second : ...) * 2^-shift, with 128 bits behind `first` */
    uint64_t word = (bits & 0xfffffffffffff) << 11 | (uint64_t)1 << 63, first, second, more, rest;
    multiply(word, powers[power - LEAST_POWER][0], &first, &second);
    multiply(word, powers[power - LEAST_POWER][1], &more, &rest);
    second += more;
    first += second < more;
    int shift = 62 - binary - binary_exponent(power); /* of `first`: the product is in [10^16, 10^18) */
    e.is_known = 1;
    e.floor = first >> shift;
    e.fraction = first << (64 - shift) | second >> shift;
    e.count = e.floor >= whole_tens[17] ? 18 : 17;
    e.exponent = -power;
    return e;
}

static ulna_decimal without_zeros(ulna_decimal d)
{
    for (; d.digits % 10 == 0; d.digits /= 10)
        d.exponent++;
    return d;
}

static ulna_decimal slow_round(double value, int digits)
{
    char text[48]; /* "d.dddde-05", with the locale's point */
    ulna_decimal d = {0, 0};
    snprintf(text, sizeof text, "%.*e", digits - 1, value);
    const char *at = text;
    for (; *at != 'e'; at++)
        if (*at >= '0' && *at <= '9')
            d.digits = 10 * d.digits + (uint64_t)(*at - '0');
    d.exponent = atoi(at + 1) - (digits - 1);
    return without_zeros(d);
}

/* floor(number / 10^drop) for numbers below 2^60: whether 17 digits or 18 come is anybody's guess, also the processor's, so no branch
 * and no division. Of the factors 2^(63 + s) / 10^drop, s the bits of 10^drop behind the first. */
static uint64_t without_digits(uint64_t number, int drop)
{
    static const struct {
        uint64_t factor;
        int shift;
    } tens[] = {{0x8000000000000000, 0}, {0x6666666666666667, 3}, {0x51eb851eb851eb86, 6}, {0x4189374bc6a7ef9e, 9}};
    uint64_t high, low;
    if (drop >= (int)(sizeof tens / sizeof *tens))
        return number / whole_tens[drop];
    multiply(number << 1, tens[drop].factor, &high, &low);
    return high >> tens[drop].shift;
}

ulna_decimal ulna_decimal_round(const ulna_expansion *expansion, int digits)
{
    if (!expansion->is_known)
        return slow_round(expansion->value, digits);
    int drop = expansion->count - digits, is_up;
    uint64_t kept = without_digits(expansion->floor, drop), behind = expansion->floor - kept * whole_tens[drop];
    uint64_t half = drop ? whole_tens[drop] / 2 : (uint64_t)1 << 63, part = drop ? behind : expansion->fraction;
    int is_near = drop ? (part == half && expansion->fraction < SLACK) ||
                             (part == half - 1 && expansion->fraction > UINT64_MAX - SLACK)
                       : part - (half - SLACK) < 2 * SLACK;
    if (is_near)
        return slow_round(expansion->value, digits);
    is_up = part >= half;
    return without_zeros((ulna_decimal){kept + (uint64_t)is_up, expansion->exponent + drop});
}

ulna_decimal ulna_decimal_shortest(double value, int *digits)
{
    ulna_expansion expansion = ulna_decimal_expand(value);
    for (*digits = 15;; ++*digits) {
        ulna_decimal number = ulna_decimal_round(&expansion, *digits);
        if (*digits == 17 || ulna_decimal_value(number.digits, number.exponent) == value)
            return number;
    }
}

/* ---- texts -------------------------------------------------------------------------------------------------------- */

#define ZEROS 0x3030303030303030 /* "00000000" */

/* Eight digits, all at once: halves of four in a word, then pairs, then digits, each in the byte that is written first. */
static uint64_t eight_digits(uint32_t number)
{
    uint64_t halves = number / 10000 | (uint64_t)(number % 10000) << 32;
    uint64_t upper = (halves * 10486 >> 20) & 0x7f0000007f; /* / 100 */
    uint64_t pairs = upper | (halves - 100 * upper) << 16;
    uint64_t tens = (pairs * 103 >> 10) & 0xf000f000f000f; /* / 10 */
    return tens | (pairs - 10 * tens) << 8;
}

static void put_word(uint64_t word, char *to)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    memcpy(to, &word, 8);
}

static void put_eight(uint32_t number, char *to)
{
    put_word(eight_digits(number) + ZEROS, to);
}

/* All copies are of FIGURE bytes, as copies of a known size need no call; what is behind the digits is not looked at. */
enum { MOST_DIGITS = 17, FIGURE = 24 };

/* The digits, 17 at most; returns the first of them, of `count`. */
static const char *put_digits(uint64_t number, char figure[3 * FIGURE], int *count)
{
    uint64_t upper = number / 100000000;
    int bits = 64 - __builtin_clzll(number | 1), digits = bits * 1233 >> 12; /* log10(2) */
    *count = digits + (number >= whole_tens[digits] || number == 0);
    figure[0] = (char)('0' + upper / 100000000);
    put_eight((uint32_t)(upper % 100000000), figure + 1);
    put_eight((uint32_t)(number % 100000000), figure + 9);
    return figure + MOST_DIGITS - *count;
}

/* "1.2345e-05" */
static int exponent_text(const char *figure, int count, int first, char *text)
{
    int at = 0;
    text[at++] = figure[0];
    if (count > 1)
        text[at++] = '.';
    memcpy(text + at, figure + 1, (size_t)count - 1);
    at += count - 1;
    return at + snprintf(text + at, 8, "e%c%02d", first < 0 ? '-' : '+', abs(first));
}

int ulna_decimal_text(ulna_decimal number, int is_negative, int digits, char text[ULNA_NUMBER_SIZE])
{
    char memory[3 * FIGURE] = {0};
    int count, at = is_negative != 0;
    const char *figure = put_digits(number.digits, memory, &count);
    int first = number.exponent + count - 1; /* exponent of the first digit */
    text[0] = '-';
    if (first < -4 || first >= digits)
        return at + exponent_text(figure, count, first, text + at);
    if (first < 0) {
        memcpy(text + at, "0.0000", 6);
        at += 1 - first;
        memcpy(text + at, figure, FIGURE);
    } else if (number.exponent < 0) {
        memcpy(text + at, figure, FIGURE);
        memcpy(text + at + first + 2, figure + first + 1, FIGURE);
        text[at + first + 1] = '.';
        at++;
    } else {
        memcpy(text + at, figure, FIGURE);
        for (int i = 0; i < number.exponent; i++)
            text[at + count + i] = '0';
        at += number.exponent;
    }
    text[at + count] = 0;
    return at + count;
}

/* ---- in a file's own unit ------------------------------------------------------------------------------------------- */

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

/* ---- in a file's own unit, without reading numbers back ------------------------------------------------------------- */

static uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/*
 * The doubles whose product with the scale is the value: bit k is x moved by k - 1 of its last place. More than one is out: the quotient is
 * rounded by half a last place, and the products that are rounded to the value span two at most. -1 near a power of two, where the
 * last place changes.
 */
enum { NOT_MOVED = 2, ONE_MORE = 4 };

static int find_steps(double x, double value, double scale)
{
    enum { NEAR = 4 };
    uint64_t bits = bits_of(x), wanted = bits_of(value);
    if ((bits & 0xfffffffffffff) - NEAR > 0xfffffffffffff - 2 * NEAR)
        return -1;
    int less = bits_of(double_of(bits - 1) * scale) == wanted, same = bits_of(x * scale) == wanted;
    int more = bits_of(double_of(bits + 1) * scale) == wanted;
    return less + NOT_MOVED * same + ONE_MORE * more;
}

/* Most numbers of recordings: the exponent of their first digit. Their powers of ten have no more than 64 bits, so products are exact. */
enum { LEAST_FIRST = -4, MOST_FIRST = 6 };
/* Parts of a last digit, and how many of them may be in doubt. */
enum { FINE = 21, UNSURE = 64 };

/* x = (floor + fraction / 2^64) * 10^(first - 16), the floor of 17 digits. */
typedef struct seventeen {
    uint64_t floor, fraction;
    int64_t half_ulp; /* half of the last place of x, in 2^-FINE units of the floor */
    int first;
} seventeen;

/* Exponent of the first digit; MOST_FIRST + 1 if x is none of most numbers. */
static inline int first_of(double x)
{
    /* As doubles the first four are a little larger than these powers of ten, by less than a last place: so all comparisons are right. */
    static const double tens[] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};
    if (!(x >= tens[0] && x < tens[MOST_FIRST + 1 - LEAST_FIRST]))
        return MOST_FIRST + 1;
    int next = decimal_exponent((int)(bits_of(x) >> 52) - 1023) + 1; /* of a power of ten that x may reach */
    return next - !(x >= tens[next - LEAST_FIRST]);
}

/* 0 if x is none of most numbers. */
static inline int expand_quickly(double x, seventeen *e)
{
    uint64_t bits = bits_of(x);
    e->first = first_of(x);
    if (e->first > MOST_FIRST)
        return 0;
    int binary = (int)(bits >> 52) - 1023, power = 16 - e->first;
    int shift = binary + binary_exponent(power) - 51; /* 1 .. 4: the product is below 2^57 */
    const uint64_t factor = powers[power - LEAST_POWER][0];
    multiply(((bits & 0xfffffffffffff) | (uint64_t)1 << 52) << shift, factor, &e->floor, &e->fraction);
    e->half_ulp = (int64_t)(factor >> (65 - FINE - shift));
    return 1;
}

/* x rounded to 1 .. 17 digits: number * 10^(first - digits + 1). 0 if x is none of most numbers, too large to be written without an exponent,
 * a tie, or one that gets another digit in front, as 9.99 with two digits. */
static inline uint64_t round_quickly(double x, int digits, int *first)
{
    uint64_t bits = bits_of(x), high, low;
    int power = digits - 1 - (*first = first_of(x));
    if (*first > MOST_FIRST || power < 0)
        return 0;
    multiply((bits | (uint64_t)1 << 52) << 11, powers[power - LEAST_POWER][0], &high, &low);
    int shift = 1085 - (int)(bits >> 52) - binary_exponent(power); /* 6 .. 62 */
    uint64_t behind = high << (64 - shift), half = (uint64_t)1 << 63, number = (high >> shift) + (behind >> 63);
    return number < whole_tens[digits] && behind != half ? number : 0;
}

/* From x to the nearest multiple of `ten` units, in 2^-FINE units. */
static inline int64_t to_multiple(const seventeen *e, uint64_t ten)
{
    int64_t whole = (int64_t)(ten << FINE), part = (int64_t)((e->floor % ten) << FINE | e->fraction >> (64 - FINE));
    return (part > whole / 2 ? whole : 0) - part;
}

/* Where the point is among the nine first digits of a number, for each exponent of the first: which of the eight behind the first digit are
 * before it, the point itself, and how many zeros and points are before all digits. */
#define AMONG(first)                                                                                                   \
    {                                                                                                                  \
        ((uint64_t)1 << 8 * (first)) - 1, (uint64_t)'.' << 8 * (first), 0                                              \
    }
static const struct {
    uint64_t before, point;
    int zeros;
} places[] = {{UINT64_MAX, 0, 5}, {UINT64_MAX, 0, 4}, {UINT64_MAX, 0, 3}, {UINT64_MAX, 0, 2}, AMONG(0), AMONG(1),
              AMONG(2),           AMONG(3),           AMONG(4),           AMONG(5),           AMONG(6)};
#undef AMONG

/* A digit and eight more, with sign, point and zeros before them; returns where the first digit is. As numbers are of any size and sign, also for
 * the processor, there is no branch. */
static inline char *put_nine(uint64_t lead, uint64_t eight, int first, int is_negative, char *text)
{
    uint64_t before = places[first - LEAST_FIRST].before, point = places[first - LEAST_FIRST].point;
    *text = '-';
    text += is_negative;
    memcpy(text, "0.000000", 8);
    text += places[first - LEAST_FIRST].zeros;
    eight += ZEROS;
    text[0] = (char)('0' + lead);
    text[9] = (char)(eight >> 56);
    put_word((eight & before) | point | (eight & ~before) << 8, text + 1);
    return text;
}

/* Behind `count` digits and their point, from the first digit on. */
static inline int digits_end(int count, int first)
{
    return count > first + 1 ? count + (first >= 0) : first + 1;
}

/* 17 digits with a point behind the first + 1 of them, without zeros at the end. */
static int seventeen_text(uint64_t number, int first, int is_negative, char text[ULNA_NUMBER_SIZE])
{
    uint64_t upper = number / 100000000, lead = upper / 100000000;
    uint64_t middle = eight_digits((uint32_t)(upper - lead * 100000000));
    uint64_t last = eight_digits((uint32_t)(number - upper * 100000000));
    int count = last ? 17 - (__builtin_clzll(last) >> 3) : middle ? 9 - (__builtin_clzll(middle) >> 3) : 1;
    char *digits = put_nine(lead, middle, first, is_negative, text), *end = digits + digits_end(count, first);
    put_word(last + ZEROS, digits + 9 + (first >= 0));
    *end = 0;
    return (int)(end - text);
}

/* The same of 9 digits. */
static inline int nine_text(const ulna_scaled *n, char text[ULNA_NUMBER_SIZE])
{
    uint64_t lead = n->number >> 60, eight = n->number << 4 >> 4;
    int count = eight ? 9 - (__builtin_clzll(eight) >> 3) : 1;
    char *digits = put_nine(lead, eight, n->first, n->value < 0, text), *end = digits + digits_end(count, n->first);
    *end = 0;
    return (int)(end - text);
}

static int digits_text(double value, int digits, char text[ULNA_NUMBER_SIZE])
{
    ulna_expansion expansion = ulna_decimal_expand(fabs(value));
    return ulna_decimal_text(ulna_decimal_round(&expansion, digits), value < 0, digits, text);
}

/* Nine digits as ulna_scaled has them. */
static uint64_t spread_nine(uint32_t number)
{
    return eight_digits(number % 100000000) | (uint64_t)(number / 100000000) << 60;
}

void ulna_scaled_find_digits(ulna_scaled *n, int digits)
{
    uint64_t number = round_quickly(fabs(n->value / n->scale), digits, &n->first);
    n->number = digits > 9 ? number * whole_tens[17 - digits]
                           : spread_nine((uint32_t)number * (uint32_t)whole_tens[9 - digits]);
}

static void find_shortest(ulna_scaled *n)
{
    n->number = 0;
    double wanted = fabs(n->value), scale = n->scale, size = wanted / scale;
    int steps = find_steps(size, wanted, scale);
    if (!steps) { /* the nearest that is a product */
        wanted = size * scale;
        size = wanted / scale;
        steps = find_steps(size, wanted, scale);
    }
    seventeen e;
    if (steps <= 0 || !expand_quickly(size, &e))
        return;
    /* A number of 15 or 16 digits is read as one of the doubles that find_steps found if it is within half a last place of these. */
    static const signed char middle[] = {0, -2, 0, -1, 2, 0, 1, 0}, half_width[] = {0, 1, 1, 2, 1, 3, 2, 3};
    int64_t to_middle = middle[steps] * e.half_ulp, reach = half_width[steps] * e.half_ulp;
    int64_t fifteen = to_multiple(&e, 100), sixteen = to_multiple(&e, 10);
    int64_t inside = reach - llabs(fifteen - to_middle), inside_too = reach - llabs(sixteen - to_middle);
    if (llabs(inside) < UNSURE || llabs(inside_too) < UNSURE)
        return;
    if (!(steps & NOT_MOVED) && inside < 0 && inside_too < 0 &&
        !expand_quickly(double_of(bits_of(size) + (steps & ONE_MORE ? 1 : (uint64_t)-1)), &e))
        return;
    /* Which of the three it is, is anybody's guess, also the processor's: so there is no branch. */
    int64_t away = to_multiple(&e, 1), part = (int64_t)(e.fraction >> (64 - FINE));
    away += (sixteen - away) & -(int64_t)(inside_too > 0);
    away += (fifteen - away) & -(int64_t)(inside > 0);
    uint64_t number = e.floor + (uint64_t)((away + part) / (1 << FINE));
    int is_tie =
        (part + UNSURE) % (1 << (FINE - 1)) < 2 * UNSURE; /* nearly: the digit behind those that are kept is a five */
    if (is_tie || number >= whole_tens[17])
        return;
    n->number = number;
    n->first = e.first;
}

void ulna_scaled_find(ulna_scaled *n, int count, int digits)
{
    if (digits > 0 && digits <= 9 && count > 1) {
#ifndef ULNA_NO_X86
        if (ulna_cpu_runs("avx2")) {
            ulna_scaled_find_nine_avx2(n, count, digits);
            return;
        }
#endif
        ulna_scaled_find_nine_portable(n, count, digits);
        return;
    }
    for (int i = 0; i < count; i++)
        if (digits > 0)
            ulna_scaled_find_digits(&n[i], digits);
        else
            find_shortest(&n[i]);
}

/* What ulna_format_scaled says, for all numbers. */
static int slow_text(double x, double value, double scale, char text[ULNA_NUMBER_SIZE])
{
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

/* A function of its own, so that the one below needs no stack. */
__attribute__((noinline)) static int other_text(const ulna_scaled *n, int digits, char text[ULNA_NUMBER_SIZE])
{
    double x = n->value / n->scale;
    if (n->number)
        return seventeen_text(n->number, n->first, n->value < 0, text);
    if (x == 0) {
        memcpy(text, "0", 2);
        return 1;
    }
    return digits > 0 ? digits_text(x, digits, text) : slow_text(x, n->value, n->scale, text);
}

static inline int scaled_text(const ulna_scaled *n, int digits, char text[ULNA_NUMBER_SIZE])
{
    if (n->value == 0) { /* of many joints, always */
        memcpy(text, "0", 2);
        return 1;
    }
    if (digits > 0 && digits <= 9 && n->number)
        return nine_text(n, text);
    return other_text(n, digits, text);
}

char *ulna_scaled_texts(const ulna_scaled *n, int count, int digits, char *text)
{
    for (int i = 0; i < count; i++) {
        text += scaled_text(&n[i], digits, text);
        *text++ = ' ';
    }
    return text;
}

int ulna_format_scaled(double value, double scale, int digits, char text[ULNA_NUMBER_SIZE])
{
    ulna_scaled n = {.value = value, .scale = scale};
    ulna_scaled_find(&n, 1, digits);
    return scaled_text(&n, digits, text);
}

void ulna_put_scaled(ulna_writer *writer, double value, double scale, int digits)
{
    char *room = ulna_put_room(writer, ULNA_NUMBER_SIZE);
    ulna_put_to(writer, room + ulna_format_scaled(value, scale, digits, room));
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
