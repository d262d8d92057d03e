/* The command line of `ulna reach`: tips with their goals in order, joints by name, seeds and postures. */
#include "cli/reach/reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/solve.h"

static const char *const axis_names[] = {"x", "y", "z", "rx", "ry", "rz", NULL};

int reach_numbers(const char *text, double *numbers, int most)
{
    int count = 0;
    for (;;) {
        char *end;
        text += strspn(text, " \t\r\n,;");
        if (!*text)
            return count;
        double number = strtod(text, &end);
        if (end == text || !isfinite(number) || count == most || (*end && !strchr(" \t\r\n,;", *end)))
            return -1;
        numbers[count++] = number;
        text = end;
    }
}

static int no_memory(json_t *object, const reach_job *job)
{
    ulna_error error;
    cli_no_memory(&error);
    return files_fail(object, job->robot, &error);
}

/* ---- names --------------------------------------------------------------------------------------------------------------- */

static int unknown_name(const cli *tool, const reach_job *job, const char *what, const char *name,
                        const char *const *names)
{
    char lists[300];
    snprintf(lists, sizeof lists, "; `ulna info --tree %.250s` lists them", job->robot);
    return cli_unknown(tool, what, name, names, lists);
}

/* A link, or with `point` also a marker, which is a point of its link. */
static int find_link(const cli *tool, const reach_job *job, const char *name, int *body, double *point)
{
    const ulna_model *model = job->model;
    int marker = point ? ulna_model_find_marker(model, name) : ULNA_NONE, bodies = ulna_model_body_count(model);
    int markers = point ? ulna_model_marker_count(model) : 0;
    *body = ulna_model_find_body(model, name);
    if (*body != ULNA_NONE)
        return CLI_DONE;
    if (marker != ULNA_NONE) {
        *body = ulna_model_marker_body(model, marker);
        ulna_model_marker_position(model, marker, point);
        return CLI_DONE;
    }
    const char **names = cli_allocate((size_t)bodies + (size_t)markers + 1, sizeof *names);
    for (int i = 0; i < bodies; i++)
        names[i] = ulna_model_body_name(model, i);
    for (int i = 0; i < markers; i++)
        names[bodies + i] = ulna_model_marker_name(model, i);
    int code = unknown_name(tool, job, "link", name, names);
    free(names);
    return code;
}

/* The DOFs of "JOINT" (a body, or one of its DOFs by label) in "JOINT=VALUE"; `value` is left alone where there is none. */
static int find_joint(const cli *tool, const reach_job *job, const char *option, const char *text, int *first,
                      int *count, double *value)
{
    const char *equals = strchr(text, '=');
    char name[300];
    size_t length = equals ? (size_t)(equals - text) : strlen(text);
    snprintf(name, sizeof name, "%.*s", (int)(length < 299 ? length : 299), text);
    if (equals && reach_numbers(equals + 1, value, 1) != 1)
        return cli_usage(tool, "--%s %s: '%s' is not a number", option, text, equals + 1);
    int joint = ulna_model_find_joint(job->model, name);
    int body = joint != ULNA_NONE ? joint : ulna_model_find_body(job->model, name);
    *first = solve_find_dof(job->model, name);
    *count = *first != ULNA_NONE ? 1 : body != ULNA_NONE ? ulna_model_body_dofs(job->model, body, first) : 0;
    if (*count > 0)
        return CLI_DONE;
    if (body != ULNA_NONE)
        return cli_usage(tool, "--%s: the joint of '%s' is fixed", option, name);
    const char **names = calloc((size_t)job->nv + 1, sizeof *names);
    for (int j = 0; names && j < job->nv; j++)
        names[j] = ulna_model_joint_name(job->model, ulna_model_dof_body(job->model, j));
    int code = names ? unknown_name(tool, job, "joint", name, names) : CLI_USAGE;
    free(names);
    return code;
}

/* ---- tips ----------------------------------------------------------------------------------------------------------------- */

