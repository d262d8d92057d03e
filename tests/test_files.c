/* Files: loaded and saved whole, errors that name them, and no half-written file, whatever happens. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    assert_int_equal(ulna_sample_create(name, NULL, &model, NULL), ULNA_OK);
    return model;
}

/* The same by what is written of them. */
static void assert_same_model(const ulna_model *a, const ulna_model *b)
{
    ulna_text one = ulna_text_empty(NULL), other = ulna_text_empty(NULL);
    ulna_sink first = ulna_text_sink(&one), second = ulna_text_sink(&other);
    assert_int_equal(ulna_model_write_json(a, &first, NULL), ULNA_OK);
    assert_int_equal(ulna_model_write_json(b, &second, NULL), ULNA_OK);
    assert_string_equal(one.data, other.data);
    ulna_text_release(&one);
    ulna_text_release(&other);
}

static char folder[64];

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/ulna-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* fails if a test left something behind */
}

static int exists(const char *path)
{
    struct stat found;
    return lstat(path, &found) == 0;
}

static void saved_files_are_loaded(void **state)
{
    (void)state;
    char path[128], link[128];
    ulna_error error;
    ulna_model *model = sample("hand"), *again;
    ulna_test_path(path, sizeof path, folder, "hand.json");
    ulna_test_path(link, sizeof link, folder, "link.json");
    assert_int_equal(ulna_model_save(model, path, &error), ULNA_OK);
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(symlink("hand.json", link), 0);

    /* over an old file, through a link: the link stays, and so does who may read */
    assert_int_equal(ulna_model_save(model, link, &error), ULNA_OK);
    struct stat found;
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISLNK(found.st_mode));
    assert_int_equal(stat(path, &found), 0);
    assert_int_equal(found.st_mode & 0777, 0640);

    assert_int_equal(ulna_model_load(link, NULL, &again, &error), ULNA_OK);
    assert_same_model(model, again);
    ulna_model_destroy(again);
    ulna_model_destroy(model);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(unlink(path), 0);
}

static void file_errors_name_the_file(void **state)
{
    (void)state;
    char path[128], inside[160];
    ulna_error error = {.line = 77, .column = 77, .byte = 7}; /* of which nothing is left */
    ulna_model *model = sample("two-link"), *again;
    ulna_test_path(path, sizeof path, folder, "absent.json");
    assert_int_equal(ulna_model_load(path, NULL, &again, &error), ULNA_ERR_IO);
    assert_null(again);
    assert_string_equal(error.path, path);
    assert_true(error.line == 0 && error.column == 0 && error.byte == -1);
    assert_non_null(strstr(error.message, strerror(ENOENT)));
    assert_int_equal(ulna_model_load(folder, NULL, &again, &error), ULNA_ERR_IO);
    assert_non_null(strstr(error.message, strerror(EISDIR)));
    assert_int_equal(ulna_model_save(model, folder, &error), ULNA_ERR_IO);
    assert_string_equal(error.path, folder);
    assert_int_equal(ulna_model_save(model, "", &error), ULNA_ERR_IO);
    assert_int_equal(ulna_model_load("", NULL, &again, &error), ULNA_ERR_IO);

    ulna_test_path(inside, sizeof inside, path, "model.json");
    assert_int_equal(ulna_model_save(model, inside, &error), ULNA_ERR_IO);
    assert_string_equal(error.path, inside);
    assert_int_equal(ulna_model_save(model, "/dev/full", &error), ULNA_ERR_IO);
    assert_non_null(strstr(error.message, strerror(ENOSPC)));
    assert_int_equal(ulna_model_load("/dev/null", NULL, &again, &error), ULNA_ERR_PARSE);
    assert_string_equal(error.path, "/dev/null");

    /* a bad file: path and line */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs("{\n]", file);
    fclose(file);
    assert_int_equal(ulna_model_load(path, NULL, &again, &error), ULNA_ERR_PARSE);
    assert_string_equal(error.path, path);
    assert_int_equal(error.line, 2);

    ulna_text text = ulna_text_empty(NULL);
    assert_int_equal(ulna_file_read(path, 2, &text, &error), ULNA_ERR_LIMIT);
    assert_int_equal(text.length, 0);
    assert_int_equal(ulna_file_read(path, 3, &text, &error), ULNA_OK);
    assert_string_equal(text.data, "{\n]");
    ulna_text_release(&text);
    assert_int_equal(unlink(path), 0);
    ulna_model_destroy(model);
}

/* A link that leads nowhere is replaced by the file. */
static void dangling_links_are_replaced(void **state)
{
    (void)state;
    char link[128], target[128];
    ulna_error error;
    struct stat found;
    ulna_model *model = sample("two-link");
    ulna_test_path(link, sizeof link, folder, "link.json");
    ulna_test_path(target, sizeof target, folder, "absent.json");
    assert_int_equal(symlink("absent.json", link), 0);
    assert_int_equal(ulna_model_save(model, link, &error), ULNA_OK);
    assert_int_equal(lstat(link, &found), 0);
    assert_true(S_ISREG(found.st_mode));
    assert_false(exists(target));
    assert_int_equal(unlink(link), 0);
    ulna_model_destroy(model);
}

