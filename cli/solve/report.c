/* The page of `ulna solve --report`: what was solved, how well, and the take itself. */
#include "cli/solve/report.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ulna/ulna.h"

/* Files of report/, embedded by the build. */
extern const char report_html[], report_css[];
extern const char data_mjs[], time_mjs[], scene_mjs[], chart_mjs[], map_mjs[], joints_mjs[], report_mjs[];

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

static void put_list_of(markup *page, const json_t *texts)
{
    markup_put(page, "<ul>\n");
    for (size_t i = 0; i < json_array_size(texts); i++) {
        markup_put(page, "<li>");
        markup_escape(page, json_string_value(json_array_get(texts, i)));
        markup_put(page, "</li>\n");
    }
    markup_put(page, "</ul>\n");
}

static void put_fact(markup *page, const char *label, const char *text)
{
    markup_format(page, "<dt>%s</dt><dd>", label);
    markup_escape(page, text);
    markup_put(page, "</dd>\n");
}

static void put_facts(markup *page, const void *about)
{
    const solve_job *job = about;
    const ulna_track_options *o = &job->options;
    char text[700];
    char skeleton[400];
    solve_skeleton_text(job, skeleton, sizeof skeleton);
    snprintf(text, sizeof text, "%s: %d bodies, %d degrees of freedom", skeleton, ulna_model_body_count(job->model),
             ulna_model_dof_count(job->model));
    put_fact(page, "Skeleton", text);
    snprintf(text, sizeof text, "%.300s: frames %d to %d, %d markers used", job->markers_path, job->take->first_frame,
             job->take->first_frame + job->take->frame_count - 1, (int)job->take->set.count);
    put_fact(page, "Recording", text);
    solve_attach_text(job, text, sizeof text);
    put_fact(page, "Where markers are", text);
    solve_axes_sentence(job->take, text, sizeof text);
    put_fact(page, "Axes", text);
    snprintf(text, sizeof text, "%s; limits %s%.200s%s%s", o->solve.method ? o->solve.method : "hybrid",
             !job->bounded      ? "may be exceeded"
             : job->bounds_path ? "from "
                                : "of the skeleton",
             job->bounds_path ? job->bounds_path : "", o->loss ? "; robust" : "", o->smooth > 0 ? "; smoothed" : "");
    put_fact(page, "Method", text);
    if (json_object_get(job->object, "compared"))
        put_fact(page, "Ghost", solve_ghost_path(job));
}

static void put_title(markup *page, const void *about)
{
    const solve_job *job = about;
    markup_escape(page, file_name(job->markers_path));
}

/* First of all: can it be used? */
static void put_verdict(markup *page, const void *about)
{
    const solve_job *job = about;
    const json_t *reasons = json_object_get(job->object, "reasons");
    const char *text = solve_verdict_text(job->result.trust.verdict);
    const char *sample = json_string_value(json_object_get(job->object, "sample"));
    if (sample) {
        markup_put(page, "<p>");
        markup_escape(page, sample);
        markup_put(page, "</p>\n");
    }
    markup_format(page, "<div class=\"verdict %s\"><strong>%c%s</strong>\n",
                  json_string_value(json_object_get(job->object, "verdict")), toupper((unsigned char)*text), text + 1);
    if (!json_array_size(reasons))
        markup_put(page,
                   "<p>No frame is lost, doubtful or bridged, no joint jumps, and no marker is out of place.</p>\n");
    else
        put_list_of(page, reasons);
    markup_put(page, "</div>\n");
}

static void put_figures(markup *page, const void *about)
{
    const solve_job *job = about;
    const ulna_track_summary *s = &job->result.summary;
    put_figure(page, "frames", "%.0f", s->frames);
    put_figure(page, "mm rms, typical", "%.2f", 1e3 * job->result.trust.typical_rms);
    put_figure(page, "mm rms, all frames", "%.2f", 1e3 * s->rms_mean);
    put_figure(page, "mm rms, worst frame", "%.2f", 1e3 * s->rms_max);
    put_figure(page, "cm sum over markers", "%.2f", 1e2 * s->sum_mean);
    put_figure(page, "marker positions missing", "%.0f", (double)s->missing);
    put_figure(page, "frames lost", "%.0f", s->lost);
    put_figure(page, "µs a frame, median", "%.1f", s->us_median);
}

static void put_thinned(markup *page, const void *about)
{
    int stride = report_stride(about);
    if (stride > 1)
        markup_format(page, " One of %d frames is shown; charts keep the largest value of those between.", stride);
}

/* ---- markers, worst first ------------------------------------------------------------------------------------ */

