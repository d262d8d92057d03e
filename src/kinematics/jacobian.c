/*
 * The explicit Jacobian: options, checks, the simple route, and what is done to the twists of every route.
 *
 * Recipe 2.1, procedure 1; exact-Hessian Table 1 and Algorithm 3 of the notes. In the world,
 *
 *     turn:   v = a x (p - o),  w = a        slide:  v = a,  w = 0
 *
 *   a   axis of the degree of freedom, J_left(w) e_i for exponential maps
 *   o   a point of that axis;  p  the effector's point
 *
 * Body axes are the same two vectors turned by the body's rotation: the point is the effector's own in both cases, so
 * eq. 12 has been done, and eq. 13 is a pure rotation here, not the recipe's shift to the world's origin.
 *
 * Slips of the papers that matter here: procedure 1 starts at the *parent* of b, so it forgets the joint of b itself
 * when the effector is a point on b, and gives the root's translation the identity, which holds only if its placement
 * and frame are not turned; Algorithm 3, line 20 writes column 3k+3 for 3k+2; the notes' C(p) (eq. 5) has the sign of
 * p x reversed, and so have the matrices in eq. 4; a slide's column is its axis, not the direction to the effector.
 */
#include "kinematics/jacobian.h"

#include <limits.h>

#include "math/math3.h"

/* ---- the table of routes ---- */

typedef struct route {
    void (*fill)(const ulna_pose *pose, const ulna_effector *effector, double *twists);
    ulna_frame frame;
} route;

static const route routes[ULNA_JACOBIAN_ROUTE_COUNT] = {
    [ULNA_JACOBIAN_SIMPLE] = {ulna_jacobian_simple, ULNA_FRAME_WORLD},
    [ULNA_JACOBIAN_GENERIC] = {ulna_jacobian_generic, ULNA_FRAME_BODY},
    [ULNA_JACOBIAN_ADJUSTED] = {ulna_jacobian_adjusted, ULNA_FRAME_BODY},
    [ULNA_JACOBIAN_TWISTS] = {ulna_jacobian_twists, ULNA_FRAME_BODY},
    [ULNA_JACOBIAN_UNIT_VELOCITY] = {ulna_jacobian_unit_velocity, ULNA_FRAME_WORLD},
    [ULNA_JACOBIAN_DIFFERENCES] = {ulna_jacobian_differences, ULNA_FRAME_BODY},
};

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
        .route = ULNA_JACOBIAN_SIMPLE,
        .frame = ULNA_FRAME_WORLD,
        .rows = ULNA_ROWS_LINEAR | ULNA_ROWS_ANGULAR,
        .motions = ULNA_MOTIONS_REVOLUTE | ULNA_MOTIONS_PRISMATIC,
    };
}

static int rows_of(const ulna_jacobian_options *options)
{
    return (options->rows & ULNA_ROWS_LINEAR ? 3 : 0) + (options->rows & ULNA_ROWS_ANGULAR ? 3 : 0);
}

int ulna_jacobian_rows(const ulna_jacobian_options *options, int count)
{
    if (!options || count < 0 || count > INT_MAX / 6)
        return -1;
    return count * rows_of(options);
}

int ulna_jacobian_columns(const ulna_pose *pose, const ulna_jacobian_options *options)
{
    if (!pose || !options)
        return -1;
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
    if ((unsigned)options->route >= ULNA_JACOBIAN_ROUTE_COUNT)
        return ULNA_ERR_ARGUMENT;
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
    if (status)
        return status;
    if (!result && count > 0 && ulna_jacobian_columns(pose, options) > 0)
        return ULNA_ERR_ARGUMENT;
    for (int e = 0; e < count; e++) {
        status = ulna_effector_check(pose->model, &effectors[e]);
        if (status)
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
    int columns = ulna_jacobian_columns(pose, options);
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

ulna_status ulna_pose_jacobian(ulna_pose *pose, const ulna_jacobian_options *options, int count,
                               const ulna_effector *effectors, double *jacobian)
{
    ulna_status status = ulna_jacobian_check(pose, options, count, effectors, jacobian);
    if (status)
        return status;

    const route *chosen = &routes[options->route];
    for (int e = 0; e < count; e++) {
        int body = effectors[e].body;
        chosen->fill(pose, &effectors[e], pose->scratch);
        if (chosen->frame != options->frame) {
            double rotation[9];
            ulna_pose_body_relative(pose, body, NULL, rotation);
            ulna_jacobian_turn(pose->model, body, rotation, options->frame == ULNA_FRAME_BODY, pose->scratch);
        }
        ulna_jacobian_emit(pose, options, count, e, body, pose->scratch, jacobian);
    }
    return ULNA_OK;
}

/* ---- the simple route: procedure 1, for turns and slides, linear and angular ---- */

void ulna_jacobian_simple(const ulna_pose *pose, const ulna_effector *effector, double *twists)
{
    double p[3];
    const int *path;
    int depth = ulna_dof_path(pose->model, effector->body, &path);
    ulna_pose_point_relative(pose, effector->body, effector->point, p);

    for (int k = 0; k < depth; k++) {
        double *twist = twists + 6 * (size_t)path[k];
        double axis[3], origin[3];
        ulna_pose_dof_relative(pose, path[k], axis, origin);
        if (ulna_dof_slides(pose->model, path[k])) {
            ulna_copy3(axis, twist);
            memset(twist + 3, 0, 3 * sizeof *twist);
        } else {
            double arm[3] = {p[0] - origin[0], p[1] - origin[1], p[2] - origin[2]};
            ulna_cross(axis, arm, twist); /* eq. 16 */
            ulna_copy3(axis, twist + 3);
        }
    }
}

void ulna_pose_pivot_relative(const ulna_pose *pose, int dof, double pivot[3])
{
    /* The origin of the link, less the slides that its joint makes after the turn (a reversed free joint does). */
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
