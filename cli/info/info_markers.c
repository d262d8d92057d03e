/* What a recording of markers holds: names, size, gaps. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/files.h"
#include "cli/info/info.h"
#include "cli/table.h"

enum { COLUMN = 14, SHOWN_GAPS = 10 };
#define SPIKE_M 0.25 /* from one frame to the next */

typedef struct gaps {
    int marker;
    int missing;        /* frames */
    int longest, start; /* of the longest gap: frames, and the index of its first one */
    int spikes;
} gaps;

static int is_seen(const double *p)
{
    return !isnan(p[0]) && !isnan(p[1]) && !isnan(p[2]);
}

static gaps look_at(const ulna_recording *recording, int marker, double low[3], double high[3])
{
    gaps found = {.marker = marker};
    int run = 0;
    const double *before = NULL;
    for (int f = 0; f < recording->frame_count; f++) {
        const double *p = ulna_recording_frame(recording, f) + 3 * (size_t)marker;
        if (!is_seen(p)) {
            found.missing++;
            run++;
            if (run > found.longest) {
                found.longest = run;
                found.start = f - run + 1;
            }
            before = NULL;
            continue;
        }
        run = 0;
        double way = 0;
        for (int k = 0; k < 3; k++) {
            low[k] = fmin(low[k], p[k]);
            high[k] = fmax(high[k], p[k]);
            way += before ? (p[k] - before[k]) * (p[k] - before[k]) : 0;
        }
        found.spikes += way > SPIKE_M * SPIKE_M;
        before = p;
    }
    return found;
}

static int by_missing(const void *a, const void *b)
{
    const gaps *x = a, *y = b;
    return x->missing != y->missing ? y->missing - x->missing : x->marker - y->marker;
}

static void say_names(const cli *tool, const ulna_recording *recording)
{
    ulna_text text = ulna_text_empty(NULL);
    char count[32];
    snprintf(count, sizeof count, "%d:", recording->marker_count);
    ulna_status status = ulna_text_append(&text, count, strlen(count));
    for (int i = 0; i < recording->marker_count && !status; i++) {
        status = ulna_text_append(&text, " ", 1);
        if (!status)
            status = ulna_text_append(&text, recording->names[i], strlen(recording->names[i]));
    }
    cli_say(tool, "  %-*s", COLUMN - 2, "markers");
    table_wrap(tool, 0, COLUMN, COLUMN, status ? count : text.data);
    ulna_text_release(&text);
}

static void say_gaps(const cli *tool, const ulna_recording *recording, const gaps *sorted, long long missing)
{
    double positions = (double)recording->marker_count * recording->frame_count;
    if (!missing) {
        cli_say(tool, "  gaps        none\n");
        return;
    }
    cli_say(tool, "  gaps        %lld of %.0f positions missing, %.2g %%\n", missing, positions,
            100.0 * (double)missing / positions);
    table t;
    table_init(&t, "lrrl", COLUMN);
    static const char *const titles[] = {"marker", "missing", "longest", "from frame"};
    for (int i = 0; i < 4; i++)
        table_cell(&t, "%s", titles[i]);
    int shown = 0;
    for (; shown < recording->marker_count && shown < SHOWN_GAPS && sorted[shown].missing; shown++) {
        const gaps *g = &sorted[shown];
        table_cell(&t, "%s", recording->names[g->marker]);
        table_cell(&t, "%d", g->missing);
        table_cell(&t, "%d", g->longest);
        table_cell(&t, "%lld%s", (long long)g->start + recording->first_frame,
                   g->missing == recording->frame_count ? ", never seen" : "");
    }
    table_print(tool, &t, -1);
    table_release(&t);
}

static json_t *gaps_json(const ulna_recording *recording, const gaps *g)
{
    json_t *object = json_object();
    json_object_set_new(object, "name", cli_json_text(recording->names[g->marker]));
    json_object_set_new(object, "missing", json_integer(g->missing));
    json_object_set_new(object, "longest_gap", json_integer(g->longest));
    json_object_set_new(object, "gap_frame",
                        g->longest ? json_integer((json_int_t)g->start + recording->first_frame) : json_null());
    json_object_set_new(object, "spikes", json_integer(g->spikes));
    return object;
}

static void note_oddities(const ulna_recording *recording, const gaps *all, json_t *notes)
{
    int unnamed = 0, never = 0, spikes = 0;
    for (int i = 0; i < recording->marker_count; i++) {
        const char *name = recording->names[i], *colon = strrchr(name, ':');
        unnamed += !*name || name[0] == '*' || (colon && colon[1] == '*');
        never += all[i].missing == recording->frame_count;
        spikes += all[i].spikes;
    }
    if (unnamed)
        files_note_text(notes, "%d marker%s without a name of %s own (*0, ...)", unnamed, unnamed == 1 ? "" : "s",
                        unnamed == 1 ? "its" : "their");
    if (never)
        files_note_text(notes, "%d marker%s never seen", never, never == 1 ? " is" : "s are");
    if (spikes)
        files_note_text(notes, "markers jump by more than 25 cm from one frame to the next %d time%s", spikes,
                        spikes == 1 ? "" : "s");
}

void markers_tell(const cli *tool, const ulna_recording *recording, json_t *row, json_t *notes)
{
    size_t count = (size_t)recording->marker_count;
    gaps *all = calloc(count + 1, sizeof *all);
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    json_t *list = json_array();
    frames_tell(tool, recording->frame_count, recording->first_frame, recording->frame_seconds, row);
    json_object_set_new(row, "markers", json_integer(recording->marker_count));
    json_object_set_new(row, "marker_list", list);
    if (!count) {
        cli_say(tool, "  %-*snone\n", COLUMN - 2, "markers");
        free(all);
        return;
    }
    say_names(tool, recording);
    if (!all)
        return;
    for (size_t i = 0; i < count; i++) {
        all[i] = look_at(recording, (int)i, low, high);
        json_array_append_new(list, gaps_json(recording, &all[i]));
    }
    long long missing = ulna_recording_missing(recording);
    json_object_set_new(row, "missing", json_integer(missing));
    json_object_set_new(row, "low_m", cli_json_numbers(low, 3));
    json_object_set_new(row, "high_m", cli_json_numbers(high, 3));
    if (isfinite(low[0]))
        cli_say(tool, "  space       %.3f x %.3f x %.3f m (x, y, z)\n", high[0] - low[0], high[1] - low[1],
                high[2] - low[2]);
    note_oddities(recording, all, notes);
    qsort(all, count, sizeof *all, by_missing);
    say_gaps(tool, recording, all, missing);
    free(all);
}
