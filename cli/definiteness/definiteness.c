/*
 * ulna definiteness [MODEL]: where over two degrees of freedom is the exact Hessian positive definite? After Appendix A
 * of the exact-Hessian paper, and on to its two remedies: limits, and a posture term.
 */
#include "cli/definiteness/definiteness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output.h"

/* A goal is swept in up to four ways. */
typedef struct way {
    const char *name, *word; /* in the table, in JSON */
    int inside, has_posture;
} way;

static const way ways[] = {
    {"whole range", "whole", 0, 0},
    {"limits", "limits", 1, 0},
    {"posture", "whole", 0, 1},
    {"both", "limits", 1, 1},
};

enum { WAYS = sizeof ways / sizeof *ways };

typedef struct column {
    const way *how;
    char title[64];
    sweep_tally tally;
} column;

static int is_wanted(const request *wish, const way *how)
{
    return (!how->inside || wish->bounds) && (!how->has_posture || wish->weight > 0);
}

/* ---- what is known of a sweep, as rows of the table and members of JSON ------------------------------- */

typedef struct fact {
    const char *label;
    int at_minimum; /* in JSON a member of "minimum" */
    const char *key;
    size_t offset; /* in the tally */
    int is_percent;
} fact;

#define TALLY(member) offsetof(sweep_tally, member)

/* clang-format off */
static const fact facts[] = {
    {"positive definite",          0, "positive_percent",     TALLY(percent[SWEEP_POSITIVE]),     1},
    {"indefinite",                 0, "indefinite_percent",   TALLY(percent[SWEEP_INDEFINITE]),   1},
    {"negative definite",          0, "negative_percent",     TALLY(percent[SWEEP_NEGATIVE]),     1},
    {"semi-definite",              0, "semidefinite_percent", TALLY(percent[SWEEP_SEMIDEFINITE]), 1},
    {"condition number: median *", 0, "condition_median",     TALLY(condition_median),            0},
    {"  largest *",                0, "condition_largest",    TALLY(condition_most),              0},
    {"  at the minimum of f",      1, "condition",            TALLY(minimum_condition),           0},
    {"lowest eigenvalue",          0, "lowest_eigenvalue",    TALLY(lowest),                      0},
    {"f: lowest, m2",              0, "f_lowest_m2",          TALLY(minimum_f),                   0},
    {"  highest, m2",              0, "f_highest_m2",         TALLY(f_high),                      0},
    {"distance at minimum, m",     1, "distance_m",           TALLY(minimum_distance),            0},
};
/* clang-format on */

enum { FACTS = sizeof facts / sizeof *facts, LABEL_WIDTH = 28, COLUMN_WIDTH = 13 };

static double value_of(const fact *what, const sweep_tally *tally)
{
    double value;
    memcpy(&value, (const char *)tally + what->offset, sizeof value);
    return value;
}

static void value_text(const fact *what, double value, char *text, size_t size)
{
    if (what->is_percent)
        map_percent_text(value, text, size);
    else if (isnan(value))
        snprintf(text, size, "-");
    else if (isinf(value))
        snprintf(text, size, "singular");
    else
        snprintf(text, size, "%.4g", fabs(value) < 1e-12 ? 0.0 : value);
}

/* ---- as text ------------------------------------------------------------------------------------------ */

/* Wide enough for every heading. */
static int column_width(const column *columns, int count)
{
    int width = COLUMN_WIDTH;
    for (int i = 0; i < count; i++)
        width = (int)strlen(columns[i].title) + 2 > width ? (int)strlen(columns[i].title) + 2 : width;
    return width;
}

static void print_table(const cli *tool, const char *title, const column *columns, int count)
{
    int width = column_width(columns, count);
    cli_say(tool, "\n");
    cli_title(tool, "%-*s", LABEL_WIDTH, title);
    for (int i = 0; i < count; i++)
        cli_title(tool, "%*s", width, columns[i].title);
    cli_say(tool, "\n");
    for (const fact *what = facts; what < facts + FACTS; what++) {
        cli_say(tool, "%-*s", LABEL_WIDTH, what->label);
        for (int i = 0; i < count; i++) {
            char text[64];
            value_text(what, value_of(what, &columns[i].tally), text, sizeof text);
            cli_say(tool, "%*s", width, text);
        }
        cli_say(tool, "\n");
    }
}

