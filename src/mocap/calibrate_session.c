/*
 * Several takes of one session as one, and the poses that people stand in.
 *
 * The takes are laid end to end in the model's axes. That pays where they show different movements; where markers were placed anew
 * between them it ruins both, and the error tells: +3 % on two takes of one session, +27 % on takes of two (HDM05, actor dg).
 */
#include <math.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/calibrator.h"
#include "model/model.h"

#define ANEW 1.1    /* times the error of the takes by themselves */
#define UNLIKELY 16 /* square of three differences over their deviations: by chance in one of a thousand markers */

/* ---- different recordings -------------------------------------------------------------------------------------------- */

/* Frames that two takes have in common, or copies of each other: what is left out of one of them is used in the other. */
static int share_frames(const ulna_take *a, const ulna_take *b)
{
    if (a->recording->positions == b->recording->positions)
        return a->skipped < b->skipped + b->frame_count && b->skipped < a->skipped + a->frame_count;
    if (a->frame_count != b->frame_count || a->set.count != b->set.count)
        return 0;
    for (int f = 0; f < a->frame_count; f++)
        for (int m = 0; m < (int)a->set.count; m++) {
            double x[3], y[3];
            int is_seen = ulna_take_position(a, f, m, x);
            if (is_seen != ulna_take_position(b, f, m, y))
                return 0;
            for (int k = 0; k < 3 && is_seen; k++)
                if (x[k] != y[k])
                    return 0;
        }
    return 1;
}

static ulna_status check_different(const ulna_take *const *takes, int count, ulna_error *error)
{
    for (int t = 1; t < count; t++)
        for (int other = 0; other < t; other++)
            if (share_frames(takes[t], takes[other]))
                return ulna_fail(
                    error, ULNA_ERR_ARGUMENT,
                    "recordings %d and %d are the same, so that the error of frames that are left out would "
                    "not be one: give each recording once",
                    other + 1, t + 1);
    return ULNA_OK;
}

/* ---- one recording -------------------------------------------------------------------------------------------------- */

typedef struct session {
    const ulna_take *const *takes;
    int count;
    ulna_marker_set all;      /* markers of all takes */
    ulna_recording recording; /* the takes end to end */
    int *column;              /* in `all`: of the markers of the first take's set, then of the next one's, ... */
    size_t room;
} session;

/* By its name; failing that, by the name without prefix: "LKNE" of one take is "Anna:LKNE" of another. */
static int find_marker(const ulna_marker_set *set, size_t count, const char *marker)
{
    const char *own = ulna_name_without_prefix(marker);
    for (size_t i = 0; i < count; i++)
        if (strcmp(set->items[i].marker, marker) == 0)
            return (int)i;
    for (size_t i = 0; i < count; i++)
        if (ulna_compare_names(ulna_name_without_prefix(set->items[i].marker), own) == 0)
            return (int)i;
    return ULNA_NONE;
}

/* The first take that has a marker says where it is. Those of one take are different ones, whatever their names. */
static ulna_status unite(session *s)
{
    ulna_status status = ULNA_OK;
    int *column = s->column;
    for (int t = 0; t < s->count; t++) {
        size_t before = s->all.count;
        for (size_t i = 0; i < s->takes[t]->set.count && status == ULNA_OK; i++, column++) {
            const ulna_attachment *item = &s->takes[t]->set.items[i];
            *column = find_marker(&s->all, before, item->marker);
            if (*column != ULNA_NONE)
                continue;
            *column = (int)s->all.count;
            status = ulna_marker_set_append(&s->all, item);
        }
    }
    return status;
}

static ulna_status lay_end_to_end(session *s)
{
    ulna_recording *r = &s->recording;
    long long frames = 0;
    for (int t = 0; t < s->count; t++)
        frames += s->takes[t]->frame_count;
    ulna_status status = frames > INT32_MAX ? ULNA_ERR_LIMIT : ulna_recording_resize(r, (int)s->all.count, (int)frames);
    if (status != ULNA_OK)
        return status;
    for (size_t i = 0; i < s->all.count; i++)
        memcpy(r->names[i], s->all.items[i].marker, sizeof s->all.items[i].marker);
    for (size_t i = 0; i < 3 * s->all.count * (size_t)frames; i++)
        r->positions[i] = NAN;
    const int *column = s->column;
    double *to = r->positions;
    for (int t = 0; t < s->count; t++) {
        const ulna_take *take = s->takes[t];
        for (int f = 0; f < take->frame_count; f++, to += 3 * s->all.count)
            for (size_t m = 0; m < take->set.count; m++)
                ulna_take_position(take, f, (int)m, to + 3 * column[m]);
        column += take->set.count;
    }
    return ULNA_OK;
}

/* ---- takes by themselves ---------------------------------------------------------------------------------------------- */

