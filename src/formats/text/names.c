/* Names: a list that finds them again, and names that no body has yet. See names.h. */
#include "formats/text/names.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "formats/text/scan.h"

/* Seeded by where the slots lie: whenever they move, all names are entered again. */
static size_t slot_of(const ulna_names *names, const char *name)
{
    return ulna_hash(name, (uintptr_t)names->slot, 1) & (names->slot_count - 1);
}

ulna_names ulna_names_empty(const ulna_allocator *allocator)
{
    return (ulna_names){.allocator = ulna_allocator_or_default(allocator)};
}

void ulna_names_release(ulna_names *names)
{
    ulna_release(&names->allocator, names->text, names->text_capacity, 1);
    ulna_release(&names->allocator, names->start, names->capacity, sizeof *names->start);
    ulna_release(&names->allocator, names->slot, names->slot_count, sizeof *names->slot);
    *names = ulna_names_empty(&names->allocator);
}

static void enter(ulna_names *names, int index)
{
    size_t at = slot_of(names, ulna_names_at(names, index));
    while (names->slot[at])
        at = (at + 1) & (names->slot_count - 1);
    names->slot[at] = index + 1;
}

/* At most half of the slots are taken. */
static ulna_status make_slots(ulna_names *names)
{
    if (2 * (names->count + 1) <= names->slot_count)
        return ULNA_OK;
    size_t wanted = names->slot_count ? 2 * names->slot_count : 16;
    int *larger = ulna_allocate(&names->allocator, wanted, sizeof *larger);
    if (!larger)
        return ULNA_ERR_MEMORY;
    ulna_release(&names->allocator, names->slot, names->slot_count, sizeof *names->slot);
    names->slot = larger;
    names->slot_count = wanted;
    for (size_t i = 0; i < names->count; i++)
        enter(names, (int)i);
    return ULNA_OK;
}

ulna_status ulna_names_add(ulna_names *names, const char *name)
{
    size_t bytes = strlen(name) + 1;
    if (names->count >= INT_MAX / 2)
        return ULNA_ERR_LIMIT;
    void *text = names->text, *start = names->start;
    ulna_status status =
        ulna_grow(&names->allocator, &text, &names->text_capacity, names->text_count + bytes, sizeof *names->text);
    names->text = text;
    if (status == ULNA_OK)
        status = ulna_grow(&names->allocator, &start, &names->capacity, names->count + 1, sizeof *names->start);
    names->start = start;
    if (status == ULNA_OK)
        status = make_slots(names);
    if (status != ULNA_OK)
        return status;
    memcpy(names->text + names->text_count, name, bytes);
    names->start[names->count] = names->text_count;
    names->text_count += bytes;
    enter(names, (int)names->count++);
    return ULNA_OK;
}

static int find(const ulna_names *names, const char *name, int exactly)
{
    int like = -1, likes = 0;
    ulna_word word = {name, strlen(name)};
    size_t at = names->slot_count ? slot_of(names, name) : 0;
    for (; names->slot_count && names->slot[at]; at = (at + 1) & (names->slot_count - 1)) {
        int index = names->slot[at] - 1;
        if (strcmp(ulna_names_at(names, index), name) == 0)
            return index;
        if (!exactly && ulna_word_is_like(word, ulna_names_at(names, index))) {
            like = index;
            likes++;
        }
    }
    return likes == 1 ? like : -1;
}

int ulna_names_find(const ulna_names *names, const char *name)
{
    return find(names, name, 1);
}

int ulna_names_find_like(const ulna_names *names, const char *name)
{
    return find(names, name, 0);
}

/* ---- names of bodies ------------------------------------------------------------------------------------------------ */

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
