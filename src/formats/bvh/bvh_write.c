/*
 * Writes BVH: any skeleton, any clip of it. bvh_nodes.c says what becomes of the joints.
 *
 * Programs disagree whether positions replace the OFFSET or add to it. The root's OFFSET is zero, so that they agree.
 * Other joints have the rest pose there and positions that replace it, as most programs take it, if the reader would
 * find that (bvh.h); else zero too.
 */
#include "formats/bvh/bvh.h"
#include "formats/format.h"

#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "formats/text/numbers.h"
#include "formats/text/scan.h"
#include "formats/text/text_writer.h"
#include "math/math3.h"

enum { MOST_TABS = 32, NAME = 256 };

typedef struct bvh_writer {
    const ulna_writing *job;
    ulna_bvh_nodes nodes;
    double unit;
    ulna_scaled *numbers;     /* of each channel, in one frame */
    double *start, *replaced; /* of each channel: added to its value; the offset that it replaces, or 0 */
    int has_replaced;         /* some channel does */
    ulna_writer out;
} bvh_writer;

/* ---- offsets ---------------------------------------------------------------------------------------------------- */

/* Odds that the reader takes the positions to replace this offset: see bvh.h. */
static double odds(const bvh_writer *w, const ulna_bvh_node *node, const double offset[3])
{
    double sum = 0, size = ulna_norm(offset);
    for (int i = 0; i < node->count; i++) {
        int axis = node->channel[i].segment - ULNA_SEGMENT_TX;
        if (axis < 0 || offset[axis] == 0)
            continue;
        for (int f = 0; f < w->nodes.frames; f++)
            sum += ulna_bvh_replaces(
                offset[axis], size,
                node->start[axis] + w->nodes.value[(size_t)f * (size_t)w->nodes.channels + (size_t)(node->first + i)]);
    }
    return sum;
}

/* Where a node rests, if positions replace that; zero where there are positions, if not. */
static void choose_offset(const bvh_writer *w, const ulna_bvh_node *node, int replaces, double offset[3])
{
    ulna_copy3(node->start, offset);
    for (int i = 0; i < node->count; i++) {
        int axis = node->channel[i].segment - ULNA_SEGMENT_TX;
        if (axis >= 0)
            offset[axis] = replaces ? node->start[axis] + w->nodes.rest[node->first + i] : 0;
    }
}

/* A clear majority of the joints below the root must speak for it, as the reader asks them too. */
static void choose_offsets(bvh_writer *w)
{
    int votes = 0, voters = 0;
    double offset[3];
    for (int n = 1; n < w->nodes.count; n++) {
        choose_offset(w, &w->nodes.node[n], 1, offset);
        double sum = odds(w, &w->nodes.node[n], offset);
        votes += sum > 0.1 * w->nodes.frames ? 1 : sum != 0 ? -1 : 0;
        voters += sum != 0;
    }
    for (int n = 0; n < w->nodes.count; n++)
        choose_offset(w, &w->nodes.node[n], n > 0 && votes > 0, w->nodes.node[n].offset);
    if (voters && votes <= 0)
        ulna_remarks_add(w->job->remarks, 0, -1,
                         "joints move far from their rest position: their OFFSETs are zero, and the rest pose is lost");
}

/* ---- numbers and names ------------------------------------------------------------------------------------------ */

/* Returns what the reader makes of it. */
static double put_value(bvh_writer *w, double value, double scale)
{
    char text[ULNA_NUMBER_SIZE];
    double read = 0;
    size_t length = (size_t)ulna_format_scaled(value, scale, w->job->options->digits, text);
    ulna_put_bytes(&w->out, text, length);
    ulna_word_number((ulna_word){text, length}, &read);
    return read * scale;
}

