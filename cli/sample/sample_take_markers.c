/* The markers of the sample take, as a camera system might have seen them: with noise, gaps and a swap. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/sample/sample_take.h"
#include "ulna/kinematics.h"

#define NOISE_M 0.001
#define PI 3.14159265358979323846

/* Frame numbers, from 1 on, the last one too: as sample_take.h tells them. */
static const struct {
    int first, last;
} limb = {260, 295}, nothing = {420, 427}, swap = {180, 215};

/* ---- random numbers --------------------------------------------------------------------------------------------- */

static uint64_t bits(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return ((double)(bits(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double size = sqrt(-2 * log(uniform(state)));
    return size * cos(2 * PI * uniform(state));
}

/* ---- what is wrong ------------------------------------------------------------------------------------------------ */

static void hide(ulna_recording *r, int marker, int first, int last)
{
    for (int f = first; f <= last && f <= r->frame_count; f++) {
        double *at = ulna_recording_frame(r, f - 1) + 3 * (size_t)marker;
        at[0] = at[1] = at[2] = NAN;
    }
}

static void add_noise(ulna_recording *r, uint64_t *state)
{
    size_t count = (size_t)r->frame_count * (size_t)r->marker_count * 3;
    for (size_t i = 0; i < count; i++)
        r->positions[i] += NOISE_M * normal(state);
}

/* About two for each marker. */
static void add_gaps(ulna_recording *r, uint64_t *state)
{
    const double chance = 2.0 / SAMPLE_TAKE_FRAMES;
    for (int m = 0; m < r->marker_count; m++)
        for (int f = 1; f <= r->frame_count; f++)
            if (uniform(state) < chance) {
                int last = f + 2 + (int)(28 * uniform(state));
                hide(r, m, f, last);
                f = last + 1;
            }
}

static void swap_markers(ulna_recording *r, const char *a, const char *b)
{
    int i = ulna_recording_find(r, a), j = ulna_recording_find(r, b);
    if (i == ULNA_NONE || j == ULNA_NONE)
        return;
    for (int f = swap.first; f <= swap.last; f++) {
        double *at = ulna_recording_frame(r, f - 1), aside[3];
        memcpy(aside, at + 3 * i, sizeof aside);
        memcpy(at + 3 * i, at + 3 * j, sizeof aside);
        memcpy(at + 3 * j, aside, sizeof aside);
    }
}

static void spoil(ulna_recording *r)
{
    static const char *const arm[] = {"LUPA", "LELB", "LFRM", "LWRA", "LWRB", "LFIN"};
    uint64_t state = 20240229;
    add_noise(r, &state);
    add_gaps(r, &state);
    swap_markers(r, "LKNE", "RKNE");
    for (size_t i = 0; i < sizeof arm / sizeof *arm; i++) {
        int marker = ulna_recording_find(r, arm[i]);
        if (marker != ULNA_NONE)
            hide(r, marker, limb.first, limb.last);
    }
    for (int m = 0; m < r->marker_count; m++)
        hide(r, m, nothing.first, nothing.last);
}

ulna_status sample_take_markers(const ulna_model *human, const ulna_clip *clip, ulna_recording *recording,
                                ulna_error *error)
{
    int markers = ulna_model_marker_count(human);
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(human, NULL, &pose, error);
    if (!status && ulna_recording_resize(recording, markers, clip->frame_count))
        status = cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    for (int m = 0; m < markers && !status; m++)
        snprintf(recording->names[m], ULNA_MARKER_NAME, "%s", ulna_model_marker_name(human, m));
    for (int f = 0; f < clip->frame_count && !status; f++) {
        status = ulna_pose_forward(pose, ulna_clip_frame(clip, f));
        if (!status)
            status = ulna_pose_markers(pose, ulna_recording_frame(recording, f));
    }
    recording->first_frame = clip->first_frame;
    recording->frame_seconds = clip->frame_seconds;
    ulna_pose_destroy(pose);
    if (!status)
        spoil(recording);
    return status;
}
