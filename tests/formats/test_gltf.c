/* glTF: what the format says, what programs make of it, and files that are broken on purpose. */
#include "support_base64.h"
#include "support_content.h"
#include "support_tree.h"
#include "ulna/kinematics.h"

#define PI 3.14159265358979323846

/* ---- files made here -------------------------------------------------------------------------------------------- */

/* Nodes, and animations over one buffer of floats. Every string is a part of the JSON, quotes as '. */
typedef struct maker {
    const char *nodes, *more; /* more: `'skins':[...],` and the like */
    const char *accessors;
    const float *numbers;
    size_t count;
} maker;

static char *make(const maker *m)
{
    char *numbers = base64(m->numbers, m->count * sizeof *m->numbers);
    size_t room = strlen(numbers) + strlen(m->nodes) + strlen(m->more) + strlen(m->accessors) + 500;
    char *text = malloc(room);
    assert_non_null(text);
    snprintf(text, room,
             "{'asset':{'version':'2.0'},'nodes':[%s],%s'accessors':[%s],"
             "'bufferViews':[{'buffer':0,'byteLength':%zu}],"
             "'buffers':[{'byteLength':%zu,'uri':'data:application/octet-stream;base64,%s'}]}",
             m->nodes, m->more, m->accessors, 4 * m->count, 4 * m->count, numbers);
    for (char *c = text; *c; c++)
        *c = (char)(*c == '\'' ? '"' : *c);
    free(numbers);
    return text;
}

static ulna_content read_made(const maker *m)
{
    char *text = make(m);
    ulna_content content = content_of_text(text, ULNA_FORMAT_UNKNOWN, NULL);
    assert_int_equal(content.format, ULNA_FORMAT_GLTF);
    free(text);
    return content;
}

/* Only nodes and what else is said. */
static ulna_content read_nodes(const char *nodes, const char *more)
{
    static const float zero[1] = {0};
    return read_made(&(maker){nodes, more, "", zero, 1});
}