static int read_goal(const cli *tool, reach_tip *tip, const char *text)
{
    double n[7];
    int count = reach_numbers(text, n, 7);
    if (count != 3 && count != 4 && count != 7)
        return cli_usage(tool, "--goal takes \"x y z\", \"x y z qx qy qz qw\" or \"qx qy qz qw\", not '%s'", text);
    if (count >= 4) {
        memcpy(tip->goal.rotation, n + count - 4, sizeof tip->goal.rotation);
        if (!(hypot(hypot(n[count - 4], n[count - 3]), hypot(n[count - 2], n[count - 1])) > 0))
            return cli_usage(tool, "--goal '%s': the quaternion is zero", text);
    }
    if (count != 4)
        memcpy(tip->goal.position, n, sizeof tip->goal.position);
    for (int k = 0; k < 6; k++)
        if ((count == 3 && k >= 3) || (count == 4 && k < 3))
            tip->tip.weight[k] = 0;
    tip->has_goal = 1;
    return CLI_DONE;
}

/* "[AXIS] dx dy dz": the goal is a rotation that takes the axis to the direction, and the spin about it is free. */
static int read_direction(const cli *tool, reach_tip *tip, const char *text)
{
    double d[3], *q = tip->goal.rotation;
    const char *rest = text + strspn(text, " ");
    int k = *rest >= 'x' && *rest <= 'z' && rest[1] == ' ' ? *rest - 'x' : -1;
    int count = reach_numbers(k < 0 ? rest : rest + 1, d, 3);
    double length = count == 3 ? hypot(hypot(d[0], d[1]), d[2]) : 0;
    if (!(length > 0) || !isfinite(length))
        return cli_usage(
            tool, "--direction takes \"dx dy dz\", or an axis of the tip before it as in \"x 0 0 -1\", not '%s'", text);
    if (tip->has_goal && tip->tip.weight[3] + tip->tip.weight[4] + tip->tip.weight[5] > 0)
        return cli_usage(tool, "the --goal of tip %s has a rotation already: leave out --direction, or the quaternion",
                         tip->name);
    k = k < 0 ? 2 : k;
    /* Half-way between axis and direction: q = (axis x d, 1 + axis . d); any normal if they are opposite. */
    double axis[3] = {k == 0, k == 1, k == 2}, w = 1 + d[k] / length;
    for (int i = 0; i < 3; i++)
        q[i] = (axis[(i + 1) % 3] * d[(i + 2) % 3] - axis[(i + 2) % 3] * d[(i + 1) % 3]) / length;
    q[3] = w;
    if (w < 1e-9) {
        memset(q, 0, 4 * sizeof *q);
        q[(k + 1) % 3] = 1;
    }
    if (!tip->has_goal)
        memset(tip->tip.weight, 0, 3 * sizeof *tip->tip.weight);
    for (int i = 0; i < 3; i++)
        tip->tip.weight[3 + i] = i != k;
    tip->has_goal = 1;
    return CLI_DONE;
}

static int read_free(const cli *tool, reach_tip *tip, const char *text)
{
    while (*(text += strspn(text, " ,"))) {
        size_t length = strcspn(text, " ,");
        int found = -1;
        for (int k = 0; axis_names[k]; k++)
            if (strlen(axis_names[k]) == length && strncmp(axis_names[k], text, length) == 0)
                found = k;
        if (found < 0)
            return cli_usage(tool, "--free takes axes of the goal's frame: x, y, z, rx, ry, rz, not '%s'", text);
        tip->tip.weight[found] = 0;
        text += length;
    }
    return CLI_DONE;
}

/* One number for all axes, two for positions and rotations, or six. */
static int read_axes(const cli *tool, const char *option, const char *text, double axes[6])
{
    double n[6];
    int count = reach_numbers(text, n, 6);
    if (count != 1 && count != 2 && count != 6)
        return cli_usage(tool, "--%s takes one number, two (positions, rotations) or six, not '%s'", option, text);
    for (int k = 0; k < 6; k++)
        axes[k] = count == 6 ? n[k] : n[count == 2 && k >= 3];
    for (int k = 0; k < 6; k++)
        if (!(axes[k] > 0 || (axes[k] == 0 && strcmp(option, "weight") == 0)))
            return cli_usage(tool, "--%s '%s': %g is not above 0", option, text, axes[k]);
    return CLI_DONE;
}

