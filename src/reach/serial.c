/* Chains: from a model to the canonical form of serial_kernel.h, and back from scaled coordinates. */
#include "math/math3.h"
#include "model/model.h"
#include "reach/serial_kernel.h"

#include <math.h>
#include <string.h>

/* Farther outside a limit than this, scaled, and a state is refused; nearer, it is moved onto the limit. */
#define LIMIT_SLACK 1e-12
/* Beyond this many radians the sine loses digits. */
#define LARGEST_ANGLE 1e4

/* Best last. */
static const struct {
    const ulna_serial_kernel *kernel, *wide;
    const char *cpu;
} kernels[] = {
    {&ulna_serial_kernel_portable, &ulna_serial_kernel_portable, "portable"},
#ifndef ULNA_NO_X86
    {&ulna_serial_kernel_avx2, &ulna_serial_kernel_avx2, "avx2"},
    {&ulna_serial_kernel_wide_avx512, &ulna_serial_kernel_wide_avx512, "avx512"},
    {&ulna_serial_kernel_avx512, &ulna_serial_kernel_wide_avx512, "avx512"},
#endif
};
enum { KERNEL_COUNT = sizeof kernels / sizeof kernels[0] };

const ulna_serial_kernel *ulna_serial_kernel_find(const char *name)
{
    for (int k = KERNEL_COUNT - 1; k >= 0; k--)
        if ((!name || strcmp(name, kernels[k].kernel->name) == 0) && ulna_cpu_runs(kernels[k].cpu))
            return kernels[k].kernel;
    return NULL;
}

static const ulna_serial_kernel *wide_of(const ulna_serial_kernel *kernel)
{
    int k = KERNEL_COUNT - 1;
    while (k > 0 && kernels[k].kernel != kernel)
        k--;
    return kernels[k].wide;
}

/* ---- the joints on the way ----------------------------------------------------------------------------------------- */

typedef struct frame {
    double rotation[9], position[3];
} frame;

/* Joints along z, with what is fixed before each of them and behind the last. */
typedef struct path {
    const ulna_model *model;
    const double *lower, *upper;
    int n, too_many;
    frame before[ULNA_SERIAL_MAX + 1];
    int slides[ULNA_SERIAL_MAX], dof[ULNA_SERIAL_MAX];
} path;

static frame frame_of(const double *rotation, const double *position)
{
    frame f;
    if (rotation)
        ulna_copy9(rotation, f.rotation);
    else
        ulna_identity9(f.rotation);
    if (position)
        ulna_copy3(position, f.position);
    else
        memset(f.position, 0, sizeof f.position);
    return f;
}

static frame times(const frame *a, const frame *b)
{
    frame c;
    ulna_compose(a->rotation, a->position, b->rotation, b->position, c.rotation, c.position);
    return c;
}

static frame inverse_of(const frame *a)
{
    frame b;
    ulna_invert(a->rotation, a->position, b.rotation, b.position);
    return b;
}

static void add_fixed(path *p, const double *rotation, const double *position, int inverted)
{
    frame f = frame_of(rotation, position);
    if (inverted)
        f = inverse_of(&f);
    p->before[p->n] = times(&p->before[p->n], &f);
}

/* A motion along or about coordinate axis k: a frame whose z axis is that axis, or its opposite for an inverse motion. */
static void add_segment(path *p, unsigned segment, int sign, int dof)
{
    const int slides = ulna_segment_is_translation(segment),
              k = (int)segment - (slides ? ULNA_SEGMENT_TX : ULNA_SEGMENT_RX);
    double align[9] = {0};
    align[3 * ((k + 1) % 3)] = 1;
    align[3 * ((k + 2) % 3) + 1] = sign;
    align[3 * k + 2] = sign;
    add_fixed(p, align, NULL, 0);
    const double lower = p->lower[dof];
    if (lower == p->upper[dof]) { /* it cannot move */
        double turn[9], way[3] = {0, 0, slides ? lower : 0};
        ulna_rotation_about(2, slides ? 0 : lower, turn);
        add_fixed(p, turn, way, 0);
    } else if (p->n == ULNA_SERIAL_MAX) {
        p->too_many = 1;
    } else {
        p->slides[p->n] = slides;
        p->dof[p->n] = dof;
        p->n++;
        p->before[p->n] = frame_of(NULL, NULL);
    }
    add_fixed(p, align, NULL, 1);
}

