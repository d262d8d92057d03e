/* command.h: command lines of `ulna solve` and `ulna calibrate` that a batch makes, and hashes of all that they depend on. */
#ifndef ULNA_CLI_BATCH_COMMAND_H
#define ULNA_CLI_BATCH_COMMAND_H

#include "cli/cli.h"

typedef struct command_line {
    char **words;
    int count, room;
    char *options; /* cut into words */
    cli tool;
    ulna_error refusal;
} command_line;

command_line command_begin(const char *command);
void command_add(command_line *line, const char *word);
/* Nothing where the value is NULL or empty. */
void command_add_pair(command_line *line, const char *option, const char *value);
/* Options as a text, cut at blanks; "..." and '...' keep them. 0 if a quote is not closed. */
int command_add_options(command_line *line, const char *text);
/* CLI_DONE, or line->refusal says what is wrong. */
int command_parse(command_line *line);
void command_end(command_line *line);
/* The words without those that change no byte of the outputs, and all files that they name. */
void command_key(const command_line *line, char key[20]);
/* The bytes of one file. */
void command_file_key(const char *path, char key[20]);

#endif
