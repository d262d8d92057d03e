/* The overview page of a batch: subjects and their takes, the worst first, with links to the reports. */
#include <stdlib.h>
#include <string.h>

#include "cli/batch/batch.h"
#include "ulna/ulna.h"

extern const char overview_html[], overview_css[];

typedef struct overview {
    const json_t **rows; /* the worst first */
    int count;
    const json_t *counts;
    const char **subjects; /* the worst first */
    int subject_count;
} overview;

/* ---- order -------------------------------------------------------------------------------------------------------------------------- */

static const char *text_of(const json_t *row, const char *key)
{
    const char *text = json_string_value(json_object_get(row, key));
    return text ? text : "";
}

static double number_of(const json_t *row, const char *key)
{
    return json_number_value(json_object_get(row, key));
}

/* Of all frames: lost and doubtful ones. */
static double bad_share(const json_t *row)
{
    double frames = number_of(row, "frames");
    return frames > 0 ? (number_of(row, "lost") + number_of(row, "doubtful")) / frames : 0;
}

static int by_badness(const void *a, const void *b)
{
    const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
    int ranks = results_rank(x) - results_rank(y);
    double shares = bad_share(y) - bad_share(x), errors = number_of(y, "rms_mm") - number_of(x, "rms_mm");
    if (ranks)
        return ranks;
    if (shares != 0)
        return shares > 0 ? 1 : -1;
    if (errors != 0)
        return errors > 0 ? 1 : -1;
    return strcmp(text_of(x, "take"), text_of(y, "take"));
}

/* In the order of their worst takes. */
static void list_subjects(overview *page)
{
    for (int i = 0; i < page->count; i++) {
        const char *subject = text_of(page->rows[i], "subject");
        int is_new = 1;
        for (int k = 0; k < page->subject_count && is_new; k++)
            is_new = strcmp(page->subjects[k], subject) != 0;
        if (is_new)
            page->subjects[page->subject_count++] = subject;
    }
}

/* ---- parts ---------------------------------------------------------------------------------------------------------------------------- */

static void put_style(markup *page, const void *about)
{
    (void)about;
    markup_put(page, page_css);
    markup_put(page, overview_css);
}

static void put_version(markup *page, const void *about)
{
    (void)about;
    markup_put(page, ulna_version());
}

