/*
 * What a calibration has found, and how far to trust it. A low error says little alone: offsets trade against angles where the
 * take does not tell them apart (small eigenvalues of the reduced matrix), and poses may bend joints the wrong way.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>

#include "math/math3.h"
#include "mocap/calibrator.h"

#define OUTLIER_WEIGHT 0.25 /* of the robust loss: sightings below it are set apart */
#define UNMODELLED                                                                                                     \
    1.2 /* of deviations: skin moves with the pose, not at random, so errors are larger than noise would make them */
#define LEAST_LEFT 0.25 /* of the variance of a marker's error: few markers on many joints follow nearly everything */
#define LITTLE 0.5      /* of the directions that poses could make up for, undetermined: most of them */
#define SUSPECT_LENGTH 0.01 /* of the skeleton's length scale: less than that is no wrong bone */
#define STILL                                                                                                          \
    (3 * ULNA_PI / 180) /* root mean square deviation of the angles of someone who stands still: at most that */
#define BEYOND (5 * ULNA_PI / 180) /* of a limit: rounding of models and people */

enum { JOINT_SAMPLES = 8 };

/* ---- errors ---------------------------------------------------------------------------------------------------------------- */

/* Of one marker, over the keys. */
typedef struct tally {
    double squares, counted; /* m^2: of all sightings, and of those that count */
    int seen, outliers;
    double deviation[3], undetermined;
    int number; /* in the result */
} tally;

static void measure(ulna_calibrator *c, tally *tallies)
{
    double place[3], r[3], f, loss;
    for (int k = 0; k < c->keys; k++) {
        ulna_key_place(c, k);
        if (ulna_work_evaluate(ulna_solver_work(c->solver), ulna_key_q(c, k), &f) != ULNA_OK)
            continue;
        for (int i = 0; i < c->count; i++) {
            if (isnan(ulna_key_goal(c, k)[3 * i]))
                continue;
            ulna_key_residual(c, i, place, r);
            double square = ulna_dot(r, r);
            int counts = ulna_calibrator_loss(c, square, &loss) >= OUTLIER_WEIGHT;
            tallies[i].squares += square;
            tallies[i].counted += counts ? square : 0;
            tallies[i].seen++;
            tallies[i].outliers += !counts;
        }
    }
}

/* RMS of all sightings that count. */
static double total_rms(const ulna_calibrator *c, const tally *tallies, double *outliers)
{
    double sum = 0;
    long long seen = 0, apart = 0;
    for (int i = 0; i < c->count; i++) {
        sum += tallies[i].counted;
        seen += tallies[i].seen;
        apart += tallies[i].outliers;
    }
    *outliers = seen ? (double)apart / (double)seen : 0;
    return seen > apart ? sqrt(sum / (double)(seen - apart)) : NAN;
}

/* Of one degree of freedom, over the keys; -1 if it is no angle with limits. */
static int count_beyond(const ulna_calibrator *c, int d)
{
    int at = c->base->dof_coordinate[d], beyond = 0;
    double low = c->base->lower[d], high = c->base->upper[d];
    if (at < 0 || c->base->dof_body[d] == 0 || ulna_segment_is_translation(c->base->dof_segment[d]) ||
        (isinf(low) && isinf(high)))
        return -1;
    for (int k = 0; k < c->keys; k++) {
        double x = remainder(ulna_key_q(c, k)[at], 2 * ULNA_PI);
        beyond += x < low - BEYOND || x > high + BEYOND;
    }
    return beyond;
}

static ulna_status find_violations(const ulna_calibrator *c, ulna_calibration *result)
{
    long long all = 0, limited = 0;
    result->limit_violation = ulna_allocate(&result->set.allocator, (size_t)c->nb, sizeof *result->limit_violation);
    if (!result->limit_violation)
        return ULNA_ERR_MEMORY;
    for (int b = 0; b < c->nb; b++) {
        const ulna_body *body = &c->base->body[b];
        long long here = 0, angles = 0;
        for (int d = body->dof; d < body->dof + body->dof_count; d++) {
            int beyond = count_beyond(c, d);
            here += beyond > 0 ? beyond : 0;
            angles += beyond < 0 ? 0 : c->keys;
        }
        result->limit_violation[b] = angles ? (double)here / (double)angles : 0;
        all += here;
        limited += angles;
    }
    result->violations = limited ? (double)all / (double)limited : 0;
    return ULNA_OK;
}

