/*
 * ulna/mocap.h: from recorded markers to joint values.
 *
 * A marker set says which marker is on which body, and where. A take is a skeleton, a recording and a marker set, matched by
 * name and brought into the same axes. ulna_track solves all its frames: each starts from those before it, markers that are
 * missing are left out, and where the track is lost a fresh start follows, which the result reports. A tracker does the same frame
 * by frame, for live data.
 *
 *     ulna_take_options options = ulna_take_options_default();
 *     ulna_take *take;
 *     ulna_track_result result = {0};
 *     options.model = model;
 *     options.recording = &recording; // such as that of a C3D file
 *     options.set = &set;             // where its markers are; NULL: as the model's own
 *     status = ulna_take_create(&options, &take, &error);
 *     if (status == ULNA_OK)
 *         status = ulna_track(take, NULL, &result, &error);
 *     for (int i = 0; status == ULNA_OK && i < take->findings.count; i++)
 *         fprintf(stderr, "%s\n", take->findings.list[i].text); // a wrong unit, exchanged sides, ...: no result is right
 *     if (status == ULNA_OK && result.trust.verdict != ULNA_VERDICT_TRUST)
 *         for (int i = 0; i < result.findings.count; i++)
 *             printf("%s\n", result.findings.list[i].text);
 *
 * End with ulna_track_result_release and ulna_take_destroy. examples/track_c3d.c goes from files to files.
 */
#ifndef ULNA_MOCAP_H
#define ULNA_MOCAP_H

#include "ulna/formats.h"
#include "ulna/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- marker sets ------------------------------------------------------------------------------------------------- */

typedef struct ulna_attachment {
    char marker[ULNA_MARKER_NAME];
    int body;
    double offset[3]; /* metres, in the body's frame */
    double weight;
    double deviation[3]; /* metres, along x, y, z of the body: standard deviation of the offset; 0: not known */
    int is_joint;        /* 1: it is the body's origin itself (ulna_take.joints): calibrations leave it there */
} ulna_attachment;

typedef struct ulna_marker_set {
    ulna_allocator allocator;
    ulna_attachment *items;
    size_t count, capacity;
    int is_undetermined; /* 1: offsets of a calibration that could hardly determine them (ulna_calibration.is_undetermined) */
    int has_other_lengths; /* 1: the skeleton does not have this person's bone lengths, by their calibration (ulna_calibration.lengths) */
} ulna_marker_set;

ULNA_API ulna_marker_set ulna_marker_set_empty(const ulna_allocator *allocator);
ULNA_API void ulna_marker_set_release(ulna_marker_set *set);
ULNA_API ulna_status ulna_marker_set_add(ulna_marker_set *set, const char *marker, int body, const double offset[3],
                                         double weight);
/* The markers that the model itself has. */
ULNA_API ulna_status ulna_marker_set_from_model(ulna_marker_set *set, const ulna_model *model);
/*
 * A table: marker, bone, x, y, z and optionally weight and three deviations; metres, or the unit of a first line of headings, "marker,bone,x_mm,y_mm,z_mm",
 * or of a line "# unit: mm" above. Further columns "offsets" and "lengths" may say "undetermined" and "others" (see ulna_marker_set). Commas,
 * semicolons or tabs, with quotes as in RFC 4180; lines that begin with # are comments. Errors name
 * the line; bones that the model does not have, and markers that are listed twice, are errors. The writer refuses what would
 * not be read back as it is (ULNA_ERR_UNSUPPORTED): names with line ends or bytes that are not UTF-8. Offsets of more than twice
 * ulna_model_length_scale are refused in both; if most are, the error names the unit that the table seems to have.
 * From a file, and into one; complete, or not at all. `error` has the path.
 */
ULNA_API ulna_status ulna_marker_set_load(const char *path, const ulna_model *model, ulna_marker_set *set,
                                          ulna_error *error);
ULNA_API ulna_status ulna_marker_set_save(const ulna_marker_set *set, const ulna_model *model, const char *path,
                                          ulna_error *error);
ULNA_API ulna_status ulna_marker_set_write_csv(const ulna_marker_set *set, const ulna_model *model,
                                               const ulna_sink *sink, ulna_error *error);

/* Metres from the origin, along an axis: a position beyond is none, and counts as missing, as NaN and infinity do. */
#define ULNA_FARTHEST_MARKER 1e6

/* ---- takes ---------------------------------------------------------------------------------------------------------- */

/* Where marker attachments come from. */
typedef enum ulna_attach {
    ULNA_ATTACH_SET = 0, /* options.set; the model's own markers if that is NULL */
    ULNA_ATTACH_NAMES,   /* the same, and further markers by their names (see below): a start for ulna_calibrate */
    ULNA_ATTACH_KEYPOINTS, /* key points of a marker-less system at the joints of a skeleton scaled to them (see below), if the
                            * recording has more of these than of the model's own markers; else as ULNA_ATTACH_SET */
    ULNA_ATTACH_REFERENCE /* as ULNA_ATTACH_NAMES, with offsets as they are in options.reference; markers whose names are not
                           * known are on the body in whose frame they move least there */
} ulna_attach;

