/* ulna compare [MODEL]: every method on the same problems, in one table. */
#include "cli/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/input.h"
#include "ulna/sample.h"

enum { MOST_FRAMES = 10000, MOST_ITERATIONS = 1000000000 };

/* ---- the command line ----------------------------------------------------------------------------------- */

/* Constraints may come without goals: then these are random ones, though the problems are as with goals of one's own. */
static int has_goals(const cli *tool)
{
    return cli_value(tool, "goals") || cli_value(tool, "goal") || cli_value(tool, "constraints");
}

/* Frames of a recording: where they start. */
static int read_recorded_start(const cli *tool, trial_options *options)
{
    static const struct {
        const char *name;
        start_kind kind;
    } names[] = {
        {"tracked", START_TRACKED}, {"reference", START_REFERENCE}, {"rest", START_REST}, {"zero", START_ZERO}};
    const char *text = cli_value(tool, "start"), *attach = cli_value(tool, "attach");
    options->start = cli_value(tool, "cold")                   ? START_REST
                     : attach && strcmp(attach, "oracle") == 0 ? START_REFERENCE
                                                               : START_TRACKED;
    for (size_t i = 0; text && i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, text) == 0) {
            options->start = names[i].kind;
            return CLI_DONE;
        }
    return text ? cli_usage(tool, "--start takes tracked, reference, rest or zero with --markers, not '%s'", text)
                : CLI_DONE;
}

/* What a recording excludes, and what needs one. */
static int read_recorded(const cli *tool, trial_options *options)
{
    static const char *const others[] = {"goals", "goal", "constraints", "spread", "seed", "unbounded"};
    static const char *const needing[] = {"attach", "reference", "bounds",     "pick",    "axes",
                                          "up",     "ball",      "input-unit", "subject", "no-checks"};
    int is_recorded = cli_value(tool, "markers") != NULL;
    for (size_t i = 0; is_recorded && i < sizeof others / sizeof *others; i++)
        if (cli_value(tool, others[i]))
            return cli_usage(tool, "--%s is not for frames of a recording (--markers)", others[i]);
    for (size_t i = 0; !is_recorded && i < sizeof needing / sizeof *needing; i++)
        if (cli_value(tool, needing[i]))
            return cli_usage(tool, "--%s needs --markers, a recording", needing[i]);
    if (!is_recorded)
        return CLI_DONE;
    options->frames = 10;
    int code = numbers_count(tool, "pick", 1, MOST_FRAMES, &options->frames);
    return code ? code : read_recorded_start(tool, options);
}

static int read_start(const cli *tool, trial_options *options)
{
    static const char *const names[] = {"near", "rest", "zero", NULL};
    const char *text = cli_value(tool, "start");
    options->start = cli_value(tool, "cold") || has_goals(tool) ? START_REST : START_NEAR;
    if (!text)
        return CLI_DONE;
    if (cli_value(tool, "cold"))
        return cli_usage(tool, "--cold means --start rest: give one of them");
    int found = 0;
    while (names[found] && strcmp(names[found], text) != 0)
        found++;
    if (!names[found])
        return cli_usage(tool, "--start takes near, rest or zero, not '%s'", text);
    if (found == START_NEAR && has_goals(tool))
        return cli_usage(tool, "--start near is for random goals: no pose is known that meets goals or constraints of "
                               "your own");
    options->start = (start_kind)found;
    return CLI_DONE;
}

/* How many, or with a colon, which of them. */
static int read_frames(const cli *tool, trial_options *options)
{
    const char *text = cli_value(tool, "frames");
    if (!text || !strchr(text, ':'))
        return numbers_count(tool, "frames", 1, MOST_FRAMES, &options->frames);
    int first = 1, last = options->frames, code = numbers_range(tool, "frames", "numbers of frames", &first, &last);
    if (code)
        return code;
    if (first < 1 || last > MOST_FRAMES)
        return cli_usage(tool, "--frames %s: frames have the numbers 1 to %d", text, MOST_FRAMES);
    options->first = first - 1;
    options->frames = last - options->first;
    return CLI_DONE;
}

