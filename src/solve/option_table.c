/*
 * The options by name: one table with type, range, methods and meaning of each. It serves ulna_options_set, ulna_options_check, the
 * texts of `ulna methods NAME`, and the tool's --set.
 *
 * What belongs to one C program (arrays, functions, the trace) is not in it.
 */
#include "solve/solver.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define AT(field) .offset = offsetof(ulna_options, field)
#define NOT_NEGATIVE .least = 0, .most = DBL_MAX
#define POSITIVE .least = 0, .most = DBL_MAX, .is_open = 1
#define COUNT .type = ULNA_OPTION_COUNT, .least = 0, .most = INT_MAX
#define FLAG .type = ULNA_OPTION_FLAG, .least = 0, .most = 1

_Static_assert(sizeof(ulna_damping_rule) == sizeof(int) && sizeof(ulna_dls_rule) == sizeof(int) &&
                   sizeof(ulna_line_search) == sizeof(int) && sizeof(ulna_virtual_step) == sizeof(int) &&
                   sizeof(ulna_first_metric) == sizeof(int) && sizeof(ulna_pinv_form) == sizeof(int),
               "choices are read and written as int");

/* clang-format off */
static const ulna_option_info table[] = {
    {"method", ULNA_OPTION_METHOD, AT(method), .meaning = "Name of the method."},
    {"bounded", FLAG, AT(bounded), .meaning = "1: keep the joint limits, if the method can. 0: ignore them."},
    {"objective", ULNA_OPTION_REAL, -DBL_MAX, DBL_MAX, AT(objective),
     .meaning = "Stop once f is at or below this: m2, or if negative, a multiple of the length scale squared. f = 1/2 sum of squared distances; 1e-6 is the 1e-2 cm2 of the exact-Hessian paper."},
    {"decrease", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(decrease),
     .meaning = "Stop once an iteration decreases f by less than this times f. 0: never."},
    {"gradient", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(gradient),
     .meaning = "Stop once no component of the projected gradient over the length scale squared is larger. 0: never."},
    {"step", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(step),
     .meaning = "Stop once no component of the step is larger: radians, or metres over the length scale. 0: never."},
    {"violation", ULNA_OPTION_REAL, POSITIVE, AT(violation), .methods = "hybrid lagrange virtual-work",
     .meaning = "A constraint counts as kept if no row of it is violated by more than this times the length scale."},
    {"kkt", ULNA_OPTION_REAL, POSITIVE, AT(kkt), .methods = "hybrid lagrange virtual-work",
     .meaning = "With constraints: largest KKT residual of an end, over the largest weight times the length scale squared."},
    {"iterations", COUNT, AT(iterations), .meaning = "Limit of iterations for each attempt. 0: the method's default."},
    {"evaluations", COUNT, AT(evaluations), .meaning = "Limit of evaluations of f, for all attempts together. 0: none."},
    {"seconds", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(seconds), .meaning = "Limit of time, for all attempts together. 0: none."},
    {"restarts", COUNT, AT(restarts), .meaning = "While f is above stop_below, try again from other starts, at most this often."},
    {"agreeing_restarts", COUNT, AT(agreeing_restarts),
     .meaning = "Stop once this many attempts ended within 1 % of the best f. 0: make all restarts."},
    {"stop_below", ULNA_OPTION_REAL, -DBL_MAX, DBL_MAX, AT(stop_below),
     .meaning = "f that needs no further restart: m2, or if negative, a multiple of the length scale squared."},
    {"seed", ULNA_OPTION_SEED, 0, 18446744073709551615.0, AT(seed), .meaning = "Seed of the random numbers that choose the starts."},

    {"hybrid.kappa", ULNA_OPTION_REAL, POSITIVE, AT(hybrid.kappa), .methods = "hybrid",
     .meaning = "Initial damping over f; a tenth of it is used if the goals are near."},
    {"hybrid.keep_damping", FLAG, AT(hybrid.keep_damping), .methods = "hybrid",
     .meaning = "1: start with the final damping of the last solve, unless that failed; for tracking."},
    {"hybrid.exact", FLAG, AT(hybrid.exact), .methods = "hybrid",
     .meaning = "1: use the exact Hessian where it speeds up convergence. 0: Gauss-Newton only."},
    {"hybrid.verify", FLAG, AT(hybrid.verify), .methods = "hybrid",
     .meaning = "1: check that the end is a minimum, and leave saddle points along negative curvature."},
    {"hybrid.trust_last", FLAG, AT(hybrid.trust_last), .methods = "hybrid",
     .meaning = "1: take the last step, predicted to decrease f by less than `decrease`, without evaluating f there."},
    {"levels.ratio", ULNA_OPTION_REAL, 1e-6, 0.5, AT(levels.ratio), .methods = "hybrid",
     .meaning = "With levels of constraints: price of a level over that of the one above it; 1e-2 for real time, 1e-3 strict."},
    {"levels.centre", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(levels.centre), .methods = "hybrid",
     .meaning = "With levels: errors up to this part of the length scale are removed exactly from one frame to the next."},
    {"newton.line_search", FLAG, AT(newton.line_search), .methods = "newton",
     .meaning = "1: line search, as eq. 10 of the exact-Hessian paper. 0: trust region."},
    {"newton.radius", ULNA_OPTION_REAL, POSITIVE, AT(newton.radius), .methods = "newton newton-pcg",
     .meaning = "Initial radius of the trust region, in radians."},
    {"pcg.tolerance", ULNA_OPTION_REAL, POSITIVE, AT(pcg.tolerance), .methods = "newton-pcg",
     .meaning = "Relative residual at which the inner conjugate gradients stop: epsilon of the exact-Hessian paper."},
    {"pcg.fixed", FLAG, AT(pcg.fixed), .methods = "newton-pcg",
     .meaning = "1: hold that tolerance fixed, as the paper does. 0: it becomes smaller near the end."},
    {"pcg.band_width", COUNT, AT(pcg.band_width), .methods = "newton-pcg",
     .meaning = "Width of the banded preconditioner: b of the exact-Hessian paper, 24 in its text and 8 in its code."},
    {"pcg.max_iterations", COUNT, AT(pcg.max_iterations), .methods = "newton-pcg",
     .meaning = "Limit of inner iterations. 0: the square of the number of degrees of freedom."},
    {"pcg.nearest_spd", FLAG, AT(pcg.nearest_spd), .methods = "newton-pcg",
     .meaning = "1: replace an indefinite Hessian by the nearest semidefinite one (Higham 1988)."},
    {"lm.rule", ULNA_OPTION_CHOICE, AT(lm.rule), .choices = "nielsen classic quarters", .methods = "lm lm-marquardt",
     .meaning = "How the damping changes: Nielsen 1999; / 10 and x 10 (Marquardt 1963); Fletcher's quarters (1971). lm-marquardt with quarters is what MATLAB's LMFsolve does."},
    {"lm.damping", ULNA_OPTION_REAL, POSITIVE, AT(lm.damping), .methods = "lm lm-marquardt",
     .meaning = "Initial damping; for lm over the largest diagonal element of JtJ."},
    {"dls.rule", ULNA_OPTION_CHOICE, AT(dls.rule), .choices = "error fixed absolute", .methods = "dls",
     .meaning = "error: damping proportional to f. fixed: relative to JtJ at the start. absolute: lambda of the recipe's eq. 35 as it stands, in m2/rad2."},
    {"dls.damping", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(dls.damping), .methods = "dls",
     .meaning = "The damping, in the unit of dls.rule. 0: 1 for error, 1e-3 for the others."},
    {"pinv.form", ULNA_OPTION_CHOICE, AT(pinv.form), .choices = "svd rows", .methods = "pinv",
     .meaning = "svd: by singular values. rows: Jt (JJt)^-1, the recipe's eq. 34, which exists only where all residuals are independent."},
    {"dense.tolerance", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(dense.tolerance), .methods = "pinv qr virtual-work",
     .meaning = "Singular values (qr: pivots) below this times the largest count as 0."},
    {"dense.max_step", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(dense.max_step), .methods = "pinv qr transpose virtual-work",
     .meaning = "Longer steps are shortened to this largest component: radians, or metres over the length scale. 0: never."},
    {"bfgs.start", ULNA_OPTION_CHOICE, AT(bfgs.start), .choices = "scaled identity", .methods = "bfgs lbfgs cg gradient",
     .meaning = "The metric to begin with. scaled: Gauss-Newton's diagonal. identity: the identity, as in textbooks and in MATLAB's fminunc."},
    {"gradient.alpha", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(alpha.gradient), .methods = "gradient",
     .meaning = "A fixed step length in rad2/m2: dq = -alpha g, every step is taken. 0: by a line search."},
    {"transpose.alpha", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(alpha.transpose), .methods = "transpose",
     .meaning = "The same for dq = alpha Jt r. 0: the length that minimises the linear model."},
    {"line.rule", ULNA_OPTION_CHOICE, AT(line.rule), .choices = "wolfe backtracking", .methods = "bfgs lbfgs cg newton",
     .meaning = "What a line search asks for: the strong Wolfe conditions, or sufficient decrease alone."},
    {"line.sufficient", ULNA_OPTION_REAL, .least = 0, .most = 1, .is_open = 1, AT(line.sufficient), .methods = "bfgs lbfgs cg gradient newton",
     .meaning = "c1 of the Wolfe conditions: sufficient decrease. Below line.curvature."},
    {"line.curvature", ULNA_OPTION_REAL, .least = 0, .most = 1, .is_open = 1, AT(line.curvature), .methods = "bfgs lbfgs cg newton",
     .meaning = "c2 of the Wolfe conditions. Below 1."},
    {"line.memory", ULNA_OPTION_COUNT, 1, INT_MAX, AT(line.memory), .methods = "lbfgs", .meaning = "Number of pairs that lbfgs keeps."},
    {"penalty.method", ULNA_OPTION_METHOD, AT(penalty.method), .methods = "penalty",
     .meaning = "The method that solves the problem with penalties in place of limits."},
    {"penalty.weight", ULNA_OPTION_REAL, POSITIVE, AT(penalty.weight), .methods = "penalty",
     .meaning = "Weight of the penalties: lambda of eq. 16 of the convex-IK paper."},
    {"penalty.length", ULNA_OPTION_REAL, NOT_NEGATIVE, AT(penalty.length), .methods = "penalty",
     .meaning = "Unit of length of that weight, in metres: the penalty of an angle is 1/2 weight length2 (angle beyond its limit)2. 1: eq. 16 in metres. 0: the length scale of the problem."},
    {"virtual_work.step", ULNA_OPTION_CHOICE, AT(virtual_work.step), .choices = "gradient gauss-newton", .methods = "virtual-work",
     .meaning = "The step without constraints. gradient ends where the KKT conditions hold; gauss-newton comes to rest elsewhere."},
    {"lagrange.exact", FLAG, AT(lagrange.exact), .methods = "lagrange",
     .meaning = "1: Hessian of the Lagrangian where it is positive definite on the constraints. 0: Gauss-Newton only."},
    {"lagrange.slack", FLAG, AT(lagrange.slack), .methods = "lagrange",
     .meaning = "1: inequalities as C - s2 = 0 (eq. 30 of the survey). 0: by an active set."},
    {0},
};
/* clang-format on */

