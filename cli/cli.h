/*
 * cli.h: what the commands of the tool share: their tables, the parsed command line, and printing.
 *
 * A command is a cli_command, its options are a table of cli_option; both are in the command's folder and listed in
 * commands.c. They make `ulna help`, the man page and the parser, so that these cannot disagree.
 */
#ifndef ULNA_CLI_H
#define ULNA_CLI_H

#include <errno.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include "ulna/base.h"
#include "ulna/formats.h"
#include "ulna/model.h"
#include "ulna/solve.h"

/* ---- the tables --------------------------------------------------------------------------------------- */

enum {
    CLI_DONE = 0,
    CLI_PARTLY = 1, /* did not converge, only a part was done, the result should not be used, or memory is out */
    CLI_USAGE = 2,
    CLI_INPUT = 3, /* a file cannot be understood */
    CLI_IO = 4     /* a file cannot be opened, read or written */
};

enum { CLI_COLUMNS = 80 }; /* of a line, where there is no terminal */

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
    const cli_option *removed; /* options of earlier versions: what to do instead. The same */
    const char *reads,
        *writes; /* names of the options whose values are files, and OPERANDS, or LAST for the last one without --output */
    const char *examples; /* lines of "command\tcomment" */
    int (*run)(cli *tool);
} cli_command;

extern const cli_command *const cli_commands[]; /* up to a NULL */
extern const cli_option cli_global_options[];   /* up to a row without a name */
extern const char cli_about[];                  /* what the tool is, in a sentence */
/* NULL for an unknown name, after a message. */
const cli_command *cli_find_command(const cli *tool, const char *name);

/* ---- the parsed command line -------------------------------------------------------------------------- */

struct cli {
    const cli_command *command;
    int json, quiet, threads; /* threads: 0 = as many as there are processors */
    int help, version;
    ulna_error *refusal;     /* receives what is wrong with the command line; NULL: it is printed */
    struct files_kept *kept; /* a recording that is in memory (input.h), or NULL */
    int json_ahead;          /* --json occurs, perhaps after a mistake: the error is printed as JSON too */

    /* Standard output: a terminal with colours? No letters but ASCII? How wide? */
    int colour, ascii, columns;

    const cli_option **given; /* the command's own options, in order */
    const char **values;
    int given_count;
    const char **operands;
    int operand_count;
};

/* Fills `tool`; CLI_DONE, or CLI_USAGE after a message. Release in any case. */
int cli_parse(cli *tool, int argc, char **argv);
void cli_release(cli *tool);

/* Finds out what standard output can show. */
void cli_look_around(cli *tool);

/* The value of an option ("" if it takes none), NULL if it was not given; the last one counts. */
const char *cli_value(const cli *tool, const char *name);

/* Complains that there is no WHAT of this name, and asks whether the nearest of the names (up to a NULL) was meant, or
 * else says `otherwise`. Returns CLI_USAGE. */
int cli_unknown(const cli *tool, const char *what, const char *name, const char *const *names, const char *otherwise);

/* ---- options that take a number ------------------------------------------------------------------------------------ */

/* The value is left alone where the option is not given. CLI_USAGE, and a message, where it is wrong. */
int numbers_count(const cli *tool, const char *name, int least, int most, int *count);
/* Numbers from A to B: "A:B", "A:", ":B" or "A". The missing end is left alone. `what` is for the message. */
int numbers_range(const cli *tool, const char *name, const char *what, int *first, int *last);
/* `unit` is for the message, such as " cm". */
int numbers_real(const cli *tool, const char *name, double least, double most, const char *unit, double *value);
/* A seed of random numbers. */
int numbers_seed(const cli *tool, const char *name, uint64_t *seed);
/* A unit of length by name, or the metres that it has. */
int numbers_unit(const cli *tool, const char *name, double *metres);

