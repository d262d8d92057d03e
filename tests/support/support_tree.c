/* Random skeletons and poses: see support_tree.h. */
#include "support_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BODIES = 256 };

static int chance(ulna_test_rng *rng, double probability)
{
    return ulna_test_rng_uniform(rng, 0, 1) < probability;
}

static void random_direction(ulna_test_rng *rng, double direction[3])
{
    double length;
    do {
        length = 0;
        for (int i = 0; i < 3; i++) {
            direction[i] = ulna_test_rng_normal(rng);
            length += direction[i] * direction[i];
        }
        length = sqrt(length);
    } while (length < 1e-3);
    for (int i = 0; i < 3; i++)
        direction[i] /= length;
}

static void random_quaternion(ulna_test_rng *rng, double q[4])
{
    double length;
    do {
        length = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = ulna_test_rng_normal(rng);
            length += q[i] * q[i];
        }
        length = sqrt(length);
    } while (length < 1e-3);
    for (int i = 0; i < 4; i++)
        q[i] /= length;
}

void ulna_test_random_rotation(ulna_test_rng *rng, double r[9])
{
    double q[4];
    random_quaternion(rng, q);
    double x = q[0], y = q[1], z = q[2], w = q[3];
    r[0] = 1 - 2 * (y * y + z * z);
    r[1] = 2 * (x * y - w * z);
    r[2] = 2 * (x * z + w * y);
    r[3] = 2 * (x * y + w * z);
    r[4] = 1 - 2 * (x * x + z * z);
    r[5] = 2 * (y * z - w * x);
    r[6] = 2 * (x * z - w * y);
    r[7] = 2 * (y * z + w * x);
    r[8] = 1 - 2 * (x * x + y * y);
}

/* ---- Joints ---- */

/* One of the 3 + 6 + 12 letter sequences in which no letter follows itself. */
static void random_euler(ulna_test_rng *rng, int letters, char order[16])
{
    for (int i = 0; i < letters; i++)
        do
            order[i] = (char)('X' + ulna_test_rng_index(rng, 3));
        while (i > 0 && order[i] == order[i - 1]);
    order[letters] = 0;
}

/* Slides and turns in any order, at most three of each, no turn twice about the same axis in a row. */
static void random_sequence(ulna_test_rng *rng, char order[16])
{
    int slides = ulna_test_rng_index(rng, 4);
    int turns = ulna_test_rng_index(rng, 4);
    if (slides + turns == 0)
        turns = 1;
    int length = 0, axes_slid = 0;
    char last_turn = 0;
    while (slides + turns > 0) {
        int slide = ulna_test_rng_index(rng, slides + turns) < slides;
        char axis = (char)('x' + ulna_test_rng_index(rng, 3));
        if (slide ? axes_slid & 1 << (axis - 'x') : axis == last_turn)
            continue;
        order[length++] = slide ? 'T' : 'R';
        order[length++] = axis;
        if (slide) {
            axes_slid |= 1 << (axis - 'x');
            slides--;
        } else {
            last_turn = axis;
            turns--;
        }
    }
    order[length] = 0;
}

