/*
 * A take: a skeleton, a recording and where the markers sit, matched by name once. Positions that are none are left out whenever a
 * frame is read, so that the recording stays as it is; it must not change while there is a take of it.
 */
#include "mocap/take.h"
#include "mocap/keypoints.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "model/model.h"

#define ROTATION_ERROR 1e-6 /* of R RT - 1: axes are written with some digits */

ulna_take_options ulna_take_options_default(void)
{
    return (ulna_take_options){.first_frame = INT_MIN, .last_frame = INT_MAX};
}

ulna_take_options ulna_take_options_for(const ulna_content *skeleton, const ulna_content *markers)
{
    ulna_take_options o = ulna_take_options_default();
    o.model = skeleton ? skeleton->model : NULL;
    o.model_up = skeleton ? skeleton->source.up : 0;
    o.recording = markers ? &markers->recording : NULL;
    o.up = markers ? markers->source.up : 0;
    return o;
}

int ulna_take_position(const ulna_take *take, int frame, int marker, double position[3])
{
    if (!take || !position || frame < 0 || frame >= take->frame_count || marker < 0 ||
        (size_t)marker >= take->set.count)
        return 0;
    return ulna_take_marker_recorded(take, frame, take->source[marker], position);
}

/* Which axis of the recording each of the model's is, and its sign, if they are only exchanged; else 0. */
static int find_exchange(const double axes[9], int from[3], double sign[3])
{
    for (int k = 0; k < 3; k++) {
        const double *row = axes + 3 * k;
        from[k] = row[0] != 0 ? 0 : row[1] != 0 ? 1 : 2;
        sign[k] = row[from[k]];
        if ((row[0] != 0) + (row[1] != 0) + (row[2] != 0) != 1 || fabs(sign[k]) != 1)
            return 0;
    }
    return 1;
}

/* Markers that are known to be seen. */
static void gather_seen(const double *row, const int from[3], const double sign[3], size_t count, const int *markers,
                        double *positions)
{
    const int a = from[0], b = from[1], c = from[2];
    const double x = sign[0], y = sign[1], z = sign[2];
    for (size_t i = 0; i < count; i++) {
        const double *at = row + 3 * (size_t)markers[i];
        double *to = positions + 3 * i;
        to[0] = x * at[a];
        to[1] = y * at[b];
        to[2] = z * at[c];
    }
}

/* Markers that are positions or NaN, as nearly always, and not at the origin. Returns 0 if one is not: then they must be gathered otherwise. */
static int gather_usual(const double *row, const int from[3], const double sign[3], size_t count, const int *markers,
                        double *positions)
{
    const int a = from[0], b = from[1], c = from[2];
    const double x = sign[0], y = sign[1], z = sign[2];
    double most = 0, least = ULNA_FARTHEST_MARKER;
    for (size_t i = 0; i < count; i++) {
        const double *at = row + 3 * (size_t)markers[i];
        double *to = positions + 3 * i;
        double size = fabs(at[0]) + fabs(at[1]) + fabs(at[2]), missing = 0 * size; /* 0 or NaN */
        most = size > most ? size : most;
        least = size < least ? size : least;
        to[0] = x * at[a] + missing;
        to[1] = y * at[b] + missing;
        to[2] = z * at[c] + missing;
    }
    return most <= ULNA_FARTHEST_MARKER && least > 0;
}

void ulna_take_gather_recorded(const ulna_take *take, int frame, size_t count, const int *markers, double *positions)
{
    const double *row = ulna_recording_frame(take->recording, take->skipped + frame);
    int from[3], is_exchange;
    double sign[3];
    is_exchange = find_exchange(take->axes, from, sign);
    if (is_exchange && take->is_whole)
        gather_seen(row, from, sign, count, markers, positions);
    else if (!is_exchange || !gather_usual(row, from, sign, count, markers, positions))
        for (size_t i = 0; i < count; i++)
            ulna_take_marker_recorded(take, frame, markers[i], positions + 3 * i);
}

void ulna_take_gather(const ulna_take *take, int frame, size_t count, const int *markers, double *positions)
{
    ulna_take_gather_recorded(take, frame, count, markers, positions);
    for (size_t i = 0; i < count && take->exchange_count; i++)
        ulna_take_marker(take, frame, markers[i], positions + 3 * i);
}

void ulna_take_positions(const ulna_take *take, int frame, double *positions)
{
    ulna_take_gather(take, frame, take->set.count, take->source, positions);
}

/* ---- checks --------------------------------------------------------------------------------------------------------- */