/* A body from its parent's frame to its own, or back. */
static ulna_status add_body(path *p, int body, int back, ulna_error *error)
{
    const ulna_body *b = &p->model->body[body];
    ulna_joint_plan plan;
    const ulna_status status = ulna_joint_resolve(&p->model->joint[body], &plan, error);
    if (status != ULNA_OK)
        return status;
    for (int k = 0; k < plan.segment_count; k++)
        if (plan.segment[k] > ULNA_SEGMENT_TZ)
            return ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                             "the joint of '%s' is not made of rotations and translations along fixed axes",
                             ulna_model_body_name(p->model, body));
    if (!back) {
        add_fixed(p, b->placement_rotation, b->placement_position, 0);
        add_fixed(p, plan.pre, NULL, 0);
        for (int k = 0; k < plan.segment_count; k++)
            add_segment(p, plan.segment[k], plan.sign, b->dof + k);
        add_fixed(p, plan.post, NULL, 0);
        add_fixed(p, b->offset_rotation, b->offset_position, 0);
    } else {
        add_fixed(p, b->offset_rotation, b->offset_position, 1);
        add_fixed(p, plan.post, NULL, 1);
        for (int k = plan.segment_count - 1; k >= 0; k--)
            add_segment(p, plan.segment[k], -plan.sign, b->dof + k);
        add_fixed(p, plan.pre, NULL, 1);
        add_fixed(p, b->placement_rotation, b->placement_position, 1);
    }
    return ULNA_OK;
}

/* Up from the base to the last common ancestor, then down to the tip. */
static ulna_status find_path(path *p, int base, int tip, ulna_error *error)
{
    const ulna_model *model = p->model;
    p->before[0] = frame_of(NULL, NULL);
    int top = base;
    for (; top >= 0 && !ulna_model_is_ancestor(model, top, tip); top = model->body[top].parent) {
        const ulna_status status = add_body(p, top, 1, error);
        if (status != ULNA_OK)
            return status;
    }
    for (int above = top; above != tip;) {
        int next = tip;
        while (model->body[next].parent != above)
            next = model->body[next].parent;
        const ulna_status status = add_body(p, next, 0, error);
        if (status != ULNA_OK)
            return status;
        above = next;
    }
    if (p->n == 0)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "no joint moves '%s'", ulna_model_body_name(model, tip));
    if (p->too_many)
        return ulna_fail(error, ULNA_ERR_UNSUPPORTED, "more than %d joints move '%s'", ULNA_SERIAL_MAX,
                         ulna_model_body_name(model, tip));
    return ULNA_OK;
}

/* ---- canonical form --------------------------------------------------------------------------------------------------- */

static double snapped(double x)
{
    return fabs(x) < 1e-15 ? 0 : fabs(x - 1) < 1e-15 ? 1 : fabs(x + 1) < 1e-15 ? -1 : x;
}

/* link = Rz(angle) * (translation, Rx(tilt)) * rest, where `rest` commutes with motions along z. Returns `rest`. */
static frame split_link(ulna_serial *chain, int i, const frame *link)
{
    const double z[3] = {link->rotation[2], link->rotation[5], link->rotation[8]}, *t = link->position;
    double sine = hypot(z[0], z[1]), cosine = z[2], angle;
    if (sine > 1e-15)
        angle = atan2(z[0], -z[1]);
    else
        angle = hypot(t[0], t[1]) > 0 ? atan2(t[1], t[0]) : 0, sine = 0, cosine = z[2] > 0 ? 1 : -1;
    sine = snapped(sine), cosine = snapped(cosine);

    double turn[9], moved[3];
    ulna_rotation_about(2, angle, turn);
    ulna_unrotate(turn, t, moved);
    /* The origin may move along the next axis, (0, -sine, cosine): to the common normal, or next to where it came from. */
    const double way = sine > 0.02 ? moved[1] / sine : -moved[2] / cosine;
    moved[1] -= way * sine;
    moved[2] += way * cosine;
    for (int r = 0; r < 3; r++)
        chain->translation[i][r] = fabs(moved[r]) < 1e-15 ? 0 : moved[r];
    chain->angle[i] += angle;
    chain->tilt_sine[i] = sine;
    chain->tilt_cosine[i] = cosine;

    const double tilted[9] = {1, 0, 0, 0, cosine, -sine, 0, sine, cosine};
    frame front = {.rotation = {0}};
    ulna_multiply9(turn, tilted, front.rotation);
    ulna_rotate(turn, chain->translation[i], front.position);
    const frame inverse = inverse_of(&front);
    return times(&inverse, link);
}

