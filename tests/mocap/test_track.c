/* Tracking: the real take of HDM05 with its calibrated offsets, and synthetic gaps, spikes and swaps; marker tables. */
#include "mocap/take.h"
#include "support_hdm05.h"
#include "support_mocap.h"
#include "support_model.h"
#include "support_swing.h"
#include "support_tree.h"
#include "ulna/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- marker sets --------------------------------------------------------------------------------------------------------- */

static ulna_status read_set(const ulna_model *model, const char *text, ulna_marker_set *set, ulna_error *error)
{
    *set = ulna_marker_set_empty(NULL);
    return ulna_marker_set_read_csv(text, strlen(text), model, set, error);
}

static void marker_tables_are_read_and_written(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_marker_set set, again;
    ulna_error error;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    const char *good = "# a comment\n# unit: mm\r\nmarker;bone;x;y;z\r\nA;flange;1;2;3\r\n\"B b\" ; elbow ; -1e1 ; 0 ; "
                       ".5 \n\nC;base;0;0;0;\n";
    assert_int_equal(read_set(model, good, &set, &error), ULNA_OK);
    assert_int_equal(set.count, 3);
    assert_string_equal(set.items[1].marker, "B b");
    assert_true(fabs(set.items[0].offset[2] - 0.003) < 1e-15 && set.items[1].offset[0] == -0.01);
    assert_true(set.items[2].weight == 1);

    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    assert_int_equal(ulna_marker_set_write_csv(&set, model, &sink, &error), ULNA_OK);
    assert_int_equal(read_set(model, text.data, &again, &error), ULNA_OK);
    assert_int_equal(again.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_memory_equal(again.items[i].offset, set.items[i].offset, sizeof set.items[i].offset);
    ulna_marker_set_release(&again);
    ulna_marker_set_release(&set);
    ulna_text_release(&text);

    assert_int_equal(read_set(model, "# unit: mm\nA,flange,1,2,3,0.5,4,5,6\nB,elbow,1,2,3,,7\n", &set, &error),
                     ULNA_OK);
    assert_true(set.items[0].weight == 0.5 && set.items[1].weight == 1 && set.items[1].deviation[1] == 0);
    assert_true(fabs(set.items[0].deviation[2] - 0.006) < 1e-15 && fabs(set.items[1].deviation[0] - 0.007) < 1e-15);
    assert_int_equal(ulna_marker_set_write_csv(&set, model, &sink, &error), ULNA_OK);
    assert_non_null(strstr(text.data, "marker,bone,x_m,y_m,z_m,weight,deviation_x_m,deviation_y_m,deviation_z_m\n"));
    assert_int_equal(read_set(model, text.data, &again, &error), ULNA_OK);
    assert_memory_equal(again.items, set.items, set.count * sizeof *set.items);
    ulna_text_release(&text);
    set.is_undetermined = set.has_other_lengths = 1; /* in columns of their own */
    assert_int_equal(ulna_marker_set_write_csv(&set, model, &sink, &error), ULNA_OK);
    assert_non_null(strstr(text.data, "deviation_z_m,offsets,lengths\nA,flange,0.001,0.002,0.003,0.5,0.004,0.005,0.006,"
                                      "undetermined,others\n"));
    ulna_marker_set_release(&again);
    assert_int_equal(read_set(model, text.data, &again, &error), ULNA_OK);
    assert_memory_equal(again.items, set.items, set.count * sizeof *set.items);
    assert_true(again.is_undetermined && again.has_other_lengths);
    ulna_text_release(&text);
    set.items[0].deviation[1] = NAN;
    assert_says(ulna_marker_set_write_csv(&set, model, &sink, &error), ULNA_ERR_NUMBER, "deviation");
    ulna_marker_set_release(&again);
    ulna_marker_set_release(&set);
    assert_says(read_set(model, "A,flange,1,2,3,1,0,-1,0\n", &set, &error), ULNA_ERR_PARSE, "deviation must be");
    assert_says(read_set(model, "A,flange,1,2,3,1,0,0,0,0\n", &set, &error), ULNA_ERR_PARSE, "more than 9 cells");

    assert_says(read_set(model, "A,flange,1,2\n", &set, &error), ULNA_ERR_PARSE, "marker, bone, x, y, z");
    assert_int_equal(error.line, 1);
    assert_says(read_set(model, "# x\nA,flange,1,2,3\nB,wing,1,2,3\n", &set, &error), ULNA_ERR_PARSE, "wing");
    assert_int_equal(error.line, 3);
    assert_says(read_set(model, "A,flange,1,2,3\nA,elbow,1,2,3\n", &set, &error), ULNA_ERR_PARSE, "twice");
    assert_says(read_set(model, "A,flange,1x,2,3\nB,elbow,1,2,3\n", &set, &error), ULNA_ERR_PARSE,
                "1x"); /* no heading */
    assert_says(read_set(model, "A,flange,nan,nan,nan\n", &set, &error), ULNA_ERR_PARSE, "nan");
    assert_says(read_set(model, "A,flange,1,2,3\nB,elbow,nan,2,3\n", &set, &error), ULNA_ERR_PARSE, "nan");
    assert_says(read_set(model, "A,flange,1,2,3,-1\n", &set, &error), ULNA_ERR_PARSE, "weight");
    assert_says(read_set(model, "# unit: miles\nA,flange,1,2,3\n", &set, &error), ULNA_ERR_PARSE, "unit");
    assert_says(read_set(model, "\n\n", &set, &error), ULNA_ERR_PARSE, "no markers");
    assert_says(read_set(model, "\"A,flange,1,2,3\n", &set, &error), ULNA_ERR_PARSE, "marker, bone, x, y, z");
    assert_says(read_set(model, "A,flange,1e999,2,3\n", &set, &error), ULNA_ERR_PARSE, "1e999");
    assert_says(read_set(model, "# unit: km\nA,flange,1e308,2,3\n", &set, &error), ULNA_ERR_PARSE, "1e308");

    /* the heading states the unit, in any of the usual ways, and has columns of notes */
    static const char *const headings[] = {"marker,bone,x_cm,y_cm,z_cm,weight", "marker,bone,X (cm),Y (cm),Z (cm)",
                                           "name,body,x [cm],y,z,weight", "# unit: cm\nmarker,bone,x_cm,y_cm,z_cm"};
    for (size_t i = 0; i < sizeof headings / sizeof *headings; i++) {
        char table[160];
        snprintf(table, sizeof table, "%s\nA,flange,10,20,30\n", headings[i]);
        assert_int_equal(read_set(model, table, &set, &error), ULNA_OK);
        assert_true(set.items[0].offset[0] == 0.1 && set.items[0].offset[2] == 0.3 && !set.is_undetermined);
        ulna_marker_set_release(&set);
    }
    assert_int_equal(
        read_set(model, "marker,bone,x,y,z,lengths,offsets\nA,flange,.1,.2,.3,,undetermined\n", &set, &error), ULNA_OK);
    assert_true(set.is_undetermined && !set.has_other_lengths && set.items[0].weight == 1);
    ulna_marker_set_release(&set);
    assert_says(read_set(model, "# unit: mm\nmarker,bone,x_cm,y_cm,z_cm\nA,flange,1,2,3\n", &set, &error),
                ULNA_ERR_PARSE, "x_cm");
    assert_says(read_set(model, "marker,bone,x_cm,y_mm,z_cm\nA,flange,1,2,3\n", &set, &error), ULNA_ERR_PARSE, "y_mm");
    assert_says(read_set(model, "marker,bone,x_deg,y,z\nA,flange,1,2,3\n", &set, &error), ULNA_ERR_PARSE, "angle");

    /* decimal commas between semicolons; commas with tabs for looks; a table without a heading */
    assert_int_equal(read_set(model, "A;flange;0,1;0,2;0,3;0,5\nB,\telbow,\t.1,\t.2,\t.3\n", &set, &error), ULNA_OK);
    assert_true(set.count == 2 && set.items[0].offset[2] == 0.3 && set.items[0].weight == 0.5);
    assert_true(set.items[1].offset[2] == 0.3);
    ulna_marker_set_release(&set);
    assert_int_equal(set.count, 0);

    /* offsets that no skeleton has: one is a wrong number, most are a wrong unit */
    assert_says(read_set(model, "A,flange,.1,.2,.3\nB,elbow,.1,.2,.3\nC,base,0,0,30\n", &set, &error), ULNA_ERR_PARSE,
                "marker 'C' would be 30 m from its bone");
    assert_int_equal(error.line, 3);
    assert_says(read_set(model, "A,flange,10,20,30\nB,elbow,10,20,30\n", &set, &error), ULNA_ERR_PARSE,
                "add the line '# unit: ");
    assert_says(read_set(model, "# unit: m\nA,flange,100,200,30\n", &set, &error), ULNA_ERR_PARSE, "seems wrong; ");
    assert_int_equal(error.line, 2);
    const double far[3] = {0, 0, 30};
    assert_int_equal(ulna_marker_set_add(&set, "A", 0, far, 1), ULNA_OK);
    assert_says(ulna_marker_set_write_csv(&set, model, &sink, &error), ULNA_ERR_UNSUPPORTED, "30 m from its bone");
    ulna_marker_set_release(&set);
    ulna_model_destroy(model);
}

/* Whatever a marker may be called, its name comes back as it was, or is refused. */
static void hostile_names_are_kept_or_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int is_refused;
    } names[] = {
        {"A\tB", 0},
        {"A;B", 0},
        {"A,B", 0},
        {"\"A", 0},
        {"A\"", 0},
        {"\"A\"", 0},
        {"\"", 0},
        {"\"\"", 0},
        {",", 0},
        {"A\"B,\"C\"", 0},
        {"#A", 0},
        {"# unit: mm", 0},
        {"marker", 0},
        {"marker,bone", 0},
        {" A", 0},
        {"A ", 0},
        {"\tA\f", 0},
        {"\x01", 0},
        {"NaN", 0},
        {"1", 0},
        {"\xEF\xBB\xBF"
         "A",
         0},
        {"A:B", 0},
        {"L\xC3\xA4", 0},
        {"A\nB", 1},
        {"A\rB", 1},
        {"\n", 1},
        {"L\xE4", 1}, /* Latin-1 */
    };
    ulna_model *model;
    ulna_error error;
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    ulna_marker_set all = ulna_marker_set_empty(NULL), back;
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ulna_marker_set one = ulna_marker_set_empty(NULL);
        assert_int_equal(ulna_marker_set_add(&one, names[i].name, 3, (double[]){0.1, 0.2, 0.3}, 1), ULNA_OK);
        if (names[i].is_refused) {
            assert_says(ulna_marker_set_write_csv(&one, model, &sink, &error), ULNA_ERR_UNSUPPORTED, "marker 1",
                        "cannot be written");
            assert_int_equal(text.length, 0);
        } else {
            assert_int_equal(ulna_marker_set_add(&all, names[i].name, 4, (double[]){-1, 0.1, 1e-9}, 0.5), ULNA_OK);
            assert_int_equal(ulna_marker_set_write_csv(&one, model, &sink, &error), ULNA_OK);
            assert_int_equal(read_set(model, text.data, &back, &error), ULNA_OK);
            assert_int_equal(back.count, 1);
            assert_memory_equal(back.items, one.items, sizeof *one.items);
            ulna_marker_set_release(&back);
            ulna_text_release(&text);
        }
        ulna_marker_set_release(&one);
    }
    assert_int_equal(ulna_marker_set_write_csv(&all, model, &sink, &error), ULNA_OK);
    assert_int_equal(read_set(model, text.data, &back, &error), ULNA_OK);
    assert_int_equal(back.count, all.count);
    assert_memory_equal(back.items, all.items, all.count * sizeof *all.items);
    ulna_marker_set_release(&back);
    ulna_text_release(&text);

    /* what the reader would refuse is not written */
    assert_int_equal(ulna_marker_set_add(&all, "A,B", 5, (double[]){0, 0, 0}, 1), ULNA_OK);
    assert_says(ulna_marker_set_write_csv(&all, model, &sink, &error), ULNA_ERR_UNSUPPORTED, "'A,B'", "twice");
    ulna_marker_set_release(&all);
    assert_int_equal(ulna_marker_set_add(&all, "A", ulna_model_body_count(model), (double[]){0, 0, 0}, 1), ULNA_OK);
    assert_says(ulna_marker_set_write_csv(&all, model, &sink, &error), ULNA_ERR_ARGUMENT, "'A'", "body");
    ulna_marker_set_release(&all);
    ulna_model_destroy(model);
}

