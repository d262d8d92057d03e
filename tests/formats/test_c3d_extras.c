/*
 * C3D to C3D: residuals and cameras, analog samples, force plates, events and every other parameter are kept, of files that are made here and of
 * recorded ones.
 */
#include "formats/c3d/c3d.h"
#include "formats/text/scan.h"
#include "support_c3d.h"

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static ulna_content read_all(const char *data, size_t length)
{
    ulna_error error;
    ulna_read_options options = ulna_read_options_default();
    ulna_content content = ulna_content_empty(NULL);
    options.extras = 1;
    if (ulna_content_read(data, length, ULNA_FORMAT_C3D, &options, &content, &error))
        fail_msg("%s", error.message);
    return content;
}

static ulna_text write_all(const ulna_content *content, double unit_m, ulna_remarks *remarks)
{
    ulna_error error;
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_write_options options = ulna_write_options_default();
    options.extras = content->extras;
    options.unit_m = unit_m;
    if (ulna_content_write(ULNA_FORMAT_C3D, NULL, NULL, &content->recording, &options, &sink, remarks, &error))
        fail_msg("%s", error.message);
    return text;
}

static char *file_of(const char *name, size_t *length)
{
    char path[512];
    return ulna_test_read_file(ulna_test_path(path, sizeof path, ulna_test_data_dir(), name), length);
}

/* Two force plates, labels of analog channels, events in the header's way, and a group that nobody knows. */
static void plates_and_others(maker *m)
{
    static const int corners[] = {3, 4, 2}, origins[] = {3, 2}, two = 2, bytes = 3;
    group(m, 4, "FORCE_PLATFORM");
    word_parameter(m, 4, "USED", 2);
    parameter(m, 4, "CORNERS", 4, 3, corners, 96);
    for (int i = 0; i < 24; i++)
        put_float(m, 100 * i - 250.5);
    put_byte(m, 0);
    parameter(m, 4, "ORIGIN", 4, 2, origins, 24);
    for (int i = 0; i < 6; i++)
        put_float(m, 1.25 * i - 20);
    put_byte(m, 0);
    parameter(m, 4, "ZERO", 2, 1, &two, 4);
    put_word(m, 1);
    put_word(m, 10);
    put_byte(m, 0);
    text_parameter(m, 2, "LABELS", "Fx1 Fy1 Fz1 Mx1 ", 4);
    float_parameter(m, 2, "GEN_SCALE", 0.5);
    group(m, 9, "HOUSE");
    text_parameter(m, 9, "NOTE", "left knee", 9);
    parameter(m, 9, "BYTES", 1, 1, &bytes, 3);
    put(m, "\1\377\200", 3);
    put_byte(m, 0);
}

static maker made(int processor, int is_real, int frames)
{
    maker m = {.processor = processor, .is_real = is_real, .points = 5, .frames = frames, .first = 91, .analog = 24};
    m.labels = "A   B   C   D   E   ";
    m.scale = 0.125;
    m.blocks = 4;
    m.more = plates_and_others;
    make(&m);
    return m;
}

/* ---- parameters, read without the code under test ----------------------------------------------------------------- */

static ulna_c3d_file open_bytes(const char *data, size_t length)
{
    ulna_c3d_file file = {.data = (const unsigned char *)data, .length = length};
    size_t section = ((size_t)file.data[0] - 1) * ULNA_C3D_BLOCK;
    file.processor = file.data[section + 3];
    file.section = section + 4;
    file.section_end = ((size_t)ulna_c3d_word(file.data + ULNA_C3D_AT_DATA, file.processor) - 1) * ULNA_C3D_BLOCK;
    return file;
}

static ulna_word name_of(const ulna_c3d_file *file, const ulna_c3d_entry *e)
{
    return (ulna_word){(const char *)file->data + e->name, e->length};
}

