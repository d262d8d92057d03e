/* The command line of `ulna solve`. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/solve/solve.h"

enum {
    MOST_ITERATIONS = 1000000,
    CHUNK_FRAMES = 5000 /* of long takes, so that threads can share them; whatever --threads is */
};
#define PAPER_OBJECTIVE 1e-6 /* m^2: the exact-Hessian paper stops at f < 1e-2 cm^2 */

const char *solve_take(const cli *tool, int index)
{
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "markers") == 0 && index-- == 0)
            return tool->values[i];
    return index < tool->operand_count ? tool->operands[index] : NULL;
}

/* An output whose -o was forgotten. */
static int is_missing_motion(const char *path)
{
    ulna_format format = ulna_format_of_name(path);
    int is_motion = format == ULNA_FORMAT_AMC || format == ULNA_FORMAT_BVH || format == ULNA_FORMAT_MOT ||
                    format == ULNA_FORMAT_GLTF || format == ULNA_FORMAT_GLB;
    return is_motion && access(path, F_OK) != 0;
}

/* Without --skeleton: a skeleton among the recordings, whose -s was forgotten, and options that are about a skeleton. */
static int check_unnamed(const cli *tool)
{
    static const char *const about[] = {"reference", "skeleton-unit"};
    const char *attach = cli_value(tool, "attach");
    for (int i = 0; i < tool->operand_count; i++) {
        unsigned holds = ulna_format_reads(ulna_format_of_name(tool->operands[i]));
        const char *other = solve_take(tool, 0) != tool->operands[i] ? solve_take(tool, 0) : solve_take(tool, 1);
        if (holds & ULNA_HOLDS_SKELETON)
            return cli_usage(tool, "'%s' is no recording, but may be the skeleton: 'ulna solve -s %s -m %s'?",
                             tool->operands[i], tool->operands[i], other ? other : "RECORDING");
    }
    if (attach && strcmp(attach, "names") != 0)
        return cli_usage(tool, "--attach %s is about a skeleton: give that too, with --skeleton", attach);
    for (size_t i = 0; i < sizeof about / sizeof *about; i++)
        if (cli_value(tool, about[i]))
            return cli_usage(tool, "--%s is about a skeleton: give that too, with --skeleton", about[i]);
    return CLI_DONE;
}

static int read_paths(const cli *tool, solve_job *job)
{
    job->skeleton_path = cli_value(tool, "skeleton");
    job->markers_path = solve_take(tool, 0);
    job->reference_path = cli_value(tool, "reference");
    job->compare_path = cli_value(tool, "compare-with");
    job->subject = cli_value(tool, "subject");
    job->is_forced = cli_value(tool, "no-checks") != NULL;
    if (job->subject && cli_value(tool, "all-subjects"))
        return cli_usage(tool, "--subject names one person, --all-subjects solves all of them: give one of these");
    if (job->skeleton_path && !*job->skeleton_path)
        return cli_usage(tool, "--skeleton needs the name of a file, or of a built-in skeleton");
    job->is_unnamed = !job->skeleton_path;
    if (job->is_unnamed) {
        int code = check_unnamed(tool);
        if (code)
            return code;
        job->skeleton_path = SOLVE_UNNAMED;
    }
    const char *constraints = cli_value(tool, "constraints");
    int from_stdin = (strcmp(job->skeleton_path, "-") == 0) + (constraints && strcmp(constraints, "-") == 0);
    for (int i = 0; i == 0 || solve_take(tool, i); i++) {
        const char *path = solve_take(tool, i);
        if (!path || !*path)
            return cli_usage(tool, "--markers FILE is needed: the recording to solve");
        if (folder_is(path))
            return cli_usage(tool, "'%s' is a folder: 'ulna batch %s -o OUT' solves the takes in it", path, path);
        if (i && is_missing_motion(path))
            return cli_usage(tool, "'%s' is no recording that exists: -o %s writes it", path, path);
        from_stdin += strcmp(path, "-") == 0;
    }
    if (from_stdin > 1)
        return cli_usage(
            tool, "standard input can be only one of these: the skeleton, the markers of one take, the constraints");
    if (constraints && strcmp(constraints, "-") == 0 && solve_take(tool, 1))
        return cli_usage(tool, "constraints of several takes are read from a file, not from standard input");
    if (job->reference_path && solve_take(tool, 1))
        return cli_usage(tool, "--reference is a motion of one take: solve that take alone");
    if (job->compare_path && !*job->compare_path)
        return cli_usage(tool, "--compare-with needs the name of a motion file");
    if (job->compare_path && (solve_take(tool, 1) || cli_value(tool, "all-subjects")))
        return cli_usage(tool, "--compare-with is a motion of one take and one person: solve these alone");
    return CLI_DONE;
}

