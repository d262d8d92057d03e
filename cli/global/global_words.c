/* What `ulna global` says: the answer, what is proven about it, and how far the goals are. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/global/global.h"
#include "cli/table.h"

enum { COLUMN = 12 };

static const double degrees = 57.29577951308232;

/* ---- figures ------------------------------------------------------------------------------------------------------ */

static void words_distance(double m, char *text, size_t size)
{
    if (isnan(m))
        snprintf(text, size, "-");
    else if (m >= 1)
        snprintf(text, size, "%.4g m", m);
    else
        snprintf(text, size, m > 0 && m < 1e-6 ? "%.1e mm" : "%.4g mm", 1e3 * m);
}

/* "1.25e-05 m² (rms 1.2 mm)" */
static void words_cost(const cli *tool, const global_frame *frame, double f, char *text, size_t size)
{
    char rms[40];
    double off = global_rms_of(frame, f);
    int length = snprintf(text, size, "%.6g %s", f, tool->ascii ? "m2" : "m²");
    words_distance(off, rms, sizeof rms);
    if (off > 0)
        snprintf(text + length, size - (size_t)length, " (%srms %s)", frame->is_even ? "" : "weighted ", rms);
}

/* How far f may be from the least there is, in percent of it. */
static double gap_percent(const ulna_global_result *found)
{
    return found->f > 0 ? 100 * found->gap / found->f : 0;
}

static const char contradicted[] =
    "internal error: a lower bound was above the cost of a pose and was withdrawn; nothing is proven; please report this";

/* ---- one frame ---------------------------------------------------------------------------------------------------- */

static void say_verdict(const cli *tool, const global_job *job, const global_frame *frame)
{
    const ulna_global_result *found = &frame->found;
    double gap = gap_percent(found), off = global_rms_of(frame, found->bound);
    char rms[40];
    words_distance(off, rms, sizeof rms);
    if (found->contradicted)
        table_fact(tool, COLUMN, "verdict", "%s", contradicted);
    else if (found->proven && !found->unreachable)
        table_fact(tool, COLUMN, "verdict", "the goals are met");
    else if (found->proven)
        table_fact(tool, COLUMN, "verdict", "proven to within %.2g %%: no pose is better%s", gap,
                   job->options.local.bounded ? " inside the limits" : "");
    else
        table_fact(tool, COLUMN, "verdict",
                   "not proven: the bound is %.3g %% below the cost, and a better pose may exist%s%s", gap,
                   job->options.relax == 0 ? "; without a relaxation nothing is known" : "",
                   found->stop == ULNA_GLOBAL_TIME ? "; the time was up" : "");
    if (found->unreachable && !isnan(off))
        table_fact(tool, COLUMN, "reach", "the goals cannot be met: every pose is at least %s off (%srms)", rms,
                   frame->is_even ? "" : "weighted ");
    else if (found->unreachable)
        table_fact(tool, COLUMN, "reach", "the goals cannot be met: no pose has a lower cost than the bound");
}

/* Numbers of goals, the farthest first; those that do not count last. */
typedef struct ranked {
    double error;
    int goal;
} ranked;

static int by_error(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->error != y->error ? (x->error < y->error) - (x->error > y->error) : x->goal - y->goal;
}

static void print_goal(table *t, const cli *tool, const global_job *job, const global_frame *frame, int i)
{
    const global_goal *g = &job->goal[i];
    char text[40];
    table_cell(t, "%s", g->name);
    if (isnan(frame->errors[i]))
        snprintf(text, sizeof text, "not seen");
    else if (g->is_turn)
        snprintf(text, sizeof text, "%.4g%s", degrees * frame->errors[i], tool->ascii ? " deg" : "°");
    else
        words_distance(frame->errors[i], text, sizeof text);
    table_cell(t, "%s", text);
    table_cell(t, "%g", g->weight);
}

static void print_goals(const cli *tool, const global_job *job, const global_frame *frame)
{
    enum { SHOWN = 12 };
    double scale = ulna_model_length_scale(job->model); /* a radian weighs so many metres */
    ranked *order = calloc((size_t)job->goal_count + 1, sizeof *order);
    table t;
    if (!order)
        return;
    for (int i = 0; i < job->goal_count; i++) {
        double error = frame->errors[i] * (job->goal[i].is_turn ? scale : 1);
        order[i] = (ranked){isnan(error) || !(job->goal[i].weight > 0) ? -1 : error, i};
    }
    qsort(order, (size_t)job->goal_count, sizeof *order, by_error);
    table_init(&t, "lrr", 2);
    table_cell(&t, "goal");
    table_cell(&t, "off by");
    table_cell(&t, "weight");
    for (int i = 0; i < job->goal_count && i < SHOWN; i++)
        print_goal(&t, tool, job, frame, order[i].goal);
    cli_say(tool, "\n");
    table_print(tool, &t, -1);
    table_release(&t);
    free(order);
    if (job->goal_count > SHOWN)
        cli_say(tool, "  and %d more, none farther; --json has them all\n", job->goal_count - SHOWN);
    cli_say(tool, "\n");
}

