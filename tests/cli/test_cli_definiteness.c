/* ulna definiteness, run as its users run it: its figures against the formula of the two-link chain, and mistakes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_tool.h"
#include "support_two_link.h"

static const ulna_test_box whole = {{-180, -180}, {180, 180}};

/* ---- reading ------------------------------------------------------------------------------------------ */

/* Runs `ulna definiteness ARGUMENTS` and returns its exit code. */
static int run(ulna_test_tool *tool, const char *arguments)
{
    char words[1100];
    snprintf(words, sizeof words, "definiteness %s", arguments);
    return ulna_test_tool_run(tool, words);
}

/* The object of `ulna definiteness --json ARGUMENTS`, which must succeed. */
static json_t *run_json(ulna_test_tool *tool, const char *arguments)
{
    char words[1024];
    snprintf(words, sizeof words, "--json %s", arguments);
    if (run(tool, words) != 0)
        fail_msg("%s: %s", arguments, tool->err);
    assert_string_equal(tool->err, "");
    return ulna_test_tool_json(tool);
}

static json_t *sweep_of(json_t *object, size_t goal, size_t sweep)
{
    json_t *row = json_array_get(json_object_get(object, "goals"), goal);
    json_t *found = json_array_get(json_object_get(row, "sweeps"), sweep);
    assert_true(json_is_object(found));
    return found;
}

