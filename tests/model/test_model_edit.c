/* Editing: back to a builder, other lengths, another root, another parent. */
#include "math/math3.h"
#include "model/model.h"
#include "support_model.h"
#include "support_tree.h"
#include "ulna/sample.h"

#include <stdlib.h>
#include <string.h>

static void assert_same_model(const ulna_model *a, const ulna_model *b)
{
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->nb, b->nb);
    assert_int_equal(a->nq, b->nq);
    assert_int_equal(a->nm, b->nm);
    assert_int_equal(a->reference, b->reference);
    assert_true(a->length_scale == b->length_scale);
    assert_string_equal(ulna_model_name(a), ulna_model_name(b));
    for (int i = 0; i < a->nb; i++) {
        assert_string_equal(ulna_model_body_name(a, i), ulna_model_body_name(b, i));
        assert_int_equal(a->body[i].parent, b->body[i].parent);
        assert_memory_equal(a->body[i].placement_rotation, b->body[i].placement_rotation, 24 * sizeof(double));
        assert_memory_equal(a->body[i].link_rotation, b->body[i].link_rotation, 12 * sizeof(double));
        assert_memory_equal(&a->joint[i], &b->joint[i], sizeof a->joint[i]);
    }
    assert_memory_equal(a->mass, b->mass, (size_t)a->nb * sizeof *a->mass);
    assert_memory_equal(a->marker, b->marker, (size_t)a->nm * sizeof *a->marker);
    assert_memory_equal(a->link, b->link, (size_t)a->nl * sizeof *a->link);
    assert_memory_equal(a->rest, b->rest, (size_t)a->nq * sizeof *a->rest);
    assert_memory_equal(a->lower, b->lower, (size_t)a->nv * sizeof *a->lower);
    assert_memory_equal(a->upper, b->upper, (size_t)a->nv * sizeof *a->upper);
    assert_memory_equal(a->strength, b->strength, (size_t)a->nv * sizeof *a->strength);
}

static void from_model_and_build_is_the_same_model(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int round = 0; round < 200; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL), *again;
        ulna_builder *b;
        assert_int_equal(ulna_builder_from_model(m, NULL, &b, NULL), ULNA_OK);
        again = ulna_test_build(b);
        assert_same_model(m, again);
        ulna_model_destroy(again);
        assert_int_equal(ulna_model_reroot(m, 0, NULL, &again, NULL), ULNA_OK); /* the present root: a copy */
        assert_same_model(m, again);
        ulna_model_destroy(again);
        ulna_builder_destroy(b);
        ulna_model_destroy(m);
    }
}

static void lengths(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    ulna_error error;
    for (int round = 0; round < 100; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL), *longer;
        int n = ulna_model_body_count(m);
        double length[64], old[24], new[24]; /* placement and offset: rotation, position */
        for (int i = 0; i < n; i++)
            length[i] = ulna_model_bone_length(m, i) * (i % 3);
        assert_int_equal(ulna_model_with_lengths(m, length, NULL, &longer, NULL), ULNA_OK);
        for (int i = 0; i < n; i++) {
            assert_true(fabs(ulna_model_bone_length(longer, i) - length[i]) < 1e-15 + 1e-15 * length[i]);
            /* the bone grows, placement or offset; all else is as it was */
            int bone = ulna_model_body_joint(m, i)->reversed ? 12 : 0;
            ulna_model_body_placement(m, i, old + 9, old);
            ulna_model_body_offset(m, i, old + 21, old + 12);
            ulna_model_body_placement(longer, i, new + 9, new);
            ulna_model_body_offset(longer, i, new + 21, new + 12);
            for (int k = bone + 9; k < bone + 12; k++) {
                assert_true(fabs(new[k] - old[k] * (i % 3)) < 1e-14);
                new[k] = old[k];
            }
            assert_true(ulna_test_difference(old, new, 24) == 0);
        }
        ulna_model_destroy(longer);
        length[0] = -1;
        assert_says(ulna_model_with_lengths(m, length, NULL, &longer, &error), ULNA_ERR_ARGUMENT,
                    ulna_model_body_name(m, 0), "negative");
        assert_null(longer);
        length[0] = NAN;
        assert_says(ulna_model_with_lengths(m, length, NULL, &longer, &error), ULNA_ERR_NUMBER,
                    ulna_model_body_name(m, 0));
        ulna_model_destroy(m);
    }
    ulna_builder *b = ulna_test_builder();
    ulna_test_add(b, "stump", ULNA_NONE);
    ulna_model *m = ulna_test_build(b), *longer;
    double one = 1;
    assert_says(ulna_model_with_lengths(m, &one, NULL, &longer, &error), ULNA_ERR_ARGUMENT, "\"stump\"", "length 0");
    ulna_model_destroy(m);
    ulna_builder_destroy(b);
}

