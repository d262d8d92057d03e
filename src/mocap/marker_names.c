/*
 * Which bone a marker belongs to, by name: the names of common marker sets on one side, those of common skeletons on the other.
 *
 * Names alone would leave markers alone on joints that they cannot determine: one point on a ball joint leaves its twist open, and
 * where the point itself may sit a little elsewhere, all of it. So a marker that would be the only one
 *   - on a toe or finger, near to its joint, goes to the foot or hand; and where it would have to show several joints in a row, to
 *     the first of them;
 *   - on a joint of the spine with two or more rotations goes to the next joint of the spine that carries markers.
 * The places were rounded from anatomy and from two actors; calibrate_prior.c says how they are used.
 */
#include <stdio.h>
#include <string.h>

#include "base/algorithms.h"
#include "base/base.h"
#include "math/math3.h"
#include "mocap/anatomy.h"
#include "mocap/marker_names.h"
#include "mocap/take.h"
#include "model/model.h"

#define HIPS "root pelvis hips hip lowertorso"
#define TOP ULNA_BONES_TOP
#define CHEST "upperback upperspine spine2 chest1 chest2 chest thorax spine1 uppertorso spine torso"
#define ARM ULNA_BONES_ARM
#define FOREARM "radius forearm lowerarm loarm elbow"
/* A bone called wrist is a part of the forearm if there is a hand too, but not if the forearm is called elbow. */
#define WRIST "elbow hand&wrist " FOREARM " wrist hand"
#define FINGER_JOINTS "fingers finger handmiddle1 handindex1"
#define FINGERS FINGER_JOINTS " hand wrist"
#define THIGH ULNA_BONES_THIGH
#define SHANK ULNA_BONES_SHANK
#define FOOT ULNA_BONES_FOOT
#define TOE_JOINTS "toes toebase toe ball"
#define LUMBAR "lowerspine lowerback spine abdomen waist spine1 chest torso"
#define JOINT_SPREAD                                                                                                   \
    {                                                                                                                  \
        .012, .012, .012                                                                                               \
    } /* joint centres, of a model that may put them elsewhere */
#define TOES TOE_JOINTS " " FOOT