/* A relative address: what has a meaning there is written as %XX. */
static void put_address(markup *page, const char *path)
{
    for (; *path; path++) {
        unsigned char byte = (unsigned char)*path;
        int is_plain = (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || (byte >= '0' && byte <= '9') ||
                       strchr("/-_.~", *path) != NULL;
        markup_format(page, is_plain ? "%c" : "%%%02X", byte);
    }
}

/* The file with this ending; NULL: none. */
static const char *file_of(const json_t *row, const char *ending)
{
    size_t i;
    json_t *file;
    json_array_foreach(json_object_get(row, "files"), i, file)
    {
        const char *name = text_of(file, "file"), *dot = strrchr(name, '.');
        if (dot && strcmp(dot, ending) == 0)
            return name;
    }
    return NULL;
}

/* A name that may be wrapped after its parts. */
static void put_name(markup *page, const char *name)
{
    while (*name) {
        char part[64];
        size_t length = strcspn(name, "/_"), most = sizeof part - 1;
        length += name[length] != 0;
        if (length > most)
            for (length = most; length > 1 && ((unsigned char)name[length] & 0xC0) == 0x80;) /* whole characters */
                length--;
        snprintf(part, sizeof part, "%.*s", (int)length, name);
        markup_escape(page, part);
        name += length;
        if (*name && strchr("/_", name[-1]))
            markup_put(page, "<wbr/>");
    }
}

static void put_facts(markup *page, const void *about)
{
    static const char *const keys[][2] = {{"takes", "takes"},           {"done", "solved"},
                                          {"failed", "failed"},         {"missing", "not yet solved"},
                                          {"trust", "can be trusted"},  {"look", "to look at"},
                                          {"reject", "not to be used"}, {"frames", "frames"}};
    const json_t *counts = ((const overview *)about)->counts;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        markup_format(page, "<div class=\"%s\"><dt>%s</dt><dd>%lld</dd></div>\n", keys[i][0], keys[i][1],
                      (long long)json_integer_value(json_object_get(counts, keys[i][0])));
}

static void put_cell(markup *page, const json_t *row)
{
    const char *report = file_of(row, ".html");
    markup_format(page, report ? "<a class=\"%s\" href=\"" : "<span class=\"%s\"", results_state(row));
    if (report) {
        put_address(page, report);
        markup_put(page, "\"");
    }
    markup_put(page, " title=\"");
    markup_escape(page, text_of(row, "take"));
    if (json_object_get(row, "rms_mm"))
        markup_format(page, ": %s, %.1f mm", results_words(row), number_of(row, "rms_mm"));
    else
        markup_format(page, ": %s", results_words(row));
    markup_put(page, report ? "\"></a>" : "\"></span>");
}

static void put_subjects(markup *page, const void *about)
{
    const overview *o = about;
    for (int s = 0; s < o->subject_count; s++) {
        int takes = 0;
        double errors = 0;
        int solved = 0;
        markup_put(page, "<tr><td>");
        put_name(page, o->subjects[s]);
        markup_put(page, "</td><td class=\"map\">");
        for (int i = 0; i < o->count; i++) {
            if (strcmp(text_of(o->rows[i], "subject"), o->subjects[s]) != 0)
                continue;
            put_cell(page, o->rows[i]);
            takes++;
            solved += json_object_get(o->rows[i], "rms_mm") != NULL;
            errors += number_of(o->rows[i], "rms_mm");
        }
        markup_format(page, "</td><td>%d</td><td>", takes);
        if (solved)
            markup_format(page, "%.1f", errors / solved);
        markup_put(page, "</td></tr>\n");
    }
}

static void put_number_cell(markup *page, const json_t *row, const char *key, int decimals)
{
    const json_t *value = json_object_get(row, key);
    if (json_is_number(value))
        markup_format(page, "<td>%.*f</td>", decimals, json_number_value(value));
    else
        markup_put(page, "<td></td>");
}

/* By their endings; without `ending`, which has its link already. */
static void put_links(markup *page, const json_t *files, const char *ending)
{
    size_t i;
    json_t *file;
    json_array_foreach(files, i, file)
    {
        const char *name = text_of(file, "file"), *dot = strrchr(name, '.');
        if (!dot || strcmp(dot, ending) == 0)
            continue;
        markup_put(page, "<a href=\"");
        put_address(page, name);
        markup_put(page, "\">");
        markup_escape(page, dot + 1);
        markup_put(page, "</a> ");
    }
}

static void put_take(markup *page, const json_t *row)
{
    const char *report = file_of(row, ".html");
    const json_t *older = json_object_get(row, "older_files");
    markup_format(page, "<tr class=\"%s\"><td>", results_state(row));
    if (report) {
        markup_put(page, "<a href=\"");
        put_address(page, report);
        markup_put(page, "\">");
    }
    put_name(page, text_of(row, "take"));
    markup_put(page, report ? "</a></td><td>" : "</td><td>");
    put_name(page, text_of(row, "subject"));
    markup_format(page, "</td><td>%s</td>", results_words(row));
    put_number_cell(page, row, "frames", 0);
    put_number_cell(page, row, "rms_mm", 2);
    put_number_cell(page, row, "rms_max_mm", 2);
    put_number_cell(page, row, "lost", 0);
    put_number_cell(page, row, "doubtful", 0);
    put_number_cell(page, row, "seconds", 2);
    markup_put(page, "<td>");
    put_links(page, json_object_get(row, "files"), ".html");
    markup_put(page, older ? "older: " : "");
    put_links(page, older, "");
    markup_put(page, "</td><td>");
    if (json_is_true(json_object_get(row, "placed_anew")))
        markup_format(page, "its markers were placed anew%s", *text_of(row, "message") ? "; " : "");
    else if (strcmp(text_of(row, "calibrated_on"), "take") == 0)
        markup_format(page, "calibrated by itself%s", *text_of(row, "message") ? "; " : "");
    markup_escape(page, text_of(row, "message"));
    markup_put(page, "</td></tr>\n");
}

static void put_takes(markup *page, const void *about)
{
    const overview *o = about;
    for (int i = 0; i < o->count; i++)
        put_take(page, o->rows[i]);
}

/* ---- all of it ------------------------------------------------------------------------------------------------------------------------ */

ulna_status overview_write(const char *output, const json_t *rows, const json_t *counts, ulna_error *error)
{
    /* clang-format off */
    static const markup_part parts[] = {
        {"style", put_style},
        {"facts", put_facts},
        {"subjects", put_subjects},
        {"takes", put_takes},
        {"version", put_version},
        {0},
    };
    /* clang-format on */
    size_t count = json_array_size(rows);
    char *path = folder_join(output, "index.html");
    overview about = {.count = (int)count, .counts = counts};
    about.rows = calloc(count + 1, sizeof *about.rows);
    about.subjects = calloc(count + 1, sizeof *about.subjects);
    ulna_status status = ULNA_ERR_MEMORY;
    if (path && about.rows && about.subjects) {
        markup page;
        for (size_t i = 0; i < count; i++)
            about.rows[i] = json_array_get(rows, i);
        qsort(about.rows, count, sizeof *about.rows, by_badness);
        list_subjects(&about);
        markup_init(&page);
        markup_fill(&page, overview_html, parts, &about);
        status = markup_write(&page, path, error);
        markup_release(&page);
    } else
        cli_fail(error, status, "out of memory");
    free(about.rows);
    free(about.subjects);
    free(path);
    return status;
}
