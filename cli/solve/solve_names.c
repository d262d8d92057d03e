/*
 * The names of the files that `ulna solve` writes. A file by its name; in a folder, one file a take and format: the take's
 * name with another ending. Nobody's file is written twice, and no input is overwritten: that is found out first.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/input.h"
#include "cli/solve/solve.h"

/* In a folder, for the take of this job. */
static char *in_folder(const char *folder, const solve_job *job, const char *ending)
{
    return folder_file(folder, job->markers_path, job->own_subject, ending);
}

/* ---- who is solved ------------------------------------------------------------------------------------------- */

/* Room for one more; NULL without memory. */
static solve_job *add_job(solve_job **jobs, int *count, const solve_job *pattern)
{
    solve_job *grown = realloc(*jobs, ((size_t)*count + 1) * sizeof *grown);
    if (!grown)
        return NULL;
    *jobs = grown;
    grown[*count] = *pattern;
    return &grown[(*count)++];
}

static int add_people(solve_job **jobs, int *count, const solve_job *one)
{
    ulna_content markers = ulna_content_empty(NULL);
    ulna_take *take = files_people(one->markers_path, one->markers_unit, one->skeleton, &markers);
    int people = take ? take->subject_count : 0, is_added = 1;
    if (!people)
        is_added = add_job(jobs, count, one) != NULL;
    for (int s = 0; s < people && is_added; s++) {
        solve_job *job = add_job(jobs, count, one);
        is_added = job && (job->own_subject = strdup(take->subjects[s]));
        if (is_added)
            job->subject = job->own_subject;
    }
    ulna_take_destroy(take);
    ulna_content_release(&markers);
    return is_added;
}

solve_job *solve_make_jobs(const cli *tool, const solve_job *pattern, int *count)
{
    solve_job *jobs = NULL, one = *pattern;
    int is_added = 1;
    for (int i = 0; solve_take(tool, i) && is_added; i++) {
        one.markers_path = solve_take(tool, i);
        is_added =
            cli_value(tool, "all-subjects") ? add_people(&jobs, count, &one) : add_job(&jobs, count, &one) != NULL;
    }
    for (int i = 0; i < *count && jobs && !is_added; i++)
        free(jobs[i].own_subject);
    if (!is_added) {
        free(jobs);
        *count = 0;
    }
    return is_added ? jobs : NULL;
}

/* ---- formats ------------------------------------------------------------------------------------------------- */

typedef struct endings {
    char names[ULNA_FORMAT_COUNT][8];
    int count;
} endings;

/* What goes with the skeleton's own file, or a table; where there is no such file, what holds the skeleton too. */
static const char *usual_ending(const solve_job *job)
{
    return job->is_unnamed                                                                         ? "bvh"
           : job->skeleton->format == ULNA_FORMAT_ASF                                              ? "amc"
           : job->skeleton->format == ULNA_FORMAT_BVH                                              ? "bvh"
           : job->skeleton->format == ULNA_FORMAT_GLB || job->skeleton->format == ULNA_FORMAT_GLTF ? "glb"
                                                                                                   : "csv";
}

static int read_formats(const cli *tool, const solve_job *job, endings *list)
{
    const char *text = cli_value(tool, "formats");
    int code = cli_check_formats(tool);
    for (const char *at = text ? text : usual_ending(job); *at && !code && list->count < ULNA_FORMAT_COUNT;
         at += *at == ',') {
        size_t length = strcspn(at, ",");
        snprintf(list->names[list->count++], sizeof *list->names, "%.*s", (int)length, at);
        at += length;
    }
    return code;
}

/* ---- names --------------------------------------------------------------------------------------------------- */

static int add_output(solve_job *job, char *path)
{
    char **grown = realloc(job->outputs, ((size_t)job->output_count + 1) * sizeof *grown);
    if (grown)
        job->outputs = grown;
    if (!grown || !path) {
        free(path);
        return cli_out_of_memory();
    }
    job->outputs[job->output_count++] = path;
    return CLI_DONE;
}

static int name_one(const cli *tool, solve_job *job, const char *value, const endings *list)
{
    int code = CLI_DONE;
    if (!*value)
        return cli_usage(tool, "-o needs the name of a file or a folder");
    if (!folder_is(value))
        return add_output(job, strdup(value));
    for (int k = 0; k < list->count && !code; k++)
        code = add_output(job, in_folder(value, job, list->names[k]));
    return code;
}

