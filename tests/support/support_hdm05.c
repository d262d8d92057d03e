#include "support_hdm05.h"

#include <stdlib.h>
#include <string.h>

const double ulna_test_hdm05_axes[9] = {0, 1, 0, 0, 0, 1, 1, 0, 0};

/* Which bone carries which marker, as the paper's authors had it. */
static const struct {
    const char *bone, *markers;
} bones[] = {
    {"head", "LFHD RFHD LBHD RBHD"},
    {"lowerneck", "C7"},
    {"lowerback", "T10"},
    {"thorax", "CLAV"},
    {"upperback", "STRN RBAC"},
    {"lclavicle", "LSHO"},
    {"lhumerus", "LUPA LELB"},
    {"lradius", "LFRM"},
    {"lwrist", "LWRA LWRB"},
    {"lfingers", "LFIN"},
    {"rclavicle", "RSHO"},
    {"rhumerus", "RUPA RELB"},
    {"rradius", "RFRM"},
    {"rwrist", "RWRA RWRB"},
    {"rfingers", "RFIN"},
    {"root", "LFWT RFWT LBWT RBWT"},
    {"lfemur", "LTHI LKNE"},
    {"ltibia", "LSHN"},
    {"lfoot", "LANK LHEE"},
    {"ltoes", "LTOE LMT5"},
    {"rfemur", "RTHI RKNE"},
    {"rtibia", "RSHN"},
    {"rfoot", "RANK RHEE"},
    {"rtoes", "RTOE RMT5"},
};

static const char *bone_of(const char *marker)
{
    for (size_t i = 0; i < sizeof bones / sizeof *bones; i++) {
        const char *at = strstr(bones[i].markers, marker);
        size_t length = strlen(marker);
        if (at && (at == bones[i].markers || at[-1] == ' ') && (at[length] == 0 || at[length] == ' '))
            return bones[i].bone;
    }
    return NULL;
}

static void load(const char *name, const ulna_read_options *options, ulna_content *content)
{
    char path[1024];
    ulna_error error;
    ulna_error_clear(&error);
    *content = ulna_content_empty(NULL);
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), name);
    if (ulna_content_load(path, options, content, &error) != ULNA_OK)
        fail_msg("%s: line %d: %s", name, error.line, error.message);
}

ulna_test_hdm05 ulna_test_hdm05_open(void)
{
    ulna_test_hdm05 take = {.set = ulna_marker_set_empty(NULL)};
    load("hdm05/HDM_dg.asf", NULL, &take.skeleton);
    ulna_read_options options = ulna_read_options_default();
    options.model = take.skeleton.model;
    options.channels = take.skeleton.channels;
    options.channel_count = take.skeleton.channel_count;
    options.unit_m = take.skeleton.source.unit_m;
    load("hdm05/HDM_dg_03-05_02_120.amc", &options, &take.motion);
    load("hdm05/HDM_dg_03-05_02_120.c3d", NULL, &take.markers);

    char path[1024], name[32];
    size_t size;
    double cm[3];
    int used;
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), "../oracles/hdm05/dg_03-05_02_offsets_cm.txt");
    char *text = ulna_test_read_file(path, &size);
    for (const char *at = text; sscanf(at, "%31s %lf %lf %lf%n", name, &cm[0], &cm[1], &cm[2], &used) == 4;
         at += used) {
        const double offset[3] = {cm[0] / 100, cm[1] / 100, cm[2] / 100};
        const char *bone = bone_of(name);
        assert_non_null(bone);
        int body = ulna_model_find_body(take.skeleton.model, bone);
        assert_int_equal(ulna_marker_set_add(&take.set, name, body, offset, 1), ULNA_OK);
    }
    free(text);
    assert_int_equal(take.set.count, 41);
    return take;
}

void ulna_test_hdm05_close(ulna_test_hdm05 *take)
{
    ulna_marker_set_release(&take->set);
    ulna_content_release(&take->motion);
    ulna_content_release(&take->markers);
    ulna_content_release(&take->skeleton);
}
