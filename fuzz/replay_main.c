/*
 * Runs a fuzz target without libFuzzer, with any compiler: feeds it the files given (folders: every file in them,
 * by name), and of each some mutations that are the same on every run. So a harness is compiled and exercised in
 * every build and test run.
 *
 *     replay_NAME [--mutations N] [--seconds S] FILE_OR_FOLDER...
 *
 * Where an input crashes, trips a sanitizer or takes longer than S seconds (10 by default), it is written to
 * replay_NAME.crash in the working folder and named on stderr. A folder that does not exist counts as empty; the
 * empty input is always tried.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Exists only in programs built with a sanitizer. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

enum { MAX_GROWTH = 4096, MAX_PATH = 4096 };

/* The input now being tried, for whoever asks when it kills the program: handlers take no arguments. */
static struct {
    const uint8_t *data;
    size_t size;
    char text[MAX_PATH + 128]; /* its name, made beforehand: a signal handler must not format */
    size_t text_length;
    char file[256]; /* where to keep it */
} current;

static unsigned seconds_per_input = 10;
static long inputs;

static void save_current(void)
{
    static volatile sig_atomic_t saved;
    if (saved)
        return;
    saved = 1;
    ssize_t ignored = write(2, current.text, current.text_length);
    int file = open(current.file, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (file >= 0) {
        ignored = write(file, current.data, current.size);
        close(file);
    }
    (void)ignored;
}

static void on_signal(int number)
{
    if (number == SIGALRM) {
        static const char text[] = "\nreplay: an input takes too long\n";
        ssize_t ignored = write(2, text, sizeof text - 1);
        (void)ignored;
    }
    save_current();
    signal(number, SIG_DFL);
    raise(number);
}

/* Mutation -1 is the file itself. The target gets a block of exactly the right size, so that a sanitizer sees a read
 * past its end. */
static void run(const uint8_t *data, size_t size, const char *name, long mutation)
{
    uint8_t *copy = malloc(size ? size : 1);
    if (!copy)
        abort();
    if (size)
        memcpy(copy, data, size);
    current.data = copy;
    current.size = size;
    int length = snprintf(current.text, sizeof current.text, "\nreplay: %.3800s, mutation %ld, %zu bytes: see %s\n",
                          name, mutation, size, current.file);
    current.text_length = length > 0 ? (size_t)length : 0;
    alarm(seconds_per_input);
    (void)LLVMFuzzerTestOneInput(copy, size);
    alarm(0);
    free(copy);
    inputs++;
}

/* ---- Mutations: a few small damages each, some aimed at text with numbers, some at binary headers ---- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static size_t pick(uint64_t *random, size_t count)
{
    return count ? (size_t)(next_random(random) % count) : 0;
}

static const char *const words[] = {"nan", "-inf", "1e999", "-1",   "0",  "4294967296", "99999999999999999999",
                                    "{",   "}",    "\"",    "\n",   "\r", "\t",         "1e-999",
                                    "[",   "]",    ",",     "0x7f", ":",  "-0.0",       "\xff\xff\xff\x7f"};

static void remove_span(uint8_t *data, size_t *size, size_t at, size_t length)
{
    memmove(data + at, data + at + length, *size - at - length);
    *size -= length;
}

static void insert_span(uint8_t *data, size_t *size, size_t room, size_t at, const void *span, size_t length)
{
    if (*size + length > room)
        return;
    memmove(data + at + length, data + at, *size - at);
    memcpy(data + at, span, length);
    *size += length;
}

/* A word replaces the number found at or after `at`. */
static void replace_number(uint8_t *data, size_t *size, size_t room, size_t at, const char *word)
{
    while (at < *size && (data[at] < '0' || data[at] > '9'))
        at++;
    size_t end = at;
    while (end < *size && ((data[end] >= '0' && data[end] <= '9') || data[end] == '.'))
        end++;
    remove_span(data, size, at, end - at);
    insert_span(data, size, room, at, word, strlen(word));
}

static void damage(uint8_t *data, size_t *size, size_t room, uint64_t *random)
{
    static const uint8_t bytes[] = {0, 1, 0x7f, 0x80, 0xff, ' ', '\n', '"', '-', '9'};
    size_t at = pick(random, *size);
    size_t length = 1 + pick(random, *size - at < 64 ? *size - at : 64);
    const char *word = words[pick(random, sizeof words / sizeof *words)];
    uint8_t span[64];
    if (length > *size - at)
        length = *size - at;
    switch (pick(random, 9)) {
    case 0: /* one bit */
        if (*size)
            data[at] ^= (uint8_t)(1u << pick(random, 8));
        break;
    case 1: /* one byte */
        if (*size)
            data[at] = bytes[pick(random, sizeof bytes)];
        break;
    case 2: /* a few equal bytes: counts and offsets of binary headers */
        memset(data + at, bytes[pick(random, 5)], length < 4 ? length : 4);
        break;
    case 3:
        remove_span(data, size, at, length);
        break;
    case 4: /* repeat a piece elsewhere */
        memcpy(span, data + at, length);
        insert_span(data, size, room, pick(random, *size + 1), span, length);
        break;
    case 5:
        insert_span(data, size, room, at, word, strlen(word));
        break;
    case 6:
    case 7:
        replace_number(data, size, room, at, word);
        break;
    default: /* a torn file, seldom: the rest of the damage goes with it */
        if (pick(random, 4) == 0)
            *size = at;
        break;
    }
}

static void run_with_mutations(const uint8_t *data, size_t size, const char *name, long mutations)
{
    run(data, size, name, -1);
    size_t room = size + MAX_GROWTH;
    uint8_t *work = malloc(room);
    if (!work)
        abort();
    for (long i = 0; i < mutations; i++) {
        uint64_t random = (uint64_t)i * 0x2545f4914f6cdd1du + size;
        size_t changed = size;
        if (size)
            memcpy(work, data, size);
        for (size_t steps = 1 + pick(&random, 6); steps > 0; steps--)
            damage(work, &changed, room, &random);
        run(work, changed, name, i);
    }
    free(work);
}

/* ---- Files and folders ---- */

static int run_file(const char *path, long mutations)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        fprintf(stderr, "replay: cannot open %s: %s\n", path, strerror(errno));
        return 1;
    }
    size_t size = 0;
    size_t capacity = 1u << 16;
    uint8_t *data = malloc(capacity);
    if (!data)
        abort();
    for (size_t got; (got = fread(data + size, 1, capacity - size, file)) > 0;) {
        size += got;
        if (size == capacity) {
            capacity *= 2;
            uint8_t *larger = realloc(data, capacity);
            if (!larger)
                abort();
            data = larger;
        }
    }
    fclose(file);
    run_with_mutations(data, size, path, mutations);
    free(data);
    return 0;
}

