/* ulna methods [NAME...]: the ways to solve that there are. */
#include "cli/cli.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"

/* ---- by name ------------------------------------------------------------------------------------------ */

const ulna_method_info methods_global = {
    .name = "global",
    .summary = "local solves from many starts and a convex lower bound: the globally best pose, with a proof",
    .source = "convex IK, with relaxations of Ulna's own: docs/global.md",
    .supports =
        "all goals and joints; the bound takes into account positions, orientations, directions and joint limits",
    .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_HESSIAN,
};

/* Those that look at all poses, wherever they start. */
static int is_global(const ulna_method_info *method)
{
    return method == &methods_global || strcmp(method->name, "sdp") == 0;
}

const ulna_method_info *methods_find(const cli *tool, const char *name)
{
    const ulna_method_info *found = ulna_method_find(name);
    if (found)
        return found;
    if (strcmp(name, methods_global.name) == 0) {
        cli_usage(tool, "'global' is a command of its own: see 'ulna help global'");
        return NULL;
    }
    const char **names = cli_allocate((size_t)ulna_method_count() + 1, sizeof *names);
    for (int i = 0; i < ulna_method_count(); i++)
        names[i] = ulna_method_at(i)->name;
    cli_unknown(tool, "method", name, names, "; 'ulna methods' lists them");
    free(names);
    return NULL;
}

/* ---- options of methods ------------------------------------------------------------------------------- */

/* One of the words of a list that blanks separate? */
static int is_listed(const char *list, const char *word)
{
    for (size_t length; *list; list += length + (list[length] == ' ')) {
        length = strcspn(list, " ");
        if (strlen(word) == length && strncmp(list, word, length) == 0)
            return 1;
    }
    return 0;
}

static int uses_option(const char *method, const ulna_option_info *option)
{
    return !option->methods || is_listed(option->methods, method);
}

static const ulna_option_info *find_option(const char *name)
{
    const ulna_option_info *option;
    for (int i = 0; (option = ulna_option_at(i)); i++)
        if (strcmp(option->name, name) == 0)
            return option;
    return NULL;
}

/* `penalty` passes options on to the method that it uses, and the race of `global` to its local solves. */
static int is_used(const ulna_option_info *option, const char *const *methods, int count, const ulna_options *options)
{
    for (int i = 0; i < count; i++) {
        int passes_on = strcmp(methods[i], "penalty") == 0;
        const char *inner = options->penalty.method ? options->penalty.method : "hybrid";
        if (uses_option(methods[i], option) || (passes_on && uses_option(inner, option)) ||
            (strcmp(methods[i], methods_global.name) == 0 && uses_option("hybrid", option)))
            return 1;
    }
    return 0;
}

static int set_option(const cli *tool, const char *text, ulna_options *options)
{
    char name[64];
    ulna_error error;
    const char *equals = strchr(text, '=');
    ulna_error_clear(&error);
    if (!equals || equals == text || equals - text >= (ptrdiff_t)sizeof name)
        return cli_usage(tool, "--set takes NAME=VALUE, such as objective=1e-6, not '%s'", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (strcmp(name, "method") == 0)
        return cli_usage(tool, "--set method=... : use --%s", cli_value(tool, "methods") ? "methods" : "method");
    return ulna_options_set(options, name, equals + 1, &error) ? cli_usage(tool, "--set %s: %s", text, error.message)
                                                               : CLI_DONE;
}

int methods_set_options(const cli *tool, const char *const *methods, int count, ulna_options *options)
{
    int code = CLI_DONE;
    for (int i = 0; i < tool->given_count && !code; i++)
        if (strcmp(tool->given[i]->name, "set") == 0)
            code = set_option(tool, tool->values[i], options);
    for (int i = 0; i < tool->given_count && !code; i++) {
        if (strcmp(tool->given[i]->name, "set") != 0)
            continue;
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(tool->values[i], "="), tool->values[i]);
        const ulna_option_info *option = find_option(name);
        if (!is_used(option, methods, count, options))
            code = cli_usage(tool, "--set %s has no effect: it is an option of %s", tool->values[i], option->methods);
    }
    return code;
}

