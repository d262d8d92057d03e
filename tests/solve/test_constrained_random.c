/* Ten thousand random problems with constraints: whatever the solver says about its answer must be so. */
#include "support_kept.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct tally {
    int solved, converged, infeasible, iterations, other;
    int kept_not_converged;
    int false_claims; /* printed, up to 20 */
} tally;

/* A random tree with masses, terms, and 1 to 6 constraints: most of them kept by one hidden pose, others from another pose. */
static ulna_problem *random_problem(ulna_test_rng *rng, ulna_model **model, double *length)
{
    ulna_test_tree_options options = ulna_test_tree_options_default();
    options.max_bodies = 12;
    *model = ulna_test_with_masses(rng, ulna_test_random_tree(rng, &options));
    ulna_problem *problem;
    assert_int_equal(ulna_problem_create(*model, NULL, &problem, NULL), ULNA_OK);
    *length = ulna_test_rng_uniform(rng, 0.3, 2);
    assert_int_equal(ulna_problem_set_length(problem, *length), ULNA_OK);
    for (int i = 0, count = 1 + ulna_test_rng_index(rng, 4); i < count; i++)
        ulna_test_add_term(rng, problem, (ulna_term_type)ulna_test_rng_index(rng, ULNA_TERM_TYPE_COUNT));
    ulna_test_add_term(rng, problem, ULNA_TERM_POSTURE);
    double *hidden = ulna_test_random_q(rng, *model), *other = ulna_test_random_q(rng, *model);
    int wanted = 1 + ulna_test_rng_index(rng, 6), is_mixed = ulna_test_rng_index(rng, 4) == 0;
    for (int attempt = 0; attempt < 40 && ulna_problem_constraint_count(problem) < wanted; attempt++) {
        ulna_test_constraint c;
        ulna_constraint_type type = (ulna_constraint_type)ulna_test_rng_index(rng, ULNA_CONSTRAINT_TYPE_COUNT);
        const double *q = is_mixed && ulna_test_rng_index(rng, 2) ? other : hidden;
        if (!ulna_test_random_constraint(rng, *model, q, type, &c))
            continue;
        ulna_error error;
        ulna_error_clear(&error);
        if (ulna_problem_add_constraint(problem, &c.given, NULL, &error) != ULNA_OK)
            fail_msg("%s", error.message);
    }
    free(hidden);
    free(other);
    assert_int_equal(ulna_problem_ready(problem, NULL), ULNA_OK);
    return problem;
}

/* No claim of the result may be false. */
static int is_true(ulna_solver *solver, const ulna_problem *problem, double length, const ulna_options *options,
                   const ulna_result *r, const double *q, int seed, int is_shown)
{
    const ulna_model *model = ulna_problem_model(problem);
    /* The penalty of a limits term has a kink in its second derivative: differences there are right to a part of their step. */
    double scale = ulna_model_length_scale(model), slack = 1e-7, weight = 0;
    for (int term = 0; term < ulna_problem_term_count(problem); term++) {
        slack = ulna_problem_term_type(problem, term) == ULNA_TERM_LIMITS ? 1e-3 : slack;
        weight = fmax(weight, ulna_problem_weight(problem, term));
    }
    ulna_test_claims claims = ulna_test_recompute(solver, problem, length, 1, q);
    /* Where a row bends within a distance of 1 / slope, as an aim close to its point, differences are off by its square. */
    slack = (slack + 1e-9 * claims.force * scale) * (1 + claims.slope * claims.slope);
    const double size = scale + ulna_test_largest(q, ulna_model_coordinate_count(model));
    int good = fabs(claims.f - r->f) <= 1e-12 * (1 + fabs(r->f)) && claims.limits <= 0 &&
               fabs(claims.violation - r->constraint_violation) <= 1e-12 * size &&
               claims.kkt <= r->kkt + slack * (1 + r->kkt);
    if (r->converged)
        good &= !r->infeasible && claims.error <= 10 * options->violation * scale + 1e-12 * size &&
                claims.kkt <= 1e-6 * weight * scale * scale + slack;
    if (r->infeasible)
        good &= claims.violation > options->violation * scale && claims.slope <= 1e-2;
    if (!good && is_shown)
        print_message(
            "seed %d: stop %d converged %d infeasible %d; f %.15g is %.15g; violation %.3e is %.3e, error %.3e; limits %.3e; "
            "kkt %.3e is %.3e; slope %.3e; scale %.3g\n",
            seed, (int)r->stop, r->converged, r->infeasible, r->f, claims.f, r->constraint_violation, claims.violation,
            claims.error, claims.limits, r->kkt, claims.kkt, claims.slope, scale);
    return good;
}

static void one(int seed, const char *method, int iterations, tally *t)
{
    ulna_test_rng rng = ulna_test_rng_seed((uint64_t)seed);
    ulna_model *model;
    double length;
    ulna_problem *problem = random_problem(&rng, &model, &length);
    ulna_options options = ulna_options_default();
    options.method = method;
    options.iterations = iterations;
    ulna_result r;
    double *q = ulna_test_random_q(&rng, model);
    if (ulna_problem_constraint_count(problem) > 0) {
        ulna_solver *solver;
        ulna_error error;
        ulna_error_clear(&error);
        if (ulna_solver_create(problem, &options, NULL, &solver, &error) != ULNA_OK)
            fail_msg("seed %d: %s", seed, error.message);
        ulna_status status = ulna_solve(solver, q, &r);
        if (status != ULNA_OK)
            fail_msg("seed %d: status %d", seed, (int)status);
        t->false_claims += !is_true(solver, problem, length, &options, &r, q, seed, t->false_claims < 20);
        t->solved++;
        t->converged += r.converged;
        t->infeasible += r.infeasible;
        t->iterations += r.iterations;
        t->other += !r.converged && !r.infeasible;
        t->kept_not_converged += !r.converged && !r.infeasible && r.constraint_violation < 1e-6;
        ulna_solver_destroy(solver);
    }
    free(q);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

static tally many(const char *method, int problems, int iterations)
{
    tally t = {0};
    for (int seed = 1; seed <= problems; seed++)
        one(seed, method, iterations, &t);
    print_message(
        "%s, %d problems: %d converged, %d told infeasible, %d neither (%d of them keep all), %.1f iterations\n",
        method, t.solved, t.converged, t.infeasible, t.other, t.kept_not_converged, t.iterations / (double)t.solved);
    assert_int_equal(t.false_claims, 0);
    return t;
}

static void no_claim_is_false(void **state)
{
    (void)state;
    tally t = many("hybrid", 10000, 0);
    assert_true(t.converged + t.infeasible > t.solved * 9 / 10);
}

static void dense_methods_claim_nothing_false(void **state)
{
    (void)state;
    tally t = many("lagrange", 800, 0);
    assert_true(t.converged + t.infeasible > t.solved * 8 / 10);
    many("virtual-work", 400, 1000); /* slow: many are not there yet */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_claim_is_false),
        cmocka_unit_test(dense_methods_claim_nothing_false),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
