/* The convex-IK paper's relaxation in its three forms, and its rounding. DSDP takes up to 2 s for a hand, so there is
 * one; chains are quick. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "global/relaxation.h"
#include "math/math3.h"
#include "papers/paper.h"
#include "support.h"
#include "support_oracle.h"
#include "support_reduced.h"

/* ---- small things
 * ---------------------------------------------------------------------------------------------------- */

static void assert_near(double found, double wanted, double tolerance)
{
    if (!(fabs(found - wanted) <= tolerance))
        fail_msg("%.17g where %.17g was expected", found, wanted);
}

static void need_dsdp(void)
{
    if (!ulna_program_solvable()) {
        print_message("skipped: this build has no DSDP\n");
        skip();
    }
}

static void random_rotation(ulna_test_rng *rng, double R[9])
{
    double q[4];
    for (int i = 0; i < 4; i++)
        q[i] = ulna_test_rng_normal(rng);
    ulna_quaternion_to_rotation(q, R);
}

static double inner(const double a[9], const double b[9])
{
    double sum = 0;
    for (int i = 0; i < 9; i++)
        sum += a[i] * b[i];
    return sum;
}

static ulna_node *add(ulna_reduced *tree, ulna_edge edge, int parent)
{
    ulna_node *node = &tree->nodes[tree->count++];
    *node = (ulna_node){.edge = edge, .parent = parent, .dof = ULNA_NONE, .body = ULNA_NONE};
    return node;
}

static void add_hinge(ulna_reduced *tree, double x, double y, double z, double lower, double upper)
{
    ulna_node *node = add(tree, ULNA_EDGE_HINGE, tree->count - 1);
    node->axis[0] = x, node->axis[1] = y, node->axis[2] = z;
    node->lower = lower, node->upper = upper;
}

static void add_bone(ulna_reduced *tree, int parent, double x, double y, double z)
{
    ulna_node *node = add(tree, ULNA_EDGE_BONE, parent);
    node->v[0] = x, node->v[1] = y, node->v[2] = z;
}

static void aim(ulna_reduced *tree, int n, double weight, double x, double y, double z)
{
    ulna_node *node = &tree->nodes[n];
    node->weight = weight;
    node->goal[0] = x, node->goal[1] = y, node->goal[2] = z;
}

static void start_tree(ulna_reduced *tree, ulna_node *nodes)
{
    *tree = (ulna_reduced){.nodes = nodes, .length = 1, .unit = 1};
    add(tree, ULNA_EDGE_WORLD, ULNA_NONE);
}