/*
 * Joints: markers called after bones of the skeleton, and as far apart in every frame as its joints are (1 % of all lengths that bending does not
 * change), are these joints, such as those that were written from a motion of the skeleton. They are at the origins of their bodies. That comes
 * before all other meanings of their names, except with a set or ULNA_ATTACH_SET; with ULNA_ATTACH_KEYPOINTS if half of the names are such.
 *
 * By names: those of common marker sets (Plug-in-Gait, CMU and HDM05: LFHD, C7, LSHO, RWRA, LFWT or LASI, LKNE, ...; Helen Hayes
 * and OpenSim's examples: R.Acromium, V.Sacral, L.Knee.Lat, ...; IOR, CAST and Qualisys: L_IAS, R_FLE, SJN, ...; OptiTrack: LKneeOut,
 * WaistLFront, Hip_1, ...; joint centres: LHJC, RKJC, ...) on the bodies that the skeleton has for them, by the names that
 * ASF files, BVH files and Ulna's samples use (lfemur, LeftUpLeg, left_thigh, ...). Letter case, points and a subject's prefix
 * such as "Daniel:" do not matter. Offsets are where such a marker is on an adult of 1.75 m at rest.
 *
 * Key points: MediaPipe (33 of a body, 21 of a hand), OpenPose BODY_25, COCO-17 and SMPL-24, by their names in the usual spellings
 * (left_shoulder, LShoulder, L_Shoulder, ...) or by numbers from 0 on (0, 1, ... or landmark_0, ...), if at least 70 % of them are
 * there. Bones get the median length between their key points; the recording is rotated so that the person stands upright,
 * unless `axes` or `up` say otherwise. The take has a model of its own then, with the same joints: ulna_take.scaled.
 *
 * A set's marker is found in the recording by its name; failing that, by the name without the subject's prefix, letter case
 * ignored if that leaves one only (ulna_recording_find). If two of the set's are found at one marker of the recording, the one
 * with its exact name gets it, else the first; the other counts as absent.
 */
typedef struct ulna_take_options {
    const ulna_model *model;
    const ulna_recording *recording;
    const ulna_marker_set *set; /* may be NULL */
    ulna_attach attach;
    /* A motion of the model during the recording; may be NULL. Its frames are those of the recording if both have as many; else
     * frames with the same number belong together. */
    const ulna_clip *reference;
    /* 1: offsets are those of the reference motion (a robust mean), whatever `attach` is. Where ULNA_ATTACH_NAMES knows no marker
     * at all, it is ULNA_ATTACH_REFERENCE then. */
    int reference_offsets;
    int paper_bones; /* 1: C7, T10, LFIN and RFIN are on lowerneck, lowerback, lfingers and rfingers, where names alone put them, if the
                      * model has these: as the exact-Hessian paper has them on the skeletons of HDM05 */
    int first_frame, last_frame; /* frames to use, as the recording numbers them; it may have fewer */
    const double *axes; /* a rotation, 9 numbers row by row: model = axes x recording. NULL: found (ulna_axes_source) */
    char up, model_up;  /* which axis points up in the recording and for the skeleton: 'x', 'y', 'z'; 0: unknown */
    int trust_up; /* 1: if neither model_up nor the bones say which axis points up for the skeleton, it is y; 0: axes are tried */
    /* Whose markers are used, where the recording has those of several people: "Anna" for Anna:LKNE, "" for names without a
     * prefix. NULL: the one whose names the set has, else the first; take->subjects lists them. Where there is one person only,
     * names without a prefix are theirs, and if all have one, it must be this. */
    const char *subject;
    int check; /* 1: mirror images and exchanged sides are looked for too, by a few fresh starts; other doubts are always found */
    const ulna_allocator *allocator; /* of the take and of results made from it; NULL: the default */
} ulna_take_options;

/* All frames, ULNA_ATTACH_SET, nothing known about axes. Model and recording are left to the caller. */
ULNA_API ulna_take_options ulna_take_options_default(void);
/* The same for what was read from files: model, recording, and which way is up in each. */
ULNA_API ulna_take_options ulna_take_options_for(const ulna_content *skeleton, const ulna_content *markers);

/* How the axes of a take were found. All but the first are a cyclic exchange of x, y and z. */
typedef enum ulna_axes_source {
    ULNA_AXES_GIVEN = 0, /* by the options */
    ULNA_AXES_UP, /* up is known in both: by the options, or by the skeleton's bones if it has names that are known */
    ULNA_AXES_REFERENCE, /* markers move least on their bones in the reference motion */
    ULNA_AXES_FIT,       /* tried: the skeleton fits far better so than otherwise */
    ULNA_AXES_UPRIGHT /* tried: it fits alike, and stands upright so; up is y where the skeleton's is not known. Of key
                          * points: from hips to shoulders, and down may become up */
} ulna_axes_source;

