/* ulna info FILE...: what a file holds, and what may be a mistake in it. */
#include "cli/info/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "cli/output.h"
#include "cli/sample/sample_take.h"

#define INDENT "  " /* before a line of a drawing */
#define DEGREE (3.14159265358979323846 / 180)
#define JUMP (90 * DEGREE) /* from one frame to the next: no joint rotates so fast */
#define SPIKE_M 0.25       /* the same of a marker */

/* ==== models ====================================================================================================== */

static int is_limited(const ulna_model *model, int dof)
{
    return isfinite(ulna_model_lower(model)[dof]) || isfinite(ulna_model_upper(model)[dof]);
}

static void put_size(json_t *row, const double low[3], const double high[3])
{
    double size[3] = {high[0] - low[0], high[1] - low[1], high[2] - low[2]};
    put_numbers(row, "low_m", low, 3);
    put_numbers(row, "high_m", high, 3);
    put_numbers(row, "size_m", size, 3);
}

static void add_model(json_t *row, const ulna_model *model, const figure *shape)
{
    int joints[ULNA_JOINT_TYPE_COUNT] = {0}, depth = 0, heavy = 0, limited = 0, could_be_limited = 0, leaves = 0;
    double mass = 0;
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        double own = ulna_model_body_mass(model, i)->mass;
        joints[ulna_model_body_joint(model, i)->type]++;
        depth = ulna_model_body_depth(model, i) > depth ? ulna_model_body_depth(model, i) : depth;
        leaves += ulna_model_subtree(model, i, NULL) == 1;
        heavy += own > 0;
        mass += own;
    }
    for (int i = 0; i < ulna_model_dof_count(model); i++) {
        limited += is_limited(model, i);
        could_be_limited += ulna_model_dof_coordinate(model, i) != ULNA_NONE;
    }
    put_text(row, "name", ulna_model_name(model));
    put_count(row, "bodies", ulna_model_body_count(model));
    put_count(row, "dof", ulna_model_dof_count(model));
    put_count(row, "coordinates", ulna_model_coordinate_count(model));
    json_t *by_type = put_object(row, "joints"), *limits = put_object(row, "limits");
    for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++)
        if (joints[type])
            put_count(by_type, ulna_joint_type_name((ulna_joint_type)type), joints[type]);
    put_count(limits, "limited", limited);
    put_count(limits, "unlimited", could_be_limited - limited);
    put_count(row, "markers", ulna_model_marker_count(model));
    put_count(row, "depth", depth);
    put_count(row, "chains", leaves);
    put_number(row, "mass_kg", mass);
    put_count(row, "bodies_with_mass", heavy);
    put_number(row, "length_scale_m", ulna_model_length_scale(model));
    put_size(row, shape->low, shape->high);
    put_count(row, "memory_bytes", (long long)ulna_model_bytes(model));
}

static void print_model(const cli *tool, const json_t *row)
{
    char joints[512] = "";
    const char *type;
    json_t *count;
    json_object_foreach(json_object_get(row, "joints"), type, count)
    {
        size_t length = strlen(joints);
        snprintf(joints + length, sizeof joints - length, "%s%d %s", length ? ", " : "", (int)json_integer_value(count),
                 type);
    }
    fact_line(tool, row, "bodies",
              "{bodies} in {chains} chain{chains:/s}, up to {depth} joint{depth:/s} from the root");
    fact_line(
        tool, row, "freedom",
        "{dof} degree{dof:/s} of freedom, {coordinates} coordinate{coordinates:/s}, {limits.limited} with limits");
    fact_text(tool, "joints", "%s", joints);
    fact_line(tool, row, "markers", "{markers}");
    fact_line(tool, row, "mass", "{mass_kg?}{mass_kg} kg on {bodies_with_mass} bod{bodies_with_mass:y/ies}");
    fact_line(tool, row, "size",
              "{size_m.0%.3f} x {size_m.1%.3f} x {size_m.2%.3f} m at rest (x, y, z); characteristic length "
              "{length_scale_m%.3f} m");
}

