/* The command line of `ulna global`. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/global/global.h"
#include "cli/numbers.h"

enum { MOST_STARTS = 1000000 };

static const char *const relaxations[] = {"none", "hull", "bones", NULL};

const char *global_relax_name(int relax)
{
    return relaxations[relax];
}

static int read_skeleton(const cli *tool, global_job *job)
{
    const char *named = cli_value(tool, "skeleton"), *operand = tool->operand_count ? tool->operands[0] : NULL;
    if (named && operand)
        return cli_usage(tool, "'%s' or '%s': one skeleton is enough", operand, named);
    job->skeleton_path = named ? named : operand;
    if (!job->skeleton_path || !*job->skeleton_path)
        return cli_usage(tool, "whose joints are to be found? ulna global SKELETON");
    return CLI_DONE;
}

static const cli_option *option_of(const cli *tool, const char *name)
{
    const cli_option *option = tool->command->options;
    while (option->name && strcmp(option->name, name) != 0)
        option++;
    return option;
}

/* The part about the recording is that of `ulna solve`, which has the skeleton as an option, and --frames alone. */
static int read_as_solve(const cli *tool, global_job *job)
{
    cli other = *tool;
    int count = tool->given_count;
    other.given = calloc((size_t)count + 1, sizeof(const cli_option *));
    other.values = calloc((size_t)count + 1, sizeof *other.values);
    int code = cli_exit_code(ULNA_ERR_MEMORY);
    if (other.given && other.values) {
        for (int i = 0; i < count; i++) {
            int is_frame = strcmp(tool->given[i]->name, "frame") == 0;
            other.given[i] = is_frame ? option_of(tool, "frames") : tool->given[i];
            other.values[i] = tool->values[i];
        }
        other.given[count] = option_of(tool, "skeleton");
        other.values[count] = job->skeleton_path;
        other.given_count = count + 1;
        other.operand_count = 0;
        code = solve_read_options(&other, &job->take);
    }
    free(other.given);
    free(other.values);
    return code;
}

static int read_take(const cli *tool, global_job *job)
{
    int takes = 0;
    for (int i = 0; i < tool->given_count; i++)
        takes += strcmp(tool->given[i]->name, "markers") == 0;
    if (takes > 1)
        return cli_usage(tool, "one recording at a time: --markers is given %d times", takes);
    if (cli_value(tool, "frame") && cli_value(tool, "frames"))
        return cli_usage(tool, "--frame is for one, --frames for several: give one of them");
    int code = read_as_solve(tool, job);
    int is_said = cli_value(tool, "frame") || cli_value(tool, "frames");
    job->first = is_said ? job->take.first : 1;
    job->last = is_said ? job->take.last : 0;
    job->take.first = INT_MIN;
    job->take.last = INT_MAX;
    if (!code && job->take.attach == ATTACH_ORACLE)
        return cli_usage(tool, "--attach takes a file name, model or reference; oracle is of 'ulna solve' alone");
    return code;
}

static int read_source(const cli *tool, global_job *job)
{
    static const char *const of_takes[] = {"attach", "reference", "frame", "frames", "axes", "up"};
    int has_goals = cli_value(tool, "goals") || cli_value(tool, "goal");
    job->goals_path = cli_value(tool, "goals");
    job->has_take = cli_value(tool, "markers") != NULL;
    if (job->has_take && has_goals)
        return cli_usage(tool, "the markers are the goals: give --markers, or --goal and --goals");
    if (!job->has_take && !has_goals)
        return cli_usage(tool, "what is to be reached? --goal \"NAME X Y Z\", --goals FILE or --markers FILE");
    for (size_t i = 0; i < sizeof of_takes / sizeof *of_takes; i++)
        if (!job->has_take && cli_value(tool, of_takes[i]))
            return cli_usage(tool, "--%s is about a recording: give --markers too", of_takes[i]);
    if (job->has_take && cli_value(tool, "unit"))
        return cli_usage(tool, "--unit is about goals; a recording has a unit of its own");
    if (job->goals_path && strcmp(job->goals_path, "-") == 0 && strcmp(job->skeleton_path, "-") == 0)
        return cli_usage(tool, "standard input is either the skeleton or the goals, not both");
    return job->has_take ? read_take(tool, job) : CLI_DONE;
}

/* With a recording, also a motion file, as in `ulna solve`, which has read that. */
static int read_bounds(const cli *tool, global_job *job)
{
    const char *text = cli_value(tool, "bounds");
    job->options.local.bounded = !text || strcmp(text, "none") != 0;
    if (text && !job->has_take && job->options.local.bounded && strcmp(text, "skeleton") != 0)
        return cli_usage(tool, "--bounds takes none or skeleton, not '%s'", text);
    return CLI_DONE;
}

static int read_relax(const cli *tool, global_job *job)
{
    const char *text = cli_value(tool, "relax");
    int found = 0;
    if (!text)
        return CLI_DONE;
    while (relaxations[found] && strcmp(relaxations[found], text) != 0)
        found++;
    if (!relaxations[found])
        return cli_usage(tool, "--relax takes none, hull or bones, not '%s'", text);
    job->options.relax = found;
    return CLI_DONE;
}

