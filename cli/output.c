/* Everything that the tool prints: text for people, complaints, JSON, progress. What comes from files is cleaned on the way. */
#include "cli/output.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "src/base/algorithms.h"

/* ---- cleaning ----------------------------------------------------------------------------------------- */

/* Length of the UTF-8 sequence at the start of a text, or 0 if it is broken. */
static int sequence(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    if (byte[0] < 0x80)
        return 1;
    int size = byte[0] >= 0xF0 ? 4 : byte[0] >= 0xE0 ? 3 : 2;
    if (byte[0] < 0xC2 || byte[0] > 0xF4)
        return 0;
    for (int i = 1; i < size; i++)
        if ((byte[i] & 0xC0) != 0x80)
            return 0;
    int overlong = (byte[0] == 0xE0 && byte[1] < 0xA0) || (byte[0] == 0xF0 && byte[1] < 0x90);
    int outside = (byte[0] == 0xED && byte[1] > 0x9F) || (byte[0] == 0xF4 && byte[1] > 0x8F);
    return overlong || outside ? 0 : size;
}

/* Control characters: U+0000 to U+001F, and U+007F to U+009F, some of which terminals obey too. */
static int is_control(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;
    return byte[0] < 0x20 || byte[0] == 0x7F || (byte[0] == 0xC2 && byte[1] < 0xA0);
}

int cli_is_printable(const char *text, int *size)
{
    *size = sequence(text);
    int is_printable = *size && !is_control(text) && strncmp(text, "\xEF\xBF\xBE", 3) != 0 &&
                       strncmp(text, "\xEF\xBF\xBF", 3) != 0; /* U+FFFE and U+FFFF are not characters */
    *size = *size ? *size : 1;
    return is_printable;
}

/* Replaces, in place, what is not printable UTF-8 by question marks: one per control character or broken byte. */
static void clean(char *text)
{
    char *end = text;
    for (int size; *text; text += size)
        if (cli_is_printable(text, &size)) {
            memmove(end, text, (size_t)size);
            end += size;
        } else
            *end++ = '?';
    *end = 0;
}

char *cli_format(const char *format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, again);
    va_end(again);
    char *text = malloc((size_t)(length < 0 ? 0 : length) + 1);
    if (!text || length < 0)
        cli_out_of_memory();
    vsnprintf(text, (size_t)length + 1, format, arguments);
    clean(text);
    return text;
}

int cli_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* ---- printing JSON ------------------------------------------------------------------------------------ */

/* JSON allows U+007F to U+009F inside strings; for the terminal's sake they are escaped like those below U+0020. */
static void print_object(json_t *object)
{
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(12));
    for (const char *at = text ? text : ""; *at; at++) {
        const unsigned char *byte = (const unsigned char *)at;
        if (*at == '\n' || !is_control(at))
            putchar(*at);
        else
            printf("\\u%04X", *byte == 0xC2 ? *(const unsigned char *)++at : *byte);
    }
    putchar('\n');
    free(text);
    json_decref(object);
}

/* ---- for people --------------------------------------------------------------------------------------- */

static void say(const cli *tool, const char *before, const char *after, const char *format, va_list arguments)
{
    if (tool->json || tool->quiet)
        return;
    char *text = cli_format(format, arguments);
    size_t length = strlen(text);
    if (length && format[strlen(format) - 1] == '\n')
        text[length - 1] = '\n';
    printf("%s%s%s", tool->colour ? before : "", text, tool->colour ? after : "");
    free(text);
}

void cli_say(const cli *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(tool, "", "", format, arguments);
    va_end(arguments);
}

void cli_title(const cli *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(tool, "\033[1m", "\033[0m", format, arguments);
    va_end(arguments);
}

void cli_complain(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cli_format(format, arguments);
    va_end(arguments);
    fprintf(stderr, "ulna: %s\n", text);
    free(text);
}

int(cli_usage)(const cli *tool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *message = cli_format(format, arguments);
    va_end(arguments);
    if (tool->refusal)
        cli_fail(tool->refusal, ULNA_ERR_ARGUMENT, "%s", message);
    else
        fprintf(stderr, "ulna: %s\n", message);
    if (!tool->refusal && (tool->json || tool->json_ahead))
        print_object(json_pack("{s:{s:s, s:o}}", "error", "status", "usage", "message", cli_json_text(message)));
    free(message);
    return CLI_USAGE;
}

ulna_status(cli_fail)(ulna_error *error, ulna_status status, const char *format, ...)
{
    va_list arguments;
    if (!error)
        return status;
    va_start(arguments, format);
    ulna_error_clear(error);
    error->status = status;
    if (vsnprintf(error->message, sizeof error->message, format, arguments) >= (int)sizeof error->message)
        ulna_end_at_word(error->message, sizeof error->message);
    va_end(arguments);
    return status;
}

int cli_exit_code(ulna_status status)
{
    switch (status) {
    case ULNA_OK:
        return CLI_DONE;
    case ULNA_ERR_IO:
        return CLI_IO;
    case ULNA_ERR_MEMORY:
        return CLI_PARTLY;
    default:
        return CLI_INPUT;
    }
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

json_t *cli_json_text(const char *text)
{
    json_t *value = json_string(text);
    char *copy = value ? NULL : strdup(text);
    if (!value && !copy)
        cli_out_of_memory();
    if (copy) { /* not UTF-8 */
        clean(copy);
        value = json_string(copy);
    }
    free(copy);
    return value;
}

json_t *cli_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_numbers(const double *values, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list, cli_json_number(values[i]));
    return list;
}