/* Solves a form of a tree; `pose` (may be NULL) receives the rounding. */
static ulna_program_result solve_tree(const ulna_reduced *tree, ulna_paper_form form, double gap,
                                      ulna_reduced_pose *pose, double *spread)
{
    ulna_paper paper;
    ulna_error error = {0};
    ulna_program_result result;
    const ulna_program_options options = {200, gap};
    if (ulna_paper_create(tree, form, NULL, &paper, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    double *x = calloc((size_t)paper.program.variables, sizeof *x);
    assert_non_null(x);
    if (ulna_program_solve(&paper.program, &options, x, &result, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    const double widest = pose ? ulna_paper_round(&paper, x, pose) : 0;
    if (spread)
        *spread = widest;
    free(x);
    ulna_paper_release(&paper);
    return result;
}

/* ---- programs
 * -------------------------------------------------------------------------------------------------------- */

static void test_affine(void **state)
{
    (void)state;
    ulna_program p;
    ulna_program_begin(&p, NULL);
    ulna_affine x = ulna_program_variable(&p), y = ulna_program_variable(&p);
    const double factor[] = {2, 3, -2};
    ulna_affine sum = ulna_affine_mix(&p, 1, 3, factor, (const ulna_affine[]){y, x, ulna_affine_constant(5)});
    ulna_affine less = ulna_affine_mix(&p, 0, 2, (const double[]){1, -3}, (const ulna_affine[]){sum, x});
    assert_int_equal(sum.count, 2);
    assert_int_equal(less.count, 1); /* x is gone */
    const double at[] = {10, 100};
    assert_near(ulna_affine_value(&p, sum, at), 30 + 200 - 10 + 1, 0);
    assert_near(ulna_affine_value(&p, less, at), 200 - 9, 0);
    ulna_program_end(&p);
}

static void test_complement(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(3);
    for (int trial = 0; trial < 50; trial++) {
        double v[4 * 9], basis[81];
        ulna_test_rng_fill(&rng, v, 27, -1, 1);
        for (int i = 0; i < 9; i++)
            v[27 + i] = v[i] - 2 * v[9 + i]; /* no new direction */
        assert_int_equal(ulna_complement(9, 4, v, basis), 6);
        for (int i = 0; i < 6; i++) {
            for (int k = 0; k < 6; k++) {
                double dot = 0;
                for (int m = 0; m < 9; m++)
                    dot += basis[9 * i + m] * basis[9 * k + m];
                assert_near(dot, i == k, 1e-14);
            }
            for (int k = 0; k < 4; k++) {
                double dot = 0;
                for (int m = 0; m < 9; m++)
                    dot += basis[9 * i + m] * v[9 * k + m];
                assert_near(dot, 0, 1e-14);
            }
        }
    }
}

/* The 25 variables of the lift are products of elements of R; given those, every other entry must be one, too. */
static void test_lift(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(4);
    ulna_program p;
    ulna_affine R[9];
    ulna_program_begin(&p, NULL);
    ulna_paper_new_rotation(&p, R);
    ulna_paper_lift(&p, R);
    assert_int_equal(ulna_program_close(&p), ULNA_OK);
    assert_int_equal(p.variables, 9 + 25);
    int alone[10][10] = {{0}}, variable[10][10];
    for (size_t i = 0; i < p.entry_count; i++) {
        alone[p.entry[i].row][p.entry[i].column]++;
        variable[p.entry[i].row][p.entry[i].column] = p.entry[i].variable;
    }
    for (int trial = 0; trial < 20; trial++) {
        double r[10] = {1}, x[34], found[10][10] = {{0}};
        random_rotation(&rng, r + 1);
        memcpy(x, r + 1, 9 * sizeof *x);
        int set = 0;
        for (int i = 1; i < 10; i++)
            for (int k = 1; k <= i; k++)
                if (alone[i][k] == 1 && variable[i][k] >= 9) {
                    x[variable[i][k]] = r[i] * r[k];
                    set++;
                }
        assert_true(set >= 25);
        for (size_t i = 0; i < p.entry_count; i++) {
            const ulna_program_entry *e = &p.entry[i];
            found[e->row][e->column] += e->value * (e->variable == ULNA_CONSTANT ? 1 : x[e->variable]);
        }
        for (int i = 0; i < 10; i++)
            for (int k = 0; k <= i; k++)
                assert_near(found[i][k], r[i] * r[k], 1e-13);
    }
    ulna_program_end(&p);
}

/* Reads the text back and compares it with the program, entry for entry. */
static void test_sdpa_text(void **state)
{
    (void)state;
    ulna_node nodes[8];
    ulna_reduced tree;
    ulna_paper paper;
    char *text, *at;
    size_t length;
    start_tree(&tree, nodes);
    add_hinge(&tree, 0, 0, 1, -1, 1);
    add_bone(&tree, 1, 0.5, 0.25, 0);
    add_hinge(&tree, 0, 1, 0, -2, 1);
    add_bone(&tree, 3, 0.5, 0, 0);
    aim(&tree, 4, 2, 0.3, 0.4, 0.5);
    assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_REDUCED, NULL, &paper, NULL), ULNA_OK);
    assert_int_equal(ulna_sdpa_write(&paper.program, NULL, &text, &length), ULNA_OK);
    assert_int_equal(strlen(text), length);
    assert_non_null(at = strchr(text, '\n'));
    assert_int_equal(strtol(at, &at, 10), paper.program.variables);
    assert_int_equal(strtol(at, &at, 10), paper.program.blocks);
    for (int b = 0; b < paper.program.blocks; b++)
        assert_int_equal(strtol(at, &at, 10), paper.program.size[b]);
    double sum = 0;
    for (int v = 0; v < paper.program.variables; v++)
        sum += strtod(at, &at);
    assert_near(sum, 1, 0); /* the bound of the one observation */
    for (size_t i = 0; i < paper.program.entry_count; i++) {
        const ulna_program_entry *e = &paper.program.entry[i];
        long matrix = strtol(at, &at, 10), block = strtol(at, &at, 10), row = strtol(at, &at, 10),
             column = strtol(at, &at, 10);
        assert_int_equal(matrix, e->variable + 1);
        assert_int_equal(block, e->block + 1);
        assert_true(row == e->column + 1 && column == e->row + 1 && row <= column);
        assert_near(strtod(at, &at), matrix ? e->value : -e->value, 0);
    }
    assert_string_equal(at, "\n");
    free(text);
    ulna_paper_release(&paper);
}

/* ---- rounding
 * -------------------------------------------------------------------------------------------------------- */

static void test_nearest_rotation(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(5);
    for (int trial = 0; trial < 200; trial++) {
        double M[9], R[9], other[9], square[9], back[9];
        ulna_test_rng_fill(&rng, M, 9, -1, 1);
        if (trial % 10 == 0)
            memset(M, 0, sizeof M); /* a mean of all rotations */
        if (trial % 10 == 1)
            memcpy(M, (const double[9]){-1, 0, 0, 0, -1, 0, 0, 0, -1}, sizeof M); /* no mean of any */
        ulna_paper_nearest_rotation(M, R);
        ulna_transpose9(R, back);
        ulna_multiply9(R, back, square);
        for (int i = 0; i < 9; i++)
            assert_near(square[i], i % 4 == 0, 1e-14);
        double across[3];
        ulna_cross(R, R + 3, across);
        assert_near(ulna_dot(across, R + 6), 1, 1e-14);
        for (int i = 0; i < 100; i++) {
            random_rotation(&rng, other);
            assert_true(inner(M, other) <= inner(M, R) + 1e-14);
        }
    }
}

static void test_angles(void **state)
{
    (void)state;
    ulna_test_rng rng = ulna_test_rng_seed(6);
    for (int trial = 0; trial < 200; trial++) {
        double axis[3], w[3], R[9], angle = ulna_test_rng_uniform(&rng, -3.1, 3.1);
        for (int i = 0; i < 3; i++)
            axis[i] = ulna_test_rng_normal(&rng);
        double length = ulna_norm(axis);
        for (int i = 0; i < 3; i++) {
            axis[i] /= length;
            w[i] = angle * axis[i];
        }
        ulna_exp(w, R);
        assert_near(ulna_paper_angle(R, axis, -INFINITY, INFINITY), angle, 1e-13);
        assert_near(ulna_paper_angle(R, axis, -ULNA_PI, ULNA_PI), angle, 1e-13);
        assert_near(ulna_paper_angle(R, axis, 20, INFINITY), angle + (angle + 6 * ULNA_PI >= 20 ? 6 : 8) * ULNA_PI,
                    1e-12);
        /* a range elsewhere on the circle: the same posture, or the nearer limit */
        double lower = ulna_test_rng_uniform(&rng, -9, 9), upper = lower + ulna_test_rng_uniform(&rng, 0, 6);
        double found = ulna_paper_angle(R, axis, lower, upper), off = fabs(remainder(found - angle, 2 * ULNA_PI));
        assert_in_range((int)(found >= lower && found <= upper), 1, 1);
        double nearest = fmin(fabs(remainder(lower - angle, 2 * ULNA_PI)), fabs(remainder(upper - angle, 2 * ULNA_PI)));
        assert_true(off < 1e-12 || fabs(off - nearest) < 1e-12);
    }
}

/* ---- relaxations
 * ----------------------------------------------------------------------------------------------------- */

static ulna_oracle *load(int *count)
{
    ulna_oracle *oracles;
    *count = ulna_oracles_load(&oracles);
    assert_int_equal(*count, 160);
    return oracles;
}

/* F2 by the library's own interior-point method. */
static ulna_relax_result solve_on_tree(const ulna_reduced *tree)
{
    ulna_relaxation *relaxation;
    ulna_relax_result result;
    ulna_relax_options options = ulna_relax_options_default();
    ulna_error error = {0};
    options.relative = 1e-7;
    options.absolute = 1e-8;
    if (ulna_relaxation_create(tree, ULNA_RELAX_HULL, NULL, &relaxation, &error) != ULNA_OK)
        fail_msg("%s", error.message);
    assert_int_equal(ulna_relaxation_solve(relaxation, tree, &options, &result), ULNA_OK);
    ulna_relaxation_destroy(relaxation);
    return result;
}

/* The same F2 by DSDP and on the tree, on all fixed-base chains: two solvers that share nothing but the tree. */
static void test_hull_on_chains(void **state)
{
    (void)state;
    need_dsdp();
    int count, compared = 0;
    ulna_oracle *o = load(&count);
    for (int i = 0; i < count; i++) {
        if (strncmp(o[i].family, "chain", 5) != 0)
            continue;
        ulna_reduced tree;
        ulna_oracle_reduced(&o[i], &tree);
        ulna_program_result dsdp = solve_tree(&tree, ULNA_PAPER_HULL, 1e-9, NULL, NULL);
        ulna_relax_result own = solve_on_tree(&tree);
        double tolerance = fmax(1e-5 * fabs(dsdp.optimum), 3e-6);
        if (!(fabs(own.primal - dsdp.optimum) <= tolerance && own.bound <= dsdp.optimum + 1e-8 &&
              own.bound >= dsdp.optimum - tolerance))
            fail_msg("%s %d: DSDP %.10g, on the tree %.10g, bound %.10g", o[i].family, o[i].index, dsdp.optimum,
                     own.primal, own.bound);
        compared++;
        free(tree.nodes);
    }
    assert_int_equal(compared, 80);
    free(o);
}

/* F1 <= F2 <= the best cost known, on fixed bases with parallel and skew axes; and the bounds bracket the minimum. */
static void test_chains(void **state)
{
    (void)state;
    need_dsdp();
    int count, tighter = 0;
    ulna_oracle *o = load(&count);
    for (int i = 0; i < count; i++) {
        int is_noisy = strcmp(o[i].family, "chain3_all_noisy") == 0;
        if (strncmp(o[i].family, "chain", 5) != 0 || (o[i].index >= 2 && !is_noisy))
            continue;
        ulna_reduced tree;
        ulna_oracle_reduced(&o[i], &tree);
        ulna_program_result paper = solve_tree(&tree, ULNA_PAPER_REDUCED, 1e-9, NULL, NULL);
        ulna_program_result hull = solve_tree(&tree, ULNA_PAPER_HULL, 1e-9, NULL, NULL);
        assert_true(paper.bound <= paper.optimum && paper.optimum - paper.bound < 5e-8);
        assert_true(hull.bound <= hull.optimum && hull.optimum - hull.bound < 5e-8);
        assert_true(paper.bound <= hull.optimum);
        assert_true(hull.bound <= o[i].best);
        assert_true(hull.optimum > -1e-12); /* a sum of squares */
        tighter += hull.bound > paper.optimum + 1e-7;
        free(tree.nodes);
    }
    assert_true(tighter > 0);
    free(o);
}

/* F2 against the optimum that another solver found, F1 below it, on one hand. */
static void test_hand(void **state)
{
    (void)state;
    need_dsdp();
    int count;
    ulna_oracle *o = load(&count);
    for (int i = 0; i < count; i++) {
        if (strcmp(o[i].family, "hand_all_noisy") != 0 || o[i].index != 0)
            continue;
        ulna_reduced tree;
        ulna_oracle_reduced(&o[i], &tree);
        ulna_program_result paper = solve_tree(&tree, ULNA_PAPER_REDUCED, 1e-8, NULL, NULL);
        ulna_program_result hull = solve_tree(&tree, ULNA_PAPER_HULL, 1e-7, NULL, NULL);
        assert_true(hull.bound <= o[i].hull_opt && o[i].hull_opt - o[i].hull_gap <= hull.optimum);
        assert_true(paper.optimum < 0.9 * hull.bound); /* the paper's is looser: 0.0110 against 0.0129 */
        free(tree.nodes);
    }
    free(o);
}

/* What SDPA makes of it: F0 has no interior, so 1 % is a good answer. */
static double minimum_by_sdpa(const ulna_program *program)
{
    char folder[] = "/tmp/ulna-sdpa-XXXXXX", path[64], command[256], line[256], *text;
    size_t length;
    double found = NAN;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p.dat-s", folder);
    assert_int_equal(ulna_sdpa_write(program, NULL, &text, &length), ULNA_OK);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
    free(text);
    snprintf(command, sizeof command, "cd %s && sdpa -ds p.dat-s -o p.out -numThreads 1 >/dev/null 2>&1", folder);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/p.out", folder);
    assert_non_null(file = fopen(path, "r"));
    while (fgets(line, sizeof line, file))
        sscanf(line, "objValPrimal = %lf", &found);
    fclose(file);
    snprintf(command, sizeof command, "rm -r %s", folder);
    assert_int_equal(system(command), 0);
    return found + program->objective.constant;
}

static void test_literal(void **state)
{
    (void)state;
    need_dsdp();
    if (system("command -v sdpa >/dev/null 2>&1") != 0) {
        print_message("skipped: no sdpa (Debian: sdpa)\n");
        skip();
    }
    int count;
    ulna_oracle *o = load(&count);
    for (int i = 0; i < count; i++) {
        if (strncmp(o[i].family, "chain", 5) != 0 || !strstr(o[i].family, "all_noisy") || o[i].index >= 2)
            continue;
        ulna_reduced tree;
        ulna_paper literal;
        ulna_oracle_reduced(&o[i], &tree);
        assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_LITERAL, NULL, &literal, NULL), ULNA_OK);
        double F0 = minimum_by_sdpa(&literal.program),
               F1 = solve_tree(&tree, ULNA_PAPER_REDUCED, 1e-9, NULL, NULL).optimum;
        assert_near(F0, F1, 0.01 * F1);
        ulna_paper_release(&literal);
        free(tree.nodes);
    }
    free(o);
}

