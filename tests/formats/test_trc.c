/* TRC: the dialects of programs, cells that are missing, counts that are wrong, and the recorded files. */
#include "support_content.h"

#define KEYS "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames\n"
#define HEAD "PathFileType\t4\t(X/Y/Z)\tx.trc\n" KEYS
#define AXES "\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"

static ulna_content read_text(const char *text)
{
    return content_of_text(text, ULNA_FORMAT_UNKNOWN, NULL);
}

static void refused(const char *text, ulna_status status, int line, int column, const char *words)
{
    assert_refused(text, strlen(text), ULNA_FORMAT_TRC, NULL, status, line, column, words);
}

/* Number k of frame f, in metres. */
static double at(const ulna_content *c, int f, int k)
{
    return ulna_recording_frame(&c->recording, f)[k];
}

/* ---- what the format says --------------------------------------------------------------------------------------- */

static const char plain[] = HEAD "100\t100\t3\t2\tmm\t100\t1\t3\n"
                                 "Frame#\tTime\tLASI\t\t\tDaniel:RASI\t\t\n" AXES "1\t0\t1.5\t-2\t3e2\t4\t5\t6\n"
                                 "2\t0.01\t\t\t\tNaN\tnan\tNAN\n"
                                 "3\t0.02\t1\t2\t3\t-4\t+5\t.6\n";

static void a_plain_file(void **state)
{
    (void)state;
    ulna_content c = read_text(plain);
    assert_int_equal(c.format, ULNA_FORMAT_TRC);
    assert_int_equal(c.remarks.count, 0);
    assert_int_equal(c.recording.marker_count, 2);
    assert_int_equal(c.recording.frame_count, 3);
    assert_int_equal(c.recording.first_frame, 1);
    assert_true(c.recording.frame_seconds == 0.01 && c.source.unit_m == 1e-3);
    assert_string_equal(c.recording.names[1], "Daniel:RASI");
    assert_true(at(&c, 0, 0) == 1.5e-3 && at(&c, 0, 1) == -2e-3 && at(&c, 0, 2) == 0.3);
    assert_true(at(&c, 2, 3) == -4e-3 && at(&c, 2, 5) == .6e-3);
    assert_int_equal(ulna_recording_missing(&c.recording), 2);
    ulna_content_release(&c);
}

static void ends_of_lines_and_separators(void **state)
{
    (void)state;
    ulna_content wanted = read_text(plain);
    static const char *const changes[][2] = {{"\n", "\r\n"}, {"\n", "\r"}, {"\t", ","}, {"\t", ";"}, {"\t", " \t "}};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        char text[2000] = "\xEF\xBB\xBF";
        size_t used = 3;
        for (const char *c = plain; *c; c++) {
            char one[2] = {*c, 0};
            const char *put = *c == changes[i][0][0] ? changes[i][1] : one;
            used += (size_t)snprintf(text + used, sizeof text - used, "%s", put);
        }
        ulna_content c = read_text(text);
        assert_int_equal(c.remarks.count, 0);
        assert_same_recording(&wanted.recording, &c.recording, 0);
        ulna_content_release(&c);
    }
    ulna_content_release(&wanted);
}

/* OpenSim puts names two columns apart behind one more tab; others use blanks in the first lines, and more tabs in the third;
 * numbers may have decimal commas. */
