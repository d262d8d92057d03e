/*
 * Writing glTF: any skeleton and any motion of it come back as they were, to single precision.
 *
 *     test_gltf_write --write FOLDER     writes files of all kinds, for tests/tools/gltf_validate.sh
 */
#include <jansson.h>

#include "support_base64.h"
#include "support_content.h"
#include "support_tree.h"
#include "ulna/kinematics.h"

/* ---- helpers ---------------------------------------------------------------------------------------------------- */

static ulna_clip random_clip(ulna_test_rng *rng, const ulna_model *model, int frames)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_clip_resize(&clip, ulna_model_coordinate_count(model), frames), ULNA_OK);
    for (int f = 0; f < frames; f++)
        ulna_test_fill_q(rng, model, ulna_clip_frame(&clip, f));
    clip.frame_seconds = 1 / 120.0;
    return clip;
}

/* Swings every joint of three turns or one a little, smoothly. */
static ulna_clip smooth_clip(const ulna_model *model, int frames)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    int nq = ulna_model_coordinate_count(model), nv = ulna_model_dof_count(model);
    double *step = ulna_test_numbers(nv);
    assert_int_equal(ulna_clip_resize(&clip, nq, frames), ULNA_OK);
    clip.frame_seconds = 1 / 120.0;
    for (int f = 0; f < frames; f++) {
        for (int j = 0; j < nv; j++)
            step[j] = 0.3 * sin(0.05 * f + j) - 0.3 * sin(j);
        ulna_model_integrate(model, ulna_model_rest(model), step, ulna_clip_frame(&clip, f));
    }
    free(step);
    return clip;
}

/* The largest distance between bodies of the same name, over the rest pose and all frames, in units of the distance along
 * the tree from the world: each joint on the way adds the rounding of its own numbers. */
static double difference(const ulna_model *a, const ulna_clip *clip_a, const ulna_model *b, const ulna_clip *clip_b)
{
    ulna_pose *pose[2];
    int count = ulna_model_body_count(a);
    double worst = 0, *way = ulna_test_numbers(count);
    assert_int_equal(ulna_pose_create(a, NULL, &pose[0], NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(b, NULL, &pose[1], NULL), ULNA_OK);
    assert_int_equal(clip_a->frame_count, clip_b->frame_count);
    for (int f = -1; f < clip_a->frame_count; f++) {
        int is_rest = f < 0 || clip_a->coordinate_count == 0;
        assert_int_equal(ulna_pose_forward(pose[0], is_rest ? ulna_model_rest(a) : ulna_clip_frame(clip_a, f)),
                         ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose[1], f < 0 ? ulna_model_rest(b) : ulna_clip_frame(clip_b, f)), ULNA_OK);
        for (int i = 0; i < count; i++) {
            int other = ulna_model_find_body(b, ulna_model_body_name(a, i)), parent = ulna_model_body_parent(a, i);
            double at[2][3], r[2][9], above[3] = {0, 0, 0}, off = 0, length = 0;
            assert_true(other >= 0);
            assert_int_equal(ulna_pose_body(pose[0], i, at[0], r[0]), ULNA_OK);
            assert_int_equal(ulna_pose_body(pose[1], other, at[1], r[1]), ULNA_OK);
            if (parent >= 0)
                ulna_pose_body(pose[0], parent, above, NULL);
            for (int k = 0; k < 3; k++) {
                off += (at[0][k] - at[1][k]) * (at[0][k] - at[1][k]);
                length += (at[0][k] - above[k]) * (at[0][k] - above[k]);
            }
            way[i] = sqrt(length) + (parent >= 0 ? way[parent] : 0);
            for (int k = 0; k < 9; k++)
                worst = fmax(worst, fabs(r[0][k] - r[1][k]) / (1 + ulna_model_body_depth(a, i)));
            worst = fmax(worst, sqrt(off) / (1 + way[i]));
        }
    }
    free(way);
    ulna_pose_destroy(pose[0]);
    ulna_pose_destroy(pose[1]);
    return worst;
}

