/*
 * With options.solve.bounded every value of every frame is inside its limits, to the bit, whatever pass made the frame: followed, tracked
 * back, bridged, blended, swept, joined at a seam. What the summary says of it is measured.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support_mocap.h"
#include "support_swing.h"
#include "support_tree.h"
#include "ulna/motion.h"

enum { FRAMES = 120, TAKES = 6 };

typedef struct scene {
    ulna_test_swing swing;
    double *lower, *upper; /* nv: inside of what the true motion does, so that poses lie on them */
} scene;

static void narrow(scene *s, double share)
{
    const ulna_model *model = s->swing.model;
    s->lower = ulna_test_numbers(model->nv);
    s->upper = ulna_test_numbers(model->nv);
    for (int d = 0; d < model->nv; d++) {
        double low = INFINITY, high = -INFINITY;
        int c = model->dof_coordinate[d], is_root = d < model->body[0].dof + model->body[0].dof_count;
        for (int f = 0; f < FRAMES; f++) {
            double x = s->swing.truth[(size_t)f * (size_t)s->swing.nq + (size_t)c];
            low = fmin(low, x);
            high = fmax(high, x);
        }
        s->lower[d] = is_root ? -INFINITY : low + share * (high - low);
        s->upper[d] = is_root ? INFINITY : high - share * (high - low);
    }
}

static double *position(scene *s, int frame, int marker)
{
    return ulna_recording_frame(&s->swing.recording, frame) + 3 * (size_t)marker;
}

/* Markers vanish in groups for a while, as behind a body; some are far off, some change places. */
static void disturb(scene *s, uint64_t seed)
{
    ulna_test_rng rng = ulna_test_rng_seed(seed);
    const int count = s->swing.recording.marker_count;
    double x[4];
    for (int gap = 0; gap < 10; gap++) {
        ulna_test_rng_fill(&rng, x, 4, 0, 1);
        int first = (int)(x[0] * FRAMES), last = first + 5 + (int)(25 * x[1]), from = (int)(x[2] * count);
        for (int f = first; f < last && f < FRAMES; f++)
            for (int m = from; m < from + 2 + (int)(6 * x[3]) && m < count; m++)
                position(s, f, m)[0] = (double)NAN;
    }
    for (int stray = 0; stray < 60; stray++) {
        ulna_test_rng_fill(&rng, x, 4, 0, 1);
        position(s, (int)(x[0] * FRAMES), (int)(x[1] * count))[2] += 2 * x[2] - 1;
    }
    for (int swap = 0; swap < 3; swap++) {
        ulna_test_rng_fill(&rng, x, 4, 0, 1);
        int a = (int)(x[0] * count), b = (int)(x[1] * count), first = (int)(x[2] * FRAMES);
        for (int f = first; f < first + 15 && f < FRAMES; f++) {
            double kept[3];
            memcpy(kept, position(s, f, a), sizeof kept);
            memcpy(position(s, f, a), position(s, f, b), sizeof kept);
            memcpy(position(s, f, b), kept, sizeof kept);
        }
    }
}

static void open_scene(scene *s, uint64_t seed)
{
    *s = (scene){.swing = ulna_test_swing_make(FRAMES, 0)};
    narrow(s, 0.15);
    disturb(s, seed);
}

static void close_scene(scene *s)
{
    ulna_test_swing_release(&s->swing);
    free(s->lower);
    free(s->upper);
}

static ulna_track_options bounded(const scene *s)
{
    ulna_track_options o = ulna_track_options_default();
    o.solve.bounded = o.fresh.bounded = 1;
    o.solve.lower = o.fresh.lower = s->lower;
    o.solve.upper = o.fresh.upper = s->upper;
    return o;
}

/* How far values of the clip are outside at most, and how many are on a limit. */
static double outside(const scene *s, const ulna_clip *clip, int *on)
{
    const ulna_model *model = s->swing.model;
    double most = 0;
    *on = 0;
    for (int f = 0; f < clip->frame_count; f++)
        for (int d = 0; d < model->nv; d++) {
            double x = ulna_clip_frame(clip, f)[model->dof_coordinate[d]];
            most = fmax(most, fmax(s->lower[d] - x, x - s->upper[d]));
            *on += x == s->lower[d] || x == s->upper[d];
        }
    return most;
}

/* Returns how many frames were bridged. */
static int check(const scene *s, const ulna_track_options *options, const char *what)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    int on;
    ulna_track_summary summary = ulna_test_swing_track(&s->swing, options, &clip, NULL);
    double most = outside(s, &clip, &on);
    if (most > 0 || summary.violation != 0 || summary.violated_dof != ULNA_NONE)
        fail_msg("%s: %g rad outside; the summary says %g", what, most, summary.violation);
    assert_true(on > FRAMES); /* the limits bind */
    ulna_clip_release(&clip);
    return summary.bridged;
}

static void all_passes_keep_limits(void **state)
{
    (void)state;
    static const char *const methods[] = {"hybrid", "newton", "lm"};
    static const ulna_loss losses[] = {ULNA_LOSS_SQUARE, ULNA_LOSS_HUBER, ULNA_LOSS_GEMAN_MCCLURE};
    int bridged = 0;
    for (uint64_t seed = 1; seed <= TAKES; seed++) {
        scene s;
        open_scene(&s, seed);
        for (int k = 0; k < 9; k++) {
            char what[60];
            ulna_track_options options = bounded(&s);
            options.solve.method = options.fresh.method = methods[k % 3];
            options.loss = losses[k / 3];
            options.chunk_frames = seed % 2 ? 50 : 0;
            snprintf(what, sizeof what, "take %d, %s, loss %d", (int)seed, methods[k % 3], (int)losses[k / 3]);
            bridged += check(&s, &options, what);
        }
        close_scene(&s);
    }
    assert_true(bridged > TAKES * 9);
}

/* A method that knows no limits does not keep them, and the summary says by how much. */
static void what_is_not_kept_is_told(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, 1);
    int on;
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_track_options options = bounded(&s);
    options.solve.bounded = options.fresh.bounded = 0;
    ulna_track_summary summary = ulna_test_swing_track(&s.swing, &options, &clip, NULL);
    assert_true(outside(&s, &clip, &on) > 0.01);
    assert_true(summary.violation == 0 && summary.violated_dof == ULNA_NONE); /* nothing was asked */
    ulna_clip_release(&clip);
    options.solve.bounded = options.fresh.bounded = 1;
    options.solve.method = options.fresh.method = "pinv";
    summary = ulna_test_swing_track(&s.swing, &options, &clip, NULL);
    assert_true(summary.violation > 0.01 && summary.violation == outside(&s, &clip, &on));
    assert_true(summary.violated_dof >= 0 && summary.violated_dof < s.swing.model->nv);
    ulna_clip_release(&clip);
    close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_passes_keep_limits),
        cmocka_unit_test(what_is_not_kept_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
