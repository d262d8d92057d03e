/* `ulna paper`, run as its users run it: the conclusions of the papers, files, the page, what goes wrong. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "support_keypoints.h"
#include "support_take.h"
#include "support_tool.h"
#include "ulna/sample.h"

/* ---- the sheets that a run has written ------------------------------------------------------------------------------ */

/* The cell of the row whose first cells are those of `keys` (separated by commas), in the column of that heading; free() it. */
static char *cell(const ulna_test_tool *tool, const char *file, const char *keys, const char *heading)
{
    char *text = ulna_test_tool_file(tool, file), *found = NULL;
    int column = 0;
    const char *at = text;
    for (; strncmp(at, heading, strlen(heading)) != 0 || !strchr(",\n", at[strlen(heading)]); column++) {
        at += strcspn(at, ",\n");
        if (*at != ',')
            fail_msg("%s has no column %s", file, heading);
        at++;
    }
    for (const char *line = text; *line && !found; line += strcspn(line, "\n") + 1) {
        if (strncmp(line, keys, strlen(keys)) != 0 || line[strlen(keys)] != ',')
            continue;
        for (int i = 0; i < column; i++)
            line += strcspn(line, ",\n") + 1;
        found = strndup(line, strcspn(line, ",\n"));
    }
    free(text);
    if (!found)
        fail_msg("%s has no row %s", file, keys);
    return found;
}

static double value(const ulna_test_tool *tool, const char *file, const char *keys, const char *heading)
{
    char *text = cell(tool, file, keys, heading);
    double number_there = atof(text);
    free(text);
    return number_there;
}

/* Runs some items into the folder `out`; NULL for the data: none. Returns the object of --json. */
static json_t *run(ulna_test_tool *tool, const char *items, const char *data)
{
    char arguments[2048];
    snprintf(arguments, sizeof arguments, "paper --json --quick %s -o out %s%s", items, data ? "--data " : "",
             data ? data : "");
    assert_int_equal(ulna_test_tool_run(tool, arguments), 0);
    assert_string_equal(tool->err, "");
    return ulna_test_tool_json(tool);
}

static json_t *facts(const json_t *object, const char *item)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(object, "items"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "name")), item) == 0)
            return json_object_get(row, "facts");
    }
    fail_msg("%s did not run", item);
    return NULL;
}

/* ---- conclusions ------------------------------------------------------------------------------------------------------ */

static void frames_converge_as_in_the_paper(const json_t *object)
{
    const json_t *near = facts(object, "fig3"), *zero = facts(object, "fig5");
    assert_true(member(near, "bfgs", "f_at_10") > 1e3 * member(near, "newton-pcg", "f_at_10"));
    assert_true(member(near, "lm-marquardt", "f_at_10") < 1e-2);
    assert_true(member(near, "hybrid", "iterations") <= member(near, "newton-pcg", "iterations"));
    const json_t *limits = facts(object, "fig4");
    assert_true(member(limits, "newton-pcg", "solved") == member(limits, "newton-pcg", "frames"));
    assert_null(json_object_get(limits, "lm-marquardt"));
    assert_true(member(zero, "bfgs", "solved") < member(zero, "newton-pcg", "solved"));
    assert_true(member(zero, "hybrid", "solved") >= member(zero, "lm-marquardt", "solved"));
}

