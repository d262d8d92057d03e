/* What `ulna info` tells of a robot, that is of a skeleton whose joints have names: its joints, which follow which, its tips. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/info/info.h"
#include "cli/output.h"

int robot_is(const ulna_model *model)
{
    for (int i = 0; i < ulna_model_body_count(model); i++)
        if (strcmp(ulna_model_joint_name(model, i), ulna_model_body_name(model, i)) != 0)
            return 1;
    return 0;
}

static void add_mimic(json_t *row, const ulna_model *model, int dof)
{
    int count;
    const ulna_coupling *couplings = ulna_model_couplings(model, &count);
    for (int i = 0; i < count; i++) {
        char master[512];
        if (couplings[i].dof != dof)
            continue;
        json_t *mimic = put_object(row, "mimic");
        ulna_model_dof_label(model, couplings[i].master, master, sizeof master);
        put_text(mimic, "joint", master);
        put_number(mimic, "multiplier", couplings[i].multiplier);
        put_number(mimic, "offset", couplings[i].offset);
    }
}

static void add_joint(json_t *list, const ulna_model *model, int dof)
{
    char label[512];
    int body = ulna_model_dof_body(model, dof);
    double lower = ulna_model_lower(model)[dof], upper = ulna_model_upper(model)[dof];
    json_t *row = put_row(list);
    ulna_model_dof_label(model, dof, label, sizeof label);
    put_text(row, "name", label);
    put_text(row, "type", ulna_joint_type_name(ulna_model_body_joint(model, body)->type));
    put_text(row, "link", ulna_model_body_name(model, body));
    put_text(row, "unit", ulna_model_dof_is_translation(model, dof) ? "m" : "rad");
    put_number(row, "lower", lower);
    put_number(row, "upper", upper);
    add_mimic(row, model, dof);
}

/* How far a translation goes to either side. */
static double travel(const ulna_model *model, int body)
{
    double sum = 0;
    int first, count = ulna_model_body_dofs(model, body, &first);
    for (int d = first; d < first + count; d++)
        if (ulna_model_dof_is_translation(model, d))
            sum += fmax(fabs(ulna_model_lower(model)[d]), fabs(ulna_model_upper(model)[d]));
    return sum;
}

double robot_reach(const ulna_model *model, int tip, int *dofs, int *first)
{
    double way = 0, reach = 0;
    *dofs = 0;
    *first = ULNA_NONE;
    for (int body = tip; body != ULNA_NONE; body = ulna_model_body_parent(model, body)) {
        double place[3], offset[3];
        int count = ulna_model_body_dofs(model, body, NULL);
        ulna_model_body_placement(model, body, place, NULL);
        ulna_model_body_offset(model, body, offset, NULL);
        way += hypot(hypot(offset[0], offset[1]), offset[2]) + travel(model, body);
        if (count > 0) { /* what is above the first joint does not count */
            reach = way;
            *first = body;
        }
        *dofs += count;
        way += hypot(hypot(place[0], place[1]), place[2]);
    }
    return reach;
}

void robot_add(json_t *row, const ulna_model *model)
{
    json_t *joints = put_list(row, "moving_joints"), *tips = put_list(row, "tips");
    int mimics;
    ulna_model_couplings(model, &mimics);
    for (int d = 0; d < ulna_model_dof_count(model); d++)
        add_joint(joints, model, d);
    put_count(row, "mimics", mimics);
    for (int i = 0; i < ulna_model_body_count(model); i++) {
        int dofs = 0, first;
        double reach = ulna_model_subtree(model, i, NULL) == 1 ? robot_reach(model, i, &dofs, &first) : 0;
        if (dofs == 0)
            continue;
        json_t *tip = put_row(tips);
        put_text(tip, "link", ulna_model_body_name(model, i));
        put_count(tip, "dof", dofs);
        put_number(tip, "reach_m", reach);
    }
}

void robot_print(const cli *tool, const json_t *row)
{
    const fact_column joints[] = {
        {"joint", 'l', "{name}"},
        {"type", 'l', "{type}"},
        {"moves link", 'l', "{link}"},
        {"range", 'l',
         "[{lower%.4g} to {upper%.4g} {unit}|from {lower%.4g} {unit}|up to {upper%.4g} {unit}|no limits]"},
        {json_integer_value(json_object_get(row, "mimics")) ? "mimics" : NULL, 'l',
         "{mimic.multiplier%.4g} * {mimic.joint}[{mimic.offset?} + {mimic.offset%.4g}]"},
        {0},
    };
    static const fact_column tips[] = {
        {"tip", 'l', "{link}"},
        {"DOF", 'r', "{dof}"},
        {"reach", 'r', "[{reach_m%.3f} m|no limit]"},
        {0},
    };
    fact_line(tool, row, "mimics", "{mimics?}{mimics} degree{mimics:/s} of freedom follow{mimics:s/} another");
    if (json_array_size(json_object_get(row, "moving_joints"))) {
        cli_say(tool, "\n");
        fact_table(tool, 2, json_object_get(row, "moving_joints"), joints);
        cli_say(tool, "\n");
        fact_table(tool, 2, json_object_get(row, "tips"), tips);
        cli_say(tool, "\n");
    }
}
