/*
 * Forward kinematics of every recorded robot, against the chain multiplied out from the XML itself: a parser of its own, which
 * knows nothing of Ulna's reader, 4 x 4 matrices, rotations by Rodrigues' formula. Mimic joints follow by recursion.
 */
#include <expat.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/model.h"
#include "support_recorded.h"
#include "ulna/kinematics.h"

/* ---- the reference ---------------------------------------------------------------------------------------------------- */

enum { MOST = 200 };

typedef struct plain_joint {
    char name[100], type[20], parent[100], child[100], master[100];
    double xyz[3], rpy[3], axis[3], multiplier, offset;
} plain_joint;

typedef struct plain_robot {
    int depth, inside; /* inside a joint of the robot */
    int count;
    plain_joint joint[MOST];
    int links;
    char link[MOST][100];
} plain_robot;

static void copy(char *to, const char **attributes, const char *name)
{
    for (; *attributes; attributes += 2)
        if (!strcmp(attributes[0], name))
            snprintf(to, 100, "%s", attributes[1]);
}

static void numbers(double *to, const char **attributes, const char *name)
{
    char text[100] = "", *at = text;
    copy(text, attributes, name);
    for (int i = 0; i < 3 && *at; i++)
        to[i] = strtod(at, &at);
}

static void XMLCALL begin(void *context, const char *name, const char **attributes)
{
    plain_robot *r = context;
    plain_joint *j = &r->joint[r->count > 0 ? r->count - 1 : 0];
    int depth = r->depth++;
    if (depth == 1 && !strcmp(name, "link"))
        copy(r->link[r->links++], attributes, "name");
    if (depth == 1) {
        r->inside = !strcmp(name, "joint");
        if (r->inside) {
            assert_true(r->count < MOST);
            j = &r->joint[r->count++];
            j->axis[0] = j->multiplier = 1;
            copy(j->name, attributes, "name");
            for (const char **a = attributes; *a; a += 2)
                if (!strcmp(a[0], "type"))
                    snprintf(j->type, sizeof j->type, "%s", a[1]);
        }
    }
    if (depth != 2 || !r->inside)
        return;
    if (!strcmp(name, "parent"))
        copy(j->parent, attributes, "link");
    if (!strcmp(name, "child"))
        copy(j->child, attributes, "link");
    if (!strcmp(name, "origin")) {
        numbers(j->xyz, attributes, "xyz");
        numbers(j->rpy, attributes, "rpy");
    }
    if (!strcmp(name, "axis"))
        numbers(j->axis, attributes, "xyz");
    if (!strcmp(name, "mimic")) {
        copy(j->master, attributes, "joint");
        double one[3] = {1}, zero[3] = {0};
        numbers(one, attributes, "multiplier");
        numbers(zero, attributes, "offset");
        j->multiplier = one[0];
        j->offset = zero[0];
    }
}

static void XMLCALL finish(void *context, const char *name)
{
    (void)name;
    ((plain_robot *)context)->depth--;
}

static plain_robot *parse(const char *path)
{
    size_t size;
    char *text = ulna_test_read_file(path, &size);
    plain_robot *robot = calloc(1, sizeof *robot);
    XML_Parser parser = XML_ParserCreate(NULL);
    XML_SetUserData(parser, robot);
    XML_SetElementHandler(parser, begin, finish);
    while (size > 0 && text[size - 1] == 0)
        size--;
    assert_int_equal(XML_Parse(parser, text, (int)size, 1), XML_STATUS_OK);
    XML_ParserFree(parser);
    free(text);
    return robot;
}

typedef struct matrix {
    double at[4][4];
} matrix;

static matrix unit(void)
{
    matrix m = {{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}}};
    return m;
}

static matrix times(matrix a, matrix b)
{
    matrix c = {{{0}}};
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                c.at[i][j] += a.at[i][k] * b.at[k][j];
    return c;
}