/* Coordinates of one body's joint listed backwards by segment. */
static void copy_reversed(const ulna_model *m, int body, const double *from, double *to)
{
    const ulna_joint *joint = ulna_model_body_joint(m, body);
    ulna_joint_plan plan;
    assert_int_equal(ulna_joint_resolve(joint, &plan, NULL), ULNA_OK);
    int at = plan.coordinate_count;
    for (int i = 0; i < plan.segment_count; i++) {
        int count = ulna_segment_coordinates((ulna_segment)plan.segment[i]);
        at -= count;
        memcpy(to + at, from, (size_t)count * sizeof *to);
        from += count;
    }
}

/* q of the re-rooted model: the same values, and the root where the old model has it. */
static void transfer(const ulna_model *old, const ulna_model *new, const ulna_test_frame *old_frames, const double *q,
                     double *to)
{
    for (int i = 0; i < ulna_model_body_count(new); i++) {
        int before = ulna_model_find_body(old, ulna_model_body_name(new, i)), first, first_old;
        ulna_model_body_coordinates(new, i, &first);
        if (i == 0) {
            ulna_joint_plan plan;
            assert_int_equal(ulna_joint_resolve(ulna_model_body_joint(new, 0), &plan, NULL), ULNA_OK);
            ulna_joint_fit(&plan, 1, old_frames[before].r, old_frames[before].t, plan.zero, to + first);
            continue;
        }
        int parent = ulna_model_find_body(old, ulna_model_body_name(new, ulna_model_body_parent(new, i)));
        if (ulna_model_body_parent(old, parent) == before) { /* the edge was turned: the joint was the parent's */
            ulna_model_body_coordinates(old, parent, &first_old);
            copy_reversed(old, parent, q + first_old, to + first);
        } else {
            int count = ulna_model_body_coordinates(old, before, &first_old);
            memcpy(to + first, q + first_old, (size_t)count * sizeof *to);
        }
    }
}

static void check_same_frames(const ulna_model *old, const ulna_test_frame *x, const ulna_model *new, const double *q)
{
    ulna_test_frame *y = ulna_test_frames(new, q);
    for (int i = 0; i < ulna_model_body_count(new); i++) {
        int before = ulna_model_find_body(old, ulna_model_body_name(new, i));
        assert_true(ulna_test_frame_difference(&x[before], &y[i]) < 1e-11);
    }
    free(y);
}