/* A slide between turns, by F2: a rail on a hinge reaches goals on and off its track, and the distance is exact. */
static void test_slide(void **state)
{
    (void)state;
    need_dsdp();
    for (int far = 0; far < 2; far++) {
        ulna_node nodes[8];
        ulna_reduced tree;
        ulna_reduced_pose pose;
        ulna_paper paper;
        double spread;
        start_tree(&tree, nodes);
        add_hinge(&tree, 0, 0, 1, -3, 3);
        add_bone(&tree, 1, 0.5, 0, 0);
        ulna_node *rail = add(&tree, ULNA_EDGE_TRANSLATION, 2);
        rail->axis[0] = 1, rail->lower = 0, rail->upper = 0.5;
        aim(&tree, 3, 1, 0, far ? 1.25 : 0.8, 0.1);
        assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
        ulna_program_result result = solve_tree(&tree, ULNA_PAPER_HULL, 1e-9, &pose, &spread);
        double least = 0.01 + (far ? 0.0625 : 0);
        assert_near(result.optimum, least, 1e-8);
        assert_near(pose.value[1], ULNA_PI / 2, 1e-2);
        if (far) /* nearer by, means of several postures will do as well */
            assert_near(ulna_test_reduced_cost(&tree, &pose), least, 1e-4);
        ulna_reduced_pose_release(NULL, &pose);
        assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_REDUCED, NULL, &paper, NULL), ULNA_ERR_UNSUPPORTED);
    }
}

