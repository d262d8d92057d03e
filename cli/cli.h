/*
 * cli.h: what the commands of the tool share: their tables, the parsed command line, and how they speak.
 *
 * A command is a cli_command, its options are a table of cli_option; both are in the command's folder and listed in
 * commands.c. They make `ulna help`, the man page and the parser, so that these cannot disagree.
 */
#ifndef ULNA_CLI_H
#define ULNA_CLI_H

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>

#include "ulna/base.h"
#include "ulna/formats.h"
#include "ulna/model.h"

/* ---- the tables --------------------------------------------------------------------------------------- */

enum {
    CLI_DONE = 0,
    CLI_PARTLY = 1, /* did not converge, or only a part was done */
    CLI_USAGE = 2,
    CLI_INPUT = 3, /* a file cannot be understood */
    CLI_IO = 4     /* a file cannot be opened, read or written */
};

enum { CLI_COLUMNS = 80 }; /* of a line, where no terminal tells */

typedef struct cli cli;

typedef struct cli_option {
    const char *name;     /* without the dashes */
    char letter;          /* -o, or 0 */
    const char *argument; /* what it takes, such as "NAME"; NULL: nothing */
    const char *text;     /* one or two sentences */
} cli_option;

typedef struct cli_command {
    const char *name;
    const char *operands;      /* as the synopsis shows them, such as "FILE..." */
    const char *operand;       /* what one of them is: "a file name" */
    int least, most;           /* number of operands; most < 0: any */
    const char *summary;       /* a few words, no full stop */
    const char *text;          /* paragraphs, separated by "\n\n" */
    const cli_option *options; /* up to a row without a name; may be NULL */
    const char *reads,
        *writes;          /* names of the options whose values are files, and OPERANDS, or LAST for the last one */
    const char *examples; /* lines of "command\tcomment" */
    int (*run)(cli *tool);
} cli_command;

extern const cli_command *const cli_commands[]; /* up to a NULL */
extern const cli_option cli_global_options[];   /* up to a row without a name */
extern const char cli_about[];                  /* what the tool is, in a sentence */
const cli_command *cli_find_command(const char *name);
const char *cli_nearest_command(const char *word); /* to a misspelt one; NULL if none is near */

/* ---- the parsed command line -------------------------------------------------------------------------- */

struct cli {
    const cli_command *command;
    int json, quiet, threads; /* threads: 0 = as many as there are processors */
    int help, version;
    int json_ahead; /* --json stands somewhere, perhaps behind a mistake: what is wrong is told in JSON too */

    /* Standard output: a terminal with colours? No letters but ASCII? How wide? */
    int colour, ascii, columns;

    const cli_option **given; /* the command's own options, in order */
    const char **values;
    int given_count;
    const char **operands;
    int operand_count;
};

/* Fills `tool`; CLI_DONE, or CLI_USAGE after telling what is wrong. Release in any case. */
int cli_parse(cli *tool, int argc, char **argv);
void cli_release(cli *tool);

/* Finds out what standard output can show. */
void cli_look_around(cli *tool);

/* The value of an option ("" if it takes none), NULL if it was not given; the last one counts. */
const char *cli_value(const cli *tool, const char *name);

/* The nearest of the names to a misspelt word, or NULL if none is near. `stride`: bytes from one `const char *` to the
 * next, as in an array of structs that begin with the name. */
const char *cli_nearest(const char *word, const void *first_name, size_t stride);

/* ---- speaking ----------------------------------------------------------------------------------------- */

/* All texts are cleaned on the way out: no control character from a file reaches the terminal. */

/* To standard output, for people: nothing with --json or --quiet. A newline is one only at the end of the format. */
void cli_say(const cli *tool, const char *format, ...) ULNA_PRINTF(2, 3);
/* The same in bold on a terminal. */
void cli_title(const cli *tool, const char *format, ...) ULNA_PRINTF(2, 3);
/* To standard error, as "ulna: ...". */
void cli_complain(const char *format, ...) ULNA_PRINTF(1, 2);
/* The same about a wrong command line, which is also the one object of --json. Returns CLI_USAGE. */
int cli_usage(const cli *tool, const char *format, ...) ULNA_PRINTF(2, 3);
/* Fills an error, as functions of the library do. Returns the status. */
ulna_status cli_fail(ulna_error *error, ulna_status status, const char *format, ...) ULNA_PRINTF(3, 4);
/* "ulna: FILE:LINE: message", and the exit code that belongs to the error. */
int cli_complain_file(const char *path, const ulna_error *error);
int cli_exit_code(ulna_status status);

/* Characters that a text takes on the screen, near enough: UTF-8 sequences count once. */
int cli_width(const char *text);

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* A JSON string even if the text is not UTF-8. */
json_t *cli_json_text(const char *text);
/* null for what JSON has no number for. */
json_t *cli_json_number(double value);
json_t *cli_json_numbers(const double *values, int count);
/* {"status", "message", "line", "column"}; the status is a word such as "parse", line and column only if known. */
json_t *cli_json_error(const ulna_error *error);
/* Prints the one object of --json, if --json is on, and releases it. */
void cli_json_print(const cli *tool, json_t *object);

/* ---- files -------------------------------------------------------------------------------------------- */

/* Reads a file of a known format, or standard input for "-": see ulna_file_read_known. */
ulna_status cli_read_file(const char *path, ulna_text *text, ulna_format *format, ulna_error *error);

/* A model from a file (or "-"), or the sample of that name where there is no such file. */
ulna_status cli_load_model(const char *name, ulna_model **model, ulna_error *error);

/* ---- the commands ------------------------------------------------------------------------------------- */

/* Each in its own folder, with its options. */
extern const cli_command info_command, sample_command, solve_command, calibrate_command, convert_command,
    definiteness_command, methods_command, compare_command, global_command, help_command;

int cli_definiteness(cli *tool);
int cli_compare(cli *tool);
int cli_global(cli *tool);
int cli_solve(cli *tool);

/* `ulna help` and `ulna COMMAND --help`: who asks for help gets it, even with --quiet. */
void cli_print_overview(const cli *tool);
void cli_print_help(const cli *tool, const cli_command *command);

#endif