static void another_root_has_the_same_poses(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (int round = 0; round < 300; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL), *turned, *back;
        int n = ulna_model_body_count(m), root = ulna_test_rng_index(&rng, n);
        assert_int_equal(ulna_model_reroot(m, root, NULL, &turned, NULL), ULNA_OK);
        assert_string_equal(ulna_model_body_name(turned, 0), ulna_model_body_name(m, root));
        assert_int_equal(ulna_model_body_count(turned), n);
        ulna_test_check_tree(turned);
        double *q = ulna_test_random_q(&rng, m),
               *to = calloc((size_t)ulna_model_coordinate_count(turned) + 1, sizeof *to);
        ulna_test_frame *x = ulna_test_frames(m, q), *rest = ulna_test_frames(m, ulna_model_rest(m));
        assert_non_null(to);
        if (root != 0) {
            assert_int_equal(ulna_model_body_dofs(turned, 0, NULL), 6);
            transfer(m, turned, x, q, to);
            check_same_frames(m, x, turned, to);
            ulna_test_check_links(turned, to);
        }
        check_same_frames(m, rest, turned, ulna_model_rest(turned));

        /* limits, strengths, markers and user data went along */
        for (int i = 1; i < n && root != 0; i++) {
            int before = ulna_model_find_body(m, ulna_model_body_name(turned, i)), a, b;
            int parent = ulna_model_find_body(m, ulna_model_body_name(turned, ulna_model_body_parent(turned, i)));
            int edge = ulna_model_body_parent(m, parent) == before;
            int count = ulna_model_body_dofs(turned, i, &a), source = edge ? parent : before;
            assert_int_equal(ulna_model_body_dofs(m, source, &b), count);
            assert_int_equal(ulna_model_body_joint(turned, i)->reversed,
                             ulna_model_body_joint(m, source)->reversed ^ edge);
            double sum = 0;
            for (int k = 0; k < count; k++)
                sum += ulna_model_strength(turned)[a + k] - ulna_model_strength(m)[b + k];
            assert_true(fabs(sum) < 1e-12);
            if (edge && count > 0 && ulna_model_dof_coordinate(m, b) != ULNA_NONE &&
                m->dof_segment[b] < ULNA_SEGMENT_BALL) {
                assert_true(ulna_model_lower(turned)[a + count - 1] == ulna_model_lower(m)[b]);
                assert_true(ulna_model_upper(turned)[a + count - 1] == ulna_model_upper(m)[b]);
            }
        }
        for (int k = 0; k < ulna_model_marker_count(m); k++)
            assert_string_equal(ulna_model_body_name(m, ulna_model_marker_body(m, k)),
                                ulna_model_body_name(turned, ulna_model_marker_body(turned, k)));

        /* and back again */
        int old_root = ulna_model_find_body(turned, ulna_model_body_name(m, 0));
        assert_int_equal(ulna_model_reroot(turned, old_root, NULL, &back, NULL), ULNA_OK);
        check_same_frames(m, rest, back, ulna_model_rest(back));
        for (int i = 1; i < n; i++) {
            int before = ulna_model_find_body(m, ulna_model_body_name(back, i));
            assert_memory_equal(ulna_model_body_joint(back, i), ulna_model_body_joint(m, before), sizeof(ulna_joint));
        }
        ulna_model_destroy(back);
        free(x);
        free(rest);
        free(q);
        free(to);
        ulna_model_destroy(turned);
        ulna_model_destroy(m);
    }
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* All bone lengths but the root's own, in order of size. */
static void sorted_lengths(const ulna_model *m, double *length)
{
    for (int i = 1; i < ulna_model_body_count(m); i++)
        length[i - 1] = ulna_model_bone_length(m, i);
    qsort(length, (size_t)ulna_model_body_count(m) - 1, sizeof *length, by_size);
}

static void another_root_has_the_same_bones(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(10);
    for (int round = 0; round < 200; round++) {
        ulna_model *m, *turned;
        if (round == 0)
            assert_int_equal(ulna_sample_create("human", NULL, &m, NULL), ULNA_OK);
        else
            m = ulna_test_random_tree(&rng, NULL);
        int n = ulna_model_body_count(m);
        int root = round == 0 ? ulna_model_find_body(m, "left_hand") : ulna_test_rng_index(&rng, n);
        assert_int_equal(ulna_model_reroot(m, root, NULL, &turned, NULL), ULNA_OK);
        double before[64], after[64];
        sorted_lengths(m, before);
        sorted_lengths(turned, after);
        assert_true(ulna_test_difference(before, after, n - 1) < 1e-15);
        if (round == 0)
            assert_true(before[n / 2] > 0.05);
        ulna_model_destroy(turned);
        ulna_model_destroy(m);
    }
}