/* ---- what may be a mistake: each check adds at most a sentence or two ------------------------------------------ */

/* The first few of many names: "hip, knee, ankle and 4 more". */
typedef struct name_list {
    int count;
    char names[512];
} name_list;

static void add_name(name_list *list, const char *name)
{
    enum { SHOWN = 4 };
    size_t length = strlen(list->names);
    if (list->count++ < SHOWN)
        snprintf(list->names + length, sizeof list->names - length, "%s%.100s", length ? ", " : "", name);
}

static void add_dof_name(name_list *list, const ulna_model *model, int dof)
{
    char label[512];
    ulna_model_dof_label(model, dof, label, sizeof label);
    add_name(list, label);
}

/* "3 bones have zero length: a, b, c". The first two texts are for one and for several. */
static void add_note(json_t *notes, const name_list *list, const char *one, const char *several)
{
    char more[32] = "";
    if (list->count == 0)
        return;
    if (list->count > 4)
        snprintf(more, sizeof more, " and %d more", list->count - 4);
    if (list->count == 1)
        files_note_text(notes, "%s: %s", one, list->names);
    else
        files_note_text(notes, "%d %s: %s%s", list->count, several, list->names, more);
}

/* The root may go anywhere; a quaternion cannot have limits. */
static int could_be_limited(const ulna_model *model, int dof)
{
    return ulna_model_dof_coordinate(model, dof) != ULNA_NONE && ulna_model_dof_body(model, dof) != 0;
}

/* A robot may have joints without limits, and rests as its maker has built it. */
static void note_limits(const ulna_model *model, json_t *notes)
{
    name_list unlimited = {0}, locked = {0}, wide = {0}, resting = {0};
    int limited = 0, is_robot = robot_is(model);
    for (int i = 0; i < ulna_model_dof_count(model); i++) {
        double lower = ulna_model_lower(model)[i], upper = ulna_model_upper(model)[i];
        if (!is_limited(model, i)) {
            if (could_be_limited(model, i) && !is_robot)
                add_dof_name(&unlimited, model, i);
            continue;
        }
        limited++;
        double rest = ulna_model_rest(model)[ulna_model_dof_coordinate(model, i)];
        if (lower == upper)
            add_dof_name(&locked, model, i);
        else if ((rest == lower || rest == upper) && !is_robot)
            add_dof_name(&resting, model, i);
        if (!ulna_model_dof_is_translation(model, i) && isfinite(upper - lower) && upper - lower > 12.6)
            add_dof_name(&wide, model, i); /* degrees, perhaps? */
    }
    if (limited == 0 && unlimited.count > 0)
        files_note_text(notes, "no degree of freedom has limits");
    else
        add_note(notes, &unlimited, "one degree of freedom has no limits", "degrees of freedom have no limits");
    add_note(notes, &locked, "one degree of freedom cannot move, its limits are equal",
             "degrees of freedom cannot move, their limits are equal");
    add_note(notes, &resting, "one degree of freedom rests at its limit", "degrees of freedom rest at their limits");
    add_note(notes, &wide, "one range is over two full rotations (are limits in degrees? They should be in radians)",
             "ranges are over two full rotations (are limits in degrees? They should be in radians)");
}

static void note_bones(const ulna_model *model, const figure *shape, json_t *notes)
{
    name_list empty = {0};
    for (int i = 1; i < ulna_model_body_count(model); i++)
        if (ulna_model_bone_length(model, i) == 0)
            add_name(&empty, ulna_model_body_name(model, i));
    add_note(notes, &empty, "one bone has zero length", "bones have zero length");

    double size = 0;
    for (int k = 0; k < 3; k++)
        size = fmax(size, shape->high[k] - shape->low[k]);
    if (!isfinite(size))
        files_note_text(notes, "the rest pose is too large for a floating-point number");
    else if (size > 20)
        files_note_text(notes, "the model is %.4g m large; is it in metres?", size);
    else if (size > 0 && size < 0.005)
        files_note_text(notes, "the model is only %.2g mm large; is it in metres?", 1000 * size);
}