/* Frames first .. last of the united recording. */
static ulna_status calibrate_part(const ulna_take_options *united, int first, int last,
                                  const ulna_calibrate_options *options, ulna_calibration *result, ulna_error *error)
{
    ulna_take_options o = *united;
    ulna_take *take = NULL;
    o.first_frame = first;
    o.last_frame = last;
    ulna_status status = ulna_take_create(&o, &take, error);
    if (status == ULNA_OK)
        status = ulna_calibrate(take, options, result, error);
    ulna_take_destroy(take);
    return status;
}

/* Does a marker sit elsewhere than before? Bodies are the same; one that a take does not show is nowhere. */
static int has_moved(const ulna_calibration *a, const ulna_calibration *b, int i, int j)
{
    double sum = 0;
    if (!a->markers[i].seen || !b->markers[j].seen)
        return 0;
    for (int k = 0; k < 3; k++) {
        double difference = a->set.items[i].offset[k] - b->set.items[j].offset[k];
        double da = a->markers[i].deviation[k], db = b->markers[j].deviation[k];
        sum += difference * difference / (da * da + db * db);
    }
    return sum > UNLIKELY;
}

static void compare(ulna_calibration *together, const ulna_calibration *apart, int count)
{
    double squares = 0;
    for (int t = 0; t < count; t++)
        squares += apart[t].rms * apart[t].rms / count;
    for (size_t i = 0; i < together->set.count; i++) {
        int *elsewhere = &together->markers[i].differs_between_takes;
        for (int a = 0; a < count; a++)
            for (int b = 0; b < a; b++) {
                const char *marker = together->set.items[i].marker;
                int at = find_marker(&apart[a].set, apart[a].set.count, marker);
                int bt = find_marker(&apart[b].set, apart[b].set.count, marker);
                *elsewhere |= at != ULNA_NONE && bt != ULNA_NONE && has_moved(&apart[a], &apart[b], at, bt);
            }
        together->differing_count += *elsewhere;
    }
    together->is_placed_anew = together->differing_count && together->rms > ANEW * sqrt(squares);
}

static ulna_status look_at_each(const session *s, const ulna_take_options *united,
                                const ulna_calibrate_options *options, ulna_calibration *together, ulna_error *error)
{
    const ulna_allocator *allocator = &together->set.allocator;
    ulna_calibrate_options alone = *options;
    size_t count = (size_t)s->count;
    ulna_calibration *apart = ulna_allocate(allocator, count, sizeof *apart);
    int first = united->recording->first_frame;
    together->take_count = s->count;
    together->take_rms = ulna_allocate(allocator, count, sizeof *together->take_rms);
    alone.scale = alone.repair = alone.try_lengths = 0; /* lengths and bones are those of all takes */
    alone.progress = NULL;
    ulna_status status =
        apart && together->take_rms ? ULNA_OK : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d takes", s->count);
    for (int t = 0; t < s->count && status == ULNA_OK; t++) {
        int last = first + s->takes[t]->frame_count - 1;
        ulna_error own;
        status = calibrate_part(united, first, last, &alone, &apart[t], &own);
        if (status != ULNA_OK)
            ulna_fail(error, status, "take %d of %d by itself: %s", t + 1, s->count, own.message);
        first = last + 1;
        together->take_rms[t] = apart[t].rms;
    }
    if (status == ULNA_OK)
        compare(together, apart, s->count);
    for (size_t t = 0; t < count && apart; t++)
        ulna_calibration_release(&apart[t]);
    ulna_release(allocator, apart, count, sizeof *apart);
    return status;
}

/* ---- together ----------------------------------------------------------------------------------------------------------- */

static ulna_status calibrate_takes(session *s, const ulna_calibrate_options *options, ulna_calibration *result,
                                   ulna_error *error)
{
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_status status = unite(s);
    if (status == ULNA_OK)
        status = lay_end_to_end(s);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the takes cannot be joined: %s", ulna_status_text(status));
    ulna_take_options united = ulna_take_options_default();
    united.model = s->takes[0]->model;
    united.recording = &s->recording;
    united.set = &s->all;
    united.axes = same;
    united.allocator = &s->takes[0]->allocator;
    status = calibrate_part(&united, united.first_frame, united.last_frame, options, result, error);
    for (size_t i = 0; i < result->set.count && status == ULNA_OK; i++)
        s->all.items[i].body = result->set.items[i].body; /* where repair has put it */
    united.model = result->model ? result->model : united.model;
    return status == ULNA_OK ? look_at_each(s, &united, options, result, error) : status;
}