/* ---- synthetic takes of the human sample ------------------------------------------------------------------------------------ */

static void lose(ulna_test_swing *s, int frame, int marker)
{
    double *x = ulna_recording_frame(&s->recording, frame) + 3 * marker;
    x[0] = x[1] = x[2] = (double)NAN;
}

static void a_clean_take_is_followed(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(400, 0);
    ulna_clip clip;
    ulna_track_options options = ulna_track_options_default();
    options.loss = ULNA_LOSS_SQUARE; /* plain least squares reach zero */
    options.solve.decrease = 1e-9;
    options.posture = options.limits = 0;
    ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, NULL);
    assert_int_equal(summary.frames, 400);
    assert_int_equal(summary.markers_used, 41);
    assert_int_equal(summary.markers_unmatched, 0);
    assert_int_equal(summary.lost + summary.empty + summary.recovered, 0);
    assert_true(summary.rms_max < 1e-6);
    assert_true(clip.frame_seconds == 1.0 / 120);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* 10 % of all positions, a whole limb for a second, and all markers for half a second. */
static void gaps_drop_out_and_are_filled(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(600, 0);
    ulna_test_rng rng = ulna_test_rng_seed(4);
    int count = s.recording.marker_count, limb = 0;
    for (int f = 0; f < s.frames; f++)
        for (int m = 0; m < count; m++) {
            int is_left_arm = strncmp(ulna_model_body_name(s.model, s.set.items[m].body), "left_", 5) == 0;
            if (ulna_test_rng_uniform(&rng, 0, 1) < 0.1 || (f >= 300 && f < 360) ||
                (is_left_arm && f >= 100 && f < 220))
                lose(&s, f, m);
            limb += is_left_arm;
        }
    assert_true(limb > 0);
    ulna_clip clip;
    ulna_frame_report *frames = calloc(600, sizeof *frames);
    ulna_track_summary summary = ulna_test_swing_track(&s, NULL, &clip, frames);
    assert_int_equal(summary.empty, 60);
    assert_int_equal(summary.lost, 0);
    assert_true(summary.rms_max < 0.005);
    for (int f = 0; f < 600; f++) {
        assert_int_equal((frames[f].flags & ULNA_TRACK_EMPTY) != 0, f >= 300 && f < 360);
        for (int j = 0; j < s.nq; j++)
            assert_true(isfinite(ulna_clip_frame(&clip, f)[j]));
        if (f > 0) /* the root goes on smoothly, through the gap as well */
            for (int j = 0; j < 3; j++)
                assert_true(fabs(ulna_clip_frame(&clip, f)[j] - ulna_clip_frame(&clip, f - 1)[j]) < 0.05);
    }
    free(frames);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* Spikes of half a metre, and two markers that change names: the robust loss leaves them aside. */
static void spikes_and_swaps_are_weighed_down(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(300, 0);
    ulna_test_rng rng = ulna_test_rng_seed(5);
    int spikes = 0;
    for (int f = 0; f < s.frames; f++)
        for (int m = 0; m < s.recording.marker_count; m++)
            if (f % 5 == 0 && ulna_test_rng_uniform(&rng, 0, 1) < 0.02) {
                ulna_recording_frame(&s.recording, f)[3 * m + ulna_test_rng_index(&rng, 3)] += 0.5;
                spikes++;
            }
    for (int f = 150; f < 200; f++) {
        double *a = ulna_recording_frame(&s.recording, f), *b = a + 3 * 20, swap[3];
        memcpy(swap, a, sizeof swap);
        memcpy(a, b, sizeof swap);
        memcpy(b, swap, sizeof swap);
    }
    assert_true(spikes > 10);
    ulna_track_options options = ulna_track_options_default();
    options.loss = ULNA_LOSS_GEMAN_MCCLURE;
    ulna_clip clip;
    ulna_frame_report *frames = calloc(300, sizeof *frames);
    ulna_track_summary summary = ulna_test_swing_track(&s, &options, &clip, frames);
    assert_true(summary.with_outliers >= 50);
    assert_int_equal(summary.lost, 0);

    /* The skeleton stays with the truth: a limb whose only marker is a spike goes on by itself, for a frame. */
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(s.model, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < 300; f++) {
        double worst = 0, squares = 0;
        for (int m = 0; m < 41; m++) {
            double a[3], b[3];
            assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&clip, f)), ULNA_OK);
            ulna_pose_point(pose, s.set.items[m].body, s.set.items[m].offset, a);
            assert_int_equal(ulna_pose_forward(pose, s.truth + (size_t)f * (size_t)s.nq), ULNA_OK);
            ulna_pose_point(pose, s.set.items[m].body, s.set.items[m].offset, b);
            double off = hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]);
            worst = fmax(worst, off);
            squares += off * off;
        }
        if (!(worst < 0.08 && sqrt(squares / 41) < 0.015))
            fail_msg("frame %d: %g m from the truth (flags %u, %d outliers, rms %g, worst marker %d: %g m)", f, worst,
                     frames[f].flags, frames[f].outliers, frames[f].rms, frames[f].worst_marker, frames[f].worst);
    }
    ulna_pose_destroy(pose);
    free(frames);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* How far the markers of a pose are from where they truly are, at most. */