static void place(const ulna_content *c, int frame, const char *name, double position[3], double rotation[9])
{
    ulna_pose *pose;
    int body = ulna_model_find_body(c->model, name);
    if (body < 0)
        fail_msg("there is no body '%s'", name);
    assert_int_equal(ulna_pose_create(c->model, NULL, &pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(pose, frame < 0 ? ulna_model_rest(c->model) : ulna_clip_frame(&c->clip, frame)),
                     ULNA_OK);
    assert_int_equal(ulna_pose_body(pose, body, position, rotation), ULNA_OK);
    ulna_pose_destroy(pose);
}

static void assert_place(const ulna_content *c, int frame, const char *name, double x, double y, double z)
{
    double p[3], wanted[3] = {x, y, z};
    place(c, frame, name, p, NULL);
    for (int i = 0; i < 3; i++)
        if (!(fabs(p[i] - wanted[i]) <= 2e-7))
            fail_msg("%s in frame %d is at %.9g %.9g %.9g, not %.9g %.9g %.9g", name, frame, p[0], p[1], p[2], x, y, z);
}

static ulna_joint_type joint_of(const ulna_content *c, const char *name)
{
    return ulna_model_body_joint(c->model, ulna_model_find_body(c->model, name))->type;
}

/* ---- skeletons -------------------------------------------------------------------------------------------------- */

static void transforms_of_nodes(void **state)
{
    (void)state;
    /* b is turned by 90 degrees about z, c is the same as a matrix, with a scale of 2 */
    ulna_content c = read_nodes("{'name':'c','matrix':[0,2,0,0, -2,0,0,0, 0,0,2,0, 0,1,0,1],'children':[3]},"
                                "{'name':'a','translation':[1,2,3],'children':[2]},"
                                "{'name':'b','rotation':[0,0,0.70710678118654752,0.70710678118654752],"
                                "'translation':[1,0,0],'children':[0]},{'name':'d','translation':[1,0,0]}",
                                "");
    assert_int_equal(ulna_model_body_count(c.model), 4);
    assert_int_equal(c.remarks.count, 0);
    assert_true(c.source.unit_m == 1 && c.source.up == 'y' && !c.source.degrees);
    assert_place(&c, -1, "a", 1, 2, 3);
    assert_place(&c, -1, "b", 2, 2, 3);
    assert_place(&c, -1, "c", 1, 2, 3);
    assert_place(&c, -1, "d", -1, 2, 3); /* two turns, twice the length */
    assert_int_equal(joint_of(&c, "a"), ULNA_JOINT_FREE);
    assert_int_equal(joint_of(&c, "d"), ULNA_JOINT_BALL);
    assert_int_equal(c.clip.frame_count, 0);
    ulna_content_release(&c);
}

static void unit_of_length(void **state)
{
    (void)state;
    static const char text[] = "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"a\",\"translation\":[100,0,0],"
                               "\"children\":[1]},{\"name\":\"b\",\"translation\":[0,50,0]}]}";
    ulna_content c = ulna_content_empty(NULL);
    ulna_read_options options = ulna_read_options_default();
    options.unit_m = 0.01;
    assert_int_equal(ulna_content_read(text, strlen(text), ULNA_FORMAT_UNKNOWN, &options, &c, NULL), ULNA_OK);
    assert_place(&c, -1, "b", 1, 0.5, 0);
    assert_true(c.source.unit_m == 0.01);
    ulna_content_release(&c);
}

static void names(void **state)
{
    (void)state;
    ulna_content c = read_nodes("{'name':'a','children':[1,2,3]},{'name':'a'},{},{'name':'a'}", "");
    assert_true(ulna_model_find_body(c.model, "a") == 0 && ulna_model_find_body(c.model, "a_2") >= 0 &&
                ulna_model_find_body(c.model, "a_3") >= 0 && ulna_model_find_body(c.model, "node2") >= 0);
    assert_remark(&c.remarks, -1, "node 1: the name 'a' is used twice");
    assert_remark(&c.remarks, -1, "node 2 has no name");
    ulna_content_release(&c);
}

/* The joints of a skin, what is between them, and nothing else. */
static void skins(void **state)
{
    (void)state;
    static const char nodes[] = "{'name':'world','translation':[0,0,1],'scale':[2,2,2],'children':[1,6]},"
                                "{'name':'armature','children':[2]},"
                                "{'name':'hips','translation':[0,1,0],'children':[3]},"
                                "{'name':'between','translation':[0,1,0],'children':[4,5]},"
                                "{'name':'left','translation':[1,0,0]},{'name':'right','translation':[-1,0,0],"
                                "'children':[7]},{'name':'skinned','mesh':0,'skin':0},{'name':'hat','mesh':0}";
    ulna_content c = read_nodes(nodes, "'skins':[{'name':'body','joints':[5,4,2]}],");
    assert_int_equal(ulna_model_body_count(c.model), 4);
    assert_string_equal(ulna_model_body_name(c.model, 0), "hips");
    assert_string_equal(ulna_model_name(c.model), "body");
    assert_place(&c, -1, "hips", 0, 2, 1);
    assert_place(&c, -1, "left", 2, 4, 1);
    assert_int_equal(c.remarks.count, 0);
    ulna_content_release(&c);

    /* siblings only: their parent is the root */
    c = read_nodes(nodes, "'skins':[{'joints':[5]},{'joints':[4]}],");
    assert_int_equal(ulna_model_body_count(c.model), 3);
    assert_string_equal(ulna_model_body_name(c.model, 0), "between");
    assert_remark(&c.remarks, -1, "2 skins");
    ulna_content_release(&c);

    /* what moves above them is part of the motion */
    static const float numbers[] = {0, 1, 0, 1, 0, 0, 1, 5};
    c = read_made(&(maker){nodes,
                           "'skins':[{'joints':[5,4,2]}],'animations':[{'channels':[{'sampler':0,'target':{'node':1,"
                           "'path':'translation'}}],'samplers':[{'input':0,'output':1}]}],",
                           "{'bufferView':0,'componentType':5126,'count':2,'type':'SCALAR'},"
                           "{'bufferView':0,'byteOffset':8,'componentType':5126,'count':2,'type':'VEC3'}",
                           numbers, 8});
    assert_int_equal(ulna_model_body_count(c.model), 5);
    assert_string_equal(ulna_model_body_name(c.model, 0), "armature");
    assert_int_equal(c.clip.frame_count, 2);
    assert_place(&c, 0, "hips", 0, 4, 1);
    assert_place(&c, 1, "hips", 0, 4, 11);
    ulna_content_release(&c);

    /* two of them */
    c = read_nodes("{'name':'a'},{'name':'b','translation':[1,0,0]}", "'skins':[{'joints':[0,1]}],");
    assert_string_equal(ulna_model_body_name(c.model, 0), "world");
    assert_int_equal(ulna_model_body_count(c.model), 3);
    assert_remark(&c.remarks, -1, "2 skeletons");
    assert_int_equal(joint_of(&c, "b"), ULNA_JOINT_FREE);
    ulna_content_release(&c);
}

static void without_a_skin(void **state)
{
    (void)state;
    ulna_content c = read_nodes("{'name':'a','children':[1,2,3]},{'name':'tip'},{'name':'mesh','mesh':0},"
                                "{'name':'eye','camera':0}",
                                "");
    assert_int_equal(ulna_model_body_count(c.model), 2);
    assert_true(ulna_model_find_body(c.model, "tip") >= 0);
    ulna_content_release(&c);
}

/* ---- scales: random trees against plain matrices ---------------------------------------------------------------- */

enum { MOST = 12, FRAMES = 3 };

typedef struct plain_node {
    int parent;
    double t[3], q[4], s[3];
} plain_node;

static void multiply(const double a[16], const double b[16], double c[16])
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            c[4 * i + j] = 0;
            for (int k = 0; k < 4; k++)
                c[4 * i + j] += a[4 * i + k] * b[4 * k + j];
        }
}

