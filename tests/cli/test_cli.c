/* The command-line tool, run as its users run it: exit codes, what it says where, JSON, files, the manual page. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support.h"
#include "ulna/sample.h"
#include "ulna/ulna.h"

#ifndef ULNA_TEST_CLI
#define ULNA_TEST_CLI ""
#endif

/* ---- running it --------------------------------------------------------------------------------------- */

static char folder[64];
static char *out, *err; /* what the last run said */

/* Runs `ulna ARGUMENTS` in the test's folder and returns its exit code. */
static int ulna(const char *arguments)
{
    char command[1024], path[128];
    size_t size;
    free(out);
    free(err);
    snprintf(command, sizeof command, "cd %s && { %s %s; } >.out 2>.err", folder, ULNA_TEST_CLI, arguments);
    int state = system(command);
    assert_true(state != -1 && WIFEXITED(state));
    out = ulna_test_read_file(ulna_test_path(path, sizeof path, folder, ".out"), &size);
    err = ulna_test_read_file(ulna_test_path(path, sizeof path, folder, ".err"), &size);
    return WEXITSTATUS(state);
}

static void assert_says(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

static void assert_silent(const char *text)
{
    assert_string_equal(text, "");
}

/* Standard output is one JSON object and nothing else. */
static json_t *json_output(void)
{
    json_error_t problem;
    json_t *object = json_loads(out, JSON_REJECT_DUPLICATES, &problem);
    if (!object)
        fail_msg("%d: %s:\n%s", problem.line, problem.text, out);
    assert_true(json_is_object(object));
    return object;
}

static void shell(const char *script)
{
    char command[1024];
    snprintf(command, sizeof command, "cd %s && %s", folder, script);
    assert_int_equal(system(command), 0);
}

/* Files that the tool has left in the folder, at any depth. */
static int files_in_folder(void)
{
    char path[128];
    size_t size;
    shell("find . -type f ! -name '.*' | wc -l >.count");
    char *text = ulna_test_read_file(ulna_test_path(path, sizeof path, folder, ".count"), &size);
    int count = atoi(text);
    free(text);
    return count;
}

static int set_up(void **state)
{
    (void)state;
    if (!*ULNA_TEST_CLI) {
        print_message("the tool is not part of this build\n");
        skip();
    }
    setenv("LC_ALL", "C.UTF-8", 1);
    unsetenv("COLUMNS");
    strcpy(folder, "/tmp/ulna-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    free(out);
    free(err);
    out = err = NULL;
    return system(command);
}

/* ---- help --------------------------------------------------------------------------------------------- */

static void help_explains_every_command(void **state)
{
    (void)state;
    assert_int_equal(ulna("help --json"), 0);
    json_t *table = json_output(), *command;
    size_t index;
    assert_int_equal(ulna("help"), 0);
    assert_silent(err);
    json_array_foreach(json_object_get(table, "commands"), index, command)
    {
        const char *name = json_string_value(json_object_get(command, "name"));
        assert_says(out, name);
    }
    json_array_foreach(json_object_get(table, "commands"), index, command)
    {
        char arguments[64];
        const char *name = json_string_value(json_object_get(command, "name"));
        snprintf(arguments, sizeof arguments, "help %s", name);
        assert_int_equal(ulna(arguments), 0);
        assert_says(out, "Usage");
        char *first = strdup(out);
        json_t *option;
        size_t k;
        json_array_foreach(json_object_get(command, "options"), k, option)
        {
            char dashed[64];
            snprintf(dashed, sizeof dashed, "--%s", json_string_value(json_object_get(option, "name")));
            assert_says(out, dashed);
        }
        snprintf(arguments, sizeof arguments, "%s --help", name);
        assert_int_equal(ulna(arguments), 0);
        assert_string_equal(out, first);
        free(first);
    }
    assert_true(json_array_size(json_object_get(table, "commands")) >= 3);
    json_decref(table);
    assert_int_equal(ulna("help --json info"), 0);
    table = json_output();
    json_t *commands = json_object_get(table, "commands");
    assert_int_equal(json_array_size(commands), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(commands, 0), "name")), "info");
    json_decref(table);
    assert_int_equal(ulna("info --help --json"), 0); /* for people */
    assert_says(out, "Usage");
}

static void version_is_told(void **state)
{
    (void)state;
    assert_int_equal(ulna("--version"), 0);
    assert_string_equal(out, "ulna " ULNA_VERSION_STRING "\n");
    assert_int_equal(ulna("--json --version"), 0);
    json_t *object = json_output();
    assert_string_equal(json_string_value(json_object_get(object, "version")), ULNA_VERSION_STRING);
    json_decref(object);
}

