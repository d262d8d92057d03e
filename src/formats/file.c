/*
 * The only file of the library that touches the disk: reading whole files, and writing them so that nobody ever sees
 * a part of one. A build with ULNA_MINIMAL has no files at all.
 */
#define _XOPEN_SOURCE 700 /* stat, fchmod, fsync and realpath, beside ISO C */

#include "formats/format.h"

#include "base/base.h"
#include "formats/text/text_writer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- errors ------------------------------------------------------------------------------------------- */

/* "cannot open the file: No such file or directory". The C library needs memory for files, too. */
static ulna_status fail_io(ulna_error *error, const char *what, int number)
{
    return ulna_fail(error, number == ENOMEM ? ULNA_ERR_MEMORY : ULNA_ERR_IO, "%s: %s", what, strerror(number));
}

/* ---- reading ------------------------------------------------------------------------------------------ */

/* How many bytes are behind the present place? 0 unless it is a plain file, of which this is known before it is read. */
static size_t bytes_ahead(FILE *file)
{
    struct stat about;
    off_t at = ftello(file);
    int is_known = at >= 0 && fstat(fileno(file), &about) == 0 && S_ISREG(about.st_mode) && about.st_size > at;
    return !is_known ? 0 : (uintmax_t)(about.st_size - at) > SIZE_MAX ? SIZE_MAX : (size_t)(about.st_size - at);
}

/* Block by block, into the text itself. With `format`, the first block tells whether there is a reason to go on. The next is the rest,
 * and a byte that is not there; where its length is not known, as much as was read before. */
static ulna_status read_blocks(FILE *file, size_t max_bytes, ulna_text *text, ulna_format *format, ulna_error *error)
{
    size_t room = max_bytes, block = ULNA_SNIFF_BYTES;
    for (int is_first = 1;; is_first = 0) {
        if (block > SIZE_MAX - text->length || ulna_text_reserve(text, text->length + block) != ULNA_OK)
            return ulna_fail(error, ULNA_ERR_MEMORY, "no memory left to read the file");
        errno = 0;
        size_t bytes = fread(text->data + text->length, 1, block, file);
        if (ferror(file))
            return fail_io(error, "cannot read the file", errno);
        if (is_first && format)
            *format = ulna_format_sniff(text->data + text->length, bytes);
        int is_last = bytes < block || (is_first && format && *format == ULNA_FORMAT_UNKNOWN);
        size_t ahead = is_first && !is_last ? bytes_ahead(file) : 0;
        if (bytes > room || ahead > room - bytes)
            return ulna_fail(error, ULNA_ERR_LIMIT, "the file is larger than %zu bytes", max_bytes);
        text->length += bytes;
        text->data[text->length] = 0;
        room -= bytes;
        block = ahead ? ahead + 1 : text->length;
        if (is_last)
            return ULNA_OK;
    }
}

/* All or nothing. */
static ulna_status read_stream(FILE *file, size_t max_bytes, ulna_text *text, ulna_format *format, ulna_error *error)
{
    size_t start = text->length;
    ulna_status status = read_blocks(file, max_bytes, text, format, error);
    if (status != ULNA_OK && text->data) {
        text->length = start;
        text->data[start] = 0;
    }
    return status;
}

static ulna_status read_path(const char *path, size_t max_bytes, ulna_text *text, ulna_format *format,
                             ulna_error *error)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return ulna_fail_file(error, path, fail_io(error, "cannot open the file", errno));
    ulna_status status = read_stream(file, max_bytes, text, format, error);
    fclose(file);
    return ulna_fail_file(error, path, status);
}

ulna_status ulna_file_read(const char *path, size_t max_bytes, ulna_text *text, ulna_error *error)
{
    if (!path || !text)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path and a text are needed");
    return read_path(path, max_bytes, text, NULL, error);
}

ulna_status ulna_file_read_known(const char *path, ulna_text *text, ulna_format *format, ulna_error *error)
{
    ulna_format unused;
    if (!path || !text)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path and a text are needed");
    return read_path(path, ULNA_MAX_INPUT_BYTES, text, format ? format : &unused, error);
}