static int read_tool(const cli *tool, reach_tip *tip, const char *text)
{
    double n[7] = {0, 0, 0, 0, 0, 0, 1};
    int count = reach_numbers(text, n, 7);
    double length = hypot(hypot(n[3], n[4]), hypot(n[5], n[6]));
    if ((count != 3 && count != 7) || !(length > 0))
        return cli_usage(tool, "--tool takes \"x y z\" or \"x y z qx qy qz qw\", not '%s'", text);
    memcpy(tip->tip.point, n, sizeof tip->tip.point);
    for (int i = 0; i < 4; i++)
        tip->tip.rotation[i] = n[3 + i] / length;
    return CLI_DONE;
}

static int add_tip(const cli *tool, reach_job *job, const char *name)
{
    if (job->tip_count == REACH_MOST_TIPS)
        return cli_usage(tool, "more than %d tips", REACH_MOST_TIPS);
    reach_tip *tip = &job->tip[job->tip_count];
    *tip = (reach_tip){.name = name, .tip = ulna_reach_tip_default(0), .goal = {.rotation = {0, 0, 0, 1}}};
    int code = find_link(tool, job, name, &tip->tip.body, tip->tip.point);
    job->tip_count += !code;
    return code;
}

static int is_moved(const ulna_model *model, int body)
{
    while (body != ULNA_NONE && !ulna_model_body_dofs(model, body, NULL))
        body = ulna_model_body_parent(model, body);
    return body != ULNA_NONE;
}

/* The only link at the end of a chain, if there is one only; ends that no joint moves do not count. */
static int default_tip(const cli *tool, reach_job *job)
{
    enum { SHOWN = 12 };
    const char *leaf = NULL;
    char list[40 * SHOWN] = "";
    int count = 0, shown = 0;
    for (int b = 0; b < ulna_model_body_count(job->model); b++)
        if (ulna_model_subtree(job->model, b, NULL) == 1 && is_moved(job->model, b)) {
            leaf = ulna_model_body_name(job->model, b);
            count++;
            if (shown == SHOWN || strlen(list) + strlen(leaf) + 3 > sizeof list)
                continue;
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", shown++ ? ", " : "", leaf);
        }
    return count == 1 ? add_tip(tool, job, leaf)
                      : cli_usage(tool, "the robot has %d ends: choose with --tip (%s%s)", count, list,
                                  shown < count ? ", ...; `ulna info` lists them" : "");
}

/* Options about a tip, in the order in which they are applied, whatever order they are given in. */
static const char *const of_tips[] = {"goal", "direction", "relative-to", "free", "tolerance", "weight", "tool", NULL};

static int read_tip_option(const cli *tool, reach_job *job, reach_tip *tip, const char *option, const char *value)
{
    double axes[6];
    if (strcmp(option, "goal") == 0)
        return read_goal(tool, tip, value);
    if (strcmp(option, "direction") == 0)
        return read_direction(tool, tip, value);
    if (strcmp(option, "free") == 0)
        return read_free(tool, tip, value);
    if (strcmp(option, "tool") == 0)
        return read_tool(tool, tip, value);
    if (strcmp(option, "relative-to") == 0) {
        tip->relative_to = value;
        return find_link(tool, job, value, &tip->tip.relative_to, NULL);
    }
    int code = read_axes(tool, option, value, axes);
    if (!code && strcmp(option, "tolerance") == 0)
        memcpy(tip->tip.tolerance, axes, sizeof axes);
    else
        for (int k = 0; k < 6 && !code; k++)
            tip->tip.weight[k] *= axes[k];
    return code;
}

/* The options of one name: each is about the tip before it, or about the only one. */
static int read_tip_options(const cli *tool, reach_job *job, const char *option)
{
    int code = CLI_DONE, is_one = job->tip_count == 1, at = is_one ? 0 : -1;
    const reach_tip *before = NULL;
    for (int i = 0; i < tool->given_count && !code; i++) {
        const char *name = tool->given[i]->name;
        at += !is_one && strcmp(name, "tip") == 0;
        if (strcmp(name, option) != 0)
            continue;
        if (at < 0)
            return cli_usage(tool, "--%s stands before the first --tip: give it after the tip that it is about",
                             option);
        reach_tip *tip = &job->tip[at];
        if (tip == before && strcmp(option, "free") != 0)
            return cli_usage(tool, "tip %s has two --%s: leave one out, or give each a --tip before it", tip->name,
                             option);
        before = tip;
        code = read_tip_option(tool, job, tip, option, tool->values[i]);
    }
    return code;
}

