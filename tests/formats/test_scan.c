/* Lines and words of text files, numbers in every spelling and locale, and numbers in a file's own unit. */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/names.h"
#include "formats/text/numbers.h"
#include "formats/text/scan.h"
#include "support.h"

static ulna_word word_of(const char *text)
{
    return (ulna_word){text, strlen(text)};
}

static void lines_end_in_three_ways(void **state)
{
    (void)state;
    const char text[] = "\xEF\xBB\xBF"
                        "a\nb\r\nc\rd\r\r\n\ne";
    static const char *const words[] = {"a", "b", "c", "d", "", "", "e"};
    ulna_scan scan = ulna_scan_start(text, strlen(text));
    for (int i = 0; i < 7; i++) {
        ulna_word word;
        assert_true(ulna_scan_line(&scan));
        assert_int_equal(scan.line, i + 1);
        assert_int_equal(ulna_scan_word(&scan, NULL, &word), words[i][0] != 0);
        assert_true(ulna_word_is(word, words[i]));
        assert_false(ulna_scan_word(&scan, NULL, &word));
    }
    assert_false(ulna_scan_line(&scan));
    scan = ulna_scan_start("", 0);
    assert_false(ulna_scan_line(&scan));
    scan = ulna_scan_start("\n", 1);
    assert_true(ulna_scan_line(&scan));
    assert_false(ulna_scan_line(&scan));
}

static void words_lie_between_gaps(void **state)
{
    (void)state;
    const char text[] = " \tone (two,three)\0 four  ";
    ulna_scan scan = ulna_scan_start(text, sizeof text - 1);
    ulna_word word;
    assert_true(ulna_scan_line(&scan));
    ulna_scan again = scan;
    assert_true(ulna_scan_word(&scan, NULL, &word) && ulna_word_is(word, "one"));
    assert_int_equal(ulna_scan_byte(&scan, word.text), 2);
    assert_true(ulna_scan_word(&scan, NULL, &word) && ulna_word_is(word, "(two,three)"));
    ulna_word rest = ulna_scan_rest(&scan);
    assert_true(ulna_word_is(rest, "four"));
    assert_false(ulna_scan_word(&scan, NULL, &word));
    assert_int_equal(ulna_scan_byte(&scan, word.text), sizeof text - 1);

    static const char *const split[] = {"one", "two", "three", "four"};
    for (int i = 0; i < 4; i++)
        assert_true(ulna_scan_word(&again, "(),", &word) && ulna_word_is_like(word, split[i]));
    assert_true(ulna_word_is_like(word_of("LfEMur"), "lfemur") && !ulna_word_is_like(word_of("lfem"), "lfemur"));
    assert_true(!ulna_word_is_like(word_of("lfemurs"), "lfemur") && !ulna_word_is(word_of("One"), "one"));
}

static void errors_have_a_place(void **state)
{
    (void)state;
    const char text[] = "first\nsecond line here";
    ulna_scan scan = ulna_scan_start(text, strlen(text));
    ulna_word word;
    ulna_error error = {.path = "old"};
    ulna_scan_line(&scan);
    ulna_scan_line(&scan);
    ulna_scan_word(&scan, NULL, &word);
    ulna_scan_word(&scan, NULL, &word);
    assert_int_equal(ulna_scan_fail(&scan, &word, &error, ULNA_ERR_PARSE, "bad %d", 7), ULNA_ERR_PARSE);
    assert_string_equal(error.message, "bad 7");
    assert_true(error.line == 2 && error.column == 8 && error.byte == 13 && !*error.path);
    ulna_scan_fail(&scan, NULL, &error, ULNA_ERR_LIMIT, "bad");
    assert_true(error.status == ULNA_ERR_LIMIT && error.line == 2 && error.column == 1 && error.byte == 6);
    assert_int_equal(ulna_scan_fail(&scan, NULL, NULL, ULNA_ERR_PARSE, "bad"), ULNA_ERR_PARSE);
}

/* ---- numbers ---- */

static void assert_number(const char *text, double expected)
{
    double value = 77;
    if (!ulna_word_number(word_of(text), &value) || value != expected || signbit(value) != signbit(expected))
        fail_msg("%.60s is read as %.17g, not %.17g", text, value, expected);
}