/* Weights, turns and slides above all turns: a cart with a pole, whose angle two goals of different weight fight
 * over. */
static void test_cart(void **state)
{
    (void)state;
    need_dsdp();
    ulna_node nodes[8];
    ulna_reduced tree;
    ulna_reduced_pose pose;
    double spread;
    start_tree(&tree, nodes);
    ulna_node *rail = add(&tree, ULNA_EDGE_TRANSLATION, 0);
    rail->axis[0] = 1, rail->lower = -INFINITY, rail->upper = 2;
    add_hinge(&tree, 0, 0, 1, -INFINITY, INFINITY);
    add_bone(&tree, 2, 1, 0, 0);
    aim(&tree, 3, 3, 5, 0, 0); /* the cart stops at 2, the pole reaches 3: 3 * 2^2 */
    tree.nodes[2].has_rotation_cost = 1;
    tree.nodes[2].rotation_cost[0] = -1; /* and likes its x along x: -1 */
    assert_int_equal(ulna_reduced_pose_create(&tree, NULL, &pose), ULNA_OK);
    ulna_program_result result = solve_tree(&tree, ULNA_PAPER_REDUCED, 1e-9, &pose, &spread);
    assert_near(result.optimum, 11, 1e-6);
    assert_near(result.bound, 11, 1e-6);
    assert_near(pose.value[1], 2, 1e-6);
    assert_near(pose.value[2], 0, 1e-3);
    assert_near(spread, 0, 1e-3);
    ulna_reduced_pose_release(NULL, &pose);
}

