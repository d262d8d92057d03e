/*
 * Reads BVH: a tree of joints (HIERARCHY), then one row of channel values for each frame (MOTION).
 *
 * A joint stands at OFFSET in its parent's axes and rotates by its rotation channels in the order listed, each about
 * the axes that the ones before have rotated: "Zrotation Xrotation Yrotation" is Rz Rx Ry. Position channels move it
 * along the parent's axes, wherever they are listed. Angles are degrees. An End Site becomes a fixed body NAME_end.
 *
 * The clip first gets the rows as they stand; bvh_model.c makes a model of the joints and coordinates of the rows.
 *
 * Files stray from the format in many ways; what is well defined all the same is read, with a remark.
 */
#include "formats/bvh/bvh.h"
#include "formats/format.h"

#include <stdio.h>

#include "base/base.h"
#include "formats/text/names.h"
#include "formats/text/scan.h"
#include "model/builder.h"

enum { NAME = 256 };

typedef struct bvh_reader {
    ulna_scan scan;
    ulna_bvh *file;
    ulna_remarks *remarks;
    ulna_error *error;
    int open;      /* the joint whose block is being read, or -1 */
    double frames; /* as MOTION counts them, or -1 */
} bvh_reader;

/* ---- words ------------------------------------------------------------------------------------------------------ */

static int is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\f' || c == '\v';
}

/* The next word of the file, on this line or a later one; a brace is a word of its own. 0 at the end. */
static int next_word(bvh_reader *r, ulna_word *word)
{
    ulna_scan *s = &r->scan;
    for (;;) {
        while (s->here < s->end && is_blank(*s->here))
            s->here++;
        if (s->here < s->end)
            break;
        if (!ulna_scan_line(s)) {
            *word = (ulna_word){s->end, 0};
            return 0;
        }
    }
    const char *from = s->here++;
    if (*from != '{' && *from != '}')
        while (s->here < s->end && !is_blank(*s->here) && *s->here != '{' && *s->here != '}')
            s->here++;
    *word = (ulna_word){from, (size_t)(s->here - from)};
    return 1;
}

/* In MOTION: words end at colons too. */
static int next_header_word(bvh_reader *r, ulna_word *word)
{
    while (!ulna_scan_word(&r->scan, ":", word))
        if (!ulna_scan_line(&r->scan))
            return 0;
    return 1;
}

static int shown(ulna_word word)
{
    return (int)(word.length < 40 ? word.length : 40);
}

static ulna_status fail(bvh_reader *r, const ulna_word *word, const char *what)
{
    return ulna_scan_fail(&r->scan, word, r->error, ULNA_ERR_PARSE, "%s", what);
}

/* Adds a line to an error that somebody else has filled. */
static ulna_status at_line(bvh_reader *r, ulna_status status, int line)
{
    if (status != ULNA_OK && r->error)
        r->error->line = line;
    return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------ */

/* The rest of the line, up to a brace: names may have blanks. */
static void read_name(bvh_reader *r, const char *fallback, char name[NAME])
{
    char given[NAME];
    ulna_scan line = r->scan;
    const char *brace = line.here;
    while (brace < line.end && *brace != '{' && *brace != '}')
        brace++;
    r->scan.here = line.end = brace;
    ulna_word word = ulna_scan_rest(&line);
    long long byte = ulna_scan_byte(&r->scan, word.text);
    int is_whole = ulna_word_copy(word, given, sizeof given);
    for (char *c = given; *c; c++)
        *c = (unsigned char)*c < ' ' ? '_' : *c;
    if (!is_whole)
        ulna_remarks_add(r->remarks, r->scan.line, byte, "the name '%.40s...' is too long and was cut", given);
    if (given[0]) {
        if (!ulna_free_body_name(r->file->builder, given, "_", name))
            ulna_remarks_add(r->remarks, r->scan.line, byte, "the name '%.60s' is used twice: renamed to '%.80s'",
                             given, name);
    } else {
        int is_end = fallback[0] != 0;
        ulna_free_body_name(r->file->builder, is_end ? fallback : "joint", is_end ? "" : "_", name);
        if (!is_end)
            ulna_remarks_add(r->remarks, r->scan.line, byte, "a joint has no name: it is called '%.80s'", name);
    }
}

/* ---- HIERARCHY -------------------------------------------------------------------------------------------------- */

/* From the keyword to the brace that opens the block. */
static ulna_status open_joint(bvh_reader *r, int is_end)
{
    ulna_bvh_joint joint = {.parent = r->open, .line = r->scan.line, .is_end = is_end};
    char name[NAME], end[NAME + 8] = "";
    ulna_word word;
    if (is_end)
        snprintf(end, sizeof end, "%s_end", ulna_builder_body_name(r->file->builder, r->open));
    read_name(r, end, name);
    if (!next_word(r, &word) || !ulna_word_is(word, "{"))
        return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "'{' is missing after '%.80s'", name);

    void *joints = r->file->joint;
    ulna_status status = ulna_grow(r->file->allocator, &joints, &r->file->joint_capacity, r->file->joint_count + 1,
                                   sizeof *r->file->joint);
    r->file->joint = joints;
    if (status != ULNA_OK)
        return ulna_fail(r->error, status, "no memory for %zu joints", r->file->joint_count + 1);
    status = ulna_builder_add_body(r->file->builder, name, r->open, &r->open, r->error);
    if (status == ULNA_OK)
        r->file->joint[r->file->joint_count++] = joint;
    return at_line(r, status, joint.line);
}