static int read_trials(const cli *tool, trial_options *options)
{
    double spread = 3;
    int code;
    *options = (trial_options){.frames = has_goals(tool) ? 1 : 10, .seed = 1, .bounded = !cli_value(tool, "unbounded")};
    if ((code = read_recorded(tool, options)) || cli_value(tool, "markers"))
        return code;
    if ((code = read_frames(tool, options)) || (code = numbers_seed(tool, "seed", &options->seed)) ||
        (code = read_start(tool, options)) || (code = numbers_real(tool, "spread", 0, 180, " degrees", &spread)))
        return code;
    int is_spread = has_goals(tool) ? options->frames > 1 : options->start == START_NEAR;
    if (!is_spread && cli_value(tool, "spread"))
        return has_goals(tool) ? cli_usage(tool, "--spread needs several starts: give --frames too")
                               : cli_usage(tool, "--spread is for starts near the goals, not for --start %s",
                                           options->start == START_ZERO ? "zero" : "rest");
    options->spread = is_spread ? spread * COMPARE_DEGREE : 0;
    return CLI_DONE;
}

static int add_method(const cli *tool, contest *game, const ulna_method_info *method)
{
    for (int i = 0; i < game->count; i++)
        if (game->contenders[i].method == method)
            return cli_usage(tool, "--methods has '%s' twice", method->name);
    game->contenders[game->count++].method = method;
    return CLI_DONE;
}

/* "a,b,c": blanks may stand between them. */
static int read_methods(const cli *tool, contest *game)
{
    const char *text = cli_value(tool, "methods");
    game->count = 0;
    game->contenders = cli_allocate((size_t)ulna_method_count() + 2, sizeof *game->contenders);
    const ulna_method_info *next;
    unsigned wanted = cli_value(tool, "constraints") ? ULNA_METHOD_CONSTRAINED : 0;
    for (int i = 0; !text && (next = ulna_method_at(i)); i++)
        if (!(next->flags & ULNA_METHOD_RELAXATION) /* seconds a solve, where others take microseconds */
            && (next->flags & wanted) == wanted)
            add_method(tool, game, next);
    int code = CLI_DONE;
    while (text && !code) {
        char name[64];
        text += strspn(text, " ");
        int length = (int)strcspn(text, ", ");
        snprintf(name, sizeof name, "%.*s", length, text);
        if (!length)
            return cli_usage(tool, "--methods takes names such as hybrid,lm; 'ulna methods' lists them");
        int is_global = strcmp(name, methods_global.name) == 0;
        const ulna_method_info *method = is_global ? &methods_global : methods_find(tool, name);
        code = method ? add_method(tool, game, method) : CLI_USAGE;
        text += length;
        text += strspn(text, " ");
        text = *text == ',' ? text + 1 : *text ? text : NULL;
    }
    return code;
}

static int set_options(const cli *tool, contest *game)
{
    const char **names = cli_allocate((size_t)game->count + 1, sizeof *names);
    for (int i = 0; i < game->count; i++)
        names[i] = game->contenders[i].method->name;
    int code = methods_set_options(tool, names, game->count, &game->options);
    free(names);
    return code;
}

/* Fills methods and options of the contest, and how to make its trials. */
static int read_options(const cli *tool, contest *game, trial_options *options)
{
    game->options = ulna_options_default();
    game->options.objective = 1e-24; /* m^2, for all alike: it is shown */
    game->options.bounded = !cli_value(tool, "unbounded");
    int code;
    const char *report = cli_value(tool, "report"), *path = cli_value(tool, "goals");
    if (path && cli_value(tool, "constraints"))
        return cli_usage(tool, "a file of --constraints can have goals too: give it or --goals, not both");
    path = path ? path : cli_value(tool, "constraints");
    if ((code = read_trials(tool, options)) ||
        (code = numbers_count(tool, "max-iter", 1, MOST_ITERATIONS, &game->options.iterations)) ||
        (code = numbers_real(tool, "tol", 0, 1e6, " m2", &game->options.objective)))
        return code;
    if (report && !*report)
        return cli_usage(tool, "--report needs the name of a file");
    if (tool->operand_count && path && strcmp(tool->operands[0], "-") == 0 && strcmp(path, "-") == 0)
        return cli_usage(tool, "standard input can be the model or the goals and constraints, not both");
    if ((code = read_methods(tool, game)))
        return code;
    return set_options(tool, game);
}

