/* The reach solver beside Orocos KDL, on the same problems, a block of each in turn. See reach_peers.h. */
#include "reach_peers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/algorithms.h"
#include "ulna/kinematics.h"
#include "ulna/reach.h"
#include "ulna/sample.h"

#define PI 3.14159265358979323846
#define NEAR 0.1 /* rad or m: standard deviation of near starts */

enum { ROBOTS = 4 };
static const reach_robot recorded[ROBOTS] = {
    {"panda", "urdf/panda.urdf", "panda_hand_tcp"},
    {"iiwa", "urdf/kuka_iiwa_bullet.urdf", "lbr_iiwa_link_7"},
    {"ur5", "urdf/ur5_robot.urdf", "tool0"},
    {"jaco", "urdf/kinova_jaco.urdf", "j2s6s200_end_effector"},
};

const reach_robot *reach_robots(int *count)
{
    static reach_robot found[ROBOTS];
    char names[64] = "", path[2048];
    *count = 0;
    for (int i = 0; i < ROBOTS; i++) {
        size_t length = strlen(names);
        bench_data_path(path, sizeof path, recorded[i].file);
        if (access(path, R_OK) != 0)
            continue;
        snprintf(names + length, sizeof names - length, "%s%s", length ? ", " : "", recorded[i].name);
        found[(*count)++] = recorded[i];
    }
    if (*count) {
        bench_data_say("URDF files: %s", names);
    } else {
        bench_data_say("the built-in arm: no URDF file was found (docs/test-data.md)");
        found[(*count)++] = (reach_robot){"arm", NULL, "flange"};
    }
    return found;
}

ulna_model *reach_robot_load(const reach_robot *robot)
{
    ulna_model *model = NULL;
    char path[2048];
    if (robot->file) {
        bench_data_path(path, sizeof path, robot->file);
        (void)ulna_model_load(path, NULL, &model, NULL);
    } else {
        (void)ulna_sample_create(robot->name, NULL, &model, NULL);
    }
    return model;
}

/* ---- problems -------------------------------------------------------------------------------------------------------- */

/* Limits of a degree of freedom, a turn or two metres where there are none. */
static void range_of(const ulna_model *model, int dof, double *low, double *high)
{
    double reach = ulna_model_dof_is_translation(model, dof) ? 1 : PI;
    *low = fmax(ulna_model_lower(model)[dof], -reach);
    *high = fmin(ulna_model_upper(model)[dof], reach);
    if (isfinite(ulna_model_lower(model)[dof]) && isfinite(ulna_model_upper(model)[dof])) {
        *low = ulna_model_lower(model)[dof];
        *high = ulna_model_upper(model)[dof];
    }
}

static void draw(const ulna_model *model, uint64_t *random, double *q)
{
    memcpy(q, ulna_model_rest(model), (size_t)ulna_model_coordinate_count(model) * sizeof *q);
    for (int d = 0; d < ulna_model_dof_count(model); d++) {
        double low, high;
        range_of(model, d, &low, &high);
        q[ulna_model_dof_coordinate(model, d)] = low + (high - low) * ulna_random_uniform(random);
    }
    ulna_model_couple(model, q);
}

int reach_problems_make(const ulna_model *model, int tip, int count, int is_near, uint64_t seed, reach_problems *made)
{
    size_t n = (size_t)count, nq = (size_t)ulna_model_coordinate_count(model);
    ulna_pose *pose = NULL;
    *made = (reach_problems){.count = count, .nq = (int)nq};
    made->q = calloc(n * nq, sizeof *made->q);
    made->start = calloc(n * nq, sizeof *made->start);
    made->position = calloc(n, sizeof *made->position);
    made->rotation = calloc(n, sizeof *made->rotation);
    if (!made->q || !made->start || !made->position || !made->rotation ||
        ulna_pose_create(model, NULL, &pose, NULL) != ULNA_OK)
        return 0;
    for (size_t i = 0; i < n; i++) {
        double *q = made->q + i * nq, *start = made->start + i * nq;
        draw(model, &seed, q);
        ulna_pose_forward(pose, q);
        ulna_pose_body(pose, tip, made->position[i], made->rotation[i]);
        if (!is_near) {
            draw(model, &seed, start);
            continue;
        }
        for (size_t c = 0; c < nq; c++)
            start[c] = q[c] + NEAR * ulna_random_normal(&seed);
        ulna_model_clamp(model, start);
    }
    ulna_pose_destroy(pose);
    return 1;
}

