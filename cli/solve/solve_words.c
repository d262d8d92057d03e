/* What `ulna solve` says about a take. */
#include <math.h>
#include <string.h>

#include "cli/solve/solve.h"
#include "cli/table.h"

enum { COLUMN = 12 };

/* ---- for people ---------------------------------------------------------------------------------------------- */

static const char *method_of(const solve_job *job)
{
    return job->options.solve.method ? job->options.solve.method : ulna_method_at(0)->name;
}

/* "LTOE 14 mm, ...": the three with the largest mean error. */
static void say_worst_markers(const cli *tool, const solve_job *job)
{
    enum { SHOWN = 3 };
    char text[300] = "";
    int before[SHOWN];
    for (int k = 0; k < SHOWN && k < (int)job->set.count; k++) {
        int worst = -1;
        for (int i = 0; i < (int)job->set.count; i++) {
            int is_told = 0;
            for (int j = 0; j < k; j++)
                is_told |= before[j] == i;
            if (!is_told && job->marker[i].seen && (worst < 0 || job->marker[i].rms > job->marker[worst].rms))
                worst = i;
        }
        if (worst < 0)
            break;
        before[k] = worst;
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "%s%.40s %.1f mm", k ? ", " : "", job->set.items[worst].marker,
                 1e3 * job->marker[worst].rms);
    }
    table_fact(tool, COLUMN, "worst", "%s (root mean square over the take)", text);
}

static void say_frames(const cli *tool, const solve_job *job)
{
    const ulna_track_summary *s = &job->summary;
    char text[400] = "";
    const struct {
        int count;
        const char *what;
    } parts[] = {{s->recovered, "recovered after the track was lost"},
                 {s->lost, "LOST: far worse than others, look at them"},
                 {s->empty, "without any marker, filled in"},
                 {s->with_outliers, "with outliers weighed down"}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t length = strlen(text);
        if (parts[i].count)
            snprintf(text + length, sizeof text - length, "%s%d %s", length ? "; " : "", parts[i].count, parts[i].what);
    }
    if (*text)
        table_fact(tool, COLUMN, "frames", "%s", text);
}

static void say_missing(const cli *tool, const solve_job *job)
{
    const ulna_track_summary *s = &job->summary;
    const solve_marker *rarest = &job->marker[0];
    for (size_t i = 1; i < job->set.count; i++)
        rarest = job->marker[i].seen < rarest->seen ? &job->marker[i] : rarest;
    if (s->missing)
        table_fact(tool, COLUMN, "missing", "%lld marker positions, %.2g %% of all; most of %s, in %d frames",
                   s->missing, 100.0 * (double)s->missing / ((double)s->frames * s->markers_used),
                   job->set.items[rarest - job->marker].marker, s->frames - rarest->seen);
}

/* Who was weighed down: pairs that change places first, then whoever else often is. */
static void say_outliers(const cli *tool, const solve_job *job)
{
    enum { SHOWN = 6 };
    int first = job->take.first_frame;
    for (int i = 0; i < job->swap_count && i < SHOWN; i++) {
        const solve_swap *w = &job->swaps[i];
        table_fact(tool, COLUMN, "swapped", "%s and %s in frames %d to %d", job->set.items[w->a].marker,
                   job->set.items[w->b].marker, w->first + first, w->last + first);
    }
    if (job->swap_count > SHOWN)
        table_fact(tool, COLUMN, "swapped", "and %d more times", job->swap_count - SHOWN);
    char text[300] = "";
    int others = 0;
    for (size_t i = 0; i < job->set.count; i++) {
        int swapped = 0;
        for (int k = 0; k < job->swap_count; k++)
            swapped += job->swaps[k].a == (int)i || job->swaps[k].b == (int)i ? job->swaps[k].frames : 0;
        size_t length = strlen(text);
        if (job->marker[i].outliers > swapped && others++ < SHOWN)
            snprintf(text + length, sizeof text - length, "%s%.40s in %d frames", length ? ", " : "",
                     job->set.items[i].marker, job->marker[i].outliers - swapped);
    }
    if (others)
        table_fact(tool, COLUMN, "outliers", "%s%s", text, others > SHOWN ? " and others" : "");
}