static int read_goals(const cli *tool, json_t *object, goals *wanted, constraint_file *kept)
{
    ulna_error error;
    ulna_error_clear(&error);
    const char *path = cli_value(tool, "goals"), *constraints = cli_value(tool, "constraints");
    if (path && goals_read(wanted, path, &error))
        return files_fail(object, path, &error);
    if (constraints && constraint_file_read(kept, constraints, &error))
        return files_fail(object, constraints, &error);
    for (int i = 0; i < tool->given_count; i++)
        if (strcmp(tool->given[i]->name, "goal") == 0 && goals_add_text(wanted, tool->values[i], &error))
            return cli_usage(tool, "--goal '%s': %s", tool->values[i], error.message);
    return CLI_DONE;
}

/* ---- results, as JSON ------------------------------------------------------------------------------------- */

static void put_contender(json_t *row, const contest *game, const contender *one)
{
    put_text(row, "name", one->method->name);
    put_flag(row, "bounded", (one->method->flags & ULNA_METHOD_BOUNDED) != 0);
    if (one->refusal.status) {
        json_object_set_new(row, "error", cli_json_error(&one->refusal));
        return;
    }
    put_count(row, "successes", one->successes);
    put_count(row, "failures", one->failures);
    for (int i = 0; i < MEASURES; i++) {
        if ((i == MEASURE_RMS_MM && !game->set.points) || (i == MEASURE_RMS_DEG && !game->set.orientations) ||
            (i == MEASURE_VIOLATION_MM && !game->set.kept->count))
            continue;
        json_t *spread = put_object(row, measure_names[i]);
        put_number(spread, "median", one->spreads[i].median);
        put_number(spread, "max", one->spreads[i].largest);
    }
    put_flag(row, "in_limits", contender_is_inside(one));
    put_number(row, "outside_deg", one->outside_deg);
    put_number(row, "outside_mm", one->outside_mm);
    json_t *stops = put_object(row, "stops");
    for (int i = 0; i < ULNA_STOP_COUNT; i++)
        if (one->stops[i])
            put_count(stops, ulna_stop_name((ulna_stop)i), one->stops[i]);
    for (int i = 0; i < ULNA_GLOBAL_STOP_COUNT; i++)
        if (one->global_stops[i])
            put_count(stops, ulna_global_stop_name((ulna_global_stop)i), one->global_stops[i]);
}

static void put_results(json_t *object, const contest *game, const char *model, const char *source)
{
    static const char *const starts[] = {"near", "rest", "zero", "file", "tracked", "reference"};
    const trials *set = &game->set;
    put_text(object, "model", model);
    put_count(object, "dof", ulna_model_dof_count(set->model));
    put_text(object, "goals", source);
    put_count(object, "positions", set->points);
    put_count(object, "orientations", set->orientations);
    put_count(object, "constraints", set->kept->count);
    put_count(object, "frames", set->options.frames);
    put_text(object, "start", starts[set->options.start]);
    put_number(object, "spread_deg", set->options.spread / COMPARE_DEGREE);
    put_count(object, "seed", (long long)set->options.seed);
    put_flag(object, "bounded", set->options.bounded);
    json_object_set_new(object, "max_iterations",
                        game->options.iterations ? json_integer(game->options.iterations) : json_null());
    put_number(object, "tolerance_m2", game->options.objective);
    json_t *list = put_list(object, "methods");
    for (int i = 0; i < game->count; i++)
        put_contender(put_row(list), game, &game->contenders[i]);
    put_text(object, "fastest", game->best < 0 ? NULL : game->contenders[game->best].method->name);
}

/* ---- results, in words: templates of output.h, for the screen and for the page ------------------------------- */

