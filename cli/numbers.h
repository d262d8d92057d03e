/* numbers.h: options that take a number. Left alone where the option is not given; CLI_USAGE, told, where it is wrong. */
#ifndef ULNA_CLI_NUMBERS_H
#define ULNA_CLI_NUMBERS_H

#include <stdint.h>

#include "cli/cli.h"

int numbers_count(const cli *tool, const char *name, int least, int most, int *count);
/* `unit` is for the message, such as " cm". */
int numbers_real(const cli *tool, const char *name, double least, double most, const char *unit, double *value);
/* A seed of random numbers. */
int numbers_seed(const cli *tool, const char *name, uint64_t *seed);
/* A unit of length by name, or the metres that it has. */
int numbers_unit(const cli *tool, const char *name, double *metres);

#endif
