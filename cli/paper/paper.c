/* ulna paper ITEM...: the figures and tables of the papers, made again. */
#include "cli/paper/paper.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- what items use -------------------------------------------------------------------------------------------------- */

void paper_show(paper_job *job, double part)
{
    progress_show(&job->bar, job->done + job->share * part, job->item->name);
}

void paper_note(paper_job *job, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = cli_format(format, arguments);
    va_end(arguments);
    size_t i;
    json_t *note;
    json_array_foreach(job->notes, i, note)
    {
        if (strcmp(json_string_value(note), text) == 0) {
            free(text);
            return;
        }
    }
    if (text)
        json_array_append_new(job->notes, cli_json_text(text));
    free(text);
}

static ulna_status save_text(const paper_job *job, const char *part, const char *text, size_t length, ulna_error *error)
{
    char name[80];
    snprintf(name, sizeof name, "%s.csv", part);
    char *path = folder_join(job->folder, name);
    ulna_status status = path ? cli_write_text(path, text, length, error) : cli_no_memory(error);
    free(path);
    return status;
}

ulna_status paper_save(paper_job *job, const char *part, sheet *table, ulna_error *error)
{
    if (table->status)
        return cli_fail(error, table->status, "out of memory");
    return save_text(job, part, table->text.data, table->text.length, error);
}

/* ---- the command line -------------------------------------------------------------------------------------------------- */

static const paper_item *find_item(const cli *tool, const char *name)
{
    enum { MOST = 64 };
    const char *names[MOST + 2] = {"all", "list"};
    for (int i = 0; i < MOST && paper_items[i].name; i++) {
        if (strcmp(paper_items[i].name, name) == 0)
            return &paper_items[i];
        names[i + 2] = paper_items[i].name;
    }
    cli_unknown(tool, "item", name, names, "; 'ulna paper list' lists them");
    return NULL;
}

static int is_wanted(const cli *tool, const paper_item *item)
{
    for (int i = 0; i < tool->operand_count; i++)
        if (strcmp(tool->operands[i], "all") == 0 || strcmp(tool->operands[i], item->name) == 0)
            return 1;
    return 0;
}

static int check_operands(const cli *tool)
{
    for (int i = 0; i < tool->operand_count; i++) {
        const char *name = tool->operands[i];
        if (strcmp(name, "all") != 0 && strcmp(name, "list") != 0 && !find_item(tool, name))
            return CLI_USAGE;
        if (strcmp(name, "list") == 0 && tool->operand_count > 1)
            return cli_usage(tool, "'list' stands alone: it lists the items");
    }
    return CLI_DONE;
}

static int print_list(const cli *tool)
{
    static const fact_column columns[] = {{"item", 'l', "{name}"},
                                          {"paper", 'l', "{paper}"},
                                          {"there", 'l', "{shown}"},
                                          {"what it shows", 'l', "{title}"},
                                          {0}};
    json_t *object = json_object(), *list = put_list(object, "items");
    for (const paper_item *item = paper_items; item->name; item++) {
        json_t *row = put_row(list);
        put_text(row, "name", item->name);
        put_text(row, "paper", item->paper);
        put_text(row, "shown", item->shown);
        put_text(row, "title", item->title);
    }
    fact_table(tool, 0, list, columns);
    cli_json_print(tool, object);
    return CLI_DONE;
}

/* ---- what earlier runs have made: items.json in the folder, with a row for each item ------------------------------------------ */

/* The rows of items that have all their files; another file of this name has none. */
static json_t *load_made(const char *folder)
{
    char name[80];
    char *path = folder_join(folder, "items.json");
    json_t *file = cli_load_json(path), *made = json_object();
    free(path);
    for (const paper_item *item = paper_items; item->name; item++) {
        json_t *row = json_object_get(file, item->name);
        int is_whole = json_is_object(row);
        for (const paper_part *part = item->parts; is_whole && part; part = part->name ? part + 1 : NULL) {
            snprintf(name, sizeof name, "%s%s.csv", part->name ? part->name : item->name, part->name ? "" : "-facts");
            path = folder_join(folder, name);
            is_whole = path && access(path, R_OK) == 0;
            free(path);
        }
        if (is_whole)
            json_object_set(made, item->name, row);
    }
    json_decref(file);
    return made;
}

