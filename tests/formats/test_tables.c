/* Tables (MOT, CSV): cells, units and times; what is written is read again, in any locale; memory and sinks that fail. */
#include "base/base.h"
#include "support_content.h"

#include <locale.h>

#include "formats/tables/table.h"

#define DEGREES (3.14159265358979323846 / 180)

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    assert_int_equal(ulna_sample_create(name, NULL, &model, NULL), ULNA_OK);
    return model;
}

/* Values of every size, with the quaternions of rest or of another length 1. */
static ulna_clip random_clip(ulna_test_rng *rng, const ulna_model *model, int frames)
{
    int nq = ulna_model_coordinate_count(model), nv = ulna_model_dof_count(model);
    double *step = calloc((size_t)nv, sizeof *step);
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_non_null(step);
    assert_int_equal(ulna_clip_resize(&clip, nq, frames), ULNA_OK);
    for (int f = 0; f < frames; f++) {
        ulna_test_rng_fill(rng, step, nv, -3, 3);
        for (int j = 0; j < nv; j++)
            step[j] *= ulna_test_rng_index(rng, 5) ? 1 : pow(10, ulna_test_rng_uniform(rng, -12, 0));
        ulna_model_integrate(model, ulna_model_rest(model), step, ulna_clip_frame(&clip, f));
    }
    free(step);
    clip.frame_seconds = 1 / 60.0;
    return clip;
}

/* ---- cells and times -------------------------------------------------------------------------------------------- */

static void cells_of_a_line(void **state)
{
    (void)state;
    static const struct {
        const char *line;
        char delimiter;
        const char *cells[6];
    } lines[] = {
        {"a\tb c\t\t d \t", '\t', {"a", "b c", "", "d", ""}},
        {"a, b ,,\"c,\"\"d\"\"\" ,e", ',', {"a", "b", "", "c,\"\"d\"\"", "e"}},
        {"1,5;2;\"x;y\"", ';', {"1,5", "2", "x;y"}},
        {"  a   b ", ' ', {"a", "b"}},
        {",", ',', {"", ""}},
        {"\"never, ends", ' ', {"\"never,", "ends"}},
        {"x,\"never ends, it", ',', {"x", "\"never ends, it"}},
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ulna_scan scan = ulna_scan_start(lines[i].line, strlen(lines[i].line));
        assert_int_equal(ulna_scan_line(&scan), 1);
        assert_int_equal(ulna_table_delimiter(&scan), lines[i].delimiter);
        ulna_row row = ulna_row_start(&scan, lines[i].delimiter);
        ulna_word cell;
        int count = 0;
        for (; ulna_row_next(&row, &cell); count++) {
            assert_non_null(lines[i].cells[count]);
            assert_true(ulna_word_is(cell, lines[i].cells[count]));
        }
        assert_null(lines[i].cells[count]);
    }
    char text[16];
    assert_int_equal(ulna_cell_copy((ulna_word){"a\"\"b\xe9", 5}, text, sizeof text), 1);
    assert_string_equal(text, "a\"b\xc3\xa9");
    assert_int_equal(ulna_cell_copy((ulna_word){"0123456789abcdefg", 17}, text, sizeof text), 0);
    double value;
    assert_int_equal(ulna_cell_number((ulna_word){"-1,25e1", 7}, ';', &value), 1);
    assert_true(value == -12.5);
    assert_int_equal(ulna_cell_number((ulna_word){"1,25", 4}, ',', &value), 0);
    assert_int_equal(ulna_cell_number((ulna_word){"1,2,5", 5}, ';', &value), 0);
    assert_int_equal(ulna_cell_number((ulna_word){"", 0}, ';', &value), 0);
}

