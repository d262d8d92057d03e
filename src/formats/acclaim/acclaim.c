/* What ASF and AMC share: units, axes, joints that they can say, and names. */
#include "formats/acclaim/acclaim.h"
#include "formats/format.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/numbers.h"
#include "formats/text/scan.h"
#include "math/math3.h"
#include "motion/convert.h"

enum { NAME = 256 };

/* ---- numbers -------------------------------------------------------------------------------------------------------- */

void ulna_acclaim_tip(const double direction[3], double length, double unit_m, double tip[3])
{
    double largest = fmax(fabs(direction[0]), fmax(fabs(direction[1]), fabs(direction[2]))), unit[3];
    for (int k = 0; k < 3; k++)
        unit[k] = largest > 0 ? direction[k] / largest : 0;
    double size = ulna_norm(unit);
    for (int k = 0; k < 3; k++)
        tip[k] = size > 0 ? unit[k] / size * length * unit_m : 0;
}

void ulna_acclaim_axis(const double angles[3], const char order[3], double rotation[9])
{
    ulna_identity9(rotation);
    for (int i = 0; i < 3; i++) {
        double about[9], product[9];
        int axis = order[i] - 'X';
        ulna_rotation_about(axis, angles[axis], about);
        ulna_multiply9(about, rotation, product);
        ulna_copy9(product, rotation);
    }
    for (int i = 0; i < 9; i++)
        rotation[i] += 0.0; /* no -0 */
}

double ulna_acclaim_length(const ulna_write_options *options, double *unit_m)
{
    double length = options->unit_m > 0 ? ulna_round_digits(ULNA_INCH_M / options->unit_m, 15) : ULNA_ACCLAIM_LENGTH;
    *unit_m = ULNA_INCH_M / length;
    return length;
}

/* ---- joints --------------------------------------------------------------------------------------------------------- */

/* 0 if the joint is none that Acclaim can say: its motion must be plan->pre T R plan->preT, each axis once at most. */
static int channels_of(const ulna_joint_plan *plan, ulna_acclaim_channels *channels)
{
    int place[6] = {-1, -1, -1, -1, -1, -1}, rotations = 0; /* by segment */
    *channels = (ulna_acclaim_channels){0};
    for (int s = 0; s < plan->segment_count; s++) {
        unsigned segment = plan->segment[s];
        int is_translation = ulna_segment_is_translation(segment);
        if (segment >= ULNA_SEGMENT_BALL || plan->sign < 0 || place[segment] >= 0 || (is_translation && rotations > 0))
            return 0;
        place[segment] = s;
        rotations += !is_translation;
    }
    for (int axis = 0; axis < 3; axis++)
        if (place[ULNA_SEGMENT_TX + axis] >= 0) {
            int k = channels->count++;
            channels->channel[k].kind = 't';
            channels->channel[k].axis = (char)('x' + axis);
            channels->channel[k].coordinate = place[ULNA_SEGMENT_TX + axis];
        }
    for (int s = plan->segment_count - 1; s >= plan->segment_count - rotations; s--) {
        int k = channels->count++;
        channels->channel[k].kind = 'r';
        channels->channel[k].axis = (char)('x' + plan->segment[s]);
        channels->channel[k].coordinate = s;
    }
    return 1;
}

/* Puts the channels of each body in the order of the list. 0 if it is not of this model: each coordinate must be there once,
 * and rotations in the order of their application, since that is what an ASF means by it. `place` has room for nq. */
static int reorder(const ulna_model *model, const int *listed, ulna_acclaim_channels *list, int *place)
{
    for (int i = 0; i < model->nq; i++)
        place[i] = ULNA_NONE;
    for (int i = 0; i < model->nq; i++) {
        if (listed[i] < 0 || listed[i] >= model->nq || place[listed[i]] != ULNA_NONE)
            return 0;
        place[listed[i]] = i;
    }
    for (int b = 0; b < model->nb; b++) {
        ulna_acclaim_channel *channel = list[b].channel;
        const int *own = place + model->body[b].coordinate;
        for (int k = 1; k < list[b].count; k++)
            for (int j = k; j > 0 && own[channel[j].coordinate] < own[channel[j - 1].coordinate]; j--) {
                ulna_acclaim_channel later = channel[j - 1];
                if (later.kind == 'r' && channel[j].kind == 'r')
                    return 0;
                channel[j - 1] = channel[j];
                channel[j] = later;
            }
    }
    return 1;
}