static int needs_reference(const cli *tool, const solve_job *job, const char *option)
{
    return job->reference_path ? CLI_DONE
                               : cli_usage(tool, "%s needs --reference MOTION, a motion of the same take", option);
}

/* The default depends on the files: solve_inputs.c chooses it. */
static int read_attach(const cli *tool, solve_job *job)
{
    const char *text = cli_value(tool, "attach");
    job->attach = text ? ATTACH_MODEL : ATTACH_DEFAULT;
    if (!text || strcmp(text, "model") == 0)
        return CLI_DONE;
    if (strcmp(text, "names") == 0) {
        job->attach = ATTACH_NAMES;
        return CLI_DONE;
    }
    if (strcmp(text, "oracle") == 0) {
        job->attach = ATTACH_ORACLE;
        return needs_reference(tool, job, "--attach oracle");
    }
    if (strcmp(text, "reference") == 0) {
        job->attach = ATTACH_REFERENCE;
        return needs_reference(tool, job, "--attach reference");
    }
    if (!*text)
        return cli_usage(tool, "--attach takes a file name, model, names, reference or oracle");
    job->attach = ATTACH_FILE;
    job->attach_path = text;
    return CLI_DONE;
}

static int read_oracle_start(const cli *tool, solve_job *job)
{
    static const char *const names[] = {"solution", "reference", "zero", NULL};
    const char *text = cli_value(tool, "oracle-start");
    int found = 0;
    if (!text)
        return CLI_DONE;
    if (job->attach != ATTACH_ORACLE)
        return cli_usage(tool, "--oracle-start is for --attach oracle");
    while (names[found] && strcmp(names[found], text) != 0)
        found++;
    if (!names[found])
        return cli_usage(tool, "--oracle-start takes solution, reference or zero, not '%s'", text);
    job->options.oracle_start = (ulna_oracle_start)found;
    return CLI_DONE;
}

/* The experiment has no priors and no loss, looks at no other frame, and stops by f alone. */
static int read_oracle(const cli *tool, solve_job *job)
{
    static const char *const others[] = {"smooth", "posture",       "curve",  "soft-limits", "budget",
                                         "loss",   "loss-distance", "causal", NULL};
    ulna_options *o = &job->options.solve;
    if (job->attach != ATTACH_ORACLE)
        return read_oracle_start(tool, job);
    for (int i = 0; others[i]; i++)
        if (cli_value(tool, others[i]))
            return cli_usage(tool,
                             "--attach oracle solves each frame by itself, by plain least squares: --%s has no effect",
                             others[i]);
    const char *init = cli_value(tool, "init");
    if (init && (job->options.global || strcmp(init, "rest") == 0))
        return cli_usage(tool, "--attach oracle starts as --oracle-start says, or from a pose: --init %s has no effect",
                         init);
    *o = ulna_options_default();
    o->bounded = 0;
    o->objective = PAPER_OBJECTIVE;
    o->decrease = o->gradient = o->step = 0;
    return read_oracle_start(tool, job);
}

static int read_bounds(const cli *tool, solve_job *job)
{
    const char *text = cli_value(tool, "bounds");
    job->unbounded = text && strcmp(text, "none") == 0;
    if (!text || job->unbounded)
        return CLI_DONE;
    if (!*text)
        return cli_usage(tool, "--bounds takes none, skeleton or the name of a motion file");
    job->bounded = 1;
    if (strcmp(text, "skeleton") != 0)
        job->bounds_path = text;
    return CLI_DONE;
}