static double farthest_from_truth(const ulna_test_swing *s, ulna_pose *pose, const double *q, int frame)
{
    double worst = 0;
    for (int m = 0; m < (int)s->set.count; m++) {
        double a[3], b[3];
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        ulna_pose_point(pose, s->set.items[m].body, s->set.items[m].offset, a);
        assert_int_equal(ulna_pose_forward(pose, s->truth + (size_t)frame * (size_t)s->nq), ULNA_OK);
        ulna_pose_point(pose, s->set.items[m].body, s->set.items[m].offset, b);
        worst = fmax(worst, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
    }
    return worst;
}

/* One of the head's markers goes 12 cm away, and comes back. On its way it pulls as hard as the others, and a robust loss alone would let the
 * head go along by a centimetre: but a whole take knows where it went. */
static void a_marker_that_goes_astray_is_left_out(void **state)
{
    (void)state;
    enum { FIRST = 100, LAST = 200, FRAMES = 300 };
    ulna_test_swing s = ulna_test_swing_make(FRAMES, 0);
    int marker = ulna_recording_find(&s.recording, "LFHD");
    double worst[2] = {0};
    assert_true(marker != ULNA_NONE);
    for (int f = FIRST; f < LAST; f++)
        ulna_recording_frame(&s.recording, f)[3 * marker + 1] +=
            0.12 * sin(3.14159265358979323846 * (f - FIRST) / (LAST - FIRST));
    ulna_pose *pose;
    assert_int_equal(ulna_pose_create(s.model, NULL, &pose, NULL), ULNA_OK);
    for (int causal = 0; causal < 2; causal++) {
        ulna_track_options options = ulna_track_options_default();
        ulna_frame_report *frames = calloc(FRAMES, sizeof *frames);
        ulna_clip clip;
        options.causal = causal;
        ulna_test_swing_track(&s, &options, &clip, frames);
        for (int f = FIRST; f < LAST; f++)
            worst[causal] = fmax(worst[causal], farthest_from_truth(&s, pose, ulna_clip_frame(&clip, f), f));
        free(frames);
        ulna_clip_release(&clip);
    }
    ulna_pose_destroy(pose);
    if (!(worst[0] < 0.005 && worst[1] > 0.01))
        fail_msg("%g mm from the truth, %g mm frame by frame", 1e3 * worst[0], 1e3 * worst[1]);
    ulna_test_swing_release(&s);
}

/* The markers jump: the track is lost, found again, and both are told. */
static void a_lost_track_is_found_again(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(200, 0);
    for (int f = 100; f < 200; f++) /* turned half round and moved away at once */
        for (int m = 0; m < s.recording.marker_count; m++) {
            double *x = ulna_recording_frame(&s.recording, f) + 3 * m;
            x[0] = 3 - x[0];
            x[2] = -x[2];
        }
    ulna_clip clip;
    ulna_frame_report *frames = calloc(200, sizeof *frames);
    ulna_track_summary summary = ulna_test_swing_track(&s, NULL, &clip, frames);
    assert_int_equal(summary.lost, 0);
    assert_int_equal(summary.recovered, 1);
    assert_int_equal(frames[100].flags, ULNA_TRACK_RECOVERED | ULNA_TRACK_JUMP);
    assert_int_equal(summary.jumps, 1);
    assert_true(frames[100].rms < 0.005 && frames[199].rms < 0.005);
    free(frames);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

/* Cut into chunks, the result does not depend on the number of threads. */
static void threads_give_the_same_bits(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(500, 0);
    ulna_clip one, other;
    ulna_track_options options = ulna_track_options_default();
    options.chunk_frames = 100;
    ulna_test_swing_track(&s, &options, &one, NULL);
    for (int threads = 2; threads <= 4; threads++) {
        options.threads = threads;
        ulna_test_swing_track(&s, &options, &other, NULL);
        assert_memory_equal(one.q, other.q, 500 * (size_t)s.nq * sizeof(double));
        ulna_clip_release(&other);
    }
    ulna_clip_release(&one);
    ulna_test_swing_release(&s);
}

/* Mean squared second difference of the joint values: what noise makes large. */
static double roughness(const ulna_clip *clip, int nq, int order)
{
    double sum = 0;
    for (int f = 2; f < clip->frame_count; f++)
        for (int j = 0; j < nq; j++) {
            double a = ulna_clip_frame(clip, f)[j], b = ulna_clip_frame(clip, f - 1)[j];
            double d = order == 1 ? a - b : a - 2 * b + ulna_clip_frame(clip, f - 2)[j];
            sum += d * d;
        }
    return sum / clip->frame_count;
}

/* Markers with 2 mm of noise: each prior lowers what it is against, and the error hardly grows. */
static void smoothing_smoothes(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(300, 0);
    ulna_test_rng rng = ulna_test_rng_seed(8);
    for (int f = 0; f < s.frames; f++)
        for (int k = 0; k < 3 * s.recording.marker_count; k++)
            ulna_recording_frame(&s.recording, f)[k] += 0.002 * ulna_test_rng_normal(&rng);
    for (int causal = 0; causal <= 1; causal++) {
        ulna_track_options options = ulna_track_options_default();
        ulna_clip rough, smooth;
        options.causal = causal;
        options.smooth = 0;
        ulna_track_summary before = ulna_test_swing_track(&s, &options, &rough, NULL);
        options.smooth = ULNA_AUTO;
        ulna_track_summary after = ulna_test_swing_track(&s, &options, &smooth, NULL);
        double was = roughness(&rough, s.nq, 2), is = roughness(&smooth, s.nq, 2);
        if (!(is < 0.5 * was && after.rms_mean < 1.1 * before.rms_mean))
            fail_msg("causal %d: roughness %g -> %g, rms %g -> %g", causal, was, is, before.rms_mean, after.rms_mean);
        ulna_clip_release(&rough);
        ulna_clip_release(&smooth);
    }
    ulna_test_swing_release(&s);
}

/* The left hand's markers are never seen: its joints stay at rest, to the bit. */
static void unseen_joints_stay_at_rest(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(400, 0);
    const double *rest = ulna_model_rest(s.model);
    int hand = ulna_model_find_body(s.model, "left_hand");
    assert_true(hand != ULNA_NONE);
    int unseen = 0;
    for (int m = 0; m < s.recording.marker_count; m++) {
        int body = ulna_model_marker_body(s.model, m);
        while (body != ULNA_NONE && body != hand)
            body = ulna_model_body_parent(s.model, body);
        unseen += body == hand;
        for (int f = 0; f < s.frames && body == hand; f++)
            lose(&s, f, m);
    }
    ulna_clip clip;
    assert_int_equal(ulna_test_swing_track(&s, NULL, &clip, NULL).markers_unmatched, unseen);
    int first, count = ulna_model_body_coordinates(s.model, hand, &first);
    assert_true(count > 0);
    for (int f = 0; f < s.frames; f++)
        for (int c = first; c < first + count; c++)
            assert_true(ulna_clip_frame(&clip, f)[c] == rest[c]);
    ulna_clip_release(&clip);
    ulna_test_swing_release(&s);
}

static void mistakes_are_told(void **state)
{
    (void)state;
    ulna_test_swing s = ulna_test_swing_make(3, 0);
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_error error;
    ulna_track_options options = ulna_track_options_default();
    ulna_marker_set none = ulna_marker_set_empty(NULL);
    const double nowhere[3] = {0, 0, 0};
    assert_says(ulna_test_track(s.model, &none, &s.recording, NULL, NULL, &clip, NULL, NULL, &error), ULNA_ERR_ARGUMENT,
                "marker set");
    assert_int_equal(ulna_marker_set_add(&none, "XYZ", 0, nowhere, 1), ULNA_OK);
    assert_says(ulna_test_track(s.model, &none, &s.recording, NULL, NULL, &clip, NULL, NULL, &error), ULNA_ERR_ARGUMENT,
                "XYZ");
    options.solve.method = "magic";
    assert_says(ulna_test_track(s.model, &s.set, &s.recording, NULL, &options, &clip, NULL, NULL, &error),
                ULNA_ERR_ARGUMENT, "magic");
    options = ulna_track_options_default();
    options.posture = -2;
    assert_says(ulna_test_track(s.model, &s.set, &s.recording, NULL, &options, &clip, NULL, NULL, &error),
                ULNA_ERR_ARGUMENT, "posture");
    assert_int_equal(clip.frame_count, 0);
    for (long fail = 0; fail < 60; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_clip small = ulna_clip_empty(&allocator);
        ulna_status status = ulna_test_track(s.model, &s.set, &s.recording, NULL, NULL, &small, NULL, NULL, NULL);
        assert_int_equal(status, memory.failed ? ULNA_ERR_MEMORY : ULNA_OK);
        ulna_clip_release(&small);
        ulna_test_memory_check(&memory);
        if (!memory.failed)
            break;
    }
    ulna_marker_set_release(&none);
    ulna_test_swing_release(&s);
}

/* ---- the real take ------------------------------------------------------------------------------------------------------------ */

static void hdm05_is_tracked_without_loss(void **state)
{
    (void)state;
    ulna_test_hdm05 take = ulna_test_hdm05_open();
    const double sum_at_most[2] = {21.95, 22.9}; /* plain least squares; with what a pose is expected to be */
    for (int way = 0; way < 2; way++) {
        ulna_track_options options = ulna_track_options_default();
        ulna_clip clip = ulna_clip_empty(NULL);
        ulna_track_summary summary;
        options.loss = way ? ULNA_LOSS_GEMAN_MCCLURE : ULNA_LOSS_SQUARE;
        assert_int_equal(ulna_test_track(take.skeleton.model, &take.set, &take.markers.recording, ulna_test_hdm05_axes,
                                         &options, &clip, NULL, &summary, NULL),
                         ULNA_OK);
        assert_int_equal(summary.frames, 3866);
        assert_int_equal(summary.markers_used, 41);
        assert_int_equal(summary.lost, 0);
        if (!(100 * summary.sum_mean <= sum_at_most[way]))
            fail_msg("way %d: the markers are %.3f cm off, summed", way, 100 * summary.sum_mean);
        assert_true(summary.iterations_mean < (way ? 2 : 4));
        ulna_clip_release(&clip);
    }
    ulna_test_hdm05_close(&take);
}

/* Root mean square, metres, between the recording's markers, which are right, and where a motion puts them; mean over frames. */
static double distance_to(const ulna_test_hdm05 *take, const ulna_clip *clip, double *worst)
{
    const ulna_recording *r = &take->markers.recording;
    ulna_pose *pose;
    double sum = 0;
    assert_int_equal(ulna_pose_create(take->skeleton.model, NULL, &pose, NULL), ULNA_OK);
    *worst = 0;
    for (int f = 0; f < clip->frame_count; f++) {
        double squares = 0;
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(clip, f)), ULNA_OK);
        for (size_t i = 0; i < take->set.count; i++) {
            const ulna_attachment *item = &take->set.items[i];
            const double *x = ulna_recording_frame(r, f) + 3 * ulna_recording_find(r, item->marker);
            double p[3];
            ulna_pose_point(pose, item->body, item->offset, p);
            squares += pow(p[0] - x[1], 2) + pow(p[1] - x[2], 2) + pow(p[2] - x[0], 2);
        }
        double rms = sqrt(squares / (double)take->set.count);
        *worst = fmax(*worst, rms);
        sum += rms;
    }
    ulna_pose_destroy(pose);
    return sum / clip->frame_count;
}