ulna_status ulna_acclaim_list(const ulna_model *model, const int *listed, int listed_count,
                              const ulna_allocator *allocator, ulna_acclaim_channels **channels, ulna_error *error)
{
    size_t nb = (size_t)model->nb, nq = (size_t)model->nq;
    ulna_acclaim_channels *list = ulna_allocate(allocator, nb, sizeof *list);
    int *place = listed ? ulna_allocate(allocator, nq, sizeof *place) : NULL;
    ulna_status status = ULNA_OK;
    if (!list || (listed && nq && !place))
        status = ulna_fail(error, ULNA_ERR_MEMORY, "no memory for the channels of %d bones", model->nb);
    for (int b = 0; b < model->nb && status == ULNA_OK; b++) {
        ulna_joint_plan plan;
        ulna_joint_resolve(&model->joint[b], &plan, NULL);
        if (!channels_of(&plan, &list[b]))
            status = ulna_fail(error, ULNA_ERR_UNSUPPORTED,
                               "Acclaim files hold translations and angles; the joint of '%.60s' (%s%s) has other "
                               "coordinates",
                               ulna_model_body_name(model, b), plan.sign < 0 ? "reversed " : "",
                               ulna_joint_type_name(model->joint[b].type));
    }
    if (status == ULNA_OK && listed && (listed_count != model->nq || !reorder(model, listed, list, place)))
        status = ulna_fail(error, ULNA_ERR_ARGUMENT, "the list of channels does not match this skeleton");
    ulna_release(allocator, place, nq, sizeof *place);
    if (status != ULNA_OK) {
        ulna_release(allocator, list, nb, sizeof *list);
        list = NULL;
    }
    *channels = list;
    return status;
}

/* ---- names ---------------------------------------------------------------------------------------------------------- */

/* Readers split lines at gaps and take brackets and commas for gaps. */
static int is_gap(char c)
{
    return c && ((unsigned char)c <= ' ' || c == 127 || strchr("(),", c));
}

/* They know comments, keywords, numbers, begin and end by their looks. */
static int is_special(const char *name)
{
    ulna_word word = {name, strlen(name)};
    double number;
    return name[0] == '#' || name[0] == ':' || ulna_word_number(word, &number) ||
           ulna_word_is_listed(word, "begin end " ULNA_ACCLAIM_ROOT);
}

/* The name as a word; 1 if it had to be changed for that. */
static int make_word(const char *name, char word[NAME])
{
    int length = snprintf(word, NAME, "%s", name), is_changed = 0;
    for (char *at = word; *at; at++)
        if (is_gap(*at)) {
            *at = '_';
            is_changed = 1;
        }
    if (is_special(word)) {
        if (length < NAME - 1)
            memmove(word + 1, word, (size_t)length + 1);
        word[0] = '_';
        is_changed = 1;
    }
    return is_changed;
}

/* A word for a body whose own name is none, and that no other body has. */
static void find_word(const ulna_model *model, const ulna_names *names, int body, char word[NAME])
{
    char stem[NAME];
    memcpy(stem, word, NAME);
    for (long long number = body; ulna_model_find_body(model, word) >= 0 || ulna_names_find(names, word) >= 0;
         number += ulna_model_body_count(model))
        if (snprintf(word, NAME, "%s_%lld", stem, number) >= NAME)
            memcpy(stem, "body", 5); /* too long: any name will do */
}