ulna_status ulna_stream_read_known(FILE *stream, ulna_text *text, ulna_format *format, ulna_error *error)
{
    ulna_format unused;
    if (!stream || !text)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a stream and a text are needed");
    return read_stream(stream, ULNA_MAX_INPUT_BYTES, text, format ? format : &unused, error);
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Whole pages, many at once: the kernel needs half the time for them that it needs for pieces which begin anywhere. */
enum { OUTPUT_BUFFER = 1 << 18 };

struct ulna_output {
    ulna_allocator allocator;
    FILE *file;
    int failure;     /* errno of the first write that failed */
    size_t bytes;    /* of this block: the buffer and the two names follow the struct */
    char *path;      /* where the file will be */
    char *temporary; /* where it is now; NULL if it is written to directly */
};

static ulna_status write_output(void *context, const char *data, size_t bytes)
{
    ulna_output *output = context;
    errno = 0;
    if (!output->failure && fwrite(data, 1, bytes, output->file) != bytes)
        output->failure = errno ? errno : EIO;
    return output->failure ? ULNA_ERR_IO : ULNA_OK;
}

ulna_sink ulna_output_sink(ulna_output *output)
{
    return (ulna_sink){write_output, output};
}

/* A new file beside the target: its name and the first number that is free. Nothing that exists is opened. */
static FILE *open_temporary(const char *path, char *name, size_t size)
{
    for (unsigned number = 0; number < 1000; number++) {
        snprintf(name, size, "%s.%u.tmp", path, number);
        FILE *file = fopen(name, "wbx");
        if (file || errno != EEXIST)
            return file;
    }
    return NULL;
}

/* One block for the struct, its buffer and both names. `is_direct`: no temporary name. */
static ulna_output *make_output(const ulna_allocator *allocator, const char *path, int is_direct)
{
    size_t length = strlen(path);
    if (length > SIZE_MAX / 4)
        return NULL;
    size_t bytes = sizeof(ulna_output) + OUTPUT_BUFFER + 2 * (length + 16);
    ulna_output *output = ulna_allocate_raw(allocator, bytes, 1);
    if (!output)
        return NULL;
    *output = (ulna_output){.allocator = *allocator, .bytes = bytes};
    output->path = (char *)(output + 1) + OUTPUT_BUFFER;
    output->temporary = is_direct ? NULL : output->path + length + 1;
    memcpy(output->path, path, length + 1);
    return output;
}

static ulna_status open_target(const ulna_allocator *allocator, const char *path, ulna_output **output,
                               ulna_error *error)
{
    struct stat target;
    int exists = stat(path, &target) == 0;
    int is_direct = exists && !S_ISREG(target.st_mode);
    if (is_direct && S_ISDIR(target.st_mode))
        return fail_io(error, "cannot write the file", EISDIR);
    ulna_output *fresh = make_output(allocator, path, is_direct);
    if (!fresh)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory left to write the file");
    fresh->file = is_direct ? fopen(path, "wb") : open_temporary(path, fresh->temporary, strlen(path) + 16);
    if (!fresh->file) {
        int number = errno;
        ulna_release(allocator, fresh, fresh->bytes, 1);
        return fail_io(error, "cannot write the file", number);
    }
    (void)setvbuf(fresh->file, (char *)(fresh + 1), _IOFBF, OUTPUT_BUFFER);
    if (exists && !is_direct)
        (void)!fchmod(fileno(fresh->file), target.st_mode & 07777); /* the new file is as public as the old one */
    *output = fresh;
    return ULNA_OK;
}

ulna_status ulna_output_open(const char *path, const ulna_allocator *allocator, ulna_output **output, ulna_error *error)
{
    if (output)
        *output = NULL;
    if (!path || !output)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a path and a pointer for the output are needed");
    if (!*path) /* whose temporary file would be a stranger in the current folder */
        return fail_io(error, "cannot write the file", ENOENT);
    ulna_allocator chosen = ulna_allocator_or_default(allocator);

    /* Where a link leads, the new file replaces the old one; the link stays. */
    errno = 0;
    char *real = realpath(path, NULL);
    ulna_status status = !real && errno == ENOMEM ? fail_io(error, "cannot write the file", ENOMEM)
                                                  : open_target(&chosen, real ? real : path, output, error);
    free(real);
    return ulna_fail_file(error, path, status);
}

static void end_output(ulna_output *output)
{
    ulna_allocator allocator = output->allocator;
    ulna_release(&allocator, output, output->bytes, 1);
}

ulna_status ulna_output_commit(ulna_output *output, ulna_status status, ulna_error *error)
{
    if (!output)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no output");
    int failure = output->failure, is_given_up = status != ULNA_OK && status != ULNA_ERR_IO;
    errno = 0;
    if (!failure && fflush(output->file))
        failure = errno ? errno : EIO;
    if (!failure && output->temporary && !is_given_up && fsync(fileno(output->file)))
        failure = errno;
    if (fclose(output->file) && !failure)
        failure = errno ? errno : EIO;
    if (!failure && output->temporary && !is_given_up && rename(output->temporary, output->path))
        failure = errno;
    if ((failure || is_given_up) && output->temporary)
        remove(output->temporary);

    if (!is_given_up)
        status = failure ? fail_io(error, "cannot write the file", failure) : ULNA_OK;
    ulna_fail_file(error, output->path, status);
    end_output(output);
    return status;
}
