/* Rows of all constraints where a work's pose stands, and how far each constraint is from being kept. */
#include "math/math3.h"
#include "objective/constraint_rows.h"

void ulna_constraint_work_take(ulna_work *work, ulna_arena *arena)
{
    const ulna_problem *problem = work->problem;
    if (!problem->kept_count)
        return;
    size_t links = (size_t)problem->extra_links, nl = problem->has_centre ? (size_t)problem->model->nl : 0;
    work->loaded_curvature = ulna_arena_take(arena, 6 * links, sizeof *work->loaded_curvature);
    work->loaded_second = ulna_arena_take(arena, 6 * links, sizeof *work->loaded_second);
    work->loaded_moment = ulna_arena_take(arena, 4 * links, sizeof *work->loaded_moment);
    work->frozen = ulna_arena_take(arena, 9 * problem->kept_count, sizeof *work->frozen);
    work->has_axes = ulna_arena_take(arena, problem->kept_count, sizeof *work->has_axes);
    work->has_old_axes = ulna_arena_take(arena, problem->kept_count, sizeof *work->has_old_axes);
    work->is_flat = ulna_arena_take(arena, (size_t)problem->model->nl, sizeof *work->is_flat);
    work->loaded_of = ulna_arena_take(arena, (size_t)problem->model->nl, sizeof *work->loaded_of);
    work->mass_moment = ulna_arena_take(arena, nl, sizeof *work->mass_moment);
}

/* ---- one constraint ---------------------------------------------------------------------------------------------- */

static void place_world(const double origin[3], ulna_body_place *place)
{
    ulna_identity9(place->rotation);
    for (int i = 0; i < 3; i++)
        place->position[i] = -origin[i];
    place->origin = origin;
}

static void open_site(const ulna_work *work, const ulna_kept *kept, ulna_constraint_site *site)
{
    const ulna_problem *problem = work->problem;
    const ulna_constraint *given = &kept->given;
    unsigned flags = ulna_constraint_kind_of(given->type)->flags;
    int body[2] = {flags & ULNA_KEEPS_BODY ? given->body : ULNA_NONE,
                   flags & ULNA_KEEPS_OTHER ? given->other : ULNA_NONE};
    site->kept = kept;
    site->length = problem->length;
    site->q = work->pose->q;
    site->coordinate = problem->model->dof_coordinate;
    ulna_copy3(work->pose->origin, site->origin);
    for (int b = 0; b < 2; b++) {
        site->link[b] = body[b] < 0 ? ULNA_NONE : problem->model->body[body[b]].link;
        if (body[b] < 0)
            place_world(work->pose->origin, &site->place[b]);
        else
            ulna_work_place(work, body[b], &site->place[b]);
    }
}

void ulna_row_clear(ulna_row *row)
{
    row->constraint = row->place = ULNA_NONE;
    row->part_count = row->bend_count = row->is_own = row->has_centre = row->dof_count = row->level = 0;
    row->is_equation = 0;
    row->value = row->noise = row->weight = 0;
    row->dof = NULL;
    row->coefficient = NULL;
}

static void scale_numbers(double *x, int n, double scale)
{
    for (int i = 0; i < n; i++)
        x[i] *= scale;
}

/* At most is at least with the sign changed; coefficients of DOFs have it already. */
static void negate_row(ulna_row *row)
{
    row->value = -row->value;
    for (int p = 0; p < row->part_count; p++) {
        scale_numbers(row->part[p].moment, 9, -1);
        scale_numbers(row->part[p].force, 3, -1);
    }
    for (int b = 0; b < row->bend_count; b++)
        row->bend[b].scale = -row->bend[b].scale;
    if (row->is_own) {
        scale_numbers(&row->own.bend[0][0][0], 72, -1);
        scale_numbers(&row->own.cross[0][0], 36, -1);
    }
    scale_numbers(row->centre, row->has_centre ? 3 : 0, -1);
}

/* Wrenches from moments; returns 0, or a number that is not finite if one of them is not. */
static double finish_row(ulna_row *row)
{
    double zero = 0 * row->value;
    for (int p = 0; p < row->part_count; p++) {
        ulna_row_part *part = &row->part[p];
        const double *m = part->moment;
        part->wrench[0] = m[5] - m[7];
        part->wrench[1] = m[6] - m[2];
        part->wrench[2] = m[1] - m[3];
        ulna_copy3(part->force, part->wrench + 3);
        for (int k = 0; k < 6; k++)
            zero += 0 * part->wrench[k];
    }
    if (row->is_own && !(ulna_all_finite(&row->own.bend[0][0][0], 72) && ulna_all_finite(&row->own.cross[0][0], 36)))
        zero = (double)NAN;
    return zero;
}