static void dialects(void **state)
{
    (void)state;
    ulna_content c =
        read_text("\nPathFileType  4\t(X/Y/Z) C:\\x\n" KEYS "  50,0\t\t 50,0\t\t 2\t\t 2\t\t cm\t 50\t 1\t 2\n"
                  "Frame#\tTime\t\tA\t\tB\n\t\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n"
                  "7\t0,12\t1,5\t2\t3\t4\t5\t6,25\n8\t0,14\t1\t2\t3\t4\t5\t6\n");
    assert_int_equal(c.remarks.count, 0);
    assert_true(c.recording.frame_seconds == 0.02 && c.recording.first_frame == 7 && c.source.unit_m == 0.01);
    assert_string_equal(c.recording.names[1], "B");
    assert_true(at(&c, 0, 0) == 0.015 && at(&c, 0, 5) == 0.0625);
    ulna_content_release(&c);

    c = read_text("PathFileType 4\nDataRate NumFrames NumMarkers Units\n50 1 2 m\nFrame# Time A B\nX1 Y1 Z1 X2 Y2 Z2\n"
                  "1 0 1 2 3 4 5 NaN\n");
    assert_int_equal(c.recording.marker_count, 2);
    assert_true(at(&c, 0, 2) == 3 && isnan(at(&c, 0, 4)));
    ulna_content_release(&c);

    c = read_text(HEAD
                  "50\t50\t1\t3\tm\t50\t1\t1\nFrame#\tTime\tA\t\t\t\t\t\tC\t\t\n1\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\n");
    assert_int_equal(c.remarks.count,
                     0); /* no line of axes, and a marker without a name, which is known by its place */
    assert_string_equal(c.recording.names[1], "point2");
    assert_string_equal(c.recording.names[2], "C");
    assert_true(at(&c, 0, 6) == 7);
    ulna_content_release(&c);
}

/* TRC has no quotes: one that begins a name is a part of it, unless another ends it. */
static void quotes_in_names(void **state)
{
    (void)state;
    ulna_content c = read_text(HEAD "50\t50\t1\t4\tm\t50\t1\t1\nFrame#\tTime\t\">A\t\t\tB\t\t\tC\"\t\t\t\"D\"\t\t\n"
                                    "1\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t10\t11\t12\n");
    assert_int_equal(c.remarks.count, 0);
    assert_int_equal(c.recording.marker_count, 4);
    assert_string_equal(c.recording.names[0], "\">A");
    assert_string_equal(c.recording.names[1], "B");
    assert_string_equal(c.recording.names[2], "C\"");
    assert_string_equal(c.recording.names[3], "D");
    ulna_content_release(&c);
}

static void spellings_of_missing(void **state)
{
    (void)state;
    static const char *const cells[] = {"",         " ",       "NaN",     "nan", "NAN", "-nan", "+NaN",
                                        "nan(ind)", "-1.#IND", "1.#QNAN", "NA",  "n/a", "null", "None"};
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        char text[600];
        snprintf(text, sizeof text,
                 HEAD "1\t1\t1\t2\tm\t1\t1\t1\nFrame#\tTime\tA\t\t\tB\t\t\n" AXES "1\t0\t%s\t%s\t%s\t1\t2\t3\n",
                 cells[i], cells[i], cells[i]);
        ulna_content c = read_text(text);
        assert_int_equal(c.remarks.count, 0);
        assert_int_equal(ulna_recording_missing(&c.recording), 1);
        assert_true(at(&c, 0, 5) == 3);
        ulna_content_release(&c);
    }
}

/* ---- defects ---------------------------------------------------------------------------------------------------- */

