/* The help texts and the manual page, both from the tables of the commands. */
#define _XOPEN_SOURCE 700 /* readlink, realpath, beside ISO C */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"

/* ---- on the screen ------------------------------------------------------------------------------------ */

/* Help is printed even with --quiet or --json, and is never wider than 80 characters, which read well. */
static cli for_help(const cli *tool)
{
    cli loud = *tool;
    loud.quiet = loud.json = 0;
    loud.columns = CLI_COLUMNS;
    return loud;
}

/* "  -o, --only NAME", and the text beside it. */
static void print_options(const cli *tool, const cli_option *options)
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
        table_wrap(tool, 0, COLUMN, column, options->text);
    }
}

static void heading(const cli *tool, const char *text)
{
    printf("\n");
    cli_title(tool, "%s\n", text);
}

static const char *const exits[] = {
    "Done.",
    "Only a part was done, an iteration did not converge, the result should not be used, or memory is out.",
    "The command line is wrong.",
    "A file is invalid; the message names the file and, if known, the line.",
    "A file cannot be opened, read or written.",
};

enum { EXITS = sizeof exits / sizeof *exits };

static void print_exit_codes(const cli *tool)
{
    heading(tool, "Exit code");
    for (int i = 0; i < EXITS; i++) {
        printf("  %d  ", i);
        table_wrap(tool, 0, 5, 5, exits[i]);
    }
}

/* The folder that has the pages which help names, docs/guide.md and others: where the program is installed, or was built in its source. */
static int find_pages(char folder[PATH_MAX])
{
    static const char *const places[] = {"/../share/doc/ulna", "/..", "/../.."};
    char own[PATH_MAX], tried[PATH_MAX + 64];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    own[length > 0 ? length : 0] = 0;
    char *slash = strrchr(own, '/');
    if (!slash)
        return 0;
    *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(tried, sizeof tried, "%s%s/docs/guide.md", own, places[i]);
        if (access(tried, R_OK) != 0)
            continue;
        snprintf(tried, sizeof tried, "%s%s", own, places[i]);
        return realpath(tried, folder) != NULL;
    }
    return 0;
}

static void print_pages(void)
{
    char folder[PATH_MAX];
    printf("\nPages such as docs/guide.md are in\n  %s\n",
           find_pages(folder) ? folder : "share/doc/ulna of the installation");
}

void cli_print_overview(const cli *tool)
{
    cli loud = for_help(tool);
    cli_title(&loud, "ulna");
    printf(": ");
    table_wrap(&loud, 0, 6, 6, cli_about);
    heading(&loud, "Usage");
    printf("  ulna COMMAND [OPTIONS] ...\n");
    heading(&loud, "Commands");
    for (const cli_command *command, *const *at = cli_commands; (command = *at); at++)
        printf("  %-12s %s\n", command->name, command->summary);
    heading(&loud, "Options of every command");
    print_options(&loud, cli_global_options);
    print_exit_codes(&loud);
    print_pages();
    printf("\n'ulna help COMMAND' explains a command.\n");
}

/* Paragraphs are separated by "\n\n". */
static void print_paragraphs(const cli *tool, const char *text)
{
    while (*text) {
        char paragraph[2000];
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        snprintf(paragraph, sizeof paragraph, "%.*s", (int)length, text);
        table_wrap(tool, 0, 0, 0, paragraph);
        if (end)
            printf("\n");
        text += length + (end ? 2 : 0);
    }
}

static void print_examples(const cli *tool, const char *examples)
{
    while (*examples) {
        char text[200];
        int command = (int)strcspn(examples, "\t"), line = (int)strcspn(examples, "\n");
        snprintf(text, sizeof text, "%.*s", line - command - 1, examples + command + 1);
        printf("  %.*s\n      ", command, examples);
        table_wrap(tool, 0, 6, 6, text);
        examples += line + (examples[line] == '\n');
    }
}

