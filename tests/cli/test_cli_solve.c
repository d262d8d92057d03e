/* `ulna solve` on one good take, run as its users run it: results, outputs, options, the report, mistakes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support_take.h"
#include "support_tool.h"
#include "ulna/mocap.h"
#include "ulna/sample.h"

enum { FRAMES = 120 };

/* A fresh folder with take.c3d. */
static int open_take(void **state)
{
    return ulna_test_take_open(state, FRAMES);
}

static json_t *solve(ulna_test_tool *tool, const char *arguments, int code)
{
    return ulna_test_tool_run_json(tool, "solve", arguments, code);
}

static void write_attachment(const ulna_test_tool *tool, const char *name, const char *instead_of, const char *other)
{
    ulna_test_take take = ulna_test_take_make(1);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    assert_int_equal(ulna_marker_set_from_model(&set, take.model), ULNA_OK);
    for (size_t i = 0; i < set.count && instead_of; i++)
        if (strcmp(set.items[i].marker, instead_of) == 0)
            snprintf(set.items[i].marker, ULNA_MARKER_NAME, "%s", other);
    assert_int_equal(ulna_marker_set_write_csv(&set, take.model, &sink, NULL), ULNA_OK);
    char path[128];
    FILE *file = fopen(ulna_test_path(path, sizeof path, tool->folder, name), "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text.data, 1, text.length, file), text.length);
    assert_int_equal(fclose(file), 0);
    ulna_text_release(&text);
    ulna_marker_set_release(&set);
    ulna_test_take_release(&take);
}

/* ---- what comes out ----------------------------------------------------------------------------------------------- */

static void every_key_is_there(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d --loss square", 0), *stops = json_object_get(object, "stops"),
           *count;
    const char *reason;
    long long frames = 0;
    assert_string_equal(tool->err, "");
    assert_int_equal(integer(object, "frames"), FRAMES);
    assert_int_equal(integer(object, "dof"), 59);
    assert_int_equal(integer(object, "markers"), 41);
    assert_string_equal(json_string_value(json_object_get(object, "method")), "hybrid");
    assert_true(member(object, "us_per_frame", "median") > 0);
    assert_true(member(object, "us_per_frame", "mean") > 0);
    assert_true(member(object, "us_per_frame", "max") >= member(object, "us_per_frame", "median"));
    assert_true(member(object, "iterations", "max") >= member(object, "iterations", "mean"));
    assert_true(member(object, "evaluations", "mean") >= 1);
    assert_below(member(object, "rms_mm", "max"), 0.05); /* C3D holds floats, in millimetres */
    assert_true(member(object, "rms_mm", "mean") <= member(object, "rms_mm", "max"));
    assert_true(member(object, "sum_cm", "mean") <= member(object, "sum_cm", "max"));
    assert_true(member(object, "f_cm2", "mean") <= member(object, "f_cm2", "max"));
    assert_int_equal(integer(object, "missing_markers"), 0);
    assert_int_equal(integer(object, "recovered"), 0);
    assert_int_equal(integer(object, "lost"), 0);
    json_object_foreach(stops, reason, count)
    {
        frames += json_integer_value(count);
    }
    assert_int_equal(frames, FRAMES);
    assert_string_equal(json_string_value(json_object_get(object, "verdict")), "trust");
    assert_int_equal(json_array_size(json_object_get(object, "reasons")), 0);
    static const char *const marks[] = {"lost",  "recovered", "doubtful", "bridged",
                                        "empty", "jumps",     "limits",   "outliers"};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        assert_true(json_is_array(json_object_get(json_object_get(object, "ranges"), marks[i])));
    assert_true(has_note(object, "1 marker of the recording is not on the skeleton, and not used: *0"));
    json_decref(object);

    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d"), 0);
    ulna_test_says(tool->out, "120 frames solved, 59 degrees of freedom, 41 markers");
    ulna_test_says(tool->out, "frames/s");
    assert_int_equal(ulna_test_tool_run(tool, "solve -q -s human -m take.c3d"), 0);
    assert_string_equal(tool->out, "");
}

/* The CSV has the motion that the take was made from; the C3D has the markers of the recording, where it had them. */
static void outputs_hold_the_motion(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d --loss square -o out.csv -o out.c3d -o out.bvh -o out.amc", 0);
    assert_int_equal(json_array_size(json_object_get(object, "outputs")), 4);
    json_decref(object);
    ulna_test_take take = ulna_test_take_make(FRAMES);
    ulna_content out = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_default();
    char path[128];
    options.model = take.model;
    assert_int_equal(
        ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, "out.csv"), &options, &out, NULL), ULNA_OK);
    assert_int_equal(out.clip.frame_count, FRAMES);
    assert_near(out.clip.frame_seconds, 1.0 / 120, 1e-9);
    int knee = ulna_model_find_body(take.model, "left_shank"), first;
    assert_true(knee != ULNA_NONE && ulna_model_body_coordinates(take.model, knee, &first) > 0);
    for (int f = 0; f < FRAMES; f++)
        assert_near(ulna_clip_frame(&out.clip, f)[first], ulna_clip_frame(&take.clip, f)[first], 1e-3);
    ulna_content_release(&out);
    assert_int_equal(ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, "out.c3d"), NULL, &out, NULL),
                     ULNA_OK);
    assert_int_equal(out.recording.marker_count, 41);
    int there = ulna_recording_find(&take.markers, "LFHD"), here = ulna_recording_find(&out.recording, "LFHD");
    for (int f = 0; f < FRAMES; f++)
        for (int k = 0; k < 3; k++)
            assert_near(ulna_recording_frame(&out.recording, f)[3 * here + k],
                        ulna_recording_frame(&take.markers, f)[3 * there + k], 1e-4);
    ulna_content_release(&out);
    ulna_test_take_release(&take);
}