/* With fixed offsets f does not reach 0; the order of the methods is the same. */
static void fixed_offsets_keep_the_order(const ulna_test_tool *tool, const json_t *object)
{
    const json_t *near = json_object_get(facts(object, "fig3"), "fixed"),
                 *limits = json_object_get(facts(object, "fig4"), "fixed"),
                 *zero = json_object_get(facts(object, "fig5"), "fixed");
    assert_true(member(near, "hybrid", "f_last") > 1);
    assert_true(member(near, "bfgs", "f_at_10") > member(near, "newton-pcg", "f_at_10"));
    assert_true(member(near, "bfgs", "solved") < member(near, "hybrid", "solved"));
    assert_true(member(limits, "bfgs", "solved") < member(limits, "newton-pcg", "solved"));
    assert_true(member(zero, "bfgs", "solved") < member(zero, "newton-pcg", "solved"));
    double quasi = value(tool, "out/table4.csv", "dg_03-05_02,fixed,quasi-Newton 10", "error_cm"),
           exact = value(tool, "out/table4.csv", "dg_03-05_02,fixed,exact Hessian 10", "error_cm");
    assert_true(quasi > exact && exact > 10);
    const json_t *times = facts(object, "table3"), *fixed = json_object_get(times, "fixed");
    assert_true(member(times, "hybrid", "walking") < member(times, "bfgs", "walking"));
    assert_true(member(fixed, "hybrid", "walking") < member(fixed, "bfgs", "walking"));
}

static void notes_say(const json_t *object, const char *item, const char *text)
{
    size_t i;
    json_t *row;
    int found = 0;
    json_array_foreach(json_object_get(object, "items"), i, row)
    {
        if (strcmp(json_string_value(json_object_get(row, "name")), item) == 0) {
            char *notes = json_dumps(json_object_get(row, "notes"), 0);
            ulna_test_says(notes, text);
            free(notes);
            found++;
        }
    }
    assert_int_equal(found, 1);
}

static void takes_are_reconstructed_as_in_the_paper(const json_t *object)
{
    const json_t *row = facts(object, "table4");
    assert_true(member(row, "bfgs_10", "cm") > member(row, "bfgs_100", "cm"));
    assert_true(member(row, "bfgs_100", "cm") > member(row, "newton-pcg_10", "cm"));
    assert_true(member(row, "newton_10", "cm") < 1);
}

/* Shares of the map against the closed form: cells on curves may go either way, at most some 0.3 % of 72 x 72. */
static void regions_are_those_of_the_closed_form(const ulna_test_tool *tool)
{
    static const char *const regions[] = {"positive", "indefinite", "negative", "semidefinite"};
    for (int goal = 1; goal <= 3; goal++)
        for (int i = 0; i < 4; i++) {
            char keys[64];
            snprintf(keys, sizeof keys, "(%d; 0),%s", goal, regions[i]);
            double found = value(tool, "out/a10-shares.csv", keys, "percent");
            assert_near(found, value(tool, "out/a10-shares.csv", keys, "closed_form_percent"), 0.3);
        }
    assert_near(value(tool, "out/a10-shares.csv", "(1; 0),positive", "closed_form_percent"), 13.76, 0.02);
}

/* The relaxation finds what single starts often miss; with noise it is as good as the best of them. */
static void relaxation_is_better_than_starts(const json_t *object)
{
    static const char *const views[] = {"body_all", "hand_all"};
    for (int i = 0; i < 2; i++) {
        const json_t *clean = json_object_get(facts(object, "convex4"), views[i]);
        const json_t *noisy = json_object_get(facts(object, "convex5"), views[i]);
        assert_near(member(clean, "sdp", "good_percent"), 100, 0);
        assert_near(member(clean, "global", "good_percent"), 100, 0);
        assert_true(member(clean, "tr", "good_percent") < 100);
        assert_near(member(noisy, "sdp", "good_percent"), 100, 0);
        assert_near(member(noisy, "global", "good_percent"), 100, 0);
    }
    const json_t *body = json_object_get(facts(object, "convex6"), "body"), *time = facts(object, "sdp-time");
    assert_true(number(body, "projected_mm") > number(body, "sdp_mm"));
    assert_true(number(body, "local_mm") >= number(body, "sdp_mm") - 0.1);
    assert_true(member(facts(object, "convex6"), "hand", "local_mm") >
                member(facts(object, "convex6"), "hand", "sdp_mm"));
    assert_true(member(time, "body", "global_ms") < 1e3 * member(time, "body", "sdp_s"));
}

