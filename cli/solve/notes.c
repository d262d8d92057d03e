/* What may be a mistake in a model. Each check is a function that adds at most a sentence or two. */
#include "cli/info/info.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- sentences ---------------------------------------------------------------------------------------- */

/* The first few of many names: "hip, knee, ankle and 4 more". */
typedef struct roster {
    int count;
    char names[512];
} roster;

static void enlist(roster *list, const char *name)
{
    enum { SHOWN = 4 };
    size_t length = strlen(list->names);
    if (list->count++ < SHOWN)
        snprintf(list->names + length, sizeof list->names - length, "%s%.100s", length ? ", " : "", name);
}

static void enlist_dof(roster *list, const ulna_model *model, int dof)
{
    char label[512];
    ulna_model_dof_label(model, dof, label, sizeof label);
    enlist(list, label);
}

/* "3 bones have zero length: a, b, c". The first two texts are for one and for several. */
static void add_note(json_t *notes, const roster *list, const char *one, const char *several)
{
    char note[800], more[32] = "";
    if (list->count == 0)
        return;
    if (list->count > 4)
        snprintf(more, sizeof more, " and %d more", list->count - 4);
    if (list->count == 1)
        snprintf(note, sizeof note, "%s: %s", one, list->names);
    else
        snprintf(note, sizeof note, "%d %s: %s%s", list->count, several, list->names, more);
    json_array_append_new(notes, cli_json_text(note));
}

/* ---- limits ------------------------------------------------------------------------------------------- */

static int is_limited(const ulna_model *model, int dof)
{
    return isfinite(ulna_model_lower(model)[dof]) || isfinite(ulna_model_upper(model)[dof]);
}

/* The root may go anywhere; a quaternion cannot have limits. */
static int could_be_limited(const ulna_model *model, int dof)
{
    return ulna_model_dof_coordinate(model, dof) != ULNA_NONE && ulna_model_dof_body(model, dof) != 0;
}

static void note_limits(const ulna_model *model, json_t *notes)
{
    roster unlimited = {0}, locked = {0}, turning = {0}, resting = {0};
    int limited = 0;
    for (int i = 0; i < ulna_model_dof_count(model); i++) {
        double lower = ulna_model_lower(model)[i], upper = ulna_model_upper(model)[i];
        if (!is_limited(model, i)) {
            if (could_be_limited(model, i))
                enlist_dof(&unlimited, model, i);
            continue;
        }
        limited++;
        double rest = ulna_model_rest(model)[ulna_model_dof_coordinate(model, i)];
        if (lower == upper)
            enlist_dof(&locked, model, i);
        else if (rest == lower || rest == upper)
            enlist_dof(&resting, model, i);
        if (!ulna_model_dof_is_translation(model, i) && isfinite(upper - lower) && upper - lower > 12.6)
            enlist_dof(&turning, model, i); /* more than two full turns: degrees, perhaps? */
    }
    if (limited == 0 && unlimited.count > 0)
        json_array_append_new(notes, cli_json_text("no degree of freedom has limits"));
    else
        add_note(notes, &unlimited, "one degree of freedom has no limits", "degrees of freedom have no limits");
    add_note(notes, &locked, "one degree of freedom cannot move, its limits are equal",
             "degrees of freedom cannot move, their limits are equal");
    add_note(notes, &resting, "one degree of freedom rests at its limit", "degrees of freedom rest at their limits");
    add_note(notes, &turning, "one range is over two full turns (are limits in degrees? They should be in radians)",
             "ranges are over two full turns (are limits in degrees? They should be in radians)");
}

/* ---- bones and masses --------------------------------------------------------------------------------- */

