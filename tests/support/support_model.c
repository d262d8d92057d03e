/* Building by hand, frames the slow way, and the invariants of links and patterns: see support_model.h. */
#include "support_model.h"
#include "support_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "math/math3.h"
#include "model/model.h"

double ulna_test_difference(const double *a, const double *b, int count)
{
    double largest = 0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(a[i] - b[i]));
    return largest;
}

ulna_builder *ulna_test_builder(void)
{
    ulna_builder *builder;
    assert_int_equal(ulna_builder_create(NULL, &builder), ULNA_OK);
    return builder;
}

int ulna_test_add(ulna_builder *builder, const char *name, int parent)
{
    int body;
    assert_int_equal(ulna_builder_add_body(builder, name, parent, &body, NULL), ULNA_OK);
    return body;
}

void ulna_test_set_joint(ulna_builder *builder, int body, ulna_joint joint)
{
    assert_int_equal(ulna_builder_set_joint(builder, body, &joint, NULL), ULNA_OK);
}

ulna_model *ulna_test_build(const ulna_builder *builder)
{
    ulna_model *model;
    ulna_error error;
    ulna_error_clear(&error);
    if (ulna_builder_build(builder, NULL, &model, &error))
        fail_msg("%s", error.message);
    return model;
}

ulna_test_frame ulna_test_multiply(const ulna_test_frame *a, const ulna_test_frame *b)
{
    ulna_test_frame c;
    ulna_compose(a->r, a->t, b->r, b->t, c.r, c.t);
    return c;
}

ulna_test_frame *ulna_test_frames(const ulna_model *model, const double *q)
{
    ulna_test_frame *x = malloc((size_t)ulna_model_body_count(model) * sizeof *x);
    assert_non_null(x);
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        ulna_test_frame placement, motion, offset;
        ulna_joint_plan plan;
        int first, parent = ulna_model_body_parent(model, i);
        ulna_model_body_placement(model, i, placement.t, placement.r);
        ulna_model_body_offset(model, i, offset.t, offset.r);
        ulna_model_body_coordinates(model, i, &first);
        assert_int_equal(ulna_joint_resolve(ulna_model_body_joint(model, i), &plan, NULL), ULNA_OK);
        ulna_joint_motion(&plan, q + first, motion.r, motion.t);
        x[i] = parent == ULNA_NONE ? placement : ulna_test_multiply(&x[parent], &placement);
        x[i] = ulna_test_multiply(&x[i], &motion);
        x[i] = ulna_test_multiply(&x[i], &offset);
    }
    return x;
}

double ulna_test_frame_difference(const ulna_test_frame *a, const ulna_test_frame *b)
{
    return fmax(ulna_test_difference(a->r, b->r, 9), ulna_test_difference(a->t, b->t, 3));
}

int ulna_test_is_ancestor(const ulna_model *m, int a, int b)
{
    while (b != ULNA_NONE && b != a)
        b = ulna_model_body_parent(m, b);
    return b == a;
}

int ulna_test_common_ancestor(const ulna_model *m, int a, int b)
{
    while (!ulna_test_is_ancestor(m, a, b))
        a = ulna_model_body_parent(m, a);
    return a;
}

/* Frames by way of links, from the private fields that kinematics reads. */
void ulna_test_check_links(const ulna_model *m, const double *q)
{
    ulna_test_frame *expected = ulna_test_frames(m, q), *x = malloc((size_t)m->nl * sizeof *x);
    int *children = calloc((size_t)m->nl, sizeof *children), *level = calloc((size_t)m->nl, sizeof *level);
    assert_non_null(x);
    assert_non_null(children);
    assert_non_null(level);
    for (int l = 0; l < m->nl; l++) {
        const ulna_link *link = &m->link[l];
        ulna_joint_plan plan = {.segment_count = link->segment_count, .sign = link->sign};
        memcpy(plan.segment, link->segment, sizeof plan.segment);
        ulna_identity9(plan.pre);
        ulna_identity9(plan.post);
        ulna_test_frame place, motion;
        int unturned = 1, blocks = 0, general = link->sign < 0 && link->segment_count > 0;
        for (int column = 0; column < 3; column++)
            for (int row = 0; row < 3; row++) {
                place.r[3 * row + column] = link->rotation[column][row];
                unturned &= link->rotation[column][row] == (row == column);
            }
        memcpy(place.t, link->offset, sizeof place.t);
        ulna_joint_motion(&plan, q + link->coordinate, motion.r, motion.t);
        x[l] = ulna_test_multiply(&place, &motion);
        assert_true(link->parent < l);
        if (l > 0) {
            x[l] = ulna_test_multiply(&x[link->parent], &x[l]);
            level[l] = level[link->parent] + 1;
            assert_true(level[l] >= level[l - 1]);
            if (level[l] == level[l - 1])
                assert_true(link->body > m->link[l - 1].body);
            children[link->parent]++;
        } else {
            assert_int_equal(link->parent, -1);
            assert_int_equal(link->body, 0);
        }
        for (int i = 0; i < link->segment_count; i++)
            general |= link->segment[i] >= ULNA_SEGMENT_BALL;
        for (int i = 0; i < link->block_count; i++) {
            assert_in_range(link->block[i], 1, 3);
            blocks += link->block[i];
        }
        assert_int_equal(blocks, link->dof_count);
        assert_int_equal((link->flags & ULNA_LINK_GENERAL) != 0, general);
        assert_int_equal((link->flags & ULNA_LINK_UNTURNED) != 0, unturned);
        assert_int_equal((uintptr_t)link % 64, 0);
    }

    /* the reference lies at the end of an unbranched way */
    for (int l = 0; l < m->reference; l++) {
        assert_int_equal(children[l], 1);
        assert_int_equal(m->link[l + 1].parent, l);
    }

    for (int b = 0; b < m->nb; b++) {
        const ulna_body *body = &m->body[b];
        ulna_test_frame in_link, got;
        ulna_copy9(body->link_rotation, in_link.r);
        ulna_copy3(body->link_position, in_link.t);
        got = ulna_test_multiply(&x[body->link], &in_link);
        assert_true(ulna_test_frame_difference(&got, &expected[b]) < 1e-13);
    }
    free(level);
    free(children);
    free(x);
    free(expected);
}

void ulna_test_check_tree(const ulna_model *m)
{
    const ulna_tree *tree = &m->tree;
    ulna_test_pattern_check(tree);
    assert_int_equal(tree->n, ulna_model_dof_count(m));
    for (int j = 0; j < tree->n; j++) {
        int depth = 0, body = ulna_model_dof_body(m, j);
        assert_true(tree->row[j] % 4 == 0 && tree->row[j + 1] - tree->row[j] >= (size_t)tree->depth[j]);
        for (int i = 0; i < tree->n; i++) { /* i is on the path if its body is above, or it comes first in the joint */
            int other = ulna_model_dof_body(m, i);
            int above = other == body ? i <= j : ulna_test_is_ancestor(m, other, body);
            if (above)
                assert_int_equal(tree->path[j][depth++], i);
        }
        assert_int_equal(tree->depth[j], depth);
        assert_int_equal(tree->parent[j], depth > 1 ? tree->path[j][depth - 2] : ULNA_NONE);
        assert_int_equal(m->dof_link[j], m->body[body].link);
    }
}
