/* C3D: three kinds of machine, two kinds of numbers, what programs do to it, and files that are broken on purpose. */
#include "support_c3d.h"

static ulna_content read_made(maker *m)
{
    ulna_content content = content_of((const char *)m->data, m->length, ULNA_FORMAT_UNKNOWN, NULL);
    assert_int_equal(content.format, ULNA_FORMAT_C3D);
    return content;
}

static void assert_frames(const ulna_recording *r, const maker *m, double unit, int frames)
{
    assert_int_equal(r->marker_count, m->points);
    assert_int_equal(r->frame_count, frames);
    for (int f = 0; f < frames; f++)
        for (int p = 0; p < m->points; p++)
            for (int k = 0; k < 3; k++) {
                double x = ulna_recording_frame(r, f)[3 * p + k];
                if (is_missing(f, p))
                    assert_true(isnan(x));
                else
                    assert_true(fabs(x - unit * coordinate(f, p, k)) <= 1e-12 * unit * fabs(coordinate(f, p, k)));
            }
}

/* ---- what the format says --------------------------------------------------------------------------------------- */

static void all_machines_and_numbers(void **state)
{
    (void)state;
    for (int processor = PC; processor <= SGI; processor++)
        for (int is_real = 0; is_real < 2; is_real++) {
            maker m = {.processor = processor, .is_real = is_real, .points = 3, .frames = 7, .analog = 2};
            m.labels = "A1  B   C   ";
            m.scale = 0.125;
            make(&m);
            ulna_content c = read_made(&m);
            assert_int_equal(c.remarks.count, 0);
            assert_true(c.recording.frame_seconds == 1 / 50.0 && c.recording.first_frame == 1);
            assert_string_equal(c.recording.names[0], "A1");
            assert_string_equal(c.recording.names[2], "C");
            assert_true(c.source.unit_m == 1e-3 && c.source.up == 0 && c.source.analog == 2);
            if (is_real)
                assert_frames(&c.recording, &m, 1e-3, 7);
            else
                for (int f = 0; f < 7; f++)
                    for (int k = 0; k < 3; k++)
                        assert_true(is_missing(f, 1) || fabs(ulna_recording_frame(&c.recording, f)[3 + k] -
                                                             1e-3 * coordinate(f, 1, k)) <= 0.0626e-3);
            ulna_content_release(&c);
            free(m.data);
        }
}

static void screen_axes(maker *m)
{
    text_parameter(m, 1, "X_SCREEN", "+X", 2);
    text_parameter(m, 1, "Y_SCREEN", "+Y", 2);
    text_parameter(m, 1, "ANGLES", "KNEEHIP ", 4);
}

static void down_axis(maker *m)
{
    text_parameter(m, 1, "Y_SCREEN", "-Z", 2);
}

static void rates_beyond_all_cameras_are_remarked_upon(void **state)
{
    (void)state;
    maker m = {.points = 3, .frames = 7, .labels = "A1  B   C   ", .rate = 1e9};
    make(&m);
    ulna_content c = read_made(&m);
    assert_remark(&c.remarks, 0, "1e+09 per second");
    ulna_content_release(&c);
    free(m.data);
}

static void units_axes_and_places(void **state)
{
    (void)state;
    static const struct {
        const char *unit;
        double metres;
    } units[] = {{"m", 1}, {"mete", 1}, {"cm", 0.01}, {"INCH", 0.0254}, {"MM  ", 1e-3}, {"furl", 1e-3}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        maker m = {.is_real = 1, .points = 2, .frames = 2, .unit = units[i].unit, .labels = "A   B   "};
        m.more = screen_axes;
        m.parameter_block = 3;
        m.gap = 2;
        m.first = 40;
        make(&m);
        ulna_content c = read_made(&m);
        assert_true(c.source.unit_m == units[i].metres && c.source.up == 'y');
        assert_frames(&c.recording, &m, units[i].metres, 2);
        assert_int_equal(c.recording.first_frame, 40);
        assert_remark(&c.remarks, 0, "listed in POINT:ANGLES (2)");
        assert_int_equal(c.remarks.count, 1 + (i == 5));
        ulna_content_release(&c);

        ulna_read_options options = ulna_read_options_default(); /* asked for, whatever the file says */
        options.unit_m = 3;
        c = ulna_content_empty(NULL);
        assert_int_equal(ulna_content_read((char *)m.data, m.length, ULNA_FORMAT_C3D, &options, &c, NULL), ULNA_OK);
        assert_frames(&c.recording, &m, 3, 2);
        ulna_content_release(&c);
        free(m.data);
    }
    maker m = {.is_real = 1, .points = 1, .frames = 2, .labels = "A   ", .more = down_axis};
    make(&m);
    ulna_content c = read_made(&m);
    assert_int_equal(c.source.up, 0);
    assert_remark(&c.remarks, 0, "z points down");
    ulna_content_release(&c);
    free(m.data);
}