void reach_problems_release(reach_problems *problems)
{
    free(problems->q);
    free(problems->start);
    free(problems->position);
    free(problems->rotation);
}

void reach_pose_error(const double position[3], const double rotation[9], const double goal_position[3],
                      const double goal_rotation[9], double *metres, double *radians)
{
    double square = 0, trace = 0, w[3] = {0};
    for (int i = 0; i < 3; i++) {
        square += (position[i] - goal_position[i]) * (position[i] - goal_position[i]);
        for (int k = 0; k < 3; k++)
            trace += rotation[3 * k + i] * goal_rotation[3 * k + i];
    }
    for (int k = 0; k < 3; k++) { /* R = rotationT goal: twice the axis times the sine */
        w[0] += rotation[3 * k + 2] * goal_rotation[3 * k + 1] - rotation[3 * k + 1] * goal_rotation[3 * k + 2];
        w[1] += rotation[3 * k] * goal_rotation[3 * k + 2] - rotation[3 * k + 2] * goal_rotation[3 * k];
        w[2] += rotation[3 * k + 1] * goal_rotation[3 * k] - rotation[3 * k] * goal_rotation[3 * k + 1];
    }
    *metres = sqrt(square);
    *radians = atan2(sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), trace - 1);
}

/* The quaternion (x, y, z, w) of a rotation: from its largest diagonal sum. */
ulna_reach_goal reach_goal_of(const double position[3], const double r[9])
{
    ulna_reach_goal goal = {{position[0], position[1], position[2]}, {0}};
    double *q = goal.rotation, trace = r[0] + r[4] + r[8];
    if (trace > 0) {
        q[3] = 1 + trace;
        q[0] = r[7] - r[5];
        q[1] = r[2] - r[6];
        q[2] = r[3] - r[1];
        return goal;
    }
    int i = r[0] > r[4] ? (r[0] > r[8] ? 0 : 2) : (r[4] > r[8] ? 1 : 2), j = (i + 1) % 3, k = (i + 2) % 3;
    q[i] = 1 + r[4 * i] - r[4 * j] - r[4 * k];
    q[j] = r[3 * i + j] + r[3 * j + i];
    q[k] = r[3 * i + k] + r[3 * k + i];
    q[3] = r[3 * k + j] - r[3 * j + k];
    return goal;
}

#ifdef ULNA_BENCH_KDL

/* ---- our solver -------------------------------------------------------------------------------------------------------- */

typedef struct our_solver {
    ulna_reach *reach;
    ulna_reach_work *work;
} our_solver;

static int our_open(const ulna_model *model, int tip, our_solver *s)
{
    ulna_reach_tip frame = ulna_reach_tip_default(tip);
    *s = (our_solver){0};
    return ulna_reach_create(model, 1, &frame, NULL, NULL, &s->reach, NULL) == ULNA_OK &&
           ulna_reach_work_create(s->reach, NULL, &s->work, NULL) == ULNA_OK;
}

static void our_close(our_solver *s)
{
    ulna_reach_work_destroy(s->work);
    ulna_reach_destroy(s->reach);
}

/* ---- one robot ----------------------------------------------------------------------------------------------------------- */

enum { BLOCK = 100 }; /* problems in turn; in small ones ours would only measure how long it takes to warm the caches */

typedef struct contest {
    const reach_robot *robot;
    ulna_model *model;
    int tip;
    ulna_pose *pose;
    peer_kdl *kdl;
    int coordinate[32]; /* of the model, for each joint of KDL's chain */
    double *q;          /* BLOCK x nq */
} contest;

static void contest_close(contest *c)
{
    free(c->q);
    ulna_pose_destroy(c->pose);
    ulna_model_destroy(c->model);
    if (c->kdl)
        peer_kdl_close(c->kdl);
}

