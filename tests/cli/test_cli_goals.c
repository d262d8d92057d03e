/* Goals of one's own in `ulna compare`: CSV, JSON and the command line, good ones and bad ones. */
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "support_cli.h"

#ifndef ULNA_TEST_CLI
#define ULNA_TEST_CLI ""
#endif

/* ---- goals ----------------------------------------------------------------------------------------------- */

static void assert_reached(const char *arguments, int positions, int orientations)
{
    assert_int_equal(ulna_test_cli(arguments), 0);
    assert_string_equal(ulna_test_cli_err(), "");
    json_t *object = ulna_test_cli_json(), *row = json_array_get(json_object_get(object, "methods"), 0);
    assert_int_equal(ulna_test_json_integer(object, "positions"), positions);
    assert_int_equal(ulna_test_json_integer(object, "orientations"), orientations);
    assert_int_equal(ulna_test_json_integer(row, "successes"), ulna_test_json_integer(object, "frames"));
    if (positions)
        assert_true(ulna_test_json_median(row, "rms_mm") < 1e-4);
    if (orientations)
        assert_true(ulna_test_json_median(row, "rms_deg") < 1e-4);
    json_decref(object);
}

static void good_goals_are_reached(void **state)
{
    (void)state;
    ulna_test_cli_write_text("a.csv", "tool,0.3,0.2,0.5\n");
    assert_reached("compare --json --methods hybrid arm --goals a.csv", 1, 0);
    assert_reached("compare --json --methods hybrid arm --goals - <a.csv", 1, 0);
    ulna_test_cli_write_text(
        "b.csv", "\xEF\xBB\xBF# mine\r\n\r\n marker , X [m], Y [m], Z [m]\r\n tool ,\t0.3, .2, 5e-1, 2 \r\n");
    assert_reached("compare --json --methods hybrid arm --goals b.csv --frames 3 --spread 10", 1, 0);
    assert_reached("compare --json --methods hybrid arm --goal 'tool 0.3 0.2 0.5'", 1, 0);
    assert_reached("compare --json --methods hybrid arm --goal 'tool,0.3,0.2,0.5,1' --start zero", 1, 0);
    assert_reached("compare --json --methods hybrid arm --goal 'tool 0.3 0.2 0.5 0.25'", 1, 0);
    ulna_test_cli_write_text(
        "c.json", "{\"goals\": [{\"marker\": \"LFHD\", \"position\": [0.1, 1.7, 0.1], \"weight\": 2},\n"
                  "{\"body\": \"left_hand\", \"point\": [0, 0, 0.01], \"position\": [0.5, 1.2, 0.3],\n"
                  "\"orientation\": [0, 0, 0, 2]}, {\"body\": \"right_hand\", \"_comment\": \"as at rest\",\n"
                  "\"orientation\": [[1, 0, 0], [0, 1, 0], [0, 0, 1]]}], \"x-note\": 1}");
    assert_reached("compare --json --methods hybrid --goals c.json", 2, 2);
    assert_int_equal(
        ulna_test_cli("sample --quiet --only two-link . && " ULNA_TEST_CLI " info --json --tree two-link.json"), 0);
    json_t *object = ulna_test_cli_json();
    json_t *tree = json_object_get(json_array_get(json_object_get(object, "files"), 0), "tree");
    /* a quarter turn, written in two ways that must mean the same */
    char text[512];
    const char *body = ulna_test_json_string(json_array_get(tree, 0), "name");
    snprintf(text, sizeof text,
             "{\"start\": [0.1, 0.2], \"goals\": [{\"body\": \"%s\", \"orientation\": [0, -1, 0, 1, 0, 0, 0, 0, 1]}, "
             "{\"body\": \"%s\", \"orientation\": [0, 0, 0.5, 0.5]}]}",
             body, body);
    ulna_test_cli_write_text("d.json", text);
    json_decref(object);
    assert_reached("compare --json --methods hybrid two-link --goals d.json", 0, 2);
    assert_int_equal(ulna_test_cli("compare --json --methods hybrid two-link --goals d.json"), 0);
    object = ulna_test_cli_json();
    assert_string_equal(ulna_test_json_string(object, "start"), "file");
    json_decref(object);
}

/* A name that ends in a number, and one with blanks. */
static void odd_names_are_found(void **state)
{
    (void)state;
    ulna_test_cli_write_text(
        "odd.json", "{\"format\": \"ulna-model\", \"version\": 1, \"bodies\": [{\"name\": \"left arm\", \"joint\": "
                    "{\"type\": \"free\"}}], \"markers\": [{\"name\": \"tip 1\", \"body\": \"left arm\"}]}");
    assert_reached("compare odd.json --json --methods hybrid --goal 'tip 1 2 3 4'", 1, 0);
    assert_reached("compare odd.json --json --methods hybrid --goal 'tip 1 2 3 4 0.5'", 1, 0);
    assert_reached("compare odd.json --json --methods hybrid --goal 'left arm 2 3 4'", 1, 0);
    assert_reached("compare odd.json --json --methods hybrid --goal 'left arm,2,3,4'", 1, 0);
}

