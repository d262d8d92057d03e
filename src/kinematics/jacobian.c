/*
 * The explicit Jacobian: options, checks, the simple route, and what is done to the twists of every route (src/papers has
 * the others).
 *
 * Recipe 2.1, procedure 1; exact-Hessian Table 1 and Algorithm 3 of its supplementary notes. In the world,
 *
 *     rotation:  v = a x (p - o),  w = a        translation:  v = a,  w = 0
 *
 *   a   axis of the degree of freedom, J_left(w) e_i for exponential maps
 *   o   a point of that axis;  p  the effector's point
 *
 * Body axes are the same two vectors turned by the body's rotation: the point is the effector's own in both cases, so
 * eq. 12 has been done, and eq. 13 is a pure rotation here, not the recipe's shift to the world's origin.
 *
 * Slips of the papers that matter here: procedure 1 starts at the *parent* of b, so it forgets the joint of b itself
 * when the effector is a point on b, and gives the root's translation the identity, which holds only if its placement
 * and frame are not rotated; Algorithm 3, line 20 writes column 3k+3 for 3k+2; the C(p) of the notes (eq. 5) has the sign of
 * p x reversed, and so have the matrices in eq. 4; a translation's column is its axis, not the direction to the effector.
 */
#include "kinematics/jacobian.h"

#include <limits.h>

#include "base/parallel.h"
#include "math/math3.h"

size_t ulna_jacobian_scratch(const ulna_model *model)
{
    size_t twists = 12 * (size_t)model->nv + (size_t)model->nv + (size_t)model->nq;
    size_t frames = 12 * (size_t)model->nb;
    return twists > frames ? twists : frames;
}

/* ---- options ---- */

ulna_jacobian_options ulna_jacobian_options_default(void)
{
    return (ulna_jacobian_options){
        .frame = ULNA_FRAME_WORLD,
        .rows = ULNA_ROWS_LINEAR | ULNA_ROWS_ANGULAR,
        .motions = ULNA_MOTIONS_REVOLUTE | ULNA_MOTIONS_PRISMATIC,
    };
}

static int rows_of(const ulna_jacobian_options *options)
{
    return (options->rows & ULNA_ROWS_LINEAR ? 3 : 0) + (options->rows & ULNA_ROWS_ANGULAR ? 3 : 0);
}

static int columns_of(const ulna_pose *pose, const ulna_jacobian_options *options)
{
    return options->columns ? options->column_count : pose->model->nv;
}

ulna_status ulna_effector_check(const ulna_model *model, const ulna_effector *effector)
{
    if (!effector || effector->body < 0 || effector->body >= model->nb)
        return ULNA_ERR_ARGUMENT;
    return ulna_all_finite(effector->point, 3) ? ULNA_OK : ULNA_ERR_NUMBER;
}

static ulna_status check_options(const ulna_model *model, const ulna_jacobian_options *options)
{
    const unsigned all = 3u;
    if (options->frame != ULNA_FRAME_WORLD && options->frame != ULNA_FRAME_BODY)
        return ULNA_ERR_ARGUMENT;
    if (options->rows == 0 || options->rows & ~all || options->motions == 0 || options->motions & ~all)
        return ULNA_ERR_ARGUMENT;
    if (options->columns) {
        if (options->column_count < 0)
            return ULNA_ERR_ARGUMENT;
        for (int c = 0; c < options->column_count; c++)
            if (options->columns[c] < 0 || options->columns[c] >= model->nv)
                return ULNA_ERR_ARGUMENT;
    }
    if (options->scale && !ulna_all_finite(options->scale, model->nv))
        return ULNA_ERR_NUMBER;
    return ULNA_OK;
}

ulna_status ulna_jacobian_check(const ulna_pose *pose, const ulna_jacobian_options *options, int count,
                                const ulna_effector *effectors, const double *result)
{
    if (!pose || !options || count < 0 || count > INT_MAX / 6 || (count > 0 && !effectors))
        return ULNA_ERR_ARGUMENT;
    ulna_status status = check_options(pose->model, options);
    if (status != ULNA_OK)
        return status;
    if (!result && count > 0 && columns_of(pose, options) > 0)
        return ULNA_ERR_ARGUMENT;
    for (int e = 0; e < count; e++) {
        status = ulna_effector_check(pose->model, &effectors[e]);
        if (status != ULNA_OK)
            return status;
    }
    return pose->placed ? ULNA_OK : ULNA_ERR_STATE;
}