/* The shortest of the numbers from which the reader makes exactly `value`, number * unit - less; 0 if there is none. */
static int find_position(const bvh_writer *w, double value, double less, char best[ULNA_NUMBER_SIZE])
{
    double sum = value + less, above = sum, below = sum;
    int found = 0;
    for (int step = 0; step < 5; step++) {
        double tried = step % 2 ? (above = nextafter(above, (double)INFINITY))
                       : step   ? (below = nextafter(below, -(double)INFINITY))
                                : sum;
        char text[ULNA_NUMBER_SIZE];
        double read = 0;
        int length = ulna_format_scaled(tried, w->unit, 0, text);
        ulna_word_number((ulna_word){text, (size_t)length}, &read);
        read *= w->unit;
        if (read - less == value && (!found || length < found)) {
            memcpy(best, text, (size_t)length + 1);
            found = length;
        }
    }
    return found;
}

/* A position that replaces the offset `less`. Where no number gives exactly the value, one of 15 digits does. */
static int format_position(const bvh_writer *w, double value, double less, char text[ULNA_NUMBER_SIZE])
{
    int digits = w->job->options->digits, length = digits > 0 ? 0 : find_position(w, value, less, text);
    if (length)
        return length;
    double read = 0;
    length = ulna_format_scaled(value + less, w->unit, digits > 0 ? digits : 15, text);
    ulna_word_number((ulna_word){text, (size_t)length}, &read);
    read *= w->unit;
    int better = digits > 0 ? 0 : find_position(w, read - less, less, text);
    return better ? better : length;
}

/* Without what would end a name: braces, line ends, blanks at its sides. */
static void put_name(bvh_writer *w, const ulna_bvh_node *node)
{
    char name[NAME + 32];
    const char *given = ulna_model_body_name(w->nodes.model, node->body);
    snprintf(name, sizeof name, "%s%s", given, node->is_joint ? "_joint" : "");
    for (int n = 2; node->is_joint && ulna_model_find_body(w->nodes.model, name) != ULNA_NONE; n++)
        snprintf(name, sizeof name, "%s_joint%d", given, n);
    size_t length = strlen(name);
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)name[i] < ' ' || name[i] == '{' || name[i] == '}' ||
            (name[i] == ' ' && (i == 0 || i + 1 == length)))
            name[i] = '_';
    ulna_put(&w->out, name);
}

/* Numbers that are finite in metres may not be so in the file's unit. */
static ulna_status check_nodes(const bvh_writer *w, ulna_error *error)
{
    const ulna_bvh_nodes *nodes = &w->nodes;
    for (int n = 0; n < nodes->count; n++) {
        const ulna_bvh_node *node = &nodes->node[n];
        for (int i = 0; i < 3; i++)
            if (!isfinite(node->start[i] / w->unit) || !isfinite(node->offset[i] / w->unit))
                return ulna_fail(error, ULNA_ERR_NUMBER, "body '%s' is too far away to be written in this unit",
                                 ulna_model_body_name(nodes->model, node->body));
    }
    return ULNA_OK;
}

static ulna_status check_row(const bvh_writer *w, int frame, const double *row, ulna_error *error)
{
    for (int c = 0; c < w->nodes.channels; c++)
        if (!isfinite(row[c] / (ULNA_PI / 180)) || !isfinite(row[c] / w->unit))
            return ulna_fail(error, ULNA_ERR_NUMBER, "frame %d has a value that is too large to write", frame + 1);
    return ULNA_OK;
}

static ulna_status take_row(bvh_writer *w, int frame, const double *row, ulna_error *error)
{
    int is_small = 1;
    for (int c = 0; c < w->nodes.channels; c++) {
        is_small &= fabs(row[c]) < ULNA_FINITE_IN_UNITS;
        w->numbers[c].value = row[c] + w->start[c];
    }
    return is_small ? ULNA_OK : check_row(w, frame, row, error);
}

/* ---- the file --------------------------------------------------------------------------------------------------- */

static void put_indent(bvh_writer *w, int level)
{
    for (int i = 0; i < level && i < MOST_TABS; i++) /* a long chain would be more tabs than text */
        ulna_put(&w->out, "\t");
}

