/* The options of ulna batch, and what is wrong with them: said before anything is touched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "ulna/ulna.h"

static int read_isolation(const cli *tool, batch_pool *pool)
{
    const char *text = cli_value(tool, "isolate");
    pool->is_isolated = !text || strcmp(text, "on") == 0;
    if (!pool->is_isolated && strcmp(text, "off") != 0)
        return cli_usage(tool, "--isolate takes on or off, not '%s'", text);
    pool->seconds = 600;
    pool->megabytes = 4096;
    int code = numbers_real(tool, "time-limit", 0, 1e7, " s", &pool->seconds);
    return code ? code : numbers_real(tool, "memory", 0, 1e9, " MB", &pool->megabytes);
}

int options_read(const cli *tool, batch_common *common, batch_setup *setup, batch_shard *shard, batch_pool *limits,
                 int *tasks)
{
    common->skeleton = cli_value(tool, "skeleton");
    common->attach = cli_value(tool, "attach");
    common->words = cli_value(tool, "options");
    setup->formats = cli_value(tool, "formats");
    setup->has_reports = !cli_value(tool, "no-reports");
    setup->is_retried = cli_value(tool, "retry-failed") != NULL;
    *shard = (batch_shard){1, 1};
    if (!common->output || !*common->output)
        return cli_usage(tool, "--output FOLDER is needed: where motions, reports and tables go");
    if (cli_value(tool, "submit") && !cli_value(tool, "slurm"))
        return cli_usage(tool, "--submit goes with --slurm N");
    if (cli_value(tool, "slurm-options") && !cli_value(tool, "slurm"))
        return cli_usage(tool, "--slurm-options goes with --slurm N");
    if (cli_value(tool, "slurm") && cli_value(tool, "shard"))
        return cli_usage(tool, "--slurm N runs all shards: leave out --shard");
    int code = numbers_count(tool, "slurm", 1, 65535, tasks);
    if (!code && !cli_value(tool, "slurm"))
        code = shards_read(tool, shard);
    return code ? code : read_isolation(tool, limits);
}

static int check_formats(const cli *tool, const char *formats)
{
    if (formats && !*formats)
        return cli_usage(tool, "--formats takes endings such as amc,bvh,glb, and none is given");
    for (const char *at = formats; at && *at; at += strcspn(at, ","), at += *at == ',') {
        char name[16];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "x.%.*s", length < 8 ? (int)length : 0, at);
        if (!ulna_format_writes(ulna_format_of_name(name)))
            return cli_usage(tool, "--formats takes endings such as amc,bvh,glb, not '%s'", formats);
        for (const char *other = formats; other < at; other += strcspn(other, ",") + 1)
            if (strcspn(other, ",") == length && strncasecmp(other, at, length) == 0)
                return cli_usage(tool, "--formats names %.*s twice: both would be the same file", (int)length, at);
    }
    return CLI_DONE;
}

/* Here, not as a failure of each take: nothing is to be solved with options that nobody meant. */
static int check_words(const cli *tool, const char *words)
{
    ulna_error error;
    batch_take any = {0};
    ulna_error_clear(&error);
    ulna_status status =
        plan_set(&any.words, words ? words : "") ? take_check_words(&any, &error) : cli_no_memory(&error);
    free(any.words);
    free(any.shared);
    return status == ULNA_OK ? CLI_DONE : cli_usage(tool, "--options: %s", error.message);
}

/* The same: a file for all takes that cannot be read would fail all of them. Its content is read by each take, with its options. */
static int check_common(json_t *object, const char *path, int is_skeleton)
{
    ulna_error error;
    struct stat about;
    ulna_status status = ULNA_OK;
    ulna_error_clear(&error);
    if (!path || !*path)
        return CLI_DONE;
    if (access(path, R_OK) == 0 && stat(path, &about) == 0) {
        if (!S_ISREG(about.st_mode))
            status = cli_fail(&error, ULNA_ERR_IO, "is not a file");
    } else if (is_skeleton) { /* built in, or it says why it cannot be opened */
        ulna_content skeleton = ulna_content_empty(NULL);
        status = files_skeleton(path, 0, &skeleton, &error);
        ulna_content_release(&skeleton);
    } else
        status = cli_fail(&error, ULNA_ERR_IO, "cannot open the file: %s", strerror(errno));
    return status == ULNA_OK ? CLI_DONE : files_fail(object, path, &error);
}

int options_check(const cli *tool, json_t *object, const batch_common *common, const batch_setup *setup)
{
    int code = check_formats(tool, setup->formats);
    if (!code)
        code = check_words(tool, common->words);
    if (!code)
        code = check_common(object, common->skeleton, 1);
    return code ? code : check_common(object, common->attach, 0);
}
