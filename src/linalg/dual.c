/*
 * The dual of a small quadratic program with equations and inequalities, by an active set.
 *
 * The active rows A have (S + E)_AA beta_A = -(c - E centre)_A, beta = 0 elsewhere. If an active inequality pulls (beta < 0) it
 * leaves, if an inactive one is violated (w < 0) it joins: principal pivoting, one row at a time. The rule of the least index
 * is due to Murty (1974) and ends for positive definite matrices; the rule of the largest violation is much faster, but
 * can cycle. Violations are compared as beta sqrt(S_ii + E_i) and w / sqrt(S_ii + E_i), which have one unit.
 *
 * S + E = L D LT in the order in which rows joined, equations first, without square roots and without pivoting: a row that
 * joins adds a line, one that leaves has those behind it made again.
 */
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define PIVOT_ROUNDING (8 * DBL_EPSILON)
/* Of the sum that a number is computed from: less is not a violation. */
#define VIOLATION_ROUNDING (64 * DBL_EPSILON)

/* In memory that was given as doubles. */
typedef int __attribute__((may_alias)) row_number;

typedef struct dual {
    int n, count, equations; /* rows, active ones, equations */
    const double *S;
    size_t leading;
    const double *E;
    double *right;     /* n: E centre - c */
    double *size;      /* n: sqrt |S_ii + E_i| */
    double *lower;     /* n x n: L, line by line */
    double *pivot;     /* n: 1 / D */
    double *x;         /* n: L^-1 right, of the active ones */
    double *y;         /* n */
    row_number *order; /* n: the active rows as they joined */
} dual;

/* The list of rows is in the last doubles. */
size_t ulna_dual_size(int n)
{
    return n < 0 ? 0 : (size_t)n * ((size_t)n + 6);
}

/* Two at a time: all machines have vectors of two. */
typedef double two __attribute__((vector_size(16), aligned(8), may_alias));

static inline two load_two(const double *x)
{
    return *(const two *)x;
}

static inline void store_two(two x, double *to)
{
    *(two *)to = x;
}

/* Entries i and i + 1 (i even) of y = L^-1 (what is left of the line), of the line y / D, and what they take off its pivot.
 * `first` is line i of L, `second` the next. */
static inline two factor_two(two left, int i, const double *first, const double *second, two pivot, double *y,
                             double *line)
{
    two a = {0, 0}, b = {0, 0};
    for (int j = 0; j < i; j += 2) {
        two z = load_two(y + j);
        a += load_two(first + j) * z;
        b += load_two(second + j) * z;
    }
    left -= (two){a[0], b[0]} + (two){a[1], b[1]};
    left[1] -= second[i] * left[0];
    store_two(left, y + i);
    store_two(left * pivot, line + i);
    return left * left * pivot;
}

static inline double inner(int n, const double *a, const double *b)
{
    two sum = {0, 0};
    int i = 0;
    for (; i + 1 < n; i += 2)
        sum += load_two(a + i) * load_two(b + i);
    return sum[0] + sum[1] + (i < n ? a[i] * b[i] : 0);
}

/* Makes line k of L D LT, with the lines before it in place; 0 if its pivot is zero. */
static int factor_line(dual *q, int k)
{
    const row_number *order = q->order;
    int row = order[k], i = 0;
    size_t n = (size_t)q->n;
    const double *from = q->S + (size_t)row * q->leading, *pivot = q->pivot, *above = q->lower;
    double *y = q->y, *line = q->lower + (size_t)k * n, diagonal = from[row] + q->E[row];
    two less = {0, 0};
    for (; i + 1 < k; i += 2, above += 2 * n)
        less +=
            factor_two((two){from[order[i]], from[order[i + 1]]}, i, above, above + n, load_two(pivot + i), y, line);
    if (i < k) {
        y[i] = from[order[i]] - inner(i, above, y);
        line[i] = y[i] * pivot[i];
        less[0] += y[i] * line[i];
    }
    double D = diagonal - (less[0] + less[1]);
    q->x[k] = q->right[row] - inner(k, line, q->x);
    q->pivot[k] = 1 / D;
    return fabs(D) > PIVOT_ROUNDING * fabs(diagonal);
}

/* Multipliers of the active rows, into y. */
static void solve_active(dual *q)
{
    double *y = q->y;
    for (int i = 0; i < q->count; i++)
        y[i] = q->x[i] * q->pivot[i];
    for (int k = q->count - 1; k > 0; k--) {
        const double *line = q->lower + (size_t)k * (size_t)q->n;
        double by = y[k];
        for (int i = 0; i < k; i++)
            y[i] -= by * line[i];
    }
}

/* w of an inactive row, 0 if it is so to rounding. */
static double slack_of(const dual *q, int row)
{
    const double *line = q->S + (size_t)row * q->leading;
    double w = -q->right[row], size = fabs(w);
    for (int k = 0; k < q->count; k++) {
        double part = line[q->order[k]] * q->y[k];
        w += part;
        size += fabs(part);
    }
    return fabs(w) <= VIOLATION_ROUNDING * size ? 0 : w;
}

