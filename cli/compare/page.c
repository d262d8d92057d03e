/*
 * The page of `ulna compare --report`: one HTML file that needs nothing else, not even a script. What stays the same is
 * in page/compare.html.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/compare.h"
#include "ulna/ulna.h"

extern const char compare_html[], compare_css[]; /* files of page/, embedded by the build */

typedef struct report {
    contest *game;
    const json_t *shown;
} report;

static const cli unicode = {0}; /* templates are filled as on a terminal that shows every letter */

static void put_template(markup *page, const json_t *object, const char *text)
{
    char *filled = fact_fill(&unicode, object, text);
    markup_escape(page, filled ? filled : "-");
    free(filled);
}

static void put_filled(markup *page, const report *of, const char *text)
{
    put_template(page, of->shown, text);
}

/* ---- the beginning -------------------------------------------------------------------------------------- */

/* A check box that is not ticked hides the lines of its method; no script is needed for that. */
static void put_style(markup *page, const void *about)
{
    const report *of = about;
    markup_put(page, page_css);
    markup_put(page, plot_css);
    markup_put(page, compare_css);
    for (int i = 0; i < of->game->count; i++)
        markup_format(page,
                      "#m%d:not(:checked)~.figures .s%d{display:none}#m%d:not(:checked)~.legend .l%d{opacity:.4}"
                      "#m%d:focus-visible~.legend .l%d{outline:2px solid var(--c0)}\n",
                      i, i, i, i, i, i);
}

static void put_model(markup *page, const void *about)
{
    put_filled(page, about, "{model}");
}

static void put_fact(markup *page, const report *of, const char *label, const char *text)
{
    markup_format(page, "<dt>%s</dt><dd>", label);
    put_filled(page, of, text);
    markup_put(page, "</dd>\n");
}

static void put_facts(markup *page, const void *about)
{
    const report *of = about;
    const contest *game = of->game;
    const ulna_model *model = game->set.model;
    char text[120];
    int limited = 0, dofs = ulna_model_dof_count(model);
    for (int i = 0; i < dofs; i++)
        limited += isfinite(ulna_model_lower(model)[i]) || isfinite(ulna_model_upper(model)[i]);
    snprintf(text, sizeof text, "{model}: %d bodies, {dof} degrees of freedom, %d with limits",
             ulna_model_body_count(model), limited);
    put_fact(page, of, "Skeleton", text);
    put_fact(page, of, "Goals", compare_goals_text);
    put_fact(page, of, "Start", compare_start_text);
    put_fact(page, of, "Frames",
             game->set.is_made || game->set.options.frames > 1 ? "{frames}, the same for all methods (seed {seed})"
                                                               : "{frames}");
    put_fact(page, of, "Joint limits", "[{bounded?}kept by the methods that can|ignored]");
    put_fact(page, of, "Stop",
             "f ≤ {tolerance_m2%.0e} m², or f no longer decreases[; at most {max_iterations} iterations]");
    put_fact(page, of, "Kernel", ulna_pose_kernel(ulna_work_pose(game->set.work)));
}

/* ---- the first problem, drawn: the skeleton at the start and at the answer, and the goals ---------------- */

enum { WIDTH = 320, HEIGHT = 330, MARGIN = 14, MOST = 3000 }; /* bodies or goals: more cannot be told apart */

typedef struct scene {
    const trials *set;
    int bodies, goals;
    double *start, *end; /* 3 x bodies: origins; and those of the goals' points follow */
    int right, up;       /* axes of the paper */
    double scale, x, y;  /* of the drawing */
} scene;

static ulna_status place_all(const scene *view, ulna_pose *pose, const double *q, double *places)
{
    ulna_status status = ulna_pose_forward(pose, q);
    for (int i = 0; status == ULNA_OK && i < view->bodies; i++)
        status = ulna_pose_body(pose, i, places + 3 * (size_t)i, NULL);
    for (int i = 0; status == ULNA_OK && i < view->goals; i++) {
        const ulna_effector *point = &view->set->effectors[i];
        status = ulna_pose_point(pose, point->body, point->point, places + 3 * (size_t)(view->bodies + i));
    }
    return status;
}

