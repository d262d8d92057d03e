/* Calibrations against the truth: see the header. */
#include "calibrate_truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/algorithms.h"
#include "math/math3.h"
#include "model/model.h"
#include "poses_measure.h"
#include "ulna/kinematics.h"

#define NOISE 0.001 /* m */
#define PLACED 0.02 /* m */

enum { WITHIN = 2 /* deviations */ };

static double distance(const double *a, const double *b)
{
    const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
    return ulna_norm(d);
}

/* ---- halves --------------------------------------------------------------------------------------------------------- */

static int calibrate_half(const ulna_content *skeleton, const ulna_content *markers, int half, ulna_calibration *found)
{
    ulna_take_options o = ulna_take_options_for(skeleton, markers);
    ulna_take *take = NULL;
    int middle = markers->recording.first_frame + markers->recording.frame_count / 2;
    o.attach = ULNA_ATTACH_NAMES;
    o.first_frame = half ? middle : o.first_frame;
    o.last_frame = half ? o.last_frame : middle - 1;
    int ready = ulna_take_create(&o, &take, NULL) == ULNA_OK && ulna_calibrate(take, NULL, found, NULL) == ULNA_OK;
    ulna_take_destroy(take);
    return ready;
}

int calibrate_measure_halves(const bench_take *from, calibrate_halves *halves)
{
    ulna_content skeleton = bench_load(from->skeleton, NULL), markers = bench_load(from->markers, NULL);
    ulna_calibration found[2] = {0};
    *halves = (calibrate_halves){0};
    int ready = skeleton.model && markers.recording.frame_count && calibrate_half(&skeleton, &markers, 0, &found[0]) &&
                calibrate_half(&skeleton, &markers, 1, &found[1]);
    for (size_t i = 0; i < found[0].set.count && i < CALIBRATE_MARKERS && ready; i++) {
        double off = 1e3 * distance(found[0].set.items[i].offset, found[1].set.items[i].offset);
        halves->all[halves->marker_count++] = off;
        if (off > halves->most) {
            halves->most = off;
            snprintf(halves->worst, sizeof halves->worst, "%s", found[0].set.items[i].marker);
        }
    }
    halves->median = ulna_median(halves->all, (size_t)halves->marker_count);
    ulna_calibration_release(&found[0]);
    ulna_calibration_release(&found[1]);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return ready;
}

/* ---- another size --------------------------------------------------------------------------------------------------- */

double calibrate_measure_size(const bench_take *from, double size)
{
    ulna_content skeleton = bench_load(from->skeleton, NULL), markers = bench_load(from->markers, NULL);
    ulna_recording *r = &markers.recording;
    ulna_take *made = NULL;
    ulna_calibration found = {0};
    for (size_t i = 0; i < 3 * (size_t)r->marker_count * (size_t)r->frame_count; i++)
        r->positions[i] *= size / 100;
    ulna_take_options o = ulna_take_options_for(&skeleton, &markers);
    o.attach = ULNA_ATTACH_NAMES;
    int ready = skeleton.model && r->frame_count && ulna_take_create(&o, &made, NULL) == ULNA_OK &&
                ulna_calibrate(made, NULL, &found, NULL) == ULNA_OK;
    double result = ready ? 100 * found.lengths.size : 0;
    ulna_calibration_release(&found);
    ulna_take_destroy(made);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return result;
}

/* ---- known truth ------------------------------------------------------------------------------------------------------ */

/* Where a marker is off because of skin: a random mixture of the joint angles, as large as `size`. `out`: frames x 3. */
static void make_skin(const ulna_clip *clip, double size, uint64_t *random, double *out)
{
    enum { ROOT = 6 };
    int nq = clip->coordinate_count, frames = clip->frame_count;
    memset(out, 0, 3 * (size_t)frames * sizeof *out);
    for (int c = ROOT; c < nq; c++) {
        double mean = 0, squares = 0;
        const double weight[3] = {ulna_random_normal(random), ulna_random_normal(random), ulna_random_normal(random)};
        for (int f = 0; f < frames; f++)
            mean += ulna_clip_frame(clip, f)[c] / frames;
        for (int f = 0; f < frames; f++)
            squares += (ulna_clip_frame(clip, f)[c] - mean) * (ulna_clip_frame(clip, f)[c] - mean) / frames;
        for (int f = 0; f < frames && squares > 1e-6; f++)
            for (int k = 0; k < 3; k++)
                out[3 * f + k] += weight[k] * (ulna_clip_frame(clip, f)[c] - mean) / sqrt(squares);
    }
    double squares = 0;
    for (int i = 0; i < 3 * frames; i++)
        squares += out[i] * out[i] / frames;
    for (int i = 0; i < 3 * frames && squares > 0; i++)
        out[i] *= size / sqrt(squares);
}

