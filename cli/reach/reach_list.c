/*
 * A list of goals: each is solved alone, from the same seed, by as many threads as there are. An answer does not depend on the other
 * rows, nor on the number of threads. Rows go through in pieces, so that a list of any length needs no memory.
 */
#define _POSIX_C_SOURCE 200809L

#include "cli/reach/reach.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PIECE_SECONDS 0.2 /* after which the bar moves and an interrupt is seen */
#define PIECE_BYTES 1.6e7 /* of texts in memory */

enum { MOST_ROWS = 4096, MOST_THREADS = 256 };

typedef struct list {
    reach_job *job;
    reach_rows rows;
    reach_answers *tables; /* a file each */
    int table_count;
    /* A piece: goals room x tips, q room x nq, texts table_count x room x its row_bytes. */
    ulna_reach_goal *goals;
    double *q;
    reach_answer *answers;
    char **text;
    size_t *text_bytes; /* room x tables */
    unsigned char *is_done;
    int room, count; /* rows of a piece: at most, now */
    int first;       /* number of rows before it */
    atomic_int next, failed;
    /* Threads. */
    ulna_reach_work **works;
    ulna_work **keepers;
    double *errors; /* threads x constraints: the largest */
    int *missed;    /* likewise: how often it was not kept */
    int threads;
    /* All rows. */
    int total; /* in the file */
    double position, rotation, seconds;
    long long iterations, restarts;
    int reached;
    json_t *missed_goals;
    int missed_more;
} list;

typedef struct worker {
    list *l;
    int number;
} worker;

/* ---- solving -------------------------------------------------------------------------------------------------------------------- */

static void solve_row(list *l, int w, int i)
{
    const reach_job *job = l->job;
    int constraints = job->options.constraint_count;
    double *q = l->q + (size_t)i * (size_t)job->nq, error[REACH_MOST_CONSTRAINTS];
    ulna_reach_result result;
    ulna_status status =
        ulna_reach_solve(l->works[w], l->goals + (size_t)i * (size_t)job->tip_count, job->seed, q, &result);
    if (status != ULNA_OK) {
        l->failed = status;
        return;
    }
    l->answers[i] = reach_judge(job, l->keepers[w], q, &result, l->first + i + 1, error);
    for (int t = 0; t < l->table_count; t++) {
        size_t at = (size_t)i * (size_t)l->table_count + (size_t)t;
        l->text_bytes[at] =
            reach_answer_text(&l->tables[t], &l->answers[i], l->text[t] + (size_t)i * l->tables[t].row_bytes);
    }
    for (int c = 0; c < constraints; c++) {
        double *largest = &l->errors[w * constraints + c];
        *largest = error[c] <= *largest ? *largest : error[c];
        l->missed[w * constraints + c] += !reach_is_kept(error[c]);
    }
    l->is_done[i] = 1;
}

/* Rows in order, so that those which are done when a signal comes are the first ones, but for a few. */
static void *work(void *context)
{
    const worker *w = context;
    list *l = w->l;
    for (int i = atomic_fetch_add(&l->next, 1); i < l->count; i = atomic_fetch_add(&l->next, 1)) {
        if (cli_is_stopping() || l->failed)
            break;
        solve_row(l, w->number, i);
    }
    return NULL;
}

/* The caller works too. Fewer threads than wanted are enough. */
static void solve_piece(list *l)
{
    pthread_t threads[MOST_THREADS];
    worker workers[MOST_THREADS];
    int started = 1;
    memset(l->is_done, 0, (size_t)l->room);
    l->next = 0;
    for (int w = 0; w < l->threads; w++)
        workers[w] = (worker){l, w};
    while (started < l->threads && started < l->count &&
           pthread_create(&threads[started], NULL, work, &workers[started]) == 0)
        started++;
    work(&workers[0]);
    for (int w = 1; w < started; w++)
        pthread_join(threads[w], NULL);
}

/* Answers in order, up to the first that is missing; returns how many. */
static int write_piece(list *l)
{
    enum { MOST_LISTED = 20 };
    int done = 0;
    for (; done < l->count && l->is_done[done]; done++) {
        const ulna_reach_result *r = &l->answers[done].result;
        for (int t = 0; t < l->table_count; t++)
            reach_answers_write(&l->tables[t], l->text[t] + (size_t)done * l->tables[t].row_bytes,
                                l->text_bytes[(size_t)done * (size_t)l->table_count + (size_t)t]);
        l->position = fmax(l->position, r->position_error);
        l->rotation = fmax(l->rotation, r->rotation_error);
        l->iterations += r->iterations;
        l->restarts += r->restarts;
        l->reached += r->reached;
        if (!r->reached && json_array_size(l->missed_goals) < MOST_LISTED)
            json_array_append_new(l->missed_goals, json_integer(l->first + done + 1));
        else
            l->missed_more += !r->reached;
    }
    l->first += done;
    return done;
}