static void say_constraints(const cli *tool, const solve_job *job)
{
    const solve_constraints *c = &job->constraints;
    if (c->places)
        table_fact(tool, COLUMN, "held", "%d place%s, met to %.2f mm (root mean square), %.2f mm at worst (frame %d)",
                   c->places, c->places == 1 ? "" : "s", 1e3 * c->rms, 1e3 * c->worst,
                   c->worst_frame + job->take.first_frame);
    if (c->turns)
        table_fact(tool, COLUMN, "held", "%d orientation%s, met to %.2f degrees at worst (frame %d)", c->turns,
                   c->turns == 1 ? "" : "s", c->worst_turn * 180 / 3.14159265358979323846,
                   c->worst_turn_frame + job->take.first_frame);
}

static void print_summary(const cli *tool, const solve_job *job)
{
    static const char *const attach[] = {"the skeleton's own markers", "", "offsets averaged over the reference motion",
                                         "the reference pose of every frame (oracle)"};
    const ulna_track_summary *s = &job->summary;
    const char *us = tool->ascii ? "us" : "µs";
    cli_title(tool, "%s", job->markers_path);
    cli_say(tool, ": %d frames solved, %d degrees of freedom, %d markers\n", s->frames,
            ulna_model_dof_count(job->model), s->markers_used);
    table_fact(tool, COLUMN, "attached", "%s", job->attach == ATTACH_FILE ? job->attach_path : attach[job->attach]);
    table_fact(tool, COLUMN, "axes", "%s", job->axes_text);
    table_fact(tool, COLUMN, "method", "%s, %s%s", method_of(job),
               !job->bounded      ? "joint limits do not bind"
               : job->bounds_path ? "limits from "
                                  : "inside the skeleton's limits",
               job->bounds_path ? job->bounds_path : "");
    if (job->unmarked && job->unmarked < s->frames)
        table_fact(tool, COLUMN, "error", "rms %.2f mm on average in the %d frames that are not marked below",
                   1e3 * job->unmarked_rms, job->unmarked);
    table_fact(tool, COLUMN, job->unmarked && job->unmarked < s->frames ? "in all" : "error",
               "rms %.2f mm on average, %.2f mm at most (frame %d); sum over markers %.2f cm", 1e3 * s->rms_mean,
               1e3 * s->rms_max, job->worst_frame, 1e2 * s->sum_mean);
    say_worst_markers(tool, job);
    say_frames(tool, job);
    say_outliers(tool, job);
    say_missing(tool, job);
    say_constraints(tool, job);
    table_fact(tool, COLUMN, "effort", "%.1f iterations and %.1f evaluations a frame", s->iterations_mean,
               s->evaluations_mean);
    table_fact(tool, COLUMN, "time", "%.1f %s a frame (median %.1f); %.3f s in all, %.0f frames/s", s->us_mean, us,
               job->us_median, s->seconds, s->frames / fmax(1e-9, s->seconds));
}

static void say_files(const cli *tool, const solve_job *job)
{
    const json_t *outputs = json_object_get(job->object, "outputs"), *report = json_object_get(job->object, "report");
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        json_t *row = json_array_get(outputs, i);
        if (strcmp(json_string_value(json_object_get(row, "result")), "written") == 0)
            table_fact(tool, COLUMN, "wrote", "%s", json_string_value(json_object_get(row, "file")));
    }
    if (report)
        table_fact(tool, COLUMN, "report", "%s", json_string_value(report));
}

void solve_tell(const cli *tool, solve_job *job, int count)
{
    int is_solved = job->summary.frames > 0;
    if (is_solved)
        print_summary(tool, job);
    for (int i = 0; i < job->failure_count; i++)
        (void)files_fail(job->failures[i].where, job->failures[i].path, &job->failures[i].error);
    if (!is_solved)
        return;
    files_print_notes(tool, job->notes);
    say_files(tool, job);
    if (count > 1)
        cli_say(tool, "\n");
}

/* ---- for other programs -------------------------------------------------------------------------------------- */

static json_t *swaps_json(const solve_job *job)
{
    json_t *list = json_array();
    int first = job->take.first_frame;
    for (int i = 0; i < job->swap_count; i++) {
        const solve_swap *w = &job->swaps[i];
        json_array_append_new(list, json_pack("{s:[o,o], s:i, s:i, s:i}", "markers",
                                              cli_json_text(job->set.items[w->a].marker),
                                              cli_json_text(job->set.items[w->b].marker), "first", w->first + first,
                                              "last", w->last + first, "frames", w->frames));
    }
    return list;
}