static void world_of(const plain_node *nodes, int n, double m[16])
{
    const double *q = nodes[n].q, *s = nodes[n].s, *t = nodes[n].t, x = q[0], y = q[1], z = q[2], w = q[3];
    const double own[16] = {s[0] * (1 - 2 * y * y - 2 * z * z),
                            s[1] * 2 * (x * y - z * w),
                            s[2] * 2 * (x * z + y * w),
                            t[0],
                            s[0] * 2 * (x * y + z * w),
                            s[1] * (1 - 2 * x * x - 2 * z * z),
                            s[2] * 2 * (y * z - x * w),
                            t[1],
                            s[0] * 2 * (x * z - y * w),
                            s[1] * 2 * (y * z + x * w),
                            s[2] * (1 - 2 * x * x - 2 * y * y),
                            t[2],
                            0,
                            0,
                            0,
                            1};
    double above[16];
    memcpy(m, own, sizeof own);
    if (nodes[n].parent < 0)
        return;
    world_of(nodes, nodes[n].parent, above);
    multiply(above, own, m);
}

static void random_turn(ulna_test_rng *rng, double q[4])
{
    double norm = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = (double)(float)ulna_test_rng_normal(rng);
        norm += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++)
        q[i] /= sqrt(norm);
}

static size_t put_node(char *text, size_t room, const plain_node *nodes, int count, int n, int as_matrix)
{
    const plain_node *node = &nodes[n];
    size_t used = (size_t)snprintf(text, room, "%s{'name':'n%d',", n ? "," : "", n);
    if (as_matrix) {
        plain_node alone = *node;
        double m[16];
        alone.parent = -1;
        world_of(&alone, 0, m);
        used += (size_t)snprintf(text + used, room - used, "'matrix':[");
        for (int i = 0; i < 16; i++)
            used += (size_t)snprintf(text + used, room - used, "%s%.17g", i ? "," : "", m[4 * (i % 4) + i / 4]);
        used += (size_t)snprintf(text + used, room - used, "]");
    } else
        used += (size_t)snprintf(text + used, room - used,
                                 "'translation':[%.17g,%.17g,%.17g],'rotation':[%.17g,%.17g,%.17g,%.17g],"
                                 "'scale':[%.17g,%.17g,%.17g]",
                                 node->t[0], node->t[1], node->t[2], node->q[0], node->q[1], node->q[2], node->q[3],
                                 node->s[0], node->s[1], node->s[2]);
    int children = 0;
    for (int i = 0; i < count; i++)
        if (nodes[i].parent == n)
            used += (size_t)snprintf(text + used, room - used, "%s%d", children++ ? "," : ",'children':[", i);
    return used + (size_t)snprintf(text + used, room - used, "%s}", children ? "]" : "");
}

