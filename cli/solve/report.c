/* The page of `ulna solve --report`: what was solved, how well, and the take itself. */
#include "cli/solve/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ulna/ulna.h"

extern const char report_html[], report_css[], report_js[]; /* files of report/, embedded by the build */

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

static void put_facts(markup *page, const void *about)
{
    const solve_job *job = about;
    const ulna_track_options *o = &job->options;
    char text[700];
    snprintf(text, sizeof text, "%.300s: %d bodies, %d degrees of freedom", job->skeleton_path,
             ulna_model_body_count(job->model), ulna_model_dof_count(job->model));
    put_fact(page, "Skeleton", text);
    snprintf(text, sizeof text, "%.300s: frames %d to %d, %d markers used", job->markers_path, job->take->first_frame,
             job->take->first_frame + job->take->frame_count - 1, (int)job->take->set.count);
    put_fact(page, "Recording", text);
    solve_attach_text(job, text, sizeof text);
    put_fact(page, "Markers sit", text);
    solve_axes_sentence(job->take, text, sizeof text);
    put_fact(page, "Axes", text);
    snprintf(text, sizeof text, "%s; limits %s%.200s%s%s", o->solve.method ? o->solve.method : "hybrid",
             !job->bounded      ? "ignored"
             : job->bounds_path ? "from "
                                : "of the skeleton",
             job->bounds_path ? job->bounds_path : "", o->loss ? "; robust" : "", o->smooth > 0 ? "; smoothed" : "");
    put_fact(page, "Method", text);
}

static void put_title(markup *page, const void *about)
{
    const solve_job *job = about;
    markup_escape(page, file_name(job->markers_path));
}

static void put_figures(markup *page, const void *about)
{
    const solve_job *job = about;
    const ulna_track_summary *s = &job->result.summary;
    put_figure(page, "frames", "%.0f", s->frames);
    put_figure(page, "mm rms, mean", "%.2f", 1e3 * s->rms_mean);
    put_figure(page, "mm rms, worst frame", "%.2f", 1e3 * s->rms_max);
    put_figure(page, "cm sum over markers", "%.2f", 1e2 * s->sum_mean);
    put_figure(page, "marker positions missing", "%.0f", (double)s->missing);
    put_figure(page, "frames recovered", "%.0f", s->recovered);
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

/* Runs of frames with the same mark. */
static void put_runs(const solve_job *job, unsigned flag, const char *what, markup *page)
{
    enum { SHOWN = 30 };
    int shown = 0;
    for (int f = 0; f < job->take->frame_count; f++) {
        if (!(job->result.frames[f].flags & flag))
            continue;
        int end = f;
        while (end + 1 < job->take->frame_count && (job->result.frames[end + 1].flags & flag))
            end++;
        int first = f + job->take->first_frame, last = end + job->take->first_frame;
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
    for (int i = 0; i < job->result.swap_count; i++) {
        const ulna_swap *w = &job->result.swaps[i];
        int first = w->first + job->take->first_frame, last = w->last + job->take->first_frame;
        markup_put(page, i ? ", " : "<dt>Swapped</dt><dd>");
        markup_escape(page, job->take->set.items[w->a].marker);
        markup_put(page, " and ");
        markup_escape(page, job->take->set.items[w->b].marker);
        markup_format(page, " in <a href=\"#player\" data-frame=\"%d\">%d–%d</a>", first, first, last);
    }
    markup_put(page, job->result.swap_count ? "</dd>\n" : "");
}

static void put_frames(markup *page, const void *about)
{
    const solve_job *job = about;
    const ulna_track_summary *s = &job->result.summary;
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

static void put_notes(markup *page, const void *about)
{
    const solve_job *job = about;
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

static void put_style(markup *page, const void *about)
{
    (void)about;
    markup_put(page, page_css);
    markup_put(page, report_css);
}

static void put_script(markup *page, const void *about)
{
    (void)about;
    markup_put(page, report_js);
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