static void set_limits(ulna_serial *chain, int i, double lower, double upper)
{
    chain->lower[i] = lower;
    chain->upper[i] = upper;
    chain->free[i] = chain->wraps[i] && upper - lower >= 2 * ULNA_PI - 1e-9;
    chain->no_lower[i] = -INFINITY, chain->no_upper[i] = INFINITY;
    chain->clamp_lower[i] = chain->free[i] ? -INFINITY : lower / chain->unit[i];
    chain->clamp_upper[i] = chain->free[i] ? INFINITY : upper / chain->unit[i];
    double from = chain->clamp_lower[i], to = chain->clamp_upper[i];
    if (chain->free[i])
        from = -ULNA_PI, to = ULNA_PI;
    else if (isinf(from) || isinf(to)) /* a translation without limits: as far as the chain is long */
        from = isinf(from) ? (isinf(to) ? -1 : to - 2) : from, to = isinf(to) ? from + 2 : to;
    chain->sample_lower[i] = from;
    chain->sample_range[i] = to - from;
}

/* The coupling of a degree of freedom, or NULL. */
static const ulna_coupling *find_coupling(const ulna_model *model, int dof)
{
    for (int k = 0; k < model->nc; k++)
        if (model->coupling[k].dof == dof)
            return &model->coupling[k];
    return NULL;
}

/* Which joints move together. q = m r + o for each of a group, with r the value of the group's master, on the chain or not: so
 * q[i] = (m[i] / m[k]) q[k] + o[i] - (m[i] / m[k]) o[k] for its first joint k. */
static void find_owners(ulna_serial *chain, const ulna_model *model)
{
    int master[ULNA_SERIAL_MAX];
    double multiplier[ULNA_SERIAL_MAX], offset[ULNA_SERIAL_MAX];
    for (int i = 0; i < ULNA_SERIAL_MAX; i++) {
        chain->owner[i] = i;
        chain->ratio[i] = chain->moves[i] = 1;
        chain->wraps[i] = i < chain->n && !chain->slides[i];
    }
    for (int i = 0; i < chain->n; i++) {
        const ulna_coupling *coupling = find_coupling(model, chain->dof[i]);
        master[i] = coupling ? coupling->master : chain->dof[i];
        multiplier[i] = coupling ? coupling->multiplier : 1;
        offset[i] = coupling ? coupling->offset : 0;
        int k = 0;
        while (master[k] != master[i])
            k++;
        if (k == i) {
            chain->freedoms++;
            continue;
        }
        const double ratio = multiplier[i] / multiplier[k];
        chain->is_coupled = 1;
        chain->owner[i] = k;
        chain->ratio[i] = ratio * chain->unit[k] / chain->unit[i];
        chain->shift[i] = (offset[i] - ratio * offset[k]) / chain->unit[i];
        chain->moves[k] += fabs(chain->ratio[i]);
        chain->wraps[i] = chain->wraps[k] = 0;
    }
    if (chain->is_coupled)
        chain->padded = ULNA_SERIAL_MAX;
}