/* Every node turns and moves in three frames: rotations and translations, one after the other, after the times. */
static size_t put_animation(char *text, size_t room, char *accessors, size_t accessor_room, int count)
{
    size_t used = (size_t)snprintf(text, room, "'animations':[{'channels':[");
    for (int i = 0; i < 2 * count; i++)
        used += (size_t)snprintf(text + used, room - used, "%s{'sampler':%d,'target':{'node':%d,'path':'%s'}}",
                                 i ? "," : "", i, i / 2, i % 2 ? "translation" : "rotation");
    used += (size_t)snprintf(text + used, room - used, "],'samplers':[");
    for (int i = 0; i < 2 * count; i++)
        used += (size_t)snprintf(text + used, room - used, "%s{'input':0,'output':%d}", i ? "," : "", i + 1);
    used += (size_t)snprintf(text + used, room - used, "]}],");
    size_t at = (size_t)snprintf(accessors, accessor_room,
                                 "{'bufferView':0,'componentType':5126,'count':%d,'type':'SCALAR'}", FRAMES);
    for (int i = 0; i < 2 * count; i++)
        at += (size_t)snprintf(accessors + at, accessor_room - at,
                               ",{'bufferView':0,'byteOffset':%d,'componentType':5126,'count':%d,'type':'%s'}",
                               4 * (FRAMES + i / 2 * 7 * FRAMES + i % 2 * 4 * FRAMES), FRAMES, i % 2 ? "VEC3" : "VEC4");
    return used;
}

static void mirrored_and_scaled_trees(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(11);
    for (int round = 0; round < 300; round++) {
        plain_node nodes[MOST], moved[MOST];
        static char text[MOST * 600], more[MOST * 400], accessors[MOST * 400];
        float numbers[FRAMES + MOST * 7 * FRAMES] = {0, 0.25F, 0.5F};
        int count = 1 + ulna_test_rng_index(&rng, MOST);
        for (int n = 0; n < count; n++) {
            double size = ulna_test_rng_index(&rng, 3) ? ulna_test_rng_uniform(&rng, 0.3, 3) : 1;
            nodes[n].parent = n ? ulna_test_rng_index(&rng, n) : -1;
            ulna_test_rng_fill(&rng, nodes[n].t, 3, -1, 1);
            random_turn(&rng, nodes[n].q);
            for (int i = 0; i < 3; i++)
                nodes[n].s[i] = ulna_test_rng_index(&rng, 2) ? size : -size;
        }
        size_t used = 0;
        for (int n = 0; n < count; n++) /* an animated node may not have a matrix, but we do not mind */
            used += put_node(text + used, sizeof text - used, nodes, count, n, ulna_test_rng_index(&rng, 4) == 0);
        put_animation(more, sizeof more, accessors, sizeof accessors, count);
        for (int n = 0; n < count; n++)
            for (int f = 0; f < FRAMES; f++) {
                float *to = numbers + FRAMES + 7 * FRAMES * n;
                double q[4];
                random_turn(&rng, q);
                for (int i = 0; i < 4; i++)
                    to[4 * f + i] = (float)q[i];
                for (int i = 0; i < 3; i++)
                    to[4 * FRAMES + 3 * f + i] = (float)ulna_test_rng_uniform(&rng, -1, 1);
            }
        ulna_content c = read_made(&(maker){text, more, accessors, numbers, FRAMES + (size_t)count * 7 * FRAMES});
        assert_int_equal(ulna_model_body_count(c.model), count);
        assert_int_equal(c.clip.frame_count, FRAMES);
        assert_true(c.clip.frame_seconds == 0.25);
        for (int f = -1; f < FRAMES; f++) {
            double largest = 0;
            memcpy(moved, nodes, sizeof nodes);
            for (int n = 0; n < count && f >= 0; n++) {
                double norm = 0;
                const float *from = numbers + FRAMES + 7 * FRAMES * n;
                for (int i = 0; i < 4; i++)
                    norm += (double)from[4 * f + i] * (double)from[4 * f + i];
                for (int i = 0; i < 4; i++)
                    moved[n].q[i] = (double)from[4 * f + i] / sqrt(norm);
                for (int i = 0; i < 3; i++)
                    moved[n].t[i] = (double)from[4 * FRAMES + 3 * f + i];
            }
            /* a matrix is taken apart with one sign for all axes, so what moves keeps another scale: compare at rest,
             * and in motion where the first node's scales were given */
            int has_matrix = strstr(text, "matrix") != NULL;
            for (int n = 0; n < count && (f < 0 || !has_matrix); n++) {
                char name[16];
                double m[16], p[3];
                snprintf(name, sizeof name, "n%d", n);
                world_of(moved, n, m);
                place(&c, f, name, p, NULL);
                largest = fmax(largest, ulna_test_largest(m, 16));
                for (int i = 0; i < 3; i++)
                    if (!(fabs(p[i] - m[4 * i + 3]) < 1e-13 * (1 + largest)))
                        fail_msg("round %d, node %d in frame %d: %.17g, not %.17g", round, n, f, p[i], m[4 * i + 3]);
            }
        }
        ulna_content_release(&c);
    }
}

