/* The commands and their options: the one text that makes `ulna help`, the man page and the parser. */
#include "cli/cli.h"

#include <string.h>

const char cli_about[] = "inverse kinematics: which joint parameters put these points and frames where I want them?";

const cli_option cli_global_options[] = {
    {"json", 0, NULL,
     "Print one JSON object on standard output, whatever happens, and everything else on standard error."},
    {"quiet", 'q', NULL, "Say nothing but errors."},
    {"threads", 0, "N", "Use at most N threads; 0, the default, means one per processor. Results do not depend on it."},
    {"help", 'h', NULL, "Show the help of a command, or this overview, as text even with --json."},
    {"version", 0, NULL, "Show the version."},
    {0},
};

static const cli_option info_options[] = {
    {"tree", 't', NULL, "Show the tree of bodies with their joints, ranges (in degrees and metres) and markers."},
    {"draw", 'd', NULL, "Draw the skeleton at rest, from the front and from the side."},
    {"up", 0, "AXIS", "Which axis points up in the drawing: x, y or z. By default the taller one of y and z."},
    {"ascii", 0, NULL,
     "Draw, and show the tree, with ASCII characters only, as is done where the locale is not UTF-8."},
    {"values", 'v', NULL, "Of a motion, show each value's range beside its limits, in degrees and metres."},
    {0},
};

static const cli_option sample_options[] = {
    {"only", 0, "NAME", "Write only this sample; may be given several times."},
    {"force", 'f', NULL, "Replace files that have other contents. Without it they are kept, and the exit code is 1."},
    {0},
};

static const cli_option definiteness_options[] = {
    {"x", 0, "DOF",
     "The degree of freedom of the horizontal axis, by its name as in `ulna info --tree` or its number from 0 on. By "
     "default --x and --y are the two joint angles nearest to the point that move it."},
    {"y", 0, "DOF", "The one of the vertical axis."},
    {"goal", 0, "\"X Y Z\"",
     "Where the point should be, in metres; may be given up to 12 times. By default half, all and one and a half of "
     "the way from the upper joint to where the point is at rest."},
    {"marker", 0, "NAME", "The marker that has the goal. Needed if the model has several."},
    {"body", 0, "NAME", "Give the goal to a point of this body instead: its origin, or --point."},
    {"point", 0, "\"X Y Z\"", "That point, in metres in the frame of the body."},
    {"size", 0, "N", "Cells along each axis, 8 to 2000; 360 by default."},
    {"range-x", 0, "\"LOW HIGH\"",
     "What to sweep: degrees, or metres for a slide. By default a whole turn, -180 to 180; a slide goes the model's "
     "characteristic length to both sides of rest."},
    {"range-y", 0, "\"LOW HIGH\"", "The same for the vertical axis."},
    {"bounds", 0, NULL, "Sweep inside the model's limits too, and show the figures side by side."},
    {"limits-x", 0, "\"LOW HIGH\"", "Other limits than the model's, in degrees or metres; this means --bounds."},
    {"limits-y", 0, "\"LOW HIGH\"", "The same for the vertical axis."},
    {"regularise", 0, "W",
     "Sweep also with a posture term, W |q - rest|^2 / 2 with W in m2/rad2, and show the figures side by side. "
     "Pictures then are of that."},
    {"output", 'o', "FILE", "Write the picture, as SVG or PNG by the name's ending; may be given several times."},
    {0},
};

static const cli_option compare_options[] = {
    {"methods", 'm', "A,B,...",
     "Only these; `ulna methods` lists them. By default all but the global ones, which take longer."},
    {"goals", 0, "FILE",
     "Reach these goals instead of random ones. CSV: a line name,x,y,z or name,x,y,z,weight for each, in metres, by "
     "the "
     "name of a marker or else of a body, whose origin is meant. JSON: docs/command-line.md."},
    {"goal", 0, "\"NAME X Y Z\"", "A goal, in metres; may be given several times, and besides --goals."},
    {"frames", 'n', "N",
     "Problems to solve: 10 by default. With goals of your own, starts to solve them from: 1 by default."},
    {"start", 0, "WHERE",
     "near: the pose that random goals were made from, and --spread off it, which is the default; rest, the default "
     "for "
     "goals of your own, unless their file has a start; zero: all joint parameters zero."},
    {"cold", 0, NULL, "The same as --start rest."},
    {"spread", 0, "DEG",
     "How far starts stray, as a standard deviation in degrees; 3 by default. Slides take it as radians times the "
     "characteristic length."},
    {"seed", 0, "N", "Another seed gives other problems; 1 by default."},
    {"unbounded", 0, NULL, "Ignore joint limits in all methods."},
    {"max-iter", 0, "N", "At most so many iterations, instead of each method's own limit."},
    {"tol", 0, "X", "Stop where f is X square metres or less; 1e-24 by default."},
    {"report", 'r', "FILE",
     "Write a page with the table and plots of convergence: one HTML file that needs nothing else."},
    {0},
};