/* clang-format off */
const fact_column compare_columns[] = {
    {"method",                                  'l', "{name}"},
    {"success",                                 'r', "{successes}/{frames}"},
    {"f [{is_page?}in ]m²",                     'r', "{f_m2.median%.1e}"},
    {"{positions?}rms [{is_page?}in ]mm",       'r', "{rms_mm.median%.3g}"},
    {"{orientations?}rms[{is_page?} in ]°",     'r', "{rms_deg.median%.3g}"},
    {"{constraints?}violation[{is_page?} in] mm", 'r', "{violation_mm.max%.1g}"},
    {"[{is_page?}iterations|iter]",             'r', "{iterations.median}"},
    {"[{is_page?}evaluations|eval]",            'r', "{evaluations.median}"},
    {"µs[{is_page?} per solve]",                'r', "[{is_long?}{us.median%d}|{us.median%.1f}]"},
    {"limits",                                  'l', "[{in_limits?}kept][{is_turned?}{outside_deg%.1f}°]"
                                                     "[{is_turned?}{is_moved?}, ][{is_moved?}{outside_mm%.1f} mm]"},
    {"stopped by",                              'l', "{stopped_by}"},
    {0},
};
/* clang-format on */

/* "objective", or "objective:18, iterations:2": the most frequent first. */
static void describe_stops(const contender *one, const json_t *stops, char *text, size_t size)
{
    size_t length = 0, kinds = json_object_size(stops) + (one->failures > 0);
    json_t *left = json_copy((json_t *)stops);
    *text = 0;
    while (json_object_size(left)) {
        const char *key, *most = NULL;
        json_t *count, *largest = NULL;
        json_object_foreach(left, key, count) if (!most || json_integer_value(count) > json_integer_value(largest))
        {
            most = key;
            largest = count;
        }
        length += (size_t)snprintf(text + length, size - length, "%s%s", length ? ", " : "", most);
        if (kinds > 1)
            length += (size_t)snprintf(text + length, size - length, ":%d", (int)json_integer_value(largest));
        json_object_del(left, most);
    }
    if (one->failures)
        snprintf(text + length, size - length, "%sfailed:%d (%s)", length ? ", " : "", one->failures,
                 ulna_status_text(one->failure));
    json_decref(left);
}

static json_t *shown_row(const contest *game, const contender *one, json_t *row)
{
    char text[1024];
    json_t *shown = json_copy(row);
    put_flag(shown, "is_strong", game->best >= 0 && one == &game->contenders[game->best]);
    put_count(shown, "positions", game->set.points);
    put_count(shown, "orientations", game->set.orientations);
    put_count(shown, "constraints", game->set.kept->count);
    if (one->refusal.status) {
        snprintf(text, sizeof text, "not run: %s", one->refusal.message);
        put_text(shown, "spanning", text);
        return shown;
    }
    describe_stops(one, json_object_get(row, "stops"), text, sizeof text);
    put_text(shown, "stopped_by", text);
    put_count(shown, "frames", game->set.options.frames);
    put_flag(shown, "is_long", one->spreads[MEASURE_US].median >= 99.95);
    put_flag(shown, "is_turned", !contender_is_inside(one) && one->outside_deg > 1e-7);
    put_flag(shown, "is_moved", one->outside_mm > 1e-6);
    return shown;
}

static void describe_goals(const trials *set, char *text, size_t size)
{
    if (set->is_made)
        snprintf(text, size, "%d %s at random poses inside the limits", set->effector_count,
                 set->has_markers ? (set->effector_count == 1 ? "marker" : "markers") : "ends of limbs");
    else if (set->recorded)
        snprintf(text, size, "%d markers%s", set->points,
                 set->is_oracle ? ", with the offsets of each frame's reference pose (oracle)" : "");
    else if (set->orientations == 0)
        snprintf(text, size, "%d position%s", set->points, set->points == 1 ? "" : "s");
    else
        snprintf(text, size, "%d position%s and %d orientation%s", set->points, set->points == 1 ? "" : "s",
                 set->orientations, set->orientations == 1 ? "" : "s");
}

