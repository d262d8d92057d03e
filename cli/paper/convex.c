/* Figs. 3 to 6 of the convex paper, and the time of its relaxation. */
#include "cli/paper/convex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/algorithms.h"
#include "ulna/global.h"
#include "ulna/papers.h"

static const char *const view_names[2][VIEWS] = {{"body: all joints", "body: ends and spine"},
                                                 {"hand: all joints", "hand: ends and wrist"}};

/* ---- ways to solve --------------------------------------------------------------------------------------------------- */

/* Eq. 16 with lengths in millimetres: sum |y - x|^2 + 100 sum dist^2. The library halves both sums, and points weigh 2. */
static ulna_options local_options(const scene *of, const char *method, double seconds)
{
    ulna_options options = ulna_options_default();
    options.method = "penalty";
    options.penalty.method = method;
    options.penalty.weight = 2 * 100;
    options.penalty.length = 1e-3;
    options.bfgs.start = ULNA_START_IDENTITY;
    options.lower = of->lower;
    options.upper = of->upper;
    options.seconds = seconds;
    options.iterations = 100000;
    return options;
}

typedef struct answer {
    double cost_mm, seconds;
} answer;

static ulna_status solve_local(scene *of, int view, const ulna_options *options, uint64_t seed, double *q,
                               answer *found, ulna_error *error)
{
    ulna_result result;
    scene_random_pose(of, seed, q);
    ulna_status status = ulna_solve_once(of->problems[view], options, q, &result, error);
    if (status == ULNA_OK)
        status = scene_cost(of, view, q, &found->cost_mm);
    found->seconds = status == ULNA_OK ? result.seconds : 0;
    return status;
}

/* `projected`: nq, or NULL. Cost and seconds are NaN if DSDP found no answer. */
static ulna_status solve_sdp(scene *of, int view, double *q, double *projected, answer *found, ulna_sdp_result *about,
                             ulna_error *error)
{
    ulna_sdp_options options = ulna_sdp_options_default();
    *found = (answer){(double)NAN, (double)NAN};
    options.local = local_options(of, "newton", 30); /* the paper refines by (16), too */
    options.projected = projected;
    memcpy(q, ulna_model_rest(of->model), (size_t)ulna_model_coordinate_count(of->model) * sizeof *q);
    ulna_status status = ulna_sdp_solve(of->problems[view], &options, q, about, error);
    if (status == ULNA_ERR_CONVERGENCE)
        return ULNA_OK;
    if (status == ULNA_OK)
        status = scene_cost(of, view, q, &found->cost_mm);
    found->seconds = about->seconds;
    return status;
}

static double *new_pose(const scene *of, ulna_error *error)
{
    double *q = calloc((size_t)ulna_model_coordinate_count(of->model) + 1, sizeof *q);
    if (!q)
        cli_no_memory(error);
    return q;
}

ulna_status scene_solve_global(scene *of, int view, int threads, double *q, ulna_global_result *about,
                               ulna_error *error)
{
    ulna_global_options options = ulna_global_options_default();
    ulna_global *global = NULL;
    double *own = q ? NULL : new_pose(of, error), *to = q ? q : own;
    if (!to)
        return ULNA_ERR_MEMORY;
    options.local.lower = of->lower;
    options.local.upper = of->upper;
    options.threads = threads;
    memcpy(to, ulna_model_rest(of->model), (size_t)ulna_model_coordinate_count(of->model) * sizeof *to);
    ulna_status status = ulna_global_create(of->problems[view], &options, NULL, &global, error);
    if (status == ULNA_OK)
        status = ulna_global_solve(global, to, about, error);
    ulna_global_destroy(global);
    free(own);
    return status;
}

/* It keeps limits exactly: refined by (16), too, so that costs compare. */
static ulna_status solve_global(scene *of, int view, int threads, double *q, answer *found, ulna_global_result *about,
                                ulna_error *error)
{
    ulna_options refine = local_options(of, "newton", 30);
    ulna_status status = scene_solve_global(of, view, threads, q, about, error);
    if (status == ULNA_OK)
        status = ulna_solve_once(of->problems[view], &refine, q, NULL, error);
    if (status == ULNA_OK)
        status = scene_cost(of, view, q, &found->cost_mm);
    found->seconds = about->seconds;
    return status;
}

/* ---- Fig. 3: local methods ------------------------------------------------------------------------------------------- */