static void uneven_scales(void **state)
{
    (void)state;
    ulna_content c =
        read_nodes("{'name':'a','scale':[1,2,3],'children':[1]},{'name':'b','translation':[1,1,1],'children':[2]},"
                   "{'name':'c','translation':[0,0,1]}",
                   "");
    assert_place(&c, -1, "b", 1, 2, 3);
    assert_remark(&c.remarks, -1, "scales that differ by axis");
    ulna_content_release(&c);
    c = read_nodes("{'name':'a','matrix':[1,0,0,0, 0.01,1,0,0, 0,0,1,0, 0,0,0,1],'children':[1]},{'name':'b'}", "");
    assert_remark(&c.remarks, -1, "shears");
    ulna_content_release(&c);
}

/* ---- animations ------------------------------------------------------------------------------------------------- */

static const char two_nodes[] = "{'name':'a','children':[1]},{'name':'b','translation':[1,0,0],'children':[2]},"
                                "{'name':'tip','translation':[1,0,0]}";

/* One track of node b. */
static ulna_content one_track(const char *path, const char *interpolation, int keys, int values, const char *type,
                              const float *numbers)
{
    char more[512], accessors[512];
    int width = strcmp(type, "VEC4") == 0 ? 4 : 3;
    snprintf(more, sizeof more,
             "'animations':[{'channels':[{'sampler':0,'target':{'node':1,'path':'%s'}}],'samplers':[{'input':0,"
             "'interpolation':'%s','output':1}]}],",
             path, interpolation);
    snprintf(accessors, sizeof accessors,
             "{'bufferView':0,'componentType':5126,'count':%d,'type':'SCALAR'},"
             "{'bufferView':0,'byteOffset':%d,'componentType':5126,'count':%d,'type':'%s'}",
             keys, 4 * keys, values, type);
    return read_made(&(maker){two_nodes, more, accessors, numbers, (size_t)(keys + width * values)});
}