// clang-format off
static const ulna_spot table[] = {
    {"FHD FRONTHEAD TEMPLE AH", ULNA_MIDDLE_SIDED, "head", ULNA_JOINT, NULL, 0, {.08, .14, .10}, {.02, .03, .03}, {.015, .015, .015}, {0}},
    {"BHD BACKHEAD PH", ULNA_MIDDLE_SIDED, "head", ULNA_JOINT, NULL, 0, {.065, .085, -.04}, {.02, .03, .035}, {.015, .015, .015}, {0}},
    {"HEAD", ULNA_MIDDLE_SIDED, "head", ULNA_JOINT, NULL, 0, {.08, .11, .02}, {.02, .03, .04}, {.02, .02, .02}, {0}},
    {"HEAD ARIEL TOPHEAD HEADTOP THEA VERTEX", ULNA_MIDDLE, "head", ULNA_JOINT, NULL, 0, {0, .20, 0}, {.015, .03, .04}, {0}, {0}},
    {"FHEA FRONTHEAD HEADFRONT FOREHEAD SGL", ULNA_MIDDLE, "head", ULNA_JOINT, NULL, 0, {0, .14, .11}, {.015, .03, .03}, {0}, {0}},
    {"RHEA REARHEAD HEADREAR BACKHEAD", ULNA_MIDDLE, "head", ULNA_JOINT, NULL, 0, {0, .10, -.08}, {.015, .03, .03}, {0}, {0}},
    {"HEADSIDE HEAD1 HEAD2 HEAD3", ULNA_MIDDLE, "head", ULNA_JOINT, NULL, 0, {0, .13, .01}, {.07, .05, .07}, {0}, {0}},
    {"C7 CV7", ULNA_MIDDLE, TOP " neck", ULNA_MID_SHOULDERS, NULL, 0, {0, .105, -.05}, {.007, .028, .021}, {0}, {0}},
    {"T2 TV2 SPINETHORACIC2 SPINETOP BACKTOP CHEST2", ULNA_MIDDLE, TOP, ULNA_MID_SHOULDERS, NULL, 0, {0, .06, -.075}, {.01, .035, .025}, {0}, {0}},
    {"T7 TV7 MAI", ULNA_MIDDLE, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {0, -.05, -.10}, {.01, .035, .021}, {0}, {0}},
    {"LV1 LV3", ULNA_MIDDLE, LUMBAR, ULNA_MID_HIPS, NULL, 0, {0, .24, -.11}, {.01, .05, .025}, {0}, {0}},
    {"T10 T8 T12 TV8 TV10 TV12 SPINETHORACIC12", ULNA_MIDDLE, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {0, -.09, -.095}, {.007, .042, .021}, {0}, {0}},
    {"CLAV IJ SJN", ULNA_MIDDLE, TOP, ULNA_MID_SHOULDERS, NULL, 0, {0, .035, .09}, {.007, .028, .021}, {0}, {0}},
    {"CLA CLAVICLE", ULNA_MIDDLE_SIDED, TOP, ULNA_MID_SHOULDERS, NULL, 0, {.04, .035, .09}, {.014, .028, .021}, {.02, .02, .02}, {0}},
    {"STRN STERN STERNUM PX XIPH SXS", ULNA_MIDDLE, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {0, -.11, .125}, {.007, .035, .025}, {0}, {0}},
    {"CHEST CHEST1", ULNA_MIDDLE, TOP, ULNA_MID_SHOULDERS, NULL, 0, {0, -.02, .115}, {.02, .05, .025}, {0}, {0}},
    {"BACK", ULNA_MIDDLE_SIDED, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {.09, -.12, -.10}, {.03, .05, .025}, {0}, {0}},
    {"CHEST3", ULNA_MIDDLE, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {.09, -.12, -.10}, {.03, .05, .025}, {0}, {0}},
    {"CHEST4", ULNA_MIDDLE, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {-.09, -.12, -.10}, {.03, .05, .025}, {0}, {0}},
    {"RBAC RBAK RBACK ROFF ROFFSET", ULNA_MIDDLE, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {-.10, 0, -.10}, {.025, .042, .021}, {0}, {0}},
    {"LBAC LBAK LBACK", ULNA_MIDDLE, CHEST, ULNA_MID_SHOULDERS, NULL, 0, {.10, 0, -.10}, {.025, .042, .021}, {0}, {0}},
    {"SHO SHOULDER ACR ACROMION ACROMIUM SAE CAJ SHOULDERTOP SHOULDER1", ULNA_SIDED, "clavicle collar shoulder " ARM, ULNA_JOINT, ARM, 0, {-.02, .055, -.005}, {.025, .02, .025}, {.02, .02, .02}, {0}},
    {"SHOULDERBACK SHOULDER2", ULNA_SIDED, "clavicle collar shoulder " ARM, ULNA_JOINT, ARM, 0, {-.05, .03, -.075}, {.04, .03, .03}, {.02, .02, .02}, {0}},
    {"HGT", ULNA_SIDED, ARM, ULNA_ARM, NULL, 0, {.01, .035, .02}, {.025, .025, .025}, {.02, .02, .02}, {0}},
    {"SJC", ULNA_SIDED, ARM, ULNA_ARM, NULL, 0, {0, 0, 0}, JOINT_SPREAD, {.01, .01, .01}, {0}},
    {"UPA UPPERARM BICEP BICEPS UA ARM UARM UARMHIGH UARM2", ULNA_SIDED, ARM, ULNA_ARM, NULL, .5, {0, .03, -.03}, {.08, .03, .03}, {0}, {0}},
    {"ELB ELBOW LEL ELBOWLAT HLE ELBOWOUT UARM1", ULNA_SIDED, ARM, ULNA_ARM, NULL, 1, {-.005, .045, -.025}, {.02, .015, .02}, {.015, .015, .015}, {0}},
    {"EJC", ULNA_SIDED, ARM, ULNA_ARM, NULL, 1, {0, 0, 0}, JOINT_SPREAD, {.01, .01, .01}, {0}},
    {"MEL ELBIN HME ELBOWIN ELBOWMED ELBOWMEDIAL", ULNA_SIDED, ARM, ULNA_ARM, NULL, 1, {-.005, -.045, .025}, {.02, .02, .02}, {.015, .015, .015}, {0}},
    {"FRM FRA FOREARM FA FARM", ULNA_SIDED, FOREARM, ULNA_ARM, NULL, .6, {0, .04, -.03}, {.06, .03, .04}, {0}, {0}},
    {"WRA IWR RSP WRISTIN WRISTA WRISTLAT", ULNA_SIDED, WRIST, ULNA_ARM, ULNA_BONES_HAND, 0, {-.015, .035, .055}, {.02, .02, .02}, {.015, .02, .02}, {.25, 0, 0}},
    {"WRB OWR USP WRISTOUT WRISTB WRISTMED", ULNA_SIDED, WRIST, ULNA_ARM, ULNA_BONES_HAND, 0, {-.015, .035, -.055}, {.02, .02, .025}, {.015, .02, .02}, {.25, 0, 0}},
    {"WRI WRIST WRISTTOP", ULNA_SIDED, WRIST, ULNA_ARM, ULNA_BONES_HAND, 0, {-.01, .03, 0}, {.02, .02, .02}, {.02, .02, .02}, {.25, 0, 0}},
    {"WJC", ULNA_SIDED, WRIST, ULNA_ARM, ULNA_BONES_HAND, 0, {0, 0, 0}, JOINT_SPREAD, {.01, .01, .01}, {.25, 0, 0}},
    {"FIN FINGER HAND", ULNA_SIDED, FINGERS, ULNA_ARM, FINGER_JOINTS, 0, {.035, .035, 0}, {.02, .02, .02}, {.02, .02, .02}, {.08, 0, 0}},
    {"HM2", ULNA_SIDED, ULNA_BONES_HAND, ULNA_ARM, FINGER_JOINTS, 0, {0, .025, .02}, {.02, .02, .02}, {.02, .02, .02}, {.08, 0, 0}},
    {"HM5 HANDOUT", ULNA_SIDED, ULNA_BONES_HAND, ULNA_ARM, FINGER_JOINTS, 0, {0, .025, -.035}, {.025, .02, .02}, {.02, .02, .02}, {.08, 0, 0}},
    {"HM1 HANDIN", ULNA_SIDED, ULNA_BONES_HAND, ULNA_ARM, FINGER_JOINTS, 0, {0, .025, .035}, {.03, .02, .02}, {.02, .02, .02}, {.08, 0, 0}},
    {"HAND1 HAND2 HAND3", ULNA_SIDED, ULNA_BONES_HAND, ULNA_ARM, FINGER_JOINTS, 0, {-.05, .02, 0}, {.05, .03, .05}, {0}, {.08, 0, 0}},
    {"THM THUMB", ULNA_SIDED, "thumb thumb1 handthumb1 hand wrist", ULNA_ARM, "thumb thumb1 handthumb1", 0, {.02, .02, 0}, {.02, .02, .02}, {.02, .02, .02}, {.04, 0, .04}},
    {"FWT ASI ASIS IAS WAISTFRONT", ULNA_MIDDLE_SIDED, HIPS, ULNA_MID_HIPS, NULL, 0, {.135, .11, .06}, {.014, .021, .021}, {.015, .015, .015}, {0}},
    {"BWT PSI PSIS IPS", ULNA_MIDDLE_SIDED, HIPS, ULNA_MID_HIPS, NULL, 0, {.07, .125, -.14}, {.028, .021, .021}, {.015, .015, .015}, {0}},
    {"ICR ICT ILIACCREST", ULNA_MIDDLE_SIDED, HIPS, ULNA_MID_HIPS, NULL, 0, {.14, .18, -.02}, {.014, .021, .028}, {.02, .02, .02}, {0}},
    {"WAIST", ULNA_MIDDLE_SIDED, HIPS, ULNA_MID_HIPS, NULL, 0, {.15, .12, -.02}, {.025, .04, .05}, {.02, .02, .02}, {0}},
    {"WAISTBACK", ULNA_MIDDLE_SIDED, HIPS, ULNA_MID_HIPS, NULL, 0, {.09, .12, -.12}, {.04, .03, .03}, {.02, .02, .02}, {0}},
    {"HIP1", ULNA_MIDDLE, HIPS, ULNA_MID_HIPS, NULL, 0, {.13, .11, .06}, {.03, .03, .04}, {0}, {0}},
    {"HIP2", ULNA_MIDDLE, HIPS, ULNA_MID_HIPS, NULL, 0, {-.13, .11, .06}, {.03, .03, .04}, {0}, {0}},
    {"HIP3", ULNA_MIDDLE, HIPS, ULNA_MID_HIPS, NULL, 0, {.09, .12, -.12}, {.04, .03, .04}, {0}, {0}},
    {"HIP4", ULNA_MIDDLE, HIPS, ULNA_MID_HIPS, NULL, 0, {-.09, .12, -.12}, {.04, .03, .04}, {0}, {0}},
    {"SACR SACRUM VSAC VSACRAL S2 LV5 WAISTBACK", ULNA_MIDDLE, HIPS, ULNA_MID_HIPS, NULL, 0, {0, .11, -.14}, {.007, .021, .021}, {0}, {0}},
    {"PV1 PV2 PV3 PV4", ULNA_MIDDLE, HIPS, ULNA_MID_HIPS, NULL, 0, {0, .11, -.14}, {.05, .03, .03}, {0}, {0}},
    {"GRT TRO TROCHANTER HIP FTC GT", ULNA_SIDED, THIGH, ULNA_LEG, NULL, 0, {.09, 0, -.01}, {.02, .03, .03}, {.02, .02, .02}, {0}},
    {"HJC", ULNA_SIDED, THIGH, ULNA_LEG, NULL, 0, {0, 0, 0}, JOINT_SPREAD, {.01, .01, .01}, {0}},
    {"THI THIGH TH THIGH1", ULNA_SIDED, THIGH, ULNA_LEG, NULL, .5, {.085, 0, -.01}, {.035, .09, .04}, {0}, {0}},
    {"THIGH2", ULNA_SIDED, THIGH, ULNA_LEG, NULL, .8, {.055, 0, .02}, {.05, .10, .05}, {0}, {0}},
    {"THIGHUPPER TH1", ULNA_SIDED, THIGH, ULNA_LEG, NULL, .35, {.08, 0, .02}, {.03, .08, .04}, {0}, {0}},
    {"THIGHFRONT TH2", ULNA_SIDED, THIGH, ULNA_LEG, NULL, .55, {.03, 0, .08}, {.03, .08, .04}, {0}, {0}},
    {"THIGHREAR TH3 TH4", ULNA_SIDED, THIGH, ULNA_LEG, NULL, .55, {.06, 0, -.05}, {.03, .08, .04}, {0}, {0}},
    {"KNE KNEE LEK LFC FLE LE KNEEOUT KNEELAT KNEELATERAL", ULNA_SIDED, THIGH, ULNA_LEG, NULL, 1, {.055, .015, -.01}, {.01, .025, .02}, {.01, .015, .015}, {0}},
    {"MFC MKNE FME ME KNEIN KNEEIN KNEEMED KNEEMEDIAL", ULNA_SIDED, THIGH, ULNA_LEG, NULL, 1, {-.055, .015, -.01}, {.012, .025, .02}, {.01, .015, .015}, {0}},
    {"KJC", ULNA_SIDED, THIGH, ULNA_LEG, NULL, 1, {0, 0, 0}, JOINT_SPREAD, {.01, .01, .01}, {0}},
    {"FAX HF", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .05, {.05, 0, -.025}, {.012, .02, .015}, {.01, .015, .015}, {0}},
    {"SHN TIB SHIN SHANK SHA SK SHIN2", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .45, {.065, 0, -.01}, {.035, .09, .045}, {0}, {0}},
    {"SHIN1", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .8, {.045, 0, .01}, {.04, .10, .05}, {0}, {0}},
    {"TTB TTC TT", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .1, {0, 0, .05}, {.015, .03, .02}, {.015, .02, .015}, {0}},
    {"SHANKUPPER SH1 TB1", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .3, {.06, 0, .02}, {.03, .08, .04}, {0}, {0}},
    {"SHANKFRONT SH2 TB2", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .5, {.02, 0, .05}, {.03, .08, .04}, {0}, {0}},
    {"SHANKREAR SH3 SH4 TB3", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .5, {.05, 0, -.03}, {.03, .08, .04}, {0}, {0}},
    {"SK1 SK2 SK3 SK4", ULNA_SIDED, SHANK, ULNA_LEG, NULL, .5, {.05, 0, 0}, {.04, .1, .05}, {0}, {0}},
    {"ANK ANKLE FAL LM ANKLEOUT LMA LMAL MALL ANKLELAT ANKLELATERAL", ULNA_SIDED, FOOT " " SHANK, ULNA_FOOT, FOOT, 0, {.045, .005, 0}, {.01, .015, .015}, {.01, .012, .012}, {0, -.42, 0}},
    {"MMA TAM MM ANKLEIN MMAL ANKIN ANKLEMED ANKLEMEDIAL", ULNA_SIDED, FOOT " " SHANK, ULNA_FOOT, FOOT, 0, {-.04, .015, 0}, {.01, .015, .015}, {.01, .012, .012}, {0, -.42, 0}},
    {"AJC", ULNA_SIDED, FOOT " " SHANK, ULNA_FOOT, FOOT, 0, {0, 0, 0}, JOINT_SPREAD, {.01, .01, .01}, {0, -.42, 0}},
    {"FOOT1 FOOT2 FOOT3", ULNA_SIDED, FOOT, ULNA_FOOT, NULL, .5, {0, 0, 0}, {.05, .04, .10}, {0}, {0}},
    {"FT1 FT2 FT3", ULNA_SIDED, FOOT, ULNA_FOOT, NULL, .5, {.02, .03, 0}, {.03, .03, .05}, {0}, {0}},
    {"HEE HEEL CAL FCC CA HEELBACK", ULNA_SIDED, FOOT, ULNA_FOOT, NULL, 0, {.005, -.05, -.055}, {.015, .025, .02}, {.015, .02, .02}, {0}},
    {"MIDFOOTSUP", ULNA_SIDED, FOOT, ULNA_FOOT, NULL, .5, {0, .03, 0}, {.02, .02, .03}, {.02, .02, .02}, {0}},
    {"MIDFOOTLAT", ULNA_SIDED, FOOT, ULNA_FOOT, NULL, .5, {.04, -.02, 0}, {.02, .02, .03}, {.02, .02, .02}, {0}},
    {"TOE MT2 TOETIP TO TOE1", ULNA_SIDED, TOES, ULNA_FOOT, TOE_JOINTS, 0, {0, .01, .045}, {.02, .025, .03}, {.015, .02, .02}, {0, -.06, .13}},
    {"FM2 SM", ULNA_SIDED, FOOT, ULNA_FOOT, TOE_JOINTS, 0, {.005, .02, 0}, {.015, .02, .025}, {.015, .02, .02}, {0, -.06, .13}},
    {"FM5 VM", ULNA_SIDED, FOOT, ULNA_FOOT, TOE_JOINTS, 0, {.055, .005, -.02}, {.015, .02, .025}, {.015, .02, .02}, {0, -.06, .13}},
    {"FM1 FM", ULNA_SIDED, FOOT, ULNA_FOOT, TOE_JOINTS, 0, {-.035, .005, 0}, {.015, .02, .025}, {.015, .02, .02}, {0, -.06, .13}},
    {"MT5 MET TOEOUT FOREFOOTOUT TOELAT FOOTLATERAL", ULNA_SIDED, TOES, ULNA_FOOT, TOE_JOINTS, 0, {.06, .005, .02}, {.02, .02, .03}, {.015, .02, .02}, {0, -.06, .13}},
    {"MT1 PM1 TOEIN FOREFOOTIN TOEMED FOOTMEDIAL", ULNA_SIDED, TOES, ULNA_FOOT, TOE_JOINTS, 0, {-.03, 0, .01}, {.02, .02, .03}, {.015, .02, .02}, {0, -.06, .13}},
};
// clang-format on

