/*
 * Slurm: the script of an array of shards, and that of the job which makes the tables once all of them have ended. Everything else,
 * from queues to restarts, is Slurm's own.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/command.h"

/* For sbatch, which understands double quotes and backslashes. `doubled`: a character that it replaces in names of files; 0: none. */
static void put_value(markup *script, const char *value, char doubled)
{
    markup_put(script, "\"");
    for (; *value; value++) {
        const char pair[3] = {*value == doubled ? doubled : '\\', *value, 0};
        markup_put(script, *value == '"' || *value == '\\' || *value == doubled ? pair : pair + 1);
    }
    markup_put(script, "\"");
}

/* This program, wherever the job runs. */
static void put_program(markup *script)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    markup_put_quoted(script, length > 0 ? path : "ulna");
}

/* A line for each option, with its value: "-p main", "--comment=a b". */
static void put_user_options(const cli *tool, markup *script)
{
    const char *text = cli_value(tool, "slurm-options");
    command_line line = {0};
    (void)command_add_options(&line, text ? text : "");
    for (int i = 0; i < line.count; i++) {
        const char *word = line.words[i], *value = *word == '-' ? strchr(word, '=') : NULL;
        markup_put(script, *word != '-' ? " " : i ? "\n#SBATCH " : "#SBATCH ");
        if (markup_is_word(word))
            markup_put(script, word);
        else if (value) { /* --comment="a b" */
            markup_format(script, "%.*s=", (int)(value - word), word);
            put_value(script, value + 1, 0);
        } else
            put_value(script, word, 0);
    }
    markup_put(script, line.count ? "\n" : "");
    command_end(&line);
}

/* A line end in a name would end the #SBATCH line that holds it, and the rest would be a command of the script. */
static int has_control_character(const char *text)
{
    while (*text && (unsigned char)*text >= ' ' && *text != 127)
        text++;
    return *text != 0;
}

static int check_folder(const cli *tool, const char *what, const char *folder)
{
    if (!folder || !has_control_character(folder))
        return CLI_DONE;
    return cli_usage(tool,
                     "--slurm: %s, '%s', has a line break or another control character in its name, which job scripts "
                     "cannot hold: use another folder",
                     what, folder);
}

int slurm_check(const cli *tool)
{
    const char *text = cli_value(tool, "slurm-options");
    command_line line = {0};
    char *here = getcwd(NULL, 0);
    int code = cli_value(tool, "slurm") ? check_folder(tool, "the output folder", cli_value(tool, "output")) : CLI_DONE;
    if (!code && cli_value(tool, "slurm"))
        code = check_folder(tool, "the current folder", here);
    free(here);
    if (code)
        return code;
    if (text && strpbrk(text, "\r\n"))
        code = cli_usage(tool, "--slurm-options is one line: leave out the line break");
    else if (text && !command_add_options(&line, text))
        code = cli_usage(tool, "--slurm-options: a quote is not closed");
    else if (line.count && *line.words[0] != '-')
        code =
            cli_usage(tool, "--slurm-options takes options of sbatch, such as --time=2:00:00, not '%s'", line.words[0]);
    command_end(&line);
    return code;
}

static void begin(const cli *tool, markup *script, const char *output, const char *name, const char *log)
{
    char *here = getcwd(NULL, 0), *logs = folder_join(output, "slurm/");
    markup_init(script);
    markup_format(script, "#!/bin/sh\n#SBATCH --job-name=%s\n", name);
    markup_put(script, "#SBATCH --output=");
    put_value(script, logs ? logs : "", '%');
    markup_format(script, "%s\n#SBATCH --chdir=", log);
    put_value(script, here ? here : ".", 0);
    markup_put(script, "\n#SBATCH --requeue\n#SBATCH --open-mode=append\n");
    put_user_options(tool, script);
    free(here);
    free(logs);
}

/* What the shards do as this command line says. */
static void put_batch_options(const cli *tool, markup *script)
{
    static const char *const passed[] = {"formats", "no-reports", "retry-failed", "isolate", "time-limit", "memory"};
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        const char *value = cli_value(tool, passed[i]);
        if (value)
            markup_format(script, " --%s", passed[i]);
        if (value && *value) {
            markup_put(script, " ");
            markup_put_quoted(script, value);
        }
    }
}

static ulna_status write_array(const cli *tool, const char *output, int tasks, const char *path, ulna_error *error)
{
    markup script;
    int threads = tool->threads > 0 ? tool->threads : 1;
    char *plan = folder_join(output, "plan.csv");
    begin(tool, &script, output, "ulna", "%A_%a.log");
    markup_format(&script, "#SBATCH --array=1-%d\n#SBATCH --cpus-per-task=%d\n", tasks, threads);
    markup_put(&script, "# A shard does what is left of its takes: submit this again to go on after failures.\nexec ");
    put_program(&script);
    markup_put(&script, " batch ");
    markup_put_quoted(&script, plan ? plan : "");
    markup_put(&script, " -o ");
    markup_put_quoted(&script, output);
    markup_format(&script, " --shard \"$SLURM_ARRAY_TASK_ID/%d\" --threads \"${SLURM_CPUS_PER_TASK:-%d}\"", tasks,
                  threads);
    put_batch_options(tool, &script);
    markup_put(&script, "\n");
    ulna_status status = plan ? markup_write(&script, path, error) : cli_no_memory(error);
    markup_release(&script);
    free(plan);
    return status;
}

