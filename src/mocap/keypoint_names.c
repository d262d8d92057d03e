/*
 * Key points of marker-less systems: which joint each one is, by its name or number.
 *
 * A row has the names of a key point, and where it is on a skeleton: at the joint in which one of the bones begins, or else where
 * another bone ends; or at a place on a bone, in metres to the left, up and forward of its joint for an adult of 1.75 m at rest.
 * Rows with a side are written for the left. The systems are lists of these names in the order of their numbers:
 *
 *   MediaPipe Pose and Hands   BlazePose GHUM (33) and hand landmarks (21)
 *   OpenPose BODY_25           25; the neck is between the shoulders there
 *   COCO                       17
 *   SMPL                       24 joints, the pelvis first
 */
#include <stdio.h>
#include <string.h>

#include "mocap/keypoints.h"
#include "mocap/marker_names.h"

#define ARM ULNA_BONES_ARM
#define FOREARM "radius forearm lowerarm loarm elbow"
#define HIPS "pelvis hips hip lowertorso root"
#define THIGH ULNA_BONES_THIGH
#define SHANK "tibia shank calf shin lowerleg loleg leg knee"
#define FOOT "foot ankle"
#define TOES "toes toebase toe ball"
#define TOP "upperspine thorax spine3 spine2 chest2 chest1 chest uppertorso upperback spine1 spine torso"

