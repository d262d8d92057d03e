/* ulna info FILE...: what a file holds. */
#include "cli/info/info.h"

#include <math.h>
#include <string.h>

#include "cli/files.h"

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

static void tell_model(const cli *tool, const ulna_model *model, const figure *shape, json_t *row, json_t *notes)
{
    facts found = collect(model);
    json_t *own = model_notes(model, shape);
    add_facts(row, model, &found, shape);
    json_array_extend(notes, own);
    json_decref(own);
    print_facts(tool, model, &found, shape);
}

static void tell_more(const cli *tool, const ulna_model *model, const figure *shape, const drawing *how, json_t *row)
{
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

/* Every defect that the reader noticed, with its line or byte. */
static void note_remarks(const ulna_remarks *remarks, json_t *notes)
{
    for (size_t i = 0; i < remarks->count; i++) {
        const ulna_remark *remark = &remarks->items[i];
        if (remark->line > 0)
            files_note_text(notes, "line %d: %s", remark->line, remark->message);
        else if (remark->byte >= 0)
            files_note_text(notes, "byte %lld: %s", remark->byte, remark->message);
        else
            files_note_text(notes, "%s", remark->message);
    }
    if (remarks->dropped)
        files_note_text(notes, "and %zu more remarks", remarks->dropped);
}

/* How the file counts: "unit 0.001 m (mm), z up". */
static void tell_source(const cli *tool, const ulna_content *content, json_t *row)
{
    const ulna_source *source = &content->source;
    const char up[2] = {source->up, 0};
    json_object_set_new(row, "unit_m", source->unit_m > 0 ? cli_json_number(source->unit_m) : json_null());
    json_object_set_new(row, "up", source->up ? json_string(up) : json_null());
    if (content->format == ULNA_FORMAT_MODEL_JSON)
        return;
    cli_say(tool, "  in file     ");
    if (source->unit_m > 0)
        cli_say(tool, "1 unit of length = %.6g m", source->unit_m);
    if (*source->text)
        cli_say(tool, " (%s)", source->text);
    if (source->degrees)
        cli_say(tool, ", degrees");
    cli_say(tool, source->up ? ", %s up\n" : ", which way is up is not said%s\n", up);
}

static ulna_status tell_content(const cli *tool, const ulna_content *content, const ulna_model *model,
                                const drawing *how, json_t *row, json_t *notes, ulna_error *error)
{
    figure shape = {0};
    ulna_status status = content->model ? figure_create(content->model, &shape, error) : ULNA_OK;
    if (status)
        return status;
    if (content->model)
        tell_model(tool, content->model, &shape, row, notes);
    tell_source(tool, content, row);
    if (content->clip.frame_count && model)
        motion_tell(tool, model, &content->clip, row, notes);
    if (content->recording.frame_count)
        markers_tell(tool, &content->recording, row, notes);
    print_lines(tool, "  note        ", notes);
    if (content->model)
        tell_more(tool, content->model, &shape, how, row);
    figure_release(&shape);
    return ULNA_OK;
}

/* The skeleton for a motion that does not hold its own: of the files that are named with it the last one before it, or
 * the first one after. */
static void find_skeleton(const cli *tool, int at, ulna_content *skeleton)
{
    for (int step = 1; step < 2 * tool->operand_count && !skeleton->model; step++) {
        int i = step <= at ? at - step : step;
        ulna_error ignored;
        if (i >= tool->operand_count || i == at || strcmp(tool->operands[i], "-") == 0 ||
            files_needs_skeleton(tool->operands[i]))
            continue;
        ulna_content_release(skeleton);
        if (files_read(tool->operands[i], NULL, skeleton, &ignored) || !skeleton->model)
            ulna_content_release(skeleton);
    }
}

static ulna_status tell_file(const cli *tool, int index, const drawing *how, json_t *row, ulna_error *error)
{
    const char *path = tool->operands[index];
    ulna_content content = ulna_content_empty(NULL), skeleton = ulna_content_empty(NULL);
    json_t *notes = json_array();
    if (files_needs_skeleton(path))
        find_skeleton(tool, index, &skeleton);
    ulna_read_options options = ulna_read_options_for(skeleton.model ? &skeleton : NULL);
    ulna_status status = files_read(path, &options, &content, error);
    if (!status) {
        const ulna_model *model = content.model ? content.model : skeleton.model;
        json_object_set_new(row, "format", cli_json_text(ulna_format_name(content.format)));
        cli_title(tool, "%s", path);
        cli_say(tool, ": %s", ulna_format_text(content.format));
        if (content.model && *ulna_model_name(content.model))
            cli_say(tool, " \"%s\"", ulna_model_name(content.model));
        cli_say(tool, "\n");
        note_remarks(&content.remarks, notes);
        status = tell_content(tool, &content, model, how, row, notes, error);
        json_object_set(row, "notes", notes);
    } else if (error->status == ULNA_ERR_STATE && !skeleton.model) {
        size_t length = strlen(error->message);
        snprintf(error->message + length, sizeof error->message - length, "; name it beside this one");
    }
    json_decref(notes);
    ulna_content_release(&skeleton);
    ulna_content_release(&content);
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

static int info_main(cli *tool)
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
        ulna_error_clear(&error);
        json_t *row = json_object();
        json_object_set_new(row, "file", cli_json_text(path));
        json_array_append_new(list, row);
        if (i > 0)
            cli_say(tool, "\n");
        if (tell_file(tool, i, &how, row, &error)) {
            int asked = files_fail(row, path, &error);
            code = asked > code ? asked : code;
        }
    }
    cli_json_print(tool, object);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"tree", 't', NULL, "Show the tree of bodies with their joints, ranges (in degrees and metres) and markers."},
    {"draw", 'd', NULL, "Draw the skeleton at rest, from the front and from the side."},
    {"up", 0, "AXIS", "Which axis points up in the drawing: x, y or z. By default the taller one of y and z."},
    {"ascii", 0, NULL,
     "Draw, and show the tree, with ASCII characters only, as is done where the locale is not UTF-8."},
    {"values", 'v', NULL, "Of a motion, show each value's range beside its limits, in degrees and metres."},
    {0},
};

const cli_command info_command = {
    .name = "info",
    .operands = "FILE...",
    .operand = "a file name",
    .least = 1,
    .most = -1,
    .summary = "tell what a file holds, and everything odd about it",
    .text = "Tells for each model how many bodies, degrees of freedom and markers it has, its joints by type, its "
            "limits, mass and size at rest. Notes follow on what may be a mistake: bones of zero length, degrees of "
            "freedom without limits or that no marker can see, bodies without mass among others that have one, and "
            "more.\n\n"
            "Of a motion it tells frames and rate, and where values leave their limits or jump; of a recording its "
            "markers, their gaps (the longest, and who is missing most) and the space they take. Whatever the reader "
            "noticed in the file is noted with its line or byte. A motion without a skeleton of its own, as AMC, is "
            "read with one that is named beside it.\n\n"
            "The kind of file is found from its contents, not from its name. The name - means standard input. A file "
            "that cannot be read is reported, with the line of a mistake, and the others are still shown.",
    .options = options,
    .reads = "OPERANDS",
    .examples = "ulna info human.json\twhat is in it\n"
                "ulna info --tree --draw human.json\tits joints, and a picture\n"
                "ulna info s.asf t.amc t.c3d\ta motion beside its skeleton, markers\n"
                "ulna info --json *.json\tfor other programs",
    .run = info_main,
};