ulna_joint ulna_test_random_joint(ulna_test_rng *rng, ulna_joint_type type, double reversed, double turned)
{
    double axis[3], center[3];
    char order[16];
    random_direction(rng, axis);
    random_direction(rng, center);
    if (chance(rng, 0.3)) { /* along a coordinate axis, where code likes to be special */
        int k = ulna_test_rng_index(rng, 3);
        double sign = chance(rng, 0.5) ? 1 : -1;
        for (int i = 0; i < 3; i++)
            axis[i] = i == k ? sign : 0;
    }

    ulna_joint joint = ulna_joint_fixed();
    switch (type) {
    case ULNA_JOINT_REVOLUTE:
        joint = ulna_joint_revolute(axis[0], axis[1], axis[2]);
        break;
    case ULNA_JOINT_PRISMATIC:
        joint = ulna_joint_prismatic(axis[0], axis[1], axis[2]);
        break;
    case ULNA_JOINT_EULER:
        random_euler(rng, chance(rng, 0.7) ? 3 : 1 + ulna_test_rng_index(rng, 2), order);
        joint = ulna_joint_euler(order);
        break;
    case ULNA_JOINT_BALL:
        joint = ulna_joint_ball();
        break;
    case ULNA_JOINT_EXPMAP:
        joint = ulna_joint_expmap();
        break;
    case ULNA_JOINT_SWING_TWIST:
        joint = ulna_joint_swing_twist(axis, chance(rng, 0.3) ? NULL : center);
        break;
    case ULNA_JOINT_PLANAR:
        joint = ulna_joint_planar(axis[0], axis[1], axis[2]);
        break;
    case ULNA_JOINT_FREE_EULER:
        random_euler(rng, 3, order);
        joint = ulna_joint_free_euler(order);
        break;
    case ULNA_JOINT_FREE:
        joint = ulna_joint_free();
        break;
    case ULNA_JOINT_SEQUENCE:
        random_sequence(rng, order);
        joint = ulna_joint_sequence(order);
        break;
    case ULNA_JOINT_FIXED:
    case ULNA_JOINT_TYPE_COUNT:
        break;
    }
    joint.reversed = chance(rng, reversed);
    if (chance(rng, turned))
        ulna_test_random_rotation(rng, joint.frame);
    return joint;
}

/* ---- Trees ---- */

ulna_test_tree_options ulna_test_tree_options_default(void)
{
    return (ulna_test_tree_options){
        .min_bodies = 1,
        .max_bodies = 40,
        .joints = (1u << ULNA_JOINT_TYPE_COUNT) - 1,
        .root = -1,
        .fixed = 0.1,
        .reversed = 0.2,
        .turned = 0.5,
        .offset = 0.3,
        .limits = 0.3,
        .length_m = 0.5,
        .markers = 3,
    };
}

static void must(ulna_status status, const ulna_error *error)
{
    if (status != ULNA_OK)
        fail_msg("random tree: %s: %s", ulna_status_text(status), error->message);
}

static ulna_joint_type random_type(ulna_test_rng *rng, unsigned allowed)
{
    assert_true((allowed & ((1u << ULNA_JOINT_TYPE_COUNT) - 1)) != 0);
    for (;;) {
        int type = ulna_test_rng_index(rng, ULNA_JOINT_TYPE_COUNT);
        if (allowed & 1u << type)
            return (ulna_joint_type)type;
    }
}

/* Parent of the body number `rank` from the root, as a rank. */
static int random_parent(ulna_test_rng *rng, ulna_test_shape shape, int rank)
{
    switch (shape) {
    case ULNA_TEST_SHAPE_CHAIN:
        return rank - 1;
    case ULNA_TEST_SHAPE_STAR:
        return 0;
    case ULNA_TEST_SHAPE_BUSH:
        return ulna_test_rng_index(rng, rank);
    default:
        return chance(rng, 0.8) ? rank - 1 : ulna_test_rng_index(rng, rank);
    }
}

static void random_placement(ulna_test_rng *rng, const ulna_test_tree_options *options, double position[3],
                             double rotation[9], int *is_turned)
{
    ulna_test_rng_fill(rng, position, 3, -options->length_m, options->length_m);
    *is_turned = chance(rng, options->turned);
    if (*is_turned)
        ulna_test_random_rotation(rng, rotation);
}