/* The rows of one constraint; how many, or -1 if one is not finite. */
static int rows_of(const ulna_constraint_site *site, int number, ulna_row *rows)
{
    const ulna_kept *kept = site->kept;
    const ulna_constraint_kind *kind = ulna_constraint_kind_of(kept->given.type);
    int most = ulna_kept_row_count(kept);
    int is_equation = !(kind->flags & ULNA_KEEPS_INSIDE) && kept->given.relation == ULNA_EQUAL;
    double zero = 0, weight = kept->given.weight > 0 ? kept->given.weight : 1;
    for (int k = 0; k < most; k++)
        ulna_row_clear(&rows[k]);
    int count = kind->evaluate(site, rows);
    for (int k = 0; k < count; k++) {
        ulna_row *row = &rows[k];
        row->constraint = number;
        row->place = kept->first_row + (row->place == ULNA_NONE ? k : row->place);
        row->is_equation = is_equation;
        row->level = kept->given.level;
        row->weight = weight;
        if (kept->given.relation == ULNA_AT_MOST)
            negate_row(row);
        zero += finish_row(row);
    }
    return zero == 0 ? count : -1;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static int is_placed(const ulna_work *work)
{
    return work->structure == work->problem->structure && work->pose->placed;
}

ulna_status ulna_work_rows(ulna_work *work, int freeze, ulna_row *rows, int *count)
{
    if (!work || !rows || !count)
        return ULNA_ERR_ARGUMENT;
    *count = 0;
    if (!is_placed(work))
        return ULNA_ERR_STATE;
    const ulna_problem *problem = work->problem;
    ulna_constraint_site site;
    if (problem->has_centre)
        work->pose->kernel->centre(work->pose, site.centre);
    for (size_t i = 0; i < problem->kept_count; i++) {
        const ulna_kept *kept = &problem->kept[i];
        if (freeze || kept->is_off)
            work->has_axes[i] = 0;
        if (kept->is_off)
            continue;
        open_site(work, kept, &site);
        site.freeze = !work->has_axes[i];
        site.frozen = work->frozen + 9 * i;
        site.has_old_axes = &work->has_old_axes[i];
        int made = rows_of(&site, (int)i, rows + *count);
        if (made < 0)
            return ULNA_ERR_NUMBER;
        work->has_axes[i] = 1;
        *count += made;
    }
    return ULNA_OK;
}

int ulna_work_has_old_axes(const ulna_work *work)
{
    for (size_t i = 0; i < work->problem->kept_count; i++)
        if (!work->problem->kept[i].is_off && work->has_old_axes[i] &&
            ulna_constraint_kind_of(work->problem->kept[i].given.type)->frozen_rows)
            return 1;
    return 0;
}

/* How far a signed difference is from keeping the relation. */
static double violation(ulna_relation relation, double off)
{
    return relation == ULNA_EQUAL ? fabs(off) : relation == ULNA_AT_LEAST ? fmax(0, -off) : fmax(0, off);
}

/* Length of the equations; the worst of the inequalities. */
static double violation_of_rows(const ulna_row *rows, int count)
{
    double square = 0, worst = 0;
    for (int k = 0; k < count; k++) {
        if (rows[k].is_equation)
            square += rows[k].value * rows[k].value;
        else
            worst = fmax(worst, -rows[k].value);
    }
    return fmax(sqrt(square), worst);
}

ulna_status ulna_work_constraint_error(ulna_work *work, int number, double *error)
{
    if (!work || !error || number < 0 || (size_t)number >= work->problem->kept_count)
        return ULNA_ERR_ARGUMENT;
    if (!is_placed(work))
        return ULNA_ERR_STATE;
    const ulna_kept *kept = &work->problem->kept[number];
    const ulna_constraint_kind *kind = ulna_constraint_kind_of(kept->given.type);
    if (kept->is_off) {
        *error = (double)NAN;
        return ULNA_OK;
    }
    ulna_row rows[ULNA_CONSTRAINT_CORNERS];
    ulna_constraint_site site;
    double axes[9];
    unsigned char has_old_axes;
    if (work->problem->has_centre)
        work->pose->kernel->centre(work->pose, site.centre);
    open_site(work, kept, &site);
    site.freeze = 1;
    site.frozen = axes;
    site.has_old_axes = &has_old_axes;
    int count = kind->error ? 0 : rows_of(&site, number, rows);
    *error = kind->error ? violation(kept->given.relation, kind->error(&site)) : violation_of_rows(rows, count);
    return count >= 0 && isfinite(*error) ? ULNA_OK : ULNA_ERR_NUMBER;
}
