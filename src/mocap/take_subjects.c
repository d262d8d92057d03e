/*
 * Several people in one recording. Their markers have the same names behind different prefixes, "Anna:LKNE" and "Bert:LKNE"; a
 * prop has a prefix too, but names of its own. A take uses the markers of one person: the names of all others become empty in a
 * copy of the list of names, so that nothing finds them. Positions are not copied.
 */
#include <stdio.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/take.h"

enum { SHARED = 3 }; /* names that two people have in common at least */

typedef struct crowd {
    const ulna_recording *recording;
    int *order;   /* marker_count */
    int *subject; /* marker_count: number of the prefix, by the alphabet */
    int *
        shared; /* marker_count, by number of the prefix: names that another one has too; then its number as a subject */
    int *first; /* marker_count, by number of the prefix: a marker that has it */
    int prefixes;
} crowd;

/* ---- names -------------------------------------------------------------------------------------------------------------- */

/* Its length: 0 for "LKNE", 4 for "Anna:LKNE". */
static size_t prefix_length(const char *name)
{
    size_t length = (size_t)(ulna_name_without_prefix(name) - name);
    return length ? length - 1 : 0;
}

static int compare_prefixes(const char *a, const char *b)
{
    size_t m = prefix_length(a), n = prefix_length(b);
    int order = strncmp(a, b, m < n ? m : n);
    return order ? order : (m > n) - (m < n);
}

static int by_prefix(const void *a, const void *b, const void *context)
{
    const crowd *c = context;
    int i = *(const int *)a, j = *(const int *)b;
    int order = compare_prefixes(c->recording->names[i], c->recording->names[j]);
    return order ? order : (i > j) - (i < j);
}

static int by_own_name(const void *a, const void *b, const void *context)
{
    const crowd *c = context;
    int i = *(const int *)a, j = *(const int *)b;
    int order = ulna_compare_names(ulna_name_without_prefix(c->recording->names[i]),
                                   ulna_name_without_prefix(c->recording->names[j]));
    order = order ? order : (c->subject[i] > c->subject[j]) - (c->subject[i] < c->subject[j]);
    return order ? order : (i > j) - (i < j);
}

/* ---- who is there ------------------------------------------------------------------------------------------------------- */

static void number_prefixes(crowd *c)
{
    int count = c->recording->marker_count;
    for (int i = 0; i < count; i++)
        c->order[i] = i;
    ulna_sort(c->order, (size_t)count, sizeof *c->order, by_prefix, c);
    for (int i = 0; i < count; i++) {
        int m = c->order[i];
        if (!i || compare_prefixes(c->recording->names[c->order[i - 1]], c->recording->names[m]) != 0)
            c->first[c->prefixes++] = m;
        c->subject[m] = c->prefixes - 1;
    }
}

/* Names that several prefixes have. */
static void count_shared(crowd *c)
{
    int count = c->recording->marker_count;
    ulna_sort(c->order, (size_t)count, sizeof *c->order, by_own_name, c);
    for (int begin = 0, end; begin < count; begin = end) {
        const char *name = ulna_name_without_prefix(c->recording->names[c->order[begin]]);
        for (end = begin + 1; end < count; end++)
            if (ulna_compare_names(name, ulna_name_without_prefix(c->recording->names[c->order[end]])) != 0)
                break;
        int is_shared = c->subject[c->order[begin]] != c->subject[c->order[end - 1]];
        for (int i = begin; i < end && is_shared && *name; i++) {
            int s = c->subject[c->order[i]];
            c->shared[s] += i == begin || s != c->subject[c->order[i - 1]];
        }
    }
}

static ulna_status list_subjects(ulna_take *take, crowd *c)
{
    int count = 0;
    for (int p = 0; p < c->prefixes; p++)
        count += c->shared[p] >= SHARED;
    if (count < 2)
        return ULNA_OK;
    take->subjects = ulna_allocate(&take->allocator, (size_t)count, sizeof *take->subjects);
    if (!take->subjects)
        return ULNA_ERR_MEMORY;
    take->subject_count = count;
    for (int p = 0, s = 0; p < c->prefixes; p++) {
        int is_person = c->shared[p] >= SHARED;
        const char *name = c->recording->names[c->first[p]];
        if (is_person)
            snprintf(take->subjects[s], ULNA_MARKER_NAME, "%.*s", (int)prefix_length(name), name);
        c->shared[p] = is_person ? s++ : ULNA_NONE;
    }
    return ULNA_OK;
}

/* ---- the one that is used ------------------------------------------------------------------------------------------------ */

