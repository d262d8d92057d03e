/* Keeps files safe: no command writes over its own input, and no signal leaves a part of a file behind. */
#define _XOPEN_SOURCE 700 /* realpath */

#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/input.h"

/* ---- names of one file ------------------------------------------------------------------------------------------- */

/* The absolute name of a file that need not exist, nor its folder: without links, "." and "..". */
static char *resolve(const char *path, int depth)
{
    errno = 0;
    char *real = realpath(path, NULL), target[PATH_MAX];
    if (!real && errno == ENOMEM)
        cli_out_of_memory();
    if (real || depth > 40)
        return real;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
    if (!folder)
        cli_out_of_memory();
    ssize_t length = readlink(path, target, sizeof target - 1);
    if (length >= 0) { /* a link to a file that does not exist yet */
        target[length] = 0;
        char *whole = *target == '/' ? strdup(target) : folder_join(folder, target);
        if (!whole)
            cli_out_of_memory();
        real = resolve(whole, depth + 1);
        free(whole);
    } else if ((real = resolve(folder, depth + 1)) != NULL) {
        char *parent = real, *last = strrchr(real, '/');
        if (strcmp(name, "..") == 0)
            last[last == real] = 0;
        else if (*name && strcmp(name, ".") != 0) {
            real = folder_join(parent, name);
            free(parent);
        }
    }
    free(folder);
    return real;
}

/* What a name stands for: a file that exists, or one that may be created. */
typedef struct identity {
    int is_there, is_plain; /* folders, devices and pipes do not count: writing does not replace them */
    dev_t device;
    ino_t number;
    char *path; /* of a file that does not exist yet */
} identity;

/* An input of the name "-" is standard input. */
static identity identify(const char *path, int is_read)
{
    struct stat about;
    identity found = {0};
    found.is_there = (is_read && strcmp(path, "-") == 0 ? fstat(STDIN_FILENO, &about) : stat(path, &about)) == 0;
    if (found.is_there) {
        found.is_plain = S_ISREG(about.st_mode);
        found.device = about.st_dev;
        found.number = about.st_ino;
    } else if (!is_read && *path && path[strlen(path) - 1] != '/')
        found.path = resolve(path, 0);
    return found;
}

static int is_same(const identity *a, const identity *b)
{
    if (a->is_there && b->is_there)
        return a->is_plain && a->device == b->device && a->number == b->number;
    return a->path && b->path && strcmp(a->path, b->path) == 0;
}

static int compare_names(const cli *tool, const char *const *inputs, const identity *read, int input_count,
                         const char *const *outputs, const identity *written, int output_count)
{
    for (int i = 0; i < output_count; i++) {
        for (int k = 0; k < input_count; k++)
            if (is_same(&written[i], &read[k]))
                return cli_usage(tool, "the output '%s' would overwrite the input '%s': give another name", outputs[i],
                                 strcmp(inputs[k], "-") == 0 ? "standard input" : inputs[k]);
        for (int k = 0; k < i; k++)
            if (is_same(&written[i], &written[k]))
                return cli_usage(tool, "the outputs '%s' and '%s' are one file: give them different names", outputs[k],
                                 outputs[i]);
    }
    return CLI_DONE;
}

static int check_names(const cli *tool, const char *const *inputs, int input_count, const char *const *outputs,
                       int output_count)
{
    int count = input_count + output_count;
    identity *all = calloc((size_t)count + 1, sizeof *all);
    for (int i = 0; i < count && all; i++)
        all[i] = i < input_count ? identify(inputs[i], 1) : identify(outputs[i - input_count], 0);
    int code = all ? compare_names(tool, inputs, all, input_count, outputs, all + input_count, output_count)
                   : cli_out_of_memory();
    for (int i = 0; i < count && all; i++)
        free(all[i].path);
    free(all);
    return code;
}

/* ---- the files that a command line names -------------------------------------------------------------------------- */

int cli_is_listed(const char *list, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = list; at && *at; at += strspn(at, " ")) {
        size_t size = strcspn(at, " ");
        if (size == length && memcmp(at, name, size) == 0)
            return 1;
        at += size;
    }
    return 0;
}

/* Without --output, the last operand of some commands. */
static int writes_last(const cli *tool)
{
    return tool->operand_count > 0 && cli_is_listed(tool->command->writes, "LAST") && !cli_value(tool, "output");
}

