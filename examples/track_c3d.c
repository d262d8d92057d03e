/*
 * track_c3d: from recorded markers to joint angles: a skeleton, a C3D file and where the markers sit in, a motion out.
 *
 *     cc track_c3d.c $(pkg-config --cflags --libs ulna) -o track_c3d
 *     ./track_c3d skeleton.asf walk.c3d markers.csv walk.amc walk.bvh
 *
 * markers.csv has a line "marker,bone,x,y,z" for each marker; `ulna calibrate` and examples/calibrate.c make one. Without
 * arguments a recording of the built-in human is made, tracked, and nothing is written.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "track_c3d: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* The built-in human, which has markers, and what cameras would see of it while it waves. */
static void make_sample(ulna_content *skeleton, ulna_content *markers, ulna_error *error)
{
    enum { FRAMES = 240 };
    ulna_recording *recording = &markers->recording;
    ulna_pose *pose;
    check(ulna_sample_create("human", NULL, &skeleton->model, error), error);
    const ulna_model *human = skeleton->model;
    int count = ulna_model_marker_count(human), nq = ulna_model_coordinate_count(human);
    double *q = calloc((size_t)nq, sizeof *q);
    check(ulna_recording_resize(recording, count, FRAMES), error);
    check(ulna_pose_create(human, NULL, &pose, error), error);
    recording->frame_seconds = 1.0 / 120;
    for (int m = 0; m < count; m++)
        snprintf(recording->names[m], ULNA_MARKER_NAME, "%s", ulna_model_marker_name(human, m));
    for (int f = 0; q && f < FRAMES; f++) {
        for (int j = 0; j < nq; j++)
            q[j] = ulna_model_rest(human)[j] + 0.2 * sin(0.05 * f + j);
        check(ulna_pose_forward(pose, q), error);
        check(ulna_pose_markers(pose, ulna_recording_frame(recording, f)), error);
    }
    ulna_pose_destroy(pose);
    free(q);
}

int main(int count, char **arguments)
{
    ulna_error error;
    ulna_content skeleton = ulna_content_empty(NULL), markers = ulna_content_empty(NULL);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_take *take = NULL;
    ulna_track_result result = {0};
    ulna_error_clear(&error);
    if (count == 2 || count == 3) {
        fprintf(stderr, "usage: track_c3d SKELETON RECORDING MARKERS.csv [MOTION...]\n");
        return 2;
    }

    /* What goes in. */
    if (count > 3) {
        check(ulna_content_load(arguments[1], NULL, &skeleton, &error), &error);
        check(ulna_content_load(arguments[2], NULL, &markers, &error), &error);
        check(ulna_marker_set_load(arguments[3], skeleton.model, &set, &error), &error);
    } else
        make_sample(&skeleton, &markers, &error);

    /* The take: names are matched, and the axes of the recording found. */
    ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
    options.set = count > 3 ? &set : NULL; /* NULL: the skeleton's own markers */
    check(ulna_take_create(&options, &take, &error), &error);
    printf("%zu markers on the skeleton, %zu more that the recording does not have\n", take->set.count,
           take->absent.count);

    /* All frames. result.clip is the motion; the rest says how far to trust it. */
    check(ulna_track(take, NULL, &result, &error), &error);
    printf("%d frames, %.2f mm off on average, %.1f us each; %d lost\n", result.summary.frames,
           1e3 * result.summary.rms_mean, result.summary.us_mean, result.summary.lost);
    if (result.trust.is_poor || result.trust.is_undetermined)
        printf("do not trust these angles: the markers do not fit, or are too few\n");

    /* What goes out: the format by the ending of the name, units as in the skeleton's file. */
    for (int i = 4; i < count; i++) {
        ulna_write_options writing = ulna_write_options_for(&skeleton, ulna_format_of_name(arguments[i]));
        check(ulna_content_save(arguments[i], skeleton.model, &result.clip, NULL, &writing, NULL, &error), &error);
    }

    int good = result.summary.lost == 0;
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    ulna_marker_set_release(&set);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return good ? 0 : 1;
}