static void put_node(bvh_writer *w, ulna_bvh_node *node)
{
    static const char *const names[] = {"Xrotation", "Yrotation", "Zrotation", "Xposition", "Yposition", "Zposition"};
    put_indent(w, node->level);
    ulna_put(&w->out, node->is_end ? "End Site" : node->parent < 0 ? "ROOT " : "JOINT ");
    if (!node->is_end)
        put_name(w, node);
    ulna_put(&w->out, "\n");
    put_indent(w, node->level);
    ulna_put(&w->out, "{\n");
    put_indent(w, node->level + 1);
    ulna_put(&w->out, "OFFSET");
    for (int i = 0; i < 3; i++) {
        ulna_put(&w->out, " ");
        node->offset[i] = put_value(w, node->offset[i], w->unit);
    }
    ulna_put(&w->out, "\n");
    if (node->is_end)
        return;
    put_indent(w, node->level + 1);
    ulna_print(&w->out, "CHANNELS %d", node->count);
    for (int i = 0; i < node->count; i++)
        ulna_print(&w->out, " %s", names[node->channel[i].segment]);
    ulna_put(&w->out, "\n");
}

static void put_hierarchy(bvh_writer *w)
{
    int open = -1;
    ulna_put(&w->out, "HIERARCHY\n");
    for (int n = 0; n <= w->nodes.count; n++) {
        int parent = n < w->nodes.count ? w->nodes.node[n].parent : -1;
        for (; open != parent; open = w->nodes.node[open].parent) {
            put_indent(w, w->nodes.node[open].level);
            ulna_put(&w->out, "}\n");
        }
        if (n < w->nodes.count)
            put_node(w, &w->nodes.node[n]);
        open = n;
    }
}

/* Scales, and what is added to the values of a frame. */
static void prepare_numbers(bvh_writer *w)
{
    for (int n = 0; n < w->nodes.count; n++) {
        const ulna_bvh_node *node = &w->nodes.node[n];
        for (int i = 0; i < node->count; i++) {
            int axis = node->channel[i].segment - ULNA_SEGMENT_TX, c = node->first + i;
            w->numbers[c] = (ulna_scaled){.scale = axis < 0 ? ULNA_PI / 180 : w->unit};
            w->start[c] = axis < 0 ? 0 : node->start[axis] - node->offset[axis];
            w->replaced[c] = axis < 0 ? 0 : node->offset[axis];
            w->has_replaced |= w->replaced[c] != 0;
        }
    }
}

/* Positions that replace an offset are found when they are put. */
static char *put_channels(bvh_writer *w, int first, int end, char *at)
{
    const int digits = w->job->options->digits;
    if (!w->has_replaced)
        return ulna_scaled_texts(&w->numbers[first], end - first, digits, at);
    for (int c = first; c < end; c++)
        if (w->replaced[c] == 0)
            at = ulna_scaled_texts(&w->numbers[c], 1, digits, at);
        else {
            at += format_position(w, w->numbers[c].value, w->replaced[c], at);
            *at++ = ' ';
        }
    return at;
}

static void put_frame(bvh_writer *w)
{
    enum { GROUP = 32 };
    const int count = w->nodes.channels;
    ulna_scaled_find(w->numbers, count, w->job->options->digits);
    for (int c = 0; c < count; c += GROUP) {
        char *at = ulna_put_room(&w->out, GROUP * (1 + ULNA_NUMBER_SIZE));
        at = put_channels(w, c, c + GROUP < count ? c + GROUP : count, at);
        if (count - c <= GROUP)
            at[-1] = '\n';
        ulna_put_to(&w->out, at);
    }
    if (count == 0)
        ulna_put_char(&w->out, '\n');
}

static int has_time(const ulna_clip *clip)
{
    return clip && clip->frame_seconds > 0 && isfinite(clip->frame_seconds);
}

