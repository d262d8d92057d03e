/* Whether to trust a take, and the frames to look at: for --json, for people, and for the report, all from the same objects. */
#include "cli/input.h"
#include "cli/output.h"
#include "cli/solve/solve.h"

/* In the order in which they are shown. */
const solve_mark solve_marks[] = {
    {ULNA_TRACK_LOST, "lost", NULL, "the error is far above that of other frames", "reject"},
    {ULNA_TRACK_DOUBTFUL, "doubtful", NULL, "the pose may be wrong", "c3"},
    {ULNA_TRACK_JUMP, "jumps", NULL, "a joint rotates faster than people do", "c1"},
    {ULNA_TRACK_BRIDGED, "bridged", NULL, "no marker shows a limb: interpolated between the frames that do", "c5"},
    {ULNA_TRACK_RECOVERED, "recovered", NULL, "the track was lost and found again", "c2"},
    {ULNA_TRACK_EMPTY, "empty", NULL,
     "no marker is seen: interpolated, or held before the first and after the last one", "rule"},
    {ULNA_TRACK_LIMITS, "limits", NULL, "an angle is more than 20 degrees outside its limits", "c7"},
    {ULNA_TRACK_OUTLIERS, "outliers", "outlier_frames", "markers that are too far off hardly count", "c4"},
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

/* A word for programs. */
static const char *name_of(unsigned code)
{
    static const struct {
        unsigned code;
        const char *name;
    } names[] = {{ULNA_REASON_POOR, "poor"},
                 {ULNA_REASON_UNDETERMINED, "undetermined"},
                 {ULNA_REASON_LOST, "lost"},
                 {ULNA_REASON_UNSURE, "unsure"},
                 {ULNA_REASON_MISPLACED, "misplaced"},
                 {ULNA_REASON_IMPLAUSIBLE, "implausible"},
                 {ULNA_REASON_FRAMES, "frames"},
                 {ULNA_REASON_MARKERS, "markers"},
                 {ULNA_REASON_ROUGH, "rough"},
                 {ULNA_REASON_OUTLIERS, "outliers"},
                 {ULNA_REASON_LIMITS, "limits"},
                 {ULNA_REASON_UNMEASURED, "unmeasured"},
                 {ULNA_REASON_CUT, "cut"},
                 {ULNA_REASON_OFFSETS, "offsets"},
                 {ULNA_REASON_LENGTHS, "lengths"},
                 {ULNA_REASON_SHIFTED, "shifted"}};
    size_t i = 0;
    while (i + 1 < sizeof names / sizeof *names && names[i].code != code)
        i++;
    return names[i].name;
}

/* Findings that the verdict does not count are notes. */
static void put_reasons(const solve_job *job)
{
    json_t *reasons = put_list(job->object, "reasons"), *codes = put_list(job->object, "reason_codes");
    const ulna_findings *findings = &job->result.findings;
    for (int i = 0; i < findings->count; i++) {
        const ulna_finding *finding = &findings->list[i];
        if (!(finding->code & job->result.trust.reasons)) {
            files_note_text(job->notes, "%s", finding->text);
            continue;
        }
        json_array_append_new(reasons, cli_json_text(finding->text));
        json_array_append_new(codes, cli_json_text(name_of(finding->code)));
    }
}

/* By their names. */
static void put_unmeasured(const solve_job *job)
{
    json_t *list = put_list(job->object, "unmeasured");
    char label[300];
    for (int d = 0; d < ulna_model_dof_count(job->model); d++)
        if (!job->result.dofs[d].is_measured && ulna_model_dof_label(job->model, d, label, sizeof label))
            json_array_append_new(list, cli_json_text(label));
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
    put_reasons(job);
    put_unmeasured(job);
    put_text(job->shown, "verdict", solve_verdict_text(job->result.trust.verdict));
    put_count(job->shown, "reason_count", (long long)json_array_size(json_object_get(job->object, "reasons")));
    put_flag(job->shown, "is_partly", job->result.trust.verdict == ULNA_VERDICT_TRUST && job->result.trust.unmeasured);
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

/* Several reasons have a line each: they are sentences with commas of their own. */
void solve_say_verdict(const cli *tool, const solve_job *job)
{
    const json_t *reasons = json_object_get(job->object, "reasons");
    size_t count = json_array_size(reasons);
    fact_line(tool, job->shown, "verdict",
              count > 1
                  ? "{verdict}: {reason_count} reasons"
                  : "{verdict}[{is_partly?}, but for joints that no marker measures (see the note)][{r.reasons?}: "
                    "{r.reasons}]");
    for (size_t i = 0; i < count && count > 1 && !tool->json && !tool->quiet; i++)
        fact_text(tool, i ? "" : "reasons", "%s", json_string_value(json_array_get(reasons, i)));
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
