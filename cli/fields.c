/* Tables as text. */
#include "cli/fields.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

char *fields_trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length && isspace((unsigned char)text[length - 1]))
        text[--length] = 0;
    return text;
}

char *fields_line(char **next, int *number)
{
    while (*next) {
        char *line = *next;
        *next = strchr(line, '\n');
        if (*next)
            *(*next)++ = 0;
        ++*number;
        line = fields_trim(line);
        if (*line && *line != '#')
            return line;
    }
    return NULL;
}

int fields_split(char *line, const char *separators, char **fields, int most)
{
    int count = 0;
    for (char *next = line; next; count++) {
        char *field = next;
        next = strpbrk(field, separators);
        if (count == most)
            return most + 1;
        if (next)
            *next++ = 0;
        fields[count] = fields_trim(field);
    }
    return count;
}
