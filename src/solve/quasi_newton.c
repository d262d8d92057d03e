/*
 * bfgs, lbfgs: the Hessian guessed from how the gradient changes.
 *
 * Sources: exact-Hessian paper, section 3 eq. 8-10 and section 6 (BFGS as the method to beat, MATLAB's fminunc and
 * fmincon); convex-IK paper, section 5.1 and Fig. 3 (L-BFGS). Updates after J. Nocedal, S. J. Wright, "Numerical
 * Optimization", 2nd edition 2006: BFGS eq. 6.17, first scaling 6.20; L-BFGS algorithm 7.4. Limits after D. P.
 * Bertsekas, SIAM J. Control Optim. 20, 1982 (two-metric projection).
 *
 *   s, y     step and change of gradient of one iteration; all vectors in scaled coordinates, see below
 *   H        inverse Hessian: a matrix (bfgs, nv x nv doubles), or the last options.line.memory pairs (lbfgs)
 *   d = -H g, and a Wolfe line search along it (line_search.c)
 *
 * Limits. DOFs are free, held (on a limit that -g presses against, or locked) or near (close to such a limit). H acts
 * on free ones only; near ones go straight down the gradient, onto the limit; the line search projects. Any positive
 * definite H then leads down. bfgs keeps H the inverse of the Hessian of the free DOFs: a DOF that becomes held is
 * eliminated (Schur complement), one that is released starts from a multiple of the identity. lbfgs keeps whole pairs
 * and reads them on the free DOFs. So both are plain quasi-Newton methods on the face of the box, once it is found.
 *
 * Changed: the scale of a DOF is that of solver.h over the root of Gauss-Newton's diagonal at the start
 * (ulna_line_metric), so that H begins with the right proportions between a finger and the root: lbfgs needs a fifth of
 * the iterations on a hand. Pairs without positive curvature are left out (they occur where a limit was met, or with
 * backtracking). For ball joints s and y, which belong to different tangent spaces, are taken as plain vectors, which
 * is exact in the limit.
 *
 * Fails slowly: a skeleton of n DOFs needs some 5 n iterations and more. If a search fails it starts afresh from the
 * gradient, and if that fails too, it says so. A zero gradient is the end, saddle point or not.
 */
#include "solve/quasi_newton.h"

#include "solve/line_search.h"

#define SOUND 1e-10      /* cosine between s and y */
#define DESCENT 1e-12    /* cosine between d and -g */
#define NEAR 1e-3        /* radians or length scales: at most so close to a limit is near */
#define FIRST_STEP 0.3   /* the first step along the gradient, and */
#define LONGEST_STEP 1.0 /* the longest at once of others: radians or length scales */

typedef struct quasi_newton {
    ulna_line line;
    ulna_pairs pairs;        /* lbfgs */
    double *inverse;         /* bfgs: rows and columns of DOFs that are not free are 0 */
    double *metric;          /* nv: dq = metric * (what is here called scaled) */
    double *gradient, *old;  /* nv, scaled: here, and at the last point */
    double *s, *y, *product; /* nv */
    double *free, *was_free; /* nv: 1 or 0 */
    double gamma;            /* the identity's factor: size of the inverse Hessian */
    int has_last;            /* line.step, old, was_free are those of the last iteration */
    int steps;               /* pairs that are in H */
} quasi_newton;

_Static_assert(sizeof(quasi_newton) <= ULNA_METHOD_STATE, "state too large");

/* ---- updates ----------------------------------------------------------------------------------------------------- */

static int is_sound(double ss, double sy, double yy)
{
    return sy > SOUND * sqrt(ss) * sqrt(yy) && sy > 0 && isfinite(ss) && isfinite(yy) && isfinite(1 / sy);
}

int ulna_pair_is_sound(int n, const double *s, const double *y)
{
    return is_sound(ulna_line_dot(n, s, s), ulna_line_dot(n, s, y), ulna_line_dot(n, y, y));
}

