/* Names that no body has yet: see body_name.h. */
#include "formats/text/body_name.h"

#include <stdio.h>
#include <string.h>

enum { NAME = ULNA_BODY_NAME, ROOM = 20 /* for a mark and a number */ };

static int is_taken(const ulna_builder *builder, const char *base, const char *mark, int number, char name[NAME])
{
    snprintf(name, NAME, "%.*s%.4s%d", NAME - ROOM, base, mark, number);
    return ulna_builder_find_body(builder, name) != ULNA_NONE;
}

/* Cut so that a number fits behind it, between characters of UTF-8. */
static void shorten(const char *base, char text[NAME])
{
    size_t length = strlen(base), most = NAME - ROOM;
    while (length > most && most > 0 && ((unsigned char)base[most] & 0xC0) == 0x80)
        most--;
    length = length > most ? most : length;
    memcpy(text, base, length);
    text[length] = 0;
}

/* By bisection: the numbers below were taken in turn, and a file may have any number of bodies of one name. */
int ulna_free_body_name(const ulna_builder *builder, const char *base, const char *mark, char name[NAME])
{
    char start[NAME];
    int taken = 1, vacant = 2;
    if (strlen(base) < NAME && ulna_builder_find_body(builder, base) == ULNA_NONE) {
        memcpy(name, base, strlen(base) + 1);
        return 1;
    }
    shorten(base, start);
    while (is_taken(builder, start, mark, vacant, name)) {
        taken = vacant;
        vacant *= 2;
    }
    while (vacant - taken > 1) {
        int middle = taken + (vacant - taken) / 2;
        *(is_taken(builder, start, mark, middle, name) ? &taken : &vacant) = middle;
    }
    is_taken(builder, start, mark, vacant, name);
    return 0;
}