static void dress_body(ulna_test_rng *rng, const ulna_test_tree_options *options, ulna_builder *builder, int body,
                       int is_root)
{
    ulna_error error;
    double position[3], rotation[9];
    int is_turned;

    random_placement(rng, options, position, rotation, &is_turned);
    if (is_root)
        for (int i = 0; i < 3; i++)
            position[i] += options->far_m * (i == 1 ? -0.6 : 0.565685424949238); /* unit length in all */
    must(ulna_builder_set_placement(builder, body, position, is_turned ? rotation : NULL, &error), &error);

    ulna_joint_type type = random_type(rng, options->joints);
    if (chance(rng, options->fixed))
        type = ULNA_JOINT_FIXED;
    if (is_root && options->root >= 0)
        type = (ulna_joint_type)options->root;
    ulna_joint joint = ulna_test_random_joint(rng, type, options->reversed, options->turned);
    must(ulna_builder_set_joint(builder, body, &joint, &error), &error);

    if (chance(rng, options->offset)) {
        random_placement(rng, options, position, rotation, &is_turned);
        must(ulna_builder_set_offset(builder, body, position, is_turned ? rotation : NULL, &error), &error);
    }

    int has_quaternion = type == ULNA_JOINT_BALL || type == ULNA_JOINT_FREE;
    int dofs = ulna_joint_dof_count(&joint, &error);
    for (int k = 0; k < dofs; k++) {
        must(ulna_builder_set_strength(builder, body, k, ulna_test_rng_uniform(rng, 0.1, 2), &error), &error);
        if (!has_quaternion && chance(rng, options->limits)) {
            double lower = chance(rng, 0.2) ? -INFINITY : ulna_test_rng_uniform(rng, -2, -0.1);
            double upper = chance(rng, 0.2) ? INFINITY : ulna_test_rng_uniform(rng, 0.1, 2);
            must(ulna_builder_set_limits(builder, body, k, lower, upper, &error), &error);
        }
    }
}

ulna_model *ulna_test_random_tree(ulna_test_rng *rng, const ulna_test_tree_options *options)
{
    ulna_test_tree_options chosen = options ? *options : ulna_test_tree_options_default();
    int count = chosen.min_bodies + ulna_test_rng_index(rng, chosen.max_bodies - chosen.min_bodies + 1);
    assert_true(count >= 1 && count <= MAX_BODIES);
    ulna_test_shape shape = chosen.shape;
    if (shape == ULNA_TEST_SHAPE_ANY)
        shape = (ulna_test_shape)(1 + ulna_test_rng_index(rng, ULNA_TEST_SHAPE_COUNT - 1));

    /* Half of the trees are added in a shuffled order, so that parents come after children: order[rank] = index. */
    int order[MAX_BODIES] = {0};
    for (int i = 0; i < count; i++)
        order[i] = i;
    if (chance(rng, 0.5))
        for (int i = count - 1; i > 0; i--) {
            int other = ulna_test_rng_index(rng, i + 1);
            int kept = order[i];
            order[i] = order[other];
            order[other] = kept;
        }

    ulna_error error;
    ulna_error_clear(&error);
    ulna_builder *builder = NULL;
    must(ulna_builder_create(NULL, &builder), &error);
    for (int i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "body%d", i);
        must(ulna_builder_add_body(builder, name, ULNA_NONE, NULL, &error), &error);
    }
    for (int rank = 0; rank < count; rank++) {
        if (rank > 0)
            must(ulna_builder_set_parent(builder, order[rank], order[random_parent(rng, shape, rank)], &error), &error);
        dress_body(rng, &chosen, builder, order[rank], rank == 0);
    }
    for (int m = 0; m < chosen.markers; m++) {
        char name[32];
        double position[3];
        snprintf(name, sizeof name, "marker%d", m);
        ulna_test_rng_fill(rng, position, 3, -chosen.length_m, chosen.length_m);
        must(ulna_builder_add_marker(builder, name, ulna_test_rng_index(rng, count), position,
                                     ulna_test_rng_uniform(rng, 0.1, 3), NULL, &error),
             &error);
    }

    for (int i = 0; chosen.masses > 0 && i < count; i++) {
        ulna_mass mass = {.mass = chance(rng, chosen.masses) ? ulna_test_rng_uniform(rng, 0.1, 3) : 0};
        ulna_test_rng_fill(rng, mass.center, 3, -chosen.length_m, chosen.length_m);
        must(ulna_builder_set_mass(builder, i, &mass, &error), &error);
    }

    ulna_model *model = NULL;
    must(ulna_builder_build(builder, NULL, &model, &error), &error);
    ulna_builder_destroy(builder);
    return model;
}

/* ---- Poses ---- */