ulna_status paper_run_convex3(paper_job *job, ulna_error *error)
{
    static const struct {
        const char *name, *method;
    } methods[] = {{"GD", "gradient"}, {"TR", "newton"}, {"CG", "cg"}, {"L-BFGS", "lbfgs"}};
    int poses = job->is_quick ? 2 : 8, starts = job->is_quick ? 3 : 5;
    double budget = job->is_quick ? 0.5 : 30;
    scene hand;
    sheet table, summary;
    sheet_begin(&table, "panel,method,pose,start,cost_mm,seconds");
    sheet_begin(&summary, "method,solves,median_cost_mm,largest_cost_mm,exact_percent,median_seconds");
    ulna_status status = scene_open(job, &hand, 1, poses, error);
    double *q = status == ULNA_OK ? new_pose(&hand, error) : NULL, costs[64], seconds[64];
    status = status == ULNA_OK && !q ? ULNA_ERR_MEMORY : status;
    for (int m = 0; m < 4 && status == ULNA_OK; m++) {
        ulna_options options = local_options(&hand, methods[m].method, budget);
        int count = 0, exact = 0;
        for (int i = 0; i < hand.poses && status == ULNA_OK; i++)
            for (int k = 0; k < starts && status == ULNA_OK; k++) {
                answer found = {0};
                paper_show(job, (m + (i + (double)k / starts) / hand.poses) / 4);
                status = scene_observe(&hand, VIEW_ALL, i, 0);
                if (status == ULNA_OK)
                    status = solve_local(&hand, VIEW_ALL, &options, 100 * (uint64_t)i + (uint64_t)k, q, &found, error);
                sheet_row(&table, "cost,%s,%d,%d,%.6g,%.4g", methods[m].name, i + 1, k + 1, found.cost_mm,
                          found.seconds);
                exact += found.cost_mm < 1e-3;
                costs[count] = found.cost_mm;
                seconds[count++] = found.seconds;
            }
        double median = ulna_median(costs, (size_t)count), time = ulna_median(seconds, (size_t)count);
        sheet_row(&summary, "%s,%d,%.3g,%.3g,%.1f,%.3g", methods[m].name, count, median, count ? costs[count - 1] : 0.0,
                  count ? 100.0 * exact / count : 0, time);
        json_t *fact = put_object(job->facts, methods[m].method);
        put_number(fact, "median_mm", median);
        put_number(fact, "exact_percent", count ? 100.0 * exact / count : 0);
        put_number(fact, "seconds", time);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "convex3", &table, error);
    if (status == ULNA_OK)
        status = paper_save(job, "convex3-summary", &summary, error);
    free(q);
    sheet_release(&table);
    sheet_release(&summary);
    scene_close(&hand);
    return status;
}

/* ---- Figs. 4 and 5: local starts against the relaxation ---------------------------------------------------------------- */

enum { WAY_LOCAL, WAY_SDP, WAY_GLOBAL, WAYS };
static const char *const way_names[WAYS] = {"TR", "SDP-IK", "Ulna global"};

typedef struct box_run {
    sheet table, summary;
    int starts, is_noisy, exact, solves;
    double sdp_better, sdp_count; /* poses in which SDP-IK is as good as the best start */
} box_run;

/* One pose in one view: all starts, the relaxation, and Ulna's own. `costs`: the values of each way, added to. */
static ulna_status run_pose(paper_job *job, scene *of, int view, const char *panel, int pose, box_run *run,
                            double *costs[WAYS], int counts[WAYS], ulna_error *error)
{
    double best = (double)INFINITY;
    double *q = new_pose(of, error);
    ulna_options options = local_options(of, "newton", 30);
    ulna_sdp_result sdp = {0};
    ulna_global_result global = {0};
    answer found[WAYS] = {{0}}, *local = calloc((size_t)run->starts, sizeof *local);
    ulna_status status = q && local ? scene_observe(of, view, pose, run->is_noisy) : ULNA_ERR_MEMORY;
    for (int k = 0; k < run->starts && status == ULNA_OK; k++) {
        status = solve_local(of, view, &options, 1000 * (uint64_t)pose + (uint64_t)k, q, &local[k], error);
        best = fmin(best, local[k].cost_mm);
    }
    if (status == ULNA_OK)
        status = solve_sdp(of, view, q, NULL, &found[WAY_SDP], &sdp, error);
    if (status == ULNA_OK)
        status = solve_global(of, view, job->tool->threads, q, &found[WAY_GLOBAL], &global, error);
    double from = run->is_noisy ? best : 0;
    for (int k = 0; k < run->starts && status == ULNA_OK; k++) {
        sheet_row(&run->table, "%s,%s,%d,%d,%.6g,%.6g,%.4g", panel, way_names[WAY_LOCAL], pose + 1, k + 1,
                  local[k].cost_mm, local[k].cost_mm - from, local[k].seconds);
        costs[WAY_LOCAL][counts[WAY_LOCAL]++] = local[k].cost_mm - from;
    }
    for (int w = WAY_SDP; w < WAYS && status == ULNA_OK; w++) {
        sheet_row(&run->table, "%s,%s,%d,0,%.6g,%.6g,%.4g", panel, way_names[w], pose + 1, found[w].cost_mm,
                  found[w].cost_mm - from, found[w].seconds);
        if (!isnan(found[w].cost_mm))
            costs[w][counts[w]++] = found[w].cost_mm - from;
    }
    free(q);
    free(local);
    return status;
}

