/* The page of `ulna solve --report`: what was solved, how well, and the take itself. */
#include "cli/solve/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ulna/ulna.h"

static const char head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
    "<meta name=\"color-scheme\" content=\"light dark\"/>\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
    "'unsafe-inline'; img-src data:\"/>\n";

static const char style[] =
    "<style>\n"
    ":root{--paper:#fff;--card:#f6f7f9;--ink:#1b1f24;--faint:#5b6570;--grid:#e3e7eb;--rule:#9aa4ae;"
    "--c0:#0072b2;--c1:#d55e00;--c2:#009e73;--c3:#b8528f}\n"
    "@media(prefers-color-scheme:dark){:root{--paper:#14171b;--card:#1c2026;--ink:#e8ebee;--faint:#9aa5b1;"
    "--grid:#2a3037;--rule:#5c6670;--c0:#4da6e8;--c1:#ff8a4c;--c2:#2fce9f;--c3:#ee9ccb}}\n"
    "*{box-sizing:border-box}\n[hidden]{display:none!important}\n"
    "body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,"
    "\"DejaVu Sans\",sans-serif}\n"
    "main{max-width:1240px;margin:0 auto;padding:28px 20px 40px}\n"
    "h1{font-size:1.6rem;line-height:1.2;margin:0 0 .5em;overflow-wrap:anywhere}\n"
    "h2{font-size:1.1rem;margin:2em 0 .6em}\np{margin:.3em 0}\n"
    ".note,figcaption,footer{color:var(--faint);font-size:.87rem}\n"
    ".figures{display:grid;grid-template-columns:repeat(auto-fit,minmax(130px,1fr));gap:10px}\n"
    ".figures div{background:var(--card);border-radius:10px;padding:10px 14px}\n"
    ".figures b{display:block;font-size:1.35rem;line-height:1.25;font-variant-numeric:tabular-nums}\n"
    ".figures span{color:var(--faint);font-size:.85rem}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.25em 1.2em;margin:1.2em 0 0}\n"
    "dt{color:var(--faint)}\ndd{margin:0;overflow-wrap:anywhere}\n"
    "canvas{display:block;width:100%;touch-action:none}\n"
    "#scene{height:min(62vh,560px);background:var(--card);border-radius:10px;cursor:grab}\n"
    "#scene:active{cursor:grabbing}\n"
    ".controls{display:flex;flex-wrap:wrap;gap:8px 14px;align-items:center;margin:10px 0}\n"
    ".controls input[type=range]{flex:1 1 260px}\n#now{min-width:15em;font-variant-numeric:tabular-nums}\n"
    "button,select,input[type=search]{font:inherit;color:inherit;background:var(--card);border:1px solid var(--rule);"
    "border-radius:7px;padding:.25em .8em}\nbutton{min-width:5em;cursor:pointer}\n"
    ".chart{height:190px}\n.low{height:110px}\n.small{height:74px}\n"
    ".charts figure,#joints figure{margin:0 0 12px;background:var(--card);border-radius:10px;padding:8px 10px}\n"
    "#joints{display:grid;grid-template-columns:repeat(auto-fill,minmax(210px,1fr));gap:10px}\n"
    "#joints figure{margin:0}\n.out{color:var(--c1)}\n"
    ".scroll{overflow-x:auto}\ntable{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}\n"
    "th,td{padding:.3em .7em;text-align:right;border-bottom:1px solid var(--grid);white-space:nowrap}\n"
    "th{color:var(--faint);font-weight:500;font-size:.87rem;border-bottom-color:var(--rule)}\n"
    "th:nth-child(-n+2),td:nth-child(-n+2){text-align:left}\n"
    ".bar{display:inline-block;height:.6em;border-radius:3px;background:var(--c0);margin-left:.7em}\n"
    "td.way{width:30%;text-align:left}\na{color:var(--c0)}\n"
    ".key{display:inline-block;width:.75em;height:.75em;border-radius:50%;margin:0 .35em 0 .9em}\n"
    "footer{margin-top:2.5em;border-top:1px solid var(--grid);padding-top:.8em}\n</style>\n";

/* ---- the beginning ------------------------------------------------------------------------------------------- */

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