/* Principal moments obey the triangle inequality; so do the diagonal entries in any axes, and |xy| <= zz / 2. */
static int is_possible(const ulna_mass *mass)
{
    const double *i = mass->inertia;
    double slack = 1e-6 * (fabs(i[0]) + fabs(i[1]) + fabs(i[2]));
    int diagonal = i[0] + i[1] >= i[2] - slack && i[1] + i[2] >= i[0] - slack && i[2] + i[0] >= i[1] - slack;
    return diagonal && 2 * fabs(i[3]) <= i[2] + slack && 2 * fabs(i[4]) <= i[1] + slack &&
           2 * fabs(i[5]) <= i[0] + slack;
}

static void note_masses(const ulna_model *model, json_t *notes)
{
    name_list massless = {0}, points = {0}, impossible = {0};
    int heavy = 0;
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        const ulna_mass *mass = ulna_model_body_mass(model, i);
        const char *name = ulna_model_body_name(model, i);
        heavy += mass->mass > 0;
        if (mass->mass == 0)
            add_name(&massless, name);
        else if (mass->inertia[0] == 0 && mass->inertia[1] == 0 && mass->inertia[2] == 0)
            add_name(&points, name);
        if (!is_possible(mass))
            add_name(&impossible, name);
    }
    if (heavy > 0)
        add_note(notes, &massless, "one body has no mass, though others have",
                 "bodies have no mass, though others have");
    add_note(notes, &points, "one body has a mass but no inertia", "bodies have a mass but no inertia");
    add_note(notes, &impossible, "one inertia is impossible for any solid", "inertias are impossible for any solid");
}

typedef struct placed_marker {
    int index, body;
    double position[3];
} placed_marker;

static int compare_places(const void *left, const void *right)
{
    const placed_marker *a = left, *b = right;
    if (a->body != b->body)
        return a->body < b->body ? -1 : 1;
    for (int k = 0; k < 3; k++)
        if (a->position[k] != b->position[k])
            return a->position[k] < b->position[k] ? -1 : 1;
    return 0;
}

static void note_twins(const ulna_model *model, json_t *notes)
{
    int count = ulna_model_marker_count(model);
    placed_marker *places = cli_allocate((size_t)count + 1, sizeof *places);
    name_list twins = {0};
    for (int i = 0; i < count; i++) {
        places[i].index = i;
        places[i].body = ulna_model_marker_body(model, i);
        ulna_model_marker_position(model, i, places[i].position);
    }
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int i = 1; i < count; i++)
        if (compare_places(&places[i - 1], &places[i]) == 0)
            add_name(&twins, ulna_model_marker_name(model, places[i].index));
    add_note(notes, &twins, "one marker is in the same place as another", "markers are in the same place as another");
    free(places);
}

/* A degree of freedom that moves no marker cannot be found from markers. */
static void note_unseen(const ulna_model *model, json_t *notes)
{
    int count = ulna_model_body_count(model);
    char *seen = cli_allocate((size_t)count, 1);
    name_list unseen = {0};
    for (int i = 0; i < ulna_model_marker_count(model); i++)
        if (ulna_model_marker_weight(model, i) > 0)
            seen[ulna_model_marker_body(model, i)] = 1;
    for (int i = count - 1; i > 0; i--)
        if (seen[i])
            seen[ulna_model_body_parent(model, i)] = 1;
    for (int i = 0; i < ulna_model_dof_count(model); i++)
        if (!seen[ulna_model_dof_body(model, i)])
            add_dof_name(&unseen, model, i);
    add_note(notes, &unseen, "one degree of freedom moves no marker", "degrees of freedom move no marker");
    free(seen);
}