const ulna_option_info *ulna_option_at(int index)
{
    int count = sizeof table / sizeof *table - 1;
    return index >= 0 && index < count ? &table[index] : NULL;
}

static const ulna_option_info *find(const char *name)
{
    for (const ulna_option_info *at = table; at->name; at++)
        if (strcmp(at->name, name) == 0)
            return at;
    return NULL;
}

/* ---- texts ----------------------------------------------------------------------------------------------------------- */

/* Word number `index` of a list that blanks separate; its length, 0 past the end. */
static int word_at(const char *list, int index, const char **word)
{
    for (; index > 0 && *list; index--) {
        list += strcspn(list, " ");
        list += *list == ' ';
    }
    *word = list;
    return (int)strcspn(list, " ");
}

/* "a number above 0", "a whole number from 1 to 5", "one of svd, rows" */
static void describe_range(const ulna_option_info *o, char *text, size_t size)
{
    const char *what = o->type == ULNA_OPTION_REAL ? "a number" : "a whole number", *word;
    int is_endless = o->most >= (o->type == ULNA_OPTION_REAL ? DBL_MAX : (double)INT_MAX);
    if (o->type == ULNA_OPTION_FLAG)
        snprintf(text, size, "0 or 1");
    else if (o->type == ULNA_OPTION_CHOICE) {
        size_t used = (size_t)snprintf(text, size, "one of ");
        for (int i = 0, length; (length = word_at(o->choices, i, &word)) > 0 && used < size; i++)
            used += (size_t)snprintf(text + used, size - used, "%s%.*s", i ? ", " : "", length, word);
    } else if (o->type == ULNA_OPTION_SEED)
        snprintf(text, size, "a whole number that is not negative");
    else if (o->least <= -DBL_MAX)
        snprintf(text, size, "%s", what);
    else if (is_endless)
        snprintf(text, size, "%s %s %g", what, o->is_open ? "above" : "not below", o->least);
    else
        snprintf(text, size, "%s %s %g %s %g", what, o->is_open ? "between" : "from", o->least,
                 o->is_open ? "and" : "to", o->most);
}

