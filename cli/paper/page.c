/*
 * The page of `ulna paper`: one HTML file that needs nothing else. What stays the same is in page/papers.html; every number comes from the
 * sheets, which are read back from their files.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "cli/paper/paper.h"
#include "ulna/ulna.h"

extern const char papers_html[], papers_css[], papers_mjs[]; /* files of page/, embedded by the build */

typedef struct report {
    const char *folder;
    const json_t *ran;
    const json_t *made; /* the rows of this run and of earlier ones, by the names of their items */
    sheet *sheets;      /* of all their parts, in their order */
    json_t *facts;      /* by the names of the items */
} report;

static const cli unicode = {0}; /* templates are filled as on a terminal that shows every letter */

static const json_t *row_of(const report *of, const paper_item *item)
{
    return json_object_get(of->made, item->name);
}

/* ---- tables -------------------------------------------------------------------------------------------------------- */

static void put_heading(markup *page, const char *text, int is_word)
{
    char words[80];
    snprintf(words, sizeof words, "%s", text);
    for (char *at = words; *at; at++)
        *at = *at == '_' ? ' ' : *at;
    markup_put(page, is_word ? "<th class=\"word\">" : "<th>");
    markup_escape(page, words);
    markup_put(page, "</th>");
}

/* Whether some cell is more than a number, "-" or nothing. */
static int is_words(const sheet *table, int column)
{
    for (int row = 0; row < sheet_count(table); row++) {
        const char *text = sheet_cell(table, row, column);
        if (isnan(sheet_number(table, row, column)) && *text && strcmp(text, "-") != 0)
            return 1;
    }
    return 0;
}

static void put_table(markup *page, const sheet *table)
{
    markup_put(page, "<div class=\"scroll\"><table><thead><tr>");
    for (int i = 0; i < table->columns; i++)
        put_heading(page, table->cells[i], is_words(table, i));
    markup_put(page, "</tr></thead><tbody>\n");
    for (int row = 0; row < sheet_count(table); row++) {
        markup_put(page, "<tr>");
        for (int i = 0; i < table->columns; i++) {
            markup_put(page, is_words(table, i) ? "<td class=\"word\">" : "<td>");
            markup_escape(page, sheet_cell(table, row, i));
            markup_put(page, "</td>");
        }
        markup_put(page, "</tr>\n");
    }
    markup_put(page, "</tbody></table></div>\n");
}

/* ---- the player: places of all bodies in whole millimetres, frame after frame ------------------------------------------------ */

static void put_player(markup *page, const sheet *table)
{
    enum { MOST = 8 };
    const char *names[MOST];
    int skeleton = sheet_column(table, "skeleton"), frame = sheet_column(table, "frame"),
        parent = sheet_column(table, "parent");
    int x = sheet_column(table, "x"), count = sheet_kinds(table, skeleton, names, MOST), rows = sheet_count(table);
    markup_put(
        page,
        "<div class=\"player\"><div class=\"stages\"></div><div class=\"controls\"><button type=\"button\">Pause</button>"
        "<input type=\"range\" min=\"0\" value=\"0\" aria-label=\"frame\"/><output></output></div>\n"
        "<script type=\"application/json\">{\"parents\":[");
    const char *first = rows ? sheet_cell(table, 0, frame) : "";
    for (int i = 0; i < rows && strcmp(sheet_cell(table, i, frame), first) == 0 &&
                    strcmp(sheet_cell(table, i, skeleton), names[0]) == 0;
         i++)
        markup_format(page, "%s%s", i ? "," : "", sheet_cell(table, i, parent));
    markup_put(page, "],\"skeletons\":[");
    for (int k = 0; k < count; k++) {
        markup_format(page, "%s{\"name\":\"", k ? "," : "");
        markup_escape(page, names[k]);
        markup_put(page, "\",\"places\":[");
        for (int i = 0, is_next = 0; i < rows; i++)
            if (strcmp(sheet_cell(table, i, skeleton), names[k]) == 0) {
                markup_format(page, "%s%.0f,%.0f,%.0f", is_next ? "," : "", 1e3 * sheet_number(table, i, x),
                              1e3 * sheet_number(table, i, x + 1), 1e3 * sheet_number(table, i, x + 2));
                is_next = 1;
            }
        markup_put(page, "]}");
    }
    markup_put(page, "]}</script></div>\n");
}