/* The pose to start held-out frame k from: of the one before it, or of the key that is nearer. */
static const double *start_of_held_out(const ulna_calibrator *c, int k, int keys, const int *frame, const double *q)
{
    const double *start = k ? ulna_key_q(c, k - 1) : q;
    int least = k ? c->frame[k] - c->frame[k - 1] : INT_MAX;
    for (int j = 0; j < keys; j++)
        if (abs(frame[j] - c->frame[k]) < least) {
            least = abs(frame[j] - c->frame[k]);
            start = q + (size_t)j * (size_t)c->nq;
        }
    return start;
}

ulna_status ulna_calibrator_measure_held_out(ulna_calibrator *c, ulna_calibration *result)
{
    size_t nq = (size_t)c->nq, bytes = nq * sizeof(double);
    result->rms_held_out = NAN;
    if (!c->held_count)
        return ULNA_OK;
    int before = c->keys;
    int *frame = ulna_allocate(&c->allocator, (size_t)before, sizeof *frame);
    double *q = ulna_allocate(&c->allocator, (size_t)before * nq, sizeof *q), outliers;
    tally *tallies = ulna_allocate(&c->allocator, (size_t)c->count, sizeof *tallies);
    ulna_status status = frame && q && tallies ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status == ULNA_OK) {
        memcpy(frame, c->frame, (size_t)before * sizeof *frame);
        memcpy(q, c->q, (size_t)before * bytes);
        status = ulna_calibrator_set_keys(c, c->held_count, c->held);
    }
    for (int k = 0; k < c->keys && status == ULNA_OK; k++) {
        memcpy(ulna_key_q(c, k), start_of_held_out(c, k, before, frame, q), bytes);
        c->f[k] = ulna_key_solve(c, k, ulna_key_q(c, k), 0, 2);
    }
    if (status == ULNA_OK) {
        int rescued = c->rescued;
        ulna_calibrator_rescue(c, 1);
        c->rescued = rescued;
        measure(c, tallies);
        result->rms_held_out = total_rms(c, tallies, &outliers);
        result->frames_held_out = c->keys;
    }
    ulna_release(&c->allocator, frame, (size_t)before, sizeof *frame);
    ulna_release(&c->allocator, q, (size_t)before * nq, sizeof *q);
    ulna_release(&c->allocator, tallies, (size_t)c->count, sizeof *tallies);
    return status;
}

/* ---- what the take determines ---------------------------------------------------------------------------------------------- */

/*
 * The posterior covariance of the offsets: p (S / keys + p P)^-1, P the second derivatives of what is expected, p the prior's weight
 * in one frame. That is the variance of a marker's error divided by the frames that count as independent, in m^2.
 */
static int factor_precision(ulna_calibrator *c, double unit)
{
    size_t n = (size_t)c->nz;
    double scale = 1.0 / c->keys;
    for (size_t i = 0; i < n * n; i++)
        c->factor[i] = scale * c->matrix[i];
    ulna_calibrator_add_expectation(c, unit, c->factor, NULL);
    for (size_t i = 0; i < (size_t)c->groups; i++)
        c->factor[i * (n + 1)] += c->scale_prior * scale;
    return c->kernel->cholesky(c->nz, c->factor);
}

/* Degrees of freedom that some marker moves with. */
static int count_shown(const ulna_calibrator *c)
{
    int shown = 0;
    for (int d = 0; d < c->nv; d++)
        shown += c->last[d] > c->first[d];
    return shown;
}

/*
 * The variance of a marker's error over the one that the prior takes for known (ulna_calibrator_frame_variance), at least 1: where the
 * take's own is larger, since skin moves more or bones have other lengths, what was found is less sure. Poses follow the markers,
 * so that only 1 - DOFs / coordinates of the variance is left in the distances.
 */
static double find_excess(const ulna_calibrator *c, const tally *tallies)
{
    double outliers, coordinates = 0, rms = total_rms(c, tallies, &outliers);
    for (int i = 0; i < c->count; i++)
        coordinates += 3.0 * tallies[i].seen / c->keys;
    double left = fmax(1 - count_shown(c) / coordinates, LEAST_LEFT);
    double ratio = rms * rms / (left * ulna_calibrator_frame_variance(c));
    return ratio > 1 ? ratio : 1;
}