static int is_rotation(const double *r)
{
    double back[9], product[9], cross[3], off = 0;
    ulna_transpose9(r, back);
    ulna_multiply9(r, back, product);
    for (int k = 0; k < 9; k++)
        off += fabs(product[k] - (k % 4 == 0));
    ulna_cross(r, r + 3, cross);
    return off < ROTATION_ERROR && ulna_dot(cross, r + 6) > 0; /* false for NaN too */
}

static int is_up(char up)
{
    return !up || (up >= 'x' && up <= 'z');
}

static ulna_status check(const ulna_take_options *o, ulna_error *error)
{
    if (!o || !o->model || !o->recording)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a take needs a model and a recording%s",
                         o && !o->model ? ": the model is NULL, so the file that was read for it has no skeleton" : "");
    if (o->recording->frame_count < 1)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the recording has no frames");
    if (o->axes && !is_rotation(o->axes))
        return ulna_fail(
            error, ULNA_ERR_ARGUMENT,
            "the axes of the take are not a rotation matrix: nine numbers, row by row, orthonormal and right-handed");
    if (!is_up(o->up) || !is_up(o->model_up))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "up must be 'x', 'y', 'z', or 0 if it is not known");
    for (size_t i = 0; o->set && i < o->set->count; i++)
        if (o->set->items[i].body < 0 || o->set->items[i].body >= o->model->nb)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "marker '%s' is on body %d, which the model does not have",
                             o->set->items[i].marker, o->set->items[i].body);
    if ((unsigned)o->attach > ULNA_ATTACH_REFERENCE)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "attach is %d, which is no ulna_attach", (int)o->attach);
    int needs_reference = o->attach == ULNA_ATTACH_REFERENCE || o->reference_offsets;
    if (needs_reference && !o->reference)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "offsets from a reference need a reference motion");
    if (o->reference && o->reference->coordinate_count != o->model->nq)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "the reference motion has %d coordinates, the skeleton %d",
                         o->reference->coordinate_count, o->model->nq);
    return ULNA_OK;
}

/* ---- frames ---------------------------------------------------------------------------------------------------------- */

static ulna_status choose_frames(ulna_take *take, const ulna_take_options *o, ulna_error *error)
{
    long long low = take->recording->first_frame, high = low + take->recording->frame_count - 1;
    long long first = o->first_frame > low ? o->first_frame : low, last = o->last_frame < high ? o->last_frame : high;
    if (first > last)
        return ulna_fail(error, ULNA_ERR_ARGUMENT,
                         "the recording has none of the requested frames; it has %lld to %lld", low, high);
    take->skipped = (int)(first - low);
    take->first_frame = (int)first;
    take->frame_count = (int)(last - first + 1);
    return ULNA_OK;
}

static ulna_status line_up_reference(ulna_take *take, ulna_error *error)
{
    const ulna_clip *clip = take->reference;
    if (!clip)
        return ULNA_OK;
    take->reference_by_number = clip->frame_count != take->recording->frame_count;
    long long shift =
        take->reference_by_number ? (long long)take->first_frame - clip->first_frame : (long long)take->skipped;
    if (shift >= clip->frame_count || shift + take->frame_count <= 0)
        return ulna_fail(
            error, ULNA_ERR_ARGUMENT,
            "reference and recording have no frame in common: the reference has %d from number %d on, the recording %d from number %d on",
            clip->frame_count, clip->first_frame, take->frame_count, take->first_frame);
    take->reference_shift = (int)shift;
    return ULNA_OK;
}

/* ---- which marker sits where ------------------------------------------------------------------------------------------ */

ulna_status ulna_marker_set_add_all(const ulna_marker_set *from, ulna_marker_set *to)
{
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < from->count && status == ULNA_OK; i++)
        status = ulna_marker_set_append(to, &from->items[i]);
    to->is_undetermined |= from->is_undetermined;
    to->has_other_lengths |= from->has_other_lengths;
    return status;
}

/* Another subject may have a marker of the same name. */
const char *ulna_marker_own_name(const ulna_recording *recording, int marker)
{
    const char *name = recording->names[marker], *own = ulna_name_without_prefix(name);
    if (*own == '*' || !*own)
        return NULL;
    return ulna_recording_find(recording, own) == marker ? own : name;
}

/* Names are asked of what the recording has: a model's own markers that it has not would only be listed as absent. */
static void drop_unknown(const ulna_recording *recording, ulna_marker_set *set)
{
    size_t kept = 0;
    for (size_t i = 0; i < set->count; i++)
        if (ulna_recording_find(recording, set->items[i].marker) != ULNA_NONE)
            set->items[kept++] = set->items[i];
    set->count = kept;
}

