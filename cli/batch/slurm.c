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

/* For sh: in single quotes, each of which is written as '\''. */
static void put_quoted(markup *script, const char *text)
{
    markup_put(script, "'");
    for (; *text; text++) {
        const char one[2] = {*text, 0};
        markup_put(script, *text == '\'' ? "'\\''" : one);
    }
    markup_put(script, "'");
}

/* A line for sbatch, which understands double quotes and backslashes. */
static void put_directive(markup *script, const char *option, const char *value, const char *more)
{
    markup_format(script, "#SBATCH --%s=\"", option);
    for (; *value; value++) {
        const char pair[3] = {'\\', *value, 0};
        markup_put(script, *value == '"' || *value == '\\' ? pair : pair + 1);
    }
    markup_format(script, "%s\"\n", more);
}

/* This program, wherever the job runs. */
static void put_program(markup *script)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    put_quoted(script, length > 0 ? path : "ulna");
}

/* Each word of --slurm-options is a line of its own. */
static void put_user_options(const cli *tool, markup *script)
{
    const char *at = cli_value(tool, "slurm-options");
    for (size_t length; at && *(at += strspn(at, " \t")); at += length) {
        length = strcspn(at, " \t");
        markup_format(script, "#SBATCH %.*s\n", (int)length, at);
    }
}

static void begin(const cli *tool, markup *script, const char *output, const char *name, const char *log)
{
    char *here = getcwd(NULL, 0), *logs = folder_join(output, "slurm/");
    markup_init(script);
    markup_format(script, "#!/bin/sh\n#SBATCH --job-name=%s\n", name);
    put_directive(script, "output", logs ? logs : "", log);
    put_directive(script, "chdir", here ? here : ".", "");
    markup_put(script, "#SBATCH --requeue\n#SBATCH --open-mode=append\n");
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
            put_quoted(script, value);
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
    put_quoted(&script, plan ? plan : "");
    markup_put(&script, " -o ");
    put_quoted(&script, output);
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
    put_quoted(&script, output);
    markup_put(&script, "\n");
    ulna_status status = markup_write(&script, path, error);
    markup_release(&script);
    return status;
}

/* ---- submitting -------------------------------------------------------------------------------------------------------------------- */

/* Runs sbatch and reads the number of the job. */
static int submit(const char *dependency, const char *script, char *job, size_t size)
{
    int ends[2], state = 1;
    if (pipe(ends))
        return 0;
    fflush(stdout);
    pid_t process = fork();
    if (process == 0) {
        (void)dup2(ends[1], STDOUT_FILENO);
        (void)close(ends[0]);
        (void)close(ends[1]);
        const char *const words[] = {"sbatch", "--parsable", dependency ? dependency : script,
                                     dependency ? script : NULL, NULL};
        execvp(words[0], (char *const *)(size_t)words);
        cli_complain("cannot run sbatch: %s", strerror(errno));
        _exit(127);
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
    return process > 0 && state == 0 && *job;
}

static int submit_both(const cli *tool, json_t *object, const char *array, const char *merge)
{
    char job[64], last[64], dependency[96];
    if (!submit(NULL, array, job, sizeof job)) {
        cli_complain("sbatch did not take '%s'", array);
        return CLI_PARTLY;
    }
    put_text(object, "job", job);
    snprintf(dependency, sizeof dependency, "--dependency=afterany:%s", job);
    if (!submit(dependency, merge, last, sizeof last)) {
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
    else if (!code) {
        cli_say(tool, "submit them with:\n");
        cli_say(tool, "  sbatch --dependency=afterany:$(sbatch --parsable %s) %s\n", array, merge);
    }
    free(array);
    free(merge);
    return code;
}