static void grow_box(const double *places, int count, double low[3], double high[3])
{
    for (int i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], places[i]);
        high[i % 3] = fmax(high[i % 3], places[i]);
    }
}

/* Up is the longer one of y and z, to the right the longer one of the others; all of it fills the picture. */
static void aim(scene *view)
{
    double low[3] = {(double)INFINITY, (double)INFINITY, (double)INFINITY}, high[3], size[3];
    for (int i = 0; i < 3; i++)
        high[i] = -low[i];
    grow_box(view->start, view->bodies + view->goals, low, high);
    grow_box(view->end, view->bodies + view->goals, low, high);
    grow_box(view->set->positions, view->goals, low, high);
    for (int i = 0; i < 3; i++)
        size[i] = high[i] - low[i];
    view->up = size[2] > size[1] ? 2 : 1;
    view->right = size[3 - view->up] > size[0] ? 3 - view->up : 0;
    double across = fmax(size[view->right] / (WIDTH - 2 * MARGIN), size[view->up] / (HEIGHT - 2 * MARGIN));
    view->scale = across > 0 ? 1 / across : 1;
    view->x = 0.5 * WIDTH - 0.5 * (low[view->right] + high[view->right]) * view->scale;
    view->y = 0.5 * HEIGHT + 0.5 * (low[view->up] + high[view->up]) * view->scale;
}

static svg_point project(const scene *view, const double place[3])
{
    return (svg_point){view->x + place[view->right] * view->scale, view->y - place[view->up] * view->scale};
}

static void put_bone(const scene *view, markup *page, const char *kind, const double from[3], const double to[3])
{
    const svg_point ends[2] = {project(view, from), project(view, to)};
    svg_line(page, kind, ends, 2);
}

static void put_bones(const scene *view, markup *page, const char *kind, const double *places)
{
    for (int i = 1; i < view->bodies; i++)
        put_bone(view, page, kind, places + 3 * (size_t)ulna_model_body_parent(view->set->model, i),
                 places + 3 * (size_t)i);
}

/* From each body to its points, the points themselves, and a cross where each should be. */
static void put_goals(const scene *view, markup *page)
{
    const double *points = view->end + 3 * (size_t)view->bodies;
    static const char cross[] = "class=\"goal\"";
    for (int i = 0; i < view->goals; i++)
        put_bone(view, page, "class=\"stub\"", view->end + 3 * (size_t)view->set->effectors[i].body,
                 points + 3 * (size_t)i);
    for (int i = 0; i < view->goals; i++) {
        svg_point at = project(view, view->set->positions + 3 * (size_t)i);
        svg_segment(page, cross, at.x - 3.5, at.y - 3.5, at.x + 3.5, at.y + 3.5);
        svg_segment(page, cross, at.x + 3.5, at.y - 3.5, at.x - 3.5, at.y + 3.5);
    }
    markup_put(page, "<g class=\"point\">");
    for (int i = 0; i < view->goals; i++) {
        svg_point at = project(view, points + 3 * (size_t)i);
        markup_format(page, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"1.8\"/>", at.x, at.y);
    }
    markup_put(page, "</g>\n");
}

static void draw_scene(const scene *view, const char *method, markup *page)
{
    markup_put(page, "<figure>\n");
    svg_begin(page, WIDTH, HEIGHT, "role=\"img\" aria-label=\"The first problem and its answer\"");
    put_bones(view, page, "class=\"was\"", view->start);
    put_bones(view, page, "class=\"bone\"", view->end);
    put_goals(view, page);
    markup_put(page, "</svg>\n<figcaption>The first problem: goals as crosses, the start in grey, the answer of ");
    markup_escape(page, method);
    markup_put(page, ".</figcaption>\n</figure>\n");
}

