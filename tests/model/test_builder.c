/* The builder: what it refuses and how it says so, defaults, order, and memory that runs out. */
#include "math/math3.h"
#include "model/model.h"
#include "support_model.h"

/* ---- refusals ---------------------------------------------------------------------------------------------- */

static void structural_defects_are_named(void **state)
{
    (void)state;
    ulna_error error;
    ulna_model *model = (ulna_model *)1;
    ulna_builder *b = ulna_test_builder();
    assert_says(ulna_builder_build(b, NULL, &model, &error), ULNA_ERR_MODEL, "no bodies");
    assert_null(model);

    int hips = ulna_test_add(b, "hips", ULNA_NONE), spine = ulna_test_add(b, "spine", hips);
    assert_says(ulna_builder_add_body(b, "spine", hips, NULL, &error), ULNA_ERR_MODEL, "\"spine\"", "two");
    assert_says(ulna_builder_add_body(b, "", hips, NULL, &error), ULNA_ERR_ARGUMENT, "name");
    assert_says(ulna_builder_add_body(b, NULL, hips, NULL, &error), ULNA_ERR_ARGUMENT, "name");
    assert_says(ulna_builder_add_body(b, "bad\xff", hips, NULL, &error), ULNA_ERR_ARGUMENT, "UTF-8");
    assert_says(ulna_builder_add_body(b, "orphan", 7, NULL, &error), ULNA_ERR_ARGUMENT, "\"orphan\"", "7");
    char longname[257];
    memset(longname, 'x', 256);
    longname[256] = 0;
    assert_says(ulna_builder_add_body(b, longname, hips, NULL, &error), ULNA_ERR_LIMIT, "255");
    assert_says(ulna_builder_set_parent(b, spine, spine, &error), ULNA_ERR_MODEL, "\"spine\"");
    assert_says(ulna_builder_set_parent(b, 9, 0, &error), ULNA_ERR_ARGUMENT, "9");

    int other = ulna_test_add(b, "other", ULNA_NONE);
    assert_says(ulna_builder_build(b, NULL, &model, &error), ULNA_ERR_MODEL, "\"hips\"", "\"other\"");
    assert_int_equal(ulna_builder_set_parent(b, hips, spine, NULL), ULNA_OK); /* hips <-> spine, one root left */
    assert_says(ulna_builder_build(b, NULL, &model, &error), ULNA_ERR_MODEL, "cycle", "\"hips\"");
    assert_int_equal(ulna_builder_set_parent(b, other, spine, NULL), ULNA_OK); /* no root at all */
    assert_says(ulna_builder_build(b, NULL, &model, &error), ULNA_ERR_MODEL, "cycle");
    assert_says(ulna_builder_reparent(b, other, hips, &error), ULNA_ERR_MODEL, "cycle");
    assert_null(model);
    ulna_builder_destroy(b);
    ulna_builder_destroy(NULL);
    ulna_model_destroy(NULL);
}

