/* The first problem of a contest, drawn: the skeleton at the start and at the answer, and the goals. */
#include "cli/compare/scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 320, HEIGHT = 330, MARGIN = 14, MOST = 3000 }; /* bodies or goals: more would only be a blot */

typedef struct scene {
    const trials *set;
    int bodies, goals;
    double *start, *end; /* 3 x bodies: origins; and those of the goals' points follow */
    int right, up;       /* axes of the paper */
    double scale, x, y;  /* of the drawing */
} scene;

/* ---- where everything is -------------------------------------------------------------------------------- */

static ulna_status place_all(const scene *view, ulna_pose *pose, const double *q, double *places)
{
    ulna_status status = ulna_pose_forward(pose, q);
    for (int i = 0; !status && i < view->bodies; i++)
        status = ulna_pose_body(pose, i, places + 3 * (size_t)i, NULL);
    for (int i = 0; !status && i < view->goals; i++) {
        const ulna_effector *point = &view->set->effectors[i];
        status = ulna_pose_point(pose, point->body, point->point, places + 3 * (size_t)(view->bodies + i));
    }
    return status;
}

static void widen(const double *places, int count, double low[3], double high[3])
{
    for (int i = 0; i < 3 * count; i++) {
        low[i % 3] = fmin(low[i % 3], places[i]);
        high[i % 3] = fmax(high[i % 3], places[i]);
    }
}

/* Up is the longer one of y and z, to the right goes the longer one of the others; then all of it fills the paper. */
static void look(scene *view)
{
    double low[3] = {(double)INFINITY, (double)INFINITY, (double)INFINITY}, high[3], size[3];
    for (int i = 0; i < 3; i++)
        high[i] = -low[i];
    widen(view->start, view->bodies + view->goals, low, high);
    widen(view->end, view->bodies + view->goals, low, high);
    widen(view->set->positions, view->goals, low, high);
    for (int i = 0; i < 3; i++)
        size[i] = high[i] - low[i];
    view->up = size[2] > size[1] ? 2 : 1;
    view->right = size[3 - view->up] > size[0] ? 3 - view->up : 0;
    double across = fmax(size[view->right] / (WIDTH - 2 * MARGIN), size[view->up] / (HEIGHT - 2 * MARGIN));
    view->scale = across > 0 ? 1 / across : 1;
    view->x = 0.5 * WIDTH - 0.5 * (low[view->right] + high[view->right]) * view->scale;
    view->y = 0.5 * HEIGHT + 0.5 * (low[view->up] + high[view->up]) * view->scale;
}

/* ---- drawing -------------------------------------------------------------------------------------------- */

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

static void draw(const scene *view, const char *method, markup *page)
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

/* ---- all of it ------------------------------------------------------------------------------------------ */

/* The best method, or the one with the least f in the first frame; NULL if none came through. */
static const contender *choose(const contest *game)
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

static ulna_status solve_first(contest *game, const contender *one, scene *view, double *q, ulna_error *error)
{
    ulna_options options = game->options;
    options.method = one->method->name;
    ulna_pose *pose = ulna_work_pose(game->set.work);
    ulna_solver *solver;
    ulna_status status = ulna_solver_create(game->set.problem, &options, NULL, &solver, error);
    if (status)
        return status;
    status = trials_set_frame(&game->set, 0, q);
    if (!status)
        status = place_all(view, pose, q, view->start);
    if (!status)
        status = ulna_solve(solver, q, NULL);
    if (!status)
        status = place_all(view, pose, q, view->end);
    ulna_solver_destroy(solver);
    return status ? cli_fail(error, status, "cannot draw the first problem: %s", ulna_status_text(status)) : status;
}

ulna_status scene_write(contest *game, markup *page, ulna_error *error)
{
    const contender *one = choose(game);
    scene view = {
        .set = &game->set, .bodies = ulna_model_body_count(game->set.model), .goals = game->set.effector_count};
    if (!one || view.bodies > MOST || view.goals > MOST)
        return ULNA_OK;
    size_t places = 3 * (size_t)(view.bodies + view.goals);
    double *q = calloc((size_t)ulna_model_coordinate_count(game->set.model), sizeof *q);
    view.start = calloc(places, sizeof *view.start);
    view.end = calloc(places, sizeof *view.end);
    ulna_status status = q && view.start && view.end ? solve_first(game, one, &view, q, error)
                                                     : cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    if (!status) {
        look(&view);
        draw(&view, one->method->name, page);
    }
    free(q);
    free(view.start);
    free(view.end);
    return status;
}