static int read_init(const cli *tool, solve_job *job)
{
    const char *text = cli_value(tool, "init");
    if (!text || strcmp(text, "rest") == 0)
        return CLI_DONE;
    if (!*text)
        return cli_usage(tool, "--init takes rest, first, global or the name of a motion file");
    job->options.global = strcmp(text, "global") == 0;
    if (job->options.global)
        return CLI_DONE;
    job->init_first = strcmp(text, "first") == 0;
    if (job->init_first)
        return needs_reference(tool, job, "--init first");
    job->init_path = text;
    return CLI_DONE;
}

static int read_constraints(const cli *tool, solve_job *job)
{
    job->constraints_path = cli_value(tool, "constraints");
    if (!job->constraints_path)
        return CLI_DONE;
    if (!*job->constraints_path)
        return cli_usage(tool, "--constraints takes a file of goals that hold in every frame");
    return job->attach == ATTACH_ORACLE
               ? cli_usage(tool, "--attach oracle repeats an experiment without --constraints: give one of them")
               : CLI_DONE;
}

static int read_ball(const cli *tool, solve_job *job)
{
    static const char *const names[] = {"euler", "quaternion", "expmap", "swing-twist", NULL};
    const char *text = cli_value(tool, "ball");
    int found = 0;
    if (!text)
        return CLI_DONE;
    while (names[found] && strcmp(names[found], text) != 0)
        found++;
    if (!names[found])
        return cli_usage(tool, "--ball takes euler, quaternion, expmap or swing-twist, not '%s'", text);
    job->ball = (ulna_ball)found;
    return CLI_DONE;
}

static int read_frames(const cli *tool, solve_job *job)
{
    job->first = INT_MIN;
    job->last = INT_MAX;
    return numbers_range(tool, "frames", "numbers of frames in the file", &job->first, &job->last);
}

static int read_method(const cli *tool, ulna_track_options *o)
{
    const char *name = cli_value(tool, "method");
    if (!name)
        return CLI_DONE;
    const ulna_method_info *method = methods_find(tool, name);
    if (!method)
        return CLI_USAGE;
    o->solve.method = method->name;
    if (strcmp(method->name, "hybrid") != 0 &&
        o->solve.decrease != 0) { /* slower ones need to be sure, and more iterations */
        o->solve.decrease = 1e-6;
        o->solve.iterations = 0;
    }
    return CLI_DONE;
}

static int read_loss(const cli *tool, ulna_track_options *o)
{
    static const char *const names[] = {"square", "geman-mcclure", "cauchy", "huber"};
    const char *text = cli_value(tool, "loss");
    double distance_cm = 0;
    int found = text ? -1 : (int)o->loss;
    for (int i = 0; i < 4 && text; i++)
        found = strcmp(text, names[i]) == 0 ? i : found;
    if (found < 0)
        return cli_usage(tool, "--loss takes square, geman-mcclure, cauchy or huber, not '%s'", text);
    o->loss = (ulna_loss)found;
    if (!cli_value(tool, "loss-distance"))
        return CLI_DONE;
    int code = numbers_real(tool, "loss-distance", 1e-3, 1e6, " cm", &distance_cm);
    o->loss_scale = distance_cm / 100;
    return code;
}

static int read_tracking(const cli *tool, solve_job *job)
{
    ulna_track_options *o = &job->options;
    double budget_us = 0;
    struct {
        const char *name;
        double *weight;
    } const weights[] = {
        {"smooth", &o->smooth}, {"posture", &o->posture}, {"curve", &o->curve}, {"soft-limits", &o->limits}};
    int code = read_oracle(tool, job);
    if (!code)
        code = read_method(tool, o);
    if (!code)
        code = numbers_count(tool, "max-iter", 1, MOST_ITERATIONS, &o->solve.iterations);
    if (!code)
        code = numbers_real(tool, "tol", 0, 1, "", &o->solve.decrease);
    for (size_t i = 0; i < sizeof weights / sizeof *weights && !code; i++)
        code = numbers_real(tool, weights[i].name, 0, 1e6, " m2/rad2", weights[i].weight);
    if (!code)
        code = numbers_real(tool, "budget", 1, 1e9, " microseconds", &budget_us);
    const char *method = o->solve.method ? o->solve.method : "hybrid";
    if (!code)
        code = methods_set_options(tool, &method, 1, &o->solve);
    o->budget = 1e-6 * budget_us;
    o->causal = cli_value(tool, "causal") != NULL;
    return code ? code : read_loss(tool, o);
}