/* What templates quote besides the results. */
static json_t *describe(const contest *game, const json_t *object)
{
    static const char *const places[] = {"the pose of the goals",
                                         "rest",
                                         "zero",
                                         "the pose in the file",
                                         "the pose that tracking found in the frame before",
                                         "the reference in the frame before"};
    const trial_options *options = &game->set.options;
    char text[256];
    json_t *shown = json_copy((json_t *)object);
    describe_goals(&game->set, text, sizeof text);
    put_text(shown, "wanted", text);
    put_text(shown, "place", places[options->start]);
    put_flag(shown, "is_page", 1); /* when a page quotes this; tables on the screen quote the rows */
    put_flag(shown, "is_near", options->start == START_NEAR);
    put_flag(shown, "is_made", game->set.is_made && !game->set.kept->count);
    put_flag(shown, "is_own", !game->set.is_made || game->set.kept->count);
    put_flag(shown, "is_many", options->frames > 1);
    put_count(shown, "more", options->start != START_NEAR && options->spread > 0 ? options->frames - 1 : 0);
    put_number(shown, "enough_m2", fmax(game->options.objective, 1e-12));
    json_t *rows = json_array();
    for (int i = 0; i < game->count; i++)
        json_array_append_new(
            rows, shown_row(game, &game->contenders[i], json_array_get(json_object_get(object, "methods"), (size_t)i)));
    json_object_set_new(shown, "methods", rows);
    return shown;
}

const char compare_goals_text[] = "{wanted}[; {constraints?}{constraints} constraint{constraints:/s}][, from {goals}]";
const char compare_start_text[] = "[{is_near?}{spread_deg%.4g}° off the pose of the goals|{place}]"
                                  "[{more?}, then {more} pose{more:/s} {spread_deg%.4g}° off it]";
const char compare_success_text[] =
    "[{is_many?}Medians over the frames; limits: the largest violation. ]Success: "
    "[{is_made?}all goals met, f at most {enough_m2} m².|f within 0.1 % of the lowest that any method found]"
    "[{is_own?}{bounded?} inside the limits][{is_own?}, or at most {enough_m2} m²][{constraints?}, and all hard "
    "constraints kept to 1e-6 of the skeleton's length][{is_own?}.]";

/* ---- results, as text ------------------------------------------------------------------------------------- */

