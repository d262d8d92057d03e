/* `ulna methods` and `ulna compare`, run as their users run them: tables, JSON, pages, exit codes. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"
#include "support_cli.h"
#include "ulna/solve.h"

#ifndef ULNA_TEST_CLI
#define ULNA_TEST_CLI ""
#endif

/* ---- methods -------------------------------------------------------------------------------------------- */

static void every_method_is_listed(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("methods"), 0);
    assert_string_equal(ulna_test_cli_err(), "");
    assert_true(ulna_method_count() >= 1);
    for (int i = 0; i < ulna_method_count(); i++)
        ulna_test_assert_says(ulna_test_cli_out(), ulna_method_at(i)->name);
    for (const char *line = ulna_test_cli_out(); *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);

    assert_int_equal(ulna_test_cli("--json methods"), 0);
    json_t *object = ulna_test_cli_json(), *list = json_object_get(object, "methods");
    assert_int_equal(json_array_size(list), ulna_method_count());
    for (int i = 0; i < ulna_method_count(); i++) {
        json_t *row = json_array_get(list, (size_t)i);
        const ulna_method_info *info = ulna_method_at(i);
        assert_string_equal(ulna_test_json_string(row, "name"), info->name);
        assert_string_equal(ulna_test_json_string(row, "source"), info->source);
        assert_int_equal(ulna_test_json_integer(row, "iterations"), info->iterations);
        assert_int_equal(json_is_true(json_object_get(row, "bounded")), !!(info->flags & ULNA_METHOD_BOUNDED));
        assert_int_equal(json_is_true(json_object_get(row, "lapack")), !!(info->flags & ULNA_METHOD_LAPACK));
    }
    json_decref(object);
}

/* `ulna methods NAME` lists what --set takes, and nothing else. */
static void options_are_listed_and_set(void **state)
{
    (void)state;
    const ulna_option_info *option;
    assert_int_equal(ulna_test_cli("methods --json"), 0);
    json_t *object = ulna_test_cli_json(), *list = json_object_get(object, "options");
    int count = 0;
    while (ulna_option_at(count))
        count++;
    assert_int_equal(json_array_size(list), count - 1); /* all but `method` */
    json_decref(object);
    for (int i = 1; (option = ulna_option_at(i)) != NULL; i++) {
        char command[200], text[64], method[32];
        const ulna_options defaults = ulna_options_default();
        const char *names = option->methods ? option->methods : "hybrid";
        snprintf(method, sizeof method, "%.*s", (int)strcspn(names, " "), names);
        ulna_option_text(option, &defaults, text, sizeof text);
        snprintf(command, sizeof command, "methods %s", method);
        assert_int_equal(ulna_test_cli(command), 0);
        ulna_test_assert_says(ulna_test_cli_out(), option->name);
        snprintf(command, sizeof command, "compare arm -n 1 -m %s --set %s=%s --set iterations=1", method, option->name,
                 text);
        int code = ulna_test_cli(command);
        if (code > 1)
            fail_msg("%s: exit code %d: %s", command, code, ulna_test_cli_err());
    }
    for (const char *line = ulna_test_cli_out(); *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= 80);
}

static void options_take_effect(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("compare arm --json -n 3 -m newton-pcg,gradient --set iterations=2"), 1);
    json_t *object = ulna_test_cli_json(), *row = json_array_get(json_object_get(object, "methods"), 0);
    assert_true(ulna_test_json_median(row, "iterations") == 2);
    json_decref(object);
    static const struct {
        const char *set, *message;
    } wrong[] = {
        {"lm.rul=quarters", "did you mean 'lm.rule'?"},
        {"lm.rule=fletcher", "one of nielsen, classic, quarters"},
        {"lm.damping=0", "a number above 0"},
        {"pcg.tolerance=0.1", "has no effect: it is an option of newton-pcg"},
        {"lm.rule", "NAME=VALUE"},
        {"=1", "NAME=VALUE"},
        {"method=lm", "use --method"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char command[200];
        snprintf(command, sizeof command, "compare arm -m lm --set %s", wrong[i].set);
        assert_int_equal(ulna_test_cli(command), 2);
        ulna_test_assert_says(ulna_test_cli_err(), wrong[i].message);
        assert_string_equal(ulna_test_cli_out(), "");
    }
}

