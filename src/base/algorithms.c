/* Random numbers, sorting, hashing and names: see algorithms.h. */
#include "base/algorithms.h"

#include <math.h>
#include <string.h>

enum {
    MOST_ROUNDS = 64,     /* of a selection */
    SAMPLE = 31,          /* numbers */
    FEWEST_SAMPLED = 300, /* numbers: of fewer, no sample is taken */
    MANY_BELOW = 8 /* a share of the numbers: where fewer are below the pivot, those that equal it are set apart too */
};

/* ---- random numbers ------------------------------------------------------------------------------------------ */

uint64_t ulna_random_bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double ulna_random_uniform(uint64_t *state)
{
    return ((double)(ulna_random_bits(state) >> 11) + 0.5) * 0x1p-53;
}

double ulna_random_normal(uint64_t *state)
{
    const double two_pi = 6.283185307179586;
    double radius = sqrt(-2 * log(ulna_random_uniform(state)));
    return radius * cos(two_pi * ulna_random_uniform(state));
}

/* ---- sorting ------------------------------------------------------------------------------------------------- */

static void swap(unsigned char *a, unsigned char *b, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        unsigned char kept = a[i];
        a[i] = b[i];
        b[i] = kept;
    }
}

/* Lets the item at `at` sink until no child of it is larger. */
static void sink(unsigned char *items, size_t at, size_t count, size_t size, ulna_compare compare, const void *context)
{
    for (size_t child; (child = 2 * at + 1) < count; at = child) {
        if (child + 1 < count && compare(items + child * size, items + (child + 1) * size, context) < 0)
            child++;
        if (compare(items + at * size, items + child * size, context) >= 0)
            return;
        swap(items + at * size, items + child * size, size);
    }
}

void ulna_sort(void *items, size_t count, size_t size, ulna_compare compare, const void *context)
{
    for (size_t at = count / 2; at-- > 0;)
        sink(items, at, count, size, compare, context);
    for (size_t end = count; end-- > 1;) {
        swap(items, (unsigned char *)items + end * size, size);
        sink(items, 0, end, size, compare, context);
    }
}

static int by_value(const void *a, const void *b, const void *context)
{
    (void)context;
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ulna_sort_numbers(double *numbers, size_t count)
{
    ulna_sort(numbers, count, sizeof *numbers, by_value, NULL);
}

double ulna_median(double *numbers, size_t count)
{
    ulna_sort_numbers(numbers, count);
    return count ? 0.5 * numbers[(count - 1) / 2] + 0.5 * numbers[count / 2] : (double)NAN;
}

/* The number of rank k of x, nearly: of a sample the one a place beyond k, seen from the nearer end, so that few numbers are left on k's side. */
static double guess_number(const double *x, ptrdiff_t count, ptrdiff_t k)
{
    double sample[SAMPLE];
    if (count < FEWEST_SAMPLED)
        return x[k];
    for (ptrdiff_t i = 0; i < SAMPLE; i++) {
        double number = x[i * (count - 1) / (SAMPLE - 1)];
        ptrdiff_t at = i;
        for (; at > 0 && sample[at - 1] > number; at--)
            sample[at] = sample[at - 1];
        sample[at] = number;
    }
    ptrdiff_t at = k * SAMPLE / count;
    return sample[at < SAMPLE / 2 ? at + 1 : at - 1];
}

/* Those below the pivot come first, or, with `equals`, those up to it; returns how many. Nothing is decided by a branch: the next
 * number cannot be foreseen. */
static inline ptrdiff_t part_by(double *x, ptrdiff_t count, double pivot, int equals)
{
    ptrdiff_t found = 0;
    for (ptrdiff_t i = 0; i < count; i++) {
        double number = x[i];
        x[i] = x[found];
        x[found] = number;
        found += equals ? number <= pivot : number < pivot;
    }
    return found;
}

static ptrdiff_t part_numbers(double *x, ptrdiff_t count, double pivot, int equals)
{
    return equals ? part_by(x, count, pivot, 1) : part_by(x, count, pivot, 0); /* a constant in each loop */
}

/* Selection by Hoare: x[k] is in its place afterwards, none before it is larger, none after it smaller. After too many rounds what is
 * left is sorted, so that there are no bad cases. */
static void select_number(double *x, ptrdiff_t count, ptrdiff_t k)
{
    for (int rounds = 0; count > 1; rounds++) {
        if (rounds == MOST_ROUNDS) {
            ulna_sort_numbers(x, (size_t)count);
            return;
        }
        double pivot = guess_number(x, count, k);
        ptrdiff_t below = part_numbers(x, count, pivot, 0);
        if (k < below) {
            count = below;
            continue;
        }
        x += below, count -= below, k -= below;
        if (below > count / MANY_BELOW)
            continue;
        ptrdiff_t equal = part_numbers(x, count, pivot, 1);
        if (k < equal)
            return;
        x += equal, count -= equal, k -= equal;
    }
}

double ulna_select_number(double *numbers, size_t count, size_t k)
{
    select_number(numbers, (ptrdiff_t)count, (ptrdiff_t)k);
    return numbers[k];
}

double ulna_quick_median(double *numbers, size_t count)
{
    if (!count)
        return (double)NAN;
    size_t lower = (count - 1) / 2;
    select_number(numbers, (ptrdiff_t)count, (ptrdiff_t)lower);
    double upper = numbers[lower];
    if (count % 2 == 0) {
        upper = numbers[lower + 1];
        for (size_t i = lower + 2; i < count; i++)
            upper = numbers[i] < upper ? numbers[i] : upper;
    }
    return 0.5 * numbers[lower] + 0.5 * upper;
}

/* ---- hashing ------------------------------------------------------------------------------------------------- */

size_t ulna_hash(const char *text, uint64_t seed, int fold_case)
{
    uint64_t hash = 14695981039346656037u ^ (seed * 0x9e3779b97f4a7c15u);
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (fold_case)
            c = (unsigned char)ulna_lower(c);
        hash = (hash ^ c) * 1099511628211u;
    }
    return (size_t)(hash ^ (hash >> 32));
}

