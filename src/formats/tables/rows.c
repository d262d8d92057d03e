/* Rows of a table and their times: files have one per row, rounded, and perhaps a rate and numbers that contradict them. */
#include <limits.h>
#include <math.h>

#include "base/base.h"
#include "formats/tables/table.h"

/* ---- times -------------------------------------------------------------------------------------------------------- */

double ulna_sane_step(double frame_seconds)
{
    return frame_seconds >= 1e-9 && frame_seconds <= 1e9 ? frame_seconds : 0;
}

double ulna_frame_rate(double frame_seconds)
{
    double rate = 1 / frame_seconds, round_rate = round(rate * 1000) / 1000;
    return round_rate > 0 && 1 / round_rate == frame_seconds ? round_rate : rate;
}

double ulna_frame_time(double frame_seconds, double frame)
{
    double rate = ulna_frame_rate(frame_seconds);
    return 1 / rate == frame_seconds ? (frame - 1) / rate : (frame - 1) * frame_seconds;
}

ulna_status ulna_times_add(ulna_times *times, double seconds, int line)
{
    void *items = times->items;
    ulna_status status = ulna_grow(times->allocator, &items, &times->capacity, times->count + 1, sizeof seconds);
    times->items = items;
    if (status != ULNA_OK)
        return status;
    if (times->count == 0)
        times->first_line = line;
    times->items[times->count++] = seconds;
    return ULNA_OK;
}

void ulna_times_release(ulna_times *times)
{
    ulna_release(times->allocator, times->items, times->capacity, sizeof *times->items);
    *times = (ulna_times){.allocator = times->allocator};
}

/* ---- the step ----------------------------------------------------------------------------------------------------- */

/* Times are often cut to three decimals. */
static double slack(double step)
{
    return 0.05 * step > 0.00101 ? 0.05 * step : 0.00101;
}

static double first_number(const ulna_times *times, double step)
{
    return round(times->items[0] / step) + 1;
}

/* Times written by ulna_frame_time come back as they were. */
static int repeats(const ulna_times *times, double step)
{
    double first = first_number(times, step);
    for (size_t i = 0; i < times->count; i++)
        if (ulna_frame_time(step, first + (double)i) != times->items[i])
            return 0;
    return 1;
}

/* No time is off by more than it may have been rounded. */
static int fits(const ulna_times *times, double step)
{
    double start = times->items[0];
    for (size_t i = 0; i < times->count; i++)
        if (!(fabs(times->items[i] - start - step * (double)i) <= slack(step)))
            return 0;
    return 1;
}

/* How many steps are like this one. */
static size_t alike(const ulna_times *times, double step)
{
    size_t count = 0;
    for (size_t i = 1; i < times->count; i++)
        count += fabs(times->items[i] - times->items[i - 1] - step) <= slack(step);
    return count;
}

/* A step that repeats all times to the last bit; 0 if none is found. */
static double exact_step(const ulna_times *times, double guess)
{
    size_t n = times->count;
    double last = first_number(times, guess) - 1 + (double)(n - 1), near = times->items[n - 1] / last;
    double rate = round(1000 / guess) / 1000;
    const double tries[] = {rate > 0 ? 1 / rate : guess, times->items[1] - times->items[0], near, nextafter(near, 0),
                            nextafter(near, (double)INFINITY)};
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++)
        if (ulna_sane_step(tries[i]) > 0 && repeats(times, tries[i]))
            return tries[i];
    return 0;
}

/* The mean step, or that of a whole number of frames a second if the times were rounded and cannot tell. */
static double mean_step(const ulna_times *times)
{
    double span = times->items[times->count - 1] - times->items[0], rate = (double)(times->count - 1) / span;
    double whole = round(rate);
    return whole >= 1 && fabs(rate - whole) <= rate * fmin(0.01, 0.0011 / span) ? 1 / whole : 1 / rate;
}

static double judge_step(const ulna_times *times, double rate, ulna_remarks *remarks)
{
    size_t n = times->count;
    double told = rate > 0 ? ulna_sane_step(1 / rate) : 0;
    if (n == 1 && told == 0)
        return ulna_sane_step(fabs(times->items[0])); /* a single pose: any step that leads to its time will do */
    if (n < 2 || (told > 0 && fits(times, told)))
        return told;
    if (!(times->items[n - 1] > times->items[0])) {
        ulna_remarks_add(remarks, times->first_line, -1, "the times do not increase; %s",
                         told > 0 ? "the stated rate is used" : "the rate is unknown");
        return told;
    }
    double mean = mean_step(times), first = times->items[1] - times->items[0], step = mean;
    if (ulna_sane_step(mean) == 0)
        return told;
    double exact = exact_step(times, (times->items[n - 1] - times->items[0]) / (double)(n - 1));
    if (exact > 0)
        step = exact;
    else if (!fits(times, mean)) {
        size_t best = alike(times, mean);
        if (ulna_sane_step(first) > 0 && alike(times, first) >= best)
            step = first;
        size_t odd = n - 1 - alike(times, step);
        ulna_remarks_add(remarks, times->first_line, -1, "%zu of %zu time steps %s not %.6g s; even steps are assumed",
                         odd, n - 1, odd == 1 ? "is" : "are", step);
    }
    if (told > 0)
        ulna_remarks_add(remarks, times->first_line, -1,
                         "the stated rate is %g per second, but times are %.6g s apart; the times are used", rate,
                         step);
    return step;
}

/* ---- the first frame ---------------------------------------------------------------------------------------------- */

