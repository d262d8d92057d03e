/* Whether to trust a take, and the frames to look at: for --json, for people, and for the report, all from the same objects. */
#include "cli/output.h"
#include "cli/solve/solve.h"

/* In the order in which they are shown. */
const solve_mark solve_marks[] = {
    {ULNA_TRACK_LOST, "lost", NULL, "lost", "the error is far above that of other frames", "reject"},
    {ULNA_TRACK_DOUBTFUL, "doubtful", NULL, "doubtful", "the pose may be wrong", "c3"},
    {ULNA_TRACK_JUMP, "jumps", NULL, "at a jump", "a joint rotates faster than people do", "c1"},
    {ULNA_TRACK_BRIDGED, "bridged", NULL, "bridged", "no marker shows a limb, which is led across", "c5"},
    {ULNA_TRACK_RECOVERED, "recovered", NULL, "recovered", "the track was lost and found again", "c2"},
    {ULNA_TRACK_EMPTY, "empty", NULL, "empty", "no marker is seen, and the pose is interpolated", "rule"},
    {ULNA_TRACK_LIMITS, "limits", NULL, "far outside a limit", "an angle is more than 20 degrees outside its limits",
     "c7"},
    {ULNA_TRACK_OUTLIERS, "outliers", "outlier_frames", NULL, "markers that are too far off hardly count", "c4"},
    {0},
};

/* ---- ranges ---------------------------------------------------------------------------------------------------------- */

static json_t *make_range(int first, int last)
{
    json_t *range = json_array();
    json_array_append_new(range, json_integer(first));
    json_array_append_new(range, json_integer(last));
    return range;
}

/* Returns the number of frames. */
static int put_ranges(const solve_job *job, const solve_mark *mark, json_t *list)
{
    int count = job->take->frame_count, first = job->take->first_frame, frames = 0, begun = -1;
    for (int f = 0; f <= count; f++) {
        int is_marked = f < count && (job->result.frames[f].flags & mark->flag);
        frames += is_marked != 0;
        if (is_marked && begun < 0)
            begun = f;
        if (is_marked || begun < 0)
            continue;
        json_array_append_new(list, make_range(begun + first, f - 1 + first));
        begun = -1;
    }
    return frames;
}

/* ---- reasons --------------------------------------------------------------------------------------------------------- */

static void add_reason(json_t *reasons, const char *format, ...) ULNA_PRINTF(2, 3);

static void add_reason(json_t *reasons, const char *format, ...)
{
    char text[200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    json_array_append_new(reasons, cli_json_text(text));
}

static void add_rejections(const solve_job *job, json_t *reasons)
{
    const ulna_trust *trust = &job->result.trust;
    const ulna_track_summary *s = &job->result.summary;
    double mm = 1e3 * trust->typical_rms;
    if (trust->reasons & ULNA_REASON_POOR)
        add_reason(reasons, "errors of %.0f mm are more than skin moves on bones", mm);
    else if (trust->reasons & ULNA_REASON_ROUGH)
        add_reason(reasons, "errors of %.0f mm are large (rough offsets)", mm);
    if (trust->reasons & ULNA_REASON_UNDETERMINED)
        add_reason(reasons, "%d marker%s cannot determine %d degrees of freedom", s->markers_used,
                   s->markers_used == 1 ? "" : "s", trust->dofs_moved);
    if (trust->reasons & ULNA_REASON_LOST)
        add_reason(reasons, "more than a tenth of the frames are lost");
    if (trust->reasons & ULNA_REASON_UNSURE)
        add_reason(reasons, "more than half of the frames are lost, doubtful, bridged or empty");
    if (trust->reasons & ULNA_REASON_MISPLACED)
        add_reason(reasons, "more than a quarter of the markers are attached in the wrong place");
    if (trust->reasons & ULNA_REASON_IMPLAUSIBLE)
        add_reason(reasons, "more than a quarter of the angles are far outside their limits");
}

static void add_looks(const solve_job *job, json_t *reasons)
{
    const ulna_trust *trust = &job->result.trust;
    int swaps = job->result.swap_count;
    for (const solve_mark *mark = solve_marks; mark->flag; mark++) {
        long long count = json_integer_value(json_object_get(job->object, solve_mark_count(mark)));
        if (count && mark->text)
            add_reason(reasons, "%lld frame%s %s", count, count == 1 ? " is" : "s are", mark->text);
    }
    if (trust->reasons & ULNA_REASON_OUTLIERS)
        add_reason(reasons, "markers are too far off to count in more than half of the frames");
    if (trust->misplaced)
        add_reason(reasons, "%d marker%s too far off in most frames", trust->misplaced,
                   trust->misplaced == 1 ? " is" : "s are");
    if (swaps)
        add_reason(reasons, "markers are swapped in %d range%s of frames", swaps, swaps == 1 ? "" : "s");
    if (trust->angles_outside)
        add_reason(reasons, "%d angle%s far outside %s limits for more than a tenth of the take", trust->angles_outside,
                   trust->angles_outside == 1 ? " is" : "s are", trust->angles_outside == 1 ? "its" : "their");
}

const char *solve_mark_count(const solve_mark *mark)
{
    return mark->count_key ? mark->count_key : mark->label;
}

void solve_add_verdict(solve_job *job)
{
    static const char *const names[] = {"trust", "look", "reject"};
    json_t *ranges = put_object(job->object, "ranges");
    for (const solve_mark *mark = solve_marks; mark->flag; mark++)
        put_count(job->object, solve_mark_count(mark), put_ranges(job, mark, put_list(ranges, mark->label)));
    put_text(job->object, "verdict", names[job->result.trust.verdict]);
    json_t *reasons = put_list(job->object, "reasons");
    add_rejections(job, reasons);
    add_looks(job, reasons);
    put_text(job->shown, "verdict", solve_verdict_text(job->result.trust.verdict));
}

const char *solve_verdict_text(ulna_verdict verdict)
{
    static const char *const texts[] = {"trust it", "look at it before you use it", "do not use it"};
    return texts[verdict];
}

/* ---- for people ------------------------------------------------------------------------------------------------------ */

/* "12-20, 31 and 4 more" */
static void ranges_text(const json_t *list, char *text, size_t size)
{
    enum { SHOWN = 6 };
    size_t count = json_array_size(list), length = 0;
    for (size_t i = 0; i < count && i < SHOWN && length < size; i++) {
        const json_t *range = json_array_get(list, i);
        long long first = json_integer_value(json_array_get(range, 0)),
                  last = json_integer_value(json_array_get(range, 1));
        length += (size_t)snprintf(text + length, size - length, "%s%lld", i ? ", " : "", first);
        if (last > first && length < size)
            length += (size_t)snprintf(text + length, size - length, " to %lld", last);
    }
    if (count > SHOWN && length < size)
        snprintf(text + length, size - length, " and %zu more", count - SHOWN);
}

void solve_say_verdict(const cli *tool, const solve_job *job)
{
    fact_line(tool, job->shown, "verdict", "{verdict}[{r.reasons?}: {r.reasons}]");
}

void solve_say_ranges(const cli *tool, const solve_job *job)
{
    for (const solve_mark *mark = solve_marks; mark->flag; mark++) {
        const json_t *list = json_object_get(json_object_get(job->object, "ranges"), mark->label);
        long long count = json_integer_value(json_object_get(job->object, solve_mark_count(mark)));
        char text[300] = "";
        ranges_text(list, text, sizeof text);
        if (count)
            fact_text(tool, mark->label, "%lld frame%s: %s (%s)", count, count == 1 ? "" : "s", text, mark->meaning);
    }
}
