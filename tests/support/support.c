/* Helpers shared by the tests: see support.h. */
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- Random numbers: Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021 ---- */

static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t rotate_left(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

ulna_test_rng ulna_test_rng_seed(uint64_t seed)
{
    ulna_test_rng rng;
    for (int i = 0; i < 4; i++)
        rng.state[i] = splitmix64(&seed);
    return rng;
}

uint64_t ulna_test_rng_next(ulna_test_rng *rng)
{
    uint64_t *s = rng->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9;
    uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double ulna_test_rng_uniform(ulna_test_rng *rng, double low, double high)
{
    double unit = (double)(ulna_test_rng_next(rng) >> 11) * 0x1p-53;
    return low + (high - low) * unit;
}

double ulna_test_rng_normal(ulna_test_rng *rng)
{
    /* Box and Muller, one of the pair. */
    double radius = sqrt(-2 * log(1 - ulna_test_rng_uniform(rng, 0, 1)));
    return radius * cos(ulna_test_rng_uniform(rng, 0, 6.283185307179586));
}

int ulna_test_rng_index(ulna_test_rng *rng, int count)
{
    return (int)(ulna_test_rng_next(rng) % (uint64_t)count);
}

void ulna_test_rng_fill(ulna_test_rng *rng, double *values, int count, double low, double high)
{
    for (int i = 0; i < count; i++)
        values[i] = ulna_test_rng_uniform(rng, low, high);
}

/* ---- Recorded data, and tests that need them ---- */

static int may_read_data;
static const char needs[] = ": needs "; /* ulna_test_needs puts it between the name of a test and its folders */

static const char *data_dir(void)
{
    const char *folder = getenv("ULNA_DATA");
    return folder && *folder ? folder : ULNA_SOURCE_DIR "/../shared/data";
}

const char *ulna_test_data_dir(void)
{
    if (!may_read_data)
        fail_msg(
            "this test reads recorded data: write ulna_test_needs(...) in the table of tests (tests/support/support.h)");
    return data_dir();
}

static int is_folder(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

/* Says what a test lacks; 0: nothing. */
static int lacks_data(const char *test)
{
    const char *folder = strstr(test, needs) + strlen(needs);
    char path[4096];
    while (*folder) {
        int length = (int)strcspn(folder, " ");
        snprintf(path, sizeof path, "%s/%.*s", data_dir(), length, folder);
        if (!is_folder(path)) {
            print_message("%s: there is no folder %s (docs/test-data.md)\n", test, path);
            return 1;
        }
        folder += length + (folder[length] == ' ');
    }
    return 0;
}

int ulna_test_run(const char *group, const struct CMUnitTest *tests, size_t count, CMFixtureFunction setup,
                  CMFixtureFunction teardown)
{
    const char *part = getenv("ULNA_TEST_PART"), *required = getenv("ULNA_REQUIRE_DATA");
    int is_required = required && strcmp(required, "1") == 0, skipped = 0, failed = 0, all = 0;
    struct CMUnitTest *chosen = malloc((count + 1) * sizeof *chosen);
    if (!chosen)
        return 1;
    for (int with_data = 0; with_data < 2; with_data++) {
        size_t ready = 0;
        if (part && *part && strcmp(part, with_data ? "data" : "rest") != 0)
            continue;
        for (size_t i = 0; i < count; i++) {
            if ((strstr(tests[i].name, needs) != NULL) != with_data)
                continue;
            all++;
            if (with_data && lacks_data(tests[i].name))
                skipped++;
            else
                chosen[ready++] = tests[i];
        }
        may_read_data = with_data;
        if (ready && _cmocka_run_group_tests(group, chosen, ready, setup, teardown))
            failed = 1;
    }
    free(chosen);
    if (!all)
        print_error("%s: no test is of part '%s'; a program whose tests all need data is called test_data_*\n", group,
                    part);
    if (skipped && is_required)
        print_error("%s: %d tests lack their data, and ULNA_REQUIRE_DATA=1\n", group, skipped);
    return failed || !all || (skipped && is_required) ? 1 : skipped ? 77 : 0;
}

/* ---- Files ---- */

char *ulna_test_path(char *path, size_t size, const char *folder, const char *name)
{
    int length = snprintf(path, size, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= size)
        fail_msg("path too long: %s/%s", folder, name);
    return path;
}

char *ulna_test_read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fail_msg("cannot open %s", path);
        return NULL;
    }
    size_t used = 0;
    size_t capacity = 65536;
    char *text = malloc(capacity);
    assert_non_null(text);
    for (size_t got; (got = fread(text + used, 1, capacity - used - 1, file)) > 0;) {
        used += got;
        if (capacity - used < 2) {
            capacity *= 2;
            text = realloc(text, capacity);
            assert_non_null(text);
        }
    }
    if (ferror(file))
        fail_msg("cannot read %s", path);
    fclose(file);
    text[used] = 0;
    *size = used;
    return text;
}

/* ---- The counting allocator: each block has a header with its size and a few bytes of guard behind it ---- */

enum { HEADER = ULNA_ALIGNMENT, GUARD = 16 };
static const uint64_t alive = 0x756c6e61616c6c6fu;
static const uint64_t dead = 0x64656164626c6f63u;

typedef struct block_header {
    uint64_t mark;
    size_t bytes;
} block_header;

static void *test_allocate(void *context, size_t bytes)
{
    ulna_test_memory *memory = context;
    long call = memory->calls++;
    if (memory->fail_at >= 0 && call >= memory->fail_at) {
        memory->failed = 1;
        return NULL;
    }
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t whole = (HEADER + bytes + GUARD + ULNA_ALIGNMENT - 1) & ~(size_t)(ULNA_ALIGNMENT - 1);
    unsigned char *start = aligned_alloc(ULNA_ALIGNMENT, whole);
    if (!start)
        return NULL;
    block_header header = {alive, bytes};
    memcpy(start, &header, sizeof header);
    memset(start + HEADER, 0xa5, whole - HEADER); /* nobody may count on zeroes; the tail is the guard */
    memory->live_blocks++;
    memory->live_bytes += bytes;
    if (memory->live_bytes > memory->peak_bytes)
        memory->peak_bytes = memory->live_bytes;
    return start + HEADER;
}

static void test_release(void *context, void *pointer, size_t bytes)
{
    ulna_test_memory *memory = context;
    if (!pointer)
        return;
    unsigned char *start = (unsigned char *)pointer - HEADER;
    block_header header;
    memcpy(&header, start, sizeof header);
    if (header.mark != alive || header.bytes != bytes) {
        memory->wrong_release = 1;
        if (header.mark != alive)
            return;
    }
    for (size_t i = 0; i < GUARD; i++)
        if (start[HEADER + header.bytes + i] != 0xa5)
            memory->wrong_release = 1;
    memory->live_blocks--;
    memory->live_bytes -= header.bytes;
    header.mark = dead;
    memcpy(start, &header, sizeof header);
    free(start);
}

ulna_allocator ulna_test_allocator(ulna_test_memory *memory)
{
    return (ulna_allocator){test_allocate, test_release, memory};
}

void ulna_test_memory_check(const ulna_test_memory *memory)
{
    if (memory->wrong_release)
        fail_msg("a block was released with a wrong size or written past its end");
    if (memory->live_blocks != 0)
        fail_msg("%ld blocks (%zu bytes) leaked", memory->live_blocks, memory->live_bytes);
}