static int contest_open(const reach_robot *robot, contest *c)
{
    char path[2048];
    double low[32], high[32];
    *c = (contest){.robot = robot, .model = robot->file ? reach_robot_load(robot) : NULL};
    if (!c->model)
        return 0;
    bench_data_path(path, sizeof path, robot->file);
    c->tip = ulna_model_find_body(c->model, robot->tip);
    c->kdl = peer_kdl_open(path, robot->tip);
    c->q = calloc(BLOCK * (size_t)ulna_model_coordinate_count(c->model), sizeof *c->q);
    if (!c->kdl || !c->q || peer_kdl_joint_count(c->kdl) > 32 ||
        ulna_pose_create(c->model, NULL, &c->pose, NULL) != ULNA_OK)
        return 0;
    for (int i = 0; i < peer_kdl_joint_count(c->kdl); i++) {
        int body = ulna_model_find_joint(c->model, peer_kdl_joint_name(c->kdl, i)), dof;
        if (body == ULNA_NONE)
            return 0;
        ulna_model_body_dofs(c->model, body, &dof);
        ulna_model_body_coordinates(c->model, body, &c->coordinate[i]);
        range_of(c->model, dof, &low[i], &high[i]);
    }
    peer_kdl_set_limits(c->kdl, low, high);
    return 1;
}

static void to_kdl(const contest *c, const double *q, double *joints)
{
    for (int i = 0; i < peer_kdl_joint_count(c->kdl); i++)
        joints[i] = q[c->coordinate[i]];
}

/* The largest difference of our frames from KDL's, m or entries of rotations. */
static double frames_differ(const contest *c, const reach_problems *p)
{
    double worst = 0;
    for (int i = 0; i < p->count; i++) {
        double joints[32], position[3], rotation[9];
        to_kdl(c, p->q + (size_t)i * (size_t)p->nq, joints);
        peer_kdl_forward(c->kdl, joints, position, rotation);
        for (int k = 0; k < 3; k++)
            worst = fmax(worst, fabs(position[k] - p->position[i][k]));
        for (int k = 0; k < 9; k++)
            worst = fmax(worst, fabs(rotation[k] - p->rotation[i][k]));
    }
    return worst;
}

/* Inside the limits, 1e-6 m and 1e-6 rad by plain forward kinematics. */
static int is_solved(contest *c, const reach_problems *p, int i, const double *q)
{
    double position[3], rotation[9], metres, radians;
    for (int d = 0; d < ulna_model_dof_count(c->model); d++) {
        double x = q[ulna_model_dof_coordinate(c->model, d)];
        if (!(x >= ulna_model_lower(c->model)[d] - 1e-9 && x <= ulna_model_upper(c->model)[d] + 1e-9))
            return 0;
    }
    ulna_pose_forward(c->pose, q);
    ulna_pose_body(c->pose, c->tip, position, rotation);
    reach_pose_error(position, rotation, p->position[i], p->rotation[i], &metres, &radians);
    return metres <= 1e-6 && radians <= 1e-6;
}

typedef struct tally {
    double seconds;
    int solved;
} tally;

/* A clock costs a quarter of a microsecond: it is looked at once for all of them. */
static void our_block(contest *c, our_solver *ours, const reach_problems *p, int first, int last, tally *t)
{
    ulna_reach_goal goals[BLOCK];
    size_t nq = (size_t)p->nq;
    for (int i = first; i < last; i++)
        goals[i - first] = reach_goal_of(p->position[i], p->rotation[i]);
    double before = bench_now();
    for (int i = first; i < last; i++)
        ulna_reach_solve(ours->work, &goals[i - first], p->start + (size_t)i * nq, c->q + (size_t)(i - first) * nq,
                         NULL);
    t->seconds += bench_now() - before;
    for (int i = first; i < last; i++)
        t->solved += is_solved(c, p, i, c->q + (size_t)(i - first) * nq);
}

static void kdl_block(contest *c, peer_kdl_method method, const reach_problems *p, int first, int last,
                      uint64_t *random, tally *t)
{
    for (int i = first; i < last; i++) {
        double start[32], joints[32];
        to_kdl(c, p->start + (size_t)i * (size_t)p->nq, start);
        double before = bench_now();
        int starts = peer_kdl_solve(c->kdl, method, p->position[i], p->rotation[i], start, random, joints);
        t->seconds += bench_now() - before;
        memcpy(c->q, p->start + (size_t)i * (size_t)p->nq, (size_t)p->nq * sizeof *c->q);
        for (int k = 0; starts && k < peer_kdl_joint_count(c->kdl); k++)
            c->q[c->coordinate[k]] = joints[k];
        t->solved += starts && is_solved(c, p, i, c->q);
    }
}