static const cli_option solve_options[] = {
    {"skeleton", 's', "FILE",
     "Whose joints to find: ASF, BVH, glTF or a model file, or the name of a built-in skeleton."},
    {"markers", 'm', "FILE", "The recording: C3D, TRC or CSV. More may follow, or be named behind all options."},
    {"attach", 'a', "WHERE",
     "Where the markers sit on the skeleton. A CSV file: marker, bone, x, y, z and perhaps a weight, as `ulna "
     "calibrate` "
     "writes it. model, the default: where the skeleton's own markers are. reference, the default if it has none: the "
     "bone "
     "that carries the marker best in the reference motion, and the mean offset. oracle: the same bones, but the "
     "offset "
     "of "
     "each frame, so that no error need remain; that is the experiment of the exact-Hessian paper."},
    {"reference", 0, "FILE", "A motion of the same take, such as the AMC beside a C3D. Frames go one by one."},
    {"method", 0, "NAME",
     "How to solve; `ulna methods` lists them. hybrid by default, which also makes fresh starts for the others."},
    {"bounds", 0, "WHICH",
     "none, the default; skeleton: the skeleton's limits; a motion file: each joint as far as it goes there, and a "
     "twentieth more, but the root anywhere; or a table with the heading dof,lower,upper: degrees and metres, by the "
     "names of `ulna info --values`, empty for none, the skeleton's for those that are not named."},
    {"init", 0, "WHERE",
     "The pose to start the first frame from: rest, the default; first: the reference's first frame; or the first "
     "frame of a motion file. The root is moved to the markers. global: the best pose of all, as `ulna global` finds "
     "it, also where the track is lost: surer, and slower there."},
    {"constraints", 0, "FILE",
     "Goals that hold in every frame besides the markers, such as a hand on a table: CSV or JSON as `ulna compare "
     "--goals` takes them, in metres, in the skeleton's axes. One of weight 1 counts as much as a marker."},
    {"ball", 0, "KIND",
     "Solve joints of three turns as euler (as the file has them, the default), quaternion, expmap or swing-twist."},
    {"frames", 0, "A:B", "Only these, the last one too, as the file counts them. A: and :B go to the end."},
    {"max-iter", 0, "N", "At most so many iterations a frame; 50 by default, or the limit of another method."},
    {"tol", 0, "X",
     "Stop where an iteration lowers f by less than X of itself; 3e-4 by default, 1e-6 for other methods."},
    {"robust", 0, NULL, "Weigh down markers that are far off, and say in which frames: for swapped and stray markers."},
    {"robust-distance", 0, "CM", "How far that is; 6 by default. This means --robust."},
    {"smooth", 0, "W", "Hold each frame to those before it with W m2/rad2; 0 by default. Try 1e-4."},
    {"smooth-what", 0, "WHAT",
     "acceleration, the default: to where the last two frames were going; velocity: to where the last one was."},
    {"soft-limits", 0, "W",
     "What a joint pays beyond the skeleton's limits where these do not bind, m2/rad2; 3e-6 by default, which hardly "
     "moves a marker. More, such as 1e-4, keeps joints that the markers leave open from contortions."},
    {"axes", 0, "ABC",
     "Which axes of the recording are the skeleton's x, y and z, such as yzx or x-zy. By default, or with auto, found "
     "from what the files say is up, or by trying."},
    {"up", 0, "AXIS", "Which axis of the recording points up: x, y or z. The rest follows."},
    {"output", 'o', "FILE",
     "Write the motion, in the format of the name's ending: .amc, .bvh, .csv, .mot, .glb; .c3d and .trc get the "
     "markers as the solved skeleton has them. May be given several times. A folder, such as out/, gets a file a take: "
     "the take's name, in the formats of --formats. Folders are made if need be."},
    {"formats", 0, "A,B,...",
     "What to write to a folder: endings such as amc,bvh,glb. By default what goes with the skeleton: amc, bvh, glb, "
     "or "
     "else csv."},
    {"report", 'r', "FILE",
     "Write a page with errors, joint angles and the take to be played: one HTML file. A folder gets one a take."},
    {0},
};

