/* base: status texts, error reports, allocators, the two-pass arena, growing arrays; and the helpers of support.h. */
#include "base/algorithms.h"
#include "base/base.h"
#include "support.h"
#include "ulna/ulna.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void every_status_has_its_own_text(void **state)
{
    (void)state;
    for (int i = 0; i < ULNA_STATUS_COUNT; i++) {
        const char *text = ulna_status_text((ulna_status)i);
        assert_non_null(text);
        assert_true(strlen(text) > 0);
        assert_string_not_equal(text, "unknown status");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, ulna_status_text((ulna_status)j));
    }
    assert_string_equal(ulna_status_text(ULNA_OK), "ok");
}

static void other_numbers_are_unknown(void **state)
{
    (void)state;
    assert_string_equal(ulna_status_text(ULNA_STATUS_COUNT), "unknown status");
    int odd[] = {-1, 1000000};
    for (int i = 0; i < 2; i++) {
        ulna_status status;
        memcpy(&status, &odd[i], sizeof status);
        assert_string_equal(ulna_status_text(status), "unknown status");
    }
}

static void versions_agree(void **state)
{
    (void)state;
    char text[32];
    snprintf(text, sizeof text, "%d.%d.%d", ULNA_VERSION_MAJOR, ULNA_VERSION_MINOR, ULNA_VERSION_PATCH);
    assert_string_equal(ulna_version(), ULNA_VERSION_STRING);
    assert_string_equal(ulna_version(), text);
}

static void clear_empties_an_error(void **state)
{
    (void)state;
    ulna_error error;
    memset(&error, 0x7f, sizeof error);
    ulna_error_clear(&error);
    assert_int_equal(error.status, ULNA_OK);
    assert_int_equal(error.line, 0);
    assert_int_equal(error.column, 0);
    assert_true(error.byte == -1);
    assert_string_equal(error.path, "");
    assert_string_equal(error.message, "");
    ulna_error_clear(NULL);
}

static void fail_reports_and_returns(void **state)
{
    (void)state;
    ulna_error error;
    ulna_error_clear(&error);
    assert_int_equal(ulna_fail(&error, ULNA_ERR_PARSE, "bone %d of %s", 7, "arm"), ULNA_ERR_PARSE);
    assert_int_equal(error.status, ULNA_ERR_PARSE);
    assert_string_equal(error.message, "bone 7 of arm");
    assert_true(error.byte == -1);
    assert_int_equal(ulna_fail(NULL, ULNA_ERR_IO, "nobody listens"), ULNA_ERR_IO);
}

static void fail_cuts_long_messages(void **state)
{
    (void)state;
    ulna_error error;
    ulna_error_clear(&error);
    ulna_fail(&error, ULNA_ERR_LIMIT, "%0*d", 1000, 1);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    ulna_fail(&error, ULNA_ERR_LIMIT, "%0*d short %0*d", 200, 1, 100, 1);
    assert_string_equal(error.message + 199, "1 short ..."); /* a whole word is the last */
}

static void default_allocator_aligns(void **state)
{
    (void)state;
    ulna_allocator allocator = ulna_allocator_or_default(NULL);
    size_t sizes[] = {1, 63, 64, 65, 4097};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        unsigned char *memory = allocator.allocate(allocator.context, sizes[i]);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)memory % ULNA_ALIGNMENT, 0);
        memset(memory, 1, sizes[i]);
        allocator.release(allocator.context, memory, sizes[i]);
    }
    assert_null(allocator.allocate(allocator.context, SIZE_MAX));
}

static void incomplete_allocators_become_the_default(void **state)
{
    (void)state;
    ulna_allocator standard = ulna_allocator_or_default(NULL);
    ulna_allocator half = {.allocate = standard.allocate};
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator mine = ulna_test_allocator(&memory);
    assert_true(ulna_allocator_or_default(NULL).allocate == standard.allocate);
    assert_true(ulna_allocator_or_default(&half).release == standard.release);
    assert_true(ulna_allocator_or_default(&mine).context == &memory);
}

static void allocate_gives_zeroes_and_counts(void **state)
{
    (void)state;
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    unsigned char *items = ulna_allocate(&allocator, 10, 7);
    assert_non_null(items);
    for (int i = 0; i < 70; i++)
        assert_int_equal(items[i], 0);
    void *nothing = ulna_allocate(&allocator, 0, 8);
    assert_non_null(nothing);
    assert_int_equal(memory.live_blocks, 2);
    ulna_release(&allocator, items, 10, 7);
    ulna_release(&allocator, nothing, 0, 8);
    ulna_release(&allocator, NULL, 3, 4);
    ulna_test_memory_check(&memory);
}

static void allocate_refuses_overflow(void **state)
{
    (void)state;
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    assert_null(ulna_allocate(&allocator, SIZE_MAX / 2, 3));
    assert_int_equal(memory.calls, 0);
}

/* The same list of pieces for both passes of the arena test. */
typedef struct pieces {
    double *a;
    int *b;
    char *c;
} pieces;