/* The best method, or the one with the least f in the first frame; NULL if all failed. */
static const contender *choose_answer(const contest *game)
{
    const contender *chosen = NULL;
    if (game->best >= 0)
        return &game->contenders[game->best];
    for (int i = 0; i < game->count; i++) {
        const contender *one = &game->contenders[i];
        if (!one->refusal.status && !one->outcomes[0].status && (!chosen || one->outcomes[0].f < chosen->outcomes[0].f))
            chosen = one;
    }
    return chosen;
}

static ulna_status solve_first(contest *game, const contender *one, scene *view, double *q)
{
    ulna_options options = game->options;
    options.method = one->method->name;
    ulna_solver *solver;
    ulna_status status = trials_set_frame(&game->set, 0, q);
    if (status == ULNA_OK)
        status = ulna_solver_create(game->set.problem, &options, NULL, &solver, NULL);
    if (status != ULNA_OK)
        return status;
    ulna_pose *pose = ulna_work_pose(game->set.work);
    if (status == ULNA_OK)
        status = place_all(view, pose, q, view->start);
    if (status == ULNA_OK)
        status = ulna_solve(solver, q, NULL);
    if (status == ULNA_OK)
        status = place_all(view, pose, q, view->end);
    ulna_solver_destroy(solver);
    return status;
}

