/* Of the exact-Hessian paper: definiteness (Fig. A.10), condition numbers (section 6.7), frames (Figs. 2 and 6), reconstructed motion. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/paper/hessian.h"
#include "src/base/algorithms.h"
#include "ulna/sample.h"

#define PI 3.14159265358979323846

/* ---- Fig. A.10 ------------------------------------------------------------------------------------------------------- */

typedef enum region { POSITIVE, INDEFINITE, NEGATIVE, SEMIDEFINITE, REGIONS } region;
static const char *const region_names[REGIONS] = {"positive", "indefinite", "negative", "semidefinite"};

static region classify(double low, double high)
{
    double zero = 1e-9 * fmax(fabs(low), fabs(high));
    if (fabs(low) <= zero || fabs(high) <= zero)
        return SEMIDEFINITE;
    return low > 0 ? POSITIVE : high < 0 ? NEGATIVE : INDEFINITE;
}

/* In closed form for two links of length 1 and the goal (g, 0): H = (A + B, A; A, A - cos b) with A = g cos(a + b), B = g cos a. */
static region classify_exactly(double g, double a, double b)
{
    double A = g * cos(a + b), B = g * cos(a), xx = A + B, yy = A - cos(b);
    double middle = 0.5 * (xx + yy), reach = hypot(0.5 * (xx - yy), A);
    return classify(middle - reach, middle + reach);
}

static void share_exactly(double g, double percent[REGIONS])
{
    enum { SIDE = 2000 };
    long long counts[REGIONS] = {0};
    for (int i = 0; i < SIDE; i++)
        for (int k = 0; k < SIDE; k++)
            counts[classify_exactly(g, 2 * PI * (i + 0.5) / SIDE - PI, 2 * PI * (k + 0.5) / SIDE - PI)]++;
    for (int r = 0; r < REGIONS; r++)
        percent[r] = 100.0 * (double)counts[r] / ((double)SIDE * SIDE);
}

/* Cells in rows of the first angle. */
static ulna_status sweep(ulna_work *work, int goal, int side, sheet *cells, int counts[REGIONS], ulna_error *error)
{
    ulna_status status = ULNA_OK;
    for (int k = 0; k < side * side && status == ULNA_OK; k++) {
        int row = k / side, column = k % side;
        double q[2] = {2 * PI * (column + 0.5) / side - PI, 2 * PI * (row + 0.5) / side - PI}, f, values[2];
        status = ulna_work_evaluate(work, q, &f);
        if (status == ULNA_OK)
            status = ulna_work_hessian_eigenvalues(work, 1, NULL, values, NULL, error);
        if (status != ULNA_OK)
            break;
        region found = classify(values[0], values[1]);
        counts[found]++;
        sheet_row(cells, "goal (%d; 0),%.5g,%.5g,%s,%.5g", goal, q[0] * 180 / PI, q[1] * 180 / PI, region_names[found],
                  f);
    }
    return status;
}

ulna_status paper_run_a10(paper_job *job, ulna_error *error)
{
    int side = job->is_quick ? 72 : 120;
    sheet cells, shares;
    ulna_model *model = NULL;
    sheet_begin(&cells, "panel,shoulder_deg,elbow_deg,region,f_m2");
    sheet_begin(&shares, "goal,region,percent,closed_form_percent");
    ulna_status status = ulna_sample_create("two-link", NULL, &model, error);
    for (int goal = 1; goal <= 3 && status == ULNA_OK; goal++) {
        const double place[3] = {goal, 0, 0};
        ulna_problem *problem = NULL;
        ulna_work *work = NULL;
        int counts[REGIONS] = {0};
        double exact[REGIONS];
        paper_show(job, (goal - 1) / 3.0);
        status = ulna_problem_create(model, NULL, &problem, error);
        if (status == ULNA_OK)
            status = ulna_problem_add_markers(problem, NULL, error);
        if (status == ULNA_OK)
            status = ulna_problem_ready(problem, error);
        if (status == ULNA_OK)
            status = ulna_work_create(problem, NULL, &work, error);
        if (status == ULNA_OK)
            status = ulna_problem_set_points(problem, 0, 1, place);
        if (status == ULNA_OK)
            status = sweep(work, goal, side, &cells, counts, error);
        share_exactly(goal, exact);
        for (int r = 0; r < REGIONS; r++) {
            char key[32];
            double percent = 100.0 * counts[r] / (side * side);
            sheet_row(&shares, "(%d; 0),%s,%.2f,%.2f", goal, region_names[r], percent, exact[r]);
            snprintf(key, sizeof key, "%s_%d", region_names[r], goal);
            put_number(job->facts, key, percent);
        }
        ulna_work_destroy(work);
        ulna_problem_destroy(problem);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "a10", &cells, error);
    if (status == ULNA_OK)
        status = paper_save(job, "a10-shares", &shares, error);
    ulna_model_destroy(model);
    sheet_release(&cells);
    sheet_release(&shares);
    return status;
}