static void numbers_are_rounded_rightly(void **state)
{
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1.5",
                                        ".5",
                                        "5.",
                                        "-1.75086e-014",
                                        "1e22",
                                        "1e23",
                                        "123456789012345678",
                                        "9007199254740993",
                                        "9007199254740992",
                                        "9007199254740991e22",
                                        "0.1e-6",
                                        "1.7976931348623157e308",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "1e-400",
                                        "0e999999999999999999",
                                        "0.000000000000000000000000000000000001e36",
                                        "2.2250738585072011e-308",
                                        "8.10109172351e-10",
                                        "12.4901",
                                        "179769313486231570000000000000000000000000000e264"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_number(texts[i], strtod(texts[i], NULL));
    static const char *const wrong[] = {"",    "-",   "+",   ".",    "e5",    "1e",     "1e+", "1.2.3", "1,5",  "0x10",
                                        "1d5", "nan", "inf", "-inf", "1e309", "-1e999", "1 ",  "--1",   "1e5.", "١"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        double value;
        if (ulna_word_number(word_of(wrong[i]), &value))
            fail_msg("\"%s\" is read as a number", wrong[i]);
    }
}

/* Just above, at and below the middle of two neighbours; the difference is in the thousandth digit. */
static void long_numbers_are_rounded_rightly(void **state)
{
    (void)state;
    char text[1200];
    for (int last = 0; last <= 1; last++) {
        int length = snprintf(text, sizeof text, "9007199254740993"); /* 2^53 + 1: a tie, to even downwards */
        text[length++] = '.';
        while (length < 1000)
            text[length++] = '0';
        text[length++] = (char)('0' + last);
        text[length] = 0;
        assert_number(text, last ? 9007199254740994.0 : 9007199254740992.0);
    }
    memset(text, '0', 1100); /* nothing but zeros before */
    snprintf(text + 1100, 100, "25e-1");
    assert_number(text, 2.5);
    memcpy(text, "0.", 2);
    assert_number(text, 0); /* 25e-1100 */
    snprintf(text + 1100, 100, "25e1100");
    assert_number(text, 25);
}

static void random_numbers_are_read_as_the_c_library_does(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    for (int i = 0; i < 200000; i++) {
        char text[64];
        uint64_t bits = ulna_test_rng_next(&rng);
        double value;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        if (i % 2)
            value = ulna_test_rng_uniform(&rng, -1000, 1000);
        snprintf(text, sizeof text, "%.*g", 1 + ulna_test_rng_index(&rng, 20), value);
        if (isfinite(strtod(text, NULL)))
            assert_number(text, strtod(text, NULL));
    }
}

static void the_locale_does_not_matter(void **state)
{
    (void)state;
    char folder[] = "/tmp/ulna-test-XXXXXX", command[160], text[ULNA_NUMBER_SIZE];
    assert_non_null(mkdtemp(folder));
    if (!setlocale(LC_ALL, "de_DE.UTF-8")) { /* not installed, but often it can be compiled */
        snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder, folder);
        assert_true(system(command) != -1 && setenv("LOCPATH", folder, 1) == 0);
    }
    int has_comma = setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
    assert_number("0.12345678901234567", 0.12345678901234567);
    assert_number("1.5", 1.5);
    ulna_format_scaled(1.5, 1, 0, text);
    assert_string_equal(text, "1.5");
    assert_true(ulna_round_digits(2.0 / 3, 3) == 0.667);
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!has_comma) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
}

static void integers_are_whole(void **state)
{
    (void)state;
    int value;
    assert_true(ulna_word_integer(word_of("-12"), &value) && value == -12);
    assert_true(ulna_word_integer(word_of("2147483647"), &value) && value == 2147483647);
    assert_false(ulna_word_integer(word_of("2147483648"), &value));
    assert_false(ulna_word_integer(word_of("1.5"), &value));
    assert_false(ulna_word_integer(word_of("one"), &value));
}

/* ---- names ---- */

