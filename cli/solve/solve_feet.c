/*
 * A picture of the feet that stand (-o FILE.svg): for each foot, how far the point that stands is from its place in each stance, as
 * tracked and as held. The take is tracked once more without constraints for it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/markup.h"
#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

enum { WIDTH = 900, LEFT = 70, RIGHT = 20, TOP = 70, PANEL = 150, GAP = 60, MOST_FEET = 8 };
#define BAND "fill=\"#e8eef4\""
#define FLAT "fill=\"#cfdcea\""
#define TRACKED "fill=\"none\" stroke=\"#c2410c\" stroke-width=\"1.5\""
#define HELD "fill=\"none\" stroke=\"#1d4ed8\" stroke-width=\"2.5\""
#define AXIS "fill=\"none\" stroke=\"#666666\" stroke-width=\"1\""

int solve_is_picture(const char *path)
{
    const char *point = strrchr(path, '.');
    return point && strcmp(point, ".svg") == 0;
}

typedef struct drawing {
    const solve_job *job;
    const ulna_clip *tracked; /* without constraints */
    ulna_pose *pose;
    svg_point *points;
    double *distance; /* frames */
    double most;      /* mm: the largest that is shown */
} drawing;

/* From the place in which it is held, frame by frame; mm. Returns the largest. */
static double follow(drawing *d, const ulna_clip *clip, const ulna_stance *s)
{
    double place[3], now[3], most = 0;
    if (ulna_pose_forward(d->pose, ulna_clip_frame(&d->job->result.clip, s->first)))
        return 0;
    ulna_pose_point(d->pose, s->body, s->point, place);
    for (int f = s->first; f <= s->last; f++) {
        if (ulna_pose_forward(d->pose, ulna_clip_frame(clip, f)))
            return 0;
        ulna_pose_point(d->pose, s->body, s->point, now);
        d->distance[f - s->first] = 1e3 * hypot(hypot(now[0] - place[0], now[1] - place[1]), now[2] - place[2]);
        most = fmax(most, d->distance[f - s->first]);
    }
    return most;
}

static double x_of(const drawing *d, double frame)
{
    return LEFT + (WIDTH - LEFT - RIGHT) * frame / fmax(1, d->job->take->frame_count - 1);
}

static void draw_curve(drawing *d, markup *paper, const ulna_clip *clip, const ulna_stance *s, double top,
                       const char *style)
{
    int count = s->last - s->first + 1;
    follow(d, clip, s);
    for (int i = 0; i < count; i++)
        d->points[i] = (svg_point){x_of(d, s->first + i), top + PANEL * (1 - d->distance[i] / d->most)};
    svg_line(paper, style, d->points, count);
}

static void draw_axes(const drawing *d, markup *paper, int body, double top)
{
    int first = d->job->take->first_frame, frames = d->job->take->frame_count;
    svg_box(paper, AXIS, LEFT, top, WIDTH - RIGHT, top + PANEL);
    svg_text(paper, 0, "font-weight=\"bold\"", LEFT, top - 8, "%s", ulna_model_body_name(d->job->model, body));
    svg_text(paper, SVG_END, "", LEFT - 8, top + 10, "%.3g mm", d->most);
    svg_text(paper, SVG_END, "", LEFT - 8, top + PANEL, "0");
    for (int i = 0; i <= 4; i++) {
        double frame = round((frames - 1) * i / 4.0);
        svg_text(paper, SVG_MIDDLE, "", x_of(d, frame), top + PANEL + 16, "%.0f", first + frame);
    }
}

static void draw_foot(drawing *d, markup *paper, int body, double top)
{
    const ulna_track_result *r = &d->job->result;
    for (int pass = 0; pass < 4; pass++)
        for (int i = 0; i < r->stance_count; i++) {
            const ulna_stance *s = &r->stances[i];
            if (s->body != body)
                continue;
            if (pass == 0)
                svg_box(paper, BAND, x_of(d, s->first), top, x_of(d, s->last), top + PANEL);
            else if (pass == 1 && s->flat_first <= s->flat_last)
                svg_box(paper, FLAT, x_of(d, s->flat_first), top, x_of(d, s->flat_last), top + PANEL);
            else if (pass > 1)
                draw_curve(d, paper, pass == 2 ? d->tracked : &r->clip, s, top, pass == 2 ? TRACKED : HELD);
        }
    draw_axes(d, paper, body, top);
}

static void draw(drawing *d, markup *paper)
{
    const ulna_track_result *r = &d->job->result;
    int feet[MOST_FEET], count = 0;
    char attributes[160];
    for (int i = 0; i < r->stance_count; i++) {
        int is_known = 0;
        for (int k = 0; k < count; k++)
            is_known |= feet[k] == r->stances[i].body;
        if (!is_known && count < MOST_FEET)
            feet[count++] = r->stances[i].body;
        d->most = fmax(d->most, follow(d, d->tracked, &r->stances[i]));
    }
    d->most = fmax(1, d->most);
    double height = TOP + count * (PANEL + GAP);
    snprintf(attributes, sizeof attributes, "width=\"%d\" height=\"%g\" font-family=\"sans-serif\" font-size=\"12\"",
             WIDTH, height);
    markup_put(paper, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    svg_begin(paper, WIDTH, height, attributes);
    markup_put(paper, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n");
    svg_text(paper, 0, "font-size=\"15\"", LEFT, 22,
             "How far the foot is from its place while it stands (bands; darker: flat), over the frames");
    svg_text(paper, 0, "fill=\"#c2410c\"", LEFT, 42, "as tracked");
    svg_text(paper, 0, "fill=\"#1d4ed8\"", LEFT + 90, 42, "as held");
    for (int i = 0; i < count; i++)
        draw_foot(d, paper, feet[i], TOP + i * (PANEL + GAP));
    markup_put(paper, "</svg>\n");
}

static ulna_status track_freely(const solve_job *job, ulna_track_result *result, ulna_error *error)
{
    ulna_track_options options = job->options;
    options.constraints = NULL;
    options.stances = NULL;
    options.constraint_count = options.stance_count = options.plant_feet = 0;
    options.progress = NULL;
    return ulna_track(job->take, &options, result, error);
}

ulna_status solve_draw_feet(const solve_job *job, const char *path, ulna_error *error)
{
    ulna_track_result tracked = {0};
    size_t frames = (size_t)job->take->frame_count;
    drawing d = {
        .job = job, .points = calloc(frames, sizeof *d.points), .distance = calloc(frames, sizeof *d.distance)};
    markup paper;
    markup_init(&paper);
    ulna_status status = d.points && d.distance
                             ? ULNA_OK
                             : cli_fail(error, ULNA_ERR_MEMORY, "no memory for a picture of %zu frames", frames);
    if (status == ULNA_OK)
        status = track_freely(job, &tracked, error);
    if (status == ULNA_OK)
        status = ulna_pose_create(job->model, NULL, &d.pose, error);
    if (status == ULNA_OK) {
        d.tracked = &tracked.clip;
        draw(&d, &paper);
        status = markup_write(&paper, path, error);
    }
    markup_release(&paper);
    ulna_pose_destroy(d.pose);
    ulna_track_result_release(&tracked);
    free(d.points);
    free(d.distance);
    return status;
}
