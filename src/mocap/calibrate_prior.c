/*
 * What is expected of the offsets before a take is seen.
 *
 *     c->prior 1/2 [sum over markers u (z - t)T A (z - t) + sum over pairs v (zl - M zr - m)T B (zl - M zr - m)]
 *
 *   t, A    where the marker is expected, and how much that varies between people: by the options' table or by name; the place is
 *           the set's if it has one
 *   M, m, B the right side mirrors the left; what is placed by eye, in the middle of a bone, does not
 *   u, v    Student's t with three degrees of freedom, by reweighting: odd placements are let go (Lange, Little, Taylor 1989)
 *
 * Without it, offsets go where the error is least, and since poses make up for most shifts, that is nowhere in particular: 15 to 20
 * of 123 directions drift by centimetres from take to take. The places stay where they are throughout. Held to where the last
 * stage ended, as it was before, offsets are held by nothing.
 */
#include <math.h>

#include "base/base.h"
#include "math/math3.h"
#include "mocap/calibrator.h"
#include "model/model.h"

#define DEGREES_OF_FREEDOM 3.0 /* of Student's t */
#define USUAL 0.02             /* m on an adult: the spread that options.prior is about */
#define GUESS 0.06             /* m: of a marker whose place is a guess */
#define JOINT 0.0005           /* m: of a marker that is the joint itself */
#define MIRRORED 0.02          /* m: of left minus mirrored right, if names say no more */

enum {
    INDEPENDENT = 11,
    NEAR_BODIES = 2 /* joints between the body that a name says and the one that the marker is on */
};

/* ---- one marker --------------------------------------------------------------------------------------------------------- */

static int is_near(const ulna_model *model, int a, int b)
{
    for (int steps = 0; a != b; steps++) {
        int *deeper = model->body[a].depth > model->body[b].depth ? &a : &b;
        if (steps == NEAR_BODIES || model->body[*deeper].parent == ULNA_NONE)
            return 0;
        *deeper = model->body[*deeper].parent;
    }
    return 1;
}

static int find_by_name(const ulna_marker_set *set, const char *marker)
{
    const char *colon = strrchr(marker, ':');
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->items[i].marker, marker) == 0 || (colon && strcmp(set->items[i].marker, colon + 1) == 0))
            return (int)i;
    return ULNA_NONE;
}

static int is_given(const ulna_attachment *item)
{
    return item->offset[0] != 0 || item->offset[1] != 0 || item->offset[2] != 0;
}

/* By the caller's table. */
static int expect_by_table(const ulna_figure *f, const ulna_marker_template *table, const char *marker, int body,
                           ulna_expected *e)
{
    int row = table ? find_by_name(&table->set, marker) : ULNA_NONE;
    if (row == ULNA_NONE)
        return 0;
    double place[3];
    ulna_pose_point(f->rest, table->set.items[row].body, table->set.items[row].offset, place);
    ulna_figure_to_body(f, body, place, e->centre);
    ulna_figure_precision(f, body, f->axes, table->spread + 3 * row, 1, e->precision);
    for (int k = 0; k < 3; k++)
        e->mirrored[k] = table->spread[3 * row + k];
    return 1;
}

/* By its name, if it is on that bone or near to it: how far it varies, and where it is, if the set does not say. */
static int expect_by_name(const ulna_figure *f, const ulna_attachment *item, ulna_expected *e)
{
    char side;
    double place[3];
    const char *marker = item->marker;
    int body = item->body;
    const ulna_spot *spot = ulna_spot_find(marker, &side);
    int named = spot ? ulna_marker_body(f->model, marker) : ULNA_NONE;
    if (named == ULNA_NONE || !is_near(f->model, named, body))
        return 0;
    double widen = ulna_figure_place(f, spot, side, body, place, e->axes);
    if (!is_given(item))
        ulna_figure_to_body(f, body, place, e->centre);
    ulna_figure_precision(f, body, e->axes, spot->spread, widen * f->size, e->precision);
    for (int k = 0; k < 3; k++)
        e->mirrored[k] = f->size * spot->mirror[k];
    return 1;
}

