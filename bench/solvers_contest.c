/* Problems, rounds and sums: see the header. */
#include "solvers_contest.h"

#include "support.h"
#include "ulna/kinematics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- problems --------------------------------------------------------------------------------------------------- */

static double uniform(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(2 * acos(-1) * uniform(state));
}

/* The root: a metre or so away, turned by anything. Other coordinates within their limits. */
static void random_pose(const ulna_model *model, double spread, uint64_t *state, double *q)
{
    const double *lower = ulna_model_lower(model), *upper = ulna_model_upper(model), pi = acos(-1);
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int j = 0; j < ulna_model_dof_count(model); j++) {
        int c = ulna_model_dof_coordinate(model, j);
        if (isfinite(lower[j]) && isfinite(upper[j]))
            q[c] += spread * (lower[j] + uniform(state) * (upper[j] - lower[j]) - q[c]);
        else
            q[c] += ulna_model_dof_is_translation(model, j) ? normal(state) : pi * (2 * uniform(state) - 1);
    }
}

static void disturb(const ulna_model *model, double error, uint64_t *state, double *q)
{
    for (int j = 0; j < ulna_model_dof_count(model); j++)
        q[ulna_model_dof_coordinate(model, j)] +=
            error * normal(state) * (ulna_model_dof_is_translation(model, j) ? 0.25 : 1);
    ulna_model_clamp(model, q);
}

int scenario_open(scenario *s, const scenario_recipe *recipe, const ulna_model *model)
{
    size_t n = (size_t)recipe->count, nq = (size_t)ulna_model_coordinate_count(model);
    size_t numbers = 3 * (size_t)ulna_model_marker_count(model);
    uint64_t state = recipe->seed;
    ulna_pose *pose = NULL;
    *s = (scenario){.name = recipe->name,
                    .text = recipe->text,
                    .count = recipe->count,
                    .nq = (int)nq,
                    .numbers = (int)numbers,
                    .noise = recipe->noise,
                    .goals = calloc(n * numbers, sizeof *s->goals),
                    .starts = calloc(n * nq, sizeof *s->starts),
                    .best = {calloc(n, sizeof **s->best), calloc(n, sizeof **s->best)}};
    if (!s->goals || !s->starts || !s->best[0] || !s->best[1] || ulna_pose_create(model, NULL, &pose, NULL) != ULNA_OK)
        return 0;
    for (size_t i = 0; i < n; i++) {
        double *q = s->starts + i * nq, *goals = s->goals + i * numbers;
        random_pose(model, recipe->spread, &state, q);
        ulna_pose_forward(pose, q);
        ulna_pose_markers(pose, goals);
        for (size_t k = 0; k < numbers; k++)
            goals[k] += recipe->noise * normal(&state);
        if (recipe->error > 0)
            disturb(model, recipe->error, &state, q);
        else
            memcpy(q, ulna_model_rest(model), nq * sizeof *q);
        s->best[0][i] = s->best[1][i] = recipe->noise > 0 ? (double)INFINITY : 0;
    }
    ulna_pose_destroy(pose);
    return 1;
}

void scenario_close(scenario *s)
{
    free(s->goals);
    free(s->starts);
    free(s->best[0]);
    free(s->best[1]);
}

/* ---- contenders ------------------------------------------------------------------------------------------------- */

int contender_open_method(contender *made, const char *name, const ulna_model *model, const ulna_options *options,
                          int problems)
{
    const ulna_method_info *info = ulna_method_find(options->method);
    if (!info)
        return 0;
    *made = (contender){.text = info->summary, .bounded = options->bounded && (info->flags & ULNA_METHOD_BOUNDED)};
    snprintf(made->name, sizeof made->name, "%s", name);
    made->outcomes = calloc((size_t)problems, sizeof *made->outcomes);
    if (made->outcomes && ulna_problem_create(model, NULL, &made->problem, NULL) == ULNA_OK &&
        ulna_problem_add_markers(made->problem, &made->first_term, NULL) == ULNA_OK &&
        ulna_problem_ready(made->problem, NULL) == ULNA_OK &&
        ulna_solver_create(made->problem, options, NULL, &made->solver, NULL) == ULNA_OK)
        return 1;
    contender_close(made);
    return 0;
}

int contender_open_peer(contender *made, const bench_peer *peer, const peer_skeleton *skeleton, const peer_stop *stop,
                        int problems)
{
    *made = (contender){.text = peer->text, .peer = peer, .bounded = peer->bounded};
    snprintf(made->name, sizeof made->name, "%s", peer->name);
    made->outcomes = calloc((size_t)problems, sizeof *made->outcomes);
    made->self = peer->open(peer, skeleton, stop);
    if (made->outcomes && made->self)
        return 1;
    contender_close(made);
    return 0;
}

void contender_close(contender *c)
{
    if (c->peer && c->self)
        c->peer->close(c->self);
    ulna_solver_destroy(c->solver);
    ulna_problem_destroy(c->problem);
    free(c->outcomes);
    *c = (contender){0};
}

/* ---- rounds ----------------------------------------------------------------------------------------------------- */

static int solve(contender *c, const scenario *s, const double *goals, double *q, outcome *got)
{
    if (c->peer) {
        peer_result result = {0};
        int good = c->peer->solve(c->self, goals, q, &result);
        *got = (outcome){.f = result.f, .iterations = result.iterations, .evaluations = result.evaluations};
        return good;
    }
    ulna_result result = {.f = (double)INFINITY};
    int good = ulna_problem_set_points(c->problem, c->first_term, s->numbers / 3, goals) == ULNA_OK &&
               ulna_solve(c->solver, q, &result) == ULNA_OK;
    *got = (outcome){
        .f = result.f, .iterations = result.iterations, .evaluations = result.evaluations, .stop = (int)result.stop};
    return good;
}