static int read_tips(const cli *tool, reach_job *job)
{
    int code = CLI_DONE;
    for (int i = 0; i < tool->given_count && !code; i++)
        if (strcmp(tool->given[i]->name, "tip") == 0)
            code = add_tip(tool, job, tool->values[i]);
    if (!code && job->tip_count == 0)
        code = default_tip(tool, job);
    for (int k = 0; of_tips[k] && !code; k++)
        code = read_tip_options(tool, job, of_tips[k]);
    for (int i = 0; i < job->tip_count && !code && !job->bench && !job->rows_path; i++)
        if (!job->tip[i].has_goal)
            code = cli_usage(tool, "tip %s has no goal: give --goal or --direction after --tip %s", job->tip[i].name,
                             job->tip[i].name);
    return code;
}

/* ---- configurations --------------------------------------------------------------------------------------------------------- */

/* "rest", all coordinates as numbers, or the first frame of a motion. */
static int read_configuration(const cli *tool, json_t *object, reach_job *job, const char *option, const char *text,
                              double *q)
{
    ulna_clip clip = ulna_clip_empty(NULL);
    ulna_error error;
    size_t bytes = (size_t)job->nq * sizeof *q;
    int count = reach_numbers(text, q, job->nq), coordinate;
    if (strcmp(text, "rest") == 0) {
        memcpy(q, ulna_model_rest(job->model), bytes);
        return CLI_DONE;
    }
    if (count == job->nq) {
        if (ulna_model_check_q(job->model, q, &coordinate))
            return cli_usage(tool, "--%s: the quaternion of coordinate %d is zero", option, coordinate);
        return CLI_DONE;
    }
    double first;
    char *end;
    first = strtod(text, &end);
    if (count >= 0 || (end != text && strpbrk(text, " ,") && isfinite(first)))
        return cli_usage(tool, "--%s takes %d numbers (radians, metres), rest, or a file with a motion; not '%s'",
                         option, job->nq, text);
    ulna_error_clear(&error);
    if (files_motion(text, &job->file, &clip, job->notes, &error))
        return files_fail(object, text, &error);
    memcpy(q, ulna_clip_frame(&clip, 0), bytes);
    ulna_clip_release(&clip);
    return CLI_DONE;
}

static int read_configurations(const cli *tool, json_t *object, reach_job *job)
{
    const char *seed = cli_value(tool, "seed"), *posture = cli_value(tool, "posture");
    int code = CLI_DONE;
    job->seed = calloc((size_t)job->nq + 1, sizeof *job->seed);
    job->posture = posture ? calloc((size_t)job->nq + 1, sizeof *job->posture) : NULL;
    if (!job->seed || (posture && !job->posture))
        return no_memory(object, job);
    code = read_configuration(tool, object, job, "seed", seed ? seed : "rest", job->seed);
    if (!code && posture)
        code = read_configuration(tool, object, job, "posture", posture, job->posture);
    job->options.posture = job->posture;
    return code;
}

/* A joint that follows another one takes neither a value nor a strength: its master has them. */
static int refuse_follower(const cli *tool, const reach_job *job, const char *option, const char *text, int dof)
{
    int count;
    const ulna_coupling *coupling = ulna_model_couplings(job->model, &count);
    for (int i = 0; i < count; i++)
        if (coupling[i].dof == dof)
            return cli_usage(tool, "--%s %s: this joint follows %s: give --%s for that one", option, text,
                             ulna_model_joint_name(job->model, ulna_model_dof_body(job->model, coupling[i].master)),
                             option);
    return CLI_DONE;
}