/* What convert and solve have in common: how files are written. */
#define CLI_WRITING_OPTIONS                                                                                            \
    {"digits", 0, "N",                                                                                                 \
     "Significant digits in text formats; 17: as many as needed to read the same number back, no more. Default: 9 "    \
     "for what is solved, which is finer than any marker, and 17 for what is converted. Times always have all."},      \
    {                                                                                                                  \
        "bvh-channels", 0, "KIND",                                                                                     \
            "Rotations of each joint of a BVH file. three, the default: always three, as Blender and others need "     \
            "them; those that the joint does not have are 0. dof: only those of its degrees of freedom."               \
    }
enum { CLI_ALL_DIGITS = 17, CLI_SOLVED_DIGITS = 9 };
/* `digits`: without --digits. */
int cli_read_writing_options(const cli *tool, int digits, ulna_write_options *options);

/* Can each ending of --formats be written, and is none named twice? CLI_USAGE, and a message, if not. */
int cli_check_formats(const cli *tool);

/* ---- printing ----------------------------------------------------------------------------------------- */

/* All texts are cleaned on the way out: no control character from a file reaches the terminal. */

/* To standard output, for people: nothing with --json or --quiet. A newline is one only at the end of the format. */
void cli_say(const cli *tool, const char *format, ...) ULNA_PRINTF(2, 3);
/* The same in bold on a terminal. */
void cli_title(const cli *tool, const char *format, ...) ULNA_PRINTF(2, 3);
/* To standard error, as "ulna: ...". */
void cli_complain(const char *format, ...) ULNA_PRINTF(1, 2);
/* The same about a wrong command line, which is also the one object of --json; or only to tool->refusal. Returns
 * CLI_USAGE. */
int cli_usage(const cli *tool, const char *format, ...) ULNA_PRINTF(2, 3);
/* Fills an error, as functions of the library do. Returns the status. */
ulna_status cli_fail(ulna_error *error, ulna_status status, const char *format, ...) ULNA_PRINTF(3, 4);
#ifdef __clang_analyzer__ /* which does not look into other files */
#define cli_fail(error, status, ...) (cli_fail(error, status, __VA_ARGS__), status)
#define cli_usage(tool, ...) (cli_usage(tool, __VA_ARGS__), CLI_USAGE)
#endif
static inline ulna_status cli_no_memory(ulna_error *error)
{
    return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
}
int cli_exit_code(ulna_status status);
/* Of a call of the C library or the system that failed with this errno: they need memory, too. */
static inline ulna_status cli_io_status(int number)
{
    return number == ENOMEM ? ULNA_ERR_MEMORY : ULNA_ERR_IO;
}
/* Without memory the tool ends: memory.c. It says so, also as the one object of --json, when no other thread is writing a file;
 * with CLI_PARTLY. */
_Noreturn int cli_out_of_memory(void);
/* What is undone first, such as files that are half written. One thing at a time; NULL: nothing. */
void cli_undo_without_memory(void (*undo)(void *), void *context);
/* Zeros; without memory the tool ends. free() it. */
void *cli_allocate(size_t count, size_t size);
/* The status; but without memory the tool ends. For calls whose failure means something else to the caller. */
static inline ulna_status cli_with_memory(ulna_status status)
{
    if (status == ULNA_ERR_MEMORY)
        cli_out_of_memory();
    return status;
}
/* From here on jansson ends it too, so that no object is ever without some of its keys. tool: for --json; NULL: not on standard output. */
void cli_memory_begin(const cli *tool);
/* fopen, to read; json_load_file: NULL is a file that is not there or is none, and never a lack of memory. */
FILE *cli_open(const char *path);
json_t *cli_load_json(const char *path);
/* Formatted and cleaned, also of newlines: a name cannot begin a line of its own. free() it. */
char *cli_format(const char *format, va_list arguments);
/* Whether a text begins with a character that can be shown. `size`: its bytes, 1 where it is not UTF-8. */
int cli_is_printable(const char *text, int *size);