/* ---- condition numbers --------------------------------------------------------------------------------------------------- */

/* Radians and centimetres, as f; thumbs are left out. */
static void scale_dofs(const paper_take *take, double *scale)
{
    const ulna_model *model = take->skeleton.model;
    for (int i = 0; i < ulna_model_dof_count(model); i++)
        scale[i] = take->locked[i] ? 0 : ulna_model_dof_is_translation(model, i) ? 0.01 : 1;
}

typedef struct conditions {
    double *scale, *values; /* nv */
    double *at_answer;      /* condition numbers, one for each frame */
    int count, indefinite, unseen;
} conditions;

/* Directions that no marker sees have eigenvalue 0 up to rounding: they are counted, and the condition number is that of the others. */
static ulna_status condition_at(ulna_work *work, const double *q, conditions *found, double *condition, int *unseen,
                                int *is_indefinite, ulna_error *error)
{
    static const double rounding = 1e-13;
    double f, least = (double)INFINITY, most = 0;
    int count = 0;
    ulna_status status = ulna_work_evaluate(work, q, &f);
    if (status == ULNA_OK)
        status = ulna_work_hessian_eigenvalues(work, 1, found->scale, found->values, &count, error);
    for (int i = 0; i < count; i++)
        most = fmax(most, fabs(found->values[i]));
    *unseen = 0;
    for (int i = 0; i < count; i++)
        if (fabs(found->values[i]) > rounding * most)
            least = fmin(least, fabs(found->values[i]));
        else
            ++*unseen;
    *condition = most / least;
    *is_indefinite = count && found->values[0] < -rounding * most;
    return status;
}

/* At the pose of the frame, where f = 0, or at that of the frame before. */
static ulna_status run_condition_frame(const paper_take *take, int frame, int is_before, conditions *found,
                                       sheet *table, ulna_error *error)
{
    ulna_problem *problem = NULL;
    ulna_work *work = NULL;
    double condition;
    int is_indefinite, unseen;
    ulna_status status = paper_take_problem(take, frame, 0, &problem, error);
    if (status != ULNA_OK || !problem)
        return status;
    status = ulna_work_create(problem, NULL, &work, error);
    if (status == ULNA_OK)
        status = condition_at(work, paper_take_pose(take, frame - is_before), found, &condition, &unseen,
                              &is_indefinite, error);
    if (status == ULNA_OK) {
        sheet_row(table, "%s,%d,%s,%d,%.4g,%s,%d", take->name, is_before,
                  is_before ? "at the frame before" : "at the solution", frame + 1, condition,
                  is_indefinite ? "indefinite" : "semidefinite", unseen);
        found->indefinite += is_before && is_indefinite;
        if (!is_before) {
            found->at_answer[found->count++] = condition;
            found->unseen = unseen > found->unseen ? unseen : found->unseen;
        }
    }
    ulna_work_destroy(work);
    ulna_problem_destroy(problem);
    return status;
}