static void note_markers(const ulna_model *model, json_t *notes)
{
    name_list weightless = {0};
    if (ulna_model_marker_count(model) == 0) {
        files_note_text(notes, "there are no markers");
        return;
    }
    for (int i = 0; i < ulna_model_marker_count(model); i++)
        if (ulna_model_marker_weight(model, i) == 0)
            add_name(&weightless, ulna_model_marker_name(model, i));
    add_note(notes, &weightless, "one marker has no weight", "markers have no weight");
    note_twins(model, notes);
    note_unseen(model, notes);
}

static void note_model(const ulna_model *model, const figure *shape, json_t *notes)
{
    if (ulna_model_dof_count(model) == 0)
        files_note_text(notes, "nothing can move");
    note_limits(model, notes);
    if (robot_is(model)) /* its links may lie in one place, weigh nothing, and wear no markers */
        return;
    note_bones(model, shape, notes);
    note_masses(model, notes);
    note_markers(model, notes);
}

/* ==== motions ===================================================================================================== */

static void show_frames(const cli *tool, int count, int first, double seconds, json_t *row)
{
    put_count(row, "frames", count);
    put_count(row, "first_frame", first);
    put_count(row, "last_frame", (long long)first + count - 1);
    put_number(row, "rate_hz", seconds > 0 ? 1 / seconds : (double)NAN);
    put_number(row, "seconds", seconds > 0 ? count * seconds : (double)NAN);
    fact_line(
        tool, row, "frames",
        "{frames}, numbered {first_frame} to {last_frame}; [{rate_hz} per second, {seconds%.2f} s in all|the file "
        "does not say how many per second]");
}

static void add_limits(json_t *row, const ulna_model *model, int dof)
{
    int is_length = ulna_model_dof_is_translation(model, dof);
    double unit = is_length ? 1 : DEGREE;
    char label[300];
    ulna_model_dof_label(model, dof, label, sizeof label);
    put_text(row, "dof", label);
    put_text(row, "unit", is_length ? "m" : "deg");
    put_number(row, "lower", ulna_model_lower(model)[dof] / unit);
    put_number(row, "upper", ulna_model_upper(model)[dof] / unit);
}

/* The range of one degree of freedom in a motion, and its limits. */
static void add_range(json_t *list, const ulna_model *model, const ulna_clip *clip, int dof)
{
    int coordinate = ulna_model_dof_coordinate(model, dof), is_length = ulna_model_dof_is_translation(model, dof);
    int outside = 0, jumps = 0; /* frames */
    double low = INFINITY, high = -INFINITY, before = NAN, unit = is_length ? 1 : DEGREE;
    double lower = ulna_model_lower(model)[dof], upper = ulna_model_upper(model)[dof];
    if (coordinate == ULNA_NONE)
        return;
    for (int f = 0; f < clip->frame_count; f++) {
        double value = ulna_clip_frame(clip, f)[coordinate];
        low = fmin(low, value);
        high = fmax(high, value);
        outside += fmax(lower - value, value - upper) > 1e-6;
        jumps += !is_length && fabs(value - before) > JUMP;
        before = value;
    }
    json_t *row = put_row(list);
    add_limits(row, model, dof);
    put_number(row, "low", low / unit);
    put_number(row, "high", high / unit);
    put_count(row, "frames_outside", outside);
    put_count(row, "jumps", jumps);
}

void motion_note(const ulna_model *model, const ulna_clip_findings *found, json_t *notes)
{
    char label[300] = "";
    if (found->farthest_dof != ULNA_NONE)
        ulna_model_dof_label(model, found->farthest_dof, label, sizeof label);
    if (found->outside)
        files_note_text(notes, "%d of %d degrees of freedom with limits exceed them, the most %s, by %.1f degrees",
                        found->outside, found->limited, label, found->farthest_outside / DEGREE);
    if (found->jumps)
        files_note_text(notes, "angles jump by more than 90 degrees from one frame to the next %d time%s", found->jumps,
                        found->jumps == 1 ? "" : "s");
}