/* For programs, which should not have to read messages. */
static const char *status_name(ulna_status status)
{
    static const char *const names[ULNA_STATUS_COUNT] = {
        [ULNA_OK] = "ok",
        [ULNA_ERR_ARGUMENT] = "argument",
        [ULNA_ERR_MEMORY] = "memory",
        [ULNA_ERR_NUMBER] = "number",
        [ULNA_ERR_MODEL] = "model",
        [ULNA_ERR_STATE] = "state",
        [ULNA_ERR_INDEFINITE] = "indefinite",
        [ULNA_ERR_SINGULAR] = "singular",
        [ULNA_ERR_CONVERGENCE] = "convergence",
        [ULNA_ERR_PARSE] = "parse",
        [ULNA_ERR_IO] = "io",
        [ULNA_ERR_LIMIT] = "limit",
        [ULNA_ERR_UNSUPPORTED] = "unsupported",
        [ULNA_ERR_FORMAT] = "format",
    };
    unsigned index = (unsigned)status;
    return index < ULNA_STATUS_COUNT && names[index] ? names[index] : "unknown";
}

json_t *cli_json_error(const ulna_error *error)
{
    json_t *object = json_object();
    put_text(object, "status", status_name(error->status));
    put_text(object, "message", error->message);
    if (error->line > 0)
        put_count(object, "line", error->line);
    else if (error->byte >= 0)
        put_count(object, "byte", error->byte);
    if (error->column > 0)
        put_count(object, "column", error->column);
    return object;
}

void cli_json_print(const cli *tool, json_t *object)
{
    if (tool->json)
        print_object(object);
    else
        json_decref(object);
}

/* ==== what standard output can show =============================================================================== */

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

/* ==== progress ==================================================================================================== */

enum { WIDTH = 30, LEAST_WIDTH = 6, AROUND = 8 /* "100 % ", a blank, and the last column, which stays free */ };

double cli_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_begin(progress *bar, const cli *tool)
{
    const char *terminal = getenv("TERM");
    *bar = (progress){
        .is_shown = !tool->quiet && isatty(STDERR_FILENO) && terminal && strcmp(terminal, "dumb") != 0,
        .ascii = tool->ascii,
        .columns = tool->columns > AROUND + LEAST_WIDTH ? tool->columns : CLI_COLUMNS,
    };
    bar->begun = bar->drawn = cli_seconds();
}

void progress_show(progress *bar, double part, const char *what)
{
    double now = bar->is_shown ? cli_seconds() : 0;
    if (!bar->is_shown || now - bar->begun < 0.3 || (bar->is_drawn && now - bar->drawn < 0.1))
        return;
    int width = bar->columns - AROUND - (int)strlen(what); /* the bar gives way to the words */
    width = width < LEAST_WIDTH ? LEAST_WIDTH : width > WIDTH ? WIDTH : width;
    int full = (int)(part * width + 0.5);
    full = full < 0 ? 0 : full > width ? width : full;
    fprintf(stderr, "\r\033[K%3.0f %% ", 100 * part);
    for (int i = 0; i < width; i++)
        fputs(i < full ? (bar->ascii ? "#" : "━") : (bar->ascii ? "." : "─"), stderr);
    fprintf(stderr, " %.*s", bar->columns - AROUND - width, what);
    fflush(stderr);
    bar->is_drawn = 1;
    bar->drawn = now;
}

void progress_end(progress *bar)
{
    if (bar->is_drawn)
        fputs("\r\033[K", stderr);
    bar->is_drawn = 0;
}

void progress_restart(progress *bar)
{
    progress_end(bar);
    bar->begun = bar->drawn = cli_seconds();
}

double progress_seconds(const progress *bar)
{
    double since = cli_seconds() - bar->begun;
    return since > 1e-9 ? since : 1e-9;
}

/* ---- waiting ----------------------------------------------------------------------------------------------- */

struct progress_wait {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int is_over;
    char what[80];
};

static void *wait_and_report(void *context)
{
    progress_wait *w = context;
    double begun = cli_seconds();
    int is_drawn = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->is_over) {
        struct timespec until;
        double since = cli_seconds() - begun;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += 1;
        pthread_cond_timedwait(&w->ended, &w->lock, &until);
        if (w->is_over || since + 0.5 > cli_seconds() - begun) /* woken early */
            continue;
        fprintf(stderr, "\r\033[K%s, %.0f s", w->what, cli_seconds() - begun);
        fflush(stderr);
        is_drawn = 1;
    }
    if (is_drawn)
        fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

progress_wait *progress_wait_begin(const cli *tool, const char *what, const char *path)
{
    progress bar;
    progress_begin(&bar, tool);
    progress_wait *w = bar.is_shown ? calloc(1, sizeof *w) : NULL;
    if (!w)
        return NULL;
    const char *slash = strrchr(path, '/');
    snprintf(w->what, sizeof w->what, "%s %.50s", what, slash && slash[1] ? slash + 1 : path);
    for (char *at = w->what; *at; at++) /* a name from a file system may hold anything */
        *at = (unsigned char)*at < ' ' || *at == 127 ? '?' : *at;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->ended, NULL);
    if (pthread_create(&w->thread, NULL, wait_and_report, w)) {
        free(w);
        return NULL;
    }
    return w;
}

void progress_wait_end(progress_wait *wait)
{
    if (!wait)
        return;
    pthread_mutex_lock(&wait->lock);
    wait->is_over = 1;
    pthread_cond_signal(&wait->ended);
    pthread_mutex_unlock(&wait->lock);
    pthread_join(wait->thread, NULL);
    pthread_mutex_destroy(&wait->lock);
    pthread_cond_destroy(&wait->ended);
    free(wait);
}