/* Where it is. */
static void expect_near(const ulna_figure *f, int body, double deviation, ulna_expected *e)
{
    const double spread[3] = {deviation, deviation, deviation};
    ulna_figure_precision(f, body, f->axes, spread, f->size, e->precision);
    for (int k = 0; k < 3; k++)
        e->mirrored[k] = MIRRORED * f->size;
}

/* ---- pairs --------------------------------------------------------------------------------------------------------------- */

static int are_mirrored(const ulna_calibrator *c, const ulna_anatomy *anatomy, int left, int right)
{
    return left == right || anatomy->mirror[left] == right || ulna_mirror_body(c->base, left) == right;
}

static void find_pairs(ulna_calibrator *c, const ulna_figure *f, const ulna_anatomy *anatomy)
{
    const double *normal = f->has_axes ? f->axes : anatomy->left;
    for (int i = 0; i < c->count && (f->has_axes || anatomy->has_midline); i++)
        for (int j = 0; j < c->count; j++) {
            const char *left = c->take->set.items[c->item[i]].marker, *right = c->take->set.items[c->item[j]].marker;
            const ulna_expected *e = &c->expected[i];
            if (i == j || !(e->mirrored[0] > 0) || !are_mirrored(c, anatomy, c->body[i], c->body[j]) ||
                !ulna_names_are_mirrored(left, right))
                continue;
            ulna_marker_pair *pair = &c->pairs[c->pair_count++];
            *pair = (ulna_marker_pair){.left = i, .right = j, .weight = 1};
            ulna_figure_mirror(f, normal, c->body[i], c->body[j], pair->mirror, pair->shift);
            ulna_figure_precision(f, c->body[i], e->axes, e->mirrored, 1, pair->precision);
            break;
        }
}

ulna_status ulna_calibrator_expect(ulna_calibrator *c, const ulna_marker_set *set)
{
    ulna_figure figure;
    ulna_anatomy *anatomy = NULL;
    const ulna_calibrate_options *o = &c->options;
    ulna_status status = ulna_figure_create(c->base, &c->allocator, &figure);
    if (status == ULNA_OK)
        status = ulna_anatomy_create(c->base, c->body, c->weight, c->count, &c->allocator, &anatomy);
    for (int i = 0; i < c->count && status == ULNA_OK; i++) {
        ulna_expected *e = &c->expected[i];
        const ulna_attachment *item = &set->items[c->item[i]];
        int is_moved = c->body[i] != c->take->set.items[c->item[i]].body; /* by repair: the name was wrong */
        *e = (ulna_expected){.weight = 1};
        memcpy(e->axes, figure.axes, sizeof e->axes);
        ulna_copy3(ulna_offset(c, i), e->centre);
        if (item->is_joint)
            expect_near(&figure, c->body[i], JOINT, e);
        else if (o->keep_near_set)
            expect_near(&figure, c->body[i], USUAL, e);
        else if (is_moved || (!expect_by_table(&figure, o->markers, item->marker, c->body[i], e) &&
                              !expect_by_name(&figure, item, e)))
            expect_near(&figure, c->body[i], GUESS, e);
        ulna_copy3(e->centre, ulna_offset(c, i));
    }
    if (status == ULNA_OK) {
        c->prior_unit = USUAL * USUAL * figure.size * figure.size;
        find_pairs(c, &figure, anatomy);
        for (int b = 0; b < c->nb; b++)
            for (int d = 0; d < c->base->body[b].dof_count; d++)
                c->dof_posture[c->base->body[b].dof + d] = ulna_anatomy_posture(anatomy, b);
    }
    ulna_anatomy_destroy(anatomy);
    ulna_figure_release(&figure);
    return status;
}

/* Errors of neighbouring frames are alike, so that a take counts as INDEPENDENT frames however long it is; fewer count as they are. */
double ulna_calibrator_prior(const ulna_calibrator *c)
{
    return c->options.prior * c->prior_unit * fmax(1, INDEPENDENT / (double)c->keys);
}

double ulna_calibrator_frame_variance(const ulna_calibrator *c)
{
    return c->options.prior * c->prior_unit * INDEPENDENT;
}

/* ---- their sum -------------------------------------------------------------------------------------------------------------- */