/* Rodrigues: R = I + sin K + (1 - cos) K^2, K the cross product with the unit axis. */
static matrix rotation(const double axis[3], double angle)
{
    double length = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double x = axis[0] / length, y = axis[1] / length, z = axis[2] / length, s = sin(angle), c = 1 - cos(angle);
    matrix k = {{{0, -z, y, 0}, {z, 0, -x, 0}, {-y, x, 0, 0}, {0, 0, 0, 0}}}, kk = times(k, k), m = unit();
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m.at[i][j] += s * k.at[i][j] + c * kk.at[i][j];
    return m;
}

static matrix translation(double x, double y, double z)
{
    matrix m = unit();
    m.at[0][3] = x;
    m.at[1][3] = y;
    m.at[2][3] = z;
    return m;
}

static const plain_joint *joint_named(const plain_robot *r, const char *name)
{
    for (int i = 0; i < r->count; i++)
        if (!strcmp(r->joint[i].name, name))
            return &r->joint[i];
    return NULL;
}

/* The value of a joint of one degree of freedom: of Ulna's q by the name of the joint, or of its master. */
static double value_of(const plain_robot *r, const plain_joint *j, const ulna_model *model, const double *q)
{
    if (*j->master)
        return j->multiplier * value_of(r, joint_named(r, j->master), model, q) + j->offset;
    int coordinate;
    ulna_model_body_coordinates(model, ulna_model_find_joint(model, j->name), &coordinate);
    return q[coordinate];
}

static matrix motion_of(const plain_robot *r, const plain_joint *j, const ulna_model *model, const double *q)
{
    double length = sqrt(j->axis[0] * j->axis[0] + j->axis[1] * j->axis[1] + j->axis[2] * j->axis[2]);
    if (!strcmp(j->type, "revolute") || !strcmp(j->type, "continuous"))
        return rotation(j->axis, value_of(r, j, model, q));
    if (!strcmp(j->type, "prismatic")) {
        double t = value_of(r, j, model, q) / length;
        return translation(t * j->axis[0], t * j->axis[1], t * j->axis[2]);
    }
    if (!strcmp(j->type, "spherical")) { /* the quaternion (x, y, z, w) as an axis and an angle */
        int c;
        ulna_model_body_coordinates(model, ulna_model_find_joint(model, j->name), &c);
        double norm = sqrt(q[c] * q[c] + q[c + 1] * q[c + 1] + q[c + 2] * q[c + 2]);
        return norm > 0 ? rotation(q + c, 2 * atan2(norm, q[c + 3])) : unit();
    }
    assert_string_equal(j->type, "fixed");
    return unit();
}

/* The frame of a link: up to the root, and multiplied out. */
static matrix frame_of(const plain_robot *r, const char *link, const ulna_model *model, const double *q)
{
    static const double x[3] = {1, 0, 0}, y[3] = {0, 1, 0}, z[3] = {0, 0, 1};
    for (int i = 0; i < r->count; i++) {
        const plain_joint *j = &r->joint[i];
        if (strcmp(j->child, link) != 0)
            continue;
        matrix at = frame_of(r, j->parent, model, q);
        at = times(at, translation(j->xyz[0], j->xyz[1], j->xyz[2]));
        at = times(at, rotation(z, j->rpy[2]));
        at = times(at, rotation(y, j->rpy[1]));
        at = times(at, rotation(x, j->rpy[0]));
        return times(at, motion_of(r, j, model, q));
    }
    return unit();
}

/* ---- tests -------------------------------------------------------------------------------------------------------------- */

/* Inside the limits; unlimited joints within half a turn or half a metre; random quaternions. */
static void random_pose(ulna_test_rng *rng, const ulna_model *model, double *q)
{
    for (int c = 0; c < model->nq; c++)
        q[c] = ulna_test_rng_uniform(rng, -1, 1);
    for (int d = 0; d < model->nv; d++) {
        int c = model->dof_coordinate[d];
        double low = isfinite(model->lower[d]) ? model->lower[d] : -3,
               high = isfinite(model->upper[d]) ? model->upper[d] : 3;
        if (c >= 0)
            q[c] = ulna_test_rng_uniform(rng, low, high);
    }
}