static int is_written(const list *l)
{
    for (int t = 0; t < l->table_count; t++)
        if (l->tables[t].status != ULNA_OK)
            return 0;
    return 1;
}

/* ---- memory --------------------------------------------------------------------------------------------------------------------- */

static ulna_status make_room(list *l, ulna_error *error)
{
    const reach_job *job = l->job;
    size_t bytes = 1, threads = (size_t)l->threads, constraints = (size_t)job->options.constraint_count;
    for (int t = 0; t < l->table_count; t++)
        bytes += l->tables[t].row_bytes;
    double most = PIECE_BYTES / (double)bytes;
    l->room = most < 16 ? 16 : most < MOST_ROWS ? (int)most : MOST_ROWS;
    size_t room = (size_t)l->room;
    l->goals = calloc(room * (size_t)job->tip_count, sizeof *l->goals);
    l->q = calloc(room * (size_t)job->nq + 1, sizeof *l->q);
    l->answers = calloc(room, sizeof *l->answers);
    l->is_done = calloc(room, 1);
    l->text = calloc((size_t)l->table_count + 1, sizeof *l->text);
    l->text_bytes = calloc(room * (size_t)l->table_count + 1, sizeof *l->text_bytes);
    l->works = calloc(threads, sizeof *l->works);
    l->keepers = calloc(threads, sizeof *l->keepers);
    l->errors = calloc(threads * constraints + 1, sizeof *l->errors);
    l->missed = calloc(threads * constraints + 1, sizeof *l->missed);
    l->missed_goals = json_array();
    int is_made = l->goals && l->q && l->answers && l->is_done && l->text && l->text_bytes && l->works && l->keepers &&
                  l->errors && l->missed && l->missed_goals;
    for (int t = 0; t < l->table_count && is_made; t++)
        is_made = (l->text[t] = malloc(room * l->tables[t].row_bytes)) != NULL;
    if (!is_made)
        return cli_no_memory(error);
    ulna_status status = ULNA_OK;
    for (int w = 0; w < l->threads && status == ULNA_OK; w++) {
        status = ulna_reach_work_create(job->reach, NULL, &l->works[w], error);
        if (status == ULNA_OK)
            status = reach_keep_work(job, &l->keepers[w], error);
    }
    return status;
}

static void release(list *l)
{
    for (int w = 0; w < l->threads; w++) {
        ulna_reach_work_destroy(l->works ? l->works[w] : NULL);
        ulna_work_destroy(l->keepers ? l->keepers[w] : NULL);
    }
    for (int t = 0; t < l->table_count && l->text; t++)
        free(l->text[t]);
    free(l->goals);
    free(l->q);
    free(l->answers);
    free(l->is_done);
    free(l->text);
    free(l->text_bytes);
    free(l->works);
    free(l->keepers);
    free(l->errors);
    free(l->missed);
    json_decref(l->missed_goals);
    reach_rows_close(&l->rows);
}

/* ---- all rows -------------------------------------------------------------------------------------------------------------------- */

/* Looks at all rows before the first one is solved: a mistake in the last one shows at once. */
static ulna_status count_rows(list *l, ulna_error *error)
{
    ulna_reach_goal targets[REACH_MOST_TIPS];
    double seconds;
    ulna_status status = ULNA_OK;
    for (int is_there = 1; is_there && status == ULNA_OK;) {
        status = reach_rows_next(&l->rows, targets, &seconds, &is_there, error);
        if (is_there && l->total++ == REACH_MOST_ROWS)
            status = cli_fail(error, ULNA_ERR_LIMIT, "more than %d rows: divide the file", REACH_MOST_ROWS);
    }
    if (status == ULNA_OK && l->total == 0)
        status = cli_fail(error, ULNA_ERR_PARSE, "the file has a heading, but no goals");
    return status == ULNA_OK ? reach_rows_restart(&l->rows, error) : status;
}