/* What cannot be right in a take, and would give a motion that means nothing, however small its error. */
enum {
    ULNA_DOUBT_SUBJECTS = 1, /* several people, and none was chosen */
    ULNA_DOUBT_DOUBLED = 2,  /* half of the names or more: several people without prefixes */
    ULNA_DOUBT_SIZE =
        4, /* a unit or the skeleton is wrong: size_ratio is above 1.6, or below 1/1.6 even in frames with stretched
                          * limbs; 5 and 1/5 without legs by name (femur, tibia, ...), or with many offsets of 0; or it is 0 */
    ULNA_DOUBT_MIRRORED =
        8, /* the skeleton fits the mirror image much better (RMS below 0.75): an axis points the other way */
    ULNA_DOUBT_SIDES = 16, /* the same with the names of left and right exchanged; both if they fit alike */
    ULNA_DOUBT_FEW =
        32, /* a root that moves freely, and never three markers at once, nor numbers for half of shown_dofs */
    ULNA_DOUBT_PART =
        64, /* left and right of one part of the body, such as the legs, contradict those of another: `exchanged` */
    ULNA_DOUBT_FLAT =
        128, /* a skeleton with legs, or key points, and one coordinate is the same for all markers in all frames */
    ULNA_DOUBT_NAMES = 256 /* two markers look as if each had the other's name: `misnamed` */
};

/* A size_ratio, or its inverse: up to here it may be the skeleton of somebody else, beyond it only a wrong unit. */
#define ULNA_OTHER_PERSON 5.0

/* What speaks against a take, or against what was solved from it, as a sentence for people: what is wrong, and what to do. */
typedef struct ulna_finding {
    unsigned code; /* ULNA_DOUBT_... of a take, ULNA_REASON_... of a result */
    char text[260];
} ulna_finding;

enum { ULNA_MOST_FINDINGS = 24 };

typedef struct ulna_findings {
    int count;
    ulna_finding list[ULNA_MOST_FINDINGS];
} ulna_findings;

/* From frame `first` to the end of the take two markers of the recording have each other's names; twice, and they have their own again. */
typedef struct ulna_exchange {
    int a, b;           /* numbers in the recording */
    int first;          /* index in the take */
    int is_by_majority; /* 1: the skeleton fits either way, so that the names of most frames are taken as the right ones */
} ulna_exchange;

/*
 * A skeleton, a recording of it, and how they belong together: made once, then only read, by several threads if need be. The
 * recording stays as it is; model, recording and reference must stay while the take is used, but may be released before it.
 */