enum { NAME = ULNA_MARKER_NAME };

/* ---- names --------------------------------------------------------------------------------------------------------------- */

void ulna_plain_name(const char *name, char plain[ULNA_MARKER_NAME])
{
    const char *from = ulna_name_without_prefix(name);
    size_t length = 0;
    for (; *from && length + 1 < NAME; from++)
        if (ulna_is_alphanumeric(*from))
            plain[length++] = (char)ulna_lower(*from);
    plain[length] = 0;
    if (length > 9 && memcmp(plain, "mixamorig", 9) == 0)
        memmove(plain, plain + 9, strlen(plain + 9) + 1);
}

/* The next word of a list into `word`, small; 0 at the end. */
static int next_word(const char **list, char word[NAME])
{
    size_t length = 0;
    while (**list == ' ')
        ++*list;
    for (; **list && **list != ' ' && length + 1 < NAME; ++*list)
        word[length++] = (char)ulna_lower(**list);
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

static int find_named(const ulna_model *model, const char *bone, char side)
{
    char plain[NAME];
    for (int b = 0; b < model->nb; b++) {
        ulna_plain_name(ulna_model_body_name(model, b), plain);
        if (is_bone(plain, bone, side))
            return b;
    }
    return ULNA_NONE;
}

int ulna_bone_find(const ulna_model *model, const char *bones, char side)
{
    char bone[NAME];
    while (next_word(&bones, bone)) {
        const char *name = strchr(bone, '&');
        int found = find_named(model, name ? name + 1 : bone, side);
        if (name && found != ULNA_NONE) {
            bone[name - bone] = 0;
            found = find_named(model, bone, side) == ULNA_NONE ? ULNA_NONE : found;
        }
        if (found != ULNA_NONE)
            return found;
    }
    return ULNA_NONE;
}

static int is_listed(const char *list, const char *name)
{
    char word[NAME];
    while (next_word(&list, word))
        if (strcmp(name, word) == 0)
            return 1;
    return 0;
}

/* What is left of a name without its side, in the ways to read it: "lkne", "leftkne", "knel", "kneleft", "waistlfront", and so for the
 * right. `side` is 0 if it has none of that kind. Returns 0 after the last way. */
static int without_side(const char *plain, int way, char rest[NAME], char *side)
{
    static const char *const words[] = {"l", "r", "left", "right"};
    static const char before[] = "waist";
    if (way >= 12)
        return 0;
    const char *word = words[way % 4];
    size_t length = strlen(plain), n = strlen(word), at = way < 4 ? 0 : way < 8 ? length - n : sizeof before - 1;
    *side = 0;
    if (length > n && (way < 8 || (length > at + n && strncmp(plain, before, at) == 0)) &&
        strncmp(plain + at, word, n) == 0) {
        *side = *word;
        memcpy(rest, plain, at);
        memcpy(rest + at, plain + at + n, length - n - at);
        rest[length - n] = 0;
    }
    return 1;
}

static const ulna_spot *find_spot(const char *marker, char *side)
{
    const size_t rows = sizeof table / sizeof *table;
    char plain[NAME], rest[NAME];
    ulna_plain_name(marker, plain);
    *side = 0;
    for (size_t i = 0; i < rows; i++)
        if (table[i].sides == ULNA_MIDDLE && is_listed(table[i].markers, plain))
            return &table[i];
    for (int way = 0; without_side(plain, way, rest, side); way++)
        for (size_t i = 0; i < rows && *side && (way < 4 || strlen(rest) > 2); i++) /* LLM, but not LML */
            if (table[i].sides != ULNA_MIDDLE && is_listed(table[i].markers, rest))
                return &table[i];
    return NULL;
}

/* The same behind as many words and their "_" as it takes: `prefix` letters. */
static const ulna_spot *find_behind(const char *marker, char *side, size_t *prefix)
{
    const char *name = ulna_name_without_prefix(marker);
    const ulna_spot *found = find_spot(name, side);
    *prefix = 0;
    for (const char *at = name; !found && (at = strchr(at, '_')) != NULL; at++) {
        found = find_spot(at + 1, side);
        *prefix = (size_t)(at + 1 - name);
    }
    return found;
}

const ulna_spot *ulna_spot_find(const char *marker, char *side)
{
    size_t prefix;
    return find_behind(marker, side, &prefix);
}

/* Whether a marker's name is known: by itself, or behind a prefix such as "Skeleton_", which a person's markers have in common, but not
 * Club_Head. */
static int is_known(const ulna_recording *recording, int marker)
{
    enum { COMMON = 3 };
    char side;
    size_t prefix, other;
    const char *name = ulna_name_without_prefix(recording->names[marker]);
    if (!find_behind(name, &side, &prefix))
        return 0;
    int alike = prefix ? 0 : COMMON;
    for (int m = 0; m < recording->marker_count && alike < COMMON; m++) {
        const char *its = ulna_name_without_prefix(recording->names[m]);
        alike += strncmp(its, name, prefix) == 0 && find_behind(its, &side, &other) && other == prefix;
    }
    return alike >= COMMON;
}

int ulna_marker_body(const ulna_model *model, const char *marker)
{
    char side;
    const ulna_spot *found = model && marker ? ulna_spot_find(marker, &side) : NULL;
    return found ? ulna_bone_find(model, found->bones, found->sides == ULNA_SIDED ? side : 0) : ULNA_NONE;
}

/* Of plain names: 1 if they differ by left against right, -1 if by right against left, else 0. */
static int compare_sides(const char *a, const char *b)
{
    static const char *const sides[][2] = {
        {"l", "r"}, {"left", "right"}, {"lef", "righ"}}; /* the last: before a common t */
    size_t m = strlen(a), n = strlen(b), begin = 0, end = 0;
    if (m > n + 1 || n > m + 1)
        return 0;
    while (begin < m && begin < n && a[begin] == b[begin])
        begin++;
    while (end < m - begin && end < n - begin && a[m - 1 - end] == b[n - 1 - end])
        end++;
    m -= begin + end; /* only the difference is left */
    n -= begin + end;
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) {
        size_t l = strlen(sides[i][0]), r = strlen(sides[i][1]);
        if (m == l && n == r && !strncmp(a + begin, sides[i][0], l) && !strncmp(b + begin, sides[i][1], r))
            return 1;
        if (m == r && n == l && !strncmp(a + begin, sides[i][1], r) && !strncmp(b + begin, sides[i][0], l))
            return -1;
    }
    return 0;
}

