/* The options of ulna batch, and what is wrong with them: said before anything is touched. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/batch.h"
#include "cli/batch/command.h"
#include "cli/solve/solve.h"
#include "src/base/algorithms.h"
#include "ulna/ulna.h"

static int read_isolation(const cli *tool, batch_pool *pool)
{
    const char *text = cli_value(tool, "isolate");
    pool->is_isolated = !text || strcmp(text, "on") == 0;
    if (!pool->is_isolated && strcmp(text, "off") != 0)
        return cli_usage(tool, "--isolate takes on or off, not '%s'", text);
    if (!pool->is_isolated && (cli_value(tool, "time-limit") || cli_value(tool, "memory")))
        return cli_usage(tool, "--%s holds for processes apart, and --isolate off has none: give one of them",
                         cli_value(tool, "time-limit") ? "time-limit" : "memory");
    pool->seconds = 600;
    pool->megabytes = 4096;
    int code = numbers_real(tool, "time-limit", 0, 1e7, " s", &pool->seconds);
    return code ? code : numbers_real(tool, "memory", 0, 1e9, " MB", &pool->megabytes);
}

/* The plan has the options of its takes: those of the command line would be added in each run, and nothing would be kept. */
static int check_own_plan(const cli *tool, const batch_common *common)
{
    const char *source = tool->operand_count ? tool->operands[0] : "";
    if (!common->words || !*common->words || !plan_is_own(common->output, source))
        return CLI_DONE;
    return cli_usage(tool,
                     "--options would be added to those that are in %s already: leave them out, or give the folder or "
                     "manifest that this plan was made from",
                     source);
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
    if (!code)
        code = slurm_check(tool);
    if (!code)
        code = check_own_plan(tool, common);
    return code ? code : read_isolation(tool, limits);
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
    return cli_with_memory(status) == ULNA_OK ? CLI_DONE : cli_usage(tool, "--options: %s", error.message);
}

ulna_status options_check_files(const char *words, char *path, size_t size, ulna_error *error)
{
    static const char *const names[] = {"attach", "reference", "compare-with", "bounds", "init", "constraints"};
    command_line line = command_begin("solve");
    solve_job job = {0};
    command_add_pair(&line, "-s", "skeleton");
    command_add_pair(&line, "-m", "markers");
    int is_read = *words && command_add_options(&line, words) && !command_parse(&line) &&
                  !solve_read_options(&line.tool, &job); /* else take_check_words says what is wrong */
    const char *const files[] = {job.attach_path, job.reference_path,  job.compare_path, job.bounds_path,
                                 job.init_path,   job.constraints_path}; /* words such as "none" are not */
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < sizeof files / sizeof *files && is_read && status == ULNA_OK; i++) {
        struct stat about;
        if (!files[i])
            continue;
        snprintf(path, size, "%s", files[i]);
        if (access(files[i], R_OK) != 0 || stat(files[i], &about) != 0)
            status =
                cli_fail(error, cli_io_status(errno), "cannot open the file of --%s: %s", names[i], strerror(errno));
        else if (!S_ISREG(about.st_mode))
            status = cli_fail(error, ULNA_ERR_IO, "is not a file, as --%s needs", names[i]);
    }
    command_end(&line);
    return status;
}

static int check_named(json_t *object, const char *words)
{
    char path[4096];
    ulna_error error, named;
    ulna_error_clear(&error);
    if (!words || options_check_files(words, path, sizeof path, &error) == ULNA_OK)
        return CLI_DONE;
    ulna_error_clear(&named);
    cli_fail(&named, error.status, "%s (--options)", error.message);
    return files_fail(object, path, &named);
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
    if (strcmp(path, "-") == 0)
        status = cli_fail(&error, ULNA_ERR_ARGUMENT, "standard input cannot be read for several takes: name a file");
    else if (access(path, R_OK) == 0 && stat(path, &about) == 0) {
        if (!S_ISREG(about.st_mode))
            status = cli_fail(&error, ULNA_ERR_IO, "is not a file");
    } else if (is_skeleton) { /* built in, or it says why it cannot be opened */
        ulna_content skeleton = ulna_content_empty(NULL);
        status = files_skeleton(path, 0, &skeleton, &error);
        ulna_content_release(&skeleton);
    } else
        status = cli_fail(&error, cli_io_status(errno), "cannot open the file: %s", strerror(errno));
    return status == ULNA_OK ? CLI_DONE : files_fail(object, path, &error);
}

int options_check(const cli *tool, json_t *object, const batch_common *common)
{
    int code = cli_check_formats(tool);
    if (!code)
        code = check_words(tool, common->words);
    if (!code)
        code = check_named(object, common->words);
    if (!code)
        code = check_common(object, common->skeleton, 1);
    return code ? code : check_common(object, common->attach, 0);
}

