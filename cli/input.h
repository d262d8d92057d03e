/*
 * input.h: what commands read: skeletons, motions, recordings, attachments, tables; and the folders they write to.
 *
 * Names are file names, or "-" for standard input. What a reader noticed in a file becomes a note: a sentence in a JSON
 * list of strings, which is shown to people too.
 */
#ifndef ULNA_CLI_INPUT_H
#define ULNA_CLI_INPUT_H

#include "cli/cli.h"
#include "ulna/mocap.h"

/* Whether a file is a motion that may need the skeleton of another one (AMC, MOT, CSV). */
int files_needs_skeleton(const char *path);
/* Whatever it holds; or the built-in skeleton of that name where there is no such file. */
ulna_status files_read(const char *path, const ulna_read_options *options, ulna_content *content, ulna_error *error);
/* A built-in skeleton, whatever files there are. */
ulna_status files_built_in(const char *name, ulna_content *content, ulna_error *error);
/* A file that holds a skeleton. `unit_m`: metres per unit of length, whatever the file says; 0: what it says. */
ulna_status files_skeleton(const char *path, double unit_m, ulna_content *content, ulna_error *error);
/* A motion of that skeleton; one that brings its own, as BVH does, must have the same bones. */
ulna_status files_motion(const char *path, const ulna_content *skeleton, ulna_clip *clip, json_t *notes,
                         ulna_error *error);
/* Converts the motion of a file with a skeleton of its own to the coordinates of another one. */
ulna_status files_adopt(ulna_content *own, const ulna_model *model, ulna_error *error);
/* Markers over time. */
ulna_status files_markers(const char *path, double unit_m, ulna_content *content, ulna_error *error);

/* A recording for several uses that is read from its file once. Where that fails, whoever reads the file itself says why. */
typedef struct files_kept {
    const char *path; /* NULL: nothing is kept */
    ulna_text bytes;
    ulna_content content; /* in the unit that the file says; empty until it is asked for */
} files_kept;

files_kept files_keep(const char *path);
/* NULL: not of this path, or it could not be read. */
const ulna_text *files_kept_bytes(files_kept *kept, const char *path);
const ulna_content *files_kept_markers(files_kept *kept);
/* Moves the markers of that path to `content`, as files_markers would read them; 0 if they are not there. */
int files_kept_take(files_kept *kept, const char *path, double unit_m, ulna_content *content);
void files_kept_release(files_kept *kept);

/* The people in a recording, as take->subjects; NULL if it has one only, or cannot be read: who uses it says why. Destroy the
 * take, and release `markers`. */
ulna_take *files_people(const char *path, double unit_m, const ulna_content *skeleton, ulna_content *markers);
/* Where a motion takes the markers of the skeleton, or its joints if it has no markers. */
ulna_status files_markers_of(const ulna_model *model, const ulna_clip *clip, ulna_recording *recording,
                             ulna_error *error);

/* From the least value of each degree of freedom to the greatest, each widened by a twentieth of itself: lower - 0.05 |lower| to
 * upper + 0.05 |upper|, as in the code of the exact-Hessian paper. The root may go anywhere: its values are those of the place
 * and heading of one take. lower, upper: nv. */
void files_limits_of(const ulna_model *model, const ulna_clip *clip, double *lower, double *upper);

/* The name of a marker of the set for people: without a prefix such as "Anna:", if no other marker has the rest of the name. */
const char *files_marker_name(const ulna_marker_set *set, size_t marker);
/* Prints an error about a file, as "FILE:LINE: ..." or "FILE, byte N: ...", and adds `file` and `error` to the object of
 * --json. Returns the exit code. */
int files_fail(json_t *object, const char *path, const ulna_error *error);
/* The same, but prints nothing. */
int files_put_error(json_t *object, const char *path, const ulna_error *error);

/* The remarks of a reader, as "FILE:LINE: ...": the first few, and how many more there are. With path NULL: all of them,
 * as "line LINE: ...". */
void files_note(json_t *notes, const char *path, const ulna_remarks *remarks);
/* Was it the name of a file that could not be had (errno), rather than the disk? */
int files_is_name_wrong(int number);
void files_note_text(json_t *notes, const char *format, ...) ULNA_PRINTF(2, 3);
/* Which skeleton a motion that was written in this format must be read with. `is_changed`: by options, so that the motion
 * no longer fits the skeleton's own file. */
void files_note_skeleton(json_t *notes, ulna_format format, const char *path, const ulna_content *skeleton,
                         int is_changed);