static int compare_names(const char *a, const char *b)
{
    char first[NAME], second[NAME];
    ulna_plain_name(a, first);
    ulna_plain_name(b, second);
    return compare_sides(first, second);
}

int ulna_names_are_mirrored(const char *left, const char *right)
{
    return compare_names(left, right) > 0;
}

int ulna_names_are_partners(const char *a, const char *b)
{
    return compare_names(a, b) != 0;
}

int ulna_marker_partner(const ulna_marker_set *set, size_t marker)
{
    char name[NAME], other[NAME];
    ulna_plain_name(set->items[marker].marker, name);
    for (size_t i = set->count; i-- > 0;) {
        ulna_plain_name(set->items[i].marker, other);
        if (compare_sides(name, other))
            return (int)i;
    }
    return ULNA_NONE;
}

int ulna_mirror_body(const ulna_model *model, int body)
{
    char name[NAME], other[NAME];
    ulna_plain_name(ulna_model_body_name(model, body), name);
    for (int b = 0; b < model->nb; b++) {
        ulna_plain_name(ulna_model_body_name(model, b), other);
        if (compare_sides(name, other))
            return b;
    }
    return ULNA_NONE;
}

/* ---- markers alone on a joint --------------------------------------------------------------------------------------- */

#define SHORT_LEVER                                                                                                    \
    0.08 /* m on an adult: nearer to its joint, a single marker shows more of its own place than of the angle */