static void second_list(maker *m)
{
    text_parameter(m, 1, "LABELS2", "D   ", 4);
    text_parameter(m, 1, "labels3", "E\xe9  \0\0\0\0", 4);
}

static void names_of_points(void **state)
{
    (void)state;
    maker m = {.is_real = 1, .points = 7, .frames = 1, .labels = "A:LAA:LAC   ", .more = second_list};
    make(&m);
    ulna_content c = read_made(&m);
    static const char *const names[] = {"A:LA", "A:LA", "C", "D", "E\xc3\xa9", "point6", "point7"};
    for (int i = 0; i < 7; i++)
        assert_string_equal(c.recording.names[i], names[i]);
    assert_remark(&c.remarks, 0, "2 of 7 points have no label");
    assert_remark(&c.remarks, 0, "1 marker has the same name as another, such as 'A:LA'");
    ulna_content_release(&c);
    free(m.data);

    maker none = {.points = 2, .frames = 1};
    make(&none);
    c = read_made(&none);
    assert_string_equal(c.recording.names[1], "point2");
    ulna_content_release(&c);
    free(none.data);
}

/* ---- header and parameters that disagree ------------------------------------------------------------------------ */

static void set_word(maker *m, size_t at, int value)
{
    m->data[at] = (unsigned char)value;
    m->data[at + 1] = (unsigned char)(value >> 8);
}

static void the_length_of_the_file_decides(void **state)
{
    (void)state;
    static const struct {
        size_t at;
        int value;
        const char *words;
    } lies[] = {
        {2, 40, "POINT:USED states 8 points, the header 40; 8 are read"},
        {4, 5, "the header states 5 analog samples per frame; the length of the file fits 6, which is used"},
        {8, 30, "header and parameters state 30 to 100 frames; 100 are read"},
        {16, 9, "the header puts the data at block 9, POINT:DATA_START at 4; they are read from 4"},
        {14, 0x3f80, "the header's scale is 1, POINT:SCALE -0.1; points are read as floats of 1"},
    };
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        maker m = {.is_real = 1, .points = 8, .frames = 100, .analog = 6, .labels = "A   "};
        make(&m);
        set_word(&m, lies[i].at, lies[i].value);
        if (lies[i].at == 14)
            set_word(&m, 12, 0);
        ulna_content c = read_made(&m);
        assert_frames(&c.recording, &m, 1e-3, 100);
        assert_remark(&c.remarks, 0, lies[i].words);
        ulna_content_release(&c);
        free(m.data);
    }
}

static void a_file_that_ends_early(void **state)
{
    (void)state;
    maker m = {.is_real = 1, .points = 4, .frames = 50, .labels = "A   B   C   D   "};
    make(&m);
    size_t start = 3 * BLOCK;
    for (size_t length = start; length < m.length; length += 61) {
        ulna_content c = ulna_content_empty(NULL);
        ulna_error error;
        int frames = (int)((length - start) / 64);
        ulna_status status = ulna_content_read((const char *)m.data, length, ULNA_FORMAT_C3D, NULL, &c, &error);
        assert_int_equal(status, frames ? ULNA_OK : ULNA_ERR_PARSE);
        if (!frames)
            assert_non_null(strstr(error.message, "4 points are stated, but the file ends before its first frame"));
        else if (frames < 50) {
            char words[100];
            snprintf(words, sizeof words, "the file ends early: 50 frames are stated, %d are present", frames);
            assert_frames(&c.recording, &m, 1e-3, frames);
            assert_remark(&c.remarks, 0, words);
            assert_int_equal(c.recording.cut_frames, 50 - frames);
        }
        ulna_content_release(&c);
    }
    for (size_t length = 1; length < start; length += 37) { /* inside header and parameters: never a crash */
        char *copy = malloc(length);
        ulna_content c = ulna_content_empty(NULL);
        assert_non_null(copy);
        memcpy(copy, m.data, length);
        assert_int_equal(ulna_content_read(copy, length, ULNA_FORMAT_C3D, NULL, &c, NULL), ULNA_ERR_PARSE);
        ulna_content_release(&c);
        free(copy);
    }
    free(m.data);
}