static void put_figure(markup *page, const char *label, const char *format, double value)
{
    char text[64];
    snprintf(text, sizeof text, format, value);
    markup_format(page, "<div><b>%s</b><span>%s</span></div>\n", text, label);
}

static void put_fact(markup *page, const char *label, const char *text)
{
    markup_format(page, "<dt>%s</dt><dd>", label);
    markup_escape(page, text);
    markup_put(page, "</dd>\n");
}

static void put_facts(const solve_job *job, markup *page)
{
    static const char *const attach[] = {"where the skeleton's own markers are", "",
                                         "offsets averaged over the reference motion",
                                         "offsets of each frame of the reference motion (oracle)"};
    const ulna_track_options *o = &job->options;
    char text[700];
    markup_put(page, "<dl>\n");
    snprintf(text, sizeof text, "%.300s: %d bodies, %d degrees of freedom", job->skeleton_path,
             ulna_model_body_count(job->model), ulna_model_dof_count(job->model));
    put_fact(page, "Skeleton", text);
    snprintf(text, sizeof text, "%.300s: frames %d to %d, %d markers used", job->markers_path, job->take.first_frame,
             job->take.first_frame + job->take.frame_count - 1, (int)job->set.count);
    put_fact(page, "Recording", text);
    put_fact(page, "Markers sit", job->attach == ATTACH_FILE ? job->attach_path : attach[job->attach]);
    put_fact(page, "Axes", job->axes_text);
    snprintf(text, sizeof text, "%s; limits %s%.200s%s%s", o->solve.method ? o->solve.method : "hybrid",
             !job->bounded      ? "ignored"
             : job->bounds_path ? "from "
                                : "of the skeleton",
             job->bounds_path ? job->bounds_path : "", o->loss ? "; robust" : "", o->smooth > 0 ? "; smoothed" : "");
    put_fact(page, "Method", text);
    markup_put(page, "</dl>\n");
}

static void put_top(const solve_job *job, markup *page)
{
    const ulna_track_summary *s = &job->summary;
    markup_put(page, "<h1>");
    markup_escape(page, file_name(job->markers_path));
    markup_put(page, "</h1>\n<div class=\"figures\">\n");
    put_figure(page, "frames", "%.0f", s->frames);
    put_figure(page, "mm rms, mean", "%.2f", 1e3 * s->rms_mean);
    put_figure(page, "mm rms, worst frame", "%.2f", 1e3 * s->rms_max);
    put_figure(page, "cm sum over markers", "%.2f", 1e2 * s->sum_mean);
    put_figure(page, "marker positions missing", "%.0f", (double)s->missing);
    put_figure(page, "frames recovered", "%.0f", s->recovered);
    put_figure(page, "frames lost", "%.0f", s->lost);
    put_figure(page, "µs a frame, median", "%.1f", job->us_median);
    markup_put(page, "</div>\n");
    put_facts(job, page);
}

/* ---- the player and the charts: the script fills them -------------------------------------------------------- */

static void put_player(const solve_job *job, markup *page)
{
    static const char *const speeds[] = {"0.1", "0.25", "0.5", "1", "2", "4"};
    markup_put(page, "<section id=\"player\">\n<h2>The take</h2>\n<canvas id=\"scene\" tabindex=\"0\" "
                     "aria-label=\"The skeleton and its markers\"></canvas>\n<div class=\"controls\">\n"
                     "<button id=\"play\" type=\"button\">Play</button>\n"
                     "<input id=\"slider\" type=\"range\" min=\"0\" value=\"0\" aria-label=\"Frame\"/>\n"
                     "<span id=\"now\"></span>\n<label>speed <select id=\"speed\">");
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        markup_format(page, "<option%s>%s</option>", i == 3 ? " selected" : "", speeds[i]);
    markup_put(page, "</select></label>\n<label><input id=\"follow\" type=\"checkbox\" checked/> follow</label>\n"
                     "<label><input id=\"names\" type=\"checkbox\"/> names</label>\n</div>\n"
                     "<p class=\"note\"><span class=\"key\" style=\"border:2px solid var(--c1)\"></span>marker as "
                     "recorded<span class=\"key\" style=\"background:var(--c0)\"></span>the same marker on the "
                     "skeleton. Drag to turn, wheel to zoom, space to play, arrows to step.");
    if (report_stride(job) > 1)
        markup_format(page, " Every %s%.0d frame is shown; charts keep the largest value of those between.",
                      report_stride(job) == 2 ? "second" : "", report_stride(job) == 2 ? 0 : report_stride(job));
    markup_put(page, "</p>\n<noscript><p class=\"out\">The player and the charts need JavaScript, which is switched "
                     "off.</p></noscript>\n</section>\n");
}