void cli_print_help(const cli *tool, const cli_command *command)
{
    cli loud = for_help(tool);
    cli_title(&loud, "ulna %s", command->name);
    printf(": %s\n", command->summary);
    heading(&loud, "Usage");
    printf("  ulna %s [OPTIONS] %s\n\n", command->name, command->operands);
    print_paragraphs(&loud, command->text);
    if (command->options) {
        heading(&loud, "Options");
        print_options(&loud, command->options);
    }
    heading(&loud, "Options of every command");
    print_options(&loud, cli_global_options);
    heading(&loud, "Examples");
    print_examples(&loud, command->examples);
    print_exit_codes(&loud);
    print_pages();
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
    printf("%c", toupper((unsigned char)*command->summary));
    put_paragraph(command->summary + 1, ".PP");
    printf(".PP\n");
    put_paragraph(command->text, ".PP");
    man_options(command->options);
    printf(".PP\nExamples:\n");
    man_examples(command->examples);
}

static void print_manual(void)
{
    printf(".\\\" Written by 'ulna help --man' from the tables of the commands in cli/; do not edit.\n");
    printf(".TH ULNA 1 \"\" \"Ulna\" \"User commands\"\n.SH NAME\nulna \\- ");
    put_paragraph(cli_about, "");
    printf(".SH SYNOPSIS\n\\fBulna\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] ...\n.SH COMMANDS\n");
    for (const cli_command *command, *const *at = cli_commands; (command = *at); at++)
        man_command(command);
    printf(".SH \"OPTIONS OF EVERY COMMAND\"\n");
    man_options(cli_global_options);
    printf(".SH \"EXIT STATUS\"\n");
    for (int i = 0; i < EXITS; i++)
        printf(".TP\n%d\n%s\n", i, exits[i]);
    printf(".SH ENVIRONMENT\n.TP\nNO_COLOR\nIf set, no colours are used. (They are used only on a terminal.)\n");
    printf(".TP\nCOLUMNS\nWidth of the output, instead of the width of the terminal. Default: %d.\n", CLI_COLUMNS);
    printf(".TP\nLC_ALL, LC_CTYPE, LANG\nIf the locale is not UTF\\-8, drawings and trees are in ASCII.\n");
    printf(
        ".SH \"SEE ALSO\"\nPages such as docs/guide.md, and docs/model\\-file.md on the model file, are installed in share/doc/ulna beside bin.\n");
}

/* ---- for other programs ------------------------------------------------------------------------------- */

static json_t *json_options(const cli_option *options)
{
    json_t *list = json_array();
    for (; options && options->name; options++) {
        json_t *object = put_row(list);
        put_text(object, "name", options->name);
        if (options->letter)
            put_text(object, "letter", (const char[]){options->letter, 0});
        if (options->argument)
            put_text(object, "argument", options->argument);
        put_text(object, "text", options->text);
    }
    return list;
}

/* All commands, or the one that is given. */
static void print_json(const cli *tool, const cli_command *only)
{
    json_t *object = json_object(), *list = put_list(object, "commands");
    put_text(object, "about", cli_about);
    json_object_set_new(object, "options", json_options(cli_global_options));
    for (const cli_command *command, *const *at = cli_commands; (command = *at); at++) {
        if (only && command != only)
            continue;
        json_t *row = put_row(list);
        put_text(row, "name", command->name);
        put_text(row, "operands", command->operands);
        put_text(row, "summary", command->summary);
        put_text(row, "text", command->text);
        json_object_set_new(row, "options", json_options(command->options));
        put_text(row, "reads", command->reads ? command->reads : "");
        put_text(row, "writes", command->writes ? command->writes : "");
    }
    cli_json_print(tool, object);
}

/* ---- ulna help ---------------------------------------------------------------------------------------- */

static int help_main(cli *tool)
{
    const char *name = tool->operand_count > 0 ? tool->operands[0] : NULL;
    const cli_command *command = name ? cli_find_command(tool, name) : NULL;
    if (name && !command)
        return CLI_USAGE;
    const char *shell = cli_value(tool, "completion");
    if (shell && (tool->json || name || cli_value(tool, "man")))
        return cli_usage(tool,
                         "--completion prints a script for a shell; it takes neither --json, --man nor a command");
    if (shell)
        return cli_print_completion(tool, shell);
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
    {"completion", 0, "bash|zsh|fish", "Print the script that completes commands and options in this shell."},
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
                "ulna help --man | man -l -\tthe manual page\n"
                "eval \"$(ulna help --completion bash)\"\tcompletion in this shell, if it is not installed",
    .run = help_main,
};
