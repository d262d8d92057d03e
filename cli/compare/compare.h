/*
 * compare.h: the parts of `ulna compare`: the problems, the runs of each method over them, and the page about it.
 */
#ifndef ULNA_CLI_COMPARE_H
#define ULNA_CLI_COMPARE_H

#include <stdint.h>

#include "cli/cli.h"
#include "cli/global/goals.h"
#include "cli/markup.h"
#include "cli/output.h"
#include "cli/solve/constraint_file.h"
#include "cli/solve/solve.h"
#include "ulna/global.h"

/* ---- the problems: trials.c ---------------------------------------------------------------------------- */

typedef enum start_kind {
    START_NEAR, /* the pose that the goals were generated from, perturbed */
    START_REST,
    START_ZERO,
    START_GIVEN,    /* by the goals' file */
    START_TRACKED,  /* recorded frames: the pose that tracking finds in the frame before */
    START_REFERENCE /* the same of the reference */
} start_kind;

typedef struct trial_options {
    int first, frames; /* number of the first frame, from 0, and how many */
    start_kind start;
    double spread; /* standard deviation of the starts, radians; for translations times the length scale */
    uint64_t seed;
    int bounded;
} trial_options;

/* Frames of a recording: recorded.c. {0} before it is loaded. */
typedef struct recorded {
    solve_skeleton skeleton;
    solve_job job;
    int count, *picked;    /* frames of the take */
    double *starts;        /* count x nq */
    unsigned char *locked; /* nv: moves no marker */
} recorded;

/* The exit code; failures are reported and kept in `object`. Release in any case. */
int recorded_load(const cli *tool, json_t *object, const char *skeleton, recorded *from);
/* Picks so many frames, and finds where they start. */
ulna_status recorded_prepare(recorded *from, start_kind kind, int wanted, ulna_error *error);
void recorded_release(recorded *from);
/* The problem of a frame, by its number among those picked; with oracle offsets every frame has its own, else all have the same. */
ulna_status recorded_problem(const recorded *from, int index, ulna_problem **problem, ulna_error *error);
/* Its markers as goals; positions: 3 x markers. */
ulna_status recorded_goals(const recorded *from, int index, ulna_problem *problem, double *positions);

/* A frame is generated from the seed each time it is needed, and is always the same. */
typedef struct trials {
    trial_options options;
    const ulna_model *model;
    ulna_problem *problem;
    ulna_work *work;             /* to judge answers with, independent of the methods */
    int points, orientations;    /* goals that have a weight, of each kind */
    double weight;               /* their sum */
    const constraint_file *kept; /* constraints of the problem, in this order */
    const recorded *recorded;    /* NULL: not of a recording */
    int is_oracle;               /* the problem is another one in every frame: solvers too */
    const double *lower, *upper; /* nv */

    int is_made, has_markers; /* goals are generated: of the markers, or of the ends of limbs if there are none */
    int effector_count;
    ulna_effector *effectors; /* points with a goal; generated ones are the problem's terms, in this order */
    double *positions;        /* 3 x effector_count: their goals */

    double *target, *begin; /* nq: pose of the goals, and where starts spread from */
    double *step;           /* nv */
} trials;

/* `wanted`: the goals, or none (count 0) to generate them. `kept` must stay until the release. */
ulna_status trials_create(trials *set, const ulna_model *model, const goals *wanted, const constraint_file *kept,
                          const trial_options *options, ulna_error *error);
/* The same for frames of a recording. */
ulna_status trials_create_recorded(trials *set, const recorded *from, const trial_options *options, ulna_error *error);
void trials_release(trials *set);
/* Goals of the frame, counted from the first, into the problem, and where to start into `start` (nq). */
ulna_status trials_set_frame(trials *set, int frame, double *start);

/* ---- the runs: contest.c ------------------------------------------------------------------------------- */

typedef struct outcome {
    ulna_status status; /* not ULNA_OK: the solve failed, and there is nothing else */
    ulna_stop stop;
    ulna_global_stop global_stop; /* of `global`, in place of the other one */
    int success;
    double f;                       /* m^2 */
    double rms_m;                   /* over point goals, unweighted */
    double rms_rad;                 /* over orientations */
    double violation_m;             /* largest of the hard constraints; rotations times the length scale */
    double angle_outside;           /* largest violation of limits: radians */
    double translation_outside;     /* metres */
    double iterations, evaluations; /* NaN for `global`, whose starts count their own */
    double seconds;                 /* the best of a few runs */
} outcome;

