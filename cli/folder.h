/* folder.h: folders that files are written to. */
#ifndef ULNA_CLI_FOLDER_H
#define ULNA_CLI_FOLDER_H

/* mkdir -p. 0, or what went wrong, as errno has it. */
int folder_make(const char *folder);
/* "folder/name"; free() it. NULL without memory. */
char *folder_join(const char *folder, const char *name);

#endif
