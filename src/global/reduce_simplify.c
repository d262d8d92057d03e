/*
 * The second step of the reduction: replaces three rotations by a ball, and locks joints on which no goal depends.
 *
 * Goals depend on the rotation R of a part through vectors in its frame (R x: bones, translations, points, directions) and
 * through parts and frames below it. A hinge does not change vectors along its axis, and a ball below it can have any
 * rotation, whatever its parent has. So there are hinges with goals below them on which no goal depends: a twist with a
 * point on its axis, two rotations above a ball. One pass from the leaves to the root finds them all.
 */
#include "global/reduce.h"
#include "math/math3.h"

/* Directions that differ by less count as the same. */
#define SAME_DIRECTION 1e-13
/* Axes whose cosine is below this count as perpendicular. A ball allows more than the rotations, so bounds remain valid. */
#define RIGHT_ANGLE 1e-6

/* Counts the points below each part. Without points, the position of the part does not matter. */
static void count_points(ulna_reducer *work)
{
    for (size_t i = 0; i < work->problem->term_count; i++)
        if (work->problem->term[i].type == ULNA_TERM_POINT && work->to->terms[i].node != ULNA_NONE)
            work->parts[work->to->terms[i].node].points++;
    for (int i = work->part_count - 1; i > 0; i--) {
        ulna_part *part = &work->parts[i];
        work->parts[part->parent].points += part->points;
        if (!part->points)
            memset(part->offset, 0, sizeof part->offset);
    }
}

/* ---- three rotations are a ball ---------------------------------------------------------------------------------- */

static int is_free_rotation(const ulna_part *part)
{
    return part->edge == ULNA_EDGE_HINGE && part->lower == -INFINITY && part->upper == INFINITY;
}

/* The rotation without limits directly above another one, if it has no other child and the axes are perpendicular; or
 * ULNA_NONE. Davenport: three such rotations reach every rotation, whatever the angle between the first and the third. */
static int rotation_above(const ulna_reducer *work, int number)
{
    const ulna_part *part = &work->parts[number], *above = &work->parts[part->parent];
    return is_free_rotation(part) && is_free_rotation(above) && above->uses == 1 &&
                   ulna_norm(part->offset) <= work->tiny && fabs(ulna_dot(part->axis, above->axis)) < RIGHT_ANGLE
               ? part->parent
               : ULNA_NONE;
}

static void make_ball(ulna_reducer *work, int first, int second, int third)
{
    const ulna_model *model = work->model;
    ulna_part *part = &work->parts[third];
    const int rotation[3] = {first, second, third};
    part->ball = work->to->ball_count++;
    ulna_ball *ball = &work->to->balls[part->ball];
    *ball = (ulna_ball){.of_rotations = 1,
                        .link = model->dof_link[part->dof],
                        .segment_count = 1,
                        .coordinate = model->dof_coordinate[part->dof],
                        .translation = {ULNA_NONE, ULNA_NONE, ULNA_NONE}};
    const ulna_link *link = &model->link[ball->link];
    for (int dof = link->dof;; ball->segment++) {
        dof += ulna_segment_dofs((ulna_segment)link->segment[ball->segment]);
        if (dof > part->dof)
            break;
    }
    ulna_copy9(part->frame, ball->frame);
    for (int k = 0; k < 3; k++) {
        ball->dof[k] = work->parts[rotation[k]].dof;
        ulna_copy3(work->parts[rotation[k]].axis, ball->axis[k]);
    }
    part->edge = ULNA_EDGE_BALL;
    part->dof = ULNA_NONE;
    part->parent = work->parts[first].parent;
    ulna_copy3(work->parts[first].offset, part->offset);
    work->parts[first].edge = work->parts[second].edge = ULNA_EDGE_WORLD;
}

/* From the leaves, so that of four rotations the lower three become the ball: then no goal depends on the first one. */
static void make_balls(ulna_reducer *work)
{
    for (int i = work->part_count - 1; i > 0; i--) {
        int second = rotation_above(work, i);
        int first = second == ULNA_NONE ? ULNA_NONE : rotation_above(work, second);
        if (first != ULNA_NONE)
            make_ball(work, first, second, i);
    }
}

/* ---- on what goals depend ---------------------------------------------------------------------------------------- */

/* A goal depends on vector x in the frame of part `owner`. */
static void use_vector(ulna_reducer *work, int owner, const double x[3], double tiny)
{
    ulna_part *part = &work->parts[owner];
    if (ulna_norm(x) <= tiny)
        return;
    double across[3], along = ulna_dot(part->axis, x);
    for (int i = 0; i < 3; i++)
        across[i] = x[i] - along * part->axis[i];
    if (part->edge == ULNA_EDGE_HINGE && ulna_norm(across) <= tiny)
        part->axis_matters = 1;
    else
        part->rotation_matters = 1;
}