static int same_name(ulna_word a, ulna_word b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static ulna_word group_of(const ulna_c3d_file *file, int id)
{
    ulna_c3d_entry e;
    for (size_t at = file->section; at && ulna_c3d_parse_entry(file, at, NULL, &e) > 0; at = e.next)
        if (e.id == -id)
            return name_of(file, &e);
    fail_msg("no group %d", id);
    return (ulna_word){"", 0};
}

static int find_parameter(const ulna_c3d_file *file, ulna_word group, ulna_word name, ulna_c3d_entry *e)
{
    for (size_t at = file->section; at && ulna_c3d_parse_entry(file, at, NULL, e) > 0; at = e->next)
        if (e->id > 0 && same_name(name_of(file, e), name) && same_name(group_of(file, e->id), group))
            return 1;
    return 0;
}

/* The same type, sizes and values, in the numbers of another machine. */
static int same_array(const ulna_c3d_file *a, const ulna_c3d_entry *ea, const ulna_c3d_file *b,
                      const ulna_c3d_entry *eb)
{
    ulna_c3d_parameter p = {0}, q = {0};
    if (!ulna_c3d_parse_array(a, ea->link + 2, ea->next ? ea->next : a->section_end, &p) ||
        !ulna_c3d_parse_array(b, eb->link + 2, eb->next ? eb->next : b->section_end, &q))
        return 0;
    size_t shape = p.at - ea->link - 2, step = (size_t)(p.type < 0 ? 1 : p.type);
    int is_same = p.bytes == q.bytes && shape == q.at - eb->link - 2 &&
                  memcmp(a->data + ea->link + 2, b->data + eb->link + 2, shape) == 0;
    for (size_t i = 0; i < p.bytes && is_same; i += step) {
        const unsigned char *x = a->data + p.at + i, *y = b->data + q.at + i;
        is_same = p.type == 4   ? ulna_c3d_float(x, a->processor) == ulna_c3d_float(y, b->processor)
                  : p.type == 2 ? ulna_c3d_word(x, a->processor) == ulna_c3d_word(y, b->processor)
                                : *x == *y;
    }
    return is_same;
}

/* What depends on how the points are stored may differ. */
static int is_about_points(ulna_word group, ulna_word name)
{
    static const char *const names[] = {"SCALE", "DATA_START", "FRAMES", "UNITS", "LABELS", "LABELS2", "USED", "RATE"};
    int found = group.length == 5 && memcmp(group.text, "TRIAL", 5) == 0 && name.length > 6 &&
                memcmp(name.text, "ACTUAL", 6) == 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found |= group.length == 5 && memcmp(group.text, "POINT", 5) == 0 && name.length == strlen(names[i]) &&
                 memcmp(name.text, names[i], name.length) == 0;
    return found;
}

static int assert_same_parameters(const char *name, const ulna_c3d_file *a, const ulna_c3d_file *b)
{
    ulna_c3d_entry e = {0}, other = {0};
    int compared = 0;
    for (size_t at = a->section; at && ulna_c3d_parse_entry(a, at, NULL, &e) > 0; at = e.next) {
        if (e.id < 0)
            continue;
        ulna_word group = group_of(a, e.id), parameter = name_of(a, &e);
        if (!find_parameter(b, group, parameter, &other))
            fail_msg("%s: %.*s:%.*s is lost", name, (int)group.length, group.text, (int)parameter.length,
                     parameter.text);
        if (!is_about_points(group, parameter) && !same_array(a, &e, b, &other))
            fail_msg("%s: %.*s:%.*s is not the same", name, (int)group.length, group.text, (int)parameter.length,
                     parameter.text);
        compared++;
    }
    return compared;
}

/* Residual and cameras of each point that is there; returns how many are not 0. */
static int assert_same_words(const char *name, const ulna_content *a, const ulna_content *b)
{
    int found = 0;
    assert_true(ulna_c3d_extras_of(b->extras)->scale == (double)(float)ulna_c3d_extras_of(a->extras)->scale);
    for (size_t i = 0;
         i < (size_t)ulna_c3d_extras_of(a->extras)->frames * (size_t)ulna_c3d_extras_of(a->extras)->points; i++) {
        float word = ulna_c3d_extras_of(a->extras)->words[i] > 0 ? ulna_c3d_extras_of(a->extras)->words[i] : 0;
        if (isnan(a->recording.positions[3 * i]))
            continue;
        if (ulna_c3d_extras_of(b->extras)->words[i] != word)
            fail_msg("%s: point %zu has the word %g, not %g", name, i, (double)ulna_c3d_extras_of(b->extras)->words[i],
                     (double)word);
        found += word > 0;
    }
    return found;
}

/* ---- everything is kept ------------------------------------------------------------------------------------------- */

/* Channels 0: any number of them. Returns how many points have a word that is not 0. */
static int check_kept(const char *name, const char *data, size_t length, int channels, int per_frame)
{
    ulna_content first = read_all(data, length);
    ulna_text once = write_all(&first, 0, NULL);
    ulna_content second = read_all(once.data, once.length);
    const ulna_c3d_extras *a = ulna_c3d_extras_of(first.extras), *b = ulna_c3d_extras_of(second.extras);
    if (a->per_frame != per_frame || (channels && a->channels != channels))
        fail_msg("%s: %d samples of %d channels", name, a->per_frame, a->channels);
    assert_true(b->per_frame == a->per_frame && b->channels == a->channels && b->frames == a->frames);
    if (a->per_frame)
        assert_memory_equal(a->samples, b->samples, (size_t)a->frames * (size_t)a->per_frame * sizeof(float));
    assert_memory_equal(a->events, b->events, sizeof a->events);
    int words = assert_same_words(name, &first, &second);
    assert_true(isnan(a->analog_rate) || !a->per_frame || a->analog_rate == b->analog_rate);
    assert_same_recording(&first.recording, &second.recording, 2e-6);
    ulna_c3d_file before = open_bytes(data, length), after = open_bytes(once.data, once.length);
    assert_true(assert_same_parameters(name, &before, &after) > 15);
    ulna_text twice = write_all(&second, 0, NULL);
    assert_int_equal(once.length, twice.length);
    assert_memory_equal(once.data, twice.data, once.length);
    ulna_text_release(&once);
    ulna_text_release(&twice);
    ulna_content_release(&first);
    ulna_content_release(&second);
    return words;
}

static void made_files_are_kept(void **state)
{
    (void)state;
    for (int processor = PC; processor <= SGI; processor++)
        for (int is_real = 0; is_real < 2; is_real++) {
            maker m = made(processor, is_real, 7);
            assert_true(check_kept("made", (char *)m.data, m.length, 24, 24) > 20);
            free(m.data);
        }
}

static void files_of_many_makers_are_kept(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int channels, per_frame;
    } files[] = {
        {"c3d/btk_Analysis.c3d", 16, 16},
        {"c3d/btk_MyCube.c3d", 0, 0},
        {"c3d/btk_PiG_Motion3_FF.c3d", 34, 340},
        {"c3d/btk_parameterOverflow.c3d", 36, 36},
        {"c3d/btk_shd01.c3d", 6, 24},
        {"c3d/mfr_innovative_sports_training.c3d", 32, 576},
        {"c3d/mfr_motion_analysis_corporation.c3d", 18, 288},
        {"c3d/s01_Eb015si.c3d", 16, 64},
        {"c3d/s06_MACsample.c3d", 16, 272},
        {"c3d/s09_PlugInC3D.c3d", 0, 720},
        {"c3d/s15_peak_FP1.c3d", 12, 120},
        {"c3d/s24_MotionMonitor.c3d", 16, 112},
        {"c3d/s28_BTS_type1.c3d", 6, 6},
    };
    int words = 0;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t length;
        char *data = file_of(files[i].name, &length);
        words += check_kept(files[i].name, data, length, files[i].channels, files[i].per_frame);
        free(data);
    }
    assert_true(words > 10000);
}

