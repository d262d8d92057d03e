/* The model file: what is written is read back, what people write is read, and memory may fail. */
#include <jansson.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"
#include "formats/text/text_writer.h"
#include "math/math3.h"
#include "model/model.h"
#include "support.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

#define HEAD "{\"format\": \"ulna-model\", \"version\": 1,\n"

/* ---- helpers ------------------------------------------------------------------------------------------ */

static ulna_text written(const ulna_model *model)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_error error;
    assert_int_equal(ulna_model_write_json(model, &sink, &error), ULNA_OK);
    return text;
}

static ulna_model *read_ok(const char *text, size_t length)
{
    ulna_error error = {.status = ULNA_ERR_STATE, .line = 77};
    ulna_model *model;
    if (ulna_model_read_json(text, length, NULL, &model, &error))
        fail_msg("%d:%d: %s\n%s", error.line, error.column, error.message, text);
    assert_true(error.status == ULNA_ERR_STATE && error.line == 77); /* as it was */
    return model;
}

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    assert_int_equal(ulna_sample_create(name, NULL, &model, NULL), ULNA_OK);
    return model;
}

static void assert_same_text(const ulna_text *a, const ulna_text *b)
{
    assert_string_equal(a->data, b->data);
    assert_int_equal(a->length, b->length);
}

static void assert_round_trip(const ulna_model *model)
{
    ulna_text once = written(model);
    ulna_model *again = read_ok(once.data, once.length);
    ulna_text twice = written(again);
    assert_same_text(&once, &twice);
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_model_destroy(again);
}

/* ---- round trips -------------------------------------------------------------------------------------- */

static void samples_round_trip(void **state)
{
    (void)state;
    for (int i = 0; ulna_sample_name(i); i++) {
        ulna_model *model = sample(ulna_sample_name(i));
        assert_round_trip(model);
        ulna_model_destroy(model);
    }
}

/* Where no such locale is installed, one can often be compiled. */
static int compile_locales(const char *folder)
{
    char command[400];
    snprintf(command, sizeof command,
             "for name in de_DE ps_AF; do localedef -i $name -f UTF-8 %s/$name.UTF-8; done >%s/log 2>&1", folder,
             folder);
    return system(command) != -1 && setenv("LOCPATH", folder, 1) == 0;
}

static void decimal_commas_do_not_matter(void **state)
{
    (void)state;
    char folder[] = "/tmp/ulna-test-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    if (!setlocale(LC_ALL, "de_DE.UTF-8"))
        compile_locales(folder);
    static const char *const locales[] = {"de_DE.UTF-8", "ps_AF.UTF-8"}; /* the last one has two bytes */
    ulna_model *model = sample("human");
    ulna_text plain = written(model);
    int tried = 0;
    for (size_t i = 0; i < sizeof locales / sizeof *locales; i++) {
        if (!setlocale(LC_ALL, locales[i]))
            continue;
        assert_string_not_equal(localeconv()->decimal_point, ".");
        tried++;
        ulna_text text = written(model);
        assert_same_text(&plain, &text);
        assert_round_trip(model);
        ulna_text_release(&text);
    }
    setlocale(LC_ALL, "C");
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    ulna_text_release(&plain);
    ulna_model_destroy(model);
    if (!tried) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
}

static void random_rotation(ulna_test_rng *rng, double rotation[9])
{
    double w[3];
    ulna_test_rng_fill(rng, w, 3, -3, 3);
    ulna_exp(w, rotation);
}

static ulna_joint random_joint(ulna_test_rng *rng, ulna_joint_type type)
{
    static const char *const letters[] = {"X", "ZY", "XYZ", "ZXZ"};
    static const char *const steps[] = {"Tx", "RzTy", "TxRyTzRx", "TxTyTzRzRyRx"};
    double axis[3], center[3];
    ulna_test_rng_fill(rng, axis, 3, -2, 2);
    ulna_test_rng_fill(rng, center, 3, -2, 2);
    ulna_joint joint = ulna_joint_swing_twist(axis, ulna_test_rng_index(rng, 3) ? center : NULL);
    joint.type = type;
    const char *order = type == ULNA_JOINT_SEQUENCE     ? steps[ulna_test_rng_index(rng, 4)]
                        : type == ULNA_JOINT_FREE_EULER ? "YXZ"
                                                        : letters[ulna_test_rng_index(rng, 4)];
    memcpy(joint.order, order, strlen(order) + 1);
    joint.reversed = ulna_test_rng_index(rng, 3) == 0;
    if (ulna_test_rng_index(rng, 2))
        random_rotation(rng, joint.frame);
    return joint;
}