static void make_canonical(ulna_serial *chain, const path *p)
{
    static const unsigned char padded[ULNA_SERIAL_MAX + 1] = {0, 4, 4, 4, 4, 5, 6, 7, 8, 12, 12, 12, 12};
    chain->n = p->n;
    chain->padded = padded[p->n];
    frame base = p->before[0], rest = frame_of(NULL, NULL);
    double length = 0, extent = 0;
    for (int i = 0; i < p->n; i++) {
        chain->slides[i] = (unsigned char)p->slides[i];
        chain->dof[i] = p->dof[i];
        chain->coordinate[i] = p->model->dof_coordinate[p->dof[i]];
        const frame link = times(&rest, &p->before[i + 1]);
        if (i == p->n - 1)
            rest = link;
        else
            rest = split_link(chain, i, &link);
        if (i == 0) { /* the first frame moves along its axis to where the second one is */
            const frame up = {.rotation = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .position = {0, 0, chain->translation[0][2]}};
            base = times(&base, &up);
            chain->translation[0][2] = 0;
        }
        length += ulna_norm(chain->translation[i]);
        if (p->slides[i])
            extent += fmax(fabs(p->lower[p->dof[i]]), fabs(p->upper[p->dof[i]]));
    }
    chain->length = length + (isinf(extent) ? 0 : 0.5 * extent);
    if (!(chain->length > 0))
        chain->length = p->model->length_scale;
    chain->reach = (length + extent) / chain->length;
    memcpy(chain->base, &base, sizeof base);
    memcpy(chain->tool, &rest, sizeof rest);
    for (int i = 0; i < ULNA_SERIAL_MAX; i++)
        chain->unit[i] = i < p->n && chain->slides[i] ? chain->length : 1;
    find_owners(chain, p->model);
    for (int i = 0; i < p->n; i++) {
        set_limits(chain, i, p->lower[p->dof[i]], p->upper[p->dof[i]]);
        chain->sine[i] = sin(chain->angle[i]);
        chain->cosine[i] = cos(chain->angle[i]);
        for (int r = 0; r < 3; r++)
            chain->translation[i][r] /= chain->length;
    }
    for (int i = p->n; i < ULNA_SERIAL_MAX; i++) { /* padding: translations between limits of 0 */
        chain->slides[i] = 1;
        chain->cosine[i] = chain->tilt_cosine[i] = 1;
    }
    chain->tilt_cosine[p->n - 1] = 1;
}

/* Strides are powers of the inverse root of x^(count + 1) = x + 1. */
void ulna_serial_strides(int count, double *stride)
{
    double x = 1.5, power = 1;
    for (int k = 0; k < 80; k++)
        x = pow(1 + x, 1.0 / (count + 1));
    for (int i = 0; i < count; i++)
        stride[i] = power /= x;
}

/* The last frame at a sample of the joint space, with one joint moved by `way`. */
static void sample_frame(const ulna_serial *chain, int sample, int joint, double way, double *last)
{
    double q[ULNA_SERIAL_MAX][ULNA_SERIAL_LANES] = {{0}}, lanes[12][ULNA_SERIAL_LANES];
    for (int i = 0; i < chain->n; i++) {
        const double u = 0.5 + chain->stride[i] * (sample + 1);
        double x = chain->sample_lower[i] + (u - floor(u)) * chain->sample_range[i] + (i == joint ? way : 0);
        if (chain->owner[i] != i)
            x = chain->ratio[i] * q[chain->owner[i]][0] + chain->shift[i];
        for (int l = 0; l < ULNA_SERIAL_LANES; l++)
            q[i][l] = x;
    }
    chain->kernel->forward(chain, q, lanes);
    for (int k = 0; k < 12; k++)
        last[k] = lanes[k][0];
}

/* By elimination with the largest row first. */
static int rank_of(int count, double (*row)[12])
{
    const double small = 1e-6;
    for (int rank = 0; rank < count; rank++) {
        int best = rank;
        for (int i = rank; i < count; i++)
            if (ulna_inner(12, row[i], row[i]) > ulna_inner(12, row[best], row[best]))
                best = i;
        double pivot[12];
        const double square = ulna_inner(12, row[best], row[best]);
        if (square < small * small)
            return rank;
        memcpy(pivot, row[best], sizeof pivot);
        memcpy(row[best], row[rank], sizeof pivot);
        memcpy(row[rank], pivot, sizeof pivot);
        for (int i = rank + 1; i < count; i++) {
            const double part = ulna_inner(12, pivot, row[i]) / square;
            for (int k = 0; k < 12; k++)
                row[i][k] -= part * pivot[k];
        }
    }
    return count;
}

/* By differences. Joints with one axis, or a plane that the chain cannot leave, make it redundant with fewer joints than others. */
static void find_rank(ulna_serial *chain)
{
    const double h = 1e-5;
    for (int sample = 0; sample < 3; sample++) {
        double change[ULNA_SERIAL_MAX][12] = {{0}};
        int count = 0;
        for (int i = 0; i < chain->n; i++) {
            double behind[12], ahead[12];
            if (chain->owner[i] != i)
                continue;
            sample_frame(chain, sample, i, -h, behind);
            sample_frame(chain, sample, i, h, ahead);
            for (int k = 0; k < 12; k++)
                change[count][k] = (ahead[k] - behind[k]) / (2 * h);
            count++;
        }
        const int rank = rank_of(count, change);
        chain->rank = rank > chain->rank ? rank : chain->rank;
    }
}