/* ---- the command line -------------------------------------------------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"output", 'o', "FOLDER",
     "Where motions, reports and tables go: a new folder, or that of an earlier run, which is then continued."},
    {"skeleton", 's', "FILE",
     "Skeleton of all takes for which neither their folders nor the manifest give one. With a "
     "folder: of all takes. Default, where there is no skeleton at all: the built-in human, scaled to the person of each session."},
    {"attach", 'a', "FILE",
     "Where the markers are, as for `ulna solve`, for takes without a table of their own. Default: found by a calibration for each "
     "subject and session, unless the skeleton has markers that fit this person, or the recording has key points."},
    {"formats", 0, "A,B,...",
     "Formats of the motions: extensions such as amc,bvh,glb. Default: that of the skeleton (amc, bvh or glb), else csv; bvh "
     "without a skeleton."},
    {"options", 0, "TEXT",
     "Options of `ulna solve` for all takes, such as \"--bounds skeleton --loss square\". Names of files in it are relative to the "
     "current folder. The column options of a manifest adds to it."},
    {"no-reports", 0, NULL, "Write no report for each take; the table and the overview are written."},
    {"dry-run", 0, NULL,
     "Show the takes that are left to solve, their skeletons and markers, those that cannot be solved, and how many are done. Nothing is "
     "solved or written."},
    {"retry-failed", 0, NULL, "Also solve takes again that failed before. By default only what is new or changed."},
    {"isolate", 0, "on|off",
     "on (default): takes are solved in processes apart, one at a time in each, so that one that crashes, hangs or uses up memory fails "
     "alone. off: in threads of one process, without limits."},
    {"time-limit", 0, "S",
     "Longest time for a take or a calibration, in seconds; then it fails. Default: 600. 0: no limit."},
    {"memory", 0, "MB",
     "Most memory for a take or a calibration, in megabytes; then it fails. Default: 4096. 0: no limit."},
    {"shard", 0, "K/N",
     "Solve only part K of N, from 1; the parts have about the same size of recordings. Default: as an array scheduler says "
     "(SLURM_ARRAY_TASK_ID and the variables of SGE, LSF, AWS Batch and Google), else all. /N: K from the scheduler, where it does not "
     "say N (PBS_ARRAY_INDEX, JOB_COMPLETION_INDEX of Kubernetes)."},
    {"slurm", 0, "N",
     "Write job scripts for Slurm: an array of N shards, each with --threads processors (default: 1), and a job that makes the tables "
     "when all have ended. Nothing is solved."},
    {"slurm-options", 0, "TEXT",
     "With --slurm: options of sbatch for these scripts, such as \"--partition=long --time=2:00:00\". A value with blanks is in quotes."},
    {"submit", 0, NULL, "With --slurm: submit the scripts with sbatch."},
    {"merge", 0, NULL,
     "Make table and overview of an output folder from the journals of all shards: ulna batch --merge OUT."},
    {0},
};

const cli_command batch_command = {
    .name = "batch",
    .operands = "FOLDER|MANIFEST -o OUT",
    .operand = "a folder of takes or a manifest",
    .least = 0, /* run_batch says which one is missing */
    .most = 1,
    .summary = "solve whole databases of takes, on one machine or a cluster",
    .text =
        "Solves all C3D and TRC files in a folder and below, or the takes of a manifest. The skeleton of a take is the file whose name "
        "begins the take's name (02.asf for 02_01.c3d), or the only skeleton, in the folder of the take or above. A BVH or glTF "
        "with exactly the name of a take is a motion of it, and its skeleton only if there is no other. In a folder without any "
        "skeleton, and with a manifest that names none, it is the built-in human, as long as the person of each session. A table of markers is "
        "found in the same way, as NAME-markers.csv; without one, the offsets of the markers are calibrated once for each subject and "
        "session (folder). A manifest is a CSV table whose heading names the columns take, skeleton, attach, subject, options (of `ulna "
        "solve`) and name (of the outputs), in any order; only take is needed.\n\n"
        "OUT receives the motions and reports, in the folders that the takes had, results.csv and results.jsonl with a row for each take, "
        "and index.html, which shows the worst takes first. A take that fails is listed with the reason, and the others are solved. The "
        "results do not depend on threads, shards or order.\n\n"
        "A run can be stopped or killed at any time. The same command then goes on: a take is done when its files are there as they "
        "were written, and its line in OUT/journal for the same bytes of all inputs, the same options and the same version. Files of a take stay until new ones "
        "replace them, also if it fails. Two batches cannot write to one "
        "folder at once, except for different shards of one number.\n\n"
        "With --json, a line with an object is printed for each take as it ends, and a last one with a summary. The exit code is 1 if a "
        "take failed, is missing or has the verdict reject (its result should not be used), or if a folder cannot be read, and 4 if the output cannot be written, also because another batch writes to it. With --quiet, a line on standard error names each take that "
        "failed, also in an earlier run. docs/cluster.md explains the rest.",
    .options = options,
    .reads = "skeleton attach OPERANDS", /* it writes to a folder that has nothing of others */
    .examples = "ulna batch database -o solved\tall takes of a folder\n"
                "ulna batch database -o solved --dry-run\twhat would be solved, and what would fail\n"
                "ulna batch takes.csv -o solved --formats amc,glb\ta manifest; motions in two formats\n"
                "ulna batch database -o solved --retry-failed\tfailed ones again, as after an update\n"
                "ulna batch database -o solved --slurm 32 --submit\ton a cluster\n"
                "ulna batch --merge solved\ttables of what the shards have done",
    .run = batch_main,
};
