/*
 * support_model.h: skeletons built by hand, frames by plain composition, and what must hold of every finished model.
 * For tests of the model layer and of what edits models.
 */
#ifndef ULNA_TESTS_SUPPORT_MODEL_H
#define ULNA_TESTS_SUPPORT_MODEL_H

#include <string.h>

#include "model/model.h"
#include "support.h"

/* The largest difference of two arrays. */
double ulna_test_difference(const double *a, const double *b, int count);

/* Builder calls that fail the test if they fail. */
ulna_builder *ulna_test_builder(void);
int ulna_test_add(ulna_builder *builder, const char *name, int parent);
void ulna_test_set_joint(ulna_builder *builder, int body, ulna_joint joint);
ulna_model *ulna_test_build(const ulna_builder *builder);

typedef struct ulna_test_frame {
    double r[9], t[3];
} ulna_test_frame;

ulna_test_frame ulna_test_multiply(const ulna_test_frame *a, const ulna_test_frame *b);
double ulna_test_frame_difference(const ulna_test_frame *a, const ulna_test_frame *b);

/* The frame of every body at q: placement * motion * offset, parent by parent. free() it. */
ulna_test_frame *ulna_test_frames(const ulna_model *model, const double *q);

/* By walking up. */
int ulna_test_is_ancestor(const ulna_model *m, int a, int b);
int ulna_test_common_ancestor(const ulna_model *m, int a, int b);

/* Links give the same frames at q, and their order, flags and blocks are as src/model/model.h says. */
void ulna_test_check_links(const ulna_model *m, const double *q);
/* The pattern's paths are the degrees of freedom above, its rows are aligned. O(nv^2). */
void ulna_test_check_tree(const ulna_model *m);

/* The call returns `expected`, fills the local variable `error` so, and the message contains each of the words. */
#define assert_says(call, expected, ...)                                                                               \
    do {                                                                                                               \
        const char *words[] = {__VA_ARGS__};                                                                           \
        ulna_error_clear(&error);                                                                                      \
        assert_int_equal(call, expected);                                                                              \
        assert_int_equal(error.status, expected);                                                                      \
        for (size_t word_ = 0; word_ < sizeof words / sizeof *words; word_++)                                          \
            if (!strstr(error.message, words[word_]))                                                                  \
                fail_msg("\"%s\" does not say \"%s\"", error.message, words[word_]);                                   \
    } while (0)

#endif