static void interpolations(void **state)
{
    (void)state;
    /* 0, 90 and 180 degrees about z, the second with the other sign, at uneven times */
    const float half = 0.70710678F;
    static const float zero = 0;
    const float turns[] = {0, 0.5F, 0.75F, 0, 0, 0, 1, 0, 0, -half, -half, 0, 0, 1, zero};
    ulna_content c = one_track("rotation", "LINEAR", 3, 3, "VEC4", turns);
    assert_int_equal(c.clip.frame_count, 4);
    assert_true(c.clip.frame_seconds == 0.25);
    assert_remark(&c.remarks, -1, "uneven: it is sampled 4 times");
    assert_int_equal(joint_of(&c, "b"), ULNA_JOINT_BALL);
    assert_place(&c, 0, "tip", 2, 0, 0);
    assert_place(&c, 1, "tip", 1 + sqrt(0.5), sqrt(0.5), 0);
    assert_place(&c, 2, "tip", 1, 1, 0);
    assert_place(&c, 3, "tip", 0, 0, 0);
    int first;
    ulna_model_body_coordinates(c.model, ulna_model_find_body(c.model, "b"), &first);
    for (int f = 1; f < 4; f++) { /* signs go on */
        const double *a = ulna_clip_frame(&c.clip, f - 1) + first, *b = ulna_clip_frame(&c.clip, f) + first;
        assert_true(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] > 0);
    }
    ulna_content_release(&c);

    c = one_track("rotation", "STEP", 3, 3, "VEC4", turns);
    assert_place(&c, 1, "tip", 2, 0, 0);
    assert_place(&c, 2, "tip", 1, 1, 0);
    ulna_content_release(&c);

    const float ways[] = {0, 2, 3, 1, 0, 0, 1, 2, 0, 1, 2, 1};
    c = one_track("translation", "LINEAR", 3, 3, "VEC3", ways);
    assert_int_equal(joint_of(&c, "b"), ULNA_JOINT_FREE);
    assert_int_equal(c.clip.frame_count, 4);
    assert_place(&c, 1, "b", 1, 1, 0);
    assert_place(&c, 3, "tip", 2, 2, 1);
    ulna_content_release(&c);

    /* Hermite: from 0 to 1 with slopes 1 and 0, at 1/3 and 1/2 of the way; a third key sets the frames */
    const float cubic[] = {0,
                           6,
                           7,
                           /* in, value, out */ 0,
                           0,
                           0,
                           0,
                           0,
                           0,
                           1,
                           0,
                           0,
                           /* second */ 0,
                           0,
                           0,
                           1,
                           0,
                           0,
                           0,
                           0,
                           0,
                           /* third */ 0,
                           0,
                           0,
                           1,
                           0,
                           0,
                           0,
                           0,
                           0};
    c = one_track("translation", "CUBICSPLINE", 3, 9, "VEC3", cubic);
    assert_int_equal(c.clip.frame_count, 8);
    for (int f = 0; f < 8; f++) {
        double s = f / 6.0, wanted = f > 6 ? 1 : 6 * (s * s * s - 2 * s * s + s) + 3 * s * s - 2 * s * s * s;
        assert_place(&c, f, "b", wanted, 0, 0);
    }
    ulna_content_release(&c);
}

static void even_keys_are_frames(void **state)
{
    (void)state;
    enum { KEYS = 400 };
    float numbers[KEYS * 4];
    for (int k = 0; k < KEYS; k++) {
        numbers[k] = 100 + (float)k / 23.976F; /* in single precision they are not quite even */
        numbers[KEYS + 3 * k] = (float)k;
        numbers[KEYS + 3 * k + 1] = numbers[KEYS + 3 * k + 2] = 0;
    }
    ulna_content c = one_track("translation", "LINEAR", KEYS, KEYS, "VEC3", numbers);
    assert_int_equal(c.clip.frame_count, KEYS);
    assert_int_equal(c.remarks.count, 0);
    assert_true(fabs(c.clip.frame_seconds * 23.976 - 1) < 1e-5);
    for (int k = 0; k < KEYS; k++)
        assert_place(&c, k, "b", k, 0, 0);
    ulna_content_release(&c);

    /* what does not move is no slide, and one frame is one */
    const float still[] = {3, 1, 0, 0};
    c = one_track("translation", "LINEAR", 1, 1, "VEC3", still);
    assert_int_equal(joint_of(&c, "b"), ULNA_JOINT_BALL);
    assert_int_equal(c.clip.frame_count, 1);
    assert_true(c.clip.frame_seconds == 0);
    ulna_content_release(&c);

    /* scales do not move */
    const float scales[] = {0, 1, 1, 1, 1, 2, 2, 2};
    c = one_track("scale", "LINEAR", 2, 2, "VEC3", scales);
    assert_int_equal(c.clip.frame_count, 0);
    assert_remark(&c.remarks, -1, "1 nodes change their scale");
    ulna_content_release(&c);
}

