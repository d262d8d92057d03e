/* Files: loaded and saved whole, errors that name them, and no half-written file, whatever happens. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/format.h"
#include "support_model.h"
#include "ulna/mocap.h"
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
    assert_refused_early("/dev/zero", ULNA_ERR_FORMAT); /* endless, and no model */
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(ftruncate(fileno(file), (off_t)3 << 30), 0);
    assert_refused_early(path, ULNA_ERR_FORMAT);
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
    assert_int_equal(ulna_output_commit(output, ULNA_ERR_MEMORY, NULL), ULNA_ERR_MEMORY);
    assert_int_equal(ulna_output_commit(NULL, ULNA_OK, NULL), ULNA_ERR_ARGUMENT);
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
    assert_int_equal(ulna_output_commit(second, ULNA_OK, &error), ULNA_OK);
    assert_int_equal(ulna_output_commit(first, ULNA_OK, &error), ULNA_OK);
    assert_int_equal(ulna_file_read(path, 100, &text, &error), ULNA_OK);
    assert_string_equal(text.data, "first");
    ulna_text_release(&text);
    assert_int_equal(unlink(path), 0);
}

/* What formats hold, and files of any kind by their names. */
static void contents_are_saved_by_name(void **state)
{
    (void)state;
    char path[128];
    ulna_error error;
    ulna_model *human = sample("human");
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, ulna_model_coordinate_count(human), 2), ULNA_OK);
    for (int f = 0; f < 2; f++)
        memcpy(ulna_clip_frame(&clip, f), ulna_model_rest(human), (size_t)clip.coordinate_count * sizeof *clip.q);
    for (int i = 1; i < ULNA_FORMAT_COUNT; i++) {
        static const char *const endings[] = {"",    "json", "asf", "amc",  "bvh", "c3d",
                                              "trc", "mot",  "csv", "gltf", "glb", "urdf"};
        ulna_format format = (ulna_format)i;
        const ulna_content no_file = ulna_content_empty(NULL);
        ulna_write_options options = ulna_write_options_for(&no_file, format);
        snprintf(path, sizeof path, "%s/x.%s", folder, endings[i]);
        ulna_status status = ulna_content_save(path, human, &clip, NULL, &options, NULL, &error);
        unsigned held = ulna_format_writes(format) & (ULNA_HOLDS_SKELETON | ULNA_HOLDS_MOTION);
        assert_int_equal(status, held ? ULNA_OK : ULNA_ERR_UNSUPPORTED);
        assert_int_equal(exists(path), held != 0);
        if (!held) {
            assert_string_equal(error.path, path);
            continue;
        }
        ulna_content content = ulna_content_empty(NULL);
        ulna_read_options reading = ulna_read_options_default();
        reading.model = human;
        assert_int_equal(ulna_content_load(path, &reading, &content, &error), ULNA_OK);
        assert_int_equal(remove(path), 0);
        assert_int_equal(content.format, format);
        assert_int_equal(content.clip.frame_count, held & ULNA_HOLDS_MOTION ? 2 : 0);
        assert_int_equal(content.model != NULL, (held & ULNA_HOLDS_SKELETON) != 0);
        ulna_content_release(&content);
    }
    assert_int_equal(ulna_format_reads(ULNA_FORMAT_C3D), ULNA_HOLDS_MARKERS);
    assert_int_equal(ulna_format_reads(ULNA_FORMAT_MOT), ULNA_HOLDS_MOTION | ULNA_HOLDS_MARKERS);
    assert_int_equal(ulna_format_writes(ULNA_FORMAT_MOT), ULNA_HOLDS_MOTION);
    assert_int_equal(ulna_format_reads(ULNA_FORMAT_UNKNOWN) | ulna_format_writes((ulna_format)99), 0);

    snprintf(path, sizeof path, "%s/x.unheard", folder);
    assert_int_equal(ulna_content_save(path, human, &clip, NULL, NULL, NULL, &error), ULNA_ERR_FORMAT);
    assert_false(exists(path));
    assert_int_equal(ulna_content_save(NULL, human, &clip, NULL, NULL, NULL, &error), ULNA_ERR_ARGUMENT);
    FILE *file = fopen(path, "w");
    assert_true(file && fputs("just words\n", file) >= 0 && fclose(file) == 0);
    ulna_content content = ulna_content_empty(NULL);
    assert_int_equal(ulna_content_load(path, NULL, &content, &error), ULNA_ERR_FORMAT);
    assert_non_null(strstr(error.message, "glTF (binary)"));
    ulna_model *model;
    assert_int_equal(ulna_model_load(path, NULL, &model, &error), ULNA_ERR_FORMAT);
    assert_int_equal(remove(path), 0);
    ulna_clip_release(&clip);
    ulna_model_destroy(human);
}

