/*
 * Files of the tool's users are safe: no command writes over its own input or writes two outputs to one file, whatever
 * names they have; a signal leaves neither temporary files nor parts of files. And a process with little address space
 * answers or fails, but does not hang.
 */
#define _XOPEN_SOURCE 700
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support.h"
#include "support_tool.h"

/* ---- the rule, over the tables of all commands ---------------------------------------------------------------------- */

static int has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = strstr(list, word); at; at = strstr(at + 1, word))
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return 1;
    return 0;
}

/* Calls `visit` with each word of a list. */
static void each_word(const char *list, void (*visit)(void *context, const char *word), void *context)
{
    char copy[256], *save = NULL;
    snprintf(copy, sizeof copy, "%s", list);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
        visit(context, word);
}

static json_t *tables(ulna_test_tool *tool)
{
    assert_int_equal(ulna_test_tool_run(tool, "help --json"), 0);
    return ulna_test_tool_json(tool);
}

/* An option that takes a file is listed as one that reads or writes; without that the rule would not know of it. */
static void every_file_option_is_listed(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = tables(tool), *commands = json_object_get(object, "commands");
    for (size_t i = 0; i < json_array_size(commands); i++) {
        json_t *command = json_array_get(commands, i), *options = json_object_get(command, "options");
        const char *name = json_string_value(json_object_get(command, "name"));
        const char *reads = json_string_value(json_object_get(command, "reads"));
        const char *writes = json_string_value(json_object_get(command, "writes"));
        const char *operands = json_string_value(json_object_get(command, "operands"));
        for (size_t k = 0; k < json_array_size(options); k++) {
            json_t *option = json_array_get(options, k);
            const char *argument = json_string_value(json_object_get(option, "argument"));
            const char *of = json_string_value(json_object_get(option, "name"));
            const char *text = json_string_value(json_object_get(option, "text"));
            int is_file =
                argument && (strstr(argument, "FILE") || strstr(text, "motion file") || strstr(text, "CSV file"));
            if (is_file && !has_word(reads, of) && !has_word(writes, of))
                fail_msg("ulna %s --%s %s is in neither .reads nor .writes", name, of, argument);
        }
        if (strcmp(name, "help") != 0 && strcmp(name, "methods") != 0 && strcmp(name, "sample") != 0 &&
            (strstr(operands, "FILE") || strstr(operands, "MODEL") || strstr(operands, "SKELETON") ||
             strstr(operands, "TAKE") || strstr(operands, "IN...")) &&
            !has_word(reads, "OPERANDS"))
            fail_msg("the operands of ulna %s are not in .reads", name);
    }
    json_decref(object);
}

typedef struct pair {
    ulna_test_tool *tool;
    const char *command, *writes, *output;
    int count;
} pair;

/* "--name file", or the operand alone. */
static void part_of(const char *word, const char *file, char *text, size_t size)
{
    if (strcmp(word, "OPERANDS") == 0 || strcmp(word, "LAST") == 0)
        snprintf(text, size, "%s", file);
    else
        snprintf(text, size, "--%s %s", word, file);
}

static void refuse(pair *p, const char *input, const char *in_file, const char *out_file, const char *message)
{
    char in[100], out[100], arguments[300];
    part_of(input, in_file, in, sizeof in);
    part_of(p->output, out_file, out, sizeof out);
    snprintf(arguments, sizeof arguments, "%s %s %s", p->command, in, out);
    int code = ulna_test_tool_run(p->tool, arguments);
    if (code != 2)
        fail_msg("ulna %s: exit code %d: %s", arguments, code, p->tool->err);
    ulna_test_says(p->tool->err, message);
    ulna_test_says(p->tool->err, in_file);
    ulna_test_says(p->tool->err, out_file);
    char *text = ulna_test_tool_file(p->tool, "file");
    assert_string_equal(text, "mine\n");
    free(text);
    p->count++;
}

static void refuse_input(void *context, const char *input)
{
    static const char *const names[] = {"file", "./file", "sub/../file", "link", "sub/hard"};
    pair *p = context;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        refuse(p, input, "file", names[i], "would overwrite the input");
}