static ulna_status save_made(const paper_job *job, json_t *row, ulna_error *error)
{
    char *path = folder_join(job->folder, "items.json");
    json_t *made = json_copy(row);
    json_object_del(made, "facts"); /* they have a file of their own */
    json_object_set_new(job->made, job->item->name, made);
    ulna_status status = path ? cli_write_json(path, job->made, error) : cli_no_memory(error);
    free(path);
    return status;
}

/* Small results take no place of large ones, which need minutes. */
static int check_quick(const paper_job *job)
{
    for (const paper_item *item = paper_items; item->name && job->is_quick; item++) {
        json_t *row = json_object_get(job->made, item->name);
        if (row && !json_is_true(json_object_get(row, "quick")) && is_wanted(job->tool, item))
            return cli_usage(
                job->tool,
                "'%s' has %s in full size, which --quick would replace by a small one: name another folder by "
                "--output",
                job->folder, item->name);
    }
    return CLI_DONE;
}

/* ---- running ----------------------------------------------------------------------------------------------------------- */

static ulna_status save_reported(const paper_job *job, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (const paper_part *part = job->item->parts; part->name && status == ULNA_OK; part++)
        if (part->csv)
            status = save_text(job, part->name, part->csv, strlen(part->csv), error);
    return status;
}

static ulna_status save_facts(paper_job *job, ulna_error *error)
{
    char name[64];
    sheet table;
    snprintf(name, sizeof name, "%s-facts", job->item->name);
    sheet_begin(&table, "fact,value");
    sheet_put_facts(&table, "", job->facts);
    ulna_status status = paper_save(job, name, &table, error);
    sheet_release(&table);
    return status;
}

static int run_item(paper_job *job, json_t *list)
{
    ulna_error error;
    ulna_error_clear(&error);
    json_t *row = put_row(list);
    put_text(row, "name", job->item->name);
    put_text(row, "shown", job->item->shown);
    put_flag(row, "quick", job->is_quick);
    put_text(row, "data", job->data_folder);
    job->facts = put_object(row, "facts");
    job->notes = put_list(row, "notes");
    double begun = cli_seconds();
    ulna_status status = job->item->run(job, &error);
    if (status == ULNA_OK)
        status = save_reported(job, &error);
    if (status == ULNA_OK)
        status = save_facts(job, &error);
    put_number(row, "seconds", cli_seconds() - begun);
    if (status == ULNA_OK)
        status = save_made(job, row, &error);
    if (status != ULNA_OK) {
        progress_end(&job->bar);
        return files_fail(row, *error.path ? error.path : job->item->name, &error);
    }
    return CLI_DONE;
}

static void print_item(const cli *tool, const json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "name"));
    for (const paper_item *item = paper_items; item->name; item++)
        if (strcmp(item->name, name) == 0)
            fact_line(tool, json_object_get(row, "facts"), name, item->line);
    files_print_notes(tool, json_object_get(row, "notes"));
}

static int run_items(paper_job *job, json_t *object)
{
    const cli *tool = job->tool;
    json_t *list = put_list(object, "items");
    int seconds = 0, code = CLI_DONE, done = 0;
    for (const paper_item *item = paper_items; item->name; item++)
        seconds += is_wanted(tool, item) ? item->seconds : 0;
    progress_begin(&job->bar, tool);
    for (const paper_item *item = paper_items; item->name && !code; item++) {
        if (!is_wanted(tool, item))
            continue;
        job->item = item;
        job->done = (double)done / seconds;
        job->share = (double)item->seconds / seconds;
        done += item->seconds;
        code = run_item(job, list);
        if (!code) {
            progress_end(&job->bar);
            print_item(tool, json_array_get(list, json_array_size(list) - 1));
        }
    }
    progress_end(&job->bar);
    return code;
}

static void print_missing(const cli *tool, const json_t *missing)
{
    if (!json_array_size(missing))
        return;
    json_t *about = json_pack("{s:O}", "takes", missing);
    fact_line(
        tool, about, "missing",
        "Takes that the papers use and that are not all there: {takes}. Fetch their C3D and AMC files and the ASF of their actor "
        "from HDM05 (resources.mpi-inf.mpg.de/HDM05), put them into a folder, and name it by --data.");
    json_decref(about);
}