/* Routes to a Jacobian are one; a robust inverse solves where the transpose does not; limits belong inside a solver. */
static void recipe_is_as_it_says(const json_t *object)
{
    static const char *const same[] = {"simple", "generic", "adjusted", "twists", "shared"};
    const json_t *routes = facts(object, "recipe"), *solvers = facts(object, "recipe8"),
                 *limits = facts(object, "clamp");
    assert_near(number(routes, "effectors"), 41, 0);
    for (int i = 0; i < 5; i++)
        assert_true(member(routes, same[i], "difference") < 1e-13);
    assert_true(member(routes, "differences", "difference") > 0); /* it is another way, and not exact */
    assert_true(member(routes, "differences", "difference") < 1e-8);
    assert_near(member(solvers, "dls", "near"), 100, 0);
    assert_near(member(solvers, "hybrid", "near"), 100, 0);
    assert_true(member(solvers, "transpose", "near") < 50);
    assert_true(member(solvers, "robust", "away") > member(solvers, "robust", "near")); /* λ slows it there */
    static const char *const methods[] = {"hybrid", "dls", "hybrid_oriented", "dls_oriented"};
    for (int i = 0; i < 4; i++) {
        assert_true(member(limits, methods[i], "inside") > member(limits, methods[i], "after"));
        assert_true(member(limits, methods[i], "inside") > member(limits, methods[i], "steps"));
    }
}

/* Every cell of a table is on the page. */
static void page_shows(const ulna_test_tool *tool, const char *page, const char *file)
{
    char path[64], shown[128];
    snprintf(path, sizeof path, "out/%s", file);
    char *text = ulna_test_tool_file(tool, path);
    int cells = 0;
    for (const char *at = strchr(text, '\n') + 1; *at; at += strcspn(at, ",\n") + 1, cells++) {
        snprintf(shown, sizeof shown, ">%.*s</td>", (int)strcspn(at, ",\n"), at);
        ulna_test_says(page, shown);
    }
    assert_true(cells > 3);
    free(text);
}

static void everything_runs_without_data(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = run(tool, "all", NULL);
    assert_true(json_is_null(json_object_get(object, "data")));
    assert_string_equal(json_string_value(json_object_get(facts(object, "table4"), "take")), "walk");
    takes_are_reconstructed_as_in_the_paper(object);
    regions_are_those_of_the_closed_form(tool);
    assert_true(number(facts(object, "survey"), "solved") >= 15);
    assert_near(number(facts(object, "survey"), "kept"), 3, 0); /* hybrid, lagrange, virtual-work */
    assert_near(member(facts(object, "cold"), "hybrid", "by_200"), member(facts(object, "cold"), "hybrid", "frames"),
                0);
    recipe_is_as_it_says(object);
    assert_near(number(facts(object, "gaps"), "body_0"), 100, 0);
    assert_near(number(facts(object, "gaps"), "hand_0"), 100, 0);
    char *page = ulna_test_tool_file(tool, "out/index.html");
    page_shows(tool, page, "table4.csv");
    page_shows(tool, page, "table4-paper.csv");
    page_shows(tool, page, "fig5-summary.csv");
    page_shows(tool, page, "a10-shares.csv");
    page_shows(tool, page, "recipe.csv");
    page_shows(tool, page, "recipe8.csv");
    page_shows(tool, page, "recipe8-paper.csv");
    page_shows(tool, page, "clamp.csv");
    page_shows(tool, page, "convex4-summary.csv");
    double cm = value(tool, "out/table4-facts.csv", "bfgs_10.cm", "value");
    char quoted[40];
    snprintf(quoted, sizeof quoted, "quasi-Newton 10 %.2f cm", cm);
    assert_near(cm, member(facts(object, "table4"), "bfgs_10", "cm"), 1e-9 * cm);
    ulna_test_says(page, quoted); /* the sentence, too, is made from a file */
    assert_true(ulna_test_tool_tables(tool, "out") > 20);
    ulna_test_says(page, "table4-facts.csv");
    ulna_test_says(page, "23.78");
    ulna_test_says(page, "dg_03-05_02");
    assert_null(strstr(page, "{{"));
    assert_null(strstr(page, "http-equiv"));
    free(page);
    ulna_test_tool_shell(
        tool, "test -s out/fig3.svg && test -s out/recipe-times.svg && test -s out/recipe8.svg && ! ls out | grep tmp");
    json_decref(object);
}

