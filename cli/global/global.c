/* ulna global: the best pose of all, and how far that is proven. */
#include "cli/global/global.h"

static int run(const cli *tool, json_t *object, global_job *job)
{
    ulna_error error;
    ulna_error_clear(&error);
    int code = global_load(tool, object, job);
    if (!code)
        code = global_check_outputs(tool, job);
    if (code)
        return code;
    if (global_run(tool, job, &error))
        return files_fail(object, job->has_take ? job->take.markers_path : job->skeleton_path, &error);
    global_add_results(object, job);
    global_print(tool, job);
    code = global_write_outputs(tool, object, job);
    json_object_set(object, "notes", job->notes);
    files_print_notes(tool, job->notes);
    return code;
}

int cli_global(cli *tool)
{
    global_job job = {.skeleton = {.file = ulna_content_empty(NULL)}};
    int code = global_read_options(tool, &job);
    if (code)
        return code;
    json_t *object = json_object();
    code = run(tool, object, &job);
    if (code == CLI_USAGE) /* which was told in JSON already */
        json_decref(object);
    else
        cli_json_print(tool, object);
    global_release(&job);
    return code;
}