static void take_pieces(ulna_arena *arena, pieces *out)
{
    out->a = ulna_arena_take(arena, 5, sizeof(double));
    out->b = ulna_arena_take(arena, 0, sizeof(int));
    out->c = ulna_arena_take(arena, 65, 1);
}

static void arena_counts_then_hands_out(void **state)
{
    (void)state;
    ulna_arena counting = {0};
    pieces out;
    take_pieces(&counting, &out);
    assert_null(out.a);
    assert_null(out.c);
    assert_false(counting.failed);

    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_arena arena = {.memory = ulna_allocate(&allocator, counting.used, 1)};
    take_pieces(&arena, &out);
    assert_int_equal(arena.used, counting.used);
    assert_int_equal((uintptr_t)out.a % ULNA_ALIGNMENT, 0);
    assert_int_equal((uintptr_t)out.c % ULNA_ALIGNMENT, 0);
    assert_true((char *)(out.a + 5) <= out.c);
    assert_true((unsigned char *)out.c + 65 <= arena.memory + arena.used);
    memset(out.a, 1, 5 * sizeof(double));
    memset(out.c, 2, 65);
    ulna_release(&allocator, arena.memory, counting.used, 1);
    ulna_test_memory_check(&memory);
}

static void arena_remembers_overflow(void **state)
{
    (void)state;
    ulna_arena arena = {0};
    assert_null(ulna_arena_take(&arena, 100, 1));
    assert_null(ulna_arena_take(&arena, SIZE_MAX / 8, 8));
    assert_true(arena.failed);
    assert_null(ulna_arena_take(&arena, 1, 1));
    assert_true(arena.failed);

    ulna_arena full = {.used = SIZE_MAX - 3}; /* rounding up to the next piece overflows */
    assert_null(ulna_arena_take(&full, 1, 1));
    assert_true(full.failed);
}

static void grow_keeps_what_was_there(void **state)
{
    (void)state;
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    int *items = NULL;
    size_t capacity = 0;
    for (int i = 0; i < 1000; i++) {
        void *untyped = items;
        assert_int_equal(ulna_grow(&allocator, &untyped, &capacity, (size_t)i + 1, sizeof *items), ULNA_OK);
        items = untyped;
        items[i] = i * i;
    }
    assert_true(memory.calls < 12); /* doubling, not one by one */
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i * i);
    ulna_release(&allocator, items, capacity, sizeof *items);
    ulna_test_memory_check(&memory);
}

static void grow_fails_without_harm(void **state)
{
    (void)state;
    ulna_test_memory memory = {.fail_at = 1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    void *items = NULL;
    size_t capacity = 0;
    assert_int_equal(ulna_grow(&allocator, &items, &capacity, 1, 4), ULNA_OK);
    memcpy(items, "abc", 4);
    void *before = items;
    size_t room = capacity;
    assert_int_equal(ulna_grow(&allocator, &items, &capacity, room + 1, 4), ULNA_ERR_MEMORY);
    assert_int_equal(ulna_grow(&allocator, &items, &capacity, SIZE_MAX, 4), ULNA_ERR_LIMIT);
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, room);
    assert_string_equal(items, "abc");
    ulna_release(&allocator, items, capacity, 4);
    ulna_test_memory_check(&memory);
}

static void the_test_allocator_sees_mistakes(void **state)
{
    (void)state;
    ulna_test_memory memory = {.fail_at = 2};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    char *a = ulna_allocate(&allocator, 10, 1);
    char *b = ulna_allocate(&allocator, 10, 1);
    assert_non_null(a);
    assert_non_null(b);
    assert_null(ulna_allocate(&allocator, 1, 1));
    assert_true(memory.failed);
    assert_int_equal(memory.live_blocks, 2);
    assert_int_equal(memory.live_bytes, 20);
    ulna_release(&allocator, a, 10, 1);
    assert_false(memory.wrong_release);
    ulna_release(&allocator, b, 11, 1);
    assert_true(memory.wrong_release);
    assert_int_equal(memory.live_blocks, 0);
    assert_int_equal(memory.peak_bytes, 20);

    ulna_test_memory edge = {.fail_at = -1};
    allocator = ulna_test_allocator(&edge);
    volatile char *c = ulna_allocate(&allocator, 10, 1);
    c[10] = 1;
    ulna_release(&allocator, (void *)c, 10, 1);
    assert_true(edge.wrong_release);
}

static void random_numbers_are_fixed(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(0);
    assert_true(ulna_test_rng_next(&rng) == 0x99ec5f36cb75f2b4u); /* the reference implementation's first number */
    double mean = 0;
    double square = 0;
    for (int i = 0; i < 100000; i++) {
        double x = ulna_test_rng_uniform(&rng, -2, 3);
        assert_true(x >= -2 && x < 3);
        double z = ulna_test_rng_normal(&rng);
        mean += z / 100000;
        square += z * z / 100000;
        int k = ulna_test_rng_index(&rng, 7);
        assert_true(k >= 0 && k < 7);
    }
    assert_true(mean > -0.02 && mean < 0.02);
    assert_true(square > 0.97 && square < 1.03);
}

