#include "support_oracle_problem.h"

#include <math.h>

#include "math/math3.h"
#include "support_model.h"

static void name_of(int joint, char name[32])
{
    snprintf(name, 32, "joint%d", joint);
}

void ulna_oracle_problem(const ulna_oracle *o, ulna_model **model, ulna_problem **problem)
{
    ulna_builder *builder = ulna_test_builder();
    char name[32];
    for (int j = 0; j < o->joints; j++) {
        name_of(j, name);
        int body = ulna_test_add(builder, name, o->parent[j]);
        assert_int_equal(body, j);
        const double *a = o->axis[j], none[3] = {0, 0, 0};
        assert_int_equal(ulna_builder_set_placement(builder, j, o->parent[j] < 0 ? none : o->v[j], NULL, NULL),
                         ULNA_OK);
        if (o->type[j] == ULNA_ORACLE_FREE)
            ulna_test_set_joint(builder, j, ulna_joint_free());
        if (o->type[j] == ULNA_ORACLE_HINGE) {
            ulna_test_set_joint(builder, j, ulna_joint_revolute(a[0], a[1], a[2]));
            assert_int_equal(ulna_builder_set_limits(builder, j, 0, o->lower[j], o->upper[j], NULL), ULNA_OK);
        }
    }
    *model = ulna_test_build(builder);
    ulna_builder_destroy(builder);
    assert_int_equal(ulna_problem_create(*model, NULL, problem, NULL), ULNA_OK);
    for (int k = 0; k < o->points; k++) {
        name_of(o->point_joint[k], name);
        assert_int_equal(
            ulna_problem_add_point(*problem, ulna_model_find_body(*model, name), NULL, o->point[k], 2, NULL, NULL),
            ULNA_OK);
    }
    assert_int_equal(ulna_problem_ready(*problem, NULL), ULNA_OK);
}

void ulna_oracle_true_q(const ulna_oracle *o, const ulna_model *model, double *q)
{
    char name[32];
    for (int j = 0; j < o->joints; j++) {
        int at, body;
        name_of(j, name);
        body = ulna_model_find_body(model, name);
        ulna_model_body_coordinates(model, body, &at);
        if (o->type[j] == ULNA_ORACLE_FREE) {
            memcpy(q + at, o->translation, sizeof o->translation);
            ulna_rotation_to_quaternion(o->rotation, q + at + 3);
        } else if (o->type[j] == ULNA_ORACLE_HINGE) {
            q[at] = o->angle[j];
        }
    }
}