/* Of integers and floats of three machines: the same bytes as of the first. */
static void check_same(const char *data, size_t length, ulna_text *first)
{
    ulna_content content = read_all(data, length);
    ulna_text text = write_all(&content, 0, NULL);
    ulna_content_release(&content);
    if (!first->data) {
        *first = text;
        return;
    }
    assert_int_equal(text.length, first->length);
    assert_memory_equal(text.data, first->data, first->length);
    ulna_text_release(&text);
}

static void six_made_ways_become_one(void **state)
{
    (void)state;
    ulna_text first = ulna_text_empty(NULL);
    for (int i = 0; i < 6; i++) {
        maker m = made(PC + i / 2, i % 2, 7);
        check_same((char *)m.data, m.length, &first);
        free(m.data);
    }
    ulna_text_release(&first);
}

static void six_ways_become_one(void **state)
{
    (void)state;
    static const char *const names[] = {"c3d/s01_Eb015pi.c3d", "c3d/s01_Eb015pr.c3d", "c3d/s01_Eb015si.c3d",
                                        "c3d/s01_Eb015sr.c3d", "c3d/s01_Eb015vi.c3d", "c3d/s01_Eb015vr.c3d"};
    ulna_text first = ulna_text_empty(NULL);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length;
        char *data = file_of(names[i], &length);
        check_same(data, length, &first);
        free(data);
    }
    ulna_text_release(&first);
}

