/*
 * glTF: the tracks of the first animation, their values at a time, and the frames.
 *
 * Files have keys at any times, each track its own. Where all tracks of interest share theirs and these are even, the
 * keys are the frames. Else the frames lie evenly from the first key to the last: the smallest distance of two keys apart,
 * or the largest of its halves, thirds, ... eighths that meets all keys.
 */
#include <limits.h>
#include <string.h>

#include "base/base.h"
#include "formats/format.h"
#include "formats/gltf/gltf_read.h"

enum { MOST_PARTS = 8 };

#define SHORTEST_STEP_S 1e-3

/* ---- channels --------------------------------------------------------------------------------------------------- */

static ulna_status read_interpolation(const ulna_json_node *sampler, ulna_gltf_track *track)
{
    static const char *const names[] = {"LINEAR", "STEP", "CUBICSPLINE"};
    ulna_json_node part;
    const char *name = names[0];
    ulna_status status = ulna_json_find(sampler, "interpolation", &part) ? ulna_json_string(&part, &name) : ULNA_OK;
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < 3; i++)
        if (strcmp(name, names[i]) == 0) {
            track->interpolation = i;
            return ULNA_OK;
        }
    return ulna_json_fail(&part, ULNA_ERR_PARSE, "\"%.20s\" is not a known interpolation", name);
}

/* Times must be numbers and not go back. Looked at once per accessor. */
static ulna_status check_times(const ulna_json_node *input, const ulna_gltf_array *times)
{
    double before = -(double)INFINITY;
    for (size_t i = 0; i < times->count; i++) {
        double time = ulna_gltf_value(times, i, 0);
        if (!isfinite(time))
            return ulna_json_fail(input, ULNA_ERR_NUMBER, "time %zu is not a number", i);
        if (time < before)
            return ulna_json_fail(input, ULNA_ERR_PARSE, "time %zu, %g s, is earlier than the time before it", i, time);
        before = time;
    }
    return ULNA_OK;
}

static ulna_status read_sampler(ulna_gltf *g, const ulna_json_node *sampler, ulna_gltf_track *track)
{
    ulna_json_node node;
    int index = 0;
    ulna_status status = ulna_json_need_object(sampler);
    if (status == ULNA_OK)
        status = read_interpolation(sampler, track);
    if (status == ULNA_OK)
        status = ulna_gltf_need_index(sampler, "input", g->accessor_count, &index);
    int is_new = status == ULNA_OK && !(g->seen[index] & ULNA_GLTF_SEEN);
    if (status == ULNA_OK)
        status = ulna_gltf_accessor(g, sampler, "input", 1, &track->times);
    if (is_new && status == ULNA_OK && ulna_json_find(sampler, "input", &node))
        status = check_times(&node, &track->times);
    if (status == ULNA_OK)
        status = ulna_gltf_accessor(g, sampler, "output", track->path == ULNA_GLTF_ROTATION ? 4 : 3, &track->values);
    size_t each = track->interpolation == ULNA_GLTF_CUBIC ? 3 : 1;
    if (status == ULNA_OK && (track->values.count / each != track->times.count || track->values.count % each) &&
        ulna_json_find(sampler, "output", &node))
        status =
            ulna_json_fail(&node, ULNA_ERR_PARSE, "%zu values for %zu times", track->values.count, track->times.count);
    return status;
}

static ulna_status add_track(ulna_gltf *g, const ulna_json_node *sampler, ulna_gltf_node *node, int path)
{
    void *items = g->track;
    ulna_gltf_track track = {.path = path};
    ulna_status status = read_sampler(g, sampler, &track);
    if (status != ULNA_OK)
        return status;
    status = ulna_grow(g->allocator, &items, &g->track_capacity, g->track_count + 1, sizeof *g->track);
    g->track = items;
    if (status != ULNA_OK)
        return ulna_fail(g->error, status, "no memory for an animation");
    node->track[path] = (int)g->track_count;
    g->track[g->track_count++] = track;
    return ULNA_OK;
}

static int path_of(const char *name)
{
    static const char *const names[ULNA_GLTF_PATHS] = {"translation", "rotation", "scale"};
    int path = 0;
    while (path < ULNA_GLTF_PATHS && strcmp(names[path], name) != 0)
        path++;
    return path;
}

