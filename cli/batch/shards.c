/* Parts of a batch: which of them this process is, and which takes belong to it. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/batch.h"

/* ---- which part ------------------------------------------------------------------------------------------------------------------ */

/* The names that array schedulers give to the number of a task, to the first and last one, their step, and how many there are. */
static const struct scheduler {
    const char *index, *first, *last, *step, *count;
    int base; /* the first number, where no variable says it */
} schedulers[] = {
    {"SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",
     "SLURM_ARRAY_TASK_COUNT", 1},
    {"SGE_TASK_ID", "SGE_TASK_FIRST", "SGE_TASK_LAST", "SGE_TASK_STEPSIZE", NULL, 1},
    {"LSB_JOBINDEX", NULL, "LSB_JOBINDEX_END", "LSB_JOBINDEX_STEP", NULL, 1},
    {"PBS_ARRAY_INDEX", NULL, NULL, NULL, NULL, 1},
    {"PBS_ARRAYID", NULL, NULL, NULL, NULL, 1},
    {"AWS_BATCH_JOB_ARRAY_INDEX", NULL, NULL, NULL, "AWS_BATCH_JOB_ARRAY_SIZE", 0},
    {"CLOUD_RUN_TASK_INDEX", NULL, NULL, NULL, "CLOUD_RUN_TASK_COUNT", 0},
    {"BATCH_TASK_INDEX", NULL, NULL, NULL, "BATCH_TASK_COUNT", 0},
    {"JOB_COMPLETION_INDEX", NULL, NULL, NULL, NULL, 0},
    {0},
};

/* 0 if the variable is not there, or is no number: outside of arrays SGE says "undefined". */
static int read_variable(const char *name, int *value)
{
    const char *text = name ? getenv(name) : NULL;
    char *end;
    long number = text ? strtol(text, &end, 10) : 0;
    if (!text || end == text || *end || number < 0 || number > INT_MAX)
        return 0;
    *value = (int)number;
    return 1;
}

/* The number of this task, from 1; and of all of them, 0 if the scheduler does not tell. 0: no array. */
static int ask_scheduler(const char **name, batch_shard *shard)
{
    for (const struct scheduler *s = schedulers; s->index; s++) {
        int index, first = s->base, last, step = 1;
        if (!read_variable(s->index, &index) || (index == 0 && strcmp(s->index, "LSB_JOBINDEX") == 0)) /* 0: no array */
            continue;
        (void)read_variable(s->first, &first);
        if (!read_variable(s->step, &step) || step < 1)
            step = 1;
        shard->count = 0;
        if (!read_variable(s->count, &shard->count) && read_variable(s->last, &last) && last >= first)
            shard->count = (last - first) / step + 1;
        shard->number = (index - first) / step + 1;
        *name = s->index;
        return 1;
    }
    return 0;
}

static int is_whole(const char *text, char end, const char **rest, int *value)
{
    char *stop;
    errno = 0;
    long number = strtol(text, &stop, 10);
    *rest = stop;
    *value = (int)number;
    return stop != text && *stop == end && !errno && number >= 1 && number < 65536;
}

int shards_read(const cli *tool, batch_shard *shard)
{
    const char *text = cli_value(tool, "shard"), *rest, *name = "";
    batch_shard task = {1, 0};
    int is_array = ask_scheduler(&name, &task);
    *shard = (batch_shard){1, 1};
    if (!text && is_array && !task.count)
        return cli_usage(tool, "%s is set, but not how many tasks there are: give --shard /N", name);
    if (!text && is_array)
        *shard = task;
    else if (text && *text == '/' && !is_array)
        return cli_usage(tool,
                         "--shard /N takes the number of the task from an array scheduler, and there is none: give "
                         "--shard K/N");
    else if (text && *text == '/') {
        shard->number = task.number;
        if (!is_whole(text + 1, 0, &rest, &shard->count))
            return cli_usage(tool, "--shard takes K/N or /N, such as 2/8, not '%s'", text);
    } else if (text && (!is_whole(text, '/', &rest, &shard->number) || !is_whole(rest + 1, 0, &rest, &shard->count)))
        return cli_usage(tool, "--shard takes K/N or /N, such as 2/8, not '%s'", text);
    if (shard->number < 1 || shard->number > shard->count || shard->count > 65535)
        return cli_usage(tool, "there is no shard %d of %d: they are numbered from 1", shard->number, shard->count);
    return CLI_DONE;
}

/* ---- which takes ------------------------------------------------------------------------------------------------------------------ */

typedef struct sized {
    double bytes;
    int index;
} sized;

static int by_size(const void *a, const void *b)
{
    const sized *x = a, *y = b;
    return x->bytes > y->bytes ? -1 : x->bytes < y->bytes ? 1 : (x->index > y->index) - (x->index < y->index);
}

/* R. L. Graham, Bounds on multiprocessing timing anomalies, SIAM J. Appl. Math. 17 (1969): no shard gets more than 4/3 of what the
 * best division would give the largest. Small files count as well: a take costs something by itself. */
int shards_choose(const batch_plan *plan, batch_shard shard, unsigned char *is_chosen)
{
    const double least = 1e5; /* bytes that a take without any would cost */
    sized *takes = calloc((size_t)plan->count + 1, sizeof *takes);
    double *loads = calloc((size_t)shard.count, sizeof *loads);
    int has_memory = takes && loads;
    for (int i = 0; i < plan->count && has_memory; i++)
        takes[i] = (sized){plan->takes[i].bytes, i};
    if (has_memory)
        qsort(takes, (size_t)plan->count, sizeof *takes, by_size);
    for (int i = 0; i < plan->count && has_memory; i++) {
        int lightest = 0;
        for (int s = 1; s < shard.count; s++)
            lightest = loads[s] < loads[lightest] ? s : lightest;
        loads[lightest] += takes[i].bytes + least;
        is_chosen[takes[i].index] = lightest == shard.number - 1;
    }
    free(takes);
    free(loads);
    return has_memory;
}