/* Those of a method, or all if that is NULL. */
static void add_options(json_t *list, const char *method)
{
    const ulna_options defaults = ulna_options_default();
    const ulna_option_info *option;
    for (int i = 0; (option = ulna_option_at(i)); i++) {
        char text[64];
        if (strcmp(option->name, "method") == 0 || (method && !uses_option(method, option)))
            continue;
        json_t *row = put_row(list);
        ulna_option_text(option, &defaults, text, sizeof text);
        put_text(row, "name", option->name);
        put_text(row, "default", text);
        if (option->choices)
            put_text(row, "choices", option->choices);
        if (option->methods)
            put_text(row, "methods", option->methods);
        put_text(row, "meaning", option->meaning);
    }
}

/* Its own options first, then those that all methods have. */
static void print_options(const cli *tool, const json_t *list)
{
    for (int own = 1; own >= 0; own--) {
        size_t i;
        json_t *row;
        int count = 0;
        json_array_foreach(list, i, row)
        {
            const char *choices = json_string_value(json_object_get(row, "choices"));
            const char *name = json_string_value(json_object_get(row, "name"));
            if ((json_object_get(row, "methods") != NULL) != own)
                continue;
            if (count++ == 0)
                cli_say(tool, own ? "Options of its own, for --set NAME=VALUE:\n" : "Options of all methods:\n");
            char text[700];
            snprintf(text, sizeof text, "%s (default %s%s%s)", json_string_value(json_object_get(row, "meaning")),
                     json_string_value(json_object_get(row, "default")), choices ? "; one of: " : "",
                     choices ? choices : "");
            enum { COLUMN = 24 };
            cli_say(tool, "  %s", name);
            int column = cli_width(name) + 2;
            if (column >= COLUMN - 1) {
                cli_say(tool, "\n");
                column = 0;
            }
            table_wrap(tool, 0, COLUMN, column, text);
        }
    }
}

/* ---- in words ----------------------------------------------------------------------------------------- */

static void needs_text(unsigned flags, char *text, size_t size)
{
    static const struct {
        unsigned flag;
        const char *word;
    } words[] = {
        {ULNA_METHOD_JACOBIAN, "dense Jacobian"},
        {ULNA_METHOD_HESSIAN, "exact Hessian"},
        {ULNA_METHOD_LAPACK, "LAPACK"},
    };
    *text = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t length = strlen(text);
        if (flags & words[i].flag)
            snprintf(text + length, size - length, "%s%s", length ? ", " : "", words[i].word);
    }
}

/* The methods by dense matrices keep hard constraints only. */
static int keeps_levels(const ulna_method_info *method)
{
    return (method->flags & ULNA_METHOD_CONSTRAINED) && !(method->flags & ULNA_METHOD_LAPACK);
}

/* The facts about a method, for --json and for people. */
static void add_method(json_t *row, const ulna_method_info *method)
{
    unsigned flags = method->flags;
    char needs[64];
    needs_text(flags, needs, sizeof needs);
    put_text(row, "name", method->name);
    put_text(row, "summary", method->summary);
    put_text(row, "source", method->source);
    put_text(row, "supports", method->supports);
    put_flag(row, "bounded", (flags & ULNA_METHOD_BOUNDED) != 0);
    put_text(row, "limits", flags & ULNA_METHOD_BOUNDED ? "kept" : flags & ULNA_METHOD_SOFT ? "nearly" : "ignored");
    put_flag(row, "constraints", (flags & ULNA_METHOD_CONSTRAINED) != 0);
    put_flag(row, "levels", keeps_levels(method));
    put_flag(row, "monotone", (flags & ULNA_METHOD_MONOTONE) != 0);
    put_flag(row, "dense_jacobian", (flags & ULNA_METHOD_JACOBIAN) != 0);
    put_flag(row, "exact_hessian", (flags & ULNA_METHOD_HESSIAN) != 0);
    put_flag(row, "lapack", (flags & ULNA_METHOD_LAPACK) != 0);
    put_flag(row, "points_only", (flags & ULNA_METHOD_POSITIONS) != 0);
    put_text(row, "needs", needs);
    put_count(row, "iterations", method->iterations);
}

/* What a method does is in a column of its own where there is room, else below its name. */
static void print_table(const cli *tool, int of_global)
{
    enum { WIDE = 110 };
    fact_column columns[] = {
        {of_global ? "global method" : "method", 'l', "{name}"},
        {"limits", 'l', "{limits}"},
        {"iterations", 'r', "[{iterations?}{iterations}|-]"},
        {"needs", 'l', "[{needs?}{needs}|-]"},
        {tool->columns < WIDE ? NULL : "what it does", 'l', "{summary}"},
        {0},
    };
    json_t *list = json_array();
    for (int i = 0; i <= ulna_method_count(); i++) {
        const ulna_method_info *method = i < ulna_method_count() ? ulna_method_at(i) : &methods_global;
        if (is_global(method) != of_global)
            continue;
        add_method(put_row(list), method);
        if (tool->columns < WIDE)
            json_array_append_new(list, json_pack("{s:s, s:s}", "name", "", "spanning", method->summary));
    }
    fact_table(tool, 0, list, columns);
    cli_say(tool, "\n");
    json_decref(list);
}

