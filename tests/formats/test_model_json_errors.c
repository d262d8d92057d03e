/* The model file: every mistake is reported with its line and column, and early ends are survived. */
#include <string.h>

#include "formats/format.h"
#include "formats/json/json_reader.h"
#include "support.h"
#include "ulna/formats.h"
#include "ulna/sample.h"

#define HEAD "{\"format\": \"ulna-model\", \"version\": 1,\n"

typedef struct mistake {
    const char *text;
    ulna_status status;
    int line, column;
    const char *message; /* a part of it */
} mistake;

/* A body on line 3, alone. */
#define BODY(members) HEAD "\"bodies\": [\n  {\"name\": \"hand\", " members "}]}"
#define HINGE "\"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}"

static const mistake mistakes[] = {
    /* syntax */
    {"", ULNA_ERR_PARSE, 0, 0, "empty"},
    {"\xEF\xBB\xBF", ULNA_ERR_PARSE, 0, 0, "empty"},
    {"{\n \"format\": ", ULNA_ERR_PARSE, 2, 0, "ends too early"},
    {"{\n \"format\" 1}", ULNA_ERR_PARSE, 2, 0, "not valid JSON"},
    {"nothing", ULNA_ERR_PARSE, 1, 0, "not valid JSON"},
    {"{}\n x", ULNA_ERR_PARSE, 2, 0, "end of file expected"},
    {HEAD "\"name\": \"a\",\n\"name\": \"b\"}", ULNA_ERR_PARSE, 3, 0, "duplicate"},
    {HEAD "\"name\": \"\xFF\"}", ULNA_ERR_PARSE, 2, 0, "0xff"},
    {HEAD "\"name\": \"\\u0000\"}", ULNA_ERR_PARSE, 2, 0, "\\u0000"},
    {HEAD "\"bodies\": NaN}", ULNA_ERR_PARSE, 2, 0, "not valid JSON"},
    {BODY("\"mass\": 1e400"), ULNA_ERR_NUMBER, 3, 0, "too large"},

    /* the whole */
    {"[]", ULNA_ERR_PARSE, 1, 1, "not an Ulna model"},
    {"\n{\"asset\": {}}", ULNA_ERR_PARSE, 2, 1, "not an Ulna model"},
    {"{\"format\": \"glTF\"}", ULNA_ERR_PARSE, 1, 2, "\"glTF\""},
    {"{\"format\": \"ulna-model\"}", ULNA_ERR_PARSE, 1, 1, "\"version\" is missing"},
    {"{\"format\": \"ulna-model\", \"version\": 2}", ULNA_ERR_UNSUPPORTED, 1, 26, "version 2"},
    {HEAD "\"body\": []}", ULNA_ERR_PARSE, 2, 1, "unknown key \"body\""},
    {HEAD "\"units\": {\"length\": \"cm\"}}", ULNA_ERR_PARSE, 2, 11, "\"cm\""},
    {HEAD "\"name\": 1}", ULNA_ERR_PARSE, 2, 1, "name: should be a text in quotes, not a number"},
    {HEAD "\"x-a\": 1}", ULNA_ERR_PARSE, 1, 1, "\"bodies\" is missing"},
    {HEAD "\"bodies\": []}", ULNA_ERR_MODEL, 2, 1, "at least one body"},
    {HEAD "\"bodies\": {}}", ULNA_ERR_PARSE, 2, 1, "a list of bodies, not an object"},

    /* bodies */
    {HEAD "\"bodies\": [\n 7]}", ULNA_ERR_PARSE, 3, 2, "bodies[0]: should be an object, not a number"},
    {HEAD "\"bodies\": [\n {}]}", ULNA_ERR_PARSE, 3, 2, "\"name\" is missing"},
    {HEAD "\"bodies\": [\n {\"name\": \"\"}]}", ULNA_ERR_ARGUMENT, 3, 2, "needs a name"},
    {BODY("\"limts\": []"), ULNA_ERR_PARSE, 3, 20, "body \"hand\": unknown key \"limts\""},
    {BODY("\"parent\": \"arm\""), ULNA_ERR_MODEL, 3, 20, "there is no body \"arm\""},
    {BODY("\"parent\": \"hand\""), ULNA_ERR_MODEL, 3, 20, "its own parent"},
    {HEAD "\"bodies\": [{\"name\": \"a\"},\n{\"name\": \"a\"}]}", ULNA_ERR_MODEL, 3, 1,
     "line 2 already has a body of this name"},
    {HEAD "\"bodies\": [{\"name\": \"a\"},\n{\"name\": \"b\"}]}", ULNA_ERR_MODEL, 3, 1, "the root is \"a\" in line 2"},
    {HEAD
     "\"bodies\": [{\"name\": \"a\"},\n{\"name\": \"b\", \"parent\": \"c\"},\n{\"name\": \"c\", \"parent\": \"b\"}]}",
     ULNA_ERR_MODEL, 3, 1, "body \"b\": is its own ancestor"},
    {BODY("\"placement\": {\"positon\": []}"), ULNA_ERR_PARSE, 3, 34, "unknown key \"positon\""},
    {BODY("\"placement\": {\"position\": [1, 2]}"), ULNA_ERR_PARSE, 3, 34, "should have 3 numbers, not 2"},
    {BODY("\"placement\": {\"position\": [1,\n \"2\", 3]}"), ULNA_ERR_PARSE, 4, 2, "position[1]: should be a number"},
    {BODY("\"placement\": {\"rotation\": [1]}"), ULNA_ERR_PARSE, 3, 34, "3 rows of 3 numbers or a quaternion"},
    {BODY("\"offset\": {\"rotation\": [0, 0, 0, 0]}"), ULNA_ERR_MODEL, 3, 31, "the quaternion is zero"},
    {BODY("\"offset\": {\"rotation\": [[1, 0, 0], [0, 1, 0], [0, 0, -1]]}"), ULNA_ERR_MODEL, 3, 20, "not a rotation"},

    /* joints */
    {BODY("\"joint\": \"ball\""), ULNA_ERR_PARSE, 3, 20, "should be an object, not a text"},
    {BODY("\"joint\": {}"), ULNA_ERR_PARSE, 3, 20, "\"type\" is missing"},
    {BODY("\"joint\": {\"type\": \"hinge\"}"), ULNA_ERR_PARSE, 3, 30, "unknown joint type \"hinge\""},
    {BODY("\"joint\": {\"type\": \"revolute\"}"), ULNA_ERR_PARSE, 3, 20, "\"axis\" is missing"},
    {BODY("\"joint\": {\"type\": \"ball\", \"axis\": [1, 0, 0]}"), ULNA_ERR_PARSE, 3, 46,
     "type \"ball\" has no such key"},
    {BODY("\"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 0]}"), ULNA_ERR_MODEL, 3, 20, "zero length"},
    {BODY("\"joint\": {\"type\": \"euler\", \"order\": \"XXY\"}"), ULNA_ERR_MODEL, 3, 20, "same axis"},
    {BODY("\"joint\": {\"type\": \"euler\", \"order\": \"xyz\"}"), ULNA_ERR_MODEL, 3, 20, "capital letters"},
    {BODY("\"joint\": {\"type\": \"sequence\", \"order\": \"txrz\"}"), ULNA_ERR_MODEL, 3, 20, "TxRz"},
    {BODY("\"joint\": {\"type\": \"sequence\", \"order\": \"TxTyTzRxRyRzTx\"}"), ULNA_ERR_MODEL, 3, 20, "steps"},
    {BODY("\"joint\": {\"type\": \"sequence\", \"order\": \"TxTyTzRxRyRzTxTyTz\"}"), ULNA_ERR_PARSE, 3, 50, "too long"},
    {BODY("\"joint\": {\"type\": \"ball\", \"reversed\": 1}"), ULNA_ERR_PARSE, 3, 46, "true or false"},
    {BODY(HINGE ", \"limits\": 3"), ULNA_ERR_PARSE, 3, 70, "should be a list"},
    {BODY(HINGE ", \"limits\": []"), ULNA_ERR_PARSE, 3, 70, "has 0 entries instead of 1, one per degree of freedom"},
    {BODY(HINGE ", \"limits\": [[1]]"), ULNA_ERR_PARSE, 3, 81, "[lower, upper] or null"},
    {BODY(HINGE ",\n\"limits\": [[2, 1]]"), ULNA_ERR_MODEL, 4, 12, "limits[0]: lower 2 exceeds upper 1"},
    {BODY("\"joint\": {\"type\": \"ball\"}, \"limits\": [[0, 1], null, null]"), ULNA_ERR_MODEL, 3, 58, "quaternion"},
    {BODY(HINGE ",\n\"rest\": [1, 2]"), ULNA_ERR_PARSE, 4, 1, "has 2 entries instead of 1, one per coordinate"},
    {BODY(HINGE ",\n\"limits\": [[0, 1]], \"rest\": [3]"), ULNA_ERR_MODEL, 4, 30, "3 is outside the limits 0 to 1"},
    {BODY("\"joint\": {\"type\": \"ball\"},\n\"rest\": [0, 0, 0, 0]"), ULNA_ERR_NUMBER, 4, 1, "no direction"},
    {BODY(HINGE ",\n\"strength\": [-1]"), ULNA_ERR_MODEL, 4, 14, "negative"},
    {BODY("\n\"mass\": -1"), ULNA_ERR_MODEL, 4, 1, "mass is negative"},
    {BODY("\n\"inertia\": [1]"), ULNA_ERR_PARSE, 4, 1, "should have 6 numbers"},

    /* markers */
    {HEAD "\"bodies\": [{\"name\": \"a\"}],\n\"markers\": 1}", ULNA_ERR_PARSE, 3, 1, "a list of markers"},
    {HEAD "\"bodies\": [{\"name\": \"a\"}],\n\"markers\": [{\"name\": \"m\"}]}", ULNA_ERR_PARSE, 3, 13,
     "\"body\" is missing"},
    {HEAD "\"bodies\": [{\"name\": \"a\"}],\n\"markers\": [{\"name\": \"m\", \"body\": \"b\"}]}", ULNA_ERR_MODEL, 3, 27,
     "marker \"m\": body: there is no body \"b\""},
    {HEAD "\"bodies\": [{\"name\": \"a\"}],\n\"markers\": [{\"name\": \"m\", \"body\": \"a\"},\n{\"name\": \"m\", "
          "\"body\": \"a\"}]}",
     ULNA_ERR_MODEL, 4, 1, "two markers"},
    {HEAD "\"bodies\": [{\"name\": \"a\"}],\n\"markers\": [{\"name\": \"m\", \"body\": \"a\", \"weight\": -1}]}",
     ULNA_ERR_MODEL, 3, 13, "weight is negative"},
};

