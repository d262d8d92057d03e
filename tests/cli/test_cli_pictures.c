/* The pictures of `ulna definiteness`: SVG that shows what the figures say, complete or not there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "support_tool.h"
#include "support_two_link.h"

/* Runs `ulna definiteness ARGUMENTS` and returns its exit code. */
static int run(ulna_test_tool *tool, const char *arguments)
{
    char words[1100];
    snprintf(words, sizeof words, "definiteness %s", arguments);
    return ulna_test_tool_run(tool, words);
}

/* ---- SVG ---------------------------------------------------------------------------------------------- */

/* Enough of XML for our own files: tags are closed in order, attributes quoted, texts escaped. */
static void check_xml(const char *text)
{
    char open[16][32] = {0};
    int depth = 0, elements = 0;
    const char *at = strstr(text, "?>\n");
    assert_non_null(at);
    for (at += 3; *at; at++) {
        if (*at == '&') {
            assert_true(strncmp(at, "&amp;", 5) == 0 || strncmp(at, "&quot;", 6) == 0 || strncmp(at, "&lt;", 4) == 0 ||
                        strncmp(at, "&gt;", 4) == 0);
            continue;
        }
        assert_true(*at == '\n' || (unsigned char)*at >= 0x20);
        assert_int_not_equal(*at, '>');
        if (*at != '<')
            continue;
        int closes = at[1] == '/';
        const char *name = at + 1 + closes;
        int length = (int)strcspn(name, " />");
        const char *end = name + length;
        int quoted = 0;
        for (; *end && (quoted || *end != '>'); end++) {
            quoted ^= *end == '"';
            assert_int_not_equal(*end, '<');
        }
        assert_int_equal(*end, '>');
        assert_true(length > 0 && length < 32);
        if (closes) {
            assert_true(depth > 0);
            depth--;
            assert_true(strncmp(open[depth], name, (size_t)length) == 0 && open[depth][length] == 0);
        } else if (end[-1] != '/') {
            assert_true(depth < 16);
            snprintf(open[depth++], sizeof open[0], "%.*s", length, name);
        }
        elements++;
        at = end;
    }
    assert_int_equal(depth, 0);
    assert_true(elements > 100);
}

/* Reads a number and moves on. */
static double take(const char **at)
{
    char *end;
    while (**at == ' ')
        ++*at;
    double value = strtod(*at, &end);
    if (end == *at || !isfinite(value))
        fail_msg("no number at '%.30s'", *at);
    *at = end;
    return value;
}

typedef struct extent {
    double left, top, right, bottom;
} extent;

/* Sums up the cells of one colour inside a map, or all; `first` receives the extent of the first one. */
static double area_of_cells(const char *svg, const char *colour, const extent *map, extent *first)
{
    char start[96];
    double area = 0;
    int found = 0;
    snprintf(start, sizeof start, "<path fill=\"#%s\" shape-rendering=\"crispEdges\" d=\"", colour);
    for (const char *path = strstr(svg, start); path; path = strstr(path, start)) {
        path += strlen(start);
        while (*path == 'M') {
            extent cell;
            path++;
            cell.left = take(&path);
            cell.top = take(&path);
            assert_int_equal(*path++, 'H');
            cell.right = take(&path);
            assert_int_equal(*path++, 'V');
            cell.bottom = take(&path);
            assert_int_equal(*path++, 'H');
            assert_near(take(&path), cell.left, 1e-9);
            assert_int_equal(*path++, 'z');
            if (!found++ && first)
                *first = cell;
            if (!map || (cell.left >= map->left - 0.01 && cell.right <= map->right + 0.01))
                area += (cell.right - cell.left) * (cell.bottom - cell.top);
        }
        assert_int_equal(*path, '"');
    }
    return area;
}

/* Every other path: M, l, z and pairs of numbers, inside the picture. */
static void check_paths(const char *svg, double width, double height)
{
    int count = 0;
    for (const char *path = strstr(svg, " d=\"M"); path; path = strstr(path, " d=\"M"), count++) {
        double x = 0, y = 0;
        path += 4;
        if (strchr("H", path[strcspn(path, "Hl\"")])) /* cells */
            continue;
        while (*path != '"') {
            char letter = *path == 'M' || *path == 'l' || *path == 'z' ? *path++ : 'l';
            if (letter == 'z')
                continue;
            double a = take(&path), b = take(&path);
            x = letter == 'M' ? a : x + a;
            y = letter == 'M' ? b : y + b;
            assert_true(x >= 0 && x <= width && y >= 0 && y <= height);
        }
    }
    assert_true(count > 100);
}

/* The curves between regions are closed, or end on the border of the map: each piece begins and ends there, or where
 * another one does. */