/* The bones on which the authors of the exact-Hessian paper have markers, where ours differ. */
static void use_paper_bones(const ulna_model *model, ulna_marker_set *set, size_t first)
{
    static const struct {
        const char *marker, *bone;
    } theirs[] = {{"C7", "lowerneck"}, {"T10", "lowerback"}, {"LFIN", "lfingers"}, {"RFIN", "rfingers"}};
    for (size_t i = first; i < set->count; i++)
        for (size_t k = 0; k < sizeof theirs / sizeof *theirs; k++) {
            int body = ulna_model_find_body(model, theirs[k].bone);
            if (body != ULNA_NONE &&
                ulna_compare_names(ulna_name_without_prefix(set->items[i].marker), theirs[k].marker) == 0)
                set->items[i].body = body;
        }
}

/* The attachment, but for what the reference motion adds. `all` has the joints. */
static ulna_status collect(ulna_take *take, const ulna_take_options *o, ulna_marker_set *all, ulna_error *error)
{
    const ulna_recording *recording = take->recording; /* of the person that was chosen */
    size_t joints = all->count;
    ulna_status status = o->set ? ulna_marker_set_add_all(o->set, all) : ulna_marker_set_from_model(all, o->model);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the marker set cannot be used: %s", ulna_status_text(status));
    if (joints)
        drop_unknown(recording, all);
    if (take->attach == ULNA_ATTACH_SET)
        return all->count
                   ? ULNA_OK
                   : ulna_fail(
                         error, o->set ? ULNA_ERR_ARGUMENT : ULNA_ERR_MODEL,
                         o->set ? "the marker set has no markers"
                                : "the skeleton has no markers of its own, and nothing says where markers sit on it");
    if (!o->set && !joints)
        drop_unknown(recording, all);
    size_t own = all->count;
    status = ulna_marker_set_from_names(o->model, recording, all, NULL, error);
    take->named = (int)(all->count - own);
    if (o->paper_bones)
        use_paper_bones(o->model, all, own);
    for (size_t i = own; i < all->count && o->attach == ULNA_ATTACH_REFERENCE; i++) {
        const char *name = ulna_marker_own_name(recording, ulna_recording_find(recording, all->items[i].marker));
        if (name)
            memmove(all->items[i].marker, name, strlen(name) + 1);
    }
    if (status == ULNA_ERR_MODEL && o->reference_offsets)
        take->attach = ULNA_ATTACH_REFERENCE;
    return status == ULNA_ERR_MODEL && take->attach == ULNA_ATTACH_REFERENCE ? ULNA_OK : status;
}