static void random_body(ulna_test_rng *rng, ulna_builder *builder, int index)
{
    char name[32];
    double position[3], rotation[9];
    int body;
    snprintf(name, sizeof name, "body \"%d\" \\ \xC3\xA9\t", index);
    ulna_joint joint = random_joint(rng, (ulna_joint_type)(index % ULNA_JOINT_TYPE_COUNT));
    int parent = index ? ulna_test_rng_index(rng, index) : ULNA_NONE;
    assert_int_equal(ulna_builder_add_body(builder, name, parent, &body, NULL), ULNA_OK);
    ulna_test_rng_fill(rng, position, 3, -1, 1);
    random_rotation(rng, rotation);
    assert_int_equal(ulna_builder_set_placement(builder, body, position, rotation, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_offset(builder, body, position, index % 2 ? rotation : NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_joint(builder, body, &joint, NULL), ULNA_OK);

    int dofs = ulna_joint_dof_count(&joint, NULL), coordinates = ulna_joint_coordinate_count(&joint, NULL);
    double rest[7];
    ulna_test_rng_fill(rng, rest, 7, -1, 1);
    assert_int_equal(ulna_builder_set_rest(builder, body, rest, coordinates, NULL), ULNA_OK);
    for (int k = 0; k < dofs; k++) {
        int kind = ulna_test_rng_index(rng, 4); /* those of a quaternion are refused, which is fine */
        ulna_builder_set_limits(builder, body, k, kind & 1 ? -1.1 : -INFINITY, kind & 2 ? 1.1 : INFINITY, NULL);
        assert_int_equal(
            ulna_builder_set_strength(builder, body, k, index % 3 ? 1 : ulna_test_rng_uniform(rng, 0, 1), NULL),
            ULNA_OK);
    }
    ulna_mass mass = {.mass = ulna_test_rng_uniform(rng, 0, 3)};
    ulna_test_rng_fill(rng, mass.center, 3, -1, 1);
    ulna_test_rng_fill(rng, mass.inertia, 6, -1, 1);
    if (index % 4)
        assert_int_equal(ulna_builder_set_mass(builder, body, &mass, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_add_marker(builder, name, body, position, index % 2, NULL, NULL), ULNA_OK);
}

static void assert_same_numbers(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++)
        assert_true(a[i] == b[i]); /* the same bits, up to the sign of zero */
}

static void assert_same_model(const ulna_model *a, const ulna_model *b)
{
    double one[12], other[12];
    assert_string_equal(ulna_model_name(a), ulna_model_name(b));
    assert_int_equal(ulna_model_body_count(a), ulna_model_body_count(b));
    assert_int_equal(ulna_model_dof_count(a), ulna_model_dof_count(b));
    assert_int_equal(ulna_model_coordinate_count(a), ulna_model_coordinate_count(b));
    assert_int_equal(ulna_model_marker_count(a), ulna_model_marker_count(b));
    for (int i = 0; i < ulna_model_body_count(a); i++) {
        const ulna_joint *p = ulna_model_body_joint(a, i), *q = ulna_model_body_joint(b, i);
        assert_string_equal(ulna_model_body_name(a, i), ulna_model_body_name(b, i));
        assert_int_equal(ulna_model_body_parent(a, i), ulna_model_body_parent(b, i));
        assert_int_equal(p->type, q->type);
        if (p->type != ULNA_JOINT_FIXED) { /* which has nothing to turn or reverse */
            assert_int_equal(p->reversed, q->reversed);
            assert_same_numbers(p->frame, q->frame, 9);
        }
        assert_same_numbers(p->axis, q->axis, 3);
        assert_same_numbers(p->center, q->center, 3);
        assert_string_equal(p->order, q->order);
        ulna_model_body_placement(a, i, one, one + 3);
        ulna_model_body_placement(b, i, other, other + 3);
        assert_same_numbers(one, other, 12);
        ulna_model_body_offset(a, i, one, one + 3);
        ulna_model_body_offset(b, i, other, other + 3);
        assert_same_numbers(one, other, 12);
        assert_memory_equal(ulna_model_body_mass(a, i), ulna_model_body_mass(b, i), sizeof(ulna_mass));
    }
    assert_same_numbers(ulna_model_lower(a), ulna_model_lower(b), ulna_model_dof_count(a));
    assert_same_numbers(ulna_model_upper(a), ulna_model_upper(b), ulna_model_dof_count(a));
    assert_same_numbers(ulna_model_strength(a), ulna_model_strength(b), ulna_model_dof_count(a));
    assert_same_numbers(ulna_model_rest(a), ulna_model_rest(b), ulna_model_coordinate_count(a));
    for (int i = 0; i < ulna_model_marker_count(a); i++) {
        assert_string_equal(ulna_model_marker_name(a, i), ulna_model_marker_name(b, i));
        assert_int_equal(ulna_model_marker_body(a, i), ulna_model_marker_body(b, i));
        assert_true(ulna_model_marker_weight(a, i) == ulna_model_marker_weight(b, i));
        ulna_model_marker_position(a, i, one);
        ulna_model_marker_position(b, i, other);
        assert_same_numbers(one, other, 3);
    }
}

static void random_models_round_trip(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        ulna_test_rng rng = ulna_test_rng_seed(seed);
        ulna_builder *builder;
        ulna_model *model;
        ulna_error error;
        assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
        assert_int_equal(ulna_builder_set_name(builder, "random \xE2\x9C\x93", NULL), ULNA_OK);
        for (int i = 0; i < 3 * ULNA_JOINT_TYPE_COUNT; i++)
            random_body(&rng, builder, i);
        if (ulna_builder_build(builder, NULL, &model, &error))
            fail_msg("seed %d: %s", (int)seed, error.message);

        ulna_text text = written(model);
        ulna_model *again = read_ok(text.data, text.length);
        assert_same_model(model, again);
        assert_round_trip(again);
        ulna_text_release(&text);
        ulna_model_destroy(again);
        ulna_model_destroy(model);
        ulna_builder_destroy(builder);
    }
}

static void numbers_are_short_and_exact(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } known[] = {
        {0, "0"},
        {-0.0, "-0"},
        {1, "1"},
        {-2.5, "-2.5"},
        {0.1, "0.1"},
        {1e22, "1e+22"},
        {1e-7, "1e-07"},
        {1 / 3., "0.3333333333333333"},
        {5e-324, "4.94065645841247e-324"},
    };
    char text[ULNA_NUMBER_SIZE];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_int_equal(ulna_format_number(known[i].value, text), strlen(known[i].text));
        assert_string_equal(text, known[i].text);
    }
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int i = 0; i < 20000; i++) {
        uint64_t bits = ulna_test_rng_next(&rng);
        double value, back;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value))
            continue;
        ulna_format_number(value, text);
        back = strtod(text, NULL);
        assert_memory_equal(&value, &back, sizeof value);
    }
}

