/* The command line of `ulna solve`. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/solve/solve.h"

enum {
    MOST_ITERATIONS = 1000000,
    CHUNK_FRAMES = 5000 /* of long takes, so that threads can share them; whatever --threads is */
};

const char *solve_take(const cli *tool, int index)
{
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "markers") == 0 && index-- == 0)
            return tool->values[i];
    return index < tool->operand_count ? tool->operands[index] : NULL;
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
    if (!job->skeleton_path || !*job->skeleton_path)
        return cli_usage(tool, "--skeleton FILE is needed: whose joints are to be found?");
    const char *constraints = cli_value(tool, "constraints");
    int from_stdin = (strcmp(job->skeleton_path, "-") == 0) + (constraints && strcmp(constraints, "-") == 0);
    for (int i = 0; i == 0 || solve_take(tool, i); i++) {
        const char *path = solve_take(tool, i);
        if (!path || !*path)
            return cli_usage(tool, "--markers FILE is needed: the recording to solve");
        from_stdin += strcmp(path, "-") == 0;
    }
    if (from_stdin > 1)
        return cli_usage(
            tool, "standard input is either the skeleton, the markers of one take or the constraints: one of them");
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

/* The skeleton's own markers are preferred, but only solve_inputs.c knows whether there are any. */
static int read_attach(const cli *tool, solve_job *job)
{
    const char *text = cli_value(tool, "attach");
    job->attach = ATTACH_MODEL;
    if (!text || strcmp(text, "model") == 0)
        return CLI_DONE;
    if (strcmp(text, "oracle") == 0) {
        job->attach = ATTACH_ORACLE;
        return needs_reference(tool, job, "--attach oracle");
    }
    if (strcmp(text, "reference") == 0) {
        job->attach = ATTACH_REFERENCE;
        return needs_reference(tool, job, "--attach reference");
    }
    if (!*text)
        return cli_usage(tool, "--attach takes a file name, model, reference or oracle");
    job->attach = ATTACH_FILE;
    job->attach_path = text;
    return CLI_DONE;
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

/* "A:B", "A:", ":B" or "A" */
static int read_frames(const cli *tool, solve_job *job)
{
    const char *text = cli_value(tool, "frames");
    job->first = INT_MIN;
    job->last = INT_MAX;
    if (!text)
        return CLI_DONE;
    const char *colon = strchr(text, ':');
    char *end = (char *)text;
    long first = INT_MIN, last = INT_MAX;
    errno = 0;
    if (colon != text)
        first = strtol(text, &end, 10);
    int is_wrong = errno || !*text || (colon ? end != colon : *end) || first < INT_MIN || first > INT_MAX;
    if (colon && colon[1]) {
        last = strtol(colon + 1, &end, 10);
        is_wrong |= errno || *end || end == colon + 1 || last < first || last > INT_MAX;
    } else if (!colon)
        last = first;
    if (is_wrong || (colon && text[0] == ':' && !text[1]))
        return cli_usage(tool, "--frames takes A:B, frames as the file counts them, not '%s'", text);
    job->first = (int)first;
    job->last = (int)last;
    return CLI_DONE;
}

int solve_read_axes(const char *text, double axes[9])
{
    memset(axes, 0, 9 * sizeof *axes);
    for (int row = 0; row < 3; row++) {
        double sign = *text == '-' ? -1 : 1;
        text += *text == '-' || *text == '+';
        const char *found = *text ? strchr("xyzXYZ", *text) : NULL;
        if (!found)
            return 0;
        axes[3 * row + (found - "xyzXYZ") % 3] = sign;
        text++;
    }
    double determinant = axes[0] * (axes[4] * axes[8] - axes[5] * axes[7]) -
                         axes[1] * (axes[3] * axes[8] - axes[5] * axes[6]) +
                         axes[2] * (axes[3] * axes[7] - axes[4] * axes[6]);
    return !*text && determinant > 0.5;
}

void solve_axes_text(const double axes[9], char text[8])
{
    size_t length = 0;
    for (int row = 0; row < 3; row++)
        for (int k = 0; k < 3; k++)
            if (fabs(axes[3 * row + k]) > 0.5) {
                if (axes[3 * row + k] < 0)
                    text[length++] = '-';
                text[length++] = "xyz"[k];
            }
    text[length] = 0;
}

static int read_axes(const cli *tool, solve_job *job)
{
    const char *axes = cli_value(tool, "axes"), *up = cli_value(tool, "up");
    double rotation[9];
    if (axes && up)
        return cli_usage(tool, "--axes says which way is up: give one of --axes and --up");
    if (axes && strcmp(axes, "auto") != 0) {
        if (strlen(axes) >= sizeof job->axes_given || !solve_read_axes(axes, rotation))
            return cli_usage(tool,
                             "--axes takes three of x, y, z with signs, such as yzx or x-zy, that do not mirror, "
                             "not '%s'",
                             axes);
        snprintf(job->axes_given, sizeof job->axes_given, "%s", axes);
    }
    if (!up)
        return CLI_DONE;
    char letter = (char)tolower((unsigned char)up[0]);
    if (!letter || !strchr("xyz", letter) || up[1])
        return cli_usage(tool, "--up takes x, y or z, not '%s'", up);
    job->up_given = letter;
    return CLI_DONE;
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
    if (strcmp(method->name, "hybrid") != 0) { /* slower ones need to be sure, and more iterations */
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
    int code = read_method(tool, o);
    if (!code)
        code = numbers_count(tool, "max-iter", 1, MOST_ITERATIONS, &o->solve.iterations);
    if (!code)
        code = numbers_real(tool, "tol", 0, 1, "", &o->solve.decrease);
    for (size_t i = 0; i < sizeof weights / sizeof *weights && !code; i++)
        code = numbers_real(tool, weights[i].name, 0, 1e6, " m2/rad2", weights[i].weight);
    if (!code)
        code = numbers_real(tool, "budget", 1, 1e9, " microseconds", &budget_us);
    o->budget = 1e-6 * budget_us;
    o->causal = cli_value(tool, "causal") != NULL;
    return code ? code : read_loss(tool, o);
}

static int read_units_and_digits(const cli *tool, solve_job *job)
{
    int code = numbers_unit(tool, "input-unit", &job->markers_unit);
    if (!code)
        code = numbers_unit(tool, "skeleton-unit", &job->skeleton_unit);
    return code ? code : cli_read_writing_options(tool, &job->write);
}

int solve_read_options(const cli *tool, solve_job *job)
{
    static int (*const readers[])(const cli *, solve_job *) = {
        read_paths,  read_attach,   read_bounds, read_init,        read_ball,
        read_frames, read_tracking, read_axes,   read_constraints, read_units_and_digits};
    int code = CLI_DONE;
    job->options = ulna_track_options_default();
    job->options.chunk_frames = CHUNK_FRAMES;
    job->options.threads = tool->threads;
    for (size_t i = 0; i < sizeof readers / sizeof *readers && !code; i++)
        code = readers[i](tool, job);
    const char *report = cli_value(tool, "report");
    if (!code && report && !*report)
        code = cli_usage(tool, "--report needs the name of a file");
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"skeleton", 's', "FILE", "Skeleton to solve: ASF, BVH, glTF or a model file, or the name of a built-in skeleton."},
    {"markers", 'm', "FILE", "Recording to solve: C3D, TRC or CSV. More may follow, also after all options."},
    {"attach", 'a', "WHERE",
     "Where the markers sit on the skeleton. A CSV file of marker, bone, x, y, z and optionally weight, as `ulna "
     "calibrate` writes it. model, the default: the skeleton's own markers; or, if the recording has key points of a "
     "marker-less system (MediaPipe, OpenPose BODY_25, COCO, SMPL), these at its joints, its bones scaled to them. reference, the default for a skeleton "
     "without markers: on the bone of their names, or else on the one on which they move least in the reference motion, "
     "at their mean offset there. oracle: the same bones, with the offset of each frame, so that the error can be zero; "
     "the experiment of the exact-Hessian paper."},
    {"reference", 0, "FILE", "A motion of the same take, such as the AMC beside a C3D, with the same frames."},
    {"compare-with", 0, "FILE",
     "A second motion of the same take, such as another solve. The report shows it as a ghost, the summary how far the joints are "
     "apart. Without it, the same for --reference."},
    {"method", 0, "NAME",
     "Method of solving; `ulna methods` lists them. hybrid by default, which also makes the fresh starts of the others."},
    {"bounds", 0, "WHICH",
     "Limits of the joints. none, the default but for key points; skeleton: those of the skeleton; a motion file: the range seen in that "
     "motion, plus 5 % on each side, none for the root; or a CSV file with the heading dof,lower,upper: degrees and "
     "metres, names as in `ulna info --values`, empty for no limit. What it does not name keeps the skeleton's limits."},
    {"init", 0, "WHERE",
     "Pose to start the first frame from: rest, the default; first: the first frame of the reference; or the first frame "
     "of a motion file. The root is moved to the markers. global: the best pose of all, as `ulna global` finds it, also "
     "where the track is lost: more reliable, and slower there."},
    {"constraints", 0, "FILE",
     "Goals that hold in every frame besides the markers, such as a hand on a table: CSV or JSON as for `ulna compare "
     "--goals`, in metres, in the skeleton's axes. A goal of weight 1 counts as much as a marker."},
    {"ball", 0, "KIND",
     "How to solve joints with three rotations: euler (as in the file, the default), quaternion, expmap or swing-twist. "
     "Swing-twist takes over the limits of the angles, as a cone for the bone and a range of its twist; with --bounds, quaternion "
     "and expmap, which have no limits, are solved as swing-twist."},
    {"frames", 0, "A:B", "Only frames A to B, as the file numbers them. A: and :B go to the end and from the start."},
    {"max-iter", 0, "N", "At most N iterations a frame; 50 by default, or the limit of another method."},
    {"tol", 0, "X",
     "Stop where an iteration lowers f by less than X of itself; 3e-2 by default, which with --smooth is one step, 1e-6 for other methods."},
    {"causal", 0, NULL,
     "Let no frame know of later ones, as in live tracking. By default the whole take is looked over again: stretches that stand "
     "out are solved from behind as well, hidden limbs are led to where they are seen next, jumps are smoothed."},
    {"loss", 0, "KIND",
     "How the distance of a marker counts: geman-mcclure, the default, by which markers that are far off hardly count; cauchy; "
     "huber; or square: plain least squares, with --smooth and --curve 0 and --posture 1e-7 unless given."},
    {"loss-distance", 0, "CM", "How far that is; 6 by default for an adult, in proportion for other sizes."},
    {"smooth", 0, "W",
     "Weight that holds a joint to where the last two frames were going, in m2/rad2, where a marker's weight is 1; 4e-4 by default "
     "for an adult. 0: none."},
    {"posture", 0, "W", "Weight that holds a joint to rest, but for the root; 1e-5 by default for an adult."},
    {"curve", 0, "W", "Weight that holds each joint of a spine or neck to their mean; 3e-5 by default for an adult."},
    {"soft-limits", 0, "W",
     "Weight that holds a joint to its limits, where these do not bind; 5e-6 by default for an adult, which hardly moves a marker."},
    {"budget", 0, "US",
     "Let no frame take longer than US microseconds: then its iterations, and the search for a lost track, end as they stand."},
    {"axes", 0, "ABC",
     "Which axes of the recording are the skeleton's x, y and z, such as yzx or x-zy. By default, or with auto, found "
     "from which way is up in the files, or by trying."},
    {"up", 0, "AXIS", "Which axis of the recording points up: x, y or z. The others follow."},
    {"input-unit", 0, "UNIT",
     "Unit of length of the recordings, if it differs from what they state: m, cm, mm, in, ft or a number of metres."},
    {"skeleton-unit", 0, "UNIT", "The same of the skeleton."},
    {"subject", 0, "NAME",
     "Whose markers to use, where the recording has several people: the name before the colon of Anna:LKNE."},
    {"all-subjects", 0, NULL,
     "Solve each person of the recording by itself. -o and --report then name folders; files get the names of take and person."},
    {"no-checks", 0, NULL,
     "Go on with a recording that cannot be right: several people, a wrong unit, mirrored or exchanged sides, too few markers. "
     "By default the exit code is 3 and the message says what to do; with this option it becomes a note."},
    {"output", 'o', "FILE",
     "Write the motion, in the format of the file's ending: .amc, .bvh, .csv, .mot, .glb; .c3d and .trc receive the "
     "markers of the solved skeleton. May be given several times. A folder, such as out/, receives a file for each take, "
     "with the take's name, in the formats of --formats. Folders are created if necessary."},
    {"formats", 0, "A,B,...",
     "Formats for a folder: endings such as amc,bvh,glb. By default that of the skeleton: amc, bvh or glb, else csv."},
    CLI_WRITING_OPTIONS,
    {"report", 'r', "FILE",
     "Write a page with errors, joint angles and a player of the take: one HTML file. A folder receives one for each "
     "take."},
    {0},
};

const cli_command solve_command = {
    .name = "solve",
    .operands = "--skeleton S --markers M [TAKE...]",
    .operand = "a file name",
    .least = 0,
    .most = -1,
    .summary = "find joint values from recorded markers",
    .text =
        "Tracks a recording: each frame starts from the ones before. Missing markers are left out; where the track is "
        "lost, a fresh start follows and is reported; frames without markers are filled in and counted. Markers are "
        "matched by name, with or without a subject's name before a colon. Markers found on only one side are "
        "listed.\n\n"
        "Errors are distances between markers as recorded and on the skeleton: the root mean square and the sum over "
        "the markers of a frame, then the mean over frames. f is half the weighted sum of squares. Several takes are "
        "solved in parallel, by --threads, each as if it were alone; one that fails does not stop the others. No two "
        "may have the same name, and no input is overwritten.\n\n"
        "The exit code is 1 if frames stay lost, if the verdict is 'do not use it', or if some of several takes failed. "
        "Files are written all the same.",
    .options = options,
    .reads = "skeleton markers attach reference compare-with bounds init constraints OPERANDS",
    .writes = "output report",
    .examples = "ulna solve -s s.asf -m t.c3d -a a.csv -o t.amc\tto joint angles\n"
                "ulna solve -s s.asf -m t.c3d -a a.csv -r t.html\tand see how good they are\n"
                "ulna solve -s human -m t.trc -o t.bvh\tof a built-in skeleton\n"
                "ulna solve -s human -m pose.csv -o t.glb\tkey points of a marker-less system\n"
                "ulna solve -s s.asf -m t.c3d --reference t.amc\toffsets from a motion\n"
                "ulna solve -s s.asf -a a.csv -o out/ -m *.c3d\tmany takes",
    .run = cli_solve,
};
