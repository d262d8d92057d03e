/*
 * The second step of the reduction: what belongs together, and what no goal feels.
 *
 * The rotation R of a part is felt through vectors that it carries (R x: bones, slides, points, directions) and through
 * parts and frames that turn with it. A hinge leaves vectors along its axis as they are, and a ball below takes any
 * rotation whatever its parent has, so a hinge may have goals below it and yet not be felt: a twist with a point on its
 * axis, two turns before a ball. Going from the leaves to the root settles all in one pass.
 */
#include "global/reduce.h"
#include "math/math3.h"

/* Directions that differ by less are the same. */
#define SAME_DIRECTION 1e-13
/* A turn whose axis is this near to a right angle counts as one: a ball knows less, so bounds stay true. */
#define RIGHT_ANGLE 1e-6

/* Points below each part. Where there are none, it does not matter where the part is. */
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

/* ---- three turns are a ball -------------------------------------------------------------------------------------- */

static int is_free_turn(const ulna_part *part)
{
    return part->edge == ULNA_EDGE_HINGE && part->lower == -INFINITY && part->upper == INFINITY;
}

/* The free turn right above a free turn, if nothing else hangs there and its axis is at a right angle; or ULNA_NONE.
 * Davenport: three such turns reach every rotation, whatever the angle between the first and the third. */
static int turn_above(const ulna_reducer *work, int number)
{
    const ulna_part *part = &work->parts[number], *above = &work->parts[part->parent];
    return is_free_turn(part) && is_free_turn(above) && above->uses == 1 && ulna_norm(part->offset) <= work->tiny &&
                   fabs(ulna_dot(part->axis, above->axis)) < RIGHT_ANGLE
               ? part->parent
               : ULNA_NONE;
}

static void make_ball(ulna_reducer *work, int first, int second, int third)
{
    const ulna_model *model = work->model;
    ulna_part *part = &work->parts[third];
    const int turn[3] = {first, second, third};
    part->ball = work->to->ball_count++;
    ulna_ball *ball = &work->to->balls[part->ball];
    *ball = (ulna_ball){.turns = 1,
                        .link = model->dof_link[part->dof],
                        .segment_count = 1,
                        .coordinate = model->dof_coordinate[part->dof],
                        .slide = {ULNA_NONE, ULNA_NONE, ULNA_NONE}};
    const ulna_link *link = &model->link[ball->link];
    for (int dof = link->dof;; ball->segment++) {
        dof += ulna_segment_dofs((ulna_segment)link->segment[ball->segment]);
        if (dof > part->dof)
            break;
    }
    ulna_copy9(part->frame, ball->frame);
    for (int k = 0; k < 3; k++) {
        ball->dof[k] = work->parts[turn[k]].dof;
        ulna_copy3(work->parts[turn[k]].axis, ball->axis[k]);
    }
    part->edge = ULNA_EDGE_BALL;
    part->dof = ULNA_NONE;
    part->parent = work->parts[first].parent;
    ulna_copy3(work->parts[first].offset, part->offset);
    work->parts[first].edge = work->parts[second].edge = ULNA_EDGE_WORLD;
}

/* From the leaves, so that of four turns the lower three become the ball: then the first one is not felt. */
static void make_balls(ulna_reducer *work)
{
    for (int i = work->part_count - 1; i > 0; i--) {
        int second = turn_above(work, i);
        int first = second == ULNA_NONE ? ULNA_NONE : turn_above(work, second);
        if (first != ULNA_NONE)
            make_ball(work, first, second, i);
    }
}

/* ---- what is felt ------------------------------------------------------------------------------------------------ */

