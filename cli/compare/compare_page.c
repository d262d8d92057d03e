/* The page of `ulna compare --report`: one HTML file that needs nothing else, not even a script. */
#include "cli/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/compare/plot.h"
#include "cli/compare/scene.h"
#include "ulna/ulna.h"

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
                           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
                           "<meta name=\"color-scheme\" content=\"light dark\"/>\n";

static const char style[] =
    "<style>\n"
    ":root{--paper:#fff;--card:#f6f7f9;--ink:#1b1f24;--faint:#5b6570;--grid:#e3e7eb;--rule:#9aa4ae;--good:#e7f4ee;\n"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b8528f;--c4:#c58b00;--c5:#2a9fd6;--c6:#5a5f66;--c7:#8a5a2b}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1c2026;--ink:#e8ebee;--faint:#9aa5b1;"
    "--grid:#2a3037;--rule:#5c6670;--good:#16332a;\n"
    "--c0:#4da6e8;--c1:#ff8a4c;--c2:#2fce9f;--c3:#ee9ccb;--c4:#f2bd42;--c5:#8ad4ff;--c6:#c3c9d0;--c7:#cfa06a}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"DejaVu Sans\",sans-serif}\n"
    "main{max-width:1240px;margin:0 auto;padding:28px 20px 40px}\n"
    "h1{font-size:1.7rem;line-height:1.2;margin:0 0 .3em}\nh2{font-size:1.1rem;margin:2em 0 .6em}\n"
    "p{margin:.3em 0}\n.note,figcaption,footer{color:var(--faint);font-size:.87rem}\n"
    ".top{display:flex;flex-wrap:wrap;gap:28px;align-items:center}\n.top>div{flex:1 1 420px}\n"
    ".top figure{flex:0 1 300px;margin:0}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25em 1.2em;margin:1em 0 0}\n"
    "dt{color:var(--faint)}\ndd{margin:0;overflow-wrap:anywhere}\n"
    ".scroll{overflow-x:auto}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.38em .7em;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}\n"
    "th{color:var(--faint);font-weight:500;font-size:.87rem;vertical-align:bottom;border-bottom-color:var(--rule)}\n"
    "th:first-child,td:first-child,th:last-child,td:last-child,td.why{text-align:left}\n"
    "td:last-child,td.why{white-space:normal;min-width:9em;color:var(--faint)}\n"
    "td:first-child{font-weight:600}\ntr.best td{background:var(--good)}\n"
    ".out{color:var(--c1)}\n.part{color:var(--c1)}\n"
    ".key{width:30px;height:12px;vertical-align:-1px;margin-right:.5em}\n"
    ".legend{display:flex;flex-wrap:wrap;gap:.2em .4em;margin:0 0 .8em}\n"
    ".legend label{cursor:pointer;padding:.1em .6em;border-radius:1em;background:var(--card);font-size:.9rem}\n"
    ".box{position:absolute;opacity:0;pointer-events:none}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,460px),1fr));gap:20px}\n"
    ".figures figure{margin:0;background:var(--card);border-radius:10px;padding:14px 14px 10px}\n"
    "figure h3{font-size:1rem;margin:0 0 "
    ".3em}\nsvg{display:block;width:100%;height:auto}\nsvg.key{display:inline-block}\n"
    "svg text{fill:var(--faint);font-size:11px}\n.power{font-size:8.5px}\n"
    ".grid{stroke:var(--grid);fill:none}\n.tick{stroke:var(--rule);fill:none}\n"
    ".line{fill:var(--c)}\n.stroke{fill:none;stroke:var(--c);stroke-width:1.9;stroke-linejoin:round;"
    "stroke-linecap:round}\n"
    ".grab{fill:none;stroke:transparent;stroke-width:12}\n"
    ".lines:hover .line{opacity:.2}\n.lines .line:hover{opacity:1}\n.lines .line:hover .stroke{stroke-width:3}\n"
    "svg .label{fill:var(--c);font-weight:600;paint-order:stroke;stroke:var(--card);stroke-width:3px;"
    "stroke-linejoin:round;pointer-events:none}\n"
    ".bone{stroke:var(--ink);stroke-width:3;stroke-linecap:round;fill:none}\n"
    ".was{stroke:var(--rule);stroke-width:2;stroke-linecap:round;fill:none;opacity:.6}\n"
    ".stub{stroke:var(--ink);stroke-width:1;opacity:.45;fill:none}\n"
    ".goal{stroke:var(--c1);stroke-width:1.6;fill:none}\n.point{fill:var(--c0)}\n"
    "footer{margin-top:2.5em;border-top:1px solid var(--grid);padding-top:.8em}\n";

/* ---- the beginning -------------------------------------------------------------------------------------- */