static int name_job(const cli *tool, solve_job *job, const endings *list)
{
    const char *report = cli_value(tool, "report");
    int code = CLI_DONE;
    for (int i = 0; i < tool->given_count && !code; i++)
        if (strcmp(tool->given[i]->name, "output") == 0)
            code = name_one(tool, job, tool->values[i], list);
    if (report && !code) {
        job->report_path = folder_is(report) ? in_folder(report, job, "html") : strdup(report);
        code = job->report_path ? CLI_DONE : cli_out_of_memory();
    }
    return code;
}

/* ---- nothing is overwritten that should not be ---------------------------------------------------------------- */

static const char *name_of(const solve_job *job, int index)
{
    return index < job->output_count ? job->outputs[index] : index == job->output_count ? job->report_path : NULL;
}

typedef struct named {
    const char *path, *take;
} named;

static int by_path(const void *a, const void *b)
{
    return strcmp(((const named *)a)->path, ((const named *)b)->path);
}

/* Names both takes, where two of them have the same name. */
static int check_takes(const cli *tool, const named *all, size_t total)
{
    for (size_t i = 1; i < total; i++) {
        struct stat about;
        int is_device = stat(all[i].path, &about) == 0 && !S_ISREG(about.st_mode); /* such as /dev/stdout */
        if (!is_device && strcmp(all[i].path, all[i - 1].path) == 0)
            return cli_usage(tool, "'%s' and '%s' would both be written to '%s': solve them one by one",
                             all[i - 1].take, all[i].take, all[i].path);
    }
    return CLI_DONE;
}

static int check_names(const cli *tool, const solve_job *jobs, int count)
{
    size_t total = 0, room = 1;
    for (int i = 0; i < count; i++)
        room += (size_t)jobs[i].output_count + 1;
    named *all = calloc(room, sizeof *all);
    const char **paths = calloc(room, sizeof *paths);
    int code = all && paths ? CLI_DONE : cli_out_of_memory();
    if (!code) {
        for (int i = 0; i < count; i++)
            for (int k = 0; name_of(&jobs[i], k); k++)
                all[total++] = (named){name_of(&jobs[i], k), jobs[i].markers_path};
        qsort(all, total, sizeof *all, by_path);
        for (size_t i = 0; i < total; i++)
            paths[i] = all[i].path;
        code = count > 1 ? check_takes(tool, all, total) : CLI_DONE;
        code = code ? code : cli_check_outputs(tool, paths, (int)total);
    }
    free(all);
    free(paths);
    return code;
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

static int names_a_place(const cli *tool, int i)
{
    return strcmp(tool->given[i]->name, "output") == 0 || strcmp(tool->given[i]->name, "report") == 0;
}

/* Folders where they are needed, and --formats only for them. */
static int check_places(const cli *tool, int count)
{
    int has_folder = 0;
    for (int i = 0; i < tool->given_count; i++) {
        if (!names_a_place(tool, i))
            continue;
        if (count > 1 && !folder_is(tool->values[i]))
            return cli_usage(tool, "'%s': with several takes this names a folder: '%s/'", tool->values[i],
                             tool->values[i]);
        has_folder |= strcmp(tool->given[i]->name, "output") == 0 && folder_is(tool->values[i]);
    }
    if (cli_value(tool, "formats") && !has_folder)
        return cli_usage(tool, "--formats goes with -o FOLDER/");
    return CLI_DONE;
}

int solve_name_outputs(const cli *tool, json_t *object, solve_job *jobs, int count)
{
    endings list = {.count = 0};
    int code = check_places(tool, count);
    if (!code)
        code = read_formats(tool, &jobs[0], &list);
    for (int i = 0; i < count && !code; i++)
        code = name_job(tool, &jobs[i], &list);
    if (!code)
        code = check_names(tool, jobs, count);
    for (int i = 0; i < tool->given_count && !code; i++)
        if (names_a_place(tool, i))
            code = folder_is(tool->values[i]) ? folder_make(object, tool->values[i])
                                              : folder_make_for(object, tool->values[i]);
    return code;
}