static void say_effort(const cli *tool, const global_job *job, const ulna_global_result *found)
{
    table_fact(tool, COLUMN, "effort",
               "%d start%s of at most %d; %d relaxation%s, %d iterations; the answer is from start %d%s", found->starts,
               found->starts == 1 ? "" : "s", job->options.starts, found->relaxations,
               found->relaxations == 1 ? "" : "s", found->iterations, found->best_start + 1,
               found->from_relaxation ? ", where the relaxation pointed" : "");
    table_fact(tool, COLUMN, "time", "%.3g ms, %.3g ms of it relaxation", 1e3 * found->seconds,
               1e3 * found->relax_seconds);
}

static void print_frame(const cli *tool, const global_job *job, const global_frame *frame)
{
    char text[100];
    words_cost(tool, frame, frame->found.f, text, sizeof text);
    table_fact(tool, COLUMN, "cost", "%s", text);
    words_cost(tool, frame, frame->found.bound, text, sizeof text);
    table_fact(tool, COLUMN, "bound", "%s", text);
    say_verdict(tool, job, frame);
    print_goals(tool, job, frame);
    say_effort(tool, job, &frame->found);
}

/* ---- several ------------------------------------------------------------------------------------------------------ */

static void print_frames(const cli *tool, const global_job *job)
{
    int proven = 0, unreachable = 0, solved = 0, wrong = 0;
    double seconds = 0;
    char text[40];
    table t;
    table_init(&t, "rrrrlrr", 2);
    const char *const titles[] = {"frame", "rms mm", "bound mm", "gap %", "proven", "starts", "ms"};
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        table_cell(&t, "%s", titles[i]);
    for (int f = 0; f < job->frame_count; f++) {
        const global_frame *frame = &job->frames[f];
        const ulna_global_result *found = &frame->found;
        table_cell(&t, "%d", frame->number);
        if (!frame->places && !frame->turns) {
            table_span(&t, "no marker is seen");
            continue;
        }
        solved++;
        proven += found->proven;
        unreachable += found->unreachable;
        wrong += found->contradicted;
        seconds += found->seconds;
        table_cell(&t, "%.3f", 1e3 * global_rms_of(frame, found->f));
        table_cell(&t, "%.3f", 1e3 * global_rms_of(frame, found->bound));
        snprintf(text, sizeof text, "%.2g", gap_percent(found));
        table_cell(&t, "%s", text);
        table_cell(&t, "%s", found->proven ? "yes" : "no");
        table_cell(&t, "%d", found->starts);
        table_cell(&t, "%.3g", 1e3 * found->seconds);
    }
    cli_say(tool, "\n");
    table_print(tool, &t, -1);
    table_release(&t);
    cli_say(tool, "\n");
    table_fact(tool, COLUMN, "verdict", "%d of %d frames are proven to within %g %%", proven, solved,
               100 * job->options.gap);
    if (wrong)
        table_fact(tool, COLUMN, "error", "%d frames: %s", wrong, contradicted);
    if (unreachable)
        table_fact(tool, COLUMN, "reach", "in %d the goals cannot be met: every pose is at least the bound off",
                   unreachable);
    table_fact(tool, COLUMN, "time", "%.3g s in all", seconds);
}

/* ---- all of it ---------------------------------------------------------------------------------------------------- */

static void words_goals(const global_job *job, char *text, size_t size)
{
    int turns = 0, places = 0;
    for (int i = 0; i < job->goal_count; i++)
        *(job->goal[i].is_turn ? &turns : &places) += 1;
    if (job->has_take) {
        snprintf(text, size, "%d markers of %.300s", places, job->take.markers_path);
        return;
    }
    int length = snprintf(text, size, "%d place%s", places, places == 1 ? "" : "s");
    if (turns)
        length += snprintf(text + length, size - (size_t)length, ", %d orientation%s", turns, turns == 1 ? "" : "s");
    if (job->goals_path)
        snprintf(text + length, size - (size_t)length, ", from %.300s", job->goals_path);
}

void global_print(const cli *tool, const global_job *job)
{
    char text[400];
    cli_title(tool, "%s", job->skeleton_path);
    cli_say(tool, ": %d degrees of freedom, %s\n", ulna_model_dof_count(job->model),
            !job->options.local.bounded ? "limits ignored"
            : job->take.bounds_path     ? "inside the limits of a motion"
                                        : "inside the skeleton's limits");
    words_goals(job, text, sizeof text);
    table_fact(tool, COLUMN, "goals", "%s", text);
    if (job->has_take) {
        solve_axes_sentence(job->take.take, text, sizeof text);
        table_fact(tool, COLUMN, "axes", "%s", text);
    }
    if (job->has_take && job->frame_count == 1)
        table_fact(tool, COLUMN, "frame", "%d", job->frames[0].number);
    if (job->frame_count == 1)
        print_frame(tool, job, &job->frames[0]);
    else
        print_frames(tool, job);
}

