/*
 * ulna/base.h: status codes, error reports and the allocator hook.
 *
 * The library never prints, never exits and keeps no globals. A function that can fail returns an
 * ulna_status; where a sentence helps, it also fills an optional, caller-owned ulna_error.
 *
 * NULL where an object or array is needed, and an index out of range, give ULNA_ERR_ARGUMENT from functions that return a
 * status; others return 0, ULNA_NONE, NULL or NaN, or do nothing. What may be NULL is named with that word in the function's
 * comment; errors and allocators always may. Outputs are NULL after a failed create, load or build.
 * "The recipe", "the exact-Hessian paper" and other sources named in headers are listed in docs/mathematics.md.
 *
 *     ulna_model *skeleton;
 *     status = ulna_model_load(path, NULL, &skeleton, &error);
 *     if (status != ULNA_OK) // error has the sentence, and for files the line
 *         fprintf(stderr, "%s: %s\n", ulna_status_text(status), error.message);
 */
#ifndef ULNA_BASE_H
#define ULNA_BASE_H

#include <stddef.h>

#if defined(__GNUC__)
#define ULNA_API __attribute__((visibility("default")))
#define ULNA_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define ULNA_API
#define ULNA_PRINTF(format_index, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Why a call failed. (Why an iteration ended is another thing, and not a failure.) */
typedef enum ulna_status {
    ULNA_OK = 0,
    ULNA_ERR_ARGUMENT,    /* an argument is out of range or missing */
    ULNA_ERR_MEMORY,      /* the allocator returned nothing */
    ULNA_ERR_NUMBER,      /* NaN or infinity where a finite number is needed */
    ULNA_ERR_MODEL,       /* the skeleton contradicts itself */
    ULNA_ERR_STATE,       /* calls in the wrong order */
    ULNA_ERR_INDEFINITE,  /* the matrix is not positive definite */
    ULNA_ERR_SINGULAR,    /* a pivot is zero */
    ULNA_ERR_CONVERGENCE, /* an inner iteration reached its limit */
    ULNA_ERR_PARSE,       /* a file says something that cannot be understood */
    ULNA_ERR_IO,          /* a file cannot be opened, read or written */
    ULNA_ERR_LIMIT,       /* larger than this build or machine can hold */
    ULNA_ERR_UNSUPPORTED, /* not part of this build, or not for this kind of thing */
    ULNA_ERR_FORMAT,      /* a file of no known format, or of one that cannot hold what is asked for */
    ULNA_STATUS_COUNT
} ulna_status;

/* A short text, such as "out of memory"; "unknown status" for any other number. Never NULL. */
ULNA_API const char *ulna_status_text(ulna_status status);

/* What went wrong, in the user's words, and where. Line and column count from 1; 0 means none. A call that succeeds
 * leaves it as it was. */
typedef struct ulna_error {
    ulna_status status;
    int line;
    int column;
    long long byte; /* offset from the start of the file; -1 means none */
    char path[256]; /* the file's name, or empty */
    char message[256];
} ulna_error;

/* Empties an error. A NULL error is allowed here and everywhere: then nothing is reported. */
ULNA_API void ulna_error_clear(ulna_error *error);

/* Memory comes from here. `allocate` returns memory aligned to ULNA_ALIGNMENT, or NULL;
 * `release` takes the size that was asked for. Both may be called from several threads. */
#define ULNA_ALIGNMENT 64
typedef struct ulna_allocator {
    void *(*allocate)(void *context, size_t bytes);
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
} ulna_allocator;

/* How a distance r counts in a fit: squares, or less where it is larger than a scale c. */
typedef enum ulna_loss {
    ULNA_LOSS_SQUARE = 0,    /* r^2 / 2 */
    ULNA_LOSS_GEMAN_MCCLURE, /* r^2 / (1 + r^2/c^2) / 2: beyond c it hardly counts */
    ULNA_LOSS_CAUCHY,        /* c^2 log(1 + r^2/c^2) / 2 */
    ULNA_LOSS_HUBER          /* r^2 / 2 up to c, c r - c^2 / 2 beyond */
} ulna_loss;

/* The version of the library that is running, such as "0.1.0". Never NULL. */
ULNA_API const char *ulna_version(void);

#ifdef __cplusplus
}
#endif
#endif