/* --lock, --strength and --distance-weight, by joint. */
static int read_joints(const cli *tool, json_t *object, reach_job *job)
{
    size_t nv = (size_t)job->nv + 1;
    job->locked = calloc(nv, 1);
    job->strength = calloc(nv, sizeof *job->strength);
    job->distance_weight = calloc(nv, sizeof *job->distance_weight);
    if (!job->locked || !job->strength || !job->distance_weight)
        return no_memory(object, job);
    for (int j = 0; j < job->nv; j++) {
        job->locked[j] = job->constraints.locked && job->constraints.locked[j];
        job->strength[j] =
            job->constraints.strength ? job->constraints.strength[j] : ulna_model_strength(job->model)[j];
        job->distance_weight[j] = 1;
    }
    for (int i = 0; i < tool->given_count; i++) {
        const char *option = tool->given[i]->name, *text = tool->values[i];
        int first = 0, count = 0, is_lock = strcmp(option, "lock") == 0, has_value = text && strchr(text, '=') != NULL;
        double value = 0, *weights = strcmp(option, "strength") == 0          ? job->strength
                                     : strcmp(option, "distance-weight") == 0 ? job->distance_weight
                                                                              : NULL;
        if (!is_lock && !weights)
            continue;
        int code = find_joint(tool, job, option, text, &first, &count, &value);
        if (code)
            return code;
        if (weights && (!has_value || value < 0))
            return cli_usage(tool, "--%s takes JOINT=NUMBER, 0 or above, not '%s'", option, text);
        for (int j = first; j < first + count; j++) {
            int c = ulna_model_dof_coordinate(job->model, j);
            if (has_value && weights != job->distance_weight)
                code = refuse_follower(tool, job, option, text, j);
            if (code)
                return code;
            if (weights)
                weights[j] = value;
            else
                job->locked[j] = 1;
            if (is_lock && has_value && (count > 1 || c < 0))
                return cli_usage(tool, "--lock %s: only a joint with a single value can be given one", text);
            if (is_lock && has_value &&
                !(value >= ulna_model_lower(job->model)[j] && value <= ulna_model_upper(job->model)[j]))
                return cli_usage(tool, "--lock %s: the limits are %g to %g", text, ulna_model_lower(job->model)[j],
                                 ulna_model_upper(job->model)[j]);
            if (is_lock && has_value)
                job->seed[c] = value;
        }
    }
    job->options.locked = job->locked;
    job->options.strength = job->strength;
    job->options.distance_weight = job->distance_weight;
    return CLI_DONE;
}

/* ---- constraints --------------------------------------------------------------------------------------------------------------- */

static int read_constraints(const cli *tool, json_t *object, reach_job *job)
{
    const char *path = cli_value(tool, "constraints");
    ulna_error error;
    if (!path)
        return CLI_DONE;
    ulna_error_clear(&error);
    goals_init(&job->wanted, job->model);
    job->constraints.wanted = &job->wanted;
    job->constraints.notes = job->notes;
    if (constraint_file_read(&job->constraints, path, &error))
        return files_fail(object, path, &error);
    job->kept = calloc((size_t)job->constraints.count + 1, sizeof *job->kept);
    if (!job->kept)
        return no_memory(object, job);
    for (int i = 0; i < job->constraints.count; i++) {
        job->kept[i] = job->constraints.list[i].constraint;
        if (job->kept[i].level != 0) {
            cli_fail(&error, ULNA_ERR_UNSUPPORTED, "%s has level %d: `ulna reach` keeps hard constraints, of level 0",
                     job->constraints.own[i].name, job->kept[i].level);
            return files_fail(object, path, &error);
        }
    }
    if (job->wanted.count) {
        cli_fail(&error, ULNA_ERR_UNSUPPORTED, "the file has goals: `ulna reach` takes them as --tip and --goal");
        return files_fail(object, path, &error);
    }
    job->options.constraints = job->kept;
    job->options.constraint_count = job->constraints.count;
    return CLI_DONE;
}

/* ---- the rest --------------------------------------------------------------------------------------------------------------------- */

/* "500us", "2ms", "0.1s". */
static int read_budget(const cli *tool, double *seconds)
{
    const char *text = cli_value(tool, "budget");
    char *end;
    if (!text)
        return CLI_DONE;
    double number = strtod(text, &end);
    double unit = strcmp(end, "us") == 0 ? 1e-6 : strcmp(end, "ms") == 0 ? 1e-3 : strcmp(end, "s") == 0 ? 1 : 0;
    if (end == text || unit == 0 || !(number > 0 && number * unit <= 1e6))
        return cli_usage(tool, "--budget takes a time such as 500us, 2ms or 0.1s, not '%s'", text);
    *seconds = number * unit;
    return CLI_DONE;
}

