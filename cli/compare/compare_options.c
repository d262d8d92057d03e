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