/* Offset minus expected place; of a pair, what is not mirrored. */
static void difference(const ulna_calibrator *c, const ulna_marker_pair *pair, int marker, double d[3])
{
    const double *z = ulna_offset(c, pair ? pair->left : marker), *t = c->expected[marker].centre;
    double other[3];
    if (pair)
        ulna_rotate(pair->mirror, ulna_offset(c, pair->right), other);
    for (int k = 0; k < 3; k++)
        d[k] = z[k] - (pair ? other[k] + pair->shift[k] : t[k]);
}

static double square(const double A[9], const double d[3])
{
    double Ad[3];
    ulna_rotate(A, d, Ad);
    return ulna_dot(d, Ad);
}

static double student_weight(double distance)
{
    return fmin(1, (DEGREES_OF_FREEDOM + 3) / (DEGREES_OF_FREEDOM + distance));
}

void ulna_calibrator_weigh_expectations(ulna_calibrator *c)
{
    double d[3];
    for (int i = 0; i < c->count; i++) {
        difference(c, NULL, i, d);
        c->expected[i].weight = student_weight(square(c->expected[i].precision, d));
    }
    for (int p = 0; p < c->pair_count; p++) {
        difference(c, &c->pairs[p], 0, d);
        c->pairs[p].weight = student_weight(square(c->pairs[p].precision, d));
    }
}

double ulna_calibrator_expectation(const ulna_calibrator *c)
{
    double sum = 0, d[3];
    for (int i = 0; i < c->count; i++) {
        difference(c, NULL, i, d);
        sum += 0.5 * c->expected[i].weight * square(c->expected[i].precision, d);
    }
    for (int p = 0; p < c->pair_count; p++) {
        difference(c, &c->pairs[p], 0, d);
        sum += 0.5 * c->pairs[p].weight * square(c->pairs[p].precision, d);
    }
    return sum;
}

/* X (3 x 3) times `scale` at rows `row` and columns `column` of the lower triangle. */
static void add_block(const ulna_calibrator *c, int row, int column, double scale, const double X[9], double *matrix)
{
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            if (row + a >= column + b)
                matrix[(size_t)(row + a) + (size_t)c->nz * (size_t)(column + b)] += scale * X[3 * a + b];
}

static void add_pair(const ulna_calibrator *c, const ulna_marker_pair *pair, double scale, double *matrix,
                     double *gradient)
{
    int left = c->groups + 3 * pair->left, right = c->groups + 3 * pair->right;
    double BM[9], MT[9], MTBM[9], d[3], Bd[3], MTBd[3];
    ulna_multiply9(pair->precision, pair->mirror, BM);
    ulna_transpose9(pair->mirror, MT);
    ulna_multiply9(MT, BM, MTBM);
    add_block(c, left, left, scale, pair->precision, matrix);
    add_block(c, right, right, scale, MTBM, matrix);
    if (left > right) {
        add_block(c, left, right, -scale, BM, matrix);
    } else {
        double MTB[9];
        ulna_multiply9(MT, pair->precision, MTB);
        add_block(c, right, left, -scale, MTB, matrix);
    }
    difference(c, pair, 0, d);
    ulna_rotate(pair->precision, d, Bd);
    ulna_rotate(MT, Bd, MTBd);
    for (int k = 0; k < 3 && gradient; k++) {
        gradient[left + k] += scale * Bd[k];
        gradient[right + k] -= scale * MTBd[k];
    }
}

void ulna_calibrator_add_expectation(const ulna_calibrator *c, double scale, double *matrix, double *gradient)
{
    for (int i = 0; i < c->count; i++) {
        const ulna_expected *e = &c->expected[i];
        int at = c->groups + 3 * i;
        double d[3], Ad[3];
        difference(c, NULL, i, d);
        ulna_rotate(e->precision, d, Ad);
        add_block(c, at, at, scale * e->weight, e->precision, matrix);
        for (int k = 0; k < 3 && gradient; k++)
            gradient[at + k] += scale * e->weight * Ad[k];
    }
    for (int p = 0; p < c->pair_count; p++)
        add_pair(c, &c->pairs[p], scale * c->pairs[p].weight, matrix, gradient);
}