/* Numbers in units that are powers of ten: the same bits come back, and nobody's digits are changed. */
static void decimal_units_change_no_digit(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    // clang-format off
    static const struct {
        const char *text;
        double scale, value;
    } cells[] = {
        {"12.3", 1e-3, 0.0123},
        {"0.1", 1e-3, 1e-4},
        {"-5e3", 0.01, -50},
        {"+.5", 1e3, 500},
        {"1e-4", 1e-3, 1e-7},
        {"123.457", 1e-3, .123457},
        {"1E300", 1e-6, 1e294},
        {"123456789012345678901", 0.1, 12345678901234567890.1},
        {"0.3", 1, 0.3},
        {"1,5", 1e-3, 0.0015},
        {"2", 0.0254, 2 * 0.0254},
    };
    // clang-format on
    static const double scales[] = {1, 1e-3, 1e-2, 0.1, 1e-6, 1e3, 0.0254, DEGREES};
    double value;
    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++) {
        assert_int_equal(
            ulna_cell_value((ulna_word){cells[i].text, strlen(cells[i].text)}, ';', cells[i].scale, &value), 1);
        assert_true(value == cells[i].value);
    }
    assert_int_equal(ulna_cell_value((ulna_word){"1e308", 5}, ';', 1e3, &value), 1);
    assert_true(isinf(value));
    assert_int_equal(ulna_cell_value((ulna_word){"1e", 2}, ';', 1e-3, &value), 0);
    assert_int_equal(ulna_cell_value((ulna_word){"", 0}, ';', 1e-3, &value), 0);
    assert_int_equal(ulna_cell_value((ulna_word){".", 1}, ';', 1e-3, &value), 0);
    for (int i = 0; i < 100000; i++) {
        double scale = scales[i % 8], x = ulna_test_rng_uniform(&rng, -2, 2), y;
        x = i % 3 == 0 ? x : i % 3 == 1 ? round(x * 1e6) / 1e6 : x * pow(10, ulna_test_rng_uniform(&rng, -30, 30));
        ulna_text text = ulna_text_empty(NULL);
        ulna_sink sink = ulna_text_sink(&text);
        ulna_writer out;
        ulna_writer_start(&out, &sink);
        ulna_put_value(&out, x, scale, 0);
        assert_int_equal(ulna_writer_finish(&out, "x", NULL), ULNA_OK);
        assert_int_equal(ulna_cell_value((ulna_word){text.data, text.length}, ',', scale, &y), 1);
        assert_true(i % 8 < 6 ? y == x : fabs(y - x) <= 2.3e-16 * fabs(x));
        if (i % 3 == 1 && i % 8 < 5) /* at most seven digits, a sign, a point, a zero before it */
            assert_true(text.length <= 10);
        ulna_text_release(&text);
    }
}

/* Whatever the step and the first frame: times that were written are read to the same step, or to one with the same times. */
static void times_come_back(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    static const double rates[] = {120, 60, 59.94, 23.976, 1000, 100, 29.97, 7};
    for (int i = 0; i < 3000; i++) {
        double step = i % 2 ? 1 / rates[i / 2 % 8] : pow(10, ulna_test_rng_uniform(&rng, -4, 1));
        int first = i % 3 ? 1 + ulna_test_rng_index(&rng, 5000) : 1, count = 1 + ulna_test_rng_index(&rng, 40), number;
        ulna_allocator allocator = ulna_allocator_or_default(NULL);
        ulna_times times = {.allocator = &allocator};
        ulna_remarks remarks = ulna_remarks_empty(NULL);
        double found;
        for (int k = 0; k < count; k++)
            assert_int_equal(ulna_times_add(&times, ulna_frame_time(step, first + k), 1), ULNA_OK);
        ulna_times_judge(&times, 0, ULNA_NO_FRAME, &remarks, &found, &number);
        if (remarks.count)
            fail_msg("%d frames of %.17g s from %d: %s", count, step, first, remarks.items[0].message);
        if (count > 1) {
            assert_int_equal(number, first);
            assert_true(fabs(found / step - 1) < 1e-13);
        }
        for (int k = 0; k < count; k++)
            assert_true((found > 0 ? ulna_frame_time(found, number + k) : 0) == times.items[k]);
        ulna_times_release(&times);
        ulna_remarks_release(&remarks);
    }
    assert_true(ulna_frame_time(1 / 60.0, 25) == 0.4 && ulna_frame_time(1 / 120.0, 4) == 0.025);
}

/* Rounded to three decimals, as many programs do it. */
static void rounded_times_give_the_rate(void **state)
{
    (void)state;
    static const double rates[] = {25, 30, 50, 60, 100, 120, 200, 240, 250, 400};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
        ulna_allocator allocator = ulna_allocator_or_default(NULL);
        ulna_times times = {.allocator = &allocator};
        ulna_remarks remarks = ulna_remarks_empty(NULL);
        double step;
        int first;
        for (int k = 0; k < 300; k++)
            assert_int_equal(ulna_times_add(&times, round(1000 * (0.4 + k / rates[i])) / 1000, 7), ULNA_OK);
        ulna_times_judge(&times, 0, ULNA_NO_FRAME, &remarks, &step, &first);
        assert_true(step == 1 / rates[i]);
        assert_int_equal(first, 1 + (int)lround(0.4 * rates[i]));
        assert_int_equal(remarks.count, 0);
        ulna_times_release(&times);
        ulna_remarks_release(&remarks);
    }
}

/* ---- there and back ------------------------------------------------------------------------------------------------ */

