/*
 * calibrate: find where the markers of a recording are on the skeleton, from the recording itself.
 *
 *     cc calibrate.c $(pkg-config --cflags --libs ulna) -o calibrate
 *     ulna sample --only walk take
 *     ./calibrate take/human.asf take/walk.c3d take/found.csv
 *
 * The name of a marker (LKNE, RASI, C7, ...) says on which bone it is. examples/track_c3d.c and `ulna solve --attach` read found.csv.
 */
#include <ulna/ulna.h>

#include <stdio.h>
#include <stdlib.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "calibrate: %s%s%s\n", error->path, *error->path ? ": " : "", error->message);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    ulna_error error;
    ulna_content skeleton = ulna_content_empty(NULL), markers = ulna_content_empty(NULL);
    ulna_marker_set none = ulna_marker_set_empty(NULL);
    ulna_take *take = NULL;
    ulna_calibration found = {0};
    if (count != 4) {
        fprintf(stderr, "usage: calibrate SKELETON RECORDING OUTPUT.csv\n");
        return 2;
    }
    check(ulna_content_load(arguments[1], NULL, &skeleton, &error), &error);
    check(ulna_content_load(arguments[2], NULL, &markers, &error), &error);

    /* Bones by the markers' names, with offsets as on an average adult: a start. */
    ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
    options.attach = ULNA_ATTACH_NAMES;
    options.set = &none; /* not even the skeleton's own markers */
    options.check = 1;
    check(ulna_take_create(&options, &take, &error), &error);
    for (int i = 0; i < take->findings.count; i++)
        printf("this recording cannot be right: %s\n", take->findings.list[i].text);
    if (take->doubts)
        return 1;

    /* Offsets and poses that together fit the recording best. */
    check(ulna_calibrate(take, NULL, &found, &error), &error);
    printf("%zu markers on %d bones, %.2f mm off in the frames used, %.2f mm in others\n", found.set.count,
           found.bodies, 1e3 * found.rms, 1e3 * found.rms_held_out);
    if (found.lengths.are_others_better)
        printf("the skeleton's bones are not this person's, it seems: with other lengths %.1f mm become %.1f mm\n",
               1e3 * found.lengths.rms_given, 1e3 * found.lengths.rms_symmetric);
    if (found.lengths.is_other_size)
        printf("as a whole, the skeleton is %.0f %% of this person's size\n", 100 / found.lengths.size);
    for (size_t i = 0; i < found.set.count; i++) {
        const ulna_attachment *item = &found.set.items[i];
        printf("%-12s %-16s %7.1f %7.1f %7.1f mm%s\n", item->marker, ulna_model_body_name(take->model, item->body),
               1e3 * item->offset[0], 1e3 * item->offset[1], 1e3 * item->offset[2],
               found.markers[i].undetermined > 1.5 ? "  hardly determined by this take"
               : found.markers[i].is_suspect       ? "  is it on the right bone?"
                                                   : "");
    }
    check(ulna_marker_set_save(&found.set, take->model, arguments[3], &error), &error);

    int good = found.rms < 0.02;
    ulna_calibration_release(&found);
    ulna_take_destroy(take);
    ulna_marker_set_release(&none);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return good ? 0 : 1;
}