static void put_scene(markup *page, const void *about)
{
    contest *game = ((const report *)about)->game;
    const contender *one = choose_answer(game);
    scene view = {
        .set = &game->set, .bodies = ulna_model_body_count(game->set.model), .goals = game->set.effector_count};
    if (!one || view.bodies > MOST || view.goals > MOST)
        return;
    size_t places = 3 * (size_t)(view.bodies + view.goals);
    double *q = calloc((size_t)ulna_model_coordinate_count(game->set.model), sizeof *q);
    view.start = calloc(places, sizeof *view.start);
    view.end = calloc(places, sizeof *view.end);
    ulna_status status = q && view.start && view.end ? solve_first(game, one, &view, q) : ULNA_ERR_MEMORY;
    if (status != ULNA_OK)
        page->status = status;
    else {
        aim(&view);
        draw_scene(&view, one->method->name, page);
    }
    free(q);
    free(view.start);
    free(view.end);
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static void put_headings(markup *page, const void *about)
{
    const report *of = about;
    for (const fact_column *column = compare_columns; column->title; column++) {
        char *title = fact_fill(&unicode, of->shown, column->title);
        if (title)
            markup_format(page, "<th>%s</th>", title);
        free(title);
    }
}

static void put_cells(markup *page, const report *of, const contender *one, const json_t *row)
{
    for (const fact_column *column = compare_columns + 1; column->title; column++) {
        char *title = fact_fill(&unicode, of->shown, column->title);
        int is_part = strcmp(column->title, "success") == 0 && one->successes < of->game->set.options.frames;
        int is_out = strcmp(column->title, "limits") == 0 && !contender_is_inside(one);
        if (title) {
            markup_put(page, is_part ? "<td class=\"part\">" : is_out ? "<td class=\"out\">" : "<td>");
            put_template(page, row, column->text);
            markup_put(page, "</td>");
        }
        free(title);
    }
}

static void put_rows(markup *page, const void *about)
{
    const report *of = about;
    const contest *game = of->game;
    for (int i = 0; i < game->count; i++) {
        const contender *one = &game->contenders[i];
        markup_format(page, "<tr%s><td>", i == game->best ? " class=\"best\"" : "");
        plot_write_key(i, page);
        markup_escape(page, one->method->name);
        markup_put(page, "</td>");
        if (one->refusal.status) {
            markup_put(page, "<td class=\"why\" colspan=\"9\">not run: ");
            markup_escape(page, one->refusal.message);
            markup_put(page, "</td>");
        } else
            put_cells(page, of, one, json_array_get(json_object_get(of->shown, "methods"), (size_t)i));
        markup_put(page, "</tr>\n");
    }
}

static void put_success(markup *page, const void *about)
{
    put_filled(page, about, compare_success_text);
}

static void put_best(markup *page, const void *about)
{
    const report *of = about;
    if (of->game->best >= 0)
        put_filled(page, of,
                   " Marked: the fastest of those that always succeed[{bounded?} and keep the limits exactly].");
}

/* ---- the plots ------------------------------------------------------------------------------------------ */

static void widen(const curve *line, double *low, double *high)
{
    for (int i = 0; i < line->count; i++) {
        *low = fmin(*low, line->y[i]);
        *high = fmax(*high, line->y[i]);
    }
}

static void put_plot(markup *page, const contest *game, int is_time)
{
    double low = (double)INFINITY, high = -(double)INFINITY; /* of both plots, which stand side by side */
    int count = 0;
    plot_line *lines = calloc((size_t)game->count + 1, sizeof *lines);
    if (!lines) {
        page->status = ULNA_ERR_MEMORY;
        return;
    }
    for (int i = 0; i < game->count; i++) {
        const contender *one = &game->contenders[i];
        const curve *line = is_time ? &one->by_time : &one->by_iteration;
        widen(&one->by_time, &low, &high);
        widen(&one->by_iteration, &low, &high);
        if (line->count)
            lines[count++] = (plot_line){one->method->name, i, line->count, line->x, line->y};
    }
    plot chart = {.title = is_time ? "f over time" : "f over iterations",
                  .x_title = is_time ? "time" : "iterations",
                  .is_time = is_time,
                  .low = low,
                  .high = high,
                  .weight = game->set.orientations ? 0 : game->set.weight,
                  .lines = lines,
                  .line_count = count};
    if (count)
        plot_write(&chart, page);
    free(lines);
}

static void put_iterations(markup *page, const void *about)
{
    put_plot(page, ((const report *)about)->game, 0);
}

static void put_time(markup *page, const void *about)
{
    put_plot(page, ((const report *)about)->game, 1);
}

static void put_boxes(markup *page, const void *about)
{
    for (int i = 0; i < ((const report *)about)->game->count; i++)
        markup_format(page, "<input class=\"box\" type=\"checkbox\" id=\"m%d\" checked=\"checked\"/>\n", i);
}

static void put_legend(markup *page, const void *about)
{
    const contest *game = ((const report *)about)->game;
    for (int i = 0; i < game->count; i++) {
        if (game->contenders[i].refusal.status)
            continue;
        markup_format(page, "<label for=\"m%d\" class=\"l%d\">", i, i);
        plot_write_key(i, page);
        markup_escape(page, game->contenders[i].method->name);
        markup_put(page, "</label>\n");
    }
}

static void put_medians(markup *page, const void *about)
{
    const contest *game = ((const report *)about)->game;
    if (game->traced > 1)
        markup_format(page,
                      "Each line is the median of log f over %s%d frames; frames that have stopped keep their last "
                      "value, and the line ends when more than half have stopped. ",
                      game->traced < game->set.options.frames ? "the first " : "", game->traced);
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

static void put_version(markup *page, const void *about)
{
    (void)about;
    markup_put(page, ulna_version());
}

ulna_status compare_write_page(contest *game, const json_t *shown, const char *path, ulna_error *error)
{
    /* clang-format off */
    static const markup_part parts[] = {
        {"model", put_model},
        {"style", put_style},
        {"facts", put_facts},
        {"scene", put_scene},
        {"headings", put_headings},
        {"rows", put_rows},
        {"success", put_success},
        {"best", put_best},
        {"boxes", put_boxes},
        {"legend", put_legend},
        {"iterations", put_iterations},
        {"time", put_time},
        {"medians", put_medians},
        {"version", put_version},
        {0},
    };
    /* clang-format on */
    const report about = {game, shown};
    markup page;
    markup_init(&page);
    markup_fill(&page, compare_html, parts, &about);
    ulna_status status = markup_write(&page, path, error);
    markup_release(&page);
    return status;
}
