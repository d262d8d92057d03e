/* Options: defaults and checks; the texts of stop reasons. */
#include "solve/solver.h"

ulna_options ulna_options_default(void)
{
    ulna_options options = {
        .method = "hybrid",
        .bounded = 1,
        .objective = -1e-24,
        .decrease = 1e-9,
        .gradient = ULNA_DEFAULT_GRADIENT,
        .step = ULNA_DEFAULT_STEP,
        .violation = 1e-10,
        .kkt = 1e-10,
        .agreeing_restarts = 0,
        .stop_below = -1e-12,
        .seed = 1,
        .hybrid = {.kappa = 1, .exact = 1, .verify = 1},
        .levels = {.ratio = 1e-2, .centre = 5e-4},
        .newton = {.radius = 1},
        .pcg = {.tolerance = 0.1, .band_width = 24},
        .lm = {.rule = ULNA_DAMPING_NIELSEN, .damping = 1e-2},
        .dls = {.rule = ULNA_DLS_ERROR},
        .dense = {.tolerance = 1e-6, .max_step = 0.5},
        .line = {.rule = ULNA_LINE_WOLFE, .sufficient = 1e-4, .curvature = 0.9, .memory = 20},
        .penalty = {.method = "hybrid", .weight = 100},
        .virtual_work = {.step = ULNA_VIRTUAL_GRADIENT},
        .lagrange = {.exact = 1},
    };
    return options;
}

static int is_tolerance(double x)
{
    return x >= 0 && isfinite(x);
}

static ulna_status check_arrays(const ulna_options *options, const ulna_model *model, ulna_error *error)
{
    for (int j = 0; j < model->nv; j++) {
        double low = options->lower ? options->lower[j] : model->lower[j];
        double high = options->upper ? options->upper[j] : model->upper[j];
        if (!(low <= high) || low == (double)INFINITY || high == -(double)INFINITY)
            return ulna_fail(error, ULNA_ERR_ARGUMENT, "limits of degree of freedom %d: %g to %g is not a valid range",
                             j, low, high);
        if (options->strength && !is_tolerance(options->strength[j]))
            return ulna_fail(error, ULNA_ERR_ARGUMENT,
                             "strength of degree of freedom %d is %g: it must be finite and 0 or above", j,
                             options->strength[j]);
    }
    return ULNA_OK;
}

ulna_status ulna_options_check(const ulna_options *options, const ulna_model *model, ulna_error *error)
{
    ulna_status status = ulna_options_check_numbers(options, error);
    if (status != ULNA_OK)
        return status;
    if (!(options->line.sufficient < options->line.curvature && options->line.curvature < 1))
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "options need 0 < line.sufficient < line.curvature < 1");
    if (options->trace_capacity < 0)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "option trace_capacity is %d: it must be a number not below 0",
                         options->trace_capacity);
    if (options->trace_capacity && !options->trace)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "option trace_capacity is %d, but there is no trace",
                         options->trace_capacity);
    return check_arrays(options, model, error);
}

static const struct {
    const char *name, *text;
} stops[ULNA_STOP_COUNT] = {
    [ULNA_STOP_NONE] = {"none", "still running"},
    [ULNA_STOP_OBJECTIVE] = {"objective", "the goals are met"},
    [ULNA_STOP_GRADIENT] = {"gradient", "the gradient is below its tolerance"},
    [ULNA_STOP_DECREASE] = {"decrease", "f hardly decreases any more"},
    [ULNA_STOP_STEP] = {"step", "the last step was below its tolerance"},
    [ULNA_STOP_STALLED] = {"stalled", "the method found no lower point"},
    [ULNA_STOP_INFEASIBLE] = {"infeasible", "the constraints contradict each other or are out of reach"},
    [ULNA_STOP_ITERATIONS] = {"iterations", "the iteration limit was reached"},
    [ULNA_STOP_EVALUATIONS] = {"evaluations", "the evaluation limit was reached"},
    [ULNA_STOP_TIME] = {"time", "the time limit was reached"},
    [ULNA_STOP_CANCELLED] = {"cancelled", "cancelled by the caller"},
};

const char *ulna_stop_name(ulna_stop stop)
{
    return (unsigned)stop < ULNA_STOP_COUNT ? stops[stop].name : "unknown";
}

const char *ulna_stop_text(ulna_stop stop)
{
    return (unsigned)stop < ULNA_STOP_COUNT ? stops[stop].text : "unknown reason";
}
