/* The reach solver beside its prototype: see reach_peers.h and yardstick_arm.c. */
#include "reach_peers.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ulna/kinematics.h"
#include "ulna/reach.h"

#define PI 3.14159265358979323846
#define DEGREES (PI / 180)
#define RIGHT (PI / 2)

/* The robots of the prototype: a, alpha, d, theta of Denavit and Hartenberg for each joint, and limits. */
typedef struct yardstick_robot {
    const char *name;
    int n;
    double dh[7][4], lower[7], upper[7];
} yardstick_robot;

// clang-format off
static const yardstick_robot robots[] = {
    {"panda", 7, {{0, -RIGHT, .333, 0}, {0, RIGHT, 0, 0}, {.0825, RIGHT, .316, 0}, {-.0825, -RIGHT, 0, 0}, {0, RIGHT, .384, 0}, {.088, RIGHT, 0, 0}, {0, 0, .107, 0}},
     {-2.8973, -1.7628, -2.8973, -3.0718, -2.8973, -0.0175, -2.8973}, {2.8973, 1.7628, 2.8973, -0.0698, 2.8973, 3.7525, 2.8973}},
    {"iiwa", 7, {{0, -RIGHT, .34, 0}, {0, RIGHT, 0, 0}, {0, RIGHT, .4, 0}, {0, -RIGHT, 0, 0}, {0, -RIGHT, .4, 0}, {0, RIGHT, 0, 0}, {0, 0, .126, 0}},
     {-170 * DEGREES, -120 * DEGREES, -170 * DEGREES, -120 * DEGREES, -170 * DEGREES, -120 * DEGREES, -175 * DEGREES},
     {170 * DEGREES, 120 * DEGREES, 170 * DEGREES, 120 * DEGREES, 170 * DEGREES, 120 * DEGREES, 175 * DEGREES}},
    {"ur5", 6, {{0, RIGHT, .089159, 0}, {-.425, 0, 0, 0}, {-.39225, 0, 0, 0}, {0, RIGHT, .10915, 0}, {0, -RIGHT, .09465, 0}, {0, 0, .0823, 0}},
     {-2 * PI, -2 * PI, -PI, -2 * PI, -2 * PI, -2 * PI}, {2 * PI, 2 * PI, PI, 2 * PI, 2 * PI, 2 * PI}},
};
// clang-format on

/* Body k: Rz(q) Tz(d) Tx(a) Rx(alpha), all thetas being 0. */
static ulna_model *make_model(const yardstick_robot *robot)
{
    ulna_builder *builder;
    ulna_model *model = NULL;
    ulna_joint hinge = ulna_joint_revolute(0, 0, 1);
    if (ulna_builder_create(NULL, &builder) != ULNA_OK)
        return NULL;
    for (int k = 0; k < robot->n; k++) {
        char name[8];
        const double *dh = robot->dh[k], c = cos(dh[1]), s = sin(dh[1]);
        const double position[3] = {dh[0], 0, dh[2]}, rotation[9] = {1, 0, 0, 0, c, -s, 0, s, c};
        snprintf(name, sizeof name, "link%d", k + 1);
        ulna_builder_add_body(builder, name, k - 1, NULL, NULL);
        ulna_builder_set_joint(builder, k, &hinge, NULL);
        ulna_builder_set_limits(builder, k, 0, robot->lower[k], robot->upper[k], NULL);
        ulna_builder_set_offset(builder, k, position, rotation, NULL);
    }
    if (ulna_builder_build(builder, NULL, &model, NULL) != ULNA_OK)
        model = NULL;
    ulna_builder_destroy(builder);
    return model;
}

/* ---- the prototype, compiled and loaded ------------------------------------------------------------------------------ */

typedef struct prototype {
    void *library;
    void *(*open)(int n, const double (*dh)[4], const double *lower, const double *upper);
    int (*solve)(void *self, int is_near, const double *T, const double *start, double *q);
    double (*nearest)(void *self, int is_near, const double *T, const double *start, double *q);
} prototype;

static int prototype_load(prototype *p)
{
    const char *folder = getenv("ULNA_PROTOTYPES");
    char file[] = "/tmp/ulna-armXXXXXX", source[1024], command[4096];
    *p = (prototype){0};
    folder = folder ? folder : ULNA_SOURCE_DIR "/../shared/prototypes";
    snprintf(source, sizeof source, "%.900s/arm2/near.c", folder);
    if (access(source, R_OK) != 0)
        return 0;
    int made = mkstemp(file);
    if (made < 0)
        return 0;
    close(made);
    snprintf(command, sizeof command,
             "cc -O3 -march=native -fno-math-errno -fno-trapping-math -D_GNU_SOURCE -DW=4 -w -shared -fPIC "
             "-I'%.900s/arm2' -I'%.900s/arm' '%s/bench/yardstick_arm.c' -o %s -lm",
             folder, folder, ULNA_SOURCE_DIR, file);
    if (system(command) == 0)
        p->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    unlink(file); /* it stays mapped */
    if (!p->library)
        return 0;
    *(void **)&p->open = dlsym(p->library, "yardstick_open");
    *(void **)&p->solve = dlsym(p->library, "yardstick_solve");
    *(void **)&p->nearest = dlsym(p->library, "yardstick_nearest");
    return p->open && p->solve && p->nearest;
}

/* ---- one robot ---------------------------------------------------------------------------------------------------------- */

