#include "support_walk.h"

#include "support_tool.h"
#include "ulna/kinematics.h"

static ulna_content load(const ulna_test_tool *tool, const char *name, const ulna_content *skeleton)
{
    char path[128];
    ulna_error error;
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_for(skeleton);
    if (ulna_content_load(ulna_test_path(path, sizeof path, tool->folder, name), &options, &content, &error))
        fail_msg("%s: %s", name, error.message);
    return content;
}

ulna_recording ulna_test_walk_record(const ulna_test_walk *walk, const ulna_marker_set *set, double noise)
{
    ulna_recording markers = ulna_recording_empty(NULL);
    ulna_test_rng rng = ulna_test_rng_seed(2027);
    ulna_pose *pose;
    int count = (int)set->count;
    assert_int_equal(ulna_recording_resize(&markers, count, walk->motion.clip.frame_count), ULNA_OK);
    assert_int_equal(ulna_pose_create(walk->skeleton.model, NULL, &pose, NULL), ULNA_OK);
    markers.frame_seconds = 1.0 / 120;
    markers.first_frame = 1;
    for (int m = 0; m < count; m++)
        snprintf(markers.names[m], ULNA_MARKER_NAME, "Eve:%.50s", set->items[m].marker);
    for (int f = 0; f < markers.frame_count; f++) {
        assert_int_equal(ulna_pose_forward(pose, ulna_clip_frame(&walk->motion.clip, f)), ULNA_OK);
        for (int m = 0; m < count; m++) {
            double *x = ulna_recording_frame(&markers, f) + 3 * m;
            ulna_pose_point(pose, set->items[m].body, set->items[m].offset, x);
            for (int k = 0; k < 3; k++)
                x[k] += noise * ulna_test_rng_normal(&rng);
        }
    }
    ulna_pose_destroy(pose);
    return markers;
}

ulna_test_walk ulna_test_walk_make(double noise)
{
    ulna_test_walk walk = {.set = ulna_marker_set_empty(NULL)};
    void *state = NULL;
    char path[128];
    assert_int_equal(ulna_test_tool_open(&state), 0);
    ulna_test_tool *tool = state;
    assert_int_equal(ulna_test_tool_run(tool, "sample --quiet --only walk ."), 0);
    walk.skeleton = load(tool, "human.asf", NULL);
    walk.motion = load(tool, "walk-true.amc", &walk.skeleton);
    ulna_test_path(path, sizeof path, tool->folder, "walk-markers.csv");
    assert_int_equal(ulna_marker_set_load(path, walk.skeleton.model, &walk.set, NULL), ULNA_OK);
    ulna_test_tool_close(&state);
    walk.markers = ulna_test_walk_record(&walk, &walk.set, noise);
    return walk;
}

void ulna_test_walk_release(ulna_test_walk *walk)
{
    ulna_marker_set_release(&walk->set);
    ulna_recording_release(&walk->markers);
    ulna_content_release(&walk->motion);
    ulna_content_release(&walk->skeleton);
}
