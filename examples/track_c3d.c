/*
 * track_c3d: from recorded markers to joint angles. Input: a skeleton, a C3D file, and a table of where the markers are. Output: the motion.
 *
 *     cc track_c3d.c $(pkg-config --cflags --libs ulna) -o track_c3d
 *     ulna sample --only walk take
 *     ./track_c3d take/human.asf take/walk.c3d take/walk-markers.csv walk.amc walk.bvh
 *
 * The table has a line "marker,bone,x,y,z" for each marker; `ulna calibrate` and examples/calibrate.c make one.
 */
#include <ulna/ulna.h>

#include <stdio.h>
#include <stdlib.h>

static void check(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK) {
        fprintf(stderr, "track_c3d: %s%s%s\n", error->path, *error->path ? ": " : "", error->message);
        exit(1);
    }
}

static void print_findings(const ulna_findings *findings)
{
    for (int i = 0; i < findings->count; i++)
        printf("  %s\n", findings->list[i].text);
}

/* The joint angles of one frame. */
static void print_angles(const ulna_model *model, const double *q)
{
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        char label[64];
        int at = ulna_model_dof_coordinate(model, d);
        if (at != ULNA_NONE && !ulna_model_dof_is_translation(model, d) &&
            ulna_model_dof_label(model, d, label, sizeof label))
            printf("  %-24s %7.1f degrees\n", label, q[at] * 180 / 3.14159265358979);
    }
}

int main(int count, char **arguments)
{
    ulna_error error;
    ulna_content skeleton = ulna_content_empty(NULL), markers = ulna_content_empty(NULL);
    ulna_marker_set set = ulna_marker_set_empty(NULL);
    ulna_take *take = NULL;
    ulna_track_result result = {0};
    if (count < 4) {
        fprintf(stderr, "usage: track_c3d SKELETON RECORDING MARKERS.csv [MOTION...]\n");
        return 2;
    }

    /* What goes in. */
    check(ulna_content_load(arguments[1], NULL, &skeleton, &error), &error);
    check(ulna_content_load(arguments[2], NULL, &markers, &error), &error);
    check(ulna_marker_set_load(arguments[3], skeleton.model, &set, &error), &error);

    /* The take: names are matched, and the axes of the recording found. */
    ulna_take_options options = ulna_take_options_for(&skeleton, &markers);
    options.set = &set; /* NULL: the skeleton's own markers */
    options.check = 1;  /* for mirror images and exchanged sides too */
    check(ulna_take_create(&options, &take, &error), &error);
    printf("%zu markers on the skeleton, %zu more that the recording does not have\n", take->set.count,
           take->absent.count);
    if (take->doubts) {
        printf("this recording cannot be right:\n");
        print_findings(&take->findings);
        return 1;
    }

    /* All frames. result.clip is the motion; the rest says how far to trust it. The robust loss reduces the weight of
     * markers that are far off, such as the two knees, which are swapped in a part of the sample. */
    ulna_track_options how = ulna_track_options_default();
    how.loss = ULNA_LOSS_GEMAN_MCCLURE;
    check(ulna_track(take, &how, &result, &error), &error);
    printf("%d frames, %.2f mm off on average, %.1f us each; %d lost\n", result.summary.frames,
           1e3 * result.summary.rms_mean, result.summary.us_mean, result.summary.lost);
    for (int i = 0; i < result.swap_count; i++) {
        const ulna_swap *swap = &result.swaps[i];
        printf("%s and %s are swapped in frames %d to %d\n", take->set.items[swap->a].marker,
               take->set.items[swap->b].marker, take->first_frame + swap->first, take->first_frame + swap->last);
    }
    static const char *const verdicts[] = {"trust it", "look at it before you use it", "do not use it"};
    printf("%s\n", verdicts[result.trust.verdict]);
    print_findings(&result.findings);
    printf("frame %d:\n", take->first_frame);
    print_angles(take->model, ulna_clip_frame(&result.clip, 0));

    /* What goes out: the format by the ending of the name, units as in the skeleton's file. */
    for (int i = 4; i < count; i++) {
        ulna_write_options writing = ulna_write_options_for(&skeleton, ulna_format_of_name(arguments[i]));
        check(ulna_content_save(arguments[i], skeleton.model, &result.clip, NULL, &writing, NULL, &error), &error);
    }

    int good = result.summary.lost == 0 && result.trust.verdict != ULNA_VERDICT_REJECT;
    ulna_track_result_release(&result);
    ulna_take_destroy(take);
    ulna_marker_set_release(&set);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    return good ? 0 : 1;
}