static void manual_page_is_up_to_date(void **state)
{
    (void)state;
    size_t size;
    char *page = ulna_test_read_file(ULNA_SOURCE_DIR "/docs/ulna.1", &size);
    assert_int_equal(ulna("help --man"), 0);
    if (strcmp(page, out) != 0)
        fail_msg("docs/ulna.1 differs from what the tool says; run: build/ulna help --man > docs/ulna.1");
    free(page);
}

static void mistakes_get_suggestions(void **state)
{
    (void)state;
    static const struct {
        const char *arguments, *message;
    } mistakes[] = {
        {"", "ulna help"},
        {"inof x", "did you mean 'info'?"},
        {"dance", "there is no command 'dance'; see 'ulna help'"},
        {"/dev/null", "'/dev/null' is a file, not a command: 'ulna info /dev/null' shows what it contains"},
        {"info --tre x", "did you mean --tree?"},
        {"info --jsno x", "did you mean --json?"},
        {"info --sing x", "there is no option --sing; see 'ulna help info'"},
        {"info -x y", "there is no option -x"},
        {"info", "missing argument: ulna info FILE..."},
        {"sample a b", "unexpected argument 'b'"},
        {"sample --only", "--only needs a value: --only NAME"},
        {"sample --only humam d", "did you mean 'human'?"},
        {"info --tree=yes x", "--tree takes no value"},
        {"info --threads x y", "--threads takes a whole number"},
        {"info --threads -1 y", "--threads takes a whole number"},
        {"info --up w y", "--up takes x, y or z"},
        {"info --up z y", "--up needs --draw"},
        {"info ''", "a file name is needed"},
        {"info -- a ''", "a file name is needed"},
        {"sample ''", "a folder name is needed"},
        {"help ''", "a command is needed"},
        {"help --man info", "--man prints the whole manual page"},
        {"help smaple", "did you mean 'sample'?"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        assert_int_equal(ulna(mistakes[i].arguments), 2);
        assert_silent(out);
        assert_says(err, mistakes[i].message);
        assert_says(err, "ulna: ");

        /* the same in JSON, wherever the option stands */
        char arguments[128];
        snprintf(arguments, sizeof arguments, i % 2 ? "--json %s" : "%s --json", mistakes[i].arguments);
        if (strstr(arguments, "-- ") || strstr(arguments, "--only --json"))
            continue; /* here it is a name */
        assert_int_equal(ulna(arguments), 2);
        json_t *object = json_output(), *error = json_object_get(object, "error");
        assert_string_equal(json_string_value(json_object_get(error, "status")), "usage");
        assert_says(json_string_value(json_object_get(error, "message")), mistakes[i].message);
        json_decref(object);
    }
    assert_int_equal(files_in_folder(), 0);
}

/* ---- sample ------------------------------------------------------------------------------------------- */

static void samples_are_written(void **state)
{
    (void)state;
    assert_int_equal(ulna("sample deep/down"), 0);
    assert_silent(err);
    int count = 0;
    for (; ulna_sample_name(count); count++) {
        char name[64];
        snprintf(name, sizeof name, "deep/down/%s.json: ", ulna_sample_name(count));
        assert_says(out, name);
    }
    count += 4;                                 /* of the take */
    assert_int_equal(files_in_folder(), count); /* and no temporary ones */

    /* once more: nothing to do; an edited file is kept, or replaced on demand */
    assert_int_equal(ulna("sample deep/down"), 0);
    assert_says(out, "unchanged");
    shell("echo mine >deep/down/arm.json");
    assert_int_equal(ulna("sample deep/down"), 1);
    assert_says(err, "deep/down/arm.json: exists with different contents");
    shell("grep -q mine deep/down/arm.json");
    assert_int_equal(ulna("sample --force --quiet deep/down/"), 0);
    assert_silent(out);
    assert_silent(err);
    assert_int_equal(ulna("info --quiet deep/down/arm.json"), 0);

    assert_int_equal(ulna("--json sample --only arm --only hand some"), 0);
    json_t *object = json_output(), *files = json_object_get(object, "files");
    assert_int_equal(json_array_size(files), 2);
    json_t *first = json_array_get(files, 0);
    assert_string_equal(json_string_value(json_object_get(first, "file")), "some/hand.json");
    assert_string_equal(json_string_value(json_object_get(first, "result")), "written");
    json_decref(object);
    assert_int_equal(files_in_folder(), count + 2);
}

static void unwritable_places_are_told(void **state)
{
    (void)state;
    shell("echo text >file; mkdir -p busy/human.json");
    assert_int_equal(ulna("sample file"), 4);
    assert_says(err, "ulna: file: cannot create the folder");
    assert_int_equal(ulna("sample file/below"), 4);
    assert_int_equal(ulna("sample /proc/ulna"), 4);
    assert_int_equal(ulna("sample --only human busy"), 4);
    assert_says(err, "ulna: busy/human.json: cannot write the file");
    assert_int_equal(files_in_folder(), 1); /* the one made above */

    /* with --json there is an object whatever happens */
    assert_int_equal(ulna("sample --json file"), 4);
    json_t *object = json_output(), *error = json_object_get(object, "error");
    assert_int_equal(json_array_size(json_object_get(object, "files")), 0);
    assert_string_equal(json_string_value(json_object_get(error, "status")), "io");
    assert_says(json_string_value(json_object_get(error, "message")), "cannot create the folder");
    json_decref(object);
    assert_int_equal(ulna("sample --json --only human busy"), 4);
    object = json_output();
    json_t *row = json_array_get(json_object_get(object, "files"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "result")), "failed");
    error = json_object_get(row, "error");
    assert_string_equal(json_string_value(json_object_get(error, "status")), "io");
    json_decref(object);

    /* a disk that is full, or a limit that is met, after some blocks: no part of a file is left */
    assert_int_equal(ulna("--version && ulimit -f 1 && " ULNA_TEST_CLI " sample --only human full"), 4);
    assert_says(err, "full/human.json: cannot write the file");
    assert_int_equal(files_in_folder(), 1);
    assert_int_equal(ulna("help >/dev/full"), 4);
    assert_says(err, "standard output");
}