/* Markers of the solved skeleton are the motion in a marker file: nothing is left out. */
static void marker_files_leave_nothing_out(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d -o out.trc -o out.c3d", 0);
    assert_false(has_note(object, "holds no motion"));
    json_decref(object);
}

static size_t file_size(const ulna_test_tool *tool, const char *name)
{
    char *text = ulna_test_tool_file(tool, name);
    size_t size = strlen(text);
    free(text);
    return size;
}

static void digits_and_channels_can_be_chosen(void **state)
{
    ulna_test_tool *tool = *state;
    json_decref(solve(tool, "-s human -m take.c3d --frames 1:9 --digits 17 -o all.bvh -o all.csv", 0));
    json_decref(
        solve(tool, "-s human -m take.c3d --frames 1:9 --digits 5 --bvh-channels dof -o few.bvh -o few.csv", 0));
    assert_true(2 * file_size(tool, "few.csv") < file_size(tool, "all.csv"));
    char *three = ulna_test_tool_file(tool, "all.bvh"), *dof = ulna_test_tool_file(tool, "few.bvh");
    assert_null(strstr(three, "CHANNELS 1 "));
    assert_non_null(strstr(dof, "CHANNELS 1 "));
    free(three);
    free(dof);
    json_decref(solve(tool, "-s human -m take.c3d --digits 18", 2));
    json_decref(solve(tool, "-s human -m take.c3d --bvh-channels two", 2));
    ulna_test_says(tool->err, "--bvh-channels takes three or dof, not 'two'");
}

/* What is solved has nine digits, times all; with 17, a motion is read back and written to the same bytes. */
static void solved_motions_have_nine_digits(void **state)
{
    ulna_test_tool *tool = *state;
    const char *names[] = {"nine.csv", "all.csv", "again.csv"};
    ulna_content files[3];
    json_decref(solve(tool, "-s human -m take.c3d --frames 1:9 -o nine.csv", 0));
    json_decref(solve(tool, "-s human -m take.c3d --frames 1:9 --digits 17 -o all.csv", 0));
    assert_int_equal(ulna_test_tool_run(tool, "convert human all.csv again.csv"), 0);
    ulna_read_options options = ulna_read_options_default();
    ulna_test_take take = ulna_test_take_make(1);
    options.model = take.model;
    for (int i = 0; i < 3; i++) {
        char path[128];
        files[i] = ulna_content_empty(NULL);
        ulna_test_path(path, sizeof path, tool->folder, names[i]);
        assert_int_equal(ulna_content_load(path, &options, &files[i], NULL), ULNA_OK);
    }
    const ulna_clip *nine = &files[0].clip, *all = &files[1].clip;
    size_t count = (size_t)all->frame_count * (size_t)all->coordinate_count, rounded = 0;
    assert_true(nine->frame_seconds == all->frame_seconds && nine->first_frame == all->first_frame);
    assert_memory_equal(all->q, files[2].clip.q, count * sizeof *all->q);
    for (size_t k = 0; k < count; k++) {
        double size = fabs(all->q[k]), off = fabs(nine->q[k] - all->q[k]);
        assert_true(off <= 5.1e-9 * size);
        rounded += off > 0;
    }
    assert_true(rounded > count / 2);
    for (int i = 0; i < 3; i++)
        ulna_content_release(&files[i]);
    ulna_test_take_release(&take);
}

