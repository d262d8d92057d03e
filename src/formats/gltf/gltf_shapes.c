/* glTF: what is there to see: an octahedron for each bone, bound to its body by the skin, and a sphere for all markers. */
#include "formats/format.h"
#include "formats/gltf/gltf_write.h"

enum { MOST_JOINTS = 65535, CORNERS = 6, SPHERE_CORNERS = 42 };

#define MARKER_M 0.01 /* radius of a marker where there is no model to compare with */

/* ---- bones ------------------------------------------------------------------------------------------------------ */

/* Calls `draw` for every octahedron: from a body to each of its children, and a small one at each leaf. Returns their
 * number. */
static size_t each_bone(ulna_gltf_scene *s,
                        void (*draw)(ulna_gltf_scene *s, int body, const double way[3], size_t number))
{
    size_t count = 0;
    for (int b = 0; b < s->body_count; b++) {
        const ulna_body *body = &s->model->body[b];
        double way[3];
        if (body->subtree == 1) {
            way[0] = way[2] = 0;
            way[1] = 0.03 * s->size;
            draw(s, b, way, count++);
        }
        if (body->parent < 0)
            continue;
        for (int i = 0; i < 3; i++)
            way[i] = (double)s->rest[b].translation[i];
        if (ulna_norm(way) > 1e-3 * s->size)
            draw(s, body->parent, way, count++);
    }
    return count;
}

static void draw_corners(ulna_gltf_scene *s, int body, const double way[3], size_t number)
{
    static const double octahedron[CORNERS][3] = {
        {0, 0, 0}, {0.07, 0, 0.15}, {0, 0.07, 0.15}, {-0.07, 0, 0.15}, {0, -0.07, 0.15}, {0, 0, 1},
    };
    double length = ulna_norm(way), along[3], frame[9], at[3], corner[3], rotated[3];
    float rounded[3];
    (void)number;
    for (int i = 0; i < 3; i++)
        along[i] = way[i] / length;
    ulna_frame_around(along, frame);
    for (int c = 0; c < CORNERS; c++) {
        for (int i = 0; i < 3; i++)
            at[i] = octahedron[c][i] * length;
        ulna_rotate(frame, at, corner);
        ulna_rotate(s->rest[body].world_rotation, corner, rotated);
        for (int i = 0; i < 3; i++)
            rotated[i] += s->rest[body].world_place[i];
        ulna_gltf_round_place(s, rotated, rounded);
        ulna_gltf_put_bounded(s, rounded);
    }
}

static void draw_joints(ulna_gltf_scene *s, int body, const double way[3], size_t number)
{
    (void)way, (void)number;
    for (int c = 0; c < CORNERS; c++)
        for (int i = 0; i < 4; i++)
            ulna_gltf_put_integer(s, i == 0 ? (unsigned long)body : 0, 2);
}

static void draw_weights(ulna_gltf_scene *s, int body, const double way[3], size_t number)
{
    (void)body, (void)way, (void)number;
    for (int c = 0; c < CORNERS; c++)
        for (int i = 0; i < 4; i++)
            ulna_gltf_put_integer(s, i == 0 ? 255 : 0, 1);
}

static void draw_faces(ulna_gltf_scene *s, int body, const double way[3], size_t number)
{
    (void)body, (void)way;
    for (unsigned long i = 1; i <= 4; i++) {
        unsigned long next = i % 4 + 1, first = CORNERS * (unsigned long)number;
        const unsigned long corners[CORNERS] = {0, next, i, 5, i, next};
        for (int c = 0; c < CORNERS; c++)
            ulna_gltf_put_integer(s, first + corners[c], 4);
    }
}

void ulna_gltf_add_bones(ulna_gltf_scene *s)
{
    if (s->body_count > MOST_JOINTS) {
        ulna_remarks_add(s->job->remarks, 0, -1, "the %d bodies get no bone shapes: glTF allows %d joints in a skin",
                         s->body_count, MOST_JOINTS);
        return;
    }
    s->bones[0] = ulna_gltf_slice_start(s, ULNA_GLTF_FLOAT, 3, ULNA_GLTF_FOR_VERTICES);
    if (s->status != ULNA_OK)
        return;
    size_t count = each_bone(s, draw_corners);
    ulna_gltf_slice_end(s, CORNERS * count);
    s->bones[1] = ulna_gltf_slice_start(s, ULNA_GLTF_UNSIGNED_SHORT, 4, ULNA_GLTF_FOR_VERTICES);
    each_bone(s, draw_joints);
    ulna_gltf_slice_end(s, CORNERS * count);
    s->bones[2] = ulna_gltf_slice_start(s, ULNA_GLTF_UNSIGNED_BYTE, 4, ULNA_GLTF_FOR_VERTICES);
    each_bone(s, draw_weights);
    ulna_gltf_slice_end(s, CORNERS * count);
    if (s->status == ULNA_OK)
        s->slice[s->bones[2]].is_normalized = 1;
    s->bones[3] = ulna_gltf_slice_start(s, ULNA_GLTF_UNSIGNED_INT, 1, ULNA_GLTF_FOR_INDICES);
    each_bone(s, draw_faces);
    ulna_gltf_slice_end(s, 24 * count);
}