ulna_status ulna_serial_create_with(const ulna_model *model, int base, int tip, const double *lower,
                                    const double *upper, const ulna_serial_kernel *kernel,
                                    const ulna_allocator *allocator, ulna_serial **chain, ulna_error *error)
{
    if (!chain)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "no place to put the chain");
    *chain = NULL;
    if (!model || !kernel || tip < 0 || tip >= model->nb || base < ULNA_NONE || base >= model->nb)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a chain needs a model, a tip and a base that are bodies of it");
    path p = {.model = model, .lower = lower ? lower : model->lower, .upper = upper ? upper : model->upper};
    const ulna_status status = find_path(&p, base, tip, error);
    if (status != ULNA_OK)
        return status;

    ulna_serial found = {.kernel = kernel, .wide = wide_of(kernel), .allocator = ulna_allocator_or_default(allocator)};
    make_canonical(&found, &p);
    ulna_serial_strides(found.n, found.stride);
    ulna_arena arena = {0};
    ulna_arena_take(&arena, 1, sizeof found);
    ulna_serial_tables_take(&found, &arena);
    found.bytes = arena.used;
    arena = (ulna_arena){.memory = ulna_allocate(&found.allocator, 1, found.bytes)};
    if (!arena.memory)
        return ulna_fail(error, ULNA_ERR_MEMORY, "out of memory for a chain of %d joints", found.n);
    *chain = ulna_arena_take(&arena, 1, sizeof found);
    ulna_serial_tables_take(&found, &arena);
    **chain = found;
    find_rank(*chain);
    ulna_serial_tables_fill(*chain);
    return ULNA_OK;
}

ulna_status ulna_serial_create(const ulna_model *model, int base, int tip, const double *lower, const double *upper,
                               const ulna_allocator *allocator, ulna_serial **chain, ulna_error *error)
{
    return ulna_serial_create_with(model, base, tip, lower, upper, ulna_serial_kernel_find(NULL), allocator, chain,
                                   error);
}

void ulna_serial_destroy(ulna_serial *chain)
{
    if (!chain)
        return;
    const ulna_allocator allocator = chain->allocator;
    ulna_release(&allocator, chain, 1, chain->bytes);
}

int ulna_serial_count(const ulna_serial *chain)
{
    return chain->n;
}

const int *ulna_serial_coordinates(const ulna_serial *chain)
{
    return chain->coordinate;
}

const int *ulna_serial_dofs(const ulna_serial *chain)
{
    return chain->dof;
}

const double *ulna_serial_lower(const ulna_serial *chain)
{
    return chain->lower;
}

const double *ulna_serial_upper(const ulna_serial *chain)
{
    return chain->upper;
}

/* ---- back to coordinates --------------------------------------------------------------------------------------------------- */

int ulna_serial_accept_at(const ulna_serial *chain, double (*scaled)[ULNA_SERIAL_LANES], int lane, const double *seed,
                          double *q)
{
    for (int i = 0; i < chain->n; i++) {
        double x = scaled[i][lane];
        if (!(fabs(x) < LARGEST_ANGLE))
            return 0;
        if (chain->owner[i] != i)
            x = chain->ratio[i] * scaled[chain->owner[i]][lane] + chain->shift[i];
        if (!chain->wraps[i]) {
            x *= chain->unit[i];
        } else {
            const double turn = 2 * ULNA_PI;
            x = ulna_serial_unturn(x, seed[i]);
            if (x > chain->upper[i])
                x -= turn * ceil((x - chain->upper[i] - LIMIT_SLACK) / turn);
            if (x < chain->lower[i])
                x += turn * ceil((chain->lower[i] - x - LIMIT_SLACK) / turn);
        }
        const double slack = LIMIT_SLACK * chain->unit[i];
        if (x > chain->upper[i] + slack || x < chain->lower[i] - slack)
            return 0;
        q[i] = ulna_serial_clamp(x, chain->lower[i], chain->upper[i]);
    }
    return 1;
}
