/* ulna compare [MODEL]: every method on the same problems, in one table. */
#include "cli/compare/compare.h"

#include <string.h>

#include "cli/progress.h"
#include "cli/table.h"
#include "ulna/sample.h"

/* ---- what to solve --------------------------------------------------------------------------------------- */

/* A failure about something that has a name: told, and kept for --json. Returns the exit code. */
static int fail(json_t *object, const char *about, const ulna_error *error)
{
    json_object_set_new(object, "file", cli_json_text(about));
    json_object_set_new(object, "error", cli_json_error(error));
    return cli_complain_file(about, error);
}

static int read_goals(const cli *tool, json_t *object, goals *wanted)
{
    ulna_error error;
    ulna_error_clear(&error);
    const char *path = cli_value(tool, "goals");
    if (path && goals_read(wanted, path, &error))
        return fail(object, path, &error);
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "goal") == 0 && goals_add_text(wanted, tool->values[i], &error))
            return cli_usage(tool, "--goal '%s': %s", tool->values[i], error.message);
    return CLI_DONE;
}

/* ---- for people ------------------------------------------------------------------------------------------ */

static void say_fact(const cli *tool, const char *label, const char *text)
{
    enum { COLUMN = 11 };
    cli_say(tool, "  %-9s", label);
    table_wrap(tool, 0, COLUMN, COLUMN, text);
}

static void print_story(const cli *tool, const story *told)
{
    const trials *set = &told->game->set;
    char text[512], goals_text[256];
    cli_title(tool, "%s", told->model);
    cli_say(tool, ": %d degrees of freedom\n", ulna_model_dof_count(set->model));
    words_goals(told, goals_text, sizeof goals_text);
    snprintf(text, sizeof text, "%s%s%.200s", goals_text, told->source ? ", from " : "",
             told->source ? told->source : "");
    say_fact(tool, "goals", text);
    words_start(told, tool->ascii, text, sizeof text);
    say_fact(tool, "start", text);
    snprintf(text, sizeof text, "%d%s", set->options.frames,
             set->options.bounded ? ", joint limits wanted" : ", joint limits ignored");
    say_fact(tool, "frames", text);
    cli_say(tool, "\n");
}

static void print_contender(table *t, const cli *tool, const contest *game, const contender *one)
{
    char text[256];
    table_cell(t, "%s", one->method->name);
    if (one->refusal.status) {
        table_span(t, "not run: %s", one->refusal.message);
        return;
    }
    table_cell(t, "%d/%d", one->successes, game->set.options.frames);
    words_f(one->f.median, text, sizeof text);
    table_cell(t, "%s", text);
    if (game->set.points) {
        words_rms(one->rms_mm.median, text, sizeof text);
        table_cell(t, "%s", text);
    }
    if (game->set.orientations) {
        words_rms(one->rms_deg.median, text, sizeof text);
        table_cell(t, "%s", text);
    }
    words_count(one->iterations.median, text, sizeof text);
    table_cell(t, "%s", text);
    words_count(one->evaluations.median, text, sizeof text);
    table_cell(t, "%s", text);
    words_us(one->us.median, text, sizeof text);
    table_cell(t, "%s", text);
    words_limits(one, tool->ascii, text, sizeof text);
    table_cell(t, "%s", text);
    words_stops(one, text, sizeof text);
    table_cell(t, "%s", text);
}

static void print_table(const cli *tool, const contest *game)
{
    int both = game->set.points && game->set.orientations;
    table t;
    table_init(&t, both ? "lrrrrrrrll" : "lrrrrrrll", 0);
    table_cell(&t, "method");
    table_cell(&t, "success");
    table_cell(&t, "f %s", tool->ascii ? "m2" : "m²");
    if (game->set.points)
        table_cell(&t, "rms mm");
    if (game->set.orientations)
        table_cell(&t, "rms %s", tool->ascii ? "deg" : "°");
    table_cell(&t, "iter");
    table_cell(&t, "eval");
    table_cell(&t, "%s", tool->ascii ? "us" : "µs");
    table_cell(&t, "limits");
    table_cell(&t, "stopped by");
    for (int i = 0; i < game->count; i++)
        print_contender(&t, tool, game, &game->contenders[i]);
    table_print(tool, &t, game->best >= 0 ? game->best + 1 : -1);
    table_release(&t);
}