static int visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int run_folder(const char *path, long mutations)
{
    struct dirent **entries;
    int count = scandir(path, &entries, visible, alphasort); /* by name: the same order everywhere */
    int failures = 0;
    if (count < 0) {
        fprintf(stderr, "replay: cannot list %s: %s\n", path, strerror(errno));
        return 1;
    }
    for (int i = 0; i < count; i++) {
        char name[MAX_PATH];
        struct stat about;
        int length = snprintf(name, sizeof name, "%s/%s", path, entries[i]->d_name);
        if (length > 0 && (size_t)length < sizeof name && stat(name, &about) == 0 && S_ISREG(about.st_mode))
            failures += run_file(name, mutations);
        free(entries[i]);
    }
    free((void *)entries);
    return failures;
}

int main(int argc, char **argv)
{
    long mutations = 0;
    int failures = 0;
    const char *slash = strrchr(argv[0], '/');
    snprintf(current.file, sizeof current.file, "%.200s.crash", slash ? slash + 1 : argv[0]);
    int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM};
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(save_current);
        signal(SIGALRM, on_signal);
    } else {
        for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
            signal(signals[i], on_signal);
    }

    run((const uint8_t *)"", 0, "(empty)", -1);
    for (int i = 1; i < argc; i++) {
        struct stat about;
        if (strcmp(argv[i], "--mutations") == 0 && i + 1 < argc)
            mutations = strtol(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds_per_input = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (stat(argv[i], &about) != 0)
            fprintf(stderr, "replay: %s is not there: no seeds\n", argv[i]);
        else
            failures += S_ISDIR(about.st_mode) ? run_folder(argv[i], mutations) : run_file(argv[i], mutations);
    }
    printf("replay: %ld inputs, no crash\n", inputs);
    return failures > 0;
}