static double at_minimum(json_t *sweep, const char *key)
{
    return number(json_object_get(sweep, "minimum"), key);
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* What the tool must say about a sweep of size x size cells. */
static void check_sweep(json_t *sweep, const double goal[2], double weight, const ulna_test_box *range, int size)
{
    long counts[ULNA_TEST_REGIONS] = {0};
    double lowest = INFINITY, highest_f = 0, cells = (double)size * size;
    double *conditions = malloc(sizeof *conditions * (size_t)(size * size));
    for (int j = 0; j < size; j++)
        for (int i = 0; i < size; i++) {
            ulna_test_two_link here = ulna_test_two_link_at(goal, weight, ulna_test_box_angle(range, 0, i, size),
                                                            ulna_test_box_angle(range, 1, j, size));
            if (here.region == ULNA_TEST_POSITIVE)
                conditions[counts[ULNA_TEST_POSITIVE]] = here.high / here.low;
            counts[here.region]++;
            lowest = fmin(lowest, here.low);
            highest_f = fmax(highest_f, here.f);
        }
    assert_near(number(sweep, "positive_percent"), 100 * (double)counts[ULNA_TEST_POSITIVE] / cells, 1e-9);
    assert_near(number(sweep, "indefinite_percent"), 100 * (double)counts[ULNA_TEST_INDEFINITE] / cells, 1e-9);
    assert_near(number(sweep, "negative_percent"), 100 * (double)counts[ULNA_TEST_NEGATIVE] / cells, 1e-9);
    assert_near(number(sweep, "semidefinite_percent"), 100 * (double)counts[ULNA_TEST_SEMIDEFINITE] / cells, 1e-9);
    assert_near(number(sweep, "lowest_eigenvalue"), lowest, 1e-10);
    assert_near(number(sweep, "f_highest_m2"), highest_f, 1e-10 * highest_f);

    size_t count = (size_t)counts[ULNA_TEST_POSITIVE];
    qsort(conditions, count, sizeof *conditions, compare);
    double median = (conditions[(count - 1) / 2] + conditions[count / 2]) / 2, largest = conditions[count - 1];
    assert_near(number(sweep, "condition_median") / median, 1, 1e-9);
    assert_near(number(sweep, "condition_largest") / largest, 1, 1e-6); /* the smaller eigenvalue is a difference */
    free(conditions);
}

/* ---- figures ------------------------------------------------------------------------------------------ */

static void shares_follow_from_the_formula(void **state)
{
    ulna_test_tool *tool = *state;
    static const double goals[4][2] = {{1, 0}, {2, 0}, {3, 0}, {0.7, -1.1}};
    json_t *object = run_json(tool, "--size 90 --goal '1 0 0' --goal 2,0,0 --goal ' 3, 0, 0 ' --goal '0.7 -1.1 0'");
    for (size_t i = 0; i < 4; i++)
        check_sweep(sweep_of(object, i, 0), goals[i], 0, &whole, 90);
    json_decref(object);
}

static void paper_is_the_default(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *plain = run_json(tool, "");
    assert_int_equal(json_integer_value(json_object_get(plain, "size")), 360);
    for (int i = 0; i < 3; i++) {
        const double goal[2] = {i + 1, 0};
        check_sweep(sweep_of(plain, (size_t)i, 0), goal, 0, &whole, 360);
    }

    /* What can be worked out by hand: at (-60, 120) H = [1 1/2; 1/2 1], stretched to (2, 0) it is singular, and
     * reaching for (3, 0) it is [6 3; 3 2]. */
    const double root = sqrt(52);
    json_t *inside = sweep_of(plain, 0, 0), *border = sweep_of(plain, 1, 0), *outside = sweep_of(plain, 2, 0);
    json_t *place = json_object_get(json_object_get(inside, "minimum"), "at");
    double turn = json_number_value(json_array_get(place, 0)), bend = json_number_value(json_array_get(place, 1));
    assert_near(fabs(turn), 60, 1e-5);
    assert_near(bend, -2 * turn, 1e-5);
    assert_near(at_minimum(inside, "condition"), 3, 1e-6);
    assert_near(at_minimum(inside, "distance_m"), 0, 1e-9);
    assert_true(json_is_null(json_object_get(json_object_get(border, "minimum"), "condition")));
    assert_near(at_minimum(outside, "condition"), (8 + root) / (8 - root), 1e-6);
    assert_near(at_minimum(outside, "distance_m"), 1, 1e-9);
    assert_near(number(outside, "f_lowest_m2"), 0.5, 1e-9);
    json_decref(plain);
}

/* A goal on the x axis: turning both joints the other way is a mirror image. */
static void mirror_images_are_alike(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const keys[] = {"positive_percent", "indefinite_percent", "negative_percent",
                                       "lowest_eigenvalue", "condition_median"};
    json_t *left = run_json(tool, "--size 100 --goal '1 0 0' --range-x '-180 0' --range-y '-30 180'");
    json_t *right = run_json(tool, "--size 100 --goal '1 0 0' --range-x '0 180' --range-y '-180 30'");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_near(number(sweep_of(left, 0, 0), keys[i]), number(sweep_of(right, 0, 0), keys[i]), 1e-10);
    json_decref(left);
    json_decref(right);
}

static void limits_change_what_they_say(void **state)
{
    ulna_test_tool *tool = *state;
    const double goal[2] = {1, 0};
    const ulna_test_box inside = {{-180, 0}, {180, 150}};
    json_t *object = run_json(tool, "--size 80 --goal '1 0 0' --limits-y '0 150'");
    check_sweep(sweep_of(object, 0, 0), goal, 0, &whole, 80);
    check_sweep(sweep_of(object, 0, 1), goal, 0, &inside, 80);
    assert_string_equal(json_string_value(json_object_get(sweep_of(object, 0, 1), "range")), "limits");
    assert_true(number(sweep_of(object, 0, 1), "negative_percent") >
                number(sweep_of(object, 0, 0), "negative_percent"));
    json_decref(object);

    /* The lowest f inside limits lies on one of them: the elbow at 90 degrees, reaching for (2, 0). */
    object = run_json(tool, "--size 80 --goal '2 0 0' --limits-x '-90 90' --limits-y '90 150'");
    json_t *sweep = sweep_of(object, 0, 1);
    json_t *place = json_object_get(json_object_get(sweep, "minimum"), "at");
    assert_near(json_number_value(json_array_get(place, 0)), -45, 1e-6);
    assert_near(json_number_value(json_array_get(place, 1)), 90, 1e-9);
    assert_near(at_minimum(sweep, "distance_m"), 2 - sqrt(2), 1e-9);
    json_decref(object);
}

static void limits_of_the_model_are_used(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(
        tool, "cat >limited.json <<'END'\n"
              "{\"format\": \"ulna-model\", \"version\": 1, \"name\": \"limited\", \"bodies\": [\n"
              "{\"name\": \"a\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}},\n"
              "{\"name\": \"b\", \"parent\": \"a\", \"placement\": {\"position\": [1, 0, 0]}, \"limits\": [[0, "
              "2.6179938779914944]],\n"
              " \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}}],\n"
              "\"markers\": [{\"name\": \"tip\", \"body\": \"b\", \"position\": [1, 0, 0]}]}\n"
              "END");
    const double goal[2] = {1, 0};
    const ulna_test_box inside = {{-180, 0}, {180, 150}};
    json_t *object = run_json(tool, "--size 40 --bounds --goal '1 0 0' limited.json");
    check_sweep(sweep_of(object, 0, 1), goal, 0, &inside, 40);
    json_decref(object);
    assert_int_equal(run(tool, "--size 40 --bounds - <limited.json"), 0);
    ulna_test_says(tool->out, "limits 0 to 150");
    ulna_test_says(tool->out, "whole range");
}

static void posture_adds_to_the_diagonal(void **state)
{
    ulna_test_tool *tool = *state;
    const double goal[2] = {1, 0};
    const ulna_test_box inside = {{-90, 0}, {90, 150}};
    json_t *object = run_json(tool, "--size 60 --goal '1 0 0' --regularise 0.5 --limits-x '-90 90' --limits-y '0 150'");
    assert_int_equal(json_array_size(json_object_get(json_array_get(json_object_get(object, "goals"), 0), "sweeps")),
                     4);
    check_sweep(sweep_of(object, 0, 0), goal, 0, &whole, 60);
    check_sweep(sweep_of(object, 0, 1), goal, 0, &inside, 60);
    check_sweep(sweep_of(object, 0, 2), goal, 0.5, &whole, 60);
    check_sweep(sweep_of(object, 0, 3), goal, 0.5, &inside, 60);
    double lowest = number(sweep_of(object, 0, 0), "lowest_eigenvalue");
    json_decref(object);

    char words[128];
    snprintf(words, sizeof words, "--size 60 --goal '1 0 0' --regularise %.12f", 1e-6 - lowest);
    object = run_json(tool, words);
    assert_near(number(sweep_of(object, 0, 1), "positive_percent"), 100, 0);
    json_decref(object);
    snprintf(words, sizeof words, "--size 60 --goal '1 0 0' --regularise %.12f", -1e-6 - lowest);
    object = run_json(tool, words);
    assert_true(number(sweep_of(object, 0, 1), "positive_percent") < 100);
    json_decref(object);

    /* The weight is in m2/rad2 whatever the size of the skeleton: joint angles get it added to their eigenvalues. */
    ulna_test_tool_shell(tool, ULNA_TEST_CLI " sample -q . ");
    object = run_json(tool, "--size 16 --regularise 0.25 arm.json");
    assert_near(number(sweep_of(object, 0, 1), "lowest_eigenvalue"),
                number(sweep_of(object, 0, 0), "lowest_eigenvalue") + 0.25, 1e-10);
    json_decref(object);
}

/* ---- choosing ----------------------------------------------------------------------------------------- */

static void assert_same_sweeps(ulna_test_tool *tool, const char *a, const char *b)
{
    json_t *first = run_json(tool, a), *second = run_json(tool, b);
    json_t *goals = json_object_get(first, "goals");
    assert_true(json_is_array(goals) && json_array_size(goals) > 0);
    if (!json_equal(goals, json_object_get(second, "goals")))
        fail_msg("'%s' and '%s' differ", a, b);
    json_decref(first);
    json_decref(second);
}

static void points_and_dofs_have_several_names(void **state)
{
    ulna_test_tool *tool = *state;
    assert_same_sweeps(tool, "--size 20",
                       "--size 20 --x first --y second --marker tip --goal 1,0,0 --goal 2,0,0 --goal 3,0,0");
    assert_same_sweeps(tool, "--size 20", "--size 20 --x 0 --y 1 --body second --point '1 0 0'");
    assert_same_sweeps(tool, "--size 20 --x second", "--size 20 --y 0 --x 1");
    assert_same_sweeps(tool, "--size 20 --y first", "--size 20 --y 0 --x 1");

    /* Of the seven joints of the arm the last one turns about the tool and does not move it. */
    ulna_test_tool_shell(tool, ULNA_TEST_CLI " sample -q . ");
    json_t *object = run_json(tool, "--size 8 arm.json");
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "y"), "dof")), "wrist_lift");
    json_decref(object);
    assert_same_sweeps(tool, "--size 8 arm.json", "--size 8 arm");
    assert_same_sweeps(tool, "--size 8 human.json --marker LFIN --x left_upper_arm.Rz --y left_forearm.Ry",
                       "--size 8 --marker=LFIN --y left_forearm.Ry --x left_upper_arm.Rz human.json");
}