/* A pose of WebXR: the matrices of a left hand, so that x is mirrored. Joints in the order of ulna_test_hand_names. */
static void write_hand_pose(const ulna_test_tool *tool, const char *name, const double *points)
{
    static const char *const fingers[] = {"index", "middle", "ring", "pinky"};
    static const char *const thumb[] = {"wrist", "thumb-metacarpal", "thumb-phalanx-proximal", "thumb-phalanx-distal",
                                        "thumb-tip"};
    static const char *const parts[] = {"phalanx-proximal", "phalanx-intermediate", "phalanx-distal", "tip"};
    char path[256];
    FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, name), "w");
    assert_non_null(file);
    for (int i = 0; i < ULNA_TEST_HAND_POINTS; i++) {
        char joint[64];
        if (i < 5)
            snprintf(joint, sizeof joint, "%s", thumb[i]);
        else
            snprintf(joint, sizeof joint, "%s-finger-%s", fingers[(i - 5) / 4], parts[(i - 5) % 4]);
        fprintf(file, "%s\"%s\": {\"offsetMatrix\": [1,0,0,0, 0,1,0,0, 0,0,1,0, %.9g,%.9g,%.9g,1]}",
                i ? ",\n" : "{\"jointTransforms\": {\n", joint, -points[3 * i], points[3 * i + 1], points[3 * i + 2]);
    }
    fprintf(file, "}}\n");
    fclose(file);
}

/* A folder of one's own with a skeleton, a motion, and a hand seen by a camera: their poses are those of the experiments. */
static void poses_of_a_folder_are_used(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_model *hand;
    assert_int_equal(ulna_sample_create("right-hand", NULL, &hand, NULL), ULNA_OK);
    ulna_recording points = ulna_test_record_hand(hand, 0.9, 60);
    assert_int_equal(ulna_test_tool_run(tool, "sample --quiet --only walk d"), 0);
    ulna_test_tool_shell(tool,
                         "cd d && mv human.asf HDM_dg.asf && mv walk-true.amc HDM_dg_03-05_02_120.amc && rm walk*");
    ulna_test_take_write(tool->folder, "d/human_joint_right.csv", NULL, NULL, &points);
    write_hand_pose(tool, "d/pinch_hand_pose.json", ulna_recording_frame(&points, 7));
    write_hand_pose(tool, "d/relaxed_hand_pose.json", ulna_recording_frame(&points, 40));
    json_t *object = run(tool, "convex4 convex6", "d");
    notes_say(object, "convex4", "poses of 1 motions of HDM05 and 0 of CMU");
    notes_say(object, "convex6", "poses of their 60 frames and of 2 files");
    json_decref(object);
    ulna_recording_release(&points);
    ulna_model_destroy(hand);
}