/* A recording in millimetres and a skeleton in feet, whose files do not say so. */
static void units_can_be_said(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d", 0);
    double rms = member(object, "rms_mm", "mean");
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "convert take.c3d take.trc --unit cm"), 0);
    ulna_test_tool_shell(tool, "sed 's/\tcm\t/\tmm\t/' take.trc >wrong.trc");
    object = solve(tool, "-s human -m wrong.trc --input-unit cm", 0);
    assert_near(member(object, "rms_mm", "mean"), rms, 0.01 * rms + 0.01);
    json_decref(object);
    json_decref(solve(tool, "-s human -m take.c3d --input-unit cubit", 2));
    ulna_test_says(tool->err, "--input-unit takes m, cm, mm, in, ft or a number of metres, not 'cubit'");

    assert_int_equal(ulna_test_tool_run(tool, "convert human inches.bvh --unit in"), 0);
    ulna_content out = ulna_content_empty(NULL);
    char path[128];
    write_attachment(tool, "in.csv", NULL, NULL);
    json_decref(solve(tool, "-s inches.bvh --skeleton-unit in -m take.c3d -a in.csv -o out.bvh", 0));
    ulna_read_options options = ulna_read_options_default();
    options.unit_m = 0.0254; /* a file of the skeleton's format gets its unit */
    assert_int_equal(
        ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, "out.bvh"), &options, &out, NULL), ULNA_OK);
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int k = 0; k < 3; k++)
        assert_near(ulna_clip_frame(&out.clip, 5)[k], ulna_clip_frame(&take.clip, 5)[k], 0.02);
    ulna_test_take_release(&take);
    ulna_content_release(&out);
}

/* A person a thousand times as small, or as large: the same angles. */
static void angles_do_not_depend_on_the_unit(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const units[] = {"m", "mm", "km"};
    char line[256], path[128];
    ulna_content out[3];
    write_attachment(tool, "a.csv", NULL, NULL);
    assert_int_equal(ulna_test_tool_run(tool, "convert human s.bvh --unit m"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "convert take.c3d t.csv --unit m"), 0);
    for (int i = 0; i < 3; i++) {
        snprintf(line, sizeof line, "sed '1s/_m/_%s/g' a.csv >a_%s.csv", units[i], units[i]);
        ulna_test_tool_shell(tool, line);
        snprintf(line, sizeof line, "sed '1s/_m\\>/_%s/g' t.csv >t_%s.csv", units[i], units[i]);
        ulna_test_tool_shell(tool, line);
        snprintf(line, sizeof line, "-s s.bvh --skeleton-unit %s -m t_%s.csv -a a_%s.csv -o %s.bvh", units[i], units[i],
                 units[i], units[i]);
        json_decref(solve(tool, line, 0));
        snprintf(line, sizeof line, "%s.bvh", units[i]);
        out[i] = ulna_content_empty(NULL);
        assert_int_equal(ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, line), NULL, &out[i], NULL),
                         ULNA_OK);
        assert_int_equal(out[i].clip.frame_count, FRAMES);
        for (int f = 0; f < FRAMES; f++)
            for (int k = 3; k < out[0].clip.coordinate_count; k++) /* after the root's translation */
                assert_near(ulna_clip_frame(&out[i].clip, f)[k], ulna_clip_frame(&out[0].clip, f)[k], 1e-4);
    }
    for (int i = 0; i < 3; i++)
        ulna_content_release(&out[i]);
}

/* Several markers that are attached elsewhere are one note. */
static void repeated_notes_are_gathered(void **state)
{
    ulna_test_tool *tool = *state;
    write_attachment(tool, "a.csv", NULL, NULL);
    ulna_test_tool_shell(tool,
                         "awk -F, -v OFS=, '/^(LFHD|RFHD|LTOE),/ {$3 += 0.5; $4 += 0.4} {print}' a.csv >moved.csv");
    json_t *object = solve(tool, "-s human -m take.c3d -a moved.csv", 0);
    size_t i, found = 0;
    json_t *note;
    json_array_foreach(json_object_get(object, "notes"), i, note)
    {
        found += strstr(json_string_value(note), "too far off to count") != NULL;
    }
    assert_int_equal(found, 1);
    assert_true(has_note(object, "LFHD in 120 of 120 frames, "));
    json_decref(object);
}

/* Without arms and head, most angles are not measured: not to be trusted, however small the error. */
static void unmeasured_joints_are_named(void **state)
{
    ulna_test_tool *tool = *state;
    write_attachment(tool, "a.csv", NULL, NULL);
    ulna_test_tool_shell(tool, "grep -E '^#|bone|thigh|shank|foot|toes|pelvis' a.csv >legs.csv");
    json_t *object = solve(tool, "-s human -m take.c3d -a legs.csv", 0);
    assert_string_equal(json_string_value(json_object_get(object, "verdict")), "look");
    json_t *codes = json_object_get(object, "reason_codes"), *reasons = json_object_get(object, "reasons");
    assert_int_equal(json_array_size(codes), json_array_size(reasons));
    assert_string_equal(json_string_value(json_array_get(codes, 0)), "unmeasured");
    ulna_test_says(json_string_value(json_array_get(reasons, 0)),
                   "39 of 59 degrees of freedom are not measured by the markers: lower_spine and beyond");
    assert_int_equal(json_array_size(json_object_get(object, "unmeasured")), 39);
    json_decref(object);
    object = solve(tool, "-s human -m take.c3d -a a.csv", 0);
    assert_true(
        has_note(object, "4 of 59 degrees of freedom are not measured by the markers: left_thumb, right_thumb"));
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d -a a.csv"), 0);
    ulna_test_says(tool->out, "trust it, but for joints that no marker measures");
}

