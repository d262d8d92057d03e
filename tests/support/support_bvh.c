/* What support_bvh.h says. */
#include "support_bvh.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support.h"

#define DEGREE (3.14159265358979323846 / 180)
enum { MOST_WORDS = 10, WORD = 64 };

typedef struct reader {
    const char *at;
    char words[MOST_WORDS][WORD];
    int count, line;
} reader;

/* ---- lines ------------------------------------------------------------------------------------------------------------ */

/* The next line that has words; more words than fit are counted, not kept. */
static int next_line(reader *r)
{
    do {
        size_t length = strcspn(r->at, "\n");
        const char *end = r->at + length;
        r->count = 0;
        while (r->at < end) {
            size_t n = 0;
            for (; r->at < end && !isspace((unsigned char)*r->at); r->at++)
                if (r->count < MOST_WORDS && n + 1 < WORD)
                    r->words[r->count][n++] = *r->at;
            if (n || r->count >= MOST_WORDS) {
                if (r->count < MOST_WORDS)
                    r->words[r->count][n] = 0;
                r->count++;
            }
            while (r->at < end && isspace((unsigned char)*r->at))
                r->at++;
        }
        r->line++;
        r->at = *end ? end + 1 : end;
    } while (!r->count && *r->at);
    return r->count > 0;
}

static void need(int is_true, const reader *r, const char *what)
{
    if (!is_true)
        fail_msg("BVH, line %d: %s", r->line, what);
}

static void need_line(reader *r, const char *first, int count)
{
    need(next_line(r) && strcmp(r->words[0], first) == 0 && (!count || r->count == count), r, first);
}

static double number(const char *word, const reader *r)
{
    char *end;
    double value = strtod(word, &end);
    need(*word && !*end && isfinite(value), r, "a number");
    return value;
}

static void read_offset(reader *r, double offset[3])
{
    need_line(r, "OFFSET", 4);
    for (int k = 0; k < 3; k++)
        offset[k] = number(r->words[1 + k], r);
}

/* ---- the hierarchy ----------------------------------------------------------------------------------------------------- */