ulna_status ulna_acclaim_names(const ulna_model *model, ulna_names *names, ulna_remarks *remarks)
{
    int changed = 0, first = 0;
    ulna_status status = ulna_names_add(names, ULNA_ACCLAIM_ROOT);
    for (int b = 1; b < ulna_model_body_count(model) && status == ULNA_OK; b++) {
        char word[NAME];
        if (make_word(ulna_model_body_name(model, b), word)) {
            find_word(model, names, b, word);
            first = changed++ ? first : b;
        }
        status = ulna_names_add(names, word);
    }
    if (status == ULNA_OK && strcmp(ulna_model_body_name(model, 0), ULNA_ACCLAIM_ROOT) != 0)
        ulna_remarks_add(remarks, 0, -1, "body '%.60s' is written as 'root'", ulna_model_body_name(model, 0));
    if (status == ULNA_OK && changed)
        ulna_remarks_add(remarks, 0, -1, "%d name%s changed to what the format allows: '%.60s' is written as '%.60s'",
                         changed, changed > 1 ? "s" : "", ulna_model_body_name(model, first),
                         ulna_names_at(names, first));
    return status;
}

int ulna_acclaim_free_name(const ulna_names *names, const char *stem, char name[256])
{
    for (int number = 1; number < INT_MAX; number++) {
        int length = number == 1 ? snprintf(name, NAME, "%s", stem) : snprintf(name, NAME, "%s%d", stem, number);
        if (length >= NAME)
            return 0;
        if (ulna_names_find(names, name) == ULNA_NONE)
            return 1;
    }
    return 0;
}

int ulna_acclaim_is_end(const char *end, const char *bone)
{
    size_t length = strlen(bone);
    if (strncmp(end, bone, length) != 0 || strncmp(end + length, "_end", 4) != 0)
        return 0;
    return strspn(end + length + 4, "0123456789") == strlen(end + length + 4);
}

/* ---- skeletons with joints that Acclaim can say --------------------------------------------------------------------- */

/*
 * Translations, then rotations, each about or along another axis of one frame. Any other joint is replaced by the nearest such
 * one that makes all its motions:
 *
 *   quaternion, rotation vector, swing-twist     rotations z y x
 *   the same axis twice (ZXZ, RxTyRx)            rotations z y x
 *   translations after rotations                 translations along all three axes
 *   reversed                                     the same rotations, by the angles with the other sign
 */
typedef struct saying {
    char rotations[4], translations[4];            /* "ZYX", "xyz" */
    int has_same_rotations, has_same_translations; /* each is one of the old joint */
    int is_general;                                /* the old joint has no such parts at all */
} saying;

static saying say_joint(const ulna_joint_plan *plan)
{
    saying s = {.has_same_rotations = 1, .has_same_translations = 1};
    unsigned rotated = 0, translated = 0;
    int rotations = 0, translations = 0;
    for (int i = 0; i < plan->segment_count; i++) {
        unsigned segment = plan->segment[i];
        if (ulna_segment_is_translation(segment)) {
            unsigned bit = 1u << (segment - ULNA_SEGMENT_TX);
            s.has_same_translations = s.has_same_translations && !rotations && !s.is_general && !(translated & bit);
            translated |= bit;
        } else if (segment >= ULNA_SEGMENT_BALL || rotated & 1u << segment) {
            s.is_general |= segment >= ULNA_SEGMENT_BALL;
            s.has_same_rotations = 0;
        } else {
            rotated |= 1u << segment;
            s.rotations[rotations++] = (char)('X' + segment);
        }
    }
    if (!s.has_same_rotations)
        memcpy(s.rotations, "ZYX", 4);
    for (unsigned axis = 0; axis < 3 && translated; axis++)
        if (!s.has_same_translations || translated & 1u << axis)
            s.translations[translations++] = (char)('x' + axis);
    return s;
}

