/*
 * Writes AMC, Acclaim's motion file, for the ASF that asf_write.c writes of the same skeleton with the same options: the
 * same unit of length and order of values. Joints that Acclaim cannot say are converted as there, with angles that are
 * continuous over frames; the values of all others are those of the clip, and read back to the same bits where their unit
 * allows it. A comment repeats the ASF's unit of length, since the format itself cannot state it.
 */
#include <math.h>
#include <string.h>

#include "base/base.h"
#include "formats/acclaim/acclaim.h"
#include "formats/text/numbers.h"
#include "math/math3.h"

typedef struct amc_writer {
    ulna_writer out;
    const ulna_model *model; /* with joints that Acclaim can say */
    const ulna_clip *clip;   /* of that model */
    const ulna_write_options *options;
    ulna_names names;
    ulna_acclaim_channels *channels; /* of each body */
    ulna_scaled *numbers;            /* of a frame, in the order of the file */
    int *coordinates;                /* of each number */
    int number_count;
    double length, unit, angle;
} amc_writer;

static void put_head(amc_writer *w)
{
    ulna_print(&w->out, ULNA_AMC_LENGTH " %g\n", w->length);
    double seconds = w->clip->frame_seconds, rate = 1 / seconds;
    if (seconds > 0 && isfinite(rate)) {
        for (int digits = 1; digits <= 17; digits++) { /* the shortest that reads back */
            double shorter = ulna_round_digits(rate, digits);
            if (1 / shorter == seconds) {
                rate = shorter;
                break;
            }
        }
        ulna_print(&w->out, ":SAMPLES-PER-SECOND %g\n", rate);
    }
    ulna_print(&w->out, ":FULLY-SPECIFIED\n%s\n", w->angle == 1 ? ":RADIANS" : ":DEGREES");
}

static void put_line_number(amc_writer *w, long long number)
{
    char text[24], *at = text + sizeof text;
    unsigned long long left = number < 0 ? 0 - (unsigned long long)number : (unsigned long long)number;
    *--at = '\n';
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (number < 0)
        *--at = '-';
    ulna_put_bytes(&w->out, at, (size_t)(text + sizeof text - at));
}

/* Which number is which coordinate, and its unit. */
static void list_numbers(amc_writer *w)
{
    for (int b = 0; b < w->model->nb; b++)
        for (int k = 0; k < w->channels[b].count; k++) {
            const ulna_acclaim_channel *channel = &w->channels[b].channel[k];
            w->coordinates[w->number_count] = w->model->body[b].coordinate + channel->coordinate;
            w->numbers[w->number_count++].scale = channel->kind == 't' ? w->unit : w->angle;
        }
}

static ulna_status check_numbers(const amc_writer *w, long long frame, ulna_error *error)
{
    const ulna_scaled *n = w->numbers;
    for (int b = 0; b < w->model->nb; b++)
        for (const ulna_scaled *end = n + w->channels[b].count; n < end; n++)
            if (!isfinite(n->value / n->scale))
                return ulna_fail(error, ULNA_ERR_NUMBER, "frame %lld: a value of '%.60s' is not a number", frame,
                                 ulna_model_body_name(w->model, b));
    return ULNA_OK;
}

static ulna_status take_numbers(amc_writer *w, const double *q, long long frame, ulna_error *error)
{
    int is_small = 1;
    for (int i = 0; i < w->number_count; i++) {
        double value = q[w->coordinates[i]];
        w->numbers[i].value = value;
        is_small &= fabs(value) < ULNA_FINITE_IN_UNITS;
    }
    return is_small ? ULNA_OK : check_numbers(w, frame, error);
}

static void put_bone(amc_writer *w, int b, const ulna_scaled *numbers)
{
    size_t length = ulna_names_length(&w->names, b);
    char *at = ulna_put_room(&w->out, length + 1 + 6 * (1 + ULNA_NUMBER_SIZE));
    memcpy(at, ulna_names_at(&w->names, b), length);
    at += length;
    *at++ = ' ';
    at = ulna_scaled_texts(numbers, w->channels[b].count, w->options->digits, at);
    at[-1] = '\n';
    ulna_put_to(&w->out, at);
}