/* ---- degenerate trees
 * ------------------------------------------------------------------------------------------------ */

/* The minimum of F1, which must be that of the problem: nothing here is hard. */
static void expect_minimum(const ulna_reduced *tree, double minimum)
{
    ulna_reduced_pose pose;
    assert_int_equal(ulna_reduced_pose_create(tree, NULL, &pose), ULNA_OK);
    ulna_program_result result = solve_tree(tree, ULNA_PAPER_REDUCED, 1e-8, &pose, NULL);
    assert_near(result.optimum, minimum, 1e-6);
    for (int n = 0; n < tree->count; n++)
        assert_true(isfinite(pose.value[n]) && ulna_all_finite(pose.quaternion[n], 4));
    for (int n = 0; n < tree->count; n++)
        if (tree->nodes[n].edge == ULNA_EDGE_HINGE)
            assert_true(pose.value[n] >= tree->nodes[n].lower && pose.value[n] <= tree->nodes[n].upper);
    ulna_reduced_pose_release(NULL, &pose);
}

static void test_degenerate(void **state)
{
    (void)state;
    need_dsdp();
    ulna_node nodes[16];
    ulna_reduced tree;

    /* one observation, a free root: everything is open */
    start_tree(&tree, nodes);
    add(&tree, ULNA_EDGE_FREE, 0);
    add_bone(&tree, 1, 0.3, 0.2, 0.1);
    aim(&tree, 2, 1, 4, -5, 6);
    expect_minimum(&tree, 0);

    /* three in a line, on a straight skeleton: the turn about it is open */
    add_bone(&tree, 1, 0.6, 0.4, 0.2);
    aim(&tree, 1, 1, 4, -5, 6);
    aim(&tree, 2, 1, 4, -5, 6 + sqrt(0.14));
    aim(&tree, 3, 1, 4, -5, 6 + 2 * sqrt(0.14));
    expect_minimum(&tree, 0);

    /* only orientations: the place is open */
    start_tree(&tree, nodes);
    add(&tree, ULNA_EDGE_FREE, 0);
    add_hinge(&tree, 0, 0, 1, -1, 1);
    tree.nodes[2].has_rotation_cost = 1;
    tree.nodes[2].rotation_cost[4] = -2;
    expect_minimum(&tree, -2);

    /* a hinge that cannot move, and one that hardly can, below one that can (NARROWEST makes up for 1 %) */
    start_tree(&tree, nodes);
    add_hinge(&tree, 0, 0, 1, -2, 2);
    add_bone(&tree, 1, 1, 0, 0);
    add_hinge(&tree, 0, 1, 0, 0.5, 0.5);
    add_hinge(&tree, 1, 0, 0, -1e-9, 1e-9);
    add_bone(&tree, 4, 0, 0, 1);
    aim(&tree, 5, 1, 1 + sin(0.5), 0, cos(0.5));
    expect_minimum(&tree, 0);

    /* parallel axes below a fixed base, one of them turned round, and a ball */
    start_tree(&tree, nodes);
    add_hinge(&tree, 0, 0, 1, -2, 2);
    add_bone(&tree, 1, 1, 0, 0);
    add_hinge(&tree, 0, 0, -1, -2, 2);
    add_bone(&tree, 3, 1, 0, 0);
    add(&tree, ULNA_EDGE_BALL, 4);
    add_bone(&tree, 5, 0.5, 0, 0);
    aim(&tree, 6, 1, 0, 0, 3);   /* reach 2 in the plane, and 0.5 */
    aim(&tree, 4, 100, 0, 0, 0); /* stay at the origin */
    ulna_program_result result = solve_tree(&tree, ULNA_PAPER_REDUCED, 1e-8, NULL, NULL);
    double stiff = 6.25; /* the plane holds z = 0 */
    assert_near(result.optimum, stiff, 1e-5);
}