static void print_results(const cli *tool, const contest *game, const json_t *shown)
{
    cli_title(tool, "%s", json_string_value(json_object_get(shown, "model")));
    cli_say(tool, ": %d degrees of freedom\n", ulna_model_dof_count(game->set.model));
    fact_line(tool, shown, "goals", compare_goals_text);
    fact_line(tool, shown, "start", compare_start_text);
    fact_line(tool, shown, "frames", "{frames}, joint limits [{bounded?}kept if the method can|ignored]");
    cli_say(tool, "\n");
    fact_table(tool, 0, json_object_get(shown, "methods"), compare_columns);
    cli_say(tool, "\n");
    fact_line(tool, shown, NULL, compare_success_text);
    fact_line(tool, shown, NULL,
              "Fastest of those that always succeed[{bounded?} and keep the limits exactly]: {fastest}");
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

static int run(const cli *tool, json_t *object, const char *model, const char *source, contest *game)
{
    ulna_error error;
    ulna_error_clear(&error);
    const char *path = cli_value(tool, "report");
    progress bar;
    progress_begin(&bar, tool);
    ulna_status status = contest_run(game, path != NULL, &bar, &error);
    progress_end(&bar);
    if (status != ULNA_OK)
        return files_fail(object, model, &error);
    put_results(object, game, model, source);
    json_t *shown = describe(game, object);
    print_results(tool, game, shown);
    int code = CLI_DONE, is_solved = 0;
    if (path && compare_write_page(game, shown, path, &error))
        code = files_fail(object, path, &error);
    else if (path) {
        put_text(object, "report", path);
        cli_say(tool, "Report: %s\n", path);
    }
    for (int i = 0; i < game->count; i++) {
        const contender *one = &game->contenders[i];
        if (one->refusal.status == ULNA_ERR_MEMORY || one->failure == ULNA_ERR_MEMORY) {
            (void)cli_fail(&error, ULNA_ERR_MEMORY, "%s: out of memory", one->method->name);
            cli_complain("%s", error.message);
            json_object_set_new(object, "error", cli_json_error(&error));
            code = code ? code : CLI_PARTLY;
        }
        is_solved |= !game->contenders[i].refusal.status && game->contenders[i].successes == game->set.options.frames;
    }
    json_decref(shown);
    return code ? code : is_solved ? CLI_DONE : CLI_PARTLY;
}

static int compare(const cli *tool, json_t *object, contest *game, const ulna_model *model, const char *name,
                   trial_options *how)
{
    goals wanted;
    constraint_file kept = {.wanted = &wanted};
    ulna_error error;
    ulna_error_clear(&error);
    goals_init(&wanted, model);
    int code = read_goals(tool, object, &wanted, &kept);
    if (!code) {
        game->options.locked = kept.locked;
        game->options.strength = kept.strength;
        if (wanted.start && !cli_value(tool, "start") && !cli_value(tool, "cold"))
            how->start = START_GIVEN;
        const char *path = cli_value(tool, cli_value(tool, "constraints") ? "constraints" : "goals");
        const char *source = path ? path : wanted.count ? "the command line" : NULL;
        if (trials_create(&game->set, model, &wanted, &kept, how, &error))
            code = files_fail(object, error.line && path ? path : name, &error);
        else
            code = run(tool, object, name, source, game);
    }
    trials_release(&game->set); /* they are made of what follows */
    constraint_file_release(&kept);
    goals_release(&wanted);
    return code;
}

/* Frames of a recording. */
static int compare_recorded(const cli *tool, json_t *object, contest *game, const char *skeleton, trial_options *how)
{
    recorded from = {.skeleton = {.file = ulna_content_empty(NULL)}};
    ulna_error error;
    ulna_error_clear(&error);
    int code = recorded_load(tool, object, skeleton, &from);
    if (!code) {
        how->bounded = from.job.bounded;
        if (recorded_prepare(&from, how->start, how->frames, &error))
            code = error.status == ULNA_ERR_ARGUMENT ? cli_usage(tool, "%s", error.message)
                                                     : files_fail(object, from.job.markers_path, &error);
    }
    if (!code) {
        game->options.bounded = from.job.bounded;
        game->options.lower = from.job.options.solve.lower;
        game->options.upper = from.job.options.solve.upper;
        game->options.locked = from.locked;
        if (trials_create_recorded(&game->set, &from, how, &error))
            code = files_fail(object, from.job.markers_path, &error);
        else
            code = run(tool, object, skeleton, from.job.markers_path, game);
        files_print_notes(tool, from.job.notes);
    }
    trials_release(&game->set);
    recorded_release(&from);
    return code;
}

static int compare_main(cli *tool)
{
    contest game = {.best = -1};
    trial_options how;
    ulna_model *model = NULL;
    ulna_error error;
    ulna_error_clear(&error);
    int code = read_options(tool, &game, &how);
    if (!code) {
        const char *name = tool->operand_count ? tool->operands[0] : "human";
        json_t *object = json_object();
        if (cli_value(tool, "markers"))
            code = compare_recorded(tool, object, &game,
                                    cli_value(tool, "skeleton") ? cli_value(tool, "skeleton") : name, &how);
        else if (tool->operand_count ? cli_load_model(name, &model, &error)
                                     : ulna_sample_create(name, NULL, &model, &error))
            code = files_fail(object, name, &error);
        else
            code = compare(tool, object, &game, model, name, &how);
        if (code == CLI_USAGE) /* cli_usage has printed the object of --json */
            json_decref(object);
        else
            cli_json_print(tool, object);
    }
    contest_release(&game);
    ulna_model_destroy(model);
    return code;
}

/* ---- help --------------------------------------------------------------------------------------------------- */

static const cli_option options[] = {
    {"methods", 'm', "A,B,...",
     "Methods to run; `ulna methods` lists them. Default: all except the global ones, which take longer; with --constraints, those that "
     "keep constraints."},
    {"goals", 0, "FILE",
     "Goals from a file, instead of random ones. CSV: one goal per line, name,x,y,z or name,x,y,z,weight, in metres; "
     "the name is that of a marker, or else of a body, whose origin is then meant. JSON: see docs/command-line.md."},
    {"constraints", 0, "FILE",
     "Constraints that every solve keeps, and goals, from a JSON file as for `ulna solve --constraints`, without frames and feet: see "
     "docs/constraints-file.md."},
    {"goal", 0, "\"NAME X Y Z\"", "A goal, in metres. May be repeated, and combined with --goals or --constraints."},
    {"frames", 'n', "N",
     "Number of problems; A:B, problems A to B, counted from 1. Default: 10. With goals of your own, the number of starts. Default: "
     "1."},
    {"skeleton", 's', "FILE", "The skeleton of --markers, if it is not given as MODEL."},
    {"markers", 0, "FILE",
     "Frames of a recording in place of random goals: C3D, TRC or CSV. The following options up to --no-checks are those of `ulna solve`; "
     "--frames A:B then is by the numbers of the file."},
    {"attach", 'a', "WHERE",
     "Where the markers are: a CSV file as `ulna calibrate` writes it, model, names, reference or oracle."},
    {"reference", 0, "FILE", "A motion of the same take, such as the AMC file of a C3D file."},
    {"bounds", 0, "WHICH",
     "Joint limits of recorded frames: none (default), skeleton, a motion file or a table of limits."},
    {"ball", 0, "KIND",
     "How joints with three rotations are solved: euler (default), quaternion, expmap or swing-twist."},
    CLI_RECORDING_OPTIONS,
    {"pick", 0, "N", "How many recorded frames to solve, evenly spaced in those of --frames. Default: 10."},
    {"start", 0, "WHERE",
     "Start of recorded frames: tracked (default), the pose that tracking finds in the frame before; reference (default with --attach oracle), the "
     "reference in the frame before; rest; zero: all angles zero, the root at the mean of the markers. Start of other problems: near (default): near the pose from which random goals were made, see --spread; rest (default "
     "for goals of your own, unless their file has a start); zero: all joint values zero."},
    {"cold", 0, NULL, "The same as --start rest."},
    {"spread", 0, "DEG",
     "Standard deviation of the starts, in degrees. Default: 3. For translations: the same in radians, times the "
     "characteristic length."},
    {"seed", 0, "N", "Seed of the random problems. Default: 1."},
    {"unbounded", 0, NULL, "Ignore joint limits in all methods."},
    {"max-iter", 0, "N", "Maximum number of iterations. Default: that of each method."},
    {"tol", 0, "X", "Stop when f is at most X square metres. Default: 1e-24."},
    CLI_SET_OPTION,
    {"report", 'r', "FILE", "Write a report with the table and plots of convergence: one HTML file without scripts."},
    {0},
};

const cli_command compare_command = {
    .name = "compare",
    .operands = "[MODEL]",
    .operand = "a file name",
    .least = 0,
    .most = 1,
    .summary = "run methods on the same problems",
    .text =
        "Solves the same problems with every method and prints one table. For each method it has: the number of "
        "problems solved; the final f (half the weighted sum of squared distances); the root mean square distance to "
        "the goals; iterations; evaluations of f; microseconds per solve (the best of up to five runs); whether joint "
        "limits were kept, or else the largest violation; and why the solves stopped. Figures are medians over the "
        "problems. A problem is solved if all goals are met: f at most 1e-12 m2. Goals of your own may be out of "
        "reach; then f must be within 0.1 % of the lowest that any method found (with limits: any method that kept "
        "them). With constraints, the largest violation of a hard one is a column more, and a problem is solved only if all are "
        "kept to 1e-6 of the skeleton's length.\n\n"
        "MODEL is a model file, or the name of a built-in skeleton. Default: human. Without goals of your own, "
        "goals are the positions of the markers (or of the ends of the limbs, if there are no markers) in random "
        "poses inside the limits. The same seed gives the same problems.\n\n"
        "The exit code is 0 if some method solved all problems, else 1.",
    .options = options,
    .reads = "skeleton markers attach reference bounds goals constraints OPERANDS",
    .writes = "report",
    .examples = "ulna compare\tall methods, starts near the goals\n"
                "ulna compare --cold --report c.html\tfrom rest, with plots\n"
                "ulna compare arm --goal \"tool 0.3 0.2 0.5\"\ta goal of your own\n"
                "ulna compare m.json --goals g.csv\ta skeleton of your own\n"
                "ulna compare human --constraints c.json\twith constraints, by the methods that keep them",
    .run = compare_main,
};
