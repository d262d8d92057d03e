/* Reads the command line by the tables, and guesses what a misspelt word should have been. */
#include "cli/cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "src/base/algorithms.h"

/* ---- guessing ----------------------------------------------------------------------------------------- */

int cli_unknown(const cli *tool, const char *what, const char *name, const char *const *names, const char *otherwise)
{
    const char *nearest = ulna_nearest_name(name, names, sizeof *names);
    return nearest ? cli_usage(tool, "there is no %s '%s'; did you mean '%s'?", what, name, nearest)
                   : cli_usage(tool, "there is no %s '%s'%s", what, name, otherwise);
}

/* ---- parsing ------------------------------------------------------------------------------------------ */

/* A number, and no file of that name. */
static int is_only_number(const char *word)
{
    char *end;
    (void)strtod(word, &end);
    return end != word && !*end && access(word, F_OK) != 0;
}

/* Numbers behind an option that takes several in one argument: the quotes were forgotten. */
static int refuse_unquoted(const cli *tool, const char *option, int argc, char **argv, int value)
{
    char words[200];
    int last = value;
    while (last + 1 < argc && is_only_number(argv[last + 1]))
        last++;
    snprintf(words, sizeof words, "%s", argv[value]);
    for (int i = value + 1; i <= last; i++)
        snprintf(words + strlen(words), sizeof words - strlen(words), " %s", argv[i]);
    return cli_usage(tool, "--%s takes one argument, in quotes: --%s \"%s\"", option, option, words);
}

static const cli_option *find_option(const cli_option *options, const char *name, size_t length, char letter)
{
    for (; options && options->name; options++)
        if (name ? strlen(options->name) == length && memcmp(options->name, name, length) == 0
                 : letter && options->letter == letter)
            return options;
    return NULL;
}

/* "'ulna global', 'ulna compare'": commands that have the option. */
static void find_others(const char *name, char *text, size_t size)
{
    for (const cli_command *const *other = cli_commands; *other; other++)
        if (find_option((*other)->options, name, strlen(name), 0))
            snprintf(text + strlen(text), size - strlen(text), "%s'ulna %s'", *text ? ", " : "", (*other)->name);
}

static int unknown_option(const cli *tool, const char *word)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "="), word);
    const char *nearest = NULL;
    const char *bare = name + strspn(name, "-");
    const cli_option *old = tool->command ? find_option(tool->command->removed, bare, strlen(bare), 0) : NULL;
    if (old)
        return cli_usage(tool, "there is no option %s any more: %s", name, old->text);
    if (*bare && tool->command && tool->command->options)
        nearest = ulna_nearest_name(bare, tool->command->options, sizeof(cli_option));
    if (*bare && !nearest)
        nearest = ulna_nearest_name(bare, cli_global_options, sizeof(cli_option));
    char others[200] = "";
    int is_begun =
        nearest && strncmp(bare, nearest, strlen(bare) < strlen(nearest) ? strlen(bare) : strlen(nearest)) == 0;
    if (*bare && tool->command && !is_begun)
        find_others(bare, others, sizeof others);
    if (*others)
        return cli_usage(tool, "there is no option %s in 'ulna %s'; it is one of %s", name, tool->command->name,
                         others);
    if (nearest)
        return cli_usage(tool, "there is no option %s; did you mean --%s?", name, nearest);
    if (tool->command)
        return cli_usage(tool, "there is no option %s; see 'ulna help %s'", name, tool->command->name);
    return cli_usage(tool, "there is no option %s; see 'ulna help'", name);
}

static int read_count(const cli *tool, const char *name, const char *text, int least, int most, int *count)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < least || number > most)
        return cli_usage(tool, "--%s takes a whole number from %d to %d, not '%s'", name, least, most, text);
    *count = (int)number;
    return CLI_DONE;
}

static int set_global(cli *tool, const cli_option *option, const char *value)
{
    if (strcmp(option->name, "json") == 0)
        tool->json = 1;
    else if (strcmp(option->name, "quiet") == 0)
        tool->quiet = 1;
    else if (strcmp(option->name, "help") == 0)
        tool->help = 1;
    else if (strcmp(option->name, "version") == 0)
        tool->version = 1;
    else if (value)
        return read_count(tool, option->name, value, 0, 65536, &tool->threads);
    return CLI_DONE;
}

/* Takes an option, whose value may be the next word. `value` is the value in the same word, or NULL. */
static int take_option(cli *tool, const cli_option *option, const char *value, int argc, char **argv, int *at)
{
    if (option->argument && !value) {
        if (*at + 1 >= argc)
            return cli_usage(tool, "--%s needs a value: --%s %s", option->name, option->name, option->argument);
        value = argv[++*at];
        if (*option->argument == '"' && *at + 1 < argc && is_only_number(argv[*at + 1]))
            return refuse_unquoted(tool, option->name, argc, argv, *at);
    }
    if (find_option(cli_global_options, option->name, strlen(option->name), 0) == option)
        return set_global(tool, option, value);
    tool->given[tool->given_count] = option;
    tool->values[tool->given_count++] = value ? value : "";
    return CLI_DONE;
}

