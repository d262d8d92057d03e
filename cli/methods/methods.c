/* ulna methods [NAME...]: the ways to solve that there are. */
#include "cli/cli.h"

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
    const char **names = calloc((size_t)ulna_method_count() + 1, sizeof *names), *none = NULL;
    for (int i = 0; names && i < ulna_method_count(); i++)
        names[i] = ulna_method_at(i)->name;
    cli_unknown(tool, "method", name, names ? names : &none, "; 'ulna methods' lists them");
    free(names);
    return NULL;
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
        print_list(tool);
    }
    for (int i = 0; i < tool->operand_count; i++) {
        const ulna_method_info *method = find_any(tool, tool->operands[i]);
        json_t *row = put_row(list);
        add_method(row, method);
        if (i > 0)
            cli_say(tool, "\n");
        print_method(tool, row, method);
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
        "names, describes these methods: their sources, and which goals they support.",
    .examples = "ulna methods\tall methods\n"
                "ulna methods hybrid lm\tmore about two of them",
    .run = methods_main,
};