/* Loads with an allocator that counts: what is refused is refused before it is in memory. */
static void assert_refused_early(const char *path, ulna_status expected)
{
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_error error;
    ulna_model *model;
    assert_int_equal(ulna_model_load(path, &allocator, &model, &error), expected);
    assert_null(model);
    assert_string_equal(error.path, path);
    assert_true(memory.peak_bytes < 1 << 20);
    ulna_test_memory_check(&memory);
}

static void huge_files_are_not_read(void **state)
{
    (void)state;
    char path[128];
    ulna_test_path(path, sizeof path, folder, "huge.json");
    assert_refused_early("/dev/zero", ULNA_ERR_PARSE); /* endless, and no model */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)3 << 30), 0);
    assert_refused_early(path, ULNA_ERR_PARSE);
    fprintf(file, "{%*s", (int)ULNA_SNIFF_BYTES, ""); /* looks like a model */
    assert_int_equal(fflush(file), 0);
    assert_refused_early(path, ULNA_ERR_LIMIT);
    ulna_text text = ulna_text_empty(NULL);
    assert_int_equal(ulna_file_read(path, 1 << 20, &text, NULL), ULNA_ERR_LIMIT);
    assert_int_equal(text.length, 0);
    fclose(file);
    ulna_text_release(&text);
    assert_int_equal(unlink(path), 0);
}

/* A stream is read from where it stands, whole if its format is known. */
static void streams_are_read(void **state)
{
    (void)state;
    ulna_error error;
    ulna_format format;
    ulna_text text = ulna_text_empty(NULL);
    FILE *file = tmpfile();
    assert_non_null(file);
    fprintf(file, "skip{%*s}", (int)(3 * ULNA_SNIFF_BYTES), "");
    assert_int_equal(fseek(file, 4, SEEK_SET), 0);
    assert_int_equal(ulna_stream_read_known(file, &text, &format, &error), ULNA_OK);
    assert_int_equal(format, ULNA_FORMAT_MODEL_JSON);
    assert_int_equal(text.length, 3 * ULNA_SNIFF_BYTES + 2);
    assert_int_equal(text.data[text.length - 1], '}');

    text.length = 0;
    assert_int_equal(fseek(file, 0, SEEK_SET), 0);
    assert_int_equal(ulna_stream_read_known(file, &text, &format, NULL), ULNA_OK);
    assert_int_equal(format, ULNA_FORMAT_UNKNOWN);
    assert_int_equal(text.length, ULNA_SNIFF_BYTES);
    assert_int_equal(ulna_stream_read_known(NULL, &text, &format, &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_file_read_known(NULL, &text, &format, &error), ULNA_ERR_ARGUMENT);
    fclose(file);
    ulna_text_release(&text);
}

/* The disk fills up half-way: the old file stays as it was, and nothing else is left. */
static void torn_files_are_never_seen(void **state)
{
    (void)state;
    char path[128];
    ulna_error error;
    ulna_model *small = sample("two-link"), *large = sample("human"), *again;
    ulna_test_path(path, sizeof path, folder, "model.json");
    assert_int_equal(ulna_model_save(small, path, &error), ULNA_OK);

    struct rlimit before, tight;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    tight = before;
    tight.rlim_cur = 1000;
    void (*old_handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
    ulna_status status = ulna_model_save(large, path, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, old_handler);

    assert_int_equal(status, ULNA_ERR_IO);
    assert_string_equal(error.path, path);
    assert_int_equal(ulna_model_load(path, NULL, &again, &error), ULNA_OK);
    assert_same_model(small, again);
    ulna_model_destroy(again);

    /* an output that is given up leaves no trace either */
    ulna_output *output;
    assert_int_equal(ulna_output_open(path, NULL, &output, &error), ULNA_OK);
    ulna_sink sink = ulna_output_sink(output);
    assert_int_equal(sink.write(sink.context, "half", 4), ULNA_OK);
    ulna_output_discard(output);
    ulna_output_discard(NULL);
    assert_int_equal(ulna_model_load(path, NULL, &again, &error), ULNA_OK);
    ulna_model_destroy(again);
    assert_int_equal(unlink(path), 0);
    assert_false(exists(path)); /* the folder's removal shows that nothing else is there */
    ulna_model_destroy(small);
    ulna_model_destroy(large);
}

static void two_writers_do_not_meet(void **state)
{
    (void)state;
    char path[128];
    ulna_error error;
    ulna_output *first, *second;
    ulna_text text = ulna_text_empty(NULL);
    ulna_test_path(path, sizeof path, folder, "both.txt");
    assert_int_equal(ulna_output_open(path, NULL, &first, &error), ULNA_OK);
    assert_int_equal(ulna_output_open(path, NULL, &second, &error), ULNA_OK);
    ulna_sink one = ulna_output_sink(first), two = ulna_output_sink(second);
    assert_int_equal(one.write(one.context, "first", 5), ULNA_OK);
    assert_int_equal(two.write(two.context, "second", 6), ULNA_OK);
    assert_int_equal(ulna_output_commit(second, &error), ULNA_OK);
    assert_int_equal(ulna_output_commit(first, &error), ULNA_OK);
    assert_int_equal(ulna_file_read(path, 100, &text, &error), ULNA_OK);
    assert_string_equal(text.data, "first");
    ulna_text_release(&text);
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(saved_files_are_loaded, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(file_errors_name_the_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(dangling_links_are_replaced, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(huge_files_are_not_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(streams_are_read, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(torn_files_are_never_seen, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(two_writers_do_not_meet, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