typedef struct bad_file {
    const char *text, *message;
} bad_file;

static void assert_refused(const bad_file *files, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        char arguments[128], message[256];
        ulna_test_cli_write_text(name, files[i].text);
        snprintf(arguments, sizeof arguments, "compare --json --methods hybrid --goals %s", name);
        if (ulna_test_cli(arguments) != 3)
            fail_msg("not refused: %s", files[i].text);
        snprintf(message, sizeof message, "ulna: %s%s", name, files[i].message);
        ulna_test_assert_says(ulna_test_cli_err(), message);
        json_t *object = ulna_test_cli_json(), *error = json_object_get(object, "error");
        assert_string_equal(ulna_test_json_string(object, "file"), name);
        assert_true(strlen(ulna_test_json_string(error, "message")) > 5);
        json_decref(object);
    }
}

static void bad_csv_is_refused(void **state)
{
    (void)state;
    static const bad_file files[] = {
        {"", ": the file is empty"},
        {" \n\n", ": the file is empty"},
        {"# nothing\nname,x,y,z\n", ": the file has no goals"},
        {"LFHD,1,2\n", ":1: missing fields"},
        {"name,x,y,z\nLFHD,1,2\n", ":2: missing fields"},
        {"LFHD 1 2 3\n", ":1: missing fields"},
        {"LFHD,1,2,3\n\nname,x,y,z\n", ":3: x is not a number: 'x'"},
        {"LFHD,1,2,3,4,5\n", ":1: wrong number of fields"},
        {"LFHD,nan,2,3\n", ":1: x is not a finite number"},
        {"LFHD,1,-inf,3\n", ":1: y is not a finite number"},
        {"LFHD,1,2,1e999\n", ":1: z is not a finite number"},
        {"LFHD,1,2,3,heavy\n", ":1: weight is not a number"},
        {"LFHD,1,2,3,-1\n", ":1: the weight is negative"},
        {"LFHD,1,2,3,\n", ":1: weight is not a number"},
        {"LFHD,1,2,3x\n", ":1: z is not a number: '3x'"},
        {",1,2,3\n", ":1: the name is missing"},
        {"# a\nLFDH,1,2,3\n", ":2: there is no marker or body 'LFDH'; did you mean 'LFHD'?"},
        {"left_hnad,1,2,3\n", ":1: there is no marker or body 'left_hnad'; did you mean 'left_hand'?"},
        {"qqqqqqqq,1,2,3\n", ":1: the skeleton has no marker or body 'qqqqqqqq'"},
    };
    assert_refused(files, sizeof files / sizeof *files, "bad.csv");
    ulna_test_cli_write_text("zero.csv", "LFHD,1,2,3,0\n");
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals zero.csv"), 3);
    ulna_test_assert_says(ulna_test_cli_err(), "all goals have weight 0");
}

