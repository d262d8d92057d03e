/*
 * Manifests: CSV tables of takes.
 *
 *     take,skeleton,attach,subject,options,name
 *     walk.c3d,anna.asf,anna.csv,Anna,--frames 100:900,
 *
 * The heading names the columns, in any order; only `take` is needed. Files are beside the manifest or have absolute names. Empty
 * cells take what the command line says. A plan is written as such a table.
 */
#define _XOPEN_SOURCE 700 /* realpath */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/batch/batch.h"
#include "src/base/algorithms.h"

enum { TAKE, SKELETON, ATTACH, SUBJECT, OPTIONS, NAME, COLUMNS };
static const char *const titles[COLUMNS + 1] = {"take", "skeleton", "attach", "subject", "options", "name"};

/* ---- lines ------------------------------------------------------------------------------------------------------------ */

int table_is_formula(const char *field)
{
    const char first = field[strspn(field, "'")];
    return first && strchr("=+-@\t\r", first);
}

void table_put_field(markup *text, const char *field, int is_last)
{
    markup_put_cell(text, table_is_formula(field) ? "'" : "", field);
    markup_put(text, is_last ? "\n" : ",");
}

/* One field, which ends before `*stop`; NULL if its quote is open. */
static char *take_field(char **at, char *stop, int *line)
{
    char *from = *at, *to, *field;
    while (*from == ' ' || *from == '\t')
        from++;
    if (*from != '"') {
        field = from;
        from += strcspn(from, ",;\r\n");
        *stop = *from;
        *at = from + (*from != 0);
        *from = 0;
        fields_trim_end(field);
        return field;
    }
    for (field = to = ++from; *from != '"' || from[1] == '"'; from++) {
        if (!*from)
            return NULL;
        from += *from == '"';
        *line += *from == '\n';
        *to++ = *from;
    }
    from++;
    from += strspn(from, " \t");
    *stop = *from;
    *at = from + (*from != 0);
    *to = 0;
    return *stop && !strchr(",;\r\n", *stop) ? NULL : field;
}

/* Splits a record of CSV in place, quotes removed; returns the number of fields, `most` + 1 if there are more, -1 if a quote is
 * not closed. `next` goes on to the next record; `line` counts lines, which quotes may contain. */
static int split_record(char **next, char **fields, int most, int *line)
{
    int count = 0;
    char stop = ',';
    for (++*line; stop == ',' || stop == ';'; count++) {
        char *field = take_field(next, &stop, line);
        if (!field)
            return -1;
        if (count < most)
            fields[count] = *field == '\'' && table_is_formula(field) ? field + 1 : field;
    }
    if (stop == '\r' && **next == '\n')
        ++*next;
    return count > most ? most + 1 : count;
}

/* ---- reading ---------------------------------------------------------------------------------------------------------- */

static int find_column(const char *title)
{
    int found = 0;
    while (found < COLUMNS && strcasecmp(titles[found], title) != 0)
        found++;
    return found;
}

static ulna_status refuse_column(const char *title, ulna_error *error)
{
    char lower[40];
    snprintf(lower, sizeof lower, "%s", title);
    for (char *at = lower; *at; at++)
        *at = (char)ulna_lower((unsigned char)*at);
    const char *nearest = ulna_nearest_name(lower, titles, sizeof *titles);
    if (nearest)
        return cli_fail(error, ULNA_ERR_PARSE, "there is no column '%.40s'; did you mean '%s'?", title, nearest);
    return cli_fail(error, ULNA_ERR_PARSE,
                    "there is no column '%.40s'; the heading names take, skeleton, attach, subject, options, name, or "
                    "some of them",
                    title);
}

/* Which column each field is. */
static ulna_status read_heading(char **next, int *columns, int *count, int *line, ulna_error *error)
{
    char *fields[COLUMNS];
    int has_take = 0;
    *count = split_record(next, fields, COLUMNS, line);
    for (int i = 0; i < *count && *count <= COLUMNS; i++) {
        columns[i] = find_column(fields[i]);
        if (columns[i] == COLUMNS)
            return refuse_column(fields[i], error);
        has_take |= columns[i] == TAKE;
    }
    if (*count < 1 || *count > COLUMNS || !has_take)
        return cli_fail(error, ULNA_ERR_PARSE,
                        "the first line of a manifest names its columns: take, and any of skeleton, attach, subject, "
                        "options, name");
    return ULNA_OK;
}