static const cli_option calibrate_options[] = {
    {"skeleton", 's', "FILE", "The skeleton: ASF, BVH, glTF or a model file, or the name of a built-in one."},
    {"markers", 'm', "FILE", "The recording: C3D, TRC or CSV."},
    {"attach", 'a', "FILE",
     "Which bone each marker is on, and where to start: a CSV file of marker, bone, x, y, z; 0, 0, 0 starts in the "
     "middle of the bone. By default as the skeleton's own markers, and by the names of common marker sets."},
    {"reference", 0, "FILE",
     "A motion of the same take, such as the AMC beside a C3D, to start from. It also tells the bones, if nothing else "
     "does."},
    {"average", 0, NULL, "Take the offsets as they are on average in the reference, and no more."},
    {"scale", 0, NULL, "Find bone lengths too."},
    {"symmetric", 0, NULL, "The same, left and right alike."},
    {"static", 0, "FILE",
     "Find bone lengths not in the take but in this recording of the same person, who stands still about as the "
     "skeleton does at rest."},
    {"repair", 0, NULL,
     "Put markers whose error is more than three times the median on the bone that carries them best, and calibrate "
     "again."},
    {"frames", 0, "N", "Use so many frames of the take, spread evenly; 200 by default."},
    {"axes", 0, "ABC",
     "Which axes of the recording are the skeleton's x, y and z, such as yzx. By default, or with auto, found from "
     "what the files say is up, or by how the skeleton stands in the recording."},
    {"up", 0, "AXIS", "Which axis of the recording points up: x, y or z. The rest follows."},
    {"output", 'o', "FILE", "Write marker, bone, offset in metres and weight, a CSV file for `ulna solve --attach`."},
    {"model-out", 0, "FILE", "With new bone lengths, write the skeleton that has them, as a model file."},
    {0},
};

static const cli_option convert_options[] = {
    {"ball", 0, "KIND",
     "Write joints of three turns as euler (as they are, the default), quaternion, expmap or swing-twist, where the "
     "format can."},
    {"unit", 0, "UNIT",
     "Unit of length to write: m, cm, mm, in, ft or a number of metres. By default the format's own."},
    {"input-unit", 0, "UNIT", "Unit of length of the files that are read, instead of what they or their formats say."},
    {"rate", 0, "HZ",
     "Frames per second to write, instead of what the files say; AMC says nothing. Frames stay as they "
     "are."},
    {"digits", 0, "N", "Digits of numbers in texts; by default as many as it takes to read the same number back."},
    {0},
};