typedef struct ulna_take {
    const ulna_model *model;
    ulna_model *scaled;    /* `model`, if it is the take's own: the skeleton as long as the key points say; else NULL */
    const char *keypoints; /* the system that these are of, such as "COCO"; NULL: none */
    const ulna_recording *recording; /* the one that was given, or one_subject */
    int skipped;                     /* frame f of the take is frame f + skipped of the recording */
    int frame_count;                 /* at least 1 */
    int first_frame;                 /* its number, as the recording counts */
    ulna_attach attach;              /* as it was used */
    ulna_marker_set set;    /* the markers that skeleton and recording share, in the attachment's order; at least one */
    int *source;            /* set.count: their numbers in the recording */
    int *seen;              /* set.count: frames of the take in which they are seen */
    int named;              /* how many of the attachment's markers are known by their names alone */
    int joints;             /* how many of the set's markers are joints of the skeleton */
    ulna_marker_set absent; /* markers of the attachment that the recording does not have, or has for another one */
    int *unused;            /* numbers of markers of the recording that are not on the skeleton */
    int unused_count;
    long long out_of_range; /* positions beyond ULNA_FARTHEST_MARKER or infinite; treated as missing */
    /* Positions of the set's markers that are exactly 0, 0, 0; treated as missing, unless a marker is there throughout, and as far
     * from the next marker as on the skeleton: the origin of key points may be one of them. */
    long long at_zero;
    double size_ratio; /* how far apart the markers are, beside the skeleton's at rest: 1000 where millimetres were read
                              * as metres; 0 if they are all in one place; NaN if unknown */
    unsigned doubts;   /* ULNA_DOUBT_... */
    ulna_findings findings; /* the same in words */
    /* With ULNA_DOUBT_SIZE: by which lengths must be divided: the power of ten within a factor of 2 of size_ratio, or else size_ratio
     * itself. 1 without. */
    double size_factor;
    double fit
        [3]; /* with options.check: m, median RMS of a few frames: as they are, mirrored, left and right exchanged; NaN: not
                        * tried, such as mirror images where the first is small */
    int exchanged
        [2]; /* with ULNA_DOUBT_PART: two bodies; from right to left is one direction by the markers on the first one
                       * (and beyond it, if it has a side), and the opposite by those on the second one. Else ULNA_NONE */
    int misnamed
        [2]; /* with ULNA_DOUBT_NAMES: two markers of the set. With each other's names, distances to markers near them would be
                      * those on the skeleton, and change less. Else ULNA_NONE */
    int misnamed_beyond; /* pairs farther out on their limbs that have each other's names, too */
    int most_seen;       /* markers of the set in one frame */
    int shown_dofs;      /* degrees of freedom that move a marker of the set */
    int doubled;         /* names of the set that the recording has more than once */
    char (*subjects)
        [ULNA_MARKER_NAME]; /* prefixes that have three names or more in common with another: several people */
    int subject_count;      /* 0, or at least 2 */
    int subject;            /* the one that is used; ULNA_NONE without several */
    /* Names that are wrong for a part of the take: two markers leap to each other's places in one frame, and one way round the skeleton fits
     * clearly better; or if neither does, other names hold for most of the take. ulna_calibrate reads the markers with these undone, and so does
     * ulna_track, but for plain least squares, options.causal and options.oracle, which take names as they are recorded. Those that begin with frame 0
     * count first, then the others in the order of time. To choose, up to 18 frames are solved for each group of exchanges. */
    ulna_exchange *exchanges;
    int exchange_count;
    /* Frames, as indices in the take, in which most markers leap at once, from where they were going: the recording was cut there, or put together.
     * At most 64, and none if there are more. */
    int *cuts;
    int cut_count;
    double axes[9]; /* model = axes x recording */
    ulna_axes_source axes_source;
    char up, model_up; /* as they were used; 0: not */
    const ulna_clip *reference;
    int reference_shift;     /* frame f of the take is frame f + reference_shift of the reference */
    int reference_by_number; /* 1: they have different numbers of frames */
    ulna_allocator allocator;
    size_t room, unused_room, exchange_room, cut_room; /* of the arrays */
    /* The recording without the names of the others; its positions are those of the recording. */
    ulna_recording one_subject;
    unsigned char *is_zero_missing; /* unused_room: for the recording's markers */
    int is_whole; /* every marker of the set is seen in every frame: the recording must not change while there is a take of it */
} ulna_take;

/* ULNA_ERR_ARGUMENT if options cannot be used (axes that are no rotation, no frames, a body that the model does not have, a
 * subject that is not there), or if no marker of the attachment is in the recording; ULNA_ERR_MODEL if no name is known, or without any
 * attachment; ULNA_ERR_UNSUPPORTED, with ULNA_ATTACH_KEYPOINTS alone, if the recording has key points that do not suit the skeleton: it has no
 * bones for them, is the other hand, or of quite another size. A take with doubts is made: the caller decides, and take->findings says
 * why. `ulna solve` and `ulna calibrate` refuse it. */
ULNA_API ulna_status ulna_take_create(const ulna_take_options *options, ulna_take **take, ulna_error *error);
ULNA_API void ulna_take_destroy(ulna_take *take);
/* Where marker `marker` of the take's set is in a frame, as recorded, in the model's axes. 0, and NaN, if it is missing. */
ULNA_API int ulna_take_position(const ulna_take *take, int frame, int marker, double position[3]);

/*
 * The experiments of the exact-Hessian paper, frame by frame; ulna_track does whole takes so (ulna_track_options.oracle). `pose` is of the take's
 * model.
 */
/* A problem with the markers of the frame as goals, where each marker has the offset that the take's reference gives it in that frame: f = 0 is
 * reached at the reference pose. Term i is marker i of the set; missing ones are off. Destroy it with ulna_problem_destroy. */
ULNA_API ulna_status ulna_take_oracle_problem(const ulna_take *take, int frame, ulna_pose *pose, ulna_problem **problem,
                                              ulna_error *error);
/* All angles zero, and the root where the markers of the frame are on average. */
ULNA_API ulna_status ulna_take_zero_start(const ulna_take *take, int frame, ulna_pose *pose, double *q);
/* locked (nv): 1 for DOFs that move no marker with a weight, such as those of thumbs. How many. */
ULNA_API int ulna_take_idle_dofs(const ulna_take *take, unsigned char *locked);

/* ---- markers placed anew --------------------------------------------------------------------------------------------- */

/* Two markers on the same bone, by their names in a recording, and the range of their distance in some; low > high or NaN: not known. */
typedef struct ulna_marker_distance {
    const char *a, *b;
    double low, high; /* metres */
} ulna_marker_distance;
/* Are the markers of a recording where they were in those that the ranges come from, so that one calibration does for all? *is_anew: 1 if
 * not. If they are, or if nothing is known, and with `learn`, the ranges are widened by this one. ULNA_ERR_MEMORY, or _ARGUMENT. */