static void test_refused_trees(void **state)
{
    (void)state;
    ulna_node nodes[8];
    ulna_reduced tree;
    ulna_paper paper;
    ulna_error error = {0};
    start_tree(&tree, nodes);
    add_hinge(&tree, 0, 0, 1, -1, 1);
    add_bone(&tree, 1, 1, 0, 0);
    assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_REDUCED, NULL, &paper, &error), ULNA_ERR_STATE);
    assert_string_equal(error.message, "there is no goal");
    aim(&tree, 2, 1, NAN, 0, 0);
    assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_REDUCED, NULL, &paper, &error), ULNA_ERR_NUMBER);
    aim(&tree, 2, 1, 1, 0, 0);
    tree.nodes[1].lower = 2;
    assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_REDUCED, NULL, &paper, &error), ULNA_ERR_ARGUMENT);
    tree.nodes[1].edge = ULNA_EDGE_TRANSLATION;
    tree.nodes[1].lower = -1;
    assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_LITERAL, NULL, &paper, &error), ULNA_OK);
    ulna_paper_release(&paper);
    tree.nodes[1].edge = ULNA_EDGE_BONE;
    assert_int_equal(ulna_paper_create(&tree, ULNA_PAPER_HULL, NULL, &paper, &error), ULNA_ERR_STATE);
    assert_string_equal(error.message, "nothing can move");
    ulna_paper_release(&paper); /* harmless */
}