/* The row that must join or leave, or -1: the most violated, or the first. */
static int find_change(const dual *q, const unsigned char *is_equation, const unsigned char *active, int first_only)
{
    int found = -1;
    if (q->equations == q->n)
        return -1;
    double worst = 0, largest = 0;
    for (int k = 0; k < q->count; k++)
        largest = fmax(largest, fabs(q->y[k]) * q->size[q->order[k]]);
    for (int k = 0; k < q->count; k++) {
        int row = q->order[k];
        double v = q->y[k] * q->size[row];
        if (!is_equation[row] && v < -VIOLATION_ROUNDING * largest &&
            (first_only ? found < 0 || row < found : v < worst))
            worst = v, found = row;
    }
    for (int row = 0; row < q->n; row++) {
        if (active[row])
            continue;
        double v = slack_of(q, row) / fmax(q->size[row], DBL_MIN);
        if (v < 0 && (first_only ? found < 0 || row < found : v < worst))
            worst = v, found = row;
    }
    return found;
}

/* Lets a row leave or join; 0 if the matrix is singular then. */
static int change(dual *q, int row, unsigned char *active)
{
    int k = q->count;
    active[row] = !active[row];
    if (active[row]) {
        q->order[q->count++] = row;
    } else {
        for (k = 0; q->order[k] != row; k++)
            ;
        q->count--;
        memmove(q->order + k, q->order + k + 1, (size_t)(q->count - k) * sizeof *q->order);
    }
    int good = 1;
    for (; k < q->count; k++)
        good &= factor_line(q, k);
    return good;
}

static int negative_pivots(const dual *q)
{
    int count = 0;
    for (int k = 0; k < q->count; k++)
        count += q->pivot[k] < 0;
    return count;
}

static dual lay_out(int n, const double *S, int leading, const double *E, double *scratch)
{
    size_t m = (size_t)n;
    dual q = {.n = n, .S = S, .leading = (size_t)leading, .E = E};
    q.right = scratch, q.size = q.right + m, q.pivot = q.size + m, q.x = q.pivot + m, q.y = q.x + m, q.lower = q.y + m;
    q.order = (row_number *)(q.lower + m * m);
    return q;
}

/* Starts from the equations and what was active. */
static ulna_status begin(dual *q, const double *c, const double *centre, const unsigned char *is_equation,
                         unsigned char *active)
{
    int good = 1;
    double sum = 0;
    for (int i = 0; i < q->n; i++) {
        q->right[i] = q->E[i] * centre[i] - c[i];
        q->size[i] = sqrt(fabs(q->S[(size_t)i * q->leading + (size_t)i] + q->E[i]));
        sum += fabs(q->right[i]) + q->size[i];
        if (is_equation[i]) {
            active[i] = 1;
            q->order[q->count] = i;
            good &= factor_line(q, q->count++);
        }
    }
    q->equations = q->count;
    for (int i = 0; q->equations < q->n && i < q->n; i++)
        if (active[i] && !is_equation[i]) {
            q->order[q->count] = i;
            good &= factor_line(q, q->count++);
        }
    if (!isfinite(sum))
        return ULNA_ERR_NUMBER;
    return good ? ULNA_OK : ULNA_ERR_SINGULAR;
}

ulna_status ulna_dual_solve(int n, const double *S, int leading, const double *c, const double *E, const double *centre,
                            const unsigned char *is_equation, unsigned char *active, double *beta, double *scratch,
                            int *negative)
{
    if (n < 0 || leading < n || (n > 0 && (!S || !c || !E || !centre || !is_equation || !active || !beta || !scratch)))
        return ULNA_ERR_ARGUMENT;
    dual q = lay_out(n, S, leading, E, scratch);
    ulna_status status = begin(&q, c, centre, is_equation, active);
    if (status != ULNA_OK)
        return status;
    int rounds = 3 * n + 20, most = 50 * rounds; /* an indefinite matrix gets two times `rounds`: it may cycle */
    for (int round = 0;; round++) {
        solve_active(&q);
        int row = find_change(&q, is_equation, active, round > rounds);
        if (row < 0)
            break;
        if (round == most || (round == 2 * rounds && negative_pivots(&q)))
            return ULNA_ERR_CONVERGENCE;
        if (!change(&q, row, active))
            return ULNA_ERR_SINGULAR;
    }
    if (n > 0)
        memset(beta, 0, (size_t)n * sizeof *beta);
    for (int k = 0; k < q.count; k++) {
        int row = q.order[k];
        if (!isfinite(q.y[k]))
            return ULNA_ERR_NUMBER;
        beta[row] = is_equation[row] ? q.y[k] : fmax(q.y[k], 0);
    }
    if (negative)
        *negative = negative_pivots(&q);
    return ULNA_OK;
}
