/* Completion for shells, from the same tables as help and manual page: commands, options, and what options take. */
#include <string.h>

#include "cli/cli.h"

/* ---- what a word can be ------------------------------------------------------------------------------------------------ */

typedef enum value_kind {
    VALUE_NONE,   /* the option takes nothing */
    VALUE_ANY,    /* something that cannot be guessed */
    VALUE_FILE,   /* a file or a folder */
    VALUE_METHOD, /* a method by name */
    VALUE_CHOICE  /* one of the words of "on|off", or the name of a command */
} value_kind;

/* Whether the name is one of the words of a list such as cli_command.reads. */
static int is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at && (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (!at[length] || at[length] == ' '))
            return 1;
    return 0;
}

static value_kind kind_of(const cli_command *command, const cli_option *option)
{
    const char *argument = option->argument;
    if (!argument)
        return VALUE_NONE;
    if (strcmp(option->name, "method") == 0 || strcmp(option->name, "methods") == 0)
        return VALUE_METHOD;
    if (strchr(argument, '|'))
        return VALUE_CHOICE;
    int is_file = is_listed(command->reads, option->name) || is_listed(command->writes, option->name) ||
                  strstr(argument, "FILE") || strstr(argument, "FOLDER") || strstr(argument, "DIR");
    return is_file ? VALUE_FILE : VALUE_ANY;
}

static value_kind kind_of_operands(const cli_command *command)
{
    if (command == &methods_command)
        return VALUE_METHOD;
    if (command == &help_command)
        return VALUE_CHOICE;
    int is_file =
        is_listed(command->reads, "OPERANDS") || is_listed(command->writes, "LAST") || strstr(command->operands, "DIR");
    return is_file ? VALUE_FILE : VALUE_ANY;
}

static void put_commands(void)
{
    for (int i = 0; cli_commands[i]; i++)
        printf("%s%s", i ? " " : "", cli_commands[i]->name);
}

/* "on off" of "on|off"; names of methods or commands. */
static void put_words(value_kind kind, const cli_option *option)
{
    if (kind == VALUE_METHOD)
        for (int i = 0; ulna_method_at(i); i++)
            printf("%s%s", i ? " " : "", ulna_method_at(i)->name);
    else if (!option)
        put_commands();
    else
        for (const char *at = option->argument; *at; at++)
            putchar(*at == '|' ? ' ' : *at);
}

/* The first sentence of a text, in single quotes that are open; a backslash before what `escaped` lists. */
static void put_sentence(const char *text, const char *escaped)
{
    for (; *text && !(*text == '.' && (text[1] == ' ' || !text[1])); text++) {
        if (*text == '\'')
            fputs("'\\''", stdout);
        else
            printf(strchr(escaped, *text) ? "\\%c" : "%c", *text);
    }
}

/* ---- bash -------------------------------------------------------------------------------------------------------------- */

static void bash_option_names(const cli_option *options)
{
    for (; options && options->name; options++) {
        printf(" --%s", options->name);
        if (options->letter)
            printf(" -%c", options->letter);
    }
}

/* A case for each option that takes something: what comes after it. */
static void bash_values(const cli_command *command, const cli_option *options)
{
    for (; options && options->name; options++) {
        value_kind kind = kind_of(command, options);
        if (kind == VALUE_NONE)
            continue;
        printf("    %s:--%s", command->name, options->name);
        if (options->letter)
            printf("|%s:-%c", command->name, options->letter);
        printf(") words='");
        if (kind == VALUE_METHOD || kind == VALUE_CHOICE)
            put_words(kind, options);
        printf("' files=%d ;;\n", kind == VALUE_FILE);
    }
}

static void print_bash(void)
{
    printf("# bash completion of ulna, written by 'ulna help --completion bash'; do not edit.\n"
           "_ulna() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= files=0 i\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n"
           "        --threads) ((i++)) ;;\n"
           "        -*) ;;\n"
           "        *) command=${COMP_WORDS[i]}; break ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command:$before in\n");
    for (int i = 0; cli_commands[i]; i++) {
        bash_values(cli_commands[i], cli_commands[i]->options);
        bash_values(cli_commands[i], cli_global_options);
    }
    printf("    :*) words='");
    put_commands();
    bash_option_names(cli_global_options);
    printf("' ;;\n");
    for (int i = 0; cli_commands[i]; i++) {
        value_kind kind = kind_of_operands(cli_commands[i]);
        printf("    %s:*) files=%d words='", cli_commands[i]->name, kind == VALUE_FILE);
        if (kind == VALUE_METHOD || kind == VALUE_CHOICE)
            put_words(kind, NULL);
        bash_option_names(cli_commands[i]->options);
        bash_option_names(cli_global_options);
        printf("' ;;\n");
    }
    printf("    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    if ((files)) && [[ $word != -* ]]; then\n"
           "        local IFS=$'\\n'\n"
           "        COMPREPLY+=($(compgen -f -- \"$word\"))\n"
           "        compopt -o filenames 2>/dev/null\n"
           "    fi\n"
           "}\n"
           "complete -F _ulna ulna\n");
}

