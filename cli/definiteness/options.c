/* The command line of `ulna definiteness`: first what needs no model, then what depends on it. */
#include "cli/definiteness/definiteness.h"
#include "cli/input.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "ulna/kinematics.h"
#include "ulna/sample.h"

#define FARTHEST 1e6        /* m; beyond, squares lose their digits */
#define MOST_DEGREES 3600.0 /* of a range: ten turns */
#define MOST_WEIGHT 1e12    /* m2/rad2 */

/* ---- numbers ------------------------------------------------------------------------------------------ */

/* Exactly `count` finite numbers no larger than `most`, between blanks or commas. */
static int parse_numbers(const char *text, double *values, int count, double most)
{
    for (int i = 0; i < count; i++) {
        char *end;
        text += strspn(text, " \t");
        text += i > 0 && *text == ',';
        values[i] = strtod(text, &end);
        if (end == text || !isfinite(values[i]) || fabs(values[i]) > most || (*end && !strchr(" \t,", *end)))
            return 0;
        text = end;
    }
    return text[strspn(text, " \t")] == 0;
}

static int read_weight(const cli *tool, request *wish)
{
    const char *text = cli_value(tool, "regularise");
    if (text && (!parse_numbers(text, &wish->weight, 1, MOST_WEIGHT) || !(wish->weight > 0)))
        return cli_usage(tool, "--regularise takes a weight above 0, in m2/rad2, not '%s'", text);
    return CLI_DONE;
}

static int read_goals(const cli *tool, request *wish)
{
    for (int i = 0; i < tool->given_count; i++) {
        if (strcmp(tool->given[i]->name, "goal") != 0)
            continue;
        if (wish->goal_count == DEFINITENESS_GOALS)
            return cli_usage(tool, "--goal: at most %d goals go into one picture", DEFINITENESS_GOALS);
        if (!parse_numbers(tool->values[i], wish->goals[wish->goal_count++], 3, FARTHEST))
            return cli_usage(tool, "--goal takes three numbers in metres, such as '1 0 0', not '%s'", tool->values[i]);
    }
    return CLI_DONE;
}

static int is_svg(const char *path)
{
    const char *dot = strrchr(path, '.');
    return dot && dot != path && dot[-1] != '/' && strcasecmp(dot, ".svg") == 0;
}

static int check_outputs(const cli *tool)
{
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "output") == 0 && !is_svg(tool->values[i]))
            return cli_usage(tool, "--output: the picture is SVG, so its name must end in .svg, not '%s'",
                             tool->values[i]);
    return CLI_DONE;
}

static int check_point_options(const cli *tool, request *wish)
{
    const char *point = cli_value(tool, "point");
    if (cli_value(tool, "marker") && cli_value(tool, "body"))
        return cli_usage(tool, "--marker and --body exclude each other");
    if (point && !cli_value(tool, "body"))
        return cli_usage(tool, "--point is a point of a body: give --body too");
    if (point && !parse_numbers(point, wish->point, 3, FARTHEST))
        return cli_usage(tool, "--point takes three numbers in metres, such as '0.1 0 0', not '%s'", point);
    return CLI_DONE;
}

/* ---- names -------------------------------------------------------------------------------------------- */