static void joints_come_back(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    static const ulna_format formats[] = {ULNA_FORMAT_MOT, ULNA_FORMAT_CSV};
    for (int s = 0; ulna_sample_name(s); s++) {
        ulna_model *model = sample(ulna_sample_name(s));
        for (int i = 0; i < 12; i++) {
            ulna_clip clip = random_clip(&rng, model, 1 + 5 * (i % 4));
            ulna_write_options options = ulna_write_options_default();
            options.degrees = i % 3 - 1;
            options.unit_m = i % 2 ? 0 : 1e-3;
            clip.first_frame = i % 5 ? 1 : 42;
            clip.frame_seconds = i % 4 == 3 ? 0.0123456 : 1 / 59.94;
            ulna_content again = assert_round_trip(formats[i / 6], model, &clip, NULL, &options);
            assert_int_equal(again.clip.frame_count, clip.frame_count);
            if (clip.frame_count > 1) {
                assert_int_equal(again.clip.first_frame, clip.first_frame);
                assert_true(fabs(again.clip.frame_seconds / clip.frame_seconds - 1) < 1e-14);
            }
            for (size_t k = 0; k < (size_t)clip.coordinate_count * (size_t)clip.frame_count; k++)
                assert_true(fabs(again.clip.q[k] - clip.q[k]) <= 2.3e-16 * fabs(clip.q[k]));
            if (options.degrees == 0 && formats[i / 6] == ULNA_FORMAT_MOT) /* no unit but the file's own: to the bit */
                assert_memory_equal(again.clip.q, clip.q, (size_t)clip.coordinate_count * sizeof(double));
            ulna_content_release(&again);
            ulna_clip_release(&clip);
        }
        ulna_model_destroy(model);
    }
}

static void markers_come_back(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(9);
    for (int i = 0; i < 30; i++) {
        ulna_recording r = random_recording(&rng, 1 + i % 6, 1 + i % 4);
        ulna_write_options options = ulna_write_options_default();
        options.unit_m = i % 2 ? 0.01 : 0;
        r.frame_seconds = i % 3 ? 1 / 29.97 : 0;
        r.first_frame = i % 5;
        snprintf(r.names[0], sizeof r.names[0], "%s",
                 i % 2
                     ? "#a;b,\"c\" d.t"
                     : "\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"");
        ulna_content again = assert_round_trip(ULNA_FORMAT_CSV, NULL, NULL, &r, &options);
        assert_int_equal(again.remarks.count, 0);
        assert_string_equal(again.recording.names[0], r.names[0]);
        assert_int_equal(again.recording.first_frame, r.first_frame);
        assert_same_recording(&r, &again.recording, 0);
        ulna_content_release(&again);
        ulna_recording_release(&r);
    }
}

/* A fourth column of a key point says how sure its system is: what it only guessed is missing. */
static void guesses_are_missing(void **state)
{
    (void)state;
    static const char text[] = "frame,hip_x,hip_y,hip_z,hip_visibility,knee_x,knee_y,knee_z,knee_visibility\n"
                               "0,1,2,3,0.9,4,5,6,0.5\n1,1,2,3,0.49,4,5,6,\n2,,,,0.1,4,5,6,1\n3,1,2,3\n";
    static const int is_there[4][2] = {{1, 1}, {0, 1}, {0, 1}, {1, 0}};
    ulna_content content = ulna_content_empty(NULL);
    ulna_error error;
    assert_int_equal(ulna_content_read(text, sizeof text - 1, ULNA_FORMAT_CSV, NULL, &content, &error), ULNA_OK);
    assert_int_equal(content.recording.marker_count, 2);
    assert_int_equal(content.recording.frame_count, 4);
    assert_string_equal(content.recording.names[1], "knee");
    for (int f = 0; f < 4; f++)
        for (int m = 0; m < 2; m++) {
            double x = ulna_recording_frame(&content.recording, f)[3 * m];
            assert_true(is_there[f][m] ? x == (m ? 4 : 1) : isnan(x));
        }
    assert_remark(&content.remarks, -1, "1 positions have a visibility below 0.5");
    ulna_content_release(&content);
    static const char *const bad[] = {"frame,hip_x,hip_y,hip_z,hip_visibility\n0,1,2,3,much\n",
                                      "frame,hip_x,hip_y,hip_z,knee_visibility\n0,1,2,3,1\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_not_equal(ulna_content_read(bad[i], strlen(bad[i]), ULNA_FORMAT_CSV, NULL, &content, &error),
                             ULNA_OK);
        ulna_content_release(&content);
    }
}

/* Where no such locale is installed, one can often be compiled. */
static int set_decimal_comma(const char *folder)
{
    char command[300];
    if (setlocale(LC_ALL, "de_DE.UTF-8"))
        return 1;
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", folder, folder);
    return system(command) != -1 && setenv("LOCPATH", folder, 1) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
}