static void sum_up(paper_job *job, box_run *run, const char *panel, const char *key, double *costs[WAYS],
                   const int counts[WAYS])
{
    json_t *fact = put_object(job->facts, key);
    static const char *const names[WAYS] = {"tr", "sdp", "global"};
    for (int w = 0; w < WAYS; w++) {
        int exact = 0, count = counts[w];
        for (int i = 0; i < count; i++)
            exact += costs[w][i] < 0.1;
        double median = ulna_median(costs[w], (size_t)count), share = count ? 100.0 * exact / count : 0;
        sheet_row(&run->summary, "%s,%s,%d,%.3g,%.3g,%.3g,%.1f", panel, way_names[w], count, median,
                  count ? costs[w][(int)ceil(0.9 * (count - 1))] : (double)NAN,
                  count ? costs[w][count - 1] : (double)NAN, share);
        json_t *of = put_object(fact, names[w]);
        put_number(of, "median_mm", median);
        put_number(of, "good_percent", share);
    }
}

static ulna_status run_view(paper_job *job, scene *of, int is_hand, int view, box_run *run, ulna_error *error)
{
    static const char *const keys[2][VIEWS] = {{"body_all", "body_ends"}, {"hand_all", "hand_ends"}};
    const char *panel = view_names[is_hand][view];
    double *costs[WAYS] = {0};
    int counts[WAYS] = {0};
    ulna_status status = ULNA_OK;
    for (int w = 0; w < WAYS; w++) {
        costs[w] = calloc((size_t)of->poses * (size_t)run->starts + 1, sizeof *costs[w]);
        status = costs[w] ? status : cli_no_memory(error);
    }
    for (int i = 0; i < of->poses && status == ULNA_OK; i++) {
        paper_show(job, (2 * is_hand + view + (double)i / of->poses) / 4);
        status = run_pose(job, of, view, panel, i, run, costs, counts, error);
    }
    if (status == ULNA_OK)
        sum_up(job, run, panel, keys[is_hand][view], costs, counts);
    for (int w = 0; w < WAYS; w++)
        free(costs[w]);
    return status;
}

static ulna_status run_boxes(paper_job *job, const char *name, int is_noisy, ulna_error *error)
{
    box_run run = {.starts = job->is_quick ? 6 : 20, .is_noisy = is_noisy};
    ulna_status status = ULNA_OK;
    char summary[64];
    snprintf(summary, sizeof summary, "%s-summary", name);
    sheet_begin(&run.table, "panel,method,pose,start,cost_mm,normalised_mm,seconds");
    sheet_begin(&run.summary, "panel,method,solves,median_mm,ninth_decile_mm,largest_mm,below_0.1_mm_percent");
    for (int is_hand = 0; is_hand < 2 && status == ULNA_OK; is_hand++) {
        scene of;
        status = scene_open(job, &of, is_hand, job->is_quick ? 2 + 6 * is_hand : 100, error);
        for (int view = 0; view < VIEWS && status == ULNA_OK; view++)
            status = run_view(job, &of, is_hand, view, &run, error);
        scene_close(&of);
    }
    if (status == ULNA_OK)
        status = paper_save(job, name, &run.table, error);
    if (status == ULNA_OK)
        status = paper_save(job, summary, &run.summary, error);
    sheet_release(&run.table);
    sheet_release(&run.summary);
    return status;
}