static double rms_of_all(json_t *object)
{
    return json_number_value(json_object_get(object, "rms_typical_mm"));
}

/* One marker in the wrong place in all frames is worth a look, a third of them are not to be used. */
static void bad_takes_have_an_exit_code(void **state)
{
    ulna_test_tool *tool = *state;
    write_attachment(tool, "a.csv", NULL, NULL);
    ulna_test_tool_shell(tool, "awk -F, -v OFS=, '/^LFHD,/ {$3 += 0.4} {print}' a.csv >one.csv");
    json_t *object = solve(tool, "-s human -m take.c3d -a one.csv", 0);
    assert_string_equal(json_string_value(json_object_get(object, "verdict")), "look");
    assert_int_equal(integer(object, "frames_unmarked"), 0);
    assert_true(rms_of_all(object) > 5 && rms_of_all(object) < 15); /* 60 mm / sqrt(41) */
    json_decref(object);
    ulna_test_tool_shell(tool,
                         "awk -F, -v OFS=, '!/^#|bone/ {$5 += 0.06 * sin(NR); if (NR % 5 == 0) {$3 += 0.09; $4 += "
                         "0.05}} {print}' a.csv >many.csv");
    object = solve(tool, "-s human -m take.c3d -a many.csv -o many.amc", 1);
    assert_string_equal(json_string_value(json_object_get(object, "verdict")), "reject");
    assert_true(rms_of_all(object) > 30);
    assert_true(file_size(tool, "many.amc") > 0);
    json_decref(object);
    char typical[64];
    assert_int_equal(ulna_test_tool_run(tool, "solve -s human -m take.c3d -a many.csv"), 1);
    const char *errors = strstr(tool->out, "errors of ");
    assert_non_null(errors);
    snprintf(typical, sizeof typical, "typical error %d mm", atoi(errors + strlen("errors of ")));
    ulna_test_says(tool->out, typical); /* the same number in both places */
}

/* Limits hold for balls too: as those of swing and twist. */
static void balls_have_limits(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d --ball quaternion --bounds skeleton --loss square", 0);
    assert_true(has_note(object, "are solved as swing and twist"));
    assert_false(has_note(object, "exceed them"));
    assert_false(has_note(object, "are ignored"));
    json_decref(object);
}

static void frames_can_be_chosen(void **state)
{
    ulna_test_tool *tool = *state;
    static const struct {
        const char *frames;
        int count;
    } cases[] = {{"11:20", 10}, {"111:", 10}, {":7", 7}, {"5", 1}, {"100:999", 21}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char line[128];
        snprintf(line, sizeof line, "-s human -m take.c3d --frames %s", cases[i].frames);
        json_t *object = solve(tool, line, 0);
        assert_int_equal(integer(object, "frames"), cases[i].count);
        json_decref(object);
    }
    static const char *const wrong[] = {":", "a", "5:3", "", "3:x", "1:2:3"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[128];
        snprintf(line, sizeof line, "-s human -m take.c3d --frames '%s'", wrong[i]);
        json_decref(solve(tool, line, 2));
    }
    json_decref(solve(tool, "-s human -m take.c3d --frames 500:600", 3));
    ulna_test_says(tool->err, "take.c3d: the recording has none of the requested frames; it has 1 to 120");
}

static void threads_do_not_matter(void **state)
{
    ulna_test_tool *tool = *state;
    json_decref(solve(tool, "-s human -m take.c3d --threads 1 -o one.csv", 0));
    json_decref(solve(tool, "-s human -m take.c3d --threads 3 -o three.csv", 0));
    ulna_test_tool_shell(tool, "cmp one.csv three.csv");
}

static void other_methods_and_joints(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const options[] = {"--method lm",        "--method newton",
                                          "--ball quaternion",  "--ball expmap",
                                          "--ball swing-twist", "--bounds skeleton",
                                          "--bounds truth.csv", "--init truth.csv",
                                          "--smooth 1e-9",      "--init first --reference truth.csv"};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char line[256];
        snprintf(line, sizeof line, "-s human -m take.c3d %s", options[i]);
        json_t *object = solve(tool, line, 0);
        if (member(object, "rms_mm", "max") > 0.5)
            fail_msg("%s: %g mm", options[i], member(object, "rms_mm", "max"));
        json_decref(object);
    }
}

/* ---- axes ----------------------------------------------------------------------------------------------------------- */