static void *field_of(const ulna_options *options, const ulna_option_info *o)
{
    return (char *)options + o->offset;
}

static double number_of(const ulna_options *options, const ulna_option_info *o)
{
    const void *field = field_of(options, o);
    return o->type == ULNA_OPTION_REAL   ? *(const double *)field
           : o->type == ULNA_OPTION_SEED ? (double)*(const uint64_t *)field
                                         : (double)*(const int *)field;
}

/* With as few digits as give the same number, and a decimal point in every locale. */
static void write_number(double value, char *text, size_t size)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, size, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    for (char *at = text; *at; at++)
        if (*at == ',')
            *at = '.';
}

void ulna_option_text(const ulna_option_info *o, const ulna_options *options, char *text, size_t size)
{
    if (!o || !options || !text || size == 0)
        return;
    *text = 0;
    const void *field = field_of(options, o);
    const char *word;
    if (o->type == ULNA_OPTION_METHOD) {
        const char *name = *(const char *const *)field;
        snprintf(text, size, "%s", name ? name : "hybrid");
    } else if (o->type == ULNA_OPTION_CHOICE) {
        int length = word_at(o->choices, *(const int *)field, &word);
        snprintf(text, size, "%.*s", length, word);
    } else if (o->type == ULNA_OPTION_SEED)
        snprintf(text, size, "%llu", (unsigned long long)*(const uint64_t *)field);
    else
        write_number(number_of(options, o), text, size);
}