/* ---- what may be written by hand ---------------------------------------------------------------------- */

static void loose_files_are_read(void **state)
{
    (void)state;
    static const char text[] =
        "\xEF\xBB\xBF" HEAD
        "\"_comment\": \"children first, comments, free keys, escapes\", \"x-tool\": {\"a\": [1]},\n"
        "\"\\u006eame\": \"\\u00e9\",\n"
        "\"bodies\": [{\"name\": \"b\", \"parent\": \"a\",\n"
        "   \"placement\": {\"rotation\": [0, 0, 2, 2]},\n"
        "   \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 4]}, \"limits\": [[null, 2]]},\n"
        " {\"name\": \"a\"}],\n"
        "\"markers\": [{\"name\": \"m\", \"body\": \"b\"}]}";
    ulna_model *model = read_ok(text, sizeof text - 1);
    double rotation[9], turned[9], position[3];
    ulna_rotation_about(2, ULNA_PI / 2, turned);
    assert_string_equal(ulna_model_name(model), "\xC3\xA9");
    assert_string_equal(ulna_model_body_name(model, 0), "a");
    assert_int_equal(ulna_model_body_parent(model, 1), 0);
    ulna_model_body_placement(model, 1, position, rotation);
    for (int i = 0; i < 9; i++)
        assert_true(fabs(rotation[i] - turned[i]) < 1e-15);
    assert_true(ulna_model_body_joint(model, 1)->axis[2] == 1);
    assert_true(ulna_model_lower(model)[0] == -INFINITY && ulna_model_upper(model)[0] == 2);
    assert_true(ulna_model_marker_weight(model, 0) == 1);
    assert_round_trip(model);
    ulna_model_destroy(model);
}