ulna_status paper_run_condition(paper_job *job, ulna_error *error)
{
    static const char *const names[] = {"dg_03-05_02", NULL};
    enum { MOST = 500 };
    paper_take *take = NULL;
    ulna_status status = paper_take_first(&job->data, names, &take, error);
    if (status != ULNA_OK)
        return status;
    int nv = ulna_model_dof_count(take->skeleton.model), most = job->is_quick ? 60 : MOST, above = 0;
    double *numbers = calloc(2 * (size_t)nv + MOST + 1, sizeof *numbers);
    if (!numbers)
        return cli_no_memory(error);
    conditions found = {numbers, numbers + nv, numbers + 2 * nv, 0, 0, 0};
    sheet table, sorted;
    sheet_begin(&table, "take,line,where,frame,condition,definiteness,unseen_directions");
    sheet_begin(&sorted, "take,frames,median,largest,above_1e5_percent,indefinite_before_percent,unseen_directions");
    scale_dofs(take, found.scale);
    for (int i = 0; i < 2 * most && status == ULNA_OK; i++) {
        int frame = 1 + (int)((double)(i % most) * (take->frames - 1) / most);
        paper_show(job, 0.5 * i / most);
        status = run_condition_frame(take, frame, i >= most, &found, &table, error);
    }
    for (int i = 0; i < found.count; i++)
        above += found.at_answer[i] > 1e5;
    if (status == ULNA_OK && found.count) {
        double median = ulna_median(found.at_answer, (size_t)found.count), largest = found.at_answer[found.count - 1];
        sheet_row(&sorted, "%s,%d,%.3g,%.3g,%.1f,%.1f,%d", take->name, found.count, median, largest,
                  100.0 * above / found.count, 100.0 * found.indefinite / found.count, found.unseen);
        put_count(job->facts, "unseen", found.unseen);
        put_number(job->facts, "median", median);
        put_number(job->facts, "largest", largest);
        put_number(job->facts, "above_percent", 100.0 * above / found.count);
        put_number(job->facts, "indefinite_percent", 100.0 * found.indefinite / found.count);
        status = paper_save(job, "condition", &table, error);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "condition-summary", &sorted, error);
    free(numbers);
    sheet_release(&table);
    sheet_release(&sorted);
    return status;
}

/* ---- Figs. 2 and 6: frames as pictures ------------------------------------------------------------------------------------- */

static ulna_status add_still(const paper_take *take, ulna_pose *pose, const char *kind, int frame, sheet *table)
{
    const ulna_model *model = take->skeleton.model;
    ulna_status status = ulna_pose_forward(pose, paper_take_pose(take, frame));
    for (int b = 1; b < ulna_model_body_count(model) && status == ULNA_OK; b++) {
        double a[3], c[3];
        ulna_pose_body(pose, ulna_model_body_parent(model, b), a, NULL);
        ulna_pose_body(pose, b, c, NULL);
        sheet_row(table, "%s (frame %d),bone,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f", kind, frame + 1, a[0], a[1], a[2], c[0],
                  c[1], c[2]);
    }
    for (int i = 0; i < (int)take->take->set.count && status == ULNA_OK; i++) {
        double p[3];
        if (ulna_take_position(take->take, frame, i, p))
            sheet_row(table, "%s (frame %d),goal,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f", kind, frame + 1, p[0], p[1], p[2],
                      p[0], p[1], p[2]);
    }
    return status;
}

static ulna_status add_stills(const paper_take *take, const frame_choice *kinds, int count, sheet *table,
                              ulna_error *error)
{
    ulna_pose *pose = NULL;
    ulna_status status = ulna_pose_create(take->skeleton.model, NULL, &pose, error);
    for (int k = 0; k < count && status == ULNA_OK; k++)
        if (kinds[k].count)
            status = add_still(take, pose, kinds[k].kind, kinds[k].frames[0], table);
    ulna_pose_destroy(pose);
    return status;
}