/* Tracks with keys of their own: frames meet all of them. */
static void keys_of_several_tracks(void **state)
{
    (void)state;
    const float numbers[] = {0,
                             0.5F,
                             1.25F,
                             0,
                             1,
                             /* translations */ 1,
                             0,
                             0,
                             2,
                             0,
                             0,
                             5,
                             0,
                             0,
                             /* rotations */ 0,
                             0,
                             0,
                             1,
                             0,
                             0,
                             1,
                             0};
    ulna_content c = read_made(
        &(maker){two_nodes,
                 "'animations':[{'name':'walk','channels':[{'sampler':0,'target':{'node':1,'path':'translation'}},"
                 "{'sampler':1,'target':{'node':0,'path':'rotation'}},{'sampler':1,'target':{'path':'rotation'}},"
                 "{'sampler':1,'target':{'node':0,'path':'weights'}}],"
                 "'samplers':[{'input':0,'output':2},{'input':1,'output':3,'interpolation':'STEP'}]},{}],",
                 "{'bufferView':0,'componentType':5126,'count':3,'type':'SCALAR'},"
                 "{'bufferView':0,'byteOffset':12,'componentType':5126,'count':2,'type':'SCALAR'},"
                 "{'bufferView':0,'byteOffset':20,'componentType':5126,'count':3,'type':'VEC3'},"
                 "{'bufferView':0,'byteOffset':56,'componentType':5126,'count':2,'type':'VEC4'}",
                 numbers, sizeof numbers / sizeof *numbers});
    assert_int_equal(c.clip.frame_count, 6);
    assert_true(c.clip.frame_seconds == 0.25);
    assert_remark(&c.remarks, -1, "2 animations: the first, 'walk'");
    assert_place(&c, 1, "b", 1.5, 0, 0);
    assert_place(&c, 2, "b", 2, 0, 0);
    assert_place(&c, 3, "b", 3, 0, 0);
    assert_place(&c, 4, "b", -4, 0, 0);
    assert_place(&c, 5, "b", -5, 0, 0);
    ulna_content_release(&c);
}

static void integers_and_strides(void **state)
{
    (void)state;
    /* times as floats, then rows of 12 bytes: a short quaternion, and four bytes of one */
    unsigned char bytes[32] = {0, 0, 0, 0, 0, 0, 0x80, 0x3F};
    const int shorts[2][4] = {{0, 0, 0, 32767}, {0, 0, 23170, 23170}}, small[2][4] = {{0, 0, 0, 127}, {0, 0, -128, 0}};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 4; i++) {
            bytes[8 + 12 * k + 2 * i] = (unsigned char)(shorts[k][i] & 255);
            bytes[8 + 12 * k + 2 * i + 1] = (unsigned char)(shorts[k][i] >> 8 & 255);
            bytes[8 + 12 * k + 8 + i] = (unsigned char)(small[k][i] & 255);
        }
    static const char form[] =
        "{\"asset\":{\"version\":\"2.1\"},\"nodes\":[{\"name\":\"a\",\"children\":[1]},"
        "{\"name\":\"b\",\"translation\":[1,0,0],\"children\":[2]},{\"name\":\"tip\",\"translation\":[1,0,0]}],\"animations\":[{\"channels\":[{\"sampler\":0,"
        "\"target\":{\"node\":1,\"path\":\"rotation\"}}],\"samplers\":[{\"input\":0,\"output\":%d}]}],\"accessors\":["
        "{\"bufferView\":0,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
        "{\"bufferView\":1,\"componentType\":5122,\"normalized\":true,\"count\":2,\"type\":\"VEC4\"},"
        "{\"bufferView\":1,\"byteOffset\":8,\"componentType\":5120,\"normalized\":true,\"count\":2,\"type\":\"VEC4\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteLength\":8},{\"buffer\":0,\"byteOffset\":8,\"byteLength\":24,"
        "\"byteStride\":12}],\"buffers\":[{\"byteLength\":32,\"uri\":\"data:;base64,%s\"}]}";
    char text[2048], *numbers = base64(bytes, sizeof bytes);
    snprintf(text, sizeof text, form, 1, numbers);
    ulna_content c = content_of_text(text, ULNA_FORMAT_UNKNOWN, NULL);
    assert_place(&c, 0, "tip", 2, 0, 0);
    assert_place(&c, 1, "tip", 1, 1, 0);
    ulna_content_release(&c);
    snprintf(text, sizeof text, form, 2, numbers);
    c = content_of_text(text, ULNA_FORMAT_UNKNOWN, NULL);
    assert_place(&c, 1, "tip", 0, 0, 0);
    ulna_content_release(&c);
    free(numbers);
}

