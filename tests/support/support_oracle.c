#include "support_oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "global/reduced.h"
#include "support.h"

static const char *const families[] = {"chain3", "chain5", "hand", "body"};
static const char *const kinds[] = {"all_clean", "all_noisy", "end_clean", "end_noisy"};

static FILE *open_oracle(const char *name)
{
    char folder[1024], path[1200];
    snprintf(folder, sizeof folder, "%s/../oracles/global-ik", ulna_test_data_dir());
    return fopen(ulna_test_path(path, sizeof path, folder, name), "r");
}

static void read_numbers(FILE *file, int count, double *numbers)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(fscanf(file, "%lf", &numbers[i]), 1);
}

static void read_instance(FILE *file, ulna_oracle *o)
{
    assert_int_equal(fscanf(file, "%d %d", &o->joints, &o->points), 2);
    assert_in_range((unsigned)o->joints, 1, ULNA_ORACLE_JOINTS);
    assert_in_range((unsigned)o->points, 1, ULNA_ORACLE_POINTS);
    for (int j = 0; j < o->joints; j++) {
        int type;
        assert_int_equal(fscanf(file, "%d %d", &o->parent[j], &type), 2);
        assert_in_range((unsigned)type, ULNA_ORACLE_FREE, ULNA_ORACLE_BASE);
        o->type[j] = (ulna_oracle_type)type;
        read_numbers(file, 3, o->axis[j]);
        read_numbers(file, 1, &o->lower[j]);
        read_numbers(file, 1, &o->upper[j]);
        read_numbers(file, 3, o->v[j]);
    }
    for (int k = 0; k < o->points; k++) {
        assert_int_equal(fscanf(file, "%d", &o->point_joint[k]), 1);
        read_numbers(file, 3, o->point[k]);
    }
    read_numbers(file, 3, o->translation);
    read_numbers(file, 9, o->rotation);
    read_numbers(file, o->joints, o->angle);
}

static int read_family(const char *family, const char *kind, ulna_oracle **instances, int count)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s.txt", family, kind);
    FILE *file = open_oracle(name);
    if (!file)
        return count;
    int more;
    assert_int_equal(fscanf(file, "%d", &more), 1);
    assert_in_range((unsigned)more, 1, 10000);
    *instances = realloc(*instances, (size_t)(count + more) * sizeof **instances);
    assert_non_null(*instances);
    for (int i = 0; i < more; i++) {
        ulna_oracle *o = &(*instances)[count + i];
        memset(o, 0, sizeof *o);
        snprintf(o->family, sizeof o->family, "%s_%s", family, kind);
        o->index = i;
        o->hull_opt = o->hull_gap = o->bone_opt = o->bone_gap = o->best = NAN;
        read_instance(file, o);
    }
    fclose(file);
    return count + more;
}

static double number_or_nan(const char *word)
{
    return strcmp(word, "-") == 0 ? NAN : strtod(word, NULL);
}

static void read_expected(ulna_oracle *instances, int count)
{
    FILE *file = open_oracle("expected.txt");
    char line[512], family[64], word[5][64];
    int index;
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%63s %d %63s %63s %63s %63s %63s", family, &index, word[0], word[1], word[2], word[3],
                   word[4]) != 7)
            continue; /* the headings */
        for (int i = 0; i < count; i++) {
            ulna_oracle *o = &instances[i];
            if (o->index != index || strcmp(o->family, family) != 0)
                continue;
            double *numbers[] = {&o->hull_opt, &o->hull_gap, &o->bone_opt, &o->bone_gap, &o->best};
            for (size_t k = 0; k < 5; k++)
                *numbers[k] = number_or_nan(word[k]);
        }
    }
    fclose(file);
    for (int i = 0; i < count; i++)
        assert_true(instances[i].best >= 0);
}

int ulna_oracles_load(ulna_oracle **instances)
{
    int count = 0;
    *instances = NULL;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            count = read_family(families[f], kinds[k], instances, count);
    if (count)
        read_expected(*instances, count);
    return count;
}

static int add_node(ulna_reduced *r, ulna_edge edge, int parent)
{
    r->nodes[r->count] = (ulna_node){.edge = edge, .parent = parent, .dof = ULNA_NONE, .body = ULNA_NONE};
    return r->count++;
}

/* A joint stands at the end of a bone in its parent's frame, and turns there. */
void ulna_oracle_reduced(const ulna_oracle *oracle, ulna_reduced *reduced)
{
    int place[ULNA_ORACLE_JOINTS], frame[ULNA_ORACLE_JOINTS];
    *reduced = (ulna_reduced){.length = 1, .unit = 1, .capacity = 2 * oracle->joints + 1};
    reduced->nodes = calloc((size_t)reduced->capacity, sizeof *reduced->nodes);
    assert_non_null(reduced->nodes);
    add_node(reduced, ULNA_EDGE_WORLD, ULNA_NONE);
    for (int j = 0; j < oracle->joints; j++) {
        int at = oracle->parent[j] < 0 ? 0 : frame[oracle->parent[j]];
        if (oracle->type[j] == ULNA_ORACLE_FREE)
            at = add_node(reduced, ULNA_EDGE_FREE, 0);
        if (oracle->parent[j] >= 0 && (oracle->v[j][0] != 0 || oracle->v[j][1] != 0 || oracle->v[j][2] != 0)) {
            at = add_node(reduced, ULNA_EDGE_BONE, at);
            memcpy(reduced->nodes[at].v, oracle->v[j], sizeof oracle->v[j]);
        }
        place[j] = frame[j] = at;
        if (oracle->type[j] == ULNA_ORACLE_HINGE) {
            frame[j] = add_node(reduced, ULNA_EDGE_HINGE, at);
            memcpy(reduced->nodes[frame[j]].axis, oracle->axis[j], sizeof oracle->axis[j]);
            reduced->nodes[frame[j]].lower = oracle->lower[j];
            reduced->nodes[frame[j]].upper = oracle->upper[j];
            reduced->nodes[frame[j]].dof = j;
        }
    }
    for (int k = 0; k < oracle->points; k++) {
        ulna_node *node = &reduced->nodes[place[oracle->point_joint[k]]];
        assert_true(node->weight == 0); /* one point a joint */
        node->weight = 1;
        memcpy(node->goal, oracle->point[k], sizeof oracle->point[k]);
    }
}