/* One way: a column for each goal, as many as fit in a table. Several ways: a table for each goal, a column for each way. */
static void print_tables(const cli *tool, const request *wish, column *columns, int way_count)
{
    for (int i = 0; i < wish->goal_count; i++) {
        const double *at = wish->goals[i];
        char goal[64], title[80];
        snprintf(goal, sizeof goal, "%.4g %.4g %.4g", at[0], at[1], at[2]);
        snprintf(title, sizeof title, "goal %s m", goal);
        if (way_count > 1)
            print_table(tool, title, columns + i * way_count, way_count);
        else
            snprintf(columns[i].title, sizeof columns[i].title, "%s", goal);
    }
    int fit = (tool->columns - LABEL_WIDTH) / column_width(columns, wish->goal_count * way_count);
    fit = fit > 1 ? fit : 1;
    for (int i = 0; i < wish->goal_count && way_count == 1; i += fit)
        print_table(tool, "goal, m", columns + i, wish->goal_count - i < fit ? wish->goal_count - i : fit);
    cli_say(tool, "\n");
    cli_say(tool, "* where the Hessian is positive definite\n");
}

static int moves_point(const request *wish, const request_axis *axis)
{
    return ulna_model_is_ancestor(wish->model, ulna_model_dof_body(wish->model, axis->dof), wish->body);
}

/* ---- as JSON ------------------------------------------------------------------------------------------ */

static void put_range(json_t *object, const char *key, const request_axis *axis, const sweep_range *range)
{
    double unit = axis->is_angle ? DEFINITENESS_DEGREE : 1;
    put_numbers(object, key, (double[]){range->low / unit, range->high / unit}, 2);
}

static void put_axis(json_t *object, const request *wish, const request_axis *axis)
{
    put_text(object, "dof", axis->name);
    put_count(object, "index", axis->dof);
    put_text(object, "unit", axis->is_angle ? "degree" : "metre");
    put_flag(object, "moves_point", moves_point(wish, axis));
    put_flag(object, "has_limits", axis->has_limits);
    put_range(object, "range", axis, &axis->whole);
    if (wish->bounds)
        put_range(object, "limits", axis, &axis->limits);
}

static void put_column(json_t *object, const request *wish, const column *of)
{
    double place[2];
    for (int k = 0; k < 2; k++) {
        place[k] = of->tally.minimum[k] / (wish->axes[k].is_angle ? DEFINITENESS_DEGREE : 1);
        place[k] = fabs(place[k]) < 1e-9 ? 0 : place[k];
    }
    put_text(object, "range", of->how->word);
    put_number(object, "posture_weight", of->how->has_posture ? wish->weight : 0);
    json_t *minimum = put_object(object, "minimum");
    put_numbers(minimum, "at", place, 2);
    for (const fact *what = facts; what < facts + FACTS; what++)
        put_number(what->at_minimum ? minimum : object, what->key, value_of(what, &of->tally));
}

static json_t *request_json(const request *wish)
{
    json_t *object = json_object();
    put_text(object, "file", wish->path);
    put_text(object, "model", ulna_model_name(wish->model));
    put_count(object, "hessian_dof", wish->over ? wish->over_count : 2);
    put_axis(put_object(object, "x"), wish, &wish->axes[0]);
    put_axis(put_object(object, "y"), wish, &wish->axes[1]);
    json_t *point = put_object(object, "point");
    put_text(point, "marker", wish->marker);
    put_text(point, "body", ulna_model_body_name(wish->model, wish->body));
    put_numbers(point, "place_m", wish->point, 3);
    put_count(object, "size", wish->size);
    put_number(object, "tolerance", SWEEP_TOLERANCE);
    return object;
}