static int read_units_and_digits(const cli *tool, solve_job *job)
{
    int code = numbers_unit(tool, "input-unit", &job->markers_unit);
    if (!code)
        code = numbers_unit(tool, "skeleton-unit", &job->skeleton_unit);
    return code ? code : cli_read_writing_options(tool, CLI_SOLVED_DIGITS, &job->write);
}

int solve_read_options(const cli *tool, solve_job *job)
{
    static int (*const readers[])(const cli *, solve_job *) = {read_paths,    read_attach,      read_bounds,
                                                               read_init,     read_ball,        read_frames,
                                                               read_tracking, read_constraints, read_units_and_digits};
    int code = CLI_DONE;
    job->options = ulna_track_options_default();
    job->options.chunk_frames = CHUNK_FRAMES;
    job->options.threads = tool->threads;
    code = axes_read(tool, &job->axes);
    for (size_t i = 0; i < sizeof readers / sizeof *readers && !code; i++)
        code = readers[i](tool, job);
    const char *report = cli_value(tool, "report");
    if (!code && report && !*report)
        code = cli_usage(tool, "--report needs the name of a file");
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"skeleton", 's', "FILE",
     "Skeleton to solve: an ASF, BVH, glTF, URDF or model file, or the name of a built-in skeleton. Default: the built-in human, its bones "
     "as long as the person's: found as `ulna calibrate --symmetric` finds them, markers by their names. -o FILE.bvh or .glb has that "
     "skeleton, and so have .asf and .json."},
    {"markers", 'm', "FILE",
     "Recording to solve: C3D, TRC or CSV. Further recordings may follow it, or come at the end of the line."},
    {"attach", 'a', "WHERE",
     "Where the markers are on the skeleton. A file: a CSV table of marker, bone, x, y, z and optionally weight, as `ulna "
     "calibrate` writes it. model: the markers of the skeleton; if the recording has key points of a markerless "
     "system (MediaPipe, OpenPose BODY_25, COCO, SMPL), they are put at the joints, and the bones are scaled to them. names: each "
     "marker is on the bone that its name says, where `ulna calibrate` finds it in all frames of this take; for several takes of one session, "
     "calibrate them together and give the file. reference: each marker is on the bone that its name says, or else on the bone on which "
     "it moves least in the reference motion, at its mean offset there. Default: model, if the skeleton has markers that fit this "
     "person, or the recording has key points; else reference, for a skeleton without markers, with --reference; else names. "
     "oracle: the bones of reference, with the offset that the "
     "reference has in each frame, so that the error can be zero. This is the experiment of the exact-Hessian paper: one solve a frame by "
     "--method, from --oracle-start, without priors or a second attempt; it ends at f < 1e-2 cm2 (--set objective=1e-6, in m2) or at "
     "--max-iter; degrees of freedom that move no marker, such as the thumbs of HDM05, stay where they are. A frame that ends above is lost."},
    {"oracle-start", 0, "WHERE",
     "Start of each frame with --attach oracle. solution (default): the solution of the frame before; for the first frame as reference, or "
     "as --init says. reference: the reference in the frame before. zero: all angles zero and the root at the mean of the markers, or as "
     "--init says."},
    {"reference", 0, "FILE", "A motion of the same take, with the same frames, such as the AMC file of a C3D file."},
    {"compare-with", 0, "FILE",
     "A second motion of the same take, such as another solve. The report shows it as a transparent skeleton, and the summary "
     "states how far apart the joints are. Default: the motion of --reference."},
    {"method", 0, "NAME",
     "Solution method; `ulna methods` lists them. Default: hybrid, which also makes the fresh starts of the other methods."},
    {"bounds", 0, "WHICH",
     "Joint limits. none (default, except for key points). skeleton: the limits of the skeleton. A motion file: the range seen in "
     "that motion, each end widened by 5 % of its own value, and no limits for the root: as in the code of the exact-Hessian paper. A CSV file with the heading dof,lower,upper: limits in "
     "degrees and metres, by the names of `ulna info --values`; an empty cell means no limit, and what the file does not list "
     "keeps the limits of the skeleton."},
    {"init", 0, "WHERE",
     "Start of the first frame. rest (default). first: the first frame of the reference. A motion file: its first frame. The root "
     "is then moved to the markers. global: the best pose of all, as `ulna global` finds it, also after the track is lost; this is "
     "more reliable, and slower."},
    {"constraints", 0, "FILE",
     "What holds besides the markers. JSON: constraints that are kept exactly, in all frames or some, such as a hand on a bar; feet "
     "that stand, found by themselves (\"feet\": \"auto\") or given by frames, so that they do not skate; locked joints; and goals, which "
     "are soft: one of weight 1 counts as much as a marker. CSV, as for `ulna compare --goals`: goals alone. In metres, or "
     "the file's \"unit\", and in the axes of the skeleton. docs/constraints-file.md describes the file."},
    {"ball", 0, "KIND",
     "How joints with three rotations are solved: euler (as in the file, the default), quaternion, expmap or swing-twist. "
     "swing-twist makes a cone for the bone and a range of its twist from the limits of the angles. quaternion and expmap have no "
     "limits; with --bounds they are solved as swing-twist."},
    {"frames", 0, "A:B",
     "Solve only frames A to B, by the numbers of the file. A: means from A to the end, :B from the start to B."},
    {"max-iter", 0, "N", "Maximum number of iterations per frame. Default: 50, or the limit of another method."},
    {"tol", 0, "X",
     "Stop when an iteration lowers f by less than this fraction of f. Default: 3e-2, which usually takes one iteration; 3e-4 "
     "with --smooth 0 or --loss square; 1e-6 for other methods than hybrid."},
    CLI_SET_OPTION,
    {"causal", 0, NULL,
     "Use no later frames, as in live tracking. By default the whole take is solved again where that helps: stretches with unusually "
     "large errors also backwards, hidden limbs towards where they are seen next, and jumps smoothly."},
    {"loss", 0, "KIND",
     "How the distance of a marker counts. geman-mcclure (default): markers that are far away hardly count. cauchy and huber: they "
     "count less. square: plain least squares, with --smooth 0, --curve 0 and --posture 1e-7 unless these are given."},
    {"loss-distance", 0, "CM",
     "Distance at which a marker counts as far away, in centimetres. Default: 6 for an adult, in proportion for other sizes."},
    {"smooth", 0, "W",
     "Weight that pulls each joint to where it would be if it went on as in the last two frames, in m2/rad2; a marker has weight 1. "
     "Default: 4e-4 for an adult. 0 turns it off."},
    {"posture", 0, "W", "Weight that pulls each joint except the root to rest. Default: 1e-5 for an adult."},
    {"curve", 0, "W", "Weight that pulls each joint of a spine or neck to their mean. Default: 3e-5 for an adult."},
    {"soft-limits", 0, "W",
     "Weight that pulls each joint into its limits, if --bounds does not enforce them. Default: 5e-6 for an adult, which hardly moves "
     "a marker."},
    {"budget", 0, "US",
     "Maximum time per frame, in microseconds: then iterations, and the search for a lost track, end as they are. Default: no limit."},
    CLI_RECORDING_OPTIONS,
    {"all-subjects", 0, NULL,
     "Solve each person of the recording separately. --output and --report then name folders; files are named after the take and "
     "the person."},
    {"output", 'o', "FILE",
     "Write the motion in the format of the extension: .amc, .bvh, .csv, .mot or .glb; .c3d and .trc get the markers of the solved "
     "skeleton; .svg, with \"feet\" of --constraints, a picture of how far feet that stand are from their places. May be "
     "repeated. .asf and .json get the skeleton that was solved. A folder, such as out/, gets one file per take, named after the take, in the formats of --formats. "
     "Folders are created if needed."},
    {"formats", 0, "A,B,...",
     "Formats of the files in an output folder: extensions such as amc,bvh,glb. Default: that of the skeleton (amc, bvh or glb), "
     "else csv; bvh without --skeleton."},
    CLI_WRITING_OPTIONS,
    {"report", 'r', "FILE",
     "Write a report with errors, joint angles and a player of the take: one HTML file. A folder gets one report per take."},
    {0},
};