static void use_vector(ulna_reducer *work, int owner, const double x[3], double tiny)
{
    ulna_part *part = &work->parts[owner];
    if (ulna_norm(x) <= tiny)
        return;
    double across[3], along = ulna_dot(part->axis, x);
    for (int i = 0; i < 3; i++)
        across[i] = x[i] - along * part->axis[i];
    if (part->edge == ULNA_EDGE_HINGE && ulna_norm(across) <= tiny)
        part->along = 1;
    else
        part->felt = 1;
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
            use_vector(work, at->turned, axis, SAME_DIRECTION);
        } else {
            work->parts[at->turned].felt = 1;
        }
    }
}

static void hold(ulna_reducer *work, const ulna_part *part)
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
        if (part->edge == ULNA_EDGE_SLIDE)
            part->felt = part->points > 0;
        if (!part->felt) {
            hold(work, part);
            changed = 1;
        }
        if (part->edge == ULNA_EDGE_HINGE && part->felt)
            work->parts[owner].felt = 1;
        else if (part->edge == ULNA_EDGE_SLIDE ? part->felt : part->along)
            use_vector(work, owner, part->axis, SAME_DIRECTION);
    }
    return changed;
}

/* ---- three slides and a ball are free ---------------------------------------------------------------------------- */

/* Is a point goal on the slide that the ball hangs on, but where the ball is? Such points do not feel the ball. */
static int is_at_ball(const ulna_reducer *work, size_t term, int slide, const ulna_part *ball)
{
    const ulna_reduced_term *at = &work->to->terms[term];
    double apart[3];
    for (int i = 0; i < 3; i++)
        apart[i] = at->offset[i] - ball->offset[i];
    return at->node == slide && work->problem->term[term].type == ULNA_TERM_POINT && ulna_norm(apart) <= work->tiny;
}

/* Does nothing but the ball, and points where it is, hang on the slide? */
static int carries_ball_alone(const ulna_reducer *work, int slide, const ulna_part *ball)
{
    int others = work->parts[slide].uses - 1;
    for (size_t i = 0; i < work->problem->term_count && others > 0; i++)
        others -= is_at_ball(work, i, slide, ball);
    return others == 0;
}

/* The three slides above a ball, next to the world first; 0 if there are others, or none. */
static int slides_above(const ulna_reducer *work, int number, int slide[3])
{
    const ulna_part *ball = &work->parts[number];
    for (int k = 2; k >= 0; k--) {
        slide[k] = number = work->parts[number].parent;
        const ulna_part *part = &work->parts[number];
        if (part->edge != ULNA_EDGE_SLIDE || part->lower != -INFINITY || part->upper != INFINITY)
            return 0;
        if (k == 2 ? !carries_ball_alone(work, number, ball) : part->uses != 1)
            return 0;
    }
    double normal[3];
    ulna_cross(work->parts[slide[0]].axis, work->parts[slide[1]].axis, normal);
    return work->parts[slide[0]].parent == 0 && fabs(ulna_dot(normal, work->parts[slide[2]].axis)) > 1e-3;
}

void ulna_reduce_find_free(ulna_reducer *work)
{
    for (int b = 1; b < work->part_count; b++) {
        ulna_part *part = &work->parts[b];
        int slide[3];
        if (part->edge != ULNA_EDGE_BALL || !slides_above(work, b, slide))
            continue;
        for (size_t i = 0; i < work->problem->term_count; i++)
            if (is_at_ball(work, i, slide[2], part)) {
                work->to->terms[i].node = b;
                memset(work->to->terms[i].offset, 0, sizeof work->to->terms[i].offset);
            }
        ulna_ball *ball = &work->to->balls[part->ball];
        ulna_copy3(part->offset, ball->base);
        for (int k = 0; k < 3; k++) {
            ulna_part *along = &work->parts[slide[k]];
            for (int i = 0; i < 3; i++)
                ball->base[i] += along->offset[i];
            ulna_copy3(along->axis, ball->along[k]);
            ball->slide[k] = along->dof;
            along->edge = ULNA_EDGE_WORLD;
        }
        part->edge = ULNA_EDGE_FREE;
        part->parent = 0;
        memset(part->offset, 0, sizeof part->offset);
    }
}