static void locales_do_not_matter(void **state)
{
    (void)state;
    char folder[] = "/tmp/ulna-test-XXXXXX", command[64];
    assert_non_null(mkdtemp(folder));
    int is_set = set_decimal_comma(folder);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    if (!is_set) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    assert_string_equal(localeconv()->decimal_point, ",");
    ulna_test_rng rng = ulna_test_rng_seed(10);
    ulna_model *model = sample("human");
    ulna_clip clip = random_clip(&rng, model, 3);
    ulna_text there = written(ULNA_FORMAT_CSV, model, &clip, NULL, NULL, NULL);
    ulna_content again = assert_round_trip(ULNA_FORMAT_MOT, model, &clip, NULL, NULL);
    setlocale(LC_ALL, "C");
    ulna_text here = written(ULNA_FORMAT_CSV, model, &clip, NULL, NULL, NULL);
    assert_same_bytes(&there, &here);
    ulna_text_release(&there);
    ulna_text_release(&here);
    ulna_content_release(&again);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void memory_and_sinks_may_fail(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    ulna_model *model = sample("all-joints");
    ulna_clip clip = random_clip(&rng, model, 4);
    static const ulna_format formats[] = {ULNA_FORMAT_MOT, ULNA_FORMAT_CSV};
    for (int i = 0; i < 2; i++) {
        ulna_text text = written(formats[i], model, &clip, NULL, NULL, NULL);
        assert_memory_may_fail(text.data, text.length, formats[i], model);
        assert_sink_may_fail(formats[i], model, &clip, NULL);
        ulna_text_release(&text);
    }
    const char markers[] = "# lengths: m\nframe,time,A.x,A.y,A.z,A.x,A.y,A.z\n1,0,0,0,0,1,2,3\n2,1,0,0,0,1,2,3\n";
    assert_memory_may_fail(markers, strlen(markers), ULNA_FORMAT_CSV, NULL);
    assert_memory_may_fail(markers, strlen(markers), ULNA_FORMAT_CSV, model); /* could be joints: is looked up */
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* ---- marker names ------------------------------------------------------------------------------------------------- */

/* Names that a format cannot hold are changed, and a remark says which and how. */
static void marker_names_that_change(void **state)
{
    (void)state;
    static const struct {
        ulna_format format;
        const char *name, *words; /* words: NULL if the name is kept */
    } cases[] = {
        {ULNA_FORMAT_C3D, "A\nB", "1 marker name is changed to what the format can hold: marker 2 is written as 'A_B'"},
        {ULNA_FORMAT_TRC, "A\tB", "marker 2 is written as 'A_B'"},
        {ULNA_FORMAT_CSV, "A\rB", "marker 2 is written as 'A_B'"},
        {ULNA_FORMAT_C3D, " A ", "marker 2 is written as 'A'"},
        {ULNA_FORMAT_CSV, " A ", "marker 2 is written as 'A'"},
        {ULNA_FORMAT_TRC, "\"A", "marker 2 is written as ''A'"},
        {ULNA_FORMAT_CSV, "\"A", NULL},
        {ULNA_FORMAT_TRC, "", "marker 2 is written as 'point2'"},
        {ULNA_FORMAT_C3D, "A B", NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_recording r = ulna_recording_empty(NULL);
        ulna_remarks remarks = ulna_remarks_empty(NULL);
        assert_int_equal(ulna_recording_resize(&r, 2, 1), ULNA_OK);
        snprintf(r.names[0], ULNA_MARKER_NAME, "plain");
        snprintf(r.names[1], ULNA_MARKER_NAME, "%s", cases[i].name);
        r.frame_seconds = 0.01;
        for (int k = 0; k < 6; k++)
            r.positions[k] = 0.1 * (k + 1);
        ulna_text text = written(cases[i].format, NULL, NULL, &r, NULL, &remarks);
        if (cases[i].words)
            assert_remark(&remarks, -1, cases[i].words);
        assert_int_equal(has_remark(&remarks, "marker name"), cases[i].words != NULL);
        ulna_text_release(&text);
        ulna_remarks_release(&remarks);
        ulna_recording_release(&r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_of_a_line),       cmocka_unit_test(decimal_units_change_no_digit),
        cmocka_unit_test(times_come_back),       cmocka_unit_test(rounded_times_give_the_rate),
        cmocka_unit_test(joints_come_back),      cmocka_unit_test(markers_come_back),
        cmocka_unit_test(guesses_are_missing),   cmocka_unit_test(marker_names_that_change),
        cmocka_unit_test(locales_do_not_matter), cmocka_unit_test(memory_and_sinks_may_fail),
    };
    return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}