ulna_status paper_run_convex4(paper_job *job, ulna_error *error)
{
    return run_boxes(job, "convex4", 0, error);
}

ulna_status paper_run_convex5(paper_job *job, ulna_error *error)
{
    return run_boxes(job, "convex5", 1, error);
}

/* ---- Fig. 6: four pictures ------------------------------------------------------------------------------------------------ */

/* Bones from joint to joint, the observed points, and lines from them to where they are on the skeleton. */
static ulna_status add_still(scene *of, int view, const char *panel, const double *q, sheet *table)
{
    const view_of *points = &of->views[view];
    ulna_status status = q ? ulna_pose_forward(of->pose, q) : ULNA_OK;
    for (int b = 1; b < ulna_model_body_count(of->model) && q && status == ULNA_OK; b++) {
        double a[3], c[3];
        ulna_pose_body(of->pose, ulna_model_body_parent(of->model, b), a, NULL);
        ulna_pose_body(of->pose, b, c, NULL);
        sheet_row(table, "%s,bone,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f", panel, a[0], a[1], a[2], c[0], c[1], c[2]);
    }
    for (int i = 0; i < points->count && status == ULNA_OK; i++) {
        const double *y = of->goals + 3 * i;
        double a[3], p[3];
        memcpy(p, y, sizeof p);
        if (q) {
            ulna_pose_body(of->pose, points->points[i].body, a, NULL);
            ulna_pose_point(of->pose, points->points[i].body, points->points[i].point, p);
            if (of->has_tips) /* from the last joint to the tip */
                sheet_row(table, "%s,bone,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f", panel, a[0], a[1], a[2], p[0], p[1], p[2]);
            sheet_row(table, "%s,miss,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f", panel, y[0], y[1], y[2], p[0], p[1], p[2]);
            sheet_row(table, "%s,point,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f", panel, p[0], p[1], p[2], p[0], p[1], p[2]);
        }
        sheet_row(table, "%s,goal,%.5f,%.5f,%.5f,%.5f,%.5f,%.5f", panel, y[0], y[1], y[2], y[0], y[1], y[2]);
    }
    return status;
}

/* The worst of 20 starts, in the pose in which starts differ most: the paper, too, shows local results that are wrong. Observes that pose. */
static ulna_status find_trap(scene *of, int view, double *q, ulna_error *error)
{
    enum { STARTS = 20 };
    ulna_options options = local_options(of, "newton", 30);
    size_t bytes = (size_t)ulna_model_coordinate_count(of->model) * sizeof *q;
    double *next = new_pose(of, error), *worst = new_pose(of, error), widest = -1;
    int pose = 0;
    ulna_status status = next && worst ? ULNA_OK : ULNA_ERR_MEMORY;
    for (int i = 0; i < of->poses && status == ULNA_OK; i++) {
        double least = (double)INFINITY, most = -1;
        status = scene_observe(of, view, i, 1);
        for (uint64_t k = 0; k < STARTS && status == ULNA_OK; k++) {
            answer one;
            status = solve_local(of, view, &options, 5000 + k, next, &one, error);
            if (status != ULNA_OK)
                break;
            if (one.cost_mm > most)
                memcpy(worst, next, bytes);
            most = fmax(most, one.cost_mm);
            least = fmin(least, one.cost_mm);
        }
        if (status == ULNA_OK && most - least > widest) {
            widest = most - least;
            pose = i;
            memcpy(q, worst, bytes);
        }
    }
    free(next);
    free(worst);
    return status == ULNA_OK ? scene_observe(of, view, pose, 1) : status;
}