enum { MOST_ROUNDS = 8 };

/* Markers from `first` on were put on bodies by their names. */
typedef struct names_job {
    const ulna_figure *figure;
    ulna_marker_set *set;
    size_t first;
    int *body; /* set->count: bodies, as ulna_anatomy_create wants them */
    double *weight;
    ulna_anatomy *anatomy;
} names_job;

/* Markers on a body and beyond it. */
static int markers_from(const names_job *job, int body)
{
    const ulna_model *model = job->figure->model;
    int first = model->body[body].preorder, count = 0;
    for (int b = body; b < model->nb; b++)
        if (model->body[b].preorder >= first && model->body[b].preorder < first + model->body[body].subtree)
            count += job->anatomy->own[b];
    return count;
}

/* Of a run of joints that one marker has to show, the first: those behind it stay at rest. */
static int first_of_run(const names_job *job, int body)
{
    const ulna_model *model = job->figure->model;
    for (int up = model->body[body].parent; up != ULNA_NONE; up = model->body[body].parent) {
        if (job->anatomy->is_root[up] || job->anatomy->is_on_axis[up] || !model->body[up].dof_count ||
            markers_from(job, up) > 1)
            break;
        body = up;
    }
    return body;
}

/* The next body of the same spine or neck that carries markers, upward rather than downward; ULNA_NONE if there is none. */
static int marked_neighbour(const names_job *job, int body)
{
    const ulna_model *model = job->figure->model;
    const ulna_anatomy *a = job->anatomy;
    int found = ULNA_NONE;
    for (int b = 0; b < model->nb; b++)
        if (a->chain[b] == a->chain[body] && b != body && a->own[b] && (found == ULNA_NONE || b > body) &&
            !(found > body))
            found = b;
    return found;
}