/* ---- which format? ---------------------------------------------------------------------------------------------- */

static void sniffing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ulna_format format;
    } cases[] = {
        {"{\"asset\":{\"version\":\"2.0\"}}", ULNA_FORMAT_GLTF},
        {"\xEF\xBB\xBF {\n \"extras\":{\"format\":1,\"bodies\":[]},\"scenes\" : []", ULNA_FORMAT_GLTF},
        {"{\"accessors\":[{\"bufferView\":0,", ULNA_FORMAT_GLTF},
        {"{\"format\":\"ulna-model\",\"asset\":1}", ULNA_FORMAT_MODEL_JSON},
        {"{\"name\":\"asset\",\"x-a\":{\"asset\":1},\"bodies\":[]}", ULNA_FORMAT_MODEL_JSON},
        {"{\"name\":\"a\\\"asset\\\":\"", ULNA_FORMAT_MODEL_JSON},
        {"{\"", ULNA_FORMAT_MODEL_JSON},
        {"{\"a\\", ULNA_FORMAT_MODEL_JSON},
        {"glTF", ULNA_FORMAT_GLB},
        {"glT", ULNA_FORMAT_UNKNOWN},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (ulna_format_sniff(cases[i].text, strlen(cases[i].text)) != cases[i].format)
            fail_msg("%s is taken for %s", cases[i].text,
                     ulna_format_name(ulna_format_sniff(cases[i].text, strlen(cases[i].text))));
    assert_int_equal(ulna_format_of_name("a/b.GLB"), ULNA_FORMAT_GLB);
    assert_int_equal(ulna_format_of_name("b.gltf"), ULNA_FORMAT_GLTF);
}

static void hand_of_webxr(void **state)
{
    (void)state;
    ulna_content c = content_of_data("hand/webxr_generic_hand_right.glb");
    assert_int_equal(c.format, ULNA_FORMAT_GLB);
    assert_int_equal(c.remarks.count, 0);
    assert_int_equal(ulna_model_body_count(c.model), 26); /* 25 joints, and the node that holds them */
    assert_string_equal(ulna_model_body_name(c.model, 0), "Armature");
    assert_string_equal(c.source.text, "Khronos glTF Blender I/O v3.3.32");
    assert_place(&c, -1, "wrist", 0.03912608325481415, 0.0557754710316658, 0.009157166816294193);
    assert_place(&c, -1, "pinky-finger-tip", 0.01736442930996418, -0.08213148266077042, 0.06108821928501129);
    for (int b = 1; b < 26; b++)
        assert_int_equal(ulna_model_body_parent(c.model, b), 0);
    ulna_content_release(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transforms_of_nodes),
        cmocka_unit_test(unit_of_length),
        cmocka_unit_test(names),
        cmocka_unit_test(skins),
        cmocka_unit_test(without_a_skin),
        cmocka_unit_test(mirrored_and_scaled_trees),
        cmocka_unit_test(uneven_scales),
        cmocka_unit_test(interpolations),
        cmocka_unit_test(even_keys_are_frames),
        cmocka_unit_test(keys_of_several_tracks),
        cmocka_unit_test(integers_and_strides),
        cmocka_unit_test(sniffing),
        ulna_test_needs("hand", cmocka_unit_test(hand_of_webxr)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