/* ---- zsh --------------------------------------------------------------------------------------------------------------- */

static void zsh_value(value_kind kind, const cli_option *option)
{
    if (kind == VALUE_METHOD || kind == VALUE_CHOICE) {
        printf("(");
        put_words(kind, option);
        printf(")");
    } else if (kind == VALUE_FILE)
        printf("_files");
    else
        printf(" ");
}

static void zsh_options(const cli_command *command)
{
    const cli_option *const lists[] = {command->options, cli_global_options};
    for (int i = 0; i < 2; i++)
        for (const cli_option *o = lists[i]; o && o->name; o++) {
            if (o->letter)
                printf("            '*'{-%c,--%s}'[", o->letter, o->name);
            else
                printf("            '*--%s[", o->name);
            put_sentence(o->text, "[]:\\");
            printf("]");
            if (o->argument) {
                printf(":%s:", o->name);
                zsh_value(kind_of(command, o), o);
            }
            printf("' \\\n");
        }
}

static void print_zsh(void)
{
    printf("#compdef ulna\n# zsh completion of ulna, written by 'ulna help --completion zsh'; do not edit.\n"
           "_ulna() {\n    local context state line\n    typeset -A opt_args\n"
           "    _arguments -C '1:command:->command' '*::argument:->argument'\n"
           "    case $state in\n    command)\n        local -a commands\n        commands=(\n");
    for (int i = 0; cli_commands[i]; i++) {
        printf("            '%s:", cli_commands[i]->name);
        put_sentence(cli_commands[i]->summary, ":\\");
        printf("'\n");
    }
    printf("        )\n        _describe command commands\n        ;;\n    argument)\n        case $words[1] in\n");
    for (int i = 0; cli_commands[i]; i++) {
        printf("        %s)\n            _arguments \\\n", cli_commands[i]->name);
        zsh_options(cli_commands[i]);
        printf("            '*:operand:");
        zsh_value(kind_of_operands(cli_commands[i]), NULL);
        printf("'\n            ;;\n");
    }
    printf("        esac\n        ;;\n    esac\n}\n"
           "if [ \"$funcstack[1]\" = _ulna ]; then\n    _ulna \"$@\"\nelse\n    compdef _ulna ulna\nfi\n");
}

/* ---- fish -------------------------------------------------------------------------------------------------------------- */

static void fish_option(const char *condition, const cli_command *command, const cli_option *option)
{
    value_kind kind = kind_of(command, option);
    printf("complete -c ulna -n '%s' -l %s", condition, option->name);
    if (option->letter)
        printf(" -s %c", option->letter);
    if (kind == VALUE_FILE)
        printf(" -r -F");
    else if (kind != VALUE_NONE)
        printf(" -x");
    if (kind == VALUE_METHOD || kind == VALUE_CHOICE) {
        printf(" -a '");
        put_words(kind, option);
        printf("'");
    }
    printf(" -d '");
    put_sentence(option->text, "\\");
    printf("'\n");
}

static void print_fish(void)
{
    printf("# fish completion of ulna, written by 'ulna help --completion fish'; do not edit.\n");
    for (int i = 0; cli_commands[i]; i++) {
        const cli_command *command = cli_commands[i];
        value_kind kind = kind_of_operands(command);
        char condition[80];
        printf("complete -c ulna -f -n __fish_use_subcommand -a %s -d '", command->name);
        put_sentence(command->summary, "\\");
        printf("'\n");
        snprintf(condition, sizeof condition, "__fish_seen_subcommand_from %.40s", command->name);
        for (const cli_option *o = command->options; o && o->name; o++)
            fish_option(condition, command, o);
        for (const cli_option *o = cli_global_options; o->name; o++)
            fish_option(condition, command, o);
        if (kind == VALUE_FILE)
            continue;
        printf("complete -c ulna -f -n '%s'", condition);
        if (kind == VALUE_METHOD || kind == VALUE_CHOICE) {
            printf(" -a '");
            put_words(kind, NULL);
            printf("'");
        }
        printf("\n");
    }
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

int cli_print_completion(const cli *tool, const char *shell)
{
    static const char *const shells[] = {"bash", "zsh", "fish", NULL};
    static void (*const printers[])(void) = {print_bash, print_zsh, print_fish};
    for (int i = 0; shells[i]; i++)
        if (strcmp(shells[i], shell) == 0) {
            printers[i]();
            return CLI_DONE;
        }
    return cli_unknown(tool, "completion for the shell", shell, shells, ": there is bash, zsh and fish");
}