static int unknown_part(const cli *tool, const char *what, const char *name, const ulna_model *model, int count,
                        const char *(*name_of)(const ulna_model *, int))
{
    const char **names = cli_allocate((size_t)count + 1, sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = name_of(model, i);
    cli_unknown(tool, what, name, names, " in the model");
    free(names);
    return CLI_USAGE;
}

static int find_marker(const cli *tool, const char *name, request *wish)
{
    const ulna_model *model = wish->model;
    int marker = ulna_model_find_marker(model, name);
    if (marker == ULNA_NONE)
        return unknown_part(tool, "marker", name, model, ulna_model_marker_count(model), ulna_model_marker_name);
    wish->marker = ulna_model_marker_name(model, marker);
    wish->body = ulna_model_marker_body(model, marker);
    ulna_model_marker_position(model, marker, wish->point);
    return CLI_DONE;
}

static int find_body(const cli *tool, const char *name, request *wish)
{
    const ulna_model *model = wish->model;
    wish->body = ulna_model_find_body(model, name);
    if (wish->body == ULNA_NONE)
        return unknown_part(tool, "body", name, model, ulna_model_body_count(model), ulna_model_body_name);
    return CLI_DONE;
}

/* A model with one marker needs no option for the point. */
static int find_point(const cli *tool, request *wish)
{
    const char *marker = cli_value(tool, "marker"), *body = cli_value(tool, "body");
    int count = ulna_model_marker_count(wish->model);
    if (marker)
        return find_marker(tool, marker, wish);
    if (body)
        return find_body(tool, body, wish);
    if (count == 1)
        return find_marker(tool, ulna_model_marker_name(wish->model, 0), wish);
    if (count == 0)
        return cli_usage(tool, "the model has no markers: give the point that has the goal, with --body and --point");
    return cli_usage(tool, "the model has %d markers: give the one that has the goal, with --marker", count);
}

/* ---- degrees of freedom ------------------------------------------------------------------------------- */

/* The degree of freedom that an option names, by its label or else by its number; ULNA_NONE if it is not given. */
static int find_dof(const cli *tool, const char *option, const request *wish, int *dof)
{
    typedef char label[300];
    const char *name = cli_value(tool, option);
    int count = ulna_model_dof_count(wish->model), code = CLI_DONE;
    *dof = ULNA_NONE;
    if (!name)
        return CLI_DONE;
    label *labels = calloc((size_t)count + 1, sizeof *labels);
    const char **names = calloc((size_t)count + 1, sizeof *names);
    if (!labels || !names) {
        code = cli_out_of_memory();
        count = 0;
    }
    for (int i = 0; i < count; i++) {
        ulna_model_dof_label(wish->model, i, labels[i], sizeof labels[i]);
        names[i] = labels[i];
        *dof = strcmp(labels[i], name) == 0 ? i : *dof;
    }
    double number;
    if (*dof == ULNA_NONE && isdigit((unsigned char)*name) && parse_numbers(name, &number, 1, count - 1) &&
        number == floor(number))
        *dof = (int)number;
    if (!code && *dof == ULNA_NONE)
        code = cli_unknown(tool, "degree of freedom", name, names, " in the model");
    else if (!code && ulna_model_dof_coordinate(wish->model, *dof) == ULNA_NONE)
        code = cli_usage(tool, "--%s: '%s' is part of a quaternion and has no angle of its own to sweep", option, name);
    free(labels);
    free(names);
    return code;
}

/* By default the two rotations nearest to the point that move it at rest; the one further up is x. */
static int choose_dofs(const cli *tool, request *wish, const double *jacobian, int dofs[2])
{
    double small = 1e-6 * ulna_model_length_scale(wish->model);
    for (int k = 1; k >= 0; k--) {
        for (int i = ulna_model_dof_count(wish->model) - 1; i >= 0 && dofs[k] == ULNA_NONE; i--) {
            const double *column = jacobian + 3 * i;
            int is_taken = i == dofs[1 - k] || (k == 0 && dofs[1] != ULNA_NONE && !cli_value(tool, "y") && i > dofs[1]);
            if (!is_taken && !ulna_model_dof_is_translation(wish->model, i) &&
                ulna_model_dof_coordinate(wish->model, i) != ULNA_NONE &&
                hypot(hypot(column[0], column[1]), column[2]) > small)
                dofs[k] = i;
        }
        if (dofs[k] == ULNA_NONE)
            return cli_usage(tool,
                             "no two joint angles of the model move the point at rest: give the degrees of freedom "
                             "to sweep, with --x and --y");
    }
    return CLI_DONE;
}

/* ---- ranges ------------------------------------------------------------------------------------------- */

/* "LOW HIGH", in degrees or metres. */
static int read_range(const cli *tool, const char *option, const request_axis *axis, sweep_range *range,
                      int may_be_empty)
{
    double ends[2];
    const char *text = cli_value(tool, option), *unit = axis->is_angle ? "degrees" : "metres";
    double most = axis->is_angle ? MOST_DEGREES : FARTHEST;
    if (!text)
        return CLI_DONE;
    if (!parse_numbers(text, ends, 2, most))
        return cli_usage(tool, "--%s takes two numbers in %s, from -%g to %g, not '%s'", option, unit, most, most,
                         text);
    if (ends[0] > ends[1] || (ends[0] == ends[1] && !may_be_empty))
        return cli_usage(tool, "--%s: the first number must be the lower one, in '%s'", option, text);
    range->low = axis->is_angle ? ends[0] * DEFINITENESS_DEGREE : ends[0];
    range->high = axis->is_angle ? ends[1] * DEFINITENESS_DEGREE : ends[1];
    return CLI_DONE;
}

/* A whole circle; a translation goes the model's length to both sides of rest. Limits that the model leaves open end there. */
static int set_axis(const cli *tool, request *wish, int k, int dof)
{
    static const char *const names[2][2] = {{"range-x", "limits-x"}, {"range-y", "limits-y"}};
    const ulna_model *model = wish->model;
    request_axis *axis = &wish->axes[k];
    axis->dof = dof;
    ulna_model_dof_label(model, dof, axis->name, sizeof axis->name);
    axis->is_angle = !ulna_model_dof_is_translation(model, dof);
    double rest = ulna_model_rest(model)[ulna_model_dof_coordinate(model, dof)];
    double reach = ulna_model_length_scale(model);
    axis->whole = axis->is_angle ? (sweep_range){-180 * DEFINITENESS_DEGREE, 180 * DEFINITENESS_DEGREE}
                                 : (sweep_range){rest - reach, rest + reach};
    int code = read_range(tool, names[k][0], axis, &axis->whole, 0);

    double lower = ulna_model_lower(model)[dof], upper = ulna_model_upper(model)[dof];
    axis->has_limits = isfinite(lower) || isfinite(upper) || cli_value(tool, names[k][1]);
    axis->limits.low = isfinite(lower) ? lower : fmin(axis->whole.low, upper);
    axis->limits.high = isfinite(upper) ? upper : fmax(axis->whole.high, lower);
    return code ? code : read_range(tool, names[k][1], axis, &axis->limits, 1);
}

static int check_bounds(const cli *tool, request *wish)
{
    wish->bounds = cli_value(tool, "bounds") || cli_value(tool, "limits-x") || cli_value(tool, "limits-y");
    if (wish->bounds && !wish->axes[0].has_limits && !wish->axes[1].has_limits)
        return cli_usage(tool,
                         "--bounds: the model limits neither '%s' nor '%s'; give limits with --limits-x and "
                         "--limits-y",
                         wish->axes[0].name, wish->axes[1].name);
    return CLI_DONE;
}

/* ---- goals -------------------------------------------------------------------------------------------- */

/* By default as in the paper: inside, on the border of and outside the reach, where the point is at rest as seen
 * from the upper joint. */
static int choose_goals(const cli *tool, request *wish, const ulna_pose *pose)
{
    double axis[3], from[3], to[3], length = 0;
    int upper = wish->axes[0].dof < wish->axes[1].dof ? 0 : 1;
    if (wish->goal_count)
        return CLI_DONE;
    if (wish->axes[upper].is_angle)
        ulna_pose_dof_axis(pose, wish->axes[upper].dof, axis, from);
    else
        ulna_pose_body(pose, ulna_model_dof_body(wish->model, wish->axes[upper].dof), from, NULL);
    ulna_pose_point(pose, wish->body, wish->point, to);
    for (int k = 0; k < 3; k++)
        length = hypot(length, to[k] - from[k]);
    if (!(length > 1e-6 * ulna_model_length_scale(wish->model)))
        return cli_usage(tool, "the point lies on '%s', so there are no default goals: give --goal",
                         wish->axes[upper].name);
    for (wish->goal_count = 0; wish->goal_count < 3; wish->goal_count++)
        for (int k = 0; k < 3; k++)
            wish->goals[wish->goal_count][k] = from[k] + (wish->goal_count + 1) / 2.0 * (to[k] - from[k]);
    return CLI_DONE;
}

/* What depends on the pose at rest. */
static int choose_at_rest(const cli *tool, request *wish, ulna_pose *pose, double *jacobian)
{
    const ulna_effector effector = {wish->body, {wish->point[0], wish->point[1], wish->point[2]}};
    ulna_jacobian_options options = ulna_jacobian_options_default();
    int dofs[2], code;
    options.rows = ULNA_ROWS_LINEAR;
    ulna_pose_forward(pose, ulna_model_rest(wish->model));
    ulna_pose_jacobian(pose, &options, 1, &effector, jacobian);
    if ((code = find_dof(tool, "x", wish, &dofs[0])) || (code = find_dof(tool, "y", wish, &dofs[1])))
        return code;
    if ((code = choose_dofs(tool, wish, jacobian, dofs)))
        return code;
    if (dofs[0] == dofs[1])
        return cli_usage(tool, "--x and --y are both '%s'; a map needs two different degrees of freedom",
                         cli_value(tool, "x"));
    if ((code = set_axis(tool, wish, 0, dofs[0])) || (code = set_axis(tool, wish, 1, dofs[1])))
        return code;
    code = check_bounds(tool, wish);
    return code ? code : choose_goals(tool, wish, pose);
}

/* ---- all of it ---------------------------------------------------------------------------------------- */

static int fail_file(const cli *tool, const request *wish, const ulna_error *error)
{
    json_t *object = json_object();
    int code = files_fail(object, wish->path, error);
    cli_json_print(tool, object);
    return code;
}

/* --over: all, or names with commas between them; a name that is a body stands for all its degrees of freedom. */
static int read_over(const cli *tool, request *wish)
{
    const char *text = cli_value(tool, "over");
    int count = ulna_model_dof_count(wish->model);
    if (!text)
        return CLI_DONE;
    wish->over = cli_allocate((size_t)count + 1, sizeof *wish->over);
    int is_all = strcmp(text, "all") == 0;
    for (int i = 0; i < count && is_all; i++)
        wish->over[i] = 1;
    while (!is_all && *text) {
        char name[300], label[300];
        int length = (int)strcspn(text, ","), found = 0;
        snprintf(name, sizeof name, "%.*s", length, text);
        for (int i = 0; i < count; i++) {
            ulna_model_dof_label(wish->model, i, label, sizeof label);
            const char *body = ulna_model_body_name(wish->model, ulna_model_dof_body(wish->model, i));
            if (strcmp(label, name) == 0 || strcmp(body, name) == 0)
                found = (int)(wish->over[i] = 1);
        }
        if (!found)
            return cli_usage(tool, "--over: the model has no degree of freedom and no body '%s'", name);
        text += length + (text[length] == ',');
    }
    for (int i = 0; i < count; i++)
        wish->over_count += wish->over[i] != 0;
    return wish->over_count ? CLI_DONE : cli_usage(tool, "--over takes all, or names of degrees of freedom or bodies");
}

int request_read(const cli *tool, request *wish)
{
    int code;
    ulna_error error;
    *wish = (request){.path = tool->operand_count ? tool->operands[0] : "two-link", .size = DEFINITENESS_SIZE};
    if ((code = numbers_count(tool, "size", DEFINITENESS_LEAST, DEFINITENESS_MOST, &wish->size)) ||
        (code = read_weight(tool, wish)) || (code = read_goals(tool, wish)) || (code = check_outputs(tool)) ||
        (code = check_point_options(tool, wish)))
        return code;
    if (tool->operand_count ? cli_load_model(wish->path, &wish->model, &error)
                            : ulna_sample_create(wish->path, NULL, &wish->model, &error))
        return fail_file(tool, wish, &error);
    code = find_point(tool, wish);
    if (!code)
        code = read_over(tool, wish);
    if (code)
        return code;
    ulna_pose *pose = NULL;
    double *jacobian = calloc(3 * (size_t)ulna_model_dof_count(wish->model) + 1, sizeof *jacobian);
    ulna_status status = ulna_pose_create(wish->model, NULL, &pose, &error);
    if (status == ULNA_OK && !jacobian)
        status = cli_no_memory(&error);
    code = status != ULNA_OK || !jacobian ? fail_file(tool, wish, &error) : choose_at_rest(tool, wish, pose, jacobian);
    ulna_pose_destroy(pose);
    free(jacobian);
    return code;
}

void request_release(request *wish)
{
    free(wish->over);
    wish->over = NULL;
    ulna_model_destroy(wish->model);
    wish->model = NULL;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"x", 0, "DOF",
     "Degree of freedom of the horizontal axis: its name, as in `ulna info --tree`, or its number, from 0. Default for "
     "--x and --y: the two joint angles nearest to the point that move it."},
    {"y", 0, "DOF", "Degree of freedom of the vertical axis."},
    {"over", 0, "A,B,...",
     "Degrees of freedom of the Hessian, by name, or bodies for all of theirs; all: every one. Default: those of --x and --y. The others are at "
     "rest but count: a chain of three links that is swept over two is semi-definite where two of its links collapse."},
    {"goal", 0, "\"X Y Z\"",
     "Target position of the point, in metres. May be repeated, up to 12 times. Default: three goals, at 0.5, 1 and 1.5 "
     "times the distance from the upper joint to the point at rest."},
    {"marker", 0, "NAME", "Marker that has the goal. Needed if the model has several."},
    {"body", 0, "NAME", "Body that has the goal, instead of a marker: its origin, or --point."},
    {"point", 0, "\"X Y Z\"", "Point of the body, in metres in the frame of the body."},
    {"size", 0, "N", "Cells along each axis, 8 to 2000. Default: 360."},
    {"range-x", 0, "\"LOW HIGH\"",
     "Range to sweep, in degrees, or in metres for a translation. Default: -180 to 180; for a translation, the "
     "characteristic length of the model on both sides of rest."},
    {"range-y", 0, "\"LOW HIGH\"", "The same for the vertical axis."},
    {"bounds", 0, NULL, "Also sweep inside the limits of the model, and show both results."},
    {"limits-x", 0, "\"LOW HIGH\"", "Limits in place of the model's, in degrees or metres. Implies --bounds."},
    {"limits-y", 0, "\"LOW HIGH\"", "The same for the vertical axis."},
    {"regularise", 0, "W",
     "Also sweep with a posture term, W |q - rest|^2 / 2 with W in m2/rad2, and show both results. The picture then "
     "shows f with this term."},
    {"output", 'o', "FILE", "Write the picture as SVG; the extension must be .svg. May be repeated."},
    {0},
};