/* A joint that does not move the point: everything is semi-definite, and the tool says why. */
static void degenerate_sweeps_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(run(tool, "--size 10 --body first --point '1 0 0' --x 0 --y 1 -o map.svg"), 0);
    ulna_test_says(tool->out, "second does not move the point");
    ulna_test_says(tool->out, "100.00 %");
    json_t *object = run_json(tool, "--size 10 --body first --point '1 0 0' --x 0 --y 1");
    assert_near(number(sweep_of(object, 0, 0), "semidefinite_percent"), 100, 0);
    assert_true(json_is_null(json_object_get(sweep_of(object, 0, 0), "condition_median")));
    assert_true(json_is_false(json_object_get(json_object_get(object, "y"), "moves_point")));
    json_decref(object);

    /* Slides are in metres, and swept about their rest. */
    ulna_test_tool_shell(tool, ULNA_TEST_CLI " sample -q . ");
    object = run_json(tool, "--size 8 --marker planar --x planar.Tx --y planar.Ty --goal '0 0 0' all-joints.json");
    assert_string_equal(json_string_value(json_object_get(json_object_get(object, "x"), "unit")), "metre");
    assert_near(number(sweep_of(object, 0, 0), "positive_percent"), 100, 0);
    assert_near(number(sweep_of(object, 0, 0), "condition_largest"), 1, 1e-12);
    json_decref(object);
}