/* ---- names --------------------------------------------------------------------------------------------------- */

int ulna_lower(int c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

int ulna_is_alphanumeric(int c)
{
    int small = ulna_lower(c);
    return (small >= 'a' && small <= 'z') || (c >= '0' && c <= '9');
}

int ulna_compare_names(const char *a, const char *b)
{
    while (*a && ulna_lower(*a) == ulna_lower(*b)) {
        a++;
        b++;
    }
    return ulna_lower((unsigned char)*a) - ulna_lower((unsigned char)*b);
}

const char *ulna_name_without_prefix(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon && colon[1] ? colon + 1 : name;
}

/* ---- misspelt names ---------------------------------------------------------------------------------------------- */

/* Edits from one word to the other: letters put in, left out, replaced, or two neighbours swapped. */
static int distance(const char *a, const char *b)
{
    enum { LONGEST = 32 };
    int rows[3][LONGEST + 1];
    size_t size_a = strlen(a), size_b = strlen(b);
    if (size_a > LONGEST || size_b > LONGEST)
        return LONGEST;
    int length_a = (int)size_a, length_b = (int)size_b;

    int *before = rows[0], *above = rows[1], *row = rows[2];
    for (int j = 0; j <= length_b; j++)
        row[j] = j;
    for (int i = 1; i <= length_a; i++) {
        int *oldest = before;
        before = above;
        above = row;
        row = oldest;
        row[0] = i;
        for (int j = 1; j <= length_b; j++) {
            int best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best)
                best = above[j] + 1;
            if (row[j - 1] + 1 < best)
                best = row[j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before[j - 2] + 1 < best)
                best = before[j - 2] + 1;
            row[j] = best;
        }
    }
    return row[length_b];
}

/* Are all parts of the word in the name, in this order: left_hand in left_rubber_hand? Short parts are in too many names. */
static int has_parts(const char *name, const char *word)
{
    enum { SHORTEST = 3, LONGEST = 60 };
    char part[LONGEST + 1];
    while (*word) {
        size_t length = 0;
        for (; word[length] && ulna_is_alphanumeric((unsigned char)word[length]); length++)
            if (length < LONGEST)
                part[length] = word[length];
        if (length < SHORTEST || length > LONGEST)
            return 0;
        part[length] = '\0';
        name = strstr(name, part);
        if (!name)
            return 0;
        name += length;
        word += length + (word[length] != '\0');
    }
    return 1;
}

const char *ulna_nearest_name(const char *word, const void *first_name, size_t stride)
{
    const char *nearest = NULL;
    size_t length = strlen(word);
    int least = length < 4 ? 2 : 3; /* further away it is another word */
    for (const char *row = first_name;; row += stride) {
        const char *name;
        memcpy(&name, row, sizeof name);
        if (!name)
            return nearest;
        int edits = distance(word, name);
        if (length >= 3 && strncmp(word, name, length) == 0)
            edits = 0; /* the beginning of it */
        else if (length >= 3 && edits > 1 && (strstr(name, word) || has_parts(name, word)))
            edits = 1; /* a part of it, or several */
        if (edits < least) {
            least = edits;
            nearest = name;
        }
    }
}

void ulna_end_at_word(char *message, size_t size)
{
    static const char dots[] = " ...";
    size_t most = size - sizeof dots, end = most;
    while (end > most / 2 && message[end] != ' ')
        end--;
    if (message[end] != ' ') /* one long word: not inside of a character of UTF-8 */
        for (end = most; end > 0 && ((unsigned char)message[end] & 0xC0) == 0x80;)
            end--;
    memcpy(message + end, dots, sizeof dots);
}