/* Another output, which is not there yet. */
static void refuse_output(void *context, const char *other)
{
    static const char *const names[] = {"new", "./new", "sub/../new", "none/../new", "dangling"};
    pair *p = context;
    for (size_t i = 0; i < sizeof names / sizeof *names && strcmp(other, "LAST") != 0; i++)
        refuse(p, other, "new", names[i], "are one file");
}

static void each_output(void *context, const char *output)
{
    pair *p = context;
    p->output = output;
    each_word(p->command + strlen(p->command) + 1, refuse_input, p); /* the inputs stand behind the name */
    if (strcmp(output, "LAST") != 0)
        each_word(p->writes, refuse_output, p);
}

static void no_output_is_an_input(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "echo mine > file; mkdir sub; ln -s file link; ln file sub/hard; ln -s new dangling");
    json_t *object = tables(tool), *commands = json_object_get(object, "commands");
    int count = 0;
    for (size_t i = 0; i < json_array_size(commands); i++) {
        json_t *command = json_array_get(commands, i);
        char text[400];
        snprintf(text, sizeof text, "%s%c%s", json_string_value(json_object_get(command, "name")), 0,
                 json_string_value(json_object_get(command, "reads")));
        pair p = {.tool = tool, .command = text, .writes = json_string_value(json_object_get(command, "writes"))};
        each_word(p.writes, each_output, &p);
        count += p.count;
    }
    json_decref(object);
    assert_true(count > 100);
}

/* ---- what is still allowed -------------------------------------------------------------------------------------------- */

static void other_names_are_not_refused(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "sample -q t"), 0);
    ulna_test_tool_shell(tool, "cp t/walk.c3d a.c3d");
    assert_int_equal(ulna_test_tool_run(tool, "convert t/walk.c3d -o a.c3d"), 0); /* an old file, not read */
    assert_int_equal(ulna_test_tool_run(tool, "convert t/walk.c3d a.c3d a.c3d"), 2);
    assert_int_equal(ulna_test_tool_run(tool, "convert - a.c3d <a.c3d"), 2);
    ulna_test_says(tool->err, "'standard input'");
    /* One folder may get both, and a device be written to twice. */
    assert_int_equal(ulna_test_tool_run(tool, "solve -q -s t/human.asf -m t/walk.c3d -a t/walk-markers.csv "
                                              "--frames 1:20 -o out/ -r out/"),
                     0);
    assert_int_equal(ulna_test_tool_run(tool, "definiteness -q --size 8 -o /dev/null -o /dev/null"), 2); /* no ending */
    ulna_test_says(tool->err, "/dev/null");
    assert_null(strstr(tool->err, "one file"));
}

/* Files in a folder get their names from the take: the rule holds for them too. */
static void no_file_in_a_folder_is_an_input(void **state)
{
#define SOLVE "solve -q -s t/human.asf -m t/walk.c3d -a t/walk-markers.csv --frames 1:20 "
    ulna_test_tool *tool = *state;
    static const struct {
        const char *arguments, *says;
    } wrong[] = {
        {SOLVE "--compare-with o/walk.amc -o o/", "the output 'o/walk.amc' would overwrite the input 'o/walk.amc'"},
        {SOLVE "--compare-with o/walk.amc -o ./t/../o/", "would overwrite the input 'o/walk.amc'"},
        {SOLVE "--init o/walk.amc -o o/", "would overwrite the input"},
        {SOLVE "-o o2/ -o ./o2/walk.amc", "are one file"},
        {SOLVE "-o o2/ -o ./o2/", "are one file"},
    };
    assert_int_equal(ulna_test_tool_run(tool, "sample -q t"), 0);
    assert_int_equal(ulna_test_tool_run(tool, SOLVE "-o o/"), 0);
    ulna_test_tool_shell(tool, "cp o/walk.amc before.amc");
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        int code = ulna_test_tool_run(tool, wrong[i].arguments);
        if (code != 2)
            fail_msg("ulna %s: exit code %d: %s", wrong[i].arguments, code, tool->err);
        ulna_test_says(tool->err, wrong[i].says);
    }
    ulna_test_tool_shell(tool, "cmp o/walk.amc before.amc && test ! -e o2");
