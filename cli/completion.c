/* Completion for shells, from the same tables as help and manual page: commands, options, and what options take. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/paper/paper.h"
#include "ulna/sample.h"

/* ---- what a word can be ------------------------------------------------------------------------------------------------ */

/* What an option takes, by its name and by what the synopsis calls it: each word that its text mentions is offered. */
static const struct {
    const char *option, *argument, *words;
} known[] = {
    {"attach", "WHERE", "model names reference oracle"},
    {"axes", "ABC", "auto"},
    {"ball", "KIND", "euler quaternion expmap swing-twist"},
    {"bounds", "WHICH", "none skeleton"},
    {"bvh-channels", "KIND", "three dof"},
    {"init", "WHERE", "rest first global"},
    {"loss", "KIND", "geman-mcclure cauchy huber square"},
    {"norm", "NORM", "squares largest"},
    {"oracle-start", "WHERE", "solution reference zero"},
    {"relax", "KIND", "bones hull none"},
    {"sdpa-form", "FORM", "F0 F1 F2"},
    {"seed", "\"Q1 Q2 ...\"", "rest"},
    {"start", "KIND", "random near"},
    {"start", "WHERE", "tracked near reference rest zero"},
    {"static-pose", "POSE", "t n a"},
    {"up", "AXIS", "x y z"},
};

typedef struct offer {
    char words[1000]; /* each after a blank */
    int files;        /* files and folders as well */
} offer;

static void add(offer *to, const char *word, int length)
{
    size_t used = strlen(to->words);
    snprintf(to->words + used, sizeof to->words - used, " %.*s", length, word);
}

static void add_word(offer *to, const char *word)
{
    add(to, word, (int)strlen(word));
}

static int mentions(const char *text, const char *word, size_t length)
{
    static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-";
    for (const char *at = text; *at; at += strcspn(at, inside)) {
        size_t size = strspn(at, inside);
        if (size == length && memcmp(at, word, length) == 0)
            return 1;
        at += size;
    }
    return 0;
}

static void add_commands(offer *to)
{
    for (int i = 0; cli_commands[i]; i++)
        add_word(to, cli_commands[i]->name);
}

static void add_methods(offer *to)
{
    for (int i = 0; ulna_method_at(i); i++)
        add_word(to, ulna_method_at(i)->name);
}

static void add_samples(offer *to)
{
    for (int i = 0; ulna_sample_name(i); i++)
        add_word(to, ulna_sample_name(i));
}

static offer offer_for(const cli_command *command, const cli_option *option)
{
    const char *name = option->name, *argument = option->argument;
    offer made = {.files = cli_is_listed(command->reads, name) || cli_is_listed(command->writes, name) ||
                           strstr(argument, "FILE") || strstr(argument, "FOLDER") || strstr(argument, "DIR")};
    if (strcmp(name, "method") == 0 || strcmp(name, "methods") == 0)
        add_methods(&made);
    else if (strcmp(name, "skeleton") == 0 || (command == &sample_command && strcmp(name, "only") == 0))
        add_samples(&made);
    else if (strcmp(argument, "UNIT") == 0)
        add_word(&made, "m cm mm in ft");
    for (const char *at = argument; strchr(argument, '|') && *at; at += *at == '|') {
        int length = (int)strcspn(at, "|");
        add(&made, at, length);
        at += length;
    }
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (const char *at = known[i].words;
             *at && strcmp(name, known[i].option) == 0 && strcmp(argument, known[i].argument) == 0;
             at += strspn(at, " ")) {
            size_t length = strcspn(at, " ");
            if (mentions(option->text, at, length))
                add(&made, at, (int)length);
            at += length;
        }
    return made;
}

