/* algorithms.h (private): the library's one random number generator, one sort, one median, one hash, one way to compare names, one guess
 * at what a misspelt one should have been. */
#ifndef ULNA_SRC_ALGORITHMS_H
#define ULNA_SRC_ALGORITHMS_H

#include <stddef.h>
#include <stdint.h>

/* Random numbers by splitmix64 (Steele, Lea, Flood 2014; the code follows Vigna's in the public domain). The state is one
 * number; any value will do as a seed. The same seed gives the same numbers on every machine. */
uint64_t ulna_random_bits(uint64_t *state);
double ulna_random_uniform(uint64_t *state); /* in (0, 1) */
double ulna_random_normal(uint64_t *state);  /* mean 0, variance 1: Box and Muller; takes two numbers */

/* Negative if a comes before b, positive if after, 0 if either order will do. */
typedef int (*ulna_compare)(const void *a, const void *b, const void *context);

/* Sorts in place: heapsort, so no memory, no recursion and no bad cases, whatever a file holds. Not stable: compare
 * positions last where that matters. */
void ulna_sort(void *items, size_t count, size_t size, ulna_compare compare, const void *context);
/* The same for numbers, ascending; none may be NaN. */
void ulna_sort_numbers(double *numbers, size_t count);
/* Sorts the numbers and returns their median: the middle one, or the mean of the middle two; NaN if there are none. */
double ulna_median(double *numbers, size_t count);
/* The number that would be x[k] if they were sorted; they are in another order afterwards. k < count. */
double ulna_select_number(double *numbers, size_t count, size_t k);
/* The same median in a time that goes with the count; the numbers are in another order afterwards, but not sorted. */
double ulna_quick_median(double *numbers, size_t count);

/* FNV-1a of a text. The seed makes a list of names that collide in one run unlikely to collide in the next. With
 * `fold_case`, the letters A to Z count as a to z. */
size_t ulna_hash(const char *text, uint64_t seed, int fold_case);

/* ASCII, whatever the locale is: <ctype.h> is not used in the library. Other bytes are neither letters nor digits. */
int ulna_lower(int c);
int ulna_is_alphanumeric(int c);
/* The nearest of the names, up to a NULL, to a misspelt word or to parts of a name; NULL if none is near. `stride`: bytes from one `const char *` to the
 * next, as in an array of structs that begin with the name. */
const char *ulna_nearest_name(const char *word, const void *first_name, size_t stride);
/* As strcmp, but the letters A to Z count as a to z. */
int ulna_compare_names(const char *a, const char *b);
/* "LKNE" of "Anna:LKNE": what stands behind the last colon, if anything does. */
const char *ulna_name_without_prefix(const char *name);
/* Of a message that was cut, as it fills all of its room: lets it end with a whole word, and dots that say that there was more. */
void ulna_end_at_word(char *message, size_t size);

#endif