#define LIMITS_COLUMN                                                                                                  \
    {                                                                                                                  \
        "limits", 'l', "[{lower%.4g} to {upper%.4g}|from {lower%.4g}|up to {upper%.4g}|none]"                          \
    }

/* The names and limits of a skeleton's degrees of freedom. */
static void show_values(const cli *tool, const ulna_model *model, json_t *row)
{
    static const fact_column columns[] = {{"value", 'l', "{dof}"}, LIMITS_COLUMN, {"unit", 'l', "{unit}"}, {0}};
    json_t *list = put_list(row, "values");
    for (int d = 0; d < ulna_model_dof_count(model); d++)
        add_limits(put_row(list), model, d);
    cli_say(tool, "\n");
    fact_table(tool, 2, list, columns);
}

static void show_motion(const cli *tool, const ulna_model *model, const ulna_clip *clip, json_t *row, json_t *notes)
{
    static const fact_column columns[] = {
        {"value", 'l', "{dof}"},
        {"least", 'r', "{low%.4g}"},
        {"most", 'r', "{high%.4g}"},
        LIMITS_COLUMN,
        {"unit", 'l', "{unit}[{frames_outside?}, outside]"},
        {0},
    };
    show_frames(tool, clip->frame_count, clip->first_frame, clip->frame_seconds, row);
    json_t *list = put_list(row, "ranges");
    for (int d = 0; d < ulna_model_dof_count(model); d++)
        add_range(list, model, clip, d);
    ulna_clip_findings found = ulna_clip_check(model, clip);
    motion_note(model, &found, notes);
    if (cli_value(tool, "values")) {
        cli_say(tool, "\n");
        fact_table(tool, 2, list, columns);
    }
}

/* ==== recordings ================================================================================================== */

/* The gaps and jumps of one marker; widens the box around all positions. */
static void add_marker(json_t *list, const ulna_recording *recording, int marker, double low[3], double high[3])
{
    int missing = 0, longest = 0, start = 0, spikes = 0, run = 0; /* frames; start: index of the longest gap */
    const double *before = NULL;
    for (int f = 0; f < recording->frame_count; f++) {
        const double *p = ulna_recording_frame(recording, f) + 3 * (size_t)marker;
        if (isnan(p[0]) || isnan(p[1]) || isnan(p[2])) {
            missing++;
            if (++run > longest) {
                longest = run;
                start = f - run + 1;
            }
            before = NULL;
            continue;
        }
        run = 0;
        double way = 0;
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], p[k]);
            high[k] = fmax(high[k], p[k]);
            way += before ? (p[k] - before[k]) * (p[k] - before[k]) : 0;
        }
        spikes += way > SPIKE_M * SPIKE_M;
        before = p;
    }
    json_t *row = put_row(list);
    put_text(row, "name", recording->names[marker]);
    put_count(row, "missing", missing);
    put_count(row, "longest_gap", longest);
    put_text(row, "gap_frame", NULL);
    if (longest)
        put_count(row, "gap_frame", (long long)start + recording->first_frame);
    put_flag(row, "never_seen", missing == recording->frame_count);
    put_count(row, "spikes", spikes);
}

static int count_of(const json_t *row, const char *key)
{
    return (int)json_number_value(json_object_get(row, key));
}