static double check_robot(const char *name, int *mimics)
{
    char path[1000];
    ulna_test_path(path, sizeof path, ulna_test_data_dir(), name);
    plain_robot *robot = parse(path);
    ulna_model *model;
    ulna_error error;
    if (ulna_model_load(path, NULL, &model, &error) != ULNA_OK)
        fail_msg("%s: %s", name, error.message);
    assert_int_equal(ulna_model_body_count(model), robot->links);
    *mimics += model->nc;

    ulna_pose *pose;
    ulna_test_rng rng = ulna_test_rng_seed(42);
    double *q = malloc(((size_t)model->nq + 1) * sizeof *q), worst = 0;
    assert_int_equal(ulna_pose_create(model, NULL, &pose, NULL), ULNA_OK);
    for (int round = 0; round < 50; round++) {
        random_pose(&rng, model, q);
        assert_int_equal(ulna_pose_forward(pose, q), ULNA_OK);
        for (int l = 0; l < robot->links; l++) {
            matrix expected = frame_of(robot, robot->link[l], model, q);
            double at[3], turned[9];
            int body = ulna_model_find_body(model, robot->link[l]);
            assert_int_equal(ulna_pose_body(pose, body, at, turned), ULNA_OK);
            for (int i = 0; i < 3; i++) {
                worst = fmax(worst, fabs(at[i] - expected.at[i][3]));
                for (int j = 0; j < 3; j++)
                    worst = fmax(worst, fabs(turned[3 * i + j] - expected.at[i][j]));
            }
        }
    }
    free(q);
    free(robot);
    ulna_pose_destroy(pose);
    ulna_model_destroy(model);
    return worst;
}

static void every_link_is_where_the_chain_puts_it(void **state)
{
    (void)state;
    ulna_test_recorded list = {0};
    int mimics = 0;
    ulna_test_recorded_add(&list, "urdf");
    assert_true(list.count >= 12);
    for (size_t i = 0; i < list.count; i++) {
        double worst = check_robot(list.names[i], &mimics);
        print_message("%-45s %.1e\n", list.names[i], worst);
        if (!(worst < 1e-12))
            fail_msg("%s: %g", list.names[i], worst);
    }
    assert_true(mimics >= 18); /* 17 of the NAO and a finger of the Panda */
    ulna_test_recorded_release(&list);
}

/* A robot as a model file is the same robot: joints, limits, couplings, masses, to the bit. */
static void robots_become_model_files(void **state)
{
    (void)state;
    ulna_test_recorded list = {0};
    ulna_test_recorded_add(&list, "urdf");
    for (size_t i = 0; i < list.count; i++) {
        char path[1000];
        ulna_model *model, *again;
        ulna_text once = ulna_text_empty(NULL), twice = ulna_text_empty(NULL);
        ulna_sink first = ulna_text_sink(&once), second = ulna_text_sink(&twice);
        assert_int_equal(
            ulna_model_load(ulna_test_path(path, sizeof path, ulna_test_data_dir(), list.names[i]), NULL, &model, NULL),
            ULNA_OK);
        assert_int_equal(ulna_model_write_json(model, &first, NULL), ULNA_OK);
        assert_int_equal(ulna_model_read(once.data, once.length, NULL, &again, NULL), ULNA_OK);
        assert_int_equal(ulna_model_write_json(again, &second, NULL), ULNA_OK);
        assert_string_equal(once.data, twice.data);
        assert_int_equal(model->nc, again->nc);
        assert_memory_equal(model->lower, again->lower, (size_t)model->nv * sizeof *model->lower);
        for (int b = 0; b < model->nb; b++)
            assert_string_equal(ulna_model_joint_name(model, b), ulna_model_joint_name(again, b));
        ulna_text_release(&once);
        ulna_text_release(&twice);
        ulna_model_destroy(again);
        ulna_model_destroy(model);
    }
    ulna_test_recorded_release(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        ulna_test_needs("urdf", cmocka_unit_test(every_link_is_where_the_chain_puts_it)),
        ulna_test_needs("urdf", cmocka_unit_test(robots_become_model_files)),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