static void bad_json_is_refused(void **state)
{
    (void)state;
    static const bad_file files[] = {
        {"{", ":1: "},
        {"{}", ":1: \"goals\" is missing"},
        {"{\"goals\": 3}", ":1: goals: should be a list of goals, not a number"},
        {"{\"goals\": []}", ": the file has no goals"},
        {"{\"goal\": []}", ":1: unknown key \"goal\"; known here: unit, goals, start"},
        {"{\"goals\": [], \"goals\": []}", ":1: not valid JSON: duplicate object key"},
        {"{\n\"goals\": [\n1]}", ":3: goals[0]: should be an object, not a number"},
        {"{\"goals\": [\n{\"position\": [1, 2, 3]}]}",
         ":2: goals[0]: a goal needs a \"marker\" or a \"body\", and has neither"},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"body\": \"head\", \"position\": [1, 2, 3]}]}",
         ":1: goals[0]: a goal needs a"},
        {"{\"goals\": [{\"marker\": 3, \"position\": [1, 2, 3]}]}", ":1: goals[0]: marker: should be a text"},
        {"{\"goals\": [{\"marker\": \"LFHD\"}]}", ":1: goals[0]: a goal needs a \"position\""},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"positon\": [1, 2, 3]}]}", ":1: goals[0]: unknown key \"positon\""},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"position\": [1, 2]}]}",
         ":1: goals[0]: position: should have 3 numbers"},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"position\": [1, 2, \"3\"]}]}",
         ":1: goals[0]: position[2]: should be a number"},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"position\": [1, 2, NaN]}]}", ":1: not valid JSON: invalid token"},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"position\": [1, 2, 1e999]}]}", ":1: a number is too large"},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"point\": [0, 0, 0], \"position\": [1, 2, 3]}]}",
         ":1: goals[0]: point: needs a \"body\""},
        {"{\"goals\": [{\"marker\": \"LFDH\", \"position\": [1, 2, 3]}]}",
         ":1: there is no marker 'LFDH'; did you mean 'LFHD'?"},
        {"{\"goals\": [{\"body\": \"left_hnad\", \"position\": [1, 2, 3]}]}", "did you mean 'left_hand'?"},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"position\": [1, 2, 3]},\n"
         "{\"body\": \"left_hand\", \"orientation\": [0, 0, 0, 0]}]}",
         ":2: goals[1]: orientation: the quaternion is zero"},
        {"{\"goals\": [{\"body\": \"left_hand\", \"orientation\": [1, 2]}]}",
         ":1: goals[0]: orientation: should be 3 rows"},
        {"{\"goals\": [{\"body\": \"left_hand\", \"orientation\": [[1, 0, 0], [0, 1, 0], 3]}]}",
         ":1: goals[0]: orientation[2]: should be"},
        {"{\"goals\": [\n\n{\"body\": \"left_hand\", \"orientation\": [1, 0, 0, 0, 2, 0, 0, 0, 1]}]}", ":3: "},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"position\": [1, 2, 3], \"weight\": -1}]}",
         ":1: goals[0]: the weight is negative"},
        {"{\"goals\": [{\"marker\": \"LFHD\", \"position\": [1, 2, 3]}],\n\"start\": [1, 2]}",
         ":2: start: should have 59 numbers"},
        {"{\"goals\": [{\"marker\": \"}{][\\\"\", \"position\": [1, 2, 3]}],\n\"start\": [1, 2]}", ":1: "},
        {"{\"go\\u0061ls\": [\n{\"marker\": 3}]}", ":2: goals[0]: marker: should be a text"},
        {"[1, 2]", ":1: "},
    };
    /* a message that begins elsewhere is looked for by itself */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i].message[0] == ':')
            assert_refused(&files[i], 1, "bad.json");
        else {
            ulna_test_cli_write_text("bad.json", files[i].text);
            assert_int_equal(ulna_test_cli("compare --methods hybrid --goals bad.json"), 3);
            ulna_test_assert_says(ulna_test_cli_err(), files[i].message);
        }
    }
}

static void hostile_files_are_refused(void **state)
{
    (void)state;
    enum { LONG = 3000000 };
    char *text = malloc(LONG);
    assert_non_null(text);

    memset(text, 'a', LONG);
    ulna_test_cli_write("long.csv", text, LONG);
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals long.csv"), 3);
    ulna_test_assert_says(ulna_test_cli_err(), "long.csv:1: ");
    snprintf(text + LONG - 8, 8, ",1,2,3\n");
    ulna_test_cli_write("long.csv", text, LONG - 1);
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals long.csv"), 3);
    ulna_test_assert_says(ulna_test_cli_err(), "long.csv:1: the name is too long");
    assert_true(strlen(ulna_test_cli_err()) < 400);
    memset(text, ',', LONG);
    ulna_test_cli_write("long.csv", text, LONG);
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals long.csv"), 3);
    memset(text, '[', LONG);
    snprintf(text, 10, "{\"goals\":");
    text[9] = '[';
    ulna_test_cli_write("deep.json", text, LONG);
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals deep.json"), 3);

    ulna_test_rng random = ulna_test_rng_seed(7);
    for (int round = 0; round < 20; round++) {
        int length = 1 + (int)(ulna_test_rng_uniform(&random, 0, 1) * 500);
        for (int i = 0; i < length; i++)
            text[i] = (char)(ulna_test_rng_uniform(&random, 0, 1) * 255);
        ulna_test_cli_write("junk", text, (size_t)length);
        assert_int_equal(ulna_test_cli("compare --methods hybrid --goals junk"), 3);
        for (const char *at = ulna_test_cli_err(); *at; at++)
            assert_true(*at == '\n' || (unsigned char)*at >= 0x20); /* no control character reaches the terminal */
    }
    free(text);
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals /dev/zero"), 3);
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals none.csv"), 4);
    ulna_test_assert_says(ulna_test_cli_err(), "none.csv: ");
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals ."), 4);
    assert_int_equal(ulna_test_cli("compare --methods hybrid none.json"), 4);
    ulna_test_cli_write_text("model.json", "{\"format\": \"ulna-model\"}");
    assert_int_equal(ulna_test_cli("compare --json --methods hybrid model.json"), 3);
    json_t *object = ulna_test_cli_json();
    assert_string_equal(ulna_test_json_string(object, "file"), "model.json");
    json_decref(object);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(good_goals_are_reached, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(odd_names_are_found, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(bad_csv_is_refused, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(bad_json_is_refused, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(hostile_files_are_refused, ulna_test_cli_set_up, ulna_test_cli_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