/* ---- from twists to the matrix ---- */

void ulna_jacobian_turn(const ulna_model *model, int body, const double rotation[9], int back, double *twists)
{
    const int *path;
    int depth = ulna_dof_path(model, body, &path);
    for (int k = 0; k < depth; k++)
        for (int half = 0; half < 6; half += 3) {
            double *vector = twists + 6 * (size_t)path[k] + half;
            double turned[3];
            if (back)
                ulna_unrotate(rotation, vector, turned);
            else
                ulna_rotate(rotation, vector, turned);
            ulna_copy3(turned, vector);
        }
}

void ulna_jacobian_emit(const ulna_pose *pose, const ulna_jacobian_options *options, int count, int index, int body,
                        const double *twists, double *result)
{
    const ulna_model *model = pose->model;
    int columns = columns_of(pose, options);
    int first = options->rows & ULNA_ROWS_LINEAR ? 0 : 3; /* linear first, angular after */
    size_t height = (size_t)rows_of(options);

    for (int c = 0; c < columns; c++) {
        double *out = result + height * ((size_t)count * (size_t)c + (size_t)index);
        int dof = options->columns ? options->columns[c] : c;
        unsigned motion = ulna_dof_slides(model, dof) ? ULNA_MOTIONS_PRISMATIC : ULNA_MOTIONS_REVOLUTE;
        if (!(options->motions & motion) || !ulna_model_is_ancestor(model, model->dof_body[dof], body)) {
            memset(out, 0, height * sizeof *out);
            continue;
        }
        const double *twist = twists + 6 * (size_t)dof + first;
        double factor = options->scale ? options->scale[dof] : 1;
        for (size_t r = 0; r < height; r++)
            out[r] = factor * twist[r];
    }
}

/* ---- the simple route: procedure 1, for rotations and translations, linear and angular ---- */

static inline void simple_twist(int slides, const double axis[3], const double origin[3], const double p[3],
                                double v[3], double w[3])
{
    if (slides) {
        ulna_copy3(axis, v);
        w[0] = w[1] = w[2] = 0;
    } else {
        double arm[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]};
        ulna_cross(axis, arm, v); /* eq. 16 */
        ulna_copy3(axis, w);
    }
}

void ulna_jacobian_simple(const ulna_pose *pose, const ulna_effector *effector, double *twists)
{
    double p[3];
    const int *path;
    int depth = ulna_dof_path(pose->model, effector->body, &path);
    ulna_pose_point_relative(pose, effector->body, effector->point, p);

    for (int k = 0; k < depth; k++) {
        double axis[3], origin[3], *twist = twists + 6 * (size_t)path[k];
        ulna_pose_dof_relative(pose, path[k], axis, origin);
        simple_twist(ulna_dof_slides(pose->model, path[k]), axis, origin, p, twist, twist + 3);
    }
}

/* Where an effector is: all that its rows need. */
typedef struct placed_effector {
    double p[3];
    int preorder; /* of its body */
} placed_effector;

/* Some effectors at a time, as many as the scratch holds, and all columns of them: J is written as it lies in memory,
 * and columns have nothing to do with each other. */
typedef struct simple_job {
    const ulna_pose *pose;
    const ulna_jacobian_options *options;
    int count;                     /* effectors in all */
    int first, size;               /* those at hand */
    const placed_effector *placed; /* size */
    const double *rotation;        /* 9 x size, for the frames of the bodies; NULL for the world's */
    double *jacobian;
} simple_job;

static void turn_back(const double rotation[9], double x[3])
{
    double turned[3];
    ulna_unrotate(rotation, x, turned);
    ulna_copy3(turned, x);
}

/* out += factor * column of the DOF */
static void add_column(const simple_job *job, int dof, double factor, double *out)
{
    const ulna_pose *pose = job->pose;
    const ulna_jacobian_options *options = job->options;
    const ulna_body *body = &pose->model->body[pose->model->dof_body[dof]];
    int slides = ulna_dof_slides(pose->model, dof), from = body->preorder, to = from + body->subtree;
    int height = rows_of(options);
    double axis[3], origin[3];
    ulna_pose_dof_relative(pose, dof, axis, origin);
    for (int i = 0; i < 3; i++)
        axis[i] *= factor;
    for (int e = 0; e < job->size; e++, out += height) {
        const placed_effector *at = &job->placed[e];
        if (at->preorder < from || at->preorder >= to)
            continue;
        double v[3], w[3];
        simple_twist(slides, axis, origin, at->p, v, w);
        if (job->rotation) {
            turn_back(job->rotation + 9 * (size_t)e, v);
            turn_back(job->rotation + 9 * (size_t)e, w);
        }
        if (options->rows & ULNA_ROWS_LINEAR)
            ulna_accumulate3(v, out);
        if (options->rows & ULNA_ROWS_ANGULAR)
            ulna_accumulate3(w, out + height - 3);
    }
}