/* ---- items --------------------------------------------------------------------------------------------------------- */

static void put_part(markup *page, const paper_part *part, const sheet *table)
{
    int is_drawn = part->drawing != DRAW_TABLE && part->drawing != DRAW_PLAYER;
    markup_put(page, part->drawing == DRAW_TABLE ? "<details open=\"open\" class=\"part\"><summary>"
                                                 : "<div class=\"part\"><p class=\"caption\">");
    markup_escape(page, part->caption);
    markup_format(page, " <a href=\"%s.csv\">%s.csv</a>", part->name, part->name);
    if (is_drawn)
        markup_format(page, " <a href=\"%s.svg\">%s.svg</a>", part->name, part->name);
    markup_put(page, part->drawing == DRAW_TABLE ? "</summary>\n" : "</p>\n");
    if (part->drawing == DRAW_TABLE)
        put_table(page, table);
    else if (part->drawing == DRAW_PLAYER)
        put_player(page, table);
    else {
        markup_format(page, "<div class=\"panels%s\">\n",
                      part->drawing == DRAW_CURVES || part->drawing == DRAW_BOXES ? " wide"
                      : part->drawing == DRAW_STILLS                              ? " narrow"
                                                                                  : "");
        paper_draw(part, table, 0, page);
        markup_put(page, "</div>\n");
    }
    markup_put(page, part->drawing == DRAW_TABLE ? "</details>\n" : "</div>\n");
}

static void put_paragraph(markup *page, const char *kind, const char *text)
{
    markup_format(page, "<p class=\"%s\">", kind);
    markup_escape(page, text);
    markup_put(page, "</p>\n");
}

/* Whether the paper gives numbers, and not only words and a picture. */
static int has_reported(const paper_item *item)
{
    for (const paper_part *part = item->parts; part->name; part++)
        if (part->is_reported)
            return 1;
    return 0;
}

static void put_item(markup *page, const paper_item *item, const json_t *row, const json_t *facts, const sheet *sheets)
{
    markup_format(page, "<section id=\"%s\"><h2>%s of the %s paper: ", item->name, item->shown, item->paper);
    markup_escape(page, item->title);
    markup_format(page, "</h2>\n<div class=\"pair%s\"><div class=\"paper\"><h3>The paper</h3>\n",
                  has_reported(item) ? "" : " words");
    put_paragraph(page, "claim", item->claim);
    for (int i = 0; item->parts[i].name; i++)
        if (item->parts[i].is_reported)
            put_part(page, &item->parts[i], &sheets[i]);
    markup_put(page, "</div><div class=\"ours\"><h3>Ulna</h3>\n");
    char *line = fact_fill(&unicode, facts, item->line);
    if (line) {
        markup_put(page, "<p><span class=\"found\">");
        markup_escape(page, line);
        markup_format(page, "</span> <a href=\"%s-facts.csv\">%s-facts.csv</a></p>\n", item->name, item->name);
    }
    free(line);
    for (int i = 0; item->parts[i].name; i++)
        if (!item->parts[i].is_reported)
            put_part(page, &item->parts[i], &sheets[i]);
    markup_put(page, "</div></div>\n<p class=\"why\"><strong>Why they differ.</strong> ");
    markup_escape(page, item->why);
    size_t k;
    json_t *note;
    json_array_foreach(json_object_get(row, "notes"), k, note)
    {
        const char *text = json_string_value(note);
        markup_put(page, " ");
        markup_escape(page, text ? text : "");
    }
    line = fact_fill(&unicode, row, "ulna paper[{quick?} --quick] {name}[ --data {data}]");
    markup_put(page, "</p>\n<p class=\"note\"><code>");
    markup_escape(page, line ? line : "");
    markup_format(page, "</code>, %.1f s</p></section>\n", json_number_value(json_object_get(row, "seconds")));
    free(line);
}

static void put_items(markup *page, const void *about)
{
    const report *of = about;
    const sheet *next = of->sheets;
    for (const paper_item *item = paper_items; item->name; item++) {
        const json_t *row = row_of(of, item);
        if (!row)
            continue;
        put_item(page, item, row, json_object_get(of->facts, item->name), next);
        for (const paper_part *part = item->parts; part->name; part++)
            next++;
    }
}

static void put_contents(markup *page, const void *about)
{
    for (const paper_item *item = paper_items; item->name; item++)
        if (row_of(about, item)) {
            markup_format(page, "<li><a href=\"#%s\">%s, %s</a>: ", item->name, item->shown, item->paper);
            markup_escape(page, item->title);
            markup_put(page, "</li>\n");
        }
}

