/* What `ulna global` found: the answer, what is proven about it, how far the goals are; and the files it writes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/global/global.h"
#include "cli/output.h"

static const double degrees = 57.29577951308232;

#define CONTRADICTED                                                                                                   \
    "internal error: a lower bound was above the cost of a pose and was withdrawn; nothing is proven; please report "  \
    "this"

/* ---- the facts ---------------------------------------------------------------------------------------------------- */

static void add_goals(json_t *list, const global_job *job, const global_frame *frame)
{
    for (int i = 0; i < job->goal_count; i++) {
        const global_goal *g = &job->goal[i];
        json_t *row = put_row(list);
        put_text(row, "name", g->name);
        put_text(row, "kind", g->is_turn ? "orientation" : "position");
        put_number(row, "weight", g->weight);
        if (g->is_turn)
            put_number(row, "angle_deg", degrees * frame->errors[i]);
        else
            put_number(row, "distance_mm", 1e3 * frame->errors[i]);
    }
}

/* The weighted root mean square distance of which f is made: sqrt(2 f / sum of weights). NaN if there are goals other
 * than places. */
static double rms_of(const global_frame *frame, double f)
{
    return frame->turns || !frame->places ? (double)NAN : sqrt(2 * f / frame->weight);
}

static void add_frame(json_t *o, const global_job *job, int number)
{
    const global_frame *frame = &job->frames[number];
    const ulna_global_result *found = &frame->found;
    if (job->has_take)
        put_count(o, "frame", frame->number);
    put_number(o, "cost", found->f);
    put_number(o, "lower_bound", found->bound);
    put_number(o, "gap", found->gap);
    put_number(o, "gap_percent", found->f > 0 ? 100 * found->gap / found->f : 0);
    put_flag(o, "proven", found->proven);
    put_flag(o, "contradicted", found->contradicted);
    put_flag(o, "unreachable", found->unreachable);
    put_text(o, "stop", ulna_global_stop_name(found->stop));
    put_number(o, "rms_mm", 1e3 * frame->rms_m);
    put_number(o, "rms_deg", degrees * frame->rms_rad);
    put_number(o, "rms_weighted_mm", 1e3 * rms_of(frame, found->f));
    put_number(o, "rms_bound_mm", 1e3 * rms_of(frame, found->bound));
    put_count(o, "starts", found->starts);
    if (found->starts)
        put_count(o, "best_start", found->best_start);
    else
        put_text(o, "best_start", NULL);
    put_flag(o, "from_relaxation", found->from_relaxation);
    put_count(o, "relaxations", found->relaxations);
    put_count(o, "iterations", found->iterations);
    put_number(o, "relax_ms", 1e3 * found->relax_seconds);
    put_number(o, "ms", 1e3 * found->seconds);
    put_count(o, "goals_seen", frame->places + frame->turns);
    add_goals(put_list(o, "goals"), job, frame);
    put_numbers(o, "q", ulna_clip_frame(&job->poses, number), job->poses.coordinate_count);
}

/* The sum of the costs is bounded by the sum of the bounds. */
static void add_totals(json_t *object, const global_job *job)
{
    ulna_global_result all = {.proven = 1};
    int proven = 0, unreachable = 0, solved = 0, wrong = 0;
    for (int f = 0; f < job->frame_count; f++) {
        const ulna_global_result *found = &job->frames[f].found;
        int seen = job->frames[f].places + job->frames[f].turns > 0;
        all.f += found->f;
        all.bound += found->bound;
        all.gap += found->gap;
        all.proven &= found->proven;
        all.unreachable |= found->unreachable;
        all.contradicted |= found->contradicted;
        all.starts += found->starts;
        all.seconds += found->seconds;
        solved += seen;
        proven += seen && found->proven;
        unreachable += seen && found->unreachable;
        wrong += seen && found->contradicted;
    }
    put_number(object, "cost", all.f);
    put_number(object, "lower_bound", all.bound);
    put_number(object, "gap", all.gap);
    put_flag(object, "proven", all.proven);
    put_flag(object, "contradicted", all.contradicted);
    put_flag(object, "unreachable", all.unreachable);
    put_count(object, "starts", all.starts);
    put_number(object, "ms", 1e3 * all.seconds);
    put_count(object, "frames_solved", solved);
    put_count(object, "frames_proven", proven);
    put_count(object, "frames_unreachable", unreachable);
    put_count(object, "frames_contradicted", wrong);
}