static void check_curves(const char *svg, const extent *map)
{
    enum { MOST = 20000 };
    const char *start = "stroke=\"#d02020\" stroke-width=\"1.2\" d=\"";
    const char *path = strstr(svg, start);
    double(*ends)[2] = calloc(MOST, sizeof *ends);
    int count = 0;
    assert_non_null(path);
    assert_non_null(ends);
    for (path += strlen(start); *path == 'M' && count < MOST; count += 2) {
        path++;
        ends[count][0] = take(&path);
        ends[count][1] = take(&path);
        assert_int_equal(*path++, 'l');
        ends[count + 1][0] = ends[count][0] + take(&path);
        ends[count + 1][1] = ends[count][1] + take(&path);
    }
    assert_int_equal(*path, '"');
    assert_true(count > 400 && count < MOST);
    for (int i = 0; i < count; i++) {
        double gap = fmin(fmin(fabs(ends[i][0] - map->left), fabs(ends[i][0] - map->right)),
                          fmin(fabs(ends[i][1] - map->top), fabs(ends[i][1] - map->bottom)));
        for (int k = 0; k < count && gap > 0.011; k++)
            if (k != i)
                gap = fmin(gap, fmax(fabs(ends[i][0] - ends[k][0]), fabs(ends[i][1] - ends[k][1])));
        assert_true(gap <= 0.011);
    }
    free(ends);
}

static void read_size(const char *svg, double size[2])
{
    const char *root = strstr(svg, "<svg ");
    assert_non_null(root);
    assert_int_equal(
        sscanf(root, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%lf\" height=\"%lf\"", &size[0], &size[1]), 2);
}

static void svg_shows_the_figures(void **state)
{
    ulna_test_tool *tool = *state;
    assert_int_equal(run(tool, "--json --size 120 --goal '1 0 0' -o one.svg"), 0);
    json_t *object = ulna_test_tool_json(tool);
    json_t *file = json_array_get(json_object_get(object, "files"), 0);
    assert_string_equal(json_string_value(json_object_get(file, "file")), "one.svg");
    assert_string_equal(json_string_value(json_object_get(file, "result")), "written");
    char *svg = ulna_test_tool_file(tool, "one.svg");
    check_xml(svg);
    ulna_test_says(svg, "goal (1, 0, 0) m");

    double size[2];
    read_size(svg, size);
    extent map = {0};
    double ground = area_of_cells(svg, "c8c8c8", NULL, &map);
    assert_near(map.right - map.left, map.bottom - map.top, 1e-9);
    double white = area_of_cells(svg, "ffffff", &map, NULL), dark = area_of_cells(svg, "707070", &map, NULL);
    json_t *goal = json_array_get(json_object_get(object, "goals"), 0);
    json_t *sweep = json_array_get(json_object_get(goal, "sweeps"), 0);
    double positive = json_number_value(json_object_get(sweep, "positive_percent"));
    double negative = json_number_value(json_object_get(sweep, "negative_percent"));
    assert_true(positive > 10 && negative > 10);
    assert_near(100 * white / ground, positive, 0.2); /* coordinates are rounded to hundredths */
    assert_near(100 * dark / ground, negative, 0.2);
    check_paths(svg, size[0], size[1]);
    check_curves(svg, &map);
    free(svg);
    json_decref(object);
}

#define LONG_NAME "\"a & \\\"b\\\" <c> \\u00e4\\u2603 and a name that goes on and on and on\""
#define ODD_NAME "\"\\u0001\\u007f\\ufffe\""

/* Names from files are data, not markup. */
static void names_are_escaped(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "cat >evil.json <<'END'\n"
                               "{\"format\": \"ulna-model\", \"version\": 1, \"name\": \"<script>\", \"bodies\": [\n"
                               "{\"name\": " LONG_NAME ", \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}},\n"
                               "{\"name\": " ODD_NAME ", \"parent\": " LONG_NAME ",\n"
                               " \"placement\": {\"position\": [1, 0, 0]},\n"
                               " \"joint\": {\"type\": \"revolute\", \"axis\": [0, 0, 1]}}],\n"
                               "\"markers\": [{\"name\": \"]]>\", \"body\": " ODD_NAME ", \"position\": [1, 0, 0]}]}\n"
                               "END");
    assert_int_equal(run(tool, "--size 10 evil.json -o evil.svg"), 0);
    char *svg = ulna_test_tool_file(tool, "evil.svg");
    check_xml(svg);
    ulna_test_says(svg, "&lt;script&gt;, marker ]]&gt;:");
    ulna_test_says(svg, ">a &amp; &quot;b&quot; &lt;c&gt; ä☃ and");
    ulna_test_says(svg, "… (°)<");
    ulna_test_says(svg, ">??? (°)<");
    free(svg);
}

