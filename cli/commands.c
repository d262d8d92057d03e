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

static const cli_option definiteness_options[] = {
    {"x", 0, "DOF",
     "The degree of freedom of the horizontal axis, by its name as in `ulna info --tree` or its number from 0 on. By "
     "default --x and --y are the two joint angles nearest to the point that move it."},
    {"y", 0, "DOF", "The one of the vertical axis."},
    {"goal", 0, "\"X Y Z\"",
     "Where the point should be, in metres; may be given up to 12 times. By default half, all and one and a half of "
     "the way from the upper joint to where the point is at rest."},
    {"marker", 0, "NAME", "The marker that has the goal. Needed if the model has several."},
    {"body", 0, "NAME", "Give the goal to a point of this body instead: its origin, or --point."},
    {"point", 0, "\"X Y Z\"", "That point, in metres in the frame of the body."},
    {"size", 0, "N", "Cells along each axis, 8 to 2000; 360 by default."},
    {"range-x", 0, "\"LOW HIGH\"",
     "What to sweep: degrees, or metres for a slide. By default a whole turn, -180 to 180; a slide goes the model's "
     "characteristic length to both sides of rest."},
    {"range-y", 0, "\"LOW HIGH\"", "The same for the vertical axis."},
    {"bounds", 0, NULL, "Sweep inside the model's limits too, and show the figures side by side."},
    {"limits-x", 0, "\"LOW HIGH\"", "Other limits than the model's, in degrees or metres; this means --bounds."},
    {"limits-y", 0, "\"LOW HIGH\"", "The same for the vertical axis."},
    {"regularise", 0, "W",
     "Sweep also with a posture term, W |q - rest|^2 / 2 with W in m2/rad2, and show the figures side by side. "
     "Pictures then are of that."},
    {"output", 'o', "FILE", "Write the picture, as SVG or PNG by the name's ending; may be given several times."},
    {0},
};

static const cli_option compare_options[] = {
    {"methods", 'm', "A,B,...", "Only these; `ulna methods` lists them. By default all."},
    {"goals", 0, "FILE",
     "Reach these goals instead of random ones. CSV: a line name,x,y,z or name,x,y,z,weight for each, in metres, by "
     "the "
     "name of a marker or else of a body, whose origin is meant. JSON: docs/command-line.md."},
    {"goal", 0, "\"NAME X Y Z\"", "A goal, in metres; may be given several times, and besides --goals."},
    {"frames", 'n', "N",
     "Problems to solve: 10 by default. With goals of your own, starts to solve them from: 1 by default."},
    {"start", 0, "WHERE",
     "near: the pose that random goals were made from, and --spread off it, which is the default; rest, the default "
     "for "
     "goals of your own, unless their file has a start; zero: all joint parameters zero."},
    {"cold", 0, NULL, "The same as --start rest."},
    {"spread", 0, "DEG",
     "How far starts stray, as a standard deviation in degrees; 3 by default. Slides take it as radians times the "
     "characteristic length."},
    {"seed", 0, "N", "Another seed gives other problems; 1 by default."},
    {"unbounded", 0, NULL, "Ignore joint limits in all methods."},
    {"max-iter", 0, "N", "At most so many iterations, instead of each method's own limit."},
    {"tol", 0, "X", "Stop where f is X square metres or less; 1e-24 by default."},
    {"report", 'r', "FILE",
     "Write a page with the table and plots of convergence: one HTML file that needs nothing else."},
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
        .name = "definiteness",
        .operands = "[MODEL]",
        .operand = "a file name",
        .least = 0,
        .most = 1,
        .summary = "map where the exact Hessian is positive definite",
        .text =
            "Sweeps two degrees of freedom of a skeleton, the others at rest, and looks at the exact Hessian of f, "
            "half the squared distance from a point to its goal. Where it is positive definite, Newton's method goes "
            "down fast; where it is not, a method must know what to do. MODEL is a model file, or the name of a "
            "built-in skeleton; by default two-link, two links of 1 m, as in Appendix A of the exact-Hessian "
            "paper.\n\n"
            "The figures are shares of the cells, each looked at in its middle: positive definite, indefinite, "
            "negative definite, and semi-definite, where an eigenvalue is zero to 1e-9 of the other one. Then "
            "condition numbers (largest by smallest eigenvalue, in size), the lowest eigenvalue in m2/rad2 (a posture "
            "weight above its size makes everything positive definite), f, and how far the point is from the goal "
            "where f is lowest.\n\n"
            "The picture has a panel a goal: the map in white, light grey, dark grey and red, and the surface that f "
            "makes over it. Red curves are where an eigenvalue passes through zero; a blue frame shows limits.",
        .options = definiteness_options,
        .examples = "ulna definiteness -o map.svg\tthe figure of the paper\n"
                    "ulna definiteness --limits-y \"0 150\"\twhat do limits change?\n"
                    "ulna definiteness --regularise 0.5\tand a posture term?\n"
                    "ulna definiteness --bounds arm.json\ta skeleton of your own",
        .run = cli_definiteness,
    },
    {
        .name = "methods",
        .operands = "[NAME...]",
        .operand = "the name of a method",
        .least = 0,
        .most = -1,
        .summary = "list the methods of solving",
        .text = "Lists every method: whether it keeps joint limits itself, how many iterations it makes at most by "
                "default, and what it needs. With names, tells more about these: where they come from, and which goals "
                "they take.",
        .examples = "ulna methods\tall of them\n"
                    "ulna methods hybrid lm\tmore about two of them",
        .run = cli_methods,
    },
    {
        .name = "compare",
        .operands = "[MODEL]",
        .operand = "a file name",
        .least = 0,
        .most = 1,
        .summary = "run methods on the same problems",
        .text =
            "Solves the same problems with every method and prints one table: on how many it succeeded, what is left "
            "of "
            "f (half the weighted sum of squared distances), the root mean square distance to the goals, iterations, "
            "evaluations of f, microseconds a solve (the best of up to five runs), whether it kept the joint limits or "
            "how far it was outside, and what stopped it. Figures are medians over the problems. A method succeeds "
            "where "
            "all goals are met, f at most 1e-12 m2; with goals of your own, which may be out of reach, where its f is "
            "within 0.1 % of the least that any of them found (if limits are wanted, of those that kept them).\n\n"
            "MODEL is a model file, or the name of a built-in skeleton; by default human. Without goals of your own, "
            "they are made: its markers (or the ends of its limbs, if it has none) where random poses inside the "
            "limits "
            "have them. Problems are the same for the same seed.\n\n"
            "The exit code is 0 if some method succeeded on all of them, else 1.",
        .options = compare_options,
        .examples = "ulna compare\tall methods, starts near the goals\n"
                    "ulna compare --cold --report c.html\tfrom rest, with plots\n"
                    "ulna compare arm --goal \"tool 0.3 0.2 0.5\"\ta goal of your own\n"
                    "ulna compare m.json --goals g.csv\ta skeleton of your own",
        .run = cli_compare,
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
