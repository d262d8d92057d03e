/* ulna info FILE...: what a file holds. */
#include "info.h"

#include <math.h>
#include <string.h>

#define INDENT "  " /* before a line of a drawing */

/* ---- models ------------------------------------------------------------------------------------------- */

typedef struct facts {
    int limited, could_be_limited;
    int depth;
    int with_mass;
    double mass;
    int joints[ULNA_JOINT_TYPE_COUNT];
} facts;

static facts collect(const ulna_model *model)
{
    facts found = {0};
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        double mass = ulna_model_body_mass(model, i)->mass;
        int depth = ulna_model_body_depth(model, i);
        found.depth = depth > found.depth ? depth : found.depth;
        found.joints[ulna_model_body_joint(model, i)->type]++;
        found.mass += mass;
        found.with_mass += mass > 0;
    }
    for (int i = 0; i < ulna_model_dof_count(model); i++) {
        found.limited += isfinite(ulna_model_lower(model)[i]) || isfinite(ulna_model_upper(model)[i]);
        found.could_be_limited += ulna_model_dof_coordinate(model, i) != ULNA_NONE;
    }
    return found;
}

static void joints_text(const facts *found, char *text, size_t size)
{
    *text = 0;
    for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++) {
        size_t length = strlen(text);
        if (found->joints[type])
            snprintf(text + length, size - length, "%s%d %s", length ? ", " : "", found->joints[type],
                     ulna_joint_type_name((ulna_joint_type)type));
    }
}

static const char *plural(int count)
{
    return count == 1 ? "" : "s";
}

static void print_facts(const cli *tool, const ulna_model *model, const facts *found, const figure *shape)
{
    char joints[512];
    int bodies = ulna_model_body_count(model), chains = ulna_model_chain_count(model);
    int dofs = ulna_model_dof_count(model), coordinates = ulna_model_coordinate_count(model);
    joints_text(found, joints, sizeof joints);
    cli_say(tool, "  bodies      %d in %d chain%s, up to %d joint%s from the root\n", bodies, chains, plural(chains),
            found->depth, plural(found->depth));
    cli_say(tool, "  freedom     %d degree%s of freedom, %d coordinate%s, %d with limits\n", dofs, plural(dofs),
            coordinates, plural(coordinates), found->limited);
    cli_say(tool, "  joints      %s\n", joints);
    cli_say(tool, "  markers     %d\n", ulna_model_marker_count(model));
    if (found->with_mass)
        cli_say(tool, "  mass        %.6g kg on %d bod%s\n", found->mass, found->with_mass,
                found->with_mass == 1 ? "y" : "ies");
    cli_say(tool, "  size        %.3f x %.3f x %.3f m at rest (x, y, z); characteristic length %.3f m\n",
            shape->high[0] - shape->low[0], shape->high[1] - shape->low[1], shape->high[2] - shape->low[2],
            ulna_model_length_scale(model));
}

static void print_lines(const cli *tool, const char *before, json_t *lines)
{
    for (size_t i = 0; i < json_array_size(lines); i++)
        cli_say(tool, "%s%s\n", before, json_string_value(json_array_get(lines, i)));
}

static void add_facts(json_t *row, const ulna_model *model, const facts *found, const figure *shape)
{
    json_t *joints = json_object(), *limits = json_object();
    json_object_set_new(row, "name", cli_json_text(ulna_model_name(model)));
    json_object_set_new(row, "bodies", json_integer(ulna_model_body_count(model)));
    json_object_set_new(row, "dof", json_integer(ulna_model_dof_count(model)));
    json_object_set_new(row, "coordinates", json_integer(ulna_model_coordinate_count(model)));
    json_object_set_new(row, "joints", joints);
    for (int type = 0; type < ULNA_JOINT_TYPE_COUNT; type++)
        if (found->joints[type])
            json_object_set_new(joints, ulna_joint_type_name((ulna_joint_type)type), json_integer(found->joints[type]));
    json_object_set_new(row, "limits", limits);
    json_object_set_new(limits, "limited", json_integer(found->limited));
    json_object_set_new(limits, "unlimited", json_integer(found->could_be_limited - found->limited));
    json_object_set_new(row, "markers", json_integer(ulna_model_marker_count(model)));
    json_object_set_new(row, "depth", json_integer(found->depth));
    json_object_set_new(row, "chains", json_integer(ulna_model_chain_count(model)));
    json_object_set_new(row, "mass_kg", cli_json_number(found->mass));
    json_object_set_new(row, "length_scale_m", cli_json_number(ulna_model_length_scale(model)));
    json_object_set_new(row, "low_m", cli_json_numbers(shape->low, 3));
    json_object_set_new(row, "high_m", cli_json_numbers(shape->high, 3));
    json_object_set_new(row, "memory_bytes", json_integer((json_int_t)ulna_model_bytes(model)));
}