static void print_end(const cli *tool, const contest *game)
{
    char text[512] = "";
    if (game->set.options.frames > 1)
        strcpy(text, "Medians over the frames; limits: the farthest outside of all. ");
    words_success(game, tool->ascii, text + strlen(text), sizeof text - strlen(text));
    cli_say(tool, "\n");
    table_wrap(tool, 0, 0, 0, text);
    if (game->best >= 0)
        cli_say(tool, "Fastest of those that always succeed%s: %s\n",
                game->set.options.bounded ? " and keep to the limits exactly" : "",
                game->contenders[game->best].method->name);
}

/* ---- for other programs ---------------------------------------------------------------------------------- */

static json_t *spread_json(spread_of values)
{
    json_t *object = json_object();
    json_object_set_new(object, "median", cli_json_number(values.median));
    json_object_set_new(object, "max", cli_json_number(values.largest));
    return object;
}

static json_t *contender_json(const contest *game, const contender *one)
{
    json_t *row = json_object(), *stops = json_object();
    json_object_set_new(row, "name", cli_json_text(one->method->name));
    json_object_set_new(row, "bounded", json_boolean(one->method->flags & ULNA_METHOD_BOUNDED));
    if (one->refusal.status) {
        json_object_set_new(row, "error", cli_json_error(&one->refusal));
        json_decref(stops);
        return row;
    }
    json_object_set_new(row, "successes", json_integer(one->successes));
    json_object_set_new(row, "failures", json_integer(one->failures));
    json_object_set_new(row, "f_m2", spread_json(one->f));
    if (game->set.points)
        json_object_set_new(row, "rms_mm", spread_json(one->rms_mm));
    if (game->set.orientations)
        json_object_set_new(row, "rms_deg", spread_json(one->rms_deg));
    json_object_set_new(row, "iterations", spread_json(one->iterations));
    json_object_set_new(row, "evaluations", spread_json(one->evaluations));
    json_object_set_new(row, "us", spread_json(one->us));
    json_object_set_new(row, "in_limits", json_boolean(contender_is_inside(one)));
    json_object_set_new(row, "outside_deg", cli_json_number(one->outside_deg));
    json_object_set_new(row, "outside_mm", cli_json_number(one->outside_mm));
    json_object_set_new(row, "stops", stops);
    for (int i = 0; i < ULNA_STOP_COUNT; i++)
        if (one->stops[i])
            json_object_set_new(stops, ulna_stop_name((ulna_stop)i), json_integer(one->stops[i]));
    for (int i = 0; i < ULNA_GLOBAL_STOP_COUNT; i++)
        if (one->global_stops[i])
            json_object_set_new(stops, ulna_global_stop_name((ulna_global_stop)i), json_integer(one->global_stops[i]));
    return row;
}