static void names_become_utf8(void **state)
{
    (void)state;
    char text[16];
    assert_true(ulna_word_copy(word_of("f\xFCr"), text, sizeof text));
    assert_string_equal(text, "f\xC3\xBCr");
    assert_true(ulna_word_copy(word_of("f\xC3\xBCr"), text, sizeof text));
    assert_string_equal(text, "f\xC3\xBCr");
    assert_true(ulna_word_copy(word_of("\xE2\x82"), text, sizeof text)); /* cut: two Latin-1 letters */
    assert_string_equal(text, "\xC3\xA2\xC2\x82");
    assert_true(ulna_word_copy(word_of("123456789012345"), text, sizeof text));
    assert_false(ulna_word_copy(word_of("1234567890123456"), text, sizeof text));
    assert_string_equal(text, "123456789012345");
    assert_false(ulna_word_copy(word_of("12345678901234\xFC"), text, sizeof text)); /* never half a letter */
    assert_string_equal(text, "12345678901234");
}

static void lists_find_their_names(void **state)
{
    (void)state;
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_names names = ulna_names_empty(&allocator);
        ulna_status status = ULNA_OK;
        assert_int_equal(ulna_names_find(&names, "bone1"), -1);
        for (int i = 0; i < 300 && status == ULNA_OK; i++) {
            char name[16];
            snprintf(name, sizeof name, i % 2 ? "bone%d" : "Bone%d", i / 2 * 2 + (i % 4 == 3));
            status = ulna_names_add(&names, name);
        }
        if (status == ULNA_OK) {
            assert_int_equal(ulna_names_find(&names, "Bone8"), 8);
            assert_int_equal(ulna_names_find(&names, "bone8"), 9);
            assert_int_equal(ulna_names_find(&names, "BONE8"), -1);
            assert_int_equal(ulna_names_find_like(&names, "BONE8"), -1); /* which of two? */
            assert_int_equal(ulna_names_find_like(&names, "BONE10"), 10);
            assert_int_equal(ulna_names_find_like(&names, "bone"), -1);
            assert_string_equal(ulna_names_at(&names, 299), "bone299");
        }
        ulna_names_release(&names);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
}

/* ---- numbers in a file's own unit ---- */

static double back(const char *text, double scale)
{
    double value = NAN;
    assert_true(ulna_word_number(word_of(text), &value));
    return value * scale;
}

static void scaled_numbers_keep_their_digits(void **state)
{
    (void)state;
    static const char *const texts[] = {"12.4901", "-9.40273", "-1.75086e-14", "0.1", "1000000", "-82.1974", "3.6e-05"};
    static const double scales[] = {3.14159265358979323846 / 180, 0.0254 / 0.45, 1, 0.001, 0.01};
    char text[ULNA_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t k = 0; k < 5; k++) {
            assert_int_equal(ulna_format_scaled(back(texts[i], scales[k]), scales[k], 0, text), strlen(texts[i]));
            assert_string_equal(text, texts[i]);
        }
    ulna_format_scaled(2.0 / 3, 2, 4, text);
    assert_string_equal(text, "0.3333");
    ulna_format_scaled(-0.0, 2, 0, text);
    assert_string_equal(text, "0");
}

static void scaled_numbers_read_back_or_settle(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(9);
    static const double scales[] = {3.14159265358979323846 / 180, 0.0254 / 0.45, 0.001};
    int exact = 0, total = 0;
    for (int i = 0; i < 100000; i++) {
        char once[ULNA_NUMBER_SIZE], twice[ULNA_NUMBER_SIZE];
        double scale = scales[i % 3], value = ulna_test_rng_normal(&rng) * pow(10, ulna_test_rng_uniform(&rng, -20, 5));
        ulna_format_scaled(value, scale, 0, once);
        double again = back(once, scale);
        exact += again == value;
        total++;
        assert_true(fabs(again - value) <= 1.2 * DBL_EPSILON * fabs(value));
        ulna_format_scaled(again, scale, 0, twice);
        assert_string_equal(once, twice);
    }
    assert_true(exact > total / 2);
}