/* The subject whose names the set has, if they are those of one only. */
static int subject_of_set(const ulna_take *take, const ulna_marker_set *set)
{
    int found = ULNA_NONE;
    for (size_t i = 0; set && i < set->count; i++)
        for (int s = 0; s < take->subject_count; s++) {
            size_t length = prefix_length(set->items[i].marker);
            if (!length || strlen(take->subjects[s]) != length ||
                strncmp(take->subjects[s], set->items[i].marker, length) != 0)
                continue;
            if (found != ULNA_NONE && found != s)
                return ULNA_NONE;
            found = s;
        }
    return found;
}

enum { LIST = 120 }; /* bytes of a list of names in a message */

static void add_to_list(char list[LIST], const char *name)
{
    size_t used = strlen(list);
    if (used < LIST - 40)
        snprintf(list + used, LIST - used, "%s'%.30s'", used ? ", " : "", name);
}

static ulna_status fail_subject(const char *name, const char *list, ulna_error *error)
{
    return ulna_fail(error, ULNA_ERR_ARGUMENT, "the recording has no subject '%.40s'; it has %s", name, list);
}

static ulna_status find_subject(ulna_take *take, const char *name, ulna_error *error)
{
    for (int exact = 1; exact >= 0; exact--)
        for (int s = 0; s < take->subject_count; s++)
            if ((exact ? strcmp(take->subjects[s], name) : ulna_compare_names(take->subjects[s], name)) == 0) {
                take->subject = s;
                return ULNA_OK;
            }
    char list[LIST] = "";
    for (int s = 0; s < take->subject_count; s++)
        add_to_list(list, take->subjects[s]);
    return fail_subject(name, list, error);
}

/* In a recording of one person: names without a prefix may be anybody's. If all have one, it must be this. */
static ulna_status check_only_subject(const crowd *c, const char *name, ulna_error *error)
{
    char list[LIST] = "", prefix[ULNA_MARKER_NAME];
    for (int m = 0; m < c->recording->marker_count; m++) {
        const char *marker = c->recording->names[m];
        if (!prefix_length(marker) && *marker && *marker != '*') /* '*': unlabelled */
            return ULNA_OK;
    }
    for (int p = 0; p < c->prefixes; p++) {
        const char *marker = c->recording->names[c->first[p]];
        snprintf(prefix, sizeof prefix, "%.*s", (int)prefix_length(marker), marker);
        if (ulna_compare_names(prefix, name) == 0)
            return ULNA_OK;
        if (*prefix)
            add_to_list(list, prefix);
    }
    return *list ? fail_subject(name, list, error) : ULNA_OK;
}

static ulna_status hide_others(ulna_take *take, const crowd *c)
{
    size_t count = (size_t)take->recording->marker_count;
    char(*names)[ULNA_MARKER_NAME] = ulna_allocate(&take->allocator, count, sizeof *names);
    if (!names)
        return ULNA_ERR_MEMORY;
    for (size_t m = 0; m < count; m++) {
        int s = c->shared[c->subject[m]];
        if (s == ULNA_NONE || s == take->subject)
            memcpy(names[m], take->recording->names[m], ULNA_MARKER_NAME);
    }
    take->one_subject = *take->recording;
    take->one_subject.names = names;
    take->recording = &take->one_subject;
    return ULNA_OK;
}

static ulna_status choose(ulna_take *take, const ulna_take_options *o, crowd *c, ulna_error *error)
{
    number_prefixes(c);
    count_shared(c);
    if (list_subjects(take, c) != ULNA_OK)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for the subjects");
    if (!take->subject_count)
        return o->subject ? check_only_subject(c, o->subject, error) : ULNA_OK;
    take->subject = subject_of_set(take, o->set);
    if (o->subject) {
        ulna_status status = find_subject(take, o->subject, error);
        if (status != ULNA_OK)
            return status;
    } else if (take->subject == ULNA_NONE) {
        take->subject = 0;
        take->doubts |= ULNA_DOUBT_SUBJECTS;
    }
    return hide_others(take, c) ? ulna_fail(error, ULNA_ERR_MEMORY, "no memory for the names of markers") : ULNA_OK;
}

ulna_status ulna_take_choose_subject(ulna_take *take, const ulna_take_options *options, ulna_error *error)
{
    size_t count = (size_t)take->recording->marker_count;
    crowd c = {.recording = take->recording};
    int *memory = ulna_allocate(&take->allocator, 4 * count, sizeof *memory);
    if (!memory)
        return count ? ulna_fail(error, ULNA_ERR_MEMORY, "no memory for the names of markers") : ULNA_OK;
    c.order = memory;
    c.subject = memory + count;
    c.shared = memory + 2 * count;
    c.first = memory + 3 * count;
    ulna_status status = choose(take, options, &c, error);
    ulna_release(&take->allocator, memory, 4 * count, sizeof *memory);
    return status;
}