typedef struct race {
    const prototype *prototype;
    void *theirs;
    ulna_reach_work *ours;
    const reach_problems *problems;
    ulna_reach_goal *goals;
    double (*T)[12];
    int is_near;    /* starts near the solution */
    int is_nearest; /* the solution nearest to the start is asked for */
} race;

static const double *start_of(const race *r, int i)
{
    return r->problems->start + (size_t)i * (size_t)r->problems->nq;
}

static void our_round(const race *r)
{
    double q[8];
    for (int i = 0; i < r->problems->count; i++)
        ulna_reach_solve(r->ours, &r->goals[i], start_of(r, i), q, NULL);
}

static void their_round(const race *r)
{
    double q[8];
    for (int i = 0; i < r->problems->count; i++)
        if (r->is_nearest)
            r->prototype->nearest(r->theirs, r->is_near, r->T[i], start_of(r, i), q);
        else
            r->prototype->solve(r->theirs, r->is_near, r->T[i], start_of(r, i), q);
}

/* In how many % of the problems our solution is as near to the start as the prototype's, to 1e-3 rad. */
static double as_near_percent(const race *r)
{
    int count = 0;
    for (int i = 0; i < r->problems->count; i++) {
        double q[8];
        ulna_reach_result result;
        double theirs = r->prototype->nearest(r->theirs, r->is_near, r->T[i], start_of(r, i), q);
        ulna_reach_solve(r->ours, &r->goals[i], start_of(r, i), q, &result);
        count += result.reached && result.distance <= theirs + 1e-3;
    }
    return 100.0 * count / r->problems->count;
}

/* The poses as both want them. */
static void fill_goals(race *r)
{
    for (int i = 0; i < r->problems->count; i++) {
        const double *p = r->problems->position[i], *m = r->problems->rotation[i];
        r->goals[i] = reach_goal_of(p, m);
        for (int row = 0; row < 3; row++) {
            memcpy(r->T[i] + 4 * row, m + 3 * row, 3 * sizeof(double));
            r->T[i][4 * row + 3] = p[row];
        }
    }
}

/* Mean microseconds of each, the best of several rounds in turn: noise only adds. */
static void run(race *r, bench_report *report, const char *what, const char *robot)
{
    enum { ROUNDS = 9 };
    double ours = INFINITY, theirs = INFINITY;
    char name[64];
    fill_goals(r);
    for (int k = 0; k < ROUNDS; k++) {
        double begun = bench_now();
        our_round(r);
        double between = bench_now();
        their_round(r);
        ours = fmin(ours, between - begun);
        theirs = fmin(theirs, bench_now() - between);
    }
    snprintf(name, sizeof name, "%s_over_yardstick_%s", what, robot);
    bench_add(report, name, ours / theirs, "our time over the prototype's");
    snprintf(name, sizeof name, "yardstick_%s_us_%s", what, robot);
    bench_add(report, name, 1e6 * theirs / r->problems->count, "the prototype, mean us");
    if (r->is_nearest) {
        snprintf(name, sizeof name, "%s_as_near_percent_%s", what, robot);
        bench_add(report, name, as_near_percent(r), "our solution is as near to the start as the prototype's, %");
    }
}

static void race_robot(const prototype *proto, const yardstick_robot *robot, int is_near, int is_nearest, int count,
                       bench_report *report)
{
    static const char *const names[2][2] = {{"any", "near"}, {"nearest_random", "nearest"}};
    ulna_model *model = make_model(robot);
    ulna_reach_options options = ulna_reach_options_default();
    ulna_reach_tip tip = ulna_reach_tip_default(robot->n - 1);
    ulna_reach *reach = NULL;
    reach_problems problems = {0};
    race r = {.prototype = proto, .problems = &problems, .is_near = is_near, .is_nearest = is_nearest};
    options.mode = is_nearest ? ULNA_REACH_NEAREST : is_near ? ULNA_REACH_NEAR : ULNA_REACH_ANY;
    r.theirs = proto->open(robot->n, robot->dh, robot->lower, robot->upper);
    r.goals = calloc((size_t)count, sizeof *r.goals);
    r.T = calloc((size_t)count, sizeof *r.T);
    if (model && r.theirs && r.goals && r.T && reach_problems_make(model, robot->n - 1, count, is_near, 5, &problems) &&
        ulna_reach_create(model, 1, &tip, &options, NULL, &reach, NULL) == ULNA_OK &&
        ulna_reach_work_create(reach, NULL, &r.ours, NULL) == ULNA_OK)
        run(&r, report, names[is_nearest][is_near], robot->name);
    ulna_reach_work_destroy(r.ours);
    ulna_reach_destroy(reach);
    reach_problems_release(&problems);
    ulna_model_destroy(model);
    free(r.goals);
    free(r.T);
    free(r.theirs); /* its tables stay: the prototype does not give them back */
}

void reach_contest_yardstick(bench_report *report, int count)
{
    prototype p;
    if (!prototype_load(&p)) {
        printf("the prototype of the arms is not there, or does not build: it is left out\n");
        return;
    }
    for (size_t i = 0; i < sizeof robots / sizeof *robots; i++)
        for (int k = 0; k < 4; k++)
            race_robot(&p, &robots[i], k % 2, k / 2, k / 2 ? count / 4 : count, report);
    dlclose(p.library);
}