static ulna_status read_channel(ulna_gltf *g, const ulna_json_node *channel, const ulna_json_node *samplers)
{
    ulna_json_node target, part;
    const char *name = "";
    int index = 0;
    ulna_status status = ulna_json_need_object(channel);
    if (status == ULNA_OK)
        status = ulna_json_need(channel, "target", &target);
    if (status == ULNA_OK)
        status = ulna_json_need_object(&target);
    if (status == ULNA_OK)
        status = ulna_json_need_string(&target, "path", &part, &name);
    if (status != ULNA_OK)
        return status;
    int path = path_of(name);
    if (path == ULNA_GLTF_PATHS || !ulna_json_find(&target, "node", &part)) /* weights of shapes, or an extension's */
        return ULNA_OK;
    status = ulna_gltf_index(&part, (size_t)g->node_count, &index);
    if (status != ULNA_OK)
        return status;
    ulna_gltf_node *node = &g->node[index];
    if (node->track[path] >= 0)
        return ulna_json_fail(channel, ULNA_ERR_PARSE, "the %s of node %d has two channels", name, index);
    status = ulna_gltf_need_index(channel, "sampler", json_array_size(samplers->value), &index);
    if (status != ULNA_OK)
        return status;
    ulna_json_node sampler = ulna_json_element(samplers, (size_t)index);
    return add_track(g, &sampler, node, path);
}

ulna_status ulna_gltf_read_animation(ulna_gltf *g)
{
    size_t count = json_array_size(g->animations.value);
    if (count == 0)
        return ULNA_OK;
    ulna_json_node animation = ulna_json_element(&g->animations, 0), channels, samplers;
    const char *name = "";
    ulna_status status = ulna_json_need_object(&animation);
    if (status == ULNA_OK)
        status = ulna_gltf_list(&animation, "channels", "objects", &channels);
    if (status == ULNA_OK)
        status = ulna_gltf_list(&animation, "samplers", "objects", &samplers);
    if (status == ULNA_OK)
        status = ulna_json_find_string(&animation, "name", &name);
    if (status == ULNA_OK && count > 1)
        ulna_remarks_add(&g->content->remarks, 0, -1, "the file has %zu animations: the first, '%.80s', is read", count,
                         name);
    for (size_t i = 0; status == ULNA_OK && i < json_array_size(channels.value); i++) {
        ulna_json_node channel = ulna_json_element(&channels, i);
        status = read_channel(g, &channel, &samplers);
    }
    return status;
}

/* ---- values ----------------------------------------------------------------------------------------------------- */

/* The last key that is not after the time, or the first one; one that comes within `snap` counts too. */
static size_t key_at(const ulna_gltf_array *times, double time, double snap)
{
    size_t low = 0, high = times->count;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(ulna_gltf_value(times, middle, 0) <= time + snap ? &low : &high) = middle;
    }
    return low;
}

static void read_value(const ulna_gltf_track *track, size_t key, int part, double *value)
{
    size_t element = track->interpolation == ULNA_GLTF_CUBIC ? 3 * key + (size_t)part : key;
    for (int i = 0; i < track->values.components; i++)
        value[i] = ulna_gltf_value(&track->values, element, i);
}

/* Along the shorter arc, at even speed. */
static void slerp(const double a[4], const double b[4], double s, double *value)
{
    double cosine = ulna_inner(4, a, b);
    double sign = cosine < 0 ? -1 : 1, angle = acos(fmin(fabs(cosine), 1)), sine = sin(angle);
    double from = sine > 1e-6 ? sin((1 - s) * angle) / sine : 1 - s, to = sine > 1e-6 ? sin(s * angle) / sine : s;
    for (int i = 0; i < 4; i++)
        value[i] = from * a[i] + sign * to * b[i];
}

