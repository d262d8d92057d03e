/* The take of bench_calibrate: see the header. */
#include "calibrate_take.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int calibrate_take_load(const bench_take *from, calibrate_take *take)
{
    memset(take, 0, sizeof *take);
    take->skeleton = bench_load(from->skeleton, NULL);
    take->markers = bench_load(from->markers, NULL);
    int ready = take->skeleton.model && take->markers.recording.frame_count;
    if (ready) {
        ulna_take_options options = ulna_take_options_for(&take->skeleton, &take->markers);
        options.attach = ULNA_ATTACH_NAMES;
        ready = ulna_take_create(&options, &take->clean, NULL) == ULNA_OK;
    }
    if (!ready)
        calibrate_take_free(take);
    return ready;
}

void calibrate_take_free(calibrate_take *take)
{
    ulna_take_destroy(take->clean);
    ulna_content_release(&take->markers);
    ulna_content_release(&take->skeleton);
}

ulna_take *calibrate_take_with(const calibrate_take *take, const ulna_recording *recording, const ulna_model *model,
                               const ulna_marker_set *set)
{
    ulna_take_options options = ulna_take_options_default();
    ulna_take *made = NULL;
    options.model = model ? model : take->clean->model;
    options.recording = recording ? recording : take->clean->recording;
    options.set = set ? set : &take->clean->set;
    options.axes = take->clean->axes;
    if (ulna_take_create(&options, &made, NULL) != ULNA_OK)
        exit(1);
    return made;
}

static double uniform(uint64_t *state)
{
    *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void swap_knees(double *x, int left, int right)
{
    for (int k = 0; k < 3; k++) {
        double knee = x[3 * left + k];
        x[3 * left + k] = x[3 * right + k];
        x[3 * right + k] = knee;
    }
}

ulna_recording calibrate_take_dirty(const calibrate_take *take)
{
    const ulna_recording *from = &take->markers.recording;
    ulna_recording r = ulna_recording_empty(NULL);
    uint64_t state = 3;
    if (ulna_recording_resize(&r, from->marker_count, from->frame_count) != ULNA_OK)
        exit(1);
    memcpy(r.names, from->names, (size_t)r.marker_count * sizeof *r.names);
    memcpy(r.positions, from->positions, 3 * (size_t)r.marker_count * (size_t)r.frame_count * sizeof *r.positions);
    int left = ulna_recording_find(&r, "LKNE"), right = ulna_recording_find(&r, "RKNE");
    for (int f = 0; f < r.frame_count; f++) {
        double *x = ulna_recording_frame(&r, f);
        if (f > 0.4 * r.frame_count && f < 0.6 * r.frame_count)
            swap_knees(x, left, right);
        for (int i = 0; i < r.marker_count; i++) {
            if (uniform(&state) < 0.02)
                x[3 * i + (int)(3 * uniform(&state))] += 0.1 + 0.4 * uniform(&state);
            if (uniform(&state) < 0.1)
                x[3 * i] = x[3 * i + 1] = x[3 * i + 2] = NAN;
        }
    }
    return r;
}

double calibrate_take_rms(const calibrate_take *take, const ulna_calibration *found)
{
    ulna_take *made = calibrate_take_with(take, NULL, found->model, &found->set);
    ulna_track_result result;
    double squares = 0;
    long long seen = 0;
    if (ulna_track(made, NULL, &result, NULL) != ULNA_OK)
        exit(1);
    for (int f = 0; f < made->frame_count; f++) {
        squares += result.frames[f].rms * result.frames[f].rms * result.frames[f].seen;
        seen += result.frames[f].seen;
    }
    ulna_track_result_release(&result);
    ulna_take_destroy(made);
    return sqrt(squares / (double)seen);
}

/* Lines such as "scale 0 K1 40 K2 200 GM4: it 16 median 207 ms (...) set rms 0.73 take rms 0.71 ...". The prototype goes on
 * with other takes for a minute: closing the pipe ends it. */
int calibrate_yardstick_run(calibrate_yardstick *yardstick)
{
    const char *prototypes = getenv("ULNA_PROTOTYPES");
    char command[2048], line[1024], folder[] = "/tmp/ulna-calibXXXXXX";
    int found = 0;
    prototypes = prototypes ? prototypes : ULNA_SOURCE_DIR "/../shared/prototypes";
    memset(yardstick, 0, sizeof *yardstick);
    if (access(prototypes, R_OK) != 0 || !mkdtemp(folder))
        return 0;
    snprintf(command, sizeof command, "stdbuf -oL make -s -C '%s' OUT='%s' calib 2>/dev/null", prototypes, folder);
    FILE *pipe = popen(command, "r");
    while (pipe && found != 3 && fgets(line, sizeof line, pipe)) {
        int scale;
        double ms, cm;
        const char *median = strstr(line, "median"), *rms = strstr(line, "take rms");
        if (sscanf(line, "scale %d K1 40 K2 200 GM4", &scale) != 1 || !strstr(line, "K1 40 K2 200 GM4") || !median ||
            !rms || sscanf(median, "median %lf", &ms) != 1 || sscanf(rms, "take rms %lf", &cm) != 1)
            continue;
        if (scale)
            yardstick->lengths_ms = ms, yardstick->lengths_cm = cm;
        else
            yardstick->offsets_ms = ms, yardstick->offsets_cm = cm;
        found |= scale ? 2 : 1;
    }
    if (pipe)
        pclose(pipe);
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command) == 0 && found == 3;
}