/* ---- info --------------------------------------------------------------------------------------------- */

static void info_tells_about_robots(void **state)
{
    (void)state;
    static const char robot[] =
        "<robot name='gripper'><link name='palm'/><link name='left'/><link name='right'/><link name='tip'/>"
        "<joint name='open' type='prismatic'><parent link='palm'/><child link='left'/><axis xyz='0 1 0'/>"
        "<limit lower='0' upper='0.04'/></joint>"
        "<joint name='follow' type='prismatic'><parent link='palm'/><child link='right'/><axis xyz='0 1 0'/>"
        "<limit lower='-0.04' upper='0'/><mimic joint='open' multiplier='-1'/></joint>"
        "<joint name='nail' type='fixed'><parent link='left'/><child link='tip'/><origin xyz='0.1 0 0'/></joint>"
        "</robot>";
    char path[128];
    FILE *file = fopen(ulna_test_path(path, sizeof path, folder, "gripper.urdf"), "w");
    assert_true(file && fputs(robot, file) >= 0 && fclose(file) == 0);
    assert_int_equal(ulna("info gripper.urdf"), 0);
    assert_says(out, "URDF \"gripper\"");
    assert_says(out, "open    prismatic  left        0 to 0.04 m   -");
    assert_says(out, "follow  prismatic  right       -0.04 to 0 m  -1 * open");
    assert_says(out, "tip      1  0.140 m");
    assert_null(strstr(out, "note"));
    assert_int_equal(ulna("info --json gripper.urdf"), 0);
    json_t *object = json_output();
    json_t *row = json_array_get(json_object_get(object, "files"), 0);
    assert_int_equal(json_array_size(json_object_get(row, "moving_joints")), 2);
    assert_int_equal(json_integer_value(json_object_get(row, "mimics")), 1);
    json_t *mimic = json_object_get(json_array_get(json_object_get(row, "moving_joints"), 1), "mimic");
    assert_string_equal(json_string_value(json_object_get(mimic, "joint")), "open");
    assert_true(json_number_value(json_object_get(mimic, "multiplier")) == -1);
    assert_int_equal(json_array_size(json_object_get(row, "tips")), 2);
    json_decref(object);
    assert_int_equal(ulna("convert gripper.urdf gripper.json"), 0);
    assert_int_equal(ulna("info --tree --draw gripper.json"), 0);
    assert_says(out, "-1 * open");
    assert_int_equal(ulna("convert gripper.urdf other.urdf"), 3);
}

