/*
 * What the experiments of the exact-Hessian paper share. Protocol: K. Erleben, S. Andrews, "Solving inverse kinematics using exact
 * Hessian matrices", Computers & Graphics 78, 2019, section 6; where the authors' published scripts differ from the text, the
 * scripts are followed: PCG with eps = 0.1 and b = 8 (the text: 24), LM as LMFsolve with Fletcher's rule.
 *
 * Quasi-Newton is fminunc, which starts from a multiple of the identity, so that the units of the variables decide how good it is: on
 * dg_03-05_02 with 10 iterations from 45 to 173 cm, where the paper has 23.78. How the authors scale their variables is not known. Here
 * BFGS starts from Gauss-Newton's diagonal, and a radian counts as half a metre: tuned on that take, between 0.4 and 0.7 m the error
 * differs little. BFGS from the identity over radians and centimetres stands beside it in Table 4.
 */
#include "cli/paper/hessian.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- methods --------------------------------------------------------------------------------------------------------- */

static void set_textbook(ulna_options *options)
{
    options->bfgs.start = ULNA_START_IDENTITY;
}

static void set_exact(ulna_options *options)
{
    options->pcg.fixed = 1;
    options->pcg.tolerance = 0.1;
    options->pcg.band_width = 8;
}

static void set_lm(ulna_options *options)
{
    options->lm.rule = ULNA_DAMPING_QUARTERS;
}

const rival rivals[RIVALS + 1] = {
    [RIVAL_QUASI_NEWTON] = {"quasi-Newton", "bfgs", NULL, 1},
    [RIVAL_EXACT] = {"exact Hessian", "newton-pcg", set_exact, 1},
    [RIVAL_LM] = {"LM", "lm-marquardt", set_lm, 0},
    [RIVAL_NEWTON] = {"newton (Ulna)", "newton", NULL, 1},
    [RIVAL_HYBRID] = {"hybrid (Ulna)", "hybrid", NULL, 1},
    [RIVAL_TEXTBOOK] = {"BFGS from identity", "bfgs", set_textbook, 1},
};

ulna_options hessian_options(const trial *how)
{
    ulna_options options = ulna_options_default();
    options.method = how->by->method;
    options.locked = how->take->locked;
    options.bounded = how->is_bounded;
    options.lower = how->is_bounded ? how->take->lower : NULL;
    options.upper = how->is_bounded ? how->take->upper : NULL;
    options.iterations = how->iterations;
    options.objective = how->objective;
    options.decrease = options.gradient = options.step = 0;
    if (how->by == &rivals[RIVAL_QUASI_NEWTON])
        options.strength = how->take->strength;
    if (how->by == &rivals[RIVAL_TEXTBOOK])
        options.strength = how->take->centimetres;
    if (how->by->set)
        how->by->set(&options);
    return options;
}

/* ---- one solve ------------------------------------------------------------------------------------------------------- */

ulna_status hessian_solve(const trial *how, ulna_problem *problem, int repeats, double *q, trial_result *found,
                          ulna_error *error)
{
    enum { ROOM = sizeof found->rows / sizeof *found->rows };
    ulna_options options = hessian_options(how);
    size_t nq = (size_t)ulna_model_coordinate_count(how->take->skeleton.model);
    double *start = malloc((nq + 1) * sizeof *start), seconds = (double)INFINITY;
    ulna_solver *solver = NULL;
    *found = (trial_result){0};
    if (!start)
        return cli_no_memory(error);
    memcpy(start, q, nq * sizeof *start);
    ulna_status status = ulna_solver_create(problem, &options, NULL, &solver, error);
    for (int i = 0; i < repeats && status == ULNA_OK; i++) {
        memcpy(q, start, nq * sizeof *q);
        status = ulna_solve(solver, q, &found->result);
        seconds = fmin(seconds, found->result.seconds);
    }
    options.trace = found->rows; /* a trace costs time: it is not measured */
    options.trace_capacity = ROOM;
    if (status == ULNA_OK)
        status = ulna_solver_set_options(solver, &options, error);
    memcpy(q, start, nq * sizeof *q);
    if (status == ULNA_OK)
        status = ulna_solve(solver, q, &found->result);
    if (repeats > 0)
        found->result.seconds = seconds;
    found->row_count = found->result.trace_count < ROOM ? found->result.trace_count : ROOM;
    for (int i = 1; i < found->row_count; i++)
        found->added_calls += found->rows[i].evaluations;
    ulna_solver_destroy(solver);
    free(start);
    return status;
}

ulna_status hessian_open_frame(const paper_take *take, int frame, int is_fixed, int is_bounded, ulna_problem **problem,
                               double *solved_cm2, ulna_error *error)
{
    const trial how = {take, &rivals[RIVAL_NEWTON], HESSIAN_MOST_ITERATIONS, 0, is_bounded};
    ulna_options options = hessian_options(&how);
    ulna_result result = {0};
    *solved_cm2 = HESSIAN_STOP_CM2;
    ulna_status status = paper_take_problem(take, frame, is_fixed, problem, error);
    if (status != ULNA_OK || !*problem || !is_fixed)
        return status;
    size_t nq = (size_t)ulna_model_coordinate_count(take->skeleton.model);
    double *q = malloc((nq + 1) * sizeof *q);
    if (!q)
        return cli_no_memory(error);
    memcpy(q, paper_take_pose(take, frame), nq * sizeof *q);
    status = ulna_solve_once(*problem, &options, q, &result, error);
    *solved_cm2 += result.f;
    free(q);
    return status;
}

