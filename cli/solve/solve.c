/* ulna solve: from recorded markers to joint values, one take or many. */
#include "cli/solve/solve.h"

#include <stdlib.h>

/* One take's own code; of several 1 if some failed, and the highest code if all of them did. */
static int code_of(const solve_job *jobs, int count)
{
    int highest = CLI_DONE, solved = 0;
    for (int i = 0; i < count; i++) {
        highest = jobs[i].code > highest ? jobs[i].code : highest;
        solved += jobs[i].is_solved;
    }
    return count > 1 && solved && highest ? CLI_PARTLY : highest;
}

static int run_jobs(const cli *tool, json_t *object, solve_job *jobs, int count, const solve_skeleton *skeleton,
                    solve_teller *tell)
{
    int code = CLI_DONE;
    for (int i = 0; i < count && !code; i++)
        code = solve_begin(&jobs[i], skeleton);
    if (!code)
        code = solve_check_outputs(tool, &jobs[0]);
    if (code)
        return code;
    solve_all(tool, jobs, count, tell);
    if (count == 1)
        json_object_update(object, jobs[0].object);
    json_t *list = count > 1 ? json_array() : NULL;
    for (int i = 0; list && i < count; i++)
        json_array_append(list, jobs[i].object);
    if (list)
        json_object_set_new(object, "takes", list);
    return code_of(jobs, count);
}

int solve_run(const cli *tool, json_t *object, solve_teller *tell)
{
    solve_job pattern = {0}, *jobs = NULL;
    solve_skeleton skeleton = {.file = ulna_content_empty(NULL)};
    ulna_error error;
    int count = 0, code = solve_read_options(tool, &pattern);
    if (code)
        return code;
    ulna_error_clear(&error);
    code = solve_load_skeleton(object, &pattern, &skeleton, &error);
    pattern.skeleton = &skeleton.file;
    if (!code) {
        jobs = solve_make_jobs(tool, &pattern, &count);
        code = jobs ? CLI_DONE : cli_out_of_memory();
    }
    if (!code)
        code = solve_name_outputs(tool, object, jobs, count);
    if (!code)
        code = run_jobs(tool, object, jobs, count, &skeleton, tell);
    for (int i = 0; i < count && jobs; i++)
        solve_release(&jobs[i]);
    free(jobs);
    solve_release_skeleton(&skeleton);
    return code;
}

int cli_solve(cli *tool)
{
    json_t *object = json_object();
    int code = solve_run(tool, object, solve_tell);
    if (code == CLI_USAGE) /* which is in JSON already */
        json_decref(object);
    else
        cli_json_print(tool, object);
    return code;
}