/* The inputs among operands and options; returns how many. */
static int list_inputs(const cli *tool, const char **read)
{
    const cli_command *command = tool->command;
    int operands = tool->operand_count - writes_last(tool), count = 0;
    for (int i = 0; i < operands && cli_is_listed(command->reads, "OPERANDS"); i++)
        read[count++] = tool->operands[i];
    for (int i = 0; i < tool->given_count; i++)
        if (cli_is_listed(command->reads, tool->given[i]->name))
            read[count++] = tool->values[i];
    return count;
}

int cli_check_outputs(const cli *tool, const char *const *outputs, int output_count)
{
    int room = tool->given_count + tool->operand_count + 1;
    const char **read = calloc((size_t)room, sizeof *read);
    int code = read ? check_names(tool, read, list_inputs(tool, read), outputs, output_count) : cli_out_of_memory();
    free(read);
    return code;
}

int cli_check_files(const cli *tool)
{
    const cli_command *command = tool->command;
    int room = tool->given_count + 1, count = 0;
    const char **written = calloc((size_t)room, sizeof *written);
    int code = written ? CLI_DONE : cli_out_of_memory();
    if (!code) {
        if (writes_last(tool))
            written[count++] = tool->operands[tool->operand_count - 1];
        for (int i = 0; i < tool->given_count; i++)
            if (cli_is_listed(command->writes, tool->given[i]->name))
                written[count++] = tool->values[i];
        code = cli_check_outputs(tool, written, count);
    }
    free(written);
    return code;
}

/* ---- signals ------------------------------------------------------------------------------------------------------ */

/*
 * A signal that would end the program ends it at once if no file is being written, else when the last of these is
 * complete or removed. `writers` counts the files; DYING is added by the handler that found none, and from then on
 * nobody begins to write. Pipes and devices do not count: nothing of them is left behind, and who writes to a pipe that nobody
 * reads waits for ever.
 */
enum { DYING = 1 << 30 };

static atomic_int writers, caught;    /* caught: the signal that waits */
static _Thread_local int own_writers; /* of this thread, among the writers */

static void die(int number)
{
    signal(number, SIG_DFL);
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    raise(number);
}

static void on_signal(int number)
{
    int none = 0;
    caught = number;
    if (atomic_compare_exchange_strong(&writers, &none, DYING) || none >= DYING)
        die(number);
}

void cli_catch_signals(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        struct sigaction old, own = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
        sigemptyset(&own.sa_mask);
        if (sigaction(numbers[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* as under nohup */
            sigaction(numbers[i], &own, NULL);
    }
}

int cli_writing_begin(const char *path)
{
    struct stat target;
    if (stat(path, &target) == 0 && !S_ISREG(target.st_mode))
        return 0;
    if (atomic_fetch_add(&writers, 1) >= DYING)
        for (;;) /* the program ends in another thread */
            pause();
    own_writers++;
    return 1;
}

void cli_writing_end(int is_counted)
{
    int none = 0;
    if (is_counted)
        atomic_fetch_sub(&writers, 1);
    own_writers -= is_counted;
    if (caught && atomic_compare_exchange_strong(&writers, &none, DYING))
        die(caught);
}

void cli_writing_stop(void)
{
    for (int rest = own_writers; !atomic_compare_exchange_weak(&writers, &rest, DYING) && rest < DYING;
         rest = own_writers)
        (void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

int cli_is_stopping(void)
{
    return caught != 0;
}

ulna_status cli_write_text(const char *path, const char *text, size_t bytes, ulna_error *error)
{
    ulna_output *output = NULL;
    int is_counted = cli_writing_begin(path);
    ulna_status status = ulna_output_open(path, NULL, &output, error);
    if (status == ULNA_OK) {
        ulna_sink sink = ulna_output_sink(output);
        status = ulna_output_commit(output, sink.write(sink.context, text, bytes), error);
    }
    cli_writing_end(is_counted);
    return status;
}

ulna_status cli_write_json(const char *path, const json_t *object, ulna_error *error)
{
    char *text = json_dumps(object, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    if (!text)
        return cli_no_memory(error);
    size_t length = strlen(text);
    text[length] = '\n'; /* in place of the zero */
    ulna_status status = cli_write_text(path, text, length + 1, error);
    free(text);
    return status;
}
