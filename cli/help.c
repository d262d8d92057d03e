/* The help texts and the manual page, both from the tables of the commands. */
#include "cli/cli.h"

#include <string.h>

enum { WIDTH = 79 };

/* ---- on the screen ------------------------------------------------------------------------------------ */

/* Words wrapped at WIDTH; the first line begins at column `column`, the others at `indent`. Paragraphs are kept. */
static void wrap(const char *text, int indent, int column)
{
    while (*text) {
        if (*text == '\n') {
            printf("\n");
            column = 0;
            text++;
            continue;
        }
        int length = (int)strcspn(text, " \n");
        if (column > indent && column + 1 + length > WIDTH) {
            printf("\n");
            column = 0;
        }
        if (column < indent)
            printf("%*s", indent - column, "");
        else if (column > indent)
            printf(" ");
        column = (column < indent ? indent : column + (column > indent)) + length;
        printf("%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
    printf("\n");
}

/* "  -o, --only NAME", and the text beside it. */
static void print_options(const cli_option *options)
{
    enum { COLUMN = 22 };
    for (; options && options->name; options++) {
        int column = printf("  ");
        column += options->letter ? printf("-%c, ", options->letter) : printf("    ");
        column += printf("--%s", options->name);
        if (options->argument)
            column += printf(" %s", options->argument);
        if (column >= COLUMN) {
            printf("\n");
            column = 0;
        }
        printf("%*s", COLUMN - column, "");
        wrap(options->text, COLUMN, COLUMN);
    }
}

static void heading(const cli *tool, const char *text)
{
    printf("\n");
    cli_title(tool, "%s\n", text);
}

static void print_exit_codes(const cli *tool)
{
    heading(tool, "Exit code");
    printf("  0 done, 1 only a part was done, 2 wrong usage, 3 invalid input, 4 a file\n"
           "  cannot be opened, read or written\n");
}

void cli_print_overview(const cli *tool)
{
    cli loud = *tool;
    loud.quiet = loud.json = 0;
    cli_title(&loud, "ulna");
    printf(": ");
    wrap(cli_about, 6, 6);
    heading(&loud, "Usage");
    printf("  ulna COMMAND [OPTIONS] ...\n");
    heading(&loud, "Commands");
    for (const cli_command *command, *const *at = cli_commands; (command = *at); at++)
        printf("  %-12s %s\n", command->name, command->summary);
    heading(&loud, "Options of every command");
    print_options(cli_global_options);
    print_exit_codes(&loud);
    printf("\n'ulna help COMMAND' explains a command.\n");
}

static void print_examples(const char *examples)
{
    while (*examples) {
        int command = (int)strcspn(examples, "\t"), line = (int)strcspn(examples, "\n");
        printf("  %.*s\n      %.*s\n", command, examples, line - command - 1, examples + command + 1);
        examples += line + (examples[line] == '\n');
    }
}

void cli_print_help(const cli *tool, const cli_command *command)
{
    cli loud = *tool;
    loud.quiet = loud.json = 0;
    cli_title(&loud, "ulna %s", command->name);
    printf(": %s\n", command->summary);
    heading(&loud, "Usage");
    printf("  ulna %s [OPTIONS] %s\n\n", command->name, command->operands);
    wrap(command->text, 0, 0);
    if (command->options) {
        heading(&loud, "Options");
        print_options(command->options);
    }
    heading(&loud, "Options of every command");
    print_options(cli_global_options);
    heading(&loud, "Examples");
    print_examples(command->examples);
    print_exit_codes(&loud);
}

/* ---- the manual page ---------------------------------------------------------------------------------- */

/* troff text: backslashes and hyphens are escaped, and paragraphs begin with a macro. */
static void put_troff(const char *text, size_t length, const char *paragraph)
{
    for (size_t i = 0; i < length; i++) {
        int starts_line = i == 0 || text[i - 1] == '\n';
        if (text[i] == '\\')
            fputs("\\e", stdout);
        else if (text[i] == '-')
            fputs("\\-", stdout);
        else if (starts_line && (text[i] == '.' || text[i] == '\''))
            printf("\\&%c", text[i]);
        else if (text[i] == '\n' && i + 1 < length && text[i + 1] == '\n') {
            printf("\n%s\n", paragraph);
            i++;
        } else
            putchar(text[i]);
    }
}

static void put_paragraph(const char *text, const char *paragraph)
{
    put_troff(text, strlen(text), paragraph);
    putchar('\n');
}

static void man_options(const cli_option *options)
{
    for (; options && options->name; options++) {
        printf(".TP\n");
        if (options->letter)
            printf("\\fB\\-%c\\fR, ", options->letter);
        printf("\\fB\\-\\-");
        put_troff(options->name, strlen(options->name), "");
        printf("\\fR");
        if (options->argument)
            printf(" \\fI%s\\fR", options->argument);
        printf("\n");
        put_paragraph(options->text, ".IP");
    }
}

static void man_examples(const char *examples)
{
    while (*examples) {
        size_t command = strcspn(examples, "\t"), line = strcspn(examples, "\n");
        printf(".TP\n\\fB");
        put_troff(examples, command, "");
        printf("\\fR\n");
        put_troff(examples + command + 1, line - command - 1, "");
        printf("\n");
        examples += line + (examples[line] == '\n');
    }
}

static void man_command(const cli_command *command)
{
    printf(".SS \"ulna %s [OPTIONS] %s\"\n", command->name, command->operands);
    printf("To ");
    put_paragraph(command->summary, ".PP");
    printf(".PP\n");
    put_paragraph(command->text, ".PP");
    man_options(command->options);
    printf(".PP\nExamples:\n");
    man_examples(command->examples);
}

static void print_manual(void)
{
    static const char *const exits[] = {"Done.", "Only a part was done, or an iteration did not converge.",
                                        "The command line is wrong.",
                                        "A file is invalid; the message names the file and, if known, the line.",
                                        "A file cannot be opened, read or written."};
    printf(".\\\" Written by 'ulna help --man' from the tables of the commands in cli/; do not edit.\n");
    printf(".TH ULNA 1 \"\" \"Ulna\" \"User commands\"\n.SH NAME\nulna \\- ");
    put_paragraph(cli_about, "");
    printf(".SH SYNOPSIS\n\\fBulna\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH COMMANDS\n");
    for (const cli_command *command, *const *at = cli_commands; (command = *at); at++)
        man_command(command);
    printf(".SH \"OPTIONS OF EVERY COMMAND\"\n");
    man_options(cli_global_options);
    printf(".SH \"EXIT STATUS\"\n");
    for (size_t i = 0; i < sizeof exits / sizeof *exits; i++)
        printf(".TP\n%zu\n%s\n", i, exits[i]);
    printf(".SH ENVIRONMENT\n.TP\nNO_COLOR\nIf set, no colours are used. (They are used only on a terminal.)\n");
    printf(".TP\nCOLUMNS\nWidth of the output, instead of the width of the terminal. Default: %d.\n", CLI_COLUMNS);
    printf(".TP\nLC_ALL, LC_CTYPE, LANG\nIf the locale is not UTF\\-8, drawings and trees are in ASCII.\n");
    printf(".SH \"SEE ALSO\"\nThe model file is described in docs/model\\-file.md of the source.\n");
}

/* ---- for other programs ------------------------------------------------------------------------------- */

static json_t *json_options(const cli_option *options)
{
    json_t *list = json_array();
    for (; options && options->name; options++) {
        json_t *object = json_object();
        json_object_set_new(object, "name", json_string(options->name));
        if (options->letter)
            json_object_set_new(object, "letter", json_stringn(&options->letter, 1));
        if (options->argument)
            json_object_set_new(object, "argument", json_string(options->argument));
        json_object_set_new(object, "text", json_string(options->text));
        json_array_append_new(list, object);
    }
    return list;
}

/* All commands, or the one that is given. */
static void print_json(const cli *tool, const cli_command *only)
{
    json_t *object = json_object(), *list = json_array();
    json_object_set_new(object, "about", json_string(cli_about));
    json_object_set_new(object, "options", json_options(cli_global_options));
    json_object_set_new(object, "commands", list);
    for (const cli_command *command, *const *at = cli_commands; (command = *at); at++) {
        if (only && command != only)
            continue;
        json_t *row = json_object();
        json_object_set_new(row, "name", json_string(command->name));
        json_object_set_new(row, "operands", json_string(command->operands));
        json_object_set_new(row, "summary", json_string(command->summary));
        json_object_set_new(row, "text", json_string(command->text));
        json_object_set_new(row, "options", json_options(command->options));
        json_object_set_new(row, "reads", json_string(command->reads ? command->reads : ""));
        json_object_set_new(row, "writes", json_string(command->writes ? command->writes : ""));
        json_array_append_new(list, row);
    }
    cli_json_print(tool, object);
}

/* ---- ulna help ---------------------------------------------------------------------------------------- */

static int help_main(cli *tool)
{
    const char *name = tool->operand_count > 0 ? tool->operands[0] : NULL;
    const cli_command *command = name ? cli_find_command(name) : NULL;
    if (name && !command) {
        const char *nearest = cli_nearest_command(name);
        return cli_usage(tool, "there is no command '%s'%s%s%s", name, nearest ? "; did you mean '" : "",
                         nearest ? nearest : "", nearest ? "'?" : "");
    }
    if (cli_value(tool, "man")) {
        if (tool->json || name)
            return cli_usage(tool, "--man prints the whole manual page; it takes neither --json nor a command");
        print_manual();
    } else if (tool->json)
        print_json(tool, command);
    else if (command)
        cli_print_help(tool, command);
    else
        cli_print_overview(tool);
    return CLI_DONE;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"man", 0, NULL, "Print the manual page, for man(1)."},
    {0},
};

const cli_command help_command = {
    .name = "help",
    .operands = "[COMMAND]",
    .operand = "a command",
    .least = 0,
    .most = 1,
    .summary = "explain a command",
    .text = "Without a command, lists all commands. With --json, prints the tables that the help is made of.",
    .options = options,
    .examples = "ulna help info\thow to use info\n"
                "ulna help --man | man -l -\tthe manual page",
    .run = help_main,
};