static ulna_status write_merge(const cli *tool, const char *output, const char *path, ulna_error *error)
{
    markup script;
    begin(tool, &script, output, "ulna-merge", "merge-%j.log");
    markup_put(&script, "exec ");
    put_program(&script);
    markup_put(&script, " batch --merge ");
    markup_put_quoted(&script, output);
    markup_put(&script, "\n");
    ulna_status status = markup_write(&script, path, error);
    markup_release(&script);
    return status;
}

/* ---- submitting -------------------------------------------------------------------------------------------------------------------- */

enum { NO_PROGRAM = 127 }; /* the exit code of a shell, too */

/* Runs sbatch and reads the number of the job; returns the exit code, NO_PROGRAM if there is no sbatch. */
static int submit(const char *dependency, const char *script, char *job, size_t size)
{
    int ends[2], state = -1;
    if (pipe(ends))
        return 1;
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        const char *const words[] = {"sbatch", "--parsable", dependency ? dependency : script,
                                     dependency ? script : NULL, NULL};
        execvp(words[0], (char *const *)(size_t)words);
        _exit(NO_PROGRAM);
    }
    (void)close(ends[1]);
    size_t length = 0;
    ssize_t got = 0;
    while (process > 0 && length + 1 < size && (got = read(ends[0], job + length, size - 1 - length)) > 0)
        length += (size_t)got;
    (void)close(ends[0]);
    job[length] = 0;
    job[strcspn(job, ";\n")] = 0; /* the name of a cluster may follow */
    if (process > 0)
        while (waitpid(process, &state, 0) < 0 && errno == EINTR)
            ;
    if (process <= 0 || !WIFEXITED(state))
        return 1;
    return WEXITSTATUS(state) ? WEXITSTATUS(state) : !*job;
}

static void say_by_hand(const cli *tool, const char *array, const char *merge)
{
    markup line;
    markup_init(&line);
    markup_put(&line, "  sbatch --dependency=afterany:$(sbatch --parsable ");
    markup_put_word(&line, array);
    markup_put(&line, ") ");
    markup_put_word(&line, merge);
    cli_say(tool, "submit them with:\n");
    if (line.status == ULNA_OK)
        cli_say(tool, "%s\n", line.text.data);
    markup_release(&line);
}

static int submit_both(const cli *tool, json_t *object, const char *array, const char *merge)
{
    char job[64], last[64], dependency[96];
    int code = submit(NULL, array, job, sizeof job);
    if (code) {
        cli_complain(code == NO_PROGRAM ? "there is no sbatch on this machine, so nothing is submitted"
                                        : "sbatch did not take '%s': nothing is submitted",
                     array);
        say_by_hand(tool, array, merge);
        return CLI_PARTLY;
    }
    put_text(object, "job", job);
    snprintf(dependency, sizeof dependency, "--dependency=afterany:%s", job);
    if (submit(dependency, merge, last, sizeof last)) {
        cli_complain("job %s is submitted, but sbatch did not take '%s': run `ulna batch --merge` when it has ended",
                     job, merge);
        return CLI_PARTLY;
    }
    put_text(object, "merge_job", last);
    fact_line(tool, object, NULL, "submitted: job {job}, and job {merge_job} for the tables");
    return CLI_DONE;
}

int slurm_write(const cli *tool, json_t *object, const char *output, int tasks)
{
    ulna_error error;
    char *array = folder_join(output, "slurm/array.sh"), *merge = folder_join(output, "slurm/merge.sh");
    ulna_error_clear(&error);
    int code = array && merge ? folder_make_for(object, array) : cli_out_of_memory();
    if (!code && write_array(tool, output, tasks, array, &error))
        code = files_fail(object, array, &error);
    if (!code && write_merge(tool, output, merge, &error))
        code = files_fail(object, merge, &error);
    if (!code) {
        put_text(object, "array_script", array);
        put_text(object, "merge_script", merge);
        put_count(object, "shards", tasks);
        fact_line(tool, object, NULL,
                  "wrote {array_script}, an array of {shards} shard{shards:/s}, and {merge_script}");
    }
    if (!code && cli_value(tool, "submit"))
        code = submit_both(tool, object, array, merge);
    else if (!code)
        say_by_hand(tool, array, merge);
    free(array);
    free(merge);
    return code;
}