/* A check box that is ticked off hides the lines of a method; no script is needed for that. */
static void put_style(markup *page, int count)
{
    markup_put(page, style);
    for (int i = 0; i < count; i++)
        markup_format(page,
                      "#m%d:not(:checked)~.figures .s%d{display:none}#m%d:not(:checked)~.legend .l%d{opacity:.4}"
                      "#m%d:focus-visible~.legend .l%d{outline:2px solid var(--c0)}\n",
                      i, i, i, i, i, i);
    markup_put(page, "</style>\n");
}

static void put_fact(markup *page, const char *label, const char *text)
{
    markup_format(page, "<dt>%s</dt><dd>", label);
    markup_escape(page, text);
    markup_put(page, "</dd>\n");
}

static void put_skeleton(const story *told, markup *page)
{
    const ulna_model *model = told->game->set.model;
    char text[1024];
    int limited = 0, dofs = ulna_model_dof_count(model);
    for (int i = 0; i < dofs; i++)
        limited += isfinite(ulna_model_lower(model)[i]) || isfinite(ulna_model_upper(model)[i]);
    snprintf(text, sizeof text, "%.300s: %d bodies, %d degrees of freedom, %d with limits", told->model,
             ulna_model_body_count(model), dofs, limited);
    put_fact(page, "Skeleton", text);
}

static void put_facts(const story *told, markup *page)
{
    const contest *game = told->game;
    const trial_options *options = &game->set.options;
    char text[1024], goals_text[256];
    markup_put(page, "<dl>\n");
    put_skeleton(told, page);
    words_goals(told, goals_text, sizeof goals_text);
    snprintf(text, sizeof text, "%s%s%.200s", goals_text, told->source ? ", from " : "",
             told->source ? told->source : "");
    put_fact(page, "Goals", text);
    words_start(told, 0, text, sizeof text);
    put_fact(page, "Start", text);
    if (game->set.is_made || options->frames > 1)
        snprintf(text, sizeof text, "%d, the same for all methods (seed %llu)", options->frames,
                 (unsigned long long)options->seed);
    else
        snprintf(text, sizeof text, "%d", options->frames);
    put_fact(page, "Frames", text);
    put_fact(page, "Joint limits", options->bounded ? "wanted; methods that cannot keep them do not" : "ignored");
    snprintf(text, sizeof text, "f ≤ %.0e m², or when it falls no further%s", game->options.objective,
             game->options.iterations ? "; " : "");
    if (game->options.iterations)
        snprintf(text + strlen(text), sizeof text - strlen(text), "at most %d iterations", game->options.iterations);
    put_fact(page, "Stop", text);
    put_fact(page, "Kernel", ulna_pose_kernel(ulna_work_pose(game->set.work)));
    markup_put(page, "</dl>\n");
}

/* ---- the table ------------------------------------------------------------------------------------------ */

static void put_cell(markup *page, const char *class, const char *text)
{
    markup_format(page, *class ? "<td class=\"%s\">" : "<td>", class);
    markup_escape(page, text);
    markup_put(page, "</td>");
}

static void put_results(const contest *game, const contender *one, markup *page)
{
    char text[512];
    int frames = game->set.options.frames;
    snprintf(text, sizeof text, "%d/%d", one->successes, frames);
    put_cell(page, one->successes < frames ? "part" : "", text);
    words_f(one->f.median, text, sizeof text);
    put_cell(page, "", text);
    if (game->set.points) {
        words_rms(one->rms_mm.median, text, sizeof text);
        put_cell(page, "", text);
    }
    if (game->set.orientations) {
        words_rms(one->rms_deg.median, text, sizeof text);
        put_cell(page, "", text);
    }
    words_count(one->iterations.median, text, sizeof text);
    put_cell(page, "", text);
    words_count(one->evaluations.median, text, sizeof text);
    put_cell(page, "", text);
    words_us(one->us.median, text, sizeof text);
    put_cell(page, "", text);
    words_limits(one, 0, text, sizeof text);
    put_cell(page, contender_is_inside(one) ? "" : "out", text);
    words_stops(one, text, sizeof text);
    put_cell(page, "", text);
}

static void put_row(const contest *game, int index, markup *page)
{
    const contender *one = &game->contenders[index];
    int columns = 7 + (game->set.points > 0) + (game->set.orientations > 0);
    markup_format(page, "<tr%s><td>", index == game->best ? " class=\"best\"" : "");
    plot_write_key(index, page);
    markup_escape(page, one->method->name);
    markup_put(page, "</td>");
    if (one->refusal.status) {
        markup_format(page, "<td class=\"why\" colspan=\"%d\">not run: ", columns);
        markup_escape(page, one->refusal.message);
        markup_put(page, "</td>");
    } else
        put_results(game, one, page);
    markup_put(page, "</tr>\n");
}