/* The recording of a set of true offsets. */
static int make_recording(const ulna_model *model, const ulna_clip *clip, const ulna_marker_set *set, double skin_size,
                          uint64_t *random, ulna_recording *r)
{
    ulna_pose *pose = NULL;
    double *skin = malloc(3 * (size_t)clip->frame_count * sizeof *skin), R[9], x[3];
    int is_ready = skin && ulna_recording_resize(r, (int)set->count, clip->frame_count) == ULNA_OK &&
                   ulna_pose_create(model, NULL, &pose, NULL) == ULNA_OK;
    for (size_t i = 0; i < set->count && is_ready; i++) {
        snprintf(r->names[i], sizeof r->names[i], "%s", set->items[i].marker);
        make_skin(clip, skin_size, random, skin);
        for (int f = 0; f < clip->frame_count; f++) {
            double *to = ulna_recording_frame(r, f) + 3 * i;
            ulna_pose_forward(pose, ulna_clip_frame(clip, f));
            ulna_pose_point(pose, set->items[i].body, set->items[i].offset, to);
            ulna_pose_body(pose, set->items[i].body, NULL, R);
            ulna_rotate(R, skin + 3 * f, x);
            for (int k = 0; k < 3; k++)
                to[k] += x[k] + NOISE * ulna_random_normal(random);
        }
    }
    ulna_pose_destroy(pose);
    free(skin);
    return is_ready;
}

/* Sums; divided at the end. */
typedef struct sums {
    double orientation, position, joint, offset, most, squares, size_least, size_most;
    long long told, runs, offsets, directions, covered, joints, joints_covered, rotations, rotations_covered;
} sums;

static void compare_offsets(const ulna_marker_set *truth, const ulna_calibration *found, sums *s)
{
    for (size_t i = 0; i < truth->count; i++) {
        double off = 1e3 * distance(truth->items[i].offset, found->set.items[i].offset);
        s->offset += off;
        s->most = fmax(s->most, off);
        s->offsets++;
        for (int k = 0; k < 3; k++) {
            double e = fabs(truth->items[i].offset[k] - found->set.items[i].offset[k]);
            double ratio = e / found->markers[i].deviation[k];
            s->squares += ratio * ratio;
            s->covered += ratio < WITHIN;
            s->directions++;
        }
    }
}