static void marker_sets_are_saved_and_loaded(void **state)
{
    (void)state;
    char path[128];
    ulna_error error;
    ulna_model *human = sample("human");
    ulna_marker_set set = ulna_marker_set_empty(NULL), back = set;
    assert_int_equal(ulna_marker_set_from_model(&set, human), ULNA_OK);
    snprintf(path, sizeof path, "%s/set.csv", folder);
    assert_int_equal(ulna_marker_set_load(path, human, &back, &error), ULNA_ERR_IO);
    assert_string_equal(error.path, path);
    assert_int_equal(ulna_marker_set_save(&set, human, path, &error), ULNA_OK);
    assert_int_equal(ulna_marker_set_load(path, human, &back, &error), ULNA_OK);
    assert_int_equal(back.count, set.count);
    assert_memory_equal(back.items, set.items, set.count * sizeof *set.items);
    ulna_marker_set_release(&back);
    ulna_model_destroy(human);
    human = sample("arm");
    assert_int_equal(ulna_marker_set_load(path, human, &back, &error), ULNA_ERR_PARSE);
    assert_true(error.line == 2 && strcmp(error.path, path) == 0);
    assert_int_equal(remove(path), 0);
    assert_int_equal(ulna_marker_set_save(NULL, human, path, &error), ULNA_ERR_ARGUMENT);
    assert_false(exists(path));
    ulna_marker_set_release(&set);
    ulna_model_destroy(human);
}

/* What makes no sense is not taken for the default. */
static void options_out_of_range_are_refused(void **state)
{
    (void)state;
    const char *bvh = "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 0\nJOINT b\n{\nOFFSET 1 2 3\n"
                      "CHANNELS 1 Zrotation\n}\n}\n";
    const double units[] = {NAN, -1, INFINITY, -INFINITY, -0.001, 1e-320, 9e-10, 1.1e9};
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options reading = ulna_read_options_default();
    ulna_model *model = sample("arm");
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        ulna_write_options writing = ulna_write_options_default();
        reading = ulna_read_options_default();
        reading.unit_m = writing.unit_m = units[i];
        assert_says(ulna_content_read(bvh, strlen(bvh), ULNA_FORMAT_UNKNOWN, &reading, &content, &error),
                    ULNA_ERR_ARGUMENT, "unit_m");
        assert_says(ulna_content_write(ULNA_FORMAT_BVH, model, NULL, NULL, &writing, &sink, NULL, &error),
                    ULNA_ERR_ARGUMENT, "unit_m");
        reading.unit_m = 0;
        reading.skeleton_unit_m = units[i];
        assert_says(ulna_content_read(bvh, strlen(bvh), ULNA_FORMAT_UNKNOWN, &reading, &content, &error),
                    ULNA_ERR_ARGUMENT, "skeleton_unit_m");
    }
    reading = ulna_read_options_default();
    reading.ball = (ulna_ball)9;
    assert_says(ulna_content_read(bvh, strlen(bvh), ULNA_FORMAT_UNKNOWN, &reading, &content, &error), ULNA_ERR_ARGUMENT,
                "ball");
    static const struct {
        int degrees, digits;
        char up;
        const char *said;
    } wrong[] = {
        {2, 0, 0, "degrees"}, {-2, 0, 0, "degrees"}, {-1, -1, 0, "digits"}, {-1, 18, 0, "digits"}, {-1, 0, 'w', "up"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ulna_write_options writing = {.degrees = wrong[i].degrees, .digits = wrong[i].digits, .up = wrong[i].up};
        assert_says(ulna_content_write(ULNA_FORMAT_BVH, model, NULL, NULL, &writing, &sink, NULL, &error),
                    ULNA_ERR_ARGUMENT, wrong[i].said);
    }
    assert_true(text.length == 0 && content.model == NULL);
    ulna_model_destroy(model);
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
        cmocka_unit_test_setup_teardown(contents_are_saved_by_name, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(marker_sets_are_saved_and_loaded, make_folder, remove_folder),
        cmocka_unit_test(options_out_of_range_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