static ulna_recording copy_of(const ulna_recording *from)
{
    ulna_recording copy = ulna_recording_empty(NULL);
    assert_int_equal(ulna_recording_resize(&copy, from->marker_count, from->frame_count), ULNA_OK);
    copy.frame_seconds = from->frame_seconds;
    for (int m = 0; m < from->marker_count; m++)
        memcpy(copy.names[m], from->names[m], sizeof copy.names[m]);
    for (int f = 0; f < from->frame_count; f++)
        memcpy(ulna_recording_frame(&copy, f), ulna_recording_frame(from, f),
               3 * (size_t)from->marker_count * sizeof(double));
    return copy;
}

static void swap_markers(ulna_recording *r, const char *one, const char *other, int from, int to)
{
    int a = ulna_recording_find(r, one), b = ulna_recording_find(r, other);
    for (int f = from; f < to; f++)
        for (int k = 0; k < 3; k++) {
            double *x = ulna_recording_frame(r, f), kept = x[3 * a + k];
            x[3 * a + k] = x[3 * b + k];
            x[3 * b + k] = kept;
        }
}

/*
 * The real take, its knees swapped for a fifth of it, and then 2 % of all positions half a metre off as well. The robust loss
 * keeps the skeleton near the markers as they were, and does no harm where nothing is wrong.
 */