static void put_charts(markup *page)
{
    markup_put(
        page,
        "<section class=\"charts\">\n<h2>Over time</h2>\n"
        "<figure><figcaption>Root mean square distance of the markers, mm, over frames. Marked:"
        "<span class=\"key\" style=\"background:var(--c1)\"></span>lost"
        "<span class=\"key\" style=\"background:var(--c2)\"></span>recovered"
        "<span class=\"key\" style=\"background:var(--rule)\"></span>no marker seen"
        "<span class=\"key\" style=\"background:var(--c3)\"></span>outliers</figcaption>"
        "<canvas id=\"rms\" class=\"chart\"></canvas></figure>\n"
        "<figure><figcaption>Iterations; frames far above the others, as the first, leave the "
        "picture</figcaption><canvas id=\"iterations\" class=\"low\"></canvas></figure>\n"
        "<figure><figcaption>Markers missing</figcaption><canvas id=\"missing\" class=\"low\"></canvas></figure>\n"
        "</section>\n");
}

static void put_joints(markup *page)
{
    markup_put(page, "<section>\n<h2>Joint values</h2>\n<div class=\"controls\"><input id=\"filter\" type=\"search\" "
                     "placeholder=\"names, such as knee or lfemur\" aria-label=\"Joints by name\"/>\n"
                     "<label><input id=\"only\" type=\"checkbox\"/> only those outside their limits</label>\n"
                     "<span class=\"note\" id=\"shown\"></span></div>\n"
                     "<p class=\"note\">Degrees and metres; dashed: limits.</p>\n<div id=\"joints\"></div>\n"
                     "</section>\n");
}

/* ---- markers, worst first ------------------------------------------------------------------------------------ */

typedef struct ranked {
    const solve_marker *marker;
    int index;
} ranked;

static int by_rms(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->marker->rms != y->marker->rms)
        return x->marker->rms < y->marker->rms ? 1 : -1;
    return x->index - y->index;
}

static void put_marker(const solve_job *job, const ranked *row, double largest, markup *page)
{
    const ulna_attachment *item = &job->set.items[row->index];
    const solve_marker *m = row->marker;
    int missing = job->take.frame_count - m->seen, frame = m->worst_frame + job->take.first_frame;
    markup_put(page, "<tr><td>");
    markup_escape(page, item->marker);
    markup_put(page, "</td><td>");
    markup_escape(page, ulna_model_body_name(job->model, item->body));
    markup_format(page, "</td><td>%.2f</td><td>%.2f</td><td>%.2f</td>", 1e3 * m->rms, 1e3 * m->mean, 1e3 * m->worst);
    markup_format(page, "<td><a href=\"#player\" data-frame=\"%d\">%d</a></td><td>%d</td><td>%d</td>", frame, frame,
                  missing, m->outliers);
    markup_format(page, "<td class=\"way\"><span class=\"bar\" style=\"width:%.1f%%\"></span></td></tr>\n",
                  largest > 0 ? 90 * m->rms / largest : 0.0);
}

static ulna_status put_markers(const solve_job *job, markup *page, ulna_error *error)
{
    size_t count = job->set.count;
    ranked *rows = calloc(count + 1, sizeof *rows);
    if (!rows)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    for (size_t i = 0; i < count; i++)
        rows[i] = (ranked){&job->marker[i], (int)i};
    qsort(rows, count, sizeof *rows, by_rms);
    markup_put(page, "<section>\n<h2>Markers, worst first</h2>\n<div class=\"scroll\"><table id=\"markers\">\n"
                     "<tr><th>marker</th><th>bone</th><th>rms mm</th><th>mean mm</th><th>worst mm</th><th>in frame</th>"
                     "<th>frames missing</th><th>outlying</th><th></th></tr>\n");
    for (size_t i = 0; i < count; i++)
        put_marker(job, &rows[i], rows[0].marker->rms, page);
    markup_put(page, "</table></div>\n</section>\n");
    free(rows);
    return ULNA_OK;
}