/* The rotation of a joint: of its body in its parent's frame. */
static void joint_rotation(const ulna_pose *pose, const ulna_model *model, int body, double R[9])
{
    double own[9], parent[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, back[9];
    ulna_pose_body(pose, body, NULL, own);
    if (model->body[body].parent >= 0)
        ulna_pose_body(pose, model->body[body].parent, NULL, parent);
    ulna_transpose9(parent, back);
    ulna_multiply9(back, own, R);
}

static void compare_rotation(const ulna_pose *truth, const ulna_pose *got, const ulna_model *model, int body,
                             double deviation, sums *s)
{
    double A[9], B[9], trace = 0;
    if (!isfinite(deviation))
        return;
    joint_rotation(truth, model, body, A);
    joint_rotation(got, model, body, B);
    for (int k = 0; k < 9; k++)
        trace += A[k] * B[k];
    s->rotations++;
    s->rotations_covered += acos(fmax(-1, fmin(1, (trace - 1) / 2))) < WITHIN * deviation;
}

/* Joint centres: the mean over the take of how far they are off; and how often places and rotations are as near as was reported. */
static void compare_joints(const ulna_model *person, const ulna_model *model, const ulna_clip *truth,
                           const ulna_clip *got, const ulna_calibration *found, sums *s)
{
    enum { EVERY = 20 };
    ulna_pose *a = NULL, *b = NULL;
    if (ulna_pose_create(person, NULL, &a, NULL) == ULNA_OK && ulna_pose_create(model, NULL, &b, NULL) == ULNA_OK)
        for (int f = 0; f < got->frame_count; f += EVERY) {
            double x[3], y[3];
            ulna_pose_forward(a, ulna_clip_frame(truth, f));
            ulna_pose_forward(b, ulna_clip_frame(got, f));
            for (int body = 0; body < model->nb; body++) {
                if (!model->body[body].dof_count)
                    continue;
                ulna_pose_body(a, body, x, NULL);
                ulna_pose_body(b, body, y, NULL);
                s->joint += 1e3 * distance(x, y);
                s->joints++;
                s->joints_covered += distance(x, y) < WITHIN * found->deviation[body];
                compare_rotation(a, b, model, body, found->rotation_deviation[body], s);
            }
        }
    ulna_pose_destroy(a);
    ulna_pose_destroy(b);
}

/* The skeleton as it is, with other shoulders, or larger as a whole. A bone is named by the body at its end. */
static ulna_model *make_person(const ulna_model *model, int has_other_shoulders, double size)
{
    ulna_model *person = NULL;
    double *lengths = malloc((size_t)model->nb * sizeof *lengths);
    for (int b = 0; b < model->nb && lengths; b++) {
        const char *name = ulna_model_body_name(model, b);
        int is_clavicle = strstr(name, "humerus") || strstr(name, "upper_arm");
        int is_upper_arm = strstr(name, "radius") || strstr(name, "forearm");
        double factor = is_clavicle ? 0.8 : is_upper_arm ? 1.12 : 1;
        lengths[b] = size * (has_other_shoulders ? factor : 1) * ulna_model_bone_length(model, b);
    }
    if (lengths)
        ulna_model_with_lengths(model, lengths, NULL, &person, NULL);
    free(lengths);
    return person;
}

static int run_truth(const ulna_content *skeleton, const ulna_clip *clip, const ulna_marker_set *expected,
                     const ulna_marker_set *true_set, const calibrate_truth_case *wanted, uint64_t *random, sums *s)
{
    static const double same[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    ulna_recording recording = ulna_recording_empty(NULL);
    ulna_take_options o = ulna_take_options_default();
    ulna_take *take = NULL, *placed = NULL;
    ulna_calibration found = {0};
    ulna_track_result result = {0};
    poses_figures figures;
    ulna_calibrate_options options = ulna_calibrate_options_default();
    options.shoulders = wanted->finds_shoulders;
    options.try_lengths = wanted->size > 0;
    ulna_model *person = make_person(skeleton->model, wanted->has_other_shoulders, wanted->size > 0 ? wanted->size : 1);
    int ready = person && make_recording(person, clip, true_set, wanted->skin, random, &recording);
    o.model = skeleton->model;
    o.recording = &recording;
    o.axes = same;
    o.set = expected;
    ready = ready && ulna_take_create(&o, &take, NULL) == ULNA_OK &&
            ulna_calibrate(take, &options, &found, NULL) == ULNA_OK;
    o.set = &found.set;
    o.model = found.model ? found.model : o.model;
    ready = ready && ulna_take_create(&o, &placed, NULL) == ULNA_OK &&
            ulna_track(placed, NULL, &result, NULL) == ULNA_OK && poses_measure(placed, &result, clip, &figures);
    if (ready) {
        compare_offsets(true_set, &found, s);
        compare_joints(person, placed->model, clip, &result.clip, &found, s);
        s->orientation += figures.orientation_deg;
        s->position += figures.position_mm;
        s->size_least = s->runs ? fmin(s->size_least, found.lengths.size) : found.lengths.size;
        s->size_most = s->runs ? fmax(s->size_most, found.lengths.size) : found.lengths.size;
        s->told += found.lengths.is_other_size;
        s->runs++;
    }
    ulna_track_result_release(&result);
    ulna_calibration_release(&found);
    ulna_take_destroy(placed);
    ulna_take_destroy(take);
    ulna_model_destroy(person);
    ulna_recording_release(&recording);
    return ready;
}

/* The true offsets of one run, on a person of that size. */
static int place_truth(const ulna_take *by_names, const ulna_take *by_reference, int rule, double size,
                       uint64_t *random, ulna_marker_set *set)
{
    for (size_t i = 0; i < by_names->set.count; i++) {
        const ulna_attachment *item = rule ? &by_names->set.items[i] : &by_reference->set.items[i];
        double offset[3];
        for (int k = 0; k < 3; k++)
            offset[k] = size * item->offset[k] + (rule ? PLACED * ulna_random_normal(random) : 0);
        if (ulna_marker_set_add(set, item->marker, item->body, offset, 1) != ULNA_OK)
            return 0;
    }
    return 1;
}

/* People and motions that no constant was chosen with; of their recordings only the names of the markers count. (The kick of HDM05's
 * actor bd is left out: its AMC has the right foot pointing backward, by two angles of about -190 degrees.) */
static const bench_take others[] = {
    {"bk", "hdm05/HDM_bk.asf", "hdm05/HDM_dg_03-05_02_120.c3d", "hdm05/HDM_bk_kickLFront1Reps_007_120.amc"},
    {"cmu0205", "cmu/02.asf", "cmu/02_01.c3d", "cmu/02_05.amc"},
    {"cmu0302", "cmu/03.asf", "cmu/02_01.c3d", "cmu/03_02.amc"},
    {"cmu1101", "cmu/11.asf", "cmu/02_01.c3d", "cmu/11_01.amc"},
};

static int run_source(const bench_take *from, const calibrate_truth_case *wanted, sums *s)
{
    ulna_content skeleton = bench_load(from->skeleton, NULL), markers = bench_load(from->markers, NULL);
    ulna_read_options read = ulna_read_options_for(&skeleton);
    ulna_content reference = bench_load(from->reference, &read);
    ulna_take *by_names = NULL, *by_reference = NULL;
    int ready = skeleton.model && markers.recording.frame_count && reference.clip.frame_count;
    if (ready) {
        ulna_take_options o = ulna_take_options_for(&skeleton, &markers);
        o.attach = ULNA_ATTACH_NAMES;
        ready = ulna_take_create(&o, &by_names, NULL) == ULNA_OK;
        o.reference = &reference.clip;
        o.reference_offsets = 1;
        ready = ready && (wanted->rule || ulna_take_create(&o, &by_reference, NULL) == ULNA_OK);
    }
    for (int i = 0; i < wanted->seeds && ready; i++) {
        uint64_t random = (uint64_t)wanted->first_seed + (uint64_t)i;
        ulna_marker_set truth = ulna_marker_set_empty(NULL);
        double size = wanted->size > 0 ? wanted->size : 1;
        ready = place_truth(by_names, by_reference, wanted->rule, size, &random, &truth) &&
                run_truth(&skeleton, &reference.clip, &by_names->set, &truth, wanted, &random, s);
        ulna_marker_set_release(&truth);
    }
    ulna_take_destroy(by_reference);
    ulna_take_destroy(by_names);
    ulna_content_release(&reference);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return ready;
}

int calibrate_measure_truth(const calibrate_truth_case *wanted, calibrate_truth *truth)
{
    sums s = {0};
    int count = 0;
    const bench_take *from = wanted->is_others ? others : bench_takes(&count);
    count = wanted->is_others ? (int)(sizeof others / sizeof *others) : count;
    for (int t = 0; t < count; t++)
        if (from[t].reference && !run_source(&from[t], wanted, &s))
            return 0;
    double runs = (double)s.runs, offsets = (double)s.offsets, directions = (double)s.directions;
    *truth = (calibrate_truth){.orientation_deg = s.orientation / runs,
                               .position_mm = s.position / runs,
                               .joints_mm = s.joint / (double)s.joints,
                               .offset_mm = s.offset / offsets,
                               .offset_most_mm = s.most,
                               .covered = 100 * (double)s.covered / directions,
                               .joints_covered = 100 * (double)s.joints_covered / (double)s.joints,
                               .rotations_covered = 100 * (double)s.rotations_covered / (double)s.rotations,
                               .error_over_deviation = sqrt(s.squares / directions),
                               .size_least = 100 * s.size_least,
                               .size_most = 100 * s.size_most,
                               .size_told = 100 * (double)s.told / runs};
    return s.runs > 0;
}
