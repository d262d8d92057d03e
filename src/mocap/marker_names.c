/*
 * Which bone a marker belongs to, by name: the names of common marker sets on one side, those of common skeletons on the other.
 *
 * A row of the table has the marker's names, the bones that it may sit on (the first that the skeleton has is taken), and
 * where it sits on an adult of 1.75 m at rest: a fraction of the way to the next joint, then metres to the left, up and
 * forward. That is a start for ulna_calibrate, written from anatomy. Rows with a side are written for the left.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "kinematics/pose.h"
#include "math/math3.h"
#include "mocap/take.h"
#include "model/model.h"

#define HIPS "root pelvis hips hip lowertorso"
#define TOP "thorax upperspine spine3 spine2 chest2 chest1 chest uppertorso upperback spine1 spine torso"
#define CHEST "upperback upperspine spine2 chest1 chest2 chest thorax spine1 uppertorso spine torso"
#define LOIN "lowerback middlespine spine1 chest abdomen spine lowerspine torso"
#define ARM "humerus upperarm uparm arm shoulder"
#define FOREARM "radius forearm lowerarm loarm elbow"
#define WRIST "wrist " FOREARM " hand"
#define FINGERS "fingers finger handmiddle1 handindex1 hand wrist"
#define THIGH "femur thigh upleg upperleg hip"
#define SHANK "tibia shank calf shin lowerleg loleg leg knee"
#define FOOT "foot ankle"
#define TOES "toes toebase toe ball " FOOT

typedef struct row {
    const char *markers; /* without the L or R of a side */
    int sides;           /* 0: in the middle; 1: left and right; 2: left and right of a bone in the middle */
    const char *bones;   /* without what says the side */
    double along;
    double at[3]; /* m: left, up, forward */
} row;

static const row table[] = {
    {"FHD FRONTHEAD TEMPLE", 2, "head", 0, {.07, .09, .09}},
    {"BHD BACKHEAD", 2, "head", 0, {.07, .09, -.09}},
    {"HEAD ARIEL TOPHEAD HEADTOP THEA VERTEX", 0, "head", 0, {0, .18, 0}},
    {"FHEA FRONTHEAD HEADFRONT FOREHEAD", 0, "head", 0, {0, .10, .10}},
    {"RHEA REARHEAD HEADREAR BACKHEAD", 0, "head", 0, {0, .10, -.10}},
    {"C7", 0, "lowerneck " TOP " neck", 0, {0, 0, -.07}},
    {"T10 T8 T12", 0, LOIN, 1, {0, 0, -.10}},
    {"CLAV IJ", 0, TOP, 1, {0, -.04, .08}},
    {"CLA CLAVICLE", 2, TOP, 1, {.04, -.03, .08}},
    {"STRN STERN STERNUM PX XIPH", 0, CHEST, 1, {0, 0, .10}},
    {"RBAC RBAK RBACK ROFF ROFFSET", 0, CHEST, 1, {-.08, 0, -.10}},
    {"LBAC LBAK LBACK", 0, CHEST, 1, {.08, 0, -.10}},
    {"SHO SHOULDER ACR ACROMION ACROMIUM", 1, "clavicle collar shoulder " ARM, .8, {0, .05, 0}},
    {"UPA UPPERARM BICEP BICEPS", 1, ARM, .5, {0, 0, -.04}},
    {"ELB ELBOW LEL ELBOWLAT", 1, ARM, 1, {0, 0, -.05}},
    {"MEL ELBIN ELBOWMED ELBOWMEDIAL", 1, ARM, 1, {0, 0, .04}},
    {"FRM FRA FOREARM", 1, FOREARM, .5, {0, 0, -.04}},
    {"WRA IWR WRISTA WRISTLAT", 1, WRIST, 1, {0, 0, .04}},
    {"WRB OWR WRISTB WRISTMED", 1, WRIST, 1, {0, 0, -.04}},
    {"WRI WRIST", 1, WRIST, 1, {0, .02, 0}},
    {"FIN FINGER HAND", 1, FINGERS, 0, {.02, .01, 0}},
    {"THM THUMB", 1, "thumb thumb1 handthumb1 hand wrist", 0, {.02, .01, 0}},
    {"FWT ASI ASIS", 2, HIPS, 0, {.12, .02, .14}},
    {"BWT PSI PSIS", 2, HIPS, 0, {.06, .04, -.08}},
    {"ICR ILIACCREST", 2, HIPS, 0, {.14, .09, 0}},
    {"SACR SACRUM VSAC VSACRAL S2", 0, HIPS, 0, {0, .04, -.09}},
    {"PV1 PV2 PV3 PV4", 0, HIPS, 0, {0, .04, -.09}},
    {"GRT TRO TROCHANTER HIP", 1, THIGH, 0, {.09, 0, 0}},
    {"THI THIGH", 1, THIGH, .5, {.07, 0, 0}},
    {"THIGHUPPER TH1", 1, THIGH, .35, {.08, 0, .02}},
    {"THIGHFRONT TH2", 1, THIGH, .55, {.03, 0, .08}},
    {"THIGHREAR TH3 TH4", 1, THIGH, .55, {.06, 0, -.05}},
    {"KNE KNEE LEK LFC KNEELAT KNEELATERAL", 1, THIGH, 1, {.06, 0, 0}},
    {"MFC MKNE KNEIN KNEEMED KNEEMEDIAL", 1, THIGH, 1, {-.06, 0, 0}},
    {"SHN TIB SHIN SHANK SHA", 1, SHANK, .5, {.05, 0, .02}},
    {"TTB", 1, SHANK, .1, {0, 0, .05}},
    {"SHANKUPPER SH1 TB1", 1, SHANK, .3, {.06, 0, .02}},
    {"SHANKFRONT SH2 TB2", 1, SHANK, .5, {.02, 0, .05}},
    {"SHANKREAR SH3 SH4 TB3", 1, SHANK, .5, {.05, 0, -.03}},
    {"ANK ANKLE LMA LMAL MALL ANKLELAT ANKLELATERAL", 1, FOOT " " SHANK, 0, {.05, 0, 0}},
    {"MMA MMAL ANKIN ANKLEMED ANKLEMEDIAL", 1, FOOT " " SHANK, 0, {-.04, .01, 0}},
    {"SK1 SK2 SK3 SK4", 1, SHANK, .5, {.05, 0, 0}},
    {"FT1 FT2 FT3", 1, FOOT, .5, {.02, .03, 0}},
    {"HEE HEEL CAL", 1, FOOT, 0, {0, -.05, -.06}},
    {"MIDFOOTSUP", 1, FOOT, .5, {0, .03, 0}},
    {"MIDFOOTLAT", 1, FOOT, .5, {.04, -.02, 0}},
    {"TOE MT2 TOETIP TO", 1, TOES, 0, {0, .02, .02}},
    {"MT5 MET TOELAT FOOTLATERAL", 1, TOES, 0, {.05, 0, 0}},
    {"MT1 PM1 TOEMED FOOTMEDIAL", 1, TOES, 0, {-.03, 0, 0}},
};

