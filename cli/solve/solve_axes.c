/*
 * Which axes of the recording are the skeleton's.
 *
 * If both files say which way is up, the axes are shifted until they agree. If not, the three cyclic shifts are tried:
 * with a reference motion the one in which markers keep still on their bones, else the one that fits best, or, as a
 * root that turns freely fits all three alike, the one in which the root stands upright.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

enum { SHIFTS = 3, TRIED_FRAMES = 7 };
static const char *const shift_names[SHIFTS] = {"xyz", "yzx", "zxy"};

int solve_read_axes(const char *text, double axes[9])
{
    memset(axes, 0, 9 * sizeof *axes);
    for (int row = 0; row < 3; row++) {
        double sign = *text == '-' ? -1 : 1;
        text += *text == '-' || *text == '+';
        const char *found = *text ? strchr("xyzXYZ", *text) : NULL;
        if (!found)
            return 0;
        axes[3 * row + (found - "xyzXYZ") % 3] = sign;
        text++;
    }
    double determinant = axes[0] * (axes[4] * axes[8] - axes[5] * axes[7]) -
                         axes[1] * (axes[3] * axes[8] - axes[5] * axes[6]) +
                         axes[2] * (axes[3] * axes[7] - axes[4] * axes[6]);
    return !*text && determinant > 0.5;
}

static void use_shift(solve_job *job, int shift)
{
    solve_read_axes(shift_names[shift], job->axes);
}

/* model[up of the model] = recording[up of the recording] */
static int shift_between(char recording_up, char model_up)
{
    return (recording_up - model_up + SHIFTS) % SHIFTS;
}

static ulna_status by_reference(solve_job *job, ulna_error *error)
{
    double spread[SHIFTS];
    int best = 0;
    ulna_status status = ULNA_OK;
    for (int s = 0; s < SHIFTS && !status; s++) {
        use_shift(job, s);
        status = solve_attach_by_reference(job, NULL, &spread[s], error);
        best = !status && spread[s] < spread[best] ? s : best;
    }
    use_shift(job, best);
    if (!status)
        snprintf(job->axes_text, sizeof job->axes_text,
                 "%s of the recording are the skeleton's xyz: that fits the reference motion", shift_names[best]);
    return status;
}

/* How far the root's up leans from where it points at rest: 0 upright, 1 lying, 2 upside down. */
static double lean(const double rest[9], const double now[9], int up)
{
    double upright = 0; /* of up = R_now R_rest^T up */
    for (int k = 0; k < 3; k++)
        upright += now[3 * up + k] * rest[3 * up + k];
    return 1 - upright;
}

typedef struct attempt {
    double f, lean;
} attempt;

static ulna_status try_shift(const solve_job *job, ulna_tracker *tracker, ulna_pose *pose, double *memory, int up,
                             attempt *result)
{
    double *positions = memory, *q = memory + 3 * job->set.count, rest[9], now[9];
    int solved = 0;
    ulna_status status = ulna_pose_forward(pose, ulna_model_rest(job->model));
    ulna_pose_body(pose, 0, NULL, rest);
    for (int k = 0; k < TRIED_FRAMES && !status; k++) {
        int frame = (int)((double)job->take.frame_count * (k + 0.5) / TRIED_FRAMES);
        ulna_frame_report report;
        for (size_t i = 0; i < job->set.count; i++)
            if (!solve_marker_at(job, frame, job->source[i], positions + 3 * i))
                positions[3 * i] = positions[3 * i + 1] = positions[3 * i + 2] = NAN;
        ulna_tracker_reset(tracker, NULL);
        status = ulna_tracker_frame(tracker, positions, q, &report);
        if (status || !report.seen)
            continue;
        status = ulna_pose_forward(pose, q);
        ulna_pose_body(pose, 0, NULL, now);
        result->f += report.f;
        result->lean += lean(rest, now, up);
        solved++;
    }
    result->f = solved ? result->f / solved : INFINITY;
    result->lean = solved ? result->lean / solved : INFINITY;
    return status;
}

static void decide(solve_job *job, const attempt attempts[SHIFTS])
{
    int fits = 0, upright = 0;
    for (int s = 1; s < SHIFTS; s++) {
        fits = attempts[s].f < attempts[fits].f ? s : fits;
        upright = attempts[s].lean < attempts[upright].lean ? s : upright;
    }
    int is_clear = 1;
    for (int s = 0; s < SHIFTS; s++)
        is_clear &= s == fits || attempts[fits].f < 0.5 * attempts[s].f;
    int best = is_clear ? fits : upright;
    use_shift(job, best);
    snprintf(job->axes_text, sizeof job->axes_text,
             "%s of the recording are the skeleton's xyz: tried, that %s; --up or --axes says otherwise",
             shift_names[best], is_clear ? "fits best" : "stands upright");
}

static ulna_status by_trying(solve_job *job, char up, ulna_error *error)
{
    attempt attempts[SHIFTS] = {{0}};
    ulna_track_options options = job->options;
    ulna_tracker *tracker = NULL;
    ulna_pose *pose = NULL;
    size_t room = 3 * job->set.count + (size_t)ulna_model_coordinate_count(job->model);
    double *memory = calloc(room, sizeof *memory);
    options.fresh.restarts = 8;
    options.loss = ULNA_LOSS_SQUARE;
    options.global = 0;
    if (!memory)
        return cli_fail(error, ULNA_ERR_MEMORY, "out of memory");
    ulna_status status = ulna_tracker_create(job->model, &job->set, &options, NULL, &tracker, error);
    if (!status)
        status = ulna_pose_create(job->model, NULL, &pose, error);
    for (int s = 0; s < SHIFTS && !status; s++) {
        use_shift(job, s);
        status = try_shift(job, tracker, pose, memory, up - 'x', &attempts[s]);
        if (status)
            cli_fail(error, status, "the recording's axes cannot be found: %s", ulna_status_text(status));
    }
    if (!status)
        decide(job, attempts);
    ulna_pose_destroy(pose);
    ulna_tracker_destroy(tracker);
    free(memory);
    return status;
}

ulna_status solve_find_axes(solve_job *job, ulna_error *error)
{
    char up = job->up_given ? job->up_given : job->markers.source.up;
    char model_up = job->skeleton->source.up ? job->skeleton->source.up : 'y';
    if (*job->axes_given) {
        solve_read_axes(job->axes_given, job->axes);
        snprintf(job->axes_text, sizeof job->axes_text, "%s of the recording are the skeleton's xyz", job->axes_given);
        return ULNA_OK;
    }
    if (job->up_given || (up && job->skeleton->source.up)) {
        int shift = shift_between(up, model_up);
        use_shift(job, shift);
        snprintf(job->axes_text, sizeof job->axes_text,
                 "%s of the recording are the skeleton's xyz: %c is up there, %c here", shift_names[shift], up,
                 model_up);
        return ULNA_OK;
    }
    return job->reference.frame_count ? by_reference(job, error) : by_trying(job, model_up, error);
}