/* Recorded frames: by an attachment from the tracked poses, and by the protocol of the exact-Hessian paper. */
static void recorded_frames_are_compared(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("sample --quiet ."), 0);
    assert_int_equal(
        ulna_test_cli("compare --json human.asf --markers walk.c3d -a walk-markers.csv -m hybrid,lm,newton --pick 4"),
        0);
    json_t *object = ulna_test_cli_json(), *row;
    size_t i;
    assert_string_equal(ulna_test_json_string(object, "goals"), "walk.c3d");
    assert_string_equal(ulna_test_json_string(object, "start"), "tracked");
    assert_int_equal(ulna_test_json_integer(object, "frames"), 4);
    json_array_foreach(json_object_get(object, "methods"), i, row)
    {
        assert_int_equal(ulna_test_json_integer(row, "successes"), 4);
        assert_true(ulna_test_json_median(row, "rms_mm") < 5);
    }
    json_decref(object);

    assert_int_equal(ulna_test_cli("solve --quiet -s human.asf -m walk.c3d -a walk-markers.csv -o walk.amc"), 0);
    static const char oracle[] =
        "compare --json human.asf --markers walk.c3d -a oracle --reference walk.amc --frames 10:60 --pick 3 --tol 1e-6";
    char command[400];
    for (int zero = 0; zero < 2; zero++) {
        snprintf(command, sizeof command, "%s -m newton,bfgs,lm-marquardt --report page.html %s", oracle,
                 zero ? "--start zero" : "");
        assert_in_range(ulna_test_cli(command), 0, 1);
        object = ulna_test_cli_json();
        assert_string_equal(ulna_test_json_string(object, "start"), zero ? "zero" : "reference");
        json_t *newton = json_array_get(json_object_get(object, "methods"), 0),
               *bfgs = json_array_get(json_object_get(object, "methods"), 1);
        if (!zero) {
            assert_int_equal(ulna_test_json_integer(newton, "successes"), 3);
            assert_true(ulna_test_json_median(newton, "f_m2") <= 1e-6);
        }
        assert_true(ulna_test_json_median(newton, "iterations") < ulna_test_json_median(bfgs, "iterations"));
        json_decref(object);
        char *page = ulna_test_cli_read("page.html");
        ulna_test_assert_says(page, "<svg");
        free(page);
    }
    static const char *const wrong[] = {"compare --pick 3", "compare human.asf --markers walk.c3d --seed 2",
                                        "compare human.asf --markers walk.c3d -a walk-markers.csv --start near",
                                        "compare human.asf --markers walk.c3d -a walk-markers.csv --start reference",
                                        "compare human.asf --markers walk.c3d -a oracle"};
    for (i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(ulna_test_cli(wrong[i]), 2);
    assert_int_equal(ulna_test_cli("compare human.asf --markers nothing.c3d -a walk-markers.csv"), 4);
}

static void one_method_is_explained(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("methods hybrid"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "source");
    ulna_test_assert_says(ulna_test_cli_out(), "keeps the joint limits itself");
    assert_int_equal(ulna_test_cli("methods --json hybrid"), 0);
    json_t *object = ulna_test_cli_json();
    assert_int_equal(json_array_size(json_object_get(object, "methods")), 1);
    json_decref(object);
    assert_int_equal(ulna_test_cli("methods hybird"), 2);
    ulna_test_assert_says(ulna_test_cli_err(), "did you mean 'hybrid'?");
    assert_string_equal(ulna_test_cli_out(), "");
    assert_int_equal(ulna_test_cli("methods --json zzzzzzzz"), 2);
    object = ulna_test_cli_json();
    assert_string_equal(ulna_test_json_string(json_object_get(object, "error"), "status"), "usage");
    json_decref(object);
}

