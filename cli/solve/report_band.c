/*
 * How sure the joint values are, at some frames: two standard deviations, from the markers of that frame alone and at the pose that
 * was found. The noise of a marker is estimated from the take's typical error; the attachment's deviations say how far offsets may be
 * off, which all frames share.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/report.h"
#include "ulna/kinematics.h"
#include "ulna/problem.h"

#define WEAK_POSTURE                                                                                                   \
    1e-6 /* of a marker's weight, per length squared: so that angles which no marker shows have a value at all */

typedef struct band_maker {
    const solve_job *job;
    ulna_problem *problem;
    ulna_work *work;
    ulna_pose *pose;
    double *places;     /* set.count x 3 */
    double *covariance; /* nv x nv */
    double *deviation;  /* set.count x 3: of the offsets */
    int posture;        /* term */
    double sigma;       /* metres */
} band_maker;

/* Metres, of one coordinate of a marker; NaN if there are not enough of them to tell. */
static double noise_of(const solve_job *job)
{
    double rms = job->result.trust.typical_rms, markers = job->result.summary.markers_used;
    double spare = 3 * markers - job->result.trust.dofs_moved;
    return spare > 0 ? rms * sqrt(markers / spare) : NAN;
}

static ulna_status add_terms(band_maker *m)
{
    const ulna_marker_set *set = &m->job->take->set;
    const double zero[3] = {0, 0, 0}, length = ulna_model_length_scale(m->job->model);
    ulna_status status = ULNA_OK;
    for (size_t i = 0; i < set->count && status == ULNA_OK; i++)
        status = ulna_problem_add_point(m->problem, set->items[i].body, set->items[i].offset, zero,
                                        set->items[i].weight, NULL, NULL);
    if (status == ULNA_OK)
        status = ulna_problem_add_posture(m->problem, NULL, NULL, WEAK_POSTURE * length * length, &m->posture, NULL);
    return status == ULNA_OK ? ulna_problem_ready(m->problem, NULL) : status;
}

static ulna_status begin_bands(band_maker *m)
{
    const ulna_model *model = m->job->model;
    size_t nv = (size_t)ulna_model_dof_count(model);
    m->places = calloc(3 * m->job->take->set.count, sizeof *m->places);
    m->covariance = calloc(nv * nv, sizeof *m->covariance);
    m->deviation = calloc(3 * m->job->take->set.count, sizeof *m->deviation);
    ulna_status status = m->places && m->covariance && m->deviation ? ULNA_OK : ULNA_ERR_MEMORY;
    for (size_t i = 0; i < m->job->take->set.count && status == ULNA_OK; i++)
        memcpy(m->deviation + 3 * i, m->job->take->set.items[i].deviation, 3 * sizeof *m->deviation);
    if (status == ULNA_OK)
        status = ulna_pose_create(model, NULL, &m->pose, NULL);
    if (status == ULNA_OK)
        status = ulna_problem_create(model, NULL, &m->problem, NULL);
    if (status == ULNA_OK)
        status = add_terms(m);
    return status == ULNA_OK ? ulna_work_create(m->problem, NULL, &m->work, NULL) : status;
}

static void end_bands(band_maker *m)
{
    ulna_work_destroy(m->work);
    ulna_problem_destroy(m->problem);
    ulna_pose_destroy(m->pose);
    free(m->places);
    free(m->covariance);
    free(m->deviation);
}

/* Goals where the skeleton has its markers, so that the pose is the best one; none for those that are missing. */
static ulna_status find_covariance(band_maker *m, int frame)
{
    const ulna_take *take = m->job->take;
    const double *q = ulna_clip_frame(&m->job->result.clip, frame);
    const ulna_unsure_points points = {0, (int)take->set.count, m->deviation};
    double seen[3], f;
    ulna_status status = ulna_pose_forward(m->pose, q);
    for (size_t i = 0; i < take->set.count && status == ULNA_OK; i++) {
        double *place = m->places + 3 * i;
        status = ulna_pose_point(m->pose, take->set.items[i].body, take->set.items[i].offset, place);
        if (!ulna_take_position(take, frame, (int)i, seen))
            place[0] = NAN;
    }
    if (status == ULNA_OK)
        status = ulna_problem_set_points(m->problem, 0, (int)take->set.count, m->places);
    if (status == ULNA_OK)
        status = ulna_problem_set_goal(m->problem, m->posture, q);
    if (status == ULNA_OK)
        status = ulna_work_evaluate(m->work, q, &f);
    if (status == ULNA_OK)
        status = ulna_work_covariance(m->work, NULL, NULL, m->sigma, &points, m->covariance);
    return status;
}

int report_knows_offsets(const solve_job *job)
{
    const ulna_marker_set *set = &job->take->set;
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i].deviation[0] > 0 || set->items[i].deviation[1] > 0 || set->items[i].deviation[2] > 0)
            return 1;
    return 0;
}

ulna_status report_bands(const solve_job *job, int step, int count, double *bands)
{
    band_maker m = {.job = job, .sigma = noise_of(job)};
    size_t nv = (size_t)ulna_model_dof_count(job->model);
    ulna_status status = isfinite(m.sigma) && job->attach != ATTACH_ORACLE ? begin_bands(&m) : ULNA_ERR_UNSUPPORTED;
    for (int k = 0; k < count && status == ULNA_OK; k++) {
        int frame = k * step < job->take->frame_count ? k * step : job->take->frame_count - 1;
        ulna_status found = find_covariance(&m, frame);
        for (size_t d = 0; d < nv; d++)
            bands[d * (size_t)count + (size_t)k] =
                found == ULNA_OK ? 2 * sqrt(fmax(0, m.covariance[d * nv + d])) : (double)NAN;
    }
    end_bands(&m);
    return status;
}