// clang-format off
static const ulna_keypoint rows[] = {
    /* names, sides, bone that begins there, bone that ends there, left, up and forward (m), kind, weight */
    {"nose", 0, "head", "", {0, .05, .10}, ULNA_KEYPOINT_PLACE, 1},
    {"eyeinner", 2, "head", "", {.02, .08, .085}, ULNA_KEYPOINT_PLACE, .5},
    {"eye", 2, "head", "", {.03, .08, .085}, ULNA_KEYPOINT_PLACE, .5},
    {"eyeouter", 2, "head", "", {.045, .08, .075}, ULNA_KEYPOINT_PLACE, .5},
    {"ear", 2, "head", "", {.075, .06, 0}, ULNA_KEYPOINT_PLACE, 1},
    {"mouth", 2, "head", "", {.025, .01, .085}, ULNA_KEYPOINT_PLACE, .5},
    {"neck", 0, "neck lowerneck", TOP, {0}, ULNA_KEYPOINT_JOINT, .5},
    {"neck", 0, TOP, "", {0}, ULNA_KEYPOINT_BETWEEN_SHOULDERS, 1},
    {"head", 0, "head", "neck", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"pelvis root", 0, HIPS, "", {0}, ULNA_KEYPOINT_JOINT, .5},
    {"midhip hipcenter centerhip", 0, HIPS, "", {0}, ULNA_KEYPOINT_BETWEEN_HIPS, 1},
    {"spine1", 0, "lowerspine lowerback spine abdomen", "", {0}, ULNA_KEYPOINT_JOINT, .5},
    {"spine2", 0, "middlespine upperback spine1 chest", "", {0}, ULNA_KEYPOINT_JOINT, .5},
    {"spine3", 0, "upperspine thorax spine2 chest2", "", {0}, ULNA_KEYPOINT_JOINT, .5},
    {"collar clavicle", 1, "clavicle collar shoulder", "", {0}, ULNA_KEYPOINT_JOINT, .5},
    {"shoulder", 1, ARM, "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"elbow", 1, FOREARM, ARM, {0}, ULNA_KEYPOINT_JOINT, 1},
    {"wrist", 1, ULNA_BONES_HAND, FOREARM, {0}, ULNA_KEYPOINT_JOINT, 1},
    {"hand", 1, "fingers handmiddle1 middle1 handindex1", "hand", {0}, ULNA_KEYPOINT_JOINT, .5},
    {"pinky", 1, "", "hand wrist", {0, 0, -.035}, ULNA_KEYPOINT_PLACE, .3},
    {"index", 1, "", "hand wrist", {0, 0, .025}, ULNA_KEYPOINT_PLACE, .3},
    {"thumb", 1, "thumb thumb1 handthumb1", "", {.02, 0, .02}, ULNA_KEYPOINT_PLACE, .2},
    {"hip", 1, THIGH, "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"knee", 1, SHANK, THIGH, {0}, ULNA_KEYPOINT_JOINT, 1},
    {"ankle", 1, FOOT, SHANK, {0}, ULNA_KEYPOINT_JOINT, 1},
    {"heel", 1, FOOT, "", {0, -.05, -.05}, ULNA_KEYPOINT_PLACE, .5},
    {"foot", 1, TOES, FOOT, {0}, ULNA_KEYPOINT_JOINT, .5},
    {"footindex bigtoe", 1, TOES, FOOT, {-.01, 0, .06}, ULNA_KEYPOINT_PLACE, .5},
    {"smalltoe", 1, TOES, FOOT, {.04, 0, .03}, ULNA_KEYPOINT_PLACE, .5},
    /* of a hand alone, which has no side in its names */
    {"wrist", 3, "palm hand wrist", "forearm", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"thumbcmc thumb1", 3, "thumbmetacarpal thumb1", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"thumbmcp thumb2", 3, "thumbproximal thumb2", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"thumbip thumb3", 3, "thumbdistal thumb3", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"thumbtip thumb4", 3, "", "thumbdistal thumb3", {0}, ULNA_KEYPOINT_TIP, 1},
    {"indexfingermcp indexmcp index1", 3, "indexproximal index1", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"indexfingerpip indexpip index2", 3, "indexmiddle indexintermediate index2", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"indexfingerdip indexdip index3", 3, "indexdistal index3", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"indexfingertip indextip index4", 3, "", "indexdistal index3", {0}, ULNA_KEYPOINT_TIP, 1},
    {"middlefingermcp middlemcp middle1", 3, "middleproximal middle1", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"middlefingerpip middlepip middle2", 3, "middlemiddle middleintermediate middle2", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"middlefingerdip middledip middle3", 3, "middledistal middle3", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"middlefingertip middletip middle4", 3, "", "middledistal middle3", {0}, ULNA_KEYPOINT_TIP, 1},
    {"ringfingermcp ringmcp ring1", 3, "ringproximal ring1", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"ringfingerpip ringpip ring2", 3, "ringmiddle ringintermediate ring2", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"ringfingerdip ringdip ring3", 3, "ringdistal ring3", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"ringfingertip ringtip ring4", 3, "", "ringdistal ring3", {0}, ULNA_KEYPOINT_TIP, 1},
    {"pinkymcp littlemcp pinkyfingermcp pinky1 little1", 3, "littleproximal pinkyproximal pinky1", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"pinkypip littlepip pinkyfingerpip pinky2 little2", 3, "littlemiddle pinkyintermediate pinky2", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"pinkydip littledip pinkyfingerdip pinky3 little3", 3, "littledistal pinkydistal pinky3", "", {0}, ULNA_KEYPOINT_JOINT, 1},
    {"pinkytip littletip pinkyfingertip pinky4 little4", 3, "", "littledistal pinkydistal pinky3", {0}, ULNA_KEYPOINT_TIP, 1},
};
// clang-format on

/* Name, number of key points, a hand?, is the neck between the shoulders?, names. */
static const ulna_keypoint_system systems[] = {
    {"MediaPipe hand", 21, 1, 0,
     "wrist thumbcmc thumbmcp thumbip thumbtip indexmcp indexpip indexdip indextip middlemcp middlepip middledip "
     "middletip ringmcp ringpip ringdip ringtip pinkymcp pinkypip pinkydip pinkytip"},
    {"COCO", 17, 0, 1,
     "nose lefteye righteye leftear rightear leftshoulder rightshoulder leftelbow rightelbow leftwrist rightwrist "
     "lefthip righthip leftknee rightknee leftankle rightankle"},
    {"SMPL", 24, 0, 0,
     "pelvis lefthip righthip spine1 leftknee rightknee spine2 leftankle rightankle spine3 leftfoot rightfoot neck "
     "leftcollar rightcollar head leftshoulder rightshoulder leftelbow rightelbow leftwrist rightwrist lefthand "
     "righthand"},
    {"OpenPose BODY_25", 25, 0, 1,
     "nose neck rightshoulder rightelbow rightwrist leftshoulder leftelbow leftwrist midhip righthip rightknee "
     "rightankle lefthip leftknee leftankle righteye lefteye rightear leftear leftbigtoe leftsmalltoe leftheel "
     "rightbigtoe rightsmalltoe rightheel"},
    {"MediaPipe body", 33, 0, 1,
     "nose lefteyeinner lefteye lefteyeouter righteyeinner righteye righteyeouter leftear rightear mouthleft "
     "mouthright leftshoulder rightshoulder leftelbow rightelbow leftwrist rightwrist leftpinky rightpinky leftindex "
     "rightindex leftthumb rightthumb lefthip righthip leftknee rightknee leftankle rightankle leftheel rightheel "
     "leftfootindex rightfootindex"},
};

enum { SYSTEMS = sizeof systems / sizeof *systems, MOST_POINTS = 33, NAME = ULNA_MARKER_NAME };

/* ---- names -------------------------------------------------------------------------------------------------------------- */

static int is_listed(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; length && (at = strstr(at, word)) != NULL; at++)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return 1;
    return 0;
}

/* A row of the system, without its side. The neck of BODY_25 and that of SMPL are different points. */
static const ulna_keypoint *find_row(const ulna_keypoint_system *system, const char *name, int has_side)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const ulna_keypoint *row = &rows[i];
        int is_of_hand = row->sides == 3, is_between = row->kind == ULNA_KEYPOINT_BETWEEN_SHOULDERS;
        int is_neck = strcmp(row->names, "neck") == 0;
        if (is_of_hand == system->is_hand && (is_of_hand || has_side == (row->sides != 0)) &&
            (!is_neck || is_between == system->neck_between) && is_listed(row->names, name))
            return row;
    }
    return NULL;
}