/* ---- compare --------------------------------------------------------------------------------------------- */

static void default_run_succeeds(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("compare --frames 2 --methods hybrid"), 0);
    assert_string_equal(ulna_test_cli_err(), "");
    ulna_test_assert_says(ulna_test_cli_out(), "human: 59 degrees of freedom");
    ulna_test_assert_says(ulna_test_cli_out(), "41 markers");
    ulna_test_assert_says(ulna_test_cli_out(), "3° off the pose");
    ulna_test_assert_says(ulna_test_cli_out(), "2/2");
    ulna_test_assert_says(ulna_test_cli_out(), "kept");
    assert_null(strchr(ulna_test_cli_out(), '\033'));
    assert_int_equal(ulna_test_cli("compare --quiet --frames 1 --methods hybrid"), 0);
    assert_string_equal(ulna_test_cli_out(), "");
    assert_int_equal(setenv("LC_ALL", "C", 1), 0);
    assert_int_equal(ulna_test_cli("compare --frames 1 --methods hybrid"), 0);
    for (const char *at = ulna_test_cli_out(); *at; at++)
        assert_true((unsigned char)*at < 0x80);
}

/* All but those that begin with a relaxation, which are last. */
static int local_method_count(void)
{
    int count = 0;
    for (int i = 0; i < ulna_method_count(); i++) {
        int is_local = !(ulna_method_at(i)->flags & ULNA_METHOD_RELAXATION);
        assert_true(!is_local || count == i);
        count += is_local;
    }
    return count;
}

/* A:B are the frames that as many frames as B have: each can be looked at by itself. */
static void frames_by_their_numbers(void **state)
{
    (void)state;
    double largest[4], iterations[4];
    static const char *const ranges[] = {"3", "1:1", "2:2", "3:3"};
    for (int k = 0; k < 4; k++) {
        char line[80];
        snprintf(line, sizeof line, "compare --json -m hybrid --frames %s human", ranges[k]);
        assert_int_equal(ulna_test_cli(line), 0);
        json_t *object = ulna_test_cli_json(), *row = json_array_get(json_object_get(object, "methods"), 0);
        assert_int_equal(ulna_test_json_integer(object, "frames"), k ? 1 : 3);
        largest[k] = json_number_value(json_object_get(json_object_get(row, "f_m2"), "max"));
        iterations[k] = json_number_value(json_object_get(json_object_get(row, "iterations"), "max"));
        json_decref(object);
    }
    assert_true(largest[0] == fmax(largest[1], fmax(largest[2], largest[3])));
    assert_true(iterations[0] == fmax(iterations[1], fmax(iterations[2], iterations[3])));
    assert_true(largest[1] != largest[2] && largest[2] != largest[3]);
}