static void axes_are_found(void **state)
{
    ulna_test_tool *tool = *state;
    static const char *const options[] = {"", "--axes auto", "--axes yzx", "--up z"};
    ulna_test_take take = ulna_test_take_make(FRAMES);
    for (int f = 0; f < FRAMES; f++) /* model (x, y, z) = recording (y, z, x) */
        for (int m = 0; m < take.markers.marker_count; m++) {
            double *p = ulna_recording_frame(&take.markers, f) + 3 * m, x = p[0];
            p[0] = p[2];
            p[2] = p[1];
            p[1] = x;
        }
    ulna_test_take_write(tool->folder, "z.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        char line[128];
        snprintf(line, sizeof line, "-s human -m z.c3d --loss square %s", options[i]);
        json_t *object = solve(tool, line, 0), *axes = json_object_get(object, "axes");
        static const double expected[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
        for (size_t k = 0; k < 9; k++)
            assert_near(json_number_value(json_array_get(axes, k)), expected[k], 0);
        assert_below(member(object, "rms_mm", "max"), 0.05);
        json_decref(object);
    }
    json_t *object = solve(tool, "-s human -m z.c3d --attach reference --reference truth.csv", 0);
    assert_near(json_number_value(json_array_get(json_object_get(object, "axes"), 1)), 1, 0);
    json_decref(object);
    static const char *const wrong[] = {"--axes xzy", "--axes xx", "--axes xyzz",
                                        "--axes abc", "--up w",    "--axes yzx --up z"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char line[128];
        snprintf(line, sizeof line, "-s human -m z.c3d %s", wrong[i]);
        json_decref(solve(tool, line, 2));
    }
    json_decref(solve(tool, "-s human -m z.c3d --axes x-zy", 0));
}

/* ---- where markers are ------------------------------------------------------------------------------------------------ */

static void attachments_are_matched_by_name(void **state)
{
    ulna_test_tool *tool = *state;
    write_attachment(tool, "a.csv", "LFHD", "NOPE");
    json_t *object = solve(tool, "-s human -m take.c3d -a a.csv", 0);
    assert_int_equal(integer(object, "markers"), 40);
    assert_true(has_note(object, "1 marker of the skeleton is not in the recording: NOPE"));
    assert_true(has_note(object, "2 markers of the recording are not on the skeleton, and not used: Eve:LFHD, *0"));
    json_decref(object);
    ulna_test_tool_shell(tool, "printf 'marker,bone,x,y,z\\nLFHD,tail,0,0,0\\n' >bone.csv;"
                               "printf 'A,pelvis,0,0,0\\n' >none.csv; printf 'LFHD,pelvis,0,zero,0\\n\\n' >number.csv");
    json_decref(solve(tool, "-s human -m take.c3d -a bone.csv", 3));
    ulna_test_says(tool->err, "ulna: bone.csv:2: the skeleton has no bone 'tail'");
    json_decref(solve(tool, "-s human -m take.c3d -a none.csv", 3));
    ulna_test_says(tool->err, "no attached marker is in the recording: attached is 'A', the recording has Eve:");
    ulna_test_says(tool->err, ", ...; another table of markers is needed, which 'ulna calibrate' makes");
    json_decref(solve(tool, "-s human -m take.c3d -a absent.csv", 4));
}

/* ---- the report ----------------------------------------------------------------------------------------------------------- */

static int count_of(const char *text, const char *part)
{
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part))
        count++;
    return count;
}

static void report_stands_alone(void **state)
{
    ulna_test_tool *tool = *state;
    write_attachment(tool, "a.csv", "LFHD", "</script><b>");
    ulna_test_take take = ulna_test_take_make(FRAMES);
    snprintf(take.markers.names[ulna_recording_find(&take.markers, "LFHD")], ULNA_MARKER_NAME, "</script><b>");
    ulna_test_take_write(tool->folder, "odd.c3d", NULL, NULL, &take.markers);
    ulna_test_take_release(&take);
    json_t *object = solve(tool, "-s human -m odd.c3d -a a.csv --report r.html", 0);
    assert_string_equal(json_string_value(json_object_get(object, "report")), "r.html");
    assert_int_equal(integer(object, "markers"), 41);
    json_decref(object);
    char *page = ulna_test_tool_file(tool, "r.html");
    assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15), 0);
    static const char *const parts[] = {
        "id=\"scene\"", "id=\"rms\"",    "id=\"iterations\"",          "id=\"missing\"", "id=\"joints\"",
        "id=\"map\"",   "id=\"slider\"", "prefers-color-scheme: dark", "const D = {",    "&lt;/script&gt;&lt;b&gt;",
        "</html>"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ulna_test_says(page, parts[i]);
    assert_int_equal(count_of(page, "</script>"), 1);
    assert_int_equal(count_of(page, "<b>"), 8); /* figures at the top */
    ulna_test_says(page, "<div class=\"verdict ");
    assert_null(strstr(page, "\nimport "));
    assert_null(strstr(page, "://"));
    assert_null(strstr(page, "src="));
    assert_null(strstr(page, "{{")); /* a part of the template that is not filled */
    free(page);
    json_decref(solve(tool, "-s human -m take.c3d --report take.c3d/r.html", 4));
    json_decref(solve(tool, "-s human -m take.c3d --report ''", 2));
}