ulna_status hessian_zero_start(const paper_take *take, int frame, double *q, ulna_error *error)
{
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(take->skeleton.model, NULL, &pose, error);
    if (status == ULNA_OK)
        status = ulna_take_zero_start(take->take, frame, pose, q);
    ulna_pose_destroy(pose);
    return status;
}

/* ---- frames of a kind ------------------------------------------------------------------------------------------------ */

/* Where some bodies are in a frame. */
typedef struct limbs {
    double root[3], hand[2][3], foot[2][3], elbow[2][3], knee[2][3], hip[2][3];
} limbs;

typedef struct limb_bodies {
    int root, hand[2], foot[2], elbow[2], knee[2], hip[2];
} limb_bodies;

static int find_either(const ulna_model *model, const char *a, const char *b)
{
    int body = ulna_model_find_body(model, a);
    body = body != ULNA_NONE ? body : ulna_model_find_body(model, b);
    return body != ULNA_NONE ? body : 0;
}

static limb_bodies find_limbs(const ulna_model *model)
{
    limb_bodies found = {.root = 0};
    for (int side = 0; side < 2; side++) {
        found.hand[side] = find_either(model, side ? "rhand" : "lhand", side ? "right_hand" : "left_hand");
        found.foot[side] = find_either(model, side ? "rfoot" : "lfoot", side ? "right_foot" : "left_foot");
        found.elbow[side] = find_either(model, side ? "rradius" : "lradius", side ? "right_forearm" : "left_forearm");
        found.knee[side] = find_either(model, side ? "rtibia" : "ltibia", side ? "right_shank" : "left_shank");
        found.hip[side] = find_either(model, side ? "rfemur" : "lfemur", side ? "right_thigh" : "left_thigh");
    }
    return found;
}

static ulna_status place_limbs(const paper_take *take, ulna_pose *pose, const limb_bodies *bodies, int frame, limbs *at)
{
    ulna_status status = ulna_pose_forward(pose, paper_take_pose(take, frame));
    if (status != ULNA_OK)
        return status;
    ulna_pose_body(pose, bodies->root, at->root, NULL);
    for (int side = 0; side < 2; side++) {
        ulna_pose_body(pose, bodies->hand[side], at->hand[side], NULL);
        ulna_pose_body(pose, bodies->foot[side], at->foot[side], NULL);
        ulna_pose_body(pose, bodies->elbow[side], at->elbow[side], NULL);
        ulna_pose_body(pose, bodies->knee[side], at->knee[side], NULL);
        ulna_pose_body(pose, bodies->hip[side], at->hip[side], NULL);
    }
    return ULNA_OK;
}

static double distance(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) + (a[2] - b[2]) * (a[2] - b[2]));
}

/* How far a body moved from one frame to another, relative to the root. */
static double moved(const limbs *from, const limbs *to, const double a[3], const double b[3])
{
    const double x[3] = {a[0] - from->root[0], a[1] - from->root[1], a[2] - from->root[2]};
    const double y[3] = {b[0] - to->root[0], b[1] - to->root[1], b[2] - to->root[2]};
    return distance(x, y);
}

/* A score of a frame for each kind: higher is more so. Y is up. */
typedef void (*scorer)(const limbs *before, const limbs *at, double *scores);

static void score_fight(const limbs *before, const limbs *at, double *scores)
{
    double hands =
        fmax(moved(before, at, before->hand[0], at->hand[0]), moved(before, at, before->hand[1], at->hand[1]));
    double feet =
        fmax(moved(before, at, before->foot[0], at->foot[0]), moved(before, at, before->foot[1], at->foot[1]));
    double walk = hypot(at->root[0] - before->root[0], at->root[2] - before->root[2]);
    double lifted = fmax(at->foot[0][1], at->foot[1][1]) - fmin(at->foot[0][1], at->foot[1][1]);
    scores[0] = lifted < 0.25 ? walk - 0.4 * hands : -1; /* walking */
    scores[1] = hands - feet;                            /* punching */
    scores[2] = feet + lifted;                           /* kicking */
}

