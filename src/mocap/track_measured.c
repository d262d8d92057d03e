/*
 * Which degrees of freedom the markers measure. A small error says nothing about a joint beyond the last marker, or about a
 * rotation that hardly moves its markers, such as the twist of a forearm whose only marker is on its axis.
 *
 * In some frames of the take: the standard deviation of each degree of freedom by itself, if every marker is off by NOISE in each
 * direction: NOISE / sqrt(sum of |dp/dq|^2) over the markers seen. It follows from the pose, not from the error. Joints that move
 * the same markers alike, as those of a spine do, each count as measured: the markers show what they do together.
 */
#include "base/algorithms.h"
#include "base/base.h"
#include "mocap/track.h"
#include "model/model.h"
#include "ulna/kinematics.h"

enum { SAMPLES = 9 };
#define NOISE (0.01 / 1.3)              /* metres a metre of the length scale, which is 1.3 m for an adult */
#define UNMEASURED (30 * ULNA_PI / 180) /* radians: a larger deviation says nothing of the angle */
#define UNMEASURED_LENGTH 0.1           /* of the length scale, for translations */

typedef struct probe {
    const ulna_track_job *j;
    ulna_pose *pose;
    ulna_effector *markers; /* those seen in the frame at hand */
    double *jacobian;       /* 3 for each marker x nv */
    double *deviations;     /* nv x SAMPLES */
} probe;

static size_t room_of(const probe *p)
{
    return (size_t)p->j->take->model->nv * (3 * p->j->take->set.count + SAMPLES);
}

static ulna_status begin(probe *p)
{
    const ulna_take *take = p->j->take;
    p->markers = ulna_allocate(&take->allocator, take->set.count, sizeof *p->markers);
    p->deviations = ulna_allocate(&take->allocator, room_of(p), sizeof *p->deviations);
    if (!p->markers || !p->deviations)
        return ULNA_ERR_MEMORY;
    p->jacobian = p->deviations + (size_t)take->model->nv * SAMPLES;
    return ulna_pose_create(take->model, &take->allocator, &p->pose, NULL);
}

static void end(probe *p)
{
    const ulna_take *take = p->j->take;
    ulna_pose_destroy(p->pose);
    ulna_release(&take->allocator, p->markers, take->set.count, sizeof *p->markers);
    ulna_release(&take->allocator, p->deviations, room_of(p), sizeof *p->deviations);
}

/* The Jacobian of the markers that are seen, all at once: what a column needs of the pose is found once. */
static ulna_status measure(probe *p, int frame, int *count)
{
    const ulna_take *take = p->j->take;
    const double *distances = p->j->result->distances + (size_t)frame * take->set.count;
    ulna_jacobian_options options = ulna_jacobian_options_default();
    ulna_status status = ulna_pose_forward(p->pose, ulna_clip_frame(&p->j->result->clip, frame));
    options.rows = ULNA_ROWS_LINEAR;
    *count = 0;
    for (size_t i = 0; i < take->set.count; i++) {
        const ulna_attachment *marker = &take->set.items[i];
        if (!isnan(distances[i]) && marker->weight > 0)
            p->markers[(*count)++] =
                (ulna_effector){marker->body, {marker->offset[0], marker->offset[1], marker->offset[2]}};
    }
    return status == ULNA_OK && *count ? ulna_pose_jacobian(p->pose, &options, *count, p->markers, p->jacobian)
                                       : status;
}

static double sum_of_squares(const double *numbers, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += numbers[i] * numbers[i];
    return sum;
}

/* Returns how many frames could be measured. */
static size_t sample(probe *p)
{
    const unsigned useless = ULNA_TRACK_EMPTY | ULNA_TRACK_LOST;
    double noise = NOISE * ulna_marker_set_length_scale(p->j->take->model, &p->j->take->set);
    size_t found = 0;
    for (int s = 0; s < SAMPLES; s++) {
        int frame = (int)((s + 0.5) * p->j->total / SAMPLES);
        int markers;
        if (p->j->result->frames[frame].flags & useless || measure(p, frame, &markers) != ULNA_OK)
            continue;
        for (int d = 0; d < p->j->take->model->nv; d++) {
            double squares = sum_of_squares(p->jacobian + 3 * (size_t)markers * (size_t)d, 3 * markers);
            p->deviations[(size_t)d * SAMPLES + found] = squares > 0 ? noise / sqrt(squares) : (double)INFINITY;
        }
        found++;
    }
    return found;
}

/* The median over the frames. Where no frame could be measured, all that moves a marker counts as measured. */
ulna_status ulna_track_find_measured(const ulna_track_job *j, const unsigned char *is_visible)
{
    const ulna_model *model = j->take->model;
    const double far = UNMEASURED_LENGTH * ulna_marker_set_length_scale(model, &j->take->set);
    const unsigned char *locked = j->options->solve.locked;
    probe p = {.j = j};
    ulna_status status = begin(&p);
    size_t found = status == ULNA_OK && !j->options->oracle ? sample(&p) : 0;
    for (int d = 0; d < model->nv && status == ULNA_OK; d++) {
        ulna_dof_report *report = &j->result->dofs[d];
        double most = ulna_model_dof_is_translation(model, d) ? far : UNMEASURED;
        report->deviation = !is_visible[ulna_model_dof_body(model, d)] ? (double)INFINITY
                            : found ? ulna_median(p.deviations + (size_t)d * SAMPLES, found)
                                    : 0;
        report->is_measured = report->deviation <= most || (locked && locked[d]);
        j->result->trust.unmeasured += !report->is_measured;
    }
    end(&p);
    return status;
}