void ulna_times_judge(const ulna_times *times, double rate, int frame, ulna_remarks *remarks, double *frame_seconds,
                      int *first_frame)
{
    double step = *frame_seconds = judge_step(times, rate, remarks);
    *first_frame = frame != ULNA_NO_FRAME ? frame : 1;
    if (step <= 0 || times->count == 0)
        return;
    double number = first_number(times, step), start = times->items[0];
    if (!(fabs(number) <= 1e9)) {
        ulna_remarks_add(remarks, times->first_line, -1, "times begin at %g s, which is not kept", start);
        return;
    }
    if (frame == ULNA_NO_FRAME || (frame == 1 && start > 0)) {
        if (frame == 1 && number != 1)
            ulna_remarks_add(remarks, times->first_line, -1,
                             "frame 1 has the time %g s; frames are numbered from %.0f to keep the times", start,
                             number);
        *first_frame = (int)number;
    } else if (fabs(number - frame) > 0.5)
        ulna_remarks_add(remarks, times->first_line, -1, "frame %d has the time %g s in the file, but gets %g s", frame,
                         start, ulna_frame_time(step, frame));
    if (fabs(start - ulna_frame_time(step, *first_frame)) > slack(step) && *first_frame != frame)
        ulna_remarks_add(remarks, times->first_line, -1,
                         "times begin at %g s, between two frames, and are moved to %g s", start,
                         ulna_frame_time(step, *first_frame));
}

/* ---- tables of frames --------------------------------------------------------------------------------------------- */

ulna_table ulna_table_start(const char *data, size_t length, const ulna_read_options *options, ulna_content *content,
                            ulna_error *error)
{
    return (ulna_table){.scan = ulna_scan_start(data, length),
                        .options = options,
                        .content = content,
                        .error = error,
                        .columns = {.allocator = &content->remarks.allocator},
                        .frame_column = ULNA_NONE,
                        .time_column = ULNA_NONE,
                        .each = 3,
                        .degrees = -1,
                        .times = {.allocator = &content->remarks.allocator},
                        .numbers = {.first = ULNA_NO_FRAME}};
}

ulna_status ulna_table_end(ulna_table *table, ulna_status status)
{
    ulna_cells_release(&table->columns);
    ulna_times_release(&table->times);
    return status;
}

int ulna_table_line(ulna_table *table)
{
    while (ulna_scan_line(&table->scan))
        if (!ulna_row_is_blank(&table->scan))
            return 1;
    return 0;
}

int ulna_table_row(ulna_table *table)
{
    while (ulna_table_line(table))
        if (*table->scan.here != '#')
            return 1;
    return 0;
}

ulna_status ulna_table_names(ulna_table *table)
{
    ulna_cells *names = &table->columns;
    table->delimiter = ulna_table_delimiter(&table->scan);
    ulna_status status = ulna_cells_read(&table->scan, table->delimiter, names->allocator, names);
    if (status != ULNA_OK)
        return ulna_scan_fail(&table->scan, NULL, table->error, status, "no memory for the names of the columns");
    while (names->count > 0 && names->items[names->count - 1].length == 0)
        names->count--;
    return ULNA_OK;
}

ulna_status ulna_table_fail_cell(const ulna_table *table, ulna_word cell, const char *what)
{
    char text[100];
    ulna_word_copy((ulna_word){cell.text, cell.length < 40 ? cell.length : 40}, text, sizeof text);
    return ulna_scan_fail(&table->scan, &cell, table->error, ULNA_ERR_PARSE, "'%s' is not a %s", text, what);
}

static int add_number(ulna_frame_numbers *numbers, int frame, double number, int line)
{
    if (number != floor(number) || fabs(number) >= INT_MAX)
        return 0;
    if (frame == 0)
        numbers->first = (int)number;
    else if (number != (double)numbers->first + frame)
        numbers->jump_line = numbers->jumps++ ? numbers->jump_line : line;
    return 1;
}

ulna_status ulna_table_read_time(ulna_table *table, size_t column, ulna_word cell, int frame, int *is_value)
{
    int is_number = column == (size_t)table->frame_column, is_time = column == (size_t)table->time_column;
    double value;
    *is_value = !is_number && !is_time;
    if (*is_value || (is_time && ulna_cell_is_missing(cell)))
        return ULNA_OK;
    if (!ulna_cell_number(cell, table->delimiter, &value) ||
        (is_number && !add_number(&table->numbers, frame, value, table->scan.line)))
        return ulna_table_fail_cell(table, cell, is_number ? "frame number" : "time");
    ulna_status status = is_time ? ulna_times_add(&table->times, value, table->scan.line) : ULNA_OK;
    return status == ULNA_OK ? ULNA_OK
                             : ulna_scan_fail(&table->scan, NULL, table->error, status, "no memory for times");
}

int ulna_table_has_room(const ulna_table *table, size_t numbers_per_frame, int frames, int free_bytes)
{
    double bytes = (double)numbers_per_frame * sizeof(double) * (frames + 1.0);
    return frames < INT_MAX && bytes <= 64.0 * (double)table->scan.length + free_bytes;
}

ulna_status ulna_table_finish(ulna_table *table, int frames, double *frame_seconds, int *first_frame)
{
    const ulna_frame_numbers *numbers = &table->numbers;
    if (frames == 0)
        return ulna_scan_fail(&table->scan, NULL, table->error, ULNA_ERR_PARSE,
                              "columns are named, but no rows of values follow");
    if (numbers->jumps)
        ulna_remarks_add(&table->content->remarks, numbers->jump_line, -1,
                         "frame numbers do not increase by one, here%s; rows are read in the order of the file",
                         numbers->jumps > 1 ? " and in other places" : "");
    ulna_times_judge(&table->times, table->rate, numbers->first, &table->content->remarks, frame_seconds, first_frame);
    return ULNA_OK;
}
