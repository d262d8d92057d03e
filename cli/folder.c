/* Folders that files are written to. */
#include "cli/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *folder_join(const char *folder, const char *name)
{
    size_t size = strlen(folder) + strlen(name) + 2;
    char *path = malloc(size);
    int has_slash = *folder && folder[strlen(folder) - 1] == '/';
    if (path)
        snprintf(path, size, "%s%s%s", folder, has_slash ? "" : "/", name);
    return path;
}

int folder_make(const char *folder)
{
    char *path = strdup(folder);
    if (!path)
        return ENOMEM;
    int failure = 0;
    for (char *at = path; *at && !failure; at++) {
        at += strspn(at, "/");
        at += strcspn(at, "/");
        char slash = *at;
        *at = 0;
        struct stat state;
        if (mkdir(path, 0777) && (errno != EEXIST || stat(path, &state) || !S_ISDIR(state.st_mode)))
            failure = errno == EEXIST ? ENOTDIR : errno;
        *at = slash;
        if (!slash)
            break;
    }
    free(path);
    return failure;
}
