/* What people and programs are told of a plan: what was skipped on the way to it, what cannot be solved, and --dry-run. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/batch/batch.h"

/* ---- what is skipped ------------------------------------------------------------------------------------------------------- */

void plan_put_skipped(const batch_plan *plan, json_t *object)
{
    put_count(object, "unread", plan->unread);
    put_count(object, "links", plan->links);
    put_count(object, "outputs", plan->outputs);
    if (plan->notes)
        json_object_set(object, "notes", plan->notes);
    else
        (void)put_list(object, "notes");
}

/* A note for each of the first folders, and a line if there are more. */
void plan_tell_skipped(const cli *tool, const batch_plan *plan)
{
    long long more = (long long)plan->unread + plan->links + plan->outputs - (long long)json_array_size(plan->notes);
    files_print_notes(tool, plan->notes);
    if (more > 0) {
        const struct {
            int count;
            const char *one, *many;
        } kinds[] = {{plan->unread, "folder that cannot be read", "folders that cannot be read"},
                     {plan->links, "link to a folder", "links to folders"},
                     {plan->outputs, "output of a batch", "outputs of batches"}};
        char text[200] = "";
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (kinds[i].count)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s%d %s", *text ? ", " : "", kinds[i].count,
                         kinds[i].count == 1 ? kinds[i].one : kinds[i].many);
        cli_say(tool, "not searched in all: %s\n", text);
    }
    if (plan->unread && tool->quiet) /* it is not success */
        cli_complain("%d folder%s cannot be read; takes below %s are missing", plan->unread,
                     plan->unread == 1 ? "" : "s", plan->unread == 1 ? "it" : "them");
}

ulna_status plan_save_skipped(const batch_plan *plan, const char *path, ulna_error *error)
{
    json_t *object = json_object();
    plan_put_skipped(plan, object);
    json_t *reasons = put_object(object, "no_skeleton");
    for (int i = 0; i < plan->count; i++)
        if (plan->takes[i].problem && !*plan->takes[i].skeleton && !plan->takes[i].is_namesake)
            put_text(reasons, plan->takes[i].name, plan->takes[i].problem);
    ulna_status status = cli_write_json(path, object, error);
    json_decref(object);
    return status;
}

void plan_load_skipped(batch_plan *plan, const char *path)
{
    json_t *object = cli_load_json(path), *notes = json_object_get(object, "notes");
    if (!object)
        return;
    plan->unread = (int)json_integer_value(json_object_get(object, "unread"));
    plan->links = (int)json_integer_value(json_object_get(object, "links"));
    plan->outputs = (int)json_integer_value(json_object_get(object, "outputs"));
    json_decref(plan->notes);
    plan->notes = json_is_array(notes) ? json_incref(notes) : NULL;
    json_decref(object);
}

json_t *plan_load_reasons(const char *output)
{
    char *path = folder_join(output, "journal/skipped.json");
    json_t *object = path ? cli_load_json(path) : NULL;
    json_t *reasons = json_incref(json_object_get(object, "no_skeleton"));
    json_decref(object);
    free(path);
    return reasons;
}

/* ---- what cannot be solved ---------------------------------------------------------------------------------------------------- */

/* A problem without its place, which no other take has. */
static const char *reason_of(const batch_take *take)
{
    return take->problem + (*take->place ? strlen(take->place) + 2 : 0);
}

static int by_reason(const void *a, const void *b)
{
    const batch_take *x = *(const batch_take *const *)a, *y = *(const batch_take *const *)b;
    int reasons = strcmp(reason_of(x), reason_of(y));
    return reasons ? reasons : (x > y) - (x < y);
}

/* Takes with one reason: a few by a line each, more by a common one. */
static void tell_group(const cli *tool, const batch_take *const *takes, int count, const char *verb)
{
    enum { FEW = 3 };
    for (int i = 0; i < count && count <= FEW; i++)
        cli_say(tool, "%s %s: %s\n", verb, takes[i]->name, takes[i]->problem);
    if (count > FEW)
        cli_say(tool, "%s %d takes: %s (%s, %s, %s, ...)\n", verb, count, reason_of(*takes), takes[0]->name,
                takes[1]->name, takes[2]->name);
}

static int by_first_take(const void *a, const void *b)
{
    const batch_take *const *x = *(const batch_take *const *const *)a, *const *y = *(const batch_take *const *const *)b;
    return (*x > *y) - (*x < *y);
}