/* Directions of marker i that its expected place decides: the trace of unit u A times the block of the inverse. */
static void find_deviation(ulna_calibrator *c, int i, double unit, tally *t)
{
    const ulna_expected *e = &c->expected[i];
    size_t n = (size_t)c->nz, first = (size_t)c->groups + 3 * (size_t)i;
    t->undetermined = 0;
    for (int k = 0; k < 3; k++) {
        memset(c->step, 0, n * sizeof *c->step);
        c->step[first + (size_t)k] = unit;
        ulna_calibrator_substitute(n, c->factor, c->step);
        t->deviation[k] = UNMODELLED * sqrt(fmax(c->step[first + (size_t)k], 0));
        for (int j = 0; j < 3; j++)
            t->undetermined += e->weight * e->precision[3 * k + j] * c->step[first + (size_t)j];
    }
}

/* x <- L^-1 x; its square. */
static double forward_square(size_t n, const double *L, double *x)
{
    double sum = 0;
    for (size_t j = 0; j < n; j++) {
        x[j] /= L[j * (n + 1)];
        sum += x[j] * x[j];
        for (size_t i = j + 1; i < n; i++)
            x[i] -= L[i + n * j] * x[j];
    }
    return sum;
}

/* Of a symmetric 3 x 3 matrix (Smith 1961). */
static double largest_eigenvalue(const double A[9])
{
    double mean = (A[0] + A[4] + A[8]) / 3, B[9], squares = 0;
    for (int k = 0; k < 9; k++) {
        B[k] = A[k] - (k % 4 ? 0 : mean);
        squares += B[k] * B[k];
    }
    double size = sqrt(squares / 6);
    if (!(size > 0))
        return mean;
    double determinant =
        B[0] * (B[4] * B[8] - B[5] * B[7]) - B[1] * (B[3] * B[8] - B[5] * B[6]) + B[2] * (B[3] * B[7] - B[4] * B[6]);
    double cosine = determinant / (2 * size * size * size);
    return mean + 2 * size * cos(acos(fmax(-1, fmin(1, cosine))) / 3);
}

/* Of the pose of a key: rad^2, about the axis that is determined least. The offsets are off in all frames alike, the positions of
 * the markers in each frame anew. */
static double rotation_variance(ulna_calibrator *c, double excess, int body, double *rows)
{
    size_t n = (size_t)c->nz;
    double cov[9], unit = excess * ulna_calibrator_prior(c), frame = excess * ulna_calibrator_frame_variance(c);
    ulna_calibrator_rotation_rows(c, body, rows, cov);
    for (int k = 0; k < 3; k++)
        forward_square(n, c->factor, rows + n * (size_t)k);
    for (int k = 0; k < 9; k++) {
        const double *a = rows + n * (size_t)(k / 3), *b = rows + n * (size_t)(k % 3);
        cov[k] *= frame;
        for (size_t i = 0; i < n; i++)
            cov[k] += unit * a[i] * b[i];
    }
    return fmax(largest_eigenvalue(cov), 0);
}

/* Does any marker move with the joint of a body? */
static int is_shown(const ulna_calibrator *c, int body)
{
    int d = c->base->body[body].dof;
    return c->last[d] > c->first[d];
}

/* How far joints may be off in the poses, in place and rotation, since the poses follow the offsets: over some of the keys. */
static ulna_status find_joint_deviations(ulna_calibrator *c, double excess, double *place, double *rotation)
{
    size_t n = (size_t)c->nz;
    double *rows = ulna_allocate(&c->allocator, 3 * n, sizeof *rows), unit = excess * ulna_calibrator_prior(c);
    ulna_status status = rows ? ULNA_OK : ULNA_ERR_MEMORY;
    int samples = c->keys < JOINT_SAMPLES ? c->keys : JOINT_SAMPLES;
    for (int s = 0; s < samples && status == ULNA_OK; s++) {
        status = ulna_calibrator_reduce_key(c, (int)((s + 0.5) * c->keys / samples));
        for (int b = 0; b < c->nb && status == ULNA_OK; b++) {
            if (!c->base->body[b].dof_count)
                continue;
            ulna_calibrator_joint_rows(c, b, rows);
            for (int k = 0; k < 3; k++)
                place[b] += unit * forward_square(n, c->factor, rows + n * (size_t)k) / samples;
            rotation[b] += is_shown(c, b) ? rotation_variance(c, excess, b, rows) / samples : NAN;
        }
    }
    for (int b = 0; b < c->nb; b++) {
        place[b] = UNMODELLED * sqrt(place[b]);
        rotation[b] = UNMODELLED * sqrt(rotation[b]);
    }
    ulna_release(&c->allocator, rows, 3 * n, sizeof *rows);
    return status;
}

