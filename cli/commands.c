/* The list of commands, and the options that all of them take. The options of a command are in its own folder. */
#include "cli/cli.h"

#include <string.h>

const char cli_about[] = "inverse kinematics: which joint parameters put these points and frames where I want them?";

const cli_option cli_global_options[] = {
    {"json", 0, NULL,
     "Print one JSON object on standard output, whatever happens, and everything else on standard error."},
    {"quiet", 'q', NULL, "Say nothing but errors."},
    {"threads", 0, "N", "Use at most N threads; 0, the default, means one per processor. Results do not depend on it."},
    {"help", 'h', NULL, "Show the help of a command, or this overview, as text even with --json."},
    {"version", 0, NULL, "Show the version."},
    {0},
};

const cli_command *const cli_commands[] = {
    &info_command,
    &sample_command,
    &solve_command,
    &calibrate_command,
    &convert_command,
    &definiteness_command,
    &methods_command,
    &compare_command,
    &global_command,
    &help_command,
    NULL,
};

const cli_command *cli_find_command(const char *name)
{
    for (const cli_command *const *command = cli_commands; *command; command++)
        if (strcmp((*command)->name, name) == 0)
            return *command;
    return NULL;
}

const char *cli_nearest_command(const char *word)
{
    const char *names[sizeof cli_commands / sizeof *cli_commands] = {0};
    for (int i = 0; cli_commands[i]; i++)
        names[i] = cli_commands[i]->name;
    return cli_nearest(word, names, sizeof *names);
}
