/* What the table and the page of `ulna compare` say, in words and figures. */
#include "cli/compare/compare.h"

#include <math.h>
#include <string.h>

static const double degrees = 1 / COMPARE_DEGREE;

void words_f(double f, char *text, size_t size)
{
    if (isnan(f))
        snprintf(text, size, "-");
    else
        snprintf(text, size, "%.1e", f);
}

void words_rms(double rms, char *text, size_t size)
{
    if (isnan(rms))
        snprintf(text, size, "-");
    else if (rms == 0)
        snprintf(text, size, "0");
    else
        snprintf(text, size, rms < 1e-3 || rms >= 1e5 ? "%.1e" : "%.3f", rms);
}

void words_count(double count, char *text, size_t size)
{
    if (isnan(count))
        snprintf(text, size, "-");
    else
        snprintf(text, size, count == floor(count) ? "%.0f" : "%.1f", count);
}

void words_us(double us, char *text, size_t size)
{
    if (isnan(us))
        snprintf(text, size, "-");
    else
        snprintf(text, size, us < 99.95 ? "%.1f" : "%.0f", us);
}

/* "kept", or how far outside: "12.3° 4 mm". */
void words_limits(const contender *one, int is_ascii, char *text, size_t size)
{
    *text = 0;
    if (contender_is_inside(one))
        snprintf(text, size, "kept");
    else if (one->outside_deg > 1e-7)
        snprintf(text, size, "%.2g%s", one->outside_deg, is_ascii ? " deg" : "°");
    size_t length = strlen(text);
    if (one->outside_mm > 1e-6)
        snprintf(text + length, size - length, "%s%.2g mm", length ? ", " : "", one->outside_mm);
}

/* Adds "objective", or "objective:18, iterations:2": the most frequent first. */
static void add_stops(const int *stops, int count, const char *(*name_of)(int), int is_counted, char *text, size_t size)
{
    int left[ULNA_STOP_COUNT];
    memcpy(left, stops, (size_t)count * sizeof *left);
    for (;;) {
        int most = 0;
        for (int i = 1; i < count; i++)
            most = left[i] > left[most] ? i : most;
        size_t length = strlen(text);
        if (left[most] == 0)
            return;
        snprintf(text + length, size - length, "%s%s", length ? ", " : "", name_of(most));
        length = strlen(text);
        if (is_counted)
            snprintf(text + length, size - length, ":%d", left[most]);
        left[most] = 0;
    }
}

static const char *stop_name(int stop)
{
    return ulna_stop_name((ulna_stop)stop);
}

static const char *global_stop_name(int stop)
{
    return ulna_global_stop_name((ulna_global_stop)stop);
}

void words_stops(const contender *one, char *text, size_t size)
{
    int kinds = one->failures > 0;
    for (int i = 0; i < ULNA_STOP_COUNT; i++)
        kinds += one->stops[i] > 0;
    for (int i = 0; i < ULNA_GLOBAL_STOP_COUNT; i++)
        kinds += one->global_stops[i] > 0;
    *text = 0;
    add_stops(one->stops, ULNA_STOP_COUNT, stop_name, kinds > 1, text, size);
    add_stops(one->global_stops, ULNA_GLOBAL_STOP_COUNT, global_stop_name, kinds > 1, text, size);
    size_t length = strlen(text);
    if (one->failures)
        snprintf(text + length, size - length, "%sfailed:%d (%s)", length ? ", " : "", one->failures,
                 ulna_status_text(one->failure));
}

void words_success(const contest *game, int is_ascii, char *text, size_t size)
{
    double enough = fmax(game->options.objective, 1e-12);
    const char *unit = is_ascii ? "m2" : "m²";
    if (game->set.is_made)
        snprintf(text, size, "Success: all goals met, f at most %g %s.", enough, unit);
    else
        snprintf(text, size, "Success: f within 0.1 %% of the least that any method found%s, or at most %g %s.",
                 game->set.options.bounded ? " inside the limits" : "", enough, unit);
}

void words_goals(const story *told, char *text, size_t size)
{
    const trials *set = &told->game->set;
    if (set->is_made)
        snprintf(text, size, "%d %s at random poses inside the limits", set->effector_count,
                 set->has_markers ? (set->effector_count == 1 ? "marker" : "markers") : "ends of limbs");
    else if (set->orientations == 0)
        snprintf(text, size, "%d position%s", set->points, set->points == 1 ? "" : "s");
    else
        snprintf(text, size, "%d position%s and %d orientation%s", set->points, set->points == 1 ? "" : "s",
                 set->orientations, set->orientations == 1 ? "" : "s");
}

void words_start(const story *told, int is_ascii, char *text, size_t size)
{
    static const char *const places[] = {"the pose of the goals", "rest", "zero", "the pose in the file"};
    const trial_options *options = &told->game->set.options;
    const char *unit = is_ascii ? " degrees" : "°";
    double spread = options->spread * degrees;
    if (options->start == START_NEAR)
        snprintf(text, size, "%.4g%s off the pose of the goals", spread, unit);
    else if (options->frames > 1 && spread > 0)
        snprintf(text, size, "%s, then %d poses %.4g%s off it", places[options->start], options->frames - 1, spread,
                 unit);
    else
        snprintf(text, size, "%s", places[options->start]);
}