void ulna_bfgs_update(int n, const double *s, const double *y, double *inverse, double *product)
{
    double rho = 1 / ulna_line_dot(n, s, y);
    for (int i = 0; i < n; i++)
        product[i] = rho * ulna_line_dot(n, inverse + (size_t)i * (size_t)n, y);
    double both = rho * (1 + ulna_line_dot(n, y, product));
    for (int i = 0; i < n; i++) {
        double *row = inverse + (size_t)i * (size_t)n, a = both * s[i] - product[i], b = s[i];
        for (int j = 0; j < n; j++)
            row[j] += a * s[j] - b * product[j];
    }
}

void ulna_bfgs_hold(int n, int k, double *inverse)
{
    double *pivot_row = inverse + (size_t)k * (size_t)n, pivot = pivot_row[k];
    for (int i = 0; i < n; i++) {
        double *row = inverse + (size_t)i * (size_t)n, factor = pivot > 0 ? row[k] / pivot : 0;
        if (i == k || factor == 0)
            continue;
        for (int j = 0; j < n; j++)
            row[j] -= factor * pivot_row[j];
    }
    for (int i = 0; i < n; i++)
        inverse[(size_t)i * (size_t)n + (size_t)k] = pivot_row[i] = 0;
}

/* Where the pair is that is k older than the newest. */
static int place(const ulna_pairs *p, int k)
{
    int at = p->next - 1 - k;
    return at < 0 ? at + p->memory : at;
}

void ulna_two_loop(int n, ulna_pairs *p, const double *free, double gamma, double *x)
{
    for (int k = 0; k < p->count; k++) { /* from the newest to the oldest */
        int at = place(p, k);
        const double *s = p->s + (size_t)at * (size_t)n, *y = p->y + (size_t)at * (size_t)n;
        double ss = 0, sy = 0, yy = 0, sx = 0;
        for (int j = 0; j < n; j++) {
            double masked = free[j] * y[j];
            ss += free[j] * s[j] * s[j];
            sy += s[j] * masked;
            yy += y[j] * masked;
            sx += s[j] * x[j];
        }
        p->rho[at] = is_sound(ss, sy, yy) ? 1 / sy : 0;
        p->alpha[at] = p->rho[at] * sx;
        if (p->rho[at] > 0 && gamma < 0)
            gamma = sy / yy;
        for (int j = 0; j < n; j++)
            x[j] -= p->alpha[at] * free[j] * y[j];
    }
    for (int j = 0; j < n; j++)
        x[j] *= fabs(gamma);
    for (int k = p->count - 1; k >= 0; k--) {
        int at = place(p, k);
        const double *s = p->s + (size_t)at * (size_t)n, *y = p->y + (size_t)at * (size_t)n;
        double beta = p->alpha[at] - p->rho[at] * ulna_line_dot(n, y, x);
        for (int j = 0; j < n; j++)
            x[j] += beta * free[j] * s[j];
    }
}

/* ---- one iteration ----------------------------------------------------------------------------------------------- */

static ulna_status layout(ulna_solver *s, void *state, ulna_arena *arena, ulna_error *error)
{
    (void)error;
    quasi_newton *m = state;
    size_t nv = (size_t)s->nv, row = nv * sizeof(double), memory = (size_t)s->options.line.memory;
    double **arrays[] = {&m->metric, &m->gradient, &m->old, &m->s, &m->y, &m->product, &m->free, &m->was_free};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = ulna_arena_take(arena, nv, sizeof(double));
    ulna_line_layout(s, &m->line, arena);
    if (s->method == &ulna_method_bfgs) {
        m->inverse = ulna_arena_take(arena, nv, row);
        return ULNA_OK;
    }
    m->pairs.memory = s->options.line.memory;
    m->pairs.s = ulna_arena_take(arena, memory, row);
    m->pairs.y = ulna_arena_take(arena, memory, row);
    m->pairs.rho = ulna_arena_take(arena, memory, sizeof(double));
    m->pairs.alpha = ulna_arena_take(arena, memory, sizeof(double));
    return ULNA_OK;
}