static void defects_are_remarked_upon(void **state)
{
    (void)state;
    static const struct {
        const char *values, *names, *rows;
        int line;
        const char *words;
        int markers, frames, missing;
    } files[] = {
        {"100\t100\t3\t1\tmm", "A", "1\t0\t1\t2\t3\n", 3, "NumFrames is 3, but there are 1 rows: the file may", 1, 1,
         0},
        {"100\t100\t1\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t.01\t1\t2\t3\n", 3, "NumFrames is 1, but there are 2 rows", 1, 2,
         0},
        {"100\t100\t1\t7\tmm", "A", "1\t0\t1\t2\t3\n", 3, "NumMarkers is 7, but 1 markers are named", 1, 1, 0},
        {"100\t100\t1\tx\tmm", "A", "1\t0\t1\t2\t3\n", 3, "NumMarkers is not a number", 1, 1, 0},
        {"100\t100\t1\t1\tells", "A", "1\t0\t1\t2\t3\n", 3, "unit of length 'ells' is unknown", 1, 1, 0},
        {"100\t100\t1\t1\t", "A", "1\t0\t1\t2\t3\n", 3, "no unit of length is given", 1, 1, 0},
        {"100\t100\t1\t1\tmm", "A", "1\t0\t1\t\t3\n", 0, "1 positions have only one or two coordinates", 1, 1, 1},
        {"100\t100\t1\t1\tmm", "A", "1\t0\t1\t2\t3\t4\t5\t6\n", 0, "3 values are in columns without a marker name", 1,
         1, 0},
        {"100\t100\t2\t2\tmm", "A\t\t\tB", "1\t0\t1\t2\t3\n2\t.01\t1\t2\t3\t4\t5\t6\n", 7,
         "1 rows have too few cells, the first one here", 2, 2, 1},
        {"100\t100\t3\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t.01\t1\t2\t3\n4\t.02\t1\t2\t3\n", 9,
         "frame numbers do not increase by one, here;", 1, 3, 0},
        {"100\t100\t2\t1\tmm", "A", "1\t0\t0\t0\t0\n2\t.01\t1\t2\t3\n", 0, "1 positions are exactly zero", 1, 2, 0},
        {"100\t100\t1\t1\tmm", "A", "1\t0\t0\t0\t0\n", 0, "1 marker is at zero in every frame, such as 'A'", 1, 1, 0},
        {"100\t100\t1\t2\tmm", "A\t\t\tA", "1\t0\t1\t2\t3\t4\t5\t6\n", 0, "the same name as another", 2, 1, 0},
        {"100\t100\t2\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t\t1\t2\t3\n", 8, "this row has no time", 1, 2, 0},
        {"100\t100\t2\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t.04\t1\t2\t3\n", 7, "times are 0.04 s apart", 1, 2, 0},
        {"100\t100\t3\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t.01\t1\t2\t3\n3\t.13\t1\t2\t3\n", 7,
         "1 of 2 time steps is not 0.01 s", 1, 3, 0},
        {"100\t100\t1\t1\tmm", "A", "1\t0.4\t1\t2\t3\n", 7, "frame 1 has the time 0.4 s; frames are numbered from 41",
         1, 1, 0},
        {"100\t100\t1\t1\tmm", "A", "9\t0\t1\t2\t3\n", 7, "frame 9 has the time 0 s in the file, but gets 0.08 s", 1, 1,
         0},
        {"400\t400\t2\t0\tmm", "", "1\t0\n2\t.003\n", 4, "no marker is named", 0, 2, 0},
        {"100\t100\t1\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t.01\t4\t5", 8, "ends inside this row; its last number", 1, 2, 1},
        {"100\t100\t1\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t.0", 8, "ends inside this row, which is left out", 1, 1, 0},
        {"100\t100\t1\t1\tmm", "A", "1\t0\t1\t2\t3\n2\t.01\t4\t5\t-", 8, "ends inside this row; its last", 1, 2, 1},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char text[1000];
        snprintf(text, sizeof text, HEAD "%s\t100\t1\t1\nFrame#\tTime\t%s\t\t\n" AXES "%s", files[i].values,
                 files[i].names, files[i].rows);
        ulna_content c = read_text(text);
        assert_remark(&c.remarks, files[i].line, files[i].words);
        assert_int_equal(c.recording.marker_count, files[i].markers);
        assert_int_equal(c.recording.frame_count, files[i].frames);
        assert_int_equal(ulna_recording_missing(&c.recording), files[i].missing);
        ulna_content_release(&c);
    }
}