/* Offsets that are 2 cm off, or may be, show in the bands: these are wider. */
static double first_band(ulna_test_tool *tool, const char *attachment, int knows_offsets)
{
    char line[128];
    snprintf(line, sizeof line, "-s human -m take.c3d -a %s --report r.html", attachment);
    json_decref(solve(tool, line, 0));
    char *page = ulna_test_tool_file(tool, "r.html");
    const char *flag = strstr(page, "\"band_offsets\":"), *band = flag ? strstr(flag, "\"band\":{") : NULL;
    assert_non_null(band);
    assert_int_equal(atoi(flag + strlen("\"band_offsets\":")), knows_offsets);
    const char *middle = strstr(band, "\"o\":");
    assert_non_null(middle);
    double value = strtod(middle + strlen("\"o\":"), NULL);
    free(page);
    return value;
}

static void bands_have_the_deviations_of_offsets(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_model *human;
    char path[256];
    assert_int_equal(ulna_sample_create("human", NULL, &human, NULL), ULNA_OK);
    assert_int_equal(ulna_marker_set_from_model(&set, human), ULNA_OK);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < set.count; i++)
            set.items[i].deviation[0] = set.items[i].deviation[1] = set.items[i].deviation[2] = round ? 0.02 : 0;
        ulna_test_path(path, sizeof path, tool->folder, round ? "unsure.csv" : "sure.csv");
        assert_int_equal(ulna_marker_set_save(&set, human, path, NULL), ULNA_OK);
    }
    assert_true(first_band(tool, "unsure.csv", 1) > 5 * first_band(tool, "sure.csv", 0));
    ulna_marker_set_release(&set);
    ulna_model_destroy(human);
}

/* The truth beside the solve: nearly the same. */
static void a_second_motion_is_compared(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d --compare-with truth.csv --frames 11:60 --report r.html", 0);
    json_t *compared = json_object_get(object, "compared");
    assert_string_equal(json_string_value(json_object_get(compared, "file")), "truth.csv");
    assert_int_equal(integer(compared, "frames"), 50);
    assert_true(json_number_value(json_object_get(compared, "joints_mm")) < 5);
    assert_true(integer(compared, "max_frame") >= 11 && integer(compared, "max_frame") <= 60);
    json_decref(object);
    char *page = ulna_test_tool_file(tool, "r.html");
    ulna_test_says(page, "\"ghost\":\"");
    ulna_test_says(page, "<dt>Ghost</dt><dd>truth.csv</dd>");
    free(page);

    object = solve(tool, "-s human -m take.c3d --reference truth.csv --report r.html", 0);
    assert_int_equal(integer(json_object_get(object, "compared"), "frames"), FRAMES);
    json_decref(object);
    object = solve(tool, "-s human -m take.c3d --report r.html", 0);
    assert_null(json_object_get(object, "compared"));
    json_decref(object);
    page = ulna_test_tool_file(tool, "r.html");
    assert_null(strstr(page, "\"ghost\":\""));
    free(page);
    json_decref(solve(tool, "-s human -m take.c3d --compare-with absent.csv", 4));
    json_decref(solve(tool, "-s human -m take.c3d --compare-with take.c3d", 3));
    json_decref(solve(tool, "-s human -m take.c3d --compare-with ''", 2));
    json_decref(solve(tool, "-s human -m take.c3d --compare-with truth.csv --all-subjects", 2));
}

/* ---- mistakes --------------------------------------------------------------------------------------------------------------- */