/* H = gamma on the free DOFs. */
static void reset(const ulna_solver *s, quasi_newton *m)
{
    size_t nv = (size_t)s->nv;
    m->steps = m->pairs.count = m->pairs.next = 0;
    if (!m->inverse)
        return;
    memset(m->inverse, 0, nv * nv * sizeof(double));
    for (size_t j = 0; j < nv; j++)
        m->inverse[j * nv + j] = m->gamma * m->free[j];
}

static ulna_status begin(ulna_solver *s, void *state)
{
    quasi_newton *m = state;
    m->has_last = m->steps = m->pairs.count = m->pairs.next = 0;
    double largest;
    ulna_status status = ulna_line_metric(s, m->metric, &largest);
    m->gamma = largest > 0 ? 1 / largest : 1;
    return status;
}

/* Puts the last step into H. */
static void learn(const ulna_solver *s, quasi_newton *m)
{
    int n = s->nv;
    size_t row = (size_t)n;
    for (int j = 0; j < n; j++) {
        double mask = m->inverse ? m->was_free[j] : 1;
        m->s[j] = mask * m->line.step[j] / m->metric[j];
        m->y[j] = mask * (m->gradient[j] - m->old[j]);
    }
    if (!ulna_pair_is_sound(n, m->s, m->y))
        return;
    double gamma = ulna_line_dot(n, m->s, m->y) / ulna_line_dot(n, m->y, m->y);
    m->gamma = gamma;
    if (m->inverse) {
        for (size_t j = 0; j < row && m->steps == 0; j++)
            m->inverse[j * row + j] = gamma * m->was_free[j];
        ulna_bfgs_update(n, m->s, m->y, m->inverse, m->product);
    } else {
        memcpy(m->pairs.s + (size_t)m->pairs.next * row, m->s, row * sizeof(double));
        memcpy(m->pairs.y + (size_t)m->pairs.next * row, m->y, row * sizeof(double));
        m->pairs.next = (m->pairs.next + 1) % m->pairs.memory;
        m->pairs.count += m->pairs.count < m->pairs.memory;
    }
    m->steps++;
}

/* How close to a limit counts as near: less and less towards the end, by the step that the gradient would make. */
static double nearness(const ulna_solver *s, const quasi_newton *m)
{
    double most = 0;
    for (int j = 0; j < s->nv; j++) {
        int c = s->model->dof_coordinate[j];
        double step = -m->gamma * m->gradient[j] * m->metric[j];
        if (s->held[j])
            continue;
        if (c >= 0)
            step = fmin(fmax(step, s->lower[j] - s->q[c]), s->upper[j] - s->q[c]);
        most = fmax(most, fabs(step) / s->unit[j]);
    }
    return fmin(most, NEAR);
}

/* Which DOFs are free; `near` ones have free = 0 and held = 0. */
static void sort_dofs(ulna_solver *s, quasi_newton *m)
{
    ulna_mark_held(s);
    double near = s->bounded ? nearness(s, m) : 0;
    for (int j = 0; j < s->nv; j++) {
        int c = s->model->dof_coordinate[j];
        m->free[j] = !s->held[j];
        if (!s->bounded || c < 0 || s->held[j])
            continue;
        double gap = m->gradient[j] > 0 ? s->q[c] - s->lower[j] : s->upper[j] - s->q[c];
        if (m->gradient[j] != 0 && gap <= near * s->unit[j])
            m->free[j] = 0;
    }
}

/* Takes DOFs out of the matrix and puts them in as they become held or free. */
static void follow_free(const ulna_solver *s, quasi_newton *m)
{
    for (int j = 0; j < s->nv && m->inverse; j++) {
        if (m->was_free[j] > m->free[j])
            ulna_bfgs_hold(s->nv, j, m->inverse);
        else if (m->was_free[j] < m->free[j])
            m->inverse[(size_t)j * (size_t)s->nv + (size_t)j] = m->gamma;
    }
}

