/*
 * CMU's take 02_01 exists as markers, as the skeleton and motion that were fitted to them, and as BVH made of these. Markers are
 * glued to bones: seen from the bone of either file, each must stay where it is, but for skin and the fit. Only right
 * units, axes, frame numbers, orders of angles and names make it so. (test_bvh.c compares the joints of AMC and BVH.)
 */
#include <math.h>
#include <string.h>

#include "support_recorded.h"
#include "ulna/kinematics.h"

typedef struct glued {
    const char *marker, *bone, *joint; /* of the C3D, the ASF and the BVH; joint NULL: the BVH has lost that bone */
} glued;

static const glued markers[] = {
    {"LFWT", "root", "Hips"},
    {"RFWT", "root", "Hips"},
    {"LBWT", "root", "Hips"},
    {"RBWT", "root", "Hips"},
    {"LTHI", "lfemur", "LeftUpLeg"},
    {"LKNE", "lfemur", "LeftUpLeg"},
    {"LSHN", "ltibia", "LeftLeg"},
    {"LANK", "lfoot", "LeftFoot"},
    {"LHEE", "lfoot", "LeftFoot"},
    {"LTOE", "ltoes", "LeftToeBase"},
    {"LMT5", "ltoes", "LeftToeBase"},
    {"RTHI", "rfemur", "RightUpLeg"},
    {"RKNE", "rfemur", "RightUpLeg"},
    {"RSHN", "rtibia", "RightLeg"},
    {"RANK", "rfoot", "RightFoot"},
    {"RHEE", "rfoot", "RightFoot"},
    {"RTOE", "rtoes", "RightToeBase"},
    {"RMT5", "rtoes", "RightToeBase"},
    {"T10", "lowerback", "LowerBack"},
    {"STRN", "upperback", "Spine"},
    {"RBAC", "upperback", "Spine"},
    {"CLAV", "thorax", NULL},
    {"C7", "lowerneck", NULL},
    {"LFHD", "head", NULL},
    {"RFHD", "head", NULL},
    {"LBHD", "head", NULL},
    {"RBHD", "head", NULL},
    {"LSHO", "lclavicle", NULL},
    {"LUPA", "lhumerus", NULL},
    {"LELB", "lhumerus", NULL},
    {"LFRM", "lradius", NULL},
    {"LWRA", "lwrist", NULL},
    {"LWRB", "lwrist", NULL},
    {"LFIN", "lfingers", NULL},
    {"RSHO", "rclavicle", NULL},
    {"RUPA", "rhumerus", NULL},
    {"RELB", "rhumerus", NULL},
    {"RFRM", "rradius", NULL},
    {"RWRA", "rwrist", NULL},
    {"RWRB", "rwrist", NULL},
    {"RFIN", "rfingers", NULL},
};

enum { MARKERS = sizeof markers / sizeof *markers };

typedef struct spread {
    double mean[3]; /* where the marker is, from the bone */
    double rms;     /* how far it strays from there */
} spread;

/* amc(x, y, z) = c3d(y, z, x) */
static void turned(const double p[3], double q[3])
{
    q[0] = p[1];
    q[1] = p[2];
    q[2] = p[0];
}

static spread follow(const ulna_model *model, const ulna_clip *clip, int first, const char *bone,
                     const ulna_recording *recording, int marker)
{
    spread s = {{0}, 0};
    double squares = 0, n = recording->frame_count;
    ulna_pose *pose;
    int body = ulna_model_find_body(model, bone);
    assert_true(body >= 0 && marker >= 0);
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    for (int f = 0; f < recording->frame_count; f++) {
        double at[3], r[9], seen[3], local[3];
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(clip, f + first)), ULNA_OK);
        assert_int_equal(ulna_pose_body(pose, body, at, r), ULNA_OK);
        turned(ulna_recording_frame(recording, f) + 3 * (size_t)marker, seen);
        for (int k = 0; k < 3; k++) {
            local[k] = r[k] * (seen[0] - at[0]) + r[3 + k] * (seen[1] - at[1]) + r[6 + k] * (seen[2] - at[2]);
            s.mean[k] += local[k] / n;
            squares += local[k] * local[k] / n;
        }
    }
    for (int k = 0; k < 3; k++)
        squares -= s.mean[k] * s.mean[k];
    s.rms = sqrt(fmax(squares, 0));
    ulna_pose_destroy(pose);
    return s;
}

static double length(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static void markers_stay_on_their_bones(void **state)
{
    (void)state;
    ulna_content asf, amc, c3d, bvh, none;
    ulna_error error;
    assert_int_equal(ulna_test_recorded_read("cmu/02_01.amc", &asf, &amc, &error), ULNA_OK);
    assert_int_equal(ulna_test_recorded_read("cmu/02_01.c3d", &none, &c3d, &error), ULNA_OK);
    assert_int_equal(c3d.recording.frame_count, amc.clip.frame_count);
    assert_int_equal(c3d.recording.marker_count, MARKERS);

    char path[1024];
    ulna_read_options options = ulna_read_options_default();
    options.unit_m = asf.source.unit_m; /* its numbers are the AMC's, which it cannot say */
    bvh = ulna_content_empty(NULL);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), "cmu/02_01_cgspeed_mb.bvh");
    assert_int_equal(ulna_content_load(path, &options, &bvh, &error), ULNA_OK);
    assert_int_equal(bvh.clip.frame_count, amc.clip.frame_count + 1);

    double sum = 0;
    for (int m = 0; m < MARKERS; m++) {
        int marker = ulna_recording_find(&c3d.recording, markers[m].marker); /* "TakeoMonday:LFWT" */
        spread s = follow(asf.model, &amc.clip, 0, markers[m].bone, &c3d.recording, marker);
        sum += s.rms;
        if (!(s.rms < 0.028 && length(s.mean) < 0.43)) /* RKNE and LKNE are the worst */
            fail_msg("%s strays by %g m, %g m from %s", markers[m].marker, s.rms, length(s.mean), markers[m].bone);
        if (!markers[m].joint)
            continue;
        spread t = follow(bvh.model, &bvh.clip, 1, markers[m].joint, &c3d.recording, marker);
        if (!(fabs(t.rms - s.rms) < 5e-7 && fabs(length(t.mean) - length(s.mean)) < 5e-7))
            fail_msg("%s strays by %g m from the BVH, by %g m from the AMC", markers[m].marker, t.rms, s.rms);
    }
    print_message("41 markers stray by %.4f m in a walk of 4 m\n", sum / MARKERS);
    assert_true(sum / MARKERS < 0.0114);
    ulna_content_release(&asf);
    ulna_content_release(&amc);
    ulna_content_release(&c3d);
    ulna_content_release(&none);
    ulna_content_release(&bvh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ulna_test_needs("cmu", cmocka_unit_test(markers_stay_on_their_bones)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
