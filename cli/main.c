/* ulna: the command-line tool. Finds the command, runs it, and makes sure that its output has arrived. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "ulna/ulna.h"

const char cli_about[] =
    "inverse kinematics: find the joint values that put points and frames of a skeleton where you want them";

const cli_option cli_global_options[] = {
    {"json", 0, NULL,
     "Print exactly one JSON object on standard output, even after an error (`ulna batch` prints one for each take that it "
     "solves, on a line of its own); messages go to standard error."},
    {"quiet", 'q', NULL, "Print only errors."},
    {"threads", 0, "N", "Maximum number of threads. Default: 0, one per processor. The results do not depend on it."},
    {"help", 'h', NULL, "Show the help of a command, or this overview; as text, even with --json."},
    {"version", 0, NULL, "Show the version."},
    {0},
};

const cli_command *const cli_commands[] = {
    /* clang-format off */
    &info_command,
    &sample_command,
    &solve_command,
    &calibrate_command,
    &batch_command,
    &convert_command,
    &definiteness_command,
    &methods_command,
    &compare_command,
    &global_command,
    &reach_command,
    &paper_command,
    &help_command,
    NULL,
    /* clang-format on */
};

const cli_command *cli_find_command(const cli *tool, const char *name)
{
    const char *names[sizeof cli_commands / sizeof *cli_commands] = {0};
    for (int i = 0; cli_commands[i]; i++) {
        names[i] = cli_commands[i]->name;
        if (strcmp(names[i], name) == 0)
            return cli_commands[i];
    }
    if (access(name, F_OK) == 0)
        cli_usage(tool, "'%s' is a file, not a command: 'ulna info %s' shows what it contains; see 'ulna help'", name,
                  name);
    else
        cli_unknown(tool, "command", name, names, "; see 'ulna help'");
    return NULL;
}

/* ==== the program ================================================================================================= */

static void print_version(const cli *tool)
{
    if (tool->json) {
        cli_json_print(tool, json_pack("{s:s}", "version", ulna_version()));
    } else
        printf("ulna %s\n", ulna_version());
}

static int run(cli *tool, int argc, char **argv)
{
    int result = cli_parse(tool, argc, argv);
    if (result)
        return result;
    if (tool->version) {
        print_version(tool);
        return CLI_DONE;
    }
    if (tool->help) {
        if (tool->command)
            cli_print_help(tool, tool->command);
        else
            cli_print_overview(tool);
        return CLI_DONE;
    }
    if (!tool->command)
        return cli_usage(tool, "no command given; see 'ulna help'");
    result = cli_check_files(tool);
    return result ? result : tool->command->run(tool);
}

/*
 * If OpenBLAS is the BLAS: our matrices are too small for its threads, which only cost. They start as the library is
 * loaded, before main, and where address space is limited (ulimit -v) a process that has them may never end. OpenBLAS
 * asks the first of these functions how many to start; the answer of the program comes before its own. Builds of it
 * on OpenMP do not ask; the second function sets their number.
 */
int openblas_num_threads_env(void);
__attribute__((weak, visibility("default"))) int openblas_num_threads_env(void)
{
    return 1;
}
extern void openblas_set_num_threads(int count) __attribute__((weak));

/* Where one of the three was closed, the next file to be opened would be taken for it. Such a one reads or writes nothing. */
static void open_closed_streams(void)
{
    for (int i = 0; i < 3; i++)
        if (fcntl(i, F_GETFD) < 0 && errno == EBADF)
            (void)open("/dev/null", i == 0 ? O_WRONLY : O_RDONLY);
}

/* Who read the output has ended, such as `head`, and wants no more of it. */
static int is_reader_gone(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&output, 1, 0) == 1 && (output.revents & POLLERR) && !(output.revents & POLLNVAL);
}

int main(int argc, char **argv)
{
    open_closed_streams();
    cli_catch_signals();
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error like any other */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow: its part is removed */
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    cli tool = {0};
    cli_memory_begin(&tool);
    cli_look_around(&tool);
    int result = run(&tool, argc, argv);
    cli_release(&tool);
    const int number = fflush(stdout) ? errno : 0; /* 0 where an earlier write failed */
    if ((number || ferror(stdout)) && !is_reader_gone()) {
        cli_complain("cannot write to standard output%s%s", number ? ": " : "", number ? strerror(number) : "");
        result = CLI_IO;
    }
    return result;
}
