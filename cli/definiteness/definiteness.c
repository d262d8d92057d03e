/*
 * ulna definiteness [MODEL]: where over two degrees of freedom is the exact Hessian positive definite? After Appendix A
 * of the exact-Hessian paper, and on to its two remedies: limits, and a posture term.
 */
#include "cli/definiteness/definiteness.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/definiteness/map.h"

#define DEGREES (180 / 3.14159265358979323846)

/* A goal is swept in up to four ways. */
typedef struct way {
    const char *name, *word; /* for people, for programs */
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
    long cells;
} column;

static int is_wanted(const request *wish, const way *how)
{
    return (!how->inside || wish->bounds) && (!how->has_posture || wish->weight > 0);
}

static sweep_range range_of(const request *wish, int k, int inside)
{
    return inside ? wish->axes[k].limits : wish->axes[k].whole;
}

static double share(const column *of, int region)
{
    return 100.0 * (double)of->tally.cells[region] / (double)of->cells;
}

/* ---- the table ---------------------------------------------------------------------------------------- */

enum { LABEL_WIDTH = 28, COLUMN_WIDTH = 13 };

/* What stands in a row of the table. */
typedef enum line {
    LINE_MEDIAN = SWEEP_REGION_COUNT, /* after the shares of the regions */
    LINE_MOST,
    LINE_AT_MINIMUM,
    LINE_LOWEST,
    LINE_F_LOW,
    LINE_F_HIGH,
    LINE_DISTANCE,
    LINE_COUNT
} line;

static const char *label_of(int row)
{
    static const char *const labels[LINE_COUNT] = {
        [LINE_MEDIAN] = "condition number: median *",
        [LINE_MOST] = "  largest *",
        [LINE_AT_MINIMUM] = "  at the minimum of f",
        [LINE_LOWEST] = "lowest eigenvalue",
        [LINE_F_LOW] = "f: lowest, m2",
        [LINE_F_HIGH] = "  highest, m2",
        [LINE_DISTANCE] = "distance at minimum, m",
    };
    return row < SWEEP_REGION_COUNT ? map_region_names[row] : labels[row];
}

static void number_text(double value, char *text, size_t size)
{
    if (isnan(value))
        snprintf(text, size, "-");
    else if (isinf(value))
        snprintf(text, size, "singular");
    else
        snprintf(text, size, "%.4g", fabs(value) < 1e-12 ? 0.0 : value);
}

static void cell_text(const column *of, int row, char *text, size_t size)
{
    const sweep_tally *tally = &of->tally;
    const double values[LINE_COUNT] = {
        [LINE_MEDIAN] = tally->condition_median,
        [LINE_MOST] = tally->condition_most,
        [LINE_AT_MINIMUM] = tally->minimum_condition,
        [LINE_LOWEST] = tally->lowest,
        [LINE_F_LOW] = tally->minimum_f,
        [LINE_F_HIGH] = tally->f_high,
        [LINE_DISTANCE] = tally->minimum_distance,
    };
    if (row < SWEEP_REGION_COUNT)
        map_percent_text(share(of, row), text, size);
    else
        number_text(values[row], text, size);
}

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
    for (int row = 0; row < LINE_COUNT; row++) {
        cli_say(tool, "%-*s", LABEL_WIDTH, label_of(row));
        for (int i = 0; i < count; i++) {
            char text[64];
            cell_text(&columns[i], row, text, sizeof text);
            cli_say(tool, "%*s", width, text);
        }
        cli_say(tool, "\n");
    }
}

static void goal_text(const double goal[3], const char *between, char *text, size_t size)
{
    snprintf(text, size, "%.4g%s%.4g%s%.4g", goal[0], between, goal[1], between, goal[2]);
}