/* Of 15, 16 and 17 digits the fewest that give the value: asked of the C library, also near powers of two, where the last place changes. */
static void scaled_numbers_are_as_short_as_can_be(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(15);
    static const double scales[] = {3.14159265358979323846 / 180, 0.0254 / 0.45, 0.001, 1};
    for (int i = 0; i < 100000; i++) {
        char text[ULNA_NUMBER_SIZE], plain[40];
        double scale = scales[i % 4], x = ulna_test_rng_normal(&rng) * pow(10, ulna_test_rng_uniform(&rng, -6, 4));
        if (i % 5 == 0)
            x = ldexp(1 + (ulna_test_rng_index(&rng, 9) - 4) * DBL_EPSILON, ulna_test_rng_index(&rng, 40) - 20);
        if (i % 7 == 0)
            x = round(1e5 * x) / 1e5;
        double value = x * scale;
        if (value == 0)
            continue;
        int digits = 15;
        for (; digits < 17; digits++) {
            snprintf(plain, sizeof plain, "%.*g", digits, value / scale);
            if (strtod(plain, NULL) * scale == value)
                break;
        }
        ulna_format_scaled(value, scale, 0, text);
        assert_true(back(text, scale) == value);
        if (digits < 17)
            assert_string_equal(text, plain);
    }
}

/* The double nearest to x, of those one or two last places away, whose product with the scale is the value; NaN if there is none. */
static double slow_factor(double x, double value, double scale)
{
    double above = x, below = x;
    for (int step = 0; step <= 2; step++, above = nextafter(above, INFINITY), below = nextafter(below, -INFINITY)) {
        if (above * scale == value)
            return above;
        if (below * scale == value)
            return below;
    }
    return NAN;
}

/* What numbers.h says of ulna_format_scaled, asked of the C library. */
static void slow_text(double value, double scale, char text[40])
{
    double x = value / scale, factor = NAN;
    for (int is_again = 0; is_again < 2 && isnan(factor); is_again++) {
        for (int digits = 15; digits < 17; digits++) {
            snprintf(text, 40, "%.*g", digits, x);
            if (strtod(text, NULL) * scale == value)
                return;
        }
        factor = slow_factor(x, value, scale);
        if (isnan(factor)) {
            value = x * scale;
            x = value / scale;
        }
    }
    snprintf(text, 40, "%.17g", isnan(factor) ? x : factor);
}

/* Numbers that are hard to round: all in the range of recordings, and some at its ends and beyond. */
static double hard_number(ulna_test_rng *rng, int kind)
{
    double near = (ulna_test_rng_index(rng, 9) - 4) * DBL_EPSILON, any = ulna_test_rng_normal(rng);
    switch (kind) {
    case 0: /* angles */
        return 90 * any;
    case 1: /* of all sizes */
        return any * pow(10, ulna_test_rng_uniform(rng, -7, 9));
    case 2: /* near a power of two */
        return ldexp(1 + near, ulna_test_rng_index(rng, 40) - 20);
    case 3: /* near a power of ten, from 1e-6 to 1e9 */
        return pow(10, ulna_test_rng_index(rng, 16) - 6) * (1 + near);
    case 4: /* few digits */
        return round(any * 1e6) / pow(10, ulna_test_rng_index(rng, 8));
    case 5: /* few bits: ties */
        return (1 + ulna_test_rng_index(rng, 1 << 20)) * ldexp(1, ulna_test_rng_index(rng, 44) - 36);
    case 6: /* 16 digits and a five */
        return (double)(ulna_test_rng_next(rng) % 1000000000000000 * 10 + 5) /
               pow(10, 6 + ulna_test_rng_index(rng, 12));
    default: /* 15 digits, and the doubles beside */
        return (double)(ulna_test_rng_next(rng) % 1000000000000000) / pow(10, 5 + ulna_test_rng_index(rng, 12)) *
               (1 + near);
    }
}