static void info_tells_about_models(void **state)
{
    (void)state;
    assert_int_equal(ulna("sample --quiet ."), 0);
    assert_int_equal(ulna("info --tree --draw human.json"), 0);
    assert_silent(err);
    assert_says(out, "human.json: Ulna model (JSON) \"human\"\n");
    assert_says(out, "59 degrees of freedom");
    assert_says(out, "70 kg");
    assert_says(out, "move no marker: left_thumb");
    assert_says(out, "├─ left_thigh");
    assert_says(out, "front: x right, y up");
    assert_null(strchr(out, '\033')); /* colours are for terminals */
    assert_int_equal(ulna("info -td --up z arm.json two-link.json hand.json all-joints.json"), 0);
    assert_says(out, "front: x right, z up");
    assert_int_equal(ulna("info --quiet human.json"), 0);
    assert_silent(out);
    assert_int_equal(ulna("info - <arm.json"), 0);
    assert_says(out, "7 degrees of freedom");
    assert_int_equal(ulna("info - </dev/zero"), 3);
    assert_says(err, "Ulna reads Ulna model (JSON)");

    assert_int_equal(ulna("info --json --tree --draw *.json"), 0);
    assert_silent(err);
    json_t *object = json_output(), *row;
    size_t index;
    assert_int_equal(json_array_size(json_object_get(object, "files")), 6);
    json_array_foreach(json_object_get(object, "files"), index, row)
    {
        assert_null(json_object_get(row, "error"));
        assert_string_equal(json_string_value(json_object_get(row, "format")), "ulna-model");
        assert_int_equal(json_array_size(json_object_get(row, "tree")),
                         json_integer_value(json_object_get(row, "bodies")));
        assert_true(json_array_size(json_object_get(row, "drawing")) > 1);
        if (strcmp(json_string_value(json_object_get(row, "name")), "human") == 0) {
            assert_int_equal(json_integer_value(json_object_get(row, "dof")), 59);
            assert_int_equal(json_integer_value(json_object_get(row, "markers")), 41);
        }
    }
    json_decref(object);
}

static void info_goes_on_after_bad_files(void **state)
{
    (void)state;
    assert_int_equal(ulna("sample --quiet ."), 0);
    shell("head -c 300 human.json >cut.json; printf 'HIERARCHY' >other.bvh; : >empty; "
          "sed 's/\"axis\": \\[1, 0, 0\\]/\"axis\": [1, 0]/' human.json >axis.json");
    assert_int_equal(ulna("info cut.json arm.json"), 3);
    assert_says(err, "ulna: cut.json:1"); /* with a line: 1-something */
    assert_says(out, "arm.json: Ulna model");
    assert_int_equal(ulna("info axis.json"), 3);
    assert_says(err, "body \"left_shank\": joint: axis: should have 3 numbers, not 2");
    assert_int_equal(ulna("info other.bvh empty"), 3);
    assert_says(err, "ulna: other.bvh:1: the file has no ROOT");
    assert_says(err, "ulna: empty: the file is empty");
    assert_int_equal(ulna("info absent.json cut.json"), 4);
    assert_says(err, "ulna: absent.json: cannot open the file: No such file");
    assert_int_equal(ulna("info ."), 4);

    assert_int_equal(ulna("info --json cut.json arm.json"), 3);
    json_t *object = json_output(), *files = json_object_get(object, "files");
    json_t *error = json_object_get(json_array_get(files, 0), "error");
    assert_true(json_integer_value(json_object_get(error, "line")) > 1);
    assert_string_equal(json_string_value(json_object_get(error, "status")), "parse");
    assert_non_null(json_object_get(error, "message"));
    assert_null(json_object_get(json_array_get(files, 1), "error"));
    json_decref(object);
}