/* ---- frames to look at --------------------------------------------------------------------------------------- */

/* Runs of frames with the same mark. */
static void put_runs(const solve_job *job, unsigned flag, const char *what, markup *page)
{
    enum { SHOWN = 30 };
    int shown = 0;
    for (int f = 0; f < job->take.frame_count; f++) {
        if (!(job->frames[f].flags & flag))
            continue;
        int end = f;
        while (end + 1 < job->take.frame_count && (job->frames[end + 1].flags & flag))
            end++;
        int first = f + job->take.first_frame, last = end + job->take.first_frame;
        if (shown == 0)
            markup_format(page, "<dt>%s</dt><dd>", what);
        if (shown < SHOWN) {
            markup_format(page, "%s<a href=\"#player\" data-frame=\"%d\">%d", shown ? ", " : "", first, first);
            if (last > first)
                markup_format(page, "–%d", last);
            markup_put(page, "</a>");
        }
        shown++;
        f = end;
    }
    if (shown > SHOWN)
        markup_format(page, " and %d more", shown - SHOWN);
    markup_put(page, shown ? "</dd>\n" : "");
}

static void put_swaps(const solve_job *job, markup *page)
{
    for (int i = 0; i < job->swap_count; i++) {
        const solve_swap *w = &job->swaps[i];
        int first = w->first + job->take.first_frame, last = w->last + job->take.first_frame;
        markup_put(page, i ? ", " : "<dt>Swapped</dt><dd>");
        markup_escape(page, job->set.items[w->a].marker);
        markup_put(page, " and ");
        markup_escape(page, job->set.items[w->b].marker);
        markup_format(page, " in <a href=\"#player\" data-frame=\"%d\">%d–%d</a>", first, first, last);
    }
    markup_put(page, job->swap_count ? "</dd>\n" : "");
}

static void put_frames(const solve_job *job, markup *page)
{
    const ulna_track_summary *s = &job->summary;
    if (s->lost + s->recovered + s->empty + s->with_outliers == 0)
        return;
    markup_put(page, "<section>\n<h2>Frames to look at</h2>\n<dl>\n");
    put_runs(job, ULNA_TRACK_LOST, "Lost", page);
    put_runs(job, ULNA_TRACK_RECOVERED, "Recovered", page);
    put_runs(job, ULNA_TRACK_EMPTY, "No marker seen", page);
    put_runs(job, ULNA_TRACK_OUTLIERS, "Outliers", page);
    put_swaps(job, page);
    markup_put(page, "</dl>\n</section>\n");
}

static void put_notes(const solve_job *job, markup *page)
{
    if (!json_array_size(job->notes))
        return;
    markup_put(page, "<section>\n<h2>Notes</h2>\n<ul>\n");
    for (size_t i = 0; i < json_array_size(job->notes); i++) {
        markup_put(page, "<li>");
        markup_escape(page, json_string_value(json_array_get(job->notes, i)));
        markup_put(page, "</li>\n");
    }
    markup_put(page, "</ul>\n</section>\n");
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

ulna_status report_write(const solve_job *job, const char *path, ulna_error *error)
{
    markup page;
    markup_init(&page);
    markup_put(&page, head);
    markup_put(&page, "<title>");
    markup_escape(&page, file_name(job->markers_path));
    markup_put(&page, " · Ulna</title>\n");
    markup_put(&page, style);
    markup_put(&page, "</head>\n<body>\n<main>\n");
    put_top(job, &page);
    put_player(job, &page);
    put_frames(job, &page);
    put_charts(&page);
    ulna_status status = put_markers(job, &page, error);
    put_joints(&page);
    put_notes(job, &page);
    markup_put(&page, "<footer>Made by ulna solve, version " ULNA_VERSION_STRING
                      ". Distances are between markers as recorded and as the solved skeleton has them.</footer>\n"
                      "</main>\n<script>\n");
    if (!status)
        status = report_put_data(job, &page, error);
    for (int i = 0; report_script[i]; i++)
        markup_put(&page, report_script[i]);
    markup_put(&page, "</script>\n</body>\n</html>\n");
    if (!status)
        status = markup_write(&page, path, error);
    markup_release(&page);
    return status;
}