/* Every method that there is, on problems small enough for all of them, from near and from rest. */
static void every_method_has_its_row(void **state)
{
    (void)state;
    static const char *const runs[] = {"compare --json --frames 2 arm", "compare --json --frames 2 --cold two-link"};
    for (size_t k = 0; k < sizeof runs / sizeof *runs; k++) {
        assert_int_equal(ulna_test_cli(runs[k]), 0);
        json_t *object = ulna_test_cli_json(), *list = json_object_get(object, "methods"), *row;
        assert_int_equal(json_array_size(list), local_method_count());
        assert_int_equal(ulna_test_json_integer(object, "frames"), 2);
        assert_int_equal(ulna_test_json_integer(object, "positions"), 1);
        assert_string_equal(ulna_test_json_string(object, "start"), k ? "rest" : "near");
        assert_true(json_is_string(json_object_get(object, "fastest")));
        size_t i;
        json_array_foreach(list, i, row)
        {
            assert_string_equal(ulna_test_json_string(row, "name"), ulna_method_at((int)i)->name);
            if (json_object_get(row, "error"))
                continue;
            assert_int_equal(ulna_test_json_integer(row, "failures"), 0);
            assert_true(ulna_test_json_median(row, "f_m2") >= 0);
            assert_true(ulna_test_json_median(row, "rms_mm") >= 0);
            assert_true(ulna_test_json_median(row, "us") > 0);
            assert_true(ulna_test_json_median(row, "evaluations") >= 1);
            long long ends = 0;
            const char *reason;
            json_t *count;
            json_object_foreach(json_object_get(row, "stops"), reason, count)
            {
                ends += json_integer_value(count);
            }
            assert_int_equal(ends, 2);
            if (ulna_method_at((int)i)->flags & ULNA_METHOD_BOUNDED)
                assert_true(json_is_true(json_object_get(row, "in_limits")));
        }
        row = json_array_get(list, 0); /* the default method */
        assert_int_equal(ulna_test_json_integer(row, "successes"), 2);
        assert_true(ulna_test_json_median(row, "rms_mm") < 1e-6);
        json_decref(object);
    }
}

/* Everything but the clock is the same for the same seed, and other problems come from another one. */
static void problems_depend_on_the_seed(void **state)
{
    (void)state;
    double f[3], evaluations[3];
    static const char *const seeds[] = {"1", "1", "2"};
    for (int i = 0; i < 3; i++) {
        char arguments[128];
        snprintf(arguments, sizeof arguments, "compare --json -n 3 --max-iter 1 --methods hybrid --seed %s", seeds[i]);
        assert_int_equal(ulna_test_cli(arguments), 1);
        json_t *object = ulna_test_cli_json(), *row = json_array_get(json_object_get(object, "methods"), 0);
        f[i] = ulna_test_json_median(row, "f_m2");
        evaluations[i] = ulna_test_json_median(row, "evaluations");
        assert_int_equal(ulna_test_json_integer(json_object_get(row, "stops"), "iterations"), 3);
        json_decref(object);
    }
    assert_true(f[0] == f[1] && evaluations[0] == evaluations[1]);
    assert_true(f[0] != f[2] && f[0] > 1e-10);
}

static void options_reach_the_solver(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("compare --json -n 2 --tol 1e-3 --methods hybrid"), 0);
    json_t *object = ulna_test_cli_json(), *row = json_array_get(json_object_get(object, "methods"), 0);
    assert_int_equal(ulna_test_json_integer(json_object_get(row, "stops"), "objective"), 2);
    assert_true(ulna_test_json_median(row, "f_m2") > 1e-24 && ulna_test_json_median(row, "f_m2") <= 1e-3);
    json_decref(object);

    /* a goal that only a forbidden pose reaches */
    ulna_test_cli_write_text("elbow.json",
                             "{\"format\": \"ulna-model\", \"version\": 1, \"bodies\": [{\"name\": \"arm\", \"joint\": "
                             "{\"type\": \"revolute\", \"axis\": [0, 0, 1]}, \"limits\": [[-0.5, 0.5]]}], \"markers\": "
                             "[{\"name\": \"tip\", \"body\": \"arm\", \"position\": [1, 0, 0]}]}");
    assert_int_equal(ulna_test_cli("compare elbow.json --json --methods hybrid --goal 'tip 0 1 0'"), 0);
    object = ulna_test_cli_json();
    row = json_array_get(json_object_get(object, "methods"), 0);
    assert_true(json_is_true(json_object_get(row, "in_limits")));
    assert_true(ulna_test_json_median(row, "rms_mm") > 100);
    json_decref(object);
    assert_int_equal(ulna_test_cli("compare elbow.json --json --methods hybrid --unbounded --goal 'tip 0 1 0'"), 0);
    object = ulna_test_cli_json();
    row = json_array_get(json_object_get(object, "methods"), 0);
    assert_false(json_is_true(json_object_get(row, "in_limits")));
    double outside = json_number_value(json_object_get(row, "outside_deg"));
    assert_true(outside > 61.352 && outside < 61.353); /* 90 degrees less 0.5 rad */
    assert_true(ulna_test_json_median(row, "rms_mm") < 1e-6);
    json_decref(object);
}