static json_t *spread_json(double mean, double largest)
{
    return json_pack("{s:o, s:o}", "mean", cli_json_number(mean), "max", cli_json_number(largest));
}

static int has_converged(ulna_stop stop)
{
    return stop == ULNA_STOP_OBJECTIVE || stop == ULNA_STOP_GRADIENT || stop == ULNA_STOP_DECREASE ||
           stop == ULNA_STOP_STEP;
}

/* Frames by how they ended. */
static json_t *stops_json(const solve_job *job)
{
    json_t *stops = json_object();
    if (job->attach == ATTACH_ORACLE) {
        for (int i = 0; i < ULNA_STOP_COUNT; i++)
            if (job->stops[i])
                json_object_set_new(stops, ulna_stop_name((ulna_stop)i), json_integer(job->stops[i]));
        if (job->summary.empty)
            json_object_set_new(stops, "empty", json_integer(job->summary.empty));
        return stops;
    }
    for (int f = 0; f < job->take.frame_count; f++) {
        const ulna_frame_report *r = &job->frames[f];
        const char *name = r->flags & ULNA_TRACK_EMPTY  ? "empty"
                           : r->flags & ULNA_TRACK_LOST ? "lost"
                           : has_converged(r->stop)     ? "converged"
                                                        : ulna_stop_name(r->stop);
        json_object_set_new(stops, name, json_integer(json_integer_value(json_object_get(stops, name)) + 1));
    }
    return stops;
}

void solve_add_results(solve_job *job)
{
    json_t *object = job->object;
    const ulna_track_summary *s = &job->summary;
    json_t *time = spread_json(s->us_mean, s->us_max);
    json_object_set_new(time, "median", cli_json_number(job->us_median));
    json_object_set_new(object, "frames", json_integer(s->frames));
    json_object_set_new(object, "dof", json_integer(ulna_model_dof_count(job->model)));
    json_object_set_new(object, "markers", json_integer(s->markers_used));
    json_object_set_new(object, "method", cli_json_text(method_of(job)));
    json_object_set_new(object, "us_per_frame", time);
    json_object_set_new(object, "iterations",
                        json_pack("{s:o, s:i}", "mean", cli_json_number(s->iterations_mean), "max", s->iterations_max));
    json_object_set_new(object, "evaluations", json_pack("{s:o}", "mean", cli_json_number(s->evaluations_mean)));
    json_object_set_new(object, "rms_unmarked_mm", cli_json_number(1e3 * job->unmarked_rms));
    json_object_set_new(object, "frames_unmarked", json_integer(job->unmarked));
    json_object_set_new(object, "rms_mm", spread_json(1e3 * s->rms_mean, 1e3 * s->rms_max));
    json_object_set_new(object, "sum_cm", spread_json(1e2 * s->sum_mean, 1e2 * s->sum_max));
    json_object_set_new(object, "f_cm2", spread_json(1e4 * s->f_mean, 1e4 * s->f_max));
    json_object_set_new(object, "missing_markers", json_integer(s->missing));
    json_object_set_new(object, "recovered", json_integer(s->recovered));
    json_object_set_new(object, "lost", json_integer(s->lost));
    json_object_set_new(object, "empty", json_integer(s->empty));
    json_object_set_new(object, "outlier_frames", json_integer(s->with_outliers));
    json_object_set_new(object, "swaps", swaps_json(job));
    json_object_set_new(object, "seconds", cli_json_number(s->seconds));
    json_object_set_new(object, "axes", cli_json_numbers(job->axes, 9));
    json_object_set_new(object, "stops", stops_json(job));
    const solve_constraints *c = &job->constraints;
    if (c->places || c->turns)
        json_object_set_new(object, "constraints",
                            json_pack("{s:i, s:i, s:o, s:o, s:o}", "places", c->places, "orientations", c->turns,
                                      "rms_mm", cli_json_number(1e3 * c->rms), "worst_mm",
                                      cli_json_number(1e3 * c->worst), "worst_deg",
                                      cli_json_number(c->worst_turn * 180 / 3.14159265358979323846)));
}