ulna_status ulna_calibrate_takes(const ulna_take *take, const ulna_calibrate_options *options, ulna_calibration *result,
                                 ulna_error *error)
{
    const ulna_allocator *allocator = &take->allocator;
    ulna_calibrate_options one = *options;
    size_t count = 1 + (size_t)options->other_take_count;
    const ulna_take **takes = ulna_allocate(allocator, count, sizeof *takes);
    if (!takes)
        return ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu takes", count);
    session s = {.takes = takes,
                 .count = (int)count,
                 .all = ulna_marker_set_empty(allocator),
                 .recording = ulna_recording_empty(allocator)};
    ulna_status status = ULNA_OK;
    for (int t = 0; t < s.count && status == ULNA_OK; t++) {
        takes[t] = t ? options->other_takes[t - 1] : take;
        if (!takes[t] || takes[t]->model != take->model)
            status =
                ulna_fail(error, ULNA_ERR_ARGUMENT,
                          "take %d of %d has another model: the takes of a session must have the same", t + 1, s.count);
        else
            s.room += takes[t]->set.count;
    }
    one.other_takes = NULL;
    one.other_take_count = 0;
    if (status == ULNA_OK)
        status = check_different(s.takes, s.count, error);
    if (status == ULNA_OK) {
        s.column = ulna_allocate(allocator, s.room, sizeof *s.column);
        status = s.column ? calibrate_takes(&s, &one, result, error)
                          : ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %zu markers", s.room);
    }
    ulna_release(allocator, s.column, s.room, sizeof *s.column);
    ulna_recording_release(&s.recording);
    ulna_marker_set_release(&s.all);
    ulna_release(allocator, takes, count, sizeof *takes);
    return status;
}

/* ---- standing ------------------------------------------------------------------------------------------------------------ */

/* Lays the arm of one side out straight from the shoulder: goals for the places of its joints. */
static int lay_arm(const ulna_figure *f, char side, double down, double *goal, unsigned char *is_arm)
{
    const ulna_model *model = f->model;
    int shoulder = ulna_bone_find(model, ULNA_BONES_ARM, side);
    if (shoulder == ULNA_NONE)
        return 0;
    double outward = side == 'l' ? 1 : -1, direction[3];
    for (int k = 0; k < 3; k++)
        direction[k] = cos(down) * outward * f->axes[k] - sin(down) * f->axes[3 + k];
    for (int b = shoulder + 1; b < model->nb; b++) {
        int parent = model->body[b].parent;
        double here[3], there[3];
        if (parent != shoulder && !is_arm[parent])
            continue;
        ulna_pose_body(f->rest, parent, here, NULL);
        ulna_pose_body(f->rest, b, there, NULL);
        for (int k = 0; k < 3; k++)
            there[k] -= here[k];
        for (int k = 0; k < 3; k++)
            goal[3 * b + k] = goal[3 * parent + k] + ulna_norm(there) * direction[k];
        is_arm[b] = 1;
    }
    return 1;
}

/* The pose nearest to rest whose joints are at the goals; joints of hands may stay as they are. */
static ulna_status reach(const ulna_model *model, const double *goal, const ulna_allocator *allocator, double *q)
{
    static const double origin[3] = {0, 0, 0};
    ulna_problem *problem = NULL;
    ulna_solver *solver = NULL;
    ulna_options options = ulna_options_default();
    ulna_result result;
    options.bounded = 0;
    ulna_status status = ulna_problem_create(model, allocator, &problem, NULL);
    for (int b = 0; b < model->nb && status == ULNA_OK; b++)
        status = ulna_problem_add_point(problem, b, origin, goal + 3 * b, 1, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_problem_add_posture(problem, NULL, NULL, 1e-4, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_problem_ready(problem, NULL);
    if (status == ULNA_OK)
        status = ulna_solver_create(problem, &options, allocator, &solver, NULL);
    if (status == ULNA_OK)
        status = ulna_solve(solver, q, &result);
    ulna_solver_destroy(solver);
    ulna_problem_destroy(problem);
    return status;
}

ulna_status ulna_standing_pose(const ulna_model *model, char letter, const ulna_allocator *allocator, double *q,
                               ulna_error *error)
{
    if (!letter || !strchr("tna", letter))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "options: standing must be 't', 'n', 'a' or 0");
    double down = letter == 't' ? 0 : letter == 'n' ? ULNA_PI / 2 : ULNA_PI / 4;
    size_t nb = (size_t)model->nb;
    ulna_figure figure = {0};
    double *goal = ulna_allocate(allocator, 3 * nb, sizeof *goal);
    unsigned char *is_arm = ulna_allocate(allocator, nb, 1);
    ulna_status status = goal && is_arm ? ulna_figure_create(model, allocator, &figure) : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        for (int b = 0; b < model->nb; b++)
            ulna_pose_body(figure.rest, b, goal + 3 * b, NULL);
        int arms = lay_arm(&figure, 'l', down, goal, is_arm) + lay_arm(&figure, 'r', down, goal, is_arm);
        memcpy(q, model->rest, (size_t)model->nq * sizeof *q);
        status = figure.has_axes && arms ? reach(model, goal, allocator, q) : ULNA_ERR_MODEL;
    }
    ulna_figure_release(&figure);
    ulna_release(allocator, is_arm, nb, 1);
    ulna_release(allocator, goal, 3 * nb, sizeof *goal);
    if (status == ULNA_ERR_MODEL)
        return ulna_fail(error, status,
                         "the names of the skeleton's bones do not say which are its arms: give the pose itself");
    return status == ULNA_OK ? status
                             : ulna_fail(error, status, "the pose was not found: %s", ulna_status_text(status));
}