typedef struct ranked {
    const ulna_marker_report *marker;
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
    const ulna_attachment *item = &job->take->set.items[row->index];
    const ulna_marker_report *m = row->marker;
    int missing = job->take->frame_count - m->seen, frame = m->worst_frame + job->take->first_frame;
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

static void put_markers(markup *page, const void *about)
{
    const solve_job *job = about;
    size_t count = job->take->set.count;
    ranked *rows = calloc(count + 1, sizeof *rows);
    if (!rows) {
        page->status = ULNA_ERR_MEMORY;
        return;
    }
    for (size_t i = 0; i < count; i++)
        rows[i] = (ranked){&job->result.markers[i], (int)i};
    qsort(rows, count, sizeof *rows, by_rms);
    for (size_t i = 0; i < count; i++)
        put_marker(job, &rows[i], rows[0].marker->rms, page);
    free(rows);
}

/* ---- frames to look at --------------------------------------------------------------------------------------- */

static void put_link(markup *page, long long first, long long last)
{
    markup_format(page, "<a href=\"#player\" data-frame=\"%lld\">%lld", first, first);
    if (last > first)
        markup_format(page, "–%lld", last);
    markup_put(page, "</a>");
}

/* The ranges of one mark, as --json has them. */
static void put_ranges(const solve_job *job, const solve_mark *mark, markup *page)
{
    enum { SHOWN = 30 };
    const json_t *list = json_object_get(json_object_get(job->object, "ranges"), mark->label);
    size_t count = json_array_size(list);
    long long frames = json_integer_value(json_object_get(job->object, solve_mark_count(mark)));
    if (!count)
        return;
    markup_format(page, "<dt><span class=\"key %s\"></span>%s</dt><dd><span class=\"note\">%lld frame%s: %s.</span> ",
                  mark->colour, mark->label, frames, frames == 1 ? "" : "s", mark->meaning);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        const json_t *range = json_array_get(list, i);
        markup_put(page, i ? ", " : "");
        put_link(page, json_integer_value(json_array_get(range, 0)), json_integer_value(json_array_get(range, 1)));
    }
    if (count > SHOWN)
        markup_format(page, " and %zu more", count - SHOWN);
    markup_put(page, "</dd>\n");
}

static void put_swaps(const solve_job *job, markup *page)
{
    for (int i = 0; i < job->result.swap_count; i++) {
        const ulna_swap *w = &job->result.swaps[i];
        markup_put(page, i ? ", " : "<dt><span class=\"key c4\"></span>swapped</dt><dd>");
        markup_escape(page, job->take->set.items[w->a].marker);
        markup_put(page, " and ");
        markup_escape(page, job->take->set.items[w->b].marker);
        markup_put(page, " in ");
        put_link(page, (long long)w->first + job->take->first_frame, (long long)w->last + job->take->first_frame);
    }
    markup_put(page, job->result.swap_count ? "</dd>\n" : "");
}

static void put_frames(markup *page, const void *about)
{
    const solve_job *job = about;
    int count = job->result.swap_count;
    for (const solve_mark *mark = solve_marks; mark->flag; mark++)
        count += (int)json_integer_value(json_object_get(job->object, solve_mark_count(mark)));
    if (!count)
        return;
    markup_put(page, "<section id=\"frames\">\n<h2>Frames to look at</h2>\n<dl>\n");
    for (const solve_mark *mark = solve_marks; mark->flag; mark++)
        put_ranges(job, mark, page);
    put_swaps(job, page);
    markup_put(page, "</dl>\n</section>\n");
}

static void put_notes(markup *page, const void *about)
{
    const solve_job *job = about;
    if (!json_array_size(job->notes))
        return;
    markup_put(page, "<section>\n<h2>Notes</h2>\n");
    put_list_of(page, job->notes);
    markup_put(page, "</section>\n");
}

/* ---- all of it ----------------------------------------------------------------------------------------------- */

static void put_style(markup *page, const void *about)
{
    (void)about;
    markup_put(page, page_css);
    markup_put(page, report_css);
}

static void put_script(markup *page, const void *about)
{
    (void)about;
    /* A module after those it imports. */
    const char *const modules[] = {data_mjs, time_mjs, scene_mjs, chart_mjs, map_mjs, joints_mjs, report_mjs};
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        markup_put(page, modules[i]);
}

static void put_version(markup *page, const void *about)
{
    (void)about;
    markup_put(page, ULNA_VERSION_STRING);
}

ulna_status report_write(const solve_job *job, const char *path, ulna_error *error)
{
    /* clang-format off */
    static const markup_part parts[] = {
        {"title", put_title},
        {"style", put_style},
        {"verdict", put_verdict},
        {"figures", put_figures},
        {"facts", put_facts},
        {"frames", put_frames},
        {"markers", put_markers},
        {"thinned", put_thinned},
        {"notes", put_notes},
        {"data", report_data},
        {"script", put_script},
        {"version", put_version},
        {0},
    };
    /* clang-format on */
    markup page;
    markup_init(&page);
    markup_fill(&page, report_html, parts, job);
    ulna_status status = markup_write(&page, path, error);
    markup_release(&page);
    return status;
}