static void score_workout(const limbs *before, const limbs *at, double *scores)
{
    (void)before;
    double across[2] = {at->hip[1][0] - at->hip[0][0], at->hip[1][2] - at->hip[0][2]};
    double width = hypot(across[0], across[1]), height = at->root[1];
    double ahead[2] = {-across[1] / width, across[0] / width};
    double feet = fabs(ahead[0] * (at->foot[0][0] - at->foot[1][0]) + ahead[1] * (at->foot[0][2] - at->foot[1][2]));
    double hands = fabs(ahead[0] * (at->hand[0][0] - at->hand[1][0]) + ahead[1] * (at->hand[0][2] - at->hand[1][2]));
    double apart = hypot(at->foot[0][0] - at->foot[1][0], at->foot[0][2] - at->foot[1][2]);
    scores[0] = at->hand[0][1] + at->hand[1][1] - 2 * height + apart; /* jumping jack */
    scores[1] = feet + hands;                                         /* skiing */
    scores[2] = height - 3 * fmin(distance(at->elbow[0], at->knee[1]), distance(at->elbow[1], at->knee[0]));
    scores[3] = -height; /* squat */
}

enum { APART = 60, LOOK_BACK = 4, KINDS = 4 };

/* The frame of the highest score that is not near one taken already; -1 if there is none. */
static int best_frame(const double *scores, int frames, int stride, const frame_choice *kinds, int kind_count)
{
    int best = -1;
    for (int f = LOOK_BACK; f < frames; f++) {
        int is_near = 0;
        for (int k = 0; k < kind_count; k++)
            for (int i = 0; i < kinds[k].count; i++)
                is_near |= abs(kinds[k].frames[i] - f) < APART;
        if (!is_near && (best < 0 || scores[(size_t)f * (size_t)stride] > scores[(size_t)best * (size_t)stride]))
            best = f;
    }
    return best;
}

static ulna_status choose(const paper_take *take, scorer score, int kind_count, int most, frame_choice *kinds,
                          ulna_error *error)
{
    ulna_pose *pose = NULL;
    limb_bodies bodies = find_limbs(take->skeleton.model);
    double *scores = calloc((size_t)take->frames, KINDS * sizeof *scores);
    limbs *at = calloc((size_t)take->frames, sizeof *at);
    ulna_status status =
        scores && at ? ulna_pose_create(take->skeleton.model, NULL, &pose, error) : cli_no_memory(error);
    for (int f = 0; f < take->frames && status == ULNA_OK; f++) {
        status = place_limbs(take, pose, &bodies, f, &at[f]);
        if (f >= LOOK_BACK)
            score(&at[f - LOOK_BACK], &at[f], scores + (size_t)f * KINDS);
    }
    for (int i = 0; i < most && status == ULNA_OK; i++)
        for (int k = 0; k < kind_count; k++) {
            int frame = best_frame(scores + k, take->frames, KINDS, kinds, kind_count);
            if (frame >= 0)
                kinds[k].frames[kinds[k].count++] = frame;
        }
    ulna_pose_destroy(pose);
    free(scores);
    free(at);
    return status;
}

ulna_status hessian_fight_frames(const paper_take *take, int most, frame_choice kinds[3], ulna_error *error)
{
    static const frame_choice of_paper[3] = {
        {"walking", {287, 321, 3375, 6538}, 4}, {"punching", {3612, 3624, 4005}, 3}, {"kicking", {489, 2469, 2842}, 3}};
    int is_papers = strcmp(take->name, "dg_03-02_01") == 0;
    for (int k = 0; k < 3; k++) {
        kinds[k] = (frame_choice){.kind = take->is_recorded ? of_paper[k].kind
                                          : k == 0          ? "walking"
                                          : k == 1          ? "fast hands"
                                                            : "fast feet"};
        for (int i = 0; is_papers && i < of_paper[k].count && i < most; i++)
            if (of_paper[k].frames[i] <= take->frames) /* MATLAB counts from 1 */
                kinds[k].frames[kinds[k].count++] = of_paper[k].frames[i] - 1;
    }
    return is_papers ? ULNA_OK : choose(take, score_fight, 3, most, kinds, error);
}

ulna_status hessian_workout_frames(const paper_take *take, frame_choice kinds[4], ulna_error *error)
{
    static const char *const names[KINDS] = {"jumping jack", "skiing", "elbow to knee", "squat"};
    for (int k = 0; k < KINDS; k++)
        kinds[k] = (frame_choice){.kind = names[k]};
    return choose(take, score_workout, KINDS, 1, kinds, error);
}

/* ---- takes ----------------------------------------------------------------------------------------------------------- */

static ulna_status first_take(paper_job *job, const char *const *names, paper_take **take, ulna_error *error)
{
    ulna_status status = paper_take_first(&job->data, names, take, error);
    if (status != ULNA_OK)
        return status;
    put_text(job->facts, "take", (*take)->name);
    if (strcmp((*take)->name, names[0]) != 0)
        paper_note(job, "The paper's take %s is not there: this is %s.", names[0], (*take)->about);
    return ULNA_OK;
}

ulna_status hessian_fight_take(paper_job *job, paper_take **take, ulna_error *error)
{
    static const char *const names[] = {"dg_03-02_01", "dg_03-02_02", NULL};
    return first_take(job, names, take, error);
}

ulna_status hessian_workout_take(paper_job *job, paper_take **take, ulna_error *error)
{
    static const char *const names[] = {"mm_03-05_02", "dg_03-05_02", NULL};
    return first_take(job, names, take, error);
}