static const cli_option global_command_options[] = {
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

static const cli_option help_options[] = {
    {"man", 0, NULL, "Print the manual page, for man(1)."},
    {0},
};

const cli_command cli_commands[] = {
    {
        .name = "info",
        .operands = "FILE...",
        .operand = "a file name",
        .least = 1,
        .most = -1,
        .summary = "tell what a file holds, and everything odd about it",
        .text =
            "Tells for each model how many bodies, degrees of freedom and markers it has, its joints by type, its "
            "limits, mass and size at rest. Notes follow on what may be a mistake: bones of zero length, degrees of "
            "freedom without limits or that no marker can see, bodies without mass among others that have one, and "
            "more.\n\n"
            "Of a motion it tells frames and rate, and where values leave their limits or jump; of a recording its "
            "markers, their gaps (the longest, and who is missing most) and the space they take. Whatever the reader "
            "noticed in the file is noted with its line or byte. A motion without a skeleton of its own, as AMC, is "
            "read with one that is named beside it.\n\n"
            "The kind of file is found from its contents, not from its name. The name - means standard input. A file "
            "that cannot be read is reported, with the line of a mistake, and the others are still shown.",
        .options = info_options,
        .examples = "ulna info human.json\twhat is in it\n"
                    "ulna info --tree --draw human.json\tits joints, and a picture\n"
                    "ulna info s.asf t.amc t.c3d\ta motion beside its skeleton, markers\n"
                    "ulna info --json *.json\tfor other programs",
        .run = cli_info,
    },
    {
        .name = "sample",
        .operands = "DIR",
        .operand = "a folder name",
        .least = 1,
        .most = 1,
        .summary = "write the built-in skeletons and a take to a folder",
        .text =
            "Writes human.json, hand.json, arm.json, two-link.json and all-joints.json into the folder, which is made "
            "if need be. The last one holds one body per joint type and every option of the model file: it is a good "
            "place to learn the format from.\n\n"
            "Then, as the sample walk, a take to try `ulna solve` on: human.asf, walk.c3d, walk-markers.csv (where the "
            "markers sit) and walk-true.amc (the motion that it was made from). A human walks, stops, bends its knees "
            "and "
            "waves, six seconds at 120 Hz, 41 markers. There is noise of 1 mm, markers are missing now and then, the "
            "left "
            "arm's in frames 260 to 295 and all of them in 420 to 427, and LKNE and RKNE are swapped in 180 to 215. "
            "Files "
            "are the same every time; they are complete or not there at all.",
        .options = sample_options,
        .examples = "ulna sample models\tall of them\n"
                    "ulna sample --only walk models\tthe take and its skeleton",
        .run = cli_sample,
    },
    {
        .name = "solve",
        .operands = "--skeleton S --markers M [TAKE...]",
        .operand = "a file name",
        .least = 0,
        .most = -1,
        .summary = "find joint values from recorded markers",
        .text =
            "Tracks a recording: each frame starts from the ones before. Markers that are missing drop out; where the "
            "track is lost it starts afresh, and says so; frames without markers are filled in, and counted. Markers "
            "go by name, with or without a subject's name before a colon. Markers that one side has and the other has "
            "not are told.\n\n"
            "Errors are distances between markers as recorded and as the skeleton has them: the root mean square and "
            "the sum over the markers of a frame, then the mean over frames. f is half the weighted sum of squares. "
            "Several takes are solved side by side, by --threads, each as if it were alone; one that fails does not "
            "stop the "
            "others. No two may have the same name, and nothing that is read is overwritten.\n\n"
            "The exit code is 1 if frames stay lost, or if some of several takes failed.",
        .options = solve_options,
        .examples = "ulna solve -s s.asf -m t.c3d -a a.csv -o t.amc\tto joint angles\n"
                    "ulna solve -s s.asf -m t.c3d -a a.csv -r t.html\tand see how good they are\n"
                    "ulna solve -s human -m t.trc --robust -o t.bvh\tof a built-in skeleton\n"
                    "ulna solve -s s.asf -m t.c3d --reference t.amc\toffsets from a motion\n"
                    "ulna solve -s s.asf -a a.csv -o out/ -m *.c3d\tmany takes",
        .run = cli_solve,
    },
    {
        .name = "calibrate",
        .operands = "--skeleton S --markers M",
        .operand = "an option",
        .least = 0,
        .most = 0,
        .summary = "find where the markers sit on the skeleton",
        .text =
            "Finds the offset of each marker from its bone, and with --scale the lengths of the bones, from the take "
            "itself: offsets and poses that together fit the recording best. No reference motion is needed. Gaps, "
            "stray "
            "and swapped markers are weighed down.\n\n"
            "A low error is not all. Beside the error on the frames that were used stands that on blocks of the take "
            "that "
            "were not; markers whose offsets the take does not determine are named, and those that fit far worse than "
            "the others, which may be on the wrong bone; and how many joint angles are beyond their limits.",
        .options = calibrate_options,
        .examples = "ulna calibrate -s s.asf -m t.c3d -o a.csv\tbones by the markers' names\n"
                    "ulna solve -s s.asf -m t.c3d -a a.csv -o t.amc\tand what it is for\n"
                    "ulna calibrate -s s.asf -m t.c3d --symmetric --model-out s.json -o a.csv\tlengths too",
        .run = cli_calibrate,
    },
    {
        .name = "convert",
        .operands = "IN... OUT",
        .operand = "a file name",
        .least = 2,
        .most = -1,
        .summary = "write a skeleton, a motion or markers in another format",
        .text =
            "Reads all files but the last, by their contents, and writes the last, in the format of its ending. A "
            "motion that does not hold its skeleton (AMC, MOT, CSV) needs one among the files; a motion that does may "
            "be put onto another skeleton with the same bones, the first that is named. Angles are written anew in "
            "the order that the format wants, without jumps where that is possible. What the format cannot hold is "
            "left out, and told.",
        .options = convert_options,
        .examples = "ulna convert s.asf t.amc t.bvh\tone file of two\n"
                    "ulna convert t.bvh t.asf\tthe skeleton alone\n"
                    "ulna convert t.c3d t.trc\tmarkers\n"
                    "ulna convert s.asf t.amc --rate 120 t.mot\ta rate that AMC does not say",
        .run = cli_convert,
    },
    {
        .name = "definiteness",
        .operands = "[MODEL]",
        .operand = "a file name",
        .least = 0,
        .most = 1,
        .summary = "map where the exact Hessian is positive definite",
        .text =
            "Sweeps two degrees of freedom of a skeleton, the others at rest, and looks at the exact Hessian of f, "
            "half the squared distance from a point to its goal. Where it is positive definite, Newton's method goes "
            "down fast; where it is not, a method must know what to do. MODEL is a model file, or the name of a "
            "built-in skeleton; by default two-link, two links of 1 m, as in Appendix A of the exact-Hessian "
            "paper.\n\n"
            "The figures are shares of the cells, each looked at in its middle: positive definite, indefinite, "
            "negative definite, and semi-definite, where an eigenvalue is zero to 1e-9 of the other one. Then "
            "condition numbers (largest by smallest eigenvalue, in size), the lowest eigenvalue in m2/rad2 (a posture "
            "weight above its size makes everything positive definite), f, and how far the point is from the goal "
            "where f is lowest.\n\n"
            "The picture has a panel a goal: the map in white, light grey, dark grey and red, and the surface that f "
            "makes over it. Red curves are where an eigenvalue passes through zero; a blue frame shows limits.",
        .options = definiteness_options,
        .examples = "ulna definiteness -o map.svg\tthe figure of the paper\n"
                    "ulna definiteness --limits-y \"0 150\"\twhat do limits change?\n"
                    "ulna definiteness --regularise 0.5\tand a posture term?\n"
                    "ulna definiteness --bounds arm.json\ta skeleton of your own",
        .run = cli_definiteness,
    },
    {
        .name = "methods",
        .operands = "[NAME...]",
        .operand = "the name of a method",
        .least = 0,
        .most = -1,
        .summary = "list the methods of solving",
        .text = "Lists every method: whether it keeps joint limits itself, how many iterations it makes at most by "
                "default, and what it needs. With names, tells more about these: where they come from, and which goals "
                "they take.",
        .examples = "ulna methods\tall of them\n"
                    "ulna methods hybrid lm\tmore about two of them",
        .run = cli_methods,
    },
    {
        .name = "compare",
        .operands = "[MODEL]",
        .operand = "a file name",
        .least = 0,
        .most = 1,
        .summary = "run methods on the same problems",
        .text =
            "Solves the same problems with every method and prints one table: on how many it succeeded, what is left "
            "of "
            "f (half the weighted sum of squared distances), the root mean square distance to the goals, iterations, "
            "evaluations of f, microseconds a solve (the best of up to five runs), whether it kept the joint limits or "
            "how far it was outside, and what stopped it. Figures are medians over the problems. A method succeeds "
            "where "
            "all goals are met, f at most 1e-12 m2; with goals of your own, which may be out of reach, where its f is "
            "within 0.1 % of the least that any of them found (if limits are wanted, of those that kept them).\n\n"
            "MODEL is a model file, or the name of a built-in skeleton; by default human. Without goals of your own, "
            "they are made: its markers (or the ends of its limbs, if it has none) where random poses inside the "
            "limits "
            "have them. Problems are the same for the same seed.\n\n"
            "The exit code is 0 if some method succeeded on all of them, else 1.",
        .options = compare_options,
        .examples = "ulna compare\tall methods, starts near the goals\n"
                    "ulna compare --cold --report c.html\tfrom rest, with plots\n"
                    "ulna compare arm --goal \"tool 0.3 0.2 0.5\"\ta goal of your own\n"
                    "ulna compare m.json --goals g.csv\ta skeleton of your own",
        .run = cli_compare,
    },
    {
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
                "places, orientations, all joints, and limits of turns and slides.\n\n"
                "The exit code is 0 also if nothing is proven or the goals are out of reach: look at `proven` and "
                "`unreachable` of --json.",
        .options = global_command_options,
        .examples = "ulna global arm --goal \"tool 0.3 0.2 0.5\"\ta place to reach\n"
                    "ulna global arm --goal \"tool 3 0 0\"\tout of reach: how far, at least?\n"
                    "ulna global human --goals g.csv -o pose.bvh\tand keep the pose\n"
                    "ulna global s.asf -m t.c3d -a a.csv --frame 100\ta frame of a recording",
        .run = cli_global,
    },
    {
        .name = "help",
        .operands = "[COMMAND]",
        .operand = "a command",
        .least = 0,
        .most = 1,
        .summary = "explain a command",
        .text = "Without a command, shows the list of them. With --json, gives the tables that the help is made of.",
        .options = help_options,
        .examples = "ulna help info\thow to use info\n"
                    "ulna help --man | man -l -\tthe manual page",
        .run = cli_help,
    },
    {0},
};

const cli_command *cli_find_command(const char *name)
{
    for (const cli_command *command = cli_commands; command->name; command++)
        if (strcmp(command->name, name) == 0)
            return command;
    return NULL;
}