/* A file of the manifest, or a word such as the name of a built-in skeleton, unless there is such a file. */
static char *resolve(const char *folder, const char *name)
{
    struct stat about;
    char *path = *name == '/' || !*folder ? strdup(name) : folder_join(folder, name);
    if (path && *name != '/' && !strpbrk(name, "./") && (stat(path, &about) != 0 || !S_ISREG(about.st_mode))) {
        free(path);
        path = strdup(name);
    }
    return path;
}

/* Where outputs go: as the recording lies below the manifest, or by subject. */
static char *make_name(const char *take, const char *subject)
{
    const char *slash = strrchr(take, '/'), *base = slash ? slash + 1 : take, *dot = strrchr(base, '.');
    int is_below = *take != '/' && !strstr(take, "..");
    const char *from = is_below ? take + (strncmp(take, "./", 2) == 0 ? 2 : 0) : base;
    size_t length = dot && dot > base ? (size_t)(dot - from) : strlen(from);
    char *stem = strndup(from, length);
    char *name = stem && !is_below && *subject ? folder_join(subject, stem) : NULL;
    if (!name)
        return stem;
    free(stem);
    return name;
}

/* A manifest that is being read. */
typedef struct manifest {
    const char *path, *folder; /* files are relative to the folder */
    int is_own;                /* OUT/plan.csv, whose lines its user did not write */
    const batch_common *common;
    batch_plan *plan;
    const json_t *reasons; /* of is_own: why takes have no skeleton, by name */
} manifest;

int plan_is_own(const char *output, const char *path)
{
    char *plan = folder_join(output, "plan.csv"), *whole = plan ? realpath(plan, NULL) : NULL;
    char *given = realpath(path, NULL); /* names, as other shards may just be putting a new file there */
    int is_same = whole && given && strcmp(whole, given) == 0;
    free(plan);
    free(whole);
    free(given);
    return is_same;
}

static int set_place(batch_take *take, const char *path, int line)
{
    size_t size = strlen(path) + 16;
    char *place = malloc(size);
    if (place)
        snprintf(place, size, "%s:%d", path, line);
    int is_set = place && plan_set(&take->place, place);
    free(place);
    return is_set;
}

static int add_row(const manifest *m, int line, char *const cells[COLUMNS])
{
    char *name = *cells[NAME] ? strdup(cells[NAME]) : make_name(cells[TAKE], cells[SUBJECT]);
    const char *folder = m->folder;
    const batch_common *common = m->common;
    char *path = resolve(folder, cells[TAKE]);
    batch_take *take = name && path ? plan_add(m->plan, name, path) : NULL;
    char *skeleton = *cells[SKELETON]   ? resolve(folder, cells[SKELETON])
                     : common->skeleton ? strdup(common->skeleton)
                                        : strdup("");
    char *attach = *cells[ATTACH]   ? resolve(folder, cells[ATTACH])
                   : common->attach ? strdup(common->attach)
                                    : strdup("");
    int is_added = take && skeleton && attach && plan_set(&take->skeleton, skeleton) &&
                   plan_set(&take->attach, attach) && plan_set(&take->subject, cells[SUBJECT]) &&
                   (m->is_own || set_place(take, m->path, line));
    if (is_added) {
        take->line = line;
        size_t size = strlen(cells[OPTIONS]) + strlen(common->words ? common->words : "") + 2;
        char *words = malloc(size);
        if (words)
            snprintf(words, size, "%s%s%s", common->words ? common->words : "",
                     common->words && *common->words && *cells[OPTIONS] ? " " : "", cells[OPTIONS]);
        is_added = words && plan_set(&take->words, words);
        free(words);
    }
    const char *reason = json_string_value(json_object_get(m->reasons, name));
    if (is_added && !*take->skeleton && reason)
        plan_complain(take, "argument", "%s", reason);
    free(name);
    free(path);
    free(skeleton);
    free(attach);
    return is_added;
}

static ulna_status read_rows(const manifest *m, char *next, ulna_error *error)
{
    int columns[COLUMNS], count = 0, line = 0;
    ulna_status status = read_heading(&next, columns, &count, &line, error);
    while (status == ULNA_OK && *next) {
        char *fields[COLUMNS], *cells[COLUMNS];
        char empty[] = "";
        int begun = line + 1;
        if (*next == '#') { /* a comment */
            next += strcspn(next, "\n");
            next += *next == '\n';
            line++;
            continue;
        }
        int found = split_record(&next, fields, COLUMNS, &line);
        if (found == 1 && !*fields[0])
            continue;
        for (int i = 0; i < COLUMNS; i++)
            cells[i] = empty;
        for (int i = 0; i < found && i < count && found <= count; i++)
            cells[columns[i]] = fields[i];
        if (found < 0)
            status = cli_fail(error, ULNA_ERR_PARSE, "a quote is not closed, or something follows it");
        else if (found > count)
            status = cli_fail(error, ULNA_ERR_PARSE, "more cells than the %d columns of the heading", count);
        else if (!*cells[TAKE])
            status = cli_fail(error, ULNA_ERR_PARSE, "the take is missing in this line");
        else if (!add_row(m, begun, cells))
            status = cli_no_memory(error);
        if (status != ULNA_OK)
            error->line = begun;
    }
    return status;
}