static void assert_comes_back(const ulna_model *model, const ulna_clip *clip, double tolerance)
{
    ulna_text once[2], twice;
    for (int kind = 0; kind < 2; kind++) {
        ulna_format format = kind ? ULNA_FORMAT_GLB : ULNA_FORMAT_GLTF;
        once[kind] = written(format, model, clip, NULL, NULL, NULL);
        assert_int_equal(ulna_format_sniff(once[kind].data, once[kind].length), format);
        ulna_content again = content_of(once[kind].data, once[kind].length, ULNA_FORMAT_UNKNOWN, NULL);
        assert_int_equal(again.remarks.count, 0);
        assert_int_equal(ulna_model_body_count(again.model), ulna_model_body_count(model));
        assert_string_equal(ulna_model_name(again.model), ulna_model_name(model));
        assert_true(again.clip.frame_count == clip->frame_count && again.clip.first_frame == clip->first_frame);
        assert_true(again.clip.frame_seconds == clip->frame_seconds);
        double off = difference(model, clip, again.model, &again.clip);
        if (!(off <= tolerance))
            fail_msg("%g off", off);
        for (int m = 0; m < ulna_model_marker_count(model); m++) {
            double a[3], b[3];
            int other = ulna_model_find_marker(again.model, ulna_model_marker_name(model, m));
            assert_true(other >= 0);
            assert_string_equal(ulna_model_body_name(again.model, ulna_model_marker_body(again.model, other)),
                                ulna_model_body_name(model, ulna_model_marker_body(model, m)));
            assert_true(ulna_model_marker_weight(again.model, other) == ulna_model_marker_weight(model, m));
            ulna_model_marker_position(model, m, a);
            ulna_model_marker_position(again.model, other, b);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(a[i] - b[i]) <= 1e-7 * (1 + fabs(a[i])));
        }
        twice = written(format, again.model, &again.clip, NULL, NULL, NULL);
        assert_same_bytes(&once[kind], &twice);
        ulna_text_release(&twice);
        ulna_content_release(&again);
    }
    ulna_text_release(&once[0]);
    ulna_text_release(&once[1]);
}

/* ---- round trips ------------------------------------------------------------------------------------------------ */