static void success_is_judged_by_one_rule(void **state)
{
    (void)state;
    /* goals that were made can be met: nobody succeeds who does not meet them */
    assert_int_equal(ulna_test_cli("compare --json -n 2 --cold --methods hybrid --max-iter 2"), 1);
    json_t *object = ulna_test_cli_json(), *list = json_object_get(object, "methods");
    assert_int_equal(ulna_test_json_integer(json_array_get(list, 0), "successes"), 0);
    assert_true(json_is_null(json_object_get(object, "fastest")));
    assert_int_equal(ulna_test_json_integer(object, "max_iterations"), 2);
    json_decref(object);

    /* a goal out of reach: who comes as near as the best succeeds. The arm reaches 2 m, so f = 1/2 (3 - 2)^2 */
    assert_int_equal(
        ulna_test_cli("compare --json two-link --methods hybrid --goal 'tip 3 0.5 0' --goal 'tip 3 -0.5 0'"), 0);
    object = ulna_test_cli_json();
    json_t *row = json_array_get(json_object_get(object, "methods"), 0);
    assert_int_equal(ulna_test_json_integer(row, "successes"), 1);
    assert_true(fabs(ulna_test_json_median(row, "f_m2") - 1.25) < 1e-9); /* two goals, each 1/2 (1 + 1/4) */
    assert_true(fabs(ulna_test_json_median(row, "rms_mm") - 1000 * sqrt(1.25)) < 1e-6);
    json_decref(object);

    ulna_test_cli_write_text("rest.json",
                             "{\"format\": \"ulna-model\", \"version\": 1, \"bodies\": [{\"name\": \"base\"}]}");
    assert_int_equal(ulna_test_cli("compare rest.json"), 3);
    ulna_test_assert_says(ulna_test_cli_err(), "rest.json: the skeleton has no degree of freedom");
}

static void wrong_usage_is_told(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *message;
    } mistakes[] = {
        {"compare --frames 0", "--frames takes a whole number from 1 to 10000"},
        {"compare --frames many", "--frames takes a whole number"},
        {"compare --frames 3:2", "--frames takes A:B"},
        {"compare --frames 0:2", "frames have the numbers 1 to 10000"},
        {"compare --frames 1000000", "--frames takes a whole number"},
        {"compare --spread -1", "--spread takes a number from 0 to 180"},
        {"compare --spread nan", "--spread takes a number"},
        {"compare --seed -1", "--seed takes a whole number"},
        {"compare --seed 99999999999999999999", "--seed takes a whole number"},
        {"compare --max-iter 0", "--max-iter takes a whole number"},
        {"compare --tol inf", "--tol takes a number"},
        {"compare --tol=-1", "--tol takes a number"},
        {"compare --methods hybird", "did you mean 'hybrid'?"},
        {"compare --methods ''", "--methods takes names"},
        {"compare --methods hybrid,", "--methods takes names"},
        {"compare --methods hybrid,hybrid", "twice"},
        {"compare --start there", "--start takes near, rest or zero"},
        {"compare --start near --goal 'LFHD 0 1 0'", "--start near is for random goals"},
        {"compare --start near --constraints c.json", "--start near is for random goals"},
        {"compare --goals g.csv --constraints c.json", "give it or --goals, not both"},
        {"compare - --constraints -", "can be the model or the goals and constraints"},
        {"compare --start zero --cold", "give one of them"},
        {"compare --cold --spread 4", "--spread is for starts near the goals"},
        {"compare --spread 4 --goal 'LFHD 0 1 0'", "give --frames too"},
        {"compare --report ''", "--report needs the name of a file"},
        {"compare - --goals -", "can be the model or the goals"},
        {"compare a b", "unexpected argument 'b'"},
        {"compare --goal 'LFHD 1 2'", "missing fields"},
        {"compare --goal 'LFHD 1 2 x'", "z is not a number: 'x'"},
        {"compare --goal 'LFHD 1 2 nan'", "z is not a finite number"},
        {"compare --goal 'LFHD,1,2,3,4,5'", "wrong number of fields"},
        {"compare --goal 'LFDH 1 2 3'", "did you mean 'LFHD'?"},
        {"compare --goal 'LFHD 1 2 3 -1'", "the weight is negative"},
        {"compare --goal ''", "missing fields"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        char arguments[128];
        assert_int_equal(ulna_test_cli(mistakes[i].arguments), 2);
        assert_string_equal(ulna_test_cli_out(), "");
        ulna_test_assert_says(ulna_test_cli_err(), mistakes[i].message);
        snprintf(arguments, sizeof arguments, "--json %s", mistakes[i].arguments);
        assert_int_equal(ulna_test_cli(arguments), 2);
        json_t *object = ulna_test_cli_json();
        assert_string_equal(ulna_test_json_string(json_object_get(object, "error"), "status"), "usage");
        json_decref(object);
    }
}