static ulna_status read_table(const manifest *m, char *text, ulna_error *error)
{
    text += strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
    if (!text[strspn(text, " \t\r\n")])
        return cli_fail(error, ULNA_ERR_PARSE,
                        "the manifest is empty: its first line names the columns, such as take,skeleton, and each line "
                        "below it is a take");
    ulna_status status = read_rows(m, text, error);
    if (status == ULNA_OK && !m->plan->count)
        return cli_fail(
            error, ULNA_ERR_PARSE,
            "the manifest has a heading, but no take below it: add a line for each take, or name the folder "
            "of the recordings instead of a manifest");
    return status;
}

/* A manifest without any is meant to be solved with the built-in human; one that names some lacks another. */
static void complain_of_missing_skeletons(const batch_plan *plan)
{
    int named = 0;
    for (int i = 0; i < plan->count; i++)
        named += *plan->takes[i].skeleton != 0;
    for (int i = 0; i < plan->count; i++)
        if (!*plan->takes[i].skeleton && (named || *plan->takes[i].attach))
            plan_complain(
                &plan->takes[i], "argument",
                "the manifest names no skeleton for it: fill in its column skeleton, or give one with --skeleton");
}

static ulna_status check_source(const char *path, ulna_error *error)
{
    struct stat about;
    ulna_format format = ulna_format_of_name(path);
    if (stat(path, &about) != 0 && errno == ENOENT)
        return cli_fail(error, ULNA_ERR_IO, "there is no folder or manifest of this name");
    if (format == ULNA_FORMAT_C3D || format == ULNA_FORMAT_TRC)
        return cli_fail(error, ULNA_ERR_PARSE, "this is a recording: give its folder, or use `ulna solve`");
    return ULNA_OK;
}

int plan_manifest(json_t *object, const char *path, const batch_common *common, batch_plan *plan)
{
    enum { MOST = 1 << 28 };
    ulna_error error;
    ulna_text text = ulna_text_empty(NULL);
    char nothing[] = "";
    ulna_error_clear(&error);
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup("");
    ulna_status status = folder ? check_source(path, &error) : cli_no_memory(&error);
    if (status == ULNA_OK)
        status = ulna_file_read(path, MOST, &text, &error);
    if (status == ULNA_OK && text.data && memchr(text.data, 0, text.length))
        status = cli_fail(&error, ULNA_ERR_PARSE, "a manifest is a table of takes in CSV, which this is not");
    int is_own = plan->is_own = plan_is_own(common->output, path);
    json_t *reasons = is_own ? plan_load_reasons(common->output) : NULL;
    const manifest m = {
        .path = path, .folder = folder, .is_own = is_own, .common = common, .plan = plan, .reasons = reasons};
    if (status == ULNA_OK)
        status = read_table(&m, text.data ? text.data : nothing, &error);
    if (status == ULNA_OK && !is_own)
        complain_of_missing_skeletons(plan);
    ulna_text_release(&text);
    json_decref(reasons);
    free(folder);
    return status != ULNA_OK ? files_fail(object, path, &error) : CLI_DONE;
}

/* ---- writing ---------------------------------------------------------------------------------------------------------- */

ulna_status plan_write(const batch_plan *plan, const char *path, ulna_error *error)
{
    markup text;
    markup_init(&text);
    for (int i = 0; i < COLUMNS; i++)
        table_put_field(&text, titles[i], i + 1 == COLUMNS);
    for (int i = 0; i < plan->count; i++) {
        const batch_take *take = &plan->takes[i];
        const char *const cells[COLUMNS] = {take->path,    take->skeleton, take->attach,
                                            take->subject, take->words,    take->name};
        for (int k = 0; k < COLUMNS; k++)
            table_put_field(&text, cells[k], k + 1 == COLUMNS);
    }
    ulna_status status = markup_write(&text, path, error);
    markup_release(&text);
    return status;
}