/* A command's own options come before those of every command. */
static const cli_option *look_up(const cli *tool, const char *name, size_t length, char letter)
{
    const cli_option *own = tool->command ? find_option(tool->command->options, name, length, letter) : NULL;
    return own ? own : find_option(cli_global_options, name, length, letter);
}

/* --name, --name=value, --name value */
static int parse_long(cli *tool, int argc, char **argv, int *at)
{
    const char *name = argv[*at] + 2;
    size_t length = strcspn(name, "=");
    const char *value = name[length] ? name + length + 1 : NULL;
    const cli_option *option = look_up(tool, name, length, 0);
    if (!option)
        return unknown_option(tool, argv[*at]);
    if (!option->argument && value)
        return cli_usage(tool, "--%s takes no value", option->name);
    return take_option(tool, option, value, argc, argv, at);
}

/* -t, -td for -t -d, -oFILE, -o FILE */
static int parse_letters(cli *tool, int argc, char **argv, int *at)
{
    const char *word = argv[*at];
    for (const char *letter = word + 1; *letter; letter++) {
        const cli_option *option = look_up(tool, NULL, 0, *letter);
        if (!option)
            return unknown_option(tool, word);
        const char *value = option->argument && letter[1] ? letter + 1 : NULL;
        int result = take_option(tool, option, value, argc, argv, at);
        if (result || option->argument)
            return result;
    }
    return CLI_DONE;
}

/* The first word that is no option is the command, the others are its operands. */
static int parse_word(cli *tool, const char *word)
{
    if (tool->command) {
        if (!*word) /* as of a script's empty variable: taken for a path, it would mean another place */
            return cli_usage(tool, "empty argument: %s is needed: ulna %s %s", tool->command->operand,
                             tool->command->name, tool->command->operands);
        tool->operands[tool->operand_count++] = word;
        return CLI_DONE;
    }
    tool->command = cli_find_command(tool, word);
    return tool->command ? CLI_DONE : CLI_USAGE;
}

static int check_operands(const cli *tool)
{
    const cli_command *command = tool->command;
    if (!command || tool->help || tool->version)
        return CLI_DONE;
    if (tool->operand_count < command->least)
        return cli_usage(tool, "missing argument: ulna %s %s", command->name, command->operands);
    if (command->most >= 0 && tool->operand_count > command->most)
        return cli_usage(tool, "unexpected argument '%s': ulna %s %s", tool->operands[command->most], command->name,
                         command->operands);
    return CLI_DONE;
}

int cli_parse(cli *tool, int argc, char **argv)
{
    size_t room = 1; /* no word holds more options than letters */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        tool->json_ahead |= strcmp(argv[i], "--json") == 0;
    for (int i = 0; i < argc; i++)
        room += strlen(argv[i]) + 1;
    tool->given = calloc(room, sizeof(const cli_option *));
    tool->values = calloc(room, sizeof *tool->values);
    tool->operands = calloc(room, sizeof *tool->operands);
    if (!tool->given || !tool->values || !tool->operands)
        return cli_out_of_memory();
    int result = CLI_DONE, only_words = 0;
    for (int at = 1; at < argc && result == CLI_DONE; at++) {
        const char *word = argv[at];
        if (!only_words && strcmp(word, "--") == 0)
            only_words = 1;
        else if (!only_words && word[0] == '-' && word[1])
            result = word[1] == '-' ? parse_long(tool, argc, argv, &at) : parse_letters(tool, argc, argv, &at);
        else
            result = parse_word(tool, word);
    }
    return result ? result : check_operands(tool);
}

void cli_release(cli *tool)
{
    free(tool->given);
    free(tool->values);
    free(tool->operands);
}

const char *cli_value(const cli *tool, const char *name)
{
    const char *value = NULL;
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, name) == 0)
            value = tool->values[i];
    return value;
}

/* ==== options that take a number ================================================================================== */

int numbers_count(const cli *tool, const char *name, int least, int most, int *count)
{
    const char *text = cli_value(tool, name);
    return text ? read_count(tool, name, text, least, most, count) : CLI_DONE;
}

/* A whole number that ends where `end` does, or at the end of the text if that is NULL. */
static int is_number(const char *text, const char *end, int *number)
{
    char *stop;
    errno = 0;
    long value = strtol(text, &stop, 10);
    *number = (int)value;
    return !errno && stop != text && (end ? stop == end : !*stop) && value >= INT_MIN && value <= INT_MAX;
}