static void print_list(const cli *tool)
{
    print_table(tool, 0);
    table_wrap(tool, 0, 0, 0,
               "limits: whether the method keeps joint limits; iterations: the default maximum. "
               "'ulna methods NAME' describes a method, 'ulna compare' runs methods side by side.");
    cli_say(tool, "\n");
    print_table(tool, 1);
    table_wrap(tool, 0, 0, 0,
               "These consider all poses, whatever the start; 'ulna help global' explains the last one.");
}

static void print_method(const cli *tool, const json_t *row, const ulna_method_info *method)
{
    cli_title(tool, "%s", method->name);
    cli_say(tool, ": ");
    table_wrap(tool, 0, 2, cli_width(method->name) + 2, method->summary);
    fact_line(tool, row, "source", "{source}");
    fact_line(tool, row, "goals", "{supports}");
    fact_text(tool, "limits", "%s",
              method->flags & ULNA_METHOD_SOFT      ? "keeps the joint limits nearly: they are penalties"
              : method->flags & ULNA_METHOD_BOUNDED ? "keeps the joint limits itself"
                                                    : "ignores joint limits, and may end outside them");
    int is_constrained = (method->flags & ULNA_METHOD_CONSTRAINED) != 0;
    fact_text(tool, "hard", "%s",
              keeps_levels(method) ? "keeps constraints, and goals by priority (levels): see docs/constraints.md"
              : is_constrained     ? "keeps constraints, but refuses priorities (levels): see docs/constraints.md"
                                   : "refuses problems with constraints");
    fact_text(tool, "descent", "%s",
              !(method->flags & ULNA_METHOD_MONOTONE) ? "f may rise for a while; the best pose found is returned"
              : is_constrained ? "f falls from one iteration to the next, unless to keep constraints"
                               : "f falls from one iteration to the next");
    fact_line(tool, row, "needs", "[{needs?}{needs}|only the gradient and what the tree gives]");
    fact_line(tool, row, "limit",
              "[{iterations?}{iterations} iterations by default|64 starts by default: see 'ulna help global']");
}

static const ulna_method_info *find_any(const cli *tool, const char *name)
{
    return strcmp(name, methods_global.name) == 0 ? &methods_global : methods_find(tool, name);
}

static int methods_main(cli *tool)
{
    for (int i = 0; i < tool->operand_count; i++)
        if (!find_any(tool, tool->operands[i]))
            return CLI_USAGE;
    json_t *object = json_object(), *list = put_list(object, "methods");
    if (tool->operand_count == 0) {
        for (int i = 0; i < ulna_method_count(); i++)
            add_method(put_row(list), ulna_method_at(i));
        add_method(put_object(object, "global"), &methods_global);
        add_options(put_list(object, "options"), NULL);
        print_list(tool);
    }
    for (int i = 0; i < tool->operand_count; i++) {
        const ulna_method_info *method = find_any(tool, tool->operands[i]);
        json_t *row = put_row(list);
        add_method(row, method);
        if (i > 0)
            cli_say(tool, "\n");
        print_method(tool, row, method);
        if (method != &methods_global)
            add_options(put_list(row, "options"), method->name);
        print_options(tool, json_object_get(row, "options"));
    }
    cli_json_print(tool, object);
    return CLI_DONE;
}

/* ---- the command line -------------------------------------------------------------------------------- */

const cli_command methods_command = {
    .name = "methods",
    .operands = "[NAME...]",
    .operand = "the name of a method",
    .least = 0,
    .most = -1,
    .summary = "list the solution methods",
    .text =
        "Lists every method: whether it keeps joint limits, its default limit of iterations, and what it needs. With "
        "names, describes these methods: their sources, which goals they support, and their options for --set of "
        "`ulna solve` and `ulna compare`, with defaults and meanings. --json without names lists the options of all methods.",
    .examples = "ulna methods\tall methods\n"
                "ulna methods hybrid lm\tmore about two of them\n"
                "ulna methods newton-pcg\tits options, to be set with --set",
    .run = methods_main,
};