static ulna_status fail_match(const ulna_take *take, const ulna_marker_set *all, int is_own, ulna_error *error)
{
    const ulna_recording *r = take->recording;
    enum { ENOUGH = 30 };
    char names[ENOUGH + 30] = "";
    for (int m = 0; m < r->marker_count && strlen(names) < ENOUGH; m++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.24s", m ? ", " : "", r->names[m]);
    const char *more = strlen(names) >= ENOUGH ? ", ..." : "";
    if (is_own)
        return ulna_fail(
            error, ULNA_ERR_ARGUMENT,
            "the recording has none of the skeleton's own markers: the skeleton has '%.24s', the recording %s%s; 'ulna "
            "calibrate' finds where these are on the skeleton if it knows their names",
            all->items[0].marker, *names ? names : "none", more);
    return ulna_fail(
        error, ULNA_ERR_ARGUMENT,
        "no attached marker is in the recording: attached is '%.24s', the recording has %s%s; another table of "
        "markers is needed, which 'ulna calibrate' makes if it knows their names",
        all->items[0].marker, *names ? names : "none", more);
}

/* Sightings of the recording's markers in the frames of the take. */
static void count_sightings(ulna_take *take, int *seen)
{
    int markers = take->recording->marker_count;
    take->out_of_range = 0;
    for (int f = 0; f < take->frame_count; f++) {
        const double *x = ulna_recording_frame(take->recording, take->skipped + f);
        for (int m = 0; m < markers; m++, x += 3) {
            int is_there = ulna_is_position(x);
            if (is_there && x[0] != 0) { /* as nearly always */
                seen[m]++;
                continue;
            }
            seen[m] += is_there && !ulna_is_zero(x);
            if (ulna_is_zero(x))
                take->is_zero_missing[m] = 1;
            take->out_of_range += !is_there && !isnan(x[0]) && !isnan(x[1]) && !isnan(x[2]);
        }
    }
}

/* For each marker of the recording the attachment that gets it, ULNA_NONE if none: the one with its exact name, else the first. */
static void find_owners(const ulna_recording *recording, const ulna_marker_set *all, int *owner)
{
    for (int m = 0; m < recording->marker_count; m++)
        owner[m] = ULNA_NONE;
    for (size_t i = 0; i < all->count; i++) {
        int m = ulna_recording_find(recording, all->items[i].marker);
        if (m == ULNA_NONE)
            continue;
        int is_same = strcmp(recording->names[m], all->items[i].marker) == 0;
        if (owner[m] == ULNA_NONE || (is_same && strcmp(recording->names[m], all->items[owner[m]].marker) != 0))
            owner[m] = (int)i;
    }
}

/* Splits the attachment into what the recording has and what it has not. `is_own`: nobody gave a set. */
static ulna_status match(ulna_take *take, const ulna_marker_set *all, int is_own, ulna_error *error)
{
    const ulna_recording *recording = take->recording;
    size_t markers = (size_t)recording->marker_count, room = 2 * markers + 1; /* there may be none */
    take->set.is_undetermined = all->is_undetermined;
    take->set.has_other_lengths = all->has_other_lengths;
    int *seen = ulna_allocate(&take->allocator, room, sizeof *seen), *owner = seen ? seen + markers : NULL;
    take->room = all->count;
    take->unused_room = markers;
    take->source = ulna_allocate(&take->allocator, take->room, sizeof *take->source);
    take->seen = ulna_allocate(&take->allocator, take->room, sizeof *take->seen);
    take->unused = ulna_allocate(&take->allocator, markers, sizeof *take->unused);
    take->is_zero_missing = ulna_allocate(&take->allocator, markers, sizeof *take->is_zero_missing);
    int has_room = take->source && take->seen && seen && ((take->unused && take->is_zero_missing) || !markers);
    ulna_status status = has_room ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        count_sightings(take, seen);
        find_owners(recording, all, owner);
    }
    for (size_t i = 0; i < all->count && status == ULNA_OK; i++) {
        const ulna_attachment *item = &all->items[i];
        int found = ulna_recording_find(recording, item->marker);
        if (found != ULNA_NONE && owner[found] != (int)i)
            found = ULNA_NONE;
        ulna_marker_set *to = found == ULNA_NONE ? &take->absent : &take->set;
        status = ulna_marker_set_append(to, item);
        if (status != ULNA_OK || found == ULNA_NONE)
            continue;
        take->joints += item->is_joint;
        take->source[take->set.count - 1] = found;
        take->seen[take->set.count - 1] = seen[found];
    }
    for (int m = 0; m < (int)markers && status == ULNA_OK; m++)
        if (owner[m] == ULNA_NONE && recording->names[m][0]) /* another subject's have none */
            take->unused[take->unused_count++] = m;
    ulna_release(&take->allocator, seen, room, sizeof *seen);
    if (status == ULNA_OK)
        status = ulna_take_check_origin(take);
    take->is_whole = 1;
    for (size_t i = 0; i < take->set.count; i++)
        take->is_whole &= take->seen[i] == take->frame_count;
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for %zu markers", all->count);
    return take->set.count ? ULNA_OK : fail_match(take, all, is_own, error);
}

/* Markers of the model that the recording has. */
static int count_own(const ulna_take *take)
{
    int count = 0;
    for (int m = 0; m < ulna_model_marker_count(take->model); m++)
        count += ulna_recording_find(take->recording, ulna_model_marker_name(take->model, m)) != ULNA_NONE;
    return count;
}

/* Joints of the skeleton, if there are more of them than of its markers. Beside key points, they count if half of the names are theirs. */
static ulna_status use_joints(ulna_take *take, const ulna_take_options *o, ulna_marker_set *all, ulna_error *error)
{
    int named;
    if (o->set || o->attach == ULNA_ATTACH_SET)
        return ULNA_OK;
    ulna_status status = ulna_take_find_joints(take, all, &named);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for the joints of the skeleton");
    int is_alone = o->attach == ULNA_ATTACH_KEYPOINTS;
    if ((int)all->count <= count_own(take) || (is_alone && 2 * (int)all->count < named))
        all->count = 0;
    if (is_alone && all->count)
        take->attach = ULNA_ATTACH_SET;
    return ULNA_OK;
}