/* ---- what is changed on the way ------------------------------------------------------------------------------------ */

/* Of a file with frames 91 to 327. */
static void check_frames(const char *data, size_t length)
{
    ulna_content whole = read_all(data, length), part = read_all(data, length);
    ulna_recording *r = &part.recording;
    size_t width = (size_t)r->marker_count * 3;
    memmove(r->positions, r->positions + 100 * width, 50 * width * sizeof *r->positions);
    assert_int_equal(ulna_recording_resize(r, r->marker_count, 50), ULNA_OK);
    r->first_frame += 100;
    snprintf(r->names[0], sizeof r->names[0], "renamed");
    ulna_text text = write_all(&part, 0, NULL);
    ulna_content again = read_all(text.data, text.length);
    assert_int_equal(again.recording.first_frame, 191);
    assert_string_equal(again.recording.names[0], "renamed");
    assert_int_equal(ulna_c3d_extras_of(again.extras)->frames, 50);
    size_t samples = (size_t)ulna_c3d_extras_of(whole.extras)->per_frame;
    assert_memory_equal(ulna_c3d_extras_of(again.extras)->samples,
                        ulna_c3d_extras_of(whole.extras)->samples + 100 * samples, 50 * samples * sizeof(float));
    ulna_text_release(&text);

    ulna_remarks remarks = ulna_remarks_empty(NULL); /* frames that the file does not have; another unit */
    r->first_frame = 300;
    text = write_all(&part, 1, &remarks);
    assert_remark(&remarks, 0, "analog samples of 22 frames are not there and are written as 0");
    assert_remark(&remarks, 0, "such as calibration matrices, stay in a unit of 0.001 m");
    ulna_remarks_release(&remarks);
    ulna_text_release(&text);
    ulna_content_release(&again);
    ulna_content_release(&part);
    ulna_content_release(&whole);
}