static ulna_status put_motion(bvh_writer *w, ulna_error *error)
{
    ulna_status status = ULNA_OK;
    const double *row;
    ulna_print(&w->out, "MOTION\nFrames: %d\nFrame Time: %g\n", w->nodes.frames,
               has_time(w->job->clip) ? w->job->clip->frame_seconds : ULNA_UNKNOWN_FRAME_S);
    for (int f = 0; f < w->nodes.frames && status == ULNA_OK; f++) {
        status = ulna_bvh_nodes_row(&w->nodes, f, &row, error);
        if (status == ULNA_OK)
            status = take_row(w, f, row, error);
        if (status == ULNA_OK)
            put_frame(w);
    }
    return status;
}

static void remark(const bvh_writer *w)
{
    ulna_remarks *remarks = w->job->remarks;
    const ulna_clip *clip = w->job->clip;
    int limited = 0;
    for (int j = 0; j < w->nodes.model->nv; j++)
        limited += w->nodes.model->lower[j] > -(double)INFINITY || w->nodes.model->upper[j] < (double)INFINITY;
    if (!clip)
        ulna_remarks_add(remarks, 0, -1, "there is no motion: the file has one frame, the rest pose");
    else if (!has_time(clip))
        ulna_remarks_add(remarks, 0, -1, "the time between frames is unknown: 1/120 s is written");
    if (clip && clip->first_frame != 1)
        ulna_remarks_add(remarks, 0, -1, "the first frame is number %d, which BVH cannot store", clip->first_frame);
    if (w->nodes.fitted)
        ulna_remarks_add(remarks, 0, -1, "%d joint%s written as three rotations", w->nodes.fitted,
                         w->nodes.fitted == 1 ? " is" : "s are");
    if (w->nodes.fixed)
        ulna_remarks_add(remarks, 0, -1, "%d fixed bod%s written with rotations of zero", w->nodes.fixed,
                         w->nodes.fixed == 1 ? "y is" : "ies are");
    if (w->nodes.split)
        ulna_remarks_add(remarks, 0, -1,
                         "%d bodies whose origin is away from their joint are written as two, NAME_joint and NAME",
                         w->nodes.split);
    if (limited)
        ulna_remarks_add(remarks, 0, -1, "BVH has no limits: %d are left out", limited);
    if (w->nodes.model->nm)
        ulna_remarks_add(remarks, 0, -1, "BVH has no markers: %d are left out", w->nodes.model->nm);
    if (w->job->options->degrees == 0)
        ulna_remarks_add(remarks, 0, -1, "angles are written in degrees: BVH has no other unit");
}

/* ---- the writer ------------------------------------------------------------------------------------------------- */

ulna_status ulna_bvh_write(const ulna_writing *writing, ulna_error *error)
{
    bvh_writer w = {.job = writing, .unit = writing->options->unit_m > 0 ? writing->options->unit_m : ULNA_BVH_UNIT};
    ulna_status status =
        ulna_bvh_nodes_fill(&w.nodes, writing->model, writing->clip, writing->options->dof_channels, error);
    const ulna_allocator *allocator = &writing->model->allocator;
    if (status == ULNA_OK) {
        choose_offsets(&w);
        status = check_nodes(&w, error);
        w.numbers = ulna_allocate(allocator, (size_t)w.nodes.channels, sizeof *w.numbers);
        w.start = ulna_allocate(allocator, 2 * (size_t)w.nodes.channels, sizeof *w.start);
    }
    if (status == ULNA_OK && (!w.numbers || !w.start))
        status = ulna_fail(error, ULNA_ERR_MEMORY, "no memory for %d values", w.nodes.channels);
    if (status == ULNA_OK) {
        ulna_writer_start(&w.out, writing->sink);
        put_hierarchy(&w);
        w.replaced = w.start + w.nodes.channels;
        prepare_numbers(&w);
        status = put_motion(&w, error);
    }
    if (status == ULNA_OK)
        status = ulna_writer_finish(&w.out, "the BVH file", error);
    if (status == ULNA_OK)
        remark(&w);
    ulna_release(allocator, w.numbers, (size_t)w.nodes.channels, sizeof *w.numbers);
    ulna_release(allocator, w.start, 2 * (size_t)w.nodes.channels, sizeof *w.start);
    ulna_bvh_nodes_release(&w.nodes);
    return status;
}
