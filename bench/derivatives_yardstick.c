/* The yardstick: see the header. The layout of take.bin is that of the prototype's exporter; lengths are in centimetres. */
#include "derivatives_yardstick.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAME = 1000, MOST = 128 };

int yardstick_build(const char *folder)
{
    const char *prototypes = getenv("ULNA_PROTOTYPES");
    char command[2048];
    if (!prototypes)
        prototypes = ULNA_SOURCE_DIR "/../shared/prototypes";
    if (access(prototypes, R_OK) != 0)
        return 0;
    snprintf(command, sizeof command, "make -s -C '%s' OUT=\"$(realpath '%s')\" kernel >/dev/null 2>&1", prototypes,
             folder);
    return system(command) == 0;
}

double yardstick_kernel_us(const char *folder)
{
    char command[1024], line[1024];
    double us = -1;
    snprintf(command, sizeof command, "cd '%s' && ./kernel 2>/dev/null", folder);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return -1;
    while (fgets(line, sizeof line, pipe)) {
        const char *full = strstr(line, "iteration");
        if (full && sscanf(full, "iteration %*f (min %lf)", &us) != 1)
            us = -1;
    }
    pclose(pipe);
    return us;
}

typedef struct raw_take {
    int nb, nd, nm, nf;
    int parent[MOST], dof[MOST], dofs[MOST], axis[MOST], marker_body[MOST];
    double rotation[MOST][9], offset[MOST][3], marker[MOST][3], goal[MOST][3], q[MOST];
} raw_take;

static int read_ints(FILE *file, int *values, size_t count)
{
    return fread(values, sizeof *values, count, file) == count;
}

static int read_doubles(FILE *file, double *values, size_t count)
{
    return fread(values, sizeof *values, count, file) == count;
}

static int skip_doubles(FILE *file, size_t count)
{
    return fseek(file, (long)(count * sizeof(double)), SEEK_CUR) == 0;
}

static int read_take(FILE *file, raw_take *raw)
{
    int marker_index, sizes[4];
    double limits[2];
    if (!read_ints(file, sizes, 4))
        return 0;
    raw->nb = sizes[0], raw->nd = sizes[1], raw->nm = sizes[2], raw->nf = sizes[3];
    if (raw->nb > MOST || raw->nd > MOST || raw->nm > MOST || raw->nf <= FRAME)
        return 0;
    for (int b = 0; b < raw->nb; b++)
        if (!read_ints(file, &raw->parent[b], 1) || !read_ints(file, &raw->dof[b], 1) ||
            !read_ints(file, &raw->dofs[b], 1) || !read_doubles(file, raw->rotation[b], 9) ||
            !read_doubles(file, raw->offset[b], 3))
            return 0;
    for (int d = 0; d < raw->nd; d++)
        if (!read_ints(file, &raw->axis[d], 1) || !read_doubles(file, limits, 2))
            return 0;
    for (int m = 0; m < raw->nm; m++)
        if (!read_ints(file, &marker_index, 1) || !read_ints(file, &raw->marker_body[m], 1))
            return 0;
    size_t nm3 = 3 * (size_t)raw->nm, nf = (size_t)raw->nf;
    return read_doubles(file, raw->marker[0], nm3) && skip_doubles(file, nm3) && skip_doubles(file, nm3 * nf) &&
           skip_doubles(file, nm3 * FRAME) && read_doubles(file, raw->goal[0], nm3) &&
           skip_doubles(file, nm3 * (nf - FRAME - 1)) && skip_doubles(file, (size_t)raw->nm * nf) &&
           skip_doubles(file, (size_t)raw->nd * FRAME) && read_doubles(file, raw->q, (size_t)raw->nd);
}

static void to_metres(double *x, int n)
{
    for (int i = 0; i < n; i++)
        x[i] *= 0.01;
}

static ulna_status build_model(raw_take *raw, ulna_model **model)
{
    ulna_builder *builder;
    ulna_status status = ulna_builder_create(NULL, &builder);
    for (int b = 0; status == ULNA_OK && b < raw->nb; b++) {
        char name[16], order[16] = "";
        int body;
        snprintf(name, sizeof name, "bone%d", b);
        for (int d = raw->dof[b]; d < raw->dof[b] + raw->dofs[b]; d++) {
            char token[3] = {raw->axis[d] < 3 ? 'R' : 'T', (char)('x' + raw->axis[d] % 3), 0};
            strncat(order, token, sizeof order - strlen(order) - 1);
        }
        ulna_joint joint = ulna_joint_sequence(order);
        to_metres(raw->offset[b], 3);
        status = ulna_builder_add_body(builder, name, raw->parent[b], &body, NULL);
        if (status == ULNA_OK)
            status = ulna_builder_set_placement(builder, body, raw->offset[b], raw->rotation[b], NULL);
        if (status == ULNA_OK)
            status = ulna_builder_set_joint(builder, body, &joint, NULL);
    }
    if (status == ULNA_OK)
        status = ulna_builder_build(builder, NULL, model, NULL);
    ulna_builder_destroy(builder);
    return status;
}

int yardstick_load(const char *folder, yardstick_take *take)
{
    char path[1024];
    raw_take *raw = calloc(1, sizeof *raw);
    *take = (yardstick_take){.q = calloc(MOST, sizeof *take->q)};
    snprintf(path, sizeof path, "%s/take.bin", folder);
    FILE *file = fopen(path, "rb");
    int good = raw && take->q && file && read_take(file, raw) && build_model(raw, &take->model) == ULNA_OK &&
               ulna_problem_create(take->model, NULL, &take->problem, NULL) == ULNA_OK;
    for (int m = 0; good && m < raw->nm; m++) {
        to_metres(raw->marker[m], 3);
        to_metres(raw->goal[m], 3);
        good = ulna_problem_add_point(take->problem, raw->marker_body[m], raw->marker[m], raw->goal[m], 1, NULL,
                                      NULL) == ULNA_OK;
    }
    good = good && ulna_problem_ready(take->problem, NULL) == ULNA_OK;
    if (good) {
        memcpy(take->q, raw->q, (size_t)raw->nd * sizeof *take->q);
        to_metres(take->q, 3);
    }
    if (file)
        fclose(file);
    free(raw);
    if (!good)
        yardstick_free(take);
    return good;
}

void yardstick_free(yardstick_take *take)
{
    free(take->q);
    ulna_problem_destroy(take->problem);
    ulna_model_destroy(take->model);
    *take = (yardstick_take){0};
}