/* What moves with the DOF: itself and all that is coupled to it; a coupled DOF moves nothing by itself (model.h). */
static void simple_column(const simple_job *job, int dof, double *out)
{
    const ulna_model *model = job->pose->model;
    const ulna_jacobian_options *options = job->options;
    double factor = options->scale ? options->scale[dof] : 1;
    memset(out, 0, (size_t)rows_of(options) * (size_t)job->size * sizeof *out);
    if (!(options->motions & (ulna_dof_slides(model, dof) ? ULNA_MOTIONS_PRISMATIC : ULNA_MOTIONS_REVOLUTE)))
        return;
    for (int i = 0; i < model->nc; i++)
        if (model->coupling[i].dof == dof)
            return;
    add_column(job, dof, factor, out);
    for (int i = 0; i < model->nc; i++)
        if (model->coupling[i].master == dof)
            add_column(job, model->coupling[i].dof, factor * model->coupling[i].multiplier, out);
}

static void simple_columns(const void *context, int first, int last)
{
    const simple_job *job = context;
    const ulna_jacobian_options *options = job->options;
    size_t height = (size_t)rows_of(options);
    for (int c = first; c < last; c++)
        simple_column(job, options->columns ? options->columns[c] : c,
                      job->jacobian + height * ((size_t)job->count * (size_t)c + (size_t)job->first));
}

static void place_effectors(const ulna_pose *pose, int count, const ulna_effector *effectors, placed_effector *placed,
                            double *rotation)
{
    for (int e = 0; e < count; e++) {
        int body = effectors[e].body;
        ulna_pose_point_relative(pose, body, effectors[e].point, placed[e].p);
        placed[e].preorder = pose->model->body[body].preorder;
        if (rotation)
            ulna_pose_body_relative(pose, body, NULL, rotation + 9 * (size_t)e);
    }
}

ulna_status ulna_pose_jacobian(ulna_pose *pose, const ulna_jacobian_options *options, int count,
                               const ulna_effector *effectors, double *jacobian)
{
    ulna_status status = ulna_jacobian_check(pose, options, count, effectors, jacobian);
    if (status != ULNA_OK)
        return status;
    int columns = columns_of(pose, options);
    if (columns == 0)
        return ULNA_OK;
    size_t room = pose->scratch_count / 13; /* doubles per effector: 4 for its place, 9 for its frame */
    placed_effector *placed = (placed_effector *)pose->scratch;
    simple_job job = {.pose = pose, .options = options, .count = count, .placed = placed};
    job.jacobian = jacobian;
    for (; job.first < count; job.first += job.size) {
        job.size = (size_t)(count - job.first) < room ? count - job.first : (int)room;
        double *rotation = options->frame == ULNA_FRAME_BODY ? (double *)(placed + job.size) : NULL;
        place_effectors(pose, job.size, effectors + job.first, placed, rotation);
        job.rotation = rotation;
        double entries = (double)rows_of(options) * job.size * columns;
        ulna_parallel_for(pose->threads, 7e-4 * entries, columns, 8, simple_columns, &job);
    }
    return ULNA_OK;
}

void ulna_pose_pivot_relative(const ulna_pose *pose, int dof, double pivot[3])
{
    /* The origin of the link, less the translations that its joint makes after the rotation (a reversed free joint does). */
    const ulna_model *model = pose->model;
    const ulna_link *link = &model->link[model->dof_link[dof]];
    for (int i = 0; i < 3; i++)
        pivot[i] = pose->frame[4 * (size_t)model->dof_link[dof] + 3][i];
    for (int later = dof + 1; later < link->dof + link->dof_count; later++)
        if (ulna_dof_slides(model, later)) {
            double axis[3], unused[3];
            ulna_pose_dof_relative(pose, later, axis, unused);
            for (int i = 0; i < 3; i++)
                pivot[i] -= axis[i] * pose->q[model->dof_coordinate[later]];
        }
}
