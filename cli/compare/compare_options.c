/* The command line of `ulna compare`. */
#include "cli/compare/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/methods/methods.h"
#include "cli/numbers.h"

enum { MOST_FRAMES = 10000, MOST_ITERATIONS = 1000000000 };

static int has_goals(const cli *tool)
{
    return cli_value(tool, "goals") || cli_value(tool, "goal");
}

static int read_start(const cli *tool, trial_options *options)
{
    static const char *const names[] = {"near", "rest", "zero", NULL};
    const char *text = cli_value(tool, "start");
    options->start = cli_value(tool, "cold") || has_goals(tool) ? START_REST : START_NEAR;
    if (!text)
        return CLI_DONE;
    if (cli_value(tool, "cold"))
        return cli_usage(tool, "--cold means --start rest: give one of them");
    int found = 0;
    while (names[found] && strcmp(names[found], text) != 0)
        found++;
    if (!names[found])
        return cli_usage(tool, "--start takes near, rest or zero, not '%s'", text);
    if (found == START_NEAR && has_goals(tool))
        return cli_usage(tool, "--start near is for goals that are made: of others nobody knows the pose");
    options->start = (start_kind)found;
    return CLI_DONE;
}

static int read_trials(const cli *tool, trial_options *options)
{
    double spread = 3;
    *options = (trial_options){.frames = has_goals(tool) ? 1 : 10, .seed = 1, .bounded = !cli_value(tool, "unbounded")};
    int code = numbers_count(tool, "frames", 1, MOST_FRAMES, &options->frames);
    if (!code)
        code = numbers_seed(tool, "seed", &options->seed);
    if (!code)
        code = read_start(tool, options);
    if (!code)
        code = numbers_real(tool, "spread", 0, 180, " degrees", &spread);
    if (code)
        return code;
    int is_spread = has_goals(tool) ? options->frames > 1 : options->start == START_NEAR;
    if (!is_spread && cli_value(tool, "spread"))
        return has_goals(tool) ? cli_usage(tool, "--spread is about several starts; give --frames too")
                               : cli_usage(tool, "--spread is about starts near the goals, not about '%s'",
                                           options->start == START_ZERO ? "zero" : "rest");
    options->spread = is_spread ? spread * COMPARE_DEGREE : 0;
    return CLI_DONE;
}

static int add_method(const cli *tool, contest *game, const ulna_method_info *method)
{
    for (int i = 0; i < game->count; i++)
        if (game->contenders[i].method == method)
            return cli_usage(tool, "--methods has '%s' twice", method->name);
    game->contenders[game->count++].method = method;
    return CLI_DONE;
}

/* "a,b,c": blanks may stand between them. */
static int read_methods(const cli *tool, contest *game)
{
    const char *text = cli_value(tool, "methods");
    game->contenders = calloc((size_t)ulna_method_count() + 2, sizeof *game->contenders);
    if (!game->contenders) {
        cli_complain("out of memory");
        return CLI_PARTLY;
    }
    const ulna_method_info *next;
    for (int i = 0; !text && (next = ulna_method_at(i)); i++)
        if (!(next->flags & ULNA_METHOD_RELAXATION)) /* seconds a solve, where others take microseconds */
            add_method(tool, game, next);
    int code = CLI_DONE;
    while (text && !code) {
        char name[64];
        text += strspn(text, " ");
        int length = (int)strcspn(text, ", ");
        snprintf(name, sizeof name, "%.*s", length, text);
        if (!length)
            return cli_usage(tool, "--methods takes names such as hybrid,lm; 'ulna methods' lists them");
        int is_global = strcmp(name, methods_global.name) == 0;
        const ulna_method_info *method = is_global ? &methods_global : methods_find(tool, name);
        code = method ? add_method(tool, game, method) : CLI_USAGE;
        text += length;
        text += strspn(text, " ");
        text = *text == ',' ? text + 1 : *text ? text : NULL;
    }
    return code;
}

int compare_read_options(const cli *tool, contest *game, trial_options *options)
{
    game->options = ulna_options_default();
    game->options.bounded = !cli_value(tool, "unbounded");
    int code = read_trials(tool, options);
    if (!code)
        code = numbers_count(tool, "max-iter", 1, MOST_ITERATIONS, &game->options.iterations);
    if (!code)
        code = numbers_real(tool, "tol", 0, 1e6, " m2", &game->options.objective);
    if (!code && cli_value(tool, "report") && !*cli_value(tool, "report"))
        code = cli_usage(tool, "--report needs the name of a file");
    const char *goals_path = cli_value(tool, "goals");
    if (!code && tool->operand_count && goals_path && strcmp(tool->operands[0], "-") == 0 &&
        strcmp(goals_path, "-") == 0)
        code = cli_usage(tool, "standard input is either the model or the goals, not both");
    return code ? code : read_methods(tool, game);
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"methods", 'm', "A,B,...",
     "Only these; `ulna methods` lists them. By default all but the global ones, which take longer."},
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

const cli_command compare_command = {
    .name = "compare",
    .operands = "[MODEL]",
    .operand = "a file name",
    .least = 0,
    .most = 1,
    .summary = "run methods on the same problems",
    .text = "Solves the same problems with every method and prints one table: on how many it succeeded, what is left "
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
    .options = options,
    .reads = "goals OPERANDS",
    .writes = "report",
    .examples = "ulna compare\tall methods, starts near the goals\n"
                "ulna compare --cold --report c.html\tfrom rest, with plots\n"
                "ulna compare arm --goal \"tool 0.3 0.2 0.5\"\ta goal of your own\n"
                "ulna compare m.json --goals g.csv\ta skeleton of your own",
    .run = cli_compare,
};