static void every_point_marked_as_missing(void **state)
{
    (void)state;
    maker m = {.is_real = 1, .points = 2, .frames = 3, .labels = "A   B   "};
    make(&m);
    for (size_t i = 0; i < 6; i++)
        memcpy(m.data + 3 * BLOCK + 16 * i + 12, "\0\0\200\277", 4); /* -1 */
    ulna_content c = read_made(&m);
    assert_frames(&c.recording, &m, 1e-3, 3);
    assert_remark(&c.remarks, 0, "every position is marked as missing, but 6 have values");
    ulna_content_release(&c);
    for (size_t i = 0; i < 6; i++)
        memset(m.data + 3 * BLOCK + 16 * i, 0, 12); /* and nothing is there */
    c = read_made(&m);
    assert_int_equal(ulna_recording_missing(&c.recording), 6);
    ulna_content_release(&c);
    memset(m.data + 3 * BLOCK + 12, 0, 4);
    memcpy(m.data + 3 * BLOCK, "\0\0\300\177", 4); /* NaN */
    c = read_made(&m);
    assert_remark(&c.remarks, 0, "1 positions are not numbers");
    assert_int_equal(ulna_recording_missing(&c.recording), 6);
    ulna_content_release(&c);
    free(m.data);
}

/* ---- long takes ------------------------------------------------------------------------------------------------- */

static void long_fields(maker *m)
{
    field_parameter(m, "ACTUAL_START_FIELD", 100001);
    field_parameter(m, "ACTUAL_END_FIELD", 100001 + 70000 - 1);
}

static void long_frames(maker *m)
{
    float_parameter(m, 1, "LONG_FRAMES", 70000);
}