static void mistakes_are_placed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const mistake *wrong = &mistakes[i];
        ulna_error error = {.status = ULNA_ERR_STATE, .line = 77, .column = 77, .byte = 7, .path = "old"};
        ulna_model *model = (ulna_model *)1;
        ulna_status status = ulna_model_read_json(wrong->text, strlen(wrong->text), NULL, &model, &error);
        int good = status == wrong->status && error.status == status && !model && error.line == wrong->line &&
                   (!wrong->column || error.column == wrong->column) && strstr(error.message, wrong->message) &&
                   (error.line > 0) == (error.byte >= 0) && error.byte <= (long long)strlen(wrong->text) &&
                   (error.line > 0) == (error.column > 0) && !*error.path; /* nothing of an older error is left */
        if (!good)
            fail_msg("%s\ngives %d:%d (byte %lld), %s: %s", wrong->text, error.line, error.column, error.byte,
                     ulna_status_text(status), error.message);
        assert_int_equal(ulna_model_read_json(wrong->text, strlen(wrong->text), NULL, &model, NULL), status);
    }
}

static void cut_files_are_refused(void **state)
{
    (void)state;
    ulna_model *model, *again;
    ulna_error error;
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    assert_int_equal(ulna_sample_create("two-link", NULL, &model, &error), ULNA_OK);
    assert_int_equal(ulna_model_write_json(model, &sink, &error), ULNA_OK);
    for (size_t length = 0; length + 2 < text.length; length++) { /* all but the last "}\n" */
        assert_int_equal(ulna_model_read_json(text.data, length, NULL, &again, &error), ULNA_ERR_PARSE);
        assert_true(error.line > 0 || length == 0);
    }
    assert_int_equal(ulna_model_read_json(text.data, ULNA_MAX_INPUT_BYTES + 1, NULL, &again, &error), ULNA_ERR_LIMIT);
    ulna_text_release(&text);
    ulna_model_destroy(model);
}