static void scaled_numbers_are_those_of_the_c_library(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(16);
    const double scales[] = {3.14159265358979323846 / 180, 0.0254 / 0.45, 0.001, 1, 1 + DBL_EPSILON, 2 - DBL_EPSILON};
    for (int i = 0; i < 800000; i++) {
        char text[ULNA_NUMBER_SIZE], wanted[40];
        double x = hard_number(&rng, i % 8), scale = i % 7 < 6 ? scales[i % 7] : ulna_test_rng_uniform(&rng, 1e-3, 9);
        double value = i % 3 ? x : x * scale; /* which may be a product or not */
        if (value == 0)
            continue;
        slow_text(value, scale, wanted);
        int length = ulna_format_scaled(value, scale, 0, text);
        if (strcmp(text, wanted) != 0 || length != (int)strlen(wanted))
            fail_msg("%s instead of %s: %a / %a", text, wanted, value, scale);
    }
}

static double some_double(ulna_test_rng *rng, int kind)
{
    uint64_t bits = ulna_test_rng_next(rng) & 0x7fffffffffffffff;
    double any;
    memcpy(&any, &bits, sizeof any);
    switch (kind) {
    case 0:
        return isfinite(any) && any > 0 ? any : 1;
    case 1: /* as recordings have them */
        return ulna_test_rng_uniform(rng, 1e-9, 1) * pow(10, ulna_test_rng_index(rng, 10) - 3);
    case 2: /* few digits */
        return (1 + ulna_test_rng_index(rng, 1000000)) / 1000.0;
    default: /* ties: few bits */
        return (1 + ulna_test_rng_index(rng, 4095)) / ldexp(1, ulna_test_rng_index(rng, 20));
    }
}

/* The same text by a kernel that does several at once, in each of its lanes and behind them. */
static void check_row(void (*find)(ulna_scaled *, int, int), double value, double scale, int digits, const char *wanted)
{
    enum { COUNT = 5, ZERO = 2 };
    ulna_scaled row[COUNT];
    for (int k = 0; k < COUNT; k++)
        row[k] = (ulna_scaled){.value = k == ZERO ? 0 : value, .scale = scale, .number = 77};
    find(row, COUNT, digits);
    for (int k = 0; k < COUNT; k++) {
        char text[1 + ULNA_NUMBER_SIZE];
        ulna_scaled_texts(&row[k], 1, digits, text)[-1] = 0;
        if (strcmp(text, k == ZERO ? "0" : wanted) != 0)
            fail_msg("%s instead of %s: %a / %a, %d digits, lane %d", text, wanted, value, scale, digits, k);
    }
}