/* Notes for people, each on a line of its own behind "  note". */
void files_print_notes(const cli *tool, const json_t *notes);

/* A content as a file, complete or not at all; what could not be written as it is becomes a note. */
ulna_status files_write(const char *path, const ulna_model *model, const ulna_clip *clip,
                        const ulna_recording *recording, const ulna_write_options *options, json_t *notes,
                        ulna_error *error);

/* The skeleton alone. */
ulna_status cli_load_model(const char *name, ulna_model **model, ulna_error *error);

/* ---- options about recordings ------------------------------------------------------------------------------------ */

/* What solve and calibrate have in common. */
#define CLI_RECORDING_OPTIONS                                                                                                            \
    {"axes", 0, "ABC",                                                                                                                   \
     "Axes of the recording that are x, y and z of the skeleton, such as yzx or x-zy. Default: auto, from the vertical axes of "         \
     "both files, or by trying."},                                                                                                       \
        {"up", 0, "AXIS", "Axis of the recording that points up: x, y or z. The other axes follow from it."},                            \
        {"input-unit", 0, "UNIT",                                                                                                        \
         "Unit of length of the recordings, if it differs from what they state: m, cm, mm, in, ft or a number of metres."},              \
        {"skeleton-unit", 0, "UNIT", "Unit of length of the skeleton, if it differs from what its file states."},                        \
        {"subject", 0, "NAME",                                                                                                           \
         "Person to use, if the recording has several: the name before the colon, as Anna in Anna:LKNE."},                               \
    {                                                                                                                                    \
        "no-checks", 0, NULL,                                                                                                            \
            "Go on if a check finds that the recording cannot be right: several people, a wrong unit, mirrored or exchanged sides, too " \
            "few markers. What is wrong becomes a note; by default it is an error with exit code 3."                                     \
    }

/* --axes and --up. */
typedef struct axes_choice {
    int is_given;
    double axes[9]; /* if so */
    char up;        /* 0: not given */
} axes_choice;

int axes_read(const cli *tool, axes_choice *choice);
/* A note if --up differs from what the recording states. */
void axes_note(const axes_choice *choice, const ulna_content *markers, json_t *notes);
void axes_apply(const axes_choice *choice, ulna_take_options *options);
/* "yzx", with signs perhaps, for axes that are such letters: x of the model is y of the recording, and so on. */
void axes_text(const double axes[9], char text[8]);

/* ---- doubts: doubts.c --------------------------------------------------------------------------------------------- */

typedef struct doubt_advice {
    const char *subjects; /* what to do about several people */
    const ulna_content *skeleton, *markers;
    int is_markers_unit_given, is_skeleton_unit_given; /* by the command line */
    int finds_lengths;                                 /* children and adults may have one skeleton then */
    int is_forced;                                     /* --no-checks: doubts become notes */
} doubt_advice;

/* ULNA_ERR_ARGUMENT, and what to do, if the take cannot be right. `object` receives the numbers that tell, as `checks`. */
ulna_status doubts_check(const ulna_take *take, const doubt_advice *advice, json_t *object, json_t *notes,
                         ulna_error *error);

/* ---- tables as text ---------------------------------------------------------------------------------------------- */

/* Both cut the text in place. */

/* The text without blanks at its ends. */
char *fields_trim(char *text);
void fields_trim_end(char *text);
/* The next line that is neither empty nor a comment (#), trimmed; NULL at the end. `next` goes on, `number` counts all lines. */
char *fields_line(char **next, int *number);
/* Cuts a line at each of the `separators`; returns the number of fields, `most` + 1 if there are more. */
int fields_split(char *line, const char *separators, char **fields, int most);

/* ---- folders ----------------------------------------------------------------------------------------------------- */

/* Whether a name means a folder: it is one, or ends with a slash. */
int folder_is(const char *path);
/* mkdir -p. Prints an error, and returns the exit code. */
int folder_make(json_t *object, const char *folder);
/* The same for the folder of a file that is to be written; `path` may be NULL. */
int folder_make_for(json_t *object, const char *path);
/* "folder/name"; free() it. NULL without memory. */
char *folder_join(const char *folder, const char *name);
/* "folder/walk.amc" for the take x/walk.c3d, "folder/walk-Anna.amc" for a person in it (may be NULL); free() it. NULL without
 * memory. */
char *folder_file(const char *folder, const char *take, const char *person, const char *ending);

#endif