/* ---- memory
 * ---------------------------------------------------------------------------------------------------------- */

static ulna_status write_and_solve(const ulna_reduced *tree, ulna_paper_form form, const ulna_allocator *allocator)
{
    const ulna_program_options options = {100, 1e-6};
    ulna_program_result result;
    ulna_paper paper;
    char *text = NULL;
    size_t length;
    double x[512];
    ulna_status status = ulna_paper_create(tree, form, allocator, &paper, NULL);
    if (status == ULNA_OK)
        status = ulna_sdpa_write(&paper.program, allocator, &text, &length);
    if (text)
        allocator->release(allocator->context, text, length + 1);
    if (status == ULNA_OK && form != ULNA_PAPER_LITERAL && ulna_program_solvable())
        status = ulna_program_solve(&paper.program, &options, x, &result, NULL);
    ulna_paper_release(&paper);
    return status;
}

static void test_memory(void **state)
{
    (void)state;
    ulna_node nodes[8];
    ulna_reduced tree;
    start_tree(&tree, nodes);
    add_hinge(&tree, 0, 0, 1, -1, 1);
    add_bone(&tree, 1, 1, 0, 0);
    add_hinge(&tree, 0, 1, 0, -1, 1);
    add_bone(&tree, 3, 1, 0, 0);
    aim(&tree, 4, 1, 1, 1, 1);
    for (ulna_paper_form form = ULNA_PAPER_LITERAL; form <= ULNA_PAPER_HULL; form++)
        for (long fail = 0;; fail++) {
            ulna_test_memory memory = {.fail_at = fail};
            ulna_allocator allocator = ulna_test_allocator(&memory);
            ulna_status status = write_and_solve(&tree, form, &allocator);
            ulna_test_memory_check(&memory);
            assert_int_equal(status, memory.failed ? ULNA_ERR_MEMORY : ULNA_OK);
            if (!memory.failed)
                break;
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_affine),
        cmocka_unit_test(test_complement),
        cmocka_unit_test(test_lift),
        cmocka_unit_test(test_sdpa_text),
        cmocka_unit_test(test_nearest_rotation),
        cmocka_unit_test(test_angles),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(test_hull_on_chains)),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(test_chains)),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(test_hand)),
        ulna_test_needs("../oracles/global-ik", cmocka_unit_test(test_literal)),
        cmocka_unit_test(test_slide),
        cmocka_unit_test(test_cart),
        cmocka_unit_test(test_degenerate),
        cmocka_unit_test(test_refused_trees),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