static void more_frames_than_words_can_count(void **state)
{
    (void)state;
    for (int way = 0; way < 4; way++) { /* TRIAL, LONG_FRAMES, the size of the file, the lower bits alone */
        maker m = {.points = 1, .frames = 70000, .labels = "A   ", .scale = 1000};
        m.more = way == 0 ? long_fields : way == 1 ? long_frames : NULL;
        make(&m);
        if (way < 3) {
            set_word(&m, 8, 65535);
            for (size_t i = 0; i + 12 < 3 * BLOCK; i++)
                if (memcmp(m.data + i, "FRAMES", 6) == 0 && m.data[i - 2] == 6)
                    set_word(&m, i + 10, 65535);
        }
        ulna_content c = read_made(&m);
        assert_int_equal(c.recording.frame_count, 70000);
        assert_int_equal(c.recording.first_frame, way == 0 ? 100001 : 1);
        assert_int_equal(c.remarks.count, way == 3);
        if (way == 3)
            assert_remark(&c.remarks, 0, "state 4464 to 4464 frames; 70000 are read");
        ulna_content_release(&c);
        free(m.data);
    }
    ulna_test_rng rng = ulna_test_rng_seed(7);
    ulna_recording r = random_recording(&rng, 1, 70000);
    r.first_frame = 5;
    ulna_content again = assert_round_trip(ULNA_FORMAT_C3D, NULL, NULL, &r, NULL);
    assert_int_equal(again.recording.frame_count, 70000);
    assert_int_equal(again.recording.first_frame, 5);
    assert_int_equal(again.remarks.count, 0);
    ulna_content_release(&again);
    r.first_frame = 2000000000;
    assert_int_equal(ulna_recording_resize(&r, 1, 10), ULNA_OK);
    again = assert_round_trip(ULNA_FORMAT_C3D, NULL, NULL, &r, NULL);
    assert_int_equal(again.recording.first_frame, 2000000000);
    assert_int_equal(again.recording.frame_count, 10);
    assert_int_equal(again.remarks.count, 0);
    ulna_content_release(&again);
    ulna_recording_release(&r);
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static void what_is_written_is_read_back(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    for (int markers = 1; markers <= 700; markers = 3 * markers + 1) {
        ulna_recording r = random_recording(&rng, markers, 5);
        snprintf(r.names[0], sizeof r.names[0], "%s", "  \xc3\x84rm\tl:LFHD ");
        if (markers > 1)
            r.names[markers - 1][0] = 0;
        r.frame_seconds = 1 / 59.94;
        ulna_content again = assert_round_trip(ULNA_FORMAT_C3D, NULL, NULL, &r, NULL);
        assert_int_equal(again.remarks.count, 0);
        for (size_t i = 0; i < 3 * 5 * (size_t)markers; i++) {
            double x = r.positions[i], y = again.recording.positions[i];
            assert_true(isnan(x) ? isnan(y) : fabs(x - y) <= fabs(x) / (1 << 24) * 1.0001);
        }
        assert_true(fabs(again.recording.frame_seconds * 59.94 - 1) < 1e-7);
        assert_string_equal(again.recording.names[0], "\xc3\x84rm_l:LFHD");
        if (markers > 1) {
            char name[32];
            snprintf(name, sizeof name, "point%d", markers);
            assert_string_equal(again.recording.names[markers - 1], name);
        }
        ulna_content_release(&again);
        ulna_recording_release(&r);
    }
}

static void the_axis_that_is_up_is_named(void **state)
{
    (void)state;
    static const char axes[] = {0, 'x', 'y', 'z'};
    ulna_recording recording = ulna_recording_empty(NULL);
    assert_int_equal(ulna_recording_resize(&recording, 1, 1), ULNA_OK);
    for (size_t i = 0; i < sizeof axes; i++) {
        ulna_text text = ulna_text_empty(NULL);
        ulna_sink sink = ulna_text_sink(&text);
        ulna_write_options options = ulna_write_options_default();
        ulna_content c = ulna_content_empty(NULL);
        options.up = axes[i];
        assert_int_equal(ulna_content_write(ULNA_FORMAT_C3D, NULL, NULL, &recording, &options, &sink, NULL, NULL),
                         ULNA_OK);
        assert_int_equal(ulna_content_read(text.data, text.length, ULNA_FORMAT_UNKNOWN, NULL, &c, NULL), ULNA_OK);
        assert_int_equal(c.source.up, axes[i]);
        ulna_text_release(&text);
        ulna_content_release(&c);
    }
    ulna_recording_release(&recording);
}

static void writing_has_limits(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2);
    ulna_recording r = random_recording(&rng, 2, 2);
    ulna_write_options options = ulna_write_options_default();
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    ulna_error error;
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    options.unit_m = 0.05644;
    assert_int_equal(ulna_content_write(ULNA_FORMAT_C3D, NULL, NULL, &r, &options, &sink, NULL, &error),
                     ULNA_ERR_UNSUPPORTED);
    options.unit_m = 1;
    r.frame_seconds = 0;
    r.first_frame = -3;
    r.positions[0] = 1e39;
    r.positions[1] = r.positions[2] = 0;
    ulna_text_release(&text);
    text = written(ULNA_FORMAT_C3D, NULL, NULL, &r, &options, &remarks);
    assert_remark(&remarks, 0, "1 positions are too far away");
    assert_remark(&remarks, 0, "C3D numbers frames from 1");
    assert_remark(&remarks, 0, "the frame rate is unknown");
    ulna_content c = content_of(text.data, text.length, ULNA_FORMAT_C3D, NULL);
    assert_true(c.source.unit_m == 1 && c.recording.frame_seconds == 0 && c.recording.first_frame == 1);
    assert_true(isnan(c.recording.positions[0]));
    ulna_content_release(&c);
    ulna_text_release(&text);
    ulna_recording_release(&r);

    r = random_recording(&rng, 4000, 1); /* names for 255 blocks, and then too many */
    text = written(ULNA_FORMAT_C3D, NULL, NULL, &r, NULL, NULL);
    ulna_text_release(&text);
    for (int m = 0; m < 4000; m++)
        snprintf(r.names[m], ULNA_MARKER_NAME, "a name that is quite long, such as number %d", m);
    assert_int_equal(ulna_content_write(ULNA_FORMAT_C3D, NULL, NULL, &r, NULL, &sink, NULL, &error), ULNA_ERR_LIMIT);
    assert_int_equal(error.status, ULNA_ERR_LIMIT);
    ulna_text_release(&text);
    ulna_recording_release(&r);
    ulna_remarks_release(&remarks);
}