ULNA_API ulna_status ulna_placement_compare(const ulna_recording *recording, int learn, ulna_marker_distance *distances,
                                            size_t count, int *is_anew);

/* ---- tracking ------------------------------------------------------------------------------------------------------ */

/* What happened to a frame; several may be true, but not recovered and lost. */
enum {
    ULNA_TRACK_EMPTY = 1,     /* no marker was seen: held, or interpolated between its neighbours */
    ULNA_TRACK_RECOVERED = 2, /* the track was lost, here or up to here, and found again */
    ULNA_TRACK_LOST = 4,      /* the error stays far above that of other frames, or a first one is no pose at all */
    ULNA_TRACK_OUTLIERS = 8,  /* markers were weighed down by the robust loss */
    ULNA_TRACK_STARTED = 16,  /* a fresh start: the first frame in which a marker was seen */
    ULNA_TRACK_DOUBTFUL = 32, /* the pose may be wrong, though it is not lost */
    ULNA_TRACK_BRIDGED = 64,  /* a limb that no marker showed was moved from where it was seen last to where it is seen
                               * next; or held there, if there is no other, or with options.causal */
    /* By ulna_track alone, which knows the whole take: */
    ULNA_TRACK_JUMP =
        128, /* a joint rotates by more than 30 degrees from the frame before, and faster than 3000 degrees/s; or it is one of the
              * take's cuts, and not lost */
    ULNA_TRACK_LIMITS =
        256 /* an angle is more than 20 degrees outside its limits, though not so in a tenth of all frames */
};

typedef struct ulna_frame_report {
    double f;         /* m^2: half of the sum of squared distances, weighted; without posture and smoothing */
    double rms;       /* m, over the markers seen */
    double sum;       /* m, sum of distances */
    double worst;     /* m */
    int worst_marker; /* number in the set, ULNA_NONE if none was seen */
    int seen;         /* markers */
    int outliers;
    int iterations, evaluations;
    long long evaluations_added; /* as ulna_result has it; 0 but for options.oracle */
    ulna_stop stop;              /* of the solve that gave the pose; ULNA_STOP_NONE if there was none */
    unsigned flags;
    double seconds;
} ulna_frame_report;

/* In an option: what suits the skeleton. */
#define ULNA_AUTO (-1.0)

/* ---- constraints of a take ------------------------------------------------------------------------------------------ */

typedef struct ulna_frame_range {
    int first, last; /* indices in the take; what is outside the take is ignored */
} ulna_frame_range;

/*
 * A constraint (constraint.h) in some frames of a take. POINT, ORIENTATION and FRAME fade in before a range and out after it
 * (options.fade): there the goal is where the tracked motion is, moved by a share of what separated the two at the end of the
 * range. All others begin and end at once.
 */
typedef struct ulna_track_constraint {
    ulna_constraint constraint;
    const ulna_frame_range *ranges;
    int range_count; /* 0: all frames */
} ulna_track_constraint;

/* A foot that stands, from one frame to another. */
typedef struct ulna_stance {
    int body;                  /* the foot */
    int first, last;           /* indices in the take */
    int flat_first, flat_last; /* in which its rotation is held too; flat_first > flat_last: the point alone */
    double point[3]; /* m, in the body's frame: what stays where it is. In options, NaN in point[0] stands for the ball
                                  * of the foot, the joint of its toes; or for the body's origin, if it is no foot or has no toes */
    double skate_before, skate; /* m, in results: horizontal path of that point, as tracked and as held */
} ulna_stance;

/* What became of a constraint of options.constraints, in the order of these. Units as of ulna_work_constraint_error. */
typedef struct ulna_constraint_report {
    int frames;      /* in which it was to be kept, without those in which it fades */
    double worst;    /* its largest error in these */
    int worst_frame; /* index in the take */
    int infeasible;  /* frames in which it was not kept, as others, or the reach of the skeleton, were in its way */
} ulna_constraint_report;

/* Where a frame starts with options.oracle. */
typedef enum ulna_oracle_start {
    ULNA_ORACLE_SOLUTION =
        0, /* the solution of the frame before; the first frame as ULNA_ORACLE_REFERENCE, or from options.start */
    ULNA_ORACLE_REFERENCE, /* the reference pose of the frame before; for its first frame, of that frame */
    ULNA_ORACLE_ZERO       /* all angles zero, the root where the markers are on average; or from options.start */
} ulna_oracle_start;