static void bad_numbers_are_named(void **state)
{
    (void)state;
    ulna_error error;
    ulna_builder *b = ulna_test_builder();
    int arm = ulna_test_add(b, "arm", ULNA_NONE);
    static const double bad[3] = {0, NAN, 0}, good[3] = {0, 1, 0};
    double turned[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1.01};
    assert_says(ulna_builder_set_placement(b, arm, bad, NULL, &error), ULNA_ERR_NUMBER, "\"arm\"", "placement");
    assert_says(ulna_builder_set_placement(b, arm, good, turned, &error), ULNA_ERR_MODEL, "\"arm\"", "rotation");
    assert_says(ulna_builder_set_placement(b, arm, NULL, NULL, &error), ULNA_ERR_ARGUMENT, "\"arm\"");
    assert_says(ulna_builder_set_offset(b, arm, good, turned, &error), ULNA_ERR_MODEL, "\"arm\"", "offset");
    turned[8] = INFINITY;
    assert_says(ulna_builder_set_offset(b, arm, good, turned, &error), ULNA_ERR_NUMBER, "\"arm\"", "offset");

    ulna_joint joint = ulna_joint_revolute(0, 0, 0);
    assert_says(ulna_builder_set_joint(b, arm, &joint, &error), ULNA_ERR_MODEL, "\"arm\"", "zero length");
    assert_says(ulna_builder_set_joint(b, arm, NULL, &error), ULNA_ERR_ARGUMENT, "\"arm\"");
    joint = ulna_joint_euler("XYX");
    assert_int_equal(ulna_builder_set_joint(b, arm, &joint, NULL), ULNA_OK);
    assert_says(ulna_builder_set_limits(b, arm, 3, 0, 1, &error), ULNA_ERR_ARGUMENT, "\"arm\"", "3");
    assert_says(ulna_builder_set_limits(b, arm, 1, 1, -1, &error), ULNA_ERR_MODEL, "\"arm\"", "inverted");
    assert_says(ulna_builder_set_limits(b, arm, 1, INFINITY, INFINITY, &error), ULNA_ERR_MODEL, "\"arm\"");
    assert_says(ulna_builder_set_limits(b, arm, 1, NAN, 1, &error), ULNA_ERR_NUMBER, "\"arm\"", "limit");
    assert_says(ulna_builder_set_strength(b, arm, 1, -1, &error), ULNA_ERR_MODEL, "\"arm\"", "strength");
    assert_says(ulna_builder_set_strength(b, arm, 1, NAN, &error), ULNA_ERR_NUMBER, "\"arm\"", "strength");
    static const double rest[3] = {0, 2, 0};
    assert_says(ulna_builder_set_rest(b, arm, rest, 2, &error), ULNA_ERR_ARGUMENT, "\"arm\"", "2");
    assert_says(ulna_builder_set_rest(b, arm, bad, 3, &error), ULNA_ERR_NUMBER, "\"arm\"", "rest");
    assert_int_equal(ulna_builder_set_rest(b, arm, rest, 3, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_limits(b, arm, 1, -1, 1, NULL), ULNA_OK);
    ulna_model *model;
    assert_says(ulna_builder_build(b, NULL, &model, &error), ULNA_ERR_MODEL, "\"arm\"", "rest", "1");
    assert_null(model);

    ulna_mass mass = {.mass = -1};
    assert_says(ulna_builder_set_mass(b, arm, &mass, &error), ULNA_ERR_MODEL, "\"arm\"", "mass");
    mass.mass = NAN;
    assert_says(ulna_builder_set_mass(b, arm, &mass, &error), ULNA_ERR_NUMBER, "\"arm\"", "mass");
    assert_says(ulna_builder_add_marker(b, "tip", arm, bad, 1, NULL, &error), ULNA_ERR_NUMBER, "\"tip\"", "\"arm\"");
    assert_says(ulna_builder_add_marker(b, "tip", arm, good, -1, NULL, &error), ULNA_ERR_MODEL, "\"tip\"", "weight");
    assert_says(ulna_builder_add_marker(b, "tip", arm, good, NAN, NULL, &error), ULNA_ERR_NUMBER, "\"tip\"");
    assert_says(ulna_builder_add_marker(b, "tip", 5, good, 1, NULL, &error), ULNA_ERR_ARGUMENT, "\"tip\"");
    assert_int_equal(ulna_builder_add_marker(b, "tip", arm, good, 1, NULL, NULL), ULNA_OK);
    assert_says(ulna_builder_add_marker(b, "tip", arm, good, 1, NULL, &error), ULNA_ERR_MODEL, "\"tip\"", "two");

    joint = ulna_joint_ball();
    assert_int_equal(ulna_builder_set_joint(b, arm, &joint, NULL), ULNA_OK);
    assert_says(ulna_builder_set_limits(b, arm, 0, -1, 1, &error), ULNA_ERR_MODEL, "\"arm\"", "quaternion");
    assert_int_equal(ulna_builder_set_limits(b, arm, 0, -INFINITY, INFINITY, NULL), ULNA_OK);
    static const double zero[4] = {0, 0, 0, 0};
    assert_says(ulna_builder_set_rest(b, arm, zero, 4, &error), ULNA_ERR_NUMBER, "\"arm\"", "quaternion");

    static const double far[3] = {1e200, 1e200, 0};
    assert_int_equal(ulna_builder_set_placement(b, ulna_test_add(b, "far", arm), far, NULL, NULL), ULNA_OK);
    assert_says(ulna_builder_build(b, NULL, &model, &error), ULNA_ERR_NUMBER, "overflow");
    ulna_builder_destroy(b);
}

/* ---- what it makes ---- */

static void defaults_and_resets(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    int hip = ulna_test_add(b, "hip", ULNA_NONE), knee = ulna_test_add(b, "knee", hip);
    ulna_test_set_joint(b, hip, ulna_joint_free());
    ulna_test_set_joint(b, knee, ulna_joint_revolute(0, 0, -2));
    double rest = 0.5;
    assert_int_equal(ulna_builder_set_rest(b, knee, &rest, 1, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_set_strength(b, knee, 0, 0.25, NULL), ULNA_OK);
    ulna_test_set_joint(b, knee, ulna_joint_revolute(0, 0, -2)); /* forgets both */
    assert_int_equal(ulna_builder_set_limits(b, knee, 0, 0.2, 2, NULL), ULNA_OK);
    ulna_model *m = ulna_test_build(b);
    assert_int_equal(ulna_model_coordinate_count(m), 8);
    assert_int_equal(ulna_model_dof_count(m), 7);
    static const double expected[8] = {0, 0, 0, 0, 0, 0, 1, 0.2}; /* zero, moved into the limits */
    assert_true(ulna_test_difference(ulna_model_rest(m), expected, 8) == 0);
    assert_true(ulna_model_strength(m)[6] == 1 && ulna_model_lower(m)[6] == 0.2 && ulna_model_upper(m)[6] == 2);
    assert_true(isinf(ulna_model_lower(m)[0]) && isinf(ulna_model_upper(m)[5]));
    assert_true(ulna_model_body_joint(m, 1)->axis[2] == -1);
    assert_true(ulna_model_length_scale(m) == 1); /* no lengths at all */
    assert_string_equal(ulna_model_name(m), "");
    ulna_model_destroy(m);

    /* a rest value that misses its limit by rounding is moved, not refused */
    rest = 2 + 1e-12;
    assert_int_equal(ulna_builder_set_rest(b, knee, &rest, 1, NULL), ULNA_OK);
    m = ulna_test_build(b);
    assert_true(ulna_model_rest(m)[7] == 2);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void order_is_kept_or_mended(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    int hand = ulna_test_add(b, "hand", ULNA_NONE), root = ulna_test_add(b, "root", ULNA_NONE);
    int arm = ulna_test_add(b, "arm", root), leg = ulna_test_add(b, "leg", root), head = ulna_test_add(b, "head", root);
    (void)leg;
    (void)head;
    assert_int_equal(ulna_builder_set_parent(b, hand, ulna_builder_find_body(b, "arm"), NULL), ULNA_OK);
    assert_int_equal(ulna_builder_find_body(b, "arm"), arm);
    ulna_model *m = ulna_test_build(b);
    static const char *const expected[] = {"root", "arm", "hand", "leg", "head"};
    for (int i = 0; i < 5; i++)
        assert_string_equal(ulna_model_body_name(m, i), expected[i]);
    assert_int_equal(ulna_model_body_parent(m, 2), 1);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);

    b = ulna_test_builder(); /* parents first already: nothing moves, though siblings and their children are interleaved */
    static const int parent[] = {-1, 0, 0, 1, 2, 1, 0, 4};
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        ulna_test_add(b, name, parent[i]);
    }
    m = ulna_test_build(b);
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "b%d", i);
        assert_string_equal(ulna_model_body_name(m, i), name);
        assert_int_equal(ulna_model_find_body(m, name), i);
        assert_int_equal(ulna_model_body_parent(m, i), parent[i]);
    }
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