/* ---- the page -------------------------------------------------------------------------------------------- */

static int is_void(const char *tag, size_t length)
{
    static const char *const names[] = {"meta", "input", "br", "link"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], tag, length) == 0)
            return 1;
    return 0;
}

/* Every tag that opens also closes, in order. */
static void assert_balanced(const char *page)
{
    enum { DEEPEST = 64 };
    const char *open[DEEPEST];
    size_t lengths[DEEPEST];
    int depth = 0;
    for (const char *at = strchr(page, '<'); at; at = strchr(at + 1, '<')) {
        const char *end = strchr(at, '>');
        assert_non_null(end);
        int closes = at[1] == '/';
        const char *name = at + 1 + closes;
        size_t length = 0;
        while (isalnum((unsigned char)name[length]))
            length++;
        if (at[1] == '!' || end[-1] == '/')
            continue;
        assert_true(length > 0);
        assert_false(is_void(name, length)); /* they are written <so/> */
        if (!closes) {
            assert_true(depth < DEEPEST);
            open[depth] = name;
            lengths[depth++] = length;
        } else {
            if (depth-- <= 0) {
                fail_msg("</%.*s> closes nothing", (int)length, name);
                return;
            }
            if (lengths[depth] != length || memcmp(open[depth], name, length) != 0)
                fail_msg("<%.*s> is closed by </%.*s>", (int)lengths[depth], open[depth], (int)length, name);
        }
    }
    assert_int_equal(depth, 0);
}

/* Nothing comes from elsewhere: the name of the SVG language is the one address. */
static void assert_self_contained(const char *page)
{
    static const char address[] = "http://www.w3.org/2000/svg";
    for (const char *at = strstr(page, "://"); at; at = strstr(at + 1, "://"))
        assert_memory_equal(at - 4, address, sizeof address - 1);
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "{{")); /* a part of the template that is not filled */
    assert_null(strstr(page, "src="));
    assert_null(strstr(page, "@import"));
    assert_null(strstr(page, "url("));
    for (const char *at = strstr(page, "nan"); at; at = strstr(at + 1, "nan")) /* a number that is none */
        assert_true(isalpha((unsigned char)at[-1]) || isalpha((unsigned char)at[3]));
}