enum { NAME = 64 };

/* ---- names --------------------------------------------------------------------------------------------------------------- */

/* What stands behind the last colon, small letters and digits only. */
static void plain_name(const char *name, char plain[NAME])
{
    const char *colon = strrchr(name, ':'), *from = colon ? colon + 1 : name;
    size_t length = 0;
    memset(plain, 0, NAME);
    for (; *from && length + 1 < NAME; from++)
        if (isalnum((unsigned char)*from))
            plain[length++] = (char)tolower((unsigned char)*from);
    if (strncmp(plain, "mixamorig", 9) == 0 && plain[9])
        memmove(plain, plain + 9, strlen(plain + 9) + 1);
}

/* The next word of a list into `word`, small; 0 at the end. */
static int next_word(const char **list, char word[NAME])
{
    size_t length = 0;
    while (**list == ' ')
        ++*list;
    for (; **list && **list != ' ' && length + 1 < NAME; ++*list)
        word[length++] = (char)tolower((unsigned char)**list);
    word[length] = 0;
    return length > 0;
}

/* "lfemur", "leftfemur", "femurl" or "femurleft" for side 'l'; "femur" for side 0. */
static int is_bone(const char *plain, const char *bone, char side)
{
    size_t length = strlen(bone);
    if (!side)
        return strcmp(plain, bone) == 0;
    const char *word = side == 'l' ? "left" : "right", letter[2] = {side, 0};
    const char *sides[] = {word, letter};
    for (int i = 0; i < 2; i++) {
        size_t n = strlen(sides[i]);
        if (strlen(plain) != length + n)
            continue;
        if ((strncmp(plain, sides[i], n) == 0 && strcmp(plain + n, bone) == 0) ||
            (strncmp(plain, bone, length) == 0 && strcmp(plain + length, sides[i]) == 0))
            return 1;
    }
    return 0;
}

