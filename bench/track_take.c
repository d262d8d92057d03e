/* The take of bench_track: see the header. */
#include "track.h"
#include "ulna/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void data_path(char *path, size_t size, const char *name)
{
    const char *folder = getenv("ULNA_DATA");
    snprintf(path, size, "%s/%s", folder ? folder : ULNA_SOURCE_DIR "/../shared/data", name);
}

static int load(const char *name, ulna_content *content)
{
    char path[2048];
    data_path(path, sizeof path, name);
    return ulna_content_load(path, NULL, content, NULL) == ULNA_OK;
}

static ulna_status weld_thumbs(const ulna_model *model, ulna_model **result)
{
    static const char *const thumbs[] = {"lthumb", "rthumb"};
    const ulna_joint fixed = ulna_joint_fixed();
    ulna_builder *builder = NULL;
    ulna_status status = ulna_builder_from_model(model, NULL, &builder, NULL);
    for (int i = 0; i < 2 && status == ULNA_OK; i++)
        status = ulna_builder_set_joint(builder, ulna_builder_find_body(builder, thumbs[i]), &fixed, NULL);
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, result, NULL);
    ulna_builder_destroy(builder);
    return status;
}

static ulna_attachment *find(const ulna_marker_set *set, const char *name)
{
    for (size_t i = 0; i < set->count; i++) {
        const char *colon = strchr(set->items[i].marker, ':');
        if (strcmp(colon ? colon + 1 : set->items[i].marker, name) == 0)
            return &set->items[i];
    }
    return NULL;
}

/* Lines "LFHD x y z", centimetres in the bone's frame: one for each marker of the set. */
static int read_offsets(ulna_marker_set *set)
{
    char path[2048], name[64];
    double cm[3];
    size_t found = 0;
    data_path(path, sizeof path, "../oracles/hdm05/dg_03-05_02_offsets_cm.txt");
    FILE *file = fopen(path, "r");
    while (file && fscanf(file, "%63s %lf %lf %lf", name, &cm[0], &cm[1], &cm[2]) == 4) {
        ulna_attachment *at = find(set, name);
        for (int k = 0; at && k < 3; k++)
            at->offset[k] = 0.01 * cm[k];
        found += at != NULL;
    }
    if (file)
        fclose(file);
    return found == set->count;
}

static int take_goals(track_take *take, const ulna_take *from)
{
    take->frames = from->frame_count;
    take->markers = (int)take->set.count;
    take->goals = calloc((size_t)take->frames * (size_t)take->markers, 3 * sizeof *take->goals);
    for (int f = 0; take->goals && f < take->frames; f++)
        for (int m = 0; m < take->markers; m++)
            if (!ulna_take_position(from, f, m, take->goals + 3 * ((ptrdiff_t)f * take->markers + m)))
                return 0;
    return take->goals != NULL;
}

/* Markers by their names; the model's (x, y, z) is the recording's (y, z, x). */
static int match(track_take *take, const ulna_content *markers)
{
    static const double axes[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};
    ulna_take_options options = ulna_take_options_default();
    ulna_take *made = NULL;
    options.model = take->model;
    options.recording = &markers->recording;
    options.attach = ULNA_ATTACH_NAMES;
    options.axes = axes;
    int ready = ulna_take_create(&options, &made, NULL) == ULNA_OK;
    for (size_t i = 0; ready && i < made->set.count; i++) {
        const ulna_attachment *item = &made->set.items[i];
        ready = ulna_marker_set_add(&take->set, item->marker, item->body, item->offset, item->weight) == ULNA_OK;
    }
    ready = ready && take_goals(take, made);
    ulna_take_destroy(made);
    return ready;
}

int track_take_load(track_take *take)
{
    ulna_content skeleton = ulna_content_empty(NULL), markers = ulna_content_empty(NULL);
    *take = (track_take){.set = ulna_marker_set_empty(NULL)};
    int ready = load("hdm05/HDM_dg.asf", &skeleton) && load("hdm05/HDM_dg_03-05_02_120.c3d", &markers) &&
                weld_thumbs(skeleton.model, &take->model) == ULNA_OK && match(take, &markers) &&
                read_offsets(&take->set);
    ulna_content_release(&markers);
    ulna_content_release(&skeleton);
    if (!ready)
        track_take_free(take);
    return ready;
}

void track_take_free(track_take *take)
{
    free(take->goals);
    ulna_marker_set_release(&take->set);
    ulna_model_destroy(take->model);
    *take = (track_take){0};
}

const double *track_take_goals(const track_take *take, int frame)
{
    return take->goals + 3 * (ptrdiff_t)frame * take->markers;
}