/* The markers that are missing most. */
static void print_gaps(const cli *tool, const json_t *list)
{
    enum { SHOWN = 10 };
    static const fact_column columns[] = {
        {"marker", 'l', "{name}"},
        {"missing", 'r', "{missing}"},
        {"longest gap", 'r', "{longest_gap}"},
        {"from frame", 'l', "{gap_frame}[{never_seen?}, never seen]"},
        {0},
    };
    json_t *left = json_copy((json_t *)list), *shown = json_array();
    while (json_array_size(shown) < SHOWN && json_array_size(left)) {
        size_t most = 0;
        for (size_t i = 1; i < json_array_size(left); i++)
            if (count_of(json_array_get(left, i), "missing") > count_of(json_array_get(left, most), "missing"))
                most = i;
        if (!count_of(json_array_get(left, most), "missing"))
            break;
        json_array_append(shown, json_array_get(left, most));
        json_array_remove(left, most);
    }
    if (json_array_size(shown))
        fact_table(tool, FACT_COLUMN, shown, columns);
    json_decref(left);
    json_decref(shown);
}

static void note_oddities(const json_t *list, json_t *notes)
{
    int unnamed = 0, never = 0, spikes = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *row = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(row, "name")), *colon = strrchr(name, ':');
        unnamed += !*name || name[0] == '*' || (colon && colon[1] == '*');
        never += json_is_true(json_object_get(row, "never_seen"));
        spikes += count_of(row, "spikes");
    }
    if (unnamed)
        files_note_text(notes, "%d marker%s no name (*0, ...)", unnamed, unnamed == 1 ? " has" : "s have");
    if (never)
        files_note_text(notes, "%d marker%s never seen", never, never == 1 ? " is" : "s are");
    if (spikes)
        files_note_text(notes, "markers jump by more than 25 cm from one frame to the next %d time%s", spikes,
                        spikes == 1 ? "" : "s");
}

static void show_recording(const cli *tool, const ulna_recording *recording, json_t *row, json_t *notes)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    double positions = (double)recording->marker_count * recording->frame_count;
    long long missing = ulna_recording_missing(recording);
    show_frames(tool, recording->frame_count, recording->first_frame, recording->frame_seconds, row);
    put_count(row, "markers", recording->marker_count);
    json_t *list = put_list(row, "marker_list");
    for (int i = 0; i < recording->marker_count; i++)
        add_marker(list, recording, i, low, high);
    fact_line(tool, row, "markers", "[{markers?}{markers}: {marker_list.name}|none]");
    if (recording->marker_count == 0)
        return;
    put_count(row, "missing", missing);
    put_number(row, "positions", positions);
    put_number(row, "missing_percent", 100 * (double)missing / positions);
    put_size(row, low, high);
    fact_line(tool, row, "space", "{size_m.0%.3f} x {size_m.1%.3f} x {size_m.2%.3f} m (x, y, z)");
    if (sample_take_is(recording))
        files_note_text(notes, "this is the built-in take, which is damaged on purpose");
    note_oddities(list, notes);
    fact_line(tool, row, "gaps",
              "[{missing?}{missing} of {positions%d} positions missing, {missing_percent%.1f} %|none]");
    print_gaps(tool, list);
}

/* ==== files ======================================================================================================= */

/* How the file counts. */
static void show_source(const cli *tool, const ulna_content *content, json_t *row)
{
    const ulna_source *source = &content->source;
    const char up[2] = {source->up, 0};
    put_number(row, "unit_m", source->unit_m > 0 ? source->unit_m : (double)NAN);
    put_text(row, "unit", *source->text ? source->text : NULL);
    put_flag(row, "degrees", source->degrees);
    put_text(row, "up", source->up ? up : NULL);
    put_count(row, "analog_per_frame", source->analog);
    if (content->format != ULNA_FORMAT_MODEL_JSON)
        fact_line(tool, row, "in file",
                  "[1 unit of length = {unit_m} m|unknown unit of length][ ({unit})][{degrees?}, degrees], [{up} up|up "
                  "axis not stated]");
    fact_line(tool, row, "analog",
              "{analog_per_frame?}{analog_per_frame} samples per frame: only a C3D that is written from it keeps them");
}

