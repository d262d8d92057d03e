/* What `ulna solve` says about a take: facts for --json, lines for people that quote them, and notes. */
#include <math.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/output.h"
#include "cli/solve/solve.h"

#define DEGREE (3.14159265358979323846 / 180)

/* ---- lists of names -------------------------------------------------------------------------------------------- */

/* "A, B, C and more" */
typedef struct name_list {
    int count;
    char text[300];
} name_list;

static void add_name(name_list *list, int most, const char *format, ...) ULNA_PRINTF(3, 4);

static void add_name(name_list *list, int most, const char *format, ...)
{
    size_t length = strlen(list->text);
    if (list->count++ < most) {
        va_list arguments;
        va_start(arguments, format);
        length += (size_t)snprintf(list->text + length, sizeof list->text - length, "%s", length ? ", " : "");
        if (length < sizeof list->text)
            vsnprintf(list->text + length, sizeof list->text - length, format, arguments);
        va_end(arguments);
    } else if (list->count == most + 1)
        snprintf(list->text + length, sizeof list->text - length, " and more");
}

/* ---- the take, in words ----------------------------------------------------------------------------------------- */

void solve_attach_text(const solve_job *job, char *text, size_t size)
{
    static const char *const words[] = {[ATTACH_MODEL] = "the skeleton's own markers",
                                        [ATTACH_REFERENCE] = "offsets averaged over the reference motion",
                                        [ATTACH_ORACLE] = "the reference pose of every frame (oracle)"};
    if (job->take && job->take->keypoints)
        snprintf(text, size, "key points (%s) at the joints of the skeleton, scaled to them", job->take->keypoints);
    else if (job->attach == ATTACH_MODEL && job->take && job->take->joints)
        snprintf(text, size, "the markers are joints of the skeleton, by the names and lengths of its bones");
    else if (job->attach == ATTACH_NAMES)
        snprintf(
            text, size,
            "on bones by the markers' names, calibrated on this take (%.1f mm RMS); `ulna calibrate` says how sure "
            "that is",
            1e3 * job->calibrated_rms);
    else
        snprintf(text, size, "%s", job->attach == ATTACH_FILE ? job->attach_path : words[job->attach]);
}

void solve_skeleton_text(const solve_job *job, char *text, size_t size)
{
    int length = snprintf(text, size, "%.300s", job->skeleton_path);
    if (job->is_unnamed)
        length = snprintf(text, size, "the built-in %s, since no --skeleton was given", SOLVE_UNNAMED);
    if (job->is_unnamed && !isnan(job->size))
        snprintf(text + length, size - (size_t)length,
                 "; bone lengths as the take shows them, in all %.2f times its own", job->size);
}

void solve_axes_sentence(const ulna_take *take, char *text, size_t size)
{
    char axes[8], how[80] = "";
    axes_text(take->axes, axes);
    if (take->axes_source == ULNA_AXES_UP)
        snprintf(how, sizeof how, ": %c is up there, %c here", take->up, take->model_up);
    else if (take->axes_source == ULNA_AXES_REFERENCE)
        snprintf(how, sizeof how, ": that fits the reference motion");
    else if (take->axes_source != ULNA_AXES_GIVEN)
        snprintf(how, sizeof how, ": tried, that %s; --up or --axes says otherwise",
                 take->axes_source == ULNA_AXES_FIT ? "fits best" : "stands upright");
    snprintf(text, size, "%s of the recording are the skeleton's xyz%s", axes, how);
}

