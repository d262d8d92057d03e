/*
 * Reads AMC, Acclaim's motion file, for a skeleton that is at hand.
 *
 * Frames: a line with the frame's number, then a line per bone: its name and the values of its degrees of freedom in the
 * order in which the ASF lists them. A bone that a frame does not name keeps its value from the frame before, in the first
 * its rest value. Angles are degrees unless :RADIANS; lengths are in the skeleton's unit, which files of ours repeat in a
 * comment. A last frame that is cut off is left out: one that ends within a line, or before the bones that the frame before
 * has if the file is :FULLY-SPECIFIED.
 */
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/acclaim.h"
#include "formats/format.h"
#include "formats/text/scan.h"
#include "math/math3.h"

enum { NAME = 256 };

/* A file that tells every value needs two bytes for each. Those that leave bones out may make a frame of less, but not
 * without end: so many doubles for a byte. */
enum { MOST_PER_BYTE = 16, ALWAYS = 1 << 16 };

typedef struct amc_body {
    const char *name; /* in the file */
    int next;         /* the body that followed it in the frame before; of the extra one: the first */
    int seen;         /* the last frame that named it, from 1 */
} amc_body;

typedef struct amc_reader {
    ulna_scan scan;
    const ulna_read_options *options;
    const ulna_model *model;
    ulna_content *content;
    ulna_error *error;
    ulna_names names;
    int nb, nq;
    amc_body *body;                  /* nb + 1: the last one is the start of a frame */
    ulna_acclaim_channels *channels; /* nb */
    double stated_unit;              /* by the file; 0: none */
    double unit, angle;
    int is_full;             /* :FULLY-SPECIFIED */
    int last;                /* the body that was named last in this frame, nb at its start */
    int moving;              /* bodies that have channels */
    int named, named_before; /* how many of them this frame has named, and the frame before */
    size_t first_frame_at;
    long long number; /* of this frame, in the file */
    int jump_line, repeat_line;
    long long unknown, absent, jumps, repeats;
} amc_reader;

static ulna_status prepare(amc_reader *r)
{
    const ulna_allocator *allocator = &r->content->remarks.allocator;
    r->body = ulna_allocate(allocator, (size_t)r->nb + 1, sizeof *r->body);
    ulna_status status = r->body ? ulna_acclaim_names(r->model, &r->names, NULL) : ULNA_ERR_MEMORY;
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory to read a motion");
    for (int b = 0; b <= r->nb; b++)
        r->body[b] = (amc_body){.name = b < r->nb ? ulna_names_at(&r->names, b) : "", .next = ULNA_NONE};
    status =
        ulna_acclaim_list(r->model, r->options->channels, r->options->channel_count, allocator, &r->channels, r->error);
    for (int b = 0; b < r->nb && status == ULNA_OK; b++)
        r->moving += r->channels[b].count > 0;
    return status;
}

/* ---- frames --------------------------------------------------------------------------------------------------------- */

/* Frames name bones in the same order, so the guess is nearly always right. */
static int find_body(amc_reader *r, ulna_word word)
{
    int guess = r->body[r->last].next;
    if (guess != ULNA_NONE && ulna_word_is(word, r->body[guess].name))
        return guess;
    char name[NAME];
    int is_whole = ulna_word_copy(word, name, sizeof name);
    int found = is_whole ? ulna_names_find_like(&r->names, name) : ULNA_NONE;
    if (found == ULNA_NONE && is_whole) /* a name that this library would not have written */
        found = ulna_model_find_body(r->model, name);
    if (found != ULNA_NONE)
        r->body[r->last].next = found;
    return found;
}

static ulna_status read_values(amc_reader *r, int b, ulna_word name, double *q)
{
    ulna_word word;
    const amc_body *body = &r->body[b];
    const ulna_acclaim_channels *channels = &r->channels[b];
    for (int i = 0; i < channels->count; i++) {
        const ulna_acclaim_channel *channel = &channels->channel[i];
        double value;
        if (!ulna_scan_word(&r->scan, NULL, &word))
            return ulna_scan_fail(&r->scan, &name, r->error, ULNA_ERR_PARSE, "bone '%.60s' needs %d values, but has %d",
                                  body->name, channels->count, i);
        if (!ulna_word_number(word, &value))
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "'%.*s' is not a number",
                                  (int)(word.length < 40 ? word.length : 40), word.text);
        q[r->model->body[b].coordinate + channel->coordinate] = value * (channel->kind == 't' ? r->unit : r->angle);
    }
    if (ulna_scan_word(&r->scan, NULL, &word) && word.text[0] != '#')
        return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "bone '%.60s' has more than its %d values",
                              body->name, channels->count);
    return ULNA_OK;
}

