/* ulna methods [NAME...]: the ways to solve that there are. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#include "cli/methods/methods.h"
#include "cli/table.h"

/* ---- by name ------------------------------------------------------------------------------------------ */

const ulna_method_info methods_global = {
    .name = "global",
    .summary = "local solves from many starts against a convex bound: the best pose of all, and how far that is proven",
    .source = "convex IK, with relaxations of Ulna's own: docs/global.md",
    .supports =
        "all goals and joints; the bound knows places, orientations and directions, and limits of turns and slides",
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
    const char **names = calloc((size_t)ulna_method_count() + 1, sizeof *names);
    for (int i = 0; names && i < ulna_method_count(); i++)
        names[i] = ulna_method_at(i)->name;
    const char *nearest = names ? cli_nearest(name, names, sizeof *names) : NULL;
    if (nearest)
        cli_usage(tool, "there is no method '%s'; did you mean '%s'?", name, nearest);
    else
        cli_usage(tool, "there is no method '%s'; 'ulna methods' lists them", name);
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
    if (!*text)
        snprintf(text, size, "-");
}

static void print_row(table *list, const ulna_method_info *method, int is_wide)
{
    char needs[64];
    needs_text(method->flags, needs, sizeof needs);
    table_cell(list, "%s", method->name);
    table_cell(list, "%s",
               method->flags & ULNA_METHOD_BOUNDED ? "kept"
               : method->flags & ULNA_METHOD_SOFT  ? "nearly"
                                                   : "ignored");
    if (method->iterations)
        table_cell(list, "%d", method->iterations);
    else
        table_cell(list, "-");
    table_cell(list, "%s", needs);
    if (!is_wide)
        table_cell(list, "%s", "");
    table_span(list, "%s", method->summary);
}

/* What a method does stands in a column of its own where there is room, else below its name. */
static void print_table(const cli *tool, int of_global)
{
    enum { WIDE = 110 };
    int is_wide = tool->columns >= WIDE;
    table list;
    table_init(&list, is_wide ? "llrll" : "llrl", 0);
    table_cell(&list, of_global ? "global method" : "method");
    table_cell(&list, "limits");
    table_cell(&list, "iterations");
    table_cell(&list, "needs");
    if (is_wide)
        table_cell(&list, "what it does");
    for (int i = 0; i < ulna_method_count(); i++)
        if (is_global(ulna_method_at(i)) == of_global)
            print_row(&list, ulna_method_at(i), is_wide);
    if (of_global)
        print_row(&list, &methods_global, is_wide);
    table_print(tool, &list, -1);
    table_release(&list);
    cli_say(tool, "\n");
}

static void print_list(const cli *tool)
{
    print_table(tool, 0);
    table_wrap(tool, 0, 0, 0,
               "limits: kept by the method itself, or not looked at; iterations: at most, by default. "
               "'ulna methods NAME' tells more, 'ulna compare' runs them side by side.");
    cli_say(tool, "\n");
    print_table(tool, 1);
    table_wrap(tool, 0, 0, 0, "These look at all poses, wherever they start; 'ulna help global' explains the last.");
}

enum { COLUMN = 14 };

static void print_method(const cli *tool, const ulna_method_info *method)
{
    char text[64];
    cli_title(tool, "%s", method->name);
    cli_say(tool, ": ");
    table_wrap(tool, 0, 2, cli_width(method->name) + 2, method->summary);
    table_fact(tool, COLUMN, "source", "%s", method->source);
    table_fact(tool, COLUMN, "takes", "%s", method->supports);
    table_fact(tool, COLUMN, "limits", "%s",
               method->flags & ULNA_METHOD_SOFT      ? "keeps the joint limits nearly: they are penalties"
               : method->flags & ULNA_METHOD_BOUNDED ? "keeps the joint limits itself"
                                                     : "takes no notice of joint limits, and may end outside them");
    table_fact(tool, COLUMN, "descent", "%s",
               method->flags & ULNA_METHOD_MONOTONE ? "f falls from one iteration to the next"
                                                    : "f may rise for a while; the best point that was met comes back");
    needs_text(method->flags, text, sizeof text);
    table_fact(tool, COLUMN, "needs", "%s",
               strcmp(text, "-") == 0 ? "nothing beyond the gradient and what the tree gives" : text);
    snprintf(text, sizeof text, "%d at most, by default", method->iterations);
    table_fact(tool, COLUMN, "iterations", "%s",
               method == &methods_global ? "64 starts at most, by default: see 'ulna help global'" : text);
}

/* ---- for other programs ------------------------------------------------------------------------------- */

static json_t *method_json(const ulna_method_info *method)
{
    json_t *row = json_object();
    json_object_set_new(row, "name", cli_json_text(method->name));
    json_object_set_new(row, "summary", cli_json_text(method->summary));
    json_object_set_new(row, "source", cli_json_text(method->source));
    json_object_set_new(row, "supports", cli_json_text(method->supports));
    json_object_set_new(row, "bounded", json_boolean(method->flags & ULNA_METHOD_BOUNDED));
    json_object_set_new(row, "monotone", json_boolean(method->flags & ULNA_METHOD_MONOTONE));
    json_object_set_new(row, "dense_jacobian", json_boolean(method->flags & ULNA_METHOD_JACOBIAN));
    json_object_set_new(row, "exact_hessian", json_boolean(method->flags & ULNA_METHOD_HESSIAN));
    json_object_set_new(row, "lapack", json_boolean(method->flags & ULNA_METHOD_LAPACK));
    json_object_set_new(row, "points_only", json_boolean(method->flags & ULNA_METHOD_POSITIONS));
    json_object_set_new(row, "iterations", json_integer(method->iterations));
    return row;
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
    json_t *object = json_object(), *list = json_array();
    json_object_set_new(object, "methods", list);
    if (tool->operand_count == 0) {
        for (int i = 0; i < ulna_method_count(); i++)
            json_array_append_new(list, method_json(ulna_method_at(i)));
        json_object_set_new(object, "global", method_json(&methods_global));
        print_list(tool);
    }
    for (int i = 0; i < tool->operand_count; i++) {
        const ulna_method_info *method = find_any(tool, tool->operands[i]);
        json_array_append_new(list, method_json(method));
        if (i > 0)
            cli_say(tool, "\n");
        print_method(tool, method);
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
    .summary = "list the methods of solving",
    .text = "Lists every method: whether it keeps joint limits itself, how many iterations it makes at most by "
            "default, and what it needs. With names, tells more about these: where they come from, and which goals "
            "they take.",
    .examples = "ulna methods\tall of them\n"
                "ulna methods hybrid lm\tmore about two of them",
    .run = methods_main,
};