void plan_tell_problems(const cli *tool, const batch_plan *plan, const unsigned char *is_chosen, const char *verb)
{
    size_t room = (size_t)plan->count + 1;
    const batch_take **takes = calloc(room, sizeof *takes), ***groups = calloc(room, sizeof *groups);
    int count = 0, group_count = 0;
    for (int i = 0; i < plan->count && takes && groups; i++)
        if (plan->takes[i].problem && (!is_chosen || is_chosen[i]))
            takes[count++] = &plan->takes[i];
    if (count)
        qsort(takes, (size_t)count, sizeof *takes, by_reason);
    for (int i = 0; i < count; i++)
        if (!i || strcmp(reason_of(takes[i]), reason_of(takes[i - 1])) != 0)
            groups[group_count++] = takes + i;
    if (group_count) /* in the order of their first takes */
        qsort(groups, (size_t)group_count, sizeof *groups, by_first_take);
    for (int g = 0; g < group_count; g++) {
        const batch_take **end = groups[g] + 1;
        while (end < takes + count && strcmp(reason_of(*end), reason_of(*groups[g])) == 0)
            end++;
        tell_group(tool, groups[g], (int)(end - groups[g]), verb);
    }
    free(takes);
    free(groups);
}

/* ---- --dry-run ----------------------------------------------------------------------------------------------------------- */

static json_t *take_object(const batch_plan *plan, int index, batch_settled settled, const json_t *lines)
{
    static const char *const words[] = {[BATCH_LEFT] = "missing", [BATCH_DONE] = "done", [BATCH_FAILED] = "failed"};
    const batch_take *take = &plan->takes[index];
    json_t *row = json_object();
    put_text(row, "take", take->name);
    put_text(row, "status", words[take->problem ? BATCH_FAILED : settled]); /* as the run would say */
    put_text(row, "recording", take->path);
    put_text(row, "skeleton", *take->skeleton ? take->skeleton : NULL);
    put_text(row, "attach", *take->attach ? take->attach : NULL);
    put_text(row, "calibration", take->calibration == ULNA_NONE ? NULL : plan->calibrations[take->calibration].name);
    put_text(row, "subject", take->subject);
    put_text(row, "options", take->words);
    put_count(row, "bytes", (long long)take->bytes);
    put_text(row, "problem", take->problem);
    if (take->problem)
        put_text(row, "error", take->error);
    else if (settled == BATCH_FAILED) {
        const json_t *line = json_object_get(lines, json_string_value(json_object_get(row, "take")));
        json_object_set(row, "error", json_object_get(line, "error"));
        json_object_set(row, "message", json_object_get(line, "message"));
    }
    return row;
}

/* That the takes which are left need, and that no earlier run has. */
static int count_calibrations(const batch_plan *plan, const batch_settled *settled)
{
    int count = 0;
    for (int c = 0; c < plan->calibration_count; c++) {
        const char *status = json_string_value(json_object_get(plan->calibrations[c].result, "status"));
        int is_needed = 0;
        for (int i = 0; i < plan->count; i++)
            is_needed |= settled[i] == BATCH_LEFT && plan->takes[i].calibration == c;
        count += is_needed && (!status || strcmp(status, "failed") == 0);
    }
    return count;
}

/* As short as it can be said here: relative to the current folder, if it is below it. */
static void put_short(json_t *row, const char *key, const char *path, const char *here)
{
    size_t length = here ? strlen(here) : 0;
    if (length && strncmp(path, here, length) == 0 && path[length] == '/')
        put_text(row, key, path + length + 1);
}

/* Is there room for a table, whose last column can be wrapped? */
static int fits_table(const cli *tool, const json_t *rows)
{
    static const char *const keys[] = {"take", "subject", "skeleton"};
    enum { LAST = 24 };
    int width = LAST;
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
        int widest = (int)strlen(keys[k]);
        size_t i;
        json_t *row;
        json_array_foreach(rows, i, row)
        {
            const char *text = json_string_value(json_object_get(row, keys[k]));
            int own = text ? cli_width(text) : 1;
            widest = own > widest ? own : widest;
        }
        width += widest + 2;
    }
    return width <= tool->columns;
}

