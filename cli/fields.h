/* fields.h: tables as text: lines, and their fields. Both cut the text in place. */
#ifndef ULNA_CLI_FIELDS_H
#define ULNA_CLI_FIELDS_H

/* The text without blanks at its ends. */
char *fields_trim(char *text);
/* The next line that is neither empty nor a comment (#), trimmed; NULL at the end. `next` goes on, `number` counts all lines. */
char *fields_line(char **next, int *number);
/* Cuts a line at each of the `separators`; returns the number of fields, `most` + 1 if there are more. */
int fields_split(char *line, const char *separators, char **fields, int most);

#endif