int numbers_range(const cli *tool, const char *name, const char *what, int *first, int *last)
{
    const char *text = cli_value(tool, name), *colon = text ? strchr(text, ':') : NULL;
    if (!text)
        return CLI_DONE;
    int low = *first, high = *last, is_right = colon != text || colon[1];
    if (colon != text)
        is_right &= is_number(text, colon, &low);
    if (!colon)
        high = low;
    else if (colon[1])
        is_right &= is_number(colon + 1, NULL, &high);
    if (!is_right || high < low)
        return cli_usage(tool, "--%s takes A:B, %s, not '%s'", name, what, text);
    *first = low;
    *last = high;
    return CLI_DONE;
}

int numbers_real(const cli *tool, const char *name, double least, double most, const char *unit, double *value)
{
    const char *text = cli_value(tool, name);
    if (!text)
        return CLI_DONE;
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= least && number <= most))
        return cli_usage(tool, "--%s takes a number from %g to %g%s, not '%s'", name, least, most, unit, text);
    *value = number;
    return CLI_DONE;
}

int numbers_seed(const cli *tool, const char *name, uint64_t *seed)
{
    const char *text = cli_value(tool, name);
    if (!text)
        return CLI_DONE;
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end || errno || number > INT64_MAX)
        return cli_usage(tool, "--%s takes a whole number from 0 to %lld, not '%s'", name, (long long)INT64_MAX, text);
    *seed = number;
    return CLI_DONE;
}

int numbers_unit(const cli *tool, const char *name, double *metres)
{
    const char *text = cli_value(tool, name);
    if (!text)
        return CLI_DONE;
    char *end;
    double known = ulna_unit_metres(text), number = strtod(text, &end);
    if (known > 0)
        number = known;
    else if (end == text || *end || !(number >= 1e-9 && number <= 1e9))
        return cli_usage(tool, "--%s takes m, cm, mm, in, ft or a number of metres, not '%s'", name, text);
    *metres = number;
    return CLI_DONE;
}

int cli_read_writing_options(const cli *tool, int digits, ulna_write_options *options)
{
    const char *channels = cli_value(tool, "bvh-channels");
    options->dof_channels = channels && strcmp(channels, "dof") == 0;
    if (channels && !options->dof_channels && strcmp(channels, "three") != 0)
        return cli_usage(tool, "--bvh-channels takes three or dof, not '%s'", channels);
    int code = numbers_count(tool, "digits", 1, CLI_ALL_DIGITS, &digits);
    options->digits = digits < CLI_ALL_DIGITS ? digits : 0; /* 0: the fewest that read back */
    return code;
}

/* ---- --formats ---------------------------------------------------------------------------------------------------- */

/* Names the one that is wrong, the one that may be meant, and all. */
static int refuse_format(const cli *tool, const char *ending, size_t length)
{
    const char *endings[ULNA_FORMAT_COUNT + 1] = {0};
    char *name = strndup(ending, length), all[16 * ULNA_FORMAT_COUNT] = "", file[32];
    int count = 0;
    for (int f = 0; f < ULNA_FORMAT_COUNT; f++) { /* those whose name is an ending */
        snprintf(file, sizeof file, "x.%s", ulna_format_name((ulna_format)f));
        if (ulna_format_writes((ulna_format)f) && ulna_format_of_name(file) == (ulna_format)f)
            endings[count++] = ulna_format_name((ulna_format)f);
    }
    for (char *at = name; at && *at; at++)
        *at = (char)ulna_lower((unsigned char)*at);
    const char *nearest = name ? ulna_nearest_name(name, endings, sizeof *endings) : NULL;
    for (size_t i = 0; endings[i]; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s", i ? ", " : "", endings[i]);
    int code = cli_usage(tool, "--formats: '%.*s' cannot be written; %s%s%shere is %s", (int)length, ending,
                         nearest ? "did you mean '" : "", nearest ? nearest : "", nearest ? "'? T" : "t", all);
    free(name);
    return code;
}

int cli_check_formats(const cli *tool)
{
    const char *formats = cli_value(tool, "formats");
    if (formats && !*formats)
        return cli_usage(tool, "--formats takes endings such as amc,bvh,glb, and none is given");
    for (const char *at = formats; at && *at; at += strcspn(at, ","), at += *at == ',') {
        char name[16];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "x.%.*s", length < 8 ? (int)length : 0, at);
        if (!length)
            return cli_usage(tool, "--formats '%s': an ending is missing before a comma", formats);
        if (!ulna_format_writes(ulna_format_of_name(name)))
            return refuse_format(tool, at, length);
        for (const char *other = formats; other < at; other += strcspn(other, ",") + 1)
            if (strcspn(other, ",") == length && strncasecmp(other, at, length) == 0)
                return cli_usage(tool, "--formats names %.*s twice: both would be the same file", (int)length, at);
    }
    return CLI_DONE;
}
