/*
 * Couplings: degrees of freedom that follow others, q = multiplier * q(master) + offset.
 *
 * A chain of couplings is resolved to its end: q_c = n q_b + p and q_b = m q_a + o give q_c = n m q_a + (n o + p).
 *
 * Limits: a master must keep all that follow it inside their limits, so its own are cut to the pre-image of theirs; theirs
 * become the image of the result. Rounding is monotonic, so a master inside its limits keeps the others inside to the bit.
 * Limits that leave the master no room are an error, or, if builder->limits_yield, do not count: they are the slip of a file.
 */
#include "math/math3.h"
#include "model/builder.h"

#define NAME "\"%.80s\""

/* Limits that differ by less are the same: an image taken back to the master must not cut it by a rounding error. */
#define SAME_LIMIT 1e-12

size_t ulna_builder_coupling_count(const ulna_builder *builder)
{
    size_t count = 0;
    for (size_t i = 0; i < builder->body_count; i++)
        for (int k = 0; k < builder->body[i].plan.dof_count; k++)
            count += builder->body[i].coupling[k].is_coupled != 0;
    return count;
}

/* The coupling of a DOF, or NULL: a binary search. */
static ulna_coupling *coupling_of(const ulna_model *model, int dof)
{
    int low = 0, high = model->nc;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (model->coupling[middle].dof == dof)
            return &model->coupling[middle];
        if (model->coupling[middle].dof < dof)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static const char *joint_of_dof(const ulna_model *model, int dof)
{
    return model->names + model->body[model->dof_body[dof]].joint_name;
}

/* As the builder has them, by ascending DOF. */
static ulna_status list_couplings(ulna_model *model, const ulna_builder *builder, const int *order, const int *rank,
                                  ulna_error *error)
{
    ulna_coupling *next = model->coupling;
    for (int i = 0; i < model->nb; i++)
        for (int k = 0; k < model->body[i].dof_count; k++) {
            const ulna_builder_coupling *from = &builder->body[order[i]].coupling[k];
            if (!from->is_coupled)
                continue;
            const ulna_body *master = &model->body[rank[from->master]];
            int dof = model->body[i].dof + k, at = master->dof + from->master_dof;
            if (from->master_dof >= master->dof_count || model->dof_coordinate[at] == ULNA_NONE)
                return ulna_fail(error, ULNA_ERR_MODEL,
                                 "joint " NAME " is coupled to degree of freedom %d of joint " NAME
                                 ", which has no coordinate for that",
                                 joint_of_dof(model, dof), from->master_dof, model->names + master->joint_name);
            *next++ = (ulna_coupling){dof, at, from->multiplier, from->offset};
        }
    return ULNA_OK;
}

/* Couples the DOF to the end of the chain; its master is resolved already. */
static ulna_status resolve(ulna_model *model, ulna_coupling *coupling, ulna_error *error)
{
    const ulna_coupling *above = coupling_of(model, coupling->master);
    if (above) {
        coupling->offset += coupling->multiplier * above->offset;
        coupling->multiplier *= above->multiplier;
        coupling->master = above->master;
    }
    if (!isfinite(coupling->multiplier) || !isfinite(coupling->offset))
        return ulna_fail(error, ULNA_ERR_NUMBER, "joint " NAME ": the product of its couplings overflows",
                         joint_of_dof(model, coupling->dof));
    return ULNA_OK;
}

/* Each DOF once: up along the chain as far as it is new, then back. `from` (one int per DOF) remembers the way back. */
static ulna_status resolve_chains(ulna_model *model, int *from, ulna_error *error)
{
    enum { UNSEEN = -1, START = -2, DONE = -3 };
    for (int j = 0; j < model->nv; j++)
        from[j] = UNSEEN;
    for (int i = 0; i < model->nc; i++) {
        int last = START, at = model->coupling[i].dof;
        const ulna_coupling *coupling;
        while ((coupling = coupling_of(model, at)) && from[at] == UNSEEN) {
            from[at] = last;
            last = at;
            at = coupling->master;
        }
        if (coupling && from[at] != DONE)
            return ulna_fail(error, ULNA_ERR_MODEL, "the couplings of joint " NAME " form a cycle: it follows itself",
                             joint_of_dof(model, at));
        while (last != START) {
            int back = from[last];
            ulna_status status = resolve(model, coupling_of(model, last), error);
            if (status != ULNA_OK)
                return status;
            from[last] = DONE;
            last = back;
        }
    }
    return ULNA_OK;
}

/* The image of [low, high] under m q + o. */
static void image(double m, double o, double low, double high, double *first, double *second)
{
    double a = m == 0 ? o : m * low + o, b = m == 0 ? o : m * high + o; /* 0 * infinity is not a number */
    *first = fmin(a, b);
    *second = fmax(a, b);
}

static int is_above(double a, double b)
{
    return a - b > SAME_LIMIT * (1 + fabs(b)) || (isinf(b) && a > b);
}

/* The limits of the master, cut to what the follower's allow. */
static void cut_to_follower(const ulna_coupling *c, const double *lower, const double *upper, double *low, double *high)
{
    *low = lower[c->master];
    *high = upper[c->master];
    if (c->multiplier == 0)
        return;
    double a = (lower[c->dof] - c->offset) / c->multiplier, b = (upper[c->dof] - c->offset) / c->multiplier;
    *low = is_above(fmin(a, b), *low) ? fmin(a, b) : *low;
    *high = is_above(*high, fmax(a, b)) ? fmax(a, b) : *high;
}

static ulna_status limit_master(ulna_model *model, const ulna_coupling *coupling, int limits_yield, ulna_error *error)
{
    double m = coupling->multiplier, o = coupling->offset, cut_lower, cut_upper;
    double *lower = &model->lower[coupling->master], *upper = &model->upper[coupling->master];
    cut_to_follower(coupling, model->lower, model->upper, &cut_lower, &cut_upper);
    int is_possible = m != 0 ? cut_lower <= cut_upper
                             : !is_above(model->lower[coupling->dof], o) && !is_above(o, model->upper[coupling->dof]);
    int is_stuck = is_above(*upper, *lower) && !is_above(cut_upper, cut_lower);
    if (limits_yield && (!is_possible || is_stuck))
        return ULNA_OK;
    if (!is_possible)
        return ulna_fail(error, ULNA_ERR_MODEL,
                         "joint " NAME " follows joint " NAME
                         " (multiplier %g, offset %g), and no value of that keeps both inside their limits",
                         joint_of_dof(model, coupling->dof), joint_of_dof(model, coupling->master), m, o);
    *lower = cut_lower;
    *upper = cut_upper;
    return ULNA_OK;
}

ulna_status ulna_model_make_couplings(ulna_model *model, const ulna_builder *builder, const int *order, const int *rank,
                                      ulna_error *error)
{
    ulna_status status = model->nc ? list_couplings(model, builder, order, rank, error) : ULNA_OK;
    if (!model->nc || status != ULNA_OK)
        return status;
    status = resolve_chains(model, model->dof_link, error); /* dof_link is not in use yet */
    for (int i = 0; i < model->nc && status == ULNA_OK; i++)
        status = limit_master(model, &model->coupling[i], builder->limits_yield, error);
    if (status != ULNA_OK)
        return status;
    for (int i = 0; i < model->nc; i++) {
        const ulna_coupling *c = &model->coupling[i];
        image(c->multiplier, c->offset, model->lower[c->master], model->upper[c->master], &model->lower[c->dof],
              &model->upper[c->dof]);
    }
    ulna_model_clamp(model, model->rest);
    return ULNA_OK;
}

void ulna_model_limit_masters(const ulna_model *model, double *lower, double *upper)
{
    for (int i = 0; i < model->nc; i++) {
        double low, high;
        cut_to_follower(&model->coupling[i], lower, upper, &low, &high);
        lower[model->coupling[i].master] = low;
        upper[model->coupling[i].master] = high;
    }
}

/* ---- the finished model ------------------------------------------------------------------------------------------- */

const ulna_coupling *ulna_model_couplings(const ulna_model *model, int *count)
{
    if (count)
        *count = model ? model->nc : 0;
    return model ? model->coupling : NULL;
}

void ulna_model_couple(const ulna_model *model, double *q)
{
    for (int i = 0; model && q && i < model->nc; i++) {
        const ulna_coupling *c = &model->coupling[i];
        q[model->dof_coordinate[c->dof]] = c->multiplier * q[model->dof_coordinate[c->master]] + c->offset;
    }
}
