/* methods.h: methods by the names that people give. */
#ifndef ULNA_CLI_METHODS_H
#define ULNA_CLI_METHODS_H

#include "cli/cli.h"
#include "ulna/solve.h"

/* NULL for an unknown name, after telling so with the nearest one (cli_usage). */
const ulna_method_info *methods_find(const cli *tool, const char *name);

/* What `ulna global` does, told as a method; it is not one of the library's. */
extern const ulna_method_info methods_global;

#endif
