/* The prototype of global IK: see the header. */
#include "global.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 3 };

int global_yardstick_build(char folder[64])
{
    const char *prototypes = getenv("ULNA_PROTOTYPES");
    char command[2048];
    snprintf(folder, 64, "%s", "/tmp/ulna-globalXXXXXX");
    prototypes = prototypes ? prototypes : ULNA_SOURCE_DIR "/../shared/prototypes";
    if (access(prototypes, R_OK) != 0 || !mkdtemp(folder))
        return 0;
    snprintf(command, sizeof command, "make -s -C '%s' OUT='%s' global >/dev/null 2>&1", prototypes, folder);
    if (system(command) == 0)
        return 1;
    global_yardstick_remove(folder);
    return 0;
}

void global_yardstick_remove(const char *folder)
{
    char command[256];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0)
        fprintf(stderr, "bench_global: %s is still there\n", folder);
}

/* In the format of the oracle files; of the true pose, which the prototype does not use, only zeros. */
static int write_poses(const global_skeleton *s, int count, const char *path)
{
    const global_oracle *o = &s->oracle[GLOBAL_ALL];
    const double *goal = s->goals[GLOBAL_ALL][1];
    FILE *file = fopen(path, "w");
    if (!file)
        return 0;
    fprintf(file, "%d\n", count);
    for (int i = 0; i < count; i++) {
        fprintf(file, "%d %d\n", o->joints, o->points);
        for (int j = 0; j < o->joints; j++)
            fprintf(file, "%d %d %.17g %.17g %.17g %.17g %.17g %.17g %.17g %.17g\n", o->parent[j], o->type[j],
                    o->axis[j][0], o->axis[j][1], o->axis[j][2], o->lower[j], o->upper[j], o->v[j][0], o->v[j][1],
                    o->v[j][2]);
        for (int k = 0; k < o->points; k++, goal += 3)
            fprintf(file, "%d %.17g %.17g %.17g\n", o->point_joint[k], goal[0], goal[1], goal[2]);
        for (int n = 0; n < 12 + o->joints; n++)
            fprintf(file, "0 ");
        fprintf(file, "\n");
    }
    return fclose(file) == 0;
}

/* A line such as "F3 body.txt n=10 fail=0 | IPM median 15.20 ms max ...". */
static double median_of(const char *command)
{
    char line[1024];
    double ms = NAN;
    FILE *pipe = popen(command, "r");
    while (pipe && fgets(line, sizeof line, pipe)) {
        const char *at = strstr(line, "IPM median ");
        if (at && sscanf(at, "IPM median %lf ms", &ms) != 1)
            ms = NAN;
    }
    if (pipe)
        pclose(pipe);
    return ms;
}

static double our_median(const global_skeleton *s, int count, global_relax which)
{
    double *ms = calloc((size_t)count, sizeof *ms);
    global_stop_if(!ms, "memory");
    for (int i = 0; i < count; i++)
        ms[i] = global_relax_ms(s, i, which);
    double median = global_quantile(ms, count, 0.5);
    free(ms);
    return median;
}

int global_yardstick_run(const char *folder, const global_skeleton *s, int count, global_yardstick *y)
{
    char path[128], f2[512], f3[512];
    snprintf(path, sizeof path, "%s/%s.txt", folder, s->name);
    snprintf(f2, sizeof f2, "%s/f2 %s %d 1e-4 0 1e-4 2>/dev/null", folder, path, count);
    snprintf(f3, sizeof f3, "%s/f3 %s %d 1e-5 2>/dev/null", folder, path, count);
    if (!write_poses(s, count, path))
        return 0;
    *y = (global_yardstick){INFINITY, INFINITY, INFINITY, INFINITY};
    for (int round = 0; round < ROUNDS; round++) {
        y->our_f2_ms = fmin(y->our_f2_ms, our_median(s, count, GLOBAL_F2_AS_THERE));
        y->f2_ms = fmin(y->f2_ms, median_of(f2));
        y->our_f3_ms = fmin(y->our_f3_ms, our_median(s, count, GLOBAL_F3_AS_THERE));
        y->f3_ms = fmin(y->f3_ms, median_of(f3));
    }
    return isfinite(y->f2_ms) && isfinite(y->f3_ms);
}