/* Characters that a text takes on the screen, near enough: UTF-8 sequences count once. */
int cli_width(const char *text);

/* ---- JSON --------------------------------------------------------------------------------------------- */

/* A JSON string even if the text is not UTF-8. */
json_t *cli_json_text(const char *text);
/* null for what JSON has no number for. */
json_t *cli_json_number(double value);
json_t *cli_json_numbers(const double *values, int count);
/* {"status", "message", "line" or "byte", "column"}; the status is a word such as "parse", a position only if known. */
json_t *cli_json_error(const ulna_error *error);
/* Prints the one object of --json, if --json is on, and releases it. */
void cli_json_print(const cli *tool, json_t *object);

/* ---- files that are written: guard.c --------------------------------------------------------------------------------- */

/*
 * No output may be an input, nor two outputs one file, by whatever names: relative ones, links, hard links. Before a
 * command runs, cli_check_files looks at all files that its options and operands name (cli_command.reads, .writes). A
 * command that makes names of its own, as for files in a folder, gives all of them to cli_check_outputs before it writes.
 * Both return CLI_DONE, or CLI_USAGE after a message with both names.
 */
int cli_check_files(const cli *tool);
/* Whether the name is one of the words of a list such as cli_command.reads. */
int cli_is_listed(const char *list, const char *name);
int cli_check_outputs(const cli *tool, const char *const *outputs, int output_count);

/*
 * Commands write files only between these two: there a signal that ends the program (SIGINT, SIGTERM, SIGHUP) waits until the
 * file is complete or gone. Give what the first returns to the second.
 */
int cli_writing_begin(const char *path);
void cli_writing_end(int is_counted);
/* Before the program ends: waits until no other thread is between the two. From then on nobody begins to write. */
void cli_writing_stop(void);
/* Whether a signal waits for that: who writes a long file ends it early. */
int cli_is_stopping(void);
ulna_status cli_write_text(const char *path, const char *text, size_t bytes, ulna_error *error);
/* An object as --json prints it, with all digits. */
ulna_status cli_write_json(const char *path, const json_t *object, ulna_error *error);
void cli_catch_signals(void);

/* ---- the commands ------------------------------------------------------------------------------------- */

/* Each in its own folder, with its options. */
extern const cli_command info_command, sample_command, solve_command, calibrate_command, batch_command, convert_command,
    definiteness_command, methods_command, compare_command, global_command, reach_command, paper_command, help_command;

int cli_definiteness(cli *tool);
int cli_solve(cli *tool);

/* ---- methods by the names that people give: methods/methods.c ------------------------------------------------------ */

/* NULL for an unknown name, after a message with the nearest one (cli_usage). */
const ulna_method_info *methods_find(const cli *tool, const char *name);
/* --set NAME=VALUE, all of them in order, into the options. CLI_USAGE after a message: an unknown name, a bad value, or an option that none of
 * the methods (names, `count`) uses. */
#define CLI_SET_OPTION                                                                                                            \
    {                                                                                                                             \
        "set", 0, "NAME=VALUE",                                                                                                   \
            "Set an option of the method, such as pcg.band_width=8 or objective=1e-6. 'ulna methods NAME' lists them with their " \
            "defaults and meanings. May be repeated."                                                                             \
    }
int methods_set_options(const cli *tool, const char *const *methods, int count, ulna_options *options);
/* What `ulna global` does, described as a method; it is not one of the library's. */
extern const ulna_method_info methods_global;

/* ---- help ----------------------------------------------------------------------------------------------------------- */

/* `ulna help` and `ulna COMMAND --help`: who asks for help gets it, even with --quiet. */
void cli_print_overview(const cli *tool);
void cli_print_help(const cli *tool, const cli_command *command);
/* `ulna help --completion SHELL`: completion.c. CLI_USAGE, after a message, for a shell that has none. */
int cli_print_completion(const cli *tool, const char *shell);

#endif