static double draw_inside(ulna_test_rng *rng, double reach, double lower, double upper)
{
    double low = fmax(-reach, lower), high = fmin(reach, upper);
    return low < high ? ulna_test_rng_uniform(rng, low, high) : low;
}

void ulna_test_fill_q(ulna_test_rng *rng, const ulna_model *model, double *q)
{
    /* Whatever no degree of freedom moves directly is a quaternion: four in a row. */
    int count = ulna_model_coordinate_count(model);
    for (int i = 0; i < count; i++)
        q[i] = NAN;

    for (int dof = 0; dof < ulna_model_dof_count(model); dof++) {
        int coordinate = ulna_model_dof_coordinate(model, dof);
        if (coordinate < 0)
            continue;
        double reach = 2.5;
        ulna_joint_type type = ulna_model_body_joint(model, ulna_model_dof_body(model, dof))->type;
        if (ulna_model_dof_is_translation(model, dof))
            reach = 1;
        else if (type == ULNA_JOINT_EXPMAP)
            reach = 6 / 1.7320508075688772; /* the vector stays shorter than 6, a full turn being singular */
        else if (type == ULNA_JOINT_SWING_TWIST)
            reach = 6 / 1.4142135623730951;
        q[coordinate] = draw_inside(rng, reach, ulna_model_lower(model)[dof], ulna_model_upper(model)[dof]);
    }
    for (int i = 0; i < count; i++)
        if (isnan(q[i])) {
            random_quaternion(rng, q + i);
            i += 3;
        }
}

double *ulna_test_random_q(ulna_test_rng *rng, const ulna_model *model)
{
    double *q = ulna_test_numbers(ulna_model_coordinate_count(model));
    ulna_test_fill_q(rng, model, q);
    return q;
}

ulna_effector ulna_test_random_effector(ulna_test_rng *rng, const ulna_model *model)
{
    ulna_effector effector = {.body = ulna_test_rng_index(rng, ulna_model_body_count(model))};
    ulna_test_rng_fill(rng, effector.point, 3, -0.5, 0.5);
    return effector;
}

ulna_test_scene ulna_test_scene_open(ulna_test_rng *rng, const ulna_test_tree_options *options)
{
    ulna_test_scene scene = {.model = ulna_test_random_tree(rng, options)};
    scene.q = ulna_test_random_q(rng, scene.model);
    scene.nb = ulna_model_body_count(scene.model);
    scene.nv = ulna_model_dof_count(scene.model);
    scene.nq = ulna_model_coordinate_count(scene.model);
    assert_int_equal(ulna_pose_create(scene.model, NULL, &scene.pose, NULL), ULNA_OK);
    assert_int_equal(ulna_pose_forward(scene.pose, scene.q), ULNA_OK);
    return scene;
}

void ulna_test_scene_close(ulna_test_scene *scene)
{
    ulna_pose_destroy(scene->pose);
    ulna_model_destroy(scene->model);
    free(scene->q);
}

/* ---- Numbers ---- */

double *ulna_test_numbers(int count)
{
    double *values = calloc((size_t)count + 1, sizeof *values);
    assert_non_null(values);
    return values;
}

double ulna_test_largest(const double *values, int count)
{
    double result = 0;
    for (int i = 0; i < count; i++)
        result = fmax(result, fabs(values[i]));
    return result;
}

void ulna_test_assert_close(const double *a, const double *b, int count, double tolerance, const char *what)
{
    double allowed = tolerance * (1 + ulna_test_largest(b, count));
    for (int i = 0; i < count; i++)
        if (!(fabs(a[i] - b[i]) <= allowed))
            fail_msg("%s: entry %d of %d is %.17g, not %.17g (off by %.2g, allowed %.2g)", what, i, count, a[i], b[i],
                     fabs(a[i] - b[i]), allowed);
}

int ulna_test_jacobian_rows(const ulna_jacobian_options *options)
{
    return (options->rows & ULNA_ROWS_LINEAR ? 3 : 0) + (options->rows & ULNA_ROWS_ANGULAR ? 3 : 0);
}