static void print_lines(const cli *tool, const char *before, json_t *lines)
{
    for (size_t i = 0; i < json_array_size(lines); i++)
        cli_say(tool, "%s%s\n", before, json_string_value(json_array_get(lines, i)));
}

static void draw(const cli *tool, const ulna_model *model, const figure *shape, const drawing *how, json_t *row)
{
    if (cli_value(tool, "tree")) {
        cli_say(tool, "\n");
        tree_print(tool, model, how->is_ascii);
        json_object_set_new(row, "tree", tree_json(model));
    }
    if (cli_value(tool, "draw")) {
        json_t *lines = figure_draw(shape, how);
        cli_say(tool, "\n");
        if (!lines)
            cli_say(tool, "  (the model has no size that could be drawn)\n");
        print_lines(tool, INDENT, lines);
        json_object_set_new(row, "drawing", lines ? lines : json_null());
    }
}

static ulna_status show_content(const cli *tool, const ulna_content *content, const ulna_model *model,
                                const drawing *how, json_t *row, json_t *notes, ulna_error *error)
{
    figure shape = {0};
    ulna_status status = content->model ? figure_create(content->model, &shape, error) : ULNA_OK;
    if (status != ULNA_OK)
        return status;
    if (content->model) {
        add_model(row, content->model, &shape);
        print_model(tool, row);
        note_model(content->model, &shape, notes);
        if (robot_is(content->model))
            robot_add(row, content->model);
    }
    show_source(tool, content, row);
    if (content->clip.frame_count && model)
        show_motion(tool, model, &content->clip, row, notes);
    if (content->recording.frame_count)
        show_recording(tool, &content->recording, row, notes);
    files_print_notes(tool, notes);
    if (content->model && robot_is(content->model))
        robot_print(tool, row);
    if (content->model && !content->clip.frame_count && cli_value(tool, "values"))
        show_values(tool, content->model, row);
    if (content->model)
        draw(tool, content->model, &shape, how, row);
    figure_release(&shape);
    return ULNA_OK;
}

/* The skeleton for a motion that does not hold its own: of the files that are named with it the last one before it, or
 * the first one after. */
static void find_skeleton(const cli *tool, int at, ulna_content *skeleton)
{
    for (int step = 1; step < 2 * tool->operand_count && !skeleton->model; step++) {
        int i = step <= at ? at - step : step;
        ulna_error ignored;
        if (i >= tool->operand_count || i == at || strcmp(tool->operands[i], "-") == 0 ||
            files_needs_skeleton(tool->operands[i]))
            continue;
        ulna_content_release(skeleton);
        if (cli_with_memory(files_read(tool->operands[i], NULL, skeleton, &ignored)) || !skeleton->model)
            ulna_content_release(skeleton);
    }
}

static ulna_status show_file(const cli *tool, int index, const drawing *how, json_t *row, ulna_error *error)
{
    const char *path = tool->operands[index];
    ulna_content content = ulna_content_empty(NULL), skeleton = ulna_content_empty(NULL);
    json_t *notes = json_array();
    if (files_needs_skeleton(path))
        find_skeleton(tool, index, &skeleton);
    ulna_read_options options = ulna_read_options_for(skeleton.model ? &skeleton : NULL);
    ulna_status status = files_read(path, &options, &content, error);
    if (status == ULNA_OK) {
        const ulna_model *model = content.model ? content.model : skeleton.model;
        put_text(row, "format", ulna_format_name(content.format));
        cli_title(tool, "%s", path);
        cli_say(tool, ": %s", ulna_format_text(content.format));
        if (content.model && *ulna_model_name(content.model))
            cli_say(tool, " \"%s\"", ulna_model_name(content.model));
        cli_say(tool, "\n");
        files_note(notes, NULL, &content.remarks);
        status = show_content(tool, &content, model, how, row, notes, error);
        json_object_set(row, "notes", notes);
    } else if (error->status == ULNA_ERR_STATE && !skeleton.model) {
        size_t length = strlen(error->message);
        snprintf(error->message + length, sizeof error->message - length, " together with this file");
    }
    json_decref(notes);
    ulna_content_release(&skeleton);
    ulna_content_release(&content);
    return status;
}