static ulna_status run_stills(paper_job *job, int is_hand, sheet *table, sheet *costs, ulna_error *error)
{
    enum { LOCAL, PROJECTED, SDP, PICTURES };
    static const char *const names[PICTURES] = {"local", "projected (14)", "SDP-IK"};
    scene of;
    char panel[64];
    ulna_sdp_result about = {0};
    answer sdp;
    double cost_mm[PICTURES] = {0}, *q[PICTURES] = {0};
    ulna_status status = scene_open(job, &of, is_hand, 5, error);
    for (int i = 0; i < PICTURES && status == ULNA_OK; i++)
        status = (q[i] = new_pose(&of, error)) ? ULNA_OK : ULNA_ERR_MEMORY;
    if (status == ULNA_OK)
        status = find_trap(&of, VIEW_ALL, q[LOCAL], error);
    if (status == ULNA_OK)
        status = solve_sdp(&of, VIEW_ALL, q[SDP], q[PROJECTED], &sdp, &about, error);
    snprintf(panel, sizeof panel, "%s: noisy points", is_hand ? "hand" : "body");
    if (status == ULNA_OK)
        status = add_still(&of, VIEW_ALL, panel, NULL, table);
    for (int i = 0; i < PICTURES && status == ULNA_OK; i++) {
        snprintf(panel, sizeof panel, "%s: %s", of.name, names[i]);
        status = scene_cost(&of, VIEW_ALL, q[i], &cost_mm[i]);
        if (status == ULNA_OK)
            status = add_still(&of, VIEW_ALL, panel, q[i], table);
    }
    if (status == ULNA_OK) {
        sheet_row(costs, "%s,%.3g,%.3g,%.3g", of.name, cost_mm[LOCAL], cost_mm[PROJECTED], cost_mm[SDP]);
        json_t *fact = put_object(job->facts, of.name);
        put_number(fact, "local_mm", cost_mm[LOCAL]);
        put_number(fact, "projected_mm", cost_mm[PROJECTED]);
        put_number(fact, "sdp_mm", cost_mm[SDP]);
    }
    for (int i = 0; i < PICTURES; i++)
        free(q[i]);
    scene_close(&of);
    return status;
}

ulna_status paper_run_convex6(paper_job *job, ulna_error *error)
{
    sheet table, costs;
    sheet_begin(&table, "panel,kind,ax,ay,az,bx,by,bz");
    sheet_begin(&costs, "skeleton,local_mm,projected_mm,sdp_ik_mm");
    ulna_status status = run_stills(job, 0, &table, &costs, error);
    if (status == ULNA_OK)
        status = run_stills(job, 1, &table, &costs, error);
    if (status == ULNA_OK)
        status = paper_save(job, "convex6", &table, error);
    if (status == ULNA_OK)
        status = paper_save(job, "convex6-costs", &costs, error);
    sheet_release(&table);
    sheet_release(&costs);
    return status;
}

/* ---- section 6: time -------------------------------------------------------------------------------------------------------- */

ulna_status paper_run_convex_time(paper_job *job, ulna_error *error)
{
    sheet table;
    ulna_status status = ULNA_OK;
    sheet_begin(&table, "skeleton,method,seconds,poses,cost_mm,proven_percent");
    for (int is_hand = 0; is_hand < 2 && status == ULNA_OK; is_hand++) {
        scene of;
        status = scene_open(job, &of, is_hand, job->is_quick ? 1 : 10, error);
        double *q = status == ULNA_OK ? new_pose(&of, error) : NULL, seconds[2] = {0}, cost[2] = {0};
        int proven = 0, count = 0;
        status = status == ULNA_OK && !q ? ULNA_ERR_MEMORY : status;
        for (int i = 0; status == ULNA_OK && i < of.poses; i++) {
            answer found[2] = {{0}};
            ulna_sdp_result sdp = {0};
            ulna_global_result global = {0};
            paper_show(job, 0.5 * (is_hand + (double)i / of.poses));
            status = scene_observe(&of, VIEW_ALL, i, 1);
            if (status == ULNA_OK)
                status = solve_sdp(&of, VIEW_ALL, q, NULL, &found[0], &sdp, error);
            if (status == ULNA_OK)
                status = solve_global(&of, VIEW_ALL, 1, q, &found[1], &global, error);
            if (status != ULNA_OK || isnan(found[0].cost_mm))
                continue;
            for (int w = 0; w < 2; w++) {
                seconds[w] += found[w].seconds;
                cost[w] += found[w].cost_mm;
            }
            proven += global.proven;
            count++;
        }
        if (status == ULNA_OK && count) {
            sheet_row(&table, "%s,SDP-IK by DSDP,%.3g,%d,%.4g,-", of.name, seconds[0] / count, count, cost[0] / count);
            sheet_row(&table, "%s,Ulna global,%.3g,%d,%.4g,%.0f", of.name, seconds[1] / count, count, cost[1] / count,
                      100.0 * proven / count);
            json_t *fact = put_object(job->facts, of.name);
            put_number(fact, "sdp_s", seconds[0] / count);
            put_number(fact, "global_ms", 1e3 * seconds[1] / count);
        }
        free(q);
        scene_close(&of);
    }
    if (status == ULNA_OK)
        status = paper_save(job, "sdp-time", &table, error);
    sheet_release(&table);
    return status;
}