ulna_status paper_run_stills(paper_job *job, ulna_error *error)
{
    paper_take *fight = NULL, *workout = NULL;
    frame_choice kinds[4];
    sheet table;
    sheet_begin(&table, "panel,kind,ax,ay,az,bx,by,bz");
    ulna_status status = hessian_fight_take(job, &fight, error);
    if (status == ULNA_OK)
        status = hessian_fight_frames(fight, 1, kinds, error);
    if (status == ULNA_OK)
        status = add_stills(fight, kinds, 3, &table, error);
    if (status == ULNA_OK)
        status = hessian_workout_take(job, &workout, error);
    if (status == ULNA_OK)
        status = hessian_workout_frames(workout, kinds, error);
    if (status == ULNA_OK)
        status = add_stills(workout, kinds, 4, &table, error);
    if (status == ULNA_OK) {
        put_text(job->facts, "fight", fight->name);
        put_text(job->facts, "workout", workout->name);
        status = paper_save(job, "stills", &table, error);
    }
    sheet_release(&table);
    return status;
}

/* ---- the motion, side by side ------------------------------------------------------------------------------------------------ */

static ulna_status add_bodies(const ulna_model *model, ulna_pose *pose, const char *name, int frame, const double *q,
                              sheet *table)
{
    ulna_status status = ulna_pose_forward(pose, q);
    for (int b = 0; b < ulna_model_body_count(model) && status == ULNA_OK; b++) {
        double p[3];
        ulna_pose_body(pose, b, p, NULL);
        sheet_row(table, "%s,%d,%d,%d,%.3f,%.3f,%.3f", name, frame, b, ulna_model_body_parent(model, b), p[0], p[1],
                  p[2]);
    }
    return status;
}

/* Every `stride`-th frame of the take, solved frame after frame as for Table 4; `by` NULL: the poses of the file. */
static ulna_status add_motion(paper_job *job, const paper_take *take, const rival *by, int frames, int stride,
                              double part, sheet *table, ulna_error *error)
{
    const ulna_model *model = take->skeleton.model;
    size_t nq = (size_t)ulna_model_coordinate_count(model);
    const trial how = {take, by, 10, HESSIAN_STOP_CM2, 0};
    char name[64];
    ulna_pose *pose = NULL;
    double *q = calloc(nq + 1, sizeof *q);
    ulna_status status = q ? ulna_pose_create(model, NULL, &pose, error) : cli_no_memory(error);
    snprintf(name, sizeof name, "%s%s", by ? by->name : "original", by ? " 10" : "");
    if (status == ULNA_OK)
        memcpy(q, paper_take_pose(take, 0), nq * sizeof *q);
    for (int f = 0; f < frames && status == ULNA_OK; f++) {
        if (!by)
            memcpy(q, paper_take_pose(take, f), nq * sizeof *q);
        else {
            ulna_problem *problem = NULL;
            ulna_options options = hessian_options(&how);
            status = paper_take_problem(take, f, 0, &problem, error);
            if (status == ULNA_OK && problem)
                status = ulna_solve_once(problem, &options, q, NULL, error);
            ulna_problem_destroy(problem);
        }
        if (status == ULNA_OK && f % stride == 0) {
            paper_show(job, part + (double)f / frames / 3);
            status = add_bodies(model, pose, name, f + 1, q, table);
        }
    }
    ulna_pose_destroy(pose);
    free(q);
    return status;
}

ulna_status paper_run_player(paper_job *job, ulna_error *error)
{
    static const char *const names[] = {"dg_03-05_02", NULL};
    paper_take *take = NULL;
    sheet table;
    sheet_begin(&table, "skeleton,frame,body,parent,x,y,z");
    ulna_status status = paper_take_first(&job->data, names, &take, error);
    if (status == ULNA_OK) {
        int shown = job->is_quick ? 40 : 320, frames = job->is_quick && take->frames > 400 ? 400 : take->frames;
        int stride = frames / shown > 0 ? frames / shown : 1;
        put_text(job->facts, "take", take->name);
        put_count(job->facts, "frames", frames);
        status = add_motion(job, take, NULL, frames, stride, 0, &table, error);
        if (status == ULNA_OK)
            status = add_motion(job, take, &rivals[RIVAL_QUASI_NEWTON], frames, stride, 1 / 3.0, &table, error);
        if (status == ULNA_OK)
            status = add_motion(job, take, &rivals[RIVAL_EXACT], frames, stride, 2 / 3.0, &table, error);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "player", &table, error);
    sheet_release(&table);
    return status;
}