/* ---- reading ----------------------------------------------------------------------------------------------------------- */

/* A number with a decimal point in every locale, by an integer with an exponent, which needs none. 0 if the text is anything else. */
static int read_number(const char *text, double *value)
{
    char copy[64];
    size_t used = 0;
    int behind = 0, has_point = 0, has_digit = 0;
    const char *at = text;
    if (*at == '-' || *at == '+')
        copy[used++] = *at++;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !has_point); at++) {
        has_point |= *at == '.';
        if (*at == '.')
            continue;
        if (used > 40)
            return 0;
        copy[used++] = *at;
        has_digit = 1;
        behind += has_point;
    }
    long power = 0;
    if (has_digit && (*at == 'e' || *at == 'E')) {
        char *end;
        if (!at[1] || at[1] == ' ')
            return 0;
        power = strtol(at + 1, &end, 10);
        at = end;
    }
    if (!has_digit || *at || power > 9999 || power < -9999)
        return 0;
    snprintf(copy + used, sizeof copy - used, "e%ld", power - behind);
    *value = strtod(copy, NULL);
    return isfinite(*value);
}

static int is_inside(const ulna_option_info *o, double value)
{
    return value >= o->least && value <= o->most && !(o->is_open && value <= o->least);
}

/* 0 if the text is not a value of the option. */
static int read_value(const ulna_option_info *o, const char *text, void *field)
{
    double value;
    const char *word;
    switch (o->type) {
    case ULNA_OPTION_REAL:
        if (!read_number(text, &value) || !is_inside(o, value))
            return 0;
        *(double *)field = value;
        return 1;
    case ULNA_OPTION_FLAG:
        if (strcmp(text, "yes") == 0 || strcmp(text, "no") == 0) {
            *(int *)field = *text == 'y';
            return 1;
        } /* fall through */
    case ULNA_OPTION_COUNT:
        if (!read_number(text, &value) || !is_inside(o, value) || value != floor(value))
            return 0;
        *(int *)field = (int)value;
        return 1;
    case ULNA_OPTION_CHOICE:
        for (int i = 0, length; (length = word_at(o->choices, i, &word)) > 0; i++)
            if ((int)strlen(text) == length && strncmp(word, text, (size_t)length) == 0) {
                *(int *)field = i;
                return 1;
            }
        return 0;
    case ULNA_OPTION_SEED: {
        char *end;
        errno = 0;
        unsigned long long seed = strtoull(text, &end, 10);
        if (*text < '0' || *text > '9' || *end || errno)
            return 0;
        *(uint64_t *)field = seed;
        return 1;
    }
    case ULNA_OPTION_METHOD:
    default:
        return 0;
    }
}