typedef struct ulna_track_options {
    /* Method, limits, strengths; the stops are those of tracking. `bounded` with the method hybrid also holds the swing of each swing-twist
     * joint whose limits are finite in a cone: it is no farther from its centre than the widest of its limits */
    ulna_options solve;
    ulna_options fresh; /* for fresh starts: restarts, and stops to be sure */
    int global;         /* 1: fresh starts by ulna_global_solve, not by restarts: surer, and some ten times slower */
    /* What is expected of a pose besides its markers (docs/tracking.md): weights in m^2/rad^2 where a marker's is 1. ULNA_AUTO,
     * the default, is a part of the skeleton's length squared; for an adult the number given here. 0: none. With
     * ULNA_LOSS_SQUARE it means plain least squares: no smooth and no curve, a posture of 1e-7. ulna_track takes a hundredth of smooth, posture,
     * curve, hold and limits where all markers are joints (ulna_take.joints). */
    /* 4e-4: toward where the last two frames were going, more where markers hardly show a joint; for whole takes 7.5 times that toward
     * both neighbours. */
    double smooth;
    /* 1e-5: toward rest; not for the root. If offsets have deviations: as ulna_calibrate does, more for some. */
    double posture;
    double curve;       /* 3e-5: joints of a spine or neck toward the mean of their chain */
    double hold;        /* 1e-3: joints that no marker shows, toward where they were seen last */
    double limits;      /* 5e-6: toward the joints' limits, where these do not bind */
    ulna_loss loss;     /* ULNA_LOSS_GEMAN_MCCLURE */
    double loss_scale;  /* c, m. ULNA_AUTO: 6 cm for an adult */
    int predict;        /* start from 2 q1 - q2, if that is no worse than q1 */
    double lost_factor; /* lost if the markers' cost is above this times the usual one + lost_excess; 0: never */
    double lost_excess; /* m^2 where the mean weight of the markers is 1. ULNA_AUTO: 1e-4 for an adult */
    double budget;      /* s: no search and no iteration begins later than this after the frame began; 0: no limit */
    /* Adds terms of the caller's own, which hold in every frame, to a tracker's problem, after the markers. Several
     * threads may call it at once. A track is lost by its markers alone, and reports are about them. It may add constraints too
     * (constraint.h): these are kept in every frame, live as well. May be NULL */
    ulna_status (*extend)(void *context, ulna_problem *problem, ulna_error *error);
    void *extend_context;
    const double *start; /* nq: for the first frame; NULL: the model's rest, its root moved to the markers */
    /* What follows is about whole takes; a tracker does not look at it. */
    int causal; /* 1: a frame knows nothing of later ones. 0: stretches that stand out are solved again from behind, hidden limbs
                 * are led from where they were seen last to where they are seen next, and frames are held to both neighbours */
    int chunk_frames;   /* the take is cut into chunks of so many frames, each begun afresh; 0: not cut */
    int overlap_frames; /* frames before a chunk that are solved only to find the way in */
    int threads;        /* chunks side by side; the result does not depend on it. 0: one per processor */
    int continuous;     /* 1: angles without jumps (ulna_clip_unwind), near the middle of their limits unless limits
                         * bind. The poses are the same */
    int solved_markers; /* 1: the result has the markers of the solved skeleton */
    /* 1: the protocol of the exact-Hessian paper (section 6). Each frame's offsets are those of its pose in the take's reference, so that
     * f = 0 can be reached. One solve a frame by `solve` as it is (but hybrid.trust_last), from oracle_start: no prior, no loss, no alignment, no second attempt but
     * solve.restarts. DOFs that move no marker stay where they are. A frame is lost if it ends above solve.objective. Of the other options,
     * `start` and `progress` count. */
    int oracle;
    ulna_oracle_start oracle_start;
    /* Kept exactly, where that is possible, by a last pass over the frames; where it is not, frames are doubtful. */
    const ulna_track_constraint *constraints;
    int constraint_count;
    int plant_feet; /* 1: feet that stand are found from the tracked motion, and stay where they are on average. Not with
                     * options.causal. Feet are found by the names of their bodies, but for those that `stances` names */
    const ulna_stance *stances; /* feet that stand, as far as the caller knows. Those of one body must not overlap */
    int stance_count;
    double fade; /* s, before and after each range or stance. ULNA_AUTO: 0.08. With options.causal only after it */
    int (*progress)(void *context, int done, int total); /* from one thread at a time; not 0 cancels. May be NULL */
    void *progress_context;
} ulna_track_options;

/* hybrid with 50 iterations, the priors and the loss above, limits that do not bind, prediction, recovery, no chunks, continuous
 * angles. solve.decrease is ULNA_AUTO: 3e-2 with smoothing, where one step does, else 3e-4. */
ULNA_API ulna_track_options ulna_track_options_default(void);

typedef struct ulna_tracker ulna_tracker;

/* The model, and arrays that the options point to, must outlive the tracker; the set is copied. `options` NULL:
 * the default. All memory is taken here. */
ULNA_API ulna_status ulna_tracker_create(const ulna_model *model, const ulna_marker_set *set,
                                         const ulna_track_options *options, const ulna_allocator *allocator,
                                         ulna_tracker **tracker, ulna_error *error);
ULNA_API void ulna_tracker_destroy(ulna_tracker *tracker);
/* The next frame: positions of the set's markers (count x 3, NaN: missing) to q. `report` may be NULL. No allocation, but for
 * fresh starts with options.global. */