static void arguments_are_checked(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_error error;
    ulna_sink nothing = {0};
    assert_int_equal(ulna_model_read_json(NULL, 0, NULL, &model, &error), ULNA_ERR_PARSE);
    assert_int_equal(ulna_model_read_json(NULL, 1, NULL, &model, &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_model_read_json("{}", 2, NULL, NULL, &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_model_write_json(NULL, &nothing, &error), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_model_read("GARBAGE", 7, NULL, &model, &error), ULNA_ERR_FORMAT);
    assert_non_null(strstr(error.message, "Ulna reads Ulna model (JSON)"));
    assert_int_equal(ulna_format_sniff(" \n{}", 4), ULNA_FORMAT_MODEL_JSON);
    assert_int_equal(ulna_format_sniff("HIERARCHY", 9), ULNA_FORMAT_BVH);
    assert_int_equal(ulna_format_sniff("{\0\"", 3), ULNA_FORMAT_UNKNOWN);
    assert_string_equal(ulna_format_name(ULNA_FORMAT_MODEL_JSON), "ulna-model");
    assert_string_equal(ulna_format_name(ULNA_FORMAT_COUNT), "unknown");
    assert_string_equal(ulna_format_text(ULNA_FORMAT_MODEL_JSON), "Ulna model (JSON)");
}

static void failures_leave_no_model(void **state)
{
    (void)state;
    ulna_model *const garbage = (ulna_model *)1;
    ulna_model *model;
    static const char *const texts[] = {"", "HIERARCHY", "{", "[]", "{\"format\": 1}"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        model = garbage;
        assert_int_not_equal(ulna_model_read_json(texts[i], strlen(texts[i]), NULL, &model, NULL), ULNA_OK);
        assert_null(model);
        model = garbage;
        assert_int_not_equal(ulna_model_read(texts[i], strlen(texts[i]), NULL, &model, NULL), ULNA_OK);
        assert_null(model);
    }
    model = garbage;
    assert_int_equal(ulna_model_read_json(NULL, 1, NULL, &model, NULL), ULNA_ERR_ARGUMENT);
    assert_null(model);
    model = garbage;
    assert_int_equal(ulna_model_read(NULL, 1, NULL, &model, NULL), ULNA_ERR_ARGUMENT);
    assert_null(model);
    model = garbage;
    assert_int_equal(ulna_sample_create(NULL, NULL, &model, NULL), ULNA_ERR_ARGUMENT);
    assert_null(model);
    static const char *const paths[] = {NULL, "", "/", "/dev/null", "/absent", "/dev/zero"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        model = garbage;
        assert_int_not_equal(ulna_model_load(paths[i], NULL, &model, NULL), ULNA_OK);
        assert_null(model);
    }
    assert_int_equal(ulna_model_load("/dev/null", NULL, NULL, NULL), ULNA_ERR_ARGUMENT);
}

static void places_are_found(void **state)
{
    (void)state;
    static const char text[] = "{\"a\\\"]\": [1, {\"b\": \"}\"}, [[\n2, \xC3\xA9"
                               "3]]], \"c\": null}";
    static const size_t key_c[] = {1}, deep[] = {0, 2, 0, 1}, absent[] = {0, 9};
    ulna_place place = ulna_json_place(text, sizeof text - 1, key_c, 1);
    assert_int_equal(place.line, 2);
    assert_int_equal(place.byte, strstr(text, "\"c\"") - text);
    assert_int_equal(place.column, 11); /* the two bytes of a letter count once */
    place = ulna_json_place(text, sizeof text - 1, deep, 4);
    assert_int_equal(place.byte, strstr(text, "\xC3\xA9") - text);
    place = ulna_json_place(text, sizeof text - 1, absent, 2);
    assert_int_equal(place.byte, 1);
    for (size_t length = 0; length < sizeof text; length++) /* an early end is survived */
        assert_true(ulna_json_place(text, length, deep, 4).byte <= length);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_are_placed),   cmocka_unit_test(cut_files_are_refused),
        cmocka_unit_test(arguments_are_checked), cmocka_unit_test(failures_leave_no_model),
        cmocka_unit_test(places_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