/* Names from files cannot drive the terminal, and JSON stays JSON. */
static void names_are_cleaned(void **state)
{
    (void)state;
    shell("printf '{\"format\":\"ulna-model\",\"version\":1,\"bodies\":[{\"name\":\"\\\\u001b[31mred\\\\u009b\"}]}' "
          ">red.json; cp red.json \"$(printf 'bad\\377name.json')\"");
    assert_int_equal(ulna("info --tree red.json"), 0);
    assert_says(out, "?[31mred");
    assert_null(strchr(out, '\033'));
    shell("cat >lines.json <<'END'\n"
          "{\"format\": \"ulna-model\", \"version\": 1, \"name\": \"\\r\\t\\u007f\", "
          "\"bodies\": [{\"name\": \"a\\nroot ok\"}]}\n"
          "END\n"
          "sed 's/\\]}$/], \"markers\": [{\"name\": \"m\", \"body\": \"b\\\\nc\"}]}/' lines.json >marker.json");
    assert_int_equal(ulna("info marker.json"), 3); /* one line of message, whatever is in the name */
    assert_says(err, "there is no body \"b?c\"");
    assert_int_equal(ulna("info --tree lines.json"), 0);
    assert_says(out, "\"???\"\n");
    assert_says(out, "a?root ok");
    assert_int_equal(ulna("info --tree --json red.json"), 0);
    assert_says(out, "\\u001B[31mred\\u009B");
    assert_int_equal(ulna("info --tree --json bad*name.json"), 0);
    json_t *object = json_output();
    json_t *row = json_array_get(json_object_get(object, "files"), 0);
    assert_string_equal(json_string_value(json_object_get(row, "file")), "bad?name.json");
    json_decref(object);
}

static void lines_have_no_blanks_at_their_end(void **state)
{
    (void)state;
    static const char *const commands[] = {
        "help",
        "info --tree --values arm",
        "info --draw human",
        "methods",
        "methods newton",
        "reach arm --goal '0.4 0.2 0.5'",
        "reach arm --goal '0.4 0.2 0.5' --lock elbow",
        "compare arm --frames 2 --methods hybrid,lm",
        "global arm --goal 'tool 3 0 0'",
    };
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        assert_in_range(ulna(commands[i]), 0, 1); /* 1: not reached */
        if (strstr(out, " \n"))
            fail_msg("%s:\n%s", commands[i], out);
    }
}

/* ---- drawings ----------------------------------------------------------------------------------------- */

/* A gate: up, to the right along the top, and half-way down again, w wide and h high. */
static void write_gate(double w, double h)
{
    char path[128];
    FILE *file = fopen(ulna_test_path(path, sizeof path, folder, "gate.json"), "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": \"ulna-model\", \"version\": 1, \"bodies\": [{\"name\": \"base\"},\n"
            "{\"name\": \"post\", \"parent\": \"base\", \"placement\": {\"position\": [0, 0, %g]}},\n"
            "{\"name\": \"beam\", \"parent\": \"post\", \"placement\": {\"position\": [%g, 0, 0]}},\n"
            "{\"name\": \"drop\", \"parent\": \"beam\", \"placement\": {\"position\": [0, 0, %g]}}]}\n",
            h, w, -h / 2);
    fclose(file);
}

/* Line number `row` of the drawing of the last run, which was with --json. */
static const char *drawn(json_t *object, size_t row)
{
    json_t *file = json_array_get(json_object_get(object, "files"), 0);
    const char *line = json_string_value(json_array_get(json_object_get(file, "drawing"), row));
    return line ? line : "";
}

/* Neither the top row nor the right column is lost to rounding, whatever the proportions are. */
static void drawings_are_complete(void **state)
{
    (void)state;
    for (int i = 0; i <= 60; i++) {
        write_gate(0.2 + 0.037 * i, 0.4);
        assert_int_equal(ulna("info --json --draw --ascii --up z gate.json"), 0);
        json_t *object = json_output();
        const char *top = drawn(object, 0), *second = drawn(object, 1);
        size_t beam = strspn(top, ".:|'");
        if (beam < 10 || top[beam] != ' ' || !strchr("|:'", second[0]) || !strchr("|:'", second[beam - 1]))
            fail_msg("%s", out);
        json_decref(object);
    }
}

/* But for the folder of the manual. */
static int widest_line(const char *text)
{
    int widest = 0;
    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
        int width = 0;
        for (const char *at = line; *at && *at != '\n'; at++)
            width += ((unsigned char)*at & 0xC0) != 0x80;
        if (strncmp(line, "  /", 3) != 0)
            widest = width > widest ? width : widest;
    }
    return widest;
}

/* Every page of help, and what lists the methods. */
static void help_fits_the_terminal(void **state)
{
    (void)state;
    char lines[64][40] = {"help", "--help", "methods"}, name[20];
    int count = 3;
    assert_int_equal(ulna("help"), 0);
    for (const char *at = strstr(out, "Commands\n"); (at = strchr(at, '\n')) && at[1] == ' ' && count < 62; at++) {
        sscanf(at + 1, " %19s", name);
        snprintf(lines[count++], sizeof *lines, "help %s", name);
        snprintf(lines[count++], sizeof *lines, "%s --help", name);
    }
    assert_true(count > 20);
    for (int i = 0; i < count; i++) {
        assert_int_equal(ulna(lines[i]), 0);
        if (widest_line(out) > 80)
            fail_msg("ulna %s: a line has %d columns:\n%s", lines[i], widest_line(out), out);
    }
}