static void bad_files_are_refused(void **state)
{
    (void)state;
    refused("Nonsense\n", ULNA_ERR_PARSE, 0, 0, "its first word should be PathFileType");
    refused("PathFileType\t4\n", ULNA_ERR_PARSE, 1, 0, "ends before the line with DataRate");
    refused(HEAD, ULNA_ERR_PARSE, 2, 0, "ends before the values of DataRate");
    refused(HEAD "1\n", ULNA_ERR_PARSE, 3, 0, "ends before the names");
    refused(HEAD "1\nFrame\tA\tB\n", ULNA_ERR_PARSE, 4, 1, "should begin with Frame# and Time");
    refused(HEAD "1\nFrame#\tTime\tA\n", ULNA_ERR_PARSE, 4, 0, "no rows of values follow");
    refused(HEAD "1\nFrame#\tTime\tA\t\t\n" AXES "1\t0\t1\tx\t2\n", ULNA_ERR_PARSE, 7, 7, "'x' is not a position");
    refused(HEAD "1\nFrame#\tTime\tA\t\t\n" AXES "1\t0\t1\t2\tinf\n", ULNA_ERR_PARSE, 7, 9, "'inf' is not a position");
    refused(HEAD "1\nFrame#\tTime\tA\t\t\n" AXES "1\t0\t1\t2\t1e999\n", ULNA_ERR_PARSE, 7, 9,
            "'1e999' is not a position");
    refused(HEAD "1\nFrame#\tTime\tA\t\t\n" AXES "1.5\t0\t1\t2\t3\n", ULNA_ERR_PARSE, 7, 1, "not a frame number");
    refused(HEAD "1\nFrame#\tTime\tA\t\t\n" AXES "1\tzero\t1\t2\t3\n", ULNA_ERR_PARSE, 7, 3, "'zero' is not a time");
}

/* Few bytes must not ask for much memory: rows without cells for markers that are named. */
static void names_without_cells(void **state)
{
    (void)state;
    size_t size = 0, room = 400000;
    char *text = malloc(room);
    assert_non_null(text);
    size += (size_t)snprintf(text, room, HEAD "1\nFrame#\tTime");
    for (int i = 0; i < 30000; i++)
        size += (size_t)snprintf(text + size, room - size, "\tA\t\t");
    for (int i = 1; i < 20000; i++)
        size += (size_t)snprintf(text + size, room - size, "\n%d\t1", i);
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_content c = ulna_content_empty(&allocator);
    ulna_error error;
    assert_int_equal(ulna_content_read(text, size, ULNA_FORMAT_TRC, NULL, &c, &error), ULNA_ERR_LIMIT);
    assert_non_null(strstr(error.message, "30000 markers are named, but most rows have no cells"));
    assert_true(memory.peak_bytes < 200 * size);
    ulna_content_release(&c);
    ulna_test_memory_check(&memory);
    free(text);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    static const double units[] = {0, 1, 0.01, 0.0254}, steps[] = {1 / 120.0, 1 / 59.94, 0.0123456789, 1, 1e-3 / 3};
    for (int i = 0; i < 40; i++) {
        ulna_recording r = random_recording(&rng, i % 7, 1 + i % 5);
        ulna_write_options options = ulna_write_options_default();
        options.unit_m = units[i % 4];
        options.digits = i % 3 == 2 ? 7 : 0;
        r.frame_seconds = steps[i % 5];
        r.first_frame = i % 2 ? 1 : 2925;
        if (i % 7 > 2) {
            snprintf(r.names[0], sizeof r.names[0], "%s", "\"a\t\"\"b\"");
            snprintf(r.names[1], sizeof r.names[1], "%s", "two words");
            r.names[2][0] = 0;
        }
        ulna_content again = assert_round_trip(ULNA_FORMAT_TRC, NULL, NULL, &r, &options);
        assert_int_equal(again.recording.first_frame, r.first_frame);
        assert_true(fabs(again.recording.frame_seconds / r.frame_seconds - 1) < 1e-15);
        assert_int_equal(has_remark(&again.remarks, "time"), 0);
        if (i % 7 > 2) {
            assert_string_equal(again.recording.names[0], "'a_\"\"b\"");
            assert_string_equal(again.recording.names[2], "point3");
        }
        for (size_t k = 0; k < 3 * (size_t)(i % 7) * (size_t)r.frame_count; k++) {
            double x = r.positions[k], y = again.recording.positions[k],
                   tolerance = options.digits ? 1e-6
                               : i % 4 == 3   ? 2.3e-16
                                              : 0;
            assert_true(isnan(x) ? isnan(y) : fabs(x - y) <= tolerance * fabs(x));
        }
        ulna_content_release(&again);
        ulna_recording_release(&r);
    }
}