ULNA_API ulna_status ulna_tracker_frame(ulna_tracker *tracker, const double *positions, double *q,
                                        ulna_frame_report *report);
/* Forgets the frames before: the next one starts afresh, from q (nq) or, if NULL, from the start of the options. */
ULNA_API void ulna_tracker_reset(ulna_tracker *tracker, const double *q);
/* The distance of each marker of the set in the last frame; NaN where missing. */
ULNA_API ulna_status ulna_tracker_residuals(ulna_tracker *tracker, double *distances);

/* ---- a whole take --------------------------------------------------------------------------------------------------- */

typedef struct ulna_track_summary {
    int frames, markers_used, markers_unmatched; /* of the take: seen, and not */
    int empty, recovered, lost, with_outliers;   /* frames with such a mark, here and below */
    int doubtful, bridged, jumps, outside_limits;
    double rms_mean, rms_max; /* m */
    int rms_max_frame;        /* index in the take */
    double sum_mean, sum_max; /* m */
    double f_mean, f_max;     /* m^2 */
    double iterations_mean, evaluations_mean;
    double evaluations_added_mean; /* with options.oracle */
    int iterations_max;
    long long missing;                 /* positions, of markers with a weight */
    double seconds;                    /* wall clock */
    double us_mean, us_median, us_max; /* microseconds per frame on one core, without the passes over the whole take */
    /* With options.solve.bounded: how far a value of the clip is beyond a limit at most; rad, m. 0: none is. */
    double violation;
    int violated_dof; /* which one that is; ULNA_NONE if none is */
} ulna_track_summary;

/* How far a marker of the take's set is from its place on the skeleton. Metres. */
typedef struct ulna_marker_report {
    double rms, mean, worst; /* 0 if it is never seen */
    int worst_frame;         /* index in the take */
    int seen;                /* frames */
    int outliers;            /* frames in which it is farther off than the scale of the robust loss */
    int misplaced; /* 1: in most of those in which it has its own name (ulna_swap). It is attached elsewhere, rather than an outlier */
} ulna_marker_report;

/* How far a term that options.extend added is from its goal (ulna_work_term_error), over the take. */
typedef struct ulna_goal_report {
    double rms, worst;
    int worst_frame;
} ulna_goal_report;

/* How well the markers show a degree of freedom, and whether it stays inside its limits. */
typedef struct ulna_dof_report {
    /* rad, m: its standard deviation, other joints being known, if every marker is off by 1 cm (for an adult) in each direction;
     * the median of some frames. INFINITY: it moves no marker that is seen */
    double deviation;
    int is_measured; /* 1: this is at most 30 degrees (a tenth of the skeleton's length scale), or it is locked */
    int is_outside;  /* 1: more than 20 degrees outside its limits, in more than a tenth of the frames */
} ulna_dof_report;

/* Two markers of the set with each other's names: they leapt to each other's places in one frame, and the take exchanges them
 * back (not with options.causal); or two outliers, each at the other's place. Distances are those of the names as recorded. */
typedef struct ulna_swap {
    int a, b;
    int first, last; /* indices in the take */
    int frames;      /* in which both were seen so */
} ulna_swap;

/* A marker that shifted on its bone and stayed there: from this frame on it is elsewhere than before, by more than skin moves and at once. Its
 * offset holds for one of the two parts at most. */
typedef struct ulna_shift {
    int marker;       /* of the take's set */
    int frame;        /* index in the take: the first after it, give or take a tenth of a second */
    double distance;  /* m, at least: the pose goes along with the marker, and hides some of it */
    int is_after_gap; /* 1: it was missing for so long before that it may have drifted there by and by */
    /* The part, before or from `frame` on, in which the marker is farther from its place on the skeleton; the shorter one
     * if it is neither. Poses are wrong there, first of all. */
    int first, last; /* indices in the take */
} ulna_shift;

/* A body, and all beyond it, without any marker for 12 frames or more. Marked as bridged. It is moved from where it was seen last to where it is seen
 * next; at the ends of a take, and with options.causal, it is held where it was seen. */
typedef struct ulna_gap {
    int body;
    int first, last; /* indices in the take */
} ulna_gap;

/* Whether a take can be used as it is. */
typedef enum ulna_verdict {
    ULNA_VERDICT_TRUST = 0, /* nothing speaks against it */
    ULNA_VERDICT_LOOK,      /* some frames or markers need a look; the others can be trusted */
    ULNA_VERDICT_REJECT     /* the angles mean little */
} ulna_verdict;