/* Where a marker that is alone on its body is better placed; the same body if it is well placed. */
static int better_body(const names_job *job, const ulna_attachment *item)
{
    const ulna_model *model = job->figure->model;
    int body = item->body, parent = model->body[body].parent;
    if (job->anatomy->own[body] != 1 || job->anatomy->is_root[body] || parent == ULNA_NONE)
        return body;
    if (job->anatomy->is_on_axis[body]) {
        int neighbour = model->body[body].dof_count >= 2 ? marked_neighbour(job, body) : ULNA_NONE;
        return neighbour == ULNA_NONE ? body : neighbour;
    }
    char side;
    double place[3], axes[9], offset[3];
    const ulna_spot *spot = ulna_spot_find(item->marker, &side);
    ulna_figure_place(job->figure, spot, side, body, place, axes);
    ulna_figure_to_body(job->figure, body, place, offset);
    int is_short = ulna_norm(offset) < SHORT_LEVER * job->figure->size;
    if (!model->body[body].dof_count || markers_from(job, body) > 1)
        return body;
    int first = first_of_run(job, body);
    return first == body && is_short ? parent : first;
}

/* Returns through `moved` how many went elsewhere: then a chain may have become longer, in which others are alone. */
static ulna_status move_lone_markers(names_job *job, int *moved)
{
    size_t count = job->set->count;
    const ulna_allocator *allocator = &job->set->allocator;
    job->body = ulna_allocate(allocator, count, sizeof *job->body);
    job->weight = ulna_allocate(allocator, count, sizeof *job->weight);
    ulna_status status = job->body && job->weight ? ULNA_OK : ULNA_ERR_MEMORY;
    for (size_t i = 0; i < count && status == ULNA_OK; i++) {
        job->body[i] = job->set->items[i].body;
        job->weight[i] = 1;
    }
    if (status == ULNA_OK)
        status = ulna_anatomy_create(job->figure->model, job->body, job->weight, (int)count, allocator, &job->anatomy);
    for (size_t i = job->first; i < count && status == ULNA_OK; i++) {
        ulna_attachment *item = &job->set->items[i];
        int to = better_body(job, item);
        job->anatomy->own[item->body]--;
        job->anatomy->own[to]++;
        *moved += to != item->body;
        item->body = to;
    }
    ulna_anatomy_destroy(job->anatomy);
    job->anatomy = NULL; /* the next round may have no memory for one */
    ulna_release(allocator, job->body, count, sizeof *job->body);
    ulna_release(allocator, job->weight, count, sizeof *job->weight);
    return status;
}