/* Where a force plate is goes with the markers. Of a file in millimetres. */
static void check_plates(const char *data, size_t length)
{
    static const char *const names[] = {"CORNERS", "ORIGIN", "ZERO"};
    ulna_content whole = read_all(data, length);
    ulna_text text = write_all(&whole, 1, NULL);
    ulna_c3d_file file[2] = {open_bytes(data, length), open_bytes(text.data, text.length)};
    for (int i = 0; i < 3; i++) {
        ulna_c3d_entry e[2] = {{0}, {0}};
        ulna_c3d_parameter p[2] = {{0}, {0}};
        for (int k = 0; k < 2; k++) {
            assert_true(find_parameter(&file[k], (ulna_word){"FORCE_PLATFORM", 14},
                                       (ulna_word){names[i], strlen(names[i])}, &e[k]));
            assert_true(
                ulna_c3d_parse_array(&file[k], e[k].link + 2, e[k].next ? e[k].next : file[k].section_end, &p[k]));
        }
        assert_int_equal(p[0].bytes, p[1].bytes);
        assert_true(p[0].bytes > 0);
        double unit = i < 2 ? 1e-3 : 1, most = 0;
        for (size_t at = 0; at < p[0].bytes && p[0].type == 4; at += 4) {
            double before = ulna_c3d_float(file[0].data + p[0].at + at, file[0].processor);
            double after = ulna_c3d_float(file[1].data + p[1].at + at, file[1].processor);
            assert_true(fabs(after - unit * before) <= 1e-6 * fabs(unit * before));
            most = fmax(most, fabs(before));
        }
        assert_true(i > 0 || most > 1);
    }
    ulna_text_release(&text);
    ulna_content_release(&whole);
}

static void samples_and_plates_go_along(void **state)
{
    (void)state;
    for (int processor = PC; processor <= SGI; processor++) {
        maker m = made(processor, 1, 237);
        check_frames((char *)m.data, m.length);
        check_plates((char *)m.data, m.length);
        ulna_content content = content_of((char *)m.data, m.length, ULNA_FORMAT_C3D, NULL);
        assert_null(content.extras); /* nobody asked for them */
        assert_int_equal(content.source.analog, 24);
        ulna_content_release(&content);
        free(m.data);
    }
}

static void recorded_samples_and_plates_go_along(void **state)
{
    (void)state;
    size_t length;
    char *data = file_of("c3d/btk_shd01.c3d", &length);
    check_frames(data, length);
    check_plates(data, length);
    free(data);
}

/* ---- a file made here ---------------------------------------------------------------------------------------------- */

static void assert_samples(const ulna_extras *extras, int from, int frames)
{
    const ulna_c3d_extras *x = ulna_c3d_extras_of(extras);
    assert_int_equal(x->frames, frames);
    assert_int_equal(x->channels, CHANNELS);
    assert_int_equal(x->per_frame, CHANNELS * PER_FRAME);
    assert_true(x->analog_rate == 400);
    for (int f = 0; f < frames; f++)
        for (int s = 0; s < PER_FRAME; s++)
            for (int c = 0; c < CHANNELS; c++)
                assert_true((double)x->samples[f * x->per_frame + s * CHANNELS + c] ==
                            sample(from + f, s * CHANNELS + c));
}

/* Whether both files have a parameter, and the same values in it; it must be in the first one. */
static int is_kept(const ulna_text *before, const ulna_text *after, const char *group, const char *name)
{
    ulna_c3d_file a = open_bytes(before->data, before->length), b = open_bytes(after->data, after->length);
    ulna_c3d_entry e = {0}, other = {0};
    ulna_word in = {group, strlen(group)}, called = {name, strlen(name)};
    assert_true(find_parameter(&a, in, called, &e));
    return find_parameter(&b, in, called, &other) && same_array(&a, &e, &b, &other);
}

static const char *const kept[][2] = {{"ANALOG", "SCALE"},
                                      {"ANALOG", "OFFSET"},
                                      {"ANALOG", "LABELS"},
                                      {"ANALOG", "UNITS"},
                                      {"FORCE_PLATFORM", "TYPE"},
                                      {"FORCE_PLATFORM", "CHANNEL"},
                                      {"FORCE_PLATFORM", "CORNERS"},
                                      {"FORCE_PLATFORM", "ORIGIN"},
                                      {"EVENT", "TIMES"},
                                      {"EVENT", "LABELS"}};