typedef struct spread_of { /* over the frames that did not fail */
    double median, largest;
} spread_of;

enum {
    MEASURE_F,
    MEASURE_RMS_MM,
    MEASURE_RMS_DEG,
    MEASURE_VIOLATION_MM,
    MEASURE_ITERATIONS,
    MEASURE_EVALUATIONS,
    MEASURE_US,
    MEASURES
};
extern const char *const measure_names[MEASURES]; /* in JSON */

typedef struct curve {
    int count;
    double *x, *y; /* y: log10 of f */
} curve;

typedef struct contender {
    const ulna_method_info *method; /* of the library, or &methods_global */
    ulna_error refusal;             /* status is ULNA_OK unless the method cannot solve this kind of problem */
    outcome *outcomes;              /* one per frame */
    int successes, failures;
    ulna_status failure; /* the first one */
    spread_of spreads[MEASURES];
    double outside_deg, outside_mm; /* largest of all frames */
    int stops[ULNA_STOP_COUNT];
    int global_stops[ULNA_GLOBAL_STOP_COUNT];
    curve by_iteration, by_time; /* x: iterations; microseconds */
} contender;

typedef struct contest {
    trials set;
    ulna_options options; /* for all methods, but for the name */
    contender *contenders;
    int count;
    int best;   /* the fastest of those that succeeded everywhere; -1 if none did */
    int traced; /* frames that the curves are medians of */
} contest;

/* Runs every contender over every frame; with curves if `is_traced`. Fails only for lack of memory. */
ulna_status contest_run(contest *game, int is_traced, progress *bar, ulna_error *error);
void contest_release(contest *game);

int contender_is_inside(const contender *one); /* never outside the limits by more than rounding */

enum { CURVES_FRAMES = 32 }; /* frames that curves are made from */

#define COMPARE_DEGREE 0.017453292519943295 /* in radians */

/* ---- results in words: compare.c ------------------------------------------------------------------------ */

/* Templates of output.h that quote the results, which are the object of --json and a few words more. */
extern const fact_column compare_columns[]; /* the method first; up to a row without a title */
extern const char compare_goals_text[], compare_start_text[], compare_success_text[];

/* ---- the page: page.c ----------------------------------------------------------------------------------- */

/* `shown`: what the templates quote. */
ulna_status compare_write_page(contest *game, const json_t *shown, const char *path, ulna_error *error);

/* ---- plots: plot.c -------------------------------------------------------------------------------------- */

/*
 * log10 f over iterations or time, a line per method, as inline SVG. Colours come from the page: --c0 ... --c7 for
 * lines, --ink, --faint, --grid and --paper for the rest; plot.css has the rules. Lines of number n have the class "s<n>", so
 * that the page can hide them.
 */

extern const char plot_css[]; /* plot.css: the style of plots, after page.css */

enum { PLOT_COLOURS = 8 }; /* further lines repeat them, dashed */
enum { PLOT_WIDTH = 600, PLOT_HEIGHT = 420 };

typedef struct plot_line {
    const char *name; /* NULL: no label at its end */
    int style;        /* number of the colour, dash and mark */
    int count;
    const double *x, *y;
} plot_line;

typedef struct plot {
    const char *title;
    const char *x_title;
    const char *y_title; /* NULL: f in square metres */
    const char *place;   /* where it is in a larger picture: attributes of its element; NULL: it stands alone */
    int is_time;         /* x is in microseconds, on a logarithmic axis; otherwise it counts from 0 */
    int is_linear;       /* x counts on a linear axis, however far */
    double low, high;    /* of log10 f: the axis goes to whole numbers around these */
    double weight;       /* of all goals: for an axis of root mean squares beside f; 0 for none */
    const plot_line *lines;
    int line_count;
} plot;

void plot_write(const plot *chart, markup *page);
/* A short piece of a line of that style, for legends. */
void plot_write_key(int style, markup *page);

#endif