const ulna_keypoint *ulna_keypoint_named(const ulna_keypoint_system *system, const char *name, char *side)
{
    static const char *const words[] = {"left", "right", "l", "r"};
    char plain[NAME], rest[NAME];
    ulna_plain_name(name, plain);
    *side = 0;
    const ulna_keypoint *found = find_row(system, plain, 0);
    for (int way = 0; way < 8 && !found; way++) {
        size_t length = strlen(plain), n = strlen(words[way % 4]);
        int at_end = way >= 4;
        if (length <= n || strncmp(at_end ? plain + length - n : plain, words[way % 4], n) != 0)
            continue;
        snprintf(rest, sizeof rest, "%.*s", (int)(length - n), at_end ? plain : plain + n);
        const char *part = system->is_hand && strncmp(rest, "hand", 4) == 0 ? rest + 4 : rest;
        found = find_row(system, part, 1);
        *side = found ? words[way % 4][0] : 0;
    }
    return found;
}

/* ---- systems ------------------------------------------------------------------------------------------------------------ */

/* "0", "landmark_1", "kp2", ...: the same word and numbers from 0 on. */
static int are_numbers(const ulna_recording *recording)
{
    size_t same = strcspn(recording->names[0], "0123456789");
    for (int m = 0; m < recording->marker_count; m++) {
        char expected[NAME + 16];
        snprintf(expected, sizeof expected, "%.*s%d", (int)same, recording->names[0], m);
        if (strcmp(recording->names[m], expected) != 0)
            return 0;
    }
    return 1;
}

/* The name of key point `number`. */
static void numbered_name(const ulna_keypoint_system *system, int number, char name[NAME])
{
    const char *at = system->names;
    for (int skip = 0; skip < number && *at; skip++) {
        at += strcspn(at, " ");
        at += *at == ' ';
    }
    snprintf(name, NAME, "%.*s", (int)strcspn(at, " "), at);
}

/* How many of the system's key points the recording names. */
static int count_named(const ulna_keypoint_system *system, const ulna_recording *recording)
{
    const ulna_keypoint *row[MOST_POINTS] = {0};
    char side[MOST_POINTS] = {0}, is_there[MOST_POINTS] = {0}, name[NAME];
    int count = 0;
    for (int i = 0; i < system->count; i++) {
        numbered_name(system, i, name);
        row[i] = ulna_keypoint_named(system, name, &side[i]);
    }
    for (int m = 0; m < recording->marker_count; m++) {
        char its;
        const ulna_keypoint *found = ulna_keypoint_named(system, recording->names[m], &its);
        for (int i = 0; i < system->count && found; i++)
            if (row[i] == found && (side[i] == its || system->is_hand))
                is_there[i] = 1;
    }
    for (int i = 0; i < system->count; i++)
        count += is_there[i];
    return count;
}

const ulna_keypoint_system *ulna_keypoint_system_of(const ulna_recording *recording, int *count)
{
    enum { MOST_MARKERS = 1000 };
    const ulna_keypoint_system *best = NULL;
    *count = 0;
    if (recording->marker_count < 1 || recording->marker_count > MOST_MARKERS)
        return NULL;
    for (int s = 0; s < SYSTEMS; s++) {
        int found = are_numbers(recording) ? (recording->marker_count == systems[s].count) * systems[s].count
                                           : count_named(&systems[s], recording);
        if (10 * found >= 7 * systems[s].count && found > *count) {
            best = &systems[s];
            *count = found;
        }
    }
    return best;
}

const ulna_keypoint *ulna_keypoint_of(const ulna_keypoint_system *system, const ulna_recording *recording, int marker,
                                      char *side)
{
    char name[NAME];
    if (!are_numbers(recording))
        return ulna_keypoint_named(system, recording->names[marker], side);
    numbered_name(system, marker, name);
    return ulna_keypoint_named(system, name, side);
}