static void markers_move(void **state)
{
    (void)state;
    ulna_error error;
    ulna_builder *b = ulna_test_builder();
    int arm = ulna_test_add(b, "arm", ULNA_NONE), hand = ulna_test_add(b, "hand", arm), thumb, palm;
    static const double here[3] = {1, 2, 3}, there[3] = {4, 5, 6}, bad[3] = {0, NAN, 0};
    assert_int_equal(ulna_builder_find_marker(b, "thumb"), ULNA_NONE);
    assert_int_equal(ulna_builder_add_marker(b, "thumb", arm, here, 1, &thumb, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_add_marker(b, "palm", hand, here, 3, &palm, NULL), ULNA_OK);
    assert_int_equal(ulna_builder_find_marker(b, "palm"), palm);
    assert_int_equal(ulna_builder_find_marker(b, "hand"), ULNA_NONE); /* a body */
    assert_int_equal(ulna_builder_find_marker(b, NULL), ULNA_NONE);
    assert_int_equal(ulna_builder_set_marker(b, thumb, hand, there, 0.5, &error), ULNA_OK);

    /* what is refused changes nothing */
    assert_says(ulna_builder_set_marker(b, 2, arm, here, 1, &error), ULNA_ERR_ARGUMENT, "marker 2");
    assert_says(ulna_builder_set_marker(b, -1, arm, here, 1, &error), ULNA_ERR_ARGUMENT, "marker -1");
    assert_says(ulna_builder_set_marker(b, thumb, 2, here, 1, &error), ULNA_ERR_ARGUMENT, "\"thumb\"", "body 2");
    assert_says(ulna_builder_set_marker(b, thumb, arm, NULL, 1, &error), ULNA_ERR_ARGUMENT, "\"thumb\"", "position");
    assert_says(ulna_builder_set_marker(b, thumb, arm, bad, 1, &error), ULNA_ERR_NUMBER, "\"thumb\"", "\"arm\"");
    assert_says(ulna_builder_set_marker(b, thumb, arm, here, NAN, &error), ULNA_ERR_NUMBER, "\"thumb\"");
    assert_says(ulna_builder_set_marker(b, thumb, arm, here, -1, &error), ULNA_ERR_MODEL, "\"thumb\"", "weight");
    assert_says(ulna_builder_set_marker(NULL, thumb, arm, here, 1, &error), ULNA_ERR_ARGUMENT, "builder");

    ulna_model *m = ulna_test_build(b);
    double position[3];
    assert_int_equal(ulna_model_marker_count(m), 2);
    assert_int_equal(ulna_model_marker_body(m, thumb), hand);
    assert_true(ulna_model_marker_weight(m, thumb) == 0.5);
    ulna_model_marker_position(m, thumb, position);
    assert_true(ulna_test_difference(position, there, 3) == 0);
    ulna_model_marker_position(m, palm, position);
    assert_true(ulna_test_difference(position, here, 3) == 0 && ulna_model_marker_weight(m, palm) == 3);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

/* ---- memory ---- */

/* Everything that allocates, once. */
static ulna_status whole_life(const ulna_allocator *allocator)
{
    static const double up[3] = {0, 1, 0};
    ulna_builder *b = (ulna_builder *)1, *copy = NULL;
    ulna_model *m = NULL, *turned = NULL, *longer = NULL;
    ulna_error error;
    double length[40];
    ulna_status status = ulna_builder_create(allocator, &b);
    if (status)
        assert_null(b);
    if (!status)
        status = ulna_builder_set_name(b, "a skeleton with a name that needs room", &error);
    for (int i = 0; i < 40 && !status; i++) {
        char name[32];
        int body;
        snprintf(name, sizeof name, "body with a number %d", i);
        status = ulna_builder_add_body(b, name, i - 1, &body, &error);
        if (status) { /* as it was */
            assert_int_equal(body, ULNA_NONE);
            assert_int_equal(ulna_builder_find_body(b, name), ULNA_NONE);
            break;
        }
        ulna_joint joint = ulna_joint_euler("ZYX");
        assert_int_equal(ulna_builder_set_joint(b, body, &joint, NULL), ULNA_OK);
        assert_int_equal(ulna_builder_set_placement(b, body, up, NULL, NULL), ULNA_OK);
        status = ulna_builder_add_marker(b, name, i, up, 1, NULL, &error);
        length[i] = 2;
    }
    if (!status) {
        status = ulna_builder_build(b, allocator, &m, &error);
        assert_true((status == ULNA_OK) == (m != NULL));
    }
    if (!status) {
        status = ulna_builder_from_model(m, allocator, &copy, &error);
        assert_true((status == ULNA_OK) == (copy != NULL));
    }
    if (!status) {
        status = ulna_model_reroot(m, 20, allocator, &turned, &error);
        assert_true((status == ULNA_OK) == (turned != NULL));
    }
    if (!status) {
        status = ulna_model_with_lengths(m, length, allocator, &longer, &error);
        assert_true((status == ULNA_OK) == (longer != NULL));
    }
    ulna_model_destroy(longer);
    ulna_model_destroy(turned);
    ulna_builder_destroy(copy);
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
    return status;
}

static void every_failing_allocation_is_clean(void **state)
{
    (void)state;
    for (long fail = 0;; fail++) {
        ulna_test_memory memory = {.fail_at = fail};
        ulna_allocator allocator = ulna_test_allocator(&memory);
        ulna_status status = whole_life(&allocator);
        ulna_test_memory_check(&memory);
        if (!memory.failed) {
            assert_int_equal(status, ULNA_OK);
            assert_true(fail > 50);
            break;
        }
        assert_int_equal(status, ULNA_ERR_MEMORY);
    }
}

static void a_model_is_one_block(void **state)
{
    (void)state;
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "a", ULNA_NONE);
    ulna_test_add(b, "b", 0);
    ulna_test_set_joint(b, 1, ulna_joint_ball());
    ulna_test_memory memory = {.fail_at = -1};
    ulna_allocator allocator = ulna_test_allocator(&memory);
    ulna_model *m;
    assert_int_equal(ulna_builder_build(b, &allocator, &m, NULL), ULNA_OK);
    assert_int_equal(memory.live_blocks, 1);
    assert_int_equal(memory.live_bytes, ulna_model_bytes(m));
    ulna_model_destroy(m);
    ulna_test_memory_check(&memory);
    ulna_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structural_defects_are_named),
        cmocka_unit_test(bad_numbers_are_named),
        cmocka_unit_test(defaults_and_resets),
        cmocka_unit_test(order_is_kept_or_mended),
        cmocka_unit_test(markers_move),
        cmocka_unit_test(every_failing_allocation_is_clean),
        cmocka_unit_test(a_model_is_one_block),
    };
    return cmocka_run_group_tests_name("builder", tests, NULL, NULL);
}