void global_add_results(json_t *object, const global_job *job)
{
    const ulna_global_options *o = &job->options;
    put_text(object, "skeleton", job->skeleton_path);
    put_count(object, "dof", ulna_model_dof_count(job->model));
    json_t *how = put_object(object, "options");
    put_number(how, "gap", o->gap);
    put_number(how, "gap_percent", 100 * o->gap);
    put_count(how, "starts", o->starts);
    put_number(how, "seconds", o->seconds);
    put_text(how, "relax", global_relax_name(o->relax));
    put_count(how, "seed", (long long)o->seed);
    put_flag(how, "bounded", o->local.bounded);
    add_totals(object, job);
    json_t *list = put_list(object, "frames");
    for (int f = 0; f < job->frame_count; f++)
        add_frame(put_row(list), job, f);
}

/* ---- for people: one frame ---------------------------------------------------------------------------------------- */

static void print_verdict(const cli *tool, const json_t *o, const global_job *job, const global_frame *frame)
{
    const ulna_global_result *found = &frame->found;
    const char *text = "not proven: the bound is {gap_percent%.3g} % below the cost, and a better pose may exist";
    if (found->contradicted)
        text = CONTRADICTED;
    else if (found->proven && !found->unreachable)
        text = "the goals are met";
    else if (found->proven && job->options.local.bounded)
        text = "proven to within {gap_percent%.2g} %: no pose is better inside the limits";
    else if (found->proven)
        text = "proven to within {gap_percent%.2g} %: no pose is better";
    else if (job->options.relax == 0)
        text = "not proven, since nothing bounds the cost without a relaxation: a better pose may exist";
    else if (found->stop == ULNA_GLOBAL_TIME)
        text = "not proven: the bound is {gap_percent%.3g} % below the cost, and a better pose may exist; the "
               "time limit was reached";
    fact_line(tool, o, "verdict", text);
    if (found->unreachable)
        fact_line(tool, o, "reach",
                  frame->is_even ? "[the goals cannot be met: every pose is at least {rms_bound_mm%mm} off (rms)|the "
                                   "goals cannot be met: no pose has a lower cost than the bound]"
                                 : "[the goals cannot be met: every pose is at least {rms_bound_mm%mm} off (weighted "
                                   "rms)|the goals cannot be met: no pose has a lower cost than the bound]");
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

static void print_goals(const cli *tool, const json_t *o, const global_job *job, const global_frame *frame)
{
    enum { SHOWN = 12 };
    static const fact_column columns[] = {
        {"goal", 'l', "{name}"},
        {"off by", 'r', "[{angle_deg%.4g}°|{distance_mm%mm}|not seen]"},
        {"weight", 'r', "{weight}"},
        {0},
    };
    double scale = ulna_model_length_scale(job->model); /* a radian weighs so many metres */
    ranked *order = calloc((size_t)job->goal_count + 1, sizeof *order);
    json_t *shown = json_array();
    if (!order)
        cli_out_of_memory();
    for (int i = 0; i < job->goal_count; i++) {
        double error = frame->errors[i] * (job->goal[i].is_turn ? scale : 1);
        order[i] = (ranked){isnan(error) || !(job->goal[i].weight > 0) ? -1 : error, i};
    }
    qsort(order, (size_t)job->goal_count, sizeof *order, by_error);
    for (int i = 0; i < job->goal_count && i < SHOWN; i++)
        json_array_append(shown, json_array_get(json_object_get(o, "goals"), (size_t)order[i].goal));
    cli_say(tool, "\n");
    fact_table(tool, 2, shown, columns);
    json_decref(shown);
    free(order);
    if (job->goal_count > SHOWN)
        cli_say(tool, "  and %d more, none farther; --json lists them all\n", job->goal_count - SHOWN);
    cli_say(tool, "\n");
}

static void print_frame(const cli *tool, const json_t *object, const global_job *job)
{
    const json_t *o = json_array_get(json_object_get(object, "frames"), 0);
    const global_frame *frame = &job->frames[0];
    int is_even = frame->is_even;
    if (job->has_take)
        fact_line(tool, o, "frame", "{frame}");
    fact_line(tool, o, "cost",
              is_even ? "{cost} m²[{rms_weighted_mm?} (rms {rms_weighted_mm%mm})]"
                      : "{cost} m²[{rms_weighted_mm?} (weighted rms {rms_weighted_mm%mm})]");
    fact_line(tool, o, "bound",
              is_even ? "{lower_bound} m²[{rms_bound_mm?} (rms {rms_bound_mm%mm})]"
                      : "{lower_bound} m²[{rms_bound_mm?} (weighted rms {rms_bound_mm%mm})]");
    print_verdict(tool, o, job, frame);
    print_goals(tool, o, job, frame);
    fact_text(tool, "effort",
              "%d start%s of at most %d; %d relaxation%s, %d iterations; the best pose is from start %d%s",
              frame->found.starts, frame->found.starts == 1 ? "" : "s", job->options.starts, frame->found.relaxations,
              frame->found.relaxations == 1 ? "" : "s", frame->found.iterations, frame->found.best_start + 1,
              frame->found.from_relaxation ? ", which the relaxation gave" : "");
    fact_line(tool, o, "time", "{ms%.3g} ms, {relax_ms%.3g} ms of it for relaxations");
}

/* ---- for people: several frames ----------------------------------------------------------------------------------- */

static void print_frames(const cli *tool, const json_t *object)
{
    static const fact_column columns[] = {
        {"frame", 'r', "{frame}"},
        {"rms mm", 'r', "{rms_weighted_mm%.3f}"},
        {"bound mm", 'r', "{rms_bound_mm%.3f}"},
        {"gap %", 'r', "{goals_seen?}{gap_percent%.2g}"},
        {"proven", 'l', "[{goals_seen?}{proven?}yes|{goals_seen?}no|no marker seen]"},
        {"starts", 'r', "{goals_seen?}{starts}"},
        {"ms", 'r', "{goals_seen?}{ms%.3g}"},
        {0},
    };
    cli_say(tool, "\n");
    fact_table(tool, 2, json_object_get(object, "frames"), columns);
    cli_say(tool, "\n");
    fact_line(tool, object, "verdict",
              "{frames_proven} of {frames_solved} frames are proven to within {options.gap_percent} %");
    fact_line(tool, object, "error", "{frames_contradicted?}{frames_contradicted} frames: " CONTRADICTED);
    fact_line(
        tool, object, "reach",
        "{frames_unreachable?}in {frames_unreachable} frame{frames_unreachable:/s} the goals cannot be met: no pose has a "
        "lower cost than the bound");
    fact_line(tool, object, "time", "{ms%.3g} ms in all");
}

static void print_sources(const cli *tool, const global_job *job)
{
    int turns = 0, places = 0;
    for (int i = 0; i < job->goal_count; i++)
        *(job->goal[i].is_turn ? &turns : &places) += 1;
    if (job->has_take) {
        char axes[400];
        fact_text(tool, "goals", "%d markers of %s", places, job->take.markers_path);
        solve_axes_sentence(job->take.take, axes, sizeof axes);
        fact_text(tool, "axes", "%s", axes);
        return;
    }
    char of_turns[60] = "";
    if (turns)
        snprintf(of_turns, sizeof of_turns, ", %d orientation%s", turns, turns == 1 ? "" : "s");
    fact_text(tool, "goals", "%d position%s%s%s%s", places, places == 1 ? "" : "s", of_turns,
              job->goals_path ? ", from " : "", job->goals_path ? job->goals_path : "");
}

void global_print(const cli *tool, const json_t *object, const global_job *job)
{
    cli_title(tool, "%s", job->skeleton_path);
    cli_say(tool, ": %d degrees of freedom, %s\n", ulna_model_dof_count(job->model),
            !job->options.local.bounded ? "limits ignored"
            : job->take.bounds_path     ? "inside the limits of a motion"
                                        : "inside the skeleton's limits");
    print_sources(tool, job);
    if (job->frame_count == 1)
        print_frame(tool, object, job);
    else
        print_frames(tool, object);
}

/* ---- the files: the pose as a motion, or the results as JSON -------------------------------------------------------- */

static int is_output(const cli *tool, int i)
{
    return strcmp(tool->given[i]->name, "output") == 0;
}

static int check_format(const cli *tool, const char *path)
{
    ulna_format format = ulna_format_of_name(path);
    if (format == ULNA_FORMAT_UNKNOWN)
        return cli_usage(tool,
                         "'%s': unknown extension; the file is written in the format of its extension: .amc, .bvh, "
                         ".csv, .mot, .glb or .json",
                         path);
    if (format != ULNA_FORMAT_MODEL_JSON && !(ulna_format_writes(format) & ULNA_HOLDS_MOTION))
        return cli_usage(tool, "'%s': %s stores no pose; .amc, .bvh, .csv, .mot and .glb do", path,
                         ulna_format_text(format));
    return CLI_DONE;
}

int global_check_outputs(const cli *tool, json_t *object)
{
    int code = CLI_DONE;
    for (int i = 0; i < tool->given_count && !code; i++)
        if (is_output(tool, i))
            code = check_format(tool, tool->values[i]);
    for (int i = 0; i < tool->given_count && !code; i++)
        if (is_output(tool, i))
            code = folder_make_for(object, tool->values[i]);
    return code;
}

/* ---- one file ---------------------------------------------------------------------------------------------------- */

/* Where the goals are, to be seen beside the skeleton. */
static ulna_status goals_as_markers(const global_job *job, ulna_recording *result, ulna_error *error)
{
    int count = 0;
    for (int i = 0; i < job->goal_count; i++)
        count += !job->goal[i].is_turn;
    if (count == 0)
        return ULNA_OK;
    if (ulna_recording_resize(result, count, job->frame_count))
        return cli_fail(error, ULNA_ERR_MEMORY, "no memory for %d frames of goals", job->frame_count);
    result->first_frame = job->poses.first_frame;
    result->frame_seconds = job->poses.frame_seconds;
    for (int i = 0, at = 0; i < job->goal_count; i++) {
        if (job->goal[i].is_turn)
            continue;
        snprintf(result->names[at], ULNA_MARKER_NAME, "%.*s", ULNA_MARKER_NAME - 1, job->goal[i].name);
        for (int f = 0; f < job->frame_count; f++) {
            double *to = ulna_recording_frame(result, f) + 3 * (size_t)at;
            if (!global_place(job, f, i, to))
                to[0] = to[1] = to[2] = NAN;
        }
        at++;
    }
    return ULNA_OK;
}

static ulna_status write_motion(global_job *job, const char *path, ulna_error *error)
{
    ulna_format format = ulna_format_of_name(path);
    ulna_write_options options = ulna_write_options_for(&job->skeleton.file, format);
    ulna_recording markers = ulna_recording_empty(NULL);
    ulna_status status = ULNA_OK;
    if (format == ULNA_FORMAT_GLB || format == ULNA_FORMAT_GLTF)
        status = goals_as_markers(job, &markers, error);
    if (status == ULNA_OK)
        status = files_write(path, job->model, &job->poses, &markers, &options, job->notes, error);
    ulna_recording_release(&markers);
    return status;
}

int global_write_outputs(const cli *tool, json_t *object, global_job *job)
{
    int code = CLI_DONE;
    json_t *list = json_array(); /* not yet in the object, which a JSON file holds without it */
    for (int i = 0; i < tool->given_count; i++) {
        const char *path = tool->values[i];
        ulna_error error;
        ulna_error_clear(&error);
        if (!is_output(tool, i))
            continue;
        json_t *row = put_row(list);
        int is_json = ulna_format_of_name(path) == ULNA_FORMAT_MODEL_JSON;
        if (is_json ? cli_write_json(path, object, &error) : write_motion(job, path, &error)) {
            int failed = files_fail(row, path, &error);
            code = failed > code ? failed : code;
            put_text(row, "result", "failed");
            continue;
        }
        put_text(row, "file", path);
        put_text(row, "result", "written");
        fact_text(tool, "wrote", "%s", path);
    }
    json_object_set_new(object, "outputs", list);
    return code;
}