static void files_are_whole_or_absent(void **state)
{
    ulna_test_tool *tool = *state;
    ulna_test_tool_shell(tool, "mkdir taken.svg");
    assert_int_equal(run(tool, "--json --size 12 -o no/a.svg -o b.svg -o taken.svg -o c.svg -o B.SVG"), 4);
    json_t *object = ulna_test_tool_json(tool), *files = json_object_get(object, "files");
    static const char *const results[] = {"failed", "written", "failed", "written", "written"};
    assert_int_equal(json_array_size(files), 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(json_string_value(json_object_get(json_array_get(files, i), "result")), results[i]);
    json_decref(object);
    ulna_test_tool_shell(tool, "test $(ls -A | grep -v '^[.]' | wc -l) = 4 && cmp c.svg B.SVG");

    /* A limit of file size, as a full disk: nothing is left, and what was there stays. */
    ulna_test_tool_shell(tool, "cp b.svg before.svg");
    char command[256];
    snprintf(command, sizeof command, "cd %s && (ulimit -f 8; %s definiteness -q --size 200 -o b.svg -o c.svg 2>.err)",
             tool->folder, ULNA_TEST_CLI);
    assert_int_equal(WEXITSTATUS(system(command)), 4);
    ulna_test_tool_shell(tool, "cmp b.svg before.svg && cmp c.svg B.SVG && test $(ls -A | grep -v '^[.]' | wc -l) = 5");

    /* The same picture is the same file, and quiet is quiet. */
    assert_int_equal(run(tool, "-q --size 12 -o again.svg"), 0);
    assert_string_equal(tool->out, "");
    assert_string_equal(tool->err, "");
    ulna_test_tool_shell(tool, "cmp b.svg again.svg");
}

/* ---- regions ------------------------------------------------------------------------------------------ */

/* The colour of the last cell drawn over a place, 0 if there is none. */
static unsigned colour_at(const char *svg, double x, double y)
{
    static const char middle[] = "\" shape-rendering=\"crispEdges\" d=\"";
    unsigned found = 0;
    for (const char *path = strstr(svg, "<path fill=\"#"); path; path = strstr(path, "<path fill=\"#")) {
        path += strlen("<path fill=\"#");
        unsigned colour = (unsigned)strtoul(path, NULL, 16);
        if (strncmp(path + 6, middle, strlen(middle)) != 0)
            continue;
        for (path += 6 + strlen(middle); *path == 'M'; path++) {
            extent cell;
            path++;
            cell.left = take(&path);
            cell.top = take(&path);
            path++;
            cell.right = take(&path);
            path++;
            cell.bottom = take(&path);
            path++;
            take(&path);
            if (x >= cell.left && x < cell.right && y >= cell.top && y < cell.bottom)
                found = colour;
        }
    }
    return found;
}

/* Colours of the map where the formula is sure. */
static void map_shows_the_regions(void **state)
{
    ulna_test_tool *tool = *state;
    static const unsigned colours[ULNA_TEST_SEMIDEFINITE] = {0xFFFFFF, 0xC8C8C8, 0x707070};
    const double goal[2] = {3, 0};
    const ulna_test_box whole = {{-180, -180}, {180, 180}};
    int looked_at[ULNA_TEST_SEMIDEFINITE] = {0};
    extent map = {0};
    assert_int_equal(run(tool, "--goal '3 0 0' -o map.svg"), 0);
    char *svg = ulna_test_tool_file(tool, "map.svg");
    area_of_cells(svg, "c8c8c8", NULL, &map);
    for (int j = 0; j < 37; j++)
        for (int i = 0; i < 37; i++) {
            ulna_test_two_link here = ulna_test_two_link_at(goal, 0, ulna_test_box_angle(&whole, 0, i, 37),
                                                            ulna_test_box_angle(&whole, 1, j, 37));
            if (fabs(here.low) < 0.1 || fabs(here.high) < 0.1 ||
                here.region == ULNA_TEST_SEMIDEFINITE) /* near a curve */
                continue;
            unsigned colour = colour_at(svg, map.left + (i + 0.5) / 37 * (map.right - map.left),
                                        map.bottom - (j + 0.5) / 37 * (map.bottom - map.top));
            if (colour != colours[here.region])
                fail_msg("%06x and not %06x at cell %d, %d", colour, colours[here.region], i, j);
            looked_at[here.region]++;
        }
    for (int k = 0; k < ULNA_TEST_SEMIDEFINITE; k++)
        assert_true(looked_at[k] > 100);
    free(svg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(svg_shows_the_figures, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(names_are_escaped, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(files_are_whole_or_absent, ulna_test_tool_open, ulna_test_tool_close),
        cmocka_unit_test_setup_teardown(map_shows_the_regions, ulna_test_tool_open, ulna_test_tool_close),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