static void put_data(markup *page, const void *about)
{
    const report *of = about;
    char *text = fact_fill(
        &unicode, of->ran,
        "[{data?}Recordings: {data}.|No folder of recordings: the built-in take is used.][{missing?} Takes that the papers "
        "use and that are not all there: {missing}; fetch their C3D and AMC files and the ASF of their actor from HDM05 "
        "(resources.mpi-inf.mpg.de/HDM05), and name their folder by --data.] Items with --quick "
        "in their last line are small: fewer frames, poses and starts.");
    markup_escape(page, text ? text : "");
    free(text);
}

static void put_style(markup *page, const void *about)
{
    (void)about;
    markup_put(page, page_css);
    markup_put(page, plot_css);
    markup_put(page, papers_css);
}

static void put_script(markup *page, const void *about)
{
    (void)about;
    markup_put(page, papers_mjs);
}

static void put_version(markup *page, const void *about)
{
    (void)about;
    markup_escape(page, ulna_version());
}

/* ---- files --------------------------------------------------------------------------------------------------------- */

static ulna_status load_sheet(const report *of, const char *part, sheet *table, ulna_error *error)
{
    char name[80];
    snprintf(name, sizeof name, "%s.csv", part);
    char *path = folder_join(of->folder, name);
    ulna_status status = path ? sheet_load(table, path, error) : cli_no_memory(error);
    free(path);
    return status;
}

static ulna_status load_facts(const report *of, const paper_item *item, ulna_error *error)
{
    char name[64];
    sheet table = {0};
    snprintf(name, sizeof name, "%s-facts", item->name);
    ulna_status status = load_sheet(of, name, &table, error);
    if (status == ULNA_OK)
        json_object_set_new(of->facts, item->name, sheet_facts(&table));
    sheet_release(&table);
    return status;
}

static ulna_status write_picture(const report *of, const paper_part *part, const sheet *table, ulna_error *error)
{
    char name[80];
    markup page;
    markup_init(&page);
    snprintf(name, sizeof name, "%s.svg", part->name);
    char *path = folder_join(of->folder, name);
    paper_draw(part, table, 1, &page);
    ulna_status status = path ? ULNA_OK : cli_no_memory(error);
    if (status == ULNA_OK && (page.text.length || page.status != ULNA_OK))
        status = markup_write(&page, path, error);
    markup_release(&page);
    free(path);
    return status;
}

static ulna_status write_page(const report *of, ulna_error *error)
{
    static const markup_part parts[] = {
        {"style", put_style},
        {"contents", put_contents},
        {"data", put_data},
        {"items", put_items},
        {"script", put_script},
        {"version", put_version},
        {0},
    };
    markup page;
    markup_init(&page);
    markup_fill(&page, papers_html, parts, of);
    char *path = folder_join(of->folder, "index.html");
    ulna_status status = path ? markup_write(&page, path, error) : cli_no_memory(error);
    free(path);
    markup_release(&page);
    return status;
}

ulna_status paper_write_page(const char *folder, const json_t *ran, const json_t *made, ulna_error *error)
{
    report of = {.folder = folder, .ran = ran, .made = made, .facts = json_object()};
    int count = 0, next = 0;
    ulna_status status = ULNA_OK;
    for (const paper_item *item = paper_items; item->name; item++)
        for (const paper_part *part = item->parts; part->name; part++)
            count++;
    of.sheets = calloc((size_t)count + 1, sizeof *of.sheets);
    if (!of.sheets || !of.facts)
        status = cli_no_memory(error);
    for (const paper_item *item = paper_items; item->name && status == ULNA_OK; item++) {
        if (!row_of(&of, item))
            continue;
        status = load_facts(&of, item, error);
        for (const paper_part *part = item->parts; part->name && status == ULNA_OK; part++) {
            status = load_sheet(&of, part->name, &of.sheets[next], error);
            if (status == ULNA_OK)
                status = write_picture(&of, part, &of.sheets[next], error);
            next++;
        }
    }
    if (status == ULNA_OK)
        status = write_page(&of, error);
    for (int i = 0; i < next; i++)
        sheet_release(&of.sheets[i]);
    free(of.sheets);
    json_decref(of.facts);
    return status;
}
