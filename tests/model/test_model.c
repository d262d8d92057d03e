/* The finished model: queries, ancestry, links, the sparsity pattern, big skeletons, coordinates. */
#include "math/math3.h"
#include "model/model.h"
#include "support_model.h"
#include "support_pattern.h"
#include "support_tree.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- queries ---- */

static void out_of_range_is_none(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "only", ULNA_NONE);
    ulna_model *m = ulna_test_build(b);
    int first = 7;
    char text[8] = "x";
    for (int bad = -1; bad < 2; bad += 2) {
        assert_null(ulna_model_body_name(m, bad));
        assert_null(ulna_model_body_joint(m, bad));
        assert_null(ulna_model_body_user_data(m, bad));
        assert_null(ulna_model_body_mass(m, bad));
        assert_null(ulna_model_marker_name(m, bad));
        assert_int_equal(ulna_model_body_parent(m, bad), ULNA_NONE);
        assert_int_equal(ulna_model_body_placement(m, bad, NULL, NULL), ULNA_ERR_ARGUMENT);
        assert_int_equal(ulna_model_body_offset(m, bad, NULL, NULL), ULNA_ERR_ARGUMENT);
        assert_int_equal(ulna_model_body_dofs(m, bad, &first), ULNA_NONE);
        assert_int_equal(ulna_model_body_coordinates(m, bad, &first), ULNA_NONE);
        assert_int_equal(ulna_model_body_depth(m, bad), ULNA_NONE);
        assert_int_equal(ulna_model_is_ancestor(m, bad, 0), 0);
        assert_int_equal(ulna_model_subtree(m, bad, NULL), ULNA_NONE);
        assert_int_equal(ulna_model_dof_body(m, bad), ULNA_NONE);
        assert_int_equal(ulna_model_dof_coordinate(m, bad), ULNA_NONE);
        assert_int_equal(ulna_model_dof_is_translation(m, bad), 0);
        assert_int_equal(ulna_model_dof_label(m, bad, text, sizeof text), ULNA_NONE);
        assert_int_equal(ulna_model_marker_body(m, bad), ULNA_NONE);
        assert_int_equal(ulna_model_marker_position(m, bad, NULL), ULNA_ERR_ARGUMENT);
    }
    assert_int_equal(ulna_model_find_body(m, "none"), ULNA_NONE);
    assert_int_equal(ulna_model_find_body(m, NULL), ULNA_NONE);
    assert_int_equal(ulna_model_find_marker(m, "none"), ULNA_NONE);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void labels_and_metadata(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    int something = 0;
    char name[] = "pelvis"; /* strings are copied */
    int pelvis = ulna_test_add(b, name, ULNA_NONE);
    name[0] = 'X';
    int hip = ulna_test_add(b, "hip", pelvis), knee = ulna_test_add(b, "knee", hip),
        ankle = ulna_test_add(b, "ankle", knee);
    ulna_test_set_joint(b, pelvis, ulna_joint_free());
    ulna_test_set_joint(b, hip, ulna_joint_euler("ZYZ"));
    ulna_test_set_joint(b, knee, ulna_joint_revolute(1, 0, 0));
    static const double axis[3] = {0, 0, 1}, point[3] = {0, -0.1, 0.2}, down[3] = {0, -0.4, 0};
    ulna_test_set_joint(b, ankle, ulna_joint_swing_twist(axis, NULL));
    ulna_mass mass = {.mass = 12, .center = {0, 0.1, 0}, .inertia = {1, 2, 3, 0, 0, 0}};
    assert_int_equal(ulna_builder_set_mass(b, hip, &mass, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_user_data(b, hip, &something), ULNA_OK);
    assert_int_equal(ulna_builder_set_user_data(b, 99, &something), ULNA_ERR_ARGUMENT);
    assert_int_equal(ulna_builder_set_placement(b, knee, down, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_placement(b, pelvis, down, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_add_marker(b, "toe", ankle, point, 2, NULL, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_add_marker(b, "hip", hip, point, 1, NULL, NULL), ULNA_OK); /* as a body: fine */
    assert_int_equal(ulna_builder_set_name(b, "half a human", NULL), ULNA_OK);
    ulna_model *m = ulna_test_build(b);
    ulna_builder_destroy(b);

    static const char *const labels[] = {"pelvis.Tx", "pelvis.Ty", "pelvis.Tz", "pelvis.w0", "pelvis.w1",
                                         "pelvis.w2", "hip.Rz",    "hip.Ry",    "hip.Rz2",   "knee",
                                         "ankle.w0",  "ankle.w1",  "ankle.Rz"};
    for (int j = 0; j < ulna_model_dof_count(m); j++) {
        char text[32];
        assert_int_equal(ulna_model_dof_label(m, j, text, sizeof text), strlen(labels[j]));
        assert_string_equal(text, labels[j]);
        assert_int_equal(ulna_model_dof_is_translation(m, j), j < 3);
        assert_int_equal(ulna_model_dof_coordinate(m, j), j < 3 ? j : j < 6 ? ULNA_NONE : j + 1);
        assert_int_equal(m->tree_parent[j], j - 1);
    }
    assert_string_equal(ulna_model_name(m), "half a human");
    assert_string_equal(ulna_model_body_name(m, 0), "pelvis");
    assert_ptr_equal(ulna_model_body_user_data(m, hip), &something);
    assert_memory_equal(ulna_model_body_mass(m, hip), &mass, sizeof mass);
    assert_int_equal(ulna_model_find_marker(m, "hip"), 1);
    assert_string_equal(ulna_model_marker_name(m, 0), "toe");
    assert_int_equal(ulna_model_marker_body(m, 0), ankle);
    assert_true(ulna_model_marker_weight(m, 0) == 2);
    double position[3];
    assert_int_equal(ulna_model_marker_position(m, 0, position), ULNA_OK);
    assert_true(ulna_test_difference(position, point, 3) == 0);
    assert_true(fabs(ulna_model_bone_length(m, knee) - 0.4) < 1e-15);
    /* from marker to marker over the knee; not the root's own placement */
    assert_true(fabs(ulna_model_length_scale(m) - 0.5 * (0.4 + 2 * sqrt(0.05))) < 1e-15);
    assert_true(ulna_model_bytes(m) > 0);
    ulna_model_destroy(m);
}

static void ancestry_against_brute_force(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(1);
    for (int round = 0; round < 200; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL);
        int n = ulna_model_body_count(m), bodies[64];
        for (int a = 0; a < n; a++) {
            int size = 0, depth = 0;
            for (int b = 0; b < n; b++) {
                int expected = ulna_test_is_ancestor(m, a, b);
                assert_int_equal(ulna_model_is_ancestor(m, a, b), expected);
                size += expected;
            }
            for (int b = a; ulna_model_body_parent(m, b) != ULNA_NONE; b = ulna_model_body_parent(m, b))
                depth++;
            assert_int_equal(ulna_model_body_depth(m, a), depth);
            assert_int_equal(ulna_model_subtree(m, a, NULL), size);
            assert_int_equal(ulna_model_subtree(m, a, bodies), size);
            assert_int_equal(bodies[0], a);
            for (int i = 1; i < size; i++) { /* parents first, nobody twice */
                int parent_seen = 0;
                for (int k = 0; k < i; k++) {
                    parent_seen |= bodies[k] == ulna_model_body_parent(m, bodies[i]);
                    assert_int_not_equal(bodies[k], bodies[i]);
                }
                assert_true(parent_seen);
            }
            assert_int_equal(ulna_model_find_body(m, ulna_model_body_name(m, a)), a);
        }
        ulna_model_destroy(m);
    }
}

/* ---- the characteristic length ------------------------------------------------------------------------------ */

/* From the body's origin up to an ancestor's. */
static double way_up(const ulna_model *m, int body, int ancestor)
{
    double length = 0, p[3], o[3];
    for (; body != ancestor; body = ulna_model_body_parent(m, body)) {
        ulna_model_body_placement(m, body, p, NULL);
        ulna_model_body_offset(m, body, o, NULL);
        length += ulna_norm(p) + ulna_norm(o);
    }
    return length;
}

/* The longest way between any two of the origins and markers, pair by pair. Points: bodies, then markers. */
static double longest_way(const ulna_model *m)
{
    int nb = ulna_model_body_count(m), count = nb + ulna_model_marker_count(m);
    double longest = 0;
    for (int i = 0; i < count; i++)
        for (int j = 0; j < i; j++) {
            int a = i < nb ? i : ulna_model_marker_body(m, i - nb), b = j < nb ? j : ulna_model_marker_body(m, j - nb);
            int top = ulna_test_common_ancestor(m, a, b);
            double p[3], length = way_up(m, a, top) + way_up(m, b, top);
            if (i >= nb && ulna_model_marker_position(m, i - nb, p) == ULNA_OK)
                length += ulna_norm(p);
            if (j >= nb && ulna_model_marker_position(m, j - nb, p) == ULNA_OK)
                length += ulna_norm(p);
            longest = fmax(longest, length);
        }
    return longest;
}

static void length_scale_is_half_the_longest_way(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(8);
    for (int round = 0; round < 300; round++) {
        ulna_test_tree_options options = ulna_test_tree_options_default();
        options.markers = round % 4;
        options.far_m = 100;
        ulna_model *m = ulna_test_random_tree(&rng, &options), *turned;
        double scale = ulna_model_length_scale(m), expected = 0.5 * longest_way(m);
        assert_true(fabs(scale - (expected > 0 ? expected : 1)) < 1e-13);
        int root = ulna_test_rng_index(&rng, ulna_model_body_count(m));
        assert_int_equal(ulna_model_reroot(m, root, NULL, &turned, NULL), ULNA_OK);
        assert_true(fabs(ulna_model_length_scale(turned) - scale) < 1e-13);
        ulna_model_destroy(turned);
        ulna_model_destroy(m);
    }
}

/* ---- links and sparsity ------------------------------------------------------------------------------------- */

static void links_and_trees_of_random_models(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(2);
    for (int round = 0; round < 400; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL);
        double *q = ulna_test_random_q(&rng, m);
        ulna_test_check_links(m, q);
        ulna_test_check_tree(m);
        free(q);
        ulna_model_destroy(m);
    }
}

static void assert_blocks(ulna_joint joint, int count, const unsigned char *sizes)
{
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "root", ULNA_NONE);
    ulna_test_set_joint(b, 0, joint);
    ulna_model *m = ulna_test_build(b);
    assert_int_equal(m->link[0].block_count, count);
    assert_memory_equal(m->link[0].block, sizes, (size_t)count);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void blocks_of_three(void **state)
{
    (void)state;
    static const unsigned char threes[] = {3, 3}, one[] = {1}, two[] = {2}, planar[] = {2, 1}, mixed[] = {1, 1, 1, 1},
                               more[] = {1, 1, 1, 2};
    static const double up[3] = {0, 0, 1};
    assert_blocks(ulna_joint_fixed(), 0, one);
    assert_blocks(ulna_joint_revolute(0, 1, 0), 1, one);
    assert_blocks(ulna_joint_euler("XY"), 1, two);
    assert_blocks(ulna_joint_euler("XYX"), 1, threes);
    assert_blocks(ulna_joint_planar(0, 0, 1), 2, planar);
    assert_blocks(ulna_joint_free_euler("ZYX"), 2, threes);
    assert_blocks(ulna_joint_sequence("TxRyTzRx"), 4, mixed);
    assert_blocks(ulna_joint_sequence("TxRyTzRxRy"), 4, more);
    for (int reversed = 0; reversed < 2; reversed++) {
        ulna_joint free_joint = ulna_joint_free(), swing = ulna_joint_swing_twist(up, NULL), map = ulna_joint_expmap();
        free_joint.reversed = swing.reversed = map.reversed = reversed;
        assert_blocks(free_joint, 2, threes);
        assert_blocks(swing, 1, threes);
        assert_blocks(map, 1, threes);
    }
}

static void the_reference_is_the_last_slide_before_a_branch(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "world", ULNA_NONE);
    ulna_test_add(b, "cart", 0);
    ulna_test_add(b, "mount", 1);
    ulna_test_add(b, "body", 2);
    ulna_test_add(b, "left", 3);
    ulna_test_add(b, "right", 3);
    ulna_test_set_joint(b, 1, ulna_joint_prismatic(1, 0, 0));
    ulna_test_set_joint(b, 3, ulna_joint_free());
    ulna_test_set_joint(b, 4, ulna_joint_prismatic(1, 0, 0));
    ulna_test_set_joint(b, 5, ulna_joint_revolute(1, 0, 0));
    ulna_model *m = ulna_test_build(b);
    assert_int_equal(m->nl, 5);
    assert_int_equal(m->reference, 2); /* world, cart, body: the mount is fixed to the cart */
    assert_int_equal(m->link[2].body, 3);
    ulna_model_destroy(m);
    ulna_test_set_joint(b, 2, ulna_joint_fixed());
    ulna_test_add(b, "second", 1);
    ulna_test_set_joint(b, 6, ulna_joint_revolute(1, 0, 0)); /* the cart branches now */
    m = ulna_test_build(b);
    assert_int_equal(m->reference, 1);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

/* ---- size --------------------------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static ulna_model *big_model(int count, int chain)
{
    static const double down[3] = {0, -0.1, 0};
    ulna_joint joint = ulna_joint_revolute(0, 0, 1);
    ulna_builder *b = ulna_test_builder();
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "body%d", i);
        assert_int_equal(ulna_builder_add_body(b, name, i == 0 ? -1 : chain ? i - 1 : 0, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(b, i, down, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(b, i, &joint, NULL), ULNA_OK);
    }
    ulna_model *m = ulna_test_build(b);
    ulna_builder_destroy(b);
    return m;
}

static void big_models_build_fast(void **state)
{
    (void)state;
    double start = seconds();
    ulna_model *chain = big_model(10000, 1), *star = big_model(10000, 0), *long_chain = big_model(100000, 1);
    assert_true(seconds() - start < 10); /* a tenth of a second, but test machines can be busy or slow */

    assert_int_equal(chain->max_dof_depth, 10000);
    assert_int_equal(chain->tree.path[9999][1234], 1234);
    assert_ptr_equal(chain->tree.path[17], chain->tree.path[9999]); /* one list serves all */
    assert_int_equal(star->max_dof_depth, 2);
    ulna_test_pattern_check(&star->tree);
    assert_int_equal(ulna_model_find_body(star, "body7777"), 7777);
    assert_int_equal(ulna_model_subtree(long_chain, 40000, NULL), 60000);
    assert_int_equal(ulna_model_is_ancestor(long_chain, 40000, 99999), 1);
    assert_true(ulna_model_bytes(chain) < 10000 * 1200 && ulna_model_bytes(star) < 10000 * 1200);
    ulna_model_destroy(chain);
    ulna_model_destroy(star);
    ulna_model_destroy(long_chain);
}

/* A trunk of 20,000 hinges with 20,000 leaves at its end: 1.6 GB of ancestor lists from a file of a megabyte. */
static void bushes_on_long_trunks_are_refused(void **state)
{
    (void)state;
    ulna_joint joint = ulna_joint_revolute(0, 0, 1);
    ulna_builder *b = ulna_test_builder();
    for (int i = 0; i < 40000; i++) {
        char name[32];
        snprintf(name, sizeof name, "body%d", i);
        assert_int_equal(ulna_builder_add_body(b, name, i < 20000 ? i - 1 : 19999, NULL, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_joint(b, i, &joint, NULL), ULNA_OK);
    }
    ulna_error error;
    ulna_model *m = (ulna_model *)1;
    assert_says(ulna_builder_build(b, NULL, &m, &error), ULNA_ERR_LIMIT, "deep", "MB");
    assert_null(m);
    ulna_builder_destroy(b);
}

/* ---- coordinates -------------------------------------------------------------------------------------------- */

static void integrate_and_difference_are_inverse(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(7);
    for (int round = 0; round < 300; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL);
        int nv = ulna_model_dof_count(m), nq = ulna_model_coordinate_count(m);
        double *q = ulna_test_random_q(&rng, m), *p = ulna_test_random_q(&rng, m),
               *step = calloc((size_t)nv + 1, sizeof *step), *back = calloc((size_t)nv + 1, sizeof *back),
               *moved = calloc((size_t)nq + 1, sizeof *moved);
        assert_true(step && back && moved);
        for (int j = 0; j < nv; j++)
            step[j] = ulna_test_rng_uniform(&rng, -1, 1);
        ulna_model_integrate(m, q, step, moved);
        ulna_model_difference(m, q, moved, back);
        assert_true(ulna_test_difference(step, back, nv) < 1e-12);
        assert_int_equal(ulna_model_check_q(m, moved, NULL), ULNA_OK);

        /* to any other q, with quaternions up to their sign: the frames tell */
        ulna_model_difference(m, q, p, step);
        ulna_model_integrate(m, q, step, moved);
        ulna_test_frame *x = ulna_test_frames(m, p), *y = ulna_test_frames(m, moved);
        for (int i = 0; i < ulna_model_body_count(m); i++)
            assert_true(ulna_test_frame_difference(&x[i], &y[i]) < 1e-11);
        ulna_model_integrate(m, q, step, q); /* in place */
        assert_true(ulna_test_difference(q, moved, nq) == 0);
        free(x);
        free(y);
        free(q);
        free(p);
        free(step);
        free(back);
        free(moved);
        ulna_model_destroy(m);
    }
}

static void quaternions_step_in_the_parent_frame(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "ball", ULNA_NONE);
    ulna_test_set_joint(b, 0, ulna_joint_ball());
    ulna_model *m = ulna_test_build(b);
    double q[4] = {0.2, -0.4, 0.6, 1}, step[3] = {0.3, 0.1, -0.2}, result[4], r0[9], r1[9], turn[9], expected[9];
    ulna_model_integrate(m, q, step, result);
    ulna_quaternion_to_rotation(q, r0);
    ulna_quaternion_to_rotation(result, r1);
    ulna_exp(step, turn);
    ulna_multiply9(turn, r0, expected);
    assert_true(ulna_test_difference(r1, expected, 9) < 1e-15);
    assert_true(fabs(result[0] * result[0] + result[1] * result[1] + result[2] * result[2] + result[3] * result[3] -
                     1) < 1e-15);

    int where = 7;
    double zero[4] = {0, 0, 0, 0};
    assert_int_equal(ulna_model_check_q(m, zero, &where), ULNA_ERR_NUMBER);
    assert_int_equal(where, 0);
    q[2] = NAN;
    assert_int_equal(ulna_model_check_q(m, q, &where), ULNA_ERR_NUMBER);
    assert_int_equal(where, 2);
    assert_int_equal(ulna_model_check_q(m, result, &where), ULNA_OK);
    assert_int_equal(where, ULNA_NONE);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

/* A map and a swing with its twist; `limited` sets far limits on one part of each vector. */
static ulna_model *vectors(int limited)
{
    static const double up[3] = {0, 0, 1};
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "map", ULNA_NONE);
    ulna_test_add(b, "swing", 0);
    ulna_test_set_joint(b, 0, ulna_joint_expmap());
    ulna_test_set_joint(b, 1, ulna_joint_swing_twist(up, NULL));
    if (limited) {
        assert_int_equal(ulna_builder_set_limits(b, 0, 1, -9, INFINITY, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_limits(b, 1, 0, -INFINITY, 9, NULL), ULNA_OK);
    }
    ulna_model *m = ulna_test_build(b);
    ulna_builder_destroy(b);
    return m;
}

/* However long the vectors: a zero step changes nothing, and steps there and back cancel. */
static void integrate_only_adds(void **state)
{
    (void)state;
    ulna_model *m = vectors(0);
    const double q[6] = {4, 3.5, 1, 3, 4, 9}, zero[6] = {0}, step[6] = {1, 1, 1, 1, 1, 9};
    double result[6], back[6];
    ulna_model_integrate(m, q, zero, result);
    assert_true(ulna_test_difference(q, result, 6) == 0);
    ulna_model_integrate(m, q, step, result);
    for (int i = 0; i < 6; i++)
        assert_true(result[i] == q[i] + step[i]);
    ulna_model_difference(m, q, result, back);
    assert_true(ulna_test_difference(step, back, 6) == 0);
    ulna_model_destroy(m);
}

static void wrap_removes_whole_turns(void **state)
{
    (void)state;
    for (int limited = 0; limited < 2; limited++) {
        ulna_model *m = vectors(limited);
        const double q[6] = {4, 3.5, 1, 3, 4, 18};
        double result[6];
        memcpy(result, q, sizeof result);
        assert_int_equal(ulna_model_wrap(m, result), limited ? 0 : 2);
        ulna_test_frame *x = ulna_test_frames(m, q), *y = ulna_test_frames(m, result);
        assert_true(ulna_test_frame_difference(&x[1], &y[1]) < 1e-14);
        assert_true(result[5] == 18); /* the twist is left alone */
        if (limited)
            assert_true(ulna_test_difference(q, result, 6) == 0);
        else
            assert_true(ulna_norm(result) <= ULNA_PI && hypot(result[3], result[4]) <= ULNA_PI);
        assert_int_equal(ulna_model_wrap(m, result), 0);
        free(x);
        free(y);
        ulna_model_destroy(m);
    }

    /* up to 1.5 pi nothing happens, just behind it much */
    ulna_model *m = vectors(0);
    double q[6] = {0, 0, -1.5 * ULNA_PI + 1e-9, 1.5 * ULNA_PI + 1e-9, 0, 0};
    assert_int_equal(ulna_model_wrap(m, q), 1);
    assert_true(q[2] == -1.5 * ULNA_PI + 1e-9 && fabs(q[3] + 0.5 * ULNA_PI - 1e-9) < 1e-15 && q[4] == 0);
    q[0] = NAN;
    q[3] = INFINITY;
    assert_int_equal(ulna_model_wrap(m, q), 0);
    ulna_model_destroy(m);
}

/* On random trees, with vectors of up to a thousand turns; quaternions and limited vectors are not touched. */
static void wrap_keeps_every_pose(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(9);
    int changed = 0;
    for (int round = 0; round < 300; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL);
        int nq = ulna_model_coordinate_count(m), nv = ulna_model_dof_count(m), expected = 0;
        double *q = ulna_test_random_q(&rng, m), *wrapped = ulna_test_numbers(nq), stretch = round % 2 ? 1 : 1000;
        for (int j = 0; j < nv; j++)
            if (m->dof_segment[j] > ULNA_SEGMENT_BALL)
                q[m->dof_coordinate[j]] *= stretch;
        for (int j = 0; j < nv; j++) {
            int count = ulna_segment_dofs((ulna_segment)m->dof_segment[j]), limited = 0;
            if (m->dof_segment[j] <= ULNA_SEGMENT_BALL || m->dof_part[j] != 0)
                continue;
            double square = 0;
            for (int k = j; k < j + count; k++) {
                square += q[m->dof_coordinate[k]] * q[m->dof_coordinate[k]];
                limited |= isfinite(m->lower[k]) || isfinite(m->upper[k]);
            }
            expected += !limited && sqrt(square) > 1.5 * ULNA_PI;
        }
        memcpy(wrapped, q, (size_t)nq * sizeof *q);
        assert_int_equal(ulna_model_wrap(m, wrapped), expected);
        changed += expected;
        ulna_test_frame *x = ulna_test_frames(m, q), *y = ulna_test_frames(m, wrapped);
        for (int i = 0; i < ulna_model_body_count(m); i++)
            assert_true(ulna_test_frame_difference(&x[i], &y[i]) < 1e-10);
        for (int j = 0; j < nv; j++) {
            int c = m->dof_coordinate[j];
            if (c != ULNA_NONE && (isfinite(m->lower[j]) || isfinite(m->upper[j])))
                assert_true(wrapped[c] == q[c]);
        }
        free(x);
        free(y);
        free(q);
        free(wrapped);
        ulna_model_destroy(m);
    }
    assert_true(changed > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_range_is_none),
        cmocka_unit_test(labels_and_metadata),
        cmocka_unit_test(ancestry_against_brute_force),
        cmocka_unit_test(length_scale_is_half_the_longest_way),
        cmocka_unit_test(links_and_trees_of_random_models),
        cmocka_unit_test(blocks_of_three),
        cmocka_unit_test(the_reference_is_the_last_slide_before_a_branch),
        cmocka_unit_test(big_models_build_fast),
        cmocka_unit_test(bushes_on_long_trunks_are_refused),
        cmocka_unit_test(integrate_and_difference_are_inverse),
        cmocka_unit_test(quaternions_step_in_the_parent_frame),
        cmocka_unit_test(integrate_only_adds),
        cmocka_unit_test(wrap_removes_whole_turns),
        cmocka_unit_test(wrap_keeps_every_pose),
    };
    return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}
