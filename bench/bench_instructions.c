/*
 * bench_instructions: instructions per call, counted by valgrind (callgrind). Times drift with the machine; these counts do
 * not, so a change of a few percent here is a real one. The kernel is the one that valgrind's CPU offers (AVX2 at best).
 *
 * The program runs itself under valgrind twice, with few and with many calls; the difference is the calls' own.
 */
#include "objective/problem.h"
#include "support.h"
#include "ulna/sample.h"

#include <stdlib.h>
#include <string.h>

typedef struct scene {
    ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;
    double q[64], g[64], step[64], shift[64], f;
    double *rows;
} scene;

static void stop_if(int failed, const char *what)
{
    if (failed) {
        fprintf(stderr, "bench_instructions: %s failed\n", what);
        exit(1);
    }
}

static void run_evaluate(scene *s)
{
    ulna_work_evaluate(s->work, s->q, &s->f);
}

static void run_gradient(scene *s)
{
    run_evaluate(s);
    ulna_work_gradient(s->work, s->g);
}

static void run_step(scene *s, double t)
{
    ulna_step_options options = {.t = t, .shift = s->shift};
    run_evaluate(s);
    ulna_work_step(s->work, &options, s->step, NULL, NULL);
}

static void run_step_gn(scene *s)
{
    run_step(s, 0);
}

static void run_step_exact(scene *s)
{
    run_step(s, 1);
}

static void run_rows(scene *s)
{
    run_evaluate(s);
    ulna_work_hessian(s->work, 1, s->g, s->rows, NULL);
}

static const struct {
    const char *name, *note;
    void (*run)(scene *s);
} jobs[] = {
    {"evaluate", "f: forward kinematics and residuals", run_evaluate},
    {"gradient", "f and gradient", run_gradient},
    {"step_gn", "whole Gauss-Newton iteration by elimination", run_step_gn},
    {"step_exact", "whole exact iteration by elimination", run_step_exact},
    {"rows", "f, gradient and exact Hessian in tree rows", run_rows},
};
enum { JOBS = sizeof jobs / sizeof jobs[0] };

static void run_calls(int job, int calls, const char *kernel)
{
    scene s = {0};
    stop_if(ulna_sample_create("human", NULL, &s.model, NULL) != ULNA_OK, "sample");
    stop_if(ulna_model_dof_count(s.model) > 64, "room for the sample");
    stop_if(ulna_problem_create(s.model, NULL, &s.problem, NULL) != ULNA_OK, "problem");
    stop_if(ulna_problem_add_markers(s.problem, NULL, NULL) != ULNA_OK, "markers");
    stop_if(ulna_problem_ready(s.problem, NULL) != ULNA_OK, "ready");
    stop_if(ulna_work_create(s.problem, NULL, &s.work, NULL) != ULNA_OK, "work");
    stop_if(ulna_pose_set_kernel(ulna_work_pose(s.work), kernel) != ULNA_OK, "kernel");
    size_t rows = s.model->tree.row[ulna_model_dof_count(s.model)];
    s.rows = aligned_alloc(64, (rows * sizeof *s.rows + 63) & ~(size_t)63);
    stop_if(!s.rows, "memory");
    for (int k = 0; k < ulna_model_coordinate_count(s.model); k++) {
        s.q[k] = ulna_model_rest(s.model)[k] + 0.01 * (k % 7);
        s.shift[k] = 100; /* enough for the exact step to exist */
    }
    for (int i = 0; i < calls; i++)
        jobs[job].run(&s);
    free(s.rows);
    ulna_work_destroy(s.work);
    ulna_problem_destroy(s.problem);
    ulna_model_destroy(s.model);
}

/* Instructions of this program with so many calls, or a negative number. */
static double count(const char *self, int job, int calls, const char *kernel)
{
    char arguments[128];
    snprintf(arguments, sizeof arguments, "--run %d %d %s", job, calls, kernel);
    return bench_count_instructions(self, arguments);
}

int main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "--run") == 0) {
        run_calls((int)strtol(argv[2], NULL, 10) % JOBS, (int)strtol(argv[3], NULL, 10), argv[4]);
        return 0;
    }
    const char *json = bench_json_path(argc, argv), *const kernels[] = {"portable", "avx2"};
    static bench_report report;
    for (int k = 0; k < 2; k++)
        for (int job = 0; job < JOBS; job++) {
            char name[64];
            double few = count(argv[0], job, 100, kernels[k]), many = count(argv[0], job, 300, kernels[k]);
            snprintf(name, sizeof name, "%s_%s", jobs[job].name, kernels[k]);
            if (few > 0 && many > few)
                bench_add(&report, name, (many - few) / 200, jobs[job].note);
        }
    if (!report.count)
        printf("(valgrind is not here: no counts)\n");
    return bench_finish(&report, "instructions per call, human sample, counted by callgrind", json);
}
