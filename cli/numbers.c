/* Options that take a number. */
#include "cli/numbers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
    double known = text ? ulna_unit_metres(text) : 0;
    if (!text)
        return CLI_DONE;
    if (known > 0) {
        *metres = known;
        return CLI_DONE;
    }
    char *end;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= 1e-9 && number <= 1e9))
        return cli_usage(tool, "--%s takes m, cm, mm, in, ft or a number of metres, not '%s'", name, text);
    *metres = number;
    return CLI_DONE;
}