static ulna_status find_deviations(ulna_calibrator *c, tally *tallies, ulna_calibration *result)
{
    double excess = find_excess(c, tallies), unit = excess * ulna_calibrator_prior(c);
    size_t nb = (size_t)c->nb;
    result->deviation = ulna_allocate(&result->set.allocator, nb, sizeof *result->deviation);
    result->rotation_deviation = ulna_allocate(&result->set.allocator, nb, sizeof *result->rotation_deviation);
    if (!result->deviation || !result->rotation_deviation)
        return ULNA_ERR_MEMORY;
    ulna_status status = ulna_calibrator_reduce(c);
    result->undetermined = -1;
    for (int i = 0; i < c->count; i++) {
        tallies[i].undetermined = -1;
        tallies[i].deviation[0] = tallies[i].deviation[1] = tallies[i].deviation[2] = NAN;
    }
    if (status != ULNA_OK || !(unit > 0) || !factor_precision(c, unit)) {
        for (int b = 0; b < c->nb; b++)
            result->deviation[b] = result->rotation_deviation[b] = NAN;
        return status;
    }
    result->undetermined = 0;
    for (int i = 0; i < c->count; i++) {
        find_deviation(c, i, unit, &tallies[i]);
        if (c->take->set.items[c->item[i]].is_joint) /* its place is known, not expected */
            tallies[i].undetermined = 0;
        result->undetermined += tallies[i].undetermined;
    }
    return find_joint_deviations(c, excess, result->deviation, result->rotation_deviation);
}

/* ---- repair ------------------------------------------------------------------------------------------------------ */

#define SWING 0.1 /* m on an adult: a marker on the wrong bone moves by that much */

int ulna_calibrator_nearest_body(ulna_calibrator *c, int i, double offset[3])
{
    ulna_places places;
    ulna_pose *pose = ulna_solver_work(c->solver)->pose;
    int best = ULNA_NONE;
    if (ulna_places_create(c->problem->model, c->keys, &c->allocator, &places) != ULNA_OK)
        return ULNA_NONE;
    ulna_status status = ULNA_OK;
    for (int k = 0; k < c->keys && status == ULNA_OK; k++) {
        ulna_copy3(ulna_key_goal(c, k) + 3 * i, places.x + 3 * k);
        status = ulna_places_set(&places, pose, k, ulna_key_q(c, k));
    }
    if (status == ULNA_OK)
        best = ulna_places_nearest(&places, SWING * c->unit, offset, NULL);
    ulna_places_release(&places);
    return best;
}

/* ---- the report ---------------------------------------------------------------------------------------------------------------- */

/* In the order of the input. */
static ulna_status fill_set(ulna_calibrator *c, const ulna_marker_set *set, ulna_calibration *result, tally *tallies)
{
    ulna_status status = ULNA_OK;
    for (size_t j = 0; j < set->count && status == ULNA_OK; j++)
        for (int i = 0; i < c->count; i++)
            if (c->item[i] == (int)j) {
                tallies[i].number = (int)result->set.count;
                status = ulna_marker_set_add(&result->set, set->items[j].marker, c->body[i], ulna_offset(c, i),
                                             c->weight[i]);
            }
    return status;
}

/* Does the take show one pose only? Then each offset goes with some rotation, and what is expected decides between them. */
static ulna_status find_one_pose(const ulna_calibrator *c, int *is_one)
{
    size_t nv = (size_t)c->nv;
    double *step = ulna_allocate(&c->allocator, 2 * nv, sizeof *step), *sum = step ? step + nv : NULL, variance = 0;
    int angles = 0;
    if (!step)
        return ULNA_ERR_MEMORY;
    for (int k = 0; k < c->keys; k++) {
        ulna_model_difference(c->base, ulna_key_q(c, 0), ulna_key_q(c, k), step);
        for (int d = 0; d < c->nv; d++) {
            double x = remainder(step[d], 2 * ULNA_PI);
            int counts = c->last[d] > c->first[d] && c->base->dof_body[d] != 0 &&
                         !ulna_segment_is_translation(c->base->dof_segment[d]);
            variance += counts ? x * x / c->keys : 0;
            sum[d] = (k ? sum[d] : 0) + (counts ? x / c->keys : 0);
            angles += k == 0 && counts;
        }
    }
    for (int d = 0; d < c->nv; d++)
        variance -= sum[d] * sum[d];
    *is_one = angles && variance < STILL * STILL * angles;
    ulna_release(&c->allocator, step, 2 * nv, sizeof *step);
    return ULNA_OK;
}