static double violation(const peer_skeleton *skeleton, const double *q)
{
    double most = 0;
    for (int j = 0; j < skeleton->nv; j++)
        most = fmax(most, fmax(skeleton->lower[j] - q[j], q[j] - skeleton->upper[j]));
    return most;
}

/* What reading the clock twice costs: a microsecond or more where it is a call into the system. */
static double clock_cost(void)
{
    double least = 1;
    for (int i = 0; i < 1000; i++) {
        double start = bench_now();
        least = fmin(least, bench_now() - start);
    }
    return least;
}

/* One problem, timed. What is kept of f is computed here from the q that came back, for all alike. */
static void solve_timed(contender *c, scenario *s, const peer_skeleton *skeleton, int i, double clock, double *q)
{
    const double *goals = s->goals + (size_t)i * (size_t)s->numbers;
    outcome got;
    memcpy(q, s->starts + (size_t)i * (size_t)s->nq, (size_t)s->nq * sizeof *q);
    double start = bench_now();
    int good = solve(c, s, goals, q, &got);
    double us = (bench_now() - start - clock) * 1e6;
    peer_forward(skeleton, q);
    double f = peer_errors(skeleton, goals, NULL);
    if (c->rounds == 0) {
        c->failed += !good;
        c->untrue += !(fabs(f - got.f) <= 1e-6 * f + 1e-6 * MET);
    }
    got.f = isfinite(f) ? f : (double)INFINITY;
    got.violation = violation(skeleton, q);
    memcpy(got.us, c->outcomes[i].us, sizeof got.us);
    got.us[c->rounds] = us;
    c->outcomes[i] = got;
    s->best[1][i] = fmin(s->best[1][i], got.f);
    if (got.violation <= 0)
        s->best[0][i] = fmin(s->best[0][i], got.f);
}

static void play_round(contender *c, scenario *s, const peer_skeleton *skeleton, double clock, double *q)
{
    int count = c->rounds ? c->used : s->count;
    double start = bench_now();
    if (c->rounds && c->spent * (c->rounds + 1) / c->rounds > c->seconds)
        return;
    for (int i = 0; i < count; i++) {
        solve_timed(c, s, skeleton, i, clock, q);
        c->used = i + 1 > c->used ? i + 1 : c->used;
        if (!c->rounds && bench_now() - start > c->seconds)
            break;
    }
    c->spent += bench_now() - start;
    c->rounds++;
}

void contest(scenario *s, const peer_skeleton *skeleton, contender *contenders, int count)
{
    double *q = calloc((size_t)s->nq, sizeof *q), clock = clock_cost();
    for (int round = 0; q && round < ROUNDS; round++)
        for (int i = 0; i < count; i++)
            play_round(&contenders[i], s, skeleton, clock, q);
    free(q);
}

/* ---- sums ------------------------------------------------------------------------------------------------------- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count == 0 ? (double)NAN : 0.5 * (values[count / 2] + values[(count - 1) / 2]);
}

static double shortest(const outcome *o, int rounds)
{
    double least = o->us[0];
    for (int r = 1; r < rounds; r++)
        least = fmin(least, o->us[r]);
    return least;
}

int contender_solved(const contender *c, const scenario *s, int i)
{
    return c->outcomes[i].f <= 1.001 * s->best[!c->bounded][i] + MET;
}

summary contender_summary(const contender *c, const scenario *s)
{
    summary sum = {.problems = c->used, .failed = c->failed, .untrue = c->untrue};
    double *us = calloc((size_t)s->count, sizeof *us), *f = calloc((size_t)s->count, sizeof *f);
    for (int i = 0; us && f && i < c->used; i++) {
        const outcome *o = &c->outcomes[i];
        us[i] = shortest(o, c->rounds);
        f[i] = o->f;
        sum.success_percent += 100.0 * contender_solved(c, s, i) / c->used;
        sum.in_limits_percent += 100.0 * (o->violation <= 0) / c->used;
        sum.iterations += (double)o->iterations / c->used;
        sum.evaluations += (double)o->evaluations / c->used;
        sum.us_mean += us[i] / c->used;
        sum.f_mean += o->f / c->used;
    }
    if (us && f) {
        sum.us_median = median(us, c->used);
        sum.f_median = median(f, c->used);
    }
    free(us);
    free(f);
    return sum;
}

comparison contenders_compare(const contender *ours, const contender *theirs, const scenario *s, int solved)
{
    const contender *both[2] = {ours, theirs};
    double *values = calloc(4 * (size_t)s->count, sizeof *values);
    comparison made = {.rounds = ours->rounds < theirs->rounds ? ours->rounds : theirs->rounds};
    for (int i = 0; values && i < ours->used && i < theirs->used; i++) {
        if (solved && !(contender_solved(ours, s, i) && contender_solved(theirs, s, i)))
            continue;
        if (!solved && !(ours->outcomes[i].f <= 1.001 * theirs->outcomes[i].f + MET))
            continue;
        for (int k = 0; k < 2; k++) {
            values[k * s->count + made.problems] = shortest(&both[k]->outcomes[i], made.rounds);
            values[(2 + k) * s->count + made.problems] = both[k]->outcomes[i].f;
        }
        made.problems++;
    }
    for (int k = 0; values && k < 2; k++) {
        made.us[k] = median(values + k * s->count, made.problems);
        made.f[k] = median(values + (2 + k) * s->count, made.problems);
    }
    free(values);
    return made;
}