static void add_results(json_t *object, const story *told)
{
    static const char *const starts[] = {"near", "rest", "zero", "file"};
    const contest *game = told->game;
    const trials *set = &game->set;
    json_t *list = json_array();
    json_object_set_new(object, "model", cli_json_text(told->model));
    json_object_set_new(object, "dof", json_integer(ulna_model_dof_count(set->model)));
    json_object_set_new(object, "goals", told->source ? cli_json_text(told->source) : json_null());
    json_object_set_new(object, "positions", json_integer(set->points));
    json_object_set_new(object, "orientations", json_integer(set->orientations));
    json_object_set_new(object, "frames", json_integer(set->options.frames));
    json_object_set_new(object, "start", cli_json_text(starts[set->options.start]));
    json_object_set_new(object, "spread_deg", cli_json_number(set->options.spread / COMPARE_DEGREE));
    json_object_set_new(object, "seed", json_integer((json_int_t)set->options.seed));
    json_object_set_new(object, "bounded", json_boolean(set->options.bounded));
    json_object_set_new(object, "max_iterations",
                        game->options.iterations ? json_integer(game->options.iterations) : json_null());
    json_object_set_new(object, "tolerance_m2", cli_json_number(game->options.objective));
    json_object_set_new(object, "methods", list);
    for (int i = 0; i < game->count; i++)
        json_array_append_new(list, contender_json(game, &game->contenders[i]));
    json_object_set_new(object, "fastest",
                        game->best < 0 ? json_null() : cli_json_text(game->contenders[game->best].method->name));
}

/* ---- all of it --------------------------------------------------------------------------------------------- */

static void show_progress(void *context, double part, const char *method)
{
    progress_show(context, part, method);
}

static int write_report(const cli *tool, json_t *object, const story *told)
{
    const char *path = cli_value(tool, "report");
    ulna_error error;
    ulna_error_clear(&error);
    if (!path)
        return CLI_DONE;
    if (compare_write_page(told, path, &error))
        return fail(object, path, &error);
    json_object_set_new(object, "report", cli_json_text(path));
    cli_say(tool, "Report: %s\n", path);
    return CLI_DONE;
}

static int run(const cli *tool, json_t *object, const story *told, contest *game)
{
    ulna_error error;
    ulna_error_clear(&error);
    progress bar;
    progress_begin(&bar, tool);
    ulna_status status = contest_run(game, cli_value(tool, "report") != NULL, show_progress, &bar, &error);
    progress_end(&bar);
    if (status)
        return fail(object, told->model, &error);
    add_results(object, told);
    print_story(tool, told);
    print_table(tool, game);
    print_end(tool, game);
    int code = write_report(tool, object, told), is_solved = 0;
    for (int i = 0; i < game->count; i++)
        is_solved |= !game->contenders[i].refusal.status && game->contenders[i].successes == game->set.options.frames;
    return code ? code : is_solved ? CLI_DONE : CLI_PARTLY;
}

static int compare(const cli *tool, json_t *object, contest *game, const ulna_model *model, const char *name,
                   trial_options *options)
{
    goals wanted;
    ulna_error error;
    ulna_error_clear(&error);
    goals_init(&wanted, model);
    int code = read_goals(tool, object, &wanted);
    if (!code) {
        if (wanted.start && !cli_value(tool, "start") && !cli_value(tool, "cold"))
            options->start = START_GIVEN;
        const char *path = cli_value(tool, "goals");
        story told = {.model = name, .source = path ? path : wanted.count ? "the command line" : NULL, .game = game};
        if (trials_create(&game->set, model, &wanted, options, &error))
            code = fail(object, error.line && path ? path : name, &error);
        else
            code = run(tool, object, &told, game);
    }
    goals_release(&wanted);
    return code;
}

int cli_compare(cli *tool)
{
    contest game = {.best = -1};
    trial_options options;
    ulna_model *model = NULL;
    ulna_error error;
    ulna_error_clear(&error);
    int code = compare_read_options(tool, &game, &options);
    if (!code) {
        const char *name = tool->operand_count ? tool->operands[0] : "human";
        json_t *object = json_object();
        if (tool->operand_count ? cli_load_model(name, &model, &error) : ulna_sample_create(name, NULL, &model, &error))
            code = fail(object, name, &error);
        else
            code = compare(tool, object, &game, model, name, &options);
        if (code == CLI_USAGE) /* which was told in JSON already */
            json_decref(object);
        else
            cli_json_print(tool, object);
    }
    contest_release(&game);
    ulna_model_destroy(model);
    return code;
}