static int read_norm(const cli *tool, ulna_reach_norm *norm)
{
    const char *text = cli_value(tool, "norm");
    *norm = text && strcmp(text, "largest") == 0 ? ULNA_REACH_NORM_LARGEST : ULNA_REACH_NORM_SQUARES;
    return text && *norm == ULNA_REACH_NORM_SQUARES && strcmp(text, "squares") != 0
               ? cli_usage(tool, "--norm takes squares or largest, not '%s'", text)
               : CLI_DONE;
}

static int read_bench(const cli *tool, reach_job *job)
{
    const char *start = cli_value(tool, "start");
    int code = numbers_count(tool, "bench", 1, 10000000, &job->bench);
    job->near = start && strcmp(start, "near") == 0;
    if (!code && start && !job->near && strcmp(start, "random") != 0)
        return cli_usage(tool, "--start takes random or near, not '%s'", start);
    if (!code && start && !job->bench)
        return cli_usage(tool, "--start needs --bench N");
    if (!code && job->bench &&
        (cli_value(tool, "path") || cli_value(tool, "each") || cli_value(tool, "all") || cli_value(tool, "goal")))
        return cli_usage(tool, "--bench makes goals of its own: it takes no --goal, --each, --path or --all");
    return code;
}

static int read_mode(const cli *tool, reach_job *job)
{
    int nearest = cli_value(tool, "nearest") != NULL, any = cli_value(tool, "any") != NULL;
    int near = cli_value(tool, "seed") || cli_value(tool, "path") || job->near;
    if (nearest && any)
        return cli_usage(tool, "give either --nearest or --any");
    job->options.mode = nearest ? ULNA_REACH_NEAREST : near && !any ? ULNA_REACH_NEAR : ULNA_REACH_ANY;
    job->all = cli_value(tool, "all") != NULL;
    job->is_list = cli_value(tool, "each") != NULL;
    job->rows_path = job->is_list ? cli_value(tool, "each") : cli_value(tool, "path");
    if (job->is_list && cli_value(tool, "path"))
        return cli_usage(tool, "give either --each, where no row depends on the others, or --path, a sequence");
    if (job->all && job->rows_path)
        return cli_usage(tool, "give either --all or --%s", job->is_list ? "each" : "path");
    if (!cli_value(tool, "path") && (cli_value(tool, "max-speed") || cli_value(tool, "rate")))
        return cli_usage(tool, "--max-speed and --rate need --path");
    if (job->rows_path && (cli_value(tool, "goal") || cli_value(tool, "direction")))
        return cli_usage(tool, "--%s has the goals of all rows: leave out --goal and --direction",
                         job->is_list ? "each" : "path");
    return CLI_DONE;
}

static int read_numbers(const cli *tool, reach_job *job)
{
    int code = numbers_seed(tool, "seed-rng", &job->options.seed);
    if (!code)
        code = numbers_count(tool, "iterations", 1, 1000000, &job->options.iterations);
    if (!code)
        code = numbers_count(tool, "restarts", 0, 1000000, &job->options.restarts);
    if (!code)
        code = numbers_real(tool, "max-speed", 1e-9, 1e9, "", &job->max_speed);
    if (!code)
        code = numbers_real(tool, "rate", 1e-6, 1e9, " Hz", &job->rate);
    if (!code)
        code = read_norm(tool, &job->options.norm);
    return code ? code : read_budget(tool, &job->options.seconds);
}

/* What the rows of a file do not say is free. */
static int read_rows(json_t *object, reach_job *job)
{
    ulna_error error;
    if (!job->rows_path)
        return CLI_DONE;
    ulna_error_clear(&error);
    if (reach_rows_open(&job->rows, job, job->rows_path, !job->is_list, &error))
        return files_fail(object, job->rows_path, &error);
    for (int i = 0; i < job->tip_count; i++)
        for (int k = 0; k < 6; k++)
            if (!reach_rows_has(&job->rows, i, k))
                job->tip[i].tip.weight[k] = 0;
    return CLI_DONE;
}

int reach_read_options(const cli *tool, json_t *object, reach_job *job)
{
    int code = read_bench(tool, job);
    if (!code)
        code = read_mode(tool, job);
    if (!code)
        code = read_numbers(tool, job);
    if (!code)
        code = read_tips(tool, job);
    if (!code)
        code = read_constraints(tool, object, job);
    if (!code)
        code = read_configurations(tool, object, job);
    if (!code)
        code = read_joints(tool, object, job);
    return code ? code : read_rows(object, job);
}