/* splitmix64 with seed 1234567: the numbers that its authors give. */
static void the_generator_is_splitmix64(void **state)
{
    (void)state;
    const uint64_t expected[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u};
    uint64_t random = 1234567;
    double sum = 0, squares = 0;
    for (int i = 0; i < 3; i++)
        assert_true(ulna_random_bits(&random) == expected[i]);
    for (int i = 0; i < 20000; i++) {
        double u = ulna_random_uniform(&random), x = ulna_random_normal(&random);
        assert_true(u > 0 && u < 1);
        sum += x;
        squares += x * x;
    }
    assert_true(sum > -500 && sum < 500);
    assert_true(squares > 19000 && squares < 21000);
}

static int by_key(const void *a, const void *b, const void *context)
{
    assert_string_equal(context, "context");
    const int *x = a, *y = b;
    return (x[0] > y[0]) - (x[0] < y[0]);
}

static void sorting_keeps_all_items_and_puts_them_in_order(void **state)
{
    (void)state;
    uint64_t random = 1;
    for (size_t count = 0; count < 200; count++) {
        int items[200][3];
        double numbers[200], others[200];
        int seen[200] = {0};
        for (size_t i = 0; i < count; i++) {
            int key = (int)(ulna_random_bits(&random) % 50);
            items[i][0] = key, items[i][1] = (int)i, items[i][2] = -key;
            numbers[i] = count % 3 ? ulna_random_normal(&random) : key;
            others[i] = numbers[i];
        }
        ulna_sort(items, count, sizeof items[0], by_key, "context");
        double median = ulna_median(numbers, count); /* sorts them */
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(items[i][2], -items[i][0]);
            assert_int_equal(seen[items[i][1]]++, 0);
            assert_true(i == 0 || items[i - 1][0] <= items[i][0]);
            assert_true(i == 0 || numbers[i - 1] <= numbers[i]);
        }
        if (count)
            assert_true(median == 0.5 * numbers[(count - 1) / 2] + 0.5 * numbers[count / 2]);
        else
            assert_true(isnan(median));
        double quick = ulna_quick_median(others, count);
        assert_true(quick == median || (isnan(quick) && isnan(median)));
        assert_true(count == 0 || ulna_quick_median(numbers, count) == median); /* sorted ones */
    }
}

/* Enough for the selection to take samples; with many equal numbers, sorted ones, and ones that are all the same. */
static void quick_medians_of_many_numbers_are_medians(void **state)
{
    enum { MOST = 2000, KINDS = 5 };
    static double numbers[MOST], others[MOST];
    (void)state;
    uint64_t random = 1;
    for (size_t count = 250; count < MOST; count += 61)
        for (int kind = 0; kind < KINDS; kind++) {
            for (size_t i = 0; i < count; i++) {
                double number = ulna_random_normal(&random),
                       values[KINDS] = {number, floor(number), (double)i, -(double)i};
                others[i] = numbers[i] = values[kind];
            }
            double median = ulna_median(numbers, count);
            assert_true(ulna_quick_median(others, count) == median);
            size_t rank = ulna_random_bits(&random) % count;
            assert_true(ulna_select_number(others, count, rank) == numbers[rank]);
        }
}

static void hashes_depend_on_text_seed_and_case(void **state)
{
    (void)state;
    assert_true(ulna_hash("LASI", 1, 0) == ulna_hash("LASI", 1, 0));
    assert_true(ulna_hash("LASI", 1, 0) != ulna_hash("LASI", 2, 0));
    assert_true(ulna_hash("LASI", 1, 0) != ulna_hash("RASI", 1, 0));
    assert_true(ulna_hash("LASI", 1, 0) != ulna_hash("lasi", 1, 0));
    assert_true(ulna_hash("LASI", 1, 1) == ulna_hash("lasi", 1, 1));
    assert_true(ulna_hash("a", 0, 0) == (size_t)(0xaf63dc4c8601ec8cu ^ (0xaf63dc4c8601ec8cu >> 32))); /* FNV-1a */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_its_own_text),
        cmocka_unit_test(other_numbers_are_unknown),
        cmocka_unit_test(versions_agree),
        cmocka_unit_test(clear_empties_an_error),
        cmocka_unit_test(fail_reports_and_returns),
        cmocka_unit_test(fail_cuts_long_messages),
        cmocka_unit_test(default_allocator_aligns),
        cmocka_unit_test(incomplete_allocators_become_the_default),
        cmocka_unit_test(allocate_gives_zeroes_and_counts),
        cmocka_unit_test(allocate_refuses_overflow),
        cmocka_unit_test(arena_counts_then_hands_out),
        cmocka_unit_test(arena_remembers_overflow),
        cmocka_unit_test(grow_keeps_what_was_there),
        cmocka_unit_test(grow_fails_without_harm),
        cmocka_unit_test(the_test_allocator_sees_mistakes),
        cmocka_unit_test(random_numbers_are_fixed),
        cmocka_unit_test(the_generator_is_splitmix64),
        cmocka_unit_test(sorting_keeps_all_items_and_puts_them_in_order),
        cmocka_unit_test(quick_medians_of_many_numbers_are_medians),
        cmocka_unit_test(hashes_depend_on_text_seed_and_case),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