void solve_note_take(solve_job *job)
{
    enum { SHOWN = 8 };
    if (job->attach == ATTACH_NAMES && !isnan(job->choice.rms_own))
        files_note_text(
            job->notes,
            "the skeleton's own markers are not where this person wears them (%.0f mm off, %.0f mm where the "
            "take puts them), so they are calibrated; --attach model uses them nevertheless",
            1e3 * job->choice.rms_own, 1e3 * job->choice.rms_calibrated);
    const ulna_take *take = job->take;
    name_list absent = {0}, unused = {0};
    for (size_t i = 0; i < take->absent.count; i++)
        add_name(&absent, SHOWN, "%.30s", take->absent.items[i].marker);
    for (int i = 0; i < take->unused_count; i++)
        add_name(&unused, SHOWN, "%.30s", take->recording->names[take->unused[i]]);
    if (take->out_of_range)
        files_note_text(job->notes, "%lld position%s more than %g km from the origin, and count%s as missing",
                        take->out_of_range, take->out_of_range == 1 ? " is" : "s are", ULNA_FARTHEST_MARKER / 1e3,
                        take->out_of_range == 1 ? "s" : "");
    if (take->reference_by_number)
        files_note_text(job->notes,
                        "the reference has %d frames, the recording %d: frames with the same number belong together",
                        take->reference->frame_count, take->recording->frame_count);
    if (absent.count)
        files_note_text(job->notes, "%d marker%s of the skeleton %s not in the recording: %s", absent.count,
                        absent.count == 1 ? "" : "s", absent.count == 1 ? "is" : "are", absent.text);
    if (unused.count)
        files_note_text(job->notes, "%d marker%s of the recording %s not on the skeleton, and not used: %s",
                        unused.count, unused.count == 1 ? "" : "s", unused.count == 1 ? "is" : "are", unused.text);
}

/* ---- notes on what the numbers alone would hide -------------------------------------------------------------------- */

/* Whether the limb was led over the gap: only where it is seen on both sides. */
static int is_bridged(const ulna_track_result *r, const ulna_gap *gap)
{
    int middle = (gap->first + gap->last) / 2;
    return gap->first > 0 && gap->last < r->summary.frames - 1 && (r->frames[middle].flags & ULNA_TRACK_BRIDGED);
}

static void note_gaps(const solve_job *job)
{
    enum { SHOWN = 6 };
    const ulna_track_result *r = &job->result;
    const char *const ways[] = {job->options.causal ? "held where it was seen last"
                                                    : "held, as it is not seen on both sides of the gap",
                                "interpolated to where it is seen next"};
    for (int way = 1; way >= 0; way--) {
        name_list gaps = {0};
        for (int i = 0; i < r->gap_count; i++)
            if (is_bridged(r, &r->gaps[i]) == way)
                add_name(&gaps, SHOWN, "%.30s (frames %d to %d)", ulna_model_body_name(job->model, r->gaps[i].body),
                         r->gaps[i].first + job->take->first_frame, r->gaps[i].last + job->take->first_frame);
        if (gaps.count)
            files_note_text(job->notes, "no marker is seen on or beyond %s: %s", gaps.text, ways[way]);
    }
}

static void note_misplaced(const solve_job *job)
{
    enum { SHOWN = 8 };
    const ulna_marker_report *markers = job->result.markers;
    name_list list = {0};
    for (size_t i = 0; i < job->take->set.count; i++)
        if (markers[i].misplaced)
            add_name(&list, SHOWN, "%.30s in %d of %d frames", files_marker_name(&job->take->set, i),
                     markers[i].outliers, markers[i].seen);
    if (list.count)
        files_note_text(job->notes, "too far off to count: %s; attached elsewhere rather than stray: calibrate again",
                        list.text);
}

/* The three rotations of the root, by their axes: the middle one near 90 degrees leaves the others without a meaning of their own. */
static void note_gimbal_lock(const solve_job *job)
{
    enum { NEAR = 10 }; /* degrees */
    char label[3][100] = {"", "", ""};
    int at[3], count = 0, frames = 0, nv = ulna_model_dof_count(job->model);
    for (int d = 0; d < nv && ulna_model_dof_body(job->model, d) == 0; d++) {
        int c = ulna_model_dof_coordinate(job->model, d);
        if (c == ULNA_NONE || ulna_model_dof_is_translation(job->model, d))
            continue;
        if (count == 3)
            return;
        ulna_model_dof_label(job->model, d, label[count], sizeof label[count]);
        at[count++] = c;
    }
    if (count < 3 || strcmp(label[0], label[2]) == 0)
        return;
    for (int f = 0; f < job->result.clip.frame_count; f++)
        frames += fabs(cos(ulna_clip_frame(&job->result.clip, f)[at[1]])) < sin(NEAR * DEGREE);
    if (frames)
        files_note_text(
            job->notes,
            "%s is within %d degrees of 90 or -90 in %d frame%s (gimbal lock): %s and %s rotate about nearly the same axis "
            "there, and are large for a small rotation; --ball quaternion has no such angles",
            label[1], NEAR, frames, frames == 1 ? "" : "s", label[0], label[2]);
}

