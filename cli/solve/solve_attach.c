/*
 * Where markers sit, from a motion of the same take: a marker belongs to the bone that sees it move least.
 *
 * In the frame of bone b marker m stands at x(f) = R_b(f)^T (p_m(f) - o_b(f)). Its offset there is the mean of x over
 * the frames, and how well b carries m is the variance. Bones that move as one with another see the same variance: then
 * the nearest one has it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

enum { MOST_FRAMES = 400 }; /* that are looked at, spread over the take */

typedef struct place {
    int count;
    double sum[3], squares;
} place;

int solve_marker_at(const solve_job *job, int frame, int marker, double position[3])
{
    const double *p = ulna_recording_frame(&job->take, frame) + 3 * (size_t)marker;
    if (isnan(p[0]) || isnan(p[1]) || isnan(p[2]))
        return 0;
    for (int k = 0; k < 3 && job->is_turned; k++)
        position[k] = p[k];
    for (int k = 0; k < 3 && !job->is_turned; k++)
        position[k] = job->axes[3 * k] * p[0] + job->axes[3 * k + 1] * p[1] + job->axes[3 * k + 2] * p[2];
    return 1;
}

static void add_frame(const solve_job *job, const ulna_pose *pose, int frame, int bodies, place *places)
{
    for (int b = 0; b < bodies; b++) {
        double origin[3], rotation[9], position[3];
        ulna_pose_body(pose, b, origin, rotation);
        for (int m = 0; m < job->take.marker_count; m++) {
            place *at = &places[m * bodies + b];
            if (!solve_marker_at(job, frame, m, position))
                continue;
            at->count++;
            for (int k = 0; k < 3; k++) {
                double x = 0;
                for (int i = 0; i < 3; i++)
                    x += rotation[3 * i + k] * (position[i] - origin[i]);
                at->sum[k] += x;
                at->squares += x * x;
            }
        }
    }
}

static double squared_mean(const place *at)
{
    return (at->sum[0] * at->sum[0] + at->sum[1] * at->sum[1] + at->sum[2] * at->sum[2]) /
           ((double)at->count * at->count);
}

static double variance(const place *at)
{
    return fmax(0, at->squares / at->count - squared_mean(at));
}

static int best_body(const place *places, int bodies)
{
    double least = INFINITY;
    int best = ULNA_NONE;
    for (int b = 0; b < bodies; b++)
        least = places[b].count ? fmin(least, variance(&places[b])) : least;
    for (int b = 0; b < bodies && isfinite(least); b++)
        if (variance(&places[b]) <= 1.0001 * least + 1e-12 &&
            (best == ULNA_NONE || squared_mean(&places[b]) < squared_mean(&places[best])))
            best = b;
    return best;
}

/* Points that the recording system could not name are there as *0, *1, ...: no marker stays behind such a name. */
static int is_unnamed(const char *name)
{
    return name[0] == '*';
}

static const char *without_prefix(const char *name)
{
    const char *colon = strrchr(name, ':');
    return colon && colon[1] ? colon + 1 : name;
}

static ulna_status choose(const solve_job *job, const place *places, int bodies, ulna_marker_set *set, double *spread)
{
    double sum = 0;
    int count = 0;
    for (int m = 0; m < job->take.marker_count; m++) {
        const place *row = places + (size_t)m * (size_t)bodies;
        const char *name = without_prefix(job->take.names[m]);
        int body = is_unnamed(name) ? ULNA_NONE : best_body(row, bodies);
        if (body == ULNA_NONE)
            continue;
        double offset[3];
        for (int k = 0; k < 3; k++)
            offset[k] = row[body].sum[k] / row[body].count;
        sum += variance(&row[body]);
        count++;
        /* the name alone, unless another subject has a marker of the same name */
        const char *own = ulna_recording_find(&job->take, name) == m ? name : job->take.names[m];
        ulna_status status = set ? ulna_marker_set_add(set, own, body, offset, 1) : ULNA_OK;
        if (status)
            return status;
    }
    if (spread)
        *spread = count ? sqrt(sum / count) : INFINITY;
    return ULNA_OK;
}

ulna_status solve_attach_by_reference(const solve_job *job, ulna_marker_set *set, double *spread, ulna_error *error)
{
    int bodies = ulna_model_body_count(job->model), frames = job->take.frame_count;
    int stride = (frames + MOST_FRAMES - 1) / MOST_FRAMES;
    ulna_pose *pose = NULL;
    place *places = calloc((size_t)bodies * (size_t)job->take.marker_count + 1, sizeof *places);
    if (!places)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    ulna_status status = ulna_pose_create(job->model, NULL, &pose, error);
    for (int f = 0; f < frames && !status; f += stride) {
        int at = f + job->reference_shift;
        if (at < 0 || at >= job->reference.frame_count)
            continue;
        status = ulna_pose_forward(pose, ulna_clip_frame(&job->reference, at));
        if (status)
            cli_fail(error, status, "frame %d of the reference is not a pose", at + job->reference.first_frame);
        else
            add_frame(job, pose, f, bodies, places);
    }
    if (!status && choose(job, places, bodies, set, spread))
        status = cli_fail(error, ULNA_ERR_MEMORY, "no room for the markers");
    free(places);
    ulna_pose_destroy(pose);
    return status;
}