static void hdm05_survives_swaps_and_spikes(void **state)
{
    (void)state;
    ulna_test_hdm05 take = ulna_test_hdm05_open();
    ulna_recording *clean = &take.markers.recording, dirty;
    ulna_track_options options = ulna_track_options_default();
    options.loss = ULNA_LOSS_GEMAN_MCCLURE;
    const double rms_at_most[3] = {0.0073, 0.0080, 0.0100}, worst_at_most[3] = {0.025, 0.035, 0.065};
    for (int dirt = 0; dirt < 3; dirt++) {
        ulna_test_rng rng = ulna_test_rng_seed(12);
        ulna_track_summary summary;
        ulna_clip clip = ulna_clip_empty(NULL);
        double worst;
        dirty = copy_of(clean);
        if (dirt > 0)
            swap_markers(&dirty, "LKNE", "RKNE", 1000, 1770);
        for (int f = 0; f < dirty.frame_count && dirt > 1; f++)
            for (int m = 0; m < dirty.marker_count; m++)
                if (ulna_test_rng_uniform(&rng, 0, 1) < 0.02)
                    ulna_recording_frame(&dirty, f)[3 * m] += 0.5;
        assert_int_equal(ulna_test_track(take.skeleton.model, &take.set, &dirty, ulna_test_hdm05_axes, &options, &clip,
                                         NULL, &summary, NULL),
                         ULNA_OK);
        double rms = distance_to(&take, &clip, &worst);
        if (rms > rms_at_most[dirt] || worst > worst_at_most[dirt])
            fail_msg("dirt %d: rms %g m from the true markers, %g m at worst", dirt, rms, worst);
        assert_int_equal(summary.lost, 0);
        assert_in_range((unsigned)summary.with_outliers, dirt == 0 ? 0 : dirt == 1 ? 770 : 2000, dirt ? 3866 : 100);
        ulna_clip_release(&clip);
        ulna_recording_release(&dirty);
    }
    ulna_test_hdm05_close(&take);
}