/* ---- the set -------------------------------------------------------------------------------------------------------- */

static int has_marker(const ulna_marker_set *set, const ulna_recording *recording, int marker)
{
    for (size_t i = 0; i < set->count; i++)
        if (ulna_recording_find(recording, set->items[i].marker) == marker)
            return 1;
    return 0;
}

/* With the first few names, so that one sees what kind they are. A caller can say what to do behind it: 70 characters are left. */
static ulna_status fail_names(const ulna_recording *recording, const char *known, ulna_error *error)
{
    enum { ROOM = 50, LONGEST = 24 };
    char names[ROOM + 1] = "";
    int shown = 0;
    if (known)
        return ulna_fail(
            error, ULNA_ERR_MODEL,
            "no bone of the skeleton has a name known for these markers, not even for %.*s: a table must say "
            "which bone each marker is on",
            LONGEST, known);
    for (size_t used = 0; shown < recording->marker_count; shown++) {
        int length =
            snprintf(names + used, sizeof names - used, "%s%.*s", shown ? ", " : "", LONGEST, recording->names[shown]);
        if ((size_t)length >= sizeof names - used) {
            names[used] = '\0';
            break;
        }
        used += (size_t)length;
    }
    return ulna_fail(
        error, ULNA_ERR_MODEL,
        "no name of a marker is known (%s%s): LKNE, R_FLE, LKneeOut, RKJC or C7 would be. A table must say "
        "which bone each marker is on",
        names, shown < recording->marker_count ? ", ..." : "");
}