static int channel_of(const char *name, const reader *r)
{
    static const char *const names[] = {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"};
    for (int k = 0; k < 6; k++)
        if (strcmp(name, names[k]) == 0)
            return k;
    need(0, r, "a channel");
    return 0;
}

static void read_channels(reader *r, ulna_test_bvh *bvh, ulna_test_bvh_joint *joint)
{
    int rotations = 0, seen = 0;
    need_line(r, "CHANNELS", 0);
    joint->channel_count = (int)number(r->words[1], r);
    need(r->count == 2 + joint->channel_count && joint->channel_count <= 6, r, "as many channels as it says");
    for (int k = 0; k < joint->channel_count; k++) {
        int channel = joint->channels[k] = channel_of(r->words[2 + k], r);
        need(!(seen & 1 << channel), r, "each channel once");
        seen |= 1 << channel;
        rotations += channel >= 3;
    }
    need(rotations == 0 || rotations == 3, r, "three rotations or none");
    joint->first = bvh->channel_count;
    bvh->channel_count += joint->channel_count;
}

static int read_joint(reader *r, ulna_test_bvh *bvh, int parent)
{
    need(r->count == 2 && bvh->joint_count < ULNA_TEST_BVH_JOINTS, r, "a name without blanks");
    need(ulna_test_bvh_find(bvh, r->words[1]) < 0, r, "a name that is there once");
    ulna_test_bvh_joint *joint = &bvh->joints[bvh->joint_count];
    snprintf(joint->name, sizeof joint->name, "%s", r->words[1]);
    joint->parent = parent;
    need_line(r, "{", 1);
    read_offset(r, joint->offset);
    read_channels(r, bvh, joint);
    return bvh->joint_count++;
}

static void read_end(reader *r, ulna_test_bvh_joint *joint)
{
    need(r->count == 2 && strcmp(r->words[1], "Site") == 0, r, "End Site");
    need_line(r, "{", 1);
    read_offset(r, joint->end);
    joint->has_end = 1;
    need_line(r, "}", 1);
}

static void read_hierarchy(reader *r, ulna_test_bvh *bvh)
{
    int current = -1;
    need_line(r, "HIERARCHY", 1);
    while (next_line(r) && strcmp(r->words[0], "MOTION") != 0) {
        if (strcmp(r->words[0], "ROOT") == 0 || strcmp(r->words[0], "JOINT") == 0) {
            need((current < 0) == (*r->words[0] == 'R'), r, "ROOT first, then JOINT");
            current = read_joint(r, bvh, current);
        } else if (strcmp(r->words[0], "End") == 0) {
            need(current >= 0, r, "a joint before its end");
            read_end(r, &bvh->joints[current]);
        } else {
            need(r->count == 1 && strcmp(r->words[0], "}") == 0 && current >= 0, r, "}");
            current = bvh->joints[current].parent;
        }
    }
    need(current < 0 && r->count == 1, r, "every joint closed before MOTION");
}

/* ---- the motion -------------------------------------------------------------------------------------------------------- */

static void read_frame(reader *r, ulna_test_bvh *bvh, int frame)
{
    for (int c = 0; c < bvh->channel_count; c++) {
        char *end;
        size_t blanks = strspn(r->at, " \t");
        need(r->at[blanks] && !strchr("\r\n", r->at[blanks]), r, "a number for each channel in one line");
        bvh->values[frame * bvh->channel_count + c] = strtod(r->at, &end);
        need(end > r->at && isfinite(bvh->values[frame * bvh->channel_count + c]), r, "a number");
        r->at = end;
    }
    r->at += strspn(r->at, " \t\r");
    need(!*r->at || *r->at == '\n', r, "no more numbers than channels");
    r->at += *r->at == '\n';
    r->line++;
}

ulna_test_bvh *ulna_test_bvh_read(const char *text)
{
    reader r = {.at = text};
    ulna_test_bvh *bvh = calloc(1, sizeof *bvh);
    assert_non_null(bvh);
    read_hierarchy(&r, bvh);
    need_line(&r, "Frames:", 2);
    bvh->frame_count = (int)number(r.words[1], &r);
    need_line(&r, "Frame", 3);
    need(strcmp(r.words[1], "Time:") == 0, &r, "Frame Time:");
    bvh->frame_seconds = number(r.words[2], &r);
    bvh->values = calloc((size_t)bvh->frame_count * (size_t)bvh->channel_count + 1, sizeof *bvh->values);
    assert_non_null(bvh->values);
    for (int f = 0; f < bvh->frame_count; f++)
        read_frame(&r, bvh, f);
    need(!next_line(&r), &r, "the end after the last frame");
    return bvh;
}

void ulna_test_bvh_free(ulna_test_bvh *bvh)
{
    if (bvh)
        free(bvh->values);
    free(bvh);
}

int ulna_test_bvh_find(const ulna_test_bvh *bvh, const char *name)
{
    for (int j = 0; j < bvh->joint_count; j++)
        if (strcmp(bvh->joints[j].name, name) == 0)
            return j;
    return -1;
}

/* ---- forward kinematics ------------------------------------------------------------------------------------------------- */

/* R <- R times a rotation about x, y or z. */
static void rotate(double R[9], int axis, double angle)
{
    double c = cos(angle), s = sin(angle);
    int a = (axis + 1) % 3, b = (axis + 2) % 3;
    for (int i = 0; i < 3; i++) {
        double left = R[3 * i + a], right = R[3 * i + b];
        R[3 * i + a] = c * left + s * right;
        R[3 * i + b] = c * right - s * left;
    }
}

void ulna_test_bvh_places(const ulna_test_bvh *bvh, int frame, double *places)
{
    double(*R)[9] = calloc((size_t)bvh->joint_count, sizeof *R);
    assert_non_null(R);
    for (int j = 0; j < bvh->joint_count; j++) {
        const ulna_test_bvh_joint *joint = &bvh->joints[j];
        const double *values = bvh->values + frame * bvh->channel_count + joint->first;
        double local[3] = {joint->offset[0], joint->offset[1], joint->offset[2]},
               identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        const double *above = joint->parent < 0 ? identity : R[joint->parent];
        for (int k = 0; k < joint->channel_count; k++) /* positions take the place of the offset */
            if (joint->channels[k] < 3)
                local[joint->channels[k]] = values[k];
        for (int i = 0; i < 3; i++)
            places[3 * j + i] = (joint->parent < 0 ? 0 : places[3 * joint->parent + i]) + above[3 * i] * local[0] +
                                above[3 * i + 1] * local[1] + above[3 * i + 2] * local[2];
        memcpy(R[j], above, sizeof *R);
        for (int k = 0; k < joint->channel_count; k++)
            if (joint->channels[k] >= 3)
                rotate(R[j], joint->channels[k] - 3, DEGREE * values[k]);
    }
    free(R);
}