static void note_trust(const solve_job *job)
{
    const ulna_track_result *r = &job->result;
    const ulna_trust *trust = &r->trust;
    int used = r->summary.markers_used;
    if (trust->is_poor)
        files_note_text(job->notes,
                        "errors of %.0f mm are more than skin moves: markers attached elsewhere, another person's "
                        "skeleton, or another take's reference; `ulna calibrate` says more",
                        1e3 * trust->typical_rms);
    if (trust->is_poor && (job->skeleton_unit > 0 || job->markers_unit > 0))
        files_note_text(job->notes, "you gave --%s-unit: is the unit right?",
                        job->skeleton_unit > 0 ? "skeleton" : "input");
    note_misplaced(job);
    if (trust->reasons & ULNA_REASON_LENGTHS)
        files_note_text(job->notes, "`ulna calibrate` says how the lengths of the bones differ; with --symmetric and "
                                    "--model-out FILE it finds this person's");
    if (trust->is_undetermined)
        files_note_text(job->notes,
                        "%d marker%s give%s %d numbers a frame: that does not determine %d degrees of freedom, however "
                        "small the error",
                        used, used == 1 ? "" : "s", used == 1 ? "s" : "", 3 * used, trust->dofs_moved);
    note_gaps(job);
    if (!trust->motion.limited)
        files_note_text(job->notes, "the skeleton has no limits, so no angle is checked against any");
    motion_note(job->model, &trust->motion, job->notes);
    note_gimbal_lock(job);
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static void put_spread(json_t *object, const char *key, double mean, double largest)
{
    json_t *spread = put_object(object, key);
    put_number(spread, "mean", mean);
    put_number(spread, "max", largest);
}

static void put_swaps(const solve_job *job)
{
    json_t *list = put_list(job->object, "swaps");
    int first = job->take->first_frame;
    for (int i = 0; i < job->result.swap_count; i++) {
        const ulna_swap *w = &job->result.swaps[i];
        json_t *row = put_row(list), *markers = put_list(row, "markers");
        json_array_append_new(markers, cli_json_text(job->take->set.items[w->a].marker));
        json_array_append_new(markers, cli_json_text(job->take->set.items[w->b].marker));
        put_count(row, "first", w->first + first);
        put_count(row, "last", w->last + first);
        put_count(row, "frames", w->frames);
    }
}

static void put_shifts(const solve_job *job)
{
    json_t *list = put_list(job->object, "shifts");
    for (int i = 0; i < job->result.shift_count; i++) {
        const ulna_shift *s = &job->result.shifts[i];
        json_t *row = put_row(list);
        put_text(row, "marker", job->take->set.items[s->marker].marker);
        put_count(row, "frame", s->frame + job->take->first_frame);
        put_number(row, "mm", 1e3 * s->distance);
        put_count(row, "first", s->first + job->take->first_frame);
        put_count(row, "last", s->last + job->take->first_frame);
    }
}

static int has_converged(ulna_stop stop)
{
    return stop == ULNA_STOP_OBJECTIVE || stop == ULNA_STOP_GRADIENT || stop == ULNA_STOP_DECREASE ||
           stop == ULNA_STOP_STEP;
}

/* Frames by how they ended. */
static void put_stops(const solve_job *job)
{
    json_t *stops = put_object(job->object, "stops");
    int is_oracle = job->attach == ATTACH_ORACLE;
    for (int f = 0; f < job->take->frame_count; f++) {
        const ulna_frame_report *r = &job->result.frames[f];
        const char *name = r->flags & ULNA_TRACK_EMPTY                ? "empty"
                           : r->flags & ULNA_TRACK_LOST && !is_oracle ? "lost"
                           : has_converged(r->stop) && !is_oracle     ? "converged"
                                                                      : ulna_stop_name(r->stop);
        put_count(stops, name, json_integer_value(json_object_get(stops, name)) + 1);
    }
}

/* Terms of the tracking come in the order of the goals: the place of one, then its orientation. */
static void put_goals(const solve_job *job)
{
    double squares = 0, worst = 0, worst_turn = 0;
    int places = 0, turns = 0, term = 0;
    long long first = job->take->first_frame;
    for (int i = 0; i < job->soft.count && job->result.goal_count; i++) {
        if (job->soft.list[i].what & GOAL_POSITION) {
            const ulna_goal_report *g = &job->result.goals[term++];
            squares += g->rms * g->rms;
            if (!places++ || g->worst > worst) {
                worst = g->worst;
                put_count(job->shown, "place_frame", g->worst_frame + first);
            }
        }
        if (job->soft.list[i].what & GOAL_ORIENTATION) {
            const ulna_goal_report *g = &job->result.goals[term++];
            if (!turns++ || g->worst > worst_turn) {
                worst_turn = g->worst;
                put_count(job->shown, "turn_frame", g->worst_frame + first);
            }
        }
    }
    if (!places && !turns)
        return;
    json_t *object = json_object_get(job->object, "constraints");
    put_count(object, "places", places);
    put_count(object, "orientations", turns);
    put_number(object, "rms_mm", places ? 1e3 * sqrt(squares / places) : 0);
    put_number(object, "worst_mm", 1e3 * worst);
    put_number(object, "worst_deg", worst_turn / DEGREE);
}

/* The unit in which the errors of a constraint are shown, and how many of the library's it has. */
static const char *error_unit(ulna_constraint_type type, double *factor)
{
    int is_angle = type == ULNA_KEEP_ORIENTATION || type == ULNA_KEEP_DIRECTION || type == ULNA_KEEP_AIM ||
                   type == ULNA_KEEP_ANGLE;
    *factor = is_angle ? 1 / DEGREE : type == ULNA_KEEP_LINEAR ? 1 : 1e3;
    return is_angle ? "deg" : type == ULNA_KEEP_LINEAR ? "sum" : "mm";
}

/* The hard constraint with the largest error, if all are kept. */
static void put_worst_kept(const solve_job *job, int number)
{
    const ulna_constraint_report *r = &job->result.constraints[number];
    double factor;
    const char *unit = error_unit(job->constraints.list[number].constraint.type, &factor);
    char text[160];
    snprintf(text, sizeof text, "%.60s, off by %.2g %s (frame %d)", job->constraints.own[number].name,
             factor * r->worst, unit, r->worst_frame + job->take->first_frame);
    put_text(job->shown, "worst_kept", text);
}

static void put_kept(const solve_job *job, json_t *object)
{
    json_t *list = put_list(object, "kept");
    name_list broken = {0}, prior = {0};
    int hard = 0, worst = ULNA_NONE;
    for (int i = 0; i < job->result.constraint_count; i++) {
        const ulna_constraint_report *r = &job->result.constraints[i];
        const ulna_constraint *c = &job->constraints.list[i].constraint;
        double factor;
        const char *unit = error_unit(c->type, &factor);
        json_t *row = put_row(list);
        put_text(row, "name", job->constraints.own[i].name);
        put_text(row, "type", ulna_constraint_type_name(c->type));
        put_count(row, "level", c->level);
        put_count(row, "frames", r->frames);
        put_number(row, "worst", factor * r->worst);
        put_text(row, "unit", unit);
        if (r->frames)
            put_count(row, "worst_frame", (long long)r->worst_frame + job->take->first_frame);
        put_count(row, "infeasible", r->infeasible);
        hard += c->level == 0;
        worst =
            c->level == 0 && r->frames && (worst < 0 || r->worst > job->result.constraints[worst].worst) ? i : worst;
        if (r->infeasible)
            add_name(&broken, 4, "%.60s in %d frame%s, off by %.3g %s at worst (frame %d)",
                     job->constraints.own[i].name, r->infeasible, r->infeasible == 1 ? "" : "s", factor * r->worst,
                     unit, r->worst_frame + job->take->first_frame);
        else if (c->level > 0 && r->frames)
            add_name(&prior, 4, "%.60s, off by %.3g %s at worst (frame %d)", job->constraints.own[i].name,
                     factor * r->worst, unit, r->worst_frame + job->take->first_frame);
    }
    put_count(job->shown, "hard", hard);
    put_text(job->shown, "broken", broken.text);
    if (worst != ULNA_NONE && !*broken.text)
        put_worst_kept(job, worst);
    put_text(job->shown, "prior", prior.text);
}

static void put_feet(const solve_job *job)
{
    const ulna_track_result *r = &job->result;
    json_t *object = put_object(job->object, "feet"), *list = put_list(object, "stances");
    double before = 0, after = 0;
    int first = job->take->first_frame, frames = 0;
    for (int i = 0; i < r->stance_count; i++) {
        const ulna_stance *s = &r->stances[i];
        json_t *row = put_row(list);
        put_text(row, "body", ulna_model_body_name(job->model, s->body));
        put_count(row, "first", (long long)s->first + first);
        put_count(row, "last", (long long)s->last + first);
        if (s->flat_first <= s->flat_last) {
            put_count(row, "flat_first", (long long)s->flat_first + first);
            put_count(row, "flat_last", (long long)s->flat_last + first);
        }
        put_number(row, "skate_before_mm", 1e3 * s->skate_before);
        put_number(row, "skate_mm", 1e3 * s->skate);
        before += s->skate_before / r->stance_count;
        after += s->skate / r->stance_count;
        frames += s->last - s->first + 1;
    }
    put_number(object, "skate_before_mm", 1e3 * before);
    put_number(object, "skate_mm", 1e3 * after);
    put_count(object, "frames", frames);
    put_count(job->shown, "stances", r->stance_count);
    if (!r->stance_count)
        files_note_text(job->notes,
                        "no foot was found that stands still: give the frames in which feet do, in \"feet\"");
}

static void put_constraints(const solve_job *job)
{
    if (!job->constraints_path)
        return;
    json_t *object = put_object(job->object, "constraints");
    put_goals(job);
    put_number(job->object, "rms_unconstrained_mm", 1e3 * job->result.unconstrained_rms);
    put_kept(job, object);
    put_flag(job->shown, "has_cost", job->result.constraint_count || job->result.stance_count);
    if (job->constraints.plant_feet || job->constraints.stance_count)
        put_feet(job);
}

/* The three with the largest error. */
static void put_worst_markers(const solve_job *job)
{
    enum { SHOWN = 3 };
    const ulna_marker_report *markers = job->result.markers;
    int before[SHOWN], count = (int)job->take->set.count;
    name_list list = {0};
    for (int k = 0; k < SHOWN && k < count; k++) {
        int worst = -1;
        for (int i = 0; i < count; i++) {
            int is_listed = 0;
            for (int j = 0; j < k; j++)
                is_listed |= before[j] == i;
            if (!is_listed && markers[i].seen && (worst < 0 || markers[i].rms > markers[worst].rms))
                worst = i;
        }
        if (worst < 0)
            break;
        before[k] = worst;
        add_name(&list, SHOWN, "%.40s %.1f mm", files_marker_name(&job->take->set, (size_t)worst),
                 1e3 * markers[worst].rms);
    }
    put_text(job->shown, "worst", list.text);
}

/* Markers that are often outliers, but for those that change places. */
static void put_outliers(const solve_job *job)
{
    enum { SHOWN = 6 };
    const ulna_track_result *r = &job->result;
    name_list list = {0};
    for (size_t i = 0; i < job->take->set.count; i++) {
        int swapped = 0;
        for (int k = 0; k < r->swap_count; k++)
            swapped += r->swaps[k].a == (int)i || r->swaps[k].b == (int)i ? r->swaps[k].frames : 0;
        if (r->markers[i].outliers > swapped)
            add_name(&list, SHOWN, "%.40s in %d frame%s", files_marker_name(&job->take->set, i),
                     r->markers[i].outliers - swapped, r->markers[i].outliers - swapped == 1 ? "" : "s");
    }
    put_text(job->shown, "outliers", list.text);
}

/* What is known of the limits: that poses keep them is measured, not promised. */
static void limits_text(const solve_job *job, char *text, size_t room)
{
    const ulna_track_summary *s = &job->result.summary;
    char dof[160] = "";
    if (!job->bounded) {
        int is_ignored = job->attach == ATTACH_ORACLE || job->options.limits == 0;
        snprintf(text, room, is_ignored ? "joint limits ignored" : "joint limits may be exceeded at a cost");
        return;
    }
    const char *file = job->bounds_path, *whose = file ? "limits from " : "the skeleton's limits";
    if (!(s->violation > 0)) {
        snprintf(text, room, "%s%s%s", file ? "" : "inside ", whose, file ? file : "");
        return;
    }
    int is_length = ulna_model_dof_is_translation(job->model, s->violated_dof);
    ulna_model_dof_label(job->model, s->violated_dof, dof, sizeof dof);
    snprintf(text, room, "NOT inside %s%.120s: %.60s is up to %.3g %s beyond them", whose, file ? file : "", dof,
             (is_length ? 1e3 : 1 / DEGREE) * s->violation, is_length ? "mm" : "degrees");
}

/* What people read besides. */
static void put_shown(const solve_job *job)
{
    const ulna_track_summary *s = &job->result.summary;
    json_t *o = job->shown;
    char text[300];
    solve_attach_text(job, text, sizeof text);
    put_text(o, "attached", text);
    solve_skeleton_text(job, text, sizeof text);
    put_text(o, "unnamed", job->is_unnamed ? text : NULL);
    solve_axes_sentence(job->take, text, sizeof text);
    put_text(o, "axes", text);
    limits_text(job, text, sizeof text);
    put_text(o, "limits", text);
    put_flag(o, "some_unmarked", job->result.trust.unmarked && job->result.trust.unmarked < s->frames);
    put_flag(o, "is_bounded", job->result.trust.typical_rms != job->result.trust.unmarked_rms);
    put_count(o, "worst_frame", (long long)s->rms_max_frame + job->take->first_frame);
    put_number(o, "sum_mm", 1e3 * s->sum_mean);
    put_worst_markers(job);
    put_outliers(job);
    int rarest = 0;
    for (int i = 1; i < (int)job->take->set.count; i++)
        rarest = job->take->seen[i] < job->take->seen[rarest] ? i : rarest;
    put_text(o, "rarest", files_marker_name(&job->take->set, (size_t)rarest));
    put_count(o, "rarest_missing", s->frames - job->take->seen[rarest]);
    put_number(o, "missing_percent", 100.0 * (double)s->missing / ((double)s->frames * s->markers_used));
    put_number(o, "rate", s->frames / fmax(1e-9, s->seconds));
    put_number(o, "us_in_all", 1e6 * s->seconds / s->frames);
}

/* The built-in take looks bad on purpose: what of that was found. */
static void put_sample(const solve_job *job)
{
    int swapped = 0;
    for (int i = 0; i < job->result.swap_count; i++)
        swapped += job->result.swaps[i].frames;
    const struct {
        long long frames;
        const char *what;
    } found[] = {
        {json_integer_value(json_object_get(job->object, "empty")), "without a marker"},
        {json_integer_value(json_object_get(job->object, "bridged")), "without the markers of a limb"},
        {swapped, "with exchanged markers"},
    };
    char list[160] = "";
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        size_t length = strlen(list);
        if (found[i].frames)
            snprintf(list + length, sizeof list - length, "%s%lld frame%s %s",
                     length ? ", " : " Found: ", found[i].frames, found[i].frames == 1 ? "" : "s", found[i].what);
    }
    char text[300];
    snprintf(text, sizeof text, "This is the built-in take, which is damaged on purpose.%s%s", list, *list ? "." : "");
    if (job->is_sample)
        put_text(job->object, "sample", text);
}