/* d = -H g into s->step, as steps of DOFs. Does it lead down? */
static int find_direction(ulna_solver *s, quasi_newton *m)
{
    int n = s->nv;
    double *d = m->product, *g = m->s; /* both scratch here */
    for (int j = 0; j < n; j++)
        g[j] = m->free[j] * m->gradient[j];
    if (m->inverse) {
        for (int j = 0; j < n; j++)
            d[j] = m->free[j] > 0 ? -ulna_line_dot(n, m->inverse + (size_t)j * (size_t)n, g) : 0;
    } else {
        for (int j = 0; j < n; j++)
            d[j] = -g[j];
        ulna_two_loop(n, &m->pairs, m->free, -m->gamma, d);
    }
    double gd = ulna_line_dot(n, g, d), gg = ulna_line_dot(n, g, g), dd = ulna_line_dot(n, d, d);
    for (int j = 0; j < n; j++) {
        if (m->free[j] == 0 && !s->held[j])
            d[j] = -m->gamma * m->gradient[j];
        s->step[j] = d[j] * m->metric[j];
    }
    return gg == 0 || (isfinite(dd) && gd < -DESCENT * sqrt(gg) * sqrt(dd));
}

/* The length to begin with: 1, unless the direction is bare gradient, which has none of its own. f stays above 0. */
static double first_length(const ulna_solver *s, const quasi_newton *m)
{
    double size = ulna_step_size(s, s->step), least = 2 * s->f / -ulna_slope_along(s, s->step);
    if (!(size > 0) || !(least > 0))
        return 1;
    return m->steps ? fmin(1, LONGEST_STEP / size) : fmin(least, FIRST_STEP / size);
}

static ulna_status search(ulna_solver *s, quasi_newton *m, int *found)
{
    memcpy(m->old, m->gradient, (size_t)s->nv * sizeof(double));
    memcpy(m->was_free, m->free, (size_t)s->nv * sizeof(double));
    ulna_status status = ulna_line_walk(s, &m->line, s->step, first_length(s, m), found);
    m->has_last = *found;
    s->now.unsettled = m->line.met;
    return status;
}

static ulna_status iterate(ulna_solver *s, void *state)
{
    quasi_newton *m = state;
    int found = 0;
    for (int j = 0; j < s->nv; j++)
        m->gradient[j] = s->gradient[j] * m->metric[j];
    if (m->has_last)
        learn(s, m);
    sort_dofs(s, m);
    if (m->steps)
        follow_free(s, m);
    else
        reset(s, m);

    /* A direction that does not lead down, or not to a lower point: forget, and go down the gradient. */
    double predicted = (double)INFINITY;
    ulna_status status = ULNA_OK;
    if (find_direction(s, m)) {
        status = search(s, m, &found);
        predicted = m->steps ? -0.5 * m->line.slope : (double)INFINITY;
    }
    if (status == ULNA_OK && !found && m->steps) {
        reset(s, m);
        find_direction(s, m);
        status = search(s, m, &found);
    }
    if (status == ULNA_OK && !found)
        status = ulna_line_give_up(s, &m->line, predicted);
    return status;
}

const ulna_method ulna_method_bfgs = {
    .info = {.name = "bfgs",
             .summary = "quasi-Newton: a dense inverse Hessian built from gradients, with a line search",
             .source = "exact-Hessian paper, section 3 eq. 8-10 and section 6; Nocedal & Wright eq. 6.17",
             .supports = "all terms, all joints; nv x nv numbers of memory",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 1000},
    .uses_gradient = 1,
    .patience = 3,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};

const ulna_method ulna_method_lbfgs = {
    .info = {.name = "lbfgs",
             .summary = "quasi-Newton from the last few gradients, with a line search: O(DOF) memory and time",
             .source = "convex-IK paper, section 5.1; Nocedal & Wright algorithm 7.4",
             .supports = "all terms, all joints",
             .flags = ULNA_METHOD_BOUNDED | ULNA_METHOD_MONOTONE,
             .iterations = 3000},
    .uses_gradient = 1,
    .patience = 3,
    .layout = layout,
    .begin = begin,
    .iterate = iterate,
};