/* Long names: the take on a line, and below it the rest. */
static void show_blocks(const cli *tool, const json_t *rows)
{
    size_t i;
    json_t *row;
    json_array_foreach(rows, i, row)
    {
        fact_line(tool, row, NULL, "{take}");
        fact_line(tool, row, "subject", "{subject}");
        fact_line(tool, row, "skeleton", "{skeleton}");
        fact_line(tool, row, "markers", "[{attach}|calibrated if needed: {calibration}]");
    }
}

/* The takes that are left. */
static void show_takes(const cli *tool, const batch_plan *plan, const batch_settled *settled)
{
    static const fact_column columns[] = {
        {"take", 'l', "{take}"},
        {"subject", 'l', "{subject}"},
        {"skeleton", 'l', "{skeleton}"},
        {"markers", 'l', "[{attach}|calibrated if needed: {calibration}]"},
        {0},
    };
    json_t *rows = json_array();
    char *here = getcwd(NULL, 0);
    for (int i = 0; i < plan->count; i++) {
        const batch_take *take = &plan->takes[i];
        if (settled[i] != BATCH_LEFT || take->problem)
            continue;
        json_t *row = take_object(plan, i, BATCH_LEFT, NULL);
        if (*take->skeleton)
            put_short(row, "skeleton", take->skeleton, here);
        else
            put_text(row, "skeleton", "human (built in), scaled");
        put_short(row, "attach", take->attach, here);
        json_array_append_new(rows, row);
    }
    if (json_array_size(rows) && fits_table(tool, rows))
        fact_table(tool, 0, rows, columns);
    else
        show_blocks(tool, rows);
    free(here);
    json_decref(rows);
}

static void show_line(const cli *tool, const json_t *object, const char *template)
{
    char *text = tool->json || tool->quiet ? NULL : fact_fill(tool, object, template);
    if (text && *text)
        table_wrap(tool, 0, 0, 0, text);
    free(text);
}

void plan_show(const cli *tool, const batch_plan *plan, const batch_settled *settled, const json_t *lines)
{
    /* clang-format off */
    static const char *const summary[] = {
        "{left} take{left:/s} to solve",
        "{problems?}{problems} take{problems:/s} cannot be solved",
        "{calibrations?}{calibrations} calibration{calibrations:/s}, and one more for each take whose markers were taken off and put on again",
        "{done?}{done} take{done:/s} done already",
        "{again?}{again} take{again:/s} failed before; --retry-failed solves {again:it/them} again",
        "{left_out?}{left_out} recording{left_out:/s} left out, as a C3D has the same name: {left_out_names}{more}",
    };
    /* clang-format on */
    json_t *object = json_object(), *list = put_list(object, "takes");
    int problems = 0, left = 0, counts[BATCH_OTHERS + 1] = {0};
    for (int i = 0; i < plan->count; i++) {
        counts[settled[i]]++;
        if (settled[i] == BATCH_OTHERS)
            continue;
        problems += plan->takes[i].problem != NULL;
        left += settled[i] == BATCH_LEFT && !plan->takes[i].problem;
        json_array_append_new(list, take_object(plan, i, settled[i], lines));
    }
    put_count(object, "problems", problems);
    put_count(object, "left_out", plan->left_out);
    plan_put_skipped(plan, object);
    put_count(object, "calibrations", count_calibrations(plan, settled));
    put_count(object, "left", left);
    put_count(object, "done", counts[BATCH_DONE]);
    put_count(object, "failed", counts[BATCH_FAILED] + problems);
    unsigned char *is_shown = calloc((size_t)plan->count + 1, 1);
    for (int i = 0; i < plan->count && is_shown; i++)
        is_shown[i] = settled[i] == BATCH_LEFT;
    show_takes(tool, plan, settled);
    if (is_shown)
        plan_tell_problems(tool, plan, is_shown, "cannot solve");
    json_t *shown = json_copy(object);
    put_count(shown, "again", counts[BATCH_FAILED]);
    json_object_set(shown, "left_out_names", plan->left_out_names);
    put_text(shown, "more", plan->left_out > (int)json_array_size(plan->left_out_names) ? ", ..." : "");
    for (size_t i = 0; i < sizeof summary / sizeof *summary; i++)
        show_line(tool, shown, summary[i]);
    plan_tell_skipped(tool, plan);
    free(is_shown);
    json_decref(shown);
    cli_json_print(tool, object);
}
