/* What standard output can show: colours, letters beyond ASCII, and how many columns of them. */
#include "cli/cli.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int has_colour(void)
{
    const char *terminal = getenv("TERM"), *refused = getenv("NO_COLOR");
    return isatty(STDOUT_FILENO) && terminal && strcmp(terminal, "dumb") != 0 && !(refused && *refused);
}

/* The locale's name, as the environment gives it: "de_DE.UTF-8". */
static const char *locale_name(void)
{
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i]);
        if (value && *value)
            return value;
    }
    return "C";
}

/* A locale that is not installed here, as after a login from another machine, is still known by its name. */
static int has_utf8(void)
{
    const char *codeset = strchr(locale_name(), '.');
    if (setlocale(LC_CTYPE, ""))
        codeset = nl_langinfo(CODESET);
    else if (codeset)
        codeset++;
    return codeset && (strncasecmp(codeset, "UTF-8", 5) == 0 || strncasecmp(codeset, "utf8", 4) == 0);
}

/* COLUMNS has the first word, then the terminal itself. */
static int find_columns(void)
{
    const char *given = getenv("COLUMNS");
    long columns = given ? strtol(given, NULL, 10) : 0;
    if (columns > 0 && columns < 10000)
        return (int)columns;
#ifdef TIOCGWINSZ
    struct winsize window;
    if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
        return window.ws_col;
#endif
    return CLI_COLUMNS;
}

void cli_look_around(cli *tool)
{
    tool->colour = has_colour();
    tool->ascii = !has_utf8();
    tool->columns = find_columns();
}