static void conclusions_hold_on_recorded_data(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = run(tool, "fig3 fig4 fig5 table3 table4 convex4 convex5 convex6 sdp-time", ulna_test_data_dir());
    relaxation_is_better_than_starts(object);
    frames_converge_as_in_the_paper(object);
    fixed_offsets_keep_the_order(tool, object);
    notes_say(object, "convex4", "poses of 6 motions of HDM05 and 5 of CMU");
    notes_say(object, "convex6", "poses of their 621 frames and of 2 files");
    takes_are_reconstructed_as_in_the_paper(object);
    static const struct {
        const char *column;
        double cm;
    } first_row[] = {{"quasi-Newton 10", 23.78}, {"quasi-Newton 100", 1.61}, {"exact Hessian 10", 0.5}};
    for (int i = 0; i < 3; i++) {
        char keys[64];
        snprintf(keys, sizeof keys, "dg_03-05_02,oracle,%s", first_row[i].column);
        assert_near(value(tool, "out/table4.csv", keys, "error_cm"), first_row[i].cm, 0.2 * first_row[i].cm);
    }
    json_decref(object);
}

/* ---- one item after the other ---------------------------------------------------------------------------------------------- */

static void items_stay_on_the_page(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "paper -q a10 --data ."), 0);
    assert_int_equal(ulna_test_tool_run(tool, "paper -q survey --quick --data ."), 0);
    char *page = ulna_test_tool_file(tool, "papers/index.html");
    ulna_test_says(page, "<section id=\"a10\">");
    ulna_test_says(page, "<code>ulna paper a10 --data .</code>");
    ulna_test_says(page, "<section id=\"survey\">");
    ulna_test_says(page, "<code>ulna paper --quick survey --data .</code>");
    free(page);
    /* Small results do not replace large ones; the other way round they do. */
    ulna_test_tool_shell(tool, "cp -r papers before");
    assert_int_equal(ulna_test_tool_run(tool, "paper all --quick"), 2);
    ulna_test_says(tool->err,
                   "'papers' has a10 in full size, which --quick would replace by a small one: name another folder");
    ulna_test_tool_shell(tool, "diff -r before papers");
    assert_int_equal(ulna_test_tool_run(tool, "paper -q a10 --quick -o small --data ."), 0);
    assert_int_equal(ulna_test_tool_run(tool, "paper -q a10 -o small --data ."), 0);
    assert_int_equal(ulna_test_tool_run(tool, "paper a10 --quick -o small --data ."), 2);
    /* An item whose files are gone is not on the page, and a list that is none says nothing. */
    ulna_test_tool_shell(tool, "rm papers/a10.csv");
    assert_int_equal(ulna_test_tool_run(tool, "paper -q survey --quick --data ."), 0);
    page = ulna_test_tool_file(tool, "papers/index.html");
    assert_null(strstr(page, "<section id=\"a10\">"));
    free(page);
    ulna_test_tool_shell(tool, "echo '{\"a10\": {\"notes\": [1]}, \"survey\": 3}' >small/items.json");
    assert_int_equal(ulna_test_tool_run(tool, "paper -q survey --quick -o small --data ."), 0);
    ulna_test_tool_shell(tool, "echo nonsense >small/items.json");
    assert_int_equal(ulna_test_tool_run(tool, "paper -q survey --quick -o small --data ."), 0);
}

/* ---- what goes wrong ---------------------------------------------------------------------------------------------------- */

static void items_are_listed(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "paper"), 0);
    ulna_test_says(tool->out, "table4");
    json_t *object = ulna_test_tool_run_json(tool, "paper", "list", 0);
    assert_true(json_array_size(json_object_get(object, "items")) >= 8);
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "paper tabel4"), 2);
    ulna_test_says(tool->err, "did you mean 'table4'?");
    assert_int_equal(ulna_test_tool_run(tool, "paper list all"), 2);
}