static ulna_joint make_joint(const ulna_model *model, int body, const ulna_joint_plan *plan, const saying *s)
{
    char order[16] = "";
    size_t used = 0;
    for (const char *c = s->translations; *c; c++)
        used += (size_t)snprintf(order + used, sizeof order - used, "T%c", *c);
    for (const char *c = s->rotations; *c; c++)
        used += (size_t)snprintf(order + used, sizeof order - used, "R%c", *c - 'X' + 'x');
    int is_free = strlen(s->translations) == 3 && strlen(s->rotations) == 3;
    ulna_joint joint = is_free              ? ulna_joint_free_euler(s->rotations)
                       : s->translations[0] ? ulna_joint_sequence(order)
                                            : ulna_joint_euler(s->rotations);
    if (is_free && body == 0) /* about the axes of the world: readers do not agree on what `orientation` means */
        ulna_transpose9(model->body[0].placement_rotation, joint.frame);
    else
        ulna_copy9(s->is_general ? model->joint[body].frame : plan->pre, joint.frame);
    return joint;
}

/* Which old degree of freedom a new one is. Those that stay stand before all that have no single number. */
static void match_dofs(const ulna_joint_plan *old, const ulna_joint_plan *fresh, const saying *s, int from[6])
{
    double rotated = 0;
    for (int i = 0; i < 9; i++)
        rotated = fmax(rotated, fabs(old->pre[i] - fresh->pre[i]));
    for (int i = 0; i < fresh->segment_count; i++) {
        int stays = rotated < 1e-12 &&
                    (ulna_segment_is_translation(fresh->segment[i]) ? s->has_same_translations : s->has_same_rotations);
        from[i] = ULNA_NONE;
        for (int o = 0; o < old->segment_count && stays; o++)
            if (old->segment[o] == fresh->segment[i])
                from[i] = o;
    }
}

static ulna_status replace_joint(const ulna_model *model, ulna_builder *builder, int body, int *dropped,
                                 ulna_error *error)
{
    const ulna_joint_plan old = builder->body[body].plan;
    saying s = say_joint(&old);
    ulna_joint joint = make_joint(model, body, &old, &s);
    ulna_joint_plan fresh;
    int from[6];
    ulna_status status = ulna_joint_resolve(&joint, &fresh, error);
    if (status != ULNA_OK)
        return status;
    match_dofs(&old, &fresh, &s, from);
    return ulna_builder_replace_joint(builder, model, body, &joint, from, old.sign, dropped, error);
}

static void remark_changes(const ulna_model *model, int changed, int first, int dropped, ulna_remarks *remarks)
{
    ulna_remarks_add(remarks, 0, -1, "%d joint%s written as angles, the only kind the format has: '%.60s' (%s%s)%s",
                     changed, changed > 1 ? "s are" : " is", ulna_model_body_name(model, first),
                     model->joint[first].reversed ? "reversed " : "", ulna_joint_type_name(model->joint[first].type),
                     changed > 1 ? " and others" : "");
    if (dropped)
        ulna_remarks_add(remarks, 0, -1, "limits of %d degree%s of freedom are lost", dropped, dropped > 1 ? "s" : "");
}

ulna_status ulna_acclaim_model(const ulna_model *model, const ulna_allocator *allocator, ulna_model **result,
                               ulna_remarks *remarks, ulna_error *error)
{
    ulna_builder *builder = NULL;
    ulna_status status = ULNA_OK;
    int changed = 0, first = 0, dropped = 0;
    *result = NULL;
    for (int b = 0; b < model->nb && status == ULNA_OK; b++) {
        ulna_acclaim_channels channels;
        ulna_joint_plan plan;
        ulna_joint_resolve(&model->joint[b], &plan, NULL);
        if (channels_of(&plan, &channels))
            continue;
        first = changed++ ? first : b;
        if (!builder)
            status = ulna_builder_from_model(model, allocator, &builder, error);
        if (status == ULNA_OK)
            status = replace_joint(model, builder, b, &dropped, error);
    }
    if (status == ULNA_OK && builder)
        status = ulna_builder_build(builder, allocator, result, error);
    ulna_builder_destroy(builder);
    if (status == ULNA_OK && changed)
        remark_changes(model, changed, first, dropped, remarks);
    return status;
}
