/* The files of the folder of recorded data: see support_recorded.h. */
#include "support_recorded.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static int by_name(const void *a, const void *b)
{
    return strcmp(a, b);
}

void ulna_test_recorded_add(ulna_test_recorded *list, const char *folder)
{
    char path[1024];
    DIR *open = opendir(ulna_test_path(path, sizeof path, ulna_test_data_dir(), folder));
    if (!open) {
        fail_msg("cannot open %s", path);
        return;
    }
    size_t first = list->count;
    for (struct dirent *entry; (entry = readdir(open));) {
        char name[ULNA_TEST_RECORDED_NAME];
        if (entry->d_name[0] == '.')
            continue;
        ulna_test_path(name, sizeof name, folder, entry->d_name);
        if (!strchr(entry->d_name, '.')) { /* all files there have an ending */
            ulna_test_recorded_add(list, name);
            continue;
        }
        list->names = realloc(list->names, (list->count + 1) * sizeof *list->names);
        assert_non_null(list->names);
        memcpy(list->names[list->count++], name, sizeof name);
    }
    closedir(open);
    qsort(list->names + first, list->count - first, sizeof *list->names, by_name);
}

void ulna_test_recorded_release(ulna_test_recorded *list)
{
    free(list->names);
    *list = (ulna_test_recorded){0};
}

/* "cmu/02_01.amc" is of "cmu/02.asf", "hdm05/HDM_dg_01-03_01_120.amc" of "hdm05/HDM_dg.asf". */
static void read_skeleton(const char *name, ulna_content *skeleton)
{
    char stem[ULNA_TEST_RECORDED_NAME], asf[ULNA_TEST_RECORDED_NAME + 8], path[1024];
    ulna_error error;
    snprintf(stem, sizeof stem, "%s", name);
    char *end = strchr(stem, '_');
    if (end && strncmp(name, "hdm05", 5) == 0)
        end = strchr(end + 1, '_');
    if (!end)
        fail_msg("%s: no skeleton is known for this name", name);
    else
        *end = 0;
    snprintf(asf, sizeof asf, "%s.asf", stem);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), asf);
    if (ulna_content_load(path, NULL, skeleton, &error) != ULNA_OK)
        fail_msg("%s: %s", path, error.message);
}

ulna_status ulna_test_recorded_read(const char *name, ulna_content *skeleton, ulna_content *content, ulna_error *error)
{
    char path[1024];
    *skeleton = ulna_content_empty(NULL);
    *content = ulna_content_empty(NULL);
    if (ulna_format_of_name(name) == ULNA_FORMAT_AMC)
        read_skeleton(name, skeleton);
    ulna_read_options options = ulna_read_options_for(skeleton->model ? skeleton : NULL);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), name);
    return ulna_content_load(path, &options, content, error);
}