static void what_is_written(void **state)
{
    (void)state;
    ulna_recording r = ulna_recording_empty(NULL);
    assert_int_equal(ulna_recording_resize(&r, 2, 3), ULNA_OK);
    snprintf(r.names[0], sizeof r.names[0], "%s", "LASI");
    snprintf(r.names[1], sizeof r.names[1], "%s", "RASI");
    const double x[6] = {0.0123, -1.5, 0, 0.1 + 0.2, 1e-7, 2};
    memcpy(r.positions, x, sizeof x);
    memcpy(r.positions + 6, x, 3 * sizeof *x);
    r.positions[12] = 1e306; /* not in millimetres */
    r.positions[13] = r.positions[14] = 0;
    r.first_frame = 25;
    r.frame_seconds = 1 / 60.0;
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    ulna_text text = written(ULNA_FORMAT_TRC, NULL, NULL, &r, NULL, &remarks);
    assert_string_equal(text.data, "PathFileType\t4\t(X/Y/Z)\tmarkers.trc\n" KEYS "60\t60\t3\t2\tmm\t60\t25\t3\n"
                                   "Frame#\tTime\tLASI\t\t\tRASI\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
                                   "25\t0.4\t12.3\t-1500\t0\t300.00000000000004\t0.0001\t2000\n"
                                   "26\t0.4166666666666667\t12.3\t-1500\t0\tNaN\tNaN\tNaN\n"
                                   "27\t0.43333333333333335\tNaN\tNaN\tNaN\tNaN\tNaN\tNaN\n");
    assert_remark(&remarks, 0, "1 positions are too far away");
    ulna_text_release(&text);
    r.frame_seconds = 0;
    text = written(ULNA_FORMAT_TRC, NULL, NULL, &r, NULL, &remarks);
    assert_remark(&remarks, 0, "the frame rate is unknown; 120 per second");
    assert_non_null(strstr(text.data, "\n25\t0.2\t"));
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_recording_release(&r);
}

static void memory_and_sinks_may_fail(void **state)
{
    (void)state;
    assert_memory_may_fail(plain, strlen(plain), ULNA_FORMAT_TRC, NULL);
    ulna_content c = read_text(plain);
    assert_sink_may_fail(ULNA_FORMAT_TRC, NULL, NULL, &c.recording);
    ulna_content_release(&c);
}

/* ---- recorded files ----------------------------------------------------------------------------------------------- */