static ulna_status read_bone(amc_reader *r, ulna_word name)
{
    ulna_clip *clip = &r->content->clip;
    int found = find_body(r, name);
    if (found == ULNA_NONE) {
        if (!r->unknown++)
            ulna_remarks_add(&r->content->remarks, r->scan.line, ulna_scan_byte(&r->scan, name.text),
                             "the skeleton has no bone '%.*s'; its values are ignored",
                             (int)(name.length < 60 ? name.length : 60), name.text);
        return ULNA_OK;
    }
    amc_body *body = &r->body[found];
    if (body->seen == clip->frame_count && !r->repeats++)
        r->repeat_line = r->scan.line;
    int is_moving = r->channels[found].count > 0;
    r->named += is_moving && body->seen != clip->frame_count;
    body->seen = clip->frame_count;
    r->last = found;
    return is_moving ? read_values(r, found, name, ulna_clip_frame(clip, clip->frame_count - 1)) : ULNA_OK;
}

/* From the first frame, the number of all: growing step by step would copy and clear far more memory than the file has. */
static void reserve(amc_reader *r, size_t at, size_t most)
{
    ulna_clip *clip = &r->content->clip;
    size_t bytes = at - r->first_frame_at, left = bytes ? (r->scan.length - at) / bytes + 2 : 0;
    if (left < most && left < 1 << 30 && ulna_clip_resize(clip, r->nq, clip->frame_count + (int)left) == ULNA_OK)
        ulna_clip_resize(clip, r->nq, clip->frame_count - (int)left);
}

/* The unit that the file states if it is one of ours, else that of the skeleton. */
static void choose_unit(amc_reader *r)
{
    double asf = r->options->skeleton_unit_m;
    r->unit = r->options->unit_m > 0 ? r->options->unit_m : r->stated_unit > 0 ? r->stated_unit : asf;
    if (r->unit == 0) {
        r->unit = ULNA_ACCLAIM_UNIT;
        ulna_remarks_add(&r->content->remarks, 0, -1,
                         "the unit of length is that of an ASF, which is not known; the usual 1/0.45 inch is assumed");
    } else if (r->unit == r->stated_unit && asf > 0 && fabs(asf / r->unit - 1) > 1e-9)
        ulna_remarks_add(
            &r->content->remarks, 0, -1,
            "the file was written for an ASF of length %.6g, but this ASF has %.6g; translations are read in the file's own unit",
            ULNA_INCH_M / r->unit, ULNA_INCH_M / asf);
}

static ulna_status start_frame(amc_reader *r, int number, const ulna_word *word)
{
    ulna_clip *clip = &r->content->clip;
    int frame = clip->frame_count;
    size_t at = (size_t)(word->text - r->scan.data), nq = (size_t)r->nq;
    size_t most = ((size_t)MOST_PER_BYTE * r->scan.length + ALWAYS) / (nq ? nq : 1);
    if (frame == 0) {
        choose_unit(r);
        clip->first_frame = number;
        r->first_frame_at = at;
    } else {
        r->absent += r->moving - r->named;
        if (number != r->number + 1 && !r->jumps++)
            r->jump_line = r->scan.line;
    }
    r->number = number;
    if (frame == 1)
        reserve(r, at, most);
    if ((size_t)frame >= most)
        return ulna_scan_fail(&r->scan, word, r->error, ULNA_ERR_LIMIT, "too many frames that list almost no bones");
    ulna_status status = ulna_clip_resize(clip, r->nq, frame + 1);
    if (status != ULNA_OK)
        return ulna_scan_fail(&r->scan, word, r->error, status, "no memory for frame %d", frame + 1);
    if (nq)
        memcpy(ulna_clip_frame(clip, frame), frame ? ulna_clip_frame(clip, frame - 1) : ulna_model_rest(r->model),
               nq * sizeof(double));
    r->named_before = r->named;
    r->named = 0;
    r->last = r->nb;
    return ULNA_OK;
}

static void read_comment(amc_reader *r, ulna_word word)
{
    double length;
    if (ulna_word_is(word, ULNA_AMC_LENGTH) && ulna_scan_word(&r->scan, NULL, &word) &&
        ulna_word_number(word, &length) && length > 0 && ulna_is_unit(ULNA_INCH_M / length))
        r->stated_unit = ULNA_INCH_M / length;
}

static void read_keyword(amc_reader *r, ulna_word word)
{
    double rate;
    if (ulna_word_is_like(word, ":radians"))
        r->angle = 1;
    else if (ulna_word_is_like(word, ":degrees"))
        r->angle = ULNA_PI / 180;
    else if (ulna_word_is_like(word, ":fully-specified"))
        r->is_full = 1;
    else if (ulna_word_is_like(word, ":samples-per-second") && ulna_scan_word(&r->scan, NULL, &word) &&
             ulna_word_number(word, &rate) && rate > 0 && isfinite(1 / rate))
        r->content->clip.frame_seconds = 1 / rate;
}

/* Leaves the last frame out. */
static void cut_frame(amc_reader *r, const char *why)
{
    ulna_clip *clip = &r->content->clip;
    ulna_clip_resize(clip, r->nq, clip->frame_count - 1);
    ulna_remarks_add(&r->content->remarks, r->scan.line, -1, "the last frame is cut off (%s) and is left out", why);
}