static ulna_status read_offset(bvh_reader *r, const ulna_word *keyword)
{
    ulna_bvh_joint *joint = &r->file->joint[r->open];
    if (joint->has_offset)
        return fail(r, keyword, "a joint has two OFFSETs");
    joint->has_offset = 1;
    for (int i = 0; i < 3; i++) {
        ulna_word word;
        if (!next_word(r, &word) || !ulna_word_number(word, &joint->offset[i]))
            return fail(r, &word, "OFFSET needs three finite numbers");
    }
    return ULNA_OK;
}

/* An ulna_segment, or -1. */
static int channel_of(ulna_word word)
{
    static const char *const names[] = {"Xrotation", "Yrotation", "Zrotation", "Xposition", "Yposition", "Zposition"};
    for (int i = 0; i < 6; i++)
        if (ulna_word_is_like(word, names[i]))
            return i;
    return -1;
}

/* A position once, and no rotation about the axis of the rotation before, which would be the same channel twice. */
static int is_repeated(const ulna_bvh_joint *joint, int channel)
{
    for (int i = joint->count - 1; i >= 0; i--) {
        if (joint->channel[i] == channel)
            return 1;
        if (channel <= ULNA_SEGMENT_RZ && joint->channel[i] <= ULNA_SEGMENT_RZ)
            return 0;
    }
    return 0;
}

static ulna_status read_channels(bvh_reader *r, const ulna_word *keyword)
{
    ulna_bvh_joint *joint = &r->file->joint[r->open];
    ulna_word word;
    int count;
    if (joint->has_channels)
        return fail(r, keyword, "a joint has two lists of CHANNELS");
    if (!next_word(r, &word) || !ulna_word_integer(word, &count) || count < 0 || count > ULNA_JOINT_MAX_SEGMENTS)
        return fail(r, &word, "CHANNELS needs the number of channels, 0 to 6");
    if (joint->is_end && count)
        return fail(r, &word, "an End Site has no channels");
    joint->has_channels = 1;
    joint->first = r->file->channels;
    r->file->channels += count;
    while (joint->count < count) {
        int channel = next_word(r, &word) ? channel_of(word) : -1;
        if (channel < 0)
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE,
                                  "'%.*s' is not a channel: %d names out of Xposition ... Zrotation are needed",
                                  shown(word), word.text, count);
        if (is_repeated(joint, channel))
            return fail(r, &word, "a channel is listed twice");
        joint->channel[joint->count++] = (unsigned char)channel;
    }
    return ULNA_OK;
}

static void close_joint(bvh_reader *r)
{
    const ulna_bvh_joint *joint = &r->file->joint[r->open];
    const char *name = ulna_builder_body_name(r->file->builder, r->open);
    if (!joint->has_offset)
        ulna_remarks_add(r->remarks, joint->line, -1, "'%.80s' has no OFFSET: zero is assumed", name);
    if (!joint->has_channels && !joint->is_end)
        ulna_remarks_add(r->remarks, joint->line, -1, "'%.80s' has no CHANNELS: it does not move", name);
    r->open = joint->parent;
}