/* The documentation's example is read, word for word. */
static void documented_example_is_read(void **state)
{
    (void)state;
    size_t size;
    char *page = ulna_test_read_file(ULNA_SOURCE_DIR "/docs/model-file.md", &size);
    const char *start = strstr(page, "```json\n");
    assert_non_null(start);
    start += strlen("```json\n");
    const char *end = strstr(start, "```");
    assert_non_null(end);
    ulna_model *model = read_ok(start, (size_t)(end - start));
    assert_int_equal(ulna_model_body_count(model), 4);
    assert_int_equal(ulna_model_dof_count(model), 13);
    assert_int_equal(ulna_model_marker_count(model), 3);
    ulna_model_destroy(model);

    /* and so is the mistake that it tells of */
    static const char good[] = "[[0, 2.5]]", bad[] = "[[2.5, 0]]";
    ulna_error error;
    char told[300], *limits = strstr(page, good);
    assert_true(limits && limits < end);
    memcpy(limits, bad, strlen(bad));
    assert_int_equal(ulna_model_read_json(start, (size_t)(end - start), NULL, &model, &error), ULNA_ERR_MODEL);
    snprintf(told, sizeof told, "`leg.json:%d: %s`", error.line, error.message);
    assert_non_null(strstr(page, told));

    /* and no joint type or key is missing on the page */
    for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++) {
        char quoted[40];
        snprintf(quoted, sizeof quoted, "| `%s` |", ulna_joint_type_name((ulna_joint_type)type));
        assert_non_null(strstr(page, quoted));
    }
    free(page);
}

/* ---- memory ------------------------------------------------------------------------------------------- */

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    ulna_model *model = sample("all-joints"), *again;
    ulna_text text = written(model);
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_error error;
        ulna_status status = ulna_model_read_json(text.data, text.length, &allocator, &again, &error);
        if (status == ULNA_OK)
            ulna_model_destroy(again);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
        assert_null(again);
        assert_int_equal(error.status, ULNA_ERR_MEMORY);
    }
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_text copy = ulna_text_empty(&allocator);
        ulna_sink sink = ulna_text_sink(&copy);
        ulna_status status = ulna_model_write_json(model, &sink, NULL);
        ulna_text_release(&copy);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
    ulna_text_release(&text);
    ulna_model_destroy(model);
}

/* jansson's own memory: its hooks are global, which a test program may use. */
static long jansson_left, jansson_live;

static void *jansson_allocate(size_t bytes)
{
    if (jansson_left-- <= 0)
        return NULL;
    jansson_live++;
    return malloc(bytes);
}

static void jansson_release(void *memory)
{
    jansson_live -= memory != NULL;
    free(memory);
}

static void failing_parser_memory_is_survived(void **state)
{
    (void)state;
    ulna_model *model = sample("two-link"), *again; /* without words of more than 15 bytes: see json_reader.c */
    ulna_text text = written(model);
    json_malloc_t old_malloc;
    json_free_t old_free;
    json_get_alloc_funcs(&old_malloc, &old_free);
    json_set_alloc_funcs(jansson_allocate, jansson_release);
    ulna_status status = ULNA_ERR_MEMORY;
    for (long limit = 0; status; limit++) {
        ulna_error error;
        jansson_left = limit;
        jansson_live = 0;
        status = ulna_model_read_json(text.data, text.length, NULL, &again, &error);
        assert_int_equal(jansson_live, 0);
        assert_true(!status || status == ULNA_ERR_MEMORY);
    }
    json_set_alloc_funcs(old_malloc, old_free);
    ulna_model_destroy(again);
    ulna_text_release(&text);
    ulna_model_destroy(model);
}

static void memory_grows_with_the_file(void **state)
{
    (void)state;
    ulna_text text = ulna_text_empty(NULL);
    char line[80];
    assert_int_equal(ulna_text_append(&text, HEAD "\"bodies\":[{\"name\":\"r\"}", strlen(HEAD) + 22), ULNA_OK);
    for (int i = 0; i < 20000; i++) {
        int length = snprintf(line, sizeof line, ",{\"name\":\"%d\",\"parent\":\"r\"}", i);
        assert_int_equal(ulna_text_append(&text, line, (size_t)length), ULNA_OK);
    }
    assert_int_equal(ulna_text_append(&text, "]}", 2), ULNA_OK);
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_model *model;
    assert_int_equal(ulna_model_read_json(text.data, text.length, &allocator, &model, NULL), ULNA_OK);
    assert_true(memory.peak_bytes < 400 * text.length);
    ulna_model_destroy(model);
    ulna_test_memory_check(&memory);
    ulna_text_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_round_trip),
        cmocka_unit_test(decimal_commas_do_not_matter),
        cmocka_unit_test(random_models_round_trip),
        cmocka_unit_test(numbers_are_short_and_exact),
        cmocka_unit_test(loose_files_are_read),
        cmocka_unit_test(documented_example_is_read),
        cmocka_unit_test(failing_allocations_are_survived),
        cmocka_unit_test(failing_parser_memory_is_survived),
        cmocka_unit_test(memory_grows_with_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