static void tell_model(const cli *tool, const ulna_model *model, const figure *shape, const drawing *how, json_t *row)
{
    facts found = collect(model);
    json_t *notes = model_notes(model, shape);
    add_facts(row, model, &found, shape);
    json_object_set_new(row, "notes", notes);
    print_facts(tool, model, &found, shape);
    print_lines(tool, "  note        ", notes);

    if (cli_value(tool, "tree")) {
        cli_say(tool, "\n");
        tree_print(tool, model, how->is_ascii);
        json_object_set_new(row, "tree", tree_json(model));
    }
    if (cli_value(tool, "draw")) {
        json_t *lines = figure_draw(shape, how);
        cli_say(tool, "\n");
        if (!lines)
            cli_say(tool, "  (the model has no size that could be drawn)\n");
        print_lines(tool, INDENT, lines);
        json_object_set_new(row, "drawing", lines ? lines : json_null());
    }
}

/* ---- files -------------------------------------------------------------------------------------------- */

static ulna_status tell_file(const cli *tool, const char *path, const drawing *how, json_t *row, ulna_error *error)
{
    ulna_text text = ulna_text_empty(NULL);
    ulna_model *model = NULL;
    figure shape = {0};
    ulna_format format;
    ulna_status status = cli_read_file(path, &text, &format, error);
    if (!status)
        status = ulna_model_read(text.data, text.length, NULL, &model, error);
    if (!status)
        status = figure_create(model, &shape, error);
    if (!status) {
        json_object_set_new(row, "format", cli_json_text(ulna_format_name(format)));
        cli_title(tool, "%s", path);
        cli_say(tool, ": %s \"%s\"\n", ulna_format_text(format), ulna_model_name(model));
        tell_model(tool, model, &shape, how, row);
    }
    figure_release(&shape);
    ulna_model_destroy(model);
    ulna_text_release(&text);
    return status;
}

static int read_up(const cli *tool, int *up)
{
    static const char axes[] = "xyzXYZ";
    const char *text = cli_value(tool, "up");
    *up = -1;
    if (!text)
        return CLI_DONE;
    const char *found = text[0] && !text[1] ? strchr(axes, text[0]) : NULL;
    if (!found)
        return cli_usage(tool, "--up takes x, y or z, not '%s'", text);
    if (!cli_value(tool, "draw"))
        return cli_usage(tool, "--up is about the drawing; give --draw too");
    *up = (int)(found - axes) % 3;
    return CLI_DONE;
}

/* JSON is the same on every terminal. */
static int choose_drawing(const cli *tool, drawing *how)
{
    how->width = (tool->json ? CLI_COLUMNS : tool->columns) - (int)strlen(INDENT);
    how->is_ascii = cli_value(tool, "ascii") || (tool->ascii && !tool->json);
    return read_up(tool, &how->up);
}

int cli_info(cli *tool)
{
    drawing how;
    int code = choose_drawing(tool, &how);
    if (code)
        return code;
    json_t *object = json_object(), *list = json_array();
    json_object_set_new(object, "files", list);
    for (int i = 0; i < tool->operand_count; i++) {
        const char *path = tool->operands[i];
        ulna_error error;
        json_t *row = json_object();
        json_object_set_new(row, "file", cli_json_text(path));
        json_array_append_new(list, row);
        if (i > 0)
            cli_say(tool, "\n");
        if (tell_file(tool, path, &how, row, &error)) {
            json_object_set_new(row, "error", cli_json_error(&error));
            fflush(stdout); /* so that messages stand in order where both go to one place */
            int asked = cli_complain_file(path, &error);
            code = asked > code ? asked : code;
        }
    }
    cli_json_print(tool, object);
    return code;
}