/* The Hessian of all degrees of freedom. For two it is the one that is swept; for three links it is positive, or negative, definite only where its
 * part over two of them is (Cauchy's interlacing), and less often. */
static void more_degrees_of_freedom(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const shares[] = {"positive_percent", "indefinite_percent", "negative_percent",
                                         "semidefinite_percent"};
    json_t *pair = run_json(tool, "--size 60"), *both = run_json(tool, "--size 60 --over all");
    for (size_t goal = 0; goal < 3; goal++)
        for (int i = 0; i < 4; i++)
            assert_true(fabs(json_number_value(json_object_get(sweep_of(pair, goal, 0), shares[i])) -
                             json_number_value(json_object_get(sweep_of(both, goal, 0), shares[i]))) < 1e-9);
    json_decref(pair);
    json_decref(both);
    ulna_test_tool_shell(
        tool,
        "printf '{\"format\": \"ulna-model\", \"version\": 1, \"name\": \"three\", \"bodies\": ["
        "{\"name\": \"a\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}},"
        "{\"name\": \"b\", \"parent\": \"a\", \"placement\": {\"position\": [1, 0, 0]}, \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}},"
        "{\"name\": \"c\", \"parent\": \"b\", \"placement\": {\"position\": [1, 0, 0]}, \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}}],"
        "\"markers\": [{\"name\": \"tip\", \"body\": \"c\", \"position\": [1, 0, 0]}]}' >three.json");
    pair = run_json(tool, "three.json --size 60 --goal '1.5 0.7 0'");
    json_t *all = run_json(tool, "three.json --size 60 --goal '1.5 0.7 0' --over all");
    both = run_json(tool, "three.json --size 60 --goal '1.5 0.7 0' --over b,c");
    assert_int_equal(json_integer_value(json_object_get(pair, "hessian_dof")), 2);
    assert_int_equal(json_integer_value(json_object_get(all, "hessian_dof")), 3);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        double of_pair = json_number_value(json_object_get(sweep_of(pair, 0, 0), shares[i]));
        double of_all = json_number_value(json_object_get(sweep_of(all, 0, 0), shares[i]));
        assert_true(fabs(of_pair - json_number_value(json_object_get(sweep_of(both, 0, 0), shares[i]))) < 1e-9);
        if (i == 0 || i == 2)
            assert_true(of_all < of_pair);
        sum += of_all;
    }
    assert_true(fabs(sum - 100) < 1e-9);
    json_decref(pair);
    json_decref(all);
    json_decref(both);
    assert_int_equal(ulna_test_tool_run(tool, "definiteness --over nobody"), 2);
    assert_int_equal(ulna_test_tool_run(tool, "definiteness --over ''"), 2);
}