static void note_bones(const ulna_model *model, const figure *shape, json_t *notes)
{
    roster empty = {0};
    for (int i = 1; i < ulna_model_body_count(model); i++)
        if (ulna_model_bone_length(model, i) == 0)
            enlist(&empty, ulna_model_body_name(model, i));
    add_note(notes, &empty, "one bone has zero length", "bones have zero length");

    char note[160];
    double size = 0;
    for (int k = 0; k < 3; k++)
        size = fmax(size, shape->high[k] - shape->low[k]);
    if (!isfinite(size))
        snprintf(note, sizeof note, "the rest pose is larger than numbers can tell");
    else if (size > 20)
        snprintf(note, sizeof note, "the model is %.4g m large; is it in metres?", size);
    else if (size > 0 && size < 0.005)
        snprintf(note, sizeof note, "the model is only %.2g mm large; is it in metres?", 1000 * size);
    else
        return;
    json_array_append_new(notes, cli_json_text(note));
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
    roster massless = {0}, points = {0}, impossible = {0};
    int heavy = 0;
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        const ulna_mass *mass = ulna_model_body_mass(model, i);
        const char *name = ulna_model_body_name(model, i);
        heavy += mass->mass > 0;
        if (mass->mass == 0)
            enlist(&massless, name);
        else if (mass->inertia[0] == 0 && mass->inertia[1] == 0 && mass->inertia[2] == 0)
            enlist(&points, name);
        if (!is_possible(mass))
            enlist(&impossible, name);
    }
    if (heavy > 0)
        add_note(notes, &massless, "one body has no mass, though others have",
                 "bodies have no mass, though others have");
    add_note(notes, &points, "one body has a mass but no inertia", "bodies have a mass but no inertia");
    add_note(notes, &impossible, "one inertia is impossible for any solid", "inertias are impossible for any solid");
}

/* ---- markers ------------------------------------------------------------------------------------------ */

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
    placed_marker *places = calloc((size_t)count + 1, sizeof *places);
    roster twins = {0};
    if (!places)
        return;
    for (int i = 0; i < count; i++) {
        places[i].index = i;
        places[i].body = ulna_model_marker_body(model, i);
        ulna_model_marker_position(model, i, places[i].position);
    }
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int i = 1; i < count; i++)
        if (compare_places(&places[i - 1], &places[i]) == 0)
            enlist(&twins, ulna_model_marker_name(model, places[i].index));
    add_note(notes, &twins, "one marker is in the same place as another", "markers are in the same place as another");
    free(places);
}

/* A degree of freedom that moves no marker cannot be found from markers. */
static void note_unseen(const ulna_model *model, json_t *notes)
{
    int count = ulna_model_body_count(model);
    char *seen = calloc((size_t)count, 1);
    roster unseen = {0};
    if (!seen)
        return;
    for (int i = 0; i < ulna_model_marker_count(model); i++)
        if (ulna_model_marker_weight(model, i) > 0)
            seen[ulna_model_marker_body(model, i)] = 1;
    for (int i = count - 1; i > 0; i--)
        if (seen[i])
            seen[ulna_model_body_parent(model, i)] = 1;
    for (int i = 0; i < ulna_model_dof_count(model); i++)
        if (!seen[ulna_model_dof_body(model, i)])
            enlist_dof(&unseen, model, i);
    add_note(notes, &unseen, "one degree of freedom moves no marker", "degrees of freedom move no marker");
    free(seen);
}

static void note_markers(const ulna_model *model, json_t *notes)
{
    roster weightless = {0};
    if (ulna_model_marker_count(model) == 0) {
        json_array_append_new(notes, cli_json_text("there are no markers"));
        return;
    }
    for (int i = 0; i < ulna_model_marker_count(model); i++)
        if (ulna_model_marker_weight(model, i) == 0)
            enlist(&weightless, ulna_model_marker_name(model, i));
    add_note(notes, &weightless, "one marker has no weight", "markers have no weight");
    note_twins(model, notes);
    note_unseen(model, notes);
}

json_t *model_notes(const ulna_model *model, const figure *shape)
{
    json_t *notes = json_array();
    if (ulna_model_dof_count(model) == 0)
        json_array_append_new(notes, cli_json_text("nothing can move"));
    note_limits(model, notes);
    note_bones(model, shape, notes);
    note_masses(model, notes);
    note_markers(model, notes);
    return notes;
}