static ulna_status put_frame(amc_writer *w, int frame, ulna_error *error)
{
    long long number = (long long)w->clip->first_frame + frame;
    ulna_status status = take_numbers(w, ulna_clip_frame(w->clip, frame), number, error);
    if (status != ULNA_OK)
        return status;
    ulna_scaled_find(w->numbers, w->number_count, w->options->digits);
    put_line_number(w, number);
    const ulna_scaled *numbers = w->numbers;
    for (int b = 0; b < w->model->nb; b++) {
        if (w->channels[b].count > 0)
            put_bone(w, b, numbers);
        numbers += w->channels[b].count;
    }
    return ULNA_OK;
}

static ulna_status write_clip(amc_writer *w, ulna_error *error)
{
    ulna_status status = ulna_acclaim_names(w->model, &w->names, NULL);
    if (status != ULNA_OK || !w->numbers || !w->coordinates)
        return ulna_fail(error, status != ULNA_OK ? status : ULNA_ERR_MEMORY, "no memory for the names of bones");
    list_numbers(w);
    put_head(w);
    for (int f = 0; f < w->clip->frame_count && status == ULNA_OK; f++)
        status = put_frame(w, f, error);
    if (status != ULNA_OK)
        return status;
    return ulna_writer_finish(&w->out, "the AMC file", error);
}

static ulna_status write_with(const ulna_writing *writing, const ulna_model *model, const ulna_clip *clip,
                              ulna_error *error)
{
    const ulna_allocator *allocator = &writing->model->allocator;
    amc_writer w = {.model = model,
                    .clip = clip,
                    .options = writing->options,
                    .names = ulna_names_empty(allocator),
                    .numbers = ulna_allocate(allocator, (size_t)model->nq, sizeof *w.numbers),
                    .coordinates = ulna_allocate(allocator, (size_t)model->nq, sizeof *w.coordinates),
                    .angle = writing->options->degrees == 0 ? 1 : ULNA_PI / 180};
    w.length = ulna_acclaim_length(writing->options, &w.unit);
    ulna_writer_start(&w.out, writing->sink);
    ulna_status status = ulna_acclaim_list(model, writing->options->channels, writing->options->channel_count,
                                           allocator, &w.channels, error);
    if (status == ULNA_OK)
        status = write_clip(&w, error);
    ulna_release(allocator, w.channels, (size_t)model->nb, sizeof *w.channels);
    ulna_release(allocator, w.numbers, (size_t)model->nq, sizeof *w.numbers);
    ulna_release(allocator, w.coordinates, (size_t)model->nq, sizeof *w.coordinates);
    ulna_names_release(&w.names);
    return status;
}

ulna_status ulna_amc_write(const ulna_writing *writing, ulna_error *error)
{
    const ulna_model *model = writing->model;
    if (!(writing->options->unit_m > 0)) /* any guess would come back scaled with an ASF of another unit */
        return ulna_fail(
            error, ULNA_ERR_ARGUMENT,
            "an AMC uses the unit of length of its ASF, which is not known: set unit_m or use ulna_write_options_for");
    ulna_model *changed;
    ulna_status status = ulna_acclaim_model(model, &model->allocator, &changed, writing->remarks, error);
    if (status != ULNA_OK || !changed)
        return status != ULNA_OK ? status : write_with(writing, model, writing->clip, error);
    ulna_clip converted = ulna_clip_empty(&model->allocator);
    status = ulna_clip_convert(model, writing->clip, changed, &converted, error);
    if (status == ULNA_OK)
        status = write_with(writing, changed, &converted, error);
    ulna_clip_release(&converted);
    ulna_model_destroy(changed);
    return status;
}