/* Hermite's cubic, as the appendix of the specification has it: keys hold in-tangent, value, out-tangent. */
static void cubic(const ulna_gltf_track *track, size_t key, double s, double seconds, double *value)
{
    double start[4], out[4], in[4], end[4], s2 = s * s, s3 = s2 * s;
    read_value(track, key, 1, start);
    read_value(track, key, 2, out);
    read_value(track, key + 1, 0, in);
    read_value(track, key + 1, 1, end);
    for (int i = 0; i < track->values.components; i++)
        value[i] = (2 * s3 - 3 * s2 + 1) * start[i] + seconds * (s3 - 2 * s2 + s) * out[i] +
                   (3 * s2 - 2 * s3) * end[i] + seconds * (s3 - s2) * in[i];
}

static int interpolate(const ulna_gltf_track *track, size_t key, double s, double seconds, double *value)
{
    double next[4];
    if (track->interpolation == ULNA_GLTF_CUBIC) {
        cubic(track, key, s, seconds, value);
        return 1;
    }
    read_value(track, key + 1, 1, next);
    if (track->path == ULNA_GLTF_ROTATION) {
        if (!(ulna_quaternion_normalise(value) > 0) || !(ulna_quaternion_normalise(next) > 0))
            return 0;
        slerp(value, next, s, value);
    } else
        for (int i = 0; i < track->values.components; i++)
            value[i] += s * (next[i] - value[i]);
    return 1;
}

ulna_status ulna_gltf_sample(const ulna_gltf *g, const ulna_gltf_track *track, const ulna_gltf_grid *grid, int frame,
                             double *value)
{
    double time = grid->first_s + frame * grid->step_s, snap = 0.01 * grid->step_s;
    size_t key = grid->by_key ? (size_t)frame : key_at(&track->times, time, snap);
    int is_valid = 1;
    read_value(track, key, 1, value);
    if (!grid->by_key && track->interpolation != ULNA_GLTF_STEP && key + 1 < track->times.count) {
        double start = ulna_gltf_value(&track->times, key, 0), end = ulna_gltf_value(&track->times, key + 1, 0);
        if (time > start + snap && end > start) /* neither on a key nor before the first */
            is_valid = interpolate(track, key, (time - start) / (end - start), end - start, value);
    }
    if (track->path == ULNA_GLTF_ROTATION)
        is_valid &= ulna_quaternion_normalise(value) > 0;
    if (!is_valid || !ulna_all_finite(value, track->values.components))
        return ulna_fail(g->error, ULNA_ERR_NUMBER, "accessor %d: its value for frame %d is not a %s",
                         track->values.accessor, frame, track->path == ULNA_GLTF_ROTATION ? "rotation" : "position");
    return ULNA_OK;
}

/* ---- frames ----------------------------------------------------------------------------------------------------- */

typedef struct key_survey {
    const ulna_gltf_array *reference; /* NULL: there are no tracks */
    double first, last, closest;
    int is_shared;
} key_survey;

static int is_same_time(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (1 + fabs(a));
}

static void survey_times(key_survey *survey, const ulna_gltf_array *times)
{
    if (!survey->reference)
        *survey = (key_survey){times, (double)INFINITY, -(double)INFINITY, (double)INFINITY, 1};
    const ulna_gltf_array *reference = survey->reference;
    survey->is_shared &= times->count == reference->count;
    for (size_t i = 0; i < times->count; i++) {
        double time = ulna_gltf_value(times, i, 0);
        survey->is_shared = survey->is_shared && is_same_time(time, ulna_gltf_value(reference, i, 0));
        survey->first = fmin(survey->first, time);
        survey->last = fmax(survey->last, time);
        double gap = i > 0 ? time - ulna_gltf_value(times, i - 1, 0) : 0;
        if (gap > 0)
            survey->closest = fmin(survey->closest, gap);
    }
}

/* How far, in steps, keys are from the frames, at most. */
static double distance_from(const ulna_gltf_array *times, double first, double step)
{
    double most = 0;
    for (size_t i = 0; i < times->count; i++) {
        double at = (ulna_gltf_value(times, i, 0) - first) / step;
        most = fmax(most, fabs(at - floor(at + 0.5)));
    }
    return most;
}