void solve_add_results(solve_job *job)
{
    json_t *o = job->object;
    const ulna_track_result *r = &job->result;
    const ulna_track_summary *s = &r->summary;
    put_count(o, "frames", s->frames);
    put_count(o, "dof", ulna_model_dof_count(job->model));
    if (job->attach == ATTACH_ORACLE)
        put_count(o, "dof_moved", r->trust.dofs_moved);
    put_count(o, "markers", s->markers_used);
    if (job->take->keypoints)
        put_text(o, "keypoints", job->take->keypoints);
    if (job->take->joints)
        put_count(o, "joints", job->take->joints);
    if (job->attach == ATTACH_NAMES)
        put_number(o, "calibration_rms_mm", 1e3 * job->calibrated_rms);
    put_text(o, "skeleton", job->skeleton_path);
    put_flag(o, "skeleton_scaled", job->take->scaled || job->scaled.model);
    if (!isnan(job->size))
        put_number(o, "person_to_skeleton", job->size);
    if (!isnan(job->choice.rms_own))
        put_number(o, "own_markers_rms_mm", 1e3 * job->choice.rms_own);
    put_text(o, "method", job->options.solve.method ? job->options.solve.method : ulna_method_at(0)->name);
    put_spread(o, "us_per_frame", s->us_mean, s->us_max);
    put_number(json_object_get(o, "us_per_frame"), "median", s->us_median);
    put_number(put_object(o, "iterations"), "mean", s->iterations_mean);
    put_count(json_object_get(o, "iterations"), "max", s->iterations_max);
    json_t *evaluations = put_object(o, "evaluations");
    put_number(evaluations, "mean", s->evaluations_mean);
    if (job->attach == ATTACH_ORACLE)
        put_number(evaluations, "added_mean", s->evaluations_added_mean);
    put_number(o, "rms_unmarked_mm", 1e3 * r->trust.unmarked_rms);
    put_count(o, "frames_unmarked", r->trust.unmarked);
    put_number(o, "rms_typical_mm", 1e3 * r->trust.typical_rms);
    put_spread(o, "rms_mm", 1e3 * s->rms_mean, 1e3 * s->rms_max);
    put_spread(o, "sum_cm", 1e2 * s->sum_mean, 1e2 * s->sum_max);
    put_spread(o, "f_cm2", 1e4 * s->f_mean, 1e4 * s->f_max);
    put_count(o, "missing_markers", s->missing);
    if (job->bounded)
        put_number(o, "limit_violation", s->violation);
    solve_add_verdict(job);
    put_swaps(job);
    put_shifts(job);
    put_number(o, "seconds", s->seconds);
    put_numbers(o, "axes", job->take->axes, 9);
    put_stops(job);
    put_constraints(job);
    put_shown(job);
    put_sample(job);
    solve_add_ghost(job);
    note_trust(job);
    int fits_badly = r->trust.verdict == ULNA_VERDICT_REJECT ||
                     (r->trust.reasons & (ULNA_REASON_ROUGH | ULNA_REASON_OUTLIERS | ULNA_REASON_MISPLACED)) != 0;
    if (job->attach == ATTACH_MODEL && !job->take->keypoints && !job->take->joints && isnan(job->choice.rms_own) &&
        fits_badly)
        files_note_text(job->notes,
                        "the markers are where the skeleton has its own: --attach names finds where they are from "
                        "the take and their names");
}