/* Why. */
enum {
    /* rejected */
    ULNA_REASON_POOR = 1, /* is_poor */
    ULNA_REASON_UNDETERMINED =
        2, /* rejected: three numbers for each marker seen are less than 3/4 of dofs_moved; to be looked at:
                                     * is_undetermined */
    ULNA_REASON_LOST = 4,           /* more than 10 % of the frames are lost */
    ULNA_REASON_UNSURE = 8,         /* more than half of the frames are lost, doubtful, bridged or empty */
    ULNA_REASON_MISPLACED = 16,     /* more than a quarter of the markers are misplaced */
    ULNA_REASON_IMPLAUSIBLE = 1024, /* ROUGH, and angles_outside is more than a quarter of the angles with limits */
    /* to be looked at */
    ULNA_REASON_FRAMES = 32,       /* some frame has a mark other than OUTLIERS and STARTED */
    ULNA_REASON_MARKERS = 64,      /* some marker is misplaced, or swapped with another */
    ULNA_REASON_ROUGH = 128,       /* typical_rms is more than 1.5 cm for an adult, in proportion for other sizes */
    ULNA_REASON_OUTLIERS = 256,    /* more than half of the frames have outliers */
    ULNA_REASON_LIMITS = 512,      /* angles_outside is not 0 */
    ULNA_REASON_UNMEASURED = 2048, /* more than a quarter of the degrees of freedom are not measured */
    ULNA_REASON_CUT = 4096,        /* cut_frames is not 0 */
    ULNA_REASON_SHIFTED = 8192,    /* some marker shifted on its bone */
    ULNA_REASON_OFFSETS = 16384,   /* the marker set is undetermined */
    ULNA_REASON_LENGTHS = 32768    /* the marker set says that the person has other bone lengths */
};

/* What a small error does not say. */
typedef struct ulna_trust {
    ulna_verdict verdict;
    unsigned reasons;    /* ULNA_REASON_...; 0 with ULNA_VERDICT_TRUST */
    int unmarked;        /* frames without any mark, but for ULNA_TRACK_STARTED */
    double unmarked_rms; /* m, mean over these; NaN if there are none */
    /* Metres: the same; if they are less than a quarter of the frames, the mean over all frames, where distances above the scale of the
     * loss count as that. */
    double typical_rms;
    int is_poor;    /* this is more than 3 cm on an adult, less on a smaller skeleton: more than skin moves */
    int misplaced;  /* markers */
    int dofs_moved; /* degrees of freedom that move a marker which is seen; the others keep their values of the start */
    int unmeasured; /* degrees of freedom that are not measured (ulna_dof_report), these among them */
    int is_undetermined; /* 1: even these are more than three for each marker seen, so the markers cannot determine them */
    int angles_outside; /* angles that are more than 20 degrees outside their limits in more than a tenth of the frames: then
                         * it is the offsets or the limits that are wrong, not the frames */
    int cut_frames;            /* frames after the take that the recording should have: its file ends early */
    int is_set_undetermined;   /* that of the marker set */
    int has_other_lengths;     /* likewise */
    ulna_clip_findings motion; /* limits that are left, and jumps */
} ulna_trust;

/* Arrays belong to the result. {0} is an empty result, which may be released. */
typedef struct ulna_track_result {
    ulna_clip clip;            /* the motion */
    ulna_frame_report *frames; /* frame_count; worst_marker is a number in the take's set */
    double *distances;     /* frame_count x set.count: of each marker from its place on the skeleton; NaN: missing */
    ulna_recording solved; /* with options.solved_markers: the skeleton's markers, in the recording's axes */
    ulna_marker_report *markers; /* set.count */
    ulna_dof_report *dofs;       /* nv */
    ulna_goal_report *goals;     /* one for each term that options.extend added */
    int goal_count;
    ulna_constraint_report *constraints; /* options.constraint_count */
    int constraint_count;
    ulna_stance *stances; /* those found and those given, in the order of their first frames */
    int stance_count;
    double unconstrained_rms; /* m: summary.rms_mean as it was before constraints and feet; the same without any */
    ulna_swap *swaps;         /* at most 64; with a robust loss */
    int swap_count;
    ulna_shift *shifts; /* at most 16: those of markers near each other at one time are one, the farthest */
    int shift_count;
    ulna_gap *gaps; /* in the order in which they begin */
    int gap_count;
    ulna_track_summary summary;
    ulna_trust trust;
    /* The reasons of `trust` in words, and with ULNA_REASON_UNMEASURED what is not measured, however little. */
    ulna_findings findings;
    size_t frame_room, marker_room, dof_room, swap_room, gap_room, stance_room, shift_room;
} ulna_track_result;

/*
 * Tracks a take. `options` may be NULL; `result` is overwritten, and empty after a failure. At least one marker with a weight must
 * be seen somewhere. ULNA_ERR_STATE if the progress function cancels.
 */
ULNA_API ulna_status ulna_track(const ulna_take *take, const ulna_track_options *options, ulna_track_result *result,
                                ulna_error *error);
ULNA_API void ulna_track_result_release(ulna_track_result *result);

#ifdef __cplusplus
}
#endif
#endif
