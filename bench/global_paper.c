/* The paper's relaxation by libraries: see the header. */
#include "base/base.h"
#include "global.h"
#include "papers/paper.h"
#include "support.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define GAP 1e-6
enum { PER_FILE = 3 };

/* In units of the tree's cost, as F0's. NaN if there is no answer. */
static double solve_reduced(const ulna_reduced *tree, double gap, double *ms)
{
    ulna_paper paper;
    ulna_program_result result = {.optimum = NAN};
    const ulna_program_options options = {200, gap};
    global_stop_if(ulna_paper_create(tree, ULNA_PAPER_REDUCED, NULL, &paper, NULL) != ULNA_OK, "writing F1");
    double *x = calloc((size_t)paper.program.variables, sizeof *x), started = bench_now();
    ulna_status status = x ? ulna_program_solve(&paper.program, &options, x, &result, NULL) : ULNA_ERR_MEMORY;
    *ms = 1e3 * (bench_now() - started);
    free(x);
    ulna_paper_release(&paper);
    return status == ULNA_OK ? result.optimum : NAN;
}

double global_dsdp_ms(const global_skeleton *s, int i)
{
    ulna_reduced tree;
    double ms = NAN;
    const double *goals = s->goals[GLOBAL_ALL][1] + 3 * (ptrdiff_t)i * s->points[GLOBAL_ALL];
    ulna_problem *problem = s->problem[GLOBAL_ALL];
    global_stop_if(ulna_problem_set_points(problem, 0, s->points[GLOBAL_ALL], goals) != ULNA_OK ||
                       ulna_reduced_create(problem, NULL, NULL, &tree, NULL) != ULNA_OK,
                   "reducing");
    double optimum = ulna_program_solvable() ? solve_reduced(&tree, GAP, &ms) : NAN;
    ulna_reduced_release(&tree);
    return isnan(optimum) ? NAN : ms;
}

/* ---- (14) by SDPA ------------------------------------------------------------------------------------------------ */

static int write_literal(const ulna_reduced *tree, const char *path, double *constant)
{
    ulna_paper paper;
    char *text = NULL;
    size_t length = 0;
    global_stop_if(ulna_paper_create(tree, ULNA_PAPER_LITERAL, NULL, &paper, NULL) != ULNA_OK ||
                       ulna_sdpa_write(&paper.program, NULL, &text, &length) != ULNA_OK,
                   "writing F0");
    *constant = paper.program.objective.constant;
    FILE *file = fopen(path, "w");
    int good = file && fwrite(text, 1, length, file) == length;
    good = file && fclose(file) == 0 && good;
    ulna_allocator memory = ulna_allocator_or_default(NULL);
    ulna_release(&memory, text, length + 1, 1);
    ulna_paper_release(&paper);
    return good;
}

/* The line "objValPrimal = +1.2e-01" of SDPA's result. */
static double read_objective(const char *path)
{
    char line[512];
    double value = NAN;
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "objValPrimal = %lf", &value) == 1)
            break;
    if (file)
        fclose(file);
    return value;
}

static double solve_literal(const ulna_reduced *tree, const char *folder)
{
    char input[128], output[128], command[512];
    double constant;
    snprintf(input, sizeof input, "%s/f0.dat-s", folder);
    snprintf(output, sizeof output, "%s/f0.out", folder);
    if (!write_literal(tree, input, &constant))
        return NAN;
    snprintf(command, sizeof command, "sdpa %s %s -pt 2 -numThreads 1 >/dev/null 2>&1", input, output);
    double value = system(command) == 0 ? read_objective(output) + constant : NAN;
    remove(input);
    remove(output);
    return value;
}

static void compare_instance(const global_oracle *oracle, const char *folder, global_literal *literal)
{
    ulna_model *model = NULL;
    ulna_problem *problem = NULL;
    ulna_reduced tree;
    double ms;
    global_stop_if(!global_oracle_problem(oracle, &model, &problem) ||
                       ulna_reduced_create(problem, NULL, NULL, &tree, NULL) != ULNA_OK,
                   "reducing a chain");
    double reduced = solve_reduced(&tree, 1e-9, &ms), whole = solve_literal(&tree, folder);
    if (!isnan(reduced) && !isnan(whole)) {
        literal->compared++;
        literal->worst = fmax(literal->worst, fabs(whole - reduced) / reduced);
    }
    ulna_reduced_release(&tree);
    ulna_problem_destroy(problem);
    ulna_model_destroy(model);
}

global_literal global_compare_literal(void)
{
    static const char *const files[] = {"chain3_all_noisy", "chain5_all_noisy"};
    static const int hinges[] = {3, 5};
    global_literal literal = {0};
    global_oracle *oracles = calloc(PER_FILE, sizeof *oracles);
    char folder[] = "/tmp/ulna-globalXXXXXX";
    if (!oracles || !ulna_program_solvable() || system("command -v sdpa >/dev/null 2>&1") != 0 || !mkdtemp(folder)) {
        free(oracles);
        return literal;
    }
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        int count = global_oracle_read(files[f], PER_FILE, oracles), is_made = count == 0;
        for (int i = 0; i < (is_made ? PER_FILE : count); i++) {
            if (is_made)
                global_oracle_chain(hinges[f], (uint64_t)i, &oracles[i]);
            compare_instance(&oracles[i], folder, &literal);
        }
    }
    free(oracles);
    rmdir(folder);
    return literal;
}