static void random_skeletons(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (int round = 0; round < 300; round++) {
        ulna_model *model = ulna_test_random_tree(&rng, NULL);
        ulna_clip clip = random_clip(&rng, model, round % 6);
        clip.first_frame = round % 3 ? 1 : 2925 - round;
        clip.frame_seconds = clip.frame_count == 0 ? 0 : round % 2 ? 1 / 120.0 : 0.0123456789;
        if (clip.frame_count == 0)
            clip.first_frame = 1;
        assert_comes_back(model, &clip, 5e-7);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

static void samples(void **state)
{
    (void)state;
    for (int i = 0; ulna_sample_name(i); i++) {
        ulna_model *model;
        assert_int_equal(ulna_sample_create(ulna_sample_name(i), NULL, &model, NULL), ULNA_OK);
        ulna_clip clip = smooth_clip(model, 60);
        assert_comes_back(model, &clip, 5e-7);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

/* A person, in metres: every body within a micrometre. */
static void people_to_a_micrometre(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_pose *pose[2];
    assert_int_equal(ulna_sample_create("human", NULL, &model, NULL), ULNA_OK);
    ulna_clip clip = smooth_clip(model, 1000);
    ulna_text text = written(ULNA_FORMAT_GLB, model, &clip, NULL, NULL, NULL);
    ulna_content again = content_of(text.data, text.length, ULNA_FORMAT_UNKNOWN, NULL);
    assert_int_equal(ulna_pose_create(model, NULL, &pose[0], NULL), ULNA_OK);
    assert_int_equal(ulna_pose_create(again.model, NULL, &pose[1], NULL), ULNA_OK);
    for (int f = 0; f < clip.frame_count; f++) {
        assert_int_equal(ulna_pose_forward(pose[0], ulna_clip_frame(&clip, f)), ULNA_OK);
        assert_int_equal(ulna_pose_forward(pose[1], ulna_clip_frame(&again.clip, f)), ULNA_OK);
        for (int b = 0; b < ulna_model_body_count(model); b++) {
            double at[2][3];
            ulna_pose_body(pose[0], b, at[0], NULL);
            ulna_pose_body(pose[1], ulna_model_find_body(again.model, ulna_model_body_name(model, b)), at[1], NULL);
            for (int i = 0; i < 3; i++)
                assert_true(fabs(at[0][i] - at[1][i]) < 1e-6);
        }
    }
    ulna_pose_destroy(pose[0]);
    ulna_pose_destroy(pose[1]);
    ulna_content_release(&again);
    ulna_text_release(&text);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void recordings(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(9);
    ulna_model *model;
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    for (int round = 0; round < 20; round++) {
        ulna_recording r = random_recording(&rng, 1 + round % 4, 1 + round);
        ulna_clip clip = random_clip(&rng, model, 3 + round % 2);
        r.first_frame = round;
        r.frame_seconds = round % 2 ? 1 / 120.0 : 1 / 59.94;
        for (int f = 0; f < r.frame_count; f++) /* the first is never seen */
            for (int i = 0; i < 3; i++)
                ulna_recording_frame(&r, f)[i] = NAN;
        const ulna_model *with = round % 3 ? model : NULL;
        ulna_text once = written(ULNA_FORMAT_GLB, with, with ? &clip : NULL, &r, NULL, NULL);
        ulna_content again = content_of(once.data, once.length, ULNA_FORMAT_UNKNOWN, NULL);
        assert_same_recording(&r, &again.recording, 2.5e-7);
        assert_true(again.recording.first_frame == r.first_frame);
        assert_true(again.recording.frame_seconds == r.frame_seconds);
        assert_true((again.model != NULL) == (with != NULL));
        assert_int_equal(again.clip.frame_count, with ? clip.frame_count : 0);
        ulna_text twice = written(ULNA_FORMAT_GLB, again.model, &again.clip, &again.recording, NULL, NULL);
        assert_same_bytes(&once, &twice);
        ulna_text_release(&once);
        ulna_text_release(&twice);
        ulna_content_release(&again);
        ulna_recording_release(&r);
        ulna_clip_release(&clip);
    }
    ulna_model_destroy(model);
}

/* ---- what others see -------------------------------------------------------------------------------------------- */

/* Bodies that only rotate go from frame to frame by quaternions, the first frame by matrices: each frame by itself gives the same. */
static void frames_are_the_same_alone(void **state)
{
    (void)state;
    enum { FRAMES = 80 };
    ulna_test_rng rng = ulna_test_rng_seed(17);
    ulna_test_tree_options options = ulna_test_tree_options_default();
    options.joints = 1u << ULNA_JOINT_EULER | 1u << ULNA_JOINT_REVOLUTE | 1u << ULNA_JOINT_SEQUENCE;
    for (int round = 0; round < 30; round++) {
        options.offset = round % 3 ? 0 : 0.5;
        options.turned = round % 2;
        ulna_model *model = ulna_test_random_tree(&rng, &options);
        ulna_clip clip = smooth_clip(model, FRAMES);
        ulna_text all = written(ULNA_FORMAT_GLB, model, &clip, NULL, NULL, NULL);
        ulna_content together = content_of(all.data, all.length, ULNA_FORMAT_UNKNOWN, NULL);
        for (int f = 0; f < FRAMES && clip.coordinate_count > 0; f++) {
            ulna_clip one = clip, of_all = together.clip;
            one.q = ulna_clip_frame(&clip, f);
            of_all.q = ulna_clip_frame(&together.clip, f);
            one.frame_count = of_all.frame_count = 1;
            ulna_text text = written(ULNA_FORMAT_GLB, model, &one, NULL, NULL, NULL);
            ulna_content alone = content_of(text.data, text.length, ULNA_FORMAT_UNKNOWN, NULL);
            double off = difference(alone.model, &alone.clip, together.model, &of_all);
            if (!(off < 1e-10)) /* a step of single precision is 6e-8, over the depth of its body */
                fail_msg("round %d, frame %d: %g off", round, f, off);
            ulna_content_release(&alone);
            ulna_text_release(&text);
        }
        ulna_content_release(&together);
        ulna_text_release(&all);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

static json_t *json_of(const ulna_text *text)
{
    const unsigned char *b = (const unsigned char *)text->data;
    const size_t start = text->data[0] == 'g' ? 20 : 0;
    json_t *root =
        json_loadb(text->data + start, start ? (size_t)(b[12] | b[13] << 8 | b[14] << 16) : text->length, 0, NULL);
    assert_non_null(root);
    return root;
}

static json_t *member(json_t *list, const char *key, size_t index)
{
    json_t *found = json_array_get(json_object_get(list, key), index);
    assert_non_null(found);
    return found;
}

/* A wheel that turns on and on: its quaternions never jump, though the angle passes half turns. */
static void signs_go_on(void **state)
{
    (void)state;
    enum { TURNS = 200 };
    ulna_model *model;
    ulna_clip clip = ulna_clip_empty(NULL);
    assert_int_equal(ulna_sample_create("two-link", NULL, &model, NULL), ULNA_OK);
    assert_int_equal(ulna_clip_resize(&clip, ulna_model_coordinate_count(model), TURNS), ULNA_OK);
    clip.frame_seconds = 0.01;
    for (int f = 0; f < TURNS; f++)
        ulna_clip_frame(&clip, f)[0] = 0.3 * f;
    ulna_text text = written(ULNA_FORMAT_GLB, model, &clip, NULL, NULL, NULL);
    ulna_text json = {.data = text.data + 20,
                      .length = (unsigned char)text.data[12] + 256u * (unsigned char)text.data[13]};
    json_t *root = json_of(&json), *animation = member(root, "animations", 0), *found = NULL;
    for (size_t i = 0; i < json_array_size(json_object_get(animation, "channels")) && !found; i++)
        if (strcmp(
                json_string_value(json_object_get(json_object_get(member(animation, "channels", i), "target"), "path")),
                "rotation") == 0)
            found = member(animation, "samplers", i);
    size_t output = (size_t)json_integer_value(json_object_get(found, "output"));
    size_t offset = (size_t)json_integer_value(json_object_get(member(root, "bufferViews", output), "byteOffset"));
    const char *numbers = text.data + 20 + json.length + 8 + offset;
    for (int f = 1; f < TURNS; f++) {
        float q[8];
        double dot = 0, norm = 0;
        memcpy(q, numbers + 16 * (f - 1), sizeof q);
        for (int i = 0; i < 4; i++) {
            dot += (double)q[i] * (double)q[i + 4];
            norm += (double)q[i] * (double)q[i];
        }
        assert_true(fabs(dot - cos(0.15)) < 1e-6 && fabs(norm - 1) < 2e-7);
    }
    json_decref(root);
    ulna_text_release(&text);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void what_is_lost_is_told(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    assert_int_equal(ulna_sample_create("arm", NULL, &model, NULL), ULNA_OK);
    ulna_clip clip = smooth_clip(model, 3);
    clip.frame_seconds = 0;
    ulna_text text = written(ULNA_FORMAT_GLTF, model, &clip, NULL, NULL, &remarks);
    assert_remark(&remarks, -1, "1/120 s is written");
    assert_remark(&remarks, -1, "glTF has no limits: 7");
    assert_remark(&remarks, -1, "joints will be read back as ball or free");
    ulna_remarks_release(&remarks);
    ulna_text_release(&text);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

static void refuse_to_write(const ulna_model *model, const ulna_clip *clip, const ulna_recording *recording,
                            ulna_status wanted, const char *words)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_sink sink = ulna_text_sink(&text);
    ulna_error error = {0};
    ulna_status status = ulna_content_write(ULNA_FORMAT_GLB, model, clip, recording, NULL, &sink, NULL, &error);
    if (status != wanted || error.status != wanted || !strstr(error.message, words))
        fail_msg("status %d: %s", status, error.message);
    assert_int_equal(text.length, 0);
    ulna_text_release(&text);
}

static void refused_writing(void **state)
{
    (void)state;
    ulna_model *model;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    assert_int_equal(ulna_sample_create("hand", NULL, &model, NULL), ULNA_OK);
    ulna_clip clip = smooth_clip(model, 3);
    ulna_recording r = random_recording(&rng, 2, 2);
    double kept = clip.q[2];
    refuse_to_write(NULL, &clip, NULL, ULNA_ERR_ARGUMENT, "a motion needs its skeleton");
    clip.q[2] = NAN;
    refuse_to_write(model, &clip, NULL, ULNA_ERR_NUMBER, "coordinate 2 of frame 0 is not a number");
    clip.q[2] = 1e39;
    refuse_to_write(model, &clip, NULL, ULNA_ERR_NUMBER, "too large for glTF");
    clip.q[2] = kept;
    clip.frame_seconds = 1e39;
    refuse_to_write(model, &clip, NULL, ULNA_ERR_NUMBER, "too large");
    clip.frame_seconds = 1e-60;
    refuse_to_write(model, &clip, NULL, ULNA_ERR_LIMIT, "times");
    clip.frame_seconds = 0.1;
    clip.coordinate_count--;
    refuse_to_write(model, &clip, NULL, ULNA_ERR_ARGUMENT, "coordinates per frame, but the skeleton has");
    clip.coordinate_count++;
    ulna_recording_frame(&r, 1)[3] = ulna_recording_frame(&r, 1)[4] = ulna_recording_frame(&r, 1)[5] = -1e200;
    refuse_to_write(model, &clip, &r, ULNA_ERR_NUMBER, "too large");
    ulna_recording_release(&r);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

static void sinks_may_fail(void **state)
{
    (void)state;
    ulna_model *model;
    assert_int_equal(ulna_sample_create("hand", NULL, &model, NULL), ULNA_OK);
    ulna_clip clip = smooth_clip(model, 3);
    assert_sink_may_fail(ULNA_FORMAT_GLTF, model, &clip, NULL);
    assert_sink_may_fail(ULNA_FORMAT_GLB, model, &clip, NULL);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
}

/* The writer takes its memory as the model does. */
static void memory_may_fail(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_model *model;
    assert_int_equal(ulna_sample_create("all-joints", &allocator, &model, NULL), ULNA_OK);
    ulna_clip clip = random_clip(&rng, model, 2);
    ulna_recording r = random_recording(&rng, 2, 2);
    for (int kind = 0; kind < 2; kind++)
        for (long more = 0;; more++) {
            ulna_text text = ulna_text_empty(NULL);
            ulna_sink sink = ulna_text_sink(&text);
            ulna_error error = {0};
            long live = memory.live_blocks;
            memory.fail_at = memory.calls + more;
            memory.failed = 0;
            ulna_status status = ulna_content_write(kind ? ULNA_FORMAT_GLB : ULNA_FORMAT_GLTF, model, &clip, &r, NULL,
                                                    &sink, NULL, &error);
            assert_int_equal(memory.live_blocks, live);
            ulna_text_release(&text);
            if (!memory.failed) {
                assert_true(status == ULNA_OK && more > 10);
                break;
            }
            assert_true(status == ULNA_ERR_MEMORY && error.status == status && *error.message);
        }
    ulna_recording_release(&r);
    ulna_clip_release(&clip);
    ulna_model_destroy(model);
    ulna_test_memory_check(&memory);
}

/* ---- the file of a skeleton, written again ------------------------------------------------------------------------ */

/* A character as programs export them: an armature in centimetres that lies on its back, a matrix, a mirrored bone, a skin, a
 * material with a picture, a camera, and two animations. The numbers are triangles' and keys'. */
static char *character(void)
{
    static const float triangle[] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, weights[] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    static const unsigned char joints[12] = {0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0};
    static const float identity[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    static const float times[] = {0, 0.5F, 1}, rotations[] = {0, 0, 0, 1, 0, 0.6F, 0, 0.8F, 0, 1, 0, 0};
    static const float places[] = {0, 100, 0, 5, 100, 0, 10, 110, 0};
    static const unsigned char
        picture[68] = {137, 80,  78, 71, 13, 10,  26,  10, 0,   0,   0,   13,  73, 72, 68, 82, 0,  0,
                       0,   1,   0,  0,  0,  1,   8,   4,  0,   0,   0,   181, 28, 12, 2,  0,  0,  0,
                       11,  73,  68, 65, 84, 120, 218, 99, 100, 248, 15,  0,   1,  5,  1,  1,  39, 24,
                       227, 102, 0,  0,  0,  0,   73,  69, 78,  68,  174, 66,  96, 130}; /* PNG, one pixel */
    unsigned char bytes[36 + 12 + 48 + 192 + 12 + 48 + 36 + 24 + 68];
    const struct {
        const void *data;
        size_t length;
    } parts[] = {{triangle, 36}, {joints, 12},    {weights, 48}, {identity, 64}, {identity, 64}, {identity, 64},
                 {times, 12},    {rotations, 48}, {places, 36},  {triangle, 24}, {picture, 68}};
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; used += parts[i++].length)
        memcpy(bytes + used, parts[i].data, parts[i].length);
    assert_int_equal(used, sizeof bytes);
    char *data = base64(bytes, sizeof bytes), *text = malloc(strlen(data) + 8192);
    assert_non_null(text);
    sprintf(
        text,
        "{\"asset\":{\"version\":\"2.0\",\"generator\":\"Tailor\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,4,5]}],\"nodes\":["
        "{\"name\":\"Armature\",\"children\":[1],\"rotation\":[0.6,0,0,0.8],\"scale\":[0.01,0.01,0.01]},"
        "{\"name\":\"hips\",\"children\":[2],\"translation\":[0,100,0]},"
        "{\"name\":\"spine\",\"children\":[3],\"matrix\":[0,1,0,0,-1,0,0,0,0,0,1,0,0,20,0,1]},"
        "{\"name\":\"arm\",\"translation\":[15,5,0],\"scale\":[-1,1,1]},"
        "{\"name\":\"body\",\"mesh\":0,\"skin\":0},{\"name\":\"view\",\"camera\":0}],"
        "\"cameras\":[{\"type\":\"perspective\",\"perspective\":{\"yfov\":0.7,\"znear\":0.1}}],"
        "\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":1,\"WEIGHTS_0\":2,\"TEXCOORD_0\":7},\"material\":0}]}],"
        "\"skins\":[{\"joints\":[1,2,3],\"inverseBindMatrices\":3}],"
        "\"materials\":[{\"name\":\"cloth\",\"emissiveTexture\":{\"index\":0}}],\"textures\":[{\"source\":0}],"
        "\"images\":[{\"bufferView\":8,\"mimeType\":\"image/png\"}],"
        "\"animations\":[{\"name\":\"idle\",\"channels\":[{\"sampler\":0,\"target\":{\"node\":1,\"path\":\"rotation\"}},"
        "{\"sampler\":1,\"target\":{\"node\":1,\"path\":\"translation\"}},"
        "{\"sampler\":0,\"target\":{\"node\":3,\"path\":\"rotation\"}}],"
        "\"samplers\":[{\"input\":4,\"output\":5},{\"input\":4,\"output\":6}]},"
        "{\"name\":\"zoom\",\"channels\":[{\"sampler\":0,\"target\":{\"node\":5,\"path\":\"translation\"}}],"
        "\"samplers\":[{\"input\":4,\"output\":6}]}],\"accessors\":["
        "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[1,1,0]},"
        "{\"bufferView\":1,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"},"
        "{\"bufferView\":2,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
        "{\"bufferView\":3,\"componentType\":5126,\"count\":3,\"type\":\"MAT4\"},"
        "{\"bufferView\":4,\"componentType\":5126,\"count\":3,\"type\":\"SCALAR\",\"min\":[0],\"max\":[1]},"
        "{\"bufferView\":5,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
        "{\"bufferView\":6,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
        "{\"bufferView\":7,\"componentType\":5126,\"count\":3,\"type\":\"VEC2\"}],\"bufferViews\":["
        "{\"buffer\":0,\"byteLength\":36,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":36,\"byteLength\":12,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":48,\"byteLength\":48,\"target\":34962},{\"buffer\":0,\"byteOffset\":96,\"byteLength\":192},"
        "{\"buffer\":0,\"byteOffset\":288,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":300,\"byteLength\":48},"
        "{\"buffer\":0,\"byteOffset\":348,\"byteLength\":36},"
        "{\"buffer\":0,\"byteOffset\":384,\"byteLength\":24,\"target\":34962},"
        "{\"buffer\":0,\"byteOffset\":408,\"byteLength\":68}],"
        "\"buffers\":[{\"byteLength\":476,\"uri\":\"data:application/octet-stream;base64,%s\"}]}",
        data);
    free(data);
    return text;
}

static ulna_content read_whole(const char *data, size_t length)
{
    ulna_content content = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_default();
    ulna_error error = {0};
    options.extras = 1;
    if (ulna_content_read(data, length, ULNA_FORMAT_UNKNOWN, &options, &content, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_non_null(content.extras);
    return content;
}

static const char *animation_name(const json_t *root, size_t index)
{
    return json_string_value(json_object_get(json_array_get(json_object_get(root, "animations"), index), "name"));
}

static void assert_same_parts(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"scenes", "cameras", "meshes", "skins", "materials", "textures", "images"};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        if (!json_equal(json_object_get(a, keys[k]), json_object_get(b, keys[k])))
            fail_msg("the %s are not the same", keys[k]);
}

static void characters_keep_their_looks(void **state)
{
    (void)state;
    char *source = character();
    const ulna_text given = {.data = source, .length = strlen(source)};
    json_t *before = json_of(&given);
    for (int kind = 0; kind < 2; kind++) {
        const ulna_format format = kind ? ULNA_FORMAT_GLTF : ULNA_FORMAT_GLB;
        ulna_content first = read_whole(source, given.length);
        ulna_write_options options = ulna_write_options_for(&first, format);
        assert_ptr_equal(options.extras, first.extras);

        /* the motion that the file has is not added once more */
        ulna_text same = written(format, first.model, &first.clip, NULL, &options, NULL);
        json_t *after = json_of(&same), *original = json_deep_copy(before);
        if (!kind) /* the numbers are in the chunk behind */
            json_object_del(json_array_get(json_object_get(original, "buffers"), 0), "uri");
        assert_true(json_equal(original, after));
        json_decref(original);
        json_decref(after);
        ulna_text_release(&same);

        /* another motion, twice: it replaces that of the first time; from there as binary, or as text */
        ulna_remarks remarks = ulna_remarks_empty(NULL);
        ulna_clip clip = smooth_clip(first.model, 50);
        ulna_text once = written(format, first.model, &clip, NULL, &options, &remarks);
        assert_remark(&remarks, -1, "the motion is the first animation, 'motion'; 2 others of the skeleton's file");
        ulna_remarks_release(&remarks);
        for (int round = 0; round < 3; round++) {
            ulna_content again = read_whole(once.data, once.length);
            after = json_of(&once);
            assert_same_parts(before, after);
            assert_int_equal(json_array_size(json_object_get(after, "animations")), 3);
            assert_string_equal(animation_name(after, 0), "motion");
            assert_string_equal(animation_name(after, 2), "zoom");
            assert_null(json_object_get(json_array_get(json_object_get(after, "nodes"), 2), "matrix")); /* it moves */
            assert_int_equal(again.clip.frame_count, clip.frame_count);
            assert_true(again.clip.frame_seconds == clip.frame_seconds);
            double off = difference(first.model, &clip, again.model, &again.clip);
            if (!(off < 1e-6))
                fail_msg("%g off", off);
            ulna_text_release(&once);
            ulna_clip_release(&clip);
            clip = smooth_clip(first.model, 20 + round);
            options = ulna_write_options_for(&again, round ? ULNA_FORMAT_GLTF : ULNA_FORMAT_GLB);
            once = written(round ? ULNA_FORMAT_GLTF : ULNA_FORMAT_GLB, first.model, &clip, NULL, &options, NULL);
            json_decref(after);
            ulna_content_release(&again);
        }
        ulna_text_release(&once);
        ulna_clip_release(&clip);
        ulna_content_release(&first);
    }
    json_decref(before);
    free(source);
}

static void what_cannot_be_kept_is_listed(void **state)
{
    (void)state;
    char *source = character();
    ulna_content first = read_whole(source, strlen(source));
    ulna_write_options options = ulna_write_options_for(&first, ULNA_FORMAT_GLB);
    ulna_model *other;
    ulna_remarks remarks = ulna_remarks_empty(NULL);
    assert_int_equal(ulna_sample_create("hand", NULL, &other, NULL), ULNA_OK);
    ulna_text text = written(ULNA_FORMAT_GLB, other, NULL, NULL, &options, &remarks);
    assert_remark(&remarks, -1, "its 1 meshes, 1 skins, 1 materials, 1 pictures and 2 animations are left out");
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_model_destroy(other);

    ulna_test_rng rng = ulna_test_rng_seed(8);
    ulna_recording r = random_recording(&rng, 2, 2);
    remarks = ulna_remarks_empty(NULL);
    text = written(ULNA_FORMAT_GLB, first.model, &first.clip, &r, &options, &remarks);
    assert_remark(&remarks, -1, "2 markers are left out");
    ulna_text_release(&text);
    ulna_remarks_release(&remarks);
    ulna_recording_release(&r);
    ulna_content_release(&first);
    free(source);

    /* C3D and glTF do not take each other's */
    ulna_model *model;
    assert_int_equal(ulna_sample_create("hand", NULL, &model, NULL), ULNA_OK);
    text = written(ULNA_FORMAT_GLB, model, NULL, NULL, NULL, NULL);
    ulna_content own = content_of(text.data, text.length, ULNA_FORMAT_GLB, NULL);
    assert_null(own.extras);
    ulna_content_release(&own);
    ulna_text_release(&text);
    ulna_model_destroy(model);
}

static void memory_for_a_character_may_fail(void **state)
{
    (void)state;
    char *source = character();
    const size_t length = strlen(source);
    for (long fail_at = 0;; fail_at++) {
        ulna_test_memory memory = {.fail_at = -1};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_content content = ulna_content_empty(&allocator);
        ulna_read_options options = ulna_read_options_default();
        ulna_error error = {0};
        ulna_text text = ulna_text_empty(NULL);
        ulna_sink sink = ulna_text_sink(&text);
        options.extras = 1;
        memory.fail_at = fail_at;
        ulna_status status = ulna_content_read(source, length, ULNA_FORMAT_GLTF, &options, &content, &error);
        if (status == ULNA_OK) {
            content.clip.frame_seconds = 0.01;
            ulna_write_options writing = ulna_write_options_for(&content, ULNA_FORMAT_GLB);
            status =
                ulna_content_write(ULNA_FORMAT_GLB, content.model, &content.clip, NULL, &writing, &sink, NULL, &error);
        }
        assert_true(status == (memory.failed ? ULNA_ERR_MEMORY : ULNA_OK));
        ulna_text_release(&text);
        ulna_content_release(&content);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_true(fail_at > 30);
            break;
        }
    }
    free(source);
}

/* ---- files for the validator ------------------------------------------------------------------------------------ */

static void save_with(const char *folder, const char *name, const ulna_model *model, const ulna_clip *clip,
                      const ulna_recording *recording, const ulna_write_options *options)
{
    static const char *const endings[] = {"glb", "gltf"};
    for (int kind = 0; kind < 2; kind++) {
        char path[512];
        ulna_text text = written(kind ? ULNA_FORMAT_GLTF : ULNA_FORMAT_GLB, model, clip, recording, options, NULL);
        snprintf(path, sizeof path, "%s/%s.%s", folder, name, endings[kind]);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(text.data, 1, text.length, file), text.length);
        assert_int_equal(fclose(file), 0);
        ulna_text_release(&text);
    }
}

static void save(const char *folder, const char *name, const ulna_model *model, const ulna_clip *clip,
                 const ulna_recording *recording)
{
    save_with(folder, name, model, clip, recording, NULL);
}

/* As it is, with another motion, and from the binary file of that. */
static void save_character(const char *folder)
{
    char *source = character();
    ulna_content first = read_whole(source, strlen(source));
    ulna_clip clip = smooth_clip(first.model, 50);
    ulna_write_options options = ulna_write_options_for(&first, ULNA_FORMAT_GLB);
    save_with(folder, "character", first.model, NULL, NULL, &options);
    save_with(folder, "character-moving", first.model, &clip, NULL, &options);
    ulna_text binary = written(ULNA_FORMAT_GLB, first.model, &clip, NULL, &options, NULL);
    ulna_content again = read_whole(binary.data, binary.length);
    options = ulna_write_options_for(&again, ULNA_FORMAT_GLB);
    save_with(folder, "character-again", again.model, &first.clip, NULL, &options);
    ulna_content_release(&again);
    ulna_text_release(&binary);
    ulna_clip_release(&clip);
    ulna_content_release(&first);
    free(source);
}

static void write_files(void **state)
{
    const char *folder = *state;
    save_character(folder);
    ulna_test_rng rng = ulna_test_rng_seed(21);
    for (int i = 0; ulna_sample_name(i); i++) {
        char name[64];
        ulna_model *model;
        assert_int_equal(ulna_sample_create(ulna_sample_name(i), NULL, &model, NULL), ULNA_OK);
        ulna_clip clip = smooth_clip(model, 240);
        ulna_recording r = random_recording(&rng, 5, 100);
        save(folder, ulna_sample_name(i), model, NULL, NULL);
        snprintf(name, sizeof name, "%s-moving", ulna_sample_name(i));
        save(folder, name, model, &clip, NULL);
        snprintf(name, sizeof name, "%s-recorded", ulna_sample_name(i));
        save(folder, name, model, &clip, &r);
        save(folder, "markers", NULL, NULL, &r);
        ulna_recording_release(&r);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
    for (int i = 0; i < 10; i++) {
        char name[64];
        ulna_model *model = ulna_test_random_tree(&rng, NULL);
        ulna_clip clip = random_clip(&rng, model, i);
        snprintf(name, sizeof name, "random%d", i);
        save(folder, name, model, &clip, NULL);
        ulna_clip_release(&clip);
        ulna_model_destroy(model);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_skeletons),
        cmocka_unit_test(frames_are_the_same_alone),
        cmocka_unit_test(samples),
        cmocka_unit_test(people_to_a_micrometre),
        cmocka_unit_test(recordings),
        cmocka_unit_test(signs_go_on),
        cmocka_unit_test(what_is_lost_is_told),
        cmocka_unit_test(refused_writing),
        cmocka_unit_test(sinks_may_fail),
        cmocka_unit_test(memory_may_fail),
        cmocka_unit_test(characters_keep_their_looks),
        cmocka_unit_test(what_cannot_be_kept_is_listed),
        cmocka_unit_test(memory_for_a_character_may_fail),
    };
    if (argc == 3 && strcmp(argv[1], "--write") == 0) {
        const struct CMUnitTest files[] = {cmocka_unit_test_prestate(write_files, argv[2])};
        return cmocka_run_group_tests(files, NULL, NULL);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