/* ---- hostile files ------------------------------------------------------------------------------------------------ */

static void any_byte_may_be_wrong(void **state)
{
    (void)state;
    static const int values[] = {0, 1, 127, 128, 255, 0x50};
    ulna_read_options options = ulna_read_options_default();
    options.extras = 1;
    for (int processor = PC; processor <= SGI; processor++) {
        maker m = {.processor = processor, .points = 3, .frames = 4, .labels = "A   B   C   ", .analog = 1};
        m.more = screen_axes;
        make(&m);
        for (size_t at = 0; at < 3 * BLOCK; at++) {
            unsigned char was = m.data[at];
            if (at > 40 && at < BLOCK)
                continue; /* reserved */
            for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
                ulna_test_memory memory = {.fail_at = -1};
                ulna_allocator allocator = ulna_test_allocator(&memory);
                ulna_content c = ulna_content_empty(&allocator);
                ulna_error error = {0};
                m.data[at] = (unsigned char)values[i];
                ulna_status status = ulna_content_read((char *)m.data, m.length, ULNA_FORMAT_C3D, &options, &c, &error);
                assert_true(status == ULNA_OK || (status == ULNA_ERR_PARSE && error.message[0]));
                assert_true(memory.peak_bytes < 200000); /* of a file of 2,048 bytes */
                for (int f = 0; f < c.recording.frame_count; f++)
                    for (int k = 0; k < 3 * c.recording.marker_count; k++)
                        assert_true(!isinf(ulna_recording_frame(&c.recording, f)[k]));
                ulna_content_release(&c);
                ulna_test_memory_check(&memory);
            }
            m.data[at] = was;
        }
        free(m.data);
    }
}

static void many_markers(maker *m)
{
    float_parameter(m, 1, "USED", 100000);
}

static void announcements_cost_nothing(void **state)
{
    (void)state;
    for (int huge = 0; huge < 2; huge++) {
        maker m = {.points = 1, .frames = 2, .labels = "A   ", .more = many_markers};
        make(&m);
        memcpy(m.data + BLOCK + 6, "VSED", 4); /* leaves the float to tell */
        set_word(&m, 2, 65535);
        if (huge)
            for (size_t i = BLOCK; i < 3 * BLOCK; i++)
                if (memcmp(m.data + i, "USED", 4) == 0 && m.data[i + 6] == 4)
                    memcpy(m.data + i + 8, "\377\377\177\177", 4); /* FLT_MAX */
        ulna_test_memory memory = {.fail_at = -1};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_content c = ulna_content_empty(&allocator);
        ulna_error error;
        assert_int_equal(ulna_content_read((char *)m.data, m.length, ULNA_FORMAT_C3D, NULL, &c, &error),
                         ULNA_ERR_PARSE);
        assert_non_null(strstr(error.message, huge ? "65535 points are stated" : "100000 points are stated"));
        assert_true(memory.peak_bytes < 20000);
        ulna_content_release(&c);
        ulna_test_memory_check(&memory);
        free(m.data);
    }
}

static void memory_and_sinks_may_fail(void **state)
{
    (void)state;
    maker m = {.points = 3, .frames = 40, .labels = "A   A   C   ", .analog = 5, .more = screen_axes};
    make(&m);
    assert_memory_may_fail((const char *)m.data, m.length, ULNA_FORMAT_C3D, NULL);
    ulna_content c = read_made(&m);
    assert_sink_may_fail(ULNA_FORMAT_C3D, NULL, NULL, &c.recording);
    ulna_content_release(&c);
    free(m.data);
}

