/* The commands and their options: the one text that makes `ulna help`, the man page and the parser. */
#include "cli.h"

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

static const cli_option info_options[] = {
    {"tree", 't', NULL, "Show the tree of bodies with their joints, ranges (in degrees and metres) and markers."},
    {"draw", 'd', NULL, "Draw the skeleton at rest, from the front and from the side."},
    {"up", 0, "AXIS", "Which axis points up in the drawing: x, y or z. By default the taller one of y and z."},
    {"ascii", 0, NULL,
     "Draw, and show the tree, with ASCII characters only, as is done where the locale is not UTF-8."},
    {0},
};

static const cli_option sample_options[] = {
    {"only", 0, "NAME", "Write only this sample; may be given several times."},
    {"force", 'f', NULL, "Replace files that have other contents. Without it they are kept, and the exit code is 1."},
    {0},
};

static const cli_option help_options[] = {
    {"man", 0, NULL, "Print the manual page, for man(1)."},
    {0},
};

const cli_command cli_commands[] = {
    {
        .name = "info",
        .operands = "FILE...",
        .operand = "a file name",
        .least = 1,
        .most = -1,
        .summary = "tell what a file holds, and everything odd about it",
        .text =
            "Tells for each model how many bodies, degrees of freedom and markers it has, its joints by type, its "
            "limits, mass and size at rest. Notes follow on what may be a mistake: bones of zero length, degrees of "
            "freedom without limits or that no marker can see, bodies without mass among others that have one, and "
            "more.\n\n"
            "The kind of file is found from its contents, not from its name. The name - means standard input. A file "
            "that cannot be read is reported, with the line of a mistake, and the others are still shown.",
        .options = info_options,
        .examples = "ulna info human.json\twhat is in it\n"
                    "ulna info --tree --draw human.json\tits joints, and a picture\n"
                    "ulna info --json *.json\tfor other programs",
        .run = cli_info,
    },
    {
        .name = "sample",
        .operands = "DIR",
        .operand = "a folder name",
        .least = 1,
        .most = 1,
        .summary = "write the built-in skeletons to a folder",
        .text =
            "Writes human.json, hand.json, arm.json, two-link.json and all-joints.json into the folder, which is made "
            "if need be. The last one holds one body per joint type and every option of the model file: it is a good "
            "place to learn the format from. Files are complete or not there at all.",
        .options = sample_options,
        .examples = "ulna sample models\tall of them\n"
                    "ulna sample --only human models\tmodels/human.json alone",
        .run = cli_sample,
    },
    {
        .name = "help",
        .operands = "[COMMAND]",
        .operand = "a command",
        .least = 0,
        .most = 1,
        .summary = "explain a command",
        .text = "Without a command, shows the list of them. With --json, gives the tables that the help is made of.",
        .options = help_options,
        .examples = "ulna help info\thow to use info\n"
                    "ulna help --man | man -l -\tthe manual page",
        .run = cli_help,
    },
    {0},
};

const cli_command *cli_find_command(const char *name)
{
    for (const cli_command *command = cli_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