static ulna_status solve_rows(const cli *tool, list *l, ulna_error *error)
{
    int tips = l->job->tip_count, size = 16, is_there = 1;
    double ignored;
    ulna_status status = ULNA_OK;
    progress bar;
    progress_begin(&bar, tool);
    while (is_there && status == ULNA_OK && !cli_is_stopping() && is_written(l)) {
        double began = cli_seconds();
        for (l->count = 0; l->count < size && is_there && status == ULNA_OK; l->count += is_there)
            status = reach_rows_next(&l->rows, l->goals + (size_t)l->count * (size_t)tips, &ignored, &is_there, error);
        if (status != ULNA_OK || l->count == 0)
            break;
        solve_piece(l);
        if (l->failed)
            status = cli_fail(error, (ulna_status)l->failed, "a goal could not be solved: %s",
                              ulna_status_text((ulna_status)l->failed));
        else
            write_piece(l);
        double seconds = cli_seconds() - began;
        l->seconds += seconds;
        size = (int)fmin(fmin(l->room, 4.0 * size), fmax(l->threads, size * PIECE_SECONDS / fmax(seconds, 1e-9)));
        progress_show(&bar, (double)l->first / l->total, "goals");
    }
    progress_end(&bar);
    return status;
}

static void put_list_facts(json_t *object, list *l)
{
    const reach_job *job = l->job;
    int constraints = job->options.constraint_count, count = l->first > 0 ? l->first : 1;
    for (int w = 1; w < l->threads; w++)
        for (int c = 0; c < constraints; c++) {
            l->errors[c] = fmax(l->errors[c], l->errors[w * constraints + c]);
            l->missed[c] += l->missed[w * constraints + c];
        }
    put_count(object, "goals", l->first);
    put_flag(object, "reached", l->reached == l->first && l->first == l->total);
    put_count(object, "reached_goals", l->reached);
    put_count(object, "missed", l->first - l->reached);
    json_object_set(object, "missed_goals", l->missed_goals);
    put_count(object, "missed_more", l->missed_more);
    put_number(object, "position_error_m", l->position);
    put_number(object, "rotation_error_rad", l->rotation);
    put_number(put_object(object, "us"), "mean", 1e6 * l->seconds / count);
    put_number(put_object(object, "iterations"), "mean", (double)l->iterations / count);
    put_number(put_object(object, "restarts"), "mean", (double)l->restarts / count);
    put_count(object, "threads", l->threads);
    if (l->first < l->total)
        put_count(object, "goals_left", l->total - l->first);
    reach_keep_put(object, job, l->errors, l->missed);
}

static void print_list(const cli *tool, const json_t *object)
{
    fact_line(tool, object, "goals", "{reached_goals} of {goals} goal{goals:/s} reached, inside the limits");
    fact_line(tool, object, "missed",
              "{missed?}goal{missed:/s} {missed_goals}[{missed_more?} and {missed_more} more: -o FILE.csv has all]");
    fact_line(tool, object, "errors", "at most {position_error_m%.3g} m and {rotation_error_rad%.3g} rad");
    reach_keep_print(tool, object);
    fact_line(tool, object, "effort",
              "{us.mean%us} a goal with {threads} thread{threads:/s}, {iterations.mean%.2f} iterations and "
              "{restarts.mean%.2g} restarts; solver: {solver}");
}

static int thread_count(const cli *tool)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    long wanted = tool->threads > 0 ? tool->threads : processors;
    return wanted < 1 ? 1 : wanted > MOST_THREADS ? MOST_THREADS : (int)wanted;
}

int reach_solve_list(const cli *tool, json_t *object, reach_job *job)
{
    list l = {.job = job, .rows = job->rows, .threads = thread_count(tool)};
    ulna_error error;
    job->rows = (reach_rows){0};
    ulna_error_clear(&error);
    ulna_status status = count_rows(&l, &error);
    int code = status == ULNA_OK ? CLI_DONE : files_fail(object, job->rows_path, &error);
    if (!code)
        code = reach_open_tables(tool, object, job, REACH_GOALS, 0);
    l.tables = job->tables;
    l.table_count = job->table_count;
    l.threads = l.threads < l.total ? l.threads : l.total > 0 ? l.total : 1;
    if (!code && make_room(&l, &error) != ULNA_OK)
        code = files_fail(object, job->robot, &error);
    if (!code && solve_rows(tool, &l, &error) != ULNA_OK)
        code = files_fail(object, job->rows_path, &error);
    int is_kept = !code, closed = reach_close_tables(object, job, is_kept);
    if (!code)
        code = closed;
    if (!code) {
        put_list_facts(object, &l);
        print_list(tool, object);
        code = reach_write_outputs(tool, object, job, REACH_GOALS, 0, NULL);
    }
    if (!code && (l.reached < l.first || l.first < l.total))
        code = CLI_PARTLY;
    if (is_kept && !closed && cli_is_stopping())
        cli_complain("interrupted: %d of %d goals are done%s", l.first, l.total, l.table_count ? " and written" : "");
    release(&l);
    return code;
}