static void recorded_files(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const char *path;
        int markers, frames, first, missing;
        double rate, unit;
        const char *name0, *remark; /* NULL: no remark at all */
        double x[3];                /* of the last marker in the last frame, in the file's unit; NaN if missing */
    } files[] = {
        {"formats/btk_Gait.trc", 33, 487, 1, 7306, 100, 1e-3, "R.Shoulder", "NumMarkers is 66, but 33", {NAN, NAN, NAN}},
        {"formats/btk_10002-Unnamed.trc", 0, 882, 1, 0, 400, 1e-3, NULL, "no marker is named", {0, 0, 0}},
        {"formats/motek_ballet_reduced.trc", 41, 100, 1, 0, 30, 1e-3, "RFHD", NULL, {-2.99656, 1576.06381, 16.54349}},
        {"formats/osim_dataWithBlanksForMissingMarkers.trc", 40, 464, 1, 15005, 250, 1e-3, "LTH3", NULL, {1770.61169, 599.12988, 500.95572}},
        {"formats/osim_dataWithNaNsOfDifferentCases.trc", 14, 5, 1, 5, 250, 1e-3, "toe", NULL, {-33.771392, 498.944402, 196.738720}},
        {"formats/osim_exampleFormat.trc", 3, 5, 2, 2, 100, 1, "marker1", "frame 1 has the time 0.01 s", {-0.0517, 0.305, -1.7}},
        {"formats/osim_std_walking5_markers.trc", 40, 112, 1, 2077, 25, 1e-3, "LTH3", "the stated rate is 250", {NAN, NAN, NAN}},
        {"gait10dof18musc/subject01_walk.trc", 41, 151, 1, 0, 60, 1e-3, "R.ASIS", NULL, {614.139710, 1776.270510, 23.298670}},
        {"gait2354/subject01_static.trc", 49, 300, 1, 0, 60, 1e-3, "R.ASIS", NULL, {573.066280, 1818.215820, 38.064450}},
        {"opensim_ik_test/subject01_synthetic_marker_data.trc", 31, 73, 25, 0, 60, 1, "Sternum", "frame 1 has the time 0.4 s; frames are numbered from 25", {0.70121, 0.049148, -0.041512}},
        {"rajagopal/motion_capture_walk.trc", 41, 238, 1, 0, 100, 1e-3, "R.Shoulder", NULL, {2461.683, 52.199, -296.859}},
        {"rajagopal/static_walk_2.trc", 41, 153, 1, 0, 100, 1e-3, "R.Shoulder", NULL, {712.288, 58.140, -120.879}},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char path[200];
        snprintf(path, sizeof path, "trc/%s", files[i].path);
        ulna_content c = content_of_data(path);
        const ulna_recording *r = &c.recording;
        if (r->marker_count != files[i].markers || r->frame_count != files[i].frames ||
            r->first_frame != files[i].first || ulna_recording_missing(r) != files[i].missing)
            fail_msg("%s: %d markers, %d frames from %d, %lld missing", path, r->marker_count, r->frame_count,
                     r->first_frame, ulna_recording_missing(r));
        assert_true(fabs(r->frame_seconds * files[i].rate - 1) < 1e-12 && c.source.unit_m == files[i].unit);
        if (files[i].remark)
            assert_remark(&c.remarks, -1, files[i].remark);
        else
            assert_int_equal(c.remarks.count, 0);
        if (files[i].markers) {
            assert_string_equal(r->names[0], files[i].name0);
            const double *x = ulna_recording_frame(r, r->frame_count - 1) + 3 * (r->marker_count - 1);
            for (int k = 0; k < 3 && files[i].x[2] != 0; k++)
                if (isnan(files[i].x[k]) ? !isnan(x[k])
                                         : fabs(x[k] - files[i].x[k] * files[i].unit) > 2.3e-16 * fabs(x[k]))
                    fail_msg("%s: %.17g", path, x[k]);
        }
        ulna_content again = assert_round_trip(ULNA_FORMAT_TRC, NULL, NULL, r, NULL);
        assert_same_recording(r, &again.recording, 0); /* to the bit, whatever the unit */
        ulna_content_release(&again);
        ulna_content_release(&c);
    }
    ulna_content c = ulna_content_empty(NULL);
    ulna_error error;
    char path[512];
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), "trc/formats/btk_Truncated.trc");
    assert_int_equal(ulna_content_load(path, NULL, &c, &error), ULNA_ERR_PARSE);
    assert_int_equal(error.line, 2);
    assert_non_null(strstr(error.message, "ends before the values"));
    ulna_content_release(&c);
}

/* The same take as TRC and as C3D. */
static void trc_and_c3d_agree(void **state)
{
    (void)state;
    ulna_content trc = content_of_data("trc/formats/osim_dataWithBlanksForMissingMarkers.trc");
    ulna_content c3d = content_of_data("trc/formats/osim_walking5.c3d");
    assert_int_equal(ulna_recording_resize(&c3d.recording, 40, 464), ULNA_OK);
    assert_same_recording(&trc.recording, &c3d.recording, 5.1e-9); /* five decimals of a millimetre */
    ulna_content_release(&trc);
    ulna_content_release(&c3d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_file),
        cmocka_unit_test(ends_of_lines_and_separators),
        cmocka_unit_test(dialects),
        cmocka_unit_test(quotes_in_names),
        cmocka_unit_test(spellings_of_missing),
        cmocka_unit_test(defects_are_remarked_upon),
        cmocka_unit_test(bad_files_are_refused),
        cmocka_unit_test(names_without_cells),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(what_is_written),
        cmocka_unit_test(memory_and_sinks_may_fail),
        ulna_test_needs("trc", cmocka_unit_test(recorded_files)),
        ulna_test_needs("trc", cmocka_unit_test(trc_and_c3d_agree)),
    };
    return cmocka_run_group_tests_name("trc", tests, NULL, NULL);
}
