/* Reading MOT and CSV: joint values and markers in columns, units, names, defects, and the recorded files. */
#include "support_content.h"

#define DEGREES (3.14159265358979323846 / 180)

static ulna_model *sample(const char *name)
{
    ulna_model *model;
    assert_int_equal(ulna_sample_create(name, NULL, &model, NULL), ULNA_OK);
    return model;
}

/* A chain whose degrees of freedom have these names; a name that ends with _tx, _ty or _tz is a translation. */
static ulna_model *chain_of(const char *const *names, int count)
{
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        int is_translation = length > 3 && names[i][length - 3] == '_' && names[i][length - 2] == 't';
        ulna_joint joint = is_translation ? ulna_joint_prismatic(1, 0, 0) : ulna_joint_revolute(0, 0, 1);
        assert_int_equal(ulna_builder_add_body(builder, names[i], i - 1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &joint, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    ulna_builder_destroy(builder);
    return model;
}

static double at(const ulna_content *c, int frame, int k)
{
    return ulna_clip_frame(&c->clip, frame)[k];
}

/* ---- MOT ---------------------------------------------------------------------------------------------------------- */

static void mot_is_matched_by_name(void **state)
{
    (void)state;
    const char *const names[] = {"hip", "slide_tx", "left knee", "ankle"};
    ulna_model *model = chain_of(names, 4);
    ulna_content c =
        content_of_text("walk\nversion=1\nnRows=2\nnColumns=6\ninDegrees=yes\n\nendheader\n"
                        "time\tslide_tx\tLEFT_KNEE\tpelvis_tilt\t/jointset/hip/hip/value\t/jointset/hip/hip/speed\n"
                        "0.40\t1.5\t-90\t7\t 45 \t9\n0.42\t2.5\t0\t7\t180\t9\n",
                        ULNA_FORMAT_UNKNOWN, model);
    assert_int_equal(c.format, ULNA_FORMAT_MOT);
    assert_int_equal(c.clip.frame_count, 2);
    assert_int_equal(c.clip.first_frame, 21);
    assert_true(c.clip.frame_seconds == 0.02 && c.source.degrees && c.source.unit_m == 1);
    assert_true(at(&c, 0, 0) == 45 * DEGREES && at(&c, 1, 0) == 180 * DEGREES);
    assert_true(at(&c, 0, 1) == 1.5 && at(&c, 1, 1) == 2.5);
    assert_true(at(&c, 0, 2) == -90 * DEGREES && at(&c, 1, 2) == 0 && at(&c, 1, 3) == 0);
    assert_remark(
        &c.remarks, 8,
        "2 columns do not name degrees of freedom of the skeleton and are left out: 'pelvis_tilt', '/jointset");
    assert_remark(&c.remarks, 8, "1 of 4 coordinates have no column and keep their rest value, such as 'ankle'");
    assert_int_equal(c.remarks.count, 2);
    ulna_content_release(&c);
    ulna_model_destroy(model);
}

static void mot_says_what_angles_are(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        double unit;
        int is_assumed;
    } headers[] = {
        {"inDegrees=yes", DEGREES, 0},
        {"inDegrees = no", 1, 0},
        {"Angles are in degrees.", DEGREES, 0},
        {"Angles are in radians.", 1, 0},
        {"inDegrees=no\nAngles are in degrees.", 1, 0},
        {"range 0 1", DEGREES, 1},
    };
    ulna_model *model = sample("two-link");
    char label[100], text[500];
    ulna_model_dof_label(model, 0, label, sizeof label);
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        snprintf(text, sizeof text, "x\nnRows=1\n%s\nendheader\ntime %s\n 0.000 2\n", headers[i].header, label);
        ulna_content c = content_of_text(text, ULNA_FORMAT_UNKNOWN, model);
        assert_true(at(&c, 0, 0) == 2 * headers[i].unit);
        assert_int_equal(has_remark(&c.remarks, "degrees are assumed"), headers[i].is_assumed);
        ulna_content_release(&c);
    }
    ulna_model_destroy(model);
}