static void put_goals(json_t *list, const request *wish, const column *columns, int way_count)
{
    for (int i = 0; i < wish->goal_count; i++) {
        json_t *row = put_row(list);
        put_numbers(row, "goal_m", wish->goals[i], 3);
        json_t *sweeps = put_list(row, "sweeps");
        for (int k = 0; k < way_count; k++)
            put_column(put_row(sweeps), wish, &columns[i * way_count + k]);
    }
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static void print_head(const cli *tool, const request *wish, const json_t *object)
{
    cli_title(tool, "%s", ulna_model_name(wish->model));
    fact_line(tool, object, NULL, ": the Hessian of f = |goal - point|^2 / 2 in {size} x {size} cells");
    fact_line(tool, object, "x",
              "{x.dof}: {x.range.0%.5g} to {x.range.1%.5g} {x.unit}s"
              "[{x.has_limits?}, limits {x.limits.0%.5g} to {x.limits.1%.5g}]");
    fact_line(tool, object, "y",
              "{y.dof}: {y.range.0%.5g} to {y.range.1%.5g} {y.unit}s"
              "[{y.has_limits?}, limits {y.limits.0%.5g} to {y.limits.1%.5g}]");
    fact_line(tool, object, "point",
              "[marker {point.marker}|{point.place_m.0%.4g} {point.place_m.1%.4g} {point.place_m.2%.4g} m on "
              "{point.body}]");
    if (wish->weight > 0)
        fact_text(tool, "posture", "f + %g m2/rad2 * |q - rest|^2 / 2", wish->weight);
    fact_line(tool, object, "note", "[{x.moves_point?}|{x.dof} does not move the point]");
    fact_line(tool, object, "note", "[{y.moves_point?}|{y.dof} does not move the point]");
}

static int write_pictures(const cli *tool, const request *wish, const map_panel *panels, json_t *files)
{
    markup paper;
    int code = CLI_DONE;
    markup_init(&paper);
    map_draw(wish, panels, &paper);
    for (int i = 0; i < tool->given_count; i++) {
        if (strcmp(tool->given[i]->name, "output") != 0)
            continue;
        ulna_error error;
        json_t *row = put_row(files);
        put_text(row, "file", tool->values[i]);
        ulna_status status = markup_write(&paper, tool->values[i], &error);
        put_text(row, "result", status != ULNA_OK ? "failed" : "written");
        if (status != ULNA_OK) {
            int failure = files_fail(row, tool->values[i], &error);
            code = failure > code ? failure : code;
        } else
            cli_say(tool, "%s: written\n", tool->values[i]);
    }
    markup_release(&paper);
    return code;
}

/* Sweeps one goal in all ways; `panel` may be NULL. A picture shows the whole range, with the posture term if there is
 * one. */
static ulna_status sweep_goal(const request *wish, sweep *over, const double goal[3], map_panel *panel, column *columns)
{
    ulna_status status = ULNA_OK;
    for (const way *how = ways; how < ways + WAYS && status == ULNA_OK; how++) {
        if (!is_wanted(wish, how))
            continue;
        sweep_range ranges[2];
        for (int k = 0; k < 2; k++)
            ranges[k] = how->inside ? wish->axes[k].limits : wish->axes[k].whole;
        int is_shown = panel && !how->inside && how->has_posture == (wish->weight > 0);
        columns->how = how;
        snprintf(columns->title, sizeof columns->title, "%s", how->name);
        status = sweep_aim(over, goal, how->has_posture ? wish->weight : 0);
        if (status == ULNA_OK)
            status = sweep_over(over, ranges, wish->size, is_shown ? panel->regions : NULL, &columns->tally);
        if (status == ULNA_OK && is_shown) {
            panel->tally = &columns->tally;
            status = map_sample_mesh(over, wish->axes, panel);
        }
        columns++;
    }
    return status;
}

static ulna_status sweep_goals(const request *wish, map_panel *panels, column *columns, int way_count,
                               ulna_error *error)
{
    sweep over;
    ulna_status status = sweep_create(wish, &over, error);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < wish->goal_count && status == ULNA_OK; i++) {
        if (panels)
            status = map_panel_create(&panels[i], wish->size);
        if (status == ULNA_OK)
            status = sweep_goal(wish, &over, wish->goals[i], panels ? &panels[i] : NULL, columns + i * way_count);
    }
    sweep_release(&over);
    return status != ULNA_OK ? cli_fail(error, status, "the sweep: %s", ulna_status_text(status)) : ULNA_OK;
}

static int run(const cli *tool, const request *wish, column *columns, int way_count)
{
    ulna_error error;
    map_panel panels[DEFINITENESS_GOALS] = {0};
    json_t *object = request_json(wish), *files = put_list(object, "files");
    int code = CLI_DONE, has_pictures = cli_value(tool, "output") != NULL;
    if (sweep_goals(wish, has_pictures ? panels : NULL, columns, way_count, &error))
        code = files_fail(object, wish->path, &error);
    else {
        print_head(tool, wish, object);
        print_tables(tool, wish, columns, way_count);
        put_goals(put_list(object, "goals"), wish, columns, way_count);
        if (has_pictures)
            code = write_pictures(tool, wish, panels, files);
    }
    cli_json_print(tool, object);
    for (int i = 0; i < wish->goal_count; i++)
        map_panel_release(&panels[i]);
    return code;
}

int cli_definiteness(cli *tool)
{
    request wish;
    int code = request_read(tool, &wish);
    if (!code) {
        int way_count = 0;
        for (int i = 0; i < WAYS; i++)
            way_count += is_wanted(&wish, &ways[i]);
        column *columns = calloc((size_t)wish.goal_count * (size_t)way_count, sizeof *columns);
        if (columns)
            code = run(tool, &wish, columns, way_count);
        else
            code = cli_out_of_memory();
        free(columns);
    }
    request_release(&wish);
    return code;
}