/* Nothing but gaps follows. */
static int is_at_end(amc_reader *r)
{
    ulna_scan ahead = r->scan;
    ulna_word word;
    while (ulna_scan_line(&ahead))
        if (ulna_scan_word(&ahead, NULL, &word))
            return 0;
    return 1;
}

static ulna_status read_frames(amc_reader *r)
{
    ulna_word word, more;
    ulna_clip *clip = &r->content->clip;
    ulna_status status = ULNA_OK;
    ulna_error before = r->error ? *r->error : (ulna_error){0};
    while (status == ULNA_OK && ulna_scan_line(&r->scan)) {
        int number;
        if (!ulna_scan_word(&r->scan, NULL, &word))
            continue;
        if (word.text[0] == '#') {
            if (clip->frame_count == 0)
                read_comment(r, word);
            continue;
        }
        int is_number = word.text[0] <= '9' && ulna_word_integer(word, &number);
        if (word.text[0] == ':')
            read_keyword(r, word);
        else if (is_number && (!ulna_scan_word(&r->scan, NULL, &more) || more.text[0] == '#'))
            status = start_frame(r, number, &word);
        else if (is_number)
            status =
                ulna_scan_fail(&r->scan, &more, r->error, ULNA_ERR_PARSE, "a frame number must be alone on its line");
        else if (clip->frame_count == 0)
            status = ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "the first frame number is missing");
        else
            status = read_bone(r, word);
    }
    if (status == ULNA_ERR_PARSE && clip->frame_count > 1 && is_at_end(r)) {
        cut_frame(r, "within a line");
        if (r->error)
            *r->error = before; /* a call that succeeds leaves it as it was */
        return ULNA_OK;
    }
    if (status == ULNA_OK && clip->frame_count > 1 && r->named < r->named_before && (r->is_full || r->named == 0))
        cut_frame(r, "bones are missing");
    else if (clip->frame_count > 0)
        r->absent += r->moving - r->named;
    return status;
}

/* ---- the file ------------------------------------------------------------------------------------------------------- */

static void remark_oddities(amc_reader *r)
{
    ulna_remarks *remarks = &r->content->remarks;
    if (r->unknown > 1)
        ulna_remarks_add(remarks, 0, -1, "%lld lines name bones that the skeleton does not have; they are ignored",
                         r->unknown);
    if (r->absent)
        ulna_remarks_add(remarks, 0, -1, "%lld times a frame does not list a bone; the bone keeps its value",
                         r->absent);
    if (r->repeats)
        ulna_remarks_add(remarks, r->repeat_line, -1, "%lld times a frame lists a bone twice; the last values are used",
                         r->repeats);
    if (r->jumps)
        ulna_remarks_add(remarks, r->jump_line, -1,
                         "frame numbers are not consecutive (%lld times); frames are read in the order of the file",
                         r->jumps);
}

/* As it is known by its keywords or its first comment, and then by a number alone in a line. */
int ulna_amc_sniff(const char *data, size_t length)
{
    ulna_scan scan = ulna_scan_start(data, length);
    ulna_word word, more;
    int is_told = 0, number;
    while (ulna_scan_line(&scan)) {
        if (!ulna_scan_word(&scan, NULL, &word))
            continue;
        if (word.text[0] == '#')
            is_told |= ulna_word_is_like(word, "#!OML:ASF");
        else if (word.text[0] != ':')
            return is_told && ulna_word_integer(word, &number) && !ulna_scan_word(&scan, NULL, &more);
        else if (ulna_word_is_listed(word, ":fully-specified :degrees :radians :samples-per-second"))
            is_told = 1;
        else if (ulna_word_is_listed(word, ":version :root :bonedata"))
            return 0;
    }
    return is_told;
}

ulna_status ulna_amc_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    if (!options->model)
        return ulna_fail(error, ULNA_ERR_STATE, "reading an AMC file needs its skeleton: give the ASF file");
    const ulna_allocator *allocator = &content->remarks.allocator;
    amc_reader r = {.scan = ulna_scan_start(data, length),
                    .options = options,
                    .model = options->model,
                    .content = content,
                    .error = error,
                    .names = ulna_names_empty(allocator),
                    .nb = ulna_model_body_count(options->model),
                    .nq = ulna_model_coordinate_count(options->model),
                    .angle = ULNA_PI / 180};
    ulna_status status = prepare(&r);
    if (status == ULNA_OK)
        status = read_frames(&r);
    if (status == ULNA_OK && content->clip.frame_count == 0)
        status = ulna_fail(error, ULNA_ERR_PARSE, "the file has no frames");
    if (status == ULNA_OK)
        remark_oddities(&r);
    content->source = (ulna_source){.unit_m = r.unit, .degrees = r.angle != 1, .up = 'y'};
    ulna_names_release(&r.names);
    ulna_release(allocator, r.body, (size_t)r.nb + 1, sizeof *r.body);
    ulna_release(allocator, r.channels, (size_t)r.nb, sizeof *r.channels);
    return status;
}
