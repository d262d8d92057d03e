/* How far a solved take is to be trusted: what a small error does not tell. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/solve/solve.h"

#define POOR 0.03       /* metres: more than skin and soft tissue move */
#define MOST_FRAMES 0.5 /* of those in which a marker is seen: then it is not the marker that is wrong */
enum {
    LONG_GAP = 12, /* frames: shorter ones are bridged by motion */
    MOST_GAPS = 6,
    NUMBERS = 3 /* that a marker gives */
};

static void find_unmarked(solve_job *job)
{
    const unsigned marks = ULNA_TRACK_EMPTY | ULNA_TRACK_RECOVERED | ULNA_TRACK_LOST | ULNA_TRACK_OUTLIERS;
    double sum = 0;
    job->unmarked = 0;
    for (int f = 0; f < job->take.frame_count; f++)
        if (!(job->frames[f].flags & marks)) {
            sum += job->frames[f].rms;
            job->unmarked++;
        }
    job->unmarked_rms = job->unmarked ? sum / job->unmarked : (double)NAN;
}

static void note_error(const solve_job *job)
{
    double rms = job->unmarked ? job->unmarked_rms : job->summary.rms_mean;
    if (rms > POOR)
        files_note_text(job->notes,
                        "errors of %.0f mm are more than skin moves: markers attached elsewhere, another person's "
                        "skeleton, or another take's reference; `ulna calibrate` tells more",
                        1e3 * rms);
}

/* One that is off nearly always is not where the attachment has it. */
static void note_misplaced(const solve_job *job)
{
    for (size_t i = 0; i < job->set.count; i++)
        if (job->marker[i].outliers > MOST_FRAMES * job->marker[i].seen)
            files_note_text(
                job->notes,
                "%s is too far off to count in %d of %d frames: it is attached elsewhere rather than stray; "
                "calibrate again",
                job->set.items[i].marker, job->marker[i].outliers, job->marker[i].seen);
}

/* Degrees of freedom that some marker moves, against what the markers can tell. */
static void note_undetermined(const solve_job *job)
{
    const ulna_model *model = job->model;
    int bodies = ulna_model_body_count(model), moving = 0, all = ulna_model_dof_count(model), used = 0, first;
    unsigned char *carries = calloc((size_t)bodies + 1, 1);
    for (size_t i = 0; carries && i < job->set.count; i++)
        if (job->marker[i].seen) {
            used++;
            for (int b = job->set.items[i].body; b != ULNA_NONE && !carries[b]; b = ulna_model_body_parent(model, b))
                carries[b] = 1;
        }
    for (int b = 0; carries && b < bodies; b++)
        moving += carries[b] ? ulna_model_body_dofs(model, b, &first) : 0;
    if (carries && moving < all)
        files_note_text(job->notes, "%d of %d degrees of freedom move no marker that is seen: they stay as they began",
                        all - moving, all);
    if (carries && NUMBERS * used < moving)
        files_note_text(
            job->notes,
            "%d marker%s give%s %d numbers a frame: that does not determine %d degrees of freedom, however small "
            "the error",
            used, used == 1 ? "" : "s", used == 1 ? "s" : "", NUMBERS * used, moving);
    free(carries);
}

/* ---- limbs that are not seen for a while -------------------------------------------------------------------------- */

typedef struct gap {
    int body, first, last; /* frames of the take */
} gap;

static void note_gaps(const solve_job *job, const gap *gaps, int count, int more)
{
    for (int i = 0; i < count; i++)
        files_note_text(job->notes,
                        "no marker on %s, or beyond, is seen in frames %d to %d: it is held where it was seen last",
                        ulna_model_body_name(job->model, gaps[i].body), gaps[i].first + job->take.first_frame,
                        gaps[i].last + job->take.first_frame);
    if (more)
        files_note_text(job->notes, "and %d more such gaps of a limb", more);
}

/* Bodies on the way to a marker that is seen in the frame; or, with frame < 0, in any. */
static void find_visible(const solve_job *job, int frame, unsigned char *visible)
{
    double position[3];
    memset(visible, 0, (size_t)ulna_model_body_count(job->model));
    for (size_t i = 0; i < job->set.count; i++)
        if (frame < 0 ? job->marker[i].seen > 0 : solve_marker_at(job, frame, job->source[i], position))
            for (int b = job->set.items[i].body; b != ULNA_NONE && !visible[b];
                 b = ulna_model_body_parent(job->model, b))
                visible[b] = 1;
}

/* A gap counts for the body nearest to the root alone; of a whole frame, the frame is called empty. */
static void find_gaps(const solve_job *job, unsigned char *ever, unsigned char *now, int *since)
{
    gap gaps[MOST_GAPS];
    int count = 0, more = 0, bodies = ulna_model_body_count(job->model);
    find_visible(job, -1, ever);
    for (int b = 0; b < bodies; b++)
        since[b] = -1;
    for (int f = 0; f <= job->take.frame_count; f++) {
        if (f < job->take.frame_count)
            find_visible(job, f, now);
        else
            memset(now, 1, (size_t)bodies);
        for (int b = 1; b < bodies; b++) {
            int parent = ulna_model_body_parent(job->model, b);
            int is_gap = ever[b] && !now[b] && now[parent];
            if (is_gap && since[b] < 0)
                since[b] = f;
            if (is_gap || since[b] < 0)
                continue;
            if (f - since[b] >= LONG_GAP && count < MOST_GAPS)
                gaps[count++] = (gap){b, since[b], f - 1};
            else
                more += f - since[b] >= LONG_GAP;
            since[b] = -1;
        }
    }
    note_gaps(job, gaps, count, more);
}

static void note_unseen(const solve_job *job)
{
    size_t bodies = (size_t)ulna_model_body_count(job->model);
    unsigned char *marks = calloc(2 * bodies, 1);
    int *since = calloc(bodies, sizeof *since);
    if (marks && since)
        find_gaps(job, marks, marks + bodies, since);
    free(marks);
    free(since);
}

void solve_note_trust(solve_job *job)
{
    find_unmarked(job);
    note_error(job);
    note_misplaced(job);
    note_undetermined(job);
    note_unseen(job);
    motion_note(job->model, &job->clip, job->notes);
}