static offer offer_for_operands(const cli_command *command)
{
    offer made = {.files = cli_is_listed(command->reads, "OPERANDS") || cli_is_listed(command->writes, "LAST") ||
                           strstr(command->operands, "DIR")};
    if (command == &methods_command)
        add_methods(&made);
    else if (command == &help_command)
        add_commands(&made);
    else if (command == &info_command || strstr(command->operands, "MODEL") || strstr(command->operands, "SKELETON") ||
             strstr(command->operands, "ROBOT"))
        add_samples(&made);
    else if (command == &paper_command) {
        add_word(&made, "all");
        for (int i = 0; paper_items[i].name; i++)
            add_word(&made, paper_items[i].name);
    }
    return made;
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
static void bash_values(const char *name, const cli_command *command, const cli_option *options)
{
    for (; options && options->name; options++) {
        if (!options->argument)
            continue;
        offer values = offer_for(command, options);
        printf("    %s:--%s", name, options->name);
        if (options->letter)
            printf("|%s:-%c", name, options->letter);
        printf(") words='%s' files=%d ;;\n", values.words, values.files);
    }
}

static void print_bash(void)
{
    printf("# bash completion of ulna, written by 'ulna help --completion bash'; do not edit.\n"
           "_ulna() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= words= files=0 i\n"
           "    if [[ $word == = ]]; then\n"
           "        word=\n"
           "    elif [[ $before == = ]]; then\n"
           "        before=${COMP_WORDS[COMP_CWORD-2]}\n"
           "    fi\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        case ${COMP_WORDS[i]} in\n"
           "        --threads) [[ ${COMP_WORDS[++i]} != = ]] || ((i++)) ;;\n"
           "        -*) ;;\n"
           "        *) command=${COMP_WORDS[i]}; break ;;\n"
           "        esac\n"
           "    done\n"
           "    case $command:$before in\n");
    bash_values("", cli_commands[0], cli_global_options);
    for (int i = 0; cli_commands[i]; i++) {
        bash_values(cli_commands[i]->name, cli_commands[i], cli_commands[i]->options);
        bash_values(cli_commands[i]->name, cli_commands[i], cli_global_options);
    }
    offer commands = {0};
    add_commands(&commands);
    printf("    :*) words='%s", commands.words);
    bash_option_names(cli_global_options);
    printf("' ;;\n");
    for (int i = 0; cli_commands[i]; i++) {
        offer operands = offer_for_operands(cli_commands[i]);
        printf("    %s:*) files=%d words='%s", cli_commands[i]->name, operands.files, operands.words);
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

static void zsh_offer(offer values)
{
    if (*values.words && values.files)
        printf(" _ulna_words_or_files%s", values.words);
    else if (*values.words)
        printf("(%s)", values.words + 1);
    else
        printf(values.files ? "_files" : " ");
}

static void zsh_options(const cli_command *command, const cli_option *options)
{
    for (const cli_option *o = options; o && o->name; o++) {
        if (o->letter)
            printf("            '*'{-%c%s,--%s%s}'[", o->letter, o->argument ? "+" : "", o->name,
                   o->argument ? "=" : "");
        else
            printf("            '*--%s%s[", o->name, o->argument ? "=" : "");
        put_sentence(o->text, "[]:\\");
        printf("]");
        if (o->argument) {
            printf(":%s:", o->name);
            zsh_offer(offer_for(command, o));
        }
        printf("' \\\n");
    }
}

static void print_zsh(void)
{
    printf("#compdef ulna\n# zsh completion of ulna, written by 'ulna help --completion zsh'; do not edit.\n"
           "_ulna_words_or_files() {\n    compadd -- \"$@\"\n    _files\n}\n"
           "_ulna() {\n    local context state line\n    typeset -A opt_args\n"
           "    _arguments -C \\\n");
    zsh_options(cli_commands[0], cli_global_options);
    printf("            '(-): :->command' '(-)*:: :->argument'\n"
           "    case $state in\n    command)\n        local -a commands\n        commands=(\n");
    for (int i = 0; cli_commands[i]; i++) {
        printf("            '%s:", cli_commands[i]->name);
        put_sentence(cli_commands[i]->summary, ":\\");
        printf("'\n");
    }
    printf("        )\n        _describe command commands\n        ;;\n    argument)\n        case $words[1] in\n");
    for (int i = 0; cli_commands[i]; i++) {
        printf("        %s)\n            _arguments \\\n", cli_commands[i]->name);
        zsh_options(cli_commands[i], cli_commands[i]->options);
        zsh_options(cli_commands[i], cli_global_options);
        printf("            '*:operand:");
        zsh_offer(offer_for_operands(cli_commands[i]));
        printf("'\n            ;;\n");
    }
    printf("        esac\n        ;;\n    esac\n}\n"
           "if [ \"$funcstack[1]\" = _ulna ]; then\n    _ulna \"$@\"\nelse\n    compdef _ulna ulna\nfi\n");
}

/* ---- fish -------------------------------------------------------------------------------------------------------------- */

static void fish_options(const char *name, const cli_command *command, const cli_option *options)
{
    for (const cli_option *o = options; o && o->name; o++) {
        printf("complete -c ulna -n '__ulna_at %s' -l %s", name, o->name);
        if (o->letter)
            printf(" -s %c", o->letter);
        if (o->argument) {
            offer values = offer_for(command, o);
            printf(values.files ? " -r -F" : " -x");
            if (*values.words)
                printf(" -a '%s'", values.words + 1);
        }
        printf(" -d '");
        put_sentence(o->text, "\\");
        printf("'\n");
    }
}

static void print_fish(void)
{
    printf("# fish completion of ulna, written by 'ulna help --completion fish'; do not edit.\n"
           "function __ulna_at # whether this is the command of the line, or 'none'\n"
           "    set -l command none\n    set -l takes_next 0\n    set -l words (commandline -opc)\n"
           "    for word in $words[2..-1]\n"
           "        if test $takes_next = 1\n            set takes_next 0\n"
           "        else if test \"$word\" = --threads\n            set takes_next 1\n"
           "        else if not string match -q -- '-*' $word\n            set command $word\n            break\n"
           "        end\n    end\n    test $command = $argv[1]\nend\n"
           "complete -c ulna -f -n '__ulna_at none'\n");
    fish_options("none", cli_commands[0], cli_global_options);
    for (int i = 0; cli_commands[i]; i++) {
        const cli_command *command = cli_commands[i];
        offer operands = offer_for_operands(command);
        printf("complete -c ulna -f -n '__ulna_at none' -a %s -d '", command->name);
        put_sentence(command->summary, "\\");
        printf("'\n");
        fish_options(command->name, command, command->options);
        fish_options(command->name, command, cli_global_options);
        if (*operands.words || !operands.files)
            printf("complete -c ulna -n '__ulna_at %s'%s -a '%s'\n", command->name, operands.files ? "" : " -f",
                   operands.words);
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
