/*
 * Takes side by side. Workers take them in turn; the main thread speaks of each in order, once it and those before are done.
 * A take's result does not depend on the others, nor on how many threads there are. A worker waits with a large take while
 * other large ones are in memory.
 */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/solve/solve.h"

#define MOST_BYTES 3e8 /* of recordings that are worked on at once, as files; one may be larger */

typedef struct crew {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    solve_job *jobs;
    int count, next;
    unsigned char *is_done;
    int *frames, *totals; /* solved, and all of them; 0 before a take is read */
    double bytes;         /* in work */
    progress bar;
    double begun;
} crew;

typedef struct watch {
    crew *crew;
    int index;
} watch;

/* ---- progress ------------------------------------------------------------------------------------------------ */

static void draw(crew *c)
{
    char text[64];
    double part = 0, frames = 0;
    int done = 0;
    if (!c->bar.is_shown)
        return;
    for (int i = 0; i < c->count; i++) {
        part += c->is_done[i] ? 1 : c->totals[i] ? (double)c->frames[i] / c->totals[i] : 0;
        frames += c->frames[i];
        done += c->is_done[i];
    }
    double rate = frames / fmax(1e-9, cli_seconds() - c->begun);
    if (c->count > 1)
        snprintf(text, sizeof text, "%d of %d takes, %.0f frames/s", done, c->count, rate);
    else
        snprintf(text, sizeof text, "%.0f frames/s", rate);
    progress_show(&c->bar, part / c->count, text);
}

static int show(void *context, int done, int total)
{
    watch *w = context;
    crew *c = w->crew;
    pthread_mutex_lock(&c->lock);
    if (!c->totals[w->index] && c->count == 1)
        c->begun = cli_seconds();
    c->frames[w->index] = done;
    c->totals[w->index] = total;
    draw(c);
    pthread_mutex_unlock(&c->lock);
    return 0;
}

/* ---- one take ------------------------------------------------------------------------------------------------ */

/* From its files to its files; nothing is printed. */
static void solve_one(solve_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    double begun = cli_seconds();
    job->code = solve_load(job);
    put_number(job->object, "read_seconds", cli_seconds() - begun);
    if (job->code)
        return;
    job->options.oracle = job->attach == ATTACH_ORACLE;
    for (int i = 0; i < job->output_count; i++)
        job->options.solved_markers |= solve_is_marker_file(job->outputs[i]);
    if (ulna_track(job->take, &job->options, &job->result, &error)) {
        job->code = solve_fail(job, job->object, job->markers_path, &error);
        return;
    }
    job->is_solved = 1;
    solve_add_results(job);
    begun = cli_seconds();
    int code = solve_write_outputs(job);
    put_number(job->object, "write_seconds", cli_seconds() - begun);
    json_object_set(job->object, "notes", job->notes);
    int is_usable = !job->result.summary.lost && job->result.trust.verdict != ULNA_VERDICT_REJECT;
    job->code = code ? code : is_usable ? CLI_DONE : CLI_PARTLY;
}

/* ---- all of them --------------------------------------------------------------------------------------------- */

static double size_of(const solve_job *job)
{
    struct stat about;
    return stat(job->markers_path, &about) == 0 ? (double)about.st_size : 0;
}

static void *work(void *context)
{
    crew *c = context;
    pthread_mutex_lock(&c->lock);
    while (c->next < c->count) {
        int i = c->next++;
        double bytes = size_of(&c->jobs[i]);
        while (c->bytes > 0 && c->bytes + bytes > MOST_BYTES)
            pthread_cond_wait(&c->changed, &c->lock);
        c->bytes += bytes;
        pthread_mutex_unlock(&c->lock);
        watch w = {c, i};
        c->jobs[i].options.progress = c->bar.is_shown ? show : NULL;
        c->jobs[i].options.progress_context = &w;
        solve_one(&c->jobs[i]);
        solve_release_frames(&c->jobs[i]);
        pthread_mutex_lock(&c->lock);
        c->bytes -= bytes;
        c->is_done[i] = 1;
        draw(c);
        pthread_cond_broadcast(&c->changed);
    }
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

static void tell_all(crew *c, const cli *tool, solve_teller *tell)
{
    for (int i = 0; i < c->count; i++) {
        pthread_mutex_lock(&c->lock);
        while (!c->is_done[i])
            pthread_cond_wait(&c->changed, &c->lock);
        progress_end(&c->bar);
        tell(tool, &c->jobs[i], c->count);
        pthread_mutex_unlock(&c->lock);
    }
}

/* As many workers as there are threads and takes; threads that are left over work inside takes. */
static int plan(const cli *tool, solve_job *jobs, int count)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = tool->threads > 0 ? tool->threads : processors > 0 ? (int)processors : 1;
    int workers = threads < count ? threads : count;
    for (int i = 0; i < count && count > 1; i++)
        jobs[i].options.threads = threads / workers;
    return workers;
}

void solve_all(const cli *tool, solve_job *jobs, int count, solve_teller *tell)
{
    crew c = {.jobs = jobs, .count = count, .begun = cli_seconds()};
    int workers = plan(tool, jobs, count), started = 0;
    pthread_t *threads = calloc((size_t)workers, sizeof *threads);
    c.is_done = calloc((size_t)count, 1);
    c.frames = calloc((size_t)count, sizeof *c.frames);
    c.totals = calloc((size_t)count, sizeof *c.totals);
    pthread_mutex_init(&c.lock, NULL);
    pthread_cond_init(&c.changed, NULL);
    progress_begin(&c.bar, tool);
    if (count == 1) {
        jobs[0].tool = tool;
        jobs[0].bar = &c.bar;
    }
    if (!c.is_done || !c.frames || !c.totals || !threads) {
        jobs[0].code = cli_out_of_memory();
    } else {
        while (count > 1 && started < workers && pthread_create(&threads[started], NULL, work, &c) == 0)
            started++;
        if (started == 0)
            (void)work(&c);
        tell_all(&c, tool, tell);
    }
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    pthread_cond_destroy(&c.changed);
    pthread_mutex_destroy(&c.lock);
    free(threads);
    free(c.is_done);
    free(c.frames);
    free(c.totals);
}