/* ---- for other programs ------------------------------------------------------------------------------------------- */

static json_t *goals_json(const global_job *job, const global_frame *frame)
{
    json_t *list = json_array();
    for (int i = 0; i < job->goal_count; i++) {
        const global_goal *g = &job->goal[i];
        json_t *row = json_object();
        json_object_set_new(row, "name", cli_json_text(g->name));
        json_object_set_new(row, "kind", json_string(g->is_turn ? "orientation" : "position"));
        json_object_set_new(row, "weight", cli_json_number(g->weight));
        if (g->is_turn)
            json_object_set_new(row, "angle_deg", cli_json_number(degrees * frame->errors[i]));
        else
            json_object_set_new(row, "distance_mm", cli_json_number(1e3 * frame->errors[i]));
        json_array_append_new(list, row);
    }
    return list;
}

static json_t *frame_json(const global_job *job, int number)
{
    const global_frame *frame = &job->frames[number];
    const ulna_global_result *found = &frame->found;
    json_t *o = json_object();
    if (job->has_take)
        json_object_set_new(o, "frame", json_integer(frame->number));
    json_object_set_new(o, "cost", cli_json_number(found->f));
    json_object_set_new(o, "lower_bound", cli_json_number(found->bound));
    json_object_set_new(o, "gap", cli_json_number(found->gap));
    json_object_set_new(o, "gap_percent", cli_json_number(gap_percent(found)));
    json_object_set_new(o, "proven", json_boolean(found->proven));
    json_object_set_new(o, "contradicted", json_boolean(found->contradicted));
    json_object_set_new(o, "unreachable", json_boolean(found->unreachable));
    json_object_set_new(o, "stop", cli_json_text(ulna_global_stop_name(found->stop)));
    json_object_set_new(o, "rms_mm", cli_json_number(1e3 * frame->rms_m));
    json_object_set_new(o, "rms_deg", cli_json_number(degrees * frame->rms_rad));
    json_object_set_new(o, "rms_bound_mm", cli_json_number(1e3 * global_rms_of(frame, found->bound)));
    json_object_set_new(o, "starts", json_integer(found->starts));
    json_object_set_new(o, "best_start", found->starts ? json_integer(found->best_start) : json_null());
    json_object_set_new(o, "from_relaxation", json_boolean(found->from_relaxation));
    json_object_set_new(o, "relaxations", json_integer(found->relaxations));
    json_object_set_new(o, "iterations", json_integer(found->iterations));
    json_object_set_new(o, "relax_ms", cli_json_number(1e3 * found->relax_seconds));
    json_object_set_new(o, "ms", cli_json_number(1e3 * found->seconds));
    json_object_set_new(o, "goals", goals_json(job, frame));
    json_object_set_new(o, "q", cli_json_numbers(ulna_clip_frame(&job->poses, number), job->poses.coordinate_count));
    return o;
}

/* The sum of the costs is bounded by the sum of the bounds. */
static void add_totals(json_t *object, const global_job *job)
{
    ulna_global_result all = {.proven = 1};
    for (int f = 0; f < job->frame_count; f++) {
        const ulna_global_result *found = &job->frames[f].found;
        all.f += found->f;
        all.bound += found->bound;
        all.gap += found->gap;
        all.proven &= found->proven;
        all.unreachable |= found->unreachable;
        all.contradicted |= found->contradicted;
        all.starts += found->starts;
        all.seconds += found->seconds;
    }
    json_object_set_new(object, "cost", cli_json_number(all.f));
    json_object_set_new(object, "lower_bound", cli_json_number(all.bound));
    json_object_set_new(object, "gap", cli_json_number(all.gap));
    json_object_set_new(object, "proven", json_boolean(all.proven));
    json_object_set_new(object, "contradicted", json_boolean(all.contradicted));
    json_object_set_new(object, "unreachable", json_boolean(all.unreachable));
    json_object_set_new(object, "starts", json_integer(all.starts));
    json_object_set_new(object, "ms", cli_json_number(1e3 * all.seconds));
}

void global_add_results(json_t *object, const global_job *job)
{
    const ulna_global_options *o = &job->options;
    json_t *list = json_array(), *how = json_object();
    json_object_set_new(object, "skeleton", cli_json_text(job->skeleton_path));
    json_object_set_new(object, "dof", json_integer(ulna_model_dof_count(job->model)));
    json_object_set_new(how, "gap", cli_json_number(o->gap));
    json_object_set_new(how, "starts", json_integer(o->starts));
    json_object_set_new(how, "seconds", cli_json_number(o->seconds));
    json_object_set_new(how, "relax", cli_json_text(global_relax_name(o->relax)));
    json_object_set_new(how, "seed", json_integer((json_int_t)o->seed));
    json_object_set_new(how, "bounded", json_boolean(o->local.bounded));
    json_object_set_new(object, "options", how);
    add_totals(object, job);
    json_object_set_new(object, "frames", list);
    for (int f = 0; f < job->frame_count; f++)
        json_array_append_new(list, frame_json(job, f));
}