/* ---- the sphere ------------------------------------------------------------------------------------------------- */

/* An icosahedron whose edges are cut in half: three corners of the first 12 a face, then the middles of edges. */
typedef struct icosphere {
    double corner[SPHERE_CORNERS][3];
    int count;
    int edge[SPHERE_CORNERS][2]; /* of which corner c is the middle */
} icosphere;

static const unsigned char icosahedron[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                                 {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                                 {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                                 {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};

static void unit(double v[3])
{
    double length = ulna_norm(v);
    for (int i = 0; i < 3; i++)
        v[i] /= length;
}

static void start_icosphere(icosphere *ball)
{
    const double golden = (1 + sqrt(5)) / 2;
    ball->count = 0;
    for (int plane = 0; plane < 3; plane++) /* xy, yz, zx: the short side along the first, the long along the second */
        for (int corner = 0; corner < 4; corner++) {
            double *v = ball->corner[ball->count++];
            v[(plane + 2) % 3] = 0;
            v[plane] = corner % 2 ? 1 : -1;
            v[(plane + 1) % 3] = corner < 2 ? golden : -golden;
            unit(v);
        }
}

static int middle_of(icosphere *ball, int a, int b)
{
    int low = a < b ? a : b, high = a < b ? b : a;
    for (int c = 12; c < ball->count; c++)
        if (ball->edge[c][0] == low && ball->edge[c][1] == high)
            return c;
    int c = ball->count++;
    ball->edge[c][0] = low;
    ball->edge[c][1] = high;
    for (int i = 0; i < 3; i++)
        ball->corner[c][i] = ball->corner[low][i] + ball->corner[high][i];
    unit(ball->corner[c]);
    return c;
}

static void put_face(ulna_gltf_scene *s, int a, int b, int c)
{
    ulna_gltf_put_integer(s, (unsigned long)a, 2);
    ulna_gltf_put_integer(s, (unsigned long)b, 2);
    ulna_gltf_put_integer(s, (unsigned long)c, 2);
}

static void put_corners(ulna_gltf_scene *s, const icosphere *ball, double radius, int *slice)
{
    *slice = ulna_gltf_slice_start(s, ULNA_GLTF_FLOAT, 3, ULNA_GLTF_FOR_VERTICES);
    for (int c = 0; c < SPHERE_CORNERS; c++) {
        const double *v = ball->corner[c], at[3] = {radius * v[0], radius * v[1], radius * v[2]};
        float rounded[3];
        ulna_gltf_round_place(s, at, rounded);
        ulna_gltf_put_bounded(s, rounded);
    }
    ulna_gltf_slice_end(s, SPHERE_CORNERS);
}

void ulna_gltf_add_sphere(ulna_gltf_scene *s)
{
    icosphere ball;
    double radius = s->model ? 0.01 * s->size : MARKER_M;
    start_icosphere(&ball);
    int faces = ulna_gltf_slice_start(s, ULNA_GLTF_UNSIGNED_SHORT, 1, ULNA_GLTF_FOR_INDICES);
    for (int f = 0; f < 20; f++) {
        const unsigned char *v = icosahedron[f];
        int ab = middle_of(&ball, v[0], v[1]), bc = middle_of(&ball, v[1], v[2]), ca = middle_of(&ball, v[2], v[0]);
        put_face(s, v[0], ab, ca);
        put_face(s, v[1], bc, ab);
        put_face(s, v[2], ca, bc);
        put_face(s, ab, bc, ca);
    }
    ulna_gltf_slice_end(s, 240);
    put_corners(s, &ball, radius, &s->sphere[0]);
    put_corners(s, &ball, 1, &s->sphere[1]);
    s->sphere[2] = faces;
}