/* Key points, if there are more of them than of the attachment's markers. */
static ulna_status use_keypoints(ulna_take *take, const ulna_take_options *o, ulna_marker_set *all, ulna_error *error)
{
    double axes[9];
    int count;
    const ulna_keypoint_system *system = o->set ? NULL : ulna_keypoint_system_of(take->recording, &count);
    ulna_status status = ULNA_OK;
    if (!system || count_own(take) >= count) {
        take->attach = ULNA_ATTACH_SET;
        return status;
    }
    ulna_recording part = *take->recording; /* the frames of the take */
    part.positions += 3 * (size_t)part.marker_count * (size_t)take->skipped;
    part.frame_count = take->frame_count;
    status = ulna_keypoints_fit(take->model, &part, system, &take->allocator, &take->scaled, all, axes, error);
    if (status != ULNA_OK)
        return status;
    take->model = take->scaled;
    take->keypoints = system->name;
    if (!o->axes && !o->up) {
        memcpy(take->axes, axes, sizeof take->axes);
        take->axes_source = ULNA_AXES_UPRIGHT;
    }
    return ULNA_OK;
}

/* What the reference says depends on the axes, and trying axes needs markers. */
static ulna_status place_markers(ulna_take *take, const ulna_take_options *o, ulna_error *error)
{
    ulna_marker_set all = ulna_marker_set_empty(&take->allocator);
    ulna_status status = use_joints(take, o, &all, error);
    if (status == ULNA_OK && take->attach == ULNA_ATTACH_KEYPOINTS)
        status = use_keypoints(take, o, &all, error);
    if (status == ULNA_OK && !take->keypoints)
        status = collect(take, o, &all, error);
    int is_by_reference = take->attach == ULNA_ATTACH_REFERENCE;
    if (status == ULNA_OK && !is_by_reference)
        status = match(take, &all, !o->set, error);
    if (status == ULNA_OK && (!take->keypoints || o->axes || o->up))
        status = ulna_take_find_axes(take, o, error);
    if (status == ULNA_OK && (is_by_reference || o->reference_offsets))
        status = ulna_marker_set_from_motion(take, is_by_reference, is_by_reference ? &all : &take->set, error);
    if (status == ULNA_OK && is_by_reference)
        status = match(take, &all, !o->set, error);
    ulna_marker_set_release(&all);
    return status;
}

/* ---- all of it ---------------------------------------------------------------------------------------------------------- */

ulna_status ulna_take_create(const ulna_take_options *options, ulna_take **take, ulna_error *error)
{
    if (!take)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no pointer for the take given");
    *take = NULL;
    ulna_status status = check(options, error);
    if (status != ULNA_OK)
        return status;
    ulna_allocator allocator = ulna_allocator_or_default(options->allocator);
    ulna_take *t = ulna_allocate(&allocator, 1, sizeof *t);
    if (!t)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for a take");
    *t = (ulna_take){.model = options->model,
                     .recording = options->recording,
                     .attach = options->attach,
                     .set = ulna_marker_set_empty(&allocator),
                     .absent = ulna_marker_set_empty(&allocator),
                     .reference = options->reference,
                     .subject = ULNA_NONE,
                     .allocator = allocator};
    status = choose_frames(t, options, error);
    if (status == ULNA_OK)
        status = ulna_take_choose_subject(t, options, error);
    if (status == ULNA_OK)
        status = line_up_reference(t, error);
    if (status == ULNA_OK)
        status = place_markers(t, options, error);
    if (status == ULNA_OK)
        status = ulna_take_find_exchanges(t, error);
    if (status == ULNA_OK)
        status = ulna_take_find_doubts(t, options->check, error);
    if (status == ULNA_OK)
        *take = t;
    else
        ulna_take_destroy(t);
    return status;
}

void ulna_take_destroy(ulna_take *take)
{
    if (take) {
        ulna_allocator allocator = take->allocator;
        ulna_marker_set_release(&take->set);
        ulna_marker_set_release(&take->absent);
        ulna_model_destroy(take->scaled);
        ulna_release(&allocator, take->source, take->room, sizeof *take->source);
        ulna_release(&allocator, take->seen, take->room, sizeof *take->seen);
        ulna_release(&allocator, take->unused, take->unused_room, sizeof *take->unused);
        ulna_release(&allocator, take->is_zero_missing, take->unused_room, sizeof *take->is_zero_missing);
        ulna_release(&allocator, take->exchanges, take->exchange_room, sizeof *take->exchanges);
        ulna_release(&allocator, take->cuts, take->cut_room, sizeof *take->cuts);
        ulna_release(&allocator, take->subjects, (size_t)take->subject_count, sizeof *take->subjects);
        ulna_release(&allocator, take->one_subject.names, (size_t)take->one_subject.marker_count,
                     sizeof *take->one_subject.names);
        ulna_release(&allocator, take, 1, sizeof *take);
    }
}