static void scaled_numbers_of_few_digits_are_those_of_the_c_library(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(17);
    const double scales[] = {3.14159265358979323846 / 180, 0.0254 / 0.45, 0.01, 1};
    for (int i = 0; i < 800000; i++) {
        char text[ULNA_NUMBER_SIZE], wanted[40];
        int digits = i % 16 < 8 ? 9 : 1 + ulna_test_rng_index(&rng, 17);
        double x = i % 7 < 3 ? some_double(&rng, i % 7 + i % 2) : hard_number(&rng, i % 8);
        double value = i % 2 ? x : -x, scale = scales[(i >> 4) % 4];
        if (i % 5 == 0) { /* digits and a five, and the doubles beside; few of these have an exact one */
            double last = pow(10, ulna_test_rng_index(&rng, 22) - 12), near = (i % 3 - 1) * DBL_EPSILON;
            scale = 1;
            value = (floor(x * pow(10, digits - 3)) + 0.5) * last * (1 + near);
        }
        if (value == 0 || !isfinite(value / scale))
            continue;
        snprintf(wanted, sizeof wanted, "%.*g", digits, value / scale);
        int length = ulna_format_scaled(value, scale, digits, text);
        if (strcmp(text, wanted) != 0 || length != (int)strlen(wanted))
            fail_msg("%s instead of %s: %a / %a, %d digits", text, wanted, value, scale, digits);
        if (digits <= 9) {
            check_row(ulna_scaled_find_nine_portable, value, scale, digits, wanted);
#ifndef ULNA_NO_X86
            if (ulna_cpu_runs("avx2"))
                check_row(ulna_scaled_find_nine_avx2, value, scale, digits, wanted);
#endif
        }
    }
    /* ties to the even digit, and those that get a digit in front */
    const struct {
        double value;
        int digits;
        const char *text;
    } rows[] = {{0.5, 1, "0.5"},
                {2.5, 1, "2"},
                {3.5, 1, "4"},
                {9.5, 1, "1e+01"},
                {-99.96875, 6, "-99.9688"},
                {99.99999996, 9, "100"},
                {0.000099999999996, 9, "0.0001"},
                {1234567.0009765625, 17, "1234567.0009765625"},
                {1234567.5, 7, "1234568"},
                {1234566.5, 7, "1234566"},
                {12345678, 7, "1.234568e+07"},
                {0.0038, 1, "0.004"},
                {0, 9, "0"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[ULNA_NUMBER_SIZE];
        ulna_format_scaled(rows[i].value, 1, rows[i].digits, text);
        assert_string_equal(text, rows[i].text);
    }
}

/* ---- decimal numbers (numbers.h): against the C library, over all exponents that numbers.c treats itself and some beyond ---- */

static void digits_become_the_nearest_double(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(61);
    for (int i = 0; i < 100000; i++) {
        uint64_t digits = ulna_test_rng_next(&rng) >> ulna_test_rng_index(&rng, 64);
        int exponent = i % 2 ? ulna_test_rng_index(&rng, 150) - 75 : ulna_test_rng_index(&rng, 50) - 25;
        char text[48];
        snprintf(text, sizeof text, "%llue%d", (unsigned long long)digits, exponent);
        if (ulna_decimal_value(digits, exponent) != strtod(text, NULL))
            fail_msg("%s: %.17g", text, ulna_decimal_value(digits, exponent));
    }
    /* halfway between two doubles, to the even one; the largest and the smallest */
    assert_true(ulna_decimal_value(9007199254740993u, 0) == 9007199254740992.0);
    assert_true(ulna_decimal_value(9007199254740995u, 0) == 9007199254740996.0);
    assert_true(isinf(ulna_decimal_value(1, 400)) && ulna_decimal_value(1, -400) == 0);
    assert_true(ulna_decimal_value(5, -324) == 4.9406564584124654e-324 && ulna_decimal_value(0, 5) == 0);
}

static void doubles_are_rounded_as_by_printf(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(62);
    for (int i = 0; i < 100000; i++) {
        double value = some_double(&rng, i % 4);
        int digits = i % 8 < 4 ? 15 + ulna_test_rng_index(&rng, 3) : 1 + ulna_test_rng_index(&rng, 17);
        ulna_expansion expansion = ulna_decimal_expand(value);
        char wanted[64], text[ULNA_NUMBER_SIZE];
        snprintf(wanted, sizeof wanted, "%s%.*g", i % 3 ? "" : "-", digits, value);
        int length = ulna_decimal_text(ulna_decimal_round(&expansion, digits), i % 3 == 0, digits, text);
        if (strcmp(text, wanted) != 0 || length != (int)strlen(wanted))
            fail_msg("%s instead of %s", text, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_become_the_nearest_double),
        cmocka_unit_test(doubles_are_rounded_as_by_printf),
        cmocka_unit_test(lines_end_in_three_ways),
        cmocka_unit_test(words_lie_between_gaps),
        cmocka_unit_test(errors_have_a_place),
        cmocka_unit_test(numbers_are_rounded_rightly),
        cmocka_unit_test(long_numbers_are_rounded_rightly),
        cmocka_unit_test(random_numbers_are_read_as_the_c_library_does),
        cmocka_unit_test(the_locale_does_not_matter),
        cmocka_unit_test(integers_are_whole),
        cmocka_unit_test(names_become_utf8),
        cmocka_unit_test(lists_find_their_names),
        cmocka_unit_test(scaled_numbers_keep_their_digits),
        cmocka_unit_test(scaled_numbers_read_back_or_settle),
        cmocka_unit_test(scaled_numbers_are_as_short_as_can_be),
        cmocka_unit_test(scaled_numbers_are_those_of_the_c_library),
        cmocka_unit_test(scaled_numbers_of_few_digits_are_those_of_the_c_library),
    };
    return cmocka_run_group_tests_name("scan", tests, NULL, NULL);
}