/* ---- for people ---------------------------------------------------------------------------------------------- */

static void say_swaps(const cli *tool, const json_t *swaps, int is_bounded)
{
    enum { SHOWN = 6 };
    size_t count = json_array_size(swaps);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        json_t *row = json_array_get(swaps, i), *markers = json_object_get(row, "markers");
        fact_text(tool, "swapped", "%s and %s in frames %lld to %lld%s", json_string_value(json_array_get(markers, 0)),
                  json_string_value(json_array_get(markers, 1)),
                  (long long)json_integer_value(json_object_get(row, "first")),
                  (long long)json_integer_value(json_object_get(row, "last")),
                  is_bounded ? "; or limits keep a joint from following them" : "");
    }
    if (count > SHOWN)
        fact_text(tool, "swapped", "and %zu more times", count - SHOWN);
}

static void print_summary(const cli *tool, const solve_job *job)
{
    const json_t *o = job->shown;
    const char *sample = json_string_value(json_object_get(job->object, "sample"));
    if (sample)
        table_wrap(tool, 0, 0, 0, sample);
    cli_title(tool, "%s%s%s", job->markers_path, job->own_subject ? ", " : "",
              job->own_subject ? job->own_subject : "");
    fact_line(
        tool, o, NULL,
        ": {r.frames} frame{r.frames:/s} solved, {r.dof} degree{r.dof:/s} of freedom, {r.markers} marker{r.markers:/s}");
    solve_say_verdict(tool, job);
    fact_line(tool, o, "skeleton", "{unnamed}");
    fact_line(tool, o, "attached", "{attached}");
    fact_line(tool, o, "axes", "{axes}");
    fact_line(tool, o, "method", "{r.method}, {limits}");
    int is_split = json_is_true(json_object_get(o, "some_unmarked"));
    fact_line(
        tool, o, "error",
        "{some_unmarked?}rms {r.rms_unmarked_mm%.2f} mm on average in the {r.frames_unmarked} frame{r.frames_unmarked:/s} without a "
        "mark below");
    fact_line(tool, o, is_split ? "in all" : "error",
              "rms {r.rms_mm.mean%.2f} mm on average, {r.rms_mm.max%.2f} mm at most (frame {worst_frame}); sum over "
              "markers {sum_mm%.1f} mm");
    fact_line(tool, o, "",
              "{is_bounded?}typical error {r.rms_typical_mm%.0f} mm: the same, but markers too far off to count are "
              "taken as off by --loss-distance");
    fact_line(tool, o, "worst", "{worst} (root mean square over the take)");
    solve_say_ranges(tool, job);
    say_swaps(tool, json_object_get(job->object, "swaps"), job->bounded);
    fact_line(tool, o, "outlying", "{outliers}");
    fact_line(tool, o, "missing",
              "{r.missing_markers?}{r.missing_markers} marker positions, {missing_percent%.1f} % of all; most of "
              "{rarest}, in {rarest_missing} frame{rarest_missing:/s}");
    fact_line(tool, o, "held",
              "{r.constraints.places?}{r.constraints.places} place{r.constraints.places:/s}, met to "
              "{r.constraints.rms_mm%.2f} mm (root mean square), {r.constraints.worst_mm%.2f} mm at worst (frame "
              "{place_frame})");
    fact_line(tool, o, "held",
              "{r.constraints.orientations?}{r.constraints.orientations} orientation{r.constraints.orientations:/s}, "
              "met to {r.constraints.worst_deg%.2f} degrees at worst (frame {turn_frame})");
    fact_line(tool, o, "kept",
              "{hard?}{hard} constraint{hard:/s}[{broken?}, but for {broken}][{worst_kept?}; at worst {worst_kept}]");
    fact_line(tool, o, "priority", "{prior?}{prior}");
    fact_line(
        tool, o, "feet",
        "{stances?}{stances} stance{stances:/s}: feet skate by {r.feet.skate_mm%.2f} mm in one, on average, and by "
        "{r.feet.skate_before_mm%.1f} mm without the constraint");
    fact_line(tool, o, "cost",
              "{has_cost?}rms {r.rms_mm.mean%.2f} mm, {r.rms_unconstrained_mm%.2f} mm without constraints and feet");
    fact_line(
        tool, o, "compared",
        "{r.compared.file}: joints are {r.compared.joints_mm%.1f} mm apart on average, {r.compared.joints_max_mm%.1f} mm at "
        "most (frame {r.compared.max_frame})");
    fact_line(tool, o, "effort", "{r.iterations.mean%.1f} iterations and {r.evaluations.mean%.1f} evaluations a frame");
    fact_line(
        tool, o, "time",
        "{us_in_all%.1f} µs a frame: {r.seconds%.3f} s in all, {rate%.0f} frames/s; of this, following the markers "
        "frame by frame {r.us_per_frame.mean%.1f} µs (median {r.us_per_frame.median%.1f})");
}

void solve_tell(const cli *tool, solve_job *job, int count)
{
    if (job->is_solved)
        print_summary(tool, job);
    for (int i = 0; i < job->failure_count; i++)
        (void)files_fail(job->failures[i].where, job->failures[i].path, &job->failures[i].error);
    if (!job->is_solved)
        return;
    files_print_notes(tool, job->notes);
    const json_t *outputs = json_object_get(job->object, "outputs");
    for (size_t i = 0; i < json_array_size(outputs); i++) {
        json_t *row = json_array_get(outputs, i);
        if (strcmp(json_string_value(json_object_get(row, "result")), "written") == 0)
            fact_line(tool, row, "wrote", "{file}");
    }
    fact_line(tool, job->object, "report", "{report}");
    if (count > 1)
        cli_say(tool, "\n");
}