static void fill_totals(const ulna_calibrator *c, const tally *tallies, int is_one_pose, ulna_calibration *result)
{
    double all = 0, seen = 0;
    result->is_undetermined = result->undetermined > LITTLE * fmin(count_shown(c), 3 * (double)c->count) ||
                              (!c->options.is_static && is_one_pose && c->take->joints < c->count);
    result->set.is_undetermined = result->is_undetermined;
    for (int i = 0; i < c->count; i++) {
        all += tallies[i].squares;
        seen += tallies[i].seen;
    }
    result->rms_all = seen > 0 ? sqrt(all / seen) : 0;
}

static void fill_markers(ulna_calibrator *c, const tally *tallies, ulna_calibration *result)
{
    double *sorted = c->step; /* nz: room enough */
    int known = 0;
    for (int i = 0; i < c->count; i++) {
        const tally *t = &tallies[i];
        int counted = t->seen - t->outliers;
        result->markers[t->number] =
            (ulna_calibrated_marker){.rms = counted ? sqrt(t->counted / counted) : NAN,
                                     .rms_all = t->seen ? sqrt(t->squares / t->seen) : NAN,
                                     .seen = t->seen,
                                     .outliers = t->outliers,
                                     .deviation = {t->deviation[0], t->deviation[1], t->deviation[2]},
                                     .undetermined = t->undetermined,
                                     .moved_from = ULNA_NONE};
        for (int k = 0; k < 3; k++)
            result->set.items[t->number].deviation[k] = isfinite(t->deviation[k]) ? t->deviation[k] : 0;
        if (t->seen)
            sorted[known++] = sqrt(t->squares / t->seen);
    }
    double limit = known ? c->options.suspect_factor * ulna_median(sorted, (size_t)known) : INFINITY;
    limit = fmax(limit, SUSPECT_LENGTH * ulna_model_length_scale(c->base));
    for (int i = 0; i < c->count; i++) {
        ulna_calibrated_marker *m = &result->markers[tallies[i].number];
        m->is_suspect = m->rms_all > limit;
        result->suspect_count += m->is_suspect;
    }
    result->rms = total_rms(c, tallies, &result->outliers);
}

static ulna_status fill_scales(ulna_calibrator *c, ulna_calibration *result, ulna_error *error)
{
    if (!c->options.scale)
        return ULNA_OK;
    size_t nb = (size_t)c->nb;
    result->scale = ulna_allocate(&result->set.allocator, nb, sizeof *result->scale);
    double *lengths = ulna_allocate(&result->set.allocator, nb, sizeof *lengths);
    ulna_status status = result->scale && lengths ? ULNA_OK : ULNA_ERR_MEMORY;
    for (int b = 0; b < c->nb && status == ULNA_OK; b++) {
        result->scale[b] = c->group[b] >= 0 ? 1 + c->z[c->group[b]] : 1;
        lengths[b] = result->scale[b] * ulna_model_bone_length(c->base, b);
    }
    if (status == ULNA_OK)
        status = ulna_model_with_lengths(c->base, lengths, &result->set.allocator, &result->model, error);
    ulna_release(&result->set.allocator, lengths, nb, sizeof *lengths);
    return status;
}

ulna_status ulna_calibrator_report(ulna_calibrator *c, const ulna_marker_set *set, ulna_calibration *result,
                                   ulna_error *error)
{
    size_t count = (size_t)c->count;
    int is_one_pose = 0;
    tally *tallies = ulna_allocate(&c->allocator, count, sizeof *tallies);
    result->room = count;
    result->body_count = c->nb;
    result->markers = ulna_allocate(&result->set.allocator, count, sizeof *result->markers);
    ulna_status status = tallies && result->markers ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status == ULNA_OK)
        status = fill_set(c, set, result, tallies);
    if (status == ULNA_OK) {
        measure(c, tallies);
        status = find_deviations(c, tallies, result);
    }
    if (status == ULNA_OK)
        status = find_one_pose(c, &is_one_pose);
    if (status == ULNA_OK) {
        fill_markers(c, tallies, result);
        fill_totals(c, tallies, is_one_pose, result);
    }
    if (status == ULNA_OK) {
        result->frames_used = c->keys;
        result->unmatched = (int)c->take->absent.count;
        status = find_violations(c, result);
    }
    if (status == ULNA_OK)
        status = fill_scales(c, result, error);
    ulna_release(&c->allocator, tallies, count, sizeof *tallies);
    return status;
}
