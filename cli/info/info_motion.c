/* What a motion holds: frames, ranges against limits, jumps. */
#include <math.h>

#include "cli/files.h"
#include "cli/info/info.h"
#include "cli/table.h"

#define DEGREE (3.14159265358979323846 / 180)
#define JUMP (90 * DEGREE) /* from one frame to the next: no joint turns so fast */

typedef struct range {
    int coordinate;
    double low, high;    /* of the motion */
    double lower, upper; /* limits */
    int outside;         /* frames */
    int jumps;
    int is_length;
} range;

void frames_tell(const cli *tool, int count, int first, double seconds, json_t *row)
{
    json_object_set_new(row, "frames", json_integer(count));
    json_object_set_new(row, "first_frame", json_integer(first));
    json_object_set_new(row, "rate_hz", seconds > 0 ? cli_json_number(1 / seconds) : json_null());
    cli_say(tool, "  frames      %d, numbered %d to %lld", count, first, (long long)first + count - 1);
    if (seconds > 0)
        cli_say(tool, "; %.6g per second, %.2f s in all\n", 1 / seconds, count * seconds);
    else
        cli_say(tool, "; the file does not say how many per second\n");
}

static range measure(const ulna_model *model, const ulna_clip *clip, int dof)
{
    range r = {.coordinate = ulna_model_dof_coordinate(model, dof),
               .low = INFINITY,
               .high = -INFINITY,
               .lower = ulna_model_lower(model)[dof],
               .upper = ulna_model_upper(model)[dof],
               .is_length = ulna_model_dof_is_translation(model, dof)};
    double before = NAN;
    for (int f = 0; f < clip->frame_count && r.coordinate != ULNA_NONE; f++) {
        double value = ulna_clip_frame(clip, f)[r.coordinate], out = fmax(r.lower - value, value - r.upper);
        r.low = fmin(r.low, value);
        r.high = fmax(r.high, value);
        r.outside += out > 1e-6;
        r.jumps += !r.is_length && fabs(value - before) > JUMP;
        before = value;
    }
    return r;
}

static json_t *range_json(const char *label, const range *r)
{
    double unit = r->is_length ? 1 : DEGREE;
    json_t *object = json_object();
    json_object_set_new(object, "dof", cli_json_text(label));
    json_object_set_new(object, "unit", json_string(r->is_length ? "m" : "deg"));
    json_object_set_new(object, "low", cli_json_number(r->low / unit));
    json_object_set_new(object, "high", cli_json_number(r->high / unit));
    json_object_set_new(object, "lower", cli_json_number(r->lower / unit));
    json_object_set_new(object, "upper", cli_json_number(r->upper / unit));
    json_object_set_new(object, "frames_outside", json_integer(r->outside));
    json_object_set_new(object, "jumps", json_integer(r->jumps));
    return object;
}

static void add_row(table *t, const char *label, const range *r)
{
    double unit = r->is_length ? 1 : DEGREE;
    table_cell(t, "%.60s", label);
    table_cell(t, "%.4g", r->low / unit);
    table_cell(t, "%.4g", r->high / unit);
    if (isfinite(r->lower) || isfinite(r->upper))
        table_cell(t, "%.4g to %.4g", r->lower / unit, r->upper / unit);
    else
        table_cell(t, "none");
    table_cell(t, "%s%s", r->is_length ? "m" : "deg", r->outside ? ", outside" : "");
}

void motion_note(const ulna_model *model, const ulna_clip_findings *found, json_t *notes)
{
    char label[300] = "";
    if (found->farthest_dof != ULNA_NONE)
        ulna_model_dof_label(model, found->farthest_dof, label, sizeof label);
    if (found->outside)
        files_note_text(notes, "%d of %d degrees of freedom with limits leave them; %s most, by %.1f degrees",
                        found->outside, found->limited, label, found->farthest_outside / DEGREE);
    if (found->jumps)
        files_note_text(notes, "angles jump by more than 90 degrees from one frame to the next %d time%s", found->jumps,
                        found->jumps == 1 ? "" : "s");
}

void motion_tell(const cli *tool, const ulna_model *model, const ulna_clip *clip, json_t *row, json_t *notes)
{
    ulna_clip_findings found = ulna_clip_check(model, clip);
    json_t *list = json_array();
    table t;
    table_init(&t, "lrrll", 2);
    static const char *const titles[] = {"value", "least", "most", "limits", "in"};
    for (int i = 0; i < 5; i++)
        table_cell(&t, "%s", titles[i]);
    frames_tell(tool, clip->frame_count, clip->first_frame, clip->frame_seconds, row);
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        char label[300];
        range r = measure(model, clip, d);
        if (r.coordinate == ULNA_NONE)
            continue;
        ulna_model_dof_label(model, d, label, sizeof label);
        json_array_append_new(list, range_json(label, &r));
        add_row(&t, label, &r);
    }
    motion_note(model, &found, notes);
    json_object_set_new(row, "ranges", list);
    if (cli_value(tool, "values")) {
        cli_say(tool, "\n");
        table_print(tool, &t, -1);
    }
    table_release(&t);
}