static void page_is_complete(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("compare --json -n 2 --report page.html arm"), 0);
    json_t *object = ulna_test_cli_json();
    assert_string_equal(ulna_test_json_string(object, "report"), "page.html");
    json_decref(object);
    char *page = ulna_test_cli_read("page.html");
    assert_balanced(page);
    assert_self_contained(page);
    for (int i = 0; i < local_method_count(); i++)
        ulna_test_assert_says(page, ulna_method_at(i)->name);
    ulna_test_assert_says(page, "prefers-color-scheme: dark");
    ulna_test_assert_says(page, "Convergence over iterations");
    ulna_test_assert_says(page, "Convergence over time");
    ulna_test_assert_says(page, "7 degrees of freedom");
    int strokes = 0;
    for (const char *at = strstr(page, "class=\"line s"); at; at = strstr(at + 1, "class=\"line s"))
        strokes++;
    assert_true(strokes >= 2);
    assert_null(strstr(page, " d=\"\"")); /* a line that is not drawn */
    free(page);

    /* one frame, with orientations; and a goal that is met at the start, where there is nothing to iterate */
    ulna_test_cli_write_text("turn.json", "{\"goals\": [{\"body\": \"left_hand\", \"orientation\": [0, 0, 0, 1]}]}");
    assert_int_equal(ulna_test_cli("compare --methods hybrid --goals turn.json --report page.html"), 0);
    ulna_test_assert_says(ulna_test_cli_out(), "Report: page.html");
    page = ulna_test_cli_read("page.html");
    assert_balanced(page);
    assert_self_contained(page);
    free(page);
    assert_int_equal(ulna_test_cli("compare two-link --methods hybrid --goal 'tip 2 0 0' --report page.html"), 0);
    page = ulna_test_cli_read("page.html");
    assert_balanced(page);
    assert_self_contained(page);
    free(page);
}

static void names_are_escaped(void **state)
{
    (void)state;
    ulna_test_cli_write_text("a<b>&\"c.json", "{\"format\": \"ulna-model\", \"version\": 1, "
                                              "\"bodies\": [{\"name\": \"<i>\", \"joint\": {\"type\": \"free\"}}]}");
    assert_int_equal(ulna_test_cli("compare -n 1 --methods hybrid 'a<b>&\"c.json' --report page.html"), 0);
    char *page = ulna_test_cli_read("page.html");
    ulna_test_assert_says(page, "a&lt;b&gt;&amp;&quot;c.json");
    assert_null(strstr(page, "a<b"));
    assert_balanced(page);
    free(page);
}

static void unwritable_pages_are_told(void **state)
{
    (void)state;
    assert_int_equal(ulna_test_cli("compare --json -n 1 arm --methods hybrid --report none/page.html"), 4);
    ulna_test_assert_says(ulna_test_cli_err(), "none/page.html: ");
    json_t *object = ulna_test_cli_json();
    assert_string_equal(ulna_test_json_string(json_object_get(object, "error"), "status"), "io");
    assert_int_equal(json_array_size(json_object_get(object, "methods")), 1);
    json_decref(object);
    assert_int_equal(ulna_test_cli("compare -n 1 arm --methods hybrid --report /proc/page.html"), 4);
    assert_int_equal(ulna_test_cli("compare -n 1 arm --methods hybrid --report ."), 4);

    /* a limit that is met in the middle: no part is left, and an old page stays */
    ulna_test_cli_write_text("page.html", "old");
    assert_int_equal(ulna_test_cli("--version && ulimit -f 1 && " ULNA_TEST_CLI
                                   " compare -n 1 arm --methods hybrid --report page.html"),
                     4);
    char *page = ulna_test_cli_read("page.html");
    assert_string_equal(page, "old");
    free(page);
    assert_int_equal(ulna_test_cli("--version && ls *.tmp"), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_method_is_listed, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(options_are_listed_and_set, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(recorded_frames_are_compared, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(options_take_effect, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(one_method_is_explained, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(default_run_succeeds, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(every_method_has_its_row, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(frames_by_their_numbers, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(problems_depend_on_the_seed, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(options_reach_the_solver, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(success_is_judged_by_one_rule, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(wrong_usage_is_told, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(page_is_complete, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(names_are_escaped, ulna_test_cli_set_up, ulna_test_cli_tear_down),
        cmocka_unit_test_setup_teardown(unwritable_pages_are_told, ulna_test_cli_set_up, ulna_test_cli_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