static void mot_defects(void **state)
{
    (void)state;
    const char *const names[] = {"a", "b_tx"};
    ulna_model *model = chain_of(names, 2);
    ulna_content c = content_of_text("x\t\t\nnRows=5\t\nnColumns=7\ninDegrees=no\nendheader\t\t\ntime\ta\tb_tx\ta\t\t\n"
                                     "0\t1\t2\t3\t\t\n\n.01 4 5 6\n.02\t7",
                                     ULNA_FORMAT_UNKNOWN, model);
    assert_int_equal(c.clip.frame_count, 2);
    assert_true(at(&c, 1, 0) == 4 && at(&c, 1, 1) == 5);
    assert_remark(&c.remarks, 2, "the header states 5 rows, but there are 2: the file may have been cut off");
    assert_remark(&c.remarks, 3, "the header states 7 columns, but 4 are named");
    assert_remark(&c.remarks, 6, "1 columns occur twice; the first is used: 'a'");
    assert_remark(&c.remarks, 10, "the file ends inside this row, which is left out");
    ulna_content_release(&c);

    static const struct {
        const char *text;
        ulna_status status;
        int line, column;
        const char *words;
    } bad[] = {
        {"x\nnRows=1\n", ULNA_ERR_PARSE, 2, 0, "the header does not end"},
        {"x\nnRows=1\nendheader\n\n", ULNA_ERR_PARSE, 4, 0, "ends before the names of its columns"},
        {"x\nnRows=1\nendheader\ntime\tc\n0\t1\n", ULNA_ERR_PARSE, 4, 0, "no column names a degree of freedom of the"},
        {"x\nnRows=1\nendheader\ntime\ta\n", ULNA_ERR_PARSE, 4, 0, "but no rows of values follow"},
        {"x\nnRows=1\nendheader\ntime\ta\tb_tx\n0\t1\n", ULNA_ERR_PARSE, 5, 0, "has 2 values, but 3 columns"},
        {"x\nnRows=1\nendheader\ntime\ta\n0\t1\t2\n", ULNA_ERR_PARSE, 5, 5, "more values than the 2 columns"},
        {"x\nnRows=1\nendheader\ntime\ta\n0\tNaN\n", ULNA_ERR_PARSE, 5, 3, "'NaN' is not a number"},
        {"x\nnRows=1\nendheader\ntime\ta\n0\tinf\n", ULNA_ERR_PARSE, 5, 3, "'inf' is not a number"},
        {"x\nnRows=1\nendheader\ntime\ta\nzero\t1\n", ULNA_ERR_PARSE, 5, 1, "'zero' is not a time"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(bad[i].text, strlen(bad[i].text), ULNA_FORMAT_MOT, model, bad[i].status, bad[i].line,
                       bad[i].column, bad[i].words);
    const char text[] = "x\nnRows=1\nendheader\ntime\ta\n0\t1\n";
    assert_refused(text, strlen(text), ULNA_FORMAT_MOT, NULL, ULNA_ERR_STATE, 4, 0, "needs their skeleton");
    ulna_model_destroy(model);
}

static void quaternions_take_four_columns(void **state)
{
    (void)state;
    ulna_model *model = sample("all-joints");
    int first, body = ulna_model_find_body(model, "ball");
    assert_int_equal(ulna_model_body_coordinates(model, body, &first), 4);
    ulna_content c =
        content_of_text("x\nnRows=2\ninDegrees=yes\nendheader\ntime\tball.qw\tball.qx\tball.qy\tball.qz\tfree.qx\n"
                        "0\t.8\t0\t0\t.6\t1\n.01\t0\t0\t2\t0\t1\n",
                        ULNA_FORMAT_UNKNOWN, model);
    assert_true(at(&c, 0, first + 3) == .8 && at(&c, 0, first + 2) == .6);
    assert_true(at(&c, 1, first + 3) == 0 && at(&c, 1, first + 1) == 1);
    assert_remark(&c.remarks, 7, "1 quaternions are not of length 1");
    assert_remark(&c.remarks, 5,
                  "the quaternion of 'free' lacks some of the columns .qx, .qy, .qz and .qw; it is left out");
    for (int f = 0; f < 2; f++)
        assert_int_equal(ulna_model_check_q(model, ulna_clip_frame(&c.clip, f), NULL), ULNA_OK);
    ulna_content_release(&c);
    const char zero[] = "x\nnRows=1\nendheader\ntime\tball.qw\tball.qx\tball.qy\tball.qz\n0\t0\t0\t0\t0\n";
    assert_refused(zero, strlen(zero), ULNA_FORMAT_MOT, model, ULNA_ERR_PARSE, 5, 0, "of 'ball' has length 0");
    ulna_model_destroy(model);
}

static void mot_of_markers(void **state)
{
    (void)state;
    const char text[] =
        "x\nnRows=2\nnColumns=4\nendheader\ntime\tR.ASIS_tx\tR.ASIS_ty\tR.ASIS_tz\n0\t1\t2\t3\n.5\tnan\tnan\tnan\n";
    ulna_content c = content_of_text(text, ULNA_FORMAT_UNKNOWN, NULL);
    assert_int_equal(c.recording.marker_count, 1);
    assert_string_equal(c.recording.names[0], "R.ASIS");
    assert_true(c.recording.positions[1] == 2 && c.recording.frame_seconds == 0.5);
    assert_int_equal(ulna_recording_missing(&c.recording), 1);
    assert_int_equal(c.remarks.count, 0);
    ulna_content_release(&c);

    const char *const names[] = {"R.ASIS_tx", "R.ASIS_ty",
                                 "R.ASIS_tz"}; /* a skeleton that knows these columns has them */
    ulna_model *model = chain_of(names, 3);
    const char joints[] =
        "x\nnRows=1\nnColumns=4\ninDegrees=no\nendheader\ntime\tR.ASIS_tx\tR.ASIS_ty\tR.ASIS_tz\n0\t1\t2\t3\n";
    c = content_of_text(joints, ULNA_FORMAT_UNKNOWN, model);
    assert_int_equal(c.clip.frame_count, 1);
    assert_true(at(&c, 0, 2) == 3);
    ulna_content_release(&c);
    ulna_model_destroy(model);
}

static void what_mot_looks_like(void **state)
{
    (void)state;
    const char *const names[] = {"hip", "slide_tx", "left knee"};
    ulna_model *model = chain_of(names, 3);
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_write_options options = ulna_write_options_default();
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    const double q[6] = {45 * DEGREES, 0.1, -12.4901 * DEGREES, 0, -1e-3, 1};
    assert_int_equal(ulna_clip_resize(&clip, 3, 2), ULNA_OK);
    memcpy(clip.q, q, sizeof q);
    clip.frame_seconds = 1 / 60.0;
    clip.first_frame = 25;
    options.unit_m = 0.01;
    ulna_text text = written(ULNA_FORMAT_MOT, model, &clip, NULL, &options, &remarks);
    assert_string_equal(text.data, "Coordinates\nversion=1\nnRows=2\nnColumns=4\ninDegrees=yes\n\n"
                                   "Units are S.I. units (second, meters, Newtons, ...)\nAngles are in degrees.\n\n"
                                   "endheader\ntime\thip\tslide_tx\tleft_knee\n0.4\t45\t0.1\t-12.4901\n"
                                   "0.4166666666666667\t0\t-0.001\t57.29577951308232\n");
    assert_remark(&remarks, 0, "1 names have blanks");
    assert_remark(&remarks, 0, "lengths are written in metres");
    ulna_text_release(&text);
    options.degrees = 0;
    options.digits = 4;
    clip.frame_seconds = 0;
    text = written(ULNA_FORMAT_MOT, model, &clip, NULL, &options, &remarks);
    assert_non_null(strstr(text.data, "inDegrees=no\n"));
    assert_non_null(strstr(text.data, "\n0.2\t0.7854\t0.1\t-0.218\n"));
    assert_remark(&remarks, 0, "the frame rate is unknown");
    ulna_text_release(&text);

    ulna_error error;
    ulna_sink sink = ulna_text_sink(&text);
    assert_int_equal(ulna_content_write(ULNA_FORMAT_MOT, NULL, &clip, NULL, NULL, &sink, NULL, &error),
                     ULNA_ERR_ARGUMENT);
    clip.q[0] = NAN;
    assert_int_equal(ulna_content_write(ULNA_FORMAT_MOT, model, &clip, NULL, NULL, &sink, NULL, &error),
                     ULNA_ERR_NUMBER);
    ulna_model *other = sample("two-link");
    assert_int_equal(ulna_content_write(ULNA_FORMAT_CSV, other, &clip, NULL, NULL, &sink, NULL, &error),
                     ULNA_ERR_ARGUMENT);
    ulna_model_destroy(other);
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* ---- CSV ---------------------------------------------------------------------------------------------------------- */

static void csv_of_markers(void **state)
{
    (void)state;
    // clang-format off
    static const struct {
        const char *text;
        double unit;
        int first;
        double step;
        const char *names[2];
    } files[] = {
        {"# lengths: mm\nframe,time,A.x,A.y,A.z,B.x,B.y,B.z\n3,0.02,1,2,3,4,5,6\n4,0.03,,,,4,5,6\n", 1e-3, 3, 0.01, {"A", "B"}},
        {"\xEF\xBB\xBF# lengths: m\r\nTime (s);A_X;A_Y;A_Z;\"B;\"\"c.x\";\"B;\"\"c.y\";\"B;\"\"c.z\"\r\n0,02;1,0;2;3;4;5;6\r\n0,03;;;;4;5;6;\r\n", 1, 3, 0.01, {"A", "B;\"c"}},
        {"# rate: 50 Hz\n# lengths: cm\nFRAME\twristX\twristY\twristZ\tB tx\tB ty\tB tz\n3\t1\t2\t3\t4\t5\t6\n4\t\t\t\t4\t5\t6\n", 0.01, 3, 0.02, {"wrist", "B"}},
        {"\"# lengths: m\",,,\nA-x,A-y,A-z,t.x,t.y,t.z\n1,2,3,4,5,6\n\n# a comment\n,,,4,5,6\n", 1, 1, 0, {"A", "t"}},
    };
    // clang-format on
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        ulna_content c = content_of_text(files[i].text, ULNA_FORMAT_CSV, NULL);
        assert_int_equal(c.remarks.count, 0);
        assert_int_equal(c.recording.marker_count, 2);
        assert_int_equal(c.recording.frame_count, 2);
        assert_int_equal(c.recording.first_frame, files[i].first);
        assert_true(c.recording.frame_seconds == files[i].step);
        for (int m = 0; m < 2; m++)
            assert_string_equal(c.recording.names[m], files[i].names[m]);
        for (int k = 0; k < 12; k++)
            assert_true(k / 3 == 2 ? isnan(c.recording.positions[k])
                                   : c.recording.positions[k] == (k % 6 + 1) / round(1 / files[i].unit));
        ulna_content_release(&c);
    }
}

static void csv_of_joints(void **state)
{
    (void)state;
    const char *const names[] = {"hip", "slide_tx", "a,\"b\""};
    ulna_model *model = chain_of(names, 3);
    ulna_content c =
        content_of_text("# angles: radians\n# lengths: cm\n# rate: 100\ntime,slide_tx,\"a,\"\"b\"\"\",hip\n"
                        "0.4,10,0.5,-3\n0.41,20,0.25,3\n",
                        ULNA_FORMAT_UNKNOWN, model);
    assert_int_equal(c.format, ULNA_FORMAT_CSV);
    assert_int_equal(c.remarks.count, 0);
    assert_true(c.clip.frame_seconds == 0.01 && c.clip.first_frame == 41 && !c.source.degrees);
    assert_true(at(&c, 0, 0) == -3 && at(&c, 0, 1) == 0.1 && at(&c, 1, 2) == 0.25);
    ulna_content_release(&c);

    c = content_of_text("frame;HIP;slide_tx;nonsense\n7;90;1,5;3\n9;45;2;4\n", ULNA_FORMAT_UNKNOWN, model);
    assert_true(c.clip.first_frame == 7 && c.clip.frame_seconds == 0);
    assert_true(at(&c, 0, 0) == 90 * DEGREES && at(&c, 0, 1) == 1.5);
    assert_remark(&c.remarks, 0, "no unit of angles is given");
    assert_remark(&c.remarks, 0, "no unit of length is given");
    assert_remark(&c.remarks, 1,
                  "1 columns do not name degrees of freedom of the skeleton and are left out: 'nonsense'");
    assert_remark(&c.remarks, 3, "frame numbers do not increase by one");
    ulna_content_release(&c);

    /* As `ulna reach` writes answers: words among the numbers. */
    c = content_of_text(
        "sample,time_s,status,position_error_m,rotation_error_rad,hip_rad,slide_tx_m\n1,0,reached,0,0,-3,0.5\n"
        "2,0.5,closest,1,0,0.25,0.1\n",
        ULNA_FORMAT_CSV, model);
    assert_int_equal(c.remarks.count, 1);
    assert_remark(&c.remarks, 1, "1 of 3 coordinates have no column");
    assert_true(!c.source.degrees && at(&c, 0, 0) == -3 && at(&c, 1, 1) == 0.1 && c.clip.frame_seconds == 0.5);
    ulna_content_release(&c);
    static const char *const alone[] = {"rotation_error_rad\n1\n", "status,rotation_error_rad,hip\nreached,0,1\n",
                                        "goal,rotation_error_rad\n1,0\n"};
    for (size_t i = 0; i < sizeof alone / sizeof *alone; i++) { /* no joints: any answer but a crash */
        ulna_read_options reading = ulna_read_options_default();
        ulna_error error;
        c = ulna_content_empty(NULL);
        reading.model = model;
        ulna_status status = ulna_content_read(alone[i], strlen(alone[i]), ULNA_FORMAT_CSV, &reading, &c, &error);
        if ((status != ULNA_OK) != (i != 1))
            fail_msg("%s", error.message);
        ulna_content_release(&c);
    }

    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_write_options options = ulna_write_options_default();
    const double q[3] = {45 * DEGREES, 0.125, -90 * DEGREES};
    assert_int_equal(ulna_clip_resize(&clip, 3, 1), ULNA_OK);
    memcpy(clip.q, q, sizeof q);
    clip.first_frame = 7;
    ulna_text text = written(ULNA_FORMAT_CSV, model, &clip, NULL, NULL, NULL);
    assert_string_equal(text.data, "frame,hip_deg,slide_tx_m,\"a,\"\"b\"\"_deg\"\n7,45,0.125,-90\n");
    ulna_text_release(&text);
    clip.frame_seconds = 0.01;
    options.unit_m = 1e-3;
    options.degrees = 0;
    options.digits = 3;
    assert_int_equal(ulna_clip_resize(&clip, 3, 2), ULNA_OK);
    memcpy(clip.q + 3, q, sizeof q);
    text = written(ULNA_FORMAT_CSV, model, &clip, NULL, &options, NULL);
    assert_string_equal(text.data, "time_s,hip_rad,slide_tx_mm,\"a,\"\"b\"\"_rad\"\n"
                                   "0.06,0.785,125,-1.57\n0.07,0.785,125,-1.57\n");
    c = content_of_text(text.data, ULNA_FORMAT_UNKNOWN, model);
    assert_int_equal(c.remarks.count, 0);
    assert_true(c.clip.frame_seconds == 0.01 && c.clip.first_frame == 7 && !c.source.degrees &&
                c.source.unit_m == 1e-3);
    assert_true(at(&c, 0, 0) == 0.785 && at(&c, 1, 1) == 0.125);
    ulna_content_release(&c);
    ulna_text_release(&text);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* The unit ends the name of a column, unless the skeleton itself has names that end so. */
static void csv_units_in_names(void **state)
{
    (void)state;
    const char *const names[] = {"arm_deg", "rail_tx"}, *const both[] = {"a", "a_deg"};
    ulna_model *model = chain_of(names, 2), *doubled = chain_of(both, 2);
    static const struct {
        const char *text;
        double hip, rail;
        int remarks;
    } tables[] = {
        {"frame,arm_deg_rad,rail_tx_mm\n1,2,3000\n", 2, 3, 0},
        {"frame,arm_deg (rad),rail_tx [mm]\n1,2,3000\n", 2, 3, 0},
        {"# lengths: mm\nframe,arm_deg_rad,rail_tx_mm\n1,2,3000\n", 2, 3, 0},
        {"frame,arm_deg,rail_tx\n1,90,3\n", 90 * DEGREES, 3, 2},
        {"# angles: radians\nframe,arm_deg\n1,2\n", 2, 0, 2},
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        ulna_content c = content_of_text(tables[i].text, ULNA_FORMAT_CSV, model);
        assert_true(at(&c, 0, 0) == tables[i].hip && at(&c, 0, 1) == tables[i].rail);
        assert_int_equal(c.remarks.count, tables[i].remarks);
        ulna_content_release(&c);
    }
    ulna_content c = content_of_text("frame,a_rad,a_deg_rad\n1,2,3\n", ULNA_FORMAT_CSV, doubled);
    assert_true(at(&c, 0, 0) == 2 && at(&c, 0, 1) == 3);
    ulna_content_release(&c);
    c = content_of_text("frame,A.x (mm),A.y (mm),A.z (mm)\n1,1,2,3\n", ULNA_FORMAT_UNKNOWN, NULL);
    assert_string_equal(c.recording.names[0], "A");
    assert_true(c.recording.positions[2] == 0.003 && c.remarks.count == 0);
    ulna_content_release(&c);
    c = content_of_text("time_s,a_x_cm,a_y_cm,a_z_cm,a_visibility\n0,1,2,3,1\n1,1,2,3,0\n", ULNA_FORMAT_UNKNOWN, NULL);
    assert_true(c.recording.marker_count == 1 && c.recording.positions[0] == 0.01);
    ulna_content_release(&c);
    ulna_model_destroy(model);
    ulna_model_destroy(doubled);
}

static void csv_defects(void **state)
{
    (void)state;
    const char *const names[] = {"a", "b_tx"};
    ulna_model *model = chain_of(names, 2);
    static const struct {
        const char *text;
        int has_model;
        ulna_status status;
        int line, column;
        const char *words;
    } bad[] = {
        {"# nothing\n\n", 0, ULNA_ERR_PARSE, 0, 0, "no line that names its columns"},
        {"1,2,3\n", 0, ULNA_ERR_PARSE, 1, 0, "should name the columns"},
        {"time\n0\n", 0, ULNA_ERR_PARSE, 1, 0, "should name the columns"},
        {"time,hip,knee\n0,1,2\n", 0, ULNA_ERR_STATE, 1, 0,
         "not markers (NAME.x, NAME.y, NAME.z); if they are joint values"},
        {"time,A.x,A.y\n0,1,2\n", 0, ULNA_ERR_STATE, 1, 0, "x and y only"},
        {"time,A.x,A.y,B.z\n0,1,2,3\n", 0, ULNA_ERR_STATE, 1, 0, "not markers"},
        {"time,A.x,A.z,A.y\n0,1,2,3\n", 0, ULNA_ERR_STATE, 1, 0, "not markers"},
        {"time,A.x,A.y,A.z\n", 0, ULNA_ERR_PARSE, 1, 0, "no rows of values follow"},
        {"time,A.x_m,A.y_m,A.z_mm\n0,1,2,3\n", 0, ULNA_ERR_PARSE, 1, 18, "'A.z_mm' is not that of the columns"},
        {"# lengths: mm\nframe,A.x_m,A.y_m,A.z_m\n0,1,2,3\n", 0, ULNA_ERR_PARSE, 2, 7, "'A.x_m'"},
        {"time,a_deg,b_tx_rad\n0,1,2\n", 1, ULNA_ERR_PARSE, 1, 12, "'b_tx_rad'"},
        {"time,A.x,A.y,A.z\n0,1,?,3\n", 0, ULNA_ERR_PARSE, 2, 5, "'?' is not a position"},
        {"time,a,b_tx\n0,1,\n", 1, ULNA_ERR_PARSE, 2, 5, "'' is not a number"},
        {"time,a,b_tx\n0,1\n", 1, ULNA_ERR_PARSE, 2, 0, "has 2 values, but 3 columns"},
        {"time,a,b_tx\n0,1,2,3\n", 1, ULNA_ERR_PARSE, 2, 7, "more values than the 3 columns"},
        {"frame,a,b_tx\n0.5,1,2\n", 1, ULNA_ERR_PARSE, 2, 1, "'0.5' is not a frame number"},
        {"time,c,d\n0,1,2\n", 1, ULNA_ERR_PARSE, 1, 0, "no column names a degree of freedom"},
        {"time,a\n0,1e308\n0,1e309\n", 1, ULNA_ERR_PARSE, 3, 3, "'1e309' is not a number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(bad[i].text, strlen(bad[i].text), ULNA_FORMAT_CSV, bad[i].has_model ? model : NULL,
                       bad[i].status, bad[i].line, bad[i].column, bad[i].words);

    ulna_content c =
        content_of_text("# lengths: ells\n# angles: grad\n# rate: -3\ntime,a\n0,1\n", ULNA_FORMAT_CSV, model);
    assert_remark(&c.remarks, 1, "unit of length 'ells' is unknown");
    assert_remark(&c.remarks, 2, "unit of angles 'grad' is unknown");
    assert_remark(&c.remarks, 3, "the rate '-3' is not a positive number");
    ulna_content_release(&c);
    ulna_model_destroy(model);
}

static void what_is_a_table_and_what_is_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ulna_format format;
    } texts[] = {
        {"time,a,b\n", ULNA_FORMAT_CSV},
        {"# x\n\n\"Frame\";b\n", ULNA_FORMAT_CSV},
        {"time a b\n", ULNA_FORMAT_UNKNOWN},
        {"times are hard, they say\n", ULNA_FORMAT_UNKNOWN},
        {"time,\n", ULNA_FORMAT_UNKNOWN},
        {"a,b,c\n1,2,3\n", ULNA_FORMAT_UNKNOWN},
        {"x\nnRows=3\nendheader\n", ULNA_FORMAT_MOT},
        {"x\nendheader\nnRows=3\n", ULNA_FORMAT_UNKNOWN},
        {"nRows=3\n", ULNA_FORMAT_UNKNOWN},
        {"pathfiletype 4\n", ULNA_FORMAT_TRC},
        {"Path\n", ULNA_FORMAT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(ulna_format_sniff(texts[i].text, strlen(texts[i].text)), texts[i].format);
    assert_int_equal(ulna_format_of_name("a.b/c.STO"), ULNA_FORMAT_MOT);
    assert_int_equal(ulna_format_of_name("x.csv"), ULNA_FORMAT_CSV);
}

/* ---- more than memory holds --------------------------------------------------------------------------------------- */

/* A large skeleton and a file that names one of its joints must not take memory without end. */
static void values_without_columns(void **state)
{
    (void)state;
    enum { BODIES = 3000, ROWS = 40000 };
    ulna_builder *builder;
    ulna_model *model;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    for (int i = 0; i < BODIES; i++) {
        char name[16];
        ulna_joint joint = ulna_joint_revolute(0, 0, 1);
        snprintf(name, sizeof name, "b%d", i);
        assert_int_equal(ulna_builder_add_body(builder, name, i ? 0 : -1, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(builder, i, &joint, NULL), ULNA_OK);
    }
    assert_int_equal(ulna_builder_build(builder, NULL, &model, NULL), ULNA_OK);
    const size_t room = 20 + 4 * ROWS;
    char *text = malloc(room);
    assert_non_null(text);
    size_t size = (size_t)snprintf(text, room, "frame,b7\n");
    for (int i = 0; i < ROWS; i++)
        size += (size_t)snprintf(text + size, room - size, "1,2\n");
    assert_refused(text, size, ULNA_FORMAT_CSV, model, ULNA_ERR_LIMIT, 0, 0, "most of them have no column");
    free(text);
    ulna_model_destroy(model);
    ulna_builder_destroy(builder);
}

/* ---- recorded files ----------------------------------------------------------------------------------------------- */

static const char *const gait[] = {
    "pelvis_tilt",      "pelvis_list",     "pelvis_rotation",  "pelvis_tx",      "pelvis_ty",      "pelvis_tz",
    "hip_flexion_r",    "hip_adduction_r", "hip_rotation_r",   "knee_angle_r",   "ankle_angle_r",  "subtalar_angle_r",
    "mtp_angle_r",      "hip_flexion_l",   "hip_adduction_l",  "hip_rotation_l", "knee_angle_l",   "ankle_angle_l",
    "subtalar_angle_l", "mtp_angle_l",     "lumbar_extension", "lumbar_bending", "lumbar_rotation"};

static ulna_content load_with(const char *name, const ulna_model *model)
{
    char path[512];
    size_t size;
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), name);
    char *data = ulna_test_read_file(path, &size);
    ulna_content c = content_of(data, size, ULNA_FORMAT_UNKNOWN, model);
    free(data);
    return c;
}

static void recorded_motions(void **state)
{
    (void)state;
    ulna_model *model = chain_of(gait, sizeof gait / sizeof *gait);
    ulna_content c = load_with("trc/opensim_ik_test/std_subject01_walk1_ik.mot", model);
    assert_int_equal(c.format, ULNA_FORMAT_MOT);
    assert_int_equal(c.clip.frame_count, 73);
    assert_int_equal(c.clip.first_frame, 25);
    assert_true(c.clip.frame_seconds == 1 / 60.0 && c.source.degrees);
    assert_true(at(&c, 0, 0) == 5.21211788 * DEGREES && at(&c, 0, 3) == 0.60176933 &&
                at(&c, 0, 9) == -55.15907196 * DEGREES);
    assert_remark(&c.remarks, 0, "degrees are assumed");
    assert_int_equal(c.remarks.count, 1);
    ulna_content again = assert_round_trip(ULNA_FORMAT_MOT, model, &c.clip, NULL, NULL);
    assert_memory_equal(again.clip.q, c.clip.q, 73 * 23 * sizeof(double));
    ulna_content_release(&again);
    ulna_content_release(&c);

    c = load_with("trc/gait2354/expected_subject01_walk1_ik.mot", model);
    assert_int_equal(c.clip.frame_count, 73);
    assert_int_equal(c.clip.first_frame, 25);
    assert_true(c.clip.frame_seconds == 1 / 60.0 && at(&c, 0, 0) == 4.84455933 * DEGREES);
    assert_int_equal(c.remarks.count, 0);
    ulna_content_release(&c);

    c = load_with("trc/gait10dof18musc/expected_subject01_walk_IK.mot", model);
    assert_int_equal(c.clip.frame_count, 151);
    assert_true(c.clip.frame_seconds == 1 / 60.0 && at(&c, 0, 20) == c.clip.q[20] &&
                at(&c, 0, 0) == 10.32995988 * DEGREES);
    assert_remark(&c.remarks, 11, "13 of 23 coordinates have no column");
    ulna_content_release(&c);

    c = load_with("trc/opensim_ik_test/std_markers_coords_ik.sto", model); /* markers and coordinates in one table */
    assert_int_equal(c.clip.frame_count, 10);
    assert_true(c.clip.frame_seconds == 1 / 60.0);
    assert_remark(&c.remarks, 5,
                  "columns do not name degrees of freedom of the skeleton and are left out: 'R.ASIS_tx'");
    ulna_content_release(&c);
    ulna_model_destroy(model);
}

static void a_recorded_hand(void **state)
{
    (void)state;
    ulna_content c = content_of_data("hand/dexretarget_human_joint_right.csv");
    assert_int_equal(c.format, ULNA_FORMAT_CSV);
    assert_int_equal(c.recording.marker_count, 21);
    assert_int_equal(c.recording.frame_count, 621);
    assert_int_equal(c.recording.first_frame, 0);
    assert_true(c.recording.frame_seconds == 0 && c.source.unit_m == 1);
    assert_string_equal(c.recording.names[1], "thumb_cmc");
    assert_true(c.recording.positions[3] == 0.00977756165577913);
    assert_remark(&c.remarks, 0, "metres are assumed");
    assert_remark(&c.remarks, 0, "1 marker is at zero in every frame, such as 'wrist'");
    ulna_content again = assert_round_trip(ULNA_FORMAT_CSV, NULL, NULL, &c.recording, NULL);
    assert_same_recording(&c.recording, &again.recording, 0);
    ulna_content_release(&again);
    ulna_content_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mot_is_matched_by_name),
        cmocka_unit_test(mot_says_what_angles_are),
        cmocka_unit_test(mot_defects),
        cmocka_unit_test(quaternions_take_four_columns),
        cmocka_unit_test(mot_of_markers),
        cmocka_unit_test(what_mot_looks_like),
        cmocka_unit_test(csv_of_markers),
        cmocka_unit_test(csv_of_joints),
        cmocka_unit_test(csv_units_in_names),
        cmocka_unit_test(csv_defects),
        cmocka_unit_test(what_is_a_table_and_what_is_not),
        cmocka_unit_test(values_without_columns),
        ulna_test_needs("trc", cmocka_unit_test(recorded_motions)),
        ulna_test_needs("hand", cmocka_unit_test(a_recorded_hand)),
    };
    return cmocka_run_group_tests_name("tables_read", tests, NULL, NULL);
}
