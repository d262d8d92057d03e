/* Markers in the frames of bodies: robust means, and the body in whose frame a marker moves least. */
#include <math.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/calibrator_places.h"

enum { PASSES = 6 };
#define ALIKE 0.01 /* of the spread: bodies that move as one see the same */

static size_t frame_doubles(const ulna_places *p)
{
    return 12 * (size_t)p->samples * (size_t)p->bodies;
}

ulna_status ulna_places_create(const ulna_model *model, int samples, const ulna_allocator *allocator,
                               ulna_places *places)
{
    *places = (ulna_places){
        .allocator = *allocator, .model = model, .samples = samples, .bodies = ulna_model_body_count(model)};
    places->frames = ulna_allocate(allocator, frame_doubles(places), sizeof(double));
    places->x = ulna_allocate(allocator, 3 * (size_t)samples, sizeof(double));
    if (places->frames && places->x)
        return ULNA_OK;
    ulna_places_release(places);
    return ULNA_ERR_MEMORY;
}

void ulna_places_release(ulna_places *places)
{
    ulna_release(&places->allocator, places->frames, frame_doubles(places), sizeof(double));
    ulna_release(&places->allocator, places->x, 3 * (size_t)places->samples, sizeof(double));
    places->frames = places->x = NULL;
}

ulna_status ulna_places_set(ulna_places *places, ulna_pose *pose, int sample, const double *q)
{
    double *to = places->frames + 12 * (size_t)sample * (size_t)places->bodies;
    ulna_status status = ulna_pose_forward(pose, q);
    for (int b = 0; b < places->bodies && status == ULNA_OK; b++, to += 12)
        status = ulna_pose_body(pose, b, to + 9, to);
    return status;
}

static int local_place(const ulna_places *p, int sample, int body, double local[3])
{
    const double *x = p->x + 3 * (size_t)sample;
    const double *frame = p->frames + 12 * ((size_t)sample * (size_t)p->bodies + (size_t)body);
    double d[3] = {x[0] - frame[9], x[1] - frame[10], x[2] - frame[11]};
    ulna_unrotate(frame, d, local);
    return ulna_all_finite(x, 3);
}

/* Weights by the distance from the mean of the pass before, from wide to narrow: the first pass is a plain mean. */
double ulna_places_mean(const ulna_places *places, int body, double scale, double mean[3])
{
    double spread = INFINITY, local[3], off[3];
    memset(mean, 0, 3 * sizeof *mean);
    for (int pass = 0; pass <= PASSES; pass++) {
        double sum[3] = {0}, weight = 0, squares = 0, unit = scale * ldexp(1, pass < 4 ? 4 - pass : 0);
        int seen = 0;
        for (int s = 0; s < places->samples; s++) {
            if (!local_place(places, s, body, local))
                continue;
            for (int k = 0; k < 3; k++)
                off[k] = local[k] - mean[k];
            double square = ulna_dot(off, off), r = unit * unit / (unit * unit + square), w = pass ? r * r : 1;
            for (int k = 0; k < 3; k++)
                sum[k] += w * local[k];
            weight += w;
            squares += w * square;
            seen++;
        }
        if (!seen || !(weight > 0))
            return INFINITY;
        spread = squares / weight * (seen / weight); /* few that agree are no body's marker */
        for (int k = 0; k < 3; k++)
            mean[k] = sum[k] / weight;
    }
    return spread;
}

int ulna_places_nearest(const ulna_places *places, double scale, double mean[3])
{
    int best = ULNA_NONE;
    double least = INFINITY, here[3];
    for (int b = 0; b < places->bodies; b++) {
        if (b && !ulna_model_body_dofs(places->model, b, NULL)) /* it moves with its parent */
            continue;
        double spread = ulna_places_mean(places, b, scale, here);
        int is_better = spread < (1 - ALIKE) * least;
        int is_nearer = best != ULNA_NONE && spread <= (1 + ALIKE) * least && ulna_norm(here) < ulna_norm(mean);
        if (isinf(spread) || !(best == ULNA_NONE || is_better || is_nearer))
            continue;
        least = spread;
        best = b;
        ulna_copy3(here, mean);
    }
    return best;
}
