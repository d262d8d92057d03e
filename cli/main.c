/* ulna: the command-line tool. Finds the command, runs it, and makes sure that what it said has arrived. */
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

#include "ulna/ulna.h"

static void print_version(const cli *tool)
{
    if (tool->json) {
        json_t *object = json_object();
        json_object_set_new(object, "version", cli_json_text(ulna_version()));
        cli_json_print(tool, object);
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
        return cli_usage(tool, "what shall I do? See 'ulna help'");
    return tool->command->run(tool);
}

/* If OpenBLAS is the BLAS: our matrices are too small for its threads, which only cost. */
extern void openblas_set_num_threads(int count) __attribute__((weak));

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); /* a reader that went away is an error like any other */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not grow: its part is removed */
    if (openblas_set_num_threads)
        openblas_set_num_threads(1);
    cli tool = {0};
    cli_look_around(&tool);
    int result = run(&tool, argc, argv);
    cli_release(&tool);
    if ((fflush(stdout) || ferror(stdout)) && errno != EPIPE) {
        cli_complain("cannot write to standard output: %s", strerror(errno));
        result = CLI_IO;
    }
    return result;
}