static void texts_are_no_c3d(void **state)
{
    (void)state;
    const char text[] = "SPINE.x,SPINE.y,SPINE.z\n0,0,0\n";
    char longer[2 * BLOCK];
    memset(longer, 'P', sizeof longer);
    assert_int_equal(ulna_format_sniff(longer, sizeof longer), ULNA_FORMAT_UNKNOWN);
    assert_int_not_equal(ulna_format_sniff(text, sizeof text - 1), ULNA_FORMAT_C3D);
    assert_int_equal(ulna_format_sniff("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16), ULNA_FORMAT_UNKNOWN);
    assert_int_equal(ulna_format_sniff("%PDF-1.4\0", 10), ULNA_FORMAT_UNKNOWN);
    memset(longer + 2, 0, sizeof longer - 2); /* no parameters where they should be */
    longer[0] = 2;
    assert_int_equal(ulna_format_sniff(longer, sizeof longer), ULNA_FORMAT_UNKNOWN);
    assert_refused("\2P\0\0", 4, ULNA_FORMAT_UNKNOWN, NULL, ULNA_ERR_PARSE, 0, 0, "ends after 4 bytes");
    assert_refused(text, sizeof text - 1, ULNA_FORMAT_C3D, NULL, ULNA_ERR_PARSE, 0, 0, "before its parameters");
    assert_refused("no", 2, ULNA_FORMAT_C3D, NULL, ULNA_ERR_PARSE, 0, 0, "not a C3D file");
}

/* ---- recorded files ----------------------------------------------------------------------------------------------- */

static void one_trial_in_six_ways(void **state)
{
    (void)state;
    static const char *const names[] = {"c3d/s01_Eb015pr.c3d", "c3d/s01_Eb015sr.c3d", "c3d/s01_Eb015vr.c3d",
                                        "c3d/s01_Eb015pi.c3d", "c3d/s01_Eb015si.c3d", "c3d/s01_Eb015vi.c3d",
                                        "c3d/s08_TESTAPI.c3d", "c3d/s08_TESTBPI.c3d", "c3d/s08_TESTCPI.c3d",
                                        "c3d/s08_TESTDPI.c3d"};
    ulna_content first = content_of_data(names[0]), integers = content_of_data(names[3]);
    assert_int_equal(first.recording.marker_count, 26);
    assert_int_equal(first.recording.frame_count, 450);
    assert_int_equal(ulna_recording_missing(&first.recording), 226);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ulna_content c = content_of_data(names[i]);
        /* floats to the bit; integers, which were rounded to 1/12 mm before the floats were made of them, to a float's */
        assert_same_recording(i < 3 ? &first.recording : &integers.recording, &c.recording, 0);
        assert_same_recording(&first.recording, &c.recording, 2e-7);
        assert_int_equal(c.remarks.count, 0);
        assert_true(c.source.up == 'z' && c.source.unit_m == 1e-3 && c.recording.frame_seconds == 0.02);
        assert_string_equal(c.recording.names[0], "RFT1");
        ulna_content_release(&c);
    }
    ulna_content_release(&first);
    ulna_content_release(&integers);
}

static void recorded_files(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        int markers, frames, first, missing;
        double rate, unit;
        char up;
        const char *name0, *remark; /* NULL: no remark at all */
        double x0;                  /* of the first marker in the first frame, in the file's unit; NaN if missing */
    } files[] = {
        {"c3d/btk_Analysis.c3d", 24, 101, 1, 0, 100, 1e-3, 0, "LPelvisAngles", "POINT:ANGLES (10)", 12.0390272},
        {"c3d/btk_MyCube.c3d", 14, 1, 1, 0, 50, 1e-3, 'z', "PBLeiden01_1", NULL, 56.4154778},
        {"c3d/btk_PiG_Calibration3_FF.c3d", 66, 95, 604, 4, 100, 1e-3, 'z', "LASI", "ANGLES (12)", 275.169281},
        {"c3d/btk_PiG_Motion3_FF.c3d", 97, 293, 725, 4429, 100, 1e-3, 'z', "LASI", "MOMENTS (8)", 65.0415039},
        {"c3d/btk_parameterOverflow.c3d", 142, 101, 1, 0, 100, 1e-3, 'z', "LFHD", "beyond its stated end at byte 24064",
         0},
        {"c3d/btk_shd01.c3d", 27, 237, 91, 0, 250, 1e-3, 'z', "AbcdeFghijk:RASI", NULL, 690.153625},
        {"c3d/mfr_innovative_sports_training.c3d", 24, 134, 1, 24, 60, 1, 0, "ROFF", NULL, NAN},
        {"c3d/mfr_motion_analysis_corporation.c3d", 49, 151, 1, 1208, 60, 1e-3, 'z', "THEA",
         "12 markers have the same name", -892.661743},
        {"c3d/s06_MACsample.c3d", 33, 180, 1, 3565, 60, 1e-3, 'z', "RSHO", "points are read as integers of 0.0551136",
         NAN},
        {"c3d/s09_PlugInC3D.c3d", 86, 281, 1, 9187, 60, 1e-3, 'z', "RKNE", "POWERS (6)", -1060.82235},
        {"c3d/s15_peak_FP1.c3d", 8, 480, 1, 0, 60, 1, 0, "PT00", "beyond its stated end at byte 2048", 0.73045003},
        {"c3d/s18_bad_parameter_section.c3d", 45, 332, 1, 6044, 120, 1e-3, 'z', "P1",
         "points outside the parameter section", -587.370505},
        {"c3d/s24_MotionMonitor.c3d", 8, 840, 1, 0, 140, 1, 0, "point1", "16 analog samples per frame", 0.0260564107},
        {"c3d/s28_BTS_type1.c3d", 28, 296, 1, 1796, 100, 1e-3, 0, "RASI", NULL, NAN},
        {"cmu/02_01.c3d", 41, 343, 50, 0, 120, 1e-3, 'z', "TakeoMonday:LBWT", NULL, -1779.45752},
        {"hdm05/HDM_dg_03-05_02_120.c3d", 44, 3866, 1, 0, 120, 1e-3, 0, "*0", NULL, 159.218887},
        {"hdm05/HDM_dg_06-03_03_120.c3d", 44, 202, 2925, 0, 120, 1e-3, 0, "*0", NULL, 1360.84766},
        {"trc/formats/btk_Gait.c3d", 33, 487, 1, 9682, 100, 1e-3, 'z', "RSHO", "6 markers have the same name", NAN},
        {"trc/formats/osim_walking5.c3d", 40, 1103, 1, 20082, 250, 1e-3, 'z', "LTH3", NULL, NAN},
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ulna_content c = content_of_data(files[i].path);
        const ulna_recording *r = &c.recording;
        if (r->marker_count != files[i].markers || r->frame_count != files[i].frames ||
            r->first_frame != files[i].first || ulna_recording_missing(r) != files[i].missing)
            fail_msg("%s: %d markers, %d frames from %d, %lld missing", files[i].path, r->marker_count, r->frame_count,
                     r->first_frame, ulna_recording_missing(r));
        assert_true(fabs(r->frame_seconds * files[i].rate - 1) < 1e-12);
        assert_true(c.source.unit_m == files[i].unit && c.source.up == files[i].up);
        assert_string_equal(r->names[0], files[i].name0);
        double x = r->positions[0] / files[i].unit;
        assert_true(isnan(files[i].x0) ? isnan(x) : fabs(x - files[i].x0) <= 1e-8 * fabs(files[i].x0));
        if (files[i].remark)
            assert_remark(&c.remarks, 0, files[i].remark);
        else
            assert_int_equal(c.remarks.count, 0);
        ulna_content again = assert_round_trip(ULNA_FORMAT_C3D, NULL, NULL, r, NULL);
        assert_same_recording(r, &again.recording, 2e-6);
        ulna_content_release(&again);
        ulna_content_release(&c);
    }
    ulna_content empty = ulna_content_empty(NULL);
    char path[512];
    ulna_error error;
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), "c3d/btk_Empty.c3d");
    assert_int_equal(ulna_content_load(path, NULL, &empty, &error), ULNA_ERR_PARSE);
    assert_string_equal(error.message, "the file is empty");
    ulna_content_release(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_machines_and_numbers),
        cmocka_unit_test(rates_beyond_all_cameras_are_remarked_upon),
        cmocka_unit_test(units_axes_and_places),
        cmocka_unit_test(names_of_points),
        cmocka_unit_test(the_length_of_the_file_decides),
        cmocka_unit_test(a_file_that_ends_early),
        cmocka_unit_test(every_point_marked_as_missing),
        cmocka_unit_test(more_frames_than_words_can_count),
        cmocka_unit_test(what_is_written_is_read_back),
        cmocka_unit_test(the_axis_that_is_up_is_named),
        cmocka_unit_test(writing_has_limits),
        cmocka_unit_test(any_byte_may_be_wrong),
        cmocka_unit_test(announcements_cost_nothing),
        cmocka_unit_test(memory_and_sinks_may_fail),
        cmocka_unit_test(texts_are_no_c3d),
        ulna_test_needs("c3d", cmocka_unit_test(one_trial_in_six_ways)),
        ulna_test_needs("c3d cmu hdm05 trc", cmocka_unit_test(recorded_files)),
    };
    return cmocka_run_group_tests_name("c3d", tests, NULL, NULL);
}