static void add(bench_report *report, const char *what, const contest *c, double value, const char *note)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s", what, c->robot->name);
    bench_add(report, name, value, note);
}

/* NR_JL is ten times slower again: a tenth of the problems will do. */
static void run(contest *c, const reach_problems *p, bench_report *report, tally sums[2])
{
    enum { METHODS = 2, TENTH = 10 };
    static const char *const names[METHODS] = {"lma", "nr_jl"};
    our_solver ours;
    tally own = {0}, own_tenth = {0}, theirs[METHODS] = {{0}};
    uint64_t random = 7;
    if (!our_open(c->model, c->tip, &ours)) {
        our_close(&ours);
        return;
    }
    for (int first = 0; first < p->count; first += BLOCK) {
        int last = first + BLOCK < p->count ? first + BLOCK : p->count;
        our_block(c, &ours, p, first, last, &own);
        kdl_block(c, PEER_KDL_LMA, p, first, last, &random, &theirs[PEER_KDL_LMA]);
        if (first < p->count / TENTH) {
            our_block(c, &ours, p, first, last, &own_tenth);
            kdl_block(c, PEER_KDL_NR_JL, p, first, last, &random, &theirs[PEER_KDL_NR_JL]);
        }
    }
    int tenth = (p->count / TENTH + BLOCK - 1) / BLOCK * BLOCK;
    add(report, "beside_kdl_us", c, 1e6 * own.seconds / p->count, "ours, any solution, mean us beside KDL");
    add(report, "beside_kdl_percent", c, 100.0 * own.solved / p->count, "ours, solved inside the limits, %");
    for (int m = 0; m < METHODS; m++) {
        char what[32];
        int count = m == PEER_KDL_LMA ? p->count : tenth;
        double us = 1e6 * (m == PEER_KDL_LMA ? own.seconds : own_tenth.seconds) / count;
        snprintf(what, sizeof what, "kdl_%s_us", names[m]);
        add(report, what, c, 1e6 * theirs[m].seconds / count, "KDL, up to 100 restarts, mean us");
        snprintf(what, sizeof what, "kdl_%s_percent", names[m]);
        add(report, what, c, 100.0 * theirs[m].solved / count, "KDL, solved inside the limits, %");
        snprintf(what, sizeof what, "kdl_%sover_ulna", m == PEER_KDL_LMA ? "" : "nr_jl_");
        add(report, what, c, 1e6 * theirs[m].seconds / count / us, "its mean time over ours");
    }
    sums[0].seconds += own.seconds;
    sums[1].seconds += theirs[PEER_KDL_LMA].seconds;
    our_close(&ours);
}

int reach_contest_kdl(bench_report *report, int count)
{
    int is_same = 1, robots;
    tally sums[2] = {{0}}; /* ours, KDL's LMA */
    const reach_robot *robot = reach_robots(&robots);
    for (int i = 0; i < robots; i++) {
        contest c;
        reach_problems p = {0};
        if (contest_open(&robot[i], &c) && reach_problems_make(c.model, c.tip, count, 0, 11 + (uint64_t)i, &p)) {
            double differ = frames_differ(&c, &p);
            add(report, "fk_minus_kdl", &c, differ, "largest difference of frames, m or entries of rotations");
            is_same &= differ < 1e-12;
            run(&c, &p, report, sums);
        } else {
            printf("%s is left out of the comparison with KDL, which needs a URDF file that both read\n",
                   robot[i].name);
        }
        reach_problems_release(&p);
        contest_close(&c);
    }
    if (sums[0].seconds > 0)
        bench_add(report, "kdl_over_ulna", sums[1].seconds / sums[0].seconds, "LMA over ours, all robots together");
    return is_same;
}

#else

int reach_contest_kdl(bench_report *report, int count)
{
    (void)report, (void)count;
    printf("KDL is not installed: it is left out\n");
    return 1;
}

#endif