/* Every 20th frame from nothing: all 194 are found, f <= 40 cm^2. */
static void hdm05_cold_starts_are_found(void **state)
{
    (void)state;
    ulna_test_hdm05 take = ulna_test_hdm05_open();
    const ulna_recording *recording = &take.markers.recording;
    ulna_tracker *tracker;
    assert_int_equal(ulna_tracker_create(take.skeleton.model, &take.set, NULL, NULL, &tracker, NULL), ULNA_OK);
    int found = 0, tried = 0, nq = ulna_model_coordinate_count(take.skeleton.model);
    double *q = ulna_test_numbers(nq), *goals = ulna_test_numbers(3 * 41);
    for (int f = 0; f < recording->frame_count; f += 20) {
        ulna_frame_report report;
        for (int i = 0; i < 41; i++) {
            const double *x =
                ulna_recording_frame(recording, f) + 3 * ulna_recording_find(recording, take.set.items[i].marker);
            const double turned[3] = {x[1], x[2], x[0]};
            memcpy(goals + 3 * i, turned, sizeof turned);
        }
        ulna_tracker_reset(tracker, NULL);
        assert_int_equal(ulna_tracker_frame(tracker, goals, q, &report), ULNA_OK);
        tried++;
        found += 1e4 * report.f <= 40;
        if (1e4 * report.f > 40)
            print_message("frame %d: f = %.1f cm^2 after %d iterations\n", f, 1e4 * report.f, report.iterations);
    }
    assert_int_equal(tried, 194);
    assert_int_equal(found, 194);
    free(q);
    free(goals);
    ulna_tracker_destroy(tracker);
    ulna_test_hdm05_close(&take);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(marker_tables_are_read_and_written),
        cmocka_unit_test(hostile_names_are_kept_or_refused),
        cmocka_unit_test(a_clean_take_is_followed),
        cmocka_unit_test(gaps_drop_out_and_are_filled),
        cmocka_unit_test(spikes_and_swaps_are_weighed_down),
        cmocka_unit_test(a_marker_that_goes_astray_is_left_out),
        cmocka_unit_test(a_lost_track_is_found_again),
        cmocka_unit_test(threads_give_the_same_bits),
        cmocka_unit_test(smoothing_smoothes),
        cmocka_unit_test(unseen_joints_stay_at_rest),
        cmocka_unit_test(mistakes_are_told),
        ulna_test_needs("hdm05 ../oracles/hdm05", cmocka_unit_test(hdm05_is_tracked_without_loss)),
        ulna_test_needs("hdm05 ../oracles/hdm05", cmocka_unit_test(hdm05_survives_swaps_and_spikes)),
        ulna_test_needs("hdm05 ../oracles/hdm05", cmocka_unit_test(hdm05_cold_starts_are_found)),
    };
    return cmocka_run_group_tests_name("track", tests, NULL, NULL);
}