static void the_new_root_has_the_old_kind(void **state)
{
    (void)state;
    static const struct {
        const char *order;
        ulna_joint_type type, expected;
    } cases[] = {
        {"ZXY", ULNA_JOINT_FREE_EULER, ULNA_JOINT_FREE_EULER},
        {"TxTyTzRzRyRx", ULNA_JOINT_SEQUENCE, ULNA_JOINT_SEQUENCE},
        {"RzRyRzTyTxTz", ULNA_JOINT_SEQUENCE, ULNA_JOINT_SEQUENCE},
        {"TxRzTyRyTzRx", ULNA_JOINT_SEQUENCE, ULNA_JOINT_FREE}, /* cannot reach every ulna_test_frame */
        {"TxTyTxRzRyRx", ULNA_JOINT_SEQUENCE, ULNA_JOINT_FREE},
        {"TxTy", ULNA_JOINT_SEQUENCE, ULNA_JOINT_FREE},
        {"", ULNA_JOINT_FIXED, ULNA_JOINT_FREE},
        {"", ULNA_JOINT_FREE, ULNA_JOINT_FREE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ulna_builder *b = ulna_test_builder();
        ulna_test_add(b, "root", ULNA_NONE);
        ulna_test_add(b, "child", 0);
        ulna_joint joint = ulna_joint_sequence(cases[i].order);
        joint.type = cases[i].type;
        ulna_test_set_joint(b, 0, joint);
        ulna_test_set_joint(b, 1, ulna_joint_revolute(0, 1, 0));
        ulna_model *m = ulna_test_build(b), *turned;
        assert_int_equal(ulna_model_reroot(m, 1, NULL, &turned, NULL), ULNA_OK);
        assert_int_equal(ulna_model_body_joint(turned, 0)->type, cases[i].expected);
        if (cases[i].type == cases[i].expected)
            assert_string_equal(ulna_model_body_joint(turned, 0)->order, cases[i].order);
        ulna_model_destroy(turned);
        assert_int_equal(ulna_model_reroot(m, 2, NULL, &turned, NULL), ULNA_ERR_ARGUMENT);
        assert_null(turned);
        ulna_model_destroy(m);
        ulna_builder_destroy(b);
    }
}

static void another_parent_keeps_the_rest_pose(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(6);
    ulna_error error;
    int moved = 0;
    for (int round = 0; round < 300; round++) {
        ulna_model *m = ulna_test_random_tree(&rng, NULL);
        ulna_builder *b;
        int n = ulna_model_body_count(m), body = ulna_test_rng_index(&rng, n), parent = ulna_test_rng_index(&rng, n);
        assert_int_equal(ulna_builder_from_model(m, NULL, &b, NULL), ULNA_OK);
        if (ulna_model_is_ancestor(m, body, parent)) {
            assert_says(ulna_builder_reparent(b, body, parent, &error), ULNA_ERR_MODEL, ulna_model_body_name(m, body));
        } else {
            assert_int_equal(ulna_builder_reparent(b, body, parent, NULL), ULNA_OK);
            ulna_model *hung = ulna_test_build(b);
            ulna_test_frame *x = ulna_test_frames(m, ulna_model_rest(m));
            check_same_frames(m, x, hung, ulna_model_rest(hung));
            int now = ulna_model_find_body(hung, ulna_model_body_name(m, body));
            assert_string_equal(ulna_model_body_name(hung, ulna_model_body_parent(hung, now)),
                                ulna_model_body_name(m, parent));
            free(x);
            ulna_model_destroy(hung);
            moved++;
        }
        assert_int_equal(ulna_builder_reparent(b, -1, 0, NULL), ULNA_ERR_ARGUMENT);
        assert_int_equal(ulna_builder_reparent(b, 0, n, NULL), ULNA_ERR_ARGUMENT);
        ulna_builder_destroy(b);
        ulna_model_destroy(m);
    }
    assert_true(moved > 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_model_and_build_is_the_same_model), cmocka_unit_test(lengths),
        cmocka_unit_test(another_root_has_the_same_poses),        cmocka_unit_test(the_new_root_has_the_old_kind),
        cmocka_unit_test(another_root_has_the_same_bones),        cmocka_unit_test(another_parent_keeps_the_rest_pose),
    };
    return cmocka_run_group_tests_name("model_edit", tests, NULL, NULL);
}