#undef SOLVE
}

/* ---- signals ---------------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static pid_t start(const char *folder)
{
    pid_t child = fork();
    if (child == 0) {
        int nothing = open("/dev/null", O_WRONLY);
        if (chdir(folder) == 0 && nothing >= 0 && dup2(nothing, 1) >= 0 && dup2(nothing, 2) >= 0)
            execl(ULNA_TEST_CLI, "ulna", "solve", "-s", "t/human.asf", "-m", "t/walk.c3d", "-a", "t/walk-markers.csv",
                  "--frames", "1:200", "-o", "o/w.amc", "-o", "o/w.bvh", "-o", "o/w.glb", "-o", "o/w.csv", "-o",
                  "o/w.c3d", (char *)NULL);
        _exit(99);
    }
    return child;
}

/* Every file in o/ is complete: as it was in a run that nobody disturbed. */
static void check_outputs(const ulna_test_tool *tool)
{
    char folder[128];
    snprintf(folder, sizeof folder, "%s/o", tool->folder);
    DIR *list = opendir(folder);
    assert_non_null(list);
    for (struct dirent *entry; (entry = readdir(list));) {
        if (entry->d_name[0] == '.')
            continue;
        char script[600];
        if (strstr(entry->d_name, ".tmp"))
            fail_msg("%s is left behind", entry->d_name);
        snprintf(script, sizeof script, "cmp 'o/%s' 'whole/%s'", entry->d_name, entry->d_name);
        ulna_test_tool_shell(tool, script);
    }
    closedir(list);
}

static void signals_leave_nothing_behind(void **state)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    enum { RUNS = 30 };
    ulna_test_tool *tool = *state;
    int status, hit = 0;
    assert_int_equal(ulna_test_tool_run(tool, "sample -q t"), 0);
    ulna_test_tool_shell(tool, "mkdir o");
    double begun = seconds();
    assert_int_equal(waitpid(start(tool->folder), &status, 0) > 0, 1);
    double latest = seconds() - begun;
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    ulna_test_tool_shell(tool, "mv o whole");
    ulna_test_rng random = ulna_test_rng_seed(5);
    for (int i = 0; i < RUNS; i++) {
        ulna_test_tool_shell(tool, "rm -rf o; mkdir o");
        int number = numbers[i % 3];
        double wait = ulna_test_rng_uniform(&random, 0.3, 1) * latest; /* before, nothing is written */
        pid_t child = start(tool->folder);
        nanosleep(&(struct timespec){(time_t)wait, (long)(1e9 * (wait - (double)(time_t)wait))}, NULL);
        for (int k = 0; k <= i % 2; k++) /* some twice */
            kill(child, number);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFSIGNALED(status))
            assert_int_equal(WTERMSIG(status), number);
        else
            assert_int_equal(WEXITSTATUS(status), 0);
        if (WIFSIGNALED(status))
            hit++;
        else
            latest *= 0.8; /* too late: the first run may have been slow, on a busy machine */
        check_outputs(tool);
    }
    assert_true(hit > 0);
}

/* A pipe that nobody opens, or that is opened but not read, is waited for; a signal ends the tool all the same. */
static void pipes_that_nobody_reads_do_not_hold_signals(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(ulna_test_tool_run(tool, "sample -q t"), 0);
    for (int is_open = 0; is_open < 2; is_open++) {
        char pipe[128], first[128];
        int status = 0, reader = -1, ended = 0;
        ulna_test_tool_shell(tool, "rm -rf o; mkdir o; mkfifo o/w.bvh");
        ulna_test_path(pipe, sizeof pipe, tool->folder, "o/w.bvh");
        ulna_test_path(first, sizeof first, tool->folder, "o/w.amc");
        if (is_open)
            reader = open(pipe, O_RDONLY | O_NONBLOCK);
        pid_t child = start(tool->folder);
        double begun = seconds();
        while (access(first, F_OK) != 0 && seconds() - begun < 60)
            nanosleep(&(struct timespec){0, 20000000}, NULL);
        nanosleep(&(struct timespec){0, 500000000}, NULL); /* until it waits for the pipe */
        kill(child, SIGTERM);
        for (begun = seconds(); !ended && seconds() - begun < 20; ended = waitpid(child, &status, WNOHANG) == child)
            nanosleep(&(struct timespec){0, 20000000}, NULL);
        if (!ended) {
            kill(child, SIGKILL);
            waitpid(child, &status, 0);
        }
        if (reader >= 0)
            close(reader);
        assert_true(ended && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        ulna_test_tool_shell(tool, "test -s o/w.amc && test -z \"$(ls o | grep tmp)\"");
    }
}

/* nohup stays nohup. */
static void ignored_signals_stay_ignored(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "trap '' HUP; " ULNA_TEST_CLI " compare -q -m hybrid --frames 2000 & child=$!; sleep 0.1; "
                         "kill -HUP $child; wait $child; [ $? -lt 128 ]");
}