/* From the option, else from the variable; never from a folder that lies near by chance. */
static void folder_of_data_is_said(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkdir -p work given shared/data");
    assert_int_equal(ulna_test_tool_run(tool, "paper --json --quick -o out survey"), 0);
    ulna_test_says(tool->out, "\"data\": null");
    ulna_test_tool_shell(
        tool, "cd work && unset ULNA_DATA && '" ULNA_TEST_CLI "' paper --json --quick survey >none && "
              "ULNA_DATA= '" ULNA_TEST_CLI "' paper --json --quick survey >empty && "
              "ULNA_DATA=../given '" ULNA_TEST_CLI "' paper --json --quick survey >variable && "
              "ULNA_DATA=../given '" ULNA_TEST_CLI "' paper --json --quick survey --data ../shared >option && "
              "grep -q '\"data\": null' none && grep -q '\"data\": null' empty && "
              "grep -q '\"data\": \"../given\"' variable && grep -q '\"data\": \"../shared\"' option && "
              "! ULNA_DATA=nowhere '" ULNA_TEST_CLI "' paper --quick table4 2>error && grep -q nowhere error");
}

static void bad_folders_are_refused(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "paper table4 --quick --data nowhere -o out"), 4);
    ulna_test_says(tool->err, "nowhere");
    ulna_test_tool_shell(tool, "! test -e out && echo no >file");
    assert_int_equal(ulna_test_tool_run(tool, "paper table4 --quick -o file"), 4);
    assert_int_equal(ulna_test_tool_run(tool, "paper table4 --quick -o file/inside"), 4);
    ulna_test_tool_shell(tool, "test \"$(cat file)\" = no");
    /* A folder that cannot be written to is found before the work begins; root may write anywhere. */
    ulna_test_tool_shell(tool, "mkdir -p out/index.html");
    assert_int_equal(ulna_test_tool_run(tool, "paper table4 --quick -o out"), 4);
    ulna_test_tool_shell(tool, "test \"$(ls out)\" = index.html");
}

/* Files with the names of takes, and nothing of the kind inside. */
static void hostile_data_are_refused(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "mkdir -p d/deep && ln -s .. d/deep/loop && echo x >d/HDM_dg.asf && head -c 4096 /dev/zero "
                         ">d/deep/HDM_dg_03-05_02_120.c3d && echo y >d/HDM_dg_03-05_02_120.amc");
    assert_int_equal(ulna_test_tool_run(tool, "paper table4 --quick --data d -o out"), 3);
    ulna_test_says(tool->err, "HDM_dg.asf");
    ulna_test_tool_shell(tool, "! test -e out/index.html && ! ls out | grep .");
    /* A take without its skeleton is as good as missing. */
    ulna_test_tool_shell(tool, "rm d/HDM_dg.asf");
    json_t *object = run(tool, "fig8", "d");
    assert_true(json_array_size(json_object_get(object, "missing")) > 0);
    json_decref(object);
}

/* A recording of a hand, and a pose that is not one. */
static void hostile_poses_are_refused(void **state)
{
    ulna_test_tool *tool = *state;
    char copy[1200];
    snprintf(
        copy, sizeof copy,
        "mkdir d && cp '%s'/hand/*_right.csv d && echo '{\"jointTransforms\": {\"wrist\": 1}}' >d/pinch_hand_pose.json",
        ulna_test_data_dir());
    ulna_test_tool_shell(tool, copy);
    assert_int_equal(ulna_test_tool_run(tool, "paper convex3 --quick --data d -o out"), 3);
    ulna_test_says(tool->err, "pinch_hand_pose.json:1");
    ulna_test_says(tool->err, "wrist");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(items_are_listed, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(items_stay_on_the_page, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(bad_folders_are_refused, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(hostile_data_are_refused, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(poses_of_a_folder_are_used, ulna_test_tool_open, ulna_test_tool_close),
        ulna_test_needs("hand", cmocka_unit_test_setup_teardown(hostile_poses_are_refused, ulna_test_tool_open,
                                                                ulna_test_tool_close)),
        cmocka_unit_test_setup_teardown(folder_of_data_is_said, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(everything_runs_without_data, ulna_test_tool_open, ulna_test_tool_close),
        ulna_test_needs("hdm05 cmu hand", cmocka_unit_test_setup_teardown(conclusions_hold_on_recorded_data,
                                                                          ulna_test_tool_open, ulna_test_tool_close)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
