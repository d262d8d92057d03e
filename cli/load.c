/* Models that commands are given: files, or skeletons that are built in. */
#include "cli/cli.h"

#include <string.h>
#include <unistd.h>

#include "ulna/sample.h"

static int is_sample(const char *name)
{
    for (int i = 0; ulna_sample_name(i); i++)
        if (strcmp(ulna_sample_name(i), name) == 0)
            return 1;
    return 0;
}

ulna_status cli_load_model(const char *name, ulna_model **model, ulna_error *error)
{
    *model = NULL;
    if (is_sample(name) && access(name, F_OK) != 0)
        return ulna_sample_create(name, NULL, model, error);
    ulna_text text = ulna_text_empty(NULL);
    ulna_format format;
    ulna_status status = cli_read_file(name, &text, &format, error);
    if (!status)
        status = ulna_model_read(text.data, text.length, NULL, model, error);
    ulna_text_release(&text);
    return status;
}