/* Calls one of the two for every accessor of times that these tracks use, each once. */
static double each_times(ulna_gltf *g, unsigned flag, unsigned paths, key_survey *survey, double step)
{
    unsigned char seen = flag == ULNA_GLTF_CHOSEN ? ULNA_GLTF_SEEN_CLIP : ULNA_GLTF_SEEN_RECORDING;
    double most = 0;
    for (size_t i = 0; i < g->accessor_count; i++)
        g->seen[i] &= (unsigned char)~seen;
    for (int n = 0; n < g->node_count; n++)
        for (int path = 0; path < ULNA_GLTF_PATHS && (g->node[n].flags & flag); path++) {
            int track = g->node[n].track[path];
            if (track < 0 || !(paths & 1u << path) || (g->seen[g->track[track].times.accessor] & seen))
                continue;
            g->seen[g->track[track].times.accessor] |= seen;
            if (step > 0)
                most = fmax(most, distance_from(&g->track[track].times, survey->first, step));
            else
                survey_times(survey, &g->track[track].times);
        }
    return most;
}

static int is_even(const ulna_gltf_array *times, double step)
{
    double first = ulna_gltf_value(times, 0, 0);
    for (size_t i = 0; i < times->count; i++) {
        double time = ulna_gltf_value(times, i, 0);
        if (fabs(time - (first + (double)i * step)) > 0.02 * step + 1e-6 * fabs(time))
            return 0;
    }
    return 1;
}

/* The rates that people use are whole numbers; in single precision they come out nearly so. */
static double round_step(double step)
{
    double rate = 1 / step, whole = floor(rate + 0.5);
    return isfinite(rate) && whole >= 1 && fabs(rate - whole) < 1e-5 * rate ? 1 / whole : step;
}

static ulna_status resample(ulna_gltf *g, unsigned flag, unsigned paths, size_t most, key_survey *survey,
                            ulna_gltf_grid *grid)
{
    double span = survey->last - survey->first, step = fmax(fmin(survey->closest, span), SHORTEST_STEP_S), off = 1;
    int parts = 1;
    for (; parts <= MOST_PARTS && off > 0.05; parts++)
        off = each_times(g, flag, paths, survey, round_step(step / parts));
    step = round_step(off > 0.05 ? step : step / (parts - 1));
    double frames = floor(span / step * (1 + 1e-9) + 0.5) + 1;
    int is_capped = !(frames <= (double)most);
    if (is_capped) {
        frames = (double)most;
        step = most > 1 ? span / (frames - 1) : 0;
    }
    *grid = (ulna_gltf_grid){.frames = (int)frames, .first_s = survey->first, .step_s = step};
    ulna_remarks_add(&g->content->remarks, 0, -1, "keys of the animation are uneven: it is sampled %g times a second%s",
                     step > 0 ? 1 / step : 0, is_capped ? ", the most that the size of the file allows" : "");
    return ULNA_OK;
}

ulna_status ulna_gltf_choose_grid(ulna_gltf *g, unsigned flag, size_t width, ulna_gltf_grid *grid)
{
    unsigned paths =
        1u << ULNA_GLTF_TRANSLATION | 1u << (flag == ULNA_GLTF_CHOSEN ? ULNA_GLTF_ROTATION : ULNA_GLTF_SCALE);
    size_t numbers = ((size_t)1 << 20) + 64 * g->file_length, most = numbers / (width ? width : 1);
    key_survey survey = {0};
    *grid = (ulna_gltf_grid){0};
    most = most < 1 ? 1 : most > INT_MAX ? INT_MAX : most;
    each_times(g, flag, paths, &survey, 0);
    if (!survey.reference)
        return ULNA_OK;
    size_t count = survey.reference->count;
    double step = count > 1 ? (survey.last - survey.first) / (double)(count - 1) : 0;
    if (!(survey.last > survey.first)) {
        *grid = (ulna_gltf_grid){.frames = 1, .first_s = survey.first};
        return ULNA_OK;
    }
    if (!survey.is_shared || !is_even(survey.reference, step))
        return resample(g, flag, paths, most, &survey, grid);
    if (count > most)
        return ulna_fail(g->error, ULNA_ERR_LIMIT, "%zu frames of %zu numbers are too many for the file's length",
                         count, width);
    *grid = (ulna_gltf_grid){.frames = (int)count, .first_s = survey.first, .step_s = round_step(step), .by_key = 1};
    return ULNA_OK;
}