ulna_status ulna_options_put(ulna_options *options, const char *name, const char *value, const char *method,
                             ulna_error *error)
{
    if (!options || !name || !value)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "an option needs a name and a value");
    const ulna_option_info *o = find(name);
    if (!o) {
        const char *nearest = ulna_nearest_name(name, table, sizeof *table);
        if (nearest)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no option '%.64s'; did you mean '%s'?", name, nearest);
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "there is no option '%.64s'", name);
    }
    if (o->type == ULNA_OPTION_METHOD) {
        if (!method)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "option %s takes the name of a method, not '%.64s'", name,
                             value);
        *(const char **)field_of(options, o) = method;
        return ULNA_OK;
    }
    if (read_value(o, value, field_of(options, o)))
        return ULNA_OK;
    char range[160];
    describe_range(o, range, sizeof range);
    return ulna_fail(error, ULNA_ERR_ARGUMENT, "option %s takes %s, not '%.64s'", name, range, value);
}

ulna_status ulna_options_check_numbers(const ulna_options *options, ulna_error *error)
{
    for (const ulna_option_info *o = table; o->name; o++) {
        const char *word;
        char range[160];
        if (o->type == ULNA_OPTION_METHOD || o->type == ULNA_OPTION_SEED || o->type == ULNA_OPTION_FLAG)
            continue;
        double value = number_of(options, o);
        int is_valid = o->type == ULNA_OPTION_CHOICE ? value >= 0 && word_at(o->choices, (int)value, &word) > 0
                                                     : isfinite(value) && is_inside(o, value);
        if (is_valid)
            continue;
        describe_range(o, range, sizeof range);
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "option %s is %g: it must be %s", o->name, value, range);
    }
    return ULNA_OK;
}