static void mistakes_are_told(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "printf 'nothing that anybody reads' >junk; : >empty.c3d; head -c 700 take.c3d >cut.c3d;"
                               "printf ':FULLY-SPECIFIED\\n:DEGREES\\n1\\nroot 0 0 0 0 0 0\\n' >motion.amc");
    static const struct {
        const char *arguments;
        int code;
        const char *says;
    } cases[] = {
        {"-s ''", 2, "--skeleton needs the name of a file"},
        {"-s human", 2, "--markers FILE is needed"},
        {"-s - -m -", 2, "standard input can be only one of these"},
        {"-s human -m take.c3d --robust", 2,
         "--robust any more: the robust loss is now the default, and --loss square"},
        {"-s human -m take.c3d --robust-distance=4", 2, "--robust-distance any more: use --loss-distance CM"},
        {"-s human -m take.c3d --method hybird", 2, "did you mean 'hybrid'?"},
        {"-s human -m take.c3d --ball round", 2, "--ball takes euler"},
        {"-s human -m take.c3d --tol x", 2, "--tol takes a number"},
        {"-s human -m take.c3d --max-iter 0", 2, "--max-iter takes a whole number from 1"},
        {"-s human -m take.c3d -o out.xyz", 2, "'out.xyz': unknown extension, which decides the format"},
        {"-s human -m take.c3d ''", 2, "a file name is needed"},
        {"-s human -m take.c3d --formats amc", 2, "--formats goes with -o FOLDER/"},
        {"-s human -m take.c3d -o out/ --formats amc,xyz", 2,
         "--formats: 'xyz' cannot be written; there is asf, amc, bvh,"},
        {"-s human -m take.c3d -o out/ --formats bvh,fbx", 2, "--formats: 'fbx' cannot be written; "},
        {"-s human -m take.c3d -o out/ --formats ,", 2, "an ending is missing before a comma"},
        {"-s human -m take.c3d -o ./take.c3d", 2, "the output './take.c3d' would overwrite the input"},
        {"-s human -m take.c3d -o take.csv -o take.csv", 2, "the outputs 'take.csv' and 'take.csv' are one file"},
        {"-s human -m take.c3d --init truth.csv -o truth.csv", 2,
         "the output 'truth.csv' would overwrite the input 'truth.csv'"},
        {"-s human -m take.c3d -o junk/", 4, "junk/: cannot create the folder"},
        {"-s absent.asf -m take.c3d", 4, "absent.asf: cannot open the file"},
        {"-s human -m absent.c3d", 4, "absent.c3d: cannot open the file"},
        {"-s human -m junk", 3, "junk: unknown file format; Ulna reads Ulna model (JSON)"},
        {"-s human -m empty.c3d", 3, "empty.c3d: the file is empty"},
        {"-s human -m motion.amc", 3,
         "motion.amc: a recording of markers is needed, but this file (AMC) holds joint values"},
        {"-s take.c3d -m take.c3d", 3, "take.c3d: a skeleton is needed, but this file (C3D)"},
        {"-s two-link -m take.c3d --attach junk", 3, "junk"},
        {"-s human -m take.c3d --bounds junk", 3, "junk"},
        {"-s human -m take.c3d --init take.c3d", 3, "take.c3d: a motion is needed"},
        {"-s human -m take.c3d --reference take.c3d", 3, "take.c3d: a motion is needed"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *object = solve(tool, cases[i].arguments, cases[i].code);
        assert_true(json_is_object(json_object_get(object, "error")));
        ulna_test_says(tool->err, cases[i].says);
        json_decref(object);
    }
    ulna_test_tool_run(tool, "solve -s human -m cut.c3d"); /* read as far as it goes, or refused; never a crash */
}

static void one_bad_output_does_not_stop_the_others(void **state)
{
    ulna_test_tool *tool = *state;
    char line[400]; /* a name that is longer than file systems allow */
    snprintf(line, sizeof line, "-s human -m take.c3d -o %0300d.csv -o good.csv", 1);
    json_t *object = solve(tool, line, 4);
    json_t *list = json_object_get(object, "outputs");
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "result")), "failed");
    assert_string_equal(json_string_value(json_object_get(json_array_get(list, 1), "result")), "written");
    assert_int_equal(integer(object, "frames"), FRAMES);
    json_decref(object);
    ulna_test_tool_shell(tool, "test -s good.csv && test -z \"$(ls | grep tmp)\"");
}

/* ---- the recorded take of the papers --------------------------------------------------------------------------------------------- */

/* A table of limits binds what it names; mistakes in it are told with their line. */
/* An AMC alone cannot be read: the note says how to get the ASF, and doing so works. */
static void an_amc_needs_its_asf(void **state)
{
    ulna_test_tool *tool = *state;
    json_t *object = solve(tool, "-s human -m take.c3d --frames 1:9 -o own.amc", 0);
    assert_true(has_note(object, "an AMC needs an ASF with the same joints: also convert human to .asf"));
    json_decref(object);
    assert_int_equal(ulna_test_tool_run(tool, "convert human own.asf"), 0);
    assert_int_equal(ulna_test_tool_run(tool, "info own.asf own.amc"), 0);
    ulna_test_tool_shell(tool, "printf 'marker,bone,x,y,z\\nLFHD,head,0.07,0.1,0.09\\n' >one.csv");
    object = solve(tool, "-s own.asf -m take.c3d -a one.csv --no-checks --frames 1:9 -o again.amc", 1);
    assert_false(has_note(object, "an AMC needs an ASF"));
    json_decref(object);
}

static double rms_of(ulna_test_tool *tool, const char *arguments)
{
    json_t *object = solve(tool, arguments, 0);
    double rms = json_number_value(json_object_get(json_object_get(object, "rms_mm"), "mean"));
    json_decref(object);
    return rms;
}

/* Limits of the file's angles, by their names, hold for balls too: as a cone and a twist. */
static void a_table_limits_balls(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool,
                         "printf 'dof,lower,upper\\nleft_upper_arm.Rz,-90,20\\nleft_upper_arm.Ry,-5,5\\n' >arm.csv;"
                         "printf 'dof,lower,upper\\nleft_upper_arm.Rz,-179,179\\n' >wide.csv");
    double narrow = rms_of(tool, "-s human -m take.c3d --ball quaternion --bounds arm.csv --frames 1:60");
    double wide = rms_of(tool, "-s human -m take.c3d --ball quaternion --bounds wide.csv --frames 1:60");
    assert_true(narrow > 1.05 * wide);
}

