/* What a stranger writes first; also compiled as C++. Prints the version, and fails if header and library disagree. */
#include <stdio.h>
#include <string.h>
#include <ulna/ulna.h>

int main(void)
{
    printf("ulna %s: %s\n", ulna_version(), ulna_status_text(ULNA_OK));
    return strcmp(ulna_version(), ULNA_VERSION_STRING) != 0;
}