static void mistakes_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    static const struct {
        const char *arguments;
        int code;
        const char *message;
    } mistakes[] = {
        {"--x frist", 2, "there is no degree of freedom 'frist'; did you mean 'first'?"},
        {"--y 2", 2, "there is no degree of freedom '2'"},
        {"--x -1", 2, "there is no degree of freedom '-1'"},
        {"--x ''", 2, "there is no degree of freedom ''"},
        {"--x 0 --y first", 2, "two different degrees of freedom"},
        {"--goal '1 0'", 2, "--goal takes three numbers in metres"},
        {"--goal '1 0 0 0'", 2, "--goal takes three numbers"},
        {"--goal 'nan 0 0'", 2, "not 'nan 0 0'"},
        {"--goal 'inf 0 0'", 2, "not 'inf 0 0'"},
        {"--goal '1 0 zero'", 2, "not '1 0 zero'"},
        {"--goal '1e300 0 0'", 2, "not '1e300 0 0'"},
        {"--goal '1,,0 0'", 2, "--goal takes three numbers"},
        {"--size 7", 2, "--size takes a whole number from 8 to 2000, not '7'"},
        {"--size 2001", 2, "--size takes"},
        {"--size 9.5", 2, "--size takes"},
        {"--size ''", 2, "--size takes"},
        {"--regularise 0", 2, "--regularise takes a weight above 0"},
        {"--regularise nan", 2, "--regularise takes"},
        {"--regularise -1", 2, "--regularise takes"},
        {"--regularise heavy", 2, "not 'heavy'"},
        {"--bounds", 2, "the model limits neither 'first' nor 'second'"},
        {"--limits-x '10 -10'", 2, "the first number must be the lower one"},
        {"--limits-y '10'", 2, "--limits-y takes two numbers in degrees"},
        {"--range-x '0 0'", 2, "the first number must be the lower one"},
        {"--range-y '0 1e9'", 2, "--range-y takes two numbers in degrees"},
        {"--marker top", 2, "there is no marker 'top'; did you mean 'tip'?"},
        {"--body secondd", 2, "did you mean 'second'?"},
        {"--point '0 0 0'", 2, "give --body too"},
        {"--body second --point 'x'", 2, "--point takes three numbers"},
        {"--body second --marker tip", 2, "exclude each other"},
        {"-o map.png", 2, "the picture is SVG, so its name must end in .svg, not 'map.png'"},
        {"-o map", 2, "its name must end in .svg"},
        {"-o .svg", 2, "its name must end in .svg"},
        {"a b", 2, "unexpected argument 'b'"},
        {"missing.json", 4, "ulna: missing.json: cannot open the file"},
        {"broken.json", 3, "ulna: broken.json:2: "},
        {"empty.json", 3, "ulna: empty.json: "},
        {"hand.json", 2, "the model has 20 markers: give the one that has the goal, with --marker"},
        {"--body palm --x forearm.w0 hand.json", 2, "is part of a quaternion"},
        {"--size 8 -o no/such/folder/map.svg", 4, "ulna: no/such/folder/map.svg: cannot write the file"},
    };
    ulna_test_tool_shell(tool, ULNA_TEST_CLI
                         " sample -q . && >empty.json && "
                         "printf '{\"format\": \"ulna-model\", \"version\": 1,\\n\"bodies\": 3}' >broken.json");
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        int code = run(tool, mistakes[i].arguments);
        if (code != mistakes[i].code)
            fail_msg("%s: exit code %d", mistakes[i].arguments, code);
        ulna_test_says(tool->err, mistakes[i].message);
        if (code != 4 || strstr(mistakes[i].arguments, "missing"))
            assert_string_equal(tool->out, "");

        char words[256];
        snprintf(words, sizeof words, "--json %s", mistakes[i].arguments);
        assert_int_equal(run(tool, words), mistakes[i].code);
        json_t *object = ulna_test_tool_json(tool);
        json_t *files = json_object_get(object, "files");
        json_t *error = json_object_get(files ? json_array_get(files, 0) : object, "error");
        assert_true(json_is_string(json_object_get(error, "message")));
        json_decref(object);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(shares_follow_from_the_formula, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(paper_is_the_default, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(mirror_images_are_alike, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(limits_change_what_they_say, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(limits_of_the_model_are_used, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(posture_adds_to_the_diagonal, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(points_and_dofs_have_several_names, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(degenerate_sweeps_are_told, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(more_degrees_of_freedom, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(mistakes_are_told, ulna_test_tool_open, ulna_test_tool_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
