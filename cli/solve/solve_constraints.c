/* Goals that hold in every frame of a take, beside its markers: a hand on a table, a pelvis that stays upright. */
#include <math.h>

#include "cli/solve/solve.h"
#include "ulna/kinematics.h"

static ulna_status extend(void *context, ulna_problem *problem, ulna_error *error)
{
    const solve_job *job = context;
    return goals_to_problem(&job->constraints.wanted, problem, error);
}

ulna_status solve_load_constraints(solve_job *job, ulna_error *error)
{
    solve_constraints *c = &job->constraints;
    goals_init(&c->wanted, job->model);
    ulna_status status = goals_read(&c->wanted, job->constraints_path, error);
    if (status)
        return status;
    if (c->wanted.start)
        files_note_text(job->notes, "%s: its start is not used; --init says where to begin", job->constraints_path);
    for (int i = 0; i < c->wanted.count; i++) {
        c->places += (c->wanted.list[i].what & GOAL_POSITION) != 0;
        c->turns += (c->wanted.list[i].what & GOAL_ORIENTATION) != 0;
    }
    job->options.extend = extend;
    job->options.extend_context = job;
    return ULNA_OK;
}

/* The angle of A^T B, by its trace. */
static double angle_between(const double a[9], const double b[9])
{
    double trace = 0;
    for (int k = 0; k < 9; k++)
        trace += a[k] * b[k];
    return acos(fmax(-1, fmin(1, 0.5 * (trace - 1))));
}

void solve_measure_constraints(solve_job *job, const ulna_pose *pose, int frame)
{
    solve_constraints *c = &job->constraints;
    for (int i = 0; i < c->wanted.count; i++) {
        const goal *g = &c->wanted.list[i];
        double here[3], rotation[9], square = 0;
        if (g->what & GOAL_POSITION) {
            ulna_pose_point(pose, g->body, g->point, here);
            for (int k = 0; k < 3; k++)
                square += (here[k] - g->position[k]) * (here[k] - g->position[k]);
            c->rms += square;
            if (sqrt(square) > c->worst) {
                c->worst = sqrt(square);
                c->worst_frame = frame;
            }
        }
        if (g->what & GOAL_ORIENTATION) {
            ulna_pose_body(pose, g->body, NULL, rotation);
            double turn = angle_between(rotation, g->rotation);
            if (turn > c->worst_turn) {
                c->worst_turn = turn;
                c->worst_turn_frame = frame;
            }
        }
    }
}

void solve_finish_constraints(solve_job *job)
{
    solve_constraints *c = &job->constraints;
    c->rms = c->places ? sqrt(c->rms / ((double)c->places * job->take.frame_count)) : 0;
}