static void put_table(const contest *game, markup *page)
{
    char text[256];
    markup_put(page, "<h2>Results</h2>\n<div class=\"scroll\"><table>\n<thead><tr><th>method</th><th>success</th>"
                     "<th>f in m²</th>");
    if (game->set.points)
        markup_put(page, "<th>rms in mm</th>");
    if (game->set.orientations)
        markup_put(page, "<th>rms in °</th>");
    markup_put(page, "<th>iterations</th><th>evaluations</th><th>µs a solve</th><th>limits</th><th>stopped by</th>"
                     "</tr></thead>\n<tbody>\n");
    for (int i = 0; i < game->count; i++)
        put_row(game, i, page);
    markup_put(page, "</tbody></table></div>\n<p class=\"note\">");
    if (game->set.options.frames > 1)
        markup_put(page, "Medians over the frames; limits: the farthest outside of all. ");
    words_success(game, 0, text, sizeof text);
    markup_escape(page, text);
    markup_put(page, " Rms: over the goals, unweighted. Time: the best of up to five runs of a solve.");
    if (game->best >= 0)
        markup_format(page, " Marked: the fastest of those that always succeed%s.",
                      game->set.options.bounded ? " and keep to the limits exactly" : "");
    markup_put(page, "</p>\n");
}

/* ---- the plots ------------------------------------------------------------------------------------------ */

static void widen(const curve *line, double *low, double *high)
{
    for (int i = 0; i < line->count; i++) {
        *low = fmin(*low, line->y[i]);
        *high = fmax(*high, line->y[i]);
    }
}

static void put_figure(const contest *game, int is_time, plot_line *lines, markup *page)
{
    double low = (double)INFINITY, high = -(double)INFINITY; /* of both figures, which stand side by side */
    int count = 0;
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
    markup_format(page, "<figure><h3>%s</h3>\n", is_time ? "Convergence over time" : "Convergence over iterations");
    if (count)
        plot_write(&chart, page);
    markup_put(page, "</figure>\n");
}

static void put_plots(const contest *game, plot_line *lines, markup *page)
{
    markup_put(page, "<h2>Convergence</h2>\n<section>\n");
    for (int i = 0; i < game->count; i++)
        markup_format(page, "<input class=\"box\" type=\"checkbox\" id=\"m%d\" checked=\"checked\"/>\n", i);
    markup_put(page, "<div class=\"legend\">\n");
    for (int i = 0; i < game->count; i++) {
        if (game->contenders[i].refusal.status)
            continue;
        markup_format(page, "<label for=\"m%d\" class=\"l%d\">", i, i);
        plot_write_key(i, page);
        markup_escape(page, game->contenders[i].method->name);
        markup_put(page, "</label>\n");
    }
    markup_put(page, "</div>\n<div class=\"figures\">\n");
    put_figure(game, 0, lines, page);
    put_figure(game, 1, lines, page);
    markup_put(page, "</div>\n<p class=\"note\">");
    if (game->traced > 1)
        markup_format(
            page,
            "Each line is the median of log f over %s%d frames, where those that have ended stay; it goes on until "
            "more than half of them have. ",
            game->traced < game->set.options.frames ? "the first " : "", game->traced);
    markup_put(page,
               "f is what the method itself sees. Watching costs time, a gradient in every iteration at least: the "
               "clock of the watched run is scaled so that it ends at the time of an unwatched one, which is the "
               "one in the table. Choose a name above to hide or show its lines.</p>\n</section>\n");
}

/* ---- all of it ------------------------------------------------------------------------------------------ */

static ulna_status put_page(const story *told, plot_line *lines, markup *page, ulna_error *error)
{
    const contest *game = told->game;
    markup_put(page, head);
    markup_put(page, "<title>Ulna: methods on ");
    markup_escape(page, told->model);
    markup_put(page, "</title>\n");
    put_style(page, game->count);
    markup_put(page, "</head>\n<body>\n<main>\n<div class=\"top\">\n<div>\n<h1>Methods of inverse kinematics, side by "
                     "side</h1>\n<p>Each method solves the same problems: which joint parameters bring the skeleton to "
                     "its goals?</p>\n");
    put_facts(told, page);
    markup_put(page, "</div>\n");
    ulna_status status = scene_write(told->game, page, error);
    markup_put(page, "</div>\n");
    put_table(game, page);
    put_plots(game, lines, page);
    markup_format(page, "<footer>Written by ulna %s compare.</footer>\n</main>\n</body>\n</html>\n", ulna_version());
    return status;
}

ulna_status compare_write_page(const story *told, const char *path, ulna_error *error)
{
    markup page;
    markup_init(&page);
    plot_line *lines = calloc((size_t)told->game->count + 1, sizeof *lines);
    ulna_status status =
        lines ? put_page(told, lines, &page, error) : cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    if (!status)
        status = markup_write(&page, path, error);
    markup_release(&page);
    free(lines);
    return status;
}