static const cli_option removed[] = {
    {"robust", 0, NULL, "the robust loss is now the default, and --loss square turns it off"},
    {"robust-distance", 0, "CM", "use --loss-distance CM"},
    {"smooth-what", 0, "KIND", "--smooth W now always follows the last two frames"},
    {0},
};

const cli_command solve_command = {
    .name = "solve",
    .operands = "[--skeleton S] --markers M [TAKE...]",
    .operand = "a file name",
    .least = 0,
    .most = -1,
    .summary = "find joint values from recorded markers",
    .text =
        "Finds the pose of the skeleton in each frame of a recording, starting from the frames before. Missing markers are left "
        "out. If the track is lost, the frame is solved again from fresh starts, and this is reported. Frames without markers are "
        "filled in and counted. Markers are matched by name, with or without the name of a subject before a colon; markers found "
        "on only one side are listed.\n\n"
        "Errors are distances between the recorded markers and those of the skeleton: the root mean square and the sum over the "
        "markers of a frame, then the mean over the frames. f is half the weighted sum of squared distances.\n\n"
        "Several takes are solved in parallel, with --threads threads, each as if it were alone; if one fails, the others "
        "are still solved. No two takes may have the same name, and no input is overwritten.\n\n"
        "The exit code is 1 if frames stay lost, if the verdict is 'do not use it', or if some of several takes failed. "
        "Files are written all the same.",
    .options = options,
    .removed = removed,
    .reads = "skeleton markers attach reference compare-with bounds init constraints OPERANDS",
    .writes = "output report",
    .examples = "ulna solve -s s.asf -m t.c3d -a a.csv -o t.amc\tjoint angles of a take\n"
                "ulna solve -s s.asf -m t.c3d -a a.csv -r t.html\ta report that shows how good they are\n"
                "ulna solve -m t.c3d -o t.bvh\tno skeleton: the built-in human, scaled\n"
                "ulna solve -m pose.csv -o t.glb\tkey points of a markerless system\n"
                "ulna solve -s s.asf -m t.c3d --reference t.amc\toffsets from a motion\n"
                "ulna solve -s s.asf -a a.csv -o out/ -m *.c3d\tmany takes",
    .run = cli_solve,
};

static const cli_option *option_of(const char *name)
{
    const cli_option *option = options;
    while (strcmp(option->name, name) != 0)
        option++;
    return option;
}

int solve_read_recording(const cli *tool, const char *skeleton, const char *names, solve_job *job)
{
    cli other = *tool;
    other.given = calloc((size_t)tool->given_count + 1, sizeof(const cli_option *));
    other.values = calloc((size_t)tool->given_count + 1, sizeof *other.values);
    other.given_count = other.operand_count = 0;
    int code = other.given && other.values ? CLI_DONE : cli_out_of_memory();
    if (!code) {
        for (int i = 0; i < tool->given_count; i++) {
            const cli_option *option = tool->given[i];
            if (names && !cli_is_listed(names, option->name))
                continue;
            other.given[other.given_count] = strcmp(option->name, "frame") == 0 ? option_of("frames") : option;
            other.values[other.given_count++] = tool->values[i];
        }
        other.given[other.given_count] = option_of("skeleton");
        other.values[other.given_count++] = skeleton;
        code = solve_read_options(&other, job);
    }
    free(other.given);
    free(other.values);
    return code;
}