static int is_plain(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text > 0x7E)
            return 0;
    return 1;
}

static void drawings_suit_the_terminal(void **state)
{
    (void)state;
    assert_int_equal(ulna("sample --quiet ."), 0);
    assert_int_equal(ulna("info --draw --tree --ascii human.json all-joints.json"), 0);
    assert_true(is_plain(out));
    assert_says(out, "|- left_thigh");
    assert_says(out, "+-20 deg");
    setenv("LC_ALL", "C", 1);
    assert_int_equal(ulna("info --draw --tree human.json"), 0);
    assert_true(is_plain(out));
    assert_int_equal(ulna("info --draw --json human.json"), 0); /* which is UTF-8 everywhere */
    assert_false(is_plain(out));
    setenv("LC_ALL", "xx_XX.utf8", 1); /* not installed, but its name tells */
    assert_int_equal(ulna("info --draw --tree human.json"), 0);
    assert_says(out, "├─ left_thigh");
    assert_says(out, "±20°");

    static const char *const columns[] = {"40", "60", "80", "100", "132"};
    write_gate(2, 0.1);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        setenv("COLUMNS", columns[i], 1);
        assert_int_equal(ulna("info --draw human.json"), 0);
        assert_in_range(widest_line(strstr(out, "\n\n")), 20, atoi(columns[i]));
        assert_int_equal(ulna("info --draw --up z gate.json"), 0);
        assert_in_range(widest_line(strstr(out, "\n\n")), atoi(columns[i]) - 26, atoi(columns[i]));
    }
}

static void notes_tell_what_is_odd(void **state)
{
    (void)state;
    static const char *const notes[] = {
        "2 degrees of freedom have no limits: euler.Rz, euler.Rx",
        "one degree of freedom cannot move",
        "rests at its limit",
        "two full rotations",
        "one bone has zero length: locked",
        "is it in metres?",
        "have no mass, though others have",
        "one body has a mass but no inertia: top",
        "one inertia is impossible for any solid: rail",
        "one marker has no weight: weightless",
        "in the same place as another",
        "moves no marker",
    };
    shell("cat >odd.json <<'END'\n"
          "{\"format\": \"ulna-model\", \"version\": 1, \"bodies\": [\n"
          "{\"name\": \"top\", \"mass\": 1},\n"
          "{\"name\": \"locked\", \"parent\": \"top\", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}, "
          "\"limits\": [[0, 0]]},\n"
          "{\"name\": \"rail\", \"parent\": \"top\", \"placement\": {\"position\": [100, 0, 0]}, \"mass\": 1, "
          "\"inertia\": [9, 1, 1, 0, 0, 0],\n"
          " \"joint\": {\"type\": \"prismatic\", \"axis\": [0, 0, 1]}, \"limits\": [[0, 1]]},\n"
          "{\"name\": \"euler\", \"parent\": \"rail\", \"placement\": {\"position\": [1, 0, 0]}, \"joint\": {\"type\": "
          "\"euler\", \"order\": \"ZYX\"},\n"
          " \"limits\": [null, [-90, 90], null]}],\n"
          "\"markers\": [{\"name\": \"a\", \"body\": \"euler\"}, {\"name\": \"b\", \"body\": \"euler\"},\n"
          " {\"name\": \"weightless\", \"body\": \"top\", \"weight\": 0}]}\n"
          "END");
    assert_int_equal(ulna("info odd.json"), 0);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        assert_says(out, notes[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(help_explains_every_command, set_up, tear_down),
        cmocka_unit_test_setup_teardown(version_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(manual_page_is_up_to_date, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_get_suggestions, set_up, tear_down),
        cmocka_unit_test_setup_teardown(samples_are_written, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unwritable_places_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(info_tells_about_models, set_up, tear_down),
        cmocka_unit_test_setup_teardown(info_tells_about_robots, set_up, tear_down),
        cmocka_unit_test_setup_teardown(info_goes_on_after_bad_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_are_cleaned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_have_no_blanks_at_their_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drawings_are_complete, set_up, tear_down),
        cmocka_unit_test_setup_teardown(help_fits_the_terminal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(drawings_suit_the_terminal, set_up, tear_down),
        cmocka_unit_test_setup_teardown(notes_tell_what_is_odd, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
