/*
 * calibrate: where the markers of a recording sit on the skeleton, from the recording itself.
 *
 *     cc calibrate.c $(pkg-config --cflags --libs ulna) -o calibrate
 *     ./calibrate skeleton.asf walk.c3d markers.csv
 *
 * Which bone a marker is on is known by its name (LKNE, RASI, C7, ...). markers.csv is what examples/track_c3d.c and `ulna solve
 * --attach` read. Without arguments it calibrates a recording of the built-in human, whose offsets are known.
 */
#include <ulna/ulna.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "calibrate: %s: %s\n", ulna_status_text(status), error->message);
        exit(1);
    }
}

/* The built-in human in motion, and its markers as cameras would see them. */
static void make_sample(ulna_content *skeleton, ulna_content *markers, ulna_error *error)
{
    enum { FRAMES = 400 };
    ulna_recording *recording = &markers->recording;
    ulna_pose *pose;
    check(ulna_sample_create("human", NULL, &skeleton->model, error), error);
    const ulna_model *human = skeleton->model;
    int count = ulna_model_marker_count(human), nq = ulna_model_coordinate_count(human);
    double *q = calloc((size_t)nq, sizeof *q);
    check(ulna_recording_resize(recording, count, FRAMES), error);
    check(ulna_pose_create(human, NULL, &pose, error), error);
    for (int m = 0; m < count; m++)
        snprintf(recording->names[m], ULNA_MARKER_NAME, "%s", ulna_model_marker_name(human, m));
    for (int f = 0; q && f < FRAMES; f++) {
        for (int j = 0; j < nq; j++)
            q[j] = ulna_model_rest(human)[j] + (j < 6 ? 0.1 : 0.4) * sin(0.01 * (2 + j % 5) * f + j);
        ulna_model_clamp(human, q);
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
    ulna_marker_set none = ulna_marker_set_empty(NULL);
    ulna_take *take = NULL;
    ulna_calibration found = {0};
    ulna_error_clear(&error);
    if (count > 2) {
        check(ulna_content_load(arguments[1], NULL, &skeleton, &error), &error);
        check(ulna_content_load(arguments[2], NULL, &markers, &error), &error);
    } else
        make_sample(&skeleton, &markers, &error);

    /* Bones by the markers' names, with offsets as on an average adult: a start. */
    ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
    options.attach = ULNA_ATTACH_NAMES;
    options.set = &none; /* not even the skeleton's own markers */
    check(ulna_take_create(&options, &take, &error), &error);

    /* Offsets and poses that together fit the recording best. */
    check(ulna_calibrate(take, NULL, &found, &error), &error);
    printf("%zu markers on %d bones, %.2f mm off in the frames used, %.2f mm in others\n", found.set.count,
           found.bodies, 1e3 * found.rms, 1e3 * found.rms_held_out);
    for (size_t i = 0; i < found.set.count; i++) {
        const ulna_attachment *item = &found.set.items[i];
        printf("%-12s %-16s %7.1f %7.1f %7.1f mm%s\n", item->marker, ulna_model_body_name(take->model, item->body),
               1e3 * item->offset[0], 1e3 * item->offset[1], 1e3 * item->offset[2],
               found.markers[i].freedom > 1 ? "  not determined by this take"
               : found.markers[i].suspect   ? "  is it on the right bone?"
                                            : "");
    }
    if (count > 3)
        check(ulna_marker_set_save(&found.set, take->model, arguments[3], &error), &error);

    int good = found.rms < 0.02;
    ulna_calibration_release(&found);
    ulna_take_destroy(take);
    ulna_marker_set_release(&none);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return good ? 0 : 1;
}