static void use_terms(ulna_reducer *work)
{
    for (size_t i = 0; i < work->problem->term_count; i++) {
        const ulna_term *term = &work->problem->term[i];
        const ulna_reduced_term *at = &work->to->terms[i];
        if (at->node == ULNA_NONE)
            continue;
        if (term->type == ULNA_TERM_POINT) {
            use_vector(work, work->parts[at->node].owner, at->offset, work->tiny);
        } else if (term->type == ULNA_TERM_DIRECTION) {
            double axis[3];
            ulna_rotate(at->frame, term->local + 3, axis);
            use_vector(work, at->rotation_node, axis, SAME_DIRECTION);
        } else {
            work->parts[at->rotation_node].rotation_matters = 1;
        }
    }
}

static void lock(ulna_reducer *work, const ulna_part *part)
{
    unsigned char *locked = work->to->locked;
    if (part->ball == ULNA_NONE)
        locked[part->dof] = 1;
    else
        for (int k = 0; k < 3; k++)
            locked[work->to->balls[part->ball].dof[k]] = 1;
}

int ulna_reduce_simplify(ulna_reducer *work)
{
    int changed = 0;
    count_points(work);
    make_balls(work);
    use_terms(work);
    for (int i = work->part_count - 1; i > 0; i--) {
        ulna_part *part = &work->parts[i];
        if (ulna_part_is_gone(part))
            continue;
        int owner = work->parts[part->parent].owner;
        use_vector(work, owner, part->offset, work->tiny);
        if (part->edge == ULNA_EDGE_TRANSLATION)
            part->rotation_matters = part->points > 0;
        if (!part->rotation_matters) {
            lock(work, part);
            changed = 1;
        }
        if (part->edge == ULNA_EDGE_HINGE && part->rotation_matters)
            work->parts[owner].rotation_matters = 1;
        else if (part->edge == ULNA_EDGE_TRANSLATION ? part->rotation_matters : part->axis_matters)
            use_vector(work, owner, part->axis, SAME_DIRECTION);
    }
    return changed;
}

/* ---- three translations and a ball are a free part ---------------------------------------------------------------- */

/* Whether a term is a point on the translation above the ball, at the centre of the ball. It does not depend on the ball. */
static int is_at_ball(const ulna_reducer *work, size_t term, int translation, const ulna_part *ball)
{
    const ulna_reduced_term *at = &work->to->terms[term];
    double apart[3];
    ulna_subtract3(at->offset, ball->offset, apart);
    return at->node == translation && work->problem->term[term].type == ULNA_TERM_POINT &&
           ulna_norm(apart) <= work->tiny;
}

/* Whether the translation has no children but the ball and points at its centre. */
static int has_ball_only(const ulna_reducer *work, int translation, const ulna_part *ball)
{
    int others = work->parts[translation].uses - 1;
    for (size_t i = 0; i < work->problem->term_count && others > 0; i++)
        others -= is_at_ball(work, i, translation, ball);
    return others == 0;
}

/* Finds the three translations between the world and a ball, the uppermost first; 0 if there are other parts or
 * limits. */
static int translations_above(const ulna_reducer *work, int number, int translation[3])
{
    const ulna_part *ball = &work->parts[number];
    for (int k = 2; k >= 0; k--) {
        translation[k] = number = work->parts[number].parent;
        const ulna_part *part = &work->parts[number];
        if (part->edge != ULNA_EDGE_TRANSLATION || part->lower != -INFINITY || part->upper != INFINITY)
            return 0;
        if (k == 2 ? !has_ball_only(work, number, ball) : part->uses != 1)
            return 0;
    }
    double normal[3];
    ulna_cross(work->parts[translation[0]].axis, work->parts[translation[1]].axis, normal);
    return work->parts[translation[0]].parent == 0 && fabs(ulna_dot(normal, work->parts[translation[2]].axis)) > 1e-3;
}

void ulna_reduce_find_free(ulna_reducer *work)
{
    for (int b = 1; b < work->part_count; b++) {
        ulna_part *part = &work->parts[b];
        int translation[3];
        if (part->edge != ULNA_EDGE_BALL || !translations_above(work, b, translation))
            continue;
        for (size_t i = 0; i < work->problem->term_count; i++)
            if (is_at_ball(work, i, translation[2], part)) {
                work->to->terms[i].node = b;
                memset(work->to->terms[i].offset, 0, sizeof work->to->terms[i].offset);
            }
        ulna_ball *ball = &work->to->balls[part->ball];
        ulna_copy3(part->offset, ball->base);
        for (int k = 0; k < 3; k++) {
            ulna_part *along = &work->parts[translation[k]];
            ulna_accumulate3(along->offset, ball->base);
            ulna_copy3(along->axis, ball->along[k]);
            ball->translation[k] = along->dof;
            along->edge = ULNA_EDGE_WORLD;
        }
        part->edge = ULNA_EDGE_FREE;
        part->parent = 0;
        memset(part->offset, 0, sizeof part->offset);
    }
}