const cli_command definiteness_command = {
    .name = "definiteness",
    .operands = "[MODEL]",
    .operand = "a file name",
    .least = 0,
    .most = 1,
    .summary = "map where the exact Hessian is positive definite",
    .text =
        "Sweeps two degrees of freedom of a skeleton, the others at rest, and evaluates the exact Hessian of f over these two, or over those of --over: "
        "half the squared distance from a point to its goal. Where the Hessian is positive definite, Newton's "
        "method converges fast; elsewhere it must be modified. MODEL is a model file, or the name of a built-in "
        "skeleton. Default: two-link, two links of 1 m, as in Appendix A of the exact-Hessian paper.\n\n"
        "The figures are percentages of the cells, each sampled in its middle: positive definite, indefinite, "
        "negative definite, and semi-definite, where an eigenvalue is below 1e-9 of the largest one. Then condition "
        "numbers (largest by smallest absolute eigenvalue), the lowest eigenvalue in m2/rad2 (a posture weight "
        "above its absolute value makes all cells positive definite), f, and the distance from the point to the "
        "goal where f is lowest.\n\n"
        "The picture has a panel for each goal: the map in white, light grey, dark grey and red, and below it the "
        "surface of f. On red curves an eigenvalue passes through zero; a blue frame shows limits.",
    .options = options,
    .reads = "OPERANDS",
    .writes = "output",
    .examples = "ulna definiteness -o map.svg\tthe figure of the paper\n"
                "ulna definiteness --limits-y \"0 150\"\tthe effect of limits\n"
                "ulna definiteness --regularise 0.5\tthe effect of a posture term\n"
                "ulna definiteness --bounds arm.json\ta skeleton of your own",
    .run = cli_definiteness,
};