static int read_numbers(const cli *tool, global_job *job)
{
    enum { MOST_THREADS = 256 }; /* that the library takes */
    job->options.threads = tool->threads < MOST_THREADS ? tool->threads : MOST_THREADS;
    job->unit_m = 1;
    int code = numbers_unit(tool, "unit", &job->unit_m);
    if (!code)
        code = numbers_seed(tool, "seed", &job->options.seed);
    if (!code)
        code = numbers_real(tool, "gap", 0, 1, "", &job->options.gap);
    if (!code)
        code = numbers_count(tool, "starts", 1, MOST_STARTS, &job->options.starts);
    if (!code)
        code = numbers_real(tool, "seconds", 0, 1e6, "", &job->options.seconds);
    return code;
}

int global_read_options(const cli *tool, global_job *job)
{
    static int (*const readers[])(const cli *, global_job *) = {read_skeleton, read_source, read_bounds, read_relax,
                                                                read_numbers};
    int code = CLI_DONE;
    job->options = ulna_global_options_default();
    for (size_t i = 0; i < sizeof readers / sizeof *readers && !code; i++)
        code = readers[i](tool, job);
    return code;
}

/* ---- the command line -------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"skeleton", 's', "FILE", "The skeleton, if it is not named as SKELETON."},
    {"goal", 0, "\"NAME X Y Z\"",
     "Where a marker, or else the origin of a body, should be; may be given several times. A weight may stand "
     "behind, or QX QY QZ QW, a quaternion that says how the body should be turned, or these and a weight."},
    {"goals", 0, "FILE",
     "Goals from a file. CSV: a line name,x,y,z for each, with the same behind it. JSON: docs/command-line.md."},
    {"unit", 0, "UNIT", "Unit of length of the goals: m, which is the default, cm, mm, in, ft, or a number of metres."},
    {"markers", 'm', "FILE", "The goals are the markers of a recording: C3D, TRC or CSV."},
    {"attach", 'a', "WHERE",
     "Where the markers sit: a CSV file as `ulna calibrate` writes it; model, the default, or reference, as in "
     "`ulna solve`."},
    {"reference", 0, "FILE", "A motion of the same take, for --attach reference."},
    {"frame", 0, "N", "Which frame of the recording, as the file counts; by default the first."},
    {"frames", 0, "A:B", "These frames, the last one too. Each starts also from the answer of the one before."},
    {"axes", 0, "ABC", "Which axes of the recording are the skeleton's x, y and z, such as yzx. By default found."},
    {"up", 0, "AXIS", "Which axis of the recording points up: x, y or z. The rest follows."},
    {"bounds", 0, "WHICH",
     "skeleton, the default: inside the skeleton's limits; none; or, with --markers, a motion file: each joint as "
     "far as it goes there, and a twentieth more."},
    {"gap", 0, "X", "Stop when the cost is proven to be within this part of the least one; 0.001 by default."},
    {"starts", 0, "N", "At most so many local solves; 64 by default."},
    {"seconds", 0, "S",
     "At most so long a frame, looked at between the stages. The answer may then depend on the machine. 0, the "
     "default: no limit."},
    {"relax", 0, "KIND",
     "bones, the default: the tight relaxation after the quick one; hull: the quick one alone; none: only starts, "
     "and the bound is 0."},
    {"seed", 0, "N", "Another seed gives other starts; 1 by default."},
    {"output", 'o', "FILE",
     "Write the pose as a motion, in the format of the name's ending: .amc, .bvh, .csv, .mot, .glb (with the goals "
     "beside it); .json gets what --json prints, with all digits. May be given several times."},
    {0},
};

const cli_command global_command = {
    .name = "global",
    .operands = "SKELETON",
    .operand = "a file name",
    .least = 0,
    .most = 1,
    .summary = "find the best pose of all, with a proof",
    .text = "Finds the pose with the least cost, half the weighted sum of squared distances to the goals, of all "
            "that the joints allow, and tells how far that is proven. A local method ends in the valley that it "
            "starts in. Here a convex relaxation of the whole problem gives a lower bound, below which no pose is, "
            "and points at places to start from; local solves from there, and from many others, give a cost. Where "
            "the two meet, nothing better exists. Where the bound is above zero, the goals cannot be met, and it "
            "tells by how much at least.\n\n"
            "SKELETON is an ASF, BVH, glTF or model file, or the name of a built-in skeleton. The bound knows "
            "places, orientations, all joints, and limits of rotations and translations.\n\n"
            "The exit code is 0 also if nothing is proven or the goals are out of reach: look at `proven` and "
            "`unreachable` of --json.",
    .options = options,
    .reads = "skeleton goals markers attach reference bounds OPERANDS",
    .writes = "output",
    .examples = "ulna global arm --goal \"tool 0.3 0.2 0.5\"\ta place to reach\n"
                "ulna global arm --goal \"tool 3 0 0\"\tout of reach: how far, at least?\n"
                "ulna global human --goals g.csv -o pose.bvh\tand keep the pose\n"
                "ulna global s.asf -m t.c3d -a a.csv --frame 100\ta frame of a recording",
    .run = cli_global,
};