static int find_bone(const ulna_model *model, const char *bones, char side)
{
    char bone[NAME], plain[NAME];
    while (next_word(&bones, bone))
        for (int b = 0; b < model->nb; b++) {
            plain_name(ulna_model_body_name(model, b), plain);
            if (is_bone(plain, bone, side))
                return b;
        }
    return ULNA_NONE;
}

int ulna_bone_named(const ulna_model *model, const char *bones, char side)
{
    return find_bone(model, bones, side);
}

static int is_listed(const char *list, const char *name)
{
    char word[NAME];
    while (next_word(&list, word))
        if (strcmp(name, word) == 0)
            return 1;
    return 0;
}

/* What is left of a name without its side, in the ways to read it: "lkne", "leftkne", "knel", "kneleft", and so for the
 * right. `side` is 0 if it has none of that kind. Returns 0 after the last way. */
static int without_side(const char *plain, int way, char rest[NAME], char *side)
{
    static const char *const words[] = {"l", "r", "left", "right"};
    if (way >= 8)
        return 0;
    const char *word = words[way % 4];
    size_t length = strlen(plain), n = strlen(word);
    int at_end = way >= 4;
    *side = 0;
    if (length > n && strncmp(at_end ? plain + length - n : plain, word, n) == 0) {
        *side = *word;
        memcpy(rest, at_end ? plain : plain + n, length - n);
        rest[length - n] = 0;
    }
    return 1;
}

/* The row of a marker, and its side: 'l', 'r' or 0. */
static const row *find_row(const char *marker, char *side)
{
    const size_t rows = sizeof table / sizeof *table;
    char plain[NAME], rest[NAME];
    plain_name(marker, plain);
    *side = 0;
    for (size_t i = 0; i < rows; i++)
        if (!table[i].sides && is_listed(table[i].markers, plain))
            return &table[i];
    for (int way = 0; without_side(plain, way, rest, side); way++)
        for (size_t i = 0; i < rows && *side; i++)
            if (table[i].sides && is_listed(table[i].markers, rest))
                return &table[i];
    return NULL;
}

int ulna_marker_body(const ulna_model *model, const char *marker)
{
    char side;
    const row *found = model && marker ? find_row(marker, &side) : NULL;
    return found ? find_bone(model, found->bones, found->sides == 1 ? side : 0) : ULNA_NONE;
}

/* The other side's spelling: the first "left" or "right", or a leading or trailing l or r, exchanged. */
static int swap_side(const char *name, char other[2 * NAME], int way)
{
    static const char *words[][2] = {{"left", "right"}, {"Left", "Right"}, {"LEFT", "RIGHT"}};
    size_t length = strlen(name);
    if (!length || length + 2 >= 2 * NAME)
        return 0;
    for (int i = 0; i < 6 && way == 0; i++) {
        const char *from = words[i / 2][i % 2], *to = words[i / 2][1 - i % 2], *at = strstr(name, from);
        if (!at)
            continue;
        snprintf(other, 2 * NAME, "%.*s%s%s", (int)(at - name), name, to, at + strlen(from));
        return 1;
    }
    static const char letters[] = "lrLR", swapped[] = "rlRL";
    const char *at = strchr(letters, way == 1 ? name[0] : name[length - 1]);
    if (way == 0 || !at)
        return 0;
    memcpy(other, name, length + 1);
    other[way == 1 ? 0 : length - 1] = swapped[at - letters];
    return 1;
}

int ulna_mirror_body(const ulna_model *model, int body)
{
    char other[2 * NAME];
    for (int way = 0; way < 3; way++)
        if (swap_side(ulna_model_body_name(model, body), other, way)) {
            int found = ulna_model_find_body(model, other);
            if (found != ULNA_NONE && found != body)
                return found;
        }
    return ULNA_NONE;
}

/* ---- where on the bone ------------------------------------------------------------------------------------------------------- */

static int between(const ulna_model *model, const ulna_pose *pose, int from, int to, double difference[3])
{
    double a[3], b[3];
    if (from == ULNA_NONE || to == ULNA_NONE || from == to)
        return 0;
    ulna_pose_body(pose, from, a, NULL);
    ulna_pose_body(pose, to, b, NULL);
    for (int k = 0; k < 3; k++)
        difference[k] = b[k] - a[k];
    (void)model;
    return ulna_norm(difference) > 1e-6;
}