static ulna_status read_inside(bvh_reader *r, const ulna_word *word)
{
    int is_end = r->file->joint[r->open].is_end;
    ulna_word site;
    if (ulna_word_is_like(*word, "OFFSET"))
        return read_offset(r, word);
    if (ulna_word_is_like(*word, "CHANNELS"))
        return read_channels(r, word);
    if (ulna_word_is_like(*word, "JOINT") && !is_end)
        return open_joint(r, 0);
    if (ulna_word_is_like(*word, "End") && !is_end) {
        if (!next_word(r, &site) || !ulna_word_is_like(site, "Site"))
            return fail(r, &site, "'End' must be followed by 'Site'");
        return open_joint(r, 1);
    }
    if (ulna_word_is(*word, "}")) {
        close_joint(r);
        return ULNA_OK;
    }
    return ulna_scan_fail(&r->scan, word, r->error, ULNA_ERR_PARSE,
                          "'%.*s' is not allowed inside %s, which begins on line %d", shown(*word), word->text,
                          is_end ? "an End Site" : "a joint", r->file->joint[r->open].line);
}

/* Up to and including the word MOTION; `has_motion` is 0 if the file ends without. */
static ulna_status read_hierarchy(bvh_reader *r, int *has_motion)
{
    ulna_word word;
    ulna_status status = ULNA_OK;
    int is_first = 1;
    *has_motion = 0;
    while (status == ULNA_OK && !*has_motion && next_word(r, &word)) {
        if (r->open >= 0)
            status = read_inside(r, &word);
        else if (ulna_word_is_like(word, "ROOT")) {
            if (is_first)
                ulna_remarks_add(r->remarks, r->scan.line, ulna_scan_byte(&r->scan, word.text),
                                 "the word HIERARCHY is missing");
            r->file->roots++;
            status = open_joint(r, 0);
        } else if (ulna_word_is_like(word, "MOTION") && r->file->roots)
            *has_motion = 1;
        else if (!is_first || !ulna_word_is_like(word, "HIERARCHY"))
            status = ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "unexpected '%.*s': %s was expected",
                                    shown(word), word.text,
                                    is_first         ? "HIERARCHY"
                                    : r->file->roots ? "MOTION or another ROOT"
                                                     : "ROOT");
        is_first = 0;
    }
    if (status == ULNA_OK && r->open >= 0)
        status = ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE,
                                "the file ends inside '%.80s', which begins on line %d",
                                ulna_builder_body_name(r->file->builder, r->open), r->file->joint[r->open].line);
    if (status == ULNA_OK && !r->file->roots)
        status = fail(r, &word, "the file has no ROOT");
    return status;
}

/* ---- MOTION ----------------------------------------------------------------------------------------------------- */

/* "Frames: N" and "Frame Time: S". `more` tells whether `word` is the first value. */
static ulna_status read_header(bvh_reader *r, ulna_word *word, int *more)
{
    double seconds = 0;
    int line = 0;
    while ((*more = next_header_word(r, word))) {
        int is_time = ulna_word_is_like(*word, "Frame") || ulna_word_is_like(*word, "FrameTime");
        if (!is_time && !ulna_word_is_like(*word, "Frames"))
            break;
        if (ulna_word_is_like(*word, "Frame") && (!next_header_word(r, word) || !ulna_word_is_like(*word, "Time")))
            return fail(r, word, "'Frame' must be followed by 'Time'");
        if (!next_header_word(r, word) || !ulna_word_number(*word, is_time ? &seconds : &r->frames))
            return fail(r, word, is_time ? "Frame Time needs a number of seconds" : "Frames needs a number");
        line = is_time ? r->scan.line : line;
    }
    if (r->frames < 0)
        ulna_remarks_add(r->remarks, r->scan.line, -1, "the number of frames is missing");
    if (!line)
        ulna_remarks_add(r->remarks, r->scan.line, -1, "the Frame Time is missing");
    else if (!(seconds > 0))
        ulna_remarks_add(r->remarks, line, -1, "Frame Time is %g s, not above 0: the time between frames is unknown",
                         seconds);
    r->file->content->clip.frame_seconds = seconds > 0 ? seconds : 0;
    return ULNA_OK;
}

/* Where a frame that began on an earlier line ended in the middle of one: a row is too short or too long, unless the
 * values are a stream whose lines mean nothing. The count of frames tells. */
typedef struct bvh_tear {
    ulna_word first; /* value of that frame */
    int line, end;
} bvh_tear;

