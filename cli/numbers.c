/* Options that take a number. */
#include "numbers.h"

#include <errno.h>
#include <stdlib.h>

int numbers_count(const cli *tool, const char *name, int least, int most, int *count)
{
    const char *text = cli_value(tool, name);
    if (!text)
        return CLI_DONE;
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end || errno || number < least || number > most)
        return cli_usage(tool, "--%s takes a number from %d to %d, not '%s'", name, least, most, text);
    *count = (int)number;
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