/* JSON is the same on every terminal. */
static int choose_drawing(const cli *tool, drawing *how)
{
    static const char axes[] = "xyzXYZ";
    const char *up = cli_value(tool, "up"), *found = up && up[0] && !up[1] ? strchr(axes, up[0]) : NULL;
    how->width = (tool->json ? CLI_COLUMNS : tool->columns) - (int)strlen(INDENT);
    how->is_ascii = cli_value(tool, "ascii") || (tool->ascii && !tool->json);
    how->up = found ? (int)(found - axes) % 3 : -1;
    if (up && !found)
        return cli_usage(tool, "--up takes x, y or z, not '%s'", up);
    return up && !cli_value(tool, "draw") ? cli_usage(tool, "--up needs --draw") : CLI_DONE;
}

static int info_main(cli *tool)
{
    drawing how;
    int code = choose_drawing(tool, &how);
    if (code)
        return code;
    json_t *object = json_object(), *list = put_list(object, "files");
    for (int i = 0; i < tool->operand_count; i++) {
        const char *path = tool->operands[i];
        ulna_error error;
        ulna_error_clear(&error);
        json_t *row = put_row(list);
        put_text(row, "file", path);
        if (i > 0)
            cli_say(tool, "\n");
        if (show_file(tool, i, &how, row, &error)) {
            int asked = files_fail(row, path, &error);
            code = asked > code ? asked : code;
        }
    }
    cli_json_print(tool, object);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"tree", 't', NULL, "Show the tree of bodies with their joints, ranges (in degrees and metres) and markers."},
    {"draw", 'd', NULL, "Draw the skeleton at rest, from the front and from the side."},
    {"up", 0, "AXIS", "Axis that points up in the drawing: x, y or z. Default: y or z, whichever is taller."},
    {"ascii", 0, NULL,
     "Use only ASCII characters for the drawing and the tree. Default where the locale is not UTF-8."},
    {"values", 'v', NULL,
     "Show the name and the limits of each value (degree of freedom), in degrees and metres; for a motion also its range."},
    {0},
};

const cli_command info_command = {
    .name = "info",
    .operands = "FILE...",
    .operand = "a file name",
    .least = 1,
    .most = -1,
    .summary = "show what a file contains, and what may be wrong with it",
    .text =
        "For a skeleton: the number of bodies, degrees of freedom and markers, joints by type, limits, mass and size at "
        "rest. Notes list possible mistakes, such as bones of zero length, degrees of freedom without limits or that "
        "move no marker, and bodies without mass where others have one. For a robot, such as a URDF: each moving joint "
        "with its type, link and range (in radians and metres) and what it mimics; and its tips, the links that nothing hangs on, with "
        "the degrees of freedom that move them and the longest distance from the first of these joints.\n\n"
        "For a motion: frames, rate, and values that exceed their limits or jump. For a recording: markers, gaps (the "
        "longest, and the markers that are missing most) and the space covered. Anything unusual that was found while "
        "reading is listed with its line or byte. A motion without a skeleton of its own, such as AMC, needs its "
        "skeleton among the files.\n\n"
        "The format is detected from the contents, not from the name. The name - means standard input. If a file cannot "
        "be read, the error is reported and the other files are still shown.",
    .options = options,
    .reads = "OPERANDS",
    .examples = "ulna info human.json\tsummary of a skeleton\n"
                "ulna info --tree --draw human.json\tits joints, and a drawing\n"
                "ulna info robot.urdf\tjoints, limits, mimic joints and tips of a robot\n"
                "ulna info s.asf t.amc t.c3d\ta motion with its skeleton, and a recording\n"
                "ulna info --json *.json\tfor other programs",
    .run = info_main,
};