/* ---- little memory ------------------------------------------------------------------------------------------------------ */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1 /* sanitizers take terabytes of address space */
#else
#define SANITIZED 0
#endif

/* 124 is what timeout(1) returns of a process that it had to end. */
static void little_memory_is_no_reason_to_hang(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const commands[] = {"--version", "help", "info t/human.json", "methods",
                                           "solve -s t/human.asf -m t/walk.c3d -a t/walk-markers.csv --frames 1:50"};
    static const int kilobytes[] = {60000, 100000, 150000, 400000};
    if (SANITIZED)
        skip();
    assert_int_equal(ulna_test_tool_run(tool, "sample -q t"), 0);
    for (size_t k = 0; k < sizeof kilobytes / sizeof *kilobytes; k++)
        for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
            char script[400];
            snprintf(script, sizeof script,
                     "ulimit -v %d; timeout 20 %s %s >out 2>err; code=$?; [ $code = 0 ] || [ -s err -a $code != 124 ]",
                     kilobytes[k], ULNA_TEST_CLI, commands[i]);
            ulna_test_tool_shell(tool, script);
        }
    /* Methods that call LAPACK say what is wrong. */
    ulna_test_tool_shell(tool, "ulimit -v 100000; timeout 20 " ULNA_TEST_CLI
                               " compare -m pinv >out 2>&1; [ $? != 124 ]; grep -q memory out");
    ulna_test_tool_shell(tool, "ulimit -v 400000; timeout 60 " ULNA_TEST_CLI " compare -m pinv,hybrid --frames 1 >out");
}

/* pandas.read_csv(path) and its like take the first line for the names, and know no comments. */
static void tables_are_read_as_they_are(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const lines[] = {
        "sample t",
        "solve -q -s t/human.asf -m t/walk.c3d --frames 1:40 -o o/walk.csv",
        "convert t/human.asf t/walk-true.amc -o o/motion.csv",
        "convert t/human.asf t/walk-true.amc -o o/motion-mm.csv --unit mm",
        "convert t/walk.c3d -o o/markers.csv",
        "convert t/walk.c3d -o o/markers-mm.csv --unit mm",
        "calibrate -q -s t/human.asf -m t/walk.c3d --frames 1:200 -o o/whole.csv",
        "calibrate -q -s t/human.asf -m t/walk.c3d --frames 1:5 -o o/undetermined.csv",
        "reach human -t left_hand -g '0.2 0.3 0.5' -o o/reach.csv",
        "global human --goal 'left_hand 0.2 0.3 0.5' -o o/pose.csv",
        "batch -q t -s t/human.asf -o o/batch --formats csv --no-reports",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (ulna_test_tool_run(tool, lines[i]) > 1)
            fail_msg("%s: %s%s", lines[i], tool->out, tool->err);
    assert_true(ulna_test_tool_tables(tool, "o") >= 11);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, ulna_test_tool_open, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(every_file_option_is_listed),
        TEST(no_output_is_an_input),
        TEST(other_names_are_not_refused),
        TEST(no_file_in_a_folder_is_an_input),
        TEST(tables_are_read_as_they_are),
        TEST(signals_leave_nothing_behind),
        TEST(pipes_that_nobody_reads_do_not_hold_signals),
        TEST(ignored_signals_stay_ignored),
        TEST(little_memory_is_no_reason_to_hang),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