/* Whether files can be written into the folder, before minutes of work. */
static int check_folder(json_t *object, const char *folder)
{
    ulna_error error;
    ulna_error_clear(&error);
    char *path = folder_join(folder, "index.html");
    ulna_output *output = NULL;
    int is_counted = cli_writing_begin(path ? path : folder);
    ulna_status status = path ? ulna_output_open(path, NULL, &output, &error) : cli_no_memory(&error);
    if (status == ULNA_OK)
        ulna_output_commit(output, ULNA_ERR_STATE, NULL); /* takes the temporary file away */
    cli_writing_end(is_counted);
    int code = status == ULNA_OK ? CLI_DONE : files_fail(object, path ? path : folder, &error);
    free(path);
    return code;
}

static int run_all(paper_job *job, json_t *object)
{
    ulna_error error;
    ulna_error_clear(&error);
    job->made = load_made(job->folder);
    int code = check_quick(job);
    if (!code)
        code = folder_make(object, job->folder);
    if (!code)
        code = check_folder(object, job->folder);
    if (!code)
        code = run_items(job, object);
    if (!code) {
        json_object_set(object, "missing", job->data.missing);
        char *path = folder_join(job->folder, "index.html");
        if (paper_write_page(job->folder, object, job->made, &error))
            code = files_fail(object, *error.path ? error.path : job->folder, &error);
        else {
            print_missing(job->tool, job->data.missing);
            put_text(object, "page", path);
            cli_say(job->tool, "Page: %s\n", path ? path : "");
        }
        free(path);
    }
    return code;
}

static const char *data_folder(const cli *tool)
{
    const char *given = cli_value(tool, "data"), *usual = getenv("ULNA_DATA");
    return given ? given : usual && *usual ? usual : NULL;
}

static int paper_main(cli *tool)
{
    int code = check_operands(tool);
    if (code)
        return code;
    if (tool->operand_count == 0 || strcmp(tool->operands[0], "list") == 0)
        return print_list(tool);
    ulna_error error;
    ulna_error_clear(&error);
    const char *out = cli_value(tool, "output");
    const char *folder = data_folder(tool);
    paper_job job = {.tool = tool, .is_quick = cli_value(tool, "quick") != NULL, .folder = out ? out : "papers"};
    job.data_folder = folder;
    json_t *object = json_object();
    put_flag(object, "quick", job.is_quick);
    put_text(object, "data", folder);
    if (paper_data_open(&job.data, folder, &error))
        code = files_fail(object, folder, &error);
    else
        code = run_all(&job, object);
    paper_data_close(&job.data);
    json_decref(job.made);
    if (code == CLI_USAGE)
        json_decref(object); /* the refusal is printed already */
    else
        cli_json_print(tool, object);
    return code;
}

static const cli_option options[] = {
    {"data", 0, "DIR",
     "Folder of recorded files; folders in it are searched as well. Default: that of the variable ULNA_DATA; if it is not set, the built-in "
     "take. Takes of HDM05 are found by their names, such as dg_03-02_01."},
    {"output", 'o', "DIR",
     "Folder for CSV, SVG and the page, index.html. Default: papers, in the current folder. Items that are there already stay on the page."},
    {"quick", 0, NULL,
     "Everything, but small: fewer frames, poses and starts. All items take less than two minutes. Results in full size are never replaced by "
     "small ones."},
    {0},
};

const cli_command paper_command = {
    .name = "paper",
    .operands = "[ITEM...]",
    .operand = "a name",
    .least = 0,
    .most = -1,
    .summary = "make figures and tables of the papers again",
    .text =
        "Runs experiments of the papers that Ulna is built on, by their own methods and protocol and by Ulna's, and writes a page "
        "on which what the paper reports and what was measured stand side by side, with a sentence on why they differ. ITEM is the name "
        "of a figure or table, as `ulna paper list` lists them; several, or all.\n\n"
        "Each item writes its numbers as CSV; pictures (SVG) and the page are made from these files. Recordings that a paper uses and "
        "that --data does not have are listed with what to fetch; another recording of the same kind takes their place, or the built-in "
        "take.\n\n"
        "docs/papers.md says what each paper reports, what is measured here, and why they differ.",
    .options = options,
    .reads = "",
    .writes = "",
    .examples = "ulna paper list\tthe items\n"
                "ulna paper --quick all\ta small version of all of them\n"
                "ulna paper table4 fig3 -o out\ttwo items, into the folder out\n"
                "ulna paper all --data ~/HDM05\twith recordings of your own",
    .run = paper_main,
};