static void set_offsets(const ulna_figure *figure, ulna_marker_set *set, size_t first)
{
    for (size_t i = first; i < set->count; i++) {
        char side;
        double place[3], axes[9];
        const ulna_spot *spot = ulna_spot_find(set->items[i].marker, &side);
        ulna_figure_place(figure, spot, side, set->items[i].body, place, axes);
        ulna_figure_to_body(figure, set->items[i].body, place, set->items[i].offset);
    }
}

ulna_status ulna_marker_set_from_names(const ulna_model *model, const ulna_recording *recording, ulna_marker_set *set,
                                       int *unknown, ulna_error *error)
{
    static const double nowhere[3] = {0, 0, 0};
    if (!model || !recording || !set)
        return ulna_fail(error, ULNA_ERR_ARGUMENT, "a model, a recording and a marker set are needed");
    ulna_figure figure;
    int missed = 0;
    const char *known = NULL;
    ulna_status status = ulna_figure_create(model, &set->allocator, &figure);
    names_job job = {.figure = &figure, .set = set, .first = set->count};
    for (int m = 0; m < recording->marker_count && status == ULNA_OK; m++) {
        if (ulna_recording_find(recording, recording->names[m]) != m || has_marker(set, recording, m))
            continue;
        int is_there = is_known(recording, m);
        known = is_there ? recording->names[m] : known;
        int body = is_there ? ulna_marker_body(model, recording->names[m]) : ULNA_NONE;
        if (body == ULNA_NONE)
            missed++;
        else
            status = ulna_marker_set_add(set, recording->names[m], body, nowhere, 1);
    }
    for (int round = 0, moved = 1; round < MOST_ROUNDS && moved && status == ULNA_OK; round++) {
        moved = 0;
        status = move_lone_markers(&job, &moved);
    }
    if (status == ULNA_OK)
        set_offsets(&figure, set, job.first);
    ulna_figure_release(&figure);
    if (unknown)
        *unknown = missed;
    if (status != ULNA_OK)
        return ulna_fail(error, status, "the marker set could not be made: %s", ulna_status_text(status));
    return set->count ? ULNA_OK : fail_names(recording, known, error);
}