/* One way: a column a goal, as many beside each other as fit. Several ways: a table a goal, a column a way. */
static void print_tables(const cli *tool, const request *wish, column *columns, int way_count)
{
    for (int i = 0; i < wish->goal_count; i++) {
        char goal[64], title[80];
        goal_text(wish->goals[i], " ", goal, sizeof goal);
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

static void print_axis(const cli *tool, const char *letter, const request *wish, const request_axis *axis)
{
    double unit = axis->is_angle ? DEGREES : 1;
    const char *name = axis->is_angle ? "degrees" : "m";
    cli_say(tool, "  %s  %s: %.5g to %.5g %s", letter, axis->name, axis->whole.low * unit, axis->whole.high * unit,
            name);
    if (wish->bounds && axis->has_limits)
        cli_say(tool, ", limits %.5g to %.5g", axis->limits.low * unit, axis->limits.high * unit);
    cli_say(tool, "\n");
}

static int moves_point(const request *wish, const request_axis *axis)
{
    return ulna_model_is_ancestor(wish->model, ulna_model_dof_body(wish->model, axis->dof), wish->body);
}

static void print_head(const cli *tool, const request *wish)
{
    cli_title(tool, "%s", ulna_model_name(wish->model));
    cli_say(tool, ": the Hessian of f = |goal - point|^2 / 2 in %d x %d cells\n", wish->size, wish->size);
    print_axis(tool, "x", wish, &wish->axes[0]);
    print_axis(tool, "y", wish, &wish->axes[1]);
    if (wish->marker)
        cli_say(tool, "  point: marker %s\n", wish->marker);
    else
        cli_say(tool, "  point: %.4g %.4g %.4g m on %s\n", wish->point[0], wish->point[1], wish->point[2],
                ulna_model_body_name(wish->model, wish->body));
    if (wish->weight > 0)
        cli_say(tool, "  posture: f + %g m2/rad2 * |q - rest|^2 / 2\n", wish->weight);
    for (int k = 0; k < 2; k++)
        if (!moves_point(wish, &wish->axes[k]))
            cli_say(tool, "  note: %s does not move the point\n", wish->axes[k].name);
}

/* ---- JSON --------------------------------------------------------------------------------------------- */

static json_t *axis_json(const request *wish, const request_axis *axis)
{
    double unit = axis->is_angle ? DEGREES : 1;
    const double whole[2] = {axis->whole.low * unit, axis->whole.high * unit};
    const double limits[2] = {axis->limits.low * unit, axis->limits.high * unit};
    json_t *object = json_object();
    json_object_set_new(object, "dof", cli_json_text(axis->name));
    json_object_set_new(object, "index", json_integer(axis->dof));
    json_object_set_new(object, "unit", cli_json_text(axis->is_angle ? "degree" : "metre"));
    json_object_set_new(object, "moves_point", json_boolean(moves_point(wish, axis)));
    json_object_set_new(object, "range", cli_json_numbers(whole, 2));
    if (wish->bounds)
        json_object_set_new(object, "limits", cli_json_numbers(limits, 2));
    return object;
}

static json_t *column_json(const request *wish, const column *of)
{
    static const char *const shares[SWEEP_REGION_COUNT] = {"positive_percent", "indefinite_percent", "negative_percent",
                                                           "semidefinite_percent"};
    const sweep_tally *tally = &of->tally;
    json_t *object = json_object(), *minimum = json_object();
    double place[2];
    for (int k = 0; k < 2; k++) {
        place[k] = tally->minimum[k] * (wish->axes[k].is_angle ? DEGREES : 1);
        place[k] = fabs(place[k]) < 1e-9 ? 0 : place[k];
    }
    json_object_set_new(object, "range", cli_json_text(of->how->word));
    json_object_set_new(object, "posture_weight", cli_json_number(of->how->has_posture ? wish->weight : 0));
    for (int region = 0; region < SWEEP_REGION_COUNT; region++)
        json_object_set_new(object, shares[region], cli_json_number(share(of, region)));
    json_object_set_new(object, "condition_median", cli_json_number(tally->condition_median));
    json_object_set_new(object, "condition_largest", cli_json_number(tally->condition_most));
    json_object_set_new(object, "lowest_eigenvalue", cli_json_number(tally->lowest));
    json_object_set_new(object, "f_lowest_m2", cli_json_number(tally->minimum_f));
    json_object_set_new(object, "f_highest_m2", cli_json_number(tally->f_high));
    json_object_set_new(object, "minimum", minimum);
    json_object_set_new(minimum, "at", cli_json_numbers(place, 2));
    json_object_set_new(minimum, "condition", cli_json_number(tally->minimum_condition));
    json_object_set_new(minimum, "distance_m", cli_json_number(tally->minimum_distance));
    return object;
}

static json_t *request_json(const request *wish)
{
    json_t *object = json_object(), *point = json_object();
    json_object_set_new(object, "file", cli_json_text(wish->path));
    json_object_set_new(object, "model", cli_json_text(ulna_model_name(wish->model)));
    json_object_set_new(object, "x", axis_json(wish, &wish->axes[0]));
    json_object_set_new(object, "y", axis_json(wish, &wish->axes[1]));
    json_object_set_new(object, "point", point);
    json_object_set_new(point, "marker", wish->marker ? cli_json_text(wish->marker) : json_null());
    json_object_set_new(point, "body", cli_json_text(ulna_model_body_name(wish->model, wish->body)));
    json_object_set_new(point, "place_m", cli_json_numbers(wish->point, 3));
    json_object_set_new(object, "size", json_integer(wish->size));
    json_object_set_new(object, "tolerance", cli_json_number(SWEEP_TOLERANCE));
    return object;
}

static json_t *goals_json(const request *wish, const column *columns, int way_count)
{
    json_t *list = json_array();
    for (int i = 0; i < wish->goal_count; i++) {
        json_t *row = json_object(), *sweeps = json_array();
        json_array_append_new(list, row);
        json_object_set_new(row, "goal_m", cli_json_numbers(wish->goals[i], 3));
        json_object_set_new(row, "sweeps", sweeps);
        for (int k = 0; k < way_count; k++)
            json_array_append_new(sweeps, column_json(wish, &columns[i * way_count + k]));
    }
    return list;
}

/* ---- pictures ----------------------------------------------------------------------------------------- */

/* A picture shows the whole range, with the posture term if there is one. */
static int is_shown(const request *wish, const way *how)
{
    return !how->inside && how->has_posture == (wish->weight > 0);
}

static void title_view(const request *wish, map_view *view)
{
    enum { MOST = 24 };
    char model[4 * MOST + 8], point[4 * MOST + 8];
    const char *of = wish->marker ? wish->marker : ulna_model_body_name(wish->model, wish->body);
    picture_shorten(ulna_model_name(wish->model), MOST, model, sizeof model);
    picture_shorten(of, MOST, point, sizeof point);
    snprintf(view->title, sizeof view->title, "Definiteness of the exact Hessian");
    int length = snprintf(view->subtitle, sizeof view->subtitle, "%s, %s %s: f = |goal − point|² / 2", model,
                          wish->marker ? "marker" : "a point of", point);
    if (wish->weight > 0)
        snprintf(view->subtitle + length, sizeof view->subtitle - (size_t)length, " + %g m²/rad² · |q − rest|² / 2",
                 wish->weight);
}

static ulna_status create_view(const request *wish, map_view *view)
{
    size_t cells = (size_t)wish->size * (size_t)wish->size;
    *view = (map_view){.panels = calloc((size_t)wish->goal_count, sizeof *view->panels), .count = wish->goal_count};
    if (!view->panels)
        return ULNA_ERR_MEMORY;
    title_view(wish, view);
    for (int k = 0; k < 2; k++) {
        const request_axis *axis = &wish->axes[k];
        view->axes[k] =
            (map_axis){axis->name, axis->is_angle, axis->whole, wish->bounds && axis->has_limits, axis->limits};
    }
    for (int i = 0; i < view->count; i++) {
        map_panel *panel = &view->panels[i];
        char goal[64];
        goal_text(wish->goals[i], ", ", goal, sizeof goal);
        snprintf(panel->title, sizeof panel->title, "goal (%s) m", goal);
        panel->size = wish->size;
        panel->regions = malloc(cells);
        if (!panel->regions)
            return ULNA_ERR_MEMORY;
    }
    return ULNA_OK;
}

static void release_view(map_view *view)
{
    for (int i = 0; view->panels && i < view->count; i++) {
        free(view->panels[i].regions);
        map_mesh_release(&view->panels[i].mesh);
    }
    free(view->panels);
}

static int write_pictures(const cli *tool, const map_view *view, json_t *files)
{
    picture paper;
    int code = CLI_DONE;
    map_draw(view, &paper);
    for (int i = 0; i < tool->given_count; i++) {
        if (strcmp(tool->given[i]->name, "output") != 0)
            continue;
        ulna_error error;
        json_t *row = json_object();
        json_array_append_new(files, row);
        json_object_set_new(row, "file", cli_json_text(tool->values[i]));
        ulna_status status = picture_write(&paper, tool->values[i], &error);
        json_object_set_new(row, "result", cli_json_text(status ? "failed" : "written"));
        if (status) {
            json_object_set_new(row, "error", cli_json_error(&error));
            fflush(stdout);
            int asked = cli_complain_file(tool->values[i], &error);
            code = asked > code ? asked : code;
        } else
            cli_say(tool, "%s: written\n", tool->values[i]);
    }
    picture_release(&paper);
    return code;
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

/* Sweeps one goal in all ways; `panel` may be NULL. */
static ulna_status sweep_goal(const request *wish, sweep *over, const double goal[3], const map_view *view,
                              map_panel *panel, column *columns)
{
    ulna_status status = ULNA_OK;
    for (int i = 0; i < WAYS && !status; i++) {
        const way *how = &ways[i];
        if (!is_wanted(wish, how))
            continue;
        const sweep_range ranges[2] = {range_of(wish, 0, how->inside), range_of(wish, 1, how->inside)};
        int shown = panel && is_shown(wish, how);
        columns->how = how;
        columns->cells = (long)wish->size * wish->size;
        snprintf(columns->title, sizeof columns->title, "%s", how->name);
        status = sweep_aim(over, goal, how->has_posture ? wish->weight : 0);
        if (!status)
            status = sweep_over(over, ranges, wish->size, shown ? panel->regions : NULL, &columns->tally);
        if (!status && shown)
            status = map_mesh_create(over, view->axes, &panel->mesh);
        for (int region = 0; shown && region < SWEEP_REGION_COUNT; region++)
            panel->percent[region] = share(columns, region);
        columns++;
    }
    return status;
}

static ulna_status sweep_goals(const request *wish, const map_view *view, column *columns, int way_count,
                               ulna_error *error)
{
    sweep over;
    const int dofs[2] = {wish->axes[0].dof, wish->axes[1].dof};
    ulna_status status = sweep_create(wish->model, dofs, wish->body, wish->point, &over, error);
    if (status)
        return status;
    for (int i = 0; i < wish->goal_count && !status; i++)
        status = sweep_goal(wish, &over, wish->goals[i], view, view ? &view->panels[i] : NULL, columns + i * way_count);
    sweep_release(&over);
    return status ? cli_fail(error, status, "the sweep: %s", ulna_status_text(status)) : ULNA_OK;
}

static int run(const cli *tool, const request *wish, column *columns, int way_count)
{
    ulna_error error;
    map_view view = {0};
    json_t *object = request_json(wish), *files = json_array();
    int code = CLI_DONE, has_pictures = cli_value(tool, "output") != NULL;
    ulna_status status = has_pictures ? create_view(wish, &view) : ULNA_OK;
    if (status)
        cli_fail(&error, status, "out of memory");
    else
        status = sweep_goals(wish, has_pictures ? &view : NULL, columns, way_count, &error);
    if (status) {
        json_object_set_new(object, "error", cli_json_error(&error));
        code = cli_complain_file(wish->path, &error);
    } else {
        print_head(tool, wish);
        print_tables(tool, wish, columns, way_count);
        json_object_set_new(object, "goals", goals_json(wish, columns, way_count));
        if (has_pictures)
            code = write_pictures(tool, &view, files);
    }
    json_object_set_new(object, "files", files);
    cli_json_print(tool, object);
    release_view(&view);
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
        else {
            cli_complain("out of memory");
            code = CLI_PARTLY;
        }
        free(columns);
    }
    request_release(&wish);
    return code;
}