static void a_file_made_here_is_kept(void **state)
{
    (void)state;
    maker m = made_with_analog(11, 40);
    const ulna_text file = {.data = (char *)m.data, .length = m.length};
    ulna_content whole = read_all(file.data, file.length);
    assert_samples(whole.extras, 0, 40);
    ulna_text once = write_all(&whole, 0, NULL);
    ulna_content again = read_all(once.data, once.length);
    assert_samples(again.extras, 0, 40);
    assert_int_equal(again.recording.first_frame, 11);
    assert_int_equal(assert_same_words("made here", &whole, &again), 64); /* of 80; the others are missing */
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_true(is_kept(&file, &once, kept[i][0], kept[i][1]));
    assert_true(is_kept(&file, &once, "POINT", "DESCRIPTIONS") && is_kept(&file, &once, "POINT", "ANGLES"));
    ulna_content_release(&again);
    ulna_text_release(&once);
    ulna_content_release(&whole);
    free(m.data);
}

/* Other points in some of its frames: what is about the points does not hold for them. */
static void other_points_get_what_is_not_about_points(void **state)
{
    (void)state;
    maker m = made_with_analog(11, 40);
    ulna_text file = {.data = (char *)m.data, .length = m.length}, text = ulna_text_empty(NULL);
    ulna_content whole = read_all(file.data, file.length);
    ulna_recording solved = ulna_recording_empty(NULL);
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    assert_int_equal(ulna_recording_resize(&solved, POINTS, 10), ULNA_OK);
    for (int i = 0; i < 3 * POINTS * 10; i++)
        solved.positions[i] = 0.001 * (1 + i);
    solved.first_frame = 21;
    solved.frame_seconds = whole.recording.frame_seconds;
    ulna_write_options options = ulna_write_options_default();
    ulna_sink sink = ulna_text_sink(&text);
    options.extras = whole.extras;
    options.other_points = 1;
    assert_int_equal(ulna_content_write(ULNA_FORMAT_C3D, NULL, NULL, &solved, &options, &sink, &remarks, NULL),
                     ULNA_OK);
    assert_remark(&remarks, 0, "residuals");
    ulna_content again = read_all(text.data, text.length);
    assert_samples(again.extras, 10, 10);
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        assert_true(is_kept(&file, &text, kept[i][0], kept[i][1]));
    assert_false(is_kept(&file, &text, "POINT", "DESCRIPTIONS") || is_kept(&file, &text, "POINT", "ANGLES"));
    for (size_t i = 0;
         i < (size_t)ulna_c3d_extras_of(again.extras)->frames * (size_t)ulna_c3d_extras_of(again.extras)->points; i++)
        assert_true(ulna_c3d_extras_of(again.extras)->words[i] == 0);
    ulna_content_release(&again);
    ulna_remarks_release(&remarks);
    ulna_recording_release(&solved);
    ulna_text_release(&text);
    ulna_content_release(&whole);
    free(m.data);
}

static void nothing_is_read_unasked(void **state)
{
    (void)state;
    ulna_content content = content_of_data("c3d/btk_shd01.c3d");
    assert_null(content.extras);
    assert_int_equal(content.source.analog, 24);
    ulna_content_release(&content);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(made_files_are_kept),
        cmocka_unit_test(six_made_ways_become_one),
        cmocka_unit_test(samples_and_plates_go_along),
        ulna_test_needs("c3d", cmocka_unit_test(files_of_many_makers_are_kept)),
        ulna_test_needs("c3d", cmocka_unit_test(six_ways_become_one)),
        ulna_test_needs("c3d", cmocka_unit_test(recorded_samples_and_plates_go_along)),
        ulna_test_needs("c3d", cmocka_unit_test(nothing_is_read_unasked)),
        cmocka_unit_test(a_file_made_here_is_kept),
        cmocka_unit_test(other_points_get_what_is_not_about_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