/* Each end of the range is widened by a twentieth of its own value, and the root is free. The knee is straight in this take: it comes to rest on
 * the end that is nearer. */
static void limits_come_from_a_motion(void **state)
{
    ulna_test_tool *tool = *state;
    for (int side = -1; side <= 1; side += 2) {
        char line[200];
        snprintf(line, sizeof line, "printf 'time,left_shank\\n0,%d\\n0.1,%d\\n' >small.csv", side * 20, side * 10);
        ulna_test_tool_shell(tool, line);
        json_decref(solve(tool, "-s human -m take.c3d --bounds small.csv -o bound.csv", 1));
        assert_int_equal(ulna_test_tool_run(tool, "sample --quiet ."), 0);
        assert_int_equal(ulna_test_tool_run(tool, "info --json human.json bound.csv"), 0);
        json_t *object = ulna_test_tool_json(tool), *row;
        json_t *ranges = json_object_get(json_array_get(json_object_get(object, "files"), 1), "ranges");
        size_t i;
        int found = 0, is_moved = 0;
        json_array_foreach(ranges, i, row)
        {
            const char *name = json_string_value(json_object_get(row, "dof"));
            double low = json_number_value(json_object_get(row, "low"));
            double high = json_number_value(json_object_get(row, "high"));
            is_moved |= i < 6 && high > low;
            if (strcmp(name, "left_shank") == 0) {
                assert_near(side > 0 ? low : high, side * 9.5, 1e-6);
                found++;
            }
        }
        assert_true(found == 1 && is_moved);
        json_decref(object);
    }
}

static void limits_come_from_a_table(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "printf 'dof,lower,upper\\n# knees\\nleft_shank,40,\\nright_shank;40;45\\n' >limits.csv;"
                               "printf 'dof,lower,upper\\nleft_shank,20,30\\nwing,0,1\\n' >wing.csv;"
                               "printf 'dof;lower;upper\\nleft_shank;30;20\\n' >round.csv;"
                               "printf 'dof,lower,upper\\nleft_shank,x,20\\n' >number.csv");
    json_decref(solve(tool, "-s human -m take.c3d --bounds limits.csv -o bound.csv", 0));
    assert_int_equal(ulna_test_tool_run(tool, "sample --quiet ."), 0);
    assert_int_equal(ulna_test_tool_run(tool, "info --json human.json bound.csv"), 0);
    json_t *object = ulna_test_tool_json(tool), *row;
    json_t *ranges = json_object_get(json_array_get(json_object_get(object, "files"), 1), "ranges");
    size_t i;
    int found = 0;
    json_array_foreach(ranges, i, row)
    {
        const char *name = json_string_value(json_object_get(row, "dof"));
        double low = json_number_value(json_object_get(row, "low"));
        double high = json_number_value(json_object_get(row, "high"));
        if (strstr(name, "_shank")) {
            assert_true(low > 40 - 1e-9 && (name[0] == 'l' || high < 45 + 1e-9));
            found++;
        }
    }
    assert_int_equal(found, 2);
    json_decref(object);
    json_decref(solve(tool, "-s human -m take.c3d --bounds wing.csv", 3));
    ulna_test_says(tool->err, "ulna: wing.csv:3: the skeleton has no degree of freedom 'wing'");
    json_decref(solve(tool, "-s human -m take.c3d --bounds round.csv", 3));
    ulna_test_says(tool->err, "wrong way round");
    json_decref(solve(tool, "-s human -m take.c3d --bounds number.csv", 3));
    ulna_test_says(tool->err, "are not numbers");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_take, ulna_test_tool_close)
    const struct CMUnitTest tests[] = {
        TEST(every_key_is_there),
        TEST(outputs_hold_the_motion),
        TEST(marker_files_leave_nothing_out),
        TEST(digits_and_channels_can_be_chosen),
        TEST(solved_motions_have_nine_digits),
        TEST(units_can_be_said),
        TEST(angles_do_not_depend_on_the_unit),
        TEST(repeated_notes_are_gathered),
        TEST(bad_takes_have_an_exit_code),
        TEST(unmeasured_joints_are_named),
        TEST(balls_have_limits),
        TEST(frames_can_be_chosen),
        TEST(threads_do_not_matter),
        TEST(other_methods_and_joints),
        TEST(axes_are_found),
        TEST(attachments_are_matched_by_name),
        TEST(an_amc_needs_its_asf),
        TEST(limits_come_from_a_motion),
        TEST(limits_come_from_a_table),
        TEST(a_table_limits_balls),
        TEST(report_stands_alone),
        TEST(bands_have_the_deviations_of_offsets),
        TEST(a_second_motion_is_compared),
        TEST(mistakes_are_told),
        TEST(one_bad_output_does_not_stop_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