static ulna_status read_values(bvh_reader *r, ulna_word word, bvh_tear *tear, int *left)
{
    ulna_clip *clip = &r->file->content->clip;
    bvh_tear frame = {word, 0, 0};
    int at = 0;
    do {
        if (at == 0) {
            int line = r->scan.line;
            if (line == frame.end && frame.line < line && !tear->line)
                *tear = frame;
            frame = (bvh_tear){word, line, line};
            ulna_status status = ulna_clip_resize(clip, r->file->channels, clip->frame_count + 1);
            if (status != ULNA_OK)
                return ulna_scan_fail(&r->scan, NULL, r->error, status, "no memory for %d frames",
                                      clip->frame_count + 1);
        }
        if (!ulna_word_number(word, &ulna_clip_frame(clip, clip->frame_count - 1)[at]))
            return ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE, "'%.*s' is not a finite number",
                                  shown(word), word.text);
        at = (at + 1) % r->file->channels;
        frame.end = r->scan.line;
    } while (next_word(r, &word));
    *left = at;
    return ULNA_OK;
}

static ulna_status read_motion(bvh_reader *r)
{
    ulna_clip *clip = &r->file->content->clip;
    bvh_tear tear = {{NULL, 0}, 0, 0};
    ulna_word word;
    int more, left = 0;
    ulna_status status = read_header(r, &word, &more);
    if (status == ULNA_OK && more && r->file->channels == 0)
        status = ulna_scan_fail(&r->scan, &word, r->error, ULNA_ERR_PARSE,
                                "unexpected '%.*s': the skeleton has no channels", shown(word), word.text);
    else if (status == ULNA_OK && more)
        status = read_values(r, word, &tear, &left);
    if (status != ULNA_OK)
        return status;

    double values = (double)clip->frame_count * r->file->channels - (left ? r->file->channels - left : 0);
    if (tear.line && values != r->frames * r->file->channels) {
        r->scan.line = tear.line;
        return ulna_scan_fail(
            &r->scan, &tear.first, r->error, ULNA_ERR_PARSE,
            "the frame that begins here ends in the middle of line %d: each row must have the %d values of one frame",
            tear.end, r->file->channels);
    }
    if (tear.line)
        ulna_remarks_add(
            r->remarks, tear.end, -1,
            "a frame ends in the middle of a line: values are read as one stream, without regard to lines");
    if (left) {
        ulna_remarks_add(r->remarks, r->scan.line, -1, "the last frame, %d, has %d of %d values and is dropped",
                         clip->frame_count, left, r->file->channels);
        ulna_clip_resize(clip, r->file->channels, clip->frame_count - 1);
    }
    if (r->frames >= 0 && r->frames != clip->frame_count)
        ulna_remarks_add(r->remarks, 0, -1, "the file states %.0f frames but has %d", r->frames, clip->frame_count);
    return ULNA_OK;
}

/* ---- the reader ------------------------------------------------------------------------------------------------- */

int ulna_bvh_sniff(const char *data, size_t length)
{
    ulna_scan scan = ulna_scan_start(data, length);
    ulna_word word;
    while (ulna_scan_line(&scan))
        if (ulna_scan_word(&scan, NULL, &word))
            return ulna_word_is_like(word, "HIERARCHY");
    return 0;
}

static ulna_status read_all(bvh_reader *r)
{
    int has_motion;
    ulna_status status = read_hierarchy(r, &has_motion);
    if (status == ULNA_OK && has_motion)
        status = read_motion(r);
    else if (status == ULNA_OK)
        ulna_remarks_add(r->remarks, r->scan.line, -1, "the file has no MOTION: only the skeleton is read");
    return status == ULNA_OK ? ulna_bvh_build(r->file, r->error) : status;
}

ulna_status ulna_bvh_read(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                          ulna_error *error)
{
    ulna_bvh file = {.allocator = &content->remarks.allocator,
                     .content = content,
                     .unit = options->unit_m > 0 ? options->unit_m : ULNA_BVH_UNIT};
    bvh_reader r = {.scan = ulna_scan_start(data, length),
                    .file = &file,
                    .remarks = &content->remarks,
                    .error = error,
                    .open = -1,
                    .frames = -1};
    content->source = (ulna_source){.unit_m = file.unit, .up = 'y', .degrees = 1};
    if (!(options->unit_m > 0))
        snprintf(content->source.text, sizeof content->source.text, "centimetres assumed");
    ulna_status status = ulna_builder_create(file.allocator, &file.builder);
    if (status != ULNA_OK)
        return ulna_fail(error, status, "no memory for a skeleton");
    status = read_all(&r);
    ulna_builder_destroy(file.builder);
    ulna_release(file.allocator, file.joint, file.joint_capacity, sizeof *file.joint);
    return status;
}