int ulna_model_directions(const ulna_model *model, const ulna_pose *rest, double axes[9])
{
    double *left = axes, *up = axes + 3, *forward = axes + 6;
    int high = find_bone(model, "head neck " TOP, 0);
    if (!between(model, rest, find_bone(model, THIGH, 'r'), find_bone(model, THIGH, 'l'), left) &&
        !between(model, rest, find_bone(model, ARM, 'r'), find_bone(model, ARM, 'l'), left))
        return 0;
    if (!between(model, rest, 0, high, up))
        return 0;
    double length = ulna_norm(left), along = ulna_dot(left, up) / (length * length);
    for (int k = 0; k < 3; k++) {
        up[k] -= along * left[k];
        left[k] /= length;
    }
    length = ulna_norm(up);
    if (!(length > 1e-6))
        return 0;
    for (int k = 0; k < 3; k++)
        up[k] /= length;
    ulna_cross(left, up, forward);
    return 1;
}

/* Where the row puts a marker, in the frame of its body. */
static void place(const ulna_model *model, const ulna_pose *rest, const double *axes, const row *found, char side,
                  int body, double offset[3])
{
    double R[9], world[3] = {0}, bone[3];
    int child = ULNA_NONE;
    for (int b = body + 1; b < model->nb && child == ULNA_NONE; b++)
        if (model->body[b].parent == body)
            child = b;
    if (child != ULNA_NONE && between(model, rest, body, child, bone))
        for (int k = 0; k < 3; k++)
            world[k] += found->along * bone[k];
    for (int k = 0; k < 3 && axes; k++)
        world[k] +=
            (side == 'r' ? -1 : 1) * found->at[0] * axes[k] + found->at[1] * axes[3 + k] + found->at[2] * axes[6 + k];
    ulna_pose_body(rest, body, NULL, R);
    ulna_unrotate(R, world, offset);
}

static int has_marker(const ulna_marker_set *set, const ulna_recording *recording, int marker)
{
    for (size_t i = 0; i < set->count; i++)
        if (ulna_recording_find(recording, set->items[i].marker) == marker)
            return 1;
    return 0;
}

/* The first few names, so that one sees what kind they are. */
static ulna_status fail_names(const ulna_recording *recording, const char *known, ulna_error *error)
{
    char names[100] = "";
    int shown = 0;
    for (; shown < recording->marker_count && shown < 6 && strlen(names) < 70; shown++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.24s", shown ? ", " : "",
                 recording->names[shown]);
    const char *more = shown < recording->marker_count ? ", ..." : "";
    return known
               ? ulna_fail(
                     error, ULNA_ERR_MODEL,
                     "no bone of the skeleton has a name known for these markers (%s%s), not even for %.24s: give a marker set",
                     names, more, known)
               : ulna_fail(
                     error, ULNA_ERR_MODEL,
                     "none of the markers (%s%s) has a name from a common marker set, such as LKNE, R.Heel or C7: give a marker set",
                     names, more);
}

ulna_status ulna_marker_set_from_names(const ulna_model *model, const ulna_recording *recording, ulna_marker_set *set,
                                       int *unknown, ulna_error *error)
{
    if (!model || !recording || !set)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model, a recording and a marker set are needed");
    ulna_pose *rest;
    double axes[9];
    int missed = 0;
    const char *known = NULL;
    ulna_status status = ulna_pose_create(model, &set->allocator, &rest, error);
    if (status != ULNA_OK)
        return status;
    status = ulna_pose_forward(rest, model->rest);
    int directed = status == ULNA_OK && ulna_model_directions(model, rest, axes);
    for (int m = 0; m < recording->marker_count && status == ULNA_OK; m++) {
        char side;
        double offset[3];
        if (ulna_recording_find(recording, recording->names[m]) != m || has_marker(set, recording, m))
            continue;
        const row *found = find_row(recording->names[m], &side);
        int body = found ? find_bone(model, found->bones, found->sides == 1 ? side : 0) : ULNA_NONE;
        known = found ? recording->names[m] : known;
        if (body == ULNA_NONE) {
            missed++;
            continue;
        }
        place(model, rest, directed ? axes : NULL, found, side, body, offset);
        status = ulna_marker_set_add(set, recording->names[m], body, offset, 1);
    }
    ulna_pose_destroy(rest);
    if (unknown)
        *unknown = missed;
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the marker set could not be made: %s", ulna_status_text(status));
    return set->count ? ULNA_OK : fail_names(recording, known, error);
}
